//! `Rules` against full enumeration: 4 000 random rule lists on up to 10 features.

use fewest::{Choice, Clock, Error, RuleList, Rules, Subset};
use fewest_testing::{Rng, all_subsets, allowed_subsets, obeys, random_rules};

/// Calls `check` with many random rule lists and a generator for more randomness.
fn each_random(seed: u64, rounds: usize, mut check: impl FnMut(usize, RuleList, &mut Rng)) {
    let mut rng = Rng::new(seed);
    for _ in 0..rounds {
        let p = 1 + rng.below(10);
        let list = random_rules(&mut rng, p);
        check(p, list, &mut rng);
    }
}

#[test]
fn rules_are_refused_exactly_when_no_subset_obeys_them() {
    let (mut refused, mut accepted) = (0, 0);
    each_random(1, 4000, |p, list, _| {
        let possible = all_subsets(p).any(|s| obeys(&list, &s));
        match Rules::new(p, list.clone(), &[]) {
            Ok(_) => assert!(possible, "accepted, but no subset obeys {list:?}"),
            Err(why) => assert!(!possible, "refused with \"{why}\", but some subset obeys {list:?}"),
        }
        *(if possible { &mut accepted } else { &mut refused }) += 1;
    });
    assert!(refused > 300 && accepted > 1000, "{refused} refused, {accepted} accepted: the draw is lopsided");
}

#[test]
fn many_groups_that_overlap_are_filled_up_or_refused() {
    let mut rng = Rng::new(28);
    let (p, most) = (1800, 10);
    let mut refused = 0;
    for round in 0..6 {
        // Ten features bring two members to each of 28 groups, among many that bring fewer.
        let group = |rng: &mut Rng| {
            let planted = rng.below(most);
            let second = (planted + 1 + rng.below(most - 1)) % most;
            let others = (0..60 + 300 * (round % 2)).map(|_| most + rng.below(p - most));
            (2, [planted, second].into_iter().chain(others).collect::<Vec<_>>())
        };
        let at_least: Vec<(usize, Vec<usize>)> = (0..28).map(|_| group(&mut rng)).collect();
        let list = RuleList { max_features: Some(most), at_least, ..RuleList::default() };
        let rules = Rules::new(p, list.clone(), &[]).expect("ten of them satisfy the rules");
        let found = rules.subset_within(&Subset::full(p)).expect("as above");
        assert!(rules.allows(&found) && obeys(&list, &found));
        // One feature brings at most one member to a group.
        let few = RuleList { max_features: Some(1), ..list };
        refused += usize::from(Rules::new(p, few, &[]).is_err());
    }
    assert_eq!(refused, 6);
}

#[test]
fn a_refusal_names_what_contradicts() {
    let mut refused = 0;
    each_random(12, 3000, |p, list, _| {
        let Err(error) = Rules::new(p, list, &[]) else { return };
        let text = error.to_string();
        assert!(!["but 0 features", "(, with", "()", "cost 0 ("].iter().any(|empty| text.contains(empty)), "{text}");
        refused += 1;
    });
    assert!(refused > 100, "{refused}");
    let list = RuleList { max_features: Some(1), at_least: vec![(2, vec![0, 2])], ..RuleList::default() };
    let text = Rules::new(4, list, &[]).unwrap_err().to_string();
    assert!(text.contains("`max_features` 1; at least 2 of {x1, x3}; no subset satisfies them all"), "{text}");
}

#[test]
fn allows_restates_the_rules() {
    each_random(2, 1500, |p, list, _| {
        let Ok(rules) = Rules::new(p, list.clone(), &[]) else { return };
        for subset in all_subsets(p) {
            assert_eq!(rules.allows(&subset), obeys(&list, &subset), "{subset:?} under {list:?}");
        }
    });
}

#[test]
fn best_subset_is_the_best_of_the_enumeration() {
    each_random(3, 3000, |p, list, rng| {
        let Ok(rules) = Rules::new(p, list.clone(), &[]) else { return };
        // Real gains, then integers full of ties and zeros.
        let ties = rng.chance(0.5);
        let gains: Vec<f64> =
            (0..p).map(|_| if ties { rng.below(5) as f64 - 1.0 } else { rng.normal() + 0.5 }).collect();
        let total = |s: &Subset| s.iter().map(|j| gains[j]).sum::<f64>();
        let best = allowed_subsets(&rules).iter().map(&total).fold(f64::NEG_INFINITY, f64::max);
        let (found, value) = rules.best_subset(&gains).expect("the rules are satisfiable");
        assert!(obeys(&list, &found), "{found:?} breaks {list:?}");
        assert!((value - total(&found)).abs() < 1e-9, "the value {value} is not the total of {found:?}");
        assert!((value - best).abs() < 1e-9, "found {value} with {found:?}, best is {best}; {gains:?} under {list:?}");
    });
}

