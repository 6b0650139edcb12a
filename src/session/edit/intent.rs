//! An intent: the effect of a change before it is made, with its edit, message and preview.

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

/// What a change comes to: the edit, and what to say of it.
#[derive(Debug, Clone)]
pub struct Intent {
    /// What to do; `None` if nothing would change.
    pub edit: Option<Edit>,
    /// Past tense, for the message and the history: `priority set to 0.8 on 1,167 rows`.
    pub label: Label,
    /// Rows it is about.
    pub rows: u64,
    /// Rows that change.
    pub changes: u64,
    /// Rows that have the value already.
    pub already: u64,
    /// Rows that cannot take it, with the first reason.
    pub refused: u64,
    /// Files that are left as they are for a reason.
    pub refused_files: u64,
    /// Why the first refused row refuses.
    pub reason: Option<String>,
    /// What new URLs lead to.
    pub urls: Box<UrlEffects>,
    /// The first rows that change: before and after; what is reported of one row stands together.
    pub samples: Vec<Sample>,
    /// What to say if nothing changes, unless the rows themselves are the reason.
    pub idle: &'static str,
    /// The commands that do it without a screen; see `super::script_export`.
    pub said: Vec<String>,
    /// Of a fix, the rules of which more findings are left than there were, with how many more.
    pub left: Vec<(Rule, u64)>,
    /// Of a change of one row, what would be wrong with it that is not now.
    pub breaks: Vec<Finding>,
    /// Of a fix, the rules that refused rows break, each with the number of rows.
    pub unfixed: BTreeMap<Rule, u64>,
    /// Of a fix that no one looks at, findings that are fixed only where their rule is named.
    pub unnamed: BTreeMap<Rule, u64>,
    /// Of a replacement, other URLs that match and are left alone, by their kind.
    pub elsewhere: [u64; URL_KINDS.len()],
    /// Whether it is what fixers make of findings: rows without one have not got anything already.
    pub is_fix: bool,
}

/// One row of a preview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The changed row.
    pub row: RowId,
    /// The changed field or element.
    pub part: PreviewPart,
    /// Its value now.
    pub before: Option<String>,
    /// Its value then.
    pub after: Option<String>,
}

/// What of a row a preview shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PreviewPart {
    /// A field.
    Field(Field),
    /// What is at a path of its extensions.
    Extension(String),
}

impl PreviewPart {
    /// What people call it.
    pub fn name(&self) -> &str {
        match self {
            Self::Field(field) => field.name(),
            Self::Extension(path) => path,
        }
    }
}

/// What a change comes to, in words. They are kept in pieces with their numbers, so that what is done to one file after
/// the other can be added up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Label(Vec<Clause>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Clause {
    /// What is before the number and what after it; the first alone where nothing is counted.
    words: [String; 2],
    count: Option<(u64, &'static str)>,
    /// The rules that the counted rows break no more, and of how many rows each; named where there are several.
    rules: BTreeMap<Rule, u64>,
    /// Whether no one misses it where its number is 0, although all are.
    aside: bool,
    /// Rows that cannot take it, with the first reason.
    refused: (u64, Option<String>),
}

impl Clause {
    /// Whether it says that something was done.
    const fn has_effect(&self) -> bool {
        !matches!(self.count, Some((0, _)))
    }
}

impl Label {
    /// `before`, so many of something, `after`.
    pub(in crate::session) fn of(
        before: impl Into<String>,
        count: u64,
        noun: &'static str,
        after: impl Into<String>,
    ) -> Self {
        let words = [before.into(), after.into()];
        let (rules, aside, refused) = (BTreeMap::new(), false, (0, None));
        Self(vec![Clause { words, count: Some((count, noun)), rules, aside, refused }])
    }

    /// Adds the rules that the counted rows break no more.
    pub(in crate::session) fn by_rule(mut self, rules: BTreeMap<Rule, u64>) -> Self {
        if let Some(last) = self.0.last_mut() {
            last.rules = rules;
        }
        self
    }

