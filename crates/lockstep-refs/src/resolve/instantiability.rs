//! Classes that can no longer be instantiated: they must define an abstract member, and have lost it, or it
//! is required under another name. A place that instantiates one need not name the member or the type that
//! requires it.

use super::Symbol;
use super::names::{Defined, Entity, Mode, Resolver};
use super::search::{Search, is_member};
use super::types::Type;
use crate::facts::{ABSTRACT, Definition, DefinitionKind, Role, Use};
use crate::reference::{Certainty, Target};
use crate::world::FileId;

/// Returns the positions of the wanted members without which some class cannot be instantiated.
pub(super) fn needed(resolver: &Resolver<'_>, target: &Target<'_>, homes: &[FileId]) -> Vec<usize> {
    let is_needed = |definition: &Definition, file: FileId| {
        let asks = || {
            let at = *resolver.view(file)?.at(definition.container.as_deref()?).first()?;
            Some(asks_for(resolver, Symbol { file, at }, &definition.name))
        };
        is_abstract(definition) || asks().unwrap_or(false)
    };
    let members =
        target.symbols.iter().zip(homes).enumerate().filter(|(_, (definition, _))| is_member(definition));
    members.filter(|(_, (definition, file))| is_needed(definition, **file)).map(|(at, _)| at).collect()
}

fn is_abstract(definition: &Definition) -> bool {
    definition.extends.iter().any(|base| &**base == ABSTRACT)
}

/// Returns true if a base of a class requires a member.
fn asks_for(resolver: &Resolver<'_>, class: Symbol, name: &str) -> bool {
    let asked = resolver.inherited(class, name).symbols;
    asked.iter().filter_map(|symbol| resolver.definition(*symbol)).any(|defined| is_abstract(&defined))
}

impl Search<'_, '_> {
    /// Returns the classes of the needed members.
    pub(super) fn needing(&self) -> Vec<Box<str>> {
        let of = |at: &usize| self.target.symbols.get(*at)?.container.clone();
        self.needed.iter().filter_map(of).map(|path| super::search::last(&path).into()).collect()
    }

    /// Returns the needed member without which a class could no longer be instantiated, and its role.
    pub(super) fn builds(&self, class: Symbol) -> Option<(usize, Role)> {
        let is_class = |defined: Defined| defined.kind == DefinitionKind::Type;
        if self.needed.is_empty() || !self.resolver.definition(class).is_some_and(is_class) {
            return None;
        }
        self.needed.iter().find_map(|at| {
            let wanted = self.target.symbols.get(*at)?;
            let own = self.resolver.members(class, &wanted.name).symbols;
            let is_wanted = own.iter().any(|symbol| self.wanted.get(symbol) == Some(at));
            match (is_abstract(wanted), is_wanted) {
                // The class has the member that is required now, but not the future one.
                (true, false) => self.redefines(class, *at).then_some((*at, Role::Require)),
                (false, true) => Some((*at, Role::Inherited)),
                _ => None,
            }
        })
    }

    /// Returns true if a class overrides the wanted member.
    fn redefines(&self, class: Symbol, at: usize) -> bool {
        let Some(wanted) = self.target.symbols.get(at) else { return false };
        let mut classes = vec![class];
        let mut next = 0;
        while let Some(class) = classes.get(next).copied() {
            next += 1;
            let inherited = self.resolver.inherited(class, &wanted.name).symbols;
            if inherited.iter().any(|symbol| self.wanted.get(symbol) == Some(&at)) {
                return true;
            }
            let bases = self.resolver.bases(class, &mut false).into_iter();
            let new: Vec<Symbol> = bases.filter(|symbol| !classes.contains(symbol)).collect();
            classes.extend(new);
        }
        false
    }

    /// A call that builds a value of a class that is named after something.
    pub(super) fn builds_of(&mut self, file: FileId, usage: &Use, of: &[Type]) {
        if self.needed.is_empty() || usage.role != Role::Call {
            return;
        }
        for one in of {
            let Type::Module(module) = one else { continue };
            for hit in self.resolver.exported(module, &usage.name, Mode::Named) {
                if let Entity::Symbol(symbol) = hit.entity {
                    self.keep_built(file, usage, symbol);
                }
            }
        }
    }

    pub(super) fn keep_built(&mut self, file: FileId, usage: &Use, class: Symbol) {
        if let Some((at, role)) = self.builds(class).filter(|_| usage.role == Role::Call) {
            self.keep_use(file, &Use { role, ..usage.clone() }, at, Certainty::Resolved, None);
            // The inherited member is the one that requires it.
            if let Some(last) = self.found.last_mut() {
                last.role = role;
            }
        }
    }
}
