//! From a data file to what the methods take: read, tell the notes, weigh the samples, scale.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use fewest::model::{self, FitSettings, Model};
use fewest::{DenseDesign, Design, Samples, Status, SvmSettings};
use fewest_data::{Dataset, Features, Names, Note, ReadOptions, ScaleKind, Scaling, Target, TargetRule};

use crate::args::data::{DataArgs, PrepareArgs, ScaleArg, path_text};
use crate::args::notation;
use crate::args::svm::ClassWeight;
use crate::export::model_json::{FeatureScaling, TrainedModel};
use crate::failure::Failure;
use crate::method_args::{HeldOutSamples, MethodData, Validate};
use crate::resume::fingerprint;
use crate::terminal::Terminal;

/// Features that the data rule out, by name; more are counted.
pub(crate) const FEW: usize = 5;

/// Data ready for a method.
pub(crate) struct PreparedData {
    /// Features (scaled), names, notes.
    pub(crate) data: Dataset,
    /// Classes.
    pub(crate) target: Target,
    /// Cost multiplier of each sample: sample weight times class weight.
    pub(crate) weights: Vec<f64>,
    /// Features with one value only.
    pub(crate) constant: Vec<usize>,
    /// Features whose variance, as in the file, is at most the threshold asked for.
    pub(crate) low_variance: Vec<usize>,
    /// Samples that are not trained on.
    pub(crate) held_out: Option<HeldOutSamples>,
    /// The name of each sample's fold, where a column of the data says it.
    pub(crate) folds: Option<Vec<String>>,
    /// How all features were scaled.
    scaling: Scaling,
    /// Bytes that `--memory` leaves for kernel values.
    kernel_memory: Option<u64>,
    /// Bytes allowed in all.
    memory: u64,
}

/// Data as read.
pub(crate) struct Raw {
    /// Features as in the file, names.
    pub(crate) data: Dataset,
    /// Classes.
    pub(crate) target: Target,
    /// Weight of each sample.
    weights: Vec<f64>,
    /// The name of each sample's fold, where a column of the data says it.
    pub(crate) folds: Option<Vec<String>>,
    /// Bytes that `--memory` leaves for kernel values.
    kernel_memory: Option<u64>,
}

impl Raw {
    /// These samples alone, ascending; all classes keep their names.
    pub(crate) fn rows(&self, rows: &[usize]) -> Self {
        let features = self.data.features.rows(rows);
        let data = Dataset {
            features,
            names: self.data.names.clone(),
            target: None,
            apart: Vec::new(),
            notes: Vec::new(),
            source: self.data.source.clone(),
            format: self.data.format,
        };
        let weights = rows.iter().map(|&i| self.weights[i]).collect();
        let folds = self.folds.as_ref().map(|folds| rows.iter().map(|&i| folds[i].clone()).collect());
        Self { data, target: self.target.rows(rows), weights, folds, kernel_memory: self.kernel_memory }
    }

    /// A number that changes with any value, class, weight or fold.
    pub(crate) fn check(&self) -> u64 {
        check(&self.data, &self.target, &self.weights, self.folds.as_deref())
    }
}

/// [`fingerprint`] of values, classes, weights and folds.
fn check(data: &Dataset, target: &Target, weights: &[f64], folds: Option<&[String]>) -> u64 {
    let classes = target.codes.iter().map(|&code| u64::from(code));
    let names = folds.into_iter().flatten().flat_map(|fold| fold.bytes()).map(u64::from);
    let words = classes.chain(weights.iter().map(|weight| weight.to_bits())).chain(names);
    fingerprint(data.features.as_design(), words)
}

/// What to do with the data besides reading them.
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
}

/// Reads the file and tells its notes.
///
/// # Errors
/// Whatever is wrong with the file.
pub(crate) fn read(path: &Path, options: &ReadOptions, terminal: Terminal) -> Result<Dataset, Failure> {
    let data = fewest_data::read(path_text(path)?, options)?;
    for note in &data.notes {
        tell(note, terminal);
    }
    Ok(data)
}

/// The notes that [`tell`] says to everyone, for the `warnings` of a result.
pub(crate) fn warnings(data: &Dataset) -> Vec<String> {
    let told = |note: &&Note| {
        !matches!(note, Note::TargetColumn { rule: TargetRule::Asked | TargetRule::UsualName | TargetRule::Format, .. })
    };
    data.notes.iter().filter(told).map(words).collect()
}

/// A note in words, with a few of the names only.
fn words(note: &Note) -> String {
    let Note::Constant { count, names, .. } = note else { return note.to_string() };
    let shown = names.iter().take(FEW).cloned().collect::<Vec<_>>().join(", ");
    let more = if *count > FEW { format!(", ... ({count} in all)") } else { String::new() };
    format!("{count} feature(s) have one value only and are never selected: {shown}{more}")
}

