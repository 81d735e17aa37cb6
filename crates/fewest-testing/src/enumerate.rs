//! All subsets of a few features, and the rules restated on them one by one.

use fewest::{RuleList, Rules, Subset};

/// Every subset of p features (p at most 20), from the empty to the full one.
pub fn all_subsets(p: usize) -> impl Iterator<Item = Subset> {
    assert!(p <= 20, "2^{p} subsets are too many to enumerate");
    (0u32..1 << p).map(move |mask| Subset::from_indices(p, (0..p).filter(move |j| mask >> j & 1 == 1)))
}

/// Every subset that satisfies the rules, by the restatement [`obeys`] and not by
/// [`Rules::allows`].
pub fn allowed_subsets(rules: &Rules) -> Vec<Subset> {
    all_subsets(rules.p()).filter(|s| obeys(rules.list(), s)).collect()
}

/// Whether a subset satisfies the rules, read off their one-line definitions.
pub fn obeys(list: &RuleList, subset: &Subset) -> bool {
    let chosen: Vec<bool> = (0..subset.p()).map(|j| subset.contains(j)).collect();
    let members = |group: &[usize]| (0..chosen.len()).filter(|j| chosen[*j] && group.contains(j)).count();
    if list.max_features.is_some_and(|k| chosen.iter().filter(|c| **c).count() > k) {
        return false;
    }
    if list.require.iter().any(|&j| !chosen[j]) || list.forbid.iter().any(|j| chosen[j]) {
        return false;
    }
    if list.implies.iter().any(|&(a, b)| chosen[a] && !chosen[b]) {
        return false;
    }
    if list.at_most.iter().any(|(m, g)| members(g) > *m) || list.at_least.iter().any(|(m, g)| members(g) < *m) {
        return false;
    }
    for group in &list.together {
        if group.iter().any(|&j| chosen[j]) && group.iter().any(|&j| !chosen[j]) {
            return false;
        }
    }
    if let Some(budget) = list.budget {
        let cost: f64 = (0..chosen.len()).filter(|&j| chosen[j]).map(|j| list.costs[j]).sum();
        return cost <= budget * (1.0 + 1e-9);
    }
    true
}
