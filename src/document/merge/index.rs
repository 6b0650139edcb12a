//! Three-way merge of an index: entry by entry, each identified by its file or URL.
//!
//! Invariant: the result is their index with our changes applied, which is what a save has to write. In an entry that
//! both sides changed, fields that we changed are ours and all others theirs. An entry that only one side changed is
//! taken from that side. An entry that they removed stays removed, since the user decides about its file separately.
//! Indexes with different namespace declarations or in several files are not merged.

use super::super::index::{ChildState, Index};
use super::super::sitemap::SitemapId;
use super::super::source::Source;
use crate::protocol::Field;
use crate::xml::entry::Entry;
use crate::xml::splice::{Change, Changes, splice};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// An index merged from both sides.
#[derive(Debug, Clone)]
pub(super) struct MergedIndex {
    /// The merged bytes, to be used with [`Index::edited`].
    pub(super) source: Arc<Source>,
    /// Number of entries in which both changed a field to different values; the result has ours.
    pub(super) clashes: usize,
}

/// The three versions of an index.
#[derive(Clone, Copy)]
pub(super) struct Versions<'i> {
    pub(super) base: &'i Index,
    pub(super) ours: &'i Index,
    /// With the file ids of `ours`.
    pub(super) theirs: &'i Index,
}

impl Versions<'_> {
    /// Whether a merge is needed: both sides have changed the index, to different results.
    pub(super) fn is_conflict(&self) -> bool {
        let bytes = [self.base, self.ours, self.theirs].map(|index| index.source.bytes());
        bytes[0] != bytes[1] && bytes[0] != bytes[2] && bytes[1] != bytes[2]
    }

    /// The merged index. `None` if the versions declare different namespaces, so that an entry could change its
    /// meaning, or if a version has several files.
    pub(super) fn merged(&self) -> Option<MergedIndex> {
        let Self { base, ours, theirs } = *self;
        let is_one = [base, ours, theirs].iter().all(|index| index.more.is_empty());
        let is_compatible = |index: &Index| theirs.source.names.is_compatible_with(&index.source.names);
        if !is_one || !is_compatible(ours) || !is_compatible(base) {
            return None;
        }
        let (our_entries, their_entries) = (match_entries(base, ours), match_entries(base, theirs));
        let base_of_theirs: HashMap<usize, usize> =
            their_entries.iter().map(|(base, theirs)| (*theirs, *base)).collect();
        let known_entries: HashSet<usize> = our_entries.values().copied().collect();
        let own_locs: HashSet<&str> = ours.children.iter().map(|child| &*child.loc).collect();
        let mut added = Added::new(self, &known_entries, &base_of_theirs);
        let (mut entries, mut count, mut clashes) = (Vec::new(), 0, 0);
        let mut put = |text: &[u8]| {
            entries.extend_from_slice(text);
            count += 1;
        };
        added.take_after(None).iter().for_each(|entry| put(ours.source.entry_text(*entry)));
        for entry in 0..theirs.source.len() {
            let text = theirs.source.entry_text(entry);
            let Some(base_entry) = base_of_theirs.get(&entry) else {
                put(text);
                continue;
            };
            match our_entries.get(base_entry) {
                Some(our_entry) => {
                    let (text, clash) = self.merge_entry(*base_entry, *our_entry, entry);
                    clashes += usize::from(clash);
                    put(&text);
                }
                None if self.stays_removed(*base_entry, entry, &own_locs) => {}
                None => put(text),
            }
            added.take_after(Some(*base_entry)).iter().for_each(|entry| put(ours.source.entry_text(*entry)));
        }
        added.into_remaining().iter().for_each(|entry| put(ours.source.entry_text(*entry)));
        let changed_or_theirs = |part: fn(&Source, bool) -> Cow<'_, [u8]>| {
            let [base_part, our_part, their_part] = [base, ours, theirs].map(|index| part(&index.source, true));
            if base_part == our_part { their_part } else { our_part }.into_owned()
        };
        let head = if count > 0 { changed_or_theirs(Source::head) } else { theirs.source.head(false).into_owned() };
        let tail = if count > 0 { changed_or_theirs(Source::tail) } else { theirs.source.tail(false).into_owned() };
        let source = Source::of_text([head, entries, tail].concat()).filter(|source| source.len() == count)?;
        Some(MergedIndex { source: Arc::new(source), clashes })
    }

    /// Whether an entry that we removed stays removed: it names no file, duplicates one of our entries, or they did not
    /// change it. `own_locs` are the URLs that our index lists.
    fn stays_removed(&self, base_entry: usize, entry: usize, own_locs: &HashSet<&str>) -> bool {
        let child = self.theirs.children.get(entry);
        let names_a_file =
            child.is_some_and(|child| matches!(child.state, ChildState::Loaded(_) | ChildState::Nested(_)));
        let is_duplicate = child.is_some_and(|child| own_locs.contains(&*child.loc));
        !names_a_file || is_duplicate || element(&self.theirs.source, entry) == element(&self.base.source, base_entry)
    }

    /// Merges an entry of all three versions; also returns whether both changed a field to different values.
    fn merge_entry(&self, base_entry: usize, our_entry: usize, entry: usize) -> (Vec<u8>, bool) {
        let (base, ours, theirs) = (&self.base.source, &self.ours.source, &self.theirs.source);
        let text = theirs.entry_text(entry);
        if element(ours, our_entry) == element(base, base_entry) || element(ours, our_entry) == element(theirs, entry) {
            return (text.to_vec(), false);
        }
        if element(theirs, entry) == element(base, base_entry) {
            return (with_lead(theirs, entry, element(ours, our_entry)), false);
        }
        let values = [values(base, base_entry), values(ours, our_entry), values(theirs, entry)];
        let changed = |field: &Field| values[0][field.index()] != values[1][field.index()];
        let clash = Field::ALL.into_iter().filter(changed).any(|field| {
            let [base_value, our_value, their_value] = values.each_ref().map(|values| &values[field.index()]);
            their_value != base_value && their_value != our_value
        });
        let mut changes: Changes<'_> = [None; 4];
        for field in Field::ALL.into_iter().filter(changed) {
            let value = values[1][field.index()].as_deref();
            changes[field.index()] = Some(value.map_or(Change::Remove, Change::Set));
        }
        let apply_changes = |source: &Source, entry: usize| {
            let (mut out, text) = (Vec::new(), source.entry_text(entry));
            splice(&Entry::of(text, &source.names), text, &source.names, &changes, &mut out);
            out
        };
        // We changed more than fields: take our whole entry.
        let changes_only_fields = apply_changes(base, base_entry).ends_with(element(ours, our_entry));
        if changes_only_fields {
            (apply_changes(theirs, entry), clash)
        } else {
            (with_lead(theirs, entry, element(ours, our_entry)), true)
        }
    }
}

