//! Reads the elements of a feed.
//!
//! Accepts any bytes in linear time: an end tag is only matched with the innermost elements, and damage does not affect
//! later items.

use super::item::{Item, Link, SkippedElements};
use super::media::{Content, ItemContext, Level, MediaGroup};
use super::write::{self, UrlEntry};
use super::{ATOM, ATOM_03, Feed, Import};
use crate::xml::defect::{Defect, FoundDefect};
use crate::xml::entities::{Entities, Named};
use crate::xml::escape;
use crate::xml::instruction;
use crate::xml::markup::{self, Kind, Markup};
use crate::xml::names;

/// Namespace of Media RSS, which is also written without its final slash.
const MEDIA: &[u8] = b"http://search.yahoo.com/mrss/";
const DUBLIN_CORE: &[u8] = b"http://purl.org/dc/elements/1.1/";
const DUBLIN_CORE_TERMS: &[u8] = b"http://purl.org/dc/terms/";

/// Maximum number of open elements that an end tag is compared with, and of declarations and bases in scope. Real feeds
/// have a dozen; the limit keeps the time for a hostile feed linear.
const MAX_SCOPES: usize = 64;

/// Maximum number of characters after a raw `&` that a message shows.
const MAX_SHOWN_CHARS: usize = 40;

/// Number of items, media and defects that any feed may have.
const MIN_PIECES: usize = 50_000;
/// Bytes of the feed for each further one; the items of real feeds are longer.
const BYTES_PER_PIECE: usize = 64;
/// Number of open elements that any feed may have.
const MIN_OPEN: usize = 100_000;
/// Bytes of the feed for each further one.
const BYTES_PER_OPEN: usize = 16;

/// Maximum length in bytes of a base for relative links: a longer URL could not be listed, and each link would become
/// that long.
const MAX_BASE_BYTES: usize = 4_096;

/// Reads a feed. `None` if the first element is not the root of a feed.
///
/// Offsets have 32 bits: `bytes` must be at most 4 GiB.
pub fn import(bytes: &[u8]) -> Option<Import> {
    let mut walk = Walk::new(bytes);
    let mut at = 0;
    let mut given_up = None;
    while let Some(tag) = markup::next(bytes, at) {
        if walk.exceeds_proportion(tag.start) {
            given_up = Some(tag.start as u32);
            break;
        }
        walk.check_ampersands(at, tag.start);
        at = tag.end;
        match tag.kind {
            Kind::Start | Kind::Empty => {
                walk.start(&tag)?;
                walk.check_ampersands(tag.name_end, tag.end);
            }
            Kind::Declaration => walk.entities.read_doctype(bytes.get(tag.start..tag.end).unwrap_or_default()),
            Kind::Instruction if instruction::is_declaration(bytes, &tag) => {
                walk.entities.read_declaration(bytes.get(tag.start..tag.end).unwrap_or_default());
            }
            Kind::End => walk.end(&tag),
            _ => {}
        }
    }
    let is_cut = !walk.stack.is_empty() && given_up.is_none();
    if (is_cut || given_up.is_some()) && walk.item.take().is_some() {
        // An item that is open at the end is left out, since a truncated link is not its URL.
        walk.stack.clear();
    }
    walk.close_to(0, bytes.len());
    Some(Import { is_cut, given_up, ..walk.finish()? })
}

/// An open element.
#[derive(Debug, Clone, Copy)]
struct Open<'b> {
    name: &'b [u8],
    /// The start of its content.
    inner: usize,
    tag: Markup,
    /// Number of namespace declarations in scope before it.
    scopes: usize,
    /// Number of bases in scope before it.
    bases: usize,
}

/// The namespace of an element in a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Space {
    /// That of the feed.
    Own,
    Atom,
    Media,
    Dublin,
    Terms,
    Other,
}

struct Walk<'b> {
    bytes: &'b [u8],
    feed: Option<Feed>,
    stack: Vec<Open<'b>>,
    /// Declared prefixes and their namespaces, innermost last.
    scopes: Vec<(&'b [u8], &'b [u8])>,
    /// Resolved `xml:base` values, innermost last.
    bases: Vec<String>,
    /// The open item, its depth in the stack, and its namespace.
    item: Option<(Item, usize, &'b [u8])>,
    items: Vec<Item>,
    /// The URL of the feed's own page.
    page: Option<String>,
    skipped: SkippedElements,
    /// The first bad reference of each item, and between two items.
    raw: Vec<FoundDefect>,
    /// Whether a channel was found.
    has_channel: bool,
    /// The entity declarations of the prolog.
    entities: Entities<'b>,
    /// Number of stored items, media and bad references.
    pieces: usize,
}

