//! Plans a change: turns what the user asks for (`+7d` on these rows) into an edit with a value per row.
//!
//! The same step gives the preview and the edit, so the preview cannot lie. Pure; may run on a worker.

pub use super::intent::{Intent, Label, PreviewPart, Sample};

use super::command::{Assignment, Replace};
use super::intent::SAMPLES;
use super::snapshot::Snapshot;
use crate::check::decision::Decision;
use crate::check::rule::{Rule, RuleSet};
use crate::document::Document;
use crate::document::edit::{Edit, NewEntry, Value};
use crate::document::rows::{self, RowId, RowList, RowSet};
use crate::document::sitemap::{Member, SitemapId};
use crate::progress::Progress;
use crate::protocol::changefreq::{self, Changefreq};
use crate::protocol::lastmod::{self, shift_days};
use crate::protocol::{Field, priority};
use crate::xml::escape::is_xml_char;
use crate::xml::extension_edit::ExtensionChange;
use rayon::prelude::*;
use std::sync::Arc;

/// A change of the document as a person means it. Rows that are deleted are passed over.
#[derive(Debug, Clone)]
pub enum Change {
    /// Fields to values as typed: `today`, `+0.1`, `none`, `0.8`.
    Set {
        /// Which rows.
        rows: RowSet,
        /// What.
        assignments: Vec<Assignment>,
    },
    /// One field, each row to a value of its own.
    Values {
        /// Which rows are meant; those without a value below stay as they are.
        rows: RowSet,
        /// Which field.
        field: Field,
        /// The values, in the order of the rows.
        values: Vec<(RowId, Value)>,
    },
    /// A regular expression on the URLs.
    Replace {
        /// Which rows.
        rows: RowSet,
        /// What by what, and in which URLs.
        replace: Replace,
        /// What of the set it reaches.
        reach: Reach,
    },
    /// The entries of the index below a URL.
    RebaseIndex(String),
    /// One step up or down: priority by 0.1, date by a day, frequency to its neighbour.
    Nudge {
        /// Which rows.
        rows: RowSet,
        /// Which field; loc has no steps.
        field: Field,
        /// Up: greater, later, more often.
        up: bool,
    },
    /// New rows with these URLs, in the file of the row they come after.
    Insert {
        /// After which row; `None` puts them at the end of the last file.
        after: Option<RowId>,
        /// Before that row instead.
        before: bool,
        /// URLs as typed.
        locs: Vec<String>,
    },
    /// A copy after each row.
    Duplicate(RowSet),
    /// Rows out.
    Delete(RowSet),
    /// Deleted rows back.
    Restore(RowSet),
    /// Rows as they were saved.
    Revert(RowSet),
    /// What stands around the entries of a file as it was saved.
    RevertFile(Member),
    /// A row's text, edited as text.
    Raw {
        /// Which row.
        row: RowId,
        /// From `<url` to `</url>`.
        text: String,
    },
    /// Extensions added, changed, removed.
    Extend {
        /// Which rows.
        rows: RowSet,
        /// What, in order.
        acts: Vec<ExtensionChange>,
    },
    /// One rule's findings fixed by what somebody decided.
    Decide {
        /// Which rows; those without the finding are left alone.
        rows: RowSet,
        /// Whose findings.
        rule: Rule,
        /// How.
        decision: Decision,
    },
    /// Several, as one step.
    Several(Vec<Change>),
    /// What the rules' fixers say.
    Fix {
        /// Which rows.
        rows: RowSet,
        /// Whose findings.
        rules: RuleSet,
    },
    /// What the rules' fixers say of a file as a whole.
    FixFile(Member, RuleSet),
    /// The order on show becomes the order of the files.
    ApplyOrder,
}

/// What of a set a replacement of URLs reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// These rows. Nothing is said of others.
    Rows,
    /// Rows that were chosen out of the set: it is said what others keep.
    Chosen,
    /// The whole set, so that its index is meant too.
    Set,
    /// Rows of one file of a set of which no other is held: its index is looked at when all files are through.
    File,
}

/// Why a change was not made; one sentence that says what to do instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

/// Why one URL is not given to several rows.
pub(super) const ONE_ROW: &str =
    "loc can be set on one row at a time, and several rows are meant; `replace` (:s) rewrites the URLs of many";

/// A value that each row is to get, or why it cannot.
type Computed = Result<Value, String>;

impl Change {
    /// Whether it is what fixers or answers make of findings.
    pub(super) const fn is_fix(&self) -> bool {
        matches!(self, Self::Fix { .. } | Self::FixFile(..) | Self::Decide { .. })
    }
}

