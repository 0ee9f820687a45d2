//! References in the changed file itself that an edit left behind: a call of a function that has another name now, arguments that no
//! longer fit.
//!
//! The file's present facts are extended by the definitions that it no longer has. A use that resolves to one of those is broken.
//! Names that were bound inside a function or by an import, members that overrode another one, and definitions of C with a declaration are
//! checked by [`unbound`], [`overrides`] and [`declarations`].

mod declarations;
mod overrides;
mod requirements;
mod returns;
mod suspects;
mod unbound;
mod unresolved;
mod values;

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::call_compat;
use super::dependents::Evidence;
use super::direct_dependents::passes_by_place;
use super::edit::{Before, Edit};
use super::edited_places::{Edited, keywords};
use super::renamed_types::TypeRenames;
use super::still_resolves::StillResolving;
use super::tree::Trees;
use super::{independent_places, modifiers, overloads, receivers, results, subtypes};
use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::facts::{Arity, Definition, DefinitionKind, Facts, Import, Role, Use};
use crate::language::{self, Language};
use crate::memo::Memo;
use crate::overlay::Overlay;
use crate::reference::{Certainty, Kind, Reference, Target};
use crate::signature::Fit;
use crate::syntax::TOKEN_END;
use crate::world::{FileId, World, base};
use suspects::Suspects;
use unbound::Versions;

/// The line of a definition that the file no longer has.
const NO_LINE: u32 = u32::MAX;

/// A reference in a changed file that the edit of this file broke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenReference {
    /// The line that shows it.
    pub evidence: Evidence,
    /// The reason, as a clause: `greet is now salute`.
    pub reason: String,
    /// The new name for the reference, if it is known.
    pub new_name: Option<String>,
}

/// A changed file before and after.
pub(super) struct Contents<'a> {
    pub(super) facts: &'a Facts,
    pub(super) text: Option<&'a Arc<str>>,
    pub(super) present: Option<&'a Facts>,
}

