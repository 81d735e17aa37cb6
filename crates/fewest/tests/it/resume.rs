//! Runs that are stopped and resume from their states against runs that are not.

use fewest::kernel::{Gamma, KernelRule};
use fewest::kernel_oracle::Criterion;
use fewest::method::exact::ExactSettings;
use fewest::method::kta::KtaSettings;
use fewest::method::rfe::{Resamples, Resampling, RfeSettings, Step, Tuning};
use fewest::validation::Folds;
use fewest::{
    DenseDesign, Design, Kernel, Limits, Outcome, Problem, Report, RuleList, Rules, Samples, Status, SvmSettings,
};
use fewest_papers::AnyMethod;
use fewest_testing::{Keeper, RandomProblem, verify_proof};

/// n x p normal values, and labels of which some are wrong.
struct Drawn {
    design: DenseDesign<'static>,
    classes: Vec<u32>,
}

impl Drawn {
    fn new(n: usize, p: usize, noise: f64, seed: u64) -> Self {
        let (design, y) = RandomProblem { n, p, density: 1.0, noise, seed }.draw();
        Self { design, classes: y.iter().map(|y| u32::from(*y > 0.0)).collect() }
    }

    fn samples(&self) -> Samples<'_> {
        Samples::new(&self.design, &self.classes, None).unwrap()
    }

    fn rules(&self, k: usize) -> Rules {
        Rules::at_most_features(self.design.n_features(), k).unwrap()
    }
}

/// What a resumed run must share with an uninterrupted one.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Same {
    /// The tree, and every number to the last bit.
    Tree,
    /// Subset, status and objective.
    Answer,
}

#[track_caller]
fn assert_same(same: Same, a: &Outcome, b: &Outcome, about: &str) {
    assert_eq!((&a.subset, a.status), (&b.subset, b.status), "{about}");
    let (x, y) = (a.objective.unwrap(), b.objective.unwrap());
    match same {
        Same::Tree => {
            let bits = |o: &Outcome| (o.objective.map(f64::to_bits), o.bound.map(f64::to_bits), o.counts);
            assert_eq!(bits(a), bits(b), "{about}");
        }
        Same::Answer => assert!((x - y).abs() <= 1e-7 * x.abs(), "{about}: {x} {y}"),
    }
}

/// Holds both reports to the same subsets, and to the same words on all within a share of the best.
#[track_caller]
fn assert_solutions(same: Same, a: &Report, b: &Report, about: &str) {
    let (a, b) = ((&a.selection.solutions, a.details.get("within")), (&b.selection.solutions, b.details.get("within")));
    if same == Same::Tree {
        return assert_eq!(a, b, "{about}");
    }
    let sorted = |solutions: &[fewest::Solution]| {
        let mut subsets: Vec<Vec<usize>> = solutions.iter().map(|s| s.subset.iter().collect()).collect();
        subsets.sort();
        subsets
    };
    assert_eq!(sorted(a.0), sorted(b.0), "{about}");
    assert_eq!(a.1.map(|near| &near["complete"]), b.1.map(|near| &near["complete"]), "{about}");
}

fn run(method: &AnyMethod, data: &Drawn, rules: &Rules, limits: Limits, keeper: &mut Keeper) -> Report {
    method.select(&data.samples(), rules, limits, keeper).unwrap()
}

/// Some of the states: the first and last ones, and others evenly between.
fn some(states: &[Vec<u8>], count: usize) -> impl Iterator<Item = (usize, &Vec<u8>)> {
    let step = states.len().div_ceil(count).max(1);
    states.iter().enumerate().filter(move |(at, _)| at % step == 0 || at + 1 == states.len())
}

