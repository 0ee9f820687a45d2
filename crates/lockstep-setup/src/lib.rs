//! Registers Lockstep in a client's settings, and removes it again.
//!
//! All functions map text to text: the caller reads and writes the files. The user's text stays byte for
//! byte, including comments and odd indentation, so every change is a splice into the text, never a new
//! rendering. [`claude`] handles Claude Code's settings, [`install_record`] makes an uninstall exact, and
//! [`diff`](mod@diff) shows a change before it is made.

pub mod claude;
pub mod diff;
pub mod install_record;
pub mod position;

mod hook_command;
mod json;
mod json_style;
mod settings_document;
mod splice;
