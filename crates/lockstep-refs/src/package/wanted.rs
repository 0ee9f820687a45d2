//! A definition whose referrers are looked for: what it belongs to, who has it by descent, and the places in a file that
//! may mean it. Whether they do is [decided](super::meaning) use by use.

use std::collections::BTreeSet;

use super::names::{Query, Symbol, View, full_name};
use super::{is_member, is_type};
use crate::facts::{Definition, DefinitionKind, Import, Reach, Role};
use crate::reference::{Certainty, Kind, Reference};
use crate::world::FileId;

/// A definition whose referrers are looked for.
pub(super) struct Wanted<'q, 'w> {
    pub(super) query: &'q Query<'w>,
    pub(super) file: FileId,
    pub(super) definition: &'q Definition,
    pub(super) full: String,
    pub(super) package: String,
    /// The type it belongs to.
    pub(super) owner: Option<Symbol>,
    /// The owner and every type that has the member from it.
    heirs: BTreeSet<Symbol>,
    /// The simple names of the heirs.
    heir_names: BTreeSet<Box<str>>,
    /// Their full names: a type may be written in several parts.
    pub(super) heir_fulls: BTreeSet<String>,
    /// Whether it is called by its owner's name.
    pub(super) constructs: bool,
    /// How many types have a member of this name.
    pub(super) owners: usize,
    /// The files that name an heir.
    pub(super) mentioning: BTreeSet<FileId>,
}

impl<'q, 'w> Wanted<'q, 'w> {
    pub(super) fn new(query: &'q Query<'w>, file: FileId, definition: &'q Definition) -> Option<Self> {
        let view = query.view(file)?;
        let package = view.package.clone();
        let full = full_name(&package, definition);
        let member = is_member(definition);
        let owner = definition.container.as_deref().filter(|_| member).and_then(|container| {
            let simple = container.rsplit('.').next()?;
            let holder = full.strip_suffix(&*definition.name)?.strip_suffix('.')?;
            let types = query.types_named(simple);
            let fitting = |symbol: &&Symbol| query.full(**symbol).as_deref() == Some(holder);
            types
                .iter()
                .filter(fitting)
                .find(|symbol| symbol.file == file)
                .or(types.iter().find(fitting))
                .copied()
        });
        let member = member && owner.is_some();
        let constructs = member && query.packages.constructs(definition);
        let mut wanted = Self {
            query,
            file,
            definition,
            full,
            package,
            owner,
            heirs: BTreeSet::new(),
            heir_names: BTreeSet::new(),
            heir_fulls: BTreeSet::new(),
            constructs,
            owners: 1,
            mentioning: BTreeSet::new(),
        };
        if member && !constructs {
            wanted.find_heirs();
            wanted.owners = wanted.count_owners();
            let named = wanted.heir_names.iter().flat_map(|name| query.world.containing(name));
            wanted.mentioning = named.collect();
        }
        Some(wanted)
    }

    /// The types that have the member from its owner: they extend it and do not define the member anew.
    fn find_heirs(&mut self) {
        let mut open: Vec<Symbol> = self.owner.into_iter().collect();
        while let Some(class) = open.pop() {
            if !self.heirs.insert(class) || self.heirs.len() > 300 {
                continue;
            }
            let Some(definition) = self.query.definition(class) else { continue };
            self.heir_names.insert(definition.name.clone());
            self.heir_fulls.extend(self.query.full(class));
            let files = self.query.containing(&definition.name);
            for file in files {
                let Some(view) = self.query.view(file) else { continue };
                for (at, heir) in view.facts.definitions.iter().enumerate().filter(|(_, it)| is_type(it)) {
                    let extends = |name: &str| self.ends_so(&view, name, &definition.name);
                    let symbol = Symbol { file, at };
                    if heir.extends.iter().any(|name| extends(name)) && self.extends(symbol, class) {
                        open.push(symbol);
                    }
                }
            }
        }
        if let Some(container) = &self.definition.container {
            self.heir_names.extend(container.rsplit('.').next().map(Box::from));
        }
    }

    fn extends(&self, heir: Symbol, class: Symbol) -> bool {
        let full = self.query.full(class);
        self.query.parents(heir).into_iter().any(|parent| parent == class || self.query.full(parent) == full)
    }

    /// Whether a type has the member from its owner.
    pub(super) fn is_heir(&self, class: Symbol) -> bool {
        self.heirs.contains(&class)
            || self.query.full(class).is_some_and(|full| self.heir_fulls.contains(&full))
    }

    fn ends_so(&self, view: &View, path: &str, name: &str) -> bool {
        let last = path.rsplit('.').next().unwrap_or(path);
        last == name || view.bindings.names.iter().any(|bound| &*bound.local == last)
    }

    fn count_owners(&self) -> usize {
        let mut owners = BTreeSet::new();
        for file in self.query.containing(&self.definition.name).into_iter().take(400) {
            let Some(view) = self.query.view(file) else { continue };
            let same =
                view.facts.definitions.iter().filter(|it| it.name == self.definition.name && is_member(it));
            owners.extend(same.map(|it| (view.package.clone(), it.container.clone())));
        }
        owners.len().max(1)
    }

