//! Applies changes to an index: dates of changed files, added and removed entries. All other bytes stay the same.

use crate::document::index::{Child, ChildState, Index};
use crate::document::sitemap::SitemapId;
use crate::document::source::Source;
use crate::progress::Progress;
use crate::protocol::Field;
use crate::protocol::lastmod::{self, Now, Precision};
use crate::xml::entry::Entry;
use crate::xml::names::{FileKind, Names};
use crate::xml::scan::{self, Ignore};
use crate::xml::splice::{self, Change, Layout};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The changes that a save makes to an index.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Files whose bytes change. Their entries get a new date if they have a date.
    pub(super) dated: BTreeSet<SitemapId>,
    /// Entries of removed files, by number.
    pub(super) dropped: BTreeSet<usize>,
    /// Files to add, with their URLs.
    pub(super) added: Vec<(SitemapId, Arc<str>)>,
    /// The entries on disk, if a later save has made them differ from the document's index.
    pub(super) on_disk: Option<SavedIndex>,
}

/// The index as saved, with the files of its entries.
#[derive(Debug)]
pub(super) struct SavedIndex {
    pub(super) source: Arc<Source>,
    pub(super) entries: HashMap<SitemapId, usize>,
}

impl SavedIndex {
    fn entry_text(&self, id: SitemapId) -> Option<&[u8]> {
        self.entries.get(&id).map(|number| self.source.entry_text(*number))
    }
}

impl Changes {
    /// Returns the index with the changes applied; its source is shared if no byte changes.
    pub(super) fn apply(&self, index: &Index, now: Now) -> Index {
        let source = &index.source;
        let (mut entries, mut children) = (Vec::with_capacity(source.bytes().len()), Vec::new());
        let mut layout = None;
        let mut last_date = None;
        let mut firsts = Vec::with_capacity(index.more.len());
        for (number, child) in index.children.iter().enumerate() {
            // Volumes begin at other entries if earlier ones are removed.
            firsts.resize(index.file_of(number), children.len());
            let loaded = loaded(child);
            // An unchanged file keeps the date that it has on disk, unless the user has edited the entry.
            let is_own = index.edited.contains(&number);
            let text = loaded.filter(|_| !is_own).and_then(|id| self.on_disk.as_ref()?.entry_text(id));
            let text = text.unwrap_or_else(|| source.entry_text(number));
            let entry = Entry::of(text, &source.names);
            let date = entry.value(Field::Lastmod, text).filter(|date| !date.is_empty());
            layout = Layout::of(&entry, text).or(layout);
            last_date = date.map(Cow::into_owned).or(last_date);
            if !self.dropped.contains(&number) {
                self.push(text, loaded, (&source.names, now), &mut entries);
                children.push(child.clone());
            }
        }
        let layout = layout.unwrap_or_default();
        let date = last_date.map(|date| stamp(&date, now));
        for (id, url) in &self.added {
            if let Some(text) = self.on_disk.as_ref().and_then(|on_disk| on_disk.entry_text(*id)) {
                self.push(text, Some(*id), (&source.names, now), &mut entries);
            } else {
                let text = layout.render(&source.names, &[Some(url), date.as_deref(), None, None]);
                entries.extend_from_slice(text.as_bytes());
            }
            children.push(Child { loc: Arc::clone(url), state: ChildState::Loaded(*id) });
        }
        let any = !children.is_empty();
        let bytes: Vec<u8> = [&source.head(any), &entries[..], &source.tail(any)].concat();
        let on_disk = self.on_disk.as_ref().map(|on_disk| &on_disk.source);
        let same = [Some(source), on_disk].into_iter().flatten().find(|source| source.bytes() == bytes);
        let source = same.map_or_else(|| scanned(bytes), Arc::clone);
        let mut after = Index { source, ..index.clone() };
        firsts.resize(index.more.len(), children.len());
        let mut firsts = firsts.into_iter();
        after.change_volumes(|volume| volume.first = firsts.next().unwrap_or(volume.first));
        after.children = children.into();
        after
    }

