//! Which rules a subset breaks, in words.

use super::Rules;
use super::conflict::listed;
use crate::Subset;

impl Rules {
    /// The rules that a subset breaks, each in a few words; none for one that is allowed. `names`
    /// (length p, or empty for `x1`, `x2`, ...) are for messages.
    pub fn broken(&self, subset: &Subset, names: &[String]) -> Vec<String> {
        let name = |j: usize| names.get(j).cloned().unwrap_or_else(|| format!("x{}", j + 1));
        let (list, size) = (self.list(), subset.len());
        let mut out = Vec::new();
        if let Some(most) = list.max_features.filter(|&most| size > most) {
            out.push(format!("`max_features` is {most}, but it has {size}"));
        }
        let missing = list.require.iter().filter(|&&j| !subset.contains(j));
        out.extend(missing.map(|&j| format!("{} is required, but is not in it", name(j))));
        let forbidden = subset.iter().filter(|&j| list.forbid.contains(j));
        out.extend(forbidden.map(|j| format!("{} is forbidden, but is in it", name(j))));
        let alone = list.implies.iter().filter(|(a, b)| subset.contains(*a) && !subset.contains(*b));
        out.extend(alone.map(|&(a, b)| format!("{} needs {}, which is not in it", name(a), name(b))));
        let counted = |group: &[usize]| subset.iter().filter(|j| group.contains(j)).count();
        for (most, group) in &list.at_most {
            let count = counted(group);
            if count > *most {
                out.push(format!("at most {most} of {} may be in it, but {count} are", listed(group, &name)));
            }
        }
        for (least, group) in &list.at_least {
            let count = counted(group);
            if count < *least {
                out.push(format!("at least {least} of {} must be in it, but {count} are", listed(group, &name)));
            }
        }
        for group in &list.together {
            let first = |inside: bool| group.iter().find(|&&j| subset.contains(j) == inside);
            if let (Some(&a), Some(&b)) = (first(true), first(false)) {
                let group = listed(group, &name);
                out.push(format!("{group} are kept together, but {} is in it and {} is not", name(a), name(b)));
            }
        }
        if let Some(budget) = list.budget {
            let cost: f64 = subset.iter().map(|j| list.costs[j]).sum();
            if cost > self.most_cost() {
                out.push(format!("the budget is {budget}, but it costs {cost}"));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use crate::{RuleList, Rules, Subset};

    #[test]
    fn every_broken_rule_is_named() {
        let names: Vec<String> = "abcdef".chars().map(String::from).collect();
        let list = RuleList {
            max_features: Some(3),
            require: vec![0],
            forbid: vec![1].into(),
            implies: vec![(2, 3)],
            at_most: vec![(1, vec![4, 5, 5])],
            at_least: vec![(1, vec![0, 3])],
            together: vec![vec![0, 3]],
            budget: Some(3.5),
            costs: vec![1.0; 6],
            ..RuleList::default()
        };
        let rules = Rules::new(6, list, &names).expect("no contradiction");
        let broken = |features: &[usize]| rules.broken(&Subset::from_indices(6, features.iter().copied()), &names);
        assert!(broken(&[0, 3]).is_empty());
        assert_eq!(broken(&[0, 2, 3, 4]), ["`max_features` is 3, but it has 4", "the budget is 3.5, but it costs 4"]);
        assert_eq!(
            broken(&[1, 2]),
            [
                "a is required, but is not in it",
                "b is forbidden, but is in it",
                "c needs d, which is not in it",
                "at least 1 of {a, d} must be in it, but 0 are",
            ]
        );
        assert_eq!(
            broken(&[0, 4, 5]),
            ["at most 1 of {e, f, f} may be in it, but 2 are", "{a, d} are kept together, but a is in it and d is not",]
        );
    }
}
