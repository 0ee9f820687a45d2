//! Counters of the work that resolution does on a thread. Tests and benchmarks compare them, because they do not depend on the machine.

use std::cell::Cell;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Texts that were parsed.
    pub parses: u64,
    /// Files whose names were sorted for lookups.
    pub views: u64,
    /// Expressions whose type was evaluated.
    pub types: u64,
    /// Files whose stored uses were decoded.
    pub decoded_uses: u64,
}

thread_local! {
    static DONE: Cell<Work> = const { Cell::new(Work { parses: 0, views: 0, types: 0, decoded_uses: 0 }) };
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
            types: self.types - earlier.types,
            decoded_uses: self.decoded_uses - earlier.decoded_uses,
        }
    }

    pub(crate) fn count_parse() {
        DONE.set(Self { parses: DONE.get().parses + 1, ..DONE.get() });
    }

    pub(crate) fn count_view() {
        DONE.set(Self { views: DONE.get().views + 1, ..DONE.get() });
    }

    pub(crate) fn count_type() {
        DONE.set(Self { types: DONE.get().types + 1, ..DONE.get() });
    }

    pub(crate) fn count_decoded_uses() {
        DONE.set(Self { decoded_uses: DONE.get().decoded_uses + 1, ..DONE.get() });
    }
}