/// Entries that only our side has, by the base entry that each follows in our version.
struct Added(HashMap<Option<usize>, Vec<usize>>);

impl Added {
    fn new(versions: &Versions<'_>, known_entries: &HashSet<usize>, base_of_theirs: &HashMap<usize, usize>) -> Self {
        let Versions { base, ours, theirs } = *versions;
        let base_of_ours: HashMap<usize, usize> =
            match_entries(base, ours).into_iter().map(|(base, ours)| (ours, base)).collect();
        let their_new_locs = (0..theirs.children.len()).filter(|entry| !base_of_theirs.contains_key(entry));
        let their_new_locs: HashSet<&str> =
            their_new_locs.filter_map(|entry| theirs.children.get(entry)).map(|child| &*child.loc).collect();
        let (mut added, mut last): (HashMap<Option<usize>, Vec<usize>>, _) = (HashMap::new(), None);
        for (entry, child) in ours.children.iter().enumerate() {
            if known_entries.contains(&entry) {
                last = base_of_ours.get(&entry).copied();
            } else if !their_new_locs.contains(&*child.loc) {
                added.entry(last).or_default().push(entry);
            }
        }
        Self(added)
    }

    fn take_after(&mut self, entry: Option<usize>) -> Vec<usize> {
        self.0.remove(&entry).unwrap_or_default()
    }

    /// The entries that were not taken, because they removed the entry before them.
    fn into_remaining(self) -> Vec<usize> {
        let mut remaining: Vec<usize> = self.0.into_values().flatten().collect();
        remaining.sort_unstable();
        remaining
    }
}

/// Maps entries of `base` to entries of `other`: by URL, then by the file that they name. The remaining entries are
/// matched by order if both sides have equally many of them and equally many entries in all.
fn match_entries(base: &Index, other: &Index) -> HashMap<usize, usize> {
    let mut positions: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (position, child) in other.children.iter().enumerate() {
        positions.entry(&child.loc).or_default().push_back(position);
    }
    let (mut pairs, mut unmatched) = (HashMap::new(), Vec::new());
    for (entry, child) in base.children.iter().enumerate() {
        match positions.get_mut(&*child.loc).and_then(VecDeque::pop_front) {
            Some(position) => drop(pairs.insert(entry, position)),
            None => unmatched.push(entry),
        }
    }
    let mut remaining: Vec<usize> = positions.into_values().flatten().collect();
    remaining.sort_unstable();
    let file = |index: &Index, entry: usize| -> Option<SitemapId> {
        match index.children.get(entry)?.state {
            ChildState::Loaded(id) => Some(id),
            _ => None,
        }
    };
    let mut by_file: HashMap<SitemapId, usize> =
        remaining.iter().filter_map(|position| Some((file(other, *position)?, *position))).collect();
    let mut taken = HashSet::new();
    for entry in &unmatched {
        if let Some(position) = file(base, *entry).and_then(|id| by_file.remove(&id)) {
            pairs.insert(*entry, position);
            taken.insert(position);
        }
    }
    remaining.retain(|position| !taken.contains(position));
    unmatched.retain(|entry| !pairs.contains_key(entry));
    if unmatched.len() == remaining.len() && base.children.len() == other.children.len() {
        pairs.extend(unmatched.into_iter().zip(remaining));
    }
    pairs
}

