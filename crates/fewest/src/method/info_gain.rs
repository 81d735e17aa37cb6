//! Information gain: ranks features by how many bits knowing them tells about the class; it trains no SVM and proves
//! nothing about one. The subset returned has the largest total gain that the rules allow.
//!
//! Solves   max_z sum_j z_j G_j  s.t. rules, with `G_j = H(Y) - sum_b (n_b / n) H(Y | b)` over the intervals b of feature j
//!          and `H(Y) = - sum_c P(c) log2 P(c)`.       Paper: baseline of Aytug 2015; intervals by Fayyad and Irani,
//!          Multi-interval discretization of continuous-valued attributes, IJCAI 1993, eqs. (1)-(3) and the MDL criterion.
//! Given    the data matrix, a class and a weight per sample (any number of classes), Rules, [`Binning`]. A sample of weight 2 counts
//!          as two samples, everywhere.
//! Returns  subset, total gain, ranking of the scored features, status; no bound.
//! Steps    1. sort each feature's values into blocks of equal values with their class counts; 2. cut the blocks into
//!          intervals; 3. gain of the intervals; 4. best allowed subset.
//! Cost     O(m log m + k b d) per feature: m stored values, k classes, b blocks, d depth of the cuts; memory O(k b) per
//!          thread. The zeros a sparse column leaves out are one block and are never written down.
//! Differs  from the paper: cut points inside a run of blocks of one and the same class are skipped, because the best cut
//!          never lies there (their Theorem 1). Intervals of equal frequency never split equal values.
//! Fails    never on limits (features not reached in time count as gain 0 and are not ranked); errors: shapes, values
//!          that are not finite, fewer than two classes, fewer than 2 bins.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::path::{self, SizeReport};
use super::{ALL_RULES, Info, Method, Report};
use crate::method::{Ranked, Selection};
use crate::{Classified, Design, Error, Event, Kernel, Limits, Observer, Rules, Run, Sense, Status, problem};

/// How a numeric feature is cut into intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Binning {
    /// Fayyad and Irani 1993: recursive cuts accepted by the minimum description length rule.
    #[default]
    Mdl,
    /// This many intervals with equally many samples, at least 2.
    EqualFrequency(usize),
}

/// Settings of `info-gain`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InfoGainSettings {
    /// How a numeric feature is cut into intervals. Default [`Binning::Mdl`].
    pub binning: Binning,
}

impl Method for InfoGainSettings {
    const INFO: Info = Info {
        name: "info-gain",
        title: "information gain filter",
        solves: "Scores each feature by how much knowing its interval lowers the entropy of the class, and takes the allowed subset with the largest total.",
        formula: "gain_j = H(class) - H(class | interval of x_j), in bits; max sum of gains over the allowed subsets",
        proves: "the largest total gain under the rules; says nothing about the SVM",
        bounds: false,
        searches: false,
        kernels: "none needed; the SVM trained at the end is linear",
        classes: super::Classes::Any,
        rules: ALL_RULES,
        cost: "one sort per feature",
        paper: "J. R. Quinlan: Induction of decision trees. Machine Learning 1 (1986), 81-106; cuts: U. Fayyad, K. Irani: Multi-interval discretization of continuous-valued attributes for classification learning. IJCAI 1993, 1022-1027.",
    };

    fn check(&self, _p: usize) -> Result<(), Error> {
        self.binning.check()
    }

