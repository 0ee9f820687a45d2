//! A running agent: a supervised process, its time limit, and its output.

use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use lockstep_fs::process::{adopt_orphans, in_own_group};
use lockstep_fs::process_tree::{is_stopped, kill_descendants, kill_orphans};
use lockstep_fs::write_atomically;

use crate::error::{CommandError, CommandResult};

/// The interval between checks whether an agent has ended.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The maximum time for a supervisor to kill its processes.
const KILL_TIMEOUT: Duration = Duration::from_secs(15);

/// The end of an output that is read.
const MAX_OUTPUT_BYTES: u64 = 4 << 20;

/// The file that supervisors hold while their agents work, in the state directory.
pub(crate) const AGENTS_LOCK: &str = "cascade-agents.lock";

/// The parameters of an agent process.
pub(crate) struct AgentSpec {
    pub(crate) command: String,
    pub(crate) directory: PathBuf,
    /// The base name of its files.
    pub(crate) name: String,
    pub(crate) limit: Duration,
    /// Environment variables, besides those of this process.
    pub(crate) environment: Vec<(&'static str, String)>,
}

pub(crate) struct AgentProcess {
    supervisor: Child,
    /// The agent may work as long as this is open.
    lifeline: Option<ChildStdin>,
    output: PathBuf,
    started: Instant,
    limit: Duration,
}

pub(crate) struct AgentExit {
    pub(crate) code: Option<i32>,
    pub(crate) timed_out: bool,
    /// The end of its standard output and error.
    pub(crate) output: Vec<u8>,
    /// The file with the complete output.
    pub(crate) path: PathBuf,
}

impl AgentProcess {
    /// Starts an agent. Its prompt and its output are stored in `dir`, which is in the state directory.
    pub(crate) fn start(dir: &Path, spec: AgentSpec, prompt: &str) -> CommandResult<Self> {
        let failed =
            |error: io::Error| CommandError::store(format!("cannot start {:?}: {error}", spec.command));
        let prompt_file = dir.join(format!("{}.prompt.md", spec.name));
        write_atomically(&prompt_file, prompt.as_bytes(), 0o600)?;
        let output = dir.join(format!("{}.out", spec.name));
        let log =
            lockstep_fs::no_follow().write(true).create(true).truncate(true).open(&output).map_err(failed)?;
        // An agent that kills its supervisor leaves its processes to this one.
        adopt_orphans().map_err(failed)?;
        let own = std::env::current_exe().map_err(failed)?;
        let lock = state_of(dir).join(AGENTS_LOCK);
        let mut supervisor = Command::new(own);
        supervisor
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
            .stderr(log);
        // Ctrl-C reaches only the run, whose end reaches the agents.
        let mut supervisor = in_own_group(&mut supervisor).spawn().map_err(failed)?;
        let lifeline = supervisor.stdin.take();
        living().push(pid_of(&supervisor));
        Ok(Self { supervisor, lifeline, output, started: Instant::now(), limit: spec.limit })
    }

    /// Returns the result if the agent has ended.
    pub(crate) fn try_wait(&mut self) -> CommandResult<Option<AgentExit>> {
        let failed = |error: io::Error| CommandError::store(format!("cannot watch an agent: {error}"));
        if let Some(status) = self.supervisor.try_wait().map_err(failed)? {
            self.forget(&status);
            return self.end(status, false).map(Some);
        }
        if is_stopped(pid_of(&self.supervisor)) {
            // The agent stopped the process that watches it.
            let status = self.kill().map_err(failed)?;
            return self.end(status, false).map(Some);
        }
        if self.started.elapsed() < self.limit {
            return Ok(None);
        }
        let status = self.stop().map_err(failed)?;
        self.end(status, true).map(Some)
    }

    pub(crate) fn wait(mut self) -> CommandResult<AgentExit> {
        loop {
            if let Some(ended) = self.try_wait()? {
                return Ok(ended);
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    fn end(&self, status: ExitStatus, timed_out: bool) -> CommandResult<AgentExit> {
        let output = tail(&self.output).unwrap_or_default();
        Ok(AgentExit { code: status.code(), timed_out, output, path: self.output.clone() })
    }

    fn stop(&mut self) -> io::Result<ExitStatus> {
        self.lifeline = None;
        let start = Instant::now();
        while start.elapsed() < KILL_TIMEOUT {
            if let Some(status) = self.supervisor.try_wait()? {
                self.forget(&status);
                return Ok(status);
            }
            if is_stopped(pid_of(&self.supervisor)) {
                break;
            }
            thread::sleep(POLL_INTERVAL);
        }
        self.kill()
    }

    /// Kills the supervisor and everything below it.
    fn kill(&mut self) -> io::Result<ExitStatus> {
        kill_descendants(pid_of(&self.supervisor));
        self.supervisor.kill()?;
        let status = self.supervisor.wait()?;
        self.forget(&status);
        Ok(status)
    }

    /// The supervisor has ended. One that was killed has left its agent's processes.
    fn forget(&self, status: &ExitStatus) {
        let pid = pid_of(&self.supervisor);
        let others: Vec<i32> = {
            let mut living = living();
            living.retain(|other| *other != pid);
            living.clone()
        };
        if status.code().is_none() {
            kill_orphans(&others);
        }
    }
}

/// The supervisors that work for this process.
fn living() -> MutexGuard<'static, Vec<i32>> {
    static LIVING: Mutex<Vec<i32>> = Mutex::new(Vec::new());
    LIVING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn pid_of(child: &Child) -> i32 {
    i32::try_from(child.id()).unwrap_or_default()
}

impl Drop for AgentProcess {
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
    let mut file = lockstep_fs::open(path)?;
    let size = fs::metadata(path)?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(MAX_OUTPUT_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(MAX_OUTPUT_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}
