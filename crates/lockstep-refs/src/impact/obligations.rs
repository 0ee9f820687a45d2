//! Obligations that an edit adds: a member that every implementer must have, a variant that exhaustive matches must handle, a field that
//! literals must give.
//!
//! Places are searched in the files as they are after all edits: a place that already meets the obligation is not reported.

mod access;
mod argument_keys;
mod empty_objects;
mod exceptions;
mod expected;
mod function_types;
mod implementers;
mod instances;
mod literals;
mod lost_bases;
mod lost_conversions;
mod lost_copies;
mod lost_keys;
mod lost_literals;
mod lost_traits;
mod matches;
mod named_types;
mod special_methods;
mod type_arguments;
mod unions;

use std::collections::BTreeSet;

pub(super) use exceptions::exceptions;
pub(super) use instances::is_anonymous_base;
pub(super) use unions::is_one_of_others;

use super::FileImpact;
use super::dependents::{DependentSet, Evidence, Place};
use super::edit::{Before, Edit};
use super::own_file::{self, BrokenReference};
use super::tree::{Source, Trees};
use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::facts::{ABSTRACT, Definition, DefinitionKind, Facts, OPTIONAL, Role, STATIC};
use crate::language::Language;
use crate::package::is_type;
use crate::reference::{Certainty, Kind, Reference, Target};
use crate::resolve::path_of;
use crate::syntax::{TOKEN_END, is_empty_digest};
use crate::world::{FileId, World};

/// The action that an obligation asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    /// A type that extends the owner defines the member.
    Implement,
    /// A match on a value of the owner has an arm for the variant.
    Handle,
    /// A literal of the owner gives the field.
    Give,
}

/// Something that users of a type must do since the edit.
#[derive(Debug, Clone)]
struct Obligation {
    owner: Definition,
    member: Box<str>,
    action: Action,
    /// The variants or fields that the owner also had before.
    siblings: Vec<Definition>,
    /// True if the file itself defines the member for all implementers.
    is_met: bool,
}

/// A place that does not do what an obligation asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Unmet {
    file: FileId,
    line: u32,
    /// The name as written there.
    pattern: Box<str>,
    /// As a clause: `Shape now requires edges`.
    reason: String,
    /// The path of the type inside the changed file.
    owner: String,
}

impl Unmet {
    fn reference(&self, symbol: Option<usize>) -> Reference {
        Reference {
            file: self.file,
            line: self.line,
            kind: Kind::Symbol,
            role: Role::Conform,
            certainty: Certainty::Resolved,
            pattern: self.pattern.clone(),
            symbol,
            arguments: None,
            through: None,
            within: None,
        }
    }

    fn in_file(&self, world: &dyn World) -> Vec<BrokenReference> {
        let text = world.text(self.file);
        let line = text.as_ref().and_then(|text| text.lines().nth(self.line.saturating_sub(1) as usize));
        let evidence = line.map(|line| Evidence {
            line: self.line,
            text: line.to_owned(),
            kind: Kind::Symbol,
            breaks: true,
            certainty: Certainty::Resolved,
            pattern: self.pattern.to_string(),
        });
        let broken = |evidence| BrokenReference { evidence, reason: self.reason.clone(), new_name: None };
        evidence.map(broken).into_iter().collect()
    }
}

/// The obligations that an edit adds, and the places that do not meet them.
#[derive(Debug, Default)]
pub(super) struct Obligations {
    unmet: Vec<Unmet>,
    /// The paths of the types that define their new members for all implementers.
    implemented: BTreeSet<String>,
    /// The paths of types with the same header that require nothing new of subtypes.
    relieved: BTreeSet<String>,
    /// The places of the implementers that were checked one by one.
    checked: BTreeSet<(FileId, u32)>,
    /// The paths of types of Java that differ in their type parameters.
    regrouped: BTreeSet<String>,
    /// The paths of fields that are only no longer optional.
    required: BTreeSet<String>,
}

