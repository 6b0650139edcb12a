//! Rewrites URLs of rows, of their extensions and of index entries with a regular expression.

use crate::check::extension::{ExtensionUrl, urls, with_urls};
use crate::document::edit::Edit;
use crate::document::rows::{RowId, RowSet};
use crate::progress::Progress;
use crate::protocol::Field;
use crate::session::command::Replace;
use crate::session::edit::change::Reach;
use crate::session::edit::index_urls;
use crate::session::edit::intent::{Intent, Label, PreviewPart, SAMPLES, Sample};
use crate::session::edit::url_effects::{self, INDEX, PAGE, URL_KINDS, UrlEffects, kind_of};
use crate::session::edit::values::{self, FieldOfRows};
use crate::session::state::Snapshot;
use rayon::prelude::*;

/// The effect of a replacement on the extensions of one row.
struct Rewritten {
    row: RowId,
    /// The new text of the entry, if it changes.
    text: Option<String>,
    /// The number of rewritten URLs in each group.
    done: [u64; 3],
    /// The number of matching URLs that are not targets.
    elsewhere: [u64; 3],
    sample: Option<Sample>,
    effects: UrlEffects,
}

/// The intent of a replacement. The index is included if the whole set is. `None` when cancelled.
pub(in crate::session) fn intend(
    snapshot: &Snapshot,
    rows: &RowSet,
    replace: &Replace,
    reach: Reach,
    progress: &Progress,
) -> Option<Intent> {
    let mut intent = if replace.targets().loc {
        let target = FieldOfRows { rows, field: Field::Loc, words: "URLs rewritten in" };
        values::intend_each(snapshot, target, progress, &|_, old| {
            let new = old.and_then(|old| replace.apply(old));
            Ok(Some(new.unwrap_or_else(|| old.unwrap_or_default().to_owned()).into()))
        })?
    } else {
        let live: Vec<RowId> = rows.iter().map(RowId).filter(|row| snapshot.document.is_live(*row)).collect();
        let matches = |row: &&RowId| {
            let loc = snapshot.document.loc(**row);
            replace.apply(&loc).is_some_and(|new| new != *loc)
        };
        let mut intent = Intent { rows: live.len() as u64, ..Intent::counting(0) };
        intent.elsewhere[PAGE] = live.par_iter().filter(matches).count() as u64;
        intent
    };
    let rewritten = rewritten_rows(snapshot, rows, replace, progress)?;
    let mut changing: RowSet = match &intent.edit {
        Some(Edit::SetEach { values, .. }) => values.iter().map(|(row, _)| row.0).collect(),
        _ => RowSet::new(),
    };
    let mut done = [0; 3];
    let mut edits = Vec::new();
    for one in rewritten {
        for group in 0..INDEX {
            if let (Some(sum), Some(count)) = (done.get_mut(group), one.done.get(group)) {
                *sum += count;
            }
            if let (Some(sum), Some(count)) = (intent.elsewhere.get_mut(group), one.elsewhere.get(group)) {
                *sum += count;
            }
        }
        intent.urls.plus(one.effects);
        if let Some(text) = one.text {
            changing.insert(one.row.0);
            edits.push(Edit::Raw { row: one.row, text: text.into() });
        }
        if intent.samples.len() < SAMPLES {
            intent.samples.extend(one.sample);
        }
    }
    intent.samples.sort_by_key(|sample| sample.row);
    for ((count, noun), is_target) in done.into_iter().zip(URL_KINDS).zip(replace.targets().extensions()) {
        if is_target {
            intent.label = intent.label.and_any(count, noun, " rewritten");
        }
    }
    // A row's text is replaced before its loc, which is written into the new text.
    edits.extend(intent.edit.take());
    intent.edit = (!edits.is_empty()).then_some(Edit::Several(edits));
    intent.changes = changing.len();
    intent.already = intent.rows.saturating_sub(intent.changes + intent.refused);
    if matches!(reach, Reach::Set | Reach::Chosen) {
        url_effects::note_index(snapshot, &mut intent.urls, replace, reach == Reach::Set);
    }
    // For one file of a streamed set, the origins that are replaced in other files are not known yet.
    if reach == Reach::File || (reach != Reach::Rows && intent.urls.moves_any()) {
        url_effects::count_origins(snapshot, &mut intent.urls, (rows, replace), progress)?;
    }
    if reach == Reach::Set {
        intent = replace_in_index(snapshot, intent, replace);
    }
    Some(intent)
}

