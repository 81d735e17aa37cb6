//! The `fewest` command.
fn main() {}
