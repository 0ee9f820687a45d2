//! Renumbers entries after some were added and some removed. All references to an entry follow it.

use super::{MapRecord, MapRecordEntry};

/// Which entries came and went.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Renumbering {
    /// The places, among the former, of those that went, sorted.
    pub removed: Vec<u32>,
    /// The places, among the present, of those that came, sorted.
    pub added: Vec<u32>,
}

impl Renumbering {
    /// Returns true if no entry moved.
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty()
    }

    /// Returns the new place of each old entry, or [`REMOVED`].
    fn after(&self, former: usize) -> Vec<u32> {
        let (mut removed, mut added) = (self.removed.iter().peekable(), self.added.iter().peekable());
        let mut next = 0_u32;
        let mut place = |place: u32| {
            if removed.next_if_eq(&&place).is_some() {
                return REMOVED;
            }
            while added.next_if_eq(&&next).is_some() {
                next += 1;
            }
            next += 1;
            next - 1
        };
        (0_u32..).take(former).map(&mut place).collect()
    }
}

const REMOVED: u32 = u32::MAX;

impl MapRecord {
    /// Moves entries to their new indices and updates their references; new entries are empty. Returns the
    /// entries that referenced removed ones. `None` if the moves do not fit the number of entries.
    pub(crate) fn renumber(&mut self, moves: &Renumbering) -> Option<Vec<u32>> {
        let former = self.entries.len();
        let count = (former + moves.added.len()).checked_sub(moves.removed.len())?;
        let is_within =
            |places: &[u32], count: usize| places.last().is_none_or(|last| (*last as usize) < count);
        if !is_within(&moves.removed, former) || !is_within(&moves.added, count) {
            return None;
        }
        let after = moves.after(former);
        for to in &mut self.referenced {
            // A place without an entry may have any value.
            *to = after.get(*to as usize).copied().unwrap_or(REMOVED);
        }
        let mut lost = Vec::new();
        if !moves.removed.is_empty() {
            for (entry, place) in self.entries.iter_mut().zip(&after).filter(|(_, place)| **place != REMOVED)
            {
                let refs = &mut self.referenced[entry.refs.range()];
                let remaining = drop_removed(refs);
                if remaining < refs.len() {
                    entry.refs = entry.refs.first(remaining);
                    lost.push(*place);
                }
            }
            let mut places = after.iter();
            self.entries.retain(|_| places.next() != Some(&REMOVED));
        }
        insert_gaps(&mut self.entries, &moves.added);
        Some(lost)
    }
}

/// Moves the remaining references to the front and returns their number.
fn drop_removed(refs: &mut [u32]) -> usize {
    let mut remaining = 0;
    for at in 0..refs.len() {
        if refs[at] != REMOVED {
            refs.swap(remaining, at);
            remaining += 1;
        }
    }
    remaining
}

/// Inserts empty entries at these indices. Moves the others instead of copying all, because there are
/// megabytes of them.
fn insert_gaps(entries: &mut Vec<MapRecordEntry>, places: &[u32]) {
    let mut end = entries.len();
    entries.resize_with(end + places.len(), MapRecordEntry::empty);
    // In reverse order: entries between this gap and the next move by the number of gaps before them.
    for (before, place) in places.iter().enumerate().rev() {
        let start = *place as usize - before;
        entries[start..=end + before].rotate_right(before + 1);
        end = start;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use jiff::civil::date;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Remaining entries keep their references, compared by paths.
        #[test]
        fn references_follow_renumbered_entries(
            graph in proptest::collection::vec(proptest::collection::btree_set(0..12_u32, 0..5), 12..13),
            removed in proptest::collection::btree_set(0..12_u32, 0..12),
            added in proptest::collection::btree_set(0..12_u32, 0..5),
        ) {
            let mut record = MapRecord::empty(date(2026, 2, 14));
            for (at, refs) in graph.iter().enumerate() {
                record.push_minimal(&format!("f{at}"), &refs.iter().copied().collect::<Vec<_>>());
            }
            let told = |record: &MapRecord| -> BTreeMap<String, Vec<String>> {
                let path = |at: usize| record.entries[at].path.to_string();
                let all = (0..record.entries.len()).filter(|at| !path(*at).is_empty());
                all.map(|at| (path(at), record.refs(at).iter().map(|to| path(*to as usize)).collect())).collect()
            };
            let mut expected = told(&record);
            let is_gone = |path: &String| removed.iter().any(|at| *path == format!("f{at}"));
            expected.retain(|path, _| !is_gone(path));
            let before = expected.clone();
            expected.values_mut().for_each(|refs| refs.retain(|path| !is_gone(path)));
            let count = 12 - removed.len() + added.len();
            let moves = Renumbering {
                removed: removed.iter().copied().collect(),
                added: added.iter().copied().collect(),
            };
            let is_possible = added.last().is_none_or(|last| (*last as usize) < count);
            let lost = record.renumber(&moves);
            prop_assert_eq!(lost.is_some(), is_possible);
            let Some(lost) = lost else { return Ok(()) };
            prop_assert_eq!(record.entries.len(), count);
            prop_assert!(added.iter().all(|at| record.entries[*at as usize] == MapRecordEntry::empty()));
            prop_assert_eq!(told(&record), expected.clone());
            let mut others: Vec<String> =
                lost.iter().map(|at| record.entries[*at as usize].path.to_string()).collect();
            others.sort();
            let changed = expected.iter().filter(|(path, refs)| before[*path] != **refs);
            prop_assert_eq!(others, changed.map(|(path, _)| path.clone()).collect::<Vec<_>>());
        }
    }
}
