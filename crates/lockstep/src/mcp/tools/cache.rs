//! `cache_section`.

use lockstep_cache::extract::Query;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::cache::extract::Extract;
use crate::mcp::tool::{Effect, Tool, ToolError};
use crate::mcp::work::Work;
use crate::project::ActiveProject;

/// Get a section of the session cache in its original form: constitution, configuration, skills, agents and
/// so on.
///
/// From the cache if it is fresh, otherwise from the sources; origin says which. A section without content
/// has the reason in skipped.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SectionInput {
    /// The section, as in SKILL_INDEX; an unknown one is answered with those there are.
    name: String,
}

/// `cache_section`.
pub(super) struct CacheSection;

impl Tool for CacheSection {
    const NAME: &'static str = "cache_section";
    const EFFECT: Effect = Effect::Reads;
    type Input = SectionInput;
    type Output = Extract;

    fn call(input: SectionInput, work: &Work) -> Result<Extract, ToolError> {
        let project = ActiveProject::of_command(&work.directory)?;
        Ok(Extract::of(&project, Query::Section(&input.name))?)
    }
}
