//! Generates the tables of the manual (keys, commands, query fields, rules, promises), and checks the README.
//!
//! `UPDATE_DOCS=1 cargo test --test tidy` writes them again; without it a stale table fails.

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
fn generated_tables_are_up_to_date() {
    let keys = sited::tui::keymap::key_table();
    let promises = super::promises::table();
    let tables = [
        ("assets/manual/keys.md", "keys", keys),
        ("assets/manual/commands.md", "commands", commands()),
        ("assets/manual/queries.md", "fields", fields()),
        ("assets/manual/saving.md", "promises", promises),
        ("assets/manual/rules.md", "rules", rules()),
    ];
    for (file, name, table) in tables {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let written = fs::read_to_string(&path).expect("read a page");
        let fresh = replaced(&written, name, &table);
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&path, &fresh).expect("write a page");
        } else {
            assert!(written == fresh, "{file}: its table is stale: UPDATE_DOCS=1 cargo test --test tidy");
        }
    }
}

/// Replaces the text between `<!-- NAME -->` and `<!-- /NAME -->` by `table`.
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

/// The fields of queries, each with its predefined values.
fn fields() -> String {
    let vocabulary = Vocabulary { rules: &[], now: NOW, data: None };
    let mut out = String::from("| Field | What it is | Words |\n|---|---|---|\n");
    for field in completions("", 0, &vocabulary).items {
        let name = field.text.trim_end_matches(|c: char| !c.is_alphanumeric());
        let asked = format!("{name}:");
        // `and`, `or` and `not` combine conditions and have no values.
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
fn query_examples_parse() {
    let page = sited::manual::page("queries").expect("the manual explains queries");
    let examples = sited::manual::blocks(page).into_iter().find_map(|block| match block {
        sited::manual::Block::Code(lines) => Some(lines),
        _ => None,
    });
    // An example ends at the column of its explanation.
    let examples = examples.expect("the manual has examples of queries");
    let examples: Vec<&str> = examples.iter().map(|line| line.split("  ").next().unwrap_or(line)).collect();
    assert!(examples.len() > 5, "{examples:?}");
    for example in examples {
        let parsed = Query::parse(example, &Vocabulary { rules: &[], now: NOW, data: None });
        assert!(parsed.is_ok(), "{example}: {parsed:?}");
    }
}

/// The README must be readable in a few minutes; everything else is in the manual.
#[test]
fn the_readme_is_short_and_its_links_resolve() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).expect("read the README");
    assert!(readme.len() <= 10_000, "{} bytes", readme.len());
    assert!(readme.contains("More than 200 rules") && Rule::mains().count() > 200);
    for page in sited::manual::PAGES {
        assert!(readme.contains(&format!("(assets/manual/{}.md)", page.name)), "no link to {}", page.name);
    }
    let pages = sited::manual::PAGES.map(|page| format!("assets/manual/{}.md", page.name));
    for page in pages.iter().map(String::as_str).chain(["README.md", "ARCHITECTURE.md"]) {
        let text = fs::read_to_string(root.join(page)).expect("read a page");
        let folder = root.join(page).parent().map(Path::to_path_buf).unwrap_or_default();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            assert!(link.is_empty() || link.contains(':') || folder.join(link).exists(), "{page}: {link}");
        }
    }
}
