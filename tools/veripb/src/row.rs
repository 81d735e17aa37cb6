//! Numbers of a proof as integers, rounded so that what was true stays true.

use fewest_verify::Dual;

/// Above it a number of a row says nothing.
const MOST: i64 = 1 << 60;
/// Bits of a row of rules.
const BITS: i32 = 90;

/// `sum gains x >= right` over units: true of each allowed subset with an objective below the bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) gains: Vec<i64>,
    pub(super) right: i64,
}

impl Row {
    /// From `objective >= constant + sum values x`: an objective below the bound has
    /// `sum -values x > constant - bound`; times `scale`, a power of two, the left side is rounded
    /// up and the right side down.
    pub(super) fn new(dual: &Dual, bound: f64, scale: f64) -> Self {
        let mut row = Self::plain(dual, bound, scale);
        row.saturate();
        row
    }

    /// The row with no number made smaller.
    pub(super) fn plain(dual: &Dual, bound: f64, scale: f64) -> Self {
        let right = ((dual.constant - bound).next_down() * scale).floor();
        if right.is_nan() || right < -(MOST as f64) {
            return Self { gains: vec![0; dual.values.len()], right: 0 };
        }
        let right = (right.min(MOST as f64) as i64).saturating_add(1);
        let mut row = Self { gains: dual.values.iter().map(|value| gain(*value, scale)).collect(), right };
        let cut = dual.values.iter().any(|value| value.is_nan() || -value * scale > MOST as f64);
        if cut {
            // A number that was cut must fulfil the row alone: those below 0 give way, then the right side. A
            // larger left and a smaller right side leave a row true.
            let room = MOST / (2 * row.gains.len() as i64);
            row.gains.iter_mut().for_each(|gain| *gain = (*gain).max(-room));
            row.right = row.right.min((i128::from(MOST) + row.least()) as i64);
        }
        row
    }

    /// What the left side is at least.
    pub(super) fn least(&self) -> i128 {
        self.gains.iter().map(|gain| i128::from((*gain).min(0))).sum()
    }

    /// A unit that alone fulfils the row needs no larger number.
    fn saturate(&mut self) {
        let most = (i128::from(self.right) - self.least()).clamp(0, i128::from(i64::MAX)) as i64;
        self.gains.iter_mut().for_each(|gain| *gain = (*gain).min(most));
    }
}

/// Minus a value, rounded up.
pub(super) fn gain(value: f64, scale: f64) -> i64 {
    match (-value * scale).ceil() {
        gain if gain.is_nan() => MOST,
        gain => gain.clamp(-(MOST as f64), MOST as f64) as i64,
    }
}

/// A power of two that turns objectives into integers; `gain` is what features can gain, of which
/// rounding may take `roundings` parts in 2^24.
pub(super) fn scale(gain: f64, roundings: usize) -> f64 {
    let wished = (roundings as f64 * f64::from(1 << 24) / gain).log2().ceil();
    2f64.powi(wished.clamp(-900.0, 900.0) as i32)
}

/// A rule `sum a z <= most` in integers, as `sum -a z >= -most`: exact, or weaker where that takes
/// more than 90 bits.
pub(super) fn rule(most: f64, terms: &[(usize, f64)]) -> (Vec<(usize, i128)>, i128) {
    let numbers = || terms.iter().map(|term| term.1).chain([most]).filter(|x| *x != 0.0);
    let lowest = numbers().map(lowest_bit).min().unwrap_or(0);
    let highest = numbers().map(|x| x.abs().log2().floor() as i32 + 1).max().unwrap_or(0);
    let whole = numbers().all(|x| x.fract() == 0.0);
    let unit = if whole { lowest.min(0) } else { lowest }.max(highest - BITS);
    let times = |x: f64| x * 2f64.powi(-unit / 2) * 2f64.powi(-unit - -unit / 2);
    let left = terms.iter().map(|&(u, a)| (u, -(times(a).floor() as i128))).filter(|term| term.1 != 0);
    (left.collect(), -(times(most).ceil() as i128))
}

/// The exponent of the lowest bit of a number other than 0.
fn lowest_bit(x: f64) -> i32 {
    let bits = x.to_bits();
    let (exponent, mantissa) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    let whole = if exponent == 0 { mantissa } else { mantissa | 1 << 52 };
    exponent.max(1) - 1075 + whole.trailing_zeros() as i32
}

/// A multiple of the row on the number of features that makes a row false where it must be.
///
/// With the most features `room` that may still come in, `sum over free units of gain x` is at most
/// `factor room + sum of max(0, gain - factor)`; equal, for units of one feature, where `factor` is
/// the gain in place `room` of the free ones, largest first.
pub(super) fn factor(sorted: &[i64], room: usize) -> i64 {
    sorted.get(room).copied().unwrap_or(0).max(0)
}

/// Gains of units, largest first.
pub(super) fn sorted(row: &Row, units: impl Iterator<Item = usize>) -> Vec<i64> {
    let mut gains: Vec<i64> = units.map(|u| row.gains[u]).filter(|gain| *gain > 0).collect();
    gains.sort_unstable_by(|a, b| b.cmp(a));
    gains
}

#[cfg(test)]
mod tests {
    use fewest_testing::Rng;
    use fewest_verify::Dual;

    use super::Row;

    /// A number of 2^40 to 2^80 in size, or 0.
    fn drawn(rng: &mut Rng) -> f64 {
        let size = 2f64.powi(40 + (rng.unit() * 40.0) as i32);
        if rng.unit() < 0.2 { 0.0 } else { size * if rng.unit() < 0.5 { -1.0 } else { 1.0 } }
    }

    #[test]
    fn rows_of_numbers_that_integers_do_not_hold_stay_true() {
        let (mut rng, mut told) = (Rng::new(5), 0);
        for number in 0..2000 {
            let dual = Dual { number, constant: drawn(&mut rng), values: (0..4).map(|_| drawn(&mut rng)).collect() };
            let bound = drawn(&mut rng);
            let row = Row::new(&dual, bound, 1.0);
            told += u32::from(row.gains.iter().any(|gain| *gain > 0) && row.right > 0);
            for subset in 0..1usize << 4 {
                let inside = |u: &usize| subset >> u & 1 == 1;
                // All are multiples of 2^40 below 2^84: the sum is exact.
                let least = dual.constant + (0..4).filter(inside).map(|u| dual.values[u]).sum::<f64>();
                let left: i128 = (0..4).filter(inside).map(|u| i128::from(row.gains[u])).sum();
                let holds = left >= i128::from(row.right);
                assert!(
                    least >= bound || holds,
                    "{dual:?} {bound}: {row:?} is false of {subset:b}",
                    dual = &dual.values
                );
            }
        }
        assert!(told > 300, "only {told} rows say something");
    }
}
