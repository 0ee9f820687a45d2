//! Restores former contents from an event's description of a change.

use lockstep_git::patch::FilePatch;
use lockstep_model::event::{EditHunk, OriginalContent, Replacement, Undo};

/// Returns the content of a file before a tool changed it to `present`. `None` if the event does not
/// determine it.
pub(super) fn former(present: &str, undo: &Undo) -> Option<OriginalContent> {
    revert(present, &undo.hunks)
        .or_else(|| replace_back(present, &undo.replacements))
        .map(OriginalContent::Text)
}

/// Reverts a difference. An empty one determines nothing.
pub(super) fn revert(present: &str, hunks: &[EditHunk]) -> Option<String> {
    patch(hunks)?.revert(present)
}

/// Reverts a difference whose lines are exactly at the positions that it names.
pub(super) fn revert_in_place(present: &str, hunks: &[EditHunk]) -> Option<String> {
    patch(hunks)?.revert_in_place(present)
}

fn patch(hunks: &[EditHunk]) -> Option<FilePatch> {
    let patch = || FilePatch::from_hunks(hunks.iter().map(|hunk| (hunk.new_start, hunk.lines.as_slice())));
    (!hunks.is_empty()).then(patch)
}

/// Restores the old texts, the last replacement first. A new text that occurs more than once, or not at all,
/// does not determine what it replaced.
fn replace_back(present: &str, replacements: &[Replacement]) -> Option<String> {
    if replacements.is_empty() {
        return None;
    }
    let mut text = present.to_owned();
    for Replacement { old, new, all } in replacements.iter().rev() {
        let occurrences = if new.is_empty() { 0 } else { text.matches(new.as_str()).count() };
        match occurrences {
            1 => text = text.replacen(new.as_str(), old, 1),
            0 => return None,
            _ if *all => text = text.replace(new.as_str(), old),
            _ => return None,
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(present: &str, replacements: &[(&str, &str, bool)]) -> Option<OriginalContent> {
        let replacements = replacements
            .iter()
            .map(|(old, new, all)| Replacement { old: (*old).to_owned(), new: (*new).to_owned(), all: *all })
            .collect();
        former(present, &Undo { hunks: Vec::new(), replacements })
    }

    #[test]
    fn replaced_texts_are_put_back_in_reverse_order() {
        let text = |text: &str| Some(OriginalContent::Text(text.to_owned()));
        assert_eq!(replaced("def b(): c\n", &[("a", "b", false)]), text("def a(): c\n"));
        assert_eq!(replaced("y\n", &[("a", "x", false), ("x", "y", false)]), text("a\n"));
        assert_eq!(replaced("b b\n", &[("a", "b", true)]), text("a a\n"));
        assert_eq!(replaced("b b\n", &[("a", "b", false)]), None, "either may be the new one");
        assert_eq!(replaced("rest\n", &[("a", "", false)]), None, "nothing tells where it was");
    }

    #[test]
    fn hunk_is_reverted_at_its_stated_line() {
        let hunk = EditHunk { new_start: 3, lines: vec!["-x".to_owned(), "+b".to_owned()] };
        let undo = Undo { hunks: vec![hunk], replacements: Vec::new() };
        assert_eq!(former("b\na\nb\n", &undo), Some(OriginalContent::Text("b\na\nx\n".to_owned())));
        assert_eq!(former("other\n", &undo), None);
    }
}
