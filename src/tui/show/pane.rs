//! Shows the pane under the table: findings, verdicts, previews, lists, questions.

use super::super::app::{Add, App, CellEdit, Doubt, Here, LineEdit, List, ListKind, Mode, Purpose, Verdict, large};
use super::super::draw::panel::Panel;
use super::super::text;
use super::super::theme::Role;
use super::super::words::{Line, Words};
use crate::check::rule::{FixKind, Rule};
use crate::document::rows::RowId;
use crate::protocol::changefreq::Changefreq;
use crate::protocol::{Field, Severity};
use crate::session::explain::verdicts;
use crate::session::file_findings::WholeFinding;
use crate::session::findings::{FileFinding, Finding};
use crate::words::{counted, grouped, size};

pub(super) const GAP: &str = "   ";

impl App {
    pub(super) fn pane(&self) -> Panel {
        match &self.mode {
            Mode::Cell(edit) => self.cell_pane(edit),
            Mode::Line(edit) => self.line_pane(edit),
            Mode::Bulk(bulk) => self.bulk_pane(bulk),
            Mode::Add(add) => self.add_pane(add),
            Mode::Element(edit) => self.element_pane(edit),
            _ => self.status_pane(),
        }
    }

    pub(super) fn cover(&self) -> Option<Panel> {
        match &self.mode {
            Mode::List(list) => Some(list_panel(list)),
            Mode::Changes(changes) => Some(self.changes_panel(changes)),
            Mode::Merge(merging) => Some(self.merge_panel(merging)),
            Mode::Ask(ask) => {
                let wrapped = |line: &Line| {
                    if line.right.is_empty() { self.folded_lines(&line.left) } else { vec![line.clone()] }
                };
                let lines = ask.lines.iter().flat_map(wrapped).collect();
                Some(Panel {
                    title: ask.title.clone().into(),
                    lines,
                    chosen: None,
                    top: ask.top,
                    foot: self.answer_lines(ask),
                })
            }
            _ => None,
        }
    }

    /// Counts of the set at the left, the current file's gauges at the right; below, the row and the rules.
    fn status_pane(&self) -> Panel {
        let title = self.counts_and_gauges();
        let height = usize::from(self.areas().pane.height);
        let mut lines = Vec::with_capacity(height);
        // What can be lost comes before what can be fixed.
        if let Some(not_kept) = self.session.not_kept() {
            let sign = format!("{} ", self.theme.signs.error);
            lines.extend(self.folded_lines(&Words::new().and(Role::Error, sign).and(Role::Text, not_kept)));
        }
        let warned = lines.len().min(height);
        // The row above, the rules of the set below; both keep their places.
        let rules = (height - warned).div_ceil(3).min(height - warned);
        let room = height - rules - warned;
        if room > 0 {
            match self.grid.row {
                Some(row) => lines.extend(self.row_lines(row, room)),
                None => lines.extend(self.file_lines(room)),
            }
        }
        lines.truncate(height - rules);
        lines.resize(height - rules, Line::default());
        lines.extend(self.rules_lines(rules));
        Panel { title, lines, chosen: None, top: 0, foot: Vec::new() }
    }

