//! `lockstep schema`.

use serde_json::Value;

use super::{CommandContext, CommandStatus};
use crate::error::{CommandError, CommandResult};

/// Print the JSON Schema of a document that Lockstep reads or writes
///
/// The schemas are draft 2020-12. YAML documents are validated as the values they represent.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep schema                  the names
  lockstep schema task > task.schema.json")]
pub(crate) struct SchemaArgs {
    /// The document
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

pub(crate) fn run(args: &SchemaArgs, context: &CommandContext) -> CommandResult {
    let schemas = schemas();
    let Some(name) = &args.name else {
        let names: Vec<&str> = schemas.iter().map(|(name, _)| *name).collect();
        let text = || schemas.iter().map(|(name, schema)| format!("{name:15} {}\n", about(schema))).collect();
        context.terminal.print(&context.format.render(&names).unwrap_or_else(text));
        return Ok(CommandStatus::Success);
    };
    let Some((_, schema)) = schemas.iter().find(|(known, _)| known == name) else {
        let names: Vec<&str> = schemas.iter().map(|(name, _)| *name).collect();
        return Err(CommandError::usage(format!("there is no schema {name:?}"))
            .hint(format!("the schemas are {}", names.join(", "))));
    };
    // A schema is JSON, for people too.
    let json = || serde_json::to_string_pretty(schema).expect("a schema is plain JSON") + "\n";
    context.terminal.print(&context.format.render(schema).unwrap_or_else(json));
    Ok(CommandStatus::Success)
}

fn schemas() -> Vec<(&'static str, Value)> {
    let task = lockstep_task::json_schemas::schemas().into_iter();
    task.chain(lockstep_refs::schema::schemas())
        .chain(lockstep_steps::schema::schemas())
        .chain(lockstep_cascade::schema::schemas())
        .chain(lockstep_map::schema::schemas())
        .chain(lockstep_cache::schema::schemas())
        .collect()
}

fn about(schema: &Value) -> &str {
    schema["description"].as_str().unwrap_or_default()
}
