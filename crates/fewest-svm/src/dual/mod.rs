//! The support vector machine's dual and its solvers.
//!
//! Everything here works on signed dual variables `beta_i = y_i alpha_i`, because then the kernel
//! matrix K needs no labels and one K serves every class pair, fold and weighting:
//!
//! ```text
//! maximise  D(beta) = sum_i y_i beta_i - 1/2 beta' (K + s^2 11' + diag(ridge)) beta
//! s.t.      lower_i <= beta_i <= upper_i        [0, C_i] for y_i = +1, [-C_i, 0] for y_i = -1
//!           sum_i beta_i = 0                    only with a free bias
//! ```
//!
//! | | hinge: `C_i max(0, 1 - y_i f_i)` | squared hinge: `C_i max(0, 1 - y_i f_i)^2` |
//! | --- | --- | --- |
//! | box | `|beta_i| <= C_i` | `|beta_i| < infinity` |
//! | ridge | 0 | `1 / (2 C_i)` |
//!
//! The bias is free (unpenalised: LIBSVM), penalised (a constant feature of value s: LIBLINEAR's
//! `-B s`) or absent. `C_i = cost * weight_i`. Sources: Cortes and Vapnik 1995; Hsieh et al., ICML
//! 2008, eq. (4).

pub mod active_set;
pub mod conjugate;
pub mod coordinate;
mod free_inverse;
pub mod interior;
pub mod kkt;
pub mod linear;
mod low_rank;
pub mod newton;
pub mod normal;
pub mod patience;
pub mod shrinking;
pub mod smo;
pub mod sweep;
pub mod train;

use serde::{Deserialize, Serialize};

use crate::{Error, Kernel, Status};
pub use linear::solve_linear;

/// Loss of a sample with margin `m = y f`; C is the slack cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// `C max(0, 1 - m)`
    #[default]
    Hinge,
    /// `C max(0, 1 - m)^2`
    SquaredHinge,
}

/// The way in which the bias b of `f(x) = w.x + b` enters the objective.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(into = "BiasText", try_from = "BiasText")]
pub enum Bias {
    /// Not penalised; the dual has the equality `y'alpha = 0` (LIBSVM).
    #[default]
    Free,
    /// As the weight of a constant feature of this value s > 0: adds `1/2 (b/s)^2` (LIBLINEAR's
    /// `-B s`).
    Penalised(f64),
    /// b = 0.
    None,
}

impl Bias {
    /// Whether a machine of this bias and kernel decides as before where a constant is added to a
    /// feature: distances do not see it, and a free bias makes up for it.
    pub fn absorbs_constants(self, kernel: &Kernel) -> bool {
        kernel.distance().is_some() || (*kernel == Kernel::Linear && self == Bias::Free)
    }
}

/// A bias as JSON has it: `free`, `none` or the value of the constant feature.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum BiasText {
    Value(f64),
    Name(String),
}

impl From<Bias> for BiasText {
    fn from(bias: Bias) -> Self {
        match bias {
            Bias::Free => BiasText::Name("free".into()),
            Bias::None => BiasText::Name("none".into()),
            Bias::Penalised(value) => BiasText::Value(value),
        }
    }
}

impl TryFrom<BiasText> for Bias {
    type Error = Error;

    fn try_from(text: BiasText) -> Result<Self, Error> {
        match text {
            BiasText::Value(value) => Ok(Bias::Penalised(value)),
            BiasText::Name(name) => name.parse(),
        }
    }
}

impl std::str::FromStr for Bias {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match (text, text.parse::<f64>()) {
            ("free", _) => Ok(Bias::Free),
            ("none", _) => Ok(Bias::None),
            (_, Ok(value)) if value > 0.0 && value.is_finite() => Ok(Bias::Penalised(value)),
            _ => Err(Error::setting("bias", text, "free, none, or a number above 0")),
        }
    }
}

crate::settings! {
    /// Settings of one SVM training.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct SvmSettings {
        /// Slack cost C > 0.
        pub cost: f64 = 1.0 => "a number above 0, from 1e-40 to 1e40",
        /// Loss.
        pub loss: Loss = Loss::Hinge,
        /// Bias.
        pub bias: Bias = Bias::Free,
        /// Stop when (primal - dual) / |primal| is at most this; in (0, 1).
        pub tolerance: f64 = 1e-6 => [between 0 and 1],
        /// Cap on passes over the data (coordinate descent, interior point) or on n-fold pair updates
        /// (SMO).
        pub max_epochs: u64 = 100_000 => [at least 1],
        /// Bytes the Gram matrix cache may use.
        pub memory: u64 = 1 << 30,
    }
}

/// Costs with which sums of values and their squares stay doubles; see [`crate::LARGEST_VALUE`].
pub const COSTS: std::ops::RangeInclusive<f64> = 1e-40..=1e40;