impl Change {
    /// The fields that values are given to.
    fn fields(&self) -> Vec<Field> {
        match self {
            Self::Set { assignments, .. } => assignments.iter().map(|assignment| assignment.field).collect(),
            Self::Values { field, .. } | Self::Nudge { field, .. } => vec![*field],
            _ => Vec::new(),
        }
    }
}

impl Document {
    /// Whether rows may have a field: the entries of an index have a loc and a lastmod only.
    ///
    /// # Errors
    /// [`Refused`] says which fields there are.
    pub fn has_place_for(&self, field: Field) -> Result<(), Refused> {
        if self.lists_sitemaps() && matches!(field, Field::Changefreq | Field::Priority) {
            let name = field.name();
            return Err(Refused(format!("an index has no {name}: its entries have loc and lastmod only")));
        }
        Ok(())
    }
}

impl Snapshot {
    /// Works out what a change comes to. `Ok(None)` when cancelled.
    pub fn intend(&self, change: &Change, progress: &Progress) -> Result<Option<Intent>, Refused> {
        change.fields().into_iter().try_for_each(|field| self.document.has_place_for(field))?;
        Ok(match change {
            Change::Set { rows, assignments } => return self.intend_set(rows, assignments, progress),
            Change::Values { rows, field, values } => self.intend_values(rows, *field, values, progress),
            Change::Replace { rows, replace, reach } => self.intend_replace(rows, replace, *reach, progress),
            Change::RebaseIndex(url) => Some(self.intend_rebase(url)),
            Change::Nudge { rows, field, up } => {
                let words = if *up { "raised" } else { "lowered" };
                let words = format!("{} {words} on", field.name());
                self.intend_each(rows, *field, &words, progress, &|old| nudged(*field, old, *up, self))
            }
            Change::Insert { after, before, locs } => Some(self.intend_insert(*after, *before, locs)?),
            Change::Duplicate(rows) => Some(self.intend_duplicate(rows)?),
            Change::Delete(rows) => {
                let rows: RowSet = rows.iter().filter(|row| self.document.is_live(RowId(*row))).collect();
                Some(Intent::of_rows("deleted", &rows, Edit::Delete(rows.clone())))
            }
            Change::Restore(rows) => {
                let rows: RowSet = rows.iter().filter(|row| self.document.record(RowId(*row)).is_deleted()).collect();
                Some(Intent::of_rows("restored", &rows, Edit::Restore(rows.clone())))
            }
            Change::Decide { rows, rule, decision: Decision::Name(name) } => Some(self.intend_name(rows, *rule, name)?),
            Change::Decide { rows, rule, decision } => {
                let Some(field) = decision.field() else {
                    return Ok(self.intend_decided(rows, *rule, decision, progress));
                };
                if let Decision::Base(url) = decision
                    && matches!(*rule, Rule::INDEX_CHILD_INCOMPLETE_URL | Rule::INDEX_CHILD_UNLISTED)
                {
                    return Ok(Some(self.intend_below(*rule, url)));
                }
                let broken = |row: &u32| self.rules_of(RowId(*row)).intersects(rule.family());
                let rows: RowSet = rows.iter().filter(broken).collect();
                let words = format!("{}: {} on", rule.code(), decision.label());
                self.intend_each(&rows, field, &words, progress, &|old| {
                    let new = old.and_then(|old| decision.apply(old));
                    new.map(|new| new.map(Into::into)).ok_or_else(|| "that does not fix it".to_owned())
                })
            }
            Change::Revert(rows) => self.intend_revert(rows, progress),
            Change::RevertFile(file) => Some(self.intend_revert_file(*file)),
            Change::Extend { rows, acts } => self.intend_extend(rows, acts, progress),
            Change::Raw { row, text } => Some(self.intend_raw(*row, text)?),
            Change::Several(changes) => {
                let mut whole: Option<Intent> = None;
                for change in changes {
                    let Some(intent) = self.intend(change, progress)? else { return Ok(None) };
                    whole = Some(whole.map_or_else(|| intent.clone(), |first| first.joined(intent.clone())));
                }
                whole
            }
            Change::FixFile(file, rules) => Some(self.intend_fix_file(*file, *rules)),
            Change::Fix { rows, rules } => self.intend_fix(rows, &super::fix::SkippedRows::default(), *rules, progress),
            Change::ApplyOrder => Some(self.intend_order()),
        })
    }

