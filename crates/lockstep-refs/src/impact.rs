//! The impact of a change: the files that reference it, at one hop and at two, and the references that break.
//!
//! Pure. The source of the change, the output and its freshness belong to the callers.

mod added_definitions;
mod broken_references;
mod c_declarations;
mod call_compat;
mod comment_only;
mod dependents;
mod direct_dependents;
mod directories;
mod edit;
mod edited_places;
mod external_members;
mod former_modules;
mod go_module_rename;
mod hunks;
mod importers;
mod independent_places;
mod links;
mod lost_includes;
mod lost_modules;
mod lost_reexports;
mod manifest_names;
mod missing_paths;
mod modifiers;
mod module_settings;
mod module_to_script;
mod obligations;
mod open_reexports;
mod overloads;
mod own_file;
mod receivers;
mod renamed_types;
mod renamed_uses;
mod replaced_kinds;
mod replacing_modules;
mod results;
mod shell_tests;
mod stale_exports;
mod still_resolves;
mod subtypes;
mod text_dependents;
mod tree;
mod type_only;
mod unanalysed_content;
mod undefined_calls;
mod unparsed;
mod visibility;

pub(crate) use broken_references::{MissingImport, missing_imports};
pub use dependents::{Dependent, Evidence, Hop};
pub use edit::{After, Before, Edit, FileChange};
pub use importers::broken_importers;
pub use own_file::BrokenReference;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::entity::Aliases;
use crate::facts::{Definition, Facts, Reach};
use crate::language::{self, Language};
use crate::limits::Limits;
use crate::memo::Memo;
use crate::overlay::Overlay;
use crate::reference::{Certainty, Kind, Reference, Target};
use crate::work::Work;
use crate::world::{FileId, World};
use added_definitions::AddedDefinitions;
use comment_only::is_same_code;
use dependents::DependentSet;
use direct_dependents::collect_direct;
use directories::EmptiedDirectories;
use edited_places::Edited;
use former_modules::FormerModules;
use obligations::Obligations;
use open_reexports::OpenReexports;
use renamed_types::TypeRenames;
use stale_exports::StaleExports;
use still_resolves::StillResolving;
use unparsed::Unparsed;

/// The effect of a set of edits on other files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Impact {
    /// One entry for each edit, sorted by path.
    pub files: Vec<FileImpact>,
    /// Set if the deadline passed before the analysis was complete.
    pub truncated: bool,
    /// The number of imports in the analysed files that should resolve to the project and do not.
    pub unresolved: usize,
    /// The limits of the search that were reached: dependents may be missing.
    pub limits: Limits,
    pub work: Work,
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

/// The effect of one edit on other files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileImpact {
    /// The present path or, for a deleted file, the last one.
    pub path: String,
    pub change: FileChange,
    pub symbols: Vec<SymbolChange>,
    /// Set if its former content is unknown, so that everything in it counts as changed.
    pub whole_file: bool,
    /// The dependents, the most affected first.
    pub dependents: Vec<Dependent>,
    /// The number of further files that only use a member of the same name on values of unknown type.
    pub undecided: usize,
    /// References in the file itself that the edit broke, in the order of the text.
    pub broken_in_file: Vec<BrokenReference>,
    /// Set if the deadline passed before it was analysed, so that its dependents are unknown.
    pub unanalysed: bool,
    /// The number of places in it, before or after, that could not be parsed. Their definitions and uses are
    /// unknown.
    pub problems: u32,
    /// The first line that parsed before the edit and does not after it. Nothing is known about the
    /// definitions there, which have [`DefinitionChangeKind::Unknown`].
    pub unparsed: Option<u32>,
    /// Set if only comments and whitespace changed.
    pub only_comments: bool,
    /// Set if its content changed and may define names, scripts or settings that are not analysed.
    pub content_not_analysed: bool,
}

/// A query for the impact of edits.
pub struct Question<'a> {
    pub edits: &'a [Edit],
    /// The project's aliases of files.
    pub aliases: &'a Aliases,
    /// Returns true when the deadline has passed.
    pub is_over: &'a dyn Fn() -> bool,
}

/// Computes the impact of edits on the files of `world`, which has their present state.
pub fn impact(world: &dyn World, question: &Question<'_>) -> Impact {
    let Question { edits, is_over, .. } = *question;
    // All searches in the present files share one memo.
    let world: &dyn World = &Overlay::empty(world);
    let (limits_before, work_before) = (Limits::of_thread(), Work::of_thread());
    let mut impact = Impact::default();
    let mut looked_at: BTreeSet<String> = BTreeSet::new();
    let after = after(world, edits, is_over);
    let revisions = Revisions {
        now: world,
        after: &after,
        arrivals: AddedDefinitions::new(world, &after, edits, is_over),
        edited: Edited::new(world, edits),
        emptied: EmptiedDirectories::new(world, edits),
        renames: TypeRenames::new(edits, is_over),
        open: OpenReexports::new(world, &after, edits),
    };
    for edit in edits {
        if is_over() {
            impact.truncated = true;
            impact.files.push(FileImpact { unanalysed: true, ..nothing_found(edit) });
            continue;
        }
        let (file, truncated) = file_impact(&revisions, edit, question);
        impact.truncated |= truncated;
        if revisions.is_cut() {
            // A definition that another edit added would count as missing.
            impact.files.push(FileImpact { unanalysed: true, ..nothing_found(edit) });
            continue;
        }
        looked_at.insert(file.path.clone());
        looked_at.extend(file.dependents.iter().map(|dependent| dependent.path.clone()));
        impact.files.push(file);
    }
    impact.files.sort_by(|a, b| a.path.cmp(&b.path));
    impact.unresolved = unresolved(world, &looked_at, is_over);
    impact.limits = Limits::of_thread().since(&limits_before);
    impact.work = Work::of_thread().since(work_before);
    impact
}

