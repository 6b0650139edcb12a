//! Tests that written files are valid: random edits, splits and saves pass the official schemas.
//!
//! The schemas are in the folder that `SITED_SCHEMAS` names; without it these tests print that nothing was validated.

use crate::support::schema;
use proptest::prelude::*;
use proptest::sample::select;
use schema::{Judge, schemas};
use sited::check::rule::Rule;
use sited::files::Options;
use sited::progress::Progress;
use sited::protocol::Severity;
use sited::protocol::lastmod::Now;
use sited::protocol::limits::Limits;
use sited::session::command::parse;
use sited::session::edit::DefaultScope;
use sited::session::report;
use sited::session::state::vocabulary;
use sited::session::store::load;
use sited::session::store::save;
use std::path::Path;

const NOW: Now = Now { seconds: 1_795_000_000, offset: 0 };

const ROOT: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
    xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\" \
    xmlns:video=\"http://www.google.com/schemas/sitemap-video/1.1\" \
    xmlns:news=\"http://www.google.com/schemas/sitemap-news/0.9\" \
    xmlns:mobile=\"http://www.google.com/schemas/sitemap-mobile/1.0\" \
    xmlns:geo=\"http://www.google.com/geo/schemas/sitemap/1.0\" \
    xmlns:pagemap=\"http://www.google.com/schemas/sitemap-pagemap/1.0\" \
    xmlns:xhtml=\"http://www.w3.org/1999/xhtml\">";

/// Valid extensions, one of each kind and some with many elements.
const EXTENSIONS: [&str; 9] = [
    "<image:image><image:loc>https://e.com/i.jpg?a=1&amp;b=2</image:loc></image:image>",
    "<image:image>\n  <image:loc>https://e.com/j.jpg</image:loc>\n  <image:caption>A</image:caption>\n  <image:title>B</image:title>\n  <image:license>https://e.com/l</image:license>\n</image:image>",
    "<video:video><video:thumbnail_loc>https://e.com/t.jpg</video:thumbnail_loc><video:title>A</video:title><video:description><![CDATA[B & <b>C</b>]]></video:description><video:content_loc>https://e.com/v.mp4</video:content_loc></video:video>",
    "<video:video><video:thumbnail_loc>https://e.com/t.jpg</video:thumbnail_loc><video:title>A</video:title><video:description>B</video:description><video:player_loc allow_embed=\"yes\" autoplay=\"ap=1\">https://e.com/p</video:player_loc><video:duration>600</video:duration><video:expiration_date>2027-11-05T19:20:30+08:00</video:expiration_date><video:rating>4.2</video:rating><video:view_count>12345</video:view_count><video:publication_date>2007-11-05</video:publication_date><video:tag>a</video:tag><video:tag>b</video:tag><video:category>c</video:category><video:family_friendly>yes</video:family_friendly><video:restriction relationship=\"allow\">IE GB US</video:restriction><video:price currency=\"EUR\">1.99</video:price><video:requires_subscription>No</video:requires_subscription><video:uploader info=\"https://e.com/u\">D</video:uploader><video:platform relationship=\"deny\">web tv</video:platform><video:live>NO</video:live><video:id type=\"url\">x</video:id></video:video>",
    "<news:news><news:publication><news:name>N</news:name><news:language>en</news:language></news:publication><news:genres>Blog, OpEd</news:genres><news:publication_date>2026-11-19T10:00:00Z</news:publication_date><news:title>T</news:title><news:stock_tickers>NASDAQ:A, BSE:B</news:stock_tickers></news:news>",
    "<mobile:mobile/>",
    "<geo:geo><geo:format>kml</geo:format></geo:geo>",
    "<pagemap:PageMap><pagemap:DataObject type=\"t\"><pagemap:Attribute name=\"n\" value=\"v\"/></pagemap:DataObject></pagemap:PageMap>",
    "<xhtml:link rel=\"alternate\" hreflang=\"de\" href=\"https://e.com/de\"/><xhtml:link rel=\"alternate\" hreflang=\"x-default\" href=\"https://e.com/\"/>",
];

/// Extensions that the schemas reject and a safe fix makes valid.
const FIXABLE: [&str; 3] = [
    "<image:image><image:title>A</image:title><image:loc>https://e.com/k.jpg</image:loc></image:image>",
    "<video:video><video:title>A</video:title><video:thumbnail_loc>https://e.com/t.jpg</video:thumbnail_loc><video:description>B</video:description><video:content_loc>https://e.com/v.mp4</video:content_loc><video:live>true</video:live><video:restriction relationship=\"deny\">de, at</video:restriction></video:video>",
    "<news:news><news:title>T</news:title><news:publication><news:name>N</news:name><news:language>en-US</news:language></news:publication><news:publication_date>2026-11-19 10:00:00Z</news:publication_date></news:news>",
];

