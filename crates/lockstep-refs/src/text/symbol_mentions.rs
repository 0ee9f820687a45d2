//! Mentions of code in documents: a symbol's name in backticks, or one with a form that no ordinary word has.

use std::cell::RefCell;
use std::rc::Rc;

use foldhash::HashMap;

use super::context::is_whole;
use super::{Subject, reference};
use crate::entity::is_unlikely_word;
use crate::facts::{Definition, DefinitionKind, Reach};
use crate::language::Language;
use crate::memo::Memo;
use crate::reference::{Certainty, Kind, Reference};
use crate::world::{FileId, World};

/// The documents that mention a symbol, by its name.
#[derive(Default)]
struct Mentions(RefCell<HashMap<Box<str>, Lines>>);

/// Lines of documents.
type Lines = Rc<[(FileId, u32)]>;

/// Documents that mention the subject's symbols.
pub(super) fn referrers(world: &dyn World, subject: &Subject<'_>, found: &mut Vec<Reference>) {
    let known = Memo::part::<Mentions>(world, Language::Text);
    for (at, symbol) in subject.symbols.iter().enumerate().filter(|(_, symbol)| is_public(symbol)) {
        let lines = known.0.borrow().get(&symbol.name).cloned();
        let lines = lines.unwrap_or_else(|| {
            let lines = lines_with(world, &symbol.name);
            known.0.borrow_mut().insert(symbol.name.clone(), Rc::clone(&lines));
            lines
        });
        for (file, number) in lines.iter() {
            let mention = reference(*file, *number, Kind::Mention, Certainty::Possible, &symbol.name);
            found.push(Reference { symbol: Some(at), ..mention });
        }
    }
}

fn lines_with(world: &dyn World, name: &str) -> Lines {
    let is_prose = |file: &FileId| {
        use Language::{Html, Markdown, Text};
        matches!(Language::of(world.path(*file)), Html | Markdown | Text)
    };
    let mut found = Vec::new();
    for file in world.containing(name).into_iter().filter(is_prose) {
        let Some(text) = world.text(file) else { continue };
        let lines = text.lines().zip(1_u32..).filter(|(line, _)| mentions(line, name));
        found.extend(lines.map(|(_, number)| (file, number)));
    }
    found.into()
}

fn is_public(symbol: &Definition) -> bool {
    symbol.reach != Reach::File && symbol.kind != DefinitionKind::Section && symbol.name.len() > 1
}

fn mentions(line: &str, name: &str) -> bool {
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
