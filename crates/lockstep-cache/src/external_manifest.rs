//! Edits of the external skills manifest: text in, text out. Unrelated content stays unchanged.

use serde_json::{Map, Value, json};

use crate::section::stays_inside;

/// An edit of a skill's bindings: `None` leaves a field unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BindingUpdate {
    /// Phases it applies in; an empty list is every phase.
    pub phases: Option<Vec<String>>,
    /// Agents it applies to; an empty list is every agent.
    pub agents: Option<Vec<String>>,
    pub injection_mode: Option<String>,
    pub delivery_type: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestEditError {
    #[error("the external skills manifest cannot be edited: {why}; mend it first")]
    Manifest { why: String },
    /// There is such a skill already.
    #[error("an external skill `{name}` is registered already; remove it first, or choose another name")]
    Exists { name: String },
    /// There is no such skill.
    #[error("no external skill is called `{name}`{}", suggestion.as_ref().map(|s| format!("; did you mean `{s}`?")).unwrap_or_default())]
    Unknown { name: String, suggestion: Option<String> },
    /// The name does not fit on a line.
    #[error("a skill's name must be one line and not empty")]
    Name,
    /// The file points outside the folder.
    #[error("`{file}` is not a path inside the folder of external skills")]
    Outside { file: String },
}

/// Registers a skill with `source: user`. Creates the manifest if there is none.
pub fn add(
    manifest: Option<&str>,
    name: &str,
    file: &str,
    source: &str,
    wiring: &BindingUpdate,
) -> Result<String, ManifestEditError> {
    let plain = |text: &str| !text.trim().is_empty() && !text.chars().any(char::is_control);
    if !plain(name) || !plain(source) {
        return Err(ManifestEditError::Name);
    }
    if !stays_inside(file) {
        return Err(ManifestEditError::Outside { file: file.to_owned() });
    }
    edit(manifest.unwrap_or("{}"), |skills| {
        if position(skills, name).is_some() {
            return Err(ManifestEditError::Exists { name: name.to_owned() });
        }
        let mut skill = json!({"name": name, "file": file, "source": source});
        wire_entry(&mut skill, wiring);
        skills.push(skill);
        Ok(())
    })
}

/// Removes a skill. Its file stays.
pub fn remove(manifest: &str, name: &str) -> Result<String, ManifestEditError> {
    edit(manifest, |skills| {
        let at = position(skills, name).ok_or_else(|| unknown(skills, name))?;
        skills.remove(at);
        Ok(())
    })
}

/// Changes the bindings of a skill. A skill without a source gets `source: user`; another source stays.
pub fn update_bindings(
    manifest: &str,
    name: &str,
    wiring: &BindingUpdate,
) -> Result<String, ManifestEditError> {
    edit(manifest, |skills| {
        let at = position(skills, name).ok_or_else(|| unknown(skills, name))?;
        let skill = &mut skills[at];
        if skill.get("source").is_none_or(Value::is_null) {
            skill["source"] = json!("user");
        }
        wire_entry(skill, wiring);
        Ok(())
    })
}

fn edit(
    text: &str,
    change: impl FnOnce(&mut Vec<Value>) -> Result<(), ManifestEditError>,
) -> Result<String, ManifestEditError> {
    let broken = |why: String| ManifestEditError::Manifest { why };
    let mut manifest: Value =
        serde_json::from_str(text).map_err(|error| broken(format!("invalid JSON: {error}")))?;
    let object = manifest.as_object_mut().ok_or_else(|| broken("it is not an object".into()))?;
    let skills = object.entry("skills").or_insert_with(|| json!([]));
    change(skills.as_array_mut().ok_or_else(|| broken("`skills` is not a list".into()))?)?;
    Ok(serde_json::to_string_pretty(&manifest).expect("a value that was read can be written") + "\n")
}

fn position(skills: &[Value], name: &str) -> Option<usize> {
    skills.iter().position(|skill| skill.get("name").and_then(Value::as_str) == Some(name))
}

