//! Decides whether a use means a searched definition.

use super::super::assignability::Conformance;
use super::super::names::{Entity, Mode};
use super::super::types::{Place as At, Type};
use super::super::{Module, Symbol};
use super::{Search, is_member, last};
use crate::facts::{Definition, DefinitionKind, Role, Shape, Use};
use crate::language::Language;
use crate::reference::{Certainty, Kind};
use crate::world::FileId;

impl Search<'_, '_> {
    /// Checks a value that is used where a type is expected.
    pub(super) fn check_assignability(&mut self, file: FileId, usage: &Use) {
        let Some(Shape::Function(value, expected)) = &usage.of else { return };
        let Some(value) = value.first() else { return };
        self.infers(file, usage, value, expected);
        if !self.target.symbols.iter().any(is_member) {
            return;
        }
        let place = At { file, within: usage.within, this: None };
        let values = self.resolver.types(&place, value);
        if values
            .iter()
            .all(|type_| matches!(type_, Type::Unknown | Type::Untyped | Type::Outside(..) | Type::Module(_)))
        {
            return;
        }
        let expected = self.resolver.types(&place, expected);
        let conformance = Conformance { wanted: &self.wanted, names: &self.names, carriers: &self.carriers };
        let found = self.resolver.misfits(&values, &expected, &conformance);
        for (at, role) in found {
            let Some(wanted) = self.target.symbols.get(at) else { continue };
            let use_ = Use { name: wanted.name.clone(), role, ..usage.clone() };
            self.keep_use(file, &use_, at, Certainty::Resolved, None);
        }
    }

    /// Checks a bare name.
    pub(super) fn check_bare_name(&mut self, file: FileId, usage: &Use) {
        let hits = self.resolver.lookup(file, &usage.name, Mode::Inside);
        for hit in hits.iter() {
            if let Entity::Module(module) = &hit.entity {
                // In CommonJS, a module may be the function or class that it exports.
                for symbol in self.whole_of(module) {
                    if let Some(at) = self.wanted.get(&symbol).copied() {
                        self.keep_use(file, usage, at, Certainty::Resolved, hit.through);
                    }
                }
            }
            let Entity::Symbol(symbol) = hit.entity else { continue };
            if let Some(at) = self.wanted.get(&symbol).copied() {
                self.keep_use(file, usage, at, Certainty::Resolved, hit.through);
            }
            if usage.role == Role::Call
                && let Some(at) = self.constructs(symbol)
            {
                self.keep_use(file, usage, at, Certainty::Resolved, None);
            }
            self.calls_stand_in(file, usage, &[symbol]);
            self.keep_built(file, usage, symbol);
        }
    }

    /// The definitions that a module of JavaScript exports as a whole.
    pub(super) fn whole_of(&self, module: &Module) -> Vec<Symbol> {
        let Module::File(home) = module else { return Vec::new() };
        let is_script =
            self.resolver.view(*home).is_some_and(|view| view.facts.language == Language::JavaScript);
        if !is_script {
            return Vec::new();
        }
        let hits = self.resolver.exported(module, "default", Mode::Named);
        let symbol = |hit: &super::super::names::Hit| match hit.entity {
            Entity::Symbol(symbol) => Some(symbol),
            _ => None,
        };
        hits.iter().filter_map(symbol).collect()
    }

