//! `cargo xtask bench`: what things cost, measured side by side in one run. Nothing here passes or fails by a clock.

mod budgets;
mod cascade;
mod environment;
mod fixture;
mod ground_truth;
mod programs;
mod rename_replay;
mod results_page;
mod runner;
mod speed;
mod statistics;
mod tables;
mod targets;
mod walk;

use std::path::PathBuf;

use clap::Subcommand;

use crate::XtaskResult;
use fixture::BenchFixture;
use programs::Programs;
use runner::BenchRun;
use targets::contestants;

/// Measure what things cost
#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    Cascade(cascade::CascadeArgs),
    Hooks(HooksArgs),
    Impact(ground_truth::ImpactArgs),
    Map(speed::map::MapArgs),
    Renames(rename_replay::RenamesArgs),
    Speed(speed::SpeedArgs),
    Walk(walk::WalkArgs),
}

/// Measure complete hook processes against a bare process and against bash with jq
///
/// Everything happens in a temporary directory; no file of the user is touched.
#[derive(Debug, clap::Args)]
pub(crate) struct HooksArgs {
    /// A few runs of unoptimised programs, to see that the benchmark works
    #[arg(long, conflicts_with = "write")]
    smoke: bool,
    /// The number of runs of each process
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Omit the runs with empty caches, which slow down the machine
    #[arg(long)]
    no_cold: bool,
    /// Measure this program instead of building one; the bare processes are built as tests are
    #[arg(long, conflicts_with = "smoke")]
    program: Option<PathBuf>,
    /// Put the results into docs/benchmarks/hooks.md
    #[arg(long)]
    write: bool,
}

/// The size of a measurement.
struct BenchPlan {
    warm_runs: u32,
    /// Rounds of several processes at once.
    crowd_rounds: u32,
    cold_runs: u32,
    /// Files in the large tree.
    files: usize,
}

/// The number of processes started at once.
const CONCURRENT_PROCESSES: usize = 8;

impl BenchPlan {
    fn of(args: &HooksArgs) -> Self {
        if args.smoke {
            return Self { warm_runs: 3, crowd_rounds: 1, cold_runs: 0, files: 1_000 };
        }
        let cold_runs = if args.no_cold { 0 } else { 9 };
        Self { warm_runs: args.runs, crowd_rounds: args.runs.div_ceil(10), cold_runs, files: 30_000 }
    }
}

pub(crate) fn run(bench: &Bench) -> XtaskResult {
    match bench {
        Bench::Cascade(args) => cascade::run(args),
        Bench::Hooks(args) => hooks(args),
        Bench::Impact(args) => ground_truth::run(args),
        Bench::Renames(args) => rename_replay::run(args),
        Bench::Map(args) => speed::map::run(args),
        Bench::Speed(args) => speed::run(args),
        Bench::Walk(args) => walk::run(args),
    }
}

fn hooks(args: &HooksArgs) -> XtaskResult {
    let plan = BenchPlan::of(args);
    let mut programs = Programs::build(args.smoke || args.program.is_some())?;
    if let Some(program) = &args.program {
        programs.lockstep = program.canonicalize()?;
    }
    let temp = tempfile::Builder::new().prefix("lockstep-bench-").tempdir()?;
    let scene = BenchFixture::new(temp.path(), &programs)?;
    let contestants = contestants(&scene, &programs, plan.files)?;
    let race = BenchRun::run(&contestants, &plan, &programs.peak_rss)?;
    scene.prove_nothing_failed()?;

    // Budgets are for what users run.
    let budgets = if args.smoke { String::new() } else { budgets::table(&race, plan.files) };
    let machine = environment::describe(&command_line(args));
    let report = format!("{machine}\n{budgets}\n{}", tables::all(&race, &plan));
    println!("{report}");
    if args.write {
        results_page::write("hooks", &report)?;
    }
    Ok(())
}

fn command_line(args: &HooksArgs) -> String {
    let runs = if args.smoke {
        " --smoke (unoptimised: the numbers mean nothing)".to_owned()
    } else {
        format!(" --runs {}", args.runs)
    };
    let cold = if args.no_cold { " --no-cold" } else { "" };
    let program =
        args.program.as_ref().map(|path| format!(" --program {}", path.display())).unwrap_or_default();
    format!("cargo xtask bench hooks{runs}{cold}{program}")
}
