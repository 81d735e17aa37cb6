//! Loom: a dense matrix of genes x cells, with attributes of both. And gctx: samples x genes, with
//! tables of both.

use hdf5_reader::group::Group;

use super::file::{Hdf, Node};
use super::matrix::Matrix;
use super::{Opened, feature_names, is_matrix, no_layer};
use crate::formats::annotations::Annotations;
use crate::{DataError, Format, Names, ReadOptions, TextColumn};

/// Names of the attributes that name genes, in order of preference.
const GENES: [&str; 6] = ["Gene", "gene_names", "var_names", "index", "Accession", "id"];

/// Names of the attributes that name cells, in order of preference.
const CELLS: [&str; 5] = ["CellID", "cell_names", "obs_names", "index", "barcode"];

/// The number that stands for a missing value in gctx.
const MISSING: &str = "-666";

pub(super) fn open<'a>(hdf: &'a Hdf<'a>, options: &ReadOptions) -> Result<Opened<'a>, DataError> {
    let path = match options.layer.as_deref() {
        None | Some("X" | "matrix") => "matrix".to_owned(),
        Some(name) => format!("layers/{}", name.trim_start_matches("layers/")),
    };
    let Some(Node::Dataset(dataset)) = hdf.at(&path)?.filter(is_matrix) else {
        let mut layers = match hdf.group("layers")? {
            Some(group) => hdf.members(&group)?,
            None => Vec::new(),
        };
        layers.insert(0, "matrix".into());
        return Err(no_layer(hdf, options.layer.as_deref(), &layers));
    };
    let matrix = Matrix::dense(hdf, *dataset, true)?;
    tables(hdf, matrix, ("row_attrs", &GENES), ("col_attrs", &CELLS), Format::Loom, options)
}

pub(super) fn open_gctx<'a>(hdf: &'a Hdf<'a>, group: &Group, options: &ReadOptions) -> Result<Opened<'a>, DataError> {
    let matrix = Matrix::dense(hdf, hdf.dataset(group, "matrix")?, false)?;
    let mut opened = tables(hdf, matrix, ("0/META/ROW", &["id"]), ("0/META/COL", &["id"]), Format::Gctx, options)?;
    for text in opened.annotations.columns.iter_mut().flat_map(|column| &mut column.values) {
        if text == MISSING {
            text.clear();
        }
    }
    Ok(opened)
}

/// The tables of a matrix: groups with an array for each column, of which some name the rows.
fn tables<'a>(
    hdf: &'a Hdf<'a>,
    matrix: Matrix<'a>,
    genes: (&str, &[&str]),
    cells: (&str, &[&str]),
    format: Format,
    options: &ReadOptions,
) -> Result<Opened<'a>, DataError> {
    let (n, p) = (matrix.form.n, matrix.form.p);
    let names = match names(hdf, genes, p)? {
        Some((_, names)) => feature_names(hdf, names, options)?,
        None => Names::Numbered(p),
    };
    let samples = names_of_samples(hdf, cells, n)?;
    let group = hdf.group(cells.0)?;
    let columns = match &group {
        Some(group) => hdf.members(group)?,
        None => Vec::new(),
    };
    let columns = columns.into_iter().filter(|name| samples.as_ref().is_none_or(|column| column.name != *name));
    let annotations = Annotations::wanted(samples.clone(), columns.collect(), options, |name| {
        let Some(group) = &group else { return Ok(None) };
        texts(hdf, group, name, n)
    })?;
    Ok(Opened { format, matrix, names, annotations, notes: Vec::new() })
}

fn names_of_samples(hdf: &Hdf<'_>, cells: (&str, &[&str]), n: usize) -> Result<Option<TextColumn>, DataError> {
    Ok(names(hdf, cells, n)?.map(|(name, values)| TextColumn { name, values }))
}

/// The first array of `count` texts by one of the names, and that name.
fn names(
    hdf: &Hdf<'_>,
    (path, names): (&str, &[&str]),
    count: usize,
) -> Result<Option<(String, Vec<String>)>, DataError> {
    let Some(group) = hdf.group(path)? else { return Ok(None) };
    for name in names {
        if let Some(texts) = texts(hdf, &group, name, count)? {
            return Ok(Some(((*name).to_owned(), texts)));
        }
    }
    Ok(None)
}

/// A column of `count` texts; none where it is not of that form.
fn texts(hdf: &Hdf<'_>, group: &Group, name: &str, count: usize) -> Result<Option<Vec<String>>, DataError> {
    match hdf.find(group, name)? {
        Some(Node::Dataset(dataset)) => Ok(hdf.texts(&dataset)?.filter(|texts| texts.len() == count)),
        _ => Ok(None),
    }
}
