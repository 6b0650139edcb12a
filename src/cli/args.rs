//! The definition of the command line. What the commands do is in their modules.

use super::apply::Apply;
use super::dates_options::Dates;
pub use super::deferred::Deferred;
use super::destination::Destination;
use super::diff::Diff;
use super::fix::Fix;
#[cfg(feature = "net")]
use super::get_options::Get;
use super::merge::Merge;
#[cfg(feature = "net")]
use super::notify_options::Notify;
pub(crate) use super::options::Common;
use super::options::{PolicyOptions, SaveOptions, UrlList};
#[cfg(feature = "net")]
use super::probe_options::Probe;
use super::rows::{Add, Dedupe, Keep, Remove, ReplaceIn, Sort};
use super::set::Set;
use super::split::Split;
use super::stats::Stats;
use super::url_options::UrlOptions;
use clap::{Args, Command, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::path::PathBuf;

/// A terminal editor for sitemaps.
#[derive(Debug, Parser)]
#[command(
    name = "sited",
    version,
    about = "A terminal editor for sitemaps: your URLs as a table, checked while you edit",
    after_help = "Without PATH, sited opens sitemap_index.xml or sitemap.xml of this folder, else a sample set.\n\
                  Exit status: 0 success, 1 check, diff or --check found something, 2 usage error,\n\
                  3 a file cannot be read or written.\n\n\
                  Examples:\n  sited public/\n  sited check public/ --profile google\n  \
                  sited set public/ lastmod=today --where 'path:/blog/*' --dry-run",
    disable_help_subcommand = true
)]
pub struct Cli {
    /// The command; without one, the screen or a script runs.
    #[command(subcommand)]
    pub task: Option<Task>,
    /// How much is printed, and in which colours.
    #[command(flatten)]
    pub output: OutputOptions,
    /// What to open on the screen.
    #[command(flatten)]
    pub open: Open,
}

impl Cli {
    /// The definition of the command line. Unlike [`CommandFactory::command`], it includes the options of each command.
    pub(super) fn definition() -> Command {
        let mut command = Self::command();
        command.build();
        command
    }
}

/// How much is printed, and in which colours.
#[derive(Debug, Clone, Default, Args)]
pub struct OutputOptions {
    /// Print results and errors only
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// When to colour results
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = When::Auto)]
    pub color: When,
}

/// When results are coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum When {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What the screen or the script opens, and how.
#[derive(Debug, Clone, Args)]
pub struct Open {
    /// A sitemap, a sitemap index, a folder that holds one, or several sitemaps as one set; a URL is downloaded first
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Run the commands of FILE (- for standard input) on PATH, without a screen
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
    /// Let the script write values that `check` reports as errors, and duplicate URLs
    #[arg(long, requires = "script")]
    pub force: bool,
    /// Open read-only
    #[arg(long)]
    pub read_only: bool,
    /// Colour theme of the screen
    #[arg(long, value_name = "NAME")]
    pub theme: Option<Theme>,
    /// URLs that must or must not be listed
    #[command(flatten)]
    pub policy: PolicyOptions,
    /// If PATH is a URL: download its sitemaps into DIR [default: a folder named after the host]
    #[arg(long, value_name = "DIR")]
    pub into: Option<PathBuf>,
    /// How a URL in place of a path is downloaded
    #[command(flatten)]
    pub url: UrlOptions,
    /// Options of all commands
    #[command(flatten)]
    pub common: Common,
}

impl Open {
    /// The first path or option before a subcommand, as it is written: only the screen and `--script` use them.
    pub fn first_argument(&self) -> Option<String> {
        let Self { paths, script, force, read_only, theme, policy, into, url, common } = self;
        let Common { base_url, now, profile, cross_submission, allow_missing, allow_empty, .. } = common;
        let Common { accept_repairs, mkdir, max_bytes, backup, loc_column, data, robots, no_robots, .. } = common;
        let options = [
            (script.is_some(), "--script"),
            (*force, "--force"),
            (*read_only, "--read-only"),
            (theme.is_some(), "--theme"),
            (into.is_some(), "--into"),
            (base_url.is_some(), "--base-url"),
            (now.is_some(), "--now"),
            (profile.is_some(), "--profile"),
            (*cross_submission, "--cross-submission"),
            (*allow_missing, "--allow-missing"),
            (*allow_empty, "--allow-empty"),
            (*accept_repairs, "--accept-repairs"),
            (*mkdir, "--mkdir"),
            (loc_column.is_some(), "--loc-column"),
            (!data.is_empty(), "--data"),
            (robots.is_some(), "--robots"),
            (*no_robots, "--no-robots"),
            (max_bytes.is_some(), "--max-bytes"),
            (backup.is_some(), "--backup"),
        ];
        let option = options.into_iter().find(|(given, _)| *given).map(|(_, name)| name.to_owned());
        let option = option.or_else(|| policy.first_option().or_else(|| url.first_option()).map(str::to_owned));
        option.or_else(|| paths.first().map(|path| path.to_string_lossy().into_owned()))
    }
}

