//! `cargo xtask tidy`: the house rules that no compiler knows. Every rule says why it exists where it is broken.
//!
//! A rule is a function from the repository to its breaches, with tests that break it. All breaches are told at once.

mod layers;
mod names;
mod purity;
mod words;

use crate::Outcome;
use crate::metadata::Metadata;
use crate::workspace::{self, SourceFile};

/// A rule that something does not keep.
#[derive(Debug, PartialEq, Eq)]
struct Breach {
    /// The file, with its line where there is one, or the package.
    at: String,
    what: String,
}

impl Breach {
    fn new(at: impl Into<String>, what: impl Into<String>) -> Self {
        Self { at: at.into(), what: what.into() }
    }

    fn on_line(file: &SourceFile, index: usize, what: impl Into<String>) -> Self {
        Self::new(format!("{}:{}", file.path, index + 1), what)
    }
}

/// A rule about files: what it asks, why, and what breaks it.
struct Rule {
    asks: &'static str,
    why: &'static str,
    breaches: fn(&SourceFile) -> Vec<Breach>,
}

const RULES: &[Rule] = &[
    names::HEADER,
    names::NO_DRAWERS,
    purity::PURE,
    layers::RUNTIME_APART,
    words::NO_REGISTRIES,
    words::NO_MACHINES,
];

pub(crate) fn run() -> Outcome {
    let files = workspace::files()?;
    let mut told = Vec::new();
    for rule in RULES {
        tell(&mut told, rule.asks, rule.why, files.iter().flat_map(rule.breaches).collect());
    }
    let metadata = Metadata::load()?;
    tell(&mut told, layers::NO_RUNTIME, layers::NO_RUNTIME_WHY, layers::runtimes(&metadata));
    tell(&mut told, layers::PURE_BELOW, layers::PURE_BELOW_WHY, layers::impure_below_pure(&metadata));
    if told.is_empty() {
        println!("{} files keep {} house rules", files.len(), RULES.len() + 2);
        return Ok(());
    }
    Err(told.join("\n\n").into())
}

fn tell(told: &mut Vec<String>, asks: &str, why: &str, breaches: Vec<Breach>) {
    if breaches.is_empty() {
        return;
    }
    let lines: Vec<String> = breaches.iter().map(|Breach { at, what }| format!("  {at}: {what}")).collect();
    told.push(format!("{asks}\n{}\n  why: {why}", lines.join("\n")));
}
