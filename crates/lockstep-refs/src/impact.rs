//! The impact of a change: the files that reference it, at one hop and at two, and the references that break.
//!
//! Pure. The source of the change, the output and its freshness belong to the callers.

mod added_definitions;
mod broken_references;
mod c_declarations;
mod call_compat;
mod dependents;
mod directories;
mod edit;
mod edited_places;
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
mod module_to_script;
mod obligations;
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
use crate::facts::{Definition, DefinitionKind, Facts, Reach, Role};
use crate::language::{self, Language};
use crate::limits::Limits;
use crate::memo::Memo;
use crate::overlay::Overlay;
use crate::reference::{Certainty, Kind, Reference, Target};
use crate::resolve::path_of;
use crate::signature::Fit;
use crate::work::Work;
use crate::world::{FileId, World};
use added_definitions::AddedDefinitions;
use c_declarations::Declared;
use dependents::{DependentSet, Place};
use directories::EmptiedDirectories;
use edited_places::{Edited, keywords};
use former_modules::FormerModules;
use obligations::Obligations;
use renamed_types::TypeRenames;
use stale_exports::StaleExports;
use still_resolves::StillResolving;
use tree::Trees;
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
    let reads = |former: &str| edit.present_text(&before).is_some_and(|now| is_same_code(edit, former, &now));
    found.only_comments =
        found.symbols.is_empty() && !unread && !edit.is_moved() && text.as_deref().is_some_and(reads);
    let mut collector = DependentSet::new(world, edit, file);
    let handed_on = after.as_deref().map(lost_reexports::names).unwrap_or_default();
    let mut kept = StillResolving::new(
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
    let mut broken = collect_direct(&former, edit, after.as_deref(), &around, &mut kept, &mut collector);
    stale_exports::collect(revisions.after, edit, &found.symbols, &mut kept, &mut collector);
    let contents = own_file::Contents { facts: &facts, text: text.as_ref(), present: after.as_deref() };
    found.broken_in_file =
        own_file::broken(revisions.after, edit, &contents, &found.symbols, &mut kept, &revisions.edited);
    let unmet = obligations.add_to(revisions.after, &mut collector, &mut found);
    broken.extend(unmet);
    lost_includes::collect(revisions.after, edit, &facts, after.as_deref(), &mut collector, &mut found);
    // Exports that are missing from content that does not parse may still exist.
    if found.unparsed.is_none() {
        lost_reexports::collect(world, &before, edit, (&facts, after.as_ref()), &mut collector);
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
    manifest_names::collect(revisions.after, edit, text.as_deref(), &mut collector, &mut found);
    let left = text_dependents::left_behind(revisions.after, edit, text.as_deref(), aliases);
    own_file::merge(&mut found.broken_in_file, left);
    text_dependents::collect(
        (&before, emptied),
        edit,
        text.as_deref(),
        &found.symbols,
        aliases,
        &mut collector,
    );
    found.content_not_analysed = unanalysed_content::is_affected(edit, &before, text.as_deref());
    let truncated = is_over() || collect_transitive(&before, &mut collector, is_over);
    let unbroken = found.symbols.iter_mut().enumerate().filter(|(at, _)| !broken.contains(at));
    unbroken.for_each(|(_, change)| change.settle());
    (found.dependents, found.undecided) = collector.finish();
    (found, truncated)
}

/// Returns true if two contents of a file are the same code with other comments.
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

/// Collects all references to the change. Returns the positions of the changes that break something.
fn collect_direct(
    former: &OldFile<'_>,
    edit: &Edit,
    after: Option<&Facts>,
    around: &Around<'_>,
    kept: &mut StillResolving<'_>,
    collector: &mut DependentSet<'_>,
) -> BTreeSet<usize> {
    let OldFile { before, file, facts, changes, unread, modules } = *former;
    let moved = edit.is_moved();
    // If the file was moved, every definition in it is affected, changed or not.
    let symbols: Vec<Definition> = match moved {
        true => {
            facts.definitions.iter().filter(|definition| definition.reach > Reach::File).cloned().collect()
        }
        false => changes.iter().map(|change| change.was.clone()).collect(),
    };
    // Without the former content the removed names are unknown: every importer may use one of them.
    let module = moved || unread || matches!(edit.before, Before::Unknown);
    let mut broken = BTreeSet::new();
    if !module && symbols.is_empty() {
        return broken;
    }
    let now = edit.present_text(before);
    let target = Target { file, symbols: &symbols, module, now: now.as_deref(), own_file: false };
    let references = language::rules(facts.language).referrers(before, &target);
    let references: Vec<Reference> = references.into_iter().filter_map(|it| modules.present(it)).collect();
    let conflicting =
        after.map(|after| own_file::conflicting_names(before, after, changes)).unwrap_or_default();
    let mut judge = ReferenceJudge {
        former,
        after,
        around,
        kept,
        symbols: &symbols,
        own_types: OwnTypes::new(former, edit),
        hidden: changes.iter().map(|change| hides(former, change)).collect(),
        declared: Declared::new(before, file, &symbols, &references, conflicting),
        trees: Trees::new(before),
    };
    for mut reference in references {
        let change = if moved { None } else { reference.symbol.and_then(|at| changes.get(at)) };
        // A harmless change cannot break, so undecided references need not be reported.
        let is_harmless = |change: &SymbolChange| {
            matches!(
                change.what,
                DefinitionChangeKind::BodyChanged
                    | DefinitionChangeKind::Compatible
                    | DefinitionChangeKind::Unknown
            )
        };
        if reference.certainty == Certainty::Undecided && change.is_some_and(is_harmless) {
            continue;
        }
        let breaks = match change {
            _ if moved => judge.misses_moved(&reference),
            Some(change) => judge.misses_changed(change, &mut reference),
            None => false,
        };
        let breaks = breaks && !judge.is_shielded(change, &reference);
        broken.extend(reference.symbol.filter(|_| breaks));
        collector.add(Place { breaks, reference });
    }
    broken
}

/// Decides which references to a changed file break.
struct ReferenceJudge<'j, 'k> {
    former: &'j OldFile<'j>,
    after: Option<&'j Facts>,
    around: &'j Around<'j>,
    kept: &'j mut StillResolving<'k>,
    symbols: &'j [Definition],
    own_types: OwnTypes,
    /// For each change: true if callers do not see the function's parameters.
    hidden: Vec<bool>,
    declared: Declared,
    trees: Trees<'j>,
}

impl ReferenceJudge<'_, '_> {
    /// Returns true if a reference no longer finds the moved or deleted file, or the definition in it.
    fn misses_moved(&mut self, reference: &Reference) -> bool {
        let was = reference.symbol.and_then(|at| self.symbols.get(at));
        let is_member = was.is_some_and(|was| self.own_types.contains(was.container.as_deref()));
        let found = is_member
            || self.kept.has(reference)
            || was.is_some_and(|was| self.kept.has_moved(was, reference));
        reference.certainty <= Certainty::Possible && !found
    }

    /// Returns true if a reference does not fit a changed definition. Lowers the certainty of a reference that only types would decide.
    fn misses_changed(&mut self, change: &SymbolChange, reference: &mut Reference) -> bool {
        let (before, after) = (self.former.before, self.after);
        // A re-exporting file shields its users from a removed name, not from a changed signature.
        if changes_parameters(change) || import_is_lost(before, change, reference) {
            reference.through = None;
        }
        // A checker does not report a wrong argument there; a removed name fails at run time.
        if changes_parameters(change) && is_unchecked(before, reference) {
            reference.certainty = reference.certainty.max(Certainty::Untyped);
        }
        if self.around.obligations.decides(change, reference) {
            return false;
        }
        let named = keywords(before, reference);
        if change.what == DefinitionChangeKind::Unknown || change.fit(reference, &named) == Some(Fit::Unknown)
        {
            reference.certainty = reference.certainty.max(Certainty::Possible);
        }
        let is_hidden = reference.symbol.and_then(|at| self.hidden.get(at)).is_some_and(|it| *it);
        let is_misfit =
            change.breaks(reference, &named) && !call_compat::fits(before, change, after, reference);
        (is_misfit
            && !passes_by_place(before, change, reference)
            && !visibility::is_visible(before, change, after, (self.former.file, reference.file))
            || call_compat::misses(before, change, after, reference)
            || overloads::misfits(&self.trees, change, (self.former.facts, after), reference))
            && !is_hidden
            && !overloads::mean_another(&self.trees, change, after, reference)
            && !results::is_indifferent(&self.trees, change, after, reference, &named)
            && !results::is_made_for_members(&self.trees, change, after, reference)
            && !receivers::may_be_changed(&self.trees, change, after, reference)
            && !modifiers::is_unaffected(&self.trees, self.former.file, (change, after), reference)
            && !replaced_kinds::still_fits(change, after, reference)
            && !independent_places::need_no_definition(&self.trees, change, reference)
            && !independent_places::takes_any_function(&self.trees, change, reference)
            && !subtypes::still_fit(before, self.former.file, (change, after), reference)
            && (!self.around.edited.follows(change, after, reference)
                || modifiers::is_forbidden_override(
                    &self.trees,
                    self.former.file,
                    (change, after),
                    reference,
                ))
            && !self.declared.reexport_outlives_removal(change, reference)
            && !obligations::is_one_of_others(&self.trees, change, after, reference)
            && !self.kept.finds(change, reference)
            && !self.around.stale_exports.keeps(change, reference)
    }

    /// Returns true if the file still re-exports or provides the name: then the file itself breaks.
    fn is_shielded(&self, change: Option<&SymbolChange>, reference: &Reference) -> bool {
        let is_handed_on = reference.through == Some(self.former.file)
            && self.around.handed_on.contains(&*reference.pattern);
        is_handed_on || change.is_some_and(|change| self.kept.is_still_offered(change))
    }
}

/// The types that only a moved or deleted file defines. Their members become unreachable with them, and only
/// the places that name the type can be fixed.
struct OwnTypes(BTreeSet<String>);

impl OwnTypes {
    fn new(former: &OldFile<'_>, edit: &Edit) -> Self {
        let OldFile { before, file, facts, .. } = *former;
        if !edit.is_moved() {
            return Self(BTreeSet::new());
        }
        let is_type = |it: &&Definition| matches!(it.kind, DefinitionKind::Type | DefinitionKind::Interface);
        let elsewhere = |own: &Definition| {
            let others = before.defining(&own.name).into_iter().filter(|it| *it != file);
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
    world.facts(reference.file).is_some_and(|facts| facts.suppressed_lines.contains(&reference.line))
}

fn changes_parameters(change: &SymbolChange) -> bool {
    matches!(
        change.what,
        DefinitionChangeKind::SignatureChanged { .. } | DefinitionChangeKind::ParametersRenamed { .. }
    )
}

/// Returns true if an import fails because its name was removed, although it imports from a re-exporting
/// file; or if a call gets something from there that cannot be called.
fn import_is_lost(world: &dyn World, change: &SymbolChange, reference: &Reference) -> bool {
    let gone = matches!(change.what, DefinitionChangeKind::Removed | DefinitionChangeKind::Renamed(_));
    let handing = reference.through.filter(|_| gone).and_then(|file| world.facts(file));
    handing.is_some_and(|facts| {
        let rules = language::rules(facts.language);
        match reference.kind {
            Kind::Import => !rules.reexport_outlives_removal(&facts),
            _ => reference.role == Role::Call && rules.dynamic_export_is_uncallable(&facts),
        }
    })
}

/// Returns true if a function's parameters changed, and callers do not see them.
fn hides(former: &OldFile<'_>, change: &SymbolChange) -> bool {
    let rules = language::rules(former.facts.language);
    changes_parameters(change) && rules.hides(former.before, former.file, &change.was)
}

/// Returns true if parameters were only renamed, and a call names none of the removed names.
fn passes_by_place(world: &dyn World, change: &SymbolChange, reference: &Reference) -> bool {
    let DefinitionChangeKind::ParametersRenamed { gone } = &change.what else { return false };
    if !matches!(reference.role, Role::Call | Role::Covered) {
        return false;
    }
    let Some(facts) = world.facts(reference.file) else { return false };
    let here = facts.uses.iter().filter(|it| it.line == reference.line && it.name == reference.pattern);
    !here.into_iter().any(|call| call.keywords.iter().any(|name| gone.contains(name)))
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
        let users = language::rules(*language).users(world, &targets, is_over);
        let of_file = |(at, it): (usize, Reference)| Some((targets.get(at)?.file, it));
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
