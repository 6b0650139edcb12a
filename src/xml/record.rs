//! `Record`: the decoded fields of one row in 12 bytes, for sorting, filtering and coloring.
//!
//! Invariant I7: a record equals the one recomputed from its entry and overrides, unless the text of the entry was
//! dropped. The screen shows the text of the entry, never a value formatted from its record: `0.50` stays `0.50`.

use super::entry::{Anomalies, Entry, Extensions, FieldSpan, TextKind};
use super::names::Names;
use super::scan::Visit;
use crate::protocol::changefreq::Changefreq;
use crate::protocol::lastmod::{self, Lastmod, Precision};
use crate::protocol::{Field, priority};
use bitflags::bitflags;
use std::ops::Range;

bitflags! {
    /// Bits of [`Record::flags`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct Flags: u16 {
        /// The row is deleted, and not saved yet.
        const DELETED = 1;
        /// The row was added since the file was read.
        const ADDED = 1 << 1;
        /// The loc needs decoding before it is compared.
        const LOC_ESCAPED = 1 << 2;
        /// The position of the loc does not fit into the record, or its text has markup: the entry must be parsed.
        const LOC_FAR = 1 << 3;
        /// The entry has anomalies: a change of one field may affect the findings of others.
        const ANOMALOUS = 1 << 4;
        /// Has `image:image`.
        const IMAGE = 1 << 5;
        /// Has `video:video`.
        const VIDEO = 1 << 6;
        /// Has `news:news`.
        const NEWS = 1 << 7;
        /// Has `xhtml:link`.
        const ALTERNATE = 1 << 8;
        /// Has a child in another namespace.
        const OTHER = 1 << 9;
        /// Has no `loc` element.
        const NO_LOC = 1 << 10;
        /// Its text was repaired when the file was read.
        const REPAIRED = 1 << 14;
        /// The precision of lastmod, as a number of three bits.
        const PRECISION = 7 << 11;
    }
}

impl Flags {
    /// All flags of extensions.
    pub const EXTENSIONS: Self =
        Self::IMAGE.union(Self::VIDEO).union(Self::NEWS).union(Self::ALTERNATE).union(Self::OTHER);

    /// Whether the entry has extensions.
    pub const fn has_extensions(self) -> bool {
        self.intersects(Self::EXTENSIONS)
    }

    /// The precision of lastmod, as a number.
    const fn precision(self) -> u16 {
        (self.bits() >> Self::PRECISION_SHIFT) & 7
    }

    /// Returns the flags with this precision of lastmod, a number of three bits.
    const fn with_precision(self, precision: u16) -> Self {
        Self::from_bits_retain(self.difference(Self::PRECISION).bits() | precision << Self::PRECISION_SHIFT)
    }

    /// The position of the lowest bit of the precision.
    const PRECISION_SHIFT: u32 = 11;
}

/// The decoded fields of one entry, packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// 0 if missing, 1 if unreadable, otherwise seconds since 1970 plus 2, clamped to 1970–2106.
    lastmod: u32,
    /// The start of the loc's raw text in the entry as read.
    loc_at: u16,
    /// Its length in bytes.
    loc_len: u16,
    /// Hundredths, [`UNREADABLE`] or [`ABSENT`].
    priority: u8,
    /// 0–6 as [`Changefreq`], [`UNREADABLE`] or [`ABSENT`].
    changefreq: u8,
    /// The flags.
    pub flags: Flags,
}

/// Code of an invalid value.
pub const UNREADABLE: u8 = 254;
/// Code of a missing value.
pub const ABSENT: u8 = 255;

impl Default for Record {
    fn default() -> Self {
        Self { lastmod: 0, loc_at: 0, loc_len: 0, priority: ABSENT, changefreq: ABSENT, flags: Flags::empty() }
    }
}

impl Record {
    /// Creates the record of an entry as read.
    pub fn of(entry: &Entry, text: &[u8]) -> Self {
        let mut record = Self::default();
        record.flags.set(Flags::ANOMALOUS, entry.anomalies != Anomalies::default());
        record.note_extensions(entry);
        match entry.field(Field::Loc) {
            None => record.flags.set(Flags::NO_LOC, true),
            Some(span) => record.note_loc(span),
        }
        for field in [Field::Lastmod, Field::Changefreq, Field::Priority] {
            let span = entry.field(field);
            if span.is_some_and(|span| {
                span.text > TextKind::Escaped
                    || (span.value_start, span.value_end) != (span.inner_start, span.inner_end)
            }) {
                record.flags.set(Flags::ANOMALOUS, true);
            }
            match entry.raw_value(field, text) {
                Some(raw) if span.is_some_and(|span| span.text == TextKind::Plain) => {
                    record.note(field, Some(std::str::from_utf8(raw).unwrap_or("\u{FFFD}")));
                }
                _ => record.note(field, entry.value(field, text).as_deref()),
            }
        }
        record
    }

