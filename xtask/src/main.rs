//! `cargo xtask`: what a contributor runs. Each verb has its file; nothing here is part of the product.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a developer's tool talks to its terminal")]

mod bench;
mod chaos;
mod ci;
mod clients;
mod docs;
mod licences;
mod metadata;
mod release;
mod tidy;
mod workspace;

use std::error::Error;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// An error for the person at the terminal.
type XtaskResult<T = ()> = Result<T, Box<dyn Error>>;

/// The tasks of a contributor
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", arg_required_else_help = true)]
struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Run everything that must pass before a change is merged
    Ci,
    Docs(docs::DocsArgs),
    Tidy(tidy::TidyArgs),
    /// Check that every dependency has a licence that the project may ship
    Licences,
    Release(release::ReleaseArgs),
    #[command(subcommand)]
    Bench(bench::Bench),
    Chaos(chaos::ChaosArgs),
}

fn main() -> ExitCode {
    let done = match Args::parse().verb {
        Verb::Ci => ci::run(),
        Verb::Docs(args) => docs::run(&args),
        Verb::Tidy(args) => tidy::run(&args),
        Verb::Licences => licences::run(),
        Verb::Release(args) => release::run(&args),
        Verb::Bench(bench) => bench::run(&bench),
        Verb::Chaos(args) => chaos::run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
