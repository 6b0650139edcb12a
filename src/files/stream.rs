//! The paths that stand for standard input and output.

use std::path::Path;

/// Whether a path stands for standard input or output.
pub(crate) fn is_stream(path: &Path) -> bool {
    path == Path::new("-")
}
