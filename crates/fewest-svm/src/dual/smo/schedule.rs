//! The schedule of an SMO run besides pair steps: when it evaluates the gap, shrinks, takes exact
//! steps, gives up.

use super::tuning::{FAR, FEW, MOST_WINDOWS};

/// Pair steps that cost as much as inverting the matrix of `free` variables and some rounds with
/// it: a step streams about 24 n numbers' worth of products, a round about `free` n.
pub(super) fn exact_cost(free: usize, n: usize) -> u64 {
    (free * free / 24 * free / n.max(1) + 25 * free) as u64
}

/// Pair steps between two attempts to shrink.
pub(super) fn shrink_period(n: usize) -> u64 {
    n.clamp(1, 1000) as u64
}

/// When to try exact steps. The free set of an earlier training is tried as it is, or, where the
/// matrix has changed so much that the start is far from the optimum, after n / 2 pair steps;
/// otherwise pair steps come first, at least until they have cost as much as exact steps would.
pub(super) struct ExactSchedule {
    /// Whether no free set is known.
    is_cold: bool,
    wait: u64,
    pub(super) next: u64,
}

impl ExactSchedule {
    /// `gap` is the relative one of the start.
    pub(super) fn new(n: usize, is_cold: bool, gap: f64) -> Self {
        let wait = n as u64;
        let far = if gap > FAR && n >= FEW { wait / 2 } else { 0 };
        Self { is_cold, wait, next: if is_cold { wait } else { far } }
    }

    /// Whether the pair steps so far have cost as much as exact steps would; if not, when to ask
    /// again.
    pub(super) fn is_worth_it(&mut self, iterations: u64, cost: impl FnOnce() -> u64) -> bool {
        let worth = if self.is_cold { cost() } else { 0 };
        if iterations < worth {
            self.next = worth.min(2 * iterations);
            return false;
        }
        self.is_cold = false;
        true
    }

    /// After `used` exact steps.
    pub(super) fn done(&mut self, iterations: u64, used: u64) {
        self.wait *= 2;
        self.next = iterations + self.wait.max(4 * used);
    }
}

/// Growth of the dual objective over the last 10 n steps, against what is left to gain.
pub(super) struct Pace {
    window: u64,
    mark: u64,
    value: f64,
}

impl Pace {
    pub(super) fn new(n: usize, iteration: u64, value: f64) -> Self {
        Self { window: 10 * n as u64, mark: iteration + 10 * n as u64, value }
    }

    /// Whether closing `gap` at the pace of the last window would take more than [`MOST_WINDOWS`]
    /// of them: rounding has taken over.
    pub(super) fn hopeless(&mut self, iteration: u64, value: f64, gap: f64) -> bool {
        if iteration < self.mark {
            return false;
        }
        let growth = value - self.value;
        (self.mark, self.value) = (iteration + self.window, value);
        growth * MOST_WINDOWS < gap
    }
}

/// When to spend O(n) on the duality gap: when the violation has fallen to where the gap should be
/// met, judging by the last one (the gap falls between linearly and quadratically with the
/// violation), or after n steps.
pub(super) struct GapSchedule {
    wait: u64,
    next: u64,
    threshold: f64,
}

impl GapSchedule {
    pub(super) fn new(active: usize) -> Self {
        Self { wait: (active as u64).clamp(20, 2000), next: 0, threshold: f64::INFINITY }
    }

    pub(super) fn due(&self, violation: f64, iteration: u64) -> bool {
        violation <= self.threshold || iteration >= self.next
    }

    pub(super) fn checked(&mut self, violation: f64, gap: f64, allowed: f64, iteration: u64) {
        self.next = iteration + self.wait;
        self.threshold = violation * (allowed / gap.max(f64::MIN_POSITIVE)).sqrt().clamp(0.05, 0.8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_steps_wait_where_the_start_is_far_and_samples_are_many() {
        let next = |n, is_cold, gap| ExactSchedule::new(n, is_cold, gap).next;
        assert_eq!((next(1000, false, 0.01), next(1000, false, 0.1), next(100, false, 0.1)), (0, 500, 0));
        assert_eq!(next(1000, true, 0.01), 1000);
    }
}
