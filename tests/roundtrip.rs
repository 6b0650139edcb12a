//! What was read is written back byte for byte, and an edit changes only its value's bytes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use support::corpus;

#[test]
fn the_table_lists_the_corpus() {
    assert!(corpus::readable().len() > 70);
    assert!(corpus::refused().len() > 30);
}
