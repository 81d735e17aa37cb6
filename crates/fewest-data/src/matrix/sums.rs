//! Sums of samples that agree in columns, such as the cells of a donor (pseudobulk), as they are read.
//!
//! The class is part of what samples agree in, so that a sum has one. Sums come before the total and
//! the logarithm, which are then of them.

use std::collections::HashMap;

use fewest_svm::{DenseDesign, SparseDesign};

use crate::error::malformed;
use crate::meaning::header::USUAL;
use crate::names::is_column;
use crate::{
    DataError, Dataset, Features, Format, Normalization, Note, Place, ReadOptions, Summed, Target, TextColumn,
};

impl ReadOptions {
    /// How the samples are read that [`ReadOptions::sum_by`] sums up: as they are, columns to sum by set
    /// apart; none where there are none.
    pub(crate) fn before_sums(&self, format: Format) -> Option<Self> {
        if self.sum_by.is_empty() {
            return None;
        }
        let mut apart = self.apart.clone();
        apart.extend(self.summed_by().filter(|name| !self.apart.contains(name)).cloned());
        let read =
            Self { apart, sum_by: Vec::new(), normalize: Normalization::default(), features: None, ..self.clone() };
        // As in `read_format`: totals are of features that are left out, too, where these hold no text.
        let table = format.is_table() && !self.transpose;
        let whole = !(self.normalize.is_none() || table || format == Format::Svmlight);
        Some(if whole { Self { drop: Vec::new(), only: Vec::new(), ..read } } else { read })
    }

    /// Columns to sum by, but the target, which is in any case.
    fn summed_by(&self) -> impl Iterator<Item = &String> {
        self.sum_by.iter().filter(|name| !self.is_target(name))
    }

    /// Whether a name is that of the target.
    pub fn is_target(&self, name: &str) -> bool {
        match &self.target {
            Some(target) => is_column(target, name) || is_column(name, target),
            None => USUAL.iter().any(|usual| name.eq_ignore_ascii_case(usual)),
        }
    }
}

impl Dataset {
    /// Sums up samples that were read by `read`, [`ReadOptions::before_sums`] of `wanted`, and does the rest
    /// that is wanted: the total, the logarithm, features to leave out.
    ///
    /// # Errors
    /// Values that are no counts, categories, a blank cell in a column to sum by, another column whose
    /// values differ within a sum.
    pub(crate) fn sum_up(&mut self, wanted: &ReadOptions, read: &ReadOptions) -> Result<(), DataError> {
        if let Some(column) = self.notes.iter().find_map(|note| match note {
            Note::Dummies { column, .. } => Some(column),
            _ => None,
        }) {
            return Err(DataError::Unsupported {
                file: self.source.clone(),
                what: format!("column `{column}` holds categories, which have no sum"),
                remedy: format!("leave it out with ⟦drop={column}⟧, or name it in ⟦sum_by⟧"),
            });
        }
        let by: Vec<String> = wanted.summed_by().cloned().collect();
        let sums = Sums::new(self, &by)?;
        let features = sums.features(self)?;
        let smallest = sums.samples.iter().copied().min().unwrap_or(0);
        let summed = Summed { by, samples: sums.of.len(), smallest };
        let names = sums.names(self, &summed.by);
        self.samples = Some(TextColumn { name: String::new(), values: names });
        for column in &mut self.apart {
            column.values = sums.first.iter().map(|&i| column.values[i].clone()).collect();
        }
        self.target = self.target.as_ref().map(|target| target.at(&sums.first));
        self.features = features;
        self.notes.push(Note::Summed(summed));
        if !wanted.normalize.is_none() {
            self.normalize(&ReadOptions { normalize: wanted.normalize.clone(), ..read.clone() }, |_| true)?;
        }
        if read.drop != wanted.drop || read.only != wanted.only {
            self.drop_columns(&wanted.drop)?;
            self.only_columns(&wanted.only)?;
        }
        Ok(())
    }

    /// The sums that the samples are; none where each is as it was read.
    pub fn summed(&self) -> Option<&Summed> {
        self.notes.iter().find_map(|note| match note {
            Note::Summed(summed) => Some(summed),
            _ => None,
        })
    }
}

impl Target {
    /// The classes of these rows, in any order.
    fn at(&self, rows: &[usize]) -> Self {
        Self { codes: rows.iter().map(|&i| self.codes[i]).collect(), ..self.clone() }
    }
}

