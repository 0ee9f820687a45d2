//! Decides whether a use of a name means the wanted definition, with its certainty.

use super::names::{Symbol, View, full_name};
use super::search::{container_of, written_path};
use super::search_target::SearchTarget;
use super::types::{Place, Value};
use super::{is_member, is_type};
use crate::entity::is_unlikely_word;
use crate::facts::{Definition, DefinitionKind, Reach, Role, Shape, Use};
use crate::language::Language;
use crate::reference::Certainty;
use crate::world::{FileId, words};

/// Member names that types of every library have, so that they do not identify an owner.
const COMMON: &[&str] = &[
    "add", "all", "any", "append", "apply", "at", "build", "call", "clear", "close", "code", "config",
    "contains", "copy", "count", "create", "data", "delete", "each", "empty", "end", "equals", "error",
    "execute", "exists", "filter", "find", "first", "flush", "format", "get", "has", "hash", "id", "index",
    "init", "insert", "invoke", "is", "items", "iterator", "join", "key", "keys", "kind", "last", "len",
    "length", "list", "load", "lock", "log", "map", "match", "merge", "message", "name", "next", "node",
    "of", "open", "options", "parent", "parse", "path", "peek", "pop", "print", "process", "push", "put",
    "read", "remove", "render", "replace", "reset", "resolve", "result", "run", "save", "send", "set",
    "size", "sort", "split", "start", "state", "status", "stop", "string", "sum", "test", "text", "title",
    "to", "token", "type", "unlock", "update", "url", "value", "values", "wait", "with", "write",
];

impl SearchTarget<'_, '_> {
    /// Returns the certainty that a use means the definition. `None` if it does not.
    pub(super) fn certainty_of(&self, file: FileId, view: &View, used: &Use) -> Option<Certainty> {
        if view.facts.language == Language::Java && self.is_in_other_namespace(file, used) {
            return None;
        }
        if self.constructs {
            return (used.role == Role::Call).then(|| self.construction_meant(file, view, used)).flatten();
        }
        if let Some(extended) = self.definition.extends.first().filter(|_| !is_type(self.definition)) {
            return self.extension_meant(file, view, used, extended);
        }
        match self.owner.is_some() {
            true => self.member_meant(file, view, used),
            false => self.full_name_meant(file, view, used, self.written_name()),
        }
    }

    /// Returns true if a use of Java names a method where the definition is a field, or the reverse.
    fn is_in_other_namespace(&self, file: FileId, used: &Use) -> bool {
        match (self.definition.kind, used.role) {
            (DefinitionKind::Field, Role::Call) => true,
            (DefinitionKind::Method, Role::Value) => {
                let is_field = |symbol: &Symbol| {
                    self.query
                        .definition(*symbol)
                        .is_some_and(|defined| defined.kind == DefinitionKind::Field)
                };
                let has_field = self
                    .owner
                    .is_some_and(|owner| self.query.members(owner, &used.name).iter().any(is_field));
                has_field && !self.is_method_reference(file, used)
            }
            _ => false,
        }
    }

    /// Returns true if a line has `::` before the used name.
    fn is_method_reference(&self, file: FileId, used: &Use) -> bool {
        let text = self.query.world.text(file).unwrap_or_default();
        let line = text.lines().nth((used.line as usize).saturating_sub(1)).unwrap_or_default();
        line.split("::").skip(1).any(|rest| words(rest).next() == Some(&used.name))
    }

    /// Checks a call that creates an object with this constructor: of its type, of a type that inherits it,
    /// or from the constructor of a subtype.
    fn construction_meant(&self, file: FileId, view: &View, used: &Use) -> Option<Certainty> {
        if matches!(used.of, Some(Shape::Parent | Shape::Itself | Shape::Of(_)))
            && used.name == self.definition.name
        {
            return self.member_meant(file, view, used);
        }
        if self.is_base_of(file, view, used) {
            return Some(Certainty::Resolved);
        }
        let own = self.full_name_meant(file, view, used, self.written_name());
        let mut heirs = self.heirs.full_names.iter();
        own.or_else(|| heirs.find_map(|heir| self.full_name_meant(file, view, used, heir)))
    }

