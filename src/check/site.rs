//! Rules about the page behind a URL, from data columns and robots.txt.
//!
//! Columns are recognised by the names that `sited probe` writes, also in tables of other programs. A URL without a
//! data row violates only [`Rule::SITE_NOT_CHECKED`] and the rules about robots.txt.

use super::robots::{Block, ROBOTS_RULES, RobotsTxt};
use super::rule::{Rule, RuleSet};
use crate::data::{DataRow, DataSet, REDIRECT_LOOP, Value};
use crate::document::query::compare_with_lastmod;
use crate::protocol::lastmod;
use crate::protocol::location::{self, Fault, Faults, UrlPrefix};
use crate::words::excerpt_of_value as visible;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Every rule that [`Site::rules`] can report.
pub(super) const SITE_RULES: RuleSet = RuleSet::of(&[
    Rule::SITE_NOT_FOUND,
    Rule::SITE_CLIENT_ERROR,
    Rule::SITE_SERVER_ERROR,
    Rule::SITE_REDIRECT,
    Rule::SITE_REDIRECT_LOOP,
    Rule::SITE_NOINDEX,
    Rule::SITE_CANONICAL_ELSEWHERE,
    Rule::SITE_BLOCKED_BY_ROBOTS,
    Rule::SITE_UNREACHABLE,
    Rule::SITE_REDIRECT_CHAIN,
    Rule::SITE_NOT_A_PAGE,
    Rule::SITE_SOFT_404,
    Rule::SITE_SLOW,
    Rule::SITE_NOT_CHECKED,
])
.union(ROBOTS_RULES);

/// Rules that compare the answer of the site with more of the entry than its URL.
pub(super) const ENTRY_SITE_RULES: RuleSet =
    RuleSet::of(&[Rule::SITE_LASTMOD_OLDER, Rule::SITE_LASTMOD_NEWER, Rule::SITE_HREFLANG_DIFFERS]);

/// Columns that some rule reads.
const COLUMNS: [&str; 8] = ["status", "canonical", "robots", "blocked", "error", "modified", "hreflang", "ms"];

/// Milliseconds from which an answer is slow. Google reads fewer pages of a site that answers slowly ("Large site
/// owner's guide to managing your crawl budget"); `PageSpeed` Insights calls 1.8 s to the first byte poor.
const SLOW: f64 = 1_800.0;

/// Media types that are not pages: parts of pages, and downloads that search engines do not index as text.
const NON_PAGE_TYPES: [&str; 14] = [
    "image/",
    "audio/",
    "video/",
    "font/",
    "text/css",
    "text/javascript",
    "application/javascript",
    "application/x-javascript",
    "application/json",
    "application/octet-stream",
    "application/zip",
    "application/gzip",
    "application/wasm",
    "application/manifest+json",
];

/// Words in titles of error pages, in lower case. The number 404 alone may be part of a name.
const NOT_FOUND_TITLES: [&str; 12] = [
    "not found",
    "error 404",
    "404 error",
    "fehler 404",
    "erreur 404",
    "does not exist",
    "no longer available",
    "nicht gefunden",
    "introuvable",
    "no encontrada",
    "no encontrado",
    "non trovata",
];

/// Names of error pages.
const ERROR_PAGES: [&str; 5] = ["404", "not-found", "not_found", "notfound", "error"];

/// Bytes below which a body is unlikely to be a page, compressed or not.
const SMALL_BODY: f64 = 512.0;

/// Data about the pages of a site, from data columns and robots.txt.
#[derive(Debug, Clone)]
pub struct Site {
    data: Option<Arc<DataSet>>,
    robots: Option<Arc<RobotsTxt>>,
}

/// The answer of the site for one URL.
struct Page<'d> {
    data: &'d DataSet,
    row: DataRow,
}

/// A sign that a page with status 200 is an error page (soft 404).
struct SoftSign {
    /// Whether the sign alone suggests an error; a short page or one with noindex may be intended.
    names_an_error: bool,
    words: &'static str,
}

