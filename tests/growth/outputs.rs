//! Tests that reports in every format are written in large pieces.

use clap::Parser;
use sited::cli::{self, Env, Next, args};
use std::io::{self, Write};

/// Counts the calls and the bytes.
#[derive(Default)]
struct Counter {
    calls: u64,
    bytes: u64,
}

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.calls += 1;
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_report_is_written_in_large_pieces() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sitemap.xml");
    let row = |number: u32| format!("<url><loc>https://example.com/{number}</loc><priority>high</priority></url>\n");
    let rows: String = (0..4_000).map(row).collect();
    let text = format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{rows}</urlset>\n");
    std::fs::write(&path, text).unwrap();
    for format in ["text", "json", "sarif", "junit", "github"] {
        let words = ["sited", "check", "--all", "--format", format, path.to_str().unwrap()];
        let words: Vec<&str> = words.into_iter().filter(|word| *word != "--all" || format == "text").collect();
        let line = args::Cli::try_parse_from(words).unwrap();
        let mut out = Counter::default();
        let end = cli::run(&line, Env::default(), &mut out, &mut io::sink());
        assert!(matches!(end, Next::End(_)));
        assert!(out.bytes > 4_000 * 40, "{format}: {} bytes", out.bytes);
        let most = out.bytes / (32 << 10) + 4;
        assert!(out.calls <= most, "{format}: {} write calls for {} bytes", out.calls, out.bytes);
    }
}
