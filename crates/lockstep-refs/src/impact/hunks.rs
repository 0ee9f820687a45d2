//! Changed lines between two contents.

use std::ops::Range;

use similar::{Algorithm, DiffTag, capture_diff_slices};

/// Longer texts count as one changed block between their common beginning and end.
const MAX_LINES: usize = 20_000;

/// A block of lines that was replaced by another; lines are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hunk {
    pub(super) old: Range<u32>,
    pub(super) new: Range<u32>,
}

/// The changed lines between two contents, in order.
#[derive(Debug, Clone, Default)]
pub(super) struct Hunks(Vec<Hunk>);

impl Hunks {
    pub(super) fn between(old: &str, new: &str) -> Self {
        let (before, now): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        let line = |at: usize| u32::try_from(at).unwrap_or(u32::MAX - 1) + 1;
        let lines = |range: Range<usize>| line(range.start)..line(range.end);
        if before.len().max(now.len()) > MAX_LINES {
            let start = before.iter().zip(&now).take_while(|(a, b)| a == b).count();
            let rest = before[start..].iter().rev().zip(now[start..].iter().rev());
            let end = rest.take_while(|(a, b)| a == b).count();
            return Self(vec![Hunk {
                old: lines(start..before.len() - end),
                new: lines(start..now.len() - end),
            }]);
        }
        let changed = capture_diff_slices(Algorithm::Myers, &before, &now);
        let hunk = |(tag, old, new): (DiffTag, Range<usize>, Range<usize>)| {
            (tag != DiffTag::Equal).then(|| Hunk { old: lines(old), new: lines(new) })
        };
        Self(changed.iter().filter_map(|op| hunk(op.as_tag_tuple())).collect())
    }

    /// Returns true if one of the lines from `first` to `last` of the new content was changed or added.
    pub(super) fn touches_new(&self, first: u32, last: u32) -> bool {
        self.0.iter().any(|hunk| hunk.new.start <= last && first < hunk.new.end)
    }

    /// The changed or added lines of the new content.
    pub(super) fn new_lines(&self) -> Vec<Range<u32>> {
        self.0.iter().map(|hunk| hunk.new.clone()).collect()
    }

    /// Returns true if one of the lines from `first` to `last` of the old content was changed or removed.
    pub(super) fn touches_old(&self, first: u32, last: u32) -> bool {
        self.0.iter().any(|hunk| hunk.old.start <= last && first < hunk.old.end)
    }

    /// Returns true if changed lines of the new content end directly before `line`.
    pub(super) fn ends_before(&self, line: u32) -> bool {
        self.0.iter().any(|hunk| hunk.new.end == line && !hunk.new.is_empty())
    }

    /// The first changed line of the new content.
    pub(super) fn first_new(&self) -> Option<u32> {
        self.0.first().map(|hunk| hunk.new.start)
    }

    /// Returns the new lines that correspond to these old ones.
    pub(super) fn to_new(&self, (first, last): (u32, u32)) -> (u32, u32) {
        mapped(self.0.iter().map(|hunk| (&hunk.old, &hunk.new)), first, last)
    }

    /// Returns the old lines that correspond to these new ones.
    pub(super) fn to_old(&self, (first, last): (u32, u32)) -> (u32, u32) {
        mapped(self.0.iter().map(|hunk| (&hunk.new, &hunk.old)), first, last)
    }
}

fn mapped<'h>(
    hunks: impl Iterator<Item = (&'h Range<u32>, &'h Range<u32>)>,
    first: u32,
    last: u32,
) -> (u32, u32) {
    let (mut start, mut end) = (i64::from(first), i64::from(last));
    for (from, to) in hunks {
        let shift = i64::from(to.end) - i64::from(from.end);
        if from.contains(&first) {
            start = i64::from(to.start);
        } else if from.end <= first {
            start = i64::from(first) + shift;
        }
        if from.contains(&last) {
            end = (i64::from(to.end) - 1).max(i64::from(to.start));
        } else if from.end <= last {
            end = i64::from(last) + shift;
        }
    }
    let line = |at: i64| u32::try_from(at.max(1)).unwrap_or(u32::MAX);
    (line(start), line(end.max(start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_mapped_through_changes() {
        let hunks = Hunks::between("a\nb\nc\nd\n", "x\na\nB\nB2\nc\nd\n");
        assert_eq!(hunks.to_new((1, 1)), (2, 2));
        assert_eq!(hunks.to_new((2, 2)), (3, 4));
        assert_eq!(hunks.to_new((4, 4)), (6, 6));
        assert_eq!(hunks.to_old((4, 6)), (2, 4));
        assert!(hunks.touches_new(3, 3) && !hunks.touches_new(5, 6));
        assert!(hunks.touches_old(2, 3) && !hunks.touches_old(3, 4));
    }
}
