//! Information gain against its definition, its cuts against Fayyad and Irani's, rules and limits.

use std::time::Duration;

use super::{Binning, information_gain};
use crate::{DenseDesign, Design, Error, Limits, RuleList, Rules, Silent, SparseDesign, Status};

/// SplitMix64.
struct Rng(u64);
impl Rng {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % end
    }
}

fn gains(design: &dyn Design, classes: &[u32], binning: Binning) -> Vec<f64> {
    let rules = Rules::none(design.n_features());
    let found =
        information_gain(design, classes, &vec![1.0; classes.len()], &rules, binning, Limits::default(), &mut Silent)
            .unwrap();
    assert_eq!(found.outcome.status, Status::Completed);
    let mut gains = vec![f64::NAN; design.n_features()];
    for ranked in &found.ranking {
        gains[ranked.feature] = ranked.criterion;
    }
    gains
}

// The definition restated with maps and sample lists, O(n^2): nothing is shared with the code
// above.
fn naive_entropy(classes: &[u32]) -> f64 {
    let n = classes.len() as f64;
    (0..10)
        .map(|c| classes.iter().filter(|&&x| x == c).count() as f64 / n)
        .filter(|&share| share > 0.0)
        .map(|share| -share * share.log2())
        .sum()
}

fn naive_kinds(classes: &[u32]) -> f64 {
    (0..10).filter(|c| classes.contains(c)).count() as f64
}

/// Weighted entropy `|S| H` summed over the final intervals.
fn naive_mdl(samples: &[(f64, u32)]) -> f64 {
    let labels = |s: &[(f64, u32)]| s.iter().map(|x| x.1).collect::<Vec<u32>>();
    let (n, whole) = (samples.len() as f64, naive_entropy(&labels(samples)));
    let mut best: Option<(f64, f64)> = None;
    let mut values: Vec<f64> = samples.iter().map(|s| s.0).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let parts = |t: f64| {
        let (left, right): (Vec<_>, Vec<_>) = samples.iter().copied().partition(|s| s.0 < t);
        (left, right)
    };
    for &t in values.iter().skip(1) {
        let (left, right) = parts(t);
        let inside = (left.len() as f64 * naive_entropy(&labels(&left))
            + right.len() as f64 * naive_entropy(&labels(&right)))
            / n;
        if best.is_none_or(|(least, _)| inside < least - 1e-12) {
            best = Some((inside, t));
        }
    }
    let Some((inside, t)) = best else { return n * whole };
    let (left, right) = parts(t);
    let (l, r) = (labels(&left), labels(&right));
    let k = naive_kinds(&labels(samples));
    let delta = (3f64.powf(k) - 2.0).log2()
        - (k * whole - naive_kinds(&l) * naive_entropy(&l) - naive_kinds(&r) * naive_entropy(&r));
    if whole - inside > ((n - 1.0).log2() + delta) / n { naive_mdl(&left) + naive_mdl(&right) } else { n * whole }
}

fn naive_gain(column: &[f64], classes: &[u32]) -> f64 {
    let samples: Vec<(f64, u32)> = column.iter().copied().zip(classes.iter().copied()).collect();
    naive_entropy(classes) - naive_mdl(&samples) / column.len() as f64
}

/// Columns of few or many distinct values, some of them informative, some mostly zero.
fn random_data(rng: &mut Rng, n: usize, p: usize, k: u64) -> (Vec<f64>, Vec<u32>) {
    let classes: Vec<u32> = (0..n).map(|i| if i < 2 { i as u32 } else { rng.below(k) as u32 }).collect();
    let mut values = Vec::new();
    for j in 0..p {
        let distinct = [2, 3, 10, 1000][j % 4];
        for class in &classes {
            let shift = if j % 3 == 0 { f64::from(*class) * distinct as f64 * 0.4 } else { 0.0 };
            let zero = j % 5 == 4 && rng.below(4) > 0;
            values.push(if zero { 0.0 } else { rng.below(distinct) as f64 - distinct as f64 / 2.0 + shift.round() });
        }
    }
    (values, classes)
}

