//! Conversions of values to interfaces, in languages where a type satisfies an interface by its methods
//! alone: such a place breaks with a method of either side.

use std::collections::BTreeSet;
use std::rc::Rc;

use foldhash::HashMap;

use super::Packages;
use super::names::{Query, Symbol, View};
use super::search::container_of;
use super::search_target::{MAX_FILES, SearchTarget, reference};
use super::types::{Place, Value};
use crate::facts::{Definition, DefinitionKind, Role, Shape, WHOLE};
use crate::language::ASSERTION;
use crate::limits::Limit;
use crate::reference::{Kind, Reference};
use crate::signature;
use crate::syntax::TOKEN_END;
use crate::world::{FileId, World};

/// The maximum length of a chain of fields and parameters to an expected type.
const MAX_DEPTH: usize = 6;

/// A value of a type of the project, at a place where an interface is expected.
#[derive(Debug)]
pub(super) struct Conversion {
    line: u32,
    /// The enclosing definition, as in [`Use::within`].
    within: Option<u32>,
    class: Symbol,
    expected: Expected,
}

/// The type that is expected at a place.
#[derive(Debug, Clone)]
pub(super) enum Expected {
    Ours(Symbol),
    /// An interface of the standard library, by its full name.
    Standard(String),
}

/// The meaning of what is called.
enum Callee {
    Function(Symbol),
    /// A type of the project, as it is written.
    Type(String),
    /// Something outside the project, by its full name.
    Outside(String),
}

/// The callees of a file, by the container around the call and the expression.
#[derive(Default)]
struct Callees<'v>(HashMap<Option<&'v str>, HashMap<Shape, Option<Callee>>>);

impl<'v> Callees<'v> {
    fn of(
        &mut self,
        container: Option<&'v str>,
        callee: &Shape,
        find: impl FnOnce() -> Option<Callee>,
    ) -> Option<&Callee> {
        let known = self.0.entry(container).or_default();
        if !known.contains_key(callee) {
            known.insert(callee.clone(), find());
        }
        known.get(callee)?.as_ref()
    }
}

impl SearchTarget<'_, '_> {
    /// Returns the places where a value is converted to an interface, and the wanted method is part of the
    /// match.
    pub(super) fn conversions(&self, file: FileId, view: &View) -> Vec<Reference> {
        if self.owner.is_none() || !self.is_convertible() {
            return Vec::new();
        }
        let mut found: Vec<Reference> = Vec::new();
        for conversion in self.query.conversions(file, view).iter() {
            let Conversion { line, within, class, ref expected } = *conversion;
            if found.iter().any(|reference| reference.line == line) {
                continue;
            }
            let Some(role) = self.role_in_conversion(class, expected) else { continue };
            let name = self.query.definition(class).map(|defined| defined.name.clone()).unwrap_or_default();
            let place = reference(file, line, Kind::Symbol, role, &name);
            found.push(Reference { within, ..place });
        }
        found
    }

    /// Returns the side of a conversion that has the method.
    fn role_in_conversion(&self, class: Symbol, expected: &Expected) -> Option<Role> {
        let name = &*self.definition.name;
        let query = self.query;
        if self.is_heir(class) && query.full(class) != self.asking_owner() {
            let asks = match expected {
                Expected::Ours(other) => {
                    *other != class && is_interface(query, *other) && !query.members(*other, name).is_empty()
                }
                Expected::Standard(interface) => query
                    .packages
                    .standard_methods(interface)
                    .is_some_and(|standard_methods| standard_methods.contains(&name)),
            };
            return asks.then_some(Role::Conform);
        }
        let Expected::Ours(other) = *expected else { return None };
        let asks = other != class && is_interface(query, other) && self.is_heir(other);
        let has = |symbol: &Symbol| query.full(*symbol).as_deref() != Some(&self.full);
        (asks && query.members(class, name).iter().any(has)).then_some(Role::Implement)
    }

    /// Returns the owner, if it is an interface: values of it have their methods anyway.
    fn asking_owner(&self) -> Option<Rc<str>> {
        self.owner.filter(|owner| is_interface(self.query, *owner)).and_then(|owner| self.query.full(owner))
    }
}

