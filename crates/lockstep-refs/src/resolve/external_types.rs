//! Types outside the project that contain values of the project: lists, maps, promises.

use std::rc::Rc;

use super::types::Type;
use crate::facts::WRAPPED;

/// Returns the type of a member of an outside value. A method keeps the type arguments of its value.
pub(super) fn member(head: &str, arguments: &Rc<[Type]>, name: &str) -> Type {
    match (name, arguments.first()) {
        (_, None) => Type::external(""),
        _ if head == WRAPPED => Type::external(""),
        ("value", Some(first)) if arguments.len() == 1 => first.clone(),
        ("exception", Some(first)) if head == "ExceptionInfo" => first.clone(),
        _ => Type::Outside(format!("{head}.{name}").into(), Rc::clone(arguments)),
    }
}

/// Returns the type that a construct of the language extracts from an outside value.
pub(super) fn part(head: &str, arguments: &Rc<[Type]>, name: &str) -> Type {
    let missing = || if arguments.is_empty() || head == WRAPPED { Type::external("") } else { Type::Unknown };
    match name {
        _ if head == WRAPPED => missing(),
        "element" if is_map(head) => arguments.first().cloned().unwrap_or_else(missing),
        // A literal index is a position only in a tuple.
        item if item.starts_with("item") && item.len() > 4 => match head {
            "tuple" => part(head, arguments, &item[4..]),
            _ => part(head, arguments, "item"),
        },
        "item" | "enter" | "aenter" => arguments.last().cloned().unwrap_or_else(missing),
        "element" if head == "tuple" && arguments.len() > 1 => {
            match arguments.iter().all(|type_| type_ == &arguments[0]) {
                true => arguments[0].clone(),
                false => Type::Unknown,
            }
        }
        "element" => arguments.first().cloned().unwrap_or_else(missing),
        position => match position.parse::<usize>() {
            Ok(at) if head == "tuple" || head.is_empty() => {
                arguments.get(at).cloned().unwrap_or_else(missing)
            }
            _ => arguments.first().cloned().unwrap_or_else(missing),
        },
    }
}

/// Returns the types of an awaited value.
pub(super) fn awaited(of: &Type) -> Vec<Type> {
    match of {
        Type::Outside(head, arguments) if waits(head) => {
            vec![arguments.last().cloned().unwrap_or(Type::Unknown)]
        }
        other => vec![other.clone()],
    }
}

/// Returns the type of a call of something outside: nothing of the project, unless it is a method that
/// returns the content of its value.
pub(super) fn called(name: &str, arguments: &Rc<[Type]>) -> Type {
    let of = |head: &str, arguments: Vec<Type>| Type::Outside(head.into(), arguments.into());
    let (Some((head, method)), Some(first), Some(last)) =
        (name.rsplit_once('.'), arguments.first(), arguments.last())
    else {
        return Type::external("");
    };
    match method {
        "get" | "pop" | "setdefault" | "popleft" | "at" | "shift" | "find" | "findLast" | "__getitem__"
        | "next" => last.clone(),
        "values" => of("Iterator", vec![last.clone()]),
        "keys" => of("Iterator", vec![first.clone()]),
        "items" | "entries" if arguments.len() == 2 => {
            of("Iterator", vec![of("tuple", vec![first.clone(), last.clone()])])
        }
        "copy" | "filter" | "slice" | "splice" | "concat" | "reverse" | "sort" | "toSorted" | "union"
        | "difference" | "intersection" | "fill" | "finally" => {
            Type::Outside(head.into(), Rc::clone(arguments))
        }
        "map" | "flatMap" | "then" | "catch" | "reduce" | "flat" | "__enter__" | "result" => Type::Unknown,
        _ => Type::external(""),
    }
}

/// Returns the type of a parameter of a function passed to a method of an outside value: an item of a list,
/// the value of a promise.
pub(super) fn parameter(name: &str, arguments: &Rc<[Type]>, argument: u16, parameter: u16) -> Type {
    let (Some((_, method)), Some(last)) = (name.rsplit_once('.'), arguments.last()) else {
        return Type::Unknown;
    };
    let item = match method {
        "reduce" | "reduceRight" => 1,
        "catch" => return Type::Untyped,
        _ => 0,
    };
    let both = matches!(method, "sort" | "toSorted") && parameter == 1;
    if argument == 0 && (parameter == item || both) { last.clone() } else { Type::Unknown }
}

/// Returns true if a method of an outside value takes the content of its value as that argument.
pub(super) fn takes_item(name: &str, argument: u16) -> bool {
    match name.rsplit('.').next().unwrap_or_default() {
        "push" | "unshift" | "append" => true,
        "add" | "fill" | "includes" | "indexOf" | "delete" => argument == 0,
        "set" => argument == 1,
        _ => false,
    }
}

fn is_map(head: &str) -> bool {
    matches!(head, "dict" | "Dict" | "Mapping" | "MutableMapping" | "defaultdict" | "OrderedDict")
}

fn waits(head: &str) -> bool {
    matches!(head, "Coroutine" | "Awaitable" | "Promise" | "PromiseLike" | "Future" | "Task")
}
