//! u, the largest |w_j| of a classifier: how it is found.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{MbpSettings, TIGHT};
use crate::design::power;
use crate::dual::{BoxDual, kkt};
use crate::l1_oracle::L1Oracle;
use crate::method::l1_svm::not_forbidden;
use crate::{Bias, Clock, Error, Memory, Problem, Rules, SvmSettings};

/// The grid of C in the paper's experiments. Without u, D has no say: y_k = |w_k| / u_k costs
/// nothing.
const COSTS: [f64; 4] = [0.1, 1.0, 10.0, 100.0];

/// The rule by which u is found. As text, and so in JSON: a number, `auto`, `auto:K`, `none` or
/// `paper`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "RuleText", try_from = "RuleText")]
pub enum WeightRule {
    /// This number, above 0, for every feature.
    Number(f64),
    /// `auto:K`; `auto` is K = 1. K, above 0, times the largest weight of the linear relaxation without
    /// u at the program's own C, the same for every feature in its unit; never more than `none`,
    /// which it is where no feature has weight.
    Auto(f64),
    /// The loss without features: |w_j| alone would cost as much, so that no best classifier, on
    /// whatever subset, has a larger weight.
    None,
    /// Section 4 of Gaudioso et al. 2017: for each feature the largest |w_j| of the linear
    /// relaxations without u for C in {0.1, 1, 10, 100}. Most are 0, which leaves those features
    /// out: that is a choice of the paper's, no proof.
    Paper,
}

impl Default for WeightRule {
    fn default() -> Self {
        Self::Auto(1.0)
    }
}

impl WeightRule {
    /// The form that a text must have.
    pub const FORMAT: &str = "a number above 0, auto, auto:K with K above 0, none or paper";

    /// Checks the number.
    ///
    /// # Errors
    /// [`Error::Setting`] when it is not finite and above 0.
    pub fn check(self) -> Result<(), Error> {
        match self {
            WeightRule::Number(number) | WeightRule::Auto(number) if !(number > 0.0 && number.is_finite()) => {
                Err(Error::setting("weight_bound", number, "a finite number above 0"))
            }
            _ => Ok(()),
        }
    }

    /// What weights a bound holds for, in words; nothing where it holds for all. `left_out` is the
    /// number of features without weight.
    pub(super) fn condition(self, left_out: usize) -> Option<String> {
        const PAPER: &str = "no weight is larger than its weight bound, the largest in four linear relaxations";
        const LARGEST: &str = "no weight is larger than the largest of the L1-SVM of the same cost";
        match self {
            WeightRule::None => None,
            WeightRule::Number(bound) => Some(format!("no weight is larger than the weight bound {bound}")),
            WeightRule::Auto(1.0) => Some(LARGEST.to_owned()),
            WeightRule::Auto(times) => Some(LARGEST.replace("the largest", &format!("{times} times the largest"))),
            WeightRule::Paper if left_out == 0 => Some(PAPER.to_owned()),
            WeightRule::Paper => {
                let features = if left_out == 1 { "feature has" } else { "features have" };
                Some(format!("{PAPER} ({left_out} {features} none and are left out)"))
            }
        }
    }

    /// u (length p) for these C_i, before the rules; of [`WeightRule::Paper`] 0 where they forbid a
    /// feature.
    pub(super) fn bounds(
        self,
        problem: &Problem<'_>,
        rules: &Rules,
        (cost, bias): (&[f64], Bias),
        memory: &Memory,
        clock: &Clock,
    ) -> Result<Vec<f64>, Error> {
        let p = problem.n_features();
        match self {
            WeightRule::Number(u) => Ok(vec![u; p]),
            WeightRule::None => Ok(vec![without_features(problem, cost, bias); p]),
            WeightRule::Auto(times) => {
                let price = units(problem);
                let mut largest: f64 = 0.0;
                relaxations(problem, rules, (&price, bias), &[cost.to_vec()], (memory, clock), &mut |j, w| {
                    largest = largest.max(w.abs() * price[j]);
                })?;
                let most = without_features(problem, cost, bias);
                let within = |price: &f64| if largest > 0.0 { (times * largest / price).min(most) } else { most };
                Ok(price.iter().map(within).collect())
            }
            WeightRule::Paper => {
                let mut bound = vec![0.0f64; p];
                let of = |cost: f64| problem.weights().iter().map(|weight| weight * cost).collect();
                let (price, costs) = (units(problem), COSTS.map(of));
                relaxations(problem, rules, (&price, bias), &costs, (memory, clock), &mut |j, w| {
                    bound[j] = bound[j].max(w.abs());
                })?;
                Ok(bound)
            }
        }
    }
}

