//! `cache_section`.

use lockstep_cache::extract::ExtractQuery;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::cache::extract::ExtractOutput;
use crate::mcp::call_context::CallContext;
use crate::mcp::tool::{McpTool, ToolEffect, ToolError};
use crate::project::ActiveProject;

/// Get a section of the session cache in its original form: constitution, configuration, skills, agents and
/// so on.
///
/// From the cache if it is fresh, otherwise from the sources; origin says which. A section without content
/// has the reason in skipped.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CacheSectionTool {
    /// The section, as in SKILL_INDEX; an unknown one is answered with those there are.
    name: String,
}

impl McpTool for CacheSectionTool {
    const NAME: &'static str = "cache_section";
    const EFFECT: ToolEffect = ToolEffect::Reads;
    type Output = ExtractOutput;

    fn call(self, work: &CallContext) -> Result<ExtractOutput, ToolError> {
        let project = ActiveProject::discover(&work.directory)?;
        Ok(ExtractOutput::of(&project, ExtractQuery::Section(&self.name))?)
    }
}
