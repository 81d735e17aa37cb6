//! `gbd` and `mbp`, which ask HiGHS, and what their proof files prove.

use fewest::backend::highs::{Column, Effort, Program};
use fewest::method::mbp::{MbpSettings, WeightRule, mbp};
use fewest::{Bias, Clock, Interval, Limits, RuleList, Rules, Sense, Silent, Subset, SvmSettings};
use fewest_papers::gbd::{GbdSettings, gbd};
use fewest_testing::{Bracket, HardCase, HardData, KeptProofs, allowed_subsets, dense_copy};

use super::{Note, Truth, Values, bounded_truth, check, proven, runs, with_bounds};

/// `gbd`, which checks the bounds of HiGHS.
pub(super) fn benders(case: &HardCase, rules: &Rules, limits: &Limits, known: &Values<'_>, note: &mut Note<'_>) {
    if !runs("gbd", case.seed, 5) {
        return;
    }
    let problem = case.problem();
    let svm = SvmSettings { tolerance: 1e-8, ..case.svm.clone() };
    let settings = GbdSettings { svm, penalty: case.penalty.clone().into(), ..GbdSettings::default() };
    let mut files = KeptProofs::default();
    let report = gbd(&problem, rules, &settings, limits.clone(), &mut files)
        .unwrap_or_else(|error| panic!("seed {}: {error}", case.seed));
    let truth = known.under(rules, limits.gap_rel);
    note("gbd", &report.selection.outcome, &[], 1, &truth);
    proven(&files, 0, &check(&problem), &report.selection.outcome, 1, &truth, note);
    let (rules, bounds) = with_bounds(case, rules);
    let truth = bounded_truth(known, &rules, &bounds, limits.gap_rel);
    let mut files = KeptProofs::default();
    let report = gbd(&problem, &rules, &settings, limits.clone(), &mut files)
        .unwrap_or_else(|error| panic!("seed {}: {error}", case.seed));
    note("gbd bounded", &report.selection.outcome, &[], 1, &truth);
    proven(&files, 0, &check(&problem), &report.selection.outcome, 1, &truth, note);
}

/// `mbp` on data that a linear program is accurate on, against one program per subset, written
/// out whole.
pub(super) fn mixed_binary(case: &HardCase, rules: &Rules, limits: &Limits, note: &mut Note<'_>) {
    let tame = matches!(case.data, HardData::Plain | HardData::Ties | HardData::Integer);
    if !tame || !runs("mbp", case.seed, 3) {
        return;
    }
    let cost = case.svm.cost.clamp(0.01, 100.0);
    let penalty: Vec<f64> = (0..case.features()).map(|j| 0.1 * cost * (j % 3) as f64).collect();
    // Beyond any weight of a best classifier where the rule is `none`.
    let (bound, rule) =
        [(0.5, WeightRule::Number(0.5)), (5.0, WeightRule::Number(5.0)), (f64::INFINITY, WeightRule::None)]
            [case.seed as usize / 3 % 3];
    let settings = MbpSettings {
        cost,
        bias: case.svm.bias,
        penalty: penalty.clone(),
        weight_bound: Some(rule),
        ..MbpSettings::default()
    };
    let report = mbp(&case.problem(), rules, &settings, limits.clone(), &mut Silent).expect("valid settings");
    let value_within = |s: &Subset, bounds: &[Interval]| {
        let price: f64 = s.iter().map(|j| penalty[j]).sum();
        let value = price + one_norm(case, cost, (bound, bounds), s);
        // The tolerance of the linear program.
        Bracket { lower: value * (1.0 - 1e-6) - 1e-9, upper: value * (1.0 + 1e-6) + 1e-9 }
    };
    let free = vec![Interval::FREE; case.features()];
    let value = |s: &Subset| value_within(s, &free);
    let values = allowed_subsets(rules).into_iter().map(|s| (s.clone(), value(&s))).collect();
    let baseline = one_norm(case, cost, (bound, &free), &Subset::empty(case.features()));
    let price = super::cheapest(&penalty);
    let truth =
        Truth { sense: Sense::Min, baseline, width: 1e-6 * baseline, price, values, gap: limits.gap_rel.max(2e-4) };
    note("mbp", &report.selection.outcome, &[], 1, &truth);
    // Where rules decide single features only, mbp writes proofs.
    let alone =
        Rules::new(case.features(), RuleList { require: rules.list().require.clone(), ..RuleList::default() }, &[]);
    let alone = alone.expect("must-in alone");
    let values = allowed_subsets(&alone).into_iter().map(|s| (s.clone(), value(&s))).collect();
    let truth = Truth { values, ..truth };
    let mut files = KeptProofs::default();
    let limits = Limits { gap_rel: truth.gap, ..limits.clone() };
    let report = mbp(&case.problem(), &alone, &settings, limits, &mut files).expect("valid settings");
    note("mbp", &report.selection.outcome, &[], 1, &truth);
    proven(&files, 0, &check(&case.problem()), &report.selection.outcome, 1, &truth, note);
    let (rules, bounds) = with_bounds(case, &alone);
    let values = allowed_subsets(&rules).into_iter().map(|s| (s.clone(), value_within(&s, &bounds))).collect();
    let truth = Truth { values, ..truth };
    let (mut files, limits) = (KeptProofs::default(), Limits { gap_rel: truth.gap, ..Limits::default() });
    let report = mbp(&case.problem(), &rules, &settings, limits, &mut files).expect("valid settings");
    note("mbp bounded", &report.selection.outcome, &[], 1, &truth);
    proven(&files, 0, &check(&case.problem()), &report.selection.outcome, 1, &truth, note);
}

/// min |w|_1 + sum C_i xi_i with |w_j| <= u and w_j within its bounds on a subset.
fn one_norm(case: &HardCase, cost: f64, (bound, bounds): (f64, &[Interval]), subset: &Subset) -> f64 {
    let rows = dense_copy(&case.design);
    let mut lp = Program::new().expect("HiGHS");
    let free = f64::INFINITY;
    let mut add = |cost: f64, upper: f64| {
        lp.add_column(Column { cost, lower: 0.0, upper, integer: false }).expect("a column");
    };
    let features: Vec<usize> = subset.iter().collect();
    for &j in &features {
        add(1.0, bound.min(bounds[j].upper));
        add(1.0, bound.min(-bounds[j].lower));
    }
    let (price, limit) = match case.svm.bias {
        Bias::Free => (0.0, free),
        Bias::Penalised(s) => (1.0 / s, free),
        Bias::None => (0.0, 0.0),
    };
    (0..2).for_each(|_| add(price, limit));
    case.weights.iter().for_each(|weight| add(cost * weight, free));
    let q = 2 * features.len();
    for (i, (row, y)) in rows.iter().zip(&case.labels).enumerate() {
        let mut entries = vec![(q, *y), (q + 1, -y), (q + 2 + i, 1.0)];
        let filled = features.iter().enumerate().filter(|(_, j)| row[**j] != 0.0);
        filled.for_each(|(k, &j)| entries.extend([(2 * k, y * row[j]), (2 * k + 1, -y * row[j])]));
        lp.add_row(&entries, 1.0, free).expect("a row");
    }
    lp.solve(&Effort::default(), &Clock::unlimited()).expect("solved").objective
}
