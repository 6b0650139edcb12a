//! Compares two sets by URL: added, removed and changed rows.
//!
//! The sets need not fit in memory. A first pass keeps 16 bytes a row ([`Digests`]): a hash of its URL and one of its
//! content. Only rows whose digests differ are read again as text ([`Texts`]). Two URLs with the same 64-bit hash would
//! be confused: with ten million URLs that happens once in some 300,000 runs.

use crate::protocol::Field;
use crate::protocol::namespace::Namespace;
use crate::words::grouped;
use crate::xml::entry::{Entry, Extensions};
use crate::xml::names::{Meaning, Names, split};
use crate::xml::scan::Visit;
use crate::xml::tree;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::sync::Arc;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// The URL and the content of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowText {
    /// The URL, decoded and trimmed.
    pub loc: String,
    /// `lastmod`, `changefreq` and `priority`, decoded and trimmed; `None` if absent or empty.
    pub fields: [Option<String>; 3],
    /// One line for each element of an extension, in the order of the file.
    pub extensions: ExtensionLines,
}

/// The elements of extensions, each with its depth, name, attributes and text. All are in one string, since an entry
/// may have an element in every four bytes, and without indentation, which would grow with the square of the depth.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ExtensionLines {
    text: String,
    /// The end of each line, and its depth: 0 for a child of the entry.
    lines: Vec<(usize, u32)>,
}

impl ExtensionLines {
    /// Ends a line whose text was added.
    fn end(&mut self, depth: usize) {
        self.lines.push((self.text.len(), depth as u32));
    }

    /// Every line with its depth.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        let mut from = 0;
        self.lines.iter().map(move |(end, depth)| {
            let text = self.text.get(from..*end).unwrap_or_default();
            from = *end;
            (*depth, text)
        })
    }
}

/// The fields of a [`RowText`], in its order.
pub(crate) const FIELDS: [Field; 3] = [Field::Lastmod, Field::Changefreq, Field::Priority];

/// The maximum number of elements of an entry that are compared one by one; the rest of its text is compared by a hash.
const MAX_ELEMENTS: usize = 1 << 16;

impl RowText {
    /// The content of an entry; `None` without a URL.
    pub(crate) fn of(text: &[u8], entry: &Entry, names: &Names) -> Option<Self> {
        let value = |field| {
            let value = entry.value(field, text)?;
            let value = value.trim();
            (!value.is_empty()).then(|| value.to_owned())
        };
        let loc = value(Field::Loc)?;
        Some(Self { loc, fields: FIELDS.map(value), extensions: extensions(text, entry, names) })
    }

    /// A hash of the content without the URL, the same in every run.
    pub(crate) fn digest(&self) -> u64 {
        let mut hash = Xxh3::new();
        for field in &self.fields {
            hash.update(field.as_deref().unwrap_or_default().as_bytes());
            hash.update(&[u8::from(field.is_some())]);
        }
        for (depth, line) in self.extensions.iter() {
            hash.update(&depth.to_le_bytes());
            hash.update(line.as_bytes());
            hash.update(b"\n");
        }
        hash.digest()
    }

    /// The number of elements of each name directly in the entry.
    fn blocks(&self) -> HashMap<&str, u32> {
        let mut blocks = HashMap::new();
        for (_, line) in self.extensions.iter().filter(|(depth, _)| *depth == 0) {
            *blocks.entry(line.split(' ').next().unwrap_or_default()).or_default() += 1;
        }
        blocks
    }
}

/// The elements of extensions as lines, with the usual prefixes of their namespaces.
fn extensions(text: &[u8], entry: &Entry, names: &Names) -> ExtensionLines {
    let mut lines = ExtensionLines::default();
    if entry.extensions == Extensions::default() {
        return lines;
    }
    let usual = |name: &str| {
        let (prefix, local) = split(name.as_bytes());
        let local = String::from_utf8_lossy(local);
        match names.meaning_of_prefix(prefix) {
            Meaning::Core => None,
            Meaning::Extension(Namespace::Other) => Some(name.to_owned()),
            Meaning::Extension(namespace) => Some(format!("{}:{local}", namespace.prefix())),
        }
    };
    let mut is_core = false;
    let (nodes, rest) = tree::first_nodes(text, MAX_ELEMENTS);
    for node in nodes {
        let name = usual(&node.name);
        if node.depth == 0 {
            is_core = name.is_none();
        }
        if is_core {
            continue;
        }
        lines.text.push_str(name.as_deref().unwrap_or(&node.name));
        for (attribute, value) in node.attributes.iter().filter(|(name, _)| !name.starts_with("xmlns")) {
            // Writing to a string cannot fail.
            let _ = write!(lines.text, " {attribute}={value:?}");
        }
        if !node.text.is_empty() {
            lines.text.push_str(" = ");
            lines.text.push_str(&node.text);
        }
        lines.end(node.depth);
    }
    if let Some(rest) = rest.and_then(|from| text.get(from..)) {
        let _ = write!(lines.text, "… {} more bytes, hash {:016x}", grouped(rest.len() as u64), xxh3_64(rest));
        lines.end(0);
    }
    lines
}

