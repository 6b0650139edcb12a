//! Matches the files of two versions of a set. It is an error if they cannot be matched with certainty.

use super::super::Document;
use super::super::form::Form;
use super::super::index::Index;
use super::super::quirk::Quirk;
use super::super::sitemap::{Sitemap, SitemapId};
use super::Unmergeable;
use hashbrown::HashMap;
use std::sync::Arc;

/// Matches files by path: each file of ours with theirs, then the files that they added, with their new ids.
pub(super) fn match_files(base: &Document, theirs: &Document) -> Vec<(SitemapId, Option<SitemapId>)> {
    let their_files = (0..theirs.sitemaps().len() as u32).map(SitemapId);
    let mut their_files: HashMap<_, SitemapId> =
        their_files.filter_map(|id| Some((theirs.sitemap(id)?.path.as_ref()?, id))).collect();
    let mut pairs = Vec::new();
    for (number, sitemap) in base.sitemaps().iter().enumerate() {
        // A file that an earlier save removed has no path and no rows.
        if let Some(path) = &sitemap.path {
            pairs.push((SitemapId(number as u32), their_files.remove(path)));
        }
    }
    let mut new: Vec<SitemapId> = their_files.into_values().collect();
    new.sort_unstable();
    let first_new_id = base.sitemaps().len() as u32;
    pairs.extend((first_new_id..).map(SitemapId).zip(new.into_iter().map(Some)));
    pairs
}

/// Whether their set or its index has other files. Refuses if a file of theirs is damaged or has another form than
/// before.
pub(super) fn check_mergeable(
    (base, ours, theirs): (&Document, &Document, &Document),
    pairs: &[(SitemapId, Option<SitemapId>)],
) -> Result<bool, Unmergeable> {
    let refuse = |why: &str| Err(Unmergeable(why.to_owned()));
    if base.row_limit() > ours.row_limit() || ours.sitemaps().len() != base.sitemaps().len() {
        return refuse("changes from before the last save were undone: redo (^R) first");
    }
    for (our_file, base_file) in ours.sitemaps().iter().zip(base.sitemaps()) {
        if our_file.path != base_file.path {
            return Err(Unmergeable(format!(
                "{} was renamed here: undo that first, or save elsewhere",
                base_file.name
            )));
        }
    }
    let children = |document: &Document| -> Vec<Arc<str>> {
        document.index().iter().flat_map(|index| index.children.iter()).map(|child| Arc::clone(&child.loc)).collect()
    };
    let first_new_id = base.sitemaps().len();
    let is_other = |(id, their_id): &(SitemapId, Option<SitemapId>)| their_id.is_none() || id.index() >= first_new_id;
    let has_other_files = pairs.iter().any(is_other) || children(base) != children(theirs);
    if has_other_files {
        let nested = |document: &Document| document.index().is_some_and(Index::has_nested);
        match (base.index(), theirs.index()) {
            (Some(_), Some(_)) if nested(base) || nested(theirs) => {
                return refuse(
                    "the files of the set changed, and a nested index lists some of them: reload, or save elsewhere",
                );
            }
            // Without an index, the user decides about each row of a removed file; keeping one writes the file again.
            (Some(_), Some(_)) | (None, None) => {}
            _ => return refuse("a file was replaced by a set, or a set by a file: reload, or save elsewhere"),
        }
    }
    let is_repaired = |quirks: &[Quirk]| quirks.iter().any(|quirk| quirk.kind.is_repair());
    let damaged = |name: &str| Unmergeable(format!("{name} on disk is damaged"));
    if let Some(index) = theirs.index().filter(|index| index.files().any(|file| is_repaired(file.quirks))) {
        return Err(damaged(&index.name));
    }
    for (id, their_id) in pairs {
        let Some(sitemap) = their_id.and_then(|their_id| theirs.sitemap(their_id)) else { continue };
        // With moved columns, values would end up in other fields.
        let head = |sitemap: &Sitemap| (sitemap.frame.head(true).into_owned(), sitemap.frame.open_end);
        let is_xml = sitemap.frame.names.kind.is_xml();
        let is_alike = match base.sitemap(*id) {
            Some(base_file) => sitemap.form == base_file.form && (is_xml || head(sitemap) == head(base_file)),
            None => is_xml && sitemap.form == Form::Xml,
        };
        if !is_alike {
            return Err(Unmergeable(format!("{} has another file format now", sitemap.name)));
        }
        // The file is most likely being written right now. Rows not yet written would look deleted.
        if is_repaired(&sitemap.quirks) || !sitemap.frame.damage.is_empty() {
            return Err(damaged(&sitemap.name));
        }
    }
    Ok(has_other_files)
}
