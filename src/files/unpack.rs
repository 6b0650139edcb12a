//! Decompresses gzip data as far as possible, and records quirks.
//!
//! Every member is read. The unpacked bytes of a truncated stream, or of one with a wrong checksum, are kept. A limit
//! bounds memory, whatever size the data claim.

use super::buffers::Buffers;
use super::detect;
use super::error::Reason;
use crate::document::lines::LineColumn;
use crate::document::quirk::Quirk;
use crate::file_bytes::FileBytes;
use crate::xml::defect::Defect;
use flate2::bufread::GzDecoder;
use std::io;

/// Maximum nesting of gzip data in gzip data.
const LAYERS: usize = 3;

/// Unpacks gzip data, including nested gzip data.
///
/// # Errors
/// If no byte can be unpacked, or more than `limit` bytes.
pub(super) fn unpack(stored: &[u8], limit: u64, buffers: &Buffers) -> Result<(FileBytes, Vec<Quirk>), Reason> {
    let mut quirks = Vec::new();
    let mut bytes = unpack_members(stored, limit, buffers, &mut quirks)?;
    for _ in 1..LAYERS {
        if !detect::is_gzip(&bytes) {
            break;
        }
        quirks.push(quirk(Defect::GzipDouble, ""));
        bytes = unpack_members(&bytes, limit, buffers, &mut quirks)?;
    }
    quirks.dedup_by_key(|quirk| quirk.kind);
    Ok((bytes, quirks))
}

/// Unpacks one layer: all members in order.
fn unpack_members(stored: &[u8], limit: u64, buffers: &Buffers, quirks: &mut Vec<Quirk>) -> Result<FileBytes, Reason> {
    let expected = unpacked_size(stored).min(limit);
    // Room for one more byte, so that the end is found without moving the bytes.
    let mut bytes = buffers.take(expected as usize + 1).map_err(|_| Reason::Bomb(limit))?;
    let (mut rest, mut count) = (stored, 0u64);
    loop {
        let mut decoder = GzDecoder::new(rest);
        let before = bytes.len();
        // Read one byte beyond the limit to distinguish "too large" from "just fits".
        let remaining = (limit + 1).saturating_sub(before as u64);
        let read = bytes.append_from(&mut decoder, remaining);
        if bytes.len() as u64 > limit {
            return Err(Reason::Bomb(limit));
        }
        match read {
            Ok(_) => count += 1,
            // Trailing bytes that are not a member are reported but not decompressed.
            Err(_) if count > 0 && bytes.len() == before => {
                quirks.push(quirk(Defect::GzipTrailing, &format!("{} bytes", rest.len())));
                break;
            }
            Err(source) if bytes.is_empty() => return Err(Reason::Gzip { source }),
            Err(source) => {
                let is_cut = source.kind() == io::ErrorKind::UnexpectedEof;
                let kind = if is_cut { Defect::GzipTruncated } else { Defect::GzipCorrupt };
                quirks.push(quirk(kind, &format!("{} bytes unpacked", bytes.len())));
                break;
            }
        }
        rest = decoder.into_inner();
        if rest.is_empty() {
            break;
        }
        if !detect::is_gzip(rest) {
            quirks.push(quirk(Defect::GzipTrailing, &format!("{} bytes", rest.len())));
            break;
        }
    }
    if count > 1 {
        quirks.push(quirk(Defect::GzipMembers, &count.to_string()));
    }
    Ok(bytes)
}

fn quirk(kind: Defect, what: &str) -> Quirk {
    Quirk { kind, at: LineColumn::START, entry: None, what: what.into() }
}

/// The uncompressed size that gzip data claim (RFC 1952, ISIZE of the last member), bounded by the maximum ratio of
/// deflate, so that a wrong trailer does not reserve gigabytes.
fn unpacked_size(stored: &[u8]) -> u64 {
    const BEST_RATIO: u64 = 1_032;
    let Some([a, b, c, d]) = stored.last_chunk::<4>() else { return 0 };
    u64::from(u32::from_le_bytes([*a, *b, *c, *d])).min(stored.len() as u64 * BEST_RATIO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// Text that compresses badly, so that a truncated stream still contains bytes to unpack.
    fn text() -> Vec<u8> {
        let mut state = 1u32;
        (0..20_000)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                b'a' + (state >> 24) as u8 % 26
            })
            .collect()
    }

    #[test]
    fn unpacked_bytes_are_kept_and_quirks_are_reported() {
        use Defect::*;
        let (text, packed) = (text(), gzip(&text()));
        let mut wrong = packed.clone();
        let at = wrong.len() - 6;
        wrong[at] ^= 1;
        let mut flipped = packed.clone();
        flipped[packed.len() / 2] ^= 0xFF;
        let members = [gzip(&text[..7_000]), gzip(b""), gzip(&text[7_000..])].concat();
        let table: [(Vec<u8>, &[Defect], bool); 8] = [
            (packed.clone(), &[], true),
            (members, &[GzipMembers], true),
            ([&packed[..], b"\0\0\0"].concat(), &[GzipTrailing], true),
            ([&packed[..], b"\x1f\x8b??"].concat(), &[GzipTrailing], true),
            (gzip(&packed), &[GzipDouble], true),
            (wrong, &[GzipCorrupt], true),
            (packed[..packed.len() / 2].to_vec(), &[GzipTruncated], false),
            (packed[..packed.len() - 4].to_vec(), &[GzipTruncated], true),
        ];
        for (stored, kinds, whole) in table {
            let (bytes, quirks) = unpack(&stored, 1_000_000, &Buffers::New).unwrap();
            assert_eq!(quirks.iter().map(|quirk| quirk.kind).collect::<Vec<_>>(), kinds);
            assert!(if whole { *bytes == *text } else { text.starts_with(&bytes) && bytes.len() > 1_000 }, "{kinds:?}");
        }
        if let Ok((bytes, quirks)) = unpack(&flipped, 1_000_000, &Buffers::New) {
            assert_eq!(quirks[0].kind, GzipCorrupt);
            assert!(!bytes.is_empty());
        }
    }

    #[test]
    fn the_limit_counts_unpacked_bytes_and_unreadable_data_is_an_error() {
        let big = gzip(&vec![b' '; 100_000]);
        assert!(matches!(unpack(&big, 99_999, &Buffers::New).unwrap_err(), Reason::Bomb(99_999)));
        assert_eq!(unpack(&big, 100_000, &Buffers::New).unwrap().0.len(), 100_000);
        assert!(matches!(unpack(b"\x1f\x8b\x08", 100, &Buffers::New).unwrap_err(), Reason::Gzip { .. }));
        assert!(matches!(unpack(b"\x1f\x8bgarbage, not gzip", 100, &Buffers::New).unwrap_err(), Reason::Gzip { .. }));
    }
}
