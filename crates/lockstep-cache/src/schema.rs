//! JSON Schemas of the manifests, from the types that read them.

use serde_json::Value;

use crate::external_skills::ExternalManifest;
use crate::skills_manifest::SkillsManifest;

pub fn schemas() -> [(&'static str, Value); 2] {
    [
        ("external-skills-manifest", schemars::schema_for!(ExternalManifest).to_value()),
        ("skills-manifest", schemars::schema_for!(SkillsManifest).to_value()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_say_what_is_read() {
        let [(_, external), (_, skills)] = schemas();
        assert_eq!(external["required"], serde_json::json!(["skills"]));
        let bindings = &external["$defs"]["Bindings"]["properties"];
        for field in ["phases", "agents", "injection_mode", "delivery_type"] {
            assert!(bindings[field]["description"].is_string(), "{field}");
        }
        assert_eq!(skills["required"], serde_json::json!(["ownership"]));
        assert_eq!(skills["$defs"]["OwnedSkill"]["anyOf"].as_array().unwrap().len(), 2);
    }
}
