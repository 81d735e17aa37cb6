//! An object of JSON as a list.

use std::collections::HashMap;
use std::fmt;

use fewest_data::key_of_class;
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An object with an entry for each name, in order: of features, classes or measures.
#[derive(Debug, Clone, PartialEq)]
pub struct ByName<T>(pub Vec<(String, T)>);

impl<T> ByName<T> {
    /// An entry for each name.
    pub fn new<N: Into<String>>(names: impl IntoIterator<Item = N>, values: impl IntoIterator<Item = T>) -> Self {
        Self(names.into_iter().map(Into::into).zip(values).collect())
    }

    /// An entry for each class, under the keys of [`crate::ClassNames`].
    pub fn by_class_key(values: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>) -> Self {
        let values = values.into_iter();
        let k = values.len();
        Self(values.enumerate().map(|(at, value)| (key_of_class(at, k), value)).collect())
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The entry of a name; reads one after the other.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|entry| entry.0 == name).map(|entry| &entry.1)
    }

    /// Names and entries, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &T)> + ExactSizeIterator {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The entries of these names, in their order.
    pub(crate) fn of(&self, names: &[String], what: &str) -> Result<Vec<&T>, String> {
        let known: HashMap<&str, &T> = self.iter().collect();
        let entry = |name: &String| {
            known.get(name.as_str()).copied().ok_or_else(|| format!("`{name}` is not {what}; write the model again"))
        };
        names.iter().map(entry).collect()
    }
}

impl<T> Default for ByName<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<N: Into<String>, T> FromIterator<(N, T)> for ByName<T> {
    fn from_iter<I: IntoIterator<Item = (N, T)>>(entries: I) -> Self {
        Self(entries.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }
}

impl<T: Serialize> Serialize for ByName<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ByName<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Entries<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = ByName<T>;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("an object with an entry for each name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ByName<T>, A::Error> {
                let mut out = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    out.push(entry);
                }
                Ok(ByName(out))
            }
        }
        from.deserialize_map(Entries(std::marker::PhantomData))
    }
}
