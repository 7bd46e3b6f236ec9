//! Random numbers as a pure function of their coordinates.
//!
//! Invariant: a number depends only on the seed and its coordinates (stage, view, row, column), not on how many
//! numbers were drawn before or on the thread. Therefore results have the same bits for any number of threads, and a
//! resumed run ends like an uninterrupted one. A [`Stream`] is for code with a single owner, a fixed order and a key
//! of its own.

/// The golden ratio in 64 bits. It is odd, and its multiples are spread evenly over `u64`.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Separates streams from the keys they are made from (the digits of pi).
const STREAM: u64 = 0x3141_5926_5358_9793;

/// Spreads each input bit over all output bits. A bijection (the finalizer of splitmix64).
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// A seed and the first coordinates, mixed once, so that each further number needs one or two rounds of mixing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(u64);

impl Key {
    /// Returns the key of a seed.
    pub fn new(seed: u64) -> Self {
        // Without the step, seed 0 would be a fixed point of the mixing.
        Key(mix(seed.wrapping_add(STEP)))
    }

    /// Adds a coordinate. The order matters: `with(a).with(b)` differs from `with(b).with(a)`.
    pub fn with(self, coordinate: u64) -> Self {
        Key(mix(self.0.wrapping_add(coordinate.wrapping_mul(STEP))))
    }

    /// Returns 64 random bits for these coordinates.
    pub fn bits(self) -> u64 {
        self.0
    }

    /// Returns 64 random bits for an element of a matrix, the same as `with(row).with(column)`.
    pub fn at(self, row: usize, column: usize) -> u64 {
        self.with(row as u64).with(column as u64).0
    }
}

