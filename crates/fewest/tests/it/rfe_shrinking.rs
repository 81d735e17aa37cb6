//! SVM-RFE with more samples than features: the ranking of every route is that of a training
//! in full, to a tight gap, at each step. At any shape: steps that are called certain are those of
//! the optima.

use fewest::dual::train::train;
use fewest::method::Method;
use fewest::method::rfe::{RfeReport, RfeSettings, Step, rfe_classes};
use fewest::{
    Bias, Clock, DenseDesign, Design, Kernel, Limits, Loss, Problem, RuleList, Rules, Samples, Silent, SparseDesign,
    SvmSettings,
};
use fewest_testing::Rng;

/// Criteria nearer than this share are ties: rounding may order them either way. So are weights that
/// are 0 but for rounding, as all are where the hinge finds no signal.
const TIE: f64 = 1e-6;
const NOTHING: f64 = 1e-18;

/// The units that leave, one after the other, by trainings in full; and whether two were tied.
fn afresh(
    design: &dyn Design,
    y: &[f64],
    weights: &[f64],
    rules: &Rules,
    svm: &SvmSettings,
    keep: usize,
) -> (Vec<usize>, bool) {
    let mut left: Vec<usize> = (0..rules.p()).collect();
    let (mut order, mut tied) = (Vec::new(), false);
    while left.len() > keep {
        let solution = train(design, &left, y, weights, Kernel::Linear, svm, &Clock::unlimited()).unwrap();
        // A reference that did not get there says nothing.
        tied |= solution.gap() > 1e-11;
        let mut criteria: Vec<(f64, usize)> = Vec::new();
        for (&j, w) in left.iter().zip(&solution.weights) {
            let unit = rules.unit_of(j);
            match criteria.iter_mut().find(|c| c.1 == unit) {
                Some(known) => known.0 += w * w,
                None => criteria.push((w * w, unit)),
            }
        }
        criteria.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        tied |= criteria.get(1).is_some_and(|second| second.0 - criteria[0].0 <= TIE * second.0 + NOTHING);
        let unit = rules.unit(criteria[0].1);
        order.extend(unit);
        left.retain(|j| !unit.contains(j));
    }
    (order, tied)
}

/// The matrix with its zeros left out.
fn compressed(n: usize, p: usize, x: &[f64]) -> SparseDesign<'static> {
    let (mut start, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    for j in 0..p {
        for (i, &value) in x[j * n..(j + 1) * n].iter().enumerate().filter(|e| *e.1 != 0.0) {
            rows.push(i as u32);
            values.push(value);
        }
        start.push(rows.len());
    }
    SparseDesign::new(n, start, rows, values).unwrap()
}

/// Samples and features of a case: three samples and more for each feature,
fn many(case: usize) -> (usize, usize) {
    let p = 6 + case % 25;
    (3 * p + (case * 7) % 120, p)
}

/// or about as many of both, from fewer samples than features to more, so that classes are apart
/// and the Gram matrix comes first.
fn about_as_many(case: usize) -> (usize, usize) {
    let p = 30 + case % 25;
    (3 * p / 4 + (case * 7) % (2 * p), p)
}

#[test]
fn the_ranking_is_that_of_trainings_afresh() {
    assert!(compared(Loss::SquaredHinge, many) > 40);
    assert!(compared(Loss::SquaredHinge, about_as_many) > 40);
}

#[test]
fn the_ranking_is_that_of_trainings_afresh_for_the_hinge() {
    assert!(compared(Loss::Hinge, many) > 40);
    assert!(compared(Loss::Hinge, about_as_many) > 25);
}