/// Adds the replaced URLs of the index to an intent.
pub(in crate::session) fn replace_in_index(snapshot: &Snapshot, mut intent: Intent, replace: &Replace) -> Intent {
    let (edit, count) = index_urls::with_urls(snapshot, &|_, loc| replace.apply(loc).filter(|new| new != loc));
    if !replace.targets().index {
        if let Some(sum) = intent.elsewhere.get_mut(INDEX) {
            *sum += count;
        }
        return intent;
    }
    let edits: Vec<Edit> = [intent.edit.take(), edit].into_iter().flatten().collect();
    intent.edit = (!edits.is_empty()).then_some(Edit::Several(edits));
    intent.label = intent.label.and_any(count, URL_KINDS[INDEX], " rewritten");
    intent
}

/// The intent of writing the entries of the index below a URL.
pub(in crate::session) fn intend_rebase(snapshot: &Snapshot, url: &str) -> Intent {
    let (edit, count) = index_urls::below_url(snapshot, url);
    let label = Label::of("", count, URL_KINDS[INDEX], format!(" written below {url}"));
    let idle = "no index entry needs another URL";
    let urls = Box::new(url_effects::effects_of_rebase(snapshot, url));
    Intent { edit, label, urls, idle, ..Intent::counting(count) }
}

/// The rows whose extensions have matching URLs. `None` when cancelled.
fn rewritten_rows(
    snapshot: &Snapshot,
    rows: &RowSet,
    replace: &Replace,
    progress: &Progress,
) -> Option<Vec<Rewritten>> {
    let is_extended =
        |row: &RowId| snapshot.document.is_live(*row) && snapshot.document.record(*row).flags.has_extensions();
    let rows: Vec<RowId> = rows.iter().map(RowId).filter(is_extended).collect();
    let rewritten: Vec<Option<Rewritten>> = rows
        .par_iter()
        .map(|row| (!progress.is_cancelled()).then(|| rewritten_row(snapshot, *row, replace)))
        .collect::<Option<_>>()?;
    Some(rewritten.into_iter().flatten().collect())
}

fn rewritten_row(snapshot: &Snapshot, row: RowId, replace: &Replace) -> Option<Rewritten> {
    let (entry, text) = snapshot.document.entry(row);
    let found = urls(&entry, &text, snapshot.document.names(row));
    let targets = replace.targets().extensions();
    let (mut done, mut elsewhere, mut values) = ([0; 3], [0; 3], Vec::new());
    let mut effects = UrlEffects::default();
    for url in &found {
        let Some(new) = replace.apply(&url.value).filter(|new| *new != url.value) else { continue };
        let group = kind_of(url.group);
        let is_target = targets.get(group).copied().unwrap_or_default();
        if let Some(count) = if is_target { done.get_mut(group) } else { elsewhere.get_mut(group) } {
            *count += 1;
        }
        if is_target {
            url_effects::note_url(snapshot, &mut effects, row, (&url.value, &new));
            values.push((url, new));
        }
    }
    if values.is_empty() && elsewhere == [0; 3] {
        return None;
    }
    let sample = values.first().map(|(url, new): &(&ExtensionUrl, String)| Sample {
        row,
        part: PreviewPart::Extension(url.part.clone()),
        before: Some(url.value.clone()),
        after: Some(new.clone()),
    });
    let text =
        if values.is_empty() { None } else { with_urls(&text, values.iter().map(|(url, new)| (*url, new.as_str()))) };
    Some(Rewritten { row, text, done, elsewhere, sample, effects })
}
