//! Checks URLs and `Sitemap` lines against the robots.txt of the site, for the crawlers of search engines.

use super::rule::{Rule, RuleSet};
use crate::protocol::location::{self, UrlPrefix};
use crate::protocol::robots::{Access, AgentRules, Robots, SitemapLine};

/// Every rule that [`RobotsTxt::block`] can report.
pub(super) const ROBOTS_RULES: RuleSet =
    RuleSet::of(&[Rule::SITE_BLOCKED_BY_ROBOTS, Rule::SITE_BLOCKED_FOR_BING, Rule::SITE_BLOCKED_FOR_OTHERS]);

/// The crawlers whose rules are checked, the most important first. A URL is reported for the first crawler that it is
/// blocked for.
const CRAWLERS: [(&str, Rule); 3] = [
    ("Googlebot", Rule::SITE_BLOCKED_BY_ROBOTS),
    ("Bingbot", Rule::SITE_BLOCKED_FOR_BING),
    (EVERYONE, Rule::SITE_BLOCKED_FOR_OTHERS),
];

/// `User-agent` of the group for crawlers without a group of their own.
const EVERYONE: &str = "*";

/// A robots.txt, with the rules for each crawler of `CRAWLERS`.
#[derive(Debug)]
pub struct RobotsTxt {
    name: String,
    crawlers: Vec<Crawler>,
    sitemaps: Vec<SitemapLine>,
    /// The hosts that it applies to, without `www.`; empty if not known.
    hosts: Vec<String>,
}

/// A crawler with the rules that apply to it.
#[derive(Debug)]
struct Crawler {
    agent: &'static str,
    /// The `User-agent` of the group that it follows.
    group: &'static str,
    /// The rule of the table that a blocked URL violates.
    broken: Rule,
    rules: AgentRules,
}

/// A URL that a robots.txt forbids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// The rule of the table that the URL violates.
    pub rule: Rule,
    /// The crawler that may not fetch it.
    pub agent: &'static str,
    /// The `User-agent` of the group with the `Disallow`.
    pub group: &'static str,
    /// The line of the `Disallow`.
    pub line: u32,
}

impl RobotsTxt {
    /// Parses a robots.txt of any content, called `name` in messages. It applies to the host of `base_url`; if that is
    /// unknown, to the hosts of its `Sitemap` lines.
    pub fn parse(name: String, bytes: &[u8], base_url: Option<&str>) -> Self {
        let robots = Robots::parse(bytes);
        let mut crawlers: Vec<Crawler> = Vec::new();
        for (agent, broken) in CRAWLERS {
            let group = if robots.names(agent) { agent } else { EVERYONE };
            let rules = robots.rules_for(agent);
            // A crawler with the same rules as an earlier one has the same results.
            if !crawlers.iter().any(|known| known.rules == rules) {
                crawlers.push(Crawler { agent, group, broken, rules });
            }
        }
        let lines = robots.sitemaps().iter().map(|line| line.url.as_str());
        let urls: Vec<&str> = base_url.map_or_else(|| lines.collect(), |url| vec![url]);
        let mut hosts: Vec<String> = urls.into_iter().map(host_of).filter(|host| !host.is_empty()).collect();
        hosts.sort_unstable();
        hosts.dedup();
        Self { name, crawlers, sitemaps: robots.sitemaps().to_vec(), hosts }
    }

    /// The name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its `Sitemap` lines.
    pub fn sitemaps(&self) -> &[SitemapLine] {
        &self.sitemaps
    }

    /// The line that forbids a URL of a file at `url_prefix`. URLs of other hosts are never blocked, since those have
    /// their own robots.txt.
    pub fn block(&self, loc: &str, url_prefix: Option<&UrlPrefix>) -> Option<Block> {
        let mut blocks = self.crawlers.iter().filter_map(|crawler| match crawler.rules.access(loc) {
            Access::Blocked { line } => {
                Some(Block { rule: crawler.broken, agent: crawler.agent, group: crawler.group, line })
            }
            Access::Allowed => None,
        });
        blocks.next().filter(|_| self.is_of_host(loc, url_prefix))
    }

