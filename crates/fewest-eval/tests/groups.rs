//! Groups of samples: no part of an evaluation has some of a group's samples without the others,
//! and groups that say nothing of the classes show in rows alone.

use std::sync::Mutex;

use fewest::method::rfe::RfeSettings;
use fewest::validation::SizeRule;
use fewest::{AnyMethod, DenseDesign, Limits, RuleList, Silent, SvmSettings};
use fewest_data::{Features, Target};
use fewest_eval::evaluate::{EvaluateSettings, Evaluation, InnerFolds, Recipe, evaluate};
use fewest_eval::sizes::judge_sizes;
use fewest_eval::stability::{Candidates, StabilitySettings, stability};
use fewest_eval::study::{StudyMethod, StudySettings, study};
use fewest_eval::{
    Ask, Data, EvalError, Fixed, Groups, PartSelector, Preparation, Scene, TrainingPart, auto_cost, folds,
};
use fewest_testing::Rng;

const GROUPS: usize = 24;
const P: usize = 20;

/// Samples of groups: each group has a class by chance and a place of its own, where all its
/// samples are.
struct Grouped {
    features: Features,
    target: Target,
    weights: Vec<f64>,
    groups: Vec<u32>,
}

impl Grouped {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let groups: Vec<u32> = (0..GROUPS as u32).flat_map(|g| std::iter::repeat_n(g, 4 + (g % 3) as usize)).collect();
        let (n, places) = (groups.len(), (0..GROUPS * P).map(|_| rng.normal()).collect::<Vec<f64>>());
        let near = |(j, &g): (usize, &u32)| places[g as usize * P + j] + 0.05 * rng.normal();
        let values: Vec<f64> = (0..P).flat_map(|j| groups.iter().map(move |g| (j, g))).map(near).collect();
        let codes = groups.iter().map(|g| g * 7 % 24 / 3 % 2).collect();
        Self {
            features: Features::Dense(DenseDesign::new(n, P, values).unwrap()),
            target: Target { column: "y".into(), classes: vec!["a".into(), "b".into()], codes },
            weights: vec![1.0; n],
            groups,
        }
    }

    fn data(&self, grouped: bool) -> Data<'_> {
        let groups = grouped.then_some(self.groups.as_slice());
        Data { groups, ..Data::new(&self.features, &self.target, &self.weights) }
    }

    /// How many samples each group has.
    fn sizes(&self) -> Vec<usize> {
        (0..GROUPS as u32).map(|g| self.groups.iter().filter(|&&group| group == g).count()).collect()
    }
}

fn fixed() -> Fixed {
    Fixed {
        method: AnyMethod::from(RfeSettings::default()).into(),
        svm: SvmSettings::default(),
        rules: RuleList { max_features: Some(4), ..RuleList::default() },
        fit_cost: None,
    }
}

/// Selects, and notes parts that have some samples of a group only.
struct Watching<'a> {
    sizes: Vec<usize>,
    cost: f64,
    auto: bool,
    parted: &'a Mutex<Vec<Vec<u32>>>,
    parts: &'a Mutex<usize>,
}

impl PartSelector for Watching<'_> {
    fn ask(&self, part: &TrainingPart) -> Result<Ask, EvalError> {
        let groups = part.groups.as_ref().expect("groups were given");
        let count = |g: usize| groups.iter().filter(|&&group| group as usize == g).count();
        if (0..GROUPS).any(|g| count(g) != 0 && count(g) != self.sizes[g]) {
            self.parted.lock().unwrap().push(groups.clone());
        }
        *self.parts.lock().unwrap() += 1;
        Fixed { svm: SvmSettings { cost: self.cost, ..SvmSettings::default() }, ..fixed() }.ask(part)
    }

    fn chooses_cost(&self) -> bool {
        self.auto
    }

    fn at_cost(&self, cost: f64, _: Option<f64>) -> Result<Box<dyn PartSelector + '_>, EvalError> {
        Ok(Box::new(Watching { cost, auto: false, sizes: self.sizes.clone(), ..*self }))
    }
}

#[test]
fn no_part_of_any_evaluation_has_some_samples_of_a_group_only() {
    let all = Grouped::new(1);
    let (preparation, parted, parts) = (Preparation::default(), Mutex::default(), Mutex::new(0));
    let scene = Scene::new(all.data(true), &preparation);
    let watching = |auto| Watching { sizes: all.sizes(), cost: 1.0, auto, parted: &parted, parts: &parts };
    let n = all.groups.len();
    // Tuned inside folds, a cost chosen inside folds, every size in folds.
    let outer = folds::stratified(&all.target, Some(&all.groups), 4, 2, 3).unwrap();
    let inner = InnerFolds { count: 3, seed: 5, choose: SizeRule::Best };
    let of = |selectors| Recipe { selectors, inner, ..Recipe::of(watching(false)) };
    let tuned = of(vec![vec![Box::new(watching(false))], vec![Box::new(watching(false))]]);
    let chosen = of(vec![vec![Box::new(watching(true))]]);
    let settings = EvaluateSettings::default();
    let results = evaluate(&scene, &outer, &[tuned, chosen], &settings, None, &|_, _| Ok(())).unwrap();
    assert!(results.iter().all(Option::is_some));
    judge_sizes(&scene, &outer, &watching(true), &[1, 2, 4], None).unwrap();
    auto_cost::choose(&scene, &(0..n).collect::<Vec<_>>(), &watching(true), None).unwrap();
    // Halves.
    let (settings, few) = (StabilitySettings { pairs: 6, threshold: Some(0.8), ..StabilitySettings::default() }, 4);
    let candidates = Candidates { count: P, most: Some(few) };
    stability(&scene, &watching(true), candidates, &settings, None, &|_, _| Ok(())).unwrap();
    assert!(*parts.lock().unwrap() > 100);
    assert_eq!(*parted.lock().unwrap(), Vec::<Vec<u32>>::new());
}

