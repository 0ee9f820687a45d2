//! The keys of a settings file that keep hooks from running.

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;

use super::split_bom;
use crate::position::Position;
use crate::settings_document::{SettingsDocument, member};

/// The values of the keys that decide whether hooks run, each with its position; `None` if the file does not set the key.
///
/// The client reads the last two from managed settings only, which an administrator writes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookSwitches {
    pub disable_all: Option<(bool, Position)>,
    /// `allowManagedHooksOnly`.
    pub managed_only: Option<(bool, Position)>,
    /// `strictPluginOnlyCustomization`, as far as it is about hooks.
    pub plugins_only: Option<(bool, Position)>,
}

impl HookSwitches {
    /// Reads the keys from the text of a settings file. A text that is not JSON sets none of them, because
    /// the client ignores the file.
    pub fn read(text: &str) -> Self {
        let (_, body) = split_bom(text);
        let Ok(document) = SettingsDocument::parse(body) else { return Self::default() };
        let Some(root) = document.value.as_ref().and_then(Value::as_object) else { return Self::default() };
        let find = |name: &str, is_set: fn(&Value<'_>) -> Option<bool>| {
            let found = member(root, name)?;
            Some((is_set(&found.value)?, Position::of(body, found.start())))
        };
        Self {
            disable_all: find("disableAllHooks", boolean),
            managed_only: find("allowManagedHooksOnly", boolean),
            plugins_only: find("strictPluginOnlyCustomization", |value| match value.as_array() {
                Some(list) => {
                    let is_hooks =
                        |value: &Value<'_>| matches!(value, Value::StringLit(text) if text.value == "hooks");
                    Some(list.elements.iter().any(is_hooks))
                }
                None => boolean(value),
            }),
        }
    }
}

fn boolean(value: &Value<'_>) -> Option<bool> {
    value.as_boolean_lit().map(|literal| literal.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(switch: Option<(bool, Position)>) -> Option<bool> {
        switch.map(|(value, _)| value)
    }

    #[test]
    fn switches_are_read_from_any_json() {
        let text = "\u{feff}{\n  // why\n  \"disableAllHooks\": true,\n  \"allowManagedHooksOnly\": false,\n  \
                    \"strictPluginOnlyCustomization\": [\"skills\", \"hooks\"]\n}";
        let switches = HookSwitches::read(text);
        assert_eq!(switches.disable_all, Some((true, Position { line: 3, column: 3 })));
        assert_eq!(value(switches.managed_only), Some(false));
        assert_eq!(value(switches.plugins_only), Some(true));
    }

    #[test]
    fn other_types_and_broken_files_set_nothing() {
        for text in ["", "[]", "{\"disableAllHooks\": ", "{\"disableAllHooks\": \"yes\"}", "{\"hooks\": {}}"]
        {
            assert_eq!(HookSwitches::read(text), HookSwitches::default(), "{text}");
        }
        let skills = HookSwitches::read("{\"strictPluginOnlyCustomization\": [\"skills\"]}");
        assert_eq!(value(skills.plugins_only), Some(false));
    }
}
