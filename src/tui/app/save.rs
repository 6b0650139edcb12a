//! Saving: the plan, the questions before it, and its result.

use super::super::jobs::Kind;
use super::super::theme::Role;
use super::super::words::{Line, Words};
use super::files::{Answer, Ask, Start};
use super::{App, Effect, JobOutcome, Mode, Purpose};
use crate::document::diff;
use crate::document::form::Form;
use crate::files::backup::When;
use crate::files::external_changes::Thoroughness;
use crate::files::plan::FileId;
use crate::files::{Action, Output, Plan, Reason};
use crate::progress::Progress;
use crate::protocol::limits::{BYTES_PER_FILE, SITEMAPS_PER_INDEX, URLS_PER_FILE};
use crate::session::planning::Planned;
use crate::session::save::SaveResult;
use crate::words::{counted, grouped, size};
use std::path::PathBuf;

/// Files that stay as they are of which a plan shows the limits.
const MOST_UNTOUCHED: usize = 500;

/// Lines of the index that a plan shows.
const INDEX_LINES: usize = 6;

/// A save that waits for an answer.
#[derive(Debug)]
pub(super) struct Waiting {
    to: Option<PathBuf>,
    force: bool,
}

/// A folder that was agreed to be created, for the file that needs it.
pub(super) type NewFolder = Option<PathBuf>;

/// A plan that is being worked out.
#[derive(Debug)]
pub(super) struct PlanRequest {
    ticket: u64,
    to: Option<PathBuf>,
    what: For,
}

/// What a plan is for.
#[derive(Debug, Clone, Copy)]
enum For {
    /// To be carried out, after questions if there are some.
    Save { force: bool },
    /// To be seen.
    Show,
}

impl PlanRequest {
    /// Whether something will be written.
    pub(super) const fn is_save(&self) -> bool {
        matches!(self.what, For::Save { .. })
    }
}

/// Rows up to which a plan is worked out at once, without a job.
const AT_ONCE: u32 = 5_000;

impl App {
    /// Saves: asks first where something is missing or where files come, go, or change their names.
    pub(super) fn save(&mut self, to: Option<PathBuf>, force: bool) {
        if self.is_busy(Kind::Save) {
            return self.say("a save is running already");
        }
        if self.is_busy(Kind::Edit) {
            self.leave_after_save = false;
            return self.fail("the last change is still being applied; save again when it is");
        }
        if self.session.is_loading() {
            self.leave_after_save = false;
            return self.fail("still loading; wait, or stop it with Esc");
        }
        if to.is_none() && self.session.path().is_none() {
            self.open_line(Purpose::Command, "write sitemap.xml");
            return self.fail("no file name yet: type one and press Enter");
        }
        self.ask_plan(to, For::Save { force });
    }

    /// Works out a save; what it is for happens when it is known.
    fn ask_plan(&mut self, to: Option<PathBuf>, what: For) {
        let planning = self.session.planning(to.as_deref());
        let ticket = self.next_ticket();
        self.plan_wanted = Some(PlanRequest { ticket, to, what });
        if self.session.document().row_limit() <= AT_ONCE {
            return self.planned(ticket, planning.run(&Progress::default()));
        }
        let work = Box::new(move |progress: &Progress, _: &dyn Fn(_)| JobOutcome::Planned {
            ticket,
            planned: planning.run(progress),
        });
        self.spawn(Kind::Plan, work);
    }

    /// A plan has come; it counts if it is the one that was asked for last, and is made anew if something was changed
    /// meanwhile.
    pub(super) fn planned(&mut self, ticket: u64, planned: Option<Planned>) {
        let Some(wanted) = self.plan_wanted.take_if(|wanted| wanted.ticket == ticket) else { return };
        let Some(planned) = planned else {
            self.leave_after_save = false;
            return self.say("stopped; nothing was written");
        };
        if !self.session.is_planned(&planned) {
            return self.ask_plan(wanted.to, wanted.what);
        }
        self.plan_held = Some((wanted, planned));
        self.take_held_plan();
    }

