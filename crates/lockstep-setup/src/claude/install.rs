//! Puts our entries in, and brings those that are there up to date.

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;

use super::handlers::{HookHandler, lockstep_handlers};
use super::{
    CLIENT, EntryAction, EntryChange, HookEntry, SettingsEdit, SettingsError, ShapeProblem, split_bom,
};
use crate::hook_command::is_lockstep_hook;
use crate::json::{JsonNode, NewChild};
use crate::json_style::JsonStyle;
use crate::position::Position;
use crate::settings_document::{JsonContainer, SettingsDocument, member, span};
use crate::splice::{Splice, apply, insert_child, remove_child};

/// The initial text of a new settings file.
const EMPTY: &str = "{}\n";

/// Registers exactly `entries`: adds missing ones, updates outdated ones in place, and removes all other
/// entries of ours. Nothing else in `existing` changes; `None` means that there is no file.
pub fn install(existing: Option<&str>, entries: &[HookEntry]) -> Result<SettingsEdit, SettingsError> {
    if let Some(entry) = entries.iter().find(|entry| !is_lockstep_hook(&entry.command, CLIENT)) {
        return Err(SettingsError::Unrecognised { command: entry.command.clone() });
    }
    let (mark, body) = split_bom(existing.unwrap_or_default());
    let body = if body.trim().is_empty() { EMPTY } else { body };
    let mut edit = SettingsEdit { text: body.to_owned(), changes: Vec::new() };
    // Each step results in a valid text that is closer to the goal: a member of one entry is corrected, an
    // entry is added, or an unwanted one is removed.
    while let Some((text, change)) = step(&edit.text, entries)? {
        edit.text = text;
        // An update takes one step per member, but is reported as one change.
        if change.action != EntryAction::Updated || edit.changes.last() != Some(&change) {
            edit.changes.push(change);
        }
    }
    edit.text.insert_str(0, mark);
    Ok(edit)
}

fn step(text: &str, entries: &[HookEntry]) -> Result<Option<(String, EntryChange)>, SettingsError> {
    let document = SettingsDocument::parse(text)?;
    let root = usable_root(&document, entries)?;
    let style = JsonStyle::of(&document, root);
    let ours = lockstep_handlers(root);
    let EntryMatching { pairs, surplus, missing } = EntryMatching::of(&ours, entries);

    let update = pairs.iter().find_map(|(handler, entry)| {
        let splices = correct(&document, &style, handler, entry)?;
        Some((splices, change(EntryAction::Updated, &entry.event, entry.matcher.as_deref())))
    });
    let remove = || {
        let handler = surplus.first()?;
        Some((
            handler.removal_splices(&document),
            change(EntryAction::Removed, handler.event(), handler.matcher()),
        ))
    };
    let insert = || {
        let entry = missing.first()?;
        let splices = insert_entry(&document, &style, root, entry);
        Some((splices, change(EntryAction::Added, &entry.event, entry.matcher.as_deref())))
    };
    Ok(update.or_else(remove).or_else(insert).map(|(splices, change)| (apply(text, splices), change)))
}

fn change(action: EntryAction, event: &str, matcher: Option<&str>) -> EntryChange {
    EntryChange { action, event: event.to_owned(), matcher: matcher.map(str::to_owned) }
}

/// Which of our hooks becomes which entry.
struct EntryMatching<'p, 'd, 'a> {
    pairs: Vec<(&'p HookHandler<'d, 'a>, &'p HookEntry)>,
    surplus: Vec<&'p HookHandler<'d, 'a>>,
    missing: Vec<&'p HookEntry>,
}

/// Returns true if a hook can be changed into an entry of its event.
type MatchRule = fn(&HookHandler<'_, '_>, &HookEntry) -> bool;

