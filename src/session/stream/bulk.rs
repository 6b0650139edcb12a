//! Changes a streamed set file by file: writes each file beside its target, then commits all at once.
//!
//! The result is that of a resident set: the same intents, edits, plan and save. Of a changed file only its line of the
//! plan, its size and its frame are kept. A change that needs more than one file at a time is refused:
//! [`Fallback::InMemory`] has the reason. The effects of a fix are counted during the pass (`stream_effects`).

use crate::check::Profile;
use crate::check::decision::{self, Decision, Hints};
use crate::check::rule::{self, Rule, RuleSet};
use crate::document::edit::Edit;
use crate::document::form::Form;
use crate::document::query::Query;
use crate::document::rows::{RowId, RowList};
use crate::document::sitemap::{Member, Sitemap, SitemapId};
use crate::document::{Document, unload};
use crate::files::{self, Action, Disk, IncrementalSave, Output, Plan, Request, SaveMode, Saved};
use crate::progress::Progress;
use crate::protocol::Field;
use crate::protocol::lastmod::Now;
use crate::protocol::limits::Limits;
use crate::session::command::{Command, Replace, Scope};
use crate::session::edit::url_effects::{self, Duplicates, Found};
use crate::session::edit::values::ONE_ROW;
use crate::session::edit::{Change, EditError, Intent, Reach, prepared, replace, rules_named};
use crate::session::fix::{passes, whole_files};
use crate::session::state::Snapshot;
use crate::session::store::save;
use crate::session::store::verify::Inspection;
use crate::session::{Session, file_fixes, fix_table, prepare};
use crate::xml::record::Flags;
use std::path::PathBuf;
use std::sync::Arc;
use stream_effects::Tally;
mod stream_effects;

/// How a set is read for a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScanMode {
    /// File by file, once: the change needs only one file at a time.
    SinglePass,
    /// File by file, after a first pass: the change needs the findings of set rules.
    Counted,
    /// The whole set in memory, with the reason.
    InMemory(&'static str),
}

impl ScanMode {
    /// The mode that a command needs.
    pub(crate) fn of(command: &Command) -> Self {
        if matches!(command, Command::RebaseIndex(_)) {
            return Self::SinglePass;
        }
        let (Command::Set { scope, .. }
        | Command::Replace { scope, .. }
        | Command::Delete(scope)
        | Command::Fix { scope, .. }) = command
        else {
            return Self::InMemory("this command needs all rows together");
        };
        let compares = scope.query.as_ref().is_some_and(Query::compares_rows);
        if let Some(why) = answer_needs_memory(command) {
            return Self::InMemory(why);
        }
        let rules = named_rules(command).unwrap_or_default();
        if rules.intersects(fix_table::OF_SET.minus(fix_table::OF_LINKS)) {
            return Self::InMemory("fixes of these findings need several rows");
        }
        // Renames, separate files for news, and URLs of files need more than one file.
        let of_several = [Rule::INDEX_CHILD_PATH, Rule::INDEX_CHILD_UNLISTED, Rule::SET_NEWS_MIXED];
        if rules.intersects(file_fixes::name::FIXES.union(RuleSet::of(&of_several))) {
            return Self::InMemory("fixes of these findings need several files");
        }
        let is_of_set = |rule: Rule| rule.scope() == rule::Scope::Set || rule == Rule::LASTMOD_MISSING;
        if compares || rules.iter().any(is_of_set) { Self::Counted } else { Self::SinglePass }
    }
}

/// The reason why an answer cannot be applied to the rows of its findings one at a time; `None` if it can.
fn answer_needs_memory(command: &Command) -> Option<&'static str> {
    let Command::Fix { rules, answer: Some(answer), .. } = command else { return None };
    let rule = rules.first().and_then(|code| Rule::from_code(code))?;
    let decision = decision::parse_answer(rule, answer, Hints::default()).ok()?;
    match decision {
        Decision::Delete => Some("the answer removes rows (sited remove --where rule:CODE does so file by file)"),
        Decision::Base(_) => Some("changed URLs must be compared with all others"),
        Decision::Usual => None,
        _ if decision.field().is_none() => Some("the answer needs several rows or files"),
        _ => None,
    }
}

/// The rules that a fix command names.
fn named_rules(command: &Command) -> Option<RuleSet> {
    match command {
        Command::Fix { rules, .. } => rules_named(rules).ok(),
        _ => None,
    }
}