#[test]
fn a_search_that_is_stopped_gives_an_allowed_subset_and_a_true_limit() {
    each_random(9, 600, |p, list, rng| {
        let Ok(rules) = Rules::new(p, list, &[]) else { return };
        let gains: Vec<f64> = (0..p).map(|_| rng.range(-1.0, 2.0)).collect();
        let (best, steps) = (rules.best_subset(&gains).expect("feasible").1, rng.below(6));
        let clock = Clock::of_questions(steps.saturating_sub(1) as u64);
        let found = rules.best_subset_until(&gains, 0.0, &clock);
        assert!(rules.allows(&found.subset), "{:?}", rules.list());
        assert!(found.most >= best - 1e-9, "{} below {best}: {:?}", found.most, rules.list());
        let own: f64 = found.subset.iter().map(|j| gains[j]).sum();
        assert!((own - found.gain).abs() < 1e-9 && found.gain <= best + 1e-9);
    });
}

#[test]
fn a_budget_leaves_room_for_rounding_in_proportion() {
    for unit in [1e-9, 0.1, 7e11] {
        let (costs, budget) = (vec![unit; 3], Some(unit + unit));
        let rules = Rules::new(3, RuleList { costs, budget, ..RuleList::default() }, &[]).expect("feasible");
        assert!(rules.allows(&Subset::from_indices(3, [0, 2])) && !rules.allows(&Subset::full(3)), "{unit}");
        let gains = [1.0, 2.0, 3.0];
        assert_eq!(rules.best_subset(&gains).expect("feasible").0, Subset::from_indices(3, [1, 2]), "{unit}");
    }
}

#[test]
fn best_subset_takes_no_useless_feature() {
    let rules = Rules::at_most_features(5, 4).unwrap();
    let (found, value) = rules.best_subset(&[0.0, 2.0, -1.0, 1.0, 0.0]).unwrap();
    assert_eq!((found.iter().collect::<Vec<_>>(), value), (vec![1, 3], 3.0));
}

/// Ties must not make the search exponential: the limits here are far beyond enumeration, and the
/// test ends in an instant.
#[test]
fn best_subset_stays_fast_with_ties_and_many_features() {
    let ones = vec![1.0; 400];
    let (found, value) = Rules::at_most_features(400, 20).unwrap().best_subset(&ones).unwrap();
    assert_eq!((found.iter().collect::<Vec<_>>(), value), ((0..20).collect(), 20.0));

    // Equal costs that do not divide the budget: the fractional bound never closes by itself.
    let list = RuleList { budget: Some(10.0), costs: vec![0.7; 400], ..RuleList::default() };
    let (_, value) = Rules::new(400, list, &[]).unwrap().best_subset(&ones).unwrap();
    assert_eq!(value, 14.0);

    // At most one of each of 20 groups of 20, the gains falling slowly inside a group.
    let groups = (0..20).map(|g| (1, (20 * g..20 * g + 20).collect())).collect();
    let list = RuleList { max_features: Some(10), at_most: groups, ..RuleList::default() };
    let gains: Vec<f64> = (0..400).map(|j| 1.0 - 0.00001 * (j % 20) as f64 - 0.0001 * (j / 20) as f64).collect();
    let (found, _) = Rules::new(400, list, &[]).unwrap().best_subset(&gains).unwrap();
    assert_eq!(found.iter().collect::<Vec<_>>(), (0..10).map(|g| 20 * g).collect::<Vec<_>>());

    // A budget over random costs.
    let mut rng = Rng::new(5);
    let costs: Vec<f64> = (0..2000).map(|j| if j % 50 == 0 { 0.0 } else { rng.range(0.5, 2.0) }).collect();
    let gains: Vec<f64> = (0..2000).map(|_| rng.range(-0.2, 1.0).max(-0.1)).collect();
    let list = RuleList { budget: Some(40.0), costs, ..RuleList::default() };
    let rules = Rules::new(2000, list, &[]).unwrap();
    let (found, _) = rules.best_subset(&gains).unwrap();
    assert!(rules.allows(&found) && !found.is_empty());

    // Many features, no limit but the size.
    let gains: Vec<f64> = (0..50_000).map(|_| rng.unit()).collect();
    let (found, value) = Rules::at_most_features(50_000, 2000).unwrap().best_subset(&gains).unwrap();
    let mut sorted = gains.clone();
    sorted.sort_by(|a, b| b.total_cmp(a));
    assert_eq!(found.len(), 2000);
    assert!((value - sorted[..2000].iter().sum::<f64>()).abs() < 1e-9 * value);
}

