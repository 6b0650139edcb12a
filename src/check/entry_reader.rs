//! Reads and checks the entries of a file in one pass: record, violated rules and URL key of each entry.
//!
//! Entries whose values are plain text take a fast path; their URL may also have references or be one CDATA section.
//! Valid values are recognised by their bytes, and results for other values are cached. All other entries are left to the
//! functions that check one entry alone. A property test holds both to the same result.

mod value_cache;

use super::context::Context;
use super::extension::{self, Cache, KnownUrl, NotedEntry};
use super::fields::{self, FieldFacts};
use super::rule::Profile;
use super::rule::{Rule, RuleSet};
use super::set::Link;
use super::site_entry;
use crate::protocol::Field;
use crate::protocol::changefreq::Changefreq;
use crate::protocol::lastmod;
use crate::protocol::location::{self, Location, NO_KEY, OriginCache};
use crate::protocol::priority;
use crate::xml::elements::Elements;
use crate::xml::entry::{Anomalies, Entry, FieldSpan, TextKind, only_section};
use crate::xml::escape;
use crate::xml::names::FileKind;
use crate::xml::record::{Flags, Record};
use crate::xml::scan::ParsedEntry;
use std::ops::Range;
use value_cache::{CheckedValue, ValueCache};

/// Reads and checks the entries of one file; caches results for parts that consecutive entries share.
#[derive(Debug, Default)]
pub struct EntryReader {
    origins: OriginCache,
    extensions: Cache,
    /// Elements of an entry for which the scanner noted none.
    elements: Elements,
    value_cache: ValueCache,
    /// The decoded URL of the last entry on the fast path, if it has references.
    decoded: String,
    /// The values of the last entry on the fast path.
    values: Values,
    /// Whether to compute near keys.
    with_near_keys: bool,
    /// Rules that several fields of an entry can violate, each with the number of fields that violate it, of the last
    /// entry on the fast path.
    shared: Vec<(Rule, u32)>,
    /// See [`Self::finding_counts`]; in ascending order of rules.
    finding_counts: Vec<(Rule, u32)>,
}

/// Record, violated rules and URL key of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckedEntry {
    /// Its decoded fields.
    pub record: Record,
    /// The rules that it violates, as [`super::entry::check`] finds them.
    pub rules: RuleSet,
    /// See `key_hash`; `NO_KEY` without a URL.
    pub key: u64,
    /// See `near_key_hash`; `NO_KEY` without a URL or if near keys are not computed.
    pub near_key: u64,
}

impl EntryReader {
    /// A reader that also hashes the near key of each URL.
    pub fn with_near_keys() -> Self {
        Self { with_near_keys: true, origins: OriginCache::with_near_keys(), ..Self::default() }
    }

