//! Gaps: how much of what features can gain is left open, and how much may be.

use serde::{Deserialize, Serialize};

use super::{Limits, Sense};

/// Room that a gap asked for leaves to rounding, as a share of it and of the objective.
const HAIR: f64 = 1e-9;
const ROUNDING: f64 = 1e-15;
/// A gain up to this share of the objective without features is none.
const NOTHING: f64 = 1e-9;

/// Unit of gains: the objective without features, the smallest price, and the gain that counts as
/// none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Yardstick {
    /// The objective without features, by a bias alone; 0 where the objective is maximised.
    pub baseline: f64,
    /// The price of the cheapest feature; 0 where features have no prices.
    pub price: f64,
    /// A gain up to this is none: objectives are not known better.
    pub nothing: f64,
}

impl Yardstick {
    /// Yardstick of features with these prices.
    #[doc(hidden)]
    pub fn new(baseline: f64, prices: &[f64]) -> Self {
        let price = prices.iter().copied().reduce(f64::min).unwrap_or(0.0);
        Self { baseline, price, nothing: NOTHING * baseline.abs() }
    }

    /// Where objectives are known to this share of the baseline.
    #[doc(hidden)]
    #[must_use]
    pub fn known_to(self, share: f64) -> Self {
        Self { nothing: self.nothing.max(share * self.baseline.abs()), ..self }
    }

    /// The share of what features can gain that is left open:
    /// `|objective - bound| / |baseline - bound|`.
    ///
    /// Where the rules force a subset that is worse than none, |baseline - objective| counts if it
    /// is the larger one, or the price of the cheapest feature. A subset that gains nothing is
    /// measured by the price of the cheapest feature, which any other would have to earn; without
    /// prices the gap is 0 where others gain nothing either, up to rounding, and 1 where they may.
    /// Infinite where objective or bound is.
    ///
    /// # Examples
    /// ```
    /// use fewest::Yardstick;
    ///
    /// // Of the 50 that features can lower an objective of 100 by, this subset misses 5.
    /// assert_eq!(Yardstick { baseline: 100.0, price: 0.0, nothing: 1e-8 }.gap(55.0, 50.0), 0.1);
    /// ```
    pub fn gap(&self, objective: f64, bound: f64) -> f64 {
        let (open, gain) = ((objective - bound).abs(), (self.baseline - objective).abs());
        if objective == bound {
            return 0.0;
        }
        let share = if open.is_infinite() {
            f64::INFINITY
        } else if gain > self.nothing {
            open / (self.baseline - bound).abs().max(self.of_loss(objective)).max(gain)
        } else if open <= self.nothing {
            0.0
        } else if self.price > 0.0 {
            open / self.price
        } else {
            1.0
        };
        if share.is_nan() { f64::INFINITY } else { share }
    }

    /// The share of what a minimised objective gains that another one gains less, below 0 where it
    /// gains more; none where the first gains nothing.
    pub fn loss(&self, objective: f64, other: f64) -> Option<f64> {
        let gain = self.baseline - objective;
        (gain > 0.0).then(|| (other - objective) / gain)
    }

    /// What a loss that the rules force is measured by at least.
    fn of_loss(&self, objective: f64) -> f64 {
        if objective > self.baseline { self.price } else { 0.0 }
    }

    /// The largest distance of a bound from an objective whose gap is at most this.
    #[doc(hidden)]
    pub fn room(&self, relative: f64, objective: f64, is_better: bool) -> f64 {
        let gain = (self.baseline - objective).abs();
        match (gain > self.nothing, is_better) {
            (true, true) if relative >= 1.0 => f64::INFINITY,
            // open = relative (gain + open)
            (true, true) => gain * relative / (1.0 - relative),
            (true, false) => gain.max(self.of_loss(objective)) * relative,
            (false, _) => self.nothing.max(self.price * relative),
        }
    }
}

/// |objective - bound| / |objective|; 0 where the two are the same.
pub fn relative_gap(objective: f64, bound: f64) -> f64 {
    if objective == bound { 0.0 } else { (objective - bound).abs() / objective.abs() }
}

/// The gaps asked for, and what they are measured by. The relative one is asked of the gain and of
/// the objective: where C is large, all subsets that separate the classes gain nearly as much.
#[derive(Debug, Clone, Copy, PartialEq)]
#[doc(hidden)]
pub struct Gaps {
    pub(crate) sense: Sense,
    pub(crate) relative: f64,
    pub(crate) absolute: f64,
    pub(crate) yardstick: Option<Yardstick>,
    /// Share of the baseline that a solver knows objectives no better than.
    pub(crate) tolerance: f64,
}

