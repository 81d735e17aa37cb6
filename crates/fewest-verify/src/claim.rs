//! What a file claims, read from its header.

use std::ops::{Range, RangeInclusive};

use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::data::{Data, fingerprint};
use crate::file::Checked;
use crate::form::{Distinct, Object, name, named, object};
use crate::pairs::{AlignmentKernel, Distance, Pairs};
use crate::rounding::{add_down, mul_down, norm};
use crate::rules::{RuleList, Rules, State, WeightRange};

/// Bytes of a header beside those of features, and for each feature: its name, price, bounds and
/// places in rules.
const HEADER: usize = 1 << 20;
const OF_FEATURE: usize = 256;
/// Costs and weights of samples: the library takes these, and no product of two overflows or is
/// lost.
const COSTS: RangeInclusive<f64> = 1e-40..=1e40;
const MOST_WEIGHT: f64 = 1e30;

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
    #[serde(rename = "format")]
    _format: IgnoredAny,
    #[serde(rename = "version")]
    _version: IgnoredAny,
    /// How many problems share the subset; nothing for one.
    #[serde(default, rename = "problems")]
    _problems: IgnoredAny,
    n: usize,
    p: usize,
    fingerprint: String,
    #[serde(deserialize_with = "named")]
    gain: Gain,
    /// The loss, of gains `ridge` and `l1`.
    #[serde(default, deserialize_with = "name")]
    loss: Option<Loss>,
    #[serde(default, deserialize_with = "bias")]
    bias: Option<Bias>,
    cost: Option<f64>,
    #[serde(default)]
    penalty: Vec<f64>,
    #[serde(default)]
    weight_bounds: Vec<f64>,
    /// The kernel, of gain `alignment`. Without a kernel it is `rbf`.
    #[serde(default, deserialize_with = "name")]
    kernel: Option<Distance>,
    gamma: Option<f64>,
    #[serde(default)]
    categorical: Vec<usize>,
    #[serde(default)]
    centre: Vec<usize>,
    #[serde(deserialize_with = "object")]
    rules: RuleList,
    #[serde(default, rename = "made")]
    _made: Distinct,
}

/// A bias: a name, an object of one key, or null.
fn bias<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Bias>, D::Error> {
    let form = Value::deserialize(from)?;
    match &form {
        Value::Null => Ok(None),
        Value::String(_) => Bias::deserialize(form).map(Some).map_err(D::Error::custom),
        Value::Object(entries) if entries.contains_key("penalised") => {
            Bias::deserialize(form).map(Some).map_err(D::Error::custom)
        }
        _ => Err(D::Error::custom(format!("bias is {form}"))),
    }
}

fn one() -> usize {
    1
}

/// What of a header can be read before its lists are: it takes no memory.
#[derive(Debug, Deserialize)]
pub(crate) struct Outline {
    format: String,
    version: u32,
    #[serde(default = "one")]
    pub(crate) problems: usize,
    n: usize,
    p: usize,
    #[serde(deserialize_with = "named")]
    pub(crate) gain: Gain,
}

impl Outline {
    pub(crate) fn read(line: &str) -> Checked<Self> {
        let outline: Self = json(line)?;
        let Self { format, version, p, .. } = &outline;
        if format != "fewest-proof" || *version != 1 {
            return Err(format!("it is `{format}`, version {version}, not `fewest-proof`, version 1"));
        }
        let most = HEADER.saturating_add(OF_FEATURE.saturating_mul(*p));
        if line.len() > most {
            return Err(format!("its first line has {} bytes, above {most} for {p} features", line.len()));
        }
        Ok(outline)
    }

    /// Step 1 of docs/formats/proof.md: the header fits the size of the data.
    pub(crate) fn fits(&self, all: &[&dyn Data]) -> Checked<()> {
        if self.problems != all.len() || all.is_empty() {
            let (found, noun) = (all.len(), if all.len() == 1 { "problem" } else { "problems" });
            return Err(format!("the data are of {found} {noun}, the proof is about {}", self.problems));
        }
        let (n, p) = (all.iter().map(|data| data.samples()).sum::<usize>(), all[0].features());
        let fit = |data: &&dyn Data| {
            let n = data.samples();
            data.features() == p && data.labels().len() == n && data.weights().len() == n
        };
        if (self.n, self.p) != (n, p) || !all.iter().all(fit) || u32::try_from(n.max(p)).is_err() {
            let (of, file) = (format!("{n} samples and {p} features"), format!("{} and {}", self.n, self.p));
            return Err(format!("the data have {of}, the proof is about {file}"));
        }
        Ok(())
    }
}

/// A header or its outline.
pub(crate) fn json<'l, T: Deserialize<'l>>(line: &'l str) -> Checked<T> {
    let object = serde_json::from_str(line).map_err(|error| format!("its header does not fit: {error}"));
    object.map(|Object(all)| all)
}

