//! Rules about file names, and a safe replacement for a bad one. Pure.
//!
//! Sources: rule catalogue, `file-name-unsafe`, `text-extension`, `gzip-extension-mismatch`; RFC 3986, section 2.3
//! (unreserved characters); Google Search Central, "Build and submit a sitemap" (text files end in .txt).

use crate::document::Document;
use crate::document::form::Form;
use crate::document::sitemap::Member;

/// Longest name of a file in bytes (most file systems; rule catalogue, `file-name-unsafe`).
pub(crate) const MAX_BYTES: usize = 255;

/// The properties of a file that its name must match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NameKind {
    form: Form,
    gzip: bool,
}

impl NameKind {
    /// The kind of name for a file of a document.
    pub(crate) fn of(document: &Document, file: Member) -> Self {
        match file {
            Member::Index => Self { form: Form::Xml, gzip: document.index().is_some_and(|index| index.gzip) },
            Member::Sitemap(id) => {
                let sitemap = document.sitemap(id);
                let form = sitemap.map_or(Form::Xml, |sitemap| sitemap.form);
                Self { form, gzip: sitemap.is_some_and(|sitemap| sitemap.gzip) }
            }
        }
    }

    /// The extension that the name must have.
    const fn ending(self) -> &'static str {
        match (self.form, self.gzip) {
            (Form::Xml | Form::Feed(_), false) => ".xml",
            (Form::Xml | Form::Feed(_), true) => ".xml.gz",
            (Form::List, false) => ".txt",
            (Form::List, true) => ".txt.gz",
            (Form::Csv, false) => ".csv",
            (Form::Csv, true) => ".csv.gz",
            (Form::Tsv, false) => ".tsv",
            (Form::Tsv, true) => ".tsv.gz",
        }
    }
}

/// Whether a byte needs no escaping in a URL (RFC 3986, section 2.3) and is allowed on every file system.
pub(crate) const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Why a text cannot name a file in the same folder; `None` if it can, even if the name is not safe.
pub(crate) fn name_error(name: &str) -> Option<&'static str> {
    match name {
        "" => Some("enter a name"),
        name if name.contains(['/', '\\']) => Some("the file stays in its folder: enter a name without / and \\"),
        name if name.chars().any(char::is_control) => Some("a name cannot contain control characters"),
        name if name.len() > MAX_BYTES => Some("the name is longer than 255 bytes"),
        "." | ".." => Some("that is a folder"),
        _ => None,
    }
}

/// Why a name is refused for a file; `None` for a safe name.
pub(crate) fn refusal(name: &str, kind: Option<NameKind>) -> Option<String> {
    if let Some(why) = name_error(name) {
        return Some(why.to_owned());
    }
    if name.starts_with('.') {
        return Some("a name must not begin with a dot: few web servers serve hidden files".to_owned());
    }
    if let Some(letter) = name.chars().find(|letter| !letter.is_ascii() || !is_unreserved(*letter as u8)) {
        return Some(format!("{letter:?} must be escaped in a URL; use letters, digits and - . _ ~"));
    }
    let ending = kind.map_or("", NameKind::ending);
    let is_right = name.to_ascii_lowercase().strip_suffix(ending).is_some_and(|stem| !stem.is_empty());
    (!is_right).then(|| format!("the name must end in {ending}"))
}

/// A safe name that resembles the old one and is not taken.
pub(crate) fn safe_name(old: &str, kind: NameKind, is_taken: &dyn Fn(&str) -> bool) -> String {
    let ending = kind.ending();
    let lower = old.to_ascii_lowercase();
    let stem = lower.strip_suffix(ending).map_or_else(
        || {
            let plain = lower.strip_suffix(".gz").unwrap_or(&lower);
            // Up to five characters after the last dot are another extension and not kept.
            let end = plain.rfind('.').filter(|at| (1..=5).contains(&(plain.len() - at - 1)));
            end.unwrap_or(plain.len())
        },
        str::len,
    );
    let mut safe = String::new();
    for letter in old.get(..stem).unwrap_or(old).chars() {
        let is_allowed = letter.is_ascii() && is_unreserved(letter as u8);
        if is_allowed {
            safe.push(letter);
        } else if !safe.ends_with('-') {
            safe.push('-');
        }
    }
    let safe = safe.trim_matches(['-', '.']);
    let safe = if safe.is_empty() { "sitemap" } else { safe };
    // Leave room for a number.
    let safe = safe.get(..safe.len().min(MAX_BYTES - ending.len() - 8)).unwrap_or(safe);
    let numbered = (2..).map(|number| format!("{safe}-{number}{ending}"));
    let mut names = std::iter::once(format!("{safe}{ending}")).chain(numbered);
    names.find(|name| !is_taken(name)).unwrap_or_else(|| format!("{safe}{ending}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const XML: NameKind = NameKind { form: Form::Xml, gzip: false };
    const PACKED: NameKind = NameKind { form: Form::Xml, gzip: true };
    const LIST: NameKind = NameKind { form: Form::List, gzip: false };

    #[test]
    fn a_safe_name_resembles_the_old_one() {
        let table = [
            ("site map.xml", XML, "site-map.xml"),
            ("Seiten  \u{fc}bersicht (neu).xml", XML, "Seiten-bersicht-neu.xml"),
            ("site map.v2.xml", XML, "site-map.v2.xml"),
            ("a b.xml", PACKED, "a-b.xml.gz"),
            ("a b.xml.gz", PACKED, "a-b.xml.gz"),
            ("a b.xml.gz", XML, "a-b.xml"),
            ("sitemap.lst", LIST, "sitemap.txt"),
            ("urls", LIST, "urls.txt"),
            ("\u{5730}\u{56fe}.xml", XML, "sitemap.xml"),
            ("taken (1).xml", XML, "taken-1-3.xml"),
        ];
        let is_taken = |name: &str| ["taken-1.xml", "taken-1-2.xml"].contains(&name);
        for (old, kind, expected) in table {
            let new = safe_name(old, kind, &is_taken);
            assert_eq!(new, expected, "{old}");
            assert_eq!(refusal(&new, Some(kind)), None, "{new}");
        }
        let long = safe_name(&format!("{} .xml", "a".repeat(400)), XML, &|_| false);
        assert!(long.len() <= MAX_BYTES && refusal(&long, Some(XML)).is_none(), "{long}");
    }

    #[test]
    fn a_name_of_another_folder_or_kind_is_refused_with_the_reason() {
        let table = [
            ("", XML, "enter a name"),
            ("../a.xml", XML, "stays in its folder"),
            ("a\\b.xml", XML, "stays in its folder"),
            (".a.xml", XML, "hidden"),
            ("a b.xml", XML, "escaped"),
            ("\u{e4}.xml", XML, "escaped"),
            ("a\u{1b}.xml", XML, "control"),
            ("a.txt", XML, "end in .xml"),
            (".xml", XML, "hidden"),
            ("a.xml", PACKED, "end in .xml.gz"),
            ("a.xml", LIST, "end in .txt"),
        ];
        for (name, kind, expected) in table {
            let why = refusal(name, Some(kind)).unwrap_or_default();
            assert!(why.contains(expected), "{name:?}: {why}");
        }
    }
}
