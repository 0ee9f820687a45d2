//! Positions of named things in a list.

use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;

/// Positions in a list by the hash of a name, sorted.
pub(crate) struct ByName(Box<[(u32, u32)]>);

impl ByName {
    pub(crate) fn new<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        Self::of_keys((0..).zip(names.map(str::as_bytes)))
    }

    /// Names with other keys than their positions.
    pub(crate) fn of_keys<'n>(names: impl Iterator<Item = (u32, &'n [u8])>) -> Self {
        let mut positions: Vec<(u32, u32)> = names.map(|(key, name)| (hash(name), key)).collect();
        positions.sort_unstable();
        Self(positions.into())
    }

    /// The positions that may have a name, in order.
    pub(crate) fn of(&self, name: &str) -> impl Iterator<Item = usize> {
        self.keys_of(name).map(|key| key as usize)
    }

    /// The keys that may have a name, in order.
    pub(crate) fn keys_of(&self, name: &str) -> impl Iterator<Item = u32> {
        let wanted = hash(name.as_bytes());
        let start = self.0.partition_point(|(known, _)| *known < wanted);
        let same = self.0.iter().skip(start).take_while(move |(known, _)| *known == wanted);
        same.map(|(_, key)| *key)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "half a hash is a hash")]
fn hash(name: &[u8]) -> u32 {
    FixedState::default().hash_one(name) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_found_by_name_in_order() {
        let names = ["a", "b", "a", "c", "a"];
        let by_name = ByName::new(names.into_iter());
        assert_eq!(by_name.of("a").collect::<Vec<_>>(), [0, 2, 4]);
        assert_eq!(by_name.of("c").collect::<Vec<_>>(), [3]);
        assert_eq!(by_name.of("d").count(), 0);
    }
}
