//! Bounds on the weights of a linear SVM: what a feature then gains, and the weight that gains it.
//!
//! ```text
//! g(c) = max over l <= w <= u of c w - w^2 / 2        the gain of a score c
//! w(c) = g'(c) = clamp(c, l, u)                       the weight that gains it: the primal map
//! ```
//!
//! with `l <= 0 <= u`, so that a feature that is not chosen has an allowed weight. Without bounds
//! that is `c^2 / 2` and `c`; a sign is the bounds `[0, inf)` or `(-inf, 0]`, and gains
//! `max(0, s c)^2 / 2`. The perspective of a bounded weight, share z, has weights in `[z l, z u]`
//! and gains `z g(c)`, so that bounds are also those of mixtures (`bound/`). g is convex with
//! its least value, 0, at c = 0; `|w| <= |c|`, `w^2 / 2 <= g <= c^2 / 2`.
//!
//! Under an L1 penalty, whose weights cost `up` per unit above 0 and `down` per unit below,
//!
//! ```text
//! g(c) = max over l <= w <= u of c w - up max(0, w) - down max(0, -w)
//!      = max(0, u (c - up), -l (-c - down))
//! ```
//!
//! which is 0 or infinite without bounds: the dual's conditions `-down <= c <= up`.
//!
//! Bounds are on the weights of the columns as the SVM has them: of scaled ones where they were
//! scaled. Signs do not depend on that.

use crate::Error;

/// Bounds on the weight of one feature as a user states them.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightBound {
    /// The feature, counted from 0.
    pub feature: usize,
    /// Smallest weight, 0 or less; none for no bound.
    #[serde(default)]
    pub lower: Option<f64>,
    /// Largest weight, 0 or more; none for no bound.
    #[serde(default)]
    pub upper: Option<f64>,
}

impl WeightBound {
    /// A weight that is 0 or more.
    pub fn positive(feature: usize) -> Self {
        Self { feature, lower: Some(0.0), upper: None }
    }

    /// A weight that is 0 or less.
    pub fn negative(feature: usize) -> Self {
        Self { feature, lower: None, upper: Some(0.0) }
    }

    /// A weight of this interval.
    pub fn within(feature: usize, interval: Interval) -> Self {
        let finite = |bound: f64| Some(bound).filter(|bound| bound.is_finite());
        Self { feature, lower: finite(interval.lower), upper: finite(interval.upper) }
    }
}

/// The weights that a feature may have: from `lower`, 0 or less, to `upper`, 0 or more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Smallest weight; minus infinity where there is no bound.
    pub lower: f64,
    /// Largest weight; infinity where there is no bound.
    pub upper: f64,
}

impl Interval {
    /// Any weight.
    pub const FREE: Self = Self { lower: f64::NEG_INFINITY, upper: f64::INFINITY };

    /// The weight that gains most at score c.
    pub fn weight(self, c: f64) -> f64 {
        c.clamp(self.lower, self.upper)
    }

    /// Gain of the score c, 0 or more.
    pub fn gain(self, c: f64) -> f64 {
        let w = self.weight(c);
        w * (c - 0.5 * w)
    }

    /// The largest gain of a score that is at most `off` away from c.
    pub fn largest_gain(self, c: f64, off: f64) -> f64 {
        self.gain(c - off).max(self.gain(c + off))
    }

    /// Gain of the score c, 0 or more, under an L1 penalty of these prices of w > 0 and w < 0;
    /// infinite where nothing bounds a weight that is worth more than its price.
    pub fn priced_gain(self, c: f64, up: f64, down: f64) -> f64 {
        let side = |gain: f64, bound: f64| if gain > 0.0 && bound > 0.0 { gain * bound } else { 0.0 };
        side(c - up, self.upper).max(side(-c - down, -self.lower))
    }

    /// Excess of the score c over the price of a side on which weights are allowed; below 0 where
    /// it exceeds none.
    pub fn excess(self, c: f64, up: f64, down: f64) -> f64 {
        let side = |gain: f64, allowed: bool| if allowed { gain } else { f64::NEG_INFINITY };
        side(c - up, self.upper > 0.0).max(side(-c - down, self.lower < 0.0))
    }

    /// The size of the score c, 0 where no weight of its sign is allowed: what a small weight gains
    /// per unit.
    pub fn worth(self, c: f64) -> f64 {
        self.excess(c, 0.0, 0.0).max(0.0)
    }

