//! The price of a feature in `exact` and `gbd`: given, or found from the SVM on all features.
//!
//! Solves   which lambda makes about M features worth their price, M being `max_features`.
//! Paper    Aytug 2015 leaves lambda open: "perhaps the solution to the basic SVM problem can
//!          provide a starting point". By its (15) the first cut drops the features whose
//!          `w_j^2 / 2` is below lambda, w the weights of that SVM.
//! Given    Problem (n samples, p features) or several, Rules with `max_features`, the SVM.
//! Returns  lambda: the largest price at which M features stay, the M-th largest gain.
//! Steps    1. train on all features that the rules allow  2. the gain of each, `w_j^2 / 2`, or
//!          that of `crate::weights` within bounds; of several problems the sum; of features that
//!          go together the mean, since each of them is paid for  3. the M-th largest, required
//!          features first.
//! Why M    To leave out feature j alone costs at least its gain, for v is above its cuts. So the M
//!          features are worth that price where all are there. Any price between the M-th gain and
//!          the next keeps the same M, and none between them is better founded than another.
//! Ties     have one gain, so that any of them may take the last place. With M of all allowed
//!          features, or more, lambda is the smallest gain: none is dropped.
//! Cost     one training on all features.
//! Fails    never on limits: a training that is cut short prices by what it has.

use std::time::Instant;

use rayon::prelude::*;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bound::saddle::train_within;
use crate::{Choice, Clock, Error, Limits, Problem, Rules, SvmSettings};

/// The word for [`Penalty::Auto`].
const AUTO: &str = "auto";

/// Price that each chosen feature adds to the objective. In JSON: a list of numbers, or "auto".
#[derive(Debug, Clone, PartialEq)]
pub enum Penalty {
    /// A price for each feature, length p, each 0 or more; empty for none.
    Given(Vec<f64>),
    /// The price of all features at which about `max_features` of them are worth it, found from the
    /// SVM on all features that the rules allow.
    Auto,
}

impl Default for Penalty {
    fn default() -> Self {
        Self::NONE
    }
}

impl From<Vec<f64>> for Penalty {
    fn from(prices: Vec<f64>) -> Self {
        Self::Given(prices)
    }
}

impl Serialize for Penalty {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Given(prices) => prices.serialize(serializer),
            Self::Auto => AUTO.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Penalty {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "penalty must be a list of numbers, or \"auto\"")]
        enum Form {
            Prices(Vec<f64>),
            Word(String),
        }
        match Form::deserialize(deserializer)? {
            Form::Prices(prices) => Ok(Self::Given(prices)),
            Form::Word(word) if word == AUTO => Ok(Self::Auto),
            Form::Word(word) => {
                Err(serde::de::Error::custom(format!("penalty is {word:?}, but the one word for it is \"auto\"")))
            }
        }
    }
}

impl Penalty {
    /// No price.
    pub const NONE: Self = Self::Given(Vec::new());

    /// The prices given: none, or one for each feature. Those to be found are none yet.
    pub fn prices(&self) -> &[f64] {
        match self {
            Self::Given(prices) => prices,
            Self::Auto => &[],
        }
    }

    /// Whether there are prices, or will be.
    pub fn is_some(&self) -> bool {
        *self == Self::Auto || !self.prices().is_empty()
    }

    /// Checks the prices given, for p features.
    pub fn check(&self, p: usize) -> Result<(), Error> {
        check_penalty(self.prices(), p)
    }

    /// With a number for each feature in place of `Auto`, that number where it was found, and what
    /// is left of the limits.
    ///
    /// # Errors
    /// [`Error::Setting`] for `Auto` without `max_features`; settings of the SVM out of range, or
    /// more memory needed than allowed.
    #[doc(hidden)]
    pub fn found(
        &self,
        problems: &[Problem<'_>],
        rules: &Rules,
        svm: &SvmSettings,
        limits: Limits,
    ) -> Result<(Self, Option<f64>, Limits), Error> {
        if *self != Self::Auto {
            return Ok((self.clone(), None, limits));
        }
        let begun = Instant::now();
        let clock = Clock::new(&limits);
        // A run that has no time at all may still find a first subset of small data.
        let clock = if clock.stop().is_some() { clock.wind_up(1.0) } else { clock };
        let price = auto_penalty(problems, rules, svm, &limits, &clock)?;
        Ok((Self::Given(vec![price; rules.p()]), Some(price), limits.after(begun)))
    }

    /// Refuses `Auto` where a number is needed; `why` says what for.
    pub(super) fn check_given(&self, why: &str) -> Result<(), Error> {
        if *self == Self::Auto {
            return Err(Error::setting(
                "penalty",
                AUTO,
                format!("a number {why}, such as the one that `exact` found by auto"),
            ));
        }
        Ok(())
    }
}

/// The price that [`Penalty::Auto`] stands for.
fn auto_penalty(
    problems: &[Problem<'_>],
    rules: &Rules,
    svm: &SvmSettings,
    limits: &Limits,
    clock: &Clock,
) -> Result<f64, Error> {
    let Some(size) = rules.list().max_features else {
        return Err(Error::setting(
            "penalty",
            AUTO,
            "a number, or come with `max_features`, the size that auto finds a price for",
        ));
    };
    let choice = |j: usize| rules.root()[rules.unit_of(j)];
    let allowed: Vec<usize> = (0..rules.p()).filter(|&j| choice(j) != Choice::Out).collect();
    // Steps 1 and 2.
    let mut gains = vec![0.0; rules.p()];
    for problem in problems {
        let (design, bounds) = (problem.design(), rules.weight_bounds());
        let beta = train_within(design, &allowed, bounds, problem.labelled(), svm, &limits.memory, clock)?.beta;
        let gain = |&j: &usize| bounds.of(j).gain(design.dot_column(j, &beta));
        let found: Vec<f64> = allowed.par_iter().map(gain).collect();
        allowed.iter().zip(found).for_each(|(&j, gain)| gains[j] += gain);
    }
    let mean = |unit: &[usize]| unit.iter().map(|&j| gains[j]).sum::<f64>() / unit.len() as f64;
    // Step 3.
    let mut worth: Vec<(bool, f64)> =
        allowed.iter().map(|&j| (choice(j) == Choice::In, mean(rules.unit(rules.unit_of(j))))).collect();
    worth.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)));
    let last = size.min(worth.len()).saturating_sub(1);
    Ok(worth.get(last).map_or(0.0, |worth| worth.1))
}

/// Prices of features: none, or p of them, each 0 or more.
#[doc(hidden)]
pub fn check_penalty(penalty: &[f64], p: usize) -> Result<(), Error> {
    if !penalty.is_empty() && penalty.len() != p {
        let found = format!("{} numbers", penalty.len());
        return Err(Error::setting("penalty", found, format!("one number for each of the {p} features, or none")));
    }
    match penalty.iter().find(|l| !(**l >= 0.0 && l.is_finite())) {
        Some(bad) => Err(Error::setting("penalty", bad, "a finite number, 0 or more")),
        None => Ok(()),
    }
}
