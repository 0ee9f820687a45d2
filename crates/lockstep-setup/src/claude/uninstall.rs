//! Takes our entries out.

use super::handlers::lockstep_handlers;
use super::{EntryAction, EntryChange, SettingsEdit, SettingsError, split_bom};
use crate::settings_document::SettingsDocument;
use crate::splice::apply;

/// Takes all our entries out of `existing`, and the containers that hold nothing else. Everything else stays as it is.
pub fn uninstall(existing: &str) -> Result<SettingsEdit, SettingsError> {
    let (mark, body) = split_bom(existing);
    let mut edit = SettingsEdit { text: body.to_owned(), changes: Vec::new() };
    // Entries are removed one at a time, because neighbours share commas and containers.
    while let Some((text, change)) = remove_next(&edit.text)? {
        edit.text = text;
        edit.changes.push(change);
    }
    edit.text.insert_str(0, mark);
    Ok(edit)
}

fn remove_next(text: &str) -> Result<Option<(String, EntryChange)>, SettingsError> {
    let document = SettingsDocument::parse(text)?;
    let Some(root) = document.value.as_ref().and_then(|value| value.as_object()) else { return Ok(None) };
    let ours = lockstep_handlers(root);
    let Some(handler) = ours.first() else { return Ok(None) };
    let change = EntryChange {
        action: EntryAction::Removed,
        event: handler.event().to_owned(),
        matcher: handler.matcher().map(str::to_owned),
    };
    Ok(Some((apply(text, handler.removal_splices(&document)), change)))
}
