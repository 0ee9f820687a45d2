//! What a tool call changed in files: replaced texts, and differences.

use lockstep_model::event::{EditHunk, EditedFile, Replacement, Undo};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::input::{text, value};

/// The replacements as a tool's input gives them.
pub(super) struct Given<'a> {
    pub(super) old: Option<&'a RawValue>,
    pub(super) new: Option<&'a RawValue>,
    pub(super) all: Option<&'a RawValue>,
    /// The list of `MultiEdit`.
    pub(super) several: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct One {
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Hunk {
    new_start: usize,
    lines: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenFile<'a> {
    #[serde(borrow, default)]
    structured_patch: Option<&'a RawValue>,
}

/// Reads what a file tool changed.
pub(super) fn undo(given: Given<'_>, response: Option<&RawValue>) -> Undo {
    let one = text(given.old).zip(text(given.new)).map(|(old, new)| Replacement {
        old,
        new,
        all: value(given.all).unwrap_or(false),
    });
    let several: Vec<One> = value(given.several).unwrap_or_default();
    let several = several.into_iter().map(|edit| Replacement {
        old: edit.old_string,
        new: edit.new_string,
        all: edit.replace_all,
    });
    let written: Option<WrittenFile<'_>> =
        response.and_then(|response| serde_json::from_str(response.get()).ok());
    let patch: Vec<Hunk> = written.and_then(|written| value(written.structured_patch)).unwrap_or_default();
    Undo { hunks: hunks(patch), replacements: one.into_iter().chain(several).collect() }
}

fn hunks(hunks: Vec<Hunk>) -> Vec<EditHunk> {
    hunks.into_iter().map(|hunk| EditHunk { new_start: hunk.new_start, lines: hunk.lines }).collect()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CommandOutput<'a> {
    #[serde(borrow, default)]
    bash_edit_diff: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Difference<'a> {
    #[serde(borrow, default)]
    files: Option<&'a RawValue>,
    #[serde(borrow, default)]
    changed_files: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Edited {
    file_path: String,
    #[serde(default)]
    hunks: Vec<Hunk>,
}

/// Reads which files a shell command edited. Not every client, and no client in every mode, lists them.
pub(super) fn of_command(response: Option<&RawValue>) -> Vec<EditedFile> {
    let output: Option<CommandOutput<'_>> =
        response.and_then(|response| serde_json::from_str(response.get()).ok());
    let difference: Option<Difference<'_>> = output
        .and_then(|output| output.bash_edit_diff)
        .and_then(|difference| serde_json::from_str(difference.get()).ok());
    let Some(difference) = difference else { return Vec::new() };
    let files: Vec<Edited> = value(difference.files).unwrap_or_default();
    let mut edited: Vec<EditedFile> = files
        .into_iter()
        .map(|file| EditedFile { path: file.file_path.into(), hunks: hunks(file.hunks) })
        .collect();
    let named: Vec<String> = value(difference.changed_files).unwrap_or_default();
    for path in named {
        if !edited.iter().any(|file| file.path.as_os_str() == path.as_str()) {
            edited.push(EditedFile { path: path.into(), hunks: Vec::new() });
        }
    }
    edited
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).unwrap()
    }

    #[test]
    fn edits_of_a_shell_command_are_read() {
        let response = raw(
            r#"{"stdout":"","bashEditDiff":{"files":[{"filePath":"/r/a.py","hunks":[{"oldStart":1,"oldLines":1,
                "newStart":3,"newLines":1,"lines":["-a","+b"]}]}],"moreFiles":1,"changedFiles":["/r/a.py","/r/b.py"]}}"#,
        );
        let hunk = EditHunk { new_start: 3, lines: vec!["-a".to_owned(), "+b".to_owned()] };
        assert_eq!(
            of_command(Some(&response)),
            [
                EditedFile { path: "/r/a.py".into(), hunks: vec![hunk] },
                EditedFile { path: "/r/b.py".into(), hunks: Vec::new() }
            ]
        );
        for none in
            [r#"{"stdout":""}"#, r#"{"bashEditDiff":{"unavailable":true}}"#, r#"{"bashEditDiff":7}"#, "[]"]
        {
            assert_eq!(of_command(Some(&raw(none))), [], "{none}");
        }
    }

    #[test]
    fn several_replacements_are_read_in_order() {
        let several = raw(
            r#"[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":"d","replace_all":true}]"#,
        );
        let given = Given { old: None, new: None, all: None, several: Some(&several) };
        let undo = undo(given, None);
        let read: Vec<_> =
            undo.replacements.iter().map(|it| (it.old.as_str(), it.new.as_str(), it.all)).collect();
        assert_eq!(read, [("a", "b", false), ("c", "d", true)]);
    }
}
