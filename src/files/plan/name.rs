//! Names and public URLs for new files of a set.

use std::path::Path;

/// A parsed file name: `sitemap-` `00012` `.xml.gz`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    before: String,
    /// The number and its digits as written; `None` if the name has no number.
    number: Option<(u64, usize)>,
    after: String,
}

impl Pattern {
    /// Parses a file name. A trailing year or month belongs to the name and is not incremented.
    pub(super) fn of(name: &str) -> Self {
        let lower = name.to_ascii_lowercase();
        let end = [".xml.gz", ".xml", ".txt.gz", ".txt", ".gz"]
            .iter()
            .find(|end| lower.ends_with(**end))
            .map_or("", |end| end);
        let (stem, after) = name.split_at(name.len() - end.len());
        let digits = stem.len() - stem.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (before, number) = stem.split_at(stem.len() - digits);
        let parsed = number.parse().ok().filter(|_| !is_date(before, number));
        let (before, number) = match parsed {
            Some(value) => (before.to_owned(), Some((value, digits))),
            None => (format!("{stem}-"), None),
        };
        Self { before, number, after: after.to_owned() }
    }

    /// The next free number: one more than the highest number of siblings with the same pattern, or 2 without any.
    pub(super) fn next<'n>(&self, siblings: impl Iterator<Item = &'n str>) -> u64 {
        let highest = siblings
            .map(Self::of)
            .filter(|other| other.before == self.before && other.after == self.after)
            .filter_map(|other| other.number)
            .map(|(number, _)| number)
            .max();
        // A file without a number counts as number 1.
        highest.or(self.number.map(|(number, _)| number)).unwrap_or(1).saturating_add(1)
    }

    /// The file name with this number, zero-padded as in this pattern.
    pub(super) fn with(&self, number: u64) -> String {
        let width = self.number.map_or(1, |(_, width)| width);
        format!("{}{number:0width$}{}", self.before, self.after)
    }

    /// The pattern for further files of an index: its name with a number. `index` is added to a name without that word,
    /// so that the files cannot be confused with sitemaps.
    pub(super) fn indexes_of(name: &str) -> Self {
        let own = Self::of(name);
        if own.before.to_ascii_lowercase().contains("index") {
            return own;
        }
        let parts = Self::parts_of(name);
        Self { before: format!("{}index-", parts.before), number: None, ..parts }
    }

    /// The number of a file of this pattern.
    pub(super) fn number_of(&self, name: &str) -> Option<u64> {
        let digits = name.strip_prefix(&*self.before)?.strip_suffix(&*self.after)?;
        digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))
    }

    /// The number of the first file: its own, or 1 if it has none.
    pub(super) fn first(&self) -> u64 {
        self.number.map_or(1, |(number, _)| number)
    }

    /// The pattern of the parts of a single file: its name, a dash, a number.
    pub(super) fn parts_of(name: &str) -> Self {
        let whole = Self::of(name);
        match whole.number {
            None => whole,
            Some((number, width)) => {
                Self { before: format!("{}{number:0width$}-", whole.before), number: None, ..whole }
            }
        }
    }
}

/// `2024`, or the `05` of `2024-05`.
fn is_date(before: &str, digits: &str) -> bool {
    let is_year = |text: &str| text.len() == 4 && (text.starts_with("19") || text.starts_with("20"));
    if is_year(digits) {
        return true;
    }
    let before = before.strip_suffix(['-', '_']).unwrap_or(before);
    let year = before.len().checked_sub(4).and_then(|at| before.get(at..));
    digits.len() == 2 && year.is_some_and(|year| is_year(year) && year.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The URL of a file in a folder: the folder's URL with its final slash, and the percent-encoded name.
pub(super) fn url_of(folder: &str, name: &str) -> String {
    let mut url = folder.to_owned();
    for byte in name.bytes() {
        // RFC 3986, section 2.3: unreserved characters; slashes separate folders.
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/') {
            url.push(char::from(byte));
        } else {
            url.extend(['%', hex(byte >> 4), hex(byte & 15)]);
        }
    }
    url
}

fn hex(digit: u8) -> char {
    char::from_digit(u32::from(digit), 16).unwrap_or('0').to_ascii_uppercase()
}

/// The URL up to its last slash, without the query.
pub(super) fn folder_of(url: &str) -> Option<&str> {
    let path = url.split(['?', '#']).next()?;
    let after_scheme = path.find("://")? + 3;
    let slash = path.get(after_scheme..)?.rfind('/')?;
    path.get(..=after_scheme + slash)
}

/// The name of a file in the folder of another file; both are relative to the set's folder.
pub(super) fn sibling_name(name: &str, file: &str) -> String {
    match name.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{file}"),
        None => file.to_owned(),
    }
}

/// The last segment of a relative path.
pub(super) fn last(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Whether a path has the extension `gz`.
pub(super) fn is_gzip(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_name_follows_the_pattern_of_its_siblings() {
        let table: [(&str, &[&str], &str); 8] = [
            ("sitemap-00012.xml", &["sitemap-00001.xml", "sitemap-00020.xml", "other-99.xml"], "sitemap-00021.xml"),
            ("sitemap-9.xml.gz", &["sitemap-9.xml.gz", "sitemap-12.xml"], "sitemap-10.xml.gz"),
            ("sitemap99.xml", &["sitemap99.xml"], "sitemap100.xml"),
            ("products.xml", &["products.xml"], "products-2.xml"),
            ("posts-2024.xml", &["posts-2024.xml", "posts-2025.xml"], "posts-2024-2.xml"),
            ("posts-2024-05.xml", &["posts-2024-06.xml"], "posts-2024-05-2.xml"),
            ("post_05.xml", &[], "post_06.xml"),
            ("noend7", &[], "noend8"),
        ];
        for (name, siblings, expected) in table {
            let pattern = Pattern::of(name);
            assert_eq!(pattern.with(pattern.next(siblings.iter().copied())), expected, "{name}");
        }
    }

    #[test]
    fn names_of_parts_begin_with_the_name_of_the_single_file() {
        for (name, expected) in
            [("sitemap.xml", "sitemap-1.xml"), ("map2.xml.gz", "map2-1.xml.gz"), ("s-2024.xml", "s-2024-1.xml")]
        {
            assert_eq!(Pattern::parts_of(name).with(1), expected);
        }
    }

    #[test]
    fn urls_are_built_beside_those_of_siblings() {
        assert_eq!(folder_of("https://e.com/a/b.xml?x=/"), Some("https://e.com/a/"));
        assert_eq!(folder_of("https://e.com"), None);
        assert_eq!(folder_of("b.xml"), None);
        assert_eq!(url_of("https://e.com/", "a b/ü.xml"), "https://e.com/a%20b/%C3%BC.xml");
        assert_eq!((sibling_name("maps/a.xml", "b.xml"), last("maps/a.xml")), ("maps/b.xml".to_owned(), "a.xml"));
    }
}