    fn intend_set(
        &self,
        rows: &RowSet,
        assignments: &[Assignment],
        progress: &Progress,
    ) -> Result<Option<Intent>, Refused> {
        let mut whole: Option<Intent> = None;
        for Assignment { field, typed } in assignments {
            if let Some(character) = typed.chars().find(|character| !is_xml_char(*character)) {
                return Err(Refused(format!("U+{:04X} cannot be written in XML; leave it out", character as u32)));
            }
            if *field == Field::Loc && self.live_rows_in(rows).nth(1).is_some() {
                return Err(Refused(ONE_ROW.to_owned()));
            }
            let words = match self.resolve(*field, typed, None) {
                _ if is_step(*field, typed) => format!("{} {typed} on", field.name()),
                Ok(None) => format!("{} removed from", field.name()),
                Ok(Some(value)) => format!("{} set to {value} on", field.name()),
                Err(reason) => return Err(Refused(reason)),
            };
            let intent = if is_step(*field, typed) {
                self.intend_each(rows, *field, &words, progress, &|old| match old {
                    None | Some("") => Err(format!("there is no {} to count from", field.name())),
                    old => self.resolve(*field, typed, old),
                })
            } else {
                let value = self.resolve(*field, typed, None).map_err(Refused)?;
                self.intend_one(rows, *field, &words, &value, progress)
            };
            let Some(intent) = intent else { return Ok(None) };
            whole = Some(match whole {
                None => intent,
                Some(first) => first.joined(intent),
            });
        }
        Ok(whole)
    }

    /// The rows that are not deleted.
    fn live_rows_in(&self, rows: &RowSet) -> impl Iterator<Item = RowId> {
        rows.iter().map(RowId).filter(|row| self.document.is_live(*row))
    }

    /// What typed text means for a row that says `old`.
    fn resolve(&self, field: Field, typed: &str, old: Option<&str>) -> Computed {
        let value = match field {
            // A required element is emptied, not removed: the row stays, with an error to see.
            Field::Loc if typed.trim().eq_ignore_ascii_case("none") => Some(String::new()),
            Field::Loc => Some(typed.trim().to_owned()),
            Field::Lastmod => lastmod::parse_input(typed, old, self.clock).map_err(|error| error.to_string())?,
            Field::Changefreq => changefreq::parse_input(typed),
            Field::Priority => priority::parse_input(typed, old).map_err(|error| error.to_string())?,
        };
        Ok(value.map(Into::into))
    }

    /// One value for all rows.
    fn intend_one(
        &self,
        rows: &RowSet,
        field: Field,
        words: &str,
        value: &Value,
        progress: &Progress,
    ) -> Option<Intent> {
        let says = self.document.has_value(field, value.as_deref());
        let shares = rows::par_chunks(rows, |share| {
            let mut live = 0;
            let is_changing = |row: &u32| {
                let is_live = self.document.is_live(RowId(*row));
                live += u64::from(is_live);
                is_live && !says(RowId(*row))
            };
            let changing = rows::ids(rows, share).filter(is_changing).collect();
            (!progress.is_cancelled()).then(|| (live, rows::in_order(changing)))
        })?;
        let (mut live, mut changing) = (0, RowSet::new());
        for (count, share) in shares {
            live += count;
            changing |= share;
        }
        let samples =
            changing.iter().take(SAMPLES).map(|row| self.sample(RowId(row), field, value.as_deref())).collect();
        let changes = changing.len();
        let values = || changing.iter().map(|row| (RowId(row), value.clone())).collect::<Vec<_>>();
        let urls = if field == Field::Loc { Box::new(self.effects_on_rows(&values())) } else { Box::default() };
        Some(Intent {
            label: Label::of(format!("{words} "), changes, "row", ""),
            rows: live,
            already: live - changes,
            urls,
            samples,
            edit: (changes > 0).then(|| Edit::Set { rows: changing, field, value: value.clone() }),
            ..Intent::counting(changes)
        })
    }

