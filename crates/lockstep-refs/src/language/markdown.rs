//! Markdown: its headings, by their anchors. Links are found by [`text`](crate::text), as in any text.

use std::collections::BTreeMap;

use super::Rules;
use crate::facts::{Definition, DefinitionKind, Facts};
use crate::language::Language;
use crate::reference::{Outgoing, Reference, Target};
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

    fn outgoing(&self, _world: &dyn World, _file: FileId) -> Outgoing {
        Outgoing::default()
    }
}

/// A heading, with the lines up to the next one.
struct Heading<'a> {
    title: &'a str,
    line: u32,
    body: Vec<&'a str>,
}

fn sections(text: &str) -> Vec<Definition> {
    let mut headings: Vec<Heading<'_>> = Vec::new();
    let mut fence: Option<&str> = None;
    for (line, number) in text.lines().zip(1_u32..) {
        let start = line.trim_start();
        match fence {
            Some(mark) if start.starts_with(mark) => fence = None,
            None => fence = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark)),
            Some(_) => {}
        }
        match title(line).filter(|_| fence.is_none()) {
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

fn title(line: &str) -> Option<&str> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let title = line.get(level..)?.strip_prefix([' ', '\t'])?;
    (1..=6).contains(&level).then(|| title.trim().trim_end_matches('#').trim_end())
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

/// Returns the anchor of a title, as common renderers create it.
fn anchor(title: &str) -> String {
    title
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .flat_map(char::to_lowercase)
        .collect()
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
    fn a_new_title_keeps_the_body_and_a_new_text_keeps_the_name() {
        let of = |text| Markdown.facts("x.md", text).definitions.remove(0);
        let (one, title, text) = (of("# A\nx y\n"), of("# B\nx  y\n"), of("# A\nz\n"));
        assert_eq!(one.body, title.body);
        assert_ne!(one.body, text.body);
        assert_eq!(one.name, text.name);
    }
}
