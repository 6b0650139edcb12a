//! Media RSS: the videos and images of a feed item.
//!
//! An element applies to everything below its parent: the title of an item is that of each of its videos, unless the
//! group or the content has its own (Media RSS 1.5.1, "Optional elements").

use crate::words::grouped;
use crate::xml::defect::Defect;

/// A text and the offset of its element.
pub(super) type PlacedText = (String, u32);

/// The media elements directly in an item, a group or a content.
#[derive(Debug, Clone, Default)]
pub(super) struct Level {
    /// `media:title`.
    pub title: Option<PlacedText>,
    /// `media:description`.
    pub description: Option<PlacedText>,
    /// `media:thumbnail`, the first.
    pub thumbnail: Option<PlacedText>,
    /// `media:player`.
    pub player: Option<PlacedText>,
    /// `media:keywords`.
    pub keywords: Option<PlacedText>,
    /// `media:starRating`, its average.
    pub rating: Option<PlacedText>,
    /// `media:statistics`, its views.
    pub views: Option<PlacedText>,
    /// `media:restriction` of type country: relationship and countries.
    pub restriction: Option<(String, String, u32)>,
}

/// A `media:content`.
#[derive(Debug, Clone, Default)]
pub(super) struct Content {
    /// Its own elements.
    pub level: Level,
    /// The URL of the file.
    pub url: String,
    /// `medium`, as written.
    pub medium: String,
    /// The MIME type, as written.
    pub mime: String,
    /// The duration in seconds, as written.
    pub duration: String,
    /// Whether it is the default of its group.
    pub default: bool,
    /// The offset of its tag.
    pub at: u32,
}

/// The kind of a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Medium {
    Video,
    Image,
    Other,
}

impl Content {
    fn medium(&self) -> Medium {
        let mime = self.mime.to_ascii_lowercase();
        match self.medium.as_str() {
            "video" => Medium::Video,
            "image" => Medium::Image,
            "" if mime.starts_with("video/") || mime == "application/x-shockwave-flash" => Medium::Video,
            "" if mime.starts_with("image/") => Medium::Image,
            "" if mime.is_empty() => self.medium_by_extension(),
            _ => Medium::Other,
        }
    }

    /// The kind by file extension, for a content without medium and type, which are optional.
    fn medium_by_extension(&self) -> Medium {
        const VIDEOS: [&str; 11] = ["mp4", "mov", "m4v", "flv", "mpg", "mpeg", "avi", "wmv", "webm", "ogv", "3gp"];
        const IMAGES: [&str; 8] = ["jpg", "jpeg", "png", "gif", "webp", "svg", "avif", "bmp"];
        let path = self.url.split(['?', '#']).next().unwrap_or_default();
        let end = path.rsplit(['.', '/']).next().unwrap_or_default().to_ascii_lowercase();
        match () {
            () if VIDEOS.contains(&end.as_str()) => Medium::Video,
            () if IMAGES.contains(&end.as_str()) => Medium::Image,
            () => Medium::Other,
        }
    }
}

/// A `media:group`, or a single content.
#[derive(Debug, Clone, Default)]
pub(super) struct MediaGroup {
    /// The group's own elements.
    pub level: Level,
    /// Its contents: the same medium in several versions.
    pub contents: Vec<Content>,
    /// The offset of its tag.
    pub at: u32,
}

/// The Media RSS of an item.
#[derive(Debug, Clone, Default)]
pub(super) struct Media {
    /// Elements directly in the item.
    pub level: Level,
    /// Its groups and contents.
    pub units: Vec<MediaGroup>,
    /// The offset of the first element of Media RSS, if any.
    pub first: Option<u32>,
}

/// A video with the fields of a sitemap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Video {
    /// The offset of its element.
    pub at: u32,
    pub thumbnail: Option<PlacedText>,
    pub title: Option<PlacedText>,
    pub description: Option<PlacedText>,
    pub content: Option<PlacedText>,
    pub player: Option<PlacedText>,
    pub duration: Option<(u32, u32)>,
    pub rating: Option<PlacedText>,
    pub views: Option<PlacedText>,
    pub tags: Vec<PlacedText>,
    pub restriction: Option<(String, String, u32)>,
}

/// The videos and images of an item, with their defects.
#[derive(Debug, Clone, Default)]
pub(super) struct ExtractedMedia {
    pub videos: Vec<Video>,
    pub images: Vec<PlacedText>,
    pub defects: Vec<(Defect, u32, String)>,
}

/// Values of an item outside of Media RSS that its videos may need.
#[derive(Debug, Clone, Copy)]
pub(super) struct ItemContext<'i> {
    /// The URL of the page.
    pub link: Option<&'i str>,
    /// Title of the item.
    pub title: Option<&'i str>,
    /// Description of the item.
    pub summary: Option<&'i str>,
}

/// Maximum number of tags of a video (Google, video sitemaps, `video:tag`).
const MAX_TAGS: usize = 32;
/// Maximum number of characters of a title (sitemap-video 1.1).
const MAX_TITLE_CHARS: usize = 100;
/// Maximum number of characters of a description (sitemap-video 1.1).
const MAX_DESCRIPTION_CHARS: usize = 2_048;