/// u (length p) of these settings, before the bounds on weights of the rules.
///
/// # Errors
/// A failure of HiGHS.
pub fn weight_bounds(
    problem: &Problem<'_>,
    rules: &Rules,
    settings: &MbpSettings,
    clock: &Clock,
) -> Result<Vec<f64>, Error> {
    let cost: Vec<f64> = problem.weights().iter().map(|weight| weight * settings.cost).collect();
    settings.weight_rule().bounds(problem, rules, (&cost, settings.bias), &Memory::unlimited(), clock)
}

/// The objective without features, with the best bias.
pub(super) fn without_features(problem: &Problem<'_>, cost: &[f64], bias: Bias) -> f64 {
    let settings = SvmSettings { cost: 1.0, bias, ..SvmSettings::default() };
    kkt::without_features_l1(&BoxDual::new(problem.labels(), cost, &settings))
}

/// The unit of each feature by its samples of weight above 0: 1 where its largest value is within
/// 1000 times of 1.
fn units(problem: &Problem<'_>) -> Vec<f64> {
    let size = |j: usize| {
        let mut largest: f64 = 0.0;
        problem.design().each_in_column(j, &mut |i, x| {
            largest = if problem.weights()[i] > 0.0 { largest.max(x.abs()) } else { largest };
        });
        largest
    };
    (0..problem.n_features()).map(|j| power(size(j))).collect()
}

/// The weights of the linear relaxations without u, one for each list of C_i, within the bounds on
/// weights of the rules, over the features that these do not forbid. Each feature is measured in a
/// unit of its own: a weight costs as much as the unit, so that no feature's unit moves the weights
/// of others.
fn relaxations(
    problem: &Problem<'_>,
    rules: &Rules,
    (price, bias): (&[f64], Bias),
    costs: &[Vec<f64>],
    (memory, clock): (&Memory, &Clock),
    each: &mut dyn FnMut(usize, f64),
) -> Result<(), Error> {
    let p = problem.n_features();
    let mut free = vec![0.0; p];
    for j in not_forbidden(rules) {
        free[j] = f64::INFINITY;
    }
    let least = (0..p).filter(|j| free[*j] > 0.0).map(|j| price[j]).fold(f64::INFINITY, f64::min);
    let oracle = L1Oracle::within(problem, problem.weights().to_vec(), bias, free, memory)?;
    let mut oracle = oracle.bounded(rules.weight_bounds()).priced(if least.is_finite() { least } else { 1.0 })?;
    oracle.set_prices(price, price)?;
    for cost in costs {
        oracle.set_cost(cost)?;
        oracle.solve(TIGHT, clock)?.weights.into_iter().for_each(|(j, w)| each(j, w));
    }
    Ok(())
}

impl fmt::Display for WeightRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WeightRule::Number(number) => write!(f, "{number}"),
            WeightRule::None => f.write_str("none"),
            WeightRule::Auto(times) => write!(f, "auto:{times}"),
            WeightRule::Paper => f.write_str("paper"),
        }
    }
}

impl FromStr for WeightRule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let number = |text: &str| text.parse::<f64>().ok().filter(|x| *x > 0.0 && x.is_finite());
        let rule = match text {
            "auto" => Some(WeightRule::default()),
            "none" => Some(WeightRule::None),
            "paper" => Some(WeightRule::Paper),
            _ => match text.strip_prefix("auto:") {
                Some(times) => number(times).map(WeightRule::Auto),
                None => number(text).map(WeightRule::Number),
            },
        };
        rule.ok_or_else(|| Error::setting("weight_bound", text, WeightRule::FORMAT))
    }
}

/// u as JSON has it.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum RuleText {
    Number(f64),
    Rule(String),
}

impl From<WeightRule> for RuleText {
    fn from(rule: WeightRule) -> Self {
        match rule {
            WeightRule::Number(number) => RuleText::Number(number),
            rule => RuleText::Rule(rule.to_string()),
        }
    }
}

impl TryFrom<RuleText> for WeightRule {
    type Error = Error;

    fn try_from(text: RuleText) -> Result<Self, Error> {
        match text {
            RuleText::Number(number) => WeightRule::Number(number).check().map(|()| WeightRule::Number(number)),
            RuleText::Rule(rule) => rule.parse(),
        }
    }
}
