//! An intent: a planned change with its edit, message and preview.

use crate::check::Finding;
use crate::check::decision::answers;
use crate::check::rule::Rule;
use crate::document::edit::Edit;
use crate::document::rows::{RowId, RowSet};
use crate::protocol::Field;
use crate::session::edit::url_effects::{URL_KINDS, UrlEffects, kinds};
use crate::words::{counted, grouped};
use std::collections::BTreeMap;
use std::fmt;

/// A planned change: the edit, and the numbers and samples that are reported about it.
#[derive(Debug, Clone)]
pub struct Intent {
    /// The edit; `None` if nothing would change.
    pub edit: Option<Edit>,
    /// Past tense, for the message and the history: `priority set to 0.8 on 1,167 rows`.
    pub label: Label,
    /// Selected rows.
    pub rows: u64,
    /// Rows that change.
    pub changes: u64,
    /// Rows that already have the value.
    pub already: u64,
    /// Rows that cannot be changed.
    pub refused: u64,
    /// Files that cannot be changed.
    pub refused_files: u64,
    /// Why the first refused row or file cannot be changed.
    pub reason: Option<String>,
    /// Effects of new URLs.
    pub urls: Box<UrlEffects>,
    /// The first rows that change, before and after; samples of one row are adjacent.
    pub samples: Vec<Sample>,
    /// The reason if nothing changes, unless it is in the rows.
    pub idle: &'static str,
    /// The commands that repeat it without a screen; see `super::script_export`.
    pub commands: Vec<String>,
    /// For a fix: rules that have more findings after it than before, with the difference.
    pub increased: Vec<(Rule, u64)>,
    /// For a change of one row: its new findings.
    pub breaks: Vec<Finding>,
    /// For a fix: rules that refused rows violate, with the number of rows.
    pub unfixed: BTreeMap<Rule, u64>,
    /// For an unattended fix: findings that are fixed only if their rule is named.
    pub unnamed: BTreeMap<Rule, u64>,
    /// For a replacement: matching URLs that are not targets, by kind.
    pub elsewhere: [u64; URL_KINDS.len()],
    /// Whether it is a fix, so that rows without a finding do not count as having the value already.
    pub is_fix: bool,
}

/// One row of a preview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The changed row.
    pub row: RowId,
    /// The changed field or element.
    pub part: PreviewPart,
    /// The value before.
    pub before: Option<String>,
    /// The value after.
    pub after: Option<String>,
}

/// The part of a row that a preview shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PreviewPart {
    /// A field.
    Field(Field),
    /// The value at a path of its extensions.
    Extension(String),
}

impl PreviewPart {
    /// The name of the field, or the path.
    pub fn name(&self) -> &str {
        match self {
            Self::Field(field) => field.name(),
            Self::Extension(path) => path,
        }
    }
}

/// The message of a change, kept as clauses with their counts, so that the messages of several files can be added up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Label(Vec<Clause>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Clause {
    /// The text before and after the count; only the first if nothing is counted.
    words: [String; 2],
    count: Option<(u64, &'static str)>,
    /// The rules that were fixed, with the number of rows of each; shown if there are several.
    rules: BTreeMap<Rule, u64>,
    /// Whether the clause is omitted at a count of 0 even if all clauses have that count.
    is_optional: bool,
    /// Rows that cannot be changed, and the reason of the first.
    refused: (u64, Option<String>),
}

impl Clause {
    /// Whether it reports a change.
    const fn has_effect(&self) -> bool {
        !matches!(self.count, Some((0, _)))
    }
}

impl Label {
    /// A label of one clause: `before`, the count with its noun, `after`.
    pub(in crate::session) fn of(
        before: impl Into<String>,
        count: u64,
        noun: &'static str,
        after: impl Into<String>,
    ) -> Self {
        let words = [before.into(), after.into()];
        let (rules, is_optional, refused) = (BTreeMap::new(), false, (0, None));
        Self(vec![Clause { words, count: Some((count, noun)), rules, is_optional, refused }])
    }

    /// Adds the rules that were fixed, to the last clause.
    pub(in crate::session) fn by_rule(mut self, rules: BTreeMap<Rule, u64>) -> Self {
        if let Some(last) = self.0.last_mut() {
            last.rules = rules;
        }
        self
    }

    /// Adds the number of rows that cannot be changed and the reason of the first, to the last clause.
    pub(in crate::session) fn refusing(mut self, rows: u64, reason: Option<&String>) -> Self {
        if let Some(last) = self.0.last_mut() {
            last.refused = (rows, reason.cloned());
        }
        self
    }

