//! Texts that list files (agents, conventions), and Lockstep's own instructions.

use crate::skill::SkillFacts;
use crate::text_length::one_line;

/// The default instructions. They are facts, not commands, because a model reads them.
pub const DEFAULT_INSTRUCTIONS: &str = "\
Lockstep watches this project, journals what changes in it, and knows what depends on it.
- `lockstep changes` lists what changed in this session and who changed it.
- `lockstep impact` shows which files depend on what changed, and which of them no longer fit; `lockstep refs NAME` who references a file or a symbol.
- `lockstep cascade start`, `next` and `done` bring dependents up to date in a bounded loop; `lockstep cascade status` shows where it stands.
- `lockstep map show` prints the codebase map: references and hotspots; there may be none.
- `lockstep step list` lists the steps, units of work whose phases are recorded and whose commit passes a gate; there may be none.
- `lockstep task show` prints the task, the one document that is the truth across phases; there may be none.
- `lockstep cache section NAME` prints a section of this cache; `lockstep cache show` lists them.
- `lockstep config show` prints the configuration; `lockstep doctor` checks that everything is in place.
";

/// Renders a line for an agent's file: name, purpose, path.
pub fn agent_entry(name: &str, facts: &SkillFacts, path: &str) -> String {
    let description = facts.description.as_deref().unwrap_or("(no description)");
    format!("  {} — {description}\n    → {path}", one_line(name))
}

/// Files one after the other, each under its path.
pub fn files<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let blocks: Vec<String> = files.into_iter().map(|(path, text)| format!("### {path}\n{text}")).collect();
    blocks.join("\n\n")
}
