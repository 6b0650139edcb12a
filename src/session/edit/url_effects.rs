//! Side effects of changed URLs: new errors, new duplicates, and URLs that keep an origin which was replaced in others.

use crate::check::extension::{UrlGroup, urls};
use crate::check::message::messages_of_value;
use crate::check::rule::{Rule, RuleSet};
use crate::check::{Context, check_value};
use crate::document::edit::Value;
use crate::document::index::{ChildState, Nested};
use crate::document::rows::{RowId, RowSet};
use crate::document::sitemap::file_name;
use crate::progress::Progress;
use crate::protocol::{Field, Severity, location};
use crate::session::command::Replace;
use crate::session::state::Snapshot;
use crate::words::{counted, excerpt};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// The maximum length of a URL in a message.
const MAX_URL_LEN: usize = 200;

/// A count of URLs, and the first of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The count.
    pub count: u64,
    /// The first, for messages.
    pub first: Option<String>,
}

impl Found {
    fn add(&mut self, words: impl FnOnce() -> String) {
        self.count += 1;
        self.first.get_or_insert_with(words);
    }

    fn plus(&mut self, other: Self) {
        self.count += other.count;
        self.first = self.first.take().or(other.first);
    }

    /// `2 URLs with errors (the first: …)`; `None` if the count is 0.
    pub fn message(&self, noun: &str, more: &str) -> Option<String> {
        let shown = excerpt(self.first.as_deref().unwrap_or_default(), MAX_URL_LEN);
        let first = if self.count == 1 { shown } else { format!("the first: {shown}") };
        (self.count > 0).then(|| format!("{}{more} ({first})", counted(self.count, noun)))
    }
}

/// Rows in one unit of parallel work.
const CHUNK: usize = 1 << 12;

/// The number of URLs of each kind.
type Counts = [u64; URL_KINDS.len()];

/// The side effects of a change of URLs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UrlEffects {
    /// New URLs that `check` reports as errors.
    pub errors: Found,
    /// New URLs that another row has or gets too, although the old URLs differed.
    pub duplicates: Found,
    /// Entries of the index that would name missing files.
    unknown_files: Found,
    /// URLs in nested indexes, which are never written; the first such index.
    inner: Found,
    /// Origins that were replaced in URLs, each with the new origin of the first such URL.
    moved: BTreeMap<String, String>,
    /// Origins of URLs after the change, counted by kind of URL; without those that match and are not targets.
    origins: HashMap<String, Counts>,
}

impl UrlEffects {
    /// New errors and duplicates, which a command without a screen refuses unless forced; `None` if there are none.
    pub fn faults(&self) -> Option<String> {
        let found = [self.errors.message("URL", " with errors"), self.duplicates.message("duplicate URL", "")];
        let found: Vec<String> = found.into_iter().flatten().collect();
        (!found.is_empty()).then(|| found.join(", "))
    }

    /// Further messages.
    pub(in crate::session) fn notes(&self) -> Vec<String> {
        let unknown = &self.unknown_files;
        let noun = if unknown.count == 1 { " names a file" } else { " name files" };
        let unknown = unknown.message("index URL", &format!("{noun} not found beside the index"));
        let inner = self.inner.first.as_deref().map(|name| {
            let (are, them) = if self.inner.count == 1 { ("is", "it") } else { ("are", "them") };
            format!(
                "{} in a nested index {are} unchanged: {name} is not written with this set; run the command on that file \
                 to change {them}",
                counted(self.inner.count, "URL")
            )
        });
        [unknown, self.old_origins_message(), inner].into_iter().flatten().collect()
    }

    /// `3 image URLs still have https://old.example: …`.
    fn old_origins_message(&self) -> Option<String> {
        let mut sums: Counts = Counts::default();
        let mut first: Option<(&str, &str)> = None;
        let mut more = 0_u64;
        for (old, new) in &self.moved {
            let Some(counts) = self.origins.get(old) else { continue };
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            more += u64::from(first.is_some());
            first.get_or_insert((old, new));
        }
        let (old, new) = first?;
        let words = kinds(sums);
        let has = if sums.iter().sum::<u64>() == 1 { "has" } else { "have" };
        let others = if more > 0 { format!(" or {}", counted(more, "other old origin")) } else { String::new() };
        let them = if sums.iter().sum::<u64>() == 1 { "it" } else { "them" };
        Some(format!("{words} still {has} {old}{others}: replacing {old} by {new} with --in all changes {them}"))
    }

    /// Adds the effects on other rows.
    pub(in crate::session) fn plus(&mut self, other: Self) {
        self.errors.plus(other.errors);
        self.duplicates.plus(other.duplicates);
        self.unknown_files.plus(other.unknown_files);
        self.inner.plus(other.inner);
        for (old, new) in other.moved {
            self.moved.entry(old).or_insert(new);
        }
        for (origin, counts) in other.origins {
            add(&mut self.origins, &origin, &counts);
        }
    }

