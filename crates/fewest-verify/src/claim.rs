//! What a file claims, read from its header, and the data that the claim is about.

use serde::Deserialize;
use serde::de::IgnoredAny;
use sha2::{Digest, Sha256};

use crate::file::Checked;
use crate::rounding::norm;
use crate::rules::{RuleList, Rules};

/// The data that a proof is about: n samples of p features, as the method saw them (after scaling).
pub trait Data: Sync {
    /// Number of samples n.
    fn samples(&self) -> usize;
    /// Number of features p.
    fn features(&self) -> usize;
    /// The label of each sample, -1 or 1, length n.
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
    gain: Gain,
    loss: Loss,
    bias: Bias,
    cost: f64,
    #[serde(default)]
    penalty: Vec<f64>,
    #[serde(default)]
    weight_bounds: Vec<f64>,
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
    pub(crate) gain: Gain,
    pub(crate) loss: Loss,
    pub(crate) bias: Bias,
    /// lambda and u, length p.
    pub(crate) penalty: Vec<f64>,
    pub(crate) bounds: Vec<f64>,
    pub(crate) rules: Rules,
    /// By column: its norm, not below it, and its entries other than 0.
    pub(crate) norms: Vec<(f64, usize)>,
}

impl<'d> Claim<'d> {
    /// Step 1 of docs/proof.md: the header fits the data.
    pub(crate) fn new(header: Header, data: &'d dyn Data) -> Checked<Self> {
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
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let l1 = header.gain == Gain::L1;
        let fits = positive(header.cost)
            && !matches!(header.bias, Bias::Penalised(s) if !positive(s))
            && !(l1 && header.loss == Loss::SquaredHinge)
            && (header.penalty.is_empty() || header.penalty.len() == p)
            && (header.weight_bounds.is_empty() || (l1 && header.weight_bounds.len() == p))
            && header.weight_bounds.iter().all(|u| *u >= 0.0);
        if !fits {
            return Err("cost, bias, gain, loss, penalty or weight bounds are out of range".to_owned());
        }
        let norms = (0..p).map(|j| norm(|f| data.each(j, &mut |_, x| f(x)))).collect();
        let listed = |list: Vec<f64>, default: f64| if list.is_empty() { vec![default; p] } else { list };
        Ok(Self {
            data,
            p,
            y,
            costs: weights.iter().map(|weight| header.cost * weight).collect(),
            gain: header.gain,
            loss: header.loss,
            bias: header.bias,
            penalty: listed(header.penalty, 0.0),
            bounds: listed(header.weight_bounds, f64::INFINITY),
            rules: Rules::new(p, header.rules)?,
            norms,
        })
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
    if let Some(label) = data.labels().iter().find(|y| y.abs() != 1.0) {
        return Err(format!("the data hold the label {label}, not -1 or 1"));
    }
    if let Some(weight) = data.weights().iter().find(|w| !(**w >= 0.0 && w.is_finite())) {
        return Err(format!("the data hold the weight {weight}, not a number of 0 or more"));
    }
    for number in data.labels().iter().chain(data.weights()) {
        hash.update(number.to_le_bytes());
    }
    Ok(hash.finalize().iter().fold("sha256:".to_owned(), |text, byte| text + &format!("{byte:02x}")))
}
