//! Splits of rows that keep groups together, such as all recordings of one person.
//!
//! Folds are dealt as scikit-learn's `StratifiedGroupKFold` does: groups go one after the other,
//! those whose classes differ most in number first, each into the fold that makes the shares of the
//! classes most alike over folds. Groups are taken in the order of their first rows, so that a
//! split depends on which rows are together, and not on how groups are called.

use crate::Target;
use crate::matrix::random::Random;

/// The stream of random numbers of [`grouped_folds`].
const FOLDS: u32 = 18;

/// The stream of random numbers of [`grouped_halves`].
const HALVES: u32 = 19;

/// Times that a pair of halves is dealt again where one of them lacks a class.
const TRIES: usize = 100;

/// Why groups cannot be dealt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DealError {
    /// Fewer groups than folds.
    #[error("there are to be {folds} folds, but there are {groups} groups of samples; use at most {groups} folds")]
    FewGroups {
        /// Folds asked for.
        folds: usize,
        /// Groups to deal.
        groups: usize,
    },
    /// A fold that no group went into.
    #[error("one of {folds} folds is left without samples, as {groups} groups differ so much in size; use fewer folds")]
    EmptyFold {
        /// Folds asked for.
        folds: usize,
        /// Groups to deal.
        groups: usize,
    },
    /// Halves one of which lacks a class.
    #[error(
        "class {class} is in {groups} of the groups, which leave one half without it; leave that class out, or use smaller groups"
    )]
    ClassInOneHalf {
        /// The class.
        class: String,
        /// Groups that have samples of it.
        groups: usize,
    },
}

/// Groups of rows: how many rows of each class each has.
struct Groups {
    /// The group of each row, numbered in the order of first rows.
    of: Vec<usize>,
    /// Rows of each class, by group; classes without rows are left out.
    counts: Vec<Vec<f64>>,
    /// Rows of each class.
    totals: Vec<f64>,
}

impl Groups {
    fn new(target: &Target, codes: &[u32]) -> Self {
        let mut places = std::collections::HashMap::new();
        let of: Vec<usize> = codes
            .iter()
            .map(|code| {
                let next = places.len();
                *places.entry(*code).or_insert(next)
            })
            .collect();
        let all = target.counts();
        let kept: Vec<usize> = (0..all.len()).filter(|&class| all[class] > 0).collect();
        let mut counts = vec![vec![0.0; kept.len()]; places.len()];
        for (&group, &class) in of.iter().zip(&target.codes) {
            if let Ok(at) = kept.binary_search(&(class as usize)) {
                counts[group][at] += 1.0;
            }
        }
        Self { of, counts, totals: kept.iter().map(|&class| all[class] as f64).collect() }
    }

    fn len(&self) -> usize {
        self.counts.len()
    }

    /// All of them, in random order.
    fn shuffled(&self, random: &mut Random) -> Vec<usize> {
        random.sample(self.len(), self.len())
    }

    /// The fold of each group, and the rows of each class in each fold: groups go in this order,
    /// but those of a larger standard deviation of their class counts before the others.
    fn dealt(&self, mut order: Vec<usize>, folds: usize) -> Vec<usize> {
        let spread: Vec<f64> = self.counts.iter().map(|counts| deviation(counts.iter().copied())).collect();
        order.sort_by(|&a, &b| spread[b].total_cmp(&spread[a]));
        self.placed(&order, folds)
    }

    /// The fold of each group, which go in this order: each into the fold by which the mean
    /// standard deviation over folds of the shares of classes becomes smallest, among equals into
    /// that of fewest rows.
    fn placed(&self, order: &[usize], folds: usize) -> Vec<usize> {
        let mut of = vec![0; self.len()];
        let mut filled = vec![vec![0.0; self.totals.len()]; folds];
        for &group in order {
            let (mut best, mut least, mut fewest) = (0, f64::INFINITY, f64::INFINITY);
            for fold in 0..folds {
                let before: f64 = filled[fold].iter().sum();
                add(&mut filled[fold], &self.counts[group], 1.0);
                let value = self.unevenness(&filled);
                add(&mut filled[fold], &self.counts[group], -1.0);
                let as_good = least.is_finite() && (value - least).abs() <= 1e-8 + 1e-5 * least;
                if value < least || (as_good && before < fewest) {
                    (best, least, fewest) = (fold, value, before);
                }
            }
            of[group] = best;
            add(&mut filled[best], &self.counts[group], 1.0);
        }
        of
    }

    /// Mean over classes of the standard deviation over folds of the share of the class.
    fn unevenness(&self, filled: &[Vec<f64>]) -> f64 {
        let of_class = |(class, total): (usize, &f64)| deviation(filled.iter().map(|fold| fold[class] / total));
        self.totals.iter().enumerate().map(of_class).sum::<f64>() / self.totals.len().max(1) as f64
    }

