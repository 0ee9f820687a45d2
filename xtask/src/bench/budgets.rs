//! The budgets compared with this run. A table, not a test: a busy machine is not a bug.

use std::fmt::Write as _;

use super::runner::{BenchRun, TargetResult};
use super::targets::TargetRole;

/// A journaling hook against the bare process.
const TIMES_BARE: f64 = 1.5;
/// The script against a journaling hook.
const TIMES_FASTER: f64 = 20.0;
const LARGE_SWEEP_MS: f64 = 60.0;
const HOOK_MB: f64 = 15.0;
/// A hook that delivers a part of the session cache against the bare process.
const DELIVER_TIMES_BARE: f64 = 2.0;
const REBUILD_MS: f64 = 20.0;
/// A gate of the steps against the bare process.
const GATE_TIMES_BARE: f64 = 3.0;
const PROMPT_CHECK_MS: f64 = 5.0;
/// The published times of the gates that this replaces: Python, nearly all of it the interpreter's start.
const PUBLISHED_GATES: &str = "84–102 ms";
/// A Node program against a build of the session cache.
const TIMES_FASTER_THAN_NODE: f64 = 5.0;

/// Each budget with what was measured, warm and one at a time, by the medians; the worst hook counts.
pub(super) fn table(race: &BenchRun, files: usize) -> String {
    let journal = worst(race, |one| one.role == TargetRole::Journal, |one| one.warm.median());
    let sweep = race.of(TargetRole::LargeSweep).warm.median();
    let listed = race.of(TargetRole::Listed).warm.median() / race.of(TargetRole::Bare).warm.median();
    let peak = worst(race, |one| one.role.is_hook(), |one| one.peak_kib as f64 / 1024.0);
    let median = |role| race.of(role).warm.median();
    let bare = journal / median(TargetRole::Bare);
    let faster = median(TargetRole::Script) / journal;
    let deliver = worst(race, |one| one.role == TargetRole::Deliver, |one| one.warm.median())
        / median(TargetRole::Bare);
    let rebuild = median(TargetRole::Rebuild);
    let gate_ms = worst(race, |one| one.role == TargetRole::Gate, |one| one.warm.median());
    let (gate, prompt_check) = (gate_ms / median(TargetRole::Bare), median(TargetRole::PromptCheck));
    let mut rows = vec![
        (
            format!("a journaling hook takes at most {TIMES_BARE} × a bare process"),
            format!("{bare:.2} ×"),
            bare <= TIMES_BARE,
        ),
        (
            format!("a journaling hook is at least {TIMES_FASTER} × faster than bash + jq"),
            format!("{faster:.0} × (one jq: {:.0} ×)", median(TargetRole::KindScript) / journal),
            faster >= TIMES_FASTER,
        ),
        (
            format!("a sweep of {files} files takes at most {LARGE_SWEEP_MS} ms"),
            format!("{sweep:.1} ms"),
            sweep <= LARGE_SWEEP_MS,
        ),
        (
            format!(
                "a command whose edits are listed takes at most {TIMES_BARE} × a bare process, {files} files"
            ),
            format!("{listed:.2} ×"),
            listed <= TIMES_BARE,
        ),
        (format!("a hook needs at most {HOOK_MB} MB"), format!("{peak:.1} MB"), peak <= HOOK_MB),
        (
            format!("a delivering hook takes at most {DELIVER_TIMES_BARE} × a bare process"),
            format!("{deliver:.2} ×"),
            deliver <= DELIVER_TIMES_BARE,
        ),
        (
            format!("an unchanged rebuild of a cache of 250 skills takes at most {REBUILD_MS} ms"),
            format!("{rebuild:.1} ms"),
            rebuild <= REBUILD_MS,
        ),
        (
            format!("a gate of the steps takes at most {GATE_TIMES_BARE} × a bare process"),
            format!("{gate:.2} × ({gate_ms:.1} ms; published for the Python original: {PUBLISHED_GATES})"),
            gate <= GATE_TIMES_BARE,
        ),
        (
            format!("a check of a prompt of 200 KB takes at most {PROMPT_CHECK_MS} ms, the process included"),
            format!("{prompt_check:.1} ms"),
            prompt_check <= PROMPT_CHECK_MS,
        ),
    ];
    // Without Node there is no comparison.
    if let Some(node) = race.results.iter().find(|one| one.role == TargetRole::NodeBuild) {
        let faster = node.warm.median() / median(TargetRole::Build);
        rows.push((
            format!(
                "a build of that cache is at least {TIMES_FASTER_THAN_NODE} × faster than a Node program"
            ),
            format!("{faster:.1} ×"),
            faster >= TIMES_FASTER_THAN_NODE,
        ));
    }
    let mut out = String::from("### Budgets\n\n| budget | measured | met |\n|---|---|---|\n");
    for (budget, measured, met) in rows {
        let _ = writeln!(out, "| {budget} | {measured} | {} |", if met { "yes" } else { "**no**" });
    }
    let linked = journal / median(TargetRole::BareLinked);
    let _ = writeln!(
        out,
        "\nAgainst a bare process of the product's own size, a journaling hook takes {linked:.2} ×."
    );
    out
}

fn worst(
    race: &BenchRun,
    counts: impl Fn(&TargetResult) -> bool,
    number: impl Fn(&TargetResult) -> f64,
) -> f64 {
    race.results.iter().filter(|one| counts(one)).map(number).fold(0.0, f64::max)
}
