//! Path patterns, relative to the project's root: `*` and `?` within a name, `**` across directories. A
//! pattern that names a directory covers everything below it.

/// Returns the reason why a pattern is invalid.
pub(crate) fn problem(pattern: &str) -> Option<&'static str> {
    if pattern.trim().is_empty() {
        return Some("it is empty");
    }
    if pattern.contains(['[', ']', '{', '}', '\\', '!']) {
        return Some("only *, ? and ** have a meaning");
    }
    if pattern.starts_with('/') || pattern.split('/').any(|part| part == "..") {
        return Some("it must begin at the project's root and stay below it");
    }
    // Each `**` may match any number of directories, and all combinations are tried.
    if pattern.split('/').filter(|part| *part == "**").count() > 4 {
        return Some("it has more than four **");
    }
    None
}

/// Returns true if `pattern` covers `path`, which is relative to the root.
pub(crate) fn covers(pattern: &str, path: &str) -> bool {
    let parts = |text: &str| {
        text.split('/').filter(|part| !part.is_empty() && *part != ".").map(str::to_owned).collect::<Vec<_>>()
    };
    matches(&parts(pattern), &parts(path))
}

fn matches(pattern: &[String], path: &[String]) -> bool {
    match pattern.split_first() {
        // What remains of the path is below what the pattern names.
        None => true,
        Some((first, rest)) if first == "**" => {
            (0..=path.len()).any(|skipped| matches(rest, &path[skipped..]))
                && !(rest.is_empty() && path.is_empty())
        }
        Some((first, rest)) => match path.split_first() {
            Some((name, below)) => name_matches(first, name) && matches(rest, below),
            None => false,
        },
    }
}

/// Returns true if a name matches one part of a pattern. Without recursion: a star takes as little as it can, and more when it must.
pub fn name_matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => (p, n) = (p + 1, n + 1),
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    (p, n) = (at + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_table() {
        for (pattern, path, expected) in [
            ("src/**", "src/a/b.rs", true),
            ("src/**", "srcs/a.rs", false),
            ("src", "src/a/b.rs", true),
            ("src/", "src/a.rs", true),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/a/b.rs", false),
            ("**/*.rs", "a.rs", true),
            ("**/*.rs", "a/b/c.rs", true),
            ("**/test_?.py", "a/test_1.py", true),
            ("**/test_?.py", "a/test_10.py", false),
            ("src/**/mod.rs", "src/mod.rs", true),
            ("a.rs", "b/a.rs", false),
            ("./a.rs", "a.rs", true),
        ] {
            assert_eq!(covers(pattern, path), expected, "{pattern} of {path}");
        }
        for wrong in ["", " ", "/etc/**", "../x", "a/../b", "src/[ab].rs", "{a,b}", "!src"] {
            assert!(problem(wrong).is_some(), "{wrong}");
        }
    }

    /// The same by definition, however slow.
    fn slowly(pattern: &[char], name: &[char]) -> bool {
        match pattern.split_first() {
            None => name.is_empty(),
            Some(('*', rest)) => (0..=name.len()).any(|at| slowly(rest, &name[at..])),
            Some((c, rest)) => {
                name.split_first().is_some_and(|(n, below)| (*c == '?' || c == n) && slowly(rest, below))
            }
        }
    }

    proptest! {
        #[test]
        fn stars_mean_what_they_mean(pattern in "[ab*?]{0,8}", name in "[ab]{0,8}") {
            let expected = slowly(&pattern.chars().collect::<Vec<_>>(), &name.chars().collect::<Vec<_>>());
            prop_assert_eq!(name_matches(&pattern, &name), expected);
        }
    }
}
