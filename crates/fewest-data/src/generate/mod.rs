//! Synthetic data of the papers, one file per kind. The same settings give the same numbers on
//! every machine.
//!
//! A generator holds the truth (which features matter, and how) and draws sets of samples from it,
//! see [`Generator`]. Truth and sets are drawn from streams of their own, so that a set depends on
//! nothing but settings and seed: not on which other sets are drawn, nor on their sizes, and the
//! first rows of a larger set are those of a smaller one.
//!
//! ```
//! use fewest_data::generate::{Generator, Hyperplane, HyperplaneSettings, SampleSet};
//!
//! let settings = HyperplaneSettings { seed: 7, ..HyperplaneSettings::new(20, 5) };
//! let hyperplane = Hyperplane::new(settings)?;
//! let data = hyperplane.draw(SampleSet::Training, 100)?;
//! assert_eq!((data.features.n_samples(), data.features.n_features()), (100, 20));
//! assert_eq!(hyperplane.support().len(), 5);
//! # Ok::<(), fewest_data::DataError>(())
//! ```

mod composite;
mod correlated;
mod hyperplane;
mod ndcc;
mod text;

pub use crate::matrix::random::normals;
pub use composite::{Composite, CompositeSettings};
pub use correlated::{Correlated, CorrelatedSettings};
pub use hyperplane::{Coefficients, Hyperplane, HyperplaneSettings, Points};
pub use ndcc::{Ndcc, NdccSettings};
pub use text::{Text, TextSettings};

use serde::{Deserialize, Serialize};

use crate::meaning::target::Target;
use crate::{DataError, Dataset, Features, Format, Names};
use crate::{ReadOptions, io::memory};

/// Set of samples. Each has a stream of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleSet {
    /// To select and train on.
    Training,
    /// To tune on.
    Validation,
    /// To judge on.
    Test,
}

impl SampleSet {
    /// For messages.
    pub fn name(self) -> &'static str {
        match self {
            SampleSet::Training => "training",
            SampleSet::Validation => "validation",
            SampleSet::Test => "test",
        }
    }

    /// Stream 0 is the truth's.
    fn stream(self) -> u32 {
        match self {
            SampleSet::Training => 1,
            SampleSet::Validation => 2,
            SampleSet::Test => 3,
        }
    }
}

/// A kind of synthetic data with its truth fixed.
pub trait Generator {
    /// Draws n >= 2 samples. Features are named x1 to xp, the target is `y` with classes -1 and 1.
    ///
    /// # Errors
    /// [`DataError::OneSide`] when all samples are of one class; `samples` below 2.
    fn draw(&self, part: SampleSet, samples: usize) -> Result<Dataset, DataError>;

    /// The classes of a set, or none where this kind of data is drawn whole.
    ///
    /// # Errors
    /// As [`Self::draw`].
    fn classes(&self, _part: SampleSet, _samples: usize) -> Result<Option<Target>, DataError> {
        Ok(None)
    }

    /// Writes the set of these [`Self::classes`] into a column file at `out`. Its entries need not
    /// fit into memory together: those of a range of columns at a time take half of `limit` bytes
    /// (default three quarters of the machine's).
    ///
    /// # Errors
    /// An output that cannot be written.
    fn write_columns(
        &self,
        part: SampleSet,
        classes: &Target,
        out: &str,
        _limit: Option<u64>,
    ) -> Result<(), DataError> {
        crate::write_as(out, &self.draw(part, classes.codes.len())?, Format::Csc).map(drop)
    }

    /// Positions of the features that matter, ascending.
    fn support(&self) -> Vec<usize>;

    /// Weights of the true linear classifier, length p, where the truth is linear; it has no
    /// intercept.
    fn weights(&self) -> Option<&[f64]>;
}

/// A kind of synthetic data, with its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum GeneratorSettings {
    /// Random points, labelled by the side of a hyperplane.
    Hyperplane(HyperplaneSettings),
    /// Two features informative only together, one alone, and noise.
    Composite(CompositeSettings),
    /// Normal features whose correlation falls with their distance.
    Correlated(CorrelatedSettings),
    /// Normal clusters on cubes.
    Ndcc(NdccSettings),
    /// A sparse bag of words.
    Text(TextSettings),
}