/// The rules that a command fixes without a decision, in files and the index too.
fn fixed_rules(command: &Command) -> Option<RuleSet> {
    match command {
        Command::Fix { answer: None, .. } => named_rules(command),
        Command::Fix { answer: Some(answer), .. } => named_rules(command).filter(|_| answer == "usual"),
        _ => None,
    }
}

/// Why a change cannot be made file by file.
#[derive(Debug)]
pub(crate) enum Fallback {
    /// It needs all rows in memory, with the reason.
    InMemory(&'static str),
    /// It needs a first pass over all files.
    Counted,
    /// It cannot be made at all.
    Edit(EditError),
}

/// Options of a change.
#[derive(Debug, Clone)]
pub(crate) struct BulkOptions {
    /// How files are written.
    mode: SaveMode,
    /// Whether files are written.
    writes: bool,
    /// Whether to accept the repairs of damaged files.
    accept: bool,
    /// The rules that are fixed, in the index too.
    rules: Option<RuleSet>,
    /// Whether only rows that match a query are changed.
    is_filtered: bool,
    /// Whether findings are fixed, and whether by a decision.
    is_fix: bool,
    is_answered: bool,
    /// Whether there was a first pass, so that findings of set rules are known.
    is_counted: bool,
    /// Whether at most one row may be changed.
    is_single: bool,
    /// The change of the index.
    index: Option<IndexChange>,
    /// Whether URLs of rows change.
    changes_urls: bool,
}

/// A change of the URLs of the index.
#[derive(Debug, Clone)]
enum IndexChange {
    /// The URLs are rewritten if they are targets; otherwise the matching ones are counted.
    Replace(Replace),
    /// The URLs are not changed; those with an origin that is replaced in rows are counted.
    Count(Replace),
    /// The URLs are completed with this base URL.
    Below(String),
}

impl BulkOptions {
    /// Options to write files in this mode; `accept` accepts repairs.
    pub(crate) const fn write(mode: SaveMode, accept: bool) -> Self {
        let (is_filtered, is_fix, is_answered, is_counted) = (false, false, false, false);
        let (is_single, index, changes_urls) = (false, None, false);
        Self {
            mode,
            writes: true,
            accept,
            rules: None,
            is_filtered,
            is_fix,
            is_answered,
            is_counted,
            is_single,
            index,
            changes_urls,
        }
    }

    /// Options to write nothing.
    #[must_use]
    pub(crate) fn dry_run() -> Self {
        let now = Now { seconds: 0, offset: 0 };
        let mode = SaveMode { force: false, backups: files::Backups::default(), now, state: None };
        Self { writes: false, ..Self::write(mode, false) }
    }

    /// These options for a command.
    #[must_use]
    pub(crate) fn command(self, command: &Command) -> Self {
        let is_filtered = command.scope().is_some_and(|scope: &Scope| scope.query.is_some());
        let is_answered = matches!(command, Command::Fix { answer: Some(_), .. });
        let is_fix = matches!(command, Command::Fix { .. });
        let is_single = match command {
            Command::Set { assignments, .. } => assignments.iter().any(|one| one.field == Field::Loc),
            _ => false,
        };
        let index = match command {
            Command::Replace { scope, replace } if scope.query.is_none() => Some(IndexChange::Replace(replace.clone())),
            Command::Replace { replace, .. } => Some(IndexChange::Count(replace.clone())),
            Command::RebaseIndex(url) => Some(IndexChange::Below(url.clone())),
            _ => None,
        };
        let changes_urls = is_single || matches!(command, Command::Replace { replace, .. } if replace.targets().loc);
        Self { rules: fixed_rules(command), is_filtered, is_fix, is_answered, is_single, index, changes_urls, ..self }
    }

    /// These options for a set with or without a first pass.
    #[must_use]
    pub(crate) const fn counted(mut self, is_counted: bool) -> Self {
        self.is_counted = is_counted;
        self
    }

    /// Whether languages of pages have to be collected from other pages.
    pub(crate) fn needs_languages(&self) -> bool {
        self.is_counted && self.rules.is_some_and(|rules| rules.contains(Rule::HREFLANG_SELF_MISSING))
    }
}

/// The result of one step of a change over all files so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sum {
    /// The sum of the intents; `None` before the first file.
    pub intent: Option<Intent>,
    /// Whether anything has changed.
    changed: bool,
}

