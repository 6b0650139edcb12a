//! robots.txt: which URLs a crawler may fetch (RFC 9309), with the same results as Google's parser.
//!
//! A file is parsed once into [`AgentRules`] for a crawler, which check any number of URLs. Lines that cannot be parsed
//! are skipped, as RFC 9309 requires. If the RFC leaves a choice, this follows Google's parser, which most robots.txt
//! files are tested with: common typing errors in keys are accepted, `Allow: /index.html` also allows the folder, and
//! octets that are percent-encoded without need are not decoded.
//!
//! The crate `robotstxt` 0.3.0, a port of that parser, is not used: it panics on a line of more than 16 kB with a
//! multi-byte character at the cut, reads a byte order mark as text, ends a group at `Sitemap:`, drops octets after a
//! stray `%`, and takes time cubic in the length of a URL.

use memchr::memmem;
use std::borrow::Cow;
use std::time::Duration;

/// Maximum number of bytes of a file that are read. RFC 9309, section 2.5: at least 500 KiB; Google ignores the rest as
/// well.
pub(crate) const MAX_BYTES: usize = 500 << 10;

/// Maximum number of bytes of a line that are read, as in Google's parser: eight times the longest URL of old browsers.
const MAX_LINE_BYTES: usize = 2_083 * 8 - 1;

/// A parsed robots.txt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Robots {
    groups: Vec<Group>,
    sitemaps: Vec<SitemapLine>,
}

/// A `Sitemap:` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SitemapLine {
    /// The number of the line, from 1.
    pub line: u32,
    /// Its value, which should be an absolute URL.
    pub url: String,
}

/// `User-agent:` lines and the rules below them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Group {
    /// In lower case.
    agents: Vec<String>,
    /// Whether one of the agents is `*`.
    is_global: bool,
    rules: Vec<Rule>,
    /// `Crawl-delay`, which is not in RFC 9309, but which many crawlers follow.
    delay: Option<Duration>,
}

/// An `Allow:` or `Disallow:` line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    pattern: Vec<u8>,
    allows: bool,
    line: u32,
}

/// The rules for one crawler, in order of precedence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AgentRules {
    rules: Vec<Rule>,
    delay: Option<Duration>,
}

/// Whether a crawler may fetch a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// It may be fetched.
    Allowed,
    /// It may not be fetched.
    Blocked {
        /// The line of the `Disallow:`.
        line: u32,
    },
}

/// The key of a line.
enum Key {
    UserAgent,
    Allow,
    Disallow,
    Sitemap,
    CrawlDelay,
    Unknown,
}

impl Key {
    /// Compares only the start of a key, ignores case, and accepts the typing errors that Google's parser accepts.
    fn of(text: &[u8]) -> Self {
        let begins = |words: &[&str]| words.iter().any(|word| starts_with_ignoring_case(text, word.as_bytes()));
        match () {
            () if begins(&["user-agent", "useragent", "user agent"]) => Self::UserAgent,
            () if begins(&["allow"]) => Self::Allow,
            () if begins(&["disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"]) => Self::Disallow,
            () if begins(&["sitemap", "site-map"]) => Self::Sitemap,
            () if begins(&["crawl-delay", "crawldelay"]) => Self::CrawlDelay,
            () => Self::Unknown,
        }
    }
}