fn sparse(n: usize, values: &[f64]) -> SparseDesign<'static> {
    let (mut start, mut rows, mut kept) = (vec![0], vec![], vec![]);
    for column in values.chunks(n) {
        for (i, &x) in column.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            rows.push(i as u32);
            kept.push(x);
        }
        start.push(rows.len());
    }
    SparseDesign::new(n, start, rows, kept).unwrap()
}

#[test]
fn gains_are_those_of_the_definition_dense_and_sparse() {
    let mut rng = Rng(1);
    let mut informative = 0;
    for (n, k) in [(5, 2), (40, 2), (60, 3), (120, 5), (200, 2)] {
        let (values, classes) = random_data(&mut rng, n, 20, k);
        let dense = DenseDesign::new(n, 20, values.clone()).unwrap();
        let found = gains(&dense, &classes, Binning::Mdl);
        for (j, &gain) in found.iter().enumerate() {
            let want = naive_gain(&values[j * n..(j + 1) * n], &classes);
            assert!((gain - want).abs() < 1e-9, "n {n}, feature {j}: {gain}, by definition {want}");
            informative += usize::from(gain > 0.0);
        }
        for binning in [Binning::Mdl, Binning::EqualFrequency(4)] {
            assert_eq!(gains(&dense, &classes, binning), gains(&sparse(n, &values), &classes, binning));
        }
    }
    assert!(informative > 20, "only {informative} features had gain: the test shows little");
}

#[test]
fn mdl_accepts_a_clear_cut_and_refuses_noise() {
    let n = 40;
    let classes: Vec<u32> = (0..n).map(|i| u32::from(i >= 30)).collect();
    let mut values: Vec<f64> = (0..n).map(f64::from).collect();
    // The same values for both classes, alternating.
    values.extend((0..n).map(|i| f64::from(i % 2)));
    values.extend((0..n).map(|_| 3.0));
    let found = gains(&DenseDesign::new(40, 3, values).unwrap(), &classes, Binning::Mdl);
    let whole = -(0.75 * 0.75f64.log2() + 0.25 * 0.25f64.log2());
    assert!((found[0] - whole).abs() < 1e-12, "a perfect cut gains the whole entropy: {found:?}");
    assert_eq!(found[1..], [0.0, 0.0]);
}

#[test]
fn equal_frequency_has_the_gain_of_its_bins() {
    // Ranks 0-1, 2-3, 4-5: classes 00, 01, 11 leave 1/3 of a bit.
    let dense = DenseDesign::new(6, 1, vec![5.0, 1.0, 2.0, 3.0, 4.0, 6.0]).unwrap();
    let found = gains(&dense, &[1, 0, 0, 0, 1, 1], Binning::EqualFrequency(3));
    assert!((found[0] - 2.0 / 3.0).abs() < 1e-12, "{found:?}");
    // Equal values stay in one interval.
    let tied = DenseDesign::new(6, 1, vec![1.0; 6]).unwrap();
    assert_eq!(gains(&tied, &[1, 0, 0, 0, 1, 1], Binning::EqualFrequency(3)), [0.0]);
}

#[test]
fn the_order_of_samples_and_the_names_of_classes_do_not_matter() {
    let mut rng = Rng(2);
    let (n, p) = (80, 12);
    let (values, classes) = random_data(&mut rng, n, p, 4);
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, rng.below(i as u64 + 1) as usize);
    }
    let mixed: Vec<f64> = values.chunks(n).flat_map(|c| order.iter().map(|&i| c[i]).collect::<Vec<_>>()).collect();
    let renamed: Vec<u32> = order.iter().map(|&i| [7, 3, 4_000_000_000, 0][classes[i] as usize]).collect();
    for binning in [Binning::Mdl, Binning::EqualFrequency(5)] {
        let first = gains(&DenseDesign::new(n, p, values.clone()).unwrap(), &classes, binning);
        let second = gains(&DenseDesign::new(n, p, mixed.clone()).unwrap(), &renamed, binning);
        for (a, b) in first.iter().zip(&second) {
            assert!((a - b).abs() < 1e-12, "{first:?} against {second:?}");
        }
    }
}

