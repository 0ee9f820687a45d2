//! The pure crates touch nothing: no disk, no process, no environment, no clock.

use super::{Rule, Violation};
use crate::workspace::SourceFile;

/// The crates that only turn values into values. The later ones are named before they come.
pub(super) const PURE_CRATES: &[&str] = &[
    "lockstep-cascade",
    "lockstep-model",
    "lockstep-wire",
    "lockstep-refs",
    "lockstep-steps",
    "lockstep-task",
    "lockstep-text",
];

pub(super) const PURE: Rule = Rule {
    asks: "The pure crates do not touch the disk, processes, the environment, the network or the clock.",
    why: "what they decide must be decided by their arguments alone: that is what makes it testable with tables, and \
          the same in a hook, on the command line and in a server. Take the value as an argument instead.",
    breaches: impure,
};

/// Modules of `std` that reach outside.
const MODULES: &[&str] = &["env", "fs", "net", "process"];

/// Types whose `now` is the clock; naming a moment is no reading of it.
const CLOCKS: &[&str] = &["SystemTime::now", "Instant::now", "Timestamp::now", "Zoned::now"];

fn impure(file: &SourceFile) -> Vec<Violation> {
    let pure = |name: &&str| file.path.starts_with(&format!("crates/{name}/src/"));
    if !file.path.ends_with(".rs") || !PURE_CRATES.iter().any(pure) {
        return Vec::new();
    }
    let code = file.text.lines().map(|line| line.split("//").next().unwrap_or(line));
    code.enumerate()
        .filter_map(|(index, line)| Some(Violation::on_line(file, index, format!("uses {}", outside(line)?))))
        .collect()
}

/// Returns the impure module or clock that a line uses.
fn outside(line: &str) -> Option<String> {
    if let Some(clock) = CLOCKS.iter().find(|clock| line.contains(*clock)) {
        return Some((*clock).to_owned());
    }
    let modules = line.match_indices("std::").map(|(at, found)| &line[at + found.len()..]);
    modules.into_iter().flat_map(named).find(|name| MODULES.contains(name)).map(|name| format!("std::{name}"))
}

/// The modules named behind `std::`: one, or those in braces.
fn named(rest: &str) -> Vec<&str> {
    match rest.strip_prefix('{') {
        Some(group) => group.split(',').map(|part| identifier(part.trim())).collect(),
        None => vec![identifier(rest)],
    }
}

fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches(path: &str, text: &str) -> usize {
        impure(&SourceFile { path: path.to_owned(), text: text.to_owned() }).len()
    }

    #[test]
    fn io_is_reported_in_pure_crates_only() {
        for line in [
            "use std::fs;",
            "use std::fs::File;",
            "let home = std::env::var(\"HOME\");",
            "use std::{fmt, process};",
            "std::process::exit(1)",
            "let at = SystemTime::now();",
        ] {
            assert_eq!(breaches("crates/lockstep-model/src/ids.rs", line), 1, "{line}");
            assert_eq!(breaches("crates/lockstep-store/src/log.rs", line), 0, "{line}");
        }
        for line in
            ["use std::fmt;", "// reads std::fs", "use std::path::Path;", "use std::time::SystemTime;"]
        {
            assert_eq!(breaches("crates/lockstep-wire/src/lib.rs", line), 0, "{line}");
        }
    }
}
