//! Types of the keys in `[impact]`.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::DeValue;

use crate::problem::Found;
use crate::value::{Kind, Value, Wrong, quoted};

/// `[impact] aliases`: names with the paths they stand for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AliasTable(pub BTreeMap<String, String>);

impl Value for AliasTable {
    const KIND: Kind = Kind::Text(r#"a table of names and paths, such as { deploy = "scripts/deploy.sh" }"#);

    fn read(value: &DeValue<'_>) -> Result<Self, Wrong> {
        Err(Wrong::kind(value))
    }

    fn read_item(item: &Spanned<DeValue<'_>>, found: &mut Vec<Found>) -> Result<Self, Wrong> {
        let DeValue::Table(names) = item.get_ref() else { return Self::read(item.get_ref()) };
        let mut read = BTreeMap::new();
        for (name, value) in names {
            match value.get_ref().as_str() {
                Some(path) if is_inside(path) => {
                    read.insert(name.get_ref().to_string(), path.to_owned());
                }
                _ => found.push(Found {
                    offset: value.span().start,
                    what: format!("the alias `{}` leads to no file of the project", name.get_ref()),
                    why: "it takes a path relative to the project's root".into(),
                    fix: format!("write {} = \"path/to/file\"", name.get_ref()),
                }),
            }
        }
        Ok(Self(read))
    }

    fn to_toml(&self) -> String {
        let names: Vec<_> =
            self.0.iter().map(|(name, path)| format!("{} = {}", quoted(name), quoted(path))).collect();
        if names.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", names.join(", ")) }
    }
}

/// Whether a path stays below the root.
fn is_inside(path: &str) -> bool {
    !path.is_empty() && !path.starts_with('/') && path.split('/').all(|part| part != "..")
}
