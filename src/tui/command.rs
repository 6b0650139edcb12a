//! The table of actions: keys, names and help lines, for the palette, help and the manual.
//!
//! Invariant: each [`Action`] stands here once, with a name that is unique. What an action does is
//! decided by the state, not here.

use Action as A;
use Group as G;
use When as W;

/// Something a person can ask for by a key or by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is described by its row of the table")]
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

/// Where an action stands in help.
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
    /// All groups, in the order of help.
    pub const ALL: [Self; 8] =
        [Self::Move, Self::Edit, Self::Many, Self::Find, Self::Check, Self::Copy, Self::File, Self::Program];

    /// Its heading.
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

/// What an action needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Nothing.
    Always,
    /// A row under the cursor.
    OnRow,
    /// A document that may be changed.
    Editable,
    /// Both.
    EditRow,
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Command {
    /// What it does.
    pub action: Action,
    /// Its name in the palette.
    pub name: &'static str,
    /// One line of help.
    pub line: &'static str,
    /// Default keys; strokes of a sequence are divided by a blank.
    pub keys: &'static [&'static str],
    /// Where it stands in help.
    pub group: Group,
    /// When it can be used.
    pub when: When,
}

const fn row(
    action: Action,
    name: &'static str,
    keys: &'static [&'static str],
    (group, when): (Group, When),
    line: &'static str,
) -> Command {
    Command { action, name, line, keys, group, when }
}

