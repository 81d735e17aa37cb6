//! How far alpha may reach at the optimum of a node.

use super::model::Relaxation;
use crate::dual::Loss;

/// The box from an upper value is this much wider, so that no alpha ends on it.
const CAP_ROOM: f64 = 1.01;

/// How far alpha may reach at the optimum of a node: the cost, or less where no solution needs as
/// much.
///
/// At the optimum `sum alpha = sum_in w^2 + sum_u |w_u|^2 / z_u + sum_i xi_i slope_i`, which is at
/// most twice the value. So twice any upper value is a box that costs nothing, and where C is large
/// and the classes are apart it is far smaller than C. Signs change nothing in that, but bounds
/// other than 0 pull as well: there alpha is at most C, and `2 C xi <= 2 sqrt(C value)` with the
/// squared hinge.
#[derive(Debug, Clone, Copy)]
pub(super) struct AlphaCap(pub(super) f64);

impl AlphaCap {
    pub(super) fn new(relaxation: &Relaxation<'_>, upper: f64) -> Self {
        let upper = if upper.is_finite() { upper.max(f64::MIN_POSITIVE) } else { return Self(f64::INFINITY) };
        if !relaxation.rules.weight_bounds().is_boxed() {
            return Self(2.0 * CAP_ROOM * upper);
        }
        let cost = relaxation.dual.cost.iter().fold(0.0, |most: f64, cost| most.max(*cost));
        Self(match relaxation.dual.loss {
            Loss::Hinge => cost,
            Loss::SquaredHinge => 2.0 * CAP_ROOM * (cost * upper).sqrt(),
        })
    }

    pub(super) fn of(self, cost: f64) -> f64 {
        cost.min(self.0)
    }
}
