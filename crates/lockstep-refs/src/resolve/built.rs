//! Classes that cannot be built any more: one that must define a member before values of it are made, and has lost it or is asked for it under
//! another name. Who builds one names neither the member nor, perhaps, the type that asks for it.

use super::Symbol;
use super::names::{Entity, Mode, Resolver};
use super::search::{Search, is_member};
use super::types::Type;
use crate::facts::{ABSTRACT, Definition, DefinitionKind, Role, Use};
use crate::reference::{Certainty, Target};
use crate::world::FileId;

/// The positions of those wanted members without which some class cannot be built.
pub(super) fn needed(resolver: &Resolver<'_>, target: &Target<'_>) -> Vec<usize> {
    let Some(view) = resolver.view(target.file) else { return Vec::new() };
    let is_needed = |it: &Definition| {
        let class = it.container.as_deref().and_then(|path| view.at(path).first());
        let class = class.map(|at| Symbol { file: target.file, at: *at });
        is_abstract(it) || class.is_some_and(|class| asks_for(resolver, class, &it.name))
    };
    let members = target.symbols.iter().enumerate().filter(|(_, it)| is_member(it));
    members.filter(|(_, it)| is_needed(it)).map(|(at, _)| at).collect()
}

fn is_abstract(definition: &Definition) -> bool {
    definition.extends.iter().any(|it| &**it == ABSTRACT)
}

/// Whether what a class extends asks for a member.
fn asks_for(resolver: &Resolver<'_>, class: Symbol, name: &str) -> bool {
    let asked = resolver.inherited(class, name).symbols;
    asked.iter().filter_map(|it| resolver.definition(*it)).any(|it| is_abstract(&it))
}

impl Search<'_, '_> {
    /// The classes of which the needed members are.
    pub(super) fn needing(&self) -> Vec<Box<str>> {
        let of = |at: &usize| self.target.symbols.get(*at)?.container.clone();
        self.needed.iter().filter_map(of).map(|path| super::search::last(&path).into()).collect()
    }

    /// Which needed member a class could no longer be built without, and how that is.
    pub(super) fn builds(&self, class: Symbol) -> Option<(usize, Role)> {
        let is_class = |it: Definition| it.kind == DefinitionKind::Type;
        if self.needed.is_empty() || !self.resolver.definition(class).is_some_and(is_class) {
            return None;
        }
        self.needed.iter().find_map(|at| {
            let wanted = self.target.symbols.get(*at)?;
            let own = self.resolver.members(class, &wanted.name).symbols;
            let is_wanted = own.iter().any(|it| self.wanted.get(it) == Some(at));
            match (is_abstract(wanted), is_wanted) {
                // It has what is asked for now, and not what will be.
                (true, false) => self.redefines(class, *at).then_some((*at, Role::Require)),
                (false, true) => Some((*at, Role::Inherited)),
                _ => None,
            }
        })
    }

    /// Whether a class has a member in the place of the wanted one.
    fn redefines(&self, class: Symbol, at: usize) -> bool {
        let Some(wanted) = self.target.symbols.get(at) else { return false };
        let mut classes = vec![class];
        let mut next = 0;
        while let Some(class) = classes.get(next).copied() {
            next += 1;
            let inherited = self.resolver.inherited(class, &wanted.name).symbols;
            if inherited.iter().any(|it| self.wanted.get(it) == Some(&at)) {
                return true;
            }
            let bases = self.resolver.bases(class, &mut false).into_iter();
            let new: Vec<Symbol> = bases.filter(|it| !classes.contains(it)).collect();
            classes.extend(new);
        }
        false
    }

    /// A call that builds a value of a class that is named after something.
    pub(super) fn builds_of(&mut self, file: FileId, it: &Use, of: &[Type]) {
        if self.needed.is_empty() || it.role != Role::Call {
            return;
        }
        for one in of {
            let Type::Module(module) = one else { continue };
            for hit in self.resolver.exported(module, &it.name, Mode::Named) {
                if let Entity::Symbol(symbol) = hit.entity {
                    self.keep_built(file, it, symbol);
                }
            }
        }
    }

    /// A call of a class.
    pub(super) fn keep_built(&mut self, file: FileId, it: &Use, class: Symbol) {
        if let Some((at, role)) = self.builds(class).filter(|_| it.role == Role::Call) {
            self.keep_use(file, &Use { role, ..it.clone() }, at, Certainty::Resolved, None);
            // What it would have anyway is what asks for it.
            if let Some(kept) = self.found.last_mut() {
                kept.role = role;
            }
        }
    }
}
