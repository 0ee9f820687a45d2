//! Who references a target: the candidates by their words, then what each of their names means.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::names::{Entity, Mode, Resolver, View};
use super::types::{Place as At, Type};
use super::{Found, Module, Scheme, Symbol, position_of};
use crate::facts::{Definition, DefinitionKind, Import, ImportedName, Role, Use};
use crate::reference::{Certainty, Kind, Outgoing, Place, Reference, Target};
use crate::world::{FileId, World};

/// The places in other files that reference the target.
pub(crate) fn referrers(world: &dyn World, scheme: &dyn Scheme, target: &Target<'_>) -> Vec<Reference> {
    let resolver = Resolver::new(world, scheme);
    let mut search = Search::new(&resolver, target);
    search.gather();
    let files: Vec<FileId> = search.files.iter().copied().filter(|file| *file != target.file).collect();
    for file in files {
        search.visit(file);
    }
    search.finish()
}

/// A search for the referrers of one target.
struct Search<'r, 'w> {
    resolver: &'r Resolver<'w>,
    target: &'r Target<'r>,
    /// The definitions asked about, by what they are in the world; their positions in the target.
    wanted: HashMap<Symbol, usize>,
    /// The names under which they may be used.
    words: BTreeSet<Box<str>>,
    /// The names under which the file itself may be imported, where it is asked about.
    module_words: BTreeSet<String>,
    files: BTreeSet<FileId>,
    /// How many types define a member, by its name.
    owners: HashMap<Box<str>, usize>,
    found: Vec<Reference>,
}

impl<'r, 'w> Search<'r, 'w> {
    fn new(resolver: &'r Resolver<'w>, target: &'r Target<'r>) -> Self {
        let mut wanted = HashMap::new();
        if let Some(view) = resolver.view(target.file) {
            for (position, definition) in target.symbols.iter().enumerate() {
                if let Some(at) = position_of(&view.facts, definition) {
                    wanted.insert(Symbol { file: target.file, at }, position);
                }
            }
        }
        Self {
            resolver,
            target,
            wanted,
            words: BTreeSet::new(),
            module_words: BTreeSet::new(),
            files: BTreeSet::new(),
            owners: HashMap::new(),
            found: Vec::new(),
        }
    }

    /// Collects the names to look for and the files in whose text one of them stands.
    fn gather(&mut self) {
        let mut queue: Vec<Box<str>> = Vec::new();
        let constructors = self.resolver.scheme.constructors();
        for definition in self.target.symbols {
            queue.push(definition.name.clone());
            if constructors.contains(&&*definition.name)
                && let Some(class) = &definition.container
            {
                queue.push(last(class).into());
            }
        }
        if self.target.module || self.target.symbols.iter().any(|it| self.is_default(it)) {
            for word in self.resolver.scheme.module_words(self.resolver.world, self.target.file) {
                self.take_files(&word);
                self.module_words.insert(word);
            }
        }
        while let Some(word) = queue.pop() {
            if self.words.insert(word.clone()) {
                for file in self.take_files(&word) {
                    self.aliases(file, &word, &mut queue);
                }
            }
        }
    }

    /// Whether a definition is exported without a name.
    fn is_default(&self, definition: &Definition) -> bool {
        let hits = self.resolver.lookup(self.target.file, "default", Mode::Named);
        hits.iter().any(|hit| match hit.entity {
            Entity::Symbol(symbol) => {
                let at = self.wanted.get(&symbol);
                at.and_then(|at| self.target.symbols.get(*at)).is_some_and(|it| it.name == definition.name)
            }
            _ => false,
        })
    }

    /// The candidates for a word that are read by these rules.
    fn take_files(&mut self, word: &str) -> Vec<FileId> {
        let mut mine = self.resolver.world.containing(word);
        mine.retain(|file| self.resolver.speaks(*file));
        self.resolver.world.prepare(&mine);
        mine.retain(|file| self.resolver.view(*file).is_some());
        self.files.extend(&mine);
        mine
    }

