//! Saves without a screen: questions of a save are answered by options.

use super::args::Common;
use super::lock::Lock;
use super::unsafe_characters::plain;
use super::{Failure, Streams};
use crate::document::conversion::{self, Losses};
use crate::document::form::Form;
use crate::document::rows::RowId;
use crate::document::rows::RowSet;
use crate::document::sitemap::SitemapId;
use crate::document::{Document, RowState};
use crate::files::is_stream;
use crate::files::plan::{Action, Output, Plan};
use crate::progress::Progress;
use crate::protocol::Field;
use crate::session::Session;
use crate::session::edit::{Change, EditError};
use crate::session::state::Snapshot;
use crate::session::store::save;
use crate::words::{counted, grouped, size};
use std::io;
use std::path::{Path, PathBuf};

/// The answers to the questions of a save, from options.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Agreed {
    /// Whether files that other programs changed are replaced.
    pub(super) force: bool,
    /// Whether repairs of damaged files are written.
    pub(super) repairs: bool,
    /// Whether files may be written without entries.
    pub(super) empty: bool,
}

impl Agreed {
    pub(super) const fn of(common: &Common) -> Self {
        Self { force: false, repairs: common.accept_repairs, empty: common.allow_empty }
    }
}

/// Refuses to write a file without entries, unless `--allow-empty` is given. A file that had none before is written, as
/// long as it can be read again.
pub(super) fn refuse_empty(plan: &Plan, agreed: Agreed) -> Result<(), Failure> {
    let is_new = |output: &Output| matches!(output.action, Action::Created | Action::Replaced);
    let is_written = |output: &Output| is_new(output) || output.action == Action::Rewritten;
    // All files of a copy are new, and some of them may have been empty before.
    let has_urls = plan.outputs.iter().any(|output| output.file.index_file().is_none() && output.urls_after > 0);
    let is_emptied = |output: &&Output| {
        let is_lost = output.urls_before > 0 || output.bytes == 0 || (is_new(output) && !has_urls);
        is_written(output) && output.urls_after == 0 && is_lost
    };
    let Some(output) = plan.outputs.iter().find(is_emptied).filter(|_| !agreed.empty) else { return Ok(()) };
    let message = format!("{} would have no entries left", output.path.display());
    let hint = "nothing was written; --allow-empty writes it anyway, or delete the file if it is not needed";
    Err(Failure::Unusable(message, hint.to_owned()))
}

/// [`refuse_empty`] for standard output, which is often redirected to a file. `is_copy` is the case of a new file.
fn refuse_empty_output(session: &Session, is_copy: bool, agreed: Agreed) -> Result<(), Failure> {
    let is_lost = is_copy || session.view().saved.live() > 0;
    if agreed.empty || !is_lost || session.document().live() > 0 {
        return Ok(());
    }
    let hint = "nothing was written; --allow-empty writes it anyway";
    Err(Failure::Unusable("standard output would have no entries".to_owned(), hint.to_owned()))
}

/// Saves, in place or to another path, and then prints the messages in `done`. If the save also creates, replaces or
/// removes files that were not opened, they are noted.
pub(super) fn save(
    session: &mut Session,
    (to, done): (Option<&Path>, &[String]),
    agreed: Agreed,
    streams: &mut Streams<'_>,
) -> Result<(), Failure> {
    if let (Some(reason), None) = (session.read_only(), to) {
        return Err(EditError::Refused(format!("read-only: {reason}")).into());
    }
    if to.is_some() {
        remove_linkless(session, streams)?;
    }
    match to.or(session.path().map(PathBuf::as_path)) {
        Some(path) if is_stream(path) => {
            refuse_empty_output(session, to.is_some(), agreed)?;
            print(session, save::form_of(session), streams)?;
            streams.note_all(done);
            Ok(())
        }
        _ => write(session, (session.plan(to), done), agreed, streams),
    }
}

