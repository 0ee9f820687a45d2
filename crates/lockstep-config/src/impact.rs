//! Types of the keys in `[impact]`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lockstep_model::path::absolute_lexical;
use toml::Spanned;
use toml::de::DeValue;

use crate::diagnostic::UnlocatedProblem;
use crate::value::{ConfigValue, ValueError, ValueKind, config_text, parse_path, table_toml, toml_string};

/// `[impact] aliases`: names with their paths.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AliasTable(pub BTreeMap<String, String>);

impl ConfigValue for AliasTable {
    const KIND: ValueKind =
        ValueKind::Text(r#"a table of names and paths, such as { deploy = "scripts/deploy.sh" }"#);

    fn read(value: &DeValue<'_>) -> Result<Self, ValueError> {
        Err(ValueError::kind(value))
    }

    fn read_item(item: &Spanned<DeValue<'_>>, found: &mut Vec<UnlocatedProblem>) -> Result<Self, ValueError> {
        let DeValue::Table(names) = item.get_ref() else { return Self::read(item.get_ref()) };
        let mut read = BTreeMap::new();
        for (name, value) in names {
            match value.get_ref().as_str() {
                Some(path) if is_inside(path) => {
                    read.insert(name.get_ref().to_string(), path.to_owned());
                }
                _ => found.push(UnlocatedProblem {
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
        table_toml(self.0.iter().map(|(name, path)| (toml_string(name), toml_string(path))))
    }
}

/// Returns true if a path is below the root.
fn is_inside(path: &str) -> bool {
    !path.is_empty() && !path.starts_with('/') && path.split('/').all(|part| part != "..")
}

config_text! {
    /// `[impact] file`: an additional file for the newest report of a session; `None` for the empty string.
    pub struct ReportFile(Option<String>),
    ValueKind::Path, |text| {
        parse_path(text)?;
        if !text.is_empty() && (text.ends_with('/') || !text.contains("{session}")) {
            return Err(ValueError::text(text, "it names a file for each session, with {session} in it"));
        }
        Ok(text)
    }
}

impl ReportFile {
    /// The file of a session, for a project at `root`.
    pub fn resolve(&self, root: &Path, session: &str) -> Option<PathBuf> {
        let path = self.0.as_ref()?.replace("{session}", session);
        Some(absolute_lexical(root, Path::new(&path)))
    }
}