impl Site {
    /// The site of a data set and a robots.txt; `None` without a robots.txt and without a column that the rules read.
    pub fn of(data: Option<&Arc<DataSet>>, robots: Option<Arc<RobotsTxt>>) -> Option<Self> {
        let data = data.filter(|data| COLUMNS.iter().any(|name| data.column(name).is_some())).cloned();
        (data.is_some() || robots.is_some()).then_some(Self { data, robots })
    }

    /// The robots.txt, if there is one.
    pub const fn robots(&self) -> Option<&Arc<RobotsTxt>> {
        self.robots.as_ref()
    }

    /// Whether both have the same data.
    pub fn is_same(&self, other: &Self) -> bool {
        let address = |site: &Self| {
            let (data, robots) = (site.data.as_ref().map(Arc::as_ptr), site.robots.as_ref().map(Arc::as_ptr));
            (data.map(<*const DataSet>::addr), robots.map(<*const RobotsTxt>::addr))
        };
        address(self) == address(other)
    }

    /// The rules that the page of a URL violates; `url_prefix` is the public location of its file, if known.
    pub fn rules(&self, loc: &str, url_prefix: Option<&UrlPrefix>) -> RuleSet {
        let mut set = self.answer_rules(loc);
        if let Some(block) = self.block(loc, url_prefix).filter(|_| !set.contains(Rule::SITE_BLOCKED_BY_ROBOTS)) {
            set.insert(block.rule);
        }
        set
    }

    fn block(&self, loc: &str, url_prefix: Option<&UrlPrefix>) -> Option<Block> {
        self.robots.as_ref()?.block(loc, url_prefix)
    }

    /// Whether there is data to compare with other fields of an entry than its URL.
    pub(super) fn compares_entries(&self) -> bool {
        let data = self.data.as_deref();
        data.is_some_and(|data| data.column("modified").is_some() || data.column("hreflang").is_some())
    }

    /// The rules that an entry violates besides those of its URL; `links` are its alternates as language and URL.
    pub(super) fn entry_rules(
        &self,
        loc: &str,
        lastmod: Option<&str>,
        links: impl FnOnce() -> Vec<(String, String)>,
    ) -> RuleSet {
        let mut set = RuleSet::EMPTY;
        let Some(page) = self.page(loc) else { return set };
        match lastmod.and_then(|lastmod| page.compare_modified(lastmod)) {
            Some(Ordering::Greater) => set.insert(Rule::SITE_LASTMOD_OLDER),
            Some(Ordering::Less) => set.insert(Rule::SITE_LASTMOD_NEWER),
            _ => {}
        }
        if let Some(own) = page.alternates() {
            let listed = links();
            set.insert_if(Rule::SITE_HREFLANG_DIFFERS, !listed.is_empty() && difference(&own, &listed).is_some());
        }
        set
    }

    /// The message for an entry that violates one of [`ENTRY_SITE_RULES`].
    pub(super) fn explain_entry(
        &self,
        rule: Rule,
        (loc, lastmod): (&str, &str),
        links: impl FnOnce() -> Vec<(String, String)>,
    ) -> Option<String> {
        let page = self.page(loc)?;
        let modified = || visible(&page.text("modified").unwrap_or_default());
        Some(match rule {
            Rule::SITE_LASTMOD_OLDER => {
                format!("{}: the page changed later, on {}, according to the data", visible(lastmod), modified())
            }
            Rule::SITE_LASTMOD_NEWER => {
                format!("{}: the page has not changed since {}, according to the data", visible(lastmod), modified())
            }
            Rule::SITE_HREFLANG_DIFFERS => difference(&page.alternates()?, &links())?,
            _ => return None,
        })
    }

    /// The date of the page's last change in the format of lastmod; `None` if unknown or not representable.
    pub fn modified(&self, loc: &str) -> Option<String> {
        lastmod::normalize(&self.page(loc)?.text("modified")?)
    }

    /// The alternates in the head of the page of a URL, as language and URL; `None` if unknown.
    pub fn alternates(&self, loc: &str) -> Option<Vec<(String, String)>> {
        self.page(loc)?.alternates()
    }

