//! The `lockstep` program: parses arguments, dispatches, and converts the result to output and an exit code.
//!
//! [`cli`] has a file per verb, [`hook`] replies to clients. Both are thin: decisions are made in the pure
//! crates, and state is in the store. Only this crate reads the environment and the clock.

mod build_time;
mod cache;
mod cascade;
pub mod cli;
mod clock;
mod command_output;
mod doctor;
pub mod env_vars;
mod error;
mod executable;
pub mod exit_code;
pub mod hook;
mod impact;
mod installed;
mod map;
mod mcp;
mod meter;
mod output_format;
pub mod plugin;
mod progress_bar;
mod project;
pub mod reference_pages;
mod refs;
mod setup;
mod steps;
mod task;
mod terminal;
mod trust;
mod workspace;

use std::ffi::OsString;
use std::process::ExitCode;

/// The versions of Claude Code that are tested, the newest first.
pub use lockstep_rehearsal::client::VERSIONS as TESTED_CLIENTS;

/// Runs the program with the process's own arguments.
pub fn main() -> ExitCode {
    meter::install();
    let mut arguments = std::env::args_os().skip(1);
    // Clients start a hook for every tool call: it does not wait until the complete command line is defined.
    let first = arguments.next();
    if first.as_deref() == Some("hook".as_ref())
        && let Some(call) = hook_call(arguments)
    {
        return hook::main(call);
    }
    cli::main()
}

/// A call of the hook as `init` and the plugin register it; `None` if the command line has to explain: `--help`, an unknown
/// client.
fn hook_call(mut arguments: impl Iterator<Item = OsString>) -> Option<hook::HookInvocation> {
    let mut call = hook::HookInvocation::default();
    match arguments.next() {
        None => return Some(call),
        Some(client) if client == "claude" => {}
        Some(_) => return None,
    }
    while let Some(option) = arguments.next() {
        match option.to_str()? {
            "--part" => call.part = arguments.next()?.to_str()?.parse().ok()?,
            "--plugin" => call.by = hook::RegistrationSource::Plugin,
            _ => return None,
        }
    }
    Some(call)
}