#[test]
fn a_weight_counts_samples() {
    let mut rng = Rng(4);
    let (n, p) = (60, 8);
    let (values, classes) = random_data(&mut rng, n, p, 3);
    let times: Vec<usize> = (0..n).map(|_| rng.below(4) as usize).collect();
    let weights: Vec<f64> = times.iter().map(|&t| t as f64).collect();
    let many = |i: usize| std::iter::repeat_n(i, times[i]);
    let repeated: Vec<f64> =
        values.chunks(n).flat_map(|c| (0..n).flat_map(many).map(|i| c[i]).collect::<Vec<_>>()).collect();
    let labels: Vec<u32> = (0..n).flat_map(many).map(|i| classes[i]).collect();
    let rules = Rules::none(p);
    for binning in [Binning::Mdl, Binning::EqualFrequency(4)] {
        let alone = gains(&DenseDesign::new(labels.len(), p, repeated.clone()).unwrap(), &labels, binning);
        for design in [&DenseDesign::new(n, p, values.clone()).unwrap() as &dyn Design, &sparse(n, &values)] {
            let found = information_gain(design, &classes, &weights, &rules, binning, Limits::default(), &mut Silent);
            for ranked in found.unwrap().ranking {
                assert!((ranked.criterion - alone[ranked.feature]).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn the_subset_obeys_the_rules_and_the_ranking_falls() {
    let mut rng = Rng(3);
    let (values, classes) = random_data(&mut rng, 100, 12, 3);
    let design = DenseDesign::new(100, 12, values).unwrap();
    let list = RuleList { max_features: Some(3), require: vec![1], forbid: vec![0].into(), ..RuleList::default() };
    let rules = Rules::new(12, list, &[]).unwrap();
    let found =
        information_gain(&design, &classes, &[1.0; 100], &rules, Binning::Mdl, Limits::default(), &mut Silent).unwrap();
    let subset = found.outcome.subset.clone().unwrap();
    assert!(rules.allows(&subset) && subset.contains(1) && subset.len() == 3, "{subset:?}");
    let total: f64 = found.ranking.iter().filter(|r| subset.contains(r.feature)).map(|r| r.criterion).sum();
    assert!((found.outcome.objective.unwrap() - total).abs() < 1e-12);
    assert_eq!(found.outcome.bound, None);
    assert!(found.ranking.windows(2).all(|w| w[0].criterion >= w[1].criterion && w[0].rank + 1 == w[1].rank));
    assert_eq!(found.ranking.len(), 12);
}

#[test]
fn a_time_limit_of_zero_is_a_status() {
    let design = DenseDesign::new(4, 1, vec![1.0, 2.0, 3.0, 4.0]).unwrap();
    let limits = Limits { time: Some(Duration::ZERO), ..Limits::default() };
    let found = information_gain(&design, &[0, 0, 1, 1], &[1.0; 4], &Rules::none(1), Binning::Mdl, limits, &mut Silent)
        .unwrap();
    assert_eq!((found.outcome.status, found.ranking.len()), (Status::TimeLimit, 0));
    assert_eq!(found.outcome.subset, None);
    let limits = Limits::default();
    limits.cancel.cancel();
    let found = information_gain(&design, &[0, 0, 1, 1], &[1.0; 4], &Rules::none(1), Binning::Mdl, limits, &mut Silent)
        .unwrap();
    assert_eq!(found.outcome.status, Status::Cancelled);
}

#[test]
fn bad_input_is_named() {
    let design = DenseDesign::new(2, 1, vec![1.0, f64::NAN]).unwrap();
    let ask = |classes: &[u32], p: usize, binning: Binning| {
        let rules = Rules::none(p);
        match information_gain(
            &design,
            classes,
            &vec![1.0; classes.len()],
            &rules,
            binning,
            Limits::default(),
            &mut Silent,
        ) {
            Err(Error::Data(text) | Error::Rules(text)) => text,
            Err(other) => other.to_string(),
            Ok(found) => panic!("accepted: {found:?}"),
        }
    };
    assert!(ask(&[0, 1], 1, Binning::Mdl).contains("sample 1, feature 0 is NaN"));
    assert!(ask(&[0, 1], 1, Binning::EqualFrequency(1)).contains("bins is 1"));
    assert!(ask(&[0], 1, Binning::Mdl).contains("1 class labels for 2 samples"));
    assert!(ask(&[0, 0], 1, Binning::Mdl).contains("two or more"));
    assert!(ask(&[0, 1], 3, Binning::Mdl).contains("3 features"));
}
