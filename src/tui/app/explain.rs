//! Explanations of a rule, a value, or all findings of a row, a file or an index entry.

use super::super::theme::Role;
use super::super::words::{Line, Words};
use super::list::{Choice, List, ListKind, blank, entry};
use super::{App, Here, Mode, large};
use crate::check::decision::{Decision, choices};
use crate::check::rule::Rule;
use crate::protocol::location::origin;
use crate::protocol::verdict::{Authority, Ruling, Verdicts, of_namespace};
use crate::session::explain::{explain, fix_words, severities, verdicts};
use crate::session::findings::{FileFinding, Finding, FindingTarget};
use crate::tui::command::Action;
use crate::words::{counted, grouped};

impl App {
    /// What a rule means, whether a row breaks it or not.
    pub(super) fn open_rule(&mut self, rule: Rule) {
        let width = usize::from(self.size.0).saturating_sub(10).clamp(20, 100);
        let mut lines = vec![(
            Words::new().and(Role::Accent, rule.code()).and(Role::Dim, format!("   {}", rule.summary())).into(),
            Choice::Read,
        )];
        for line in Words::text(rule.help()).wrapped(self.theme.charset, width, 0) {
            lines.push((Words::text("  ").joined(line).into(), Choice::Read));
        }
        for (profile, severity) in severities(rule) {
            let words = Words::dim(format!("  {:12} ", profile.name()));
            let words = match severity {
                Some(severity) => words.and(severity.into(), severity.name()),
                None => words.and(Role::Dim, "not asked"),
            };
            let words = if profile == self.session.profile() { words.and(Role::Accent, "   asked now") } else { words };
            lines.push((words.into(), Choice::Read));
        }
        let reason = Words::dim(format!("{:12} {}", "reason", rule.reason()));
        for line in reason.wrapped(self.theme.charset, width, 13) {
            lines.push((Words::text("  ").joined(line).into(), Choice::Read));
        }
        lines.push((Words::dim(format!("  {:12} {}", "fix", fix_words(rule.fix()))).into(), Choice::Read));
        for answer in choices(rule) {
            let line = format!("  {:12} {:12} {}", "answer", answer.word, answer.about);
            lines.push((Words::dim(line).into(), Choice::Read));
        }
        lines.push((Words::dim(format!("  {:12} {}", "source", rule.source())).into(), Choice::Read));
        self.mode = Mode::List(List::new(ListKind::Explain, lines));
    }

    /// What is to be said of a text as a value. False if it looks like none.
    pub(super) fn open_value(&mut self, text: &str) -> bool {
        let found = explain(text, self.session.view().clock);
        let width = usize::from(self.size.0).saturating_sub(10).clamp(20, 100);
        let mut lines: Vec<(Line, Choice)> = Vec::new();
        for one in &found {
            if !lines.is_empty() {
                lines.push(blank());
            }
            let title = Words::new().and(Role::Accent, text.to_owned()).and(Role::Dim, format!("   as {}", one.what));
            lines.push((title.into(), Choice::Read));
            if let Some(verdicts) = &one.verdicts {
                lines.extend(self.verdict_table(verdicts));
            }
            for finding in &one.findings {
                let sign = self.theme.finding_sign(finding.severity);
                let words = Words::new()
                    .and(finding.severity.into(), format!("{sign} "))
                    .and(Role::Text, finding.message.clone())
                    .and(Role::Dim, format!("   {}", finding.rule.code()));
                for line in words.wrapped(self.theme.charset, width, 2) {
                    lines.push((Words::text("  ").joined(line).into(), Choice::Read));
                }
            }
        }
        if found.is_empty() {
            return false;
        }
        self.mode = Mode::List(List::new(ListKind::Explain, lines));
        true
    }

