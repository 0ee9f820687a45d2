//! The structure of the table of keys, and the macro that creates it and the typed [`Config`] from one
//! declaration.
//!
//! The keys themselves are in [`keys`](crate::keys).

use toml::Spanned;
use toml::de::DeValue;

use crate::diagnostic::UnlocatedProblem;
use crate::keys::{Config, SECTIONS};
use crate::value::{ValueError, ValueKind};

/// A `[section]` of `lockstep.toml`.
#[derive(Debug)]
pub struct SectionSchema {
    /// The name between the brackets.
    pub name: &'static str,
    pub(crate) doc: &'static [&'static str],
    /// The keys, in the order of the documentation.
    pub keys: &'static [KeySchema],
}

#[derive(Debug)]
pub struct KeySchema {
    pub section: &'static str,
    pub name: &'static str,
    /// The type of its values.
    pub kind: ValueKind,
    pub(crate) doc: &'static [&'static str],
    pub(crate) show: fn(&Config) -> String,
    pub(crate) apply: ApplyFn,
    pub(crate) reset: fn(&mut Config),
}

/// Sets a key. Problems of parts of a value are added to the list.
pub(crate) type ApplyFn =
    fn(&mut Config, &Spanned<DeValue<'_>>, &mut Vec<UnlocatedProblem>) -> Result<(), ValueError>;

impl SectionSchema {
    /// Returns the description of the section, as one paragraph of Markdown.
    pub fn doc(&self) -> String {
        paragraph(self.doc)
    }

    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        SECTIONS.iter().find(|section| section.name == name)
    }

    pub(crate) fn key(&self, name: &str) -> Option<&'static KeySchema> {
        self.keys.iter().find(|key| key.name == name)
    }
}

impl KeySchema {
    /// Returns the description of the key, as one paragraph of Markdown.
    pub fn doc(&self) -> String {
        paragraph(self.doc)
    }

    /// Returns an example for a key with tables: the header, and the lines below it.
    pub(crate) fn example(&self) -> Option<(String, &'static [&'static str])> {
        let Self { section, name, .. } = self;
        match self.kind {
            ValueKind::Tables(about) => {
                Some((format!("[{section}.{name}.{}]", about.example.0), about.example.1))
            }
            ValueKind::TableList(about) => Some((format!("[[{section}.{name}]]"), about.example.1)),
            _ => None,
        }
    }

    pub fn default_toml(&self) -> String {
        self.value_toml(&Config::default())
    }

    /// Returns its path in `config`, if the value is a path.
    pub fn path(&self, config: &Config) -> Option<String> {
        if !matches!(self.kind, ValueKind::Path) {
            return None;
        }
        let toml = self.value_toml(config);
        let value = DeValue::parse(&toml).ok()?;
        value.get_ref().as_str().filter(|path| !path.is_empty()).map(str::to_owned)
    }

    /// Gives it its default in `config`.
    pub fn reset(&self, config: &mut Config) {
        (self.reset)(config);
    }

    pub fn value_toml(&self, config: &Config) -> String {
        (self.show)(config)
    }
}

/// All keys, in the order of the documentation.
pub fn all_keys() -> impl Iterator<Item = &'static KeySchema> {
    SECTIONS.iter().flat_map(|section| section.keys)
}

pub(crate) fn paragraph(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// Declares the sections and keys: creates `Config`, one struct per section, their defaults, and `SECTIONS`.
macro_rules! sections {
    ($(
        $(#[doc = $section_doc:literal])+
        [$section:ident] $Section:ident {
            $(
                $(#[doc = $doc:literal])+
                $key:ident: $Type:ty = $default:expr;
            )+
        }
    )+) => {
        /// The effective configuration of a project.
        #[derive(Debug, Clone, PartialEq, Eq, Default)]
        pub struct Config {
            $( $(#[doc = $section_doc])+ pub $section: $Section, )+
        }

        $(
            $(#[doc = $section_doc])+
            #[derive(Debug, Clone, PartialEq, Eq)]
            pub struct $Section {
                $( $(#[doc = $doc])+ pub $key: $Type, )+
            }

            impl Default for $Section {
                fn default() -> Self {
                    Self { $( $key: $default, )+ }
                }
            }
        )+

        /// Every section, in the order of the documentation.
        pub static SECTIONS: &[$crate::key_schema::SectionSchema] = &[
            $( $crate::key_schema::SectionSchema {
                name: stringify!($section),
                doc: &[$( $section_doc, )+],
                keys: &[
                    $( $crate::key_schema::KeySchema {
                        section: stringify!($section),
                        name: stringify!($key),
                        kind: <$Type as $crate::value::ConfigValue>::KIND,
                        doc: &[$( $doc, )+],
                        show: |config| $crate::value::ConfigValue::to_toml(&config.$section.$key),
                        apply: |config, item, found| {
                            config.$section.$key = $crate::value::ConfigValue::read_item(item, found)?;
                            Ok(())
                        },
                        reset: |config| config.$section.$key = $Section::default().$key,
                    }, )+
                ],
            }, )+
        ];
    };
}
pub(crate) use sections;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_documented() {
        let mut seen = BTreeSet::new();
        for key in all_keys() {
            assert!(seen.insert((key.section, key.name)), "[{}] {} stands twice", key.section, key.name);
            assert!(key.doc().ends_with('.'), "[{}] {} has a sentence", key.section, key.name);
        }
        let sections: BTreeSet<_> = SECTIONS.iter().map(|section| section.name).collect();
        assert_eq!(sections.len(), SECTIONS.len());
    }
}