/// Every action, in the order of help.
pub const COMMANDS: &[Command] = &[
    row(A::Down, "down", &["j", "down"], (G::Move, W::Always), "next row; a count before it moves that far"),
    row(A::Up, "up", &["k", "up"], (G::Move, W::Always), "previous row"),
    row(A::Left, "left", &["h", "left"], (G::Move, W::Always), "cell to the left"),
    row(A::Right, "right", &["l", "right"], (G::Move, W::Always), "cell to the right"),
    row(A::NextCell, "next cell", &["tab"], (G::Move, W::Always), "next cell, then next row"),
    row(A::PreviousCell, "previous cell", &["shift-tab"], (G::Move, W::Always), "previous cell, then previous row"),
    row(A::PageDown, "page down", &["pagedown", "ctrl-f"], (G::Move, W::Always), "a screen down"),
    row(A::PageUp, "page up", &["pageup", "ctrl-b"], (G::Move, W::Always), "a screen up"),
    row(A::HalfPageDown, "half page down", &["ctrl-d"], (G::Move, W::Always), "half a screen down"),
    row(A::HalfPageUp, "half page up", &["ctrl-u"], (G::Move, W::Always), "half a screen up"),
    row(A::First, "first row", &["g g", "ctrl-home"], (G::Move, W::Always), "first row; `120gg` goes to row 120"),
    row(A::Last, "last row", &["G", "ctrl-end"], (G::Move, W::Always), "last row; `120G` goes to row 120"),
    row(A::FirstColumn, "first column", &["home", "0"], (G::Move, W::Always), "first column"),
    row(A::LastColumn, "last column", &["end", "$"], (G::Move, W::Always), "last column"),
    row(A::NextFile, "next file", &["g t", "ctrl-pagedown"], (G::Move, W::Always), "first row of the next file"),
    row(
        A::PreviousFile,
        "previous file",
        &["g T", "ctrl-pageup"],
        (G::Move, W::Always),
        "first row of the previous file",
    ),
    row(A::Edit, "edit cell", &["enter", "f2", "i", "e"], (G::Edit, W::EditRow), "edit the cell"),
    row(A::Change, "change cell", &["c"], (G::Edit, W::EditRow), "edit the cell, starting empty"),
    row(A::AddBelow, "add below", &["o", "insert"], (G::Edit, W::Editable), "add a URL below"),
    row(A::AddAbove, "add above", &["O"], (G::Edit, W::Editable), "add a URL above"),
    row(A::Delete, "delete rows", &["d d", "delete"], (G::Edit, W::EditRow), "delete the marked rows, else this one"),
    row(A::Clear, "clear cell", &["x", "backspace"], (G::Edit, W::EditRow), "remove the value from the entry"),
    row(A::Duplicate, "duplicate rows", &["Y"], (G::Edit, W::EditRow), "copy the rows below themselves"),
    row(A::Today, "lastmod today", &["t"], (G::Edit, W::EditRow), "set lastmod to today"),
    row(A::TodayMenu, "lastmod menu", &["T"], (G::Edit, W::EditRow), "set lastmod: today, now, a shift, none"),
    row(A::NudgeUp, "nudge up", &[">"], (G::Edit, W::EditRow), "priority +0.1, lastmod +1 day, next frequency"),
    row(A::NudgeDown, "nudge down", &["<"], (G::Edit, W::EditRow), "priority -0.1, lastmod -1 day, previous frequency"),
    row(A::Undo, "undo", &["u"], (G::Edit, W::Always), "undo the last change"),
    row(A::Redo, "redo", &["ctrl-r", "ctrl-y"], (G::Edit, W::Always), "redo"),
    row(A::History, "history", &["U"], (G::Edit, W::Always), "list the changes and go to one"),
    row(A::Repeat, "repeat", &["."], (G::Edit, W::EditRow), "repeat the last change here"),
    row(A::Mark, "mark row", &["space"], (G::Many, W::OnRow), "mark the row and move down"),
    row(A::MarkRange, "mark range", &["v"], (G::Many, W::OnRow), "mark from here to where the cursor goes"),
    row(A::MarkMatching, "mark matching", &["+"], (G::Many, W::Always), "mark the matching rows"),
    row(A::UnmarkMatching, "unmark matching", &["-"], (G::Many, W::Always), "unmark the matching rows"),
    row(A::InvertMarks, "invert marks", &["*"], (G::Many, W::Always), "mark what is shown and not marked"),
    row(A::MarkShown, "mark all shown", &["g a", "ctrl-a"], (G::Many, W::Always), "mark every row shown"),
    row(A::Bulk, "set many", &["b"], (G::Many, W::EditRow), "set a field on many rows, with a preview"),
    row(A::BulkAgain, "set many again", &["B"], (G::Many, W::EditRow), "the last bulk change again, previewed"),
    row(A::Replace, "replace in loc", &["R"], (G::Many, W::EditRow), "replace in URLs by a regular expression"),
    row(A::Filter, "filter", &["f", "&"], (G::Find, W::Always), "show only matching rows"),
    row(A::Unfilter, "clear filter", &["F"], (G::Find, W::Always), "show all rows"),
    row(A::FilterValue, "filter by value", &["="], (G::Find, W::OnRow), "show the rows with this cell's value"),
    row(A::FilterFindings, "filter findings", &["!"], (G::Find, W::Always), "show the rows with errors or warnings"),
    row(A::Sort, "sort", &["s"], (G::Find, W::Always), "sort by this column: up, down, file order"),
    row(A::SortKeys, "sort by keys", &["S"], (G::Find, W::Always), "sort by several columns"),
    row(A::Search, "search", &["/"], (G::Find, W::Always), "go to the next matching row"),
    row(A::NextHit, "next match", &["n"], (G::Find, W::Always), "next match"),
    row(A::PreviousHit, "previous match", &["N"], (G::Find, W::Always), "search backwards"),
    row(A::NextFinding, "next finding", &["}", "f8"], (G::Check, W::Always), "next row with an error or a warning"),
    row(A::PreviousFinding, "previous finding", &["{", "f7"], (G::Check, W::Always), "previous such row"),
    row(
        A::Findings,
        "rules",
        &["ctrl-e"],
        (G::Check, W::Always),
        "list the findings by rule; x fixes, Enter shows the rows",
    ),
    row(A::Explain, "explain finding", &["K"], (G::Check, W::OnRow), "what the rule means and where it comes from"),
    row(A::Fix, "fix", &["g x"], (G::Check, W::EditRow), "fix the most severe finding; asks if a decision is needed"),
    row(A::FixAll, "fix all", &["g X"], (G::Check, W::Editable), "apply all safe fixes, after a preview with counts"),
    row(A::CopyCell, "copy cell", &["y c"], (G::Copy, W::OnRow), "send the cell to the clipboard"),
    row(A::CopyUrls, "copy URLs", &["y u"], (G::Copy, W::OnRow), "send the URLs of the rows to the clipboard"),
    row(A::CopyRows, "copy rows", &["y y"], (G::Copy, W::OnRow), "send the rows to the clipboard, tabs between fields"),
    row(A::CopyXml, "copy XML", &["y x"], (G::Copy, W::OnRow), "send the entries' XML to the clipboard"),
    row(A::PasteAfter, "paste below", &["p"], (G::Copy, W::Editable), "add the URLs copied last below"),
    row(A::PasteBefore, "paste above", &["P"], (G::Copy, W::Editable), "add the URLs copied last above"),
    row(A::Save, "save", &["ctrl-s"], (G::File, W::Always), "save the changed files"),
    row(A::Changes, "changes", &["g d", "f9"], (G::File, W::Always), "list the unsaved changes; revert single ones"),
    row(
        A::Plan,
        "save plan",
        &["g p"],
        (G::File, W::Always),
        "show all files, their limits and what a save would write",
    ),
    row(
        A::Outside,
        "changes on disk",
        &["g o"],
        (G::File, W::Always),
        "changes by other programs; merge, reload or keep ours",
    ),
    row(A::SaveAndQuit, "save and quit", &["Z Z"], (G::File, W::Always), "save and quit"),
    row(A::Quit, "quit", &["q", "ctrl-q"], (G::File, W::Always), "quit; asks if there are unsaved changes"),
    row(A::QuitWithoutSaving, "discard and quit", &["Z Q"], (G::File, W::Always), "quit without saving"),
    row(A::Help, "help", &["?", "f1"], (G::Program, W::Always), "this list; / searches it"),
    row(A::CommandLine, "command line", &[":"], (G::Program, W::Always), "type a command; Tab completes it"),
    row(A::Palette, "palette", &["ctrl-p"], (G::Program, W::Always), "find any command by its name"),
    row(A::Detail, "details", &["g v", "f3"], (G::Program, W::Always), "show or hide the details of the row"),
    row(
        A::NextPane,
        "next pane",
        &["f6", "ctrl-w w"],
        (G::Program, W::Always),
        "go to the details, to edit fields and extensions",
    ),
    row(A::Escape, "back", &["esc"], (G::Program, W::Always), "close the prompt, then clear marks, then the filter"),
    row(A::Cancel, "cancel", &["ctrl-c"], (G::Program, W::Always), "stop the running job or the prompt; never quits"),
    row(A::Mouse, "mouse", &["f12"], (G::Program, W::Always), "give the mouse to the terminal, or take it back"),
    row(A::Redraw, "redraw", &["ctrl-l"], (G::Program, W::Always), "redraw the screen"),
    row(A::Suspend, "suspend", &["ctrl-z"], (G::Program, W::Always), "suspend; `fg` returns"),
];

