//! Files of cells as programs write them (`forms` and `cells` of the shared data): each opens, and
//! the same facts are found in it that h5py, scipy and AnnData tell; or it is refused by a line.

use fewest_data::{Dataset, Features, ReadOptions, read, to_columns, write};
use fewest_testing::data_file;

use crate::common::{Case, classes, holds};

/// What a file holds: path, layer, rows, columns, whether it is sparse, and the sum of all values
/// times (i mod 7 + 1)(j mod 11 + 1).
type Fact = (&'static str, Option<&'static str>, usize, usize, bool, f64);

const FACTS: [Fact; 38] = [
    ("forms/h5ad_csr.h5ad", None, 175, 200, true, 433157.6801608801),
    ("forms/h5ad_csc.h5ad", None, 175, 200, true, 433157.6801608801),
    ("forms/h5ad_dense_f4.h5ad", None, 175, 200, false, 433157.6801608801),
    ("forms/h5ad_dense_f8_uncompressed.h5ad", None, 175, 200, false, 433157.6801608801),
    ("forms/h5ad_dense_lzf.h5ad", None, 175, 200, false, 433157.6801608801),
    ("forms/h5ad_csr_int64.h5ad", None, 175, 200, true, 1578536.0),
    ("forms/h5ad_unicode_names.h5ad", None, 175, 200, true, 433157.6801608801),
    ("forms/h5ad_obs_dtypes.h5ad", None, 175, 200, true, 433157.6801608801),
    ("forms/h5ad_noX_layer_only.h5ad", Some("logcounts"), 175, 200, true, 433157.6801608801),
    ("forms/h5ad_scaledX_raw_layers.h5ad", None, 175, 200, false, -624.5229481272399),
    ("forms/h5ad_scaledX_raw_layers.h5ad", Some("raw"), 175, 200, true, 433157.6801608801),
    ("forms/h5ad_scaledX_raw_layers.h5ad", Some("counts_csc_i8"), 175, 200, true, 1578536.0),
    ("forms/h5ad_scaledX_raw_layers.h5ad", Some("counts_i4"), 175, 200, true, 1578536.0),
    ("forms/h5ad_anndata_v0.7.0.h5ad", None, 30, 20, true, 6913.0),
    ("forms/h5ad_anndata_v0.7.0.h5ad", Some("raw"), 30, 40, true, 13622.0),
    ("forms/h5ad_anndata_v0.7.0.h5ad", Some("array"), 30, 20, false, 6384.122968237556),
    ("forms/h5ad_anndata_v0.7.0.h5ad", Some("sparse"), 30, 20, true, 136.60802495246443),
    ("forms/h5ad_krumsiek11_v0-7.h5ad", None, 640, 11, false, 51930.98852459371),
    ("forms/h5ad_krumsiek11_augmented_v0-8.h5ad", None, 640, 11, false, 51930.98852459371),
    ("forms/10x_v2.h5", None, 12, 343, true, 299.0),
    ("forms/10x_v2_two_genomes.h5", Some("another_genome"), 12, 343, true, 323.0),
    ("forms/10x_v3.h5", None, 1107, 507, true, 1040855.0),
    ("forms/10x_mtx_intids/matrix.mtx", None, 5, 6, true, 105.0),
    ("forms/10x_mtx_labelled/matrix.mtx.gz", None, 175, 200, true, 1578536.0),
    ("forms/10x_mtx_v2/matrix.mtx", None, 12, 343, true, 299.0),
    ("forms/10x_mtx_v3/matrix.mtx.gz", None, 1107, 507, true, 1040855.0),
    ("forms/loom_labelled.loom", None, 175, 200, false, 433157.6801608801),
    ("forms/loom_tiny.loom", None, 25, 1316, false, 56200.0),
    ("forms/gctx_mini_n2x3.gctx", None, 2, 3, false, 8.359714537858963),
    ("cells/starmap_mpfc16.loom", None, 3704, 158, false, 40114879.0),
    ("cells/pbmc68k_reduced.h5ad", None, 700, 765, false, -21238.48093264026),
    ("cells/pbmc68k_reduced.h5ad", Some("raw"), 700, 765, true, 7434587.866986811),
    ("cells/pbmc3k.h5ad", None, 2638, 1838, true, 8728671.39917612),
    ("cells/ifnb13.h5ad", None, 2800, 5000, true, 127905284.0),
    ("cells/zilionis4.h5ad", None, 800, 22002, true, 25620900.574730873),
    ("cells/guo_qpcr.h5ad", None, 428, 48, false, 3143778.307835183),
    ("cells/bulk_nci60.h5ad", None, 64, 6830, false, 204542.19731337274),
    ("cells/bulk_khan_srbct.h5ad", None, 83, 2308, false, -2669294.299323051),
];