    /// What is said of a row: its findings and those of its file, worst first; a clean one shows its whole URL.
    fn row_lines(&self, row: RowId, most: usize) -> Vec<Line> {
        let is_read = !large::is_large(&self.session, row) || large::entry(self, row).is_some();
        let here = self.findings_here(row);
        // The key does what is said beside it, and that is the first that it can do something about.
        let first = here.iter().position(|one| self.has_way(row, one));
        let found: Vec<Line> = (0..)
            .zip(&here)
            .map(|(at, one)| {
                let key = if Some(at) == first { "gx" } else { "" };
                match one {
                    Here::Row(finding) => self.finding_line(row, finding, key),
                    Here::Whole(finding) => self.whole_line(finding, key),
                }
            })
            .collect();
        let mut lines: Vec<Line> = Vec::new();
        if found.is_empty() || most > found.len() {
            let loc = large::cell(self, row, Field::Loc).unwrap_or_default().into_owned();
            lines.push(Words::dim(loc).into());
        }
        let shown = most.saturating_sub(lines.len());
        let untold = large::entry(self, row).map_or(0, |entry| entry.more.iter().map(|(_, count)| count).sum());
        let more = found.len().saturating_sub(shown) + untold;
        lines.extend(found.into_iter().take(shown));
        if more > 0
            && let Some(last) = lines.last_mut()
        {
            last.right = Words::dim(format!("{} more", grouped(more as u64)));
            last.right.key("K", "all");
        }
        if !is_read && lines.len() < most {
            let entry = size(large::size(&self.session, row) as u64);
            lines.push(Words::dim(format!("checking the entry, {entry}…")).into());
        } else if lines.len() == 1 && lines.len() < most && more == 0 {
            let document = self.session.document();
            let good = match (document.is_live(row), document.lists_sitemaps()) {
                (false, _) => "deleted; dd brings it back",
                (true, false) => "nothing is wrong with this row",
                (true, true) => "nothing is wrong with this entry",
            };
            let mut line: Line =
                Words::new().and(Role::Good, format!("{} ", self.theme.signs.good)).and(Role::Dim, good).into();
            if self.session.has_bad_rows() {
                line.right.key("}", "next finding");
            }
            lines.push(line);
        }
        lines
    }

    /// What is wrong with files, the index and the set, where there is no row.
    fn file_lines(&self, most: usize) -> Vec<Line> {
        let is_told = |finding: &WholeFinding<'_>| finding.severity > Severity::Note || finding.is_fixable;
        let rank = |finding: &WholeFinding<'_>| std::cmp::Reverse((finding.severity, finding.is_fixable));
        let (found, _) = self.session.first_whole_findings(most, is_told, rank);
        let first = found.iter().position(|finding| finding.fix.is_some());
        let key = |at: usize| if Some(at) == first { "gx" } else { "" };
        (0..).zip(&found).map(|(at, finding)| self.whole_line(finding, key(at))).collect()
    }

    fn whole_line(&self, finding: &FileFinding, key: &'static str) -> Line {
        let mut right = Words::new();
        if let Some(fix) = &finding.fix {
            offer(&mut right, key, &fix.label);
        }
        let message = self.message_of(finding);
        let charset = self.theme.charset;
        // The sign, the gaps and the margins take the rest.
        let others = charset.width(message) + right.width(charset) + 13;
        let place = self.place_beside(finding.place, others);
        self.coded(finding.severity, (&place, message), finding.rule, right)
    }

    fn finding_line(&self, row: RowId, finding: &Finding, key: &'static str) -> Line {
        let mut right = Words::new();
        if self.needs_decision(row, finding) {
            offer(&mut right, key, "asks how it is meant");
        } else if let Some(fix) = &finding.fix {
            offer(&mut right, key, &fix.label);
        } else if let Some(field) = finding.field
            && let Some(text) = large::cell(self, row, field)
            && let Some(verdicts) = verdicts(field, &text)
        {
            right = self.verdict_words(&verdicts);
        }
        self.coded(finding.severity, ("", &finding.message), finding.rule, right)
    }

    /// A finding after its sign, with its code where there is room for that. What can be done about it is always
    /// said: the message gives way.
    fn coded(&self, severity: Severity, (place, message): (&str, &str), rule: Rule, right: Words) -> Line {
        let charset = self.theme.charset;
        let sign = self.theme.finding_sign(severity);
        let place = if place.is_empty() { String::new() } else { format!("{place}  ") };
        let mut left = Words::new().and(severity.into(), format!("{sign} ")).and(Role::Dim, place);
        let code = format!("{GAP}{}", rule.code());
        let can_be_done = matches!(right.pieces().first(), Some((Role::Key, _)));
        let room = usize::from(self.size.0).saturating_sub(7 + right.width(charset) + left.width(charset));
        let fits = charset.width(message) + charset.width(&code) <= room;
        if can_be_done && !fits {
            left.push(Role::Text, charset.cut(message, room.max(20)).into_owned());
        } else {
            left.push(Role::Text, message.to_owned());
            left.push(Role::Dim, code);
        }
        Line::new(left, right)
    }

