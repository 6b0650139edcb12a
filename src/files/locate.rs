//! Locates the children of an index on disk from their URLs.
//!
//! Invariant: no path leads lexically out of the index's folder. Symbolic links that its owner created may.

use super::stored_name::stored_name;
use crate::protocol::location::Location;
use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

/// Where a child is to be looked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ChildLocation {
    /// At these paths relative to the index's folder, best first; empty if the loc names no file.
    Inside(Vec<PathBuf>),
    /// Its path would lead out of the folder.
    Outside,
    /// It is served from somewhere else.
    Elsewhere,
}

/// The most suffixes of a path that are tried: each costs a look-up on disk, and their total length is quadratic.
const MOST_SUFFIXES: usize = 32;

/// The most folders in a path at which a child is stored.
const DEEPEST_STORED: usize = 16;

/// Locates the child with this decoded loc. `base` is the URL of the index's folder, if known.
///
/// Without a base it is unknown how much of the URL's path belongs to the folder: the whole path is tried
/// below the folder, then ever shorter suffixes down to the file name; of a deep path the shortest [`MOST_SUFFIXES`].
pub(super) fn locate_child(loc: &str, base: Option<&str>) -> ChildLocation {
    let path = match path_below(loc, base) {
        Ok(path) => path,
        Err(location) => return location,
    };
    let Some(segments) = segments(path) else { return ChildLocation::Outside };
    let first = segments.len().saturating_sub(MOST_SUFFIXES);
    let suffixes = (first..segments.len()).filter_map(|from| segments.get(from..));
    ChildLocation::Inside(suffixes.map(|suffix| suffix.iter().collect()).collect())
}

/// The path relative to the index's folder under which a child is stored when it is downloaded: plain names only, also
/// for a URL with a query. `None` if the loc names no file, or its path leads out of the folder or is too deep.
pub fn stored_path(loc: &str, base: Option<&str>) -> Option<PathBuf> {
    let mut segments = segments(path_below(loc, base).ok()?)?;
    if segments.len() > DEEPEST_STORED {
        return None;
    }
    let last = segments.pop()?;
    let query = loc.split('#').next().and_then(|loc| loc.split_once('?')).map(|(_, query)| query);
    let folders = segments.iter().map(|name| stored_name(name, None));
    Some(folders.chain([stored_name(&last, query)]).map(Cow::into_owned).collect())
}

/// Like [`stored_path`], but `None` if [`locate_child`] looks there first anyway.
pub(super) fn renamed_path(loc: &str, base: Option<&str>) -> Option<PathBuf> {
    let plain = segments(path_below(loc, base).ok()?)?.iter().collect::<PathBuf>();
    stored_path(loc, base).filter(|stored| *stored != plain)
}

/// The path of a loc, relative to the base if it is below it.
fn path_below<'l>(loc: &'l str, base: Option<&str>) -> Result<&'l str, ChildLocation> {
    let location = Location::of(loc);
    if location.scheme().is_none() && loc.contains("://") {
        return Err(ChildLocation::Elsewhere);
    }
    let path = if location.scheme().is_some() { location.path() } else { without_query(loc) };
    let (Some(base), Some((origin, _))) = (base.map(Location::of), location.origin()) else { return Ok(path) };
    if base.origin().is_some_and(|(ours, _)| !ours.eq_ignore_ascii_case(origin)) {
        return Err(ChildLocation::Elsewhere);
    }
    // Below the base's folder the rest of the path is certain; elsewhere suffixes are tried.
    Ok(path.strip_prefix(base.path()).unwrap_or(path))
}

fn without_query(loc: &str) -> &str {
    loc.split(['?', '#']).next().unwrap_or_default()
}

/// The names in a URL path, percent-decoded once; `None` if one of them is no plain name.
fn segments(path: &str) -> Option<Vec<String>> {
    let parts = path.split('/').filter(|segment| !segment.is_empty() && *segment != ".");
    parts.map(|segment| plain_name(&decode(segment)?)).collect()
}

/// The name, if it is one on every system: no way up, no separator, no drive, no NUL.
fn plain_name(name: &str) -> Option<String> {
    if name.contains(['/', '\\', '\0']) {
        return None;
    }
    let mut parts = Path::new(name).components();
    let plain = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
    plain.then(|| name.to_owned())
}

