//! The roundtable: personas and topics under their headings.

use crate::frontmatter;
use crate::section_body::{RoundtableItem, truncate_with_note};

pub fn persona(file_name: &str, text: String) -> RoundtableItem {
    let stem = file_name.strip_suffix(".md").unwrap_or(file_name);
    let name = stem.strip_prefix("persona-").unwrap_or(stem);
    RoundtableItem { heading: format!("### Persona: {}", title_case(name)), text, topic: false }
}

pub fn topic(file_name: &str, text: String) -> RoundtableItem {
    let id = file_name.strip_suffix(".md").unwrap_or(file_name);
    RoundtableItem { heading: format!("### Topic: {id}"), text, topic: true }
}

/// The first line of a roundtable that was shortened.
pub(crate) const SHORTENED: &str = "[... shortened for context budget: `lockstep cache persona NAME` and \
                                    `lockstep cache topic ID` print the whole text ...]";

/// The longest title in a shortened roundtable.
const MAX_TITLE: usize = 100;

/// Returns the pieces with the topics as titles, then all of them as titles, then only their names.
pub(crate) fn short_forms(pieces: &[RoundtableItem]) -> Vec<String> {
    let joined = |pieces: Vec<String>| format!("{SHORTENED}\n\n{}", pieces.join("\n\n"));
    let titled = |piece: &RoundtableItem| format!("{}\n{}", piece.heading, title(&piece.text));
    let topics_titled =
        pieces.iter().map(|piece| if piece.topic { titled(piece) } else { piece.capped(None) });
    let names = |topic: bool| {
        let of_kind = pieces.iter().filter(|piece| piece.topic == topic);
        of_kind.map(|piece| name(piece).to_owned()).collect::<Vec<_>>().join(", ")
    };
    let lines = [("Personas", names(false)), ("Topics", names(true))];
    let lines = lines.iter().filter(|(_, names)| !names.is_empty());
    vec![
        joined(topics_titled.collect()),
        joined(pieces.iter().map(titled).collect()),
        joined(lines.map(|(kind, names)| format!("{kind}: {names}")).collect()),
    ]
}

/// The title of a persona or topic: its first heading, else a field of its frontmatter, else its first line.
fn title(text: &str) -> String {
    let head = frontmatter::block(text);
    let body = head
        .map_or(text, |head| text.split_once(head).map_or(text, |(_, rest)| rest.trim_start_matches("---")));
    let field = |key| head.and_then(|head| frontmatter::field(head, key));
    let mut lines = body.lines().map(str::trim).filter(|line| !line.is_empty());
    let heading = lines
        .clone()
        .find_map(|line| line.strip_prefix('#'))
        .map(|line| line.trim_matches(['#', ' ']).to_owned());
    let title = heading.or_else(|| field("title")).or_else(|| field("name"));
    let title = title.or_else(|| lines.next().map(str::to_owned)).unwrap_or_default();
    truncate_with_note(&title, MAX_TITLE).lines().next().unwrap_or_default().to_owned()
}

/// The name in a piece's heading: `Business Analyst`, `security`.
pub(crate) fn name(piece: &RoundtableItem) -> &str {
    piece.heading.split_once(": ").map_or("", |(_, name)| name)
}

/// Returns true if `wanted` names the piece: as in its heading, or as its file is called.
pub(crate) fn is_called(piece: &RoundtableItem, wanted: &str) -> bool {
    let key = |text: &str| text.trim().trim_end_matches(".md").to_lowercase().replace([' ', '_'], "-");
    let wanted = key(wanted);
    let wanted = if piece.topic { &wanted } else { wanted.strip_prefix("persona-").unwrap_or(&wanted) };
    key(name(piece)) == *wanted
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
    fn shorter_forms_keep_every_id() {
        let pieces = [
            persona(
                "persona-ux-designer.md",
                format!("---\nname: ux\n---\n# UX Designer\n{}", "x".repeat(900)),
            ),
            topic(
                "security.md",
                format!("---\ntopic_id: security\n---\n\n## Security review\n{}", "y".repeat(900)),
            ),
            topic("plain.md", format!("First line.\n{}", "z".repeat(900))),
        ];
        let forms = short_forms(&pieces);
        assert!(forms.windows(2).all(|pair| pair[0].len() > pair[1].len()), "{forms:#?}");
        assert!(forms[0].contains("xxx") && forms[0].contains("### Topic: security\nSecurity review"));
        assert!(forms[1].ends_with("### Persona: Ux Designer\nUX Designer\n\n### Topic: security\nSecurity review\n\n### Topic: plain\nFirst line."));
        assert!(forms[2].ends_with("\n\nPersonas: Ux Designer\n\nTopics: security, plain"));
    }

    #[test]
    fn pieces_are_found_by_heading_and_by_file_name() {
        let persona = persona("persona-business-analyst.md", String::new());
        for wanted in [
            "Business Analyst",
            "business-analyst",
            "persona-business-analyst",
            "persona-business-analyst.md",
        ] {
            assert!(is_called(&persona, wanted), "{wanted}");
        }
        let topic = topic("error_handling.md", String::new());
        assert!(
            is_called(&topic, "error_handling")
                && is_called(&topic, "error-handling")
                && !is_called(&topic, "error")
        );
    }

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
