//! Tests of the fix key in the table and in lists.

use super::bench::{Bench, SMALL};
use crate::check::FindingTarget;
use crate::check::rule::{FixKind, Rule};
use crate::check::samples::NOW;
use crate::check::samples::sets::{Sample, samples};
use crate::files::{Conflicts, Options};
use crate::protocol::lastmod::Now;
use crate::session::findings::non_row;
use crate::session::fixture::rule_counts_by_file;
use crate::session::grouping::{Group, Groups};
use crate::session::report;
use crate::session::sampled::{data, folder, paths, robots};
use crate::tui::app::Event;
use crate::tui::app::Start;
use crate::tui::app::modes::Mode;
use crate::tui::app::modes::list::ListKind;
use crate::tui::app::state::request::Choice;
use crate::words::{counted, grouped};

/// Opens a sample.
fn open(sample: &Sample) -> Bench {
    let folder = folder(sample);
    let mut paths = paths(sample, folder.path());
    let start = if paths.len() == 1 { Start::Path(paths.remove(0)) } else { Start::Paths(paths) };
    let mut options = Options { base_url: sample.base.map(str::to_owned), ..Options::default() };
    options.conflicts = Conflicts::Show;
    options.max_unpacked = sample.max_bytes.unwrap_or(options.max_unpacked);
    let mut bench = Bench::start_at(start, (Now { seconds: NOW, offset: 0 }, options));
    bench.app.shared.session.set_profile(sample.profile);
    bench.app.shared.session.set_site(data(sample), robots(sample));
    bench.folder = Some(folder);
    if matches!(bench.app.modes.current(), Mode::Ask(_)) {
        // Opening asks about merge conflicts; Esc leaves them unresolved.
        bench.keys("<esc>");
    }
    bench
}

fn has_finding(bench: &Bench, rule: Rule) -> bool {
    bench.app.shared.session.counts().by_rule().iter().any(|(broken, _)| broken.main() == rule.main())
}

/// Gives the first answer to the question of a fix.
fn confirm(bench: &mut Bench) {
    if matches!(bench.app.modes.current(), Mode::List(_) | Mode::Line(_)) {
        bench.keys("<enter>");
    }
}