impl SvmSettings {
    /// Checks every number against its range.
    pub fn check(&self) -> Result<(), Error> {
        if !COSTS.contains(&self.cost) {
            return Err(Error::setting("cost", format!("{:?}", self.cost), "a number above 0, from 1e-40 to 1e40"));
        }
        if let Bias::Penalised(s) = self.bias
            && !(s > 0.0 && s.is_finite())
        {
            return Err(Error::setting("bias feature", s, "a finite number above 0"));
        }
        crate::Settings::in_range(self)
    }
}

/// The dual problem without its kernel matrix: labels, box, ridge and bias, all of length n.
#[derive(Debug, Clone)]
pub struct BoxDual {
    /// Labels y_i, -1 or +1.
    pub y: Vec<f64>,
    /// C_i >= 0; a sample of weight 0 stays at beta_i = 0.
    pub cost: Vec<f64>,
    /// Smallest beta_i.
    pub lower: Vec<f64>,
    /// Largest beta_i.
    pub upper: Vec<f64>,
    /// Added to K_ii.
    pub ridge: Vec<f64>,
    /// Loss the box and ridge stand for.
    pub loss: Loss,
    /// Bias.
    pub bias: Bias,
}

impl BoxDual {
    /// Box and ridge for labels `y` (length n, each -1 or +1) and sample weights (length n, each >=
    /// 0).
    pub fn new(y: &[f64], weights: &[f64], settings: &SvmSettings) -> Self {
        let cost: Vec<f64> = weights.iter().map(|w| w * settings.cost).collect();
        let reach = |c: f64| match settings.loss {
            Loss::Hinge => c,
            Loss::SquaredHinge if c > 0.0 => f64::INFINITY,
            Loss::SquaredHinge => 0.0,
        };
        let ridge = match settings.loss {
            Loss::Hinge => vec![0.0; y.len()],
            Loss::SquaredHinge => cost.iter().map(|&c| if c > 0.0 { 0.5 / c } else { 0.0 }).collect(),
        };
        Self {
            y: y.to_vec(),
            lower: y.iter().zip(&cost).map(|(&y, &c)| if y > 0.0 { 0.0 } else { -reach(c) }).collect(),
            upper: y.iter().zip(&cost).map(|(&y, &c)| if y > 0.0 { reach(c) } else { 0.0 }).collect(),
            cost,
            ridge,
            loss: settings.loss,
            bias: settings.bias,
        }
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.y.len()
    }

    /// Whether there is no sample.
    pub fn is_empty(&self) -> bool {
        self.y.is_empty()
    }

    /// s^2 of a penalised bias, else 0: what the bias adds to every entry of K.
    pub fn bias_square(&self) -> f64 {
        match self.bias {
            Bias::Penalised(s) => s * s,
            Bias::Free | Bias::None => 0.0,
        }
    }
}

/// The solution that a solver returns.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct DualSolution {
    /// beta_i = y_i alpha_i, feasible for the dual, length n.
    pub beta: Vec<f64>,
    /// Bias b of the decision function.
    pub bias: f64,
    /// Weights w (length p) of a linear machine, `w = sum_i beta_i x_i`; empty for other kernels.
    pub weights: Vec<f64>,
    /// Primal objective at (w, b): an upper value. Of a kernel machine whose training was stopped
    /// without time to judge it, that of the last point judged; so with `dual`.
    pub primal: f64,
    /// Dual objective at beta: a lower value.
    pub dual: f64,
    /// At least primal - dual, with the digits that their difference loses; infinite where it is
    /// not known.
    pub absolute_gap: f64,
    /// Largest violation of the optimality conditions, see [`kkt::residual`].
    pub kkt_residual: f64,
    /// Pair updates or passes used.
    pub iterations: u64,
    /// `Optimal` when the gap tolerance was met, else the limit that stopped it.
    pub status: Status,
}

impl DualSolution {
    /// A beta to start from, of which nothing else is known.
    pub fn unjudged(beta: Vec<f64>) -> Self {
        let (none, status) = (f64::INFINITY, Status::Stalled);
        let (primal, dual, kkt_residual) = (none, -none, none);
        let weights = Vec::new();
        Self { beta, bias: 0.0, weights, primal, dual, absolute_gap: none, kkt_residual, iterations: 0, status }
    }

    /// alpha = 0 and w = 0 for this many features: what a training has that was stopped before it
    /// began.
    pub fn zero(dual: &BoxDual, features: usize, status: Status) -> Self {
        let (beta, weights) = (vec![0.0; dual.len()], vec![0.0; features]);
        // Both losses are 1 at a margin of 0.
        let primal: f64 = dual.cost.iter().sum();
        let kkt_residual = f64::INFINITY;
        Self { beta, bias: 0.0, weights, primal, dual: 0.0, absolute_gap: primal, kkt_residual, iterations: 0, status }
    }

    /// (primal - dual) / |primal|
    pub fn gap(&self) -> f64 {
        kkt::relative_gap(self.primal, self.dual)
    }

    /// How far the weights of a linear machine are from those of the optimum at most, in their
    /// Euclidean norm: the objective is strongly convex in w, so `1/2 |w - w*|^2 <= primal - dual`.
    pub fn weight_error(&self) -> f64 {
        kkt::weight_error(self.absolute_gap)
    }
}