    /// Copies an entry, with a new date if its file changes and it has one.
    fn push(&self, text: &[u8], id: Option<SitemapId>, (names, now): (&Names, Now), out: &mut Vec<u8>) {
        let entry = Entry::of(text, names);
        let date = entry.value(Field::Lastmod, text).filter(|date| !date.is_empty());
        match date.filter(|_| id.is_some_and(|id| self.dated.contains(&id))) {
            Some(date) => {
                let stamp = stamp(&date, now);
                let mut changes = [None; 4];
                changes[Field::Lastmod.index()] = Some(Change::Set(&stamp));
                splice::splice(&entry, text, names, &changes, out);
            }
            None => out.extend_from_slice(text),
        }
    }
}

/// The file that an entry lists, if it is loaded.
pub(super) const fn loaded(child: &Child) -> Option<SitemapId> {
    match child.state {
        ChildState::Loaded(id) => Some(id),
        _ => None,
    }
}

/// Creates an index of files with their URLs, each dated today.
pub(super) fn new_index(children: &[(SitemapId, Arc<str>)], now: Now) -> (Arc<Source>, Vec<Child>) {
    let blank = Source::blank(FileKind::Index);
    let today = now.today();
    let texts: Vec<String> = children
        .iter()
        .map(|(_, url)| Layout::default().render(&blank.names, &[Some(url), Some(&today), None, None]))
        .collect();
    let bytes = [&blank.head(true), texts.concat().as_bytes(), &blank.tail(true)].concat();
    let children =
        children.iter().map(|(id, url)| Child { loc: Arc::clone(url), state: ChildState::Loaded(*id) }).collect();
    (scanned(bytes), children)
}

fn scanned(bytes: Vec<u8>) -> Arc<Source> {
    let scan = scan::scan(&bytes, &mut Ignore, &Progress::default());
    Arc::new(Source::new(bytes, scan).unwrap_or_else(|| Source::blank(FileKind::Index)))
}

/// The current time in the form of an existing date: a date without a time stays one, a time keeps its zone and
/// precision.
pub(super) fn stamp(existing: &str, now: Now) -> String {
    let precision = lastmod::validate(existing).instant.map(|instant| instant.precision);
    let (minutes_only, zone) = match precision {
        Some(Precision::Minute) => (true, zone_of(existing)),
        Some(Precision::Second | Precision::Fraction) => (false, zone_of(existing)),
        _ => return now.today(),
    };
    let (offset, spelled) = zone.unwrap_or((now.offset, None));
    let mut text = Now { offset, ..now }.timestamp();
    if let (Some(spelled), Some(kept)) = (spelled, text.strip_suffix('Z')) {
        text = format!("{kept}{spelled}");
    }
    // `YYYY-MM-DDThh:mm` has 16 characters; `:ss` follows.
    if minutes_only && text.get(16..19).is_some() {
        text.replace_range(16..19, "");
    }
    text
}

