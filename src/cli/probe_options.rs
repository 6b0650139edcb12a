//! The options of `sited probe`, and how their values are read.

use super::options::Common;
use crate::net::hosts::HostRule;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// `sited probe`.
#[derive(Debug, Args)]
#[command(
    after_help = "Only hosts of the set are asked, at most 5 requests a second and 4 at a time, as robots.txt allows.\n\n\
                  Examples:\n  sited probe public/ -o site.jsonl\n  sited probe public/ -o site.jsonl --resume --max-age 7d\n  \
                  sited probe sitemap.xml -o sample.jsonl --sample 200 --where 'section:blog'\n  \
                  sited probe sitemap.xml -o local.jsonl --base-url http://127.0.0.1:8000/ --allow-private"
)]
pub struct Probe {
    /// Sitemaps, sitemap indexes, or folders that hold one
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// Append a line of JSON for each URL to FILE (- is standard output)
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Continue FILE: URLs that it has are not asked again
    #[arg(long)]
    pub resume: bool,
    /// With --resume: ask again about URLs whose answer is older, such as 7d, 12h or 30m
    #[arg(long, value_name = "AGE", value_parser = age, requires = "resume")]
    pub max_age: Option<Duration>,
    /// The most requests a second to one host; 0 is no limit
    #[arg(long, value_name = "N", value_parser = rate, default_value = "5")]
    pub rate: f64,
    /// The most requests at a time to one host
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256), default_value = "4")]
    pub concurrency: u16,
    /// The most seconds that one request may take
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "30")]
    pub timeout: Duration,
    /// Ask for the status only (HEAD): no title, canonical URL and alternates
    #[arg(long)]
    pub head: bool,
    /// Send this header with each request; may be repeated
    #[arg(long, value_name = "NAME: VALUE", value_parser = header)]
    pub header: Vec<(String, String)>,
    /// Ask about N URLs only, spread evenly over the sections of the site
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub sample: Option<u64>,
    /// Only rows that pass, such as 'section:blog'
    #[arg(long = "where", value_name = "QUERY", allow_hyphen_values = true)]
    pub filter: Option<String>,
    /// Ask hosts whose address is not public, such as 127.0.0.1
    #[arg(long)]
    pub allow_private: bool,
    /// Ask this host too, also where redirects lead to it: HOST or HOST:PORT; may be repeated
    #[arg(long, value_name = "HOST", value_parser = host)]
    pub allow_host: Vec<HostRule>,
    /// Do not look at robots.txt; for your own site
    #[arg(long)]
    pub ignore_robots: bool,
    /// The header User-Agent; robots.txt is read for the name that it begins with
    #[arg(long, value_name = "TEXT", default_value = concat!("sited/", env!("CARGO_PKG_VERSION"), " (+https://crates.io/crates/sited)"))]
    pub user_agent: String,
    /// Trust the certificates of this PEM file instead of the system's
    #[arg(long, value_name = "FILE")]
    pub cacert: Option<PathBuf>,
    /// What is the same for every task
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

/// Reads a rate.
fn rate(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "expected a number of requests, such as 5 or 0.5".to_owned())
}

/// Reads a number of seconds.
fn seconds(text: &str) -> Result<Duration, String> {
    let time = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.filter(|time| !time.is_zero()).ok_or_else(|| "expected a number of seconds, such as 10".to_owned())
}

/// Reads a header.
fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or_else(|| "expected NAME: VALUE".to_owned())?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// Reads a host.
fn host(text: &str) -> Result<HostRule, String> {
    HostRule::parse(text).ok_or_else(|| "expected a host, such as www.example.com or 127.0.0.1:8000".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_options_are_read() {
        let secs = |text: &str| age(text).ok().map(|age| age.as_secs());
        assert_eq!(["7d", "12h", "30m", "90s"].map(secs), [Some(604_800), Some(43_200), Some(1_800), Some(90)]);
        assert_eq!(["", "7", "d", "-1d", "1w", "99999999999999999999d", "9999999999999999999d"].map(secs), [None; 7]);
        assert_eq!((rate("0.5"), rate("0")), (Ok(0.5), Ok(0.0)));
        assert!(["-1", "inf", "NaN", "x"].into_iter().all(|text| rate(text).is_err()));
        assert!(["0", "-1", "1e300", "x"].into_iter().all(|text| seconds(text).is_err()));
        assert_eq!(header("A-B: c: d"), Ok(("A-B".to_owned(), "c: d".to_owned())));
        assert!(header("x").is_err() && host("https://e.com/").is_err() && host("e.com").is_ok());
    }
}
