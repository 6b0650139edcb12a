//! Tests of the growth of time and memory: many alternate links, linked pages, and files.

use crate::measure::{Cost, assert_linear, measure};
use clap::Parser;
use sited::cli::{self, Env, Next, args};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Maximum number of bytes held per byte of input.
const MAX_BYTES_PER_BYTE: usize = 16;

const NS: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";
const XHTML: &str = "http://www.w3.org/1999/xhtml";
const SITE: &str = "https://e.com/";

fn urlset(urls: &str) -> String {
    let xhtml = if urls.contains("<xhtml:") { format!(" xmlns:xhtml=\"{XHTML}\"") } else { String::new() };
    format!("<urlset xmlns=\"{NS}\"{xhtml}>\n{urls}</urlset>\n")
}

fn url(loc: &str, inside: &str) -> String {
    format!("<url><loc>{SITE}{loc}</loc>{inside}</url>\n")
}

fn link(code: &str, page: &str) -> String {
    format!("<xhtml:link rel=\"alternate\" hreflang=\"{code}\" href=\"{SITE}{page}\"/>")
}

/// The n-th language code.
fn language(n: usize) -> String {
    let letter = |n: usize| char::from(b'a' + (n % 26) as u8);
    format!("{}{}", letter(n), letter(n / 26))
}

/// The texts of `each` for 0 to n - 1, concatenated.
fn many(n: usize, each: impl Fn(usize) -> String) -> String {
    (0..n).fold(String::new(), |mut all, number| {
        let _ = write!(all, "{}", each(number));
        all
    })
}

/// Runs a command line in this process, with `PATH` replaced by `path`.
fn run(words: &str, path: &Path) {
    let path = path.to_str().unwrap();
    let words = ["sited"].into_iter().chain(words.split(' ')).map(|word| word.replace("PATH", path));
    let line = args::Cli::try_parse_from(words).unwrap();
    let result = cli::run(&line, Env::default(), &mut std::io::sink(), &mut std::io::sink());
    assert!(matches!(result, Next::End(_)), "no screen is asked for");
}

/// Asserts that the cost of commands grows linearly on sets of n, 2n and 4n. `make` writes a set to a folder and
/// returns its size in bytes.
fn linear(tasks: &[&str], sizes: [usize; 3], make: impl Fn(&Path, usize) -> usize) {
    for words in tasks {
        let cost = |size: usize| {
            let folder = tempfile::tempdir().unwrap();
            let input = make(folder.path(), size);
            measure(input, || run(words, folder.path()))
        };
        // The first run is not measured, because of its one-time allocations.
        cost(sizes[0]);
        let costs: [Cost; 3] = sizes.map(cost);
        assert_linear(words, costs, MAX_BYTES_PER_BYTE);
    }
}

/// [`linear`] for sets of one file.
fn linear_file(tasks: &[&str], sizes: [usize; 3], text: impl Fn(usize) -> String) {
    linear(tasks, sizes, |folder, size| {
        let text = text(size);
        fs::write(folder.join("sitemap.xml"), &text).unwrap();
        text.len()
    });
}

/// [`linear`] for an index and its children.
fn linear_index(tasks: &[&str], sizes: [usize; 3], child: impl Fn(usize) -> Option<String>) {
    linear(tasks, sizes, |folder, size| {
        let entry = |number| format!("<sitemap><loc>{SITE}s{number}.xml</loc></sitemap>\n");
        let index = format!("<sitemapindex xmlns=\"{NS}\">\n{}</sitemapindex>\n", many(size, entry));
        fs::write(folder.join("sitemap.xml"), &index).unwrap();
        index.len() + write_children(folder, size, &child)
    });
}

fn write_children(folder: &Path, count: usize, child: impl Fn(usize) -> Option<String>) -> usize {
    let write = |number: usize| {
        let text = child(number)?;
        fs::write(folder.join(format!("s{number}.xml")), &text).unwrap();
        Some(text.len())
    };
    (0..count).filter_map(write).sum()
}

fn doubled(n: usize) -> [usize; 3] {
    [n, 2 * n, 4 * n]
}

/// Sizes for inputs with a quadratic number of links, where twice as many pages give four times the input.
fn doubled_square(n: usize) -> [usize; 3] {
    [n, n * 1_414 / 1_000, 2 * n]
}

