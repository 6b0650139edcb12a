//! `sited fix`: applies fixes and saves.

use super::bulk::{Task, change};
use super::options::Common;
use super::options::{EditOptions, SaveOptions};
use super::sets::each_set;
use super::{Failure, Status, Streams, filter};
use crate::check::rule::Rule;
use crate::files::{Answers, Conflicts, Side, is_stream, merge_conflicts};
use crate::progress::Progress;
use crate::session::command::{Command, Scope};
use crate::session::edit::rules_named;
use crate::session::store::load;
use crate::words::counted;
use clap::Args;
use std::path::PathBuf;
use std::sync::Arc;

/// `sited fix`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sited fix sitemap.xml --dry-run\n  sited fix public/ --rule set-duplicate\n  sited fix public/ --check --rule 'lastmod-*',priority-form"
)]
pub struct Fix {
    /// Sitemaps, sitemap indexes, or folders; each is saved on its own
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Only findings of these rules, such as lastmod-no-seconds,'priority-*'; without it, all safe fixes
    #[arg(long = "rule", value_name = "CODE,…", value_delimiter = ',')]
    pub rules: Vec<String>,
    /// Choose between several fixes: check --explain CODE lists the answers of a rule; for merge-conflict one
    /// of ours, theirs and both for all conflicts, or a list such as ours,theirs,both in their order
    #[arg(long, value_name = "ANSWER", requires = "rules", allow_hyphen_values = true)]
    pub answer: Option<String>,
    /// Rewrite the URLs of the index's entries below --base-url, and fix nothing else
    #[arg(long, requires = "base_url", conflicts_with_all = ["rules", "filter"])]
    pub rewrite_index: bool,
    /// Only rows that match the query; without it, all rows
    #[arg(long = "where", value_name = "QUERY", allow_hyphen_values = true)]
    pub filter: Option<String>,
    /// How the sets are saved
    #[command(flatten)]
    pub edit: EditOptions,
}

pub(super) fn run(fix: &Fix, memory_limit: u64, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let (common, command) = prepare(fix, streams)?;
    let save = SaveOptions { common, ..fix.edit.save.clone() };
    let edit = EditOptions { save, ..fix.edit.clone() };
    let task = Task::Command(command);
    each_set(&fix.paths, &edit, streams, &mut |target, streams| change(target, &task, memory_limit, streams))
}

/// The options to open the sets with, and the command to run.
fn prepare(fix: &Fix, streams: &mut Streams<'_>) -> Result<(Common, Command), Failure> {
    let common = &fix.edit.save.common;
    let scope = Scope { shown: false, query: filter(fix.filter.as_deref(), common)? };
    // An unknown rule is reported once, not for every set.
    rules_named(&fix.rules)?;
    if let Some(url) = common.base_url.as_ref().filter(|_| fix.rewrite_index) {
        common.limits()?;
        // `--base-url` is the new location; the current one is taken from the index.
        return Ok((Common { base_url: None, ..common.clone() }, Command::RebaseIndex(url.clone())));
    }
    let is_merge = matches!(fix.rules.as_slice(), [rule] if rule == Rule::MERGE_CONFLICT.code());
    if !is_merge {
        let command = Command::Fix { scope, rules: fix.rules.clone(), answer: fix.answer.clone() };
        return Ok((common.clone(), command));
    }
    // Conflicts are resolved when the file is read; the fix only writes the result.
    let sides = parse_sides(fix.answer.as_deref())?;
    let answers = match sides.as_slice() {
        [side] => Answers::all(*side),
        sides => answers_by_conflict(fix, sides, streams)?,
    };
    let command = Command::Fix { scope, rules: fix.rules.clone(), answer: None };
    Ok((Common { conflicts: Conflicts::Take(Arc::new(answers)), ..common.clone() }, command))
}

/// Parses an answer: one side for all conflicts, or one for each, separated by commas.
fn parse_sides(answer: Option<&str>) -> Result<Vec<Side>, Failure> {
    let words = answer.unwrap_or_default().split(',');
    words.map(|word| Side::from_name(word.trim())).collect::<Option<Vec<Side>>>().ok_or_else(|| {
        let words = Side::ALL.map(Side::name).join(", ");
        Failure::Usage(
            format!("merge-conflict needs one of these answers: {words}; or a list of them, one for each conflict"),
            "for example: sited fix sitemap.xml --rule merge-conflict --answer both, or --answer ours,both,theirs"
                .to_owned(),
        )
    })
}

/// The answers of a list by conflict. Refuses a list whose length is not the number of conflicts.
fn answers_by_conflict(fix: &Fix, sides: &[Side], streams: &mut Streams<'_>) -> Result<Answers, Failure> {
    let common = &fix.edit.save.common;
    let path = match (fix.paths.as_slice(), fix.edit.recursive) {
        ([path], false) if !is_stream(path) => path,
        _ => {
            return Err(Failure::Usage(
                "a list of answers needs one PATH (not standard input), and no --recursive".to_owned(),
                "run it for each set, or give one answer for all merge conflicts".to_owned(),
            ));
        }
    };
    let shown = Common { conflicts: Conflicts::Show, ..common.clone() };
    let session = shown.open(path, common.now()?, streams)?;
    let (files, options) = (load::conflicted_files(&session), common.limits()?);
    drop(session);
    let conflicts = merge_conflicts(&files, &options, &Progress::default())?;
    if conflicts.len() != sides.len() {
        return Err(Failure::Usage(
            format!(
                "--answer lists {}, but {} has {}",
                counted(sides.len() as u64, "answer"),
                path.display(),
                counted(conflicts.len() as u64, "merge conflict")
            ),
            "give one answer for each, in the order of the files and lines, or one for all".to_owned(),
        ));
    }
    Ok(Answers::each(conflicts.iter().zip(sides.iter().copied())))
}
