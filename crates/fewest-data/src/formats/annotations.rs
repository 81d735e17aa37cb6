//! What a file says of the samples beside its matrix: their names, and columns that describe them
//! (`obs` of AnnData, the sample rows of GCT). One of the columns is the target.

use crate::note::TargetRule;
use crate::{
    DataError, Dataset, Features, Format, Names, Note, ReadOptions, TextColumn, meaning::binary, meaning::header, names,
};

/// Most classes of a column that a message proposes as the target.
const MOST_CLASSES: usize = 100;

/// Names of the samples, and columns that describe them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Annotations {
    /// Names of the n samples.
    pub(crate) samples: Option<TextColumn>,
    /// Columns of n texts; a missing value is an empty text.
    pub(crate) columns: Vec<TextColumn>,
    /// Names of columns that were not read, as they were not asked for.
    pub(crate) others: Vec<String>,
}

/// Bytes of a text beside its characters.
#[cfg(feature = "hdf5")]
const TEXT: u64 = 40;

impl Annotations {
    /// About the bytes that it takes.
    #[cfg(feature = "hdf5")]
    pub(crate) fn bytes(&self) -> u64 {
        let of = |column: &TextColumn| column.values.iter().map(|text| text.len() as u64 + TEXT).sum::<u64>();
        self.columns.iter().chain(&self.samples).map(of).sum()
    }

    /// A column by its name, which may have the prefix of its place in the file.
    pub(crate) fn column(&self, name: &str) -> Option<&TextColumn> {
        let find = |name: &str| self.columns.iter().chain(&self.samples).find(|column| column.name == name);
        find(name).or_else(|| names::PREFIXES.iter().find_map(|prefix| find(name.strip_prefix(prefix)?)))
    }

    /// Annotations of a file with columns of these names: what the options ask for is read by
    /// `texts`, all of them (while the memory holds them) where the target is to be proposed. A
    /// column for which `texts` has nothing is passed over.
    ///
    /// # Errors
    /// Those of `texts`.
    #[cfg(feature = "hdf5")]
    pub(crate) fn wanted(
        samples: Option<TextColumn>,
        names: Vec<String>,
        options: &ReadOptions,
        mut texts: impl FnMut(&str) -> Result<Option<Vec<String>>, DataError>,
    ) -> Result<Self, DataError> {
        let usual = |name: &String| header::USUAL.iter().any(|usual| name.eq_ignore_ascii_case(usual));
        let propose = options.target.is_none() && !options.target_optional && !names.iter().any(usual);
        let asked: Vec<&String> = options.target.iter().chain(&options.samples).chain(&options.apart).collect();
        let is_asked = |name: &String| {
            asked.iter().any(|asked| names::is_column(asked, name)) || options.target.is_none() && usual(name)
        };
        let mut annotations = Self { samples, ..Self::default() };
        let mut left = options.memory() / 4;
        for name in names {
            if !is_asked(&name) && (!propose || left == 0) {
                annotations.others.push(name);
            } else if let Some(values) = texts(&name)? {
                let bytes: u64 = values.iter().map(|text| text.len() as u64 + TEXT).sum();
                left = left.saturating_sub(bytes);
                annotations.columns.push(TextColumn { name, values });
            }
        }
        Ok(annotations)
    }

    /// A column that was asked for as `role`.
    fn asked(&self, file: &str, name: &str, role: &'static str) -> Result<&TextColumn, DataError> {
        let read = self.columns.iter().map(|column| &column.name);
        let names: Vec<String> = read.chain(&self.others).cloned().collect();
        self.column(name).ok_or_else(|| DataError::UnknownColumn {
            file: file.into(),
            name: name.into(),
            role,
            available: names::some_with(&names, name),
        })
    }

    /// The target: the column asked for, else one with a usual name.
    ///
    /// # Errors
    /// No such column, and those of [`binary::target`].
    pub(crate) fn target(&self, file: &str, options: &ReadOptions) -> Result<binary::FoundTarget, DataError> {
        let usual =
            || header::USUAL.iter().find_map(|usual| self.columns.iter().find(|c| c.name.eq_ignore_ascii_case(usual)));
        let (column, rule) = match &options.target {
            Some(name) if options.target_optional && self.column(name).is_none() => {
                return Ok((None, None, Vec::new()));
            }
            Some(name) => (self.asked(file, name, "target")?, TargetRule::Asked),
            None => match usual() {
                Some(column) => (column, TargetRule::UsualName),
                None if options.target_optional => return Ok((None, None, Vec::new())),
                None => return Err(self.no_target(file)),
            },
        };
        binary::target_of(file, &column.name, &column.values, rule, options)
    }

    /// The error of a file without a target, which names the columns that may be it.
    fn no_target(&self, file: &str) -> DataError {
        let classes = |column: &TextColumn| {
            let distinct: std::collections::HashSet<&String> = column.values.iter().filter(|v| !v.is_empty()).collect();
            let fits = (2..=MOST_CLASSES).contains(&distinct.len()) && distinct.len() * 2 <= column.values.len();
            fits.then(|| format!("{} ({} values)", column.name, distinct.len()))
        };
        let candidates: Vec<String> = self.columns.iter().filter_map(classes).collect();
        let remedy = match &candidates[..] {
            [] => "give the classes in a second file with ⟦labels⟧".to_owned(),
            some => format!("name one with ⟦target⟧: {}", names::some_of(some)),
        };
        let what = "no column of the samples is named y, label, class or target".to_owned();
        DataError::Unsupported { file: file.into(), what, remedy }
    }

    /// The columns to set apart.
    ///
    /// # Errors
    /// One that is not there.
    pub(crate) fn apart(&self, file: &str, options: &ReadOptions) -> Result<Vec<TextColumn>, DataError> {
        let apart = |name: &String| {
            let column = self.asked(file, name, "column set apart")?;
            Ok(TextColumn { name: name.clone(), values: column.values.clone() })
        };
        options.apart.iter().map(apart).collect()
    }

    /// The data set of a matrix whose samples these describe.
    ///
    /// # Errors
    /// As [`Self::target`] and [`Self::apart`]; text asked for; columns to drop that are not there;
    /// equal names.
    pub(crate) fn dataset(
        self,
        file: &str,
        format: Format,
        features: Features,
        names: Names,
        mut notes: Vec<Note>,
        options: &ReadOptions,
    ) -> Result<Dataset, DataError> {
        let finite = |j| names.get(j).into_owned();
        features.check_finite(file, options.missing, finite)?;
        let (target, rows, more) = self.target(file, options)?;
        notes.extend(more);
        let apart = self.apart(file, options)?;
        let samples = match &options.samples {
            Some(name) => Some(self.asked(file, name, "column with the names of samples")?.clone()),
            None => self.samples,
        };
        let source = file.to_owned();
        let mut data = Dataset { features, names, target, samples, apart, notes, source, format };
        data.refuse_text(options)?;
        data.drop_columns(&options.drop)?;
        if let Some(rows) = rows {
            data.keep_labelled(&rows);
        }
        Ok(data)
    }
}
