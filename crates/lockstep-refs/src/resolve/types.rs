//! The types of values, from declarations, constructors and results.

mod applied;
mod calls;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use foldhash::HashMap;

use super::members::TypeMembers;
use super::names::{Defined, Entity, Hit, Mode, Resolver};
use super::{Module, Symbol, external_types, path_of};
use crate::facts::{
    ALIAS, ANY_MEMBER, DECORATED, Definition, DefinitionKind, PROPERTIES, Shape, argument_position,
};
use crate::limits::Limit;
use crate::memo::{Entry, Progress};
use crate::work::Work;
use crate::world::FileId;

/// The maximum number of steps along a chain of values.
const MAX_STEPS: usize = 32;
/// The maximum size of a union that is tracked.
const MAX_TYPES: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Type {
    Module(Module),
    /// A definition itself: a class, a function; with the value it was reached through.
    Symbol(Symbol, Option<Rc<Type>>),
    Instance(Symbol),
    /// An instance, seen as its base type.
    Parent(Symbol),
    /// A value of a type outside the project: its name if it is known, and its type arguments.
    Outside(Rc<str>, Rc<[Type]>),
    /// A function by its shape, and the location of the shape.
    Callable(Rc<Place>, Rc<Shape>),
    /// An object by its properties, and their location.
    Object(Rc<Place>, Rc<[Shape]>),
    /// A type checker does not know the type.
    Untyped,
    Unknown,
}

impl Type {
    pub(super) fn external(name: &str) -> Self {
        Self::Outside(name.into(), Rc::new([]))
    }
}

/// The location of a shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: FileId,
    pub(crate) within: Option<u32>,
    /// The type of `self`, if it is known better than by the location.
    pub(crate) this: Option<Rc<Type>>,
}

/// Types of values in a world.
#[derive(Default)]
pub(super) struct Values {
    /// By the definition whose result or type they are.
    given: RefCell<HashMap<Symbol, Entry<ConsultedTypes>>>,
    /// Definitions whose values depend on an open computation or a limit.
    provisional: RefCell<Vec<Symbol>>,
    /// By the scope and the shape of the expression.
    shapes: RefCell<HashMap<(FileId, Option<u32>), TypesByShape>>,
    pub(super) members: TypeMembers,
    pub(super) progress: Progress,
    /// The definitions that the present computation consulted.
    consulted: Cell<Consulted>,
}

type TypesByShape = HashMap<Shape, ConsultedTypes>;

/// Types, and the definitions that their computation consulted.
type ConsultedTypes = (Rc<[Type]>, Consulted);

/// The definitions whose names a computation looked up: one bit for each, which others may share. The result is the same without every
/// definition that is not among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Consulted(u64);

