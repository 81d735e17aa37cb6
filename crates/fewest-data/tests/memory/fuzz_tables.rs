//! Tables with features in rows, workbooks and Arrow files.

use fewest_data::Format;

use super::{fuzz, small_files, text};
use crate::alone;
use crate::structure::{Dice, binary, sheets};

/// Tables with features in rows.
fn in_rows(format: Format, good: &[&str]) {
    let _alone = alone();
    let words = &[
        "#1.2\n",
        "#1.3\n",
        "\t",
        "\n",
        "cell_type",
        "depth",
        "g1",
        "1",
        "0.5",
        "na",
        "-666",
        "u",
        "99999",
        "!Sample_cell_type",
        "!series_matrix_table_begin\n",
        "\"ID_REF\"",
        "!series_matrix_table_end\n",
        "\"",
    ];
    let right: Vec<Vec<u8>> = text(good);
    let make = move |dice: &mut Dice| {
        let file = dice.below(right.len());
        let mut lines: Vec<Vec<u8>> = right[file].split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
        for _ in 0..dice.below(3) {
            let (from, to) = (dice.below(lines.len()), dice.below(lines.len()));
            let line = lines[from].clone();
            lines.insert(to, line);
        }
        lines.concat()
    };
    fuzz(format, text(good), make, words);
}

#[test]
fn gct() {
    in_rows(
        Format::Gct,
        &[
            "#1.2\n2\t3\nName\tDescription\ts1\ts2\ts3\ng1\td\t1\t2\t3\ncell_type\t\tu\tv\tu\ng2\te\t4\t5\t6\n",
            "#1.3\n2\t3\t1\t2\nid\tsymbol\ts1\ts2\ts3\ncell_type\tna\tu\tv\t\ndepth\tna\t1\t2\t-666\ng1\ta\t1\t2\t3\ng1\tb\t4\tna\t6\n",
        ],
    );
}

#[test]
fn series_matrix() {
    in_rows(
        Format::SeriesMatrix,
        &[
            "!Series_title\t\"t\"\n!Sample_cell_type\t\"u\"\t\"v\"\n!Sample_characteristics_ch1\t\"depth: 3\"\t\"depth: 4\"\n!series_matrix_table_begin\n\"ID_REF\"\t\"G1\"\t\"G2\"\n\"p1\"\t1\t2\n\"p2\"\t3\t\n!series_matrix_table_end\n",
        ],
    );
}

#[test]
fn transposed() {
    in_rows(
        Format::Tsv,
        &[
            "gene\ts1\ts2\ts3\ncell_type\tu\tv\tu\ng1\t1\t2\t3\ng2\t4\t5\t6\n",
            "\"\";\"s1\";\"s2\"\n\"g1\";1,5;2\n\"g2\";3;0,25\ny;u;v\n",
        ],
    );
}

#[cfg(feature = "workbook")]
#[test]
fn xlsx() {
    let _alone = alone();
    fuzz(Format::Xlsx, small_files(&["table.xlsx", "sheets.xlsx"]), sheets::xlsx, &["PK\x03\x04", "<row>", "<c>", "9"]);
}

#[cfg(feature = "workbook")]
#[test]
fn ods() {
    let _alone = alone();
    fuzz(Format::Ods, small_files(&["table.ods"]), sheets::ods, &["PK\x03\x04", "content.xml", "<table:table>", "9"]);
}

#[cfg(feature = "arrow")]
#[test]
fn arrow() {
    let _alone = alone();
    let good = small_files(&["table.feather", "categories.feather"]);
    let right = good.clone();
    let make = move |dice: &mut Dice| {
        let file = dice.below(right.len());
        binary::words(dice, &right[file])
    };
    fuzz(Format::Arrow, good, make, &["ARROW1", "\0\0\0\0", "\x7f\x7f\x7f\x7f", "\u{80}\u{80}", "grade"]);
}
