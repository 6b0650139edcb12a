//! Saves without a screen: the answers that a save needs must be given as options.

use super::args::Common;
use super::lock::Lock;
use super::output::plain;
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

/// What was agreed to before a save that can ask no one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Agreed {
    /// Files that others changed are replaced.
    pub(super) force: bool,
    /// Damaged files are written as they were repaired.
    pub(super) repairs: bool,
    /// Files may be left without entries.
    pub(super) empty: bool,
}

impl Agreed {
    pub(super) const fn of(common: &Common) -> Self {
        Self { force: false, repairs: common.accept_repairs, empty: common.allow_empty }
    }
}

/// Refuses to leave a file without entries, unless that was agreed to. What had none before may stay so, as long as it
/// can be read again.
pub(super) fn refuse_empty(plan: &Plan, agreed: Agreed) -> Result<(), Failure> {
    let is_new = |output: &Output| matches!(output.action, Action::Created | Action::Replaced);
    let is_written = |output: &Output| is_new(output) || output.action == Action::Rewritten;
    // Of a copy all files are new, some of which may have been empty before.
    let has_urls = plan.outputs.iter().any(|output| output.file.index_file().is_none() && output.urls_after > 0);
    let is_emptied = |output: &&Output| {
        let is_lost = output.urls_before > 0 || output.bytes == 0 || (is_new(output) && !has_urls);
        is_written(output) && output.urls_after == 0 && is_lost
    };
    let Some(output) = plan.outputs.iter().find(is_emptied).filter(|_| !agreed.empty) else { return Ok(()) };
    let message = format!("{} would have no entries left", output.path.display());
    let hint = "nothing was written; --allow-empty writes it anyway, or delete the file if it is not needed";
    Err(Failure::Place(message, hint.to_owned()))
}

/// The same of standard output: a pipe ends in a file often enough. A copy has an entry, as a new file does.
fn refuse_empty_output(session: &Session, is_copy: bool, agreed: Agreed) -> Result<(), Failure> {
    let is_lost = is_copy || session.view().saved.live() > 0;
    if agreed.empty || !is_lost || session.document().live() > 0 {
        return Ok(());
    }
    let hint = "nothing was written; --allow-empty writes it anyway";
    Err(Failure::Place("standard output would have no entries".to_owned(), hint.to_owned()))
}

/// Saves, to another path if one is given, and says what was done to the rows when that is saved. What is made, replaced or removed beside the files that were
/// opened is reported before it is done.
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

/// A field that no file which it was given in has a place for, and changes of feeds. Whoever asks for that in so many
/// words is not served by a save without it. Where some files have a place, what the others lose is reported.
pub(super) fn refuse_lost(session: &Session, output: Option<&Path>) -> Result<(), Failure> {
    let to = output.or(session.path().map(PathBuf::as_path)).filter(|to| !is_stream(to));
    let form = to.and_then(|to| Form::of_name(&to.file_name()?.to_string_lossy())).unwrap_or(save::form_of(session));
    let Snapshot { state, saved, .. } = session.view();
    let document = &state.document;
    // In another form it is a copy, and what that leaves out is reported.
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
            return Err(Failure::Place(message, "nothing was changed; -o NAME.xml saves it as a sitemap".to_owned()));
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
    Err(Failure::Place(message, hint))
}

/// Items of a feed that link to nothing are no entries of a sitemap. The feed itself stays as it is.
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

/// Saves to another path in a form that its name need not say.
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

/// Refuses to print several files one behind the other.
fn refuse_stream(document: &Document, (to, from): (Form, Form)) -> Result<(), Failure> {
    if to == from && (document.index().is_some() || document.sitemaps().len() != 1) {
        let message = "a set of several files cannot be written to standard output".to_owned();
        return Err(Failure::Usage(message, "name a file: -o OUT".to_owned()));
    }
    Ok(())
}

/// Says what a form has no place for.
fn note_losses(document: &Document, (to, from): (Form, Form), streams: &mut Streams<'_>) {
    if to != from {
        let losses = conversion::losses(document, to);
        if !losses.is_empty() {
            streams.note(&format!("{} cannot be written to {}", losses.words(), to.name()));
        }
    }
}

/// Writes a set that is one file to standard output.
fn print(session: &Session, form: Form, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let (document, forms) = (session.document(), (form, save::form_of(session)));
    refuse_stream(document, forms)?;
    note_losses(document, forms, streams);
    if form != save::form_of(session) {
        return Ok(streams.out.write_all(&conversion::rendered(document, form))?);
    }
    Ok(document.write_sitemap(SitemapId(0), &mut |bytes| streams.out.write_all(bytes))?)
}

/// Says which columns of tables and comments of lists a sitemap has no place for.
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

/// What someone who could be asked would be asked about, to be reported once it is done.
pub(super) fn announcement(plan: &Plan) -> Result<Vec<String>, Failure> {
    if let Some(base) = &plan.needs_base {
        let message = "new files need public URLs, but the base URL of the set is not known".to_owned();
        return Err(Failure::Usage(message, format!("say it: --base-url {base}")));
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

/// Prints what a save would do.
pub(super) fn show_plan(plan: &Plan, streams: &mut Streams<'_>) -> io::Result<()> {
    /// Files that stay as they are and are still named one by one.
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
