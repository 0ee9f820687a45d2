//! A process with all of its descendants: waits for it up to a limit, then kills all of them.
//!
//! The client starts its shell commands in their own sessions, so killing its process group would leave some
//! behind. Every descendant inherits the environment, so on Linux all processes with the group's mark in it
//! are killed too. A descendant that clears its environment *and* leaves the group escapes; only a PID
//! namespace would prevent that.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use lockstep_fs::process::{has_exited, in_own_group, kill_group};

/// The variable that marks a group's descendants.
const GROUP_ID_VAR: &str = "LOCKSTEP_REHEARSAL";
const POLL: Duration = Duration::from_millis(5);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitReason {
    Exited(ExitStatus),
    TimeLimit,
}

/// A running process and its descendants. Dropping it kills them all.
#[derive(Debug)]
pub struct ProcessGroup {
    child: Child,
    mark: String,
    ended: bool,
}

impl ProcessGroup {
    pub fn spawn(mut command: Command) -> io::Result<Self> {
        let mark = new_mark();
        let child = in_own_group(command.env(GROUP_ID_VAR, &mark)).spawn()?;
        Ok(Self { child, mark, ended: false })
    }

    /// Waits for the process itself; descendants that are still running are killed then.
    pub fn wait(mut self, limit: Duration) -> io::Result<ExitReason> {
        let start = Instant::now();
        // Not reaped yet: signalling the group of a reaped process could hit another one.
        while !has_exited(&mut self.child)? {
            if start.elapsed() >= limit {
                self.end()?;
                return Ok(ExitReason::TimeLimit);
            }
            thread::sleep(POLL);
        }
        self.end().map(ExitReason::Exited)
    }

    fn end(&mut self) -> io::Result<ExitStatus> {
        self.ended = true;
        kill_group(&mut self.child);
        kill_marked(&self.mark);
        self.child.wait()
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if !self.ended {
            let _ = self.end();
        }
    }
}

/// A value that no other process on the machine carries.
fn new_mark() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    format!("{}-{count}-{now:x}", std::process::id())
}

/// Kills until no process with the mark is found. A process that is just being started is found in the next
/// round.
#[cfg(target_os = "linux")]
fn kill_marked(mark: &str) {
    let entry = format!("{GROUP_ID_VAR}={mark}");
    for _ in 0..200 {
        let marked: Vec<_> = linux::processes().filter(|pid| linux::has_env_entry(*pid, &entry)).collect();
        if marked.is_empty() {
            return;
        }
        for pid in marked {
            lockstep_fs::process::kill_if(pid, || linux::has_env_entry(pid, &entry));
        }
        thread::sleep(POLL);
    }
}

#[cfg(not(target_os = "linux"))]
fn kill_marked(_mark: &str) {}

#[cfg(target_os = "linux")]
mod linux {
    //! Other processes, as `/proc` shows them.

    use std::fs;

    pub(super) fn processes() -> impl Iterator<Item = i32> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
    }

    /// Returns true if the process was started with this entry in its environment. A zombie has none.
    pub(super) fn has_env_entry(pid: i32, entry: &str) -> bool {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|found| found == entry.as_bytes())
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    fn shell(script: &str) -> ProcessGroup {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        ProcessGroup::spawn(command).unwrap()
    }

    fn alive(group_mark: &str) -> usize {
        let entry = format!("{GROUP_ID_VAR}={group_mark}");
        linux::processes().filter(|pid| linux::has_env_entry(*pid, &entry)).count()
    }

    fn wait_for(mark: &str, count: usize) {
        let start = Instant::now();
        while alive(mark) != count {
            assert!(start.elapsed() < Duration::from_secs(120), "{} processes, not {count}", alive(mark));
            thread::sleep(POLL);
        }
    }

    #[test]
    fn exit_status_is_returned_and_remaining_processes_are_killed() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        // It ends on request, because the start of the other processes may take any time.
        let group = shell(&format!("setsid sleep 600 & sleep 600 & read x < {}; exit 7", pipe.display()));
        let mark = group.mark.clone();
        wait_for(&mark, 3);
        std::fs::write(&pipe, "go\n").unwrap();
        let ExitReason::Exited(status) = group.wait(Duration::from_secs(120)).unwrap() else { panic!() };
        assert_eq!(status.code(), Some(7));
        assert_eq!(alive(&mark), 0);
    }

    #[test]
    fn the_limit_and_a_drop_end_everything() {
        let group = shell("setsid sh -c 'sleep 600; true' & wait");
        let mark = group.mark.clone();
        wait_for(&mark, 3);
        assert_eq!(group.wait(Duration::from_millis(20)).unwrap(), ExitReason::TimeLimit);
        assert_eq!(alive(&mark), 0);

        let group = shell("setsid sleep 600 & wait");
        let mark = group.mark.clone();
        wait_for(&mark, 2);
        drop(group);
        assert_eq!(alive(&mark), 0);
    }
}