    /// Violation of the conditions of w by the score c: what a unit more or less of the weight
    /// would gain under an L1 penalty of these prices, 0 where neither gains or is allowed.
    pub fn violation(self, w: f64, c: f64, up: f64, down: f64) -> f64 {
        let (dearer, cheaper) = (if w < 0.0 { -down } else { up }, if w > 0.0 { up } else { -down });
        let more = if w < self.upper { c - dearer } else { 0.0 };
        let less = if w > self.lower { cheaper - c } else { 0.0 };
        more.max(less).max(0.0)
    }

    /// Whether 0 is the only weight.
    pub fn is_zero(self) -> bool {
        self.lower == 0.0 && self.upper == 0.0
    }

    /// Whether some bound is neither 0 nor infinite.
    pub fn is_boxed(self) -> bool {
        let boxed = |bound: f64| bound != 0.0 && bound.is_finite();
        boxed(self.lower) || boxed(self.upper)
    }

    /// The weights of the interval of size u, 0 or more, at most.
    #[must_use]
    pub fn within(self, u: f64) -> Self {
        Self { lower: self.lower.max(-u), upper: self.upper.min(u) }
    }

    /// The bounds times a factor, 0 or more.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        // An infinite bound stays one.
        let times = |bound: f64| if bound.is_finite() { bound * factor } else { bound };
        Self { lower: times(self.lower), upper: times(self.upper) }
    }
}

/// The intervals of p features, checked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WeightBounds {
    /// Length p, or empty where every weight is free.
    intervals: Vec<Interval>,
}

impl WeightBounds {
    /// Checks what is stated for p features; a feature that is named twice has both bounds.
    /// `name` is for messages.
    ///
    /// # Errors
    /// [`Error::Rules`] naming the feature, the value and the remedy.
    pub fn new(p: usize, stated: &[WeightBound], name: &dyn Fn(usize) -> String) -> Result<Self, Error> {
        let mut intervals = if stated.is_empty() { Vec::new() } else { vec![Interval::FREE; p] };
        for &WeightBound { feature, lower, upper } in stated {
            let Some(interval) = intervals.get_mut(feature) else {
                return Err(Error::Rules(format!(
                    "bounds on a weight name feature index {feature}, but there are {p} features, counted from 0"
                )));
            };
            let bounds = [("lower", lower, -1.0), ("upper", upper, 1.0)];
            for (which, bound, side) in bounds {
                if let Some(bound) = bound.filter(|bound| bound.is_nan() || bound * side < 0.0) {
                    let range = if side > 0.0 { "0 or more" } else { "0 or less" };
                    return Err(Error::Rules(format!(
                        "the {which} bound on the weight of {} is {bound}, but must be {range}: a feature that is not \
                         chosen has weight 0; to have it chosen, require it",
                        name(feature)
                    )));
                }
            }
            interval.lower = interval.lower.max(lower.unwrap_or(f64::NEG_INFINITY));
            interval.upper = interval.upper.min(upper.unwrap_or(f64::INFINITY));
        }
        if intervals.iter().all(|i| *i == Interval::FREE) {
            intervals.clear();
        }
        Ok(Self { intervals })
    }

    /// Whether no weight is bounded.
    pub fn is_free(&self) -> bool {
        self.intervals.is_empty()
    }

    /// The weights that feature j may have.
    pub fn of(&self, j: usize) -> Interval {
        self.intervals.get(j).copied().unwrap_or(Interval::FREE)
    }

    /// The features whose weights have bounds, ascending.
    pub fn bounded(&self) -> impl Iterator<Item = (usize, Interval)> {
        self.intervals.iter().copied().enumerate().filter(|(_, interval)| *interval != Interval::FREE)
    }

    /// Whether some bound is neither 0 nor infinite.
    pub fn is_boxed(&self) -> bool {
        self.intervals.iter().any(|interval| interval.is_boxed())
    }

    /// The bounds of some features, in their order.
    #[must_use]
    pub fn of_all(&self, features: &[usize]) -> Self {
        if self.is_free() {
            return Self::default();
        }
        Self { intervals: features.iter().map(|&j| self.of(j)).collect() }
    }

    /// The bounds of the columns `sqrt(z_j) x_j` of some features, one z_j for each, in their
    /// order.
    #[must_use]
    pub fn weighted(&self, features: &[usize], z: &[f64]) -> Self {
        if self.is_free() {
            return Self::default();
        }
        Self { intervals: features.iter().zip(z).map(|(&j, z)| self.of(j).scaled(z.sqrt())).collect() }
    }
}

