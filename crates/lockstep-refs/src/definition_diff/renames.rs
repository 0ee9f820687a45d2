//! Renamed definitions, and the changes that only follow from a rename.

use std::collections::{BTreeMap, BTreeSet};

use super::{DefinitionChangeKind, SymbolChange};
use crate::facts::{Definition, DefinitionKind, Facts, Shape};
use crate::language::Language;
use crate::resolve::path_of;
use crate::syntax::equal_after_rename;

/// A definition with another name.
struct Renamed {
    container: Option<Box<str>>,
    from: Box<str>,
    to: Box<str>,
}

impl Renamed {
    fn of(change: &SymbolChange) -> Option<Self> {
        let to = change.what.new_name()?.into();
        Some(Self { container: change.was.container.clone(), from: change.was.name.clone(), to })
    }
}

/// Removes changes that only follow from another rename: of a signature that contains the renamed name, and
/// of a type whose member was renamed.
pub(super) fn settle_renames(
    language: Language,
    changes: &mut Vec<SymbolChange>,
    touched: &[(usize, &Definition)],
    aliases: &BTreeMap<&str, &str>,
) {
    use Language::{CSharp, Kotlin, Php, Swift};
    let by_alias =
        |(from, to): (&&str, &&str)| Renamed { container: None, from: (*from).into(), to: (*to).into() };
    let renamed: Vec<Renamed> =
        changes.iter().filter_map(Renamed::of).chain(aliases.iter().map(by_alias)).collect();
    let mut settled = BTreeSet::new();
    for (at, is) in touched {
        let change = &mut changes[*at];
        let was = &change.was;
        if matches!(
            change.what,
            DefinitionChangeKind::SignatureChanged { .. } | DefinitionChangeKind::Compatible
        ) && renamed.iter().any(|rename| {
            // A renamed property is also the name of a parameter of the constructor.
            let is_constructor =
                was.kind == DefinitionKind::Method && matches!(language, CSharp | Kotlin | Php | Swift);
            let is_parameter = is_constructor && rename.container == was.container;
            !is_parameter && equal_after_rename(was.signature, is.signature, &rename.from, &rename.to)
        }) {
            change.what = DefinitionChangeKind::BodyChanged;
        }
        let path = path_of(was);
        let explains = |before: u64, now: u64| {
            before == now
                || renamed.iter().any(|rename| {
                    rename.container.as_deref() == Some(&*path)
                        && equal_after_rename(before, now, &rename.from, &rename.to)
                })
        };
        let other = is.signature != was.signature || is.body != was.body;
        if change.what == DefinitionChangeKind::BodyChanged
            && is_type(was)
            && other
            && explains(was.signature, is.signature)
            && explains(was.body, is.body)
        {
            settled.insert(*at);
        }
    }
    let mut at = 0;
    changes.retain(|_| {
        at += 1;
        !settled.contains(&(at - 1))
    });
}

/// Removes changes of signatures that consist only of a new name for a type of another file. `new` is the present content.
pub(crate) fn settle_foreign_renames(
    changes: &mut [SymbolChange],
    new: &Facts,
    renamed: &[(Box<str>, Box<str>)],
) {
    let resigned = changes.iter_mut().filter(|change| {
        matches!(
            change.what,
            DefinitionChangeKind::SignatureChanged { .. } | DefinitionChangeKind::Compatible
        )
    });
    for change in resigned {
        let was = &change.was;
        let same = |definition: &&Definition| {
            definition.name == was.name
                && definition.kind == was.kind
                && definition.container == was.container
                && definition.arity == was.arity
        };
        let explains = |is: &Definition| {
            renamed.iter().any(|(from, to)| equal_after_rename(was.signature, is.signature, from, to))
        };
        if new.definitions.iter().filter(same).any(explains) {
            change.what = DefinitionChangeKind::BodyChanged;
        }
    }
}

