//! From the bytes of one file to its source: scanned, and repaired first where they are not sound.

use super::detect;
use super::error::{Error, Reason};
use super::form;
use super::load::Facts;
use crate::document::quirk::{Quirk, QuirkKind};
use crate::document::source::{Anchor, Lines, Source};
use crate::progress::Progress;
use crate::xml::repair::{self, MendKind};
use crate::xml::scan::{self, Scan, Visit};
use std::path::PathBuf;

/// A file in memory.
pub(super) struct Sound<V> {
    pub(super) source: Source,
    pub(super) visitor: V,
    /// What was repaired, added to what was known before.
    pub(super) quirks: Vec<Quirk>,
}

/// Scans a file's bytes; what is not well-formed is repaired. An error when nothing in it is a sitemap.
pub(super) fn sound<V: Visit>(
    mut bytes: Vec<u8>,
    mut quirks: Vec<Quirk>,
    facts: &Facts,
    make: &impl Fn(&Facts) -> V,
    progress: &Progress,
) -> Result<Sound<V>, Error> {
    let path = || facts.path.clone().unwrap_or_else(|| PathBuf::from(&*facts.name));
    let mut visitor = make(facts);
    let mut scan = if facts.kind.is_xml() {
        scan::scan_sound(&bytes, &mut visitor, progress)
    } else {
        form::scan(&bytes, facts.kind, &mut visitor, progress)
    };
    // The scan counts what stands behind the root's start tag.
    let counted = scan.names.is_some() && !scan.root_is_empty;
    progress.advance(0, if counted { u64::from(scan.root_tag.1) } else { bytes.len() as u64 });
    let mut anchors = Vec::new();
    // A scan that was stopped has not seen the end of the file and misses nothing but that.
    if !scan.cancelled && (scan.names.is_none() || !scan.damage.is_empty()) {
        let Some(mended) = mend(&bytes, &mut quirks) else {
            let root = Reason::Root(scan.root.clone());
            return Err(Error::new(path(), root));
        };
        (bytes, anchors) = mended;
        visitor = make(facts);
        scan = scan::scan(&bytes, &mut visitor, &Progress::default());
        // Hardly ever: what a repair made of very odd tags may need another.
        if let (Some(first), Some(again)) = (scan.damage.first(), repair::repair(&bytes)) {
            let kind = QuirkKind::NotWellFormed;
            quirks.push(Quirk { kind, at: Lines::new(&bytes).position(first.at), entry: None, what: "".into() });
            (bytes, anchors) = (again.bytes, Vec::new());
            visitor = make(facts);
            scan = scan::scan(&bytes, &mut visitor, &Progress::default());
            let rows = scan.entries() as u32;
            for quirk in quirks.iter_mut().filter(|quirk| quirk.entry.is_some_and(|entry| entry >= rows)) {
                quirk.entry = None;
            }
        }
        check(&bytes, &scan).map_err(|(at, reason)| Error { path: path(), at: Some(at), reason })?;
    }
    let root = scan.root.clone();
    let source = Source::new(bytes, scan).ok_or_else(|| Error::new(path(), Reason::Root(root)))?;
    quirks.sort_by_key(|quirk| (quirk.entry, quirk.at));
    Ok(Sound { source: source.anchored(anchors), visitor, quirks })
}

/// The repaired bytes with their anchors; what was done is added to `quirks`.
fn mend(bytes: &[u8], quirks: &mut Vec<Quirk>) -> Option<(Vec<u8>, Vec<Anchor>)> {
    let repaired = repair::repair(bytes)?;
    // Offsets have 32 bits.
    u32::try_from(repaired.bytes.len()).ok()?;
    let mut lines = Lines::new(bytes);
    quirks.extend(repaired.mends.into_iter().map(|mend| Quirk {
        kind: quirk_of(mend.kind),
        at: lines.position(mend.at),
        entry: mend.entry,
        what: mend.what,
    }));
    let mut lines = Lines::new(bytes);
    let anchors = repaired.anchors.into_iter().map(|(ours, theirs)| (ours as u32, lines.position(theirs)));
    Some((repaired.bytes, anchors.collect()))
}

/// Nothing is left to repair after a repair; should that ever fail, the file is refused and not shown wrong.
fn check(bytes: &[u8], scan: &Scan) -> Result<(), ((u64, u64), Reason)> {
    let Some(first) = scan.damage.first() else { return Ok(()) };
    let reason = Reason::Damaged { what: detect::damage_words(first.kind), others: scan.damage.len() - 1 };
    Err((Lines::new(bytes).position(first.at), reason))
}

const fn quirk_of(kind: MendKind) -> QuirkKind {
    match kind {
        MendKind::Ampersand => QuirkKind::Ampersand,
        MendKind::Angle => QuirkKind::Angle,
        MendKind::Entity => QuirkKind::Entity,
        MendKind::DeclaredEntity => QuirkKind::DeclaredEntity,
        MendKind::Character => QuirkKind::Character,
        MendKind::DuplicateAttribute => QuirkKind::DuplicateAttribute,
        MendKind::Comment => QuirkKind::Comment,
        MendKind::UndeclaredPrefix => QuirkKind::UndeclaredPrefix,
        MendKind::NotWellFormed => QuirkKind::NotWellFormed,
        MendKind::LeadingBlank => QuirkKind::LeadingBlank,
        MendKind::LeadingJunk => QuirkKind::LeadingJunk,
        MendKind::TrailingJunk => QuirkKind::TrailingJunk,
        MendKind::Concatenated => QuirkKind::Concatenated,
        MendKind::Truncated => QuirkKind::Truncated,
        MendKind::NameCase => QuirkKind::NameCase,
        MendKind::Outside => QuirkKind::OutsideRoot,
        MendKind::Nested => QuirkKind::Nested,
    }
}
