//! Methods on a matrix whose columns are elsewhere: the same result to the last bit, and errors.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use fewest::dual::train::train;
use fewest::kernel::gram::{GramMatrix, GramSource};
use fewest::kernel_oracle::Criterion;
use fewest::method::fgm::{FgmReport, FgmSettings, Improve, Mkl, fgm, fgm_from};
use fewest::method::info_gain::{Binning, information_gain, information_gain_from, information_gains};
use fewest::method::l1_svm::{L1Report, L1Settings, l1_svm, l1_svm_from};
use fewest::method::rfe::{Resamples, RfeSettings, Step, rfe_classes, rfe_from};
use fewest::{
    Bias, Clock, Design, Error, FeatureScore, Kernel, Limits, Loss, Problem, RowMatrix, RuleList, Rules, Samples,
    ScoreQuery, Silent, Source, Status, SvmSettings, WeightBound,
};
use fewest_testing::{RandomProblem, Rng, random_rules};

fn limits(gap: f64) -> Limits {
    Limits { gap_rel: gap, ..Limits::default() }
}

/// A matrix cut into blocks of columns that only know themselves, as on machines of their own.
struct Shards<'a> {
    n: usize,
    /// First feature of each block, and p.
    bounds: Vec<usize>,
    blocks: Vec<Box<dyn Design + 'a>>,
    gathered: Mutex<HashSet<usize>>,
    /// Calls left before it fails.
    left: AtomicUsize,
}

impl<'a> Shards<'a> {
    fn new(design: &'a dyn Design, bounds: Vec<usize>, left: usize) -> Self {
        let block = |w: &[usize]| -> Box<dyn Design> {
            let features: Vec<usize> = (w[0]..w[1]).collect();
            Design::rows(design, &features).design()
        };
        let blocks = bounds.windows(2).map(block).collect();
        Self { n: design.n_samples(), bounds, blocks, gathered: Mutex::default(), left: left.into() }
    }

    fn count_call(&self) -> Result<(), Error> {
        let left = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        left.map(|_| ()).map_err(|_| Error::Source("worker 1 is gone".into()))
    }

    fn blocks(&self) -> impl Iterator<Item = (usize, usize, &dyn Design)> {
        self.bounds.windows(2).zip(&self.blocks).map(|(w, block)| (w[0], w[1], &**block))
    }
}

impl Source for Shards<'_> {
    fn n_samples(&self) -> usize {
        self.n
    }
    fn n_features(&self) -> usize {
        self.bounds[self.bounds.len() - 1]
    }
    fn scores(&self, v: &[f64]) -> Result<Vec<f64>, Error> {
        self.count_call()?;
        self.blocks().map(|(_, _, block)| (&block).scores(v)).collect::<Result<Vec<_>, _>>().map(|s| s.concat())
    }
    fn largest(&self, v: &[f64], wanted: &ScoreQuery) -> Result<Vec<FeatureScore>, Error> {
        self.count_call()?;
        let mut found = Vec::new();
        for (first, last, block) in self.blocks() {
            let within =
                |list: &[usize]| list.iter().filter(|j| (first..last).contains(j)).map(|j| j - first).collect();
            let ScoreQuery { most, always, never, positive, negative } = wanted;
            let own = ScoreQuery {
                most: *most,
                always: within(always),
                never: never.within(first..last).map(|j| j - first).collect(),
                positive: within(positive),
                negative: within(negative),
            };
            let shifted = |s: FeatureScore| FeatureScore { feature: first + s.feature, ..s };
            found.extend((&block).largest(v, &own)?.into_iter().map(shifted));
        }
        Ok(found)
    }
    fn rows(&self, features: &[usize]) -> Result<RowMatrix, Error> {
        self.count_call()?;
        let mut gathered = self.gathered.lock().expect("no panic before");
        for j in features {
            assert!(gathered.insert(*j), "column {j} was gathered twice");
        }
        let column = |j: &usize| {
            let (first, _, block) = self.blocks().find(|(_, last, _)| j < last).expect("below p");
            Design::rows(block, &[j - first])
        };
        let columns = features.iter().map(column);
        Ok(columns.fold(RowMatrix::dense(self.n, 0, Vec::new()), |mut all, column| {
            all.append(column);
            all
        }))
    }
}