const FIX_LINKS: [&str; 4] = [
    "fix PATH --dry-run --rule hreflang-no-return",
    "fix PATH --dry-run --rule hreflang-self-missing",
    "fix PATH --dry-run --rule hreflang-set-differs",
    "fix PATH --dry-run --rule hreflang-target-missing",
];

#[test]
fn a_hub_with_returning_alternates() {
    let hub = |n: usize, own: &str, back: &str| {
        let links = many(n, |page| link("de", &format!("p{page}")));
        let pages = many(n, |page| url(&format!("p{page}"), back));
        urlset(&(url("hub", &(own.to_owned() + &links)) + &pages))
    };
    let itself = link("en", "hub");
    linear_file(&["check PATH", "fix PATH --dry-run --rule hreflang-*"], doubled(100), |n| hub(n, &itself, &itself));
    linear_file(&FIX_LINKS, doubled(100), |n| hub(n, &itself, &itself));
    // A hub that does not list itself, pages that do not list it, pages that list nothing.
    linear_file(&FIX_LINKS, doubled(100), |n| hub(n, "", &itself));
    linear_file(&FIX_LINKS, doubled(100), |n| hub(n, &itself, &link("de", "other")));
    linear_file(&FIX_LINKS, doubled(100), |n| hub(n, &itself, ""));
}

/// `check` takes the same CPU time per link: 16, 14 and 12 µs in a release build with 100, 200 and 400 pages, which
/// have 10,000, 40,000 and 160,000 links.
#[test]
fn pages_that_all_link_each_other() {
    let pages = |n: usize, language: &dyn Fn(usize) -> String, leaves_out: &dyn Fn(usize) -> usize| {
        let links = |page: usize| {
            let others = (0..n).filter(|other| *other != leaves_out(page));
            others.map(|other| link(&language(other), &format!("p{other}"))).collect::<String>()
        };
        urlset(&many(n, |page| url(&format!("p{page}"), &links(page))))
    };
    let one = |_| "en".to_owned();
    linear_file(&["check PATH"], doubled_square(60), |n| pages(n, &one, &|_| n));
    linear_file(&["check PATH"], doubled_square(60), |n| pages(n, &one, &|page| page));
    let tasks = ["check PATH", FIX_LINKS[0], FIX_LINKS[2]];
    linear_file(&tasks, doubled_square(30), |n| pages(n, &language, &|page| (page + 1) % n));
}

#[test]
fn alternates_of_one_entry() {
    let page = |links: String| urlset(&url("", &(link("en", "") + &links)));
    // More links than the number of rows that a fix may add.
    let tasks = ["check PATH", "fix PATH --dry-run", "fix PATH --dry-run --rule hreflang-*"];
    linear_file(&tasks, doubled(600), |n| page(many(n, |other| link("de", &format!("p{other}")))));
    linear_file(&tasks, doubled(600), |n| page(many(n, |other| link(&language(other), &format!("p{other}")))));
    linear_file(&tasks, doubled(600), |n| page(many(n, |_| link("en", ""))));
    linear_file(&tasks, doubled(600), |n| page(many(n, |other| link("x-default", &format!("p{other}")))));
    // Each link is invalid.
    let odd = |_| "<xhtml:link rel=\"alternate\" hreflang=\"en_us\" href=\"/p\"/>".to_owned();
    linear_file(&tasks, doubled(600), |n| page(many(n, odd)));
}

#[test]
fn rows_of_one_url() {
    let rows = |n: usize| {
        let own = |page: usize| link("en", "p") + &link("de", &format!("d{page}"));
        urlset(&(many(n, |page| url("p", &own(page))) + &many(n, |page| url(&format!("d{page}"), &own(page)))))
    };
    // Enough rows to reach the maximum number of trials, so that more rows cause no further ones.
    let tasks = ["check PATH", "fix PATH --dry-run --rule set-duplicate", "fix PATH --dry-run --rule hreflang-*"];
    linear_file(&tasks, doubled(210), rows);
}

#[test]
fn rows_of_spellings_of_one_url() {
    let spellings = |n: usize| {
        let letter = |row: usize, bit: usize| if row >> bit & 1 == 1 { "%7e" } else { "~" };
        urlset(&many(n, |row| url(&(0..12).map(|bit| letter(row, bit)).collect::<String>(), "")))
    };
    linear_file(&["check PATH", "fix PATH --dry-run --rule set-duplicate-equivalent"], doubled(300), spellings);
}

