//! The hooks of a settings file, and where ours are.

use jsonc_parser::ast::{Array, Object, ObjectProp, Value};

use super::{CLIENT, HookEntry, SettingsError};
use crate::hook_command::is_lockstep_hook;
use crate::settings_document::{JsonContainer, SettingsDocument, SyntaxError, member};
use crate::splice::{Splice, has_comments_beside, remove_child};

impl From<SyntaxError> for SettingsError {
    fn from(SyntaxError { at, message }: SyntaxError) -> Self {
        Self::Syntax { at, message }
    }
}

pub(super) struct HookHandler<'d, 'a> {
    root: &'d Object<'a>,
    hooks: (usize, &'d Object<'a>),
    event: (usize, &'d ObjectProp<'a>),
    groups: &'d Array<'a>,
    pub(super) group: (usize, &'d Object<'a>),
    handlers: &'d Array<'a>,
    pub(super) object: (usize, &'d Object<'a>),
}

/// Returns our hooks in `root`, in order. Values that do not have the shape of a hook are skipped.
pub(super) fn lockstep_handlers<'d, 'a>(root: &'d Object<'a>) -> Vec<HookHandler<'d, 'a>> {
    handlers(root).into_iter().filter(|handler| is_lockstep_hook(handler.command(), CLIENT)).collect()
}

fn handlers<'d, 'a>(root: &'d Object<'a>) -> Vec<HookHandler<'d, 'a>> {
    let mut found = Vec::new();
    for hooks in objects(root.properties.iter().map(|member| &member.value)) {
        if root.properties[hooks.0].name.as_str() != "hooks" {
            continue;
        }
        for event in hooks.1.properties.iter().enumerate() {
            let Some(groups) = event.1.value.as_array() else { continue };
            for group in objects(groups.elements.iter()) {
                let Some(handlers) = member(group.1, "hooks").and_then(|member| member.value.as_array())
                else {
                    continue;
                };
                for object in objects(handlers.elements.iter()) {
                    found.push(HookHandler { root, hooks, event, groups, group, handlers, object });
                }
            }
        }
    }
    found
}

/// Returns the objects among `values`, with their indices.
fn objects<'d, 'a: 'd>(
    values: impl Iterator<Item = &'d Value<'a>>,
) -> impl Iterator<Item = (usize, &'d Object<'a>)> {
    values.enumerate().filter_map(|(n, value)| value.as_object().map(|object| (n, object)))
}

impl<'d> HookHandler<'d, '_> {
    pub(super) fn event(&self) -> &'d str {
        self.event.1.name.as_str()
    }

    pub(super) fn matcher(&self) -> Option<&'d str> {
        text(self.group.1, "matcher")
    }

    pub(super) fn command(&self) -> &'d str {
        text(self.object.1, "command").unwrap_or_default()
    }

    pub(super) fn kind(&self) -> Option<&'d str> {
        text(self.object.1, "type")
    }

    pub(super) fn timeout(&self) -> Option<f64> {
        number(&member(self.object.1, "timeout")?.value)
    }

    /// Returns true if no other hook shares its matcher.
    pub(super) fn is_only_handler(&self) -> bool {
        self.handlers.elements.len() == 1
    }

    /// Returns true if it has the same matcher as `entry`. If `entry` has none, the member must be absent.
    pub(super) fn has_matcher_of(&self, entry: &HookEntry) -> bool {
        let has_member = member(self.group.1, "matcher").is_some();
        self.matcher() == entry.matcher.as_deref() && has_member == entry.matcher.is_some()
    }

    /// Takes it out, with the containers that hold nothing else.
    pub(super) fn removal_splices(&self, document: &SettingsDocument<'_>) -> Vec<Splice> {
        let levels = [
            (JsonContainer::from(self.handlers), self.object.0),
            (JsonContainer::from(self.groups), self.group.0),
            (JsonContainer::from(self.hooks.1), self.event.0),
            (JsonContainer::from(self.root), self.hooks.0),
        ];
        let holds_more = |(container, index): &&(JsonContainer, usize)| {
            container.children.len() > 1 || has_comments_beside(document, container, *index)
        };
        let (container, index) = levels.iter().find(holds_more).unwrap_or(&levels[3]);
        remove_child(document, container, *index)
    }
}

fn text<'d>(object: &'d Object<'_>, name: &str) -> Option<&'d str> {
    member(object, name)?.value.as_string_lit().map(|text| text.value.as_ref())
}

pub(super) fn number(value: &Value<'_>) -> Option<f64> {
    value.as_number_lit()?.value.parse().ok()
}
