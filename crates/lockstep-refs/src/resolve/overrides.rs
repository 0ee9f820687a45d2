//! Overrides: members redefined by subtypes and implementations, and by the wanted member itself.

use foldhash::HashSet;

use super::Symbol;
use super::names::{Defined, Resolver, View};
use super::search::{Search, is_member};
use crate::facts::{ANY_MEMBER, Definition, DefinitionKind, Role};
use crate::reference::{Certainty, Kind, Reference, Target};
use crate::world::FileId;

impl Search<'_, '_> {
    /// Finds members of other types that override a wanted one.
    pub(super) fn redefinitions(&mut self, file: FileId, view: &View) {
        for (at, definition) in (0_u32..).zip(&view.facts.definitions) {
            let Some(container) = &definition.container else { continue };
            if !self.words.contains(&definition.name)
                || !is_member(definition)
                || !self.resolver.scheme.compares_redefinition(&definition.name)
            {
                continue;
            }
            let Some(class) = view.at(container).first() else { continue };
            let members = self.resolver.inherited(Symbol { file, at: *class }, &definition.name);
            let wanted = members.symbols.iter().find_map(|symbol| self.wanted.get(symbol).copied());
            // In structural languages, a method without parameters fits any other.
            let takes_nothing = definition.arity.is_none_or(|arity| arity.most == Some(0));
            let fits = takes_nothing && self.resolver.scheme.is_structural();
            let role = match (self.implements(view, *class, members.symbols.first().copied()), fits) {
                (true, true) => Role::Require,
                (true, false) => Role::Implement,
                (false, true) if definition.kind == DefinitionKind::Method => continue,
                (false, _) => Role::Redefine,
            };
            if let Some(wanted) = wanted {
                self.found.push(Reference {
                    file,
                    line: definition.line,
                    kind: Kind::Symbol,
                    role,
                    certainty: Certainty::Resolved,
                    pattern: definition.name.clone(),
                    symbol: Some(wanted),
                    arguments: None,
                    through: None,
                    within: Some(at),
                });
            }
        }
    }

    /// Finds classes that inherit a wanted member, and declare to implement an interface that requires it.
    pub(super) fn unfulfilled(&mut self, file: FileId, view: &View) {
        let target = self.target;
        for (at, definition) in (0_u32..).zip(&view.facts.definitions) {
            if definition.kind != DefinitionKind::Type || definition.extends.len() < 2 {
                continue;
            }
            let class = Symbol { file, at };
            for (position, member) in
                target.symbols.iter().enumerate().filter(|(_, symbol)| is_member(symbol))
            {
                let name = &member.name;
                let has = self.resolver.inherited(class, name).symbols;
                let own = self.resolver.members(class, name).symbols;
                let is_wanted = |symbol: &Symbol| self.wanted.get(symbol) == Some(&position);
                if own != has || !has.iter().any(is_wanted) {
                    continue;
                }
                let asks = |base: Symbol| {
                    let asked = self.resolver.members(base, name).symbols;
                    let is_interface = |defined: Defined| defined.kind == DefinitionKind::Interface;
                    !asked.is_empty()
                        && !asked.iter().any(is_wanted)
                        && self.resolver.definition(base).is_some_and(is_interface)
                };
                if self.resolver.bases(class, &mut false).into_iter().any(asks) {
                    self.found.push(Reference {
                        file,
                        line: definition.line,
                        kind: Kind::Symbol,
                        role: Role::Conform,
                        certainty: Certainty::Resolved,
                        pattern: name.clone(),
                        symbol: Some(position),
                        arguments: None,
                        through: None,
                        within: Some(at),
                    });
                }
            }
        }
    }

    /// Returns true if a class declares to implement the owner of a member, and inherits nothing from it.
    fn implements(&self, view: &View, class: u32, member: Option<Symbol>) -> bool {
        self.resolver.scheme.is_structural()
            && view.definition(class).is_some_and(|definition| definition.kind == DefinitionKind::Type)
            && member.is_some_and(|symbol| is_of_interface(self.resolver, symbol))
    }
}

/// Returns true if the owner of a member is an interface.
pub(super) fn is_of_interface(resolver: &Resolver<'_>, member: Symbol) -> bool {
    let owner = || {
        let view = resolver.view(member.file)?;
        let path = view.definition(member.at)?.container.clone()?;
        Some(view.definition(*view.at(&path).first()?)?.kind)
    };
    owner() == Some(DefinitionKind::Interface)
}

/// Returns the wanted members whose type also inherits a member of that name: if they are removed, that one
/// remains.
pub(super) fn redeclared(resolver: &Resolver<'_>, target: &Target<'_>, homes: &[FileId]) -> HashSet<usize> {
    let members =
        target.symbols.iter().zip(homes).enumerate().filter(|(_, (definition, _))| is_member(definition));
    let has_another = |definition: &Definition, file: FileId| {
        let class = || Some(*resolver.view(file)?.at(definition.container.as_deref()?).first()?);
        class().is_some_and(|at| {
            let class = Symbol { file, at };
            // With an index signature, an undeclared name exists, with the type of all names.
            if definition.kind == DefinitionKind::Field
                && !resolver.members(class, ANY_MEMBER).symbols.is_empty()
            {
                return true;
            }
            let is_class =
                resolver.definition(class).is_some_and(|defined| defined.kind == DefinitionKind::Type);
            // A class gets nothing from the interfaces that it implements.
            let remains = |symbol: &&Symbol| {
                !(is_class && resolver.scheme.is_structural() && is_of_interface(resolver, **symbol))
            };
            let inherited = resolver.inherited(class, &definition.name).symbols;
            // A method must have the same signature; a field just has to exist.
            inherited.iter().filter(remains).filter_map(|symbol| resolver.definition(*symbol)).any(|other| {
                definition.kind != DefinitionKind::Method
                    || !resolver.scheme.is_structural()
                    || other.signature == definition.signature
            })
        })
    };
    members.filter(|(_, (definition, file))| has_another(definition, **file)).map(|(at, _)| at).collect()
}
