//! Who references a target: every candidate is asked what its names and values mean.

use std::collections::{BTreeMap, BTreeSet};

use super::names::{Query, Symbol, View, full_name};
use super::types::{Place, Value};
use super::{Leads, Packages, is_member, is_type};
use crate::entity::is_distinctive;
use crate::facts::{Definition, DefinitionKind, Reach, Role, Shape, Use};
use crate::reference::{Certainty, Kind, Outgoing, Place as At, Reference, Target};
use crate::world::{FileId, World, base};

/// The places in other files that reference the target.
pub(crate) fn referrers(world: &dyn World, packages: &dyn Packages, target: &Target<'_>) -> Vec<Reference> {
    let query = Query::new(world, packages);
    let mut found = Vec::new();
    for (at, symbol) in target.symbols.iter().enumerate().filter(|(_, symbol)| symbol.reach != Reach::File) {
        if let Some(wanted) = Wanted::new(&query, target.file, symbol) {
            let places = wanted.candidates().into_iter().flat_map(|file| wanted.places(file));
            found.extend(places.map(|reference| Reference { symbol: Some(at), ..reference }));
        }
    }
    if target.module {
        found.extend(importers(&query, target.file));
    }
    found.sort_by(|a, b| {
        let key = |r: &Reference| (r.line, r.symbol, r.role, r.certainty);
        world.path(a.file).cmp(world.path(b.file)).then_with(|| key(a).cmp(&key(b)))
    });
    found.dedup_by(|a, b| (a.file, a.line, a.symbol, a.role) == (b.file, b.line, b.symbol, b.role));
    found
}

/// Every import that leads to the file.
fn importers(query: &Query<'_>, target: FileId) -> Vec<Reference> {
    let name = base(query.world.path(target));
    let stem = name.split('.').next().unwrap_or(name);
    let mut found = Vec::new();
    for file in query.containing(stem).into_iter().filter(|file| *file != target) {
        let Some(view) = query.view(file) else { continue };
        for import in &view.facts.imports {
            let leads = query.packages.leads(query, file, import);
            if matches!(leads, Leads::To(files) if files.len() == 1 && files.contains(&target)) {
                found.push(reference(file, import.line, Kind::Import, Role::Import, &import.module));
            }
        }
    }
    found
}

/// What a file references: by its imports, and by the names it uses of its own package.
pub(crate) fn outgoing(world: &dyn World, packages: &dyn Packages, file: FileId) -> Outgoing {
    let query = Query::new(world, packages);
    let mut outgoing = Outgoing::default();
    let Some(view) = query.view(file) else { return outgoing };
    let mut seen = BTreeSet::new();
    let mut add = |outgoing: &mut Outgoing, to: FileId, line, kind, pattern: &str| {
        if to != file && seen.insert((to, line)) {
            outgoing.references.push((to, At { line, kind, pattern: pattern.into() }));
        }
    };
    for import in &view.facts.imports {
        match packages.leads(&query, file, import) {
            // A package of many files is not referenced as a whole: what is used of it is found below.
            Leads::To(files) if files.len() == 1 => {
                files
                    .into_iter()
                    .for_each(|to| add(&mut outgoing, to, import.line, Kind::Import, &import.module));
            }
            Leads::To(_) => {}
            Leads::Outside => outgoing.external += 1,
            Leads::Missing => outgoing.unresolved.push(At {
                line: import.line,
                kind: Kind::Import,
                pattern: import.module.clone(),
            }),
        }
    }
    for (line, name, to) in used_files(&query, file, &view) {
        add(&mut outgoing, to, line, Kind::Symbol, &name);
    }
    outgoing
}

/// The files whose definitions a file names, without going into members of values.
fn used_files(query: &Query<'_>, file: FileId, view: &View) -> Vec<(u32, Box<str>, FileId)> {
    let mut known: BTreeMap<(Box<str>, Option<Box<str>>), Vec<FileId>> = BTreeMap::new();
    let mut found = Vec::new();
    for used in &view.facts.uses {
        let Some(path) = written(used) else { continue };
        let path: Box<str> = path.into();
        let container = container_of(view, used.within);
        let key = (path.clone(), container.map(Into::into));
        let files =
            known.entry(key).or_insert_with(|| defining(query, file, view, container, &path, &used.name));
        found.extend(files.iter().map(|to| (used.line, used.name.clone(), *to)));
    }
    found
}