/// The zone offset at the end of a time in seconds, and its text unless that is `Z`.
fn zone_of(text: &str) -> Option<(i32, Option<&str>)> {
    if text.ends_with(['Z', 'z']) {
        return Some((0, None));
    }
    let zone = text.get(text.len().checked_sub(6)?..)?;
    let [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] = *zone.as_bytes() else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(10).map(|digit| digit as i32);
    let seconds = (digit(h1)? * 10 + digit(h2)?) * 3_600 + (digit(m1)? * 10 + digit(m2)?) * 60;
    Some((if sign == b'-' { -seconds } else { seconds }, Some(zone)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-20T10:20:30Z, seen from one hour east.
    const NOW: Now = Now { seconds: 1_795_170_030, offset: 3_600 };

    #[test]
    fn a_date_keeps_its_form() {
        let table = [
            ("2024-01-01", "2026-11-20"),
            ("2024-01-01T00:00:00Z", "2026-11-20T10:20:30Z"),
            ("2024-01-01T00:00:00+00:00", "2026-11-20T10:20:30+00:00"),
            ("2024-01-01T00:00:00-05:30", "2026-11-20T04:50:30-05:30"),
            ("2024-01-01T00:00+02:00", "2026-11-20T12:20+02:00"),
            ("2024-01-01T00:00:00.123Z", "2026-11-20T10:20:30Z"),
            ("2024-01-01T00:00:00", "2026-11-20T11:20:30+01:00"),
            ("2024-01", "2026-11-20"),
            ("nonsense", "2026-11-20"),
        ];
        for (existing, expected) in table {
            assert_eq!(stamp(existing, NOW), expected, "{existing}");
        }
    }

    fn index(text: &str) -> Index {
        let source = scanned(text.as_bytes().to_vec());
        let loc = |entry| {
            let text = source.entry_text(entry);
            Entry::of(text, &source.names).value(Field::Loc, text).unwrap().into_owned()
        };
        let children = (0..source.len())
            .map(|entry| Child { loc: loc(entry).into(), state: ChildState::Loaded(SitemapId(entry as u32)) })
            .collect();
        Index { name: "index.xml".into(), source, children: Arc::new(children), ..Index::default() }
    }

    const INDEX: &str = "<?xml version='1.0'?>\r\n<!-- a -->\r\n<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\r\n\t<sitemap>\r\n\t\t<loc>http://e/1.xml</loc>\r\n\t\t<lastmod>2024-01-01</lastmod>\r\n\t</sitemap>\r\n\t<!-- b -->\r\n\t<sitemap><loc>http://e/2.xml</loc></sitemap>\r\n</sitemapindex>\r\n<!-- c -->";

    fn text(index: &Index) -> &str {
        std::str::from_utf8(index.source.bytes()).unwrap()
    }

    #[test]
    fn an_index_keeps_all_other_bytes() {
        let before = index(INDEX);
        let none = Changes::default().apply(&before, NOW);
        assert!(Arc::ptr_eq(&none.source, &before.source));
        // An entry without a date does not get one.
        let dated = Changes { dated: [SitemapId(0), SitemapId(1)].into(), ..Changes::default() }.apply(&before, NOW);
        assert_eq!(text(&dated), INDEX.replace("2024-01-01", "2026-11-20"));
        let dropped = Changes { dropped: [1].into(), ..Changes::default() }.apply(&before, NOW);
        assert_eq!(
            text(&dropped),
            INDEX.replace("\r\n\t<!-- b -->\r\n\t<sitemap><loc>http://e/2.xml</loc></sitemap>", "")
        );
        assert_eq!(dropped.children.len(), 1);
    }

    #[test]
    fn a_new_entry_has_the_layout_of_its_neighbour() {
        let before = index(&INDEX.replace(
            "<sitemap><loc>http://e/2.xml</loc></sitemap>",
            "<sitemap>\r\n\t\t<loc>http://e/2.xml</loc>\r\n\t</sitemap>",
        ));
        let changes = Changes { added: vec![(SitemapId(2), "http://e/3.xml?a&b".into())], ..Changes::default() };
        let after = changes.apply(&before, NOW);
        let expected = text(&before).replace(
            "\r\n</sitemapindex>",
            "\r\n\t<sitemap>\r\n\t\t<loc>http://e/3.xml?a&amp;b</loc>\r\n\t\t<lastmod>2026-11-20</lastmod>\r\n\t</sitemap>\r\n</sitemapindex>",
        );
        assert_eq!(text(&after), expected);
        assert_eq!(after.children[2].state, ChildState::Loaded(SitemapId(2)));
    }

    #[test]
    fn an_entry_can_be_added_to_an_empty_root() {
        let before = index("<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'/>");
        let changes = Changes { added: vec![(SitemapId(0), "http://e/1.xml".into())], ..Changes::default() };
        assert_eq!(changes.apply(&before, NOW).source.len(), 1);
    }

    #[test]
    fn a_new_index_lists_every_file() {
        let children = [(SitemapId(0), "http://e/1.xml".into()), (SitemapId(1), "http://e/2.xml".into())];
        let (source, children) = new_index(&children, NOW);
        assert_eq!((source.len(), children.len(), source.damage.len()), (2, 2, 0));
        assert!(std::str::from_utf8(source.bytes()).unwrap().contains("\n    <lastmod>2026-11-20</lastmod>\n"));
    }
}