/// Commands that keep a valid set valid.
const EDITS: [&str; 24] = [
    "set lastmod=2026-11-01",
    "set lastmod=today where path:/1",
    "set priority=0.8",
    "set priority=none where path:/2",
    "set changefreq=weekly where has:image",
    "set changefreq=none lastmod=none where path:/3",
    "%s#/(\\d)$#/x&$1#",
    "sort loc",
    "apply-order",
    "delete where path:/5",
    "duplicate where path:/1",
    "add https://e.com/new?a=1&b=2",
    "ext add image loc=https://e.com/a.png?x=1&y=2 title=\"A & B\"",
    "ext set image[1]/title=\"Old harbour\" where has:image",
    "ext remove image[2]",
    "ext remove image/title",
    "ext add link rel=alternate hreflang=fr href=https://e.com/fr where path:/2",
    "ext set link[1]@hreflang=it where has:alternate",
    "ext add video[1]/tag=sea where has:video",
    "ext set video[1]/duration=120 video[1]/rating=4.5 where has:video",
    "ext remove video where path:/3",
    "ext set news/keywords=\"a, b\" where has:news",
    "ext add video title=T description=D thumbnail_loc=https://e.com/t.png content_loc=https://e.com/c.mp4 where path:/4",
    "ext remove link",
];

/// Entries with a random path, random fields and random extensions.
fn any_entries() -> impl Strategy<Value = Vec<String>> {
    let entry = (0..10_u32, any::<bool>(), any::<bool>(), proptest::collection::vec(select(EXTENSIONS.to_vec()), 0..4));
    let entry = entry.prop_map(|(path, dated, pretty, extensions)| {
        let lastmod = if dated { "<lastmod>2026-10-01</lastmod>" } else { "" };
        let space = if pretty { "\n    " } else { "" };
        // An entry has at most one news article.
        let mut news = extensions.iter().position(|extension| extension.starts_with("<news"));
        let parts = extensions.iter().enumerate().filter(|(position, extension)| {
            !extension.starts_with("<news") || news.take_if(|first| first == position).is_some()
        });
        let parts: Vec<&str> = parts.map(|(_, extension)| *extension).collect();
        format!("<url>{space}<loc>https://e.com/{path}</loc>{lastmod}{space}{}</url>", parts.join(space))
    });
    proptest::collection::vec(entry, 1..9)
}

fn write(folder: &Path, entries: &[String]) -> std::path::PathBuf {
    let path = folder.join("sitemap.xml");
    std::fs::write(&path, format!("{ROOT}\n{}\n</urlset>\n", entries.join("\n"))).unwrap();
    path
}

/// Runs commands on a file and saves it with at most `urls` entries per file. A refused command changes nothing.
fn run(path: &Path, lines: &[&str], urls: u32) {
    let options = Options { base_url: Some("https://e.com/".to_owned()), ..Options::default() };
    let mut session = load::open(path, options, NOW).expect("a sound file");
    for line in lines {
        let command = parse(line, &vocabulary(NOW)).unwrap_or_else(|error| panic!("{line}: {error:?}"));
        let _ = session.run(&command, DefaultScope::All);
    }
    let plan = session.plan_within(None, Limits { urls, ..Limits::default() });
    assert!(plan.is_ready(), "{:?}", plan.problems);
    let saving = save::begin(&mut session, plan, false).expect("nothing stands against it");
    save::finish(&mut session, saving.run(&Progress::default())).expect("saved");
}

/// The schema violations in the files of a folder.
fn violations(judge: &Judge, folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let sitemaps = files.filter(|path| path.extension().is_some_and(|extension| extension == "xml"));
    sitemaps.flat_map(|path| judge.faults_of(&path)).collect()
}

#[test]
fn the_oracles_accept_valid_and_reject_invalid_samples() {
    let Some(folder) = schemas() else { return };
    let judge = Judge::new(&folder);
    let mut count = 0;
    for entry in std::fs::read_dir(folder.join("samples")).expect("samples beside the schemas") {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // The samples of protocol 0.84 have another schema.
        if name.ends_with("_084.xml") {
            continue;
        }
        count += 1;
        assert_eq!(judge.faults_of(&path).is_empty(), name.starts_with("ok_"), "{name}");
    }
    assert!(count > 10, "only {count} samples were read");
    for extension in FIXABLE {
        assert!(!judge.faults(&format!("{ROOT}<url><loc>https://e.com/a</loc>{extension}</url></urlset>")).is_empty());
    }
}

