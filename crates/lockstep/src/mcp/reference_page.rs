//! `docs/reference/mcp.md`: every tool and resource, as the server itself describes them.

use std::fmt::Write as _;

use serde_json::Value;

use super::resources::RESOURCE_TEMPLATES;
use super::tool::{CURSOR, ToolDefinition, ToolEffect};
use super::tools;

/// The page, below its title.
pub(crate) fn page() -> String {
    let tools = tools::all();
    let mut out = "`lockstep mcp` serves these tools and resources; [the guide](../guide/mcp.md) says how to register it. Every tool \
                   also takes `cursor`, the `next_cursor` of an earlier result of its own.\n\n| tool | | |\n|---|---|---|\n"
        .to_owned();
    for tool in &tools {
        let does = match tool.effect {
            ToolEffect::Reads => "reads",
            ToolEffect::Writes => "writes",
            ToolEffect::Runs => "writes, and runs a command where the server was started with `--allow-run`",
        };
        let _ = writeln!(out, "| [`{0}`](#{0}) | {1} | {does} |", tool.name, cell(first(&description(tool))));
    }
    tools.iter().for_each(|tool| section(&mut out, tool));
    out.push_str("\n## Resources\n\n| address | what it is |\n|---|---|\n");
    for (form, what) in RESOURCE_TEMPLATES {
        let _ = writeln!(out, "| `{form}` | {} |", cell(what));
    }
    out
}

fn description(tool: &ToolDefinition) -> String {
    tool.to_mcp_tool().description.map(|text| text.into_owned()).unwrap_or_default()
}

fn first(text: &str) -> &str {
    let paragraph = text.split("\n\n").next().unwrap_or(text);
    paragraph.find(". ").map_or(paragraph, |end| &paragraph[..=end])
}

fn section(out: &mut String, tool: &ToolDefinition) {
    let described = tool.to_mcp_tool();
    let _ = writeln!(out, "\n## `{}`\n\n{}", tool.name, description(tool));
    let required: Vec<&str> = texts(described.input_schema.get("required")).collect();
    let properties = described.input_schema.get("properties").and_then(Value::as_object);
    let own = properties.into_iter().flatten().filter(|(name, _)| *name != CURSOR);
    let lines: Vec<String> = own
        .map(|(name, schema)| {
            let required = if required.contains(&name.as_str()) { ", required" } else { "" };
            let about = schema["description"].as_str().unwrap_or_default();
            format!("- `{name}` ({}{required}): {about}\n", kind(schema))
        })
        .collect();
    if !lines.is_empty() {
        let _ = write!(out, "\n{}", lines.concat());
    }
    let fields = described
        .output_schema
        .as_ref()
        .and_then(|schema| schema.get("properties"))
        .and_then(Value::as_object);
    let names: Vec<String> = fields
        .into_iter()
        .flatten()
        .map(|(name, _)| format!("`{name}`"))
        .filter(|name| name != "`next_cursor`")
        .collect();
    let _ = writeln!(out, "\nGives {}.", names.join(", "));
}

fn texts(value: Option<&Value>) -> impl Iterator<Item = &str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Returns the type of a value, without the `null` of an optional one.
fn kind(schema: &Value) -> String {
    if let Some(one_of) = schema.get("anyOf").and_then(Value::as_array) {
        let kinds: Vec<String> = one_of.iter().filter(|one| one["type"] != "null").map(kind).collect();
        return kinds.join(" or ");
    }
    let values: Vec<String> = texts(schema.get("enum")).map(|value| format!("`{value}`")).collect();
    if !values.is_empty() {
        return values.join(" or ");
    }
    match &schema["type"] {
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => {
            let kinds: Vec<&str> =
                kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect();
            kinds.join(" or ")
        }
        _ => "anything".to_owned(),
    }
}

fn cell(text: &str) -> String {
    text.trim().replace('|', "\\|").replace('\n', " ")
}
