//! Distinguishes task documents of Lockstep from texts of other frameworks whose subjects have the same mark.

use crate::document::{DocumentLimits, SECTIONS};
use crate::value::Value;
use crate::yaml;

/// Returns true if a description is intended as a document: it has a section, perhaps misspelt. A Markdown
/// body has none. YAML that does not parse counts if a line begins like a section and nothing in it is a
/// Markdown heading.
pub fn is_document(description: &str, limits: DocumentLimits) -> bool {
    match yaml::read(description.as_bytes(), limits.max_parse_bytes()) {
        Ok(Value::Object(root)) => root.keys().any(|key| is_meant(key)),
        Ok(_) => false,
        Err(_) => {
            let begins = |line: &str| line.split_once(':').is_some_and(|(key, _)| is_meant(key));
            description.lines().any(begins) && !description.lines().any(|line| line.starts_with("## "))
        }
    }
}

fn is_meant(key: &str) -> bool {
    let key = key.trim_matches(|c: char| matches!(c, '"' | '\'' | '{' | ' '));
    // Sections are written in small letters; a heading such as `Constraints:` is prose.
    !key.contains(char::is_uppercase)
        && SECTIONS.iter().any(|section| strsim::osa_distance(key, section.name) <= 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_has_a_section_and_a_markdown_body_has_none() {
        let limits = DocumentLimits { max_bytes: 16_384 };
        for text in [
            "user_intent: x\n",
            "user_intnet: x\n",
            "{\"user_intent\": \"x\"}",
            "# about it\nuser_intent: x\nconstraints: [\n",
            "extra: 1\nphase_status: {}\n",
        ] {
            assert!(is_document(text, limits), "{text}");
        }
        for text in [
            "",
            "just words",
            "## User Intent\nAdd login: with a form\n\n## Constraints\n- none\n",
            "# Task\n\n**Goal**: login\n",
            "Goal: login\nConstraints: none\n",
            "## Notes\nconstraints: none\nmore: [\n",
            "- [ ] P1\n- [ ] P2\n",
        ] {
            assert!(!is_document(text, limits), "{text}");
        }
    }
}
