//! Paths in shell scripts whose absence the script expects: it tests for the file first, or only prints the path.

use crate::language::Language;
use crate::reference::{Kind, Reference};
use crate::world::{World, base};

/// Commands that print their arguments.
const PRINTING: &[&str] = &["echo", "printf", "log", "info", "warn", "error", "die", "fail", "usage"];
/// Tests that only an existing file passes.
const TESTS: &[&str] = &["-f ", "-e ", "-r ", "-s ", "-x ", "-d "];
/// The number of lines before a path in which its test may be.
const LINES_BEFORE: usize = 3;

/// Returns true if a script runs without the file that a path names.
pub(super) fn is_tested(world: &dyn World, reference: &Reference) -> bool {
    let is_path = matches!(reference.kind, Kind::Path | Kind::Import);
    if !is_path || Language::of(world.path(reference.file)) != Language::Bash {
        return false;
    }
    let Some(text) = world.text(reference.file) else { return false };
    let lines: Vec<&str> = text.lines().collect();
    let at = (reference.line as usize).saturating_sub(1);
    let name = base(&reference.pattern);
    let tests = |line: &&str| {
        let tested = TESTS.iter().find_map(|test| line.split_once(test));
        tested.is_some_and(|(before, after)| after.contains(name) && !before.trim_end().ends_with('!'))
    };
    let first = at.saturating_sub(LINES_BEFORE);
    let Some(line) = lines.get(at) else { return false };
    // The test is on the line of the path or opens the block around it.
    let opens = |line: &&str| line.trim_start().starts_with("if ") || line.trim_start().starts_with("elif ");
    let before = lines.get(first..at).unwrap_or_default();
    let is_open =
        before.iter().rev().take_while(|line| line.trim() != "fi").any(|line| opens(line) && tests(line));
    let command = line.split_whitespace().next().unwrap_or_default();
    let runs = line.contains("$(") || line.contains('`') || line.contains("| ");
    tests(line) || is_open || reference.kind == Kind::Path && PRINTING.contains(&command) && !runs
}
