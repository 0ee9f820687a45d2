//! `cargo xtask bench speed`: what the index costs and what it saves, on large generated repositories, beside ripgrep.

mod forest;
pub(super) mod map;
mod ripgrep;
mod scene;
mod tables;

use super::programs::Programs;
use super::{machine, page};
use crate::{Outcome, workspace};
use scene::{Measured, Scene};

/// Measure the index, and questions to it, on large generated repositories
///
/// Everything happens in a temporary directory. Where there is no ripgrep, it is installed into a cache of the user's.
#[derive(Debug, clap::Args)]
pub(crate) struct SpeedArgs {
    /// A small repository and unoptimised programs, to see that the benchmark works
    #[arg(long, conflicts_with = "write")]
    smoke: bool,
    /// How many files the repositories have
    #[arg(long, value_delimiter = ',', default_value = "3000,30000,100000")]
    files: Vec<usize>,
    /// How often each process is run
    #[arg(long, default_value_t = 21, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// How often an index is built
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    builds: u32,
    /// What the repositories are made from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Put the results into docs/benchmarks.md
    #[arg(long)]
    write: bool,
}

pub(crate) fn run(args: &SpeedArgs) -> Outcome {
    let programs = Programs::build(args.smoke)?;
    let ripgrep = ripgrep::find()?;
    let sizes = if args.smoke { vec![300] } else { args.files.clone() };
    let (runs, builds) = if args.smoke { (2, 1) } else { (args.runs, args.builds) };
    let mut all: Vec<Measured> = Vec::new();
    for files in sizes {
        // One at a time: together they would fill a small machine's memory with files.
        let temp = tempfile::Builder::new().prefix("lockstep-speed-").tempdir()?;
        let scene = Scene::new(temp.path(), files, args.seed, &programs, &ripgrep)?;
        all.push(scene.measure(runs, builds)?);
    }
    let budgets = if args.smoke { String::new() } else { tables::budgets(&all) };
    let report = format!("{}\n{budgets}\n{}", machine::describe(&command_line(args)), tables::growth(&all));
    println!("{report}");
    if args.write {
        page::put(&workspace::root().join(page::PATH), "speed", &report)?;
        println!("wrote {}", page::PATH);
    }
    Ok(())
}

fn command_line(args: &SpeedArgs) -> String {
    if args.smoke {
        return "cargo xtask bench speed --smoke (unoptimised: the numbers mean nothing)".to_owned();
    }
    let files: Vec<String> = args.files.iter().map(usize::to_string).collect();
    format!(
        "cargo xtask bench speed --files {} --runs {} --builds {} --seed {}",
        files.join(","),
        args.runs,
        args.builds,
        args.seed
    )
}
