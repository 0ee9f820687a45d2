//! `cargo xtask chaos`: attacks on the real program in scratch projects, by class, generated from a seed.
//!
//! Controls come first: a program that refuses everything fails them. Each attack is *held* (refused, or
//! without effect), *reported* (detected afterwards, as `docs/security.md` describes) or *broken*.

mod blocking;
mod boundary;
mod cascade;
mod commands;
mod controls;
mod events;
mod mcp;
mod moves;
mod names;
mod paths;
mod scene;
mod settings;
mod sources;
mod trail;
mod trial;
mod usage;
mod writers;
mod writes;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Args;

use self::trial::{Tally, Trial};
use crate::metadata::Metadata;
use crate::{XtaskResult, workspace};

/// Attack the program in scratch projects and print what held
#[derive(Debug, Args)]
pub(crate) struct ChaosArgs {
    /// Seed of the generated attacks
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Attacks of each class
    #[arg(long, default_value_t = 12)]
    cases: usize,
    /// Only classes whose name contains this
    #[arg(long)]
    class: Option<String>,
    /// Program to attack, instead of the one that the tests build
    #[arg(long)]
    program: Option<PathBuf>,
    /// Run a program and print its memory and processor time
    #[arg(long, hide = true, num_args = 1.., allow_hyphen_values = true)]
    measure: Vec<String>,
}

/// A class of attacks: its name, and the function that makes them.
type Class = (&'static str, fn(&mut Trial<'_>));

const CLASSES: &[Class] = &[
    ("controls", controls::attack),
    ("hostile source files", sources::attack),
    ("gate 2 beside hostile sources", sources::attack_gate),
    ("forged and rolled back trails", trail::attack),
    ("rules changed during a step", trail::attack_rules),
    ("configured paths", paths::attack),
    ("unreadable events", events::attack),
    ("damaged events", events::attack_by_damage),
    ("shapes of agent_id", events::attack_by_id),
    ("commits in other words", commands::attack),
    ("task writes in other words", commands::attack_task),
    ("moves of branches", moves::attack),
    ("commits past git's hooks", moves::attack_past_hooks),
    ("writes past the boundary", writes::attack),
    ("boundary at the commit", boundary::attack),
    ("configuration of a repository", writes::attack_configuration),
    ("pipes, devices and endless files", blocking::attack),
    ("entries that silence hooks", settings::attack),
    ("names on terminals", names::attack),
    ("names in lists of files", names::attack_lists),
    ("concurrent writers of settings", writers::attack),
    ("MCP messages", mcp::attack),
    ("agents of a cascade", cascade::attack),
];

pub(crate) fn run(args: &ChaosArgs) -> XtaskResult {
    if !args.measure.is_empty() {
        return usage::measure(&args.measure);
    }
    let program = match &args.program {
        Some(path) => path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))?,
        None => build()?,
    };
    let chosen = |class: &&Class| args.class.as_deref().is_none_or(|name| class.0.contains(name));
    let classes: Vec<&Class> = CLASSES.iter().filter(chosen).collect();
    if classes.is_empty() {
        let names: Vec<&str> = CLASSES.iter().map(|class| class.0).collect();
        return Err(format!("no such class; the classes are: {}", names.join(", ")).into());
    }
    println!("{}, seed {}, {} cases of each class", program.display(), args.seed, args.cases);
    // A panic of a helper is the failure of a case, which is printed with its name.
    std::panic::set_hook(Box::new(|_| {}));
    let tallies = attack(&classes, &program, args);
    let _ = std::panic::take_hook();
    print(&classes, &tallies, args.seed)
}

/// Runs the classes on all cores; the results are in the order of the classes.
fn attack(classes: &[&Class], program: &Path, args: &ChaosArgs) -> Vec<Tally> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((name, attack)) = classes.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let mut trial = Trial::new(program, args.seed, args.cases, name);
                    attack(&mut trial);
                    eprintln!("{name}: {} tried", trial.tally.tried());
                    results.lock().expect("no panic while it is held").push((*name, trial.tally));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("all threads have ended");
    results.sort_by_key(|(name, _)| classes.iter().position(|class| class.0 == *name));
    results.into_iter().map(|(_, tally)| tally).collect()
}

fn print(classes: &[&Class], tallies: &[Tally], seed: u64) -> XtaskResult {
    println!("\n| class | tried | held | reported | broken |\n|---|---:|---:|---:|---:|");
    let row = |name: &str, tally: &Tally| {
        println!(
            "| {name} | {} | {} | {} | {} |",
            tally.tried(),
            tally.held,
            tally.reported,
            tally.broken.len()
        );
    };
    let mut sum = Tally::default();
    for ((name, _), tally) in classes.iter().zip(tallies) {
        row(name, tally);
        sum.add(tally);
    }
    row("together", &sum);
    let empty: Vec<&str> = classes
        .iter()
        .zip(tallies)
        .filter(|(_, tally)| tally.tried() == 0)
        .map(|((name, _), _)| *name)
        .collect();
    if !empty.is_empty() {
        return Err(format!("nothing was tried of: {}", empty.join(", ")).into());
    }
    if sum.broken.is_empty() {
        return Ok(());
    }
    let mut text = String::new();
    for ((name, _), tally) in classes.iter().zip(tallies).filter(|(_, tally)| !tally.broken.is_empty()) {
        text.push_str(&format!("\n{name} (repeat with: cargo xtask chaos --seed {seed} --class {name:?})\n"));
        tally.broken.iter().for_each(|case| text.push_str(&format!("- {case}\n")));
    }
    Err(text.into())
}

/// Builds the program as the tests do: it is there already where they have run.
fn build() -> XtaskResult<PathBuf> {
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--quiet", "--locked", "-p", "lockstep-cli", "--bin", "lockstep"]);
    workspace::output(cargo)?;
    Ok(Metadata::load(&[])?.target_directory.join("debug/lockstep"))
}