#[test]
fn groups_without_a_meaning_look_like_one_by_rows_alone() {
    let (all, preparation) = (Grouped::new(2), Preparation::default());
    let accuracy = |grouped: bool| {
        let data = all.data(grouped);
        let folds = folds::stratified(&all.target, data.groups, 6, 2, 0).unwrap();
        let recipe = Recipe::of(Fixed { rules: RuleList::default(), ..fixed() });
        let scene = Scene::new(data, &preparation);
        let results = evaluate(&scene, &folds, &[recipe], &EvaluateSettings::default(), None, &|_, _| Ok(())).unwrap();
        let found = Evaluation::new(&results, folds::test_share(&folds, data.n()), P);
        found.summaries().into_iter().find(|(name, _)| *name == "accuracy").unwrap().1.mean
    };
    let (by_rows, by_groups) = (accuracy(false), accuracy(true));
    assert!(by_rows > 0.95 && by_groups < 0.75, "{by_rows} {by_groups}");
    let of_study = |grouped: bool| {
        let settings = StudySettings {
            sizes: Some(vec![P]),
            folds: 4,
            repeats: 1,
            inner_folds: 3,
            cost_points: 2,
            methods: vec![StudyMethod::Rfe],
            proof_nodes: 1,
            nodes: 1,
            ..StudySettings::default()
        };
        study(&all.data(grouped), &settings, &Limits::default(), None, &mut Silent).unwrap()
    };
    let report = of_study(true);
    for fold in &report.folds {
        let held: Vec<u32> = fold.judgement.test.iter().map(|&i| all.groups[i]).collect();
        let whole = (0..all.groups.len()).filter(|&i| held.contains(&all.groups[i])).count();
        assert_eq!(whole, held.len());
    }
    let mean = |report: &fewest_eval::study::StudyReport| {
        report.folds.iter().map(|fold| fold.judgement.metrics.accuracy).sum::<f64>() / report.folds.len() as f64
    };
    let (by_rows, by_groups) = (mean(&of_study(false)), mean(&report));
    assert!(by_rows > 0.95 && by_groups < 0.75, "{by_rows} {by_groups}");
}

#[test]
fn groups_that_cannot_be_dealt_are_refused() {
    let all = Grouped::new(3);
    let error = folds::stratified(&all.target, Some(&all.groups), 25, 1, 0).unwrap_err().to_string();
    assert!(error.contains("25 folds") && error.contains("24 groups") && error.contains("at most 24"), "{error}");
    let study_of = |data: &Data<'_>, folds: usize| {
        let settings = StudySettings { folds, ..StudySettings::default() };
        study(data, &settings, &Limits::default(), None, &mut Silent).map(|_| ()).unwrap_err().to_string()
    };
    assert!(study_of(&all.data(true), 25).contains("at most the number of groups, 24"));
    // The samples of a class in two groups.
    let few: Vec<u32> =
        all.target.codes.iter().zip(&all.groups).map(|(&c, g)| if c == 0 { g % 2 } else { *g }).collect();
    let data = Data { groups: Some(&few), ..all.data(false) };
    let error = study_of(&data, 5);
    assert!(error.contains("class a are in 2 groups") && error.contains("at least 3"), "{error}");
    let one: Vec<u32> = all.target.codes.iter().zip(&all.groups).map(|(&c, g)| if c == 0 { 0 } else { *g }).collect();
    let data = Data { groups: Some(&one), ..all.data(false) };
    let candidates = Candidates { count: P, most: Some(2) };
    let error = StabilitySettings::default().check(&data, candidates).unwrap_err().to_string();
    assert!(error.contains("class a is in 1 group only"), "{error}");
    let (preparation, rows) = (Preparation::default(), (0..all.groups.len()).collect::<Vec<_>>());
    let error = auto_cost::choose(&Scene::new(data, &preparation), &rows, &fixed(), None).unwrap_err().to_string();
    assert!(error.contains("a class is in 1 group only"), "{error}");
}

#[test]
fn folds_by_name_are_held_to_groups() {
    let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
    let groups = Groups::new(&names(&["p", "q", "p", "r"]));
    assert_eq!((groups.count(), groups.codes.as_slice()), (3, &[0, 1, 0, 2][..]));
    let whole = folds::named(&names(&["1", "2", "1", "2"])).unwrap();
    assert!(folds::check_groups(&whole, &groups).is_ok());
    let parted = folds::named(&names(&["1", "2", "2", "2"])).unwrap();
    let error = folds::check_groups(&parted, &groups).unwrap_err().to_string();
    assert!(error.contains("group p are in fold 1 and in fold 2"), "{error}");
    // Folds that are dealt again.
    let target = Target { column: "y".into(), classes: vec!["a".into()], codes: vec![0; 4] };
    assert!(folds::check_groups(&folds::stratified(&target, Some(&groups.codes), 2, 5, 0).unwrap(), &groups).is_ok());
}
