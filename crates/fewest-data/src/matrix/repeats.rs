//! A column that may say which rows belong together: the person, the donor, the molecule that
//! several rows are of.

use crate::{Dataset, Features, Note};

/// What one of those is called that several rows are often of.
const UNITS: [&str; 15] = [
    "subject",
    "subj",
    "patient",
    "person",
    "donor",
    "participant",
    "individual",
    "volunteer",
    "proband",
    "animal",
    "mouse",
    "speaker",
    "author",
    "molecule",
    "compound",
];

/// Words that may stand behind it.
const BEHIND: [&str; 8] = ["id", "no", "nr", "number", "code", "name", "key", "index"];

/// Fewer names are categories.
const LEAST: usize = 5;

/// Fewer numbers are counts.
const LEAST_NUMBERS: usize = 10;

/// The first column whose name is that of a person or the like, or is `name`, whose values repeat
/// and are too many to be categories; the names of the samples, where they do. Where these have
/// another value in each row, what all but their last numbers tell may repeat: `s01_1`, `s01_2`. A
/// mapped file, which may be larger than memory, is not read.
pub fn repeats(data: &Dataset) -> Option<Note> {
    if matches!(data.features, Features::Mapped(_)) {
        return None;
    }
    let rows = data.features.n_samples();
    let note = |column: &str, values: Option<(usize, bool)>| {
        let (values, stems) = values?;
        Some(Note::Repeats { column: column.to_owned(), values, rows, stems })
    };
    if let Some(samples) = &data.samples
        && let found @ Some(_) = note(&samples.name, told(&samples.values, rows))
    {
        return found;
    }
    let texts = data.notes.iter().filter_map(|note| match note {
        Note::Dummies { column, values, .. } if is_unit(column) => Some((column, values)),
        _ => None,
    });
    for (column, values) in texts {
        if let found @ Some(_) = note(column, told(values, rows)) {
            return found;
        }
    }
    (0..data.features.n_features()).filter(|&j| is_unit(&data.names.get(j))).find_map(|j| {
        let mut values: Vec<f64> = (0..rows).map(|i| data.features.value(i, j)).filter(|x| !x.is_nan()).collect();
        if values.iter().any(|x| x.fract() != 0.0) {
            return None;
        }
        values.sort_unstable_by(f64::total_cmp);
        values.dedup();
        note(
            &data.names.get(j),
            (values.len() >= LEAST_NUMBERS && again(values.len(), rows)).then_some((values.len(), false)),
        )
    })
}

/// Whether `values` different values in `rows` rows are more than categories, and repeat.
fn again(values: usize, rows: usize) -> bool {
    values >= LEAST && 4 * values <= 3 * rows
}

/// How many different values there are, where they repeat; else how many different beginnings,
/// where these do, and that it is these.
fn told(values: &[String], rows: usize) -> Option<(usize, bool)> {
    let mut all: Vec<&str> = values.iter().map(String::as_str).collect();
    all.sort_unstable();
    all.dedup();
    if again(all.len(), rows) {
        return Some((all.len(), false));
    }
    let mut stems: Vec<&str> = all.iter().map(|value| stem(value)).collect::<Option<_>>()?;
    stems.sort_unstable();
    let most = stems.chunk_by(|a, b| a == b).map(<[&str]>::len).max().unwrap_or(0);
    stems.dedup();
    // Numbered rows of few kinds are no persons.
    (all.len() == rows && again(stems.len(), rows) && 4 * most <= rows).then_some((stems.len(), true))
}

/// What is before the last number of a name, where a sign is between them.
fn stem(value: &str) -> Option<&str> {
    let (before, last) = value.rsplit_once(['_', '-', '.', ':', '/', ' '])?;
    let number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    (number && !before.is_empty()).then_some(before)
}

