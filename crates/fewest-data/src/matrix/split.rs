//! Rows of a data set, and splits of them.

use fewest_svm::{DenseDesign, Design, SparseDesign};

use crate::matrix::random::Random;
use crate::{Features, Target};

/// The stream of random numbers of [`stratified`]; other streams of a seed are those of
/// [`crate::generate`].
const STREAM: u32 = 15;

/// Splits the rows in two, each class on its own: (kept, held out), both ascending. `share` of each
/// class is held out, to the nearest row, but one at least is kept. The same seed gives the same
/// split everywhere.
pub fn stratified(target: &Target, share: f64, seed: u64) -> (Vec<usize>, Vec<usize>) {
    let mut random = Random::new(seed, STREAM);
    let mut held = vec![false; target.codes.len()];
    for (class, count) in target.counts().into_iter().enumerate() {
        let rows = rows_of(target, class);
        let out = ((share * count as f64).round() as usize).min(count.saturating_sub(1));
        random.sample(count, out).into_iter().for_each(|at| held[rows[at]] = true);
    }
    (0..held.len()).partition(|&i| !held[i])
}

/// The stream of random numbers of [`stratified_folds`].
const FOLDS: u32 = 16;

/// Deals the rows into `count` folds, the fold of each row: each class is dealt on its own, in
/// random order, and the next class goes on where it ended, so that folds differ by one row at
/// most. The same seed gives the same folds everywhere.
pub fn stratified_folds(target: &Target, count: usize, seed: u64) -> Vec<u32> {
    let mut random = Random::new(seed, FOLDS);
    let mut folds = vec![0; target.codes.len()];
    let mut next = 0;
    for (class, size) in target.counts().into_iter().enumerate() {
        let rows = rows_of(target, class);
        for at in random.sample(size, size) {
            folds[rows[at]] = (next % count.max(1)) as u32;
            next += 1;
        }
    }
    folds
}

/// The stream of random numbers of [`sampled`].
const SAMPLED: u32 = 20;

/// At most `most` rows, ascending: all of them where they are no more, otherwise of each class as
/// many as there are, but no more than a number that is the same for all classes and makes the sum
/// fit; one of each class in any case. The same seed gives the same rows everywhere.
pub fn sampled(target: &Target, most: usize, seed: u64) -> Vec<usize> {
    let counts = target.counts();
    let n = target.codes.len();
    if n <= most {
        return (0..n).collect();
    }
    let sum = |each: usize| counts.iter().map(|&count| count.min(each)).sum::<usize>();
    let (mut each, mut above) = (1, n);
    while above - each > 1 {
        let middle = usize::midpoint(each, above);
        if sum(middle) <= most { each = middle } else { above = middle }
    }
    let mut random = Random::new(seed, SAMPLED);
    let mut out = Vec::new();
    for (class, &count) in counts.iter().enumerate() {
        let rows = rows_of(target, class);
        out.extend(random.sample(count, count.min(each)).into_iter().map(|at| rows[at]));
    }
    out.sort_unstable();
    out
}

/// The stream of random numbers of [`stratified_halves`].
const HALVES: u32 = 17;

/// Deals the rows into two halves that share none, `pairs` times: each class is dealt on its own,
/// in random order, and the next class goes on where it ended. Both halves have as many rows; one
/// row is in neither where the number of rows is odd. Ascending. The same seed gives the same halves
/// everywhere.
pub fn stratified_halves(target: &Target, pairs: usize, seed: u64) -> Vec<[Vec<usize>; 2]> {
    let mut random = Random::new(seed, HALVES);
    let n = target.codes.len();
    let mut classes: Vec<Vec<usize>> = (0..target.classes.len()).map(|class| rows_of(target, class)).collect();
    // The row that is in neither half is of the largest class.
    classes.sort_by_key(Vec::len);
    let deal = |_| {
        let mut halves = [Vec::new(), Vec::new()];
        // Which half a class begins with is random, too: with an odd class it gets the larger part.
        let mut next = usize::from(random.coin());
        for rows in &classes {
            for at in random.sample(rows.len(), rows.len()) {
                halves[next % 2].push(rows[at]);
                next += 1;
            }
        }
        halves.each_mut().map(|half| {
            half.truncate(n / 2);
            half.sort_unstable();
            std::mem::take(half)
        })
    };
    (0..pairs).map(deal).collect()
}

/// The rows of a class, ascending.
fn rows_of(target: &Target, class: usize) -> Vec<usize> {
    (0..target.codes.len()).filter(|&i| target.codes[i] as usize == class).collect()
}

