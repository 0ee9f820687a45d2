//! What a value is: its type, as far as declarations, constructors and results say it.

use std::rc::Rc;

use super::names::{Entity, Hit, Mode, Resolver};
use super::{Module, Symbol, outside, path_of};
use crate::facts::{
    self, ALIAS, ANY_MEMBER, DECORATED, Definition, DefinitionKind, NARROWED, OBJECT, PREDICATE, PROPERTIES,
    REDEFINED, Shape, THIS, THIS_PARAMETER, WHOLE, WRAPPED, argument_position,
};
use crate::world::FileId;

/// How far a chain of values is followed.
const MAX_STEPS: usize = 32;
/// Unions larger than this say nothing.
const MAX_TYPES: usize = 64;

/// What a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Type {
    Module(Module),
    /// A definition itself: a class, a function; with the value it was reached through.
    Symbol(Symbol, Option<Rc<Type>>),
    /// A value of a type.
    Instance(Symbol),
    /// The same, seen as what its type extends.
    Parent(Symbol),
    /// A value of a type that is not the project's: its name where it is known, and the types it holds.
    Outside(Box<str>, Rc<[Type]>),
    /// A function by its shape, and where the shape stands.
    Callable(Rc<Place>, Rc<Shape>),
    /// An object by its properties, and where they stand.
    Object(Rc<Place>, Rc<[Shape]>),
    /// No type checker knows.
    Untyped,
    /// It was not found out.
    Unknown,
}

impl Type {
    pub(super) fn outside(name: &str) -> Self {
        Self::Outside(name.into(), Rc::new([]))
    }
}

/// Where a shape stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: FileId,
    pub(crate) within: Option<u32>,
    /// What `self` is, where it is known better than by the place.
    pub(crate) this: Option<Rc<Type>>,
}

