//! Calls and iterations: the types of their results, and of the parameters of what is called.

use std::rc::Rc;

use super::super::external_types;
use super::super::names::{Defined, Resolver};
use super::{Place, Type, is_head};
use crate::facts::{self, DefinitionKind, Shape, THIS, THIS_PARAMETER, WHOLE};

impl Resolver<'_> {
    /// Returns the element types of an iterable.
    pub(super) fn element(&self, of: &Type) -> Vec<Type> {
        match of {
            Type::Untyped => vec![Type::Untyped],
            Type::Outside(head, arguments) => vec![external_types::part(head, arguments, "element")],
            // Iterating over a class yields its members: it is an enumeration.
            Type::Symbol(class, _) if self.is_class(*class) => vec![Type::Instance(*class)],
            Type::Instance(_) => {
                let iterators = self.result(of, "__iter__");
                iterators
                    .iter()
                    .flat_map(|type_| match type_ {
                        Type::Instance(_) if type_ != of => self.result(type_, "__next__"),
                        Type::Instance(_) => self.result(of, "__next__"),
                        other => self.element(other),
                    })
                    .collect()
            }
            _ => vec![Type::Unknown],
        }
    }

    /// Returns the types of a call's result.
    pub(super) fn called(&self, callee: &Type) -> Vec<Type> {
        match callee {
            Type::Symbol(symbol, this) => {
                let Some(definition) = self.definition(*symbol) else { return vec![Type::Unknown] };
                match definition.kind {
                    DefinitionKind::Type | DefinitionKind::Interface => vec![Type::Instance(*symbol)],
                    _ if definition.gives.is_none() => vec![Type::Unknown],
                    _ => {
                        let this = this.as_deref().map(|this| self.receiver(this));
                        self.declared_types(*symbol, &definition, this.as_ref())
                    }
                }
            }
            Type::Instance(_) => self.result(callee, "__call__"),
            Type::Callable(place, shape) => match &**shape {
                Shape::Function(_, result) => self.types(place, result).to_vec(),
                _ => vec![Type::Unknown],
            },
            Type::Outside(name, arguments) => vec![external_types::called(name, arguments)],
            Type::Untyped => vec![Type::Untyped],
            Type::Module(_) | Type::Parent(_) | Type::Object(..) | Type::Unknown => vec![Type::Unknown],
        }
    }

    /// Returns the type of `self` in a method that was accessed through a value.
    fn receiver(&self, through: &Type) -> Type {
        match through {
            Type::Symbol(class, _) => Type::Instance(*class),
            other => other.clone(),
        }
    }

    /// Returns the parameter types of a function that is passed to a call.
    pub(super) fn parameter(&self, callee: &Type, argument: u16, parameter: u16) -> Vec<Type> {
        match callee {
            Type::Instance(_) => {
                let calls = self.member(callee, "__call__");
                return calls.iter().flat_map(|type_| self.parameter(type_, argument, parameter)).collect();
            }
            Type::Untyped => return vec![Type::Untyped],
            Type::Outside(name, arguments) => {
                return match arguments.last().filter(|_| external_types::takes_item(name, argument)) {
                    Some(item) if parameter == WHOLE => vec![item.clone()],
                    Some(item) => self.parameter_types(item, parameter),
                    None if parameter == THIS => vec![Type::Untyped],
                    None => vec![external_types::parameter(name, arguments, argument, parameter)],
                };
            }
            _ => {}
        }
        // Without a declared receiver, it may be called on anything.
        let missing =
            || vec![if argument == THIS || parameter == THIS { Type::Untyped } else { Type::Unknown }];
        let Some(signature) = self.signature(callee) else { return missing() };
        let takes = signature.parameters();
        let taken = match argument {
            THIS => takes.iter().find_map(|shape| match shape {
                Shape::Applied(head, arguments) if is_head(head, THIS_PARAMETER) => arguments.first(),
                _ => None,
            }),
            argument => facts::taken(takes, usize::from(argument)),
        };
        let Some(taken) = taken else { return missing() };
        let taken = self.types(&signature.place, taken);
        if parameter == WHOLE {
            return taken.to_vec();
        }
        taken
            .iter()
            .filter(|type_| **type_ != Type::Unknown)
            .flat_map(|type_| self.parameter_types(type_, parameter))
            .collect()
    }

    /// Returns the parameters and the result of a function, and the location of their shapes.
    pub(crate) fn signature(&self, callee: &Type) -> Option<Signature> {
        let (place, source) = match callee {
            Type::Symbol(symbol, this) => {
                let place = Place { file: symbol.file, within: Some(symbol.at), this: this.clone() };
                (place, Source::Definition(self.definition(*symbol)?))
            }
            Type::Callable(place, shape) => ((**place).clone(), Source::Shape(Rc::clone(shape))),
            _ => return None,
        };
        source.function()?;
        Some(Signature { place, source })
    }

    /// Returns the parameter types of a callable value.
    fn parameter_types(&self, callee: &Type, parameter: u16) -> Vec<Type> {
        match callee {
            Type::Outside(..) => Vec::new(),
            callee => self.parameter(callee, parameter, WHOLE),
        }
    }
}

/// Parameters and result of a function.
pub(crate) struct Signature {
    /// The place in which its shapes are evaluated.
    pub(crate) place: Place,
    source: Source,
}

enum Source {
    Definition(Defined),
    Shape(Rc<Shape>),
}

impl Source {
    fn function(&self) -> Option<(&[Shape], &Shape)> {
        let shape = match self {
            Self::Definition(definition) => definition.gives.as_ref()?,
            Self::Shape(shape) => shape,
        };
        match shape {
            Shape::Function(takes, gives) => Some((takes, gives)),
            _ => None,
        }
    }
}

impl Signature {
    pub(crate) fn parameters(&self) -> &[Shape] {
        self.source.function().map_or(&[], |(takes, _)| takes)
    }

    pub(crate) fn result(&self) -> &Shape {
        self.source.function().map_or(&Shape::Unknown, |(_, gives)| gives)
    }
}
