//! Keys with tables: with names of the user's choice, `[task.agents.NAME]`, or in a list,
//! `[[cache.section]]`.
//!
//! Names are free, fields are not: each is declared once with its type and documentation, as keys are in
//! [`keys`](crate::keys). An undeclared field is refused with a suggestion.

use std::collections::BTreeMap;
use std::ops::Deref;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::problem::Found;
use crate::suggest::nearest;
use crate::value::{Kind, Value, Wrong, quoted};

/// Tables by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tables<T>(pub BTreeMap<String, T>);

impl<T> Default for Tables<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T> Deref for Tables<T> {
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
pub trait Table: Default + 'static {
    /// A table as an example, without its header.
    const EXAMPLE: (&'static str, &'static [&'static str]);
    /// The fields, in the order of the documentation.
    const FIELDS: &'static [Field<Self>];
    /// The same, for documentation.
    const ABOUT: TableAbout;
}

/// A field of a table.
pub struct Field<T: 'static> {
    /// The description.
    pub about: FieldAbout,
    pub(crate) show: fn(&T) -> String,
    pub(crate) apply: fn(&mut T, &DeValue<'_>) -> Result<(), Wrong>,
}

/// The description of a field.
#[derive(Debug, Clone, Copy)]
pub struct FieldAbout {
    pub name: &'static str,
    /// The type of its values.
    pub kind: Kind,
    /// The documentation: lines of Markdown.
    pub doc: &'static [&'static str],
    /// The default as TOML.
    pub default: fn() -> String,
}

impl FieldAbout {
    /// Returns the documentation as one paragraph.
    pub fn doc(&self) -> String {
        crate::table::paragraph(self.doc)
    }
}

/// The description of a kind of table.
#[derive(Debug, Clone, Copy)]
pub struct TableAbout {
    /// An example: the name, and the lines below its header.
    pub example: (&'static str, &'static [&'static str]),
    pub fields: fn() -> Vec<FieldAbout>,
}

impl TableAbout {
    /// The names of the fields, for a message.
    pub(crate) fn field_names(&self) -> String {
        (self.fields)().iter().map(|field| format!("`{}`", field.name)).collect::<Vec<_>>().join(", ")
    }
}

impl<T: Table> Value for TableList<T> {
    const KIND: Kind = Kind::TableList(T::ABOUT);

    fn read(value: &DeValue<'_>) -> Result<Self, Wrong> {
        Err(Wrong::kind(value))
    }

    fn read_item(item: &Spanned<DeValue<'_>>, found: &mut Vec<Found>) -> Result<Self, Wrong> {
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
        format!("[{}]", self.iter().map(inline).collect::<Vec<_>>().join(", "))
    }
}

impl<T: Table> Value for Tables<T> {
    const KIND: Kind = Kind::Tables(T::ABOUT);

    fn read(value: &DeValue<'_>) -> Result<Self, Wrong> {
        Err(Wrong::kind(value))
    }

    fn read_item(item: &Spanned<DeValue<'_>>, found: &mut Vec<Found>) -> Result<Self, Wrong> {
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
        let tables: Vec<_> =
            self.iter().map(|(name, table)| format!("{} = {}", quoted(name), inline(table))).collect();
        if tables.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", tables.join(", ")) }
    }
}

/// The fields of a table as the file has them: name, place, value.
fn named<'a, 'i>(
    fields: &'a DeTable<'i>,
) -> impl Iterator<Item = (&'a str, usize, &'a Spanned<DeValue<'i>>)> {
    fields.iter().map(|(name, item)| (name.get_ref().as_ref(), name.span().start, item))
}

fn not_a_table<T: Table>(name: &str, offset: usize, value: &DeValue<'_>) -> Found {
    Found {
        offset,
        what: format!("`{name}` cannot be {}", Wrong::kind(value).what),
        why: "it takes a table with fields".into(),
        fix: example(T::EXAMPLE),
    }
}

/// Reads the fields of one table. Problems are added to `found`, and the rest applies.
fn read_table<'a, 'i: 'a, T: Table>(
    name: &str,
    fields: impl Iterator<Item = (&'a str, usize, &'a Spanned<DeValue<'i>>)>,
    found: &mut Vec<Found>,
) -> T {
    let mut table = T::default();
    for (key, offset, item) in fields {
        let Some(field) = T::FIELDS.iter().find(|field| field.about.name == key) else {
            found.push(unknown_field::<T>(name, key, offset));
            continue;
        };
        if let Err(wrong) = (field.apply)(&mut table, item.get_ref()) {
            let about = &field.about;
            found.push(Found {
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

fn unknown_field<T: Table>(table: &str, name: &str, offset: usize) -> Found {
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
    Found { offset, what, why: "what is not known would be ignored silently, so it is refused".into(), fix }
}

fn inline<T: Table>(table: &T) -> String {
    let fields: Vec<_> =
        T::FIELDS.iter().map(|field| format!("{} = {}", field.about.name, (field.show)(table))).collect();
    format!("{{ {} }}", fields.join(", "))
}

fn example((name, lines): (&str, &[&str])) -> String {
    format!("write a table, as in {name} = {{ {} }}", lines.join(", "))
}

/// Declares the fields of a table that is defined elsewhere.
macro_rules! table_fields {
    ($Table:ty, example $name:literal { $($line:literal),+ $(,)? }, {
        $( $(#[doc = $doc:literal])+ $field:ident: $Type:ty; )+
    }) => {
        impl $crate::tables::Table for $Table {
            const EXAMPLE: (&'static str, &'static [&'static str]) = ($name, &[$($line),+]);
            const FIELDS: &'static [$crate::tables::Field<Self>] = &[
                $( $crate::tables::Field {
                    about: $crate::tables::FieldAbout {
                        name: stringify!($field),
                        kind: <$Type as $crate::value::Value>::KIND,
                        doc: &[$($doc),+],
                        default: || $crate::value::Value::to_toml(&<$Table>::default().$field),
                    },
                    show: |table| $crate::value::Value::to_toml(&table.$field),
                    apply: |table, value| {
                        table.$field = <$Type as $crate::value::Value>::read(value)?;
                        Ok(())
                    },
                }, )+
            ];
            const ABOUT: $crate::tables::TableAbout = $crate::tables::TableAbout {
                example: Self::EXAMPLE,
                fields: || Self::FIELDS.iter().map(|field| field.about).collect(),
            };
        }
    };
}
pub(crate) use table_fields;