/// Returns the files as the edits leave them. After the deadline it has no more of them: then no edit is analysed.
fn after<'w>(world: &'w dyn World, edits: &[Edit], is_over: &dyn Fn() -> bool) -> Overlay<'w> {
    let mut after = Overlay::empty(world);
    let parses = Memo::parses(world);
    for edit in edits {
        if let After::Text(text) = &edit.after
            && !is_over()
        {
            after.add(&edit.path, parses.facts(&edit.path, text), Some(Arc::clone(text)));
        }
    }
    after
}

/// The files before and after the edits.
struct Revisions<'a> {
    /// The present files.
    now: &'a dyn World,
    /// The files after the edits: another revision, a patch.
    after: &'a Overlay<'a>,
    /// The names that the edits add.
    arrivals: AddedDefinitions<'a>,
    /// The lines that the edits change.
    edited: Edited<'a>,
    /// The directories in which the edits leave no file.
    emptied: EmptiedDirectories,
    renames: TypeRenames<'a>,
    open: OpenReexports<'a>,
}

impl Revisions<'_> {
    /// Returns true if the deadline passed before all edits were compared with each other.
    fn is_cut(&self) -> bool {
        self.arrivals.is_cut() || self.renames.is_cut()
    }
}

fn unresolved(world: &dyn World, paths: &BTreeSet<String>, is_over: &dyn Fn() -> bool) -> usize {
    let mut count = 0;
    for file in paths.iter().filter_map(|path| world.find(path)) {
        if is_over() {
            break;
        }
        let Some(facts) = world.facts(file) else { continue };
        count += language::rules(facts.language).unresolved_imports(world, file).len();
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

fn file_impact(revisions: &Revisions<'_>, edit: &Edit, question: &Question<'_>) -> (FileImpact, bool) {
    let Question { edits, aliases, is_over } = *question;
    let mut found = nothing_found(edit);
    let world = revisions.now;
    // A file that did not exist before has no dependents.
    let Some((facts, text)) = edit.former_content(world) else {
        found.broken_in_file =
            broken_references::introduced(revisions.after, edit, None, (aliases, &revisions.renames));
        return (found, false);
    };
    let mut before = Overlay::empty(world);
    let file = before.add(edit.former_path(), Arc::clone(&facts), text.clone());
    replacing_modules::hide(&mut before, edit, edits);
    let modules = FormerModules::restore(&mut before, world, edit, edits);
    let after = edit.present_facts(revisions.after);
    found.symbols = edit.symbol_changes(&facts, after.as_deref());
    revisions.renames.settle(revisions.after, after.as_deref(), &mut found.symbols);
    found.unparsed =
        hide_unparsed(edit, &before, (&facts, text.as_deref()), after.as_deref(), &mut found.symbols);
    found.problems = facts.problems.max(after.as_deref().map_or(0, |after| after.problems));
    // The file exists, but is too large, binary or unreadable.
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
    let reads =
        |former: &str| edit.present_text(&before).is_some_and(|now| is_same_code(&edit.path, former, &now));
    let is_inside = found.symbols.iter().all(|change| change.what == DefinitionChangeKind::BodyChanged);
    found.only_comments = is_inside && !unread && !edit.is_moved() && text.as_deref().is_some_and(reads);
    if found.only_comments {
        found.symbols.clear();
    }
    let mut collector = DependentSet::new(world, edit, file);
    let handed_on = after.as_deref().map(lost_reexports::names).unwrap_or_default();
    let mut resolving = StillResolving::new(
        revisions.after,
        edit,
        (&facts, after.as_deref()),
        &found.symbols,
        &revisions.arrivals,
    );
    let former =
        OldFile { before: &before, file, facts: &facts, changes: &found.symbols, unread, modules: &modules };
    let stale_exports = StaleExports::new(world, edit, &former, after.as_deref());
    let obligations = Obligations::new(revisions.after, edit, known, after.as_deref(), &found.symbols);
    let around = Around {
        handed_on: &handed_on,
        stale_exports: &stale_exports,
        edited: &revisions.edited,
        obligations: &obligations,
    };
    let mut broken = collect_direct(&former, edit, after.as_deref(), &around, &mut resolving, &mut collector);
    stale_exports::collect(revisions.after, edit, &found.symbols, &mut resolving, &mut collector);
    let contents = own_file::Contents { facts: &facts, text: text.as_ref(), present: after.as_deref() };
    found.broken_in_file = own_file::broken(
        revisions.after,
        edit,
        &contents,
        &found.symbols,
        &mut resolving,
        (&revisions.edited, &revisions.renames),
    );
    let unmet = obligations.add_to(revisions.after, &mut collector, &mut found);
    broken.extend(unmet);
    lost_includes::collect(revisions.after, edit, &facts, after.as_deref(), &mut collector, &mut found);
    // Exports that are missing from content that does not parse may still exist.
    if found.unparsed.is_none() {
        lost_reexports::collect(world, &before, edit, (&facts, after.as_ref()), &mut collector);
        revisions.open.collect(edit, (&facts, after.as_deref()), &mut collector);
        type_only::collect(&before, edit, (&facts, after.as_deref()), &mut collector);
        module_to_script::collect(&before, (&facts, after.as_deref()), file, &mut collector);
        lost_modules::collect(&before, edit, (&facts, after.as_deref()), file, &mut collector);
    }
    let former_content = Some((&facts, text.as_ref()));
    let names = (aliases, &revisions.renames);
    let introduced = broken_references::introduced(revisions.after, edit, former_content, names);
    own_file::merge(&mut found.broken_in_file, introduced);
    go_module_rename::collect(&before, edit, text.as_deref(), &mut collector);
    let emptied = revisions.emptied.of(edit.former_path());
    module_settings::collect(&before, revisions.after, edit, &mut collector);
    manifest_names::collect(revisions.after, edit, text.as_deref(), &mut collector, &mut found);
    let left = text_dependents::left_behind(revisions.after, edit, text.as_deref(), aliases);
    own_file::merge(&mut found.broken_in_file, left);
    if !found.only_comments {
        text_dependents::collect(
            (&before, emptied),
            edit,
            text.as_deref(),
            &found.symbols,
            aliases,
            &mut collector,
        );
    }
    found.content_not_analysed = unanalysed_content::is_affected(edit, &before, text.as_deref());
    let truncated = is_over() || collect_transitive(&before, &mut collector, is_over);
    let unbroken = found.symbols.iter_mut().enumerate().filter(|(at, _)| !broken.contains(at));
    unbroken.for_each(|(_, change)| change.settle());
    (found.dependents, found.undecided) = collector.finish();
    (found, truncated)
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
    stale_exports: &'a StaleExports,
    edited: &'a Edited<'a>,
    obligations: &'a Obligations,
}

/// A file's former content, in an otherwise present world.
struct OldFile<'a> {
    before: &'a Overlay<'a>,
    file: FileId,
    facts: &'a Facts,
    changes: &'a [SymbolChange],
    /// Set if the change of the file is unknown.
    unread: bool,
    modules: &'a FormerModules,
}

/// Collects the dependents of dependents: the users of the definitions in which a direct dependent uses the
/// change. One search finds them for all direct dependents of a language. Returns true if the time is over.
fn collect_transitive(
    world: &dyn World,
    collector: &mut DependentSet<'_>,
    is_over: &dyn Fn() -> bool,
) -> bool {
    let mut groups: BTreeMap<Language, Vec<(FileId, Vec<Definition>)>> = BTreeMap::new();
    for (file, within) in collector.reached() {
        let Some(facts) = world.facts(file) else { continue };
        let symbols = propagating_definitions(&facts, &within);
        if !symbols.is_empty() {
            groups.entry(language::family(facts.language)).or_default().push((file, symbols));
        }
    }
    let mut found = Vec::new();
    for (language, reached) in &groups {
        let mut targets = Vec::new();
        for (file, symbols) in reached {
            targets.push(Target { file: *file, symbols, module: false, now: None, own_file: false });
        }
        let users = language::rules(*language).users(world, &targets, false, is_over);
        let of_file = |(at, pair): (usize, Reference)| Some((targets.get(at)?.file, pair));
        found.extend(users.into_iter().filter_map(of_file));
    }
    found.sort_by_key(|(via, _)| *via);
    for (via, reference) in found {
        if reference.certainty != Certainty::Undecided {
            collector.add_transitive(via, reference);
        }
    }
    is_over()
}

/// Returns the definitions at these positions that other files can name, and their containers.
fn propagating_definitions(facts: &Facts, within: &BTreeSet<u32>) -> Vec<Definition> {
    let mut symbols: BTreeMap<u32, Definition> = BTreeMap::new();
    for at in within {
        let Some(definition) = facts.definitions.get(*at as usize) else { continue };
        if definition.reach > Reach::File {
            symbols.insert(*at, definition.clone());
        }
    }
    symbols.into_values().collect()
}

/// Returns true if a reference propagates a change to the users of its file.
fn propagates(reference: &Reference) -> bool {
    reference.kind <= Kind::Name && reference.certainty != Certainty::Undecided
}

#[cfg(test)]
mod tests;
