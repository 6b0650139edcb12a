//! Turns the quirks of a stored file into findings: rule and message for each kind.

use super::rule::{Rule, RuleSet};
use crate::document::quirk::{Quirk, QuirkKind};

/// The rule that a quirk breaks.
pub const fn rule_of(kind: QuirkKind) -> Rule {
    match kind {
        QuirkKind::Ampersand => Rule::XML_UNESCAPED_AMPERSAND,
        QuirkKind::Angle => Rule::XML_UNESCAPED_ANGLE,
        QuirkKind::Entity => Rule::XML_UNKNOWN_ENTITY,
        QuirkKind::DtdEntity => Rule::XML_DTD_ENTITY,
        QuirkKind::Character | QuirkKind::NoCharacter => Rule::XML_ILLEGAL_CHAR,
        QuirkKind::DuplicateAttribute => Rule::XML_DUPLICATE_ATTRIBUTE,
        QuirkKind::Comment => Rule::XML_BAD_COMMENT,
        QuirkKind::UndeclaredPrefix => Rule::XML_UNDECLARED_PREFIX,
        QuirkKind::NotWellFormed | QuirkKind::SectionEnd => Rule::XML_NOT_WELL_FORMED,
        QuirkKind::MergeConflict | QuirkKind::MergeResolved => Rule::MERGE_CONFLICT,
        QuirkKind::LeadingBlank => Rule::XML_LEADING_WHITESPACE,
        QuirkKind::LeadingJunk => Rule::XML_LEADING_JUNK,
        QuirkKind::TrailingJunk => Rule::XML_TRAILING_JUNK,
        QuirkKind::Concatenated => Rule::XML_CONCATENATED,
        QuirkKind::Truncated | QuirkKind::TooDamaged => Rule::XML_TRUNCATED,
        QuirkKind::NameCase => Rule::DOC_ROOT_CASE,
        QuirkKind::OutsideRoot | QuirkKind::Nested | QuirkKind::Wrapped => Rule::DOC_ENTRY_OUTSIDE_ROOT,
        QuirkKind::NotUtf8 => Rule::ENC_NOT_UTF8,
        QuirkKind::EncodingMismatch => Rule::ENC_MISMATCH,
        QuirkKind::InvalidBytes => Rule::ENC_INVALID_BYTES,
        QuirkKind::UnknownLabel => Rule::ENC_UNKNOWN_LABEL,
        QuirkKind::OtherMark => Rule::ENC_BOM_OTHER,
        QuirkKind::GzipCorrupt => Rule::GZIP_CORRUPT,
        QuirkKind::GzipTruncated => Rule::GZIP_TRUNCATED,
        QuirkKind::GzipMembers => Rule::GZIP_MULTI_MEMBER,
        QuirkKind::GzipTrailing => Rule::GZIP_TRAILING_GARBAGE,
        QuirkKind::GzipDouble => Rule::GZIP_DOUBLE,
        QuirkKind::TextNotUtf8 => Rule::TEXT_NOT_UTF8,
        QuirkKind::BlankLine => Rule::TEXT_BLANK_LINE,
        QuirkKind::LineEnds => Rule::TEXT_LINE_ENDS,
        QuirkKind::Extension => Rule::TEXT_EXTENSION,
        QuirkKind::Feed => Rule::FEED_NOT_SUPPORTED,
        QuirkKind::FeedOld => Rule::FEED_NOT_SUPPORTED_OLD,
        QuirkKind::FeedNoChannel => Rule::FEED_NO_CHANNEL,
        QuirkKind::FeedNoLink => Rule::FEED_ITEM_NO_LINK,
        QuirkKind::FeedDate => Rule::FEED_DATE,
        QuirkKind::FeedRelative => Rule::FEED_RELATIVE_LINK,
        QuirkKind::MediaContent => Rule::MRSS_CONTENT,
        QuirkKind::MediaTitle => Rule::MRSS_TITLE,
        QuirkKind::MediaDescription => Rule::MRSS_DESCRIPTION,
        QuirkKind::MediaThumbnail => Rule::MRSS_THUMBNAIL,
        QuirkKind::MediaPlayer => Rule::MRSS_PLAYER,
        QuirkKind::MediaRestriction => Rule::MRSS_RESTRICTION,
    }
}