/// Blocks of up to four features with rules of their own, under one size and one budget: the best is
/// found by dynamic programming over size and cost, from all subsets of each block.
#[test]
fn best_subset_of_many_blocks_is_that_of_dynamic_programming() {
    let mut rng = Rng::new(21);
    let mut searched = 0;
    for _ in 0..400 {
        let (mut list, mut p) = (RuleList::default(), 0);
        let (most, money) = (1 + rng.below(12), 4 + rng.below(60));
        // best[k][c]: the largest gain of k features of cost c.
        let mut best = vec![vec![f64::NEG_INFINITY; money + 1]; most + 1];
        best[0][0] = 0.0;
        let mut gains: Vec<f64> = Vec::new();
        let ties = rng.chance(0.3);
        for _ in 0..20 + rng.below(60) {
            let size = 1 + rng.below(4);
            let own = match rng.below(if most > 6 { 40 } else { 39 }) {
                0..16 => RuleList::default(),
                16..24 => RuleList { at_most: vec![(1 + rng.below(2), (0..size).collect())], ..RuleList::default() },
                24..32 => RuleList { implies: (1..size).map(|j| (j, rng.below(j))).collect(), ..RuleList::default() },
                32..36 => RuleList { implies: (1..size).map(|j| (0, j)).collect(), ..RuleList::default() },
                36..39 => RuleList { together: vec![(0..size).collect()], ..RuleList::default() },
                _ => RuleList { at_least: vec![(1, (0..size).collect())], ..RuleList::default() },
            };
            let moved = |group: &Vec<usize>| group.iter().map(|j| p + j).collect::<Vec<usize>>();
            list.at_most.extend(own.at_most.iter().map(|(m, group)| (*m, moved(group))));
            list.at_least.extend(own.at_least.iter().map(|(m, group)| (*m, moved(group))));
            list.together.extend(own.together.iter().map(moved));
            list.implies.extend(own.implies.iter().map(|(a, b)| (p + a, p + b)));
            let costs: Vec<usize> = (0..size).map(|_| rng.below(12)).collect();
            let own_gains: Vec<f64> =
                (0..size).map(|_| if ties { rng.below(6) as f64 - 1.0 } else { rng.normal().powi(2) - 0.1 }).collect();
            let mut next = vec![vec![f64::NEG_INFINITY; money + 1]; most + 1];
            for subset in all_subsets(size).filter(|subset| obeys(&own, subset)) {
                let (count, cost) = (subset.len(), subset.iter().map(|j| costs[j]).sum::<usize>());
                let gain: f64 = subset.iter().map(|j| own_gains[j]).sum();
                for k in count..=most {
                    for c in cost..=money {
                        next[k][c] = next[k][c].max(best[k - count][c - cost] + gain);
                    }
                }
            }
            best = next;
            list.costs.extend(costs.iter().map(|&c| c as f64));
            gains.extend(own_gains);
            p += size;
        }
        (list.max_features, list.budget) = (Some(most), Some(money as f64));
        let expected = best.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
        let Ok(rules) = Rules::new(p, list.clone(), &[]) else {
            assert_eq!(expected, f64::NEG_INFINITY, "refused, but some subset obeys {list:?}");
            continue;
        };
        let (found, gain) = rules.best_subset(&gains).expect("the rules are satisfiable");
        assert!(obeys(&list, &found), "{found:?} breaks {list:?}");
        assert!((gain - expected).abs() < 1e-9, "found {gain}, best is {expected}; {gains:?} under {list:?}");
        let clock = Clock::of_questions(2);
        let stopped = rules.best_subset_until(&gains, 0.0, &clock);
        assert!(stopped.gain <= expected + 1e-9 && stopped.most >= expected - 1e-9, "{stopped:?}, best is {expected}");
        searched += usize::from(clock.questions_left() < Some(2));
    }
    assert!(searched > 50, "{searched} of 400 were searched at all");
}

