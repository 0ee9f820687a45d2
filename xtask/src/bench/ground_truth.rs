//! `cargo xtask bench impact`: our answers compared with the compiler's.
//!
//! One definition of a package from a registry is changed, and the compiler reports the other files that it
//! now rejects: that is the truth. A language takes part by implementing [`LanguageBench`]; everything else is
//! shared.

mod baselines;
mod cases;
mod checker;
mod checker_process;
mod graph_tools;
mod language;
mod python;
mod rust;
mod score;
mod syntax_edits;
mod tables;
mod temporary_edit;
mod typescript;
mod verdict_cache;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lockstep_refs::entity::Aliases;
use lockstep_refs::impact::{After, Before, Dependent, Edit, Question, impact};
use lockstep_refs::world::{MemoryWorld, World};

use super::{environment, results_page};
use crate::XtaskResult;
use cases::Case;
pub(super) use cases::SplitMix64;
pub(super) use checker::install;
use graph_tools::GraphTool;
use language::{BenchPackage, LanguageBench, PreparedPackage};
use score::{Answerer, ScoredCase};

/// Measure how well the impact of a change is known, against compilers
///
/// Packages are fetched with each language's own client into a cache outside the repository, and changed only there.
#[derive(Debug, clap::Args)]
pub(crate) struct ImpactArgs {
    /// One small package and few changes, to see that the benchmark works
    #[arg(long, conflicts_with = "write")]
    smoke: bool,
    /// Seed of the choice of changes
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of changes of each kind in each package
    #[arg(long, default_value_t = 15)]
    cases: usize,
    /// Only packages whose name contains this
    #[arg(long, value_name = "NAME")]
    package: Option<String>,
    /// A package that is not in the list: NAME@VERSION, with its language
    #[arg(long, value_name = "NAME@VERSION", requires = "language", conflicts_with_all = ["package", "known", "smoke"])]
    other: Option<String>,
    /// Only packages that rules were made with, without those that are held out
    #[arg(long)]
    known: bool,
    /// Only this language
    #[arg(long, value_name = "NAME")]
    language: Option<String>,
    /// Ask those graph tools too that are a process for every change: codegraph, code-review-graph
    #[arg(long)]
    tools: bool,
    /// Show every wrong answer
    #[arg(long)]
    wrong: bool,
    /// Put the results into docs/benchmarks/impact.md
    #[arg(long)]
    write: bool,
}

fn subjects() -> Vec<Box<dyn LanguageBench>> {
    vec![Box::new(rust::Rust), Box::new(python::Python), Box::new(typescript::TypeScript)]
}

pub(crate) fn run(args: &ImpactArgs) -> XtaskResult {
    let cache = cache()?;
    let mut judged = Vec::new();
    for subject in subjects() {
        let language = subject.language();
        if args.language.as_deref().is_some_and(|wanted| !wanted.eq_ignore_ascii_case(language)) {
            continue;
        }
        for package in packages(subject.as_ref(), args)? {
            eprintln!("{language}: {} {}", package.name, package.version);
            judged.extend(measure(subject.as_ref(), package, &cache, args)?);
        }
    }
    if args.wrong {
        print!("{}", tables::wrong(&judged));
    }
    let languages: BTreeSet<&str> = judged.iter().map(|judged| judged.language).collect();
    for language in languages {
        let report =
            format!("{}\n{}", environment::describe(&command_line(args)), tables::of(language, &judged));
        println!("{report}");
        if args.write {
            // Each by itself: to ask a compiler about all packages of a language takes long enough.
            results_page::write(&format!("impact --language {}", language.to_lowercase()), &report)?;
        }
    }
    Ok(())
}

fn packages<'s>(subject: &'s dyn LanguageBench, args: &ImpactArgs) -> XtaskResult<Vec<&'s BenchPackage>> {
    if let Some(other) = &args.other {
        let (name, version) =
            other.rsplit_once('@').ok_or("--other takes a name and a version: serde_json@1.0.154")?;
        // The names in the list are static too.
        let package = BenchPackage {
            name: String::leak(name.to_owned()),
            version: String::leak(version.to_owned()),
            held_out: true,
            small: false,
        };
        return Ok(vec![Box::leak(Box::new(package))]);
    }
    let named =
        |package: &BenchPackage| args.package.as_deref().is_none_or(|part| package.name.contains(part));
    let wanted = |package: &&BenchPackage| named(package) && !(args.known && package.held_out);
    let mut packages: Vec<&BenchPackage> = subject.packages().iter().filter(wanted).collect();
    if args.smoke {
        packages.sort_by_key(|package| !package.small);
        packages.truncate(1);
    }
    Ok(packages)
}

