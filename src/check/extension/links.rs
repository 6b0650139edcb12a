//! Rules about alternate links (`hreflang`): the language versions of a page.
//!
//! Links for other devices (`media`) and to apps (`android-app:`, `ios-app:`) are allowed and are not language
//! versions. All other links are checked here, also those without `hreflang`.

use super::blocks::is_same_page;
use super::cache::{Cache, Href, Language, Languages, Version, normalized};
use super::outline::Outline;
use super::values::LOC_ONLY_FAULTS;
use super::{About, EntryContext, Sink, namespace};
use crate::check::fields::{is_escaped_twice, loc_rule};
use crate::check::rule::{Rule, RuleSet};
use crate::check::set;
use crate::protocol::extension::{self, Kind, hreflang};
use crate::protocol::location::{self, Fault, Faults, Location};
use crate::protocol::namespace::Namespace;
use crate::xml::elements::Node;
use crate::xml::escape;
use crate::xml::names::FileKind;
use std::borrow::Cow;

/// The attributes of one link, as written.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Link<'t> {
    /// Its relation to the page.
    rel: Option<&'t [u8]>,
    /// Its language.
    code: Option<&'t [u8]>,
    /// Its URL, and the index of that attribute.
    href: Option<(usize, &'t [u8])>,
    /// Whether it names the devices that it is for.
    media: bool,
    /// Bit set of the positions of unknown attributes among the first 32.
    unknown_attributes: u32,
}

impl<'t> Link<'t> {
    /// Reads the attributes of an element.
    pub(super) fn of(outline: &Outline<'t>, node: &Node) -> Self {
        let mut link = Self::default();
        for (index, attribute) in outline.attributes(node).enumerate() {
            match attribute.name {
                b"rel" => link.rel = Some(attribute.value),
                b"hreflang" => link.code = Some(attribute.value),
                b"href" => link.href = Some((index, attribute.value)),
                b"media" => link.media = true,
                name if is_unknown_attribute(name) && index < 32 => link.unknown_attributes |= 1 << index,
                _ => {}
            }
        }
        link
    }

    /// Its URL, decoded; empty if it has none.
    pub(super) fn url(&self, outline: &Outline<'t>) -> Cow<'t, str> {
        self.href.map(|(_, href)| outline.decoded(href)).unwrap_or_default()
    }

    /// Whether it is for another device or an app and so not a language version.
    pub(super) fn is_for_device_or_app(&self, outline: &Outline<'t>) -> bool {
        let is_app = |url: &str| url.starts_with("android-app://") || url.starts_with("ios-app://");
        self.code.is_none() && (self.media || is_app(&self.url(outline)))
    }

    fn is_alternate(&self, outline: &Outline<'t>) -> bool {
        let is_listed =
            |rel| outline.decoded(rel).split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("alternate"));
        self.rel.is_some_and(|rel| rel == b"alternate" || is_listed(rel))
    }

    /// Whether it leads to an AMP page.
    fn is_amp(&self, outline: &Outline<'t>) -> bool {
        self.code.is_none() && self.rel.is_some_and(|rel| outline.decoded(rel).eq_ignore_ascii_case("amphtml"))
    }
}

/// The language versions that an entry lists: offset and URL of each link, and the link as the set rules compare it.
pub(super) fn versions(outline: Outline<'_>) -> impl Iterator<Item = (u32, Cow<'_, str>, set::Link)> {
    versions_with_codes(outline).map(|(at, _, href, link)| (at, href, link))
}

/// The language versions of an entry with their decoded language codes.
pub(super) fn versions_with_codes(
    outline: Outline<'_>,
) -> impl Iterator<Item = (u32, Cow<'_, str>, Cow<'_, str>, set::Link)> {
    let mut languages = Languages::default();
    links(outline).filter_map(move |(_, node)| {
        let link = Link::of(&outline, node);
        let raw = link.code.filter(|code| !code.is_empty())?;
        let url = Some(link.url(&outline)).filter(|url| !url.is_empty())?;
        let number = languages.number(raw);
        let set_link = set_link(languages.get(number)?, &Location::of(&url));
        Some((node.tag.start as u32, escape::decode(raw), url, set_link))
    })
}

fn links(outline: Outline<'_>) -> impl Iterator<Item = (u32, &Node)> {
    outline.top_level().filter(|(_, node)| namespace(node) == Namespace::Xhtml)
}

