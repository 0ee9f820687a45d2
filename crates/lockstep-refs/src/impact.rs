//! The impact of a change: which files reference what changed, at one hop and at two, and what that breaks.
//!
//! Pure. How a change became known, how an answer is shown and how fresh it is are not its concern.

mod arrivals;
mod dependents;
mod edit;
mod go_module;
mod handed_on;
mod in_text;
mod kept;
mod loose;
mod no_module;
mod own_file;
mod promised;

pub use dependents::{Dependent, Evidence, Hop};
pub use edit::{After, Before, Edit, FileChange};
pub use own_file::BrokenReference;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::change::{SymbolChange, What};
use crate::entity::Aliases;
use crate::facts::{Definition, Facts, Reach, Role};
use crate::language;
use crate::overlay::Overlay;
use crate::reference::{Certainty, Kind, Reference, Target};
use crate::world::{FileId, World};
use arrivals::Arrivals;
use dependents::{Collector, Place};
use kept::Kept;
use promised::Promised;

/// What a set of edits means for other files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Impact {
    /// For each edit, in the order of its path.
    pub files: Vec<FileImpact>,
    /// Whether the time was over before everything was looked at.
    pub truncated: bool,
    /// Imports in the files that were looked at which should lead somewhere in the project and do not.
    pub unresolved: usize,
}

impl Impact {
    /// The unique files that depend on something changed.
    pub fn candidates(&self) -> BTreeSet<&str> {
        self.files.iter().flat_map(|file| &file.dependents).map(|dependent| &*dependent.path).collect()
    }

    /// The references that edits broke in the changed files themselves, with the file.
    pub fn broken_in_files(&self) -> impl Iterator<Item = (&FileImpact, &BrokenReference)> {
        self.files.iter().flat_map(|file| file.broken_in_file.iter().map(move |broken| (file, broken)))
    }

    /// All dependents of all changed files.
    pub fn dependents(&self) -> impl Iterator<Item = (&FileImpact, &Dependent)> {
        self.files.iter().flat_map(|file| file.dependents.iter().map(move |dependent| (file, dependent)))
    }
}

/// What one edit means for other files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileImpact {
    /// The file, by its present path or, where it is gone, its last one.
    pub path: String,
    /// What happened to the file as a whole.
    pub change: FileChange,
    /// What happened to its definitions.
    pub symbols: Vec<SymbolChange>,
    /// Whether its former content is unknown, so that everything in it counts as changed.
    pub whole_file: bool,
    /// Who depends on it, the most affected first.
    pub dependents: Vec<Dependent>,
    /// How many more files only use a member of a changed one's name, on values of which nothing is known.
    pub undecided: usize,
    /// References in the file itself that the edit broke, in the order of the text.
    pub broken_in_file: Vec<BrokenReference>,
    /// Whether the time was up before it was looked at: then nothing is known of its dependents.
    pub unanalysed: bool,
    /// How many places in it, as it was or as it is, could not be read: what they define and use is not known.
    pub problems: u32,
}

/// What is asked.
pub struct Question<'a> {
    /// What changed.
    pub edits: &'a [Edit],
    /// Names that the project gives to files.
    pub aliases: &'a Aliases,
    /// Tells when the time is up.
    pub is_over: &'a dyn Fn() -> bool,
}

/// The impact of edits on the files of `world`, which are as they are now.
pub fn impact(world: &dyn World, question: &Question<'_>) -> Impact {
    let Question { edits, aliases, is_over } = *question;
    let mut impact = Impact::default();
    let mut looked_at: BTreeSet<String> = BTreeSet::new();
    let after = after(world, edits);
    let worlds = Worlds { now: world, after: &after, arrivals: Arrivals::new(world, &after, edits) };
    for edit in edits {
        if is_over() {
            impact.truncated = true;
            impact.files.push(FileImpact { unanalysed: true, ..nothing_found(edit) });
            continue;
        }
        let (file, truncated) = file_impact(&worlds, edit, aliases, is_over);
        impact.truncated |= truncated;
        looked_at.insert(file.path.clone());
        looked_at.extend(file.dependents.iter().map(|dependent| dependent.path.clone()));
        impact.files.push(file);
    }
    impact.files.sort_by(|a, b| a.path.cmp(&b.path));
    impact.unresolved = unresolved(world, &looked_at, is_over);
    impact
}

/// The world with every file as the edits leave it.
fn after<'w>(world: &'w dyn World, edits: &[Edit]) -> Overlay<'w> {
    let mut after = Overlay::empty(world);
    for edit in edits {
        if let After::Text(text) = &edit.after {
            let facts = Arc::new(language::facts(&edit.path, text));
            after.add(&edit.path, facts, Some(Arc::clone(text)));
        }
    }
    after
}

/// The same files at two moments.
struct Worlds<'a> {
    /// As they are.
    now: &'a dyn World,
    /// As the edits leave them: another revision, a patch.
    after: &'a Overlay<'a>,
    /// What the edits add.
    arrivals: Arrivals<'a>,
}

