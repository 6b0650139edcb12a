//! Rules about alternate links (`hreflang`): the language versions of a page.
//!
//! Links for other devices (`media`) and into apps (`android-app:`, `ios-app:`) are legal and are no language
//! versions; only links with `hreflang`, or with no hint what they are, are checked here.

use super::blocks::is_same_page;
use super::outline::{Node, Outline, TOP};
use super::values::OF_LOC;
use super::{About, EntryContext, Sink, namespace};
use crate::check::entry::{is_escaped_twice, loc_rule};
use crate::check::rule::Rule;
use crate::check::set;
use crate::protocol::extension::{self, Kind, hreflang};
use crate::protocol::location::{self, Fault, Location};
use crate::protocol::namespace::Namespace;
use crate::xml::escape;
use crate::xml::markup;
use crate::xml::names::FileKind;
use std::borrow::Cow;

/// The attributes of one link.
#[derive(Debug, Default)]
pub(super) struct Link<'t> {
    /// What the link is.
    pub rel: Option<Cow<'t, str>>,
    /// Its language.
    pub code: Option<Cow<'t, str>>,
    /// Its URL.
    pub href: Option<Cow<'t, str>>,
    /// Its devices.
    pub media: bool,
    /// Places of attributes that such a link does not have, as bits; of the first 32.
    unknown_columns: u32,
}

impl<'t> Link<'t> {
    /// Reads the attributes of a tag.
    pub fn of(attributes: &'t [u8]) -> Self {
        let mut link = Self::default();
        for (place, attribute) in markup::attributes(attributes).enumerate() {
            match attribute.name {
                b"rel" if attribute.value == b"alternate" => link.rel = Some(Cow::Borrowed("alternate")),
                b"rel" => link.rel = Some(escape::decode(attribute.value)),
                b"hreflang" => link.code = Some(escape::decode(attribute.value)),
                b"href" => link.href = Some(escape::decode(attribute.value)),
                b"media" => link.media = true,
                name if is_stranger(name) && place < 32 => link.unknown_columns |= 1 << place,
                _ => {}
            }
        }
        link
    }

    /// Whether it is for another device or an app, and no language version.
    pub fn is_other(&self) -> bool {
        let is_app = |href: &str| href.starts_with("android-app://") || href.starts_with("ios-app://");
        self.code.is_none() && (self.media || self.href.as_deref().is_some_and(is_app))
    }

    fn is_alternate(&self) -> bool {
        self.rel.as_deref().is_some_and(|rel| {
            rel == "alternate" || rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("alternate"))
        })
    }
}

/// One language version of the page.
struct Version<'t> {
    code: Cow<'t, str>,
    href: Cow<'t, str>,
    /// The number of the link's element.
    number: u32,
    key: u64,
}

/// The language versions that an entry lists: the place of each link, its URL, and what the set compares.
pub(super) fn versions<'t>(outline: &Outline<'t>) -> impl Iterator<Item = (u32, Cow<'t, str>, set::Link)> {
    links(outline).filter_map(|(_, node)| {
        let link = Link::of(node.tag.attributes(outline.text));
        let code = link.code.filter(|code| !code.is_empty())?;
        let href = link.href.filter(|href| !href.is_empty())?;
        let compared = compared(&code, &Location::of(&href));
        Some((node.tag.start as u32, href, compared))
    })
}

/// The language and the URL of each version, as written and decoded.
pub(super) fn coded(outline: &Outline<'_>) -> Vec<(String, String, set::Link)> {
    let coded = links(outline).filter_map(|(_, node)| {
        let link = Link::of(node.tag.attributes(outline.text));
        let code = link.code.filter(|code| !code.is_empty())?;
        let href = link.href.filter(|href| !href.is_empty())?;
        let compared = compared(&code, &Location::of(&href));
        Some((code.into_owned(), href.into_owned(), compared))
    });
    coded.collect()
}

fn links<'o>(outline: &'o Outline<'_>) -> impl Iterator<Item = (u32, &'o Node)> {
    let tops = (0..).zip(&outline.nodes).filter(|(_, node)| node.parent == TOP && node.element.is_some());
    tops.filter(|(_, node)| namespace(node) == Namespace::Xhtml)
}

/// What the rules of the set compare of a link.
fn compared(code: &str, href: &Location<'_>) -> set::Link {
    let hash = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    set::Link { key: href.key_hash(), code: letters(code).fold(0x811c_9dc5, hash), host: set::host_hash(href.host()) }
}

