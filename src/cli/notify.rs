//! `sited notify`: notifies search engines of new, changed and removed URLs.

use super::diff::compare;
use super::notify_options::Notify;
use super::site_options::settings_failure;
use super::{Failure, Status, Streams, print_error};
use crate::files;
use crate::net::indexnow::sent::{SentError, SentFile, SentMark, SentUrls};
use crate::net::indexnow::{MAX_URLS, Site, Submitter, sendable};
use crate::protocol::location;
use crate::session::store::compare::Difference;
use crate::words::{counted, grouped};
use hashbrown::HashSet;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::slice::from_ref;
use std::time::Duration;

/// The hint if URLs were not accepted.
const RUN_AGAIN: &str = "run the same command again; it sends what was not accepted";

pub(super) fn run(notify: &Notify, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let (old, new) = notify.sets()?;
    let path = notify.state_file(streams.state.as_deref());
    let sent = path.as_deref().map_or_else(|| Ok(SentUrls::default()), read)?;
    let compared = compare(old, new, &notify.common, streams)?;
    let mut plan = Plan::default();
    for difference in &compared.found {
        plan.add(difference, notify, &sent);
    }
    plan.note_unsent(notify, streams);
    if notify.dry_run {
        plan.print(notify, streams)?;
        return Ok(Status::Fine);
    }
    if plan.sites.is_empty() {
        return Ok(Status::Fine);
    }
    notify.refuse_private(&notify.endpoint)?;
    plan.sites.values().try_for_each(|(site, _)| notify.refuse_private(&site.key_location))?;
    let submitter = Submitter::new(&notify.settings()?, notify.endpoint.clone(), notify.key.clone());
    let submitter = submitter.map_err(|error| settings_failure(&error, notify.cacert.as_deref()))?;
    // Opened before anything is sent, because accepted URLs must be recorded.
    let state = path.as_deref().map(|path| Ok::<_, Failure>((path, open(sent, path, notify)?))).transpose()?;
    if state.is_none() {
        streams.note("no state folder: the next run would send the same URLs again; --state FILE records them");
    }
    Sending { notify, submitter, state, accepted: 0 }.send_all(&plan, streams)
}

impl Notify {
    /// The old set, if there is one, and the new one.
    fn sets(&self) -> Result<(Option<&[PathBuf]>, &[PathBuf]), Failure> {
        match (self.paths.as_slice(), self.all) {
            ([old, new], false) => Ok((Some(from_ref(old)), from_ref(new))),
            ([new], true) => Ok((None, from_ref(new))),
            ([_, _], true) => Err(Failure::Usage(
                "--all takes one set, not two".to_owned(),
                "leave out --all to send the differences, or the old set to send all URLs".to_owned(),
            )),
            _ => Err(Failure::Usage(
                "only one set was given: there is nothing to compare it with".to_owned(),
                "name the set as it was before: sited notify OLD NEW; or send all of its URLs: --all".to_owned(),
            )),
        }
    }
}

fn read(path: &Path) -> Result<SentUrls, Failure> {
    SentUrls::read(path).map_err(|error| match error {
        SentError::File(error) => files::Error::system("read", path, error).into(),
        SentError::Line(_) => {
            let hint = "name the file that an earlier run wrote, or a new one: --state FILE".to_owned();
            Failure::Unusable(format!("{}: {error}", path.display()), hint)
        }
    })
}

fn open(sent: SentUrls, path: &Path, notify: &Notify) -> Result<SentFile, Failure> {
    if let (None, Some(folder)) = (&notify.state, path.parent()) {
        std::fs::create_dir_all(folder).map_err(|error| files::Error::system("make", folder, error))?;
    }
    Ok(sent.open(path)?)
}

/// A URL to send.
struct Item {
    /// `+` new, `-` removed, `~` changed.
    sign: char,
    url: String,
    mark: SentMark,
}

/// The URLs to send, by host, and the number of those that are not sent.
#[derive(Default)]
struct Plan {
    sites: BTreeMap<String, (Site, Vec<Item>)>,
    /// Hashes of all URLs so far, to skip duplicates.
    seen: HashSet<u64>,
    /// Number of URLs that are not valid.
    invalid: u64,
    /// Number of URLs that the key file is not valid for.
    uncovered: u64,
    /// Number of URLs that were accepted before.
    known: u64,
}

impl Plan {
    fn add(&mut self, difference: &Difference, notify: &Notify, sent: &SentUrls) {
        let (sign, content) = match difference {
            Difference::Added(row) => ('+', Some(row.digest())),
            Difference::Removed(_) => ('-', None),
            Difference::Changed(changed) => ('~', Some(changed.digest)),
        };
        let Some(url) = sendable(difference.loc()) else {
            self.invalid += 1;
            return;
        };
        if !self.seen.insert(location::key_hash(url.as_str())) {
            return;
        }
        let Some(site) = Site::of(&url, &notify.key, notify.key_location.as_ref()) else {
            self.invalid += 1;
            return;
        };
        let mark = SentMark::of(&notify.endpoint, url.as_str(), content);
        if !notify.again && sent.has(mark) {
            self.known += 1;
        } else if !site.covers(&url) {
            self.uncovered += 1;
        } else {
            let items = &mut self.sites.entry(site.host.clone()).or_insert_with(|| (site, Vec::new())).1;
            items.push(Item { sign, url: url.into(), mark });
        }
    }