/// A command that runs without a screen.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// Check a set and report findings
    Check(Deferred<Check>),
    /// Print the URLs
    List(Deferred<List>),
    /// Set fields and save
    Set(Deferred<Set>),
    /// Fix findings and save
    Fix(Deferred<Fix>),
    /// Rewrite URLs with a regular expression and save
    Replace(Deferred<ReplaceIn>),
    /// Add URLs and save
    Add(Deferred<Add>),
    /// Remove rows and save
    Remove(Deferred<Remove>),
    /// Keep only the given rows and save
    Keep(Deferred<Keep>),
    /// Sort the rows of each file and save
    Sort(Deferred<Sort>),
    /// Remove duplicate URLs and save
    Dedupe(Deferred<Dedupe>),
    /// Request each URL from the site: status, redirects, canonical URL, robots, dates
    #[cfg(feature = "net")]
    Probe(Deferred<Probe>),
    /// Download the sitemaps of a site into a folder
    #[cfg(feature = "net")]
    Get(Deferred<Get>),
    /// Find when each page last changed, for lastmod: from Git commits, file times or the site
    Dates(Deferred<Dates>),
    /// Notify search engines of new, changed and removed URLs (IndexNow)
    #[cfg(feature = "net")]
    Notify(Deferred<Notify>),
    /// Split a set into new files and write an index
    Split(Deferred<Split>),
    /// Write a copy in another format: XML, a text list, CSV or TSV
    Convert(Deferred<Convert>),
    /// Apply a rules file and save
    Apply(Deferred<Apply>),
    /// Merge several sets into one
    Merge(Deferred<Merge>),
    /// Compare two sets by URL
    Diff(Deferred<Diff>),
    /// Print statistics: fields, priorities, months, sections, hosts
    Stats(Deferred<Stats>),
    /// List backups, or restore one
    Restore(Deferred<Restore>),
    /// Show interrupted saves and unsaved changes; finish, apply or discard them
    Recover(Deferred<Recover>),
    /// Print a completion script for a shell
    Completions(Deferred<Completions>),
    /// Print the manual page
    Man(Deferred<Man>),
    /// Explain a command, a rule, or a topic: queries, rules, command-line, saving
    Help(Deferred<Help>),
}

impl Task {
    /// Whether the task saves over the files that it reads. Only such a task finishes an interrupted save of them.
    pub fn writes_in_place(&self) -> bool {
        self.saved_by().is_some_and(|save| !save.is_preview() && save.output.is_none())
    }

    /// Where the task writes, if it is an option.
    pub(super) fn destination(&self) -> Option<Destination<'_>> {
        if let Some(save) = self.saved_by() {
            return Some(Destination::file(save.output.as_deref()?, save.common.mkdir));
        }
        match self {
            Self::Check(task) => Some(Destination::file(task.write_baseline.as_deref()?, task.common.mkdir)),
            Self::Convert(task) => Some(Destination::file(&task.output, task.common.mkdir)),
            Self::Dates(task) => Some(Destination::file(task.output.as_deref()?, task.common.mkdir)),
            #[cfg(feature = "net")]
            Self::Probe(task) => Some(Destination::file(&task.output, task.common.mkdir)),
            // The named folder is created, its parents are not.
            Self::Merge(task) => Some(Destination::file(&task.output, task.common.mkdir)),
            Self::Split(task) => Some(Destination::file(&task.output, task.mkdir)),
            // `man` creates all folders, as a package build needs it.
            _ => None,
        }
    }

    /// How a task saves the sets that it changes; `None` for tasks that change none.
    pub fn saved_by(&self) -> Option<&SaveOptions> {
        match self {
            Self::Set(task) => Some(&task.edit.save),
            Self::Fix(task) => Some(&task.edit.save),
            Self::Replace(task) => Some(&task.edit.save),
            Self::Add(task) => Some(&task.save),
            Self::Remove(task) => Some(&task.rows.edit.save),
            Self::Keep(task) => Some(&task.rows.edit.save),
            Self::Sort(task) => Some(&task.edit.save),
            Self::Dedupe(task) => Some(&task.edit.save),
            Self::Apply(task) => Some(&task.edit.save),
            #[cfg(feature = "net")]
            Self::Probe(_) | Self::Get(_) | Self::Notify(_) => None,
            Self::Check(_)
            | Self::Dates(_)
            | Self::List(_)
            | Self::Split(_)
            | Self::Convert(_)
            | Self::Merge(_)
            | Self::Diff(_)
            | Self::Stats(_)
            | Self::Restore(_)
            | Self::Recover(_)
            | Self::Completions(_)
            | Self::Man(_)
            | Self::Help(_) => None,
        }
    }
}

