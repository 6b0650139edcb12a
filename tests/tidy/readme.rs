//! The tables of the README and the manual are made from the program's own: keys, query fields, rules; promises from
//! their tests.
//!
//! `UPDATE_README=1 cargo test --test tidy` writes them anew; without it a stale table fails.

use sited::check::rule::{FixKind, Rule};
use sited::document::query::{Query, Vocabulary, completions};
use sited::protocol::Severity;
use sited::protocol::lastmod::Now;
use sited::session::command::TABLE;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// No table and no example depends on the time.
const NOW: Now = Now { seconds: 0, offset: 0 };

#[test]
fn tables_are_fresh() {
    let keys = sited::tui::command::key_table();
    let promises = super::promises::table();
    let tables = [
        ("README.md", "keys", keys),
        ("README.md", "commands", commands()),
        ("assets/manual/queries.md", "fields", fields()),
        ("README.md", "promises", promises),
        ("README.md", "rules", rules()),
    ];
    for (file, name, table) in tables {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let written = fs::read_to_string(&path).expect("read a page");
        let fresh = replaced(&written, name, &table);
        if std::env::var_os("UPDATE_README").is_some() {
            fs::write(&path, &fresh).expect("write a page");
        } else {
            assert!(written == fresh, "{file}: its table is stale: UPDATE_README=1 cargo test --test tidy");
        }
    }
}

/// The text with what stands between `<!-- NAME -->` and `<!-- /NAME -->` replaced.
fn replaced(text: &str, name: &str, table: &str) -> String {
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let start = text.find(&open).unwrap_or_else(|| panic!("no page has {open}")) + open.len();
    let end = text[start..].find(&close).unwrap_or_else(|| panic!("no page has {close}")) + start;
    format!("{}\n{}\n\n{}", &text[..start], table.trim_end(), &text[end..])
}

/// The commands of the `:` line and of scripts.
fn commands() -> String {
    let mut out = String::from("| Command | What it does | For example |\n|---|---|---|\n");
    for spec in TABLE {
        let code = |text: &str| format!("`{}`", text.replace('|', "\\|"));
        let _ = writeln!(out, "| {} | {} | {} |", code(&spec.usage()), spec.about, code(spec.example));
    }
    out
}

/// What a query can ask for: every field with the words its values are chosen from.
fn fields() -> String {
    let vocabulary = Vocabulary { rules: &[], now: NOW };
    let mut out = String::from("| Field | What it is | Words |\n|---|---|---|\n");
    for field in completions("", 0, &vocabulary).items {
        let name = field.text.trim_end_matches(|c: char| !c.is_alphanumeric());
        let asked = format!("{name}:");
        // `and`, `or`, `not` join tests and take no values.
        if field.text == format!("{name} ") {
            continue;
        }
        let words: Vec<_> = completions(&asked, asked.len(), &vocabulary).items;
        let words: Vec<_> = words.iter().map(|word| format!("`{}`", word.text)).collect();
        let _ = writeln!(out, "| `{name}` | {} | {} |", field.about, words.join(" "));
    }
    out
}

/// Every code once, in the order of the catalogue; variants of a rule share its line.
fn rules() -> String {
    let mut out = String::from("| Rule | | What it finds | Fix | Written in |\n|---|---|---|---|---|\n");
    for main in Rule::mains() {
        let each = |of: fn(Rule) -> &'static str, between: &str| {
            let mut parts: Vec<&str> = main.family().iter().map(of).collect();
            parts.dedup();
            parts.join(between).replace('|', "\\|")
        };
        let fix = |rule: Rule| if rule.fix() == FixKind::None { "" } else { rule.fix().name() };
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} | {} |",
            main.code(),
            each(|rule| rule.severity().map_or("", Severity::name), "/"),
            each(Rule::summary, "; "),
            each(fix, "/"),
            each(Rule::source, "; ")
        );
    }
    out
}

#[test]
fn query_examples_are_queries() {
    let page = sited::manual::page("queries").expect("the manual explains queries").text;
    let block = page.split("```").nth(1).expect("the manual has examples of queries");
    // The first line of a block is its language; an example ends where a column of blanks begins.
    let examples: Vec<_> = block.lines().skip(1).map(|line| line.split("  ").next().unwrap_or(line)).collect();
    assert!(examples.len() > 5, "{examples:?}");
    for example in examples {
        let parsed = Query::parse(example, &Vocabulary { rules: &[], now: NOW });
        assert!(parsed.is_ok(), "{example}: {parsed:?}");
    }
}
