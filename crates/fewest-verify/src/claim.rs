//! What a file claims, read from its header, and the data that the claim is about.

use serde::Deserialize;
use serde::de::IgnoredAny;
use sha2::{Digest, Sha256};

use crate::file::Checked;
use crate::pairs::Pairs;
use crate::rounding::norm;
use crate::rules::{RuleList, Rules, State};

/// The data that a proof is about: n samples of p features, as the method saw them (after scaling).
pub trait Data: Sync {
    /// Number of samples n.
    fn samples(&self) -> usize;
    /// Number of features p.
    fn features(&self) -> usize;
    /// The label of each sample, length n: -1 or 1; for gain `alignment` its class, 0, 1, ...
    fn labels(&self) -> &[f64];
    /// The weight of each sample, 0 or more, length n.
    fn weights(&self) -> &[f64];
    /// Calls `f(i, x_ij)` for the entries of column j other than 0, in ascending order of i; zeros
    /// may be among them.
    fn each(&self, j: usize, f: &mut dyn FnMut(usize, f64));
    /// The column as a slice of length n, where it is stored that way.
    fn dense(&self, _j: usize) -> Option<&[f64]> {
        None
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Gain {
    Ridge,
    L1,
    Alignment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Loss {
    Hinge,
    SquaredHinge,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Bias {
    Free,
    Penalised(f64),
    None,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    format: String,
    version: u32,
    pub(crate) n: usize,
    pub(crate) p: usize,
    fingerprint: String,
    pub(crate) gain: Gain,
    /// Of gains `ridge` and `l1`.
    #[serde(default)]
    loss: Option<Loss>,
    #[serde(default)]
    bias: Option<Bias>,
    #[serde(default)]
    cost: Option<f64>,
    #[serde(default)]
    penalty: Vec<f64>,
    #[serde(default)]
    weight_bounds: Vec<f64>,
    /// Of gain `alignment`.
    #[serde(default)]
    gamma: Option<f64>,
    #[serde(default)]
    centre: Vec<usize>,
    rules: RuleList,
    #[serde(default, rename = "made")]
    _made: IgnoredAny,
}

impl Header {
    pub(crate) fn read(line: &str) -> Checked<Self> {
        let header: Self = serde_json::from_str(line).map_err(|error| format!("its header does not fit: {error}"))?;
        let Header { format, version, .. } = &header;
        if format != "fewest-proof" || *version != 1 {
            return Err(format!("it is `{format}`, version {version}, not `fewest-proof`, version 1"));
        }
        Ok(header)
    }
}

/// A problem: data, model and rules, checked.
pub(crate) struct Claim<'d> {
    pub(crate) data: &'d dyn Data,
    pub(crate) p: usize,
    pub(crate) y: &'d [f64],
    /// C_i, length n.
    pub(crate) costs: Vec<f64>,
    /// Gain `l1`; gain `alignment`; else gain `ridge`.
    pub(crate) l1: bool,
    pub(crate) alignment: bool,
    pub(crate) loss: Loss,
    pub(crate) bias: Bias,
    /// lambda and u, length p.
    pub(crate) penalty: Vec<f64>,
    pub(crate) bounds: Vec<f64>,
    pub(crate) rules: Rules,
    /// What the rules alone decide; none where they allow nothing.
    pub(crate) root: Option<State>,
    /// Gain `alignment`, where the rules allow something.
    pub(crate) pairs: Option<Pairs>,
    /// By column: its norm, not below it, and its entries other than 0.
    pub(crate) norms: Vec<(f64, usize)>,
}

impl<'d> Claim<'d> {
    /// Step 1 of docs/proof.md: the header fits the data.
    pub(crate) fn new(header: Header, data: &'d dyn Data, memory: u64) -> Checked<Self> {
        let (n, p) = (data.samples(), data.features());
        let (y, weights) = (data.labels(), data.weights());
        if (header.n, header.p) != (n, p) || y.len() != n || weights.len() != n || n.max(p) >= 1 << 32 {
            let (of, file) = (format!("{n} samples and {p} features"), format!("{} and {}", header.n, header.p));
            return Err(format!("the data have {of}, the proof is about {file}"));
        }
        let found = fingerprint(data)?;
        if found != header.fingerprint {
            return Err(format!("the data's fingerprint is {found}, the proof's {}", header.fingerprint));
        }
        let (l1, alignment) = (header.gain == Gain::L1, header.gain == Gain::Alignment);
        let class = |y: f64| y.to_bits() == f64::from(y as u32).to_bits();
        if let Some(label) = y.iter().find(|y| if alignment { !class(**y) } else { y.abs() != 1.0 }) {
            let wanted = if alignment { "a class: 0, 1, ..." } else { "-1 or 1" };
            return Err(format!("the data hold the label {label}, not {wanted}"));
        }
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let (penalty, bounds) = (header.penalty, header.weight_bounds);
        let svm = (header.loss, header.bias, header.cost);
        let (loss, bias, cost) = (svm.0.unwrap_or(Loss::Hinge), svm.1.unwrap_or(Bias::None), svm.2.unwrap_or(0.0));
        let fits = if alignment {
            // No square of a difference that underflows counts then, and none overflows.
            let gamma = header.gamma.is_some_and(|gamma| (1e-250..=1e250).contains(&gamma));
            gamma && svm == (None, None, None) && penalty.is_empty() && bounds.is_empty()
        } else {
            svm.0.is_some()
                && svm.1.is_some()
                && positive(cost)
                && !matches!(bias, Bias::Penalised(s) if !positive(s))
                && !(l1 && loss == Loss::SquaredHinge)
                && (penalty.is_empty() || penalty.len() == p)
                && (bounds.is_empty() || (l1 && bounds.len() == p))
                && bounds.iter().all(|u| *u >= 0.0)
                && header.gamma.is_none()
                && header.centre.is_empty()
        };
        if !fits || header.centre.iter().any(|j| *j >= p) {
            return Err(
                "cost, bias, gain, loss, penalty, weight bounds, gamma or centre are out of range, or do not go together"
                    .to_owned(),
            );
        }
        let rules = Rules::new(p, header.rules)?;
        let root = rules.root();
        let of = (header.gamma.unwrap_or(0.0), &header.centre[..]);
        let pairs = root.as_ref().filter(|_| alignment).map(|root| Pairs::new(data, &rules, root, of, memory));
        let norms = (0..if alignment { 0 } else { p }).map(|j| norm(|f| data.each(j, &mut |_, x| f(x)))).collect();
        let listed = |list: Vec<f64>, default: f64| if list.is_empty() { vec![default; p] } else { list };
        Ok(Self {
            data,
            p,
            y,
            costs: weights.iter().map(|weight| cost * weight).collect(),
            l1,
            alignment,
            loss,
            bias,
            penalty: listed(penalty, 0.0),
            bounds: listed(bounds, f64::INFINITY),
            pairs: pairs.transpose()?,
            rules,
            root,
            norms,
        })
    }

    /// Whether a subset obeys the rules.
    pub(crate) fn allows(&self, features: &[usize]) -> bool {
        self.root.as_ref().is_some_and(|root| self.rules.allows(root, features))
    }
}

/// The fingerprint of some data, as docs/proof.md defines it.
///
/// # Errors
/// The first value, label or weight that is out of range, as text.
pub fn fingerprint(data: &dyn Data) -> Result<String, String> {
    let (n, p) = (data.samples(), data.features());
    let mut hash = Sha256::new();
    hash.update((n as u64).to_le_bytes());
    hash.update((p as u64).to_le_bytes());
    let mut bytes = Vec::new();
    for j in 0..p {
        let (mut next, mut fault) = (0, None);
        bytes.clear();
        data.each(j, &mut |i, x| {
            if !x.is_finite() || i < next || i >= n {
                fault = fault.or(Some((i, x)));
            } else if x != 0.0 {
                bytes.extend_from_slice(&(i as u32).to_le_bytes());
                bytes.extend_from_slice(&x.to_le_bytes());
            }
            next = i + 1;
        });
        if let Some((i, x)) = fault {
            return Err(format!("the data hold {x} for sample {i}, feature {j}, out of range or order"));
        }
        bytes.extend_from_slice(&[255; 4]);
        hash.update(&bytes);
    }
    if let Some(weight) = data.weights().iter().find(|w| !(**w >= 0.0 && w.is_finite())) {
        return Err(format!("the data hold the weight {weight}, not a number of 0 or more"));
    }
    for number in data.labels().iter().chain(data.weights()) {
        hash.update(number.to_le_bytes());
    }
    Ok(hash.finalize().iter().fold("sha256:".to_owned(), |text, byte| text + &format!("{byte:02x}")))
}