/// Returns the references in the edited file that resolve to a definition it no longer has, or that no longer fit one it has.
/// `world` has the file as it is after the edit.
pub(super) fn broken(
    world: &dyn World,
    edit: &Edit,
    contents: &Contents<'_>,
    public: &[SymbolChange],
    resolving: &mut StillResolving<'_>,
    (edited, renames): (&Edited<'_>, &TypeRenames<'_>),
) -> Vec<BrokenReference> {
    let (Some(present), Some(file)) = (contents.present, world.find(&edit.path)) else { return Vec::new() };
    let Some(text) = world.text(file).filter(|_| !matches!(edit.before, Before::Unknown)) else {
        return Vec::new();
    };
    // A definition at a place that does not parse is not known to be removed.
    if present.problems > contents.facts.problems {
        return Vec::new();
    }
    let settle = |changes: &mut [SymbolChange]| renames.settle(world, Some(present), changes);
    let suspects = Suspects::new(contents.facts, present, public, settle);
    let rules = language::rules(present.language);
    let elsewhere: LazyCell<BTreeSet<(u32, Box<str>)>, _> = LazyCell::new(|| {
        let references = rules.outgoing(world, file).references;
        references.into_iter().map(|(_, place)| (place.line, place.pattern)).collect()
    });
    let trees = Trees::new(world);
    let mut broken = Broken { lines: text.lines().collect(), found: BTreeMap::new() };
    let references = left_behind(world, file, &suspects, (&edit.path, &text, present));
    // An author who changed one use has seen the others.
    let followed: BTreeSet<usize> = references
        .iter()
        .filter(|reference| edited.is_edited(reference))
        .filter_map(|reference| reference.symbol)
        .collect();
    for reference in references {
        let Some(at) = reference.symbol else { continue };
        let Some(change) = suspects.changes.get(at) else { continue };
        let named = keywords(world, &reference);
        // A variable of Python that holds the function takes any other.
        let is_held = present.language == Language::Python
            && reference.role == Role::Value
            && matches!(change.what, DefinitionChangeKind::SignatureChanged { .. })
            && !is_passed(&trees, &reference);
        let is_misfit = !is_held && misfits(present.language, change, &reference, &named)
            || !followed.contains(&at) && is_left_as_it_was(present.language, change, &reference, &named);
        let is_broken = (is_misfit && !passes_by_place(world, change, &reference)
            || present.language == Language::Python
                && call_compat::misses(world, change, Some(present), &reference)
            || overloads::misfits(&trees, change, (contents.facts, Some(present)), &reference))
            && means_gone(&trees, present, change, &reference)
            && !elsewhere.contains(&(reference.line, reference.pattern.clone()))
            && !is_imported(change, present, &reference)
            && !overloads::mean_another(&trees, change, Some(present), &reference)
            && !results::is_indifferent(&trees, change, Some(present), &reference, &named)
            && !receivers::may_be_changed(&trees, change, Some(present), &reference)
            && !modifiers::is_unaffected(&trees, file, (change, Some(present)), &reference)
            && !subtypes::still_fit(world, file, (change, Some(present)), &reference)
            && !independent_places::need_no_definition(&trees, change, &reference)
            && !independent_places::takes_any_function(&trees, change, &reference)
            && !resolving.finds(change, &reference)
            && !edited.follows(change, Some(present), &reference);
        if is_broken {
            broken.add(reference.line, reference.kind, reference.certainty, &reference.pattern, || {
                reason(change)
            });
            if let Some(found) = broken.found.get_mut(&(reference.line, reference.pattern.clone())) {
                found.new_name = change.what.new_name().map(str::to_owned);
            }
        }
    }
    for name in
        present.missing_exports.iter().filter(|export| !contents.facts.missing_exports.contains(export))
    {
        let line = line_of_text(&text, name);
        broken
            .add(line, Kind::Symbol, Certainty::Resolved, name, || format!("{name} is not defined any more"));
    }
    if let Some(class) = misnamed_class(edit, present) {
        let reason = || format!("the public type {} must be in {}.java", class.name, class.name);
        broken.add(class.line, Kind::Symbol, Certainty::Resolved, &class.name, reason);
    }
    if let Some(former) = contents.text {
        let versions = Versions { former: (edit.former_path(), former), present: (&edit.path, &text) };
        for candidate in unbound::unbound_names(&Memo::parses(world), &versions) {
            if !elsewhere.contains(&(candidate.line, candidate.name.clone())) {
                broken.add(candidate.line, Kind::Symbol, Certainty::Resolved, &candidate.name, || {
                    candidate.reason
                });
            }
        }
        let contents = (contents.facts, former);
        for candidate in unresolved::unresolved_names(world, (edit, file), contents, (present, &text)) {
            let reason = || format!("{} is no longer imported or in the same package", candidate.name);
            broken.add(candidate.line, Kind::Symbol, Certainty::Resolved, &candidate.name, reason);
        }
    }
    for unmatched in overrides::unmatched_overrides(world, (&text, present), &suspects.changed) {
        broken.add(unmatched.line, Kind::Symbol, Certainty::Resolved, &unmatched.name, || unmatched.reason);
    }
    for unbound in returns::unfit_returns(&trees, file, present, &suspects.changed) {
        broken.add(unbound.line, Kind::Symbol, Certainty::Resolved, &unbound.name, || unbound.reason);
    }
    let known: BTreeSet<String> =
        values::incomplete_types(contents.facts).into_iter().map(|unbound| unbound.reason).collect();
    for unbound in values::unfit_values(&trees, file, present, &suspects.changed) {
        if !known.contains(&unbound.reason) {
            broken.add(unbound.line, Kind::Symbol, Certainty::Resolved, &unbound.name, || unbound.reason);
        }
    }
    if broken.found.is_empty() {
        for unmatched in requirements::unmet_requirements(world, present, &suspects.changed) {
            broken
                .add(unmatched.line, Kind::Symbol, Certainty::Resolved, &unmatched.name, || unmatched.reason);
        }
    }
    for conflicting_definition in declarations::conflicting_definitions(world, present, &suspects.changed) {
        broken.add(
            conflicting_definition.line,
            Kind::Symbol,
            Certainty::Resolved,
            &conflicting_definition.name,
            || conflicting_definition.reason,
        );
    }
    broken.found.into_values().collect()
}

/// Returns the names of changed definitions that differ from a declaration which their file includes.
pub(super) fn conflicting_names(
    world: &dyn World,
    present: &Facts,
    changes: &[SymbolChange],
) -> BTreeSet<Box<str>> {
    let conflicts = declarations::conflicting_definitions(world, present, changes);
    conflicts.into_iter().map(|conflicting_definition| conflicting_definition.name).collect()
}

/// Returns the public type of a moved file of Java that has the name of the former file.
fn misnamed_class<'f>(edit: &Edit, present: &'f Facts) -> Option<&'f Definition> {
    let is_named = |path: &str, name: &str| base(path).strip_suffix(".java") == Some(name);
    let former = edit.former.as_deref().filter(|_| present.language == Language::Java)?;
    let is_public = |definition: &Definition| definition.header.split(TOKEN_END).any(|word| word == "public");
    let mut types = present
        .definitions
        .iter()
        .filter(|definition| definition.container.is_none() && is_public(definition));
    types.find(|definition| is_named(former, &definition.name) && !is_named(&edit.path, &definition.name))
}

