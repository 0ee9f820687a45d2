//! `cargo xtask bench speed`: what the index costs and what it saves, on large generated repositories, beside ripgrep.

mod graph_tools;
pub(super) mod map;
mod package;
mod real;
mod repository;
mod ripgrep;
mod synthetic_repo;
mod tables;

use super::programs::Programs;
use super::{environment, results_page};
use crate::XtaskResult;
use package::PACKAGES;
use repository::{BenchRepository, RepositoryResult};

/// Measure the index, and queries to it, on large generated repositories
///
/// Everything happens in a temporary directory. If there is no ripgrep, it is installed into a cache of the
/// user's.
#[derive(Debug, clap::Args)]
pub(crate) struct SpeedArgs {
    /// A small repository and unoptimised programs, to see that the benchmark works
    #[arg(long, conflicts_with = "write")]
    smoke: bool,
    /// Number of files in the repositories
    #[arg(long, value_delimiter = ',', default_value = "3000,30000,100000")]
    files: Vec<usize>,
    /// Number of runs of each process
    #[arg(long, default_value_t = 21, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Number of builds of an index
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    builds: u32,
    /// Seed of the repositories
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Measure the largest packages that were found in registries too; they are fetched into a cache of the user's
    #[arg(long)]
    packages: bool,
    /// Measure graph tools in the smaller repositories too; they are installed into a cache of the user's
    #[arg(long)]
    tools: bool,
    /// Ask questions about real packages instead, and compare processor time; they are fetched into a cache of the user's
    #[arg(long, conflicts_with_all = ["packages", "tools"])]
    real: bool,
    /// Only these packages; no package if a name is not in the list
    #[arg(long, value_name = "NAME", requires = "real")]
    only: Vec<String>,
    /// A local repository to ask about too: its last commit
    #[arg(long, value_name = "DIRECTORY", requires = "real")]
    tree: Vec<std::path::PathBuf>,
    /// The number of questions about each package
    #[arg(long, default_value_t = 30, requires = "real")]
    questions: usize,
    /// Ask this program the same questions, and list the answers that differ
    #[arg(long, value_name = "PROGRAM", requires = "real")]
    against: Option<std::path::PathBuf>,
    /// Measure this program instead of building one
    #[arg(long, value_name = "PROGRAM", conflicts_with = "write")]
    program: Option<std::path::PathBuf>,
    /// Put the results into docs/benchmarks/speed.md
    #[arg(long)]
    write: bool,
}

pub(crate) fn run(args: &SpeedArgs) -> XtaskResult {
    if args.real {
        return real::run(args);
    }
    let mut programs = Programs::build(args.smoke || args.program.is_some())?;
    if let Some(program) = &args.program {
        programs.lockstep = program.canonicalize()?;
    }
    let ripgrep = ripgrep::find()?;
    let sizes = if args.smoke { vec![300] } else { args.files.clone() };
    let (runs, builds) = if args.smoke { (2, 1) } else { (args.runs, args.builds) };
    let mut all: Vec<RepositoryResult> = Vec::new();
    let mut beside = String::new();
    for files in sizes {
        // One at a time: together they would fill a small machine's memory with files.
        let temp = temporary()?;
        let scene = BenchRepository::new(temp.path(), files, args.seed, &programs, &ripgrep)?;
        let measured = scene.measure(runs, builds)?;
        if args.tools && files <= TOOLS_FILES {
            beside.push_str(&tables::beside(&measured, &graph_tools::measure(&scene)));
        }
        all.push(measured);
    }
    for package in PACKAGES.iter().filter(|_| args.packages) {
        let temp = temporary()?;
        let scene = BenchRepository::with(temp.path(), &programs, &ripgrep, |root| package.unpack(root))?;
        let title = format!("{} {}", package.name, package.version);
        // Earlier measurements are kept even if this one fails.
        match scene.measure(runs, builds) {
            Ok(measured) => {
                all.push(RepositoryResult {
                    title: format!("{title}, {} files", measured.files),
                    ..measured
                });
            }
            Err(error) => eprintln!("{title} was not measured: {error}"),
        }
    }
    let budgets = if args.smoke { String::new() } else { tables::budgets(&all) };
    let report = format!(
        "{}\n{budgets}\n{}{beside}",
        environment::describe(&command_line(args)),
        tables::growth(&all)
    );
    println!("{report}");
    if args.write {
        results_page::write("speed", &report)?;
    }
    Ok(())
}

/// Graph tools are asked in repositories of at most so many files: larger ones take them many minutes.
const TOOLS_FILES: usize = 3_000;

fn temporary() -> XtaskResult<tempfile::TempDir> {
    Ok(tempfile::Builder::new().prefix("lockstep-speed-").tempdir()?)
}

fn command_line(args: &SpeedArgs) -> String {
    if args.smoke {
        return "cargo xtask bench speed --smoke (unoptimised: the numbers mean nothing)".to_owned();
    }
    let files: Vec<String> = args.files.iter().map(usize::to_string).collect();
    let program = args.program.as_ref().map(|program| format!(" --program {}", program.display()));
    format!(
        "cargo xtask bench speed --files {} --runs {} --builds {} --seed {}{}{}{}",
        files.join(","),
        args.runs,
        args.builds,
        args.seed,
        if args.packages { " --packages" } else { "" },
        if args.tools { " --tools" } else { "" },
        program.unwrap_or_default()
    )
}
