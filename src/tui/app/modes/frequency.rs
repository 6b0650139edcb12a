//! Inline completion of the seven frequencies in the cell editor.
//!
//! A letter that continues the word is accepted; any other letter selects the word that it starts. Text that starts
//! none of the words, and letters inserted inside the text, are typed as in any other cell.

use crate::protocol::changefreq::{Changefreq, complete};
use crate::tui::prompt::Prompt;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The word that removes the value; it is completed like the seven.
const NONE: &str = "none";

/// Handles a key that types or chooses a frequency. False for all other keys, which the prompt handles.
pub(super) fn press(prompt: &mut Prompt, key: KeyEvent) -> bool {
    if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
        return false;
    }
    match key.code {
        KeyCode::Down => choose(prompt, Changefreq::next, Changefreq::ALL[0]),
        KeyCode::Up => choose(prompt, Changefreq::previous, Changefreq::ALL[6]),
        KeyCode::Char(letter) => return insert(prompt, letter.encode_utf8(&mut [0; 4])),
        _ => return false,
    }
    true
}

/// Inserts a letter or a pasted word at the end of the typed text.
pub(super) fn insert(prompt: &mut Prompt, text: &str) -> bool {
    let typed = prompt.typed();
    if prompt.caret() != typed.len() {
        return false;
    }
    let longer = format!("{typed}{text}");
    if let Some(word) = word_of(&longer) {
        prompt.complete_inline(word, longer.len());
        return true;
    }
    let is_start = typed.is_empty() || word_of(typed).is_some();
    let Some(word) = word_of(text).filter(|_| is_start) else { return false };
    prompt.complete_inline(word, text.len());
    true
}

/// Chooses the frequency beside the current one, or `first` if the text is not a frequency.
fn choose(prompt: &mut Prompt, beside: fn(Changefreq) -> Changefreq, first: Changefreq) {
    let text = prompt.text();
    let chosen = match Changefreq::parse_any_case(text) {
        Some(current) => beside(current),
        None => complete(text).unwrap_or(first),
    };
    prompt.set(chosen.name());
}

/// The word that starts with this text.
fn word_of(text: &str) -> Option<&'static str> {
    let is_none = || NONE.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text));
    complete(text).map(Changefreq::name).or_else(|| is_none().then_some(NONE))
}
