//! Tables of the elements of each extension, in schema order.

use super::value::Kind;
use super::{Attribute, Element};

/// An optional element with a value that may occur once.
const fn value(name: &'static str, kind: Kind) -> Element {
    Element { name, kind, max_count: 1, is_required: false, is_deprecated: false, attributes: &[], children: &[] }
}

/// An element with child elements.
const fn parent(name: &'static str, children: &'static [Element]) -> Element {
    Element { children, ..value(name, Kind::Elements) }
}

const fn required(element: Element) -> Element {
    Element { is_required: true, ..element }
}

const fn deprecated(element: Element) -> Element {
    Element { is_deprecated: true, ..element }
}

const fn at_most(max_count: u16, element: Element) -> Element {
    Element { max_count, ..element }
}

const fn any_number(element: Element) -> Element {
    at_most(0, element)
}

const fn with(attributes: &'static [Attribute], element: Element) -> Element {
    Element { attributes, ..element }
}

const fn attribute(name: &'static str, kind: Kind) -> Attribute {
    Attribute { name, kind, is_deprecated: false }
}

const fn withdrawn(name: &'static str, kind: Kind) -> Attribute {
    Attribute { is_deprecated: true, ..attribute(name, kind) }
}

/// sitemap-image 1.1; Google Search Central, "Image sitemaps".
pub(super) static IMAGE: Element = any_number(parent(
    "image",
    &[
        required(value("loc", Kind::Url)),
        deprecated(value("caption", Kind::Text)),
        deprecated(value("geo_location", Kind::Text)),
        deprecated(value("title", Kind::Text)),
        deprecated(value("license", Kind::Url)),
    ],
));

/// sitemap-video 1.1; Google Search Central, "Video sitemaps and alternatives".
pub(super) static VIDEO: Element = any_number(parent(
    "video",
    &[
        required(value("thumbnail_loc", Kind::Media)),
        required(value("title", Kind::VideoTitle)),
        required(value("description", Kind::VideoDescription)),
        value("content_loc", Kind::Content),
        with(
            &[withdrawn("allow_embed", Kind::YesNo), withdrawn("autoplay", Kind::Text)],
            value("player_loc", Kind::Media),
        ),
        value("duration", Kind::Duration),
        value("expiration_date", Kind::VideoDate),
        value("rating", Kind::Rating),
        any_number(with(&[attribute("duration", Kind::Duration)], value("content_segment_loc", Kind::Media))),
        value("view_count", Kind::Count),
        value("publication_date", Kind::VideoDate),
        at_most(super::value::VIDEO_TAGS, value("tag", Kind::Text)),
        deprecated(value("category", Kind::VideoCategory)),
        value("family_friendly", Kind::YesNo),
        with(&[attribute("relationship", Kind::Relationship)], value("restriction", Kind::Countries)),
        deprecated(with(&[attribute("title", Kind::Text)], value("gallery_loc", Kind::Url))),
        deprecated(any_number(with(
            &[
                attribute("currency", Kind::Currency),
                attribute("type", Kind::PriceType),
                attribute("resolution", Kind::Resolution),
            ],
            value("price", Kind::Price),
        ))),
        value("requires_subscription", Kind::YesNo),
        with(&[attribute("info", Kind::Url)], value("uploader", Kind::Uploader)),
        deprecated(parent(
            "tvshow",
            &[
                required(value("show_title", Kind::Text)),
                required(value("video_type", Kind::ShowType)),
                value("episode_title", Kind::Text),
                value("season_number", Kind::ShowNumber),
                value("episode_number", Kind::ShowNumber),
                value("premier_date", Kind::VideoDate),
            ],
        )),
        with(&[attribute("relationship", Kind::Relationship)], value("platform", Kind::Platforms)),
        value("live", Kind::YesNo),
        any_number(with(&[attribute("type", Kind::IdType)], value("id", Kind::Text))),
    ],
));

/// sitemap-news 0.9; Google Search Central, "News sitemaps".
pub(super) static NEWS: Element = parent(
    "news",
    &[
        required(parent(
            "publication",
            &[required(value("name", Kind::NewsName)), required(value("language", Kind::NewsLanguage))],
        )),
        deprecated(value("access", Kind::Access)),
        deprecated(value("genres", Kind::Genres)),
        required(value("publication_date", Kind::NewsDate)),
        required(value("title", Kind::Text)),
        deprecated(value("keywords", Kind::Text)),
        deprecated(value("stock_tickers", Kind::Tickers)),
    ],
);

/// `link` of XHTML 1.0; Google Search Central, "Localized versions of your pages".
pub(super) static LINK: Element = any_number(with(
    &[
        attribute("rel", Kind::Text),
        attribute("hreflang", Kind::Text),
        attribute("href", Kind::Text),
        attribute("media", Kind::Text),
        attribute("type", Kind::Text),
        attribute("title", Kind::Text),
        attribute("charset", Kind::Text),
        attribute("rev", Kind::Text),
        attribute("id", Kind::Text),
        attribute("class", Kind::Text),
        attribute("lang", Kind::Text),
        attribute("dir", Kind::Text),
    ],
    value("link", Kind::Empty),
));

/// sitemap-mobile 1.0.
pub(super) static MOBILE: Element = value("mobile", Kind::Empty);

/// sitemap-geo 1.0.
pub(super) static GEO: Element = parent("geo", &[required(value("format", Kind::GeoFormat))]);

/// Google Code Search sitemaps (withdrawn with the product).
pub(super) static CODE_SEARCH: Element = parent(
    "codesearch",
    &[
        required(value("filetype", Kind::FileType)),
        value("license", Kind::Text),
        value("filename", Kind::Text),
        value("packageurl", Kind::Url),
        value("packagemap", Kind::Text),
    ],
);

/// sitemap-pagemap 1.0.
pub(super) static PAGE_MAP: Element = parent(
    "PageMap",
    &[
        with(&[attribute("src", Kind::Url)], value("Template", Kind::Empty)),
        any_number(with(
            &[attribute("type", Kind::Text), attribute("id", Kind::Text)],
            parent(
                "DataObject",
                &[any_number(with(
                    &[attribute("name", Kind::Text), attribute("value", Kind::Text)],
                    value("Attribute", Kind::Text),
                ))],
            ),
        )),
    ],
);
