//! Groups of options that several commands share, and how their values are read.

use super::Failure;
use crate::check::Profile;
use crate::check::policy::Policy;
use crate::data::DataSet;
use crate::files::{Conflicts, backup};
use crate::session::policy::{EXAMPLE, PolicyError, PolicyText};
use clap::Args;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// Options of all commands.
#[derive(Debug, Clone, Default, Args)]
pub struct Common {
    /// The URL of the folder that the set will be served from
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Use this as the current time: 2026-11-20, 2026-11-20T09:14:07+01:00 or @SECONDS since 1970
    #[arg(long, value_name = "TIME")]
    pub now: Option<String>,
    /// Search engine to check for: protocol, google, bing, yandex, baidu or legacy-0.84
    #[arg(long, value_name = "NAME", value_parser = profile)]
    pub profile: Option<Profile>,
    /// Accept URLs of other sites: their robots.txt names this set
    #[arg(long)]
    pub cross_submission: bool,
    /// Skip files of a set that are missing or cannot be read, and name them
    #[arg(long)]
    pub allow_missing: bool,
    /// Write files even if they have no entries left
    #[arg(long)]
    pub allow_empty: bool,
    /// Write the repairs of files that were damaged or in another encoding
    #[arg(long)]
    pub accept_repairs: bool,
    /// Create the output folder if it does not exist
    #[arg(long)]
    pub mkdir: bool,
    /// The column of a CSV or TSV table that holds the URLs: its name, or its number from 1
    #[arg(long, value_name = "NAME")]
    pub loc_column: Option<String>,
    /// Join a table by URL, as columns @NAME of queries and values: CSV, TSV, JSON Lines or a combined log; may be
    /// repeated
    #[arg(long, value_name = "FILE")]
    pub data: Vec<PathBuf>,
    /// The column of the tables of --data that holds the URLs: its name, or its number from 1
    #[arg(long, value_name = "NAME", requires = "data")]
    pub data_key: Option<String>,
    /// Read this robots.txt instead of the one in the folder of the set
    #[arg(long, value_name = "FILE", conflicts_with = "no_robots")]
    pub robots: Option<PathBuf>,
    /// Ignore robots.txt in the folder of the set
    #[arg(long)]
    pub no_robots: bool,
    /// Maximum size of a file, uncompressed: 52428800, 50MiB or 50MB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_bytes: Option<u64>,
    /// Back up what a save replaces to PATH.bak: off, once (before the first save of a run) or always (before each
    /// save)
    #[arg(long, value_name = "WHEN", value_parser = parse_when)]
    pub backup: Option<backup::When>,
    /// The tables of `data`, read on first use.
    #[arg(skip)]
    pub data_set: OnceLock<Arc<DataSet>>,
    /// The origin of the paths in a log, if no base URL is given.
    #[arg(skip)]
    pub log_origin: OnceLock<String>,
    /// Whether the command reports unread files itself, so that the set is not refused for them.
    #[arg(skip)]
    pub reports_unread: bool,
    /// How files with merge conflicts are read.
    #[arg(skip)]
    pub conflicts: Conflicts,
    /// The user's policy.
    #[arg(skip)]
    pub policy: Option<Arc<Policy>>,
}

/// The user's own policy.
#[derive(Debug, Clone, Default, Args)]
pub struct PolicyOptions {
    /// Report every URL that matches, such as '/wp-admin/' or 'https://*/preview/**'; may be repeated
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true)]
    pub never: Vec<String>,
    /// Report this URL if the set does not list it; may be repeated
    #[arg(long, value_name = "URL")]
    pub must: Vec<String>,
    /// Read more of both from a TOML file: never = ["GLOB", …] and must = ["URL", …]
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
}

impl PolicyOptions {
    /// The policy of the options and the file, if there is one.
    pub(super) fn read(&self) -> Result<Option<Arc<Policy>>, Failure> {
        let mut text = PolicyText { never: self.never.clone(), must: self.must.clone() };
        if let Some(path) = &self.policy {
            text.join(PolicyText::read(path).map_err(|error| match error {
                PolicyError::File(error) => error.into(),
                PolicyError::Text(why) => Failure::Usage(why, EXAMPLE.to_owned()),
            })?);
        }
        text.compile().map_err(|error| Failure::Usage(format!("--never: {error}"), EXAMPLE.to_owned()))
    }

    /// The first option that was given.
    pub(super) const fn first_option(&self) -> Option<&'static str> {
        match self {
            Self { never, .. } if !never.is_empty() => Some("--never"),
            Self { must, .. } if !must.is_empty() => Some("--must"),
            Self { policy: Some(_), .. } => Some("--policy"),
            Self { .. } => None,
        }
    }
}

