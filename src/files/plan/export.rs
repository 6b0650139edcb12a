//! Plans an export: a copy of the set in another form, while the document stays unchanged.

use super::{Action, Plan, Problem, Request, plan};
use crate::document::Document;
use crate::document::conversion;
use crate::document::form::Form;
use crate::document::sitemap::{Sitemap, SitemapId};
use crate::document::source::Source;
use crate::files::disk::Disk;
use crate::files::form;
use crate::progress::Progress;
use crate::xml::grid::{Grid, TableHints};
use crate::xml::names::FileKind;
use crate::xml::record::Records;
use std::collections::HashMap;
use std::convert::Infallible;
use std::path::Path;

/// Plans a copy of `request.document` at `path` in another form.
pub fn export(request: &Request<'_>, path: &Path, form: Form) -> Plan {
    let kind = match form {
        Form::Xml | Form::Feed(_) => FileKind::Urlset,
        Form::List => FileKind::List,
        Form::Csv | Form::Tsv => FileKind::Table,
    };
    let mut document = Document::default();
    // Messages about parts of the copy use the name of the file that they are split from.
    let own = request.document.index().map(|index| &index.name);
    let own = own.or_else(|| request.document.sitemaps().first().map(|sitemap| &sitemap.name));
    let name = own.cloned().unwrap_or_else(|| Sitemap::default().name);
    append(
        &mut document,
        conversion::rendered(request.document, form),
        kind,
        Sitemap { name, form, ..Sitemap::default() },
    );
    let (saved, disk) = (Document::default(), Disk::default());
    let copied = Request { document: &document, saved: &saved, disk: &disk, to: Some(path), ..*request };
    let mut plan = plan(&copied);
    plan.copy = true;
    let losses = conversion::losses(request.document, form);
    if !losses.is_empty() {
        plan.losses.push(format!("{} cannot be written to {}", losses.words(), form.name()));
        plan.asks = true;
    }
    if request.disk.knows(path) {
        let message = format!("{} is a file of this very set; choose another name", path.display());
        plan.problems.push(Problem { row: None, message });
    }
    let rows = u64::from(request.document.live()) - losses.comments;
    let written = u64::from(document.live());
    if written < rows {
        let lost = rows - written;
        plan.losses.push(format!("{} without a URL left out", crate::words::counted(lost, "row")));
    }
    // A copy has no earlier version.
    for output in plan.outputs.iter_mut().filter(|output| output.action == Action::Rewritten) {
        output.action = Action::Replaced;
    }
    plan
}

/// Returns the document with all its files converted to XML, and a map from its live rows to the rows there. `None` if
/// all of them are XML.
pub(crate) fn converted_to_xml(document: &Document) -> Option<(Document, HashMap<u32, u32>)> {
    if document.sitemaps().iter().all(|sitemap| sitemap.frame.names.kind.is_xml()) {
        return None;
    }
    let (mut out, mut rows) = (Document::default(), HashMap::new());
    for (number, sitemap) in (0..).zip(document.sitemaps()) {
        let id = SitemapId(number);
        let live =
            || sitemap.rows.iter().filter(|row| document.is_live(*row) && !conversion::is_comment(document, *row));
        rows.extend(live().map(|row| row.0).zip(out.row_limit()..));
        let mut bytes = Vec::new();
        if sitemap.frame.names.kind.is_xml() {
            let written: Result<(), Infallible> = document.write_sitemap(id, &mut |part| {
                bytes.extend_from_slice(part);
                Ok(())
            });
            let Ok(()) = written;
        } else {
            bytes = conversion::rendered_as_xml(document, live());
        }
        let Sitemap { name, url, .. } = sitemap.as_ref().clone();
        append(&mut out, bytes, FileKind::Urlset, Sitemap { name, url, ..Sitemap::default() });
    }
    Some((out, rows))
}

/// Appends a file with these bytes to a document.
fn append(document: &mut Document, bytes: Vec<u8>, kind: FileKind, sitemap: Sitemap) {
    let mut records = Records::default();
    let grid = (kind == FileKind::Table).then(|| Grid::of_table(&bytes, TableHints::default()).ok()).flatten();
    let scan = form::scan(&bytes, (kind, grid.as_ref()), &mut records, &Progress::default());
    if let Some(source) = Source::new(bytes, scan) {
        document.append(source, records.0, sitemap);
    }
}
