//! `cargo xtask tidy`: house rules that no compiler checks. A breach is reported with the reason of its rule.
//!
//! A rule is a function from the repository to its breaches, with tests that break it. All breaches are reported at once.

mod architecture;
mod dependencies;
mod file_names;
mod forbidden_strings;
mod length;
mod prose;
mod purity;

use crate::XtaskResult;
use crate::metadata::Metadata;
use crate::workspace::{self, SourceFile};

/// A rule that something does not keep.
#[derive(Debug, PartialEq, Eq)]
struct Violation {
    /// The file, with its line where there is one, or the package.
    at: String,
    what: String,
}

impl Violation {
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
    breaches: fn(&SourceFile) -> Vec<Violation>,
}

const RULES: &[Rule] = &[
    file_names::HEADER,
    file_names::NO_DRAWERS,
    purity::PURE,
    dependencies::RUNTIME_APART,
    dependencies::SYSTEM_APART,
    prose::PLAIN_WORDS,
    forbidden_strings::NO_REGISTRIES,
    forbidden_strings::NO_MACHINES,
];

/// Check the house rules that no compiler checks
#[derive(Debug, clap::Args)]
pub(crate) struct TidyArgs {
    /// Lower the allowances in xtask/tidy to what the code needs now
    #[arg(long)]
    tighten: bool,
}

pub(crate) fn run(args: &TidyArgs) -> XtaskResult {
    let files = workspace::files()?;
    if args.tighten {
        prose::tighten(&files)?;
        length::tighten(&files)?;
    }
    let mut lines = Vec::new();
    for rule in RULES {
        report(&mut lines, rule.asks, rule.why, files.iter().flat_map(rule.breaches).collect());
    }
    let metadata = Metadata::load(&[])?;
    report(
        &mut lines,
        dependencies::NO_RUNTIME,
        dependencies::NO_RUNTIME_WHY,
        dependencies::runtimes(&metadata),
    );
    report(
        &mut lines,
        dependencies::PURE_BELOW,
        dependencies::PURE_BELOW_WHY,
        dependencies::impure_below_pure(&metadata),
    );
    report(&mut lines, prose::NO_QUESTIONS, prose::NO_QUESTIONS_WHY, prose::breaches(&files)?);
    report(&mut lines, length::SHORT_FILES, length::SHORT_FILES_WHY, length::breaches(&files)?);
    report(
        &mut lines,
        architecture::REAL_FUNCTIONS,
        architecture::REAL_FUNCTIONS_WHY,
        architecture::breaches(&files),
    );
    if lines.is_empty() {
        println!("{} files keep {} house rules", files.len(), RULES.len() + 5);
        return Ok(());
    }
    Err(lines.join("\n\n").into())
}

fn report(output: &mut Vec<String>, asks: &str, why: &str, breaches: Vec<Violation>) {
    if breaches.is_empty() {
        return;
    }
    let lines: Vec<String> =
        breaches.iter().map(|Violation { at, what }| format!("  {at}: {what}")).collect();
    output.push(format!("{asks}\n{}\n  why: {why}", lines.join("\n")));
}
