//! What a file claims, read from its header.

use std::ops::RangeInclusive;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::data::{Data, fingerprint};
use crate::file::Checked;
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
    gain: Gain,
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
    /// Of gain `alignment`. Without a kernel it is `rbf`.
    #[serde(default)]
    kernel: Option<Kernel>,
    #[serde(default)]
    gamma: Option<f64>,
    #[serde(default)]
    categorical: Vec<usize>,
    #[serde(default)]
    centre: Vec<usize>,
    rules: RuleList,
    #[serde(default, rename = "made")]
    _made: IgnoredAny,
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

    /// Step 1 of docs/proof.md: the header fits the size of the data.
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
        if (self.n, self.p) != (n, p) || !all.iter().all(fit) || n.max(p) >= 1 << 32 {
            let (of, file) = (format!("{n} samples and {p} features"), format!("{} and {}", self.n, self.p));
            return Err(format!("the data have {of}, the proof is about {file}"));
        }
        Ok(())
    }
}

/// A header or its outline.
pub(crate) fn json<'l, T: Deserialize<'l>>(line: &'l str) -> Checked<T> {
    serde_json::from_str(line).map_err(|error| format!("its header does not fit: {error}"))
}

/// The kernel of gain `alignment`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kernel {
    Rbf,
    Laplace,
}

impl Kernel {
    fn distance(self) -> Distance {
        match self {
            Self::Rbf => Distance::Squared,
            Self::Laplace => Distance::Absolute,
        }
    }
}

/// A problem: data, model and rules, checked.
pub(crate) struct Claim<'d> {
    /// The problems whose objectives add; their samples stand one after the other.
    pub(crate) parts: Vec<Part<'d>>,
    pub(crate) n: usize,
    pub(crate) p: usize,
    /// Gain `l1`; gain `alignment`; else gain `ridge`.
    pub(crate) l1: bool,
    pub(crate) alignment: bool,
    pub(crate) loss: Loss,
    pub(crate) bias: Bias,
    /// lambda and u, length p.
    pub(crate) penalty: Vec<f64>,
    pub(crate) bounds: Vec<f64>,
    /// By feature: how far below and above 0 the rules let its weight be.
    ranges: Vec<[f64; 2]>,
    pub(crate) rules: Rules,
    /// What the rules alone decide; none where they allow nothing.
    pub(crate) root: Option<State>,
    /// Gain `alignment`, where the rules allow something.
    pub(crate) pairs: Option<Pairs>,
}

/// The samples of one problem.
pub(crate) struct Part<'d> {
    pub(crate) data: &'d dyn Data,
    /// The number of samples before.
    pub(crate) first: usize,
    pub(crate) y: &'d [f64],
    /// C_i.
    pub(crate) costs: Vec<f64>,
    /// By column: its norm, not below it, and its entries other than 0.
    pub(crate) norms: Vec<(f64, usize)>,
}

