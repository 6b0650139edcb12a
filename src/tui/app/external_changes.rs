//! Files that others changed: noticed when the terminal has the focus again and before a save, and what can be done.

use super::super::jobs::Kind;
use super::super::theme::Role;
use super::super::words::{Line, Words};
use super::files::{Answer, Ask};
use super::merge::Merging;
use super::{App, JobOutcome, Mode, Purpose};
use crate::files::external_changes::{FileChange, OutsideChanges, Thoroughness};
use crate::progress::Progress;
use crate::protocol::Severity;
use crate::session::external_changes::Compared;
use crate::words::counted;
use crate::xml::names::FileKind;
use std::path::PathBuf;

/// Files that are named in a panel.
const NAMED: usize = 8;

impl App {
    /// Looks whether the files are what they were; if somebody `asked`, the answer is shown whatever it is.
    pub(super) fn look_outside(&mut self, care: Thoroughness, asked: bool) {
        if self.session.path().is_none() || self.session.is_loading() || self.is_busy(Kind::Save) {
            if asked {
                self.say("no files on disk to compare with");
            }
            return;
        }
        let looking = self.session.looking();
        let ticket = self.looks;
        let work = Box::new(move |_: &Progress, _: &dyn Fn(_)| JobOutcome::Looked {
            ticket,
            outside: looking.run(care),
            asked,
        });
        self.spawn(Kind::Look, work);
    }

    /// What was found out. What a save has done meanwhile is no news.
    pub(super) fn looked(&mut self, ticket: u64, outside: &OutsideChanges, asked: bool) {
        if ticket != self.looks {
            return;
        }
        self.session.note_touched(outside);
        let known = std::mem::replace(&mut self.outside, outside.changed.clone());
        if asked {
            return if self.outside.is_empty() {
                self.say("the files have not changed on disk");
            } else {
                self.open_outside(false);
            };
        }
        if self.outside.is_empty() || self.outside == known {
            return;
        }
        let mut words = Words::new().and(Role::Warning, format!("{} ", self.theme.signs.warning));
        words.push(Role::Text, self.outside_words());
        words.key("go", "what to do");
        self.say_words(words, Severity::Note);
    }

    /// `sitemap-1.xml was replaced by another program`.
    fn outside_words(&self) -> String {
        match self.outside.as_slice() {
            [(path, fate)] => {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                format!("{name} {} by another program", fate.words())
            }
            files => format!("{} were changed by another program", counted(files.len() as u64, "file")),
        }
    }

    /// The save did not begin: files are not what they were.
    pub(super) fn save_held_back(&mut self, outside: &OutsideChanges) {
        self.leave_after_save = false;
        self.session.note_no_save();
        self.session.note_touched(outside);
        self.outside.clone_from(&outside.changed);
        self.open_outside(true);
    }

    /// What can be done about it; `saving` if a save waits for that.
    fn open_outside(&mut self, saving: bool) {
        let mut lines: Vec<Line> = Vec::new();
        let charset = self.theme.charset;
        for (path, fate) in self.outside.iter().take(NAMED) {
            let name = charset.visible(&path.display().to_string()).into_owned();
            lines.push(Words::text(format!("  {name} ")).and(Role::Warning, fate.words()).into());
        }
        if self.outside.len() > NAMED {
            lines.push(Words::dim(format!("  … {} more", self.outside.len() - NAMED)).into());
        }
        let modified = self.session.is_modified();
        // A set may lose a file; without the one that it is opened by there is no set.
        let is_main = |path: &PathBuf| {
            self.session.path() == Some(path)
                && (self.session.paths().is_empty() || self.session.kind() == FileKind::Index)
        };
        let readable = |path: &PathBuf, fate: FileChange| match fate {
            FileChange::Changed | FileChange::Replaced | FileChange::Truncated => true,
            FileChange::Deleted => !is_main(path),
            FileChange::Unchanged | FileChange::Unreadable => false,
        };
        let can_merge = modified && self.outside.iter().all(|(path, fate)| readable(path, *fate));
        let mut answers = Vec::new();
        if can_merge {
            answers.push(('m', "merge", Answer::Merge));
        }
        lines.push(if can_merge {
            Words::dim(
                "Merging asks about rows that both changed; reloading drops your changes, keeping yours drops theirs.",
            )
            .into()
        } else if modified {
            Words::dim("Reloading drops your changes; keeping yours, saving writes them over what is there.").into()
        } else {
            Words::dim("You have no unsaved changes: reloading loses nothing.").into()
        });
        answers.push(('r', "reload", Answer::Reload));
        answers.push(('o', "keep ours", Answer::KeepOurs(saving)));
        answers.push(('s', "elsewhere", Answer::SaveElsewhere));
        answers.push(('k', "later", Answer::Stay));
        if modified && !can_merge {
            // Enter loses nothing.
            answers.rotate_right(1);
        }
        let words = if saving { format!("not saved: {}", self.outside_words()) } else { self.outside_words() };
        let title = Words::new().and(Role::Warning, format!("{} ", self.theme.signs.warning)).and(Role::Text, words);
        self.mode = Mode::Ask(Box::new(Ask::new(title, lines, answers)));
    }

    /// Reads the files again; asks first if that loses something.
    pub(super) fn reload_outside(&mut self) {
        if !self.session.is_modified() {
            return self.reload(true);
        }
        let changed = counted(u64::from(self.session.changed()), "changed row");
        self.mode = Mode::Ask(Box::new(Ask::new(
            Words::text(format!("{changed} not saved")),
            vec![Words::text("Reloading would lose them.").into()],
            vec![('k', "keep editing", Answer::Stay), ('D', "discard and reload", Answer::DiscardAndReload)],
        )));
    }

    /// The files stay as they are here; the next save writes them so.
    pub(super) fn keep_ours(&mut self, saving: bool) {
        let paths: Vec<PathBuf> = self.outside.drain(..).map(|(path, _)| path).collect();
        self.session.keep_ours(paths.iter().map(PathBuf::as_path));
        if saving {
            return self.save(None, false);
        }
        self.say("your version is kept; saving overwrites the files on disk");
    }

    /// A name for the other place.
    pub(super) fn save_elsewhere(&mut self) {
        self.open_line(Purpose::Command, "write ");
    }

    /// Reads what others wrote, to be compared.
    pub(super) fn compare(&mut self) {
        let Some(comparing) = self.session.comparing(self.options.clone()) else { return };
        self.say("reading the files…");
        self.spawn(
            Kind::Look,
            Box::new(move |_: &Progress, _: &dyn Fn(_)| JobOutcome::Compared(comparing.run().map(Box::new))),
        );
    }

    pub(super) fn compared(&mut self, result: Result<Box<Compared>, String>) {
        match result {
            Err(why) => self.fail(format!("no merge: {why}; reload, keep ours or save elsewhere (go)")),
            // Something else was begun meanwhile.
            Ok(_) if !matches!(self.mode, Mode::Grid | Mode::Detail) => self.say("both versions are read; go merges"),
            Ok(compared) => {
                self.message = None;
                self.mode = Mode::Merge(Box::new(Merging::new(*compared)));
            }
        }
    }
}
