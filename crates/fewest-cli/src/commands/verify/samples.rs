//! Data as the checker takes them.

use std::io::Read;
use std::ops::ControlFlow;

use fewest::{Design, Memory, MultiClass, Samples, Several};
use fewest_verify::{Data, Error, OnStep, Progress, Proof, Verdict};

/// Samples as the checker takes them: classes, or the two-class problems that they are taken apart
/// into.
pub enum ProofSamples<'a> {
    /// With the class of each sample.
    Classes(&'a Samples<'a>, Vec<f64>),
    /// Two classes each.
    Problems(Several<'a>),
}

impl<'a> ProofSamples<'a> {
    /// `classes`: where [`Proof::takes_classes`].
    pub fn new(
        samples: &'a Samples<'a>,
        multi_class: MultiClass,
        classes: bool,
        memory: &Memory,
    ) -> Result<Self, fewest::Error> {
        Ok(if classes {
            Self::Classes(samples, samples.classes().iter().map(|&code| f64::from(code)).collect())
        } else {
            Self::Problems(Several::new(samples, multi_class, memory)?)
        })
    }

    /// Checks a proof about them; `memory` and `watch` as there.
    pub fn check<R: Read>(
        &self,
        proof: Proof<R>,
        memory: u64,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Verdict, Error> {
        self.check_telling(proof, memory, watch, None)
    }

    /// As [`ProofSamples::check`], and tells what the check does.
    pub(super) fn check_telling<R: Read>(
        &self,
        proof: Proof<R>,
        memory: u64,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
        on_step: Option<&mut OnStep<'_>>,
    ) -> Result<Verdict, Error> {
        let problems = if let Self::Problems(several) = self { several.problems() } else { Vec::new() };
        let mut all: Vec<ProofData<'_>> = problems
            .iter()
            .map(|of| ProofData { design: of.design(), labels: of.labels(), weights: of.weights() })
            .collect();
        if let Self::Classes(samples, labels) = self {
            all.push(ProofData { design: samples.design(), labels, weights: samples.weights() });
        }
        let all: Vec<&dyn Data> = all.iter().map(|data| data as &dyn Data).collect();
        proof.check_telling(&all, memory, watch, on_step)
    }
}

/// A design with labels and weights as the checker takes them.
#[derive(Clone, Copy)]
struct ProofData<'a> {
    design: &'a dyn Design,
    labels: &'a [f64],
    weights: &'a [f64],
}

impl Data for ProofData<'_> {
    fn samples(&self) -> usize {
        self.design.n_samples()
    }

    fn features(&self) -> usize {
        self.design.n_features()
    }

    fn labels(&self) -> &[f64] {
        self.labels
    }

    fn weights(&self) -> &[f64] {
        self.weights
    }

    fn each(&self, j: usize, f: &mut dyn FnMut(usize, f64)) {
        self.design.each_in_column(j, f);
    }

    fn dense(&self, j: usize) -> Option<&[f64]> {
        self.design.dense_column(j)
    }
}