    /// Goes on with a plan that has come, once nothing is being typed that a question would take away.
    pub(super) fn take_held_plan(&mut self) {
        let Some((wanted, planned)) = self.plan_held.take() else { return };
        let is_quiet = wanted.is_save() && planned.plan.is_ready() && !planned.plan.asks;
        if !is_quiet && !matches!(self.mode, Mode::Grid | Mode::Detail) {
            self.plan_held = Some((wanted, planned));
            return;
        }
        if !self.session.is_planned(&planned) {
            return self.ask_plan(wanted.to, wanted.what);
        }
        match wanted.what {
            For::Save { force } => self.save_planned(wanted.to, force, planned),
            For::Show => self.show_plan(planned),
        }
    }

    fn save_planned(&mut self, to: Option<PathBuf>, force: bool, planned: Planned) {
        if self.is_busy(Kind::Save) {
            return self.say("a save is running already");
        }
        let plan = &planned.plan;
        // Before anybody answers a question for nothing.
        if (plan.asks || plan.needs_base.is_some())
            && plan.problems.is_empty()
            && let Err(refused) = self.session.may_save(plan)
        {
            self.leave_after_save = false;
            return self.fail(refused.0);
        }
        if let Some(proposal) = &plan.needs_base {
            let proposal = proposal.clone();
            self.waiting = Some(Waiting { to, force });
            return self.open_line(Purpose::Base, &proposal);
        }
        if let Some(output) = plan.outputs.iter().filter(|_| !force).find(|output| is_empty_list(plan, output)) {
            let name = output.name.clone();
            self.leave_after_save = false;
            return self
                .fail(format!("{name} would have no URLs and could not be opened again; add one, or use :write!"));
        }
        if !plan.problems.is_empty() {
            self.leave_after_save = false;
            self.mode = Mode::Ask(Box::new(problems(self, plan)));
            return;
        }
        if let Some(folder) = planned.missing_folder.as_ref().filter(|folder| self.new_folder.as_ref() != Some(folder))
        {
            let title = Words::text(format!("the folder {} does not exist", folder.display()));
            let path = plan.path.as_deref().unwrap_or(folder);
            let lines = vec![Words::text(format!("{} needs it.", path.display())).into()];
            let answers = vec![
                ('k', "keep editing", Answer::Stay),
                ('c', "create it and save", Answer::CreateFolder(folder.clone())),
            ];
            self.waiting = Some(Waiting { to, force });
            self.mode = Mode::Ask(Box::new(Ask::new(title, lines, answers)));
            return;
        }
        if plan.asks {
            self.waiting = Some(Waiting { to, force });
            let answers = vec![
                ('w', "write", Answer::Write),
                ('d', "differences", Answer::Differences),
                ('k', "keep editing", Answer::Stay),
            ];
            let (title, lines) = (title(plan), self.plan_lines(&planned));
            self.plan = Some(planned);
            self.mode = Mode::Ask(Box::new(Ask::new(title, lines, answers)));
            return;
        }
        self.write(planned.plan, force);
    }

    /// Says where the set will live, and goes on with the save that needed it.
    pub(super) fn set_base(&mut self, url: &str) {
        self.session.set_base_url(Some(url.trim().to_owned()));
        if let Some(Waiting { to, force }) = self.waiting.take() {
            self.save(to, force);
        }
    }

    /// A folder that does not exist may be created; the save that needs it goes on.
    pub(super) fn create_folder(&mut self, folder: PathBuf) {
        self.new_folder = Some(folder);
        if let Some(Waiting { to, force }) = self.waiting.take() {
            self.save(to, force);
        }
    }

    /// The plan was looked at and agreed to.
    pub(super) fn write_waiting(&mut self) {
        let (waiting, planned) = (self.waiting.take(), self.plan.take());
        let Some(Waiting { to, force }) = waiting else { return };
        match planned.filter(|planned| self.session.is_planned(planned)) {
            Some(mut planned) => {
                planned.plan.accept_repairs();
                self.write(planned.plan, force);
            }
            // Something was changed since: what is written is what was looked at, or is looked at again.
            None => self.save(to, force),
        }
    }

