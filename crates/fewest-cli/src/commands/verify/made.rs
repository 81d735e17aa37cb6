//! How the data of a proof were read and prepared: what its header's `made` says, which is not
//! checked, and what a result says.

use fewest::MultiClass;
use fewest_data::ReadOptions;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer};

/// What the command needs of a proof's header besides what the checker reads.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Made {
    pub(super) method: String,
    /// The subset that the method chose, or that was to be judged, where the file lists better ones,
    /// too.
    pub(super) own: Vec<usize>,
    pub(super) settings: Settings,
    pub(super) read: ReadOptions,
}

/// How the data were prepared: settings of the result under their names there.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Settings {
    pub(super) format: Option<String>,
    pub(super) target: Option<String>,
    pub(super) scale: Option<String>,
    pub(super) missing: Option<String>,
    pub(super) class_weight: Option<String>,
    pub(super) sample_weights: Option<String>,
    pub(super) folds: Option<String>,
    pub(super) categorical: Vec<String>,
    #[serde(deserialize_with = "share")]
    pub(super) validate: Option<f64>,
    pub(super) seed: Option<u64>,
    pub(super) tasks: Option<String>,
    pub(super) groups: Option<GroupSettings>,
    pub(super) multi_class: Option<MultiClass>,
    /// How the data are read, as the options of a result say.
    pub(super) reading: ReadOptions,
}

/// How samples were kept together.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct GroupSettings {
    /// The column that names the groups.
    pub(super) column: Option<String>,
}

/// A number, or none where there is another scalar.
fn share<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    struct Share;
    impl Visitor<'_> for Share {
        type Value = Option<f64>;

        fn expecting(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            to.write_str("a share or a file")
        }

        fn visit_f64<E>(self, share: f64) -> Result<Option<f64>, E> {
            Ok(Some(share))
        }

        fn visit_str<E>(self, _: &str) -> Result<Option<f64>, E> {
            Ok(None)
        }

        fn visit_unit<E>(self) -> Result<Option<f64>, E> {
            Ok(None)
        }
    }
    from.deserialize_any(Share)
}

/// What made the proof, as far as its header tells.
pub(super) fn made(header: &str) -> Made {
    #[derive(Deserialize)]
    struct Header {
        #[serde(default)]
        made: Made,
    }
    let header: Option<Header> = serde_json::from_str(header).ok();
    header.map(|header| header.made).unwrap_or_default()
}
