//! The types of values: reading, validation and writing.

use std::path::PathBuf;
use std::time::Duration;

use toml::Spanned;
use toml::de::DeValue;

use crate::diagnostic::UnlocatedProblem;
use crate::keys::JournalDirSetting;
use crate::nested_tables::TableDoc;
use crate::{duration, suggest};

/// A type a key can have.
pub trait ConfigValue: Sized {
    /// The type, for messages and documentation.
    const KIND: ValueKind;
    fn read(value: &DeValue<'_>) -> Result<Self, ValueError>;
    /// Reads a value with its position. A value of several parts reports the problems at the positions of the
    /// parts.
    fn read_item(item: &Spanned<DeValue<'_>>, found: &mut Vec<UnlocatedProblem>) -> Result<Self, ValueError> {
        let _ = found;
        Self::read(item.get_ref())
    }
    /// Writes it as TOML; [`ConfigValue::read`] restores it.
    fn to_toml(&self) -> String;
}

/// The type of a key's values.
#[derive(Debug, Clone, Copy)]
pub enum ValueKind {
    /// One of several words. This is a function, because a generic implementation has no static to point at.
    Enum(fn() -> Vec<&'static str>),
    Path,
    Duration,
    Number,
    /// `true` or `false`.
    Bool,
    /// A list of strings; described by the type of its items.
    List(&'static str),
    /// A string, with the description of its content.
    Text(&'static str),
    Tables(TableDoc),
    TableList(TableDoc),
}

impl ValueKind {
    /// Describes the values: `"bash"`, `"stop"` or `"off"`.
    pub fn describe(self) -> String {
        match self {
            Self::Enum(words) => join_with_or(&words()),
            Self::Path => "a path, as a string".to_owned(),
            Self::Duration => r#"a duration, as a string such as "24h""#.to_owned(),
            Self::Number => "a whole number".to_owned(),
            Self::Bool => "`true` or `false`".to_owned(),
            Self::List(what) | Self::Text(what) => what.to_owned(),
            Self::Tables(about) => format!("tables by name, each with {}", about.field_names()),
            Self::TableList(about) => format!("a list of tables, each with {}", about.field_names()),
        }
    }
}

fn join_with_or(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// The reason why a value is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueError {
    /// The invalid value: completes "`key` cannot be …".
    pub what: String,
    /// The reason, if [`ValueKind::describe`] does not give it.
    pub why: Option<String>,
    /// The fix, if it is not to write the default.
    pub fix: Option<String>,
}

impl ValueError {
    pub(crate) fn kind(value: &DeValue<'_>) -> Self {
        let what = match value {
            DeValue::Integer(number) => format!("the number {number}"),
            DeValue::Float(number) => format!("the number {number}"),
            DeValue::Boolean(flag) => format!("the boolean {flag}"),
            DeValue::Datetime(at) => format!("the date {at}"),
            DeValue::Array(_) => "an array".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
            DeValue::String(text) => toml_string(text),
        };
        Self { what, why: None, fix: None }
    }

    pub(crate) fn text(text: &str, why: impl Into<String>) -> Self {
        Self { what: toml_string(text), why: Some(why.into()), fix: None }
    }
}

pub(crate) fn string<'a>(value: &'a DeValue<'_>) -> Result<&'a str, ValueError> {
    value.as_str().ok_or_else(|| ValueError::kind(value))
}

/// A whole number in a range.
pub(crate) fn parse_usize_in(
    value: &DeValue<'_>,
    range: std::ops::RangeInclusive<usize>,
) -> Result<usize, ValueError> {
    let DeValue::Integer(number) = value else { return Err(ValueError::kind(value)) };
    let parsed = usize::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok();
    parsed.filter(|number| range.contains(number)).ok_or_else(|| ValueError {
        why: Some(format!("it is a whole number from {} to {}", range.start(), range.end())),
        ..ValueError::kind(value)
    })
}

pub(crate) fn toml_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A type whose values are words.
pub trait ConfigEnum: Copy + PartialEq + 'static {
    /// Every value with its word.
    const ALL: &'static [(Self, &'static str)];
}

impl<T: ConfigEnum> ConfigValue for T {
    const KIND: ValueKind = ValueKind::Enum(|| T::ALL.iter().map(|(_, word)| *word).collect());

