//! From a data file to what the methods take: read, tell the notes, weigh the samples, scale.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use fewest::model::{FitSettings, Model};
use fewest::{Clock, Memory, Report, Reserved, Rules, Samples, SvmSettings};
use fewest_data::{Dataset, Features, Indicator, MissingRule, Names, Note, ReadOptions, ScaleKind, Target};
use fewest_eval::{EvalError, Groups, Learnt, Preparation, Tasks, Training};
use fewest_result::{About, FeatureImputation, FeatureScaling, NamedData, TrainedModel, levels_of};

use super::data_as_read::{DataAsRead, check};
use super::effective::Known;
use super::eval_words::failure;
use super::normalized::{check_totals, normalization_of};
use super::reading::{apart_names, groups, hint, labelled, notes, read_apart, read_features, warnings, weighted};
use super::scaling_words::scaling_text;
use crate::args::data::{DataArgs, PrepareArgs};
use crate::args::features::Features as RuleFeatures;
use crate::args::notation;
use crate::args::svm::ClassWeight;
use crate::failure::Failure;
use crate::method_args::{HeldOutSamples, MethodData, Validate};
use crate::terminal::Terminal;

/// Data ready for a method.
pub(crate) struct PreparedData {
    /// Features (scaled), names, notes.
    pub(crate) data: Dataset,
    /// Classes.
    pub(crate) target: Target,
    /// Cost multiplier of each sample: sample weight times class weight.
    pub(crate) weights: Vec<f64>,
    /// Weight of each sample without that of its class.
    pub(crate) sample_weights: Vec<f64>,
    /// How they were prepared.
    pub(crate) preparation: Preparation,
    /// What they say: what stands in for missing values, how features are scaled, which say
    /// nothing.
    pub(crate) learnt: Learnt,
    /// Samples that are not trained on.
    pub(crate) held_out: Option<HeldOutSamples>,
    /// The name of each sample's fold, where a column of the data says it.
    pub(crate) folds: Option<Vec<String>>,
    /// The tasks of the samples, where a column of the data says them.
    pub(crate) tasks: Option<Tasks>,
    /// The groups that stay together, where a column of the data says them.
    pub(crate) groups: Option<Groups>,
    /// Features that say where another one has no value.
    indicators: Vec<Indicator>,
    /// How the file was read.
    pub(crate) reading: ReadOptions,
    /// Bytes that `--memory` leaves for kernel values.
    kernel_memory: Option<u64>,
    /// Bytes allowed in all.
    memory: u64,
    /// What of them is taken beside the data.
    account: Memory,
    /// The memory of samples that are a copy.
    #[expect(dead_code, reason = "gives the bytes back when the data are dropped")]
    taken: Option<Reserved>,
}

/// What to do with the data besides reading them.
pub(crate) struct PrepareOptions<'a> {
    /// File.
    pub(crate) path: &'a Path,
    /// How to read it.
    pub(crate) reading: ReadOptions,
    /// Scaling and sample weights.
    pub(crate) prepare: &'a PrepareArgs,
    /// Class weights; none: all 1.
    pub(crate) class_weight: Option<&'a ClassWeight>,
    /// Features of at most this variance are reported.
    pub(crate) variance_threshold: Option<f64>,
    /// Samples to hold out, and the seed that draws them.
    pub(crate) validate: Option<(&'a Validate, u64)>,
    /// Column with the fold of each sample.
    pub(crate) folds: Option<&'a str>,
    /// Whether sparse data are centred, too ([`Preparation`]).
    pub(crate) centred: bool,
    /// Names of the features that hold categories.
    pub(crate) categorical: &'a [String],
    /// Column with the task of each sample.
    pub(crate) tasks: Option<&'a str>,
    /// Column with the group of each sample.
    pub(crate) groups: Option<&'a str>,
    /// Columns with the class of each sample at a level, the target among them.
    pub(crate) hierarchy: &'a [String],
}

impl<'a> PrepareOptions<'a> {
    /// Nothing but these.
    ///
    /// # Errors
    /// A list of names that cannot be understood.
    pub(crate) fn new(data: &'a DataArgs, prepare: &'a PrepareArgs) -> Result<Self, Failure> {
        Ok(Self {
            path: &data.data,
            reading: data.read_options()?,
            prepare,
            class_weight: None,
            variance_threshold: None,
            validate: None,
            folds: None,
            centred: false,
            categorical: &[],
            tasks: None,
            groups: None,
            hierarchy: &[],
        })
    }

    /// Reads and prepares.
    ///
    /// # Errors
    /// Whatever is wrong with the file or with a weight, or more memory needed than allowed.
    pub(crate) fn run(&self, terminal: Terminal) -> Result<PreparedData, Failure> {
        self.prepare(self.load(terminal)?, terminal)
    }