/// A note, as loud as it deserves.
pub(crate) fn tell(note: &Note, terminal: Terminal) {
    match note {
        Note::Constant { .. } | Note::Unseen { .. } => terminal.warn(&words(note)),
        Note::TargetColumn { rule: TargetRule::Asked | TargetRule::UsualName | TargetRule::Format, .. } => {
            terminal.detail(&note.to_string());
        }
        other => terminal.note(&other.to_string()),
    }
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
        let mut options = self.data.read_options()?;
        options.apart.extend(self.prepare.sample_weights.clone());
        options.apart.extend(self.folds.map(str::to_owned));
        let mut data = read(&self.data.data, &options, terminal)?;
        let target = data.target.take().ok_or_else(|| {
            Failure::Input(format!("{}: there is no target column; name it with --target", data.source))
        })?;
        let weights = sample_weights(&data, self.prepare.sample_weights.as_deref())?;
        let folds = self.folds.map(|name| fold_names(&data, name)).transpose()?;
        let kernel_memory = self.kernel_memory(&data)?;
        Ok(Raw { data, target, weights, folds, kernel_memory })
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

    /// All that depends on the samples: class weights, samples held out, variances, constant
    /// features, scaling.
    ///
    /// # Errors
    /// A class weight or a threshold that does not fit.
    pub(crate) fn prepare(&self, raw: Raw, terminal: Terminal) -> Result<PreparedData, Failure> {
        let Raw { mut data, mut target, mut weights, folds, kernel_memory } = raw;
        let folds = folds.filter(|_| self.folds.is_some());
        let by_class = self.class_weight.unwrap_or(&ClassWeight::None).resolve(&target)?;
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
                Some(out)
            }
            Some((Validate::File(path), _)) => {
                Some(validation_file(path, &data, &target, self.data.read_options()?, terminal)?)
            }
        };
        let low_variance =
            self.variance_threshold.map_or_else(Vec::new, |least| fewest_data::low_variance(&data.features, least));
        let constant = data.features.constant();
        let kind = scaling_kind(self.prepare.scale, data.features.as_design().is_sparse());
        let scaling = Scaling::fit(kind, &data.features)?;
        scaling.apply(&mut data.features)?;
        let held_out = held.map(|(features, labels)| held_out(features, labels, &scaling)).transpose()?;
        let memory = self.data.read_options()?.memory();
        Ok(PreparedData {
            data,
            target,
            weights,
            constant,
            low_variance,
            held_out,
            folds,
            scaling,
            kernel_memory,
            memory,
        })
    }
}

/// Features in the order of `data`, and labels, of another file.
fn validation_file(
    path: &Path,
    data: &Dataset,
    target: &Target,
    options: ReadOptions,
    terminal: Terminal,
) -> Result<(Features, Vec<f64>), Failure> {
    let options = ReadOptions {
        features: Some(data.names.iter().map(Cow::into_owned).collect()),
        target: options.target.or_else(|| Some(target.column.clone())),
        target_optional: true,
        apart: Vec::new(),
        format: None,
        ..options
    };
    let other = read(path, &options, terminal)?;
    let Some(found) = &other.target else {
        return Err(Failure::Input(format!(
            "{}: there is no target column `{}`; a file for --validate needs the class of each sample",
            other.source, target.column
        )));
    };
    if let Some(class) = found.classes.iter().find(|class| !target.classes.contains(class)) {
        return Err(Failure::Input(format!(
            "{}: `{}` has the class {class}, but the data have {}; leave those samples out",
            other.source,
            found.column,
            notation::some(&target.classes)
        )));
    }
    let codes = found.codes_in(&target.classes).into_iter().flatten().collect();
    Ok((other.features, Target { codes, ..target.clone() }.signs()))
}

/// Samples held out, scaled as those that are trained on.
fn held_out(mut features: Features, labels: Vec<f64>, scaling: &Scaling) -> Result<HeldOutSamples, Failure> {
    if labels.is_empty() {
        return Err(Failure::input("--validate holds out no sample; raise the fraction, or name a file with samples"));
    }
    rescale(scaling, &mut features)?;
    let design: Arc<dyn Design> = match features {
        Features::Dense(design) => Arc::new(design),
        Features::Sparse(design) => Arc::new(design),
        Features::Mapped(design) => Arc::new(design),
    };
    Ok(HeldOutSamples { design, labels })
}