/// Whether and how a changed set is saved.
#[derive(Debug, Clone, Default, Args)]
pub struct SaveOptions {
    /// Print what would change, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// List what would change, write nothing, and exit with status 1 if anything would
    #[arg(long, conflicts_with_all = ["dry_run", "output"])]
    pub check: bool,
    /// Write to OUT (- is standard output) and leave PATH as it is; its extension selects the format: .txt, .csv, .tsv
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Options of all commands
    #[command(flatten)]
    pub common: Common,
}

impl SaveOptions {
    /// Whether nothing is written.
    pub const fn is_preview(&self) -> bool {
        self.dry_run || self.check
    }
}

/// Options of commands that change several sets, each saved on its own.
#[derive(Debug, Clone, Default, Args)]
pub struct EditOptions {
    /// Change every set in and below the given folders; folders named *.bak or .* are skipped
    #[arg(short, long)]
    pub recursive: bool,
    /// How each set is saved
    #[command(flatten)]
    pub save: SaveOptions,
}

/// A set to change, and how it is saved.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// A sitemap, a sitemap index, or a folder that holds one.
    pub path: PathBuf,
    /// How it is saved.
    pub save: SaveOptions,
    /// Whether a change that makes URLs invalid or duplicate is refused.
    pub refuses_faults: bool,
}

/// A list of URLs that selects rows.
#[derive(Debug, Clone, Default, Args)]
pub struct UrlList {
    /// Only rows whose URL is a line of FILE (- is standard input); blank lines and lines that begin with # are skipped
    #[arg(long, value_name = "FILE")]
    pub urls_from: Option<PathBuf>,
}

/// How URLs that only the table or only the set has are reported.
#[derive(Debug, Clone, Default, Args)]
pub struct Unmatched {
    /// List all URLs that only the table or only the set has, instead of the first 5 of each
    #[arg(long, requires = "from")]
    pub all: bool,
    /// Write the URLs that only the table or only the set has to FILE (- is standard output), as CSV
    #[arg(long, value_name = "FILE", requires = "from")]
    pub unmatched: Option<PathBuf>,
}

/// Reads the value of `--backup`.
pub(super) fn parse_when(name: &str) -> Result<backup::When, String> {
    use backup::When;
    When::from_name(name).ok_or_else(|| format!("expected one of {}", When::ALL.map(When::name).join(", ")))
}

/// Reads the name of a profile.
fn profile(name: &str) -> Result<Profile, String> {
    let names = || Profile::ALL.map(Profile::name).join(", ");
    Profile::from_name(name).ok_or_else(|| format!("profiles are {}", names()))
}

/// Units of sizes: those of the SI and of IEC 80000-13.
const UNITS: [(&str, u64); 8] = [
    ("", 1),
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// Reads a number of bytes: `52428800`, `50MB`, `1.5 MiB`; units in any case.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let wrong = || "expected a number of bytes, such as 52428800, 50MB (50,000,000) or 50MiB (52,428,800)".to_owned();
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (_, factor) = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit.trim())).ok_or_else(wrong)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    // A fraction of a byte is not valid, and nine digits are enough for GiB.
    if whole.is_empty() || fraction.len() > 9 || number.ends_with('.') || (*factor == 1 && !fraction.is_empty()) {
        return Err(wrong());
    }
    let too_large = || format!("{text} is more than {} bytes", u64::MAX);
    let bytes = whole.parse::<u64>().ok().and_then(|whole| whole.checked_mul(*factor)).ok_or_else(too_large)?;
    let tenths = if fraction.is_empty() { 0 } else { fraction.parse::<u64>().map_err(|_| wrong())? };
    let part = u128::from(tenths) * u128::from(*factor) / 10u128.pow(fraction.len() as u32);
    bytes.checked_add(u64::try_from(part).unwrap_or(u64::MAX)).ok_or_else(too_large)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_decimal_and_binary_units() {
        for (text, bytes) in [
            ("52428800", 52_428_800),
            ("10MB", 10_000_000),
            ("10MiB", 10_485_760),
            ("10mib", 10_485_760),
            ("1.5 MiB", 1_572_864),
            ("0.25kB", 250),
            ("64KiB", 65_536),
            ("1GB", 1_000_000_000),
            ("2GiB", 2_147_483_648),
            ("300B", 300),
            ("0", 0),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "MB", "10M", "-1", "1.5", "1.", ".5MB", "1.5B", "10 TB", "1e6", "1,000", "99999999999GiB"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
