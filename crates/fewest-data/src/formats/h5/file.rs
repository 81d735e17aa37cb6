//! An open HDF5 file: its groups, datasets and attributes, and what errors mean.

use std::sync::Arc;

use hdf5_reader::error::Error;
use hdf5_reader::filters::FilterFn;
use hdf5_reader::group::Group;
use hdf5_reader::messages::attribute::AttributeMessage;
use hdf5_reader::storage::DynStorage;
use hdf5_reader::{Dataset, FilterRegistry, Hdf5File, OpenOptions};

use super::lzf;
use crate::io::memory::check_memory;
use crate::io::source::Source;
use crate::{DataError, ReadOptions};

/// Filter numbers that the HDF Group has given out.
const LZF: u16 = 32000;
#[cfg(not(target_family = "wasm"))]
const ZSTD: u16 = 32015;

/// A file and what may be taken of it.
pub(super) struct Hdf<'a> {
    pub(super) file: &'a str,
    pub(super) memory: u64,
    /// Largest number of rows or columns that is believed.
    pub(super) largest: u64,
    /// Bytes of the file.
    bytes: u64,
    pub(super) root: Group,
}

/// What a name in a group stands for.
pub(super) enum Node {
    Group(Group),
    Dataset(Box<Dataset>),
}

impl<'a> Hdf<'a> {
    pub(super) fn open(source: &'a Source, options: &ReadOptions) -> Result<Self, DataError> {
        let (file, memory) = (source.name.as_str(), options.memory());
        let damaged = |what: String| DataError::Damaged { file: file.into(), what };
        let (storage, bytes) = storage(source, memory)?;
        let most = usize::try_from(most_bytes(bytes).min(memory)).unwrap_or(usize::MAX);
        let settings = OpenOptions::default()
            .with_chunk_cache_bytes(0)
            .with_max_chunk_bytes(most)
            .with_max_read_bytes(most)
            .with_filter_registry(filters(most));
        let opened = Hdf5File::from_storage_with_options(storage, settings);
        let root = opened.and_then(|opened| opened.root_group()).map_err(|e| match e {
            Error::InvalidMagic => DataError::Unsupported {
                file: file.into(),
                what: "the file is not HDF5, as its ending says".into(),
                remedy: "name its format with ⟦format⟧".into(),
            },
            e => damaged(e.to_string()),
        })?;
        Ok(Self { file, memory, largest: options.largest_index(source.trusted_bytes()), bytes, root })
    }

    pub(super) fn damaged(&self, what: impl Into<String>) -> DataError {
        DataError::Damaged { file: self.file.into(), what: what.into() }
    }

    pub(super) fn unsupported(&self, what: impl Into<String>, remedy: impl Into<String>) -> DataError {
        DataError::Unsupported { file: self.file.into(), what: what.into(), remedy: remedy.into() }
    }

    /// What an error of the crate means.
    pub(super) fn error(&self, error: &Error) -> DataError {
        let remedy = "write the file again with gzip, such as adata.write_h5ad('x.h5ad', compression='gzip')";
        match error {
            Error::Context { path, source } => match &**source {
                Error::UnsupportedFilter(_) | Error::UnsupportedEncoding(_) => {
                    self.unsupported(format!("{path}: {source}"), remedy)
                }
                _ => self.damaged(error.to_string()),
            },
            Error::UnsupportedFilter(_) | Error::UnsupportedEncoding(_) => self.unsupported(error.to_string(), remedy),
            _ => self.damaged(error.to_string()),
        }
    }

    /// Refuses what is larger than the file can hold by any compression.
    pub(super) fn check_plausible(&self, what: &str, bytes: u64) -> Result<(), DataError> {
        if bytes <= most_bytes(self.bytes) {
            return Ok(());
        }
        Err(self.damaged(format!("{what} is to hold {bytes} bytes, more than the file can")))
    }

    /// Refuses what is larger than the file can hold, and what takes more than the memory.
    pub(super) fn check_size(&self, what: &str, bytes: u64) -> Result<(), DataError> {
        self.check_plausible(what, bytes)?;
        check_memory(self.file, what, bytes, self.memory)
    }

    /// What a name in a group stands for; none where it is not there.
    pub(super) fn find(&self, group: &Group, name: &str) -> Result<Option<Node>, DataError> {
        match group.dataset(name) {
            Ok(dataset) => return Ok(Some(Node::Dataset(Box::new(dataset)))),
            Err(e) if is_missing(&e) => {}
            Err(e) => return Err(self.error(&e)),
        }
        match group.group(name) {
            Ok(group) => Ok(Some(Node::Group(group))),
            Err(e) if is_missing(&e) => Ok(None),
            Err(e) => Err(self.error(&e)),
        }
    }

    /// What a path from the root stands for.
    pub(super) fn at(&self, path: &str) -> Result<Option<Node>, DataError> {
        self.under(&self.root, path)
    }

