//! What may be wrong with the columns of a data set although they can be read: counters, columns
//! that tell the classes apart, values far from all others.

use rayon::prelude::*;

use crate::{Dataset, Features, Note, Target};

/// Most columns of one kind with a note of their own.
const FEW: usize = 5;

/// Rows between two checks whether the classes still lie apart.
const BLOCK: usize = 64;

/// The endings of names that identifiers have.
const ID_NAMES: [&str; 8] = ["id", "key", "index", "nr", "no", "number", "code", "rownames"];

/// Notes on the columns: see [`Note::AlikeClasses`], [`Note::Counter`], [`Note::Perfect`] and [`Note::LoneValue`]. A mapped
/// file, which may be larger than memory, is not read.
pub fn hints(data: &Dataset) -> Vec<Note> {
    if matches!(data.features, Features::Mapped(_) | Features::Centred(_)) {
        return Vec::new();
    }
    let p = data.features.n_features();
    let of = |at: usize| data.names.get(at).into_owned();
    let counts: Vec<Option<bool>> =
        (0..p).into_par_iter().map(|j| Column::of(&data.features, j).counter(&data.names.get(j))).collect();
    let mut notes = Vec::new();
    for wanted in [true, false] {
        let found: Vec<usize> = (0..p).filter(|&j| counts[j] == Some(wanted)).collect();
        // Ranks instead of values are in many columns, an identifier in one or two.
        let told = if found.len() > FEW { &[][..] } else { &found[..] };
        notes.extend(told.iter().map(|&j| Note::Counter { column: of(j), ordered: wanted }));
    }
    if let Some(target) = &data.target {
        notes.extend(target.note_on_alike());
        let apart: Vec<bool> =
            (0..p).into_par_iter().map(|j| Column::of(&data.features, j).tells_apart(target, p)).collect();
        let mut names: Vec<String> = pure_texts(data, target);
        names.extend((0..p).filter(|&j| apart[j]).map(of));
        if !names.is_empty() {
            let count = names.len();
            names.truncate(10);
            notes.push(Note::Perfect { count, names });
        }
    }
    let lone: Vec<Option<Lone>> = (0..p).into_par_iter().map(|j| Column::of(&data.features, j).lone()).collect();
    let lone = lone.into_iter().enumerate().filter_map(|(j, lone)| Some((j, lone?))).take(FEW);
    notes.extend(lone.map(|(j, Lone { value, rows, others })| Note::LoneValue { column: of(j), value, rows, others }));
    notes
}

/// The text columns of three values or more each of which has one class only, which is not to be
/// expected of values that know nothing of the classes. Of two values the one column tells.
fn pure_texts(data: &Dataset, target: &Target) -> Vec<String> {
    let (n, counts) = (data.features.n_samples(), target.counts());
    let share = counts.iter().max().copied().unwrap_or(0) as f64 / n.max(1) as f64;
    let pure = |columns: &Vec<usize>| {
        let again = n.saturating_sub(columns.len()) as f64;
        let one_class = |&j: &usize| {
            let (mut class, mut same) = (None, true);
            data.features.as_design().each_in_column(j, &mut |i, x| {
                if x != 0.0 && !x.is_nan() {
                    same &= *class.get_or_insert(target.codes[i]) == target.codes[i];
                }
            });
            same
        };
        // As if each value's first row had its class by itself and the others by chance.
        let expected = -share.ln() * again > (20.0 * data.features.n_features() as f64).ln();
        columns.len() > 2 && expected && columns.iter().all(one_class)
    };
    let texts = data.notes.iter().filter_map(|note| match note {
        Note::Dummies { column, .. } => Some(column),
        _ => None,
    });
    texts.zip(data.text_columns()).filter(|(_, columns)| pure(columns)).map(|(column, _)| column.clone()).collect()
}

/// A value far from all others.
struct Lone {
    value: f64,
    rows: usize,
    others: (f64, f64),
}

/// A column: what is stored of it, and how many zeros are not.
struct Column<'a> {
    n: usize,
    /// The row of each value; none: all rows in order.
    rows: Option<&'a [u32]>,
    values: &'a [f64],
}

impl<'a> Column<'a> {
    fn of(features: &'a Features, j: usize) -> Self {
        let n = features.n_samples();
        match features {
            Features::Dense(design) => Column { n, rows: None, values: design.column(j) },
            Features::Sparse(design) => {
                let (rows, values) = design.column(j);
                Column { n, rows: Some(rows), values }
            }
            Features::Mapped(_) | Features::Centred(_) => Column { n: 0, rows: None, values: &[] },
        }
    }