/// Digests of rows: hashes of URL and content, in the order of the files.
#[derive(Debug, Default)]
pub(crate) struct Digests(Vec<(u64, u64)>);

impl Visit for Digests {
    fn entry(&mut self, text: &[u8], entry: &Entry, names: &Names) {
        if let Some(row) = RowText::of(text, entry, names) {
            self.0.push((key(&row.loc), row.digest()));
        }
    }
}

fn key(loc: &str) -> u64 {
    xxh3_64(loc.as_bytes())
}

impl Digests {
    /// Appends the digests of another file.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The URLs whose rows differ between two sets.
    pub(crate) fn differences(mut self, mut other: Self) -> Keys {
        // Stable, so that rows of the same URL keep their order and are compared one by one.
        self.0.sort_by_key(|(key, _)| *key);
        other.0.sort_by_key(|(key, _)| *key);
        let (mut left, mut right) = (self.0.as_slice(), other.0.as_slice());
        let mut keys = HashSet::new();
        while let Some(next) = [left.first(), right.first()].into_iter().flatten().map(|(key, _)| *key).min() {
            let run = |rows: &[(u64, u64)]| rows.iter().take_while(|(key, _)| *key == next).count();
            let (ours, theirs) = (run(left), run(right));
            let same = left.iter().take(ours).map(|row| row.1).eq(right.iter().take(theirs).map(|row| row.1));
            if !same {
                keys.insert(next);
            }
            left = left.get(ours..).unwrap_or_default();
            right = right.get(theirs..).unwrap_or_default();
        }
        Keys(Arc::new(keys))
    }
}

/// Hashes of URLs whose rows are read again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keys(Arc<HashSet<u64>>);

impl Keys {
    /// Whether there are none, so that the sets are equal.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The texts of some rows, in the order of the files.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    keys: Keys,
    rows: Vec<RowText>,
}

impl Texts {
    /// Collects the rows of these URLs.
    pub(crate) const fn new(keys: Keys) -> Self {
        Self { keys, rows: Vec::new() }
    }

    /// Appends the rows of another file.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.rows.append(&mut other.rows);
    }
}

impl Visit for Texts {
    fn entry(&mut self, text: &[u8], entry: &Entry, names: &Names) {
        let Some(loc) = entry.value(Field::Loc, text) else { return };
        if self.keys.0.contains(&key(loc.trim())) {
            self.rows.extend(RowText::of(text, entry, names));
        }
    }
}

/// A difference between two sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Difference {
    /// Only the new set has it.
    Added(RowText),
    /// Only the old set has it.
    Removed(RowText),
    /// Both sets have it, with different values.
    Changed(Changed),
}

/// A row whose content differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Changed {
    /// Its URL.
    pub loc: String,
    /// Fields with the value before and after.
    pub fields: Vec<(Field, Option<String>, Option<String>)>,
    /// Lines of extensions that were removed.
    pub lost: Vec<String>,
    /// Lines of extensions that were added.
    pub gained: Vec<String>,
    /// Whether the new row has fewer blocks of an extension.
    pub has_lost_block: bool,
    /// The [digest](RowText::digest) of the new row.
    pub digest: u64,
}

impl Difference {
    /// The URL.
    pub(crate) fn loc(&self) -> &str {
        match self {
            Self::Added(row) | Self::Removed(row) => &row.loc,
            Self::Changed(changed) => &changed.loc,
        }
    }

    /// The sort order: lost extensions, removed rows, added rows, changed rows.
    fn rank(&self) -> u8 {
        match self {
            Self::Changed(changed) if changed.has_lost_block => 0,
            Self::Removed(_) => 1,
            Self::Added(_) => 2,
            Self::Changed(_) => 3,
        }
    }
}

/// The differences between the rows of two sets: lost extensions, removed, added and changed rows, each kind in the
/// order of its set. Rows of the same URL are compared one by one, in their order.
pub(crate) fn differences(old: Texts, new: Texts) -> Vec<Difference> {
    let mut before: HashMap<String, Vec<Option<RowText>>> = HashMap::new();
    let mut order: Vec<String> = Vec::new();
    for row in old.rows {
        let rows = before.entry(row.loc.clone()).or_default();
        if rows.is_empty() {
            order.push(row.loc.clone());
        }
        rows.push(Some(row));
    }
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut out = Vec::new();
    for row in new.rows {
        let number = seen.entry(row.loc.clone()).or_default();
        let other = before.get_mut(&row.loc).and_then(|rows| rows.get_mut(*number)).and_then(Option::take);
        *number += 1;
        match other {
            None => out.push(Difference::Added(row)),
            Some(other) if other == row => {}
            Some(other) => out.push(Difference::Changed(changed(&other, &row))),
        }
    }
    for loc in order {
        out.extend(before.remove(&loc).into_iter().flatten().flatten().map(Difference::Removed));
    }
    out.sort_by_key(Difference::rank);
    out
}

