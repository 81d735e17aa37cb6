//! Reading a result: every entry may be missing, as other versions of the command may have written
//! it.

use serde_json::{Map, Value};

/// A result, or a part of one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Json<'a>(pub(crate) &'a Value);

impl<'a> Json<'a> {
    /// An entry; null where there is none.
    pub(crate) fn at(self, key: &str) -> Json<'a> {
        Json(self.0.get(key).unwrap_or(&Value::Null))
    }

    /// A finite number.
    pub(crate) fn number(self) -> Option<f64> {
        self.0.as_f64().filter(|x| x.is_finite())
    }

    /// An integer.
    pub(crate) fn count(self) -> Option<u64> {
        self.0.as_u64()
    }

    /// Text.
    pub(crate) fn text(self) -> Option<&'a str> {
        self.0.as_str()
    }

    /// The entries of a list; none where it is no list.
    pub(crate) fn items(self) -> impl DoubleEndedIterator<Item = Json<'a>> + ExactSizeIterator + Clone {
        self.0.as_array().map_or(&[][..], Vec::as_slice).iter().map(Json)
    }

    /// The entries of an object, in its order.
    pub(crate) fn entries(self) -> impl Iterator<Item = (&'a str, Json<'a>)> {
        self.0.as_object().into_iter().flat_map(Map::iter).map(|(key, value)| (key.as_str(), Json(value)))
    }

    /// A list of texts.
    pub(crate) fn texts(self) -> Vec<&'a str> {
        self.items().filter_map(Json::text).collect()
    }

    /// Whether it is there.
    pub(crate) fn is_there(self) -> bool {
        !self.0.is_null()
    }

    /// A pair of numbers.
    pub(crate) fn pair(self) -> Option<(f64, f64)> {
        let mut items = self.items();
        Some((items.next()?.number()?, items.next()?.number()?))
    }
}
