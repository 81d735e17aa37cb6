//! A data set in memory: features with names, target, columns set apart, notes.

use fewest_svm::design::Centred;
use fewest_svm::{DenseDesign, Design, FeatureSet, SparseDesign};

use crate::meaning::binary;
use crate::meaning::cells::Cells;
use crate::meaning::target::class_position;
use crate::names::numbered;
use crate::{DataError, Format, MappedDesign, Names, Note, ReadOptions, Target, meaning::pattern};

/// The matrix X, n samples x p features.
#[derive(Debug, Clone)]
pub enum Features {
    /// Column-major, every value stored.
    Dense(DenseDesign<'static>),
    /// Compressed columns, zeros left out.
    Sparse(SparseDesign<'static>),
    /// Compressed columns in a mapped file.
    Mapped(MappedDesign),
    /// Compressed columns, scaled with a constant taken off each.
    Centred(Centred),
}

impl Features {
    /// The matrix as the methods see it.
    pub fn as_design(&self) -> &dyn Design {
        match self {
            Features::Dense(design) => design,
            Features::Sparse(design) => design,
            Features::Mapped(design) => design,
            Features::Centred(design) => design,
        }
    }

    /// The matrix as the methods own it.
    pub fn into_design(self) -> Box<dyn Design> {
        match self {
            Features::Dense(design) => Box::new(design),
            Features::Sparse(design) => Box::new(design),
            Features::Mapped(design) => Box::new(design),
            Features::Centred(design) => Box::new(design),
        }
    }

    /// Number of samples n.
    pub fn n_samples(&self) -> usize {
        self.as_design().n_samples()
    }

    /// Number of features p.
    pub fn n_features(&self) -> usize {
        self.as_design().n_features()
    }

    /// Bytes of memory that the matrix takes: 8 n p when dense, 12 a stored value and 8 a column
    /// start when sparse; of a mapped file what may stay of it.
    pub fn bytes(&self) -> u64 {
        match self {
            Features::Dense(design) => 8 * design.stored() as u64,
            Features::Mapped(design) => design.bytes(),
            Features::Centred(design) => design.bytes(),
            Features::Sparse(design) => 12 * design.stored() as u64 + 8 * (design.n_features() as u64 + 1),
        }
    }

    /// Value of sample i, feature j.
    pub fn value(&self, i: usize, j: usize) -> f64 {
        match self {
            Features::Dense(design) => design.column(j)[i],
            Features::Sparse(design) => {
                let (rows, values) = design.column(j);
                rows.binary_search(&(i as u32)).map_or(0.0, |at| values[at])
            }
            Features::Mapped(design) => design.value(i, j),
            Features::Centred(_) => self.column(j)[i],
        }
    }

    /// The columns given, in the order given; `None` makes a column of zeros.
    #[must_use]
    pub fn select(&self, columns: &[Option<usize>]) -> Features {
        match self {
            Features::Mapped(design) => {
                Features::Sparse(design.copied(design.n_samples(), columns, |i| Some(i as u32)))
            }
            Features::Dense(_) | Features::Centred(_) => {
                let (n, design) = (self.n_samples(), self.as_design());
                let mut values = vec![0.0; n * columns.len()];
                for (out, column) in values.chunks_mut(n.max(1)).zip(columns) {
                    if let Some(j) = column {
                        design.each_in_column(*j, &mut |i, x| out[i] = x);
                    }
                }
                Features::Dense(DenseDesign::new(n, columns.len(), values).expect("n p values"))
            }
            Features::Sparse(design) => {
                let stored = columns.iter().flatten().map(|&j| design.column(j).0.len()).sum();
                let mut start = Vec::with_capacity(columns.len() + 1);
                let (mut rows, mut values) = (Vec::with_capacity(stored), Vec::with_capacity(stored));
                start.push(0);
                for column in columns {
                    if let Some(j) = column {
                        let (r, v) = design.column(*j);
                        rows.extend_from_slice(r);
                        values.extend_from_slice(v);
                    }
                    start.push(rows.len());
                }
                let made = SparseDesign::new(design.n_samples(), start, rows, values);
                Features::Sparse(made.expect("columns of a valid matrix"))
            }
        }
    }

    /// Stores every value, zeros, too.
    pub fn make_dense(&mut self) {
        if !matches!(self, Features::Dense(_)) {
            *self = Features::Dense(self.dense());
        }
    }

    /// A copy with every value stored.
    pub(crate) fn dense(&self) -> DenseDesign<'static> {
        let (design, n, p) = (self.as_design(), self.n_samples(), self.n_features());
        let mut values = vec![0.0; n * p];
        for (j, column) in values.chunks_mut(n.max(1)).take(p).enumerate() {
            design.each_in_column(j, &mut |i, x| column[i] = x);
        }
        DenseDesign::new(n, p, values).expect("n values for each feature")
    }

    /// The features with one value only; missing values are no values.
    pub fn constant(&self) -> FeatureSet {
        FeatureSet::of(self.n_features(), |j| self.is_constant(j))
    }

    /// All values of feature j.
    pub(crate) fn column(&self, j: usize) -> Vec<f64> {
        let mut column = vec![0.0; self.n_samples()];
        self.as_design().each_in_column(j, &mut |i, x| column[i] = x);
        column
    }

    /// Refuses values of a matrix that was read into memory that are not finite, but for missing ones
    /// where they are accepted; the earliest row is named.
    pub(crate) fn check_finite(
        &self,
        file: &str,
        missing: bool,
        name: impl Fn(usize) -> String + Sync,
    ) -> Result<(), DataError> {
        match self {
            Features::Dense(design) => binary::check_finite(file, design.n_samples(), design.values(), missing, name),
            Features::Sparse(design) => binary::check_sparse(file, design, missing, name),
            Features::Mapped(_) | Features::Centred(_) => unreachable!("a reader of matrices makes neither"),
        }
    }

    fn is_constant(&self, j: usize) -> bool {
        match self {
            Features::Centred(_) => one_value(self.n_samples(), &self.column(j)),
            Features::Dense(design) => {
                let mut there = design.column(j).iter().filter(|x| !x.is_nan());
                let first = there.next();
                there.all(|x| Some(x) == first)
            }
            Features::Sparse(design) => one_value(design.n_samples(), design.column(j).1),
            // The values tell only where every row has one.
            Features::Mapped(design) => match design.count_in_turn(j) {
                0 => true,
                count => count == design.n_samples() && one_value(count, &design.values(j)),
            },
        }
    }
}

/// Whether a column of n values has one value only, given those that are stored.
pub(crate) fn one_value(n: usize, stored: &[f64]) -> bool {
    stored.is_empty() || (stored.len() == n && stored.windows(2).all(|w| w[0] == w[1]))
}

/// As [`Dataset::refuse_text`], for a file that is not read into one.
pub(crate) fn refuse_text(file: &str, options: &ReadOptions) -> Result<(), DataError> {
    let Some(name) = options.text.first() else { return Ok(()) };
    let what = format!("column `{name}` was asked for as text, but the matrix of the file holds numbers");
    Err(DataError::Unsupported { file: file.into(), what, remedy: "use csv for text".into() })
}

/// A column kept as text: fold numbers, identifiers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextColumn {
    /// The column's name.
    pub name: String,
    /// One value for each row.
    pub values: Vec<String>,
}