fn defining(
    query: &Query<'_>,
    file: FileId,
    view: &View,
    container: Option<&str>,
    path: &str,
    name: &str,
) -> Vec<FileId> {
    let own = |it: &Definition| {
        &*it.name == name && query.means(view, container, path, &full_name(&view.package, it))
    };
    if view.facts.definitions.iter().any(own) {
        return Vec::new();
    }
    let files = query.world.containing(name);
    if files.len() > 200 {
        return query.type_of(file, container, path).map(|symbol| symbol.file).into_iter().collect();
    }
    let defines = |other: &FileId| {
        let Some(theirs) = query.view(*other).filter(|_| *other != file) else { return false };
        let named = |it: &&Definition| &*it.name == name && it.reach != Reach::File && !is_member(it);
        let fits = |it: &Definition| query.means(view, container, path, &full_name(&theirs.package, it));
        theirs.facts.definitions.iter().filter(named).any(fits) && query.sees(file, *other)
    };
    files.into_iter().filter(defines).collect()
}

/// The container of the definition that a place stands in, with its own name where it holds others.
fn container_of(view: &View, within: Option<u32>) -> Option<&str> {
    let definition = view.facts.definitions.get(usize::try_from(within?).ok()?)?;
    if is_type(definition) {
        return view.facts.definitions.iter().skip(within? as usize + 1).find_map(|inner| {
            let path = inner.container.as_deref()?;
            (path.rsplit('.').next() == Some(&definition.name)).then_some(path)
        });
    }
    definition.container.as_deref()
}

/// A definition whose referrers are looked for.
struct Wanted<'q, 'w> {
    query: &'q Query<'w>,
    file: FileId,
    definition: &'q Definition,
    full: String,
    package: String,
    /// The type it belongs to.
    owner: Option<Symbol>,
    /// The owner and every type that has the member from it.
    heirs: BTreeSet<Symbol>,
    /// The simple names of the heirs.
    heir_names: BTreeSet<Box<str>>,
    /// Whether it is called by its owner's name.
    constructs: bool,
    /// How many types have a member of this name.
    owners: usize,
}

impl<'q, 'w> Wanted<'q, 'w> {
    fn new(query: &'q Query<'w>, file: FileId, definition: &'q Definition) -> Option<Self> {
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
            constructs,
            owners: 1,
        };
        if member && !constructs {
            wanted.find_heirs();
            wanted.owners = wanted.count_owners();
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
            let files = self.query.containing(&definition.name);
            for file in files {
                let Some(view) = self.query.view(file) else { continue };
                for (at, heir) in view.facts.definitions.iter().enumerate().filter(|(_, it)| is_type(it)) {
                    let extends = |name: &Box<str>| self.ends_so(&view, name, &definition.name);
                    let symbol = Symbol { file, at };
                    if heir.extends.iter().any(extends) && self.query.parents(symbol).contains(&class) {
                        open.push(symbol);
                    }
                }
            }
        }
        if let Some(container) = &self.definition.container {
            self.heir_names.extend(container.rsplit('.').next().map(Box::from));
        }
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
    fn named(&self) -> &str {
        match self.constructs {
            true => self.full.rsplit_once('.').map_or(&self.full, |(owner, _)| owner),
            false => &self.full,
        }
    }

    fn candidates(&self) -> Vec<FileId> {
        self.query.containing(self.name()).into_iter().filter(|file| *file != self.file).collect()
    }

