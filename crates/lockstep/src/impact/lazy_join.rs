//! A result that a thread is computing.

use std::cell::{Cell, OnceCell};
use std::thread::ScopedJoinHandle;

/// The result of a thread, joined on first use.
pub(super) struct LazyJoin<'scope, T> {
    thread: Cell<Option<ScopedJoinHandle<'scope, T>>>,
    result: OnceCell<T>,
}

impl<'scope, T> LazyJoin<'scope, T> {
    pub(super) fn new(thread: ScopedJoinHandle<'scope, T>) -> Self {
        Self { thread: Cell::new(Some(thread)), result: OnceCell::new() }
    }

    /// Returns the result. A panic of the thread is resumed here.
    pub(super) fn get(&self) -> &T {
        self.result.get_or_init(|| {
            let thread = self.thread.take().expect("it is joined once, for the one result");
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// The same, for good.
    pub(super) fn into_inner(self) -> T {
        self.get();
        self.result.into_inner().expect("it was just waited for")
    }
}