/// Path, target, and how many rows each class has in the order of the classes.
const CLASSES: [(&str, &str, &[usize]); 10] = [
    ("forms/h5ad_csr.h5ad", "bulk_labels", &[33, 19, 2, 13, 2, 4, 8, 16, 12, 66]),
    ("forms/h5ad_obs_dtypes.h5ad", "obs/label_missing", &[28, 16, 1, 11, 2, 3, 5, 15, 11, 63]),
    ("forms/h5ad_obs_dtypes.h5ad", "b_nullable", &[70, 70]),
    ("forms/h5ad_krumsiek11_augmented_v0-8.h5ad", "cell_type", &[80, 80, 80, 80, 320]),
    ("forms/h5ad_krumsiek11_v0-7.h5ad", "cell_type", &[80, 80, 80, 80, 320]),
    ("forms/loom_labelled.loom", "col_attrs/bulk_labels", &[33, 19, 2, 13, 2, 4, 8, 16, 12, 66]),
    ("cells/starmap_mpfc16.loom", "Clusters", &[240, 172, 306, 95, 53, 118, 49, 84, 191, 44, 329, 226, 496, 516, 259]),
    ("cells/pbmc68k_reduced.h5ad", "phase", &[501, 17, 182]),
    ("cells/zilionis4.h5ad", "cell_type", &[200, 200, 200, 200]),
    ("cells/guo_qpcr.h5ad", "num_cells", &[19, 23, 43, 75, 109, 159]),
];

fn sum(data: &Dataset) -> f64 {
    let (n, p) = (data.features.n_samples(), data.features.n_features());
    let weight = |i: usize, j: usize| ((i % 7 + 1) * (j % 11 + 1)) as f64;
    match &data.features {
        Features::Sparse(design) => (0..p)
            .flat_map(|j| design.column(j).0.iter().zip(design.column(j).1).map(move |(&i, &x)| (i as usize, j, x)))
            .map(|(i, j, x)| x * weight(i, j))
            .sum(),
        features => {
            (0..p).flat_map(|j| (0..n).map(move |i| (i, j))).map(|(i, j)| features.value(i, j) * weight(i, j)).sum()
        }
    }
}

fn options(layer: Option<&str>) -> ReadOptions {
    let layer = layer.map(str::to_owned);
    ReadOptions { layer, target_optional: true, unique_names: true, ..ReadOptions::default() }
}

