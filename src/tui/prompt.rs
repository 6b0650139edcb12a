//! The line editor of prompts: editing keys, history, completion.
//!
//! Invariant: typing, pasting and completion never insert a line break or a control character; an existing value that
//! contains some ([`Prompt::of_value`]) keeps them until they are deleted. The caller parses the text.

use super::text::{Charset, from, start};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tui_textarea::{CursorMove, TextArea};
use unicode_segmentation::UnicodeSegmentation;

/// Minimum number of bytes before the caret that a window is computed from: more than any screen shows.
const MIN_WINDOW_BYTES: usize = 1 << 14;

/// The effect of a key on the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply {
    /// The text was changed.
    Changed,
    /// Only the caret was moved.
    Moved,
    /// Enter.
    Accept,
    /// Esc or Ctrl-C.
    Drop,
    /// Tab, with Shift if true.
    Tab(bool),
    /// Up, for which the history has no line.
    Up,
    /// Down, for which the history has no line.
    Down,
    /// Not a key of the prompt.
    Unknown,
}

/// A completion candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// The text to insert.
    pub text: String,
    /// A short description.
    pub hint: String,
}

/// The candidates for the text from a byte position to the caret.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Completion {
    /// Byte position at which the text to complete starts.
    pub from: usize,
    /// The candidates.
    pub candidates: Vec<Candidate>,
    /// The index of the inserted candidate, if any.
    pub chosen: Option<usize>,
}

/// A one-line editor.
#[derive(Debug, Clone)]
pub(crate) struct Prompt {
    editor: TextArea<'static>,
    /// Byte position of the caret.
    caret: usize,
    history: Vec<String>,
    /// The index of the history line that is shown, and the text typed before.
    recalled: Option<(usize, String)>,
    /// The completion candidates, if requested.
    pub completion: Option<Completion>,
    /// Number of bytes after the caret that [`Prompt::complete_inline`] inserted.
    inline: usize,
}

/// The visible part of the text, and the caret in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Window {
    /// The text, with control characters made visible, at most as wide as requested.
    pub text: String,
    /// Column of the caret; less than the requested width.
    pub caret: usize,
}

impl Prompt {
    /// Creates a prompt with this text, the caret at its end, and a history, newest line last.
    pub(crate) fn new(text: &str, history: Vec<String>) -> Self {
        let mut prompt =
            Self { editor: TextArea::default(), caret: 0, history, recalled: None, completion: None, inline: 0 };
        prompt.set(text);
        prompt
    }

    /// Creates a prompt for an existing value. Control characters in it are kept until they are deleted.
    pub(crate) fn of_value(value: &str, history: Vec<String>) -> Self {
        let mut prompt = Self::new("", history);
        prompt.put(value.to_owned());
        prompt
    }

    /// The text.
    pub(crate) fn text(&self) -> &str {
        self.editor.lines().first().map_or("", String::as_str)
    }

    /// Byte position of the caret.
    pub(crate) const fn caret(&self) -> usize {
        self.caret
    }

    /// Updates the byte position of the caret; done after each key instead of for each frame.
    fn update_caret(&mut self) {
        let (text, column) = (self.text(), self.editor.cursor().1);
        let by_char = || text.char_indices().nth(column).map_or(text.len(), |(at, _)| at);
        self.caret = if text.is_ascii() { column.min(text.len()) } else { by_char() };
    }

    /// Replaces the text; the caret goes to its end.
    pub(crate) fn set(&mut self, text: &str) {
        self.put(to_single_line(text));
    }

    fn put(&mut self, text: String) {
        self.inline = 0;
        self.editor = TextArea::new(vec![text]);
        self.editor.move_cursor(CursorMove::End);
        self.update_caret();
    }

    /// The text without its inline completion.
    pub(crate) fn typed(&self) -> &str {
        let text = self.text();
        text.get(..text.len() - self.inline).unwrap_or(text)
    }