    fn read(value: &DeValue<'_>) -> Result<Self, ValueError> {
        let text = string(value)?;
        if let Some((choice, _)) = T::ALL.iter().find(|(_, word)| *word == text) {
            return Ok(*choice);
        }
        let near = suggest::nearest(text, T::ALL.iter().map(|(_, word)| *word));
        let fix = near.map(|word| format!("did you mean \"{word}\"?"));
        Err(ValueError { fix, ..ValueError::kind(value) })
    }

    fn to_toml(&self) -> String {
        let word = T::ALL.iter().find(|(choice, _)| choice == self).map(|(_, word)| *word);
        toml_string(word.expect("ALL holds every value"))
    }
}

/// Declares an enum whose variants are words.
macro_rules! config_enum {
    (
        $(#[doc = $doc:literal])+
        pub enum $Name:ident { $( $(#[doc = $variant_doc:literal])+ $Variant:ident = $word:literal, )+ }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $Name { $( $(#[doc = $variant_doc])+ $Variant, )+ }

        impl $crate::value::ConfigEnum for $Name {
            const ALL: &'static [(Self, &'static str)] = &[$( (Self::$Variant, $word), )+];
        }
    };
}
pub(crate) use config_enum;

/// Declares a number in a range.
macro_rules! config_number {
    ($(#[doc = $doc:literal])+ pub struct $Name:ident($Number:ty) = $default:expr, in $range:expr) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $Name(pub $Number);

        impl Default for $Name {
            fn default() -> Self {
                Self($default)
            }
        }

        impl $crate::value::ConfigValue for $Name {
            const KIND: $crate::value::ValueKind = $crate::value::ValueKind::Number;

            fn read(value: &toml::de::DeValue<'_>) -> Result<Self, $crate::value::ValueError> {
                $crate::value::parse_usize_in(value, $range).map(|number| Self(number as $Number))
            }

            fn to_toml(&self) -> String {
                self.0.to_string()
            }
        }
    };
}
pub(crate) use config_number;

/// Declares a string with a check, which returns the value to store. An optional one is `None` for the empty
/// string, which is not checked.
macro_rules! config_text {
    ($(#[doc = $doc:literal])+ pub struct $Name:ident(Option<String>), $kind:expr, $check:expr) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq, Default)]
        pub struct $Name(pub Option<String>);

        $crate::value::config_text!(@impl $Name, $kind, $check,
            |text: String| (!text.is_empty()).then_some(text), |it: &Option<String>| it.clone().unwrap_or_default());
    };
    ($(#[doc = $doc:literal])+ pub struct $Name:ident(String) = $default:expr, $kind:expr, $check:expr) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $Name(pub String);

        impl Default for $Name {
            fn default() -> Self {
                Self($default.to_owned())
            }
        }

        $crate::value::config_text!(@impl $Name, $kind, $check, |text: String| text, |it: &String| it.clone());
    };
    (@impl $Name:ident, $kind:expr, $check:expr, $from_text:expr, $to_text:expr) => {
        impl $crate::value::ConfigValue for $Name {
            const KIND: $crate::value::ValueKind = $kind;

            fn read(value: &toml::de::DeValue<'_>) -> Result<Self, $crate::value::ValueError> {
                let check: fn(&str) -> Result<&str, $crate::value::ValueError> = $check;
                let text = check($crate::value::string(value)?)?;
                Ok(Self(($from_text)(text.to_owned())))
            }

            fn to_toml(&self) -> String {
                $crate::value::toml_string(&($to_text)(&self.0))
            }
        }
    };
}
pub(crate) use config_text;

/// The check of a text that is validated elsewhere.
pub(crate) fn any_text(text: &str) -> Result<&str, ValueError> {
    Ok(text)
}

/// Reads each item of a list.
pub(crate) fn read_list<T>(
    value: &DeValue<'_>,
    read: impl Fn(&DeValue<'_>) -> Result<T, ValueError>,
) -> Result<Vec<T>, ValueError> {
    let DeValue::Array(items) = value else { return Err(ValueError::kind(value)) };
    items.iter().map(|item| read(item.get_ref())).collect()
}

pub(crate) fn list_toml<T>(items: &[T], to_toml: impl Fn(&T) -> String) -> String {
    format!("[{}]", items.iter().map(to_toml).collect::<Vec<_>>().join(", "))
}

pub(crate) fn table_toml(fields: impl Iterator<Item = (String, String)>) -> String {
    let fields: Vec<_> = fields.map(|(name, value)| format!("{name} = {value}")).collect();
    if fields.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", fields.join(", ")) }
}

impl ConfigValue for Duration {
    const KIND: ValueKind = ValueKind::Duration;

    fn read(value: &DeValue<'_>) -> Result<Self, ValueError> {
        let text = string(value)?;
        duration::parse(text).map_err(|error| ValueError::text(text, error.to_string()))
    }

    fn to_toml(&self) -> String {
        toml_string(&duration::format(*self))
    }
}

impl ConfigValue for bool {
    const KIND: ValueKind = ValueKind::Bool;

    fn read(value: &DeValue<'_>) -> Result<Self, ValueError> {
        match value {
            DeValue::Boolean(flag) => Ok(*flag),
            other => Err(ValueError::kind(other)),
        }
    }

    fn to_toml(&self) -> String {
        self.to_string()
    }
}

/// Parses a path. It refuses texts that a shell would interpret differently.
pub(crate) fn parse_path(text: &str) -> Result<PathBuf, ValueError> {
    if text.contains('\0') {
        return Err(ValueError::text(text, "no path can hold a NUL character"));
    }
    if text == "~" || text.starts_with("~/") {
        let fix = Some("write the path of the home directory in full".to_owned());
        return Err(ValueError { fix, ..ValueError::text(text, "`~` is expanded by shells, not here") });
    }
    Ok(PathBuf::from(text))
}

impl ConfigValue for JournalDirSetting {
    const KIND: ValueKind = ValueKind::Path;

    fn read(value: &DeValue<'_>) -> Result<Self, ValueError> {
        let text = string(value)?;
        let path = parse_path(text)?;
        Ok(if text.is_empty() { Self::System } else { Self::At(path) })
    }

    fn to_toml(&self) -> String {
        match self {
            Self::System => toml_string(""),
            Self::At(path) => toml_string(&path.to_string_lossy()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{AlertThreshold, SweepTiming};
    use lockstep_model::failure_policy::OnFailure;
    use proptest::prelude::*;

    fn round_trip<T: ConfigValue + PartialEq + std::fmt::Debug>(value: &T) {
        let text = value.to_toml();
        let parsed = DeValue::parse(&text).unwrap();
        assert_eq!(&T::read(parsed.get_ref()).unwrap(), value, "{text}");
    }

    #[test]
    fn every_word_round_trips() {
        SweepTiming::ALL.iter().for_each(|(value, _)| round_trip(value));
        AlertThreshold::ALL.iter().for_each(|(value, _)| round_trip(value));
        OnFailure::ALL.iter().for_each(|(value, _)| round_trip(value));
    }

    proptest! {
        #[test]
        fn every_path_round_trips(text in "[^~\0]{0,20}") {
            let dir = if text.is_empty() { JournalDirSetting::System } else { JournalDirSetting::At(text.into()) };
            round_trip(&dir);
        }

        #[test]
        fn every_duration_round_trips(seconds in 0..=duration::MAX.as_secs()) {
            round_trip(&Duration::from_secs(seconds));
        }
    }
}