    fn write(&mut self, plan: Plan, force: bool) {
        let is_own = !force && plan.path.as_ref() == self.session.path();
        self.new_folder = None;
        match self.session.saving(plan, force) {
            Ok(saving) => {
                let looking = is_own.then(|| self.session.looking());
                let work = Box::new(move |progress: &Progress, _: &dyn Fn(_)| {
                    // What is about to be written is looked at closely when it is; this is about all the others too.
                    let outside = looking.map(|looking| looking.run(Thoroughness::Glance)).unwrap_or_default();
                    if outside.changed.is_empty() {
                        JobOutcome::Saved(saving.run(progress))
                    } else {
                        JobOutcome::HeldBack(outside)
                    }
                });
                self.spawn(Kind::Save, work);
            }
            Err(refused) => self.fail(refused.0),
        }
    }

    pub(super) fn save_done(&mut self, result: SaveResult) {
        self.looks += 1;
        match self.session.saved(result) {
            Ok(words) => {
                self.saved = true;
                self.outside.clear();
                self.say(words);
                self.follow();
                self.refresh_changes();
                if std::mem::take(&mut self.leave_after_save) {
                    self.quit(false);
                }
            }
            Err(error) if matches!(error.reason, Reason::Cancelled) => {
                self.leave_after_save = false;
                self.say("the save was stopped; no file was changed");
            }
            Err(error) if matches!(error.reason, Reason::Changed) => {
                self.leave_after_save = false;
                self.look_outside(Thoroughness::Close, true);
            }
            Err(error) => {
                self.leave_after_save = false;
                let mut lines = vec![Line::from(Words::text(error.to_string()))];
                if let Some(hint) = error.hint() {
                    lines.push(Words::dim(hint).into());
                }
                let mut answers = vec![('k', "keep editing", Answer::Stay)];
                // What has begun is finished where it was begun.
                if !matches!(error.reason, Reason::Unfinished { .. } | Reason::NoRoom { begun: true, .. }) {
                    answers.push(('s', "save elsewhere", Answer::SaveElsewhere));
                }
                let title = Words::new().and(Role::Error, "not saved").and(Role::Text, "; your changes are still here");
                self.mode = Mode::Ask(Box::new(Ask::new(title, lines, answers)));
            }
        }
    }

    /// Shows what a save would write; writes nothing.
    pub(super) fn open_plan(&mut self) {
        if self.session.path().is_none() {
            return self.say("no file name yet: :write NAME sets it");
        }
        self.ask_plan(None, For::Show);
    }

    fn show_plan(&mut self, planned: Planned) {
        let plan = &planned.plan;
        let mut lines = self.plan_lines(&planned);
        if plan.is_empty() {
            lines.insert(0, Words::dim("No unsaved changes: a save would write no file.").into());
        }
        lines.extend(self.untouched_lines(plan));
        if plan.needs_base.is_some() {
            lines.push(Words::dim("The URL of the set's folder will be asked for.").into());
        }
        let mut answers = vec![('k', "back", Answer::Stay)];
        if !plan.is_empty() {
            answers.push(('d', "differences", Answer::Differences));
        }
        let ask = Ask::new(title(plan), lines, answers);
        self.mode = Mode::Ask(Box::new(if plan.problems.is_empty() { ask } else { problems(self, plan) }));
        self.plan = Some(planned);
    }

    /// A line for each file that is touched, one for all others.
    fn plan_lines(&self, planned: &Planned) -> Vec<Line> {
        let plan = &planned.plan;
        let touched: Vec<&Output> = plan.outputs.iter().filter(|output| output.action != Action::Untouched).collect();
        let charset = self.theme.charset;
        let widest = touched.iter().map(|output| charset.width(&output.name)).max().unwrap_or(0).min(40);
        let mut lines: Vec<Line> = touched.iter().map(|output| self.output_line(output, widest)).collect();
        lines.extend(plan.losses.iter().map(|loss| Words::new().and(Role::Warning, format!("  {loss}")).into()));
        lines.extend(index_lines(planned));
        let untouched = plan.count(Action::Untouched);
        if untouched > 0 {
            lines.push(Words::dim(format!("  {} unchanged", counted(untouched as u64, "file"))).into());
        }
        if !plan.is_empty() {
            let words = match self.session.backups() {
                When::Off => "  no backup will be made (:backup once makes one)",
                When::Once => "  a backup of the files as they were before this session will be made",
                When::Always => "  a backup will be made",
            };
            lines.push(Line::new(Words::dim(words), Words::dim(format!(":backup {}", self.session.backups().name()))));
        }
        for file in &plan.repairs {
            let what = format!("{} was damaged; saving will write these repairs:", file.name);
            lines.push(Words::new().and(Role::Warning, what).into());
            lines.extend(file.what.iter().map(|what| Words::text(format!("  {what}")).into()));
        }
        lines
    }

