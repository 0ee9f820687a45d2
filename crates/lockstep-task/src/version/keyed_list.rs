//! Lists with named items: decisions by id, modules by name, files by path.
//!
//! Two versions of such a list are compared item by item, regardless of order; any other list is one value.

use crate::value::Value;

/// The fields that name an item, most telling first.
const KEY_FIELDS: [&[&str]; 4] = [&["id"], &["name"], &["file"], &["from", "to"]];

/// Returns the names of all items, if every item has a unique one.
pub(crate) fn item_keys(items: &[Value]) -> Option<Vec<String>> {
    KEY_FIELDS.iter().find_map(|fields| named_by(fields, items))
}

fn named_by(fields: &[&str], items: &[Value]) -> Option<Vec<String>> {
    let names: Option<Vec<_>> = items.iter().map(|item| name(fields, item)).collect();
    let names = names?;
    let mut sorted: Vec<_> = names.iter().collect();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] != pair[1]).then_some(names)
}

fn name(fields: &[&str], item: &Value) -> Option<String> {
    let parts: Option<Vec<_>> = fields.iter().map(|field| item.get(field)?.as_str()).collect();
    parts.map(|parts| parts.join(" → "))
}

/// The named items of a value, if it has some: the entries of a mapping, or of a list that names its items.
pub(crate) fn keyed_items(value: &Value) -> Option<Vec<(String, &Value)>> {
    match value {
        Value::Object(map) => Some(map.iter().map(|(key, inner)| (key.to_owned(), inner)).collect()),
        Value::Array(items) => Some(item_keys(items)?.into_iter().zip(items).collect()),
        _ => None,
    }
}

/// Returns true if both are mappings, or both are lists that name their items.
pub(crate) fn comparable(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(_), Value::Object(_)) => true,
        (Value::Array(a), Value::Array(b)) => item_keys(a).is_some() && item_keys(b).is_some(),
        _ => false,
    }
}

/// Returns true if two values are equal apart from the order of keys and of named items.
pub(crate) fn is_equivalent(a: &Value, b: &Value) -> bool {
    if !comparable(a, b) {
        return a == b;
    }
    let (Some(a), Some(b)) = (keyed_items(a), keyed_items(b)) else { return false };
    a.len() == b.len()
        && a.iter().all(|(name, value)| find(&b, name).is_some_and(|other| is_equivalent(value, other)))
}

pub(crate) fn find<'v>(items: &[(String, &'v Value)], name: &str) -> Option<&'v Value> {
    items.iter().find(|(n, _)| n == name).map(|(_, value)| *value)
}
