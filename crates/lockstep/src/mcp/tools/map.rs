//! `map_entry`: works in any directory, without configuration.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::command_output::CommandOutput;
use crate::map::CurrentMap;
use crate::map::entry::MapEntry;
use crate::mcp::call_context::CallContext;
use crate::mcp::tool::{McpTool, ToolEffect, ToolError};
use crate::workspace::Workspace;

/// Get a file's entry in the map of the codebase: what it references, who references it, and how much hangs on it.
///
/// Always as of this moment, and complete, whatever the written document leaves out. Works in any directory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MapEntryTool {
    /// The file, by its path or an end of it that no other file has.
    path: String,
}

/// An entry, and what could not be seen.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MapEntryOutput {
    #[serde(flatten)]
    entry: MapEntry,
    /// The number of files in the map's scope that could not be read.
    unseen_files: usize,
}

impl CommandOutput for MapEntryOutput {
    fn text(&self) -> String {
        let note = match self.unseen_files {
            0 => String::new(),
            unseen => format!("note: {unseen} files could not be looked into\n"),
        };
        self.entry.text() + &note
    }
}

impl McpTool for MapEntryTool {
    const NAME: &'static str = "map_entry";
    const EFFECT: ToolEffect = ToolEffect::Reads;
    type Output = MapEntryOutput;

    fn call(self, work: &CallContext) -> Result<MapEntryOutput, ToolError> {
        let tree = Workspace::discover(&work.directory)?;
        let current = CurrentMap::of(&tree, work)?;
        let place = current.find(&tree, &work.directory, &self.path)?;
        Ok(MapEntryOutput { entry: MapEntry::of(&current.view(), place), unseen_files: current.unseen })
    }
}
