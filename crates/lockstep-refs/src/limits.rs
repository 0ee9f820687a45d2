//! Limits of resolution that were reached. A limit keeps one question from taking minutes; what lies behind it is not looked at, so an
//! answer names the limits that it met.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Files that contain a name.
    Files,
    /// Types that extend a type.
    Subtypes,
    /// Changed definitions without which types are evaluated again.
    Removals,
    /// Names by which a type is known.
    Names,
    /// Re-exports behind one another.
    Hops,
    /// Evaluations inside one another.
    Steps,
    Types,
    /// Functions that take functions.
    Depth,
    /// Files that a file includes.
    Includes,
    /// Changed lines that are compared with the former ones.
    Lines,
    /// Stored uses of a file that cannot be decoded.
    StoredUses,
}

impl Limit {
    fn words(self) -> &'static str {
        match self {
            Self::Files => "files with a name",
            Self::Subtypes => "types that extend a type",
            Self::Removals => "removed definitions",
            Self::Names => "names of a type",
            Self::Hops => "re-exports in a row",
            Self::Steps => "steps to a type",
            Self::Types => "types of a value",
            Self::Depth => "functions in functions",
            Self::Includes => "included files",
            Self::Lines => "lines compared for renamed names",
            Self::StoredUses => "stored uses that cannot be decoded",
        }
    }

    /// Counts that this thread reached it.
    pub(crate) fn reach(self) {
        REACHED.with_borrow_mut(|reached| *reached.0.entry(self).or_default() += 1);
    }

    /// The first files of those that contain a name, up to `most`. Counts if there are more.
    pub(crate) fn first<T>(mut files: Vec<T>, most: usize) -> Vec<T> {
        if files.len() > most {
            Self::Files.reach();
            files.truncate(most);
        }
        files
    }

    /// The first items of a list, up to `most`. Counts if the next one is asked for too, and exists.
    pub(crate) fn take<T>(self, items: impl IntoIterator<Item = T>, most: usize) -> impl Iterator<Item = T> {
        let mut items = items.into_iter();
        let mut left = Some(most);
        std::iter::from_fn(move || {
            let item = left.and_then(|_| items.next());
            left = left.filter(|_| item.is_some());
            if left == Some(0) {
                self.reach();
                left = None;
            }
            left = left.map(|left| left - 1);
            item.filter(|_| left.is_some())
        })
    }
}

thread_local! {
    static REACHED: RefCell<Limits> = const { RefCell::new(Limits(BTreeMap::new())) };
}

/// The number of times each limit was reached.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct Limits(BTreeMap<Limit, u64>);

impl Limits {
    /// Returns the limits that this thread reached since it began.
    pub fn of_thread() -> Self {
        REACHED.with_borrow(Self::clone)
    }

    /// Returns the limits that were reached since `earlier`.
    pub fn since(mut self, earlier: &Self) -> Self {
        for (limit, count) in &earlier.0 {
            if let Some(now) = self.0.get_mut(limit) {
                *now = now.saturating_sub(*count);
            }
        }
        self.0.retain(|_, count| *count > 0);
        self
    }

    /// Adds the counts of others.
    pub fn add(&mut self, others: &Self) {
        for (limit, count) in &others.0 {
            *self.0.entry(*limit).or_default() += count;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl std::fmt::Display for Limits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        for (limit, count) in &self.0 {
            let separator = if text.is_empty() { "" } else { ", " };
            write!(text, "{separator}{} ({count})", limit.words())?;
        }
        f.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_counted_since_a_moment() {
        let start = Limits::of_thread();
        Limit::Steps.reach();
        let middle = Limits::of_thread();
        Limit::Steps.reach();
        assert_eq!(Limit::first(vec![1, 2, 3], 2), [1, 2]);
        assert_eq!(Limit::first(vec![1, 2], 2), [1, 2]);
        let found = Limits::of_thread().since(&middle);
        assert_eq!(found.to_string(), "files with a name (1), steps to a type (1)");
        assert_eq!(serde_json::to_string(&found).unwrap(), r#"{"files":1,"steps":1}"#);
        let mut sum = middle.since(&start);
        sum.add(&found);
        assert_eq!(sum.to_string(), "files with a name (1), steps to a type (2)");
        assert!(Limits::of_thread().since(&Limits::of_thread()).is_empty());
    }

    #[test]
    fn a_limit_is_reached_by_an_item_that_is_left_out() {
        let reached = |items: &[u8], asked: usize| {
            let start = Limits::of_thread();
            let taken: Vec<u8> = Limit::Files.take(items.iter().copied(), 2).take(asked).collect();
            (taken, !Limits::of_thread().since(&start).is_empty())
        };
        assert_eq!(reached(&[1, 2, 3, 4], 9), (vec![1, 2], true));
        assert_eq!(reached(&[1, 2, 3], 2), (vec![1, 2], false), "the third was not wanted");
        assert_eq!(reached(&[1, 2], 9), (vec![1, 2], false));
        assert_eq!(reached(&[], 9), (vec![], false));
    }
}
