//! Extracts of the cache for consumers: a section, or the content for an agent or a phase.

use lockstep_cache::extract::{ExtractQuery, ExtractResult, ExtractSource};
use schemars::JsonSchema;
use serde::Serialize;

use super::ProjectProvider;
use crate::command_output::CommandOutput;
use crate::error::{CommandError, CommandResult};
use crate::project::ActiveProject;

/// The extracted text, or the reason why there is none.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ExtractOutput {
    /// `cache`, or `disk` where the cache is not fresh or has no room for it.
    pub(crate) origin: String,
    /// The text, exactly as it went in.
    pub(crate) text: Option<String>,
    /// The reason why there is no text.
    pub(crate) skipped: Option<String>,
    #[serde(skip)]
    from: Option<ExtractSource>,
}

impl ExtractOutput {
    /// From the cache if it is fresh, else from the sources.
    pub(crate) fn of(project: &ActiveProject, query: ExtractQuery<'_>) -> CommandResult<Self> {
        let extracted = super::open(project)?.extract(&ProjectProvider::new(project), query)?;
        let (text, skipped) = match extracted.answer {
            ExtractResult::Text(text) => (Some(text), None),
            ExtractResult::Skipped(why) => (None, Some(why)),
            ExtractResult::Unknown { known } if has_no_skills(project, query, &known) => {
                (Some(String::new()), None)
            }
            ExtractResult::Unknown { known } => return Err(unknown(query, &known)),
        };
        Ok(Self { origin: extracted.origin.to_string(), text, skipped, from: Some(extracted.origin) })
    }

    /// Describes the origin, and the reason if the text is missing.
    pub(crate) fn describe_origin(&self) -> String {
        let from = match self.from {
            Some(ExtractSource::Disk) => "from the sources: the cache is not fresh, or has no room for it",
            _ => "from the cache",
        };
        if self.text.as_deref() == Some("") {
            return format!("no skill is bound to it ({from})\n");
        }
        self.skipped
            .as_ref()
            .map_or_else(|| format!("({from})\n"), |why| format!("skipped: {why} ({from})\n"))
    }
}

impl CommandOutput for ExtractOutput {
    fn text(&self) -> String {
        self.text.clone().unwrap_or_else(|| self.describe_origin())
    }
}

/// Built-in agents of Claude Code.
const CLIENT_AGENTS: [&str; 6] =
    ["general-purpose", "Explore", "Plan", "claude-code-guide", "output-style-setup", "statusline-setup"];

/// Returns true if a query is about an agent that exists and has no skills: one of the client's, of a plugin or of the project, or any where the
/// cache binds skills to no agent at all. A name that is not an agent's is a mistake.
fn has_no_skills(project: &ActiveProject, query: ExtractQuery<'_>, known: &[String]) -> bool {
    let ExtractQuery::Agent(name) = query else { return false };
    let is_plain = !name.is_empty() && !name.contains(['/', '\\']) && !name.starts_with('.');
    known.is_empty()
        || CLIENT_AGENTS.contains(&name)
        || name.contains(':')
        || (is_plain && project.root.join(".claude/agents").join(format!("{name}.md")).is_file())
}

fn unknown(query: ExtractQuery<'_>, known: &[String]) -> CommandError {
    let (what, name) = match query {
        ExtractQuery::Section(name) => ("section", name),
        ExtractQuery::Agent(name) => ("agent", name),
        ExtractQuery::Phase(name) => ("phase", name),
        ExtractQuery::Persona(name) => ("persona", name),
        ExtractQuery::Topic(name) => ("topic", name),
    };
    let error = CommandError::usage(format!("there is no {what} {name:?} in the session cache"));
    if known.is_empty() {
        return error.hint(format!(
            "nothing in this cache is by {what}; `lockstep cache show` lists its sections, `lockstep cache section NAME` prints one"
        ));
    }
    error.hint(format!("known: {}", known.join(", ")))
}
