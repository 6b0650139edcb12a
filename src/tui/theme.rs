//! Themes: a style for each role and a sign for each meaning.
//!
//! Uses only the 16 colours of the terminal and one accent. No meaning depends on colour alone: a [`Signs`]
//! character, a word or bold text shows it too.

use super::text::Charset;
use crate::protocol::Severity;
use ratatui::style::{Color, Modifier, Style};

/// The background that the colours are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scheme {
    /// Light text on a dark background.
    #[default]
    Dark,
    /// Dark text on a light background.
    Light,
    /// No colours: `NO_COLOR` (no-color.org), or a terminal without colours.
    Plain,
}

impl Scheme {
    /// Parses `dark`, `light`, `plain` or `none`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "dark" => Some(Self::Dark),
            "light" => Some(Self::Light),
            "plain" | "none" => Some(Self::Plain),
            _ => None,
        }
    }

    /// The scheme for an environment: a non-empty `NO_COLOR` and `TERM=dumb` take precedence over `requested`.
    pub fn of(requested: Option<Self>, get: impl Fn(&str) -> Option<String>) -> Self {
        let plain = get("NO_COLOR").is_some_and(|value| !value.is_empty())
            || get("TERM").is_some_and(|term| term == "dumb" || term.ends_with("-m"));
        if plain { Self::Plain } else { requested.unwrap_or_default() }
    }
}

/// The signs of the screen, each one column wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signs {
    /// Finding: error.
    pub error: &'static str,
    /// Finding: warning.
    pub warning: &'static str,
    /// Finding: note.
    pub note: &'static str,
    /// Row added.
    pub added: &'static str,
    /// Row changed.
    pub changed: &'static str,
    /// Row deleted.
    pub deleted: &'static str,
    /// Row moved.
    pub moved: &'static str,
    /// Row repaired when its file was read.
    pub repaired: &'static str,
    /// Cursor row.
    pub cursor: &'static str,
    /// Marked row.
    pub marked: &'static str,
    /// Horizontal rule.
    pub rule: &'static str,
    /// Vertical rule.
    pub wall: &'static str,
    /// Before → after.
    pub arrow: &'static str,
    /// An absent value.
    pub absent: &'static str,
    /// Sorted in ascending order.
    pub up: &'static str,
    /// Sorted in descending order.
    pub down: &'static str,
    /// Text caret in a prompt.
    pub caret: &'static str,
    /// Gauge: full cell.
    pub full: &'static str,
    /// Gauge: empty cell.
    pub empty: &'static str,
    /// Gauge: its ends.
    pub ends: (&'static str, &'static str),
    /// No findings.
    pub good: &'static str,
    /// Separator between items of a list.
    pub dot: &'static str,
    /// Branches of a tree: a branch, the last branch, a branch that continues.
    pub branch: (&'static str, &'static str, &'static str),
}

const UNICODE: Signs = Signs {
    error: "✗",
    warning: "▲",
    note: "·",
    added: "+",
    changed: "●",
    deleted: "−",
    moved: "↕",
    repaired: "≈",
    cursor: "▌",
    marked: "*",
    rule: "─",
    wall: "│",
    arrow: "→",
    absent: "∅",
    up: "↑",
    down: "↓",
    caret: "▏",
    full: "█",
    empty: " ",
    ends: ("▕", "▏"),
    good: "✓",
    dot: "·",
    branch: ("├ ", "└ ", "│ "),
};

const ASCII: Signs = Signs {
    error: "x",
    warning: "!",
    note: ".",
    added: "+",
    changed: "~",
    deleted: "-",
    moved: "^",
    repaired: "r",
    cursor: ">",
    marked: "*",
    rule: "-",
    wall: "|",
    arrow: ">",
    absent: "0",
    up: "^",
    down: "v",
    caret: "_",
    full: "#",
    empty: ".",
    ends: ("[", "]"),
    good: "+",
    dot: ".",
    branch: ("+ ", "+ ", "| "),
};

/// What a piece of text is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Ordinary text, in the terminal's default colour.
    Text,
    /// Less important text: the shared origin, repeated values, rules, hints.
    Dim,
    /// The accent: the cursor row.
    Accent,
    /// The name of a key.
    Key,
    /// The most important text.
    Bold,
    /// A value that differs from the saved file.
    Changed,
    /// A row or value that the next save removes.
    Deleted,
    /// Finding: error.
    Error,
    /// Finding: warning.
    Warning,
    /// Finding: note.
    Note,
    /// Confirmation: no finding, or saved.
    Good,
    /// In a diff, the part of a line that a save removes.
    Gone,
    /// In a diff, the part of a line that a save adds.
    New,
    /// The cell under the cursor, and the selected item of a list.
    Chosen,
    /// The name of the mode.
    Mode,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 15] = [
        Self::Text,
        Self::Dim,
        Self::Accent,
        Self::Key,
        Self::Bold,
        Self::Changed,
        Self::Deleted,
        Self::Error,
        Self::Warning,
        Self::Note,
        Self::Good,
        Self::Gone,
        Self::New,
        Self::Chosen,
        Self::Mode,
    ];
}

