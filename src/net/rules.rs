//! Fetches the robots.txt of a site.

use super::client::header;
use super::hosts::{Hosts, without_credentials};
use super::polite::PacedClient;
use crate::protocol::robots::{AgentRules, MAX_BYTES, Robots};
use flate2::read::MultiGzDecoder;
use std::io::Read;
use ureq::http::Method;
use url::Url;

/// Maximum number of redirects of a robots.txt that are followed (RFC 9309, section 2.3.1.2: at least five).
const MAX_REDIRECTS: usize = 5;

/// Fetches the rules for a crawler. A robots.txt that does not exist allows everything. One that cannot be fetched
/// forbids everything (RFC 9309, section 2.3.1.4), which is returned as an error. `None` if the host is skipped or the
/// run was stopped, before the rules are known.
pub(super) fn fetch(
    paced: &PacedClient<'_>,
    hosts: &Hosts,
    site: &Url,
    agent: &str,
) -> Option<Result<AgentRules, String>> {
    let client = paced.client;
    let mut url = site.clone();
    url.set_path("/robots.txt");
    url.set_query(None);
    for _ in 0..=MAX_REDIRECTS {
        let _permit = paced.pace.acquire(paced.is_stopped)?;
        let forbids =
            |why: &str| Some(Err(format!("{url}: {why}; a robots.txt that cannot be fetched forbids everything")));
        let mut answer = match client.send(Method::GET, &url) {
            Ok(answer) => answer,
            Err(error) => return forbids(&error.to_string()),
        };
        match answer.status {
            200..=299 => {
                let mut bytes = Vec::new();
                let is_gzip = header(&answer.headers, "content-encoding").is_some_and(|coding| coding.contains("gzip"));
                let read = if is_gzip {
                    MultiGzDecoder::new(&mut answer.body).take(MAX_BYTES as u64).read_to_end(&mut bytes)
                } else {
                    answer.body.by_ref().take(MAX_BYTES as u64).read_to_end(&mut bytes)
                };
                return match read {
                    Ok(_) => Some(Ok(Robots::parse(&bytes).rules_for(agent))),
                    Err(error) => forbids(&client.body_error(&error).to_string()),
                };
            }
            301 | 302 | 303 | 307 | 308 => {
                let location = header(&answer.headers, "location");
                let target = location.and_then(|location| url.join(&location).ok()).and_then(without_credentials);
                match target.filter(|target| hosts.contains(target)) {
                    Some(target) => url = target,
                    None => break,
                }
            }
            429 | 500.. => return forbids(&format!("status {}", answer.status)),
            _ => break,
        }
    }
    Some(Ok(AgentRules::default()))
}
