//! Values of datasets and attributes as numbers or text, whatever their type is.

use hdf5_reader::{ByteOrder, Dataset, Datatype, EnumMember, StringPadding, StringSize, VarLenKind};

use super::file::{Hdf, Node};
use crate::DataError;
use crate::io::items::{Item, Kind};
use crate::io::windows::text_of;

/// Bytes that a text takes beside its characters.
pub(super) const TEXT: u64 = 40;

/// The numbers of a type; none where it is none.
pub(super) fn item(kind: &Datatype) -> Option<Item> {
    let (kind, width, order) = match kind {
        Datatype::FixedPoint { size, signed, byte_order } => {
            (if *signed { Kind::Signed } else { Kind::Unsigned }, *size, *byte_order)
        }
        Datatype::FloatingPoint { size, byte_order } if *size > 1 => (Kind::Float, *size, *byte_order),
        Datatype::Bitfield { size, byte_order } => (Kind::Unsigned, *size, *byte_order),
        Datatype::Enum { base, members } => {
            let item = item(base)?;
            return Some(if is_truth(members) { Item { kind: Kind::Bool, ..item } } else { item });
        }
        _ => return None,
    };
    let width = usize::from(width);
    [1, 2, 4, 8].contains(&width).then_some(Item { kind, width, big: order == ByteOrder::BigEndian })
}

/// Whether the members of an enumeration are those of a truth value.
fn is_truth(members: &[EnumMember]) -> bool {
    let words = ["FALSE", "TRUE"];
    members.len() == 2 && members.iter().zip(words).all(|(member, word)| member.name.eq_ignore_ascii_case(word))
}

/// How the values of a type become text.
enum Reading<'t> {
    Number(Item),
    /// Names of values.
    Named(Item, &'t [EnumMember]),
    Fixed(usize, StringPadding),
    Free,
}

impl<'t> Reading<'t> {
    /// Reading of a type; none where it holds neither numbers nor text.
    fn of(kind: &'t Datatype) -> Option<Self> {
        match kind {
            Datatype::Enum { members, .. } if !is_truth(members) => Some(Reading::Named(item(kind)?, members)),
            Datatype::String { size: StringSize::Fixed(width), padding, .. } => {
                Some(Reading::Fixed(*width as usize, *padding))
            }
            Datatype::String { size: StringSize::Variable, .. } => Some(Reading::Free),
            Datatype::VarLen { kind: VarLenKind::String, base, .. } if base.is_vlen_string_base() => {
                Some(Reading::Free)
            }
            _ => Some(Reading::Number(item(kind)?)),
        }
    }
}

/// A table of records, or an array of values: where each value lies.
pub(super) struct Cells<'d> {
    pub(super) raw: &'d [u8],
    /// Bytes from one to the next.
    pub(super) stride: usize,
    /// Where in a record it begins.
    pub(super) offset: usize,
    pub(super) kind: &'d Datatype,
}

impl Hdf<'_> {
    /// The bytes of all items of a dataset.
    pub(super) fn raw(&self, dataset: &Dataset) -> Result<Vec<u8>, DataError> {
        let items = dataset.num_elements().map_err(|e| self.error(&e))?;
        let width = dataset.raw_element_size().map_err(|e| self.error(&e))?;
        self.check_size(&format!("array `{}`", dataset.name()), items.saturating_mul(width as u64))?;
        dataset.read_raw_bytes().map_err(|e| self.error(&e))
    }

    /// The values of a dataset of one dimension (or of one column) as text; none of any other.
    pub(super) fn texts(&self, dataset: &Dataset) -> Result<Option<Vec<String>>, DataError> {
        if !matches!(dataset.shape(), [_] | [_, 1]) || Reading::of(dataset.dtype()).is_none() {
            return Ok(None);
        }
        let raw = self.raw(dataset)?;
        let stride = dataset.raw_element_size().map_err(|e| self.error(&e))?;
        let node = Node::Dataset(Box::new(dataset.clone()));
        self.texts_of(&node, &Cells { raw: &raw, stride, offset: 0, kind: dataset.dtype() })
    }

    /// The texts of some values; `node` is what they are of.
    pub(super) fn texts_of(&self, node: &Node, cells: &Cells<'_>) -> Result<Option<Vec<String>>, DataError> {
        let Some(reading) = Reading::of(cells.kind) else { return Ok(None) };
        if cells.stride == 0 {
            return Ok(None);
        }
        let count = cells.raw.len() / cells.stride;
        let mut bytes = count as u64 * TEXT;
        self.check_size("the text of a column", bytes)?;
        let mut texts = Vec::with_capacity(count);
        for record in cells.raw.chunks_exact(cells.stride) {
            let cell = record.get(cells.offset..).unwrap_or_default();
            let text = self.text(node, &reading, cell)?;
            bytes += text.len() as u64;
            // Many places may refer to one long text.
            self.check_size("the text of a column", bytes)?;
            texts.push(text);
        }
        Ok(Some(texts))
    }

    fn text(&self, node: &Node, reading: &Reading<'_>, cell: &[u8]) -> Result<String, DataError> {
        let part = |width: usize| cell.get(..width).ok_or_else(|| self.damaged("a value is cut short"));
        Ok(match reading {
            Reading::Number(item) => item.text(part(item.width)?),
            Reading::Named(item, members) => {
                let bytes = part(item.width)?;
                let found = members.iter().find(|member| member.value == bytes);
                found.map_or_else(|| item.text(bytes), |member| member.name.clone())
            }
            Reading::Fixed(width, padding) => fixed(part(*width)?, *padding),
            Reading::Free => {
                // The first four bytes count those of the text; a text of none has no place.
                if part(4)? == [0; 4] {
                    return Ok(String::new());
                }
                let bytes = node.resolve(cell).map_err(|e| self.error(&e))?;
                text_of(&bytes).0.trim_end_matches('\0').to_owned()
            }
        })
    }

    /// An attribute as texts; none where it is not there or holds none.
    pub(super) fn attribute_texts(&self, node: &Node, name: &str) -> Result<Option<Vec<String>>, DataError> {
        let Some(attribute) = self.attribute(node, name)? else { return Ok(None) };
        let Ok(items) = attribute.dataspace.num_elements() else { return Ok(None) };
        if items == 0 {
            return Ok(Some(Vec::new()));
        }
        let stride = attribute.raw_data.len() / usize::try_from(items).unwrap_or(usize::MAX);
        let cells = Cells { raw: &attribute.raw_data, stride, offset: 0, kind: &attribute.datatype };
        self.texts_of(node, &cells)
    }

    /// An attribute of one text.
    pub(super) fn attribute_text(&self, node: &Node, name: &str) -> Result<Option<String>, DataError> {
        Ok(self.attribute_texts(node, name)?.and_then(|mut texts| texts.pop()))
    }
}

/// A text of a fixed width.
fn fixed(bytes: &[u8], padding: StringPadding) -> String {
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    let (text, _) = text_of(&bytes[..end]);
    if padding == StringPadding::SpacePad { text.trim_end_matches(' ').to_owned() } else { text }
}