    /// Whether the text ends with an inline completion.
    pub(crate) const fn has_inline_completion(&self) -> bool {
        self.inline > 0
    }

    /// Replaces the text by `word`, of which `typed` bytes were typed and the others complete it. The caret goes
    /// between them: typing replaces the completion, Backspace and Delete remove it, → and End accept it.
    pub(crate) fn complete_inline(&mut self, word: &str, typed: usize) {
        self.set(word);
        let Some(head) = word.get(..typed) else { return };
        self.editor.move_cursor(CursorMove::Jump(0, u16::try_from(head.chars().count()).unwrap_or(u16::MAX)));
        self.update_caret();
        self.inline = word.len() - typed;
    }

    /// Removes the inline completion.
    fn reject_inline(&mut self) {
        if self.inline > 0 {
            let typed = self.typed().to_owned();
            self.put(typed);
        }
    }

    /// Inserts text at the caret; line breaks and control characters become single blanks. Returns true if there were
    /// any before its end.
    pub(crate) fn paste(&mut self, text: &str) -> bool {
        let text = text.trim_end_matches(['\r', '\n']);
        let folded = to_single_line(text);
        self.reject_inline();
        self.editor.insert_str(&folded);
        self.update_caret();
        self.end_recall();
        folded != text
    }

    /// Handles a key.
    pub(crate) fn press(&mut self, key: KeyEvent) -> Reply {
        let reply = self.press_in_completion(key).unwrap_or_else(|| self.apply_key(key));
        self.update_caret();
        reply
    }

    /// Handles a key while there is an inline completion. `None` if the key has its usual effect.
    fn press_in_completion(&mut self, key: KeyEvent) -> Option<Reply> {
        if self.inline == 0 {
            return None;
        }
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        let types = ctrl == key.modifiers.contains(KeyModifiers::ALT);
        match key.code {
            // These keys delete only the completion.
            KeyCode::Backspace | KeyCode::Delete if key.modifiers.is_empty() => self.reject_inline(),
            KeyCode::Char('h' | 'd' | 'k') if ctrl => self.reject_inline(),
            // These keys also delete typed text, and a character replaces the completion.
            KeyCode::Backspace | KeyCode::Delete => {
                self.reject_inline();
                return None;
            }
            KeyCode::Char(c) if types || ctrl && matches!(c, 'u' | 'w') => {
                self.reject_inline();
                return None;
            }
            // As with selected text, the caret is moved to one of its ends.
            KeyCode::Right | KeyCode::End | KeyCode::Char('f' | 'e') => {
                self.inline = 0;
                self.move_caret(CursorMove::End);
                return Some(Reply::Moved);
            }
            KeyCode::Left | KeyCode::Char('b') => {
                self.inline = 0;
                return Some(Reply::Moved);
            }
            KeyCode::Home | KeyCode::Char('a') => {
                self.inline = 0;
                return None;
            }
            _ => return None,
        }
        Some(Reply::Changed)
    }