/// Refuses changes that cannot be saved: a field that none of the changed files can store, and changes of feeds. If
/// some of the files can store the field, the save notes what the others lose.
pub(super) fn refuse_lost(session: &Session, output: Option<&Path>) -> Result<(), Failure> {
    let to = output.or(session.path().map(PathBuf::as_path)).filter(|to| !is_stream(to));
    let form = to.and_then(|to| Form::of_name(&to.file_name()?.to_string_lossy())).unwrap_or(save::form_of(session));
    let Snapshot { state, saved, .. } = session.view();
    let document = &state.document;
    // A copy in another form is allowed; the save notes what it omits.
    if form != save::form_of(session) || document.sitemaps().iter().all(|sitemap| sitemap.form == Form::Xml) {
        return Ok(());
    }
    let mut lost: [Option<SitemapId>; 4] = [None; 4];
    let mut kept = [false; 4];
    for row in document.compare(saved).maybe_different().iter().map(RowId) {
        let id = document.sitemap_of(row);
        let Some(sitemap) = document.sitemap(id) else { continue };
        if let (Form::Feed(feed), true) = (sitemap.form, output.is_none() && to.is_some())
            && document.compare(saved).row_state(row) != RowState::Clean
        {
            let message = format!("{}: this is {}; sited never overwrites a feed", sitemap.name, feed.name());
            return Err(Failure::Unusable(
                message,
                "nothing was changed; -o NAME.xml saves it as a sitemap".to_owned(),
            ));
        }
        if !document.is_live(row) || matches!(sitemap.form, Form::Feed(_)) {
            continue;
        }
        let unwritable: Vec<Field> = conversion::unwritable(document, row).collect();
        for (field, (lost, kept)) in Field::ALL.into_iter().zip(lost.iter_mut().zip(&mut kept)) {
            if unwritable.contains(&field) {
                lost.get_or_insert(id);
            } else {
                *kept |= matches!(document.edited(row, field), Some(Some(_)));
            }
        }
    }
    let fields = Field::ALL.into_iter().zip(lost.into_iter().zip(kept));
    let refused = fields.filter(|(_, (_, kept))| !kept).find_map(|(field, (lost, _))| Some((field, lost?)));
    let Some((field, sitemap)) = refused.and_then(|(field, id)| Some((field, document.sitemap(id)?))) else {
        return Ok(());
    };
    let why = match sitemap.form {
        Form::List => "a URL list has no other fields",
        _ => "the table has no column of this name",
    };
    let (name, kind) = (&sitemap.name, sitemap.form.name());
    let message = format!("{name}: {} cannot be written to {kind}: {why}", field.name());
    let hint = format!("nothing was changed; sited convert {name} -o NAME.xml makes a sitemap of it");
    Err(Failure::Unusable(message, hint))
}

/// Removes feed items without a link before a copy is saved: they cannot be entries of a sitemap.
fn remove_linkless(session: &mut Session, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let document = session.document();
    let feeds = (0..).zip(document.sitemaps()).filter(|(_, sitemap)| matches!(sitemap.form, Form::Feed(_)));
    let rows: RowSet =
        feeds.flat_map(|(id, _)| conversion::without_loc(document, SitemapId(id))).map(|row| row.0).collect();
    if !rows.is_empty() {
        streams.note(&format!("omitted, since there is no link: {}", counted(rows.len(), "item")));
        session.change(&Change::Delete(rows))?;
    }
    Ok(())
}

/// Saves to another path in a given form, whatever its name.
pub(super) fn save_as(
    session: &mut Session,
    (to, form): (&Path, Form),
    agreed: Agreed,
    streams: &mut Streams<'_>,
) -> Result<(), Failure> {
    remove_linkless(session, streams)?;
    if is_stream(to) {
        refuse_empty_output(session, true, agreed)?;
        return print(session, form, streams);
    }
    let _lock = Lock::take(streams, &[to.to_path_buf()])?;
    write(session, (save::plan_as(session, to, form), &[]), Agreed { repairs: false, ..agreed }, streams)
}

/// Prints what [`save_as`] would write.
pub(super) fn preview_as(
    session: &mut Session,
    (to, form): (&Path, Form),
    agreed: Agreed,
    streams: &mut Streams<'_>,
) -> Result<(), Failure> {
    remove_linkless(session, streams)?;
    let document = session.document();
    let comments = if form == Form::List { 0 } else { conversion::comments(document) };
    let (urls, name) = (counted(u64::from(document.live()) - comments, "URL"), form.name());
    if is_stream(to) {
        refuse_stream(document, (form, save::form_of(session)))?;
        note_losses(document, (form, save::form_of(session)), streams);
        streams.note(&format!("dry run, nothing is written: {urls} as {name} to standard output"));
        return Ok(());
    }
    let plan = save::plan_as(session, to, form);
    show_plan(&plan, streams)?;
    refuse_empty(&plan, agreed)?;
    announcement(&plan)?;
    streams.note(&format!("dry run, nothing is written: {urls} as {name} to {}", to.display()));
    Ok(())
}

/// Refuses to concatenate several files to standard output.
fn refuse_stream(document: &Document, (to, from): (Form, Form)) -> Result<(), Failure> {
    if to == from && (document.index().is_some() || document.sitemaps().len() != 1) {
        let message = "a set of several files cannot be written to standard output".to_owned();
        return Err(Failure::Usage(message, "name a file: -o OUT".to_owned()));
    }
    Ok(())
}

