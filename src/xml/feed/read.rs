//! Reads the elements of a feed.
//!
//! Total and linear: an end tag looks for its start tag among the innermost elements only, and what is damaged
//! costs no item that follows.

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

/// Namespace of Media RSS, which is written with and without its slash.
const MEDIA: &[u8] = b"http://search.yahoo.com/mrss/";
const DUBLIN_CORE: &[u8] = b"http://purl.org/dc/elements/1.1/";
const DUBLIN_CORE_TERMS: &[u8] = b"http://purl.org/dc/terms/";

/// How far up an end tag looks for its start tag, and how many declarations and bases are in force at once: real
/// feeds have a dozen, and a hostile one must not make each element cost more than the one before.
const REACH: usize = 64;

/// Letters of what follows a raw `&` that a message shows.
const SHOWN: usize = 40;

/// Items, media and quirks that are held of any feed, and the bytes for each more: the items of real feeds are longer.
const PIECES: usize = 50_000;
const BYTES_OF_PIECE: usize = 64;
/// Elements that may be open at once in any feed, and the bytes for each more.
const OPEN: usize = 100_000;
const BYTES_OF_OPEN: usize = 16;

/// Longest base that a relative link is made whole with: no URL of this length can be listed anyway, and each link
/// would become as long.
const LONGEST_BASE: usize = 4_096;

/// Reads a feed. `None` when the first element is not the root of a feed.
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
        walk.ampersands(at, tag.start);
        at = tag.end;
        match tag.kind {
            Kind::Start | Kind::Empty => {
                walk.start(&tag)?;
                walk.ampersands(tag.name_end, tag.end);
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
        // An item that the end of the file cuts off is left out, since half a link is not a URL: what is open now has no row.
        walk.stack.clear();
    }
    walk.close_to(0, bytes.len());
    Some(Import { is_cut, given_up, ..walk.finish()? })
}

/// An open element.
#[derive(Debug, Clone, Copy)]
struct Open<'b> {
    name: &'b [u8],
    /// Where its content starts.
    inner: usize,
    tag: Markup,
    /// How many namespace declarations were in force before it.
    scopes: usize,
    /// How many bases were in force before it.
    bases: usize,
}

