//! Steps 4 and 5 of the knockoff filter: from the statistics W to the features that are selected.

/// Selection by the statistics of all draws.
#[derive(Debug, Clone, PartialEq)]
pub struct KnockoffSelection {
    /// Places of the selected features, ascending.
    pub selected: Vec<usize>,
    /// e_j: evidence for each feature, averaged over the draws.
    pub evidence: Vec<f64>,
    /// T of each draw; none where no t has few enough statistics at or below -t.
    pub thresholds: Vec<Option<f64>>,
}

/// Selects by the statistics W of one draw or more with at most a share `q` of false ones expected.
/// Several draws select at q / 2 each, as half of q is what their mean may lose (Ren, Barber).
pub fn knockoff_selection<D: AsRef<[f64]>>(draws: &[D], q: f64) -> KnockoffSelection {
    let draws: Vec<&[f64]> = draws.iter().map(AsRef::as_ref).collect();
    let p = draws.first().map_or(0, |statistics| statistics.len());
    let each = if draws.len() == 1 { q } else { 0.5 * q };
    let thresholds: Vec<Option<f64>> = draws.iter().map(|statistics| threshold(statistics, each)).collect();
    let mut evidence = vec![0.0; p];
    for (statistics, t) in draws.iter().zip(&thresholds) {
        let Some(t) = *t else { continue };
        let opposite = statistics.iter().filter(|w| **w <= -t).count();
        let share = p as f64 / (1 + opposite) as f64 / draws.len() as f64;
        evidence.iter_mut().zip(*statistics).filter(|(_, w)| **w >= t).for_each(|(e, _)| *e += share);
    }
    let mut order: Vec<usize> = (0..p).filter(|&j| evidence[j] > 0.0).collect();
    order.sort_by(|&a, &b| evidence[b].total_cmp(&evidence[a]).then(a.cmp(&b)));
    // Sums of shares may lose a last digit.
    let holds = |k: usize| evidence[order[k - 1]] * q * k as f64 >= p as f64 * (1.0 - 1e-12);
    let count = (1..=order.len()).rev().find(|&k| holds(k)).unwrap_or(0);
    let mut selected = order[..count].to_vec();
    selected.sort_unstable();
    KnockoffSelection { selected, evidence, thresholds }
}

/// The least t > 0 for which (1 + #{W <= -t}) / #{W >= t} is at most q.
fn threshold(statistics: &[f64], q: f64) -> Option<f64> {
    let mut sizes: Vec<f64> = statistics.iter().map(|w| w.abs()).filter(|size| *size > 0.0).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    sizes.into_iter().find(|t| {
        let count = |beyond: &dyn Fn(f64) -> bool| statistics.iter().filter(|w| beyond(**w)).count() as f64;
        let (selected, opposite) = (count(&|w| w >= *t), count(&|w| w <= -*t));
        selected > 0.0 && 1.0 + opposite <= q * selected * (1.0 + 1e-12)
    })
}

#[cfg(test)]
mod tests {
    use fewest_testing::Rng;

    use super::{knockoff_selection, threshold};

    #[test]
    fn the_threshold_is_the_least_that_holds() {
        let mut rng = Rng::new(7);
        for _ in 0..200 {
            let statistics: Vec<f64> = (0..40).map(|_| (rng.normal() + 0.8) * 4.0).map(f64::round).collect();
            let holds = |t: f64| {
                let selected = statistics.iter().filter(|w| **w >= t).count() as f64;
                let opposite = statistics.iter().filter(|w| **w <= -t).count() as f64;
                (1.0 + opposite) / selected.max(1.0) <= 0.2
            };
            let wanted = (1..20).map(f64::from).find(|t| holds(*t) && statistics.iter().any(|w| w.abs() == *t));
            assert_eq!(threshold(&statistics, 0.2), wanted);
            // One draw is the filter of the paper.
            let found = knockoff_selection(std::slice::from_ref(&statistics), 0.2);
            let direct: Vec<usize> = (0..40).filter(|&j| wanted.is_some_and(|t| statistics[j] >= t)).collect();
            assert_eq!(found.selected, direct);
            // The same draw again and again is that draw at half the share.
            let again = knockoff_selection(&[statistics.clone(), statistics.clone()], 0.4);
            assert_eq!(again.selected, direct);
        }
        assert_eq!(threshold(&[0.0, 0.0], 0.5), None);
        assert_eq!(knockoff_selection::<Vec<f64>>(&[], 0.2).selected, Vec::<usize>::new());
    }
}