/// A link as the set rules compare it.
fn set_link(language: &Language, href: &Location<'_>) -> set::Link {
    set::Link { key: href.key_hash(), code: language.hash, host: set::host_hash(href.host()) }
}

pub(super) fn validate(
    outline: &Outline<'_>,
    entry_context: &EntryContext<'_>,
    cache: &mut Cache,
    sink: &mut impl Sink,
) {
    cache.versions.clear();
    cache.languages.begin();
    if links(*outline).next().is_none() {
        return;
    }
    let outline = &outline.with_searched_references();
    for (number, node) in links(*outline) {
        let link = Link::of(outline, node);
        if link.unknown_attributes != 0 {
            let mut end = 0;
            for (column, attribute) in outline.attributes(node).take(32).enumerate() {
                let start = std::mem::replace(&mut end, outline.end_among_attributes(node, &attribute)) as u32;
                if link.unknown_attributes & 1 << column != 0 {
                    sink.breach(Rule::EXT_UNKNOWN_ATTRIBUTE, number, About::UnknownAttribute(start));
                }
            }
        }
        if link.is_for_device_or_app(outline) {
            continue;
        }
        // Some generators write `amphtml` links, which have no effect in a sitemap.
        if link.is_amp(outline) {
            sink.breach(Rule::DOC_UNKNOWN_ELEMENT, number, About::Element);
            continue;
        }
        if !link.is_alternate(outline) {
            sink.breach(Rule::HREFLANG_ATTR, number, About::Attribute("rel", Kind::Text));
        }
        let language = link.code.filter(|code| !code.is_empty()).map(|code| cache.languages.number(code));
        match language.and_then(|language| cache.languages.get(language)) {
            None => sink.breach(Rule::HREFLANG_ATTR, number, About::Attribute("hreflang", Kind::Text)),
            Some(language) => report_code_faults(number, language.faults, sink),
        }
        let url = link.url(outline);
        if url.is_empty() {
            sink.breach(Rule::HREFLANG_ATTR, number, About::Attribute("href", Kind::Text));
            continue;
        }
        let Href { faults, key, host } = cache.href(&url, entry_context);
        // A borrowed URL has no ampersand.
        if matches!(url, Cow::Owned(_)) && is_escaped_twice(&url) {
            sink.breach(Rule::XML_DOUBLE_ESCAPED, number, About::Attribute("href", Kind::Text));
        }
        report_url_faults(number, faults, sink);
        if let Some(language) = language
            && let Some(known) = cache.languages.get(language)
        {
            sink.link(set::Link { key, code: known.hash, host });
            cache.versions.push(Version { number, language, href: link.href.map_or(0, |(index, _)| index), key });
        }
    }
    if let Some(first) = cache.versions.first().map(|version| version.number) {
        validate_versions(outline, first, (entry_context, cache), sink);
    }
}

fn report_code_faults(number: u32, faults: hreflang::Faults, sink: &mut impl Sink) {
    if faults == hreflang::Faults::default() {
        return;
    }
    let table = [
        (faults.is_unknown, Rule::HREFLANG_CODE),
        (faults.has_other_separator, Rule::HREFLANG_SEPARATOR),
        (faults.is_reserved, Rule::HREFLANG_REGION_RESERVED),
        (faults.has_unusual_case, Rule::HREFLANG_CASE),
    ];
    for (_, rule) in table.into_iter().filter(|(is, _)| *is) {
        sink.breach(rule, number, About::Attribute("hreflang", Kind::Text));
    }
}

fn report_url_faults(number: u32, faults: Faults, sink: &mut impl Sink) {
    for fault in faults.minus(LOC_ONLY_FAULTS).iter() {
        let rule = match fault {
            Fault::NotAbsolute => Some(Rule::HREFLANG_HREF_RELATIVE),
            _ => loc_rule(fault, FileKind::Urlset),
        };
        if let Some(rule) = rule {
            sink.breach(rule, number, About::Url(fault, Some("href")));
        }
    }
}