/// Notes what cannot be written in a form.
fn note_losses(document: &Document, (to, from): (Form, Form), streams: &mut Streams<'_>) {
    if to != from {
        let losses = conversion::losses(document, to);
        if !losses.is_empty() {
            streams.note(&format!("{} cannot be written to {}", losses.words(), to.name()));
        }
    }
}

/// Writes a set of one file to standard output.
fn print(session: &Session, form: Form, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let (document, forms) = (session.document(), (form, save::form_of(session)));
    refuse_stream(document, forms)?;
    note_losses(document, forms, streams);
    if form != save::form_of(session) {
        return Ok(streams.out.write_all(&conversion::rendered(document, form))?);
    }
    Ok(document.write_sitemap(SitemapId(0), &mut |bytes| streams.out.write_all(bytes))?)
}

/// Notes the columns of tables and comments of lists that cannot be written to a sitemap.
pub(super) fn note_omitted(document: &Document, streams: &mut Streams<'_>) {
    let lost = Losses {
        columns: conversion::unknown_columns(document),
        comments: conversion::comments(document),
        ..Losses::default()
    };
    if !lost.is_empty() {
        streams.note(&format!("{} cannot be written to {}", lost.words(), Form::Xml.name()));
    }
}

fn write(
    session: &mut Session,
    (mut plan, done): (Plan, &[String]),
    agreed: Agreed,
    streams: &mut Streams<'_>,
) -> Result<(), Failure> {
    refuse_empty(&plan, agreed)?;
    if agreed.repairs {
        plan.accept_repairs();
    }
    let announced = announcement(&plan)?;
    let saving = save::begin(session, plan, agreed.force)?;
    let message = save::finish(session, saving.run(&Progress::default()))?;
    streams.note_all(done.iter().chain(&announced));
    streams.note(&message);
    Ok(())
}

/// The notes that replace the questions of the screen, printed after the save.
pub(super) fn announcement(plan: &Plan) -> Result<Vec<String>, Failure> {
    if let Some(base) = &plan.needs_base {
        let message = "new files need public URLs, but the base URL of the set is not known".to_owned();
        return Err(Failure::Usage(message, format!("for example: --base-url {base}")));
    }
    let mut words = Vec::new();
    if plan.is_ready() {
        words.extend(plan.losses.iter().map(ToString::to_string));
    }
    if plan.asks && plan.is_ready() && plan.repairs.is_empty() {
        words.extend(plan.outputs.iter().filter(|output| output.action != Action::Untouched).map(in_words));
    }
    Ok(words)
}

/// Prints a plan, and notes its questions and problems.
pub(super) fn show_plan(plan: &Plan, streams: &mut Streams<'_>) -> io::Result<()> {
    /// Up to this number, untouched files are listed one by one.
    const NAMED: usize = 20;
    let Plan { outputs, problems, needs_base, losses, repairs, .. } = plan;
    let untouched = plan.count(Action::Untouched);
    for output in outputs {
        if output.action != Action::Untouched || untouched <= NAMED {
            writeln!(streams.out, "{}", in_words(output))?;
        }
    }
    if untouched > NAMED {
        writeln!(streams.out, "untouched  {}", counted(untouched as u64, "file"))?;
    }
    if let Some(base) = needs_base {
        streams.note(&format!("a base URL is needed; from the rows it looks like {base}"));
    }
    for loss in losses {
        streams.note(loss);
    }
    for file in repairs {
        streams.note(&format!("{} was damaged; saving will write these repairs: {}", file.name, file.what.join("; ")));
    }
    for problem in problems {
        streams.note(&problem.message);
    }
    Ok(())
}

/// `rewritten  a.xml  14 changed  50,311 → 50,000 entries, 7.1 MiB`.
pub(super) fn in_words(output: &Output) -> String {
    let path = plain(&output.path.to_string_lossy());
    let action = match output.action {
        Action::Untouched => return format!("untouched  {path}"),
        Action::Removed => return format!("removed    {path}"),
        Action::Rewritten => "rewritten",
        Action::Created => "created",
        Action::Replaced => "replaced",
    };
    let size = size(output.bytes);
    let urls = match (output.file.index_file(), output.urls_after) {
        (None, urls) => counted(u64::from(urls), "URL"),
        (Some(_), 1) => "1 entry".to_owned(),
        (Some(_), entries) => format!("{} entries", grouped(u64::from(entries))),
    };
    let what = if output.what.is_empty() || output.what == urls { String::new() } else { format!("  {}", output.what) };
    let url = output.url.as_ref().map_or_else(String::new, |url| format!("  {}", plain(url)));
    format!("{action:<9}  {path}{what}  {urls}, {size}{url}")
}