    /// The rules behind the counts, as many as have a place.
    fn rules_lines(&self, most: usize) -> Vec<Line> {
        let charset = self.theme.charset;
        let width = usize::from(self.size.0).saturating_sub(5);
        let mut right = Words::new();
        let counts = self.session.rule_counts();
        if self.size.0 >= 60 && counts.iter().any(|(rule, _)| rule.fix() == FixKind::Safe) {
            right.key("gX", if self.size.0 >= 100 { "fixes all that is safe" } else { "fixes all safe" });
        }
        // How many there are: not all of them may have room here.
        let rules = counted(counts.len() as u64, "rule");
        let has_fixes = self.size.0 >= 60 && self.session.can_fix_whole();
        right.key("^E", if has_fixes { format!("{rules}, fixes") } else { rules });
        let reserved = right.width(charset) + 2;
        let (mut lines, mut words) = (Vec::new(), Words::new());
        for (rule, count) in &counts {
            let Some(severity) = rule.severity_in(self.session.profile()) else { continue };
            let role = if severity == Severity::Note { Role::Dim } else { severity.into() };
            let one = Words::new()
                .and(role, format!("{} {} ", self.theme.finding_sign(severity), grouped(*count)))
                .and(Role::Dim, rule.code());
            let last = lines.len() + 1 == most;
            let room = if last { width.saturating_sub(reserved) } else { width };
            if !words.is_empty() && words.width(charset) + one.width(charset) + GAP.len() > room {
                if last {
                    break;
                }
                lines.push(Line::from(std::mem::take(&mut words)));
            }
            if !words.is_empty() {
                words.push(Role::Text, GAP);
            }
            words.append(one);
        }
        if counts.is_empty() && self.session.document().lists_sitemaps() {
            let words = "None of these sitemaps is in this folder, so only the entries of the index are checked.";
            return vec![Words::dim(words).into()];
        }
        if counts.is_empty() && !self.session.is_loading() {
            return vec![Words::dim("no findings in the set").into()];
        }
        // The keys get a line of their own where there is one.
        let is_full = words.width(charset) + reserved > width;
        lines.push(words.into());
        if is_full && lines.len() < most {
            lines.push(Line::default());
        }
        if !counts.is_empty()
            && let Some(last) = lines.last_mut()
        {
            last.right = right;
        }
        lines
    }

    fn cell_pane(&self, edit: &CellEdit) -> Panel {
        let verdicts =
            edit.verdict.value.as_deref().and_then(|value| verdicts(edit.field, text::up_to(value, large::SMALL)));
        let accepts = verdicts.map_or_else(Words::new, |verdicts| self.verdict_words(&verdicts));
        let mut lines = self.verdict_lines(&edit.verdict, edit.prompt.text());
        if edit.field == Field::Changefreq {
            let list = self.frequencies(edit.verdict.value.as_deref());
            lines.splice(0..0, list);
        }
        let mut words = Words::new();
        match &edit.before {
            Some(before) => words.push(Role::Dim, format!("was {}", text::up_to(before, large::SMALL))),
            None => words.push(Role::Dim, "was empty"),
        }
        if edit.field == Field::Lastmod {
            let now = self.session.view().clock;
            words
                .push(Role::Dim, format!("{GAP}today {}{GAP}now {}{GAP}none removes it", now.today(), now.timestamp()));
        }
        if edit.field == Field::Changefreq {
            words.push(Role::Dim, format!("{GAP}an empty cell removes it"));
        }
        lines.push(words.into());
        if !edit.others.is_empty() {
            let count = counted(edit.others.len() as u64, "more URL");
            let words = Words::new().and(Role::Bold, count).and(Role::Text, " pasted").and(Role::Dim, GAP);
            let mut words = words.and(Role::Dim, format!("{GAP}they become rows below this one"));
            words.key("↵", "keeps all");
            lines.insert(0, words.into());
        }
        let title = Line::new(Words::new().and(Role::Accent, edit.field.name()), accepts);
        Panel { title, lines, chosen: None, top: 0, foot: Vec::new() }
    }

