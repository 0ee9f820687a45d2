//! `cargo xtask licences`: every package in the lock file may be shipped under this project's terms.

use crate::XtaskResult;
use crate::metadata::Metadata;

/// Licences that require only their notice. A licence with conditions on our own sources (MPL, LGPL, GPL)
/// needs a decision, so it is not listed until a package needs it.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

pub(crate) fn run() -> XtaskResult {
    let metadata = Metadata::load(&[])?;
    let problems: Vec<String> = metadata
        .packages
        .iter()
        .filter_map(|package| {
            let license = package.license.as_deref();
            let why = match license {
                None => "names no licence".to_owned(),
                Some(license) if !is_allowed(license) => format!("is under {license}"),
                Some(_) => return None,
            };
            Some(format!("  {} {} {why}", package.name, package.version))
        })
        .collect();
    if problems.is_empty() {
        println!("{} packages, all under licences that may be shipped", metadata.packages.len());
        return Ok(());
    }
    Err(format!(
        "these packages may not be shipped as things stand:\n{}\nThe program is MIT OR Apache-2.0, and whoever gets it must \
         be able to rely on that. Use another package, or, if its terms are acceptable, add the licence to ALLOWED in \
         xtask/src/licences.rs and say why in the commit.",
        problems.join("\n")
    )
    .into())
}

/// Returns true if an SPDX expression leaves an allowed choice. An unreadable expression does not.
fn is_allowed(expression: &str) -> bool {
    // Old manifests write `MIT/Apache-2.0` for `MIT OR Apache-2.0`.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    any_of(&mut words) == Some(true) && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn any_of(words: &mut Words<'_>) -> Option<bool> {
    let mut allowed = all_of(words)?;
    while words.next_if_eq(&"OR").is_some() {
        allowed |= all_of(words)?;
    }
    Some(allowed)
}

fn all_of(words: &mut Words<'_>) -> Option<bool> {
    let mut allowed = one(words)?;
    while words.next_if_eq(&"AND").is_some() {
        allowed &= one(words)?;
    }
    Some(allowed)
}

/// Returns `None` if the expression is invalid.
fn one(words: &mut Words<'_>) -> Option<bool> {
    let licence = words.next()?;
    if licence == "(" {
        let allowed = any_of(words);
        return words.next_if_eq(&")").and(allowed);
    }
    if words.next_if_eq(&"WITH").is_some() {
        return Some(ALLOWED.contains(&format!("{licence} WITH {}", words.next()?).as_str()));
    }
    Some(ALLOWED.contains(&licence))
}

#[cfg(test)]
mod tests {
    use super::is_allowed;

    #[test]
    fn a_choice_suffices_and_a_conjunction_needs_both() {
        for allowed in [
            "MIT",
            "MIT/Apache-2.0",
            "GPL-3.0-only OR MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0-only",
            "MIT OR GPL-3.0-only AND GPL-2.0-only",
        ] {
            assert!(is_allowed(allowed), "{allowed}");
        }
        for refused in [
            "",
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "(MIT OR ISC) AND LGPL-2.1-or-later",
            "GPL-3.0-only WITH Classpath-exception-2.0",
            "MIT OR",
            "(MIT",
            "MIT ISC",
        ] {
            assert!(!is_allowed(refused), "{refused}");
        }
    }
}
