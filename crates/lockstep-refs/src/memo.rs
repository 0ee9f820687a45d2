//! Results that all searches in one world share.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use foldhash::HashMap;

use crate::language::Language;
use crate::parses::Parses;
use crate::world::World;

/// Results of resolution in one world, in one part for each language and kind of resolver.
#[derive(Default)]
pub struct Memo {
    parts: RefCell<HashMap<(TypeId, Language), Rc<dyn Any>>>,
    /// The facts of a content do not depend on the world, so overlays share them.
    parses: Rc<Parses>,
}

impl Memo {
    /// A memo for a world that differs from `world` in some files.
    pub(crate) fn for_overlay(world: &dyn World) -> Self {
        Self { parts: RefCell::default(), parses: Self::parses(world) }
    }

    /// The contents that were parsed in a world.
    pub(crate) fn parses(world: &dyn World) -> Rc<Parses> {
        world.memo().map(|memo| Rc::clone(&memo.parses)).unwrap_or_default()
    }

    /// Returns the part of a world's memo that a resolver keeps its results in. In a world without a memo the part is new.
    pub(crate) fn part<T: Default + 'static>(world: &dyn World, language: Language) -> Rc<T> {
        let Some(memo) = world.memo() else { return Rc::default() };
        let mut parts = memo.parts.borrow_mut();
        let part = parts.entry((TypeId::of::<T>(), language)).or_insert_with(|| Rc::new(T::default()));
        Rc::clone(part).downcast().unwrap_or_default()
    }
}

/// A memoised result.
#[derive(Debug, Clone)]
pub(crate) enum Entry<T> {
    /// Its computation is the open one at this position, counted from the outermost.
    Open(usize),
    Known(T),
}

/// The computations that are open, and the outermost of them that a result relies on.
///
/// A result that met an open computation, or a limit, holds only inside that computation: another question may see more. Such results
/// are provisional. They are forgotten when the computation ends on which they rely.
#[derive(Debug)]
pub(crate) struct Progress {
    open: Cell<usize>,
    /// Position of the outermost open computation that was met, plus one; 0 if a limit was reached.
    met: Cell<usize>,
}

impl Default for Progress {
    fn default() -> Self {
        Self { open: Cell::new(0), met: Cell::new(usize::MAX) }
    }
}

pub(crate) struct Computation {
    pub(crate) position: usize,
    met_before: usize,
}

impl Progress {
    pub(crate) fn begin(&self) -> Computation {
        let position = self.open.get();
        self.open.set(position + 1);
        Computation { position, met_before: self.met.replace(usize::MAX) }
    }

    /// Ends a computation. Returns true if its result is complete.
    pub(crate) fn end(&self, computation: &Computation) -> bool {
        self.open.set(computation.position);
        let met = self.met.get();
        let is_complete = met > computation.position;
        self.met.set(match computation.position {
            0 => usize::MAX,
            _ if is_complete => computation.met_before,
            _ => computation.met_before.min(met),
        });
        is_complete
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.open.get() == 0
    }

    /// Records that a result depends on an open computation.
    pub(crate) fn meet(&self, position: usize) {
        self.met.set(self.met.get().min(position + 1));
    }

    /// Records that a limit truncated a result.
    pub(crate) fn cut(&self) {
        self.met.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_that_met_an_outer_computation_is_not_complete() {
        let progress = Progress::default();
        let outer = progress.begin();
        let inner = progress.begin();
        progress.meet(outer.position);
        assert!(!progress.end(&inner), "it relies on the outer one");
        assert!(progress.end(&outer), "it relies on nothing but itself");
        assert!(progress.is_idle());
    }

    #[test]
    fn a_result_behind_a_limit_is_complete_nowhere() {
        let progress = Progress::default();
        let outer = progress.begin();
        let inner = progress.begin();
        progress.cut();
        assert!(!progress.end(&inner));
        assert!(!progress.end(&outer));
        let next = progress.begin();
        assert!(progress.end(&next), "the limit was reached in another question");
    }
}