#[test]
fn the_fix_key_on_a_row_without_findings_hints_at_the_next_finding() {
    let url = |loc: &str| format!("<url><loc>https://e.com/{loc}</loc></url>\n");
    let text = format!(
        "<?xml version=\"1.0\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{}{}{}</urlset>\n",
        url("a"),
        url("?b&c"),
        url("d")
    );
    let mut bench = Bench::file(&text);
    bench.send(Event::Resize(80, 24));
    let screen = bench.screen();
    for words in ["no findings in this row", "} next finding", "gX fixes all safe"] {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    bench.keys("gx");
    assert!(bench.screen().contains("} goes to the next, gX applies all safe fixes"), "{}", bench.screen());
    bench.keys("}");
    assert!(bench.screen().contains("gx write the file as repaired"), "{}", bench.screen());
    bench.keys("gX<enter>");
    assert!(bench.app.shared.session.counts().by_rule().is_empty(), "{}", bench.screen());
    bench.keys("gg");
    assert!(!bench.screen().contains("gX"), "{}", bench.screen());
}

#[test]
fn every_fixable_finding_is_fixed_from_its_row_or_list() {
    for sample in samples().into_iter().filter(|sample| sample.rule.fix() != FixKind::None) {
        let rule = sample.rule;
        let mut bench = open(&sample);
        bench.send(Event::Resize(120, 40));
        assert!(has_finding(&bench, rule), "{rule:?}");
        bench.keys("<c-e>");
        let Mode::List(list) = bench.app.modes.current() else { panic!("{rule:?}: no list") };
        let is_of_rule = |(_, choice): &(_, Choice)| matches!(choice, Choice::NonRowFinding(_, found) if found.main() == rule.main());
        if let Some(at) = list.lines.iter().position(is_of_rule) {
            // On its line, in the list of findings of files.
            let lines = list.lines[list.chosen..at].iter();
            let steps = lines.filter(|(_, choice)| *choice != Choice::Nothing).count();
            bench.keys(&"j".repeat(steps)).keys("gx");
            assert!(!bench.app.shared.session.is_modified(), "{rule:?}: shown first");
            let Mode::List(list) = bench.app.modes.current() else { panic!("{rule:?}: {}", bench.screen()) };
            let chosen = &list.lines[list.chosen].1;
            assert!(
                matches!(chosen, Choice::FixNonRow(_, found) if found.main() == rule.main()),
                "{rule:?}: {chosen:?}"
            );
            bench.keys("gx");
            if matches!(bench.app.modes.current(), Mode::Ask(_)) {
                bench.keys("b");
            }
            if matches!(bench.app.modes.current(), Mode::Line(_)) {
                bench.keys("<enter>");
            }
            bench.keys("<esc>");
        } else {
            // On its row, in the list of its findings.
            bench.keys(&format!("<esc>:filter rule:{}<enter>K", rule.code()));
            let Mode::List(list) = bench.app.modes.current() else { panic!("{rule:?}: {}", bench.screen()) };
            let is_it =
                |(_, choice): &(_, Choice)| matches!(choice, Choice::RowFinding(found) if found.main() == rule.main());
            let at = list.lines.iter().position(is_it).unwrap_or_else(|| panic!("{rule:?}: {}", bench.screen()));
            let lines = list.lines[list.chosen..at].iter();
            let steps = lines.filter(|(_, choice)| *choice != Choice::Nothing).count();
            bench.keys(&"j".repeat(steps)).keys("x");
            assert!(!bench.app.shared.session.is_modified(), "{rule:?}: shown first");
            confirm(&mut bench);
        }
        assert!(!has_finding(&bench, rule), "{rule:?} stays: {}", bench.screen());
        assert!(bench.app.shared.session.is_modified(), "{rule:?}");
        bench.keys("u");
        assert!(has_finding(&bench, rule), "{rule:?} undone");
    }
}

#[test]
fn fixing_all_shows_counts_first() {
    let url = |loc: &str, rest: &str| format!("<url><loc>https://e.com/{loc}</loc>{rest}</url>\n");
    let text = format!(
        "<?xml version=\"1.0\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{}{}{}</urlset>\n",
        url("a", "<changefreq>Weekly</changefreq><priority> 0.5 </priority>"),
        url("c", "<changefreq>Daily</changefreq>"),
        url("e", "")
    );
    let mut bench = Bench::file(&text);
    bench.send(Event::Resize(120, 40));
    bench.keys("gX");
    assert!(!bench.app.shared.session.is_modified(), "nothing is fixed before it was seen");
    for words in [":%fix safe", "2 changes", "2 rows  changefreq-case", "1 row  field-whitespace"] {
        bench.shows(words);
    }
    bench.keys("<esc>");
    assert!(!bench.app.shared.session.is_modified());
    bench.keys("gX<enter>");
    assert_eq!(bench.app.shared.session.view().changed(), 2);
}

#[test]
fn the_list_of_rules_acts_on_the_selected_rule_only() {
    let fixable = SMALL.replace("weekly", "Weekly").replace("2026-13-01", "2026-11-1");
    let mut bench = Bench::file(&fixable.replace("http://www.sitemaps", "https://www.sitemaps"));
    bench.keys("<c-e>");
    let Mode::List(list) = bench.app.modes.current() else { panic!("no list") };
    let choices: Vec<Choice> = list.lines.iter().map(|(_, choice)| choice.clone()).collect();
    assert!(choices.iter().filter(|choice| matches!(choice, Choice::Rule(_))).count() > 3, "{choices:?}");
    for (at, choice) in choices.into_iter().enumerate() {
        let (Choice::Rule(rule) | Choice::NonRowFinding(_, rule)) = choice else { continue };
        for key in ["x", "gx", "K"] {
            bench.keys("<esc><esc><c-e>");
            while matches!(bench.app.modes.current(), Mode::List(list) if list.chosen < at) {
                bench.keys("j");
            }
            bench.keys(key);
            assert!(!bench.app.shared.session.is_modified(), "{rule:?} {key}: nothing before it was shown");
            let shown = match bench.app.modes.current() {
                Mode::Line(edit) => edit.prompt.text() == format!("%fix {}", rule.code()) && key != "K",
                Mode::List(list) if key == "K" => list.kind == ListKind::Explain && bench.screen().contains("source"),
                Mode::List(list) if list.kind == ListKind::Explain => {
                    matches!(list.lines[list.chosen].1, Choice::FixNonRow(_, found) if found == rule)
                }
                _ => bench.screen().contains(&format!("no fix for {}", rule.code())),
            };
            assert!(
                shown && (key != "K" || bench.screen().contains(rule.code())),
                "{rule:?} {key}: {}",
                bench.screen()
            );
        }
        // Esc returns to the rule.
        bench.keys("<esc>");
        let Mode::List(list) = bench.app.modes.current() else { panic!("{rule:?}: {}", bench.screen()) };
        assert_eq!((list.kind, list.chosen), (ListKind::Rules, at));
    }
    bench.keys("<esc><c-e>Ggg");
    assert!(matches!(bench.app.modes.current(), Mode::List(list) if list.chosen == 1), "gg is the first rule");
}

#[test]
fn the_markdown_report_has_the_counts_of_a_check() {
    let mut bench = Bench::sample(120, 40);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("findings.md");
    bench.keys("<c-e>w");
    let Mode::Line(edit) = bench.app.modes.current() else { panic!("no line") };
    assert_eq!(edit.prompt.text(), "check findings.md");
    bench.keys("<c-u>").keys(&format!("check {}<enter>", path.display()));
    assert!(bench.message().contains("wrote"), "{}", bench.message());
    let text = std::fs::read_to_string(&path).unwrap();
    let mut counts = std::collections::BTreeMap::new();
    let mut groups = Groups::default();
    let mut listed: Vec<_> =
        report::all_findings(&bench.app.shared.session).into_iter().filter(|found| !groups.take(found)).collect();
    listed.extend(groups.finish().filter_map(Group::into_finding).map(|(found, _)| found));
    for found in listed {
        *counts.entry((found.finding.rule.code(), found.finding.severity.name())).or_insert(0_u64) += 1;
    }
    assert!(!counts.is_empty());
    for ((code, severity), count) in &counts {
        let line = format!("| {severity} | {} | {code} |", grouped(*count));
        assert!(text.contains(&line), "{line} in {text}");
    }
    for severity in ["error", "warning", "note"] {
        let sum: u64 = counts.iter().filter(|((_, own), _)| *own == severity).map(|(_, count)| count).sum();
        assert!(text.contains(&counted(sum, severity)), "{severity}: {sum} in {text}");
    }
    // A report is overwritten, other files are not.
    bench.keys(&format!(":check {}<enter>", path.display()));
    assert!(bench.message().contains("wrote"));
    std::fs::write(&path, "mine").unwrap();
    bench.keys(&format!(":check {}<enter>", path.display()));
    assert!(bench.message().contains("not a report"), "{}", bench.message());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
}

#[test]
fn findings_of_a_rule_are_counted_by_file() {
    let bench = Bench::sample(120, 40);
    let session = &bench.app.shared.session;
    let by_file = rule_counts_by_file(session);
    let of_others = |rule: Rule| {
        let others = |place: FindingTarget| !matches!(place, FindingTarget::Sitemap(_));
        non_row::each(session).filter(|found| found.rule().main() == rule.main() && others(found.target())).count()
    };
    for (rule, count) in session.counts().by_rule() {
        let sum: u64 = by_file.iter().filter(|((main, _), _)| *main == rule.main().index()).map(|(_, n)| n).sum();
        assert_eq!(sum + of_others(rule) as u64, count, "{rule:?}");
    }
    let mut bench = bench;
    bench.keys("<c-e>");
    assert!(bench.screen().lines().any(|line| line.trim_start().starts_with("in ")), "{}", bench.screen());
}

#[test]
fn a_policy_is_checked_in_the_editor() {
    let mut bench = Bench::file(SMALL);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("policy.toml");
    std::fs::write(&path, "never = [\"/shop/\"]\nmust = [\"https://example.com/contact\"]\n").unwrap();
    bench.keys(&format!(":policy {}<enter>", path.display()));
    assert!(bench.message().ends_with("2 forbidden URLs, 1 missing"), "{}", bench.message());
    bench.keys("<c-e>");
    for words in ["policy-never", "https://example.com/contact is missing, and the policy requires it"] {
        bench.shows(words);
    }
    bench.keys("<esc>:filter rule:policy-never<enter>");
    assert_eq!(bench.app.shared.session.view().shown(), 2);
    bench.shows("the policy forbids URLs that match /shop/");
    // Edits, undo and the missing URL update the findings.
    bench.keys(":set loc=https://example.com/contact<enter>");
    assert!(!has_finding(&bench, Rule::POLICY_MUST), "{}", bench.screen());
    assert_eq!(
        bench.app.shared.session.counts().by_rule().iter().find(|(rule, _)| *rule == Rule::POLICY_NEVER).unwrap().1,
        1
    );
    bench.keys(":policy<enter>");
    assert!(!has_finding(&bench, Rule::POLICY_NEVER));
    bench.keys(&format!(":policy {}<enter>u", path.display()));
    assert!(has_finding(&bench, Rule::POLICY_MUST), "undone");
    std::fs::write(&path, "nevr = []\n").unwrap();
    bench.keys(&format!(":policy {}<enter>", path.display()));
    assert!(bench.message().contains("unknown field `nevr`"), "{}", bench.message());
}

#[test]
fn a_job_writes_the_report() {
    let mut bench = Bench::sample(120, 40);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("findings.md");
    bench.hold = Some(crate::tui::jobs::Kind::Report);
    bench.keys(&format!(":check {}<enter>j", path.display()));
    assert!(!path.exists(), "the screen goes on");
    bench.release_jobs();
    assert!(bench.message().starts_with("wrote ") && path.exists(), "{}", bench.message());
}

#[test]
fn a_preview_lists_a_rule_with_its_variants_once_and_uses_free_lines_for_rules() {
    let entry = |path: &str, rest: &str| format!("<url><loc>{path}</loc>{rest}</url>\n");
    let entries = [
        // The second kind of white space is a variant of the rule.
        entry("https://example.com/a", "<lastmod> 2026-11-02 </lastmod>"),
        entry("https://example.com/b", "<changefreq> daily </changefreq>"),
        entry("https://example.com/c", "<changefreq>Daily</changefreq><lastmod>2026-11-2</lastmod>"),
        entry("https://EXAMPLE.com/d#e", "<priority>0,5</priority>"),
    ];
    let head =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n";
    let mut bench = Bench::file(&format!("{head}{}</urlset>\n", entries.concat()));
    bench.keys("gX");
    let screen = bench.screen();
    assert_eq!(screen.matches("field-whitespace").count(), 1, "{screen}");
    bench.shows("▲       2 rows  field-whitespace");
    bench.shows("1 row  loc-uppercase-host");
    assert!(!screen.contains("more rule"), "{screen}");
}