#[test]
fn a_folder_of_files_without_an_index() {
    let tasks = [
        "check PATH",
        "list PATH",
        "stats PATH",
        "fix PATH --dry-run",
        "set PATH lastmod=today --dry-run",
        "dedupe PATH --dry-run",
        "diff PATH PATH",
    ];
    let page = |number: usize| urlset(&url(&format!("p{number}"), ""));
    linear(&tasks, doubled(200), |folder, size| write_children(folder, size, |number| Some(page(number))));
    let same = ["dedupe PATH --dry-run", "fix PATH --dry-run --rule set-duplicate-across-files"];
    linear(&same, doubled(100), |folder, size| write_children(folder, size, |_| Some(page(0))));
}

#[test]
fn an_index_of_children() {
    let tasks =
        ["check PATH", "fix PATH --dry-run --allow-missing", "fix PATH --dry-run --allow-missing --rule index-*"];
    linear_index(&tasks, doubled(1_000), |_| None);
    linear_index(&tasks, doubled(200), |_| Some(urlset("")));
    let tasks = [
        "set PATH lastmod=today --dry-run",
        "replace PATH e.com e.org --dry-run",
        "remove PATH --where loc:p --dry-run",
        "sort PATH loc --dry-run",
        "stats PATH",
    ];
    linear_index(&tasks, doubled(200), |number| Some(urlset(&url(&format!("p{number}"), ""))));
    linear_index(&["dedupe PATH --dry-run"], doubled(200), |_| Some(urlset(&url("p", ""))));
}

#[test]
fn an_index_in_many_files() {
    let make = |folder: &Path, size: usize| {
        let write = |number: usize| {
            let name = if number == 0 { "sitemap.xml".to_owned() } else { format!("sitemap-{}.xml", number + 1) };
            let entry = format!("<sitemap><loc>{SITE}s{number}.xml</loc></sitemap>");
            let index = format!("<sitemapindex xmlns=\"{NS}\">\n{entry}</sitemapindex>\n");
            fs::write(folder.join(name), &index).unwrap();
            index.len()
        };
        let indexes: usize = (0..size).map(write).sum();
        indexes + write_children(folder, size, |number| Some(urlset(&url(&format!("p{number}"), ""))))
    };
    linear(&["check PATH", "set PATH lastmod=today --dry-run"], doubled(200), make);
}

/// A merge does not search all prefixes or roots for each row.
#[test]
fn sets_with_many_declarations_are_merged() {
    let merge =
        ["merge PATH/a.xml PATH/b.xml -o PATH/out.xml --dry-run", "merge PATH/a.xml PATH/b.xml -o PATH/out --dry-run"];
    let file = |n: usize, declaration: &str, extension: &str| {
        let numbered = |text: &str, number: usize| text.replace("{n}", &number.to_string());
        let rows = many(n, |row| url(&format!("p{row}"), &numbered(extension, row)));
        format!("<urlset xmlns=\"{NS}\"{}>\n{rows}</urlset>\n", many(n, |number| numbered(declaration, number)))
    };
    let shapes = [
        // Many prefixes for one namespace, the same prefixes, and prefixes with two meanings.
        (" xmlns:p{n}='u'", " xmlns:q{n}='u'", ""),
        (" xmlns:p{n}='u{n}'", " xmlns:p{n}='u{n}' b{n}=''", ""),
        (" xmlns:p{n}='u{n}'", " xmlns:p{n}='v{n}'", "<p{n}:a/>"),
    ];
    for (first, second, other) in shapes {
        linear(&merge, doubled(200), |folder, size| {
            let files = [file(size, first, "<p{n}:a/>"), file(size, second, other)];
            fs::write(folder.join("a.xml"), &files[0]).unwrap();
            fs::write(folder.join("b.xml"), &files[1]).unwrap();
            files.iter().map(String::len).sum()
        });
    }
    // Each file writes the elements of the protocol with another prefix.
    linear(&["merge PATH -o PATH/out --dry-run"], doubled(100), |folder, size| {
        let root = |number| {
            format!(
                "<s{number}:urlset xmlns:s{number}=\"{NS}\"><s{number}:url><s{number}:loc>{SITE}{number}</s{number}:loc></s{number}:url></s{number}:urlset>"
            )
        };
        write_children(folder, size, |number| Some(root(number)))
    });
}
