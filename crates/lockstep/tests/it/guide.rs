//! Pages of the guide are true: each of their commands is run by a shell, and what it prints is compared with what the page
//! shows.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use lockstep_testkit::TestEnv;

/// A page that is run as a test.
pub(crate) struct Guide<'a> {
    env: &'a TestEnv,
    path: PathBuf,
    fence: &'static str,
    /// Set if the error stream is shown too; otherwise it must be empty.
    complaints: bool,
}

impl<'a> Guide<'a> {
    /// A page of `docs/guide`, in the project of an environment.
    pub(crate) fn new(env: &'a TestEnv, page: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide").join(page);
        symlink(env!("CARGO_BIN_EXE_lockstep"), env.outside_dir().join("lockstep")).unwrap();
        Self { env, path, fence: "```", complaints: false }
    }

    /// The blocks have fences of four backticks, because they contain fences of three.
    pub(crate) fn wide(mut self) -> Self {
        self.fence = "````";
        self
    }

    /// The page shows the error stream.
    pub(crate) fn with_complaints(mut self) -> Self {
        self.complaints = true;
        self
    }

    /// Plays it. With `INSTA_UPDATE=always`, what is printed is written into the page.
    #[track_caller]
    pub(crate) fn is_true(&self, at_least: usize) {
        let page = fs::read_to_string(&self.path).unwrap();
        let (begin, end) = (format!("{}console\n", self.fence), format!("{}\n", self.fence));
        let mut played = String::new();
        let mut commands = 0;
        for (at, block) in page.split(&begin).enumerate() {
            let Some((lines, rest)) = block.split_once(&end).filter(|_| at > 0) else {
                played += block;
                continue;
            };
            played += &begin;
            for command in lines.lines().filter_map(|line| line.strip_prefix("$ ")) {
                played += &format!("$ {command}\n{}", self.said(command));
                commands += 1;
            }
            played += &format!("{end}{rest}");
        }
        assert!(commands >= at_least, "{commands}");
        if std::env::var_os("INSTA_UPDATE").is_some_and(|value| value == "always") {
            fs::write(&self.path, &played).unwrap();
        }
        assert_eq!(played, page, "`INSTA_UPDATE=always cargo test` writes what is printed into the guide");
    }

    /// Returns a command's output. It ends in a newline unless it is empty.
    fn said(&self, command: &str) -> String {
        let script = if self.complaints { format!("exec 2>&1; {command}") } else { command.to_owned() };
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(self.env.project()).env_clear();
        shell.env("PATH", format!("{}:/usr/bin:/bin", self.env.outside_dir().display()));
        shell.env("HOME", self.env.home()).env("LOCKSTEP_NOW", self.env.now());
        for who in ["AUTHOR", "COMMITTER"] {
            shell.env(format!("GIT_{who}_NAME"), "Ada").env(format!("GIT_{who}_EMAIL"), "ada@example.org");
        }
        let output = shell.output().unwrap();
        assert!(output.stderr.is_empty(), "$ {command}\n{}", String::from_utf8_lossy(&output.stderr));
        let text = self.env.redact_paths(&String::from_utf8(output.stdout).unwrap());
        if text.is_empty() || text.ends_with('\n') { text } else { text + "\n" }
    }
}
