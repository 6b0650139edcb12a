//! The queue of files to download, with their local paths.
//!
//! Invariant: no URL is requested twice, no two URLs have the same path, and the number of files is limited.

use super::super::delivery::{Delivery, FILE_NAME, OTHER_HOST, TOO_LARGE};
use super::super::hosts::{Hosts, without_credentials};
use crate::files::stored_path;
use crate::words::{counted, grouped};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use url::Url;

/// Maximum number of sitemaps and indexes: as many as one index may list.
const MAX_FILES: usize = 50_000;
/// Maximum number of findings, and of excluded hosts, that are reported one by one; the others are counted.
const MAX_REPORTED: usize = 1_000;
/// Maximum depth of nested indexes, the same as when they are opened.
const MAX_DEPTH: usize = 8;

/// The folder of a named sitemap, to which the paths of the sitemaps that it lists are relative.
#[derive(Debug)]
pub(super) struct Root {
    /// The path relative to the download folder.
    folder: PathBuf,
    /// The URL of the folder.
    base: String,
}

/// A file to download.
#[derive(Debug)]
pub(super) struct QueuedFile {
    /// The number in the order of the indexes.
    pub(super) number: usize,
    pub(super) url: Url,
    /// The path relative to the download folder.
    pub(super) name: PathBuf,
    pub(super) root: Arc<Root>,
    /// The depth: 1 for a named sitemap, 2 for those that it lists.
    pub(super) level: usize,
}

/// The files to download.
pub(super) struct Schedule<'h> {
    hosts: &'h Hosts,
    /// Whether file names on the file system are case-insensitive.
    ignores_case: bool,
    pub(super) pending: VecDeque<QueuedFile>,
    /// The URL of each used path; paths are in lower case if case is ignored.
    used_paths: HashMap<PathBuf, Url>,
    /// By host that is not allowed: the number of listed URLs, the index that lists the first one, and the first one.
    excluded_hosts: BTreeMap<String, (u64, String, String)>,
    /// Findings with the numbers of their files.
    pub(super) findings: Vec<(usize, Delivery)>,
    /// The number of further findings.
    unreported: u64,
    /// The number of named sitemaps beyond [`MAX_FILES`].
    beyond_limit: u64,
    count: usize,
    origins: BTreeSet<String>,
    /// The folders of the named sitemaps.
    roots: Vec<Arc<Root>>,
}

impl<'h> Schedule<'h> {
    pub(super) fn new(hosts: &'h Hosts, ignores_case: bool) -> Self {
        Self {
            hosts,
            ignores_case,
            pending: VecDeque::new(),
            used_paths: HashMap::new(),
            excluded_hosts: BTreeMap::new(),
            findings: Vec::new(),
            unreported: 0,
            beyond_limit: 0,
            count: 0,
            origins: BTreeSet::new(),
            roots: Vec::new(),
        }
    }

    /// The number of files so far.
    pub(super) const fn len(&self) -> usize {
        self.count
    }

    /// Adds a URL that the user or a robots.txt names.
    pub(super) fn add_entry(&mut self, url: &Url, robots: Option<&Url>) {
        if !self.hosts.contains(url) {
            self.count_excluded(url, robots.unwrap_or(url));
            return;
        }
        if self.count >= MAX_FILES {
            self.beyond_limit += 1;
            return;
        }
        let Some(name) = stored_path(url.as_str(), None) else {
            self.report(Delivery::error(FILE_NAME, url.as_str(), "no plain file name can be made from this URL"));
            return;
        };
        let base = url.join(".").map_or_else(|_| url.to_string(), String::from);
        let base = base.split(['?', '#']).next().unwrap_or_default().to_owned();
        let folder = name.parent().unwrap_or(Path::new("")).to_path_buf();
        self.add(url.clone(), name, Arc::new(Root { folder, base }), 1);
    }

    /// Adds the URLs that an index lists. `last` is the URL of the index after all redirects.
    pub(super) fn add_children(&mut self, index: &QueuedFile, final_url: &Url, locs: &[Arc<str>]) {
        if index.level >= MAX_DEPTH && !locs.is_empty() {
            let message = format!(
                "nested indexes are followed {MAX_DEPTH} levels deep; the sitemaps of this one were not fetched"
            );
            self.report(Delivery::error(TOO_LARGE, index.url.as_str(), message));
            return;
        }
        for (at, loc) in locs.iter().enumerate() {
            if self.count >= MAX_FILES {
                let (most, rest) = (grouped(MAX_FILES as u64), counted((locs.len() - at) as u64, "entry"));
                let rest = rest.replace("entrys", "entries");
                let message = format!("more than {most} sitemaps are listed; {rest} of this index were not fetched");
                self.report(Delivery::error(TOO_LARGE, index.url.as_str(), message));
                return;
            }
            self.add_child(index, final_url, loc);
        }
    }

    fn add_child(&mut self, index: &QueuedFile, final_url: &Url, loc: &str) {
        if loc.is_empty() {
            return;
        }
        let Some(url) = final_url.join(loc).ok().and_then(without_credentials) else {
            let message = format!("an entry is not the URL of a file: {loc}");
            self.report(Delivery::error(FILE_NAME, index.url.as_str(), message));
            return;
        };
        if !self.hosts.contains(&url) {
            self.count_excluded(&url, &index.url);
            return;
        }
        // The path by which the entry is found when the index is opened.
        let name = stored_path(loc, Some(&index.root.base)).or_else(|| stored_path(loc, None));
        let Some(name) = name else {
            let message = "no plain file name can be made from this URL below the folder; nothing was fetched";
            self.report(Delivery::error(FILE_NAME, url.as_str(), message));
            return;
        };
        self.add(url, index.root.folder.join(name), Arc::clone(&index.root), index.level + 1);
    }

