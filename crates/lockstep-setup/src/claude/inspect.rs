//! Inspects a settings file for `doctor`: checks that the client can use it, and lists our entries.

use std::collections::BTreeSet;

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;

use super::handlers::{HookHandler, lockstep_handlers, number};
use super::install::value_kind;
use super::{CLIENT, SettingsFinding, SettingsFindingKind, split_bom};
use crate::hook_command::{lockstep_hook_args, plain_words};
use crate::position::Position;
use crate::settings_document::{SettingsDocument, member};

/// Ten minutes. A hook that takes longer blocks the client, so a larger number is probably in milliseconds.
const LONGEST_TIMEOUT: f64 = 600.0;

pub fn inspect(text: &str) -> Vec<SettingsFinding> {
    let (mark, body) = split_bom(text);
    let mut inspector = SettingsInspector { text: body, findings: Vec::new() };
    if !mark.is_empty() {
        inspector.add(0, SettingsFindingKind::ByteOrderMark);
    }
    inspector.findings.extend(not_json(body));
    if let Ok(document) = SettingsDocument::parse(body)
        && let Some(value) = &document.value
    {
        inspector.root(value);
    }
    inspector.findings.sort_by_key(|finding| finding.at);
    inspector.findings
}

/// An entry of ours with nothing but a matcher, a command and a timeout.
#[derive(Debug, Clone, PartialEq)]
pub struct PlainEntry {
    pub event: String,
    pub matcher: Option<String>,
    /// The program and its arguments, as a shell would split them.
    pub words: Vec<String>,
    /// In seconds.
    pub timeout: Option<f64>,
}

/// Our entries that the client runs as they are written: their commands are one program with its arguments, without operators,
/// redirections, assignments and expansions, and they have no other member, such as a condition. `None` for settings that
/// are no JSON or that change the environment in which programs are found.
pub fn plain_entries(text: &str) -> Option<Vec<PlainEntry>> {
    let (_, body) = split_bom(text);
    let document = SettingsDocument::parse(body).ok()?;
    let root = document.value.as_ref()?.as_object()?;
    let changes_path = member(root, "env")
        .is_some_and(|env| env.value.as_object().is_none_or(|env| member(env, "PATH").is_some()));
    if changes_path {
        return None;
    }
    let plain = |handler: &HookHandler<'_, '_>| {
        let has_only = |object: &Object<'_>, names: &[&str]| {
            object.properties.iter().all(|property| names.contains(&property.name.as_str()))
        };
        let is_plain = has_only(handler.object.1, &["type", "command", "timeout"])
            && has_only(handler.group.1, &["matcher", "hooks"])
            && handler.kind() == Some("command");
        let words = plain_words(handler.command()).filter(|_| is_plain)?;
        Some(PlainEntry {
            event: handler.event().to_owned(),
            matcher: handler.matcher().map(str::to_owned),
            words,
            timeout: handler.timeout(),
        })
    };
    Some(lockstep_handlers(root).iter().filter_map(plain).collect())
}

fn not_json(text: &str) -> Option<SettingsFinding> {
    let error = serde_json::from_str::<serde::de::IgnoredAny>(text).err()?;
    let at = Position { line: error.line().max(1), column: error.column().max(1) };
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default().to_owned();
    Some(SettingsFinding { at, kind: SettingsFindingKind::NotJson { message } })
}

struct SettingsInspector<'t> {
    text: &'t str,
    findings: Vec<SettingsFinding>,
}

