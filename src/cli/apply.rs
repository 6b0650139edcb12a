//! `sited apply`: a file of rules about which rows have which values, applied or only compared.
//!
//! The file is TOML (version 1.0). Its rules stand in order, and a row takes the values of the first whose query it
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
use super::changes::changes;
use super::edit::save_done;
use super::rows::Target;
use super::values::refuse_assignments;
use super::{Failure, Status, Streams, filter};
use crate::document::query::Query;
use crate::document::rows::RowSet;
use crate::progress::Progress;
use crate::protocol::Field;
use crate::protocol::lastmod::Now;
use crate::session::Session;
use crate::session::command::{Assignment, Command, Scope};
use crate::session::run::{Asker, Outcome};
use crate::session::snapshot::{Snapshot, vocabulary};
use crate::words::counted;
use clap::Args;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// `sited apply`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sited apply rules.toml public/ --dry-run\n  sited apply rules.toml public/ --check"
)]
pub struct Apply {
    /// The file of rules, TOML
    pub rules: PathBuf,
    /// What is changed, and where it is written
    #[command(flatten)]
    pub target: Target,
    /// Change nothing, list the rows that do not obey, and end with status 1 if there are any
    #[arg(long, conflicts_with_all = ["dry_run", "output"])]
    pub check: bool,
    /// Write values that `check` reports as errors
    #[arg(long)]
    pub force: bool,
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
    filter: Option<String>,
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
    let rules = read(&apply.rules, apply.target.common.now()?)?;
    if !apply.force {
        let refused = |rule: &Ready| {
            let what = format!("{}, {}", apply.rules.display(), rule.name);
            refuse_assignments(&rule.assignments, &apply.target.common).map_err(|error| error.inside(&what))
        };
        rules.iter().try_for_each(refused)?;
    }
    change(&apply.target, &Task::Rules { rules: &rules, file: &apply.rules, check: apply.check }, held, streams)
}

/// The same on a set that is held; `check` only compares.
pub(super) fn held(
    mut session: Session,
    target: &Target,
    (rules, file, check): (&[Ready], &Path, bool),
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let mut done = Vec::new();
    for (rule, rows) in rules.iter().zip(dealt(session.view(), rules)) {
        if rows.is_empty() {
            continue;
        }
        session.mark(&rows, true);
        let command = Command::Set { scope: Scope::default(), assignments: rule.assignments.clone() };
        if let Outcome::Done(report) = session.run(&command, Asker::Headless)?
            && !check
        {
            done.push(rule.words(&report.message, target.dry_run));
        }
        session.mark(&rows, false);
    }
    if check {
        let count = changes(session.view(), streams.out)?;
        return Ok(obeyed(count, file, streams));
    }
    save_done(session, &done, &target.saving(), streams)
}

/// Says how many rows do not obey.
pub(super) fn obeyed(count: u64, file: &Path, streams: &mut Streams<'_>) -> Status {
    let rows = match count {
        0 => "all rows obey".to_owned(),
        1 => "1 row does not obey".to_owned(),
        many => format!("{} do not obey", counted(many, "row")),
    };
    streams.note(&format!("{rows} {}", file.display()));
    if count == 0 { Status::Fine } else { Status::Findings }
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
pub(super) fn dealt(snapshot: &Snapshot, rules: &[Ready]) -> Vec<RowSet> {
    let mut rest = snapshot.document.held_set();
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

/// Reads the file. What is wrong in it is said with its place.
fn read(path: &Path, now: Now) -> Result<Vec<Ready>, Failure> {
    let text = super::read_own(
        path,
        "write rules there: [[rule]] where = \"path:/blog/*\" priority = 0.8; or :keep-as-rule on the screen",
    )?;
    let rules: Rules = toml::from_str(&text).map_err(|error| {
        let at = error.span().map_or_else(String::new, |span| {
            let before = text.get(..span.start).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            format!(":{line}:{column}")
        });
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
        let query = filter(rule.filter.as_deref(), now).map_err(|error| error.inside(&what))?;
        let values =
            [(Field::Lastmod, rule.lastmod), (Field::Changefreq, rule.changefreq), (Field::Priority, rule.priority)];
        let mut assignments = Vec::new();
        for (field, value) in values {
            let Some(value) = value else { continue };
            let text = format!("{}={}", field.name(), written(&value));
            let assignment = Assignment::from_argument(&text, &vocabulary(now))
                .map_err(|error| Failure::text(&what, &text, &error))?;
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
