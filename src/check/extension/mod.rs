//! Checks the extensions of one entry: images, videos, news, alternate links and obsolete extensions.
//!
//! Checks are a function of the entry's text, its context and the clock, and run only for entries with extensions. They
//! record where a rule is violated (`Breach`); messages and fixes are made on demand, for rows that are shown.

mod blocks;
mod cache;
mod fixes;
mod links;
mod messages;
mod outline;
mod patch;
mod structure;
mod urls;
mod values;

use super::action::{Action, Fix, Fixes};
use super::context::{Context, Subject};
use super::fields::RULES_OF_EXTENSIONS;
use super::finding::{ExtensionPart, Finding, Position};
use super::rule::{Rule, RuleSet};
use super::set::Link;
use crate::document::source::Source;
use crate::progress::note_work;
use crate::protocol::Field;
use crate::protocol::extension;
use crate::protocol::location::Fault;
use crate::protocol::namespace::Namespace;
use crate::xml::elements::{Elements, Node, is_extension};
use crate::xml::entry::{Entry, Extensions, TextKind};
use crate::xml::markup::{self, Kind};
use crate::xml::names::{FileKind, Meaning, Names, split};
use crate::xml::parser::Parser;
use crate::xml::scan::ParsedEntry;
pub(crate) use cache::Cache;
use fixes::ExtensionFix;
use outline::Outline;
use patch::Patch;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
pub(crate) use urls::{ExtensionUrl, UrlGroup, urls, with_urls};

/// The element, attribute or pair that violates a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    /// The element as a whole.
    Element,
    /// An element outside of any entry, by its number among those.
    Outside,
    /// The text of the element.
    Value(extension::Kind),
    /// An attribute, present or missing.
    Attribute(&'static str, extension::Kind),
    /// An unknown attribute, by its offset among the attributes of its tag.
    UnknownAttribute(u32),
    /// A URL: the text of the element, or an attribute.
    Url(Fault, Option<&'static str>),
    /// A child that is missing or empty.
    Child(&'static str),
    /// An earlier element that this one repeats.
    Other(u32),
}

/// Minimum number of trials of fixes for an entry of any length. Each trial parses the whole entry again, and an entry
/// can have as many findings as elements.
const MIN_TRIALS: usize = 16;

/// Maximum bytes of entry text that further trials parse. It allows trying every fix of a short entry.
const MAX_EXTRA_TRIAL_BYTES: usize = 1 << 16;

/// Number of trials for an entry of a length in bytes: `MIN_TRIALS` passes over the entry, plus passes over at most
/// `MAX_EXTRA_TRIAL_BYTES` in all.
pub(super) const fn trials(len: usize) -> usize {
    MIN_TRIALS + MAX_EXTRA_TRIAL_BYTES / (len + 1)
}

/// A violated rule and its location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Breach {
    rule: Rule,
    /// The number of the element.
    node: u32,
    about: About,
}

/// Collects breaches: as a rule set for every row, as a list for rows that are shown.
trait Sink {
    fn breach(&mut self, rule: Rule, node: u32, about: About);

    /// Collects a language version for the set rules.
    fn link(&mut self, _: Link) {}
}

impl Sink for RuleSet {
    fn breach(&mut self, rule: Rule, _: u32, _: About) {
        self.insert(rule);
    }
}

/// The violated rules, their numbers of findings, and the language versions for the set rules.
struct Collected<'l> {
    rules: RuleSet,
    finding_counts: Vec<(Rule, u32)>,
    links: &'l mut Vec<Link>,
}

impl Sink for Collected<'_> {
    fn breach(&mut self, rule: Rule, _: u32, _: About) {
        self.rules.insert(rule);
        match self.finding_counts.iter_mut().find(|(known, _)| *known == rule) {
            Some((_, count)) => *count += 1,
            None => self.finding_counts.push((rule, 1)),
        }
    }

    #[inline]
    fn link(&mut self, link: Link) {
        self.links.push(link);
    }
}

/// A sink that calls a function with each breach.
struct Counter<F>(F);

impl<F: FnMut(Rule)> Sink for Counter<F> {
    fn breach(&mut self, rule: Rule, _: u32, _: About) {
        (self.0)(rule);
    }
}

impl Sink for Vec<Breach> {
    fn breach(&mut self, rule: Rule, node: u32, about: About) {
        self.push(Breach { rule, node, about });
    }
}