/// Resumes from every state that an uninterrupted run sent, from the last states of runs that were
/// stopped at some of these moments, and from damaged states.
fn check(method: &AnyMethod, data: &Drawn, rules: &Rules, same: Same) -> Report {
    let mut all = Keeper::default();
    let whole = run(method, data, rules, Limits::default(), &mut all);
    assert!(all.states.len() > 2, "{} states: nothing to resume from", all.states.len());
    for (at, state) in some(&all.states, 12) {
        let mut keeper = Keeper { from: Some(state.clone()), ..Keeper::default() };
        let rest = run(method, data, rules, Limits::default(), &mut keeper);
        assert_same(same, &rest.selection.outcome, &whole.selection.outcome, &format!("state {at}"));
        assert_solutions(same, &rest, &whole, &format!("state {at}"));
        let order = |report: &Report| report.selection.ranking.iter().map(|r| (r.feature, r.step)).collect::<Vec<_>>();
        assert_eq!(order(&rest), order(&whole), "state {at}");
    }
    for stop_after in (1..all.states.len() - 1).step_by(all.states.len().div_ceil(6)) {
        // Stopped again and again, until it ends by itself.
        let (mut from, mut calls) = (None, 0);
        let rest = loop {
            let mut keeper = Keeper { from, stop_after: Some(stop_after + 1), ..Keeper::default() };
            let part = run(method, data, rules, Limits::default(), &mut keeper);
            calls += 1;
            if part.selection.outcome.status != Status::Cancelled {
                break part;
            }
            assert!(calls < 1000, "no progress");
            from = keeper.states.pop();
        };
        assert!(calls > 1, "stopped after {stop_after} states, it ended even so");
        assert_eq!(rest.selection.outcome.subset, whole.selection.outcome.subset, "{calls} calls");
        assert_eq!(rest.selection.outcome.status, whole.selection.outcome.status, "{calls} calls");
    }
    let state = &all.states[all.states.len() / 2];
    for end in (0..state.len()).step_by(state.len().div_ceil(40)) {
        let mut keeper = Keeper { from: Some(state[..end].to_vec()), ..Keeper::default() };
        let error = method.select(&data.samples(), rules, Limits::default(), &mut keeper).unwrap_err();
        assert!(error.to_string().contains("the saved state is damaged"), "{end}: {error}");
    }
    let fewer = Drawn::new(data.classes.len(), data.design.n_features() - 1, 0.1, 1);
    let mut keeper = Keeper { from: Some(state.clone()), ..Keeper::default() };
    let error = method.select(&fewer.samples(), &fewer.rules(2), Limits::default(), &mut keeper).unwrap_err();
    assert!(error.to_string().contains("is for another problem"), "{error}");
    whole
}

/// Stops at node limits; what goes on without one must end like the run that was never stopped.
fn check_node_limits(method: &AnyMethod, data: &Drawn, rules: &Rules, same: Same) {
    let whole = run(method, data, rules, Limits::default(), &mut Keeper::default()).selection.outcome;
    for share in [0.05, 0.3, 0.6, 0.95] {
        let nodes = Some((share * whole.counts.nodes as f64) as u64);
        let mut stopped = Keeper::default();
        let part = run(method, data, rules, Limits { nodes, ..Limits::default() }, &mut stopped).selection.outcome;
        assert_eq!(part.status, Status::NodeLimit, "{share}");
        let mut keeper = Keeper { from: stopped.states.pop(), ..Keeper::default() };
        let rest = run(method, data, rules, Limits::default(), &mut keeper).selection.outcome;
        assert_same(same, &rest, &whole, &format!("stopped at {nodes:?} of {} nodes", whole.counts.nodes));
    }
}

