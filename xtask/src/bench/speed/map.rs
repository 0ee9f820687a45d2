//! `cargo xtask bench map`: what the map costs on a large generated repository.

use std::fmt::Write as _;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use super::super::programs::Programs;
use super::super::statistics::Times;
use super::super::{environment, results_page};
use super::repository::BenchRepository;
use crate::XtaskResult;

/// The maximum duration of an update of one file.
const UPDATE_MS: f64 = 50.0;

/// The repository that the budget is about.
const FILES: usize = 30_000;

/// Measure builds and updates of the codebase map on a large generated repository
///
/// Everything happens in a temporary directory; nothing of the user's is touched.
#[derive(Debug, clap::Args)]
pub(crate) struct MapArgs {
    /// A small repository and unoptimised programs, to see that the benchmark works
    #[arg(long, conflicts_with = "write")]
    smoke: bool,
    /// Number of files in the repository
    #[arg(long, default_value_t = FILES)]
    files: usize,
    /// Number of runs of each update
    #[arg(long, default_value_t = 21, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Number of builds of the map
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    builds: u32,
    /// Seed of the repository
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Measure this program instead of building one
    #[arg(long, value_name = "PROGRAM", conflicts_with = "write")]
    program: Option<std::path::PathBuf>,
    /// Put the results into docs/benchmarks/map.md
    #[arg(long)]
    write: bool,
}

struct MapResult {
    build: Times,
    idle: Times,
    found: Times,
    body: Times,
    offer: Times,
    created: Times,
    bytes: u64,
}

pub(crate) fn run(args: &MapArgs) -> XtaskResult {
    let mut programs = Programs::build(args.smoke || args.program.is_some())?;
    if let Some(program) = &args.program {
        programs.lockstep = program.canonicalize()?;
    }
    let files = if args.smoke { 300 } else { args.files };
    let (runs, builds) = if args.smoke { (2, 1) } else { (args.runs, args.builds) };
    let temp = tempfile::Builder::new().prefix("lockstep-map-").tempdir()?;
    let scene = BenchRepository::new(temp.path(), files, args.seed, &programs, Path::new("rg"))?;
    let measured = measure(&scene, runs, builds)?;
    let command = format!("cargo xtask bench map --files {files} --runs {runs} --builds {builds}");
    let report = format!("{}\n{}", environment::describe(&command), table(files, &measured));
    println!("{report}");
    if args.write {
        results_page::write("map", &report)?;
    }
    Ok(())
}

/// Times younger than this are not trusted: the look after them would read the file again.
const SETTLED: Duration = Duration::from_millis(60);

fn measure(scene: &BenchRepository<'_>, runs: u32, builds: u32) -> XtaskResult<MapResult> {
    const UPDATE: &[&str] = &["map", "update", "--quiet"];
    let build = scene.times(builds, || Ok(scene.lockstep(&["map", "build", "--quiet"])))?;
    sleep(SETTLED);
    let idle = scene.times(runs, || Ok(scene.lockstep(UPDATE)))?;
    let mut turn = 0;
    // An edit returns the path of the edited file, for runs that name it.
    let mut after = |is_named: bool, edit: &dyn Fn(u32) -> XtaskResult<String>| {
        scene.times(runs, || {
            turn += 1;
            let path = edit(turn)?;
            sleep(SETTLED);
            let named = is_named.then_some(path.as_str());
            Ok(scene.lockstep(&UPDATE.iter().copied().chain(named).collect::<Vec<_>>()))
        })
    };
    let note = |turn| scene.edit(&format!("\n# note {turn}\n"));
    let found = after(false, &note)?;
    let body = after(true, &note)?;
    let offer = after(true, &|turn| scene.edit(&format!("\nNOTE_{turn} = {turn}\n")))?;
    let created = after(true, &|turn| {
        let path = format!("notes/note_{turn}.md");
        scene.create(&path, "See README.md.\n")?;
        Ok(path)
    })?;
    // A map that is wrong would be quick to make.
    let status = scene.lockstep(&["map", "check", "--quiet"]).status()?;
    if !status.success() {
        return Err(format!("the map is wrong in the end: {status}").into());
    }
    Ok(MapResult { build, idle, found, body, offer, created, bytes: scene.size(".lockstep/codebase-map.md") })
}

fn table(files: usize, measured: &MapResult) -> String {
    let mut out = String::new();
    if files == FILES {
        let slowest = measured.body.median().max(measured.offer.median()).max(measured.created.median());
        let met = if slowest <= UPDATE_MS { "yes" } else { "**no**" };
        let _ = writeln!(
            out,
            "| budget | measured | met |\n|---|---|---|\n| an update of one file takes at most {UPDATE_MS} ms | {slowest:.1} ms | {met} |\n"
        );
    }
    let _ = writeln!(out, "| whole processes, {files} files | p50 ms | p95 ms |\n|---|--:|--:|");
    for (name, times) in [
        ("map build", &measured.build),
        ("map update, nothing changed", &measured.idle),
        ("map update, which finds that one file changed", &measured.found),
        ("map update FILE: inside a function of what most others import", &measured.body),
        ("map update FILE: it offers a new name", &measured.offer),
        ("map update FILE: it is new", &measured.created),
    ] {
        let _ = writeln!(out, "| {name} | {:.1} | {:.1} |", times.median(), times.percentile(95));
    }
    let _ = writeln!(out, "\nThe document has {:.1} MB.", measured.bytes as f64 / 1e6);
    out
}
