//! Finds the references to a target: selects candidates by their words, then resolves their names.

mod candidates;
mod file_references;
mod uses;

pub(crate) use file_references::{outgoing, unresolved_imports};

use std::borrow::Cow;
use std::collections::BTreeSet;

use foldhash::{HashMap, HashSet};

use super::assignability::Carriers;
use super::contextual_typing::RemovedDefinition;
use super::indirect_users::Extended;
use super::instantiability::needed;
use super::names::{Entity, Mode, Resolver, View};
use super::overrides::redeclared;
use super::types::{Place as At, Type};
use super::{Found, Module, Scheme, Symbol, position_of};
use crate::facts::{Definition, DefinitionKind, Import, ImportForm, ImportedName, Role, Shape, Use};
use crate::reference::{Certainty, Kind, Reference, Target};
use crate::work::Work;
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

/// The places in other files that reference a definition of one of several targets, each with the position of the target.
/// `with_losses` adds the places that never name a definition and would lose their type with it.
pub(crate) fn users(
    world: &dyn World,
    scheme: &dyn Scheme,
    targets: &[Target<'_>],
    with_losses: bool,
    is_over: &dyn Fn() -> bool,
) -> Vec<(usize, Reference)> {
    let Some(first) = targets.first() else { return Vec::new() };
    let each = || {
        targets.iter().enumerate().flat_map(|(at, target)| target.symbols.iter().map(move |one| (at, one)))
    };
    let owners: Vec<usize> = each().map(|(at, _)| at).collect();
    let symbols: Vec<Definition> = each().map(|(_, symbol)| symbol.clone()).collect();
    let homes: Vec<FileId> =
        owners.iter().filter_map(|at| targets.get(*at)).map(|target| target.file).collect();
    let resolver = Resolver::new(world, scheme);
    let all = Target { symbols: &symbols, ..*first };
    let mut search = Search::new(&resolver, &all, homes);
    search.gather();
    if with_losses && search.resolver.scheme.is_structural() {
        search.take_gone();
    }
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
        let names: BTreeSet<&Box<str>> = target.symbols.iter().map(|definition| &definition.name).collect();
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

    fn is_wanted(&self, entity: &Entity) -> bool {
        matches!(entity, Entity::Symbol(symbol)
            if self.wanted.contains_key(symbol)
                || self.stand_ins.contains_key(symbol)
                || self.constructs(*symbol).is_some()
                || self.builds(*symbol).is_some())
    }

    fn visit(&mut self, file: FileId) {
        let Some(view) = self.resolver.view(file) else { return };
        Work::count_search();
        let mut locals: HashSet<Box<str>> = HashSet::default();
        for import in &view.facts.imports {
            self.import(file, import, &mut locals);
        }
        let constructors = self.resolver.scheme.constructors();
        if self.target.symbols.iter().any(|definition| constructors.contains(&&*definition.name)) {
            // A subclass may be made in its own file.
            let heirs = view.facts.definitions.iter().filter(|definition| !definition.extends.is_empty());
            locals.extend(
                heirs.map(|definition| definition.name.clone()).filter(|name| self.words.contains(name)),
            );
        }
        let starred = view.facts.imports.iter().any(|import| import.glob);
        for at in self.relevant_uses(&view, &locals) {
            let Some(usage) = view.facts.uses.get(at) else { continue };
            self.inherits(file, usage);
            self.loses_type(file, &view, at);
            if usage.role == Role::Conform {
                self.check_assignability(file, usage);
            } else if usage.role == Role::Quoted {
                self.quoted(file, usage);
            } else if usage.role == Role::Key
                && let Some(of) = &usage.of
            {
                if self.words.contains(&usage.name) {
                    self.key(file, usage, of);
                }
            } else if let Some(of) = &usage.of {
                if self.words.contains(&usage.name) {
                    self.member(file, &self.as_taken(file, usage, view.facts.uses.get(at + 1)), of);
                }
            } else if locals.contains(&usage.name)
                || ((starred || self.target.own_file) && self.words.contains(&usage.name))
            {
                self.check_bare_name(file, &self.as_taken(file, usage, view.facts.uses.get(at + 1)));
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
            found.extend(view.uses.expecting(&view.facts).iter().map(|expecting| expecting.at));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns a use with the role that its context implies: if any value is accepted there, it only has to
    /// exist. `next` is the following use, which has the expected type.
    fn as_taken<'u>(&self, file: FileId, usage: &'u Use, next: Option<&Use>) -> Cow<'u, Use> {
        let Some(Shape::Function(value, expected)) = next
            .filter(|next| next.role == Role::Conform && usage.role == Role::Value)
            .and_then(|usage| usage.of.as_ref())
        else {
            return Cow::Borrowed(usage);
        };
        let is_value = match (value.first(), &usage.of) {
            (Some(Shape::Name(name)), None) => *name == usage.name,
            (Some(Shape::Member(of, name)), Some(receiver)) => *name == usage.name && **of == *receiver,
            _ => false,
        };
        let place = At { file, within: usage.within, this: None };
        let anything = || self.resolver.types(&place, expected).iter().all(|one| *one == Type::Untyped);
        if is_value && usage.role != Role::Type && anything() {
            return Cow::Owned(Use { role: Role::Type, ..usage.clone() });
        }
        Cow::Borrowed(usage)
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
            && self.whole_of(&module).iter().any(|symbol| self.wanted.contains_key(symbol))
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

    pub(super) fn keep_use(
        &mut self,
        file: FileId,
        usage: &Use,
        at: usize,
        certainty: Certainty,
        through: Option<FileId>,
    ) {
        let role = if self.redeclared.contains(&at) { Role::Redefine } else { usage.role };
        self.found.push(Reference {
            file,
            line: usage.line,
            kind: Kind::Symbol,
            role,
            certainty,
            pattern: usage.name.clone(),
            symbol: Some(at),
            arguments: usage.arguments,
            through: through.filter(|through| *through != file),
            within: usage.within,
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