    /// The other names that a file gives to what `word` means there, as far as others can see them.
    fn aliases(&self, file: FileId, word: &str, queue: &mut Vec<Box<str>>) {
        let Some(view) = self.resolver.view(file) else { return };
        for import in &view.facts.imports {
            for name in import.names.iter().filter(|it| *it.name == *word && it.local != it.name) {
                let hits = self.resolver.lookup(file, &name.local, Mode::Named);
                if hits.iter().any(|hit| self.is_wanted(&hit.entity)) {
                    queue.push(name.local.clone());
                }
            }
        }
        // A subclass is called by its own name, but its constructor may be that of its base.
        if self.target.symbols.iter().any(|it| self.resolver.scheme.constructors().contains(&&*it.name)) {
            for definition in &view.facts.definitions {
                if definition.extends.iter().any(|base| last(base) == word) {
                    queue.push(definition.name.clone());
                }
            }
        }
    }

    fn is_wanted(&self, entity: &Entity) -> bool {
        matches!(entity, Entity::Symbol(symbol) if self.wanted.contains_key(symbol))
    }

    fn visit(&mut self, file: FileId) {
        let Some(view) = self.resolver.view(file) else { return };
        let mut locals: HashSet<Box<str>> = HashSet::new();
        for import in &view.facts.imports {
            self.import(file, import, &mut locals);
        }
        let starred = view.facts.imports.iter().any(|import| import.glob);
        for it in &view.facts.uses {
            if let Some(of) = &it.of {
                if self.words.contains(&it.name) {
                    self.member(file, &view, it, of);
                }
            } else if locals.contains(&it.name) || (starred && self.words.contains(&it.name)) {
                self.bare(file, it);
            }
        }
        self.redefinitions(file, &view);
    }

    /// What an import takes of the target.
    fn import(&mut self, file: FileId, import: &Import, locals: &mut HashSet<Box<str>>) {
        let for_others = self.resolver.scheme.is_for_others(self.resolver.world.path(file), import);
        let role = if for_others { Role::Reexport } else { Role::Import };
        if self.target.module
            && !import.module.is_empty()
            && self.resolver.module(file, &import.module) == Found::Here(Module::File(self.target.file))
        {
            self.keep(file, import.line, Kind::Import, role, &import.module, None, None);
        }
        for name in &import.names {
            if import.module.is_empty() {
                continue;
            }
            let is_module = self.target.module && self.module_words.contains(&*name.name);
            if !(self.words.contains(&name.name) || &*name.name == "default" || is_module) {
                continue;
            }
            if self.take(file, import, name, role) {
                locals.insert(name.local.clone());
            }
        }
    }

