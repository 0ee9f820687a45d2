//! The types of `[steps]` and `[audit]`: where step files and their tables are, which phases need evidence.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lockstep_model::path::absolute;
use toml::Spanned;
use toml::de::DeValue;

use crate::problem::Found;
use crate::suggest::nearest;
use crate::value::{Kind, Value, Wrong, choices, plain_path, quoted, string};

choices! {
    /// `[steps] over_budget`: what more turns than were given mean.
    pub enum OverBudget {
        /// A warning.
        Warn = "warn",
        /// An error.
        Block = "block",
    }
}

choices! {
    /// `[steps] evidence`: what the command of a phase must show.
    pub enum Proof {
        /// It passes.
        Pass = "pass",
        /// It fails.
        Fail = "fail",
    }
}

/// `[steps] dir`: a directory below the project's root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepsDir(pub String);

impl Default for StepsDir {
    fn default() -> Self {
        Self("steps".to_owned())
    }
}

impl Value for StepsDir {
    const KIND: Kind = Kind::Path;

    fn read(value: &DeValue<'_>) -> Result<Self, Wrong> {
        let text = string(value)?.trim_end_matches('/');
        plain_path(text)?;
        let inside = !text.is_empty() && !text.starts_with('/') && !text.split('/').any(|part| part == "..");
        if inside {
            Ok(Self(text.to_owned()))
        } else {
            Err(Wrong::text(text, "it is a directory of the project"))
        }
    }

    fn to_toml(&self) -> String {
        quoted(&self.0)
    }
}

/// A file or directory that may be left out: `None` for the empty string.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OptionalPath(pub Option<PathBuf>);

impl OptionalPath {
    /// The path itself, for a project at `root`.
    pub fn resolve(&self, root: &Path) -> Option<PathBuf> {
        self.0.as_ref().map(|path| absolute(root, path))
    }
}

impl Value for OptionalPath {
    const KIND: Kind = Kind::Path;

    fn read(value: &DeValue<'_>) -> Result<Self, Wrong> {
        let text = string(value)?;
        let path = plain_path(text)?;
        Ok(Self((!text.is_empty()).then_some(path)))
    }

    fn to_toml(&self) -> String {
        quoted(&self.0.as_deref().unwrap_or(Path::new("")).to_string_lossy())
    }
}

/// `[steps] phases`: the name of a phase set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseSetName(pub String);

impl Default for PhaseSetName {
    fn default() -> Self {
        Self("tdd-14".to_owned())
    }
}

impl Value for PhaseSetName {
    const KIND: Kind = Kind::Text(r#"the name of a phase set, such as "tdd-14""#);

    fn read(value: &DeValue<'_>) -> Result<Self, Wrong> {
        let text = string(value)?;
        if text.is_empty() {
            Err(Wrong::text(text, "it names a phase set"))
        } else {
            Ok(Self(text.to_owned()))
        }
    }

    fn to_toml(&self) -> String {
        quoted(&self.0)
    }
}

/// `[steps] evidence`: phases by name, and what a command must show for each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EvidenceTable(pub BTreeMap<String, Proof>);

impl Value for EvidenceTable {
    const KIND: Kind =
        Kind::Text(r#"a table of phases, each "pass" or "fail", such as { RED_UNIT = "fail" }"#);

    fn read(value: &DeValue<'_>) -> Result<Self, Wrong> {
        Err(Wrong::kind(value))
    }

    fn read_item(item: &Spanned<DeValue<'_>>, found: &mut Vec<Found>) -> Result<Self, Wrong> {
        let DeValue::Table(phases) = item.get_ref() else { return Self::read(item.get_ref()) };
        let mut read = BTreeMap::new();
        for (name, value) in phases {
            match Proof::read(value.get_ref()) {
                Ok(proof) => drop(read.insert(name.get_ref().to_string(), proof)),
                Err(wrong) => found.push(Found {
                    offset: value.span().start,
                    what: format!("`{}` cannot be {}", name.get_ref(), wrong.what),
                    why: "it takes \"pass\" or \"fail\"".into(),
                    fix: match value.get_ref().as_str().and_then(|text| nearest(text, ["pass", "fail"])) {
                        Some(near) => format!("did you mean \"{near}\"?"),
                        None => format!("write {} = \"pass\"", name.get_ref()),
                    },
                }),
            }
        }
        Ok(Self(read))
    }

    fn to_toml(&self) -> String {
        let phases: Vec<_> =
            self.0.iter().map(|(name, proof)| format!("{} = {}", quoted(name), proof.to_toml())).collect();
        if phases.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", phases.join(", ")) }
    }
}