impl Sum {
    fn add(&mut self, intent: Intent, changed: bool) {
        self.changed |= changed;
        if let Some(sum) = &mut self.intent {
            sum.plus(intent);
            return;
        }
        // Samples and edits are dropped, since their rows will be unloaded.
        let edit = intent.edit.as_ref().map(|_| Edit::Several(Vec::new()));
        self.intent = Some(Intent { samples: Vec::new(), edit, ..intent });
    }

    /// The message after the change.
    pub(crate) fn message(&self, profile: Profile) -> Option<String> {
        let intent = self.intent.as_ref()?;
        let message = intent.increase_message(profile).filter(|_| self.changed);
        Some(message.map_or_else(
            || intent.done_message(self.changed),
            |message| format!("{}; {message}", intent.done_message(true)),
        ))
    }
}

/// A changed file, while it is resident.
#[derive(Debug)]
pub(crate) struct ChangedFile {
    /// The set with the changed file.
    pub snapshot: Snapshot,
    /// The planned save of the file.
    pub inspection: Inspection,
    /// Its path, if it lost its last row, so that it will be removed.
    pub emptied: Option<PathBuf>,
}

/// A change that is being made file by file.
pub(crate) struct Bulk {
    options: BulkOptions,
    sums: Vec<Sum>,
    outputs: Vec<Output>,
    changed: Vec<(SitemapId, Sitemap)>,
    batch: Option<IncrementalSave<'static>>,
    /// The effects of a fix.
    tally: Option<Tally>,
    /// The duplicates that a change of URLs makes.
    duplicates: Option<Duplicates>,
    /// The error that stopped writing. The other files are still counted, for the report.
    failed: Option<files::Error>,
}

/// A change of all files that is ready to be committed.
pub(crate) struct StagedChange {
    /// The result of each step.
    pub sums: Vec<Sum>,
    /// The plan of the save.
    pub plan: Plan,
    /// Whether the index changes, except for the dates that a save writes.
    pub changes_index: bool,
    disk: Disk,
    batch: Option<IncrementalSave<'static>>,
    failed: Option<files::Error>,
    mode: SaveMode,
}

impl Bulk {
    /// A change with this many steps.
    pub(crate) fn new(options: BulkOptions, steps: usize) -> Self {
        let sums = vec![Sum::default(); steps];
        let tally = options.is_fix.then(|| Tally::new(!options.is_answered));
        let duplicates = options.changes_urls.then(Duplicates::default);
        Self { options, sums, outputs: Vec::new(), changed: Vec::new(), batch: None, tally, duplicates, failed: None }
    }

