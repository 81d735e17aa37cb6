//! Compression of whole files.

/// Compression of a whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Not compressed.
    Plain,
    /// gzip, one or more members.
    Gzip,
    /// Zstandard.
    Zstd,
    /// bzip2.
    Bzip2,
}

impl Compression {
    pub(crate) const ENDINGS: [(&'static str, Compression); 3] =
        [(".gz", Compression::Gzip), (".zst", Compression::Zstd), (".bz2", Compression::Bzip2)];

    /// Compression by the ending of a file name.
    pub fn of_path(path: &str) -> Compression {
        let lower = path.to_ascii_lowercase();
        Self::ENDINGS.iter().find(|(ending, _)| lower.ends_with(ending)).map_or(Compression::Plain, |e| e.1)
    }

    /// Compression by the first bytes of a file.
    pub(crate) fn of_bytes(head: &[u8]) -> Compression {
        if head.starts_with(&[0x1f, 0x8b]) {
            Compression::Gzip
        } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            Compression::Zstd
        } else if head.len() >= 10 && head.starts_with(b"BZh") && &head[4..10] == b"1AY&SY" {
            Compression::Bzip2
        } else {
            Compression::Plain
        }
    }

    /// For messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Compression::Plain => "plain",
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::Bzip2 => "bzip2",
        }
    }
}
