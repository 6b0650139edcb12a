//! Safe file names for names in URLs: no device names, hidden files or paths out of the folder.

use super::disk::fingerprint;
use std::borrow::Cow;

/// Maximum length in bytes of a name that is kept: temporary files beside it have longer names, and file systems allow
/// 255.
const MAX_NAME_BYTES: usize = 150;
/// Maximum length in characters of a changed name before its hash.
const MAX_STEM_CHARS: usize = 80;
/// Extensions of sitemaps, which are kept in a changed name.
const EXTENSIONS: [&str; 9] = [".xml.gz", ".xml", ".txt.gz", ".txt", ".csv.gz", ".csv", ".tsv.gz", ".tsv", ".gz"];

/// The name under which a file is stored: `name` itself if it is portable, else one without the characters that are
/// not, made unique by a hash. A query is part of the name. `name` has no slash.
pub(super) fn stored_name<'n>(name: &'n str, query: Option<&str>) -> Cow<'n, str> {
    let Some(query) = query else {
        return if is_portable(name) { name.into() } else { portable_name(name, name).into() };
    };
    let whole = [name, "@", query].concat();
    portable_name(name, &whole).into()
}

/// Whether this is the name of an ordinary file on every system.
fn is_portable(name: &str) -> bool {
    let is_plain = |char: char| !char.is_control() && !"<>:\"|?*\\/".contains(char);
    name.len() <= MAX_NAME_BYTES
        && !name.starts_with(['.', ' '])
        && !name.ends_with(['.', ' '])
        && name.chars().all(is_plain)
        && !is_device(name)
}

/// Whether Windows treats a name as a device, with any extension.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    match stem.as_str() {
        "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$" => true,
        stem => {
            let number = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
            number.is_some_and(|number| number.chars().count() == 1 && number.chars().all(char::is_numeric))
        }
    }
}

/// The portable form of `whole`, with the extension of `name`.
fn portable_name(name: &str, whole: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let end = EXTENSIONS.iter().find(|end| lower.ends_with(**end)).copied().unwrap_or_default();
    let is_kept = |char: char| char.is_ascii_alphanumeric() || "-_=@.".contains(char);
    let whole_stem = if whole == name { name.get(..name.len() - end.len()).unwrap_or(name) } else { whole };
    let mut stem: String =
        whole_stem.chars().map(|char| if is_kept(char) { char } else { '_' }).take(MAX_STEM_CHARS).collect();
    if stem.starts_with('.') || stem.starts_with('-') || is_device(&stem) {
        stem.insert(0, '_');
    }
    format!("{stem}~{:08x}{end}", fingerprint(whole.as_bytes()) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_plain_name_is_kept() {
        for name in ["sitemap.xml", "a b.xml", "карта.xml.gz", "sitemap", "a~b.xml", "console.xml", "com10.txt", "-a"]
        {
            assert_eq!(stored_name(name, None), name);
        }
    }

    #[test]
    fn any_other_name_becomes_a_unique_portable_one() {
        let long = "x".repeat(300) + ".xml.gz";
        let names = [
            ".git",
            ".htaccess",
            ".sited-get.jsonl",
            "con",
            "CON.xml",
            "aux.txt",
            "com1",
            "Com1.xml",
            "lpt9.x",
            "nul ",
            "a.",
            "a ",
            " a",
            "a:b.xml",
            "a\\b.xml",
            "a\u{1b}[31m.xml",
            "a\0b",
            "a|b",
            "..",
            ".",
            "",
            &long,
            "COM¹",
        ];
        let mut seen = HashSet::new();
        for name in names {
            let stored = stored_name(name, None).into_owned();
            assert!(is_portable(&stored) && stored.len() <= 110, "{name:?}: {stored:?}");
            assert!(stored.is_ascii() && seen.insert(stored.to_ascii_lowercase()), "{name:?}: {stored:?}");
            assert_eq!(stored_name(name, None), stored);
        }
        assert!(stored_name(&long, None).ends_with(".xml.gz"));
    }

    #[test]
    fn a_query_changes_the_name() {
        let name = |query| stored_name("sitemap.php", Some(query)).into_owned();
        let (one, two) = (name("id=1"), name("id=2"));
        assert!(one.starts_with("sitemap.php@id=1~") && one != two, "{one} {two}");
        assert_ne!(name("id=A").to_lowercase(), name("id=a").to_lowercase());
        for query in ["", "../../etc/passwd", "a/b\\c", "%00", "?", &"q".repeat(5_000)] {
            let stored = stored_name("a.xml", Some(query)).into_owned();
            assert!(is_portable(&stored) && stored.rsplit_once('.').unwrap().1 == "xml", "{query:?}: {stored:?}");
        }
    }
}
