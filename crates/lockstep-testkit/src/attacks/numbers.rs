//! A small generator of numbers: a failure is repeated by its seed.

/// A linear congruential generator.
#[derive(Debug, Clone)]
pub struct Numbers(u64);

impl Numbers {
    /// Creates a sequence that depends only on the seed.
    pub fn new(seed: u64) -> Self {
        let mut numbers = Self(seed);
        // Neighbouring seeds begin alike.
        for _ in 0..4 {
            numbers.below(2);
        }
        numbers
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    /// Returns true in one of `n` cases.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn choose<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Chooses at most `limit` of the items; their order stays.
    pub fn sample<T>(&mut self, mut items: Vec<T>, limit: usize) -> Vec<T> {
        while items.len() > limit {
            items.remove(self.below(items.len()));
        }
        items
    }
}
