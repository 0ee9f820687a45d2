//! Python: modules and packages, imported names, attributes by light type inference.

mod annotations;
mod assignment;
mod class;
mod control_flow;
mod dataclasses;
mod expression;
mod function;
mod import;
mod modules;
mod statement;
mod string_references;
mod type_aliases;

use std::collections::HashSet;
use std::ops::Range;

use crate::error_regions::{self, CommentSyntax};
use crate::fact_builder::FactBuilder;
use crate::facts::{Definition, DefinitionKind, Facts, Reach, Role, Shape};
use crate::language::{Language, Rules};
use crate::reference::{FileReferences, MissingName, Place, Reference, Target};
use crate::resolve;
use crate::syntax::{parse, problems, unread_lines};
use crate::world::{FileId, World};

const SCRIPT: CommentSyntax = CommentSyntax { comment: "#", quotes: &['"', '\''] };

pub(super) struct Python;

impl Rules for Python {
    fn facts(&self, path: &str, text: &str) -> Facts {
        let mut facts = self.facts_with_unbound_names(path, text);
        self.drop_unbound_names(&mut facts);
        facts
    }

    fn notes_unbound_names(&self) -> bool {
        true
    }

    fn drop_unbound_names(&self, facts: &mut Facts) {
        drop_foreign_names(facts);
    }

    fn facts_with_unbound_names(&self, _path: &str, text: &str) -> Facts {
        let Some(tree) = parse(&tree_sitter_python::LANGUAGE.into(), text) else {
            return Facts::unparsable(Language::Python);
        };
        let mut walk = Walk::new(FactBuilder::new(Language::Python, text));
        walk.module(tree.root_node());
        error_regions::add_uses(&tree, text, SCRIPT, &mut walk.found.facts);
        let mut facts = walk.finish();
        facts.problems += problems(&tree);
        facts.unread = unread_lines(&tree, text);
        facts
    }

    fn referrers(&self, world: &dyn World, target: &Target<'_>) -> Vec<Reference> {
        resolve::referrers(world, &modules::Packages, target)
    }

    fn users(
        &self,
        world: &dyn World,
        targets: &[Target<'_>],
        with_losses: bool,
        is_over: &dyn Fn() -> bool,
    ) -> Vec<(usize, Reference)> {
        resolve::users(world, &modules::Packages, targets, with_losses, is_over)
    }

    fn missing_members(&self, world: &dyn World, file: FileId, lines: &[Range<u32>]) -> Vec<MissingName> {
        resolve::missing_members(world, &modules::Packages, file, lines)
    }

    fn missing_names(&self, world: &dyn World, file: FileId) -> Vec<MissingName> {
        resolve::missing_names(world, &modules::Packages, file)
    }

    fn unresolved_imports(&self, world: &dyn World, file: FileId) -> Vec<Place> {
        resolve::unresolved_imports(world, &modules::Packages, file)
    }

    fn outgoing(&self, world: &dyn World, file: FileId) -> FileReferences {
        resolve::outgoing(world, &modules::Packages, file)
    }

    fn reexport_outlives_removal(&self, handing: &Facts) -> bool {
        // A module with `__getattr__` creates missing names.
        handing
            .definitions
            .iter()
            .any(|definition| &*definition.name == "__getattr__" && definition.container.is_none())
    }

    fn dynamic_export_is_uncallable(&self, handing: &Facts) -> bool {
        let getter = handing
            .definitions
            .iter()
            .find(|definition| &*definition.name == "__getattr__" && definition.container.is_none());
        let gives = match getter.and_then(|definition| definition.gives.as_ref()) {
            Some(Shape::Function(_, gives)) => Some(&**gives),
            gives => gives,
        };
        matches!(gives, Some(Shape::Of(name)) if matches!(&**name, "str" | "int" | "float" | "bool" | "bytes"))
    }

    fn hides(&self, world: &dyn World, file: FileId, function: &Definition) -> bool {
        resolve::is_hidden(world, &modules::Packages, file, function)
    }
}

/// A walk through one module.
struct Walk<'t> {
    found: FactBuilder<'t>,
    /// The return values of the open functions.
    returns: Vec<Returns>,
    /// The enclosing classes (by their names in the file) and functions (`None`).
    frames: Vec<Option<Box<str>>>,
    /// The names in `__all__`, if the module declares it.
    all: Option<Vec<Box<str>>>,
    /// Set if `__all__` is computed in a way that cannot be read.
    all_is_open: bool,
    /// Functions that are declared by overloads, with their containers.
    overloaded: HashSet<(Option<Box<str>>, Box<str>)>,
    /// The classes whose variables are instances of the class.
    enumerations: HashSet<Box<str>>,
    /// The type of the first parameter of a function that is written as the next argument.
    expected: Option<Shape>,
}

