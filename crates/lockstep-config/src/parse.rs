//! Reads `lockstep.toml`: every valid key applies, and all problems are reported at once.
//!
//! Pure, and on the hook path: one pass over a small text, nothing compiled.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::diagnostic::{ConfigProblem, PositionFinder, UnlocatedProblem};
use crate::key_schema::{KeySchema, SectionSchema, all_keys};
use crate::keys::{Config, SECTIONS};
use crate::suggest::nearest;
use crate::toml_document::{TomlDocument, decode};
use crate::value::ValueError;

/// The largest file that is read. A hook must not spend its time on a file that is no configuration.
pub const MAX_BYTES: usize = 1024 * 1024;

/// A parsed configuration: its values, their origins, and its problems.
///
/// With `problems`, `config` has the valid keys and defaults for the rest. Observers may continue with that;
/// callers that enforce rules must not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoadedConfig {
    /// The values in effect.
    pub config: Config,
    /// The keys set in the file, with their lines, in the order of the file.
    pub origins: Vec<KeyOrigin>,
    /// The problems, in the order of the file.
    pub problems: Vec<ConfigProblem>,
}

/// A key that the file sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyOrigin {
    pub section: &'static str,
    pub name: &'static str,
    /// The line number, starting at 1.
    pub line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueOrigin {
    /// The file does not set it, or not validly.
    Default,
    /// This line of the file, starting at 1.
    Line(usize),
}

/// A key with its value in effect and the value's origin.
#[derive(Debug, Clone)]
pub struct Setting {
    pub key: &'static KeySchema,
    /// The value as TOML.
    pub value: String,
    pub origin: ValueOrigin,
}

impl LoadedConfig {
    pub fn origin(&self, section: &str, name: &str) -> ValueOrigin {
        let set = self.origins.iter().find(|set| set.section == section && set.name == name);
        set.map_or(ValueOrigin::Default, |set| ValueOrigin::Line(set.line))
    }

    /// Every key with its value in effect.
    pub fn settings(&self) -> Vec<Setting> {
        all_keys()
            .map(|key| Setting {
                key,
                value: key.value_toml(&self.config),
                origin: self.origin(key.section, key.name),
            })
            .collect()
    }
}

/// Reads the text of a `lockstep.toml`.
pub fn parse(source: impl AsRef<[u8]>) -> LoadedConfig {
    let bytes = source.as_ref();
    if bytes.len() > MAX_BYTES {
        return LoadedConfig {
            problems: UnlocatedProblem::locate(vec![too_large()], ""),
            ..LoadedConfig::default()
        };
    }
    let (text, mut found) = decode(bytes);
    let document = TomlDocument::read(&text, &mut found);
    let mut reader = ConfigReader {
        document: &document,
        config: Config::default(),
        applied: Vec::new(),
        found: Vec::new(),
    };
    reader.root(document.table.get_ref());
    let ConfigReader { config, applied, found: more, .. } = reader;
    found.extend(more);
    LoadedConfig {
        config,
        origins: locate_keys(applied, &text),
        problems: UnlocatedProblem::locate(found, &text),
    }
}