impl Robots {
    /// Parses a file of any content.
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let bytes = bytes.get(..MAX_BYTES).unwrap_or(bytes);
        let mut robots = Self::default();
        // Whether the next `User-agent:` starts a new group.
        let mut is_complete = true;
        for (number, line) in lines(without_mark(bytes)).enumerate() {
            let Some((key, value)) = key_and_value(line.get(..MAX_LINE_BYTES).unwrap_or(line)) else { continue };
            let line = number as u32 + 1;
            match (Key::of(key), robots.groups.last_mut()) {
                (Key::UserAgent, _) => {
                    if std::mem::take(&mut is_complete) {
                        robots.groups.push(Group::default());
                    }
                    if let Some(group) = robots.groups.last_mut() {
                        group.add_agent(value);
                    }
                }
                // Rules before the first group are ignored.
                (Key::Allow, Some(group)) => {
                    is_complete = true;
                    group.add_rule(value, true, line);
                }
                (Key::Disallow, Some(group)) => {
                    is_complete = true;
                    group.add_rule(value, false, line);
                }
                (Key::CrawlDelay, Some(group)) => group.delay = group.delay.or_else(|| seconds(value)),
                (Key::Sitemap, _) => {
                    robots.sitemaps.push(SitemapLine { line, url: String::from_utf8_lossy(value).into_owned() });
                }
                // Other records do not end a group (RFC 9309, section 2.2.4).
                _ => {}
            }
        }
        robots
    }

    /// The `Sitemap:` lines, which do not belong to a group.
    pub(crate) fn sitemaps(&self) -> &[SitemapLine] {
        &self.sitemaps
    }

    /// Whether a group is about the crawler of this name.
    pub(crate) fn names(&self, agent: &str) -> bool {
        let agent = agent.to_ascii_lowercase();
        !agent.is_empty() && self.groups.iter().any(|group| group.agents.contains(&agent))
    }

    /// The rules for a crawler, named by its product token such as `Googlebot`: those of all groups that name it, else
    /// those of all groups for `*`.
    pub(crate) fn rules_for(&self, agent: &str) -> AgentRules {
        let agent = agent.to_ascii_lowercase();
        let names_it = |group: &&Group| !agent.is_empty() && group.agents.contains(&agent);
        let mut own = self.groups.iter().filter(names_it).peekable();
        if own.peek().is_some() {
            AgentRules::merged(own)
        } else {
            AgentRules::merged(self.groups.iter().filter(|group| group.is_global))
        }
    }
}

impl Group {
    fn add_agent(&mut self, value: &[u8]) {
        match value {
            // `* (all)` also means all crawlers.
            [b'*'] | [b'*', b' ' | b'\t' | 0x0b | 0x0c, ..] => self.is_global = true,
            _ => {
                let token = product_token(value);
                if !token.is_empty() {
                    self.agents.push(String::from_utf8_lossy(token).to_ascii_lowercase());
                }
            }
        }
    }

    /// Adds a rule. An empty pattern matches nothing: `Disallow:` alone allows everything.
    fn add_rule(&mut self, value: &[u8], allows: bool, line: u32) {
        let pattern = escaped(value).into_owned();
        if pattern.is_empty() {
            return;
        }
        // Allowing the index page of a folder also allows the folder itself.
        let folder = pattern.iter().rposition(|byte| *byte == b'/').filter(|_| allows);
        if let Some(slash) = folder.filter(|slash| pattern[*slash..].starts_with(b"/index.htm")) {
            let pattern = [&pattern[..=slash], b"$"].concat();
            self.rules.push(Rule { pattern, allows, line });
        }
        self.rules.push(Rule { pattern, allows, line });
    }
}

impl AgentRules {
    fn merged<'g>(groups: impl Iterator<Item = &'g Group>) -> Self {
        let mut all = Self::default();
        for group in groups {
            all.rules.extend_from_slice(&group.rules);
            all.delay = all.delay.max(group.delay);
        }
        // In order of precedence, so that the first match decides; among equals, the earliest line first.
        all.rules.sort_by_key(|rule| (std::cmp::Reverse((rule.pattern.len(), rule.allows)), rule.line));
        all
    }

    /// The minimum time between requests, in `Crawl-delay`.
    #[cfg(any(feature = "net", test))]
    pub(crate) const fn crawl_delay(&self) -> Option<Duration> {
        self.delay
    }

    /// Whether a URL may be fetched: the longest matching pattern decides, and `Allow` if two are equally long.
    pub(crate) fn access(&self, url: &str) -> Access {
        self.access_to_path(&escaped(path_and_query(url).as_bytes()))
    }

    /// [`Self::access`] for a path that is percent-encoded already and starts with `/`.
    pub(crate) fn access_to_path(&self, path: &[u8]) -> Access {
        match self.rules.iter().find(|rule| matches(path, &rule.pattern)) {
            Some(Rule { allows: false, line, .. }) => Access::Blocked { line: *line },
            _ => Access::Allowed,
        }
    }
}

