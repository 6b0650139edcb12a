//! The distinct URLs of a probe, stored in a temporary file. Only a hash of each is held in memory.

use super::hosts::{HostRule, Hosts, requestable};
use super::results::SeenUrls;
use crate::protocol::location::section;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use url::Url;

/// Maximum number of sections that a sample distinguishes; the URLs of all others count as one section.
const MAX_SECTIONS: usize = 10_000;

/// The URLs in their order, without duplicates and those requested by an earlier run.
pub(crate) struct Targets {
    spool: BufWriter<File>,
    seen: SeenUrls,
    /// The hosts by name, with their ports.
    hosts: BTreeMap<String, Site>,
    /// Number of URLs that cannot be requested. They are included, so that each is reported.
    invalid: u64,
}

/// The URLs of one host.
struct Site {
    first: Url,
    /// Number of all URLs. The site of the set is determined from it, so that it does not depend on earlier results.
    rows: u64,
    /// Number of URLs to request.
    count: u64,
}

impl Targets {
    /// Creates an empty list, to which the URLs in `seen` will not be added.
    ///
    /// # Errors
    ///
    /// A temporary file cannot be created.
    pub(crate) fn new(seen: SeenUrls) -> io::Result<Self> {
        let spool = BufWriter::with_capacity(1 << 16, tempfile::tempfile()?);
        Ok(Self { spool, seen, hosts: BTreeMap::new(), invalid: 0 })
    }

    /// Adds a URL, unless it was added or requested before.
    pub(crate) fn add(&mut self, url: &str) -> io::Result<()> {
        if url.is_empty() {
            return Ok(());
        }
        let is_new = self.seen.insert(url);
        match requestable(url).and_then(|url| Some((HostRule::of_url(&url)?.to_string(), url))) {
            Some((name, url)) => {
                let site = self.hosts.entry(name).or_insert(Site { first: url, rows: 0, count: 0 });
                site.rows += 1;
                site.count += u64::from(is_new);
            }
            None => self.invalid += u64::from(is_new),
        }
        if !is_new {
            return Ok(());
        }
        let length = (url.len() as u32).to_le_bytes();
        let spool = &mut self.spool;
        spool.write_all(&length).and_then(|()| spool.write_all(url.as_bytes()))
    }

    /// A URL of the site of the set: the base URL, else one on the most frequent host.
    pub(crate) fn site_url(&self, base_url: Option<&str>) -> Option<Url> {
        let most = || Some(self.hosts.values().max_by_key(|site| site.rows)?.first.clone());
        base_url.and_then(requestable).or_else(most)
    }

    /// One URL of each host.
    pub(crate) fn sites(&self) -> impl Iterator<Item = &Url> {
        self.hosts.values().map(|site| &site.first)
    }

    /// Hosts to which no request goes, with the number of their URLs.
    pub(crate) fn excluded_hosts<'t>(&'t self, hosts: &'t Hosts) -> impl Iterator<Item = (&'t str, u64)> {
        let excluded_hosts = self.hosts.iter().filter(|(_, site)| site.count > 0 && !hosts.contains(&site.first));
        excluded_hosts.map(|(name, site)| (name.as_str(), site.count))
    }

    /// The URLs to request, or a sample of them.
    pub(crate) fn urls(self, hosts: &Hosts, sample: Option<u64>) -> io::Result<Urls> {
        let asked = self.hosts.values().filter(|site| hosts.contains(&site.first)).map(|site| site.count).sum::<u64>();
        let file = self.spool.into_inner().map_err(io::IntoInnerError::into_error)?;
        let all = asked + self.invalid;
        let mut urls = Urls { spool: rewound(file)?, hosts: hosts.clone(), sample: None, count: all };
        if let Some(wanted) = sample.filter(|wanted| *wanted < asked) {
            let mut sections = Sections::default();
            for url in urls.by_ref() {
                let url = url?;
                if is_on_host(&url, hosts) {
                    *sections.count(&url) += 1;
                }
            }
            urls.spool = rewound(urls.spool.into_inner())?;
            (urls.sample, urls.count) = (Some(Sample::new(sections, wanted)), wanted);
        }
        Ok(urls)
    }
}

fn rewound(mut file: File) -> io::Result<BufReader<File>> {
    file.seek(SeekFrom::Start(0))?;
    Ok(BufReader::with_capacity(1 << 16, file))
}

fn is_on_host(url: &str, hosts: &Hosts) -> bool {
    requestable(url).is_some_and(|url| hosts.contains(&url))
}

/// The number of URLs in each section.
#[derive(Default)]
struct Sections(HashMap<String, u64>);

impl Sections {
    fn count(&mut self, url: &str) -> &mut u64 {
        let section = section(url);
        let is_known = self.0.len() < MAX_SECTIONS || self.0.contains_key(section);
        self.0.entry(if is_known { section.to_owned() } else { String::new() }).or_default()
    }
}

/// A sample with a proportional share of each section, spread evenly over its URLs.
struct Sample {
    /// By section: the number of URLs in the sample, of all URLs, and of URLs visited so far.
    shares: HashMap<String, (u64, u64, u64)>,
}