    /// Checks a name in a string: only a run would decide whether it is meant.
    pub(super) fn quoted(&mut self, file: FileId, usage: &Use) {
        let name = last(&usage.name);
        if !self.words.contains(name) && !self.module_words.contains(name) {
            return;
        }
        // Only a run would decide, unless a call is known to look the name up.
        let certainty = if usage.arguments.is_some() { Certainty::Possible } else { Certainty::Untyped };
        if let Some(of) = &usage.of {
            let place = At { file, within: usage.within, this: None };
            let found = self.resolver.types(&place, of).iter().find_map(|one| self.matches(file, one, usage));
            if let Some((at, Certainty::Resolved, through)) = found {
                self.keep_use(file, usage, at, certainty, through);
            }
            return;
        }
        for hit in self.resolver.absolute(file, &usage.name) {
            match hit.entity {
                Entity::Symbol(symbol) => {
                    if let Some(at) = self.wanted.get(&symbol).copied() {
                        let usage = Use { name: name.into(), ..usage.clone() };
                        self.keep_use(file, &usage, at, certainty, hit.through);
                    }
                }
                Entity::Module(Module::File(found)) if self.target.module && found == self.target.file => {
                    self.keep(file, usage.line, Kind::Import, usage.role, &usage.name, None, hit.through);
                    if let Some(last) = self.found.last_mut() {
                        last.certainty = certainty;
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns the wanted symbol that a call of a type calls.
    pub(super) fn constructs(&self, class: Symbol) -> Option<usize> {
        let constructors = self.resolver.scheme.constructors().iter();
        let mut names =
            constructors.filter(|name| self.names.iter().any(|text| **text == ***name)).peekable();
        names.peek()?;
        let definition = self.resolver.definition(class)?;
        if definition.kind != DefinitionKind::Type {
            return None;
        }
        names.find_map(|name| {
            let members = self.resolver.members(class, name);
            members.symbols.iter().find_map(|symbol| self.wanted.get(symbol).copied())
        })
    }

    pub(super) fn member(&mut self, file: FileId, usage: &Use, of: &Shape) {
        let place = At { file, within: usage.within, this: None };
        let types = self.resolver.types(&place, of);
        self.calls_stand_in_of(file, usage, &types);
        self.builds_of(file, usage, &types);
        let mut best: Option<(usize, Certainty, Option<FileId>)> = None;
        for one in types.iter() {
            if let Some(found) = self.matches(file, one, usage) {
                best = Some(best.map_or(found, |best| if found.1 < best.1 { found } else { best }));
            }
        }
        let Some((at, certainty, through)) = best else { return };
        let decided = match certainty {
            Certainty::Resolved => true,
            // A property of that name in an object is weak evidence for its type.
            _ if usage.role == Role::Construct => false,
            _ => self.may_hold(at),
        };
        self.keep_use(file, usage, at, if decided { certainty } else { Certainty::Undecided }, through);
    }

    /// Returns the wanted member that a use of a value's member means.
    pub(super) fn matches(
        &self,
        file: FileId,
        of: &Type,
        usage: &Use,
    ) -> Option<(usize, Certainty, Option<FileId>)> {
        let symbols = match of {
            Type::Module(module) => {
                for hit in self.resolver.exported(module, &usage.name, Mode::Named) {
                    let Entity::Symbol(symbol) = hit.entity else { continue };
                    // A call of a class calls its constructor, regardless of its other changes.
                    if usage.role == Role::Call
                        && let Some(at) = self.constructs(symbol)
                    {
                        return Some((at, Certainty::Resolved, None));
                    }
                    if let Some(at) = self.wanted.get(&symbol) {
                        return Some((*at, Certainty::Resolved, hit.through));
                    }
                }
                let members = |whole| self.resolver.members(whole, &usage.name).symbols.to_vec();
                let members = self.whole_of(module).into_iter().flat_map(members);
                let at = members.into_iter().find_map(|symbol| self.wanted.get(&symbol).copied())?;
                return Some((at, Certainty::Resolved, None));
            }
            // A keyword argument of a written constructor names its parameter.
            Type::Instance(class)
                if usage.role == Role::Construct && self.has_written_constructor(*class) =>
            {
                return None;
            }
            Type::Symbol(class, _) | Type::Instance(class) => {
                self.resolver.members(*class, &usage.name).symbols
            }
            Type::Parent(class) => self.resolver.inherited(*class, &usage.name).symbols,
            Type::Unknown | Type::Untyped => {
                let mut wanted = self.target.symbols.iter().zip(&self.homes);
                let position = wanted.position(|(wanted, home)| {
                    wanted.name == usage.name
                        && wanted.container.is_some()
                        && is_member(wanted)
                        && (*home == file) == self.target.own_file
                })?;
                let certainty = if *of == Type::Unknown { Certainty::Possible } else { Certainty::Untyped };
                return Some((position, certainty, None));
            }
            Type::Outside(..) | Type::Callable(..) | Type::Object(..) => return None,
        };
        let at = symbols.iter().find_map(|symbol| self.wanted.get(symbol))?;
        Some((*at, Certainty::Resolved, None))
    }

    /// Returns true if a class has a written constructor, instead of one generated from its fields.
    pub(super) fn has_written_constructor(&self, class: Symbol) -> bool {
        let constructors = self.resolver.scheme.constructors().iter();
        let found = constructors.flat_map(|name| self.resolver.members(class, name).symbols.to_vec());
        let written =
            |symbol: Symbol| self.resolver.definition(symbol).is_some_and(|defined| defined.gives.is_some());
        !self.resolver.scheme.is_structural() && found.into_iter().any(written)
    }

    /// Returns true if a value of unknown type probably has the wanted member: hardly any other type defines
    /// one.
    pub(super) fn may_hold(&mut self, at: usize) -> bool {
        let Some(wanted) = self.target.symbols.get(at) else { return false };
        let name = wanted.name.clone();
        if self.resolver.scheme.is_everybodys(&name) {
            return false;
        }
        let owners = match self.owners.get(&name) {
            Some(owners) => *owners,
            None => {
                let owners = self.count_owners(&name);
                self.owners.insert(name, owners);
                owners
            }
        };
        owners <= 2
    }

    pub(super) fn count_owners(&self, name: &str) -> usize {
        let mut owners = 0;
        for file in self.resolver.world.defining(name) {
            let Some(view) = self.resolver.view(file) else { continue };
            let named = view
                .facts
                .definitions
                .iter()
                .filter(|definition| *definition.name == *name && is_member(definition));
            owners += named.filter(|definition| !self.is_redefined(file, definition)).count();
        }
        owners
    }

    /// Returns true if a member overrides an inherited one: then they count as one.
    pub(super) fn is_redefined(&self, file: FileId, member: &Definition) -> bool {
        let Some(view) = self.resolver.view(file).filter(|_| !self.resolver.scheme.is_structural()) else {
            return false;
        };
        let class = member.container.as_deref().and_then(|path| view.at(path).first().copied());
        class.is_some_and(|at| !self.resolver.inherited(Symbol { file, at }, &member.name).symbols.is_empty())
    }
}