    /// A value of its own for each row.
    pub(super) fn intend_each(
        &self,
        rows: &RowSet,
        field: Field,
        words: &str,
        progress: &Progress,
        compute: &(dyn Fn(Option<&str>) -> Computed + Sync),
    ) -> Option<Intent> {
        let live: Vec<u32> = rows.iter().filter(|row| self.document.is_live(RowId(*row))).collect();
        let computed: Vec<(RowId, Computed)> = live
            .par_iter()
            .filter_map(|row| {
                let row = RowId(*row);
                if progress.is_cancelled() {
                    return None;
                }
                let old = self.document.value(row, field);
                let new = compute(old.as_deref());
                (!matches!(&new, Ok(new) if new.as_deref() == old.as_deref())).then_some((row, new))
            })
            .collect();
        if progress.is_cancelled() {
            return None;
        }
        let mut values = Vec::with_capacity(computed.len());
        let (mut refused, mut reason) = (0, None);
        for (row, value) in computed {
            match value {
                Ok(value) => values.push((row, value)),
                Err(why) => {
                    refused += 1;
                    reason.get_or_insert(why);
                }
            }
        }
        let changes = values.len() as u64;
        let samples =
            values.iter().take(SAMPLES).map(|(row, value)| self.sample(*row, field, value.as_deref())).collect();
        let urls = if field == Field::Loc { Box::new(self.effects_on_rows(&values)) } else { Box::default() };
        Some(Intent {
            label: Label::of(format!("{words} "), changes, "row", "").refusing(refused, reason.as_ref()),
            rows: live.len() as u64,
            already: live.len() as u64 - changes - refused,
            refused,
            reason,
            urls,
            samples,
            edit: (changes > 0).then_some(Edit::SetEach { field, values }),
            ..Intent::counting(changes)
        })
    }

    /// Values that are known for each row.
    fn intend_values(
        &self,
        rows: &RowSet,
        field: Field,
        values: &[(RowId, Value)],
        progress: &Progress,
    ) -> Option<Intent> {
        let meant = self.live_rows_in(rows).count() as u64;
        let is_new = |(row, value): &&(RowId, Value)| {
            self.document.is_live(*row) && self.document.value(*row, field).as_deref() != value.as_deref()
        };
        let changing: Vec<(RowId, Value)> = values.par_iter().filter(is_new).cloned().collect();
        if progress.is_cancelled() {
            return None;
        }
        let changes = changing.len() as u64;
        let samples = changing.iter().take(SAMPLES);
        let samples = samples.map(|(row, value)| self.sample(*row, field, value.as_deref())).collect();
        Some(Intent {
            label: Label::of(format!("{} set on ", field.name()), changes, "row", ""),
            rows: meant,
            already: meant.saturating_sub(changes),
            samples,
            edit: (changes > 0).then_some(Edit::SetEach { field, values: changing }),
            ..Intent::counting(changes)
        })
    }

    fn sample(&self, row: RowId, field: Field, after: Option<&str>) -> Sample {
        let before = self.document.value(row, field).map(std::borrow::Cow::into_owned);
        Sample { row, part: PreviewPart::Field(field), before, after: after.map(ToOwned::to_owned) }
    }

    fn intend_insert(&self, anchor: Option<RowId>, before: bool, locs: &[String]) -> Result<Intent, Refused> {
        let entries: Vec<NewEntry> = locs
            .iter()
            .map(|loc| loc.trim())
            .filter(|loc| !loc.is_empty())
            .map(|loc| NewEntry::Values([Some(loc.into()), None, None, None]))
            .collect();
        if let Some(bad) = locs.iter().flat_map(|loc| loc.chars()).find(|character| !is_xml_char(*character)) {
            return Err(Refused(format!("U+{:04X} cannot be written in XML; leave it out", bad as u32)));
        }
        let count = entries.len() as u64;
        let Some((sitemap, after)) = self.place(anchor, before) else {
            return Err(Refused("there is no file to add to".into()));
        };
        Ok(Intent {
            label: Label::of("", count, "row", " added"),
            edit: (count > 0).then_some(Edit::Insert { sitemap, after, entries }),
            ..Intent::counting(count)
        })
    }

    /// The file and the row after which something comes that is put after or before `anchor`.
    fn place(&self, anchor: Option<RowId>, before: bool) -> Option<(SitemapId, Option<RowId>)> {
        let Some(anchor) = anchor else {
            // A part that was emptied and removed by a save keeps its number; nothing is written there.
            let files = (0..self.document.sitemaps().len() as u32).map(SitemapId);
            let last = files.rev().find(|id| !self.document.is_gone(*id))?;
            let rows = &self.document.sitemap(last)?.rows;
            return Some((last, rows.len().checked_sub(1).and_then(|at| rows.get(at))));
        };
        let sitemap = self.document.sitemap_of(anchor);
        if !before {
            return Some((sitemap, Some(anchor)));
        }
        let rows = &self.document.sitemap(sitemap)?.rows;
        let position = rows.position(anchor)?;
        Some((sitemap, position.checked_sub(1).and_then(|at| rows.get(at))))
    }

