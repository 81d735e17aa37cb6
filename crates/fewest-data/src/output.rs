//! Writing files: compressed by ending, to a temporary file in the same folder that is renamed when
//! complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::{Compression, DataError};

/// Where a body writes to.
pub(crate) type Sink<'a> = &'a mut (dyn Write + Send);

/// Writes `path` (`-` is standard output) with what `body` puts out, or leaves nothing behind.
///
/// Devices and pipes are written directly, as they cannot be replaced.
///
/// # Errors
/// [`DataError::Output`].
pub(crate) fn save(path: &str, body: impl FnOnce(Sink<'_>) -> io::Result<()>) -> Result<(), DataError> {
    let result = if path == "-" {
        compressed(Compression::Plain, io::stdout(), body).and_then(|mut out| out.flush())
    } else if fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        let device = File::options().write(true).open(path);
        device.and_then(|file| compressed(Compression::of_path(path), file, body)).map(|_| ())
    } else {
        replace(path, body)
    };
    result.map_err(|source| DataError::Output { file: path.into(), source })
}

/// Temporary file, then rename.
fn replace(path: &str, body: impl FnOnce(Sink<'_>) -> io::Result<()>) -> io::Result<()> {
    let (file, aim) = temporary(path)?;
    compressed(Compression::of_path(path), file.as_file(), body)?;
    file.persist(&aim).map(|_| ()).map_err(|e| e.error)
}

/// A temporary file beside `path`, and the path it should be renamed to when it is complete.
pub(crate) fn temporary(path: &str) -> io::Result<(NamedTempFile, PathBuf)> {
    // A link is followed, so that its aim is replaced and not the link.
    let aim = fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
    if aim.is_dir() {
        return Err(io::Error::other("it is a folder"));
    }
    let folder = aim.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".fewest-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder).map_err(|e| {
        e.get_ref()
            .and_then(|_| e.raw_os_error())
            .map_or_else(|| io::Error::from(e.kind()), io::Error::from_raw_os_error)
    })?;
    Ok((file, aim))
}

/// Runs `body` through the compressor and a buffer; all is flushed when it returns.
fn compressed<W: Write + Send>(
    compression: Compression,
    target: W,
    body: impl FnOnce(Sink<'_>) -> io::Result<()>,
) -> io::Result<W> {
    let mut buffered = BufWriter::with_capacity(1 << 16, target);
    match compression {
        Compression::Plain => body(&mut buffered)?,
        Compression::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(&mut buffered, flate2::Compression::default());
            body(&mut encoder)?;
            encoder.finish()?;
        }
        Compression::Zstd => {
            let mut encoder = zstd::Encoder::new(&mut buffered, 0)?;
            body(&mut encoder)?;
            encoder.finish()?;
        }
        Compression::Bzip2 => {
            let mut encoder = bzip2::write::BzEncoder::new(&mut buffered, bzip2::Compression::default());
            body(&mut encoder)?;
            encoder.finish()?;
        }
    }
    buffered.into_inner().map_err(io::IntoInnerError::into_error)
}