impl GramSource for Shards<'_> {
    fn bytes(&self, features: usize) -> u64 {
        (8 * self.n * features) as u64
    }
    fn gram(&self, features: &[usize]) -> Result<GramMatrix, Error> {
        self.count_call()?;
        let mut sums = vec![0.0; self.n * (self.n + 1) / 2];
        for (first, last, block) in self.blocks() {
            let own: Vec<usize> = features.iter().filter(|j| (first..last).contains(j)).map(|j| j - first).collect();
            sums.iter_mut().zip(GramMatrix::linear(block, &own).triangle()).for_each(|(sum, part)| *sum += part);
        }
        GramMatrix::of_triangle(self.n, &sums)
    }
    fn product(&self, features: &[usize], v: &[f64]) -> Result<Vec<f64>, Error> {
        self.count_call()?;
        let mut sums = vec![0.0; self.n];
        for (first, last, block) in self.blocks() {
            let own: Vec<usize> = features.iter().filter(|j| (first..last).contains(j)).map(|j| j - first).collect();
            sums.iter_mut().zip((&block).product(&own, v)?).for_each(|(sum, part)| *sum += part);
        }
        Ok(sums)
    }
}

#[test]
fn columns_elsewhere_give_the_same_result_to_the_last_bit() {
    let mut rng = Rng::new(23);
    let mut cases = 0;
    for case in 0..120 {
        let p = if case % 8 == 0 { 5000 } else { 3 + rng.below(20) };
        let drawn = RandomProblem { n: 10 + rng.below(40), p, density: 0.4, noise: 0.15, seed: case };
        let ((dense, labels), (sparse, _)) = (drawn.draw(), drawn.draw_sparse());
        let design: &dyn Design = if case % 2 == 0 { &dense } else { &sparse };
        let size =
            || RuleList { max_features: Some(3), require: vec![1], forbid: vec![2].into(), ..RuleList::default() };
        let mut list = if p > 100 || rng.chance(0.5) { size() } else { random_rules(&mut rng, p) };
        if rng.chance(0.5) {
            let sign = |j: usize| if j.is_multiple_of(3) { WeightBound::positive(j) } else { WeightBound::negative(j) };
            list.weights = (0..p).filter(|_| rng.chance(0.5)).map(sign).collect();
        }
        let Ok(rules) = Rules::new(p, list, &[]) else { continue };
        let settings = FgmSettings {
            bias: [Bias::None, Bias::Free][rng.below(2)],
            reuse: rng.chance(0.7),
            improve: Improve::Both,
            subset_size: rng.chance(0.5).then(|| 1 + rng.below(p.min(9))),
            mkl: if p < 100 && rng.chance(0.3) { Mkl::Simple } else { Mkl::Fast },
            ..FgmSettings::default()
        };
        let about = format!("case {case}: {settings:?}, {:?}", rules.list());
        let problem = Problem::new(design, &labels, None).expect("valid");
        // Without any size, or with one that contradicts the rules: another test.
        let Ok(here) = fgm(&problem, &rules, &settings, limits(1e-4), &mut Silent) else { continue };
        cases += 1;
        let cut = 1 + rng.below(p - 1);
        let source = Shards::new(design, vec![0, cut, p], usize::MAX);
        let there = fgm_from(&source, &labels, None, &rules, &settings, limits(1e-4), &mut Silent).expect("valid");
        assert_eq!(here.kept, there.kept, "{about}");
        assert_eq!(here.solution.beta, there.solution.beta, "{about}");
        let values = |found: &FgmReport| (found.selection.outcome.objective, found.selection.outcome.bound);
        assert_eq!(values(&here), values(&there), "{about}");
    }
    assert!(cases > 60, "only {cases} rules were free of contradictions");
}

