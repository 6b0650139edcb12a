//! Test fixture: findings and counts of a whole session.

use crate::check::Finding;
use crate::progress::Progress;
use crate::session::Session;
use crate::session::findings::non_row;
use crate::session::report::markdown::{self, CountsByFile};

/// Every finding that is not about a row: of the index, the files and the set, in this order.
pub(crate) fn non_row_findings(session: &Session) -> Vec<Finding> {
    non_row::first(session, usize::MAX, |_| true, |_| ()).0
}

/// The number of rows of each file that violate each rule, including the findings of files.
pub(crate) fn rule_counts_by_file(session: &Session) -> CountsByFile {
    let mut counts = markdown::row_counts_by_file(&session.current, &Progress::default()).unwrap_or_default();
    markdown::add_file_findings(session, &mut counts);
    counts
}