/// Maps bits to a number in [0, 1), a multiple of 2^-53.
pub fn unit_f64(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Maps bits to a number in (0, 1), for logarithms. Symmetric about 1/2.
pub fn open_unit_f64(bits: u64) -> f64 {
    ((bits >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
}

/// Returns a coordinate for a name (FNV-1a, then mixed). Unlike with the hashers of `std`, it is the same on every
/// machine.
pub fn text_key(text: &str) -> u64 {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    mix(hash)
}

/// Returns a hash of a sequence of numbers.
pub fn mix_words(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(STEP, |hash, word| mix(hash ^ word).wrapping_add(STEP))
}

/// A sequence of random numbers, for code with a single owner and a fixed order.
#[derive(Clone, Debug)]
pub struct Stream {
    state: u64,
}

impl Stream {
    /// Returns the stream of a key.
    pub fn new(key: Key) -> Self {
        // A coordinate of its own; otherwise the stream would repeat `key.with(1)`, `key.with(2)`, ...
        Stream { state: key.with(STREAM).0 }
    }

    /// Returns the next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// Returns a uniformly distributed number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "the bound must be above 0");
        // The number is the high half of bits x bound. 2^64 is rarely a multiple of bound. Rejecting the first 2^64
        // mod bound low halves makes all numbers equally likely.
        let surplus = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            if product as u64 >= surplus {
                return (product >> 64) as u64;
            }
        }
    }

    /// Shuffles the items. All orders are equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Users' results depend on these functions: changing them changes every result and must be announced.
    #[test]
    fn the_numbers_never_change() {
        let key = Key::new(0).with(1).with(2);
        assert_eq!(Key::new(0).0, GOLDEN[0]);
        assert_eq!(key.at(0, 0), GOLDEN[1]);
        assert_eq!(key.at(3, 4), GOLDEN[2]);
        assert_eq!(text_key("calls"), GOLDEN[3]);
        let mut stream = Stream::new(key);
        assert_eq!([stream.next_u64(), stream.next_u64()], [GOLDEN[4], GOLDEN[5]]);
        assert_eq!(stream.below(1000), GOLDEN[6]);
    }

    // Computed by an independent program in Python.
    const GOLDEN: [u64; 7] = [
        0xe220_a839_7b1d_cdaf,
        0xf475_9ced_adbb_c47f,
        0x4011_f3ce_6fb6_65b4,
        0x0c41_09eb_b318_22cb,
        0x2589_d618_d6bd_31b6,
        0x3293_b924_776f_3cf4,
        433,
    ];

    #[test]
    fn the_order_of_coordinates_counts() {
        let key = Key::new(7);
        assert_ne!(key.at(1, 2), key.at(2, 1));
        assert_ne!(key.at(0, 1), key.at(1, 0));
        assert_ne!(Key::new(1).at(0, 0), Key::new(0).at(1, 0));
        assert_eq!(key.at(5, 6), key.with(5).with(6).0);
    }

    #[test]
    fn unit_numbers_stay_in_their_interval() {
        assert_eq!(unit_f64(0), 0.0);
        assert!(unit_f64(u64::MAX) < 1.0);
        assert!(open_unit_f64(0) > 0.0);
        assert!(open_unit_f64(u64::MAX) < 1.0);
        assert_eq!(open_unit_f64(0), 1.0 - open_unit_f64(u64::MAX));
    }

    /// Mean 1/2 and variance 1/12 over a small matrix, and no correlation with the neighbor to the right, the
    /// neighbor below, the next view or the next seed. Bounds are five standard errors.
    #[test]
    fn elements_are_uniform_and_independent_of_their_neighbors() {
        let side = 300;
        let error = 1.0 / side as f64;
        let centered = |key: Key, row, column| unit_f64(key.at(row, column)) - 0.5;
        let (here, next_view, next_seed) = (Key::new(1).with(0), Key::new(1).with(1), Key::new(2).with(0));
        let (mut mean, mut variance, mut covariances) = (0.0, 0.0, [0.0; 4]);
        for row in 0..side {
            for column in 0..side {
                let x = centered(here, row, column);
                mean += x;
                variance += x * x;
                covariances[0] += x * centered(here, row, column + 1);
                covariances[1] += x * centered(here, row + 1, column);
                covariances[2] += x * centered(next_view, row, column);
                covariances[3] += x * centered(next_seed, row, column);
            }
        }
        let count = (side * side) as f64;
        assert!((mean / count).abs() < 5.0 * error * (1.0f64 / 12.0).sqrt(), "mean {}", mean / count);
        assert!((variance / count - 1.0 / 12.0).abs() < 5.0 * error * (1.0f64 / 180.0).sqrt());
        for covariance in covariances {
            assert!(
                (covariance / count * 12.0).abs() < 5.0 * error,
                "correlation {}",
                covariance / count * 12.0
            );
        }
    }

    #[test]
    fn every_bit_is_set_half_of_the_time_and_flips_with_its_neighbor() {
        let (key, count) = (Key::new(3), 40_000);
        let (mut set, mut flipped) = ([0i32; 64], [0i32; 64]);
        for row in 0..count {
            let (bits, next) = (key.at(row, 0), key.at(row + 1, 0));
            for bit in 0..64 {
                set[bit] += (bits >> bit & 1) as i32;
                flipped[bit] += ((bits ^ next) >> bit & 1) as i32;
            }
        }
        for bit in 0..64 {
            // Five standard errors: sqrt(40,000) / 2 = 100 each.
            assert!((set[bit] - 20_000).abs() < 500, "bit {bit} set {} times", set[bit]);
            assert!((flipped[bit] - 20_000).abs() < 500, "bit {bit} flipped {} times", flipped[bit]);
        }
    }

    #[test]
    fn below_gives_every_number_its_share() {
        let mut stream = Stream::new(Key::new(5));
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[stream.below(7) as usize] += 1;
        }
        let chi_square: f64 = counts.iter().map(|&count| (f64::from(count) - 1e4).powi(2) / 1e4).sum();
        assert!(
            chi_square < 22.5,
            "99.9% of fair draws stay below 22.5 with 6 degrees of freedom: {chi_square}"
        );
    }

    /// With a bound of 3/4 of 2^64, a plain remainder or product would make some numbers twice as likely.
    #[test]
    fn below_is_fair_for_bounds_near_the_top() {
        let bound = 3u64 << 62;
        let mut stream = Stream::new(Key::new(6));
        let low = (0..30_000).filter(|_| stream.below(bound) < bound / 3).count() as f64;
        assert!(
            (low - 1e4).abs() < 5.0 * (30_000.0 * 2.0 / 9.0f64).sqrt(),
            "{low} of 30,000 in the lowest third"
        );
        assert!((0..100).all(|_| stream.below(1) == 0));
    }

    #[test]
    fn shuffling_gives_every_order_its_share() {
        let mut stream = Stream::new(Key::new(8));
        let mut counts = [0u32; 64];
        for _ in 0..6_000 {
            let mut items = [0usize, 1, 2];
            stream.shuffle(&mut items);
            counts[items[0] * 16 + items[1] * 4 + items[2]] += 1;
        }
        let seen: Vec<u32> = counts.into_iter().filter(|&count| count > 0).collect();
        assert_eq!(seen.len(), 6);
        assert!(seen.iter().all(|&count| count.abs_diff(1000) < 150), "{seen:?}");
        stream.shuffle::<u8>(&mut []);
    }
}
