//! Many names in one allocation.

use std::cmp::Ordering;
use std::ops::Range;

use memchr::memmem;

/// Concatenated strings in one allocation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PackedStrings {
    pub(super) text: String,
    pub(super) ends: Vec<u32>,
}

impl PackedStrings {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, at: usize) -> &str {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.text[start..self.ends[at] as usize]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|at| self.get(at))
    }

    pub(crate) fn push(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(u32::try_from(self.text.len()).expect("no project has 4 GB of paths"));
    }

    pub(super) fn insert(&mut self, at: usize, name: &str) {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        let length = u32::try_from(name.len()).expect("no path has 4 GB");
        self.text.insert_str(start as usize, name);
        self.ends[at..].iter_mut().for_each(|end| *end += length);
        self.ends.insert(at, start + length);
    }

    pub(super) fn remove(&mut self, at: usize) {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        let end = self.ends.remove(at);
        self.text.replace_range(start as usize..end as usize, "");
        self.ends[at..].iter_mut().for_each(|later| *later -= end - start);
    }

    /// Returns an empty list with room for the names of `others` and one more.
    pub(crate) fn with_capacity_of(others: &Self) -> Self {
        const ONE_MORE: usize = 128;
        let text = String::with_capacity(others.text.len() + ONE_MORE);
        Self { text, ends: Vec::with_capacity(others.len() + 1) }
    }

    pub(crate) fn push_all(&mut self, others: &Self, range: Range<usize>) {
        let Some(last) = range.end.checked_sub(1).filter(|last| *last >= range.start) else { return };
        let start = range.start.checked_sub(1).map_or(0, |before| others.ends[before]);
        let here = u32::try_from(self.text.len()).expect("no project has 4 GB of paths");
        self.text.push_str(&others.text[start as usize..others.ends[last] as usize]);
        self.ends.extend(others.ends[range].iter().map(|end| end - start + here));
    }

    /// Returns the index of the first of the sorted names that is greater than `name`.
    pub(crate) fn first_after(&self, name: &str) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.get(middle) <= name { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Returns the index of `name` in sorted names.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.get(middle).cmp(name) {
                Ordering::Equal => return Some(middle),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// Returns the indices of the names that end in `end`, in their order.
    pub(crate) fn ending_in<'s>(&'s self, end: &'s str) -> impl Iterator<Item = usize> + 's {
        let (finder, text) = (memmem::Finder::new(end), self.text.as_bytes());
        let mut from = 0;
        // Matches may overlap, and a match may cross the boundary between two names.
        let found = std::iter::from_fn(move || {
            let at = from + finder.find(text.get(from..)?)?;
            from = at + 1;
            Some(at)
        });
        found.filter_map(move |at| {
            let stop = u32::try_from(at + end.len()).ok()?;
            let place = self.ends.binary_search(&stop).ok()?;
            self.get(place).ends_with(end).then_some(place)
        })
    }
}
