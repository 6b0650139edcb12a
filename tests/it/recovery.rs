//! Tests of malformed input: its rows, its findings with line and column, and the bytes of an accepted repair.

use crate::support::corpus::gzip;
use crate::support::{Folder, run, stderr, stdout};
use serde_json::Value;

const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const NS: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";
const ONE: &str = "<url><loc>https://example.com/1</loc></url>\n";
const TWO: &str = "<url><loc>https://example.com/2</loc></url>\n";

/// A complete sitemap with these entries.
fn file(entries: &str) -> String {
    format!("{DECLARATION}<urlset {NS}>\n{entries}</urlset>\n")
}

/// An entry with an unescaped loc.
fn loc(text: &str) -> String {
    format!("<url><loc>{text}</loc></url>\n")
}

struct Case {
    description: &'static str,
    name: &'static str,
    stored: Vec<u8>,
    urls: Vec<&'static str>,
    /// `line:column code`, in the order of the report.
    findings: Vec<&'static str>,
    /// The rule to fix, and the expected bytes; `None` if nothing is fixed.
    after: Option<(&'static str, Vec<u8>)>,
}

fn case(
    description: &'static str,
    stored: impl Into<Vec<u8>>,
    urls: &[&'static str],
    findings: &[&'static str],
) -> Case {
    let (urls, findings) = (urls.to_vec(), findings.to_vec());
    Case { description, name: "sitemap.xml", stored: stored.into(), urls, findings, after: None }
}

impl Case {
    fn fixed(mut self, rule: &'static str, bytes: impl Into<Vec<u8>>) -> Self {
        self.after = Some((rule, bytes.into()));
        self
    }

    fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    fn check(&self) {
        let Self { description, name, stored, .. } = self;
        let folder = Folder::new();
        folder.write(name, stored);
        let list = run(&folder, &["list", name, "--allow-missing"]);
        let urls: Vec<String> = stdout(&list).lines().map(ToOwned::to_owned).collect();
        assert_eq!(urls, self.urls, "{description}: {}", stderr(&list));
        let output = run(&folder, &["check", name, "--format", "json", "--now", "2026-11-20"]);
        let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
        let findings: Vec<String> = report["findings"]
            .as_array()
            .expect("findings")
            .iter()
            .map(|one| format!("{}:{} {}", one["line"], one["column"], one["rule"].as_str().unwrap_or_default()))
            .collect();
        assert_eq!(findings, self.findings, "{description}");
        assert!(folder.read(name) == *stored, "{description}: looking changed it");
        let Some((rule, after)) = &self.after else { return };
        let fix = run(&folder, &["fix", name, "--rule", rule]);
        assert_eq!(fix.status.code(), Some(0), "{description}: {}", stderr(&fix));
        let written = folder.read(name);
        let written =
            if written.starts_with(b"\x1f\x8b") { crate::support::corpus::unpacked(&written) } else { written };
        assert_eq!(String::from_utf8_lossy(&written), String::from_utf8_lossy(after), "{description}");
        let remaining = stdout(&run(&folder, &["check", name, "--now", "2026-11-20"]));
        assert!(!remaining.contains(&format!("[{rule}]")), "{description}: {remaining}");
    }
}

#[test]
fn damaged_values_are_repaired_and_keep_their_url() {
    let with = |text: &str| file(&(loc(text) + TWO));
    let two = "https://example.com/2";
    let cases = [
        case(
            "raw & in a URL",
            with("https://example.com/?a=1&b=2"),
            &["https://example.com/?a=1&b=2", two],
            &["3:35 xml-unescaped-ampersand"],
        )
        .fixed("xml-unescaped-ampersand", with("https://example.com/?a=1&amp;b=2")),
        case(
            "a name without a semicolon",
            with("https://example.com/?a=1&copy=2"),
            &["https://example.com/?a=1&copy=2", two],
            &["3:35 xml-unescaped-ampersand"],
        )
        .fixed("xml-unescaped-ampersand", with("https://example.com/?a=1&amp;copy=2")),
        case(
            "an HTML name",
            with("https://example.com/caf&eacute;"),
            &["https://example.com/café", two],
            &["3:11 loc-not-ascii", "3:34 xml-unknown-entity"],
        )
        .fixed("xml-unknown-entity", with("https://example.com/café")),
        case(
            "raw < in a URL",
            with("https://example.com/?q=a<b"),
            &["https://example.com/?q=a<b", two],
            &["3:11 loc-illegal-char", "3:35 xml-unescaped-angle"],
        )
        .fixed("xml-unescaped-angle", with("https://example.com/?q=a&lt;b")),
        case(
            "a tag in a URL",
            with("https://example.com/?q=<b>x"),
            &["https://example.com/?q=<b>x", two],
            &["3:11 loc-illegal-char", "3:34 xml-unescaped-angle"],
        )
        .fixed("xml-unescaped-angle", with("https://example.com/?q=&lt;b>x")),
        case(
            "escaped twice",
            with("https://example.com/?a=1&amp;amp;b=2"),
            &["https://example.com/?a=1&amp;b=2", two],
            &["3:11 xml-double-escaped"],
        )
        .fixed("xml-double-escaped", with("https://example.com/?a=1&amp;b=2")),
        case(
            "a whole value in CDATA",
            with("<![CDATA[https://example.com/?a&b]]>"),
            &["https://example.com/?a&b", two],
            &[],
        ),
        case(
            "CDATA with text, a comment inside",
            with("https://<![CDATA[example.com/?a&]]><!-- c -->b"),
            &["https://example.com/?a&b", two],
            &[],
        ),
        case(
            "blanks around",
            with("\n  https://example.com/1\n"),
            &["https://example.com/1", two],
            &["4:3 field-whitespace"],
        ),
        case(
            "a line break inside",
            with("https://example.com/a\nb"),
            &["https://example.com/a%0Ab", two],
            &["3:11 loc-inner-whitespace"],
        )
        .fixed("loc-inner-whitespace", with("https://example.com/ab")),
        case(
            "a control character",
            with("https://example.com/a\u{1}b"),
            &["https://example.com/a%01b", two],
            &["3:11 loc-illegal-char", "3:32 xml-illegal-char"],
        )
        .fixed("xml-illegal-char", with("https://example.com/a%01b")),
        case(
            "a control character as a reference",
            with("https://example.com/a&#1;b"),
            &["https://example.com/a%01b", two],
            &["3:11 loc-illegal-char", "3:32 xml-illegal-char"],
        )
        .fixed("xml-illegal-char", with("https://example.com/a%01b")),
    ];
    cases.iter().for_each(Case::check);
}

#[test]
fn a_damaged_row_does_not_affect_the_rows_after_it() {
    let (one, two) = ("https://example.com/1", "https://example.com/2");
    let cases = [
        case(
            "an end tag that does not match",
            file(&("<url><loc>https://example.com/1</lok></url>\n".to_owned() + TWO)),
            &[one, two],
            &["3:32 xml-not-well-formed"],
        )
        .fixed("xml-not-well-formed", file(&(ONE.to_owned() + TWO))),
        case(
            "an entry that is not closed",
            file(&("<url><loc>https://example.com/1</loc>\n".to_owned() + TWO)),
            &[one, two],
            &["4:1 xml-not-well-formed"],
        )
        .fixed("xml-not-well-formed", file(&("<url><loc>https://example.com/1</loc>\n</url>".to_owned() + TWO))),
        case(
            "an end tag too many",
            file(&(ONE.to_owned() + "</url>\n" + TWO)),
            &[one, two],
            &["4:1 xml-not-well-formed"],
        )
        .fixed("xml-not-well-formed", file(&(ONE.to_owned() + "\n" + TWO))),
        case("an empty entry", file(&("<url/>\n".to_owned() + TWO)), &[two], &["3:1 loc-missing"]),
        case("an empty loc", file(&(loc("") + TWO)), &["", two], &["3:11 loc-empty"]),
        case(
            "a loc in no entry",
            file(&("<loc>https://example.com/1</loc>\n".to_owned() + TWO)),
            &[one, two],
            &["3:1 doc-entry-outside-root"],
        )
        .fixed("doc-entry-outside-root", file(&("<url><loc>https://example.com/1</loc>\n</url>".to_owned() + TWO))),
        case(
            "an entry inside another one",
            file("<url><loc>https://example.com/1</loc><url><loc>https://example.com/2</loc></url></url>\n"),
            &[one, two],
            &["3:38 doc-entry-outside-root"],
        )
        .fixed("doc-entry-outside-root", file(&(ONE.trim_end().to_owned() + TWO))),
        case(
            "entries in an unknown element in the sitemap namespace",
            file(&format!("<urls>\n{ONE}{TWO}</urls>\n")),
            &[one, two],
            &["4:1 doc-entry-outside-root"],
        )
        .fixed("doc-entry-outside-root", file(&format!("\n{ONE}{TWO}\n"))),
        case(
            "entries by another name",
            file("<page><loc>https://example.com/1</loc></page>\n<page>\n<loc>https://example.com/2</loc></page>\n"),
            &[one, two],
            &["3:7 doc-entry-outside-root", "5:1 doc-entry-outside-root"],
        )
        .fixed(
            "doc-entry-outside-root",
            file("<url><loc>https://example.com/1</loc></url>\n\n<url><loc>https://example.com/2</loc></url>\n"),
        ),
        case(
            "entries in an element of another namespace",
            file(&format!("<a:urls xmlns:a=\"urn:a\">\n{ONE}</a:urls>\n{TWO}")),
            &[two],
            &[],
        ),
        case(
            "two locs in an entry",
            file("<url>\n  <loc>https://example.com/1</loc>\n  <loc>https://example.com/2</loc>\n  <priority>0.5</priority>\n</url>\n"),
            &[one, two],
            &["5:3 field-duplicate"],
        )
        .fixed(
            "field-duplicate",
            file("<url>\n  <loc>https://example.com/1</loc>\n  <priority>0.5</priority>\n</url>\n<url>\n  <loc>https://example.com/2</loc>\n  <priority>0.5</priority>\n</url>\n"),
        ),
        case(
            "an entry of an index",
            file(&(ONE.replace("url>", "sitemap>") + TWO)),
            &[two],
            &["3:1 doc-mixed-kinds"],
        )
        .fixed("doc-mixed-kinds", file(&(ONE.to_owned() + TWO))),
        case(
            "an unknown element with a loc of its own",
            file(&("<url><x><loc>no</loc></x><loc>https://example.com/1</loc></url>\n".to_owned() + TWO)),
            &[one, two],
            &["3:6 doc-unknown-element", "3:26 entry-child-order"],
        ),
        case(
            "another order of the fields",
            file("<url><priority>0.5</priority><loc>https://example.com/1</loc></url>\n"),
            &[one],
            &["3:30 entry-child-order"],
        )
        .fixed("entry-child-order", file("<url><loc>https://example.com/1</loc><priority>0.5</priority></url>\n")),
        case(
            "-- in a comment",
            file(&(ONE.to_owned() + "<!-- a -- b -->\n" + TWO)),
            &[one, two],
            &["4:1 xml-bad-comment"],
        )
        .fixed("xml-bad-comment", file(&(ONE.to_owned() + "<!-- a - - b -->\n" + TWO))),
        case(
            "an attribute twice",
            file(&("<url a='1' a='2'><loc>https://example.com/1</loc></url>\n".to_owned() + TWO)),
            &[one, two],
            &["3:1 doc-unknown-attribute", "3:12 xml-duplicate-attribute"],
        )
        .fixed(
            "xml-duplicate-attribute",
            file(&("<url a='1'><loc>https://example.com/1</loc></url>\n".to_owned() + TWO)),
        ),
        case(
            "a prefix that is not declared",
            file("<url><loc>https://example.com/1</loc><image:image><image:loc>https://example.com/1.png</image:loc></image:image></url>\n"),
            &[one],
            &["3:38 xml-undeclared-prefix"],
        )
        .fixed(
            "xml-undeclared-prefix",
            file("<url><loc>https://example.com/1</loc><image:image><image:loc>https://example.com/1.png</image:loc></image:image></url>\n")
                .replace(NS, &format!("{NS} xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\"")),
        ),
        case(
            "a known prefix that is not declared, deep inside",
            file("<url><loc>https://example.com/1</loc><x:y xmlns:x='urn:x'/></url>\n<url><loc>https://example.com/2</loc><b><image:image/></b></url>\n"),
            &[one, two],
            &["3:38 doc-foreign-element", "4:38 doc-unknown-element", "4:41 xml-undeclared-prefix"],
        ),
        case(
            "prefixes that nothing declares, at any depth",
            file(
                "<url><loc>https://example.com/1</loc><x:a xmlns:x='urn:x'><b><q:c/></b></x:a></url>\n\
                 <url><loc>https://example.com/2</loc><x:a xmlns:x='urn:x' xmlns:q='urn:q'><b><q:c/></b></x:a></url>\n",
            ),
            &[one, two],
            &["3:38 doc-foreign-element", "3:62 xml-undeclared-prefix", "4:38 doc-foreign-element"],
        ),
        case(
            "capital letters",
            file(ONE).replace("urlset", "URLSET").replace("loc>", "Loc>"),
            &[one],
            &["2:1 doc-root-case", "4:1 doc-root-case", "3:6 doc-root-case"],
        )
        .fixed("doc-root-case", file(ONE)),
    ];
    cases.iter().for_each(Case::check);
}

#[test]
fn content_outside_the_document_is_omitted() {
    let (one, two) = ("https://example.com/1", "https://example.com/2");
    let sound = file(ONE);
    let cut = |until: &str| sound.get(..sound.find(until).unwrap() + until.len()).unwrap().to_owned();
    let cases = [
        case("a blank before the declaration", format!("\n{sound}"), &[one], &["1:1 xml-leading-whitespace"])
            .fixed("xml-leading-whitespace", sound.clone()),
        case("text before the root", format!("Notice: x in y.php\n{sound}"), &[one], &["1:1 xml-leading-junk"])
            .fixed("xml-leading-junk", sound.clone()),
        case("text after the root", format!("{sound}generated"), &[one], &["5:1 xml-trailing-junk"])
            .fixed("xml-trailing-junk", sound.clone()),
        case("NUL padding", format!("{sound}\0\0\0"), &[one], &["5:1 xml-trailing-junk"])
            .fixed("xml-trailing-junk", sound.clone()),
        case(
            "a second document",
            sound.clone() + &file(TWO),
            &[one, two],
            &["5:1 xml-concatenated", "6:1 xml-concatenated"],
        )
        .fixed("xml-concatenated", file(&(ONE.to_owned() + "\n\n\n" + TWO))),
        case("cut between entries", cut("</url>\n"), &[one], &["4:1 xml-truncated"])
            .fixed("xml-truncated", sound.clone()),
        case("cut in a tag", cut("</url>\n") + "<ur", &[one], &["4:1 xml-truncated"])
            .fixed("xml-truncated", sound.clone()),
        case("cut in a loc", cut("</url>\n") + "<url><loc>https://exa", &[one], &["4:22 xml-truncated"])
            .fixed("xml-truncated", sound.clone()),
        case("a DOCTYPE", sound.replace("<urlset", "<!DOCTYPE urlset>\n<urlset"), &[one], &["3:1 xml-doctype"])
            .fixed("xml-doctype", sound.clone()),
        case(
            "an internal entity",
            format!(
                "{DECLARATION}<!DOCTYPE urlset [<!ENTITY a 'b'>]>\n<urlset {NS}>\n{}</urlset>\n",
                loc("https://example.com/&a;")
            ),
            &["https://example.com/&a;"],
            &["3:1 xml-doctype", "3:1 xml-entity-declaration", "4:31 xml-dtd-entity"],
        )
        .fixed(
            "xml-dtd-entity",
            format!(
                "{DECLARATION}<!DOCTYPE urlset [<!ENTITY a 'b'>]>\n<urlset {NS}>\n{}</urlset>\n",
                loc("https://example.com/&amp;a;")
            ),
        ),
        case(
            "an external entity",
            format!(
                "{DECLARATION}<!DOCTYPE urlset [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>\n<urlset {NS}>\n{}</urlset>\n",
                loc("https://example.com/&a;")
            ),
            &["https://example.com/&a;"],
            &["3:1 xml-doctype", "3:1 xml-entity-declaration", "4:31 xml-dtd-entity"],
        ),
        case("an HTML page", "<!DOCTYPE html><html><body>Not found</body></html>", &[], &["1:1 doc-html"]),
        case("an empty file", " \n", &[], &["1:1 doc-empty"]),
        case("another root", "<catalogue/>", &[], &["1:1 doc-root-unknown"]),
    ];
    cases.iter().for_each(Case::check);
    let bombs: Vec<String> = (1..20).map(|n| format!("<!ENTITY a{n} '&a{0};&a{0};&a{0};&a{0};'>", n - 1)).collect();
    let laughs = format!("<!DOCTYPE urlset [<!ENTITY a0 'ha'>{}]>", bombs.concat());
    let stored = format!("{laughs}<urlset {NS}>{}</urlset>", loc("https://example.com/&a19;"));
    let folder = Folder::new();
    folder.write("sitemap.xml", &stored);
    assert_eq!(stdout(&run(&folder, &["list", "sitemap.xml"])), "https://example.com/&a19;\n", "a billion laughs");
}

#[test]
fn misspelt_namespaces_are_recognised_and_fixed_in_place() {
    let one = "https://example.com/1";
    let sound = file(ONE);
    let with = |attribute: &str| sound.replace(NS, attribute);
    let xsi = "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"";
    let hint = format!("xsi:schemaLocation=\"{0} {0}/sitemap.xsd\"", "http://www.sitemaps.org/schemas/sitemap/0.9");
    let cases = [
        case("no namespace", with("a='b'"), &[one], &["2:1 doc-unknown-attribute", "2:1 ns-missing"])
            .fixed("ns-missing", with(&format!("{NS} a='b'"))),
        case("an attribute of the root", with(&format!("{NS} a='b'")), &[one], &["2:1 doc-unknown-attribute"])
            .fixed("doc-unknown-attribute", sound.clone()),
        case("xsi without a declaration", with(&format!("{NS} {hint}")), &[one], &["2:1 xml-undeclared-prefix"])
            .fixed("xml-undeclared-prefix", with(&format!("{NS} {xsi} {hint}"))),
        case("ns=", with(&NS.replace("xmlns", "ns")), &[one], &["2:1 ns-attr-typo"])
            .fixed("ns-attr-typo", sound.clone()),
        case("https", with(&NS.replace("http:", "https:")), &[one], &["2:1 ns-variant"])
            .fixed("ns-variant", sound.clone()),
        case("a trailing slash", with(&NS.replace("0.9", "0.9/")), &[one], &["2:1 ns-variant"])
            .fixed("ns-variant", sound.clone()),
        case("0.84", with("xmlns=\"http://www.google.com/schemas/sitemap/0.84\""), &[one], &["2:1 ns-legacy-084"])
            .fixed("ns-legacy-084", sound.clone()),
        case("another", with("xmlns=\"urn:x\""), &[one], &["2:1 ns-wrong"]).fixed("ns-wrong", sound.clone()),
        case(
            "a prefix",
            sound
                .replace("urlset", "s:urlset")
                .replace("url>", "s:url>")
                .replace("loc>", "s:loc>")
                .replace("xmlns", "xmlns:s"),
            &[one],
            &["2:1 ns-prefix"],
        ),
    ];
    cases.iter().for_each(Case::check);
}

#[test]
fn every_encoding_is_decoded_and_written_as_utf_8() {
    let url = "https://example.com/caf%C3%A9";
    let entries = "<!-- café --><url><loc>https://example.com/caf%C3%A9</loc></url>\n";
    let sound = file(entries);
    let latin: Vec<u8> = sound.chars().map(|letter| letter as u8).collect();
    let declared = |label: &str, bytes: &[u8]| {
        let text = format!("<?xml version=\"1.0\" encoding=\"{label}\"?>");
        [text.as_bytes(), &bytes[DECLARATION.len() - 1..]].concat()
    };
    let wide = |mark: bool| -> Vec<u8> {
        let text = sound.replace("UTF-8", "UTF-16");
        mark.then_some(0xFEFF).into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    let cases = [
        case("ISO-8859-1", declared("ISO-8859-1", &latin), &[url], &["1:31 enc-not-utf8"])
            .fixed("enc-not-utf8", sound.clone()),
        case("windows-1252", declared("windows-1252", &latin), &[url], &["1:31 enc-not-utf8"])
            .fixed("enc-not-utf8", sound.clone()),
        case(
            "GBK",
            declared("GBK", sound.replace("café", "@").as_bytes())
                .iter()
                .flat_map(|byte| if *byte == b'@' { vec![0xC4, 0xE3] } else { vec![*byte] })
                .collect::<Vec<u8>>(),
            &[url],
            &["1:31 enc-not-utf8"],
        )
        .fixed("enc-not-utf8", sound.replace("café", "你")),
        case("Latin-1 bytes, UTF-8 declared", latin.clone(), &[url], &["3:9 enc-invalid-bytes"])
            .fixed("enc-invalid-bytes", sound.clone()),
        case("UTF-8 bytes, Latin-1 declared", declared("ISO-8859-1", sound.as_bytes()), &[url], &["1:31 enc-mismatch"])
            .fixed("enc-mismatch", sound.clone()),
        case("UTF-16 with its mark", wide(true), &[url], &["1:1 enc-bom-other"]).fixed("enc-bom-other", sound.clone()),
        case("UTF-16 without a mark", wide(false), &[url], &["1:1 enc-not-utf8"]).fixed("enc-not-utf8", sound.clone()),
        case("UTF-16 declared, UTF-8 bytes", declared("UTF-16", sound.as_bytes()), &[url], &["1:31 enc-mismatch"])
            .fixed("enc-mismatch", sound.clone()),
        case("an unknown label", declared("utf8mb4", sound.as_bytes()), &[url], &["1:31 enc-unknown-label"])
            .fixed("enc-unknown-label", sound.clone()),
        case("a byte order mark", format!("\u{feff}{sound}"), &[url], &["2:1 enc-bom"]).fixed("enc-bom", sound.clone()),
    ];
    cases.iter().for_each(Case::check);
}

#[test]
fn damaged_gzip_data_are_decompressed_as_far_as_possible() {
    let entries: String = (0..2_000).map(|n| loc(&format!("https://example.com/{}", n * 7_919 % 10_007))).collect();
    let (one, sound, many) = ("https://example.com/1", file(ONE), file(&entries));
    let packed = gzip(sound.as_bytes());
    let mut wrong_checksum = packed.clone();
    let at = wrong_checksum.len() - 6;
    wrong_checksum[at] ^= 1;
    let members: Vec<u8> = sound.as_bytes().chunks(40).flat_map(gzip).collect();
    let cases = [
        case("gzip without its name", packed.clone(), &[one], &["2:1 gzip-extension-mismatch"]),
        case("a name of gzip without gzip", sound.clone(), &[one], &["2:1 gzip-extension-mismatch"])
            .named("sitemap.xml.gz"),
        case("several members", members, &[one], &["1:1 gzip-multi-member"]).named("sitemap.xml.gz"),
        case("trailing bytes", [&packed[..], b"junk"].concat(), &[one], &["1:1 gzip-trailing-garbage"])
            .named("sitemap.xml.gz")
            .fixed("gzip-trailing-garbage", sound.clone()),
        case("a wrong checksum", wrong_checksum, &[one], &["1:1 gzip-corrupt"])
            .named("sitemap.xml.gz")
            .fixed("gzip-corrupt", sound.clone()),
        case("gzip in gzip", gzip(&packed), &[one], &["1:1 gzip-double"])
            .named("sitemap.xml.gz")
            .fixed("gzip-double", sound.clone()),
        case("zip", b"PK\x03\x04".to_vec(), &[], &["1:1 compress-not-gzip"]),
    ];
    cases.iter().for_each(Case::check);
    let mut cut = gzip(many.as_bytes());
    cut.truncate(cut.len() / 2);
    let folder = Folder::new();
    folder.write("sitemap.xml.gz", &cut);
    let urls = stdout(&run(&folder, &["list", "sitemap.xml.gz"]));
    let all: Vec<&str> = many.split("<loc>").skip(1).filter_map(|rest| rest.split('<').next()).collect();
    let rescued: Vec<&str> = urls.lines().collect();
    assert!(rescued.len() > 500 && all.starts_with(&rescued), "{} rescued", rescued.len());
    let report = stdout(&run(&folder, &["check", "sitemap.xml.gz"]));
    assert!(report.contains("[gzip-truncated]") && report.contains("[xml-truncated]"), "{}", &report[..200]);
    folder.write("bomb.xml.gz", gzip(&vec![b' '; 3_000_000]));
    let bomb = run(&folder, &["check", "bomb.xml.gz", "--max-bytes", "1000000"]);
    assert!(stdout(&bomb).contains("error[gzip-bomb]: ") && stdout(&bomb).contains("max-bytes"), "{}", stdout(&bomb));
}

/// Real files that other programs cannot read: each opens or has an error, and a copy of an opened file has the same
/// URLs and no damage.
#[test]
fn real_files_open_or_are_reported_and_a_copy_has_no_damage() {
    let is_selected = |name: &str| ["malformed/", "quirky/", "seeds/"].iter().any(|group| name.starts_with(group));
    let (mut opened, mut reported) = (0, 0);
    for (path, bytes) in
        crate::support::corpus::outside().into_iter().filter(|(path, bytes)| is_selected(path) && bytes.len() < 200_000)
    {
        let name = path.rsplit('/').next().unwrap_or(&path);
        if name == "README.md" {
            continue;
        }
        let folder = Folder::new();
        folder.write(name, &bytes);
        let check = run(&folder, &["check", name, "--allow-missing"]);
        assert!(matches!(check.status.code(), Some(0 | 1)), "{path}: {}", stderr(&check));
        let list = run(&folder, &["list", name]);
        assert!(folder.read(name) == bytes, "{path} was changed");
        if list.status.code() != Some(0) {
            assert!(stdout(&check).contains(": error["), "{path}: {}", stdout(&check));
            reported += 1;
            continue;
        }
        let copy = "copy/sitemap.xml";
        std::fs::create_dir_all(folder.file("copy")).expect("make a folder");
        let set = run(&folder, &["set", name, "priority=0.5", "-o", copy, "--allow-missing"]);
        if set.status.code() != Some(0) {
            // A file that cannot be written as XML, or needs a decision, is not copied.
            continue;
        }
        assert_eq!(stdout(&run(&folder, &["list", copy, "--allow-missing"])), stdout(&list), "{path}");
        let remaining = stdout(&run(&folder, &["check", copy]));
        for rule in
            ["not-well-formed", "unescaped", "unknown-entity", "illegal-char", "junk", "truncated", "concatenated"]
        {
            assert!(
                !remaining.lines().any(|line| line.contains("error[xml-") && line.contains(rule)),
                "{path}: {remaining}"
            );
        }
        assert!(!remaining.contains("[enc-not-utf8]") && !remaining.contains("[enc-bom-other]"), "{path}: {remaining}");
        opened += 1;
    }
    assert!(std::env::var_os("SITED_CORPUS").is_none() || (opened > 30 && reported > 3), "{opened} {reported}");
}
