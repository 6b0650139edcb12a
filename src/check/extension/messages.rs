//! Messages for findings in extensions: the faulty value, and what is allowed instead.

use super::outline::Outline;
use super::{About, Breach, EntryContext, part};
use crate::check::rule::Rule;
use crate::protocol::extension::{Kind, hreflang, value};
use crate::protocol::location;
use crate::words::excerpt_of_value as visible;
use crate::xml::elements::Node;

/// Cause of a value that was escaped once too often.
const TWICE: &str = "it was escaped twice";

/// An element that violates a rule, with the data for its message.
struct Subject<'a> {
    rule: Rule,
    /// The name of the element with the customary prefix.
    name: &'a str,
    node: &'a Node,
    outline: &'a Outline<'a>,
    entry_context: &'a EntryContext<'a>,
}

/// The message for a breach.
pub(super) fn message(breach: &Breach, outline: &Outline<'_>, entry_context: &EntryContext<'_>) -> String {
    let name = part(outline, breach).name;
    let Some(node) = outline.node_at(breach.node).filter(|_| breach.about != About::Outside) else {
        return format!("{name} is outside any <url>, so it belongs to no page");
    };
    let value = outline.value(node);
    let subject = Subject { rule: breach.rule, name: &name, node, outline, entry_context };
    match breach.about {
        About::Url(fault, attribute) => subject.url(fault, attribute),
        About::Child(child) => missing(breach.rule, &name, child),
        About::UnknownAttribute(at) => {
            let found = super::attribute_starting_at(outline, node, at);
            let attribute = found.map(|found| String::from_utf8_lossy(found.name)).unwrap_or_default();
            format!("{name} has no attribute {}", visible(&attribute))
        }
        About::Value(kind) => match breach.rule {
            Rule::FIELD_WHITESPACE => format!("blanks or line breaks around the value of {name}"),
            Rule::FIELD_WHITESPACE_STRICT => format!("blanks around the value of {name} that readers do not trim"),
            Rule::XML_DOUBLE_ESCAPED => format!("{name} is {}: {TWICE}", visible(&value)),
            _ if kind.is_free() => format!("{name} has {} characters: {}", value.chars().count(), kind.expectation()),
            _ if value.is_empty() => format!("{name} is empty: {}", kind.expectation()),
            _ => format!("{name} is {}: {}{}", visible(&value), kind.expectation(), suggestion(kind, &value)),
        },
        About::Attribute(attribute, kind) => subject.attribute(attribute, kind),
        About::Other(other) => subject.repetition(other),
        About::Element | About::Outside => subject.element(),
    }
}

/// The likely intended value, if there is one.
fn suggestion(kind: Kind, value: &str) -> String {
    kind.repair(value).map(|(right, _)| format!("; perhaps {}", visible(&right))).unwrap_or_default()
}

fn missing(rule: Rule, name: &str, child: &str) -> String {
    let prefix = name.split(':').next().unwrap_or_default();
    match rule {
        Rule::VIDEO_LOCATION_MISSING => {
            format!("this {name} has neither video:content_loc nor video:player_loc: Google cannot find the video")
        }
        _ => format!("{name} lacks {prefix}:{child}, or it is empty"),
    }
}

