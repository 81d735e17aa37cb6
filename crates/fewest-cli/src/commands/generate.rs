//! `fewest generate`: synthetic data sets with a known truth, written in any data format.

use std::path::{Path, PathBuf};

use fewest_data::generate::{
    self, Coefficients, Composite, CompositeSettings, Correlated, CorrelatedSettings, Generator, Hyperplane,
    HyperplaneSettings, Ndcc, NdccSettings, Points, SampleSet, Text, TextSettings,
};
use fewest_data::{Dataset, Format, Names, Target};
use fewest_result::SCHEMA;
use serde_json::{Map, Value, json};

use super::reading;
use crate::args::generate::{
    CoefficientsArg, CompositeArgs, CorrelatedArgs, GenerateArgs, HyperplaneArgs, Kind, NdccArgs, PointsArg, SetArgs,
    TextArgs,
};
use crate::args::{data, notation};
use crate::export::file::Sink;
use crate::export::json as json_text;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &GenerateArgs, terminal: Terminal) -> Result<u8, Failure> {
    match &args.kind {
        Kind::Hyperplane(args) => {
            let outputs = Outputs::open(&args.sets, args.features, None)?;
            let settings = hyperplane(args);
            let own = hyperplane_settings(&settings);
            outputs.write("hyperplane", &Hyperplane::new(settings)?, own, terminal)?;
        }
        Kind::Composite(args) => {
            let outputs = Outputs::open(&args.sets, args.noise.saturating_add(3), None)?;
            let settings = composite(args);
            let own = composite_settings(&settings);
            outputs.write("composite", &Composite::new(settings)?, own, terminal)?;
        }
        Kind::Correlated(args) => {
            let outputs = Outputs::open(&args.sets, args.features, None)?;
            let settings = correlated(args);
            let own = correlated_settings(&settings);
            outputs.write("correlated", &Correlated::new(settings)?, own, terminal)?;
        }
        Kind::Ndcc(args) => {
            let outputs = Outputs::open(&args.sets, args.features, None)?;
            let settings = ndcc(args);
            let own = ndcc_settings(&settings);
            outputs.write("ndcc", &Ndcc::new(settings)?, own, terminal)?;
        }
        Kind::Text(args) => {
            let outputs = Outputs::open(&args.sets, args.words, Some(args.length as u64))?;
            let settings = text(args);
            let own = text_settings(&settings);
            outputs.write("text", &Text::new(settings)?, own, terminal)?;
        }
    }
    Ok(0)
}

fn hyperplane(args: &HyperplaneArgs) -> HyperplaneSettings {
    HyperplaneSettings {
        features: args.features,
        relevant: args.relevant,
        points: match args.points {
            PointsArg::Ball => Points::Ball,
            PointsArg::Normal => Points::Normal,
        },
        coefficients: match args.coefficients {
            CoefficientsArg::Normal => Coefficients::Normal,
            CoefficientsArg::Signs => Coefficients::Signs,
        },
        noise_sd: args.noise_sd,
        seed: args.sets.seed,
    }
}