    /// Returns true if the name is that of the constructor's type inside a subtype, where it needs no path.
    fn is_base_of(&self, file: FileId, view: &View, used: &Use) -> bool {
        let place = Place { file, container: container_of(view, used.within) };
        let parents =
            || self.query.enclosing_type(place).map(|class| self.query.parents(class)).unwrap_or_default();
        used.of.is_none()
            && used.name == self.definition.name
            && self.owner.is_some_and(|owner| parents().contains(&owner))
    }

    /// A function that is called as if it were a member of the type it extends.
    fn extension_meant(&self, file: FileId, view: &View, used: &Use, extended: &str) -> Option<Certainty> {
        if let Some(certainty) =
            self.full_name_meant(file, view, used, &self.full).filter(|_| used.of.is_some())
        {
            return Some(certainty);
        }
        let bound = self
            .query
            .bindings(view)
            .names
            .iter()
            .any(|bound| bound.local == used.name && bound.full == self.full);
        let holder = self.full.rsplit_once('.').map_or("", |(holder, _)| holder);
        let open = |package: &str| package == self.package || package == holder;
        if !bound && !open(&view.package) && !self.query.bindings(view).globs.iter().any(|glob| open(glob)) {
            return None;
        }
        let Some(of) = &used.of else { return Some(Certainty::Possible) };
        let place = Place { file, container: container_of(view, used.within) };
        let takes =
            used.arguments.zip(self.definition.arity).is_none_or(|(arguments, arity)| arity.takes(arguments));
        let wanted = self.query.type_of(self.file, self.definition.container.as_deref(), extended);
        match self.query.receiver(place, of) {
            Value::Of(class, _) if Some(class) == wanted => Some(Certainty::Resolved),
            Value::Of(class, _) => (wanted
                .is_some_and(|wanted| self.query.ancestors(class).contains(&wanted)))
            .then_some(Certainty::Resolved),
            Value::Outside(_) if wanted.is_some() => None,
            _ => (takes || bound).then_some(if bound { Certainty::Resolved } else { Certainty::Possible }),
        }
    }

    /// Checks whether a written name means the full name.
    pub(super) fn full_name_meant(
        &self,
        file: FileId,
        view: &View,
        used: &Use,
        named: &str,
    ) -> Option<Certainty> {
        let container = container_of(view, used.within);
        let path = written_path(used)?;
        if !self.query.means(view, container, &path, named) {
            return None;
        }
        let certainty = match self.is_seen(file, named) {
            true => Certainty::Resolved,
            // Nothing is included, but the file itself declares it.
            false => self.is_promised(view).then_some(Certainty::Possible)?,
        };
        (!self.is_shadowed(file, view, container, &path, used, named)).then_some(certainty)
    }

    /// In languages with includes: returns true if the file includes the definition, or another declaration
    /// of it.
    fn is_seen(&self, file: FileId, named: &str) -> bool {
        if self.query.sees(file, self.file) || self.definition.kind == DefinitionKind::Macro {
            return self.query.sees(file, self.file);
        }
        let declares = |other: &FileId| {
            let Some(view) = self.query.view(*other) else { return false };
            let mut definitions = view.definitions_named(&self.definition.name);
            definitions.any(|(_, definition)| full_name(&view.package, definition) == named)
        };
        self.query.included(file).iter().any(declares)
    }

    /// Returns true if the file has its own definition that the name means.
    fn is_shadowed(
        &self,
        file: FileId,
        view: &View,
        container: Option<&str>,
        path: &str,
        used: &Use,
        named: &str,
    ) -> bool {
        view.definitions_named(&used.name).any(|(_, own)| {
            let full = full_name(&view.package, own);
            // Another part of the same entity: an extension, a declaration.
            let same_thing = full == named && (file == self.file || own.reach != Reach::File || is_type(own));
            let other = self.query.packages.overloads() && is_other_overload(own, used);
            let apart = same_thing || other || is_member(own);
            !apart && self.query.means(view, container, path, &full)
        })
    }

