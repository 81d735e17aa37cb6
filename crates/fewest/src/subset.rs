//! A set of features out of p, as a bit set.

use serde::{Deserialize, Serialize};

/// Features chosen out of p. In JSON: their indices, ascending; p is then one more than the last.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "Vec<usize>", from = "Vec<usize>")]
pub struct Subset {
    p: usize,
    count: usize,
    words: Vec<u64>,
}

impl Subset {
    /// No feature.
    pub fn empty(p: usize) -> Self {
        Self { p, count: 0, words: vec![0; p.div_ceil(64)] }
    }

    /// Every feature.
    pub fn full(p: usize) -> Self {
        Self::from_indices(p, 0..p)
    }

    /// The given features, each below p.
    pub fn from_indices(p: usize, indices: impl IntoIterator<Item = usize>) -> Self {
        let mut subset = Self::empty(p);
        subset.extend(indices);
        subset
    }

    /// Number of features to choose from.
    pub fn p(&self) -> usize {
        self.p
    }

    /// Number of features chosen.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether no feature is chosen.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether feature j is chosen.
    pub fn contains(&self, j: usize) -> bool {
        self.words[j / 64] >> (j % 64) & 1 == 1
    }

    /// Adds feature j; returns whether it was absent.
    pub fn insert(&mut self, j: usize) -> bool {
        assert!(j < self.p, "feature {j} of {}", self.p);
        let added = !self.contains(j);
        self.words[j / 64] |= 1 << (j % 64);
        self.count += usize::from(added);
        added
    }

    /// Removes feature j; returns whether it was present.
    pub fn remove(&mut self, j: usize) -> bool {
        let present = self.contains(j);
        self.words[j / 64] &= !(1 << (j % 64));
        self.count -= usize::from(present);
        present
    }

    /// Chosen features, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| Bits(word).map(move |bit| at * 64 + bit))
    }

    /// Features in `self` but not in `other`, ascending.
    pub fn difference<'a>(&'a self, other: &'a Subset) -> impl Iterator<Item = usize> + 'a {
        let words = self.words.iter().zip(&other.words);
        words.enumerate().flat_map(|(at, (a, b))| Bits(a & !b).map(move |bit| at * 64 + bit))
    }
}

/// Features that are chosen already stay so.
impl Extend<usize> for Subset {
    fn extend<I: IntoIterator<Item = usize>>(&mut self, indices: I) {
        for j in indices {
            self.insert(j);
        }
    }
}

impl From<Subset> for Vec<usize> {
    fn from(subset: Subset) -> Self {
        subset.iter().collect()
    }
}

impl From<Vec<usize>> for Subset {
    fn from(indices: Vec<usize>) -> Self {
        let p = indices.iter().max().map_or(0, |last| last + 1);
        Self::from_indices(p, indices)
    }
}

impl std::fmt::Debug for Subset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// Positions of the set bits of a word.
struct Bits(u64);

impl Iterator for Bits {
    type Item = usize;
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

#[cfg(test)]
mod tests {
    use super::Subset;

    #[test]
    fn counts_and_lists_what_it_holds() {
        let mut s = Subset::from_indices(130, [3, 64, 129, 64]);
        assert_eq!((s.len(), s.iter().collect::<Vec<_>>()), (3, vec![3, 64, 129]));
        assert!(s.remove(64) && !s.remove(64) && s.insert(0) && !s.insert(0));
        assert_eq!(s.iter().collect::<Vec<_>>(), vec![0, 3, 129]);
        assert_eq!(Subset::full(70).difference(&Subset::from_indices(70, 1..70)).collect::<Vec<_>>(), vec![0]);
    }
}
