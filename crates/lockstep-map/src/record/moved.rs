//! Entries in other places, because some came and some went: whatever names a place follows.

use super::Entry;
use crate::piece::Places;

/// Which entries came and went.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Moves {
    /// The places, among the former, of those that went, sorted.
    pub removed: Vec<u32>,
    /// The places, among the present, of those that came, sorted.
    pub added: Vec<u32>,
}

impl Moves {
    /// Whether all are where they were.
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty()
    }

    /// Where each of so many former entries is now.
    fn after(&self, former: usize) -> Vec<Option<u32>> {
        let (mut removed, mut added) = (self.removed.iter().peekable(), self.added.iter().peekable());
        let mut next = 0_u32;
        let mut place = |place: u32| {
            if removed.next_if_eq(&&place).is_some() {
                return None;
            }
            while added.next_if_eq(&&next).is_some() {
                next += 1;
            }
            next += 1;
            Some(next - 1)
        };
        (0_u32..).take(former).map(&mut place).collect()
    }
}

/// Gives entries their new places, and the new places of what they reference; new ones are empty. Those that referenced what went are
/// told to `lost`. `None` where the moves are not those of so many entries.
pub(crate) fn moved(mut entries: Vec<Entry>, moves: &Moves, mut lost: impl FnMut(u32)) -> Option<Vec<Entry>> {
    let after = moves.after(entries.len());
    let count = (entries.len() + moves.added.len()).checked_sub(moves.removed.len())?;
    let is_within = |places: &[u32], count: usize| places.last().is_none_or(|last| (*last as usize) < count);
    if !is_within(&moves.removed, entries.len()) || !is_within(&moves.added, count) {
        return None;
    }
    let mut all: Vec<u32> = Vec::with_capacity(entries.iter().map(|entry| entry.refs.len()).sum());
    let mut ends: Vec<u32> = Vec::with_capacity(count);
    let mut added = moves.added.iter().peekable();
    for (entry, place) in entries.iter().zip(&after) {
        let Some(place) = place else { continue };
        let start = all.len();
        while added.next_if(|added| *added < place).is_some() {
            ends.push(u32::try_from(start).ok()?);
        }
        all.extend(entry.refs.iter().filter_map(|to| after.get(*to as usize).copied().flatten()));
        if all.len() - start < entry.refs.len() {
            lost(*place);
        }
        ends.push(u32::try_from(all.len()).ok()?);
    }
    ends.resize(count, u32::try_from(all.len()).ok()?);
    let mut places = after.iter();
    entries.retain(|_| places.next().is_some_and(Option::is_some));
    open_gaps(&mut entries, &moves.added);
    let all = all.into();
    let mut start = 0;
    for (entry, end) in entries.iter_mut().zip(ends) {
        entry.refs = Places::part(&all, start, end)?;
        start = end;
    }
    Some(entries)
}

/// Puts empty entries at these places. Moves what is there instead of copying all: there are megabytes of them.
fn open_gaps(entries: &mut Vec<Entry>, places: &[u32]) {
    let mut kept = entries.len();
    entries.resize_with(kept + places.len(), Entry::empty);
    let mut places = places.iter().rev().peekable();
    for at in (0..entries.len()).rev() {
        if places.next_if(|place| **place as usize == at).is_none() {
            kept -= 1;
            entries.swap(at, kept);
        }
        // All that is before is where it was.
        if places.peek().is_none() {
            return;
        }
    }
}
