//! SplitMix64 (Steele, Lea and Flood 2014): a few lines, the same numbers on every machine, no
//! dependency.

/// Seeded generator for tests; not for statistics.
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// The generator of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any 64-bit number.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number in [low, high).
    pub fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A count below `end` (end > 0).
    pub fn below(&mut self, end: usize) -> usize {
        (self.word() % end as u64) as usize
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Standard normal (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// `count` different numbers below `end`, in random order (count <= end).
    pub fn sample(&mut self, end: usize, count: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..end).collect();
        for at in 0..count {
            let other = at + self.below(end - at);
            all.swap(at, other);
        }
        all.truncate(count);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    #[test]
    fn first_numbers_of_seed_zero_are_those_of_the_published_algorithm() {
        let mut rng = Rng::new(0);
        assert_eq!(rng.word(), 0xE220_A839_7B1D_CDAF);
        assert_eq!(rng.word(), 0x6E78_9E6A_A1B9_65F4);
    }

    #[test]
    fn samples_are_distinct_and_normals_have_the_right_moments() {
        let mut rng = Rng::new(1);
        let mut sample = rng.sample(20, 20);
        sample.sort_unstable();
        assert_eq!(sample, (0..20).collect::<Vec<_>>());
        let normals: Vec<f64> = (0..20_000).map(|_| rng.normal()).collect();
        let mean = normals.iter().sum::<f64>() / 20_000.0;
        let variance = normals.iter().map(|x| x * x).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "mean {mean}, variance {variance}");
    }
}
