//! Information gain: ranks features by how many bits knowing them tells about the class; it trains
//! no SVM and proves nothing about one. The subset returned has the largest total gain that the
//! rules allow.
//!
//! Solves   max_z sum_j z_j G_j  s.t. rules, with `G_j = H(Y) - sum_b (n_b / n) H(Y | b)` over the
//!          intervals b of feature j and `H(Y) = - sum_c P(c) log2 P(c)`.
//! Paper    baseline of Aytug 2015; intervals by Fayyad and Irani, Multi-interval discretization of
//!          continuous-valued attributes, IJCAI 1993, eqs. (1)-(3) and the MDL criterion.
//! Given    the data matrix (or what scores columns elsewhere), a class and a weight per sample
//!          (any number of classes), Rules, [`Binning`]. A sample of weight 2 counts as two samples,
//!          everywhere.
//! Returns  subset, total gain, ranking of the scored features, status; no bound.
//! Steps    1. sort each feature's values into blocks of equal values with their class counts;
//!          2. cut the blocks into intervals; 3. gain of the intervals; 4. best allowed subset.
//! Cost     O(m log m + k b d) per feature: m stored values, k classes, b blocks, d depth of the
//!          cuts; memory O(k b) per thread. The zeros a sparse column leaves out are one block and
//!          are never written down.
//! Differs  from the paper: cut points inside a run of blocks of one and the same class are
//!          skipped, because the best cut never lies there (their Theorem 1). Intervals of equal
//!          frequency never split equal values.
//! Fails    never on limits (features not reached in time count as gain 0 and are not ranked);
//!          errors: shapes, values that are not finite, fewer than two classes, fewer than 2 bins.

pub mod path;

use std::collections::BTreeMap;
use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::path::{SizeReport, reports};
use super::{ALL_RULES, Info, Method, Report};

use crate::{
    Design, Error, Event, Kernel, Limits, Observer, Ranked, Rules, Run, Samples, Selection, Sense, Status, problem,
};

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

/// Bits below this are rounding: entropies of at most some bits, sums over at most 2^32 samples.
const ROUNDING: f64 = 1e-13;

crate::settings! {
    /// Settings of `info-gain`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct InfoGainSettings {
        /// How a numeric feature is cut into intervals.
        pub binning: Binning = Binning::Mdl,
    }
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
        samples: &Samples<'_>,
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Report, Error> {
        let (design, classes, weights) = (samples.design(), samples.classes(), &as_many(samples));
        let selection = information_gain(design, classes, weights, rules, self.binning, limits, observer)?;
        Ok(Report::new(selection, Kernel::Linear))
    }

    fn path(
        &self,
        samples: &Samples<'_>,
        rules: &Rules,
        sizes: &[usize],
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Result<Vec<SizeReport>, Error> {
        let (design, classes, weights, binning) =
            (samples.design(), samples.classes(), &as_many(samples), self.binning);
        let points = path::information_gain_path(design, classes, weights, rules, sizes, binning, limits, observer)?;
        Ok(reports(points, |_| Kernel::Linear))
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

/// The weights, of as many samples as there are: those of classes change shares, not the evidence that
/// an interval must have.
fn as_many(samples: &Samples<'_>) -> Vec<f64> {
    let sum = |weights: &[f64]| weights.iter().sum::<f64>();
    let scale = samples.counts().map_or(1.0, |counts| sum(counts) / sum(samples.weights()));
    samples.weights().iter().map(|weight| weight * scale).collect()
}

/// Stored values scored between two checks of the limits.
const VALUES_PER_CHUNK: usize = 1 << 21;

/// `info-gain`: the allowed subset with the largest total information gain (bits). `classes` holds
/// the class of each sample, from 0, `weights` how many samples it counts as (length n). Features
/// without gain are only taken when a rule asks for them, so the subset may be smaller than the
/// rules allow.
///
/// # Errors
/// Settings out of range, shapes that do not fit, values that are not finite, fewer than two
/// classes.
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
        gains.extend(gains_of(design, gains.len()..end, &sample_class, binning)?);
        run.tell(&Event::Progress { done: end as u64, total: Some(p as u64), elapsed: run.elapsed() });
    }

    Ok(select(gains, run, status))
}

