//! Counts of each sample brought to one total, and their logarithms, as they are read.
//!
//! Both are functions of one sample alone, so that nothing is learnt from other samples. The total
//! is of all features that the file has as numbers, those that are left out later, too.

use fewest_svm::Design;

use crate::error::malformed;
use crate::io::memory::check_memory;
use crate::{DataError, Dataset, Features, Normalization, Normalized, Note, Place, ReadOptions};

/// A count that few quantities on a scale of whole numbers reach.
const LARGE_COUNT: f64 = 50.0;

/// Totals of the samples, as values come.
pub(crate) struct Totals<'a> {
    file: &'a str,
    how: &'a Normalization,
    sums: Vec<f64>,
    /// Some value is no whole number.
    fractions: bool,
    /// The first value that may not be there: row, column, value.
    bad: Option<(usize, usize, f64)>,
}

impl<'a> Totals<'a> {
    /// Totals of n samples.
    pub(crate) fn new(file: &'a str, how: &'a Normalization, n: usize) -> Self {
        Self { file, how, sums: vec![0.0; n], fractions: false, bad: None }
    }

    /// Takes the value of sample i, feature j.
    pub(crate) fn add(&mut self, i: usize, j: usize, x: f64) {
        self.sums[i] += x;
        self.fractions |= x.fract() != 0.0;
        let refused = x < 0.0 || x.is_infinite() || x.is_nan() && self.how.total.is_some();
        if refused && self.bad.is_none_or(|(row, column, _)| (i, j) < (row, column)) {
            self.bad = Some((i, j, x));
        }
    }

    /// What values become.
    ///
    /// # Errors
    /// Names the first value that has no total or no logarithm, or the first total beyond doubles.
    pub(crate) fn finish(self, name: impl Fn(usize) -> String) -> Result<Normal<'a>, DataError> {
        let Self { file, how, sums, fractions, bad } = self;
        if let Some((i, j, x)) = bad {
            let place = Place::row(file, i as u64 + 1).column(name(j));
            let (found, remedy) = if x.is_nan() {
                (
                    "the value is missing, so that the sample has no total".to_owned(),
                    "leave the feature out of the file first (fewest convert, ⟦drop⟧), fill it in there, or say ⟦log1p⟧ alone",
                )
            } else {
                let asked = if how.total.is_some() { "⟦normalize_total⟧" } else { "⟦log1p⟧" };
                let why = if how.total.is_some() { "totals are of" } else { "ln(1 + x) is taken of" };
                (
                    format!("the value is {x}, but {why} counts, finite and 0 or more"),
                    if asked == "⟦log1p⟧" {
                        "leave out ⟦log1p⟧ if the values are no counts, or leave the feature out of the file first (fewest convert, ⟦drop⟧)"
                    } else {
                        "leave out ⟦normalize_total⟧ if the values are no counts, or leave the feature out of the file first (fewest convert, ⟦drop⟧)"
                    },
                )
            };
            return Err(malformed(place, found, remedy));
        }
        if let Some(i) = sums.iter().position(|sum| sum.is_infinite()) {
            let found = "the total of the sample is beyond the largest number";
            return Err(malformed(Place::row(file, i as u64 + 1), found, "divide the values by a large number"));
        }
        Ok(Normal { how, totals: sums, fractions })
    }
}

/// What values become, once all totals are known.
pub(crate) struct Normal<'a> {
    how: &'a Normalization,
    totals: Vec<f64>,
    fractions: bool,
}

impl Normal<'_> {
    /// What a value of sample i becomes.
    pub(crate) fn value(&self, i: usize, x: f64) -> f64 {
        self.how.value(x, self.totals[i])
    }

    /// The note on what was done, with `features` in the totals.
    pub(crate) fn note(&self, options: &ReadOptions, features: usize) -> Note {
        let mut how = self.how.clone();
        how.uncounted.extend(options.apart.iter().chain(&options.text).chain(&options.samples).cloned());
        how.uncounted.sort_unstable();
        how.uncounted.dedup();
        let empty = self.totals.iter().filter(|total| **total == 0.0).count();
        Note::Normalized(Box::new(Normalized { how, features, empty, fractions: self.fractions }))
    }
}

