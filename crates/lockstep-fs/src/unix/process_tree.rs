//! The descendants of a process.

use std::thread;
use std::time::{Duration, Instant};

use super::process::kill;

/// The time limit for killing.
const KILL_TIMEOUT: Duration = Duration::from_secs(10);

/// The interval between two looks at the processes.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Kills all descendants of a process, including those that are started meanwhile.
pub fn kill_descendants(of: i32) {
    kill_while(|| descendants(of));
}

/// Kills the orphaned children of this process that are not in `known`, and everything below them.
pub fn kill_orphans(known: &[i32]) {
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    kill_while(|| {
        let mut own_processes = vec![own];
        own_processes.extend(known);
        own_processes.extend(known.iter().flat_map(|pid| descendants(*pid)));
        let mut living = descendants(own);
        living.retain(|pid| !own_processes.contains(pid));
        living
    });
}

fn kill_while(targets: impl Fn() -> Vec<i32>) {
    let start = Instant::now();
    while start.elapsed() < KILL_TIMEOUT {
        let living = targets();
        if living.is_empty() {
            return;
        }
        living.into_iter().for_each(kill);
        thread::sleep(POLL_INTERVAL);
    }
}

/// Returns the living descendants of a process, from the parents that the system reports.
fn descendants(of: i32) -> Vec<i32> {
    let parents = parents();
    let mut found = vec![of];
    let mut at = 0;
    while at < found.len() {
        let parent = found[at];
        found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        at += 1;
    }
    found.split_off(1)
}

#[cfg(target_os = "linux")]
pub use linux::is_stopped;
#[cfg(target_os = "linux")]
use linux::parents;

#[cfg(target_os = "linux")]
mod linux {
    //! Processes, as `/proc` shows them.

    use std::fs;

    /// Returns true if a process is stopped.
    pub fn is_stopped(pid: i32) -> bool {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(')')
            .is_some_and(|(_, fields)| matches!(fields.trim_start().chars().next(), Some('T' | 't')))
    }

    /// Returns each living process with its parent.
    pub(super) fn parents() -> Vec<(i32, i32)> {
        let mut parents = Vec::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
            parents.extend(parent_of(&stat).map(|parent| (pid, parent)));
        }
        parents
    }

    /// The parent in `/proc/PID/stat`; `None` for one that is dead and only waits to be noticed.
    pub(super) fn parent_of(stat: &str) -> Option<i32> {
        // The name in parentheses may hold anything.
        let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        (state != "Z" && state != "X").then_some(parent)
    }
}

/// Returns each living process with its parent, as `ps` lists them; the process of `ps` itself is left out.
#[cfg(not(target_os = "linux"))]
fn parents() -> Vec<(i32, i32)> {
    let mut ps = std::process::Command::new("ps");
    let Ok(listed) = ps.args(["-A", "-o", "pid=,ppid=,stat=,comm="]).output() else { return Vec::new() };
    parents_in(&String::from_utf8_lossy(&listed.stdout))
}

#[cfg(any(not(target_os = "linux"), test))]
fn parents_in(listed: &str) -> Vec<(i32, i32)> {
    let process = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let (pid, parent) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        let (state, program) = (fields.next()?, fields.next()?);
        let is_ps = program == "ps" || program.ends_with("/ps");
        (!state.starts_with('Z') && !is_ps).then_some((pid, parent))
    };
    listed.lines().filter_map(process).collect()
}

/// Returns false: a stopped process is not noticed on this system, and ends at its time limit.
#[cfg(not(target_os = "linux"))]
pub fn is_stopped(_pid: i32) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn parents_are_read_whatever_a_process_is_called() {
        use super::linux::parent_of;
        assert_eq!(parent_of("12 (sh) S 7 12 7 0"), Some(7));
        assert_eq!(parent_of("12 (a) Z (b) R 9 1"), Some(9));
        assert_eq!(parent_of("12 (sh) Z 7 12"), None);
        assert_eq!(parent_of("nonsense"), None);
    }

    #[test]
    fn list_of_ps_is_read_without_dead_processes_and_itself() {
        let listed =
            "  1     0 Ss   /sbin/launchd\n  12     1 S+   sh\n  13 12 Z    (sh)\n  14 12 R ps\nnonsense\n";
        assert_eq!(parents_in(listed), [(1, 0), (12, 1)]);
    }

    #[test]
    fn descendants_are_found() {
        let mut child = Command::new("sh").args(["-c", "sleep 30 & wait"]).spawn().unwrap();
        let own = i32::try_from(std::process::id()).unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let start = Instant::now();
        while descendants(pid).is_empty() && start.elapsed() < KILL_TIMEOUT {
            thread::sleep(POLL_INTERVAL);
        }
        let below = descendants(pid);
        assert_eq!(below.len(), 1);
        assert!(descendants(own).contains(&below[0]));
        kill_descendants(pid);
        child.wait().unwrap();
        assert_eq!(descendants(pid), []);
    }
}
