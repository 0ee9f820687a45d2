//! `lockstep cascade supervise`: runs between `cascade run` and one agent, so that no agent outlives the run.
//!
//! Its standard input is a lifeline: while the run holds the other end, the agent works. When it closes, for
//! any reason, the agent and all of its descendants are killed. Orphaned descendants become children of this
//! process, so that none escapes.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use lockstep_fs::FileLock;
use lockstep_fs::process::{adopt_orphans, exit_code, kill, parent};

use crate::terminal::print_error;

/// The exit code if the agent could not be started.
const NOT_STARTED: u8 = 127;

/// The exit code for an agent that was stopped by a signal, because nothing would continue it.
const STOPPED: u8 = 128 + 19;

/// The exit code if the lifeline was closed.
const LIFELINE_CLOSED: u8 = 143;

/// The interval between checks whether the agent has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// The time limit for killing.
const KILL_TIMEOUT: Duration = Duration::from_secs(10);

/// The most of an agent's output that is kept: from its beginning, and from its end.
const MAX_BEGINNING: usize = 4 << 20;
const MAX_END: usize = 4 << 20;

/// Keep an agent from outliving its run
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  lockstep cascade supervise --run 1 --prompt p.md --lock l 'sh agent.sh'")]
pub(crate) struct SuperviseArgs {
    /// The process that must live
    #[arg(long, value_name = "PID")]
    run: i32,
    /// File for the agent's standard input
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
            print_error(&format!("lockstep: cannot start the agent: {error}\n"));
            ExitCode::from(NOT_STARTED)
        }
    }
}

fn supervise(args: &SuperviseArgs) -> io::Result<u8> {
    // Held until this process ends: the next run waits for it.
    let _lock = FileLock::wait_shared(lockstep_fs::open_to_write(&args.lock)?)?;
    if parent() != Some(args.run) {
        return Ok(LIFELINE_CLOSED);
    }
    adopt_orphans()?;
    let cut = watch_lifeline();
    let prompt = lockstep_fs::open(&args.prompt)?;
    let (output, writer) = io::pipe()?;
    let mut command = Command::new("sh");
    command.args(["-c", &args.command]).stdin(prompt).stdout(writer.try_clone()?).stderr(writer);
    let mut agent = command.spawn()?;
    // This process holds the pipe open as long as the command exists.
    drop(command);
    let copied = copy_output(output);
    let code = loop {
        if cut.load(Ordering::SeqCst) {
            break LIFELINE_CLOSED;
        }
        if let Some(status) = agent.try_wait()? {
            break exit_code(status);
        }
        if is_stopped(i32::try_from(agent.id()).unwrap_or_default()) {
            break STOPPED;
        }
        thread::sleep(POLL_INTERVAL);
    };
    // A process that the agent left in the background is no longer watched.
    kill_descendants(own_id());
    // Closed by the end of the last process; one that cannot be killed is not waited for.
    let _ = copied.recv_timeout(KILL_TIMEOUT);
    Ok(code)
}

/// Copies the agent's output to the log: the beginning, and the end of the rest. Sends a message at the end.
fn copy_output(mut from: io::PipeReader) -> mpsc::Receiver<()> {
    let (done, copied) = mpsc::channel();
    thread::spawn(move || {
        let mut log = io::stdout();
        let (mut written, mut left_out, mut end) = (0, 0, VecDeque::new());
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            let first = count.min(MAX_BEGINNING - written);
            written += first;
            // A full disk only loses output; the agent continues.
            let _ = log.write_all(&buffer[..first]);
            end.extend(&buffer[first..count]);
            let over = end.len().saturating_sub(MAX_END);
            left_out += over;
            end.drain(..over);
        }
        if left_out > 0 {
            let _ = log.write_all(format!("\n[lockstep: {left_out} bytes were left out]\n").as_bytes());
        }
        let (one, two) = end.as_slices();
        let _ = log.write_all(one).and_then(|()| log.write_all(two)).and_then(|()| log.flush());
        let _ = done.send(());
    });
    copied
}

fn own_id() -> i32 {
    i32::try_from(std::process::id()).unwrap_or_default()
}

/// Sends a message when the run closes the lifeline.
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

/// Kills all descendants of a process, including those that are started meanwhile.
pub(super) fn kill_descendants(of: i32) {
    let start = Instant::now();
    while start.elapsed() < KILL_TIMEOUT {
        let living = descendants(Path::new("/proc"), of);
        if living.is_empty() {
            return;
        }
        living.into_iter().for_each(kill);
        thread::sleep(POLL_INTERVAL);
    }
}

/// Kills the orphaned children of this process that are not in `known`, and everything below them.
pub(super) fn kill_orphans(known: &[i32]) {
    let own = own_id();
    let start = Instant::now();
    while start.elapsed() < KILL_TIMEOUT {
        let mut kept = vec![own];
        kept.extend(known);
        kept.extend(known.iter().flat_map(|pid| descendants(Path::new("/proc"), *pid)));
        let mut living = descendants(Path::new("/proc"), own);
        living.retain(|pid| !kept.contains(pid));
        if living.is_empty() {
            return;
        }
        living.into_iter().for_each(kill);
        thread::sleep(POLL_INTERVAL);
    }
}

/// Returns true if a process is stopped.
pub(super) fn is_stopped(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')')
        .is_some_and(|(_, fields)| matches!(fields.trim_start().chars().next(), Some('T' | 't')))
}

/// Returns the living descendants of a process, from the parents that the system reports.
fn descendants(proc: &Path, of: i32) -> Vec<i32> {
    let mut parents: Vec<(i32, i32)> = Vec::new();
    for entry in fs::read_dir(proc).into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        parents.extend(parent_of(&stat).map(|parent| (pid, parent)));
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
fn parent_of(stat: &str) -> Option<i32> {
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
        assert_eq!(parent_of("12 (sh) S 7 12 7 0"), Some(7));
        assert_eq!(parent_of("12 (a) Z (b) R 9 1"), Some(9));
        assert_eq!(parent_of("12 (sh) Z 7 12"), None);
        assert_eq!(parent_of("nonsense"), None);
    }

    #[test]
    fn descendants_are_found() {
        let mut child = Command::new("sh").args(["-c", "sleep 30 & wait"]).spawn().unwrap();
        let own = i32::try_from(std::process::id()).unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let start = Instant::now();
        while descendants(Path::new("/proc"), pid).is_empty() && start.elapsed() < Duration::from_secs(10) {
            thread::sleep(POLL_INTERVAL);
        }
        let below = descendants(Path::new("/proc"), pid);
        assert_eq!(below.len(), 1);
        assert!(descendants(Path::new("/proc"), own).contains(&below[0]));
        kill(below[0]);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
