//! File forms (XML, list, table, feed), and what each can hold.

use crate::protocol::Field;
use crate::xml::feed::Feed;
use crate::xml::grid::Grid;
use crate::xml::names::FileKind;

/// The form of a stored file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Form {
    /// A sitemap in XML.
    #[default]
    Xml,
    /// A text sitemap: one URL per line.
    List,
    /// Comma- or semicolon-separated values, with a header.
    Csv,
    /// Tab-separated values, with a header.
    Tsv,
    /// A feed. It is read as a sitemap and never written.
    Feed(Feed),
}

impl Form {
    /// Every form that can be written, by its usual extension.
    pub const WRITTEN: [(&'static str, Self); 4] =
        [("xml", Self::Xml), ("txt", Self::List), ("csv", Self::Csv), ("tsv", Self::Tsv)];

    /// The form for a file name by its extension (without `.gz`). `None` for other extensions.
    pub fn of_name(name: &str) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        let plain = lower.strip_suffix(".gz").unwrap_or(&lower);
        let (_, end) = plain.rsplit_once('.')?;
        Self::WRITTEN.into_iter().find(|(known, _)| *known == end).map(|(_, form)| form)
    }

    /// The form of a kind of file; that of a table depends on its delimiter.
    pub fn of_kind(kind: FileKind, grid: Option<&Grid>) -> Self {
        match (kind, grid.and_then(|grid| grid.delimiter)) {
            (FileKind::Urlset | FileKind::Index, _) => Self::Xml,
            (FileKind::List, _) => Self::List,
            (FileKind::Table, Some(b'\t')) => Self::Tsv,
            (FileKind::Table, _) => Self::Csv,
        }
    }

    /// Its name with an article, for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Xml => "an XML sitemap",
            Self::List => "a text list",
            Self::Csv => "a CSV table",
            Self::Tsv => "a TSV table",
            Self::Feed(feed) => feed.name(),
        }
    }

    /// Whether it can hold a field.
    pub const fn holds(self, field: Field) -> bool {
        !matches!((self, field), (Self::List, Field::Lastmod | Field::Changefreq | Field::Priority))
    }

    /// Whether it can hold extensions such as images and videos.
    pub const fn holds_extensions(self) -> bool {
        matches!(self, Self::Xml)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_of_a_name_gives_the_form() {
        let table = [
            ("a.xml", Some(Form::Xml)),
            ("a.XML.gz", Some(Form::Xml)),
            ("a.txt", Some(Form::List)),
            ("a.csv.gz", Some(Form::Csv)),
            ("a.tsv", Some(Form::Tsv)),
            ("a.gz", None),
            ("xml", None),
            ("a.rss", None),
        ];
        for (name, expected) in table {
            assert_eq!(Form::of_name(name), expected, "{name}");
        }
    }
}