fn decode(segment: &str) -> Option<String> {
    let bytes = segment.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let digits =
            bytes.get(at + 1..at + 3).filter(|digits| *byte == b'%' && digits.iter().all(u8::is_ascii_hexdigit));
        let decoded = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        out.push(decoded.unwrap_or(*byte));
        at += if decoded.is_some() { 3 } else { 1 };
    }
    String::from_utf8(out).ok()
}

/// The topmost folder above a file that does not exist.
pub(crate) fn missing_folder(path: &Path) -> Option<PathBuf> {
    let above = path.ancestors().skip(1).take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    above.last().map(Path::to_path_buf)
}

/// What is wrong with a base URL, if anything is.
pub(crate) fn base_url_error(base: &str) -> Option<String> {
    let base = base.trim();
    let has_blank = base.contains(|c: char| c.is_whitespace() || c.is_control());
    if folder_url(base).is_some() && !has_blank {
        return None;
    }
    Some(if has_blank {
        format!(
            "{}: expected a URL without blanks and control characters",
            crate::visible::Charset::Unicode.visible(base)
        )
    } else if has_two_schemes(base) {
        format!("{base}: expected one URL, but a second one begins inside it")
    } else {
        format!("{base}: expected a URL with http:// or https:// and a host")
    })
}

/// Whether a second URL begins inside of a URL, because it was typed behind the first.
fn has_two_schemes(url: &str) -> bool {
    let inside = url.get(1..).unwrap_or_default().to_ascii_lowercase();
    inside.contains("http://") || inside.contains("https://")
}

