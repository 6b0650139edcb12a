//! The list of all defects of files; `check::quirk` maps each to its rule.

use std::sync::Arc;

/// The ways in which a stored file differs from a valid sitemap in UTF-8 (rule catalogue, sections 4 and 11): those
/// that the scanner finds, those that a repair changes, and those that decoding changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Defect {
    /// `&` that begins no reference; it became `&amp;`.
    Ampersand,
    /// `<` inside a value; it became `&lt;`.
    Angle,
    /// `]]>` in text; it became `]]&gt;`.
    SectionEnd,
    /// A named reference that XML does not define; it became its character, or text.
    Entity,
    /// A reference to an entity of a DTD; it was not expanded, and became its HTML character, or text.
    DtdEntity,
    /// A character that XML does not allow; it was removed, or percent-encoded in a URL.
    Character,
    /// A reference to a number that is no character; it became text.
    NoCharacter,
    /// A duplicate attribute of a tag; the first one was kept.
    DuplicateAttribute,
    /// `--` inside a comment, or an unclosed comment.
    Comment,
    /// An undeclared prefix; the root declares it now.
    UndeclaredPrefix,
    /// Markup that is not well-formed in another way, such as mismatched tags or a malformed instruction.
    NotWellFormed,
    /// An unresolved merge conflict; our side is read.
    MergeConflict,
    /// A merge conflict that was resolved as the user has answered.
    MergeResolved,
    /// Blanks before the XML declaration.
    LeadingBlank,
    /// Text or markup before the root.
    LeadingJunk,
    /// Text or markup after the root.
    TrailingJunk,
    /// A second document or root after the first one; its entries were included.
    Concatenated,
    /// The file ends inside an element; the open entry was dropped.
    Truncated,
    /// The damage exceeded the limit; the rest of the file was left out.
    TooDamaged,
    /// Names of the protocol in another case (`URLSET`, `Loc`).
    NameCase,
    /// A `loc` outside of any entry.
    OutsideRoot,
    /// An entry inside another one.
    Nested,
    /// Entries inside an unknown element in the sitemap namespace.
    Wrapped,
    /// Another encoding than UTF-8.
    NotUtf8,
    /// Byte order mark, declaration and bytes contradict each other.
    EncodingMismatch,
    /// Bytes that are invalid in the encoding.
    InvalidBytes,
    /// The declaration names an unknown encoding.
    UnknownLabel,
    /// A byte order mark of UTF-16 or UTF-32.
    OtherMark,
    /// The gzip data have a wrong checksum, length or header.
    GzipCorrupt,
    /// The gzip data are truncated.
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
    /// A feed was read as a sitemap. The text lists the elements that were left out: `26 title, 3 guid`.
    Feed,
    /// A feed of Atom 0.3 was read as a sitemap.
    FeedOld,
    /// An RSS feed without a channel.
    FeedNoChannel,
    /// An item of a feed without a link to its page.
    FeedNoLink,
    /// A date of a feed in another notation than its format requires.
    FeedDate,
    /// A relative link of a feed; it was resolved if a base is known.
    FeedRelative,
    /// Media without a video.
    MediaContent,
    /// A video of a feed without its own title, or with one that is too long.
    MediaTitle,
    /// A video of a feed without its own description, or with one that is too long.
    MediaDescription,
    /// A video of a feed without a thumbnail.
    MediaThumbnail,
    /// A video player whose URL is the item's link.
    MediaPlayer,
    /// A restriction of a video by something other than country.
    MediaRestriction,
    /// A mismatched end tag. This and the following kinds are found by the scanner only; a repair reports its own
    /// kinds.
    EndTag,
    /// An element that is still open where its parent, or the file, ends.
    Unclosed,
    /// A malformed instruction, XML declaration or DOCTYPE.
    Instruction,
    /// Text or elements before the root.
    BeforeRoot,
    /// A duplicate or malformed attribute.
    Attribute,
    /// An element name with a character that names may not contain.
    Name,
    /// A name of the protocol in another case, or a loc outside of any entry.
    Misplaced,
    /// The file has no root element.
    NoRoot,
}

impl Defect {
    /// The change that a save makes and the user must accept; `None` if the content stays the same.
    pub const fn change_made(self) -> Option<&'static str> {
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
            Self::TooDamaged => "everything after the damage limit is omitted",
            Self::NameCase => "names in capital letters become lower case",
            Self::OutsideRoot => "a loc outside of any entry becomes an entry",
            Self::Nested => "an entry inside another one is moved behind it",
            Self::Wrapped => "entries inside an unknown element are moved out of it",
            Self::NotUtf8 | Self::OtherMark | Self::TextNotUtf8 => "it is saved as UTF-8",
            Self::EncodingMismatch | Self::UnknownLabel => "the declaration says UTF-8",
            Self::InvalidBytes => "invalid bytes are read as windows-1252",
            Self::GzipCorrupt | Self::GzipTruncated => "data that could not be decompressed is lost",
            Self::GzipTrailing => "data after the gzip data is removed",
            Self::GzipDouble => "it is compressed once instead of twice",
            Self::GzipMembers
            // A list is not repaired, and a feed is never overwritten.
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
            | Self::MediaRestriction
            // The scanner's kinds: a repair reports its changes with other kinds.
            | Self::EndTag
            | Self::Unclosed
            | Self::Instruction
            | Self::BeforeRoot
            | Self::Attribute
            | Self::Name
            | Self::Misplaced
            | Self::NoRoot => return None,
        })
    }

    /// Whether a save writes a change that is not an edit.
    pub const fn is_repair(self) -> bool {
        self.change_made().is_some()
    }

    /// Whether writing the file removes the defect.
    pub const fn ends_when_written(self) -> bool {
        self.is_repair() || matches!(self, Self::GzipMembers)
    }

    /// Whether it concerns the lines of a list, which only a fix changes.
    pub const fn is_of_lines(self) -> bool {
        matches!(self, Self::BlankLine | Self::LineEnds)
    }
}

/// A defect with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundDefect {
    /// The kind of defect.
    pub kind: Defect,
    /// Its byte offset in the bytes in which it was found.
    pub at: usize,
    /// The number, from 0, of its entry in the repaired or imported bytes.
    pub entry: Option<u32>,
    /// A short description: the original text and, unless the kind implies it, the problem and the repair.
    pub what: Arc<str>,
}