fn locate_keys(mut applied: Vec<(&'static KeySchema, usize)>, text: &str) -> Vec<KeyOrigin> {
    applied.sort_by_key(|(_, offset)| *offset);
    let mut locator = PositionFinder::new(text);
    applied
        .into_iter()
        .map(|(key, offset)| KeyOrigin {
            section: key.section,
            name: key.name,
            line: locator.position(offset).line,
        })
        .collect()
}

type SpannedName<'i> = Spanned<DeString<'i>>;
type SpannedValue<'i> = Spanned<DeValue<'i>>;

struct ConfigReader<'a, 'i> {
    document: &'a TomlDocument<'i>,
    config: Config,
    applied: Vec<(&'static KeySchema, usize)>,
    found: Vec<UnlocatedProblem>,
}

impl ConfigReader<'_, '_> {
    fn root(&mut self, table: &DeTable<'_>) {
        for (name, item) in table {
            let section = SectionSchema::named(name.get_ref());
            if let (Some(section), DeValue::Table(keys)) = (section, item.get_ref()) {
                self.section(section, keys);
            } else if !self.is_broken(name, item) {
                self.found.push(match (section, item.get_ref()) {
                    (Some(section), value) => not_a_table(section, name, value),
                    (None, value) if is_section(value) => unknown_section(name),
                    (None, _) => key_outside_section(name),
                });
            }
        }
    }

    fn section(&mut self, section: &'static SectionSchema, table: &DeTable<'_>) {
        for (name, item) in table {
            if self.is_broken(name, item) {
                continue;
            }
            let Some(key) = section.key(name.get_ref()) else {
                self.found.push(unknown_key(section, name));
                continue;
            };
            let mut found = Vec::new();
            match (key.apply)(&mut self.config, item, &mut found) {
                Ok(()) => self.applied.push((key, name.span().start)),
                Err(wrong) => self.found.push(wrong_value(key, item, wrong)),
            }
            // Problems on a broken line are already reported.
            found.retain(|problem| !self.document.is_broken(&(problem.offset..problem.offset)));
            self.found.extend(found);
        }
    }

    /// Returns true if the lines of `name` and its value have a syntax error, which is already reported then.
    fn is_broken(&self, name: &SpannedName<'_>, item: &SpannedValue<'_>) -> bool {
        let (name, item): (Range<usize>, Range<usize>) = (name.span(), item.span());
        self.document.is_broken(&(name.start.min(item.start)..name.end.max(item.end)))
    }
}

/// Returns true if `value` was written with `[brackets]`, or `[[two]]`.
fn is_section(value: &DeValue<'_>) -> bool {
    match value {
        DeValue::Table(_) => true,
        DeValue::Array(items) => items.iter().any(|item| item.get_ref().is_table()),
        _ => false,
    }
}

const UNKNOWN: &str = "what is not known would be ignored silently, so it is refused";

fn too_large() -> UnlocatedProblem {
    UnlocatedProblem {
        offset: 0,
        what: format!("the file has more than {MAX_BYTES} bytes"),
        why: "every hook reads it, and a configuration is small".into(),
        fix: "check what was written into it; `lockstep init` makes a new one".to_owned(),
    }
}

fn unknown_section(name: &SpannedName<'_>) -> UnlocatedProblem {
    let sections = || SECTIONS.iter().map(|section| section.name);
    let fix = match nearest(name.get_ref(), sections()) {
        Some(near) => format!("did you mean [{near}]?"),
        None => format!("the sections are {}", join(sections().map(|name| format!("[{name}]")))),
    };
    UnlocatedProblem {
        offset: name.span().start,
        what: format!("unknown section [{}]", name.get_ref()),
        why: UNKNOWN.into(),
        fix,
    }
}

fn key_outside_section(name: &SpannedName<'_>) -> UnlocatedProblem {
    let fix = match section_of_key(name.get_ref()) {
        Some(key) => format!("write it under [{}]", key.section),
        None => "remove it, or write it under the section it belongs to".to_owned(),
    };
    UnlocatedProblem {
        offset: name.span().start,
        what: format!("`{}` is outside any section", name.get_ref()),
        why: "every key belongs to a section".into(),
        fix,
    }
}

fn unknown_key(section: &SectionSchema, name: &SpannedName<'_>) -> UnlocatedProblem {
    let keys = || section.keys.iter().map(|key| key.name);
    let fix = if let Some(near) = nearest(name.get_ref(), keys()) {
        format!("did you mean `{near}`?")
    } else if let Some(key) = section_of_key(name.get_ref()) {
        format!("`{}` belongs under [{}]", key.name, key.section)
    } else {
        format!("the keys of [{}] are {}", section.name, join(keys().map(|key| format!("`{key}`"))))
    };
    let what = format!("unknown key `{}` in [{}]", name.get_ref(), section.name);
    UnlocatedProblem { offset: name.span().start, what, why: UNKNOWN.into(), fix }
}

/// Returns the key with this name in any section.
fn section_of_key(name: &str) -> Option<&'static KeySchema> {
    all_keys().find(|key| key.name == name)
}

fn not_a_table(section: &SectionSchema, name: &SpannedName<'_>, value: &DeValue<'_>) -> UnlocatedProblem {
    let section = section.name;
    let fix = match value {
        DeValue::Array(_) => format!("write [{section}] once, in single brackets"),
        _ => format!("write [{section}] on a line of its own and its keys below it"),
    };
    UnlocatedProblem {
        offset: name.span().start,
        what: format!("`{section}` cannot be a value"),
        why: format!("[{section}] is a section that holds keys").into(),
        fix,
    }
}

fn wrong_value(key: &KeySchema, item: &SpannedValue<'_>, wrong: ValueError) -> UnlocatedProblem {
    UnlocatedProblem {
        offset: item.span().start,
        what: format!("`{}` cannot be {}", key.name, wrong.what),
        why: wrong.why.unwrap_or_else(|| format!("it takes {}", key.kind.describe())).into(),
        fix: wrong.fix.unwrap_or_else(|| format!("the default is `{} = {}`", key.name, key.default_toml())),
    }
}

fn join(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(", ")
}