    /// One name of an import. Whether it means the target.
    fn take(&mut self, file: FileId, import: &Import, name: &ImportedName, role: Role) -> bool {
        let Found::Here(module) = self.resolver.module(file, &import.module) else { return false };
        let mut any = false;
        for hit in self.resolver.exported(&module, &name.name, Mode::Named) {
            match hit.entity {
                Entity::Symbol(symbol) => {
                    if let Some(at) = self.wanted.get(&symbol).copied() {
                        any = true;
                        self.keep(file, name.line, Kind::Import, role, &name.name, Some(at), hit.through);
                    }
                    any |= self.constructs(symbol).is_some();
                }
                Entity::Module(Module::File(found)) if self.target.module && found == self.target.file => {
                    self.keep(file, name.line, Kind::Import, role, &name.name, None, hit.through);
                }
                _ => {}
            }
        }
        any
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a reference")]
    fn keep(
        &mut self,
        file: FileId,
        line: u32,
        kind: Kind,
        role: Role,
        pattern: &str,
        symbol: Option<usize>,
        through: Option<FileId>,
    ) {
        self.found.push(Reference {
            file,
            line,
            kind,
            role,
            certainty: Certainty::Resolved,
            pattern: pattern.into(),
            symbol,
            arguments: None,
            through: through.filter(|through| *through != file),
            within: None,
        });
    }

    /// A name without anything before it.
    fn bare(&mut self, file: FileId, it: &Use) {
        let hits = self.resolver.lookup(file, &it.name, Mode::Inside);
        for hit in hits.iter() {
            let Entity::Symbol(symbol) = hit.entity else { continue };
            if let Some(at) = self.wanted.get(&symbol).copied() {
                self.keep_use(file, it, at, Certainty::Resolved, hit.through);
            }
            if it.role == Role::Call
                && let Some(at) = self.constructs(symbol)
            {
                self.keep_use(file, it, at, Certainty::Resolved, None);
            }
        }
    }

    /// Which of the wanted symbols a call of a type calls.
    fn constructs(&self, class: Symbol) -> Option<usize> {
        let constructors = self.resolver.scheme.constructors();
        let wanted = self.target.symbols.iter().find(|it| constructors.contains(&&*it.name))?;
        let definition = self.resolver.definition(class)?;
        if definition.kind != DefinitionKind::Type {
            return None;
        }
        let members = self.resolver.members(class, &wanted.name);
        members.symbols.iter().find_map(|symbol| self.wanted.get(symbol).copied())
    }

    /// A name after something.
    fn member(&mut self, file: FileId, view: &View, it: &Use, of: &crate::facts::Shape) {
        let place = At { file, within: it.within, this: None };
        let types = self.resolver.types(&place, of);
        let mut best: Option<(usize, Certainty, Option<FileId>)> = None;
        for one in &types {
            if let Some(found) = self.matches(one, it) {
                best = Some(best.map_or(found, |best| if found.1 < best.1 { found } else { best }));
            }
        }
        let Some((at, certainty, through)) = best else { return };
        if certainty == Certainty::Resolved || self.may_hold(file, view, at) {
            self.keep_use(file, it, at, certainty, through);
        }
    }

    /// Whether the member of a value is wanted.
    fn matches(&self, of: &Type, it: &Use) -> Option<(usize, Certainty, Option<FileId>)> {
        let symbols = match of {
            Type::Module(module) => {
                for hit in self.resolver.exported(module, &it.name, Mode::Named) {
                    let Entity::Symbol(symbol) = hit.entity else { continue };
                    if let Some(at) = self.wanted.get(&symbol) {
                        return Some((*at, Certainty::Resolved, hit.through));
                    }
                    if it.role == Role::Call
                        && let Some(at) = self.constructs(symbol)
                    {
                        return Some((at, Certainty::Resolved, None));
                    }
                }
                return None;
            }
            Type::Symbol(class, _) | Type::Instance(class) => self.resolver.members(*class, &it.name).symbols,
            Type::Parent(class) => self.resolver.inherited(*class, &it.name).symbols,
            Type::Unknown | Type::Untyped => {
                let position = self.target.symbols.iter().position(|wanted| {
                    wanted.name == it.name && wanted.container.is_some() && is_member(wanted)
                })?;
                let certainty = if *of == Type::Unknown { Certainty::Possible } else { Certainty::Untyped };
                return Some((position, certainty, None));
            }
            Type::Outside(..) | Type::Callable(..) => return None,
        };
        let at = symbols.iter().find_map(|symbol| self.wanted.get(symbol))?;
        Some((*at, Certainty::Resolved, None))
    }

    /// Whether a value of unknown type may well have the member that is wanted: hardly any other type defines one.
    fn may_hold(&mut self, _file: FileId, _view: &View, at: usize) -> bool {
        let Some(wanted) = self.target.symbols.get(at) else { return false };
        let name = wanted.name.clone();
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

    fn count_owners(&self, name: &str) -> usize {
        let mut owners = 0;
        for file in self.resolver.world.containing(name) {
            let Some(view) = self.resolver.view(file) else { continue };
            owners += view.facts.definitions.iter().filter(|it| *it.name == *name && is_member(it)).count();
        }
        owners
    }

    fn keep_use(&mut self, file: FileId, it: &Use, at: usize, certainty: Certainty, through: Option<FileId>) {
        self.found.push(Reference {
            file,
            line: it.line,
            kind: Kind::Symbol,
            role: it.role,
            certainty,
            pattern: it.name.clone(),
            symbol: Some(at),
            arguments: it.arguments,
            through: through.filter(|through| *through != file),
            within: it.within,
        });
    }

    /// Members of other types that take the place of a wanted one.
    fn redefinitions(&mut self, file: FileId, view: &View) {
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
            if let Some(wanted) = wanted {
                self.found.push(Reference {
                    file,
                    line: definition.line,
                    kind: Kind::Symbol,
                    role: Role::Redefine,
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

    fn finish(mut self) -> Vec<Reference> {
        let world = self.resolver.world;
        self.found.sort_by(|a, b| {
            (world.path(a.file), a.line, a.symbol, a.certainty).cmp(&(
                world.path(b.file),
                b.line,
                b.symbol,
                b.certainty,
            ))
        });
        self.found.dedup();
        self.found
    }
}

fn is_member(definition: &Definition) -> bool {
    matches!(definition.kind, DefinitionKind::Method | DefinitionKind::Field | DefinitionKind::Variant)
}

/// The last part of a dotted name.
fn last(path: &str) -> &str {
    path.rsplit(['.', ':']).next().unwrap_or(path)
}

/// What a file references by its imports and by the names it uses.
pub(crate) fn outgoing(world: &dyn World, scheme: &dyn Scheme, file: FileId) -> Outgoing {
    let resolver = Resolver::new(world, scheme);
    let mut outgoing = Outgoing::default();
    let Some(view) = resolver.view(file) else { return outgoing };
    let mut places: BTreeMap<(FileId, u32), Place> = BTreeMap::new();
    let mut note = |to: FileId, line: u32, kind: Kind, pattern: &str| {
        if to != file {
            places.entry((to, line)).or_insert_with(|| Place { line, kind, pattern: pattern.into() });
        }
    };
    for import in view.facts.imports.iter().filter(|import| !import.module.is_empty()) {
        match resolver.module(file, &import.module) {
            Found::Here(module) => {
                if let Module::File(to) = module {
                    note(to, import.line, Kind::Import, &import.module);
                }
                for name in &import.names {
                    for hit in resolver.exported(&module, &name.name, Mode::Named) {
                        match hit.entity {
                            Entity::Symbol(symbol) => note(symbol.file, name.line, Kind::Import, &name.name),
                            Entity::Module(Module::File(to)) => note(to, name.line, Kind::Import, &name.name),
                            _ => {}
                        }
                    }
                }
            }
            Found::Outside => outgoing.external += 1,
            Found::Missing => {
                let place = Place { line: import.line, kind: Kind::Import, pattern: import.module.clone() };
                outgoing.unresolved.push(place);
            }
        }
    }
    for it in &view.facts.uses {
        for to in used(&resolver, file, it) {
            note(to, it.line, Kind::Symbol, &it.name);
        }
    }
    outgoing.references = places.into_iter().map(|((to, _), place)| (to, place)).collect();
    outgoing
}

/// The files that define what is used.
fn used(resolver: &Resolver<'_>, file: FileId, it: &Use) -> Vec<FileId> {
    let symbols = |hits: &[super::names::Hit]| -> Vec<FileId> {
        hits.iter()
            .filter_map(|hit| match hit.entity {
                Entity::Symbol(symbol) => Some(symbol.file),
                _ => None,
            })
            .collect()
    };
    let Some(of) = &it.of else { return symbols(&resolver.lookup(file, &it.name, Mode::Inside)) };
    let place = At { file, within: it.within, this: None };
    let mut files = Vec::new();
    for one in resolver.types(&place, of) {
        match one {
            Type::Module(module) => files.extend(symbols(&resolver.exported(&module, &it.name, Mode::Named))),
            Type::Symbol(class, _) | Type::Instance(class) => {
                files.extend(resolver.members(class, &it.name).symbols.iter().map(|symbol| symbol.file));
            }
            _ => {}
        }
    }
    files
}
