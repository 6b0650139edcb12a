//! Works out changes and commands completely: plans the edit, applies it to a copy, checks the result.

use crate::check::decision::Decision;
use crate::check::rule::Rule;
use crate::document::edit::Edit;
use crate::document::rows::{RowId, RowSet};
use crate::progress::Progress;
use crate::session::command::Command;
use crate::session::edit::values::nudged;
use crate::session::edit::{Asker, Change, Intent, Prepared, Refused};
use crate::session::state::Snapshot;

impl Snapshot {
    /// Works a change out, edit and findings. `Ok(None)` when cancelled.
    pub fn prepare(&self, change: &Change, progress: &Progress) -> Result<Option<Prepared>, Refused> {
        let Some(mut intent) = self.intend(change, progress)? else { return Ok(None) };
        if intent.edit.is_some() {
            intent.said = self.lines_of(change, &intent);
        }
        Ok(self.prepare_fix(change, intent, progress))
    }

    /// Works out the change that a command asks for. `Ok(None)` for commands that change no rows, or when cancelled.
    pub fn prepare_command(
        &self,
        command: &Command,
        asker: Asker,
        progress: &Progress,
    ) -> Result<Option<Prepared>, Refused> {
        let Some(change) = self.change_of(command, asker, progress)? else { return Ok(None) };
        let Some(mut intent) = self.intend(&change, progress)? else { return Ok(None) };
        if intent.edit.is_some() {
            intent.said = self.lines_of_command(command, asker, &change, &intent);
        }
        Ok(self.prepare_fix(&change, intent, progress))
    }

    /// Works out what a change comes to, and of a fix what it leaves.
    fn prepare_fix(&self, change: &Change, intent: Intent, progress: &Progress) -> Option<Prepared> {
        let mut prepared = self.prepare_intent(intent, progress)?;
        if change.is_fix() && prepared.intent.edit.is_some() {
            prepared = self.retreated(change, prepared, progress)?;
            prepared = self.fix_to_the_end(change, prepared, progress)?;
            prepared.intent.left = self.left_by(&prepared);
        }
        Some(prepared)
    }
}

impl Snapshot {
    /// Works out what a change comes to. `Ok(None)` when cancelled.
    pub fn intend(&self, change: &Change, progress: &Progress) -> Result<Option<Intent>, Refused> {
        change.fields().into_iter().try_for_each(|field| self.document.has_place_for(field))?;
        Ok(match change {
            Change::Set { rows, assignments } => return self.intend_set(rows, assignments, progress),
            Change::Values { rows, field, values } => self.intend_values(rows, *field, values, progress),
            Change::Replace { rows, replace, reach } => self.intend_replace(rows, replace, *reach, progress),
            Change::RebaseIndex(url) => Some(self.intend_rebase(url)),
            Change::Nudge { rows, field, up } => {
                let words = if *up { "raised" } else { "lowered" };
                let words = format!("{} {words} on", field.name());
                self.intend_each(rows, *field, &words, progress, &|old| nudged(*field, old, *up, self))
            }
            Change::Insert { after, before, locs } => Some(self.intend_insert(*after, *before, locs)?),
            Change::Duplicate(rows) => Some(self.intend_duplicate(rows)?),
            Change::Delete(rows) => {
                let rows: RowSet = rows.iter().filter(|row| self.document.is_live(RowId(*row))).collect();
                Some(Intent::of_rows("deleted", &rows, Edit::Delete(rows.clone())))
            }
            Change::Restore(rows) => {
                let rows: RowSet = rows.iter().filter(|row| self.document.record(RowId(*row)).is_deleted()).collect();
                Some(Intent::of_rows("restored", &rows, Edit::Restore(rows.clone())))
            }
            Change::Decide { rows, rule, decision: Decision::Name(name) } => Some(self.intend_name(rows, *rule, name)?),
            Change::Decide { rows, rule, decision } => {
                let Some(field) = decision.field() else {
                    return Ok(self.intend_decided(rows, *rule, decision, progress));
                };
                if let Decision::Base(url) = decision
                    && matches!(*rule, Rule::INDEX_CHILD_INCOMPLETE_URL | Rule::INDEX_CHILD_UNLISTED)
                {
                    return Ok(Some(self.intend_below(*rule, url)));
                }
                let broken = |row: &u32| self.rules_of(RowId(*row)).intersects(rule.family());
                let rows: RowSet = rows.iter().filter(broken).collect();
                let words = format!("{}: {} on", rule.code(), decision.label());
                self.intend_each(&rows, field, &words, progress, &|old| {
                    let new = old.and_then(|old| decision.apply(old));
                    new.map(|new| new.map(Into::into)).ok_or_else(|| "that does not fix it".to_owned())
                })
            }
            Change::Revert(rows) => self.intend_revert(rows, progress),
            Change::RevertFile(file) => Some(self.intend_revert_file(*file)),
            Change::Extend { rows, acts } => self.intend_extend(rows, acts, progress),
            Change::Raw { row, text } => Some(self.intend_raw(*row, text)?),
            Change::Several(changes) => {
                let mut whole: Option<Intent> = None;
                for change in changes {
                    let Some(intent) = self.intend(change, progress)? else { return Ok(None) };
                    whole = Some(whole.map_or_else(|| intent.clone(), |first| first.joined(intent.clone())));
                }
                whole
            }
            Change::FixFile(file, rules) => Some(self.intend_fix_file(*file, *rules)),
            Change::Fix { rows, rules } => self.intend_fix(rows, &super::fix::SkippedRows::default(), *rules, progress),
            Change::ApplyOrder => Some(self.intend_order()),
        })
    }
}

impl Snapshot {
    /// What a command would do, for the preview. `Ok(None)` for commands that change no rows.
    pub fn preview(&self, command: &Command, asker: Asker, progress: &Progress) -> Result<Option<Intent>, Refused> {
        match self.change_of(command, asker, progress)? {
            // What a fix leaves is known once it is done.
            Some(change) if change.is_fix() => {
                let intent = self.prepare_command(command, asker, progress)?.map(|prepared| prepared.intent);
                Ok(intent)
            }
            Some(change) => self.intend(&change, progress),
            None => Ok(None),
        }
    }
}