/// What a feature of a table is to the totals of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    /// A number.
    Number,
    /// A number that is left out once totals are known.
    Counted,
    /// A category, which stays as it is.
    Category,
}

impl Dataset {
    /// A table with its values as asked for, and without the columns that were counted alone.
    ///
    /// # Errors
    /// As [`Dataset::normalize`].
    pub(crate) fn normalized_table(mut self, options: &ReadOptions, parts: &[ColumnKind]) -> Result<Self, DataError> {
        if options.normalize.is_none() {
            return Ok(self);
        }
        self.normalize(options, |j| parts[j] != ColumnKind::Category)?;
        if parts.contains(&ColumnKind::Counted) {
            let kept: Vec<usize> = (0..parts.len()).filter(|&j| parts[j] != ColumnKind::Counted).collect();
            self.keep_columns(&kept);
        }
        Ok(self)
    }

    /// Brings each sample to its total and takes logarithms of the features that `is_number` says
    /// are no categories. Notes it.
    ///
    /// # Errors
    /// Values that have none; a mapped file that does not fit into memory.
    pub(crate) fn normalize(
        &mut self,
        options: &ReadOptions,
        is_number: impl Fn(usize) -> bool,
    ) -> Result<(), DataError> {
        let how = &options.normalize;
        if let Features::Mapped(design) = &self.features {
            let needed = 12 * design.stored() as u64 + 8 * (design.n_features() as u64 + 1);
            check_memory(
                &self.source,
                "the values, which cannot be changed in a column file,",
                needed,
                options.memory(),
            )?;
            self.features = Features::Sparse(design.loaded());
        }
        if matches!(self.features, Features::Centred(_)) {
            self.features.make_dense();
        }
        let (n, p) = (self.features.n_samples(), self.features.n_features());
        let numbers: Vec<usize> = (0..p).filter(|&j| is_number(j)).collect();
        let mut totals = Totals::new(&self.source, how, n);
        let design = self.features.as_design();
        for &j in &numbers {
            design.each_in_column(j, &mut |i, x| totals.add(i, j, x));
        }
        let names = &self.names;
        let normal = totals.finish(|j| names.get(j).into_owned())?;
        match &mut self.features {
            Features::Dense(design) => {
                for &j in &numbers {
                    design.column_mut(j).iter_mut().enumerate().for_each(|(i, x)| *x = normal.value(i, *x));
                }
            }
            Features::Sparse(design) => {
                for &j in &numbers {
                    let rows = design.column(j).0.to_vec();
                    let values = design.values_mut(j).iter_mut();
                    rows.iter().zip(values).for_each(|(&i, x)| *x = normal.value(i as usize, *x));
                }
            }
            Features::Mapped(_) | Features::Centred(_) => unreachable!("they were loaded"),
        }
        self.notes.push(normal.note(options, numbers.len()));
        Ok(())
    }

    /// Whether the values are whole numbers of 0 or more, some of them large, as counts are.
    pub fn has_counts(&self) -> bool {
        let (design, p) = (self.features.as_design(), self.features.n_features());
        let mut largest = 0.0_f64;
        let whole = (0..p).all(|j| {
            let mut whole = true;
            design.each_in_column(j, &mut |_, x| {
                whole &= x >= 0.0 && x.fract() == 0.0;
                largest = largest.max(x);
            });
            whole
        });
        whole && largest > LARGE_COUNT
    }

    /// The normalization of the values as they were read; none where nothing was done.
    pub fn normalized(&self) -> Option<&Normalized> {
        self.notes.iter().find_map(|note| match note {
            Note::Normalized(done) => Some(&**done),
            _ => None,
        })
    }
}
