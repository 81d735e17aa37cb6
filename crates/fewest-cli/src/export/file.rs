//! Output files: found unwritable before the long run, written whole or not at all.

use std::fs::File;
use std::io::{BufWriter, LineWriter, Write};
use std::path::{Path, PathBuf};

use fewest_data::Draft;

use crate::failure::{Failure, plain};
use crate::terminal::Terminal;

/// Bytes that are written at once.
const BUFFER: usize = 1 << 16;

/// Where an output goes.
#[derive(Debug, Clone)]
pub(crate) enum Sink {
    /// Standard output.
    Stdout,
    /// A regular file, replaced as a whole.
    File(PathBuf),
    /// A device or pipe, written directly.
    Stream(PathBuf),
}

impl Sink {
    /// Checks the path before the run. `-` is standard output.
    pub(crate) fn open(option: &str, path: &Path) -> Result<Self, Failure> {
        if path.as_os_str() == "-" {
            return Ok(Sink::Stdout);
        }
        let fail = |why: &str| {
            Failure::Input(format!(
                "{option} {}: cannot be written: {why}; choose a path in an existing folder that you may write to",
                path.display()
            ))
        };
        // A link stays a link: its target is replaced.
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        match std::fs::metadata(&path) {
            Ok(kind) if kind.is_dir() => return Err(fail("it is a folder")),
            Ok(kind) if !kind.is_file() => return Ok(Sink::Stream(path)),
            Ok(kind) if kind.permissions().readonly() => return Err(fail("it is read-only")),
            Ok(_) | Err(_) => {}
        }
        if path.file_name().is_none() {
            return Err(fail("it names no file"));
        }
        let probe = beside(&path);
        File::create_new(&probe).map_err(|error| fail(&plain(&error)))?;
        let _ = std::fs::remove_file(&probe);
        Ok(Sink::File(path))
    }

    /// As [`Sink::open`], for an option that may be absent.
    pub(crate) fn open_if(option: &str, path: Option<&PathBuf>) -> Result<Option<Self>, Failure> {
        path.map(|path| Self::open(option, path)).transpose()
    }

    /// Refuses two outputs at one place. Each has the name of its option; an output that was not
    /// asked for is none.
    pub(crate) fn apart(outputs: &[(&str, Option<&Sink>)]) -> Result<(), Failure> {
        let outputs: Vec<(&str, &Sink)> = outputs.iter().filter_map(|&(name, sink)| Some((name, sink?))).collect();
        for (at, (name, sink)) in outputs.iter().enumerate() {
            let Some((other, _)) = outputs[..at].iter().find(|other| sink.is_same(other.1)) else { continue };
            return Err(Failure::Input(match sink {
                Sink::Stdout => {
                    format!("only one of {other} and {name} can go to standard output; name a file for the other")
                }
                Sink::File(path) | Sink::Stream(path) => {
                    format!("{other} and {name} are both {}; name two files", path.display())
                }
            }));
        }
        Ok(())
    }

    /// Whether both write to the same file, or to standard output.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Sink::Stdout, Sink::Stdout) => true,
            // Many may write to a device, such as /dev/null.
            (Sink::File(path), Sink::File(other)) => is_same(path, other),
            _ => false,
        }
    }

    /// Whether it is standard output.
    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self, Sink::Stdout)
    }

    /// Writes all of it.
    ///
    /// # Errors
    /// A failed write; the file is then as it was before.
    pub(crate) fn write(&self, text: &str, terminal: Terminal) -> Result<(), Failure> {
        self.write_with(&mut |out| out.write_all(text.as_bytes()), terminal)
    }

    /// Writes all that `write` writes, bit by bit.
    ///
    /// # Errors
    /// A failed write; the file is then as it was before.
    pub(crate) fn write_with(
        &self,
        write: &mut dyn FnMut(&mut dyn Write) -> std::io::Result<()>,
        terminal: Terminal,
    ) -> Result<(), Failure> {
        let mut into = |file: &File| {
            let mut out = BufWriter::with_capacity(BUFFER, file);
            write(&mut out)?;
            out.flush()
        };
        match self {
            Sink::Stdout => terminal.out_with(write),
            Sink::Stream(path) => {
                let wrote = File::options().write(true).open(path).and_then(|file| into(&file));
                wrote.map_err(|error| Failure::writing(&path.display().to_string(), &error))
            }
            Sink::File(path) => {
                let wrote = Draft::new(path).and_then(|draft| {
                    into(draft.file())?;
                    draft.file().sync_all()?;
                    draft.put()
                });
                wrote.map_err(|error| Failure::writing(&path.display().to_string(), &error))
            }
        }
    }

    /// Has `write` make a file, which becomes the sink's own once it is whole; its name keeps the
    /// ending.
    ///
    /// # Errors
    /// What `write` says, or a failed rename.
    pub(crate) fn replace(&self, write: impl FnOnce(&Path) -> Result<(), Failure>) -> Result<(), Failure> {
        let Sink::File(path) = self else {
            return Err(Failure::input("--write-model needs a file of its own; name one that ends in .mps or .lp"));
        };
        let ending = path.extension().map(|e| e.to_string_lossy().into_owned()).unwrap_or_default();
        let temporary = beside(path).with_extension(ending);
        let wrote = write(&temporary).and_then(|()| {
            std::fs::rename(&temporary, path).map_err(|error| Failure::writing(&path.display().to_string(), &error))
        });
        if wrote.is_err() {
            let _ = std::fs::remove_file(&temporary);
        }
        wrote
    }

    /// A writer for lines that others may follow while they come (a trace): the file itself,
    /// emptied.
    pub(crate) fn follow(&self) -> std::io::Result<Box<dyn Write>> {
        match self {
            Sink::Stdout => Ok(Box::new(std::io::stdout())),
            Sink::File(path) | Sink::Stream(path) => Ok(Box::new(LineWriter::new(File::create(path)?))),
        }
    }
}

/// Whether two paths are of one file, which need not be there.
pub(crate) fn is_same(path: &Path, other: &Path) -> bool {
    path == other || identity(path).is_some_and(|id| Some(id) == identity(other)) || whole(path) == whole(other)
}

/// Device and number of a file that there is.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// The path of a file that there is, without links.
#[cfg(not(unix))]
fn identity(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok()
}

/// The path of a file that need not be there, its folder without links.
fn whole(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::canonicalize(folder).unwrap_or_default().join(path.file_name().unwrap_or_default())
}

/// A name in the same folder that no other run uses.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    // WebAssembly has no processes; a page runs one command at a time, on files of its own.
    let run = if cfg!(target_family = "wasm") { 0 } else { std::process::id() };
    path.with_file_name(format!(".{name}.{run}.part"))
}