impl Sample {
    fn new(sections: Sections, wanted: u64) -> Self {
        let total: u64 = sections.0.values().sum();
        let mut sections: Vec<_> = sections.0.into_iter().collect();
        sections.sort();
        // Rounding the running sum makes the shares add up to the size of the sample.
        let (mut before, mut assigned) = (0, 0);
        let share = |(section, count): (String, u64)| {
            before += count;
            let cumulative = (u128::from(before) * u128::from(wanted) / u128::from(total.max(1))) as u64;
            let share = cumulative - assigned;
            assigned = cumulative;
            (section, (share, count, 0))
        };
        Self { shares: sections.into_iter().map(share).collect() }
    }

    fn takes(&mut self, url: &str) -> bool {
        let section = section(url);
        let section = if self.shares.contains_key(section) { section } else { "" };
        let Some((share, count, visited)) = self.shares.get_mut(section) else { return false };
        let cumulative = |visited: u64| u128::from(visited) * u128::from(*share) / u128::from(*count);
        *visited += 1;
        cumulative(*visited) > cumulative(*visited - 1)
    }
}

/// An iterator over the URLs to request, read from the temporary file.
pub(crate) struct Urls {
    spool: BufReader<File>,
    hosts: Hosts,
    sample: Option<Sample>,
    count: u64,
}

impl Urls {
    /// The number of URLs that will be requested.
    pub(crate) const fn expected(&self) -> u64 {
        self.count
    }

    fn read(&mut self) -> io::Result<Option<String>> {
        let mut length = [0; 4];
        match self.spool.read_exact(&mut length) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let mut url = vec![0; u32::from_le_bytes(length) as usize];
        self.spool.read_exact(&mut url)?;
        String::from_utf8(url).map(Some).map_err(io::Error::other)
    }
}

impl Iterator for Urls {
    type Item = io::Result<String>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let url = match self.read().transpose()? {
                Ok(url) => url,
                Err(error) => return Some(Err(error)),
            };
            let is_taken = match &mut self.sample {
                None => true,
                Some(sample) => is_on_host(&url, &self.hosts) && sample.takes(&url),
            };
            if is_taken {
                return Some(Ok(url));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(urls: impl IntoIterator<Item = String>) -> Targets {
        let mut targets = Targets::new(SeenUrls::default()).unwrap();
        urls.into_iter().for_each(|url| targets.add(&url).unwrap());
        targets
    }

    #[test]
    fn urls_are_unique_and_the_most_frequent_host_is_requested() {
        let urls = ["https://e.com/a", "https://e.com/b", "https://e.com/a", "http://other.org/", "nonsense", ""];
        let own = |base| Hosts::of(targets(urls.map(str::to_owned)).site_url(base).as_ref(), &[]);
        let hosts = own(None);
        let other = own(Some("http://other.org/x/"));
        let contains = |hosts: &Hosts, url: &str| is_on_host(url, hosts);
        assert!(contains(&hosts, "http://e.com/z") && !contains(&hosts, "http://other.org/"));
        assert!(contains(&other, "http://other.org/") && !contains(&other, "https://e.com/a"));
        let targets = targets(urls.map(str::to_owned));
        assert_eq!(targets.excluded_hosts(&hosts).collect::<Vec<_>>(), [("other.org", 1)]);
        let urls = targets.urls(&hosts, None).unwrap();
        assert_eq!(urls.expected(), 3);
        let urls: Vec<_> = urls.map(Result::unwrap).collect();
        assert_eq!(urls, ["https://e.com/a", "https://e.com/b", "http://other.org/", "nonsense"]);
    }

    #[test]
    fn the_host_of_a_set_does_not_depend_on_seen_urls() {
        let mut seen = SeenUrls::default();
        assert!(seen.insert("https://e.com/a") && seen.insert("https://e.com/b"));
        let mut targets = Targets::new(seen).unwrap();
        for url in ["https://e.com/a", "https://e.com/b", "http://other.org/"] {
            targets.add(url).unwrap();
        }
        let hosts = Hosts::of(targets.site_url(None).as_ref(), &[]);
        assert!(is_on_host("https://e.com/c", &hosts) && !is_on_host("http://other.org/", &hosts));
        assert_eq!(targets.urls(&hosts, None).unwrap().expected(), 0);
    }

    #[test]
    fn a_sample_has_its_share_of_each_section() {
        let all = || {
            let section =
                |(name, count): (&'static str, u32)| (0..count).map(move |n| format!("https://e.com/{name}/{n}"));
            [("blog", 600), ("shop", 300), ("help", 100)].into_iter().flat_map(section)
        };
        for wanted in [1, 10, 100, 999, 1_000, 5_000] {
            let targets = targets(all());
            let hosts = Hosts::of(targets.site_url(None).as_ref(), &[]);
            let urls = targets.urls(&hosts, Some(wanted)).unwrap();
            let count = urls.expected();
            let urls: Vec<_> = urls.map(Result::unwrap).collect();
            assert_eq!(urls.len() as u64, wanted.min(1_000));
            assert_eq!(urls.len() as u64, count);
            let of = |name: &str| urls.iter().filter(|url| url.contains(name)).count();
            if wanted == 100 {
                assert_eq!([of("/blog/"), of("/shop/"), of("/help/")], [60, 30, 10]);
            }
        }
    }
}
