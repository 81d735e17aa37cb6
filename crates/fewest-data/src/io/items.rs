//! The items of a binary file: numbers and texts of a fixed width.

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Float,
    Signed,
    Unsigned,
    Bool,
    /// UCS-4 text.
    Unicode,
    /// Byte text.
    Bytes,
}

/// Type, bytes and order of the bytes of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) kind: Kind,
    /// Bytes of an item.
    pub(crate) width: usize,
    /// The largest byte comes first.
    pub(crate) big: bool,
}

/// The value of a number of half precision: 1 bit of sign, 5 of exponent, 10 of fraction.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023) / 1024.0);
    match exponent {
        0 => sign * fraction * 2f64.powi(-14),
        31 if fraction == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        _ => sign * (1.0 + fraction) * 2f64.powi(exponent - 15),
    }
}

impl Item {
    /// Whether it is a number.
    pub(crate) fn is_number(self) -> bool {
        !matches!(self.kind, Kind::Unicode | Kind::Bytes)
    }

    /// Value of a numeric item.
    pub(crate) fn number(self, bytes: &[u8]) -> f64 {
        let mut wide = [0u8; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        if self.big {
            wide[..bytes.len()].reverse();
        }
        let bits = u64::from_le_bytes(wide);
        match (self.kind, bytes.len()) {
            (Kind::Float, 8) => f64::from_bits(bits),
            (Kind::Float, 2) => half(bits as u16),
            (Kind::Float, _) => f64::from(f32::from_bits(bits as u32)),
            (Kind::Signed, width) => {
                let shift = 64 - 8 * width;
                ((bits << shift) as i64 >> shift) as f64
            }
            _ => bits as f64,
        }
    }

    /// Whether an item is text in Windows-1252.
    pub(crate) fn is_windows(self, bytes: &[u8]) -> bool {
        self.kind == Kind::Bytes && crate::io::windows::text_of(bytes).1
    }

    /// Text of an item: a number in shortest form (empty if NaN), a truth value as Python writes it,
    /// or the text itself.
    pub(crate) fn text(self, bytes: &[u8]) -> String {
        match self.kind {
            Kind::Bytes => {
                let end = bytes.iter().rposition(|&b| b != 0).map_or(0, |at| at + 1);
                crate::io::windows::text_of(&bytes[..end]).0
            }
            Kind::Unicode => {
                let code = |c: &[u8]| {
                    let four = [c[0], c[1], c[2], c[3]];
                    if self.big { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
                };
                let text: String = bytes
                    .chunks_exact(4)
                    .map(|c| char::from_u32(code(c)).unwrap_or(char::REPLACEMENT_CHARACTER))
                    .collect();
                text.trim_end_matches('\0').to_owned()
            }
            Kind::Bool => if bytes == [0] { "False" } else { "True" }.to_owned(),
            Kind::Signed | Kind::Unsigned if bytes.len() == 8 => {
                let mut wide: [u8; 8] = bytes.try_into().expect("eight bytes");
                if self.big {
                    wide.reverse();
                }
                let signed = self.kind == Kind::Signed;
                if signed { i64::from_le_bytes(wide).to_string() } else { u64::from_le_bytes(wide).to_string() }
            }
            _ => {
                let value = self.number(bytes);
                if self.kind == Kind::Float && bytes.len() == 4 && value.is_finite() {
                    return crate::number::text_of_single(value);
                }
                if value.is_finite() { crate::number::text(value) } else { String::new() }
            }
        }
    }
}