/// The entry that contains the extensions.
struct EntryContext<'t> {
    /// The page that the extensions are about: the entry's loc.
    page: Cow<'t, str>,
    /// What is known of the page's URL.
    known: Option<KnownUrl>,
    /// Whether the entry is a page, not a sitemap listed by an index.
    is_page: bool,
    /// The time, in seconds since 1970.
    now: i64,
}

impl EntryContext<'_> {
    /// The hash of a URL and its host, if it is the URL of the page, whose host is known.
    fn key_and_host_of(&self, url: &str) -> Option<(u64, &str)> {
        let KnownUrl { key, host } = self.known.as_ref()?;
        let host = self.page.get(host.clone()?)?;
        (url == self.page).then_some((*key, host))
    }
}

/// What is known of the URL of an entry that was read.
pub(crate) struct KnownUrl {
    /// Its hash; see `key_hash`.
    pub key: u64,
    /// The range of its host, if the URL has no faults.
    pub host: Option<Range<usize>>,
}

/// Whether an entry has something to check here: extensions, or markup before the entry.
pub(crate) fn has_content(entry: &Entry, text: &[u8]) -> bool {
    let lead = text.get(..entry.open as usize).unwrap_or_default();
    // Nearly every lead is a line break and some blanks, too short for an element.
    entry.extensions != Extensions::default() || (lead.len() >= "<a:b/>".len() && memchr::memchr(b'<', lead).is_some())
}

/// Offset of the first extension before or after all entries of a file. One between entries is reported with the entry
/// that follows it.
pub(crate) fn find_outside_entries(source: &Source) -> Option<usize> {
    let (bytes, names) = (source.bytes(), &source.names);
    if !names.kind.is_xml() {
        return None;
    }
    let root_end = source.root_start() + source.root_tag().len();
    let (first, last) = (source.start(0)?, source.start(source.len())?);
    [(root_end, first), (last, bytes.len())].into_iter().find_map(|(mut at, end)| {
        let mut parser = Parser::default();
        while let Some(tag) = markup::next(bytes, at).filter(|tag| tag.start < end) {
            at = match tag.kind {
                Kind::Start | Kind::Empty if is_extension(names.resolve(bytes, &tag).0) => {
                    return Some(tag.start);
                }
                Kind::Start => parser.skip_element(bytes, &tag),
                _ => tag.end,
            };
        }
        None
    })
}

/// The rules that the extensions of an entry violate. `entry` must be the anatomy of `text`.
pub(crate) fn check(entry: &Entry, text: &[u8], context: &Context<'_>) -> RuleSet {
    let elements = Elements::of(entry, text, context.names);
    let mut set = RuleSet::EMPTY;
    let entry_context = entry_context(&ParsedEntry::new(text, entry), context);
    validate(&Outline::new(text, &elements), &entry_context, &mut Cache::default(), &mut set);
    debug_assert!(set.minus(RULES_OF_EXTENSIONS).is_empty(), "{set:?}");
    set
}

/// An entry whose URL was read and whose elements were noted.
pub(crate) struct NotedEntry<'e> {
    /// The entry.
    pub parsed: &'e ParsedEntry<'e>,
    /// Its elements.
    pub elements: &'e Elements,
    /// What is known of its URL.
    pub url: KnownUrl,
}

/// [`check`] with what was noted before; keeps the number of findings of each rule in the cache.
pub(crate) fn check_elements(
    noted: NotedEntry<'_>,
    context: &Context<'_>,
    cache: &mut Cache,
    links: &mut Vec<Link>,
) -> RuleSet {
    let NotedEntry { parsed, elements, url } = noted;
    let mut finding_counts = std::mem::take(&mut cache.finding_counts);
    finding_counts.clear();
    let outline = Outline::new(parsed.text, elements).with_utf8(parsed.utf8);
    let first_link = links.len();
    let mut collected = Collected { rules: RuleSet::EMPTY, finding_counts, links };
    let mut entry_context = entry_context(parsed, context);
    entry_context.known = Some(url);
    // The lists of the cache are reused, so that an entry without findings allocates nothing.
    let mut known = std::mem::take(&mut cache.alternates);
    if known.is_known && parsed.repeats {
        collected.rules = known.rules;
        collected.finding_counts.extend(&known.finding_counts);
        collected.links.extend(&known.links);
        links::validate_again(&outline, &entry_context, cache, &mut collected);
    } else {
        validate(&outline, &entry_context, cache, &mut collected);
        let is_alone = outline.outside().is_empty() && links::are_all_alternates(&outline);
        known.is_known = entry_context.is_page && is_alone;
        known.finding_counts.clear();
        known.links.clear();
        if known.is_known {
            let finding_counts = collected.finding_counts.iter().filter(|(rule, _)| !links::PAGE_RULES.contains(*rule));
            known.rules = collected.rules.minus(links::PAGE_RULES);
            known.finding_counts.extend(finding_counts);
            known.links.extend(collected.links.get(first_link..).unwrap_or_default());
        }
    }
    cache.alternates = known;
    let Collected { rules, finding_counts, .. } = collected;
    cache.finding_counts = finding_counts;
    rules
}

