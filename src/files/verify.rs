//! Verifies a save plan: the bytes on disk, the bytes to be written, and exactly where they differ.
//!
//! Reads every file of the plan and writes none. No cached state is used: the file on disk is read again, the new file
//! is generated in full, and both are compared outside of the reported spans.

use super::buffers::Buffers;
use super::decode;
use super::detect;
use super::disk::{Disk, fingerprint};
use super::plan::{Action, FileId, Output, Plan};
use super::read::Options;
use super::unpack;
use crate::document::Document;
use crate::document::sitemap::{self, SitemapId};
use crate::document::spans::{self, Pieces, Span};
use crate::file_bytes::FileBytes;
use crate::progress::Progress;
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The result for one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// Relative to the set's folder.
    pub name: Arc<str>,
    /// The action of the save.
    pub action: Action,
    /// Length and [`fingerprint`] of the bytes on disk, as stored.
    pub before: Option<(u64, u64)>,
    /// Length and fingerprint of the new bytes, uncompressed; those on disk if the file is unchanged.
    pub after: Option<(u64, u64)>,
    /// The differing spans, in uncompressed bytes.
    pub spans: Vec<Span>,
    /// The text of the first spans before and after, shortened.
    pub texts: Vec<[String; 2]>,
    /// Number of bytes outside of the spans, which are the same in both.
    pub same: u64,
    /// Why the file could not be verified, as a message for users.
    pub fault: Option<String>,
}

/// Maximum number of spans whose text is kept.
const MAX_TEXTS: usize = 20;
/// Maximum number of bytes of each text.
const MAX_TEXT_BYTES: usize = 200;

/// Verifies every file of a plan. `None` if cancelled.
pub(crate) fn verify(plan: &Plan, saved: &Document, disk: &Disk, progress: &Progress) -> Option<Vec<Proof>> {
    progress.expect(plan.outputs.len() as u64, 0);
    let by_path = sitemap::by_path(saved.sitemaps());
    plan.outputs
        .iter()
        .map(|output| {
            progress.finish_files(1);
            (!progress.is_cancelled()).then(|| prove(plan, output, (saved, &by_path), disk))
        })
        .collect()
}

/// The document as saved, with its files by path.
type Saved<'s> = (&'s Document, &'s HashMap<&'s Path, SitemapId>);

fn prove(plan: &Plan, output: &Output, saved: Saved<'_>, disk: &Disk) -> Proof {
    let mut proof = Proof {
        name: Arc::clone(&output.name),
        action: output.action,
        before: None,
        after: None,
        spans: Vec::new(),
        texts: Vec::new(),
        same: 0,
        fault: None,
    };
    let after = match output.file {
        FileId::Index | FileId::IndexVolume(_) => plan.index_file(output.file).map(|file| file.bytes()),
        FileId::Sitemap(id) => Some(Pieces::of(&plan.document, id).bytes()),
        FileId::Removed => None,
    };
    proof.after = after.as_ref().map(|bytes| (bytes.len() as u64, fingerprint(bytes)));
    let stored = match std::fs::read(&output.path) {
        Ok(stored) => stored,
        Err(_) if output.action == Action::Created => return proof,
        Err(error) => {
            proof.fault = Some(format!("it cannot be read: {error}"));
            return proof;
        }
    };
    proof.before = Some((stored.len() as u64, fingerprint(&stored)));
    if let Some(known) = disk.get(&output.path)
        && (known.len, known.hash) != (stored.len() as u64, fingerprint(&stored))
    {
        proof.fault = Some("another program has changed it since it was read".to_owned());
        return proof;
    }
    let Some(after) = after else { return proof };
    let before = match unpacked(stored) {
        Ok(before) => before,
        Err(why) => {
            proof.fault = Some(why);
            return proof;
        }
    };
    let (was, is) = pieces_of(plan, output, saved);
    if output.action == Action::Untouched {
        // The stored bytes of a repaired or decoded file differ from those in memory, and are kept.
        (proof.after, proof.same) = (proof.before, before.len() as u64);
        if was.bytes() != after {
            proof.fault = Some("the plan leaves it unchanged, but its rows were changed since it was read".to_owned());
        }
        return proof;
    }
    // The bytes in memory of a repaired or decoded file differ from the stored ones.
    let is_as_stored = was.bytes() == before;
    proof.spans = if is_as_stored { spans::spans(&was, &is) } else { spans::spans_of_bytes(&before, &after) };
    let text = |bytes: &[u8], range: &Range<usize>| {
        let bytes = bytes.get(range.clone()).unwrap_or_default();
        String::from_utf8_lossy(bytes.get(..bytes.len().min(MAX_TEXT_BYTES)).unwrap_or_default()).into_owned()
    };
    let shown = proof.spans.iter().take(MAX_TEXTS);
    proof.texts = shown.map(|span| [text(&before, &span.before), text(&after, &span.after)]).collect();
    match spans::same_outside(&before, &after, &proof.spans) {
        Some(same) => proof.same = same as u64,
        None => proof.fault = Some("bytes differ outside of the planned changes".to_owned()),
    }
    proof
}

/// The text of a file as saved, and as planned.
fn pieces_of<'d>(plan: &'d Plan, output: &Output, (saved, by_path): Saved<'d>) -> (Pieces<'d>, Pieces<'d>) {
    match output.file {
        FileId::Index | FileId::IndexVolume(_) => {
            let was = saved.index().and_then(|index| index.file_at(&output.path));
            Pieces::of_indexes(was.as_ref(), plan.index_file(output.file).as_ref())
        }
        FileId::Sitemap(id) => {
            let was = by_path.get(&*output.path).map(|id| Pieces::of(saved, *id));
            (was.unwrap_or_default(), Pieces::of(&plan.document, id))
        }
        FileId::Removed => (Pieces::default(), Pieces::default()),
    }
}

/// The text of a file as stored now, only unpacked and decoded; `None` if it is not the text that was read.
pub(crate) fn stored_text(path: &Path, disk: &Disk) -> Option<FileBytes> {
    let stored = std::fs::read(path).ok()?;
    let known = disk.get(path)?;
    if (known.len, known.hash) != (stored.len() as u64, fingerprint(&stored)) {
        return None;
    }
    let unpacked = if detect::is_gzip(&stored) {
        unpack::unpack(&stored, Options::default().max_unpacked, &Buffers::New).ok()?.0
    } else {
        stored.into()
    };
    Some(decode::decode(unpacked).into_stored())
}

/// The bytes after gzip decompression.
fn unpacked(stored: Vec<u8>) -> Result<Vec<u8>, String> {
    if !detect::is_gzip(&stored) {
        return Ok(stored);
    }
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(&*stored), &mut bytes)
        .map_err(|error| format!("its gzip is damaged: {error}"))?;
    Ok(bytes)
}
