//! The skills manifest: which agent owns which skills.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::text_length::one_line;

/// `skills-manifest.json`. Version 5 lists ids; version 3 lists skills with their places.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(title = "Skills manifest")]
pub struct SkillsManifest {
    /// The format's version: `5.0.0`, `3.0.0`.
    pub version: Option<String>,
    /// Agents by name.
    pub ownership: BTreeMap<String, ManifestOwner>,
}

/// One agent of the manifest.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(rename = "Ownership")]
pub struct ManifestOwner {
    /// The phase the agent works in, or `all`.
    pub phase: Option<String>,
    /// The skills of the agent.
    #[serde(default)]
    pub skills: Vec<OwnedSkill>,
}

/// A skill that an agent owns.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OwnedSkill {
    /// Version 5: its id, which its `SKILL.md` has too.
    Id(String),
    /// Version 3: its id, name, and directory below the directory of skills.
    Placed {
        id: String,
        name: String,
        /// The directory, such as `development/code-implementation`.
        path: String,
    },
}

/// An agent and its skills, in the manifest's order; invalid entries are recorded as problems.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillOwner {
    pub agent: String,
    pub phase: Option<String>,
    pub skills: Vec<OwnedSkill>,
    /// Entries that could not be read: which, and why.
    pub problems: Vec<(String, String)>,
}

/// Reads a manifest. One entry that is wrong does not cost the others.
pub fn owners(text: &str) -> Result<Vec<SkillOwner>, String> {
    let manifest: Value = serde_json::from_str(text).map_err(|error| format!("invalid JSON: {error}"))?;
    let ownership = manifest
        .get("ownership")
        .and_then(Value::as_object)
        .ok_or("the manifest has no object `ownership`, which says which agent owns which skills")?;
    Ok(ownership.iter().map(|(agent, entry)| owner(agent, entry)).collect())
}

fn owner(agent: &str, entry: &Value) -> SkillOwner {
    let mut owner = SkillOwner {
        agent: one_line(agent),
        phase: entry.get("phase").and_then(Value::as_str).map(str::to_owned),
        skills: Vec::new(),
        problems: Vec::new(),
    };
    let place = |what: &str| format!("ownership.{agent}{what}");
    match entry.get("skills") {
        None if entry.is_object() => {}
        None => owner.problems.push((place(""), "it is not an object".into())),
        Some(Value::Array(skills)) => {
            for (at, skill) in skills.iter().enumerate() {
                match owned(skill) {
                    Some(skill) => owner.skills.push(skill),
                    None => owner.problems.push((
                        place(&format!(".skills[{at}]")),
                        "it is neither an id nor an object with `id`, `name` and `path`".into(),
                    )),
                }
            }
        }
        Some(_) => owner.problems.push((place(".skills"), "it is not a list".into())),
    }
    owner
}

fn owned(skill: &Value) -> Option<OwnedSkill> {
    match skill {
        Value::String(id) => Some(OwnedSkill::Id(one_line(id))),
        Value::Object(fields) => {
            let id = text(fields, "id")?;
            let name = text(fields, "name").unwrap_or_else(|| id.clone());
            Some(OwnedSkill::Placed { name, path: text(fields, "path")?, id })
        }
        _ => None,
    }
}

fn text(fields: &Map<String, Value>, key: &str) -> Option<String> {
    fields.get(key).and_then(Value::as_str).map(one_line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_and_what_is_wrong_in_them() {
        let owners = owners(
            r#"{"version": "5.0.0", "ownership": {
                "b": {"phase": "all", "skills": ["B-1", {"id": "B-2", "name": "n", "path": "x/y"}, 7]},
                "a": {"skills": "none"}, "c": {}, "d": []}}"#,
        )
        .unwrap();
        assert_eq!(owners.iter().map(|owner| owner.agent.as_str()).collect::<Vec<_>>(), ["b", "a", "c", "d"]);
        assert_eq!(owners[0].skills.len(), 2);
        let problems: Vec<_> =
            owners.iter().flat_map(|owner| &owner.problems).map(|(place, _)| place.as_str()).collect();
        assert_eq!(problems, ["ownership.b.skills[2]", "ownership.a.skills", "ownership.d"]);
    }

    #[test]
    fn not_a_manifest() {
        assert!(owners("{").unwrap_err().starts_with("invalid JSON"));
        assert!(owners("[]").unwrap_err().contains("ownership"));
    }
}