impl<'b> Walk<'b> {
    fn new(bytes: &'b [u8]) -> Self {
        Self {
            bytes,
            feed: None,
            stack: Vec::new(),
            scopes: Vec::new(),
            bases: Vec::new(),
            item: None,
            items: Vec::new(),
            page: None,
            skipped: SkippedElements::default(),
            raw: Vec::new(),
            has_channel: false,
            entities: Entities::default(),
            pieces: 0,
        }
    }

    /// Whether the memory used for the feed up to an offset is out of proportion to its length.
    fn exceeds_proportion(&self, at: usize) -> bool {
        self.pieces > MIN_PIECES + at / BYTES_PER_PIECE || self.stack.len() > MIN_OPEN + at / BYTES_PER_OPEN
    }

    /// Records an ampersand that begins no valid reference in a range of the text, once for each item.
    fn check_ampersands(&mut self, from: usize, to: usize) {
        let Some(found) = self.bytes.get(from..to).and_then(escape::first_bad_reference) else { return };
        let at = from + found;
        let rest = self.bytes.get(at..to).unwrap_or_default();
        let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'<' | b'"' | b'\'' | b'>');
        let word = rest.iter().position(is_end).map_or(rest, |end| rest.get(..end).unwrap_or_default());
        let kind = match self.entities.named(rest) {
            Named::Ampersand => Defect::Ampersand,
            Named::Declared | Named::Elsewhere(_) => Defect::DtdEntity,
            Named::Unknown(_) => Defect::Entity,
        };
        let item = self.item.is_some().then_some(self.items.len() as u32);
        if self.raw.last().is_some_and(|last| (last.entry, last.kind) == (item, kind)) {
            return;
        }
        let end = memchr::memchr(b';', word).filter(|_| kind != Defect::Ampersand);
        let shown = end.and_then(|end| word.get(..=end)).unwrap_or(word);
        let what: String = escape::lossy(shown).chars().take(MAX_SHOWN_CHARS).collect();
        self.pieces += 1;
        self.raw.push(FoundDefect { kind, at, entry: item, what: what.into() });
    }

    /// Processes a start tag. `None` if the first element is not the root of a feed.
    fn start(&mut self, tag: &Markup) -> Option<()> {
        let bytes = self.bytes;
        let name = tag.name(bytes);
        if self.feed.is_none() {
            self.feed = Some(Feed::of_root(bytes, tag)?);
        }
        let open = Open { name, inner: tag.end, tag: *tag, scopes: self.scopes.len(), bases: self.bases.len() };
        for attribute in markup::attributes(tag.attributes(bytes)) {
            match attribute.name.strip_prefix(b"xmlns") {
                Some(b"") if self.scopes.len() < MAX_SCOPES => self.scopes.push((b"", attribute.value)),
                Some([b':', prefix @ ..]) if self.scopes.len() < MAX_SCOPES => {
                    self.scopes.push((prefix, attribute.value));
                }
                _ if attribute.name == b"xml:base" && self.bases.len() < MAX_SCOPES => {
                    let own = escape::decode(attribute.value);
                    let joined = joined(self.bases.last().map(String::as_str), own.trim());
                    self.bases.push(joined.unwrap_or_else(|| own.trim().to_owned()));
                }
                _ => {}
            }
        }
        let (space, local) = self.resolve(name);
        let feed = self.feed?;
        self.has_channel |= local == b"channel" && !self.stack.is_empty();
        if local == feed.item_name() && self.is_own(name) && !self.stack.is_empty() {
            // The outer item was never closed, nor were its open elements.
            if let Some((_, height, _)) = self.item {
                self.close_to(height, tag.start);
            }
            self.pieces += 1;
            self.item = Some((Item::at(tag.start as u32), self.stack.len(), self.namespace(name)));
        } else if self.item.is_some() {
            self.child(space, local, tag);
        }
        self.stack.push(open);
        if tag.kind == Kind::Empty {
            self.close_to(self.stack.len() - 1, tag.end);
        }
        Some(())
    }

    fn end(&mut self, tag: &Markup) {
        let name = tag.name(self.bytes);
        let reach = self.stack.len().saturating_sub(MAX_SCOPES);
        let found = self.stack.get(reach..).and_then(|near| near.iter().rposition(|open| open.name == name));
        if let Some(found) = found {
            self.close_to(reach + found, tag.start);
        }
    }

    /// Closes all elements above a stack height; their content ends at `end`.
    fn close_to(&mut self, height: usize, end: usize) {
        while self.stack.len() > height {
            let Some(open) = self.stack.pop() else { return };
            if self.item.as_ref().is_some_and(|(_, own, _)| *own == self.stack.len()) {
                if let Some((item, ..)) = self.item.take() {
                    self.items.push(item);
                }
            } else {
                self.leaf(&open, end);
            }
            self.scopes.truncate(open.scopes);
            self.bases.truncate(open.bases);
        }
    }

    /// The namespace URI of a name; the prefix itself if it is undeclared.
    fn namespace(&self, name: &'b [u8]) -> &'b [u8] {
        let (prefix, _) = names::split(name);
        let declared = self.scopes.iter().rev().find(|(known, _)| *known == prefix);
        declared.map_or(prefix, |(_, uri)| *uri)
    }

    fn is_own(&self, name: &'b [u8]) -> bool {
        let uri = self.namespace(name);
        !matches!(uri, MEDIA | DUBLIN_CORE | DUBLIN_CORE_TERMS)
    }

    fn resolve(&self, name: &'b [u8]) -> (Space, &'b [u8]) {
        let (_, local) = names::split(name);
        let uri = self.namespace(name);
        let own = self.item.as_ref().is_some_and(|(_, _, own)| *own == uri);
        let space = match uri {
            _ if own => Space::Own,
            ATOM | ATOM_03 | b"atom" => Space::Atom,
            MEDIA | b"http://search.yahoo.com/mrss" | b"media" => Space::Media,
            DUBLIN_CORE | b"dc" => Space::Dublin,
            DUBLIN_CORE_TERMS | b"dcterms" => Space::Terms,
            _ => Space::Other,
        };
        (space, local)
    }

    fn attribute(&self, tag: &Markup, name: &[u8]) -> Option<String> {
        let mut attributes = markup::attributes(tag.attributes(self.bytes));
        let found = attributes.find(|attribute| attribute.name == name)?;
        Some(blank_trimmed(&escape::decode(found.value)))
    }

    /// The base of relative links here. One that is too long is replaced by an empty one, so that no outer base
    /// applies.
    fn base(&self) -> Option<String> {
        self.bases.last().map(|base| if base.len() > MAX_BASE_BYTES { String::new() } else { base.clone() })
    }

    /// Reads the attributes of a start tag inside an item.
    fn child(&mut self, space: Space, local: &[u8], tag: &Markup) {
        let at = tag.start as u32;
        self.pieces += usize::from(space == Space::Media && matches!(local, b"group" | b"content"));
        let get = |name: &str| self.attribute(tag, name.as_bytes());
        let Some((_, height, _)) = &self.item else { return };
        let path = self.stack.get(height + 1..).unwrap_or_default();
        let path: Vec<&[u8]> = path.iter().take(3).map(|open| open.name).collect();
        if space == Space::Own && local == b"link" && path.is_empty() && self.feed.is_some_and(Feed::is_atom) {
            if let Some(href) = get("href") {
                let link = Link { rel: get("rel").unwrap_or_default(), href, at, base: self.base() };
                self.with_item(|item| item.add_link(link));
            }
        } else if space == Space::Media {
            let content = (local == b"content").then(|| Content {
                level: Level::default(),
                url: get("url").unwrap_or_default(),
                medium: get("medium").unwrap_or_default(),
                mime: get("type").unwrap_or_default(),
                duration: get("duration").unwrap_or_default(),
                default: get("isDefault").is_some_and(|value| value == "true"),
                at,
            });
            let url = get("url").unwrap_or_default();
            let (average, views) = (get("average"), get("views"));
            let in_group = path.first().is_some_and(|name| names::split(name).1 == b"group");
            let in_content = path.iter().take(2).any(|name| names::split(name).1 == b"content");
            self.with_item(|item| {
                item.media.first.get_or_insert(at);
                match local {
                    b"group" if path.is_empty() => item.media.units.push(MediaGroup { at, ..MediaGroup::default() }),
                    b"content" => match (content, item.media.units.last_mut()) {
                        (Some(content), Some(group)) if in_group => group.contents.push(content),
                        (Some(content), _) if path.is_empty() => {
                            let contents = vec![content];
                            item.media.units.push(MediaGroup { contents, at, ..MediaGroup::default() });
                        }
                        _ => {}
                    },
                    _ => {
                        let level = level(item, in_group, in_content);
                        match local {
                            b"thumbnail" if level.thumbnail.is_none() => level.thumbnail = Some((url, at)),
                            b"player" if level.player.is_none() => level.player = Some((url, at)),
                            b"starRating" => level.rating = average.map(|average| (average, at)),
                            b"statistics" => level.views = views.map(|views| (views, at)),
                            _ => {}
                        }
                    }
                }
            });
        }
    }

    /// Reads the text of an element that ends.
    fn leaf(&mut self, open: &Open<'b>, end: usize) {
        let (space, local) = self.resolve(open.name);
        let Some(feed) = self.feed else { return };
        let Some(height) = self.item.as_ref().map(|(_, height, _)| *height) else {
            if local == b"link" && self.page.is_none() && self.stack.len() <= 2 {
                self.feed_link(open, end, feed);
            }
            return;
        };
        let path = self.stack.get(height + 1..).unwrap_or_default();
        let parents: Vec<&[u8]> = path.iter().take(3).map(|open| names::split(open.name).1).collect();
        let at = open.tag.start as u32;
        let direct = parents.is_empty();
        let near = parents.len() < 3;
        let is_used = match (space, local) {
            (Space::Media, b"title" | b"description" | b"keywords" | b"restriction") if near => {
                self.media_text(open, end, local, &parents);
                true
            }
            (Space::Own, b"link") if direct && !feed.is_atom() => {
                let link = Link { rel: String::new(), href: self.text(open, end), at, base: self.base() };
                self.with_item(|item| item.add_link(link));
                true
            }
            (Space::Media, _) | (Space::Own, b"link") => true,
            (Space::Own, b"guid") if direct => {
                let is_address = self.attribute(&open.tag, b"isPermaLink").is_none_or(|value| value == "true");
                let text = self.text(open, end);
                self.with_item(|item| item.permalink = Some(text).filter(|text| is_address && text.contains("://")));
                false
            }
            (Space::Own, b"title") if direct => {
                let text = self.text(open, end);
                self.with_item(|item| item.title = Some(text).filter(|text| !text.is_empty()));
                false
            }
            (Space::Own, b"description" | b"summary") if direct => {
                let text = self.text(open, end);
                self.with_item(|item| item.summary = Some(text).filter(|text| !text.is_empty()));
                false
            }
            (Space::Terms, b"valid") if direct => {
                let text = self.text(open, end);
                let until = text.split(';').find_map(|part| part.trim().strip_prefix("end="));
                let until = until.map(|until| until.trim().to_owned());
                self.with_item(|item| item.expires = until);
                true
            }
            (Space::Own | Space::Dublin, _) if direct => {
                let text = self.text(open, end);
                let mut taken = false;
                self.with_item(|item| taken = item.add_date(feed, local, &text, at));
                taken
            }
            _ => false,
        };
        if direct && !is_used {
            self.skipped.count(open.name);
        }
    }

    fn media_text(&mut self, open: &Open<'b>, end: usize, local: &[u8], parents: &[&[u8]]) {
        let text = self.text(open, end);
        let at = open.tag.start as u32;
        let kind = self.attribute(&open.tag, b"type").unwrap_or_default();
        let relationship = self.attribute(&open.tag, b"relationship").unwrap_or_default();
        let in_group = parents.first().is_some_and(|name| *name == b"group");
        let in_content = parents.iter().take(2).any(|name| *name == b"content");
        self.with_item(|item| {
            if local == b"restriction" && kind != "country" {
                item.note(Defect::MediaRestriction, at, || kind);
                return;
            }
            let level = level(item, in_group, in_content);
            match local {
                b"title" => level.title = Some((text, at)),
                b"description" => level.description = Some((text, at)),
                b"keywords" => level.keywords = Some((text, at)),
                _ => level.restriction = Some((relationship, text, at)),
            }
        });
    }

    /// Reads the URL of the feed's own page, the base of relative links without an `xml:base`.
    fn feed_link(&mut self, open: &Open<'b>, end: usize, feed: Feed) {
        let href = if feed.is_atom() {
            let rel = self.attribute(&open.tag, b"rel").unwrap_or_default();
            self.attribute(&open.tag, b"href").filter(|_| matches!(rel.as_str(), "" | "alternate" | "self"))
        } else {
            Some(self.text(open, end))
        };
        self.page = href.and_then(|href| joined(self.bases.last().map(String::as_str), &href));
    }

    fn text(&self, open: &Open<'b>, end: usize) -> String {
        let inner = self.bytes.get(open.inner..end.max(open.inner)).unwrap_or_default();
        blank_trimmed(&escape::decode_mixed(inner))
    }

    fn with_item(&mut self, change: impl FnOnce(&mut Item)) {
        if let Some((item, ..)) = &mut self.item {
            change(item);
        }
    }

    /// Converts all items to rows of a sitemap.
    fn finish(self) -> Option<Import> {
        let feed = self.feed?;
        let (mut rows, mut defects, mut item_offsets) = (Vec::new(), Vec::new(), Vec::new());
        for (number, item) in self.items.into_iter().enumerate() {
            let mut found = item.defects.clone();
            let loc = match item.link() {
                None => {
                    let guid = item.permalink.as_deref();
                    let what = guid.map_or_else(String::new, |guid| format!("its guid may be one: {guid}"));
                    found.push((Defect::FeedNoLink, item.at, what));
                    None
                }
                Some(link) => {
                    if !link.is_page() {
                        let what = format!("the one taken has rel=\"{}\", which need not be its page", link.rel);
                        found.push((Defect::FeedNoLink, link.at, what));
                    }
                    Some((target_url(link, self.page.as_deref(), &mut found), link.at))
                }
            };
            let link = loc.as_ref().map(|(loc, _)| loc.as_str());
            let context = ItemContext { link, title: item.title.as_deref(), summary: item.summary.as_deref() };
            let media = item.media.extract(&context);
            found.extend(media.defects);
            found.sort_by_key(|(_, at, _)| *at);
            let mut kinds = Vec::new();
            found.retain(|(kind, ..)| {
                !kinds.contains(kind) && {
                    kinds.push(*kind);
                    true
                }
            });
            defects.extend(found.into_iter().map(|(kind, at, what)| FoundDefect {
                kind,
                at: at as usize,
                entry: Some(number as u32),
                what: what.into(),
            }));
            item_offsets.push(item.at);
            let lastmod = item.lastmod().map(|(date, at)| (date.to_owned(), at));
            rows.push(UrlEntry {
                at: item.at,
                lastmod,
                images: media.images,
                videos: media.videos,
                expires: item.expires,
                loc,
            });
        }
        if feed == Feed::Rss && !self.has_channel {
            defects.push(FoundDefect { kind: Defect::FeedNoChannel, at: 0, entry: None, what: "".into() });
        }
        // Defects in an item that was left out are dropped.
        defects
            .extend(self.raw.into_iter().filter(|defect| defect.entry.is_none_or(|item| (item as usize) < rows.len())));
        defects.sort_by_key(|defect| (defect.entry, defect.at));
        let (text, anchors) = write::urlset(&rows);
        Some(Import {
            feed,
            text,
            anchors,
            item_offsets,
            defects,
            skipped: self.skipped.into_list(),
            is_cut: false,
            given_up: None,
        })
    }
}

