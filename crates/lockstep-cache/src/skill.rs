//! Reads the file of a skill or agent.

use crate::frontmatter;
use crate::text_length::one_line;

/// The fields of a `SKILL.md`, each on one line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SkillFacts {
    /// `skill_id`, or the id of a heading `# QL-005: name`.
    pub id: Option<String>,
    pub name: Option<String>,
    /// `description`, or the first plain line under `## Description`.
    pub description: Option<String>,
}

impl SkillFacts {
    /// The facts of a file's text.
    pub fn of(text: &str) -> Self {
        let block = frontmatter::block(text);
        let field =
            |key| block.and_then(|block| frontmatter::field(block, key)).map(|value| one_line(&value));
        Self {
            id: field("skill_id").or_else(|| heading_id(text)),
            name: field("name"),
            description: field("description").or_else(|| description_from_body(text)),
        }
    }
}

/// A `SKILL.md` and where it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// The file, as a reader of the cache opens it: relative to the root, or absolute in a plugin.
    pub path: String,
    /// The directory below the directory of skills: `development/code-implementation`.
    pub place: String,
    pub facts: SkillFacts,
}

impl Skill {
    pub fn directory(&self) -> &str {
        self.place.rsplit('/').next().unwrap_or(&self.place)
    }
}

/// The id of the first heading, if it has the form `# QL-005: name`.
fn heading_id(text: &str) -> Option<String> {
    let heading = text.lines().find_map(|line| line.strip_prefix("# "))?;
    let (id, _) = heading.split_once(':')?;
    let (letters, number) = id.trim().rsplit_once('-')?;
    let well_formed = letters.starts_with(|c: char| c.is_ascii_uppercase())
        && letters.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-')
        && !number.is_empty()
        && number.chars().all(|c| c.is_ascii_digit());
    well_formed.then(|| id.trim().to_owned())
}

fn description_from_body(text: &str) -> Option<String> {
    let mut lines = text.lines().skip_while(|line| line.trim_end() != "## Description");
    lines.next()?;
    lines.map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#')).map(one_line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frontmatter_comes_first() {
        let facts = SkillFacts::of(
            "---\nskill_id: DEV-001\nname: a\ndescription: d\n---\n# DEV-002: b\n## Description\nother\n",
        );
        assert_eq!(facts.id.unwrap(), "DEV-001");
        assert_eq!(facts.description.unwrap(), "d");
    }

    #[test]
    fn headings_count_too() {
        let facts =
            SkillFacts::of("# QL-005: lint-check\n\n## Description\n\n### not this\nExecute linter\n");
        assert_eq!(facts.id.unwrap(), "QL-005");
        assert_eq!(facts.description.unwrap(), "Execute linter");
    }

    #[test]
    fn missing_skill_fields_stay_empty() {
        assert_eq!(SkillFacts::of("# Notes: 3\n\n# QL-005: later\n"), SkillFacts::default());
        assert_eq!(SkillFacts::of(""), SkillFacts::default());
    }
}