/// Data as a reader returns them. All values of the features are finite; NaN, a missing value, is
/// there only where [`crate::ReadOptions::missing`] lets it in.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// The matrix, n x p.
    pub features: Features,
    /// Names of the p features.
    pub names: Names,
    /// Classes of the n rows; `None` only if the options say that they may be missing.
    pub target: Option<Target>,
    /// Names of the n rows, where the file has them or [`crate::ReadOptions::samples`] says where.
    pub samples: Option<TextColumn>,
    /// Columns set apart, in the order asked for.
    pub apart: Vec<TextColumn>,
    /// Things to tell the user.
    pub notes: Vec<Note>,
    /// The file as the user named it.
    pub source: String,
    /// The format it was read in.
    pub format: Format,
}

impl Dataset {
    /// The data set of a dense table; the memory of its column-major `values` is taken over.
    #[expect(clippy::too_many_arguments, reason = "the fields of a data set, one by one")]
    pub(crate) fn dense(
        file: &str,
        n: usize,
        values: Vec<f64>,
        names: Vec<String>,
        target: Option<Target>,
        apart: Vec<TextColumn>,
        notes: Vec<Note>,
        format: Format,
    ) -> Result<Self, DataError> {
        let features = Features::Dense(DenseDesign::new(n, names.len(), values)?);
        let names = Names::Listed(names);
        Ok(Self { features, names, target, samples: None, apart, notes, source: file.to_owned(), format })
    }

