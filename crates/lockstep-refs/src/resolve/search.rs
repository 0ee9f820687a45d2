//! Finds the references to a target: selects candidates by their words, then resolves their names.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use foldhash::{HashMap, HashSet};

use super::assignability::{Carriers, Conformance};
use super::contextual_typing::RemovedDefinition;
use super::indirect_users::Extended;
use super::instantiability::needed;
use super::names::{Entity, Mode, Resolver, View};
use super::overrides::redeclared;
use super::types::{Place as At, Type};
use super::{Found, Module, Scheme, Symbol, position_of};
use crate::facts::{Definition, DefinitionKind, Import, ImportForm, ImportedName, Role, Shape, Use};
use crate::language::Language;
use crate::limits::Limit;
use crate::reference::{Certainty, FileReferences, Kind, Place, Reference, Target};
use crate::world::{FileId, World};

/// The maximum number of subtypes that are followed.
const MAX_SUBTYPES: usize = 64;

/// The places that reference the target: in other files, or in its own if [`Target::own_file`] is set.
pub(crate) fn referrers(world: &dyn World, scheme: &dyn Scheme, target: &Target<'_>) -> Vec<Reference> {
    let resolver = Resolver::new(world, scheme);
    let mut search = Search::new(&resolver, target, vec![target.file; target.symbols.len()]);
    search.gather();
    if search.resolver.scheme.is_structural() {
        search.take_gone();
    }
    let files: Vec<FileId> =
        search.files.iter().copied().filter(|file| (*file == target.file) == target.own_file).collect();
    for file in files {
        search.visit(file);
    }
    search.finish()
}