    /// Records the origins of a changed URL.
    fn note_origins(&mut self, old: &str, new: &str) {
        let (Some(old), Some(new)) = (origin(old), origin(new)) else { return };
        if old != new && !self.moved.contains_key(&old) {
            self.moved.insert(old, new);
        }
    }

    /// Whether the origin of any URL was replaced.
    pub(in crate::session) fn moves_any(&self) -> bool {
        !self.moved.is_empty()
    }

    /// Whether the origin of a URL was replaced in other URLs.
    fn has_moved(&self, url: &str) -> bool {
        !self.moved.is_empty() && origin(url).is_some_and(|origin| self.moved.contains_key(&origin))
    }
}

/// `3 alternate links, 1 page URL`.
pub(in crate::session) fn kinds(counts: Counts) -> String {
    let found = counts.into_iter().zip(URL_KINDS).filter(|(count, _)| *count > 0);
    found.map(|(count, noun)| counted(count, noun)).collect::<Vec<_>>().join(", ")
}

fn origin(url: &str) -> Option<String> {
    location::origin(url).map(|(origin, _)| origin.to_ascii_lowercase())
}

fn add(origins: &mut HashMap<String, Counts>, origin: &str, counts: &Counts) {
    let sums = match origins.get_mut(origin) {
        Some(sums) => sums,
        None => origins.entry(origin.to_owned()).or_default(),
    };
    sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
}

/// The errors of a URL by itself, independent of its file.
fn errors_of(url: &str, context: &Context<'_>) -> RuleSet {
    let is_error = |rule: &Rule| rule.severity_in(context.profile) == Some(Severity::Error);
    check_value(Field::Loc, url.trim(), context).iter().filter(is_error).collect()
}

/// Counts a new URL that has an error which the old one did not have.
fn count_new_errors(found: &mut Found, (old, new): (&str, &str), context: &Context<'_>) {
    // Rules that depend on other URLs can be checked only after all of them are changed.
    let context = Context { url_prefix: None, ..*context };
    let errors = errors_of(new, &context);
    if errors.is_empty() {
        return;
    }
    let errors = errors.minus(errors_of(old, &context));
    if !errors.is_empty() {
        found.add(|| {
            let messages = messages_of_value(Field::Loc, new.trim(), &context);
            let message = messages.into_iter().find(|message| errors.contains(message.rule));
            message.map_or_else(|| new.to_owned(), |found| format!("{new}: {} ({})", found.message, found.rule.code()))
        });
    }
}

/// The side effects of new URLs of rows.
pub(in crate::session) fn effects_on_rows(snapshot: &Snapshot, values: &[(RowId, Value)]) -> UrlEffects {
    let of_some = |values: &[(RowId, Value)]| {
        let mut effects = UrlEffects::default();
        for (row, value) in values {
            let old = snapshot.document.loc(*row);
            note_url(snapshot, &mut effects, *row, (&old, value.as_deref().unwrap_or_default()));
        }
        effects
    };
    let parts: Vec<UrlEffects> = values.par_chunks(CHUNK).map(of_some).collect();
    let duplicates = duplicates_among(snapshot, values);
    parts.into_iter().fold(UrlEffects { duplicates, ..UrlEffects::default() }, |mut all, part| {
        all.plus(part);
        all
    })
}

/// Records a changed URL of a row or of its extensions.
pub(in crate::session) fn note_url(
    snapshot: &Snapshot,
    effects: &mut UrlEffects,
    row: RowId,
    (old, new): (&str, &str),
) {
    count_new_errors(
        &mut effects.errors,
        (old, new),
        &snapshot.checks.context(&snapshot.document, row, snapshot.clock),
    );
    effects.note_origins(old, new);
}

/// Counts the new URLs that another row has or gets too.
fn duplicates_among(snapshot: &Snapshot, values: &[(RowId, Value)]) -> Found {
    let changing: RowSet = values.iter().map(|(row, _)| row.0).collect();
    let mut seen: HashMap<&str, RowId> = HashMap::with_capacity(values.len());
    let mut found = Found::default();
    for (row, value) in values {
        let Some(loc) = value.as_deref() else { continue };
        let first = *seen.entry(loc).or_insert(*row);
        // Rows that had the same URL before are not new duplicates.
        let is_joined = first != *row && snapshot.document.loc(first) != snapshot.document.loc(*row);
        if is_joined || snapshot.rows_with_loc(loc).into_iter().any(|other| !changing.contains(other.0)) {
            found.add(|| loc.to_owned());
        }
    }
    found
}

