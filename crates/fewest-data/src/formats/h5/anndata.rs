//! h5ad, as AnnData has written it since its version 0.5: the matrix `X`, `raw`, layers, and the
//! tables `obs` and `var`, which are groups of columns or (old) arrays of records.

use std::collections::HashSet;

use hdf5_reader::group::Group;
use hdf5_reader::{CompoundField, Dataset, Datatype};

use super::file::{Hdf, Node};
use super::matrix::Matrix;
use super::texts::{Cells, item};
use super::{Opened, feature_names, is_matrix, no_layer};
use crate::formats::annotations::Annotations;
use crate::formats::compressed::Kind;
use crate::{DataError, Format, Names, Note, ReadOptions, TextColumn};

/// Name of the names of samples where the file has none for them.
const CELLS: &str = "cell";

pub(super) fn open<'a>(hdf: &'a Hdf<'a>, options: &ReadOptions) -> Result<Opened<'a>, DataError> {
    let (node, raw) = matrix(hdf, options.layer.as_deref())?;
    let obs = Frame::open(hdf, "obs")?;
    let var = match raw {
        None => Frame::open(hdf, "var")?,
        Some(path) => Frame::open(hdf, path)?,
    };
    let genes = var.index()?.map(|(_, names)| names);
    let index = obs.index()?;
    let sides = (index.as_ref().map(|(_, names)| names.len()), genes.as_ref().map(Vec::len));
    let matrix = read_matrix(hdf, node, sides)?;
    let n = matrix.form.n;
    let samples = index.map(|(name, values)| {
        let name = if name == "_index" { CELLS.to_owned() } else { name };
        TextColumn { name, values }
    });
    if samples.as_ref().is_some_and(|column| column.values.len() != n) {
        return Err(hdf.damaged(format!("obs has another number of rows than the {n} of the matrix")));
    }
    let annotations = Annotations::wanted(samples, obs.columns()?, options, |name| {
        Ok(obs.texts(name)?.filter(|texts| texts.len() == n))
    })?;
    let names = match genes {
        Some(names) => feature_names(hdf, names, options)?,
        None => Names::Numbered(matrix.form.p),
    };
    // Scanpy says so of X, of which raw is a copy with more genes.
    let own = matches!(options.layer.as_deref(), None | Some("X" | "raw" | "raw/X" | "raw.X"));
    let logged = own && !options.normalize.is_none() && hdf.at("uns/log1p")?.is_some();
    let notes = logged.then_some(Note::Logged).into_iter().collect();
    Ok(Opened { format: Format::H5ad, matrix, names, annotations, notes })
}

/// The matrix that was asked for, and the table of its columns where that is not `var`.
fn matrix(hdf: &Hdf<'_>, layer: Option<&str>) -> Result<(Node, Option<&'static str>), DataError> {
    let find = |path: &str| Ok::<_, DataError>(hdf.at(path)?.filter(is_matrix));
    let raw = || {
        Ok::<_, DataError>(match find("raw/X")? {
            Some(node) => Some((node, Some("raw/var"))),
            // Before 0.7.
            None => find("raw.X")?.map(|node| (node, Some("raw.var"))),
        })
    };
    let found = match layer {
        None | Some("X") => find("X")?.map(|node| (node, None)),
        Some("raw" | "raw/X" | "raw.X") => raw()?,
        Some(name) => find(&format!("layers/{}", name.trim_start_matches("layers/")))?.map(|node| (node, None)),
    };
    if let Some(found) = found {
        return Ok(found);
    }
    let mut layers = match hdf.group("layers")? {
        Some(group) => hdf.members(&group)?,
        None => Vec::new(),
    };
    if raw()?.is_some() {
        layers.insert(0, "raw".into());
    }
    if layer.is_some() && find("X")?.is_some() {
        layers.insert(0, "X".into());
    }
    Err(no_layer(hdf, layer, &layers))
}

