//! Rules about values in extensions: numbers, dates, codes and URLs in elements and attributes.

use super::outline::Outline;
use super::{About, Cache, Sink, namespace};
use crate::check::fields::{is_escaped_twice, loc_rule};
use crate::check::rule::Rule;
use crate::protocol::extension::{Attribute, Element, Kind};
use crate::protocol::location::{Fault, Faults};
use crate::protocol::namespace::Namespace;
use crate::xml::elements::Node;
use crate::xml::entry::TextKind;
use crate::xml::markup;
use crate::xml::names::FileKind;

/// Faults that count only in URLs of pages: a media file may end in `.jpg`, the URL of a player may have a fragment,
/// and parameters of media URLs create no duplicate pages.
const PAGE_ONLY_FAULTS: Faults =
    LOC_ONLY_FAULTS.union(Faults::of(&[Fault::Fragment, Fault::SessionId, Fault::TrackingParam, Fault::Private]));

/// Faults that count only in a loc: URLs of files that are not pages, and length limits of single engines.
pub(super) const LOC_ONLY_FAULTS: Faults = Faults::of(&[Fault::NotPage, Fault::TooLongYandex, Fault::TooLongBaidu]);

pub(super) fn validate(outline: &Outline<'_>, cache: &mut Cache, sink: &mut impl Sink) {
    let mut values = Values { outline: *outline, cache, sink };
    for (number, node) in (0..).zip(outline.nodes()) {
        // `links` checks alternate links.
        let Some(element) = node.element.filter(|_| namespace(node) != Namespace::Xhtml) else { continue };
        if element.kind != Kind::Elements {
            values.value(number, node, element);
        }
        for known in element.attributes.iter().filter(|known| known.kind != Kind::Text) {
            values.attribute(number, node, known);
        }
    }
}

/// Validates the values of an entry.
struct Values<'v, S> {
    outline: Outline<'v>,
    cache: &'v mut Cache,
    sink: &'v mut S,
}

impl<S: Sink> Values<'_, S> {
    fn value(&mut self, number: u32, node: &Node, element: &Element) {
        let (kind, value) = (element.kind, self.outline.value(node));
        if kind == Kind::Empty {
            let rule = match namespace(node) {
                Namespace::Mobile => Rule::MOBILE_NOT_EMPTY,
                Namespace::PageMap => Rule::PAGEMAP_STRUCTURE,
                _ => return,
            };
            if !value.is_empty() || node.text == TextKind::Children {
                self.sink.breach(rule, number, About::Value(kind));
            }
            return;
        }
        // A required value that is empty is reported at its parent, an element inside a value at that element.
        if (value.is_empty() && element.is_required) || node.text == TextKind::Children {
            return;
        }
        if !kind.is_free() && (!value.is_empty() || kind.is_strict()) {
            let trimmed = markup::trim(self.outline.text, node.tag.end, node.inner_end);
            if trimmed != (node.tag.end, node.inner_end) {
                self.sink.breach(whitespace_rule(kind), number, About::Value(kind));
            }
        }
        // Plain text has no ampersand.
        if node.text != TextKind::Plain && is_escaped_twice(&value) {
            self.sink.breach(Rule::XML_DOUBLE_ESCAPED, number, About::Value(kind));
        }
        if kind.is_url() {
            self.url(number, None, kind, &value);
        }
        if let Some(rule) = rule_of(kind).filter(|_| !kind.accepts(&value)) {
            self.sink.breach(rule, number, About::Value(kind));
        }
    }

    fn attribute(&mut self, number: u32, node: &Node, known: &'static Attribute) {
        let Attribute { name, kind, .. } = *known;
        let about = About::Attribute(name, kind);
        let Some(value) = self.outline.attribute(node, name) else {
            match kind {
                Kind::Relationship => self.sink.breach(Rule::VIDEO_RELATIONSHIP, number, about),
                Kind::IdType => self.sink.breach(Rule::VIDEO_ID_TYPE, number, about),
                _ => {}
            }
            return;
        };
        if kind.is_url() {
            if is_escaped_twice(&value) {
                self.sink.breach(Rule::XML_DOUBLE_ESCAPED, number, about);
            }
            self.url(number, Some(name), kind, &value);
        }
        if let Some(rule) = rule_of(kind).filter(|_| !kind.accepts(&value)) {
            self.sink.breach(rule, number, about);
        }
    }

    /// Checks the syntax of a URL, but not its host and path.
    fn url(&mut self, number: u32, attribute: Option<&'static str>, kind: Kind, value: &str) {
        for fault in self.cache.urls.faults(value, PAGE_ONLY_FAULTS).iter() {
            let rule = match fault {
                Fault::Scheme if kind != Kind::Url && has_scheme(value, &["ftp"]) => continue,
                Fault::Scheme if kind != Kind::Url => Some(Rule::VIDEO_URL_SCHEME),
                // Streaming schemes resemble `http`, but are no typing errors.
                Fault::SchemeTypo if kind != Kind::Url && has_scheme(value, &STREAMS) => Some(Rule::VIDEO_URL_SCHEME),
                _ => loc_rule(fault, FileKind::Urlset),
            };
            if let Some(rule) = rule {
                self.sink.breach(rule, number, About::Url(fault, attribute));
            }
        }
    }
}

