//! Rewrites the URLs that an index lists.

use crate::document::Document;
use crate::document::edit::Edit;
use crate::document::index::{Child, ChildState, Index};
use crate::document::rename::encoded;
use crate::document::sitemap::Member;
use crate::document::source::Source;
use crate::protocol::Field;
use crate::session::state::Snapshot;
use crate::xml::entry::Entry;
use crate::xml::splice::{Change, splice};
use std::sync::Arc;

/// The edit that replaces the URLs of index entries for which `new` returns one, and how many there are.
pub(in crate::session) fn with_urls(
    snapshot: &Snapshot,
    new: &dyn Fn(&Child, &str) -> Option<String>,
) -> (Option<Edit>, u64) {
    let Some(index) = snapshot.document.index() else { return (None, 0) };
    let source = &index.source;
    let (mut entries, mut count) = (Vec::with_capacity(source.bytes().len()), 0);
    for number in 0..source.len() {
        let text = source.entry_text(number);
        let loc = Entry::of(text, &source.names).value(Field::Loc, text);
        let changed = index.children.get(number).zip(loc.as_deref()).and_then(|(child, loc)| new(child, loc));
        match changed {
            Some(url) => {
                entries.extend_from_slice(&with_field(text, Field::Loc, Change::Set(&url), &source.names));
                count += 1;
            }
            None => entries.extend_from_slice(text),
        }
    }
    let kept = !source.is_empty();
    let bytes = [&source.head(kept)[..], &entries, &source.tail(kept)].concat();
    let frame = Source::of_text(bytes).filter(|frame| count > 0 && frame.len() == source.len());
    let edit = frame.map(|frame| Edit::Frame { file: Member::Index, frame: Arc::new(frame) });
    (edit, count)
}

/// The edit that writes the entries of the index below a URL, by the names of their files; entries whose file is not
/// loaded keep their path relative to the index's folder.
pub(in crate::session) fn below_url(snapshot: &Snapshot, url: &str) -> (Option<Edit>, u64) {
    let document = &snapshot.document;
    let Some(folder) = crate::files::folder_url(url) else { return (None, 0) };
    let before = document.index().and_then(|index| folder_of(document, index));
    with_urls(snapshot, &|child, loc| {
        let path = match child.state {
            ChildState::Loaded(id) => {
                let name = &document.sitemap(id)?.name;
                name.split('/').map(encoded).collect::<Vec<_>>().join("/")
            }
            _ => loc.strip_prefix(before?)?.to_owned(),
        };
        Some(format!("{folder}{path}")).filter(|new| new != loc)
    })
}

/// The URL of the index's folder, derived from an entry whose file is in it.
pub(in crate::session) fn folder_of<'d>(document: &'d Document, index: &'d Index) -> Option<&'d str> {
    index.children.iter().find_map(|child| {
        let ChildState::Loaded(id) = child.state else { return None };
        let sitemap = document.sitemap(id).filter(|sitemap| !sitemap.name.contains('/'))?;
        child.loc.strip_suffix(&*encoded(&sitemap.name)).filter(|folder| folder.ends_with('/'))
    })
}

/// The text of an entry with one field changed.
pub(in crate::session) fn with_field(
    text: &[u8],
    field: Field,
    change: Change<'_>,
    names: &crate::xml::names::Names,
) -> Vec<u8> {
    let mut changes = [None; 4];
    changes[field.index()] = Some(change);
    let mut out = Vec::with_capacity(text.len() + 32);
    splice(&Entry::of(text, names), text, names, &changes, &mut out);
    out
}