/// Which samples make which sum.
struct Sums {
    /// The sum of each sample.
    of: Vec<usize>,
    /// The first sample of each sum, and how many it has.
    first: Vec<usize>,
    samples: Vec<usize>,
}

impl Sums {
    fn new(data: &Dataset, by: &[String]) -> Result<Self, DataError> {
        let (key, others): (Vec<&TextColumn>, Vec<&TextColumn>) =
            data.apart.iter().partition(|column| by.contains(&column.name));
        let mut sums = Self { of: Vec::new(), first: Vec::new(), samples: Vec::new() };
        let mut known: HashMap<(Vec<&str>, Option<u32>), usize> = HashMap::new();
        for i in 0..data.features.n_samples() {
            let place = |column: &TextColumn| Place::row(&data.source, i as u64 + 1).column(&column.name);
            if let Some(column) = key.iter().find(|column| column.values[i].trim().is_empty()) {
                let remedy = "fill it in, or leave the row out";
                return Err(malformed(
                    place(column),
                    "the cell is blank, but must say which sum the sample is of",
                    remedy,
                ));
            }
            let class = data.target.as_ref().map(|target| target.codes[i]);
            let of = (key.iter().map(|column| column.values[i].as_str()).collect(), class);
            let next = sums.first.len();
            let sum = *known.entry(of).or_insert(next);
            if sum == next {
                sums.first.push(i);
                sums.samples.push(0);
            }
            sums.samples[sum] += 1;
            sums.of.push(sum);
            let first = sums.first[sum];
            if let Some(column) = others.iter().find(|column| column.values[i] != column.values[first]) {
                let (one, other) = (&column.values[first], &column.values[i]);
                let found = format!("the cell is {other}, but {one} in row {} of the same sum", first + 1);
                return Err(malformed(place(column), found, "name the column in ⟦sum_by⟧, too"));
            }
        }
        Ok(sums)
    }

    /// The sums, stored as the values were.
    ///
    /// # Errors
    /// The first value of the first column that is no count.
    fn features(&self, data: &Dataset) -> Result<Features, DataError> {
        let (design, m) = (data.features.as_design(), self.first.len());
        let dense = matches!(data.features, Features::Dense(_));
        let (mut values, mut rows, mut start) = (Vec::new(), Vec::new(), vec![0]);
        for j in 0..design.n_features() {
            let (mut sums, mut bad) = (vec![0.0; m], None);
            design.each_in_column(j, &mut |i, x| {
                if !(x >= 0.0 && x.fract() == 0.0) && bad.is_none() {
                    bad = Some((i, x));
                }
                sums[self.of[i]] += x;
            });
            if let Some((i, x)) = bad {
                return Err(no_count(data, (i, j), x));
            }
            if dense {
                values.extend(sums);
            } else {
                let there = sums.into_iter().enumerate().filter(|(_, sum)| *sum != 0.0);
                there.for_each(|(sum, x)| {
                    rows.push(sum as u32);
                    values.push(x);
                });
                start.push(rows.len());
            }
        }
        Ok(if dense {
            Features::Dense(DenseDesign::new(m, design.n_features(), values)?)
        } else {
            Features::Sparse(SparseDesign::new(m, start, rows, values)?)
        })
    }

    /// A name for each sum: what its samples agree in.
    fn names(&self, data: &Dataset, by: &[String]) -> Vec<String> {
        let key: Vec<&TextColumn> = data.apart.iter().filter(|column| by.contains(&column.name)).collect();
        let class = |i: usize| data.target.as_ref().map(|target| target.classes[target.codes[i] as usize].as_str());
        let name = |&i: &usize| {
            let columns = key.iter().map(|column| column.values[i].as_str());
            columns.chain(class(i)).collect::<Vec<&str>>().join(", ")
        };
        self.first.iter().map(name).collect()
    }
}

/// What is wrong with a value that is to be summed up.
fn no_count(data: &Dataset, (i, j): (usize, usize), x: f64) -> DataError {
    let place = Place::row(&data.source, i as u64 + 1).column(data.names.get(j).into_owned());
    let found = if x.is_nan() {
        "the value is missing, so that its sum is not known".to_owned()
    } else {
        format!("the value is {x}, but sums are of counts, whole numbers of 0 or more")
    };
    let counts = if data.format.has_layers() { "name the counts with ⟦layer⟧" } else { "give a file of counts" };
    malformed(place, found, format!("{counts}, or leave out ⟦sum_by⟧"))
}
