//! Results of lookups in tables. A query looks up the same words many times.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::sorted_table::CorruptTable;

/// The number of files in all lists above which they are forgotten.
const MOST: usize = 4 << 20;

/// Lists of files by the hash of a word.
#[derive(Debug, Default)]
pub(crate) struct Postings(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    lists: HashMap<u64, Arc<[u32]>>,
    /// The number of files in all lists.
    size: usize,
}

impl Postings {
    /// Returns the list of a word. If it is not known, it is looked up with `find`.
    pub(crate) fn get(
        &self,
        word: u64,
        find: impl FnOnce() -> Result<Vec<u32>, CorruptTable>,
    ) -> Result<Arc<[u32]>, CorruptTable> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(list) = known().lists.get(&word) {
            return Ok(Arc::clone(list));
        }
        let list: Arc<[u32]> = find()?.into();
        let mut known = known();
        if known.size + list.len() > MOST {
            *known = Known::default();
        }
        known.size += list.len();
        known.lists.insert(word, Arc::clone(&list));
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_once() {
        let postings = Postings::default();
        assert_eq!(&*postings.get(1, || Ok(vec![2, 3])).unwrap(), [2, 3]);
        assert_eq!(&*postings.get(1, || panic!("it is known")).unwrap(), [2, 3]);
        assert!(postings.get(2, || Err(CorruptTable)).is_err());
        assert_eq!(&*postings.get(2, || Ok(Vec::new())).unwrap(), [0_u32; 0]);
    }

    #[test]
    fn many_lists_are_forgotten() {
        let postings = Postings::default();
        for word in 0..5 {
            postings.get(word, || Ok(vec![7; MOST / 4])).unwrap();
        }
        assert_eq!(&*postings.get(0, || Ok(vec![1])).unwrap(), [1]);
    }
}
