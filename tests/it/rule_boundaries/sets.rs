//! Boundaries of the rules for sets and indexes (rule catalogue, sections 6 and 8).

use super::{Files, NS, Pair, ROOT, declaring, file, pair, sitemap, url, urls};

fn locs(locs: &[&str]) -> Files {
    file(sitemap(&locs.iter().map(|loc| url(loc, "")).collect::<String>()))
}

/// A sitemap of one row per value, each with this field.
fn rows<'v>(name: &str, values: impl IntoIterator<Item = &'v str>) -> Files {
    let entry = |(row, value): (usize, &str)| url(&format!("{ROOT}{row}"), &format!("<{name}>{value}</{name}>"));
    file(sitemap(&values.into_iter().enumerate().map(entry).collect::<String>()))
}

pub(super) fn pairs() -> Vec<Pair> {
    let mut pairs = sets();
    pairs.extend(indexes());
    pairs
}

fn sets() -> Vec<Pair> {
    let a = "https://www.site-a.org/a";
    let two = |one: &str, other: &str| locs(&[one, other]);
    let equivalent =
        |one: &str, other: &str, valid: &str| pair("set-duplicate-equivalent W", two(one, other), two(one, valid));
    let near = |one: &str, other: &str, valid: &str| pair("set-duplicate-near I", two(one, other), two(one, valid));
    let slashes = |with: usize, without: usize| {
        let style = |row: usize| if row < with { "/" } else { "" };
        file(urls(with + without, |row| url(&format!("{ROOT}{row}{}", style(row)), "")))
    };
    let sections = || {
        let path = |row: usize| if row < 9 { format!("{row}/") } else { format!("{}/{row}", row % 9) };
        file(urls(100, |row| url(&format!("{ROOT}{}", path(row)), "")))
    };
    let dates = |same: usize, days: usize| {
        let days: Vec<String> = (1..=days).map(|day| format!("2026-04-{day:02}")).collect();
        rows("lastmod", std::iter::repeat_n("2026-05-10", same).chain(days.iter().map(String::as_str)))
    };
    let undated = |dated: usize, all: usize| {
        let entry = |row: usize| {
            let date = if row < dated { format!("<lastmod>2026-04-{:02}</lastmod>", row + 1) } else { String::new() };
            url(&format!("{ROOT}{row}"), &date)
        };
        file(urls(all, entry))
    };
    let news = "<news:news><news:publication><news:name>N</news:name><news:language>de</news:language></news:publication>\
                <news:publication_date>2026-11-19</news:publication_date><news:title>T</news:title></news:news>";
    let with_news = |news_rows: usize, all: usize| {
        let entry = |row: usize| url(&format!("{ROOT}{row}"), if row < news_rows { news } else { "" });
        let entries: String = (0..all).map(entry).collect();
        file(declaring("xmlns:news=\"http://www.google.com/schemas/sitemap-news/0.9\"", &entries))
    };
    vec![
        pair("set-duplicate W", two(a, " https://www.site-a.org/a\n"), two(a, "https://www.site-a.org/A")),
        pair(
            "set-duplicate W",
            two("https://a.org/?a&amp;b", "https://a.org/?a&#38;b"),
            two(a, "https://www.site-a.org/%61"),
        ),
        equivalent("https://a.org/%c3%a9", "https://a.org/%C3%A9", "https://a.org/%C3%AA"),
        equivalent("https://a.org/a", "HTTPS://A.org:443/b/../a#c", "https://a.org:444/a"),
        equivalent("https://a.org/a", "https://a.org/%61", "https://a.org/a%2F"),
        equivalent("https://b\u{fc}cher.de/", "https://xn--bcher-kva.de", "https://xn--bcher-kva.de/a"),
        equivalent("https://a.org/?a=b", "https://a.org?a=b", "https://a.org/?a=B"),
        near("https://a.org/a", "https://a.org/a/", "https://a.org/a/a"),
        near("https://a.org/", "https://a.org/index.php", "https://a.org/index.txt"),
        near("https://a.org/?a=1&amp;b=2", "https://a.org/?b=2&amp;a=1&amp;utm_source=c", "https://a.org/?a=2&amp;b=1"),
        pair("set-mixed-scheme W", two(a, "http://www.site-a.org/b"), two(a, "https://www.site-a.org/b")),
        pair("set-mixed-www W", two(a, "https://site-a.org/b"), two(a, "https://shop.site-a.org/b")),
        pair("set-duplicate W", two(a, a), two(a, "https://www.site-a.org/b")).with_profile("google"),
        pair("set-mixed-host E", two(a, "https://shop.site-a.org/b"), two(a, "https://WWW.site-a.org/b"))
            .with_profile("yandex"),
        pair("set-mixed-host W", two(a, "https://shop.site-a.org/b"), two(a, "https://WWW.site-a.org/b")),
        pair("set-mixed-port E", two(a, "https://www.site-a.org:8443/b"), two(a, "https://www.site-a.org:443/b")),
        pair("loc-template-residue W", two(a, "https://shop.example.com/b"), locs(&["https://shop.example.com/b"])),
        pair("set-mixed-slash I", slashes(91, 9), slashes(90, 10)),
        // URLs of sections end in a slash; URLs of their pages do not.
        pair("set-mixed-slash I", slashes(9, 91), sections()),
        pair("set-lastmod-identical W", dates(20, 0), dates(19, 0)),
        pair("set-lastmod-identical W", dates(21, 0), dates(20, 1)),
        pair("set-lastmod-generated W", dates(17, 4), dates(16, 4)),
        pair("set-lastmod-sparse I", undated(2, 5), undated(2, 4)),
        pair("set-priority-identical I", rows("priority", ["0.5"; 10]), rows("priority", ["0.5", "0.6"])),
        pair("set-priority-identical I", rows("priority", ["0.5"; 2]), rows("priority", ["0.5"])),
        pair(
            "set-priority-all-high I",
            rows("priority", ["1.0", "1", "0.5"]),
            rows("priority", ["1.0", "1", "0.5", "0.4"]),
        ),
        pair("set-news-mixed I", with_news(1, 2), with_news(2, 2)),
        pair("news-limit E", with_news(1_001, 1_001), with_news(1_000, 1_001)),
    ]
}

