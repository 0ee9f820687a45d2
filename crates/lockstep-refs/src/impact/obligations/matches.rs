//! Matches that the compiler accepts only if they handle every variant, and that do not handle a new one.
//!
//! Such a match had an arm for every former variant and no arm for the rest. One of its arms must resolve to a variant of the enum, or
//! its file must reference the enum where variants are written without it.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::super::tree::{Source, ancestors, descendants};
use super::{Obligation, Search, Unmet};
use crate::facts::DefinitionKind;
use crate::language::Language;
use crate::resolve::path_of;
use crate::syntax::line_of;
use crate::world::FileId;

pub(super) fn find(search: &Search<'_>, obligation: &Obligation, found: &mut Vec<Unmet>) {
    let siblings: BTreeSet<&str> = obligation.siblings.iter().map(|definition| &*definition.name).collect();
    if siblings.is_empty() {
        return;
    }
    let mut symbols = vec![obligation.owner.clone()];
    let is_definition = |definition: &&crate::facts::Definition| {
        definition.container.is_some() || definition.kind != DefinitionKind::Variant
    };
    symbols.extend(obligation.siblings.iter().filter(is_definition).cloned());
    let mut files: BTreeSet<FileId> = BTreeSet::new();
    let mut named: BTreeSet<(FileId, u32)> = BTreeSet::new();
    for reference in search.references(search.file, &symbols) {
        files.insert(reference.file);
        if reference.symbol != Some(0) {
            named.insert((reference.file, reference.line));
        }
    }
    for file in files {
        let Some(source) = search.trees.get(file) else { continue };
        for node in source.nodes(&[
            "match_expression",
            "when_expression",
            "switch_statement",
            "switch_expression",
            "object",
        ]) {
            let Some(arms) = Arms::of(&source, node, obligation) else { continue };
            let is_open = arms.has_rest
                || !siblings.iter().all(|sibling| arms.names.contains(*sibling))
                || arms.names.contains(&*obligation.member);
            // A variant that is written without its enum is not resolved.
            let is_resolved = arms.lines.iter().any(|line| named.contains(&(file, *line)))
                || matches!(
                    source.language,
                    Language::Swift | Language::Java | Language::TypeScript | Language::Tsx
                );
            if !is_open && is_resolved {
                found.push(Unmet {
                    file,
                    line: line_of(node),
                    pattern: obligation.member.clone(),
                    reason: format!("{} of {} is not handled", obligation.member, obligation.owner.name),
                    owner: path_of(&obligation.owner),
                });
            }
        }
    }
}

/// The patterns of a match.
#[derive(Default)]
struct Arms {
    names: BTreeSet<String>,
    lines: BTreeSet<u32>,
    /// True if an arm takes everything that others leave.
    has_rest: bool,
}

impl Arms {
    /// The arms of a node that must be exhaustive; `None` for others.
    fn of(source: &Source, node: Node<'_>, obligation: &Obligation) -> Option<Self> {
        let mut arms = Self::default();
        match (source.language, node.kind()) {
            (Language::Rust, "match_expression") => {
                let block = node.child_by_field_name("body")?;
                for arm in of_kind(block, &["match_arm"]) {
                    arms.rust(source, arm.child_by_field_name("pattern")?);
                }
            }
            (Language::Php, "match_expression") => {
                let block = node.child_by_field_name("body")?;
                arms.has_rest = !of_kind(block, &["match_default_expression"]).is_empty();
                for arm in of_kind(block, &["match_conditional_expression"]) {
                    arms.take(source, arm.child_by_field_name("conditional_expressions")?);
                }
            }
            (Language::Kotlin, "when_expression") => {
                of_kind(node, &["when_entry"])
                    .into_iter()
                    .for_each(|child| arms.take_until(source, child, "->", "else"));
            }
            (Language::Swift, "switch_statement") => {
                let entries = of_kind(node, &["switch_entry"]);
                entries.into_iter().for_each(|entry| arms.take_until(source, entry, ":", "default_keyword"));
            }
            (Language::Java, "switch_expression") if is_value(node) => {
                let labels = descendants(node.child_by_field_name("body")?);
                for label in labels.into_iter().filter(|label| label.kind() == "switch_label") {
                    arms.take_until(source, label, "->", "default");
                }
            }
            (Language::TypeScript | Language::Tsx, "switch_statement") => arms.typescript(source, node)?,
            (Language::TypeScript | Language::Tsx, "object") => arms.record(source, node, obligation)?,
            _ => return None,
        }
        Some(arms)
    }