/// `sited check`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  sited check public/ --fail-on warning\n  sited check sitemap.xml --rule 'lastmod-*' --format json\n  sited check --explain lastmod-no-seconds"
)]
pub struct Check {
    /// Sitemaps, sitemap indexes, or folders that hold one; several sitemaps are one set; - is standard input
    #[arg(required_unless_present_any = ["explain", "list_rules"])]
    pub paths: Vec<PathBuf>,
    /// Explain a rule by its code, or show who accepts a value (a date, a priority, a namespace …)
    #[arg(long, value_name = "CODE|VALUE", conflicts_with = "paths", allow_hyphen_values = true)]
    pub explain: Option<String>,
    /// Print all rules with their severities in the profile, and check nothing
    #[arg(long, conflicts_with = "paths")]
    pub list_rules: bool,
    /// How to print the findings
    #[arg(long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
    /// Exit with status 1 at this severity or above
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = FailOn::Error)]
    pub fail_on: FailOn,
    /// Only findings of these rules, such as set-mixed-host,'lastmod-*'
    #[arg(long = "rule", value_name = "CODE,…", value_delimiter = ',')]
    pub rules: Vec<String>,
    /// No findings of these rules
    #[arg(long, value_name = "CODE,…", value_delimiter = ',')]
    pub ignore: Vec<String>,
    /// Only findings of rows that match the query
    #[arg(long = "where", value_name = "QUERY", allow_hyphen_values = true)]
    pub filter: Option<String>,
    /// URLs that must or must not be listed
    #[command(flatten)]
    pub policy: PolicyOptions,
    /// Print only the N most severe findings; the totals count all
    #[arg(long, value_name = "N")]
    pub max_findings: Option<usize>,
    /// Text format: print every finding in file order, not only the first few of each rule and file
    #[arg(long)]
    pub all: bool,
    /// Suppress the findings that this file lists
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write the findings to a baseline, and exit with status 0
    #[arg(long, value_name = "FILE")]
    pub write_baseline: Option<PathBuf>,
    /// How a URL in place of a path is downloaded
    #[command(flatten)]
    pub url: UrlOptions,
    /// Options of all commands
    #[command(flatten)]
    pub common: Common,
}

/// `sited list`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  sited list sitemap.xml --where 'priority<0.5 section:blog'\n  sited list public/ --format csv --columns loc,lastmod,file --sort -lastmod\n  sited list public/ --format jsonl --columns loc,images --where has:image\n  sited list public/ --urls-from urls.txt --format csv\n  sited list public/ --data crawl.csv --missing | sited add public/ -"
)]
pub struct List {
    /// Sitemaps, sitemap indexes, or folders that hold one
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// Only rows that match the query, such as 'priority<0.5 section:blog'
    #[arg(long = "where", value_name = "QUERY", allow_hyphen_values = true)]
    pub filter: Option<String>,
    /// Only rows with these URLs
    #[command(flatten)]
    pub urls: UrlList,
    /// How to print the rows
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub format: ListFormat,
    /// Columns to print: loc, lastmod, changefreq, priority, host, path, section, depth, file, line, severity,
    /// rules, has, is; image, video, news, alternate, other (how many); images, videos, alternates (their URLs)
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Columns to sort by, with a minus for descending order: -lastmod,loc or host,-depth
    #[arg(long, value_name = "KEYS", default_value = "", allow_hyphen_values = true)]
    pub sort: String,
    /// Omit the header line
    #[arg(long)]
    pub no_header: bool,
    /// Print the sitemaps that an index lists instead of their URLs
    #[arg(long, conflicts_with_all = ["filter", "columns", "sort", "urls_from"])]
    pub sitemaps: bool,
    /// How a URL in place of a path is downloaded
    #[command(flatten)]
    pub url: UrlOptions,
    /// Print the URLs of --data that no row has, for `sited add PATH -`: only pages of the sets' own sites that can be
    /// listed; =all prints every URL
    #[arg(
        long,
        value_enum,
        value_name = "WHICH",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "pages",
        conflicts_with_all = ["filter", "columns", "sort", "urls_from", "sitemaps"]
    )]
    pub missing: Option<Missing>,
    /// Options of all commands
    #[command(flatten)]
    pub common: Common,
}

