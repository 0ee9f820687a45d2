//! The tools, a file per subject. A tool reads its arguments and calls the function that the verb calls.

mod cache;
mod cascade;
mod impact;
mod map;
mod steps;
mod task;

use super::tool::ToolDefinition;

/// Every tool, in the order in which they are listed.
pub(super) fn all() -> Vec<ToolDefinition> {
    vec![
        ToolDefinition::of::<impact::ImpactTool>(),
        ToolDefinition::of::<impact::ReferencesTool>(),
        ToolDefinition::of::<impact::DanglingReferencesTool>(),
        ToolDefinition::of::<map::MapEntryTool>(),
        ToolDefinition::of::<cascade::CascadeStartTool>(),
        ToolDefinition::of::<cascade::CascadeNextTool>(),
        ToolDefinition::of::<cascade::CascadeDoneTool>(),
        ToolDefinition::of::<cascade::CascadeStatusTool>(),
        ToolDefinition::of::<steps::StepShowTool>(),
        ToolDefinition::of::<steps::StepPhaseStartTool>(),
        ToolDefinition::of::<steps::StepPhaseDoneTool>(),
        ToolDefinition::of::<steps::StepPhaseSkipTool>(),
        ToolDefinition::of::<steps::PromptCheckTool>(),
        ToolDefinition::of::<steps::AuditShowTool>(),
        ToolDefinition::of::<task::TaskShowTool>(),
        ToolDefinition::of::<task::TaskUpdateTool>(),
        ToolDefinition::of::<task::PhaseEnterTool>(),
        ToolDefinition::of::<task::PhaseCompleteTool>(),
        ToolDefinition::of::<cache::CacheSectionTool>(),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::mcp::limits::McpClientLimits;

    #[test]
    fn names_differ_and_descriptions_are_not_cut_by_any_client() {
        let tools = all();
        let names: BTreeSet<_> = tools.iter().map(|tool| tool.name).collect();
        assert_eq!(names.len(), tools.len());
        for tool in &tools {
            let described = tool.to_mcp_tool();
            let description = described.description.expect("a tool is described");
            let chars = description.chars().count();
            assert!(
                chars > 20 && chars <= McpClientLimits::of(None).description_chars,
                "{}: {chars}",
                tool.name
            );
        }
    }

    #[test]
    fn tool_arguments_and_results_have_object_schemas() {
        for tool in all() {
            let described = tool.to_mcp_tool();
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
        let described: Vec<_> = all().iter().map(ToolDefinition::to_mcp_tool).collect();
        insta::assert_snapshot!(serde_json::to_string_pretty(&described).unwrap());
    }
}
