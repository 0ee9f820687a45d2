//! TypeScript and JavaScript: modules, imported names, members by light type inference.

mod alias;
mod call;
mod class;
mod config;
mod destructuring;
mod expression;
mod function;
mod grammar_workarounds;
mod identifiers;
mod imports_exports;
mod jsx;
mod mock;
pub(crate) mod modules;
mod object_parts;
mod statement;
mod types;
mod variable;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::error_regions::{self, CommentSyntax};
use crate::fact_builder::FactBuilder;
use crate::facts::{DefinitionKind, Facts, Reach, Shape};
use crate::language::{Language, Rules};
use crate::reference::{FileReferences, MissingName, Place, Reference, Target};
use crate::resolve;
use crate::syntax::{problems, unread_lines};
use crate::world::{FileId, World};

const SCRIPT: CommentSyntax = CommentSyntax { comment: "//", quotes: &['"', '\''] };

/// The rules of TypeScript and JavaScript.
pub(super) struct TypeScript;

impl Rules for TypeScript {
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

    fn facts_with_unbound_names(&self, path: &str, text: &str) -> Facts {
        let language = Language::of(path);
        let grammar = match language {
            Language::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Language::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            _ => tree_sitter_javascript::LANGUAGE.into(),
        };
        let elements = language != Language::TypeScript;
        let Some(tree) = grammar_workarounds::parsed(&grammar, text, elements) else {
            return Facts::unparsable(language);
        };
        let mut walk = Walk::new(FactBuilder::new(language, text));
        walk.program(tree.root_node());
        error_regions::add_uses(&tree, text, SCRIPT, &mut walk.found.facts);
        let mut facts = walk.finish();
        facts.problems += problems(&tree);
        facts.unread = unread_lines(&tree, text);
        facts.suppressed_lines = unchecked(text);
        facts
    }

    fn referrers(&self, world: &dyn World, target: &Target<'_>) -> Vec<Reference> {
        resolve::referrers(world, &*modules::Modules::new(world), target)
    }

    fn users(
        &self,
        world: &dyn World,
        targets: &[Target<'_>],
        with_losses: bool,
        is_over: &dyn Fn() -> bool,
    ) -> Vec<(usize, Reference)> {
        resolve::users(world, &*modules::Modules::new(world), targets, with_losses, is_over)
    }

    fn missing_members(&self, world: &dyn World, file: FileId, lines: &[Range<u32>]) -> Vec<MissingName> {
        resolve::missing_members(world, &*modules::Modules::new(world), file, lines)
    }

    fn missing_names(&self, world: &dyn World, file: FileId) -> Vec<MissingName> {
        resolve::missing_names(world, &*modules::Modules::new(world), file)
    }

    fn unresolved_imports(&self, world: &dyn World, file: FileId) -> Vec<Place> {
        resolve::unresolved_imports(world, &*modules::Modules::new(world), file)
    }

    fn outgoing(&self, world: &dyn World, file: FileId) -> FileReferences {
        resolve::outgoing(world, &*modules::Modules::new(world), file)
    }
}

/// A walk through one module.
struct Walk<'t> {
    found: FactBuilder<'t>,
    /// The return values of the open functions: declared and found.
    returns: Vec<Returns>,
    /// The expected result of the next function, which declares none.
    wanted: Option<Shape>,
    /// The shapes of `this`, innermost last.
    this: Vec<Shape>,
    /// Type parameters in scope, with their constraints.
    generics: Vec<HashMap<Box<str>, Shape>>,
    /// The number of enclosing namespaces.
    namespaces: usize,
}

/// The return values of a function.
#[derive(Default)]
struct Returns {
    declared: Option<Shape>,
    values: Vec<Shape>,
    yields: bool,
}

impl<'t> Walk<'t> {
    fn new(found: FactBuilder<'t>) -> Self {
        Self {
            found,
            returns: Vec::new(),
            wanted: None,
            this: Vec::new(),
            generics: Vec::new(),
            namespaces: 0,
        }
    }

    /// Completes the facts after the module was walked: a definition may be exported in a list, before or
    /// after it.
    fn finish(self) -> Facts {
        let mut facts = self.found.facts;
        let mut offered: HashMap<(Option<Box<str>>, Box<str>), Reach> = HashMap::new();
        for import in facts.imports.iter().filter(|import| import.module.is_empty()) {
            for name in &import.names {
                let reach = if name.local == name.name { Reach::Everyone } else { Reach::Package };
                let known = offered.entry((import.container.clone(), name.name.clone())).or_insert(reach);
                *known = (*known).max(reach);
            }
        }
        for definition in &mut facts.definitions {
            let offered = offered.get(&(definition.container.clone(), definition.name.clone()));
            let is_member = matches!(definition.kind, DefinitionKind::Method | DefinitionKind::Field);
            if let Some(reach) = offered.filter(|_| !is_member) {
                definition.reach = definition.reach.max(*reach);
            }
        }
        facts
    }
}

/// Returns the lines after a comment that suppresses the checker's errors.
fn unchecked(text: &str) -> Vec<u32> {
    let is_told = |line: &str| line.contains("@ts-ignore") || line.contains("@ts-expect-error");
    (2..).zip(text.lines()).filter(|(_, line)| is_told(line)).map(|(next, _)| next).collect()
}

/// Drops bare names that the file neither defines nor imports: they are globals outside the project.
fn drop_foreign_names(facts: &mut Facts) {
    let mut known: HashSet<&str> = HashSet::new();
    for import in &facts.imports {
        known.extend(import.names.iter().map(|name| &*name.local));
        known.extend(import.alias.as_deref());
    }
    known.extend(facts.definitions.iter().map(|definition| &*definition.name));
    facts.uses.retain(|usage| usage.of.is_some() || known.contains(&*usage.name));
}

#[cfg(test)]
mod tests;