impl Header {
    /// What it says of the data.
    pub(crate) fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Whether the model is one of docs/formats/proof.md, for `problems` problems.
    fn is_a_model(&self, problems: usize) -> bool {
        let (svm, bounds) = ((self.loss, self.bias, self.cost), &self.weight_bounds);
        let apart = if self.gain == Gain::Alignment {
            // No square of a difference that underflows counts then, and none overflows.
            self.gamma.is_some_and(|gamma| (1e-250..=1e250).contains(&gamma))
                && problems == 1
                && svm == (None, None, None)
                && self.penalty.is_empty()
                && self.rules.weights.is_empty()
        } else {
            let bias = match self.bias {
                Some(Bias::Penalised(s)) => s > 0.0 && s.is_finite(),
                bias => bias.is_some(),
            };
            let of_l1 = self.gain != Gain::L1 || (self.loss == Some(Loss::Hinge) && problems == 1);
            let of_alignment = (self.kernel, self.gamma) == (None, None) && self.categorical.is_empty();
            bias && self.loss.is_some() && of_l1 && of_alignment && self.centre.is_empty()
        };
        apart
            && [&self.penalty, bounds].iter().all(|list| list.is_empty() || list.len() == self.p)
            && (bounds.is_empty() || self.gain == Gain::L1)
            && self.penalty.iter().chain(bounds).all(|x| *x >= 0.0)
            && self.centre.iter().chain(&self.categorical).all(|j| *j < self.p)
    }
}

/// A problem: data, model and rules, checked.
pub(crate) struct Claim<'d> {
    /// The problems whose objectives add; their samples stand one after the other.
    pub(crate) parts: Vec<ClaimProblem<'d>>,
    pub(crate) n: usize,
    pub(crate) p: usize,
    pub(crate) gain: Gain,
    pub(crate) loss: Loss,
    pub(crate) bias: Bias,
    /// The label and `C_i` of each sample of all problems.
    pub(crate) y: Vec<f64>,
    pub(crate) costs: Vec<f64>,
    /// The lambda and u of each feature.
    pub(crate) penalty: Vec<f64>,
    pub(crate) bounds: Vec<f64>,
    /// The distances below and above 0 that the rules let each feature's weight go.
    ranges: Vec<[f64; 2]>,
    pub(crate) rules: Rules,
    /// What the rules alone decide; none where they allow nothing.
    pub(crate) root: Option<State>,
    /// Gain `alignment`, where the rules allow something.
    pub(crate) pairs: Option<Pairs>,
}

/// The samples of one problem.
pub(crate) struct ClaimProblem<'d> {
    pub(crate) data: &'d dyn Data,
    /// Their numbers among those of all problems.
    pub(crate) samples: Range<usize>,
    /// The norm of each column, not below it, and the number of its entries other than 0.
    pub(crate) norms: Vec<(f64, usize)>,
}

impl<'d> Claim<'d> {
    /// The rest of step 1: all of the header fits the data, whose sizes [`Outline::fits`] compared.
    pub(crate) fn new(header: Header, all: &[&'d dyn Data], memory: u64) -> Checked<Self> {
        let (n, p, alignment) = (header.n, header.p, header.gain == Gain::Alignment);
        let found = fingerprint(all)?;
        if found != header.fingerprint {
            return Err(format!("the data's fingerprint is {found}, the proof's {}", header.fingerprint));
        }
        let y: Vec<f64> = all.iter().flat_map(|data| data.labels().iter().copied()).collect();
        let class = |y: f64| y.to_bits() == f64::from(y as u32).to_bits();
        if let Some(label) = y.iter().find(|y| if alignment { !class(**y) } else { y.abs() != 1.0 }) {
            let wanted = if alignment { "a class: 0, 1, ..." } else { "-1 or 1" };
            return Err(format!("the data hold the label {label}, not {wanted}"));
        }
        let ranges = weight_ranges(p, &header.rules.weights)?;
        let (cost, mut weights) =
            (header.cost.unwrap_or(0.0), all.iter().flat_map(|data| data.weights().iter().copied()));
        if !alignment && !COSTS.contains(&cost) {
            return Err(format!("its cost is {cost:?}, not a number from 1e-40 to 1e40"));
        }
        let costs = weights.clone().map(|weight| cost * weight).collect();
        if let Some(weight) = weights.find(|weight| !alignment && *weight > MOST_WEIGHT) {
            return Err(format!("the data hold the weight {weight:?}, above 1e30"));
        }
        if !header.is_a_model(all.len()) {
            return Err(
                "bias, gain, loss, penalty, weight bounds, kernel, gamma, categorical, centre or problems are \
                        out of range, or do not go together"
                    .to_owned(),
            );
        }
        let rules = Rules::new(p, header.rules)?;
        if rules.bytes() > memory {
            return Err("its rules take more memory than is allowed".to_owned());
        }
        let root = rules.root();
        let mut distances = vec![header.kernel.unwrap_or(Distance::Squared); p];
        header.categorical.iter().for_each(|&j| distances[j] = Distance::Unequal);
        let kernel = AlignmentKernel { gamma: header.gamma.unwrap_or(0.0), distances, centre: header.centre };
        let pairs = |root| Pairs::new(all[0], &rules, root, kernel, memory);
        let pairs = root.as_ref().filter(|_| alignment).map(pairs).transpose()?;
        let mut first = 0;
        let part = |&data: &&'d dyn Data| {
            first += data.samples();
            let norm_of = |j| norm(|f| data.each(j, &mut |_, x| f(x)));
            let norms = (0..if alignment { 0 } else { p }).map(norm_of).collect();
            ClaimProblem { data, samples: first - data.samples()..first, norms }
        };
        let parts = all.iter().map(part).collect();
        let listed = |list: Vec<f64>, default: f64| if list.is_empty() { vec![default; p] } else { list };
        let (penalty, bounds) = (listed(header.penalty, 0.0), listed(header.weight_bounds, f64::INFINITY));
        // Gain `alignment` has none, and needs none.
        let (loss, bias) = (header.loss.unwrap_or(Loss::Hinge), header.bias.unwrap_or(Bias::None));
        let gain = header.gain;
        Ok(Self { parts, n, p, gain, loss, bias, y, costs, penalty, bounds, ranges, rules, root, pairs })
    }