/// What an element is, as far as feeds go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Space {
    /// The feed's own.
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
    /// `xml:base` values, each joined with those around it, innermost last.
    bases: Vec<String>,
    /// The open item, the height of the stack at which it stands, and its namespace.
    item: Option<(Item, usize, &'b [u8])>,
    items: Vec<Item>,
    /// The page of the feed as a whole.
    page: Option<String>,
    left: SkippedElements,
    /// The first raw `&` of each item, and of each run outside of items.
    raw: Vec<FoundDefect>,
    /// Whether a channel was met.
    has_channel: bool,
    /// What the prolog says of entities.
    entities: Entities<'b>,
    /// Items, media and raw `&` that are held.
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
            left: SkippedElements::default(),
            raw: Vec::new(),
            has_channel: false,
            entities: Entities::default(),
            pieces: 0,
        }
    }

    /// Whether what is held of the feed up to a place is out of proportion to its length.
    fn exceeds_proportion(&self, at: usize) -> bool {
        self.pieces > PIECES + at / BYTES_OF_PIECE || self.stack.len() > OPEN + at / BYTES_OF_OPEN
    }

    /// Notes an ampersand in a piece of the text that starts no reference, once for each item.
    fn ampersands(&mut self, from: usize, to: usize) {
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
        let what: String = escape::lossy(shown).chars().take(SHOWN).collect();
        self.pieces += 1;
        self.raw.push(FoundDefect { kind, at, entry: item, what: what.into() });
    }

    /// A start tag. `None` ends the walk: the first element is not the root of a feed.
    fn start(&mut self, tag: &Markup) -> Option<()> {
        let bytes = self.bytes;
        let name = tag.name(bytes);
        if self.feed.is_none() {
            self.feed = Some(Feed::of_root(bytes, tag)?);
        }
        let open = Open { name, inner: tag.end, tag: *tag, scopes: self.scopes.len(), bases: self.bases.len() };
        for attribute in markup::attributes(tag.attributes(bytes)) {
            match attribute.name.strip_prefix(b"xmlns") {
                Some(b"") if self.scopes.len() < REACH => self.scopes.push((b"", attribute.value)),
                Some([b':', prefix @ ..]) if self.scopes.len() < REACH => self.scopes.push((prefix, attribute.value)),
                _ if attribute.name == b"xml:base" && self.bases.len() < REACH => {
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
            // An item inside an item was never closed; neither was what is open in it.
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
        let reach = self.stack.len().saturating_sub(REACH);
        let found = self.stack.get(reach..).and_then(|near| near.iter().rposition(|open| open.name == name));
        if let Some(found) = found {
            self.close_to(reach + found, tag.start);
        }
    }

    /// Closes what is open above a height; the content of each ends at `end`.
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

    /// The namespace of a name; for a prefix that no one declared, the prefix.
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

    /// The base of relative links here; one that is too long is none, and hides those around it.
    fn base(&self) -> Option<String> {
        self.bases.last().map(|base| if base.len() > LONGEST_BASE { String::new() } else { base.clone() })
    }

    /// A start tag inside an item: what its attributes say.
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

    /// An element that ends: what its text says.
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
        let carried = match (space, local) {
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
                self.with_item(|item| taken = item.date(feed, local, &text, at));
                taken
            }
            _ => false,
        };
        if direct && !carried {
            self.left.count(open.name);
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

    /// The address of the feed's own page, which relative links start from where there is no `xml:base`.
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

    /// All items as rows of a sitemap.
    fn finish(self) -> Option<Import> {
        let feed = self.feed?;
        let (mut rows, mut odd, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for (number, item) in self.items.into_iter().enumerate() {
            let mut found = item.odd.clone();
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
                    Some((address(link, self.page.as_deref(), &mut found), link.at))
                }
            };
            let link = loc.as_ref().map(|(loc, _)| loc.as_str());
            let around = ItemContext { link, title: item.title.as_deref(), summary: item.summary.as_deref() };
            let media = item.media.extract(&around);
            found.extend(media.odd);
            found.sort_by_key(|(_, at, _)| *at);
            let mut kinds = Vec::new();
            found.retain(|(kind, ..)| {
                !kinds.contains(kind) && {
                    kinds.push(*kind);
                    true
                }
            });
            odd.extend(found.into_iter().map(|(kind, at, what)| FoundDefect {
                kind,
                at: at as usize,
                entry: Some(number as u32),
                what: what.into(),
            }));
            places.push(item.at);
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
            odd.push(FoundDefect { kind: Defect::FeedNoChannel, at: 0, entry: None, what: Box::default() });
        }
        // What is in an item that the end of the file cut is about none.
        odd.extend(self.raw.into_iter().filter(|odd| odd.entry.is_none_or(|item| (item as usize) < rows.len())));
        odd.sort_by_key(|odd| (odd.entry, odd.at));
        let (text, anchors) = write::urlset(&rows);
        Some(Import { feed, text, anchors, places, odd, left: self.left.into_list(), is_cut: false, given_up: None })
    }
}

/// The place whose elements these are: the content, its group, or the item.
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

/// The address that a link leads to, made whole where it is relative.
fn address(link: &Link, page: Option<&str>, odd: &mut Vec<(Defect, u32, String)>) -> String {
    if link.href.is_empty() || url::Url::parse(&link.href).is_ok() || link.href.contains("://") {
        return link.href.clone();
    }
    let base = link.base.as_deref().or(page);
    let whole = base.and_then(|base| joined(Some(base), &link.href));
    let read = whole.as_ref().map_or_else(String::new, |whole| format!(", read as {whole}"));
    odd.push((Defect::FeedRelative, link.at, format!("{}{read}", link.href)));
    whole.unwrap_or_else(|| link.href.clone())
}

/// A reference resolved against a base (RFC 3986, section 5); `None` when there is no absolute address.
fn joined(base: Option<&str>, reference: &str) -> Option<String> {
    let whole = match base.filter(|base| base.len() <= LONGEST_BASE) {
        Some(base) => url::Url::parse(base).ok()?.join(reference).ok()?,
        None => url::Url::parse(reference).ok()?,
    };
    Some(whole.into())
}

fn blank_trimmed(text: &str) -> String {
    text.trim_matches([' ', '\t', '\r', '\n']).to_owned()
}