/// Refuses bounds where there are more classes than two.
pub fn check_two_classes(bounds: &WeightBounds, n_classes: u32) -> Result<(), Error> {
    if bounds.is_free() || n_classes <= 2 {
        return Ok(());
    }
    Err(Error::Data(format!(
        "bounds on weights need two classes, but there are {n_classes}: a sign says which of two classes a feature \
         speaks for; keep two of them"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Under an L1 penalty: the gain is the largest value over a grid of weights, and a weight
    /// violates nothing where no other of the grid is better.
    #[test]
    fn priced_gain_is_the_largest_value_and_its_weight_violates_nothing() {
        let ends = [0.0, 0.5, 2.0];
        for (lower, upper) in ends.iter().flat_map(|l| ends.iter().map(move |u| (-l, *u))) {
            let interval = Interval { lower, upper };
            for (up, down) in [(1.0, 1.0), (0.25, 1.5), (-0.5, 2.5)] {
                for c in (-24..=24).map(|k| 0.125 * f64::from(k)) {
                    let value = |w: f64| c * w - if w > 0.0 { up * w } else { -down * w };
                    let grid = || (-8..=8).map(|k| 0.25 * f64::from(k)).filter(|w| (lower..=upper).contains(w));
                    let largest = grid().map(value).fold(f64::NEG_INFINITY, f64::max);
                    let about = format!("{interval:?} {c} {up} {down}");
                    assert!((interval.priced_gain(c, up, down) - largest).abs() < 1e-12, "{about}");
                    assert_eq!(interval.excess(c, up, down) > 0.0, largest > 0.0, "{about}");
                    for w in grid() {
                        let best = value(w) > largest - 1e-12;
                        assert_eq!(interval.violation(w, c, up, down) == 0.0, best, "{about} {w}");
                    }
                }
            }
        }
        assert_eq!(Interval::FREE.priced_gain(2.0, 1.0, 1.0), f64::INFINITY);
        assert_eq!(Interval::FREE.priced_gain(-1.0, 1.0, 1.0), 0.0);
    }

    /// The gain is the largest of `c w - w^2 / 2` over the interval, and its slope is the weight.
    #[test]
    fn gain_is_the_largest_value_and_its_slope_the_weight() {
        let ends = [0.0, 0.3, 2.0, f64::INFINITY];
        for (lower, upper) in ends.iter().flat_map(|l| ends.iter().map(move |u| (-l, *u))) {
            let interval = Interval { lower, upper };
            for c in (-40..=40).map(|k| 0.1 * f64::from(k)) {
                let grid = (-5000..=5000).map(|k| 1e-3 * f64::from(k)).filter(|w| (lower..=upper).contains(w));
                let largest = grid.map(|w| c * w - 0.5 * w * w).fold(f64::NEG_INFINITY, f64::max);
                assert!((interval.gain(c) - largest).abs() < 1e-6, "{interval:?} {c}");
                let slope = (interval.gain(c + 1e-6) - interval.gain(c - 1e-6)) / 2e-6;
                assert!((slope - interval.weight(c)).abs() < 1e-5, "{interval:?} {c}");
                for off in [0.0, 0.2, 1.0] {
                    let near = (-10..=10).map(|k| interval.gain(c + 0.1 * f64::from(k) * off));
                    let off_by = interval.largest_gain(c, off) - near.fold(0.0, f64::max);
                    assert!(off_by.abs() < 1e-12, "{interval:?} {c} {off}");
                }
            }
        }
    }

    #[test]
    fn bounds_that_exclude_zero_are_refused_by_name() {
        let name = |j: usize| format!("f{j}");
        let bound = |lower, upper| WeightBound { feature: 1, lower, upper };
        for (stated, text) in [
            (bound(Some(0.5), None), "the lower bound on the weight of f1 is 0.5, but must be 0 or less"),
            (bound(None, Some(-2.0)), "the upper bound on the weight of f1 is -2, but must be 0 or more"),
            (bound(Some(f64::NAN), None), "the lower bound on the weight of f1 is NaN"),
            (WeightBound::positive(7), "feature index 7, but there are 3"),
        ] {
            let error = WeightBounds::new(3, &[stated], &name).unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
        let both = [WeightBound::positive(1), bound(Some(-1.0), Some(2.0))];
        assert_eq!(WeightBounds::new(3, &both, &name).unwrap().of(1), Interval { lower: 0.0, upper: 2.0 });
        assert!(WeightBounds::new(3, &[bound(None, None)], &name).unwrap().is_free());
    }
}
