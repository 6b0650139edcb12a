//! Rules about whole extension blocks: how the elements of an image, video or news block fit together.

use super::outline::Outline;
use super::{About, EntryContext, Sink, namespace};
use crate::check::fields::FUTURE_TOLERANCE;
use crate::check::rule::Rule;
use crate::protocol::extension::{Kind, value};
use crate::protocol::location::{self, Location};
use crate::protocol::namespace::Namespace;
use crate::xml::elements::Node;
use foldhash::fast::FixedState;
use std::borrow::Cow;
use std::hash::BuildHasher;

pub(super) fn validate(outline: &Outline<'_>, entry_context: &EntryContext<'_>, sink: &mut impl Sink) {
    let mut images: Option<Images<'_>> = None;
    for (number, node) in outline.top_level() {
        match namespace(node) {
            Namespace::Image => {
                images.get_or_insert_with(|| Images::on(&entry_context.page)).add(outline, number, sink);
            }
            Namespace::Video => video(outline, number, entry_context, sink),
            Namespace::News => news(outline, number, entry_context, sink),
            Namespace::CodeSearch => code(outline, number, sink),
            Namespace::PageMap => page_map(outline, number, sink),
            _ => {}
        }
    }
    if images.is_some_and(|images| images.may_repeat) {
        repeated_images(outline, sink);
    }
}

/// Up to this many image URLs are compared pairwise; few entries have more.
const MAX_PAIRWISE: usize = 8;

/// The images of an entry, up to the one that was checked last.
struct Images<'p> {
    /// The host of the page.
    host: &'p str,
    /// The origin of the page, empty if it has none.
    origin: &'p str,
    count: usize,
    /// The number of URLs, of which the hashes of the first are kept.
    url_count: usize,
    urls: [u64; MAX_PAIRWISE],
    /// Whether two URLs may be equal.
    may_repeat: bool,
}

impl<'p> Images<'p> {
    /// Before the first image of a page with this URL.
    fn on(page: &'p str) -> Self {
        let page = Location::outline(page);
        let (host, origin) = (page.host(), page.origin().map_or("", |(origin, _)| origin));
        Self { host, origin, count: 0, url_count: 0, urls: [0; MAX_PAIRWISE], may_repeat: false }
    }

    /// Checks the next image.
    fn add(&mut self, outline: &Outline<'_>, number: u32, sink: &mut impl Sink) {
        self.count += 1;
        if self.count == value::IMAGES + 1 {
            sink.breach(Rule::IMAGE_LIMIT, number, About::Element);
        }
        let Some((at, node)) = outline.child(number, "loc") else { return };
        let url = outline.value(node);
        if url.is_empty() {
            return;
        }
        if !self.has_same_origin(&url) && is_other_host(location::host(&url), self.host) {
            sink.breach(Rule::IMAGE_FOREIGN_HOST, at, About::Element);
        }
        let hash = FixedState::default().hash_one(url.as_bytes());
        self.may_repeat |= self.urls.get(..self.url_count).is_none_or(|urls| urls.contains(&hash));
        if let Some(slot) = self.urls.get_mut(self.url_count) {
            *slot = hash;
        }
        self.url_count += 1;
    }

    fn has_same_origin(&self, url: &str) -> bool {
        let rest = url.strip_prefix(self.origin).filter(|_| !self.origin.is_empty());
        rest.is_some_and(|rest| rest.starts_with('/'))
    }
}

