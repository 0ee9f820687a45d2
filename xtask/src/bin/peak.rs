//! Runs a program and prints the peak of its resident memory in KiB.
//!
//! A process of its own because the kernel counts the memory of whoever started a program as the program's, until it is
//! replaced: the starter must be smaller than anything it measures.

#![expect(clippy::print_stdout, reason = "the number is the program's answer")]

use std::io;
use std::process::{Command, ExitCode, Stdio};

use nix::sys::resource::{UsageWho, getrusage};

fn main() -> io::Result<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    let program = words.next().ok_or_else(|| io::Error::other("name the program to run"))?;
    let status = Command::new(program).args(words).stdout(Stdio::null()).status()?;
    // Of all children that have ended: there was one.
    println!("{}", getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss());
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
