//! Classifiers of tasks: each judges the samples of its own.

use fewest::Design;
use fewest::model::Model;

/// The classifier of a task.
#[derive(Debug, Clone)]
pub struct TaskClassifier {
    /// The task.
    pub task: String,
    /// The classes that the model numbers, ascending, among those of all samples.
    pub classes: Vec<u32>,
    /// The classifier.
    pub model: Model,
}

impl TaskClassifier {
    /// The two classes that a machine tells apart, among those of all samples.
    fn pair(&self, machine: usize) -> [u32; 2] {
        let machine = &self.model.machines[machine];
        [machine.negative, machine.positive].map(|class| self.classes[class as usize])
    }
}

/// Decisions of the classifiers of tasks on samples.
#[derive(Debug, Clone)]
pub struct TaskDecisions {
    /// The pairs of classes that some task tells apart; positive values speak for the second.
    pub pairs: Vec<[u32; 2]>,
    /// The class of each sample, among those of all.
    pub predicted: Vec<u32>,
    /// The decision value of each sample for each pair; none where its task has not that pair.
    pub decisions: Vec<Vec<Option<f64>>>,
}

/// Each sample by the classifier of its task. `design` has the features of the models as the
/// columns that these name, prepared; `tasks` names the task of each sample.
///
/// # Errors
/// The first sample of a task that has no classifier, and that task.
pub fn judge_tasks(
    each: &[TaskClassifier],
    design: &dyn Design,
    tasks: &[String],
) -> Result<TaskDecisions, (usize, String)> {
    let mut pairs: Vec<[u32; 2]> = Vec::new();
    for one in each {
        for pair in (0..one.model.machines.len()).map(|at| one.pair(at)) {
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
    }
    let unknown = |task: &&String| each.iter().all(|one| one.task != **task);
    if let Some((at, task)) = tasks.iter().enumerate().find(|(_, task)| unknown(task)) {
        return Err((at, task.clone()));
    }
    let (mut predicted, mut decisions) = (vec![0; tasks.len()], vec![vec![None; pairs.len()]; tasks.len()]);
    for one in each {
        let of: Vec<usize> = (0..tasks.len()).filter(|&i| tasks[i] == one.task).collect();
        let values = one.model.decisions(&*design.select_samples(&of));
        let count = one.model.machines.len();
        let column = |at: usize| pairs.iter().position(|pair| *pair == one.pair(at)).unwrap_or(0);
        let columns: Vec<usize> = (0..count).map(column).collect();
        for ((&i, class), values) in of.iter().zip(one.model.votes(&values)).zip(values.chunks(count)) {
            predicted[i] = one.classes[class as usize];
            columns.iter().zip(values).for_each(|(&column, value)| decisions[i][column] = Some(*value));
        }
    }
    Ok(TaskDecisions { pairs, predicted, decisions })
}