impl Resolver<'_> {
    /// What a shape at a place may be.
    pub(crate) fn types(&self, place: &Place, shape: &Shape) -> Vec<Type> {
        if self.depth.get() >= MAX_STEPS {
            return vec![Type::Unknown];
        }
        self.depth.set(self.depth.get() + 1);
        let mut types = Vec::new();
        for one in self.evaluate(place, shape) {
            if !types.contains(&one) {
                types.push(one);
            }
        }
        self.depth.set(self.depth.get() - 1);
        if types.is_empty() || types.len() > MAX_TYPES { vec![Type::Unknown] } else { types }
    }

    fn evaluate(&self, place: &Place, shape: &Shape) -> Vec<Type> {
        match shape {
            Shape::Name(name) => self.named(place, name),
            Shape::Of(name) if argument_position(name).is_some() => vec![Type::outside(name)],
            Shape::Of(name) => self.instances(place, name).into_iter().map(without_arguments).collect(),
            Shape::Member(of, name) => self.each(place, of, |it| self.member(it, name)),
            Shape::Call(of) => self.each(place, of, |it| self.called(it)),
            Shape::Itself => vec![self.itself(place)],
            Shape::Parent => match self.itself(place) {
                Type::Instance(class) | Type::Symbol(class, _) => {
                    vec![Type::Parent(self.class_of(place).unwrap_or(class))]
                }
                _ => vec![Type::Unknown],
            },
            Shape::Applied(head, arguments) => self.applied(place, head, arguments),
            Shape::Function(..) => {
                vec![Type::Callable(Rc::new(place.clone()), Rc::new(shape.clone()))]
            }
            Shape::Either(parts) => parts.iter().flat_map(|it| self.types(place, it)).collect(),
            Shape::Element(of) => self.each(place, of, |it| self.element(it)),
            Shape::Awaited(of) => self.each(place, of, outside::awaited),
            Shape::Parameter(of, argument, parameter) => {
                self.each(place, of, |it| self.parameter(it, *argument, *parameter))
            }
            Shape::Untyped => vec![Type::Untyped],
            Shape::Unknown => vec![Type::Unknown],
        }
    }

    fn each(&self, place: &Place, of: &Shape, then: impl Fn(&Type) -> Vec<Type>) -> Vec<Type> {
        self.types(place, of).iter().flat_map(then).collect()
    }

    /// What a name is worth.
    pub(super) fn named(&self, place: &Place, name: &str) -> Vec<Type> {
        let hits = self.dotted(place.file, name);
        if hits.is_empty() {
            return vec![Type::outside(name)];
        }
        hits.into_iter().flat_map(|hit| self.worth(hit, Some(place.file))).collect()
    }

    /// What a meaning of a name is worth in a file.
    fn worth(&self, hit: Hit, from: Option<FileId>) -> Vec<Type> {
        match hit.entity {
            entity if self.is_gone(from, &entity) => vec![Type::Untyped],
            Entity::Module(module) => vec![Type::Module(module)],
            Entity::Symbol(symbol) => self.value(symbol, None),
            Entity::Outside => vec![Type::outside("")],
        }
    }

    /// What a definition is worth where it is named.
    pub(crate) fn value(&self, symbol: Symbol, this: Option<&Type>) -> Vec<Type> {
        let Some(definition) = self.definition(symbol) else { return vec![Type::Unknown] };
        match definition.kind {
            DefinitionKind::Value | DefinitionKind::Field | DefinitionKind::Variant
                if definition.gives.is_some() =>
            {
                self.given(symbol, &definition, this)
            }
            DefinitionKind::Function if this.is_none() && is_decorated(&definition) => {
                let place = Place { file: symbol.file, within: Some(symbol.at), this: None };
                let made = self.made(&place, definition.gives.as_ref());
                if made.is_empty() { vec![Type::Symbol(symbol, None)] } else { made }
            }
            // A function, a class, or an object whose properties are definitions of their own.
            _ => vec![Type::Symbol(symbol, this.cloned().map(Rc::new))],
        }
    }

    /// What a definition gives: the type of a variable, the result of a function.
    fn given(&self, symbol: Symbol, definition: &Definition, this: Option<&Type>) -> Vec<Type> {
        if this.is_none()
            && let Some(types) = self.values.borrow().get(&symbol)
        {
            return types.to_vec();
        }
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
            return self.types(&place, gives);
        }
        // What is defined by itself stays unknown.
        self.values.borrow_mut().insert(symbol, Rc::new([Type::Unknown]));
        let types = self.types(&place, gives);
        self.values.borrow_mut().insert(symbol, types.clone().into());
        types
    }

    /// Values of a named type.
    pub(super) fn instances(&self, place: &Place, name: &str) -> Vec<Type> {
        let hits = self.dotted(place.file, name);
        if hits.is_empty() {
            return vec![Type::outside(name)];
        }
        let outside = || {
            let last = name.rsplit(self.scheme.separator()).next().unwrap_or(name);
            Type::outside(last)
        };
        let mut types = Vec::new();
        for hit in hits {
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
                    self.types(&place, alias)
                }
                None => vec![Type::Instance(symbol)],
            },
            DefinitionKind::Value | DefinitionKind::Field => {
                let types = self.given(symbol, &definition, None);
                if is_applied(definition.gives.as_ref(), ALIAS) {
                    return types;
                }
                types.iter().map(|it| self.instance(it)).collect()
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

    /// What decorators make of a function, where that is a value of a type of the project: the outermost that does.
    fn made(&self, place: &Place, shape: Option<&Shape>) -> Vec<Type> {
        let Some(Shape::Applied(_, parts)) = shape else { return Vec::new() };
        let Some((_, decorators)) = parts.split_last() else { return Vec::new() };
        let values = |shape: &Shape| -> Vec<Type> {
            let mut types = self.types(place, shape);
            types.retain(|it| matches!(it, Type::Instance(_)));
            types
        };
        decorators.iter().map(values).find(|types| !types.is_empty()).unwrap_or_default()
    }

    fn applied(&self, place: &Place, head: &Shape, arguments: &[Shape]) -> Vec<Type> {
        if *head == Shape::Of(DECORATED.into()) {
            let made = self.made(place, Some(&Shape::Applied(Box::new(head.clone()), arguments.to_vec())));
            let function = arguments.last().filter(|_| made.is_empty());
            return function.map_or(made, |function| self.types(place, function));
        }
        if *head == Shape::Of(WRAPPED.into()) {
            return self.wrapped(place, arguments);
        }
        if *head == Shape::Of(ALIAS.into()) {
            return arguments.iter().flat_map(|it| self.types(place, it)).collect();
        }
        if *head == Shape::Of(REDEFINED.into()) {
            return self.redefined(place, arguments);
        }
        if *head == Shape::Of(OBJECT.into()) {
            return vec![Type::Object(Rc::new(place.clone()), arguments.into())];
        }
        if *head == Shape::Of(NARROWED.into()) {
            return self.narrowed(place, arguments);
        }
        let heads = match head {
            Shape::Of(name) => self.instances(place, name),
            head => self.types(place, head),
        };
        let mut types = Vec::new();
        for one in heads {
            match one {
                Type::Outside(name, _) if let Some(at) = argument_position(&name) => {
                    let given = arguments.get(at).map(|it| self.types(place, it));
                    types.extend(given.unwrap_or_else(|| vec![Type::Unknown]));
                }
                Type::Outside(name, _) => {
                    let held = arguments.iter().map(|it| one_of(self.types(place, it))).collect();
                    types.push(Type::Outside(name, held));
                }
                other => types.push(other),
            }
        }
        types
    }

    /// What a parameter is in the method that is redefined; without a type, where that one says nothing either.
    fn redefined(&self, place: &Place, parts: &[Shape]) -> Vec<Type> {
        let types: Vec<Type> = parts.iter().flat_map(|it| self.types(place, it)).collect();
        if types.iter().all(|it| *it == Type::Unknown) { vec![Type::Untyped] } else { types }
    }

    /// What a predicate says that a value is; the value, where it was not one that was asked, or it does not say.
    fn narrowed(&self, place: &Place, parts: &[Shape]) -> Vec<Type> {
        let [asked, value] = parts else { return Vec::new() };
        let told = self.types(place, asked).into_iter().filter_map(|it| match it {
            Type::Outside(name, held) if &*name == PREDICATE => held.first().cloned(),
            _ => None,
        });
        let told: Vec<Type> = told.filter(|it| *it != Type::Unknown).collect();
        if told.is_empty() { self.types(place, value) } else { told }
    }

    /// What a call gives; where that is not the project's, with what the call was given.
    fn wrapped(&self, place: &Place, parts: &[Shape]) -> Vec<Type> {
        let Some((made, given)) = parts.split_first() else { return Vec::new() };
        let made = self.types(place, made);
        let nothing =
            |it: &Type| matches!(it, Type::Outside(name, held) if name.is_empty() && held.is_empty());
        if !made.iter().all(nothing) {
            return made;
        }
        let given: Vec<Type> = given.iter().flat_map(|it| self.types(place, it)).collect();
        vec![Type::Outside(WRAPPED.into(), given.into())]
    }

    /// What the attributes of a component are properties of: what the function takes first, what its type says, or what the
    /// class has as its own.
    fn properties(&self, of: &Type) -> Vec<Type> {
        let mut found = match of {
            Type::Unknown => return vec![Type::Unknown],
            Type::Outside(_, held) => held
                .iter()
                .flat_map(|it| match it {
                    Type::Symbol(..) | Type::Callable(..) => self.properties(it),
                    other => vec![other.clone()],
                })
                .collect(),
            Type::Symbol(symbol, _) => match self.definition(*symbol).map(|it| it.kind) {
                Some(DefinitionKind::Type) => self.member(&Type::Instance(*symbol), "props"),
                _ => self.parameter(of, 0, WHOLE),
            },
            _ => self.parameter(of, 0, WHOLE),
        };
        // What has no type here has none that a checker would hold an attribute against.
        found.retain(|it| !matches!(it, Type::Unknown | Type::Untyped));
        if found.is_empty() { vec![Type::outside("")] } else { found }
    }

    /// What `self` is at a place.
    fn itself(&self, place: &Place) -> Type {
        if let Some(this) = &place.this {
            return (**this).clone();
        }
        self.class_of(place).map_or(Type::Unknown, Type::Instance)
    }

    /// The type that a place stands in.
    fn class_of(&self, place: &Place) -> Option<Symbol> {
        let view = self.view(place.file)?;
        let definition = view.definition(place.within?)?;
        let is_type = |it: &Definition| matches!(it.kind, DefinitionKind::Type | DefinitionKind::Interface);
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

    /// A member of a value.
    pub(crate) fn member(&self, of: &Type, name: &str) -> Vec<Type> {
        if name == PROPERTIES {
            return self.properties(of);
        }
        if let Some(hidden) = name.strip_prefix('@') {
            return self.hidden(of, hidden);
        }
        match of {
            Type::Module(module) => {
                let hits = self.exported(module, name, Mode::Named);
                hits.into_iter().flat_map(|hit| self.worth(hit, None)).collect()
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
                members.symbols.iter().flat_map(|it| self.value(*it, Some(of))).collect()
            }
            Type::Outside(head, held) => vec![outside::member(head, held, name)],
            Type::Untyped => vec![Type::Untyped],
            Type::Callable(..) => vec![Type::outside("")],
            Type::Object(place, properties) => match property(properties, name) {
                Some(shape) => self.types(place, shape),
                None => vec![Type::outside("")],
            },
            Type::Unknown => vec![Type::Unknown],
        }
    }

    /// A member that a type does not have, as far as it can be looked into. Where values have only the members of their type, a checker
    /// misses it itself, and says nothing of what is done with it.
    fn nothing(&self, open: bool) -> Type {
        match (open, self.scheme.is_structural()) {
            (true, _) => Type::outside(""),
            (false, true) => Type::Unknown,
            (false, false) => Type::Untyped,
        }
    }

    /// What a construct of the language takes out of a value: entering it, a position, an index.
    fn hidden(&self, of: &Type, name: &str) -> Vec<Type> {
        match (of, name) {
            (Type::Untyped, _) => vec![Type::Untyped],
            (Type::Outside(head, held), _) => vec![outside::part(head, held, name)],
            (Type::Instance(_), "enter") => self.result(of, "__enter__"),
            (Type::Instance(_), "aenter") => {
                self.result(of, "__aenter__").iter().flat_map(outside::awaited).collect()
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
        let inside = |it: &Definition| it.container.as_deref() == Some(&*path) && &*it.name != ANY_MEMBER;
        let members = (0_u32..).zip(&view.facts.definitions).filter(|(_, it)| inside(it));
        let symbols: Vec<Symbol> = members.map(|(at, _)| Symbol { file: class.file, at }).collect();
        if symbols.len() > MAX_TYPES {
            return vec![Type::Unknown];
        }
        symbols.into_iter().flat_map(|it| self.value(it, Some(of))).collect()
    }

    /// The result of a method.
    fn result(&self, of: &Type, method: &str) -> Vec<Type> {
        self.member(of, method).iter().flat_map(|it| self.called(it)).collect()
    }

    /// What iterating over a value gives.
    fn element(&self, of: &Type) -> Vec<Type> {
        match of {
            Type::Untyped => vec![Type::Untyped],
            Type::Outside(head, held) => vec![outside::part(head, held, "element")],
            // Nobody iterates over a class but for its members: an enumeration.
            Type::Symbol(class, _) if self.is_class(*class) => vec![Type::Instance(*class)],
            Type::Instance(_) => {
                let iterators = self.result(of, "__iter__");
                iterators
                    .iter()
                    .flat_map(|it| match it {
                        Type::Instance(_) if it != of => self.result(it, "__next__"),
                        Type::Instance(_) => self.result(of, "__next__"),
                        other => self.element(other),
                    })
                    .collect()
            }
            _ => vec![Type::Unknown],
        }
    }

    fn is_class(&self, symbol: Symbol) -> bool {
        let is_type = |it: Definition| it.kind == DefinitionKind::Type;
        !self.scheme.is_structural() && self.definition(symbol).is_some_and(is_type)
    }

    /// What calling a value gives.
    fn called(&self, callee: &Type) -> Vec<Type> {
        match callee {
            Type::Symbol(symbol, this) => {
                let Some(definition) = self.definition(*symbol) else { return vec![Type::Unknown] };
                match definition.kind {
                    DefinitionKind::Type | DefinitionKind::Interface => vec![Type::Instance(*symbol)],
                    _ if definition.gives.is_none() => vec![Type::Unknown],
                    _ => {
                        let this = this.as_deref().map(|this| self.receiver(this));
                        self.given(*symbol, &definition, this.as_ref())
                    }
                }
            }
            Type::Instance(_) => self.result(callee, "__call__"),
            Type::Callable(place, shape) => match &**shape {
                Shape::Function(_, result) => self.types(place, result),
                _ => vec![Type::Unknown],
            },
            Type::Outside(name, held) => vec![outside::called(name, held)],
            Type::Untyped => vec![Type::Untyped],
            Type::Module(_) | Type::Parent(_) | Type::Object(..) | Type::Unknown => vec![Type::Unknown],
        }
    }

    /// What `self` is in a method that was reached through a value.
    fn receiver(&self, through: &Type) -> Type {
        match through {
            Type::Symbol(class, _) => Type::Instance(*class),
            other => other.clone(),
        }
    }

    /// The parameter of a function that is given to a call.
    fn parameter(&self, callee: &Type, argument: u16, parameter: u16) -> Vec<Type> {
        match callee {
            Type::Instance(_) => {
                let calls = self.member(callee, "__call__");
                return calls.iter().flat_map(|it| self.parameter(it, argument, parameter)).collect();
            }
            Type::Untyped => return vec![Type::Untyped],
            Type::Outside(name, held) => {
                return match held.last().filter(|_| outside::takes_item(name, argument)) {
                    Some(item) if parameter == WHOLE => vec![item.clone()],
                    Some(item) => self.taken(item, parameter),
                    None if parameter == THIS => vec![Type::Untyped],
                    None => vec![outside::parameter(name, held, argument, parameter)],
                };
            }
            _ => {}
        }
        // What does not say what it is called on, may be called on anything.
        let missing =
            || vec![if argument == THIS || parameter == THIS { Type::Untyped } else { Type::Unknown }];
        let Some((place, takes, _)) = self.signature(callee) else { return missing() };
        let taken = match argument {
            THIS => takes.iter().find_map(|it| match it {
                Shape::Applied(head, held) if **head == Shape::Of(THIS_PARAMETER.into()) => held.first(),
                _ => None,
            }),
            argument => facts::taken(&takes, usize::from(argument)),
        };
        let Some(taken) = taken else { return missing() };
        let taken = self.types(&place, taken);
        if parameter == WHOLE {
            return taken;
        }
        taken.iter().filter(|it| **it != Type::Unknown).flat_map(|it| self.taken(it, parameter)).collect()
    }

    /// What a function takes and gives, and where its shapes stand.
    pub(crate) fn signature(&self, callee: &Type) -> Option<(Place, Vec<Shape>, Shape)> {
        match callee {
            Type::Symbol(symbol, this) => {
                let definition = self.definition(*symbol)?;
                let Some(Shape::Function(takes, gives)) = definition.gives else { return None };
                let place = Place { file: symbol.file, within: Some(symbol.at), this: this.clone() };
                Some((place, takes, *gives))
            }
            Type::Callable(place, shape) => match &**shape {
                Shape::Function(takes, gives) => Some(((**place).clone(), takes.clone(), (**gives).clone())),
                _ => None,
            },
            _ => None,
        }
    }

    /// What a value that can be called takes.
    fn taken(&self, callee: &Type, parameter: u16) -> Vec<Type> {
        match callee {
            Type::Outside(..) => Vec::new(),
            callee => self.parameter(callee, parameter, WHOLE),
        }
    }
}

/// What a property of an object is.
fn property<'s>(properties: &'s [Shape], name: &str) -> Option<&'s Shape> {
    let mut pairs = properties.chunks_exact(2);
    pairs.find_map(|pair| matches!(&pair[0], Shape::Of(it) if **it == *name).then_some(&pair[1]))
}

/// A type that is named without what it gives back.
fn without_arguments(one: Type) -> Type {
    match &one {
        Type::Outside(name, _) if argument_position(name).is_some() => Type::Unknown,
        _ => one,
    }
}

fn is_function(definition: &Definition) -> bool {
    matches!(definition.kind, DefinitionKind::Function | DefinitionKind::Method)
}

/// Whether something may make another value of a function.
fn is_decorated(definition: &Definition) -> bool {
    is_applied(definition.gives.as_ref(), DECORATED)
}

fn is_applied(shape: Option<&Shape>, head: &str) -> bool {
    matches!(shape, Some(Shape::Applied(it, _)) if **it == Shape::Of(head.into()))
}

/// One type for several: the only one, or none.
fn one_of(mut types: Vec<Type>) -> Type {
    types.retain(|it| !matches!(it, Type::Outside(name, _) if &**name == "None"));
    if types.len() == 1 { types.remove(0) } else { Type::Unknown }
}
