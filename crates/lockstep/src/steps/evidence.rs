//! Running the command that is a phase's evidence.

use std::collections::VecDeque;
use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use lockstep_steps::redact::redact;
use lockstep_steps::step::evidence::CommandEvidence;

/// The number of bytes at the end of the output that are kept.
const TAIL: usize = 2_000;

/// Runs a command with the shell, in the project, and waits for it.
pub(crate) fn run(command: &str, root: &Path, ran_at: &str) -> io::Result<CommandEvidence> {
    let start = Instant::now();
    let (mut reader, writer) = io::pipe()?;
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(root).stdin(Stdio::null());
    shell.stdout(writer.try_clone()?).stderr(writer);
    let mut child = shell.spawn()?;
    // Our own ends of the pipe must be closed, or reading would never end.
    drop(shell);
    let mut hasher = blake3::Hasher::new();
    let mut tail: VecDeque<u8> = VecDeque::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = reader.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        hasher.update(&buffer[..read]);
        tail.extend(&buffer[..read]);
        let over = tail.len().saturating_sub(4 * TAIL);
        tail.drain(..over);
    }
    let status = child.wait()?;
    let text = String::from_utf8_lossy(tail.make_contiguous()).into_owned();
    Ok(CommandEvidence {
        command: redact(command),
        exit_code: status.code(),
        duration_ms: u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
        output_digest: hasher.finalize().to_hex().to_string(),
        output_tail: last_chars(&redact(&text), TAIL),
        ran_at: ran_at.to_owned(),
    })
}

fn last_chars(text: &str, count: usize) -> String {
    let skipped = text.chars().count().saturating_sub(count);
    text.chars().skip(skipped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_output_is_stored_without_secrets() {
        let root = tempfile::tempdir().unwrap();
        let evidence = run("echo out; echo PASSWORD=hunter2 >&2; exit 3", root.path(), "now").unwrap();
        assert_eq!(
            (evidence.exit_code, evidence.output_tail.as_str()),
            (Some(3), "out\nPASSWORD=[redacted]\n")
        );
        assert_eq!(evidence.command, "echo out; echo PASSWORD=[redacted] >&2; exit 3");
        let long = run("yes x | head -c 500000; echo END", root.path(), "now").unwrap();
        assert_eq!(long.exit_code, Some(0));
        assert!(long.output_tail.ends_with("END\n") && long.output_tail.len() == TAIL);
        assert_eq!(run("kill -9 $$", root.path(), "now").unwrap().exit_code, None);
        assert_eq!(run("no-such-command-here", root.path(), "now").unwrap().exit_code, Some(127));
    }
}
