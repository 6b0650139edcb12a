//! Turns the quirks of a stored file into findings: rule and message for each kind.

use super::rule::{Rule, RuleSet};
use crate::document::quirk::Quirk;
use crate::xml::defect::Defect;

/// The rule that a defect violates.
pub(crate) const fn rule_of(kind: Defect) -> Rule {
    match kind {
        Defect::Ampersand => Rule::XML_UNESCAPED_AMPERSAND,
        Defect::Angle => Rule::XML_UNESCAPED_ANGLE,
        Defect::Entity => Rule::XML_UNKNOWN_ENTITY,
        Defect::DtdEntity => Rule::XML_DTD_ENTITY,
        Defect::Character | Defect::NoCharacter => Rule::XML_ILLEGAL_CHAR,
        Defect::DuplicateAttribute | Defect::Attribute => Rule::XML_DUPLICATE_ATTRIBUTE,
        Defect::Comment => Rule::XML_BAD_COMMENT,
        Defect::UndeclaredPrefix => Rule::XML_UNDECLARED_PREFIX,
        Defect::NotWellFormed | Defect::SectionEnd | Defect::EndTag | Defect::Instruction | Defect::Name => {
            Rule::XML_NOT_WELL_FORMED
        }
        Defect::MergeConflict | Defect::MergeResolved => Rule::MERGE_CONFLICT,
        Defect::LeadingBlank => Rule::XML_LEADING_WHITESPACE,
        Defect::LeadingJunk | Defect::BeforeRoot => Rule::XML_LEADING_JUNK,
        Defect::TrailingJunk => Rule::XML_TRAILING_JUNK,
        Defect::Concatenated => Rule::XML_CONCATENATED,
        Defect::Truncated | Defect::TooDamaged | Defect::Unclosed => Rule::XML_TRUNCATED,
        Defect::NameCase => Rule::DOC_ROOT_CASE,
        Defect::OutsideRoot | Defect::Nested | Defect::Wrapped | Defect::Misplaced => Rule::DOC_ENTRY_OUTSIDE_ROOT,
        Defect::NotUtf8 => Rule::ENC_NOT_UTF8,
        Defect::EncodingMismatch => Rule::ENC_MISMATCH,
        Defect::InvalidBytes => Rule::ENC_INVALID_BYTES,
        Defect::UnknownLabel => Rule::ENC_UNKNOWN_LABEL,
        Defect::OtherMark => Rule::ENC_BOM_OTHER,
        Defect::GzipCorrupt => Rule::GZIP_CORRUPT,
        Defect::GzipTruncated => Rule::GZIP_TRUNCATED,
        Defect::GzipMembers => Rule::GZIP_MULTI_MEMBER,
        Defect::GzipTrailing => Rule::GZIP_TRAILING_GARBAGE,
        Defect::GzipDouble => Rule::GZIP_DOUBLE,
        Defect::TextNotUtf8 => Rule::TEXT_NOT_UTF8,
        Defect::BlankLine => Rule::TEXT_BLANK_LINE,
        Defect::LineEnds => Rule::TEXT_LINE_ENDS,
        Defect::Extension => Rule::TEXT_EXTENSION,
        Defect::Feed => Rule::FEED_NOT_SUPPORTED,
        Defect::FeedOld => Rule::FEED_NOT_SUPPORTED_OLD,
        Defect::FeedNoChannel => Rule::FEED_NO_CHANNEL,
        Defect::FeedNoLink => Rule::FEED_ITEM_NO_LINK,
        Defect::FeedDate => Rule::FEED_DATE,
        Defect::FeedRelative => Rule::FEED_RELATIVE_LINK,
        Defect::MediaContent => Rule::MRSS_CONTENT,
        Defect::MediaTitle => Rule::MRSS_TITLE,
        Defect::MediaDescription => Rule::MRSS_DESCRIPTION,
        Defect::MediaThumbnail => Rule::MRSS_THUMBNAIL,
        Defect::MediaPlayer => Rule::MRSS_PLAYER,
        Defect::MediaRestriction => Rule::MRSS_RESTRICTION,
        Defect::NoRoot => Rule::DOC_ROOT_UNKNOWN,
    }
}