    /// Adds the number of rows that refuse the change, and the reason of the first.
    pub(in crate::session) fn refusing(mut self, rows: u64, reason: Option<&String>) -> Self {
        if let Some(last) = self.0.last_mut() {
            last.refused = (rows, reason.cloned());
        }
        self
    }

    /// Adds a clause that is left out where its count is zero.
    pub(in crate::session) fn and_any(mut self, count: u64, noun: &'static str, after: &str) -> Self {
        self.0.extend(Self::of("", count, noun, after).0.into_iter().map(|clause| Clause { aside: true, ..clause }));
        self
    }

    /// Takes so many off what is counted in `noun`.
    pub(in crate::session) fn uncount(&mut self, noun: &str, mut excess: u64) {
        for (count, _) in self.0.iter_mut().filter_map(|clause| clause.count.as_mut()).filter(|(_, of)| *of == noun) {
            let less = excess.min(*count);
            (*count, excess) = (*count - less, excess - less);
        }
    }

    /// Leaves out the rows that the clauses skip.
    pub(in crate::session) fn forget_skipped(&mut self) {
        self.0.iter_mut().for_each(|clause| clause.refused = (0, None));
    }

    /// Adds up the numbers of what is called alike.
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
        let (rules, aside, refused) = (BTreeMap::new(), false, (0, None));
        Self(vec![Clause { words: [words, String::new()], count: None, rules, aside, refused }])
    }
}

impl From<&str> for Label {
    fn from(words: &str) -> Self {
        words.to_owned().into()
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What came to nothing is reported only where all did.
        let any = self.0.iter().any(Clause::has_effect);
        let shown = self.0.iter().filter(|clause| if any { clause.has_effect() } else { !clause.aside });
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

/// Rows that a preview shows.
pub(in crate::session) const SAMPLES: usize = 50;
/// What to say when there are no rows to change.
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
            said: Vec::new(),
            left: Vec::new(),
            breaks: Vec::new(),
            unfixed: BTreeMap::new(),
            is_fix: false,
            elsewhere: [0; URL_KINDS.len()],
            unnamed: BTreeMap::new(),
        }
    }

    /// What to say if there is nothing to do: what there would be, if it were asked for.
    fn idle_words(&self) -> String {
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

    /// Why nothing changes, in one sentence.
    pub(in crate::session) fn nothing(&self) -> String {
        let also = self.elsewhere_words().into_iter().chain(self.urls.notes());
        also.fold(self.no_effect_message(), |all, words| all + "; " + &words)
    }

    fn no_effect_message(&self) -> String {
        let counted = |count: u64, one: &str, many: &str| match count {
            1 => format!("the row {one}"),
            count => format!("{} rows {many}", grouped(count)),
        };
        match (&self.reason, self.already) {
            (Some(reason), _) if self.refused + self.refused_files > 0 => format!("nothing changed: {reason}"),
            (_, 0) => format!("nothing changed: {}", self.idle_words()),
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

    /// What to say of it when it is done; `changed`: something is another than before.
    pub(in crate::session) fn done(&self, changed: bool) -> String {
        if !changed {
            return self.nothing();
        }
        [self.label.to_string()].into_iter().chain(self.notes()).collect::<Vec<_>>().join("; ")
    }

    /// What there is to say beside what is done.
    fn notes(&self) -> impl Iterator<Item = String> {
        let also = [self.skipped_message(), self.urls.faults(), self.elsewhere_words()];
        also.into_iter().flatten().chain(self.urls.notes())
    }

    /// `3 alternate links, 1 index URL match too: --in all rewrites them`; `None` where nothing does.
    fn elsewhere_words(&self) -> Option<String> {
        let words = kinds(self.elsewhere);
        let (verb, them) = if self.elsewhere.iter().sum::<u64>() == 1 { ("matches", "it") } else { ("match", "them") };
        (!words.is_empty()).then(|| format!("{words} {verb} too: --in all rewrites {them}"))
    }

    /// `2 rows, 1 file left alone: …`; `None` where nothing is.
    pub fn skipped_message(&self) -> Option<String> {
        let counts = [(self.refused, "row"), (self.refused_files, "file")];
        let words: Vec<String> =
            counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, noun)| counted(count, noun)).collect();
        let why = self.reason.as_deref().unwrap_or_default();
        (!words.is_empty()).then(|| format!("{} skipped: {why}", words.join(", ")))
    }

    /// What it would do, for people.
    pub fn description(&self) -> String {
        let already = match self.already {
            0 => String::new(),
            rows => format!("; {} had it already", counted(rows, "row")),
        };
        let refused = self.notes().fold(String::new(), |all, words| all + "; " + &words);
        let is_idle = self.changes == 0 && self.edit.is_none() && refused.is_empty() && !self.idle.is_empty();
        let label = if is_idle { self.idle_words() } else { self.label.to_string() };
        format!("{label}{already}{refused}")
    }

    /// The same change of other rows, in another file: what is reported of both. Their edits have been made; a sum has an
    /// empty one if any of them was one.
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
        let clauses: Vec<&Clause> = self.label.0.iter().filter(|clause| !clause.aside).collect();
        self.already = match clauses.as_slice() {
            [] | [_] => self.already + other.already,
            _ if self.is_fix => 0,
            // As `joined` says it of all rows at once.
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

    /// Two changes as one step.
    pub(in crate::session) fn joined(self, other: Self) -> Self {
        let edits: Vec<Edit> = [self.edit, other.edit].into_iter().flatten().collect();
        let rows = self.rows.max(other.rows);
        let changes = match edits.iter().map(rows_of).collect::<Option<Vec<RowSet>>>() {
            Some(sets) => sets.into_iter().fold(RowSet::new(), |all, set| all | set).len(),
            None => self.changes + other.changes,
        };
        let samples = side_by_side(self.samples, other.samples);
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
            said: Vec::new(),
            left: Vec::new(),
            breaks: [self.breaks, other.breaks].concat(),
            unfixed,
            is_fix: self.is_fix,
            elsewhere: self.elsewhere,
            unnamed: BTreeMap::new(),
        }
    }
}