impl<'d> Claim<'d> {
    /// The rest of step 1: all of the header fits the data, whose sizes [`Outline::fits`] compared.
    pub(crate) fn new(header: Header, all: &[&'d dyn Data], memory: u64) -> Checked<Self> {
        let (n, p) = (header.n, header.p);
        let found = fingerprint(all)?;
        if found != header.fingerprint {
            return Err(format!("the data's fingerprint is {found}, the proof's {}", header.fingerprint));
        }
        let (l1, alignment) = (header.gain == Gain::L1, header.gain == Gain::Alignment);
        let class = |y: f64| y.to_bits() == f64::from(y as u32).to_bits();
        if let Some(label) =
            all.iter().flat_map(|data| data.labels()).find(|y| if alignment { !class(**y) } else { y.abs() != 1.0 })
        {
            let wanted = if alignment { "a class: 0, 1, ..." } else { "-1 or 1" };
            return Err(format!("the data hold the label {label}, not {wanted}"));
        }
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let (penalty, bounds) = (header.penalty, header.weight_bounds);
        let svm = (header.loss, header.bias, header.cost);
        let (loss, bias, cost) = (svm.0.unwrap_or(Loss::Hinge), svm.1.unwrap_or(Bias::None), svm.2.unwrap_or(0.0));
        let (ranges, free) = (weight_ranges(p, &header.rules.weights)?, header.rules.weights.is_empty());
        if !alignment && !COSTS.contains(&cost) {
            return Err(format!("its cost is {cost:?}, not a number from 1e-40 to 1e40"));
        }
        let heavy = |data: &&dyn Data| data.weights().iter().copied().find(|weight| *weight > MOST_WEIGHT);
        if let Some(weight) = all.iter().find_map(heavy).filter(|_| !alignment) {
            return Err(format!("the data hold the weight {weight:?}, above 1e30"));
        }
        let fits = if alignment {
            // No square of a difference that underflows counts then, and none overflows.
            let gamma = header.gamma.is_some_and(|gamma| (1e-250..=1e250).contains(&gamma));
            gamma
                && all.len() == 1
                && svm == (None, None, None)
                && [&penalty, &bounds].iter().all(|list| list.is_empty())
                && free
        } else {
            svm.0.is_some()
                && svm.1.is_some()
                && !matches!(bias, Bias::Penalised(s) if !positive(s))
                && !(l1 && (loss == Loss::SquaredHinge || all.len() > 1))
                && (penalty.is_empty() || penalty.len() == p)
                && (bounds.is_empty() || (l1 && bounds.len() == p))
                && bounds.iter().all(|u| *u >= 0.0)
                && (header.kernel, header.gamma) == (None, None)
                && header.categorical.is_empty()
                && header.centre.is_empty()
        };
        if !fits || header.centre.iter().chain(&header.categorical).any(|j| *j >= p) {
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
        let mut distances = vec![header.kernel.map_or(Distance::Squared, Kernel::distance); p];
        for &j in &header.categorical {
            distances[j] = Distance::Unequal;
        }
        let of = AlignmentKernel { gamma: header.gamma.unwrap_or(0.0), distances };
        let pairs = |root| Pairs::new(all[0], &rules, root, of, &header.centre, memory);
        let pairs = root.as_ref().filter(|_| alignment).map(pairs);
        let mut first = 0;
        let part = |&data: &&'d dyn Data| {
            let norm_of = |j| norm(|f| data.each(j, &mut |_, x| f(x)));
            first += data.samples();
            Part {
                data,
                first: first - data.samples(),
                y: data.labels(),
                costs: data.weights().iter().map(|weight| cost * weight).collect(),
                norms: (0..if alignment { 0 } else { p }).map(norm_of).collect(),
            }
        };
        let parts = all.iter().map(part).collect();
        let listed = |list: Vec<f64>, default: f64| if list.is_empty() { vec![default; p] } else { list };
        Ok(Self {
            parts,
            n,
            p,
            l1,
            alignment,
            loss,
            bias,
            penalty: listed(penalty, 0.0),
            bounds: listed(bounds, f64::INFINITY),
            ranges,
            pairs: pairs.transpose()?,
            rules,
            root,
        })
    }

    /// How far below and above 0 the weight of feature j may be, with `u_j` as its weight bound.
    pub(crate) fn range(&self, j: usize, u: f64) -> [f64; 2] {
        self.ranges[j].map(|end| end.min(u))
    }

    /// The objective without features, by a bias alone, not above it; 0 for gain `alignment`.
    pub(crate) fn baseline(&self) -> f64 {
        let of_part = |part: &Part<'_>| {
            let sum = |y: f64| {
                let costs = part.y.iter().zip(&part.costs).filter(|one| *one.0 == y).map(|one| *one.1);
                costs.fold(0.0, add_down)
            };
            let (more, less) = (sum(1.0).max(sum(-1.0)), sum(1.0).min(sum(-1.0)));
            // At some 10 roundings of terms that are not negative.
            mul_down(self.of_bias(more, less), 1.0 - 1e-12)
        };
        if self.alignment { 0.0 } else { self.parts.iter().map(of_part).fold(0.0, add_down) }
    }

    /// The least cost of a bias b from 0 to 1 that speaks for the class with the larger sum of C.
    fn of_bias(&self, more: f64, less: f64) -> f64 {
        let squared = self.loss == Loss::SquaredHinge;
        let loss = |b: f64| match squared {
            false => more * (1.0 - b) + less * (1.0 + b),
            true => more * (1.0 - b).powi(2) + less * (1.0 + b).powi(2),
        };
        match self.bias {
            _ if more == 0.0 => 0.0,
            Bias::None => loss(0.0),
            Bias::Free if squared => 4.0 * less / (1.0 + less / more),
            Bias::Free => 2.0 * less,
            Bias::Penalised(s) if self.l1 => loss(0.0).min(loss(1.0) + 1.0 / s),
            Bias::Penalised(s) => {
                let b = if squared {
                    (more - less) / (more + less + 0.5 / (s * s))
                } else {
                    (s * s * (more - less)).min(1.0)
                };
                loss(b) + 0.5 * (b / s).powi(2)
            }
        }
    }

    /// Whether a subset obeys the rules.
    pub(crate) fn allows(&self, features: &[usize]) -> bool {
        self.root.as_ref().is_some_and(|root| self.rules.allows(root, features))
    }
}

/// By feature: how far below and above 0 its weight may be; a feature that is named twice has both
/// bounds.
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
