//! A definition whose references are searched: its owner, the types that inherit it, and the places in a file
//! that may mean it. [`use_matching`](super::use_matching) decides each use.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use super::names::{Query, Symbol, View, full_name};
use super::subtypes::Subtypes;
use super::{is_member, is_type};
use crate::facts::{Declaration, Definition, DefinitionKind, Import, Reach, Role, Use};
use crate::language::Language;
use crate::reference::{Certainty, Kind, Reference};
use crate::syntax::{TOKEN_END, is_empty_digest};
use crate::work::Work;
use crate::world::{FileId, parent, words};

/// Of the files that contain a name, so many are looked into.
pub(crate) const MAX_FILES: usize = 400;
/// The largest number of owners that says something about a member.
pub(super) const FEW_OWNERS: usize = 3;

/// A definition whose references are searched.
pub(super) struct SearchTarget<'q, 'w> {
    pub(super) query: &'q Query<'w>,
    pub(super) file: FileId,
    pub(super) definition: &'q Definition,
    pub(super) full: String,
    pub(super) package: String,
    pub(super) owner: Option<Symbol>,
    pub(super) heirs: Rc<Subtypes>,
    /// Set if it is called by its owner's name.
    pub(super) constructs: bool,
    /// The number of types with a member of this name, counted until there are more than [`FEW_OWNERS`].
    pub(super) owners: usize,
    /// The files that contain one of its names, sorted.
    naming: OnceCell<Vec<FileId>>,
    /// Set if an interface requires a method of this name: its owner may then be converted to it, wherever it
    /// is named.
    asked_for: bool,
    /// Set if uses of values of unknown types are not wanted.
    pub(super) decided_only: bool,
}

