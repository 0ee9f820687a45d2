//! `lockstep cascade supervise`: runs between `cascade run` and one agent, so that no agent outlives the run.
//!
//! Its standard input is a lifeline: while the run holds the other end, the agent works. When it closes, for
//! any reason, the agent and all of its descendants are killed. Orphaned descendants become children of this
//! process, so that none escapes.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use lockstep_fs::FileLock;
use lockstep_fs::process::{bind_descendants, exit_code, is_child_of};
use lockstep_fs::process_tree::{is_stopped, kill_descendants};

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
    if !is_child_of(args.run) {
        return Ok(LIFELINE_CLOSED);
    }
    bind_descendants()?;
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
    let is_cut_elsewhere = Arc::clone(&cut);
    thread::spawn(move || {
        let mut byte = [0];
        while matches!(io::stdin().read(&mut byte), Ok(n) if n > 0) {}
        is_cut_elsewhere.store(true, Ordering::SeqCst);
    });
    cut
}
