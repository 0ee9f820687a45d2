//! The `lockstep` program: parse, dispatch, turn what happened into output and an exit code.
//!
//! [`cli`] has a file per verb, [`hook`] answers clients. Both are thin: what they decide is decided in the pure crates,
//! what they remember is in the store. Only this crate reads the environment and the clock.

pub mod cli;
mod clock;
mod doctor;
mod document;
pub mod env_vars;
mod error;
pub mod exit_code;
pub mod hook;
mod program;
mod project;
pub mod reference;
mod setup;
mod task;
mod terminal;

use std::process::ExitCode;

/// Runs the program with the process's own arguments.
pub fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    // Clients start a hook for every tool call: it does not wait for the whole command line to be described.
    let first = arguments.next();
    if first.as_deref() == Some("hook".as_ref()) {
        match (arguments.next(), arguments.next()) {
            (None, _) => return hook::main(hook::Client::default()),
            (Some(client), None) if client == "claude" => return hook::main(hook::Client::Claude),
            // `--help`, an unknown client: the command line explains.
            _ => {}
        }
    }
    cli::main()
}