    /// Makes the changes of the resident file, each for a step by its number. Returns the file if it has changed.
    ///
    /// # Errors
    /// [`Fallback`].
    pub(crate) fn file(
        &mut self,
        session: &Session,
        id: SitemapId,
        changes: impl FnOnce(&Snapshot) -> Result<Vec<(usize, Change)>, EditError>,
    ) -> Result<Option<ChangedFile>, Fallback> {
        let mut snapshot = session.snapshot();
        snapshot.saved = snapshot.state.document.clone();
        let Some(sitemap) = snapshot.document.sitemap(id) else { return Ok(None) };
        if sitemap.form != Form::Xml {
            return Err(Fallback::InMemory("one of its files is not XML"));
        }
        if self.options.rules.is_some() && self.options.is_filtered && sitemap.live == 0 {
            return Err(Fallback::InMemory("files without rows are fixed only if all rows are selected"));
        }
        let of_links = self.options.rules.unwrap_or_default().intersection(fix_table::OF_LINKS);
        let is_linked = |row: RowId| snapshot.document.record(row).flags.contains(Flags::ALTERNATE);
        if !of_links.is_empty() && snapshot.document.resident_rows().any(is_linked) {
            if of_links != RuleSet::of(&[Rule::HREFLANG_SELF_MISSING]) {
                return Err(Fallback::InMemory("fixes of links between pages need both pages"));
            }
            if !self.options.is_counted {
                return Err(Fallback::Counted);
            }
        }
        let idle = Progress::default();
        let mut document = snapshot.document.clone();
        for (step, change) in changes(&snapshot).map_err(Fallback::Edit)? {
            // The index is changed once, after the last file.
            let change = match change {
                Change::Replace { rows, replace, .. } => Change::Replace { rows, replace, reach: Reach::File },
                Change::RebaseIndex(_) => continue,
                other => other,
            };
            let mut intent = prepare::intend(&snapshot, &change, &idle).map_err(Fallback::Edit)?;
            if change.is_fix()
                && let Some(first) = prepared::prepare_intent(&snapshot, intent.clone(), &idle)
                && let Some(repeated) = passes::repeat(&snapshot, &change, first, &idle)
            {
                intent = repeated.intent;
            }
            let applied = intent.edit.as_ref().and_then(|edit| document.apply(edit, &idle));
            if let (Some(tally), Some(applied)) = (&mut self.tally, &applied) {
                tally.count((&snapshot, id), applied, self.options.is_counted)?;
            }
            let changed = applied.map(|applied| {
                let is_nothing = applied.is_unchanged();
                document = applied.document;
                !is_nothing
            });
            // Duplicates are counted after the last file.
            intent.urls.duplicates = Found::default();
            if let Some(sum) = self.sums.get_mut(step) {
                sum.add(intent, changed.unwrap_or_default());
                if self.options.is_single && sum.intent.as_ref().is_some_and(|intent| intent.rows > 1) {
                    return Err(Fallback::Edit(EditError::Refused(ONE_ROW.to_owned())));
                }
            }
        }
        if let Some(duplicates) = &mut self.duplicates {
            for row in snapshot.document.resident_rows() {
                duplicates.add(row, &snapshot.document.loc(row), &document.loc(row));
            }
        }
        let request = Request {
            document: &document,
            saved: &snapshot.saved,
            disk: &session.disk,
            to: None,
            base_url: session.base_url(),
            limits: Limits::default(),
            now: session.current.clock,
            known: &[],
        };
        let plan = files::plan_part(&request, id).ok_or(Fallback::InMemory("a file would grow beyond its limits"))?;
        let Some(output) = plan.outputs.first().cloned() else { return Ok(None) };
        let is_changed = output.action != Action::Untouched;
        let emptied = (output.urls_after == 0 && output.urls_before > 0).then(|| output.path.clone());
        self.outputs.push(output);
        if !is_changed {
            return Ok(None);
        }
        if let Some(sitemap) = document.sitemap(id).cloned() {
            let frame = Arc::new(sitemap.frame.without_entries());
            self.changed.push((id, Sitemap { frame, rows: RowList::default(), ..sitemap }));
        }
        if emptied.is_none() {
            self.stage(plan.clone(), session);
        }
        snapshot.state.document = document;
        let inspection = Inspection::new(plan, snapshot.saved.clone(), session.disk.clone());
        Ok(Some(ChangedFile { snapshot, inspection, emptied }))
    }

    /// Writes a file beside its target, unless writing has failed before.
    fn stage(&mut self, mut plan: Plan, session: &Session) {
        if !self.options.writes || self.failed.is_some() {
            return;
        }
        if self.options.accept {
            plan.accept_repairs();
        }
        // The whole plan will be refused.
        if !plan.repairs.is_empty() {
            return;
        }
        let main = files::main_path(session.document());
        let idle = Progress::default();
        let batch = match self.batch.take() {
            Some(batch) => Ok(batch),
            None => IncrementalSave::begin(main.as_deref(), &session.disk, &self.options.mode),
        };
        let staged = batch.and_then(|mut batch| {
            batch.stage(&plan, &session.disk, &idle)?;
            Ok(batch)
        });
        match staged {
            Ok(batch) => self.batch = Some(batch),
            Err(error) => self.failed = Some(error),
        }
    }

