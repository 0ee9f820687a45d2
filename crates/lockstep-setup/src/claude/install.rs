//! Puts our entries in, and brings those that are there up to date.

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;

use super::settings::{Handler, ours};
use super::{Action, CLIENT, Change, Edit, HookEntry, Misfit, SettingsError, split_mark};
use crate::command::is_ours;
use crate::document::{Container, Document, member, span};
use crate::json::{Child, Json};
use crate::position::Position;
use crate::splice::{Splice, add, apply, take};
use crate::style::Style;

/// The initial text of a new settings file.
const EMPTY: &str = "{}\n";

/// Registers exactly `entries`: adds missing ones, updates outdated ones in place, and removes all other
/// entries of ours. Nothing else in `existing` changes; `None` means that there is no file.
pub fn install(existing: Option<&str>, entries: &[HookEntry]) -> Result<Edit, SettingsError> {
    if let Some(entry) = entries.iter().find(|entry| !is_ours(&entry.command, CLIENT)) {
        return Err(SettingsError::Unrecognised { command: entry.command.clone() });
    }
    let (mark, body) = split_mark(existing.unwrap_or_default());
    let body = if body.trim().is_empty() { EMPTY } else { body };
    let mut edit = Edit { text: body.to_owned(), changes: Vec::new() };
    // Each step results in a valid text that is closer to the goal: a member of one entry is corrected, an
    // entry is added, or an unwanted one is removed.
    while let Some((text, change)) = step(&edit.text, entries)? {
        edit.text = text;
        // An update takes one step per member, but is reported as one change.
        if change.action != Action::Updated || edit.changes.last() != Some(&change) {
            edit.changes.push(change);
        }
    }
    edit.text.insert_str(0, mark);
    Ok(edit)
}

fn step(text: &str, entries: &[HookEntry]) -> Result<Option<(String, Change)>, SettingsError> {
    let document = Document::parse(text)?;
    let root = usable_root(&document, entries)?;
    let style = Style::of(&document, root);
    let ours = ours(root);
    let Pairing { pairs, surplus, missing } = Pairing::of(&ours, entries);

    let update = pairs.iter().find_map(|(handler, entry)| {
        let splices = correct(&document, &style, handler, entry)?;
        Some((splices, change(Action::Updated, &entry.event, entry.matcher.as_deref())))
    });
    let remove = || {
        let handler = surplus.first()?;
        Some((handler.take_out(&document), change(Action::Removed, handler.event(), handler.matcher())))
    };
    let insert = || {
        let entry = missing.first()?;
        let splices = put_in(&document, &style, root, entry);
        Some((splices, change(Action::Added, &entry.event, entry.matcher.as_deref())))
    };
    Ok(update.or_else(remove).or_else(insert).map(|(splices, change)| (apply(text, splices), change)))
}

fn change(action: Action, event: &str, matcher: Option<&str>) -> Change {
    Change { action, event: event.to_owned(), matcher: matcher.map(str::to_owned) }
}

/// Which of our hooks becomes which entry.
struct Pairing<'p, 'd, 'a> {
    pairs: Vec<(&'p Handler<'d, 'a>, &'p HookEntry)>,
    surplus: Vec<&'p Handler<'d, 'a>>,
    missing: Vec<&'p HookEntry>,
}

/// Returns true if a hook can be changed into an entry of its event.
type Likeness = fn(&Handler<'_, '_>, &HookEntry) -> bool;

/// From equal to barely similar. The best matches are paired first. Only a hook that is alone in its group
/// can get another matcher in place.
const LIKENESSES: [Likeness; 5] = [
    is_right,
    |handler, entry| handler.has_matcher_of(entry) && handler.command() == entry.command,
    |handler, entry| handler.has_matcher_of(entry),
    |handler, entry| handler.is_alone() && handler.command() == entry.command,
    |handler, _| handler.is_alone(),
];