fn repeated_images(outline: &Outline<'_>, sink: &mut impl Sink) {
    let images = outline.top_level().filter(|(_, node)| namespace(node) == Namespace::Image);
    let url = |number| outline.value_of(number, "loc").filter(|url| !url.is_empty());
    let mut seen: Vec<(Cow<'_, str>, u32)> = images.filter_map(|(number, _)| Some((url(number)?, number))).collect();
    // Sorting puts equal URLs next to each other, the first occurrence first.
    seen.sort();
    for pair in seen.chunk_by(|one, other| one.0 == other.0) {
        let Some(((_, first), repeats)) = pair.split_first() else { continue };
        for (_, number) in repeats {
            sink.breach(Rule::IMAGE_DUPLICATE, *number, About::Other(*first));
        }
    }
}

fn video(outline: &Outline<'_>, number: u32, entry_context: &EntryContext<'_>, sink: &mut impl Sink) {
    let mut has_location = false;
    for name in ["content_loc", "player_loc"] {
        let Some((at, node)) = outline.child(number, name) else { continue };
        let url = outline.value(node);
        has_location |= !url.is_empty();
        if is_same_page(&url, &entry_context.page) {
            sink.breach(Rule::VIDEO_LOC_SAME, at, About::Element);
        }
    }
    if !has_location {
        sink.breach(Rule::VIDEO_LOCATION_MISSING, number, About::Child("content_loc"));
    }
    if let Some((at, node)) = outline.child(number, "expiration_date")
        && let Some((moment, lasts)) = value::moment(&outline.value(node))
        && moment + lasts <= entry_context.now
    {
        sink.breach(Rule::VIDEO_EXPIRED, at, About::Element);
    }
    if let Some((at, node)) = outline.child(number, "uploader")
        && let Some(info) = outline.attribute(node, "info")
        && !is_same_domain(location::host(&info), location::host(&entry_context.page))
    {
        sink.breach(Rule::VIDEO_UPLOADER, at, About::Attribute("info", Kind::Url));
    }
    for (at, node) in outline.children(number).filter(|(_, node)| is_named(node, "price")) {
        let missing =
            if outline.value(node).is_empty() { ("type", Kind::PriceType) } else { ("currency", Kind::Currency) };
        if outline.attribute(node, missing.0).is_none() {
            sink.breach(Rule::VIDEO_PRICE, at, About::Attribute(missing.0, missing.1));
        }
    }
}

fn news(outline: &Outline<'_>, number: u32, entry_context: &EntryContext<'_>, sink: &mut impl Sink) {
    if let Some((publication, _)) = outline.child(number, "publication")
        && let Some((at, node)) = outline.child(publication, "language")
    {
        let language = outline.value(node);
        if Kind::NewsLanguage.accepts(&language) && !value::is_assigned(&language) {
            sink.breach(Rule::NEWS_LANGUAGE_UNKNOWN, at, About::Element);
        }
    }
    if let Some((at, node)) = outline.child(number, "publication_date")
        && let Some((moment, lasts)) = value::moment(&outline.value(node))
    {
        if moment + lasts + value::NEWS_DAYS * 86_400 < entry_context.now {
            sink.breach(Rule::NEWS_STALE, at, About::Element);
        } else if moment > entry_context.now + if lasts > 0 { FUTURE_TOLERANCE } else { 0 } {
            sink.breach(Rule::NEWS_FUTURE, at, About::Element);
        }
    }
}

fn code(outline: &Outline<'_>, number: u32, sink: &mut impl Sink) {
    let is_archive = outline.value_of(number, "filetype").is_some_and(|kind| kind == "archive");
    if let Some((at, _)) = outline.child(number, "packagemap").filter(|_| !is_archive) {
        sink.breach(Rule::CODE_PACKAGEMAP_NOT_ARCHIVE, at, About::Element);
    }
}

fn page_map(outline: &Outline<'_>, number: u32, sink: &mut impl Sink) {
    let mut need = |at: u32, node: &Node, name: &'static str| {
        if outline.attribute(node, name).is_none() {
            sink.breach(Rule::PAGEMAP_STRUCTURE, at, About::Attribute(name, Kind::Text));
        }
    };
    for (at, node) in outline.children(number) {
        if is_named(node, "Template") {
            need(at, node, "src");
        } else if is_named(node, "DataObject") {
            need(at, node, "type");
        }
    }
    for (object, _) in outline.children(number).filter(|(_, node)| is_named(node, "DataObject")) {
        for (at, node) in outline.children(object).filter(|(_, node)| node.element.is_some()) {
            let has_value = outline.attribute(node, "value").is_some();
            if outline.attribute(node, "name").is_none() {
                sink.breach(Rule::PAGEMAP_STRUCTURE, at, About::Attribute("name", Kind::Text));
            }
            if has_value != outline.value(node).is_empty() {
                sink.breach(Rule::PAGEMAP_STRUCTURE, at, About::Attribute("value", Kind::Text));
            }
        }
    }
}

fn is_named(node: &Node, name: &str) -> bool {
    node.element.is_some_and(|element| element.name == name)
}

/// Whether two URLs name the same page, ignoring differences of spelling.
pub(super) fn is_same_page(one: &str, other: &str) -> bool {
    if one.is_empty() || other.is_empty() {
        return false;
    }
    if one == other {
        return true;
    }
    let hashes = (location::key_hash(one), location::key_hash(other));
    if hashes.0 != hashes.1 {
        return false;
    }
    let (mut left, mut right) = (String::new(), String::new());
    location::key(one, &mut left) == location::key(other, &mut right)
}

/// Whether two known hosts differ, ignoring differences of spelling.
fn is_other_host(one: &str, other: &str) -> bool {
    if one.is_empty() || other.is_empty() || one.eq_ignore_ascii_case(other) {
        return false;
    }
    let is_plain = one.is_ascii() && other.is_ascii();
    is_plain || location::normal_host(one) != location::normal_host(other)
}

/// Whether two hosts are equal or one is a subdomain of the other, ignoring `www.`. An unknown host equals every other.
fn is_same_domain(one: &str, other: &str) -> bool {
    let bare = |host: &str| {
        let small = location::normal_host(host);
        small.strip_prefix("www.").map(str::to_owned).unwrap_or(small)
    };
    let (one, other) = (bare(one), bare(other));
    let is_below =
        |low: &str, high: &str| low.strip_suffix(high).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    one.is_empty() || other.is_empty() || is_below(&one, &other) || is_below(&other, &one)
}