    /// Whether the values count the rows, in their order or in another one: each row has another
    /// whole number, one after the other or, where the name is that of an identifier, any. Zeros that
    /// are not stored are values of no counter but the first.
    fn counter(&self, name: &str) -> Option<bool> {
        let (n, stored) = (self.n, self.values.len());
        if n < 5 || stored + 1 < n || self.values.iter().take(20).any(|x| x.fract() != 0.0) {
            return None;
        }
        let row = |at: usize| self.rows.map_or(at, |rows| rows[at] as usize) as f64;
        let steps = |step: f64| (0..stored).all(|at| self.values[at] == self.values[0] + step * (row(at) - row(0)));
        // The zero that is not stored is the first or the last.
        let from_zero = stored == n || self.values[0].abs() == 1.0 || self.values[stored - 1].abs() == 1.0;
        if from_zero && (steps(1.0) || steps(-1.0)) {
            return Some(true);
        }
        let name = name.to_ascii_lowercase();
        let ends = |word: &str| {
            name.strip_suffix(word).is_some_and(|before| !before.ends_with(|c: char| c.is_ascii_lowercase()))
        };
        let named = ID_NAMES.iter().any(|word| ends(word)) || name.starts_with("unnamed:");
        let mut values: Vec<f64> = self.values.iter().copied().filter(|x| !x.is_nan()).collect();
        if values.len() < 10 || values.iter().any(|x| x.fract() != 0.0) {
            return None;
        }
        values.sort_unstable_by(f64::total_cmp);
        let range = values[values.len() - 1] - values[0];
        let there = values.len();
        values.dedup();
        let all = values.len() == there && range + 1.0 == there as f64;
        (all || named && values.len() * 2 >= there).then_some(false)
    }

    /// Whether one threshold after another tells all classes apart, which is not to be expected of
    /// one of `p` columns that know nothing of the classes.
    fn tells_apart(&self, target: &Target, p: usize) -> bool {
        let counts = target.counts();
        let (n, k) = (self.n, counts.len());
        let least = counts.iter().min().copied().unwrap_or(0);
        // Logarithm of the number of ways to deal the smallest class.
        let ways: f64 = (0..least).map(|i| (((n - i) as f64) / ((i + 1) as f64)).ln()).sum();
        if k < 2 || ways < (20.0 * p as f64).ln() {
            return false;
        }
        let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); k];
        let mut left = counts;
        let add = |range: &mut (f64, f64), x: f64| *range = (range.0.min(x), range.1.max(x));
        for start in (0..self.values.len()).step_by(BLOCK) {
            for at in start..(start + BLOCK).min(self.values.len()) {
                let row = self.rows.map_or(at, |rows| rows[at] as usize);
                let class = target.codes[row] as usize;
                left[class] -= 1;
                if !self.values[at].is_nan() {
                    add(&mut ranges[class], self.values[at]);
                }
            }
            if !disjoint(&ranges) {
                return false;
            }
        }
        ranges.iter_mut().zip(left).filter(|(_, left)| *left > 0).for_each(|(range, _)| add(range, 0.0));
        disjoint(&ranges) && ranges.iter().all(|range| range.0 <= range.1)
    }

    /// A value at an end of the column that codes for missing values have (99, -1, -99, ...), and
    /// that is farther from all others than these are from each other.
    fn lone(&self) -> Option<Lone> {
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for &x in self.values {
            (least, most) = (least.min(x), most.max(x));
        }
        if self.values.len() < self.n {
            (least, most) = (least.min(0.0), most.max(0.0));
        }
        [least, most].into_iter().filter(|x| is_code(*x)).find_map(|value| {
            let (mut rows, mut zeros, mut distinct) = (0, self.n - self.values.len(), Vec::new());
            let mut others = (f64::INFINITY, f64::NEG_INFINITY);
            for &x in self.values.iter().filter(|x| !x.is_nan()) {
                if x == value {
                    rows += 1;
                    continue;
                }
                others = (others.0.min(x), others.1.max(x));
                zeros += usize::from(x == 0.0);
                if distinct.len() < 3 && !distinct.contains(&x) {
                    distinct.push(x);
                }
            }
            if self.values.len() < self.n {
                others = (others.0.min(0.0), others.1.max(0.0));
                distinct.push(0.0);
            }
            let far = if value < others.0 { others.0 - value } else { value - others.1 };
            // Counts, most of which are 0, have such values by themselves, and so has one of many columns.
            let some = distinct.len() >= 2 && rows * 2 < self.n && zeros * 2 < self.n;
            let times = if rows == 1 { 3.0 } else { 1.0 };
            (some && far > times * (others.1 - others.0) && far > 2.0).then_some(Lone { value, rows, others })
        })
    }
}