impl Action {
    /// Its row of the table.
    pub fn command(self) -> &'static Command {
        // The table has every action (a test looks); the first row stands in where one is forgotten.
        COMMANDS.iter().find(|command| command.action == self).unwrap_or(&COMMANDS[0])
    }

    /// Whether it changes the document when it runs on the rows that a count or marks name, so that
    /// `.` can repeat it.
    pub const fn repeats(self) -> bool {
        matches!(
            self,
            Self::Delete | Self::Clear | Self::Duplicate | Self::Today | Self::NudgeUp | Self::NudgeDown | Self::Fix
        )
    }
}

/// The table of keys for the manual, in Markdown.
pub fn key_table() -> String {
    let mut lines = vec!["| Keys | What they do |".to_owned(), "|---|---|".to_owned()];
    for group in Group::ALL {
        lines.push(format!("| **{}** | |", group.name()));
        for command in COMMANDS.iter().filter(|command| command.group == group) {
            let keys: Vec<String> = command.keys.iter().map(|keys| code(keys)).collect();
            lines.push(format!("| {} | {} |", keys.join(", "), command.line.replace('|', "\\|")));
        }
    }
    lines.join("\n") + "\n"
}

/// A key as Markdown code; a bar would end the cell.
fn code(keys: &str) -> String {
    format!("`{}`", super::keymap::spelled(keys).replace('|', "\\|"))
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

    /// No function depends on Alt or Shift with Ctrl, nothing is bound to bytes that are other keys, and
    /// nothing is only on an F-key, or only on a bracket (they need `AltGr` on many layouts).
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

    #[test]
    fn the_readme_table_has_every_command() {
        let table = key_table();
        for command in COMMANDS {
            assert!(table.contains(command.line), "{}", command.name);
        }
        assert!(table.contains("| `j`, `↓` |"), "{table}");
    }
}