impl Media {
    /// Extracts the videos and images.
    pub(super) fn extract(&self, context: &ItemContext<'_>) -> ExtractedMedia {
        let mut found = ExtractedMedia::default();
        for unit in &self.units {
            let videos = || unit.contents.iter().filter(|content| content.medium() == Medium::Video);
            if let Some(content) = videos().find(|content| content.default).or_else(|| videos().next()) {
                let levels = [&content.level, &unit.level, &self.level];
                found.add_video(&levels, Some(content), content.at, context);
                continue;
            }
            let images = unit.contents.iter().filter(|content| content.medium() == Medium::Image);
            found
                .images
                .extend(images.map(|content| (content.url.clone(), content.at)).filter(|(url, _)| !url.is_empty()));
            let players = unit.contents.iter().map(|content| &content.level).chain([&unit.level]);
            if let Some(level) = players.into_iter().find(|level| level.player.is_some()) {
                found.add_video(&[level, &unit.level, &self.level], None, unit.at, context);
            }
        }
        if let Some((_, at)) = self.level.player.as_ref().filter(|_| found.videos.is_empty()) {
            found.add_video(&[&self.level], None, *at, context);
        }
        if found.videos.is_empty() {
            // Without a video, a thumbnail is an image of the page.
            let levels = self.units.iter().map(|unit| &unit.level).chain([&self.level]);
            let thumbnails: Vec<PlacedText> = levels.filter_map(|level| level.thumbnail.clone()).collect();
            found.images.extend(thumbnails);
            if let Some(at) = self.first.filter(|_| found.images.is_empty()) {
                found.defects.push((Defect::MediaContent, at, String::new()));
            }
        }
        let mut seen = std::collections::BTreeSet::new();
        found.images.retain(|(image, _)| seen.insert(image.clone()));
        found
    }
}

impl ExtractedMedia {
    /// Adds a video with the values of its levels, innermost first.
    fn add_video(&mut self, levels: &[&Level], content: Option<&Content>, at: u32, context: &ItemContext<'_>) {
        fn nearest<T: Clone>(levels: &[&Level], of: impl Fn(&Level) -> Option<T>) -> Option<T> {
            levels.iter().find_map(|level| of(level))
        }
        let own = |text: Option<PlacedText>| text.filter(|(text, _)| !text.is_empty());
        let title = own(nearest(levels, |level| level.title.clone()));
        let description = own(nearest(levels, |level| level.description.clone()));
        let player = nearest(levels, |level| level.player.clone());
        let thumbnail = own(nearest(levels, |level| level.thumbnail.clone()));
        let has_url = content.is_some_and(|content| !content.url.is_empty())
            || player.as_ref().is_some_and(|(url, _)| !url.is_empty());
        if !has_url {
            self.defects.push((Defect::MediaContent, at, String::new()));
        }
        self.check_length(Defect::MediaTitle, at, title.as_ref(), MAX_TITLE_CHARS);
        self.check_length(Defect::MediaDescription, at, description.as_ref(), MAX_DESCRIPTION_CHARS);
        if thumbnail.is_none() {
            self.defects.push((Defect::MediaThumbnail, at, String::new()));
        }
        if let Some((url, at)) = player.as_ref().filter(|(url, _)| Some(url.as_str()) == context.link) {
            self.defects.push((Defect::MediaPlayer, *at, url.clone()));
        }
        let (keywords, tagged) = nearest(levels, |level| level.keywords.clone()).unwrap_or_default();
        let tags = keywords.split(',').map(str::trim).filter(|tag| !tag.is_empty());
        self.videos.push(Video {
            at,
            thumbnail,
            title: title.or_else(|| context.title.map(|title| (title.to_owned(), at))),
            description: description.or_else(|| context.summary.map(|summary| (summary.to_owned(), at))),
            content: content.map(|content| (content.url.clone(), content.at)).filter(|(url, _)| !url.is_empty()),
            player: player.filter(|(url, _)| !url.is_empty()),
            duration: content.and_then(|content| Some((seconds(&content.duration)?, content.at))),
            rating: nearest(levels, |level| level.rating.clone()).filter(|(rating, _)| is_rating(rating)),
            views: nearest(levels, |level| level.views.clone()).filter(|(views, _)| is_number(views)),
            tags: tags.take(MAX_TAGS).map(|tag| (tag.to_owned(), tagged)).collect(),
            restriction: nearest(levels, |level| level.restriction.clone()),
        });
    }

    /// Adds a defect for a text that is missing or longer than `max` characters.
    fn check_length(&mut self, kind: Defect, at: u32, text: Option<&PlacedText>, max: usize) {
        match text.map(|(text, at)| (text.chars().count(), *at)) {
            None => self.defects.push((kind, at, String::new())),
            Some((count, at)) if count > max => {
                self.defects.push((kind, at, format!("{} characters", grouped(count as u64))));
            }
            Some(_) => {}
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.len() < 16 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is a rating, a decimal from 0.0 to 5.0 (Google, video sitemaps, `video:rating`).
fn is_rating(text: &str) -> bool {
    let digits = |part: &str| is_number(part);
    let (whole, rest) = text.split_once('.').unwrap_or((text, "0"));
    digits(whole) && digits(rest) && text.parse::<f64>().is_ok_and(|rating| rating <= 5.0)
}

/// The whole seconds of a duration. `1:05` and the like are not Media RSS and are ignored.
fn seconds(text: &str) -> Option<u32> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    (is_number(whole) && is_number(fraction)).then(|| whole.parse().ok()).flatten()
}