impl Obligations {
    /// Finds the obligations that an edit adds. `world` has all files as they are after the edits.
    pub(super) fn new(
        world: &dyn World,
        edit: &Edit,
        (old, former): (&Facts, Option<&str>),
        new: Option<&Facts>,
        changes: &[SymbolChange],
    ) -> Self {
        let (Some(new), Some(file)) = (new, world.find(&edit.path)) else { return Self::default() };
        let is_known = !matches!(edit.before, Before::Unknown) && new.problems <= old.problems;
        if !is_known || edit.is_moved() {
            return Self::default();
        }
        let trees = Trees::new(world);
        let search = Search { world, trees: &trees, file };
        let mut found = Self::default();
        // A member with another name is missed by that.
        let is_renamed = |obligation: &Obligation| {
            changes.iter().any(|change| change.what.new_name() == Some(&*obligation.member))
        };
        let mut asking = BTreeSet::new();
        for obligation in added(old, new) {
            let owner = path_of(&obligation.owner);
            asking.insert(owner.clone());
            if is_renamed(&obligation) {
                continue;
            }
            match obligation.action {
                Action::Implement => {
                    if obligation.is_met {
                        found.implemented.insert(owner);
                    } else {
                        let checked = implementers::find(&search, &obligation, &mut found.unmet);
                        found.checked.extend(checked);
                    }
                }
                Action::Handle => matches::find(&search, &obligation, &mut found.unmet),
                Action::Give => {
                    literals::find(&search, &obligation, &mut found.unmet);
                    found.required.insert(format!("{owner}.{}", obligation.member));
                }
            }
        }
        found.relieved = relieved(old, new, &asking);
        if let (Some(former), Some(now)) = (former, world.text(file)) {
            let grown = unions::grown((old, former), (new, &now));
            grown.iter().for_each(|obligation| matches::find(&search, obligation, &mut found.unmet));
            lost_literals::find(&search, (old, former), (new, &now), changes, &mut found.unmet);
            lost_keys::find(&search, (old, former), new, changes, &mut found.unmet);
            function_types::find(&search, (old, former), new, &mut found.unmet);
            access::find(&search, former, new, &mut found.unmet);
            instances::find(&search, old, new, &mut found.unmet);
            exceptions::find(&search, old, new, &mut found.unmet);
            found.checked.extend(argument_keys::find(&search, (old, former), new, &mut found.unmet));
            special_methods::find(&search, old, new, &mut found.unmet);
            let is_searched = matches!(new.language, Language::Rust | Language::Go);
            if let Some(before) = is_searched.then(|| Source::new(new.language, former.into())).flatten() {
                type_arguments::find(&search, &before, new, &mut found.unmet);
                named_types::find(&search, &before, new, &mut found.unmet);
                lost_traits::find(&search, (old, &before), new, &mut found.unmet);
                lost_traits::find_incomplete(&search, &before, new, &mut found.unmet);
                found.checked.extend(lost_traits::meeting_new_bounds(&search, &before, new));
            }
            let is_template = |text: &str| new.language == Language::Cpp && text.contains("template");
            if (is_template(former) || is_template(&now))
                && let Some(before) = Source::new(new.language, former.into())
            {
                type_arguments::find(&search, &before, new, &mut found.unmet);
            }
            let is_compared = matches!(new.language, Language::Java | Language::Tsx | Language::TypeScript);
            if is_compared && type_arguments::may_differ(old, new) {
                let before = Source::new(new.language, former.into());
                let differing =
                    before.map(|source| type_arguments::find(&search, &source, new, &mut found.unmet));
                found.regrouped = differing.unwrap_or_default();
            }
            lost_bases::find(&search, edit, (old, former), new, &mut found.unmet);
            lost_conversions::find(&search, old, new, &mut found.unmet);
        }
        let key = |unmet: &Unmet| (unmet.file, unmet.line, unmet.pattern.clone());
        found.unmet.sort_by_key(key);
        found.unmet.dedup_by_key(|unmet| key(unmet));
        found
    }

