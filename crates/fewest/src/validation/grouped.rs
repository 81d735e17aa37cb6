//! Samples sorted by class, so that the samples of a pair of classes are two runs of rows and
//! columns of a kernel matrix.

use std::borrow::Cow;
use std::ops::Range;

use crate::dual::active_set::ActiveSet;
use crate::dual::{BoxDual, smo};
use crate::kernel::gram::GramMatrix;
use crate::kernel::products::Products;
use crate::problem::class_pairs;
use crate::{Clock, DualSolution, Error, Kernel, Memory, Reserved, Samples, Status, SvmSettings};

/// A problem with its samples in the order of their classes. Positions below are positions in that
/// order.
pub struct SamplesByClass<'a> {
    data: &'a Samples<'a>,
    order: Vec<usize>,
    place: Vec<usize>,
    ranges: Vec<Range<usize>>,
    pairs: Vec<(usize, usize)>,
    weights: Vec<f64>,
    /// The memory of the n x n matrices of its users.
    #[expect(dead_code, reason = "gives the bytes back when the samples are dropped")]
    taken: Reserved,
}

/// Matrices of n x n that are alive together: inner products, the kernel matrix made from them, and
/// that of a changed subset or the factor of a training.
const MATRICES: u64 = 3;

impl<'a> SamplesByClass<'a> {
    /// Sorts the samples, and takes the memory of the n x n matrices; `settings` bounds it, too.
    pub fn new(data: &'a Samples<'a>, settings: &SvmSettings, memory: &Memory) -> Result<Self, Error> {
        let (n, classes) = (data.n_samples(), data.classes());
        let what = || format!("the kernel matrices of {n} samples");
        let bytes = MATRICES * GramMatrix::bytes(n);
        let taken = memory.reserve_within(settings.memory, bytes, what, "use fewer samples")?;
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&i| classes[i]);
        let mut place = vec![0; n];
        order.iter().enumerate().for_each(|(at, &i)| place[i] = at);
        let start = |c: u32| order.partition_point(|&i| classes[i] < c);
        let ranges: Vec<Range<usize>> = (0..data.n_classes()).map(|c| start(c)..start(c + 1)).collect();
        let pairs = class_pairs(data.n_classes()).into_iter().map(|(a, b)| (a as usize, b as usize)).collect();
        let weights = order.iter().map(|&i| data.weights()[i]).collect();
        Ok(Self { data, order, place, ranges, pairs, weights, taken })
    }

    /// The problem.
    pub fn data(&self) -> &'a Samples<'a> {
        self.data
    }

    /// Sample at each position.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Positions of each class.
    pub fn ranges(&self) -> &[Range<usize>] {
        &self.ranges
    }

    /// Pairs of classes, one machine each: (0,1), (0,2), ..., (1,2), ...; the second is the
    /// positive one.
    pub fn pairs(&self) -> &[(usize, usize)] {
        &self.pairs
    }

    /// Weight at each position.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Feature j at each position.
    pub fn column(&self, j: usize) -> Vec<f64> {
        let mut out = vec![0.0; self.order.len()];
        self.data.design().each_in_column(j, &mut |i, x| out[self.place[i]] = x);
        out
    }

    /// The beta of a pair's machine as one number for each sample of the problem, 0 outside the
    /// pair.
    pub fn by_sample(&self, pair: usize, beta: &[f64]) -> Vec<f64> {
        let (a, b) = self.pairs[pair];
        let mut out = vec![0.0; self.order.len()];
        for (at, &beta) in self.ranges[a].clone().chain(self.ranges[b].clone()).zip(beta) {
            out[self.order[at]] = beta;
        }
        out
    }

    /// Products over the features given.
    ///
    /// # Errors
    /// The limit that `clock` names before they are made.
    pub fn products(&self, features: &[usize], kernel: &Kernel, clock: &Clock) -> Result<Products, Status> {
        Products::new(self.data.design(), features, &self.order, kernel, clock)
    }

    /// The part of the kernel matrix each pair needs.
    pub fn blocks<'g>(&self, gram: &'g GramMatrix) -> Vec<Cow<'g, GramMatrix>> {
        match self.pairs.as_slice() {
            [_] => vec![Cow::Borrowed(gram)],
            pairs => pairs.iter().map(|&(a, b)| Cow::Owned(gram.block(&self.ranges[a], &self.ranges[b]))).collect(),
        }
    }

    /// The dual of a pair without its matrix, with the weight of each position.
    pub fn dual(&self, pair: usize, settings: &SvmSettings, weight: impl Fn(usize) -> f64) -> BoxDual {
        let (a, b) = (&self.ranges[self.pairs[pair].0], &self.ranges[self.pairs[pair].1]);
        let y: Vec<f64> = [vec![-1.0; a.len()], vec![1.0; b.len()]].concat();
        let of_pair = self.data.pair_weight(pair);
        let weights: Vec<f64> = a.clone().chain(b.clone()).map(|at| of_pair * weight(at)).collect();
        BoxDual::new(&y, &weights, settings)
    }

    /// Trains every pair on all samples, from `start` (one beta for each pair) where there is one.
    pub fn train(
        &self,
        gram: &GramMatrix,
        settings: &SvmSettings,
        start: Option<&[DualSolution]>,
        memory: &mut [ActiveSet],
        clock: &Clock,
    ) -> Vec<DualSolution> {
        let blocks = self.blocks(gram);
        let machine = |(pair, (block, memory)): (usize, (&Cow<'_, GramMatrix>, &mut ActiveSet))| {
            let dual = self.dual(pair, settings, |at| self.weights[at]);
            memory.forget();
            smo::solve(&mut &**block, &dual, start.map(|s| s[pair].beta.as_slice()), memory, settings, clock)
        };
        blocks.iter().zip(memory).enumerate().map(machine).collect()
    }
}