/// The message for a quirk: what was found, and how it was read.
pub(crate) fn message(quirk: &Quirk) -> String {
    let what = &*quirk.what;
    let quoted = |made: &str| if what.is_empty() { made.to_owned() } else { format!("{what}: {made}") };
    match quirk.kind {
        Defect::Ampersand => quoted("a raw & where &amp; belongs; read as &amp;"),
        Defect::Angle => quoted("a raw < inside a value; read as &lt;"),
        Defect::SectionEnd => "]]> is allowed only at the end of a CDATA section; read as ]]&gt;".to_owned(),
        Defect::Entity => quoted("unknown entity reference; read as the character or text that was meant"),
        Defect::DtdEntity => quoted(
            "an entity of a DTD, which sited does not read; taken as the HTML character of that name, else as text",
        ),
        Defect::Character => quoted("XML cannot hold this character; percent-encoded in a URL, else omitted"),
        Defect::NoCharacter => quoted("this reference is not a character; kept as text"),
        Defect::DuplicateAttribute => quoted("duplicate attribute in this tag; the first one counts"),
        Defect::Comment => quoted("-- is not allowed inside a comment; read as - -"),
        Defect::UndeclaredPrefix => quoted("this prefix is not declared; its usual namespace is assumed"),
        Defect::MergeConflict if what.starts_with("lines") => {
            format!("an unresolved merge conflict in {what}: answer ours, theirs or both; our side is shown")
        }
        Defect::MergeConflict => format!("{what}: resolve it in a text editor"),
        Defect::MergeResolved => format!("a merge conflict in {what} is resolved; a save writes it"),
        Defect::LeadingBlank => "whitespace before the XML declaration; omitted".to_owned(),
        Defect::LeadingJunk => quoted("text before the document; omitted"),
        Defect::TrailingJunk => quoted("text after the document; omitted"),
        Defect::Concatenated => quoted("another document begins here; its entries were added"),
        Defect::Truncated => format!("the file is cut off here: {what}"),
        Defect::TooDamaged => format!("too deeply damaged to repair; {what}, the rest is omitted"),
        Defect::NotWellFormed if what.is_empty() => "markup that is not well-formed; repaired".to_owned(),
        Defect::NameCase => quoted("element names must be lower case; read as lower case"),
        Defect::OutsideRoot => quoted("outside any entry; made an entry of its own"),
        Defect::Nested => quoted("inside another entry; moved out of it"),
        Defect::Wrapped => format!("entries inside {what}, which is not an element of the protocol; moved out of it"),
        Defect::NotUtf8 => format!("stored in {what}; a sitemap is UTF-8"),
        Defect::NotWellFormed
        | Defect::EncodingMismatch
        | Defect::EndTag
        | Defect::Unclosed
        | Defect::Instruction
        | Defect::BeforeRoot
        | Defect::Attribute
        | Defect::Name
        | Defect::Misplaced
        | Defect::NoRoot => what.to_owned(),
        Defect::InvalidBytes => quoted("bytes that are invalid in the encoding; read as windows-1252"),
        Defect::UnknownLabel => format!("the declaration says {what}, which is not an encoding; read as UTF-8"),
        Defect::OtherMark => format!("a byte order mark of {what}; a sitemap is UTF-8"),
        Defect::GzipCorrupt => quoted("the gzip data is damaged; unpacked as far as possible"),
        Defect::GzipTruncated => quoted("the gzip data ends early; unpacked as far as possible"),
        Defect::GzipMembers => format!("{what} gzip members; many readers unpack the first only"),
        Defect::GzipTrailing => quoted("data after the gzip data; omitted"),
        Defect::GzipDouble => "gzip data inside gzip data; unpacked once more".to_owned(),
        Defect::TextNotUtf8 => quoted("a text sitemap is UTF-8"),
        Defect::BlankLine => format!("{what}; crawlers skip them"),
        Defect::LineEnds => format!("{what} with a carriage return"),
        Defect::Extension => "the name of a text sitemap ends in .txt".to_owned(),
        Defect::Feed | Defect::FeedOld => "this is a feed, which this engine does not read as a sitemap".to_owned(),
        Defect::FeedNoChannel => "items without a <channel>; feed readers do not find them".to_owned(),
        Defect::FeedNoLink => {
            let rest = if what.is_empty() { String::new() } else { format!("; {what}") };
            format!("this item has no link{rest}")
        }
        Defect::FeedDate if what.is_empty() => "the date is empty".to_owned(),
        Defect::FeedDate => format!("not a date of this feed format: {what}"),
        Defect::FeedRelative => format!("a relative link: {what}"),
        Defect::MediaContent => "media, but neither a video file nor a player".to_owned(),
        Defect::MediaTitle if what.is_empty() => "a video without media:title".to_owned(),
        Defect::MediaTitle => format!("media:title has {what}; Google takes 100"),
        Defect::MediaDescription if what.is_empty() => "a video without media:description".to_owned(),
        Defect::MediaDescription => format!("media:description has {what}; Google takes 2,048"),
        Defect::MediaThumbnail => "a video without media:thumbnail".to_owned(),
        Defect::MediaPlayer => format!("the player is the page itself: {what}"),
        Defect::MediaRestriction => format!("a restriction of type {what:?}; Google supports country only"),
    }
}

