//! Findings of the `Sitemap` lines of robots.txt, compared with the files of the set.

use crate::check::robots::RobotsTxt;
use crate::check::rule::Rule;
use crate::check::site::Site;
use crate::check::{Finding, FindingTarget};
use crate::document::Document;
use crate::document::index::{Child, ChildState, Index, leaf_children};
use crate::document::sitemap::file_name;
use crate::files::folder_url;
use crate::protocol::location;
use crate::protocol::robots::SitemapLine;
use crate::session::Session;
use crate::words::{counted, excerpt};
use std::collections::HashSet;

/// The maximum length of a URL in a message.
const MAX_URL_LEN: usize = 120;

/// How a `Sitemap` line names a file of the set: by its URL, or by its name if the URL is not known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum FileKey {
    /// The hash of the normalised URL.
    Url(u64),
    Name(String),
}

/// The name of a file in messages, and its key.
type NamedFile = (String, FileKey);

/// The files of a set, as `Sitemap` lines may name them.
#[derive(Debug, Default)]
struct Files {
    /// The volumes of the index that have a name.
    indexes: Vec<NamedFile>,
    /// Sitemaps and nested indexes, read or not.
    others: Vec<NamedFile>,
    has_index: bool,
}

/// Findings of the `Sitemap` lines, each with its URL.
pub(in crate::session) fn of_sitemap_lines(session: &Session) -> Vec<(String, Finding)> {
    let robots = session.view().checks.site().and_then(Site::robots);
    let Some(robots) = robots.filter(|_| !session.loading) else { return Vec::new() };
    let files = Files::of(session.document(), session.base_url());
    let unnamed = files.unnamed(robots);
    // One sitemap may be part of a set that was not opened, whose index is named.
    let may_be_part = !files.has_index && files.others.len() == 1 && !unnamed.is_empty();
    let known: HashSet<&FileKey> = files.indexes.iter().chain(&files.others).map(|(_, key)| key).collect();
    let is_other = |line: &&SitemapLine| !may_be_part && !keys(line).iter().any(|key| known.contains(key));
    let missing = unnamed.split_first().map(|(first, more)| {
        let more =
            if more.is_empty() { String::new() } else { format!(" and {}", counted(more.len() as u64, "other file")) };
        let message = format!(
            "no Sitemap: line of {} names {}{more}: crawlers find it only if it was submitted or an index lists it",
            name(robots),
            excerpt(first, MAX_URL_LEN)
        );
        (String::new(), Rule::ROBOTS_SITEMAP_MISSING, message)
    });
    let others = robots.sitemaps().iter().filter(is_other).map(|line| {
        let is_url = location::origin(&line.url).is_some();
        let reason =
            if is_url { "which is not in this set" } else { "which is not a complete URL: crawlers ignore it" };
        let message =
            format!("line {} of {} names {}, {reason}", line.line, name(robots), excerpt(&line.url, MAX_URL_LEN));
        (line.url.clone(), Rule::ROBOTS_SITEMAP_OTHER, message)
    });
    let profile = session.view().profile();
    let finding = |(url, rule, message): (String, Rule, String)| {
        Some((url, Finding::in_profile(rule, profile, || message)?.of(FindingTarget::Set)))
    };
    missing.into_iter().chain(others).filter_map(finding).collect()
}

/// The keys of the file that a line names; none if its value is not a complete URL.
fn keys(line: &SitemapLine) -> Vec<FileKey> {
    if location::origin(&line.url).is_none() {
        return Vec::new();
    }
    vec![FileKey::Url(location::key_hash(&line.url)), FileKey::Name(file_name(&line.url))]
}

fn name(robots: &RobotsTxt) -> String {
    excerpt(robots.name(), MAX_URL_LEN)
}

impl Files {
    fn of(document: &Document, base_url: Option<&str>) -> Self {
        let folder = base_url.and_then(folder_url);
        let by_url = |url: &str| (url.to_owned(), FileKey::Url(location::key_hash(url)));
        let by_name = |name: &str| match &folder {
            Some(folder) => by_url(&format!("{folder}{name}")),
            None => (name.to_owned(), FileKey::Name(file_name(name))),
        };
        let mut files = Self { has_index: document.index().is_some(), ..Self::default() };
        if let Some(index) = document.index() {
            // An index from standard input has no name of its own.
            let stored = index.files().filter(|file| file.path.is_some());
            files.indexes.extend(stored.map(|file| by_name(file.name)));
            files.others.extend(children(index).into_iter().map(|child| by_url(&child.loc)));
        }
        let stored = document.sitemaps().iter().filter(|sitemap| sitemap.path.is_some());
        files.others.extend(stored.map(|sitemap| match &sitemap.url {
            Some(url) => by_url(url),
            None => by_name(&sitemap.name),
        }));
        files
    }

    /// The files that robots.txt should name and does not: the index, unless every file that it lists is named.
    fn unnamed(&self, robots: &RobotsTxt) -> Vec<&str> {
        let named: HashSet<FileKey> = robots.sitemaps().iter().flat_map(keys).collect();
        let is_unnamed = |(_, key): &&NamedFile| !named.contains(key);
        if self.has_index && !self.others.iter().any(|file| is_unnamed(&file)) {
            return Vec::new();
        }
        let files = if self.has_index { &self.indexes } else { &self.others };
        files.iter().filter(is_unnamed).map(|(name, _)| name.as_str()).collect()
    }
}

/// The children of an index at any depth, including nested indexes.
fn children(index: &Index) -> Vec<&Child> {
    let inner = index.children.iter().filter(|child| matches!(child.state, ChildState::Nested(_)));
    inner.chain(leaf_children(&index.children)).collect()
}