impl<'p, 'd, 'a> Pairing<'p, 'd, 'a> {
    fn of(ours: &'p [Handler<'d, 'a>], entries: &'p [HookEntry]) -> Self {
        let mut pairing =
            Self { pairs: Vec::new(), surplus: ours.iter().collect(), missing: entries.iter().collect() };
        for alike in LIKENESSES {
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

fn is_right(handler: &Handler<'_, '_>, entry: &HookEntry) -> bool {
    handler.has_matcher_of(entry)
        && handler.kind() == Some("command")
        && handler.command() == entry.command
        && handler.timeout() == Some(f64::from(entry.timeout_seconds))
}

/// Corrects one member of `handler` that is not as in `entry`, if there is one.
fn correct(
    document: &Document<'_>,
    style: &Style,
    handler: &Handler<'_, '_>,
    entry: &HookEntry,
) -> Option<Vec<Splice>> {
    let (group, object) = (handler.group.1, handler.object.1);
    let set = |object, name, value| Some(set(document, style, object, name, value));
    if !handler.has_matcher_of(entry) {
        return match &entry.matcher {
            Some(matcher) => set(group, "matcher", Json::Text(matcher.clone())),
            None => {
                let index = group.properties.iter().position(|member| member.name.as_str() == "matcher")?;
                Some(take(document, &Container::from(group), index))
            }
        };
    }
    if handler.kind() != Some("command") {
        return set(object, "type", Json::Text("command".to_owned()));
    }
    if handler.command() != entry.command {
        return set(object, "command", Json::Text(entry.command.clone()));
    }
    if handler.timeout() != Some(f64::from(entry.timeout_seconds)) {
        return set(object, "timeout", Json::Number(entry.timeout_seconds));
    }
    None
}

fn set(document: &Document<'_>, style: &Style, object: &Object<'_>, name: &str, value: Json) -> Vec<Splice> {
    match member(object, name) {
        Some(member) => vec![Splice::replace(span(&member.value), Child::element(value).render(style, None))],
        None => add(document, style, &Container::from(object), &Child::member(name, value)),
    }
}

/// Adds `entry` in its own group, so that other hooks are not touched.
fn put_in(document: &Document<'_>, style: &Style, root: &Object<'_>, entry: &HookEntry) -> Vec<Splice> {
    let group = group(entry);
    let Some(hooks) = member(root, "hooks").and_then(|member| member.value.as_object()) else {
        let hooks = Json::Object(vec![(entry.event.clone(), Json::Array(vec![group]))]);
        return add(document, style, &Container::from(root), &Child::member("hooks", hooks));
    };
    let Some(groups) = member(hooks, &entry.event).and_then(|member| member.value.as_array()) else {
        let child = Child::member(&entry.event, Json::Array(vec![group]));
        return add(document, style, &Container::from(hooks), &child);
    };
    add(document, style, &Container::from(groups), &Child::element(group))
}

fn group(entry: &HookEntry) -> Json {
    let text = |text: &str| Json::Text(text.to_owned());
    let handler = Json::Object(vec![
        ("type".to_owned(), text("command")),
        ("command".to_owned(), text(&entry.command)),
        ("timeout".to_owned(), Json::Number(entry.timeout_seconds)),
    ]);
    let matcher = entry.matcher.as_deref().map(|matcher| ("matcher".to_owned(), text(matcher)));
    Json::Object(matcher.into_iter().chain([("hooks".to_owned(), Json::Array(vec![handler]))]).collect())
}

/// The outermost object, if everything that entries must be put into has the right shape.
fn usable_root<'d, 'a>(
    document: &'d Document<'a>,
    entries: &[HookEntry],
) -> Result<&'d Object<'a>, SettingsError> {
    let Some(value) = &document.value else {
        let at = Position::of(document.text, document.text.len());
        return Err(SettingsError::Syntax { at, message: "there is no value".to_owned() });
    };
    let Value::Object(root) = value else {
        let what = format!("the settings are {}, not an object", name_of(value));
        return Err(SettingsError::Shape(vec![misfit(
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
            let what = format!("`hooks` is {}, not an object", name_of(other));
            misfits.push(misfit(document, other.start(), what, "remove it, or make it an object of events"));
        }
        None => {}
    }
    if misfits.is_empty() { Ok(root) } else { Err(SettingsError::Shape(misfits)) }
}

fn unusable_events(document: &Document<'_>, hooks: &Object<'_>, entries: &[HookEntry]) -> Vec<Misfit> {
    let mut misfits = Vec::new();
    let mut events: Vec<_> = entries.iter().map(|entry| entry.event.as_str()).collect();
    events.sort_unstable();
    events.dedup();
    for event in events {
        let path = format!("hooks.{event}");
        misfits.extend(duplicates(document, hooks, event, &path));
        let Some(value) = member(hooks, event).map(|member| &member.value) else { continue };
        if value.as_array().is_none() {
            let what = format!("`{path}` is {}, not an array", name_of(value));
            misfits.push(misfit(
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
fn duplicates(document: &Document<'_>, object: &Object<'_>, name: &str, path: &str) -> Vec<Misfit> {
    let members = object.properties.iter().filter(|member| member.name.as_str() == name);
    let again = members.skip(1).map(|member| {
        misfit(document, member.start(), format!("`{path}` stands twice"), "join the two, or remove one")
    });
    again.collect()
}

fn misfit(document: &Document<'_>, offset: usize, what: String, fix: &str) -> Misfit {
    Misfit { at: Position::of(document.text, offset), what, fix: fix.to_owned() }
}

/// Names the type of a value.
pub(super) fn name_of(value: &Value<'_>) -> &'static str {
    match value {
        Value::StringLit(_) => "a string",
        Value::NumberLit(_) => "a number",
        Value::BooleanLit(_) => "a boolean",
        Value::Object(_) => "an object",
        Value::Array(_) => "an array",
        Value::NullKeyword(_) => "null",
    }
}