/// From equal to barely similar. The best matches are paired first. Only a hook that is alone in its group
/// can get another matcher in place.
const MATCH_RULES: [MatchRule; 5] = [
    is_up_to_date,
    |handler, entry| handler.has_matcher_of(entry) && handler.command() == entry.command,
    |handler, entry| handler.has_matcher_of(entry),
    |handler, entry| handler.is_only_handler() && handler.command() == entry.command,
    |handler, _| handler.is_only_handler(),
];

impl<'p, 'd, 'a> EntryMatching<'p, 'd, 'a> {
    fn of(ours: &'p [HookHandler<'d, 'a>], entries: &'p [HookEntry]) -> Self {
        let mut pairing =
            Self { pairs: Vec::new(), surplus: ours.iter().collect(), missing: entries.iter().collect() };
        for alike in MATCH_RULES {
            let Self { pairs, surplus, missing } = &mut pairing;
            missing.retain(|entry| {
                let found = surplus
                    .iter()
                    .position(|handler| handler.event() == entry.event && alike(handler, entry));
                pairs.extend(found.map(|index| (surplus.remove(index), *entry)));
                found.is_none()
            });
        }
        pairing
    }
}

fn is_up_to_date(handler: &HookHandler<'_, '_>, entry: &HookEntry) -> bool {
    handler.has_matcher_of(entry)
        && handler.kind() == Some("command")
        && handler.command() == entry.command
        && handler.timeout() == Some(f64::from(entry.timeout_seconds))
}

/// Corrects one member of `handler` that is not as in `entry`, if there is one.
fn correct(
    document: &SettingsDocument<'_>,
    style: &JsonStyle,
    handler: &HookHandler<'_, '_>,
    entry: &HookEntry,
) -> Option<Vec<Splice>> {
    let (group, object) = (handler.group.1, handler.object.1);
    let set = |object, name, value| Some(set(document, style, object, name, value));
    if !handler.has_matcher_of(entry) {
        return match &entry.matcher {
            Some(matcher) => set(group, "matcher", JsonNode::Text(matcher.clone())),
            None => {
                let index = group.properties.iter().position(|member| member.name.as_str() == "matcher")?;
                Some(remove_child(document, &JsonContainer::from(group), index))
            }
        };
    }
    if handler.kind() != Some("command") {
        return set(object, "type", JsonNode::Text("command".to_owned()));
    }
    if handler.command() != entry.command {
        return set(object, "command", JsonNode::Text(entry.command.clone()));
    }
    if handler.timeout() != Some(f64::from(entry.timeout_seconds)) {
        return set(object, "timeout", JsonNode::Number(entry.timeout_seconds));
    }
    None
}

fn set(
    document: &SettingsDocument<'_>,
    style: &JsonStyle,
    object: &Object<'_>,
    name: &str,
    value: JsonNode,
) -> Vec<Splice> {
    match member(object, name) {
        Some(member) => {
            vec![Splice::replace(span(&member.value), NewChild::element(value).render(style, None))]
        }
        None => insert_child(document, style, &JsonContainer::from(object), &NewChild::member(name, value)),
    }
}

/// Adds `entry` in its own group, so that other hooks are not touched.
fn insert_entry(
    document: &SettingsDocument<'_>,
    style: &JsonStyle,
    root: &Object<'_>,
    entry: &HookEntry,
) -> Vec<Splice> {
    let group = group(entry);
    let Some(hooks) = member(root, "hooks").and_then(|member| member.value.as_object()) else {
        let hooks = JsonNode::Object(vec![(entry.event.clone(), JsonNode::Array(vec![group]))]);
        return insert_child(document, style, &JsonContainer::from(root), &NewChild::member("hooks", hooks));
    };
    let Some(groups) = member(hooks, &entry.event).and_then(|member| member.value.as_array()) else {
        let child = NewChild::member(&entry.event, JsonNode::Array(vec![group]));
        return insert_child(document, style, &JsonContainer::from(hooks), &child);
    };
    insert_child(document, style, &JsonContainer::from(groups), &NewChild::element(group))
}

