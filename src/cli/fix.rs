//! `sited fix`: findings put right, saved.

use super::args::Common;
use super::bulk::{Task, change};
use super::options::{EditOptions, SaveOptions};
use super::sets::each_set;
use super::{Failure, Status, Streams, filter};
use crate::check::rule::Rule;
use crate::files::{Conflicts, Side};
use crate::session::command::{Command, Scope};
use crate::session::run::rules_named;
use clap::Args;
use std::path::PathBuf;

/// `sited fix`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sited fix sitemap.xml --dry-run\n  sited fix public/ --rule set-duplicate\n  sited fix public/ --check --rule 'lastmod-*',priority-form"
)]
pub struct Fix {
    /// Sitemaps, sitemap indexes, or folders; each is saved on its own
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Only findings of these rules, such as lastmod-no-seconds,'priority-*'; without it, all whose fix is safe
    #[arg(long = "rule", value_name = "CODE,…", value_delimiter = ',')]
    pub rules: Vec<String>,
    /// How, where there are several ways: check --explain CODE lists the answers of a rule
    #[arg(long, value_name = "ANSWER", requires = "rules", allow_hyphen_values = true)]
    pub answer: Option<String>,
    /// Write the URLs of the index's entries below --base-url, and fix nothing else
    #[arg(long, requires = "base_url", conflicts_with_all = ["rules", "filter"])]
    pub rewrite_index: bool,
    /// Only rows that pass; without it, all rows
    #[arg(long = "where", value_name = "QUERY", allow_hyphen_values = true)]
    pub filter: Option<String>,
    /// How the sets are saved
    #[command(flatten)]
    pub edit: EditOptions,
}

/// Fixes, says what changed, saves.
pub(super) fn run(fix: &Fix, held: u64, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let common = &fix.edit.save.common;
    let scope = Scope { shown: false, query: filter(fix.filter.as_deref(), common.now()?)? };
    // What is no rule is said once, not for every set.
    rules_named(&fix.rules)?;
    let mut each = |common: Common, command: Command| {
        let save = SaveOptions { common, ..fix.edit.save.clone() };
        let edit = EditOptions { save, ..fix.edit.clone() };
        let task = Task::Command(command);
        each_set(&fix.paths, &edit, streams, |target, streams| change(target, &task, held, streams))
    };
    if let Some(url) = common.base_url.as_ref().filter(|_| fix.rewrite_index) {
        common.limits()?;
        // Where the files are now, the index says.
        return each(Common { base_url: None, ..common.clone() }, Command::RebaseIndex(url.clone()));
    }
    let is_merge = matches!(fix.rules.as_slice(), [rule] if rule == Rule::MERGE_CONFLICT.code());
    if !is_merge {
        let command = Command::Fix { scope, rules: fix.rules.clone(), answer: fix.answer.clone() };
        return each(common.clone(), command);
    }
    // Conflicts are resolved when the file is read; what is left to do is to write it so.
    let side = fix.answer.as_deref().and_then(Side::from_name).ok_or_else(|| {
        let words = Side::ALL.map(Side::name).join(", ");
        Failure::Usage(
            format!("merge-conflict needs one of these answers: {words}"),
            "for example: sited fix sitemap.xml --rule merge-conflict --answer both".to_owned(),
        )
    })?;
    let common = Common { conflicts: Conflicts::Take(side), ..common.clone() };
    each(common, Command::Fix { scope, rules: fix.rules.clone(), answer: None })
}
