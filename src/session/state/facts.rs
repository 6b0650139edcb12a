//! Implements the row facts that queries and sort keys read, and evaluates queries on a snapshot.

use crate::check::extension::{UrlGroup, urls};
use crate::check::rule::{Rule, RuleSet};
use crate::document::RowState;
use crate::document::query::{Extension, Fact, Query, RowFacts, State as RowIs, Vocabulary};
use crate::document::rows::{RowId, RowSet};
use crate::document::sort::{Column, Value};
use crate::document::view::{View, ViewSpec};
use crate::progress::{Progress, note_work};
use crate::protocol::changefreq::Changefreq;
use crate::protocol::lastmod::Now;
use crate::protocol::{Field, Severity};
use crate::session::checks::{DocumentLocs, SetRows};
use crate::session::row_lines::RowLines;
use crate::session::state::Snapshot;
use crate::xml::record::{ABSENT, Flags, Record, UNREADABLE};
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::{Arc, LazyLock, OnceLock};

/// The rules that queries can name, each with its variants; in the order of [`vocabulary`].
static NAMED: LazyLock<Vec<RuleSet>> = LazyLock::new(|| Rule::mains().map(Rule::family).collect());

/// The vocabulary of queries: rule codes, in the order of [`Rule::mains`].
pub fn vocabulary(now: Now) -> Vocabulary<'static> {
    static CODES: LazyLock<Vec<&'static str>> = LazyLock::new(|| Rule::mains().map(Rule::code).collect());
    Vocabulary { rules: &CODES, now, data: None }
}

/// The facts of all rows, with the state that the rows of one query share.
pub struct FactTable<'s> {
    snapshot: &'s Snapshot,
    rules: Arc<[RuleSet]>,
    set: SetRows<'s>,
    lines: OnceLock<RowLines>,
}

impl<'s> FactTable<'s> {
    /// The facts of one row.
    pub fn of(&self, row: RowId) -> SnapshotRow<'_, 's> {
        SnapshotRow { table: self, record: self.snapshot.document.record(row), row }
    }
}

/// The facts of one row.
pub struct SnapshotRow<'t, 's> {
    table: &'t FactTable<'s>,
    record: Record,
    row: RowId,
}

impl SnapshotRow<'_, '_> {
    fn entry_rules(&self) -> RuleSet {
        let id = self.table.snapshot.checks.finding_id(self.row);
        self.table.rules.get(usize::from(id)).copied().unwrap_or_default()
    }
}

fn fact<T>(code: u8, value: impl FnOnce(u8) -> Option<T>) -> Fact<T> {
    match code {
        ABSENT => Fact::Absent,
        UNREADABLE => Fact::Unreadable,
        code => value(code).map_or(Fact::Unreadable, Fact::Is),
    }
}

