//! A time as a number of seconds, in JSON.

use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[allow(clippy::ref_option, reason = "serde hands over the field as it is")]
pub(super) fn serialize<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_secs_f64()).serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let read = |seconds: f64| {
        Duration::try_from_secs_f64(seconds)
            .map_err(|_| D::Error::custom(format!("{seconds} is no number of seconds, 0 or more")))
    };
    Option::<f64>::deserialize(deserializer)?.map(read).transpose()
}