/// A matrix as AnnData writes it. The sides of a sparse one are in an attribute, else those of the
/// tables.
fn read_matrix<'a>(
    hdf: &'a Hdf<'a>,
    node: Node,
    sides: (Option<usize>, Option<usize>),
) -> Result<Matrix<'a>, DataError> {
    if let Node::Dataset(dataset) = node {
        return Matrix::dense(hdf, *dataset, false);
    }
    let form = match hdf.attribute_text(&node, "encoding-type")? {
        Some(form) => Some(form),
        None => hdf.attribute_text(&node, "h5sparse_format")?,
    };
    let kind = match form.as_deref() {
        Some("csr_matrix" | "csr") => Kind::Rows,
        Some("csc_matrix" | "csc") => Kind::Columns,
        other => {
            let what = format!("the matrix is in the form `{}`", other.unwrap_or("unknown"));
            return Err(hdf.unsupported(what, "write it as an array or as scipy.sparse.csr_matrix"));
        }
    };
    let shape = match shape(hdf, &node, "shape")? {
        None => shape(hdf, &node, "h5sparse_shape")?,
        found => found,
    };
    let (Some(shape), Node::Group(group)) = (shape.or_else(|| Some((sides.0? as u64, sides.1? as u64))), node) else {
        return Err(hdf.damaged("the sparse matrix has no shape"));
    };
    Matrix::sparse(hdf, &group, shape, kind)
}

/// An attribute of two numbers.
fn shape(hdf: &Hdf<'_>, node: &Node, name: &str) -> Result<Option<(u64, u64)>, DataError> {
    let Some(attribute) = hdf.attribute(node, name)? else { return Ok(None) };
    let Some(item) = item(&attribute.datatype) else { return Ok(None) };
    let sides: Vec<f64> = attribute.raw_data.chunks_exact(item.width).map(|bytes| item.number(bytes)).collect();
    Ok(match sides[..] {
        [n, p] if n >= 0.0 && p >= 0.0 => Some((n as u64, p as u64)),
        _ => None,
    })
}

/// A table of samples or features.
struct Frame<'a> {
    hdf: &'a Hdf<'a>,
    node: Node,
    /// The bytes of all records, where it is an array of those.
    raw: Vec<u8>,
}

impl<'a> Frame<'a> {
    fn open(hdf: &'a Hdf<'a>, path: &str) -> Result<Self, DataError> {
        let node = hdf.at(path)?.ok_or_else(|| hdf.damaged(format!("there is no table `{path}`")))?;
        let raw = match &node {
            Node::Dataset(dataset) => hdf.raw(dataset)?,
            Node::Group(_) => Vec::new(),
        };
        Ok(Self { hdf, node, raw })
    }

    /// Fields of the records, of a table that has those.
    fn fields(&self) -> Option<(&Dataset, &[CompoundField])> {
        match &self.node {
            Node::Dataset(dataset) => match dataset.dtype() {
                Datatype::Compound { fields, .. } => Some((dataset, fields)),
                _ => Some((dataset, &[])),
            },
            Node::Group(_) => None,
        }
    }

    /// Names of all columns but the index, in their order.
    fn columns(&self) -> Result<Vec<String>, DataError> {
        let index = self.index_name()?;
        let is_column = |name: &String| Some(name) != index.as_ref() && name != "__categories";
        if let Some((_, fields)) = self.fields() {
            return Ok(fields.iter().map(|field| field.name.clone()).filter(is_column).collect());
        }
        let Node::Group(group) = &self.node else { return Ok(Vec::new()) };
        let members = self.hdf.members(group)?;
        let order = self.hdf.attribute_texts(&self.node, "column-order")?.unwrap_or_default();
        // A column `a/b` is in a group `a`, which is none.
        let first = |name: &String| name.split('/').next().unwrap_or_default().to_owned();
        let firsts: HashSet<String> = order.iter().map(first).collect();
        let listed = order.into_iter().filter(|name| members.contains(&first(name)));
        let names: Vec<String> = listed.filter(is_column).collect();
        let others = members.iter().filter(|name| is_column(name) && !firsts.contains(*name));
        Ok(names.iter().chain(others).cloned().collect())
    }

    /// The name of the column that names the rows.
    fn index_name(&self) -> Result<Option<String>, DataError> {
        let named = self.hdf.attribute_text(&self.node, "_index")?;
        let names = ["_index", "index"];
        Ok(match (named, self.fields(), &self.node) {
            (Some(name), _, _) => Some(name),
            (None, Some((_, fields)), _) => {
                let found = fields.iter().find(|field| names.contains(&field.name.as_str()));
                found.map(|field| field.name.clone())
            }
            (None, None, Node::Group(group)) => {
                self.hdf.members(group)?.into_iter().find(|name| names.contains(&name.as_str()))
            }
            (None, None, Node::Dataset(_)) => None,
        })
    }