    /// The seven frequencies, the current one marked.
    fn frequencies(&self, value: Option<&str>) -> Vec<Line> {
        let current = value.and_then(Changefreq::parse);
        let mut words = Words::new();
        for frequency in Changefreq::ALL {
            let name = frequency.name();
            if current == Some(frequency) {
                words.push(Role::Chosen, format!("[{name}]"));
                words.push(Role::Text, " ");
            } else {
                words.push(Role::Text, format!(" {name}  "));
            }
        }
        let width = usize::from(self.size.0).saturating_sub(4);
        if words.width(self.theme.charset) <= width { vec![words.into()] } else { self.folded_lines(&words) }
    }

    fn verdict_lines(&self, verdict: &Verdict, typed: &str) -> Vec<Line> {
        let signs = self.theme.signs;
        let mut lines = Vec::new();
        if let Some(reason) = &verdict.refused {
            return self.signed(Severity::Error, reason.clone());
        }
        let value = verdict.value.as_deref();
        let mut first = Words::new();
        if verdict.findings.is_empty() {
            match value {
                None => first.push(Role::Dim, "will be empty"),
                Some(value) if value == typed.trim() => {
                    first.push(Role::Good, format!("{} good", signs.good));
                }
                Some(value) => {
                    first = Words::new().and(Role::Good, format!("{} ", signs.good)).and(Role::Text, value.to_owned());
                }
            }
            lines.push(first.into());
        }
        for finding in &verdict.findings {
            let sign = self.theme.finding_sign(finding.severity);
            let words = Words::new()
                .and(finding.severity.into(), format!("{sign} "))
                .and(Role::Text, finding.message.clone())
                .and(Role::Dim, format!("{GAP}{}", finding.rule.code()));
            lines.push(words.into());
        }
        if let Some((text, why)) = &verdict.suggestion {
            let mut right = Words::new();
            right.key("Tab", "takes it");
            let words = Words::new()
                .and(Role::Dim, format!("  {} ", signs.arrow))
                .and(Role::Good, text.clone())
                .and(Role::Dim, format!("{GAP}{why}"));
            lines.insert(1.min(lines.len()), Line::new(words, right));
        }
        if verdict.twins > 0 {
            let words = format!("{} has this URL already", counted(verdict.twins as u64, "other row"));
            lines.push(Words::new().and(Role::Warning, format!("{} ", signs.warning)).and(Role::Text, words).into());
        }
        lines
    }

    /// What is wrong, after its sign, in as many lines as it needs.
    pub(super) fn signed(&self, severity: Severity, text: String) -> Vec<Line> {
        let sign = Words::new().and(severity.into(), format!("{} ", self.theme.finding_sign(severity)));
        self.folded_lines(&sign.and(Role::Text, text))
    }

    /// Words in lines as wide as the pane.
    fn folded_lines(&self, words: &Words) -> Vec<Line> {
        let width = usize::from(self.size.0).saturating_sub(5).max(1);
        words.wrapped(self.theme.charset, width, 2).into_iter().map(Line::from).collect()
    }