    /// The files that stay as they are, each with its limits.
    fn untouched_lines(&self, plan: &Plan) -> Vec<Line> {
        let untouched = || plan.outputs.iter().filter(|output| output.action == Action::Untouched);
        let charset = self.theme.charset;
        let shown = || untouched().take(MOST_UNTOUCHED);
        let widest = shown().map(|output| charset.width(&output.name)).max().unwrap_or(0).min(40);
        let mut lines: Vec<Line> = shown().map(|output| self.output_line(output, widest)).collect();
        let more = untouched().count().saturating_sub(MOST_UNTOUCHED);
        if more > 0 {
            lines.push(Words::dim(format!("  … {} more", counted(more as u64, "file"))).into());
        }
        lines
    }

    fn output_line(&self, output: &Output, widest: usize) -> Line {
        let (signs, charset) = (self.theme.signs, self.theme.charset);
        let (sign, role, what) = match output.action {
            Action::Untouched => (" ", Role::Dim, ""),
            Action::Rewritten => (signs.changed, Role::Changed, ""),
            Action::Created => (signs.added, Role::Good, "new"),
            Action::Replaced => (signs.changed, Role::Warning, "replaced"),
            Action::Removed => (signs.deleted, Role::Error, "removed"),
        };
        let mut words = Words::new().and(role, format!("{sign} ")).and(Role::Text, charset.fit(&output.name, widest));
        for part in [what, output.what.as_str()] {
            if !part.is_empty() {
                words.push(Role::Dim, format!("   {part}"));
            }
        }
        let (before, after) = (u64::from(output.urls_before), u64::from(output.urls_after));
        let is_index = output.file.index_file().is_some() || self.session.document().lists_sitemaps();
        let is_table = matches!(Form::of_name(&output.name), Some(Form::Csv | Form::Tsv));
        let noun = if is_index { "sitemap" } else { "URL" };
        let mut right = Words::new();
        if before != after && output.action == Action::Rewritten {
            right.push(Role::Dim, format!("{} {} ", grouped(before), signs.arrow));
        }
        // Both limits, where there are any: what is near one of them should be seen before it is met.
        if is_table || output.action == Action::Removed {
            right.push(Role::Text, counted(after, noun));
            right.push(Role::Dim, format!("   {}", size(output.bytes)));
        } else {
            let most = if is_index { SITEMAPS_PER_INDEX } else { URLS_PER_FILE };
            let noun = if self.size.0 < 100 { String::new() } else { format!(" {noun}s") };
            let is_over = after > u64::from(most) || output.bytes > BYTES_PER_FILE;
            let role = if is_over { Role::Error } else { Role::Dim };
            right.push(Role::Text, grouped(after));
            right.push(role, format!(" of {}{noun}   ", grouped(u64::from(most))));
            right.push(Role::Text, size(output.bytes));
            right.push(role, format!(" of {}", size(BYTES_PER_FILE)));
        }
        if let Some(url) = output.url.as_ref().filter(|_| output.action == Action::Created) {
            words.push(Role::Dim, format!("   {url}"));
        }
        Line::new(words, right)
    }

