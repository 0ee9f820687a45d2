//! Path patterns, relative to a root: `*` and `?` within a name, `**` across directories. A pattern that names a directory covers
//! everything below it.
//!
//! `globset` compiles a pattern to a regular expression, which takes longer than the few comparisons of a hook, and its `?` is a
//! byte, not a character.

/// Returns true if `pattern` covers `path`. Both are relative to the root. Each `**` may match any number of directories, and all
/// combinations are tried, so callers limit their number.
pub fn covers(pattern: &str, path: &str) -> bool {
    fn parts(text: &str) -> Vec<&str> {
        text.split('/').filter(|part| !part.is_empty() && *part != ".").collect()
    }
    matches(&parts(pattern), &parts(path))
}

fn matches(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        // The rest of the path is below the named directory.
        (None, _) => true,
        (Some((&"**", rest)), _) => {
            !(rest.is_empty() && path.is_empty())
                && (0..=path.len()).any(|skipped| matches(rest, &path[skipped..]))
        }
        (Some((first, rest)), Some((name, below))) => name_matches(first, name) && matches(rest, below),
        (Some(_), None) => false,
    }
}

/// Returns true if a name matches one part of a pattern. A star matches as little as possible, and more if necessary, so that no
/// pattern takes long.
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
            ("**/test_?.py", "a/test_ä.py", true),
            ("**/test_?.py", "a/test_10.py", false),
            ("src/**/mod.rs", "src/mod.rs", true),
            ("a.rs", "b/a.rs", false),
            ("./a.rs", "a.rs", true),
        ] {
            assert_eq!(covers(pattern, path), expected, "{pattern} of {path}");
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
        fn stars_match_like_the_reference_matcher(pattern in "[ab*?]{0,8}", name in "[ab]{0,8}") {
            let expected = slowly(&pattern.chars().collect::<Vec<_>>(), &name.chars().collect::<Vec<_>>());
            prop_assert_eq!(name_matches(&pattern, &name), expected);
        }
    }
}