fn changed(old: &RowText, new: &RowText) -> Changed {
    let fields = FIELDS.into_iter().zip(old.fields.iter().zip(&new.fields));
    let missing = |from: &ExtensionLines, of: &ExtensionLines| {
        let mut rest: HashMap<(u32, &str), u32> = HashMap::new();
        for line in of.iter() {
            *rest.entry(line).or_default() += 1;
        }
        let mut lines = Vec::new();
        for line in from.iter() {
            match rest.get_mut(&line) {
                Some(count) if *count > 0 => *count -= 1,
                _ => lines.push(line.1.to_owned()),
            }
        }
        lines
    };
    let after = new.blocks();
    Changed {
        loc: new.loc.clone(),
        fields: fields
            .filter(|(_, (old, new))| old != new)
            .map(|(field, (old, new))| (field, old.clone(), new.clone()))
            .collect(),
        lost: missing(&old.extensions, &new.extensions),
        gained: missing(&new.extensions, &old.extensions),
        digest: new.digest(),
        has_lost_block: old.blocks().iter().any(|(name, count)| after.get(name).copied().unwrap_or_default() < *count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Progress;
    use crate::xml::scan::scan;
    use proptest::prelude::*;

    const HEAD: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
        xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\" \
        xmlns:i=\"http://www.google.com/schemas/sitemap-image/1.1\">";

    fn visited<V: Visit>(entries: &str, mut visitor: V) -> V {
        scan(format!("{HEAD}{entries}</urlset>").as_bytes(), &mut visitor, &Progress::default());
        visitor
    }

    fn compared(old: &str, new: &str) -> Vec<Difference> {
        let keys = visited(old, Digests::default()).differences(visited(new, Digests::default()));
        differences(visited(old, Texts::new(keys.clone())), visited(new, Texts::new(keys)))
    }

    fn lines(old: &str, new: &str) -> Vec<String> {
        let word = |difference: &Difference| match difference {
            Difference::Added(row) => format!("+{}", row.loc),
            Difference::Removed(row) => format!("-{}", row.loc),
            Difference::Changed(row) => {
                let fields = row.fields.iter().map(|(field, old, new)| format!(" {} {old:?} {new:?}", field.name()));
                let fields: String = fields.collect();
                let mark = if row.has_lost_block { "!" } else { "~" };
                format!("{mark}{}{fields} {:?} {:?}", row.loc, row.lost, row.gained)
            }
        };
        compared(old, new).iter().map(word).collect()
    }

    #[test]
    fn rows_are_compared_by_content() {
        let image = "<image:image><image:loc>x</image:loc></image:image>";
        let table: [(&str, &str, &[&str]); 7] = [
            ("<url><loc>a</loc></url>", "<url>\n <loc> a </loc>\n</url>", &[]),
            ("<url><loc>a</loc></url><url><loc>b</loc></url>", "<url><loc>b</loc></url><url><loc>a</loc></url>", &[]),
            ("<url><loc>a</loc></url>", "<url><loc>b</loc></url>", &["-a", "+b"]),
            (
                "<url><loc>a</loc><priority>0.5</priority></url>",
                "<url><loc>a</loc><lastmod>2026-01-01</lastmod></url>",
                &["~a lastmod None Some(\"2026-01-01\") priority Some(\"0.5\") None [] []"],
            ),
            (
                &format!("<url><loc>a</loc>{image}</url>"),
                "<url><loc>a</loc></url><url><loc>b</loc></url>",
                &["!a [\"image:image\", \"image:loc = x\"] []", "+b"],
            ),
            (
                &format!("<url><loc>a</loc>{image}</url>"),
                "<url><loc>a</loc><i:image>\n<i:loc>x</i:loc></i:image></url>",
                &[],
            ),
            ("<url><loc>a</loc></url><url><loc>a</loc></url>", "<url><loc>a</loc></url>", &["-a"]),
        ];
        for (old, new, expected) in table {
            assert_eq!(lines(old, new), expected, "{old} {new}");
        }
    }

    proptest! {
        /// Comparing digests first finds the same differences as comparing all texts.
        #[test]
        fn digests_find_all_differences(
            old in prop::collection::vec((0..6_u8, 0..3_u8), 0..20),
            new in prop::collection::vec((0..6_u8, 0..3_u8), 0..20),
        ) {
            let text = |rows: &[(u8, u8)]| -> String {
                let row = |(loc, priority): &(u8, u8)| {
                    format!("<url><loc>https://e.com/{loc}</loc><priority>0.{priority}</priority></url>")
                };
                rows.iter().map(row).collect()
            };
            let all = Keys(Arc::new((0..6).map(|loc| key(&format!("https://e.com/{loc}"))).collect()));
            let naive = differences(
                visited(&text(&old), Texts::new(all.clone())),
                visited(&text(&new), Texts::new(all)),
            );
            prop_assert_eq!(compared(&text(&old), &text(&new)), naive);
        }
    }
}
