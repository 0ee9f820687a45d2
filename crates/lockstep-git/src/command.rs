//! Runs git.

use std::io::{self, Read, Write as _};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use crate::{GitError, Repository};

/// The time that git gets for an answer. It waits without end for a pipe in the place of an ignore file.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Settings by which a repository's own configuration starts no program.
///
/// Filters are run: without them, git cannot tell whether a file has changed.
pub const SAFE_SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "core.quotePath=false",
    "color.ui=false",
    "log.showSignature=false",
    "protocol.ext.allow=never",
];

/// The setting by which git runs no hooks. It changes the answer to the question where they are.
pub const WITHOUT_HOOKS: &str = "core.hooksPath=/dev/null";

/// Runs git to its end with a text on its standard input, or kills it after a minute.
pub fn output_of_git(mut command: Command, input: &str) -> io::Result<Output> {
    // It fetches nothing and asks for no input.
    command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
    output_within(command, input, TIMEOUT)
}

/// Runs a command to its end, or kills it after `limit`.
fn output_within(mut command: Command, input: &str, limit: Duration) -> io::Result<Output> {
    command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() });
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_owned();
        // git may end before it has read everything; its output has the reason.
        std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    }
    let (done, ends) = channel();
    let read = |pipe: Option<Box<dyn Read + Send>>| {
        let done = done.clone();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = pipe.map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut bytes));
            let _ = done.send(());
            read.map(|_| bytes)
        })
    };
    let stdout = read(child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
    let stderr = read(child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
    let deadline = Instant::now() + limit;
    for _ in [&stdout, &stderr] {
        if ends.recv_timeout(deadline.saturating_duration_since(Instant::now())).is_err() {
            child.kill()?;
            child.wait()?;
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("no answer within {} s", limit.as_secs()),
            ));
        }
    }
    let joined = |thread: std::thread::JoinHandle<io::Result<Vec<u8>>>| {
        thread.join().map_err(|_| io::Error::other("a thread that reads its output ended"))?
    };
    Ok(Output { status: child.wait()?, stdout: joined(stdout)?, stderr: joined(stderr)? })
}

pub(crate) struct GitOutput {
    pub(crate) status: ExitStatus,
    pub(crate) output: Vec<u8>,
    pub(crate) stderr: String,
}

impl GitOutput {
    pub(crate) fn succeeded(&self) -> bool {
        self.status.success()
    }

    pub(crate) fn failure(&self, command: &str) -> GitError {
        GitError::Failed { what: command.to_owned(), message: one_line(&self.stderr) }
    }

    pub(crate) fn trimmed_stdout(&self) -> String {
        String::from_utf8_lossy(&self.output).trim_end().to_owned()
    }
}

impl Repository {
    /// Returns a git command with these arguments, in the repository's directory. It fetches nothing, asks for
    /// no input and takes no locks.
    pub(crate) fn git(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command
            .arg("-C")
            .arg(&self.directory)
            .args(SAFE_SETTINGS.iter().chain([&WITHOUT_HOOKS]).flat_map(|setting| ["-c", setting]))
            .arg("--no-pager")
            .args(arguments)
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C")
            .stdin(Stdio::null());
        // A git hook passes these variables on, but the given directory must be used.
        for inherited in ["GIT_DIR", "GIT_WORK_TREE", "GIT_PREFIX"] {
            command.env_remove(inherited);
        }
        command
    }

    /// Runs git and accepts every exit code.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<GitOutput, GitError> {
        let output = output_of_git(self.git(arguments), "").map_err(GitError::Spawn)?;
        Ok(GitOutput {
            status: output.status,
            output: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        })
    }

    /// Runs git, and returns an error unless it succeeds.
    pub(crate) fn run_checked(&self, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        let answer = self.run(arguments)?;
        if answer.succeeded() {
            return Ok(answer.output);
        }
        // In a repository that git refuses, `git diff` prints its usage, and `rev-parse` the reason.
        let checked = self.run(&["rev-parse", "--git-dir"])?;
        let failed = if checked.succeeded() { answer } else { checked };
        Err(failed.failure(arguments.first().copied().unwrap_or_default()))
    }
}

/// Joins the lines of a message, with at most 500 characters.
fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(500).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_is_one_line_of_limited_length() {
        assert_eq!(one_line("fatal: no\nCall:\n\n\tgit x\n"), "fatal: no Call: git x");
        assert_eq!(one_line(&"word ".repeat(1_000)).len(), 500);
    }

    #[test]
    fn a_command_that_does_not_end_is_killed() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo begun; exec sleep 600"]);
        let error = output_within(command, "", Duration::from_millis(50)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn output_is_complete() {
        let mut command = Command::new("sh");
        command.args(["-c", "head -c 300000 /dev/zero; echo no >&2; exit 3"]);
        let output = output_within(command, "", Duration::from_secs(60)).unwrap();
        assert_eq!(
            (output.status.code(), output.stdout.len(), &*output.stderr),
            (Some(3), 300_000, &b"no\n"[..])
        );
    }
}