    fn member_meant(&self, file: FileId, view: &View, used: &Use) -> Option<Certainty> {
        let container = container_of(view, used.within);
        let place = Place { file, container };
        let Some(of) = &used.of else {
            let needs_receiver = self.query.packages.is_structural();
            return if needs_receiver { None } else { self.bare_member_meant(view, place, used) };
        };
        match self.query.receiver(place, of) {
            Value::Of(class, _) => self.held_by(class, used),
            Value::Outside(_) => None,
            Value::Path(path) => match self.query.type_of(file, container, &path) {
                Some(class) => self.held_by(class, used),
                None if self.is_foreign_type(view, &path) => None,
                None => self.perhaps(file, view, used, &path),
            },
            Value::Unknown => self.perhaps(file, view, used, ""),
        }
    }

    /// Checks a member of a value of a known type.
    fn held_by(&self, class: Symbol, used: &Use) -> Option<Certainty> {
        let own = self.query.members(class, &used.name);
        let from = |symbol: &Symbol| self.query.full(*symbol).as_deref() == Some(&self.full);
        match own.is_empty() {
            true if self.is_heir(class) => Some(Certainty::Resolved),
            // The value may have been narrowed to a subtype.
            true => {
                let narrower = |owner| self.query.ancestors(owner).contains(&class);
                self.owner.is_some_and(narrower).then_some(Certainty::Possible)
            }
            false => own.iter().any(from).then_some(Certainty::Resolved),
        }
    }

    /// Checks a member that is named without its owner: inside its type, in a subtype, or by an import.
    fn bare_member_meant(&self, view: &View, place: Place<'_>, used: &Use) -> Option<Certainty> {
        let bound = self
            .query
            .bindings(view)
            .names
            .iter()
            .any(|bound| bound.local == used.name && bound.full == self.full);
        let owner = self.full.strip_suffix(&*self.definition.name).and_then(|owner| owner.strip_suffix('.'));
        if bound || self.query.bindings(view).globs.iter().any(|glob| Some(glob.as_str()) == owner) {
            return Some(Certainty::Resolved);
        }
        let around = used.within.and_then(|at| view.facts.definitions.get(usize::try_from(at).ok()?));
        let extended = around.filter(|around| !is_type(around)).and_then(|around| around.extends.first());
        let class = match extended {
            Some(extended) => self.query.type_of(place.file, place.container, extended),
            None => self.query.enclosing_type(place).or_else(|| self.bare_type(place.file, around?)),
        };
        match class {
            Some(class) if self.is_heir(class) => self.held_by(class, used),
            class => {
                let outer = self.held_by_outer_type(view, place, used, class);
                let mixed_in = outer.or_else(|| self.mixed_in_elsewhere(view, place, used, class));
                mixed_in.or_else(|| self.called_on_receiver(view, place, used))
            }
        }
    }

    /// Checks a bare name inside a nested type: it may be a member of a type around that.
    fn held_by_outer_type(
        &self,
        view: &View,
        place: Place<'_>,
        used: &Use,
        inner: Option<Symbol>,
    ) -> Option<Certainty> {
        use Language::{CSharp, Java, Kotlin};
        let sees_outer = matches!(view.facts.language, CSharp | Java | Kotlin);
        let mut inner = inner.filter(|_| sees_outer)?;
        let mut path = place.container?;
        while let Some((outer, _)) = path.rsplit_once('.') {
            if !self.query.members(inner, &used.name).is_empty() {
                return None;
            }
            inner = self.query.enclosing_type(Place { file: place.file, container: Some(outer) })?;
            if self.is_heir(inner) {
                return self.held_by(inner, used);
            }
            path = outer;
        }
        None
    }

    /// The type itself, for a name that is used in a type without members.
    fn bare_type(&self, file: FileId, around: &Definition) -> Option<Symbol> {
        let container = around.container.as_deref();
        is_type(around).then(|| self.query.type_of(file, container, &around.name)).flatten()
    }

    /// A bare name of Kotlin in a file with lambdas that have a receiver: it may be a member of that.
    fn called_on_receiver(&self, view: &View, place: Place<'_>, used: &Use) -> Option<Certainty> {
        const RECEIVING: &[&str] = &["apply", "run", "with"];
        let receives = |name: &&str| view.uses_of(name).iter().any(|(_, usage)| usage.role == Role::Call);
        let is_candidate = view.facts.language == Language::Kotlin
            && matches!(used.role, Role::Call | Role::Value)
            && self.mentions(place.file)
            && !COMMON.contains(&&*used.name)
            && RECEIVING.iter().any(receives);
        let has_own = || view.definitions_named(&used.name).next().is_some();
        if !is_candidate || has_own() || self.query.top(place, &used.name).is_some() {
            return None;
        }
        self.perhaps(place.file, view, used, "").filter(|certainty| *certainty == Certainty::Possible)
    }

