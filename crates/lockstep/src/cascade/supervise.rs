//! `lockstep cascade supervise`: stands between `cascade run` and one agent, so that no agent outlives the run.
//!
//! Its standard input is a lifeline: as long as the run holds the other end, the agent works; when it closes, however the run
//! ended, the agent and everything it started are killed. Processes that leave their parents become this one's children, so that
//! none escapes.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;
use rustix::process::{Pid, Signal, getpid, getppid, kill_process};

use crate::terminal::complain;

/// Which the agent's exit code is when it could not be started.
const NOT_STARTED: u8 = 127;

/// Which it is when the lifeline was cut.
const CUT: u8 = 143;

/// How often it is looked whether the agent has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// How long killing may take.
const KILLING: Duration = Duration::from_secs(10);

/// Keep an agent from outliving its run
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  lockstep cascade supervise --run 1 --prompt p.md --lock l 'sh agent.sh'")]
pub(crate) struct SuperviseArgs {
    /// The process that must live
    #[arg(long, value_name = "PID")]
    run: i32,
    /// What the agent gets on its standard input
    #[arg(long, value_name = "FILE")]
    prompt: PathBuf,
    /// The lock that is held while the agent works
    #[arg(long, value_name = "FILE")]
    lock: PathBuf,
    /// The shell command to run
    #[arg(value_name = "CMD")]
    command: String,
}

/// Runs the agent; the exit code is the agent's.
pub(crate) fn main(args: &SuperviseArgs) -> ExitCode {
    match supervise(args) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            complain(&format!("lockstep: cannot start the agent: {error}\n"));
            ExitCode::from(NOT_STARTED)
        }
    }
}

fn supervise(args: &SuperviseArgs) -> io::Result<u8> {
    // Held until this process ends: the next run waits for it.
    let lock = File::options().append(true).create(true).open(&args.lock)?;
    rustix::fs::flock(&lock, FlockOperation::LockShared)?;
    if getppid().map(Pid::as_raw_pid) != Some(args.run) {
        return Ok(CUT);
    }
    adopt_orphans()?;
    let cut = watch_lifeline();
    let prompt = File::open(&args.prompt)?;
    let mut agent = Command::new("sh").args(["-c", &args.command]).stdin(prompt).spawn()?;
    loop {
        if cut.load(Ordering::SeqCst) {
            kill_descendants();
            return Ok(CUT);
        }
        if let Some(status) = agent.try_wait()? {
            // What it left in the background has nobody to watch it.
            kill_descendants();
            return Ok(code(status));
        }
        thread::sleep(PAUSE);
    }
}

fn code(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt as _;
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    u8::try_from(code).unwrap_or(u8::MAX)
}

#[cfg(target_os = "linux")]
fn adopt_orphans() -> io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(getpid()))?)
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() -> io::Result<()> {
    Ok(())
}

/// Tells when the run has let go.
fn watch_lifeline() -> Arc<AtomicBool> {
    let cut = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&cut);
    thread::spawn(move || {
        let mut byte = [0];
        while matches!(io::stdin().read(&mut byte), Ok(n) if n > 0) {}
        told.store(true, Ordering::SeqCst);
    });
    cut
}

/// Kills everything that was started below this process, and what that starts meanwhile.
fn kill_descendants() {
    let start = Instant::now();
    while start.elapsed() < KILLING {
        let living = descendants(Path::new("/proc"), getpid().as_raw_pid());
        if living.is_empty() {
            return;
        }
        for pid in living.into_iter().filter_map(Pid::from_raw) {
            // One that is gone already needs no killing.
            let _ = kill_process(pid, Signal::KILL);
        }
        thread::sleep(PAUSE);
    }
}

/// The living processes below one, by what the system tells of parents.
fn descendants(proc: &Path, of: i32) -> Vec<i32> {
    let mut parents: Vec<(i32, i32)> = Vec::new();
    for entry in fs::read_dir(proc).into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        parents.extend(parent(&stat).map(|parent| (pid, parent)));
    }
    let mut found = vec![of];
    let mut at = 0;
    while at < found.len() {
        let parent = found[at];
        found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        at += 1;
    }
    found.split_off(1)
}

/// The parent in `/proc/PID/stat`; `None` for one that is dead and only waits to be noticed.
fn parent(stat: &str) -> Option<i32> {
    // The name in parentheses may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    (state != "Z" && state != "X").then_some(parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_are_read_whatever_a_process_is_called() {
        assert_eq!(parent("12 (sh) S 7 12 7 0"), Some(7));
        assert_eq!(parent("12 (a) Z (b) R 9 1"), Some(9));
        assert_eq!(parent("12 (sh) Z 7 12"), None);
        assert_eq!(parent("nonsense"), None);
    }

    #[test]
    fn descendants_are_found() {
        let mut child = Command::new("sh").args(["-c", "sleep 30 & wait"]).spawn().unwrap();
        let own = i32::try_from(std::process::id()).unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let start = Instant::now();
        while descendants(Path::new("/proc"), pid).is_empty() && start.elapsed() < Duration::from_secs(10) {
            thread::sleep(PAUSE);
        }
        let below = descendants(Path::new("/proc"), pid);
        assert_eq!(below.len(), 1);
        assert!(descendants(Path::new("/proc"), own).contains(&below[0]));
        let _ = kill_process(Pid::from_raw(below[0]).unwrap(), Signal::KILL);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
