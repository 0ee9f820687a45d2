//! Running git.

use std::process::{Command, ExitStatus, Stdio};

use crate::{GitError, Repository};

/// What git answered.
pub(crate) struct Answer {
    pub(crate) status: ExitStatus,
    pub(crate) output: Vec<u8>,
    pub(crate) complaint: String,
}

impl Answer {
    pub(crate) fn succeeded(&self) -> bool {
        self.status.success()
    }

    /// The answer as one line.
    pub(crate) fn line(&self) -> String {
        String::from_utf8_lossy(&self.output).trim_end().to_owned()
    }
}

impl Repository {
    /// Git with these arguments, in the repository's directory. Nothing is fetched, asked of a person or locked.
    pub(crate) fn git(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command
            .arg("-C")
            .arg(&self.directory)
            .args(["-c", "core.quotePath=false", "-c", "color.ui=false", "--no-pager"])
            .args(arguments)
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C")
            .stdin(Stdio::null());
        // A hook of git's own hands its place on: the directory asked about counts.
        for inherited in ["GIT_DIR", "GIT_WORK_TREE", "GIT_PREFIX"] {
            command.env_remove(inherited);
        }
        command
    }

    /// Asks, whatever the answer.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Result<Answer, GitError> {
        let output = self.git(arguments).output().map_err(GitError::Run)?;
        Ok(Answer {
            status: output.status,
            output: output.stdout,
            complaint: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        })
    }

    /// Asks what must be answered.
    pub(crate) fn tell(&self, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        let answer = self.ask(arguments)?;
        if answer.succeeded() {
            return Ok(answer.output);
        }
        let what = arguments.first().copied().unwrap_or_default().to_owned();
        Err(GitError::Refused { what, message: answer.complaint })
    }
}