/// Whether a column is called like one that says what several rows may be of.
fn is_unit(name: &str) -> bool {
    let words = words(name);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["name"] => true,
        [.., unit] if UNITS.contains(unit) => !matches!(words[0], "n" | "num" | "number" | "count"),
        [.., unit, behind] if UNITS.contains(unit) => BEHIND.contains(behind),
        _ => false,
    }
}

/// The words of a name, in small letters: `patientId`, `patient_id` and `Patient ID` are two.
fn words(name: &str) -> Vec<String> {
    let (mut words, mut small) = (vec![String::new()], false);
    for c in name.chars() {
        if !c.is_alphanumeric() || (small && c.is_uppercase()) {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().expect("one from the start").extend(c.to_lowercase());
        }
        small = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, Names};
    use fewest_svm::DenseDesign;

    fn texts(column: &str, values: &[String], rows: usize) -> Dataset {
        let values = values.to_vec();
        Dataset {
            features: Features::Dense(DenseDesign::new(rows, 1, vec![0.5; rows]).unwrap()),
            names: Names::Listed(vec!["x".into()]),
            target: None,
            samples: None,
            apart: vec![],
            notes: vec![Note::Dummies { column: column.into(), made: vec![], values }],
            source: "a.csv".into(),
            format: Format::Csv,
        }
    }

    fn numbers(column: &str, of: impl Fn(usize) -> f64) -> Dataset {
        let values: Vec<f64> = (0..60).map(of).collect();
        let features = Features::Dense(DenseDesign::new(60, 1, values).unwrap());
        Dataset { features, names: Names::Listed(vec![column.into()]), notes: vec![], ..texts("", &[], 60) }
    }

    #[test]
    fn columns_of_persons_are_told_and_categories_are_not() {
        let persons: Vec<String> = (0..32).map(|i| format!("S{i:02}")).collect();
        for name in ["subject", "Patient ID", "patientId", "name", "donor", "sample.donor_id"] {
            let note = repeats(&texts(name, &persons, 195)).unwrap().to_string();
            let words = format!("column `{name}` has 32 values on 195 rows");
            assert!(note.starts_with(&words) && note.contains("`groups "), "{note}");
        }
        for name in ["colour", "patients", "patient_age", "number_of_subject", "names", "individual_income"] {
            assert_eq!(repeats(&texts(name, &persons, 195)), None, "{name}");
        }
        // Categories, and another value in almost each row.
        assert_eq!(repeats(&texts("patient", &persons[..3], 195)), None);
        assert_eq!(repeats(&texts("name", &persons, 33)), None);
        let told = repeats(&numbers("subject", |i| (i / 5) as f64)).map(|note| note.to_string());
        assert!(told.is_some_and(|note| note.contains("12 values on 60 rows")));
        assert_eq!(repeats(&numbers("subject", |i| i as f64)), None);
        assert_eq!(repeats(&numbers("subject", |i| 0.5 * (i / 5) as f64)), None);
        assert_eq!(repeats(&numbers("age", |i| (i / 5) as f64)), None);
    }

    #[test]
    fn beginnings_of_names_that_repeat_are_told() {
        let names: Vec<String> = (0..60).map(|i| format!("R01_S{:02}_{}", i / 6, i % 6 + 1)).collect();
        let note = repeats(&texts("name", &names, 60)).unwrap().to_string();
        assert!(note.contains("10 beginnings") && note.contains("`groups"), "{note}");
        // All of one kind, or of two, and numbers alone.
        let numbered: Vec<String> = (0..60).map(|i| format!("GSM_{i}")).collect();
        assert_eq!(repeats(&texts("name", &numbered, 60)), None);
        let kinds: Vec<String> = (0..60).map(|i| format!("{}_{i}", if i < 30 { "ALL" } else { "AML" })).collect();
        assert_eq!(repeats(&texts("name", &kinds, 60)), None);
        assert_eq!(repeats(&texts("name", &(0..60).map(|i| i.to_string()).collect::<Vec<_>>(), 60)), None);
    }
}
