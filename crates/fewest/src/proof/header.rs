//! The first line of a file: the claim, the rules, the fingerprint of the data.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{Bias, Design, Loss, Problem, Rules};

/// What a weight costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Gain {
    /// `w^2 / 2`
    Ridge,
    /// `|w|`, up to a bound.
    #[cfg_attr(not(feature = "highs"), expect(dead_code, reason = "the L1 family needs linear programs"))]
    L1,
}

/// The objective that a file speaks of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim<'c> {
    pub(crate) gain: Gain,
    pub(crate) loss: Loss,
    pub(crate) bias: Bias,
    pub(crate) cost: f64,
    /// lambda by feature, or empty.
    pub(crate) penalty: &'c [f64],
    /// u by feature, or empty.
    pub(crate) weight_bounds: &'c [f64],
}

impl Claim<'_> {
    /// The keys of the claim in the header.
    pub(super) fn keys(&self) -> Value {
        let gain = if self.gain == Gain::Ridge { "ridge" } else { "l1" };
        let bias = match self.bias {
            Bias::Free => json!("free"),
            Bias::None => json!("none"),
            Bias::Penalised(s) => json!({ "penalised": s }),
        };
        json!({
            "gain": gain, "loss": self.loss, "bias": bias, "cost": self.cost,
            "penalty": self.penalty, "weight_bounds": self.weight_bounds,
        })
    }
}

/// The data of a file: labels -1 and 1, or classes 0, 1, ... where the claim is of any number of
/// them.
#[derive(Clone, Copy)]
pub(super) struct Data<'d> {
    pub(super) design: &'d dyn Design,
    pub(super) labels: &'d [f64],
    pub(super) weights: &'d [f64],
}

impl<'d> Data<'d> {
    pub(super) fn of(problem: &'d Problem<'_>) -> Self {
        Self { design: problem.design(), labels: problem.labels(), weights: problem.weights() }
    }
}

/// The header, with its line break, for the data of each problem; `claim` are the keys that say what
/// the file speaks of.
pub(super) fn header(all: &[Data<'_>], rules: &Rules, claim: Value, made: &Value) -> String {
    let mut header = json!({
        "format": "fewest-proof", "version": 1,
        "n": all.iter().map(|data| data.design.n_samples()).sum::<usize>(), "p": rules.p(),
        "fingerprint": format!("sha256:{}", fingerprint(all)),
    });
    if all.len() > 1 {
        header["problems"] = json!(all.len());
    }
    let rest = json!({ "rules": rules.list(), "made": made });
    for part in [claim, rest] {
        if let (Some(header), Value::Object(part)) = (header.as_object_mut(), part) {
            header.extend(part);
        }
    }
    format!("{header}\n")
}

/// SHA-256 of the data, in hexadecimal; docs/formats/proof.md says of which bytes.
fn fingerprint(all: &[Data<'_>]) -> String {
    let mut hash = Sha256::new();
    for &data in all {
        add(data, &mut hash);
    }
    hash.finalize().iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Adds the data of one problem.
fn add(data: Data<'_>, hash: &mut Sha256) {
    for size in [data.design.n_samples(), data.design.n_features()] {
        hash.update((size as u64).to_le_bytes());
    }
    let mut column = Vec::new();
    for j in 0..data.design.n_features() {
        column.clear();
        data.design.each_in_column(j, &mut |i, x| {
            if x != 0.0 {
                column.extend((i as u32).to_le_bytes());
                column.extend(x.to_le_bytes());
            }
        });
        column.extend([255; 4]);
        hash.update(&column);
    }
    for values in [data.labels, data.weights] {
        for value in values {
            hash.update(value.to_le_bytes());
        }
    }
}
