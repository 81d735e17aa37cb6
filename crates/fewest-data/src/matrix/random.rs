//! Random numbers that are the same everywhere: xoshiro256++ for the words, our own few lines from
//! words to numbers.
//!
//! Distributions of the `rand` crates may change between versions, and `ln` of the standard library
//! differs between platforms in the last bit; a data set in a paper may not. `libm` computes in
//! software, the same on all of them.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Standard normal numbers of this seed; streams of a seed are independent.
pub fn normals(seed: u64, stream: u32) -> impl FnMut() -> f64 {
    let mut random = Random::new(seed, stream);
    move || random.normal()
}

/// One stream of random numbers.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    words: Xoshiro256PlusPlus,
    /// The second normal of a pair.
    spare: Option<f64>,
}

impl Random {
    /// A stream of this seed: streams are 2^192 words apart and never meet.
    pub(crate) fn new(seed: u64, stream: u32) -> Self {
        let mut words = Xoshiro256PlusPlus::seed_from_u64(seed);
        for _ in 0..stream {
            words.long_jump();
        }
        Self { words, spare: None }
    }

    /// A number in [0, 1), a multiple of 2^-53.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.words.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Leaves out this many numbers of [`Self::unit`] and [`Self::coin`].
    pub(crate) fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.words.next_u64();
        }
    }

    /// True or false, even odds.
    pub(crate) fn coin(&mut self) -> bool {
        self.words.next_u64() >> 63 == 1
    }

    /// Standard normal, by Marsaglia's polar method.
    pub(crate) fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (u, v) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = u * u + v * v;
            if square > 0.0 && square < 1.0 {
                let factor = (-2.0 * libm::log(square) / square).sqrt();
                self.spare = Some(v * factor);
                return u * factor;
            }
        }
    }

    /// `count` different numbers below `end`, in random order (count <= end).
    pub(crate) fn sample(&mut self, end: usize, count: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..end).collect();
        for at in 0..count {
            // The high half of a product: uneven by less than end / 2^64.
            let below = (u128::from(self.words.next_u64()) * (end - at) as u128) >> 64;
            all.swap(at, at + below as usize);
        }
        all.truncate(count);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    /// Stored numbers: a dependency that moved them would change every data set. They are those of
    /// the published algorithm, recomputed in Python (SplitMix64 seeding, two long jumps, polar
    /// method).
    #[test]
    fn numbers_never_change() {
        let mut random = Random::new(1, 2);
        let found = [random.unit(), random.normal(), random.normal(), random.normal()];
        assert_eq!(found, [0.1893356248096365, 0.7577634671987276, -0.0076035803641183106, -0.9772485536232389]);
        assert_eq!(random.sample(10, 4), [6, 5, 4, 0]);
    }

    #[test]
    fn normals_have_the_right_moments_and_samples_are_distinct() {
        let mut random = Random::new(3, 0);
        let count = 40_000;
        let normals: Vec<f64> = (0..count).map(|_| random.normal()).collect();
        let moment = |k: i32| normals.iter().map(|x| x.powi(k)).sum::<f64>() / f64::from(count);
        // Four standard errors: sqrt(1, 2, 15, 96) / 200.
        assert!(moment(1).abs() < 0.02 && (moment(2) - 1.0).abs() < 0.03, "{} {}", moment(1), moment(2));
        assert!(moment(3).abs() < 0.08 && (moment(4) - 3.0).abs() < 0.2, "{} {}", moment(3), moment(4));
        let mut all = random.sample(30, 30);
        all.sort_unstable();
        assert_eq!(all, (0..30).collect::<Vec<_>>());
    }

    #[test]
    fn every_number_is_sampled_equally_often() {
        let mut random = Random::new(4, 0);
        let mut counts = [0u32; 5];
        for _ in 0..5000 {
            for j in random.sample(5, 2) {
                counts[j] += 1;
            }
        }
        assert!(counts.iter().all(|c| c.abs_diff(2000) < 150), "{counts:?}");
    }
}
