//! Generates large, realistic sitemap sets, with the same bytes on every machine.
//!
//! Nothing is random: entry *i* is a function of *i*. The files are written, measured and deleted.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// A set on disk.
pub(crate) struct Set {
    /// The path of the index.
    pub index: PathBuf,
    /// The files that the index lists, in its order.
    pub parts: Vec<PathBuf>,
    /// Number of entries in all parts.
    pub urls: u32,
    /// Number of bytes of all parts.
    pub bytes: u64,
}

/// Writes `sitemap_index.xml` and `files` parts with `urls` entries between them into a folder.
///
/// Entries have about 190 bytes: paths of two to four segments, dates and date-times, frequencies, priorities, and some
/// have a query, an image, alternates or a missing field. One entry in a thousand has a finding.
pub(crate) fn generate(folder: &Path, urls: u32, files: u32) -> std::io::Result<Set> {
    write_set(folder, (urls, files), &entry)
}

/// [`generate`] with entries that `entry` writes.
pub(crate) fn write_set(
    folder: &Path,
    (urls, files): (u32, u32),
    entry: &dyn Fn(&mut String, u32) -> std::fmt::Result,
) -> std::io::Result<Set> {
    let mut set = Set { index: folder.join("sitemap_index.xml"), parts: Vec::new(), urls, bytes: 0 };
    let mut index = String::from(INDEX_HEAD);
    for file in 0..files {
        let share = |file: u32| (u64::from(urls) * u64::from(file) / u64::from(files)) as u32;
        let text = part(share(file)..share(file + 1), entry);
        let name = format!("sitemap-{:03}.xml", file + 1);
        let path = folder.join(&name);
        fs::write(&path, &text)?;
        set.bytes += text.len() as u64;
        set.parts.push(path);
        let _ = writeln!(
            index,
            "  <sitemap>\n    <loc>{HOST}/{name}</loc>\n    <lastmod>2026-11-01</lastmod>\n  </sitemap>"
        );
    }
    index.push_str("</sitemapindex>\n");
    fs::write(&set.index, index)?;
    Ok(set)
}

/// The origin of all pages.
pub(crate) const HOST: &str = "https://www.example.com";

const INDEX_HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">
";

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"
        xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\"
        xmlns:xhtml=\"http://www.w3.org/1999/xhtml\">
";

const SECTIONS: [&str; 8] = ["products", "blog", "guides", "help", "stores", "brands", "events", "archive"];
const WORDS: [&str; 16] = [
    "amber", "birch", "coral", "delta", "ember", "fjord", "grove", "harbour", "indigo", "juniper", "kelp", "lantern",
    "meadow", "opal", "prism", "walnut",
];
const FREQUENCIES: [&str; 5] = ["weekly", "weekly", "monthly", "monthly", "yearly"];

/// The text of a file with the entries of these numbers.
fn part(numbers: std::ops::Range<u32>, entry: &dyn Fn(&mut String, u32) -> std::fmt::Result) -> String {
    let mut text = String::with_capacity(numbers.len() * 200 + 512);
    text.push_str(HEAD);
    for number in numbers {
        // Writing to a string does not fail.
        let _ = entry(&mut text, number);
    }
    text.push_str("</urlset>\n");
    text
}

fn entry(text: &mut String, number: u32) -> std::fmt::Result {
    let bits = mix(number);
    let pick = |shift: u32, below: u64| (bits >> shift) % below;
    text.push_str("  <url>\n    <loc>");
    // Some entries repeat an earlier page.
    loc(text, if pick(20, 1_000) == 999 { number / 2 } else { number })?;
    text.push_str("</loc>\n");
    let (month, day) = (pick(28, 12) + 1, pick(32, 28) + 1);
    let year = 2025 - pick(36, 4);
    match pick(40, 1_000) {
        0..700 => writeln!(text, "    <lastmod>{year}-{month:02}-{day:02}</lastmod>")?,
        700..900 => writeln!(text, "    <lastmod>{year}-{month:02}-{day:02}T{:02}:30:00+00:00</lastmod>", day % 24)?,
        900 => writeln!(text, "    <lastmod>{year}-13-{day:02}</lastmod>")?,
        _ => {}
    }
    if pick(44, 10) < 8 {
        writeln!(text, "    <changefreq>{}</changefreq>", FREQUENCIES[pick(48, 5) as usize])?;
    }
    if pick(52, 10) < 9 {
        writeln!(text, "    <priority>0.{}</priority>", pick(54, 9) + 1)?;
    }
    match pick(56, 50) {
        0 | 1 => writeln!(
            text,
            "    <image:image>\n      <image:loc>{HOST}/img/{number}.jpg</image:loc>\n    </image:image>"
        )?,
        2 => writeln!(text, "    <xhtml:link rel=\"alternate\" hreflang=\"de\" href=\"{HOST}/de/{number}\"/>")?,
        _ => {}
    }
    text.push_str("  </url>\n");
    Ok(())
}

fn loc(text: &mut String, number: u32) -> std::fmt::Result {
    let bits = mix(number);
    let pick = |shift: u32, below: u64| (bits >> shift) % below;
    let word = |shift: u32| WORDS[pick(shift, 16) as usize];
    write!(text, "{HOST}/{}/{}-{}-{}", SECTIONS[pick(0, 8) as usize], word(8), word(12), word(16))?;
    match pick(20, 100) {
        0..80 => write!(text, "/{number}"),
        80..90 => write!(text, "?id={number}&amp;view={}", word(24)),
        _ => write!(text, "/{}/{number}.html", word(24)),
    }
}

/// Well-spread bits of a number (`SplitMix64`, public domain).
pub(crate) fn mix(number: u32) -> u64 {
    let mut bits = u64::from(number).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}