fn unknown(skills: &[Value], name: &str) -> ManifestEditError {
    let names = skills.iter().filter_map(|skill| skill.get("name")?.as_str());
    let nearest = names.map(|known| (strsim::damerau_levenshtein(known, name), known)).min();
    let suggestion = nearest.filter(|(distance, _)| *distance <= 3).map(|(_, known)| known.to_owned());
    ManifestEditError::Unknown { name: name.to_owned(), suggestion }
}

fn wire_entry(skill: &mut Value, wiring: &BindingUpdate) {
    let Some(skill) = skill.as_object_mut() else { return };
    let bindings = skill.entry("bindings").or_insert_with(|| json!({}));
    if !bindings.is_object() {
        *bindings = Value::Object(Map::new());
    }
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            bindings[key] = value;
        }
    };
    set("phases", wiring.phases.as_ref().map(|phases| json!(phases)));
    set("agents", wiring.agents.as_ref().map(|agents| json!(agents)));
    set("injection_mode", wiring.injection_mode.as_ref().map(|mode| json!(mode)));
    set("delivery_type", wiring.delivery_type.as_ref().map(|kind| json!(kind)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phases(names: &[&str]) -> BindingUpdate {
        BindingUpdate {
            phases: Some(names.iter().map(ToString::to_string).collect()),
            ..BindingUpdate::default()
        }
    }

    #[test]
    fn add_begins_a_manifest_and_sets_the_source() {
        let text = add(None, "api", "api.md", "user", &phases(&["01"])).unwrap();
        let manifest: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            manifest,
            json!({"skills": [{"name": "api", "file": "api.md", "source": "user", "bindings": {"phases": ["01"]}}]})
        );
        assert_eq!(
            add(Some(&text), "api", "b.md", "user", &BindingUpdate::default()).unwrap_err(),
            ManifestEditError::Exists { name: "api".into() }
        );
    }

    #[test]
    fn unrelated_manifest_entries_are_preserved() {
        let manifest = r#"{"version": "1", "skills": [{"x": 1, "name": "a", "source": "discover",
            "bindings": {"agents": ["q"], "sub_tasks": ["s"]}}, {"name": "b"}], "extra": {"k": []}}"#;
        let wired: Value =
            serde_json::from_str(&update_bindings(manifest, "a", &phases(&["02"])).unwrap()).unwrap();
        assert_eq!(
            wired["skills"][0],
            json!({"x": 1, "name": "a", "source": "discover",
                "bindings": {"agents": ["q"], "sub_tasks": ["s"], "phases": ["02"]}})
        );
        assert_eq!(wired["extra"], json!({"k": []}));
        let removed: Value = serde_json::from_str(&remove(manifest, "a").unwrap()).unwrap();
        assert_eq!(removed["skills"], json!([{"name": "b"}]));
        assert_eq!(removed["version"], "1");
        let sourced: Value =
            serde_json::from_str(&update_bindings(manifest, "b", &phases(&[])).unwrap()).unwrap();
        assert_eq!(sourced["skills"][1]["source"], "user");
    }

    #[test]
    fn refusals_say_why() {
        let outside = add(None, "a", "../../x", "user", &BindingUpdate::default()).unwrap_err();
        assert_eq!(outside, ManifestEditError::Outside { file: "../../x".into() });
        assert_eq!(
            add(None, "a\nb", "x", "user", &BindingUpdate::default()).unwrap_err(),
            ManifestEditError::Name
        );
        let unknown = remove(r#"{"skills": [{"name": "api-docs"}]}"#, "api-doc").unwrap_err();
        assert_eq!(unknown.to_string(), "no external skill is called `api-doc`; did you mean `api-docs`?");
        for broken in ["{", "[]", r#"{"skills": {}}"#] {
            assert!(
                matches!(remove(broken, "a").unwrap_err(), ManifestEditError::Manifest { .. }),
                "{broken}"
            );
        }
    }
}
