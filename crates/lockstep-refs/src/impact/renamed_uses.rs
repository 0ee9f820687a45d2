//! Uses and imports that an edit renamed to an undefined name: the corresponding place on the line resolved to
//! something of the project before.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use foldhash::HashMap;

use super::renamed_types::TypeRenames;
use crate::facts::{Declaration, Definition, DefinitionKind, Facts, Shape};
use crate::language::{self, Language};
use crate::limits::Limit;
use crate::memo::Memo;
use crate::overlay::Overlay;
use crate::reference::{Certainty, Target};
use crate::world::{FileId, World, words};

pub(super) struct RenamedUse {
    /// Line number, starting at 1.
    pub(super) line: u32,
    pub(super) name: String,
    /// The former name.
    pub(super) was: String,
}

/// A file before an edit.
pub(super) struct OldFile<'a> {
    pub(super) path: &'a str,
    pub(super) facts: &'a Arc<Facts>,
    pub(super) text: &'a Arc<str>,
}

/// Returns the uses in the file at `path` whose names are unresolved although the corresponding former ones
/// resolved, or named a definition that the same edits renamed.
pub(super) fn renamed_uses(
    world: &dyn World,
    path: &str,
    former: &OldFile<'_>,
    renames: &TypeRenames<'_>,
) -> Vec<RenamedUse> {
    let Some(file) = world.find(path) else { return Vec::new() };
    let Some(text) = world.text(file) else { return Vec::new() };
    let facts = Memo::parses(world).facts_with_unbound_names(path, &text);
    let mut new = new_names(&facts, former.text);
    let defined = DefinedNames::new(world);
    new.retain(|new_name| !defined.contains(new_name.name));
    if new.is_empty() {
        return Vec::new();
    }
    let before = Overlay::new(world, former.path, Arc::clone(former.facts), Some(Arc::clone(former.text)));
    let Some(former_file) = before.find(former.path) else { return Vec::new() };
    let rules = language::rules(facts.language);
    let resolved = |world: &dyn World, file| -> Resolved {
        let references = rules.outgoing(world, file).references.into_iter();
        references.map(|(to, place)| (place.line, place.pattern, to)).collect()
    };
    let (now, then) = (resolved(world, file), resolved(&before, former_file));
    let renames = renames.definitions(world);
    let words_now: BTreeSet<&str> = words(&text).collect();
    let lines: Vec<&str> = text.lines().collect();
    let former_lines = FormerLines::new(former.text);
    let mut found: Vec<RenamedUse> = Vec::new();
    let line_of =
        |new_name: &NewName<'_>| *lines.get((new_name.line as usize).saturating_sub(1)).unwrap_or(&"");
    new.retain(|new_name| !is_resolved(&now, new_name.line, new_name.name));
    let (long, compared) =
        new.into_iter().partition::<Vec<_>, _>(|new_name| line_of(new_name).len() > MAX_LINE);
    former_lines.count_long_lines(&long.iter().map(line_of).collect());
    for new_name in compared {
        let line = line_of(&new_name);
        // The definition in this place has another name now, and not this one.
        let is_misnamed =
            |was: &str| renames.get(was).is_some_and(|to| **to != *new_name.name) && !defined.contains(was);
        let is_rename = |was: &str, is: &str| {
            !words_now.contains(was) && (is_alike(was, is) || defined.contains(is) || is_misnamed(was))
        };
        let is_counterpart = |was: &str| is_alike(was, new_name.name) || is_misnamed(was);
        let counterparts = former_lines.counterparts(line, new_name.name, is_rename, is_counterpart);
        let was = counterparts.iter().find(|(at, was)| {
            names_at(former.facts, *at, was) && is_misnamed(was)
                || !new_name.is_import && is_resolved(&then, *at, was)
                || new_name.is_named && is_member(&before, former.facts, &then, *at, was)
                || !new_name.is_named
                    && !new_name.is_import
                    && is_member_of_value(&before, former_file, *at, was)
        });
        let is_listed = |other: &RenamedUse| other.line == new_name.line && other.name == new_name.name;
        if let Some((_, was)) = was
            && !found.iter().any(is_listed)
        {
            found.push(RenamedUse {
                line: new_name.line,
                name: new_name.name.to_owned(),
                was: (*was).to_owned(),
            });
        }
    }
    found
}

/// The longest line whose words are compared. The lines of generated files can be as long as the file.
const MAX_LINE: usize = 2_000;

