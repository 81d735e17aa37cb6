//! What lets a file be read that was refused.

use crate::{DataError, Delimiter, IndexFault, ReadOptions};

impl DataError {
    /// The options with which a reader gets past this error, and a text that names the settings that
    /// do it, for [`crate::in_words`]; none where the file itself must be changed, or the caller must
    /// choose.
    pub fn mended(&self, options: &ReadOptions) -> Option<(ReadOptions, String)> {
        let mut options = options.clone();
        let said = match self {
            DataError::NoHeader { .. } if !options.header && !options.no_header => {
                options.no_header = true;
                "⟦no_header⟧".to_owned()
            }
            DataError::NamesAsData { .. } if options.no_header => {
                options.no_header = false;
                "no ⟦no_header⟧".to_owned()
            }
            DataError::Delimiter { delimiter, .. } if options.delimiter.is_some() => {
                options.delimiter = Some(Delimiter::Sign(*delimiter as u8));
                format!("⟦delimiter={}⟧", Delimiter::Sign(*delimiter as u8).name())
            }
            DataError::Ragged { comment: Some(sign), .. } if options.comment.is_none() => {
                options.comment = Some(*sign);
                format!("⟦comment={sign}⟧")
            }
            DataError::NotANumber { cell, .. } | DataError::Infinite { cell, .. } => {
                if options.missing_codes.contains(cell) {
                    return None;
                }
                options.missing_codes.push(cell.clone());
                format!("⟦missing_codes={cell}⟧")
            }
            DataError::NumberStyle { other, .. } if options.decimal.is_none() && other.style.is_some() => {
                let (decimal, thousands) = other.style?;
                (options.decimal, options.thousands) = (Some(decimal), thousands);
                let thousands = thousands.map_or(String::new(), |sign| format!(" ⟦thousands={sign}⟧"));
                format!("⟦decimal={decimal}⟧{thousands}")
            }
            DataError::NumberStyle { place, .. } => {
                let column = place.column.clone().filter(|column| !options.text.contains(column))?;
                let said = format!("⟦text={column}⟧");
                options.text.push(column);
                said
            }
            DataError::NoClass { .. } if !options.drop_unlabelled => {
                options.drop_unlabelled = true;
                "⟦drop_unlabelled⟧".to_owned()
            }
            DataError::DuplicateName { .. } if !options.unique_names => {
                options.unique_names = true;
                "⟦unique_names⟧".to_owned()
            }
            DataError::Identifier { column, first: true, .. } if options.samples.is_none() => {
                options.samples = Some(column.clone());
                format!("⟦id={column}⟧")
            }
            DataError::Identifier { column, .. } if !options.drop.contains(column) => {
                options.drop.push(column.clone());
                format!("⟦drop={column}⟧")
            }
            DataError::Index { fault: IndexFault::Zero, .. } if !options.zero_based => {
                options.zero_based = true;
                "⟦zero_based⟧".to_owned()
            }
            DataError::TooManyFeatures { index, .. } if options.index_limit.is_none() => {
                options.index_limit = Some(u64::from(u32::MAX));
                format!("⟦index_limit={index}⟧")
            }
            _ => return None,
        };
        Some((options, said))
    }
}