    /// The largest share of a class that a group has, as a power of 2.
    fn size(&self, group: usize) -> i32 {
        let shares = self.counts[group].iter().zip(&self.totals).map(|(count, total)| count / total);
        shares.fold(0.0, f64::max).max(f64::MIN_POSITIVE).log2().floor() as i32
    }

    /// Groups with rows of this class.
    fn with(&self, class: usize) -> usize {
        self.counts.iter().filter(|counts| counts[class] > 0.0).count()
    }
}

fn add(to: &mut [f64], counts: &[f64], times: f64) {
    to.iter_mut().zip(counts).for_each(|(sum, count)| *sum += times * count);
}

/// The standard deviation of some numbers, in the order of operations that numpy has.
fn deviation(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let n = values.clone().count().max(1) as f64;
    let mean = values.clone().sum::<f64>() / n;
    (values.map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt()
}

/// Deals the rows into `count` folds, the fold of each row: rows whose group is the same are in one
/// fold, and folds are as alike in their classes as that allows. The groups are shuffled first, by
/// `seed`; without one they go in the order of their first rows. The same seed gives the same folds
/// everywhere.
///
/// # Errors
/// Fewer groups than folds, groups that leave a fold empty.
pub fn grouped_folds(target: &Target, groups: &[u32], count: usize, seed: Option<u64>) -> Result<Vec<u32>, DealError> {
    let groups = Groups::new(target, groups);
    if groups.len() < count {
        return Err(DealError::FewGroups { folds: count, groups: groups.len() });
    }
    let order = match seed {
        Some(seed) => groups.shuffled(&mut Random::new(seed, FOLDS)),
        None => (0..groups.len()).collect(),
    };
    let of = groups.dealt(order, count.max(1));
    if (0..count).any(|fold| !of.contains(&fold)) {
        return Err(DealError::EmptyFold { folds: count, groups: groups.len() });
    }
    Ok(groups.of.iter().map(|&group| of[group] as u32).collect())
}

/// Deals the groups of rows into two halves, `pairs` times: large groups first, those of about one
/// size in random order, each into the half by which the shares of the classes become most alike.
/// Every row is in one of the halves, which are as even as the groups allow. Ascending. The same
/// seed gives the same halves everywhere.
///
/// # Errors
/// A class that one half has no row of.
pub fn grouped_halves(
    target: &Target,
    groups: &[u32],
    pairs: usize,
    seed: u64,
) -> Result<Vec<[Vec<usize>; 2]>, DealError> {
    let (groups, mut random) = (Groups::new(target, groups), Random::new(seed, HALVES));
    let sizes: Vec<i32> = (0..groups.len()).map(|group| groups.size(group)).collect();
    let counts = target.counts();
    let classes: Vec<&String> = target.classes.iter().zip(&counts).filter(|of| *of.1 > 0).map(|of| of.0).collect();
    let lacking = |of: &[usize]| {
        let has = |half: usize, class: usize| (0..of.len()).any(|g| of[g] == half && groups.counts[g][class] > 0.0);
        (0..classes.len()).find(|&class| !(has(0, class) && has(1, class)))
    };
    let mut deal = |_| {
        let mut lacks = None;
        for _ in 0..TRIES {
            let mut order = groups.shuffled(&mut random);
            order.sort_by_key(|&group| -sizes[group]);
            let mut of = groups.placed(&order, 2);
            // Which half the first group is in is random, too.
            if random.coin() {
                of = of.into_iter().map(|half| 1 - half).collect();
            }
            lacks = lacking(&of);
            if lacks.is_none() {
                return Ok([0, 1].map(|half| (0..groups.of.len()).filter(|&i| of[groups.of[i]] == half).collect()));
            }
        }
        let class = lacks.expect("a half that lacks none is returned");
        Err(DealError::ClassInOneHalf { class: classes[class].clone(), groups: groups.with(class) })
    };
    (0..pairs).map(&mut deal).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(codes: Vec<u32>) -> Target {
        Target { column: "y".into(), classes: vec!["a".into(), "b".into(), "c".into()], codes }
    }

    /// Some rows of each of 40 groups, of 3 classes, the first of which most groups have alone.
    fn some(seed: u64) -> (Target, Vec<u32>) {
        let mut random = Random::new(seed, 1);
        let (mut codes, mut groups) = (Vec::new(), Vec::new());
        for group in 0..40 {
            let (rows, pure) = (1 + (7.0 * random.unit()) as usize, random.coin());
            for _ in 0..rows {
                codes.push(if pure { group % 2 } else { (3.0 * random.unit()) as u32 });
                groups.push(3 * group % 101);
            }
        }
        (target(codes), groups)
    }

    #[test]
    fn groups_stay_together_in_folds_that_are_stratified_and_seeded() {
        for seed in 0..20 {
            let (target, groups) = some(seed);
            let folds = grouped_folds(&target, &groups, 5, Some(seed)).unwrap();
            for (i, j) in (0..groups.len()).flat_map(|i| (0..i).map(move |j| (i, j))) {
                assert!(groups[i] != groups[j] || folds[i] == folds[j]);
            }
            let counts = target.counts();
            for class in 0..3 {
                let of = |fold: u32| (0..folds.len()).filter(|&i| folds[i] == fold && target.codes[i] == class).count();
                for share in (0..5).map(|fold| of(fold) as f64 / counts[class as usize] as f64) {
                    assert!((share - 0.2).abs() < 0.15, "seed {seed}, class {class}: {share}");
                }
            }
            assert_eq!(grouped_folds(&target, &groups, 5, Some(seed)).unwrap(), folds);
            assert_ne!(grouped_folds(&target, &groups, 5, Some(seed + 1)).unwrap(), folds);
        }
    }

    /// The fold of each group, in the order of their first rows, by `StratifiedGroupKFold(folds)`
    /// of scikit-learn 1.9.1, of groups that are numbered in that order.
    #[test]
    fn without_the_shuffle_folds_are_those_of_scikit_learn() {
        for (seed, folds, wanted) in [
            (0, 2, "0110101100111001000100000101000011101110"),
            (0, 3, "0201001200202111101001021120222202021102"),
            (0, 5, "1010043240412233344303000104113440022242"),
            (0, 10, "4377506799305516152453083118796898208422"),
            (1, 2, "0111011011000001111000001101001011011010"),
            (1, 3, "1120212220001002122112001200001102121100"),
            (1, 5, "0442114122203024333203441442320423130001"),
            (1, 10, "9807113174975032852335564890692504637086"),
            (2, 2, "1100000011111010000011101001101100001101"),
            (2, 3, "0202000202121221100020010112212011021210"),
            (2, 5, "0424411034121330110224001230234243321431"),
            (2, 10, "2849355041121230340928568089612447967373"),
            (3, 2, "0010010010001111111101001000000010110000"),
            (3, 3, "0100122000002112021111221122220200001220"),
            (3, 5, "2320004224311213424113040031143324320301"),
            (3, 10, "4329980796978304616812737557185409246510"),
        ] {
            let (target, groups) = some(seed);
            let of = grouped_folds(&target, &groups, folds, None).unwrap();
            let first = Groups::new(&target, &groups).of;
            let row = |group: usize| first.iter().position(|&of| of == group).unwrap();
            let found: String = (0..40).map(|group| char::from_digit(of[row(group)], 10).unwrap()).collect();
            assert_eq!(found, wanted, "seed {seed}, {folds} folds");
        }
    }

    #[test]
    fn names_of_groups_do_not_matter() {
        let (target, groups) = some(3);
        let other: Vec<u32> = groups.iter().map(|group| 1000 - group).collect();
        for seed in [None, Some(7)] {
            assert_eq!(grouped_folds(&target, &groups, 4, seed), grouped_folds(&target, &other, 4, seed));
        }
        assert_eq!(grouped_halves(&target, &groups, 3, 7), grouped_halves(&target, &other, 3, 7));
    }

    #[test]
    fn halves_share_no_group_hold_all_classes_and_differ() {
        for seed in 0..10 {
            let (target, groups) = some(seed);
            let pairs = grouped_halves(&target, &groups, 20, seed).unwrap();
            let n = groups.len();
            for [a, b] in &pairs {
                assert!(a.len() + b.len() == n && a.is_sorted() && b.is_sorted());
                assert!(a.len().abs_diff(b.len()) * 10 <= n, "{} and {}", a.len(), b.len());
                assert!(a.iter().all(|&i| b.iter().all(|&j| groups[i] != groups[j])));
                let counts = [a, b].map(|half| target.rows(half).counts());
                for (class, &all) in target.counts().iter().enumerate() {
                    let [x, y] = [counts[0][class], counts[1][class]];
                    assert!(x.min(y) > 0 && x.abs_diff(y) * 3 <= all.max(12), "{x} and {y} of {all}");
                }
            }
            let distinct: std::collections::HashSet<_> = pairs.iter().map(|pair| &pair[0]).collect();
            assert!(distinct.len() >= 18, "{} of 20", distinct.len());
            assert_eq!(grouped_halves(&target, &groups, 20, seed).unwrap(), pairs);
        }
    }

    #[test]
    fn too_few_groups_are_refused() {
        let target = target(vec![0, 0, 1, 1, 1, 0]);
        let error = grouped_folds(&target, &[0, 0, 1, 1, 2, 2], 4, Some(0)).unwrap_err();
        assert_eq!(error, DealError::FewGroups { folds: 4, groups: 3 });
        let error = grouped_halves(&target, &[0, 0, 1, 1, 1, 2], 2, 0).unwrap_err();
        assert_eq!(error, DealError::ClassInOneHalf { class: "b".into(), groups: 1 });
        assert!(grouped_halves(&target, &[0, 0, 1, 2, 1, 3], 2, 0).is_ok());
    }
}
