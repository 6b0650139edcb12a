//! Parses the text of one entry.

use super::entry::Entry;
use super::fast_path::{self, EntryBytes};
use super::markup::{self, Kind, Markup};
use super::names::Names;
use super::parser::Parser;

impl Entry {
    /// Parses an entry text, including leading whitespace and comments. Any text is accepted: without an entry tag the
    /// result has no fields and is flagged `Anomalies::BROKEN`.
    pub fn of(text: &[u8], names: &Names) -> Self {
        if let Some(grid) = &names.grid {
            return grid.entry(text);
        }
        match fast_path::start(text, 0, names) {
            Some(tag) => Self::from_tag(text, &tag, names, &mut Parser::quiet()),
            None => Self::walk(text, names),
        }
    }

    fn from_tag(text: &[u8], tag: &Markup, names: &Names, parser: &mut Parser) -> Self {
        let (entry, end) = parser.entry(&EntryBytes { bytes: text, lead: 0, names }, tag, b"");
        if end == text.len() { entry } else { Self { len: text.len() as u32, ..entry } }
    }

    pub(super) fn walk(text: &[u8], names: &Names) -> Self {
        let mut at = 0;
        let mut parser = Parser::quiet();
        while let Some(tag) = markup::next(text, at) {
            at = match tag.kind {
                Kind::Start | Kind::Empty if names.is_entry_tag(text, &tag) => {
                    return Self::from_tag(text, &tag, names, &mut parser);
                }
                Kind::Start => parser.skip_element(text, &tag),
                _ => tag.end,
            };
        }
        Self::broken(text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::names::FileKind;
    use crate::xml::scan::{Visit, scan};
    use proptest::prelude::*;

    /// Keeps the names of a file.
    struct RootNames(Option<Names>);

    impl Visit for RootNames {
        fn entry(&mut self, _: &[u8], _: &Entry, names: &Names) {
            self.0 = Some(names.clone());
        }
    }

    fn names() -> Names {
        let root = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
            xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\" xmlns:own=\"urn:own\" \
            xmlns:xhtml=\"http://www.w3.org/1999/xhtml\"><url><loc>https://e.com/</loc></url></urlset>";
        let mut found = RootNames(None);
        scan(root.as_bytes(), &mut found, &crate::progress::Progress::default());
        found.0.unwrap()
    }

    const PIECES: [&str; 46] = [
        "<loc lang=\"en\">https://e.com/b</loc>",
        "<lastmod a='1'>2026-01-01</lastmod>",
        "<changefreq><![CDATA[daily]]></changefreq>",
        "<loc>https://e.com/?a=1&amp;b<!-- c --></loc>",
        "<image:image=>",
        "<image:loc\"a\">",
        "<loc>https://e.com/a</loc>",
        "<lastmod>2026-01-01</lastmod>",
        "<priority>0.5</priority>",
        "<xhtml:link rel=\"alternate\" hreflang=\"de\" href=\"https://e.com/de\"/>",
        "<xhtml:link rel='alternate' hreflang=\"de\" href=\"a>b/>'\" />",
        "<xhtml:link></xhtml:link>",
        "<image:image>",
        "</image:image>",
        "<image:image >",
        "</image:image >",
        "<image:loc>",
        "</image:loc>",
        "<image:title><![CDATA[a </image:image> & b]]></image:title>",
        "<image:caption/>",
        "<image:image/>",
        "<image:loc xmlns:image=\"urn:own\">",
        "<image:image xmlns:image=\"urn:own\">",
        "<image:image a=\"1\"b=\"2\">",
        "<image:image a=1>",
        "<image:image a/>",
        "<image:image=\"a\">",
        "<image:imäge/>",
        "<own:note>",
        "</own:note>",
        "<video:video/>",
        "<other:x>",
        "</other:x>",
        "<plain>",
        "</plain>",
        "<!-- </image:image> -->",
        "<![CDATA[</image:image>]]>",
        "<![CDATA[",
        "<?pi?>",
        "text",
        " ",
        "\n",
        "&amp;",
        "<",
        ">",
        "\"",
    ];

    proptest! {
        #[test]
        fn the_fast_path_and_the_parser_give_the_same_entry(
            pieces in prop::collection::vec(0..PIECES.len(), 0..12), is_closed in any::<bool>(),
        ) {
            let names = names();
            let inside: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
            let text = format!("<url>{inside}{}", if is_closed { "</url>" } else { "" });
            let tag = markup::next(text.as_bytes(), 0).unwrap();
            let expected = Entry::from_tag(text.as_bytes(), &tag, &names, &mut Parser::thorough());
            prop_assert_eq!(Entry::of(text.as_bytes(), &names), expected, "{}", text);
        }
    }

    #[test]
    fn elements_of_extensions_are_skipped() {
        let names = names();
        assert_eq!(names.kind, FileKind::Urlset);
        let text = "<url><loc>https://e.com/a</loc>\n\
            <xhtml:link rel=\"alternate\" hreflang=\"de\" href=\"https://e.com/de\"/>\n\
            <image:image><image:loc>https://e.com/a.png</image:loc><image:title><![CDATA[</image:image>]]></image:title>\
            </image:image></url>";
        let mut entry = Entry::plain(0);
        for element in ["<xhtml:link", "<image:image"] {
            let at = text.find(element).unwrap();
            let inside = fast_path::EntryBytes { bytes: text.as_bytes(), lead: 0, names: &names };
            let end = fast_path::elements::skip(&inside, at, &mut entry).unwrap();
            assert!(text[..end].ends_with('>') && (text[end..].starts_with('\n') || &text[end..] == "</url>"), "{end}");
        }
        assert_eq!((entry.extensions.alternate, entry.extensions.image), (1, 1));
    }
}