#[test]
fn a_source_that_fails_is_an_error_wherever_it_fails() {
    let (x, labels) = RandomProblem { n: 40, p: 60, density: 0.6, noise: 0.2, seed: 5 }.draw_sparse();
    let rules = Rules::at_most_features(60, 5).expect("valid");
    let settings = FgmSettings { reuse: false, ..FgmSettings::default() };
    let run = |left: usize| {
        let source = Shards::new(&x, vec![0, 30, 60], left);
        fgm_from(&source, &labels, None, &rules, &settings, limits(1e-5), &mut Silent)
    };
    let needed = (0..1000).find(|&left| run(left).is_ok()).expect("some number is enough");
    assert!(needed > 6, "{needed} calls show little");
    for left in 0..needed {
        assert_eq!(run(left).expect_err("it fails").to_string(), "worker 1 is gone");
    }
    let short = fgm_from(
        &Shards::new(&x, vec![0, 60], 9),
        &labels[1..],
        None,
        &rules,
        &settings,
        Limits::default(),
        &mut Silent,
    );
    assert!(short.expect_err("a label is missing").to_string().contains("39 labels for 40 samples"));
}

/// Costs, rules and a bias of `l1-svm` for a random problem.
fn l1_case(rng: &mut Rng, p: usize) -> (L1Settings, RuleList) {
    let size = || RuleList { max_features: Some(3), require: vec![1], forbid: vec![2].into(), ..RuleList::default() };
    let mut list = match rng.below(3) {
        0 => RuleList::default(),
        1 => size(),
        _ if p > 100 => RuleList { forbid: vec![0, p - 1].into(), ..RuleList::default() },
        _ => random_rules(rng, p),
    };
    if rng.chance(0.5) {
        let bound = |j: usize| match j % 4 {
            0 => WeightBound::positive(j),
            1 => WeightBound::negative(j),
            _ => WeightBound { feature: j, lower: Some(-0.1), upper: Some(0.2) },
        };
        list.weights = (0..p).filter(|_| rng.chance(0.5)).map(bound).collect();
    }
    let bias = [Bias::None, Bias::Free, Bias::Penalised(1.5)][rng.below(3)];
    let svm = SvmSettings { cost: 0.3, loss: Loss::SquaredHinge, bias, tolerance: 1e-9, ..SvmSettings::default() };
    (L1Settings { svm, costs: if rng.chance(0.4) { vec![0.01, 0.1, 0.5] } else { Vec::new() } }, list)
}

#[test]
fn the_l1_svm_of_columns_elsewhere_is_that_of_memory() {
    let mut rng = Rng::new(29);
    let (mut cases, mut many) = (0, 0);
    for case in 0..160 {
        let p = if case % 4 == 0 { 3000 } else { 3 + rng.below(20) };
        let drawn = RandomProblem { n: 10 + rng.below(40), p, density: 0.3, noise: 0.15, seed: case };
        let ((dense, labels), (sparse, _)) = (drawn.draw(), drawn.draw_sparse());
        let design: &dyn Design = if case % 8 < 4 { &dense } else { &sparse };
        let (settings, list) = l1_case(&mut rng, p);
        let Ok(rules) = Rules::new(p, list, &[]) else { continue };
        let about = format!("case {case}, p = {p}: {settings:?}, {:?}", rules.list().max_features);
        let problem = Problem::new(design, &labels, None).expect("valid");
        let here = l1_svm(&problem, &rules, &settings, limits(1e-8), &mut Silent).expect("valid");
        let from = |bounds: Vec<usize>| {
            let source = Shards::new(design, bounds, usize::MAX);
            let found = l1_svm_from(&source, &labels, None, &rules, &settings, limits(1e-8), &mut Silent);
            (found.expect("valid"), source.gathered.into_inner().expect("no panic before").len())
        };
        let cut = 1 + rng.below(p - 1);
        let ((there, gathered), (again, _)) = (from(vec![0, p]), from(vec![0, cut, p]));
        let all = |found: &L1Report| {
            let outcome = &found.selection.outcome;
            (outcome.objective, outcome.bound, outcome.subset.clone(), found.solution.weights.clone())
        };
        assert_eq!(all(&there), all(&again), "{about}");
        assert_eq!(all(&there), all(&here), "{about}");
        assert_eq!(here.grid, there.grid, "{about}");
        assert_eq!((here.cost, here.solution.beta), (there.cost, there.solution.beta), "{about}");
        assert_eq!(here.selection.outcome.status, there.selection.outcome.status, "{about}");
        cases += 1;
        many += usize::from(p > 100 && gathered < p / 2);
    }
    assert!(cases > 100 && many > 20, "{cases} cases, {many} with many features, most of them not gathered");
}

