//! What was asked of the data, as all results say it.

use fewest_data::{Dataset, ReadOptions, ScaleKind, ScaleReason, Target};
use fewest_eval::Groups;
use fewest_result::{Asked, GroupsAsked};

use super::data_as_read::DataAsRead;
use super::prepare::PreparedData;
use super::scaling_words::scale_name;
use crate::args::data::PrepareArgs;

impl DataAsRead {
    /// How they were read and are to be prepared; `groups` is the column that names them.
    pub(crate) fn asked(&self, prepare: &PrepareArgs, groups: Option<&str>) -> Asked {
        let (scale, groups) = (prepare.scaling(&self.data.features), asked_groups(self.groups.as_ref(), groups));
        Asked { groups, ..of_data(&self.data, &self.target, &self.reading, prepare, scale) }
    }
}

impl PreparedData {
    /// How they were read and prepared; `groups` is the column that names them.
    pub(crate) fn asked(&self, prepare: &PrepareArgs, groups: Option<&str>) -> Asked {
        let scale = (self.learnt.scaling.kind, self.learnt.scale_reason);
        let groups = asked_groups(self.groups.as_ref(), groups);
        Asked { groups, ..of_data(&self.data, &self.target, &self.reading, prepare, scale) }
    }
}

fn asked_groups(groups: Option<&Groups>, column: Option<&str>) -> Option<GroupsAsked> {
    groups.map(|groups| GroupsAsked { column: column.map(str::to_owned), count: groups.count() })
}

fn of_data(
    data: &Dataset,
    target: &Target,
    reading: &ReadOptions,
    prepare: &PrepareArgs,
    (kind, reason): (ScaleKind, ScaleReason),
) -> Asked {
    Asked {
        data: data.source.clone(),
        format: Some(data.format.name().to_owned()),
        target: Some(target.column.clone()),
        reading: reading.clone(),
        missing: Some(prepare.missing.name().to_owned()),
        scale: Some(scale_name(kind).to_owned()),
        scale_reason: Some(reason.text().to_owned()),
        sample_weights: prepare.sample_weights.clone(),
        threads: rayon::current_num_threads(),
        ..Asked::default()
    }
}
