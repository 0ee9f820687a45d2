//! The shape of the table of keys, and the macro that makes it and the typed [`Config`] of one declaration.
//!
//! The keys themselves are in [`keys`](crate::keys).

use toml::Spanned;
use toml::de::DeValue;

use crate::keys::{Config, SECTIONS};
use crate::problem::Found;
use crate::value::{Kind, Wrong};

/// A `[section]` of `lockstep.toml`.
#[derive(Debug)]
pub struct Section {
    /// The name between the brackets.
    pub name: &'static str,
    pub(crate) doc: &'static [&'static str],
    /// Its keys, in the order of the documentation.
    pub keys: &'static [Key],
}

/// A key of a section.
#[derive(Debug)]
pub struct Key {
    /// The section it belongs to.
    pub section: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    pub(crate) doc: &'static [&'static str],
    pub(crate) show: fn(&Config) -> String,
    pub(crate) apply: Apply,
}

/// Sets a key; what is wrong with parts of a value joins the list.
pub(crate) type Apply = fn(&mut Config, &Spanned<DeValue<'_>>, &mut Vec<Found>) -> Result<(), Wrong>;

impl Section {
    /// What the section is about, as one paragraph of Markdown.
    pub fn doc(&self) -> String {
        paragraph(self.doc)
    }

    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        SECTIONS.iter().find(|section| section.name == name)
    }

    pub(crate) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

impl Key {
    /// What the key means, as one paragraph of Markdown.
    pub fn doc(&self) -> String {
        paragraph(self.doc)
    }

    /// An example of its tables, where it holds some: the header, and the lines below it.
    pub(crate) fn example(&self) -> Option<(String, &'static [&'static str])> {
        let Self { section, name, .. } = self;
        match self.kind {
            Kind::Tables(about) => Some((format!("[{section}.{name}.{}]", about.example.0), about.example.1)),
            Kind::TableList(about) => Some((format!("[[{section}.{name}]]"), about.example.1)),
            _ => None,
        }
    }

    /// Its default, as it is written in the file.
    pub fn default_toml(&self) -> String {
        self.value_toml(&Config::default())
    }

    /// Its value in `config`, as it is written in the file.
    pub fn value_toml(&self, config: &Config) -> String {
        (self.show)(config)
    }
}

/// All keys, in the order of the documentation.
pub fn all_keys() -> impl Iterator<Item = &'static Key> {
    SECTIONS.iter().flat_map(|section| section.keys)
}

pub(crate) fn paragraph(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// Declares the sections and keys: makes `Config`, one struct per section, their defaults, and `SECTIONS`.
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
        pub static SECTIONS: &[$crate::table::Section] = &[
            $( $crate::table::Section {
                name: stringify!($section),
                doc: &[$( $section_doc, )+],
                keys: &[
                    $( $crate::table::Key {
                        section: stringify!($section),
                        name: stringify!($key),
                        kind: <$Type as $crate::value::Value>::KIND,
                        doc: &[$( $doc, )+],
                        show: |config| $crate::value::Value::to_toml(&config.$section.$key),
                        apply: |config, item, found| {
                            config.$section.$key = $crate::value::Value::read_item(item, found)?;
                            Ok(())
                        },
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