    /// Reads alone.
    ///
    /// # Errors
    /// Whatever is wrong with the file or with a weight, or less memory allowed than the data take.
    pub(crate) fn load(&self, terminal: Terminal) -> Result<DataAsRead, Failure> {
        let (mut options, rule) = (self.reading.clone(), self.prepare.missing.rule());
        options.missing = rule.is_some();
        options.apart.extend(self.prepare.sample_weights.clone());
        options.apart.extend(self.folds.into_iter().chain(self.tasks).chain(self.groups).map(str::to_owned));
        for name in self.hierarchy {
            if !options.apart.contains(name) && !options.is_target(name) {
                options.apart.push(name.clone());
            }
        }
        let mut named = vec![
            ("column of --tasks", self.tasks),
            ("column of --folds", self.folds),
            ("column of --groups", self.groups),
            ("column of --sample-weights", self.prepare.sample_weights.as_deref()),
        ];
        named.extend(self.hierarchy.iter().map(|name| ("column of --hierarchy", Some(name.as_str()))));
        let mut data = read_apart(self.path, &options, &named, terminal)?;
        let (weights, rows) = weighted(&mut data, self.prepare.sample_weights.as_deref(), terminal)?;
        hint(&mut data, terminal);
        let target = data.target.take().ok_or_else(|| {
            Failure::Input(format!("{}: there is no target column; name it with --target", data.source))
        })?;
        let folds = self.folds.map(|name| apart_names(&data, name, "fold", &rows)).transpose()?;
        let tasks = self.tasks.map(|name| apart_names(&data, name, "task", &rows)).transpose()?;
        let groups = self.groups.map(|name| groups(&data, name, &target.column, &rows, terminal)).transpose()?;
        let texts = data.text_columns();
        let marked = rule == Some(MissingRule::Indicator);
        let indicators = if marked { data.add_indicators()? } else { Vec::new() };
        let kernel_memory = self.kernel_memory(&data)?;
        let account = Memory::new(options.memory().saturating_sub(data.features.bytes()));
        Ok(DataAsRead {
            data,
            target,
            weights,
            rows,
            folds,
            tasks,
            groups,
            texts,
            indicators,
            centred: self.centred,
            reading: self.reading.clone(),
            kernel_memory,
            account,
            taken: None,
        })
    }

    /// What `--memory` leaves when the data are there.
    fn kernel_memory(&self, data: &Dataset) -> Result<Option<u64>, Failure> {
        let taken = data.features.bytes();
        match self.reading.memory_limit {
            Some(allowed) if allowed <= taken => Err(Failure::Input(format!(
                "{}: the data take {}, all that --memory allows; raise --memory",
                data.source,
                notation::bytes(taken)
            ))),
            allowed => Ok(allowed.map(|allowed| allowed - taken)),
        }
    }

    /// The preparation of these samples, or of parts of them, as the library has it.
    ///
    /// # Errors
    /// An unknown class or category.
    pub(crate) fn preparation(&self, raw: &DataAsRead) -> Result<Preparation, Failure> {
        Ok(Preparation {
            missing: self.prepare.missing.rule(),
            texts: raw.texts.clone(),
            class_weight: self.class_weight.unwrap_or(&ClassWeight::None).weights(&raw.target)?,
            categorical: self.categories(&raw.data.names)?,
            variance_threshold: self.variance_threshold,
            scale: self.prepare.scale,
            centred: raw.centred,
        })
    }

    /// All that depends on the samples: class weights, samples held out, what stands in for missing
    /// values, variances, constant features, scaling.
    ///
    /// # Errors
    /// A class weight or a threshold that does not fit.
    pub(crate) fn prepare(&self, raw: DataAsRead, terminal: Terminal) -> Result<PreparedData, Failure> {
        let tasks = raw.tasks.as_ref().map(|names| Tasks::new(names, &raw.target)).transpose();
        let tasks = tasks.map_err(|error| raw.failure(error))?;
        let preparation = self.preparation(&raw)?;
        let DataAsRead {
            mut data,
            mut target,
            mut weights,
            folds,
            groups,
            indicators,
            reading,
            kernel_memory,
            account,
            taken,
            ..
        } = raw;
        let by_class = preparation.class_weight.of(&target.totals(&weights));
        let mut sample_weights = weights.clone();
        for (weight, &code) in weights.iter_mut().zip(&target.codes) {
            *weight *= by_class[code as usize];
        }
        let held = match self.validate {
            None => None,
            Some((Validate::Share(share), seed)) => {
                let (kept, held) = fewest_data::stratified(&target, *share, seed);
                let out = (data.features.rows(&held), target.rows(&held).signs());
                (data.features, target) = (data.features.rows(&kept), target.rows(&kept));
                weights = kept.iter().map(|&i| weights[i]).collect();
                sample_weights = kept.iter().map(|&i| sample_weights[i]).collect();
                Some(out)
            }
            Some((Validate::File(path), _)) => {
                Some(self.validation_file(path, &data, &target, &indicators, terminal)?)
            }
        };
        let learnt = preparation.fit(&mut data.features, &sample_weights)?;
        let prepared = |(mut features, labels)| {
            learnt.apply(&mut features)?;
            held_out(features, labels)
        };
        let held_out = held.map(prepared).transpose()?;
        let memory = self.reading.memory();
        Ok(PreparedData {
            data,
            target,
            weights,
            sample_weights,
            preparation,
            learnt,
            held_out,
            folds,
            tasks,
            groups,
            indicators,
            reading,
            kernel_memory,
            memory,
            account,
            taken,
        })
    }