fn unresolved(world: &dyn World, paths: &BTreeSet<String>, is_over: &dyn Fn() -> bool) -> usize {
    let mut count = 0;
    for file in paths.iter().filter_map(|path| world.find(path)) {
        if is_over() {
            break;
        }
        let Some(facts) = world.facts(file) else { continue };
        count += language::rules(facts.language).outgoing(world, file).unresolved.len();
    }
    count
}

fn nothing_found(edit: &Edit) -> FileImpact {
    FileImpact {
        path: edit.path.clone(),
        change: edit.change(),
        symbols: Vec::new(),
        whole_file: matches!(edit.before, Before::Unknown),
        dependents: Vec::new(),
        undecided: 0,
        broken_in_file: Vec::new(),
        unanalysed: false,
        problems: 0,
    }
}

fn file_impact(
    worlds: &Worlds<'_>,
    edit: &Edit,
    aliases: &Aliases,
    is_over: &dyn Fn() -> bool,
) -> (FileImpact, bool) {
    let mut found = nothing_found(edit);
    let world = worlds.now;
    // What did not exist before, nobody depends on.
    let Some((facts, text)) = edit.former_content(world) else { return (found, false) };
    let mut before = Overlay::empty(world);
    let file = before.add(edit.former_path(), Arc::clone(&facts), text.clone());
    let after = edit.present_facts(worlds.after);
    found.symbols = edit.symbol_changes(&facts, after.as_deref());
    found.problems = facts.problems.max(after.as_deref().map_or(0, |after| after.problems));
    // It is there, but too large, binary or unreadable.
    let unseen = after.is_none() && edit.after != After::Gone;
    found.problems = found.problems.max(u32::from(unseen));
    let known = (&*facts, text.as_deref());
    let unread = unseen || found.symbols.is_empty() && edit.is_unread(&before, known, after.as_deref());
    if unread {
        found.symbols = Edit::everything_inside(&facts);
        found.whole_file = true;
    }
    let mut collector = Collector::new(world, edit, file);
    let handed_on = after.as_deref().map(handed_on::names).unwrap_or_default();
    let mut kept =
        Kept::new(worlds.after, edit, (&facts, after.as_deref()), &found.symbols, &worlds.arrivals);
    let former = FormerFile { before: &before, file, facts: &facts, changes: &found.symbols, unread };
    let promised = Promised::new(world, edit, &former, after.as_deref());
    collect_direct(&former, edit, after.as_deref(), (&handed_on, &promised), &mut kept, &mut collector);
    let contents = own_file::Contents { facts: &facts, text: text.as_deref(), present: after.as_deref() };
    found.broken_in_file = own_file::broken(worlds.after, edit, &contents, &found.symbols, &mut kept);
    handed_on::collect(world, &before, edit, (&facts, after.as_ref()), &mut collector);
    go_module::collect(&before, edit, text.as_deref(), &mut collector);
    no_module::collect(&before, (&facts, after.as_deref()), file, &mut collector);
    in_text::collect(&before, edit, text.as_deref(), &found.symbols, aliases, &mut collector);
    let truncated = is_over() || collect_transitive(world, &mut collector, is_over);
    (found.dependents, found.undecided) = collector.finish();
    (found, truncated)
}

/// A file as it was, in a world that is otherwise as it is.
struct FormerFile<'a> {
    before: &'a Overlay<'a>,
    file: FileId,
    facts: &'a Facts,
    changes: &'a [SymbolChange],
    /// Whether it is not known what changed in it.
    unread: bool,
}

