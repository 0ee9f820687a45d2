//! The descendants of a process. A job ends them: see `process::bind_descendants`.

/// Does nothing: the descendants of a process that was bound end with it.
pub fn kill_descendants(_of: i32) {}

/// Does nothing: no process is left to another one.
pub fn kill_orphans(_known: &[i32]) {}

/// Returns false: Windows has no stopped processes.
pub fn is_stopped(_pid: i32) -> bool {
    false
}
