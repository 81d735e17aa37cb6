//! Samples to learn from, prepared by what they alone say, and samples held out, prepared likewise.

use std::borrow::Cow;

use fewest::{Design, Error, FeatureSet, Memory, Reserved, RuleList, Rules, Samples};
use fewest_data::{Features, Target};

use crate::error::EvalError;
use crate::folds::{dealt, strata};
use crate::preparation::{Learnt, Preparation};

/// Samples as they were read: n of them, p features, nothing prepared.
#[derive(Debug, Clone, Copy)]
pub struct Data<'a> {
    /// The matrix, not scaled; NaN, a missing value, only where [`Preparation::missing`] says what
    /// stands in.
    pub features: &'a Features,
    /// The class of each sample.
    pub target: &'a Target,
    /// Multiplier of the slack cost of each sample, above 0, length n: how many samples it is.
    pub weights: &'a [f64],
    /// The name of each sample's task, where one subset serves several problems.
    pub tasks: Option<&'a [String]>,
    /// The group of each sample, where some stay together in folds and halves.
    pub groups: Option<&'a [u32]>,
}

impl<'a> Data<'a> {
    /// Samples of one task, each by itself.
    pub fn new(features: &'a Features, target: &'a Target, weights: &'a [f64]) -> Self {
        Self { features, target, weights, tasks: None, groups: None }
    }

    /// Number of samples.
    pub fn n(&self) -> usize {
        self.target.codes.len()
    }

    /// Strata by which samples are dealt: their class, and with tasks task and class.
    pub fn strata(&self) -> Cow<'a, Target> {
        strata(self.target, self.tasks)
    }

    /// The groups of these samples, where there are groups.
    pub fn groups_of(&self, rows: &[usize]) -> Option<Vec<u32>> {
        self.groups.map(|groups| rows.iter().map(|&i| groups[i]).collect())
    }

    /// The fold of each of these samples, of `count` that are stratified and keep groups together:
    /// what every cross-validation of a part is dealt by.
    ///
    /// # Errors
    /// Fewer groups than folds, groups that leave a fold empty.
    pub fn deal(&self, rows: &[usize], count: usize, seed: u64) -> Result<Vec<u32>, EvalError> {
        dealt(&self.strata().rows(rows), self.groups_of(rows).as_deref(), count, seed)
    }

    /// A copy of the features of these samples, ascending, and what it takes of the memory.
    fn rows(&self, rows: &[usize], memory: &Memory) -> Result<(Features, Reserved), Error> {
        let share = rows.len() as f64 / self.n().max(1) as f64;
        let bytes = (self.features.bytes() as f64 * share) as u64;
        let what = || format!("a copy of {} samples", rows.len());
        let taken = memory.reserve(bytes, what, "fewer threads, which work on a copy each")?;
        Ok((self.features.rows(rows), taken))
    }
}

/// Tasks that share one subset.
#[derive(Debug, Clone)]
pub struct Tasks {
    /// Their names.
    pub names: Vec<String>,
    /// The task of each sample.
    pub codes: Vec<u32>,
}

impl Tasks {
    /// Tasks from the name of each sample's task.
    ///
    /// # Errors
    /// A task whose samples are of one class.
    pub fn new(by_sample: &[String], target: &Target) -> Result<Self, EvalError> {
        let mut names = by_sample.to_vec();
        names.sort_unstable();
        names.dedup();
        let code = |name: &String| names.binary_search(name).expect("listed above") as u32;
        let codes: Vec<u32> = by_sample.iter().map(code).collect();
        for (task, name) in names.iter().enumerate() {
            let mut of =
                codes.iter().zip(&target.codes).filter(|sample| *sample.0 as usize == task).map(|sample| sample.1);
            let first = of.next();
            if of.all(|class| Some(class) == first) {
                return Err(EvalError::TaskOfOneClass { task: name.clone() });
            }
        }
        Ok(Self { names, codes })
    }

    /// The name of each sample's task.
    pub fn by_sample(&self) -> Vec<String> {
        self.codes.iter().map(|&code| self.names[code as usize].clone()).collect()
    }
}

/// Samples to learn from: filled in, scaled, weighed.
#[derive(Debug)]
pub struct TrainingPart {
    features: Features,
    /// The class of each.
    pub target: Target,
    /// Sample weight times class weight.
    pub weights: Vec<f64>,
    /// Weight of each sample without that of its class.
    pub sample_weights: Vec<f64>,
    /// The tasks they belong to, where there are tasks.
    pub tasks: Option<Tasks>,
    /// The group of each, where some stay together.
    pub groups: Option<Vec<u32>>,
    /// The preparation that they determine.
    pub learnt: Learnt,
    /// The weight of each class.
    by_class: Vec<f64>,
    #[expect(dead_code, reason = "gives the bytes back when the part is dropped")]
    taken: Reserved,
}

