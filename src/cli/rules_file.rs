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

/// The rules file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    #[serde(default)]
    rule: Vec<Rule>,
}

/// One rule of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    /// The name in messages.
    name: Option<String>,
    #[serde(rename = "where")]
    filter: Option<Spanned<String>>,
    lastmod: Option<toml::Value>,
    changefreq: Option<toml::Value>,
    priority: Option<toml::Value>,
}

/// One rule with parsed query and values.
pub(super) struct CompiledRule {
    pub(super) name: String,
    query: Option<Query>,
    pub(super) assignments: Vec<Assignment>,
}

/// Applies a rules file to a set in memory.
pub(super) fn apply_loaded(
    mut session: Session,
    rules: &[CompiledRule],
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
            done.push(rule.report(&report.message, saving.dry_run));
        }
        session.mark(&rows, false);
    }
    save_done(session, &done, saving, streams)
}

impl CompiledRule {
    /// Whether its query depends on other rows.
    pub(super) fn compares_rows(&self) -> bool {
        self.query.as_ref().is_some_and(Query::compares_rows)
    }

    /// The message about its changes.
    pub(super) fn report(&self, message: &str, is_dry: bool) -> String {
        let dry = if is_dry { "dry run, nothing is written: " } else { "" };
        format!("{dry}{}: {message}", self.name)
    }
}

/// The rows in memory that each rule applies to: those that match its query and that no earlier rule has taken.
pub(super) fn rows_by_rule(snapshot: &Snapshot, rules: &[CompiledRule]) -> Vec<RowSet> {
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

/// Reads the file. Errors have a line and column.
pub(super) fn read(path: &Path, vocabulary: &Vocabulary<'_>) -> Result<Vec<CompiledRule>, Failure> {
    let text = super::read_text_file(
        path,
        "write rules there: [[rule]] where = \"path:/blog/*\" priority = 0.8; or :keep-as-rule on the screen",
    )?;
    let rules: Rules = toml::from_str(&text).map_err(|error| {
        let at = error.span().map_or_else(String::new, |span| position(&text, span.start));
        let hint = "a rule has where, lastmod, changefreq and priority: [[rule]] where = \"path:/blog/*\" …".to_owned();
        Failure::Usage(format!("{}{at}: {}", path.display(), error.message()), hint)
    })?;
    if rules.rule.is_empty() {
        let hint = "start each rule with [[rule]]".to_owned();
        return Err(Failure::Usage(format!("{}: the file has no rules", path.display()), hint));
    }
    let compiled = rules.rule.into_iter().enumerate().map(|(number, rule)| {
        let name = rule.name.unwrap_or_else(|| format!("rule {}", number + 1));
        let what = format!("{}, {name}", path.display());
        let query = rule.filter.map(|filter| {
            let what = format!("{}{}: where of {name}", path.display(), position(&text, filter.span().start));
            query(&what, filter.get_ref(), vocabulary)
        });
        let query = query.transpose()?;
        let values =
            [(Field::Lastmod, rule.lastmod), (Field::Changefreq, rule.changefreq), (Field::Priority, rule.priority)];
        let mut assignments = Vec::new();
        for (field, value) in values {
            let Some(value) = value else { continue };
            let text = format!("{}={}", field.name(), typed_text(&value));
            let assignment =
                Assignment::from_argument(&text, vocabulary).map_err(|error| Failure::syntax(&what, &text, &error))?;
            assignments.push(assignment);
        }
        if assignments.is_empty() {
            let hint = "give it lastmod, changefreq or priority; \"none\" removes a value".to_owned();
            return Err(Failure::Usage(format!("{what} sets nothing"), hint));
        }
        Ok(CompiledRule { name, query, assignments })
    });
    compiled.collect()
}

/// Line and column of an offset, from 1: `:3:7`.
fn position(text: &str, offset: usize) -> String {
    let before = text.get(..offset).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!(":{line}:{column}")
}

/// A value as in `FIELD=VALUE`: 0.8, 2026-11-20, weekly.
fn typed_text(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        // `Debug` keeps the decimal point of 1.0.
        toml::Value::Float(number) => format!("{number:?}"),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Datetime(date) => date.to_string(),
        // Not valid for any field: the text only appears in the error.
        toml::Value::Boolean(yes) => yes.to_string(),
        toml::Value::Array(_) => "[…]".to_owned(),
        toml::Value::Table(_) => "{…}".to_owned(),
    }
}

/// Whether a file is a rules file, by its extension or content.
pub(super) fn is_rules(path: &Path) -> bool {
    let is_named = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("toml"));
    let holds_rules = || {
        let text = if path.is_file() { crate::files::read_text(path).unwrap_or_default() } else { String::new() };
        toml::from_str::<Rules>(&text).is_ok_and(|rules| !rules.rule.is_empty())
    };
    is_named || holds_rules()
}
