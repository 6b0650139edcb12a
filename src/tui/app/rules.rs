//! The list of broken rules: counts, the files that they are in, and what its keys do with the chosen rule.
//!
//! Invariant: a key is about the rule that is highlighted, and nothing is changed before it was shown.

use super::super::jobs::Kind;
use super::super::theme::Role;
use super::super::words::{Line, Words};
use super::list::{Choice, List, ListKind, blank, entry, heading};
use super::{App, JobOutcome, Mode, Purpose};
use crate::check::rule::{FixKind, Grouping, Rule};
use crate::document::sitemap::SitemapId;
use crate::progress::Progress;
use crate::session::change::Refused;
use crate::session::explain::fix_words;
use crate::session::file_findings::WholeFinding;
use crate::session::findings::FindingTarget;
use crate::words::{counted, grouped};
use std::collections::BTreeMap;
use std::path::Path;

impl App {
    /// The rules that are broken, with how often and in which files.
    pub(super) fn open_rules(&mut self) {
        let mut lines: Vec<(Line, Choice)> = Vec::new();
        let is_set = self.session.document().sitemaps().len() > 1;
        let by_file = if is_set { self.session.rule_counts_by_file() } else { BTreeMap::new() };
        for (rule, count) in self.session.rule_counts() {
            let Some(severity) = rule.severity_in(self.session.profile()) else { continue };
            let words = Words::new()
                .and(severity.into(), format!("{} {:>8}  ", self.theme.finding_sign(severity), grouped(count)))
                .and(Role::Text, format!("{:32}", rule.code()))
                .and(Role::Dim, rule.summary());
            let right = match rule.grouping() {
                Some(Grouping::File) => {
                    let files = self.session.files_with(rule).max(1);
                    Words::dim(format!("{} in {}", counted(files, "finding"), counted(count, "row")))
                }
                Some(Grouping::Host) => Words::dim("1 finding per host"),
                None => Words::new(),
            };
            lines.push(entry(words, right, Choice::Rule(rule)));
            if let Some(files) = self.counts_in_files(&by_file, rule) {
                lines.push((Words::dim(format!("{:12}{files}", "")).into(), Choice::Read));
            }
        }
        let (whole, _) = self.session.first_whole_findings(200, |_| true, |_| ());
        if !whole.is_empty() {
            lines.push(blank());
            lines.push(heading("Files and whole set"));
            for finding in &whole {
                let sign = self.theme.finding_sign(finding.severity);
                let message = self.message_of(finding);
                let right = finding.fix.as_ref().map_or_else(Words::new, |fix| {
                    Words::new().and(Role::Key, "x").and(Role::Text, format!(" {}", fix.label))
                });
                // The bar, the sign and the gaps take the rest.
                let charset = self.theme.charset;
                let fixed = right.width(charset) + 11;
                let place = self.place_beside(finding.place, charset.width(message) + fixed);
                // What can be done is always said: the message gives way.
                let room = usize::from(self.size.0).saturating_sub(charset.width(&place) + fixed);
                let message = if right.is_empty() { message.into() } else { charset.cut(message, room.max(16)) };
                let words = Words::new()
                    .and(finding.severity.into(), format!("{sign} "))
                    .and(Role::Text, format!("{place}  "))
                    .and(Role::Dim, message.into_owned());
                lines.push(entry(words, right, Choice::Found(finding.place, finding.rule)));
            }
        }
        if lines.is_empty() {
            return self.say("no findings");
        }
        // `check` counts places: a row may break a rule in several.
        lines.insert(0, heading("Rows that break each rule"));
        self.mode = Mode::List(List::new(ListKind::Rules, lines));
    }

    /// How often a rule is broken in each file, the most affected files first, as many as fit on a line.
    fn counts_in_files(&self, counts: &BTreeMap<(usize, SitemapId), u64>, rule: Rule) -> Option<String> {
        let main = rule.main().index();
        let mut files: Vec<(SitemapId, u64)> =
            counts.range((main, SitemapId(0))..=(main, SitemapId(u32::MAX))).map(|(key, n)| (key.1, *n)).collect();
        files.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let charset = self.theme.charset;
        let room = usize::from(self.size.0).saturating_sub(32);
        let (mut out, mut told) = (String::new(), 0);
        for (id, count) in &files {
            let name = self.session.document().sitemap(*id).map_or("", |sitemap| super::stem(&sitemap.name));
            let name = charset.elide_middle(name, 30);
            // The count of the rule is that of its only file.
            let one = if files.len() == 1 { format!("in {name}") } else { format!("{} in {name}", grouped(*count)) };
            if told > 0 && charset.width(&out) + charset.width(&one) > room {
                break;
            }
            out.push_str(if told > 0 { ", " } else { "" });
            out.push_str(&one);
            told += 1;
        }
        let more = files.len() - told;
        if more > 0 {
            out.push_str(", and ");
            out.push_str(&counted(more as u64, "more file"));
        }
        (told > 0).then_some(out)
    }