#[test]
fn every_file_is_as_other_programs_read_it() {
    for (name, layer, n, p, sparse, weighted) in FACTS {
        let Some(path) = data_file(name) else { return };
        let path = path.to_str().expect("UTF-8");
        let data = read(path, &options(layer)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let found = (data.features.n_samples(), data.features.n_features());
        assert_eq!((found, matches!(data.features, Features::Sparse(_))), ((n, p), sparse), "{name} {layer:?}");
        let off = (sum(&data) - weighted).abs();
        assert!(off <= 1e-9 * weighted.abs().max(1e3), "{name} {layer:?}: {} for {weighted}", sum(&data));
        let case = Case::new("a", "");
        let (one, other) = (case.beside("one.csc"), case.beside("other.csc"));
        to_columns(path, &options(layer), &one).unwrap_or_else(|e| panic!("{name}: {e}"));
        write(&other, &data).expect("written");
        assert!(std::fs::read(one).expect("read") == std::fs::read(other).expect("read"), "{name} {layer:?}");
    }
}

#[test]
fn names_of_genes_and_cells() {
    for (name, genes, cell) in [
        ("forms/h5ad_csr.h5ad", ["HES4", "TNFRSF4", "REEP5"], "AAAGCCTGGCTAAC-1"),
        ("forms/10x_v2.h5", ["DSCAM", "MIR99AHG", "S100B"], "AACACGTGTACGCTGC-1"),
        ("forms/10x_v3.h5", ["CH507-9B2.2", "CH507-9B2.1", "PRMT2"], "AAACCCAAGGAGAGTA-1"),
        ("forms/10x_mtx_labelled/matrix.mtx.gz", ["HES4", "TNFRSF4", "REEP5"], "AAAGCCTGGCTAAC-1"),
        ("forms/10x_mtx_intids/matrix.mtx", ["Pwwp4b", "Pwwp4a", "Btbd35f21"], "AAACCCAAGATTAGCA-1"),
        ("forms/loom_labelled.loom", ["HES4", "TNFRSF4", "REEP5"], "AAAGCCTGGCTAAC-1"),
        ("forms/gctx_mini_n2x3.gctx", ["200814_at", "218597_s_at", "217140_s_at"], "LJP005_A375_24H:DMSO:-666"),
        ("cells/pbmc68k_reduced.h5ad", ["HES4", "TNFRSF4", "MT-ND3"], "AAAGCCTGGCTAAC-1"),
    ] {
        let Some(path) = data_file(name) else { return };
        let data = read(path.to_str().expect("UTF-8"), &options(None)).expect(name);
        let names = data.names.to_vec();
        assert_eq!([&names[0], &names[1], &names[names.len() - 1]], genes, "{name}");
        assert_eq!(data.samples.expect("names").values[0], cell, "{name}");
    }
    let Some(path) = data_file("forms/h5ad_unicode_names.h5ad") else { return };
    let data = read(path.to_str().expect("UTF-8"), &options(None)).expect("read");
    assert_eq!((data.names.get(0).as_ref(), &data.samples.expect("names").values[174][..]), ("GENE A", "cell 174 é"));
}

#[test]
fn classes_of_cells() {
    for (name, target, counts) in CLASSES {
        let Some(path) = data_file(name) else { return };
        let options =
            ReadOptions { target: Some(target.into()), target_optional: false, drop_unlabelled: true, ..options(None) };
        let data = read(path.to_str().expect("UTF-8"), &options).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(data.target.as_ref().expect("a target").counts(), counts, "{name} {target}");
    }
}

/// The folder of a file.
fn folder_of(name: &str) -> Option<String> {
    Some(data_file(name)?.parent()?.to_str()?.to_owned())
}

#[test]
fn folders_and_what_is_refused() {
    let Some(folder) = folder_of("forms/10x_mtx_labelled/matrix.mtx.gz") else { return };
    let by_folder = read(&folder, &options(None)).expect("read");
    let Some(hdf) = data_file("forms/h5ad_csr_int64.h5ad") else { return };
    let by_hdf = read(hdf.to_str().expect("UTF-8"), &options(None)).expect("read");
    assert_eq!(
        (sum(&by_folder), by_folder.samples),
        (
            sum(&by_hdf),
            by_hdf.samples.map(|mut column| {
                column.name = "barcode".into();
                column
            })
        )
    );
    let plain = ReadOptions { target: Some("bulk_labels".into()), ..ReadOptions::default() };
    for (name, parts) in [
        ("forms/h5ad_noX_layer_only.h5ad", &["no matrix X", "`layer = logcounts`"][..]),
        ("forms/h5ad_duplicate_genes.h5ad", &["is used by columns", "`unique_names"]),
        ("forms/10x_v2_two_genomes.h5", &["2 genomes", "`layer = another_genome` or `layer = hg19_chr21`"]),
        ("forms/h5ad_compound_obs_nan.h5ad", &["bulk_labels", "louvain"]),
        ("forms/zarr_v2.zarr.zip", &["through Python", "read_zarr"]),
        ("forms/zarr_v3.zarr.zip", &["through Python", "read_zarr"]),
        ("forms/zarr_anndata_v0.7.0.zarr.zip", &["through Python", "read_zarr"]),
    ] {
        let Some(path) = data_file(name) else { return };
        let error = read(path.to_str().expect("UTF-8"), &plain).expect_err(name).to_string();
        holds(&error, parts);
    }
    let Some(path) = data_file("forms/h5ad_compound_obs_nan.h5ad") else { return };
    let louvain = ReadOptions { target: Some("louvain".into()), ..ReadOptions::default() };
    let path = path.to_str().expect("UTF-8");
    holds(&read(path, &louvain).expect_err("NaN").to_string(), &["2556 such value(s)", "`missing` mean"]);
    let data = read(path, &ReadOptions { missing: true, ..louvain }).expect("read");
    assert_eq!(classes(&data).iter().filter(|class| *class == "CD4 T cells").count(), 43);
}