/// Calls `add` with each violated rule, once per finding.
pub(super) fn count(entry: &Entry, text: &[u8], context: &Context<'_>, add: impl FnMut(Rule)) {
    let elements = Elements::of(entry, text, context.names);
    let entry_context = entry_context(&ParsedEntry::new(text, entry), context);
    validate(&Outline::new(text, &elements), &entry_context, &mut Cache::default(), &mut Counter(add));
}

/// The findings of these rules with messages, in the order of the text.
pub(crate) fn findings(
    entry: &Entry,
    text: &[u8],
    context: &Context<'_>,
    (rules, fixes): (RuleSet, Fixes),
) -> Vec<Finding> {
    let elements = Elements::of(entry, text, context.names);
    let outline = Outline::new(text, &elements);
    let breaches = breaches(&outline, entry, context);
    let (entry_context, before) = (entry_context(&ParsedEntry::new(text, entry), context), tally(&breaches));
    let trials = if fixes == Fixes::None { 0 } else { trials(text.len()) };
    let subject = Subject { entry, text, context };
    let fix = |breach: &Breach| {
        let remedy = fixes::fix(breach, &outline, &subject)?;
        let text = remedy.patch.apply(text)?;
        let wanted = BTreeMap::from([(breach.rule, 1)]);
        let ExtensionFix { label, is_safe, .. } = remedy;
        holds(&text, &wanted, &before, context).then_some(Fix {
            label: label.into(),
            is_safe,
            action: Action::Rewrite(text),
        })
    };
    let of_rules = (0..).zip(&breaches).filter(|(_, breach)| rules.contains(breach.rule));
    let found = of_rules.filter_map(|(number, breach)| {
        let part = part(&outline, breach);
        let message = || messages::message(breach, &outline, &entry_context);
        let found = Finding::in_profile(breach.rule, context.profile, message)?;
        let fix = if number < trials { fix(breach) } else { None };
        Some((part.at, found.at(Position::Element(part)).with_fix(fix)))
    });
    let mut found: Vec<(u32, Finding)> = found.collect();
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, found)| found).collect()
}

/// The language versions that an entry lists as alternates of its page: position and URL of each link, and the link as
/// the set rules compare it.
pub(crate) fn alternates(entry: &Entry, text: &[u8], names: &Names) -> Vec<(ExtensionPart, String, Link)> {
    let elements = Elements::of(entry, text, names);
    let part = |at: u32| ExtensionPart { name: "xhtml:link".into(), at };
    links::versions(Outline::new(text, &elements)).map(|(at, href, link)| (part(at), href.into_owned(), link)).collect()
}

/// The alternate links of an entry: language, URL, and the link as the set rules compare it.
pub(crate) fn versions(entry: &Entry, text: &[u8], names: &Names) -> Vec<(String, String, Link)> {
    let elements = Elements::of(entry, text, names);
    let versions = links::versions_with_codes(Outline::new(text, &elements));
    versions.map(|(_, code, href, link)| (code.into_owned(), href.into_owned(), link)).collect()
}

/// The alternate links of an entry as the set rules compare them.
pub(crate) fn links(entry: &Entry, text: &[u8], names: &Names, out: &mut Vec<Link>) {
    let elements = Elements::of(entry, text, names);
    out.extend(links::versions(Outline::new(text, &elements)).map(|(.., link)| link));
}

