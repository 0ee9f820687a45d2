//! Cuts a value into pieces: list items and parts of long texts. Every page has the shape of the complete
//! value.

use std::ops::Range;

use serde_json::{Map, Value};

use super::limits::text_cost;

/// Longer texts are cut.
const MAX_TEXT_PIECE: usize = 2_000;

/// Returns the cost of each piece of a value, in order.
pub(super) fn piece_costs(value: &Value) -> Vec<usize> {
    let mut costs = Vec::new();
    collect(value, &mut costs);
    costs
}

fn collect(value: &Value, costs: &mut Vec<usize>) {
    match value {
        Value::String(text) => costs.extend(chunks(text).map(json_cost)),
        Value::Array(items) => {
            for item in items {
                let first = costs.len();
                collect(item, costs);
                match costs.len() - first {
                    0 => costs.push(json_cost_of(item)),
                    // The rest of the value is part of the first piece.
                    _ => costs[first] += json_cost_of(&cut(item, 0..0)),
                }
            }
        }
        Value::Object(fields) => fields.values().for_each(|value| collect(value, costs)),
        _ => {}
    }
}

fn json_cost_of(value: &Value) -> usize {
    text_cost(&value.to_string())
}

fn json_cost(text: &str) -> usize {
    json_cost_of(&Value::from(text))
}

/// Returns the number of pieces, without their cost.
fn count(value: &Value) -> usize {
    match value {
        Value::String(text) => chunks(text).count(),
        Value::Array(items) => items.iter().map(|item| count(item).max(1)).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// The value with these pieces only.
pub(super) fn cut(value: &Value, range: Range<usize>) -> Value {
    Slicer { range, at: 0 }.of(value)
}

struct Slicer {
    range: Range<usize>,
    /// The next piece.
    at: usize,
}

impl Slicer {
    fn of(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(items) => items.iter().filter_map(|item| self.item(item)).collect(),
            Value::Object(fields) => {
                let fields: Map<String, Value> =
                    fields.iter().map(|(name, value)| (name.clone(), self.of(value))).collect();
                Value::Object(fields)
            }
            other => other.clone(),
        }
    }

    /// An item is there when any piece of it is.
    fn item(&mut self, item: &Value) -> Option<Value> {
        let pieces = count(item);
        let end = self.at + pieces.max(1);
        let wanted = self.at < self.range.end && self.range.start < end;
        let piece = wanted.then(|| if pieces == 0 { item.clone() } else { self.of(item) });
        self.at = end;
        piece
    }

    fn text(&mut self, text: &str) -> Value {
        let pieces = chunks(text).count();
        if pieces == 0 {
            return text.into();
        }
        let wanted = (self.at..).zip(chunks(text)).filter(|(at, _)| self.range.contains(at));
        let piece: String = wanted.map(|(_, chunk)| chunk).collect();
        self.at += pieces;
        piece.into()
    }
}

/// Returns the pieces of a long text; a short one has none.
fn chunks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = if text.chars().nth(MAX_TEXT_PIECE).is_some() { text } else { "" };
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(MAX_TEXT_PIECE).map_or(rest.len(), |(at, _)| at);
        let (chunk, after) = rest.split_at(end);
        rest = after;
        Some(chunk).filter(|chunk| !chunk.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<i64>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            "[a-zé\n\"]{0,12}".prop_map(Value::from),
            (0_usize..3).prop_map(|n| Value::from("long é ".repeat(n * MAX_TEXT_PIECE / 5))),
        ];
        leaf.prop_recursive(4, 64, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map("[a-c]{1,2}", inner, 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    /// Every piece with its place, by names and not by numbers: numbers of items change in a page.
    fn leaves(value: &Value, place: &str, out: &mut Vec<(String, String)>) {
        match value {
            Value::String(text) if count(value) > 0 => out.push((place.to_owned(), text.clone())),
            Value::Array(items) => {
                for item in items {
                    match count(item) {
                        0 => out.push((format!("{place}[]"), item.to_string())),
                        _ => leaves(item, &format!("{place}[]"), out),
                    }
                }
            }
            Value::Object(fields) => {
                fields.iter().for_each(|(name, value)| leaves(value, &format!("{place}.{name}"), out));
            }
            _ => {}
        }
    }

    proptest! {
        #[test]
        fn every_piece_is_in_exactly_one_page(value in values(), step in 1_usize..5) {
            let costs = piece_costs(&value);
            prop_assert_eq!(costs.len(), count(&value));
            let mut lengths = 0;
            for from in (0..costs.len()).step_by(step) {
                let range = from..(from + step).min(costs.len());
                let page = cut(&value, range.clone());
                lengths += inner_length(&page);
            }
            if !costs.is_empty() {
                prop_assert_eq!(lengths, inner_length(&value));
            }
            let mut whole = Vec::new();
            leaves(&value, "", &mut whole);
            let mut all = Vec::new();
            leaves(&cut(&value, 0..costs.len()), "", &mut all);
            prop_assert_eq!(all, whole);
        }
    }

    /// Returns the amount of data in pieces.
    fn inner_length(value: &Value) -> usize {
        fn of(value: &Value, in_list: bool) -> usize {
            match value {
                Value::Array(items) => items.iter().map(|item| of(item, true)).sum(),
                Value::Object(fields) => {
                    let inner: usize = fields.values().map(|value| of(value, false)).sum();
                    // An item without pieces is a piece. An item with pieces may be repeated, so only its
                    // pieces are counted.
                    inner + usize::from(in_list && count(value) == 0 && inner == 0)
                }
                Value::String(text) if text.starts_with("long") || text.len() > 100 => text.chars().count(),
                _ => usize::from(in_list),
            }
        }
        of(value, false)
    }

    #[test]
    fn a_page_has_the_shape_of_the_whole() {
        let value = json!({"sought": "x", "files": [{"name": "a", "lines": [1, 2]}, {"name": "b", "lines": [3]}], "text": "é".repeat(MAX_TEXT_PIECE + 1)});
        assert_eq!(piece_costs(&value).len(), 5);
        assert_eq!(
            cut(&value, 0..1),
            json!({"sought": "x", "files": [{"name": "a", "lines": [1]}], "text": ""})
        );
        assert_eq!(
            cut(&value, 1..3),
            json!({"sought": "x", "files": [{"name": "a", "lines": [2]}, {"name": "b", "lines": [3]}], "text": ""})
        );
        assert_eq!(cut(&value, 4..5), json!({"sought": "x", "files": [], "text": "é"}));
    }
}