    /// Checks a bare call of Ruby inside a mixin, or outside all types: the method may be from another mixin.
    fn mixed_in_elsewhere(
        &self,
        view: &View,
        place: Place<'_>,
        used: &Use,
        class: Option<Symbol>,
    ) -> Option<Certainty> {
        let is_call = used.role == Role::Call && self.definition.kind == DefinitionKind::Method;
        if view.facts.language != Language::Ruby || !is_call {
            return None;
        }
        let is_mixin = |symbol: Symbol| {
            let definition = self.query.definition(symbol);
            definition.is_some_and(|defined| defined.header.starts_with("module"))
        };
        let has_own = view.definitions_named(&used.name).next().is_some();
        // A block may run inside another object: the helpers of a framework are called so.
        let is_telling = used.arguments.is_some_and(|count| count > 0) || is_unlikely_word(&used.name);
        let is_helper = self.owners == 1 && is_telling;
        let may_have = self.owner.is_some_and(is_mixin) && (class.is_none_or(is_mixin) || is_helper);
        let certainty = self.perhaps(place.file, view, used, "").filter(|_| may_have && !has_own)?;
        // Without a receiver a name like `value` is most often a local one.
        (certainty == Certainty::Possible && !COMMON.contains(&&*used.name)).then_some(certainty)
    }

    /// Returns true if a path names a type or constant that the project does not define, as `Math` of Java.
    ///
    /// Only for languages in which nothing but types and constants begins with a capital letter, or nearly nothing.
    fn is_foreign_type(&self, view: &View, path: &str) -> bool {
        use Language::{CSharp, Java, Kotlin, Php, Ruby, Swift};
        let name = path.rsplit('.').next().unwrap_or(path);
        let capital = matches!(view.facts.language, CSharp | Java | Kotlin | Php | Ruby | Swift)
            && name.starts_with(char::is_uppercase);
        capital && self.query.all_definitions_of(name).is_empty()
    }

    /// Checks a member of a value of unknown type.
    fn perhaps(&self, file: FileId, view: &View, used: &Use, path: &str) -> Option<Certainty> {
        let fits =
            used.arguments.zip(self.definition.arity).is_none_or(|(arguments, arity)| arity.takes(arguments));
        let called = used.role == Role::Call;
        let callable = self.definition.kind == DefinitionKind::Method;
        // A path that begins with an imported name is outside the project.
        let first = path.split('.').next().unwrap_or(path);
        let imported =
            !first.is_empty() && self.query.bindings(view).names.iter().any(|bound| &*bound.local == first);
        let is_uncallable = called
            && matches!(&self.definition.gives, Some(Shape::Of(type_)) if
            self.definition.kind == DefinitionKind::Field && self.query.packages.built_in().contains(&&**type_));
        if imported
            || is_uncallable
            || (called && callable && !fits)
            || (!called && callable && used.role == Role::Type)
        {
            return None;
        }
        let near = view.package == self.package && !self.package.is_empty();
        let name = &*self.definition.name;
        let rare =
            (self.owners <= 3 && is_unlikely_word(name)) || (self.owners == 1 && !COMMON.contains(&name));
        let close = near || rare || self.mentions(file);
        // A value of unknown type may be one of the standard library, as `error` of Go.
        let is_standard = callable && self.query.packages.is_standard_method(name);
        let certainty = if close && !is_standard { Certainty::Possible } else { Certainty::Undecided };
        self.query.sees(file, self.file).then_some(certainty)
    }
}

/// Returns true if a function of the same name cannot be the one that is called.
fn is_other_overload(own: &Definition, used: &Use) -> bool {
    let counts = used.arguments.zip(own.arity);
    own.kind == DefinitionKind::Function && counts.is_some_and(|(arguments, arity)| !arity.takes(arguments))
}