/// Whether no two ranges meet; empty ones meet none.
fn disjoint(ranges: &[(f64, f64)]) -> bool {
    if let [a, b] = ranges {
        return a.1 < b.0 || b.1 < a.0;
    }
    let mut ranges: Vec<&(f64, f64)> = ranges.iter().filter(|range| range.0 <= range.1).collect();
    ranges.sort_by(|a, b| a.0.total_cmp(&b.0));
    ranges.windows(2).all(|pair| pair[0].1 < pair[1].0)
}

/// Whether a number is one that stands for missing values in many files: 99, 999, ..., with either
/// sign, 8s, and -1, -8 and -9.
fn is_code(x: f64) -> bool {
    if (0.0..10.0).contains(&x) {
        return false;
    }
    x == -1.0
        || [8.0, 9.0].iter().any(|digit| (1..=7).any(|digits| x.abs() == digit * (10f64.powi(digits) - 1.0) / 9.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, Names};
    use fewest_svm::{DenseDesign, SparseDesign};

    fn data(columns: &[(&str, Vec<f64>)], codes: &[u32]) -> Dataset {
        let n = codes.len();
        let values: Vec<f64> = columns.iter().flat_map(|column| column.1.clone()).collect();
        Dataset {
            features: Features::Dense(DenseDesign::new(n, columns.len(), values).expect("n p values")),
            names: Names::Listed(columns.iter().map(|column| column.0.to_owned()).collect()),
            target: Some(Target { column: "y".into(), classes: vec!["a".into(), "b".into()], codes: codes.to_vec() }),
            samples: None,
            apart: vec![],
            notes: vec![],
            source: "a.csv".into(),
            format: Format::Csv,
        }
    }

    /// The data with zeros left out.
    fn sparse(data: &Dataset) -> Dataset {
        let (n, p) = (data.features.n_samples(), data.features.n_features());
        let (mut start, mut rows, mut values) = (vec![0], vec![], vec![]);
        for j in 0..p {
            for i in (0..n).filter(|&i| data.features.value(i, j) != 0.0) {
                rows.push(i as u32);
                values.push(data.features.value(i, j));
            }
            start.push(rows.len());
        }
        let design = SparseDesign::new(n, start, rows, values).expect("valid");
        Dataset { features: Features::Sparse(design), ..data.clone() }
    }

    #[test]
    fn counters_leaks_and_codes_are_told_of_dense_and_sparse_data() {
        let n = 40;
        let codes: Vec<u32> = (0..n).map(|i| u32::from(i >= 22)).collect();
        let noise = |i: usize, m: usize| (i * 17 % m) as f64;
        let of = |f: &dyn Fn(usize) -> f64| (0..n as usize).map(f).collect::<Vec<f64>>();
        let all = data(
            &[
                ("row", of(&|i| i as f64)),
                ("customer_id", of(&|i| (i * i % 997 * 31) as f64)),
                ("rank", of(&|i| (i * 7 % 40 + 1) as f64)),
                ("leak", of(&|i| if i >= 22 { 2.5 + noise(i, 7) } else { -noise(i, 5) })),
                ("age", of(&|i| if i == 7 { -999.0 } else { 20.0 + noise(i, 37) })),
                ("score", of(&|i| if i % 9 == 3 { 99.0 } else { noise(i, 11) })),
                ("plain", of(&|i| noise(i, 13) + 0.5)),
                ("binary", of(&|i| (i % 2) as f64)),
                ("valid", of(&|i| (i * 17 % 23) as f64)),
            ],
            &codes,
        );
        for data in [all.clone(), sparse(&all)] {
            let told: Vec<String> = hints(&data).iter().map(ToString::to_string).collect();
            let said = |name: &str| told.iter().filter(|note| note.contains(name)).count();
            assert!(
                told.iter().any(|note| note.contains("`row` counts the rows") && note.contains("`drop = row`")),
                "{told:?}"
            );
            assert!(told.iter().any(|note| note.contains("`customer_id` has another whole number")), "{told:?}");
            assert!(told.iter().any(|note| note.contains("`rank` has another whole number")), "{told:?}");
            // Rows are sorted by class.
            assert!(told.iter().any(|note| note.contains("row, leak alone each tell the classes apart")), "{told:?}");
            assert!(told.iter().any(|note| note.contains("`missing_codes = -999`")), "{told:?}");
            assert!(told.iter().any(|note| note.contains("`score` is 99 on 5 row(s) and from 0 to 10")), "{told:?}");
            assert_eq!([said("plain"), said("binary"), said("valid")], [0, 0, 0], "{told:?}");
        }
    }

    #[test]
    fn few_rows_tell_nothing() {
        let few = data(&[("a", vec![1.0, 2.0, 7.0, 8.0]), ("b", vec![0.0, 1.0, 0.0, 1.0])], &[0, 0, 1, 1]);
        assert_eq!(hints(&few), []);
    }
}
