//! Relations between types of TypeScript.

use super::super::header::{depth_zero, split};
use super::Relation;

pub(super) fn typescript(old: &[&str], new: &[&str]) -> Option<Relation> {
    // `T[]` is `Array<T>`.
    let list = |tokens: &[&str]| -> Option<Vec<String>> {
        let element = match tokens {
            [item @ .., "[", "]"] => item,
            ["Array", "<", item @ .., ">"] => item,
            _ => return None,
        };
        Some(element.iter().map(|name| (*name).to_owned()).collect())
    };
    let readonly = |tokens: &[&str]| match tokens {
        ["readonly", rest @ ..] => list(rest),
        ["ReadonlyArray" | "Iterable" | "ArrayLike", "<", item @ .., ">"] => {
            Some(item.iter().map(|name| (*name).to_owned()).collect())
        }
        _ => None,
    };
    match (list(old), list(new), readonly(new)) {
        (Some(from), Some(to), _) if from == to => return Some(Relation::Same),
        (Some(from), _, Some(to)) if from == to => return Some(Relation::Wider),
        _ => {}
    }
    let is_text = |tokens: &[&str]| tokens.len() > 1 && matches!(tokens[0], "\"" | "'" | "`");
    let is_digits = |tokens: &[&str]| matches!(tokens, [it] if it.starts_with(|c: char| c.is_ascii_digit()));
    match (old, new) {
        (literal, ["string"]) if is_text(literal) => Some(Relation::Wider),
        (literal, ["number"]) if is_digits(literal) => Some(Relation::Wider),
        (["true"] | ["false"], ["boolean"]) => Some(Relation::Wider),
        (["{", before @ .., "}"], ["{", now @ .., "}"]) => Some(objects(before, now)),
        _ => None,
    }
}

/// Relates two object types by their properties.
pub(super) fn objects(old: &[&str], new: &[&str]) -> Relation {
    let read = |tokens: &[&str]| -> Vec<(String, bool, Vec<String>)> {
        let unified: Vec<&str> =
            tokens.iter().map(|token| if *token == ";" { "," } else { *token }).collect();
        let property = |part: &Vec<&str>| {
            let at = depth_zero(part, |token| token == ":")?;
            let optional = at > 0 && part[at - 1] == "?";
            let name = part[..at - usize::from(optional)].join(" ");
            Some((name, optional, part[at + 1..].iter().map(|text| (*text).to_owned()).collect()))
        };
        split(&unified).iter().filter_map(property).collect()
    };
    let (before, now) = (read(old), read(new));
    let fits = |from: &[(String, bool, Vec<String>)], to: &[(String, bool, Vec<String>)]| {
        to.iter().all(|(name, optional, type_)| match from.iter().find(|(text, ..)| text == name) {
            Some((_, was_optional, was)) => was == type_ && (*optional || !was_optional),
            None => *optional,
        })
    };
    match (fits(&before, &now), fits(&now, &before)) {
        (true, _) if before.iter().all(|(name, ..)| now.iter().any(|(text, ..)| text == name)) => {
            Relation::Wider
        }
        (_, true) => Relation::Narrower,
        _ => Relation::Unknown,
    }
}