    /// Adds a clause that is omitted if its count is 0.
    pub(in crate::session) fn and_any(mut self, count: u64, noun: &'static str, after: &str) -> Self {
        self.0.extend(
            Self::of("", count, noun, after).0.into_iter().map(|clause| Clause { is_optional: true, ..clause }),
        );
        self
    }

    /// Subtracts `excess` from the counts of `noun`.
    pub(in crate::session) fn subtract(&mut self, noun: &str, mut excess: u64) {
        for (count, _) in self.0.iter_mut().filter_map(|clause| clause.count.as_mut()).filter(|(_, of)| *of == noun) {
            let less = excess.min(*count);
            (*count, excess) = (*count - less, excess - less);
        }
    }

    /// Removes the skipped rows from all clauses.
    pub(in crate::session) fn forget_skipped(&mut self) {
        self.0.iter_mut().for_each(|clause| clause.refused = (0, None));
    }

    /// Adds the counts of another label to the clauses with the same text.
    pub(in crate::session) fn plus(&mut self, other: Self) {
        for clause in other.0 {
            let noun = |clause: &Clause| clause.count.map(|(_, noun)| noun);
            let same = |known: &&mut Clause| known.words == clause.words && noun(known) == noun(&clause);
            let Some(known) = self.0.iter_mut().find(same) else {
                self.0.push(clause);
                continue;
            };
            if let (Some((sum, _)), Some((count, _))) = (&mut known.count, clause.count) {
                *sum += count;
            }
            for (rule, count) in clause.rules {
                *known.rules.entry(rule).or_default() += count;
            }
            known.refused.0 += clause.refused.0;
            known.refused.1 = known.refused.1.take().or(clause.refused.1);
        }
    }
}

impl From<String> for Label {
    fn from(words: String) -> Self {
        let (rules, is_optional, refused) = (BTreeMap::new(), false, (0, None));
        Self(vec![Clause { words: [words, String::new()], count: None, rules, is_optional, refused }])
    }
}

impl From<&str> for Label {
    fn from(words: &str) -> Self {
        words.to_owned().into()
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Clauses without effect are shown only if no clause has one.
        let any = self.0.iter().any(Clause::has_effect);
        let shown = self.0.iter().filter(|clause| if any { clause.has_effect() } else { !clause.is_optional });
        for (number, Clause { words: [before, after], count, rules, .. }) in shown.enumerate() {
            f.write_str(if number > 0 { ", " } else { "" })?;
            f.write_str(before)?;
            if let Some((count, noun)) = count {
                f.write_str(&counted(*count, noun))?;
            }
            f.write_str(after)?;
            if rules.len() > 1 {
                let named = rules.iter().map(|(rule, count)| format!("{} {}", rule.code(), grouped(*count)));
                write!(f, " ({})", named.collect::<Vec<_>>().join(", "))?;
            }
        }
        Ok(())
    }
}

/// The maximum number of samples in a preview.
pub(in crate::session) const SAMPLES: usize = 50;
/// The reason when there are no rows to change.
pub(in crate::session) const NO_ROW: &str = "no row matches";

impl Intent {
    pub(in crate::session) fn counting(changes: u64) -> Self {
        Self {
            edit: None,
            label: Label::default(),
            rows: changes,
            changes,
            already: 0,
            refused: 0,
            refused_files: 0,
            reason: None,
            urls: Box::default(),
            samples: Vec::new(),
            idle: NO_ROW,
            commands: Vec::new(),
            increased: Vec::new(),
            breaks: Vec::new(),
            unfixed: BTreeMap::new(),
            is_fix: false,
            elsewhere: [0; URL_KINDS.len()],
            unnamed: BTreeMap::new(),
        }
    }

    /// The reason if nothing changes: findings that a fix skipped because their rule was not named, else `idle`.
    fn idle_reason(&self) -> String {
        if self.unnamed.is_empty() {
            return self.idle.to_owned();
        }
        let count = self.unnamed.values().sum();
        let named = self.unnamed.iter().take(3).map(|(rule, count)| match self.unnamed.len() {
            1 => rule.code().to_owned(),
            _ => format!("{} ({})", rule.code(), grouped(*count)),
        });
        let mut named = named.collect::<Vec<_>>().join(", ");
        if self.unnamed.len() > 3 {
            named.push_str(", …");
        }
        let are = match count {
            1 => "is fixed only if its rule is named",
            _ if self.unnamed.len() == 1 => "are fixed only if their rule is named",
            _ => "are fixed only if their rules are named",
        };
        format!("{} {are}: {named}", counted(count, "finding"))
    }

