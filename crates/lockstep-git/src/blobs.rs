//! Old contents of files.

use std::io::{BufReader, Read as _, Write as _};
use std::process::{Child, Stdio};

use crate::{GitError, Repository};

/// Larger contents are not read: they are not analysed.
const MAX_BYTES: u64 = 16 << 20;

impl Repository {
    /// Returns the contents of files in a state (a commit, a tree, or the empty text for the staged state),
    /// in their order; `None` for one that is not a file there or too large.
    pub fn read_blobs(&self, state: &str, paths: &[String]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let mut child = self.spawn_piped(&["cat-file", "--batch", "-z"])?;
        let mut input = child.stdin.take().expect("it was asked for");
        let mut output = BufReader::new(child.stdout.take().expect("it was asked for"));
        let prefix = self.worktree_prefix()?;
        // Git replies while it reads: writing everything first would fill both pipes and deadlock.
        let contents = std::thread::scope(|scope| {
            scope.spawn(move || {
                for path in paths {
                    // A git that died is noticed by its missing answers.
                    let _ = write!(input, "{state}:{prefix}{path}\0");
                }
            });
            paths.iter().map(|_| read_blob(&mut output)).collect::<Result<Vec<_>, GitError>>()
        });
        child.wait().map_err(GitError::Spawn)?;
        contents
    }

    /// Starts git with both pipes open and without its messages.
    fn spawn_piped(&self, args: &[&str]) -> Result<Child, GitError> {
        let mut command = self.git(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.spawn().map_err(GitError::Spawn)
    }

    /// Returns those of the paths that an ignore rule excludes, whether git tracks them or not.
    pub fn ignored<'a>(&self, paths: &[&'a str]) -> Result<Vec<&'a str>, GitError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let mut child = self.spawn_piped(&["check-ignore", "--no-index", "-z", "--stdin"])?;
        let mut input = child.stdin.take().expect("it was asked for");
        let names = paths.join("\0") + "\0";
        let output = std::thread::scope(|scope| {
            // Git that died is noticed by its missing answers.
            scope.spawn(move || drop(input.write_all(names.as_bytes())));
            child.wait_with_output().map_err(GitError::Spawn)
        })?;
        let ignored: Vec<&[u8]> = output.stdout.split(|byte| *byte == 0).collect();
        Ok(paths.iter().copied().filter(|path| ignored.contains(&path.as_bytes())).collect())
    }

    /// Returns the path from the top of the working tree to the directory.
    fn worktree_prefix(&self) -> Result<String, GitError> {
        // At the top, the path is empty.
        if self.directory.join(".git").exists() {
            return Ok(String::new());
        }
        let answer = self.run_checked(&["rev-parse", "--show-prefix"])?;
        Ok(String::from_utf8_lossy(&answer).trim_end_matches('\n').to_owned())
    }
}

fn read_blob(output: &mut impl std::io::BufRead) -> Result<Option<Vec<u8>>, GitError> {
    let not_understood = || GitError::UnexpectedOutput { what: "cat-file".to_owned() };
    let mut header = Vec::new();
    output.read_until(b'\n', &mut header).map_err(GitError::Spawn)?;
    let header = String::from_utf8_lossy(&header);
    if header.trim_end().ends_with(" missing") || header.trim_end().ends_with(" ambiguous") {
        return Ok(None);
    }
    let mut words = header.split_ascii_whitespace();
    let (Some(_), Some(kind), Some(size)) = (words.next(), words.next(), words.next()) else {
        return Err(not_understood());
    };
    let size: u64 = size.parse().map_err(|_| not_understood())?;
    if size > MAX_BYTES {
        std::io::copy(&mut output.take(size + 1), &mut std::io::sink()).map_err(GitError::Spawn)?;
        return Ok(None);
    }
    let mut bytes = Vec::new();
    output.take(size + 1).read_to_end(&mut bytes).map_err(GitError::Spawn)?;
    bytes.pop();
    Ok((kind == "blob").then_some(bytes))
}
