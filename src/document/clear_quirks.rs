//! Removes the quirks of files whose repairs were written, or that the user agreed to.

use super::Document;
use super::form::Form;
use super::quirk::Quirk;
use super::rows::RowId;
use super::sitemap::{Member, SitemapId, UTF_8};
use crate::xml::defect::Defect;
use crate::xml::grid;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;

/// Marks files as just written: drops their quirks. `index_files` are the numbers of the index files that were written.
pub(crate) fn mark_written(document: &mut Document, written: &[Member], index_files: &BTreeSet<usize>) {
    for file in written {
        match file {
            Member::Index => {
                if let Some(mut index) = document.index().cloned() {
                    index.mark_files_written(&|number| index_files.contains(&number));
                    document.set_index(Some(index));
                }
            }
            Member::Sitemap(id) => {
                document.clear_repaired(&document.repaired_rows(*id));
                // A save keeps the lines and the name of a list, so their quirks remain.
                let current = list_line_quirks(document, *id);
                document.change_sitemap(*id, |sitemap| {
                    let quirks = sitemap.quirks.iter().filter(|quirk| current.contains(&quirk.kind));
                    sitemap.quirks = Arc::new(quirks.cloned().collect());
                    (sitemap.accepted, sitemap.separate_news, sitemap.encoding) = (false, false, UTF_8);
                });
            }
        }
    }
}

/// Accepts the repairs of a file, so that the next save writes them. Returns the repaired rows.
pub(super) fn accept(document: &mut Document, file: Member) -> Vec<RowId> {
    let without_repairs = |quirks: &[Quirk]| -> Vec<Quirk> {
        quirks.iter().filter(|quirk| !quirk.kind.ends_when_written()).cloned().collect()
    };
    let id = match file {
        Member::Index => {
            if let Some(mut index) = document.index().cloned() {
                (index.quirks, index.accepted) = (without_repairs(&index.quirks).into(), true);
                index.change_volumes(|volume| volume.quirks = without_repairs(&volume.quirks).into());
                document.set_index(Some(index));
            }
            return Vec::new();
        }
        Member::Sitemap(id) => id,
    };
    let rows = document.repaired_rows(id);
    document.clear_repaired(&rows);
    let current = list_line_quirks(document, id);
    document.change_sitemap(id, |sitemap| {
        let quirks = without_repairs(&sitemap.quirks).into_iter();
        let is_current = |quirk: &Quirk| !quirk.kind.is_of_lines() || current.contains(&quirk.kind);
        (sitemap.quirks, sitemap.accepted) = (Arc::new(quirks.filter(is_current).collect()), true);
    });
    rows
}

/// The quirks that the lines and the name of a list have now.
fn list_line_quirks(document: &Document, id: SitemapId) -> Vec<Defect> {
    let mut current = Vec::new();
    let Some(sitemap) = document.sitemap(id).filter(|sitemap| sitemap.form == Form::List) else { return current };
    if sitemap.quirks.is_empty() {
        return current;
    }
    let mut bytes = Vec::new();
    let written: Result<(), Infallible> = document.write_sitemap(id, &mut |part| {
        bytes.extend_from_slice(part);
        Ok(())
    });
    let survey = written.map(|()| grid::survey(&bytes)).unwrap_or_default();
    current.extend(survey.blank.map(|_| Defect::BlankLine));
    current.extend(survey.returns.map(|_| Defect::LineEnds));
    current.extend((Form::of_name(&sitemap.name) != Some(Form::List)).then_some(Defect::Extension));
    current
}