/// The level of an element: the content, its group, or the item.
fn level(item: &mut Item, in_group: bool, in_content: bool) -> &mut Level {
    if !(in_group || in_content) {
        return &mut item.media.level;
    }
    match item.media.units.last_mut() {
        None => &mut item.media.level,
        Some(unit) if in_content && !unit.contents.is_empty() => match unit.contents.last_mut() {
            Some(content) => &mut content.level,
            None => &mut unit.level,
        },
        Some(unit) => &mut unit.level,
    }
}

/// The target URL of a link, resolved if it is relative.
fn target_url(link: &Link, page: Option<&str>, defects: &mut Vec<(Defect, u32, String)>) -> String {
    if link.href.is_empty() || url::Url::parse(&link.href).is_ok() || link.href.contains("://") {
        return link.href.clone();
    }
    let base = link.base.as_deref().or(page);
    let whole = base.and_then(|base| joined(Some(base), &link.href));
    let read = whole.as_ref().map_or_else(String::new, |whole| format!(", read as {whole}"));
    defects.push((Defect::FeedRelative, link.at, format!("{}{read}", link.href)));
    whole.unwrap_or_else(|| link.href.clone())
}

/// Resolves a reference against a base (RFC 3986, section 5); `None` if the result is no absolute URL.
fn joined(base: Option<&str>, reference: &str) -> Option<String> {
    let whole = match base.filter(|base| base.len() <= MAX_BASE_BYTES) {
        Some(base) => url::Url::parse(base).ok()?.join(reference).ok()?,
        None => url::Url::parse(reference).ok()?,
    };
    Some(whole.into())
}

fn blank_trimmed(text: &str) -> String {
    text.trim_matches([' ', '\t', '\r', '\n']).to_owned()
}
