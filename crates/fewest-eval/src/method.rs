//! A method of any list: those of `fewest`, those of papers, or a caller's own.

use std::sync::Arc;

use fewest::method::path::SizeReport;
use fewest::{AnyMethod, Error, Info, Limits, Observer, Report, Rules, Samples, Selector};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// A method with its settings.
trait Listed: Selector {
    /// The settings.
    fn value(&self) -> Value;
}

impl<M: Selector + Serialize> Listed for M {
    fn value(&self) -> Value {
        serde_json::to_value(self).expect("settings are numbers, lists and names")
    }
}

/// A method of any list, such as [`AnyMethod`].
#[derive(Debug, Clone)]
pub struct SomeMethod(Arc<dyn Listed>);

impl SomeMethod {
    /// This method.
    pub fn new(method: impl Selector + Serialize + 'static) -> Self {
        Self(Arc::new(method))
    }
}

impl From<AnyMethod> for SomeMethod {
    fn from(method: AnyMethod) -> Self {
        Self::new(method)
    }
}

impl Serialize for SomeMethod {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.value().serialize(serializer)
    }
}

impl Selector for SomeMethod {
    fn info(&self) -> Info {
        self.0.info()
    }

    fn select(
        &self,
        samples: &Samples<'_>,
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Report, Error> {
        self.0.select(samples, rules, limits, observer)
    }

    fn path(
        &self,
        samples: &Samples<'_>,
        rules: &Rules,
        sizes: &[usize],
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Result<Vec<SizeReport>, Error> {
        self.0.path(samples, rules, sizes, limits, observer)
    }
}