    /// What a path from a group stands for.
    pub(super) fn under(&self, group: &Group, path: &str) -> Result<Option<Node>, DataError> {
        let mut node = Node::Group(group.clone());
        for name in path.split('/') {
            let Node::Group(group) = node else { return Ok(None) };
            match self.find(&group, name)? {
                Some(found) => node = found,
                None => return Ok(None),
            }
        }
        Ok(Some(node))
    }

    /// The group at a path.
    pub(super) fn group(&self, path: &str) -> Result<Option<Group>, DataError> {
        Ok(match self.at(path)? {
            Some(Node::Group(group)) => Some(group),
            _ => None,
        })
    }

    /// The dataset of a name in a group, without which the file is of no use.
    pub(super) fn dataset(&self, group: &Group, name: &str) -> Result<Dataset, DataError> {
        match self.find(group, name)? {
            Some(Node::Dataset(dataset)) => Ok(*dataset),
            _ => Err(self.damaged(format!("there is no array `{name}` in `{}`", group.name()))),
        }
    }

    /// Names of all members of a group: groups, then datasets.
    pub(super) fn members(&self, group: &Group) -> Result<Vec<String>, DataError> {
        let (mut names, datasets) = group.member_names().map_err(|e| self.error(&e))?;
        names.extend(datasets);
        Ok(names)
    }

    /// An attribute of a group or dataset.
    pub(super) fn attribute(&self, node: &Node, name: &str) -> Result<Option<AttributeMessage>, DataError> {
        // Texts of all attributes may take more than the memory: only this one is decoded.
        let attributes = match node {
            Node::Group(group) => group.raw_attributes(),
            Node::Dataset(dataset) => dataset.raw_attributes(),
        };
        let attributes = attributes.map_err(|e| self.error(&e))?;
        let found = attributes.into_iter().find(|attribute| attribute.name() == name);
        Ok(found.map(|attribute| attribute.into_parts().0))
    }
}

impl Node {
    /// Resolves a reference to a text of free length.
    pub(super) fn resolve(&self, reference: &[u8]) -> Result<Vec<u8>, Error> {
        match self {
            Node::Group(group) => group.resolve_vlen_reference_bytes(reference, 1),
            Node::Dataset(dataset) => dataset.resolve_vlen_reference_bytes(reference, 1),
        }
    }
}

/// What the crate reads from, and its bytes.
#[cfg(not(target_family = "wasm"))]
fn storage(source: &Source, _: u64) -> Result<(DynStorage, u64), DataError> {
    let handle = source.seekable()?;
    let bytes = handle.metadata().map_err(|e| source.read_error(e))?.len();
    let damaged = |e: Error| DataError::Damaged { file: source.name.clone(), what: e.to_string() };
    Ok((Arc::new(hdf5_reader::FileStorage::from_file(handle).map_err(damaged)?), bytes))
}

/// The whole file in memory: the crate has no other way there.
#[cfg(target_family = "wasm")]
fn storage(source: &Source, memory: u64) -> Result<(DynStorage, u64), DataError> {
    use std::io::Read as _;
    let (mut all, mut limited) = (Vec::new(), source.reader()?.take(memory.saturating_add(1)));
    limited.read_to_end(&mut all).map_err(|e| source.read_error(e))?;
    let bytes = all.len() as u64;
    check_memory(&source.name, "the file", bytes, memory)?;
    Ok((Arc::new(hdf5_reader::BytesStorage::new(all)), bytes))
}

/// Most bytes that a file holds: deflate packs at most 1032 into one.
fn most_bytes(bytes: u64) -> u64 {
    bytes.saturating_mul(1040).saturating_add(1 << 16)
}

fn is_missing(error: &Error) -> bool {
    match error {
        Error::Context { source, .. } => is_missing(source),
        other => matches!(other, Error::DatasetNotFound(_) | Error::GroupNotFound(_)),
    }
}

/// The filters of the crate, and two that files of cells have.
fn filters(most: usize) -> FilterRegistry {
    let mut filters = FilterRegistry::new();
    let lzf: FilterFn = Box::new(move |filter, data, _| {
        // The third number is the size of the chunk.
        let most = filter.client_data.get(2).map_or(most, |&size| most.min(size as usize));
        lzf::decompress(data, most).ok_or_else(|| Error::DecompressionError("damaged LZF data".into()))
    });
    #[cfg(not(target_family = "wasm"))]
    let zstd: FilterFn = Box::new(move |_, data, _| {
        let mut out = Vec::new();
        let decoder = zstd::Decoder::new(data)?;
        std::io::Read::read_to_end(&mut std::io::Read::take(decoder, most as u64 + 1), &mut out)?;
        if out.len() > most { Err(Error::DecompressionError("a chunk larger than allowed".into())) } else { Ok(out) }
    });
    filters.register(LZF, lzf);
    #[cfg(not(target_family = "wasm"))]
    filters.register(ZSTD, zstd);
    filters
}
