//! One agent at work: a supervised process, its time limit, and what it printed.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use lockstep_store::write_atomically;

use crate::error::{CommandError, Kind};

/// How often it is looked whether an agent has ended.
pub(crate) const PAUSE: Duration = Duration::from_millis(10);

/// How long a supervisor may take to kill what it watches.
const KILLING: Duration = Duration::from_secs(15);

/// The end of an output that is read.
const MAX_OUTPUT_BYTES: u64 = 4 << 20;

/// The file that supervisors hold while their agents work, in the state directory.
pub(crate) const AGENTS_LOCK: &str = "cascade-agents.lock";

/// What an agent is started with.
pub(crate) struct Spec {
    /// The shell command.
    pub(crate) command: String,
    /// Where it works.
    pub(crate) directory: PathBuf,
    /// What its files are called.
    pub(crate) name: String,
    /// How long it may take.
    pub(crate) limit: Duration,
    /// What it finds in its environment, besides what this process has.
    pub(crate) environment: Vec<(&'static str, String)>,
}

/// An agent at work.
pub(crate) struct Agent {
    supervisor: Child,
    /// As long as this is open, the agent may work.
    lifeline: Option<ChildStdin>,
    output: PathBuf,
    started: Instant,
    limit: Duration,
}

/// How an agent ended.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) timed_out: bool,
    /// What it printed, standard output and error together; the end of it.
    pub(crate) output: Vec<u8>,
    /// Where all of it is.
    pub(crate) path: PathBuf,
}

impl Agent {
    /// Starts an agent; what it is given and what it prints is kept in `dir`, which is in the state directory.
    pub(crate) fn start(dir: &Path, spec: Spec, prompt: &str) -> Result<Self, CommandError> {
        let failed = |error: io::Error| {
            CommandError::new(Kind::Store, format!("cannot start {:?}: {error}", spec.command))
        };
        let prompt_file = dir.join(format!("{}.prompt.md", spec.name));
        write_atomically(&prompt_file, prompt.as_bytes(), 0o600)?;
        let output = dir.join(format!("{}.out", spec.name));
        let log = File::options()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&output)
            .map_err(failed)?;
        let own = std::env::current_exe().map_err(failed)?;
        let lock = state_of(dir).join(AGENTS_LOCK);
        let mut supervisor = Command::new(own)
            .args(["cascade", "supervise", "--run", &std::process::id().to_string()])
            .arg("--prompt")
            .arg(&prompt_file)
            .arg("--lock")
            .arg(lock)
            .arg("--")
            .arg(&spec.command)
            .envs(spec.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&spec.directory)
            .stdin(Stdio::piped())
            .stdout(log.try_clone().map_err(failed)?)
            .stderr(log)
            // Ctrl-C reaches the run alone; its end reaches the agents.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let lifeline = supervisor.stdin.take();
        Ok(Self { supervisor, lifeline, output, started: Instant::now(), limit: spec.limit })
    }

    /// How the agent ended, if it has.
    pub(crate) fn ended(&mut self) -> Result<Option<Ended>, CommandError> {
        let failed =
            |error: io::Error| CommandError::new(Kind::Store, format!("cannot watch an agent: {error}"));
        if let Some(status) = self.supervisor.try_wait().map_err(failed)? {
            return self.end(status, false).map(Some);
        }
        if self.started.elapsed() < self.limit {
            return Ok(None);
        }
        let status = self.stop().map_err(failed)?;
        self.end(status, true).map(Some)
    }

    /// Waits for its end.
    pub(crate) fn wait(mut self) -> Result<Ended, CommandError> {
        loop {
            if let Some(ended) = self.ended()? {
                return Ok(ended);
            }
            thread::sleep(PAUSE);
        }
    }

    fn end(&self, status: ExitStatus, timed_out: bool) -> Result<Ended, CommandError> {
        let output = tail(&self.output).unwrap_or_default();
        Ok(Ended { code: status.code(), timed_out, output, path: self.output.clone() })
    }

    fn stop(&mut self) -> io::Result<ExitStatus> {
        self.lifeline = None;
        let start = Instant::now();
        while start.elapsed() < KILLING {
            if let Some(status) = self.supervisor.try_wait()? {
                return Ok(status);
            }
            thread::sleep(PAUSE);
        }
        self.supervisor.kill()?;
        self.supervisor.wait()
    }
}

impl Drop for Agent {
    /// An error elsewhere ends a run: its agents end with it.
    fn drop(&mut self) {
        if matches!(self.supervisor.try_wait(), Ok(None)) {
            let _ = self.stop();
        }
    }
}

/// The state directory that a directory of reports is in: `.lockstep/reports/cascade/ID`.
fn state_of(dir: &Path) -> &Path {
    dir.ancestors().nth(3).expect("reports are three levels below the state directory")
}

fn tail(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let size = fs::metadata(path)?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(MAX_OUTPUT_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(MAX_OUTPUT_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}