    /// The features that hold categories, ascending.
    ///
    /// # Errors
    /// A name that is no feature.
    fn categories(&self, names: &Names) -> Result<Vec<usize>, Failure> {
        let mut found = RuleFeatures::new(names).indices(self.categorical, "--categorical")?;
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Features in the order of `data`, and labels, of another file.
    fn validation_file(
        &self,
        path: &Path,
        data: &Dataset,
        target: &Target,
        indicators: &[Indicator],
        terminal: Terminal,
    ) -> Result<(Features, Vec<f64>), Failure> {
        let options = self.reading.clone();
        let options = ReadOptions {
            target: options.target.or_else(|| Some(target.column.clone())),
            target_optional: true,
            apart: Vec::new(),
            format: None,
            missing: self.prepare.missing.rule().is_some(),
            normalize: normalization_of(data.normalized()),
            ..options
        };
        let names: Vec<String> = data.names.iter().map(Cow::into_owned).collect();
        let other = read_features(path, &names, indicators, options, &|_| None, terminal)?;
        check_totals(&other, data.normalized(), terminal)?;
        labelled(other, target)
    }
}

/// Samples held out, prepared as those that are trained on.
fn held_out(features: Features, labels: Vec<f64>) -> Result<HeldOutSamples, Failure> {
    if labels.is_empty() {
        return Err(Failure::input("--validate holds out no sample; raise the fraction, or name a file with samples"));
    }
    Ok(HeldOutSamples { design: Arc::from(features.into_design()), labels })
}

/// The names as the rules want them for messages: listed, or empty for x1, x2, ...
pub(crate) fn listed(names: &Names) -> &[String] {
    match names {
        Names::Listed(names) => names,
        Names::Numbered(_) => &[],
    }
}

impl PreparedData {
    /// How features were scaled.
    pub(crate) fn scale(&self) -> ScaleKind {
        self.learnt.scaling.kind
    }

    /// Features, classes and samples by name.
    pub(crate) fn named(&self) -> NamedData<'_> {
        let samples = self.data.samples.as_ref();
        NamedData { names: &self.data.names, target: &self.target, samples, rows: None }
    }

    /// What results say of them.
    pub(crate) fn about(&self) -> About {
        About { summed: self.data.summed().cloned(), ..self.named().about(warnings(&self.data), notes(&self.data)) }
    }

    /// The scaling in words, and what was done to the values before.
    pub(crate) fn scaling_text(&self) -> String {
        scaling_text((self.learnt.scaling.kind, self.learnt.scale_reason), &self.data)
    }

    /// How missing values were filled in; nothing where there are none.
    pub(crate) fn missing_text(&self) -> Option<String> {
        let told = |note: &Note| match note {
            Note::Missing { values, columns, .. } => Some((*values, *columns)),
            _ => None,
        };
        let (values, columns) = self.data.notes.iter().find_map(told)?;
        let (values, columns) = (notation::plural(values, "value"), notation::plural(columns, "column"));
        let rule = self.learnt.imputation.as_ref()?.rule.name();
        Some(format!("{values} in {columns}, filled in by --missing {rule}"))
    }