/// Gets the answers of all tools for every case of a package.
fn measure(
    subject: &dyn LanguageBench,
    package: &BenchPackage,
    cache: &Path,
    args: &ImpactArgs,
) -> XtaskResult<Vec<ScoredCase>> {
    let prepared = subject.prepare(package, cache)?;
    let texts: Vec<(String, String)> = prepared.read()?;
    let world = MemoryWorld::new(texts.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let each = if args.smoke { 1 } else { args.cases };
    let cases = cases::choose(subject, &prepared, &world, args.seed, each);
    let mut judged = Vec::new();
    let tools = ready(subject.language(), args, &prepared, cache);
    let truths = verdict_cache::truths(subject, &prepared, &cases, cache)?;
    for (case, truth) in cases.into_iter().zip(truths) {
        let seen = |answer: BTreeSet<String>| answer.into_iter().filter(|path| *path != case.file).collect();
        let evidence = ours(&world, &case);
        let mut answers: BTreeMap<Answerer, BTreeSet<String>> = [
            (Answerer::Ours, evidence.keys().cloned().collect()),
            (Answerer::Word, seen(baselines::word(&texts, &case.symbol.name))),
            (Answerer::Basename, seen(baselines::basename(&texts, &case.file))),
        ]
        .into();
        for (who, tool) in &tools {
            answers.insert(*who, tool.answer(&prepared, &case)?);
        }
        judged.push(ScoredCase {
            language: subject.language(),
            package: package.name,
            held_out: package.held_out,
            answers,
            truth,
            evidence,
            case,
        });
    }
    Ok(judged)
}

/// Returns the graph tools that can be run on a package. The others are reported and left out.
fn ready(
    language: &str,
    args: &ImpactArgs,
    prepared: &PreparedPackage,
    cache: &Path,
) -> Vec<(Answerer, GraphTool)> {
    let mut tools = Vec::new();
    for which in Answerer::tools(language) {
        if which.is_slow() && !args.tools {
            continue;
        }
        match GraphTool::ready(*which, prepared, cache) {
            Ok(tool) => tools.push((*which, tool)),
            Err(error) => eprintln!("  {} is not there: {error}", which.word()),
        }
    }
    tools
}

/// Returns the files that `lockstep impact` reports as broken, with the line of evidence.
fn ours(world: &dyn World, case: &Case) -> BTreeMap<String, String> {
    let edits = [Edit {
        path: case.file.clone(),
        former: None,
        before: Before::Text(Arc::from(case.old.as_str())),
        after: After::Text(Arc::from(case.new.as_str())),
    }];
    let aliases = Aliases::default();
    let impact = impact(world, &Question { edits: &edits, aliases: &aliases, is_over: &|| false });
    let breaking = impact.dependents().filter(|(_, dependent)| dependent.breaks);
    let describe = |dependent: &Dependent| {
        let first = dependent.evidence.iter().find(|place| place.breaks);
        let line = first.map(|candidate| {
            format!("{} {} {:?}", candidate.line, candidate.text.trim(), candidate.certainty)
        });
        (dependent.path.clone(), line.unwrap_or_default())
    };
    breaking.map(|(_, dependent)| describe(dependent)).collect()
}

/// Returns the cache directory of packages and compiler results.
pub(super) fn cache() -> XtaskResult<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))
        .ok_or("neither XDG_CACHE_HOME nor HOME is set, so there is no place for the packages")?;
    let cache = base.join("lockstep").join("truth");
    std::fs::create_dir_all(&cache).map_err(|error| format!("{}: {error}", cache.display()))?;
    Ok(cache)
}

fn command_line(args: &ImpactArgs) -> String {
    let smoke = if args.smoke { " --smoke (too few cases to mean anything)" } else { "" };
    let package = args.package.as_ref().map(|name| format!(" --package {name}")).unwrap_or_default();
    let language = args.language.as_ref().map(|name| format!(" --language {name}")).unwrap_or_default();
    let other = args.other.as_ref().map(|other| format!(" --other {other}")).unwrap_or_default();
    let known = if args.known { " --known" } else { "" };
    let tools = if args.tools { " --tools" } else { "" };
    format!(
        "cargo xtask bench impact --seed {} --cases {}{language}{package}{other}{known}{tools}{smoke}",
        args.seed, args.cases
    )
}
