//! Types that are not the project's, as far as values of the project pass through them: lists, maps, promises.

use std::rc::Rc;

use super::types::Type;

/// What a member of an outside value is.
pub(super) fn member(head: &str, held: &Rc<[Type]>, name: &str) -> Type {
    let gives = |types: Vec<Type>| Type::Returning(types.into());
    let of = |head: &str, held: Vec<Type>| Type::Outside(head.into(), held.into());
    let first = || held.first().cloned().unwrap_or(Type::Unknown);
    let last = || held.last().cloned().unwrap_or(Type::Unknown);
    if held.is_empty() {
        return Type::outside("");
    }
    match (name, held.len()) {
        (
            "get" | "pop" | "setdefault" | "popleft" | "at" | "shift" | "find" | "findLast" | "__getitem__"
            | "next",
            _,
        ) => gives(vec![last()]),
        ("values", _) => gives(vec![of("Iterator", vec![last()])]),
        ("keys", _) => gives(vec![of("Iterator", vec![first()])]),
        ("items" | "entries", 2) => gives(vec![of("Iterator", vec![of("tuple", vec![first(), last()])])]),
        (
            "copy" | "filter" | "slice" | "concat" | "reverse" | "sort" | "union" | "difference"
            | "intersection",
            _,
        ) => gives(vec![Type::Outside(head.into(), Rc::clone(held))]),
        ("then" | "catch" | "finally", 1) => gives(vec![Type::Unknown]),
        ("value", 1) => first(),
        _ => Type::outside(""),
    }
}

/// What a construct of the language takes out of an outside value.
pub(super) fn part(head: &str, held: &Rc<[Type]>, name: &str) -> Type {
    let missing = || if held.is_empty() { Type::outside("") } else { Type::Unknown };
    match name {
        "element" if is_map(head) => held.first().cloned().unwrap_or_else(missing),
        "item" | "enter" | "aenter" => held.last().cloned().unwrap_or_else(missing),
        "element" if head == "tuple" && held.len() > 1 => match held.iter().all(|it| it == &held[0]) {
            true => held[0].clone(),
            false => Type::Unknown,
        },
        "element" => held.first().cloned().unwrap_or_else(missing),
        position => match position.parse::<usize>() {
            Ok(at) if head == "tuple" || head.is_empty() => held.get(at).cloned().unwrap_or_else(missing),
            _ => held.first().cloned().unwrap_or_else(missing),
        },
    }
}

/// What waiting for a value gives.
pub(super) fn awaited(of: &Type) -> Vec<Type> {
    match of {
        Type::Outside(head, held) if waits(head) => vec![held.last().cloned().unwrap_or(Type::Unknown)],
        other => vec![other.clone()],
    }
}

/// What calling something outside gives: nothing of the project's.
pub(super) fn called(_name: &str) -> Type {
    Type::outside("")
}

/// A parameter of a function given to something outside: the items of a list, the value of a promise.
pub(super) fn parameter(_name: &str, _held: &Rc<[Type]>, _argument: u16, _parameter: u16) -> Type {
    Type::Unknown
}

fn is_map(head: &str) -> bool {
    matches!(head, "dict" | "Dict" | "Mapping" | "MutableMapping" | "defaultdict" | "OrderedDict")
}

fn waits(head: &str) -> bool {
    matches!(head, "Coroutine" | "Awaitable" | "Promise" | "PromiseLike" | "Future" | "Task")
}