/// Steps 1 to 3 for all features: the gain of each, in bits; of the columns of one machine, where
/// they are on several.
pub fn information_gains(
    design: &dyn Design,
    classes: &[u32],
    weights: &[f64],
    binning: Binning,
) -> Result<Vec<f64>, Error> {
    binning.check()?;
    problem::check_classes(design.n_samples(), classes)?;
    problem::checked_weights(design.n_samples(), Some(weights))?;
    gains_of(design, 0..design.n_features(), &Classes::new(classes, weights)?, binning)
}

/// [`information_gain`] of features whose columns are elsewhere: `ask` brings the gain of each, by
/// [`information_gains`]. The result is that of the same columns in memory to the last bit. Limits
/// are examined before and behind that one question.
///
/// # Errors
/// Those of `ask`, and another number of gains than of features.
pub fn information_gain_from(
    ask: &mut dyn FnMut() -> Result<Vec<f64>, Error>,
    rules: &Rules,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Selection, Error> {
    let mut run = Run::new(rules, limits, Sense::Max, observer)?;
    let p = rules.p();
    if let Some(limit) = run.stop() {
        return Ok(select(Vec::new(), run, limit));
    }
    let gains = ask()?;
    rules.check_features(gains.len())?;
    run.tell(&Event::Progress { done: p as u64, total: Some(p as u64), elapsed: run.elapsed() });
    Ok(select(gains, run, Status::Completed))
}

/// Step 4, by the gains of the first features, all of them unless a limit, `status`, was reached.
fn select(mut gains: Vec<f64>, mut run: Run<'_>, mut status: Status) -> Selection {
    let (known, p) = (gains.len(), run.rules().p());
    gains.resize(p, 0.0);
    if known > 0 || p == 0 {
        let best = run.best_subset(&gains);
        run.offer(&best.subset, best.gain);
        if best.stopped {
            status = run.stop().unwrap_or(status);
        }
    }
    let mut order: Vec<usize> = (0..known).collect();
    order.sort_by(|&a, &b| gains[b].total_cmp(&gains[a]).then(a.cmp(&b)));
    let ranking = order
        .into_iter()
        .enumerate()
        .map(|(at, feature)| Ranked { feature, rank: at + 1, step: None, criterion: gains[feature] })
        .collect();
    Selection { outcome: run.finish(status), ranking, solutions: Vec::new() }
}

/// The class of each sample, renumbered 0 .. k - 1 among those that have weight, its weight, and
/// the weight of each class.
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
        // The class of a sample without weight is never read.
        let of = classes.iter().map(|c| number.get(c).copied().unwrap_or(0)).collect();
        Ok(Self { of, weights, counts })
    }
}

/// Class counts (weights) of the blocks of equal values of one feature, in order of the value:
/// block b at `counts[b * k..][..k]`.
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

/// Gains of a range of features.
fn gains_of(
    design: &dyn Design,
    features: Range<usize>,
    classes: &Classes<'_>,
    binning: Binning,
) -> Result<Vec<f64>, Error> {
    features.into_par_iter().map(|j| feature_gain(design, j, classes, binning)).collect()
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
    // What rounding leaves of no gain is no gain.
    let gain = entropy(&classes.counts) - inside / n;
    Ok(if gain > ROUNDING { gain } else { 0.0 })
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
/// `gain > (log2(N - 1) + log2(3^k - 2) - (k H(S) - k1 H(S1) - k2 H(S2))) / N`, then both halves
/// are cut in turn. Writes the ends of the intervals (numbers of blocks, ascending). A stack of its
/// own keeps deep recursions off the thread's stack.
fn mdl_cuts(blocks: &Blocks, ends: &mut Vec<usize>) {
    let mut open = vec![(0, blocks.len())];
    while let Some((from, to)) = open.pop() {
        match accepted_cut(blocks, from, to) {
            Some(cut) => open.extend([(cut, to), (from, cut)]),
            None => ends.push(to),
        }
    }
}

/// The cut of blocks `from..to` that leaves the least class entropy (ties: the first), if the MDL
/// rule accepts it.
fn accepted_cut(blocks: &Blocks, from: usize, to: usize) -> Option<usize> {
    let all = blocks.sum(from, to);
    let (total, whole) = (size(&all), entropy(&all));
    if to - from < 2 || whole == 0.0 || total <= 1.0 {
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

/// Step 2 with `bins` intervals: the block whose middle sample has rank r goes to interval
/// `floor(r bins / n)`.
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
mod tests;