/// The file of a run that is stopped at any of its states and goes on proves what that of a run
/// without a stop does.
#[test]
fn proofs_go_on_with_their_runs() {
    let data = Drawn::new(60, 20, 0.2, 3);
    let labels: Vec<f64> = data.classes.iter().map(|c| if *c == 1 { 1.0 } else { -1.0 }).collect();
    let problem = Problem::new(&data.design, &labels, None).unwrap();
    let begin = || Keeper { proof: Some(Vec::new()), ..Keeper::default() };
    for (solutions, size) in [(1, 6), (3, 4)] {
        let (method, rules) = (exact(1.0, solutions), data.rules(size));
        let mut all = begin();
        let whole = run(&method, &data, &rules, Limits::default(), &mut all);
        let file = all.proof.unwrap();
        let whole_verdict = verify_proof(&file, &problem).unwrap();
        assert!(all.states.len() > 5 && all.lengths.len() == all.states.len(), "{} states", all.states.len());
        for (state, length) in all.states.iter().zip(&all.lengths) {
            let (from, proof) = (Some(state.clone()), Some(file[..*length].to_vec()));
            let mut keeper = Keeper { from, proof, ..Keeper::default() };
            let rest = run(&method, &data, &rules, Limits::default(), &mut keeper);
            assert_same(Same::Tree, &rest.selection.outcome, &whole.selection.outcome, "with a proof");
            let verdict = verify_proof(&keeper.proof.unwrap(), &problem).unwrap();
            assert_eq!((verdict.bound(), verdict.gap()), (whole_verdict.bound(), whole_verdict.gap()));
            assert_eq!(verdict.listed.len(), whole_verdict.listed.len());
        }
        // Stopped by the number of nodes, the first file ends as a proof of its own.
        let mut stopped = begin();
        let nodes = Some(whole.selection.outcome.counts.nodes / 3);
        run(&method, &data, &rules, Limits { nodes, ..Limits::default() }, &mut stopped);
        let mut file = stopped.proof.unwrap();
        let early = verify_proof(&file, &problem).unwrap();
        assert!(early.gap() > whole_verdict.gap(), "{:?}", early.gap());
        file.truncate(*stopped.lengths.last().unwrap());
        let mut keeper = Keeper { from: stopped.states.pop(), proof: Some(file), ..Keeper::default() };
        run(&method, &data, &rules, Limits::default(), &mut keeper);
        assert_eq!(verify_proof(&keeper.proof.unwrap(), &problem).unwrap().gap(), whole_verdict.gap());
    }
}

#[test]
fn a_state_without_a_proof_goes_on_to_none() {
    let data = Drawn::new(40, 12, 0.2, 3);
    let mut all = Keeper::default();
    run(&exact(1.0, 1), &data, &data.rules(4), Limits::default(), &mut all);
    let mut keeper = Keeper { from: Some(all.states[1].clone()), proof: Some(Vec::new()), ..Keeper::default() };
    let error = exact(1.0, 1).select(&data.samples(), &data.rules(4), Limits::default(), &mut keeper).unwrap_err();
    assert!(error.to_string().contains("a run without a proof"), "{error}");
}

fn exact(cost: f64, solutions: usize) -> AnyMethod {
    ExactSettings { svm: SvmSettings { cost, ..SvmSettings::default() }, solutions, ..ExactSettings::default() }.into()
}

#[test]
fn exact_goes_on_to_the_same_tree() {
    let data = Drawn::new(60, 24, 0.2, 3);
    let whole = check(&exact(1.0, 1), &data, &data.rules(6), Same::Tree);
    assert!(whole.selection.outcome.counts.nodes > 200, "{:?}", whole.selection.outcome.counts);
    check_node_limits(&exact(1.0, 1), &data, &data.rules(6), Same::Tree);
}

#[test]
fn exact_goes_on_under_rules_with_several_solutions_and_little_memory() {
    let data = Drawn::new(50, 18, 0.2, 5);
    let list = RuleList {
        max_features: Some(6),
        implies: vec![(0, 1), (2, 3)],
        at_most: vec![(2, (4..10).collect())],
        together: vec![vec![10, 11]],
        ..RuleList::default()
    };
    let rules = Rules::new(18, list, &[]).unwrap();
    check(&exact(1.0, 4), &data, &rules, Same::Tree);
    // So little that the search goes deep from the start.
    let svm = SvmSettings { memory: 40_000, ..SvmSettings::default() };
    let small: AnyMethod = ExactSettings { svm, solutions: 2, ..ExactSettings::default() }.into();
    check(&small, &data, &rules, Same::Tree);
    check_node_limits(&small, &data, &rules, Same::Tree);
}