    /// Brings the features into the order of `names` (a model's), and leaves others out.
    ///
    /// In svmlight files zeros are not written, so that a feature `x7` beyond the last one
    /// mentioned counts as zero. Both are noted.
    ///
    /// # Errors
    /// [`DataError::MissingFeature`] naming the first feature that is not there.
    pub fn align(&mut self, names: &[String]) -> Result<(), DataError> {
        if self.names.len() == names.len() && self.names.iter().zip(names).all(|(a, b)| a == b.as_str()) {
            return Ok(());
        }
        let finder = self.names.finder();
        let columns: Vec<Option<usize>> = names.iter().map(|name| finder.position(name)).collect();
        drop(finder);
        let open = self.format == Format::Svmlight;
        let absent =
            |(column, name): &(&Option<usize>, &String)| column.is_none() && !(open && numbered(name).is_some());
        let missing: Vec<&String> = columns.iter().zip(names).filter(absent).map(|(_, name)| name).collect();
        if let Some(first) = missing.first() {
            return Err(DataError::MissingFeature {
                file: self.source.clone(),
                name: (*first).clone(),
                missing: missing.len(),
                needed: names.len(),
            });
        }
        let padded = columns.iter().filter(|c| c.is_none()).count();
        let ignored = (self.names.len() + padded).saturating_sub(names.len());
        self.features = self.features.select(&columns);
        self.names = Names::Listed(names.to_vec());
        self.notes.retain(|note| !matches!(note, Note::Constant { .. }));
        if padded > 0 {
            self.notes.push(Note::Padded { count: padded });
        }
        if ignored > 0 {
            self.notes.push(Note::Ignored { count: ignored });
        }
        Ok(())
    }

    /// Refuses the wish for text, which a matrix does not hold.
    ///
    /// # Errors
    /// Columns asked for as text.
    pub(crate) fn refuse_text(&self, options: &ReadOptions) -> Result<(), DataError> {
        refuse_text(&self.source, options)
    }

    /// Leaves out features by names and patterns.
    ///
    /// # Errors
    /// A name that is not there, a pattern that no name fits.
    pub(crate) fn drop_columns(&mut self, drop: &[String]) -> Result<(), DataError> {
        if drop.is_empty() {
            return Ok(());
        }
        let dropped = pattern::meant(&self.names, &self.source, drop, "dropped column")?;
        let keep: Vec<usize> = (0..self.names.len()).filter(|j| dropped.binary_search(j).is_err()).collect();
        self.keep_columns(&keep);
        Ok(())
    }

    /// Leaves out all features but those of some names and patterns.
    ///
    /// # Errors
    /// As [`Dataset::drop_columns`].
    pub(crate) fn only_columns(&mut self, only: &[String]) -> Result<(), DataError> {
        if only.is_empty() {
            return Ok(());
        }
        let keep = pattern::meant(&self.names, &self.source, only, "only column")?;
        self.keep_columns(&keep);
        Ok(())
    }

    /// Keeps these features alone, ascending.
    pub(crate) fn keep_columns(&mut self, keep: &[usize]) {
        self.features = self.features.select(&keep.iter().map(|&j| Some(j)).collect::<Vec<_>>());
        self.names = Names::Listed(keep.iter().map(|&j| self.names.get(j).into_owned()).collect());
    }

    /// Keeps these rows alone, ascending.
    pub(crate) fn keep_rows(&mut self, rows: &[usize]) {
        self.features = self.features.rows(rows);
        self.target = self.target.take().map(|target| target.rows(rows));
        for column in self.apart.iter_mut().chain(&mut self.samples) {
            column.values = rows.iter().map(|&i| std::mem::take(&mut column.values[i])).collect();
        }
    }

    /// Keeps the rows that have a class; the target has those alone already.
    pub(crate) fn keep_labelled(&mut self, rows: &[usize]) {
        let left_out = self.features.n_samples() - rows.len();
        let target = self.target.take();
        self.keep_rows(rows);
        self.target = target;
        self.notes.push(Note::Unlabelled { rows: left_out });
    }

    /// Keeps the rows of these classes alone.
    ///
    /// # Errors
    /// A class that is not there, unless it is `optional` that it is.
    pub(crate) fn keep_classes(&mut self, classes: &[String], optional: bool) -> Result<(), DataError> {
        let Some(target) = &self.target else {
            return Err(DataError::Unsupported {
                file: self.source.clone(),
                what: format!("rows of class {} were asked for, but there is no target column", classes.join(", ")),
                remedy: "name it with ⟦target⟧".into(),
            });
        };
        let find = |class: &String| {
            class_position(&target.classes, class).ok_or_else(|| DataError::UnknownClass {
                file: self.source.clone(),
                name: class.clone(),
                available: target.classes.iter().take(10).cloned().collect::<Vec<_>>().join(", "),
            })
        };
        let none = classes.iter().all(|class| class_position(&target.classes, class).is_none());
        let known = |class: &&String| !optional || none || class_position(&target.classes, class).is_some();
        let mut kept = classes.iter().filter(known).map(find).collect::<Result<Vec<usize>, _>>()?;
        kept.sort_unstable();
        kept.dedup();
        let inside = |i: &usize| kept.binary_search(&(target.codes[*i] as usize)).is_ok();
        let rows: Vec<usize> = (0..target.codes.len()).filter(inside).collect();
        let left_out = target.codes.len() - rows.len();
        if left_out > 0 {
            self.keep_rows(&rows);
            self.target = self.target.take().map(Target::without_empty);
            self.notes.push(Note::OtherClasses { rows: left_out });
        }
        Ok(())
    }

