//! Blocks inside sections: agents in the skill index, skills among the external ones.
//!
//! Content of a block cannot begin another: descriptions have one line, and the text of external skills is
//! escaped.

use crate::external_skills::{HEADING, SEPARATOR, unescape_headings};
use crate::skill_index::AGENT;

pub fn agent_block<'a>(skill_index: &'a str, agent: &str) -> Option<&'a str> {
    agents(skill_index).find(|(name, _)| *name == agent).map(|(_, block)| block)
}

pub(crate) fn agents(skill_index: &str) -> impl Iterator<Item = (&str, &str)> {
    blocks(skill_index, AGENT, "\n\n")
}

/// Cuts a text into blocks that begin with a line `marker` and a name, and are separated by `separator`.
fn blocks<'a>(
    text: &'a str,
    marker: &'a str,
    separator: &'a str,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    let starts: Vec<usize> = std::iter::once(0)
        .chain(text.match_indices('\n').map(|(at, _)| at + 1))
        .filter(|at| text[*at..].starts_with(marker))
        .collect();
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([text.len()]).collect();
    let last = ends.len();
    starts.into_iter().zip(ends).enumerate().map(move |(at, (start, end))| {
        let block = &text[start..end];
        let block = if at + 1 < last { block.strip_suffix(separator).unwrap_or(block) } else { block };
        let name = block.lines().next().unwrap_or_default();
        (&name[marker.len().min(name.len())..], block)
    })
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalSkillBlock<'a> {
    pub title: &'a str,
    /// The origin of the registration.
    pub source: &'a str,
    /// The phases: `all`, or names separated by commas; `None` without bindings.
    pub phases: Option<&'a str>,
    pub agents: Option<&'a str>,
    pub injection: &'a str,
    pub delivery: &'a str,
    pub text: &'a str,
}

impl ExternalSkillBlock<'_> {
    /// Returns true if it applies to an agent.
    pub fn is_bound_to_agent(&self, agent: &str) -> bool {
        is_bound_to(self.agents, agent)
    }

    /// Returns true if it applies in a phase.
    pub fn is_bound_to_phase(&self, phase: &str) -> bool {
        is_bound_to(self.phases, phase)
    }

    /// The skill's text as its file has it (or its beginning).
    pub fn content(&self) -> String {
        unescape_headings(self.text.split_once("\n\n").map_or("", |(_, content)| content))
    }
}

pub fn external_blocks(section: &str) -> Vec<ExternalSkillBlock<'_>> {
    blocks(section, HEADING, SEPARATOR)
        .map(|(title, text)| {
            let head = text.split_once("\n\n").map_or(text, |(head, _)| head);
            let field = |key: &str| head.lines().find_map(|line| line.strip_prefix(key));
            ExternalSkillBlock {
                title,
                source: field("Source: ").unwrap_or("unknown"),
                phases: field("Phases: "),
                agents: field("Agents: "),
                injection: field("Injection: ").unwrap_or("manual"),
                delivery: field("Delivery: ").unwrap_or("reference"),
                text,
            }
        })
        .collect()
}

fn is_bound_to(bound: Option<&str>, name: &str) -> bool {
    lists_name(bound, "all") || lists_name(bound, name)
}

pub(crate) fn lists_name(bound: Option<&str>, name: &str) -> bool {
    bound.is_some_and(|bound| bound.split(", ").any(|one| one == name))
}