    /// After the last file: changes the index, and plans the save of the whole set.
    ///
    /// # Errors
    /// [`Fallback`], for a fix.
    pub(crate) fn finish(mut self, session: &mut Session) -> Result<StagedChange, Fallback> {
        let mut document = session.document().clone();
        let mut changes_index = false;
        if let Some(rules) = self.options.rules {
            changes_index |= self.fix_index(session, rules, &mut document);
        }
        changes_index |= self.change_index(session, &mut document);
        for (id, sitemap) in std::mem::take(&mut self.changed) {
            unload::replace(&mut document, id, sitemap);
        }
        if let Some(tally) = self.tally.take() {
            let increased = tally.finish(session, &document)?;
            if let Some(intent) = self.sums.first_mut().and_then(|sum| sum.intent.as_mut()) {
                intent.increased = increased;
            }
        }
        let request =
            Request { document: &document, known: &self.outputs, ..save::request(session, None, Limits::default()) };
        let mut plan = files::plan(&request);
        if self.options.accept {
            plan.accept_repairs();
        }
        if let (Some(duplicates), Some(sum)) = (self.duplicates.take(), self.sums.first_mut())
            && let Some(intent) = &mut sum.intent
        {
            intent.urls.duplicates = duplicates.finish();
        }
        let Self { sums, batch, failed, options, .. } = self;
        Ok(StagedChange { sums, plan, changes_index, disk: session.disk.clone(), batch, failed, mode: options.mode })
    }

    /// Rewrites the URLs of the index. Returns whether any changed.
    fn change_index(&mut self, session: &Session, document: &mut Document) -> bool {
        let (Some(change), Some(sum)) = (&self.options.index, self.sums.first_mut()) else { return false };
        let intent = match change {
            IndexChange::Count(replace) => {
                if let Some(intent) = &mut sum.intent {
                    url_effects::note_index(session.view(), &mut intent.urls, replace, false);
                }
                return false;
            }
            IndexChange::Replace(replace) => replace::replace_in_index(session.view(), Intent::counting(0), replace),
            IndexChange::Below(url) => replace::intend_rebase(session.view(), url),
        };
        let applied = intent.edit.as_ref().and_then(|edit| document.apply(edit, &Progress::default()));
        let changed = applied.map(|applied| {
            *document = applied.document;
            applied.framed || !applied.touched.is_empty()
        });
        let changed = changed.unwrap_or_default();
        sum.add(intent, changed);
        if let (IndexChange::Replace(replace), Some(intent)) = (change, &mut sum.intent) {
            url_effects::note_index(session.view(), &mut intent.urls, replace, true);
        }
        // The index determines the public URLs of its files.
        for (id, sitemap) in &mut self.changed {
            sitemap.url = document.sitemap(*id).and_then(|now| now.url.clone());
        }
        for output in &mut self.outputs {
            if let files::FileId::Sitemap(id) = output.file {
                output.url = document.sitemap(id).and_then(|now| now.url.clone());
            }
        }
        changed
    }

    /// Fixes the index if all rows are selected. Returns whether it changed.
    fn fix_index(&mut self, session: &Session, rules: RuleSet, document: &mut Document) -> bool {
        let Some(sum) = self.sums.first_mut() else { return false };
        let selected = sum.intent.as_ref().map_or(0, |intent| intent.rows);
        if document.index().is_none() || selected != u64::from(session.document().live()) {
            return false;
        }
        let intent = whole_files::intend_file(session.view(), Member::Index, rules);
        let applied = intent.edit.as_ref().and_then(|edit| document.apply(edit, &Progress::default()));
        let Some(applied) = applied else { return false };
        *document = applied.document;
        let changed = applied.framed || !applied.touched.is_empty();
        sum.add(intent, changed);
        changed
    }
}

impl StagedChange {
    /// Whether no file has rows after the change.
    pub(crate) const fn is_empty(&self) -> bool {
        self.plan.document.live() == 0
    }

    /// The planned save of the index.
    pub(crate) fn index(&self, session: &Session) -> Inspection {
        let outputs = self.plan.outputs.iter().filter(|output| output.file.index_file().is_some());
        let plan = Plan { outputs: outputs.cloned().collect(), ..self.plan.clone() };
        Inspection::new(plan, session.document().clone(), self.disk.clone())
    }

    /// Writes the remaining files and commits all of them.
    ///
    /// # Errors
    /// As a save of a resident set.
    pub(crate) fn save(mut self) -> Result<Saved, files::Error> {
        // Refusals of the plan come before errors of writing, as in a save of a resident set.
        let is_refused = !self.plan.is_ready() || !self.plan.repairs.is_empty();
        if let Some(failed) = self.failed.filter(|_| !is_refused) {
            return Err(failed);
        }
        let batch = match self.batch {
            Some(batch) => batch,
            None => IncrementalSave::begin(self.plan.path.as_deref(), &self.disk, &self.mode)?,
        };
        batch.commit(&self.plan, &mut self.disk, &Progress::default())
    }
}
