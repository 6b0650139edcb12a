//! Reads the rules file of `sited apply`, and finds the rows that each rule sets.

use super::edit::{Saving, save_done};
use super::{Failure, Status, Streams, query};
use crate::document::query::{Query, Vocabulary};
use crate::document::rows::RowSet;
use crate::progress::Progress;
use crate::protocol::Field;
use crate::session::Session;
use crate::session::command::{Assignment, Command, Scope};
use crate::session::edit::DefaultScope;
use crate::session::run::CommandOutcome;
use crate::session::state::Snapshot;
use serde::Deserialize;
use std::path::Path;
use toml::Spanned;

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
    pub(super) name: String,
    query: Option<Query>,
    pub(super) assignments: Vec<Assignment>,
}

/// Applies a rules file to a set in memory.
pub(super) fn apply_loaded(
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
        if let CommandOutcome::Done(report) = session.run(&command, DefaultScope::All)? {
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
pub(super) fn read(path: &Path, vocabulary: &Vocabulary<'_>) -> Result<Vec<Ready>, Failure> {
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
        let hint = "start each rule with [[rule]]".to_owned();
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

/// Whether a file is one of rules: by its name, or by what is in it.
pub(super) fn is_rules(path: &Path) -> bool {
    let is_named = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("toml"));
    let holds_rules = || {
        let text = if path.is_file() { crate::files::read_text(path).unwrap_or_default() } else { String::new() };
        toml::from_str::<Rules>(&text).is_ok_and(|rules| !rules.rule.is_empty())
    };
    is_named || holds_rules()
}
