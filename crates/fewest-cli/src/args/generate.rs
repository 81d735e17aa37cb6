//! `fewest generate` as typed: one subcommand per kind, the same outputs for all.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// Examples shown under `fewest generate hyperplane --help`.
const HYPERPLANE_EXAMPLES: &str = "\
Examples:
  fewest generate hyperplane --samples 500 --features 20 --relevant 5 --out train.csv \\
      --validation validation.csv --test test.csv --truth truth.json
  fewest generate hyperplane --samples 1000 --features 10000 --relevant 10 --points normal --coefficients signs \\
      --noise-sd 0.5 --seed 3 --out train.npz";

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
    /// Random points, labelled by the side of a hyperplane with few non-zero coefficients (aytug2015)
    Hyperplane(HyperplaneArgs),
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
    /// Training set to write (.csv, .tsv, .svm, .libsvm, .arff, .parquet, .npz, each also .gz), or - for standard output
    #[arg(long, short = 'o', value_name = "FILE|-", help_heading = "Output")]
    pub(crate) out: PathBuf,
    /// Format of the data files [default: by each file's ending]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) out_format: Option<String>,
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
    text.parse().map_err(|_| "it is not a count; write a whole number such as 500".to_owned())
}

/// A seed.
fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("it is not a seed; write a whole number from 0 to {}", u64::MAX))
}