#[test]
fn subset_within_finds_one_exactly_when_there_is_one() {
    each_random(4, 2000, |p, list, rng| {
        let Ok(rules) = Rules::new(p, list.clone(), &[]) else { return };
        for _ in 0..4 {
            let allowed = Subset::from_indices(p, (0..p).filter(|_| rng.chance(0.7)));
            let exists = allowed_subsets(&rules).iter().any(|s| s.difference(&allowed).next().is_none());
            match rules.subset_within(&allowed) {
                Some(found) => {
                    assert!(obeys(&list, &found), "{found:?} breaks {list:?}");
                    assert!(found.difference(&allowed).next().is_none(), "{found:?} leaves {allowed:?}");
                }
                None => assert!(!exists, "nothing found inside {allowed:?} under {list:?}"),
            }
        }
    });
}

#[test]
fn propagate_never_removes_an_allowed_completion() {
    let mut contradictions = 0;
    each_random(5, 2000, |p, list, rng| {
        let Ok(rules) = Rules::new(p, list.clone(), &[]) else { return };
        let mut state = rules.root().to_vec();
        for choice in state.iter_mut().filter(|c| **c == Choice::Free) {
            if rng.chance(0.4) {
                *choice = if rng.chance(0.5) { Choice::In } else { Choice::Out };
            }
        }
        let agrees = |state: &[Choice], s: &Subset| {
            (0..p).all(|j| match state[rules.unit_of(j)] {
                Choice::Free => true,
                Choice::In => s.contains(j),
                Choice::Out => !s.contains(j),
            })
        };
        let completions: Vec<Subset> = allowed_subsets(&rules).into_iter().filter(|s| agrees(&state, s)).collect();
        let mut after = state.clone();
        match rules.propagate(&mut after) {
            Ok(()) => {
                for s in &completions {
                    assert!(agrees(&after, s), "{s:?} was lost: {state:?} -> {after:?} under {list:?}");
                }
                let kept = state.iter().zip(&after).all(|(a, b)| *a == Choice::Free || a == b);
                assert!(kept, "a decision changed: {state:?} -> {after:?}");
                if !after.contains(&Choice::Free) {
                    assert_eq!(completions.len(), 1, "decided, but not a solution: {after:?} under {list:?}");
                }
            }
            Err(why) => {
                contradictions += 1;
                assert!(
                    completions.is_empty(),
                    "{why:?} reported, but {:?} completes it under {list:?}",
                    completions[0]
                );
            }
        }
    });
    assert!(contradictions > 50, "only {contradictions} contradictions were met");
}

#[test]
fn root_decisions_hold_in_every_allowed_subset() {
    each_random(6, 1500, |p, list, _| {
        let Ok(rules) = Rules::new(p, list.clone(), &[]) else { return };
        for subset in allowed_subsets(&rules) {
            for j in 0..p {
                let wrong = match rules.root()[rules.unit_of(j)] {
                    Choice::Free => false,
                    Choice::In => !subset.contains(j),
                    Choice::Out => subset.contains(j),
                };
                assert!(!wrong, "feature {j} was decided at the root against {subset:?} under {list:?}");
            }
        }
    });
}

#[test]
fn rows_describe_exactly_the_allowed_subsets() {
    each_random(7, 1500, |p, list, _| {
        let Ok(rules) = Rules::new(p, list.clone(), &[]) else { return };
        let rows = rules.rows();
        for subset in all_subsets(p) {
            let inside = rows.iter().all(|row| {
                let left: f64 = row.coefficients.iter().map(|&(j, a)| if subset.contains(j) { a } else { 0.0 }).sum();
                left <= row.upper + 1e-9 * row.upper.abs().max(1.0)
            });
            assert_eq!(inside, obeys(&list, &subset), "{subset:?} under {list:?}");
        }
    });
}

#[test]
fn units_are_the_features_that_every_rule_moves_together() {
    each_random(8, 1000, |p, list, _| {
        let Ok(rules) = Rules::new(p, list.clone(), &[]) else { return };
        let implied =
            RuleList { implies: list.implies.clone(), together: list.together.clone(), ..RuleList::default() };
        let closed: Vec<Subset> = all_subsets(p).filter(|s| obeys(&implied, s)).collect();
        for a in 0..p {
            for b in 0..p {
                let together = closed.iter().all(|s| s.contains(a) == s.contains(b));
                assert_eq!(rules.unit_of(a) == rules.unit_of(b), together, "features {a}, {b} under {list:?}");
            }
        }
        let mut seen: Vec<usize> = (0..rules.n_units()).flat_map(|u| rules.unit(u).to_vec()).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..p).collect::<Vec<_>>(), "units do not split the features");
    });
}

/// The message of the error that these rules give, with features named age, bmi, cough, dose, ecg.
fn message(list: RuleList) -> String {
    let names: Vec<String> = ["age", "bmi", "cough", "dose", "ecg"].map(String::from).to_vec();
    match Rules::new(5, list, &names) {
        Err(Error::Rules(text)) => text,
        other => panic!("expected an error about the rules, found {other:?}"),
    }
}