impl RowFacts for SnapshotRow<'_, '_> {
    fn loc(&self) -> Cow<'_, str> {
        self.table.snapshot.document.loc(self.row)
    }

    fn value(&self, field: Field) -> Option<Cow<'_, str>> {
        self.table.snapshot.document.value(self.row, field)
    }

    fn file(&self) -> &str {
        let document = &self.table.snapshot.document;
        document.sitemap(document.sitemap_of(self.row)).map_or("", |sitemap| &sitemap.name)
    }

    fn lastmod(&self) -> Fact<i64> {
        match (self.record.has_lastmod(), self.record.lastmod()) {
            (false, _) => Fact::Absent,
            (true, None) => Fact::Unreadable,
            (true, Some(lastmod)) => Fact::Is(lastmod.seconds),
        }
    }

    fn changefreq(&self) -> Fact<Changefreq> {
        fact(self.record.changefreq_code(), |code| Changefreq::ALL.get(usize::from(code)).copied())
    }

    fn priority(&self) -> Fact<u8> {
        fact(self.record.priority_code(), Some)
    }

    fn has_extension(&self, kind: Extension) -> bool {
        self.record.flags.contains(match kind {
            Extension::Image => Flags::IMAGE,
            Extension::Video => Flags::VIDEO,
            Extension::News => Flags::NEWS,
            Extension::Alternate => Flags::ALTERNATE,
            Extension::Other => Flags::OTHER,
        })
    }

    fn is(&self, state: RowIs) -> bool {
        let snapshot = self.table.snapshot;
        let row_state = || snapshot.document.compare(&snapshot.saved).row_state(self.row);
        match state {
            RowIs::Changed => row_state() == RowState::Changed,
            RowIs::Added => row_state() == RowState::Added,
            RowIs::Deleted => self.record.is_deleted(),
            RowIs::Marked => snapshot.marks.contains(self.row.0),
            RowIs::Repaired => snapshot.document.quirks_of(self.row).iter().any(|quirk| quirk.kind.is_repair()),
            RowIs::Duplicate => self.table.set.is_grouped(self.row),
        }
    }

    fn has_rule(&self, rule: u16) -> bool {
        let Some(family) = NAMED.get(usize::from(rule)) else { return false };
        self.entry_rules().intersects(*family)
            || family.iter().any(|rule| self.table.set.has(rule, self.row, &self.record))
    }

    fn has_severity(&self, severity: Severity) -> bool {
        let profile = self.table.snapshot.checks.profile();
        self.entry_rules().iter().any(|rule| rule.severity_in(profile) == Some(severity))
            || self.table.set.has_severity(severity, self.row, &self.record)
    }

    fn more(&self, column: Column) -> Value<'_> {
        let snapshot = self.table.snapshot;
        let document = &snapshot.document;
        let urls_of = |group: UrlGroup| {
            let (entry, text) = document.entry(self.row);
            let found = urls(&entry, &text, document.names(self.row)).into_iter().filter(|url| url.group == group);
            let found: Vec<String> = found.map(|url| url.value.clone()).collect();
            Value::Text(found.join(" ").into())
        };
        match column {
            Column::Line => {
                let lines = self.table.lines.get_or_init(|| RowLines::of(document, &Arc::default()));
                lines.of_entry(document, self.row).map_or(Value::Absent, |line| Value::Number(line.into()))
            }
            Column::Count(kind) => {
                let found = document.extensions(self.row);
                Value::Number(u64::from(match kind {
                    Extension::Image => found.image,
                    Extension::Video => found.video,
                    Extension::News => found.news,
                    Extension::Alternate => found.alternate,
                    Extension::Other => found.other,
                }))
            }
            Column::Images => urls_of(UrlGroup::Images),
            Column::Videos => urls_of(UrlGroup::Videos),
            Column::Alternates => urls_of(UrlGroup::Alternates),
            Column::Rules => {
                let codes: Vec<&str> = snapshot.rules_of(self.row).iter().map(Rule::code).collect();
                Value::Text(codes.join(" ").into())
            }
            _ => Value::Absent,
        }
    }
}

impl Snapshot {
    /// The facts of the rows, for queries.
    pub fn facts(&self) -> FactTable<'_> {
        FactTable {
            snapshot: self,
            rules: self.checks.rule_sets(),
            set: SetRows::new(&self.checks, &self.document),
            lines: OnceLock::new(),
        }
    }

    /// [`Snapshot::facts`] for queries that read each row once, file by file.
    pub fn facts_by_row(&self) -> FactTable<'_> {
        let set = SetRows::new(&self.checks, &self.document).by_row();
        FactTable { snapshot: self, rules: self.checks.rule_sets(), set, lines: OnceLock::new() }
    }

    /// A view of this state. `None` when cancelled.
    pub fn view_of(&self, spec: &ViewSpec, progress: &Progress) -> Option<View> {
        note_work(self.document.row_limit() as usize);
        let facts = self.facts();
        View::build(&self.document, spec, &|row| facts.of(row), progress)
    }

    /// Live rows that match a query; in a streamed set only those of the resident file. `None` when cancelled.
    pub fn rows_where(&self, query: &Query, progress: &Progress) -> Option<RowSet> {
        if self.document.is_streamed() {
            let facts = self.facts_by_row();
            let rows: Vec<RowId> = self.document.resident_rows().collect();
            let matching = rows.into_par_iter().filter(|row| query.matches(&facts.of(*row)));
            return Some(matching.map(|row| row.0).collect::<Vec<_>>().into_iter().collect());
        }
        let spec = ViewSpec { filter: Some(query.clone()), sort: Vec::new() };
        let view = self.view_of(&spec, progress)?;
        let rows: RowSet = view.rows(&self.document).map(|row| row.0).collect();
        Some(rows.iter().filter(|row| self.document.is_live(RowId(*row))).collect())
    }

    /// Live rows with exactly this URL.
    pub fn rows_with_loc(&self, loc: &str) -> Vec<RowId> {
        note_work(loc.len());
        let same = |row: &RowId| self.document.loc(*row) == loc;
        let page = self.checks.set().duplicates().rows_of_page(loc, &DocumentLocs(&self.document));
        page.into_iter().map(RowId).filter(same).collect()
    }
}
