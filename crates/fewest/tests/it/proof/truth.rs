//! What enumeration knows of a case, and what it finds wrong with an answer.

use fewest::{Outcome, Sense, Solution, Status, Subset};
use fewest_testing::Bracket;

use super::{NOTHING, ROUNDING};

/// All allowed subsets with their values.
pub(super) struct Truth {
    pub(super) sense: Sense,
    /// The value without features, and the smallest price of one.
    pub(super) baseline: f64,
    /// The value's error.
    pub(super) width: f64,
    pub(super) price: f64,
    pub(super) values: Vec<(Subset, Bracket)>,
    pub(super) gap: f64,
}

impl Truth {
    /// The value that the k-th best subset has at worst: its certified side.
    pub(super) fn at_worst(&self, k: usize) -> f64 {
        let mut values: Vec<f64> = self.values.iter().map(|(_, v)| self.cost(v).upper).collect();
        values.sort_by(f64::total_cmp);
        values[k]
    }

    /// As costs, smaller is better.
    pub(super) fn cost(&self, value: &Bracket) -> Bracket {
        match self.sense {
            Sense::Min => *value,
            Sense::Max => Bracket { lower: -value.upper, upper: -value.lower },
        }
    }

    pub(super) fn sign(&self) -> f64 {
        if self.sense == Sense::Min { 1.0 } else { -1.0 }
    }

    /// What is wrong with an answer.
    pub(super) fn faults(&self, outcome: &Outcome, solutions: &[Solution], wanted: usize) -> Vec<String> {
        let mut faults = Vec::new();
        let best = self.at_worst(0);
        let room = |value: f64| ROUNDING * value.abs() + 1e-300;
        if let Some(bound) = outcome.bound.map(|b| self.sign() * b)
            && bound > best + room(best)
        {
            faults.push(format!("bound {bound} beyond the optimum {best}"));
        }
        let own =
            outcome.subset.clone().zip(outcome.objective).map(|(subset, objective)| Solution { subset, objective });
        for (k, solution) in solutions.iter().chain(solutions.is_empty().then_some(own.as_ref()).flatten()).enumerate()
        {
            let Some((_, value)) = self.values.iter().find(|v| v.0 == solution.subset) else {
                faults.push(format!("forbidden subset {:?}", solution.subset));
                continue;
            };
            let (value, objective) = (self.cost(value), self.sign() * solution.objective);
            if objective < value.lower - room(value.lower) {
                faults.push(format!("objective {objective} better than the subset's own {}", value.lower));
            }
            if outcome.status == Status::Optimal {
                // No more than the share asked for of what features can gain, nor of the objective; a
                // billionth of the baseline is no gain.
                let (gain, nothing) = ((self.baseline - best).abs(), NOTHING * self.baseline.abs());
                let of_objective = (self.gap * objective.abs()).max(1e-10 * self.gap);
                let own = (self.baseline - objective).abs();
                let least = if gain.min(own) <= 2.0 * nothing { nothing.max(self.gap * self.price) } else { 0.0 };
                let of_loss = if objective > self.baseline { self.price } else { 0.0 };
                // One of several counts by itself where that is more.
                let gain = gain.max((self.baseline - objective).abs()).max(of_loss);
                let gap = (self.gap * gain).min(of_objective).max(least);
                if objective - gap > self.at_worst(k) + room(objective) {
                    faults.push(format!(
                        "false optimal: solution {k} has {objective}, best {}, of all {best}, without {}, price {}, gap {gap}",
                        self.at_worst(k), self.baseline, self.price
                    ));
                }
                // A tenth of the gap, by the subset's own value.
                if objective - 0.1 * gap > value.upper + room(objective) {
                    faults.push(format!("objective {objective} of a subset whose value is {}", value.upper));
                }
            }
        }
        if outcome.status == Status::Optimal
            && !solutions.is_empty()
            && solutions.len() != wanted.min(self.values.len())
        {
            faults.push(format!("{} of {wanted} solutions", solutions.len()));
        }
        match outcome.status {
            Status::Optimal if outcome.subset.is_some() && outcome.bound.is_some() => {}
            // Only `gbd` has a limit here, that on its cuts; what it says until then must be true.
            Status::Stalled | Status::CallLimit => {}
            status => faults.push(format!("status {status}, subset {:?}", outcome.subset)),
        }
        faults
    }
}