/// The places in other files that reference a definition of one of several targets, each with the position of the target. No
/// definition is treated as removed: the search asks for its users because it uses something else that changed.
pub(crate) fn users(
    world: &dyn World,
    scheme: &dyn Scheme,
    targets: &[Target<'_>],
    is_over: &dyn Fn() -> bool,
) -> Vec<(usize, Reference)> {
    let Some(first) = targets.first() else { return Vec::new() };
    let each = || targets.iter().enumerate().flat_map(|(at, it)| it.symbols.iter().map(move |one| (at, one)));
    let owners: Vec<usize> = each().map(|(at, _)| at).collect();
    let symbols: Vec<Definition> = each().map(|(_, symbol)| symbol.clone()).collect();
    let homes: Vec<FileId> = owners.iter().filter_map(|at| targets.get(*at)).map(|it| it.file).collect();
    let resolver = Resolver::new(world, scheme);
    let all = Target { symbols: &symbols, ..*first };
    let mut search = Search::new(&resolver, &all, homes);
    search.gather();
    for file in std::mem::take(&mut search.files) {
        if is_over() {
            break;
        }
        search.visit(file);
    }
    let homes = std::mem::take(&mut search.homes);
    let found = search.finish().into_iter().filter_map(|mut reference| {
        let at = reference.symbol?;
        let owner = *owners.get(at)?;
        let first = owners.partition_point(|other| *other < owner);
        reference.symbol = Some(at - first);
        (homes.get(at) != Some(&reference.file)).then_some((owner, reference))
    });
    found.collect()
}

/// A search for the referrers of one target.
pub(super) struct Search<'r, 'w> {
    pub(super) resolver: &'r Resolver<'w>,
    pub(super) target: &'r Target<'r>,
    /// The file of each of the target's symbols.
    pub(super) homes: Vec<FileId>,
    /// The wanted definitions, with their indices in the target.
    pub(super) wanted: HashMap<Symbol, usize>,
    /// Their names, each once.
    names: Vec<Box<str>>,
    /// The names under which they may be used.
    pub(super) words: BTreeSet<Box<str>>,
    /// The names under which the file itself may be imported, if it is queried.
    module_words: BTreeSet<String>,
    files: BTreeSet<FileId>,
    /// The number of types that define a member, by its name.
    owners: HashMap<Box<str>, usize>,
    /// The wanted members that override an inherited one.
    redeclared: HashSet<usize>,
    /// The wanted members without which some class cannot be built.
    pub(super) needed: Vec<usize>,
    carriers: Carriers,
    /// The wanted types that others extend, and the names of their inherited members.
    pub(super) extended: Extended,
    /// Variables that hold something wanted; its position in the target.
    pub(super) stand_ins: HashMap<Symbol, usize>,
    /// The world without one of the wanted definitions, for each.
    pub(super) gone: Vec<RemovedDefinition<'w>>,
    pub(super) found: Vec<Reference>,
}

impl<'r, 'w> Search<'r, 'w> {
    fn new(resolver: &'r Resolver<'w>, target: &'r Target<'r>, homes: Vec<FileId>) -> Self {
        let mut wanted = HashMap::default();
        for (position, (definition, file)) in target.symbols.iter().zip(&homes).enumerate() {
            let Some(view) = resolver.view(*file) else { continue };
            if let Some(at) = position_of(&view.facts, definition) {
                wanted.insert(Symbol { file: *file, at }, position);
            }
        }
        let names: BTreeSet<&Box<str>> = target.symbols.iter().map(|it| &it.name).collect();
        Self {
            resolver,
            target,
            wanted,
            names: names.into_iter().cloned().collect(),
            words: BTreeSet::new(),
            module_words: BTreeSet::new(),
            files: BTreeSet::new(),
            owners: HashMap::default(),
            redeclared: redeclared(resolver, target, &homes),
            needed: if resolver.scheme.is_structural() {
                Vec::new()
            } else {
                needed(resolver, target, &homes)
            },
            carriers: Carriers::new(resolver, target, &homes),
            homes,
            extended: Extended::default(),
            stand_ins: HashMap::default(),
            gone: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Collects the names to search for and the files that contain one of them.
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
        queue.extend(self.needing());
        let handing = self.handing_files();
        if !self.target.own_file && !handing.is_empty() {
            for file in &handing {
                self.module_words.extend(self.module_words_of(*file));
            }
            self.take_importers(handing, &mut queue);
        }
        if self.resolver.scheme.is_structural() {
            self.take_users_of_types();
            self.take_heirs();
        }
        while let Some(word) = queue.pop() {
            if self.words.insert(word.clone()) {
                for file in self.take_files(&word) {
                    self.take_stand_ins(file, &word, &mut queue);
                    self.aliases(file, &word, &mut queue);
                }
            }
        }
    }

    fn module_words_of(&self, file: FileId) -> Vec<String> {
        self.resolver.scheme.module_words(self.resolver.world, file)
    }

    /// Returns the files of the target that others may import without a searched name.
    fn handing_files(&self) -> Vec<FileId> {
        if self.target.module {
            return vec![self.target.file];
        }
        let homes: BTreeSet<FileId> = self.homes.iter().copied().collect();
        homes.into_iter().filter(|file| self.hands_on_default(*file)).collect()
    }

    /// Returns true if a file exports something wanted as its default.
    fn hands_on_default(&self, file: FileId) -> bool {
        let hits = self.resolver.lookup(file, "default", Mode::Named);
        hits.iter().any(|hit| self.is_wanted(&hit.entity))
    }

    /// Adds the files that may import one of these, and those that may import a file that re-exports its
    /// default. They need not contain a searched name.
    fn take_importers(&mut self, mut handing: Vec<FileId>, queue: &mut Vec<Box<str>>) {
        let mut at = 0;
        while let Some(file) = handing.get(at).copied() {
            at += 1;
            for word in self.module_words_of(file) {
                let world = self.resolver.world;
                let mut importers = world.containing(&word);
                importers.retain(|it| self.resolver.scheme.may_import(world, *it, file, &word));
                for importer in self.take_readable(importers) {
                    self.aliases(importer, "default", queue);
                    if !handing.contains(&importer) && self.hands_on_default(importer) {
                        handing.push(importer);
                    }
                }
            }
        }
    }

    /// In structural languages, adds the files that name the type of a wanted member, or a subtype: they may
    /// pass its values on without naming the member.
    fn take_users_of_types(&mut self) {
        let members = self.target.symbols.iter().zip(&self.homes).filter(|(it, _)| is_member(it));
        let mut queues: BTreeMap<FileId, Vec<Box<str>>> = BTreeMap::new();
        for (member, file) in members {
            queues.entry(*file).or_default().extend(member.container.as_deref().map(|it| last(it).into()));
        }
        let mut seen = BTreeSet::new();
        for queue in queues.into_values() {
            self.take_users_of_type(queue, &mut seen);
        }
    }

    fn take_users_of_type(&mut self, mut queue: Vec<Box<str>>, seen: &mut BTreeSet<Box<str>>) {
        let most = seen.len() + MAX_SUBTYPES;
        while let Some(class) = queue.pop() {
            if seen.contains(&class) {
                continue;
            }
            if seen.len() >= most {
                Limit::Subtypes.reach();
                break;
            }
            seen.insert(class.clone());
            for file in self.take_files(&class) {
                let Some(view) = self.resolver.view(file) else { continue };
                for definition in &view.facts.definitions {
                    if definition.extends.iter().any(|base| *last(base) == *class) {
                        queue.push(definition.name.clone());
                    }
                }
            }
        }
    }

    /// Checks a value that is used where a type is expected.
    fn check_assignability(&mut self, file: FileId, it: &Use) {
        let Some(Shape::Function(value, expected)) = &it.of else { return };
        let Some(value) = value.first() else { return };
        self.infers(file, it, value, expected);
        if !self.target.symbols.iter().any(is_member) {
            return;
        }
        let place = At { file, within: it.within, this: None };
        let values = self.resolver.types(&place, value);
        if values
            .iter()
            .all(|it| matches!(it, Type::Unknown | Type::Untyped | Type::Outside(..) | Type::Module(_)))
        {
            return;
        }
        let expected = self.resolver.types(&place, expected);
        let conformance = Conformance { wanted: &self.wanted, names: &self.names, carriers: &self.carriers };
        let found = self.resolver.misfits(&values, &expected, &conformance);
        for (at, role) in found {
            let Some(wanted) = self.target.symbols.get(at) else { continue };
            let use_ = Use { name: wanted.name.clone(), role, ..it.clone() };
            self.keep_use(file, &use_, at, Certainty::Resolved, None);
        }
    }

    /// Returns the candidates for a word that have a supported language.
    pub(super) fn take_files(&mut self, word: &str) -> Vec<FileId> {
        self.take_readable(self.resolver.world.containing(word))
    }

    /// Adds the files that have a supported language.
    fn take_readable(&mut self, mut mine: Vec<FileId>) -> Vec<FileId> {
        mine.retain(|file| self.resolver.speaks(*file));
        if self.target.own_file {
            mine.retain(|file| *file == self.target.file);
        }
        self.resolver.world.prepare(&mine);
        mine.retain(|file| self.resolver.view(*file).is_some());
        self.files.extend(&mine);
        mine
    }

    /// Adds the other names that a file gives to the meaning of `word`, as far as others can see them.
    fn aliases(&self, file: FileId, word: &str, queue: &mut Vec<Box<str>>) {
        let Some(view) = self.resolver.view(file) else { return };
        for import in &view.facts.imports {
            for name in import.names.iter().filter(|it| *it.name == *word && it.local != it.name) {
                let wanted = |mode| {
                    let hits = self.resolver.lookup(file, &name.local, mode);
                    hits.iter().any(|hit| self.is_wanted(&hit.entity))
                };
                if wanted(Mode::Named) {
                    queue.push(name.local.clone());
                } else if wanted(Mode::Inside) {
                    // It may re-export the import under yet another name.
                    let own = view.facts.imports.iter().filter(|it| it.module.is_empty() && it.reexport);
                    let handed = own.flat_map(|it| &it.names).filter(|it| it.name == name.local);
                    queue.extend(handed.map(|it| it.local.clone()));
                }
            }
        }
        // A subclass is called by its own name, but its constructor may be that of its base.
        let is_built = |it: &Definition| self.resolver.scheme.constructors().contains(&&*it.name);
        if !self.needed.is_empty() || self.target.symbols.iter().any(is_built) {
            for definition in &view.facts.definitions {
                if definition.extends.iter().any(|base| last(base) == word) {
                    queue.push(definition.name.clone());
                }
            }
        }
    }

    fn is_wanted(&self, entity: &Entity) -> bool {
        matches!(entity, Entity::Symbol(symbol)
            if self.wanted.contains_key(symbol)
                || self.stand_ins.contains_key(symbol)
                || self.constructs(*symbol).is_some()
                || self.builds(*symbol).is_some())
    }

    fn visit(&mut self, file: FileId) {
        let Some(view) = self.resolver.view(file) else { return };
        let mut locals: HashSet<Box<str>> = HashSet::default();
        for import in &view.facts.imports {
            self.import(file, import, &mut locals);
        }
        let constructors = self.resolver.scheme.constructors();
        if self.target.symbols.iter().any(|it| constructors.contains(&&*it.name)) {
            // A subclass may be made in its own file.
            let heirs = view.facts.definitions.iter().filter(|it| !it.extends.is_empty());
            locals.extend(heirs.map(|it| it.name.clone()).filter(|name| self.words.contains(name)));
        }
        let starred = view.facts.imports.iter().any(|import| import.glob);
        for at in self.relevant_uses(&view, &locals) {
            let Some(it) = view.facts.uses.get(at) else { continue };
            self.inherits(file, it);
            self.loses_type(file, &view, at);
            if it.role == Role::Conform {
                self.check_assignability(file, it);
            } else if it.role == Role::Quoted {
                self.quoted(file, it);
            } else if it.role == Role::Key
                && let Some(of) = &it.of
            {
                if self.words.contains(&it.name) {
                    self.key(file, it, of);
                }
            } else if let Some(of) = &it.of {
                if self.words.contains(&it.name) {
                    self.member(file, &self.as_taken(file, it, view.facts.uses.get(at + 1)), of);
                }
            } else if locals.contains(&it.name)
                || ((starred || self.target.own_file) && self.words.contains(&it.name))
            {
                self.check_bare_name(file, &self.as_taken(file, it, view.facts.uses.get(at + 1)));
            }
        }
        self.redefinitions(file, &view);
        if self.resolver.scheme.is_structural() {
            self.unfulfilled(file, &view);
        }
    }

    /// Returns the positions of the uses that may reference something wanted, in order.
    fn relevant_uses(&self, view: &View, locals: &HashSet<Box<str>>) -> Vec<usize> {
        let names = self.words.iter().chain(locals).chain(self.extended.names());
        let mut found: Vec<usize> = names.flat_map(|name| view.uses.of(&view.facts, name)).collect();
        found.extend(view.uses.quoted(&view.facts));
        if self.extended.gives_values() || self.target.symbols.iter().any(is_member) {
            found.extend(view.uses.conforming(&view.facts));
        }
        if !self.gone.is_empty() {
            found.extend(view.uses.expecting(&view.facts).iter().map(|it| it.at));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns a use with the role that its context implies: if any value is accepted there, it only has to
    /// exist. `next` is the following use, which has the expected type.
    fn as_taken<'u>(&self, file: FileId, it: &'u Use, next: Option<&Use>) -> Cow<'u, Use> {
        let Some(Shape::Function(value, expected)) = next
            .filter(|next| next.role == Role::Conform && it.role == Role::Value)
            .and_then(|it| it.of.as_ref())
        else {
            return Cow::Borrowed(it);
        };
        let is_value = match (value.first(), &it.of) {
            (Some(Shape::Name(name)), None) => *name == it.name,
            (Some(Shape::Member(of, name)), Some(receiver)) => *name == it.name && **of == *receiver,
            _ => false,
        };
        let place = At { file, within: it.within, this: None };
        let anything = || self.resolver.types(&place, expected).iter().all(|one| *one == Type::Untyped);
        if is_value && it.role != Role::Type && anything() {
            return Cow::Owned(Use { role: Role::Type, ..it.clone() });
        }
        Cow::Borrowed(it)
    }

    /// Checks the names that an import takes from the target.
    fn import(&mut self, file: FileId, import: &Import, locals: &mut HashSet<Box<str>>) {
        let for_others = self.resolver.scheme.is_for_others(self.resolver.world.path(file), import);
        let role = if for_others { Role::Reexport } else { Role::Import };
        if self.target.module
            && !import.module.is_empty()
            && self.resolver.module(file, &import.module) == Found::Here(Module::File(self.target.file))
        {
            self.keep(file, import.line, Kind::Import, role, &import.module, None, None);
        }
        if import.form == ImportForm::Dynamic
            && let Some(alias) = &import.alias
            && let Found::Here(module) = self.resolver.module(file, &import.module)
            && self.whole_of(&module).iter().any(|it| self.wanted.contains_key(it))
        {
            locals.insert(alias.clone());
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

    /// Checks one name of an import. Returns true if it means the target.
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
                    any |= self.constructs(symbol).is_some() || self.stand_ins.contains_key(&symbol);
                    any |= self.builds(symbol).is_some();
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

    /// Checks a bare name.
    fn check_bare_name(&mut self, file: FileId, it: &Use) {
        let hits = self.resolver.lookup(file, &it.name, Mode::Inside);
        for hit in hits.iter() {
            if let Entity::Module(module) = &hit.entity {
                // In CommonJS, a module may be the function or class that it exports.
                for symbol in self.whole_of(module) {
                    if let Some(at) = self.wanted.get(&symbol).copied() {
                        self.keep_use(file, it, at, Certainty::Resolved, hit.through);
                    }
                }
            }
            let Entity::Symbol(symbol) = hit.entity else { continue };
            if let Some(at) = self.wanted.get(&symbol).copied() {
                self.keep_use(file, it, at, Certainty::Resolved, hit.through);
            }
            if it.role == Role::Call
                && let Some(at) = self.constructs(symbol)
            {
                self.keep_use(file, it, at, Certainty::Resolved, None);
            }
            self.calls_stand_in(file, it, &[symbol]);
            self.keep_built(file, it, symbol);
        }
    }

    /// The definitions that a module of JavaScript exports as a whole.
    fn whole_of(&self, module: &Module) -> Vec<Symbol> {
        let Module::File(home) = module else { return Vec::new() };
        let is_script = self.resolver.view(*home).is_some_and(|it| it.facts.language == Language::JavaScript);
        if !is_script {
            return Vec::new();
        }
        let hits = self.resolver.exported(module, "default", Mode::Named);
        let symbol = |hit: &super::names::Hit| match hit.entity {
            Entity::Symbol(symbol) => Some(symbol),
            _ => None,
        };
        hits.iter().filter_map(symbol).collect()
    }

    /// Checks a name in a string: only a run would decide whether it is meant.
    fn quoted(&mut self, file: FileId, it: &Use) {
        let name = last(&it.name);
        if !self.words.contains(name) && !self.module_words.contains(name) {
            return;
        }
        // Only a run would decide, unless a call is known to look the name up.
        let certainty = if it.arguments.is_some() { Certainty::Possible } else { Certainty::Untyped };
        if let Some(of) = &it.of {
            let place = At { file, within: it.within, this: None };
            let found = self.resolver.types(&place, of).iter().find_map(|one| self.matches(file, one, it));
            if let Some((at, Certainty::Resolved, through)) = found {
                self.keep_use(file, it, at, certainty, through);
            }
            return;
        }
        for hit in self.resolver.absolute(file, &it.name) {
            match hit.entity {
                Entity::Symbol(symbol) => {
                    if let Some(at) = self.wanted.get(&symbol).copied() {
                        let it = Use { name: name.into(), ..it.clone() };
                        self.keep_use(file, &it, at, certainty, hit.through);
                    }
                }
                Entity::Module(Module::File(found)) if self.target.module && found == self.target.file => {
                    self.keep(file, it.line, Kind::Import, it.role, &it.name, None, hit.through);
                    if let Some(kept) = self.found.last_mut() {
                        kept.certainty = certainty;
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns the wanted symbol that a call of a type calls.
    fn constructs(&self, class: Symbol) -> Option<usize> {
        let constructors = self.resolver.scheme.constructors().iter();
        let mut names = constructors.filter(|name| self.names.iter().any(|it| **it == ***name)).peekable();
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

    fn member(&mut self, file: FileId, it: &Use, of: &Shape) {
        let place = At { file, within: it.within, this: None };
        let types = self.resolver.types(&place, of);
        self.calls_stand_in_of(file, it, &types);
        self.builds_of(file, it, &types);
        let mut best: Option<(usize, Certainty, Option<FileId>)> = None;
        for one in types.iter() {
            if let Some(found) = self.matches(file, one, it) {
                best = Some(best.map_or(found, |best| if found.1 < best.1 { found } else { best }));
            }
        }
        let Some((at, certainty, through)) = best else { return };
        let decided = match certainty {
            Certainty::Resolved => true,
            // A property of that name in an object is weak evidence for its type.
            _ if it.role == Role::Construct => false,
            _ => self.may_hold(at),
        };
        self.keep_use(file, it, at, if decided { certainty } else { Certainty::Undecided }, through);
    }

    /// Returns the wanted member that a use of a value's member means.
    fn matches(&self, file: FileId, of: &Type, it: &Use) -> Option<(usize, Certainty, Option<FileId>)> {
        let symbols = match of {
            Type::Module(module) => {
                for hit in self.resolver.exported(module, &it.name, Mode::Named) {
                    let Entity::Symbol(symbol) = hit.entity else { continue };
                    // A call of a class calls its constructor, regardless of its other changes.
                    if it.role == Role::Call
                        && let Some(at) = self.constructs(symbol)
                    {
                        return Some((at, Certainty::Resolved, None));
                    }
                    if let Some(at) = self.wanted.get(&symbol) {
                        return Some((*at, Certainty::Resolved, hit.through));
                    }
                }
                let members = |whole| self.resolver.members(whole, &it.name).symbols.to_vec();
                let members = self.whole_of(module).into_iter().flat_map(members);
                let at = members.into_iter().find_map(|symbol| self.wanted.get(&symbol).copied())?;
                return Some((at, Certainty::Resolved, None));
            }
            // A keyword argument of a written constructor names its parameter.
            Type::Instance(class) if it.role == Role::Construct && self.has_written_constructor(*class) => {
                return None;
            }
            Type::Symbol(class, _) | Type::Instance(class) => self.resolver.members(*class, &it.name).symbols,
            Type::Parent(class) => self.resolver.inherited(*class, &it.name).symbols,
            Type::Unknown | Type::Untyped => {
                let mut wanted = self.target.symbols.iter().zip(&self.homes);
                let position = wanted.position(|(wanted, home)| {
                    wanted.name == it.name
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
    fn has_written_constructor(&self, class: Symbol) -> bool {
        let constructors = self.resolver.scheme.constructors().iter();
        let found = constructors.flat_map(|name| self.resolver.members(class, name).symbols.to_vec());
        let written = |symbol: Symbol| self.resolver.definition(symbol).is_some_and(|it| it.gives.is_some());
        !self.resolver.scheme.is_structural() && found.into_iter().any(written)
    }

    /// Returns true if a value of unknown type probably has the wanted member: hardly any other type defines
    /// one.
    fn may_hold(&mut self, at: usize) -> bool {
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

    fn count_owners(&self, name: &str) -> usize {
        let mut owners = 0;
        for file in self.resolver.world.defining(name) {
            let Some(view) = self.resolver.view(file) else { continue };
            let named = view.facts.definitions.iter().filter(|it| *it.name == *name && is_member(it));
            owners += named.filter(|it| !self.is_redefined(file, it)).count();
        }
        owners
    }

    /// Returns true if a member overrides an inherited one: then they count as one.
    fn is_redefined(&self, file: FileId, member: &Definition) -> bool {
        let Some(view) = self.resolver.view(file).filter(|_| !self.resolver.scheme.is_structural()) else {
            return false;
        };
        let class = member.container.as_deref().and_then(|path| view.at(path).first().copied());
        class.is_some_and(|at| !self.resolver.inherited(Symbol { file, at }, &member.name).symbols.is_empty())
    }

    pub(super) fn keep_use(
        &mut self,
        file: FileId,
        it: &Use,
        at: usize,
        certainty: Certainty,
        through: Option<FileId>,
    ) {
        let role = if self.redeclared.contains(&at) { Role::Redefine } else { it.role };
        self.found.push(Reference {
            file,
            line: it.line,
            kind: Kind::Symbol,
            role,
            certainty,
            pattern: it.name.clone(),
            symbol: Some(at),
            arguments: it.arguments,
            through: through.filter(|through| *through != file),
            within: it.within,
        });
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

pub(super) fn is_member(definition: &Definition) -> bool {
    matches!(definition.kind, DefinitionKind::Method | DefinitionKind::Field | DefinitionKind::Variant)
}

/// The last part of a dotted name.
pub(super) fn last(path: &str) -> &str {
    path.rsplit(['.', ':']).next().unwrap_or(path)
}

/// Returns the imports of a file that should resolve to the project and do not.
pub(crate) fn unresolved_imports(world: &dyn World, scheme: &dyn Scheme, file: FileId) -> Vec<Place> {
    let resolver = Resolver::new(world, scheme);
    let Some(view) = resolver.view(file) else { return Vec::new() };
    let named = view.facts.imports.iter().filter(|import| !import.module.is_empty());
    let missing = named.filter(|import| resolver.module(file, &import.module) == Found::Missing);
    missing.map(unresolved).collect()
}

/// Returns the references of a file by its imports and by the names it uses.
pub(crate) fn outgoing(world: &dyn World, scheme: &dyn Scheme, file: FileId) -> FileReferences {
    let resolver = Resolver::new(world, scheme);
    let mut outgoing = FileReferences::default();
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
            Found::Missing => outgoing.unresolved.push(unresolved(import)),
        }
    }
    for it in &view.facts.uses {
        for to in defining_files(&resolver, file, it) {
            note(to, it.line, Kind::Symbol, &it.name);
        }
    }
    outgoing.references = places.into_iter().map(|((to, _), place)| (to, place)).collect();
    outgoing
}

fn unresolved(import: &Import) -> Place {
    Place { line: import.line, kind: Kind::Import, pattern: import.module.clone() }
}

/// Returns the files that define a used name.
fn defining_files(resolver: &Resolver<'_>, file: FileId, it: &Use) -> Vec<FileId> {
    let symbols = |hits: &[super::names::Hit]| -> Vec<FileId> {
        hits.iter()
            .filter_map(|hit| match hit.entity {
                Entity::Symbol(symbol) => Some(symbol.file),
                _ => None,
            })
            .collect()
    };
    if matches!(it.role, Role::Conform | Role::Key) {
        return Vec::new();
    }
    if it.role == Role::Quoted && it.of.is_none() {
        let file_of = |hit: super::names::Hit| match hit.entity {
            Entity::Symbol(symbol) => Some(symbol.file),
            Entity::Module(Module::File(file)) => Some(file),
            _ => None,
        };
        return resolver.absolute(file, &it.name).into_iter().filter_map(file_of).collect();
    }
    let Some(of) = &it.of else { return symbols(&resolver.lookup(file, &it.name, Mode::Inside)) };
    let place = At { file, within: it.within, this: None };
    let mut files = Vec::new();
    for one in resolver.types(&place, of).iter() {
        match one {
            Type::Module(module) => files.extend(symbols(&resolver.exported(module, &it.name, Mode::Named))),
            Type::Symbol(class, _) | Type::Instance(class) => {
                files.extend(resolver.members(*class, &it.name).symbols.iter().map(|symbol| symbol.file));
            }
            _ => {}
        }
    }
    files
}
