//! Registers Lockstep in a client's settings and takes it out again.
//!
//! Pure text in, text out: the caller reads and writes the files. What a user wrote stays byte for byte, comments
//! and odd indentation included, so every change is a splice into the text, never a new rendering of it.
//! [`claude`] knows Claude Code's settings; [`record`] makes an uninstall exact; [`diff`](mod@diff) shows a
//! change before it is made.

pub mod claude;
pub mod diff;
pub mod position;
pub mod record;

mod command;
mod document;
mod json;
mod splice;
mod style;