/// The settings of the kind, as they are typed.
fn hyperplane_settings(settings: &HyperplaneSettings) -> Map<String, Value> {
    let points = match settings.points {
        Points::Ball => "ball",
        Points::Normal => "normal",
    };
    let coefficients = match settings.coefficients {
        Coefficients::Normal => "normal",
        Coefficients::Signs => "signs",
    };
    let entries = [
        ("features", json!(settings.features)),
        ("relevant", json!(settings.relevant)),
        ("points", json!(points)),
        ("coefficients", json!(coefficients)),
        ("noise_sd", json!(settings.noise_sd)),
    ];
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn composite(args: &CompositeArgs) -> CompositeSettings {
    let CompositeArgs { noise, pair_shift, correlation, single_shift, ref sets } = *args;
    CompositeSettings { noise, pair_shift, correlation, single_shift, seed: sets.seed }
}

fn composite_settings(settings: &CompositeSettings) -> Map<String, Value> {
    let entries = [
        ("noise", json!(settings.noise)),
        ("pair_shift", json!(settings.pair_shift)),
        ("correlation", json!(settings.correlation)),
        ("single_shift", json!(settings.single_shift)),
    ];
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn correlated(args: &CorrelatedArgs) -> CorrelatedSettings {
    let CorrelatedArgs { features, relevant, correlation, snr, ref sets } = *args;
    CorrelatedSettings { features, relevant, correlation, snr, seed: sets.seed }
}

fn correlated_settings(settings: &CorrelatedSettings) -> Map<String, Value> {
    // JSON knows no infinity.
    let snr = if settings.snr.is_finite() { json!(settings.snr) } else { json!("inf") };
    let entries = [
        ("features", json!(settings.features)),
        ("relevant", json!(settings.relevant)),
        ("correlation", json!(settings.correlation)),
        ("snr", snr),
    ];
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn ndcc(args: &NdccArgs) -> NdccSettings {
    let NdccArgs { features, relevant, expansion, ref sets } = *args;
    NdccSettings { features, relevant, expansion, seed: sets.seed }
}

fn ndcc_settings(settings: &NdccSettings) -> Map<String, Value> {
    let entries = [
        ("features", json!(settings.features)),
        ("relevant", json!(settings.relevant)),
        ("expansion", json!(settings.expansion)),
    ];
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn text(args: &TextArgs) -> TextSettings {
    let base = TextSettings::new(args.words);
    TextSettings {
        length: args.length,
        relevant: args.relevant.unwrap_or(base.relevant),
        topical: args.topical.unwrap_or(base.topical.min(args.length)),
        leak: args.leak,
        exponent: args.exponent,
        seed: args.sets.seed,
        ..base
    }
}

fn text_settings(settings: &TextSettings) -> Map<String, Value> {
    let entries = [
        ("words", json!(settings.words)),
        ("length", json!(settings.length)),
        ("relevant", json!(settings.relevant)),
        ("topical", json!(settings.topical)),
        ("leak", json!(settings.leak)),
        ("exponent", json!(settings.exponent)),
    ];
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// One data file to come.
struct Set<'a> {
    part: SampleSet,
    samples: usize,
    path: &'a str,
    format: Format,
}

/// All files to come, found writable.
struct Outputs<'a> {
    sets: Vec<Set<'a>>,
    truth: Option<Sink>,
    features: usize,
    memory: Option<u64>,
    seed: u64,
}

/// What is known of a set before anything is written.
enum Drawn {
    Whole(Box<Dataset>),
    /// Classes whose features are drawn while they are written.
    Classes(Target),
}

impl<'a> Outputs<'a> {
    /// Checks every path, and the memory that all sets need together, before anything is
    /// drawn. `stored` is how many values a sample of sparse data has at most.
    fn open(args: &'a SetArgs, features: usize, stored: Option<u64>) -> Result<Self, Failure> {
        let files = [
            ("--out", SampleSet::Training, Some(&args.out), "--samples", None),
            (
                "--validation",
                SampleSet::Validation,
                args.validation.as_ref(),
                "--validation-samples",
                args.validation_samples,
            ),
            ("--test", SampleSet::Test, args.test.as_ref(), "--test-samples", args.test_samples),
        ];
        let mut taken = Vec::new();
        let mut sets = Vec::new();
        for (option, part, path, size_option, samples) in files {
            let Some(path) = path else { continue };
            let samples = samples.unwrap_or(args.samples);
            if samples < 2 {
                return Err(Failure::Input(format!(
                    "{size_option} is {samples}, but must be at least 2, for one sample of each class"
                )));
            }
            let text = data::path_text(path)?;
            let format = data::out_format(text, args.out_format)?;
            claim(&mut taken, option, path)?;
            Sink::open(option, path)?;
            sets.push(Set { part, samples, path: text, format });
        }
        if let Some(path) = &args.truth {
            claim(&mut taken, "--truth", path)?;
        }
        let truth = Sink::open_if("--truth", args.truth.as_ref())?;
        let memory = args.memory.as_deref().map(notation::size).transpose();
        let memory = memory.map_err(|why| Failure::Input(format!("--memory: {why}")))?;
        // Sparse data go into column files a part at a time.
        let held = sets.iter().filter(|set| stored.is_none() || set.format != Format::Csc);
        let samples = held.fold(0u64, |sum, set| sum.saturating_add(set.samples as u64));
        generate::check_memory(sets[0].path, samples, features as u64, stored, memory)?;
        Ok(Self { sets, truth, features, memory, seed: args.seed })
    }

    /// Draws all sets, and writes them when all are fit to be written.
    fn write(
        &self,
        name: &str,
        generator: &dyn Generator,
        mut settings: Map<String, Value>,
        terminal: Terminal,
    ) -> Result<(), Failure> {
        let mut drawn = Vec::new();
        for set in &self.sets {
            settings.insert(format!("{}_samples", set.part.name()), json!(set.samples));
            let alone = if set.format == Format::Csc { generator.classes(set.part, set.samples)? } else { None };
            drawn.push(match alone {
                Some(target) => Drawn::Classes(target),
                None => Drawn::Whole(Box::new(generator.draw(set.part, set.samples)?)),
            });
        }
        for (set, drawn) in self.sets.iter().zip(&drawn) {
            let target = match drawn {
                Drawn::Classes(target) => {
                    generator.write_columns(set.part, target, set.path, self.memory)?;
                    Some(target)
                }
                Drawn::Whole(data) => {
                    for note in fewest_data::write_as(set.path, data, set.format)? {
                        reading::tell(&note, terminal);
                    }
                    data.target.as_ref()
                }
            };
            let counts = target.map(Target::counts).unwrap_or_default();
            terminal.detail(&format!(
                "wrote {} samples of the {} set to {} ({}), {} of class -1 and {} of class 1",
                set.samples,
                set.part.name(),
                set.path,
                set.format.name(),
                counts[0],
                counts[1]
            ));
        }
        if let Some(sink) = &self.truth {
            sink.write(&json_text::text(&self.truth_value(name, generator, &settings)), terminal)?;
        }
        Ok(())
    }

    fn truth_value(&self, name: &str, generator: &dyn Generator, settings: &Map<String, Value>) -> Value {
        let names = Names::Numbered(self.features);
        let support = generator.support();
        let named: Vec<String> = support.iter().map(|&j| names.get(j).into_owned()).collect();
        let weights = generator.weights().map(|weights| {
            Value::Object(named.iter().cloned().zip(support.iter().map(|&j| json!(weights[j]))).collect())
        });
        json!({
            "schema": SCHEMA,
            "kind": "truth",
            "generator": name,
            "seed": self.seed,
            "settings": settings,
            "n_features": names.len(),
            "support": named,
            "support_indices": support,
            "weights": weights,
            "intercept": weights.is_some().then_some(0.0),
            "version": env!("CARGO_PKG_VERSION"),
        })
    }
}

/// Refuses a path that another output has already.
fn claim<'a>(taken: &mut Vec<(&'a str, PathBuf)>, option: &'a str, path: &Path) -> Result<(), Failure> {
    let full = if path.as_os_str() == "-" { path.to_owned() } else { std::path::absolute(path).unwrap_or(path.into()) };
    if let Some((other, _)) = taken.iter().find(|(_, t)| *t == full) {
        return Err(Failure::Input(format!(
            "{other} and {option} are both {}, but each needs a file of its own; name another one",
            path.display()
        )));
    }
    taken.push((option, full));
    Ok(())
}
