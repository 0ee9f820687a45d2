//! The data that an uninstall needs to restore a file to the byte.
//!
//! From the text alone, an empty `"hooks": {}` that was there before cannot be told from one that Lockstep
//! added. The record contains the original, which may contain secrets, so the caller must store it privately.

use serde::{Deserialize, Serialize};

/// The state of a settings file before Lockstep changed it, and a digest of the result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstallRecord {
    /// The file's text; `None` if there was no file.
    pub original: Option<String>,
    /// The BLAKE3 digest of the text that was written, in hexadecimal.
    pub installed_digest: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreAction {
    Write(String),
    /// Remove the file, because there was none.
    Remove,
}

impl InstallRecord {
    /// The record of an installation that changed `original` into `installed`.
    pub fn new(original: Option<&str>, installed: &str) -> Self {
        Self { original: original.map(str::to_owned), installed_digest: digest(installed) }
    }

    /// Returns the record of a later installation, which changed `current` into `installed`. The first
    /// original is kept if the file was not edited in between; otherwise the original is `without`, the
    /// current text without our entries.
    pub fn update(&self, current: &str, without: &str, installed: &str) -> Self {
        let original = if self.matches(current) { self.original.clone() } else { Some(without.to_owned()) };
        Self { original, installed_digest: digest(installed) }
    }

    /// Returns true if `current` is the text that the installation wrote.
    pub fn matches(&self, current: &str) -> bool {
        digest(current) == self.installed_digest
    }
}

/// Returns the action that restores the original, if the file was not edited since. Otherwise uninstall from
/// the current text, which keeps the edits.
pub fn restore(record: &InstallRecord, current: &str) -> Option<RestoreAction> {
    record.matches(current).then(|| match &record.original {
        Some(text) => RestoreAction::Write(text.clone()),
        None => RestoreAction::Remove,
    })
}

fn digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unedited_file_is_restored() {
        assert_eq!(
            restore(&InstallRecord::new(Some("a"), "b"), "b"),
            Some(RestoreAction::Write("a".to_owned()))
        );
        assert_eq!(restore(&InstallRecord::new(None, "b"), "b"), Some(RestoreAction::Remove));
    }

    #[test]
    fn an_edited_file_is_left_to_an_uninstallation() {
        assert_eq!(restore(&InstallRecord::new(Some("a"), "b"), "b "), None);
    }

    #[test]
    fn a_second_installation_keeps_the_first_original() {
        let record = InstallRecord::new(Some("a"), "b");
        assert_eq!(restore(&record.update("b", "a'", "c"), "c"), Some(RestoreAction::Write("a".to_owned())));
        assert_eq!(
            restore(&record.update("edited", "edited-", "c"), "c"),
            Some(RestoreAction::Write("edited-".to_owned()))
        );
    }

    #[test]
    fn a_record_survives_its_file() {
        let record = InstallRecord::new(None, "b");
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<InstallRecord>(&text).unwrap(), record);
    }
}