/// Checks the language versions of one entry together.
fn validate_versions(
    outline: &Outline<'_>,
    first: u32,
    (entry_context, cache): (&EntryContext<'_>, &mut Cache),
    sink: &mut impl Sink,
) {
    let Cache { languages, versions, .. } = cache;
    let language = |version: &Version| languages.get(version.language);
    let is_default = |version: &Version| language(version).is_some_and(|language| language.is_default);
    if !versions.iter().any(is_default) {
        sink.breach(Rule::HREFLANG_NO_X_DEFAULT, first, About::Element);
    }
    validate_page(outline, entry_context, (languages, versions), sink);
    let class = |version: &Version| language(version).map_or(usize::MAX, |language| language.class);
    // Fast path: nearly always each language occurs once.
    let mut seen = [0_u64; 4];
    let is_new = |version: &Version| {
        let class = class(version);
        let Some(word) = seen.get_mut(class / 64) else { return false };
        let is_new = *word & 1 << (class % 64) == 0;
        *word |= 1 << (class % 64);
        is_new
    };
    if versions.iter().all(is_new) {
        return;
    }
    // Sorting puts links of one language next to each other, in the order of the text.
    let code = |version: &Version| language(version).map_or("", |language| &*language.code);
    versions.sort_by(|one, other| normalized(code(one)).cmp(normalized(code(other))));
    for versions in versions.chunk_by(|one, other| class(one) == class(other)) {
        let Some((first, repeats)) = versions.split_first() else { continue };
        for other in repeats {
            let is_same = url_of(outline, first) == url_of(outline, other);
            let rule = if is_same { Rule::HREFLANG_DUPLICATE } else { Rule::HREFLANG_DUPLICATE_DIFFERENT };
            sink.breach(rule, other.number, About::Other(first.number));
        }
    }
}

/// The rules about alternate links that depend on the page that lists them.
pub(super) const PAGE_RULES: RuleSet = RuleSet::of(&[Rule::HREFLANG_SELF_CONFLICT, Rule::HREFLANG_SELF_MISSING]);

/// Whether all elements of an entry are alternate links.
pub(super) fn are_all_alternates(outline: &Outline<'_>) -> bool {
    outline.nodes().iter().all(|node| node.element.is_some() && namespace(node) == Namespace::Xhtml)
}

/// Checks only [`PAGE_RULES`], for a page that lists the same alternate links as the one validated before.
pub(super) fn validate_again(
    outline: &Outline<'_>,
    entry_context: &EntryContext<'_>,
    cache: &Cache,
    sink: &mut impl Sink,
) {
    validate_page(outline, entry_context, (&cache.languages, &cache.versions), sink);
}

fn validate_page(
    outline: &Outline<'_>,
    entry_context: &EntryContext<'_>,
    (languages, versions): (&Languages, &[Version]),
    sink: &mut impl Sink,
) {
    let Some(first) = versions.iter().map(|version| version.number).min() else { return };
    let language = |version: &Version| languages.get(version.language);
    if !entry_context.page.is_empty() {
        let known = entry_context.known.as_ref().map(|known| known.key);
        let key = known.unwrap_or_else(|| location::key_hash(&entry_context.page));
        let (mut is_listed, mut named): (bool, Option<(&str, u32)>) = (false, None);
        for version in versions.iter().filter(|version| version.key == key) {
            if !is_same_page(&url_of(outline, version), &entry_context.page) {
                continue;
            }
            is_listed = true;
            let Some(language) = language(version).filter(|language| !language.is_default) else { continue };
            match named {
                None => named = Some((&language.code, version.number)),
                Some((known, at)) if !known.eq_ignore_ascii_case(&language.code) => {
                    sink.breach(Rule::HREFLANG_SELF_CONFLICT, version.number, About::Other(at));
                    break;
                }
                Some(_) => {}
            }
        }
        if !is_listed {
            sink.breach(Rule::HREFLANG_SELF_MISSING, first, About::Element);
        }
    }
}

/// The URL of a version, decoded.
fn url_of<'t>(outline: &Outline<'t>, version: &Version) -> Cow<'t, str> {
    let href = outline.node_at(version.number).and_then(|node| outline.attributes(node).nth(version.href));
    href.map(|href| outline.decoded(href.value)).unwrap_or_default()
}

/// Whether an alternate link has no attribute of that name. Namespace declarations and attributes of other namespaces
/// are always allowed.
fn is_unknown_attribute(name: &[u8]) -> bool {
    let known = extension::root(Namespace::Xhtml).and_then(|root| root.attribute(name));
    known.is_none() && !name.contains(&b':') && name != b"xmlns"
}
