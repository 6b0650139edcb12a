//! Completion candidates for a lastmod that is being typed.

use super::super::state::Shared;
use super::super::state::request::Choice;
use super::items::{Item, entry, text};
use crate::protocol::lastmod;
use crate::protocol::verdict::Verdict;
use crate::tui::theme::Role;
use crate::tui::words::Words;

/// The values for lastmod that start with the typed text, or the typed value itself.
pub(in crate::tui::app) fn lines(shared: &Shared, typed: &str) -> Vec<Item> {
    let now = shared.session.view().clock;
    let typed = typed.trim();
    let one = |typed: &str, about: String| {
        let words = Words::text(format!("{typed:8}")).and(Role::Dim, format!("  {about}"));
        entry(words, Words::new(), Choice::Lastmod(typed.to_owned()))
    };
    let mut lines: Vec<Item> = [
        ("today", now.today()),
        ("now", now.timestamp()),
        ("+1d", "a day later".to_owned()),
        ("-1d", "a day earlier".to_owned()),
        ("+7d", "a week later".to_owned()),
        ("-7d", "a week earlier".to_owned()),
        ("none", "no lastmod: none is better than an invented one".to_owned()),
    ]
    .into_iter()
    .filter(|(name, _)| name.starts_with(&typed.to_ascii_lowercase()))
    .map(|(name, about)| one(name, about))
    .collect();
    if lines.is_empty() {
        let is_step = typed.starts_with(['+', '-']);
        match lastmod::parse_input(typed, Some(&now.today()), now) {
            Err(error) => lines.push(text(Words::new().and(Role::Error, error.to_string()))),
            Ok(Some(value)) if !lastmod::verdicts(&value).iter().any(Verdict::accepts) => {
                let words = format!("{typed}: expected a date, a step such as +7d, today, now or none");
                lines.push(text(Words::new().and(Role::Error, words)));
            }
            Ok(_) if is_step => lines.push(one(typed, "from the current value".to_owned())),
            Ok(_) => lines.push(one(typed, "exactly this value".to_owned())),
        }
    }
    lines
}