#[test]
fn an_l1_source_that_fails_is_an_error_wherever_it_fails_and_so_is_the_hinge() {
    let (x, labels) = RandomProblem { n: 60, p: 600, density: 0.3, noise: 0.2, seed: 5 }.draw_sparse();
    let rules = Rules::at_most_features(600, 5).expect("valid");
    let run = |left: usize, loss: Loss| {
        let source = Shards::new(&x, vec![0, 300, 600], left);
        let svm = SvmSettings { loss, tolerance: 1e-9, ..SvmSettings::default() };
        let settings = L1Settings { svm, ..L1Settings::default() };
        l1_svm_from(&source, &labels, None, &rules, &settings, limits(1e-5), &mut Silent)
    };
    let needed = (0..1000).find(|&left| run(left, Loss::SquaredHinge).is_ok()).expect("some number is enough");
    assert!(needed > 6, "{needed} calls show little");
    for left in 0..needed {
        assert_eq!(run(left, Loss::SquaredHinge).expect_err("it fails").to_string(), "worker 1 is gone");
    }
    let hinge = run(99, Loss::Hinge).expect_err("columns are elsewhere").to_string();
    assert!(hinge.contains("squared-hinge where the columns are elsewhere"), "{hinge}");
}

#[test]
fn gains_of_columns_elsewhere_select_the_same_to_the_last_bit() {
    let mut rng = Rng::new(31);
    for case in 0..60 {
        let p = 4 + rng.below(12);
        let (x, _) = RandomProblem { n: 40, p, density: 0.5, noise: 0.2, seed: case }.draw_sparse();
        let classes: Vec<u32> = (0..40).map(|_| rng.below(3) as u32).collect();
        let weights: Vec<f64> = (0..40).map(|i| f64::from(i % 4)).collect();
        let Ok(rules) = Rules::new(p, random_rules(&mut rng, p), &[]) else { continue };
        let binning = if rng.chance(0.5) { Binning::Mdl } else { Binning::EqualFrequency(3) };
        let here = information_gain(&x, &classes, &weights, &rules, binning, limits(0.0), &mut Silent).expect("valid");
        let source = Shards::new(&x, vec![0, 1 + rng.below(p - 1), p], usize::MAX);
        let mut ask = || {
            let gains = source.blocks().map(|(_, _, block)| information_gains(block, &classes, &weights, binning));
            gains.collect::<Result<Vec<_>, _>>().map(|gains| gains.concat())
        };
        let there = information_gain_from(&mut ask, &rules, limits(0.0), &mut Silent).expect("valid");
        assert_eq!(here.outcome.subset, there.outcome.subset, "case {case}");
        assert_eq!(here.outcome.objective, there.outcome.objective, "case {case}");
        assert_eq!(here.ranking, there.ranking, "case {case}");
        assert_eq!(here.outcome.status, there.outcome.status, "case {case}");
    }
    let rules = Rules::none(3);
    let now = Limits { time: Some(std::time::Duration::ZERO), ..Limits::default() };
    let late = information_gain_from(&mut || panic!("no time is left"), &rules, now, &mut Silent).expect("valid");
    assert_eq!((late.outcome.status, late.outcome.subset), (Status::TimeLimit, None));
    let lost = information_gain_from(&mut || Err(Error::Source("gone".into())), &rules, limits(0.0), &mut Silent);
    assert_eq!(lost.expect_err("it fails").to_string(), "gone");
    let short = information_gain_from(&mut || Ok(vec![0.0]), &rules, limits(0.0), &mut Silent);
    assert!(short.expect_err("one gain").to_string().contains("3 features, but the data have 1"));
}

#[test]
fn appended_columns_are_the_columns_gathered_at_once() {
    for seed in 0..20 {
        let drawn = RandomProblem { n: 1 + seed as usize, p: 12, density: 0.4, noise: 0.0, seed };
        let ((dense, _), (sparse, _)) = (drawn.draw(), drawn.draw_sparse());
        for design in [&dense as &dyn Design, &sparse] {
            let order = [7, 2, 11, 0, 5, 6];
            let mut rows = RowMatrix::dense(design.n_samples(), 0, Vec::new());
            for part in [&order[..1], &order[1..4], &order[4..4], &order[4..]] {
                rows.append(design.rows(part));
            }
            let at_once = design.rows(&order);
            assert_eq!(rows.dense_values(), at_once.dense_values());
            assert_eq!(rows.csr(), at_once.csr());
            let back = rows.design();
            assert_eq!(back.is_sparse(), design.is_sparse());
            for (at, &j) in order.iter().enumerate() {
                let column = |design: &dyn Design, j: usize| {
                    let mut all = Vec::new();
                    design.each_in_column(j, &mut |i, x| all.push((i, x)));
                    all
                };
                assert_eq!(column(&*back, at), column(design, j));
            }
        }
    }
}