/// The number of former lines of one shape that a line is compared with.
const MAX_LINES_OF_SHAPE: usize = 1_000;

/// A name that a file uses or imports.
struct NewName<'f> {
    name: &'f str,
    line: u32,
    is_import: bool,
    /// True if it is a bare name, or a member of something that a path names.
    is_named: bool,
}

/// The names in use that the former text did not have. Names that the file defines are left out, as are uses of names that it imports.
fn new_names<'f>(facts: &'f Facts, former: &str) -> Vec<NewName<'f>> {
    let known = names_of(facts);
    let used_before: BTreeSet<&str> = words(former).collect();
    let uses = facts.uses.iter().filter(|usage| !known.contains(&*usage.name)).map(|usage| NewName {
        name: &usage.name,
        line: usage.line,
        is_import: false,
        is_named: matches!(usage.of, None | Some(Shape::Name(_))),
    });
    let imports =
        imported_names(facts).map(|(name, line)| NewName { name, line, is_import: true, is_named: false });
    uses.chain(imports).filter(|new_name| !used_before.contains(new_name.name)).collect()
}

/// The last part of each imported module, and each imported name.
fn imported_names(facts: &Facts) -> impl Iterator<Item = (&str, u32)> {
    facts.imports.iter().flat_map(|import| {
        let last = import.module.rsplit(['.', ':', '/', '\\']).next().unwrap_or_default();
        let names = import.names.iter().map(|name| (&*name.name, name.line));
        names.chain((!last.is_empty()).then_some((last, import.line)))
    })
}

/// Returns true if a line of a file uses or imports a name.
fn names_at(facts: &Facts, line: u32, name: &str) -> bool {
    facts.uses.iter().any(|usage| usage.line == line && *usage.name == *name)
        || imported_names(facts).any(|(imported, at)| at == line && imported == name)
}

/// The references of a file to others: line, name, and the file that defines it.
type Resolved = Vec<(u32, Box<str>, FileId)>;

fn is_resolved(references: &Resolved, line: u32, name: &str) -> bool {
    references.iter().any(|(at, pattern, _)| *at == line && **pattern == *name)
}

/// The names that files of the project define, of any kind. Each name is looked up once.
pub(super) struct DefinedNames<'w> {
    world: &'w dyn World,
    known: RefCell<HashMap<Box<str>, bool>>,
}

impl<'w> DefinedNames<'w> {
    pub(super) fn new(world: &'w dyn World) -> Self {
        Self { world, known: RefCell::default() }
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        if let Some(known) = self.known.borrow().get(name) {
            return *known;
        }
        let mut declarations = [Declaration::Type, Declaration::Outer, Declaration::Member].into_iter();
        let is_defined = declarations.any(|declaration| {
            let mut files = self.world.declaring(name, declaration).into_iter();
            files.any(|file| !self.world.definitions_named(file, name).is_empty())
        });
        self.known.borrow_mut().insert(name.into(), is_defined);
        is_defined
    }
}

fn defines(facts: &Facts, name: &str) -> bool {
    facts.definitions.iter().any(|definition| *definition.name == *name)
}

/// Returns true if the name on a line followed a type of the project whose file defines it: `Text.strip`.
fn is_member(world: &dyn World, facts: &Facts, references: &Resolved, line: u32, name: &str) -> bool {
    let uses = facts.uses.iter().filter(|usage| usage.line == line && *usage.name == *name);
    uses.into_iter().any(|usage| {
        let Some(Shape::Name(path)) = &usage.of else { return false };
        let owner = path.rsplit(['.', ':', '\\']).next().unwrap_or(path);
        let of_owner = |(at, pattern, _): &&(u32, Box<str>, FileId)| *at == line && **pattern == *owner;
        let mut files = references.iter().filter(of_owner).filter_map(|(_, _, file)| world.facts(*file));
        files.any(|facts| defines(&facts, name))
    })
}

/// The number of definitions of one name that are searched for a use.
const MAX_DEFINITIONS: usize = 4;

