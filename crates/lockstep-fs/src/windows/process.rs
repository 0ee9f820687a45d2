//! Processes and their resources.

use std::io;
use std::net::TcpListener;
use std::os::windows::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use win32job::{ExtendedLimitInfo, Job, JobError};

/// A group of processes that Ctrl-C in the console does not reach.
const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;

/// The interval between two looks at a listener.
const POLL: Duration = Duration::from_millis(5);

/// Returns true if this process may use a single core only.
pub fn is_single_core() -> bool {
    thread::available_parallelism().map_or(true, |cores| cores.get() < 2)
}

/// Returns the time since the first call: the processor time of a thread cannot be read with safe calls. Limits of processor
/// time end earlier on a busy machine.
pub fn thread_time() -> Duration {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed()
}

/// Returns `None`: the memory of a process cannot be read with safe calls.
pub fn resident_bytes() -> Option<u64> {
    None
}

/// Puts a command into a process group of its own, which Ctrl-C in the console does not reach.
pub fn in_own_group(command: &mut Command) -> &mut Command {
    command.creation_flags(CREATE_NEW_PROCESS_GROUP)
}

/// Does nothing: sessions belong to users here.
pub fn start_session() -> io::Result<()> {
    Ok(())
}

/// Does nothing: the caller ends this process after a time.
pub fn limit_resources(_cpu_seconds: u64, _address_bytes: u64) {}

/// Ends this process at once.
pub fn terminate_self() {
    std::process::abort();
}

/// Kills the process of a child. Its descendants are not reached.
pub fn kill_group(child: &mut Child) {
    let _ = child.kill();
}

/// Returns true if a child has exited. Its number is not reused while the child has not been dropped.
pub fn has_exited(child: &mut Child) -> io::Result<bool> {
    Ok(child.try_wait()?.is_some())
}

/// Returns the exit code as a shell of one byte reports it.
pub fn exit_code(status: ExitStatus) -> u8 {
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// Returns true: the parent is not known here. A pipe tells of its end.
pub fn is_child_of(_pid: i32) -> bool {
    true
}

/// Does nothing: a process whose parent has ended has no parent here.
pub fn adopt_orphans() -> io::Result<()> {
    Ok(())
}

/// Lets all descendants that are started from now on end with this process.
pub fn bind_descendants() -> io::Result<()> {
    let bind = || {
        let job = Job::create_with_limit_info(ExtendedLimitInfo::new().limit_kill_on_job_close())?;
        job.assign_current_process()?;
        Ok(job)
    };
    let job: Job = bind().map_err(|error: JobError| io::Error::other(error))?;
    // The system closes the job when this process ends.
    std::mem::forget(job);
    Ok(())
}

/// The end of a connection that another thread waits for; dropping it wakes that thread.
#[derive(Debug)]
pub struct Closer(Arc<AtomicBool>);

/// The waiting end of a [`Closer`].
#[derive(Debug)]
pub struct Closed(Arc<AtomicBool>);

impl Closer {
    /// Returns both ends.
    pub fn pair() -> io::Result<(Self, Closed)> {
        let closed = Arc::new(AtomicBool::new(false));
        Ok((Self(Arc::clone(&closed)), Closed(closed)))
    }
}

impl Drop for Closer {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Closed {
    /// Waits a moment for a connection, which the caller accepts without blocking. Returns false if the closer was dropped.
    pub fn wait_for_connection(&self, _listener: &TcpListener) -> io::Result<bool> {
        thread::sleep(POLL);
        Ok(!self.0.load(Ordering::SeqCst))
    }
}
