//! Defects of files, the one list of them: `check::quirk` has the rule that each breaks.

/// The ways in which a stored file differs from a sound sitemap in UTF-8 (rule catalogue, sections 4 and 11): what the
/// scanner finds, what a repair changes, and what reading a file changes before its bytes are in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Defect {
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
    /// A reference to a number that is not a character; it became text.
    NoCharacter,
    /// An attribute that stood twice in its tag; the first was kept.
    DuplicateAttribute,
    /// `--` inside a comment, or a comment that did not end.
    Comment,
    /// A prefix that nothing declared; the root declares it now.
    UndeclaredPrefix,
    /// Markup that is not well-formed in some other way: tags that do not match, a broken instruction.
    NotWellFormed,
    /// A merge conflict that is unresolved; our side is read.
    MergeConflict,
    /// A merge conflict that is resolved as someone answered.
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
    /// A `loc` that was in no entry.
    OutsideRoot,
    /// An entry inside another one.
    Nested,
    /// Entries inside an unknown element in the sitemap namespace.
    Wrapped,
    /// Another encoding than UTF-8.
    NotUtf8,
    /// Byte order mark, declaration and bytes disagreed.
    EncodingMismatch,
    /// Bytes that the encoding does not have.
    InvalidBytes,
    /// The declaration named an encoding that no one knows.
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
    /// An end tag that does not match. Like the following, known to the scanner only: a repair says what it was.
    EndTag,
    /// An element that is still open where its parent, or the file, ends.
    Unclosed,
    /// An instruction without a sound target, or an XML declaration or a DOCTYPE that is none.
    Instruction,
    /// Text or elements before the root.
    BeforeRoot,
    /// An attribute that is twice or is not well-formed.
    Attribute,
    /// The name of an element has a character that no name may have.
    Name,
    /// A name of the protocol in other letters, or a loc in no entry.
    Misplaced,
    /// No root element at all.
    NoRoot,
}

impl Defect {
    /// The change that a save makes and the user must agree to; `None` if the content stays the same.
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
            | Self::MediaRestriction
            // Nothing is written because of these: a repair says what it changed.
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

    /// Whether a save would write a change that the user did not ask for.
    pub const fn is_repair(self) -> bool {
        self.change_made().is_some()
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

/// A defect with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundDefect {
    /// What is wrong.
    pub kind: Defect,
    /// Where, as a byte offset of the bytes in which it was found.
    pub at: usize,
    /// In which entry of the repaired or imported bytes, from 0.
    pub entry: Option<u32>,
    /// What was there, in a few words; where the kind does not say it, what is wrong with that and what was made of it.
    pub what: Box<str>,
}
