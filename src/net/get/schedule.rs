//! Schedules downloads: which files come next, and their file names.
//!
//! Invariant: no URL is asked for twice, no two URLs have one file, and the number of files is bounded.

use super::super::delivery::{Delivery, FILE_NAME, OTHER_HOST, TOO_LARGE};
use super::super::hosts::{Hosts, without_credentials};
use crate::files::stored_path;
use crate::words::{counted, grouped};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use url::Url;

/// Sitemaps that are downloaded with their indexes: as many as one index may list.
const MOST_FILES: usize = 50_000;
/// Findings, and hosts that are left out, that are named; more of them are counted.
const MOST_NAMED: usize = 1_000;
/// Indexes inside each other that are followed, as when they are opened.
const DEEPEST: usize = 8;

/// What all files have in common that one URL leads to.
#[derive(Debug)]
pub(super) struct Root {
    /// Its folder, below that of the download.
    folder: PathBuf,
    /// The URL of that folder.
    base: String,
}

/// A file to download.
#[derive(Debug)]
pub(super) struct Wanted {
    /// In the order of the indexes.
    pub(super) number: usize,
    pub(super) url: Url,
    /// Its path below the folder of the download.
    pub(super) name: PathBuf,
    pub(super) root: Arc<Root>,
    /// How many indexes it is in, with itself.
    pub(super) level: usize,
}

/// The files to download.
pub(super) struct Schedule<'h> {
    hosts: &'h Hosts,
    /// Whether the file system takes `A` and `a` for one name.
    ignores_case: bool,
    pub(super) pending: VecDeque<Wanted>,
    /// The URL of each name, in lower case where case is ignored.
    taken: HashMap<PathBuf, Url>,
    /// What is listed on hosts that were not allowed: how often, by which index, and the first URL.
    others: BTreeMap<String, (u64, String, String)>,
    /// With the number of the file that each is about.
    pub(super) findings: Vec<(usize, Delivery)>,
    /// How many more findings there are.
    unnamed: u64,
    count: usize,
    origins: BTreeSet<String>,
    /// Those of the entries.
    roots: Vec<Arc<Root>>,
}

impl<'h> Schedule<'h> {
    pub(super) fn new(hosts: &'h Hosts, ignores_case: bool) -> Self {
        Self {
            hosts,
            ignores_case,
            pending: VecDeque::new(),
            taken: HashMap::new(),
            others: BTreeMap::new(),
            findings: Vec::new(),
            unnamed: 0,
            count: 0,
            origins: BTreeSet::new(),
            roots: Vec::new(),
        }
    }

    /// How many files there are so far.
    pub(super) const fn len(&self) -> usize {
        self.count
    }

    /// Adds a URL that the user has named, or a robots.txt.
    pub(super) fn add_entry(&mut self, url: &Url, robots: Option<&Url>) {
        if !self.hosts.contains(url) {
            self.count_excluded(url, robots.unwrap_or(url));
            return;
        }
        if self.count >= MOST_FILES {
            return;
        }
        let Some(name) = stored_path(url.as_str(), None) else {
            self.find(Delivery::error(FILE_NAME, url.as_str(), "no plain file name can be made from this URL"));
            return;
        };
        let base = url.join(".").map_or_else(|_| url.to_string(), String::from);
        let base = base.split(['?', '#']).next().unwrap_or_default().to_owned();
        let folder = name.parent().unwrap_or(Path::new("")).to_path_buf();
        self.add(url.clone(), name, Arc::new(Root { folder, base }), 1);
    }

    /// Adds what an index lists. `last` is the URL that it came from in the end.
    pub(super) fn add_children(&mut self, index: &Wanted, last: &Url, locs: &[Arc<str>]) {
        if index.level >= DEEPEST && !locs.is_empty() {
            let message =
                format!("nested indexes are followed {DEEPEST} levels deep; the sitemaps of this one were not fetched");
            self.find(Delivery::error(TOO_LARGE, index.url.as_str(), message));
            return;
        }
        for (at, loc) in locs.iter().enumerate() {
            if self.count >= MOST_FILES {
                let (most, rest) = (grouped(MOST_FILES as u64), counted((locs.len() - at) as u64, "entry"));
                let rest = rest.replace("entrys", "entries");
                let message = format!("more than {most} sitemaps are listed; {rest} of this index were not fetched");
                self.find(Delivery::error(TOO_LARGE, index.url.as_str(), message));
                return;
            }
            self.add_child(index, last, loc);
        }
    }