    fn is_of_host(&self, loc: &str, url_prefix: Option<&UrlPrefix>) -> bool {
        let host = host_of(loc);
        match url_prefix {
            Some(url_prefix) => host_of(url_prefix.origin()) == host,
            None => self.hosts.is_empty() || self.hosts.contains(&host),
        }
    }
}

impl Block {
    /// The message for a blocked URL; `name` is the name of the file.
    pub(super) fn explain(self, name: &str) -> String {
        let Self { agent, group, line, .. } = self;
        if agent == EVERYONE {
            return format!("line {line} of {name} forbids the URL to crawlers that it does not name (User-agent: *)");
        }
        format!("line {line} of {name} forbids {agent} to fetch the URL (User-agent: {group})")
    }
}

/// The host of a URL without `www.`: most sites have one robots.txt for both names.
fn host_of(url: &str) -> String {
    let host = location::host(url).to_ascii_lowercase();
    host.strip_prefix("www.").map_or(host.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn robots(text: &str) -> RobotsTxt {
        RobotsTxt::parse("robots.txt".to_owned(), text.as_bytes(), None)
    }

    fn blocked(robots: &RobotsTxt, loc: &str) -> Option<(Rule, &'static str, u32)> {
        robots.block(loc, None).map(|block| (block.rule, block.group, block.line))
    }

    #[test]
    fn the_first_crawler_that_is_blocked_is_named_with_its_line() {
        let for_all = "User-agent: *\nDisallow: /private/\n";
        let for_google = "User-agent: Googlebot\nDisallow: /no-google/\n\nUser-agent: *\nDisallow:\n";
        let for_bing = "User-agent: bingbot\nDisallow: /no-bing/\n\nUser-agent: *\nAllow: /\n";
        let for_others = "User-agent: Googlebot\nUser-agent: Bingbot\nAllow: /\n\nUser-agent: *\nDisallow: /\n";
        let table = [
            (for_all, "/private/a", Some((Rule::SITE_BLOCKED_BY_ROBOTS, "*", 2))),
            (for_all, "/public", None),
            (for_google, "/no-google/", Some((Rule::SITE_BLOCKED_BY_ROBOTS, "Googlebot", 2))),
            (for_google, "/", None),
            (for_bing, "/no-bing/", Some((Rule::SITE_BLOCKED_FOR_BING, "Bingbot", 2))),
            (for_others, "/a", Some((Rule::SITE_BLOCKED_FOR_OTHERS, "*", 6))),
            ("", "/a", None),
        ];
        for (text, path, expected) in table {
            let found = blocked(&robots(text), &format!("https://e.com{path}"));
            assert_eq!(found, expected, "{text:?} {path}");
            assert!(found.is_none_or(|(rule, ..)| ROBOTS_RULES.contains(rule)));
        }
    }

    #[test]
    fn it_applies_only_to_its_own_hosts() {
        let lines = "Sitemap: https://www.e.com/sitemap.xml\nUser-agent: *\nDisallow: /\n";
        let by_lines = robots(lines);
        assert!(by_lines.block("https://e.com/a", None).is_some());
        assert!(by_lines.block("https://other.example/a", None).is_none());
        let located = RobotsTxt::parse("robots.txt".to_owned(), lines.as_bytes(), Some("https://Other.example/"));
        assert!(located.block("https://e.com/a", None).is_none());
        assert!(located.block("https://other.example/a", None).is_some());
        // The public location of the URL's file has precedence.
        let origin = UrlPrefix::parse("https://shop.example/sitemap.xml");
        assert!(by_lines.block("https://shop.example/a", origin.as_ref()).is_some());
        assert!(by_lines.block("https://e.com/a", origin.as_ref()).is_none());
        assert!(robots("User-agent: *\nDisallow: /\n").block("https://any.example/", None).is_some());
    }

    #[test]
    fn crawlers_with_the_same_rules_are_checked_once() {
        assert_eq!(robots("User-agent: *\nDisallow: /a\n").crawlers.len(), 1);
        assert_eq!(robots("User-agent: Bingbot\nDisallow: /a\n").crawlers.len(), 2);
    }
}