    fn line_pane(&self, edit: &LineEdit) -> Panel {
        let mut title = Line::default();
        let mut lines = Vec::new();
        match &edit.parsed {
            Some(Err(error)) => {
                title.left = Words::dim("type a command");
                if matches!(edit.purpose, Purpose::Filter | Purpose::Search | Purpose::Mark | Purpose::Unmark) {
                    title.left = Words::dim("type a query");
                }
                // What is not typed yet is no mistake.
                let typed = edit.purpose.prefix().len() + edit.prompt.text().len();
                if error.span.start >= typed {
                    lines.extend(self.folded_lines(&Words::text(error.message.clone())));
                } else {
                    lines.extend(self.signed(Severity::Error, error.message.clone()));
                }
                if !error.hint.is_empty() {
                    let words = Words::dim("  ").and(Role::Dim, error.hint.clone());
                    lines.extend(self.folded_lines(&words));
                }
            }
            Some(Ok(_)) => {
                if let Some(preview) = &edit.preview {
                    return self.with_completion(self.preview_panel(preview, edit.top), edit);
                }
                let follows = matches!(edit.purpose, Purpose::Filter | Purpose::Search);
                if follows && edit.prompt.completion.is_none() {
                    return self.status_pane();
                }
                title.left = match edit.purpose {
                    Purpose::Filter => Words::dim("the table shows the matching rows"),
                    Purpose::Search => Words::dim("the cursor goes to the next matching row"),
                    Purpose::Base => Words::text("new files need URLs: enter the base URL of the set"),
                    _ => Words::dim("…"),
                };
            }
            None => {
                title.left = match edit.purpose {
                    Purpose::Command => Words::dim("a command"),
                    Purpose::Base => Words::dim("the base URL: where the folder of the set is served"),
                    _ => Words::dim("a query: words, or field op value"),
                };
            }
        }
        self.with_completion(Panel { title, lines, chosen: None, top: 0, foot: Vec::new() }, edit)
    }

    /// Proposals below whatever else there is.
    fn with_completion(&self, mut panel: Panel, edit: &LineEdit) -> Panel {
        let Some(completion) = &edit.prompt.completion else { return panel };
        let height = usize::from(self.areas().pane.height);
        let most = height.saturating_sub(panel.lines.len().min(height.saturating_sub(2)));
        let from = completion.chosen.unwrap_or(0).saturating_sub(most.saturating_sub(1));
        let width = completion.candidates.iter().map(|one| self.theme.charset.width(&one.text)).max().unwrap_or(0);
        panel.lines.truncate(height - most);
        for (at, one) in completion.candidates.iter().enumerate().skip(from).take(most) {
            let chosen = completion.chosen == Some(at);
            let role = if chosen { Role::Chosen } else { Role::Key };
            let pad = " ".repeat(width.saturating_sub(self.theme.charset.width(&one.text)) + 3);
            let words = Words::new().and(role, one.text.clone()).and(Role::Text, pad).and(Role::Dim, one.hint.clone());
            let mut line = Line::from(words);
            if at == from && completion.chosen.is_none() {
                line.right.key("Tab", "completes");
            }
            panel.lines.push(line);
        }
        panel
    }

    fn add_pane(&self, add: &Add) -> Panel {
        let place = if add.before { "above this row" } else { "below this row" };
        if add.list.is_empty() {
            let window = add.prompt.window(self.theme.charset, usize::from(self.size.0).saturating_sub(8));
            let (head, tail) = self.theme.charset.split(&window.text, window.caret);
            let words = Words::text(head).and(Role::Accent, self.theme.signs.caret).and(Role::Text, tail);
            let mut lines: Vec<Line> = vec![words.into()];
            lines.extend(self.verdict_lines(&add.verdict, add.prompt.text()));
            let title = Words::new().and(Role::Accent, "add a URL").and(Role::Dim, format!(" {place}"));
            return Panel { title: title.into(), lines, chosen: None, top: 0, foot: Vec::new() };
        }
        self.pasted_pane(add, place)
    }