    fn add(&mut self, url: Url, name: PathBuf, root: Arc<Root>, level: usize) {
        let key = if self.ignores_case { PathBuf::from(name.to_string_lossy().to_lowercase()) } else { name.clone() };
        if let Some(other) = self.used_paths.get(&key) {
            if *other != url {
                let message = format!("its file would be {}, which is the one of {other}", name.display());
                self.report(Delivery::error(FILE_NAME, url.as_str(), message));
            }
            return;
        }
        self.origins.insert(url.origin().ascii_serialization());
        if level == 1 {
            self.roots.push(Arc::clone(&root));
        }
        self.used_paths.insert(key, url.clone());
        self.pending.push_back(QueuedFile { number: self.count, url, name, root, level });
        self.count += 1;
    }

    /// Counts a URL on a host that is not allowed.
    fn count_excluded(&mut self, url: &Url, named_by: &Url) {
        let host = url.host_str().unwrap_or_default();
        let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        if self.excluded_hosts.len() >= MAX_REPORTED && !self.excluded_hosts.contains_key(&host) {
            self.unreported += 1;
            return;
        }
        let other = self.excluded_hosts.entry(host).or_insert_with(|| (0, named_by.to_string(), url.to_string()));
        other.0 += 1;
    }

    fn report(&mut self, finding: Delivery) {
        if self.findings.len() >= MAX_REPORTED {
            self.unreported += 1;
        } else {
            self.findings.push((self.count, finding));
        }
    }

    /// The URL of the folder of the named sitemap, if only one is named and all files are on one site.
    pub(super) fn base_url(&self) -> Option<String> {
        let [root] = self.roots.as_slice() else { return None };
        (self.origins.len() == 1).then(|| root.base.clone())
    }

    /// The findings in the order of the files.
    pub(super) fn into_findings(mut self) -> Vec<Delivery> {
        self.findings.sort_by_key(|(number, _)| *number);
        let mut findings: Vec<Delivery> = self.findings.into_iter().map(|(_, finding)| finding).collect();
        for (host, (count, index, first)) in self.excluded_hosts {
            let (what, verb) = (counted(count, "sitemap"), if count == 1 { "is" } else { "are" });
            let message = format!(
                "{what} on another host {verb} not fetched, the first one {first}; --allow-host {host} allows it"
            );
            findings.push(Delivery::error(OTHER_HOST, &index, message));
        }
        if self.beyond_limit > 0 {
            let url = self.roots.first().map_or("", |root| &root.base);
            let (limit, rest) = (grouped(MAX_FILES as u64), counted(self.beyond_limit, "sitemap"));
            let message = format!("robots.txt names more than {limit} sitemaps; {rest} were not fetched");
            findings.push(Delivery::error(TOO_LARGE, url, message));
        }
        if self.unreported > 0 {
            let url = self.roots.first().map_or("", |root| &root.base);
            let message =
                format!("{} of these indexes were not fetched either", counted(self.unreported, "more entry"));
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

    /// The paths under which the URLs of an index are stored, and the codes of findings.
    fn schedule(index: &str, locs: &[&str], ignores_case: bool) -> (Vec<String>, Vec<&'static str>) {
        let hosts = hosts();
        let mut schedule = Schedule::new(&hosts, ignores_case);
        schedule.add_entry(&requestable(index).unwrap(), None);
        let index = schedule.pending.pop_front().unwrap();
        let locs: Vec<Arc<str>> = locs.iter().map(|loc| Arc::from(*loc)).collect();
        schedule.add_children(&index, &index.url, &locs);
        let names = schedule.pending.iter().map(|file| file.name.to_string_lossy().into_owned()).collect();
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
        assert_eq!((names.len(), findings.len()), (0, 2 * MAX_REPORTED + 1));
    }

    #[test]
    fn the_number_of_files_and_of_levels_is_bounded() {
        let locs: Vec<String> = (0..MAX_FILES + 5).map(|number| format!("https://e.com/{number}.xml")).collect();
        let locs: Vec<&str> = locs.iter().map(String::as_str).collect();
        let (names, findings) = schedule("https://e.com/index.xml", &locs, false);
        assert_eq!((names.len(), findings), (MAX_FILES - 1, vec![TOO_LARGE]));
        let hosts = hosts();
        let mut schedule = Schedule::new(&hosts, false);
        schedule.add_entry(&requestable("https://e.com/0.xml").unwrap(), None);
        let mut levels = 0;
        while let Some(index) = schedule.pending.pop_front() {
            levels += 1;
            schedule.add_children(&index, &index.url, &[format!("https://e.com/{levels}.xml").into()]);
        }
        assert_eq!((levels, schedule.findings.len()), (MAX_DEPTH, 1));
    }

    #[test]
    fn named_sitemaps_beyond_the_limit_are_counted_in_a_finding() {
        let (hosts, robots) = (hosts(), requestable("https://e.com/robots.txt").unwrap());
        let mut schedule = Schedule::new(&hosts, false);
        for number in 0..MAX_FILES + 5 {
            schedule.add_entry(&requestable(&format!("https://e.com/{number}.xml")).unwrap(), Some(&robots));
        }
        assert_eq!(schedule.pending.len(), MAX_FILES);
        let findings = schedule.into_findings();
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!(findings[0].code, TOO_LARGE);
        assert_eq!(findings[0].message, "robots.txt names more than 50,000 sitemaps; 5 sitemaps were not fetched");
    }
}
