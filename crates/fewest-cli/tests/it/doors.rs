//! The library's functions and the command say the same, digit for digit: folds, halves, draws and
//! what is found in them.

use fewest::method::info_gain::InfoGainSettings;
use fewest::method::rfe::RfeSettings;
use fewest::validation::{ShareLaw, Summary};
use fewest::{AnyMethod, Limits, Memory, RuleList, Silent, SvmSettings};
use fewest_data::{Dataset, ReadOptions, Target, read};
use fewest_eval::evaluate::{EvaluateSettings, Evaluation, Recipe, evaluate};
use fewest_eval::knockoffs::{KnockoffSettings, knockoffs};
use fewest_eval::sizes::judge_sizes;
use fewest_eval::stability::{Candidates, StabilityReport, StabilitySettings, stability};
use fewest_eval::study::{StudyMethod, StudySettings, study};
use fewest_eval::{ClassWeights, Data, Fixed, Preparation, Scene, Training, folds};
use serde_json::{Map, Value, json};

use crate::common::{Scratch, generated};

/// A data set as it was read, and how it is prepared.
struct Set {
    name: &'static str,
    data: Dataset,
    target: Target,
    weights: Vec<f64>,
    /// Options of the command that say the same.
    options: &'static [&'static str],
    preparation: Preparation,
}

impl Set {
    fn data(&self) -> Data<'_> {
        Data::new(&self.data.features, &self.target, &self.weights)
    }

    fn p(&self) -> usize {
        self.data.names.len()
    }

    fn names(&self, features: &[usize]) -> Vec<String> {
        features.iter().map(|&j| self.data.names.get(j).into_owned()).collect()
    }
}

