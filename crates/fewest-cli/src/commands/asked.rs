//! What was asked of the data, as all results say it.

use fewest_data::{Dataset, ReadOptions, ScaleKind, ScaleReason, Target};
use fewest_eval::Groups;
use fewest_result::{Asked, GroupsAsked};
use serde_json::{Map, Value};

use super::data_as_read::DataAsRead;
use super::prepare::PreparedData;
use crate::args::data::PrepareArgs;
use crate::cli::SelectionArgs;

impl DataAsRead {
    /// How they were read and are to be prepared; `groups` is the column that names them.
    pub(crate) fn asked(&self, prepare: &PrepareArgs, groups: Option<&str>) -> Asked {
        let scale = prepare.scaling(&self.data.features, self.centred);
        of_data(&self.data, &self.target, &self.reading, (self.groups.as_ref(), groups), prepare, scale)
    }
}

impl PreparedData {
    /// How they were read and prepared; `groups` is the column that names them.
    pub(crate) fn asked(&self, prepare: &PrepareArgs, groups: Option<&str>) -> Asked {
        let scale = (self.learnt.scaling.kind, self.learnt.scale_reason);
        of_data(&self.data, &self.target, &self.reading, (self.groups.as_ref(), groups), prepare, scale)
    }
}

/// What was asked of a method in folds or halves: its options, and how each part is prepared.
pub(crate) fn asked_of_method(own: Map<String, Value>, selection: &SelectionArgs, raw: &DataAsRead) -> Asked {
    let time_limit = selection.time_limit.map(|time| time.as_secs_f64());
    let asked = raw.asked(&selection.prepare, selection.groups.as_deref());
    let threshold = selection.rules.variance_threshold;
    Asked { variance_threshold: threshold, ..of_method(own, time_limit, asked) }
}

/// The options of a method, with what was asked of the data; what is a key of its own there moves. The
/// same whatever the threads.
pub(crate) fn of_method(mut own: Map<String, Value>, time_limit: Option<f64>, asked: Asked) -> Asked {
    let mut text = |key: &str| own.remove(key).and_then(|value| value.as_str().map(str::to_owned));
    let class_weight = Some(text("class_weight").unwrap_or_else(|| "none".to_owned()));
    let tasks = text("tasks");
    Asked { class_weight, tasks, time_limit, threads: None, own, ..asked }
}

fn of_data(
    data: &Dataset,
    target: &Target,
    reading: &ReadOptions,
    (groups, column): (Option<&Groups>, Option<&str>),
    prepare: &PrepareArgs,
    (kind, reason): (ScaleKind, ScaleReason),
) -> Asked {
    Asked {
        data: Some(data.source.clone()),
        format: Some(data.format.name().to_owned()),
        target: Some(target.column.clone()),
        reading: reading.clone(),
        missing: Some(prepare.missing.name().to_owned()),
        scale: Some(kind.to_string()),
        scale_reason: Some(reason.text().to_owned()),
        sample_weights: prepare.sample_weights.clone(),
        groups: groups.map(|groups| GroupsAsked { column: column.map(str::to_owned), count: groups.count() }),
        threads: Some(rayon::current_num_threads()),
        ..Asked::default()
    }
}
