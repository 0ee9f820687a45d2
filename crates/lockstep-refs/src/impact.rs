//! The impact of a change: which files reference what changed, at one hop and at two, and what that breaks.
//!
//! Pure. How a change became known, how an answer is shown and how fresh it is are not its concern.

mod arrivals;
mod broken_references;
mod declared;
mod dependents;
mod directories;
mod edit;
mod edited;
mod go_module;
mod handed_on;
mod hunks;
mod in_text;
mod kept;
mod loose;
mod no_module;
mod own_file;
mod promised;
mod renamed_uses;
mod unparsed;

pub use dependents::{Dependent, Evidence, Hop};
pub use edit::{After, Before, Edit, FileChange};
pub use own_file::BrokenReference;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::change::{SymbolChange, What};
use crate::entity::{Aliases, is_manifest};
use crate::facts::{Definition, DefinitionKind, Facts, Reach, Role};
use crate::language;
use crate::overlay::Overlay;
use crate::reference::{Certainty, Kind, Reference, Target};
use crate::resolve::path_of;
use crate::signature::Fit;
use crate::world::{FileId, World};
use arrivals::Arrivals;
use declared::Declared;
use dependents::{Collector, Place};
use directories::EmptiedDirectories;
use edited::{Edited, keywords};
use kept::Kept;
use promised::Promised;
use unparsed::Unparsed;

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
    /// The first line that could be read before the edit and does not parse after it. Nothing is known about the definitions
    /// there, which [`What::Unknown`] says of each.
    pub unparsed: Option<u32>,
    /// Whether nothing but comments and the space between tokens changed.
    pub only_comments: bool,
    /// Whether it is a manifest whose content changed: the names, scripts and settings that it defines are not analysed.
    pub content_not_analysed: bool,
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
    let worlds = Worlds {
        now: world,
        after: &after,
        arrivals: Arrivals::new(world, &after, edits),
        edited: Edited::new(world, edits),
        emptied: EmptiedDirectories::new(world, edits),
    };
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
    /// The lines that the edits change.
    edited: Edited<'a>,
    /// The directories in which the edits leave no file.
    emptied: EmptiedDirectories,
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
        unparsed: None,
        only_comments: false,
        content_not_analysed: false,
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
    let Some((facts, text)) = edit.former_content(world) else {
        found.broken_in_file = broken_references::introduced(worlds.after, edit, None, aliases);
        return (found, false);
    };
    let mut before = Overlay::empty(world);
    let file = before.add(edit.former_path(), Arc::clone(&facts), text.clone());
    let after = edit.present_facts(worlds.after);
    found.symbols = edit.symbol_changes(&facts, after.as_deref());
    found.unparsed =
        hide_unparsed(edit, &before, (&facts, text.as_deref()), after.as_deref(), &mut found.symbols);
    found.problems = facts.problems.max(after.as_deref().map_or(0, |after| after.problems));
    // It is there, but too large, binary or unreadable.
    let unseen = after.is_none() && edit.after != After::Gone;
    found.problems = found.problems.max(u32::from(unseen));
    let known = (&*facts, text.as_deref());
    let unread = unseen
        || found.symbols.is_empty()
            && found.unparsed.is_none()
            && edit.is_unread(&before, known, after.as_deref());
    if unread {
        found.symbols = Edit::everything_inside(&facts);
        found.whole_file = true;
    }
    let reads = |former: &str| edit.present_text(&before).is_some_and(|now| is_same_code(edit, former, &now));
    found.only_comments =
        found.symbols.is_empty() && !unread && !edit.is_moved() && text.as_deref().is_some_and(reads);
    let mut collector = Collector::new(world, edit, file);
    let handed_on = after.as_deref().map(handed_on::names).unwrap_or_default();
    let mut kept =
        Kept::new(worlds.after, edit, (&facts, after.as_deref()), &found.symbols, &worlds.arrivals);
    let former = FormerFile { before: &before, file, facts: &facts, changes: &found.symbols, unread };
    let promised = Promised::new(world, edit, &former, after.as_deref());
    let around = Around { handed_on: &handed_on, promised: &promised, edited: &worlds.edited };
    let broken = collect_direct(&former, edit, after.as_deref(), &around, &mut kept, &mut collector);
    let contents = own_file::Contents { facts: &facts, text: text.as_deref(), present: after.as_deref() };
    found.broken_in_file = own_file::broken(worlds.after, edit, &contents, &found.symbols, &mut kept);
    // Exports that are missing from content that does not parse may be there.
    if found.unparsed.is_none() {
        handed_on::collect(world, &before, edit, (&facts, after.as_ref()), &mut collector);
        no_module::collect(&before, (&facts, after.as_deref()), file, &mut collector);
    }
    let former_content = Some((&facts, text.as_ref()));
    let introduced = broken_references::introduced(worlds.after, edit, former_content, aliases);
    own_file::merge(&mut found.broken_in_file, introduced);
    go_module::collect(&before, edit, text.as_deref(), &mut collector);
    let emptied = worlds.emptied.of(edit.former_path());
    in_text::collect((&before, emptied), edit, text.as_deref(), &found.symbols, aliases, &mut collector);
    found.content_not_analysed =
        is_manifest(edit.former_path()) && edit.is_other_text(&before, text.as_deref());
    let truncated = is_over() || collect_transitive(world, &mut collector, is_over);
    let unbroken = found.symbols.iter_mut().enumerate().filter(|(at, _)| !broken.contains(at));
    unbroken.for_each(|(_, change)| change.settle());
    (found.dependents, found.undecided) = collector.finish();
    (found, truncated)
}