impl Features {
    /// The rows given, ascending; n becomes their number.
    ///
    /// # Panics
    /// When the rows are not ascending or beyond the last one.
    #[must_use]
    pub fn rows(&self, rows: &[usize]) -> Features {
        assert!(rows.is_sorted_by(|a, b| a < b), "rows must ascend");
        let (n, p) = (rows.len(), self.n_features());
        match self {
            Features::Dense(design) => {
                let column = |j| rows.iter().map(move |&i| design.column(j)[i]);
                let values: Vec<f64> = (0..p).flat_map(column).collect();
                Features::Dense(DenseDesign::new(n, p, values).expect("n p values"))
            }
            Features::Centred(design) => Features::Centred(design.of_rows(rows)),
            Features::Mapped(design) => {
                let mut place = vec![None; design.n_samples()];
                rows.iter().enumerate().for_each(|(at, &i)| place[i] = Some(at as u32));
                let all: Vec<Option<usize>> = (0..p).map(Some).collect();
                Features::Sparse(design.copied(n, &all, |i| place[i]))
            }
            Features::Sparse(design) => {
                let mut place = vec![None; design.n_samples()];
                rows.iter().enumerate().for_each(|(at, &i)| place[i] = Some(at as u32));
                let (mut start, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
                for j in 0..p {
                    let (stored, x) = design.column(j);
                    for (at, &x) in stored.iter().zip(x).filter_map(|(&i, x)| Some((place[i as usize]?, x))) {
                        indices.push(at);
                        values.push(x);
                    }
                    start.push(indices.len());
                }
                Features::Sparse(SparseDesign::new(n, start, indices, values).expect("rows of a valid matrix"))
            }
        }
    }
}

impl Target {
    /// The rows given; the classes stay as they are.
    #[must_use]
    pub fn rows(&self, rows: &[usize]) -> Target {
        Target { codes: rows.iter().map(|&i| self.codes[i]).collect(), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use fewest_svm::{DenseDesign, SparseDesign};

    use super::{stratified, stratified_folds, stratified_halves};
    use crate::{Features, Target};

    fn target(codes: &[u32]) -> Target {
        Target { column: "y".into(), classes: vec!["a".into(), "b".into(), "c".into()], codes: codes.to_vec() }
    }

    #[test]
    fn a_split_is_stratified_complete_and_seeded() {
        let codes: Vec<u32> = (0..100).map(|i| if i == 7 { 2 } else { u32::from(i % 3 == 0) }).collect();
        let target = target(&codes);
        let (kept, held) = stratified(&target, 0.2, 1);
        let mut all = [kept.clone(), held.clone()].concat();
        all.sort_unstable();
        assert_eq!(all, (0..100).collect::<Vec<_>>());
        // Classes of 65, 34 and 1 rows: 13, 7 and none are held out.
        assert_eq!(target.rows(&held).counts(), [13, 7, 0]);
        assert_eq!(stratified(&target, 0.2, 1), (kept, held.clone()));
        assert_ne!(stratified(&target, 0.2, 2).1, held);
    }

    #[test]
    fn folds_are_stratified_even_and_seeded() {
        let codes: Vec<u32> = (0..103).map(|i| if i < 7 { 2 } else { u32::from(i % 3 == 0) }).collect();
        let target = target(&codes);
        let folds = stratified_folds(&target, 5, 1);
        let size = |f: u32, class: u32| (0..103).filter(|&i| folds[i] == f && codes[i] == class).count();
        for class in 0..3 {
            let sizes: Vec<usize> = (0..5).map(|f| size(f, class)).collect();
            assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "class {class}: {sizes:?}");
        }
        let all: Vec<usize> = (0..5).map(|f| (0..3).map(|class| size(f, class)).sum()).collect();
        assert!(all.iter().all(|&s| s == 20 || s == 21), "{all:?}");
        assert_eq!(stratified_folds(&target, 5, 1), folds);
        assert_ne!(stratified_folds(&target, 5, 2), folds);
    }

    #[test]
    fn halves_share_nothing_and_are_stratified_even_and_seeded() {
        let codes: Vec<u32> = (0..103).map(|i| if i < 7 { 2 } else { u32::from(i % 3 == 0) }).collect();
        let target = target(&codes);
        let pairs = stratified_halves(&target, 20, 1);
        for [a, b] in &pairs {
            assert!((a.len(), b.len()) == (51, 51) && a.is_sorted() && b.is_sorted());
            assert!(a.iter().all(|i| b.binary_search(i).is_err()));
            let (a, b) = (target.rows(a).counts(), target.rows(b).counts());
            assert!(a.iter().zip(&b).all(|(a, b)| a.abs_diff(*b) <= 2), "{a:?} {b:?}");
        }
        assert_eq!(stratified_halves(&target, 20, 1), pairs);
        assert!(pairs[0] != pairs[1] && stratified_halves(&target, 1, 2)[0] != pairs[0]);
        // Every sample of an odd class is in the smaller part now and then.
        let seldom: Vec<usize> = (0..7).map(|i| pairs.iter().filter(|p| p[0].contains(&i)).count()).collect();
        assert!(seldom.iter().all(|&count| (2..=18).contains(&count)), "{seldom:?}");
    }

    #[test]
    fn rows_of_dense_and_sparse_are_the_same() {
        let x = [0.0, 2.0, 0.0, 4.0, 5.0, 0.0];
        let dense = Features::Dense(DenseDesign::new(3, 2, x.to_vec()).unwrap());
        let sparse = SparseDesign::new(3, vec![0, 1, 3], vec![1, 0, 1], vec![2.0, 4.0, 5.0]).unwrap();
        let sparse = Features::Sparse(sparse);
        for rows in [&[0, 2][..], &[1], &[0, 1, 2], &[]] {
            let (a, b) = (dense.rows(rows), sparse.rows(rows));
            assert_eq!((a.n_samples(), b.n_samples()), (rows.len(), rows.len()));
            for (at, &i) in rows.iter().enumerate() {
                for j in 0..2 {
                    assert_eq!((a.value(at, j), b.value(at, j)), (x[3 * j + i], x[3 * j + i]));
                }
            }
        }
    }
}