/// Scales features by what was fitted on others. Centring fills sparse data in: they hold few
/// features then.
///
/// # Errors
/// Another number of features.
pub(crate) fn rescale(scaling: &Scaling, features: &mut Features) -> Result<(), Failure> {
    let design = features.as_design();
    if scaling.kind == ScaleKind::Standard && design.is_sparse() {
        let (n, p) = (design.n_samples(), design.n_features());
        let mut values = vec![0.0; n * p];
        for j in 0..p {
            design.each_in_column(j, &mut |i, x| values[j * n + i] = x);
        }
        *features = Features::Dense(DenseDesign::new(n, p, values)?);
    }
    Ok(scaling.apply(features)?)
}

/// The scaling asked for, or the default for the kind of data.
pub(crate) fn scaling_kind(asked: Option<ScaleArg>, sparse: bool) -> ScaleKind {
    match asked {
        Some(ScaleArg::Maxabs) => ScaleKind::MaxAbs,
        Some(ScaleArg::None) => ScaleKind::None,
        None if sparse => ScaleKind::MaxAbs,
        Some(ScaleArg::Standard) | None => ScaleKind::Standard,
    }
}

/// The weight of each sample from the column set apart, 1 without one.
fn sample_weights(data: &Dataset, name: Option<&str>) -> Result<Vec<f64>, Failure> {
    let column = name.and_then(|name| data.apart.iter().find(|column| column.name == name));
    let Some(column) = column else { return Ok(vec![1.0; data.features.n_samples()]) };
    let weight = |(row, cell): (usize, &String)| match cell.trim().parse::<f64>() {
        Ok(weight) if weight >= 0.0 && weight.is_finite() => Ok(weight),
        _ => Err(Failure::Input(format!(
            "{}, data row {}, column `{}`: the sample weight is `{cell}`, but must be a finite number, 0 or more",
            data.source,
            row + 1,
            column.name
        ))),
    };
    column.values.iter().enumerate().map(weight).collect()
}

/// The name of each sample's fold.
fn fold_names(data: &Dataset, name: &str) -> Result<Vec<String>, Failure> {
    let column = data.apart.iter().find(|column| column.name == name).expect("it was asked for, and read");
    match column.values.iter().position(|cell| cell.trim().is_empty()) {
        Some(row) => Err(Failure::Input(format!(
            "{}, data row {}, column `{name}`: the cell is blank, but must name the sample's fold",
            data.source,
            row + 1
        ))),
        None => Ok(column.values.clone()),
    }
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

    /// What the settings of a method are made of.
    pub(crate) fn method_data(&self) -> MethodData<'_> {
        MethodData {
            source: &self.data.source,
            names: &self.data.names,
            target: &self.target,
            folds: self.folds.as_deref(),
            held_out: self.held_out.as_ref(),
            kernel_memory: self.kernel_memory,
            memory: self.memory,
        }
    }

    /// The samples as the methods take them.
    ///
    /// # Errors
    /// A class whose samples all have weight 0.
    pub(crate) fn samples(&self) -> Result<Samples<'_>, Failure> {
        Ok(Samples::new(self.data.features.as_design(), &self.target.codes, Some(&self.weights))?)
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
            "{}: {who} needs two classes, but `{}` has {} ({}); keep two of them, or use --method rfe, kta or info-gain{}",
            self.data.source,
            target.column,
            target.classes.len(),
            notation::some(&target.classes),
            if who == "--certify" { " without it" } else { "" }
        )))
    }

    /// A number that changes with any value, class, weight or fold.
    pub(crate) fn check(&self) -> u64 {
        check(&self.data, &self.target, &self.weights, self.folds.as_deref())
    }

    /// Other samples of the same features, as read, scaled as these.
    ///
    /// # Errors
    /// Another number of features.
    pub(crate) fn scaled(&self, mut features: Features) -> Result<Features, Failure> {
        rescale(&self.scaling, &mut features)?;
        Ok(features)
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
        let model = model::fit(design, features, codes, &self.weights, settings, stop)?;
        Ok(self.trained(model, &settings.svm))
    }

    /// A model with the names and the scaling that belong to it.
    pub(crate) fn trained(&self, model: Model, svm: &SvmSettings) -> TrainedModel {
        TrainedModel {
            names: model.features.iter().map(|&j| self.data.names.get(j).into_owned()).collect(),
            scaling: self.scaling_of(&model.features),
            model,
            classes: self.target.classes.clone(),
            target: self.target.column.clone(),
            n_columns: self.data.names.len(),
            svm: svm.clone(),
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

/// The name of a scaling in options and results.
pub(crate) fn scale_name(kind: ScaleKind) -> &'static str {
    match kind {
        ScaleKind::Standard => "standard",
        ScaleKind::MaxAbs => "maxabs",
        ScaleKind::None => "none",
    }
}