/// The rows whose values an edit sets; `None` for edits that make or move rows.
fn rows_of(edit: &Edit) -> Option<RowSet> {
    match edit {
        Edit::Set { rows, .. } => Some(rows.clone()),
        Edit::SetEach { values, .. } => Some(values.iter().map(|(row, _)| row.0).collect()),
        Edit::Several(edits) => edits.iter().map(rows_of).try_fold(RowSet::new(), |all, rows| Some(all | rows?)),
        _ => None,
    }
}

/// The samples of two changes, by rows; of rows beyond which one list ends, nothing is known of the other.
fn side_by_side(first: Vec<Sample>, second: Vec<Sample>) -> Vec<Sample> {
    let end = |list: &[Sample]| list.last().filter(|_| list.len() >= SAMPLES).map_or(u32::MAX, |last| last.row.0);
    let end = end(&first).min(end(&second));
    let mut all: Vec<Sample> = first.into_iter().chain(second).filter(|sample| sample.row.0 <= end).collect();
    all.sort_by_key(|sample| sample.row);
    all
}

/// The rules that rows break and no fixer fixes, most of them first, and what to do about it.
pub(in crate::session) fn unfixed_message(counts: &BTreeMap<Rule, u64>) -> String {
    const NAMED: usize = 3;
    let mut counts: Vec<(Rule, u64)> = counts.iter().map(|(rule, count)| (*rule, *count)).collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let named = counts.iter().take(NAMED).map(|(rule, count)| match counts.len() {
        1 => rule.code().to_owned(),
        _ => format!("{} ({count})", rule.code()),
    });
    let mut words: Vec<String> = named.collect();
    if counts.len() > NAMED {
        words.push(format!("{} more", counted((counts.len() - NAMED) as u64, "rule")));
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
