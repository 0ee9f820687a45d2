//! TypeScript and JavaScript: modules, names brought in by imports, members by light inference.

mod alias;
mod class;
mod config;
mod element;
mod exchange;
mod expression;
mod function;
mod mend;
mod modules;
mod name;
mod pattern;
mod statement;
mod types;
mod variable;

use std::collections::{HashMap, HashSet};

use crate::collect::Collector;
use crate::facts::{DefinitionKind, Facts, Reach, Shape};
use crate::language::{Language, Rules};
use crate::reference::{MissingName, Outgoing, Reference, Target};
use crate::resolve;
use crate::syntax::{problems, unread_lines};
use crate::unread::{self, Script};
use crate::world::{FileId, World};

const SCRIPT: Script = Script { comment: "//", quotes: &['"', '\''] };

/// The rules of TypeScript and JavaScript.
pub(super) struct TypeScript;

impl Rules for TypeScript {
    fn facts(&self, path: &str, text: &str) -> Facts {
        let mut facts = self.facts_with_unbound_names(path, text);
        drop_foreign_names(&mut facts);
        facts
    }

    fn facts_with_unbound_names(&self, path: &str, text: &str) -> Facts {
        let language = Language::of(path);
        let grammar = match language {
            Language::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Language::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            _ => tree_sitter_javascript::LANGUAGE.into(),
        };
        let elements = language != Language::TypeScript;
        let Some(tree) = mend::parsed(&grammar, text, elements) else {
            return Facts::unparsable(language);
        };
        let mut walk = Walk::new(Collector::new(language, text));
        walk.program(tree.root_node());
        walk.found.facts.uses.extend(unread::uses(&tree, text, SCRIPT));
        let mut facts = walk.finish();
        facts.problems += problems(&tree);
        facts.unread = unread_lines(&tree, text);
        facts.unchecked = unchecked(text);
        facts
    }

    fn referrers(&self, world: &dyn World, target: &Target<'_>) -> Vec<Reference> {
        resolve::referrers(world, &modules::Modules::new(world), target)
    }

    fn missing_names(&self, world: &dyn World, file: FileId) -> Vec<MissingName> {
        resolve::missing_names(world, &modules::Modules::new(world), file)
    }

    fn outgoing(&self, world: &dyn World, file: FileId) -> Outgoing {
        resolve::outgoing(world, &modules::Modules::new(world), file)
    }
}

/// A walk through one module.
struct Walk<'t> {
    found: Collector<'t>,
    /// What the functions that are being walked return: what they declare, and what was seen.
    returns: Vec<Returns>,
    /// What `this` is, innermost last.
    this: Vec<Shape>,
    /// Type parameters in scope, with what they extend.
    generics: Vec<HashMap<Box<str>, Shape>>,
    /// How many namespaces the walk stands in.
    namespaces: usize,
}

/// What a function returns.
#[derive(Default)]
struct Returns {
    declared: Option<Shape>,
    values: Vec<Shape>,
    yields: bool,
}

impl<'t> Walk<'t> {
    fn new(found: Collector<'t>) -> Self {
        Self { found, returns: Vec::new(), this: Vec::new(), generics: Vec::new(), namespaces: 0 }
    }

    /// The facts, once the module is walked: a definition may be exported in a list, before or after it.
    fn finish(self) -> Facts {
        let mut facts = self.found.facts;
        let mut offered: HashMap<(Option<Box<str>>, Box<str>), Reach> = HashMap::new();
        for import in facts.imports.iter().filter(|it| it.module.is_empty()) {
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

/// The lines behind a comment that keeps a checker from telling what is wrong with them.
fn unchecked(text: &str) -> Vec<u32> {
    let is_told = |line: &str| line.contains("@ts-ignore") || line.contains("@ts-expect-error");
    (2..).zip(text.lines()).filter(|(_, line)| is_told(line)).map(|(next, _)| next).collect()
}

/// A bare name that the file neither defines nor imports is a global: not the project's.
fn drop_foreign_names(facts: &mut Facts) {
    let mut known: HashSet<&str> = HashSet::new();
    for import in &facts.imports {
        known.extend(import.names.iter().map(|name| &*name.local));
        known.extend(import.alias.as_deref());
    }
    known.extend(facts.definitions.iter().map(|definition| &*definition.name));
    facts.uses.retain(|it| it.of.is_some() || known.contains(&*it.name));
}

#[cfg(test)]
mod tests;
