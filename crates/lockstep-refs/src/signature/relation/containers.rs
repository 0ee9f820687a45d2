//! Relations between containers and the interfaces that they have.

use super::Relation;
use crate::language::Language;

use Language::{CSharp, Java, Kotlin, Python, Tsx, TypeScript};

/// Collections with their supertypes of the same elements.
pub(super) const CONTAINERS: &[(&[Language], &str, &[&str])] = &[
    (&[Python], "list", &["MutableSequence", "Sequence", "Collection", "Iterable", "Reversible", "Sized"]),
    (&[Python], "set", &["AbstractSet", "MutableSet", "Collection", "Iterable", "Container"]),
    (&[Python], "Sequence", &["Collection", "Iterable", "Reversible"]),
    (&[Python], "Collection", &["Iterable", "Container"]),
    (&[Python], "dict", &["MutableMapping", "Mapping"]),
    (&[Python], "MutableMapping", &["Mapping"]),
    (&[Python], "Iterator", &["Iterable"]),
    (&[Java], "ArrayList", &["List", "Collection", "Iterable"]),
    (&[Java], "LinkedList", &["List", "Deque", "Queue", "Collection", "Iterable"]),
    (&[Java], "List", &["Collection", "Iterable"]),
    (&[Java], "Set", &["Collection", "Iterable"]),
    (&[Java], "HashSet", &["Set", "Collection", "Iterable"]),
    (&[Java], "Collection", &["Iterable"]),
    (&[Java], "HashMap", &["Map"]),
    (&[Java], "TreeMap", &["SortedMap", "NavigableMap", "Map"]),
    (&[Java], "LinkedHashMap", &["HashMap", "Map"]),
    (&[Kotlin], "ArrayList", &["MutableList", "List", "Collection", "Iterable"]),
    (&[Kotlin], "MutableList", &["List", "Collection", "Iterable", "MutableCollection"]),
    (&[Kotlin], "List", &["Collection", "Iterable"]),
    (&[Kotlin], "Set", &["Collection", "Iterable"]),
    (&[Kotlin], "MutableSet", &["Set", "Collection", "Iterable"]),
    (&[Kotlin], "Collection", &["Iterable"]),
    (&[Kotlin], "MutableMap", &["Map"]),
    (&[Kotlin], "HashMap", &["MutableMap", "Map"]),
    (&[CSharp], "List", &["IList", "ICollection", "IEnumerable", "IReadOnlyList", "IReadOnlyCollection"]),
    (&[CSharp], "IList", &["ICollection", "IEnumerable"]),
    (&[CSharp], "IReadOnlyList", &["IReadOnlyCollection", "IEnumerable"]),
    (&[CSharp], "ICollection", &["IEnumerable"]),
    (&[CSharp], "Dictionary", &["IDictionary", "IReadOnlyDictionary"]),
    (&[CSharp], "HashSet", &["ISet", "ICollection", "IEnumerable"]),
    (&[TypeScript, Tsx], "Array", &["ReadonlyArray", "Iterable", "ArrayLike"]),
    (&[TypeScript, Tsx], "Map", &["ReadonlyMap"]),
    (&[TypeScript, Tsx], "Set", &["ReadonlySet", "Iterable"]),
];

pub(super) fn containers(language: Language, old: &[&str], new: &[&str]) -> Option<Relation> {
    let (head, arguments) = old.split_first()?;
    let (wider, others) = new.split_first()?;
    let known = |from: &str, to: &str| {
        CONTAINERS.iter().any(|(of, name, up)| of.contains(&language) && *name == from && up.contains(&to))
    };
    // Elements that are not written may be anything.
    let same = arguments == others || arguments.is_empty() || others.is_empty();
    match same && (arguments.first().is_none_or(|token| matches!(*token, "[" | "<"))) {
        true if known(head, wider) => Some(Relation::Wider),
        true if *head == "str" && language == Python && matches!(*wider, "Iterable" | "Sequence") => {
            Some(Relation::Wider)
        }
        _ => None,
    }
}
