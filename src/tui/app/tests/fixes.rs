//! The key for a fix, wherever a finding is seen.

use super::bench::Bench;
use crate::check::rule::{FixKind, Rule};
use crate::check::samples::NOW;
use crate::check::samples::sets::{Sample, samples};
use crate::files::{Conflicts, Options};
use crate::protocol::lastmod::Now;
use crate::session::sampled::{folder, paths};
use crate::tui::app::files::Start;
use crate::tui::app::list::Choice;
use crate::tui::app::{Event, Mode};

/// A sample on the screen.
fn open(sample: &Sample) -> Bench {
    let folder = folder(sample);
    let mut paths = paths(sample, folder.path());
    let start = if paths.len() == 1 { Start::Path(paths.remove(0)) } else { Start::Paths(paths) };
    let mut options = Options { base_url: sample.base.map(str::to_owned), ..Options::default() };
    options.conflicts = Conflicts::Show;
    options.max_unpacked = sample.most.unwrap_or(options.max_unpacked);
    let mut bench = Bench::start_at(start, (Now { seconds: NOW, offset: 0 }, options));
    bench.app.session.set_profile(sample.profile);
    bench.folder = Some(folder);
    if matches!(bench.app.mode, Mode::Ask(_)) {
        // Merge conflicts are asked about at once; they can be looked at first.
        bench.keys("l");
    }
    bench
}

fn is_broken(bench: &Bench, rule: Rule) -> bool {
    bench.app.session.rule_counts().iter().any(|(broken, _)| broken.main() == rule.main())
}

/// Says yes to what a fix asks, the first of the answers.
fn agree(bench: &mut Bench) {
    if matches!(bench.app.mode, Mode::List(_) | Mode::Line(_)) {
        bench.keys("<enter>");
    }
}

#[test]
fn a_row_without_findings_leads_to_those_that_others_have() {
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
    for words in ["nothing is wrong with this row", "} next finding", "gX fixes all safe"] {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    bench.keys("gx");
    assert!(bench.screen().contains("} goes to the next, gX fixes all safe"), "{}", bench.screen());
    bench.keys("}");
    assert!(bench.screen().contains("gx write the file as repaired"), "{}", bench.screen());
    bench.keys("gX<enter>");
    assert!(bench.app.session.rule_counts().is_empty(), "{}", bench.screen());
    bench.keys("gg");
    assert!(!bench.screen().contains("gX"), "{}", bench.screen());
}

#[test]
fn every_finding_that_can_be_fixed_is_fixed_where_it_is_seen() {
    for sample in samples().into_iter().filter(|sample| sample.rule.fix() != FixKind::None) {
        let rule = sample.rule;
        let mut bench = open(&sample);
        bench.send(Event::Resize(120, 40));
        assert!(is_broken(&bench, rule), "{rule:?}");
        bench.keys("<c-e>");
        let Mode::List(list) = &bench.app.mode else { panic!("{rule:?}: no list") };
        let place =
            |(_, choice): &(_, Choice)| matches!(choice, Choice::Found(_, found) if found.main() == rule.main());
        if let Some(at) = list.lines.iter().position(place) {
            // In the list of what is wrong with files, on its line.
            let lines = list.lines[list.chosen..at].iter();
            let steps = lines.filter(|(_, choice)| *choice != Choice::Read).count();
            bench.keys(&"j".repeat(steps)).keys("gx");
            if matches!(bench.app.mode, Mode::Ask(_)) {
                bench.keys("b");
            }
            if matches!(bench.app.mode, Mode::Line(_)) {
                bench.keys("<enter>");
            }
            bench.keys("<esc>");
        } else {
            // On its row, as one of what is wrong there.
            bench.keys(&format!("<esc>:filter rule:{}<enter>K", rule.code()));
            let Mode::List(list) = &bench.app.mode else { panic!("{rule:?}: {}", bench.screen()) };
            let is_it =
                |(_, choice): &(_, Choice)| matches!(choice, Choice::OfRow(found) if found.main() == rule.main());
            let at = list.lines.iter().position(is_it).unwrap_or_else(|| panic!("{rule:?}: {}", bench.screen()));
            let lines = list.lines[list.chosen..at].iter();
            let steps = lines.filter(|(_, choice)| *choice != Choice::Read).count();
            bench.keys(&"j".repeat(steps)).keys("x");
            agree(&mut bench);
        }
        assert!(!is_broken(&bench, rule), "{rule:?} stays: {}", bench.screen());
        assert!(bench.app.session.is_modified(), "{rule:?}");
        bench.keys("u");
        assert!(is_broken(&bench, rule), "{rule:?} undone");
    }
}

#[test]
fn the_key_that_fixes_all_shows_its_counts_first() {
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
    assert!(!bench.app.session.is_modified(), "nothing is fixed before it was seen");
    for words in [":%fix safe", "2 changes", "2 rows  changefreq-case", "1 row  field-whitespace"] {
        bench.shows(words);
    }
    bench.keys("<esc>");
    assert!(!bench.app.session.is_modified());
    bench.keys("gX<enter>");
    assert_eq!(bench.app.session.changed(), 2);
}
