//! Random rules.

use fewest::RuleList;

use crate::Rng;

/// Random rules on p features (p >= 1): each kind with some probability, contradictions not
/// excluded. Costs are multiples of 1/8, so that sums are exact and a subset is on the budget or
/// clearly off it.
pub fn random_rules(rng: &mut Rng, p: usize) -> RuleList {
    let mut list = RuleList::default();
    let group = |rng: &mut Rng| {
        let size = 1 + rng.below(p.min(5));
        rng.sample(p, size)
    };
    if rng.chance(0.7) {
        list.max_features = Some(1 + rng.below(p));
    }
    for j in 0..p {
        match rng.below(16) {
            0 => list.require.push(j),
            1 => _ = list.forbid.insert(j),
            _ => {}
        }
    }
    for _ in 0..rng.below(4) {
        list.implies.push((rng.below(p), rng.below(p)));
    }
    for _ in 0..rng.below(3) {
        let group = group(rng);
        list.at_most.push((rng.below(group.len() + 1), group));
    }
    for _ in 0..rng.below(3) {
        let group = group(rng);
        list.at_least.push((rng.below(group.len() + 1), group));
    }
    for _ in 0..rng.below(2) {
        let group = group(rng);
        list.together.push(group);
    }
    if rng.chance(0.4) {
        list.costs = (0..p).map(|_| rng.below(17) as f64 / 8.0).collect();
        list.budget = Some(rng.below(6 * p) as f64 / 8.0);
    }
    list
}