/// Samples to judge by.
#[derive(Debug)]
pub struct HeldOut {
    features: Features,
    /// The class of each.
    pub target: Target,
    /// Weights as those of the samples learned from.
    pub weights: Vec<f64>,
    /// The name of each one's task, where there are tasks.
    pub tasks: Vec<String>,
    #[expect(dead_code, reason = "gives the bytes back when the samples are dropped")]
    taken: Reserved,
}

impl TrainingPart {
    /// The samples of these rows, ascending, prepared by what they alone say.
    ///
    /// # Errors
    /// A class of which none of them is, or a task of one class; more memory than is left.
    pub fn new(data: &Data<'_>, rows: &[usize], preparation: &Preparation, memory: &Memory) -> Result<Self, EvalError> {
        let target = data.target.rows(rows);
        let counts = target.counts();
        if let Some(class) = counts.iter().position(|&count| count == 0) {
            return Err(EvalError::NoSampleLeft { class: target.classes[class].clone() });
        }
        let (mut features, taken) = data.rows(rows, memory)?;
        let names = data.tasks.map(|tasks| rows.iter().map(|&i| tasks[i].clone()).collect::<Vec<String>>());
        let tasks = names.map(|names| Tasks::new(&names, &target)).transpose()?;
        let sample_weights: Vec<f64> = rows.iter().map(|&i| data.weights[i]).collect();
        let (totals, groups) = (target.totals(&sample_weights), data.groups_of(rows));
        let by_class = preparation.class_weight.of(&totals);
        let weights = weighed(&sample_weights, &target, &by_class);
        let learnt = preparation.fit(&mut features, &sample_weights)?;
        Ok(Self { features, target, weights, sample_weights, tasks, groups, learnt, by_class, taken })
    }

    /// The samples of other rows, prepared as these.
    pub fn hold_out(&self, data: &Data<'_>, rows: &[usize], memory: &Memory) -> Result<HeldOut, EvalError> {
        let (mut features, taken) = data.rows(rows, memory)?;
        self.learnt.apply(&mut features)?;
        let target = data.target.rows(rows);
        let own: Vec<f64> = rows.iter().map(|&i| data.weights[i]).collect();
        let weights = weighed(&own, &target, &self.by_class);
        let tasks = data.tasks.map_or_else(Vec::new, |tasks| rows.iter().map(|&i| tasks[i].clone()).collect());
        Ok(HeldOut { features, target, weights, tasks, taken })
    }

    /// The matrix.
    pub fn design(&self) -> &dyn Design {
        self.features.as_design()
    }

    /// The samples as methods take them.
    ///
    /// # Errors
    /// A class whose samples all have weight 0.
    pub fn samples(&self) -> Result<Samples<'_>, Error> {
        let samples =
            Samples::new(self.design(), &self.target.codes, Some(&self.weights))?.counted(&self.sample_weights)?;
        match &self.tasks {
            None => Ok(samples),
            Some(tasks) => samples.with_tasks(&tasks.codes),
        }
    }

    /// The rules asked for, and what the samples rule out. `names` are for messages, and may be
    /// empty.
    ///
    /// # Errors
    /// Rules that leave nothing.
    pub fn rules(&self, mut list: RuleList, names: &[String]) -> Result<Rules, Error> {
        list.forbid.extend(self.ruled_out().iter());
        Rules::new(self.design().n_features(), list, names)
    }

    /// The features that no method may choose: of one value, or of low variance.
    pub fn ruled_out(&self) -> FeatureSet {
        self.learnt.ruled_out()
    }

    /// The class of most samples, by weight, the first of several.
    pub fn most_frequent(&self) -> u32 {
        let totals = self.target.totals(&self.sample_weights);
        (0..totals.len()).rev().max_by(|&a, &b| totals[a].total_cmp(&totals[b])).unwrap_or(0) as u32
    }
}

impl HeldOut {
    /// The matrix.
    pub fn design(&self) -> &dyn Design {
        self.features.as_design()
    }
}

/// Sample weights times class weights.
fn weighed(sample_weights: &[f64], target: &Target, by_class: &[f64]) -> Vec<f64> {
    sample_weights.iter().zip(&target.codes).map(|(weight, &code)| weight * by_class[code as usize]).collect()
}