/// The URL of the folder that a base URL names: up to its last slash; a last segment that is no sitemap's file
/// name is a folder whose slash was left out. `None` if it is no http(s) URL.
pub(crate) fn folder_url(base: &str) -> Option<String> {
    let base = without_query(base.trim());
    let (origin, path) = Location::of(base).origin().filter(|_| !has_two_schemes(base))?;
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", ""));
    let is_file = [".xml", ".gz", ".txt"].iter().any(|end| name.ends_with(end));
    let name = if is_file || name.is_empty() { String::new() } else { format!("{name}/") };
    Some(format!("{origin}{folder}/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside(paths: &[&str]) -> ChildLocation {
        ChildLocation::Inside(paths.iter().map(PathBuf::from).collect())
    }

    #[test]
    fn without_a_base_url_suffixes_are_tried_from_long_to_short() {
        let table = [
            ("https://e.com/sitemap-1.xml", inside(&["sitemap-1.xml"])),
            ("https://e.com/a/b/c.xml.gz?x=/y", inside(&["a/b/c.xml.gz", "b/c.xml.gz", "c.xml.gz"])),
            ("https://e.com//a/./b%20c.xml", inside(&["a/b c.xml", "b c.xml"])),
            ("sitemap-1.xml", inside(&["sitemap-1.xml"])),
            ("/a/b.xml#c", inside(&["a/b.xml", "b.xml"])),
            ("https://e.com/", inside(&[])),
            ("", inside(&[])),
            ("ftp://e.com/a.xml", ChildLocation::Elsewhere),
        ];
        for (loc, expected) in table {
            assert_eq!(locate_child(loc, None), expected, "{loc}");
        }
    }

    #[test]
    fn only_the_shortest_suffixes_of_a_deep_path_are_tried() {
        let looked = |folders: usize| {
            let ChildLocation::Inside(paths) =
                locate_child(&format!("https://e.com/{}s.xml", "a/".repeat(folders)), None)
            else {
                panic!("it is inside")
            };
            (paths.len(), paths.iter().map(|path| path.as_os_str().len()).sum::<usize>())
        };
        assert_eq!(looked(3), (4, 5 + 7 + 9 + 11));
        assert_eq!(looked(MOST_SUFFIXES - 1).0, MOST_SUFFIXES);
        assert_eq!(looked(100), looked(10_000));
    }

    #[test]
    fn no_spelling_of_a_path_escapes_the_folder() {
        let locs = [
            "https://e.com/../a.xml",
            "https://e.com/a/../../b.xml",
            "https://e.com/%2e%2e/a.xml",
            "https://e.com/.%2E/a.xml",
            "https://e.com/%2e%2e%2fa.xml",
            "https://e.com/..%5ca.xml",
            "https://e.com/..\\a.xml",
            "https://e.com/a%2fb.xml",
            "https://e.com/a%00.xml",
            "../a.xml",
            "..",
            "https://e.com/%2e/a.xml",
        ];
        for loc in locs {
            assert_eq!(locate_child(loc, None), ChildLocation::Outside, "{loc}");
            assert_eq!(locate_child(loc, Some("https://e.com/")), ChildLocation::Outside, "{loc}");
        }
        assert_eq!(locate_child("/etc/passwd", None), inside(&["etc/passwd", "passwd"]));
    }

    #[test]
    fn a_base_gives_the_url_of_the_folder() {
        let base = Some("https://e.com/maps/");
        assert_eq!(locate_child("https://e.com/maps/a/b.xml", base), inside(&["a/b.xml", "b.xml"]));
        assert_eq!(locate_child("https://E.com/b.xml", base), inside(&["b.xml"]));
        assert_eq!(locate_child("https://cdn.e.com/maps/b.xml", base), ChildLocation::Elsewhere);
    }

    #[test]
    fn a_child_is_stored_below_the_folder_under_a_plain_name() {
        let base = Some("https://e.com/maps/");
        let stored = |loc: &str| stored_path(loc, base).map(|path| path.to_string_lossy().into_owned());
        for (loc, expected) in [
            ("https://e.com/maps/a/b.xml", Some("a/b.xml")),
            ("https://e.com/other/b%20c.xml.gz#x", Some("other/b c.xml.gz")),
            ("https://e.com/maps/", None),
            ("https://e.com/maps/../b.xml", None),
            ("https://e.com/maps/%2e%2e/b.xml", None),
            ("https://e.com/maps/a%2fb.xml", None),
            ("https://e.com/maps/..%5cb.xml", None),
            ("https://e.com/maps/a%00.xml", None),
            ("https://cdn.e.com/maps/b.xml", None),
        ] {
            assert_eq!(stored(loc).as_deref(), expected, "{loc}");
            assert_eq!(renamed_path(loc, base), None, "{loc}");
        }
        assert_eq!(stored_path(&format!("https://e.com/{}a.xml", "a/".repeat(16)), None), None);
        for loc in ["https://e.com/.git/config", "https://e.com/a.php?id=1", "https://e.com/CON/aux.xml", "/a%1b.xml"] {
            let path = stored_path(loc, None).unwrap();
            assert_eq!(renamed_path(loc, None).as_ref(), Some(&path), "{loc}");
            assert!(path.iter().all(|name| name.to_string_lossy().contains('~') || name == "config"), "{path:?}");
        }
    }

    #[test]
    fn a_base_url_has_no_blanks() {
        for base in ["https://e.com/ /", "https://e.com/a b", "https://e.com/\u{a0}/", "https://e.com/\u{1b}[0m/"] {
            let error = base_url_error(base).unwrap();
            assert!(error.contains("without blanks") && !error.contains('\u{1b}'), "{error:?}");
        }
        assert_eq!(base_url_error(" https://e.com/ "), None);
    }

    #[test]
    fn a_base_url_is_a_folder_or_a_file_in_it() {
        let table = [
            ("https://e.com", Some("https://e.com/")),
            ("https://e.com/", Some("https://e.com/")),
            (" https://e.com/maps ", Some("https://e.com/maps/")),
            ("https://e.com/maps/sitemap.xml?x", Some("https://e.com/maps/")),
            ("https://e.com/sitemap.xml.gz", Some("https://e.com/")),
            ("e.com", None),
            ("ftp://e.com/", None),
            ("https://e.com/https://e.com/", None),
            ("https://HTTPS://e.com/", None),
            ("https://e.com/?u=https://e.com/", Some("https://e.com/")),
        ];
        for (base, expected) in table {
            assert_eq!(folder_url(base).as_deref(), expected, "{base}");
        }
    }
}
