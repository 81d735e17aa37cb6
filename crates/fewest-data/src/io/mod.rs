//! Bytes: opening and decoding files, text in pieces that threads share, and files that appear
//! complete or not at all.

pub(crate) mod encoding;
pub(crate) mod items;
pub(crate) mod memory;
pub(crate) mod output;
pub(crate) mod shared;
pub(crate) mod source;
pub(crate) mod waves;
pub(crate) mod windows;