/// Whether two contents of a file are the same code with other comments.
fn is_same_code(edit: &Edit, former: &str, now: &str) -> bool {
    former != now && language::is_same_code(&edit.path, former, now)
}

/// Marks definitions as unknown where the new content does not parse. Returns the first line that does not.
fn hide_unparsed(
    edit: &Edit,
    before: &Overlay<'_>,
    (old, former): (&Facts, Option<&str>),
    new: Option<&Facts>,
    changes: &mut [SymbolChange],
) -> Option<u32> {
    if matches!(edit.before, Before::Unknown) {
        return None;
    }
    let now = edit.present_text(before);
    let unparsed = Unparsed::new(old, new?, former.zip(now.as_deref()));
    unparsed.hide(changes);
    unparsed.first_line()
}

/// The facts around a changed file that keep a place from breaking.
struct Around<'a> {
    /// The names that the file still re-exports.
    handed_on: &'a BTreeSet<&'a str>,
    promised: &'a Promised,
    edited: &'a Edited<'a>,
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

/// Collects everything that references what changed. Returns the positions of the changes that break something.
fn collect_direct(
    former: &FormerFile<'_>,
    edit: &Edit,
    after: Option<&Facts>,
    around: &Around<'_>,
    kept: &mut Kept<'_>,
    collector: &mut Collector<'_>,
) -> BTreeSet<usize> {
    let mut broken = BTreeSet::new();
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
    // Without the former content it is not known which names are gone: every importer may use one of them.
    let unknown = matches!(edit.before, Before::Unknown);
    let target = Target {
        file,
        symbols: &symbols,
        module: moved || unread || unknown,
        now: now.as_deref(),
        own_file: false,
    };
    let own_types = OwnTypes::new(former, edit);
    let hidden: Vec<bool> = changes.iter().map(|change| hides(former, change)).collect();
    if moved || unread || unknown || !symbols.is_empty() {
        let references = language::rules(facts.language).referrers(before, &target);
        let declared = Declared::new(before, file, &references);
        for mut reference in references {
            let change = if moved { None } else { reference.symbol.and_then(|at| changes.get(at)) };
            // A file that hands a name on shields others from its end, not from what it takes now.
            if change.is_some_and(|change| takes_other(change) || is_missed(before, change, &reference)) {
                reference.through = None;
            }
            // Nobody is told that something else does not fit there; that a name is gone shows when it runs.
            if change.is_some_and(takes_other) && is_unchecked(before, &reference) {
                reference.certainty = reference.certainty.max(Certainty::Untyped);
            }
            if change.is_some_and(|change| change.what == What::Unknown) {
                reference.certainty = reference.certainty.max(Certainty::Possible);
            }
            let is_hidden = reference.symbol.and_then(|at| hidden.get(at)).is_some_and(|it| *it);
            let breaks = match change {
                _ if moved => {
                    let was = reference.symbol.and_then(|at| symbols.get(at));
                    let is_member = was.is_some_and(|was| own_types.contains(was.container.as_deref()));
                    let found = is_member
                        || kept.has(&reference)
                        || was.is_some_and(|was| kept.has_moved(was, &reference));
                    reference.certainty <= Certainty::Possible && !found
                }
                Some(change) => {
                    let fits = loose::fits(before, change, after, &reference);
                    let named = keywords(before, &reference);
                    if change.fit(&reference, &named) == Some(Fit::Unknown) {
                        reference.certainty = reference.certainty.max(Certainty::Possible);
                    }
                    ((change.breaks(&reference, &named) && !fits)
                        || loose::misses(before, change, after, &reference))
                        && !is_hidden
                        && !around.edited.follows(change, after, &reference)
                        && !declared.shields(change, &reference)
                        && !kept.finds(change, &reference)
                        && !passes_by_place(before, change, &reference)
                        && !around.promised.keeps(change, &reference)
                }
                None => false,
            };
            // Where the file still hands the name on, it is itself that breaks.
            let shielded = reference.through == Some(file) && around.handed_on.contains(&*reference.pattern);
            let breaks = breaks && !shielded && !change.is_some_and(|change| kept.is_still_offered(change));
            // Where nothing can break, it need not be told who may be meant.
            if reference.certainty == Certainty::Undecided
                && change.is_some_and(|change| {
                    matches!(change.what, What::Body | What::Compatible | What::Unknown)
                })
            {
                continue;
            }
            broken.extend(reference.symbol.filter(|_| breaks));
            collector.add(Place { breaks, reference });
        }
    }
    broken
}

/// The types that only a moved or deleted file defines. With them their members are out of reach, and only the places that name
/// the type can be mended.
struct OwnTypes(BTreeSet<String>);

impl OwnTypes {
    fn new(former: &FormerFile<'_>, edit: &Edit) -> Self {
        let FormerFile { before, file, facts, .. } = *former;
        if !edit.is_moved() {
            return Self(BTreeSet::new());
        }
        let is_type = |it: &&Definition| matches!(it.kind, DefinitionKind::Type | DefinitionKind::Interface);
        let elsewhere = |own: &Definition| {
            let others = before.containing(&own.name).into_iter().filter(|it| *it != file);
            others.filter(|it| before.path(*it) != edit.path).filter_map(|it| before.facts(it)).any(|facts| {
                let mut types = facts.definitions.iter().filter(is_type);
                types.any(|it| it.name == own.name && it.container == own.container)
            })
        };
        let own = facts.definitions.iter().filter(is_type).filter(|it| !elsewhere(it));
        Self(own.map(path_of).collect())
    }

    fn contains(&self, container: Option<&str>) -> bool {
        container.is_some_and(|path| self.0.contains(path))
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
