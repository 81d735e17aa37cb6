//! HDF5 of Cell Ranger: since its version 3 one group `matrix`, before that one for each genome.

use hdf5_reader::group::Group;

use super::file::{Hdf, Node};
use super::matrix::Matrix;
use super::{Opened, feature_names, no_layer};
use crate::formats::annotations::Annotations;
use crate::formats::compressed::Kind;
use crate::formats::mtx::{BARCODES, of_type};
use crate::{DataError, Format, ReadOptions, TextColumn};

/// Opens a file of 10x; none where it is another one.
pub(super) fn open<'a>(
    hdf: &'a Hdf<'a>,
    members: &[String],
    options: &ReadOptions,
) -> Result<Option<Opened<'a>>, DataError> {
    if let Some(group) = hdf.group("matrix")? {
        let Some(Node::Group(features)) = hdf.find(&group, "features")? else { return Ok(None) };
        return read(hdf, &group, (&features, "name"), "feature_type", options).map(Some);
    }
    let mut genomes = Vec::new();
    for name in members {
        if let Some(group) = hdf.group(name)?
            && let (Some(_), Some(_)) = (hdf.find(&group, "barcodes")?, hdf.find(&group, "gene_names")?)
        {
            genomes.push((name.clone(), group));
        }
    }
    let names: Vec<String> = genomes.iter().map(|(name, _)| name.clone()).collect();
    let group = match (&options.layer, &genomes[..]) {
        (_, []) => return Ok(None),
        (None, [(_, group)]) => group,
        (None, _) => {
            let say: Vec<String> = names.iter().map(|name| format!("⟦layer={name}⟧")).collect();
            let what = format!("the file holds cells of {} genomes: {}", names.len(), names.join(", "));
            return Err(hdf.unsupported(what, format!("say {}", say.join(" or "))));
        }
        (Some(asked), _) => match genomes.iter().find(|(name, _)| name == asked) {
            Some((_, group)) => group,
            None => return Err(no_layer(hdf, Some(asked), &names)),
        },
    };
    let plain = ReadOptions { layer: None, ..options.clone() };
    read(hdf, group, (group, "gene_names"), "feature_type", &plain).map(Some)
}

/// A matrix of features x barcodes in compressed columns; the names are in an array of a group.
fn read<'a>(
    hdf: &'a Hdf<'a>,
    group: &Group,
    (features, name): (&Group, &str),
    kinds: &str,
    options: &ReadOptions,
) -> Result<Opened<'a>, DataError> {
    let texts = |group: &Group, name: &str| {
        let found = hdf.texts(&hdf.dataset(group, name)?)?;
        found.ok_or_else(|| hdf.damaged(format!("`{name}` holds no names")))
    };
    let mut names = texts(features, name)?;
    let barcodes = texts(group, "barcodes")?;
    let mut matrix = Matrix::sparse(hdf, group, (barcodes.len() as u64, names.len() as u64), Kind::Rows)?;
    let mut notes = Vec::new();
    if hdf.find(features, kinds)?.is_some() {
        let kinds = texts(features, kinds)?;
        if kinds.len() != names.len() {
            return Err(hdf.damaged("the features have another number of names than of types"));
        }
        if let Some((wanted, note)) = of_type(hdf.file, &kinds, options)? {
            names = wanted.iter().map(|&j| std::mem::take(&mut names[j as usize])).collect();
            matrix.wanted = Some(wanted);
            notes.extend(note);
        }
    }
    let names = feature_names(hdf, names, options)?;
    let samples = Some(TextColumn { name: BARCODES.into(), values: barcodes });
    let annotations = Annotations { samples, ..Annotations::default() };
    Ok(Opened { format: Format::H5, matrix, names, annotations, notes })
}