    fn intend_duplicate(&self, rows: &RowSet) -> Result<Intent, Refused> {
        let mut edits = Vec::new();
        for row in rows.iter().map(RowId).filter(|row| self.document.is_live(*row)) {
            let (entry, text) = self.document.entry(row);
            let element = text.get(entry.open as usize..entry.len as usize).unwrap_or_default();
            let Ok(element) = std::str::from_utf8(element) else {
                return Err(Refused("a row that is not UTF-8 cannot be copied".into()));
            };
            let entries = vec![NewEntry::Element(element.into())];
            edits.push(Edit::Insert { sitemap: self.document.sitemap_of(row), after: Some(row), entries });
        }
        let count = edits.len() as u64;
        Ok(Intent {
            label: Label::of("", count, "row", " duplicated"),
            edit: (count > 0).then_some(Edit::Several(edits)),
            ..Intent::counting(count)
        })
    }

    fn intend_raw(&self, row: RowId, text: &str) -> Result<Intent, Refused> {
        let names = self.document.names(row);
        let text = names.trimmed(text);
        let entry = crate::xml::entry::Entry::of(text.as_bytes(), names);
        if entry.anomalies.has(crate::xml::entry::Anomalies::BROKEN)
            || entry.open != 0
            || entry.len as usize != text.len()
        {
            let what = names.kind.entry_name();
            let element = format!("well-formed <{what}> element");
            return Err(Refused(format!("this must stay one {}", if names.kind.is_xml() { &element } else { what })));
        }
        let (old, old_text) = self.document.entry(row);
        let lead = String::from_utf8_lossy(old_text.get(..old.open as usize).unwrap_or_default());
        Ok(Intent {
            label: "1 row edited as text".into(),
            edit: Some(Edit::Raw { row, text: format!("{lead}{text}{}", names.entry_end()).into() }),
            ..Intent::counting(1)
        })
    }

    /// Rows on show take each other's places within their file; rows not on show keep theirs.
    fn intend_order(&self) -> Intent {
        let mut wanted: Vec<Vec<u32>> = vec![Vec::new(); self.document.sitemaps().len()];
        for row in self.view.rows(&self.document) {
            if let Some(file) = wanted.get_mut(self.document.sitemap_of(row).index()) {
                file.push(row.0);
            }
        }
        let mut orders = Vec::new();
        let mut moved = 0u64;
        for (id, (sitemap, wanted)) in self.document.sitemaps().iter().zip(&wanted).enumerate() {
            let shown: RowSet = wanted.iter().copied().collect();
            let mut next = wanted.iter();
            let order: Vec<u32> = sitemap
                .rows
                .iter()
                .map(|row| if shown.contains(row.0) { next.next().copied().unwrap_or(row.0) } else { row.0 })
                .collect();
            let differs = sitemap.rows.iter().zip(&order).filter(|(old, new)| old.0 != **new).count() as u64;
            if differs > 0 {
                moved += differs;
                orders.push((SitemapId(id as u32), RowList::from_ids(order)));
            }
        }
        Intent {
            label: Label::of("file order changed: ", moved, "row", " moved"),
            edit: (moved > 0).then_some(Edit::Reorder(orders)),
            idle: "the files have this order already",
            ..Intent::counting(moved)
        }
    }
}

/// Whether typed text counts from the present value.
fn is_step(field: Field, typed: &str) -> bool {
    matches!(field, Field::Lastmod | Field::Priority) && typed.trim_start().starts_with(['+', '-'])
}

fn nudged(field: Field, old: Option<&str>, up: bool, snapshot: &Snapshot) -> Computed {
    match field {
        Field::Loc => Err("a URL has no steps".into()),
        Field::Priority => {
            let judged = old.filter(|old| !old.is_empty()).map(priority::validate);
            match judged {
                // Out of range: the nearest that is allowed, not a step from the default.
                Some(judged) if judged.faults.has(priority::Faults::RANGE) => {
                    let low = old.is_some_and(|old| old.trim_start().starts_with('-'));
                    Ok(Some(if low { "0.0" } else { "1.0" }.into()))
                }
                Some(judged) if judged.hundredths.is_none() => Err("this is no priority to count from".to_owned()),
                _ => Ok(Some(priority::nudge(old, if up { 1 } else { -1 }).into())),
            }
        }
        Field::Lastmod => {
            let today = snapshot.clock.today();
            let days = if up { 1 } else { -1 };
            let moved = match old {
                None => Some(today),
                Some(old) => shift_days(old, days),
            };
            moved.map(|text| Some(Arc::from(text))).ok_or_else(|| "this is no date to count from".to_owned())
        }
        Field::Changefreq => match old.map(Changefreq::parse_any_case) {
            None => Ok(Some(Changefreq::Weekly.name().into())),
            Some(Some(current)) => {
                let next = if up { current.previous() } else { current.next() };
                Ok(Some(next.name().into()))
            }
            Some(None) => Err("this is none of the seven frequencies".into()),
        },
    }
}
