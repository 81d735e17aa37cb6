//! Integers, numbers and lists as bytes: the encodings of docs/formats/proof.md.

/// Kinds of records.
pub(super) mod kind {
    pub(in crate::proof) const SPLIT: u8 = 1;
    pub(in crate::proof) const CLOSE: u8 = 2;
    pub(in crate::proof) const FIX: u8 = 3;
    pub(in crate::proof) const TIGHTEN: u8 = 4;
    pub(in crate::proof) const SUBSET: u8 = 5;
    pub(in crate::proof) const END: u8 = 6;
    pub(in crate::proof) const LEAVE: u8 = 7;
    pub(in crate::proof) const LIMIT: u8 = 8;
    pub(in crate::proof) const EXPAND: u8 = 9;
    pub(in crate::proof) const EXPAND_TO: u8 = 10;
}

/// Bytes in the making.
#[derive(Debug, Default)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl Bytes {
    pub(super) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    /// LEB128: seven bits a byte, the lowest first.
    pub(super) fn integer(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// Zigzag, then LEB128.
    pub(super) fn signed(&mut self, value: i64) {
        self.integer(((value << 1) ^ (value >> 63)) as u64);
    }

    /// IEEE 754, little endian.
    pub(super) fn number(&mut self, value: f64) {
        self.0.extend(value.to_le_bytes());
    }

    /// The length, then each entry.
    pub(super) fn integers(&mut self, list: &[u64]) {
        self.integer(list.len() as u64);
        for &value in list {
            self.integer(value);
        }
    }

    /// The length, then each entry.
    pub(super) fn numbers(&mut self, list: &[f64]) {
        self.integer(list.len() as u64);
        for &value in list {
            self.number(value);
        }
    }

    /// The length, the first entry, then differences; the list must ascend strictly.
    pub(super) fn ascending(&mut self, list: impl ExactSizeIterator<Item = u64>) {
        self.integer(list.len() as u64);
        let mut before = None;
        for value in list {
            debug_assert!(before.is_none_or(|before| before < value), "the list must ascend");
            self.integer(value - before.unwrap_or(0));
            before = Some(value);
        }
    }

    /// The length in bytes, then UTF-8.
    pub(super) fn text(&mut self, text: &str) {
        self.integer(text.len() as u64);
        self.0.extend(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::Bytes;

    fn read(bytes: &mut &[u8]) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = bytes[0];
            *bytes = &bytes[1..];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return value;
            }
            shift += 7;
        }
    }

    #[test]
    fn integers_come_back() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), (1 << 53) - 1, u64::MAX] {
            let mut bytes = Bytes::default();
            bytes.integer(value);
            assert_eq!(bytes.0.len() as u64, u64::from((64 - value.leading_zeros()).div_ceil(7).max(1)));
            let mut rest = &bytes.0[..];
            assert_eq!(read(&mut rest), value);
            assert!(rest.is_empty());
        }
        for value in [0, -1, 1, -64, 64, i64::MIN, i64::MAX] {
            let mut bytes = Bytes::default();
            bytes.signed(value);
            let zigzag = read(&mut &bytes.0[..]);
            assert_eq!((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64), value);
        }
    }

    #[test]
    fn lists_hold_their_length_and_differences() {
        let mut bytes = Bytes::default();
        bytes.ascending([3u64, 4, 200].into_iter());
        assert_eq!(bytes.0, [3, 3, 1, 0xc4, 1]);
        let mut bytes = Bytes::default();
        bytes.numbers(&[1.0]);
        assert_eq!(bytes.0, [1, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
        let mut bytes = Bytes::default();
        bytes.text("ü");
        assert_eq!(bytes.0, [2, 0xc3, 0xbc]);
    }
}