fn group(entry: &HookEntry) -> JsonNode {
    let text = |text: &str| JsonNode::Text(text.to_owned());
    let handler = JsonNode::Object(vec![
        ("type".to_owned(), text("command")),
        ("command".to_owned(), text(&entry.command)),
        ("timeout".to_owned(), JsonNode::Number(entry.timeout_seconds)),
    ]);
    let matcher = entry.matcher.as_deref().map(|matcher| ("matcher".to_owned(), text(matcher)));
    JsonNode::Object(
        matcher.into_iter().chain([("hooks".to_owned(), JsonNode::Array(vec![handler]))]).collect(),
    )
}

/// The outermost object, if everything that entries must be put into has the right shape.
fn usable_root<'d, 'a>(
    document: &'d SettingsDocument<'a>,
    entries: &[HookEntry],
) -> Result<&'d Object<'a>, SettingsError> {
    let Some(value) = &document.value else {
        let at = Position::of(document.text, document.text.len());
        return Err(SettingsError::Syntax { at, message: "there is no value".to_owned() });
    };
    let Value::Object(root) = value else {
        let what = format!("the settings are {}, not an object", value_kind(value));
        return Err(SettingsError::Shape(vec![shape_problem(
            document,
            value.start(),
            what,
            "put an object, `{}`, there",
        )]));
    };
    let mut misfits = duplicates(document, root, "hooks", "hooks");
    match member(root, "hooks").map(|member| &member.value) {
        Some(Value::Object(hooks)) => misfits.extend(unusable_events(document, hooks, entries)),
        Some(other) => {
            let what = format!("`hooks` is {}, not an object", value_kind(other));
            misfits.push(shape_problem(
                document,
                other.start(),
                what,
                "remove it, or make it an object of events",
            ));
        }
        None => {}
    }
    if misfits.is_empty() { Ok(root) } else { Err(SettingsError::Shape(misfits)) }
}

fn unusable_events(
    document: &SettingsDocument<'_>,
    hooks: &Object<'_>,
    entries: &[HookEntry],
) -> Vec<ShapeProblem> {
    let mut misfits = Vec::new();
    let mut events: Vec<_> = entries.iter().map(|entry| entry.event.as_str()).collect();
    events.sort_unstable();
    events.dedup();
    for event in events {
        let path = format!("hooks.{event}");
        misfits.extend(duplicates(document, hooks, event, &path));
        let Some(value) = member(hooks, event).map(|member| &member.value) else { continue };
        if value.as_array().is_none() {
            let what = format!("`{path}` is {}, not an array", value_kind(value));
            misfits.push(shape_problem(
                document,
                value.start(),
                what,
                "remove it, or make it an array of hook groups",
            ));
        }
    }
    misfits
}

/// Reports repeated members. A client uses the last one, but a person may mean the first, so neither is
/// edited.
fn duplicates(
    document: &SettingsDocument<'_>,
    object: &Object<'_>,
    name: &str,
    path: &str,
) -> Vec<ShapeProblem> {
    let members = object.properties.iter().filter(|member| member.name.as_str() == name);
    let again = members.skip(1).map(|member| {
        shape_problem(
            document,
            member.start(),
            format!("`{path}` occurs twice"),
            "join the two, or remove one",
        )
    });
    again.collect()
}

fn shape_problem(document: &SettingsDocument<'_>, offset: usize, what: String, fix: &str) -> ShapeProblem {
    ShapeProblem { at: Position::of(document.text, offset), what, fix: fix.to_owned() }
}

pub(super) fn value_kind(value: &Value<'_>) -> &'static str {
    match value {
        Value::StringLit(_) => "a string",
        Value::NumberLit(_) => "a number",
        Value::BooleanLit(_) => "a boolean",
        Value::Object(_) => "an object",
        Value::Array(_) => "an array",
        Value::NullKeyword(_) => "null",
    }
}
