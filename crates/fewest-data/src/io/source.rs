//! Opening files: standard input, compression, reading again from the start.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::OnceLock;

use crate::io::encoding::{ByteOrder, Encoding, TextForm};
use crate::io::windows::NotText;
use crate::{Compression, DataError, Format, Note, Place, ReadOptions};

/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// An open input that can be read several times.
pub(crate) struct Source {
    /// The name for messages.
    pub(crate) name: String,
    file: File,
    compression: Compression,
    memory: u64,
    /// How its text is written; nothing where it is none.
    pub(crate) text: TextForm,
    /// The first line of text in Windows-1252, once it was read.
    windows: OnceLock<u64>,
}

/// A regular file, or standard input (and other streams) copied to an unlinked temporary file; its
/// format, and whether that was guessed from the first bytes.
pub(crate) fn open(path: &str, options: &ReadOptions) -> Result<(Source, Format, bool), DataError> {
    let (name, (file, stream)) = if path == "-" {
        ("standard input".to_owned(), (spool("standard input", &mut io::stdin().lock())?, true))
    } else {
        (path.to_owned(), open_file(path)?)
    };
    let head = peek(&name, &file)?;
    if head.is_empty() {
        return Err(DataError::Empty { file: name });
    }
    let compression = Compression::of_bytes(&head);
    let named = Compression::of_path(path);
    if named != Compression::Plain && compression != named {
        let what = format!("the name says {}, but the data are not", named.name());
        return Err(DataError::Damaged { file: name, what });
    }
    let memory = options.memory();
    let mut source = Source { compression, ..Source::of_text(name, file, memory) };
    let (format, guessed) = match options.format.or_else(|| Format::of_path(path)) {
        Some(format) => (format, false),
        None if stream => (source.sniff()?, true),
        None => return Err(DataError::UnknownFormat { file: source.name }),
    };
    if format.is_text() {
        source.text = source.text_form()?;
    }
    if options.format.is_none() && Format::is_any_text(path) {
        let found = source.sniff()?;
        let is_table = matches!(found, Format::Csv | Format::Tsv);
        let format = if options.transpose && !is_table { format } else { found };
        return Ok((source, format, !is_table));
    }
    Ok((source, format, guessed))
}

/// The file, and whether it is a copied stream.
fn open_file(path: &str) -> Result<(File, bool), DataError> {
    let io_error = |source: io::Error| DataError::Io { file: path.into(), action: "read", source };
    let mut file = File::open(path).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => DataError::NotFound { file: path.into() },
        _ => io_error(e),
    })?;
    let kind = file.metadata().map_err(io_error)?;
    if kind.is_dir() {
        return Err(io_error(io::Error::other("it is a folder")));
    }
    if kind.is_file() { Ok((file, false)) } else { Ok((spool(path, &mut file)?, true)) }
}

/// Copies a stream to a temporary file that has no name.
fn spool(name: &str, input: &mut dyn Read) -> Result<File, DataError> {
    let mut file = tempfile::tempfile().map_err(|source| DataError::Io {
        file: name.into(),
        action: "make a temporary file for",
        source,
    })?;
    io::copy(input, &mut file).map_err(|source| DataError::Io { file: name.into(), action: "read", source })?;
    Ok(file)
}

/// The first bytes.
fn peek(name: &str, mut file: &File) -> Result<Vec<u8>, DataError> {
    let mut head = Vec::new();
    let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.take(16).read_to_end(&mut head));
    read.map_err(|source| DataError::Io { file: name.into(), action: "read", source })?;
    Ok(head)
}

impl Source {
    /// Text in a temporary file, under the name of the file that it is of.
    pub(crate) fn of_text(name: String, file: File, memory: u64) -> Self {
        Self {
            name,
            file,
            compression: Compression::Plain,
            memory,
            text: TextForm::default(),
            windows: OnceLock::new(),
        }
    }

