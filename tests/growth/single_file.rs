//! Tests of the growth of time and memory in one file.

#[path = "../fuzz/many.rs"]
mod many;

use crate::measure::{Cost, MAX_ONE_TIME_BYTES, assert_linear, measure, run};
use flate2::{Compression, write::GzEncoder};
use many::{NS, repeated};
use std::fs;
use std::io::Write;
use std::path::Path;

/// Maximum number of bytes held per byte of input, in addition to [`MAX_FIXED_BYTES`].
const MAX_BYTES_PER_BYTE: usize = 16;
const MAX_FIXED_BYTES: usize = 64 << 20;

const URLSET: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">";
const INDEX: &str = "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">";

/// The cost of `words` on a file with this text.
fn cost(words: &str, text: &str) -> Cost {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sitemap.xml");
    fs::write(&path, text).unwrap();
    measure(text.len(), || run(words, &path))
}

/// Asserts that the cost of `words` grows linearly on the files that `text` returns for n, 2n and 4n.
fn linear(words: &str, n: usize, most: usize, text: impl Fn(usize) -> String) {
    // The first run is not measured, because of its one-time allocations.
    cost(words, &text(n));
    assert_linear(words, [1, 2, 4].map(|times| cost(words, &text(n * times))), most);
}

/// Asserts that the cost of each command grows linearly with the repetitions of `thing` at a position.
fn linear_at(commands: &[&str], n: usize, thing: &str, place: (&str, &str)) {
    for words in commands {
        cost(words, &repeated(thing, place, n));
        assert_linear(
            &format!("{words}: {thing} between {place:?}"),
            [1, 2, 4].map(|times| cost(words, &repeated(thing, place, n * times))),
            // A message and its position for each repetition.
            400,
        );
    }
}

const ALL: [&str; 4] = ["check", "fix --dry-run", "list", "set --dry-run lastmod=2026-01-01"];

#[test]
fn locs_in_one_entry() {
    linear_at(&ALL, 1_000, "<loc>https://e.com/{n}</loc>", ("ROOT<url>", "</url></urlset>"));
    linear_at(&ALL, 1_000, "<loc/>", ("ROOT<url>", "</url></urlset>"));
}

#[test]
fn attributes_of_the_root() {
    let entry = (
        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'",
        "><url><loc>https://e.com/</loc></url></urlset>",
    );
    for attribute in
        [" a{n}='1'", " a{n}", " xmlns:p{n}='u{n}'", " xmlns:i{n}='http://www.google.com/schemas/sitemap-image/1.1'"]
    {
        linear_at(&["check", "fix --dry-run"], 1_000, attribute, entry);
    }
}

#[test]
fn roots_that_declare_other_prefixes() {
    linear_at(&["check"], 1_000, "<urlset xmlns:p{n}='u{n}'>", ("ROOT", "</urlset>"));
}

#[test]
fn extensions_of_an_entry_of_an_index() {
    let place = (
        "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><sitemap><loc>https://e.com/a.xml</loc>",
        "</sitemap></sitemapindex>",
    );
    linear_at(&["check"], 1_000, "<image:image xmlns:image='http://www.google.com/schemas/sitemap-image/1.1'/>", place);
}

/// `diff` of two files; the second has one repetition less.
#[test]
fn extensions_that_differ() {
    let place = ("ROOT<url><loc>https://e.com/</loc>", "</url></urlset>");
    let attributes = ("ROOT<url><loc>https://e.com/</loc><a", "/></url></urlset>");
    let shapes =
        [("<a>", place), ("<a/>", place), ("<image:image>", place), ("<a b='{n}'/>", place), (" a{n}='1'", attributes)];
    for (thing, place) in shapes {
        let cost = |times: usize| {
            let folder = tempfile::tempdir().unwrap();
            let [old, new] = ["old.xml", "new.xml"].map(|name| folder.path().join(name));
            let text = repeated(thing, place, times);
            fs::write(&old, &text).unwrap();
            fs::write(&new, repeated(thing, place, times - 1)).unwrap();
            measure(2 * text.len(), || run(&format!("diff {}", old.display()), &new))
        };
        cost(1_000);
        assert_linear(&format!("diff of many {thing}"), [2_000, 4_000, 8_000].map(cost), 60);
    }
}

/// Each empty entry costs a row and a finding; damage in each tag costs nothing more.
#[test]
fn empty_entries_stay_within_the_memory_limit() {
    let feeds = [
        ("<rss version='2.0'><channel>", "</channel></rss>", "<item></item>"),
        ("<rss version='2.0'><channel>", "", "<item>"),
        ("<feed xmlns='http://www.w3.org/2005/Atom'>", "</feed>", "<entry></entry>"),
    ];
    let maps = [
        (URLSET, "</urlset>", "<url/>"),
        (URLSET, "", "<url>"),
        (URLSET, "", "<url><"),
        (INDEX, "</sitemapindex>", "<sitemap/>"),
    ];
    for (before, after, thing) in feeds.into_iter().chain(maps) {
        let text = repeated(thing, (before, after), 150_000);
        let cost = cost("check", &text);
        assert!(cost.peak <= MAX_BYTES_PER_BYTE * cost.input + MAX_FIXED_BYTES, "{thing}: {cost:?}");
    }
}

/// A trial of a fix copies an index without the states of its entries.
#[test]
fn empty_entries_of_an_index() {
    linear("check", 50_000, MAX_BYTES_PER_BYTE, |n| repeated("<sitemap/>", (INDEX, "</sitemapindex>"), n));
}

/// Formats that begin with totals store their findings in a temporary file until all are known.
#[test]
fn findings_in_formats_with_totals() {
    let text = |n: usize| repeated("<url/>", (URLSET, "</urlset>"), n);
    for format in ["sarif", "junit"] {
        linear(&format!("check --format {format}"), 5_000, MAX_BYTES_PER_BYTE, text);
    }
}

#[test]
fn one_url_repeated_in_a_gzip() {
    let costs = [1, 2, 4].map(|times| {
        let folder = tempfile::tempdir().unwrap();
        let text =
            repeated("<url><loc>https://example.com/some/page</loc></url>\n", (URLSET, "</urlset>\n"), 20_000 * times);
        let path = folder.path().join("sitemap.xml.gz");
        packed(&path, text.as_bytes());
        measure(text.len(), || run("check", &path))
    });
    assert_linear("one URL", costs, 6);
}

fn packed(path: &Path, text: &[u8]) {
    let mut gzip = GzEncoder::new(fs::File::create(path).unwrap(), Compression::fast());
    gzip.write_all(text).unwrap();
    gzip.finish().unwrap();
}

#[test]
fn a_plain_file() {
    let text = |n: usize| repeated("<url><loc>https://e.com/{n}</loc></url>\n", (URLSET, "</urlset>\n"), n);
    linear("check", 5_000, MAX_BYTES_PER_BYTE, text);
    assert!(URLSET.contains(NS));
}

/// Repeats constructs of the grammar at each position: quadratic memory would be several times the limit. Only every
/// third combination runs here; the target `many` of the fuzzer runs all.
#[test]
fn every_construct_at_every_position() {
    const TIMES: usize = 800;
    /// Maximum number of bytes allocated per repetition: several messages, each with a trial of its fix on the entry.
    const MAX_BYTES_EACH: usize = 64 << 10;
    for (thing, place) in many::shapes().step_by(3) {
        let cost = cost("check", &repeated(thing, place, TIMES));
        assert!(
            cost.allocated <= MAX_ONE_TIME_BYTES + MAX_BYTES_EACH * TIMES,
            "many {thing:?} between {place:?}: {cost:?}"
        );
    }
}
