//! Finds the commands that a shell command line runs: commits, and verbs of Lockstep.
//!
//! The module `run` interprets the text without executing it: variables, substitutions, functions, aliases,
//! here-documents, nested shells and programs that run programs are followed as far as the text shows them. A
//! command that cannot be distinguished from a commit counts as one, because an alias of git may be anything.
//! A script file that the command does not write cannot be read; git's own hook checks its commits.

mod code;
mod commit;
mod decode;
mod expand;
mod git;
mod invoke;
mod mention;
mod own;
mod repository;
mod run;
mod skip;
mod syntax;
mod wrappers;

pub use commit::read_commit;
pub use own::{OwnCall, own_calls};

/// The effect of a command on commits, as far as its text shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommitReading {
    /// The command makes no commit.
    Harmless,
    /// The command mentions git or computes the programs that it runs, and its text does not show the effect.
    Unreadable,
    /// The command makes a commit, or cannot be distinguished from one.
    Commits,
}

/// Returns true if a text contains the word `git`.
fn names_git(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_git = |at: usize| bytes[at..at + 3].eq_ignore_ascii_case(b"git");
    let joined = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'.');
    (0..bytes.len().saturating_sub(2)).filter(|at| is_git(*at)).any(|at| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        !joined(before) && !bytes.get(at + 3).is_some_and(u8::is_ascii_alphanumeric)
    })
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod mention_tests;
