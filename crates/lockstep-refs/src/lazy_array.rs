//! A sparse table of values per file: memory is allocated in pages for the files that are queried.

use std::sync::OnceLock;

/// The number of slots per page.
const PAGE: usize = 256;

/// A page that is allocated when one of its slots is used.
type Page<T> = OnceLock<Box<[OnceLock<T>]>>;

/// Places that are filled once.
#[derive(Debug)]
pub struct LazyArray<T> {
    count: usize,
    pages: Vec<Page<T>>,
}

impl<T> LazyArray<T> {
    /// Creates this many empty slots.
    pub fn new(count: usize) -> Self {
        Self { count, pages: std::iter::repeat_with(OnceLock::new).take(count.div_ceil(PAGE)).collect() }
    }

    /// The place at `at`; `None` if there are fewer.
    pub fn get(&self, at: usize) -> Option<&OnceLock<T>> {
        let page = self.pages.get(at / PAGE).filter(|_| at < self.count)?;
        let page = page.get_or_init(|| std::iter::repeat_with(OnceLock::new).take(PAGE).collect());
        page.get(at % PAGE)
    }

    /// Returns the value at `at`, if it is set.
    pub fn known(&self, at: usize) -> Option<&T> {
        self.pages.get(at / PAGE)?.get()?.get(at % PAGE)?.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_filled_once_and_what_is_beyond_is_none() {
        let slots = LazyArray::new(PAGE + 3);
        for at in [0, PAGE - 1, PAGE, PAGE + 2] {
            assert_eq!(slots.known(at), None);
            assert_eq!(slots.get(at).map(|slot| *slot.get_or_init(|| at)), Some(at));
            assert_eq!(slots.get(at).map(|slot| *slot.get_or_init(|| 7)), Some(at));
            assert_eq!(slots.known(at), Some(&at));
        }
        assert!(slots.get(PAGE + 3).is_none() && slots.get(9 * PAGE).is_none());
        assert_eq!(slots.known(9 * PAGE), None);
        assert!(LazyArray::<u8>::new(0).get(0).is_none());
    }
}
