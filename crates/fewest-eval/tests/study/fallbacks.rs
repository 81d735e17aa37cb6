//! What stands in where a limit or an error ends a part: rules hold, and the other parts go on.

use super::*;
use fewest::WeightBound;

/// Rules with bounds on weights: of data whose first features have positive weights.
fn bounded() -> Vec<RuleList> {
    let weights = vec![
        WeightBound::positive(0),
        WeightBound::negative(1),
        WeightBound { feature: 2, lower: None, upper: Some(0.01) },
    ];
    let rules = RuleList { weights, ..RuleList::default() };
    vec![
        rules.clone(),
        RuleList { require: vec![9], forbid: vec![0].into(), ..rules.clone() },
        RuleList { at_most: vec![(1, vec![2, 3, 4])], together: vec![vec![5, 6]], ..rules.clone() },
        RuleList { at_least: vec![(1, vec![7, 8])], implies: vec![(0, 8)], ..rules.clone() },
        RuleList { budget: Some(2.0), costs: (0..10).map(|j| 0.5 + f64::from(j % 3)).collect(), ..rules },
    ]
}

#[test]
fn bounds_on_weights_hold_where_limits_allow_no_selection() {
    let data = Data::new(60, 10, 4, 31);
    let no_time = Limits { time: Some(Duration::ZERO), ..Limits::default() };
    for rules in bounded() {
        for methods in [vec![StudyMethod::Exact], vec![StudyMethod::Rfe], Vec::new()] {
            let settings = StudySettings { methods, rules: rules.clone(), ..short() };
            let no_selection = StudySettings { selection_seconds: Some(0.0), ..settings.clone() };
            for (settings, limits) in [(&settings, &no_time), (&no_selection, &Limits::default())] {
                let report = data.limited(settings, limits, None).unwrap();
                assert_eq!(report.folds.len(), if limits.time.is_some() { 0 } else { 3 });
                let panel = report.panel.expect("the elimination stands in");
                let model = panel.model.unwrap();
                for (j, w) in panel.selected.iter().zip(&model.machines[0].weights) {
                    assert!((*j != 0 || *w >= 0.0) && (*j != 1 || *w <= 0.0) && (*j != 2 || *w <= 0.01), "{j}: {w}");
                }
                assert!(
                    fewest::Rules::new(10, rules.clone(), &[])
                        .unwrap()
                        .allows(&fewest::Subset::from_indices(10, panel.selected))
                );
            }
        }
    }
    let cancel = Cancel::default();
    cancel.cancel();
    let settings = StudySettings { rules: bounded().remove(0), ..short() };
    let report = data.limited(&settings, &Limits { cancel, ..Limits::default() }, None).unwrap();
    assert_eq!(report.status, Status::Cancelled);
}

#[test]
fn a_rare_class_that_no_weight_tells_leaves_no_panel() {
    let mut data = Data::new(200, 6, 0, 35);
    data.target.codes = (0..200).map(|i| u32::from(i % 12 == 0)).collect();
    let settings = StudySettings { methods: vec![StudyMethod::Exact, StudyMethod::Rfe], ..short() };
    let report = data.study(&settings).unwrap();
    assert!(report.panel.is_none() && report.status == Status::Completed);
    assert!(report.folds.iter().all(|fold| fold.selected.is_empty()));
    let balanced = StudySettings { class_weight: ClassWeights::Balanced, ..settings.clone() };
    assert!(data.study(&balanced).unwrap().panel.is_some());
    // What is required stays, of use or not.
    let rules = RuleList { require: vec![3], ..RuleList::default() };
    let panel = data.study(&StudySettings { rules, ..settings }).unwrap().panel.unwrap();
    assert!(panel.selected.contains(&3));
}

#[test]
fn an_error_in_a_fold_ends_that_fold_alone() {
    // A feature that is required and differs in two samples: where both are held out, it is constant.
    let mut broken = 0;
    for second in 1..60 {
        let mut data = Data::new(60, 6, 2, 33);
        let Features::Dense(design) = &mut data.features else { unreachable!() };
        design.column_mut(5).fill(0.0);
        (design.column_mut(5)[0], design.column_mut(5)[second]) = (1.0, 1.0);
        let rules = RuleList { require: vec![5], ..RuleList::default() };
        let Ok(report) = data.study(&StudySettings { rules, methods: vec![StudyMethod::Rfe], ..short() }) else {
            continue;
        };
        assert_eq!(report.folds.len() + report.faults.len(), 3);
        if !report.faults.is_empty() {
            broken += 1;
            assert!(report.faults[0].starts_with("outer fold "), "{}", report.faults[0]);
            assert!(report.panel.is_some() && report.status == Status::Completed);
            assert_eq!(report.effort.folds_left + report.effort.splits_left, 0);
        }
    }
    assert!(broken > 0);
}