    /// The message if nothing changes.
    pub(in crate::session) fn unchanged_message(&self) -> String {
        let also = self.elsewhere_message().into_iter().chain(self.urls.notes());
        also.fold(self.no_effect_message(), |all, note| all + "; " + &note)
    }

    fn no_effect_message(&self) -> String {
        let counted = |count: u64, one: &str, many: &str| match count {
            1 => format!("the row {one}"),
            count => format!("{} rows {many}", grouped(count)),
        };
        match (&self.reason, self.already) {
            (Some(reason), _) if self.refused + self.refused_files > 0 => format!("nothing changed: {reason}"),
            (_, 0) => format!("nothing changed: {}", self.idle_reason()),
            (_, same) => {
                format!("nothing changed: {}", counted(same, "has this value already", "have this value already"))
            }
        }
    }

    pub(in crate::session) fn of_rows(verb: &str, rows: &RowSet, edit: Edit) -> Self {
        let count = rows.len();
        let label = Label::of("", count, "row", format!(" {verb}"));
        Self { label, edit: (count > 0).then_some(edit), ..Self::counting(count) }
    }

    /// The message after the change; `changed` is whether the document differs from before.
    pub(in crate::session) fn done_message(&self, changed: bool) -> String {
        if !changed {
            return self.unchanged_message();
        }
        [self.label.to_string()].into_iter().chain(self.notes()).collect::<Vec<_>>().join("; ")
    }

    /// Further parts of the message, after the label.
    fn notes(&self) -> impl Iterator<Item = String> {
        let also = [self.skipped_message(), self.urls.faults(), self.elsewhere_message()];
        also.into_iter().flatten().chain(self.urls.notes())
    }

    /// `3 alternate links, 1 index URL match too: --in all rewrites them`; `None` if there are none.
    fn elsewhere_message(&self) -> Option<String> {
        let words = kinds(self.elsewhere);
        let (verb, them) = if self.elsewhere.iter().sum::<u64>() == 1 { ("matches", "it") } else { ("match", "them") };
        (!words.is_empty()).then(|| format!("{words} {verb} too: --in all rewrites {them}"))
    }

    /// `2 rows, 1 file skipped: …`; `None` if there are none.
    pub fn skipped_message(&self) -> Option<String> {
        let counts = [(self.refused, "row"), (self.refused_files, "file")];
        let words: Vec<String> =
            counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, noun)| counted(count, noun)).collect();
        let why = self.reason.as_deref().unwrap_or_default();
        (!words.is_empty()).then(|| format!("{} skipped: {why}", words.join(", ")))
    }

    /// A description of the change before it is made.
    pub fn description(&self) -> String {
        let already = match self.already {
            0 => String::new(),
            rows => format!("; {} had it already", counted(rows, "row")),
        };
        let refused = self.notes().fold(String::new(), |all, words| all + "; " + &words);
        let is_idle = self.changes == 0 && self.edit.is_none() && refused.is_empty() && !self.idle.is_empty();
        let label = if is_idle { self.idle_reason() } else { self.label.to_string() };
        format!("{label}{already}{refused}")
    }

    /// Adds the intent of the same change in another file, for a common report. The edits have been applied; the sum
    /// has an empty edit if any of them had one.
    pub(in crate::session) fn plus(&mut self, other: Self) {
        let is_edit = self.edit.is_some() || other.edit.is_some();
        self.edit = is_edit.then(|| Edit::Several(Vec::new()));
        self.label.plus(other.label);
        self.rows += other.rows;
        self.changes += other.changes;
        self.refused += other.refused;
        self.refused_files += other.refused_files;
        for (sum, count) in self.elsewhere.iter_mut().zip(other.elsewhere) {
            *sum += count;
        }
        self.urls.plus(*other.urls);
        let clauses: Vec<&Clause> = self.label.0.iter().filter(|clause| !clause.is_optional).collect();
        self.already = match clauses.as_slice() {
            [] | [_] => self.already + other.already,
            _ if self.is_fix => 0,
            // As `join` computes it for all rows at once.
            [first @ .., last] => {
                let refused: u64 = first.iter().map(|clause| clause.refused.0).sum();
                self.rows.saturating_sub(self.changes + refused.max(last.refused.0))
            }
        };
        self.reason = clauses.iter().find_map(|clause| clause.refused.1.clone());
        for (rule, rows) in other.unfixed {
            *self.unfixed.entry(rule).or_default() += rows;
        }
        if !self.unfixed.is_empty() {
            self.reason = Some(unfixed_message(&self.unfixed));
        }
        for (rule, count) in other.unnamed {
            *self.unnamed.entry(rule).or_default() += count;
        }
        self.samples.clear();
    }

    /// Joins two changes to one step.
    pub(in crate::session) fn join(self, other: Self) -> Self {
        let edits: Vec<Edit> = [self.edit, other.edit].into_iter().flatten().collect();
        let rows = self.rows.max(other.rows);
        let changes = match edits.iter().map(rows_of).collect::<Option<Vec<RowSet>>>() {
            Some(sets) => sets.into_iter().fold(RowSet::new(), |all, set| all | set).len(),
            None => self.changes + other.changes,
        };
        let samples = merge_samples(self.samples, other.samples);
        let mut unfixed = self.unfixed;
        for (rule, rows) in other.unfixed {
            *unfixed.entry(rule).or_default() += rows;
        }
        let label = Label([self.label.0, other.label.0].concat());
        Self {
            edit: (!edits.is_empty()).then_some(Edit::Several(edits)),
            label,
            rows,
            changes,
            already: if self.is_fix { 0 } else { rows.saturating_sub(changes + self.refused.max(other.refused)) },
            refused: self.refused + other.refused,
            refused_files: self.refused_files + other.refused_files,
            reason: self.reason.or(other.reason),
            urls: {
                let mut urls = self.urls;
                urls.plus(*other.urls);
                urls
            },
            samples,
            idle: self.idle,
            commands: Vec::new(),
            increased: Vec::new(),
            breaks: [self.breaks, other.breaks].concat(),
            unfixed,
            is_fix: self.is_fix,
            elsewhere: self.elsewhere,
            unnamed: BTreeMap::new(),
        }
    }
}

