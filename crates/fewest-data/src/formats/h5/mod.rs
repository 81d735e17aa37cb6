//! HDF5 files of cells: h5ad (AnnData), HDF5 of Cell Ranger (10x), loom and gctx.
//!
//! HDF5 itself is read by the crate `hdf5-reader` 0.12 (MIT or Apache-2.0, Rust alone, no build
//! script, Rust 1.81). It has superblocks 0 to 3, both kinds of groups and of attributes, all chunk
//! indices (also layout 5 of HDF5 2.0, which h5py writes with `libver="latest"`), deflate, shuffle,
//! fletcher32, szip, nbit, scale-offset; LZF and zstd are given to it here. It reads a chunk at a
//! time, takes limits for chunks, reads and headers, and 1.5 million damaged files (a minute) made
//! it neither panic nor take memory. Its `unsafe` is for mapped files, which are not used here, and
//! for copies of numbers. It brings sixteen crates along, ndarray and parking_lot the largest.
//!
//! `hdf5-pure` 0.47 (MIT or Apache-2.0, Rust 1.89) was the other choice: LZF built in, two crates in
//! all. The same minute gave panics (an overflow in its chunk reader), it has few limits on memory,
//! does not read layout 5, breaks its interface about weekly, and is 120 thousand lines, most of
//! them for writing.

mod anndata;
mod file;
mod loom;
mod lzf;
mod matrix;
mod tenx;
mod texts;

use crate::formats::annotations::Annotations;
use crate::formats::columns::Sorted;
use crate::formats::compressed;
use crate::io::source::Source;
use crate::meaning::binary::named;
use crate::{DataError, Dataset, Format, Names, Note, ReadOptions};
use file::{Hdf, Node};
use matrix::Matrix;

/// What a file holds, its matrix not read.
struct Opened<'a> {
    format: Format,
    matrix: Matrix<'a>,
    names: Names,
    annotations: Annotations,
    notes: Vec<Note>,
}

/// Reads a file, whichever of the four it is.
pub(crate) fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, DataError> {
    let hdf = Hdf::open(source, options)?;
    let Opened { format, mut matrix, names, annotations, notes } = open(&hdf, options)?;
    // A wrong target is reported before a long matrix is read.
    annotations.target(&source.name, options)?;
    let features = compressed::features(&mut matrix)?;
    annotations.dataset(&source.name, format, features, names, notes, options)
}

/// Reads what a column file at `out` is to hold; nothing is dropped.
pub(crate) fn sorted(source: &Source, options: &ReadOptions, out: &str) -> Result<Sorted, DataError> {
    let hdf = Hdf::open(source, options)?;
    let Opened { mut matrix, names, annotations, mut notes, .. } = open(&hdf, options)?;
    let (target, _, more) = annotations.target(&source.name, options)?;
    let (values, normalized) = compressed::sorted(&mut matrix, &names, options, out)?;
    notes.extend(more.into_iter().chain(normalized));
    crate::matrix::dataset::refuse_text(&source.name, options)?;
    Ok(Sorted { values, names, target, notes })
}

/// Tells what the file is by what is in it, as all four may be named `.h5`.
fn open<'a>(hdf: &'a Hdf<'a>, options: &ReadOptions) -> Result<Opened<'a>, DataError> {
    let members = hdf.members(&hdf.root)?;
    let has = |name: &str| members.iter().any(|member| member == name);
    let mut opened = if has("obs") && has("var") {
        anndata::open(hdf, options)?
    } else if has("matrix") && has("col_attrs") {
        loom::open(hdf, options)?
    } else if let Some(matrix) = hdf.group("0/DATA/0")? {
        refuse_layer(hdf, options)?;
        loom::open_gctx(hdf, &matrix, options)?
    } else if let Some(opened) = tenx::open(hdf, &members, options)? {
        opened
    } else {
        return Err(unknown(hdf, &members));
    };
    let form = opened.matrix.form;
    if form.n == 0 {
        return Err(DataError::NoRows { file: hdf.file.to_owned() });
    }
    let p = opened.matrix.wanted.as_ref().map_or(form.p, Vec::len);
    if opened.names.len() != p {
        return Err(hdf.damaged(format!("{} names for the {p} columns of the matrix", opened.names.len())));
    }
    opened.matrix.held = opened.annotations.bytes();
    if let Names::Listed(names) = &opened.names {
        // Each of them twice, while they are looked up.
        opened.matrix.held += names.iter().map(|name| 2 * name.len() as u64 + 120).sum::<u64>();
    }
    Ok(opened)
}

fn refuse_layer(hdf: &Hdf<'_>, options: &ReadOptions) -> Result<(), DataError> {
    if options.layer.is_none() {
        return Ok(());
    }
    Err(hdf.unsupported("a gctx file has one matrix, but ⟦layer⟧ was asked for", "leave it out"))
}

/// The error of HDF5 that holds something else.
fn unknown(hdf: &Hdf<'_>, members: &[String]) -> DataError {
    if members.iter().any(|name| name == "assays") {
        let remedy = "write h5ad in R: SeuratDisk::Convert('x.h5seurat', dest = 'h5ad')";
        return hdf.unsupported("the HDF5 file is an h5Seurat file, which is not read", remedy);
    }
    let what = format!(
        "the HDF5 file is neither h5ad nor 10x, loom or gctx; it holds {}",
        if members.is_empty() { "nothing".to_owned() } else { crate::names::some_of(members) }
    );
    hdf.unsupported(what, "write it as h5ad: anndata.AnnData(X, obs, var).write_h5ad('x.h5ad')")
}

/// Names of features, made different where that is asked for.
fn feature_names(hdf: &Hdf<'_>, names: Vec<String>, options: &ReadOptions) -> Result<Names, DataError> {
    named(hdf.file, names, options)
}

/// The matrix that was asked for is not there.
fn no_layer(hdf: &Hdf<'_>, asked: Option<&str>, layers: &[String]) -> DataError {
    let what = match asked {
        Some(name) => format!("there is no layer `{name}`"),
        None => "there is no matrix X".to_owned(),
    };
    let typed = |name: &String| format!("⟦layer={name}⟧");
    let remedy = match layers {
        [] => "write the matrix into the file".to_owned(),
        some => format!("say {}", some.iter().take(10).map(typed).collect::<Vec<_>>().join(" or ")),
    };
    hdf.unsupported(what, remedy)
}

/// The rank of a node is that of a matrix: two dimensions, or a group of compressed arrays.
fn is_matrix(node: &Node) -> bool {
    match node {
        Node::Dataset(dataset) => dataset.ndim() == 2,
        Node::Group(_) => true,
    }
}
