//! Keys with tables: with names of the user's choice, `[task.agents.NAME]`, or in a list,
//! `[[cache.section]]`.
//!
//! Names are free, fields are not: each is declared once with its type and documentation, as keys are in
//! [`keys`](crate::keys). An undeclared field is refused with a suggestion.

use std::collections::BTreeMap;
use std::ops::Deref;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diagnostic::UnlocatedProblem;
use crate::suggest::nearest;
use crate::value::{ConfigValue, ValueError, ValueKind, list_toml, table_toml, toml_string};

/// Tables by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableMap<T>(pub BTreeMap<String, T>);

impl<T> Default for TableMap<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T> Deref for TableMap<T> {
    type Target = BTreeMap<String, T>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// Tables one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableList<T>(pub Vec<T>);

impl<T> Default for TableList<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Deref for TableList<T> {
    type Target = [T];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// A table with declared fields.
pub trait TableSchema: Default + 'static {
    /// A table as an example, without its header.
    const EXAMPLE: (&'static str, &'static [&'static str]);
    /// The fields, in the order of the documentation.
    const FIELDS: &'static [TableFieldSchema<Self>];
    /// The same, for documentation.
    const ABOUT: TableDoc;
}

pub struct TableFieldSchema<T: 'static> {
    pub about: FieldDoc,
    pub(crate) show: fn(&T) -> String,
    pub(crate) apply: fn(&mut T, &DeValue<'_>) -> Result<(), ValueError>,
}

#[derive(Debug, Clone, Copy)]
pub struct FieldDoc {
    pub name: &'static str,
    /// The type of its values.
    pub kind: ValueKind,
    /// The documentation: lines of Markdown.
    pub doc: &'static [&'static str],
    /// The default as TOML.
    pub default: fn() -> String,
}

impl FieldDoc {
    /// Returns the documentation as one paragraph.
    pub fn doc(&self) -> String {
        crate::key_schema::paragraph(self.doc)
    }
}

/// The description of a kind of table.
#[derive(Debug, Clone, Copy)]
pub struct TableDoc {
    /// An example: the name, and the lines below its header.
    pub example: (&'static str, &'static [&'static str]),
    pub fields: fn() -> Vec<FieldDoc>,
}

impl TableDoc {
    /// The names of the fields, for a message.
    pub(crate) fn field_names(&self) -> String {
        (self.fields)().iter().map(|field| format!("`{}`", field.name)).collect::<Vec<_>>().join(", ")
    }
}

impl<T: TableSchema> ConfigValue for TableList<T> {
    const KIND: ValueKind = ValueKind::TableList(T::ABOUT);

    fn read(value: &DeValue<'_>) -> Result<Self, ValueError> {
        Err(ValueError::kind(value))
    }

    fn read_item(item: &Spanned<DeValue<'_>>, found: &mut Vec<UnlocatedProblem>) -> Result<Self, ValueError> {
        let DeValue::Array(tables) = item.get_ref() else { return Self::read(item.get_ref()) };
        let mut read = Vec::new();
        for (at, table) in tables.iter().enumerate() {
            let name = format!("table {}", at + 1);
            match table.get_ref() {
                DeValue::Table(fields) => read.push(read_table(&name, named(fields), found)),
                other => found.push(not_a_table::<T>(&name, table.span().start, other)),
            }
        }
        Ok(Self(read))
    }

    fn to_toml(&self) -> String {
        list_toml(self, inline)
    }
}

impl<T: TableSchema> ConfigValue for TableMap<T> {
    const KIND: ValueKind = ValueKind::Tables(T::ABOUT);

    fn read(value: &DeValue<'_>) -> Result<Self, ValueError> {
        Err(ValueError::kind(value))
    }

    fn read_item(item: &Spanned<DeValue<'_>>, found: &mut Vec<UnlocatedProblem>) -> Result<Self, ValueError> {
        let DeValue::Table(tables) = item.get_ref() else { return Self::read(item.get_ref()) };
        let mut read = BTreeMap::new();
        for (name, table) in tables {
            match table.get_ref() {
                DeValue::Table(fields) => {
                    read.insert(name.get_ref().to_string(), read_table(name.get_ref(), named(fields), found));
                }
                other => found.push(not_a_table::<T>(name.get_ref(), name.span().start, other)),
            }
        }
        Ok(Self(read))
    }

    fn to_toml(&self) -> String {
        table_toml(self.iter().map(|(name, table)| (toml_string(name), inline(table))))
    }
}

/// The fields of a table as the file has them: name, place, value.
fn named<'a, 'i>(
    fields: &'a DeTable<'i>,
) -> impl Iterator<Item = (&'a str, usize, &'a Spanned<DeValue<'i>>)> {
    fields.iter().map(|(name, item)| (name.get_ref().as_ref(), name.span().start, item))
}

fn not_a_table<T: TableSchema>(name: &str, offset: usize, value: &DeValue<'_>) -> UnlocatedProblem {
    UnlocatedProblem {
        offset,
        what: format!("`{name}` cannot be {}", ValueError::kind(value).what),
        why: "it takes a table with fields".into(),
        fix: example(T::EXAMPLE),
    }
}

/// Reads the fields of one table. Problems are added to `found`, and the rest applies.
fn read_table<'a, 'i: 'a, T: TableSchema>(
    name: &str,
    fields: impl Iterator<Item = (&'a str, usize, &'a Spanned<DeValue<'i>>)>,
    found: &mut Vec<UnlocatedProblem>,
) -> T {
    let mut table = T::default();
    for (key, offset, item) in fields {
        let Some(field) = T::FIELDS.iter().find(|field| field.about.name == key) else {
            found.push(unknown_field::<T>(name, key, offset));
            continue;
        };
        if let Err(wrong) = (field.apply)(&mut table, item.get_ref()) {
            let about = &field.about;
            found.push(UnlocatedProblem {
                offset: item.span().start,
                what: format!("`{}` of {name:?} cannot be {}", about.name, wrong.what),
                why: wrong.why.unwrap_or_else(|| format!("it takes {}", about.kind.describe())).into(),
                fix: wrong
                    .fix
                    .unwrap_or_else(|| format!("the default is `{} = {}`", about.name, (about.default)())),
            });
        }
    }
    table
}

fn unknown_field<T: TableSchema>(table: &str, name: &str, offset: usize) -> UnlocatedProblem {
    let fields = || T::FIELDS.iter().map(|field| field.about.name);
    let fix = match nearest(name, fields()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            format!(
                "its fields are {}",
                fields().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
            )
        }
    };
    let what = format!("unknown field `{name}` of {table:?}");
    UnlocatedProblem {
        offset,
        what,
        why: "what is not known would be ignored silently, so it is refused".into(),
        fix,
    }
}

fn inline<T: TableSchema>(table: &T) -> String {
    table_toml(T::FIELDS.iter().map(|field| (field.about.name.to_owned(), (field.show)(table))))
}

fn example((name, lines): (&str, &[&str])) -> String {
    format!("write a table, as in {name} = {{ {} }}", lines.join(", "))
}

/// Declares the fields of a table that is defined elsewhere.
macro_rules! table_fields {
    ($Table:ty, example $name:literal { $($line:literal),+ $(,)? }, {
        $( $(#[doc = $doc:literal])+ $field:ident: $Type:ty; )+
    }) => {
        impl $crate::nested_tables::TableSchema for $Table {
            const EXAMPLE: (&'static str, &'static [&'static str]) = ($name, &[$($line),+]);
            const FIELDS: &'static [$crate::nested_tables::TableFieldSchema<Self>] = &[
                $( $crate::nested_tables::TableFieldSchema {
                    about: $crate::nested_tables::FieldDoc {
                        name: stringify!($field),
                        kind: <$Type as $crate::value::ConfigValue>::KIND,
                        doc: &[$($doc),+],
                        default: || $crate::value::ConfigValue::to_toml(&<$Table>::default().$field),
                    },
                    show: |table| $crate::value::ConfigValue::to_toml(&table.$field),
                    apply: |table, value| {
                        table.$field = <$Type as $crate::value::ConfigValue>::read(value)?;
                        Ok(())
                    },
                }, )+
            ];
            const ABOUT: $crate::nested_tables::TableDoc = $crate::nested_tables::TableDoc {
                example: Self::EXAMPLE,
                fields: || Self::FIELDS.iter().map(|field| field.about).collect(),
            };
        }
    };
}
pub(crate) use table_fields;