fn line_of_text(text: &str, name: &str) -> u32 {
    let is_given = |line: &str| line.contains(&format!("\"{name}\"")) || line.contains(&format!("'{name}'"));
    let at = text.lines().position(is_given).unwrap_or_default();
    u32::try_from(at + 1).unwrap_or(u32::MAX)
}

/// Adds references that are not listed yet, in the order of the text.
pub(super) fn merge(listed: &mut Vec<BrokenReference>, more: Vec<BrokenReference>) {
    for broken in more {
        let is_same = |broken_reference: &BrokenReference| {
            (broken_reference.evidence.line, &broken_reference.evidence.pattern)
                == (broken.evidence.line, &broken.evidence.pattern)
        };
        if !listed.iter().any(is_same) {
            listed.push(broken);
        }
    }
    listed.sort_by_key(|broken| broken.evidence.line);
}

/// Returns true if a call means a removed function rather than one of the same name that takes as many arguments.
fn means_gone(trees: &Trees<'_>, present: &Facts, change: &SymbolChange, reference: &Reference) -> bool {
    let was = &change.was;
    let left: Vec<&Definition> = present
        .definitions
        .iter()
        .filter(|definition| is_overload(present.language, definition, was))
        .collect();
    let is_gone = matches!(change.what, DefinitionChangeKind::Removed | DefinitionChangeKind::Renamed(_));
    let takes = |definition: &Definition| {
        reference.arguments.zip(definition.arity).is_some_and(|(count, arity)| arity.takes(count))
    };
    let left: Vec<&Definition> = left.into_iter().filter(|definition| takes(definition)).collect();
    !is_gone
        || left.is_empty()
        || takes(was) && overloads::is_best(trees, present.language, (was, &left), reference)
}

/// Returns true if both are functions of one name in a language that tells such functions apart by their parameters.
fn is_overload(language: Language, definition: &Definition, was: &Definition) -> bool {
    use Language::{CSharp, Java, Kotlin};
    matches!(language, CSharp | Java | Kotlin)
        && definition.name == was.name
        && definition.kind == was.kind
        && definition.container == was.container
        && definition.header != was.header
        && was.arity.is_some()
}

/// The references in the file that resolve to one of the suspects.
fn left_behind(
    world: &dyn World,
    file: FileId,
    suspects: &Suspects,
    (path, text, present): (&str, &Arc<str>, &Facts),
) -> Vec<Reference> {
    if suspects.symbols.is_empty() {
        return Vec::new();
    }
    let facts = Arc::new(suspects.extended(&Memo::parses(world), path, text, present));
    let extended = Overlay::new(world, path, facts, Some(Arc::clone(text)));
    let target = Target { file, symbols: &suspects.symbols, module: false, now: None, own_file: true };
    language::rules(present.language).referrers(&extended, &target)
}

/// Broken references by line and name.
struct Broken<'t> {
    lines: Vec<&'t str>,
    found: BTreeMap<(u32, Box<str>), BrokenReference>,
}

impl Broken<'_> {
    fn add(
        &mut self,
        line: u32,
        kind: Kind,
        certainty: Certainty,
        name: &str,
        reason: impl FnOnce() -> String,
    ) {
        let Some(text) = self.lines.get((line as usize).saturating_sub(1)) else { return };
        self.found.entry((line, name.into())).or_insert_with(|| BrokenReference {
            evidence: Evidence {
                line,
                text: (*text).to_owned(),
                kind,
                breaks: true,
                certainty,
                pattern: name.to_owned(),
            },
            reason: reason(),
            new_name: None,
        });
    }
}

/// Returns true if a reference no longer fits. A changed signature breaks a call, or a function passed as a
/// value, if the number of parameters no longer fits, or if the signatures alone show that the types do not.
///
/// `keywords` are the names by which a call passes arguments.
fn misfits(language: Language, change: &SymbolChange, reference: &Reference, keywords: &[Box<str>]) -> bool {
    let DefinitionChangeKind::SignatureChanged { arity, effect, .. } = &change.what else {
        return change.breaks(reference, keywords);
    };
    // The expected type of a value is unknown here.
    let decides = effect.as_ref().is_some_and(|effect| effect.is_decisive) && reference.role != Role::Value;
    let fit = change.fit(reference, keywords);
    // An argument for a parameter of another type is visible without a checker.
    let is_misplaced = reference.role == Role::Call
        && reference.arguments.is_some()
        && effect.as_ref().is_some_and(|effect| effect.passes(reference.arguments, keywords) == Fit::Breaks);
    if (decides || is_misplaced) && reference.certainty <= Certainty::Possible && fit == Some(Fit::Breaks) {
        return true;
    }
    let misses = effect.as_ref().is_some_and(|effect| keywords.iter().any(|name| effect.misses(name)));
    let (Some(arity), Some(was)) = (*arity, change.was.arity) else { return false };
    let is_misfit = match (reference.role, reference.arguments) {
        (Role::Call, Some(arguments)) => !arity.takes(arguments) || misses,
        (Role::Value, _) => misfits_as_value(language, was, arity),
        _ => false,
    };
    is_misfit && reference.certainty <= Certainty::Possible
}

