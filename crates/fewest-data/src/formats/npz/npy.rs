//! The `.npy` arrays inside an archive: header and values.

use std::io::{self, Read, Write};

use crate::io::items::{Item, Kind};

/// Most bytes of a header that is believed.
const LONGEST_HEADER: usize = 1 << 20;

/// What a header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Array {
    pub(super) item: Item,
    pub(super) fortran: bool,
    pub(super) shape: Vec<usize>,
    /// Bytes of the header.
    pub(super) header: usize,
}

/// Why an array cannot be used.
#[derive(Debug)]
pub(super) enum HeaderError {
    /// The file is damaged.
    Damaged(String),
    /// Items of a type that is neither numbers nor text, as NumPy names it.
    Items(String),
}

impl From<io::Error> for HeaderError {
    fn from(error: io::Error) -> Self {
        HeaderError::Damaged(error.to_string())
    }
}

fn bad(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

/// What a header says, as text.
struct Fields<'t> {
    /// Type of the items, such as `<f8`; for records the list of their fields.
    kind: &'t str,
    fortran: bool,
    shape: Vec<usize>,
}

impl<'t> Fields<'t> {
    fn parse(text: &'t str) -> Option<Self> {
        let value = |key: &str| {
            let at = text.find(&format!("'{key}'"))? + key.len() + 2;
            Some(text[at..].trim_start().strip_prefix(':')?.trim_start())
        };
        let kind = value("descr")?;
        let kind = match kind.strip_prefix('\'') {
            Some(kind) => &kind[..kind.find('\'')?],
            None => &kind[..=kind.strip_prefix('[').and_then(|_| kind.find(']'))?],
        };
        let shape = value("shape")?.strip_prefix('(')?;
        let shape = shape[..shape.find(')')?].split(',').map(str::trim).filter(|s| !s.is_empty());
        let shape = shape.map(|s| s.trim_end_matches('L').parse().ok()).collect::<Option<Vec<usize>>>()?;
        Some(Self { kind, fortran: value("fortran_order")?.starts_with("True"), shape })
    }
}

/// The items of a type as NumPy names it.
fn item(kind: &str) -> Option<Item> {
    let mut chars = kind.chars();
    let (order, letter) = (chars.next()?, chars.next()?);
    let count: usize = chars.as_str().parse().ok()?;
    let (kind, width) = match (letter, count) {
        ('f', 2 | 4 | 8) => (Kind::Float, count),
        ('i', 1 | 2 | 4 | 8) => (Kind::Signed, count),
        ('u', 1 | 2 | 4 | 8) => (Kind::Unsigned, count),
        ('b', 1) => (Kind::Bool, 1),
        ('U', 0..=65536) => (Kind::Unicode, 4 * count),
        ('S', 0..=65536) => (Kind::Bytes, count),
        _ => return None,
    };
    Some(Item { kind, width, big: order == '>' })
}

impl Array {
    /// Reads a header.
    pub(super) fn read(input: &mut dyn Read) -> Result<Self, HeaderError> {
        let mut magic = [0u8; 8];
        input.read_exact(&mut magic)?;
        if &magic[..6] != b"\x93NUMPY" {
            return Err(bad("an entry is not a NumPy array").into());
        }
        let mut size = [0u8; 4];
        let wide = magic[6] >= 2;
        input.read_exact(&mut size[..if wide { 4 } else { 2 }])?;
        let length = u32::from_le_bytes(size) as usize;
        if length > LONGEST_HEADER {
            return Err(bad("the header of an array is longer than 1 MiB").into());
        }
        let mut text = vec![0u8; length];
        input.read_exact(&mut text)?;
        let text = String::from_utf8_lossy(&text);
        let fields = Fields::parse(&text)
            .ok_or_else(|| HeaderError::Damaged(format!("cannot use an array with header {}", text.trim())))?;
        let item = item(fields.kind).ok_or_else(|| HeaderError::Items(fields.kind.to_owned()))?;
        let header = 8 + if wide { 4 } else { 2 } + length;
        let fortran = fields.fortran && fields.shape.len() > 1;
        Ok(Self { item, fortran, shape: fields.shape, header })
    }

    /// Number of items, `None` on overflow.
    pub(super) fn count(&self) -> Option<usize> {
        self.shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d))
    }

    /// Whether the items are numbers.
    pub(super) fn is_number(&self) -> bool {
        self.item.is_number()
    }

    /// Calls `item` with the bytes of every item in the order of the file.
    pub(super) fn each(&self, input: &mut dyn Read, mut item: impl FnMut(usize, &[u8])) -> io::Result<()> {
        let count = self.count().ok_or_else(|| bad("an array too large to count"))?;
        if self.item.width == 0 {
            (0..count).for_each(|at| item(at, &[]));
            return Ok(());
        }
        let at_once = (64 << 10) / self.item.width + 1;
        let mut buffer = vec![0u8; at_once.min(count) * self.item.width];
        let mut at = 0;
        while at < count {
            let take = at_once.min(count - at);
            input.read_exact(&mut buffer[..take * self.item.width])?;
            for bytes in buffer[..take * self.item.width].chunks_exact(self.item.width) {
                item(at, bytes);
                at += 1;
            }
        }
        Ok(())
    }
}

/// Writes a header of version 1; `shape` as Python writes it, e.g. `(3, 4)`.
pub(super) fn write_header(out: &mut dyn Write, descr: &str, fortran: bool, shape: &str) -> io::Result<()> {
    let order = if fortran { "True" } else { "False" };
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    while (10 + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&(text.len() as u16).to_le_bytes())?;
    out.write_all(text.as_bytes())
}
