//! Mentions of code in documents: a symbol's name in backticks, or one with a form that no ordinary word has.

use super::context::is_whole;
use super::{Subject, reference};
use crate::entity::is_unlikely_word;
use crate::facts::{Definition, DefinitionKind, Reach};
use crate::language::Language;
use crate::reference::{Certainty, Kind, Reference};
use crate::world::World;

/// Documents that mention the subject's symbols.
pub(super) fn referrers(world: &dyn World, subject: &Subject<'_>, found: &mut Vec<Reference>) {
    for (at, symbol) in subject.symbols.iter().enumerate().filter(|(_, symbol)| is_public(symbol)) {
        for file in world.containing(&symbol.name) {
            let prose = matches!(
                Language::of(world.path(file)),
                Language::Markdown | Language::Text | Language::Html
            );
            let Some(text) = world.text(file).filter(|_| prose) else { continue };
            for (line, number) in text.lines().zip(1_u32..) {
                if mentions(line, symbol) {
                    let mention = reference(file, number, Kind::Mention, Certainty::Possible, &symbol.name);
                    found.push(Reference { symbol: Some(at), ..mention });
                }
            }
        }
    }
}

fn is_public(symbol: &Definition) -> bool {
    symbol.reach != Reach::File && symbol.kind != DefinitionKind::Section && symbol.name.len() > 1
}

fn mentions(line: &str, symbol: &Definition) -> bool {
    let name = &*symbol.name;
    let shape = is_unlikely_word(name) && name.len() > 4;
    // `VERSION` alone may as well be an environment variable or a file; `kit.VERSION` is not.
    let is_common = name.chars().all(|c| c.is_ascii_uppercase());
    let is_qualified = |at: usize| line.get(..at).is_some_and(|before| before.ends_with(['.', ':']));
    line.match_indices(name).any(|(at, _)| {
        let end = at + name.len();
        is_whole(line, at, end)
            && (!is_common || is_qualified(at))
            && (shape || is_code(line.get(..at).unwrap_or_default(), line.get(end..).unwrap_or_default()))
    })
}

/// Returns true if the name is the content of a pair of backticks, with its path before it and parentheses or
/// a `!` after it.
fn is_code(before: &str, after: &str) -> bool {
    let path = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '#' | '&' | '<' | '>');
    let opens = before.trim_end_matches(path).ends_with('`');
    let after = after.trim_start_matches(['!', '(', ')', '<', '>', '…', '.']);
    opens && after.starts_with('`')
}
