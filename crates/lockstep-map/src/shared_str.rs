//! Shared texts and lists. There are tens of thousands, most of them pieces of one buffer; unchanged pieces
//! are not copied.

use std::ops::{Deref, Range};
use std::sync::Arc;

/// A text; a part of a larger one where it was read with others.
#[derive(Clone)]
pub struct SharedStr {
    all: Arc<String>,
    start: u32,
    end: u32,
}

impl SharedStr {
    /// A part of `all`; `None` if there is no such part.
    pub(crate) fn part(all: &Arc<String>, start: u32, end: u32) -> Option<Self> {
        all.get(start as usize..end as usize)?;
        Some(Self { all: Arc::clone(all), start, end })
    }
}

impl Deref for SharedStr {
    type Target = str;

    fn deref(&self) -> &str {
        &self.all[self.start as usize..self.end as usize]
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexRange {
    start: u32,
    end: u32,
}

impl IndexRange {
    /// A part of a list of so many; `None` if there is no such part.
    pub(crate) fn of(start: u32, end: u32, count: usize) -> Option<Self> {
        (start <= end && end as usize <= count).then_some(Self { start, end })
    }

    pub(crate) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    pub(crate) fn len(self) -> usize {
        self.range().len()
    }

    /// Returns the first `count` bytes.
    pub(crate) fn first(self, count: usize) -> Self {
        Self { end: self.start + length(count.min(self.len())), ..self }
    }

    pub(crate) fn append_to(list: &mut Vec<u32>, new: &[u32]) -> Self {
        let start = length(list.len());
        list.extend_from_slice(new);
        Self { start, end: length(list.len()) }
    }
}

/// Converts a length that fits 32 bits.
fn length(count: usize) -> u32 {
    u32::try_from(count).expect("no project has 4 G of anything")
}

impl<T: AsRef<str>> From<T> for SharedStr {
    fn from(text: T) -> Self {
        let end = length(text.as_ref().len());
        Self { all: Arc::new(text.as_ref().to_owned()), start: 0, end }
    }
}

impl std::fmt::Debug for SharedStr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

impl PartialEq for SharedStr {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for SharedStr {}