impl SettingsInspector<'_> {
    fn root(&mut self, value: &Value<'_>) {
        let Some(root) = self.object("the file", value) else { return };
        if let Some(member) = member(root, "disableAllHooks") {
            match &member.value {
                Value::BooleanLit(flag) if flag.value => {
                    self.add(member.start(), SettingsFindingKind::HooksDisabled)
                }
                Value::BooleanLit(_) => {}
                other => self.wrong_type("disableAllHooks", other, "a boolean"),
            }
        }
        if let Some(member) = member(root, "hooks") {
            self.hooks(&member.value);
        }
        self.ours(root);
    }

    fn hooks(&mut self, value: &Value<'_>) {
        let Some(hooks) = self.object("hooks", value) else { return };
        for event in &hooks.properties {
            let path = format!("hooks.{}", event.name.as_str());
            let Some(groups) = self.array(&path, &event.value) else { continue };
            for (n, group) in groups.iter().enumerate() {
                self.group(&format!("{path}[{n}]"), event.name.as_str(), group);
            }
        }
    }

    fn group(&mut self, path: &str, event: &str, value: &Value<'_>) {
        let Some(group) = self.object(path, value) else { return };
        match member(group, "matcher").map(|member| &member.value) {
            None | Some(Value::StringLit(_)) => {}
            Some(Value::Object(matcher)) => {
                self.add(matcher.start(), SettingsFindingKind::ObjectMatcher { event: event.to_owned() });
            }
            Some(other) => self.wrong_type(&format!("{path}.matcher"), other, "a string"),
        }
        let path = format!("{path}.hooks");
        let Some(member) = member(group, "hooks") else { return self.missing(&path, group, "an array") };
        let Some(handlers) = self.array(&path, &member.value) else { return };
        for (n, handler) in handlers.iter().enumerate() {
            self.handler(&format!("{path}[{n}]"), handler);
        }
    }

    fn handler(&mut self, path: &str, value: &Value<'_>) {
        let Some(handler) = self.object(path, value) else { return };
        let kind = self.string(&format!("{path}.type"), handler, "type");
        if kind == Some("command") {
            self.string(&format!("{path}.command"), handler, "command");
        }
        let Some(timeout) = member(handler, "timeout").map(|member| &member.value) else { return };
        let path = format!("{path}.timeout");
        match number(timeout) {
            Some(seconds) if seconds > LONGEST_TIMEOUT => {
                self.add(
                    timeout.start(),
                    SettingsFindingKind::TimeoutInMilliseconds { path, timeout: seconds },
                );
            }
            Some(_) => {}
            None => self.wrong_type(&path, timeout, "a number of seconds"),
        }
    }

    fn ours(&mut self, root: &Object<'_>) {
        let mut seen = BTreeSet::new();
        for handler in lockstep_handlers(root) {
            let (event, matcher) = (handler.event().to_owned(), handler.matcher().map(str::to_owned));
            let at = handler.object.1.start();
            if !seen.insert((event.clone(), matcher.clone(), lockstep_hook_args(handler.command(), CLIENT))) {
                self.add(
                    at,
                    SettingsFindingKind::Duplicate { event: event.clone(), matcher: matcher.clone() },
                );
            }
            if is_asynchronous(&handler) {
                self.add(at, SettingsFindingKind::Asynchronous { event: event.clone() });
            }
            let (command, timeout) = (handler.command().to_owned(), handler.timeout());
            self.add(at, SettingsFindingKind::LockstepEntry { event, matcher, command, timeout });
        }
    }

    fn object<'d, 'a>(&mut self, path: &str, value: &'d Value<'a>) -> Option<&'d Object<'a>> {
        let object = value.as_object();
        if object.is_none() {
            self.wrong_type(path, value, "an object");
        }
        object
    }

    fn array<'d, 'a>(&mut self, path: &str, value: &'d Value<'a>) -> Option<&'d [Value<'a>]> {
        let array = value.as_array();
        if array.is_none() {
            self.wrong_type(path, value, "an array");
        }
        array.map(|array| array.elements.as_slice())
    }

    fn string<'d>(&mut self, path: &str, object: &'d Object<'_>, name: &str) -> Option<&'d str> {
        match member(object, name).map(|member| &member.value) {
            Some(Value::StringLit(text)) => return Some(&text.value),
            Some(other) => self.wrong_type(path, other, "a string"),
            None => self.missing(path, object, "a string"),
        }
        None
    }

    fn wrong_type(&mut self, path: &str, value: &Value<'_>, expected: &'static str) {
        let kind = SettingsFindingKind::WrongType {
            path: path.to_owned(),
            expected,
            found: Some(value_kind(value)),
        };
        self.add(value.start(), kind);
    }

    fn missing(&mut self, path: &str, holder: &Object<'_>, expected: &'static str) {
        let kind = SettingsFindingKind::WrongType { path: path.to_owned(), expected, found: None };
        self.add(holder.start(), kind);
    }

    fn add(&mut self, offset: usize, kind: SettingsFindingKind) {
        self.findings.push(SettingsFinding { at: Position::of(self.text, offset), kind });
    }
}

fn is_asynchronous(handler: &HookHandler<'_, '_>) -> bool {
    let value = member(handler.object.1, "async").map(|member| &member.value);
    value.and_then(|value| value.as_boolean_lit()).is_some_and(|flag| flag.value)
}
