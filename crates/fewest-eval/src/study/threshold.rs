//! Where to cut the decision values of two classes, so that enough of the second are found.
//!
//! Given    decision values of samples that took no part in their classifiers, and their classes.
//! Returns  the largest threshold above which at least the wanted share of the second class lies:
//!          the middle between the last value that must be above it and the next one below.
//! Says     nothing of other samples: how many of those are found is what outer folds say, in which
//!          the threshold is chosen again.

/// The threshold for a sensitivity above 0, up to 1; none without a sample of the second class.
pub(crate) fn threshold(decisions: &[f64], codes: &[u32], sensitivity: f64) -> Option<f64> {
    let mut second: Vec<f64> = decisions.iter().zip(codes).filter(|s| *s.1 == 1).map(|s| *s.0).collect();
    second.sort_by(|a, b| b.total_cmp(a));
    // As many as reach the share; rounding of the product asks for none more.
    let needed = (sensitivity * second.len() as f64 - 1e-9).ceil().max(1.0) as usize;
    let last = *second.get(needed - 1)?;
    let below = decisions.iter().copied().filter(|&f| f < last).fold(f64::NEG_INFINITY, f64::max);
    Some(if below.is_finite() { 0.5 * (last + below) } else { last - f64::EPSILON.sqrt() * last.abs().max(1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_the_largest_that_finds_enough() {
        let (decisions, codes) = ([3.0, 2.0, 1.0, -1.0, 0.5, -2.0, -3.0], [1, 1, 1, 1, 0, 0, 0]);
        let share = |t: f64| {
            let found = decisions.iter().zip(codes).filter(|(f, code)| *code == 1 && **f - t > 0.0).count();
            found as f64 / 4.0
        };
        for wanted in [0.2, 0.25, 0.5, 0.74, 0.75, 0.76, 1.0] {
            let t = threshold(&decisions, &codes, wanted).unwrap();
            assert!(share(t) >= wanted, "{wanted}: {t}");
            // The next value above it is one that must be found.
            let next = decisions.iter().copied().filter(|&f| f > t).fold(f64::INFINITY, f64::min);
            assert!(share(next) < wanted, "{wanted}: {t}");
        }
        assert_eq!(threshold(&decisions, &codes, 0.75), Some(0.75));
        assert_eq!(threshold(&decisions, &codes, 1.0), Some(-1.5));
        // Nothing is below: all are found.
        assert!(threshold(&[2.0, 3.0], &[1, 1], 1.0).is_some_and(|t| t < 2.0));
        assert_eq!(threshold(&[2.0], &[0], 0.9), None);
    }
}
