//! The table of actions: keys, names and help lines, for the palette, help and the manual.
//!
//! Invariant: each [`Action`] occurs once, with a unique name. `app::actions` executes the actions.

use Action as A;
use Group as G;
use When as W;

/// An action that the user can run by a key or by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    Up,
    Down,
    Left,
    Right,
    NextCell,
    PreviousCell,
    PageUp,
    PageDown,
    HalfPageUp,
    HalfPageDown,
    First,
    Last,
    FirstColumn,
    LastColumn,
    Edit,
    Change,
    AddBelow,
    AddAbove,
    Delete,
    Clear,
    Duplicate,
    Undo,
    Redo,
    History,
    Repeat,
    Mark,
    MarkRange,
    MarkMatching,
    UnmarkMatching,
    InvertMarks,
    MarkShown,
    Bulk,
    BulkAgain,
    Today,
    TodayMenu,
    NudgeUp,
    NudgeDown,
    Replace,
    Search,
    NextHit,
    PreviousHit,
    Filter,
    Unfilter,
    FilterValue,
    FilterFindings,
    Sort,
    SortKeys,
    NextFinding,
    PreviousFinding,
    Findings,
    Explain,
    Fix,
    FixAll,
    Changes,
    CopyRows,
    CopyCell,
    CopyUrls,
    CopyXml,
    PasteAfter,
    PasteBefore,
    NextFile,
    PreviousFile,
    Detail,
    NextPane,
    Save,
    Plan,
    Outside,
    SaveAndQuit,
    Quit,
    QuitWithoutSaving,
    CommandLine,
    Palette,
    Help,
    Mouse,
    Redraw,
    Suspend,
    Cancel,
    Escape,
}

/// The section of an action in the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Moving the cursor.
    Move,
    /// Changing rows.
    Edit,
    /// Marks, and changing many rows.
    Many,
    /// Filter, sort, search.
    Find,
    /// Findings.
    Check,
    /// Clipboard.
    Copy,
    /// Saving and leaving.
    File,
    /// The program itself.
    Program,
}

impl Group {
    /// All groups, in the order of the help.
    pub const ALL: [Self; 8] =
        [Self::Move, Self::Edit, Self::Many, Self::Find, Self::Check, Self::Copy, Self::File, Self::Program];

    /// The heading in the help.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Move => "Move",
            Self::Edit => "Edit",
            Self::Many => "Mark, and change many",
            Self::Find => "Filter, sort, search",
            Self::Check => "Findings",
            Self::Copy => "Copy and paste",
            Self::File => "Save and leave",
            Self::Program => "Program",
        }
    }
}

/// The condition under which an action is available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// No condition.
    Always,
    /// There is a row under the cursor.
    OnRow,
    /// The document can be changed.
    Editable,
    /// There is a row under the cursor, and the document can be changed.
    EditRow,
}

/// One entry of the table of actions.
#[derive(Debug, Clone, Copy)]
pub struct Command {
    /// The action.
    pub action: Action,
    /// The name in the palette.
    pub name: &'static str,
    /// The description in the help, one line.
    pub line: &'static str,
    /// The default keys; the strokes of a sequence are separated by a blank.
    pub keys: &'static [&'static str],
    /// The section in the help.
    pub group: Group,
    /// The condition under which it is available.
    pub when: When,
}

