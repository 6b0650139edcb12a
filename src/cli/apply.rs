//! `sited apply`: sets fields of rows by a rules file, or lists the rows that do not comply.
//!
//! The file is TOML (version 1.0). Its rules are in order, and a row takes the values of the first whose query it
//! passes:
//!
//! ```toml
//! [[rule]]
//! where = "path:/blog/*"
//! priority = 0.8
//! changefreq = "weekly"
//!
//! [[rule]]             # everything else
//! priority = "none"
//! ```

use super::bulk::{Task, change};
use super::edit::{Saving, save_done};
use super::options::EditOptions;
use super::sets::each_set;
use super::values::refuse_assignments;
use super::{Failure, Status, Streams, query};
use crate::document::query::Query;
use crate::document::query::Vocabulary;
use crate::document::rows::RowSet;
use crate::progress::Progress;
use crate::protocol::Field;
use crate::session::Session;
use crate::session::command::{Assignment, Command, Scope};
use crate::session::edit::Asker;
use crate::session::run::CommandOutcome;
use crate::session::state::Snapshot;
use clap::Args;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// `sited apply`.
#[derive(Debug, Args)]
#[command(
    override_usage = "sited apply [OPTIONS] <PATH>... <RULES>",
    after_help = "Examples:\n  sited apply public/ rules.toml --dry-run\n  sited apply public/ rules.toml --check"
)]
pub struct Apply {
    /// Sitemaps, sitemap indexes, or folders, each saved on its own; then the file of rules, TOML
    #[arg(required = true, num_args = 2.., value_names = ["PATH", "RULES"])]
    pub words: Vec<PathBuf>,
    /// Write values that `check` reports as errors
    #[arg(long)]
    pub force: bool,
    /// How the sets are saved
    #[command(flatten)]
    pub edit: EditOptions,
}

impl Apply {
    /// The paths and the rules. The rules may still come first, as they did before PATH came first in every command.
    fn paths_and_rules(&self, streams: &mut Streams<'_>) -> Result<(&[PathBuf], &Path), Failure> {
        match self.words.as_slice() {
            [rules, paths @ ..]
                if !paths.is_empty() && is_rules(rules) && !paths.last().is_some_and(|path| is_rules(path)) =>
            {
                let names: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
                let now = format!("sited apply {} {}", names.join(" "), rules.display());
                streams.note(&format!("note: RULES before PATH is deprecated; write {now}"));
                Ok((paths, rules))
            }
            [paths @ .., rules] if !paths.is_empty() => Ok((paths, rules)),
            _ => {
                let hint = "for example: sited apply public/ rules.toml".to_owned();
                Err(Failure::Usage("apply needs a PATH and a file of rules".to_owned(), hint))
            }
        }
    }
}

/// Whether a file is one of rules: by its name, or by what is in it.
fn is_rules(path: &Path) -> bool {
    let is_named = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("toml"));
    let holds_rules = || {
        let text = if path.is_file() { crate::files::read_text(path).unwrap_or_default() } else { String::new() };
        toml::from_str::<Rules>(&text).is_ok_and(|rules| !rules.rule.is_empty())
    };
    is_named || holds_rules()
}

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    #[serde(default)]
    rule: Vec<Rule>,
}

/// One rule as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    /// For people.
    name: Option<String>,
    #[serde(rename = "where")]
    filter: Option<Spanned<String>>,
    lastmod: Option<toml::Value>,
    changefreq: Option<toml::Value>,
    priority: Option<toml::Value>,
}

/// One rule, ready to use.
pub(super) struct Ready {
    name: String,
    query: Option<Query>,
    pub(super) assignments: Vec<Assignment>,
}

/// Applies the rules and saves, or compares.
pub(super) fn run(apply: &Apply, held: u64, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let (paths, file) = apply.paths_and_rules(streams)?;
    let common = &apply.edit.save.common;
    let rules = read(file, &common.vocabulary()?)?;
    if !apply.force {
        let refused = |rule: &Ready| {
            let what = format!("{}, {}", file.display(), rule.name);
            refuse_assignments(&rule.assignments, common).map_err(|error| error.inside(&what))
        };
        rules.iter().try_for_each(refused)?;
    }
    let task = Task::Rules { rules: &rules, file };
    each_set(paths, &apply.edit, streams, |target, streams| change(target, &task, held, streams))
}

