//! The bytes of a proof file: a line of JSON, then integers, numbers and lists, all of a length
//! that is checked before memory is taken for them.

use std::io::{BufRead, BufReader, ErrorKind, Read};

use flate2::bufread::MultiGzDecoder;

/// The most bytes of the header.
pub(crate) const MOST_HEADER: u64 = 64 << 20;
/// The most bytes of the text of the last record.
const MOST_TEXT: u64 = 4096;

/// What is wrong with a record, in words.
pub(crate) type Checked<T> = Result<T, String>;

/// A reader that counts its bytes.
struct Counted<R>(R, u64);

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let count = self.0.read(out)?;
        self.1 += count as u64;
        Ok(count)
    }
}

/// The unpacked bytes of a proof file.
pub(crate) struct File<R: Read> {
    bytes: BufReader<MultiGzDecoder<BufReader<Counted<R>>>>,
}

impl<R: Read> File<R> {
    pub(crate) fn new(file: R) -> Self {
        let packed = BufReader::with_capacity(1 << 16, Counted(file, 0));
        Self { bytes: BufReader::with_capacity(1 << 16, MultiGzDecoder::new(packed)) }
    }

    /// Bytes read of the file as it is stored.
    pub(crate) fn read(&self) -> u64 {
        self.bytes.get_ref().get_ref().get_ref().1
    }

    /// The first line.
    pub(crate) fn header(&mut self) -> Checked<String> {
        let mut line = Vec::new();
        (&mut self.bytes).take(MOST_HEADER).read_until(b'\n', &mut line).map_err(|error| error.to_string())?;
        match line.pop() {
            Some(b'\n') => String::from_utf8(line).map_err(|_| "its first line is not UTF-8".to_owned()),
            _ if line.len() as u64 + 1 >= MOST_HEADER => Err(format!("its first line is above {MOST_HEADER} bytes")),
            _ => Err("it ends within its first line".to_owned()),
        }
    }

    fn array<const N: usize>(&mut self) -> Checked<[u8; N]> {
        let mut bytes = [0; N];
        self.bytes.read_exact(&mut bytes).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => "the file ends here".to_owned(),
            _ => format!("the file cannot be read: {error}"),
        })?;
        Ok(bytes)
    }

    pub(crate) fn byte(&mut self) -> Checked<u8> {
        Ok(self.array::<1>()?[0])
    }

    /// LEB128, at most 64 bits.
    pub(crate) fn integer(&mut self) -> Checked<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                break;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err("an integer has more than 64 bits".to_owned())
    }

    /// Zigzag, then LEB128.
    pub(crate) fn signed(&mut self) -> Checked<i64> {
        let zigzag = self.integer()?;
        Ok((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }

    /// Eight bytes, little endian; infinite is allowed, not a number is not.
    pub(crate) fn number(&mut self) -> Checked<f64> {
        let number = f64::from_le_bytes(self.array()?);
        if number.is_nan() { Err("a number is NaN".to_owned()) } else { Ok(number) }
    }

    /// A feature or another index below `end`.
    pub(crate) fn index(&mut self, what: &str, end: usize) -> Checked<usize> {
        let index = self.integer()?;
        if index < end as u64 { Ok(index as usize) } else { Err(format!("{what} {index} is not below {end}")) }
    }

    /// A strictly ascending list of indices below `end`.
    pub(crate) fn ascending(&mut self, what: &str, end: usize) -> Checked<Vec<usize>> {
        let length = self.index("the length of a list,", end + 1)?;
        let mut list: Vec<usize> = Vec::with_capacity(length);
        for at in 0..length {
            let step = self.integer()?;
            let next = list.last().map_or(0, |last| *last as u64).saturating_add(step);
            if next >= end as u64 || (at > 0 && step == 0) {
                return Err(format!("a list of {what}s does not ascend or has one not below {end}"));
            }
            list.push(next as usize);
        }
        Ok(list)
    }

    /// A list that must have this length.
    pub(crate) fn list<T>(&mut self, length: usize, read: impl Fn(&mut Self) -> Checked<T>) -> Checked<Vec<T>> {
        let stated = self.integer()?;
        if stated != length as u64 {
            return Err(format!("a list has length {stated}, but belongs to one of length {length}"));
        }
        (0..length).map(|_| read(self)).collect()
    }

    pub(crate) fn text(&mut self) -> Checked<String> {
        let length = self.integer()?;
        if length > MOST_TEXT {
            return Err(format!("a text has {length} bytes, more than {MOST_TEXT}"));
        }
        let bytes: Vec<u8> = (0..length).map(|_| self.byte()).collect::<Checked<_>>()?;
        String::from_utf8(bytes).map_err(|_| "a text is not UTF-8".to_owned())
    }

    /// That nothing follows.
    pub(crate) fn end(&mut self) -> Checked<()> {
        match self.bytes.fill_buf() {
            Ok([]) => Ok(()),
            Ok(_) => Err("bytes follow the last record".to_owned()),
            Err(error) => Err(format!("the file cannot be read to its end: {error}")),
        }
    }
}