    fn places(&self, file: FileId) -> Vec<Reference> {
        let Some(view) = self.query.view(file) else { return Vec::new() };
        if self.definition.reach == Reach::Package && !self.is_near(&view) {
            return Vec::new();
        }
        let mut found = Vec::new();
        if !self.constructs {
            for bound in view.bindings.names.iter().filter(|bound| self.is_bound(bound.full.as_str())) {
                found.push(reference(file, bound.line, Kind::Import, Role::Import, &self.definition.name));
            }
            found.extend(self.overrides(file, &view));
        }
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

    /// Whether a file is of the same package, or near enough to be trusted with what only the package sees.
    fn is_near(&self, view: &View) -> bool {
        view.package == self.package
    }

    /// Whether an import binds it, or something inside it.
    fn is_bound(&self, full: &str) -> bool {
        let inside = full.strip_prefix(self.named());
        inside.is_some_and(|rest| rest.is_empty() || is_type(self.definition) && rest.starts_with('.'))
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
            if Some(class) != self.owner && self.heirs.contains(&class) {
                let mut place =
                    reference(file, definition.line, Kind::Symbol, Role::Override, &definition.name);
                place.within = u32::try_from(at).ok();
                found.push(place);
            }
        }
        found
    }

    /// Whether a use means the definition, and how sure that is.
    fn meant(&self, file: FileId, view: &View, used: &Use) -> Option<Certainty> {
        if self.constructs {
            return (used.role == Role::Call).then(|| self.full_name_meant(file, view, used)).flatten();
        }
        if let Some(extended) = self.definition.extends.first().filter(|_| !is_type(self.definition)) {
            return self.extension_meant(file, view, used, extended);
        }
        match is_member(self.definition) {
            true => self.member_meant(file, view, used),
            false => self.full_name_meant(file, view, used),
        }
    }

    /// A function that is called as if it were a member of the type it extends.
    fn extension_meant(&self, file: FileId, view: &View, used: &Use, extended: &str) -> Option<Certainty> {
        let bound =
            view.bindings.names.iter().any(|bound| bound.local == used.name && bound.full == self.full);
        let holder = self.full.rsplit_once('.').map_or("", |(holder, _)| holder);
        let open = |package: &str| package == self.package || package == holder;
        if !bound && !open(&view.package) && !view.bindings.globs.iter().any(|glob| open(glob)) {
            return None;
        }
        let Some(of) = &used.of else { return Some(Certainty::Possible) };
        let place = Place { file, container: container_of(view, used.within) };
        let takes =
            used.arguments.zip(self.definition.arity).is_none_or(|(arguments, arity)| arity.takes(arguments));
        let wanted = self.query.type_of(self.file, None, extended);
        match self.query.value(place, of) {
            Value::Of(class, _) if Some(class) == wanted => Some(Certainty::Resolved),
            Value::Of(class, _) => (wanted
                .is_some_and(|wanted| self.query.ancestors(class).contains(&wanted)))
            .then_some(Certainty::Resolved),
            Value::Outside(_) if wanted.is_some() => None,
            _ => (takes || bound).then_some(if bound { Certainty::Resolved } else { Certainty::Possible }),
        }
    }

    /// Whether a written name is the full name.
    fn full_name_meant(&self, file: FileId, view: &View, used: &Use) -> Option<Certainty> {
        let container = container_of(view, used.within);
        let path = written(used)?;
        let named = self.named();
        if !self.query.means(view, container, &path, named) || !self.is_seen(file, named) {
            return None;
        }
        (!self.is_shadowed(view, container, &path, used)).then_some(Certainty::Resolved)
    }

    /// In languages of includes: whether the file includes the definition, or another declaration of it.
    fn is_seen(&self, file: FileId, named: &str) -> bool {
        if self.query.sees(file, self.file) {
            return true;
        }
        let declares = |other: &FileId| {
            let Some(view) = self.query.view(*other) else { return false };
            let mut definitions = view.facts.definitions.iter();
            definitions.any(|it| it.name == self.definition.name && full_name(&view.package, it) == named)
        };
        self.query.included(file).iter().any(declares)
    }

    /// Whether the file has a definition of its own that the name means.
    fn is_shadowed(&self, view: &View, container: Option<&str>, path: &str, used: &Use) -> bool {
        let named = self.named();
        view.facts.definitions.iter().any(|own| {
            let full = full_name(&view.package, own);
            let same_thing = full == named && self.query.packages.includes();
            own.name == used.name
                && !same_thing
                && !is_member(own)
                && self.query.means(view, container, path, &full)
                && !(self.query.packages.overloads() && is_other_overload(own, used))
        })
    }