/// What was found at the place, and what was made of it.
pub fn message(quirk: &Quirk) -> String {
    let what = &*quirk.what;
    let quoted = |made: &str| if what.is_empty() { made.to_owned() } else { format!("{what}: {made}") };
    match quirk.kind {
        QuirkKind::Ampersand => quoted("a raw & where &amp; belongs; read as &amp;"),
        QuirkKind::Angle => quoted("a raw < inside a value; read as &lt;"),
        QuirkKind::SectionEnd => "]]> is allowed only at the end of a CDATA section; read as ]]&gt;".to_owned(),
        QuirkKind::Entity => quoted("unknown entity reference; read as the character or text that was meant"),
        QuirkKind::DtdEntity => quoted(
            "an entity of a DTD, which is not read: its value is not known; read as the HTML character of that name, else as text",
        ),
        QuirkKind::Character => quoted("XML cannot hold this character; percent-encoded in a URL, else omitted"),
        QuirkKind::NoCharacter => quoted("this number is not a character; kept as text: write what was meant"),
        QuirkKind::DuplicateAttribute => quoted("duplicate attribute in this tag; the first one counts"),
        QuirkKind::Comment => quoted("-- is not allowed inside a comment; read as - -"),
        QuirkKind::UndeclaredPrefix => quoted("this prefix is not declared; its usual namespace was taken"),
        QuirkKind::MergeConflict if what.starts_with("lines") => {
            format!("an unresolved merge conflict in {what}: answer ours, theirs or both; our side is shown")
        }
        QuirkKind::MergeConflict => format!("{what}: resolve it in a text editor"),
        QuirkKind::MergeResolved => format!("a merge conflict in {what} is resolved; a save writes it"),
        QuirkKind::LeadingBlank => "whitespace before the XML declaration; omitted".to_owned(),
        QuirkKind::LeadingJunk => quoted("text before the document; omitted"),
        QuirkKind::TrailingJunk => quoted("text after the document; omitted"),
        QuirkKind::Concatenated => quoted("another document begins here; its entries were added"),
        QuirkKind::Truncated => format!("the file ends here, too early: {what}"),
        QuirkKind::TooDamaged => format!("too deeply damaged to repair; {what}, the rest is omitted"),
        QuirkKind::NotWellFormed if what.is_empty() => "markup that is not well-formed; repaired".to_owned(),
        QuirkKind::NameCase => quoted("element names are lower case; read so"),
        QuirkKind::OutsideRoot => quoted("outside any entry; made an entry of its own"),
        QuirkKind::Nested => quoted("inside another entry; moved out of it"),
        QuirkKind::Wrapped => format!("entries inside {what}, which the protocol does not have; taken out of it"),
        QuirkKind::NotUtf8 => format!("stored in {what}; a sitemap is UTF-8"),
        QuirkKind::NotWellFormed | QuirkKind::EncodingMismatch => what.to_owned(),
        QuirkKind::InvalidBytes => quoted("bytes that the encoding does not have; read as windows-1252"),
        QuirkKind::UnknownLabel => format!("the declaration says {what}, which is not an encoding; read as UTF-8"),
        QuirkKind::OtherMark => format!("a byte order mark of {what}; a sitemap is UTF-8"),
        QuirkKind::GzipCorrupt => quoted("the gzip data is damaged; what could be unpacked is here"),
        QuirkKind::GzipTruncated => quoted("the gzip data ends early; what could be unpacked is here"),
        QuirkKind::GzipMembers => format!("{what} gzip members; many readers unpack the first only"),
        QuirkKind::GzipTrailing => quoted("data after the gzip data; omitted"),
        QuirkKind::GzipDouble => "gzip data inside gzip data; unpacked once more".to_owned(),
        QuirkKind::TextNotUtf8 => quoted("a text sitemap is UTF-8"),
        QuirkKind::BlankLine => format!("{what}; crawlers skip them"),
        QuirkKind::LineEnds => format!("{what} with a carriage return"),
        QuirkKind::Extension => "the name of a text sitemap ends in .txt".to_owned(),
        QuirkKind::Feed | QuirkKind::FeedOld => {
            "this is a feed, which this engine does not read as a sitemap".to_owned()
        }
        QuirkKind::FeedNoChannel => "items without a <channel>; feed readers find none".to_owned(),
        QuirkKind::FeedNoLink => {
            let rest = if what.is_empty() { String::new() } else { format!("; {what}") };
            format!("this item has no link{rest}")
        }
        QuirkKind::FeedDate if what.is_empty() => "the date is empty".to_owned(),
        QuirkKind::FeedDate => format!("not how this feed format writes a date: {what}"),
        QuirkKind::FeedRelative => format!("a relative link: {what}"),
        QuirkKind::MediaContent => "media, but neither a video file nor a player".to_owned(),
        QuirkKind::MediaTitle if what.is_empty() => "a video without media:title".to_owned(),
        QuirkKind::MediaTitle => format!("media:title has {what}; Google takes 100"),
        QuirkKind::MediaDescription if what.is_empty() => "a video without media:description".to_owned(),
        QuirkKind::MediaDescription => format!("media:description has {what}; Google takes 2,048"),
        QuirkKind::MediaThumbnail => "a video without media:thumbnail".to_owned(),
        QuirkKind::MediaPlayer => format!("the player is the page itself: {what}"),
        QuirkKind::MediaRestriction => format!("a restriction of type {what:?}; Google reads country alone"),
    }
}