#[test]
fn written_documents_are_valid() {
    let Some(folder) = schemas() else { return };
    let judge = Judge::new(&folder);
    let lines = proptest::collection::vec(select(EDITS.to_vec()), 1..8);
    let config = ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(entries in any_entries(), lines in lines, urls in 1..6_u32)| {
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), &entries);
        prop_assert_eq!(judge.faults_of(&path), Vec::<String>::new(), "unsound to begin with");
        run(&path, &lines, urls);
        let written = std::fs::read_to_string(&path).unwrap();
        let violations: Vec<String> = violations(&judge, folder.path());
        // A set without entries is written without entries, although the schema requires one.
        let is_empty = !written.contains("<url>") && !written.contains("<sitemap>");
        prop_assert!(violations.is_empty() || is_empty, "{:#?} in {}", violations, written);
    });
}

#[test]
fn fixed_documents_are_valid() {
    let Some(folder) = schemas() else { return };
    let judge = Judge::new(&folder);
    for extension in FIXABLE {
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), &[format!("<url><loc>https://e.com/a</loc>{extension}</url>")]);
        run(&path, &["fix safe"], 10);
        assert_eq!(violations(&judge, folder.path()), Vec::<String>::new(), "{extension}");
    }
}

/// The innermost elements of a text, from `<` to the end of the end tag.
fn leaves(text: &str) -> Vec<std::ops::Range<usize>> {
    let ends = text.match_indices("</").filter_map(|(close, _)| {
        let end = close + text[close..].find('>')? + 1;
        let open = text[..close].rfind('<')?;
        let is_leaf =
            !text[open..].starts_with("</") && !text[open..].starts_with("<!") && text[open..close].contains('>');
        (is_leaf && !text[open..close].contains("/>")).then_some(open..end)
    });
    ends.collect()
}

/// A valid extension with one mutation of one of its elements.
fn any_damage() -> impl Strategy<Value = String> {
    let texts = [
        "",
        " ",
        "0",
        "-1",
        "abc",
        "2026-13-01",
        "2026-11-20T10:14",
        "yes",
        "TRUE",
        "x y",
        "https://e.com/%zz",
        "1.5",
        "99999",
        "DE,AT",
        "en-US",
        "é",
        "Blog OpEd",
        "full",
        "<b/>",
        "&#160;yes",
    ];
    (
        select(EXTENSIONS.to_vec()),
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        0..6_u8,
        select(texts.to_vec()),
    )
        .prop_map(|(extension, one, other, mutation, value)| {
            let leaves = leaves(extension);
            if leaves.is_empty() {
                return extension.replace("href=", "title=").replace("mobile/>", "mobile>x</mobile:mobile>");
            }
            let (one, other) = (leaves[one.index(leaves.len())].clone(), leaves[other.index(leaves.len())].clone());
            let text = &extension[one.clone()];
            let with = |new: String| format!("{}{new}{}", &extension[..one.start], &extension[one.end..]);
            let open = text.find('>').unwrap_or_default() + 1;
            let close = text.rfind("</").unwrap_or_default();
            match mutation {
                0 => with(String::new()),
                1 => with(format!("{text}{text}")),
                2 => with(format!("{}{value}{}", &text[..open], &text[close..])),
                3 => with(text.replacen('>', " alt=\"x\">", 1)),
                4 => with(text.replace(':', ":x_")),
                _ if one.end <= other.start => {
                    let between = &extension[one.end..other.start];
                    format!(
                        "{}{}{between}{text}{}",
                        &extension[..one.start],
                        &extension[other.clone()],
                        &extension[other.end..]
                    )
                }
                _ => with(format!("{} {}", &text[..open], &text[open..])),
            }
        })
}

#[test]
fn extensions_that_the_schema_rejects_are_at_least_a_warning() {
    let Some(folder) = schemas() else { return };
    let judge = Judge::new(&folder);
    let config = ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() };
    let rejected = std::cell::Cell::new(0);
    let mut runner = proptest::test_runner::TestRunner::new(config);
    runner
        .run(&any_damage(), |extension| {
            let text = format!("{ROOT}\n<url><loc>https://e.com/a</loc>{extension}</url>\n</urlset>\n");
            let violations = judge.faults(&text);
            if violations.is_empty() {
                return Ok(());
            }
            rejected.set(rejected.get() + 1);
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("sitemap.xml");
            std::fs::write(&path, &text).unwrap();
            let session = load::open(&path, Options::default(), NOW).expect("a file that can be read");
            let found: Vec<_> = report::all_findings(&session).into_iter().map(|found| found.finding).collect();
            // The order of elements is a note, since every crawler reads them in any order.
            let is_order = |rule: Rule| rule == Rule::EXT_CHILD_ORDER;
            let is_reported = found.iter().any(|one| one.severity >= Severity::Warning || is_order(one.rule));
            prop_assert!(is_reported, "{violations:?} but only {found:?} in {extension}");
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(rejected.get() > 50, "too little was damaged");
}
