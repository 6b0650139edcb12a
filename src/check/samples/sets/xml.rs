//! Samples of the rules about how a file is stored: XML, encoding, compression and file type.

use super::files::{HEAD, NS, field, file, loc, page, whole};
use super::{Packing, Sample};
use crate::check::rule::Rule;

/// The files that violate a rule of this family.
pub(super) fn sample(rule: Rule) -> Option<Sample> {
    let sample = match rule {
        Rule::XML_NOT_WELL_FORMED => file("<url><loc>https://example.com/a</loc></urll>"),
        Rule::MERGE_CONFLICT => {
            file(&format!("<<<<<<< HEAD\n{}=======\n{}>>>>>>> other\n", page("a"), page("b")))
        }
        Rule::XML_UNESCAPED_AMPERSAND => loc("https://example.com/?a=1&b=2"),
        Rule::XML_UNESCAPED_ANGLE => field("<lastmod>2026-11-18 < </lastmod>"),
        Rule::XML_UNKNOWN_ENTITY => loc("https://example.com/caf&eacute;"),
        Rule::XML_DTD_ENTITY => Sample::of(
            "sitemap.xml",
            whole(&page("a&nbsp;")).replace("<urlset", "<!DOCTYPE urlset SYSTEM \"u.dtd\">\n<urlset"),
        ),
        Rule::XML_DOUBLE_ESCAPED => loc("https://example.com/?a=1&amp;amp;b=2"),
        Rule::XML_ILLEGAL_CHAR => field("<!-- \u{1} -->"),
        Rule::XML_DUPLICATE_ATTRIBUTE => field("<x:a xmlns:x=\"x\" b=\"1\" b=\"2\"/>"),
        Rule::XML_BAD_COMMENT => file(&format!("<!-- a -- b -->{}", page("a"))),
        Rule::XML_UNDECLARED_PREFIX => field("<image:image><image:loc>https://example.com/i.png</image:loc></image:image>"),
        Rule::XML_DOCTYPE => Sample::of("sitemap.xml", whole(&page("a")).replace("<urlset", "<!DOCTYPE urlset>\n<urlset")),
        Rule::XML_ENTITY_DECLARATION => Sample::of(
            "sitemap.xml",
            whole(&page("a")).replace("<urlset", "<!DOCTYPE urlset [<!ENTITY a \"b\">]>\n<urlset"),
        ),
        Rule::XML_DECLARATION_MISSING => Sample::of("sitemap.xml", whole(&page("a")).replace(HEAD, "")),
        Rule::XML_VERSION => Sample::of("sitemap.xml", whole(&page("a")).replace("\"1.0\"", "\"1.1\"")),
        Rule::XML_LEADING_WHITESPACE => Sample::of("sitemap.xml", format!("\n\n{}", whole(&page("a")))),
        Rule::XML_LEADING_JUNK => Sample::of("sitemap.xml", format!("Notice: x\n{}", whole(&page("a")))),
        Rule::XML_TRAILING_JUNK => Sample::of("sitemap.xml", format!("{}junk", whole(&page("a")))),
        Rule::XML_CONCATENATED => Sample::of("sitemap.xml", [whole(&page("a")), whole(&page("b"))].concat()),
        Rule::XML_TRUNCATED => Sample::of("sitemap.xml", format!("{HEAD}<urlset {NS}>{}<url><loc>https://exa", page("a"))),
        Rule::ENC_NOT_UTF8 => {
            let (start, end) = ("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><!-- caf", " -->");
            let head = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n";
            let rest = format!("{end}{}</urlset>\n", page("a"));
            Sample::of("sitemap.xml", [head.as_bytes(), start.as_bytes(), b"\xE9", rest.as_bytes()].concat())
        }
        Rule::ENC_MISMATCH => {
            Sample::of("sitemap.xml", whole(&format!("<!-- é -->{}", page("a"))).replace("\"UTF-8\"", "\"ISO-8859-1\""))
        }
        Rule::ENC_INVALID_BYTES => {
            let (start, rest) = (format!("{HEAD}<urlset {NS}><!-- "), format!(" -->{}</urlset>\n", page("a")));
            Sample::of("sitemap.xml", [start.as_bytes(), b"\xE9", rest.as_bytes()].concat())
        }
        Rule::ENC_UNKNOWN_LABEL => Sample::of("sitemap.xml", whole(&page("a")).replace("\"UTF-8\"", "\"utf8mb4\"")),
        Rule::ENC_BOM => Sample::of("sitemap.xml", format!("\u{feff}{}", whole(&page("a")))),
        Rule::ENC_BOM_OTHER => {
            let text = format!("\u{feff}{}", whole(&page("a")).replace("UTF-8", "UTF-16"));
            Sample::of("sitemap.xml", text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>())
        }
        Rule::DOC_ROOT_UNKNOWN => file(&page("a")).and("other.xml", format!("{HEAD}<catalog><a/></catalog>\n")),
        Rule::DOC_ROOT_CASE => Sample::of("sitemap.xml", whole(&page("a")).replace("urlset", "URLSET")),
        Rule::DOC_HTML => file(&page("a")).and("other.xml", "<!doctype html><html><body></body></html>"),
        Rule::DOC_EMPTY => file(&page("a")).and("other.xml", "\n"),
        Rule::DOC_MIXED_KINDS => file(&format!("{}<sitemap><loc>https://example.com/b</loc></sitemap>", page("a"))),
        Rule::DOC_FOREIGN_ELEMENT => field("<x:a xmlns:x=\"urn:x\"/>"),
        Rule::DOC_ENTRY_OUTSIDE_ROOT => file(&format!("{}<loc>https://example.com/b</loc>", page("a"))),
        Rule::NS_PREFIX => Sample::of(
            "sitemap.xml",
            format!("{HEAD}<s:urlset {}><s:url><s:loc>https://example.com/a</s:loc></s:url></s:urlset>\n", NS.replace("xmlns", "xmlns:s")),
        ),
        Rule::NS_EXT_VARIANT => Sample::of(
            "sitemap.xml",
            whole(&page("a")).replace(NS, &format!("{NS} xmlns:xhtml=\"https://www.w3.org/1999/xhtml\"")),
        ),
        Rule::NS_DECLARED_UNUSED => Sample::of(
            "sitemap.xml",
            whole(&page("a")).replace(NS, &format!("{NS} xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\"")),
        ),
        Rule::SCHEMA_LOCATION => Sample::of(
            "sitemap.xml",
            whole(&page("a")).replace(
                NS,
                &format!("{NS} xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation=\"http://www.google.com/schemas/sitemap/0.84 http://www.google.com/schemas/sitemap/0.84/sitemap.xsd\""),
            ),
        ),
        Rule::GZIP_CORRUPT => packed("sitemap.xml.gz", Packing::Corrupt),
        Rule::GZIP_TRUNCATED => packed("sitemap.xml.gz", Packing::Cut),
        Rule::GZIP_MULTI_MEMBER => packed("sitemap.xml.gz", Packing::Members),
        Rule::GZIP_TRAILING_GARBAGE => packed("sitemap.xml.gz", Packing::Trailing),
        Rule::GZIP_DOUBLE => packed("sitemap.xml.gz", Packing::Twice),
        Rule::GZIP_EXTENSION_MISMATCH => packed("sitemap.xml", Packing::Gzip),
        Rule::COMPRESS_NOT_GZIP => file(&page("a")).and("other.xml.zip", b"PK\x03\x04\x14\0\0\0\x08\0".to_vec()),
        Rule::GZIP_BOMB => {
            let mut sample = file(&page("a")).and("big.xml.gz", whole(&" ".repeat(100_000)));
            sample.files.iter_mut().skip(1).for_each(|file| file.2 = Packing::Gzip);
            Sample { max_bytes: Some(10_000), ..sample }
        }
        Rule::FILE_NAME_UNSAFE => Sample::of("site map.xml", whole(&page("a"))),
        _ => return None,
    };
    Some(sample)
}

/// A sitemap in a packing, under a name.
fn packed(name: &str, packing: Packing) -> Sample {
    // Text that does not compress well, so that a truncated stream has something to unpack.
    let mut state = 1u32;
    let noise: String = (0..20_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(b'a' + (state >> 24) as u8 % 26)
        })
        .collect();
    Sample::of(name, whole(&format!("{}<!-- {noise} -->", page("a")))).packed(packing)
}