/// An index with these entries, and the files beside it.
fn index(children: &[String], beside: &[(&str, String)]) -> Files {
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sitemapindex xmlns=\"{NS}\">\n{}\n</sitemapindex>\n",
        children.concat()
    );
    let beside = beside.iter().map(|(name, text)| ((*name).to_owned(), text.clone().into_bytes()));
    std::iter::once(("sitemap.xml".to_owned(), text.into_bytes())).chain(beside).collect()
}

fn child(loc: &str, rest: &str) -> String {
    format!("<sitemap><loc>{loc}</loc>{rest}</sitemap>")
}

/// An index of files with these numbers of URLs.
fn filled(files: &[usize]) -> Files {
    let names: Vec<String> = (0..files.len()).map(|number| format!("{number}.xml")).collect();
    let entries = |file: usize, count: usize| {
        (0..count).map(|number| url(&format!("{ROOT}{file}/{number}"), "")).collect::<String>()
    };
    let texts = files.iter().enumerate().map(|(file, count)| sitemap(&entries(file, *count)));
    let beside: Vec<(&str, String)> = names.iter().map(String::as_str).zip(texts).collect();
    index(&names.iter().map(|name| child(&format!("{ROOT}{name}"), "")).collect::<Vec<_>>(), &beside)
}

fn indexes() -> Vec<Pair> {
    let part = |name: &str| sitemap(&url(&format!("{ROOT}{name}"), "<lastmod>2026-05-10T12:00:00Z</lastmod>"));
    let both = [("a.xml", part("a")), ("b.xml", part("b"))];
    let at = |name: &str| child(&format!("{ROOT}{name}"), "");
    // The first child is valid.
    let with = |second: String| index(&[at("a.xml"), second], &both);
    let valid = || with(at("b.xml"));
    let listing = |name: &str| String::from_utf8(index(&[at(name)], &[])[0].1.clone()).unwrap();
    let beside = |extra: (&'static str, String)| [both[0].clone(), both[1].clone(), extra];
    let dated = |date: &str| with(child(&format!("{ROOT}b.xml"), &format!("<lastmod>{date}</lastmod>")));
    let many =
        |children: usize| index(&(0..children).map(|child| at(&format!("{child}.xml"))).collect::<Vec<_>>(), &[]);
    let nested = |indexes: usize| {
        let names: Vec<String> = (0..indexes).map(|number| format!("n{number}.xml")).collect();
        let children: Vec<String> = names.iter().map(|name| at(name)).collect();
        let inner: Vec<(&str, String)> = names.iter().map(|name| (name.as_str(), listing("a.xml"))).collect();
        index(&children, &[inner, vec![("a.xml", part("a"))]].concat())
    };
    let served: &[&str] = &["--base-url", "https://www.site-a.org/maps/"];
    let quiet: &[&str] = &["--ignore", "index-child-missing"];
    // A child whose lastmod is that of its newest page, with an additional undated page.
    let of_pages = |undated: &str| {
        let text = part("b").replace("</urlset>", &format!("{undated}</urlset>"));
        let dated = child(&format!("{ROOT}b.xml"), "<lastmod>2026-05-10T12:00:00Z</lastmod>");
        index(&[at("a.xml"), dated], &[("a.xml", part("a")), ("b.xml", text)])
    };
    vec![
        pair("index-too-many E", many(50_001), many(50_000)).with_arguments(quiet),
        pair("index-too-many E", many(1_001), many(1_000)).with_profile("legacy-0.84").with_arguments(quiet),
        pair("index-nested W", index(&[at("a.xml"), at("n.xml")], &beside(("n.xml", listing("b.xml")))), valid()),
        pair("index-nested E", index(&[at("a.xml"), at("n.xml")], &beside(("n.xml", listing("b.xml")))), valid())
            .with_profile("google"),
        pair("index-self E", with(at("sitemap.xml")), valid()),
        pair("index-cycle E", index(&[at("a.xml"), at("n.xml")], &beside(("n.xml", listing("sitemap.xml")))), valid()),
        pair("index-child-duplicate W", index(&[at("a.xml"), at("b.xml"), at("b.xml")], &both), valid()),
        pair(
            "index-child-host E",
            with(child("https://www.site-a.org:8443/b.xml", "")),
            with(child("https://WWW.site-a.org:443/b.xml", "")),
        ),
        pair("index-child-host E", with(child("http://www.site-a.org/b.xml", "")), valid()).with_profile("google"),
        pair(
            "index-child-path W",
            index(&[at("maps/a.xml"), at("b.xml")], &both),
            index(&[at("maps/a.xml"), at("maps/more/b.xml")], &both),
        )
        .with_arguments(served),
        pair("index-child-missing E", with(at("c.xml")), valid()),
        pair(
            "index-child-unlisted W",
            index(&[at("a.xml")], &both),
            index(&[at("a.xml")], &[("a.xml", part("a")), ("b.xml", "<b/>".to_owned())]),
        ),
        pair("index-child-empty W", index(&[at("a.xml"), at("e.xml")], &beside(("e.xml", sitemap("")))), valid()),
        pair("index-child-incomplete-url E", with(child("/b.xml", "")), valid()),
        pair(
            "index-extra-child W",
            with(child(&format!("{ROOT}b.xml"), "<priority>0.5</priority>")),
            dated("2026-05-10"),
        ),
        pair("index-lastmod-older W", dated("2026-05-10T13:59:59+02:00"), dated("2026-05-10T14:00:00+02:00")),
        pair("index-lastmod-older W", dated("2026-05-09"), dated("2026-05-10")),
        pair("index-lastmod-meaning I", of_pages(&url(&format!("{ROOT}c"), "")), of_pages("")),
        pair("index-single I", index(&[at("a.xml")], &both[..1]), valid()),
        pair("set-too-many-indexes I", nested(500), nested(499)),
        // Generators fill one file after the other, so only a full last file is near the limit.
        pair("file-near-limit I", filled(&[50_000, 45_001]), filled(&[50_000, 45_000])),
        pair(
            "set-duplicate-across-files W",
            index(&[at("a.xml"), at("b.xml")], &[("a.xml", part("a")), ("b.xml", part("a"))]),
            locs(&["https://a.org/a", "https://a.org/a"]),
        ),
    ]
}
