//! The types of `[steps]` and `[audit]`: where step files and their tables are, which phases need evidence.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lockstep_model::path::absolute_lexical;
use toml::Spanned;
use toml::de::DeValue;

use crate::diagnostic::UnlocatedProblem;
use crate::suggest::nearest;
use crate::value::{
    ConfigValue, ValueError, ValueKind, config_enum, config_text, list_toml, parse_path, read_list, string,
    table_toml, toml_string,
};

config_enum! {
    /// `[steps] over_budget`: the effect of exceeding the turns.
    pub enum OverBudgetPolicy {
        /// A warning.
        Warn = "warn",
        /// An error.
        Block = "block",
    }
}

config_enum! {
    /// `[steps] evidence`: the expected result of a phase's command.
    pub enum ExpectedOutcome {
        /// The command passes.
        Pass = "pass",
        /// The command fails.
        Fail = "fail",
    }
}

config_text! {
    /// `[steps] dir`: a directory below the project's root.
    pub struct StepsDir(String) = "steps", ValueKind::Path, directory
}

/// A directory below the project's root.
fn directory(text: &str) -> Result<&str, ValueError> {
    let text = text.trim_end_matches('/');
    parse_path(text)?;
    let inside = !text.is_empty() && !text.starts_with('/') && !text.split('/').any(|part| part == "..");
    if inside { Ok(text) } else { Err(ValueError::text(text, "it is a directory of the project")) }
}

/// `[steps] sources`: other directories with step files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StepSources(pub Vec<String>);

impl ConfigValue for StepSources {
    const KIND: ValueKind = ValueKind::List(r#"a list of directories, such as ["docs/feature/*/steps"]"#);

    fn read(value: &DeValue<'_>) -> Result<Self, ValueError> {
        read_list(value, |item| directory(string(item)?).map(str::to_owned)).map(Self)
    }

    fn to_toml(&self) -> String {
        list_toml(&self.0, |source| toml_string(source))
    }
}

/// `[steps] markers`: markers by their keys, with the names they have in the project.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MarkerTable(pub BTreeMap<String, String>);

const MARKER_KEYS: [&str; 5] = ["validation", "origin", "step_file", "agent", "command"];

impl ConfigValue for MarkerTable {
    const KIND: ValueKind = ValueKind::Text(r#"a table of names, such as { validation = "QA-CHECK" }"#);

    fn read(value: &DeValue<'_>) -> Result<Self, ValueError> {
        Err(ValueError::kind(value))
    }

    fn read_item(item: &Spanned<DeValue<'_>>, found: &mut Vec<UnlocatedProblem>) -> Result<Self, ValueError> {
        let DeValue::Table(markers) = item.get_ref() else { return Self::read(item.get_ref()) };
        let mut read = BTreeMap::new();
        for (key, value) in markers {
            let name = value.get_ref().as_str();
            if !MARKER_KEYS.contains(&key.get_ref().as_ref()) {
                let near = nearest(key.get_ref(), MARKER_KEYS);
                found.push(UnlocatedProblem {
                    offset: key.span().start,
                    what: format!("unknown marker `{}`", key.get_ref()),
                    why: format!("the markers are {}", MARKER_KEYS.join(", ")).into(),
                    fix: near.map_or("remove it".to_owned(), |near| format!("did you mean `{near}`?")),
                });
            } else if let Some(name) = name.filter(|name| is_marker_name(name)) {
                read.insert(key.get_ref().to_string(), name.to_owned());
            } else {
                found.push(UnlocatedProblem {
                    offset: value.span().start,
                    what: format!("`{}` is not the name of a marker", key.get_ref()),
                    why: "a name has capital letters, digits, - and _, and at least four of them".into(),
                    fix: format!("write {} = \"QA-CHECK\", for example", key.get_ref()),
                });
            }
        }
        Ok(Self(read))
    }

    fn to_toml(&self) -> String {
        table_toml(self.0.iter().map(|(key, name)| (key.clone(), toml_string(name))))
    }
}

fn is_marker_name(name: &str) -> bool {
    let of_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    name.len() >= 4 && name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(of_name)
}

config_text! {
    /// A file or directory that may be left out: `None` for the empty string.
    pub struct OptionalPath(Option<String>),
    ValueKind::Path, |text| parse_path(text).map(|_| text)
}

impl OptionalPath {
    /// The path itself, for a project at `root`.
    pub fn resolve(&self, root: &Path) -> Option<PathBuf> {
        self.0.as_ref().map(|path| absolute_lexical(root, Path::new(path)))
    }
}

config_text! {
    /// `[steps] phases`: the name of a phase set.
    pub struct PhaseSetName(String) = "tdd-14",
    ValueKind::Text(r#"the name of a phase set, such as "tdd-14""#),
    |text| if text.is_empty() { Err(ValueError::text(text, "it names a phase set")) } else { Ok(text) }
}

/// `[steps] evidence`: the expected result of a command, by phase.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EvidenceTable(pub BTreeMap<String, ExpectedOutcome>);

impl ConfigValue for EvidenceTable {
    const KIND: ValueKind =
        ValueKind::Text(r#"a table of phases, each "pass" or "fail", such as { RED_UNIT = "fail" }"#);

    fn read(value: &DeValue<'_>) -> Result<Self, ValueError> {
        Err(ValueError::kind(value))
    }

    fn read_item(item: &Spanned<DeValue<'_>>, found: &mut Vec<UnlocatedProblem>) -> Result<Self, ValueError> {
        let DeValue::Table(phases) = item.get_ref() else { return Self::read(item.get_ref()) };
        let mut read = BTreeMap::new();
        for (name, value) in phases {
            match ExpectedOutcome::read(value.get_ref()) {
                Ok(proof) => drop(read.insert(name.get_ref().to_string(), proof)),
                Err(wrong) => found.push(UnlocatedProblem {
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
        table_toml(self.0.iter().map(|(name, proof)| (toml_string(name), proof.to_toml())))
    }
}
