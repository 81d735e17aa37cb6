//! What the folds of an evaluation say together.

use fewest::validation::{
    FoldMetrics, Stability, Summary, TTest, corrected_t_test, measure_summary, recalls, stability, summaries, t_test,
};

use super::fold::FoldResult;

/// Results of one recipe in all folds that are done.
#[derive(Debug, Clone)]
pub struct Evaluation<'a> {
    /// The result of each fold.
    pub folds: Vec<&'a FoldResult>,
    /// Size of the test part over that of the training part, on average
    /// ([`crate::folds::test_share`]).
    pub test_share: f64,
    /// Number of features.
    pub p: usize,
}

impl<'a> Evaluation<'a> {
    /// Evaluation of the results of a recipe.
    pub fn new(results: &'a [Option<FoldResult>], test_share: f64, p: usize) -> Self {
        Self { folds: results.iter().flatten().collect(), test_share, p }
    }

    /// How many features each fold chose; without a fold not a number.
    pub fn sizes(&self) -> Vec<f64> {
        let sizes: Vec<f64> = self.folds.iter().map(|f| f.selected.len() as f64).collect();
        if sizes.is_empty() { vec![f64::NAN] } else { sizes }
    }

    /// Each measure by name, over the folds in which it has a meaning.
    pub fn summaries(&self) -> Vec<(&'static str, Summary)> {
        if self.folds.is_empty() {
            return Vec::new();
        }
        let folds: Vec<FoldMetrics<'_>> = self.folds.iter().map(|fold| fold.judged()).collect();
        let mut out = summaries(&folds, self.test_share);
        let sets: Vec<f64> = self.folds.iter().filter_map(|f| f.set_f1).collect();
        if !sets.is_empty() {
            out.push(("set_f1", measure_summary("set_f1", &sets, self.test_share, &[])));
        }
        out.push(("n_features", measure_summary("n_features", &self.sizes(), self.test_share, &[])));
        out
    }

    /// Share of each class that is classified right, with its interval; none of a class that no fold
    /// held out.
    pub fn recall(&self) -> Vec<Option<Summary>> {
        recalls(&self.folds.iter().map(|fold| fold.judged()).collect::<Vec<_>>(), self.test_share)
    }

    /// The measures that have no value in some folds, and in how many.
    pub fn undefined(&self) -> Vec<(&'static str, usize)> {
        let mut out: Vec<(&'static str, usize)> = Vec::new();
        for (name, _) in self.folds.iter().flat_map(|fold| fold.metrics.named()).filter(|(_, value)| value.is_none()) {
            match out.iter_mut().find(|(known, _)| *known == name) {
                Some((_, count)) => *count += 1,
                None => out.push((name, 1)),
            }
        }
        out
    }

    /// Each feature that some fold chose, with the share of the folds that did, largest first.
    pub fn frequency(&self) -> Vec<(usize, f64)> {
        let mut count = vec![0u32; self.p];
        self.folds.iter().flat_map(|f| &f.selected).for_each(|&j| count[j] += 1);
        let mut chosen: Vec<usize> = (0..count.len()).filter(|&j| count[j] > 0).collect();
        chosen.sort_by(|&a, &b| count[b].cmp(&count[a]).then(a.cmp(&b)));
        chosen.iter().map(|&j| (j, f64::from(count[j]) / self.folds.len() as f64)).collect()
    }

    /// How alike the subsets of the folds are.
    pub fn stability(&self) -> Option<Stability> {
        stability(&self.folds.iter().map(|f| f.selected.clone()).collect::<Vec<_>>(), self.p)
    }

    /// Samples held out, of `classes` classes. Rows: true classes, columns: predicted ones.
    pub fn confusion(&self, classes: usize) -> Vec<Vec<u64>> {
        let mut total = vec![vec![0u64; classes]; classes];
        for f in &self.folds {
            for (sum, row) in total.iter_mut().zip(&f.confusion) {
                sum.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
            }
        }
        total
    }
}

/// Two evaluations on the same folds: accuracy of the first less that of the second.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The difference in each fold; folds that one of them lacks are left out.
    pub differences: Vec<f64>,
    test_share: f64,
}

impl Comparison {
    /// Compares.
    pub fn new(first: &Evaluation<'_>, second: &Evaluation<'_>) -> Self {
        let same = |a: &FoldResult, b: &FoldResult| a.fold == b.fold && a.repeat == b.repeat;
        let other =
            |a: &&FoldResult| second.folds.iter().find(|b| same(a, b)).map(|b| a.metrics.accuracy - b.metrics.accuracy);
        Self { differences: first.folds.iter().filter_map(other).collect(), test_share: first.test_share }
    }

    /// Mean of the differences, its standard error and interval; none without a fold.
    pub fn summary(&self) -> Option<Summary> {
        let differences = &self.differences;
        (!differences.is_empty()).then(|| measure_summary("difference", differences, self.test_share, &[]))
    }

    /// One-sided paired t-test that the first is better.
    pub fn t_test(&self) -> Option<TTest> {
        t_test(&self.differences)
    }

    /// The t test of the differences, corrected for training samples that folds share.
    pub fn corrected_t_test(&self) -> Option<TTest> {
        corrected_t_test(&self.differences, self.test_share)
    }
}
