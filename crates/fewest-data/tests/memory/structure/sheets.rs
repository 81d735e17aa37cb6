//! Workbooks: good archives of XML that may be wrong.

use std::io::{Cursor, Write as _};

use super::Dice;

/// An archive of these parts.
fn archive(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).expect("an entry");
        zip.write_all(text.as_bytes()).expect("its text");
    }
    zip.finish().expect("finish").into_inner()
}

/// Pieces of XML, in any order where the dice are not right.
fn pieces(dice: &mut Dice, pieces: &[&str]) -> String {
    let mut text = String::new();
    for _ in 0..dice.below(30) {
        text += dice.pick(pieces);
    }
    text
}

/// An `.xlsx` of one sheet.
pub(crate) fn xlsx(dice: &mut Dice) -> Vec<u8> {
    let cells = [
        "<row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>a</t></is></c><c r=\"B1\" t=\"s\"><v>0</v></c></row>",
        "<row r=\"2\"><c r=\"A2\"><v>1.5</v></c><c r=\"B2\" t=\"s\"><v>1</v></c></row>",
        "<row r=\"3\"><c r=\"A3\"><v>2</v></c><c r=\"B3\" t=\"b\"><v>1</v></c></row>",
        "<row r=\"9\"><c r=\"A9\" t=\"e\"><v>#N/A</v></c><c r=\"B9\" t=\"str\"><v>u</v></c></row>",
        "<row r=\"1048576\"><c r=\"XFD1048576\"><v>7</v></c></row>",
        "<row r=\"4\"><c r=\"C4\" t=\"s\"><v>99</v></c></row>",
        "<row><c><v>1e999</v></c><c t=\"s\"><v>0</v></c></row>",
        "<row r=\"5\"><c r=\"ZZZZZZ5\"><v>1</v></c></row>",
        "<c r=\"A1\"><v>3</v>",
        "</row>",
        "<row>",
    ];
    let good: String = cells[..3].concat();
    let rows = if dice.right { good } else { good + &pieces(dice, &cells) };
    let dimension = dice.pick(&["A1:B3", "A1:XFD1048576", "B2:A1", ""]);
    let sheet = format!(
        "<?xml version=\"1.0\"?><worksheet><dimension ref=\"{dimension}\"/><sheetData>{rows}</sheetData></worksheet>"
    );
    let kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    archive(&[
        ("[Content_Types].xml", "<?xml version=\"1.0\"?><Types></Types>"),
        (
            "xl/workbook.xml",
            &format!(
                "<?xml version=\"1.0\"?><workbook xmlns:r=\"{kind}\"><sheets><sheet name=\"s\" sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>"
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            &format!(
                "<?xml version=\"1.0\"?><Relationships><Relationship Id=\"rId1\" Type=\"{kind}/worksheet\" Target=\"worksheets/sheet1.xml\"/></Relationships>"
            ),
        ),
        ("xl/sharedStrings.xml", "<?xml version=\"1.0\"?><sst><si><t>y</t></si><si><t>u, v</t></si></sst>"),
        ("xl/worksheets/sheet1.xml", &sheet),
    ])
}

/// An `.ods` of one sheet.
pub(crate) fn ods(dice: &mut Dice) -> Vec<u8> {
    let number =
        "<table:table-cell office:value-type=\"float\" office:value=\"1.5\"><text:p>1.5</text:p></table:table-cell>";
    let text = "<table:table-cell office:value-type=\"string\"><text:p>u &amp; v</text:p></table:table-cell>";
    let other = "<table:table-cell office:value-type=\"string\"><text:p>w</text:p></table:table-cell>";
    let row = |cells: &[&str]| format!("<table:table-row>{}</table:table-row>", cells.concat());
    let good = row(&[text, other]) + &row(&[number, text]) + &row(&[number, other]);
    let wrong = [
        "<table:table-cell table:number-columns-repeated=\"16384\"/>",
        "<table:table-row table:number-rows-repeated=\"1048576\"><table:table-cell/></table:table-row>",
        "<table:table-row table:number-rows-repeated=\"1000000\"><table:table-cell office:value-type=\"float\" office:value=\"1\"/></table:table-row>",
        "<table:table-row>",
        "</table:table-row>",
        "</table:table>",
        "<table:table table:name=\"t\">",
        "<table:table-cell office:value-type=\"float\" office:value=\"x\"/>",
        "<table:table-cell table:number-columns-repeated=\"99999999999999999999\" office:value-type=\"boolean\" office:boolean-value=\"true\"/>",
        "<office:annotation><text:p>note</text:p></office:annotation>",
        "&#0;",
        "&unknown;",
        number,
        text,
    ];
    let rows = if dice.right { good } else { good + &pieces(dice, &wrong) };
    let content = format!(
        "<?xml version=\"1.0\"?><office:document-content><office:body><office:spreadsheet><table:table table:name=\"s\">{rows}</table:table></office:spreadsheet></office:body></office:document-content>"
    );
    archive(&[("mimetype", "application/vnd.oasis.opendocument.spreadsheet"), ("content.xml", &content)])
}