    /// Opens the list with the line chosen that has so many lines after it.
    pub(super) fn return_to_rules(&mut self, after: usize) {
        if self.session.rule_counts().is_empty() {
            return;
        }
        self.open_rules();
        if let Mode::List(list) = &mut self.mode {
            // Lines before it may be gone; those after it are not.
            list.choose(list.lines.len().saturating_sub(after + 1));
        }
    }

    /// What the chosen rule means.
    pub(super) fn explain_chosen(&mut self, list: Box<List>) {
        match list.lines.get(list.chosen) {
            Some((_, Choice::Rule(rule) | Choice::Found(_, rule))) => {
                let after = list.lines.len().saturating_sub(list.chosen + 1);
                self.open_rule(*rule);
                if let Mode::List(opened) = &mut self.mode {
                    opened.under_rules = Some(after);
                }
            }
            _ => self.mode = Mode::List(list),
        }
    }

    /// Shows what the fix of the chosen rule would do, or says why there is none.
    pub(super) fn preview_chosen(&mut self, list: Box<List>) {
        let after = list.lines.len().saturating_sub(list.chosen + 1);
        let (place, rule) = match list.lines.get(list.chosen) {
            Some((_, Choice::Rule(rule))) => (None, *rule),
            Some((_, Choice::Found(place, rule))) => (Some(*place), *rule),
            _ => {
                self.mode = Mode::List(list);
                return;
            }
        };
        let is_it = |finding: &WholeFinding<'_>| {
            finding.rule == rule && finding.is_fixable && place.is_none_or(|place| finding.place == place)
        };
        let (found, _) = self.session.first_whole_findings(1, is_it, |_| ());
        if let Some(finding) = found.first() {
            return self.preview_whole(finding.place, rule, Some(after));
        }
        if place.is_none() && rule.fix() != FixKind::None {
            return self.open_line(Purpose::Command, &format!("%fix {}", rule.code()));
        }
        self.mode = Mode::List(list);
        let why = if rule.fix() == FixKind::None { fix_words(rule.fix()) } else { "nothing can be done at this place" };
        self.fail(format!("no fix for {}: {why}; K explains it", rule.code()));
    }

    /// Shows what the fix of a finding that no row carries would do, chosen among those of its rule.
    pub(super) fn preview_whole(&mut self, place: FindingTarget, rule: Rule, under_rules: Option<usize>) {
        // All entries of the index are fixed at once.
        let place = if place.is_of_index() { FindingTarget::Index(None) } else { place };
        self.open_of_files(rule);
        if let Mode::List(opened) = &mut self.mode {
            opened.under_rules = under_rules;
            if let Some(at) = opened.lines.iter().position(|(_, choice)| *choice == Choice::FixWhole(place, rule)) {
                opened.choose(at);
            }
        }
    }

    /// Asks for the name of the file that the findings are written to.
    pub(super) fn ask_findings_file(&mut self) {
        self.open_line(Purpose::Command, "check findings.md");
    }

    /// Writes the findings to a file: every row is put into words, which is work for a job.
    pub(super) fn write_findings(&mut self, path: String) {
        let report = self.session.findings_report();
        self.say("writing the findings…");
        let work = Box::new(move |progress: &Progress, _: &dyn Fn(_)| {
            JobOutcome::Reported(report.write(Path::new(&path), progress))
        });
        self.spawn(Kind::Report, work);
    }

    /// The findings are written, or not.
    pub(super) fn findings_written(&mut self, written: Result<Option<String>, Refused>) {
        match written {
            Ok(Some(words)) => self.say(words),
            Ok(None) => self.say("stopped; the findings were not written"),
            Err(refused) => self.fail(refused.0),
        }
    }
}