impl From<Severity> for Role {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Error => Self::Error,
            Severity::Warning => Self::Warning,
            Severity::Note => Self::Note,
        }
    }
}

/// The appearance of the screen: colours, charset and signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    /// The colour scheme.
    pub scheme: Scheme,
    /// The charset of the terminal.
    pub charset: Charset,
    /// The signs for this charset.
    pub signs: Signs,
}

impl Default for Theme {
    fn default() -> Self {
        Self::new(Scheme::default(), Charset::default())
    }
}

impl Theme {
    /// The theme for a colour scheme and a charset.
    pub const fn new(scheme: Scheme, charset: Charset) -> Self {
        let signs = match charset {
            Charset::Unicode => UNICODE,
            Charset::Ascii => ASCII,
        };
        Self { scheme, charset, signs }
    }

    const fn foreground(self, dark: Color, light: Color) -> Style {
        match self.scheme {
            Scheme::Dark => Style::new().fg(dark),
            Scheme::Light => Style::new().fg(light),
            Scheme::Plain => Style::new(),
        }
    }

    /// The style of a role.
    pub const fn style(self, role: Role) -> Style {
        match role {
            Role::Text => Style::new(),
            Role::Dim | Role::Note => self.dim(),
            Role::Accent | Role::Key => self.accent(),
            Role::Bold | Role::Changed => Style::new().add_modifier(Modifier::BOLD),
            Role::Error => self.foreground(Color::LightRed, Color::Red),
            // Yellow on white is unreadable in most palettes.
            Role::Warning => self.foreground(Color::Yellow, Color::Magenta),
            Role::Good => self.foreground(Color::Green, Color::Green),
            Role::Gone => self.style(Role::Error).add_modifier(Modifier::REVERSED),
            Role::New => self.style(Role::Good).add_modifier(Modifier::REVERSED),
            Role::Deleted => self.dim().add_modifier(Modifier::CROSSED_OUT),
            Role::Chosen => self.accent().add_modifier(Modifier::REVERSED),
            Role::Mode => self.accent().add_modifier(Modifier::REVERSED).add_modifier(Modifier::BOLD),
        }
    }

    const fn dim(self) -> Style {
        match self.scheme {
            Scheme::Plain => Style::new().add_modifier(Modifier::DIM),
            Scheme::Dark | Scheme::Light => Style::new().fg(Color::DarkGray),
        }
    }

    const fn accent(self) -> Style {
        self.foreground(Color::Cyan, Color::Blue)
    }

    /// The sign of a finding.
    pub const fn finding_sign(self, severity: Severity) -> &'static str {
        match severity {
            Severity::Error => self.signs.error,
            Severity::Warning => self.signs.warning,
            Severity::Note => self.signs.note,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_has_no_colour() {
        let theme = Theme::new(Scheme::Plain, Charset::Unicode);
        for role in Role::ALL {
            let style = theme.style(role);
            assert_eq!((style.fg, style.bg), (None, None), "{role:?}");
        }
    }

    #[test]
    fn signs_are_distinct() {
        for signs in [UNICODE, ASCII] {
            let mut all = vec![
                signs.error,
                signs.warning,
                signs.note,
                signs.added,
                signs.changed,
                signs.deleted,
                signs.cursor,
                signs.marked,
            ];
            for sign in &all {
                assert_eq!(Charset::Unicode.width(sign), 1, "{sign}");
            }
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), 8);
        }
        let ascii = Theme::new(Scheme::Dark, Charset::Ascii).signs;
        assert!([ascii.rule, ascii.wall, ascii.arrow, ascii.full, ascii.absent].iter().all(|s| s.is_ascii()));
    }

    #[test]
    fn the_environment_overrides_the_requested_scheme() {
        let of = |requested, name: &'static str, value: &'static str| {
            Scheme::of(requested, |wanted| (wanted == name).then(|| value.to_owned()))
        };
        assert_eq!(of(None, "", ""), Scheme::Dark);
        assert_eq!(of(Some(Scheme::Light), "", ""), Scheme::Light);
        assert_eq!(of(Some(Scheme::Light), "NO_COLOR", "1"), Scheme::Plain);
        assert_eq!(of(Some(Scheme::Light), "NO_COLOR", ""), Scheme::Light);
        assert_eq!(of(None, "TERM", "dumb"), Scheme::Plain);
    }
}
