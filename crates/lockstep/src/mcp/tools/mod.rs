//! The tools, a file per subject. A tool reads its arguments and calls the function that the verb calls.

mod cache;
mod cascade;
mod impact;
mod map;
mod steps;
mod task;

use super::tool::Definition;

/// Every tool, in the order in which they are listed.
pub(super) fn all() -> Vec<Definition> {
    vec![
        Definition::of::<impact::Impact>(),
        Definition::of::<impact::FindReferences>(),
        Definition::of::<impact::DanglingReferences>(),
        Definition::of::<map::MapEntryOf>(),
        Definition::of::<cascade::CascadeStart>(),
        Definition::of::<cascade::CascadeNext>(),
        Definition::of::<cascade::CascadeDone>(),
        Definition::of::<cascade::CascadeStatus>(),
        Definition::of::<steps::StepShow>(),
        Definition::of::<steps::StepPhaseStart>(),
        Definition::of::<steps::StepPhaseDone>(),
        Definition::of::<steps::StepPhaseSkip>(),
        Definition::of::<steps::CheckPrompt>(),
        Definition::of::<steps::AuditShow>(),
        Definition::of::<task::TaskShow>(),
        Definition::of::<task::TaskUpdate>(),
        Definition::of::<task::PhaseEnter>(),
        Definition::of::<task::PhaseComplete>(),
        Definition::of::<cache::CacheSection>(),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::mcp::limits::Limits;

    #[test]
    fn names_differ_and_descriptions_are_not_cut_by_any_client() {
        let tools = all();
        let names: BTreeSet<_> = tools.iter().map(|tool| tool.name).collect();
        assert_eq!(names.len(), tools.len());
        for tool in &tools {
            let described = tool.described();
            let description = described.description.expect("a tool is described");
            let chars = description.chars().count();
            assert!(chars > 20 && chars <= Limits::of(None).description_chars, "{}: {chars}", tool.name);
        }
    }

    #[test]
    fn every_argument_and_every_result_is_described_by_a_schema_of_an_object() {
        for tool in all() {
            let described = tool.described();
            let output = described.output_schema.expect("a tool has a result");
            for schema in [&described.input_schema, &output] {
                assert_eq!(schema["type"], "object", "{}: {schema:?}", tool.name);
                assert!(!serde_json::to_string(schema).unwrap().contains("$ref"), "{}", tool.name);
            }
            let properties = described.input_schema["properties"].as_object().expect("an object");
            for (name, property) in properties {
                assert!(property["description"].is_string(), "{}.{name}", tool.name);
            }
        }
    }

    #[test]
    fn schemas_of_all_tools() {
        let described: Vec<_> = all().iter().map(Definition::described).collect();
        insta::assert_snapshot!(serde_json::to_string_pretty(&described).unwrap());
    }
}
