//! Modules and classes by their full names in settings and strings: `com.example.Main`, `pkg.module:function`.

use super::context::Document;
use super::{Subject, reference};
use crate::entity::{EntityKind, is_historical_record};
use crate::facts::DefinitionKind;
use crate::language::Language;
use crate::reference::{Certainty, Kind, Reference};
use crate::world::{World, base, parent};

/// The places that write the full name of the subject's module or class, or of a function in it.
pub(super) fn referrers(world: &dyn World, subject: &Subject<'_>, found: &mut Vec<Reference>) {
    let language = Language::of(subject.path);
    let stem = base(subject.path).rsplit_once('.').map_or("", |(stem, _)| stem);
    let (name, directory) = match (language, stem) {
        (Language::Java | Language::Kotlin, _) => (stem, parent(subject.path)),
        (Language::Python, "__init__") => (base(parent(subject.path)), parent(parent(subject.path))),
        (Language::Python, _) => (stem, parent(subject.path)),
        _ => return,
    };
    let is_gone = subject.entities.iter().any(|entity| entity.kind == EntityKind::Path);
    let functions: Vec<&str> = subject
        .symbols
        .iter()
        .filter(|definition| definition.container.is_none() && definition.kind != DefinitionKind::Section)
        .map(|definition| &*definition.name)
        .collect();
    if name.is_empty() || directory.is_empty() || !is_gone && functions.is_empty() {
        return;
    }
    for file in world.containing(name) {
        let from = world.path(file);
        let is_code = !matches!(
            Language::of(from),
            Language::Text | Language::Yaml | Language::Json | Language::Toml | Language::Bash
        );
        // Strings of Python are read by the rules of the language.
        let is_other = matches!(Language::of(from), Language::Markdown | Language::Python);
        if from == subject.path || is_historical_record(from) || is_other {
            continue;
        }
        let Some(text) = world.text(file) else { continue };
        let document = Document::new(from, &text);
        for (at, _) in text.match_indices(name) {
            let end = at + name.len();
            let Some(start) = full_name(&text, at, directory) else { continue };
            let after = &text[end..];
            let is_quoted = text[..start].ends_with(['"', '\'']);
            let is_whole = !after.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/'));
            let spot = document.spot(start, end);
            if !is_whole || is_code && !is_quoted || spot.is_comment() {
                continue;
            }
            let uses_function = || {
                let function = after.strip_prefix(':').unwrap_or_default();
                let length =
                    function.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(function.len());
                functions.contains(&&function[..length])
            };
            let is_module = !is_code || after.starts_with(['"', '\'', ':']);
            if is_gone && is_module || uses_function() {
                found.push(reference(file, spot.number, Kind::Path, Certainty::Resolved, &text[start..end]));
            }
        }
    }
}

/// Returns the start of a full name whose last part begins at a position: its parts are the last directories of the path. One part
/// before the name suffices if the name has no others.
fn full_name(text: &str, at: usize, directory: &str) -> Option<usize> {
    let before = text.get(..at)?.strip_suffix('.')?;
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '-' | '$');
    let start = before.trim_end_matches(is_part).len();
    let written = before.get(start..)?;
    let mut parts = written.rsplit('.').zip(directory.rsplit('/'));
    let all = written.split('.').count();
    let same = parts.by_ref().take_while(|(part, folder)| part == folder).count();
    (same == all || same > 1).then_some(start)
}
