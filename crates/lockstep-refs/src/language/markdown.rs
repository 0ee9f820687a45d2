//! Markdown: its headings, by their anchors. Links are found by [`text`](crate::text), as in any text.

use std::collections::BTreeMap;

use super::Rules;
use crate::entity::frontmatter;
use crate::facts::{Definition, DefinitionKind, Facts};
use crate::language::Language;
use crate::reference::{FileReferences, Reference, Target};
use crate::syntax::digest_words;
use crate::world::{FileId, World};

pub(super) struct Markdown;

impl Rules for Markdown {
    fn facts(&self, _path: &str, text: &str) -> Facts {
        Facts { definitions: sections(text), ..Facts::none(Language::Markdown) }
    }

    fn referrers(&self, _world: &dyn World, _target: &Target<'_>) -> Vec<Reference> {
        Vec::new()
    }

    fn outgoing(&self, _world: &dyn World, _file: FileId) -> FileReferences {
        FileReferences::default()
    }
}

/// A heading, with the lines up to the next one.
struct Heading<'a> {
    title: &'a str,
    line: u32,
    body: Vec<&'a str>,
}

fn sections(text: &str) -> Vec<Definition> {
    let front = frontmatter(text).map_or(0, |front| front.lines().count() + 2);
    let mut headings: Vec<Heading<'_>> = Vec::new();
    let mut fence: Option<&str> = None;
    let mut lines = text.lines().zip(1_u32..).skip(front).peekable();
    let mut is_start = true;
    while let Some((line, number)) = lines.next() {
        let start = line.trim_start();
        match fence {
            Some(mark) if start.starts_with(mark) => fence = None,
            None => fence = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark)),
            Some(_) => {}
        }
        let underlined = lines.peek().filter(|(below, _)| is_start && is_underline(below));
        let title = match underlined {
            Some(_) => title(line).or_else(|| paragraph_title(line)),
            None => title(line),
        };
        is_start = line.trim().is_empty() || title.is_some() && fence.is_none();
        match title.filter(|_| fence.is_none()) {
            Some(title) => headings.push(Heading { title, line: number, body: Vec::new() }),
            None => {
                if let Some(heading) = headings.last_mut() {
                    heading.body.push(line);
                }
            }
        }
    }
    let mut taken = BTreeMap::<String, u32>::new();
    headings.iter().map(|heading| definition(heading, &mut taken)).collect()
}

/// Returns the title of a line that begins with `#`.
fn title(line: &str) -> Option<&str> {
    let indent = line.bytes().take_while(|byte| *byte == b' ').count();
    let line = line.get(indent..).filter(|_| indent < 4)?;
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let title = line.get(level..)?.strip_prefix([' ', '\t'])?;
    (1..=6).contains(&level).then(|| title.trim().trim_end_matches('#').trim_end())
}

/// Returns true for the second line of an underlined heading.
fn is_underline(line: &str) -> bool {
    let marks = line.trim_end();
    marks.len() > 1 && (marks.bytes().all(|byte| byte == b'=') || marks.bytes().all(|byte| byte == b'-'))
}

/// Returns a line as a title if it is a paragraph: no item of a list, quote, row of a table or indented code.
fn paragraph_title(line: &str) -> Option<&str> {
    let is_other = line.starts_with([' ', '\t', '-', '*', '+', '>', '|', '<', '=']) || line.contains('|');
    Some(line.trim()).filter(|title| !is_other && !title.is_empty())
}

fn definition(heading: &Heading<'_>, taken: &mut BTreeMap<String, u32>) -> Definition {
    let anchor = anchor(heading.title);
    let before = taken.entry(anchor.clone()).and_modify(|count| *count += 1).or_insert(0);
    let name = if *before == 0 { anchor } else { format!("{anchor}-{before}") };
    let length = u32::try_from(heading.body.len()).unwrap_or(u32::MAX);
    // Links to a section depend on its name alone: it has no signature.
    let end = heading.line.saturating_add(length);
    Definition {
        body: digest_words(heading.body.iter().flat_map(|line| line.split_whitespace())),
        ..Definition::new(&name, DefinitionKind::Section, heading.line, end)
    }
}

/// Returns the anchor of a title, as common renderers create it: a declared one (`{#id}`), or the visible text
/// in lower case with dashes.
fn anchor(title: &str) -> String {
    let declared = title.strip_suffix('}').and_then(|title| title.rsplit_once("{#")).map(|(_, id)| id.trim());
    if let Some(id) = declared.filter(|id| !id.is_empty() && !id.contains(char::is_whitespace)) {
        return id.to_owned();
    }
    visible(title)
        .trim()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .flat_map(char::to_lowercase)
        .collect()
}

/// Returns a title without the targets of its links and without tags.
fn visible(title: &str) -> String {
    let mut text = String::new();
    let mut rest = title;
    while let Some(at) = rest.find(['<', ']']) {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        let hidden = match from.strip_prefix("](") {
            Some(target) => target.find(')').map(|end| end + 3),
            None if is_tag(from) && text.matches('`').count().is_multiple_of(2) => {
                from.find('>').map(|end| end + 1)
            }
            None => None,
        };
        rest = from.get(hidden.unwrap_or(1)..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}

fn is_tag(text: &str) -> bool {
    text.strip_prefix('<').is_some_and(|tag| tag.starts_with(|c: char| c == '/' || c.is_ascii_alphabetic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_known_by_their_anchors() {
        let text = "# The `Plan`, again!\ntext\n```sh\n# no heading\n```\n## Step 1 ##\n#hash\n## Step 1\n";
        let facts = Markdown.facts("x.md", text);
        let names: Vec<_> = facts.definitions.iter().map(|d| (&*d.name, d.line, d.end_line)).collect();
        assert_eq!(names, [("the-plan-again", 1, 5), ("step-1", 6, 7), ("step-1-1", 8, 8)]);
    }

    #[test]
    fn setext_headings_are_distinguished_from_lists_and_tables() {
        let text = "---\nname: x\n# no heading\n---\nTop\n===\n\nPart one\n--------\n\n- item\n---\n\na | b\n--|--\n\ntext\n\n---\n\none\ntwo\n---\n";
        let facts = Markdown.facts("x.md", text);
        let names: Vec<_> = facts.definitions.iter().map(|d| (&*d.name, d.line)).collect();
        assert_eq!(names, [("top", 5), ("part-one", 8)]);
    }

    #[test]
    fn anchors_contain_the_visible_text_or_the_declared_id() {
        for (title, expected) in [
            ("[1.0](https://x.org/a) - 2020", "10---2020"),
            ("Install <a id=\"x\"></a>", "install"),
            ("Use `Vec<T>` & more", "use-vect--more"),
            ("Title {#custom_id}", "custom_id"),
            ("Set {x}", "set-x"),
        ] {
            assert_eq!(anchor(title), expected, "{title}");
        }
    }

    #[test]
    fn a_new_title_keeps_the_body_and_a_new_text_keeps_the_name() {
        let of = |text| Markdown.facts("x.md", text).definitions.remove(0);
        let (one, title, text) = (of("# A\nx y\n"), of("# B\nx  y\n"), of("# A\nz\n"));
        assert_eq!(one.body, title.body);
        assert_ne!(one.body, text.body);
        assert_eq!(one.name, text.name);
    }
}