    /// A list that was pasted: what is added, and the lines that speak against themselves, which come first.
    fn pasted_pane(&self, add: &Add, place: &str) -> Panel {
        let signs = self.theme.signs;
        let title = Words::new()
            .and(Role::Bold, counted(add.list.len() as u64, "line"))
            .and(Role::Text, " pasted")
            .and(Role::Dim, format!("{GAP}they come {place}"));
        let taken = add.list.iter().filter(|line| add.takes(line)).count();
        let mut enter = Words::new();
        enter.key("↵", format!("adds {}", counted(taken as u64, "URL")));
        let mut lines: Vec<Line> = Vec::new();
        let [known, wrong] = add.doubts();
        let doubts = [
            (known, "d", add.adds_known, "already there", Role::Warning, signs.warning),
            (wrong, "e", add.adds_wrong, "with errors", Role::Error, signs.error),
        ];
        for (count, key, is_added, what, role, sign) in doubts {
            if count > 0 {
                let fate = if is_added { "added all the same" } else { "skipped" };
                let words = format!("{} {what}: {fate}", counted(count, "line"));
                let mut right = Words::new();
                right.key(key, if is_added { "skips them" } else { "adds them" });
                lines.push(Line::new(Words::new().and(role, format!("{sign} ")).and(Role::Text, words), right));
            }
        }
        let height = usize::from(self.areas().pane.height).max(lines.len() + 1);
        let doubtful = add.list.iter().filter(|line| line.doubt.is_some());
        let sound = add.list.iter().filter(|line| line.doubt.is_none());
        let charset = self.theme.charset;
        let width = usize::from(self.size.0).saturating_sub(6);
        let room = height - lines.len();
        let top = add.top.min(add.list.len().saturating_sub(room));
        lines.extend(doubtful.chain(sound).skip(top).take(room).map(|line| {
            let (role, sign, why) = match &line.doubt {
                None => (Role::Dim, " ", String::new()),
                Some(Doubt::InSet(row)) => {
                    let number = grouped(u64::from(self.session.number(*row)));
                    (Role::Warning, signs.warning, format!("already in row {number}"))
                }
                Some(Doubt::Repeated) => (Role::Warning, signs.warning, "twice in the list".to_owned()),
                Some(Doubt::Wrong(why)) => (Role::Error, signs.error, why.clone()),
            };
            let of_url = if add.takes(line) { Role::Text } else { Role::Deleted };
            let why = charset.cut(&why, width * 2 / 3).into_owned();
            let loc = charset.elide(&line.loc, width.saturating_sub(charset.width(&why) + 4).max(12)).into_owned();
            Words::new().and(role, format!("{sign} ")).and(of_url, loc).and(Role::Dim, format!("  {why}")).into()
        }));
        Panel { title: Line::new(title, enter), lines, chosen: None, top: 0, foot: Vec::new() }
    }
}

/// What can be done about a finding, with the key that does it now.
fn offer(right: &mut Words, key: &'static str, label: &str) {
    if key.is_empty() {
        right.push(Role::Dim, label.to_owned());
    } else {
        right.push(Role::Key, key);
        right.push(Role::Text, format!(" {label}"));
    }
}

/// A list as a panel.
fn list_panel(list: &List) -> Panel {
    let chooses = list.chooses();
    let (title, right) = match list.kind {
        ListKind::Help => ("help", "/ searches   Enter does what is chosen"),
        ListKind::Palette => ("commands", ""),
        ListKind::History => ("history", "Enter goes to that state   c: as commands"),
        ListKind::Script => ("history as commands, for sited --script", "y copies them"),
        ListKind::Rules => ("findings by rule", "Enter shows rows   x fixes   K explains   w reports"),
        ListKind::Elements => ("what is added?", "type to narrow"),
        ListKind::Dates => ("lastmod", "of the marked rows, else of this one"),
        ListKind::Explain if chooses => ("what is wrong here", "x fixes what is chosen"),
        ListKind::Explain => ("what is wrong here", ""),
        ListKind::Diff => ("what would differ", "Esc goes back"),
        ListKind::Conflict => ("both sides of the merge conflict", "Esc goes back"),
        ListKind::Proof => ("verified", "hashes: XXH3, 64 bits"),
        ListKind::Decide(_) => ("how is it meant?", "of the marked rows, else of this one"),
    };
    Panel {
        title: Line::new(Words::new().and(Role::Accent, title), Words::dim(right)),
        lines: list.lines.iter().map(|(line, _)| line.clone()).collect(),
        chosen: chooses.then_some(list.chosen),
        top: list.chosen,
        foot: Vec::new(),
    }
}
