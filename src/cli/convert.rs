//! `sited convert`: writes a set in another format.

use super::args::{Convert, ConvertTo};
use super::damage::Damage;
use super::save::{Agreed, preview_as, save_as};
use super::{Failure, Status, Streams};
use crate::document::form::Form;

pub(super) fn run(convert: &Convert, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let now = convert.common.now()?;
    let name = convert.output.file_name().unwrap_or_default().to_string_lossy();
    let form = convert.to.map(form).or_else(|| Form::of_name(&name)).ok_or_else(|| {
        let message = format!("{name} has no extension that names a format");
        Failure::Usage(message, "use .xml, .txt, .csv or .tsv, or --to FORM".to_owned())
    })?;
    let mut session = convert.common.open_set(&convert.paths, now, streams)?;
    Damage::of(&session).warn(streams);
    let (to, agreed) = ((convert.output.as_path(), form), Agreed::of(&convert.common));
    if convert.dry_run {
        preview_as(&mut session, to, agreed, streams)?;
    } else {
        save_as(&mut session, to, agreed, streams)?;
    }
    Ok(Status::Fine)
}

const fn form(to: ConvertTo) -> Form {
    match to {
        ConvertTo::Xml => Form::Xml,
        ConvertTo::Txt => Form::List,
        ConvertTo::Csv => Form::Csv,
        ConvertTo::Tsv => Form::Tsv,
    }
}