/// Streaming schemes, which Google does not fetch.
const STREAMS: [&str; 5] = ["rtmp", "rtmps", "rtmpt", "rtsp", "mms"];

fn has_scheme(url: &str, schemes: &[&str]) -> bool {
    url.split_once("://").is_some_and(|(own, _)| schemes.iter().any(|scheme| scheme.eq_ignore_ascii_case(own)))
}

/// The rule for white space around a value. The schema trims all values but strings.
const fn whitespace_rule(kind: Kind) -> Rule {
    if kind.is_strict() { Rule::FIELD_WHITESPACE_STRICT } else { Rule::FIELD_WHITESPACE }
}

/// The rule that an invalid value of a kind violates.
const fn rule_of(kind: Kind) -> Option<Rule> {
    Some(match kind {
        Kind::Empty | Kind::Elements | Kind::Text | Kind::Url | Kind::Media => return None,
        Kind::Content => Rule::VIDEO_CONTENT_FORMAT,
        Kind::VideoTitle => Rule::VIDEO_TITLE_LENGTH,
        Kind::VideoDescription => Rule::VIDEO_DESCRIPTION_LENGTH,
        Kind::VideoCategory => Rule::VIDEO_CATEGORY_LENGTH,
        Kind::Uploader => Rule::VIDEO_UPLOADER,
        Kind::Duration => Rule::VIDEO_DURATION,
        Kind::Rating => Rule::VIDEO_RATING,
        Kind::Count => Rule::VIDEO_VIEW_COUNT,
        Kind::VideoDate => Rule::VIDEO_DATE,
        Kind::NewsDate => Rule::NEWS_DATE,
        Kind::YesNo => Rule::VIDEO_YES_NO,
        Kind::Countries => Rule::VIDEO_COUNTRY,
        Kind::Platforms => Rule::VIDEO_PLATFORM,
        Kind::Relationship => Rule::VIDEO_RELATIONSHIP,
        Kind::Price | Kind::Currency | Kind::PriceType | Kind::Resolution => Rule::VIDEO_PRICE,
        Kind::ShowType | Kind::ShowNumber => Rule::VIDEO_TVSHOW,
        Kind::IdType => Rule::VIDEO_ID_TYPE,
        Kind::NewsName => Rule::NEWS_NAME,
        Kind::NewsLanguage => Rule::NEWS_LANGUAGE,
        Kind::Access => Rule::NEWS_ACCESS,
        Kind::Genres => Rule::NEWS_GENRES,
        Kind::Tickers => Rule::NEWS_TICKERS,
        Kind::GeoFormat => Rule::GEO_FORMAT,
        Kind::FileType => Rule::CODE_FILETYPE_MISSING,
    })
}