/// Which URLs `list --missing` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Missing {
    /// Only pages that can be listed
    Pages,
    /// All of them
    All,
}

/// `sited convert`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sited convert feed.rss -o sitemap.xml\n  sited convert public/ -o urls.csv")]
pub struct Convert {
    /// Sitemaps, feeds, lists, tables, a sitemap index, or a folder of them
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// Write to OUT; its extension selects the format: .xml, .txt, .csv or .tsv, optionally with .gz
    #[arg(short, long, value_name = "OUT", required = true)]
    pub output: PathBuf,
    /// The format, if the extension does not select it
    #[arg(long, value_enum, value_name = "FORM")]
    pub to: Option<ConvertTo>,
    /// Print what would be written, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Options of all commands
    #[command(flatten)]
    pub common: Common,
}

/// What `convert` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ConvertTo {
    /// A sitemap
    Xml,
    /// One URL per line
    Txt,
    /// Comma-separated values
    Csv,
    /// Tab-separated values
    Tsv,
}

/// `sited restore`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sited restore sitemap_index.xml\n  sited restore sitemap_index.xml --set latest --dry-run\n  sited restore sitemap_index.xml --keep 10 --dry-run"
)]
pub struct Restore {
    /// The sitemap, or the index of the set, that was saved with --backup, or the folder that it is in
    pub path: PathBuf,
    /// Restore the backup of this date; `latest` is the most recent one
    #[arg(long, value_name = "DATE")]
    pub set: Option<String>,
    /// Remove the files created since the backup
    #[arg(long, requires = "set")]
    pub prune: bool,
    /// Restore a backup that another user or machine made, or that was moved; look at it with --dry-run first
    #[arg(long, requires = "set")]
    pub unverified: bool,
    /// Remove all backups but the latest NUMBER, and incomplete ones
    #[arg(long, value_name = "NUMBER", conflicts_with = "set")]
    pub keep: Option<usize>,
    /// Print what would be restored or removed, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Use this as the current time: 2026-11-20, 2026-11-20T09:14:07+01:00 or @SECONDS since 1970
    #[arg(long, value_name = "TIME")]
    pub now: Option<String>,
}

/// `sited recover`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 nothing is pending, or it was finished; 1 something is pending and was only shown.\n\n\
                  Examples:\n  sited recover sitemap_index.xml\n  sited recover public/ --finish\n  sited recover sitemap.xml --journal 1 --apply --dry-run"
)]
pub struct Recover {
    /// The sitemap, the index of the set, or the folder that it is in
    pub path: PathBuf,
    /// Finish the interrupted save: move its new files into place and remove obsolete ones
    #[arg(long, conflicts_with_all = ["discard", "journal"])]
    pub finish: bool,
    /// Discard the rest of the interrupted save: remove its record and its new files that are not in place yet; with
    /// --journal, remove that journal
    #[arg(long)]
    pub discard: bool,
    /// A journal of unsaved changes, by its number or name in the list; without --apply and --discard, print it in full
    #[arg(long, value_name = "N|NAME")]
    pub journal: Option<String>,
    /// Apply the changes of the journal to the set, save, and remove the journal; damaged changes are reported and
    /// skipped
    #[arg(long, requires = "journal", conflicts_with = "discard")]
    pub apply: bool,
    /// With --apply: print what would change, and write nothing
    #[arg(long, requires = "apply")]
    pub dry_run: bool,
}

/// How `check` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// `path:line:column: severity[rule]: message`
    Text,
    /// One JSON document
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// `JUnit` XML, for CI servers
    Junit,
    /// GitHub Actions annotations
    Github,
}

