//! Inputs and outputs of actions and reusable workflows, in the workflows that use them.

use super::{Name, NameKind};
use crate::language::Language;
use crate::world::{base, parent};

/// The lines of a file that give an input of an action or a workflow, or that read its output.
pub(super) fn uses(path: &str, text: &str, manifest: &str, name: &Name) -> Vec<u32> {
    if Language::of(path) != Language::Yaml {
        return Vec::new();
    }
    let is_output = name.kind == NameKind::Output;
    let reads = |line: &str| {
        let section = if is_output { "outputs" } else { "inputs" };
        let access = format!("{section}.{}", name.name);
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
        line.match_indices(&access).any(|(at, _)| !line[at + access.len()..].starts_with(is_part))
    };
    let lines: Vec<&str> = text.lines().collect();
    let used: Vec<usize> = (0..lines.len()).filter(|at| is_used(lines[*at], manifest)).collect();
    let mut found: Vec<usize> = Vec::new();
    if path == manifest && !is_output || is_output && !used.is_empty() {
        found.extend((0..lines.len()).filter(|at| reads(lines[*at])));
    }
    if !is_output {
        found.extend(used.into_iter().filter_map(|at| input_below(&lines, at, &name.name)));
    }
    found.into_iter().filter_map(|at| u32::try_from(at + 1).ok()).collect()
}

/// Returns true if a line uses the action or the workflow that a manifest defines.
fn is_used(line: &str, manifest: &str) -> bool {
    let line = line.trim_start().trim_start_matches("- ");
    let Some(used) = line.strip_prefix("uses:") else { return false };
    let used = used.split(" #").next().unwrap_or(used).trim().trim_matches(['"', '\'']);
    let target = if base(manifest).starts_with("action.") { parent(manifest) } else { manifest };
    used.strip_prefix("./").is_some_and(|strip_prefix| strip_prefix.trim_end_matches('/') == target)
}

/// The line below `uses:` that gives an input: a key of the map `with:` of the same step or job.
fn input_below(lines: &[&str], at: usize, name: &str) -> Option<usize> {
    let column =
        |line: &str| line.find("uses:").or_else(|| line.find(|c: char| c != ' ')).unwrap_or_default();
    let own = column(lines.get(at)?);
    let is_blank = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let below = (at + 1..lines.len()).filter(|at| !is_blank(lines[*at]));
    let own_keys = below.take_while(|at| indent(lines[*at]) >= own);
    let mut is_with = false;
    for at in own_keys {
        let line = lines[at];
        if indent(line) == own {
            is_with = line.trim() == "with:";
        } else if is_with
            && line.trim().strip_prefix(name).is_some_and(|strip_prefix| strip_prefix.starts_with(':'))
        {
            return Some(at);
        }
    }
    None
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}