#[test]
fn an_elimination_of_columns_elsewhere_is_that_of_memory() {
    let mut rng = Rng::new(31);
    let (mut cases, mut paused, mut ended, mut certain, mut without) = (0, 0, 0, 0, 0);
    for case in 0..240 {
        let (n, p) = (20 + rng.below(30), if case % 4 == 0 { 400 } else { 8 + rng.below(40) });
        let drawn = RandomProblem { n, p, density: 0.5, noise: 0.15, seed: case };
        let ((dense, labels), (sparse, _)) = (drawn.draw(), drawn.draw_sparse());
        let design: &dyn Design = if case % 2 == 0 { &dense } else { &sparse };
        // A third class takes every fifth sample.
        let third = rng.chance(0.3);
        let class = |(i, &y): (usize, &f64)| if third && i % 5 == 0 { 2 } else { u32::from(y > 0.0) };
        let classes: Vec<u32> = labels.iter().enumerate().map(class).collect();
        let weights: Vec<f64> = (0..n).map(|i| [1.0, 0.5, 2.0][i % 3]).collect();
        let size = RuleList { max_features: Some(1 + rng.below(6)), ..RuleList::default() };
        let list = if p > 100 || rng.chance(0.5) { size } else { random_rules(&mut rng, p) };
        let Ok(rules) = Rules::new(p, list, &[]) else { continue };
        let Ok(samples) = Samples::new(design, &classes, Some(&weights)) else { continue };
        let loss = [Loss::Hinge, Loss::SquaredHinge][rng.below(2)];
        let svm = SvmSettings { cost: 0.3, loss, tolerance: 1e-11, ..SvmSettings::default() };
        let step = [Step::Count(1), Step::Count(3), Step::Remaining(0.4), Step::Original(0.1)][rng.below(4)];
        let start = rng.chance(0.2).then(|| (0..p).filter(|j| j % 7 != 3).collect());
        let here = RfeSettings { svm: svm.clone(), step, start, ..RfeSettings::default() };
        // So much memory that this many features are copied; of few, n x n products do not fit.
        let few = loss == Loss::SquaredHinge && rng.chance(0.5);
        let copied = if few { (3 * n - 1) / 32 } else { 3 * n / 32 + 1 + rng.below(p / 2) };
        let there = RfeSettings { svm: SvmSettings { memory: (32 * n * copied) as u64, ..svm }, ..here.clone() };
        let about = format!("case {case}: n {n}, p {p}, {copied} copied, {there:?}, {:?}", rules.list());
        // Where the features to start from hold no allowed subset.
        let Ok(known) = rfe_classes(&samples, &rules, &here, Limits::default(), &mut Silent) else { continue };
        let cut = 1 + rng.below(p - 1);
        let source = Shards::new(design, vec![0, cut, p], usize::MAX);
        let found = rfe_from(&source, &classes, Some(&weights), &rules, &there, Limits::default(), &mut Silent);
        let found = found.expect(&about);
        let gathered = source.gathered.into_inner().expect("no panic before").len();
        assert!(gathered <= copied, "{about}: {gathered} gathered");
        cases += 1;
        paused += usize::from(gathered > 0);
        ended += usize::from(gathered == 0);
        without += usize::from(few);
        let order = |report: &fewest::method::rfe::RfeReport| {
            report.selection.ranking.iter().map(|r| (r.feature, r.step)).collect::<Vec<_>>()
        };
        if known.certain_steps == Some(known.steps) {
            certain += 1;
            assert_eq!((found.steps, order(&found)), (known.steps, order(&known)), "{about}");
            let (ours, theirs) =
                (found.selection.outcome.objective.unwrap(), known.selection.outcome.objective.unwrap());
            assert!((ours - theirs).abs() <= 1e-8 * theirs, "{about}: {ours} against {theirs}");
            assert_eq!(found.selection.outcome.subset, known.selection.outcome.subset, "{about}");
        }
    }
    let counts = format!(
        "{cases} cases, {paused} went on with copies, {ended} did not, {certain} certain, {without} without n x n"
    );
    assert!(cases > 150 && paused > 50 && ended > 10 && certain > 100 && without > 40, "{counts}");
}

