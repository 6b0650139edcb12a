//! Quirks: properties of a file as stored that its bytes in memory no longer have.
//!
//! In memory a file is sound UTF-8. What had to be done to make it so – a repaired token, another encoding, odd
//! packing – is kept beside the bytes as quirks. They say what was there; which rule that breaks, and in which
//! words, is for [`crate::check`] to know.

use crate::words::grouped;
use std::collections::BTreeMap;

/// The ways in which a stored file differs from sound XML in UTF-8 (rule catalogue, sections 4 and 11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QuirkKind {
    /// `&` that began no reference; it became `&amp;`.
    Ampersand,
    /// `<` inside a value; it became `&lt;`.
    Angle,
    /// `]]>` in text; it became `]]&gt;`.
    SectionEnd,
    /// A named reference that XML does not know; it became its character, or text.
    Entity,
    /// A reference to an entity of a DTD; it was not expanded and became its character in HTML, or text.
    DtdEntity,
    /// A character that XML cannot hold; it was dropped, or percent-encoded in a URL.
    Character,
    /// A reference to a number that is no character; it became text.
    NoCharacter,
    /// An attribute that stood twice in its tag; the first was kept.
    DuplicateAttribute,
    /// `--` inside a comment, or a comment that did not end.
    Comment,
    /// A prefix that nothing declared; the root declares it now.
    UndeclaredPrefix,
    /// Markup that is not well-formed in some other way: tags that do not match, a broken instruction.
    NotWellFormed,
    /// A merge conflict that nobody has resolved; our side is read.
    MergeConflict,
    /// A merge conflict that is resolved as somebody answered.
    MergeResolved,
    /// Blanks before the XML declaration.
    LeadingBlank,
    /// Text or markup before the root.
    LeadingJunk,
    /// Text or markup after the root.
    TrailingJunk,
    /// A second document or a second root after the first; its entries were taken in.
    Concatenated,
    /// The file ended inside an element; the open entry was dropped.
    Truncated,
    /// There was more damage than is worth repairing: what follows was left out.
    TooDamaged,
    /// Names of the protocol in other letters (`URLSET`, `Loc`).
    NameCase,
    /// A `loc` that stood in no entry.
    OutsideRoot,
    /// An entry inside another one.
    Nested,
    /// Entries inside an element that the protocol does not have.
    Wrapped,
    /// Another encoding than UTF-8.
    NotUtf8,
    /// Byte order mark, declaration and bytes disagreed.
    EncodingMismatch,
    /// Bytes that the encoding does not have.
    InvalidBytes,
    /// The declaration named an encoding that nobody knows.
    UnknownLabel,
    /// A byte order mark of UTF-16 or UTF-32.
    OtherMark,
    /// The gzip data had a wrong checksum, length or header.
    GzipCorrupt,
    /// The gzip data ended early.
    GzipTruncated,
    /// More than one gzip member.
    GzipMembers,
    /// Bytes after the last gzip member.
    GzipTrailing,
    /// Gzip inside gzip.
    GzipDouble,
    /// A list in another encoding than UTF-8.
    TextNotUtf8,
    /// Empty lines in a list.
    BlankLine,
    /// Lines of a list that end with a carriage return.
    LineEnds,
    /// A list whose name does not end in `.txt`.
    Extension,
    /// A feed was read as a sitemap; in words, what of it has no place in one: `26 title, 3 guid`.
    Feed,
    /// A feed of Atom 0.3 was read as a sitemap.
    FeedOld,
    /// An RSS feed without a channel.
    FeedNoChannel,
    /// An item of a feed without a link to its page.
    FeedNoLink,
    /// A date of a feed in another notation than its format wants.
    FeedDate,
    /// A relative link of a feed; it was completed where something to start from was known.
    FeedRelative,
    /// Media without a video.
    MediaContent,
    /// A video of a feed without a title of its own, or with a long one.
    MediaTitle,
    /// A video of a feed without a description of its own, or with a long one.
    MediaDescription,
    /// A video of a feed without a thumbnail.
    MediaThumbnail,
    /// A player whose address is the item's link.
    MediaPlayer,
    /// A restriction that is not one of countries.
    MediaRestriction,
}

