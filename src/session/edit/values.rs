//! Plans new values of fields: typed values, data columns, and steps up and down.

use crate::document::edit::{Edit, Value};
use crate::document::rows::{self, RowId, RowSet};
use crate::progress::Progress;
use crate::protocol::changefreq::{self, Changefreq};
use crate::protocol::lastmod::{self, shift_days};
use crate::protocol::{Field, priority};
use crate::session::command::Assignment;
use crate::session::edit::change::EditError;
use crate::session::edit::data_values::DataSource;
use crate::session::edit::intent::{Intent, Label, PreviewPart, SAMPLES, Sample};
use crate::session::edit::url_effects;
use crate::session::state::Snapshot;
use crate::xml::escape::is_xml_char;
use rayon::prelude::*;
use std::sync::Arc;

/// The intent of setting fields of rows, one assignment after the other.
///
/// # Errors
/// [`EditError`].
pub(in crate::session) fn intend_set(
    snapshot: &Snapshot,
    rows: &RowSet,
    assignments: &[Assignment],
    progress: &Progress,
) -> Result<Intent, EditError> {
    let mut joined: Option<Intent> = None;
    for assignment in assignments {
        let intent = intend_assignment(snapshot, rows, assignment, progress)?;
        joined = Some(match joined {
            None => intent,
            Some(first) => first.join(intent),
        });
    }
    Ok(joined.unwrap_or_else(|| Intent::counting(0)))
}

/// The intent of one assignment: from a data column, as a step from the old value, or the same value for all rows.
fn intend_assignment(
    snapshot: &Snapshot,
    rows: &RowSet,
    Assignment { field, typed }: &Assignment,
    progress: &Progress,
) -> Result<Intent, EditError> {
    let field = *field;
    if let Some(character) = typed.chars().find(|character| !is_xml_char(*character)) {
        let why = format!("U+{:04X} cannot be written in XML; leave it out", character as u32);
        return Err(EditError::Refused(why));
    }
    let name = field.name();
    let intent = if let Some(source) = DataSource::of(snapshot, rows, field, typed).map_err(EditError::Refused)? {
        let target = FieldOfRows { rows, field, words: &format!("{name} set to {typed} on") };
        intend_each(snapshot, target, progress, &|row, _| source.compute(snapshot, row))
    } else if field == Field::Loc && live_rows_in(snapshot, rows).nth(1).is_some() {
        return Err(EditError::Refused(ONE_ROW.to_owned()));
    } else if is_step(field, typed) {
        let target = FieldOfRows { rows, field, words: &format!("{name} {typed} on") };
        intend_each(snapshot, target, progress, &|_, old| match old {
            None | Some("") => Err(format!("there is no {name} to count from")),
            old => resolve(snapshot, field, typed, old),
        })
    } else {
        let value = resolve(snapshot, field, typed, None).map_err(EditError::Refused)?;
        let words =
            value.as_ref().map_or_else(|| format!("{name} removed from"), |new| format!("{name} set to {new} on"));
        intend_one(snapshot, FieldOfRows { rows, field, words: &words }, &value, progress)
    };
    intent.ok_or(EditError::Cancelled)
}

/// The rows that are not deleted.
pub(in crate::session) fn live_rows_in(snapshot: &Snapshot, rows: &RowSet) -> impl Iterator<Item = RowId> {
    rows.iter().map(RowId).filter(|row| snapshot.document.is_live(*row))
}

/// The value of typed text for a row with the value `old`.
pub(in crate::session) fn resolve(snapshot: &Snapshot, field: Field, typed: &str, old: Option<&str>) -> Computed {
    let value = match field {
        // A required element is emptied, not removed: the row stays, with an error.
        Field::Loc if typed.trim().eq_ignore_ascii_case("none") => Some(String::new()),
        Field::Loc => Some(typed.trim().to_owned()),
        Field::Lastmod => lastmod::parse_input(typed, old, snapshot.clock).map_err(|error| error.to_string())?,
        Field::Changefreq => changefreq::parse_input(typed),
        Field::Priority => priority::parse_input(typed, old).map_err(|error| error.to_string())?,
    };
    Ok(value.map(Into::into))
}

/// A field of rows, and the label of a change of it: `priority raised on`.
#[derive(Debug, Clone, Copy)]
pub(in crate::session) struct FieldOfRows<'r> {
    pub(in crate::session) rows: &'r RowSet,
    pub(in crate::session) field: Field,
    pub(in crate::session) words: &'r str,
}