/// The product token of a user agent, by which robots.txt files name a crawler: `Googlebot-News` of
/// `Googlebot-News/2.1 (+http://…)`.
pub(crate) fn product_token(agent: &[u8]) -> &[u8] {
    let is_of_name = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_');
    let end = agent.iter().position(|byte| !is_of_name(byte)).unwrap_or(agent.len());
    &agent[..end]
}

/// Removes a byte order mark, or the start of one.
fn without_mark(bytes: &[u8]) -> &[u8] {
    let mark = b"\xef\xbb\xbf".iter().zip(bytes).take_while(|(mark, byte)| mark == byte).count();
    &bytes[mark..]
}

/// Lines that end with LF, CR or both.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = memchr::memchr2(b'\n', b'\r', text) else {
            rest = None;
            return Some(text);
        };
        let ending = if text[end..].starts_with(b"\r\n") { 2 } else { 1 };
        rest = Some(&text[end + ending..]);
        Some(&text[..end])
    })
}

/// Splits `key: value` and removes a comment. Without a colon, a line must be two words separated by white space.
fn key_and_value(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = trimmed(&line[..memchr::memchr2(b'#', 0, line).unwrap_or(line.len())]);
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let separator = memchr::memchr(b':', line).or_else(|| {
        let blank = line.iter().position(is_blank)?;
        (!trimmed(&line[blank..]).iter().any(is_blank)).then_some(blank)
    })?;
    let key = trimmed(&line[..separator]);
    (!key.is_empty()).then(|| (key, trimmed(&line[separator + 1..])))
}

/// Trims ASCII white space, including the vertical tab, as in C.
fn trimmed(text: &[u8]) -> &[u8] {
    let is_space = |byte: &u8| matches!(byte, b' ' | 0x09..=0x0d);
    let start = text.iter().position(|byte| !is_space(byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|byte| !is_space(byte)).map_or(start, |last| last + 1);
    &text[start..end]
}

fn starts_with_ignoring_case(text: &[u8], word: &[u8]) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

/// A number of seconds, such as `10` or `0.5`.
fn seconds(value: &[u8]) -> Option<Duration> {
    let number: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    Duration::try_from_secs_f64(number).ok()
}

/// Percent-encodes octets outside of ASCII and writes percent-encodings in upper case.
fn escaped(text: &[u8]) -> Cow<'_, [u8]> {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    if !text.iter().any(|byte| *byte == b'%' || !byte.is_ascii()) {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after) {
            (b'%', [high, low, ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                out.extend([b'%', high.to_ascii_uppercase(), low.to_ascii_uppercase()]);
                rest = &after[2..];
            }
            (0x80.., _) => out.extend([b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]),
            _ => out.push(byte),
        }
    }
    Cow::Owned(out)
}

/// Path and query of a URL without the fragment; `/` if there is no path.
pub(crate) fn path_and_query(url: &str) -> Cow<'_, str> {
    let url = url.split('#').next().unwrap_or_default();
    let after_scheme = match url.split_once("://") {
        Some((scheme, rest)) if !scheme.contains(['/', '?', ';']) => rest,
        _ => url.strip_prefix("//").unwrap_or(url),
    };
    match after_scheme.find(['/', '?', ';']).map(|start| &after_scheme[start..]) {
        None => Cow::Borrowed("/"),
        Some(path) if path.starts_with('/') => Cow::Borrowed(path),
        Some(path) => Cow::Owned(format!("/{path}")),
    }
}

/// Whether a pattern matches the start of a path. `*` matches any octets, and `$` at the end the end of the path. Each
/// part between `*` is matched at its first occurrence, so that the time is linear.
fn matches(path: &[u8], pattern: &[u8]) -> bool {
    let (pattern, is_anchored) = match pattern.strip_suffix(b"$") {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut pieces = pattern.split(|byte| *byte == b'*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = path.strip_prefix(first) else { return false };
    let mut pieces = pieces.peekable();
    if pieces.peek().is_none() {
        return !is_anchored || rest.is_empty();
    }
    while let Some(piece) = pieces.next() {
        if is_anchored && pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        match memmem::find(rest, piece) {
            Some(start) => rest = &rest[start + piece.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests;