    /// Records everything but the values of lastmod, changefreq and priority; `loc` is the first one. Together they equal
    /// [`Record::of`], if the three values have no white space around them.
    #[allow(clippy::inline_always)] // inlined, its fields are not read in other widths than they were written
    #[inline(always)]
    pub(crate) fn note_entry(&mut self, entry: &Entry, loc: &FieldSpan) {
        if entry.extensions != Extensions::default() {
            self.note_extensions(entry);
        }
        self.flags.set(Flags::ANOMALOUS, entry.anomalies != Anomalies::default());
        self.note_loc(loc);
    }

    #[inline(never)]
    fn note_extensions(&mut self, entry: &Entry) {
        let flags = &mut self.flags;
        flags.set(Flags::IMAGE, entry.extensions.image > 0);
        flags.set(Flags::VIDEO, entry.extensions.video > 0);
        flags.set(Flags::NEWS, entry.extensions.news > 0);
        flags.set(Flags::ALTERNATE, entry.extensions.alternate > 0);
        flags.set(Flags::OTHER, entry.extensions.other > 0);
    }

    #[inline]
    fn note_loc(&mut self, loc: &FieldSpan) {
        let position = (u16::try_from(loc.value_start), u16::try_from(loc.value_end - loc.value_start));
        match (position, loc.text) {
            ((Ok(at), Ok(len)), TextKind::Plain | TextKind::Escaped) => {
                (self.loc_at, self.loc_len) = (at, len);
                self.flags.set(Flags::LOC_ESCAPED, loc.text == TextKind::Escaped);
            }
            _ => self.flags.set(Flags::LOC_FAR, true),
        }
    }

    /// Records a valid lastmod.
    #[inline]
    pub(crate) fn note_instant(&mut self, instant: Lastmod) {
        self.lastmod = instant.seconds.clamp(0, i64::from(u32::MAX - 2)) as u32 + 2;
        self.flags = self.flags.with_precision(instant.precision as u16);
    }

    /// Records a valid changefreq.
    pub(crate) const fn note_changefreq(&mut self, word: Changefreq) {
        self.changefreq = word as u8;
    }

    /// Records a valid priority.
    pub(crate) const fn note_priority(&mut self, hundredths: u8) {
        self.priority = hundredths;
    }

    /// Records the new value of a field; `None` if the element is removed. The position of the loc is that in the
    /// original text and does not change.
    pub fn note(&mut self, field: Field, value: Option<&str>) {
        match field {
            Field::Loc => self.flags.set(Flags::NO_LOC, value.is_none()),
            Field::Lastmod => {
                self.flags = self.flags.with_precision(0);
                match value.map(|text| lastmod::validate(text).instant) {
                    None => self.lastmod = 0,
                    Some(None) => self.lastmod = 1,
                    Some(Some(instant)) => self.note_instant(instant),
                }
            }
            Field::Changefreq => {
                self.changefreq =
                    value.map_or(ABSENT, |text| Changefreq::parse(text).map_or(UNREADABLE, |value| value as u8));
            }
            Field::Priority => {
                self.priority = value.map_or(ABSENT, |text| priority::validate(text).hundredths.unwrap_or(UNREADABLE));
            }
        }
    }

    /// Copies a field's value from another record.
    pub fn take(&mut self, field: Field, from: &Self) {
        match field {
            Field::Loc => self.flags.set(Flags::NO_LOC, from.flags.contains(Flags::NO_LOC)),
            Field::Lastmod => {
                self.lastmod = from.lastmod;
                self.flags = self.flags.with_precision(from.flags.precision());
            }
            Field::Changefreq => self.changefreq = from.changefreq,
            Field::Priority => self.priority = from.priority,
        }
    }

