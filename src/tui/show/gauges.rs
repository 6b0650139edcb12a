//! Shows the title of the pane: finding counts, and how full the current file is.

use super::super::app::state::Shared;
use super::super::app::state::grid::stem;
use super::super::draw::canvas::gauge;
use super::super::draw::{finding_counts, short_finding_counts};
use super::super::theme::Role;
use super::super::words::{Line, Words};
use crate::protocol::limits::{BYTES_PER_FILE, URLS_PER_FILE};
use crate::words::{counted, grouped};

/// What a rule takes beside its words: its ends, the blanks around both sides and the gap between them.
const RULE: usize = 10;

/// Columns that the name of a file has at least, before the gauges beside it become shorter.
const NAME: usize = 16;

/// The file under the cursor, as far as its gauges show it.
struct Fill<'a> {
    name: &'a str,
    urls: u64,
    bytes: u64,
    /// What its entries are.
    noun: &'static str,
}

impl Fill<'_> {
    /// ` 33 of 50,000 URLs`.
    fn of_limit(&self) -> String {
        format!(" {} of {} {}s", grouped(self.urls), grouped(URLS_PER_FILE.into()), self.noun)
    }

    fn part_of_urls(&self) -> f64 {
        self.urls as f64 / f64::from(URLS_PER_FILE)
    }

    fn part_of_bytes(&self) -> f64 {
        self.bytes as f64 / BYTES_PER_FILE as f64
    }
}

/// Counts of the set at the left, the current file's gauges at the right. Both become shorter where the window is
/// narrow; neither is left out.
pub(super) fn counts_and_gauges(shared: &Shared) -> Line {
    let charset = shared.theme.charset;
    let totals = shared.session.counts().totals();
    let totals = [totals.errors, totals.warnings, totals.notes];
    // A rule counts once for each row, however many places of it break the rule.
    let by_row = |counts: Words| counts.and(Role::Dim, "  by row");
    let counts = by_row(finding_counts(&shared.theme, totals));
    let document = shared.session.document().with_pending_split();
    let sitemap = shared.grid.row.and_then(|row| document.sitemap(document.sitemap_of(row)));
    let Some(sitemap) = sitemap else { return counts.into() };
    let noun = if document.lists_sitemaps() { "sitemap" } else { "URL" };
    let fill = Fill { name: stem(&sitemap.name), urls: u64::from(sitemap.live), bytes: sitemap.bytes(), noun };
    let short = short_finding_counts(&shared.theme, totals);
    for counts in [counts.clone(), by_row(short.clone()), short] {
        let room = usize::from(shared.size.0).saturating_sub(RULE + counts.width(charset));
        if let Some(gauges) = gauges(shared, &fill, room) {
            return Line::new(counts, gauges);
        }
    }
    counts.into()
}

/// The name of a file and how full it is, the longest form that has room.
fn gauges(shared: &Shared, fill: &Fill<'_>, room: usize) -> Option<Words> {
    let charset = shared.theme.charset;
    let whole = charset.width(fill.name);
    let both = [(10, 6), (6, 4)].map(|(urls, bytes)| (both_gauges(shared, fill, urls, bytes), NAME));
    let fuller = [Form::OfLimit, Form::Count, Form::Percent].map(|form| (fuller_gauge(shared, fill, form), 8));
    let shortest = (fuller_gauge(shared, fill, Form::Percent), 4);
    let forms = both.into_iter().chain(fuller).chain([shortest]);
    for (form, least) in forms {
        let name = room.saturating_sub(form.width(charset) + 2);
        if name >= whole.min(least) {
            let name = charset.elide_middle(fill.name, name.min(whole));
            return Some(Words::text(format!("{name}  ")).joined(form));
        }
    }
    None
}

/// URLs and bytes, each with a gauge of so many cells.
fn both_gauges(shared: &Shared, fill: &Fill<'_>, of_urls: usize, of_bytes: usize) -> Words {
    gauge(&shared.theme, of_urls, fill.part_of_urls())
        .and(over(fill.part_of_urls()), fill.of_limit())
        .and(Role::Text, "  ")
        .joined(gauge(&shared.theme, of_bytes, fill.part_of_bytes()))
        .and(over(fill.part_of_bytes()), format!(" {} of 50 MiB", mebibytes(fill.bytes)))
}

/// One gauge, of whichever limit is nearer.
fn fuller_gauge(shared: &Shared, fill: &Fill<'_>, form: Form) -> Words {
    let (urls, bytes) = (fill.part_of_urls(), fill.part_of_bytes());
    let part = urls.max(bytes);
    let words = match form {
        Form::OfLimit if urls >= bytes => fill.of_limit(),
        Form::OfLimit => format!(" {} of 50 MiB", mebibytes(fill.bytes)),
        Form::Count if urls >= bytes => format!(" {}", counted(fill.urls, fill.noun)),
        Form::Count => format!(" {} MiB", mebibytes(fill.bytes)),
        Form::Percent if part > 0.0 && part < 0.01 => " <1 % full".to_owned(),
        // A file over its limit is never shown as just full, nor one below it as full.
        Form::Percent if part > 1.0 => format!(" {} % full", (part * 100.0).ceil()),
        Form::Percent => format!(" {} % full", (part * 100.0).floor()),
    };
    gauge(&shared.theme, 4, part).and(over(part), words)
}

/// What is beside a single gauge.
#[derive(Debug, Clone, Copy)]
enum Form {
    OfLimit,
    Count,
    Percent,
}

fn over(part: f64) -> Role {
    if part > 1.0 { Role::Error } else { Role::Dim }
}

/// `7.1` or `0.02`.
fn mebibytes(bytes: u64) -> String {
    let value = bytes as f64 / 1_048_576.0;
    if value < 0.1 { format!("{value:.2}") } else { format!("{value:.1}") }
}