    /// Returns true if the place of a reference was checked by itself, or if a change only requires what it gives.
    pub(super) fn decides(&self, change: &SymbolChange, reference: &Reference) -> bool {
        let path = path_of(&change.was);
        let is_resigned = matches!(change.what, DefinitionChangeKind::SignatureChanged { .. });
        is_resigned
            && (reference.role == Role::Extend
                && (self.implemented.contains(&path)
                    || self.relieved.contains(&path)
                    || self.checked.contains(&(reference.file, reference.line)))
                || reference.role == Role::Call
                    && was_keyed(change)
                    && self.checked.contains(&(reference.file, reference.line))
                || self.required.contains(&path)
                || self.regrouped.contains(&path))
    }

    /// Adds the places to the dependents and to the changed file. Returns the positions of the changed types.
    pub(super) fn add_to(
        &self,
        world: &dyn World,
        collector: &mut DependentSet<'_>,
        found: &mut FileImpact,
    ) -> Vec<usize> {
        let mut broken = Vec::new();
        for unmet in &self.unmet {
            let at = found.symbols.iter().position(|change| path_of(&change.was) == unmet.owner);
            if let Some(change) = at.and_then(|at| found.symbols.get_mut(at)) {
                change.require();
            }
            broken.extend(at);
            if world.path(unmet.file) == found.path {
                own_file::merge(&mut found.broken_in_file, unmet.in_file(world));
            } else {
                collector.add(Place { breaks: true, reference: unmet.reference(at) });
            }
        }
        broken
    }
}

/// Returns true if a function takes an object by its properties.
fn was_keyed(change: &SymbolChange) -> bool {
    change.was.arity.is_some() && change.was.header.contains('{')
}

/// The places that may have to meet an obligation.
struct Search<'s> {
    world: &'s dyn World,
    trees: &'s Trees<'s>,
    file: FileId,
}

impl Search<'_> {
    /// The places that reference definitions of a file, in this file and in others.
    fn references(&self, file: FileId, symbols: &[Definition]) -> Vec<Reference> {
        let Some(facts) = self.world.facts(file).filter(|_| !symbols.is_empty()) else { return Vec::new() };
        let rules = crate::language::rules(facts.language);
        let ask = |own_file| {
            let target = Target { file, symbols, module: false, now: None, own_file };
            rules.referrers(self.world, &target)
        };
        let mut found = ask(false);
        found.extend(ask(true).into_iter().filter(|reference| reference.file == file));
        found.retain(|reference| reference.certainty <= Certainty::Possible);
        found
    }
}

/// The types that have the same header as before, and require no member that they did not require.
fn relieved(old: &Facts, new: &Facts, asking: &BTreeSet<String>) -> BTreeSet<String> {
    use Language::{CSharp, Java, Kotlin, Php, Swift};
    if !matches!(new.language, CSharp | Java | Kotlin | Php | Swift) {
        return BTreeSet::new();
    }
    let is_kept = |definition: &&Definition| {
        let same = |was: &Definition| path_of(was) == path_of(definition) && was.header == definition.header;
        is_type(definition) && !definition.header.is_empty() && old.definitions.iter().any(same)
    };
    let present = new.definitions.iter().filter(is_kept).map(path_of);
    present.filter(|path| !asking.contains(path)).collect()
}

/// The obligations of members that types have now and did not have before.
fn added(old: &Facts, new: &Facts) -> Vec<Obligation> {
    let mut found = Vec::new();
    for owner in new.definitions.iter().filter(|definition| is_type(definition)) {
        let same = |definition: &&Definition| {
            definition.name == owner.name
                && definition.container == owner.container
                && definition.kind == owner.kind
        };
        if !old.definitions.iter().any(|definition| same(&definition)) {
            continue;
        }
        let path = path_of(owner);
        let inside = |definition: &&Definition| definition.container.as_deref() == Some(&*path);
        let had = |member: &Definition| {
            let before =
                old.definitions.iter().filter(inside).filter(|definition| definition.name == member.name);
            let is_kept =
                |definition: &Definition| !is_marked(definition, OPTIONAL) || is_marked(member, OPTIONAL);
            let lost_body =
                |definition: &Definition| is_abstract(owner, member) && !is_abstract(owner, definition);
            let keeps_default = has_default(new, member) || !has_default(old, member);
            keeps_default
                && before.into_iter().any(|definition| is_kept(definition) && !lost_body(definition))
        };
        let siblings: Vec<Definition> =
            new.definitions.iter().filter(inside).filter(|definition| had(definition)).cloned().collect();
        for member in new.definitions.iter().filter(inside).filter(|definition| !had(definition)) {
            for action in actions(new.language, owner, member) {
                let siblings = siblings
                    .iter()
                    .filter(|definition| definition.kind == member.kind || action != Action::Handle);
                found.push(Obligation {
                    owner: owner.clone(),
                    member: member.name.clone(),
                    action,
                    siblings: siblings.cloned().collect(),
                    is_met: has_default(new, member),
                });
            }
        }
    }
    found.extend(sealed(old, new));
    found
}

