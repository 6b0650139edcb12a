//! Shows the title of the pane: the number of findings, and the gauges of the current file.

use super::super::app::state::Shared;
use super::super::app::state::grid::stem;
use super::super::draw::canvas::gauge;
use super::super::draw::{finding_counts, short_finding_counts};
use super::super::theme::Role;
use super::super::words::{Line, Words};
use crate::protocol::limits::{BYTES_PER_FILE, URLS_PER_FILE};
use crate::words::{counted, grouped};

/// Number of columns of a rule that its words cannot use: its ends, the blanks around both texts and the gap between.
const RULE_WIDTH: usize = 10;

/// Minimum number of columns for a file name with both gauges; if it has fewer, one gauge is shown.
const MIN_NAME_WIDTH: usize = 16;

/// The name and size of the file under the cursor.
struct Fill<'a> {
    name: &'a str,
    urls: u64,
    bytes: u64,
    /// The noun for its entries, singular.
    noun: &'static str,
}

impl Fill<'_> {
    /// ` 33 of 50,000 URLs`.
    fn urls_of_limit(&self) -> String {
        format!(" {} of {} {}s", grouped(self.urls), grouped(URLS_PER_FILE.into()), self.noun)
    }

    fn url_fraction(&self) -> f64 {
        self.urls as f64 / f64::from(URLS_PER_FILE)
    }

    fn byte_fraction(&self) -> f64 {
        self.bytes as f64 / BYTES_PER_FILE as f64
    }
}

/// The number of findings of the set at the left, the gauges of the current file at the right. In a narrow window
/// both use shorter forms.
pub(super) fn counts_and_gauges(shared: &Shared) -> Line {
    let charset = shared.theme.charset;
    let totals = shared.session.counts().totals();
    let totals = [totals.errors, totals.warnings, totals.notes];
    // A rule counts once per row, even if several values of the row violate it.
    let by_row = |counts: Words| counts.and(Role::Dim, "  by row");
    let counts = by_row(finding_counts(&shared.theme, totals));
    let document = shared.session.document().with_pending_split();
    let sitemap = shared.grid.row.and_then(|row| document.sitemap(document.sitemap_of(row)));
    let Some(sitemap) = sitemap else { return counts.into() };
    let noun = if document.lists_sitemaps() { "sitemap" } else { "URL" };
    let fill = Fill { name: stem(&sitemap.name), urls: u64::from(sitemap.live), bytes: sitemap.bytes(), noun };
    let short = short_finding_counts(&shared.theme, totals);
    for counts in [counts.clone(), by_row(short.clone()), short] {
        let room = usize::from(shared.size.0).saturating_sub(RULE_WIDTH + counts.width(charset));
        if let Some(gauges) = gauges(shared, &fill, room) {
            return Line::new(counts, gauges);
        }
    }
    counts.into()
}

/// Returns the name of a file and its gauges in the longest form that fits in `room` columns.
fn gauges(shared: &Shared, fill: &Fill<'_>, room: usize) -> Option<Words> {
    let charset = shared.theme.charset;
    let whole = charset.width(fill.name);
    let both = [(10, 6), (6, 4)].map(|(urls, bytes)| (both_gauges(shared, fill, urls, bytes), MIN_NAME_WIDTH));
    let fuller =
        [GaugeLabel::OfLimit, GaugeLabel::Count, GaugeLabel::Percent].map(|form| (fuller_gauge(shared, fill, form), 8));
    let shortest = (fuller_gauge(shared, fill, GaugeLabel::Percent), 4);
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

/// Returns the gauges of URLs and of bytes, with `of_urls` and `of_bytes` cells.
fn both_gauges(shared: &Shared, fill: &Fill<'_>, of_urls: usize, of_bytes: usize) -> Words {
    gauge(&shared.theme, of_urls, fill.url_fraction())
        .and(limit_role(fill.url_fraction()), fill.urls_of_limit())
        .and(Role::Text, "  ")
        .joined(gauge(&shared.theme, of_bytes, fill.byte_fraction()))
        .and(limit_role(fill.byte_fraction()), format!(" {} of 50 MiB", mebibytes(fill.bytes)))
}

/// Returns one gauge, for the limit that is nearer.
fn fuller_gauge(shared: &Shared, fill: &Fill<'_>, form: GaugeLabel) -> Words {
    let (urls, bytes) = (fill.url_fraction(), fill.byte_fraction());
    let fraction = urls.max(bytes);
    let words = match form {
        GaugeLabel::OfLimit if urls >= bytes => fill.urls_of_limit(),
        GaugeLabel::OfLimit => format!(" {} of 50 MiB", mebibytes(fill.bytes)),
        GaugeLabel::Count if urls >= bytes => format!(" {}", counted(fill.urls, fill.noun)),
        GaugeLabel::Count => format!(" {} MiB", mebibytes(fill.bytes)),
        GaugeLabel::Percent if fraction > 0.0 && fraction < 0.01 => " <1 % full".to_owned(),
        // Rounded up over the limit and down below it: only a file exactly at its limit is 100 % full.
        GaugeLabel::Percent if fraction > 1.0 => format!(" {} % full", (fraction * 100.0).ceil()),
        GaugeLabel::Percent => format!(" {} % full", (fraction * 100.0).floor()),
    };
    gauge(&shared.theme, 4, fraction).and(limit_role(fraction), words)
}

/// The label beside a single gauge.
#[derive(Debug, Clone, Copy)]
enum GaugeLabel {
    OfLimit,
    Count,
    Percent,
}

fn limit_role(fraction: f64) -> Role {
    if fraction > 1.0 { Role::Error } else { Role::Dim }
}

/// `7.1` or `0.02`.
fn mebibytes(bytes: u64) -> String {
    let value = bytes as f64 / 1_048_576.0;
    if value < 0.1 { format!("{value:.2}") } else { format!("{value:.1}") }
}
