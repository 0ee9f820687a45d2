//! The skill index: a block per agent with the skills it owns, and where to read them.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::BuildFindingKind;
use crate::framework_paths;
use crate::skill::Skill;
use crate::skills_manifest::{OwnedSkill, SkillOwner};

/// Introduces the skills of a block.
const HEADING: &str = "AVAILABLE SKILLS (consult when relevant using Read tool):";

/// Begins an agent's block.
pub(crate) const AGENT: &str = "## Agent: ";

/// Returns the index of the skills that `owners` own among `skills` (in the order they were found, which
/// decides between equal ids), and a finding for every id that does not fit.
pub fn skill_index(owners: &[SkillOwner], skills: &[Skill]) -> (String, Vec<BuildFindingKind>) {
    let mut findings = Vec::new();
    let by_id = by_id(skills, &mut findings);
    let mut used = BTreeSet::new();
    let mut blocks = Vec::new();
    for owner in owners {
        findings.extend(
            owner
                .problems
                .iter()
                .map(|(entry, why)| BuildFindingKind::BadEntry { entry: entry.clone(), why: why.clone() }),
        );
        let mut lines = Vec::new();
        for owned in &owner.skills {
            let (id, found) = resolve(owned, skills, &by_id);
            used.insert(id.to_owned());
            match found {
                Some(skill) => lines.push(entry(id, owned, skill)),
                None => {
                    findings.push(BuildFindingKind::MissingSkill {
                        agent: owner.agent.clone(),
                        id: id.to_owned(),
                    });
                }
            }
        }
        if !lines.is_empty() {
            blocks.push(format!("{AGENT}{}\n{HEADING}\n{}", owner.agent, lines.join("\n")));
        }
    }
    findings.extend(unowned(&by_id, &used));
    (blocks.join("\n\n"), findings)
}

/// Lists every skill, without owners: its name, its purpose and its path.
pub fn skill_list<'a>(skills: impl IntoIterator<Item = (String, &'a Skill)>) -> String {
    let lines: Vec<String> = skills
        .into_iter()
        .map(|(name, skill)| {
            let description = skill.facts.description.as_deref().unwrap_or(skill.directory());
            format!("  {name} — {description}\n    → {}", skill.path)
        })
        .collect();
    if lines.is_empty() { String::new() } else { format!("{HEADING}\n{}", lines.join("\n")) }
}

fn by_id<'a>(skills: &'a [Skill], findings: &mut Vec<BuildFindingKind>) -> BTreeMap<&'a str, &'a Skill> {
    let mut by_id: BTreeMap<&str, &Skill> = BTreeMap::new();
    for skill in skills {
        let Some(id) = skill.facts.id.as_deref() else { continue };
        match by_id.get(id) {
            None => {
                by_id.insert(id, skill);
            }
            // The same place below another directory of skills is the installed copy.
            Some(used) if used.place == skill.place => {}
            Some(used) => findings.push(BuildFindingKind::DuplicateId {
                id: id.to_owned(),
                used: used.path.clone(),
                other: skill.path.clone(),
            }),
        }
    }
    by_id
}

fn resolve<'a>(
    owned: &'a OwnedSkill,
    skills: &'a [Skill],
    by_id: &BTreeMap<&str, &'a Skill>,
) -> (&'a str, Option<&'a Skill>) {
    match owned {
        OwnedSkill::Id(id) => (id, by_id.get(id.as_str()).copied()),
        OwnedSkill::Placed { id, path, .. } => {
            let placed = skills.iter().find(|skill| skill.place == path.trim_matches('/'));
            (id, placed.or_else(|| by_id.get(id.as_str()).copied()))
        }
    }
}

fn entry(id: &str, owned: &OwnedSkill, skill: &Skill) -> String {
    let name = match owned {
        OwnedSkill::Id(_) => skill.directory(),
        OwnedSkill::Placed { name, .. } => name,
    };
    let description = skill.facts.description.as_deref().unwrap_or(name);
    format!("  {id}: {name} — {description}\n    → {}", skill.path)
}

/// Returns skills with an id that no agent owns. External skills have bindings instead of owners.
fn unowned(by_id: &BTreeMap<&str, &Skill>, used: &BTreeSet<String>) -> Vec<BuildFindingKind> {
    by_id
        .iter()
        .filter(|(id, skill)| {
            !used.contains(**id) && !skill.path.starts_with(framework_paths::EXTERNAL_SKILLS)
        })
        .map(|(id, skill)| BuildFindingKind::UnownedId { id: (*id).to_owned(), path: skill.path.clone() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::SkillFacts;
    use crate::skills_manifest::owners;

    fn skill(root: &str, place: &str, id: &str, description: Option<&str>) -> Skill {
        Skill {
            path: format!("{root}/{place}/SKILL.md"),
            place: place.into(),
            facts: SkillFacts { id: Some(id.into()), name: None, description: description.map(Into::into) },
        }
    }

    #[test]
    fn a_block_per_agent_with_skills() {
        let owners = owners(
            r#"{"ownership": {"dev": {"skills": ["DEV-001", "DEV-404"]}, "idle": {"skills": []},
                "old": {"skills": [{"id": "QL-1", "name": "lint", "path": "ql/lint-check"}]}}}"#,
        )
        .unwrap();
        let skills = [
            skill("src/claude/skills", "dev/code", "DEV-001", Some("Writes code")),
            skill("src/claude/skills", "dev/other", "DEV-001", None),
            skill("src/claude/skills", "ql/lint-check", "QL-001", None),
            skill(".claude/skills", "dev/code", "DEV-001", Some("a copy")),
            skill(".claude/skills", "external/x", "EXT-1", None),
        ];
        let (text, findings) = skill_index(&owners, &skills);
        assert_eq!(
            text,
            "## Agent: dev\nAVAILABLE SKILLS (consult when relevant using Read tool):\n  \
             DEV-001: code — Writes code\n    → src/claude/skills/dev/code/SKILL.md\n\n\
             ## Agent: old\nAVAILABLE SKILLS (consult when relevant using Read tool):\n  \
             QL-1: lint — lint\n    → src/claude/skills/ql/lint-check/SKILL.md"
        );
        let found = findings.iter().map(|finding| match finding {
            BuildFindingKind::MissingSkill { id, .. } => format!("missing {id}"),
            BuildFindingKind::DuplicateId { other, .. } => format!("duplicate {other}"),
            BuildFindingKind::UnownedId { id, .. } => format!("unowned {id}"),
            other => format!("{other:?}"),
        });
        assert_eq!(
            found.collect::<Vec<_>>(),
            ["duplicate src/claude/skills/dev/other/SKILL.md", "missing DEV-404", "unowned QL-001"]
        );
    }
}