/// The severity from which `check` exits with status 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Only errors
    Error,
    /// Errors and warnings
    Warning,
    /// Any finding
    Note,
    /// Never
    Never,
}

/// How `list` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// One URL per line
    Text,
    /// One JSON object per line
    Jsonl,
    /// Comma-separated values with a header line
    Csv,
    /// Tab-separated values with a header line
    Tsv,
}

/// Colours of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Theme {
    /// For a dark background
    Dark,
    /// For a light background
    Light,
    /// No colours
    None,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(words.split(' '))
    }

    #[test]
    fn the_command_line_definition_is_valid() {
        Cli::definition().debug_assert();
    }

    #[test]
    fn a_command_has_its_description_before_its_options_are_defined() {
        let (before, after) = (Cli::command(), Cli::definition());
        for (deferred, defined) in before.get_subcommands().zip(after.get_subcommands()) {
            assert_eq!(deferred.get_about().map(ToString::to_string), defined.get_about().map(ToString::to_string));
            assert_eq!(deferred.get_arguments().count(), 0, "{}", deferred.get_name());
            assert!(defined.get_arguments().count() > 3, "{}", defined.get_name());
        }
    }

    #[test]
    fn arguments_become_tasks() {
        let line = read("sited --base-url https://e.com/ --read-only a.xml").unwrap();
        assert!(line.task.is_none());
        assert_eq!(line.open.paths, ["a.xml"].map(PathBuf::from));
        assert_eq!(read("sited a.xml b.xml").unwrap().open.paths.len(), 2);
        assert!(line.open.read_only);
        assert!(matches!(read("sited"), Ok(Cli { task: None, open: Open { paths, .. }, .. }) if paths.is_empty()));
        let task = read("sited check a.xml b.xml --format json --now 2026-11-20").unwrap().task;
        assert!(
            matches!(task, Some(Task::Check(check)) if check.format == CheckFormat::Json && check.paths.len() == 2)
        );
        let task = read("sited list a.xml --where -has:image").unwrap().task;
        assert!(matches!(task, Some(Task::List(list)) if list.filter.as_deref() == Some("-has:image")));
        let task = read("sited set a.xml lastmod=-1d priority=0.8 --dry-run -o b.xml").unwrap().task;
        assert!(matches!(task, Some(Task::Set(set)) if set.words.len() == 3 && set.edit.save.dry_run));
        let line = read("sited --script - a.xml").unwrap();
        assert_eq!(line.open.script, Some("-".into()));
        // Options of all commands may come before the command; options of the screen may not.
        let line = read("sited --quiet --color never check a.xml").unwrap();
        assert!(line.output.quiet && matches!(line.task, Some(Task::Check(check)) if check.paths.len() == 1));
        assert_eq!(line.open.first_argument(), None);
        for (words, first) in [
            ("sited --read-only check a.xml", "--read-only"),
            ("sited --profile google list a.xml", "--profile"),
            ("sited b.xml check a.xml", "b.xml"),
        ] {
            assert_eq!(read(words).unwrap().open.first_argument().as_deref(), Some(first), "{words}");
        }
    }

    #[test]
    fn wrong_usage_ends_with_status_2() {
        for words in [
            "sited check",
            "sited list",
            "sited set",
            "sited keep a.xml",
            "sited convert a.xml",
            "sited list a.xml --sitemaps --where x",
            "sited check a.xml --format yaml",
            "sited --theme pink",
            "sited check --wrong a.xml",
        ] {
            assert_eq!(read(words).err().map(|error| error.exit_code()), Some(2), "{words}");
        }
        assert_eq!(read("sited --help").err().map(|error| error.exit_code()), Some(0));
    }
}

/// `sited completions`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sited completions bash > ~/.local/share/bash-completion/completions/sited")]
pub struct Completions {
    /// The shell: bash, zsh, fish, elvish or powershell
    pub shell: Shell,
}

/// `sited man`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sited man | man -l -\n  sited man --output ~/.local/share/man/man1")]
pub struct Man {
    /// Write all man pages (the program, its commands and the manual) into DIR instead of one to standard output
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

/// `sited help`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sited help set\n  sited help queries\n  sited help lastmod-no-timezone")]
pub struct Help {
    /// A command, a page of the manual (keys, commands, queries, rules, …), or the code of a rule
    #[arg(value_name = "COMMAND|TOPIC")]
    pub topic: Option<String>,
}
