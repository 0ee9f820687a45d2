//! Takes our entries out.

use super::settings::ours;
use super::{Action, Change, Edit, SettingsError, split_mark};
use crate::document::Document;
use crate::splice::apply;

/// Takes all our entries out of `existing`, and the containers that hold nothing else. Everything else stays as it is.
pub fn uninstall(existing: &str) -> Result<Edit, SettingsError> {
    let (mark, body) = split_mark(existing);
    let mut edit = Edit { text: body.to_owned(), changes: Vec::new() };
    // One at a time: each leaves a whole text, whatever commas and containers its neighbours share.
    while let Some((text, change)) = take_one(&edit.text)? {
        edit.text = text;
        edit.changes.push(change);
    }
    edit.text.insert_str(0, mark);
    Ok(edit)
}

fn take_one(text: &str) -> Result<Option<(String, Change)>, SettingsError> {
    let document = Document::parse(text)?;
    let Some(root) = document.value.as_ref().and_then(|value| value.as_object()) else { return Ok(None) };
    let ours = ours(root);
    let Some(handler) = ours.first() else { return Ok(None) };
    let change = Change {
        action: Action::Removed,
        event: handler.event().to_owned(),
        matcher: handler.matcher().map(str::to_owned),
    };
    Ok(Some((apply(text, handler.take_out(&document)), change)))
}
