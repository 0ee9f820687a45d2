//! Tests of the crate's interface: texts in, values and problems out; real directories and git worktrees in,
//! projects out.

#![allow(clippy::unwrap_used)] // A helper that panics fails its test, which is its purpose.

mod discover;
mod parse;