impl Gaps {
    /// Gaps that the limits ask for, of bounds that are proven.
    pub(crate) fn asked(limits: &Limits, sense: Sense, yardstick: Option<Yardstick>) -> Self {
        Self { sense, relative: limits.gap_rel, absolute: limits.gap_abs, yardstick, tolerance: 0.0 }
    }

    /// The relative gap of an objective and a bound.
    pub(crate) fn gap(&self, objective: f64, bound: f64) -> f64 {
        self.yardstick.map_or_else(|| relative_gap(objective, bound), |yardstick| yardstick.gap(objective, bound))
    }

    /// Whether an objective and a bound are as near as was asked for.
    pub(crate) fn closed(&self, objective: f64, bound: f64) -> bool {
        let (gap, open) = (self.gap(objective, bound), (objective - bound).abs());
        let near = gap == 0.0 || (gap <= self.relative && open <= self.of_objective(objective));
        near || (open <= self.absolute && objective.is_finite())
    }

    /// [`Gaps::closed`] of one of the best subsets: what they gain is measured by the best of them,
    /// or by itself where that is more.
    pub(crate) fn closed_beside(&self, best: f64, objective: f64, bound: f64) -> bool {
        if best == objective {
            return self.closed(objective, bound);
        }
        (objective - bound).abs() <= self.room_beside(best, objective)
    }

    /// The largest distance of a bound from an objective that is closed.
    #[doc(hidden)]
    pub fn room(&self, objective: f64) -> f64 {
        self.room_beside(objective, objective)
    }

    /// [`Gaps::room`] of one of the best subsets.
    pub(crate) fn room_beside(&self, best: f64, objective: f64) -> f64 {
        let of_gain = self.yardstick.map_or(f64::INFINITY, |yardstick| {
            let of = |at: f64| yardstick.room(self.relative, at, self.better(at, yardstick.baseline));
            let gains = (yardstick.baseline - objective).abs() > yardstick.nothing;
            of(best).max(if gains { of(objective) } else { 0.0 })
        });
        // Where nothing is gained, what counts as nothing is room enough.
        let nothing = |y: &Yardstick| (y.baseline - best).abs() <= y.nothing;
        let least = self.yardstick.filter(nothing).map_or(0.0, |yardstick| yardstick.nothing);
        of_gain.min(self.of_objective(objective)).max(least).max(self.absolute)
    }

    /// Error of a bound as a share of the objective.
    fn of_objective(&self, objective: f64) -> f64 {
        let least = self.tolerance * self.yardstick.map_or(0.0, |yardstick| yardstick.baseline.abs());
        (self.relative * objective.abs()).max(least)
    }

    /// [`Gaps::room`] as a share of the objective: what is relative to an objective is to be known
    /// to this.
    #[doc(hidden)]
    pub fn share(&self, objective: f64) -> f64 {
        let share = self.room(objective) / objective.abs();
        if share.is_nan() { 0.0 } else { share }
    }

    /// Share of its own gap that a solver of objectives less the baseline must close: half of
    /// what one like the best so far needs, for the best may be better.
    #[cfg(feature = "highs")]
    pub(crate) fn of_gain(&self, best: Option<f64>) -> f64 {
        let baseline = self.yardstick.map_or(0.0, |yardstick| yardstick.baseline);
        let needed = |best: f64| 0.5 * self.room(best) / (baseline - best).abs();
        let needed = best.map_or(0.1 * self.relative, needed);
        if needed.is_nan() { self.relative } else { needed.min(self.relative) }
    }

    /// What a bound must reach to be as near to an objective as was asked for.
    pub(crate) fn cutoff(&self, objective: f64) -> f64 {
        self.cutoff_beside(objective, objective)
    }

    /// [`Gaps::cutoff`] of one of the best subsets.
    pub(crate) fn cutoff_beside(&self, best: f64, objective: f64) -> f64 {
        let room = ((1.0 - HAIR) * self.room_beside(best, objective) - ROUNDING * objective.abs()).max(0.0);
        self.worse_by(-room, objective)
    }