    /// What is wrong with the current row, at length.
    pub(super) fn open_explain(&mut self) {
        let Some(row) = self.grid.row else { return };
        if large::waits(self, row, Action::Explain) {
            return;
        }
        let here = self.findings_here(row);
        if here.is_empty() {
            return self.say("nothing is wrong with this row");
        }
        if let [Here::Whole(finding)] = here.as_slice() {
            return self.open_of_files(finding.rule);
        }
        let mut lines = Vec::new();
        let width = usize::from(self.size.0).saturating_sub(10).clamp(20, 100);
        let charset = self.theme.charset;
        for one in &here {
            if !lines.is_empty() {
                lines.push(blank());
            }
            let (rule, severity, message, fix) = match one {
                Here::Row(finding) => (finding.rule, finding.severity, &finding.message, &finding.fix),
                Here::Whole(finding) => (finding.rule, finding.severity, &finding.message, &finding.fix),
            };
            let sign = self.theme.finding_sign(severity);
            let mut title = Words::new()
                .and(severity.into(), format!("{sign} {}", rule.code()))
                .and(Role::Dim, format!("   {}", severity.name()));
            let choice = match one {
                Here::Row(_) => Choice::OfRow(rule),
                Here::Whole(finding) => {
                    title.push(Role::Dim, format!("   {}", self.place_name(finding.place)));
                    Choice::Found(finding.place, rule)
                }
            };
            let right = if self.has_way(row, one) { Words::new().and(Role::Key, "x") } else { Words::new() };
            lines.push(entry(title, right, choice));
            let mut say = |role: Role, text: String| {
                for line in Words::new().and(role, text).wrapped(charset, width, 0) {
                    lines.push((Words::text("  ").joined(line).into(), Choice::Read));
                }
            };
            say(Role::Text, message.clone());
            if rule.help() != message {
                say(Role::Dim, rule.help().to_owned());
            }
            say(Role::Dim, format!("{}: {}", severity.name(), rule.reason()));
            let ways = match one {
                Here::Row(finding) => self.decisions_of(row, finding),
                Here::Whole(_) => Vec::new(),
            };
            if ways.len() > 1 {
                let ways: Vec<String> = ways.iter().map(Decision::label).collect();
                say(Role::Good, format!("x asks: {}", ways.join(", ")));
            } else if let Some(fix) = fix {
                say(Role::Good, format!("x: {}", fix.label));
            }
            match one {
                Here::Row(Finding { field: Some(field), .. }) => {
                    let text = large::cell(self, row, *field);
                    let verdicts = text.and_then(|text| verdicts(*field, &text));
                    lines.extend(verdicts.iter().flat_map(|verdicts| self.verdict_table(verdicts)));
                }
                Here::Whole(finding) => {
                    let uri = self.namespace_of(finding);
                    lines.extend(uri.iter().flat_map(|uri| self.verdict_table(&of_namespace(uri))));
                }
                Here::Row(_) => {}
            }
            lines.push((Words::dim(format!("  source: {}", rule.source())).into(), Choice::Read));
        }
        for (rule, count) in large::entry(self, row).iter().flat_map(|entry| &entry.more) {
            let words = format!("{}: {} more in this row", rule.code(), grouped(*count as u64));
            lines.extend([blank(), (Words::dim(words).into(), Choice::Read)]);
        }
        self.mode = Mode::List(List::new(ListKind::Explain, lines));
    }

    /// What breaks a rule without being a row: which file or entry of the index, and why.
    pub(super) fn open_of_files(&mut self, rule: Rule) {
        let width = usize::from(self.size.0).saturating_sub(10).clamp(20, 100);
        let charset = self.theme.charset;
        let mut lines: Vec<(Line, Choice)> = Vec::new();
        let mut tables: Vec<(Line, Choice)> = Vec::new();
        // What can be fixed comes first, to be chosen.
        let (whole, count) = self.session.first_whole_findings(200, |finding| finding.rule == rule, |_| ());
        for finding in &whole {
            // All entries of the index are fixed at once.
            let place = if finding.place.is_of_index() { FindingTarget::Index(None) } else { finding.place };
            let is_listed = lines.iter().any(|(_, choice)| *choice == Choice::FixWhole(place, rule));
            if let Some(fix) = finding.fix.as_ref().filter(|_| !is_listed) {
                let words = Words::new().and(Role::Good, fix.label.clone());
                let name = self.place_name(finding.place);
                let name = charset.elide(&name, width.saturating_sub(charset.width(&fix.label) + 2));
                let words = words.and(Role::Dim, format!("  {name}"));
                lines.push(entry(words, Words::new().and(Role::Key, "x"), Choice::FixWhole(place, rule)));
            }
        }
        let mut say = |words: Words| {
            lines.extend(words.wrapped(charset, width, 2).into_iter().map(|line| (line.into(), Choice::Read)));
        };
        for finding in &whole {
            let sign = self.theme.finding_sign(finding.severity);
            let place = self.place_name(finding.place);
            say(Words::new().and(finding.severity.into(), format!("{sign} ")).and(Role::Text, place));
            say(Words::dim(format!("  {}", self.message_of(finding))));
            if let Some(uri) = self.namespace_of(finding) {
                tables.extend(self.verdict_table(&of_namespace(&uri)));
            }
        }
        tables.truncate(Authority::ALL.len());
        lines.extend(tables);
        let mut say = |words: Words| {
            lines.extend(words.wrapped(charset, width, 2).into_iter().map(|line| (line.into(), Choice::Read)));
        };
        say(Words::new());
        say(Words::dim(rule.help()));
        say(Words::dim(rule.reason()));
        say(Words::dim(format!("source: {}", rule.source())));
        let all = self.session.rule_counts().into_iter().find(|(own, _)| *own == rule).map_or(0, |(_, all)| all);
        if all > count as u64 {
            let words = Words::text(format!("show the {} with it too", counted(all - count as u64, "row")));
            lines.insert(0, entry(words, Words::new(), Choice::Rows(rule)));
        }
        self.mode = Mode::List(List::new(ListKind::Explain, lines));
    }

