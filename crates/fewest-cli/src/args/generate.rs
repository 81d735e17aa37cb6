//! `fewest generate` as typed: one subcommand per kind, the same outputs for all.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use fewest_data::Format;

/// Examples shown under `fewest generate hyperplane --help`.
const HYPERPLANE_EXAMPLES: &str = "\
Examples:
  fewest generate hyperplane --samples 500 --features 20 --relevant 5 --out train.csv \\
      --validation validation.csv --test test.csv --truth truth.json
  fewest generate hyperplane --samples 1000 --features 10000 --relevant 10 --points normal --coefficients signs \\
      --noise-sd 0.5 --seed 3 --out train.npz";

/// Shown under `fewest generate composite --help`.
const COMPOSITE_EXAMPLE: &str = "\
Example:
  fewest generate composite --samples 500 --noise 10000 --seed 3 --out train.npz --test test.npz";

/// Shown under `fewest generate correlated --help`.
const CORRELATED_EXAMPLE: &str = "\
Example:
  fewest generate correlated --samples 500 --features 500 --relevant 10 --seed 1 --out train.csv --truth truth.json";

/// Shown under `fewest generate text --help`.
const TEXT_EXAMPLE: &str = "\
Example:
  fewest generate text --samples 10000 --words 1355191 --out train.npz --test test.npz --truth truth.json";

/// Shown under `fewest generate ndcc --help`.
const NDCC_EXAMPLE: &str = "\
Example:
  fewest generate ndcc --samples 100 --features 20 --relevant 3 --expansion 25 --seed 1 --out train.csv \\
      --test test.csv --test-samples 5000 --truth truth.json";

/// `fewest generate`.
#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    /// Kind of data.
    #[command(subcommand)]
    pub(crate) kind: Kind,
}

/// The kinds.
#[derive(Debug, Subcommand)]
pub(crate) enum Kind {
    /// Random points, labelled by the side of a hyperplane with few non-zero coefficients
    /// (aytug2015)
    Hyperplane(HyperplaneArgs),
    /// Two features informative only together, one informative alone, and noise (tan2010)
    Composite(CompositeArgs),
    /// Normal features whose correlation falls with their distance, few of them relevant
    Correlated(CorrelatedArgs),
    /// Normal clusters on cubes, for non-linear classifiers, among irrelevant features (tamura2022)
    Ndcc(NdccArgs),
    /// A sparse bag of words with Zipf frequencies and planted informative words
    Text(TextArgs),
}

/// `fewest generate composite`.
#[derive(Debug, Args)]
#[command(after_help = COMPOSITE_EXAMPLE)]
pub(crate) struct CompositeArgs {
    /// Noise features, half of them uniform and half normal; there are 3 more features
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true, help_heading = "Data")]
    pub(crate) noise: usize,
    /// Distance of the class means of x1 and x2 from 0; their variance is 1
    #[arg(long, value_name = "A", default_value_t = 0.4, allow_negative_numbers = true, help_heading = "Data")]
    pub(crate) pair_shift: f64,
    /// Correlation of x1 and x2 in each class, 0 or more and below 1
    #[arg(long, value_name = "R", default_value_t = 0.9, allow_negative_numbers = true, help_heading = "Data")]
    pub(crate) correlation: f64,
    /// Distance of the class means of x3 from 0; its variance is 1
    #[arg(long, value_name = "C", default_value_t = 0.7, allow_negative_numbers = true, help_heading = "Data")]
    pub(crate) single_shift: f64,
    /// Outputs.
    #[command(flatten)]
    pub(crate) sets: SetArgs,
}

/// `fewest generate correlated`.
#[derive(Debug, Args)]
#[command(after_help = CORRELATED_EXAMPLE)]
pub(crate) struct CorrelatedArgs {
    /// Features p
    #[arg(long, value_name = "P", value_parser = count, allow_negative_numbers = true, help_heading = "Data")]
    pub(crate) features: usize,
    /// Features with weight 1, from 1 to P, at equal distances; the others have weight 0
    #[arg(long, value_name = "K", value_parser = count, allow_negative_numbers = true, help_heading = "Data")]
    pub(crate) relevant: usize,
    /// Correlation of neighbours, 0 or more and below 1; d features apart it is R^d
    #[arg(long, value_name = "R", default_value_t = 0.9, allow_negative_numbers = true, help_heading = "Data")]
    pub(crate) correlation: f64,
    /// Variance of w.x over that of the noise added to it before its sign is the label; inf for no noise
    #[arg(long, value_name = "S", default_value_t = 5.0, allow_negative_numbers = true, help_heading = "Data")]
    pub(crate) snr: f64,
    /// Outputs.
    #[command(flatten)]
    pub(crate) sets: SetArgs,
}

/// `fewest generate ndcc`.
#[derive(Debug, Args)]
#[command(after_help = NDCC_EXAMPLE)]
pub(crate) struct NdccArgs {
    /// Features p
    #[arg(long, value_name = "P", value_parser = count, allow_negative_numbers = true, help_heading = "Data")]
    pub(crate) features: usize,
    /// Relevant features, from 1 to P; which ones is random. The others are standard normal
    #[arg(long, value_name = "D", value_parser = count, allow_negative_numbers = true, help_heading = "Data")]
    pub(crate) relevant: usize,
    /// Expansion factor: how wide the clusters are; the centres lie 100, 300 and 500 from the
    /// origin
    #[arg(long, value_name = "E", default_value_t = 25.0, allow_negative_numbers = true, help_heading = "Data")]
    pub(crate) expansion: f64,
    /// Outputs.
    #[command(flatten)]
    pub(crate) sets: SetArgs,
}