/// The same on a set that is held.
pub(super) fn held_rules(
    mut session: Session,
    rules: &[Ready],
    saving: &Saving<'_>,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let mut done = Vec::new();
    for (rule, rows) in rules.iter().zip(rows_by_rule(session.view(), rules)) {
        if rows.is_empty() {
            continue;
        }
        session.mark(&rows, true);
        let command = Command::Set { scope: Scope::default(), assignments: rule.assignments.clone() };
        if let CommandOutcome::Done(report) = session.run(&command, Asker::Headless)? {
            done.push(rule.words(&report.message, saving.dry_run));
        }
        session.mark(&rows, false);
    }
    save_done(session, &done, saving, streams)
}

impl Ready {
    /// Whether other rows have a say in which rows it is about.
    pub(super) fn compares_rows(&self) -> bool {
        self.query.as_ref().is_some_and(Query::compares_rows)
    }

    /// What it came to.
    pub(super) fn words(&self, message: &str, is_dry: bool) -> String {
        let dry = if is_dry { "dry run, nothing is written: " } else { "" };
        format!("{dry}{}: {message}", self.name)
    }
}

/// The rows of each rule: of those that are held and that no rule before it took, the ones that pass.
pub(super) fn rows_by_rule(snapshot: &Snapshot, rules: &[Ready]) -> Vec<RowSet> {
    let mut rest = snapshot.document.resident_set();
    let mut out = Vec::new();
    for rule in rules {
        let rows = match &rule.query {
            None => rest.clone(),
            Some(query) => snapshot.rows_where(query, &Progress::default()).unwrap_or_default() & &rest,
        };
        rest -= &rows;
        out.push(rows);
    }
    out
}

/// Reads the file. What is wrong in it is reported with its place.
fn read(path: &Path, vocabulary: &Vocabulary<'_>) -> Result<Vec<Ready>, Failure> {
    let text = super::read_own(
        path,
        "write rules there: [[rule]] where = \"path:/blog/*\" priority = 0.8; or :keep-as-rule on the screen",
    )?;
    let rules: Rules = toml::from_str(&text).map_err(|error| {
        let at = error.span().map_or_else(String::new, |span| place(&text, span.start));
        let hint = "a rule has where, lastmod, changefreq and priority: [[rule]] where = \"path:/blog/*\" …".to_owned();
        Failure::Usage(format!("{}{at}: {}", path.display(), error.message()), hint)
    })?;
    if rules.rule.is_empty() {
        let hint = "begin each rule with [[rule]]".to_owned();
        return Err(Failure::Usage(format!("{}: there is no rule in it", path.display()), hint));
    }
    let ready = rules.rule.into_iter().enumerate().map(|(number, rule)| {
        let name = rule.name.unwrap_or_else(|| format!("rule {}", number + 1));
        let what = format!("{}, {name}", path.display());
        let query = rule.filter.map(|filter| {
            let what = format!("{}{}: where of {name}", path.display(), place(&text, filter.span().start));
            query(&what, filter.get_ref(), vocabulary)
        });
        let query = query.transpose()?;
        let values =
            [(Field::Lastmod, rule.lastmod), (Field::Changefreq, rule.changefreq), (Field::Priority, rule.priority)];
        let mut assignments = Vec::new();
        for (field, value) in values {
            let Some(value) = value else { continue };
            let text = format!("{}={}", field.name(), written(&value));
            let assignment =
                Assignment::from_argument(&text, vocabulary).map_err(|error| Failure::text(&what, &text, &error))?;
            assignments.push(assignment);
        }
        if assignments.is_empty() {
            let hint = "give it lastmod, changefreq or priority; \"none\" takes one away".to_owned();
            return Err(Failure::Usage(format!("{what} sets nothing"), hint));
        }
        Ok(Ready { name, query, assignments })
    });
    ready.collect()
}

/// Line and column of an offset, from 1: `:3:7`.
fn place(text: &str, offset: usize) -> String {
    let before = text.get(..offset).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!(":{line}:{column}")
}

/// A value as it would be typed: 0.8, 2026-11-20, weekly.
fn written(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        // With its point: 1.0 is not 1.
        toml::Value::Float(number) => format!("{number:?}"),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Datetime(date) => date.to_string(),
        // Nothing that a field takes: what it says then names the value.
        toml::Value::Boolean(yes) => yes.to_string(),
        toml::Value::Array(_) => "[…]".to_owned(),
        toml::Value::Table(_) => "{…}".to_owned(),
    }
}