const fn row(action: Action, name: &'static str, keys: &'static [&'static str], line: &'static str) -> Command {
    Command { action, name, line, keys, group: G::Program, when: W::Always }
}

impl Command {
    /// Sets the group and the condition.
    const fn of(self, group: Group, when: When) -> Self {
        Self { group, when, ..self }
    }
}

/// All actions, in the order of the help.
pub(crate) const COMMANDS: &[Command] = &[
    row(A::Down, "down", &["j", "down"], "next row; a count moves that many rows").of(G::Move, W::Always),
    row(A::Up, "up", &["k", "up"], "previous row").of(G::Move, W::Always),
    row(A::Left, "left", &["h", "left"], "cell to the left").of(G::Move, W::Always),
    row(A::Right, "right", &["l", "right"], "cell to the right").of(G::Move, W::Always),
    row(A::NextCell, "next cell", &["tab"], "next cell, then next row").of(G::Move, W::Always),
    row(A::PreviousCell, "previous cell", &["shift-tab"], "previous cell, then previous row").of(G::Move, W::Always),
    row(A::PageDown, "page down", &["pagedown", "ctrl-f"], "a screen down").of(G::Move, W::Always),
    row(A::PageUp, "page up", &["pageup", "ctrl-b"], "a screen up").of(G::Move, W::Always),
    row(A::HalfPageDown, "half page down", &["ctrl-d"], "half a screen down").of(G::Move, W::Always),
    row(A::HalfPageUp, "half page up", &["ctrl-u"], "half a screen up").of(G::Move, W::Always),
    row(A::First, "first row", &["g g", "ctrl-home"], "first row; `120gg` goes to row 120").of(G::Move, W::Always),
    row(A::Last, "last row", &["G", "ctrl-end"], "last row; `120G` goes to row 120").of(G::Move, W::Always),
    row(A::FirstColumn, "first column", &["home", "0"], "first column").of(G::Move, W::Always),
    row(A::LastColumn, "last column", &["end", "$"], "last column").of(G::Move, W::Always),
    row(A::NextFile, "next file", &["g t", "ctrl-pagedown"], "first row of the next file").of(G::Move, W::Always),
    row(A::PreviousFile, "previous file", &["g T", "ctrl-pageup"], "first row of the previous file")
        .of(G::Move, W::Always),
    row(A::Edit, "edit cell", &["enter", "f2", "i", "e"], "edit the cell").of(G::Edit, W::EditRow),
    row(A::Change, "change cell", &["c"], "edit the cell, starting empty").of(G::Edit, W::EditRow),
    row(A::AddBelow, "add below", &["o", "insert"], "add a URL below").of(G::Edit, W::Editable),
    row(A::AddAbove, "add above", &["O"], "add a URL above").of(G::Edit, W::Editable),
    row(A::Delete, "delete rows", &["d d", "delete"], "delete the marked rows, else this one").of(G::Edit, W::EditRow),
    row(A::Clear, "clear cell", &["x", "backspace"], "remove the value from the entry").of(G::Edit, W::EditRow),
    row(A::Duplicate, "duplicate rows", &["Y"], "copy the rows below themselves").of(G::Edit, W::EditRow),
    row(A::Today, "lastmod today", &["t"], "set lastmod to today").of(G::Edit, W::EditRow),
    row(A::TodayMenu, "lastmod menu", &["T"], "set lastmod: today, now, a shift, none").of(G::Edit, W::EditRow),
    row(A::NudgeUp, "nudge up", &[">"], "priority +0.1, lastmod +1 day, next frequency").of(G::Edit, W::EditRow),
    row(A::NudgeDown, "nudge down", &["<"], "priority -0.1, lastmod -1 day, previous frequency")
        .of(G::Edit, W::EditRow),
    row(A::Undo, "undo", &["u"], "undo the last change").of(G::Edit, W::Always),
    row(A::Redo, "redo", &["ctrl-r", "ctrl-y"], "redo").of(G::Edit, W::Always),
    row(A::History, "history", &["U"], "list the changes and go to one").of(G::Edit, W::Always),
    row(A::Repeat, "repeat", &["."], "repeat the last change here").of(G::Edit, W::EditRow),
    row(A::Mark, "mark row", &["space"], "mark the row and move down").of(G::Many, W::OnRow),
    row(A::MarkRange, "mark range", &["v"], "mark from here to where the cursor goes").of(G::Many, W::OnRow),
    row(A::MarkMatching, "mark matching", &["+"], "mark the matching rows").of(G::Many, W::Always),
    row(A::UnmarkMatching, "unmark matching", &["-"], "unmark the matching rows").of(G::Many, W::Always),
    row(A::InvertMarks, "invert marks", &["*"], "mark what is shown and not marked").of(G::Many, W::Always),
    row(A::MarkShown, "mark all shown", &["g a", "ctrl-a"], "mark every row shown").of(G::Many, W::Always),
    row(A::Bulk, "set many", &["b"], "set a field on many rows, with a preview").of(G::Many, W::EditRow),
    row(A::BulkAgain, "set many again", &["B"], "repeat the last bulk change, with a preview").of(G::Many, W::EditRow),
    row(A::Replace, "replace in loc", &["R"], "replace in URLs by a regular expression").of(G::Many, W::EditRow),
    row(A::Filter, "filter", &["f", "&"], "show only matching rows").of(G::Find, W::Always),
    row(A::Unfilter, "clear filter", &["F"], "show all rows").of(G::Find, W::Always),
    row(A::FilterValue, "filter by value", &["="], "show the rows with this cell's value").of(G::Find, W::OnRow),
    row(A::FilterFindings, "filter findings", &["!"], "show the rows with errors or warnings").of(G::Find, W::Always),
    row(A::Sort, "sort", &["s"], "sort by this column: up, down, file order").of(G::Find, W::Always),
    row(A::SortKeys, "sort by keys", &["S"], "sort by several columns").of(G::Find, W::Always),
    row(A::Search, "search", &["/"], "go to the next matching row").of(G::Find, W::Always),
    row(A::NextHit, "next match", &["n"], "next match").of(G::Find, W::Always),
    row(A::PreviousHit, "previous match", &["N"], "search backwards").of(G::Find, W::Always),
    row(A::NextFinding, "next finding", &["}", "f8"], "next row with an error or a warning").of(G::Check, W::Always),
    row(A::PreviousFinding, "previous finding", &["{", "f7"], "previous row with an error or a warning")
        .of(G::Check, W::Always),
    row(A::Findings, "rules", &["ctrl-e"], "list the findings by rule; x fixes, Enter shows the rows")
        .of(G::Check, W::Always),
    row(A::Explain, "explain finding", &["K"], "what the rule means and where it comes from").of(G::Check, W::OnRow),
    row(A::Fix, "fix", &["g x"], "fix the most severe finding; asks if a decision is needed").of(G::Check, W::EditRow),
    row(A::FixAll, "fix all", &["g X"], "apply all safe fixes, after a preview with counts").of(G::Check, W::Editable),
    row(A::CopyCell, "copy cell", &["y c"], "send the cell to the clipboard").of(G::Copy, W::OnRow),
    row(A::CopyUrls, "copy URLs", &["y u"], "send the URLs of the rows to the clipboard").of(G::Copy, W::OnRow),
    row(A::CopyRows, "copy rows", &["y y"], "send the rows to the clipboard, tabs between fields")
        .of(G::Copy, W::OnRow),
    row(A::CopyXml, "copy XML", &["y x"], "send the entries' XML to the clipboard").of(G::Copy, W::OnRow),
    row(A::PasteAfter, "paste below", &["p"], "add the URLs copied last below").of(G::Copy, W::Editable),
    row(A::PasteBefore, "paste above", &["P"], "add the URLs copied last above").of(G::Copy, W::Editable),
    row(A::Save, "save", &["ctrl-s"], "save the changed files").of(G::File, W::Always),
    row(A::Changes, "changes", &["g d", "f9"], "list the unsaved changes; revert single ones").of(G::File, W::Always),
    row(A::Plan, "save plan", &["g p"], "show all files, their limits and what a save would write")
        .of(G::File, W::Always),
    row(A::Outside, "changes on disk", &["g o"], "changes by other programs; merge, reload or keep ours")
        .of(G::File, W::Always),
    row(A::SaveAndQuit, "save and quit", &["Z Z"], "save and quit").of(G::File, W::Always),
    row(A::Quit, "quit", &["q", "ctrl-q"], "quit; asks if there are unsaved changes").of(G::File, W::Always),
    row(A::QuitWithoutSaving, "discard and quit", &["Z Q"], "quit without saving").of(G::File, W::Always),
    row(A::Help, "help", &["?", "f1"], "this list; / searches it").of(G::Program, W::Always),
    row(A::CommandLine, "command line", &[":"], "type a command; Tab completes it").of(G::Program, W::Always),
    row(A::Palette, "palette", &["ctrl-p"], "find any command by its name").of(G::Program, W::Always),
    row(A::Detail, "details", &["g v", "f3"], "show or hide the details of the row").of(G::Program, W::Always),
    row(A::NextPane, "next pane", &["f6", "ctrl-w w"], "go to the details, to edit fields and extensions")
        .of(G::Program, W::Always),
    row(A::Escape, "back", &["esc"], "close the prompt, then clear marks, then the filter").of(G::Program, W::Always),
    row(A::Cancel, "cancel", &["ctrl-c"], "stop the running job or the prompt; never quits").of(G::Program, W::Always),
    row(A::Mouse, "mouse", &["f12"], "give the mouse to the terminal, or take it back").of(G::Program, W::Always),
    row(A::Redraw, "redraw", &["ctrl-l"], "redraw the screen").of(G::Program, W::Always),
    row(A::Suspend, "suspend", &["ctrl-z"], "suspend; `fg` returns").of(G::Program, W::Always),
];

impl Action {
    /// The entry of this action in [`COMMANDS`].
    pub fn command(self) -> &'static Command {
        // A test checks that the table has every action; the first entry is only a fallback.
        COMMANDS.iter().find(|command| command.action == self).unwrap_or(&COMMANDS[0])
    }

    /// Whether `.` can repeat it: it changes the document, on the rows given by a count or by marks.
    pub const fn repeats(self) -> bool {
        matches!(
            self,
            Self::Delete | Self::Clear | Self::Duplicate | Self::Today | Self::NudgeUp | Self::NudgeDown | Self::Fix
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_actions_are_unique() {
        for (at, a) in COMMANDS.iter().enumerate() {
            for b in &COMMANDS[at + 1..] {
                assert_ne!(a.name, b.name);
                assert_ne!(a.action, b.action);
            }
            assert_eq!(a.action.command().name, a.name);
            assert!(!a.keys.is_empty(), "{} has no key", a.name);
            assert!(a.line.len() <= 64, "{}: {}", a.name, a.line.len());
        }
    }

    /// No action needs Alt or Ctrl-Shift, no binding has the byte code of another key, and no action is only on an
    /// F-key or only on a bracket (brackets need `AltGr` on many layouts).
    #[test]
    fn keys_exist_on_every_keyboard() {
        for command in COMMANDS {
            let plain = |key: &str| {
                let mut chars = key.chars();
                let f_key = key.len() > 1 && chars.next() == Some('f') && chars.all(|c| c.is_ascii_digit());
                !f_key && !key.contains(['{', '}', '[', ']', '~', '\\', '|', '@'])
            };
            for key in command.keys {
                assert!(!key.contains("alt-") && !key.contains("ctrl-shift-"), "{key}");
                for same in ["ctrl-i", "ctrl-m", "ctrl-j", "ctrl-h", "ctrl-["] {
                    assert_ne!(*key, same);
                }
            }
            let reachable = command.keys.iter().any(|key| plain(key)) || command.keys.len() > 1;
            assert!(reachable || command.action == Action::Mouse, "{}: {:?}", command.name, command.keys);
        }
    }
}
