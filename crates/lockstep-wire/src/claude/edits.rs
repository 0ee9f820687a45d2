//! Changes that a tool call made in files: replaced texts, and diffs.

use std::collections::HashSet;
use std::path::PathBuf;

use lockstep_model::change::ChangeKind;
use lockstep_model::event::{CommandEdits, EditHunk, EditedFile, Replacement, Undo};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::event::{text, value};

pub(super) struct ReplacementInput<'a> {
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

/// Reads the changes that a file tool made.
pub(super) fn undo(given: ReplacementInput<'_>, response: Option<&RawValue>) -> Undo {
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
    #[serde(borrow, default)]
    background_task_id: Option<&'a RawValue>,
    /// The same field in the output of a monitor.
    #[serde(borrow, default)]
    task_id: Option<&'a RawValue>,
}

fn output<'a>(response: Option<&'a RawValue>) -> Option<CommandOutput<'a>> {
    serde_json::from_str(response?.get()).ok()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Difference<'a> {
    #[serde(borrow, default)]
    files: Option<&'a RawValue>,
    #[serde(borrow, default)]
    changed_files: Option<&'a RawValue>,
    #[serde(borrow, default)]
    more_files: Option<&'a RawValue>,
    #[serde(borrow, default)]
    shared: Option<&'a RawValue>,
    #[serde(borrow, default)]
    unavailable: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Edited {
    file_path: String,
    #[serde(default)]
    hunks: Vec<Hunk>,
    #[serde(default)]
    created: bool,
    #[serde(default)]
    deleted: bool,
}

impl From<Edited> for EditedFile {
    fn from(file: Edited) -> Self {
        let kind = match (file.created, file.deleted) {
            (_, true) => ChangeKind::Deleted,
            (true, false) => ChangeKind::Created,
            (false, false) => ChangeKind::Written,
        };
        Self { path: file.file_path.into(), hunks: hunks(file.hunks), kind }
    }
}

/// Returns the id of the background task of a shell command that continues after its call has ended.
pub(super) fn background_task(response: Option<&RawValue>) -> Option<String> {
    output(response).and_then(|output| text(output.background_task_id).or_else(|| text(output.task_id)))
}

/// Reads which files a shell command edited. Not every client, and no client in every mode, lists them.
pub(super) fn of_command(response: Option<&RawValue>) -> CommandEdits {
    let difference: Option<Difference<'_>> = output(response)
        .and_then(|output| output.bash_edit_diff)
        .and_then(|difference| serde_json::from_str(difference.get()).ok());
    let Some(difference) = difference else { return CommandEdits::default() };
    let listed: Option<Vec<Edited>> = value(difference.files);
    let is_available = difference.unavailable.is_none_or(|flag| matches!(flag.get(), "false" | "null"));
    let mut is_complete = listed.is_some() && is_available && value(difference.more_files) == Some(0_u64);
    let mut files: Vec<EditedFile> = listed.unwrap_or_default().into_iter().map(EditedFile::from).collect();
    let named: Vec<String> = value(difference.changed_files).unwrap_or_default();
    let listed: HashSet<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
    for path in named.into_iter().map(PathBuf::from).filter(|path| !listed.contains(path)) {
        is_complete = false;
        files.push(EditedFile { path, hunks: Vec::new(), kind: ChangeKind::Written });
    }
    CommandEdits { files, is_complete, is_shared: value(difference.shared).unwrap_or(false) }
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
        let edits = of_command(Some(&response));
        assert_eq!(
            edits.files,
            [
                EditedFile { path: "/r/a.py".into(), hunks: vec![hunk], kind: ChangeKind::Written },
                EditedFile { path: "/r/b.py".into(), hunks: Vec::new(), kind: ChangeKind::Written }
            ]
        );
        assert!(!edits.is_complete && !edits.is_shared);
        for none in
            [r#"{"stdout":""}"#, r#"{"bashEditDiff":{"unavailable":true}}"#, r#"{"bashEditDiff":7}"#, "[]"]
        {
            assert_eq!(of_command(Some(&raw(none))), CommandEdits::default(), "{none}");
        }
    }

    #[test]
    fn list_is_complete_only_if_the_client_declares_it() {
        let file = r#"{"filePath":"/r/a","hunks":[{"newStart":1,"lines":["+b"]}],"created":true}"#;
        for (difference, expected) in [
            (format!(r#""files":[{file}],"moreFiles":0,"changedFiles":["/r/a"]"#), true),
            (format!(r#""files":[{file}],"moreFiles":0,"changedFiles":["/r/a"],"unavailable":false"#), true),
            (format!(r#""files":[{file}],"moreFiles":0,"changedFiles":["/r/a","/r/b"]"#), false),
            (format!(r#""files":[{file}],"moreFiles":2,"changedFiles":["/r/a"]"#), false),
            (format!(r#""files":[{file}],"changedFiles":["/r/a"]"#), false),
            (format!(r#""files":[{file}],"moreFiles":0,"unavailable":"too many files""#), false),
            (r#""files":[{"filePath":7}],"moreFiles":0"#.to_owned(), false),
            (r#""moreFiles":0,"changedFiles":[]"#.to_owned(), false),
        ] {
            let edits = of_command(Some(&raw(&format!(r#"{{"bashEditDiff":{{{difference}}}}}"#))));
            assert_eq!(edits.is_complete, expected, "{difference}");
        }
        let shared = format!(r#"{{"bashEditDiff":{{"files":[{file}],"moreFiles":0,"shared":true}}}}"#);
        let edits = of_command(Some(&raw(&shared)));
        assert!(edits.is_shared && edits.files[0].kind == ChangeKind::Created);
        let task = |response| background_task(Some(&raw(response)));
        assert_eq!(task(r#"{"backgroundTaskId":"b1"}"#).as_deref(), Some("b1"));
        assert_eq!(task(r#"{"taskId":"b2","timeoutMs":5000}"#).as_deref(), Some("b2"));
        assert_eq!(task(r#"{"stdout":""}"#), None);
    }

    #[test]
    fn several_replacements_are_read_in_order() {
        let several = raw(
            r#"[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":"d","replace_all":true}]"#,
        );
        let given = ReplacementInput { old: None, new: None, all: None, several: Some(&several) };
        let undo = undo(given, None);
        let read: Vec<_> = undo
            .replacements
            .iter()
            .map(|replacement| (replacement.old.as_str(), replacement.new.as_str(), replacement.all))
            .collect();
        assert_eq!(read, [("a", "b", false), ("c", "d", true)]);
    }
}