    /// What the settings of a method are made of.
    pub(crate) fn method_data(&self) -> MethodData<'_> {
        MethodData {
            source: &self.data.source,
            names: &self.data.names,
            target: &self.target,
            class_weights: &self.preparation.class_weight,
            sample_weights: &self.sample_weights,
            folds: self.folds.as_deref(),
            groups: self.groups.as_ref().map(|groups| groups.codes.as_slice()),
            held_out: self.held_out.as_ref(),
            categorical: &self.preparation.categorical,
            kernel_memory: self.kernel_memory,
            memory: self.memory,
        }
    }

    /// The samples as the methods take them.
    ///
    /// # Errors
    /// A class whose samples all have weight 0.
    pub(crate) fn samples(&self) -> Result<Samples<'_>, Failure> {
        let samples = Samples::new(self.data.features.as_design(), &self.target.codes, Some(&self.weights))?;
        let samples = samples.counted(&self.sample_weights)?;
        Ok(match &self.tasks {
            None => samples,
            Some(tasks) => samples.with_tasks(&tasks.codes)?,
        })
    }

    /// What is known of them and of their features.
    pub(crate) fn known(&self) -> Known<'_> {
        let (source, names, texts) = (&self.data.source, &self.data.names, &self.preparation.texts);
        Known { source, names, texts, target: &self.target, learnt: &self.learnt }
    }

    /// The features by name, text columns among them.
    pub(crate) fn features(&self) -> RuleFeatures<'_> {
        self.known().features()
    }

    /// The samples, as classifiers are trained on them.
    pub(crate) fn training(&self) -> Training<'_> {
        let (design, codes, tasks) = (self.data.features.as_design(), &self.target.codes, self.tasks.as_ref());
        Training { design, codes, weights: &self.weights, tasks, memory: &self.account }
    }

    /// An error of an evaluation of these samples.
    pub(crate) fn failure(&self, error: EvalError) -> Failure {
        failure(error, &self.data.source)
    }

    /// A number that changes with any value, class, weight, fold, task or group.
    pub(crate) fn check(&self) -> u64 {
        let (tasks, groups) = (self.tasks.as_ref().map(Tasks::by_sample), self.groups.as_ref().map(Groups::by_sample));
        let named = [self.folds.as_deref(), tasks.as_deref(), groups.as_deref()];
        check(&self.data, &self.target, &self.weights, named)
    }

    /// What is taken of the memory beside the data.
    pub(crate) fn account(&self) -> &Memory {
        &self.account
    }

    /// Bytes that `--memory` leaves beside the data.
    pub(crate) fn left_of_memory(&self) -> u64 {
        self.memory.saturating_sub(self.data.features.bytes())
    }

    /// Trains the SVM on these features.
    ///
    /// # Errors
    /// A class without samples of positive weight, or more memory needed than allowed.
    pub(crate) fn train(
        &self,
        features: &[usize],
        settings: &FitSettings,
        clock: &Clock,
    ) -> Result<TrainedModel, Failure> {
        let model = self.training().train(features, settings, clock).map_err(|error| self.failure(error))?;
        Ok(self.trained(model, &settings.svm))
    }

    /// The classifier that goes with a selection: the method's own, else the SVM trained on the
    /// chosen features ([`Report::fit_settings`]); none when nothing was selected.
    ///
    /// # Errors
    /// As [`PreparedData::train`].
    pub(crate) fn classifier(
        &self,
        report: &Report,
        svm: &SvmSettings,
        (fit_cost, rules): (Option<f64>, &Rules),
        clock: &Clock,
    ) -> Result<Option<TrainedModel>, Failure> {
        let settings = report.fit_settings(svm, fit_cost, rules);
        let model = self.training().classifier(report, &settings, clock).map_err(|error| self.failure(error))?;
        let own = SvmSettings { cost: report.cost.unwrap_or(svm.cost), ..svm.clone() };
        let svm = if report.model.is_some() { &own } else { &settings.svm };
        Ok(model.map(|model| self.trained(model, svm)))
    }

    /// A model with the names and the scaling that belong to it.
    pub(super) fn trained(&self, model: Model, svm: &SvmSettings) -> TrainedModel {
        let model_names: Vec<String> = model.features.iter().map(|&j| self.data.names.get(j).into_owned()).collect();
        TrainedModel {
            levels: levels_of(&self.data.notes, &model_names),
            normalized: self.data.normalized().cloned(),
            reading: self.reading.clone(),
            names: model_names,
            scaling: FeatureScaling::new(&self.learnt.scaling, &model.features),
            imputation: self.learnt.imputation.as_ref().map(|imputation| {
                FeatureImputation::new(imputation, &self.indicators, &self.data.names, &model.features)
            }),
            model,
            classes: self.target.classes.clone(),
            target: self.target.column.clone(),
            n_columns: self.data.names.len(),
            svm: svm.clone(),
            calibration: None,
        }
    }

    /// `-1 = benign, +1 = malignant`, or the names of more classes.
    pub(crate) fn classes_text(&self) -> String {
        let counts = self.target.counts();
        let count = |at: usize| notation::plural(counts[at], "sample");
        let name = |(at, name): (usize, &String)| {
            let sign = match (self.target.classes.len(), at) {
                (2, 0) => "-1 = ",
                (2, _) => "+1 = ",
                _ => "",
            };
            format!("{sign}{name} ({})", count(at))
        };
        self.target.classes.iter().enumerate().map(name).collect::<Vec<_>>().join(", ")
    }
}