/// Counts the origins of all URLs of resident rows after a replacement, except URLs that match and are not targets.
pub(in crate::session) fn count_origins(
    snapshot: &Snapshot,
    effects: &mut UrlEffects,
    (rows, replace): (&RowSet, &Replace),
    progress: &Progress,
) -> Option<()> {
    let live: Vec<RowId> = snapshot.document.resident_rows().filter(|row| snapshot.document.is_live(*row)).collect();
    let targets = replace.targets().extensions();
    let of_row = |mut origins: HashMap<String, Counts>, row: &RowId| {
        let is_selected = rows.contains(row.0);
        let mut note = |url: &str, kind: usize, is_target: bool| {
            let new = replace.apply(url).filter(|new| is_selected && new != url);
            let last = match &new {
                None => url,
                Some(new) if is_target => new,
                // This URL is counted as matching elsewhere.
                Some(_) => return,
            };
            if let Some((origin, _)) = location::origin(last) {
                let mut counts = Counts::default();
                counts[kind] = 1;
                if origin.bytes().any(|byte| byte.is_ascii_uppercase()) {
                    add(&mut origins, &origin.to_ascii_lowercase(), &counts);
                } else {
                    add(&mut origins, origin, &counts);
                }
            }
        };
        note(&snapshot.document.loc(*row), PAGE, replace.targets().loc);
        if snapshot.document.record(*row).flags.has_extensions() {
            let (entry, text) = snapshot.document.entry(*row);
            for url in urls(&entry, &text, snapshot.document.names(*row)) {
                let kind = kind_of(url.group);
                note(&url.value, kind, targets.get(kind).copied().unwrap_or_default());
            }
        }
        origins
    };
    let origins = live
        .par_chunks(CHUNK)
        .map(|rows| (!progress.is_cancelled()).then(|| rows.iter().fold(HashMap::new(), of_row)))
        .try_reduce(HashMap::new, |mut all, some| {
            for (origin, counts) in &some {
                add(&mut all, origin, counts);
            }
            Some(all)
        })?;
    for (origin, counts) in &origins {
        add(&mut effects.origins, origin, counts);
    }
    Some(())
}

/// Records the effects of a replacement on the URLs of the index; `is_set` is whether the whole set is replaced.
pub(in crate::session) fn note_index(snapshot: &Snapshot, effects: &mut UrlEffects, replace: &Replace, is_set: bool) {
    let Some(index) = snapshot.document.index() else { return };
    let writes = is_set && replace.targets().index;
    let files = snapshot.document.sitemaps().iter().map(|sitemap| sitemap.name.as_ref());
    let known: HashSet<&str> =
        files.chain(index.unlisted.iter().map(AsRef::as_ref)).filter_map(|name| name.rsplit('/').next()).collect();
    let context = Context {
        now: snapshot.clock.seconds,
        profile: snapshot.checks.profile(),
        names: &index.source.names,
        url_prefix: None,
        policy: None,
        site: None,
    };
    for child in index.children.iter() {
        let new = replace.apply(&child.loc).filter(|new| **new != *child.loc);
        if let Some(new) = new.as_deref().filter(|_| writes) {
            count_new_errors(&mut effects.errors, (&child.loc, new), &context);
            effects.note_origins(&child.loc, new);
            if matches!(child.state, ChildState::Loaded(_)) && !known.contains(file_name(new).as_str()) {
                effects.unknown_files.add(|| new.to_owned());
            }
        }
        let last = new.as_deref().filter(|_| writes).unwrap_or(&child.loc);
        // A URL that matches and is not a target is counted as matching elsewhere.
        if let Some(origin) = origin(last).filter(|_| new.is_none() || writes || !is_set) {
            let mut counts = Counts::default();
            counts[INDEX] = 1;
            add(&mut effects.origins, &origin, &counts);
        }
    }
    let matches = |url: &str| replace.apply(url).is_some_and(|new| *new != *url);
    let is_affected = |effects: &UrlEffects, url: &str| matches(url) || effects.has_moved(url);
    for nested in index.children.iter().filter_map(nested) {
        note_nested(effects, nested, &is_affected);
    }
}

/// The URLs in nested indexes that stay outside when the index is rewritten below a URL.
pub(in crate::session) fn effects_of_rebase(snapshot: &Snapshot, url: &str) -> UrlEffects {
    let mut effects = UrlEffects::default();
    let folder = crate::files::folder_url(url);
    if let (Some(index), Some(folder)) = (snapshot.document.index(), folder) {
        for nested in index.children.iter().filter_map(nested) {
            note_nested(&mut effects, nested, &|_, url| !url.starts_with(&*folder));
        }
    }
    effects
}

fn nested(child: &crate::document::index::Child) -> Option<&Arc<Nested>> {
    match &child.state {
        ChildState::Nested(nested) => Some(nested),
        _ => None,
    }
}

