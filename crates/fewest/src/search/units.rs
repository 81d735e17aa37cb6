//! A set of units as an open node keeps it: a list or, where that takes less, bits.

use serde::{Deserialize, Serialize};

/// Units, ascending.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum UnitSet {
    List(Box<[u32]>),
    Bits(Box<[u64]>),
}

impl UnitSet {
    /// Set of units, given in ascending order.
    pub(crate) fn new(units: &[usize]) -> Self {
        let words = units.last().map_or(0, |last| last / 64 + 1);
        if 8 * words < 4 * units.len() {
            let mut bits = vec![0_u64; words];
            for u in units {
                bits[u / 64] |= 1 << (u % 64);
            }
            Self::Bits(bits.into())
        } else {
            Self::List(units.iter().map(|&u| u as u32).collect())
        }
    }

    /// The units, ascending.
    pub(crate) fn to_vec(&self) -> Vec<usize> {
        match self {
            Self::List(list) => list.iter().map(|&u| u as usize).collect(),
            Self::Bits(bits) => {
                let of = |(at, word): (usize, &u64)| {
                    let word = *word;
                    (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| 64 * at + bit)
                };
                bits.iter().enumerate().flat_map(of).collect()
            }
        }
    }

    /// Whether it holds none.
    pub(crate) fn is_empty(&self) -> bool {
        // Bits are for many units only.
        matches!(self, Self::List(list) if list.is_empty())
    }

    /// Bytes beside the value itself.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::List(list) => size_of_val(&list[..]) as u64,
            Self::Bits(bits) => size_of_val(&bits[..]) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::UnitSet;

    #[test]
    fn holds_its_units_in_as_little_as_it_can() {
        for (units, bytes) in [
            (Vec::new(), 0),
            (vec![0], 4),
            (vec![3, 99_999], 8),
            ((0..1000).collect(), 128),
            ((0..2000).filter(|u| u % 3 > 0).collect(), 256),
            ((0..2000).step_by(64).collect::<Vec<usize>>(), 128),
        ] {
            let set = UnitSet::new(&units);
            assert_eq!((set.is_empty(), set.bytes(), set.to_vec()), (units.is_empty(), bytes, units));
        }
    }
}