/// Two classes, three classes that are weighed, and values that are missing.
fn sets(scratch: &Scratch) -> Vec<Set> {
    let two = generated(60, 8, &["no", "yes"], 11);
    let three = generated(75, 6, &["a", "b", "c"], 12);
    let missing: Vec<String> = generated(64, 6, &["u", "v"], 13)
        .lines()
        .enumerate()
        .map(
            |(i, line)| {
                if i % 7 == 3 { line.replacen(line.split(',').next().unwrap(), "", 1) } else { line.to_owned() }
            },
        )
        .collect();
    scratch.file("two.csv", two).file("three.csv", three).file("missing.csv", missing.join("\n") + "\n");
    let balanced = Preparation { class_weight: ClassWeights::Balanced, ..Preparation::default() };
    let filled = Preparation { missing: Some(fewest_data::MissingRule::Median), ..Preparation::default() };
    let files = [
        ("two.csv", &[][..], Preparation::default()),
        ("three.csv", &["--class-weight", "balanced"][..], balanced),
        ("missing.csv", &["--missing", "median"][..], filled),
    ];
    let set = |(name, options, preparation): (&'static str, &'static [&'static str], Preparation)| {
        let reading = ReadOptions { missing: preparation.missing.is_some(), ..ReadOptions::default() };
        let mut data = read(scratch.path(name).to_str().unwrap(), &reading).unwrap();
        let target = data.target.take().unwrap();
        Set { name, weights: vec![1.0; target.codes.len()], data, target, options, preparation }
    };
    files.into_iter().map(set).collect()
}

fn rfe(size: usize) -> Fixed {
    let settings = RfeSettings::default();
    let (svm, rules) = (settings.svm.clone(), RuleList { max_features: Some(size), ..RuleList::default() });
    Fixed { method: AnyMethod::from(settings).into(), svm, rules, fit_cost: None }
}

/// What the command writes.
fn said(scratch: &Scratch, set: &Set, words: &[&str]) -> Value {
    scratch.run(&[&words[..1], &[set.name], &words[1..], set.options, &["--json", "out.json"]].concat()).code(0);
    scratch.json("out.json")
}

fn summary(summaries: Vec<(&'static str, Summary)>) -> Value {
    let each: Map<String, Value> = summaries.into_iter().map(|(name, found)| (name.to_owned(), json!(found))).collect();
    Value::Object(each)
}

#[test]
fn evaluate_says_the_same() {
    let scratch = Scratch::new("doors_evaluate");
    for set in sets(&scratch) {
        let words = ["evaluate", "-m", "rfe", "--max-features", "3", "--cv", "4", "--repeats", "2", "--seed", "3"];
        let said = said(&scratch, &set, &words);
        let scene = Scene::new(set.data(), &set.preparation);
        let folds = folds::stratified(&set.target, None, 4, 2, 3).unwrap();
        let recipes = [Recipe::of(rfe(3))];
        let results = evaluate(&scene, &folds, &recipes, &EvaluateSettings::default(), None, &|_, _| Ok(())).unwrap();
        let found = Evaluation::new(&results, folds::test_share(&folds, set.target.codes.len()), set.p());
        for (fold, said) in found.folds.iter().zip(said["folds"].as_array().unwrap()) {
            assert_eq!(json!(set.names(&fold.selected)), said["selected"], "{}", set.name);
            assert_eq!(json!(fold.confusion), said["confusion"]);
        }
        assert_eq!(summary(found.summaries()), said["summary"], "{}", set.name);
        assert_eq!(json!(found.stability()), said["stability"]);
    }
}

#[test]
fn stability_says_the_same() {
    let scratch = Scratch::new("doors_stability");
    for set in sets(&scratch) {
        let said = said(
            &scratch,
            &set,
            &["stability", "-m", "rfe", "--max-features", "2", "--pairs", "9", "--max-false", "4"],
        );
        let (scene, selector) = (Scene::new(set.data(), &set.preparation), rfe(2));
        let candidates = Candidates::new(set.p(), selector.rules.clone(), &[], true).unwrap();
        let settings = StabilitySettings { pairs: 9, max_false: 4.0, ..StabilitySettings::default() };
        let pairs = stability(&scene, &selector, candidates, &settings, None, &|_, _| Ok(())).unwrap();
        let halves: Vec<&[Vec<usize>; 2]> = pairs.iter().flatten().map(|pair| &pair.selected).collect();
        let found = StabilityReport::new(&halves, set.p(), candidates, &settings, (false, false));
        assert_eq!(json!(found.stable()), said["selected_indices"], "{}", set.name);
        assert_eq!(json!(found.false_selections(ShareLaw::Any)), said["false_selections"]["by_assumption"]["any"]);
        for count in &found.counts {
            let name = set.data.names.get(count.feature);
            assert_eq!(json!(found.share(count.halves)), said["frequency"][&*name]);
        }
        assert_eq!(json!(found.stability), said["stability"]);
    }
}

#[test]
fn knockoffs_say_the_same() {
    let scratch = Scratch::new("doors_knockoffs");
    for set in sets(&scratch) {
        let said =
            said(&scratch, &set, &["knockoffs", "-m", "info-gain", "--fdr", "0.5", "--draws", "3", "--seed", "2"]);
        let (scene, memory) = (Scene::new(set.data(), &set.preparation), Memory::unlimited());
        let part = scene.part(&(0..set.target.codes.len()).collect::<Vec<usize>>()).unwrap();
        let method: AnyMethod = InfoGainSettings::default().into();
        let settings = KnockoffSettings { fdr: 0.5, draws: 3, seed: 2, time: None };
        let features: Vec<usize> = (0..set.p()).collect();
        let training = Training::of(&part, &memory);
        let report = knockoffs(training, &features, &method, settings, &Limits::default(), &|_, _| Ok(())).unwrap();
        assert_eq!(json!(report.found.selected), said["selected_indices"], "{}", set.name);
        for (j, w) in report.found.statistics.iter().enumerate() {
            assert_eq!(json!(w), said["statistics"][&*set.data.names.get(j)]);
        }
        assert_eq!(json!(report.law.unwrap().separation()), said["separation"]);
    }
}

#[test]
fn sizes_are_judged_the_same() {
    let scratch = Scratch::new("doors_sizes");
    for set in sets(&scratch) {
        let said = said(&scratch, &set, &["path", "-m", "rfe", "--max-features", "1..3", "--cv", "3"]);
        let scene = Scene::new(set.data(), &set.preparation);
        let folds = folds::stratified(&set.target, None, 3, 1, 0).unwrap();
        let scores = judge_sizes(&scene, &folds, &rfe(3), &[1, 2, 3], None).unwrap();
        for (at, result) in said["path"].as_array().unwrap().iter().enumerate() {
            assert_eq!(summary(scores.summaries(at)), result["cv"], "{}", set.name);
        }
        let (best, one_se) = scores.chosen().unwrap();
        assert_eq!([json!(best), json!(one_se)], [said["cv"]["best_size"].clone(), said["cv"]["one_se_size"].clone()]);
    }
}

#[test]
fn a_study_says_the_same() {
    let scratch = Scratch::new("doors_study");
    for set in sets(&scratch) {
        let words = [
            "study",
            "--max-features",
            "1..2",
            "--methods",
            "rfe",
            "--folds",
            "3",
            "--repeats",
            "1",
            "--inner-cv",
            "3",
        ];
        let said = said(&scratch, &set, &words);
        let settings = StudySettings {
            sizes: Some(vec![1, 2]),
            methods: vec![StudyMethod::Rfe],
            folds: 3,
            repeats: 1,
            inner_folds: 3,
            missing: set.preparation.missing,
            class_weight: set.preparation.class_weight.clone(),
            svm: SvmSettings::default(),
            ..StudySettings::default()
        };
        let found = study(&set.data(), &settings, &Limits::default(), None, &mut Silent).unwrap();
        let summaries: Vec<(&'static str, Summary)> = found.summary();
        for (name, found) in summaries {
            assert_eq!(json!(found), said["summary"][name], "{} {name}", set.name);
        }
        assert_eq!(json!(set.names(&found.panel.unwrap().selected)), said["panel"]["selected"], "{}", set.name);
    }
}