    /// Keeps these rows, ascending, which are those of positive weight, and the classes that they
    /// have; notes on values are made again.
    pub fn keep_weighted(&mut self, rows: &[usize]) {
        let left_out = self.features.n_samples() - rows.len();
        if left_out == 0 {
            return;
        }
        self.keep_rows(rows);
        self.target = self.target.take().map(Target::without_empty);
        self.notes.retain(|note| !matches!(note, Note::Constant { .. } | Note::Missing { .. }));
        self.note_constant();
        self.note_missing();
        self.notes.push(Note::Weightless { rows: left_out });
    }

    /// Makes a class of two the second one, which is +1; without one asked for, notes where the
    /// second is named as if it were the other.
    ///
    /// # Errors
    /// No target, a class that is not there, more classes than two.
    pub(crate) fn make_positive(&mut self, class: Option<&str>) -> Result<(), DataError> {
        let Some(class) = class else {
            self.notes.extend(self.target.as_ref().and_then(Target::note_on_positive));
            return Ok(());
        };
        let unsupported = |what: String, remedy: &str| DataError::Unsupported {
            file: self.source.clone(),
            what,
            remedy: remedy.into(),
        };
        let Some(target) = &mut self.target else {
            let what = format!("{class} was to be the positive class, but there is no target column");
            return Err(unsupported(what, "name it with ⟦target⟧"));
        };
        let some = || target.classes.iter().take(10).cloned().collect::<Vec<_>>().join(", ");
        let at = class_position(&target.classes, class).ok_or_else(|| DataError::UnknownClass {
            file: self.source.clone(),
            name: class.to_owned(),
            available: some(),
        })?;
        if target.classes.len() != 2 {
            let what = format!(
                "{class} was to be the positive class of two, but there are {}: {}",
                target.classes.len(),
                some()
            );
            return Err(unsupported(what, "keep two of them with ⟦classes⟧, or leave out ⟦positive⟧"));
        }
        if at == 0 {
            target.classes.swap(0, 1);
            target.codes.iter_mut().for_each(|code| *code = 1 - *code);
        }
        Ok(())
    }

    /// Makes missing values of numbers that stand for them.
    ///
    /// # Errors
    /// Missing values, unless they are accepted; a 0 in sparse data, whose zeros are not stored.
    pub(crate) fn decode_missing(&mut self, cells: &Cells, missing: bool) -> Result<(), DataError> {
        let file = self.source.clone();
        let unsupported = |what: &str, remedy: &str| DataError::Unsupported {
            file: file.clone(),
            what: what.into(),
            remedy: remedy.into(),
        };
        let decode = |values: &mut [f64]| {
            values.iter_mut().filter(|x| cells.is_code(**x)).for_each(|x| *x = f64::NAN);
        };
        let (names, p) = (&self.names, self.features.n_features());
        match &mut self.features {
            Features::Dense(design) => {
                (0..p).for_each(|j| decode(design.column_mut(j)));
                let n = design.n_samples();
                binary::check_finite(&file, n, design.values(), missing, |j| names.get(j).into_owned())
            }
            Features::Sparse(_) if cells.is_code(0.0) => Err(unsupported(
                "0 is to mean a missing value, but the zeros of sparse data are not stored",
                "leave out ⟦missing_codes=0⟧",
            )),
            Features::Sparse(design) => {
                (0..p).for_each(|j| decode(design.values_mut(j)));
                binary::check_sparse(&file, design, missing, |j| names.get(j).into_owned())
            }
            Features::Centred(_) => Ok(()),
            Features::Mapped(_) => Err(unsupported(
                "a column file has no missing values",
                "say ⟦missing_codes⟧ where it is made, with `fewest convert`",
            )),
        }
    }

    /// Adds the note on constant features, if there are any.
    pub(crate) fn note_constant(&mut self) {
        self.notes.extend(Note::constant(&self.features.constant(), &self.names));
    }
}
