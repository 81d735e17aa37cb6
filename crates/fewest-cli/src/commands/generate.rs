//! `fewest generate`: synthetic data sets with a known truth, written in any data format.

use std::path::{Path, PathBuf};

use fewest_data::generate::{
    self, Coefficients, CompositeSettings, CorrelatedSettings, Generator, GeneratorSettings, HyperplaneSettings,
    NdccSettings, Points, SampleSet, TextSettings,
};
use fewest_data::{Dataset, Format, Names, Target};
use fewest_result::{ByName, Document, entries};
use serde::Serialize;
use serde_json::{Map, Value};

use super::reading;
use crate::args::generate::{
    CoefficientsArg, CompositeArgs, CorrelatedArgs, GenerateArgs, HyperplaneArgs, Kind, NdccArgs, PointsArg, SetArgs,
};
use crate::args::{data, notation};
use crate::export::file::Sink;
use crate::export::json as json_text;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &GenerateArgs, terminal: Terminal) -> Result<u8, Failure> {
    let (settings, sets) = settings(&args.kind);
    let outputs = Outputs::open(sets, settings.features(), settings.stored())?;
    let mut own = entries(&settings);
    own.remove("seed");
    let name = own.remove("kind").and_then(|kind| kind.as_str().map(str::to_owned)).unwrap_or_default();
    outputs.write(&name, &*settings.generator()?, own, terminal)?;
    Ok(0)
}

/// The settings as typed, and the files to write.
fn settings(kind: &Kind) -> (GeneratorSettings, &SetArgs) {
    match kind {
        Kind::Hyperplane(HyperplaneArgs { features, relevant, points, coefficients, noise_sd, sets }) => {
            let points = match points {
                PointsArg::Ball => Points::Ball,
                PointsArg::Normal => Points::Normal,
            };
            let coefficients = match coefficients {
                CoefficientsArg::Normal => Coefficients::Normal,
                CoefficientsArg::Signs => Coefficients::Signs,
            };
            let (features, relevant, noise_sd, seed) = (*features, *relevant, *noise_sd, sets.seed);
            let settings = HyperplaneSettings { features, relevant, points, coefficients, noise_sd, seed };
            (GeneratorSettings::Hyperplane(settings), sets)
        }
        Kind::Composite(CompositeArgs { noise, pair_shift, correlation, single_shift, sets }) => {
            let (noise, pair_shift, correlation, single_shift) = (*noise, *pair_shift, *correlation, *single_shift);
            let settings = CompositeSettings { noise, pair_shift, correlation, single_shift, seed: sets.seed };
            (GeneratorSettings::Composite(settings), sets)
        }
        Kind::Correlated(CorrelatedArgs { features, relevant, correlation, snr, sets }) => {
            let (features, relevant, correlation, snr) = (*features, *relevant, *correlation, *snr);
            let settings = CorrelatedSettings { features, relevant, correlation, snr, seed: sets.seed };
            (GeneratorSettings::Correlated(settings), sets)
        }
        Kind::Ndcc(NdccArgs { features, relevant, expansion, sets }) => {
            let (features, relevant, expansion) = (*features, *relevant, *expansion);
            (GeneratorSettings::Ndcc(NdccSettings { features, relevant, expansion, seed: sets.seed }), sets)
        }
        Kind::Text(args) => {
            let base = TextSettings::new(args.words);
            let settings = TextSettings {
                length: args.length,
                relevant: args.relevant.unwrap_or(base.relevant),
                topical: args.topical.unwrap_or(base.topical.min(args.length)),
                leak: args.leak,
                exponent: args.exponent,
                seed: args.sets.seed,
                ..base
            };
            (GeneratorSettings::Text(settings), &args.sets)
        }
    }
}

/// What is true of generated data.
#[derive(Serialize)]
struct Truth<'a> {
    generator: &'a str,
    seed: u64,
    settings: &'a Map<String, Value>,
    n_features: usize,
    support: &'a [String],
    support_indices: &'a [usize],
    weights: Option<ByName<f64>>,
    intercept: Option<f64>,
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
            settings.insert(format!("{}_samples", set.part.name()), set.samples.into());
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
        let weights =
            generator.weights().map(|weights| ByName::new(named.iter().cloned(), support.iter().map(|&j| weights[j])));
        let truth = Truth {
            generator: name,
            seed: self.seed,
            settings,
            n_features: names.len(),
            support: &named,
            support_indices: &support,
            intercept: weights.is_some().then_some(0.0),
            weights,
        };
        Document::new(fewest_result::Kind::Truth, truth).value()
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
