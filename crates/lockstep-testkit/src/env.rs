//! The environment: private directories, cleared variables, a clock that only moves when it is advanced.

use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::{SignedDuration, Zoned};

use crate::{DirSnapshot, HookEvent, ProcessOutput};

/// The initial time. Its zone is a plain offset, so no time zone data is read.
const START: &str = "2026-02-14T15:30:42+09:00[+09:00]";

/// An ordinary user and group that every system has.
const NOBODY: u32 = 65534;

/// The environment of one test: `project`, `home`, `tmp` and `outside_dir` below one temporary directory that
/// is removed with it.
#[derive(Debug)]
pub struct TestEnv {
    root: PathBuf,
    /// The name of the project's directory.
    name: String,
    binary: PathBuf,
    /// Seconds since [`START`].
    clock: AtomicI64,
    user: Option<u32>,
    _dirs: Vec<tempfile::TempDir>,
}

impl TestEnv {
    /// Creates an environment whose project has no `lockstep.toml`. `binary` is
    /// `env!("CARGO_BIN_EXE_lockstep")`.
    pub fn inactive(binary: impl Into<PathBuf>) -> Self {
        Self::named(binary, "project")
    }

    /// An environment whose project directory has this name, without `lockstep.toml`.
    pub fn named(binary: impl Into<PathBuf>, name: &str) -> Self {
        let dir = tempfile::Builder::new().prefix("lockstep-test-").tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for name in [name, "home", "tmp", "elsewhere"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        Self {
            root,
            name: name.to_owned(),
            binary: binary.into(),
            clock: AtomicI64::new(0),
            user: None,
            _dirs: vec![dir],
        }
    }

    /// Creates an environment whose project is active, with all defaults.
    pub fn active(binary: impl Into<PathBuf>) -> Self {
        let env = Self::inactive(binary);
        env.configure("");
        env
    }

    /// Gives all files to an ordinary user and runs the binary as that user from now on: root ignores modes,
    /// so a test about modes would prove nothing. Has no effect if the tests run as an ordinary user.
    pub fn as_unprivileged_user(mut self) -> Self {
        if rustix::process::geteuid().is_root() {
            self.user = Some(NOBODY);
            self.give_to_user(&self.root);
            // The binary may lie where only root can reach it.
            let dir = tempfile::Builder::new().prefix("lockstep-test-binary-").tempdir().unwrap();
            let own = dir.path().join("lockstep");
            // By another process: a descriptor of ours that is open for writing could be inherited by a process that another test
            // starts at this moment, and the copy could not be started while that one has it.
            let copied = Command::new("cp").arg(&self.binary).arg(&own).status().unwrap();
            assert!(copied.success(), "cannot copy {}", self.binary.display());
            self.give_to_user(dir.path());
            self.binary = own;
            self._dirs.push(dir);
        }
        self
    }

    fn give_to_user(&self, path: &Path) {
        if let Some(user) = self.user {
            chown(path, Some(user), Some(user)).unwrap();
            if fs::symlink_metadata(path).unwrap().is_dir() {
                fs::read_dir(path).unwrap().for_each(|entry| self.give_to_user(&entry.unwrap().path()));
            }
        }
    }

    /// The directory that holds everything else.
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn project(&self) -> PathBuf {
        self.root.join(&self.name)
    }

    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// Returns `$TMPDIR`, the default directory of journals.
    pub fn tmp(&self) -> PathBuf {
        self.root.join("tmp")
    }

    pub fn outside_dir(&self) -> PathBuf {
        self.root.join("elsewhere")
    }

    /// The project's state directory.
    pub fn state(&self) -> PathBuf {
        self.project().join(".lockstep")
    }

    pub fn journal(&self, session: &str) -> PathBuf {
        self.tmp().join(format!("src-changes-{session}.log"))
    }

    /// Returns a session's journal as text; empty if there is none.
    pub fn journal_text(&self, session: &str) -> String {
        self.text(&self.journal(session))
    }

    pub fn log_lines(&self) -> Vec<String> {
        self.text(&self.state().join("log/hooks.log")).lines().map(str::to_owned).collect()
    }

    fn text(&self, path: &Path) -> String {
        match fs::read(path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                String::new()
            }
            Err(error) => panic!("cannot read {}: {error}\n{}", path.display(), DirSnapshot::of(&self.root)),
        }
    }

    /// Writes `lockstep.toml`.
    pub fn configure(&self, text: &str) {
        self.write("lockstep.toml", text);
    }

