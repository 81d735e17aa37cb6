//! Sets of features as bit sets: out of p, and of any number.

use std::ops::Range;

use rayon::prelude::*;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

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

/// Features of any number, as many bits as the largest index: what rules forbid may be hundreds of
/// millions. In JSON: their indices, ascending.
///
/// # Panics
/// An index of 2^32 - 1 or more panics: no matrix has that many columns.
#[derive(Clone, Serialize)]
#[serde(into = "Vec<usize>")]
pub struct FeatureSet(Subset);

/// More features than any matrix has.
const TOO_MANY: usize = u32::MAX as usize;

impl FeatureSet {
    /// Set of the features, of p, for which `is` holds; all threads ask it.
    pub fn of(p: usize, is: impl Fn(usize) -> bool + Sync) -> Self {
        let word = |at: usize| (64 * at..p.min(64 * at + 64)).fold(0, |word, j| word | u64::from(is(j)) << (j % 64));
        let words: Vec<u64> = (0..p.div_ceil(64)).into_par_iter().map(word).collect();
        let count = words.iter().map(|word| word.count_ones() as usize).sum();
        Self(Subset { p, count, words })
    }

    /// Number of features in it.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none is in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether feature j is in it.
    pub fn contains(&self, j: usize) -> bool {
        j < self.0.p && self.0.contains(j)
    }

    /// Adds feature j; returns whether it was absent.
    pub fn insert(&mut self, j: usize) -> bool {
        if j >= self.0.p {
            assert!(j < TOO_MANY, "feature {j}: indices are below 2^32 - 1");
            self.0.p = j + 1;
            self.0.words.resize(self.0.p.div_ceil(64), 0);
        }
        self.0.insert(j)
    }

    /// Removes feature j; returns whether it was present.
    pub fn remove(&mut self, j: usize) -> bool {
        self.contains(j) && self.0.remove(j)
    }

    /// All of them, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter()
    }

    /// The features within a range, ascending.
    pub fn within(&self, range: Range<usize>) -> impl Iterator<Item = usize> + '_ {
        let end = range.end.min(self.0.p);
        let words = range.start / 64..end.div_ceil(64);
        let all = words.flat_map(|at| Bits(self.0.words[at]).map(move |bit| at * 64 + bit));
        all.skip_while(move |&j| j < range.start).take_while(move |&j| j < end)
    }
}

impl Default for FeatureSet {
    fn default() -> Self {
        Self(Subset::empty(0))
    }
}

impl PartialEq for FeatureSet {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Eq for FeatureSet {}

impl Extend<usize> for FeatureSet {
    fn extend<I: IntoIterator<Item = usize>>(&mut self, indices: I) {
        for j in indices {
            self.insert(j);
        }
    }
}

impl FromIterator<usize> for FeatureSet {
    fn from_iter<I: IntoIterator<Item = usize>>(indices: I) -> Self {
        let mut set = Self::default();
        set.extend(indices);
        set
    }
}

impl From<Vec<usize>> for FeatureSet {
    fn from(indices: Vec<usize>) -> Self {
        indices.into_iter().collect()
    }
}

impl<'de> Deserialize<'de> for FeatureSet {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let indices = Vec::<usize>::deserialize(from)?;
        match indices.iter().find(|&&j| j >= TOO_MANY) {
            Some(j) => Err(D::Error::custom(format!("feature {j}: indices are below 2^32 - 1"))),
            None => Ok(indices.into()),
        }
    }
}

impl From<FeatureSet> for Vec<usize> {
    fn from(set: FeatureSet) -> Self {
        set.0.into()
    }
}

impl std::fmt::Debug for FeatureSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
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
    use super::{FeatureSet, Subset};

    #[test]
    fn a_set_of_any_size_is_what_was_put_in() {
        let mut set = FeatureSet::default();
        assert!(!set.contains(7) && !set.remove(7) && set.insert(130) && !set.insert(130));
        set.extend([3, 64, 3]);
        assert_eq!((set.len(), set.iter().collect::<Vec<_>>()), (3, vec![3, 64, 130]));
        assert!(set.contains(64) && !set.contains(65) && !set.contains(1 << 40));
        for (range, inside) in
            [(0..200, &[3, 64, 130][..]), (4..64, &[]), (64..130, &[64]), (129..131, &[130]), (140..150, &[])]
        {
            assert_eq!(set.within(range.clone()).collect::<Vec<_>>(), inside, "{range:?}");
        }
        let kept = set.clone();
        assert!(set.insert(9000) && set.remove(9000));
        assert_eq!(set, kept, "what it once held does not matter");
        assert_eq!(FeatureSet::of(131, |j| [3, 64, 130].contains(&j)), kept);
        assert_eq!(serde_json::to_string(&kept).unwrap(), "[3,64,130]");
        assert_eq!(serde_json::from_str::<FeatureSet>("[130,3,64,3]").unwrap(), kept);
        let far = serde_json::from_str::<FeatureSet>("[1,4294967296]").unwrap_err().to_string();
        assert!(far.contains("feature 4294967296: indices are below 2^32 - 1"), "{far}");
    }

    #[test]
    fn counts_and_lists_what_it_holds() {
        let mut s = Subset::from_indices(130, [3, 64, 129, 64]);
        assert_eq!((s.len(), s.iter().collect::<Vec<_>>()), (3, vec![3, 64, 129]));
        assert!(s.remove(64) && !s.remove(64) && s.insert(0) && !s.insert(0));
        assert_eq!(s.iter().collect::<Vec<_>>(), vec![0, 3, 129]);
        assert_eq!(Subset::full(70).difference(&Subset::from_indices(70, 1..70)).collect::<Vec<_>>(), vec![0]);
    }
}