#[test]
fn kta_goes_on_to_the_same_tree() {
    let data = Drawn::new(40, 26, 0.2, 7);
    let kta = |memory: u64| -> AnyMethod { KtaSettings { solutions: 2, memory, ..KtaSettings::default() }.into() };
    let whole = check(&kta(1 << 30), &data, &data.rules(10), Same::Tree);
    assert!(whole.selection.outcome.counts.nodes > 100, "{:?}", whole.selection.outcome.counts);
    check_node_limits(&kta(1 << 30), &data, &data.rules(10), Same::Tree);
    check(&kta(400_000), &data, &data.rules(10), Same::Tree);
}

#[test]
fn rfe_goes_on_to_the_same_ranking() {
    let data = Drawn::new(50, 40, 0.2, 9);
    let rules = data.rules(3);
    let linear = RfeSettings { step: Step::Count(1), ..RfeSettings::default() };
    check(&linear.clone().into(), &data, &rules, Same::Answer);
    let kernel = KernelRule::new(Kernel::Rbf { gamma: 1.0 }, Gamma::PerFeature);
    let rbf = RfeSettings { kernel, criterion: Criterion::Margin, ..linear.clone() };
    check(&rbf.into(), &data, &rules, Same::Answer);
    for resampling in [Resampling::Folds, Resampling::Bootstrap] {
        let resamples = Some(Resamples { count: 5, resampling, ..Resamples::default() });
        let multiple = RfeSettings { resamples, halve_above: Some(25), ..linear.clone() };
        check(&multiple.into(), &data, &rules, Same::Answer);
    }
    let folds = Folds::new((0..50).map(|i| (i / 3 % 4) as u32).collect()).unwrap();
    let tuning = Tuning { costs: vec![0.1, 1.0, 10.0], folds, retune: 3 };
    let tuned: AnyMethod = RfeSettings { tuning: Some(tuning), ..linear }.into();
    check(&tuned, &data, &rules, Same::Answer);
}

#[cfg(feature = "highs")]
#[test]
fn gbd_goes_on_to_the_same_answer() {
    use fewest_papers::gbd::GbdSettings;
    let data = Drawn::new(30, 8, 0.2, 11);
    let svm = SvmSettings { cost: 0.3, ..SvmSettings::default() };
    for base in [GbdSettings::default(), GbdSettings::plain()] {
        let gbd: AnyMethod = GbdSettings { svm: svm.clone(), max_cuts: 1000, ..base }.into();
        let whole = check(&gbd, &data, &data.rules(3), Same::Answer);
        assert_eq!(whole.selection.outcome.status, Status::Optimal);
    }
}

#[cfg(feature = "highs")]
#[test]
fn mbp_goes_on_to_the_same_answer() {
    use fewest::method::mbp::{MbpSettings, WeightRule};
    let data = Drawn::new(30, 12, 0.2, 13);
    let penalty = vec![0.4; 12];
    let mbp: AnyMethod =
        MbpSettings { penalty, weight_bound: Some(WeightRule::Number(2.0)), ..MbpSettings::default() }.into();
    let whole = check(&mbp, &data, &Rules::none(12), Same::Answer);
    assert!(whole.selection.outcome.counts.nodes > 5, "{:?}", whole.selection.outcome.counts);
    check_node_limits(&mbp, &data, &Rules::none(12), Same::Answer);
}

