//! `sited convert`: a copy of a set in another form.

use super::args::{Convert, ConvertTo};
use super::damage::Damage;
use super::save::save_as;
use super::{Failure, Status, Streams};
use crate::document::form::Form;
use crate::document::rows::RowSet;
use crate::document::sitemap::SitemapId;
use crate::session::Session;
use crate::session::change::Change;
use crate::words::counted;

/// Reads, says what is lost, writes.
pub(super) fn run(convert: &Convert, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let now = convert.common.now()?;
    let name = convert.output.file_name().unwrap_or_default().to_string_lossy();
    let form = convert.to.map(form).or_else(|| Form::of_name(&name)).ok_or_else(|| {
        let message = format!("the name {name} does not say which form to write");
        Failure::Usage(message, "end it in .xml, .txt, .csv or .tsv, or say --to FORM".to_owned())
    })?;
    let mut session = convert.common.open_set(&convert.paths, now, streams)?;
    Damage::of(&session).say(streams);
    leave_out_linkless(&mut session, streams)?;
    save_as(&mut session, &convert.output, form, streams)?;
    Ok(Status::Fine)
}

/// Items of a feed that link to nothing are no entries of a sitemap. The feed itself stays as it is.
fn leave_out_linkless(session: &mut Session, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let document = session.document();
    let feeds = (0..).zip(document.sitemaps()).filter(|(_, sitemap)| matches!(sitemap.form, Form::Feed(_)));
    let rows: RowSet = feeds.flat_map(|(id, _)| document.without_loc(SitemapId(id))).map(|row| row.0).collect();
    if !rows.is_empty() {
        streams.note(&format!("left out, since there is no link: {}", counted(rows.len(), "item")));
        session.change(&Change::Delete(rows))?;
    }
    Ok(())
}

const fn form(to: ConvertTo) -> Form {
    match to {
        ConvertTo::Xml => Form::Xml,
        ConvertTo::Txt => Form::List,
        ConvertTo::Csv => Form::Csv,
        ConvertTo::Tsv => Form::Tsv,
    }
}