/// Removes changes of numbered headings. Headings with the same text are numbered, so adding or removing one
/// renumbers the others, but does not change them.
pub(super) fn settle_sections(changes: &mut Vec<SymbolChange>, new: &Facts) {
    let title = |name: &str| {
        let bare = name.trim_end_matches(|c: char| c.is_ascii_digit());
        bare.strip_suffix('-').filter(|_| bare.len() < name.len()).unwrap_or(name).to_owned()
    };
    let remains = |was: &Definition| {
        let same = |definition: &&Definition| {
            definition.kind == DefinitionKind::Section
                && definition.body == was.body
                && title(&definition.name) == title(&was.name)
        };
        new.definitions.iter().find(same)
    };
    let is_section = |change: &SymbolChange| change.was.kind == DefinitionKind::Section;
    changes.retain(|change| {
        !(is_section(change)
            && change.what == DefinitionChangeKind::BodyChanged
            && remains(&change.was).is_some())
    });
    for change in
        changes.iter_mut().filter(|change| is_section(change) && change.what == DefinitionChangeKind::Removed)
    {
        if let Some(now) = remains(&change.was) {
            change.what = DefinitionChangeKind::Renamed(now.name.clone());
        }
    }
}
fn is_type(definition: &Definition) -> bool {
    use DefinitionKind::{Interface, Module, Type};
    matches!(definition.kind, Type | Interface | Module)
}

/// Returns the types that were renamed in place, by their former names.
pub(crate) fn renamed_types<'a>(old: &'a Facts, new: &'a Facts) -> BTreeMap<&'a str, &'a str> {
    let (lost, mut won) = (removed_types(old, new), removed_types(new, old));
    let mut renamed = BTreeMap::new();
    for was in lost {
        let members = |facts: &'a Facts, name: &str| -> BTreeSet<&'a str> {
            let inside = |d: &&Definition| d.container.as_deref() == Some(name);
            facts.definitions.iter().filter(inside).map(|d| &*d.name).collect()
        };
        let same = |is: &&Definition| {
            is.kind == was.kind
                && is.container == was.container
                && (is.body == was.body || members(old, &was.name) == members(new, &is.name))
        };
        if let Some(at) = won.iter().position(same) {
            renamed.insert(&*was.name, &*won.remove(at).name);
        }
    }
    renamed
}

/// Returns the types that have another name now while their former one is an alias for it: the alias, then the new name.
pub(super) fn aliases_of_renamed<'a>(old: &'a Facts, new: &'a Facts) -> BTreeMap<&'a str, &'a str> {
    let is_own = |definition: &&Definition| is_type(definition) && definition.container.is_none();
    let named = |facts: &'a Facts, name: &str| {
        let mut types =
            facts.definitions.iter().filter(is_own).filter(|definition| *definition.name == *name);
        types.next().filter(|_| types.next().is_none())
    };
    let mut found = BTreeMap::new();
    for alias in new.definitions.iter().filter(is_own) {
        let Some(Shape::Of(to)) = &alias.gives else { continue };
        let to = to.trim_start_matches("self::");
        let (Some(was), Some(is)) = (named(old, &alias.name), named(new, to)) else { continue };
        let is_renamed = was.gives == is.gives && named(old, to).is_none() && was.kind == is.kind;
        // In Rust, an alias of a tuple struct or of a unit struct makes no value of it.
        let makes_values = new.language != Language::Rust || has_named_members(new, to);
        if is_renamed && makes_values && is.reach >= was.reach && is.arity == was.arity {
            found.insert(&*was.name, &*is.name);
        }
    }
    found
}

/// Returns true if a type has fields or variants with names, in place of positions.
fn has_named_members(facts: &Facts, container: &str) -> bool {
    let mut members =
        facts.definitions.iter().filter(|definition| definition.container.as_deref() == Some(container));
    members.any(|definition| {
        matches!(definition.kind, DefinitionKind::Field | DefinitionKind::Variant)
            && !definition.name.starts_with(|first: char| first.is_ascii_digit())
    })
}