/// Counts the affected URLs of a nested index, at any depth.
fn note_nested(effects: &mut UrlEffects, inner: &Nested, is_affected: &dyn Fn(&UrlEffects, &str) -> bool) {
    for child in &inner.children {
        if is_affected(effects, &child.loc) {
            effects.inner.add(|| inner.name.to_string());
        }
        if let Some(nested) = nested(child) {
            note_nested(effects, nested, is_affected);
        }
    }
}

/// Counts the duplicates that a change of URLs makes in a streamed set, like [`effects_on_rows`], but with hashes of
/// URLs.
#[derive(Debug, Default)]
pub(in crate::session) struct Duplicates {
    unchanged: HashSet<u64>,
    changed: HashMap<u64, Changed>,
    found: Found,
    /// The row of `found.first`.
    first: Option<RowId>,
}

/// The rows that got the same URL.
#[derive(Debug)]
struct Changed {
    /// The hash of the old URL of the first row.
    old: u64,
    /// Number of the rows that do not count as duplicates so far, and the first of them.
    single: u32,
    row: RowId,
}

impl Duplicates {
    /// Adds a row with its URL before and after the change.
    pub(in crate::session) fn add(&mut self, row: RowId, old: &str, new: &str) {
        let (old_hash, hash) = (xxh3_64(old.as_bytes()), xxh3_64(new.as_bytes()));
        if old == new {
            self.unchanged.insert(hash);
            if let Some(changed) = self.changed.get_mut(&hash)
                && changed.single > 0
            {
                let (count, row) = (std::mem::take(&mut changed.single), changed.row);
                self.count(u64::from(count), row, new);
            }
            return;
        }
        let is_taken = self.unchanged.contains(&hash);
        let mut is_joined = false;
        let known = self.changed.entry(hash).and_modify(|first| is_joined = first.old != old_hash);
        let changed = known.or_insert(Changed { old: old_hash, single: 0, row });
        if is_taken || is_joined {
            self.count(1, row, new);
        } else {
            if changed.single == 0 {
                changed.row = row;
            }
            changed.single += 1;
        }
    }

    fn count(&mut self, count: u64, row: RowId, url: &str) {
        self.found.count += count;
        if self.first.is_none_or(|first| row < first) {
            (self.first, self.found.first) = (Some(row), Some(url.to_owned()));
        }
    }

    /// The duplicates.
    pub(in crate::session) fn finish(self) -> Found {
        self.found
    }
}

/// The kinds of URLs of a set, in the order of [`Counts`].
pub(in crate::session) const URL_KINDS: [&str; 5] =
    ["alternate link", "image URL", "video URL", "index URL", "page URL"];

/// The position of index URLs in [`URL_KINDS`], after those of extensions.
pub(in crate::session) const INDEX: usize = 3;

/// The position of page URLs in [`URL_KINDS`].
pub(in crate::session) const PAGE: usize = 4;

/// The position of a group of extension URLs in [`URL_KINDS`].
pub(in crate::session) const fn kind_of(group: UrlGroup) -> usize {
    match group {
        UrlGroup::Alternates => 0,
        UrlGroup::Images => 1,
        UrlGroup::Videos => 2,
    }
}

#[cfg(test)]
mod tests {
    use crate::session::edit::url_effects::{Duplicates, RowId};

    #[test]
    fn rows_that_become_one_url_are_counted_in_any_order() {
        let rows = |rows: &[(u32, &str, &str)]| {
            let mut duplicates = Duplicates::default();
            for (row, old, new) in rows {
                duplicates.add(RowId(*row), old, new);
            }
            let found = duplicates.finish();
            (found.count, found.first.unwrap_or_default())
        };
        assert_eq!(rows(&[(0, "a", "a"), (1, "b", "a")]), (1, "a".to_owned()));
        assert_eq!(rows(&[(0, "b", "a"), (1, "a", "a")]), (1, "a".to_owned()));
        assert_eq!(rows(&[(0, "b", "a"), (1, "c", "a")]), (1, "a".to_owned()));
        assert_eq!(rows(&[(0, "b", "a"), (1, "c", "a"), (2, "a", "a")]), (2, "a".to_owned()));
        // They had the same URL before.
        assert_eq!(rows(&[(0, "b", "a"), (1, "b", "a")]).0, 0);
        assert_eq!(rows(&[(0, "b", "a"), (1, "b", "a"), (2, "a", "a"), (3, "a", "a")]).0, 2);
        // The reported URL is that of the row with the lowest number, in whatever order rows are added.
        assert_eq!(rows(&[(0, "b", "x"), (1, "c", "y"), (2, "y", "y"), (3, "x", "x")]), (2, "x".to_owned()));
    }
}