    fn member_meant(&self, file: FileId, view: &View, used: &Use) -> Option<Certainty> {
        let container = container_of(view, used.within);
        let place = Place { file, container };
        let Some(of) = &used.of else { return self.bare_member_meant(view, place, used) };
        match self.query.value(place, of) {
            Value::Of(class, _) => self.held_by(class, used),
            Value::Outside(_) => None,
            Value::Path(path) => match self.query.type_of(file, container, &path) {
                Some(class) => self.held_by(class, used),
                None => self.perhaps(file, view, used, &path),
            },
            Value::Unknown => self.perhaps(file, view, used, ""),
        }
    }

    /// A member of a value of a known type.
    fn held_by(&self, class: Symbol, used: &Use) -> Option<Certainty> {
        let own = self.query.members(class, &used.name);
        let from = |symbol: &Symbol| self.query.full(*symbol).as_deref() == Some(&self.full);
        match own.is_empty() {
            true => self.heirs.contains(&class).then_some(Certainty::Resolved),
            false => own.iter().any(from).then_some(Certainty::Resolved),
        }
    }

    /// A member that is named without what it belongs to: inside its type, an heir, or by an import.
    fn bare_member_meant(&self, view: &View, place: Place<'_>, used: &Use) -> Option<Certainty> {
        let bound =
            view.bindings.names.iter().any(|bound| bound.local == used.name && bound.full == self.full);
        let owner = self.full.strip_suffix(&*self.definition.name).and_then(|owner| owner.strip_suffix('.'));
        if bound || view.bindings.globs.iter().any(|glob| Some(glob.as_str()) == owner) {
            return Some(Certainty::Resolved);
        }
        let around = used.within.and_then(|at| view.facts.definitions.get(usize::try_from(at).ok()?));
        let extended = around.filter(|around| !is_type(around)).and_then(|around| around.extends.first());
        let class = match extended {
            Some(extended) => self.query.type_of(place.file, place.container, extended),
            None => self.query.itself(place),
        }?;
        self.heirs.contains(&class).then(|| self.held_by(class, used)).flatten()
    }

    /// A member of a value that nothing is known about.
    fn perhaps(&self, file: FileId, view: &View, used: &Use, path: &str) -> Option<Certainty> {
        let fits =
            used.arguments.zip(self.definition.arity).is_none_or(|(arguments, arity)| arity.takes(arguments));
        let called = used.role == Role::Call;
        let callable = self.definition.kind == DefinitionKind::Method;
        // A path that begins with a name of an import leads out of the project.
        let first = path.split('.').next().unwrap_or(path);
        let imported = !first.is_empty() && view.bindings.names.iter().any(|bound| &*bound.local == first);
        if imported || (called && callable && !fits) || (!called && callable && used.role == Role::Type) {
            return None;
        }
        let mentions = || {
            let text = self.query.world.text(file);
            let mentioned = |name: &Box<str>| {
                text.as_deref().is_some_and(|text| crate::world::words(text).any(|word| word == &**name))
            };
            self.heir_names.iter().any(mentioned)
        };
        let near = view.package == self.package && !self.package.is_empty();
        let close = near || (self.owners == 1 && is_distinctive(&self.definition.name)) || mentions();
        (close && self.query.sees(file, self.file)).then_some(Certainty::Possible)
    }
}

/// The path by which a name is written, where it is one.
fn written(used: &Use) -> Option<String> {
    match &used.of {
        None => Some(used.name.to_string()),
        Some(of) => path_of(of).map(|before| format!("{before}.{}", used.name)),
    }
}

fn path_of(shape: &Shape) -> Option<String> {
    match shape {
        Shape::Name(path) => Some(path.to_string()),
        Shape::Member(of, name) => path_of(of).map(|before| format!("{before}.{name}")),
        _ => None,
    }
}

/// Whether a function of the same name cannot be the one that is called.
fn is_other_overload(own: &Definition, used: &Use) -> bool {
    let counts = used.arguments.zip(own.arity);
    own.kind == DefinitionKind::Function && counts.is_some_and(|(arguments, arity)| !arity.takes(arguments))
}

fn reference(file: FileId, line: u32, kind: Kind, role: Role, pattern: &str) -> Reference {
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
