//! Random numbers that follow from a seed (SplitMix64).

/// A sequence of random numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The sequence of one execution of a target.
    pub fn of(seed: u64, target: &str, execution: u64) -> Self {
        let name = target.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut random = Random(seed ^ name);
        let start = random.next() ^ execution.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = Random(start);
        random.next();
        random
    }

    /// Returns the next 64 bits.
    #[expect(clippy::should_implement_trait, reason = "there is always a next number")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// Returns a number below `bound`, or 0 if that is 0. The slight bias does not matter here.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// Returns true once in `times`.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// Returns one of the items.
    pub fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len())]
    }

    /// Returns a random byte.
    pub fn byte(&mut self) -> u8 {
        self.next() as u8
    }
}