impl Subject<'_> {
    fn url(&self, fault: location::Fault, attribute: Option<&'static str>) -> String {
        let Self { rule, name, outline, node, .. } = *self;
        let (place, value) = match attribute {
            Some(attribute) => {
                (format!("{attribute} of {name}"), outline.attribute(node, attribute).unwrap_or_default())
            }
            None => (name.to_owned(), outline.value(node)),
        };
        match rule {
            Rule::VIDEO_URL_SCHEME => format!("{place} is {}: {}", visible(&value), Kind::Media.expectation()),
            Rule::HREFLANG_HREF_RELATIVE => {
                format!("{place} is {}: write the complete URL, with https://", visible(&value))
            }
            _ => format!("{place}: {}", location::explain(fault, &value)),
        }
    }

    fn attribute(&self, attribute: &'static str, kind: Kind) -> String {
        let Self { rule, name, outline, node, entry_context } = *self;
        let Some(value) = outline.attribute(node, attribute) else {
            return match rule {
                Rule::PAGEMAP_STRUCTURE if attribute == "value" => {
                    format!("{name} has no value, neither in value nor as text")
                }
                _ if kind == Kind::Text => format!("{name} lacks {attribute}"),
                _ => format!("{name} lacks {attribute}: {}", kind.expectation()),
            };
        };
        let excerpt = visible(&value);
        match rule {
            Rule::XML_DOUBLE_ESCAPED => format!("{attribute} of {name} is {excerpt}: {TWICE}"),
            Rule::VIDEO_DEPRECATED => format!("{attribute} of {name} has had no effect since August 2022"),
            Rule::VIDEO_UPLOADER => {
                let (theirs, ours) = (location::host(&value), location::host(&entry_context.page));
                format!("{attribute} of {name} is on {}, not on {}", visible(theirs), visible(ours))
            }
            Rule::PAGEMAP_STRUCTURE => format!("{name} has a value twice: in {attribute} and as text"),
            Rule::HREFLANG_ATTR if attribute == "rel" => format!("rel is {excerpt}: write alternate"),
            Rule::HREFLANG_ATTR => format!("{attribute} of {name} is empty"),
            Rule::HREFLANG_CODE => {
                format!(
                    "hreflang is {excerpt}: write a language and perhaps a country, such as de or de-AT, or x-default"
                )
            }
            Rule::HREFLANG_REGION_RESERVED => match hreflang::with_country(&value) {
                Some(right) => format!("hreflang is {excerpt}: the United Kingdom is {}", visible(&right)),
                None => format!("hreflang is {excerpt}: that is not a country code, so Google ignores the region"),
            },
            Rule::HREFLANG_SEPARATOR | Rule::HREFLANG_CASE => {
                format!("hreflang is {excerpt}: write {}", visible(&hreflang::customary(&value).unwrap_or_default()))
            }
            _ => format!("{attribute} of {name} is {excerpt}: {}", kind.expectation()),
        }
    }

    /// The message for an element that repeats an earlier one.
    fn repetition(&self, other: u32) -> String {
        let Self { rule, name, outline, node, .. } = *self;
        let attribute = |node: &Node, name: &str| visible(&outline.attribute(node, name).unwrap_or_default());
        match rule {
            Rule::IMAGE_DUPLICATE => {
                let url = outline.child(other, "loc").map(|(_, node)| outline.value(node)).unwrap_or_default();
                format!("the image {} is already listed", visible(&url))
            }
            Rule::NEWS_DUPLICATE => "a second news:news: an entry describes only one article".to_owned(),
            Rule::HREFLANG_DUPLICATE => {
                format!("hreflang {} is already listed with the same URL", attribute(node, "hreflang"))
            }
            Rule::HREFLANG_DUPLICATE_DIFFERENT => {
                let first = outline.node_at(other).map(|other| attribute(other, "href")).unwrap_or_default();
                format!("hreflang {} is already listed with {first}", attribute(node, "hreflang"))
            }
            Rule::HREFLANG_SELF_CONFLICT => {
                let first = outline.node_at(other).map(|other| attribute(other, "hreflang")).unwrap_or_default();
                format!("the page itself is listed as {first} and as {}", attribute(node, "hreflang"))
            }
            _ => format!("a second {name}: only one is allowed"),
        }
    }

    fn element(&self) -> String {
        let Self { rule, name, outline, node, entry_context } = *self;
        let value = outline.value(node);
        let excerpt = visible(&value);
        let parent =
            outline.node_at(node.parent).map_or_else(|| "url".to_owned(), |parent| outline.name(parent).into_owned());
        match rule {
            Rule::EXT_OUTSIDE_URL => format!("{name} in an index entry: it describes pages, not sitemaps"),
            Rule::EXT_MISPLACED => format!("{name} is not allowed directly inside {parent}"),
            Rule::EXT_UNKNOWN_CHILD => match super::fixes::intended_name(outline, node) {
                Some(meant) => format!("{name} is not an element of {parent}; did you mean {meant}?"),
                None => format!("{name} is not an element of {parent}"),
            },
            Rule::EXT_CHILD_ORDER => {
                let names: Vec<&str> = node
                    .element
                    .map(|element| element.children.iter().map(|child| child.name).collect())
                    .unwrap_or_default();
                let most = 6;
                let end = if names.len() > most { " and so on" } else { "" };
                let names: Vec<&str> = names.into_iter().take(most).collect();
                format!("the schema fixes the order in {name}: {}{end}", names.join(", "))
            }
            Rule::EXT_OBSOLETE => format!("no search engine reads {name} any more"),
            Rule::EXT_OBSOLETE_PAGEMAP => format!("only custom search engines read {name}"),
            Rule::IMAGE_LIMIT => format!("more than {} images in one entry; the others are ignored", value::IMAGES),
            Rule::IMAGE_DEPRECATED | Rule::VIDEO_DEPRECATED => format!("{name} has had no effect since August 2022"),
            Rule::NEWS_DEPRECATED => format!("Google no longer documents {name}"),
            Rule::IMAGE_FOREIGN_HOST => {
                let (theirs, ours) = (location::host(&value), location::host(&entry_context.page));
                format!("the image is on {}, the page on {}: fine if both are verified", visible(theirs), visible(ours))
            }
            Rule::VIDEO_LOC_SAME => format!("{name} is the URL of the page itself; it is for the video"),
            Rule::VIDEO_EXPIRED => format!("the video expired on {excerpt}"),
            Rule::VIDEO_TAG_LIMIT => format!("more than {} tags for one video", value::VIDEO_TAGS),
            Rule::NEWS_LANGUAGE_UNKNOWN => format!("{excerpt} is not a language code of ISO 639"),
            Rule::NEWS_STALE => format!("published on {excerpt}: over two days ago"),
            Rule::NEWS_FUTURE => format!("published on {excerpt}: in the future"),
            Rule::CODE_PACKAGEMAP_NOT_ARCHIVE => "a package map needs the filetype archive".to_owned(),
            Rule::DOC_UNKNOWN_ELEMENT => format!("{name} rel=\"amphtml\" has no effect in a sitemap"),
            Rule::HREFLANG_SELF_MISSING => {
                format!("the alternates do not include {}, the page itself", visible(&entry_context.page))
            }
            Rule::HREFLANG_NO_X_DEFAULT => "no x-default alternate for readers of other languages".to_owned(),
            _ => rule.summary().to_owned(),
        }
    }
}
