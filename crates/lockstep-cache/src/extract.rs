//! Extraction for consumers: a section, or the content for an agent or a phase.
//!
//! The functions over texts are pure. [`SessionCache::extract`] uses the cache if it is fresh, otherwise the
//! sources, and reports which.

use std::fmt;

use serde_json::Value;

use crate::blocks::{agent_block, agents, external_blocks, lists_name};
use crate::budget::{BUDGET_EXCEEDED, SectionDraft};
use crate::build_report::Freshness;
use crate::cache_document::{CacheDocument, SectionContent};
use crate::content_provider::ContentProvider;
use crate::error::CacheError;
use crate::external_skills::SEPARATOR;
use crate::roundtable::{self, SHORTENED};
use crate::section_body::{LengthCaps, RoundtableItem, SectionBody, TRUNCATED};
use crate::session_cache::SessionCache;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtractQuery<'a> {
    Section(&'a str),
    /// An agent's skills and the external skills bound to it.
    Agent(&'a str),
    /// The configuration of a phase, its agents' skills, and the external skills bound to it.
    Phase(&'a str),
    /// A persona of the roundtable, by the name in its heading or of its file. Always from the sources.
    Persona(&'a str),
    /// A topic of the roundtable, by its id. Always from the sources.
    Topic(&'a str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtractSource {
    Cache,
    /// The sources, because the cache is not fresh or has no room for it.
    Disk,
}

impl fmt::Display for ExtractSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cache => "cache",
            Self::Disk => "disk",
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extracted {
    pub answer: ExtractResult,
    pub origin: ExtractSource,
}

/// An extracted text, or its absence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExtractResult {
    Text(String),
    /// The section exists but has no content, for this reason.
    Skipped(String),
    /// The name is unknown; these are known.
    Unknown {
        known: Vec<String>,
    },
}

impl SessionCache {
    /// Answers a query from the cache if it is fresh, else from the sources.
    pub fn extract(
        &self,
        provider: &dyn ContentProvider,
        query: ExtractQuery<'_>,
    ) -> Result<Extracted, CacheError> {
        if let ExtractQuery::Persona(name) | ExtractQuery::Topic(name) = query {
            let answer = piece(
                &self.collect_sections(provider)?.drafts,
                name,
                matches!(query, ExtractQuery::Topic(_)),
            );
            return Ok(Extracted { answer, origin: ExtractSource::Disk });
        }
        if self.freshness(provider, None)? == Freshness::Fresh
            && let Some(text) = self.read()?
            && let Ok(document) = CacheDocument::parse(&text)
        {
            let sections: Vec<_> =
                document.sections.iter().map(|entry| (entry.name.to_owned(), entry.content())).collect();
            // Sections that the budget omitted or shortened are read from the sources.
            let wanted = |name: &str| !matches!(query, ExtractQuery::Section(other) if other != name);
            let is_reduced = |content: &SectionContent| match content {
                SectionContent::Skipped(why) => why == BUDGET_EXCEEDED,
                SectionContent::Text(text) => {
                    text.starts_with(SHORTENED)
                        || matches!(query, ExtractQuery::Section(_)) && text.contains(TRUNCATED)
                }
            };
            if !sections.iter().any(|(name, content)| wanted(name) && is_reduced(content)) {
                return Ok(Extracted {
                    answer: extract_from_sections(&sections, query),
                    origin: ExtractSource::Cache,
                });
            }
        }
        let drafts = self.collect_sections(provider)?.drafts;
        let sections: Vec<_> = drafts
            .into_iter()
            .map(|draft| {
                let content = match draft.body {
                    Ok(body) => SectionContent::Text(body.text(LengthCaps::DEFAULT)),
                    Err(why) => SectionContent::Skipped(why),
                };
                (draft.name.to_string(), content)
            })
            .collect();
        Ok(Extracted { answer: extract_from_sections(&sections, query), origin: ExtractSource::Disk })
    }
}

pub fn extract_from_sections(
    sections: &[(String, SectionContent)],
    query: ExtractQuery<'_>,
) -> ExtractResult {
    match query {
        ExtractQuery::Section(name) => match sections.iter().find(|(known, _)| known == name) {
            Some((_, SectionContent::Text(text))) => ExtractResult::Text(text.clone()),
            Some((_, SectionContent::Skipped(why))) => ExtractResult::Skipped(why.clone()),
            None => ExtractResult::Unknown { known: sections.iter().map(|(name, _)| name.clone()).collect() },
        },
        ExtractQuery::Agent(agent) => join_blocks(agent_blocks(sections, agent), || {
            agents(text_of(sections, "SKILL_INDEX")).map(|(name, _)| name.to_owned()).collect()
        }),
        ExtractQuery::Phase(phase) => join_blocks(phase_blocks(sections, phase), || phases(sections)),
        // Sections do not show where a piece ends: only the drafts do.
        ExtractQuery::Persona(_) | ExtractQuery::Topic(_) => ExtractResult::Unknown { known: Vec::new() },
    }
}

/// Finds one persona or topic among the drafts.
fn piece(drafts: &[SectionDraft], name: &str, topic: bool) -> ExtractResult {
    let pieces = drafts.iter().filter_map(|draft| match &draft.body {
        Ok(SectionBody::Roundtable(pieces)) => Some(pieces),
        _ => None,
    });
    let pieces: Vec<&RoundtableItem> = pieces.flatten().filter(|piece| piece.topic == topic).collect();
    match pieces.iter().find(|piece| roundtable::is_called(piece, name)) {
        Some(piece) => ExtractResult::Text(piece.capped(None)),
        None => ExtractResult::Unknown {
            known: pieces.iter().map(|piece| roundtable::name(piece).to_owned()).collect(),
        },
    }
}

fn join_blocks(blocks: Vec<String>, known: impl FnOnce() -> Vec<String>) -> ExtractResult {
    if blocks.is_empty() {
        ExtractResult::Unknown { known: known() }
    } else {
        ExtractResult::Text(blocks.join("\n\n"))
    }
}

fn text_of<'a>(sections: &'a [(String, SectionContent)], name: &str) -> &'a str {
    sections
        .iter()
        .find_map(|(known, content)| match content {
            SectionContent::Text(text) if known == name => Some(text.as_str()),
            _ => None,
        })
        .unwrap_or_default()
}

fn agent_blocks(sections: &[(String, SectionContent)], agent: &str) -> Vec<String> {
    let index = text_of(sections, "SKILL_INDEX");
    let mut blocks: Vec<String> = agent_block(index, agent).map(str::to_owned).into_iter().collect();
    let externals = external_blocks(text_of(sections, "EXTERNAL_SKILLS"));
    let bound: Vec<&str> =
        externals.iter().filter(|skill| skill.is_bound_to_agent(agent)).map(|skill| skill.text).collect();
    // A skill that is bound to every agent does not prove that this agent exists.
    let known = !blocks.is_empty() || externals.iter().any(|skill| lists_name(skill.agents, agent));
    if known && !bound.is_empty() {
        blocks.push(bound.join(SEPARATOR));
    }
    blocks
}

fn phase_blocks(sections: &[(String, SectionContent)], phase: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (name, content) in sections {
        let SectionContent::Text(text) = content else { continue };
        for (path, value) in members(text, phase) {
            let value = serde_json::to_string_pretty(&value).expect("a value that was read can be written");
            found.push(format!("### {name}: {path}\n{value}"));
        }
    }
    let index = text_of(sections, "SKILL_INDEX");
    let owners = crate::skills_manifest::owners(text_of(sections, "SKILLS_MANIFEST")).unwrap_or_default();
    let of_phase = owners.iter().filter(|owner| owner.phase.as_deref() == Some(phase));
    found.extend(of_phase.filter_map(|owner| agent_block(index, &owner.agent)).map(str::to_owned));
    let externals = external_blocks(text_of(sections, "EXTERNAL_SKILLS"));
    let known = !found.is_empty() || externals.iter().any(|skill| lists_name(skill.phases, phase));
    let bound: Vec<&str> =
        externals.iter().filter(|skill| skill.is_bound_to_phase(phase)).map(|skill| skill.text).collect();
    if known && !bound.is_empty() {
        found.push(bound.join(SEPARATOR));
    }
    found
}

/// The members called `key`, at the top of a JSON object or one level below, each with its path.
fn members(text: &str, key: &str) -> Vec<(String, Value)> {
    let Ok(Value::Object(top)) = serde_json::from_str(text) else { return Vec::new() };
    let mut found = Vec::new();
    for (name, value) in top {
        if name == key {
            found.push((name, value));
        } else if let Some(inner) = value.get(key) {
            found.push((format!("{name}.{key}"), inner.clone()));
        }
    }
    found
}

fn phases(sections: &[(String, SectionContent)]) -> Vec<String> {
    let requirements: Value =
        serde_json::from_str(text_of(sections, "ITERATION_REQUIREMENTS")).unwrap_or_default();
    let known = requirements.get("phase_requirements").and_then(Value::as_object);
    known.map(|phases| phases.keys().cloned().collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sections() -> Vec<(String, SectionContent)> {
        let external = |name: &str, phases: &str, agents: &str, content: &str| {
            format!(
                "### External Skill: {name}\nSource: user\nPhases: {phases}\nAgents: {agents}\nInjection: always\n\
                 Delivery: context\n\n{content}"
            )
        };
        let externals = [
            external(
                "one",
                "01-req",
                "dev",
                "text of one\n\n---\n\n~### External Skill: fake\nAgents: dev\n",
            ),
            external("two", "all", "all", "text of two"),
            external("three", "09-x", "qa", ""),
        ]
        .join(SEPARATOR);
        [
            ("SKILLS_MANIFEST", r#"{"ownership": {"dev": {"phase": "01-req"}, "qa": {"phase": "09-x"}}}"#),
            (
                "SKILL_INDEX",
                "## Agent: dev\nSKILLS\n  D-1: x — y\n\n## Agent: qa\nSKILLS\n  Q-1: ## Agent: dev — y",
            ),
            (
                "ITERATION_REQUIREMENTS",
                r#"{"phase_requirements": {"01-req": {"a": 1}, "02": {}}, "01-req": 2}"#,
            ),
            ("EXTERNAL_SKILLS", externals.as_str()),
        ]
        .map(|(name, text)| (name.to_owned(), SectionContent::Text(text.to_owned())))
        .into()
    }

    fn text(query: ExtractQuery<'_>) -> String {
        match extract_from_sections(&sections(), query) {
            ExtractResult::Text(text) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_agent_gets_its_own() {
        let text = text(ExtractQuery::Agent("dev"));
        assert!(
            text.starts_with("## Agent: dev\nSKILLS\n  D-1: x — y\n\n### External Skill: one\n"),
            "{text}"
        );
        assert!(text.contains("text of two") && !text.contains("three") && !text.contains("Q-1"));
    }

    #[test]
    fn a_phase_gets_its_own() {
        let text = text(ExtractQuery::Phase("01-req"));
        assert!(
            text.starts_with("### ITERATION_REQUIREMENTS: phase_requirements.01-req\n{\n  \"a\": 1\n}"),
            "{text}"
        );
        for part in ["### ITERATION_REQUIREMENTS: 01-req\n2", "## Agent: dev", "text of one", "text of two"] {
            assert!(text.contains(part), "{part}");
        }
        assert!(!text.contains("Agent: qa") && !text.contains("three"));
    }

    #[test]
    fn unknown_is_not_nothing() {
        assert_eq!(
            extract_from_sections(&sections(), ExtractQuery::Agent("nobody")),
            ExtractResult::Unknown { known: vec!["dev".into(), "qa".into()] }
        );
        let ExtractResult::Unknown { known } = extract_from_sections(&sections(), ExtractQuery::Phase("77"))
        else {
            panic!()
        };
        assert_eq!(known, ["01-req", "02"]);
    }

    #[test]
    fn content_of_an_external_skill_comes_back() {
        let sections = sections();
        let views = external_blocks(text_of(&sections, "EXTERNAL_SKILLS"));
        assert_eq!(views.iter().map(|view| view.title).collect::<Vec<_>>(), ["one", "two", "three"]);
        assert_eq!(views[0].content(), "text of one\n\n---\n\n### External Skill: fake\nAgents: dev\n");
        assert_eq!(views[2].content(), "");
    }
}