/// The actions that a new member of a type asks of its users.
fn actions(language: Language, owner: &Definition, member: &Definition) -> Vec<Action> {
    use DefinitionKind::{Field, Interface, Method, Type, Variant};
    use Language::{Go, Java, Rust, Tsx, TypeScript};
    let mut found = Vec::new();
    if member.kind == Variant {
        found.push(Action::Handle);
    }
    let is_plain = !is_marked(member, OPTIONAL) && !is_marked(member, STATIC);
    let is_declared = matches!(member.kind, Method | Type) || member.kind == Field && language != Java;
    if is_plain && is_declared && is_abstract(owner, member) {
        found.push(Action::Implement);
    }
    let is_literal = match language {
        TypeScript | Tsx => owner.kind == Interface || owner.gives.is_none() && member.kind == Field,
        Go | Rust => owner.kind == Type && member.kind == Field,
        _ => false,
    };
    if is_plain && is_literal {
        found.push(Action::Give);
    }
    found
}

/// Returns true if a member of a type has no body.
fn is_abstract(owner: &Definition, member: &Definition) -> bool {
    match owner.kind == DefinitionKind::Interface {
        true => is_empty_digest(member.body),
        false => {
            is_marked(member, ABSTRACT) || member.header.split(TOKEN_END).any(|token| token == "abstract")
        }
    }
}

fn is_marked(definition: &Definition, mark: &str) -> bool {
    definition.extends.iter().any(|base| &**base == mark)
}

/// Returns true if an extension of an interface defines the member for all implementers.
fn has_default(facts: &Facts, member: &Definition) -> bool {
    let is_default =
        |definition: &Definition| definition.line != member.line && !is_empty_digest(definition.body);
    facts.definitions.iter().any(|definition| {
        definition.name == member.name && definition.container == member.container && is_default(definition)
    })
}

/// The obligations of types that extend a sealed type of their file.
fn sealed(old: &Facts, new: &Facts) -> Vec<Obligation> {
    if !matches!(new.language, Language::Kotlin | Language::Java) {
        return Vec::new();
    }
    let extends = |definition: &Definition, owner: &Definition| {
        is_type(definition)
            && definition.extends.iter().any(|base| base.rsplit('.').next() == Some(&*owner.name))
    };
    let mut found = Vec::new();
    for owner in new.definitions.iter().filter(|definition| is_type(definition) && is_sealed(definition)) {
        let had = |heir: &Definition| {
            old.definitions
                .iter()
                .any(|definition| definition.name == heir.name && extends(definition, owner))
        };
        let heirs: Vec<&Definition> =
            new.definitions.iter().filter(|definition| extends(definition, owner)).collect();
        let siblings: Vec<Definition> = heirs
            .iter()
            .filter(|definition| had(definition))
            .map(|definition| (*definition).clone())
            .collect();
        for heir in heirs.into_iter().filter(|definition| !had(definition)) {
            found.push(Obligation {
                owner: owner.clone(),
                member: heir.name.clone(),
                action: Action::Handle,
                siblings: siblings.clone(),
                is_met: false,
            });
        }
    }
    found
}

fn is_sealed(definition: &Definition) -> bool {
    definition.header.split(TOKEN_END).any(|token| token == "sealed")
}