    /// The name it is used by.
    fn name(&self) -> &str {
        match &self.definition.container {
            Some(container) if self.constructs => container.rsplit('.').next().unwrap_or(container),
            _ => &self.definition.name,
        }
    }

    /// The full name of what its users name.
    pub(super) fn named(&self) -> &str {
        match self.constructs {
            true => self.full.rsplit_once('.').map_or(&self.full, |(owner, _)| owner),
            false => &self.full,
        }
    }

    pub(super) fn candidates(&self) -> Vec<FileId> {
        self.query.containing(self.name()).into_iter().filter(|file| *file != self.file).collect()
    }

    pub(super) fn places(&self, file: FileId) -> Vec<Reference> {
        let Some(view) = self.query.view(file) else { return Vec::new() };
        if self.definition.reach == Reach::Package && !self.is_near(&view) {
            return Vec::new();
        }
        let mut found = Vec::new();
        if !self.constructs {
            for bound in view.bindings.names.iter().filter(|bound| self.is_bound(bound.full.as_str())) {
                found.push(reference(file, bound.line, Kind::Import, Role::Import, &self.definition.name));
            }
            found.extend(self.openings(file, &view));
            found.extend(self.overrides(file, &view));
        }
        found.extend(self.declared_again(file, &view));
        let aliases = view.bindings.names.iter().filter(|bound| bound.full == self.named());
        let mut locals: Vec<&str> = aliases.map(|bound| &*bound.local).collect();
        locals.push(self.name());
        for used in view.facts.uses.iter().filter(|used| locals.contains(&&*used.name)) {
            if let Some(certainty) = self.meant(file, &view, used) {
                let mut place = reference(file, used.line, Kind::Symbol, used.role, &used.name);
                place.certainty = certainty;
                place.arguments = used.arguments;
                place.within = used.within;
                found.push(place);
            }
        }
        found
    }

    /// Imports that open a type, so that its members are named alone: `using static`, `import static T.*`.
    fn openings(&self, file: FileId, view: &View) -> Vec<Reference> {
        let opens =
            |import: &&Import| import.glob && import.alias.is_none() && *import.module == *self.named();
        let imports = view.facts.imports.iter().filter(|_| is_type(self.definition)).filter(opens);
        let place =
            |import: &Import| reference(file, import.line, Kind::Import, Role::Import, &self.definition.name);
        imports.map(place).collect()
    }

    /// Whether a file is of the same package, or near enough to be trusted with what only the package sees.
    fn is_near(&self, view: &View) -> bool {
        let opened = view.bindings.globs.contains(&self.package);
        view.package == self.package || opened || self.query.packages.sees_around()
    }

    /// Whether an import binds it, or something inside it.
    fn is_bound(&self, full: &str) -> bool {
        let inside = full.strip_prefix(self.named());
        inside.is_some_and(|rest| rest.is_empty() || is_type(self.definition) && rest.starts_with('.'))
    }

    /// In languages of includes: the same thing in another file, its declaration or its definition.
    fn declared_again(&self, file: FileId, view: &View) -> Vec<Reference> {
        let mut found = Vec::new();
        if !self.query.packages.includes()
            || !(self.query.sees(file, self.file) || self.query.sees(self.file, file))
        {
            return found;
        }
        let kind = self.definition.kind;
        let again = |it: &Definition| {
            it.kind == kind && it.name == self.definition.name && full_name(&view.package, it) == self.full
        };
        for (at, definition) in view.facts.definitions.iter().enumerate().filter(|(_, it)| again(it)) {
            let mut place = reference(file, definition.line, Kind::Symbol, Role::Override, &definition.name);
            place.within = u32::try_from(at).ok();
            found.push(place);
        }
        found
    }

    /// Definitions that take the member's place in types that extend its owner.
    fn overrides(&self, file: FileId, view: &View) -> Vec<Reference> {
        let mut found = Vec::new();
        if self.definition.kind != DefinitionKind::Method {
            return found;
        }
        for (at, definition) in view.facts.definitions.iter().enumerate() {
            let again = definition.name == self.definition.name && definition.kind == self.definition.kind;
            let Some(container) = definition.container.as_deref().filter(|_| again) else { continue };
            let Some(class) = self.query.type_of(file, Some(container), container) else { continue };
            let own = class == self.owner.unwrap_or(class)
                || self.query.full(class) == self.owner.and_then(|it| self.query.full(it));
            if !own && self.is_heir(class) {
                let mut place =
                    reference(file, definition.line, Kind::Symbol, Role::Override, &definition.name);
                place.within = u32::try_from(at).ok();
                found.push(place);
            }
        }
        found
    }
}

/// A place that is sure of what it means.
pub(super) fn reference(file: FileId, line: u32, kind: Kind, role: Role, pattern: &str) -> Reference {
    Reference {
        file,
        line,
        kind,
        role,
        certainty: Certainty::Resolved,
        pattern: pattern.into(),
        symbol: None,
        arguments: None,
        through: None,
        within: None,
    }
}