    fn apply_key(&mut self, key: KeyEvent) -> Reply {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let before = self.text().len();
        match (key.code, ctrl, alt) {
            (KeyCode::Enter, ..) => return Reply::Accept,
            (KeyCode::Esc, ..) | (KeyCode::Char('c'), true, false) => return Reply::Drop,
            (KeyCode::Tab, ..) => return Reply::Tab(key.modifiers.contains(KeyModifiers::SHIFT)),
            (KeyCode::BackTab, ..) => return Reply::Tab(true),
            (KeyCode::Up, ..) | (KeyCode::Char('p'), true, false) => {
                return if self.recall(true) { Reply::Changed } else { Reply::Up };
            }
            (KeyCode::Down, ..) | (KeyCode::Char('n'), true, false) => {
                return if self.recall(false) { Reply::Changed } else { Reply::Down };
            }
            (KeyCode::Left, true, _) | (KeyCode::Char('b'), false, true) => self.move_caret(CursorMove::WordBack),
            (KeyCode::Right, true, _) | (KeyCode::Char('f'), false, true) => self.move_caret(CursorMove::WordForward),
            (KeyCode::Left, ..) | (KeyCode::Char('b'), true, false) => self.move_caret(CursorMove::Back),
            (KeyCode::Right, ..) | (KeyCode::Char('f'), true, false) => self.move_caret(CursorMove::Forward),
            (KeyCode::Home, ..) | (KeyCode::Char('a'), true, false) => self.move_caret(CursorMove::Head),
            (KeyCode::End, ..) | (KeyCode::Char('e'), true, false) => self.move_caret(CursorMove::End),
            (KeyCode::Backspace, true, _) | (KeyCode::Backspace, _, true) | (KeyCode::Char('w'), true, false) => {
                self.editor.delete_word();
            }
            (KeyCode::Backspace, ..) | (KeyCode::Char('h'), true, false) => {
                self.editor.delete_char();
            }
            (KeyCode::Delete, true, _) | (KeyCode::Char('d'), false, true) => {
                self.editor.delete_next_word();
            }
            (KeyCode::Delete, ..) | (KeyCode::Char('d'), true, false) => {
                self.editor.delete_next_char();
            }
            (KeyCode::Char('u'), true, false) => {
                self.editor.delete_line_by_head();
            }
            (KeyCode::Char('k'), true, false) => {
                self.editor.delete_line_by_end();
            }
            // AltGr arrives as Ctrl with Alt on some systems.
            (KeyCode::Char(c), ctrl, alt) if ctrl == alt && !c.is_control() => {
                self.editor.insert_char(c);
                self.end_recall();
                return Reply::Changed;
            }
            _ => return Reply::Unknown,
        }
        if self.text().len() == before {
            return Reply::Moved;
        }
        self.end_recall();
        Reply::Changed
    }

    /// Inserts the next candidate (the previous one if `back`). False if there is none.
    pub(crate) fn complete(&mut self, back: bool) -> bool {
        let Some(mut completion) = self.completion.take() else { return false };
        let count = completion.candidates.len();
        let next = match completion.chosen {
            None if back => count.wrapping_sub(1),
            None => 0,
            Some(at) if back => (at + count - 1) % count.max(1),
            Some(at) => (at + 1) % count.max(1),
        };
        let Some(candidate) = completion.candidates.get(next) else { return false };
        let caret = self.caret();
        let text = self.text();
        let (Some(head), Some(tail)) = (text.get(..completion.from), text.get(caret..)) else { return false };
        let (head, tail) = (format!("{head}{}", candidate.text), tail.to_owned());
        let column = head.chars().count();
        self.set(&(head + &tail));
        self.editor.move_cursor(CursorMove::Jump(0, u16::try_from(column).unwrap_or(u16::MAX)));
        self.update_caret();
        completion.chosen = Some(next);
        self.completion = Some(completion);
        true
    }

    /// Returns the text around the caret, in at most `width` columns.
    pub(crate) fn window(&self, charset: Charset, width: usize) -> Window {
        if width == 0 {
            return Window { text: String::new(), caret: 0 };
        }
        let (before, after) = self.text().split_at(self.caret);
        // Text far before the caret is not measured: in a long text, the examined part starts at multiples of
        // `MIN_WINDOW_BYTES`.
        let step_index = before.len() / MIN_WINDOW_BYTES;
        let before = charset.visible(from(before, step_index.saturating_sub(1) * MIN_WINDOW_BYTES));
        let caret = charset.width_within(&before, before.len());
        // The caret needs a column. Text that does not fit is dropped at the left, a quarter of the width at a time,
        // so that not every key shifts the text.
        let mut dropped = 0;
        let step = (width / 4).max(1);
        let mut kept: &str = &before;
        while caret - dropped >= width {
            let mut gone = 0;
            for grapheme in kept.graphemes(true) {
                gone += charset.width(grapheme).max(1);
                kept = &kept[grapheme.len()..];
                if gone >= step {
                    break;
                }
            }
            dropped += gone.max(1);
            if kept.is_empty() {
                break;
            }
        }
        let caret = charset.width(kept);
        let mut text = kept.to_owned();
        let room = width - caret.min(width);
        let mut used = 0;
        for grapheme in charset.visible(start(after, room)).graphemes(true) {
            used += charset.width(grapheme);
            if used > room {
                break;
            }
            text.push_str(grapheme);
        }
        Window { text, caret }
    }

