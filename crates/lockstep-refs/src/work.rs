//! Counters of the work that resolution does on a thread. Tests and benchmarks compare them, because they do not depend on the machine.

use std::cell::Cell;

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Work {
    /// Texts that were parsed.
    pub parses: u64,
    /// Files whose names were sorted for lookups.
    pub views: u64,
    /// Files that were searched for uses, once for each search.
    pub searched: u64,
    /// Expressions whose type was evaluated.
    pub types: u64,
    /// Files whose stored uses were decoded, all of them.
    pub decoded_uses: u64,
    /// Files whose stored facts were read.
    pub facts_read: u64,
    /// The bytes of stored facts and uses that were decoded.
    pub decoded_bytes: u64,
}

thread_local! {
    static DONE: Cell<Work> = const { Cell::new(Work { parses: 0, views: 0, searched: 0, types: 0, decoded_uses: 0, facts_read: 0, decoded_bytes: 0 }) };
}

impl Work {
    /// Returns the work of this thread since it began.
    pub fn of_thread() -> Self {
        DONE.get()
    }

    /// Returns the work that was done since `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            parses: self.parses - earlier.parses,
            views: self.views - earlier.views,
            searched: self.searched - earlier.searched,
            types: self.types - earlier.types,
            decoded_uses: self.decoded_uses - earlier.decoded_uses,
            facts_read: self.facts_read - earlier.facts_read,
            decoded_bytes: self.decoded_bytes - earlier.decoded_bytes,
        }
    }

    pub(crate) fn count_parse() {
        DONE.set(Self { parses: DONE.get().parses + 1, ..DONE.get() });
    }

    pub(crate) fn count_view() {
        DONE.set(Self { views: DONE.get().views + 1, ..DONE.get() });
    }

    pub(crate) fn count_search() {
        DONE.set(Self { searched: DONE.get().searched + 1, ..DONE.get() });
    }

    pub(crate) fn count_type() {
        DONE.set(Self { types: DONE.get().types + 1, ..DONE.get() });
    }

    pub(crate) fn count_decoded_uses(bytes: usize) {
        let done = DONE.get();
        let decoded_bytes = done.decoded_bytes + bytes as u64;
        DONE.set(Self { decoded_uses: done.decoded_uses + 1, decoded_bytes, ..done });
    }

    pub(crate) fn count_decoded_use(bytes: usize) {
        DONE.set(Self { decoded_bytes: DONE.get().decoded_bytes + bytes as u64, ..DONE.get() });
    }

    /// Counts a file whose stored facts a world reads, with their length without the uses.
    pub fn count_facts_read(bytes: usize) {
        let done = DONE.get();
        let decoded_bytes = done.decoded_bytes + bytes as u64;
        DONE.set(Self { facts_read: done.facts_read + 1, decoded_bytes, ..done });
    }

    /// Counts the work that other threads did for this one.
    pub fn add(self) {
        let done = DONE.get();
        DONE.set(Self {
            parses: done.parses + self.parses,
            views: done.views + self.views,
            searched: done.searched + self.searched,
            types: done.types + self.types,
            decoded_uses: done.decoded_uses + self.decoded_uses,
            facts_read: done.facts_read + self.facts_read,
            decoded_bytes: done.decoded_bytes + self.decoded_bytes,
        });
    }
}