/// The places where a value is used for an interface whose method its type does not have.
pub(crate) fn unfit_conversions(
    world: &dyn World,
    packages: &dyn Packages,
    (file, interface): (FileId, &Definition),
    method: &str,
) -> Vec<Reference> {
    if !packages.is_structural() || interface.kind != DefinitionKind::Interface {
        return Vec::new();
    }
    let query = Query::new(world, packages);
    query.ask_about(file);
    let mut found = Vec::new();
    for candidate in converting_files(&query, &interface.name) {
        let Some(view) = query.view(candidate) else { continue };
        for conversion in query.conversions(candidate, &view).iter() {
            let Conversion { line, within, class, ref expected } = *conversion;
            let Expected::Ours(other) = *expected else { continue };
            let asks = other.file == file
                && query
                    .definition(other)
                    .is_some_and(|defined| defined.name == interface.name && defined.line == interface.line);
            if asks && other != class && query.lacks(class, method) {
                let name = query.definition(class).map(|defined| defined.name.clone()).unwrap_or_default();
                let place = reference(candidate, line, Kind::Symbol, Role::Conform, &name);
                found.push(Reference { within, ..place });
            }
        }
    }
    found
}

/// The files that may use a value as an interface: they name it, or a function, field or type that refers to it.
fn converting_files(query: &Query<'_>, interface: &str) -> BTreeSet<FileId> {
    let mut files: BTreeSet<FileId> =
        Limit::first(query.containing(interface), MAX_FILES).into_iter().collect();
    let mut names: BTreeSet<Box<str>> = BTreeSet::new();
    for view in files.iter().filter_map(|file| query.view(*file)) {
        let leads = |definition: &&Definition| {
            let gives = matches!(&definition.gives, Some(Shape::Of(path)) if path.rsplit('.').next() == Some(interface));
            gives || definition.header.split(TOKEN_END).any(|token| token == interface)
        };
        names.extend(view.facts.definitions.iter().filter(leads).map(|definition| definition.name.clone()));
    }
    files.extend(names.iter().flat_map(|name| query.containing(name)).take(MAX_FILES));
    files
}

fn is_interface(query: &Query<'_>, symbol: Symbol) -> bool {
    query.definition(symbol).is_some_and(|defined| defined.kind == DefinitionKind::Interface)
}