    fn select(
        &self,
        samples: &Classified<'_>,
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Report, Error> {
        let (design, classes, weights) = (samples.design(), samples.classes(), samples.weights());
        let selection = information_gain(design, classes, weights, rules, self.binning, limits, observer)?;
        Ok(Report::new(selection, Kernel::Linear))
    }

    fn path(
        &self,
        samples: &Classified<'_>,
        rules: &Rules,
        sizes: &[usize],
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Result<Vec<SizeReport>, Error> {
        let (design, classes, weights) = (samples.design(), samples.classes(), samples.weights());
        let (binning, limits) = (self.binning, limits);
        let points = path::information_gain_path(design, classes, weights, rules, sizes, binning, limits, observer)?;
        Ok(path::reports(points, |_| Kernel::Linear))
    }

    fn finds_size(&self) -> bool {
        false
    }
}

impl Binning {
    /// Checks the number of bins.
    ///
    /// # Errors
    /// [`Error::Setting`] for fewer than 2.
    pub fn check(self) -> Result<(), Error> {
        match self {
            Binning::EqualFrequency(bins) if bins < 2 => Err(Error::setting("bins", bins, "at least 2")),
            _ => Ok(()),
        }
    }
}

/// Stored values scored between two looks at the limits.
const VALUES_PER_CHUNK: usize = 1 << 21;

/// `info-gain`: the allowed subset with the largest total information gain (bits). `classes` holds the class of each sample, from 0,
/// `weights` how many samples it counts as (length n).
/// Features without gain are only taken when a rule asks for them, so the subset may be smaller than the rules allow.
///
/// # Errors
/// Settings out of range, shapes that do not fit, values that are not finite, fewer than two classes.
pub fn information_gain(
    design: &dyn Design,
    classes: &[u32],
    weights: &[f64],
    rules: &Rules,
    binning: Binning,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Selection, Error> {
    binning.check()?;
    let (n, p) = (design.n_samples(), design.n_features());
    problem::check_classes(n, classes)?;
    problem::checked_weights(n, Some(weights))?;
    rules.check_features(p)?;
    let sample_class = Classes::new(classes, weights)?;

    let mut run = Run::new(rules, limits, Sense::Max, observer)?;
    let per_feature = (design.stored() / p.max(1)).max(n / 16).max(1);
    let chunk = (VALUES_PER_CHUNK / per_feature).clamp(1, p.max(1));
    let mut gains = Vec::with_capacity(p);
    let mut status = Status::Completed;
    while gains.len() < p {
        if let Some(limit) = run.stop() {
            status = limit;
            break;
        }
        let end = (gains.len() + chunk).min(p);
        let scored: Result<Vec<f64>, Error> =
            (gains.len()..end).into_par_iter().map(|j| feature_gain(design, j, &sample_class, binning)).collect();
        gains.extend(scored?);
        run.tell(&Event::Progress { done: end as u64, total: Some(p as u64), elapsed: run.elapsed() });
    }

    let known = gains.len();
    gains.resize(p, 0.0);
    if (known > 0 || p == 0)
        && let Some((subset, total)) = rules.best_subset(&gains)
    {
        run.offer(&subset, total);
    }
    let mut order: Vec<usize> = (0..known).collect();
    order.sort_by(|&a, &b| gains[b].total_cmp(&gains[a]).then(a.cmp(&b)));
    let ranking = order
        .into_iter()
        .enumerate()
        .map(|(at, feature)| Ranked { feature, rank: at + 1, step: None, criterion: gains[feature] })
        .collect();
    Ok(Selection { outcome: run.finish(status), ranking, solutions: Vec::new() })
}

/// The class of each sample, renumbered 0 .. k - 1 among those that have weight, its weight, and the weight of each class.
struct Classes<'a> {
    of: Vec<u32>,
    weights: &'a [f64],
    counts: Vec<f64>,
}

impl<'a> Classes<'a> {
    fn new(classes: &[u32], weights: &'a [f64]) -> Result<Self, Error> {
        let weighted = || classes.iter().zip(weights).filter(|(_, w)| **w > 0.0);
        let mut number: BTreeMap<u32, u32> = weighted().map(|(&c, _)| (c, 0)).collect();
        if number.len() < 2 {
            let found = number.len();
            return Err(Error::Data(format!("{found} class among the samples with weight; two or more are needed")));
        }
        for (at, value) in number.values_mut().enumerate() {
            *value = at as u32;
        }
        let mut counts = vec![0.0; number.len()];
        for (c, weight) in weighted() {
            counts[number[c] as usize] += weight;
        }
        // The class of a sample without weight is never looked at.
        let of = classes.iter().map(|c| number.get(c).copied().unwrap_or(0)).collect();
        Ok(Self { of, weights, counts })
    }
}

/// Class counts (weights) of the blocks of equal values of one feature, in order of the value: block b at `counts[b * k..][..k]`.
struct Blocks {
    k: usize,
    counts: Vec<f64>,
}

impl Blocks {
    fn len(&self) -> usize {
        self.counts.len() / self.k
    }
    fn block(&self, b: usize) -> &[f64] {
        &self.counts[b * self.k..(b + 1) * self.k]
    }
    fn push(&mut self, counts: &[f64]) {
        self.counts.extend_from_slice(counts);
    }
    /// Class counts of the blocks `from..to` together.
    fn sum(&self, from: usize, to: usize) -> Vec<f64> {
        let mut sum = vec![0.0; self.k];
        for b in from..to {
            add(&mut sum, self.block(b));
        }
        sum
    }
}

fn add(sum: &mut [f64], counts: &[f64]) {
    for (s, c) in sum.iter_mut().zip(counts) {
        *s += c;
    }
}

/// What is left of weights when a part of them goes: nothing, where it is rounding.
fn take(rest: &mut f64, part: f64) {
    let before = *rest;
    *rest -= part;
    if *rest < 1e-9 * before {
        *rest = 0.0;
    }
}

/// Gain of feature j in bits (steps 1 to 3).
fn feature_gain(design: &dyn Design, j: usize, classes: &Classes<'_>, binning: Binning) -> Result<f64, Error> {
    let blocks = blocks(design, j, classes)?;
    let ends = match binning {
        Binning::Mdl => {
            let mut ends = Vec::new();
            mdl_cuts(&blocks, &mut ends);
            ends
        }
        Binning::EqualFrequency(bins) => equal_frequency(&blocks, bins),
    };
    let n = size(&classes.counts);
    let (mut from, mut inside) = (0, 0.0);
    for end in ends {
        let counts = blocks.sum(from, end);
        inside += size(&counts) * entropy(&counts);
        from = end;
    }
    Ok((entropy(&classes.counts) - inside / n).max(0.0))
}

/// Step 1.
fn blocks(design: &dyn Design, j: usize, classes: &Classes<'_>) -> Result<Blocks, Error> {
    let k = classes.counts.len();
    // Samples that are not stored are zeros.
    let mut zeros = classes.counts.clone();
    let mut values: Vec<(f64, u32, f64)> = Vec::new();
    let mut bad = None;
    design.each_in_column(j, &mut |i, x| {
        if !x.is_finite() && bad.is_none() {
            bad = Some((i, x));
        }
        if x != 0.0 && classes.weights[i] > 0.0 {
            take(&mut zeros[classes.of[i] as usize], classes.weights[i]);
            values.push((x, classes.of[i], classes.weights[i]));
        }
    });
    if let Some((i, x)) = bad {
        return Err(Error::Data(format!("sample {i}, feature {j} is {x}; remove or fill in such values first")));
    }
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut blocks = Blocks { k, counts: Vec::new() };
    let mut zeros = zeros.iter().any(|&c| c > 0.0).then_some(zeros);
    for group in values.chunk_by(|a, b| a.0 == b.0) {
        if group[0].0 > 0.0
            && let Some(counts) = zeros.take()
        {
            blocks.push(&counts);
        }
        let mut counts = vec![0.0; k];
        for &(_, class, weight) in group {
            counts[class as usize] += weight;
        }
        blocks.push(&counts);
    }
    if let Some(counts) = zeros {
        blocks.push(&counts);
    }
    Ok(blocks)
}

/// Step 2 by Fayyad and Irani: the best cut of an interval is accepted when
/// `gain > (log2(N - 1) + log2(3^k - 2) - (k H(S) - k1 H(S1) - k2 H(S2))) / N`, then both halves are cut in turn. Writes the
/// ends of the intervals (numbers of blocks, ascending). A stack of its own keeps deep recursions off the thread's stack.
fn mdl_cuts(blocks: &Blocks, ends: &mut Vec<usize>) {
    let mut open = vec![(0, blocks.len())];
    while let Some((from, to)) = open.pop() {
        match accepted_cut(blocks, from, to) {
            Some(cut) => open.extend([(cut, to), (from, cut)]),
            None => ends.push(to),
        }
    }
}

/// The cut of blocks `from..to` that leaves the least class entropy (ties: the first), if the MDL rule accepts it.
fn accepted_cut(blocks: &Blocks, from: usize, to: usize) -> Option<usize> {
    let all = blocks.sum(from, to);
    let (total, whole) = (size(&all), entropy(&all));
    if to - from < 2 || whole == 0.0 {
        return None;
    }
    let (mut left, mut right) = (vec![0.0; blocks.k], all.clone());
    let mut best: Option<(f64, usize)> = None;
    for cut in from + 1..to {
        let block = blocks.block(cut - 1);
        add(&mut left, block);
        for (r, c) in right.iter_mut().zip(block) {
            take(r, *c);
        }
        if only_class(block).is_some() && only_class(block) == only_class(blocks.block(cut)) {
            continue;
        }
        let inside = (size(&left) * entropy(&left) + size(&right) * entropy(&right)) / total;
        if best.is_none_or(|(least, _)| inside < least) {
            best = Some((inside, cut));
        }
    }
    let (inside, cut) = best?;
    let (left, right) = (blocks.sum(from, cut), blocks.sum(cut, to));
    let present = |counts: &[f64]| counts.iter().filter(|&&c| c > 0.0).count() as f64;
    let k = present(&all);
    // log2(3^k - 2) without the power, which overflows for many classes.
    let choices = k * 3f64.log2() + (1.0 - 2.0 * 3f64.powf(-k)).log2();
    let delta = choices - (k * whole - present(&left) * entropy(&left) - present(&right) * entropy(&right));
    (whole - inside > ((total - 1.0).log2() + delta) / total).then_some(cut)
}

/// Step 2 with `bins` intervals: the block whose middle sample has rank r goes to interval `floor(r bins / n)`.
fn equal_frequency(blocks: &Blocks, bins: usize) -> Vec<usize> {
    let n = size(&blocks.counts);
    let mut ends = Vec::new();
    let (mut before, mut current) = (0.0, None);
    for b in 0..blocks.len() {
        let samples = size(blocks.block(b));
        let bin = ((before + (samples / 2.0).floor()) * bins as f64 / n).floor();
        if current.is_some_and(|c| c != bin) {
            ends.push(b);
        }
        current = Some(bin);
        before += samples;
    }
    ends.push(blocks.len());
    ends
}

/// The only class of a block, if it has one.
fn only_class(block: &[f64]) -> Option<usize> {
    let mut present = block.iter().enumerate().filter(|(_, c)| **c > 0.0).map(|(at, _)| at);
    let first = present.next()?;
    present.next().is_none().then_some(first)
}

fn size(counts: &[f64]) -> f64 {
    counts.iter().sum()
}

/// `- sum_c P(c) log2 P(c)`, written as `log2 N - sum_c n_c log2 n_c / N`; exactly 0 for one class.
fn entropy(counts: &[f64]) -> f64 {
    if only_class(counts).is_some() {
        return 0.0;
    }
    let total = size(counts);
    if total == 0.0 {
        return 0.0;
    }
    let sum: f64 = counts.iter().filter(|&&c| c > 0.0).map(|&c| c * c.log2()).sum();
    total.log2() - sum / total
}

#[cfg(test)]
mod tests {
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
        let found = information_gain(
            design,
            classes,
            &vec![1.0; classes.len()],
            &rules,
            binning,
            Limits::default(),
            &mut Silent,
        )
        .unwrap();
        assert_eq!(found.outcome.status, Status::Completed);
        let mut gains = vec![f64::NAN; design.n_features()];
        for ranked in &found.ranking {
            gains[ranked.feature] = ranked.criterion;
        }
        gains
    }

    // The definition restated with maps and sample lists, O(n^2): nothing is shared with the code above.
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
                values.push(if zero {
                    0.0
                } else {
                    rng.below(distinct) as f64 - distinct as f64 / 2.0 + shift.round()
                });
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
                let found =
                    information_gain(design, &classes, &weights, &rules, binning, Limits::default(), &mut Silent);
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
        let list = RuleList { max_features: Some(3), require: vec![1], forbid: vec![0], ..RuleList::default() };
        let rules = Rules::new(12, list, &[]).unwrap();
        let found =
            information_gain(&design, &classes, &[1.0; 100], &rules, Binning::Mdl, Limits::default(), &mut Silent)
                .unwrap();
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
        let found =
            information_gain(&design, &[0, 0, 1, 1], &[1.0; 4], &Rules::none(1), Binning::Mdl, limits, &mut Silent)
                .unwrap();
        assert_eq!((found.outcome.status, found.ranking.len()), (Status::TimeLimit, 0));
        assert_eq!(found.outcome.subset, None);
        let limits = Limits::default();
        limits.cancel.cancel();
        let found =
            information_gain(&design, &[0, 0, 1, 1], &[1.0; 4], &Rules::none(1), Binning::Mdl, limits, &mut Silent)
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
}