    /// Reads an entry. Adds its alternate links to `links` and calls `visit` with its record and its URL, parsed as far
    /// as origin and path.
    ///
    /// All entries must be of one file, since the caches depend on the context.
    #[inline]
    pub fn read(
        &mut self,
        parsed: &ParsedEntry<'_>,
        context: &Context<'_>,
        links: &mut Vec<Link>,
        mut visit: impl FnMut(&Record, &Location<'_>),
    ) -> CheckedEntry {
        let ParsedEntry { entry, text, .. } = *parsed;
        let quick = self.read_plain(parsed, context, &mut visit);
        let is_quick = quick.is_some();
        let (read, host) = quick.unwrap_or_else(|| {
            let loc = entry.value(Field::Loc, text);
            let record = Record::of(entry, text);
            visit(&record, &Location::outline(loc.as_deref().unwrap_or_default()));
            let near_key = |loc: &str| if self.with_near_keys { location::near_key_hash(loc) } else { NO_KEY };
            let read = CheckedEntry {
                record,
                rules: fields::check_fields(entry, text, context),
                key: loc.as_deref().map_or(NO_KEY, location::key_hash),
                near_key: loc.as_deref().map_or(NO_KEY, near_key),
            };
            (read, None)
        });
        self.finding_counts.clear();
        let mut rules = read.rules;
        if context.site.is_some() {
            rules = rules.union(site_entry::rules(entry, text, context));
        }
        if !extension::has_content(entry, text) {
            let rules = context.enabled(rules);
            if is_quick && !self.shared.is_empty() {
                self.finding_counts.extend(self.shared.iter().filter(|(rule, _)| rules.contains(*rule)));
                self.finding_counts.sort_unstable();
            }
            return CheckedEntry { rules, ..read };
        }
        let url = KnownUrl { key: read.key, host };
        let of_extensions = self.check_extensions(parsed, url, context, links);
        let rules = context.enabled(rules.union(of_extensions));
        // A rule that several fields can violate may have more than one finding from fields.
        if !read.rules.intersects(fields::ANY_FIELD_RULES) {
            let found = self.extensions.finding_counts().iter().filter(|(rule, _)| rules.contains(*rule));
            let with_field = |&(rule, count): &(Rule, u32)| (rule, count + u32::from(read.rules.contains(rule)));
            self.finding_counts.extend(found.map(with_field));
            self.finding_counts.sort_unstable();
        }
        CheckedEntry { rules, ..read }
    }

    /// Number of findings of the last entry for each rule that its extensions, or several of its fields, violate; empty
    /// if not known. Any other violated rule has one finding.
    pub fn finding_counts(&self) -> &[(Rule, u32)] {
        &self.finding_counts
    }

    fn check_extensions(
        &mut self,
        parsed: &ParsedEntry<'_>,
        url: KnownUrl,
        context: &Context<'_>,
        links: &mut Vec<Link>,
    ) -> RuleSet {
        let ParsedEntry { entry, text, .. } = *parsed;
        let elements = parsed.elements.unwrap_or_else(|| {
            self.elements.read(entry, text, context.names);
            &self.elements
        });
        extension::check_elements(NotedEntry { parsed, elements, url }, context, &mut self.extensions, links)
    }

    /// Reads the fields of an entry on the fast path, in any order; `None` if it has to take the slow one. Also returns the
    /// range of the host in the decoded URL, if that has no faults.
    #[inline]
    fn read_plain(
        &mut self,
        parsed: &ParsedEntry<'_>,
        context: &Context<'_>,
        visit: &mut impl FnMut(&Record, &Location<'_>),
    ) -> Option<(CheckedEntry, Option<Range<usize>>)> {
        let ParsedEntry { entry, text, .. } = *parsed;
        // The Bing profile has a rule about valid dates, which this path does not check.
        if context.names.kind != FileKind::Urlset || context.profile == Profile::Bing {
            return None;
        }
        let mut record = Record::default();
        self.check_values((entry, text), context, &mut record)?;
        let span = entry.field(Field::Loc).filter(|span| span.value_start < span.value_end)?;
        let raw = entry.raw_value(Field::Loc, text)?;
        let undecoded = || match parsed.utf8 {
            Some(utf8) => utf8.get(span.value_start as usize..span.value_end as usize),
            None => std::str::from_utf8(raw).ok(),
        };
        let mut may_have_reference = span.text != TextKind::Plain;
        let loc = match span.text {
            TextKind::Plain => undecoded()?,
            // Only a reference at either end can stand for whitespace there.
            TextKind::Escaped if !raw.starts_with(b"&") && !raw.ends_with(b";") => {
                may_have_reference = escape::decode_into(undecoded()?, &mut self.decoded);
                &self.decoded
            }
            TextKind::Mixed => text_of_section(raw)?,
            _ => return None,
        };
        // A URL with white space or control characters at its ends, or escaped twice, takes the slow path.
        let (first, last) = (*loc.as_bytes().first()?, *loc.as_bytes().last()?);
        let is_visible = |byte: u8| byte.is_ascii_graphic() || !byte.is_ascii();
        let is_trimmed = || first.is_ascii() && last.is_ascii() || fields::trim_strict(loc).len() == loc.len();
        let is_escaped_twice = may_have_reference && fields::is_escaped_twice(loc);
        if !is_visible(first) || !is_visible(last) || !is_trimmed() || is_escaped_twice {
            return None;
        }
        let validated = self.origins.validate(loc, context.url_prefix);
        let Values { rules, facts, .. } = &mut self.values;
        if entry.anomalies != Anomalies::default() {
            *rules = rules.union(fields::structure(entry, text, context));
        }
        if !is_bare(span) {
            rules.insert(fields::whitespace_rule(Field::Loc));
            count_shared(&mut self.shared, fields::whitespace_rule(Field::Loc));
        }
        for rule in validated.faults.iter().filter_map(|fault| fields::loc_rule(fault, FileKind::Urlset)) {
            rules.insert(rule);
        }
        rules.insert_if(Rule::POLICY_NEVER, context.policy.is_some_and(|policy| policy.forbids(loc).is_some()));
        if let Some(site) = context.site {
            *rules = rules.union(site.rules(loc, context.url_prefix));
        }
        rules.insert_if(Rule::CHANGEFREQ_LASTMOD_CONFLICT, facts.conflict(context.now));
        record.note_entry(entry, span);
        if self.values.is_padded {
            record.flags.insert(Flags::ANOMALOUS);
        }
        visit(&record, &validated.location);
        let rules = self.values.rules;
        let host = validated.location.bare_host_range().filter(|_| validated.faults.is_empty());
        Some((CheckedEntry { record, rules, key: validated.key, near_key: validated.near_key }, host))
    }

    /// Checks the three values besides the URL and records them; `None` if one contains markup or references, or is
    /// irregular with white space around it.
    #[inline]
    fn check_values(
        &mut self,
        (entry, text): (&Entry, &[u8]),
        context: &Context<'_>,
        record: &mut Record,
    ) -> Option<()> {
        let raw = |field: Field| match entry.field(field) {
            None => Some(None),
            Some(span) if span.text == TextKind::Plain => entry.raw_value(field, text).map(Some),
            Some(_) => None,
        };
        let is_padded = |field: Field| entry.field(field).is_some_and(|span| !is_bare(span));
        let Self { values, value_cache: cache, shared, .. } = self;
        values.clear();
        shared.clear();
        if let Some(raw) = raw(Field::Lastmod)? {
            let sound =
                lastmod::parse_strict(raw).filter(|date| date.seconds <= context.now + fields::FUTURE_TOLERANCE);
            if let Some(instant) = sound {
                values.facts.lastmod = sound;
                record.note_instant(instant);
            } else if is_padded(Field::Lastmod) {
                return None;
            } else {
                values.add_irregular(cache.check(Field::Lastmod, raw, context)?, shared, record);
            }
        }
        if let Some(raw) = raw(Field::Changefreq)? {
            let sound = Changefreq::parse_bytes(raw);
            if let Some(word) = sound {
                values.facts.changefreq = sound;
                record.note_changefreq(word);
            } else if is_padded(Field::Changefreq) {
                return None;
            } else {
                values.add_irregular(cache.check(Field::Changefreq, raw, context)?, shared, record);
            }
        }
        if let Some(raw) = raw(Field::Priority)? {
            if let Some(hundredths) = priority::parse_tenths(raw) {
                record.note_priority(hundredths);
            } else if is_padded(Field::Priority) {
                return None;
            } else {
                values.add_irregular(cache.check(Field::Priority, raw, context)?, shared, record);
            }
        }
        for field in [Field::Lastmod, Field::Changefreq, Field::Priority] {
            if is_padded(field) {
                values.is_padded = true;
                values.rules.insert(fields::whitespace_rule(field));
                count_shared(shared, fields::whitespace_rule(field));
            }
        }
        Some(())
    }
}

/// The three values of an entry besides its URL.
#[derive(Debug, Default)]
struct Values {
    /// The rules that the values violate, and later those that the whole entry violates.
    rules: RuleSet,
    facts: FieldFacts,
    /// Whether a value has white space around it.
    is_padded: bool,
}

impl Values {
    /// Forgets the last entry. Each field is written by itself: a copy of the whole would be read in other widths than
    /// it was written, which processors do slowly.
    fn clear(&mut self) {
        self.rules = RuleSet::EMPTY;
        self.facts = FieldFacts::default();
        self.is_padded = false;
    }

    /// Adds a value that the strict parsers reject.
    fn add_irregular(&mut self, checked: &CheckedValue, shared: &mut Vec<(Rule, u32)>, record: &mut Record) {
        if checked.rules.intersects(fields::ANY_FIELD_RULES) {
            checked.rules.intersection(fields::ANY_FIELD_RULES).iter().for_each(|rule| count_shared(shared, rule));
        }
        self.rules = self.rules.union(checked.rules);
        self.facts.lastmod = self.facts.lastmod.or(checked.facts.lastmod);
        self.facts.changefreq = self.facts.changefreq.or(checked.facts.changefreq);
        record.take(checked.field, &checked.record);
    }
}

/// Counts one more field that violates a rule.
fn count_shared(shared: &mut Vec<(Rule, u32)>, rule: Rule) {
    match shared.iter_mut().find(|(known, _)| *known == rule) {
        Some((_, fields)) => *fields += 1,
        None => shared.push((rule, 1)),
    }
}

/// The text of a value that consists of one CDATA section. Rare, so it is kept out of the usual path.
#[cold]
fn text_of_section(raw: &[u8]) -> Option<&str> {
    only_section(std::str::from_utf8(raw).ok()?)
}

/// Whether a value fills its element, without white space around it.
const fn is_bare(span: &FieldSpan) -> bool {
    span.value_start == span.inner_start && span.value_end == span.inner_end
}

#[cfg(test)]
mod tests {
    use super::super::samples::{self, NOW, SeenEntries, any_value};
    use super::*;
    use crate::check::rule::Profile;
    use crate::progress::{Progress, work};
    use crate::protocol::location::UrlPrefix;
    use crate::xml::names::Names;
    use crate::xml::scan::{Ignore, Visit, scan};
    use proptest::prelude::*;

    /// The rules that an entry violates and its alternate links, by the functions that check one entry.
    fn check_and_collect(entry: &Entry, text: &[u8], context: &Context<'_>, links: &mut Vec<Link>) -> RuleSet {
        let mut rules = fields::check_fields(entry, text, context).union(site_entry::rules(entry, text, context));
        if extension::has_content(entry, text) {
            let elements = Elements::of(entry, text, context.names);
            let key = entry.value(Field::Loc, text).map_or(NO_KEY, |loc| location::key_hash(&loc));
            let url = KnownUrl { key, host: None };
            let noted = NotedEntry { parsed: &ParsedEntry::new(text, entry), elements: &elements, url };
            let found = extension::check_elements(noted, context, &mut Cache::default(), links);
            rules = rules.union(found);
        }
        context.enabled(rules)
    }

    /// An entry of a file, with layouts and extensions of any kind.
    fn any_entry() -> impl Strategy<Value = String> {
        let field = |field: Field| {
            let around = prop::sample::select(vec!["", "", "", "", " ", "\n", "<!-- k -->"]);
            let attribute = prop::sample::select(vec!["", "", "", " a='b'"]);
            (any_value(field), around, attribute, 0..12_u8).prop_map(move |(value, around, attribute, writing)| {
                let Some(value) = value else { return String::new() };
                let value = match writing {
                    0 => value,
                    1 => format!("<![CDATA[{value}]]>"),
                    2 => escape::escape(&escape::escape(&value)).into_owned(),
                    _ => escape::escape(&value).into_owned(),
                };
                format!("<{0}{attribute}>{around}{value}{around}</{0}>", field.name())
            })
        };
        let extra = prop::sample::select(vec![
            "",
            "",
            "",
            "<x/>",
            "<priority/><y:z/>",
            "k<loc>https://e.com/2</loc>",
            "<image:image><image:loc>https://e.com/a.png</image:loc></image:image>",
            "<xhtml:link rel=\"alternate\" hreflang=\"de\" href=\"https://e.com/de\"/>",
        ]);
        let lead = prop::sample::select(vec!["", "\n  ", "<!-- k -->", "<image:image/>"]);
        (lead, Field::ALL.map(field), extra, any::<bool>()).prop_map(|(lead, fields, extra, swapped)| {
            let [loc, lastmod, changefreq, priority] = fields;
            let (one, other) = if swapped { (priority, changefreq) } else { (changefreq, priority) };
            format!("{lead}<url>{loc}{lastmod}{one}{other}{extra}</url>")
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_024))]
        #[test]
        fn reading_many_entries_equals_reading_each_alone(
            texts in prop::collection::vec(any_entry(), 1..6), index in prop::bool::weighted(0.1),
            profile in prop::sample::select(Profile::ALL.to_vec()), at_home in any::<bool>(),
        ) {
            let names = Names::plain(if index { FileKind::Index } else { FileKind::Urlset });
            let url_prefix = UrlPrefix::parse("https://example.com/b/sitemap.xml").filter(|_| at_home);
            let context = Context { now: NOW, profile, names: &names, url_prefix: url_prefix.as_ref(), policy: None, site: None };
            let mut reading = EntryReader::with_near_keys();
            for text in texts.iter().chain(&texts).map(String::as_bytes) {
                let entry = Entry::of(text, &names);
                let (mut links, mut own, mut origin) = (Vec::new(), Vec::new(), None);
                let parsed = ParsedEntry::new(text, &entry);
                let read = reading.read(&parsed, &context, &mut links, |_, location| {
                    origin = location.origin().map(|(origin, _)| origin.to_owned());
                });
                let loc = entry.value(Field::Loc, text).unwrap_or_default();
                let alone = CheckedEntry {
                    record: Record::of(&entry, text),
                    rules: check_and_collect(&entry, text, &context, &mut own),
                    key: location::key_hash(&loc),
                    near_key: location::near_key_hash(&loc),
                };
                prop_assert_eq!(read, alone, "{}", String::from_utf8_lossy(text));
                prop_assert_eq!(links, own);
                prop_assert_eq!(origin.as_deref(), location::origin(&loc).map(|(origin, _)| origin));
            }
        }
    }

    /// An entry with up to five extensions of any kind, among them sections, references and strange prefixes.
    fn any_extended_entry() -> impl Strategy<Value = String> {
        let odd = [
            "<image:image><image:loc><![CDATA[https://e.com/a.png]]></image:loc><image:title>a &amp; b</image:title></image:image>",
            "<image:image><image:loc>https://cdn.e.com/?a&amp;b</image:loc></image:image>",
            "<image:image><image:loc>https://e.com/a.png</image:loc><!-- k --></image:image>",
            "<i:image xmlns:i=\"http://www.google.com/schemas/sitemap-image/1.1\"><i:loc>https://e.com/b</i:loc></i:image>",
            "<q:r xmlns:q=\"urn:q\"><q:s/></q:r>",
            "<xhtml:link rel=\"alternate\" hreflang=\"de\" href=\"https://example.com/a\"/>",
            "<xhtml:link rel=\"alternate\" hreflang=\"DE\" href=\"https://example.com/b\"/>",
            "<xhtml:link rel='alternate' hreflang='en&#45;GB' href='https://example.com/?a&amp;b' x='1'/>",
            "<xhtml:link rel=\"alternate\" hreflang=\"x-default\" href=\"https://example.com/a\"/>",
            "<lastmod>2026-01-01</lastmod>",
        ];
        let sound = samples::extensions().into_iter().map(|(text, _)| text);
        let all: Vec<String> = odd.into_iter().map(str::to_owned).chain(sound).collect();
        let extensions = prop::collection::vec(prop::sample::select(all), 0..6);
        (any_value(Field::Loc), extensions).prop_map(|(loc, extensions)| {
            let loc = loc.map(|loc| format!("<loc>{}</loc>", escape::escape(&loc))).unwrap_or_default();
            format!("\n<url>{loc}{}</url>", extensions.concat())
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn reading_with_noted_elements_equals_reading_each_entry_alone(
            texts in prop::collection::vec(any_extended_entry(), 1..6),
            profile in prop::sample::select(Profile::ALL.to_vec()),
        ) {
            let mut seen = SeenEntries::default();
            let file = format!("{}{}\n</urlset>", samples::ROOT, texts.concat());
            let names = scan(file.as_bytes(), &mut seen, &Progress::default()).names.unwrap();
            prop_assert_eq!(seen.0.len(), texts.len());
            let context = Context { now: NOW, profile, names: &names, url_prefix: None, policy: None, site: None };
            let mut reading = EntryReader::with_near_keys();
            for (text, entry, elements) in seen.0.iter().chain(&seen.0) {
                let (mut links, mut own) = (Vec::new(), Vec::new());
                let parsed = ParsedEntry { elements: elements.as_ref(), ..ParsedEntry::new(text, entry) };
                let read = reading.read(&parsed, &context, &mut links, |_, _| {});
                let rules = check_and_collect(entry, text, &context, &mut own);
                prop_assert_eq!(read.rules, rules, "{}", String::from_utf8_lossy(text));
                prop_assert_eq!(read.record, Record::of(entry, text));
                prop_assert_eq!(links, own);
            }
        }
    }

    /// Reads the entries of a scan with one reader, and compares the results with those of a new reader for each entry.
    struct Compared<'c> {
        context: Context<'c>,
        reading: EntryReader,
        repeats: usize,
    }

    impl Visit for Compared<'_> {
        fn entry(&mut self, _: &[u8], _: &Entry, _: &Names) {}

        fn parsed(&mut self, parsed: &ParsedEntry<'_>, names: &Names) {
            let ParsedEntry { text, entry, elements, repeats, .. } = *parsed;
            self.repeats += usize::from(repeats);
            let context = Context { names, ..self.context };
            let (mut links, mut own) = (Vec::new(), Vec::new());
            let read = self.reading.read(parsed, &context, &mut links, |_, _| {});
            let (mut alone, parsed) = (EntryReader::with_near_keys(), ParsedEntry::new(text, entry));
            assert_eq!(read, alone.read(&parsed, &context, &mut own, |_, _| {}), "{}", String::from_utf8_lossy(text));
            assert_eq!(
                (self.reading.finding_counts(), &links),
                (alone.finding_counts(), &own),
                "{}",
                String::from_utf8_lossy(text)
            );
            assert!(elements.is_none_or(|elements| *elements == Elements::of(entry, text, names)));
        }
    }

    /// An extension of a kind that an entry can have many of.
    fn any_block() -> impl Strategy<Value = String> {
        let link = |(code, page): (&str, u8)| {
            format!("\n<xhtml:link rel=\"alternate\" hreflang=\"{code}\" href=\"https://example.com/{page}\"/>")
        };
        let code = prop::sample::select(vec!["en", "de", "DE", "x-default", "xx", ""]);
        let links = prop::collection::vec((code, 0..3_u8).prop_map(link), 0..4).prop_map(|links| links.concat());
        let image = "<image:image><image:loc>https://example.com/1.png</image:loc></image:image>";
        let own = "<x:a xmlns:x=\"urn:x\"/>";
        (links, prop::sample::select(vec!["", "", "", image, "<!-- k -->", own])).prop_map(|(links, odd)| links + odd)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn reading_repeated_extensions_equals_reading_each_entry_alone(
            blocks in prop::collection::vec(any_block(), 1..3),
            entries in prop::collection::vec((0..4_u8, 0..3_usize, 0..12_u8), 1..12),
            profile in prop::sample::select(Profile::ALL.to_vec()),
        ) {
            let entry = |(page, block, odd): &(u8, usize, u8)| {
                let block = blocks.get(*block).map_or("", String::as_str);
                let (before, between, behind) = match odd {
                    0 => ("", "<lastmod>2026-01-01</lastmod>", ""),
                    1 => ("<image:image/>", "", ""),
                    2 => ("", "", "<lastmod>2026-01-01</lastmod>"),
                    3 => ("", "", "<xhtml:link rel=\"alternate\" hreflang=\"fr\" href=\"https://example.com/2\"/>"),
                    4 => ("", "<y:b xmlns:y=\"urn:y\"/>", ""),
                    5 => ("<!-- k -->", "", "<!-- k -->"),
                    _ => ("", "", ""),
                };
                format!("{before}\n<url><loc>https://example.com/{page}</loc>{between}{block}{behind}</url>")
            };
            let file = format!("{}{}\n</urlset>", samples::ROOT, entries.iter().map(entry).collect::<String>());
            let names = Names::plain(FileKind::Urlset);
            let context = Context { now: NOW, profile, names: &names, url_prefix: None, policy: None, site: None };
            let mut compared = Compared { context, reading: EntryReader::with_near_keys(), repeats: 0 };
            scan(file.as_bytes(), &mut compared, &Progress::default());
        }
    }

    #[test]
    fn repeated_extensions_are_not_parsed_again() {
        let link = "<xhtml:link rel=\"alternate\" hreflang=\"de\" href=\"https://example.com/de\"/>";
        let entry =
            |page: u32, late: &str| format!("<url><loc>https://example.com/{page}</loc>\n{link}\n{link}{late}</url>");
        let late = "<lastmod>2026-01-01</lastmod>";
        let entries = [entry(1, ""), entry(20, late), entry(300, link), entry(4, link)].concat();
        let file = format!("{}{entries}</urlset>", samples::ROOT);
        let names = Names::plain(FileKind::Urlset);
        let profile = Profile::Protocol;
        let context = Context { now: NOW, profile, names: &names, url_prefix: None, policy: None, site: None };
        let mut compared = Compared { context, reading: EntryReader::with_near_keys(), repeats: 0 };
        scan(file.as_bytes(), &mut compared, &Progress::default());
        // The third entry has one link more; the fourth repeats all of its links.
        assert_eq!(compared.repeats, 2);
    }

    #[test]
    fn any_number_of_element_names_is_read_like_each_alone() {
        let name = |number: usize| {
            format!("<image:a{number}><image:b{number}/></image:a{number}><video:b{number}>v</video:b{number}>")
        };
        // More names than the scan keeps, in changing order.
        let entry = |page: usize| {
            let names: String = (0..90).map(|number| name(number * (page + 1) % 90)).collect();
            format!("<url><loc>https://example.com/{page}</loc>{names}</url>")
        };
        let file = format!("{}{}</urlset>", samples::ROOT, (0..4).map(entry).collect::<String>());
        let names = Names::plain(FileKind::Urlset);
        let profile = Profile::Protocol;
        let context = Context { now: NOW, profile, names: &names, url_prefix: None, policy: None, site: None };
        let mut compared = Compared { context, reading: EntryReader::with_near_keys(), repeats: 0 };
        scan(file.as_bytes(), &mut compared, &Progress::default());
    }

    #[test]
    fn a_plain_entry_takes_the_fast_path() {
        let names = Names::plain(FileKind::Urlset);
        let context =
            Context { now: NOW, profile: Profile::Protocol, names: &names, url_prefix: None, policy: None, site: None };
        let mut reading = EntryReader::with_near_keys();
        let (loc, link) = ("<loc>https://e.com/a?b&amp;c</loc>", "<xhtml:link rel=\"alternate\" href=\"/\"/>");
        let late = "<lastmod>2026-11-18</lastmod>";
        for (text, quick) in [
            (format!("<url>{loc}</url>"), true),
            (format!("<url>{loc}<lastmod>2026-11-18</lastmod><priority>0.5</priority></url>"), true),
            (format!("<url>{loc}{link}</url>"), true),
            (format!("<url>{loc}{link}{late}</url>"), true),
            (format!("<url>{loc}<lastmod>2026-13-18</lastmod></url>"), true),
            (format!("<url>{loc}<priority>1.0000</priority>{late}</url>"), true),
            (format!("<url>{loc}<priority> 0.5</priority></url>"), true),
            (format!("<url>{loc}<priority> high</priority></url>"), false),
            (format!("<url>{loc}<priority></priority></url>"), true),
            (format!("<url>{loc}<priority><!-- k -->0.5</priority></url>"), false),
            (format!("<url>{loc}<x/></url>"), true),
            (format!("<url>{loc}{loc}</url>"), true),
            ("<url><loc a='b'>\n  https://e.com/a\n</loc></url>".to_owned(), true),
            ("<url><loc><![CDATA[https://e.com/a?b&c]]></loc></url>".to_owned(), true),
            ("<url><loc><![CDATA[https://e.com/a?b&amp;c]]></loc></url>".to_owned(), false),
            ("<url><loc><![CDATA[https://e.com/a]]>b<![CDATA[c]]></loc></url>".to_owned(), false),
            ("<url><loc>https://e.com/a?b&amp;c;d</loc></url>".to_owned(), true),
            ("<url><loc>https://e.com/a?b&amp;amp;c</loc></url>".to_owned(), false),
            ("<url/>".to_owned(), false),
        ] {
            let entry = Entry::of(text.as_bytes(), &names);
            let found = reading.read_plain(&ParsedEntry::new(text.as_bytes(), &entry), &context, &mut |_, _| {});
            assert_eq!(found.is_some(), quick, "{text}");
        }
    }

    /// Reads the entries of a scan and drops the results.
    struct Reading(EntryReader);

    impl Visit for Reading {
        fn entry(&mut self, _: &[u8], _: &Entry, _: &Names) {}

        fn parsed(&mut self, parsed: &ParsedEntry<'_>, names: &Names) {
            let context =
                Context { now: NOW, profile: Profile::Protocol, names, url_prefix: None, policy: None, site: None };
            self.0.read(parsed, &context, &mut Vec::new(), |_, _| {});
        }
    }

    #[test]
    fn entries_with_extensions_are_tokenised_once() {
        let (clean, noisy) = ("<lastmod>2026-10-01</lastmod>", "<lastmod>2026/7/8</lastmod><priority>high</priority>");
        for (extensions, _) in samples::extensions() {
            for fields in [clean, noisy] {
                let entry =
                    |number| format!("<url><loc>https://example.com/{number}</loc>{fields}{extensions}</url>\n");
                let entries: String = (0..100).map(entry).collect();
                let text = format!("{}{entries}</urlset>", samples::ROOT);
                let scanned = work::here(|| {
                    scan(text.as_bytes(), &mut Ignore, &Progress::default());
                });
                let read = work::here(|| {
                    scan(text.as_bytes(), &mut Reading(EntryReader::default()), &Progress::default());
                });
                assert_eq!(read, scanned, "the rules tokenise the entry again: {extensions}");
                assert!(scanned < 2 * text.len() as u64, "{scanned} of {} bytes: {extensions}", text.len());
            }
        }
    }
}