    fn take(&mut self, source: &Source, node: Node<'_>) {
        for leaf in descendants(node).into_iter().filter(|descendant| descendant.child_count() == 0) {
            self.names.insert(source.text(leaf).to_owned());
            self.lines.insert(line_of(leaf));
        }
    }

    /// Takes what comes before a token. A child of the kind `rest` takes everything.
    fn take_until(&mut self, source: &Source, arm: Node<'_>, end: &str, rest: &str) {
        for part in arm.children(&mut arm.walk()).take_while(|child| child.kind() != end) {
            self.has_rest |= part.kind() == rest;
            self.take(source, part);
        }
    }

    fn rust(&mut self, source: &Source, pattern: Node<'_>) {
        let is_binding = |text: &str| {
            text == "_"
                || text.starts_with(|c: char| c.is_lowercase())
                    && !matches!(text, "ref" | "mut" | "true" | "false")
        };
        let leaves = descendants(pattern).into_iter().filter(|descendant| descendant.child_count() == 0);
        let texts: Vec<&str> = leaves.map(|leaf| source.text(leaf)).collect();
        let names_type = texts.iter().any(|text| {
            text.starts_with(char::is_uppercase) && *text != "Some" && *text != "Ok" && *text != "Err"
        });
        let has_condition = pattern.child_by_field_name("condition").is_some();
        self.has_rest |= !names_type && !has_condition && texts.iter().any(|text| is_binding(text));
        self.take(source, pattern);
    }

    /// A `switch` whose missing case the type checker reports: by a value of type `never`, or because the function must return.
    fn typescript(&mut self, source: &Source, node: Node<'_>) -> Option<()> {
        let body = node.child_by_field_name("body")?;
        let cases = of_kind(body, &["switch_case"]);
        for case in &cases {
            let value = case.child_by_field_name("value")?;
            self.names.insert(literal_text(source, value).to_owned());
            self.take(source, value);
        }
        match of_kind(body, &["switch_default"]).first() {
            Some(default) => {
                let text = source.text(*default).to_lowercase();
                self.has_rest = !["never", "exhaust", "unreachable"].iter().any(|word| text.contains(word));
            }
            None => {
                let function =
                    ancestors(node).find(|ancestor| ancestor.child_by_field_name("parameters").is_some())?;
                let gives = source.text(function.child_by_field_name("return_type")?);
                let may_end = ["void", "undefined", "any", "unknown"].iter().any(|word| gives.contains(word));
                let is_last =
                    node.next_named_sibling().is_none() && node.parent()?.parent() == Some(function);
                let returns = |child: &Node<'_>| {
                    let text = source.text(*child);
                    text.contains("return") || text.contains("throw") || text.trim_end().ends_with(':')
                };
                self.has_rest = may_end || !is_last || !cases.iter().all(returns);
            }
        }
        Some(())
    }

    /// An object that is declared to have every variant as a key: `Record<Color, string>`.
    fn record(&mut self, source: &Source, node: Node<'_>, obligation: &Obligation) -> Option<()> {
        let around = node.parent()?;
        let declared = around.child_by_field_name("type").map(|annotation| source.text(annotation));
        let declared_type =
            declared.or_else(|| (around.kind() == "satisfies_expression").then(|| source.text(around)))?;
        let owner = &obligation.owner.name;
        let keys = [format!("Record<{owner},"), format!("in {owner}]")];
        let is_partial = declared_type.contains("Partial<") || declared_type.contains("]?:");
        (keys.iter().any(|key| declared_type.contains(key.as_str())) && !is_partial).then_some(())?;
        for part in node.named_children(&mut node.walk()) {
            self.has_rest |= part.kind() == "spread_element";
            let key =
                part.child_by_field_name("key").or_else(|| part.child_by_field_name("name")).unwrap_or(part);
            self.names.insert(literal_text(source, key).to_owned());
            self.take(source, key);
        }
        Some(())
    }
}

/// The text of a literal without its quotes.
fn literal_text<'s>(source: &'s Source, node: Node<'_>) -> &'s str {
    source.text(node).trim_matches(['"', '\'', '`'])
}

fn of_kind<'n>(node: Node<'n>, kinds: &[&str]) -> Vec<Node<'n>> {
    node.named_children(&mut node.walk()).filter(|child| kinds.contains(&child.kind())).collect()
}

/// Returns true if a `switch` of Java gives a value.
fn is_value(node: Node<'_>) -> bool {
    let around = node.parent().map_or("", |parent| parent.kind());
    matches!(around, "return_statement" | "yield_statement" | "throw_statement")
        || !(around.contains("statement") || around.contains("block") || around.contains("body"))
}