    /// The namespace that a finding of a file is about.
    fn namespace_of(&self, finding: &FileFinding) -> Option<String> {
        let document = self.session.document().with_pending_split();
        let names = match finding.place {
            FindingTarget::Sitemap(id) => &document.sitemap(id)?.frame.names,
            FindingTarget::Index(None) => &document.index()?.source.names,
            FindingTarget::IndexFile(number) => &document.index()?.more.get(number.checked_sub(1)?)?.frame.names,
            FindingTarget::Index(Some(_)) | FindingTarget::Set => return None,
        };
        let of_root = finding.rule.code().starts_with("ns-") && !finding.rule.code().starts_with("ns-ext");
        of_root.then(|| names.uri.as_deref().unwrap_or_default().to_owned())
    }

    /// The name of what a finding of no row is about.
    pub(in crate::tui) fn place_name(&self, place: FindingTarget) -> String {
        let document = self.session.document().with_pending_split();
        match place {
            FindingTarget::Sitemap(id) => {
                document.sitemap(id).map(|sitemap| sitemap.name.to_string()).unwrap_or_default()
            }
            FindingTarget::Index(None) => document.index().map(|index| index.name.to_string()).unwrap_or_default(),
            FindingTarget::IndexFile(number) => {
                let file = document.index().and_then(|index| index.file(number));
                file.map(|file| file.name.to_string()).unwrap_or_default()
            }
            FindingTarget::Index(Some(child)) => {
                let loc =
                    document.index().and_then(|index| index.children.get(child)).map(|child| child.loc.to_string());
                loc.unwrap_or_default()
            }
            FindingTarget::Set => "the set".to_owned(),
        }
    }

    /// What is wrong, beside the name of what it is about: that is not said twice.
    pub(in crate::tui) fn message_of<'f>(&self, finding: &'f FileFinding) -> &'f str {
        let message = &*finding.message;
        // The name of a file is part of the sentence where it is its subject.
        let ends: &[char] = if matches!(finding.place, FindingTarget::Index(Some(_))) { &[':', ' '] } else { &[':'] };
        let rest = message.strip_prefix(&self.place_name(finding.place)).filter(|rest| rest.starts_with(ends));
        rest.map_or(message, |rest| rest.trim_start_matches([':', ' ']))
    }

    /// The name of what a finding of no row is about, as long as what is wrong leaves room for it.
    pub(in crate::tui) fn place_beside(&self, place: FindingTarget, others: usize) -> String {
        let name = self.place_name(place);
        // Of a URL the path tells one from the next.
        let path = origin(&name).map_or(name.as_str(), |(_, path)| path);
        let width = usize::from(self.size.0);
        let room = width.saturating_sub(others).max(width / 5);
        self.theme.charset.elide(super::stem(path), room).into_owned()
    }

    /// Who accepts a value, in a line: `protocol ✓  schema ✗  Google ✗  Bing ✓  Yandex ·`.
    pub(in crate::tui) fn verdict_words(&self, verdicts: &Verdicts) -> Words {
        let mut words = Words::new();
        for verdict in verdicts {
            if !words.is_empty() {
                words.push(Role::Text, "  ");
            }
            let (role, sign) = self.ruling(verdict.ruling);
            words.push(Role::Dim, format!("{} ", verdict.authority.name()));
            words.push(role, sign);
        }
        words
    }

    /// The same below each other, with the reasons.
    fn verdict_table(&self, verdicts: &Verdicts) -> Vec<(Line, Choice)> {
        let line = |verdict: &crate::protocol::verdict::Verdict| {
            let (role, sign) = self.ruling(verdict.ruling);
            let words = Words::dim(format!("  {:10}", verdict.authority.name()))
                .and(role, format!("{sign} {:13}", verdict.ruling.name()))
                .and(Role::Dim, verdict.why);
            (Line::from(words), Choice::Read)
        };
        verdicts.iter().map(line).collect()
    }

    const fn ruling(&self, ruling: Ruling) -> (Role, &'static str) {
        let signs = &self.theme.signs;
        match ruling {
            Ruling::Accepts => (Role::Good, signs.good),
            Ruling::Rejects => (Role::Error, signs.error),
            Ruling::Ignores => (Role::Dim, signs.note),
            Ruling::Silent => (Role::Dim, "-"),
        }
    }
}