/// The rows whose values an edit sets; `None` for edits that insert or move rows.
fn rows_of(edit: &Edit) -> Option<RowSet> {
    match edit {
        Edit::Set { rows, .. } => Some(rows.clone()),
        Edit::SetEach { values, .. } => Some(values.iter().map(|(row, _)| row.0).collect()),
        Edit::Several(edits) => edits.iter().map(rows_of).try_fold(RowSet::new(), |all, rows| Some(all | rows?)),
        _ => None,
    }
}

/// The samples of two changes, by rows, up to the row at which a full list ends: further rows would be incomplete.
fn merge_samples(first: Vec<Sample>, second: Vec<Sample>) -> Vec<Sample> {
    let end = |list: &[Sample]| list.last().filter(|_| list.len() >= SAMPLES).map_or(u32::MAX, |last| last.row.0);
    let end = end(&first).min(end(&second));
    let mut all: Vec<Sample> = first.into_iter().chain(second).filter(|sample| sample.row.0 <= end).collect();
    all.sort_by_key(|sample| sample.row);
    all
}

/// A message about rules that cannot be fixed automatically, the most frequent first, and what to do about them.
pub(in crate::session) fn unfixed_message(counts: &BTreeMap<Rule, u64>) -> String {
    /// The maximum number of rules that the message names.
    const MAX_NAMED: usize = 3;
    let mut counts: Vec<(Rule, u64)> = counts.iter().map(|(rule, count)| (*rule, *count)).collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let named = counts.iter().take(MAX_NAMED).map(|(rule, count)| match counts.len() {
        1 => rule.code().to_owned(),
        _ => format!("{} ({count})", rule.code()),
    });
    let mut words: Vec<String> = named.collect();
    if counts.len() > MAX_NAMED {
        words.push(format!("{} more", counted((counts.len() - MAX_NAMED) as u64, "rule")));
    }
    let first = counts.first().map(|(rule, _)| *rule);
    let hint = first.map_or_else(String::new, |rule| {
        let ways: Vec<&str> = answers(rule).iter().map(|way| way.word).filter(|word| *word != "usual").collect();
        match ways.as_slice() {
            [] => format!("; the query rule:{} finds them", rule.code()),
            [way] => format!("; {} needs the answer {way}", rule.code()),
            [ways @ .., last] => format!("; {} needs an answer: {} or {last}", rule.code(), ways.join(", ")),
        }
    });
    format!("cannot be fixed automatically: {}{hint}", words.join(", "))
}