/// The returned and yielded values of a function, as far as it was walked.
#[derive(Default)]
struct Returns {
    values: Vec<Shape>,
    yields: Vec<Shape>,
    generator: bool,
    declared: Option<Shape>,
}

impl<'t> Walk<'t> {
    fn new(found: FactBuilder<'t>) -> Self {
        Self {
            found,
            returns: Vec::new(),
            frames: Vec::new(),
            all: None,
            all_is_open: false,
            overloaded: HashSet::new(),
            enumerations: HashSet::new(),
            expected: None,
        }
    }

    /// Completes the facts after the module was walked: marks the names that `*` imports.
    fn finish(self) -> Facts {
        let mut facts = self.found.facts;
        let all = if self.all_is_open { None } else { self.all };
        let offered = |name: &str| match &all {
            Some(all) => all.iter().any(|offered| **offered == *name),
            None => !name.starts_with('_'),
        };
        for definition in &mut facts.definitions {
            let local = definition.container.is_none();
            if definition.reach == Reach::Everyone && local && !offered(&definition.name) {
                definition.reach = Reach::Package;
            }
        }
        facts.missing_exports = promised(&facts, all.as_deref().unwrap_or_default());
        facts.imports = offer(std::mem::take(&mut facts.imports), offered);
        facts
    }
}

/// Returns the names in `__all__` that the module does not define, as far as visible.
fn promised(facts: &Facts, all: &[Box<str>]) -> Vec<Box<str>> {
    if facts.imports.iter().any(|import| import.glob) {
        return Vec::new();
    }
    let defined = facts
        .definitions
        .iter()
        .filter(|definition| definition.container.is_none())
        .map(|definition| &*definition.name);
    let taken = facts.imports.iter().flat_map(|import| import.names.iter().map(|name| &*name.local));
    let modules = facts.imports.iter().filter(|import| import.names.is_empty());
    let modules =
        modules.filter_map(|import| import.alias.as_deref().or_else(|| import.module.split('.').next()));
    let known: HashSet<&str> = defined.chain(taken).chain(modules).collect();
    all.iter().filter(|name| !known.contains(&***name)).cloned().collect()
}

/// Marks the imports whose names `*` imports: a statement with both kinds of names becomes two.
fn offer(imports: Vec<crate::facts::Import>, offered: impl Fn(&str) -> bool) -> Vec<crate::facts::Import> {
    let mut all = Vec::with_capacity(imports.len());
    for mut import in imports {
        if import.container.is_some() {
            all.push(import);
            continue;
        }
        if import.names.is_empty() {
            let name = import.alias.as_deref().or_else(|| import.module.split('.').next());
            import.reexport = import.glob || name.is_some_and(&offered);
            all.push(import);
            continue;
        }
        let (yes, no): (Vec<_>, Vec<_>) = import.names.drain(..).partition(|name| offered(&name.local));
        for (names, reexport) in [(yes, true), (no, false)] {
            if !names.is_empty() {
                all.push(crate::facts::Import { names, reexport, ..import.clone() });
            }
        }
    }
    all
}

/// Drops bare names that the file neither defines nor imports: they are builtins, unless a `*` may import
/// them.
fn drop_foreign_names(facts: &mut Facts) {
    use std::collections::HashSet;
    if facts.imports.iter().any(|import| import.glob) {
        return;
    }
    let mut known: HashSet<&str> = HashSet::new();
    for import in &facts.imports {
        known.extend(import.names.iter().map(|name| &*name.local));
        known.extend(import.alias.as_deref());
        if import.names.is_empty() && import.alias.is_none() {
            known.extend(import.module.split('.').next());
        }
    }
    let types = facts.definitions.iter().filter(|definition| definition.kind != DefinitionKind::Method);
    known.extend(types.map(|definition| &*definition.name));
    facts
        .uses
        .retain(|usage| usage.of.is_some() || usage.role == Role::Quoted || known.contains(&*usage.name));
}

#[cfg(test)]
mod tests;