#[test]
fn an_elimination_source_that_fails_is_an_error_and_a_limit_a_status() {
    let (n, p) = (40, 300);
    let (x, labels) = RandomProblem { n, p, density: 0.6, noise: 0.2, seed: 5 }.draw();
    let classes: Vec<u32> = labels.iter().map(|&y| u32::from(y > 0.0)).collect();
    let rules = Rules::at_most_features(p, 5).expect("valid");
    let settings = |memory: usize| {
        let svm = SvmSettings { memory: memory as u64, ..SvmSettings::default() };
        RfeSettings { svm, step: Step::Remaining(0.5), ..RfeSettings::default() }
    };
    let run = |left: usize, settings: &RfeSettings, limits: Limits| {
        let source = Shards::new(&x, vec![0, 100, p], left);
        rfe_from(&source, &classes, None, &rules, settings, limits, &mut Silent)
    };
    let copies_20 = settings(32 * n * 20);
    let mut without_products = settings(32 * n * 3);
    without_products.svm.loss = Loss::SquaredHinge;
    for settings in [&copies_20, &without_products] {
        let needed =
            (0..10_000).find(|&left| run(left, settings, Limits::default()).is_ok()).expect("some number is enough");
        assert!(needed > 6, "{needed} calls show little");
        for left in 0..needed {
            assert_eq!(run(left, settings, Limits::default()).expect_err("it fails").to_string(), "worker 1 is gone");
        }
    }
    // No time at all: an allowed subset even so.
    let none = Limits { time: Some(std::time::Duration::ZERO), ..Limits::default() };
    for settings in [&copies_20, &without_products] {
        let stopped = run(10_000, settings, none.clone()).expect("a limit is a status").selection.outcome;
        assert_eq!(stopped.status, Status::TimeLimit);
        assert!(stopped.objective.is_some_and(f64::is_finite) && stopped.subset.is_some_and(|s| rules.allows(&s)));
    }
    // After one training: the SVM of the features kept, though their columns were never copied.
    let one = Limits { oracle_calls: Some(1), ..Limits::default() };
    let stopped = run(99, &copies_20, one).expect("a limit is a status").selection.outcome;
    let kept: Vec<usize> = stopped.subset.expect("allowed").iter().collect();
    let ones = vec![1.0; n];
    let afresh = train(&x, &kept, &labels, &ones, Kernel::Linear, &copies_20.svm, &Clock::unlimited()).expect("valid");
    let off = (stopped.objective.expect("found") - afresh.primal).abs();
    assert!(stopped.status == Status::CallLimit && kept.len() == 5 && off <= 1e-5 * afresh.primal, "off by {off}");
    // Rules that leave nothing.
    let nothing = Rules::new(p, RuleList { forbid: (0..p).collect(), ..RuleList::default() }, &[]).expect("valid");
    let source = Shards::new(&x, vec![0, 100, p], 99);
    let empty = rfe_from(&source, &classes, None, &nothing, &copies_20, Limits::default(), &mut Silent);
    let empty = empty.expect("an allowed subset without features").selection.outcome;
    assert!(empty.status == Status::Completed && empty.subset.is_some_and(|subset| subset.is_empty()));
    // Products that are too large.
    let error = run(99, &settings(n * n * 2), Limits::default()).expect_err("no memory").to_string();
    assert!(error.contains("products of 40 samples") && error.contains("squared hinge"), "{error}");
    let resampled = RfeSettings { resamples: Some(Resamples::default()), ..copies_20.clone() };
    let curved = RfeSettings { kernel: Kernel::Rbf { gamma: 1.0 }.into(), criterion: Criterion::Margin, ..copies_20 };
    for refused in [resampled, curved] {
        let error = run(99, &refused, Limits::default()).expect_err("columns are elsewhere").to_string();
        assert!(error.contains("linear machines at one cost"), "{error}");
    }
}