    /// These, and of each this share.
    pub(crate) fn times(self, share: f64) -> Self {
        Self { relative: share * self.relative, absolute: share * self.absolute, ..self }
    }

    /// These less a share of each, and less twice that of what counts as no gain, which rounding
    /// takes more of.
    pub(crate) fn less(self, share: f64) -> Self {
        let of = |yardstick: Yardstick| Yardstick { nothing: (1.0 - 2.0 * share) * yardstick.nothing, ..yardstick };
        Self { yardstick: self.yardstick.map(of), ..self.times(1.0 - share) }
    }

    /// The objective whose gain is this share less than that of `best`: where the set of all
    /// subsets nearly as good ends.
    pub(crate) fn threshold(&self, within: f64, best: f64) -> f64 {
        let gain = self.yardstick.map_or(best.abs(), |yardstick| (yardstick.baseline - best).abs());
        self.worse_by(within * gain, best)
    }

    fn better(&self, a: f64, b: f64) -> bool {
        match self.sense {
            Sense::Min => a < b,
            Sense::Max => a > b,
        }
    }

    /// The objective that is worse than this one by a distance.
    pub(crate) fn worse_by(&self, distance: f64, objective: f64) -> f64 {
        match self.sense {
            Sense::Min => objective + distance,
            Sense::Max => objective - distance,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Gaps, Yardstick};
    use crate::Sense;

    fn gap(objective: f64, bound: f64, baseline: f64, price: f64) -> f64 {
        Yardstick::new(baseline, &[price]).gap(objective, bound)
    }

    #[test]
    fn a_gap_is_a_share_of_what_features_can_gain() {
        assert_eq!(gap(90.0, 89.0, 100.0, 0.0), 1.0 / 11.0);
        // The subset of none, where others may gain 1e-4 of the objective: all is open.
        assert_eq!(gap(100.0, 99.99, 100.0, 0.0), 1.0);
        // Maximised, from 0.
        assert_eq!(gap(8.0, 10.0, 0.0, 0.0), 0.2);
        // The rules force a loss of 20; it need not be more than 10.
        assert_eq!(gap(120.0, 110.0, 100.0, 0.0), 0.5);
        // No feature is worth its price, 2 at least, to one part in eight.
        assert_eq!(gap(100.0, 99.75, 100.0, 2.0), 0.125);
        assert_eq!(gap(100.0, 100.0 - 1e-9, 100.0, 0.0), 0.0);
        assert_eq!(gap(100.0, f64::NEG_INFINITY, 100.0, 0.0), f64::INFINITY);
        assert_eq!(Yardstick::new(1.0, &[3.0, 0.0, 2.0]).price, 0.0);
        assert_eq!(Yardstick::new(1.0, &[3.0, 2.0]).price, 2.0);
        assert_eq!(Yardstick::new(1.0, &[0.0]).price, 0.0);
    }

    #[test]
    fn a_bound_at_the_cutoff_is_closed_and_one_well_below_is_not() {
        let of = |baseline, price| Some(Yardstick::new(baseline, &[price]));
        for (sense, yardstick) in
            [(Sense::Min, of(100.0, 0.0)), (Sense::Min, of(140.0, 0.3)), (Sense::Max, of(0.0, 0.0)), (Sense::Min, None)]
        {
            for relative in [1e-9, 1e-4, 0.3] {
                let gaps = Gaps { sense, relative, absolute: 0.0, yardstick, tolerance: 0.0 };
                for objective in [3.0, 60.0, 99.99, 140.0] {
                    let cutoff = gaps.cutoff(objective);
                    assert!(gaps.closed(objective, cutoff), "{gaps:?} {objective} {cutoff}");
                    let beyond = objective + 1.01 * (cutoff - objective);
                    assert!(!gaps.closed(objective, beyond), "{gaps:?} {objective} {cutoff}");
                }
            }
        }
    }

    #[test]
    fn the_gap_is_asked_of_the_objective_too() {
        let yardstick = Some(Yardstick::new(1e8, &[]));
        let gaps = Gaps { sense: Sense::Min, relative: 1e-4, absolute: 0.0, yardstick, tolerance: 0.0 };
        assert!(gaps.gap(2.0, 1.0) < 1e-7 && !gaps.closed(2.0, 1.0) && gaps.closed(2.0, 1.9999));
        assert!((gaps.cutoff(2.0) - 1.9998).abs() < 1e-9);
    }
}