/// The intent of setting all rows to one value.
pub(in crate::session) fn intend_one(
    snapshot: &Snapshot,
    target: FieldOfRows<'_>,
    value: &Value,
    progress: &Progress,
) -> Option<Intent> {
    let FieldOfRows { rows, field, words } = target;
    let has_value = snapshot.document.has_value(field, value.as_deref());
    let shares = rows::par_chunks(rows, |share| {
        let mut live = 0;
        let is_changing = |row: &u32| {
            let is_live = snapshot.document.is_live(RowId(*row));
            live += u64::from(is_live);
            is_live && !has_value(RowId(*row))
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
        changing.iter().take(SAMPLES).map(|row| sample_of(snapshot, RowId(row), field, value.as_deref())).collect();
    let changes = changing.len();
    let values = || changing.iter().map(|row| (RowId(row), value.clone())).collect::<Vec<_>>();
    let urls =
        if field == Field::Loc { Box::new(url_effects::effects_on_rows(snapshot, &values())) } else { Box::default() };
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

/// The intent of setting each row to a computed value.
pub(in crate::session) fn intend_each(
    snapshot: &Snapshot,
    target: FieldOfRows<'_>,
    progress: &Progress,
    compute: &(dyn Fn(RowId, Option<&str>) -> Computed + Sync),
) -> Option<Intent> {
    let FieldOfRows { rows, field, words } = target;
    let live: Vec<u32> = rows.iter().filter(|row| snapshot.document.is_live(RowId(*row))).collect();
    let computed: Vec<(RowId, Computed)> = live
        .par_iter()
        .filter_map(|row| {
            let row = RowId(*row);
            if progress.is_cancelled() {
                return None;
            }
            let old = snapshot.document.value(row, field);
            let new = compute(row, old.as_deref());
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
        values.iter().take(SAMPLES).map(|(row, value)| sample_of(snapshot, *row, field, value.as_deref())).collect();
    let urls =
        if field == Field::Loc { Box::new(url_effects::effects_on_rows(snapshot, &values)) } else { Box::default() };
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

/// The intent of setting rows to given values.
pub(in crate::session) fn intend_values(
    snapshot: &Snapshot,
    rows: &RowSet,
    field: Field,
    values: &[(RowId, Value)],
    progress: &Progress,
) -> Option<Intent> {
    let selected = live_rows_in(snapshot, rows).count() as u64;
    let is_new = |(row, value): &&(RowId, Value)| {
        snapshot.document.is_live(*row) && snapshot.document.value(*row, field).as_deref() != value.as_deref()
    };
    let changing: Vec<(RowId, Value)> = values.par_iter().filter(is_new).cloned().collect();
    if progress.is_cancelled() {
        return None;
    }
    let changes = changing.len() as u64;
    let samples = changing.iter().take(SAMPLES);
    let samples = samples.map(|(row, value)| sample_of(snapshot, *row, field, value.as_deref())).collect();
    Some(Intent {
        label: Label::of(format!("{} set on ", field.name()), changes, "row", ""),
        rows: selected,
        already: selected.saturating_sub(changes),
        samples,
        edit: (changes > 0).then_some(Edit::SetEach { field, values: changing }),
        ..Intent::counting(changes)
    })
}

pub(in crate::session) fn sample_of(snapshot: &Snapshot, row: RowId, field: Field, after: Option<&str>) -> Sample {
    let before = snapshot.document.value(row, field).map(std::borrow::Cow::into_owned);
    Sample { row, part: PreviewPart::Field(field), before, after: after.map(ToOwned::to_owned) }
}

/// The refusal to set several rows to one URL.
pub(in crate::session) const ONE_ROW: &str =
    "loc can be set on one row at a time; `replace` (:s) rewrites the URLs of many rows";

/// The new value of a row, or why it cannot be computed.
pub(in crate::session) type Computed = Result<Value, String>;

/// Whether typed text is relative to the current value.
pub(in crate::session) fn is_step(field: Field, typed: &str) -> bool {
    matches!(field, Field::Lastmod | Field::Priority) && typed.trim_start().starts_with(['+', '-'])
}

/// The value one step above or below the old one.
pub(in crate::session) fn step(field: Field, old: Option<&str>, up: bool, snapshot: &Snapshot) -> Computed {
    match field {
        Field::Loc => Err("loc cannot be stepped".into()),
        Field::Priority => {
            let validation = old.filter(|old| !old.is_empty()).map(priority::validate);
            match validation {
                // Out of range: the nearest allowed value, not a step from the default.
                Some(validation) if validation.faults.contains(priority::Faults::RANGE) => {
                    let low = old.is_some_and(|old| old.trim_start().starts_with('-'));
                    Ok(Some(if low { "0.0" } else { "1.0" }.into()))
                }
                Some(validation) if validation.hundredths.is_none() => {
                    Err("the value is not a priority to count from".to_owned())
                }
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
            moved.map(|text| Some(Arc::from(text))).ok_or_else(|| "the value is not a date to count from".to_owned())
        }
        Field::Changefreq => match old.map(Changefreq::parse_any_case) {
            None => Ok(Some(Changefreq::Weekly.name().into())),
            Some(Some(current)) => {
                let next = if up { current.previous() } else { current.next() };
                Ok(Some(next.name().into()))
            }
            Some(None) => Err("the value is not a change frequency".into()),
        },
    }
}