#[test]
fn messages_name_the_features_the_numbers_and_the_remedy() {
    let all = |text: &str, parts: &[&str]| {
        for part in parts {
            assert!(text.contains(part), "\"{text}\" lacks \"{part}\"");
        }
    };
    let base = RuleList::default;
    all(&message(RuleList { max_features: Some(0), ..base() }), &["`max_features` is 0", "between 1", "5"]);
    all(&message(RuleList { max_features: Some(6), ..base() }), &["`max_features` is 6", "5"]);
    all(&message(RuleList { require: vec![7], ..base() }), &["7", "5 features"]);
    all(
        &message(RuleList { require: vec![0, 1], max_features: Some(2), implies: vec![(1, 3)], ..base() }),
        &["2", "3", "age", "bmi", "dose"],
    );
    all(
        &message(RuleList { require: vec![2], forbid: vec![2].into(), ..base() }),
        &["cough", "required and forbidden"],
    );
    all(
        &message(RuleList { require: vec![0], forbid: vec![1].into(), together: vec![vec![0, 1]], ..base() }),
        &["required and forbidden", "together"],
    );
    all(
        &message(RuleList { require: vec![0], forbid: vec![1].into(), implies: vec![(0, 1)], ..base() }),
        &["age", "bmi"],
    );
    all(
        &message(RuleList { require: vec![0, 4], budget: Some(3.0), costs: vec![2.0; 5], ..base() }),
        &["budget is 3", "4", "age", "ecg"],
    );
    all(&message(RuleList { budget: Some(3.0), costs: vec![2.0; 4], ..base() }), &["5 features", "4"]);
    all(&message(RuleList { budget: Some(-1.0), costs: vec![2.0; 5], ..base() }), &["budget is -1"]);
    let costs = vec![1.0, f64::NAN, 1.0, 1.0, 1.0];
    all(&message(RuleList { budget: Some(3.0), costs, ..base() }), &["bmi", "NaN"]);
    all(
        &message(RuleList { require: vec![0, 1], at_most: vec![(1, vec![0, 1, 2])], ..base() }),
        &["at most 1", "age", "bmi", "cough"],
    );
    all(
        &message(RuleList { forbid: vec![0, 1].into(), at_least: vec![(2, vec![0, 1, 2])], ..base() }),
        &["at least 2", "age", "bmi", "cough"],
    );
    all(&message(RuleList { at_least: vec![(3, vec![0, 1, 1])], ..base() }), &["at least 3", "age", "bmi"]);
    all(
        &message(RuleList { at_most: vec![(1, vec![0, 1])], at_least: vec![(2, vec![0, 1])], ..base() }),
        &["age", "bmi"],
    );
    // No single rule is broken by what follows from the others: the rules that clash are listed,
    // the others are not.
    let clash = message(RuleList {
        forbid: vec![4].into(),
        at_most: vec![(1, vec![0, 1, 2])],
        at_least: vec![(1, vec![0, 1]), (1, vec![1, 2]), (1, vec![0, 2])],
        ..base()
    });
    all(
        &clash,
        &["at most 1 of {age, bmi, cough}", "at least 1 of {age, bmi}", "at least 1 of {age, cough}", "leave one"],
    );
    assert!(!clash.contains("ecg"), "{clash}");
    // Names of features inside a unit: cough is in the group, not age, the first of the unit.
    all(
        &message(RuleList {
            require: vec![0, 3],
            together: vec![vec![0, 2]],
            at_most: vec![(1, vec![2, 3])],
            ..base()
        }),
        &["at most 1", "cough", "dose"],
    );
}

#[test]
fn a_rule_that_does_not_exist_is_refused_by_its_name() {
    let list = |text: &str| serde_json::from_str::<RuleList>(text);
    assert_eq!(list(r#"{"max_features": 2, "forbid": [1]}"#).unwrap().forbid, vec![1].into());
    let written = serde_json::to_string(&RuleList { max_features: Some(2), ..RuleList::default() }).unwrap();
    assert_eq!(list(&written).unwrap().max_features, Some(2));
    for unknown in ["max_feature", "exclude", "At_most"] {
        let refused = list(&format!(r#"{{"max_features": 2, "{unknown}": 1}}"#)).unwrap_err().to_string();
        assert!(
            refused.contains(&format!("unknown field `{unknown}`")) && refused.contains("`max_features`"),
            "{refused}"
        );
    }
}
