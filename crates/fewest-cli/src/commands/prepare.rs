//! From a data file to what the methods take: read, tell the notes, weigh the samples, scale.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use fewest::model::{self, FitSettings, Model};
use fewest::{Design, FeatureSet, Memory, Report, Reserved, RowMatrix, Rules, Samples, Status, SvmSettings};
use fewest_data::{
    Dataset, Features, Imputation, Indicator, MissingRule, Names, Note, ReadOptions, ScaleReason, Scaling, Target,
};
use fewest_eval::study::ClassWeights;

use super::raw::{Raw, check, feature_imputation};
use super::reading::{apart_names, hint, labelled, read_apart, read_features, sample_weights};
use super::scaled::{rescale, scale_name, scaling_kind, scaling_text};
use super::tasks::Tasks;
use crate::args::data::{DataArgs, PrepareArgs};
use crate::args::features::Features as RuleFeatures;
use crate::args::notation;
use crate::args::svm::ClassWeight;
use crate::export::model_json::{FeatureScaling, TrainedModel, levels_of};
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
    /// Weights of classes.
    pub(crate) class_weights: ClassWeights,
    /// Weight of each sample without that of its class.
    pub(crate) sample_weights: Vec<f64>,
    /// Features with one value only.
    pub(crate) constant: FeatureSet,
    /// Features whose variance, as in the file, is at most the threshold asked for.
    pub(crate) low_variance: FeatureSet,
    /// Features that hold categories, which are not scaled.
    pub(crate) categorical: Vec<usize>,
    /// The features that each text column became.
    texts: Vec<Vec<usize>>,
    /// Samples that are not trained on.
    pub(crate) held_out: Option<HeldOutSamples>,
    /// The name of each sample's fold, where a column of the data says it.
    pub(crate) folds: Option<Vec<String>>,
    /// The tasks of the samples, where a column of the data says them.
    pub(crate) tasks: Option<Tasks>,
    /// What stands in for missing values; none: there are none.
    imputation: Option<Imputation>,
    /// Features that say where another one has no value.
    indicators: Vec<Indicator>,
    /// How all features were scaled.
    scaling: Scaling,
    /// Why so.
    scale_reason: ScaleReason,
    /// Bytes that `--memory` leaves for kernel values.
    kernel_memory: Option<u64>,
    /// Bytes allowed in all.
    memory: u64,
    /// What of them is taken beside the data.
    pub(super) account: Memory,
    /// That of samples which are a copy.
    #[expect(dead_code, reason = "gives the bytes back when the data are dropped")]
    taken: Option<Reserved>,
}

/// What to do with the data besides reading them.
#[derive(Clone, Copy)]
pub(crate) struct Preparation<'a> {
    /// File and how to read it.
    pub(crate) data: &'a DataArgs,
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
    /// Names of the features that hold categories.
    pub(crate) categorical: &'a [String],
    /// Column with the task of each sample.
    pub(crate) tasks: Option<&'a str>,
}