#[test]
fn searches_for_all_within_a_share_of_the_best_go_on() {
    let data = Drawn::new(40, 12, 0.2, 21);
    let within = Some(0.1);
    let svm = SvmSettings { cost: 0.3, ..SvmSettings::default() };
    let exact: AnyMethod = ExactSettings { svm, solutions: 500, within, ..ExactSettings::default() }.into();
    let kta: AnyMethod = KtaSettings { solutions: 500, within, ..KtaSettings::default() }.into();
    let methods = [
        (exact, Same::Tree),
        (kta, Same::Tree),
        #[cfg(feature = "highs")]
        {
            let mbp = fewest::method::mbp::MbpSettings {
                penalty: vec![0.4; 12],
                weight_bound: Some(fewest::method::mbp::WeightRule::Number(2.0)),
                solutions: 500,
                within,
                ..Default::default()
            };
            (mbp.into(), Same::Answer)
        },
    ];
    for (method, same) in methods {
        let rules = data.rules(4);
        let whole = check(&method, &data, &rules, same);
        let (name, near) = (method.info().name, &whole.details["within"]);
        assert_eq!((whole.selection.outcome.status, &near["complete"]), (Status::Optimal, &true.into()), "{name}");
        assert!(whole.selection.solutions.len() > 2, "{name}: {near}");
        check_node_limits(&method, &data, &rules, same);
    }
}

#[test]
fn a_path_goes_on_with_the_sizes_that_are_done_and_inside_the_one_at_hand() {
    let data = Drawn::new(40, 16, 0.2, 15);
    let rules = Rules::none(16);
    let sizes = [1, 3, 5];
    let rfe: AnyMethod = RfeSettings::default().into();
    for (method, same) in
        [(exact(1.0, 1), Same::Tree), (KtaSettings::default().into(), Same::Tree), (rfe, Same::Answer)]
    {
        let path = |keeper: &mut Keeper, nodes: Option<u64>| {
            let limits = Limits { nodes, ..Limits::default() };
            method.path(&data.samples(), &rules, &sizes, &limits, keeper).unwrap()
        };
        let mut all = Keeper::default();
        let whole = path(&mut all, None);
        assert!(all.states.len() > 3, "{} states", all.states.len());
        let mut stopped = Keeper::default();
        path(&mut stopped, Some(3));
        for (at, state) in some(&all.states, 10).chain(stopped.states.last().map(|state| (usize::MAX, state))) {
            let rest = path(&mut Keeper { from: Some(state.clone()), ..Keeper::default() }, None);
            assert_eq!(rest.len(), whole.len());
            for (a, b) in rest.iter().zip(&whole) {
                let (a, b) = (&a.report.selection.outcome, &b.report.selection.outcome);
                let same = if at == usize::MAX { Same::Answer } else { same };
                assert_same(same, a, b, &format!("state {at}"));
            }
        }
        let last = all.states.pop();
        let mut keeper = Keeper { from: last, ..Keeper::default() };
        let error = method.path(&data.samples(), &rules, &[2, 4], &Limits::default(), &mut keeper).unwrap_err();
        assert!(error.to_string().contains("over sizes"), "{error}");
    }
}

#[cfg(feature = "highs")]
#[test]
fn a_path_keeps_the_whole_report_of_a_size() {
    use fewest::method::mbp::{MbpSettings, WeightRule};
    let data = Drawn::new(30, 8, 0.2, 17);
    let rules = Rules::none(8);
    let mbp: AnyMethod = MbpSettings { weight_bound: Some(WeightRule::Number(2.0)), ..MbpSettings::default() }.into();
    let path = |keeper: &mut Keeper| {
        method_path(&mbp, &data, &rules, keeper).into_iter().map(|point| point.report).collect::<Vec<_>>()
    };
    let mut all = Keeper::default();
    let whole = path(&mut all);
    let rest = path(&mut Keeper { from: all.states.pop(), ..Keeper::default() });
    for (a, b) in rest.iter().zip(&whole) {
        assert_eq!((&a.details, a.kernel, a.cost), (&b.details, b.kernel, b.cost));
        let (a, b) = (a.model.as_ref().unwrap(), b.model.as_ref().unwrap());
        assert_eq!((&a.features, &a.machines[0].weights), (&b.features, &b.machines[0].weights));
    }
}

#[cfg(feature = "highs")]
fn method_path(
    method: &AnyMethod,
    data: &Drawn,
    rules: &Rules,
    keeper: &mut Keeper,
) -> Vec<fewest::method::path::SizeReport> {
    method.path(&data.samples(), rules, &[1, 2, 4], &Limits::default(), keeper).unwrap()
}
