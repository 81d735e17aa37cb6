//! Samples held out of an elimination: their decision values at every training.
//!
//! `f(x_t) = sum_i beta_i K(x_t, x_i) + b` needs the block of held-out by training samples. It
//! follows the features that leave as the Gram matrix does: one update, held-out x training
//! multiply-adds, for each. A linear machine has weights instead; they are what is used where the
//! training worked on rows and has them anyway, and where few features are left:
//! `p (held-out + training)` is then less.

use crate::kernel::KernelRule;
use crate::kernel::products::CrossProducts;
use crate::{Design, Error, Subset, SvmSettings};

/// The machine of a pair of classes, by sample of the training part.
pub(super) struct PairMachine {
    pub(super) beta: Vec<f64>,
    pub(super) bias: f64,
    /// Weights of the surviving features, ascending, where the training made them.
    pub(super) weights: Vec<f64>,
}

/// Decision values of the samples held out, so far.
#[derive(Debug, Default)]
pub(super) struct HeldOutDecisions {
    /// Surviving features at each training.
    pub(super) sizes: Vec<usize>,
    /// Decision values, by training, then sample, then machine.
    pub(super) decisions: Vec<f64>,
}

/// Samples held out, and what makes judging them after the next training cheap.
pub(super) struct HeldOut<'a> {
    samples: &'a dyn Design,
    training: &'a dyn Design,
    kernel: KernelRule,
    block: Option<Block>,
    memory: u64,
    made: HeldOutDecisions,
}

/// The products of held-out by training samples over `subset`, and the size of the subset they were
/// last computed from in full.
struct Block {
    products: CrossProducts,
    subset: Subset,
    fresh: usize,
}

impl<'a> HeldOut<'a> {
    /// `samples` are judged by machines trained on `training`; both have all the features.
    ///
    /// # Errors
    /// [`Error::Memory`] where the block does not fit and no weights can stand in for it.
    pub(super) fn new(
        samples: &'a dyn Design,
        training: &'a dyn Design,
        kernel: KernelRule,
        svm: &SvmSettings,
    ) -> Result<Self, Error> {
        let (held, trained) = (samples.n_samples(), training.n_samples());
        let needed = CrossProducts::bytes(held, trained);
        if needed > svm.memory && !kernel.is_linear() {
            return Err(Error::Memory {
                what: format!("the kernel values of {held} held-out with {trained} training samples"),
                needed,
                allowed: svm.memory,
                remedy: "raise the memory allowed, or hold out fewer samples".into(),
            });
        }
        Ok(Self { samples, training, kernel, block: None, memory: svm.memory, made: HeldOutDecisions::default() })
    }

    pub(super) fn into_decisions(self) -> HeldOutDecisions {
        self.made
    }

    /// Notes the decision values of machines trained on these features; once for each subset.
    pub(super) fn record(&mut self, subset: &Subset, machines: &[PairMachine]) {
        if self.made.sizes.last() == Some(&subset.len()) {
            return;
        }
        self.made.sizes.push(subset.len());
        let scores = if self.prefers_weights(subset, machines) {
            self.block = None;
            self.by_weights(subset, machines)
        } else {
            self.by_block(subset, machines)
        };
        let biases = machines.iter().map(|machine| machine.bias).cycle();
        self.made.decisions.extend(scores.into_iter().zip(biases).map(|(score, bias)| score + bias));
    }

    /// Whether weights are the cheaper way, or the only one.
    fn prefers_weights(&self, subset: &Subset, machines: &[PairMachine]) -> bool {
        if !self.kernel.is_linear() {
            return false;
        }
        let (held, trained) = (self.samples.n_samples(), self.training.n_samples());
        let known = machines.iter().all(|machine| machine.weights.len() == subset.len());
        // An update and the scores themselves pass over the block once each.
        let (by_block, by_weights) = (2 * held * trained, subset.len() * (held + trained));
        known || by_weights <= by_block || CrossProducts::bytes(held, trained) > self.memory
    }

    /// `w.x` for each sample and machine.
    fn by_weights(&self, subset: &Subset, machines: &[PairMachine]) -> Vec<f64> {
        let mut scores = vec![0.0; self.samples.n_samples() * machines.len()];
        let mut of_machine = vec![0.0; self.samples.n_samples()];
        for (at, machine) in machines.iter().enumerate() {
            of_machine.fill(0.0);
            for (k, j) in subset.iter().enumerate() {
                let known = machine.weights.get(k).copied();
                let weight = known.unwrap_or_else(|| self.training.dot_column(j, &machine.beta));
                if weight != 0.0 {
                    self.samples.add_column(j, weight, &mut of_machine);
                }
            }
            scores.iter_mut().skip(at).step_by(machines.len()).zip(&of_machine).for_each(|(s, &f)| *s = f);
        }
        scores
    }

    /// `sum_i beta_i k(x, x_i)` for each sample and machine.
    fn by_block(&mut self, subset: &Subset, machines: &[PairMachine]) -> Vec<f64> {
        let (samples, training) = (self.samples, self.training);
        let leaving: Vec<usize> = self.block.iter().flat_map(|block| block.subset.difference(subset)).collect();
        // Computed in full as the Gram matrix is, once half the features are gone: that ends the
        // updates' rounding errors.
        self.block.take_if(|block| 2 * subset.len() <= block.fresh || leaving.len() > subset.len());
        let block = self.block.get_or_insert_with(|| Block {
            products: CrossProducts::new(samples, training, &subset.iter().collect::<Vec<_>>(), self.kernel.kernel()),
            subset: subset.clone(),
            fresh: subset.len(),
        });
        for j in block.subset.difference(subset) {
            block.products.remove(samples, training, j);
        }
        block.subset = subset.clone();
        let betas: Vec<&[f64]> = machines.iter().map(|machine| machine.beta.as_slice()).collect();
        block.products.scores(&self.kernel.at(subset.len()), &betas)
    }
}