/// The entry text after fixing `rules` in its extensions, as far as one pass can; `None` if no fix applies. Only safe
/// fixes are used if `unattended`. `trials` is the number of trials left for the entry and is decreased.
///
/// All fixes are applied and tried together. If the result violates another rule, each half is tried by itself, so that
/// one bad fix does not prevent the others.
pub(super) fn apply_fixes(
    rules: RuleSet,
    unattended: bool,
    subject: &Subject<'_>,
    trials: &mut usize,
) -> Option<String> {
    let Subject { entry, text, context } = *subject;
    if !rules.intersects(RULES_OF_EXTENSIONS) || !has_content(entry, text) {
        return None;
    }
    let elements = Elements::of(entry, text, context.names);
    let outline = Outline::new(text, &elements);
    let breaches = breaches(&outline, entry, context);
    let before = tally(&breaches);
    let mut scopes = HashSet::new();
    let mut remedies: Vec<(Rule, Patch)> = Vec::new();
    for breach in breaches.iter().filter(|breach| rules.contains(breach.rule)) {
        if fixes::scope(breach, &outline).is_some_and(|scope| !scopes.insert(scope)) {
            continue;
        }
        let remedy = fixes::fix(breach, &outline, subject);
        remedies.extend(remedy.filter(|it| it.is_safe || !unattended).map(|remedy| (breach.rule, remedy.patch)));
    }
    let mut batch = FixBatch { text, before: &before, context, trials, made: Vec::new(), best: None };
    // Of overlapping fixes only the first is applied; the next pass applies the other.
    let mut rest: Vec<&(Rule, Patch)> = remedies.iter().collect();
    while !rest.is_empty() && batch.best.is_none() && *batch.trials > 0 {
        let apart = patch::disjoint(&rest, |(_, patch)| patch);
        let apart: Vec<&(Rule, Patch)> = apart.into_iter().copied().collect();
        batch.add(&apart);
        let mut tried = apart.iter().peekable();
        rest.retain(|one| tried.next_if(|tried| std::ptr::eq(**tried, *one)).is_none());
    }
    batch.best
}

/// Fixes of one entry that are applied together.
struct FixBatch<'b> {
    text: &'b [u8],
    before: &'b BTreeMap<Rule, u32>,
    context: &'b Context<'b>,
    trials: &'b mut usize,
    /// Fixes that were accepted together.
    made: Vec<&'b (Rule, Patch)>,
    /// The entry text after them.
    best: Option<String>,
}