/// Returns true if a name is an argument of a call on the line of a reference.
fn is_passed(trees: &Trees<'_>, reference: &Reference) -> bool {
    let Some(source) = trees.get(reference.file) else { return false };
    let around =
        source.leaves(reference.line, &reference.pattern).into_iter().filter_map(|leaf| leaf.parent());
    around.into_iter().any(|node| matches!(node.kind(), "argument_list" | "keyword_argument"))
}

/// Returns true if a use depends on the former type of a function, field or value. The languages are those that convert few values,
/// and those of which [`results`] knows the uses that fit.
fn is_left_as_it_was(
    language: Language,
    change: &SymbolChange,
    reference: &Reference,
    keywords: &[Box<str>],
) -> bool {
    use DefinitionKind::{Field, Function, Method, Value, Variant};
    use Language::{C, Cpp, Go, Python, Rust, Tsx, TypeScript};
    let is_value = matches!(change.was.kind, Field | Function | Method | Value | Variant);
    let is_called = matches!(change.was.kind, Function | Method) && reference.role == Role::Call;
    (matches!(language, C | Cpp | Go | Rust) && is_value
        || matches!(language, Python | Tsx | TypeScript) && is_called)
        && matches!(change.what, DefinitionChangeKind::SignatureChanged { .. })
        && change.breaks(reference, keywords)
}

/// Returns true if a function with another number of parameters no longer has its expected type. TypeScript
/// accepts a function with fewer parameters.
fn misfits_as_value(language: Language, was: Arity, is: Arity) -> bool {
    use Language::{C, CSharp, Cpp, Go, Java, Kotlin, Python, Rust, Swift, Tsx, TypeScript};
    match language {
        TypeScript | Tsx => is.least > was.most.unwrap_or(is.least),
        Rust | Go | Java | Kotlin | CSharp | Swift | C | Cpp => is != was,
        // A method that is passed takes its object besides.
        Python => was.least > 0 && !is.takes(was.least),
        _ => false,
    }
}

/// Returns true if a reference to a removed definition is a bare name that an import of the file binds.
fn is_imported(change: &SymbolChange, facts: &Facts, reference: &Reference) -> bool {
    if !matches!(change.what, DefinitionChangeKind::Removed | DefinitionChangeKind::Renamed(_)) {
        return false;
    }
    let name = &reference.pattern;
    let is_bare = |usage: &Use| usage.line == reference.line && usage.name == *name && usage.of.is_none();
    let binds = |import: &Import| {
        let last = import.module.rsplit(['.', ':', '/', '\\']).next();
        import.names.iter().any(|imported| imported.local == *name)
            || import
                .alias
                .as_ref()
                .map_or(import.names.is_empty() && last == Some(&**name), |alias| alias == name)
    };
    facts.imports.iter().any(binds) && facts.uses.iter().any(is_bare)
}

fn reason(change: &SymbolChange) -> String {
    let name = &change.was.name;
    match &change.what {
        DefinitionChangeKind::Renamed(to) => format!("{name} is now {to}"),
        DefinitionChangeKind::SignatureChanged { arity: Some(arity), .. }
            if change.was.arity != Some(*arity) =>
        {
            let takes = match arity.most {
                Some(most) if most == arity.least => format!("{most}"),
                Some(most) => format!("{} to {most}", arity.least),
                None => format!("at least {}", arity.least),
            };
            format!("{name} now takes {takes} argument{}", if arity.most == Some(1) { "" } else { "s" })
        }
        DefinitionChangeKind::ParametersRenamed { gone: removed } if !removed.is_empty() => {
            format!("{name} has no parameter called {}", removed.join(" or "))
        }
        DefinitionChangeKind::SignatureChanged { .. } | DefinitionChangeKind::ParametersRenamed { .. } => {
            format!("the signature of {name} changed")
        }
        _ => format!("{name} was removed"),
    }
}