    /// A fresh reader of the uncompressed data from the start, as UTF-8 without a byte order mark
    /// where it is text.
    pub(crate) fn reader(&self) -> Result<Box<dyn Read + Send + '_>, DataError> {
        let mut reader = self.decompressed()?;
        let mut first = Vec::new();
        reader.by_ref().take(MARK.len() as u64).read_to_end(&mut first).map_err(|e| self.read_error(e))?;
        if first == MARK {
            first.clear();
        }
        let reader = Box::new(io::Cursor::new(first).chain(reader));
        Ok(if self.text == TextForm::default() { reader } else { self.text.reader(reader, &self.windows) })
    }

    /// What to tell of the encoding of the text that was read.
    pub(crate) fn note(&self) -> Option<Note> {
        self.windows.get().map(|&line| Note::Windows { place: Place::line(&self.name, line) })
    }

    fn decompressed(&self) -> Result<Box<dyn Read + Send + '_>, DataError> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0)).map_err(|e| self.read_error(e))?;
        Ok(match self.compression {
            Compression::Plain => Box::new(file),
            Compression::Gzip => {
                Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(1 << 16, file)))
            }
            #[cfg(not(target_family = "wasm"))]
            Compression::Zstd => Box::new(zstd::Decoder::new(file).map_err(|e| self.read_error(e))?),
            #[cfg(target_family = "wasm")]
            Compression::Zstd => {
                return Err(DataError::Unsupported {
                    file: self.name.clone(),
                    what: "it is compressed with zstd, which is not built in".into(),
                    remedy: "decompress it first, or compress it with gzip".into(),
                });
            }
            Compression::Bzip2 => {
                Box::new(bzip2::bufread::MultiBzDecoder::new(BufReader::with_capacity(1 << 16, file)))
            }
        })
    }

    /// The file itself, for formats that are mapped.
    pub(crate) fn plain_file(&self) -> Result<&File, DataError> {
        if self.compression == Compression::Plain {
            return Ok(&self.file);
        }
        Err(DataError::Unsupported {
            file: self.name.clone(),
            what: format!(
                "a column file is mapped as it lies on the disk, but this one is compressed ({})",
                self.compression.name()
            ),
            remedy: "decompress it first".into(),
        })
    }

    /// About the bytes of the uncompressed data, from above: sixteen times the size of a compressed
    /// file.
    pub(crate) fn trusted_bytes(&self) -> u64 {
        let bytes = self.file.metadata().map_or(0, |m| m.len());
        if self.compression == Compression::Plain { bytes } else { bytes.saturating_mul(16) }
    }

    /// A file of the uncompressed data at its start, for formats that need to jump.
    pub(crate) fn seekable(&self) -> Result<File, DataError> {
        if self.compression == Compression::Plain {
            match self.file.try_clone() {
                Ok(mut file) => {
                    file.seek(SeekFrom::Start(0)).map_err(|e| self.read_error(e))?;
                    return Ok(file);
                }
                // Where the system has no second handle of a file (WebAssembly), it is copied.
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
                Err(error) => return Err(self.read_error(error)),
            }
        }
        let mut file = tempfile::tempfile().map_err(|e| self.read_error(e))?;
        let mut limited = self.reader()?.take(self.memory.saturating_add(1));
        let copied = io::copy(&mut limited, &mut file).map_err(|e| self.read_error(e))?;
        crate::io::memory::check_memory(&self.name, "the uncompressed file", copied, self.memory)?;
        file.seek(SeekFrom::Start(0)).map_err(|e| self.read_error(e))?;
        Ok(file)
    }

    /// What a failed read means: damaged data when compressed, else the operating system.
    pub(crate) fn read_error(&self, source: io::Error) -> DataError {
        if let Some(error) = NotText::of(&self.name, &source) {
            return error;
        }
        let system = source.raw_os_error().is_some();
        if self.compression == Compression::Plain || system {
            return DataError::Io { file: self.name.clone(), action: "read", source };
        }
        let what = match source.kind() {
            io::ErrorKind::UnexpectedEof => format!("the {} data end too early", self.compression.name()),
            _ => format!("{}: {source}", self.compression.name()),
        };
        DataError::Damaged { file: self.name.clone(), what }
    }

    /// The encoding of the text, by its first bytes.
    ///
    /// # Errors
    /// Bytes that are no text in UTF-8 or UTF-16.
    fn text_form(&self) -> Result<TextForm, DataError> {
        let mut head = Vec::new();
        self.reader()?.take(1 << 16).read_to_end(&mut head).map_err(|e| self.read_error(e))?;
        // The last byte may be the first of two that end a line.
        let carriage_returns = head.iter().rev().skip(1).any(|&b| b == b'\r') && !head.contains(&b'\n');
        head.truncate(1 << 12);
        let zeros = |offset: usize| head.iter().skip(offset).step_by(2).filter(|&&b| b == 0).count();
        let (even, odd) = (zeros(0), zeros(1));
        let encoding = match &head[..] {
            [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => return Err(self.no_text(&head)),
            [0xff, 0xfe, ..] => Encoding::Utf16(ByteOrder::Little),
            [0xfe, 0xff, ..] => Encoding::Utf16(ByteOrder::Big),
            _ if even + odd == 0 => Encoding::Bytes,
            // Of Latin letters and digits every second byte is zero, the first or the second of
            // each pair.
            _ if 4 * even > head.len() && 16 * odd < head.len() => Encoding::Utf16(ByteOrder::Big),
            _ if 4 * odd > head.len() && 16 * even < head.len() => Encoding::Utf16(ByteOrder::Little),
            _ => return Err(self.no_text(&head)),
        };
        Ok(TextForm { encoding, carriage_returns, ..TextForm::default() })
    }

    /// The error of bytes that are no text.
    fn no_text(&self, head: &[u8]) -> DataError {
        let (what, remedy) = match head {
            [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => (
                "the text is in UTF-32, but UTF-8 and UTF-16 are what is read",
                "save it as UTF-8, or convert it: iconv -f UTF-32 -t UTF-8",
            ),
            [b'P', b'K', 3, 4, ..] => (
                "the file is no text but a zip archive, such as an Excel workbook",
                "say ⟦format=xlsx⟧ if it is a workbook, ⟦format=npz⟧ if it is of NumPy, else unpack it",
            ),
            [0xd0, 0xcf, 0x11, 0xe0, ..] => {
                ("the file is no text but an old Excel workbook (.xls)", "save it as .xlsx or .csv")
            }
            _ => (
                "the file holds zero bytes, so it is not text",
                "name its format with ⟦format⟧, or save it as text in UTF-8",
            ),
        };
        DataError::Unsupported { file: self.name.clone(), what: what.into(), remedy: remedy.into() }
    }

    fn sniff(&self) -> Result<Format, DataError> {
        let mut head = Vec::new();
        self.reader()?.take(1 << 16).read_to_end(&mut head).map_err(|e| self.read_error(e))?;
        Ok(Format::sniff(&head))
    }
}