impl Consulted {
    pub(super) fn of(symbol: Symbol) -> Self {
        let number = u64::from(symbol.file.0) << 32 | u64::from(symbol.at);
        Self(1 << (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58))
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns false if the two have certainly nothing in common.
    pub(super) fn may_share(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl Values {
    pub(super) fn consult(&self, consulted: Consulted) {
        self.consulted.set(self.consulted.get().and(consulted));
    }

    /// Runs a computation. Returns what it consulted too.
    pub(super) fn consulting<T>(&self, compute: impl FnOnce() -> T) -> (T, Consulted) {
        let around = self.consulted.take();
        let result = compute();
        let consulted = self.consulted.get();
        self.consulted.set(around.and(consulted));
        (result, consulted)
    }
}

impl Resolver<'_> {
    /// Returns the possible types of a shape at a place.
    pub(crate) fn types(&self, place: &Place, shape: &Shape) -> Rc<[Type]> {
        let is_shared = place.this.is_none();
        let scope = (place.file, place.within);
        if is_shared && let Some((known, consulted)) = self.known_types(scope, shape) {
            self.values.consult(consulted);
            return known;
        }
        if self.depth.get() >= MAX_STEPS {
            Limit::Steps.reach();
            self.values.progress.cut();
            return Rc::new([Type::Unknown]);
        }
        Work::count_type();
        let computation = self.values.progress.begin();
        self.depth.set(self.depth.get() + 1);
        let mut types = Vec::new();
        let (all, consulted) = self.values.consulting(|| self.evaluate(place, shape));
        for one in all {
            if !types.contains(&one) {
                types.push(one);
            }
        }
        self.depth.set(self.depth.get() - 1);
        if types.len() > MAX_TYPES {
            Limit::Types.reach();
            types.clear();
        }
        if types.is_empty() {
            types.push(Type::Unknown);
        }
        let types: Rc<[Type]> = types.into();
        // From the outermost computation, a limit always truncates the result in the same way.
        let is_complete = self.values.progress.end(&computation);
        if is_shared && (is_complete || computation.position == 0) {
            let mut shapes = self.values.shapes.borrow_mut();
            shapes.entry(scope).or_default().insert(shape.clone(), (Rc::clone(&types), consulted));
        }
        types
    }

    /// Returns the types of a shape in a scope if they were evaluated before. In a world without some definitions, they are the same as
    /// with them unless their computation consulted one of those.
    fn known_types(&self, scope: (FileId, Option<u32>), shape: &Shape) -> Option<ConsultedTypes> {
        let own = self.values.shapes.borrow().get(&scope).and_then(|hash_map| hash_map.get(shape)).cloned();
        own.or_else(|| {
            let (values, removed) = self.complete.as_ref()?;
            let found = values.shapes.borrow().get(&scope)?.get(shape).cloned()?;
            (!found.1.may_share(*removed)).then_some(found)
        })
    }

    fn evaluate(&self, place: &Place, shape: &Shape) -> Vec<Type> {
        match shape {
            Shape::Name(name) => self.types_of_name(place, name),
            Shape::Of(name) if argument_position(name).is_some() => vec![Type::external(name)],
            Shape::Of(name) => self.instances(place, name).into_iter().map(without_arguments).collect(),
            Shape::Member(of, name) => self.each(place, of, |type_| self.member(type_, name)),
            Shape::Call(of) => self.each(place, of, |type_| self.called(type_)),
            Shape::Itself => vec![self.self_type(place)],
            Shape::Parent => match self.self_type(place) {
                Type::Instance(class) | Type::Symbol(class, _) => {
                    vec![Type::Parent(self.class_of(place).unwrap_or(class))]
                }
                _ => vec![Type::Unknown],
            },
            Shape::Applied(head, arguments) => self.applied(place, head, arguments),
            Shape::Function(..) => {
                vec![Type::Callable(Rc::new(place.clone()), Rc::new(shape.clone()))]
            }
            Shape::Either(parts) => self.all(place, parts),
            Shape::Element(of) => self.each(place, of, |type_| self.element(type_)),
            Shape::Awaited(of) => self.each(place, of, external_types::awaited),
            Shape::Parameter(of, argument, parameter) => {
                self.each(place, of, |type_| self.parameter(type_, *argument, *parameter))
            }
            Shape::Untyped => vec![Type::Untyped],
            Shape::Unknown => vec![Type::Unknown],
        }
    }

    fn each(&self, place: &Place, of: &Shape, then: impl Fn(&Type) -> Vec<Type>) -> Vec<Type> {
        self.types(place, of).iter().flat_map(then).collect()
    }

    /// The types of several shapes.
    fn all(&self, place: &Place, shapes: &[Shape]) -> Vec<Type> {
        shapes.iter().flat_map(|shape| self.types(place, shape).to_vec()).collect()
    }

    pub(super) fn types_of_name(&self, place: &Place, name: &str) -> Vec<Type> {
        let hits = self.dotted(place.file, name);
        if hits.is_empty() {
            return vec![Type::external(name)];
        }
        hits.into_iter().flat_map(|hit| self.types_of_meaning(hit, Some(place.file))).collect()
    }

    fn consult(&self, entity: &Entity) {
        if let Entity::Symbol(symbol) = entity {
            self.values.consult(Consulted::of(*symbol));
        }
    }

    /// Returns the types of a meaning of a name in a file.
    fn types_of_meaning(&self, hit: Hit, from: Option<FileId>) -> Vec<Type> {
        self.consult(&hit.entity);
        match hit.entity {
            entity if self.is_gone(from, &entity) => vec![Type::Untyped],
            Entity::Module(module) => vec![Type::Module(module)],
            Entity::Symbol(symbol) => self.value(symbol, None),
            Entity::Outside => vec![Type::external("")],
        }
    }

    /// Returns the types of a definition that is named.
    pub(crate) fn value(&self, symbol: Symbol, this: Option<&Type>) -> Vec<Type> {
        let Some(definition) = self.definition(symbol) else { return vec![Type::Unknown] };
        match definition.kind {
            DefinitionKind::Value | DefinitionKind::Field | DefinitionKind::Variant
                if definition.gives.is_some() =>
            {
                self.declared_types(symbol, &definition, this)
            }
            DefinitionKind::Function if this.is_none() && is_decorated(&definition) => {
                let place = Place { file: symbol.file, within: Some(symbol.at), this: None };
                let types = match &definition.gives {
                    Some(Shape::Applied(_, parts)) => self.decorator_result(&place, parts),
                    _ => Vec::new(),
                };
                if types.is_empty() { vec![Type::Symbol(symbol, None)] } else { types }
            }
            // A function, a class, or an object whose properties are separate definitions.
            _ => vec![Type::Symbol(symbol, this.cloned().map(Rc::new))],
        }
    }

    /// Returns the type of a variable, or the result type of a function.
    fn declared_types(&self, symbol: Symbol, definition: &Definition, this: Option<&Type>) -> Vec<Type> {
        let Some(gives) = &definition.gives else { return vec![Type::Unknown] };
        let gives = match gives {
            Shape::Applied(_, parts) if is_decorated(definition) => parts.last().unwrap_or(gives),
            gives => gives,
        };
        let gives = match gives {
            Shape::Function(_, result) if is_function(definition) => result,
            gives => gives,
        };
        let place = Place { file: symbol.file, within: Some(symbol.at), this: this.cloned().map(Rc::new) };
        if this.is_some() {
            return self.types(&place, gives).to_vec();
        }
        let Values { given, provisional, progress, .. } = &*self.values;
        match given.borrow().get(&symbol) {
            Some(Entry::Known((types, consulted))) => {
                self.values.consult(*consulted);
                return types.to_vec();
            }
            // The type of a definition that refers to itself is unknown.
            Some(Entry::Open(position)) => {
                progress.meet(*position);
                return vec![Type::Unknown];
            }
            None => {}
        }
        let computation = progress.begin();
        let first_provisional = provisional.borrow().len();
        given.borrow_mut().insert(symbol, Entry::Open(computation.position));
        let (types, consulted) = self.values.consulting(|| self.types(&place, gives));
        let is_complete = progress.end(&computation);
        if !is_complete {
            provisional.borrow_mut().push(symbol);
        }
        given.borrow_mut().insert(symbol, Entry::Known((Rc::clone(&types), consulted)));
        if is_complete || progress.is_idle() {
            for symbol in provisional.borrow_mut().drain(first_provisional..) {
                given.borrow_mut().remove(&symbol);
            }
        }
        types.to_vec()
    }

    /// Values of a named type.
    pub(super) fn instances(&self, place: &Place, name: &str) -> Vec<Type> {
        let hits = self.dotted(place.file, name);
        if hits.is_empty() {
            return vec![Type::external(name)];
        }
        let outside = || {
            let last = name.rsplit(self.scheme.separator()).next().unwrap_or(name);
            Type::external(last)
        };
        let mut types = Vec::new();
        for hit in hits {
            self.consult(&hit.entity);
            match hit.entity {
                entity if self.is_gone(Some(place.file), &entity) => types.push(Type::Untyped),
                Entity::Outside => types.push(outside()),
                Entity::Module(_) => types.push(Type::Unknown),
                Entity::Symbol(symbol) => types.extend(self.values_of(symbol)),
            }
        }
        types
    }

    /// Values of a type, by its definition: an alias is followed.
    fn values_of(&self, symbol: Symbol) -> Vec<Type> {
        let Some(definition) = self.definition(symbol) else { return vec![Type::Unknown] };
        match definition.kind {
            DefinitionKind::Type | DefinitionKind::Interface => match &definition.gives {
                Some(alias) => {
                    let place = Place { file: symbol.file, within: Some(symbol.at), this: None };
                    self.types(&place, alias).to_vec()
                }
                None => vec![Type::Instance(symbol)],
            },
            DefinitionKind::Value | DefinitionKind::Field => {
                let types = self.declared_types(symbol, &definition, None);
                if is_applied(definition.gives.as_ref(), ALIAS) {
                    return types;
                }
                types.iter().map(|type_| self.instance(type_)).collect()
            }
            _ => vec![Type::Unknown],
        }
    }

    /// A value of a class that is a value itself.
    fn instance(&self, class: &Type) -> Type {
        match class {
            Type::Symbol(symbol, _) => Type::Instance(*symbol),
            Type::Untyped => Type::Untyped,
            Type::Outside(name, _) if !name.is_empty() => class.clone(),
            _ => Type::Unknown,
        }
    }

    fn self_type(&self, place: &Place) -> Type {
        if let Some(this) = &place.this {
            return (**this).clone();
        }
        self.class_of(place).map_or(Type::Unknown, Type::Instance)
    }

    /// Returns the enclosing type of a place.
    fn class_of(&self, place: &Place) -> Option<Symbol> {
        let view = self.view(place.file)?;
        let definition = view.definition(place.within?)?;
        let is_type = |candidate: &Definition| {
            matches!(candidate.kind, DefinitionKind::Type | DefinitionKind::Interface)
        };
        if is_type(definition) {
            return Some(Symbol { file: place.file, at: place.within? });
        }
        let mut path = definition.container.as_deref()?;
        loop {
            let types = view.at(path).iter().find(|at| view.definition(**at).is_some_and(is_type));
            if let Some(at) = types {
                return Some(Symbol { file: place.file, at: *at });
            }
            path = path.rsplit_once('.')?.0;
        }
    }

    pub(crate) fn member(&self, of: &Type, name: &str) -> Vec<Type> {
        if name == PROPERTIES {
            return self.properties(of);
        }
        if let Some(hidden) = name.strip_prefix('@') {
            return self.extracted_types(of, hidden);
        }
        match of {
            Type::Module(module) => {
                let hits = self.exported(module, name, Mode::Named);
                hits.into_iter().flat_map(|hit| self.types_of_meaning(hit, None)).collect()
            }
            Type::Instance(class) if name == "__class__" => vec![Type::Symbol(*class, None)],
            Type::Symbol(class, _) | Type::Instance(class) | Type::Parent(class) => {
                let members = match of {
                    Type::Parent(_) => self.inherited(*class, name),
                    _ => self.members(*class, name),
                };
                if members.symbols.is_empty() {
                    return vec![self.nothing(members.open)];
                }
                members.symbols.iter().flat_map(|symbol| self.value(*symbol, Some(of))).collect()
            }
            Type::Outside(head, arguments) => vec![external_types::member(head, arguments, name)],
            Type::Untyped => vec![Type::Untyped],
            Type::Callable(..) => vec![Type::external("")],
            Type::Object(place, properties) => match property(properties, name) {
                Some(shape) => self.types(place, shape).to_vec(),
                None => vec![Type::external("")],
            },
            Type::Unknown => vec![Type::Unknown],
        }
    }

    /// Returns the type of a missing member. In languages whose values have only the members of their type, a
    /// checker reports the missing member itself, and nothing about its uses.
    fn nothing(&self, open: bool) -> Type {
        match (open, self.scheme.is_structural()) {
            (true, _) => Type::external(""),
            (false, true) => Type::Unknown,
            (false, false) => Type::Untyped,
        }
    }

    /// Returns the types that a construct of the language extracts from a value: entering it, a position, an
    /// index.
    fn extracted_types(&self, of: &Type, name: &str) -> Vec<Type> {
        match (of, name) {
            (Type::Untyped, _) => vec![Type::Untyped],
            (Type::Outside(head, arguments), _) => vec![external_types::part(head, arguments, name)],
            (Type::Instance(_), "enter") => self.result(of, "__enter__"),
            (Type::Instance(_), "aenter") => {
                self.result(of, "__aenter__").iter().flat_map(external_types::awaited).collect()
            }
            (Type::Instance(class), "item") if self.scheme.is_structural() => self.any_member(*class, of),
            (Type::Instance(_), name) if name.starts_with("item") => self.result(of, "__getitem__"),
            (Type::Symbol(class, _), "item") if self.scheme.is_structural() => self.any_member(*class, of),
            (Type::Symbol(..), name) if name.starts_with("item") => vec![of.clone()],
            (Type::Instance(_), _) => self.element(of),
            _ => vec![Type::Unknown],
        }
    }

    /// Some member of a type: any of those that it declares.
    fn any_member(&self, class: Symbol, of: &Type) -> Vec<Type> {
        let Some(view) = self.view(class.file) else { return vec![Type::Unknown] };
        let Some(path) = view.definition(class.at).map(path_of) else { return vec![Type::Unknown] };
        let inside = |definition: &Definition| {
            definition.container.as_deref() == Some(&*path) && &*definition.name != ANY_MEMBER
        };
        let members = (0_u32..).zip(&view.facts.definitions).filter(|(_, definition)| inside(definition));
        let symbols: Vec<Symbol> = members.map(|(at, _)| Symbol { file: class.file, at }).collect();
        if symbols.len() > MAX_TYPES {
            return vec![Type::Unknown];
        }
        symbols.into_iter().flat_map(|symbol| self.value(symbol, Some(of))).collect()
    }

    fn result(&self, of: &Type, method: &str) -> Vec<Type> {
        self.member(of, method).iter().flat_map(|type_| self.called(type_)).collect()
    }

    fn is_class(&self, symbol: Symbol) -> bool {
        let is_type = |defined: Defined| defined.kind == DefinitionKind::Type;
        !self.scheme.is_structural() && self.definition(symbol).is_some_and(is_type)
    }
}

/// Returns the shape of an object's property.
pub(super) fn property<'s>(properties: &'s [Shape], name: &str) -> Option<&'s Shape> {
    let mut pairs = properties.chunks_exact(2);
    pairs.find_map(|pair| matches!(&pair[0], Shape::Of(it) if **it == *name).then_some(&pair[1]))
}

/// Returns a type without its references to type arguments.
fn without_arguments(one: Type) -> Type {
    match &one {
        Type::Outside(name, _) if argument_position(name).is_some() => Type::Unknown,
        _ => one,
    }
}

fn is_function(definition: &Definition) -> bool {
    matches!(definition.kind, DefinitionKind::Function | DefinitionKind::Method)
}

/// Returns true if a decorator may replace a function.
fn is_decorated(definition: &Definition) -> bool {
    is_applied(definition.gives.as_ref(), DECORATED)
}

fn is_head(head: &Shape, name: &str) -> bool {
    matches!(head, Shape::Of(it) if **it == *name)
}

fn is_applied(shape: Option<&Shape>, head: &str) -> bool {
    matches!(shape, Some(Shape::Applied(it, _)) if is_head(it, head))
}