impl Preparation<'_> {
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
    pub(crate) fn load(&self, terminal: Terminal) -> Result<Raw, Failure> {
        let (mut options, rule) = (self.data.read_options()?, self.prepare.missing.rule());
        options.missing = rule.is_some();
        options.apart.extend(self.prepare.sample_weights.clone());
        options.apart.extend(self.folds.into_iter().chain(self.tasks).map(str::to_owned));
        let named = [
            ("column of --tasks", self.tasks),
            ("column of --folds", self.folds),
            ("column of --sample-weights", self.prepare.sample_weights.as_deref()),
        ];
        let mut data = read_apart(&self.data.data, &options, &named, terminal)?;
        hint(&mut data, terminal);
        let target = data.target.take().ok_or_else(|| {
            Failure::Input(format!("{}: there is no target column; name it with --target", data.source))
        })?;
        let weights = sample_weights(&data, self.prepare.sample_weights.as_deref())?;
        let folds = self.folds.map(|name| apart_names(&data, name, "fold")).transpose()?;
        let tasks = self.tasks.map(|name| apart_names(&data, name, "task")).transpose()?;
        let texts = data.text_columns();
        let marked = rule == Some(MissingRule::Indicator);
        let indicators = if marked { data.add_indicators()? } else { Vec::new() };
        let kernel_memory = self.kernel_memory(&data)?;
        let account = Memory::new(options.memory().saturating_sub(data.features.bytes()));
        Ok(Raw { data, target, weights, folds, tasks, texts, indicators, kernel_memory, account, taken: None })
    }

    /// What `--memory` leaves when the data are there.
    fn kernel_memory(&self, data: &Dataset) -> Result<Option<u64>, Failure> {
        let taken = data.features.bytes();
        match self.data.memory {
            Some(allowed) if allowed <= taken => Err(Failure::Input(format!(
                "{}: the data take {}, all that --memory allows; raise --memory",
                data.source,
                notation::bytes(taken)
            ))),
            allowed => Ok(allowed.map(|allowed| allowed - taken)),
        }
    }

    /// All that depends on the samples: class weights, samples held out, what stands in for missing
    /// values, variances, constant features, scaling.
    ///
    /// # Errors
    /// A class weight or a threshold that does not fit.
    pub(crate) fn prepare(&self, raw: Raw, terminal: Terminal) -> Result<PreparedData, Failure> {
        let Raw { mut data, mut target, mut weights, folds, tasks, texts, indicators, kernel_memory, account, taken } =
            raw;
        let folds = folds.filter(|_| self.folds.is_some());
        let tasks = tasks.map(|names| Tasks::new(&names, &target, &data.source)).transpose()?;
        let class_weights = self.class_weight.unwrap_or(&ClassWeight::None).weights(&target)?;
        let by_class = class_weights.of(&target.counts());
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
        let categorical = self.categories(&data.names)?;
        let learn = |rule| Imputation::fit(rule, &data.features, &texts).with_categories(&data.features, &categorical);
        let imputation = self.prepare.missing.rule().map(learn);
        if let Some(imputation) = &imputation {
            imputation.apply(&mut data.features)?;
        }
        let low_variance = self
            .variance_threshold
            .map_or_else(FeatureSet::default, |least| fewest_data::low_variance(&data.features, least));
        let constant = data.features.constant();
        let (kind, scale_reason) = scaling_kind(self.prepare.scale, &data.features);
        let scaling = Scaling::fit(kind, &data.features)?.except(&categorical);
        scaling.apply(&mut data.features)?;
        let prepared = |features| prepared_alike(features, imputation.as_ref(), &scaling);
        let held = held.map(|(features, labels)| Ok::<_, Failure>((prepared(features)?, labels))).transpose()?;
        let held_out = held.map(|(features, labels)| held_out(features, labels)).transpose()?;
        let memory = self.data.read_options()?.memory();
        Ok(PreparedData {
            data,
            target,
            weights,
            class_weights,
            sample_weights,
            constant,
            low_variance,
            categorical,
            texts,
            held_out,
            folds,
            tasks,
            imputation,
            indicators,
            scaling,
            scale_reason,
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
        let options = self.data.read_options()?;
        let options = ReadOptions {
            target: options.target.or_else(|| Some(target.column.clone())),
            target_optional: true,
            apart: Vec::new(),
            format: None,
            missing: self.prepare.missing.rule().is_some(),
            ..options
        };
        let names: Vec<String> = data.names.iter().map(Cow::into_owned).collect();
        labelled(read_features(path, &names, indicators, options, terminal)?, target)
    }
}

/// Samples held out, prepared as those that are trained on.
fn held_out(features: Features, labels: Vec<f64>) -> Result<HeldOutSamples, Failure> {
    if labels.is_empty() {
        return Err(Failure::input("--validate holds out no sample; raise the fraction, or name a file with samples"));
    }
    let design: Arc<dyn Design> = match features {
        Features::Dense(design) => Arc::new(design),
        Features::Sparse(design) => Arc::new(design),
        Features::Mapped(design) => Arc::new(design),
    };
    Ok(HeldOutSamples { design, labels })
}

/// Fills in and scales features by what was learnt from others.
fn prepared_alike(
    mut features: Features,
    imputation: Option<&Imputation>,
    scaling: &Scaling,
) -> Result<Features, Failure> {
    if let Some(imputation) = imputation {
        imputation.apply(&mut features)?;
    }
    rescale(scaling, &mut features)?;
    Ok(features)
}

/// The names as the rules want them for messages: listed, or empty for x1, x2, ...
pub(crate) fn listed(names: &Names) -> &[String] {
    match names {
        Names::Listed(names) => names,
        Names::Numbered(_) => &[],
    }
}

impl PreparedData {
    /// `standard`, `maxabs` or `none`.
    pub(crate) fn scale_name(&self) -> &'static str {
        scale_name(self.scaling.kind)
    }

    /// The scaling in words.
    pub(crate) fn scaling_text(&self) -> String {
        scaling_text(self.scaling.kind, self.scale_reason)
    }

    /// Why features are scaled so.
    pub(crate) fn scale_reason(&self) -> &'static str {
        self.scale_reason.text()
    }

    /// How missing values were filled in; nothing where there are none.
    pub(crate) fn missing_text(&self) -> Option<String> {
        let told = |note: &Note| match note {
            Note::Missing { values, columns, .. } => Some((*values, *columns)),
            _ => None,
        };
        let (values, columns) = self.data.notes.iter().find_map(told)?;
        let (values, columns) = (notation::plural(values, "value"), notation::plural(columns, "column"));
        let rule = self.imputation.as_ref()?.rule.name();
        Some(format!("{values} in {columns}, filled in by --missing {rule}"))
    }

    /// What the settings of a method are made of.
    pub(crate) fn method_data(&self) -> MethodData<'_> {
        MethodData {
            source: &self.data.source,
            names: &self.data.names,
            target: &self.target,
            class_weights: &self.class_weights,
            sample_weights: &self.sample_weights,
            folds: self.folds.as_deref(),
            held_out: self.held_out.as_ref(),
            categorical: &self.categorical,
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
        Ok(match &self.tasks {
            None => samples,
            Some(tasks) => samples.with_tasks(&tasks.codes)?,
        })
    }

    /// The features by name, text columns among them.
    pub(crate) fn features(&self) -> RuleFeatures<'_> {
        RuleFeatures::new(&self.data.names).with_variables(&self.texts, &[&self.constant, &self.low_variance])
    }

    /// Refuses more classes than two for `who`, which needs two.
    ///
    /// # Errors
    /// The classes there are.
    pub(crate) fn needs_two_classes(&self, who: &str) -> Result<(), Failure> {
        let target = &self.target;
        if target.classes.len() == 2 {
            return Ok(());
        }
        Err(Failure::Input(format!(
            "{}: {who} needs two classes, but `{}` has {} ({}); keep two of them with --classes, or use a method for more: exact, gbd, fgm, rfe, kta or info-gain",
            self.data.source,
            target.column,
            target.classes.len(),
            notation::some(&target.classes)
        )))
    }

    /// A number that changes with any value, class, weight or fold.
    pub(crate) fn check(&self) -> u64 {
        let tasks = self.tasks.as_ref().map(Tasks::by_sample);
        check(&self.data, &self.target, &self.weights, [self.folds.as_deref(), tasks.as_deref()])
    }

    /// What is taken of the memory beside the data.
    pub(crate) fn account(&self) -> &Memory {
        &self.account
    }

    /// Bytes that `--memory` leaves beside the data.
    pub(crate) fn left_of_memory(&self) -> u64 {
        self.memory.saturating_sub(self.data.features.bytes())
    }

    /// Other samples of the same features, as read, prepared as these.
    ///
    /// # Errors
    /// Another number of features.
    pub(crate) fn prepared_alike(&self, features: Features) -> Result<Features, Failure> {
        prepared_alike(features, self.imputation.as_ref(), &self.scaling)
    }

    /// Trains the SVM on these features.
    ///
    /// # Errors
    /// A class without samples of positive weight, or more memory needed than allowed.
    pub(crate) fn train(
        &self,
        features: &[usize],
        settings: &FitSettings,
        stop: &mut dyn FnMut() -> Option<Status>,
    ) -> Result<TrainedModel, Failure> {
        let (design, codes) = (self.data.features.as_design(), &self.target.codes);
        let what = || format!("training on {} samples and {} features", self.weights.len(), features.len());
        let _rows = self.account.reserve(RowMatrix::bytes(design, features.len()), what, "use fewer features")?;
        let model = model::fit(design, features, codes, &self.weights, settings, stop)?;
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
        stop: &mut dyn FnMut() -> Option<Status>,
    ) -> Result<Option<TrainedModel>, Failure> {
        if let Some(model) = &report.model {
            let cost = report.cost.unwrap_or(svm.cost);
            return Ok(Some(self.trained(model.clone(), &SvmSettings { cost, ..svm.clone() })));
        }
        match report.selection.outcome.subset.as_ref().filter(|subset| !subset.is_empty()) {
            None => Ok(None),
            Some(subset) => {
                let features: Vec<usize> = subset.iter().collect();
                self.train(&features, &report.fit_settings(svm, fit_cost, rules), stop).map(Some)
            }
        }
    }

    /// A model with the names and the scaling that belong to it.
    pub(super) fn trained(&self, model: Model, svm: &SvmSettings) -> TrainedModel {
        let model_names: Vec<String> = model.features.iter().map(|&j| self.data.names.get(j).into_owned()).collect();
        TrainedModel {
            levels: levels_of(&self.data, &model_names),
            names: model_names,
            scaling: self.scaling_of(&model.features),
            imputation: self
                .imputation
                .as_ref()
                .map(|imputation| feature_imputation(imputation, &self.indicators, &self.data.names, &model.features)),
            model,
            classes: self.target.classes.clone(),
            target: self.target.column.clone(),
            n_columns: self.data.names.len(),
            svm: svm.clone(),
            calibration: None,
        }
    }

    /// The scaling of the chosen features, in their order.
    fn scaling_of(&self, features: &[usize]) -> FeatureScaling {
        FeatureScaling {
            kind: self.scale_name().to_owned(),
            centre: features.iter().map(|&j| self.scaling.center.get(j).copied().unwrap_or(0.0)).collect(),
            scale: features.iter().map(|&j| self.scaling.scale.get(j).copied().unwrap_or(1.0)).collect(),
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
