//! The user's own configuration, `config.toml` in the directory `lockstep` of the user's configuration:
//! settings that no project may change.

use std::path::PathBuf;

use toml::de::{DeTable, DeValue};

/// Returns the directories outside a project that `lockstep.toml` may name: `[paths] allow`. A file that
/// cannot be read allows none.
pub fn allowed_paths(text: &str) -> Vec<PathBuf> {
    let Ok(table) = DeTable::parse(text) else { return Vec::new() };
    let paths = table.get_ref().get("paths").and_then(|paths| paths.get_ref().as_table());
    let Some(DeValue::Array(items)) = paths.and_then(|paths| paths.get("allow")).map(|item| item.get_ref())
    else {
        return Vec::new();
    };
    let paths = items.iter().filter_map(|item| item.get_ref().as_str()).map(PathBuf::from);
    paths.filter(|path| path.is_absolute() && path.parent().is_some()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absolute_directories_are_allowed() {
        let paths = allowed_paths("[paths]\nallow = [\"/srv/logs\", \"here\", \"/\", 3]\n");
        assert_eq!(paths, [PathBuf::from("/srv/logs")]);
        for text in ["", "[paths]\nallow = \"/srv\"\n", "[paths", "paths = 1", "[paths]\nother = []\n"] {
            assert!(allowed_paths(text).is_empty(), "{text}");
        }
    }
}