/// Rules whose findings disappear when the user accepts the repairs of a file.
pub(crate) const REPAIRS: RuleSet = RuleSet::of(&[
    Rule::XML_UNESCAPED_AMPERSAND,
    Rule::XML_UNESCAPED_ANGLE,
    Rule::XML_UNKNOWN_ENTITY,
    Rule::XML_DTD_ENTITY,
    Rule::XML_ILLEGAL_CHAR,
    Rule::XML_DUPLICATE_ATTRIBUTE,
    Rule::XML_BAD_COMMENT,
    Rule::XML_UNDECLARED_PREFIX,
    Rule::XML_NOT_WELL_FORMED,
    Rule::MERGE_CONFLICT,
    Rule::XML_LEADING_WHITESPACE,
    Rule::XML_LEADING_JUNK,
    Rule::XML_TRAILING_JUNK,
    Rule::XML_CONCATENATED,
    Rule::XML_TRUNCATED,
    Rule::DOC_ROOT_CASE,
    Rule::DOC_ENTRY_OUTSIDE_ROOT,
    Rule::ENC_NOT_UTF8,
    Rule::ENC_MISMATCH,
    Rule::ENC_INVALID_BYTES,
    Rule::ENC_UNKNOWN_LABEL,
    Rule::ENC_BOM_OTHER,
    Rule::GZIP_CORRUPT,
    Rule::GZIP_TRUNCATED,
    Rule::GZIP_MULTI_MEMBER,
    Rule::GZIP_TRAILING_GARBAGE,
    Rule::GZIP_DOUBLE,
    Rule::TEXT_NOT_UTF8,
]);

/// Rules that an entry violates for the same reason as the feed item that it was made from. Only the rule of the item
/// is reported.
const IMPLIED: [(Rule, RuleSet); 7] = [
    (Rule::FEED_ITEM_NO_LINK, RuleSet::of(&[Rule::LOC_MISSING])),
    (Rule::FEED_RELATIVE_LINK, RuleSet::of(&[Rule::LOC_NOT_ABSOLUTE])),
    (Rule::MRSS_CONTENT, RuleSet::of(&[Rule::VIDEO_LOCATION_MISSING])),
    (Rule::MRSS_TITLE, RuleSet::of(&[Rule::VIDEO_REQUIRED, Rule::VIDEO_TITLE_LENGTH])),
    (Rule::MRSS_DESCRIPTION, RuleSet::of(&[Rule::VIDEO_REQUIRED, Rule::VIDEO_DESCRIPTION_LENGTH])),
    (Rule::MRSS_THUMBNAIL, RuleSet::of(&[Rule::VIDEO_REQUIRED])),
    (Rule::MRSS_PLAYER, RuleSet::of(&[Rule::VIDEO_LOC_SAME])),
];

/// Adds the rules of quirks to those of their entry, so that each cause is reported once.
pub(crate) fn add_to_entry(entry: RuleSet, quirks: RuleSet) -> RuleSet {
    if quirks.is_empty() {
        return entry;
    }
    let implied = IMPLIED.iter().filter(|(cause, _)| quirks.contains(*cause));
    implied.fold(entry, |entry, (_, implied)| entry.minus(*implied)).union(quirks)
}

/// The rules that quirks violate.
pub(crate) fn rules<'q>(quirks: impl IntoIterator<Item = &'q Quirk>) -> RuleSet {
    quirks.into_iter().map(|quirk| rule_of(quirk.kind)).collect()
}
