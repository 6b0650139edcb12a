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

/// Marks files as just written: drops their quirks. Of an index in volumes, `of_index` are the numbers of the written ones.
pub(crate) fn mark_written(document: &mut Document, written: &[Member], of_index: &BTreeSet<usize>) {
    for file in written {
        match file {
            Member::Index => {
                if let Some(mut index) = document.index().cloned() {
                    index.mark_files_written(&|number| of_index.contains(&number));
                    document.set_index(Some(index));
                }
            }
            Member::Sitemap(id) => {
                document.clear_repaired(&document.repaired_rows(*id));
                // What is odd about the lines of a list, or its name, is so still.
                let standing = list_line_quirks(document, *id);
                document.change_sitemap(*id, |sitemap| {
                    let quirks = sitemap.quirks.iter().filter(|quirk| standing.contains(&quirk.kind));
                    sitemap.quirks = quirks.cloned().collect();
                    (sitemap.accepted, sitemap.apart, sitemap.encoding) = (false, false, UTF_8);
                });
            }
        }
    }
}

/// Agrees to the repairs of a file, which are to be written. Returns the repaired rows.
pub(super) fn accept(document: &mut Document, file: Member) -> Vec<RowId> {
    let kept = |quirks: &[Quirk]| -> Vec<Quirk> {
        quirks.iter().filter(|quirk| !quirk.kind.ends_when_written()).cloned().collect()
    };
    let id = match file {
        Member::Index => {
            if let Some(mut index) = document.index().cloned() {
                (index.quirks, index.accepted) = (kept(&index.quirks).into(), true);
                index.change_volumes(|volume| volume.quirks = kept(&volume.quirks).into());
                document.set_index(Some(index));
            }
            return Vec::new();
        }
        Member::Sitemap(id) => id,
    };
    let rows = document.repaired_rows(id);
    document.clear_repaired(&rows);
    let standing = list_line_quirks(document, id);
    document.change_sitemap(id, |sitemap| {
        let quirks = kept(&sitemap.quirks).into_iter();
        let stands = |quirk: &Quirk| !quirk.kind.is_of_lines() || standing.contains(&quirk.kind);
        (sitemap.quirks, sitemap.accepted) = (quirks.filter(stands).collect(), true);
    });
    rows
}

/// The quirks of a list's lines and name as they are now.
fn list_line_quirks(document: &Document, id: SitemapId) -> Vec<Defect> {
    let mut standing = Vec::new();
    let Some(sitemap) = document.sitemap(id).filter(|sitemap| sitemap.form == Form::List) else { return standing };
    if sitemap.quirks.is_empty() {
        return standing;
    }
    let mut bytes = Vec::new();
    let written: Result<(), Infallible> = document.write_sitemap(id, &mut |part| {
        bytes.extend_from_slice(part);
        Ok(())
    });
    let survey = written.map(|()| grid::survey(&bytes)).unwrap_or_default();
    standing.extend(survey.blank.map(|_| Defect::BlankLine));
    standing.extend(survey.returns.map(|_| Defect::LineEnds));
    standing.extend((Form::of_name(&sitemap.name) != Some(Form::List)).then_some(Defect::Extension));
    standing
}
