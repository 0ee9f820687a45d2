//! Moves by content: matches new files with deleted ones, like `git diff -M`.
//!
//! Equal contents come first. For the rest, contents are split into lines, and two files match if at least
//! half of the larger one is in both. Pure: the caller reads the contents.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

/// Two contents are one file if so many percent of the larger one are in both.
const MIN_SIMILARITY: usize = 50;

/// With more pairs, only equal contents are matched. Git's own limit is of the same size.
const MAX_PAIRS: usize = 100_000;

/// Longer contents are compared for equality only.
const MAX_BYTES: usize = 1 << 20;

/// A file that appeared or vanished.
#[derive(Debug, Clone)]
pub struct Candidate<'a> {
    pub path: &'a str,
    pub content: &'a [u8],
}

/// Pairs files that vanished with files that appeared, as indexes into both lists. Each file is in at most one pair.
pub fn pairs(vanished: &[Candidate<'_>], appeared: &[Candidate<'_>]) -> Vec<(usize, usize)> {
    let mut pairing = Pairing { from: vec![None; appeared.len()], taken: vec![false; vanished.len()] };
    equal_pairs(vanished, appeared, &mut pairing);
    similar_pairs(vanished, appeared, &mut pairing);
    let found = pairing.from.iter().enumerate().filter_map(|(to, from)| Some(((*from)?, to)));
    found.collect()
}

struct Pairing {
    /// The source of each new file.
    from: Vec<Option<usize>>,
    /// For each file that vanished, whether it is in a pair.
    taken: Vec<bool>,
}

impl Pairing {
    fn is_open(&self, from: usize, to: usize) -> bool {
        !self.taken[from] && self.from[to].is_none()
    }

    fn pair(&mut self, from: usize, to: usize) {
        self.from[to] = Some(from);
        self.taken[from] = true;
    }
}

fn name(path: &str) -> Option<&str> {
    Path::new(path).file_name()?.to_str()
}

/// Empty files are all equal and prove nothing.
fn equal_pairs(vanished: &[Candidate<'_>], appeared: &[Candidate<'_>], pairing: &mut Pairing) {
    let mut by_content: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (at, file) in vanished.iter().enumerate().filter(|(_, file)| !file.content.is_empty()) {
        by_content.entry(file.content).or_default().push(at);
    }
    for same_name in [true, false] {
        for (to, file) in appeared.iter().enumerate() {
            let equal = by_content.get(file.content).map_or(&[][..], Vec::as_slice);
            let fits = |from: &&usize| {
                pairing.is_open(**from, to) && (!same_name || name(vanished[**from].path) == name(file.path))
            };
            if let Some(from) = equal.iter().find(fits).copied() {
                pairing.pair(from, to);
            }
        }
    }
}

fn similar_pairs(vanished: &[Candidate<'_>], appeared: &[Candidate<'_>], pairing: &mut Pairing) {
    let open = |file: &Candidate<'_>| is_text(file.content);
    let from: Vec<usize> =
        (0..vanished.len()).filter(|at| !pairing.taken[*at] && open(&vanished[*at])).collect();
    let to: Vec<usize> =
        (0..appeared.len()).filter(|at| pairing.from[*at].is_none() && open(&appeared[*at])).collect();
    if from.len().saturating_mul(to.len()) > MAX_PAIRS {
        return;
    }
    let lines = |files: &[Candidate<'_>], chosen: &[usize]| -> HashMap<usize, Lines> {
        chosen.iter().map(|at| (*at, Lines::new(files[*at].content))).collect()
    };
    let (old, new) = (lines(vanished, &from), lines(appeared, &to));
    let mut scored = Vec::new();
    for (from, to) in from.iter().flat_map(|from| to.iter().map(move |to| (*from, *to))) {
        let similarity = old[&from].similarity(&new[&to]);
        if similarity >= MIN_SIMILARITY {
            let same_name = name(vanished[from].path) == name(appeared[to].path);
            scored.push((similarity, same_name, from, to));
        }
    }
    // The most similar first; among equals, those with the same name.
    scored.sort_by(|a, b| (b.0, b.1).cmp(&(a.0, a.1)).then((a.2, a.3).cmp(&(b.2, b.3))));
    for (_, _, from, to) in scored {
        if pairing.is_open(from, to) {
            pairing.pair(from, to);
        }
    }
}

fn is_text(content: &[u8]) -> bool {
    !content.is_empty() && content.len() <= MAX_BYTES && !content.contains(&0)
}

/// The lines of a content, as how many bytes each has in all its occurrences.
struct Lines {
    bytes: HashMap<u64, usize>,
    size: usize,
}

impl Lines {
    fn new(content: &[u8]) -> Self {
        let mut bytes: HashMap<u64, usize> = HashMap::new();
        for line in content.split_inclusive(|byte| *byte == b'\n') {
            let mut hasher = DefaultHasher::new();
            line.trim_ascii_end().hash(&mut hasher);
            *bytes.entry(hasher.finish()).or_default() += line.len();
        }
        Self { bytes, size: content.len() }
    }

    /// Returns how much of the larger one is in both, in percent.
    fn similarity(&self, other: &Self) -> usize {
        let (small, large) = (self.size.min(other.size), self.size.max(other.size));
        if small * 100 < large * MIN_SIMILARITY {
            return 0;
        }
        let common: usize = self
            .bytes
            .iter()
            .map(|(line, bytes)| other.bytes.get(line).map_or(0, |there| (*bytes).min(*there)))
            .sum();
        common * 100 / large.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(vanished: &[(&str, &str)], appeared: &[(&str, &str)]) -> Vec<(usize, usize)> {
        let files = |list: &'_ [(&'static str, &'static str)]| -> Vec<Candidate<'static>> {
            list.iter().map(|(path, text)| Candidate { path, content: text.as_bytes() }).collect()
        };
        // The lists are literals.
        let leak = |list: &[(&str, &str)]| -> Vec<(&'static str, &'static str)> {
            list.iter().map(|(a, b)| (&*a.to_string().leak(), &*b.to_string().leak())).collect()
        };
        pairs(&files(&leak(vanished)), &files(&leak(appeared)))
    }

    #[test]
    fn equal_contents_are_a_move_and_the_name_decides_between_several() {
        assert_eq!(found(&[("a", "x\n"), ("d/b", "x\n")], &[("e/b", "x\n"), ("c", "x\n")]), [(1, 0), (0, 1)]);
        assert_eq!(found(&[("a", "")], &[("b", "")]), [], "empty files prove nothing");
    }

    #[test]
    fn similar_contents_are_a_move_and_others_are_not() {
        let old = "one\ntwo\nthree\nfour\nfive\nsix\n";
        assert_eq!(found(&[("a", old)], &[("b", "one\ntwo\n3\nfour\nfive\nsix\n")]), [(0, 0)]);
        assert_eq!(found(&[("a", old)], &[("b", "alpha\nbeta\ngamma\nfour\n")]), []);
        let closer = "one\ntwo\nthree\nfour\nfive\n6\n";
        assert_eq!(found(&[("a", old)], &[("b", "one\ntwo\nthree\n4\n5\nsix\n"), ("c", closer)]), [(0, 1)]);
    }

    #[test]
    fn binary_contents_are_compared_as_a_whole() {
        assert_eq!(found(&[("a", "\0one\ntwo\n")], &[("b", "\0one\n2\n"), ("c", "\0one\ntwo\n")]), [(0, 1)]);
    }
}