pub(super) fn validate(outline: &Outline<'_>, entry_context: &EntryContext<'_>, sink: &mut impl Sink) {
    let mut versions: Vec<Version<'_>> = Vec::new();
    for (number, node) in links(outline) {
        let link = Link::of(node.tag.attributes(outline.text));
        if link.unknown_columns != 0 {
            let slice = node.tag.attributes(outline.text);
            let mut list = markup::attributes(slice);
            for number_of in 0..32 {
                let place = (slice.len() - list.rest().len()) as u32;
                let is_stranger = list.next().is_some() && link.unknown_columns & 1 << number_of != 0;
                if is_stranger {
                    sink.breach(Rule::EXT_UNKNOWN_ATTRIBUTE, number, About::Stranger(place));
                }
            }
        }
        if link.is_other() {
            continue;
        }
        // Seen in the wild and of no use in a sitemap; it claims no language.
        if link.code.is_none() && link.rel.as_deref().is_some_and(|rel| rel.eq_ignore_ascii_case("amphtml")) {
            sink.breach(Rule::DOC_UNKNOWN_ELEMENT, number, About::Element);
            continue;
        }
        if !link.is_alternate() {
            sink.breach(Rule::HREFLANG_ATTR, number, About::Attribute("rel", Kind::Text));
        }
        let (code, href) = (link.code.unwrap_or_default(), link.href.unwrap_or_default());
        if code.is_empty() {
            sink.breach(Rule::HREFLANG_ATTR, number, About::Attribute("hreflang", Kind::Text));
        } else {
            self::code(number, &code, sink);
        }
        if href.is_empty() {
            sink.breach(Rule::HREFLANG_ATTR, number, About::Attribute("href", Kind::Text));
            continue;
        }
        if is_escaped_twice(&href) {
            sink.breach(Rule::XML_DOUBLE_ESCAPED, number, About::Attribute("href", Kind::Text));
        }
        let location = Location::of(&href);
        self::href(number, &location, sink);
        if !code.is_empty() {
            let compared = compared(&code, &location);
            sink.link(compared);
            versions.push(Version { code, href, number, key: compared.key });
        }
    }
    if let Some(first) = versions.first().map(|version| version.number) {
        cluster(&mut versions, first, entry_context, sink);
    }
}

fn code(number: u32, code: &str, sink: &mut impl Sink) {
    let faults = hreflang::validate(code);
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

fn href(number: u32, href: &Location<'_>, sink: &mut impl Sink) {
    for fault in href.validate().minus(OF_LOC).iter() {
        let rule = match fault {
            Fault::NotAbsolute => Some(Rule::HREFLANG_HREF_RELATIVE),
            _ => loc_rule(fault, FileKind::Urlset),
        };
        if let Some(rule) = rule {
            sink.breach(rule, number, About::Url(fault, Some("href")));
        }
    }
}

/// What the language versions of one entry say together.
fn cluster(versions: &mut [Version<'_>], first: u32, entry_context: &EntryContext<'_>, sink: &mut impl Sink) {
    if !versions.iter().any(|Version { code, .. }| hreflang::is_default(code)) {
        sink.breach(Rule::HREFLANG_NO_X_DEFAULT, first, About::Element);
    }
    if !entry_context.page.is_empty() {
        let page = (&*entry_context.page, location::key_hash(&entry_context.page));
        let (mut is_listed, mut named): (bool, Option<(&str, u32)>) = (false, None);
        for Version { code, href, number, key } in versions.iter() {
            if !is_page((href, *key), page) {
                continue;
            }
            is_listed = true;
            if hreflang::is_default(code) {
                continue;
            }
            match named {
                None => named = Some((code, *number)),
                Some((known, at)) if !known.eq_ignore_ascii_case(code) => {
                    sink.breach(Rule::HREFLANG_SELF_CONFLICT, *number, About::Other(at));
                    break;
                }
                Some(_) => {}
            }
        }
        if !is_listed {
            sink.breach(Rule::HREFLANG_SELF_MISSING, first, About::Element);
        }
    }
    // Links of one language meet, in the order of the text.
    versions.sort_by(|one, other| letters(&one.code).cmp(letters(&other.code)));
    for versions in versions.chunk_by(|one, other| letters(&one.code).eq(letters(&other.code))) {
        let Some((first, repeats)) = versions.split_first() else { continue };
        for other in repeats {
            let is_same = first.href == other.href;
            let rule = if is_same { Rule::HREFLANG_DUPLICATE } else { Rule::HREFLANG_DUPLICATE_DIFFERENT };
            sink.breach(rule, other.number, About::Other(first.number));
        }
    }
}

/// Whether a URL names the page of that URL and hash.
fn is_page((href, key): (&str, u64), (page, hash): (&str, u64)) -> bool {
    key == hash && is_same_page(href, page)
}

/// Whether an alternate link has no attribute of that name; namespaces, and attributes of other namespaces, are
/// nobody's business.
fn is_stranger(name: &[u8]) -> bool {
    let known = extension::root(Namespace::Xhtml).and_then(|root| root.attribute(name));
    known.is_none() && !name.contains(&b':') && name != b"xmlns"
}

/// A code without what makes no other language of it: case, and an underscore for a hyphen.
fn letters(code: &str) -> impl Iterator<Item = u8> {
    code.bytes().map(|byte| if byte == b'_' { b'-' } else { byte.to_ascii_lowercase() })
}