/// Returns the types of one content that the other does not have in any place.
fn removed_types<'a>(from: &'a Facts, to: &Facts) -> Vec<&'a Definition> {
    let places = |facts: &'_ Facts| -> BTreeSet<(Option<Box<str>>, Box<str>)> {
        let types = facts.definitions.iter().filter(|d| is_type(d) || is_object(d));
        types.map(|d| (d.container.clone(), d.name.clone())).collect()
    };
    let (before, after) = (places(from), places(to));
    let moved: BTreeSet<&str> = after.difference(&before).map(|(_, name)| &**name).collect();
    let remains =
        |d: &Definition| moved.contains(&*d.name) || after.contains(&(d.container.clone(), d.name.clone()));
    let owners: BTreeSet<&str> = from.definitions.iter().filter_map(|d| d.container.as_deref()).collect();
    // An object is identified by its members, like a type.
    let holds = |d: &Definition| is_type(d) || (is_object(d) && owners.contains(&*d.name));
    from.definitions.iter().filter(|d| holds(d) && !remains(d)).collect()
}

pub(super) struct RemovedTypes<'a> {
    /// Names that no type has any more: all members of such a type are removed with it.
    names: BTreeSet<&'a str>,
    /// All paths: another type may have the same name, like an associated type and its trait.
    paths: BTreeSet<String>,
}

impl<'a> RemovedTypes<'a> {
    pub(super) fn new(old: &'a Facts, new: &'a Facts) -> Self {
        let lost = removed_types(old, new);
        let remain: BTreeSet<&str> =
            new.definitions.iter().filter(|d| is_type(d) || is_object(d)).map(|d| &*d.name).collect();
        let names = lost.iter().map(|was| &*was.name).filter(|name| !remain.contains(name));
        Self { names: names.collect(), paths: lost.iter().map(|was| path_of(was)).collect() }
    }

    /// Returns true if a path is one of them, or inside one.
    pub(super) fn holds(&self, path: &str) -> bool {
        let ends = path.match_indices('.').map(|(at, _)| at).chain([path.len()]);
        path.split('.').any(|part| self.names.contains(part))
            || ends.into_iter().any(|end| self.paths.contains(&path[..end]))
    }
}

/// Returns true if it may be an object whose properties are separate definitions.
fn is_object(definition: &Definition) -> bool {
    definition.kind == DefinitionKind::Value && definition.container.is_none() && definition.gives.is_none()
}

/// Returns the path of a container with the new names of renamed types.
pub(crate) fn renamed_path(path: &str, renamed: &BTreeMap<&str, &str>) -> String {
    path.split('.').map(|part| *renamed.get(part).unwrap_or(&part)).collect::<Vec<_>>().join(".")
}

/// Returns the added definition that replaces a missing one: the same body or, if there is only one
/// candidate, the same kind in the same container.
pub(super) fn find_rename(
    was: &Definition,
    added: &mut Vec<&Definition>,
    renamed: &BTreeMap<&str, &str>,
) -> Option<Box<str>> {
    let container = was.container.as_deref().map(|path| renamed_path(path, renamed));
    let fits = |is: &Definition| {
        is.kind == was.kind && is.container.as_deref() == container.as_deref() && is.reach >= was.reach
    };
    let known = renamed.get(&*was.name).copied();
    let at = added
        .iter()
        .position(|is| fits(is) && known == Some(&*is.name))
        .or_else(|| added.iter().position(|is| fits(is) && is.body == was.body && is.arity == was.arity))
        .or_else(|| {
            let mut fitting =
                added.iter().enumerate().filter(|(_, is)| fits(is) && is.signature == was.signature);
            match (fitting.next(), fitting.next()) {
                (Some((at, _)), None) => Some(at),
                _ => None,
            }
        })?;
    Some(added.remove(at).name.clone())
}