/// Compares rankings on random problems; how many had no ties.
fn compared(loss: Loss, shape: fn(usize) -> (usize, usize)) -> usize {
    let mut random = Rng::new(7);
    let mut compared = 0;
    for case in 0..60 {
        let (n, p) = shape(case);
        let y: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let signal = [0.0, 0.5, 2.0][case % 3];
        let mut x = vec![0.0; n * p];
        for j in 0..p {
            for i in 0..n {
                let value = random.normal() + if j % 3 == 0 { signal * y[i] } else { 0.0 };
                x[j * n + i] = if case % 4 == 3 && random.chance(0.6) { 0.0 } else { value };
            }
        }
        let weights: Vec<f64> = (0..n).map(|i| if case % 2 == 0 { 1.0 } else { (i % 4) as f64 * 0.5 }).collect();
        let dense = DenseDesign::new(n, p, x.clone()).unwrap();
        let sparse = compressed(n, p, &x);
        let design: &dyn Design = if case % 4 == 3 { &sparse } else { &dense };
        let bias = [Bias::Free, Bias::Penalised(1.0), Bias::None][case % 3];
        let cost = [0.01, 1.0, 100.0][case / 3 % 3];
        let svm = SvmSettings { cost, bias, loss, tolerance: 1e-12, ..SvmSettings::default() };
        let together = if case % 5 == 4 { vec![vec![0, 2], vec![1, 3, 4]] } else { Vec::new() };
        let list = RuleList { max_features: Some(4), together, ..RuleList::default() };
        let Ok(rules) = Rules::new(p, list, &[]) else { continue };
        let problem = Problem::new(design, &y, Some(&weights)).unwrap();
        let settings = RfeSettings {
            svm: SvmSettings { tolerance: 1e-9, ..svm.clone() },
            step: Step::Count(1),
            ..RfeSettings::default()
        };
        let report = settings.select(&Samples::from(&problem), &rules, Limits::default(), &mut Silent).unwrap();
        let mut ranking: Vec<usize> = report.selection.ranking.iter().rev().map(|r| r.feature).collect();
        let kept = report.selection.outcome.subset.as_ref().unwrap().len();
        ranking.truncate(p - kept);
        let (mut expected, tied) = afresh(design, &y, &weights, &rules, &svm, 4);
        if tied {
            continue;
        }
        // Features of a unit leave at once, in any order.
        for order in [&mut ranking, &mut expected] {
            order.chunk_by_mut(|a, b| rules.unit_of(*a) == rules.unit_of(*b)).for_each(<[usize]>::sort_unstable);
        }
        assert_eq!(ranking, expected, "case {case}: {n} x {p}, {bias:?}, cost {cost}, {loss:?}");
        compared += 1;
    }
    compared
}

/// n x p normal values, the first of every three features with a signal.
fn drawn(random: &mut Rng, n: usize, p: usize) -> (Vec<f64>, Vec<f64>) {
    let y: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
    let value =
        |at: usize, random: &mut Rng| random.normal() + if (at / n).is_multiple_of(3) { y[at % n] } else { 0.0 };
    let x = (0..n * p).map(|at| value(at, random)).collect();
    (x, y)
}

fn eliminated(problem: &Problem<'_>, keep: usize, settings: &RfeSettings) -> RfeReport {
    let p = problem.design().n_features();
    let rules = Rules::new(p, RuleList { max_features: Some(keep), ..RuleList::default() }, &[]).unwrap();
    rfe_classes(&Samples::from(problem), &rules, settings, Limits::default(), &mut Silent).unwrap()
}

/// Whatever the tolerance: where all steps are called certain, the features left after each of them
/// are those of exact trainings. Where they are not, nothing is claimed.
#[test]
fn certain_steps_are_those_of_the_optima() {
    let mut random = Rng::new(11);
    let (mut certain, mut others) = (0, 0);
    for case in 0..72 {
        let (n, p) = [(60, 8), (20, 40), (45, 30), (120, 20)][case % 4];
        let (x, y) = drawn(&mut random, n, p);
        let (dense, sparse) = (DenseDesign::new(n, p, x.clone()).unwrap(), compressed(n, p, &x));
        let design: &dyn Design = if case % 3 == 2 { &sparse } else { &dense };
        let problem = Problem::new(design, &y, None).unwrap();
        let loss = [Loss::Hinge, Loss::SquaredHinge][case / 4 % 2];
        let tolerance = [1e-2, 1e-5, 1e-12][case / 8 % 3];
        let svm = SvmSettings { cost: [1.0, 0.02][case / 24 % 2], loss, tolerance, ..SvmSettings::default() };
        let step = [Step::Count(1), Step::Remaining(0.3)][case / 24 % 2];
        let report = eliminated(&problem, 4, &RfeSettings { svm: svm.clone(), step, ..RfeSettings::default() });
        let known = report.certain_steps.unwrap();
        assert!(known <= report.steps && report.steps > 0);
        if known < report.steps {
            others += 1;
            continue;
        }
        certain += 1;
        let exact = SvmSettings { tolerance: 1e-13, max_epochs: 1_000_000, ..svm };
        let mut left: Vec<usize> = (0..p).collect();
        for at in 1..=report.steps {
            let gone = |j: &usize| report.selection.ranking.iter().any(|r| r.feature == *j && r.step == Some(at));
            let solution =
                train(design, &left, &y, problem.weights(), Kernel::Linear, &exact, &Clock::unlimited()).unwrap();
            let size = |leave: bool| left.iter().zip(&solution.weights).filter(move |e| gone(e.0) == leave);
            let largest = size(true).map(|e| e.1.abs()).fold(0.0, f64::max);
            let smallest = size(false).map(|e| e.1.abs()).fold(f64::INFINITY, f64::min);
            assert!(largest < smallest, "case {case}, step {at}: {largest} leaves, {smallest} stays");
            left.retain(|j| !gone(j));
        }
    }
    assert!(certain > 20 && others > 15, "{certain} runs certain, {others} others");
}

