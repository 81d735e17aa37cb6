//! Files put together from their parts by dice, most parts right and some wrong: what reaches the
//! code behind the first checks, which a file with a few wrong bytes seldom does.

pub(crate) mod binary;
pub(crate) mod sheets;
pub(crate) mod text;

/// Random choices; the same seed makes the same file.
pub(crate) struct Dice {
    state: u64,
    /// Whether the file is to have no wrong part.
    pub(crate) right: bool,
}

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Self { state: seed, right: false };
        dice.right = dice.once_in(3);
        dice
    }

    /// A word, by splitmix64.
    pub(crate) fn word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to before `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.word() % end as u64) as usize
    }

    /// True once in `times`.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// As [`Dice::once_in`], for what makes a file wrong.
    pub(crate) fn wrong_in(&mut self, times: usize) -> bool {
        self.once_in(times) && !self.right
    }

    pub(crate) fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.below(among.len())]
    }

    /// A count that is right, or seldom one that is not.
    pub(crate) fn count(&mut self, right: usize) -> u64 {
        const WRONG: [u64; 9] = [0, 1, 2, 255, 65_536, 0x7fff_ffff, 0xffff_ffff, 1 << 40, u64::MAX];
        match self.below(60) {
            _ if self.right => right as u64,
            0 => self.pick(&WRONG),
            1 => right as u64 + 1,
            2 => (right as u64).saturating_sub(1),
            _ => right as u64,
        }
    }
}