    fn move_caret(&mut self, to: CursorMove) {
        self.editor.move_cursor(to);
    }

    /// Ends the recall of history lines and the completion; the text stays.
    fn end_recall(&mut self) {
        self.recalled = None;
        self.completion = None;
    }

    fn recall(&mut self, back: bool) -> bool {
        let (at, draft) = match (self.recalled.take(), back) {
            (None, true) => match self.history.len().checked_sub(1) {
                Some(at) => (at, self.text().to_owned()),
                None => return false,
            },
            (None, false) => return false,
            (Some((0, draft)), true) => (0, draft),
            (Some((at, draft)), true) => (at - 1, draft),
            (Some((at, draft)), false) if at + 1 < self.history.len() => (at + 1, draft),
            (Some((_, draft)), false) => {
                self.put(draft);
                return true;
            }
        };
        self.put(self.history[at].clone());
        self.recalled = Some((at, draft));
        self.completion = None;
        true
    }
}

/// Returns one line without control characters: each run of them, with the blanks around it, becomes one blank.
fn to_single_line(text: &str) -> String {
    if !text.contains(char::is_control) {
        return text.to_owned();
    }
    text.split(char::is_control).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::text::count;
    use super::*;
    use proptest::prelude::*;

    fn press(prompt: &mut Prompt, keys: &str) -> Vec<Reply> {
        keys.split(' ')
            .map(|name| {
                let (modifiers, name) = match name.split_once('-') {
                    Some(("ctrl", rest)) => (KeyModifiers::CONTROL, rest),
                    Some(("alt", rest)) => (KeyModifiers::ALT, rest),
                    _ => (KeyModifiers::NONE, name),
                };
                let code = match name {
                    "left" => KeyCode::Left,
                    "right" => KeyCode::Right,
                    "home" => KeyCode::Home,
                    "end" => KeyCode::End,
                    "up" => KeyCode::Up,
                    "down" => KeyCode::Down,
                    "bs" => KeyCode::Backspace,
                    "del" => KeyCode::Delete,
                    "enter" => KeyCode::Enter,
                    "esc" => KeyCode::Esc,
                    "tab" => KeyCode::Tab,
                    "space" => KeyCode::Char(' '),
                    one => KeyCode::Char(one.chars().next().unwrap()),
                };
                prompt.press(KeyEvent::new(code, modifiers))
            })
            .collect()
    }

    #[test]
    fn keys_edit_the_line() {
        let table = [
            ("", "a b c", "abc", 3),
            ("abc", "left X", "abXc", 3),
            ("abc", "home X", "Xabc", 1),
            ("abc", "ctrl-a del", "bc", 0),
            ("abc", "bs bs", "a", 1),
            ("one two", "ctrl-w", "one ", 4),
            ("one two", "ctrl-u", "", 0),
            ("one two", "home ctrl-k", "", 0),
            ("one two", "ctrl-left x", "one xtwo", 5),
            ("日本", "left X", "日X本", 4),
        ];
        for (text, keys, expected, caret) in table {
            let mut prompt = Prompt::new(text, Vec::new());
            press(&mut prompt, keys);
            assert_eq!((prompt.text(), prompt.caret()), (expected, caret), "{text:?} {keys}");
        }
    }

    #[test]
    fn keys_that_do_not_edit_have_distinct_replies() {
        let mut prompt = Prompt::new("x", Vec::new());
        assert_eq!(
            press(&mut prompt, "enter esc ctrl-c tab up down left ctrl-s"),
            [
                Reply::Accept,
                Reply::Drop,
                Reply::Drop,
                Reply::Tab(false),
                Reply::Up,
                Reply::Down,
                Reply::Moved,
                Reply::Unknown
            ]
        );
        assert_eq!(prompt.text(), "x");
    }

    #[test]
    fn pasted_text_is_not_executed_as_keys() {
        let mut prompt = Prompt::new("", Vec::new());
        assert!(!prompt.paste("one line\n"));
        assert_eq!(prompt.text(), "one line");
        prompt.set("");
        assert!(prompt.paste("two\r\n  lines\x1b[31m"));
        assert_eq!(prompt.text(), "two lines [31m");
    }

    #[test]
    fn history_lines_and_the_draft_are_recalled() {
        let mut prompt = Prompt::new("draft", vec!["old".into(), "new".into()]);
        let mut seen = Vec::new();
        for key in ["up", "up", "up", "down", "down", "down"] {
            let reply = press(&mut prompt, key)[0];
            seen.push((prompt.text().to_owned(), reply == Reply::Changed));
        }
        let seen: Vec<(&str, bool)> = seen.iter().map(|(text, changed)| (text.as_str(), *changed)).collect();
        assert_eq!(
            seen,
            [("new", true), ("old", true), ("old", true), ("new", true), ("draft", true), ("draft", false)]
        );
    }

    #[test]
    fn completion_cycles_in_place() {
        let candidate = |text: &str| Candidate { text: text.into(), hint: String::new() };
        let mut prompt = Prompt::new("set pr where x", Vec::new());
        for _ in 0.." where x".len() {
            press(&mut prompt, "left");
        }
        let candidates = vec![candidate("priority="), candidate("private")];
        prompt.completion = Some(Completion { from: 4, candidates, chosen: None });
        assert!(prompt.complete(false));
        assert_eq!((prompt.text(), prompt.caret()), ("set priority= where x", 13));
        assert!(prompt.complete(false));
        assert_eq!(prompt.text(), "set private where x");
        assert!(prompt.complete(true));
        assert_eq!(prompt.text(), "set priority= where x");
        press(&mut prompt, "0");
        assert!(!prompt.complete(false), "typing ends it");
    }

    #[test]
    fn the_window_follows_the_caret() {
        let mut prompt = Prompt::new("abcdefghij", Vec::new());
        assert_eq!(prompt.window(Charset::Unicode, 20), Window { text: "abcdefghij".into(), caret: 10 });
        assert_eq!(prompt.window(Charset::Unicode, 8), Window { text: "efghij".into(), caret: 6 });
        press(&mut prompt, "home");
        assert_eq!(prompt.window(Charset::Unicode, 8), Window { text: "abcdefgh".into(), caret: 0 });
    }

    #[test]
    fn a_window_examines_only_a_part_of_a_long_text() {
        for part in ["abcdefghi/", "äé日本-", "\u{301}"] {
            let mut prompt = Prompt::new(&part.repeat(1_000_000 / part.len()), Vec::new());
            for keys in ["x", "left left", "home", "x"] {
                press(&mut prompt, keys);
                let (window, looked) = count::of(|| prompt.window(Charset::Unicode, 80));
                assert!(window.caret < 80 && looked < 512 * 1024, "{looked} bytes after {keys} in {part:?}");
                assert!(Charset::Unicode.width(&window.text) > 20, "{window:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn the_window_fits_and_shows_the_caret(text in any::<String>(), back in 0_usize..20, width in 1_usize..30) {
            let mut prompt = Prompt::new(&text, Vec::new());
            prop_assert!(!prompt.text().contains(char::is_control));
            for _ in 0..back { press(&mut prompt, "left"); }
            let window = prompt.window(Charset::Unicode, width);
            prop_assert!(window.caret < width);
            prop_assert!(Charset::Unicode.width(&window.text) <= width, "{:?}", window);
        }
    }
}
