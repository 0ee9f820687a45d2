//! The results as Markdown.

use std::fmt::Write as _;

use super::runner::{BenchRun, TargetResult};
use super::statistics::Times;
use super::targets::TargetRole;
use super::{BenchPlan, CONCURRENT_PROCESSES};

/// Every table, with a heading each.
pub(super) fn all(race: &BenchRun, plan: &BenchPlan) -> String {
    let mut out = String::new();
    let runs = plan.warm_runs;
    let _ = writeln!(out, "### Warm, one at a time ({runs} runs each)\n\n{}", warm(race));
    let _ = writeln!(
        out,
        "### Warm, {CONCURRENT_PROCESSES} at once ({} processes each)\n\n{}",
        plan.crowd_rounds as usize * CONCURRENT_PROCESSES,
        compared(race, |one| &one.crowd)
    );
    out.push_str("### Cold\n\n");
    match &race.not_cold {
        Some(why) => {
            let _ = writeln!(out, "Not measured ({why}).");
        }
        None => {
            let _ = write!(
                out,
                "One at a time, {} runs each, page cache, directory entries and inodes dropped before every run.\n\n{}",
                plan.cold_runs,
                cold(race)
            );
        }
    }
    out
}

fn warm(race: &BenchRun) -> String {
    let (bare, script) = (race.of(TargetRole::Bare).warm.median(), race.of(TargetRole::Script).warm.median());
    let mut out = String::from(
        "| process | p50 ms | p95 ms | p99 ms | × bare | bash + jq ÷ it | peak MB |\n|---|--:|--:|--:|--:|--:|--:|\n",
    );
    for one in &race.results {
        let (name, median) = (&one.name, one.warm.median());
        let peak = one.peak_kib as f64 / 1024.0;
        let _ = writeln!(
            out,
            "| {name} | {} | {:.2} | {:.1} | {peak:.1} |",
            percentiles(&one.warm),
            median / bare,
            script / median
        );
    }
    out
}

fn compared(race: &BenchRun, times: impl Fn(&TargetResult) -> &Times) -> String {
    let (bare, script) =
        (times(race.of(TargetRole::Bare)).median(), times(race.of(TargetRole::Script)).median());
    let mut out = String::from(
        "| process | p50 ms | p95 ms | p99 ms | × bare | bash + jq ÷ it |\n|---|--:|--:|--:|--:|--:|\n",
    );
    for one in &race.results {
        let median = times(one).median();
        let percentiles = percentiles(times(one));
        let _ =
            writeln!(out, "| {} | {percentiles} | {:.2} | {:.1} |", one.name, median / bare, script / median);
    }
    out
}

/// Too few runs for a p99; the slowest run is shown instead.
fn cold(race: &BenchRun) -> String {
    let bare = race.of(TargetRole::Bare).cold.median();
    let mut out = String::from("| process | p50 ms | slowest ms | × bare |\n|---|--:|--:|--:|\n");
    for one in race.results.iter().filter(|one| !one.cold.is_empty()) {
        let (median, slowest) = (one.cold.median(), one.cold.percentile(100));
        let _ = writeln!(out, "| {} | {median:.1} | {slowest:.1} | {:.2} |", one.name, median / bare);
    }
    out
}

fn percentiles(times: &Times) -> String {
    [50, 95, 99].map(|percent| format!("{:.2}", times.percentile(percent))).join(" | ")
}
