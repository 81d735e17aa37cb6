//! Proof files of runs in tests, and what the checker says of them.

use std::io::Write;
use std::ops::ControlFlow;

use fewest::{Design, Event, Observer, Problem, ProofSink};
use fewest_verify::{Data, Error, OnStep, Proof, Verdict};
use flate2::Compression;
use flate2::write::GzEncoder;

/// An observer that wants proofs and keeps them.
#[derive(Debug, Default)]
pub struct KeptProofs {
    /// The bytes of each proof, not compressed, in the order of the runs.
    pub files: Vec<Vec<u8>>,
    /// How many of them came to their end.
    pub complete: usize,
}

impl Observer for KeptProofs {
    fn on(&mut self, _: &Event<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn proof(&mut self) -> Option<&mut dyn ProofSink> {
        Some(self)
    }
}

impl ProofSink for KeptProofs {
    fn begin(&mut self) -> serde_json::Value {
        self.files.push(Vec::new());
        serde_json::json!({ "by": "a test" })
    }

    fn resume(&mut self) {
        unreachable!("no state is handed out");
    }

    fn write(&mut self, bytes: &[u8]) {
        self.files.last_mut().expect("a proof was begun").extend(bytes);
    }

    fn end(&mut self) {
        self.complete += 1;
    }
}

/// The bytes of a proof as a file has them.
pub fn packed_proof(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).expect("to memory");
    packed.finish().expect("to memory")
}

/// Verdict of the checker on the bytes of a proof, not compressed.
///
/// # Errors
/// That they are no proof of the problem.
pub fn verify_proof(bytes: &[u8], problem: &Problem<'_>) -> Result<Verdict, Error> {
    verify_several(bytes, std::slice::from_ref(problem))
}

/// Checks a proof and tells each step of the check.
///
/// # Errors
/// That they are no proof of the problem.
pub fn tell_proof(bytes: &[u8], problem: &Problem<'_>, on_step: &mut OnStep<'_>) -> Result<Verdict, Error> {
    checked(bytes, &[of_problem(problem)], Some(on_step))
}

/// Checks a proof of several problems.
///
/// # Errors
/// That they are no proof of the problems.
pub fn verify_several(bytes: &[u8], problems: &[Problem<'_>]) -> Result<Verdict, Error> {
    checked(bytes, &problems.iter().map(of_problem).collect::<Vec<_>>(), None)
}

fn of_problem<'p>(problem: &'p Problem<'_>) -> ProofData<'p> {
    ProofData { design: problem.design(), labels: problem.labels(), weights: problem.weights() }
}

/// Checks a proof of `kta`.
///
/// # Errors
/// That they are no proof about these data.
pub fn verify_alignment(bytes: &[u8], design: &dyn Design, classes: &[u32], weights: &[f64]) -> Result<Verdict, Error> {
    let labels: Vec<f64> = classes.iter().map(|&class| f64::from(class)).collect();
    checked(bytes, &[ProofData { design, labels: &labels, weights }], None)
}

fn checked(bytes: &[u8], all: &[ProofData<'_>], on_step: Option<&mut OnStep<'_>>) -> Result<Verdict, Error> {
    let packed = packed_proof(bytes);
    let all: Vec<&dyn Data> = all.iter().map(|data| data as &dyn Data).collect();
    Proof::open(&packed[..])?.check_telling(&all, 1 << 28, &mut |_| ControlFlow::Continue(()), on_step)
}

/// Data as the checker takes them.
struct ProofData<'p> {
    design: &'p dyn Design,
    labels: &'p [f64],
    weights: &'p [f64],
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
}
