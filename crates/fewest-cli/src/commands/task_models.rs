//! The classifiers of tasks, each trained on the samples of its task and the features of all; what
//! is taken together, in words.

use fewest::model::FitSettings;
use fewest::{Clock, Report};
use fewest_eval::TaskClassifier;
use fewest_result::{TaskModels, TrainedModel};
use serde_json::Value;

use super::prepare::PreparedData;
use super::selection::Task;
use crate::failure::Failure;

impl PreparedData {
    /// The classifier of each task on the chosen features; none without tasks or where nothing was
    /// selected.
    pub(super) fn task_classifiers(
        &self,
        column: &str,
        report: &Report,
        settings: FitSettings,
        clock: &Clock,
    ) -> Result<Option<TaskModels>, Failure> {
        let svm = settings.svm.clone();
        let each = self.training().task_classifiers(report, settings, clock).map_err(|error| self.failure(error))?;
        let one = |TaskClassifier { task, classes, model }: TaskClassifier| {
            let mut trained = self.trained(model, &svm);
            trained.classes = classes.iter().map(|&class| self.target.classes[class as usize].clone()).collect();
            (task, trained)
        };
        let (column, classes) = (column.to_owned(), self.target.classes.clone());
        let each: Vec<(String, TrainedModel)> = each.into_iter().map(one).collect();
        Ok((!each.is_empty()).then_some(TaskModels { column, each, classes }))
    }
}

impl Task<'_> {
    /// The classifier of each task on what a report selected, where there are tasks.
    pub(super) fn train_tasks(&self, report: &Report, clock: &Clock) -> Result<Option<TaskModels>, Failure> {
        let Some(column) = self.options.text("tasks") else { return Ok(None) };
        let svm = self.prepared.method_data().svm(self.options.args().task_svm());
        let settings = report.fit_settings(&svm, self.options.fit_cost(), &self.rules);
        self.prepared.task_classifiers(&column, report, settings, clock)
    }

    /// What was taken together, where it is more than one problem.
    pub(crate) fn problems_text(&self, report: &Report) -> Option<String> {
        let problems = report.details.get("problems")?;
        let (number, column) = (|key: &str| problems.get(key).and_then(Value::as_u64), self.options.text("tasks"));
        let how = problems.get("multi_class").and_then(Value::as_str);
        Some(fewest_report::problems(number("number")?, how, number("tasks").zip(column.as_deref())))
    }

    /// Which samples stay together, in words.
    pub(crate) fn groups_text(&self) -> Option<String> {
        let (groups, column) = (self.prepared.groups.as_ref()?, self.args.groups.as_deref()?);
        Some(fewest_report::groups(column, groups.count() as u64))
    }
}
