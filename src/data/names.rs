//! Names of columns: common names of the URL column, and standard names for columns of known exports.

use std::collections::HashSet;

/// The `error` of a probed URL whose redirects form a loop. Probes write it, and the rule `site-redirect-loop` checks
/// for it.
pub(crate) const REDIRECT_LOOP: &str = "the redirects form a loop";

/// Names of the URL column in exports of common tools, in lower case, the more specific first.
pub(super) const URL_NAMES: [&str; 9] =
    ["loc", "url", "address", "page", "top pages", "landing page", "link", "original url", "page url"];

/// Names in exports and their standard names. Sources: Screaming Frog SEO Spider (export of internal URLs), Sitebulb
/// (URL explorer), Google Search Console (pages).
const STANDARD: [(&str, &str); 18] = [
    ("status code", "status"),
    ("http status code", "status"),
    ("http status", "status"),
    ("canonical link element 1", "canonical"),
    ("canonical url", "canonical"),
    ("last modified", "modified"),
    ("last-modified", "modified"),
    ("redirect url", "location"),
    ("redirect to", "location"),
    ("title 1", "title"),
    ("page title", "title"),
    ("content type", "type"),
    ("mime type", "type"),
    ("size (bytes)", "bytes"),
    ("meta robots 1", "robots"),
    ("x-robots-tag 1", "x_robots_tag"),
    ("click through rate", "ctr"),
    ("average position", "position"),
];

/// The names of the columns of a table in queries, from their headings. Only a column of a known export gets a standard
/// name: if `Status Code` is `status`, the text column `Status` becomes `status_text`.
pub(super) fn column_names<'h>(headings: impl Iterator<Item = &'h str> + Clone) -> Vec<String> {
    let standard = |heading: &str| {
        let heading = heading.trim().to_lowercase();
        STANDARD.iter().find(|(known, _)| *known == heading).map(|(_, name)| *name)
    };
    let taken: HashSet<&str> = headings.clone().filter_map(standard).collect();
    let name = |heading: &'h str| match column_name(heading) {
        own if standard(heading).is_none() && taken.contains(own.as_str()) => format!("{own}_text"),
        name => name,
    };
    headings.map(name).collect()
}

/// The name of a column in queries: a standard name for known exports, else the heading in lower case with `_` for
/// everything that is not a letter or digit.
pub(super) fn column_name(heading: &str) -> String {
    let heading = heading.trim().to_lowercase();
    if let Some((_, name)) = STANDARD.iter().find(|(known, _)| *known == heading) {
        return (*name).to_owned();
    }
    let mut name = String::new();
    for letter in heading.chars() {
        if letter.is_alphanumeric() {
            name.push(letter);
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    let end = name.trim_end_matches('_').len();
    name.truncate(end);
    if name.is_empty() { "column".to_owned() } else { name }
}
