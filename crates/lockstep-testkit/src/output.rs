//! The output of a process: standard output, standard error and exit code.

use std::path::PathBuf;
use std::process::Command;

use crate::{DirSnapshot, TestEnv};

/// The output of a process. A test that ignores it proves nothing.
#[must_use = "assert on the output: `silent`, `succeeded`, `failed` or `snapshot`"]
#[derive(Debug)]
pub struct ProcessOutput {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// The exit code; `None` for a process that a signal ended.
    pub code: Option<i32>,
    /// Paths replaced by names, for [`Self::snapshot`].
    filters: Vec<(String, &'static str)>,
    root: PathBuf,
    command: String,
}

impl ProcessOutput {
    pub(crate) fn new(env: &TestEnv, command: &Command, output: std::process::Output) -> Self {
        Self {
            stdout: output.stdout,
            stderr: output.stderr,
            code: output.status.code(),
            filters: env.filters(),
            root: env.root().to_owned(),
            command: format!(
                "{:?} {:?} in {:?}",
                command.get_program(),
                command.get_args().collect::<Vec<_>>(),
                command.get_current_dir().unwrap_or(env.root())
            ),
        }
    }

    /// Standard output, standard error and exit code as one text without this run's paths.
    pub fn snapshot(&self) -> String {
        let text = format!(
            "{}{}exit {}\n",
            part("", &self.stdout),
            part("stderr: ", &self.stderr),
            self.code.map_or("by a signal".to_owned(), |code| code.to_string()),
        );
        self.filters.iter().fold(text, |text, (path, name)| text.replace(path, name))
    }

    /// Exit code 0 and not a byte of output.
    #[track_caller]
    pub fn assert_silent(&self) {
        self.assert_that(
            "exit 0 and no output",
            self.code == Some(0) && self.stdout.is_empty() && self.stderr.is_empty(),
        );
    }

    /// Asserts exit code 0 and an empty standard error. Returns standard output.
    #[track_caller]
    pub fn assert_success(&self) -> String {
        self.assert_that("exit 0 and no complaint", self.code == Some(0) && self.stderr.is_empty());
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Asserts this exit code, and a standard output that is empty or holds the error as data; returns standard
    /// error.
    #[track_caller]
    pub fn assert_failure(&self, code: i32) -> String {
        let has_no_answer = self.stdout.is_empty() || self.error_code() == Some(i64::from(code));
        self.assert_that(&format!("exit {code} and no answer"), self.code == Some(code) && has_no_answer);
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// The exit code in an error that `--format json` prints.
    fn error_code(&self) -> Option<i64> {
        let printed: serde_json::Value = serde_json::from_slice(&self.stdout).ok()?;
        printed.pointer("/error/exit_code")?.as_i64()
    }

    /// The context a hook's reply carries, with the name of the event it is for; `None` for silence.
    #[track_caller]
    pub fn context(&self) -> Option<(String, String)> {
        let stdout = self.assert_success();
        if stdout.is_empty() {
            return None;
        }
        let reply: serde_json::Value = serde_json::from_str(&stdout).expect("a hook's reply is JSON");
        let of = |key: &str| reply["hookSpecificOutput"][key].as_str().expect("text").to_owned();
        Some((of("hookEventName"), of("additionalContext")))
    }

    #[track_caller]
    fn assert_that(&self, what: &str, holds: bool) {
        assert!(
            holds,
            "expected {what} of {}\n{}in the environment {}:\n{}",
            self.command,
            self.snapshot(),
            self.root.display(),
            DirSnapshot::of(&self.root)
        );
    }
}

/// One stream; a missing newline at its end is shown.
fn part(name: &str, bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    match text.strip_suffix('\n') {
        None if text.is_empty() => String::new(),
        None => format!("{name}{text}\n(no newline)\n"),
        Some(text) => format!("{name}{text}\n"),
    }
}
