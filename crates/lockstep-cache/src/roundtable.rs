//! The roundtable: personas and topics under their headings.

use crate::body::Piece;

/// A persona from its file's name and content.
pub fn persona(file_name: &str, text: String) -> Piece {
    let stem = file_name.strip_suffix(".md").unwrap_or(file_name);
    let name = stem.strip_prefix("persona-").unwrap_or(stem);
    Piece { heading: format!("### Persona: {}", title_case(name)), text, topic: false }
}

/// A topic from its file's name and content.
pub fn topic(file_name: &str, text: String) -> Piece {
    let id = file_name.strip_suffix(".md").unwrap_or(file_name);
    Piece { heading: format!("### Topic: {id}"), text, topic: true }
}

fn title_case(name: &str) -> String {
    let words = name.split('-').map(|word| {
        let mut chars = word.chars();
        chars.next().map(|first| first.to_uppercase().chain(chars).collect::<String>()).unwrap_or_default()
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings() {
        assert_eq!(
            persona("persona-business-analyst.md", String::new()).heading,
            "### Persona: Business Analyst"
        );
        assert_eq!(persona("our-ux.md", String::new()).heading, "### Persona: Our Ux");
        assert_eq!(topic("security.md", String::new()).heading, "### Topic: security");
    }
}
