//! Renames a file of the set in its folder: path, public URL, and the index entries that list it.
//!
//! Invariant: path, URL and index entries are changed together; the rows and all other bytes of the index stay the
//! same.

use super::Document;
use super::form::Form;
use super::index::{ChildState, Index};
use super::sitemap::{Member, SitemapId, file_name};
use super::source::Source;
use crate::protocol::Field;
use crate::xml::defect::Defect;
use crate::xml::entry::Entry;
use crate::xml::splice::{self, Change};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// The last segment of a relative path.
pub(crate) fn last(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// A relative path with another file name.
fn sibling_name(name: &str, file: &str) -> String {
    match name.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{file}"),
        None => file.to_owned(),
    }
}

/// A file name, percent-encoded for a URL except for unreserved characters (RFC 3986, section 2.3).
pub(crate) fn encoded(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
    let letter = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    name.bytes().map(letter).collect()
}

/// A URL with its file name `old` replaced by `new`; `None` if its file name is not `old`.
fn url_named(url: &str, old: &str, new: &str) -> Option<String> {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let (path, rest) = url.split_at(end);
    let at = path.rfind('/')? + 1;
    (file_name(path) == old).then(|| format!("{}{}{rest}", path.get(..at).unwrap_or_default(), encoded(new)))
}

/// Why a file cannot be renamed at all; `None` if it can.
pub(crate) fn refusal(document: &Document, file: Member) -> Option<String> {
    let refusal_of = |why: &str| Some(why.to_owned());
    let Member::Sitemap(id) = file else {
        return match document.index() {
            Some(index) if !index.more.is_empty() => refusal_of(
                "the index has several files, named after the first; save it under another name (:write NAME)",
            ),
            Some(index) if index.path.is_some() => None,
            _ => refusal_of("it has not been saved yet"),
        };
    };
    let Some(sitemap) = document.sitemap(id).filter(|sitemap| sitemap.path.is_some()) else {
        return refusal_of("it has not been saved yet");
    };
    if matches!(sitemap.form, Form::Feed(_)) {
        return refusal_of("a feed is never written; save it as a sitemap of another name (:write NAME.xml)");
    }
    let index = document.index()?;
    if index.child_of(id).is_none() {
        return refusal_of(
            "a nested index lists it, and nested indexes are never written; run :fix index-nested first",
        );
    }
    let entries = entries_listing(index, id);
    let is_named = |entry: &usize| {
        let child = index.children.get(*entry);
        child.is_some_and(|child| url_named(&child.loc, last(&sitemap.name), "a").is_some())
    };
    if entries.iter().all(is_named) {
        return None;
    }
    Some(format!("its URL in {} does not end with its name", index.name))
}

/// Whether another file of the set has this name in the folder of `file`. Ignores case, as some file systems do.
pub(crate) fn has_file(document: &Document, name: &str, file: Member) -> bool {
    let path = |file: Member| match file {
        Member::Index => document.index().and_then(|index| index.path.as_deref()),
        Member::Sitemap(id) => document.sitemap(id).and_then(|sitemap| sitemap.path.as_deref()),
    };
    let Some(folder) = path(file).and_then(Path::parent) else { return false };
    let sitemaps = (0..document.sitemaps().len() as u32).map(|id| Member::Sitemap(SitemapId(id)));
    let further = document.index().into_iter().flat_map(|index| index.files().skip(1)).filter_map(|file| file.path);
    let others = sitemaps.chain([Member::Index]).filter(|other| *other != file).filter_map(path);
    others.chain(further).any(|other| {
        other.parent() == Some(folder) && other.file_name().is_some_and(|other| other.eq_ignore_ascii_case(name))
    })
}

/// The entries of an index that list a file: the one that it was loaded for, and duplicates of it.
fn entries_listing(index: &Index, id: SitemapId) -> Vec<usize> {
    let loaded_name = index.child_of(id).and_then(|entry| index.children.get(entry)).map(|child| file_name(&child.loc));
    let lists = |state: &ChildState, loc: &str| match state {
        ChildState::Loaded(other) => *other == id,
        ChildState::Repeated => loaded_name.as_deref() == Some(&*file_name(loc)),
        _ => false,
    };
    let children = index.children.iter().enumerate();
    children.filter(|(_, child)| lists(&child.state, &child.loc)).map(|(entry, _)| entry).collect()
}

/// Renames a file. The caller must have checked [`refusal`].
pub(super) fn rename(document: &mut Document, file: Member, name: &str) {
    let id = match file {
        Member::Index => {
            if let Some(index) = document.index().cloned() {
                let path = index.path.as_ref().map(|path| path.with_file_name(name));
                let name = sibling_name(&index.name, name).into();
                document.set_index(Some(Index { path, name, ..index }));
            }
            return;
        }
        Member::Sitemap(id) => id,
    };
    let Some(old) = document.sitemap(id).map(|sitemap| last(&sitemap.name).to_owned()) else { return };
    if let Some(index) = document.index() {
        let lists = entries_listing(index, id);
        let source = &index.source;
        let mut entries = Vec::with_capacity(source.bytes().len());
        for entry in 0..source.len() {
            let text = source.entry_text(entry);
            let url = index.children.get(entry).and_then(|child| url_named(&child.loc, &old, name));
            match url.filter(|_| lists.contains(&entry)) {
                Some(url) => {
                    let mut changes = [None; 4];
                    changes[Field::Loc.index()] = Some(Change::Set(&url));
                    splice::splice(&Entry::of(text, &source.names), text, &source.names, &changes, &mut entries);
                }
                None => entries.extend_from_slice(text),
            }
        }
        let any = !source.is_empty();
        let bytes = [source.head(any), Cow::Owned(entries), source.tail(any)].concat();
        let Some(new) = Source::of_text(bytes).filter(|new| new.len() == source.len()) else { return };
        let index = index.edited(Arc::new(new));
        document.set_index(Some(index));
    }
    document.change_sitemap(id, |sitemap| {
        sitemap.path = sitemap.path.as_ref().map(|path| path.with_file_name(name));
        sitemap.url = sitemap.url.as_deref().and_then(|url| url_named(url, &old, name)).map(Into::into);
        sitemap.name = sibling_name(&sitemap.name, name).into();
        if Form::of_name(name) == Some(Form::List) {
            let remaining = sitemap.quirks.iter().filter(|quirk| quirk.kind != Defect::Extension);
            sitemap.quirks = Arc::new(remaining.cloned().collect());
        }
    });
}