    /// The rules that the answer of the site violates.
    fn answer_rules(&self, loc: &str) -> RuleSet {
        let mut set = RuleSet::EMPTY;
        let Some(page) = self.page(loc) else {
            // Data without a status, such as clicks or dates, is not a probe of the site.
            let is_probed = self.data.as_ref().is_some_and(|data| data.column("status").is_some());
            set.insert_if(Rule::SITE_NOT_CHECKED, is_probed);
            return set;
        };
        match page.status() {
            Some(404 | 410) => set.insert(Rule::SITE_NOT_FOUND),
            // Google treats 429 as a server error ("How HTTP status codes affect Google's crawlers").
            Some(429 | 500..=599) => set.insert(Rule::SITE_SERVER_ERROR),
            Some(400..=499) => set.insert(Rule::SITE_CLIENT_ERROR),
            Some(300..=303 | 305..=399) => {
                let is_loop = page.is_loop(loc);
                set.insert(if is_loop { Rule::SITE_REDIRECT_LOOP } else { Rule::SITE_REDIRECT });
                set.insert_if(Rule::SITE_REDIRECT_CHAIN, !is_loop && page.is_chain());
            }
            _ => {}
        }
        let is_success = page.status().is_some_and(|status| (200..300).contains(&status));
        if is_success {
            set.insert_if(Rule::SITE_NOINDEX, page.is_noindex());
            let elsewhere = page.text("canonical").is_some_and(|url| !is_same_page(&url, loc));
            set.insert_if(Rule::SITE_CANONICAL_ELSEWHERE, elsewhere);
            set.insert_if(Rule::SITE_NOT_A_PAGE, page.media().is_some_and(|media| is_non_page_type(&media)));
            let signs = page.soft_404_signs(loc);
            set.insert_if(Rule::SITE_SOFT_404, signs.len() >= 2 && signs.iter().any(|sign| sign.names_an_error));
            set.insert_if(Rule::SITE_SLOW, page.milliseconds().is_some_and(|ms| ms >= SLOW));
        }
        let is_blocked = page.text("blocked").is_some();
        set.insert_if(Rule::SITE_BLOCKED_BY_ROBOTS, is_blocked);
        set.insert_if(Rule::SITE_UNREACHABLE, !is_blocked && page.status().is_none() && page.text("error").is_some());
        set
    }