    fn add_child(&mut self, index: &Wanted, last: &Url, loc: &str) {
        if loc.is_empty() {
            return;
        }
        let Some(url) = last.join(loc).ok().and_then(without_credentials) else {
            let message = format!("an entry is not the URL of a file: {loc}");
            self.find(Delivery::error(FILE_NAME, index.url.as_str(), message));
            return;
        };
        if !self.hosts.contains(&url) {
            self.count_excluded(&url, &index.url);
            return;
        }
        // As the index is read later: by the text of its entry.
        let name = stored_path(loc, Some(&index.root.base)).or_else(|| stored_path(loc, None));
        let Some(name) = name else {
            let message = "no plain file name can be made from this URL below the folder; nothing was fetched";
            self.find(Delivery::error(FILE_NAME, url.as_str(), message));
            return;
        };
        self.add(url, index.root.folder.join(name), Arc::clone(&index.root), index.level + 1);
    }

    fn add(&mut self, url: Url, name: PathBuf, root: Arc<Root>, level: usize) {
        let key = if self.ignores_case { PathBuf::from(name.to_string_lossy().to_lowercase()) } else { name.clone() };
        if let Some(other) = self.taken.get(&key) {
            if *other != url {
                let message = format!("its file would be {}, which is the one of {other}", name.display());
                self.find(Delivery::error(FILE_NAME, url.as_str(), message));
            }
            return;
        }
        self.origins.insert(url.origin().ascii_serialization());
        if level == 1 {
            self.roots.push(Arc::clone(&root));
        }
        self.taken.insert(key, url.clone());
        self.pending.push_back(Wanted { number: self.count, url, name, root, level });
        self.count += 1;
    }

    /// Counts a URL of a host that was not allowed.
    fn count_excluded(&mut self, url: &Url, named_by: &Url) {
        let host = url.host_str().unwrap_or_default();
        let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        if self.others.len() >= MOST_NAMED && !self.others.contains_key(&host) {
            self.unnamed += 1;
            return;
        }
        let other = self.others.entry(host).or_insert_with(|| (0, named_by.to_string(), url.to_string()));
        other.0 += 1;
    }

    fn find(&mut self, finding: Delivery) {
        if self.findings.len() >= MOST_NAMED {
            self.unnamed += 1;
        } else {
            self.findings.push((self.count, finding));
        }
    }

    /// The URL of the folder of the only entry, where all files are of one site.
    pub(super) fn base_url(&self) -> Option<String> {
        let [root] = self.roots.as_slice() else { return None };
        (self.origins.len() == 1).then(|| root.base.clone())
    }