impl Query<'_> {
    /// Returns the values of types of the project in a file, at places where another type may be expected.
    fn conversions(&self, file: FileId, view: &View) -> Rc<[Conversion]> {
        self.once(
            |results| results.conversions.borrow().get(&file).cloned(),
            || self.find_conversions(file, view).into(),
            |results, found| drop(results.conversions.borrow_mut().insert(file, found)),
        )
    }

    fn find_conversions(&self, file: FileId, view: &View) -> Vec<Conversion> {
        let uses = &view.facts.uses;
        let mut callees = Callees::default();
        let mut conversion = |key: u32| {
            let used = uses.read(key)?;
            let Some(Shape::Function(values, expected)) = &used.of else { return None };
            let (line, within) = (used.line, used.within);
            let place = Place { file, container: container_of(view, within) };
            // Most places expect a type that is not an interface. The value does not matter there.
            let expected = match &**expected {
                Shape::Parameter(callee, at, WHOLE) => {
                    let callee = callees.of(place.container, callee, || self.callee(place, callee));
                    self.expected_argument(place, callee, *at, 0)
                }
                other => self.expected(place, other, 0),
            };
            let expected = expected.filter(|expected| self.is_required(expected))?;
            let Value::Of(class, arguments) = self.value(place, values.first()?) else { return None };
            let is_asked_at_run_time = &*used.name == ASSERTION && is_interface(self, class);
            (arguments.is_empty() && !is_asked_at_run_time).then_some(Conversion {
                line,
                within,
                class,
                expected,
            })
        };
        uses.named()
            .filter(|usage| usage.role == Role::Conform)
            .filter_map(|usage| conversion(usage.key))
            .collect()
    }

    /// Returns true if an expected type is an interface.
    fn is_required(&self, expected: &Expected) -> bool {
        match expected {
            Expected::Ours(symbol) => is_interface(self, *symbol),
            Expected::Standard(interface) => self.packages.standard_methods(interface).is_some(),
        }
    }

    /// Returns true if a type certainly has no method of this name: everything that it embeds is known.
    fn lacks(&self, class: Symbol, method: &str) -> bool {
        let is_known = |symbol: Symbol| {
            self.definition(symbol)
                .is_some_and(|definition| definition.extends.len() <= self.parents(symbol).len())
        };
        self.members(class, method).is_empty() && self.ancestors(class).iter().copied().all(is_known)
    }

    fn expected(&self, place: Place<'_>, shape: &Shape, depth: usize) -> Option<Expected> {
        if depth > MAX_DEPTH {
            Limit::Depth.reach();
            return None;
        }
        match shape {
            Shape::Of(path) | Shape::Name(path) if self.is_written_type(place, path, shape) => {
                self.expected_type(place, path, depth)
            }
            Shape::Parameter(callee, at, WHOLE) => {
                self.expected_argument(place, self.callee(place, callee).as_ref(), *at, depth)
            }
            Shape::Member(of, field) => self.expected_member(place, of, field, depth),
            Shape::Element(of) => match &**of {
                Shape::Applied(_, arguments) => self.expected(place, arguments.last()?, depth + 1),
                _ => None,
            },
            Shape::Name(path) => {
                let symbol = self.top(place, path)?;
                self.expected_of(symbol, depth)
            }
            _ => None,
        }
    }

    fn is_written_type(&self, place: Place<'_>, path: &str, shape: &Shape) -> bool {
        matches!(shape, Shape::Of(_)) || self.type_of(place.file, place.container, path).is_some()
    }

    fn expected_type(&self, place: Place<'_>, path: &str, depth: usize) -> Option<Expected> {
        let Some(symbol) = self.type_of(place.file, place.container, path) else {
            return Some(Expected::Standard(self.imported_path(place.file, path)));
        };
        let definition = self.definition(symbol)?;
        match &definition.gives {
            Some(alias) => {
                let container = definition.container.as_deref();
                self.expected(Place { file: symbol.file, container }, alias, depth + 1)
            }
            None => Some(Expected::Ours(symbol)),
        }
    }

    /// Returns a path with the package of its first name: `http.Handler` is `net/http.Handler`.
    pub(super) fn imported_path(&self, file: FileId, path: &str) -> String {
        let Some((first, rest)) = path.split_once('.') else { return path.to_owned() };
        let view = self.view(file);
        let bound = view
            .as_ref()
            .and_then(|view| self.bindings(view).names.iter().find(|bound| &*bound.local == first));
        bound.map_or_else(|| path.to_owned(), |bound| format!("{}.{rest}", bound.full))
    }

    /// Returns the callee of a call.
    fn callee(&self, place: Place<'_>, callee: &Shape) -> Option<Callee> {
        let path = match callee {
            Shape::Name(path) => path.to_string(),
            Shape::Member(of, name) => match self.value(place, of) {
                Value::Of(class, _) => {
                    return self.members(class, name).first().copied().map(Callee::Function);
                }
                Value::Path(path) => format!("{path}.{name}"),
                _ => return None,
            },
            _ => return None,
        };
        // `T(value)` converts.
        if self.type_of(place.file, place.container, &path).is_some() {
            return Some(Callee::Type(path));
        }
        let function = self.top(place, &path).map(Callee::Function);
        Some(function.unwrap_or_else(|| Callee::Outside(self.imported_path(place.file, &path))))
    }

    fn expected_argument(
        &self,
        place: Place<'_>,
        callee: Option<&Callee>,
        at: u16,
        depth: usize,
    ) -> Option<Expected> {
        match callee? {
            Callee::Function(function) => self.expected_parameter(*function, at, depth),
            Callee::Type(path) => self.expected_type(place, path, depth + 1),
            Callee::Outside(full) if self.packages.standard_methods(full).is_some() => {
                Some(Expected::Standard(full.clone()))
            }
            Callee::Outside(full) => {
                let interface = self.packages.standard_parameter(full, usize::from(at));
                interface.map(|interface| Expected::Standard(interface.to_owned()))
            }
        }
    }

    /// The type of a parameter, by the header of its function.
    fn expected_parameter(&self, function: Symbol, at: u16, depth: usize) -> Option<Expected> {
        let key = (function, at, depth);
        self.once(
            |results| results.parameters.borrow().get(&key).cloned(),
            || self.find_expected_parameter(function, at, depth),
            |results, found| drop(results.parameters.borrow_mut().insert(key, found)),
        )
    }

    fn find_expected_parameter(&self, function: Symbol, at: u16, depth: usize) -> Option<Expected> {
        let definition = self.definition(function)?;
        let language = self.view(function.file)?.facts.language;
        let path = signature::parameter_type(language, &definition, usize::from(at))?;
        let place = Place { file: function.file, container: definition.container.as_deref() };
        self.expected(place, &Shape::Of(path.into()), depth + 1)
    }

    fn expected_member(&self, place: Place<'_>, of: &Shape, field: &str, depth: usize) -> Option<Expected> {
        match self.value(place, of) {
            Value::Of(class, _) => self.expected_of(*self.members(class, field).first()?, depth),
            _ => {
                let Shape::Of(path) = of else { return None };
                let full = format!("{}.{field}", self.imported_path(place.file, path));
                self.packages
                    .standard_field(&full)
                    .map(|standard_field| Expected::Standard(standard_field.to_owned()))
            }
        }
    }

    /// The type of a variable or field.
    fn expected_of(&self, symbol: Symbol, depth: usize) -> Option<Expected> {
        let definition = self.definition(symbol)?;
        let place = Place { file: symbol.file, container: definition.container.as_deref() };
        self.expected(place, definition.gives.as_ref()?, depth + 1)
    }
}