/// Everything that references what changed.
fn collect_direct(
    former: &FormerFile<'_>,
    edit: &Edit,
    after: Option<&Facts>,
    (handed_on, promised): (&BTreeSet<&str>, &Promised),
    kept: &mut Kept<'_>,
    collector: &mut Collector<'_>,
) {
    let FormerFile { before, file, facts, changes, unread } = *former;
    let moved = edit.is_moved();
    // When the file is no longer where it was, every definition in it is affected, changed or not.
    let symbols: Vec<Definition> = match moved {
        true => {
            facts.definitions.iter().filter(|definition| definition.reach > Reach::File).cloned().collect()
        }
        false => changes.iter().map(|change| change.was.clone()).collect(),
    };
    let now = edit.present_text(before);
    let target =
        Target { file, symbols: &symbols, module: moved || unread, now: now.as_deref(), own_file: false };
    let hidden: Vec<bool> = changes.iter().map(|change| hides(former, change)).collect();
    if moved || unread || !symbols.is_empty() {
        for mut reference in language::rules(facts.language).referrers(before, &target) {
            let change = if moved { None } else { reference.symbol.and_then(|at| changes.get(at)) };
            // A file that hands a name on shields others from its end, not from what it takes now.
            if change.is_some_and(|change| takes_other(change) || is_missed(before, change, &reference)) {
                reference.through = None;
            }
            // Nobody is told that something else does not fit there; that a name is gone shows when it runs.
            if change.is_some_and(takes_other) && is_unchecked(before, &reference) {
                reference.certainty = reference.certainty.max(Certainty::Untyped);
            }
            let is_hidden = reference.symbol.and_then(|at| hidden.get(at)).is_some_and(|it| *it);
            let breaks = match change {
                _ if moved => {
                    let was = reference.symbol.and_then(|at| symbols.get(at));
                    let found =
                        kept.has(&reference) || was.is_some_and(|was| kept.has_moved(was, &reference));
                    reference.certainty <= Certainty::Possible && !found
                }
                Some(change) => {
                    let fits = loose::fits(before, change, after, &reference);
                    ((change.breaks(&reference) && !fits) || loose::misses(before, change, after, &reference))
                        && !is_hidden
                        && !kept.finds(change, &reference)
                        && !passes_by_place(before, change, &reference)
                        && !promised.keeps(change, &reference)
                }
                None => false,
            };
            // Where the file still hands the name on, it is itself that breaks.
            let shielded = reference.through == Some(file) && handed_on.contains(&*reference.pattern);
            let breaks = breaks && !shielded && !change.is_some_and(|change| kept.is_still_offered(change));
            // Where nothing can break, it need not be told who may be meant.
            if reference.certainty == Certainty::Undecided
                && change.is_some_and(|change| change.what == What::Body)
            {
                continue;
            }
            collector.add(Place { breaks, reference });
        }
    }
}

fn is_unchecked(world: &dyn World, reference: &Reference) -> bool {
    world.facts(reference.file).is_some_and(|facts| facts.unchecked.contains(&reference.line))
}

fn takes_other(change: &SymbolChange) -> bool {
    matches!(change.what, What::Resigned { .. } | What::Relabelled { .. })
}

/// Whether an import misses a name that is gone, although it takes it from a file that only hands it on; or a call gets from there what
/// cannot be called.
fn is_missed(world: &dyn World, change: &SymbolChange, reference: &Reference) -> bool {
    let gone = matches!(change.what, What::Removed | What::Renamed(_));
    let handing = reference.through.filter(|_| gone).and_then(|file| world.facts(file));
    handing.is_some_and(|facts| {
        let rules = language::rules(facts.language);
        match reference.kind {
            Kind::Import => !rules.shields(&facts),
            _ => reference.role == Role::Call && rules.stands_in_uncallable(&facts),
        }
    })
}

/// Whether a function takes something else, and nobody sees what it takes.
fn hides(former: &FormerFile<'_>, change: &SymbolChange) -> bool {
    let rules = language::rules(former.facts.language);
    takes_other(change) && rules.hides(former.before, former.file, &change.was)
}

/// Whether parameters only have other names, and a call names none of those that are gone.
fn passes_by_place(world: &dyn World, change: &SymbolChange, reference: &Reference) -> bool {
    let What::Relabelled { gone } = &change.what else { return false };
    if !matches!(reference.role, Role::Call | Role::Covered) {
        return false;
    }
    let Some(facts) = world.facts(reference.file) else { return false };
    let here = facts.uses.iter().filter(|it| it.line == reference.line && it.name == reference.pattern);
    !here.into_iter().any(|call| call.keywords.iter().any(|name| gone.contains(name)))
}

/// The dependents of dependents: who uses the definitions in which a direct dependent uses what changed.
fn collect_transitive(world: &dyn World, collector: &mut Collector<'_>, is_over: &dyn Fn() -> bool) -> bool {
    for (file, within) in collector.reached() {
        if is_over() {
            return true;
        }
        let Some(facts) = world.facts(file) else { continue };
        let symbols = reached_symbols(&facts, &within);
        if symbols.is_empty() {
            continue;
        }
        let target = Target { file, symbols: &symbols, module: false, now: None, own_file: false };
        for reference in language::rules(facts.language).referrers(world, &target) {
            if reference.certainty != Certainty::Undecided {
                collector.add_transitive(file, reference);
            }
        }
    }
    false
}

/// The definitions at these positions that other files can name, and what they belong to.
fn reached_symbols(facts: &Facts, within: &BTreeSet<u32>) -> Vec<Definition> {
    let mut symbols: BTreeMap<u32, Definition> = BTreeMap::new();
    for at in within {
        let Some(definition) = facts.definitions.get(*at as usize) else { continue };
        if definition.reach > Reach::File {
            symbols.insert(*at, definition.clone());
        }
    }
    symbols.into_values().collect()
}

/// Whether a reference hands a change on to those who reference its file.
fn hands_on(reference: &Reference) -> bool {
    reference.kind <= Kind::Name && reference.certainty != Certainty::Undecided
}

#[cfg(test)]
mod tests;
