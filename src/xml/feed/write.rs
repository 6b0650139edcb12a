//! Renders the sitemap that a feed is imported as.

use super::media::{PlacedText, Video};
use crate::protocol::namespace::Namespace;
use crate::protocol::namespace::SITEMAP_09;
use crate::xml::escape::{escape, is_xml_char};
use std::fmt::Write as _;

/// One row of the sitemap. Each value has the offset of its source in the feed.
#[derive(Debug, Clone, Default)]
pub(super) struct UrlEntry {
    /// The offset of the item.
    pub at: u32,
    /// The URL, and the offset of the link.
    pub loc: Option<(String, u32)>,
    /// The date, and its offset.
    pub lastmod: Option<(String, u32)>,
    pub images: Vec<PlacedText>,
    pub videos: Vec<Video>,
    pub expires: Option<String>,
}

/// Maximum number of images of a row (Google, image sitemaps).
const MAX_IMAGES: usize = 1_000;

/// Renders a sitemap with these rows, which declares the used extensions. Also returns a map from its offsets to those
/// of the feed.
pub(super) fn urlset(rows: &[UrlEntry]) -> (Vec<u8>, Vec<(u32, u32)>) {
    let mut anchors = Vec::with_capacity(rows.len() * 4);
    let mut out = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"{SITEMAP_09}\"");
    let used = [
        (Namespace::Image, rows.iter().any(|row| !row.images.is_empty())),
        (Namespace::Video, rows.iter().any(|row| !row.videos.is_empty())),
    ];
    for (namespace, _) in used.into_iter().filter(|(_, used)| *used) {
        let _ = write!(out, " xmlns:{}=\"{}\"", namespace.prefix(), namespace.uri().unwrap_or_default());
    }
    out.push('>');
    for row in rows {
        row.write(&mut out, &mut anchors);
    }
    out.push_str("\n</urlset>\n");
    (out.into_bytes(), anchors)
}

impl UrlEntry {
    fn write(&self, out: &mut String, anchors: &mut Vec<(u32, u32)>) {
        out.push_str("\n  ");
        anchors.push((out.len() as u32, self.at));
        out.push_str("<url>");
        let core = [("loc", &self.loc), ("lastmod", &self.lastmod)];
        for (name, (value, at)) in core.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?))) {
            let before = out.len();
            element(out, 4, name, value);
            let value = out.get(before..).and_then(|element| element.find('>')).unwrap_or_default();
            anchors.push(((before + value + 1) as u32, *at));
        }
        anchors.push((out.len() as u32, self.at));
        for (image, at) in self.images.iter().take(MAX_IMAGES) {
            open(out, anchors, (4, *at));
            out.push_str("<image:image>");
            element(out, 6, "image:loc", image);
            out.push_str("\n    </image:image>");
        }
        for video in &self.videos {
            open(out, anchors, (4, video.at));
            out.push_str("<video:video>");
            self.video(out, anchors, video);
            anchors.push((out.len() as u32, self.at));
            out.push_str("\n    </video:video>");
        }
        out.push_str("\n  </url>");
    }

    /// Writes the children of a video in schema order (sitemap-video 1.1).
    fn video(&self, out: &mut String, anchors: &mut Vec<(u32, u32)>, video: &Video) {
        let duration = video.duration.map(|(seconds, at)| (seconds.to_string(), at));
        let expires = self.expires.as_ref().map(|expires| (expires.clone(), self.at));
        let children = [
            ("thumbnail_loc", video.thumbnail.as_ref()),
            ("title", video.title.as_ref()),
            ("description", video.description.as_ref()),
            ("content_loc", video.content.as_ref()),
            ("player_loc", video.player.as_ref()),
            ("duration", duration.as_ref()),
            ("expiration_date", expires.as_ref()),
            ("rating", video.rating.as_ref()),
            ("view_count", video.views.as_ref()),
        ];
        let tags = video.tags.iter().map(|tag| ("tag", Some(tag)));
        for (name, (value, at)) in children.into_iter().chain(tags).filter_map(|(name, value)| Some((name, value?))) {
            open(out, anchors, (6, *at));
            let _ = write!(out, "<video:{name}>{}</video:{name}>", written(value));
        }
        if let Some((relationship, countries, at)) = &video.restriction {
            let (relationship, countries) = (written(relationship), written(countries));
            open(out, anchors, (6, *at));
            let _ = write!(out, "<video:restriction relationship=\"{relationship}\">{countries}</video:restriction>");
        }
    }
}

/// Begins a line for an element, and maps its offset to that of its source in the feed.
fn open(out: &mut String, anchors: &mut Vec<(u32, u32)>, (indent, at): (usize, u32)) {
    let _ = write!(out, "\n{:indent$}", "");
    anchors.push((out.len() as u32, at));
}

fn element(out: &mut String, indent: usize, name: &str, value: &str) {
    let _ = write!(out, "\n{:indent$}<{name}>{}</{name}>", "", written(value));
}

/// Escapes a value, collapses whitespace, and removes characters that XML does not allow.
fn written(value: &str) -> String {
    let words: Vec<&str> = value.split_ascii_whitespace().collect();
    let text: String = words.join(" ").chars().filter(|character| is_xml_char(*character)).collect();
    escape(&text).into_owned()
}