impl<'b> FixBatch<'b> {
    /// Adds those fixes that cause no violation together with the fixes made so far.
    fn add(&mut self, fixes: &[&'b (Rule, Patch)]) {
        let Some(left) = self.trials.checked_sub(1).filter(|_| !fixes.is_empty()) else { return };
        *self.trials = left;
        let all: Vec<&(Rule, Patch)> = self.made.iter().chain(fixes).copied().collect();
        let patches: Vec<&Patch> = all.iter().map(|(_, patch)| patch).collect();
        let mut wanted = BTreeMap::new();
        for (rule, _) in &all {
            *wanted.entry(*rule).or_default() += 1;
        }
        let after = Patch::apply_all(&patches, self.text);
        if let Some(after) = after.filter(|after| holds(after, &wanted, self.before, self.context)) {
            (self.made, self.best) = (all, Some(after));
        } else if fixes.len() > 1 {
            let (first, second) = fixes.split_at(fixes.len() / 2);
            self.add(first);
            self.add(second);
        }
    }
}

fn breaches(outline: &Outline<'_>, entry: &Entry, context: &Context<'_>) -> Vec<Breach> {
    let mut breaches = Vec::new();
    let entry_context = entry_context(&ParsedEntry::new(outline.text, entry), context);
    validate(outline, &entry_context, &mut Cache::default(), &mut breaches);
    breaches
}

fn entry_context<'t>(parsed: &ParsedEntry<'t>, context: &Context<'_>) -> EntryContext<'t> {
    let ParsedEntry { entry, text, utf8, .. } = *parsed;
    let plain = entry.field(Field::Loc).filter(|span| span.text == TextKind::Plain).zip(utf8);
    let plain = plain.and_then(|(span, utf8)| utf8.get(span.value_start as usize..span.value_end as usize));
    EntryContext {
        page: plain.map(Cow::Borrowed).or_else(|| entry.value(Field::Loc, text)).unwrap_or_default(),
        known: None,
        is_page: context.names.kind == FileKind::Urlset,
        now: context.now,
    }
}

fn validate(outline: &Outline<'_>, entry_context: &EntryContext<'_>, cache: &mut Cache, sink: &mut impl Sink) {
    for number in 0..outline.outside().len() {
        sink.breach(Rule::EXT_OUTSIDE_URL, number as u32, About::Outside);
    }
    if outline.nodes().is_empty() {
        return;
    }
    // Most entries with alternate links have no other extensions, and only the rules about links apply to those.
    if !entry_context.is_page || !links::are_all_alternates(outline) {
        structure::validate(outline, entry_context, sink);
        if !entry_context.is_page {
            return;
        }
        values::validate(outline, cache, sink);
        blocks::validate(outline, entry_context, sink);
    }
    links::validate(outline, entry_context, cache, sink);
}

/// Whether the entry text `after` some fixes is better than before: each rule has as many findings less as there are
/// fixes for it (`wanted`), and no rule has more.
fn holds(after: &str, wanted: &BTreeMap<Rule, u32>, before: &BTreeMap<Rule, u32>, context: &Context<'_>) -> bool {
    let text = after.as_bytes();
    let entry = Entry::of(text, context.names);
    if entry.anomalies.contains(crate::xml::entry::Anomalies::BROKEN) {
        return false;
    }
    let elements = Elements::of(&entry, text, context.names);
    let after = tally(&breaches(&Outline::new(text, &elements), &entry, context));
    let times = |tally: &BTreeMap<Rule, u32>, rule: Rule| tally.get(&rule).copied().unwrap_or_default();
    let is_new = |broken: Rule| {
        // A finding that becomes milder is not a new one.
        let graver = broken.family().iter().filter(|known| known.severity() >= broken.severity());
        let known: u32 = graver.map(|known| times(before, known)).sum();
        times(&after, broken) > known
    };
    wanted.iter().all(|(rule, fixes)| times(&after, *rule) + fixes <= times(before, *rule))
        && !after.keys().copied().any(is_new)
}

/// The attribute of an element that begins at an offset among its attributes.
fn attribute_starting_at<'t>(outline: &Outline<'t>, node: &Node, at: u32) -> Option<markup::Attribute<'t>> {
    markup::attributes(node.tag.attributes(outline.text).get(at as usize..)?).next()
}

/// The number of breaches of each rule.
fn tally(breaches: &[Breach]) -> BTreeMap<Rule, u32> {
    let mut times = BTreeMap::new();
    for breach in breaches {
        *times.entry(breach.rule).or_default() += 1;
    }
    times
}

/// The name of an element with the customary prefix, and its offset in the entry.
fn part(outline: &Outline<'_>, breach: &Breach) -> ExtensionPart {
    let tag = match breach.about {
        About::Outside => outline.outside().get(breach.node as usize).copied(),
        _ => outline.node_at(breach.node).map(|node| node.tag),
    };
    let Some(tag) = tag else { return ExtensionPart { name: "".into(), at: 0 } };
    let local = String::from_utf8_lossy(split(tag.name(outline.text)).1);
    let name = match outline.node_at(breach.node).filter(|_| breach.about != About::Outside).map(|node| node.meaning) {
        Some(Meaning::Extension(namespace)) if namespace != Namespace::Other => {
            format!("{}:{local}", namespace.prefix())
        }
        Some(Meaning::Core) => local.into_owned(),
        _ => String::from_utf8_lossy(tag.name(outline.text)).into_owned(),
    };
    ExtensionPart { name: name.into(), at: tag.start as u32 }
}

/// The namespace of an element of a known extension.
const fn namespace(node: &Node) -> Namespace {
    match node.meaning {
        Meaning::Extension(namespace) => namespace,
        Meaning::Core => Namespace::Other,
    }
}

/// Where an attribute's value is in the entry text.
fn attribute_range(outline: &Outline<'_>, node: &Node, name: &str) -> Option<Range<usize>> {
    let mut attributes = markup::attributes(node.tag.attributes(outline.text));
    let found = attributes.find(|found| {
        note_work(1);
        found.name == name.as_bytes()
    })?;
    // The value is a slice of the text.
    let start = (found.value.as_ptr() as usize).checked_sub(outline.text.as_ptr() as usize)?;
    Some(start..start + found.value.len())
}

#[cfg(test)]
mod tests;