    /// The URL that the fix of a rule gives to the row: the final URL of redirects, or the canonical URL. `None` if the
    /// site names none that can be listed.
    pub fn replacement(&self, rule: Rule, loc: &str) -> Option<Cow<'_, str>> {
        let page = self.page(loc)?;
        let url = match rule {
            Rule::SITE_REDIRECT => {
                // If the final URL was not reached, at most the next one is known.
                let status = page.number("final_status");
                let is_reached = page.text("final").is_some() || page.text("error").is_none();
                let is_sound = status.is_none_or(|status| (200..300).contains(&status));
                page.destination().filter(|_| is_reached && is_sound)?
            }
            Rule::SITE_CANONICAL_ELSEWHERE => page.text("canonical")?,
            _ => return None,
        };
        // A site may only name its own URLs, not those of another site.
        let host = |url: &str| location::host(url).to_ascii_lowercase();
        let is_own = without_www(&host(&url)) == without_www(&host(loc));
        // A host that is not public is no fault of the new URL if the old one has it as well.
        let private = Faults::from_iter([Fault::HostNotPublic]);
        let known = if location::validate(loc).has(Fault::HostNotPublic) { private } else { Faults::NONE };
        (is_own && location::validate(&url).minus(known).is_empty() && !is_same_page(&url, loc)).then_some(url)
    }

    /// The message for a rule that the page of a URL violates.
    pub fn explain(&self, rule: Rule, loc: &str, url_prefix: Option<&UrlPrefix>) -> Option<String> {
        if let (Some(block), Some(robots)) = (self.block(loc, url_prefix), &self.robots)
            && block.rule == rule
        {
            return Some(block.explain(&visible(robots.name())));
        }
        if rule == Rule::SITE_NOT_CHECKED {
            return Some("no probe data for this URL".to_owned());
        }
        let page = self.page(loc)?;
        let status = || page.status().map_or_else(String::new, |status| status.to_string());
        let text = |name| visible(&page.text(name).unwrap_or_default());
        Some(match rule {
            Rule::SITE_NOT_FOUND => format!("the page does not exist: the site answers {}", status()),
            Rule::SITE_CLIENT_ERROR => format!("the site refuses the request: it answers {}", status()),
            Rule::SITE_SERVER_ERROR => format!("the server failed: it answers {}", status()),
            Rule::SITE_REDIRECT => match page.destination().filter(|end| !is_same_page(end, loc)) {
                Some(end) => format!("the site answers {} and redirects to {}", status(), visible(&end)),
                None => format!("the site answers {} and names no URL that it redirects to", status()),
            },
            Rule::SITE_REDIRECT_LOOP if page.destination().is_some_and(|end| is_same_page(&end, loc)) => {
                format!("the site answers {} and redirects to the same URL", status())
            }
            Rule::SITE_REDIRECT_LOOP => format!("the site answers {}, and its redirects form a loop", status()),
            Rule::SITE_REDIRECT_CHAIN => match (page.text("location"), page.destination()) {
                (Some(first), Some(end)) => {
                    format!("the site redirects to {} first and to {} in the end", visible(&first), visible(&end))
                }
                _ => return None,
            },
            Rule::SITE_NOT_A_PAGE => format!("the site answers with {}, which is not a page", visible(&page.media()?)),
            Rule::SITE_SOFT_404 => {
                let signs: Vec<&str> = page.soft_404_signs(loc).into_iter().map(|sign| sign.words).collect();
                format!("the site answers {}, but {}", status(), signs.join(" and "))
            }
            Rule::SITE_SLOW => format!("the site took {:.1} s to answer", page.milliseconds()? / 1_000.0),
            Rule::SITE_NOINDEX => {
                format!("the page excludes itself from search: robots is {}", visible(&page.robots()))
            }
            Rule::SITE_CANONICAL_ELSEWHERE => format!("the page names {} as its canonical URL", text("canonical")),
            Rule::SITE_BLOCKED_BY_ROBOTS => format!("line {} of robots.txt forbids the URL", text("blocked")),
            Rule::SITE_UNREACHABLE => format!("the site did not answer: {}", text("error")),
            _ => return None,
        })
    }

    fn page(&self, loc: &str) -> Option<Page<'_>> {
        let data = self.data.as_deref()?;
        data.find(loc).map(|row| Page { data, row })
    }
}

