//! Tests that reading an entry without findings allocates nothing.

use super::measure::measure;
use sited::check::Context;
use sited::check::Profile;
use sited::check::entry_reader::EntryReader;
use sited::check::set::Link;
use sited::progress::Progress;
use sited::xml::entry::Entry;
use sited::xml::names::Names;
use sited::xml::scan::{Ignore, ParsedEntry, Visit, scan};

/// Noon of 20 November 2026, UTC.
const NOW: i64 = 1_795_176_000;

/// Reads each entry as `check` does; its alternate links are forgotten.
struct Reading {
    reader: EntryReader,
    links: Vec<Link>,
    clean: usize,
}

impl Visit for Reading {
    fn entry(&mut self, _: &[u8], _: &Entry, _: &Names) {
        unreachable!("entries of a file are parsed with their elements");
    }

    fn parsed(&mut self, parsed: &ParsedEntry<'_>, names: &Names) {
        let context =
            Context { now: NOW, profile: Profile::Protocol, names, url_prefix: None, policy: None, site: None };
        self.links.clear();
        let read = self.reader.read(parsed, &context, &mut self.links, |_, _| {});
        self.clean += usize::from(read.rules.is_empty());
    }
}

/// For a file with `entries` of these entries: the bytes allocated by a scan, those by a scan with checks, and the
/// number of entries without findings.
fn allocated(entry: &dyn Fn(usize) -> String, entries: usize) -> (usize, usize, usize) {
    let entries: String = (0..entries).map(entry).collect();
    let text = format!(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
         xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\" \
         xmlns:video=\"http://www.google.com/schemas/sitemap-video/1.1\" \
         xmlns:news=\"http://www.google.com/schemas/sitemap-news/0.9\" \
         xmlns:xhtml=\"http://www.w3.org/1999/xhtml\">{entries}</urlset>"
    );
    // The first run makes one-time allocations.
    let allocated = |run: &mut (dyn FnMut() + Send)| [(); 2].map(|()| measure(text.len(), &mut *run).allocated)[1];
    let scanned = allocated(&mut || {
        scan(text.as_bytes(), &mut Ignore, &Progress::default());
    });
    let mut clean = 0;
    let read = allocated(&mut || {
        let mut reading = Reading { reader: EntryReader::default(), links: Vec::with_capacity(64), clean: 0 };
        scan(text.as_bytes(), &mut reading, &Progress::default());
        clean = reading.clean;
    });
    (scanned, read, clean)
}

#[test]
fn an_entry_without_findings_allocates_nothing() {
    const FEW: usize = 500;
    const MANY: usize = 4 * FEW;
    let links = |number: usize| {
        let codes = ["x-default", "en", "de", "fr", "pt-BR"];
        let link = |code: &str| {
            format!("<xhtml:link rel=\"alternate\" hreflang=\"{code}\" href=\"https://e.com/{code}/{number}\"/>")
        };
        format!("<loc>https://e.com/en/{number}</loc>{}", codes.map(link).concat())
    };
    let images = |number: usize| {
        let image = |at: usize| {
            format!("<image:image>\n<image:loc>https://cdn.e.com/{number}/{at}.jpg</image:loc>\n</image:image>\n")
        };
        format!("<loc>https://cdn.e.com/{number}</loc><lastmod>2026-10-01</lastmod>\n{}", [1, 2, 3].map(image).concat())
    };
    let news = |number: usize| {
        format!(
            "<loc>https://e.com/{number}</loc><news:news><news:publication><news:name>A</news:name>\
             <news:language>en</news:language></news:publication><news:publication_date>2026-11-20</news:publication_date>\
             <news:title><![CDATA[B & C]]></news:title></news:news>"
        )
    };
    let video = |number: usize| {
        format!(
            "<loc>https://e.com/{number}</loc><video:video><video:thumbnail_loc>https://e.com/t{number}.jpg\
             </video:thumbnail_loc><video:title><![CDATA[A]]></video:title><video:description>B</video:description>\
             <video:content_loc>https://e.com/v{number}.mp4</video:content_loc><video:duration>600</video:duration>\
             </video:video>"
        )
    };
    let plain = |number: usize| {
        format!("<loc>https://e.com/%C3%A9/{number}</loc><lastmod>2026-10-01</lastmod><priority>0.5</priority>")
    };
    let parameters = |number: usize| format!("<loc>https://e.com/%c3%a9?page={number}&amp;sort=up</loc>");
    let kinds: [(&str, &dyn Fn(usize) -> String); 6] = [
        ("plain", &plain),
        ("parameters", &parameters),
        ("images", &images),
        ("links", &links),
        ("news", &news),
        ("video", &video),
    ];
    for (kind, inside) in kinds {
        let entry = |number: usize| format!("<url>{}</url>\n", inside(number));
        let (scanned_few, read_few, clean_few) = allocated(&entry, FEW);
        let (scanned_many, read_many, clean_many) = allocated(&entry, MANY);
        assert_eq!((clean_few, clean_many), (FEW, MANY), "{kind}: the entries have findings");
        assert_eq!(read_many - scanned_many, read_few - scanned_few, "{kind}: each entry allocates");
    }
}