    /// Whether a field has the value recorded in `wanted`; `None` if the texts must be compared.
    pub const fn has_value(&self, field: Field, wanted: &Self) -> Option<bool> {
        let (ours, theirs, absent) = match field {
            Field::Loc => (self.flags.contains(Flags::NO_LOC) as u32, wanted.flags.contains(Flags::NO_LOC) as u32, 1),
            Field::Lastmod => (self.lastmod, wanted.lastmod, 0),
            Field::Changefreq => (self.changefreq as u32, wanted.changefreq as u32, ABSENT as u32),
            Field::Priority => (self.priority as u32, wanted.priority as u32, ABSENT as u32),
        };
        if ours != theirs {
            Some(false)
        } else if ours == absent {
            Some(true)
        } else {
            None
        }
    }

    /// Whether a field's raw text, without markup and references, is valid and has the recorded value. `false` only
    /// means that the value must be parsed.
    pub fn is_sound(&self, field: Field, raw: Option<&[u8]>) -> bool {
        let Some(raw) = raw else { return self.has_value(field, &Self::default()) == Some(true) };
        match field {
            Field::Loc => false,
            Field::Lastmod => lastmod::parse_strict(raw).is_some_and(|instant| {
                let mut facts = Self::default();
                facts.note_instant(instant);
                facts.lastmod == self.lastmod
            }),
            Field::Changefreq => Changefreq::parse_bytes(raw).is_some_and(|value| value as u8 == self.changefreq),
            Field::Priority => priority::parse_strict(raw).is_some_and(|value| value == self.priority),
        }
    }

    /// The loc's raw bytes in the original entry text; `None` if the record does not have its position
    /// ([`Flags::LOC_FAR`]) or there is no loc.
    #[inline]
    pub fn raw_loc<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        text.get(self.loc_range()?)
    }

    /// The range of the loc's raw bytes in the original entry text.
    #[inline]
    pub fn loc_range(&self) -> Option<Range<usize>> {
        let is_known = !self.flags.intersects(Flags::LOC_FAR.union(Flags::NO_LOC));
        is_known.then(|| usize::from(self.loc_at)..usize::from(self.loc_at) + usize::from(self.loc_len))
    }

    /// The end of the loc's raw text in the original entry text, if the entry has no anomalies.
    #[inline]
    pub const fn plain_loc_end(&self) -> Option<usize> {
        let anomalies = Flags::ANOMALOUS.union(Flags::LOC_FAR).union(Flags::NO_LOC);
        if self.flags.intersects(anomalies) { None } else { Some(self.loc_at as usize + self.loc_len as usize) }
    }

    /// The range of the loc's raw text under the same condition.
    #[inline]
    pub(crate) fn plain_loc(&self) -> Option<Range<usize>> {
        let end = self.plain_loc_end()?;
        Some(self.loc_at as usize..end)
    }

    /// The lastmod, if it is valid.
    pub fn lastmod(&self) -> Option<Lastmod> {
        let seconds = i64::from(self.lastmod.checked_sub(2)?);
        let precision = match self.flags.precision() {
            0 => Precision::Year,
            1 => Precision::Month,
            2 => Precision::Day,
            3 => Precision::Minute,
            4 => Precision::Second,
            _ => Precision::Fraction,
        };
        Some(Lastmod { seconds, precision })
    }

    /// Whether there is a lastmod element, even an invalid one.
    pub const fn has_lastmod(&self) -> bool {
        self.lastmod != 0
    }

    /// A code that sorts by time: 0 if missing, 1 if unreadable, then by second.
    pub const fn lastmod_code(&self) -> u32 {
        self.lastmod
    }

    /// Hundredths, [`UNREADABLE`] or [`ABSENT`].
    pub const fn priority_code(&self) -> u8 {
        self.priority
    }

    /// 0–6 as `Changefreq`, `UNREADABLE` or `ABSENT`.
    pub const fn changefreq_code(&self) -> u8 {
        self.changefreq
    }

    /// Whether the row is deleted.
    pub const fn is_deleted(&self) -> bool {
        self.flags.contains(Flags::DELETED)
    }

    /// The outline of the record, for a row whose text is dropped: its flags, and whether there is a lastmod, which is
    /// recorded as unreadable. Most rows of a file have the same outline.
    pub(crate) fn outline(&self) -> Self {
        let of_values = Flags::PRECISION | Flags::LOC_ESCAPED;
        Self { lastmod: self.lastmod.min(1), flags: self.flags - of_values, ..Self::default() }
    }
}

/// The records of a scan's entries, in order.
#[derive(Debug, Default)]
pub struct Records(pub Vec<Record>);

impl Visit for Records {
    fn entry(&mut self, text: &[u8], entry: &Entry, _: &Names) {
        self.0.push(Record::of(entry, text));
    }
}
