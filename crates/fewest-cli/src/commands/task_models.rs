//! The classifiers of tasks, each trained on the samples of its task and the features of all.

use fewest::model::{self, FitSettings, Model};
use fewest::{Report, RowMatrix, Status};

use super::prepare::PreparedData;
use super::selection::Task;
use crate::export::task_models::TaskModels;
use crate::failure::Failure;

impl PreparedData {
    /// The classifier of each task on the chosen features; none without tasks or where nothing was
    /// selected.
    ///
    /// # Errors
    /// As [`PreparedData::train`].
    pub(super) fn task_classifiers(
        &self,
        column: &str,
        report: &Report,
        mut settings: FitSettings,
        stop: &mut dyn FnMut() -> Option<Status>,
    ) -> Result<Option<TaskModels>, Failure> {
        let subset = report.selection.outcome.subset.as_ref().filter(|subset| !subset.is_empty());
        let (Some(tasks), Some(subset)) = (&self.tasks, subset) else { return Ok(None) };
        let (features, design): (Vec<usize>, _) = (subset.iter().collect(), self.data.features.as_design());
        settings.weight_bounds = settings.weight_bounds.of_all(&features);
        let what = || format!("training on {} samples and {} features", self.weights.len(), features.len());
        let _rows = self.account.reserve(2 * RowMatrix::bytes(design, features.len()), what, "use fewer features")?;
        let all: Vec<usize> = (0..features.len()).collect();
        let rows = design.rows(&features).design();
        let mut each = Vec::new();
        for (task, name) in tasks.names.iter().enumerate() {
            let of: Vec<usize> = (0..tasks.codes.len()).filter(|&i| tasks.codes[i] as usize == task).collect();
            let mut known: Vec<u32> = of.iter().map(|&i| self.target.codes[i]).collect();
            known.sort_unstable();
            known.dedup();
            let code = |i: &usize| known.binary_search(&self.target.codes[*i]).expect("listed above") as u32;
            let codes: Vec<u32> = of.iter().map(code).collect();
            let weights: Vec<f64> = of.iter().map(|&i| self.weights[i]).collect();
            let part = rows.select_samples(&of);
            let model = model::fit(&*part, &all, &codes, &weights, &settings, stop)?;
            let mut trained = self.trained(Model { features: features.clone(), ..model }, &settings.svm);
            trained.classes = known.iter().map(|&class| self.target.classes[class as usize].clone()).collect();
            each.push((name.clone(), trained));
        }
        Ok(Some(TaskModels { column: column.to_owned(), each, classes: self.target.classes.clone() }))
    }
}

impl Task<'_> {
    /// The classifier of each task on what a report selected, where there are tasks.
    ///
    /// # Errors
    /// More memory needed than allowed.
    pub(super) fn train_tasks(
        &self,
        report: &Report,
        stop: &mut dyn FnMut() -> Option<Status>,
    ) -> Result<Option<TaskModels>, Failure> {
        let Some(column) = self.options.text("tasks") else { return Ok(None) };
        let svm = self.prepared.method_data().svm(self.options.args().task_svm());
        let settings = report.fit_settings(&svm, self.options.fit_cost(), &self.rules);
        self.prepared.task_classifiers(&column, report, settings, stop)
    }
}
