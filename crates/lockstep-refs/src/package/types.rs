//! The types of values: found through declarations, fields and results.

use std::rc::Rc;

use super::is_type;
use super::names::{Query, Symbol};
use super::type_parameters::{is_type_parameter, type_parameters};
use crate::facts::{Declaration, DefinitionKind, Shape};
use crate::limits::Limit;
use crate::resolve::path_of;
use crate::work::Work;
use crate::world::FileId;

/// The maximum number of steps along a chain of values.
const MAX_STEPS: usize = 24;
/// A name that more files define outside types is not looked up, in languages that do not find packages by their paths.
const MAX_FILES: usize = 200;

/// The maximum number of types of which the bases are looked up for one type.
const MAX_ANCESTORS: usize = 40;

/// C++'s notation for a dereference, and the member that implements it.
const POINTED: &str = "->";
const POINTS: &str = "operator->";

/// Properties of collections that are one of the elements.
const ELEMENTS: &[&str] = &["first", "last"];

/// Functions of the standard library of Kotlin that make a collection or a text.
const FACTORIES: &[&str] = &[
    "arrayListOf",
    "arrayOf",
    "buildList",
    "buildMap",
    "buildString",
    "emptyList",
    "emptyMap",
    "emptySet",
    "hashMapOf",
    "hashSetOf",
    "linkedMapOf",
    "listOf",
    "listOfNotNull",
    "mapOf",
    "mutableListOf",
    "mutableMapOf",
    "mutableSetOf",
    "sequenceOf",
    "setOf",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// Of a type of the project, with its type arguments.
    Of(Symbol, Vec<Value>),
    /// Of a type outside the project, with its type arguments.
    Outside(Vec<Value>),
    /// A type or package itself, by its path; or a name that may be one.
    Path(Box<str>),
    Unknown,
}

/// The location of a shape.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) file: FileId,
    /// The definition's container: the type or namespace around it.
    pub(crate) container: Option<&'a str>,
}