/// Returns true if the name on a line of a file was a member of a value whose type the project defines. Other
/// languages report missing members by their types.
fn is_member_of_value(world: &dyn World, file: FileId, line: u32, name: &str) -> bool {
    let is_native =
        |facts: &Facts| matches!(facts.language, Language::Rust | Language::Go | Language::C | Language::Cpp);
    if !world.facts(file).is_some_and(|facts| is_native(&facts)) {
        return false;
    }
    world.defining(name).into_iter().take(MAX_DEFINITIONS).any(|defining| {
        let Some(facts) = world.facts(defining).filter(|facts| is_native(facts)) else { return false };
        let is_member = |definition: &&Definition| {
            *definition.name == *name
                && matches!(definition.kind, DefinitionKind::Method | DefinitionKind::Field)
        };
        let symbols: Vec<Definition> =
            facts.definitions.iter().filter(is_member).take(MAX_DEFINITIONS).cloned().collect();
        let own_file = defining == file;
        let target = Target { file: defining, symbols: &symbols, module: false, now: None, own_file };
        let references = language::rules(facts.language).referrers(world, &target);
        references.iter().any(|reference| {
            reference.file == file
                && reference.line == line
                && reference.certainty == Certainty::Resolved
                && *reference.pattern == *name
        })
    })
}

/// The names that a file defines or imports.
fn names_of(facts: &Facts) -> BTreeSet<&str> {
    let mut names: BTreeSet<&str> = facts.definitions.iter().map(|definition| &*definition.name).collect();
    for import in &facts.imports {
        names.extend(import.names.iter().map(|name| &*name.local));
        names.extend(import.alias.as_deref());
        names.extend(import.module.rsplit(['.', ':', '/', '\\']).next());
    }
    names
}

/// The lines of a text by their shape: everything but the words. Long lines are without their words.
struct FormerLines<'t> {
    by_shape: BTreeMap<String, Vec<(u32, Vec<&'t str>)>>,
}

impl<'t> FormerLines<'t> {
    fn new(text: &'t str) -> Self {
        let mut by_shape: BTreeMap<String, Vec<(u32, Vec<&str>)>> = BTreeMap::new();
        for (line, number) in text.lines().zip(1_u32..) {
            let (shape, mut words) = split(line);
            if line.len() > MAX_LINE {
                words.clear();
            }
            by_shape.entry(shape).or_default().push((number, words));
        }
        Self { by_shape }
    }

    /// Counts the long lines that have the shape of a former line: only these may contain renamed uses.
    fn count_long_lines(&self, lines: &BTreeSet<&str>) {
        for _ in lines.iter().filter(|line| self.by_shape.contains_key(&split(line).0)) {
            Limit::Lines.reach();
        }
    }

    /// Returns the words at the position of `name` that may be its former name, with their lines: in lines that
    /// differ only by renames.
    fn counterparts(
        &self,
        line: &str,
        name: &str,
        is_rename: impl Fn(&str, &str) -> bool,
        is_counterpart: impl Fn(&str) -> bool,
    ) -> Vec<(u32, &'t str)> {
        let (shape, words) = split(line);
        let mut found = Vec::new();
        let lines = self.by_shape.get(&shape).map(Vec::as_slice).unwrap_or_default();
        if lines.len() > MAX_LINES_OF_SHAPE || lines.iter().any(|(_, former)| former.is_empty()) {
            Limit::Lines.reach();
        }
        for (number, former) in lines.iter().take(MAX_LINES_OF_SHAPE) {
            let changed: Vec<(&str, &str)> =
                former.iter().copied().zip(words.iter().copied()).filter(|(was, is)| was != is).collect();
            if changed.iter().all(|(was, is)| is_rename(was, is)) {
                let own = changed.iter().filter(|(was, is)| *is == name && is_counterpart(was));
                found.extend(own.map(|(was, _)| (*number, *was)));
            }
        }
        found
    }
}

/// Returns true if a name may be a partial rename of another: both begin or end with the same letters.
fn is_alike(one: &str, other: &str) -> bool {
    let begins = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let ends = one.chars().rev().zip(other.chars().rev()).take_while(|(a, b)| a == b).count();
    begins.max(ends) >= 3.min(one.chars().count()).min(other.chars().count())
}

/// Returns the shape of a line, with a mark for each word, and the words.
fn split(line: &str) -> (String, Vec<&str>) {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut shape, mut words, mut start) = (String::new(), Vec::new(), None);
    for (at, c) in line.char_indices() {
        match (is_word(c), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push(&line[from..at]);
                shape.push('\u{1}');
                start = None;
            }
            _ => {}
        }
        if !is_word(c) && !c.is_whitespace() {
            shape.push(c);
        }
    }
    if let Some(from) = start {
        words.push(&line[from..]);
        shape.push('\u{1}');
    }
    (shape, words)
}