/// `fewest generate text`.
#[derive(Debug, Args)]
#[command(after_help = TEXT_EXAMPLE)]
pub(crate) struct TextArgs {
    /// Words: features, the commonest first
    #[arg(long, value_name = "P", value_parser = count, allow_negative_numbers = true, help_heading = "Data")]
    pub(crate) words: usize,
    /// Words drawn for a document, repeats included
    #[arg(long, value_name = "N", default_value_t = 455, value_parser = count, allow_negative_numbers = true, help_heading = "Data")]
    pub(crate) length: usize,
    /// Informative words [default: 200, or all words if there are fewer]
    #[arg(long, value_name = "K", value_parser = count, allow_negative_numbers = true, help_heading = "Data")]
    pub(crate) relevant: Option<usize>,
    /// Draws of a document that are of informative words [default: 12, or --length if that is less]
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true, help_heading = "Data")]
    pub(crate) topical: Option<usize>,
    /// Probability that an informative word of the other class is kept
    #[arg(long, value_name = "Q", default_value_t = 0.35, allow_negative_numbers = true, help_heading = "Data")]
    pub(crate) leak: f64,
    /// Frequencies fall with the rank to this power
    #[arg(long, value_name = "S", default_value_t = 0.85, allow_negative_numbers = true, help_heading = "Data")]
    pub(crate) exponent: f64,
    /// Outputs.
    #[command(flatten)]
    pub(crate) sets: SetArgs,
}

/// `fewest generate hyperplane`.
#[derive(Debug, Args)]
#[command(after_help = HYPERPLANE_EXAMPLES)]
pub(crate) struct HyperplaneArgs {
    /// Features p
    #[arg(long, value_name = "P", value_parser = count, allow_negative_numbers = true, help_heading = "Data")]
    pub(crate) features: usize,
    /// Features with a non-zero coefficient, from 1 to P; which ones is random
    #[arg(long, value_name = "M", value_parser = count, allow_negative_numbers = true, help_heading = "Data")]
    pub(crate) relevant: usize,
    /// Where points lie
    #[arg(long, value_name = "KIND", default_value = "ball", help_heading = "Data")]
    pub(crate) points: PointsArg,
    /// Non-zero coefficients of the hyperplane
    #[arg(long, value_name = "KIND", default_value = "normal", help_heading = "Data")]
    pub(crate) coefficients: CoefficientsArg,
    /// Standard deviation of normal noise, added to w.x before its sign is the label
    #[arg(long, value_name = "S", default_value_t = 0.0, allow_negative_numbers = true, help_heading = "Data")]
    pub(crate) noise_sd: f64,
    /// Outputs.
    #[command(flatten)]
    pub(crate) sets: SetArgs,
}

/// Where points lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PointsArg {
    /// Uniform in the ball of radius 1
    Ball,
    /// Each feature standard normal
    Normal,
}

/// Non-zero coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CoefficientsArg {
    /// Standard normal
    Normal,
    /// +1 or -1
    Signs,
}

/// How much of every kind, and where it goes.
#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// Samples of the training set
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true, help_heading = "Data")]
    pub(crate) samples: usize,
    /// Samples of the validation set [default: as many as --samples]
    #[arg(long, value_name = "N", requires = "validation", value_parser = count, allow_negative_numbers = true, help_heading = "Data")]
    pub(crate) validation_samples: Option<usize>,
    /// Samples of the test set [default: as many as --samples]
    #[arg(long, value_name = "N", requires = "test", value_parser = count, allow_negative_numbers = true, help_heading = "Data")]
    pub(crate) test_samples: Option<usize>,
    /// Seed: the same seed and options give the same files on every machine
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed, allow_negative_numbers = true, help_heading = "Data")]
    pub(crate) seed: u64,
    /// Training set to write (.csv, .tsv, .svm, .libsvm, .arff, .parquet, .npz, each also .gz;
    /// .csc), or - for standard output
    #[arg(long, short = 'o', value_name = "FILE|-", help_heading = "Output")]
    pub(crate) out: PathBuf,
    /// Format of the data files [default: by each file's ending]
    #[arg(long, value_name = "FORMAT", value_parser = fewest_data::format_of, help_heading = "Output")]
    pub(crate) out_format: Option<Format>,
    /// Write a validation set of the same truth
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) validation: Option<PathBuf>,
    /// Write a test set of the same truth
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) test: Option<PathBuf>,
    /// Write the truth as JSON: the features that matter, their weights, all settings
    #[arg(long, value_name = "FILE.json", help_heading = "Output")]
    pub(crate) truth: Option<PathBuf>,
    /// Memory to keep within, e.g. 500M or 2G [default: three quarters of the machine's]
    #[arg(long, value_name = "SIZE", help_heading = "Limits")]
    pub(crate) memory: Option<String>,
}

/// A count; its range is checked where its meaning is known.
fn count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "it is not a count; write an integer such as 500".to_owned())
}

/// A seed.
fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("it is not a seed; write an integer from 0 to {}", u64::MAX))
}