    /// Writes a file below the project, with its directories. Returns its absolute path.
    pub fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        self.give_to_user(&path);
        path
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: SignedDuration) {
        self.clock.fetch_add(by.as_secs(), Ordering::SeqCst);
    }

    /// Returns the time of the clock, in the format of `LOCKSTEP_NOW`.
    pub fn now(&self) -> String {
        let start: Zoned = START.parse().unwrap();
        start.checked_add(SignedDuration::from_secs(self.clock.load(Ordering::SeqCst))).unwrap().to_string()
    }

    /// Returns a command that runs the binary with `args`, in the project, with only this environment's
    /// variables.
    pub fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.program(&self.binary, args);
        command.env("LOCKSTEP_NOW", self.now());
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }

    fn program<S: AsRef<OsStr>>(
        &self,
        program: impl AsRef<OsStr>,
        args: impl IntoIterator<Item = S>,
    ) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.project())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.home())
            .env("TMPDIR", self.tmp())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// `lockstep hook` as the client starts it.
    pub fn hook_command(&self) -> Command {
        let mut command = self.command(["hook", "claude"]);
        command.env("CLAUDE_PROJECT_DIR", self.project()).stdin(Stdio::piped());
        command
    }

    /// Runs `lockstep ARGS` in the project.
    pub fn lockstep<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> ProcessOutput {
        self.run(self.command(args), b"")
    }

    /// Sends an event to the hook as the client does.
    pub fn hook(&self, event: &HookEvent) -> ProcessOutput {
        self.hook_bytes(event.json(&self.project()).as_bytes())
    }

    /// Sends these bytes to the hook.
    pub fn hook_bytes(&self, stdin: &[u8]) -> ProcessOutput {
        self.run(self.hook_command(), stdin)
    }

    /// Starts the hook, sends it the event, and does not wait for it.
    pub fn start_hook(&self, event: &HookEvent) -> Child {
        let mut child = self.hook_command().spawn().unwrap();
        // A process that has exited or was killed does not read it.
        let _ = child.stdin.take().unwrap().write_all(event.json(&self.project()).as_bytes());
        child
    }

    /// Sends events to as many hooks at the same time: all of them are started before the first one gets its
    /// event.
    pub fn run_hooks_concurrently(&self, events: &[HookEvent]) -> Vec<ProcessOutput> {
        let command = self.hook_command();
        let mut hooks: Vec<Child> = events.iter().map(|_| self.hook_command().spawn().unwrap()).collect();
        for (hook, event) in hooks.iter_mut().zip(events) {
            hook.stdin.take().unwrap().write_all(event.json(&self.project()).as_bytes()).unwrap();
        }
        hooks
            .into_iter()
            .map(|hook| ProcessOutput::new(self, &command, hook.wait_with_output().unwrap()))
            .collect()
    }

    /// Runs a command made by [`Self::command`] or [`Self::hook_command`].
    pub fn run(&self, mut command: Command, stdin: &[u8]) -> ProcessOutput {
        let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        if let Some(mut pipe) = child.stdin.take() {
            match pipe.write_all(stdin) {
                Err(error) if error.kind() != ErrorKind::BrokenPipe => panic!("{command:?}: {error}"),
                _ => {}
            }
        }
        ProcessOutput::new(self, &command, child.wait_with_output().unwrap())
    }

    /// Runs a shell command in the project, as an agent's `Bash` tool would.
    pub fn shell(&self, script: &str) {
        self.run(self.program("sh", ["-c", script]), b"").assert_success();
    }

    /// Runs git in the project, with a fixed author and date and no configuration but the repository's.
    pub fn git<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) {
        self.git_output(args).assert_success();
    }

    /// Runs git in the same way, and accepts any result. Hooks of the repository see this environment's
    /// clock.
    pub fn git_output<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> ProcessOutput {
        self.run_as_author(self.program("git", args))
    }

    /// Runs a shell script whose calls of git have a fixed author and date, and accepts any result.
    pub fn git_script(&self, script: &str) -> ProcessOutput {
        self.run_as_author(self.program("sh", ["-c", script]))
    }

    fn run_as_author(&self, mut command: Command) -> ProcessOutput {
        for (name, value) in [
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "Test"),
            ("GIT_AUTHOR_EMAIL", "test@example.org"),
            ("GIT_AUTHOR_DATE", "2026-02-14T00:00:00Z"),
            ("GIT_COMMITTER_NAME", "Test"),
            ("GIT_COMMITTER_EMAIL", "test@example.org"),
            ("GIT_COMMITTER_DATE", "2026-02-14T00:00:00Z"),
            ("LOCKSTEP_NOW", &self.now()),
        ] {
            command.env(name, value);
        }
        self.run(command, b"")
    }

    /// Replaces this environment's paths by names, so that the text is the same in every run.
    pub fn redact_paths(&self, text: &str) -> String {
        self.filters().iter().fold(text.to_owned(), |text, (path, name)| text.replace(path, name))
    }

    /// Returns the replacements of [`Self::redact_paths`], longest first.
    pub fn filters(&self) -> Vec<(String, &'static str)> {
        let path = |path: &Path| path.to_str().unwrap().to_owned();
        vec![
            (path(&self.outside_dir()), "$ELSEWHERE"),
            (path(&self.project()), "$ROOT"),
            (path(&self.home()), "$HOME"),
            (path(&self.tmp()), "$TMP"),
            (path(&self.root), "$ENV"),
        ]
    }

    /// Everything on disk that a hook in this environment could reach.
    pub fn dir_snapshot(&self) -> DirSnapshot {
        DirSnapshot::of(&self.root)
    }
}
