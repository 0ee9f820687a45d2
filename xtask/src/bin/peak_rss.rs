//! Runs a program and prints its peak resident memory in KiB, with `--time` followed by its processor time in
//! microseconds.
//!
//! It is a separate process, because the kernel attributes the memory of the parent to a program until it is
//! executed: the parent must be smaller than anything it measures.

#![expect(clippy::print_stdout, reason = "the number is the program's answer")]

use std::io;
use std::process::{Command, ExitCode, Stdio};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

fn main() -> io::Result<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    let mut first = words.next();
    let is_timed = first.as_deref() == Some("--time".as_ref());
    if is_timed {
        first = words.next();
    }
    let program = first.ok_or_else(|| io::Error::other("name the program to run"))?;
    let status = Command::new(program).args(words).stdout(Stdio::null()).status()?;
    // Of all children that have ended: there was one.
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    match is_timed {
        true => {
            let micros = |time: TimeVal| time.tv_sec() * 1_000_000 + time.tv_usec();
            println!("{} {}", usage.max_rss(), micros(usage.user_time()) + micros(usage.system_time()));
        }
        false => println!("{}", usage.max_rss()),
    }
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
