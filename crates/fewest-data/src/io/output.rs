//! Writing files: compressed by ending, to a draft in the same folder that takes its place when
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

/// A draft, then its place.
fn replace(path: &str, body: impl FnOnce(Sink<'_>) -> io::Result<()>) -> io::Result<()> {
    let draft = Draft::new(path)?;
    compressed(Compression::of_path(path), draft.file(), body)?;
    draft.put()
}

/// A file that is not at its place yet, in the same folder. Where the system allows (Linux, most file systems) it has
/// no name until then, so that nothing is left of it whatever ends the process; elsewhere it is
/// removed when dropped.
pub struct Draft {
    content: Content,
    /// The place of the finished file; a link is followed, so that its aim is replaced and not the
    /// link.
    place: PathBuf,
}

enum Content {
    #[cfg(target_os = "linux")]
    Nameless(File),
    Named(NamedTempFile),
}

impl Draft {
    /// An empty draft of `path`.
    ///
    /// # Errors
    /// A folder, or one in which no file can be made.
    pub fn new(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if place.is_dir() {
            return Err(io::Error::other("it is a folder"));
        }
        let folder = folder_of(&place);
        #[cfg(target_os = "linux")]
        if let Some(file) = nameless(folder) {
            return Ok(Self { content: Content::Nameless(file), place });
        }
        Ok(Self { content: Content::Named(named(folder)?), place })
    }

    /// The file, at the position of all who write to it by this.
    pub fn file(&self) -> &File {
        match &self.content {
            #[cfg(target_os = "linux")]
            Content::Nameless(file) => file,
            Content::Named(file) => file.as_file(),
        }
    }

    /// The file once more, at a position of its own.
    ///
    /// # Errors
    /// A system that does not open it again.
    pub fn reopen(&self) -> io::Result<File> {
        match &self.content {
            #[cfg(target_os = "linux")]
            Content::Nameless(file) => File::options().read(true).write(true).open(descriptor(file)),
            // On WASI `reopen` is not there, and no other program that could put a file in its place.
            #[cfg(target_os = "wasi")]
            Content::Named(file) => File::options().read(true).write(true).open(file.path()),
            #[cfg(not(target_os = "wasi"))]
            Content::Named(file) => file.reopen(),
        }
    }

    /// Puts the draft to its place, over what was there.
    ///
    /// # Errors
    /// A place that cannot be replaced.
    pub fn put(self) -> io::Result<()> {
        match self.content {
            #[cfg(target_os = "linux")]
            Content::Nameless(file) => {
                // A link cannot replace a file, so it gets a name beside its place first.
                let beside = tempfile::Builder::new().prefix(PREFIX).make_in(folder_of(&self.place), |path| {
                    let follow = rustix::fs::AtFlags::SYMLINK_FOLLOW;
                    Ok(rustix::fs::linkat(rustix::fs::CWD, descriptor(&file), rustix::fs::CWD, path, follow)?)
                })?;
                beside.into_temp_path().persist(&self.place).map_err(|e| e.error)
            }
            Content::Named(file) => file.persist(&self.place).map(|_| ()).map_err(|e| e.error),
        }
    }
}

/// How the names of drafts begin.
const PREFIX: &str = ".fewest-";

fn folder_of(place: &Path) -> &Path {
    place.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A draft with a name.
fn named(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder).map_err(|e| {
        e.get_ref()
            .and_then(|_| e.raw_os_error())
            .map_or_else(|| io::Error::from(e.kind()), io::Error::from_raw_os_error)
    })
}

/// A draft without a name, where the file system has such files and they can be named later.
#[cfg(target_os = "linux")]
fn nameless(folder: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(folder, flags, Mode::from_raw_mode(0o666)).ok()?);
    fs::metadata(descriptor(&file)).is_ok().then_some(file)
}

/// The path by which an open file can be opened again or linked.
#[cfg(target_os = "linux")]
fn descriptor(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd as _;
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
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
        #[cfg(target_family = "wasm")]
        Compression::Zstd => return Err(io::ErrorKind::Unsupported.into()),
        #[cfg(not(target_family = "wasm"))]
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Names in a folder.
    fn names(folder: &Path) -> Vec<String> {
        let name =
            |entry: io::Result<fs::DirEntry>| entry.expect("an entry").file_name().to_string_lossy().into_owned();
        let mut names: Vec<String> = fs::read_dir(folder).expect("a folder").map(name).collect();
        names.sort();
        names
    }

    #[test]
    fn a_draft_takes_its_place_when_complete_or_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("a.csv");
        let path = place.to_str().expect("UTF-8");
        for content in ["first", "second, longer"] {
            save(path, |out| out.write_all(content.as_bytes())).expect("written");
            assert_eq!(fs::read_to_string(&place).expect("read"), content);
            assert_eq!(names(folder.path()), ["a.csv"]);
        }
        save(path, |out| out.write_all(b"half").and_then(|()| Err(io::Error::other("no more")))).expect_err("fails");
        assert_eq!(fs::read_to_string(&place).expect("read"), "second, longer");
        assert_eq!(names(folder.path()), ["a.csv"]);
    }

    #[test]
    fn a_named_draft_does_the_same() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("a.csv");
        let draft = Draft { content: Content::Named(named(folder.path()).expect("named")), place: place.clone() };
        assert_eq!(names(folder.path()).len(), 1);
        draft.reopen().expect("again").write_all(b"text").expect("written");
        draft.put().expect("put");
        assert_eq!((fs::read_to_string(&place).expect("read"), names(folder.path()).len()), ("text".to_owned(), 1));
        drop(Draft { content: Content::Named(named(folder.path()).expect("named")), place });
        assert_eq!(names(folder.path()), ["a.csv"]);
    }

    /// What is left where the process is killed in the middle of a write.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_draft_has_no_name_before_it_is_complete() {
        let folder = tempfile::tempdir().expect("a folder");
        if nameless(folder.path()).is_none() {
            return;
        }
        let path = folder.path().join("a.csv");
        let seen = |out: Sink<'_>| {
            out.write_all(&vec![b'1'; 1 << 20])?;
            assert_eq!(names(folder.path()), [""; 0]);
            Ok(())
        };
        save(path.to_str().expect("UTF-8"), seen).expect("written");
        assert_eq!(names(folder.path()), ["a.csv"]);
    }
}