impl QuirkKind {
    /// The change that a save makes and the user must agree to; `None` if the content stays the same.
    pub const fn made(self) -> Option<&'static str> {
        Some(match self {
            Self::Ampersand => "raw & becomes &amp;",
            Self::Angle => "raw < becomes &lt;",
            Self::SectionEnd => "]]> in text becomes ]]&gt;",
            Self::Entity => "unknown references become characters or text",
            Self::DtdEntity => "references to entities of a DTD become characters or text",
            Self::Character => "characters that XML does not allow are percent-encoded in URLs and removed elsewhere",
            Self::NoCharacter => "references to no character become text",
            Self::DuplicateAttribute => "duplicate attributes are removed",
            Self::Comment => "-- in comments becomes - -",
            Self::UndeclaredPrefix => "prefixes are declared on the root",
            Self::NotWellFormed => "mismatched tags and malformed markup are repaired",
            Self::MergeResolved => "merge conflicts are resolved",
            Self::LeadingBlank => "blanks before the XML declaration are removed",
            Self::LeadingJunk => "content before the document is removed",
            Self::TrailingJunk => "content after the document is removed",
            Self::Concatenated => "several documents are merged into one",
            Self::Truncated => "the truncated entry is removed, and the missing end is written",
            Self::TooDamaged => "everything after the damage limit is left out",
            Self::NameCase => "names in capital letters become lower case",
            Self::OutsideRoot => "a loc outside of any entry gets an entry",
            Self::Nested => "an entry inside another one is moved behind it",
            Self::Wrapped => "entries inside an unknown element are moved out of it",
            Self::NotUtf8 | Self::OtherMark | Self::TextNotUtf8 => "it is saved as UTF-8",
            Self::EncodingMismatch | Self::UnknownLabel => "the declaration says UTF-8",
            Self::InvalidBytes => "invalid bytes are read as windows-1252",
            Self::GzipCorrupt | Self::GzipTruncated => "data that could not be decompressed is lost",
            Self::GzipTrailing => "data after the gzip data is removed",
            Self::GzipDouble => "it is compressed once instead of twice",
            Self::GzipMembers
            // A list is kept as it is, and a feed is never written over.
            | Self::BlankLine
            | Self::LineEnds
            | Self::Extension
            | Self::Feed
            | Self::FeedOld
            | Self::MergeConflict
            | Self::FeedNoChannel
            | Self::FeedNoLink
            | Self::FeedDate
            | Self::FeedRelative
            | Self::MediaContent
            | Self::MediaTitle
            | Self::MediaDescription
            | Self::MediaThumbnail
            | Self::MediaPlayer
            | Self::MediaRestriction => return None,
        })
    }

    /// Whether a save would write a change that the user did not ask for.
    pub const fn is_repair(self) -> bool {
        self.made().is_some()
    }

    /// Whether any save of the file removes it, because the content stays the same, or the user has agreed.
    pub const fn ends_when_written(self) -> bool {
        self.is_repair() || matches!(self, Self::GzipMembers)
    }

    /// Whether it is about the lines of a list, which stay as they are until they are fixed.
    pub const fn is_of_lines(self) -> bool {
        matches!(self, Self::BlankLine | Self::LineEnds)
    }
}

/// The declared encoding of a file, and the one that it was read in if that differs.
pub fn stored_as(quirks: &[Quirk], read: &'static str) -> (String, Option<&'static str>) {
    let declared = quirks.iter().find(|quirk| quirk.kind == QuirkKind::NotUtf8).map(|quirk| quirk.what.trim());
    match declared.filter(|declared| !declared.is_empty() && !declared.eq_ignore_ascii_case(read)) {
        Some(declared) => (declared.to_owned(), Some(read)),
        None => (read.to_owned(), None),
    }
}

/// The changes that a save makes because of these quirks, in words, each once.
pub fn changes(quirks: &[Quirk]) -> Vec<String> {
    let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
    for made in quirks.iter().filter_map(|quirk| quirk.kind.made()) {
        *counts.entry(made).or_default() += 1;
    }
    let words = |(made, count): (&str, u64)| match count {
        1 => made.to_owned(),
        count => format!("{made} ({} places)", grouped(count)),
    };
    counts.into_iter().map(words).collect()
}

/// A quirk with its position. A file keeps them in the order of entries, those of none first; one
/// of a kind per entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quirk {
    /// What it is.
    pub kind: QuirkKind,
    /// Line and column, from 1, in the file as stored (unpacked and decoded).
    pub at: (u64, u64),
    /// The entry of its file that it is in, from 0.
    pub entry: Option<u32>,
    /// The text or amount in question, in a few words; empty if the kind says enough.
    pub what: Box<str>,
}
