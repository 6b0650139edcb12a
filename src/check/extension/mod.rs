//! Checks the extensions of one entry: images, videos, news, alternate links and obsolete extensions.
//!
//! A function of the entry's text, its place and the clock, called for entries that have extensions only. Judging
//! says where a rule is broken (`Breach`) and no more; words and fixes are made for rows that someone looks at.

mod blocks;
mod cache;
mod fixes;
mod links;
mod outline;
mod patch;
mod structure;
mod urls;
mod values;
mod words;

use super::action::{Action, Fix};
use super::context::{Context, Subject};
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
pub(crate) use urls::{ExtensionUrl, UrlGroup, urls, with_urls};

/// The element, attribute or pair that breaks a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    /// The element as a whole.
    Element,
    /// An element outside of any entry; its number is its place among those.
    Outside,
    /// The text of the element.
    Value(extension::Kind),
    /// An attribute, or that it is missing.
    Attribute(&'static str, extension::Kind),
    /// An attribute that does not belong there: where it begins among the attributes of its tag.
    Stranger(u32),
    /// A URL: the text of the element, or an attribute.
    Url(Fault, Option<&'static str>),
    /// A child that is missing or empty.
    Child(&'static str),
    /// Another element that says the same.
    Other(u32),
}

/// How often fixes of one entry are tried, whatever its length: a trial takes the whole entry apart again, and an entry
/// that is all mistakes has as many findings as it has elements.
const TRIALS: usize = 16;

/// Bytes of entry text that may be taken apart beyond that: of short entries every fix is tried.
const TRIAL_BYTES: usize = 1 << 16;

/// Trials for which an entry of that length is good. All of them cost no more than a constant number of looks at it.
pub(super) const fn trials(len: usize) -> usize {
    TRIALS + TRIAL_BYTES / (len + 1)
}

/// A broken rule and its location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Breach {
    rule: Rule,
    /// The number of the element.
    node: u32,
    about: About,
}

/// Collects breaches: as a rule set for every row, as a list for a row that is shown.
trait Sink {
    fn breach(&mut self, rule: Rule, node: u32, about: About);

    /// Takes a language version in, for the rules of the set.
    fn link(&mut self, _: Link) {}
}

impl Sink for RuleSet {
    fn breach(&mut self, rule: Rule, _: u32, _: About) {
        self.insert(rule);
    }
}

/// The broken rules, how often each is, and the language versions for the rules of the set.
struct Collected<'l> {
    rules: RuleSet,
    places: Vec<(Rule, u32)>,
    links: &'l mut Vec<Link>,
}

impl Sink for Collected<'_> {
    fn breach(&mut self, rule: Rule, _: u32, _: About) {
        self.rules.insert(rule);
        match self.places.iter_mut().find(|(known, _)| *known == rule) {
            Some((_, places)) => *places += 1,
            None => self.places.push((rule, 1)),
        }
    }

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

/// The entry that the extensions are in.
struct EntryContext<'t> {
    /// The page that the extensions are about: the entry's loc.
    page: Cow<'t, str>,
    /// Whether the entry is a page at all, and not a sitemap of an index.
    is_page: bool,
    /// The time, in seconds since 1970.
    now: i64,
}

/// Whether this module has anything to check in an entry: extensions, or markup before it.
pub(crate) fn concerns(entry: &Entry, text: &[u8]) -> bool {
    let lead = text.get(..entry.open as usize).unwrap_or_default();
    // Nearly every lead is a line break and some blanks, too short for an element.
    entry.extensions != Extensions::default() || (lead.len() >= "<a:b/>".len() && memchr::memchr(b'<', lead).is_some())
}

/// Where the first extension stands that is before all entries of a file or behind them; between entries it is the
/// business of the one that follows.
pub(crate) fn outside(source: &Source) -> Option<usize> {
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

/// The rules that the extensions of an entry break. `entry` must be the anatomy of `text`.
pub(crate) fn check(entry: &Entry, text: &[u8], context: &Context<'_>) -> RuleSet {
    let elements = Elements::of(entry, text, context.names);
    let mut set = RuleSet::EMPTY;
    let entry_context = entry_context(&ParsedEntry::new(text, entry), context);
    validate(&Outline::new(text, &elements), &entry_context, &mut Cache::default(), &mut set);
    set
}

/// [`check`] with elements that were noted before; the number of breaches of each rule is kept in the cache.
pub(crate) fn check_elements(
    parsed: &ParsedEntry<'_>,
    elements: &Elements,
    context: &Context<'_>,
    cache: &mut Cache,
    links: &mut Vec<Link>,
) -> RuleSet {
    let mut places = std::mem::take(&mut cache.places);
    places.clear();
    let outline = Outline::new(parsed.text, elements).with_utf8(parsed.utf8);
    let first_link = links.len();
    let mut collected = Collected { rules: RuleSet::EMPTY, places, links };
    let entry_context = entry_context(parsed, context);
    // Its lists are used again: an entry without findings allocates nothing.
    let mut known = std::mem::take(&mut cache.alternates);
    if known.is_known && parsed.repeats {
        collected.rules = known.rules;
        collected.places.extend(&known.places);
        collected.links.extend(&known.links);
        links::validate_again(&outline, &entry_context, cache, &mut collected);
    } else {
        validate(&outline, &entry_context, cache, &mut collected);
        known.is_known = entry_context.is_page && links::are_all(&outline);
        known.places.clear();
        known.links.clear();
        if known.is_known {
            let places = collected.places.iter().filter(|(rule, _)| !links::OF_PAGE.contains(*rule));
            known.rules = collected.rules.minus(links::OF_PAGE);
            known.places.extend(places);
            known.links.extend(collected.links.get(first_link..).unwrap_or_default());
        }
    }
    cache.alternates = known;
    let Collected { rules, places, .. } = collected;
    cache.places = places;
    rules
}

/// The rules, each as often as it is broken.
pub(super) fn count(entry: &Entry, text: &[u8], context: &Context<'_>, add: impl FnMut(Rule)) {
    let elements = Elements::of(entry, text, context.names);
    let entry_context = entry_context(&ParsedEntry::new(text, entry), context);
    validate(&Outline::new(text, &elements), &entry_context, &mut Cache::default(), &mut Counter(add));
}

/// The findings with messages, in the order of the text, and with fixes if they are asked for.
pub(crate) fn findings(entry: &Entry, text: &[u8], context: &Context<'_>, has_fixes: bool) -> Vec<Finding> {
    let elements = Elements::of(entry, text, context.names);
    let outline = Outline::new(text, &elements);
    let breaches = breaches(&outline, entry, context);
    let (entry_context, before) = (entry_context(&ParsedEntry::new(text, entry), context), tally(&breaches));
    let trials = if has_fixes { trials(text.len()) } else { 0 };
    let subject = Subject { entry, text, context };
    let fix = |breach: &Breach| {
        let remedy = fixes::of(breach, &outline, &subject)?;
        let text = remedy.patch.apply(text)?;
        let wanted = BTreeMap::from([(breach.rule, 1)]);
        let ExtensionFix { label, is_safe, .. } = remedy;
        holds(&text, &wanted, &before, context).then_some(Fix { label, is_safe, action: Action::Rewrite(text) })
    };
    let found = (0..).zip(&breaches).filter_map(|(number, breach)| {
        let part = part(&outline, breach);
        let message = || words::of(breach, &outline, &entry_context);
        let found = Finding::in_profile(breach.rule, context.profile, message)?;
        let fix = if number < trials { fix(breach) } else { None };
        Some((part.at, found.at(Position::Element(part)).with_fix(fix)))
    });
    let mut found: Vec<(u32, Finding)> = found.collect();
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, found)| found).collect()
}