/// Rules whose findings go when somebody agrees to the repairs of a file.
pub const REPAIRS: RuleSet = RuleSet::of(&[
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

/// What the entry made of a feed's item breaks for the same reason as the item: said of the item alone.
const IMPLIED: [(Rule, RuleSet); 7] = [
    (Rule::FEED_ITEM_NO_LINK, RuleSet::of(&[Rule::LOC_MISSING])),
    (Rule::FEED_RELATIVE_LINK, RuleSet::of(&[Rule::LOC_NOT_ABSOLUTE])),
    (Rule::MRSS_CONTENT, RuleSet::of(&[Rule::VIDEO_LOCATION_MISSING])),
    (Rule::MRSS_TITLE, RuleSet::of(&[Rule::VIDEO_REQUIRED, Rule::VIDEO_TITLE_LENGTH])),
    (Rule::MRSS_DESCRIPTION, RuleSet::of(&[Rule::VIDEO_REQUIRED, Rule::VIDEO_DESCRIPTION_LENGTH])),
    (Rule::MRSS_THUMBNAIL, RuleSet::of(&[Rule::VIDEO_REQUIRED])),
    (Rule::MRSS_PLAYER, RuleSet::of(&[Rule::VIDEO_LOC_SAME])),
];

/// The rules of an entry with those of its quirks: each cause once.
pub fn with_entry(entry: RuleSet, quirks: RuleSet) -> RuleSet {
    if quirks.is_empty() {
        return entry;
    }
    let implied = IMPLIED.iter().filter(|(cause, _)| quirks.contains(*cause));
    implied.fold(entry, |entry, (_, implied)| entry.minus(*implied)).union(quirks)
}

/// The rules that quirks break.
pub fn rules<'q>(quirks: impl IntoIterator<Item = &'q Quirk>) -> RuleSet {
    quirks.into_iter().map(|quirk| rule_of(quirk.kind)).collect()
}