/// Columns that are there twice have equal weights: whichever of two leaves, it is a tie.
#[test]
fn ties_are_not_certain() {
    let mut random = Rng::new(3);
    for (n, p) in [(60, 6), (15, 30)] {
        let (x, y) = drawn(&mut random, n, p);
        let design = DenseDesign::new(n, 2 * p, [x.clone(), x].concat()).unwrap();
        let problem = Problem::new(&design, &y, None).unwrap();
        for loss in [Loss::Hinge, Loss::SquaredHinge] {
            let svm = SvmSettings { loss, tolerance: 1e-12, ..SvmSettings::default() };
            let report = eliminated(&problem, 2 * p - 1, &RfeSettings { svm, ..RfeSettings::default() });
            assert_eq!((report.steps, report.certain_steps), (1, Some(0)), "{n} x {p}, {loss:?}");
        }
    }
}

/// Three classes, more samples than features: criteria are summed over the machines of all pairs of
/// classes, each trained on the samples of its two.
#[test]
fn the_ranking_of_several_classes_is_that_of_all_pairs() {
    let mut random = Rng::new(5);
    for case in 0..8 {
        let (n, p) = (70 + 5 * case, 9);
        let classes: Vec<u32> = (0..n).map(|i| [0, 1, 2, 1][i % 4]).collect();
        let weights: Vec<f64> = (0..n).map(|i| if case % 2 == 0 { 1.0 } else { (i % 3) as f64 }).collect();
        let value = |at: usize, random: &mut Rng| random.normal() + f64::from(classes[at % n]) * (at / n % 3) as f64;
        let x: Vec<f64> = (0..n * p).map(|at| value(at, &mut random)).collect();
        let design = DenseDesign::new(n, p, x).unwrap();
        let samples = Samples::new(&design, &classes, Some(&weights)).unwrap();
        let svm = SvmSettings { loss: [Loss::Hinge, Loss::SquaredHinge][case / 2 % 2], ..RfeSettings::default().svm };
        let settings = RfeSettings { svm: svm.clone(), ..RfeSettings::default() };
        let report = settings.select(&samples, &Rules::at_most_features(p, 2).unwrap(), Limits::default(), &mut Silent);
        let selection = report.unwrap().selection;

        let exact = SvmSettings { tolerance: 1e-12, ..svm };
        let (mut left, mut objective): (Vec<usize>, f64) = ((0..p).collect(), 0.0);
        for ranked in selection.ranking.iter().rev().map(Some).take(p - 2).chain([None]) {
            let mut criteria = vec![0.0; left.len()];
            objective = 0.0;
            for (a, b) in [(0, 1), (0, 2), (1, 2)] {
                let y: Vec<f64> = classes.iter().map(|&c| if c == b { 1.0 } else { -1.0 }).collect();
                let inside = |i: usize| if classes[i] == a || classes[i] == b { weights[i] } else { 0.0 };
                let of_pair: Vec<f64> = (0..n).map(inside).collect();
                let solution =
                    train(&design, &left, &y, &of_pair, Kernel::Linear, &exact, &Clock::unlimited()).unwrap();
                criteria.iter_mut().zip(&solution.weights).for_each(|(c, w)| *c += w * w);
                objective += solution.primal;
            }
            if let Some(ranked) = ranked {
                let smallest = (0..left.len()).min_by(|&a, &b| criteria[a].total_cmp(&criteria[b])).unwrap();
                assert_eq!(ranked.feature, left[smallest], "case {case}");
                assert!((ranked.criterion - criteria[smallest]).abs() <= 1e-3 * criteria[smallest], "case {case}");
                left.remove(smallest);
            }
        }
        assert!((selection.outcome.objective.unwrap() - objective).abs() <= 1e-6 * objective, "case {case}");
    }
}
