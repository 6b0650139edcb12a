//! A copy of a set in another form: one new file (or an index with its parts), the document stays what it is.

use super::{Action, Plan, Problem, Request, plan};
use crate::document::Document;
use crate::document::form::Form;
use crate::document::sitemap::Sitemap;
use crate::document::source::Source;
use crate::files::disk::Disk;
use crate::files::form;
use crate::progress::Progress;
use crate::xml::entry::Entry;
use crate::xml::names::{FileKind, Names};
use crate::xml::record::Record;
use crate::xml::scan::Visit;
use std::path::Path;

/// Works out a copy of `request.document` at `path` in a form that is not its own.
pub fn export(request: &Request<'_>, path: &Path, form: Form) -> Plan {
    let kind = match form {
        Form::Xml | Form::Feed(_) => FileKind::Urlset,
        Form::List => FileKind::List,
        Form::Csv | Form::Tsv => FileKind::Table,
    };
    let mut records = Records::default();
    let bytes = request.document.rendered(form);
    let scan = form::scan(&bytes, kind, &mut records, &Progress::default());
    let mut document = Document::default();
    if let Some(source) = Source::new(bytes, scan) {
        // Messages about the copy's parts name what they are parts of.
        let own = request.document.index().map(|index| &index.name);
        let own = own.or_else(|| request.document.sitemaps().first().map(|sitemap| &sitemap.name));
        let name = own.cloned().unwrap_or_else(|| Sitemap::default().name);
        document.append(source, records.0, Sitemap { name, form, ..Sitemap::default() });
    }
    let (saved, disk) = (Document::default(), Disk::default());
    let copied = Request { document: &document, saved: &saved, disk: &disk, to: Some(path), ..*request };
    let mut plan = plan(&copied);
    plan.copy = true;
    let losses = request.document.losses(form);
    if !losses.is_empty() {
        plan.losses.push(format!("{} cannot be written to {}", losses.words(), form.name()));
        plan.asks = true;
    }
    if request.disk.knows(path) {
        let message = format!("{} is a file of this very set; choose another name", path.display());
        plan.problems.push(Problem { row: None, message });
    }
    let rows = request.document.live();
    let written = document.live();
    if written < rows {
        let lost = u64::from(rows - written);
        plan.losses.push(format!("{} without a URL left out", crate::words::counted(lost, "row")));
    }
    // A copy has no state before it.
    for output in plan.outputs.iter_mut().filter(|output| output.action == Action::Rewritten) {
        output.action = Action::Replaced;
    }
    plan
}

/// The facts of each entry.
#[derive(Default)]
struct Records(Vec<Record>);

impl Visit for Records {
    fn entry(&mut self, text: &[u8], entry: &Entry, _: &Names) {
        self.0.push(Record::of(entry, text));
    }
}
