//! Random numbers that are the same on every machine and in every version of this workspace.

/// A random number generator that depends only on its seed, also in later versions.
///
/// xoshiro256++ 1.0 (Blackman & Vigna 2021, "Scrambled linear pseudorandom number generators"),
/// with a state from the seed by `SplitMix64` (Steele, Lea & Flood 2014), as its authors advise. It
/// is fast and passes the usual tests, but is not secure. Other numbers would break results
/// promised for a seed.
///
/// ```
/// use seatmap_data::statistics::Xoshiro;
///
/// let mut random = Xoshiro::new(1);
/// let mut order = [0, 1, 2, 3];
/// random.shuffle(&mut order);
/// assert!(random.below(6) < 6 && random.unit() < 1.0);
/// ```
#[derive(Clone, Debug)]
pub struct Xoshiro {
    state: [u64; 4],
}

/// The step of `SplitMix64`'s counter: 2^64 over the golden ratio, made odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Xoshiro {
    /// A generator from a seed; any seed is as good as another.
    pub fn new(seed: u64) -> Self {
        let mut counter = seed;
        Xoshiro { state: std::array::from_fn(|_| split_mix(&mut counter)) }
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let bits = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        bits
    }

    /// A uniform number below `end` (Lemire 2019, "Fast random integer generation in an interval").
    ///
    /// # Panics
    /// `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        assert!(end > 0, "no number is below 0");
        let end = end as u64;
        // Products with a smaller lower half would make some numbers more likely than others.
        let uneven = end.wrapping_neg() % end;
        loop {
            let product = u128::from(self.bits()) * u128::from(end);
            if product as u64 >= uneven {
                return (product >> 64) as usize;
            }
        }
    }

    /// A number from 0 up to 1, 1 excluded: a multiple of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Shuffles items, each order with the same probability (Fisher & Yates 1938; Durstenfeld
    /// 1964).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// SplitMix64 (Steele, Lea & Flood 2014).
pub(crate) fn split_mix(counter: &mut u64) -> u64 {
    *counter = counter.wrapping_add(GOLDEN);
    let mixed = (*counter ^ (*counter >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The state 1, 2, 3, 4 is that of the published test vectors of xoshiro256++; the seeds'
    /// numbers were computed independently.
    #[test]
    fn random_numbers_match_published_values() {
        let mut published = Xoshiro { state: [1, 2, 3, 4] };
        let first = [(); 4].map(|()| published.bits());
        assert_eq!(first, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]);
        let mut counter = 1_234_567;
        assert_eq!(split_mix(&mut counter), 6_457_827_717_110_365_317);
        let of_seed = |seed| {
            let mut random = Xoshiro::new(seed);
            [(); 3].map(|()| random.bits())
        };
        assert_eq!(
            of_seed(0),
            [5_987_356_902_031_041_503, 7_051_070_477_665_621_255, 6_633_766_593_972_829_180]
        );
        assert_eq!(
            of_seed(1),
            [14_971_601_782_005_023_387, 13_781_649_495_232_077_965, 1_847_458_086_238_483_744]
        );
        let mut random = Xoshiro::new(1);
        let mut order = [0, 1, 2, 3, 4, 5, 6, 7];
        random.shuffle(&mut order);
        assert_eq!(
            (order, random.below(1000), random.unit()),
            ([4, 2, 1, 7, 3, 0, 5, 6], 523, 0.0966018259179694)
        );
    }

    #[test]
    fn numbers_below_a_bound_are_uniform() {
        let mut random = Xoshiro::new(7);
        let mut seen = [0_u32; 6];
        (0..60_000).for_each(|_| seen[random.below(6)] += 1);
        assert!(seen.iter().all(|times| (9_600..10_400).contains(times)), "{seen:?}");
        let mean = (0..60_000).map(|_| random.unit()).sum::<f64>() / 60_000.0;
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
        assert_eq!(random.below(1), 0);
    }

    #[test]
    fn shuffled_orders_are_uniform() {
        let mut random = Xoshiro::new(3);
        let mut seen = std::collections::BTreeMap::<[u8; 3], u32>::new();
        for _ in 0..6_000 {
            let mut order = [0, 1, 2];
            random.shuffle(&mut order);
            *seen.entry(order).or_default() += 1;
        }
        assert!(
            seen.len() == 6 && seen.values().all(|times| (850..1_150).contains(times)),
            "{seen:?}"
        );
    }
}
