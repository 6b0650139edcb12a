//! Test fixture: findings and counts of a whole session.

use crate::check::Finding;
use crate::progress::Progress;
use crate::session::Session;
use crate::session::findings::non_row;
use crate::session::report::markdown::{self, CountsByFile};

/// Every finding that no row has: of the index, the files and the set, in this order.
pub(crate) fn whole_findings(session: &Session) -> Vec<Finding> {
    non_row::first(session, usize::MAX, |_| true, |_| ()).0
}

/// How many rows of each file violate each rule, with the findings of files.
pub(crate) fn rule_counts_by_file(session: &Session) -> CountsByFile {
    let mut counts = markdown::row_counts_by_file(&session.current, &Progress::default()).unwrap_or_default();
    markdown::add_file_findings(session, &mut counts);
    counts
}