    /// Names of the rows, and the name of their column.
    fn index(&self) -> Result<Option<(String, Vec<String>)>, DataError> {
        let Some(name) = self.index_name()? else { return Ok(None) };
        let texts = self.texts(&name)?;
        Ok(texts.map(|texts| (name, texts)))
    }

    /// A column as text; none where it has no single value in each row.
    fn texts(&self, name: &str) -> Result<Option<Vec<String>>, DataError> {
        if let Some((dataset, fields)) = self.fields() {
            let Some(field) = fields.iter().find(|field| field.name == name) else { return Ok(None) };
            return self.field(dataset, field);
        }
        let Node::Group(group) = &self.node else { return Ok(None) };
        match self.hdf.under(group, name)? {
            None => Ok(None),
            Some(Node::Dataset(dataset)) => {
                // Until 0.7: codes, and their categories beside them.
                let categories = match self.hdf.find(group, "__categories")? {
                    Some(Node::Group(all)) => self.hdf.under(&all, name)?,
                    _ => None,
                };
                match categories {
                    Some(categories) => self.coded(&dataset, &categories),
                    None => self.hdf.texts(&dataset),
                }
            }
            Some(Node::Group(column)) => self.column(&column),
        }
    }

    /// A column that is a group: codes and categories, or values and a mask of those that lack.
    fn column(&self, group: &Group) -> Result<Option<Vec<String>>, DataError> {
        let find = |name: &str| {
            Ok::<_, DataError>(match self.hdf.find(group, name)? {
                Some(Node::Dataset(dataset)) => Some(dataset),
                _ => None,
            })
        };
        if let (Some(codes), Some(categories)) = (find("codes")?, self.hdf.find(group, "categories")?) {
            return self.coded(&codes, &categories);
        }
        let (Some(values), Some(mask)) = (find("values")?, find("mask")?) else { return Ok(None) };
        let (Some(mut texts), Some(mask)) = (self.hdf.texts(&values)?, self.hdf.texts(&mask)?) else {
            return Ok(None);
        };
        for (text, lacks) in texts.iter_mut().zip(&mask) {
            if lacks == "True" || lacks == "1" {
                text.clear();
            }
        }
        Ok(Some(texts))
    }

    /// The categories that codes stand for.
    fn coded(&self, codes: &Dataset, categories: &Node) -> Result<Option<Vec<String>>, DataError> {
        let categories = match categories {
            Node::Dataset(categories) => self.hdf.texts(categories)?,
            // Texts that may lack.
            Node::Group(categories) => self.column(categories)?,
        };
        let (Some(codes), Some(categories)) = (self.hdf.texts(codes)?, categories) else { return Ok(None) };
        self.decoded(&codes, &categories).map(Some)
    }

    /// Decodes codes that are text; -1 stands for none.
    fn decoded(&self, codes: &[String], categories: &[String]) -> Result<Vec<String>, DataError> {
        let longest = categories.iter().map(String::len).max().unwrap_or(0);
        let bytes = (codes.len() as u64).saturating_mul(longest as u64 + super::texts::TEXT);
        crate::io::memory::check_memory(self.hdf.file, "the text of a column", bytes, self.hdf.memory)?;
        let text = |code: &String| match code.parse::<usize>() {
            Ok(code) => categories.get(code).cloned(),
            Err(_) => code.starts_with('-').then(String::new),
        };
        let texts: Option<Vec<String>> = codes.iter().map(text).collect();
        texts.ok_or_else(|| self.hdf.damaged("a code of a column has no category"))
    }

    /// A field of records; the categories of codes are in `uns`.
    fn field(&self, dataset: &Dataset, field: &CompoundField) -> Result<Option<Vec<String>>, DataError> {
        let stride = dataset.raw_element_size().map_err(|e| self.hdf.error(&e))?;
        let cells = Cells { raw: &self.raw, stride, offset: field.byte_offset as usize, kind: &field.datatype };
        let Some(texts) = self.hdf.texts_of(&self.node, &cells)? else { return Ok(None) };
        if !matches!(field.datatype, Datatype::FixedPoint { .. }) {
            return Ok(Some(texts));
        }
        match self.hdf.at(&format!("uns/{}_categories", field.name))? {
            Some(Node::Dataset(categories)) => match self.hdf.texts(&categories)? {
                Some(categories) => self.decoded(&texts, &categories).map(Some),
                None => Ok(Some(texts)),
            },
            _ => Ok(Some(texts)),
        }
    }
}
