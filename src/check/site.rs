//! What is known about the page behind a URL, from data columns and robots.txt: rules that the answer of the site breaks.
//!
//! The columns have the names that `sited probe` writes; tables of other programs have those that they share with it.
//! A URL that no table has and robots.txt allows breaks none of these rules.

use super::robots::{Block, ROBOTS_RULES, RobotsTxt};
use super::rule::{Rule, RuleSet};
use crate::data::{DataRow, DataSet, Value};
use crate::protocol::location::{self, UrlPrefix};
use crate::words::excerpt_of_value as visible;
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
])
.union(ROBOTS_RULES);

/// What data columns and robots.txt say about pages.
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

impl Site {
    /// The pages of a data set and a robots.txt; `None` where there is none, and the data has no column that the rules
    /// read.
    pub fn of(data: Option<&Arc<DataSet>>, robots: Option<Arc<RobotsTxt>>) -> Option<Self> {
        let is_read = ["status", "canonical", "robots", "blocked", "error"];
        let data = data.filter(|data| is_read.iter().any(|name| data.column(name).is_some())).cloned();
        (data.is_some() || robots.is_some()).then_some(Self { data, robots })
    }

    /// The robots.txt, if there is one.
    pub const fn robots(&self) -> Option<&Arc<RobotsTxt>> {
        self.robots.as_ref()
    }

    /// Whether both hold the same data.
    pub fn is_same(&self, other: &Self) -> bool {
        let address = |site: &Self| {
            let (data, robots) = (site.data.as_ref().map(Arc::as_ptr), site.robots.as_ref().map(Arc::as_ptr));
            (data.map(<*const DataSet>::addr), robots.map(<*const RobotsTxt>::addr))
        };
        address(self) == address(other)
    }

    /// The rules that the page of a URL breaks; `url_prefix` is where its file is published, if that is known.
    pub fn rules(&self, loc: &str, url_prefix: Option<&UrlPrefix>) -> RuleSet {
        let mut set = self.answered_rules(loc);
        if let Some(block) = self.block(loc, url_prefix).filter(|_| !set.contains(Rule::SITE_BLOCKED_BY_ROBOTS)) {
            set.insert(block.rule);
        }
        set
    }

    fn block(&self, loc: &str, url_prefix: Option<&UrlPrefix>) -> Option<Block> {
        self.robots.as_ref()?.block(loc, url_prefix)
    }

    /// The rules that the answer of the site breaks.
    fn answered_rules(&self, loc: &str) -> RuleSet {
        let Some(page) = self.page(loc) else { return RuleSet::EMPTY };
        let mut set = RuleSet::EMPTY;
        match page.status() {
            Some(404 | 410) => set.insert(Rule::SITE_NOT_FOUND),
            Some(400..=499) => set.insert(Rule::SITE_CLIENT_ERROR),
            Some(500..=599) => set.insert(Rule::SITE_SERVER_ERROR),
            Some(300..=303 | 305..=399) => {
                let is_loop = page.destination().is_some_and(|end| is_same_page(end, loc));
                set.insert(if is_loop { Rule::SITE_REDIRECT_LOOP } else { Rule::SITE_REDIRECT });
            }
            _ => {}
        }
        let is_answered = page.status().is_some_and(|status| (200..300).contains(&status));
        if is_answered {
            set.insert_if(Rule::SITE_NOINDEX, page.is_noindex());
            let elsewhere = page.text("canonical").is_some_and(|url| !is_same_page(url, loc));
            set.insert_if(Rule::SITE_CANONICAL_ELSEWHERE, elsewhere);
        }
        let is_blocked = page.text("blocked").is_some();
        set.insert_if(Rule::SITE_BLOCKED_BY_ROBOTS, is_blocked);
        set.insert_if(Rule::SITE_UNREACHABLE, !is_blocked && page.status().is_none() && page.text("error").is_some());
        set
    }

    /// The URL that a fix of the rule gives to the row: where redirects end, or the canonical URL. `None` where the site
    /// names none that can be listed.
    pub fn replacement(&self, rule: Rule, loc: &str) -> Option<&str> {
        let page = self.page(loc)?;
        let url = match rule {
            Rule::SITE_REDIRECT => {
                let status = page.number("final_status");
                page.destination().filter(|_| status.is_none_or(|status| (200..300).contains(&status)))?
            }
            Rule::SITE_CANONICAL_ELSEWHERE => page.text("canonical")?,
            _ => return None,
        };
        // Whoever answers for the old URL does not speak for another site.
        let host = |url: &str| location::host(url).to_ascii_lowercase();
        let is_own = without_www(&host(url)) == without_www(&host(loc));
        (is_own && location::validate(url).is_empty() && !is_same_page(url, loc)).then_some(url)
    }

    /// What the site answered, for the message of a finding.
    pub(super) fn explain(&self, rule: Rule, loc: &str, url_prefix: Option<&UrlPrefix>) -> Option<String> {
        if let (Some(block), Some(robots)) = (self.block(loc, url_prefix), &self.robots)
            && block.rule == rule
        {
            return Some(block.explain(&visible(robots.name())));
        }
        let page = self.page(loc)?;
        let status = || page.status().map_or_else(String::new, |status| status.to_string());
        let text = |name| visible(page.text(name).unwrap_or_default());
        Some(match rule {
            Rule::SITE_NOT_FOUND => format!("the page does not exist: the site answers {}", status()),
            Rule::SITE_CLIENT_ERROR => format!("the site refuses the request: it answers {}", status()),
            Rule::SITE_SERVER_ERROR => format!("the server failed: it answers {}", status()),
            Rule::SITE_REDIRECT => match page.destination() {
                Some(end) => format!("the site answers {} and redirects to {}", status(), visible(end)),
                None => format!("the site answers {} and redirects to another URL", status()),
            },
            Rule::SITE_REDIRECT_LOOP => format!("the site answers {} and redirects to the same URL", status()),
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
    fn text(&self, name: &str) -> Option<&'d str> {
        let text = self.data.column(name)?.text(self.row)?.trim();
        (!text.is_empty()).then_some(text)
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

    /// Where redirects end, as far as the table tells.
    fn destination(&self) -> Option<&'d str> {
        self.text("final").or_else(|| self.text("location")).filter(|url| location::origin(url).is_some())
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
    fn answers_are_rules() {
        let table = [
            (r#""status":200"#, ""),
            (r#""status":404"#, "site-not-found"),
            (r#""status":410"#, "site-not-found"),
            (r#""status":403"#, "site-client-error"),
            (r#""status":503"#, "site-server-error"),
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
            assert!(site.rules("https://e.com/other", None).is_empty());
            for rule in site.rules("https://e.com/a", None).iter() {
                assert!(SITE_RULES.contains(rule) && site.explain(rule, "https://e.com/a", None).is_some(), "{rule}");
            }
        }
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
            assert_eq!(site(&lines).replacement(Rule::SITE_REDIRECT, "https://e.com/a"), expected, "{columns}");
        }
    }
}