    /// Reads the files again, keeping filter and order.
    pub(super) fn reload(&mut self, discard: bool) {
        let (path, paths) = (self.session.path().cloned(), self.session.paths().to_vec());
        let opened = if paths.is_empty() { path.map(Start::Path) } else { Some(Start::Paths(paths)) };
        // After a load that failed, what was asked for is all that is known.
        let started = self.started.clone().filter(|started| *started != Start::Sample);
        let Some(start) = opened.or(started) else {
            return self.say("no file to reload");
        };
        if self.session.is_modified() && !discard {
            return self.fail("there are unsaved changes; :edit! drops them, :write saves them");
        }
        if self.busy.iter().any(Option::is_some) {
            return self.fail("something is running; Esc stops it");
        }
        let base = self.session.base_url().map(ToOwned::to_owned);
        let now = self.session.view().clock;
        let spec = self.session.spec().clone();
        let (profile, backups) = (self.session.profile(), self.session.backups());
        let policy = self.session.policy().cloned();
        self.session.forget_unsaved();
        let watcher = self.session.journal_watcher();
        self.session = crate::session::Session::new(now, base);
        self.session.watch_journal(watcher);
        self.session.set_profile(profile);
        self.session.set_policy(policy);
        self.session.set_backups(backups);
        self.session.set_state_folder(self.options.recovery.state.clone());
        self.outside.clear();
        self.looks += 1;
        self.spec_after_load = Some(spec);
        self.saved = false;
        let options = self.options.clone();
        let effects: Vec<Effect> = self.start(start, options);
        self.effects.extend(effects);
    }
}

/// The lines of the index that change, the first of them.
fn index_lines(planned: &Planned) -> Vec<Line> {
    let Planned { plan, index: diff, .. } = planned;
    let writes_index =
        plan.outputs.iter().any(|output| output.file.index_file().is_some() && output.action == Action::Rewritten);
    let mut lines = Vec::new();
    if writes_index {
        let changed = |kind| diff.lines.iter().filter(move |line| line.kind == kind);
        let all = changed(diff::Kind::Gone).chain(changed(diff::Kind::New)).count();
        for line in diff.lines.iter().filter(|line| matches!(line.kind, diff::Kind::Gone | diff::Kind::New)) {
            let role = if line.kind == diff::Kind::New { Role::Good } else { Role::Error };
            let (sign, text) = line.text.split_at(1);
            lines.push(Words::new().and(role, format!("      {sign} {}", text.trim())).into());
        }
        lines.truncate(INDEX_LINES);
        if all > INDEX_LINES || diff.more > 0 {
            lines.push(Words::dim("      … and more lines of the index").into());
        }
    }
    let beside = plan.document.index().map_or(&[][..], |index| &index.unlisted);
    if !beside.is_empty() {
        let names = beside.iter().take(3).map(|name| &**name).collect::<Vec<_>>().join(", ");
        let more = if beside.len() > 3 { ", …" } else { "" };
        let words =
            format!("  {} beside the set and not in it: {names}{more}", counted(beside.len() as u64, "sitemap"));
        lines.push(Words::dim(words).into());
    }
    lines
}

fn title(plan: &Plan) -> Words {
    let summary = plan.summary();
    let words = if summary.is_empty() { "save".to_owned() } else { format!("save {summary}") };
    Words::new().and(Role::Accent, words)
}

/// Whether a plan writes a text list without a URL: what is left of it is no file that anybody reads as a sitemap.
fn is_empty_list(plan: &Plan, output: &Output) -> bool {
    let is_written = !matches!(output.action, Action::Untouched | Action::Removed);
    let FileId::Sitemap(id) = output.file else { return false };
    let is_list = plan.document.sitemap(id).is_some_and(|sitemap| sitemap.form == Form::List);
    is_written && is_list && output.urls_after == 0
}

fn problems(app: &App, plan: &Plan) -> Ask {
    let mut lines = Vec::new();
    for problem in &plan.problems {
        let mut words = Words::new().and(Role::Error, format!("{} ", app.theme.signs.error));
        words.push(Role::Text, problem.message.clone());
        if let Some(row) = problem.row {
            words.push(Role::Dim, format!("   row {}", app.session.number(row)));
        }
        lines.push(words.into());
    }
    let title = Words::new().and(Role::Error, "this cannot be saved");
    Ask::new(title, lines, vec![('k', "keep editing", Answer::Stay)])
}