/// An entry without the trivia before it.
fn element(source: &Source, entry: usize) -> &[u8] {
    let text = source.entry_text(entry);
    text.get(Entry::of(text, &source.names).open as usize..).unwrap_or_default()
}

/// An element with the trivia that precedes an entry of `source`.
fn with_lead(source: &Source, entry: usize, element: &[u8]) -> Vec<u8> {
    let text = source.entry_text(entry);
    [text.get(..Entry::of(text, &source.names).open as usize).unwrap_or_default(), element].concat()
}

fn values(source: &Source, entry: usize) -> [Option<String>; 4] {
    let text = source.entry_text(entry);
    let entry = Entry::of(text, &source.names);
    Field::ALL.map(|field| entry.value(field, text).map(Cow::into_owned))
}

#[cfg(test)]
mod tests {
    use super::super::super::index::Child;
    use super::*;

    /// An index with entries given as `loc lastmod`. A loc that ends in `!` names no file.
    fn index(entries: &[&str]) -> Index {
        let entry = |line: &&str| {
            let (loc, date) = line.split_once(' ').unwrap_or((line, ""));
            format!("\n<sitemap><loc>https://e.com/{loc}</loc><lastmod>{date}</lastmod></sitemap>")
        };
        let text = entries.iter().map(entry).collect::<Vec<_>>().concat();
        let space = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";
        let text = format!("<sitemapindex {space}>{text}\n</sitemapindex>\n");
        let source = Arc::new(Source::of_text(text.into_bytes()).unwrap());
        let child = |entry: usize| {
            let loc: Arc<str> = values(&source, entry)[0].clone().unwrap().into();
            let file = loc.bytes().nth(14).map(|letter| SitemapId(u32::from(letter)));
            let state = file.filter(|_| !loc.ends_with('!')).map_or(ChildState::Missing, ChildState::Loaded);
            Child { loc, state }
        };
        let children = (0..source.len()).map(child).collect();
        Index { source, children: Arc::new(children), ..Index::default() }
    }

    /// Base, ours, theirs and the expected result, with the number of clashes.
    type Row<'e> = ([&'e [&'e str]; 4], usize);

    #[test]
    fn entries_are_merged_one_by_one() {
        #[rustfmt::skip]
        let table: [Row<'_>; 8] = [
            // Each side changed a different entry.
            ([&["a 1", "b 1"], &["a 2", "b 1"], &["a 1", "b 3"], &["a 2", "b 3"]], 0),
            // Both changed the same entry: ours is taken, and a clash reported.
            ([&["a 1", "b 1"], &["a 2", "b 1"], &["a 3", "b 1"], &["a 2", "b 1"]], 1),
            // They changed the URL of an entry that we dated: entries that name the same file are matched.
            ([&["a-x 1", "b 1"], &["a-x 2", "b 1"], &["a-y 1", "b 1"], &["a-y 2", "b 1"]], 0),
            // A new entry follows its neighbour on both sides.
            ([&["a 1", "b 1"], &["a 1", "c 1", "b 1"], &["a 1", "b 1", "d 1"], &["a 1", "c 1", "b 1", "d 1"]], 0),
            // Both added the same file: it is listed once, as in their version.
            ([&["a 1"], &["a 1", "c 1"], &["a 2", "c 2"], &["a 2", "c 2"]], 0),
            // An entry that we removed stays removed if it names no file, or they did not change it.
            ([&["a 1", "b! 1", "c 1"], &["a 1"], &["a 2", "b! 2", "c 1"], &["a 2"]], 0),
            // They changed the date of an entry that we removed: it is kept.
            ([&["a 1", "c 1"], &["a 1"], &["a 2", "c 2"], &["a 2", "c 2"]], 0),
            // They removed an entry.
            ([&["a 1", "b 1"], &["a 1", "b 2"], &["a 2"], &["a 2"]], 0),
        ];
        for ([base, ours, theirs, expected], clashes) in table {
            let [base, ours, theirs] = [base, ours, theirs].map(index);
            let versions = Versions { base: &base, ours: &ours, theirs: &theirs };
            assert!(versions.is_conflict());
            let merged = versions.merged().unwrap();
            let text = String::from_utf8_lossy(merged.source.bytes()).into_owned();
            assert_eq!(text, String::from_utf8_lossy(index(expected).source.bytes()), "{expected:?}");
            assert_eq!(merged.clashes, clashes, "{expected:?}");
        }
        let mut other = index(&["a 3"]);
        let text = String::from_utf8_lossy(other.source.bytes()).replace("xmlns=", "xmlns:x='urn:x' xmlns=");
        other.source = Arc::new(Source::of_text(text.into_bytes()).unwrap());
        let (base, ours) = (index(&["a 1"]), index(&["a 2"]));
        assert!(Versions { base: &base, ours: &ours, theirs: &other }.merged().is_none());
    }
}