impl Query<'_> {
    pub(crate) fn value(&self, place: Place<'_>, shape: &Shape) -> Value {
        if self.steps.get() >= MAX_STEPS {
            Limit::Steps.reach();
            return Value::Unknown;
        }
        Work::count_type();
        self.steps.set(self.steps.get() + 1);
        let value = self.evaluate(place, shape);
        self.steps.set(self.steps.get() - 1);
        value
    }

    fn evaluate(&self, place: Place<'_>, shape: &Shape) -> Value {
        match shape {
            Shape::Of(name) => self.written_type(place, name, Vec::new()),
            Shape::Applied(head, arguments) => {
                let arguments: Vec<Value> =
                    arguments.iter().map(|argument| self.value(place, argument)).collect();
                match self.value(place, head) {
                    Value::Of(symbol, _) => Value::Of(symbol, arguments),
                    Value::Outside(_) => Value::Outside(arguments),
                    other => other,
                }
            }
            Shape::Name(path) => self.named_value(place, path),
            Shape::Itself => {
                self.enclosing_type(place).map_or(Value::Unknown, |symbol| Value::Of(symbol, Vec::new()))
            }
            Shape::Parent => {
                let parents =
                    self.enclosing_type(place).map(|symbol| self.parents(symbol)).unwrap_or_default();
                parents.first().map_or(Value::Unknown, |symbol| Value::Of(*symbol, Vec::new()))
            }
            Shape::Member(of, name) => self.member(self.value(place, of), place, name),
            Shape::Call(callee) => self.called(place, callee),
            Shape::Element(of) => match self.value(place, of) {
                // A pointer may be an array of its target type.
                Value::Of(symbol, arguments) if arguments.is_empty() && self.packages.includes() => {
                    Value::Of(symbol, arguments)
                }
                Value::Of(_, arguments) | Value::Outside(arguments) => {
                    arguments.into_iter().next_back().unwrap_or(Value::Unknown)
                }
                _ => Value::Unknown,
            },
            Shape::Awaited(of) => self.value(place, of),
            _ => Value::Unknown,
        }
    }

    /// Returns the receiver of a use. It is evaluated once.
    pub(super) fn receiver(&self, place: Place<'_>, of: &Shape) -> Value {
        // Views are kept as long as results, so that the address of a shape in them identifies it.
        let address = std::ptr::from_ref(of).addr();
        self.once(
            |results| results.receivers.borrow().get(&address).cloned(),
            || self.value(place, of),
            |results, found| drop(results.receivers.borrow_mut().insert(address, found)),
        )
    }

    /// A value of the type that is written so.
    fn written_type(&self, place: Place<'_>, name: &str, arguments: Vec<Value>) -> Value {
        let Some(symbol) = self.type_of(place.file, place.container, name) else {
            let simple = name.rsplit('.').next().unwrap_or(name);
            let open =
                is_type_parameter(name) || self.may_be_ours(place.file, name) && self.is_widespread(simple);
            return if open { Value::Unknown } else { Value::Outside(arguments) };
        };
        // An alias is replaced by its target.
        let definition = self.definition(symbol);
        match definition.as_deref().and_then(|definition| Some((definition, definition.gives.as_ref()?))) {
            Some((definition, gives)) => {
                let container = definition.container.as_deref();
                self.value(Place { file: symbol.file, container }, gives)
            }
            None => Value::Of(symbol, arguments),
        }
    }

    /// Returns true if a type that was not found may be one of the project: it is not built in, and no import
    /// names its source.
    fn may_be_ours(&self, file: FileId, name: &str) -> bool {
        let first = name.split('.').next().unwrap_or(name);
        let bound =
            |view: &super::names::View| self.bindings(view).names.iter().any(|bound| &*bound.local == first);
        !self.packages.built_in().contains(&name) && !self.view(file).is_some_and(|view| bound(&view))
    }

    /// Returns the member that a path of a type and a name means.
    fn static_member(&self, place: Place<'_>, path: &str) -> Option<Symbol> {
        let (before, name) = path.rsplit_once('.')?;
        let class = self.type_of(place.file, place.container, before)?;
        self.members(class, name).first().copied()
    }

    /// Evaluates a name that is no local variable.
    fn named_value(&self, place: Place<'_>, path: &str) -> Value {
        if self.type_of(place.file, place.container, path).is_some() {
            return Value::Path(path.into());
        }
        if path.contains('.') {
            let member = self.static_member(place, path);
            return member.map_or(Value::Path(path.into()), |member| self.declared_value(member));
        }
        let field = self.enclosing_type(place).map(|symbol| self.members(symbol, path)).unwrap_or_default();
        let found = field.first().copied();
        let found = found.or_else(|| self.top(place, path)).or_else(|| self.opened_member(place, path));
        match found {
            Some(symbol) => self.declared_value(symbol),
            None => Value::Path(path.into()),
        }
    }

    /// Returns the function, variable or constant outside types that a name means.
    pub(super) fn top(&self, place: Place<'_>, path: &str) -> Option<Symbol> {
        let Place { file, container } = place;
        self.once(
            |results| results.tops.get(file, container, path),
            || self.find_top(place, path),
            |results, found| results.tops.insert(file, container, path, found),
        )
    }

    fn find_top(&self, place: Place<'_>, path: &str) -> Option<Symbol> {
        let view = self.view(place.file)?;
        let bound = self.bindings(&view).names.iter().find(|bound| &*bound.local == path);
        let name = bound.map_or(path, |bound| bound.full.as_str());
        let name = name.rsplit('.').next().unwrap_or(name);
        if !self.finds_packages_by_path() && self.declaring(name, Declaration::Outer).len() > MAX_FILES {
            Limit::Files.reach();
            return None;
        }
        let is_top = |symbol: &Symbol| {
            let definition = self.definition(*symbol);
            definition.is_some_and(|defined| {
                matches!(defined.kind, DefinitionKind::Function | DefinitionKind::Value)
            })
        };
        let is_meant = |symbol: &Symbol| {
            let full = self.full(*symbol);
            full.is_some_and(|full| self.means(&view, place.container, path, &full))
                && self.sees(place.file, symbol.file)
        };
        let definitions = self.definitions_of(name, Declaration::Outer, || self.directories(&view, path));
        definitions.iter().copied().filter(is_top).find(is_meant)
    }

    /// Returns the member that a name means of a type that the file opens: `using static`, `import static
    /// T.*`.
    fn opened_member(&self, place: Place<'_>, name: &str) -> Option<Symbol> {
        let view = self.view(place.file)?;
        self.bindings(&view).globs.iter().find_map(|glob| {
            let class = self.types_with(glob).first().copied()?;
            self.own_members(class, name).first().copied()
        })
    }

    /// Returns the result or type of a definition.
    fn declared_value(&self, symbol: Symbol) -> Value {
        let Some(definition) = self.definition(symbol) else { return Value::Unknown };
        let place = Place { file: symbol.file, container: definition.container.as_deref() };
        definition.gives.as_ref().map_or(Value::Unknown, |gives| self.value(place, gives))
    }

    /// Returns the result or type of a member of a value with type arguments: a type parameter stands for one of those.
    fn given_by(&self, member: Symbol, class: Symbol, arguments: &[Value]) -> Value {
        let (Some(definition), Some(owner)) = (self.definition(member), self.definition(class)) else {
            return Value::Unknown;
        };
        let is_own = definition.container.as_deref() == Some(&*path_of(&owner));
        let parameters =
            if is_own && !arguments.is_empty() { type_parameters(&owner.header) } else { Vec::new() };
        if parameters.len() != arguments.len() {
            return self.declared_value(member);
        }
        let argument = |shape: &Shape| match shape {
            Shape::Of(name) => {
                parameters.iter().position(|parameter| **parameter == **name).map(|at| arguments[at].clone())
            }
            _ => None,
        };
        let place = Place { file: member.file, container: definition.container.as_deref() };
        match definition.gives.as_ref() {
            Some(Shape::Applied(head, inside)) if inside.iter().any(|shape| argument(shape).is_some()) => {
                let inside = inside
                    .iter()
                    .map(|shape| argument(shape).unwrap_or_else(|| self.value(place, shape)))
                    .collect();
                match self.value(place, head) {
                    Value::Of(symbol, _) => Value::Of(symbol, inside),
                    Value::Outside(_) => Value::Outside(inside),
                    other => other,
                }
            }
            Some(gives) => argument(gives).unwrap_or_else(|| self.declared_value(member)),
            None => Value::Unknown,
        }
    }

    fn member(&self, of: Value, place: Place<'_>, name: &str) -> Value {
        if name == POINTED {
            return self.pointed(of);
        }
        match of {
            Value::Of(symbol, arguments) => match self.members(symbol, name).first() {
                Some(member) => self.given_by(*member, symbol, &arguments),
                None => Value::Unknown,
            },
            Value::Path(path) => {
                let longer = format!("{path}.{name}");
                if name == "Companion" {
                    return Value::Path(path);
                }
                if let Some(symbol) = self.type_of(place.file, place.container, &path)
                    && let Some(member) = self.members(symbol, name).first()
                {
                    return match self.definition(*member).is_some_and(|defined| is_type(&defined)) {
                        true => Value::Path(longer.into()),
                        false => self.declared_value(*member),
                    };
                }
                self.top(place, &longer)
                    .map_or(Value::Path(longer.into()), |symbol| self.declared_value(symbol))
            }
            Value::Outside(mut arguments) if ELEMENTS.contains(&name) => {
                arguments.pop().unwrap_or(Value::Unknown)
            }
            // A method of a collection returns its elements.
            Value::Outside(arguments) if !arguments.is_empty() => Value::Outside(arguments),
            Value::Outside(arguments) if self.packages.keeps_outside() => Value::Outside(arguments),
            _ => Value::Unknown,
        }
    }

    /// Evaluates `->`: for a smart pointer its target, for a plain pointer itself.
    fn pointed(&self, of: Value) -> Value {
        match of {
            Value::Of(symbol, arguments) => match self.members(symbol, POINTS).is_empty() {
                true => Value::Of(symbol, arguments),
                false => arguments.into_iter().next().unwrap_or(Value::Unknown),
            },
            Value::Outside(arguments) => arguments.into_iter().next().unwrap_or(Value::Outside(Vec::new())),
            other => other,
        }
    }

    fn called(&self, place: Place<'_>, callee: &Shape) -> Value {
        match callee {
            Shape::Name(path) => {
                if let Some(symbol) = self.type_of(place.file, place.container, path) {
                    return Value::Of(symbol, Vec::new());
                }
                let own =
                    self.enclosing_type(place).map(|symbol| self.members(symbol, path)).unwrap_or_default();
                let found = own.first().copied();
                let found =
                    found.or_else(|| self.static_member(place, path)).or_else(|| self.top(place, path));
                let found = found.or_else(|| self.opened_member(place, path));
                match found {
                    Some(symbol) => self.declared_value(symbol),
                    None if FACTORIES.contains(&&**path) => Value::Outside(Vec::new()),
                    None => Value::Unknown,
                }
            }
            Shape::Member(of, name) => match self.value(place, of) {
                Value::Path(path) => {
                    let longer = format!("{path}.{name}");
                    let class = self.type_of(place.file, place.container, &path);
                    // `T.new`, `T.shared` and similar calls return a value of the type.
                    if matches!(&**name, "new" | "init")
                        && let Some(symbol) = class
                    {
                        return Value::Of(symbol, Vec::new());
                    }
                    if let Some(symbol) = self.type_of(place.file, place.container, &longer) {
                        return Value::Of(symbol, Vec::new());
                    }
                    self.member(Value::Path(path), place, name)
                }
                Value::Outside(arguments) if !arguments.is_empty() => Value::Unknown,
                of => self.member(of, place, name),
            },
            _ => Value::Unknown,
        }
    }

    /// The type around a place.
    pub(crate) fn enclosing_type(&self, place: Place<'_>) -> Option<Symbol> {
        let mut container = place.container?;
        loop {
            if let Some(symbol) = self.anonymous(place.file, container) {
                return Some(symbol);
            }
            if let Some(symbol) = self.type_of(place.file, Some(container), container) {
                return Some(symbol);
            }
            container = container.rsplit_once('.')?.0;
        }
    }

    /// Returns the project's types that a type extends, from all parts of the type.
    pub(crate) fn parents(&self, class: Symbol) -> Vec<Symbol> {
        let (Some(definition), Some(full)) = (self.definition(class), self.full(class)) else {
            return Vec::new();
        };
        let types = if definition.extends.is_empty() && self.finds_packages_by_path() {
            // A package has one type of a name.
            Vec::new()
        } else {
            self.types_with(&full)
        };
        let parts = types.into_iter().filter(|part| *part != class);
        let mut parents = Vec::new();
        for part in std::iter::once(class).chain(parts) {
            let Some(definition) = self.definition(part) else { continue };
            let container = definition.container.as_deref();
            // A mixin inside the type may be nested in it.
            let inside = path_of(&definition);
            let find = |name: &str| {
                let around = self.type_of(part.file, container, name);
                around.or_else(|| self.type_of(part.file, Some(&inside), name))
            };
            parents.extend(
                definition.extends.iter().filter_map(|name| find(name)).filter(|parent| *parent != class),
            );
        }
        parents
    }

    /// Returns the type of a path that no text contains: that of an anonymous class.
    pub(super) fn anonymous(&self, file: FileId, path: &str) -> Option<Symbol> {
        let last = path.rsplit('.').next()?.strip_prefix('_')?;
        let is_number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
        let view = self.view(file).filter(|_| is_number)?;
        let at = view
            .facts
            .definitions
            .iter()
            .position(|definition| is_type(definition) && path_of(definition) == path)?;
        Some(Symbol { file, at })
    }

    /// Everything that a type extends, itself first.
    pub(crate) fn ancestors(&self, class: Symbol) -> Rc<[Symbol]> {
        self.once(
            |results| results.ancestors.borrow().get(&class).cloned(),
            || self.find_ancestors(class).into(),
            |results, found| drop(results.ancestors.borrow_mut().insert(class, found)),
        )
    }

    fn find_ancestors(&self, class: Symbol) -> Vec<Symbol> {
        let mut found = vec![class];
        let mut at = 0;
        while let Some(class) = found.get(at).copied() {
            if at == MAX_ANCESTORS {
                Limit::Subtypes.reach();
                break;
            }
            let parents = self.parents(class).into_iter().filter(|parent| !found.contains(parent));
            let parents: Vec<Symbol> = parents.collect();
            found.extend(parents);
            at += 1;
        }
        found
    }

    /// Returns the members of a type with a name: its own, otherwise inherited ones, from all parts of the
    /// type in any file.
    pub(crate) fn members(&self, class: Symbol, name: &str) -> Rc<[Symbol]> {
        let own = |class: &Symbol| Some(self.own_members(*class, name)).filter(|own| !own.is_empty());
        self.once(
            |results| results.members.borrow().get(&class)?.get(name).cloned(),
            || self.ancestors(class).iter().find_map(own).unwrap_or_default().into(),
            |results, found| {
                drop(results.members.borrow_mut().entry(class).or_default().insert(name.into(), found));
            },
        )
    }

    pub(super) fn own_members(&self, class: Symbol, name: &str) -> Vec<Symbol> {
        let (Some(full), Some(view)) = (self.full(class), self.view(class.file)) else { return Vec::new() };
        let is_held = |symbol: Symbol| {
            let whole = self.full(symbol);
            let holder = whole.as_deref().and_then(|whole| whole.strip_suffix(name)?.strip_suffix('.'));
            holder == Some(&full)
                && self.definition(symbol).is_some_and(|defined| defined.container.is_some())
        };
        let all = view.definitions_named(name).map(|(at, _)| Symbol { file: class.file, at });
        let own: Vec<Symbol> = all.filter(|symbol| is_held(*symbol)).collect();
        if !own.is_empty() {
            return own;
        }
        let is_member = |symbol: &&Symbol| symbol.file != class.file && is_held(**symbol);
        let members = self.definitions_of(name, Declaration::Member, || {
            self.packages.directory(&view.package).into_iter().collect()
        });
        members.iter().filter(is_member).copied().collect()
    }
}
