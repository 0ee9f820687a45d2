//! Executable files that a test creates and then starts.
//!
//! The kernel refuses to start a file that any process has open for writing (`ETXTBSY`). A test process that
//! writes the file itself shares its descriptor, for a moment, with every child that another thread starts at
//! the same time. A child process therefore does the writing.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Creates an executable script, or replaces its content.
pub fn write_script(path: &Path, script: &str) {
    let mut command = Command::new("sh");
    command.args(["-c", "rm -f \"$1\" && cat > \"$1\" && chmod 755 \"$1\"", "sh"]).arg(path);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let status = child.wait().unwrap();
    assert!(status.success(), "{}: {status}", path.display());
}

/// Copies a program together with its permissions.
pub fn copy_program(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-p").arg("--").args([from, to]).status().unwrap();
    assert!(status.success(), "{}: {status}", to.display());
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::{fs, thread};

    use super::*;

    #[test]
    fn new_executables_start_while_other_threads_start_processes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("script");
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        Command::new("true").status().unwrap();
                    }
                });
            }
            let failure = (0..100).find_map(|_| {
                write_script(&path, "#!/bin/sh\nexit 0\n");
                Command::new(&path).status().err()
            });
            is_over.store(true, Ordering::Relaxed);
            assert!(failure.is_none(), "{failure:?}");
        });
        fs::remove_file(&path).unwrap();
    }
}