    /// Notes the URLs that are not sent.
    fn note_unsent(&self, notify: &Notify, streams: &mut Streams<'_>) {
        let was = |count| if count == 1 { "was" } else { "were" };
        let is = |count| if count == 1 { "is" } else { "are" };
        if self.known > 0 {
            let (urls, were) = (counted(self.known, "URL"), was(self.known));
            streams.note(&format!("{urls} {were} accepted before; --again sends them once more"));
        }
        if self.invalid > 0 {
            let (urls, are) = (counted(self.invalid, "URL"), is(self.invalid));
            streams.note(&format!("{urls} {are} not sent: not a valid http or https URL; sited check lists them"));
        }
        if self.uncovered > 0 {
            let (urls, are) = (counted(self.uncovered, "URL"), is(self.uncovered));
            let place = notify.key_location.as_ref().map_or("", |location| location.as_str());
            let place = notify.key.masked(place);
            streams.note(&format!("{urls} {are} not sent: not in the folder of the key file {place}"));
        }
        if self.sites.is_empty() {
            streams.note("nothing to send");
        }
    }

    fn print(&self, notify: &Notify, streams: &mut Streams<'_>) -> io::Result<()> {
        for (site, items) in self.sites.values() {
            for item in items {
                writeln!(streams.out, "{} {}", item.sign, item.url)?;
            }
            let requests = counted(items.len().div_ceil(MAX_URLS) as u64, "request");
            let (urls, file) = (counted(items.len() as u64, "URL"), notify.key.masked(site.key_location.as_str()));
            let endpoint = notify.key.masked(notify.endpoint.as_str());
            streams.note(&format!("would send {urls} of {} to {endpoint} in {requests}; key file: {file}", site.host));
        }
        Ok(())
    }
}

/// Sends the URLs of a plan and records those that are accepted.
struct Sending<'n> {
    notify: &'n Notify,
    submitter: Submitter,
    state: Option<(&'n Path, SentFile)>,
    accepted: u64,
}

impl Sending<'_> {
    fn send_all(mut self, plan: &Plan, streams: &mut Streams<'_>) -> Result<Status, Failure> {
        let mut status = Status::Fine;
        for (site, items) in plan.sites.values() {
            status = status.worst_of(self.send_to_site(site, items, streams)?);
        }
        let total: u64 = plan.sites.values().map(|(_, items)| items.len() as u64).sum();
        streams.note(&format!("{} of {} accepted", grouped(self.accepted), counted(total, "URL")));
        Ok(status)
    }

    /// Sends the URLs of one host, up to the first batch that is not accepted.
    fn send_to_site(&mut self, site: &Site, items: &[Item], streams: &mut Streams<'_>) -> Result<Status, Failure> {
        if let Err(error) = self.submitter.check_key(site) {
            let place = self.notify.key.masked(site.key_location.as_str());
            let error = format!("{}: nothing was sent: {error} ({place})", site.host);
            let hint = "create a file at this URL whose only line is the key; --key-location URL names another place";
            print_error(&error, hint, streams.notes);
            return Ok(Status::Files);
        }
        for batch in items.chunks(MAX_URLS) {
            if !self.send_batch(site, batch, streams)? {
                return Ok(Status::Files);
            }
        }
        Ok(Status::Fine)
    }

    /// Sends one batch; returns whether the URLs were accepted.
    fn send_batch(&mut self, site: &Site, batch: &[Item], streams: &mut Streams<'_>) -> Result<bool, Failure> {
        let urls: Vec<&str> = batch.iter().map(|item| item.url.as_str()).collect();
        let host = &site.host;
        let pause = |pause: Duration| {
            streams.note(&format!("{host}: the server asks for a pause of {} s", grouped(pause.as_secs())));
        };
        let reply = match self.submitter.submit(site, &urls, pause) {
            Ok(reply) => reply,
            Err(error) => {
                print_error(
                    &format!("{host}: no answer about {}: {error}", counted(urls.len() as u64, "URL")),
                    RUN_AGAIN,
                    streams.notes,
                );
                return Ok(false);
            }
        };
        let (meaning, hint) = reply.meaning();
        let line = format!("{host}: {}: {} {meaning}", counted(urls.len() as u64, "URL"), reply.status);
        if !reply.is_accepted() {
            let text =
                if reply.text.is_empty() { String::new() } else { format!(" ({})", reply.text.replace('\n', " ")) };
            let wait = reply.retry_after.map_or_else(String::new, |pause| {
                format!("; the server wants a pause of {} s", grouped(pause.as_secs()))
            });
            print_error(&format!("{line}{text}{wait}"), hint, streams.notes);
            return Ok(false);
        }
        writeln!(streams.out, "{line}")?;
        self.accepted += urls.len() as u64;
        if let Some((path, state)) = &mut self.state {
            let marks = batch.iter().map(|item| item.mark);
            state.append(marks).map_err(|error| files::Error::system("write", path, error))?;
        }
        Ok(true)
    }
}
