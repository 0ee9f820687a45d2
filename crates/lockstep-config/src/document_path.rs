//! The place of a document that Lockstep writes for others to read: the map, the session cache.

use crate::value::{ValueKind, config_text, parse_path};

config_text! {
    /// A path relative to the root; `None` if the project's kind decides.
    pub struct DocumentPath(Option<String>),
    ValueKind::Path, |text| parse_path(text).map(|_| text)
}