impl<'q, 'w> SearchTarget<'q, 'w> {
    pub(super) fn new(query: &'q Query<'w>, file: FileId, definition: &'q Definition) -> Option<Self> {
        let view = query.view(file)?;
        query.ask_about(file);
        let package = view.package.clone();
        let full = full_name(&package, definition);
        let member = is_member(definition);
        let owner = definition.container.as_deref().filter(|_| member).and_then(|_| {
            let holder = full.strip_suffix(&*definition.name)?.strip_suffix('.')?;
            let types = query.types_with(holder);
            types.iter().find(|symbol| symbol.file == file).or(types.first()).copied()
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
            heirs: Rc::default(),
            constructs,
            owners: 1,
            naming: OnceCell::new(),
            asked_for: false,
            decided_only: false,
        };
        if constructs && query.packages.inherits_constructors() {
            wanted.heirs = query.subtypes(owner?, Some(&definition.name));
        }
        if member && !constructs {
            wanted.heirs = query.subtypes(owner?, None);
            wanted.owners = wanted.count_owners();
            wanted.asked_for = query.packages.is_structural() && wanted.is_asked_for();
        }
        Some(wanted)
    }

    /// Returns true if a type inherits the member.
    pub(super) fn is_heir(&self, class: Symbol) -> bool {
        self.heirs.types.contains(&class)
            || self.query.full(class).is_some_and(|full| self.heirs.full_names.contains(&full))
    }

    /// Returns true if a file names the owner or a type that inherits the member.
    pub(super) fn mentions(&self, file: FileId) -> bool {
        self.heirs.mentioning(self.query).binary_search(&file).is_ok()
    }

    /// Returns true if a value of the owner may be converted to an interface because it has the method.
    pub(super) fn is_convertible(&self) -> bool {
        let is_interface = |owner| {
            let owner = self.query.definition(owner);
            owner.is_some_and(|defined| defined.kind == DefinitionKind::Interface)
        };
        self.query.packages.is_structural()
            && self.definition.kind == DefinitionKind::Method
            && (self.asked_for
                || self.query.packages.is_standard_method(&self.definition.name)
                || self.owner.is_some_and(is_interface))
    }

    fn is_asked_for(&self) -> bool {
        let asks = |view: &View, definition: &Definition| {
            let of = |other: &Definition| {
                other.kind == DefinitionKind::Interface
                    && definition.container.as_deref() == Some(&*other.name)
            };
            view.facts.definitions.iter().any(of)
        };
        self.definition.kind == DefinitionKind::Method
            && self.query.declaring(&self.definition.name, Declaration::Required).iter().any(|file| {
                let view = self.query.view(*file);
                view.is_some_and(|view| {
                    view.definitions_named(&self.definition.name)
                        .any(|(_, definition)| asks(&view, definition))
                })
            })
    }

    /// Returns a place that names the owner, which may be converted there to an interface that requires the
    /// method.
    fn conversion_site(&self, file: FileId, view: &View) -> Option<Reference> {
        let owner = self.full.rsplit_once('.').map(|(owner, _)| owner).filter(|_| self.asked_for)?;
        let uses = view.uses_of(owner.rsplit('.').next().unwrap_or(owner));
        let (_, used) =
            uses.iter().find(|(_, used)| self.full_name_meant(file, view, used, owner).is_some())?;
        let place = reference(file, used.line, Kind::Symbol, Role::Conform, &used.name);
        Some(Reference { certainty: Certainty::Undecided, within: used.within, ..place })
    }

    fn count_owners(&self) -> usize {
        let mut owners = BTreeSet::new();
        for file in self.query.declaring(&self.definition.name, Declaration::Member).iter() {
            let Some(view) = self.query.view(*file) else { continue };
            let named = view.definitions_named(&self.definition.name).map(|(_, definition)| definition);
            let members = named.filter(|definition| is_member(definition));
            owners.extend(members.map(|definition| (view.package.clone(), definition.container.clone())));
            if owners.len() > FEW_OWNERS {
                break;
            }
        }
        owners.len().max(1)
    }

    fn names(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::from([&*self.definition.name]);
        if let Some(container) = self.definition.container.as_deref().filter(|_| self.constructs) {
            names.insert(container.rsplit('.').next().unwrap_or(container));
            names.extend(self.heirs.names.iter().map(|name| &**name));
        }
        names
    }

    /// Returns the full name that users write.
    pub(super) fn written_name(&self) -> &str {
        match self.constructs {
            true => self.full.rsplit_once('.').map_or(&self.full, |(owner, _)| owner),
            false => &self.full,
        }
    }

    /// The files that contain one of its names, sorted.
    fn naming(&self) -> &[FileId] {
        self.naming.get_or_init(|| {
            let names = self.names();
            let short =
                self.query.packages.short_name(&self.definition.name).filter(|_| is_type(self.definition));
            let written = names.iter().copied().chain(short);
            let mut found: Vec<FileId> = written.flat_map(|name| self.query.containing(name)).collect();
            found.sort_unstable();
            found.dedup();
            found
        })
    }

    pub(super) fn candidates(&self) -> Vec<FileId> {
        let mut found = self.naming().to_vec();
        if self.owner.is_none() {
            self.drop_distant(&mut found);
        }
        if self.is_convertible() {
            found.extend(self.heirs.receiving(self.query));
            let mentioning = self.heirs.mentioning(self.query).iter();
            found.extend(mentioning.filter(|file| self.query.view(**file).is_some()));
        }
        found.sort_unstable();
        found.dedup();
        found.retain(|file| *file != self.file);
        found
    }

    /// Drops the files that are outside the package and do not contain its mark.
    fn drop_distant(&self, files: &mut Vec<FileId>) {
        let Query { world, packages, .. } = *self.query;
        let Some(directory) = packages.directory(&self.package) else { return };
        let Some(mark) = packages.mark(world, directory) else { return };
        let marked = self.query.candidates(mark);
        let is_marked = |path: &str| marked.binary_search_by_key(&path, |file| world.path(*file)).is_ok();
        let may_name = |path: &str| parent(path) == directory || is_marked(path);
        files.retain(|file| may_name(world.path(*file)));
    }

    pub(super) fn places(&self, file: FileId) -> Vec<Reference> {
        let Some(view) = self.query.view(file) else { return Vec::new() };
        if self.definition.reach == Reach::Package && !self.is_near(&view) {
            return Vec::new();
        }
        let mut found = Vec::new();
        if file == self.file || self.naming().binary_search(&file).is_ok() {
            Work::count_search();
            self.add_named_places(file, &view, &mut found);
        }
        found.extend(self.conversions(file, &view));
        if found.is_empty() && file != self.file && !self.decided_only {
            found.extend(self.unread(file, &view).or_else(|| self.conversion_site(file, &view)));
        }
        found
    }

    /// Adds the places of a file that contains one of its names.
    fn add_named_places(&self, file: FileId, view: &View, found: &mut Vec<Reference>) {
        if !self.constructs {
            for bound in
                self.query.bindings(view).names.iter().filter(|bound| self.is_bound(bound.full.as_str()))
            {
                found.push(reference(file, bound.line, Kind::Import, Role::Import, &self.definition.name));
            }
            found.extend(self.openings(file, view));
            found.extend(self.overrides(file, view));
        }
        if file != self.file {
            found.extend(self.declared_again(file, view));
        }
        let aliases =
            self.query.bindings(view).names.iter().filter(|bound| bound.full == self.written_name());
        let mut locals = self.names();
        locals.extend(aliases.map(|bound| &*bound.local));
        let named: Vec<_> = locals.into_iter().map(|name| view.uses_of(name)).collect();
        let mut uses: Vec<&(u32, Use)> = named.iter().flat_map(|uses| uses.iter()).collect();
        uses.sort_unstable_by_key(|(key, _)| *key);
        for (_, used) in uses {
            if let Some(certainty) = self.certainty_of(file, view, used) {
                let mut place = reference(file, used.line, Kind::Symbol, self.role(used), &used.name);
                place.certainty = certainty;
                place.arguments = used.arguments;
                place.within = used.within;
                found.push(place);
            }
        }
    }

    /// Returns a place in an unparsed part of a file that contains the name.
    fn unread(&self, file: FileId, view: &View) -> Option<Reference> {
        let name = &*self.definition.name;
        if view.facts.problems == 0 || self.constructs {
            return None;
        }
        let is_known = !view.uses_of(name).is_empty() || view.definitions_named(name).next().is_some();
        if is_known || !self.query.sees(file, self.file) {
            return None;
        }
        let text = self.query.world.text(file)?;
        let is_code = |line: &str| !line.trim_start().starts_with(['/', '*', '#']);
        let names = |line: &str| is_code(line) && words(line).any(|word| word == name);
        let (_, line) = text.lines().zip(1_u32..).find(|(line, _)| names(line))?;
        let place = reference(file, line, Kind::Symbol, Role::Value, name);
        Some(Reference { certainty: Certainty::Undecided, ..place })
    }

    /// Returns the kind of use. A type used as a value is named to access its members.
    fn role(&self, used: &Use) -> Role {
        match used.role {
            Role::Value if is_type(self.definition) => Role::Owner,
            role => role,
        }
    }

    /// Returns imports that open a type, so that its members are named alone: `using static`, `import static
    /// T.*`.
    fn openings(&self, file: FileId, view: &View) -> Vec<Reference> {
        let opens = |import: &&Import| {
            import.glob && import.alias.is_none() && *import.module == *self.written_name()
        };
        let imports = view.facts.imports.iter().filter(|_| is_type(self.definition)).filter(opens);
        let place =
            |import: &Import| reference(file, import.line, Kind::Import, Role::Import, &self.definition.name);
        imports.map(place).collect()
    }

    /// Returns true if a file is in the same package, or sees the names of that package.
    fn is_near(&self, view: &View) -> bool {
        let opened = self.query.bindings(view).globs.contains(&self.package);
        view.package == self.package || opened || self.query.packages.sees_around()
    }

    /// Returns true if an import binds it, or something inside it.
    fn is_bound(&self, full: &str) -> bool {
        let inside = full.strip_prefix(self.written_name());
        inside.is_some_and(|rest| rest.is_empty() || is_type(self.definition) && rest.starts_with('.'))
    }

    /// In languages with includes: returns true if a file only declares the function or variable, without
    /// including its definition.
    pub(super) fn is_promised(&self, view: &View) -> bool {
        let defined = match self.definition.kind {
            DefinitionKind::Function => !is_empty_digest(self.definition.body),
            kind => kind == DefinitionKind::Value,
        };
        if !defined || !self.query.packages.includes() {
            return false;
        }
        let of_it = |definition: &&Definition| {
            definition.kind == self.definition.kind
                && definition.name == self.definition.name
                && definition.container.is_none()
        };
        let named = view.definitions_named(&self.definition.name).map(|(_, definition)| definition);
        let mut own = named.filter(of_it).peekable();
        own.peek().is_some()
            && own.all(|definition| definition.reach != Reach::File && is_empty_digest(definition.body))
    }

    /// In languages with includes: returns the same entity in another file, its declaration or its
    /// definition.
    fn declared_again(&self, file: FileId, view: &View) -> Vec<Reference> {
        let mut found = Vec::new();
        let connected = self.query.sees(file, self.file) || self.query.sees(self.file, file);
        let kind = self.definition.kind;
        // A macro is visible only by inclusion: another one of its name is another macro.
        let is_linked = kind != DefinitionKind::Macro;
        if !self.query.packages.includes() || !is_linked || !(connected || self.is_promised(view)) {
            return found;
        }
        let again = |definition: &Definition| {
            definition.kind == kind
                && definition.name == self.definition.name
                && full_name(&view.package, definition) == self.full
        };
        for (at, definition) in
            view.definitions_named(&self.definition.name).filter(|(_, definition)| again(definition))
        {
            let mut place = reference(file, definition.line, Kind::Symbol, Role::Override, &definition.name);
            place.within = u32::try_from(at).ok();
            place.certainty = if connected { Certainty::Resolved } else { Certainty::Possible };
            found.push(place);
        }
        found
    }

    /// Returns true if a definition is written inside its type. In C++ the one outside follows the declaration inside.
    fn is_inside(&self, definition: &Definition, file: FileId, class: Symbol) -> bool {
        let is_around = |candidate: &Definition| {
            candidate.line <= definition.line && definition.end_line <= candidate.end_line
        };
        !self.query.packages.includes()
            || class.file == file && self.query.definition(class).is_some_and(|defined| is_around(&defined))
    }

    /// Returns true if a type also inherits a member of the name from another type than the owner.
    fn is_had_otherwise(&self, class: Symbol) -> bool {
        let name = &self.definition.name;
        let of_owner = |symbol: Symbol| {
            Some(symbol) == self.owner
                || self.query.full(symbol) == self.owner.and_then(|symbol| self.query.full(symbol))
        };
        let others = self.query.ancestors(class);
        let mut others = others.iter().copied().filter(|symbol| *symbol != class && !of_owner(*symbol));
        others.any(|symbol| !self.query.own_members(symbol, name).is_empty())
    }

    /// Returns true if a method of Java does not say that it overrides a method that has a body: it is a method of its own
    /// without that.
    fn is_unmarked(&self, definition: &Definition, view: &View) -> bool {
        view.facts.language == Language::Java
            && !is_empty_digest(self.definition.body)
            && !definition.header.split(TOKEN_END).any(|token| token == "Override" || token == "@Override")
    }

    /// Returns definitions that override the member in subtypes of its owner.
    fn overrides(&self, file: FileId, view: &View) -> Vec<Reference> {
        let mut found = Vec::new();
        // A field of Java cannot be overridden.
        let property = self.definition.kind == DefinitionKind::Field && view.facts.language != Language::Java;
        if self.definition.kind != DefinitionKind::Method && !(property && self.query.packages.overloads()) {
            return found;
        }
        for (at, definition) in view.definitions_named(&self.definition.name) {
            let again = definition.name == self.definition.name && definition.kind == self.definition.kind;
            let Some(container) = definition.container.as_deref().filter(|_| again) else { continue };
            let class = self.query.anonymous(file, container);
            let class = class.or_else(|| self.query.type_of(file, Some(container), container));
            let Some(class) = class else { continue };
            let own = class == self.owner.unwrap_or(class)
                || self.query.full(class) == self.owner.and_then(|symbol| self.query.full(symbol));
            if !own && self.is_heir(class) && self.is_inside(definition, file, class) {
                // A member that the type still inherits is compared with the signature. It is not missing.
                let is_apart = self.is_had_otherwise(class) || self.is_unmarked(definition, view);
                let role = if is_apart { Role::Redefine } else { Role::Override };
                let mut place = reference(file, definition.line, Kind::Symbol, role, &definition.name);
                place.within = u32::try_from(at).ok();
                found.push(place);
            }
        }
        found
    }
}

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