/// The language versions that an entry lists as alternates of its page: each link's place in the text, its URL, and
/// what the rules of the set compare.
pub(crate) fn alternates(entry: &Entry, text: &[u8], names: &Names) -> Vec<(ExtensionPart, String, Link)> {
    let elements = Elements::of(entry, text, names);
    let part = |at: u32| ExtensionPart { name: "xhtml:link".into(), at };
    links::versions(Outline::new(text, &elements)).map(|(at, href, link)| (part(at), href.into_owned(), link)).collect()
}

/// The alternate links of an entry: language, URL, and what the rules of the set compare.
pub(crate) fn versions(entry: &Entry, text: &[u8], names: &Names) -> Vec<(String, String, Link)> {
    let elements = Elements::of(entry, text, names);
    let coded = links::coded(Outline::new(text, &elements));
    coded.map(|(_, code, href, link)| (code.into_owned(), href.into_owned(), link)).collect()
}

/// The alternate links of an entry as the set rules compare them.
pub(crate) fn links(entry: &Entry, text: &[u8], names: &Names, out: &mut Vec<Link>) {
    let elements = Elements::of(entry, text, names);
    out.extend(links::versions(Outline::new(text, &elements)).map(|(.., link)| link));
}

/// The entry with some rules fixed in its extensions, as far as that is possible in one pass; `None` where nothing can be
/// done. Only such fixes as keep the meaning if `unattended`. `trials` are those that the entry is still good for.
///
/// All fixes are made and tried at once. Where that breaks something, halves of them are, so that what is wrong with one
/// does not keep the others from being made.
pub(super) fn repaired(rules: RuleSet, unattended: bool, subject: &Subject<'_>, trials: &mut usize) -> Option<String> {
    let Subject { entry, text, context } = *subject;
    if !concerns(entry, text) {
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
        let remedy = fixes::of(breach, &outline, subject);
        remedies.extend(remedy.filter(|it| it.is_safe || !unattended).map(|remedy| (breach.rule, remedy.patch)));
    }
    let mut batch = FixBatch { text, before: &before, context, trials, made: Vec::new(), best: None };
    // What is in the way of another is made first; the other follows in the next pass.
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
    /// Those that hold together.
    made: Vec<&'b (Rule, Patch)>,
    /// The entry with them.
    best: Option<String>,
}

impl<'b> FixBatch<'b> {
    /// Makes those of some fixes that hold together with what is made so far.
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
    structure::validate(outline, entry_context, sink);
    if !entry_context.is_page {
        return;
    }
    values::validate(outline, cache, sink);
    blocks::validate(outline, entry_context, sink);
    links::validate(outline, entry_context, cache, sink);
}

/// Tries what fixes make of an entry: each rule is broken less often by as many as there are fixes for it (`wanted`),
/// no rule more often, and nothing is new in the entry.
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
        // A finding that becomes less grave is not a new one.
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

/// How often each rule is broken.
fn tally(breaches: &[Breach]) -> BTreeMap<Rule, u32> {
    let mut times = BTreeMap::new();
    for breach in breaches {
        *times.entry(breach.rule).or_default() += 1;
    }
    times
}

/// The name of an element with the customary prefix, and its place.
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
fn attribute_range(outline: &Outline<'_>, node: &Node, name: &str) -> Option<std::ops::Range<usize>> {
    let mut attributes = markup::attributes(node.tag.attributes(outline.text));
    let found = attributes.find(|found| {
        note_work(1);
        found.name == name.as_bytes()
    })?;
    // The value is a part of the text.
    let start = (found.value.as_ptr() as usize).checked_sub(outline.text.as_ptr() as usize)?;
    Some(start..start + found.value.len())
}

#[cfg(test)]
mod tests;
