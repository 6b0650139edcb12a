//! `sited dates --http`: the `Last-Modified` dates of the pages.

use super::super::dates_options::Dates;
use super::super::site_options::site_probe::{SiteProbe, spool_error};
use super::super::{Failure, Status, Streams};
use super::{DatesTable, Line, refuse_other_output, selection};
use crate::net::probe::Event;
use crate::net::results::SeenUrls;
use crate::net::targets::Targets;
use crate::words::counted;

/// Sends a HEAD request for each page.
pub(super) fn run(dates: &Dates, memory_limit: u64, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    refuse_other_output(dates)?;
    let mut targets = Targets::new(SeenUrls::default()).map_err(spool_error)?;
    selection(dates).each_loc(memory_limit, streams, |loc, _| targets.add(loc).map_err(spool_error))?;
    let base_url = dates.common.limits()?.with_recorded_base(&dates.paths).base_url;
    let site = SiteProbe::prepare(&dates.probing, true, (targets, base_url.as_deref()), streams)?;
    let (mut table, mut failure) = (DatesTable::create(dates, "date")?, None);
    let ended = site.run(streams, |event, out| {
        let Event::Record(record) = event else { return out.flush() };
        // The date of an error page is not that of the page.
        let is_page = record.final_status.is_some_and(|status| (200..300).contains(&status));
        let modified = record.modified.as_deref().filter(|_| is_page);
        let line = modified.map(|modified| Line {
            url: &record.url,
            modified,
            source: record.last.as_deref().unwrap_or(&record.url),
        });
        table.add(&record.url, line.as_ref(), out).map_err(|error| {
            failure = Some(error);
            std::io::ErrorKind::Other.into()
        })
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    let ended = ended?;
    let asked = ended.tally.done();
    let status = ended.report_skipped("the dates found so far are written", "run it again for", streams);
    if asked > 0 && table.dated() == 0 {
        let message = format!("none of {} has a Last-Modified", counted(asked, "URL"));
        return Err(Failure::Unusable(message, "use the dates of the sources: --git DIR or --mtime DIR".to_owned()));
    }
    // An empty file would suggest that the pages have no dates.
    if asked > 0 {
        table.finish(asked, streams)?;
    }
    Ok(status)
}
