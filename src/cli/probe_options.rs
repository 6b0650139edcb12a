//! The options of `sited probe`, and how their values are read.

use super::options::Common;
use super::site_options::site_probe::ProbeOptions;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// `sited probe`.
#[derive(Debug, Args)]
#[command(
    after_help = "Requests go only to hosts of the set, at most 5 per second and 4 at a time, as robots.txt allows.\n\n\
                  Examples:\n  sited probe public/ -o site.jsonl\n  sited probe public/ -o site.jsonl --resume --max-age 7d\n  \
                  sited probe sitemap.xml -o sample.jsonl --sample 200 --where 'section:blog'\n  \
                  sited probe sitemap.xml -o local.jsonl --base-url http://127.0.0.1:8000/ --allow-private"
)]
pub struct Probe {
    /// Sitemaps, sitemap indexes, or folders that hold one
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// Append one JSON line per URL to FILE (- is standard output)
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Continue FILE: skip URLs that it has results for
    #[arg(long)]
    pub resume: bool,
    /// With --resume: request URLs again whose result is older, such as 7d, 12h or 30m
    #[arg(long, value_name = "AGE", value_parser = age, requires = "resume")]
    pub max_age: Option<Duration>,
    /// Send HEAD requests: status only, no title, canonical URL or alternates
    #[arg(long)]
    pub head: bool,
    /// Only rows that match the query, such as 'section:blog'
    #[arg(long = "where", value_name = "QUERY", allow_hyphen_values = true)]
    pub filter: Option<String>,
    /// How each URL is requested
    #[command(flatten)]
    pub probing: ProbeOptions,
    /// Options of all commands
    #[command(flatten)]
    pub common: Common,
}

/// Reads an age.
fn age(text: &str) -> Result<Duration, String> {
    let unit = |unit: &str, seconds: u64| Some((text.strip_suffix(unit)?.parse::<u64>().ok()?, seconds));
    let units = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];
    let found = units.into_iter().find_map(|(name, seconds)| unit(name, seconds));
    let seconds = found.and_then(|(number, seconds)| number.checked_mul(seconds));
    seconds.map(Duration::from_secs).ok_or_else(|| "expected a number with a unit: 7d, 12h, 30m or 90s".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_a_unit() {
        let secs = |text: &str| age(text).ok().map(|age| age.as_secs());
        assert_eq!(["7d", "12h", "30m", "90s"].map(secs), [Some(604_800), Some(43_200), Some(1_800), Some(90)]);
        assert_eq!(["", "7", "d", "-1d", "1w", "99999999999999999999d", "9999999999999999999d"].map(secs), [None; 7]);
    }
}