impl GeneratorSettings {
    /// Number of features.
    pub fn features(&self) -> usize {
        match self {
            Self::Hyperplane(of) => of.features,
            Self::Composite(of) => of.noise.saturating_add(3),
            Self::Correlated(of) => of.features,
            Self::Ndcc(of) => of.features,
            Self::Text(of) => of.words,
        }
    }

    /// How many values a sample of sparse data has at most; none of dense data.
    pub fn stored(&self) -> Option<u64> {
        if let Self::Text(of) = self { Some(of.length as u64) } else { None }
    }

    /// The generator, whose truth is drawn.
    ///
    /// # Errors
    /// The first setting out of range.
    pub fn generator(self) -> Result<Box<dyn Generator>, DataError> {
        Ok(match self {
            Self::Hyperplane(of) => Box::new(Hyperplane::new(of)?),
            Self::Composite(of) => Box::new(Composite::new(of)?),
            Self::Correlated(of) => Box::new(Correlated::new(of)?),
            Self::Ndcc(of) => Box::new(Ndcc::new(of)?),
            Self::Text(of) => Box::new(Text::new(of)?),
        })
    }
}

/// Refuses sets that need more memory than `limit` bytes (default three quarters of the machine's)
/// before they are drawn. `samples`: those held in memory; `stored`: how many values a sample of
/// sparse data has at most, none for dense data.
///
/// # Errors
/// [`DataError::Memory`] with the name of the first output file.
pub fn check_memory(
    file: &str,
    samples: u64,
    features: u64,
    stored: Option<u64>,
    limit: Option<u64>,
) -> Result<(), DataError> {
    let allowed = ReadOptions { memory_limit: limit, ..ReadOptions::default() }.memory();
    let needed = match stored {
        None => samples.saturating_mul(features).saturating_mul(8),
        // What a column file needs beside its blocks, and a quarter for these.
        Some(_) if samples == 0 => features.saturating_mul(text::WORD_BYTES).saturating_mul(4) / 3,
        // Columns (12 bytes a value) and what a format makes of them; what text holds, column starts.
        Some(stored) => samples
            .saturating_mul(stored)
            .saturating_mul(28)
            .saturating_add(features.saturating_mul(text::WORD_BYTES + 16)),
    };
    let what = if samples == 0 {
        format!("the counts of {features} features")
    } else {
        format!("{samples} samples of {features} features")
    };
    memory::check_memory_with(file, &what, needed, allowed, "raise ⟦memory⟧, or ask for fewer samples or features")
}

/// Refuses no features at all, and another number of relevant ones than from 1 to all of them.
fn check_relevant(features: usize, relevant: usize) -> Result<(), fewest_svm::Error> {
    if features == 0 {
        return Err(fewest_svm::Error::setting("features", 0, "at least 1"));
    }
    if relevant == 0 || relevant > features {
        let range = format!("from 1 to the number of features, {features}");
        return Err(fewest_svm::Error::setting("relevant", relevant, range));
    }
    Ok(())
}

/// The data set of a part: features, the side of each sample, and in words what they are of.
fn dataset(features: Features, sides: &[bool], part: SampleSet, of: &str, seed: u64) -> Result<Dataset, DataError> {
    let format = if features.as_design().is_sparse() { Format::Svmlight } else { Format::Csv };
    Ok(Dataset {
        names: Names::Numbered(features.n_features()),
        features,
        target: Some(two_classes(sides, part)?),
        samples: None,
        apart: vec![],
        notes: vec![],
        source: format!("{} set of {of}, seed {seed}", part.name()),
        format,
    })
}

/// The target of two classes from the side of each sample, true is 1.
fn two_classes(sides: &[bool], part: SampleSet) -> Result<Target, DataError> {
    if let Some(&side) = sides.first()
        && sides.iter().all(|&s| s == side)
    {
        return Err(DataError::OneSide {
            part: part.name(),
            samples: sides.len(),
            class: if side { "1" } else { "-1" },
        });
    }
    Ok(Target {
        column: "y".into(),
        classes: vec!["-1".into(), "1".into()],
        codes: sides.iter().map(|&s| u32::from(s)).collect(),
    })
}
