//! Tests that the work on hostile files grows linearly with their length, by counters.

use super::*;
use crate::progress::work;

/// A root with the image extension, left open for attributes.
const ROOT: &str = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' \
                    xmlns:image='http://www.google.com/schemas/sitemap-image/1.1'";
const END: &str = "><url><loc>https://e.com/</loc></url></urlset>";

/// Work of a command on a file.
fn work_of(words: &str, text: &str) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.xml"), text).unwrap();
    work::of(|| {
        sited(&folder, words);
    })
}

fn many(n: usize, thing: &str) -> String {
    let mut text = String::new();
    (0..n).for_each(|number| text.push_str(&thing.replace("{n}", &number.to_string())));
    text
}

#[test]
fn work_grows_with_the_length_of_the_file() {
    let entry = |inside: String| format!("{ROOT}><url>{inside}</url></urlset>");
    let attributes = |inside: String| format!("{ROOT}{inside}{END}");
    let shapes: [(&str, &dyn Fn(usize) -> String); 17] = [
        ("cells of a line without URLs", &|n| many(n, "&foo;")),
        ("cells of a line of URLs", &|n| many(n, "https://e.com/{n};")),
        ("locs", &|n| entry(many(n, "<loc>https://e.com/{n}</loc>"))),
        ("attributes of the root", &|n| attributes(many(n, " a{n}='1'"))),
        ("attributes of the root without values", &|n| attributes(many(n, " a{n}"))),
        ("prefixes", &|n| attributes(many(n, " xmlns:p{n}='u'"))),
        ("prefixes of one extension", &|n| {
            attributes(many(n, " xmlns:i{n}='http://www.google.com/schemas/sitemap-image/1.1'"))
        }),
        ("prefixes of the root that nothing declares", &|n| attributes(many(n, " p{n}:a='1'"))),
        ("prefixes of an entry that nothing declares", &|n| format!("{ROOT}><url{}{END}", many(n, " p{n}:a='1'"))),
        ("prefixes, each used", &|n| format!("{ROOT}{}>{}</urlset>", many(n, " xmlns:p{n}='u'"), many(n, "<p{n}:a/>"))),
        ("prefixes, and entries that declare one", &|n| {
            let entries = many(n, "<url xmlns:q='u'><loc>https://e.com/{n}</loc></url>");
            format!("{ROOT}{}>{entries}</urlset>", many(n, " xmlns:p{n}='u'"))
        }),
        ("declarations inside each other, and as many uses", &|n| {
            let (open, used) = (many(n, "<a xmlns:p{n}='u'>"), many(n, "<p{n}:b/>"));
            entry(format!("<loc>https://e.com/</loc>{open}{used}{}", many(n, "</a>")))
        }),
        ("attributes beside a declaration, and elements inside", &|n| {
            entry(format!("<loc>https://e.com/</loc><a xmlns:p='u'{}>{}</a>", many(n, " a{n}='1'"), many(n, "<q:b/>")))
        }),
        ("roots that declare prefixes", &|n| format!("{ROOT}>{}</urlset>", many(n, "<urlset xmlns:p{n}='u'>"))),
        ("attributes of an image", &|n| {
            entry(format!("<loc>https://e.com/</loc><image:image{}/>", many(n, " a{n}='1'")))
        }),
        ("entries of an index whose date and URL are wrong", &|n| {
            let entries = many(n, "<sitemap><loc>e.com</loc><lastmod>x</lastmod></sitemap>");
            format!("{}>{entries}</sitemapindex>", ROOT.replace("urlset", "sitemapindex"))
        }),
        ("images of an entry of an index", &|n| {
            let images = many(n, "<image:image/>");
            format!(
                "{}><sitemap><loc>https://e.com/b.xml</loc>{images}</sitemap></sitemapindex>",
                ROOT.replace("urlset", "sitemapindex")
            )
        }),
    ];
    let mut wrong = Vec::new();
    for (what, text) in shapes {
        let tasks = [
            "check DIR/a.xml",
            "fix --dry-run DIR/a.xml",
            "fix --dry-run --rule ext-* DIR/a.xml",
            "list --format jsonl DIR/a.xml",
        ];
        for words in tasks {
            let [n, twice, fourfold] = [200, 400, 800].map(|n| work_of(words, &text(n)));
            let (first, second) = (twice.saturating_sub(n), fourfold.saturating_sub(twice));
            // A fixed cost may appear in one of the two steps.
            if n == 0 || (second * 10 > first * 26 && fourfold * 10 > n * 55) {
                wrong.push(format!("{words}: many {what}: {n}, {twice}, {fourfold}"));
            }
        }
    }
    assert!(wrong.is_empty(), "work grows faster than the file: {wrong:#?}");
}
