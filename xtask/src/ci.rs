//! `cargo xtask ci`: the checks that must pass before a change is merged, cheapest first.
//!
//! Each step is a command that can be repeated alone. The first failure ends the run and prints that command.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::{XtaskResult, workspace};

/// One step: why it is there, and the command line that repeats it.
struct CiStep {
    name: &'static str,
    env: Option<(&'static str, &'static str)>,
    line: &'static str,
}

const STEPS: &[CiStep] = &[
    step("formatting", "cargo fmt --all --check"),
    step("lints", "cargo clippy --workspace --all-targets --locked -- -D warnings"),
    // Without stopping: one run reports every failing test.
    step("tests", "cargo test --locked --no-fail-fast"),
    step("tests of xtask", "cargo test --locked -p xtask"),
    CiStep {
        name: "documentation of the code",
        env: Some(("RUSTDOCFLAGS", "-Dwarnings")),
        line: "cargo doc --no-deps --workspace --locked",
    },
    step("reference pages", "cargo xtask docs --check"),
    step("house rules", "cargo xtask tidy"),
    step("licences", "cargo xtask licences"),
    // On the programs the tests have built already: it is about whether benchmarks work, and no time is asserted.
    step("benchmarks run", "cargo xtask bench hooks --smoke"),
    step("attacks", "cargo xtask chaos --cases 6"),
];

const fn step(name: &'static str, line: &'static str) -> CiStep {
    CiStep { name, env: None, line }
}

pub(crate) fn run() -> XtaskResult {
    let mut took = Vec::new();
    for step in STEPS {
        println!("\n==> {}: {}", step.name, step.repeat());
        let start = Instant::now();
        step.run()?;
        took.push((step.name, start.elapsed()));
        println!("==> {}: passed in {}", step.name, seconds(start.elapsed()));
    }
    println!("\nEverything passed:");
    for (name, took) in &took {
        println!("  {:>8}  {name}", seconds(*took));
    }
    println!("  {:>8}  together", seconds(took.iter().map(|(_, took)| *took).sum()));
    Ok(())
}

impl CiStep {
    /// The command as one would type it.
    fn repeat(&self) -> String {
        match self.env {
            Some((name, value)) => format!("{name}={value} {}", self.line),
            None => self.line.to_owned(),
        }
    }

    fn run(&self) -> XtaskResult {
        let mut command = self.command()?;
        command.envs(self.env);
        let status = command.status().map_err(|error| format!("{}: {error}", self.repeat()))?;
        if status.success() {
            return Ok(());
        }
        Err(format!("\n==> {} failed ({status}). To repeat it: {}", self.name, self.repeat()).into())
    }

    /// A verb of our own is run by this very program: cargo need not look again whether it is up to date.
    fn command(&self) -> XtaskResult<Command> {
        let mut words = self.line.split(' ').skip(1).peekable();
        let mut command = match words.next_if_eq(&"xtask") {
            Some(_) => workspace::command(std::env::current_exe()?),
            None => workspace::cargo(),
        };
        command.args(words);
        Ok(command)
    }
}

fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_is_a_cargo_command_that_can_be_typed() {
        for step in STEPS {
            assert!(step.line.starts_with("cargo "), "{}", step.line);
            assert!(!step.line.contains(['"', '\'', '$']), "{} would need a shell", step.line);
        }
    }
}