    /// The findings in the order of the files.
    pub(super) fn into_findings(mut self) -> Vec<Delivery> {
        self.findings.sort_by_key(|(number, _)| *number);
        let mut findings: Vec<Delivery> = self.findings.into_iter().map(|(_, finding)| finding).collect();
        for (host, (count, index, first)) in self.others {
            let (what, verb) = (counted(count, "sitemap"), if count == 1 { "is" } else { "are" });
            let message = format!(
                "{what} on another host {verb} not fetched, the first one {first}; --allow-host {host} allows it"
            );
            findings.push(Delivery::error(OTHER_HOST, &index, message));
        }
        if self.unnamed > 0 {
            let url = self.roots.first().map_or("", |root| &root.base);
            let message = format!("{} of these indexes were not fetched either", counted(self.unnamed, "more entry"));
            findings.push(Delivery::error(FILE_NAME, url, message.replace("entrys", "entries")));
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::hosts::{HostRule, requestable};
    use super::*;

    fn hosts() -> Hosts {
        Hosts::of(None, &[HostRule::parse("e.com").unwrap()])
    }

    /// The names under which the locs of an index are stored, and the codes of findings.
    fn schedule(index: &str, locs: &[&str], ignores_case: bool) -> (Vec<String>, Vec<&'static str>) {
        let hosts = hosts();
        let mut schedule = Schedule::new(&hosts, ignores_case);
        schedule.add_entry(&requestable(index).unwrap(), None);
        let index = schedule.pending.pop_front().unwrap();
        let locs: Vec<Arc<str>> = locs.iter().map(|loc| Arc::from(*loc)).collect();
        schedule.add_children(&index, &index.url, &locs);
        let names = schedule.pending.iter().map(|wanted| wanted.name.to_string_lossy().into_owned()).collect();
        (names, schedule.into_findings().iter().map(|finding| finding.code).collect())
    }

    #[test]
    fn names_mirror_the_paths_of_the_urls() {
        let locs = ["https://e.com/maps/a.xml", "https://e.com/maps/b/c.xml.gz", "http://e.com/d.xml", "e.xml", ""];
        let (names, findings) = schedule("https://e.com/maps/index.xml", &locs, false);
        assert_eq!(names, ["maps/a.xml", "maps/b/c.xml.gz", "maps/d.xml", "maps/e.xml"]);
        assert!(findings.is_empty(), "{findings:?}");
    }

    #[test]
    fn no_name_leaves_the_folder_or_is_used_twice() {
        let locs = [
            "https://e.com/../../etc/passwd",
            "https://e.com/%2e%2e/%2e%2e/etc/passwd",
            "https://e.com/..%2f..%2fetc/passwd",
            "https://e.com/..%5c..%5cwindows",
            "https://e.com/a%00.xml",
            "https://e.com/",
            "https://e.com/a.xml",
            "https://e.com/a.xml",
            "http://e.com/a.xml",
            "https://e.com/A.xml",
            "https://cdn.e.com/a.xml",
            "file:///etc/passwd",
            "/etc/passwd",
        ];
        let (names, findings) = schedule("https://e.com/index.xml", &locs, false);
        assert_eq!(names, ["a.xml", "A.xml", "etc/passwd"]);
        assert_eq!(findings.iter().filter(|code| **code == FILE_NAME).count(), 8, "{findings:?}");
        assert_eq!(findings.last(), Some(&OTHER_HOST));
        let (names, _) = schedule("https://e.com/index.xml", &locs, true);
        assert_eq!(names, ["a.xml", "etc/passwd"]);
        let hidden = ["https://e.com/.git/config", "https://e.com/.sited-get.jsonl", "https://e.com/con.xml"];
        let (names, findings) = schedule("https://e.com/index.xml", &hidden, false);
        assert!(names.iter().all(|name| !name.starts_with('.') && name.contains('~')), "{names:?}");
        assert_eq!((names.len(), findings.len()), (3, 0));
    }

    #[test]
    fn the_number_of_findings_is_bounded() {
        let locs: Vec<String> = (0..5_000).map(|number| format!("https://h{number}.com/{number}.xml")).collect();
        let wrong: Vec<String> = (0..5_000).map(|number| format!("https://e.com/../{number}.xml")).collect();
        let locs: Vec<&str> = locs.iter().chain(&wrong).map(String::as_str).collect();
        let (names, findings) = schedule("https://e.com/index.xml", &locs, false);
        assert_eq!((names.len(), findings.len()), (0, 2 * MOST_NAMED + 1));
    }

    #[test]
    fn the_number_of_files_and_of_levels_is_bounded() {
        let locs: Vec<String> = (0..MOST_FILES + 5).map(|number| format!("https://e.com/{number}.xml")).collect();
        let locs: Vec<&str> = locs.iter().map(String::as_str).collect();
        let (names, findings) = schedule("https://e.com/index.xml", &locs, false);
        assert_eq!((names.len(), findings), (MOST_FILES - 1, vec![TOO_LARGE]));
        let hosts = hosts();
        let mut schedule = Schedule::new(&hosts, false);
        schedule.add_entry(&requestable("https://e.com/0.xml").unwrap(), None);
        let mut levels = 0;
        while let Some(index) = schedule.pending.pop_front() {
            levels += 1;
            schedule.add_children(&index, &index.url, &[format!("https://e.com/{levels}.xml").into()]);
        }
        assert_eq!((levels, schedule.findings.len()), (DEEPEST, 1));
    }
}
