//! Processes and their resources.

use std::io;
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, getpid, getrlimit, kill_process,
    kill_process_group, setrlimit, waitid,
};
use rustix::time::{ClockId, clock_gettime};

/// Returns true if this process may use a single core only. Uses the system's core count: reading the limits of a container costs
/// more than a second thread could save.
#[cfg(target_os = "linux")]
pub fn is_single_core() -> bool {
    rustix::thread::sched_getaffinity(None).map_or(true, |cores| cores.count() < 2)
}

#[cfg(not(target_os = "linux"))]
pub fn is_single_core() -> bool {
    std::thread::available_parallelism().map_or(true, |cores| cores.get() < 2)
}

/// Returns the processor time that the calling thread has used.
pub fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let part = |number: i64| u64::try_from(number).unwrap_or_default();
    Duration::from_secs(part(time.tv_sec)) + Duration::from_nanos(part(time.tv_nsec))
}

/// Returns the bytes of memory that this process uses, if the system tells.
pub fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Puts a command into a process group of its own, which Ctrl-C in the terminal does not reach.
pub fn in_own_group(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Makes this process the leader of a new session. Fails if it leads one already.
pub fn start_session() -> io::Result<()> {
    rustix::process::setsid()?;
    Ok(())
}

/// Limits the processor seconds and the bytes of address space of this process. A limit that cannot be set is ignored.
pub fn limit_resources(cpu_seconds: u64, address_bytes: u64) {
    for (resource, most) in [(Resource::Cpu, cpu_seconds), (Resource::As, address_bytes)] {
        let limit = |present: Option<u64>| Some(present.map_or(most, |present| present.min(most)));
        let Rlimit { current, maximum } = getrlimit(resource);
        let _ = setrlimit(resource, Rlimit { current: limit(current), maximum: limit(maximum) });
    }
}

/// Asks this process to end, as `kill` does by default.
pub fn terminate_self() {
    let _ = kill_process(getpid(), Signal::TERM);
}

/// Kills a process. A process that has already ended need not be killed.
pub fn kill(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Kills the processes in the group of a child. An error means that none is left.
pub fn kill_group(child: &mut Child) {
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
}

/// Kills a process for which `is_target` holds. The process is held first, so that a number reused meanwhile is never hit.
#[cfg(target_os = "linux")]
pub fn kill_if(pid: i32, is_target: impl FnOnce() -> bool) {
    use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
    let Some(Ok(handle)) = Pid::from_raw(pid).map(|pid| pidfd_open(pid, PidfdFlags::empty())) else { return };
    if is_target() {
        let _ = pidfd_send_signal(handle, Signal::KILL);
    }
}

/// Returns true if a child has exited, without reaping it: while it is a zombie, its number is not reused.
pub fn has_exited(child: &mut Child) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_some())
}

/// Returns the exit code as a shell reports it: 128 and the signal for a killed process.
pub fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    u8::try_from(code).unwrap_or(u8::MAX)
}

/// Returns true if `pid` is the parent of this process.
pub fn is_child_of(pid: i32) -> bool {
    rustix::process::getppid().map(Pid::as_raw_pid) == Some(pid)
}

/// Makes orphaned descendants children of this process.
pub fn adopt_orphans() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(getpid()))?;
    Ok(())
}

/// Lets the end of this process find its descendants: on Unix as in [`adopt_orphans`], on Windows by a job that ends with it.
pub fn bind_descendants() -> io::Result<()> {
    adopt_orphans()
}

/// Moves only the calling thread into a network namespace.
#[cfg(target_os = "linux")]
pub fn enter_network(namespace: &std::fs::File) -> io::Result<()> {
    use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
    use std::os::fd::AsFd as _;
    Ok(move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?)
}

/// The end of a connection that another thread waits for; dropping it wakes that thread.
#[derive(Debug)]
pub struct Closer {
    _end: UnixStream,
}

/// The waiting end of a [`Closer`].
#[derive(Debug)]
pub struct Closed(UnixStream);

impl Closer {
    /// Returns both ends.
    pub fn pair() -> io::Result<(Self, Closed)> {
        let (closer, closed) = UnixStream::pair()?;
        Ok((Self { _end: closer }, Closed(closed)))
    }
}

impl Closed {
    /// Waits until a connection can be accepted. Returns false if the closer was dropped first.
    pub fn wait_for_connection(&self, listener: &TcpListener) -> io::Result<bool> {
        loop {
            let mut ready = [PollFd::new(listener, PollFlags::IN), PollFd::new(&self.0, PollFlags::IN)];
            match poll(&mut ready, None) {
                Ok(_) => return Ok(ready[1].revents().is_empty()),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}
