//! The first line of a file: the claim, the rules, the fingerprint of the data.

use serde::{Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{Bias, Design, Loss, Problem, RuleList, Rules};

/// What a weight costs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Gain {
    /// `w^2 / 2`
    Ridge,
    /// `|w|`, up to a bound.
    #[cfg_attr(not(feature = "highs"), expect(dead_code, reason = "the L1 family needs linear programs"))]
    L1,
}

/// The objective that a file speaks of.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Claim<'c> {
    pub(crate) gain: Gain,
    pub(crate) loss: Loss,
    #[serde(serialize_with = "by_name")]
    pub(crate) bias: Bias,
    pub(crate) cost: f64,
    /// lambda by feature, or empty.
    pub(crate) penalty: &'c [f64],
    /// u by feature, or empty.
    pub(crate) weight_bounds: &'c [f64],
}

/// A bias as the header has it.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum HeaderBias {
    Free,
    None,
    Penalised(f64),
}

fn by_name<S: Serializer>(bias: &Bias, to: S) -> Result<S::Ok, S::Error> {
    let bias = match *bias {
        Bias::Free => HeaderBias::Free,
        Bias::None => HeaderBias::None,
        Bias::Penalised(s) => HeaderBias::Penalised(s),
    };
    bias.serialize(to)
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

/// The first line of a file.
#[derive(Serialize)]
struct Header<'h, C> {
    format: &'static str,
    version: u32,
    n: usize,
    p: usize,
    fingerprint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    problems: Option<usize>,
    #[serde(flatten)]
    claim: C,
    rules: &'h RuleList,
    made: &'h Value,
}

/// The header, with its line break, for the data of each problem; `claim` says what the file speaks of.
pub(super) fn header<C: Serialize>(all: &[Data<'_>], rules: &Rules, claim: C, made: &Value) -> String {
    let header = Header {
        format: "fewest-proof",
        version: 1,
        n: all.iter().map(|data| data.design.n_samples()).sum(),
        p: rules.p(),
        fingerprint: format!("sha256:{}", fingerprint(all)),
        problems: (all.len() > 1).then_some(all.len()),
        claim,
        rules: rules.list(),
        made,
    };
    serde_json::to_string(&header).expect("a header is numbers, texts and lists") + "\n"
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
