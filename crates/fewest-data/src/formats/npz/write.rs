//! Writes archives that `numpy.load` and, for sparse data, `scipy.sparse.load_npz` read.

use std::io::{self, Write};

use fewest_svm::{DenseDesign, Design as _, SparseDesign};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::npy::write_header;
use super::variables;
use crate::{Dataset, Features, Names};

type Zip<'a> = ZipWriter<zip::write::StreamWriter<&'a mut (dyn Write + Send)>>;

/// Writes `X`, `y`, `names`, or the arrays of a sparse matrix in CSC form with `y` and `names`.
pub(crate) fn write(data: &Dataset, out: &mut (dyn Write + Send)) -> io::Result<()> {
    let mut zip = ZipWriter::new_stream(out);
    let write_dense = |zip: &mut Zip<'_>, design: &DenseDesign<'_>| {
        let shape = format!("({}, {})", design.n_samples(), design.n_features());
        numbers(zip, "X", "<f8", &shape, design.values().iter().map(|x| x.to_le_bytes()))
    };
    match &data.features {
        Features::Dense(design) => write_dense(&mut zip, design)?,
        Features::Centred(_) => write_dense(&mut zip, &data.features.dense())?,
        Features::Sparse(design) => write_sparse(&mut zip, design)?,
        Features::Mapped(design) => write_sparse(&mut zip, &design.loaded())?,
    }
    if let Some(target) = &data.target {
        let shape = format!("({},)", target.codes.len());
        match target.numbers() {
            Some(values) => {
                numbers(&mut zip, "y", "<f8", &shape, target.codes.iter().map(|&c| values[c as usize].to_le_bytes()))?;
            }
            None => texts(
                &mut zip,
                "y",
                &target.codes.iter().map(|&c| &target.classes[c as usize][..]).collect::<Vec<_>>(),
            )?,
        }
        if target.column != "y" {
            texts(&mut zip, "target_name", &[&target.column])?;
        }
    }
    if let Names::Listed(names) = &data.names {
        texts(&mut zip, "names", names)?;
    }
    for (key, values) in variables::of(&data.notes, &data.names).into_iter().flatten() {
        texts(&mut zip, key, &values)?;
    }
    zip.finish().map_err(io::Error::from)?.into_inner().flush()
}

fn write_sparse(zip: &mut Zip<'_>, design: &SparseDesign<'_>) -> io::Result<()> {
    let (start, rows, values) = design.parts();
    let stored = format!("({},)", rows.len());
    numbers(zip, "indices", "<i4", &stored, rows.iter().map(|i| i.to_le_bytes()))?;
    numbers(zip, "indptr", "<i8", &format!("({},)", start.len()), start.iter().map(|s| (*s as u64).to_le_bytes()))?;
    begin(zip, "format")?;
    write_header(zip, "|S3", false, "()")?;
    zip.write_all(b"csc")?;
    let shape = [design.n_samples() as u64, design.n_features() as u64];
    numbers(zip, "shape", "<i8", "(2,)", shape.iter().map(|d| d.to_le_bytes()))?;
    numbers(zip, "data", "<f8", &stored, values.iter().map(|x| x.to_le_bytes()))
}

/// Starts an entry.
fn begin(zip: &mut Zip<'_>, key: &str) -> io::Result<()> {
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).large_file(true);
    zip.start_file(format!("{key}.npy"), options).map_err(io::Error::from)
}

/// An array in Fortran order, item by item.
fn numbers<const W: usize>(
    zip: &mut Zip<'_>,
    key: &str,
    descr: &str,
    shape: &str,
    items: impl Iterator<Item = [u8; W]>,
) -> io::Result<()> {
    begin(zip, key)?;
    write_header(zip, descr, true, shape)?;
    let mut buffer = Vec::with_capacity(1 << 16);
    for item in items {
        buffer.extend_from_slice(&item);
        if buffer.len() >= (1 << 16) - 8 {
            zip.write_all(&buffer)?;
            buffer.clear();
        }
    }
    zip.write_all(&buffer)
}

/// A one-dimensional array of text.
fn texts(zip: &mut Zip<'_>, key: &str, values: &[impl AsRef<str>]) -> io::Result<()> {
    let longest = values.iter().map(|v| v.as_ref().chars().count()).max().unwrap_or(0).max(1);
    begin(zip, key)?;
    write_header(zip, &format!("<U{longest}"), false, &format!("({},)", values.len()))?;
    for value in values {
        let codes = value.as_ref().chars().map(u32::from).chain(std::iter::repeat(0)).take(longest);
        zip.write_all(&codes.flat_map(u32::to_le_bytes).collect::<Vec<_>>())?;
    }
    Ok(())
}
