//! The first line of a file: the claim, the rules, the fingerprint of the data.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{Bias, Loss, Problem, Rules};

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

/// The header, with its line break.
pub(super) fn header(problem: &Problem<'_>, rules: &Rules, claim: &Claim<'_>, made: &Value) -> String {
    let gain = if claim.gain == Gain::Ridge { "ridge" } else { "l1" };
    let bias = match claim.bias {
        Bias::Free => json!("free"),
        Bias::None => json!("none"),
        Bias::Penalised(s) => json!({ "penalised": s }),
    };
    let header = json!({
        "format": "fewest-proof", "version": 1,
        "n": problem.n_samples(), "p": problem.n_features(),
        "fingerprint": format!("sha256:{}", fingerprint(problem)),
        "gain": gain, "loss": claim.loss, "bias": bias, "cost": claim.cost,
        "penalty": claim.penalty, "weight_bounds": claim.weight_bounds,
        "rules": rules.list(), "made": made,
    });
    format!("{header}\n")
}

/// SHA-256 of the data, in hexadecimal; docs/proof.md says of which bytes.
fn fingerprint(problem: &Problem<'_>) -> String {
    let mut hash = Sha256::new();
    for size in [problem.n_samples(), problem.n_features()] {
        hash.update((size as u64).to_le_bytes());
    }
    let mut column = Vec::new();
    for j in 0..problem.n_features() {
        column.clear();
        problem.design().each_in_column(j, &mut |i, x| {
            if x != 0.0 {
                column.extend((i as u32).to_le_bytes());
                column.extend(x.to_le_bytes());
            }
        });
        column.extend([255; 4]);
        hash.update(&column);
    }
    for values in [problem.labels(), problem.weights()] {
        for value in values {
            hash.update(value.to_le_bytes());
        }
    }
    hash.finalize().iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