    pub(crate) fn alignment(&self) -> bool {
        self.gain == Gain::Alignment
    }

    /// How far below and above 0 the weight of feature j may be, with this `u_j` or that of the
    /// header.
    pub(crate) fn range(&self, j: usize, u: Option<f64>) -> [f64; 2] {
        self.ranges[j].map(|end| end.min(u.unwrap_or(self.bounds[j])))
    }

    /// The objective without features, by a bias alone, not above it; 0 for gain `alignment`.
    pub(crate) fn baseline(&self) -> f64 {
        let of_part = |part: &ClaimProblem<'_>| {
            let of_class = |y: f64| {
                let own = part.samples.clone().filter(|&i| self.y[i] == y);
                own.fold(0.0, |sum, i| add_down(sum, self.costs[i]))
            };
            let (one, other) = (of_class(1.0), of_class(-1.0));
            // At some 10 roundings of terms that are not negative.
            mul_down(self.of_bias(one.max(other), one.min(other)), 1.0 - 1e-12)
        };
        if self.alignment() { 0.0 } else { self.parts.iter().map(of_part).fold(0.0, add_down) }
    }

    /// The least objective of a bias b from 0 to 1 that speaks for the class with the larger sum of
    /// C, without features.
    fn of_bias(&self, more: f64, less: f64) -> f64 {
        let squared = self.loss == Loss::SquaredHinge;
        let power = |t: f64| if squared { t * t } else { t };
        let loss = |b: f64| more * power(1.0 - b) + less * power(1.0 + b);
        // A free bias is one of infinite s.
        let s = match self.bias {
            _ if more == 0.0 => return 0.0,
            Bias::None => return loss(0.0),
            Bias::Free => f64::INFINITY,
            Bias::Penalised(s) => s,
        };
        if self.gain == Gain::L1 {
            return loss(0.0).min(loss(1.0) + 1.0 / s);
        }
        let b = match squared {
            true => (more - less) / (more + less + 0.5 / (s * s)),
            false if more == less => 0.0,
            false => (s * s * (more - less)).min(1.0),
        };
        loss(b) + 0.5 * (b / s).powi(2)
    }

    /// Whether a subset obeys the rules.
    pub(crate) fn allows(&self, features: &[usize]) -> bool {
        self.root.as_ref().is_some_and(|root| self.rules.allows(root, features))
    }
}

/// The distances below and above 0 that each feature's weight may go; a feature that is named twice
/// has both bounds.
fn weight_ranges(p: usize, stated: &[WeightRange]) -> Checked<Vec<[f64; 2]>> {
    let mut ranges = vec![[f64::INFINITY; 2]; p];
    for one in stated {
        let range =
            ranges.get_mut(one.feature).ok_or_else(|| format!("a weight names feature {} of {p}", one.feature))?;
        let ends = [one.lower.map(|lower| -lower), one.upper];
        for (end, stated) in range.iter_mut().zip(ends) {
            // 0 lies between them: a feature that is out has weight 0.
            if stated.is_some_and(|stated| stated.is_nan() || stated < 0.0) {
                return Err(format!("the bounds on the weight of feature {} do not hold 0", one.feature));
            }
            *end = end.min(stated.unwrap_or(f64::INFINITY));
        }
    }
    Ok(ranges)
}
