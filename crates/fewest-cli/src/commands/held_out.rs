//! Samples that a classifier was judged by, one by one.

use std::collections::BTreeMap;

use fewest_data::TextColumn;
use serde_json::{Value, json};

/// The samples that are listed at most: the first of them, as tables of many samples hold the rest.
const MOST: usize = 1000;

/// The names of samples; none where the data have no names.
pub(super) fn names(samples: Option<&TextColumn>, rows: &[usize]) -> Option<Value> {
    samples.map(|samples| rows.iter().map(|&row| json!(samples.values[row])).collect())
}

/// The samples that were taken for another class, most often first, 1000 at most: `row` from 0,
/// `sample` (its name, or null), `class`, `judged` (how often), `wrong` (how often so), and
/// `predicted`, the classes that it was taken for. Each part has samples and the class predicted of
/// each; `row_of` is the row of a sample in the file.
pub(super) fn wrong<'a>(
    classes: &[String],
    class_of: &dyn Fn(usize) -> u32,
    samples: Option<&TextColumn>,
    row_of: &dyn Fn(usize) -> usize,
    parts: impl IntoIterator<Item = (&'a [usize], &'a [u32])>,
) -> Value {
    // By row: how often it was judged, and what it was taken for.
    let mut judged: BTreeMap<usize, (u64, Vec<u32>)> = BTreeMap::new();
    for (&row, &predicted) in parts.into_iter().flat_map(|(rows, predicted)| rows.iter().zip(predicted)) {
        let entry = judged.entry(row).or_default();
        entry.0 += 1;
        if predicted != class_of(row) {
            entry.1.push(predicted);
        }
    }
    let mut wrong: Vec<(usize, u64, Vec<u32>)> =
        judged.into_iter().filter(|entry| !entry.1.1.is_empty()).map(|(row, (n, taken))| (row, n, taken)).collect();
    wrong.sort_by_key(|(row, _, taken)| (std::cmp::Reverse(taken.len()), *row));
    let one = |(row, n, mut taken): (usize, u64, Vec<u32>)| {
        let times = taken.len();
        taken.sort_unstable();
        taken.dedup();
        json!({
            "row": row_of(row), "sample": samples.map(|samples| &samples.values[row]),
            "class": classes[class_of(row) as usize], "judged": n, "wrong": times,
            "predicted": taken.iter().map(|&class| &classes[class as usize]).collect::<Vec<_>>(),
        })
    };
    wrong.into_iter().take(MOST).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_that_are_wrong_most_often_come_first() {
        let classes = ["a", "b", "c"].map(String::from);
        let samples = TextColumn { name: String::new(), values: ["S1", "S2", "S3", "S4"].map(String::from).to_vec() };
        let truth = [0, 1, 2, 1];
        let parts: [(&[usize], &[u32]); 3] = [(&[0, 2], &[0, 1]), (&[1, 2], &[0, 0]), (&[1, 3], &[1, 1])];
        let found = wrong(&classes, &|row| truth[row], Some(&samples), &|row| row, parts);
        let expected = json!([
            {"row": 2, "sample": "S3", "class": "c", "judged": 2, "wrong": 2, "predicted": ["a", "b"]},
            {"row": 1, "sample": "S2", "class": "b", "judged": 2, "wrong": 1, "predicted": ["a"]},
        ]);
        assert_eq!(found, expected);
        assert_eq!(wrong(&classes, &|row| truth[row], None, &|row| row, parts)[0]["sample"], Value::Null);
        assert_eq!(names(Some(&samples), &[3, 0]), Some(json!(["S4", "S1"])));
        assert_eq!(names(None, &[3]), None);
        let (rows, taken): (Vec<usize>, Vec<u32>) = ((0..1200).collect(), vec![1; 1200]);
        let many = wrong(&classes, &|_| 0, None, &|row| row, [(&rows[..], &taken[..])]);
        assert_eq!(many.as_array().map(Vec::len), Some(1000));
    }
}