impl<'d> Page<'d> {
    fn text(&self, name: &str) -> Option<Cow<'d, str>> {
        self.data.column(name)?.text(self.row)
    }

    fn number(&self, name: &str) -> Option<u16> {
        match self.data.column(name)?.value(self.row) {
            Value::Number(number) if (0.0..1000.0).contains(&number) => Some(number as u16),
            _ => None,
        }
    }

    fn status(&self) -> Option<u16> {
        self.number("status").filter(|status| *status >= 100)
    }

    /// The final URL of redirects; `None` if unknown.
    fn destination(&self) -> Option<Cow<'d, str>> {
        self.text("final").or_else(|| self.text("location")).filter(|url| location::origin(url).is_some())
    }

    /// Whether redirects form a loop: they lead to the URL itself, or a probe found a loop.
    fn is_loop(&self, loc: &str) -> bool {
        match self.text("error") {
            Some(error) => error == REDIRECT_LOOP,
            None => self.destination().is_some_and(|end| is_same_page(&end, loc)),
        }
    }

    /// Whether more than one redirect leads to the final URL.
    fn is_chain(&self) -> bool {
        let (first, end) = (self.text("location"), self.text("final"));
        first.zip(end).is_some_and(|(first, end)| location::origin(&first).is_some() && !is_same_page(&first, &end))
    }

    /// The media type in lower case, without parameters.
    fn media(&self) -> Option<String> {
        let media = self.text("type")?.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        media.contains('/').then_some(media)
    }

    fn milliseconds(&self) -> Option<f64> {
        match self.data.column("ms")?.value(self.row) {
            Value::Number(ms) => Some(ms),
            _ => None,
        }
    }

    /// Signs that the page is an error page; a single one may be chance.
    fn soft_404_signs(&self, loc: &str) -> Vec<SoftSign> {
        let title = self.text("title").unwrap_or_default().to_lowercase();
        let starts_with_404 = title.strip_prefix("404").is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
        let is_error_title = starts_with_404 || NOT_FOUND_TITLES.iter().any(|words| title.contains(words));
        let is_error_page = |path: &str| {
            let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            ERROR_PAGES.contains(&name.split('.').next().unwrap_or_default())
        };
        let canonical = self.text("canonical").filter(|url| !is_same_page(url, loc));
        let is_start = |url: &str| matches!(location::path(url), "" | "/");
        let bytes = match self.data.column("bytes").map(|column| column.value(self.row)) {
            Some(Value::Number(bytes)) => Some(bytes),
            _ => None,
        };
        let signs = [
            (is_error_title, true, "its title says that the page does not exist"),
            (self.is_noindex(), false, "it has noindex"),
            (
                canonical.is_some_and(|url| is_start(&url) || is_error_page(location::path(&url))),
                true,
                "its canonical URL is another page",
            ),
            (bytes.is_some_and(|bytes| bytes < SMALL_BODY), false, "its body is nearly empty"),
        ];
        let found = signs.into_iter().filter(|(is_present, ..)| *is_present);
        found.map(|(_, names_an_error, words)| SoftSign { names_an_error, words }).collect()
    }

    /// The alternates that a probe found in the head of the page, as language and URL.
    fn alternates(&self) -> Option<Vec<(String, String)>> {
        let links: BTreeMap<String, String> = serde_json::from_str(&self.text("hreflang")?).ok()?;
        (!links.is_empty()).then(|| links.into_iter().collect())
    }

    /// Compares the last change of the page with a lastmod as written; by days if one of them has no time.
    fn compare_modified(&self, written: &str) -> Option<Ordering> {
        match self.data.column("modified")?.value(self.row) {
            Value::Date { seconds, is_day } => compare_with_lastmod(seconds, is_day, written),
            _ => None,
        }
    }

    fn robots(&self) -> String {
        let texts = [self.text("robots"), self.text("x_robots_tag")];
        texts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Whether its directives exclude it for all crawlers, or for Googlebot (Google Search Central, "Robots meta tag,
    /// data-nosnippet, and X-Robots-Tag specifications").
    fn is_noindex(&self) -> bool {
        self.robots().split(',').any(|directive| {
            let directive = directive.trim().to_ascii_lowercase();
            let (agent, word) = directive.split_once(':').unwrap_or(("", &directive));
            matches!(word.trim(), "noindex" | "none") && matches!(agent.trim(), "" | "googlebot")
        })
    }
}

/// Whether two URLs name the same page (RFC 3986, section 6.2.2).
fn is_same_page(one: &str, other: &str) -> bool {
    let (mut first, mut second) = (String::new(), String::new());
    location::key(one, &mut first) == location::key(other, &mut second)
}

fn is_non_page_type(media: &str) -> bool {
    // Search engines index SVG as a document.
    media != "image/svg+xml" && NON_PAGE_TYPES.iter().any(|kind| media.starts_with(kind))
}

/// A message about the first language in which the alternates of the page and of the entry differ.
fn difference(page: &[(String, String)], entry: &[(String, String)]) -> Option<String> {
    let key = |(code, url): &(String, String)| {
        let mut scratch = String::new();
        (code.to_ascii_lowercase(), location::key(url, &mut scratch).to_owned())
    };
    let (on_page, in_entry): (BTreeMap<_, _>, BTreeMap<_, _>) =
        (page.iter().map(key).collect(), entry.iter().map(key).collect());
    let of_page = on_page.iter().find_map(|(code, url)| match in_entry.get(code) {
        Some(other) if other == url => None,
        Some(other) => Some(format!(
            "the alternate for {} is {} on the page and {} in the sitemap",
            visible(code),
            visible(url),
            visible(other)
        )),
        None => Some(format!("the page has an alternate for {} that the sitemap does not list", visible(code))),
    });
    of_page.or_else(|| {
        let more = in_entry.keys().find(|code| !on_page.contains_key(*code))?;
        Some(format!("the sitemap lists an alternate for {} that the page does not have", visible(more)))
    })
}

fn without_www(host: &str) -> &str {
    host.strip_prefix("www.").unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{DataSetBuilder, ReadOptions};

    fn site(lines: &str) -> Site {
        let mut builder = DataSetBuilder::new();
        builder.add(lines, &ReadOptions::default()).unwrap();
        Site::of(Some(&Arc::new(builder.finish())), None).unwrap()
    }

    #[test]
    fn answers_of_the_site_break_rules() {
        let table = [
            (r#""status":200"#, ""),
            (r#""status":404"#, "site-not-found"),
            (r#""status":410"#, "site-not-found"),
            (r#""status":403"#, "site-client-error"),
            (r#""status":503"#, "site-server-error"),
            (r#""status":429"#, "site-server-error"),
            (r#""status":301,"final":"https://e.com/a","error":"the redirect has no Location""#, "site-redirect"),
            (
                r#""status":301,"location":["https://e.com/b"],"error":"the redirects form a loop""#,
                "site-redirect-loop",
            ),
            (r#""status":200,"robots":"noindex","bytes":100"#, "site-noindex"),
            (r#""status":301,"final":"https://e.com/b","final_status":200"#, "site-redirect"),
            (r#""status":302"#, "site-redirect"),
            (r#""status":304"#, ""),
            (r#""status":301,"final":"https://e.com/a""#, "site-redirect-loop"),
            (r#""status":200,"robots":"max-snippet:5, NOINDEX""#, "site-noindex"),
            (r#""status":200,"robots":"otherbot: noindex""#, ""),
            (r#""status":200,"robots":"googlebot: none""#, "site-noindex"),
            (r#""status":404,"robots":"noindex""#, "site-not-found"),
            (r#""status":200,"canonical":"https://e.com/b""#, "site-canonical-elsewhere"),
            (r#""status":200,"canonical":"https://E.com:443/a""#, ""),
            (r#""blocked":3,"error":"robots.txt forbids it""#, "site-blocked-by-robots"),
            (r#""error":"connection refused""#, "site-unreachable"),
            (
                r#""status":301,"location":["https://e.com/m","https://e.com/b"],"final":"https://e.com/b""#,
                "site-redirect site-redirect-chain",
            ),
            (r#""status":301,"location":["https://e.com/b"],"final":"https://e.com/b""#, "site-redirect"),
            (r#""status":200,"type":"image/png; q=1""#, "site-not-a-page"),
            (r#""status":200,"type":"text/html; charset=utf-8""#, ""),
            (r#""status":200,"type":"application/pdf""#, ""),
            (r#""status":200,"type":"image/svg+xml""#, ""),
            (r#""status":200,"ms":1800"#, "site-slow"),
            (r#""status":200,"ms":1799"#, ""),
            (r#""status":503,"ms":9000"#, "site-server-error"),
            // A single sign of a missing page may be a coincidence.
            (r#""status":200,"title":"Page not found""#, ""),
            (r#""status":200,"bytes":100"#, ""),
            (r#""status":200,"title":"Page Not Found","bytes":100"#, "site-soft-404"),
            (r#""status":200,"title":"404","robots":"noindex""#, "site-noindex site-soft-404"),
            (
                r#""status":200,"title":"Fehler: nicht gefunden","canonical":"https://e.com/""#,
                "site-canonical-elsewhere site-soft-404",
            ),
            (r#""status":404,"title":"404","bytes":10"#, "site-not-found"),
            // A name with that number in it, and a page of little text.
            (r#""status":200,"title":"Peugeot 404","bytes":100"#, ""),
            (r#""status":200,"title":"404 ways to cook","robots":"noindex""#, "site-noindex site-soft-404"),
            (
                r#""status":200,"bytes":100,"canonical":"https://e.com/404.html""#,
                "site-canonical-elsewhere site-soft-404",
            ),
        ];
        for (columns, expected) in table {
            // Two more rows, so that the columns have the kinds that whole tables give them.
            let lines = format!(
                "{{\"url\":\"https://e.com/a\",{columns}}}\n{{\"url\":\"https://e.com/x\",\"status\":200}}\n\
                 {{\"url\":\"https://e.com/y\",\"status\":301,\"final_status\":200}}\n"
            );
            let site = site(&lines);
            let codes: Vec<_> = site.rules("https://e.com/a", None).iter().map(Rule::code).collect();
            assert_eq!(codes.join(" "), expected, "{columns}");
            let unknown: Vec<_> = site.rules("https://e.com/other", None).iter().collect();
            assert_eq!(unknown, [Rule::SITE_NOT_CHECKED]);
            for rule in site.rules("https://e.com/a", None).iter() {
                assert!(SITE_RULES.contains(rule) && site.explain(rule, "https://e.com/a", None).is_some(), "{rule}");
            }
        }
    }

    #[test]
    fn a_url_is_unchecked_only_if_others_were_probed() {
        let clicks = site("{\"url\":\"https://e.com/a\",\"clicks\":3,\"modified\":\"2026-01-01\"}\n");
        assert!(clicks.rules("https://e.com/other", None).is_empty());
    }

    #[test]
    fn dates_and_alternates_are_compared_with_those_of_the_entry() {
        let site = site(
            "{\"url\":\"https://e.com/a\",\"modified\":\"2026-05-02T10:00:00Z\",\
             \"hreflang\":{\"en\":\"https://e.com/a\",\"de\":\"https://e.com/de\"}}\n",
        );
        let links = |list: &[(&str, &str)]| -> Vec<(String, String)> {
            list.iter().map(|(code, url)| ((*code).to_owned(), (*url).to_owned())).collect()
        };
        let own = [("EN", "https://E.com/a"), ("de", "https://e.com/de")];
        let other = [("en", "https://e.com/a"), ("de", "https://e.com/d")];
        let table = [
            (None, &own[..], ""),
            (Some("2026-05-02"), &[], ""),
            (Some("2026-05"), &[], ""),
            (Some("2026-05-01"), &[], "site-lastmod-older"),
            (Some("2026-05-02T09:59:59Z"), &[], "site-lastmod-older"),
            (Some("2026-05-02T12:00:00+02:00"), &[], ""),
            (Some("2026-05-03"), &own[..1], "site-lastmod-newer site-hreflang-differs"),
            (Some("no date"), &other, "site-hreflang-differs"),
        ];
        for (lastmod, listed, expected) in table {
            let rules = site.entry_rules("https://e.com/a", lastmod, || links(listed));
            let codes: Vec<_> = rules.iter().map(Rule::code).collect();
            assert_eq!(codes.join(" "), expected, "{lastmod:?} {listed:?}");
            for rule in rules.iter() {
                let words =
                    site.explain_entry(rule, ("https://e.com/a", lastmod.unwrap_or_default()), || links(listed));
                assert!(ENTRY_SITE_RULES.contains(rule) && words.is_some(), "{rule}");
            }
        }
        assert!(site.entry_rules("https://e.com/b", Some("2020-01-01"), Vec::new).is_empty());
        assert_eq!(site.modified("https://e.com/a").as_deref(), Some("2026-05-02T10:00:00Z"));
    }

    #[test]
    fn only_urls_that_can_be_listed_replace_a_url() {
        let table = [
            (r#""status":301,"final":"https://e.com/b","final_status":200"#, Some("https://e.com/b")),
            (r#""status":301,"final":"https://www.e.com/a","final_status":200"#, Some("https://www.e.com/a")),
            (r#""status":301,"final":"https://e.com/b","final_status":404"#, None),
            (r#""status":301,"final":"https://other.example/b","final_status":200"#, None),
            (r#""status":301,"final":"javascript:alert(1)","final_status":200"#, None),
            (r#""status":301,"final":"https://e.com/\u001b[31m","final_status":200"#, None),
        ];
        for (columns, expected) in table {
            let lines = format!("{{\"url\":\"https://e.com/a\",{columns}}}\n");
            let site = site(&lines);
            assert_eq!(site.replacement(Rule::SITE_REDIRECT, "https://e.com/a").as_deref(), expected, "{columns}");
        }
        let local = "{\"url\":\"http://127.0.0.1:8000/a\",\"status\":301,\"final\":\"http://127.0.0.1:8000/b\"}\n";
        let found = site(local);
        let found = found.replacement(Rule::SITE_REDIRECT, "http://127.0.0.1:8000/a");
        assert_eq!(found.as_deref(), Some("http://127.0.0.1:8000/b"));
    }
}
