//! The keymap: a trie that maps key strokes to actions, with counts and hints.
//!
//! Invariant: no binding is a prefix of another, so no timeout is needed to recognise a binding.

use super::command::{Action, COMMANDS, Command, Group};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// One key stroke. Shift is part of the character, not a modifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    code: KeyCode,
    ctrl: bool,
    alt: bool,
}

impl From<KeyEvent> for Key {
    fn from(event: KeyEvent) -> Self {
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        let shift = event.modifiers.contains(KeyModifiers::SHIFT);
        let code = match event.code {
            // With Ctrl, most terminals report the same character for upper and lower case.
            KeyCode::Char(c) if ctrl => KeyCode::Char(c.to_ascii_lowercase()),
            KeyCode::Tab if shift => KeyCode::BackTab,
            code => code,
        };
        Self { code, ctrl, alt: event.modifiers.contains(KeyModifiers::ALT) }
    }
}

impl Key {
    /// Parses a key name as in the table of commands: `j`, `ctrl-r`, `f2`, `space`.
    pub fn from_name(name: &str) -> Option<Self> {
        let (ctrl, rest) = name.strip_prefix("ctrl-").map_or((false, name), |rest| (true, rest));
        let (alt, rest) = rest.strip_prefix("alt-").map_or((false, rest), |rest| (true, rest));
        let mut chars = rest.chars();
        let code = match (chars.next(), chars.next()) {
            (Some(c), None) => KeyCode::Char(c),
            (Some('f'), Some(_)) if rest[1..].parse::<u8>().is_ok() => KeyCode::F(rest[1..].parse().ok()?),
            _ => NAMES.iter().find(|(known, ..)| *known == rest)?.1,
        };
        Some(Self { code, ctrl, alt })
    }

    /// The value of a digit key, for counts.
    fn digit(self) -> Option<u32> {
        match self.code {
            KeyCode::Char(c) if !self.ctrl && !self.alt => c.to_digit(10),
            _ => None,
        }
    }
}

/// Keys with a name: name, code, and the text that is shown.
const NAMES: &[(&str, KeyCode, &str)] = &[
    ("enter", KeyCode::Enter, "↵"),
    ("esc", KeyCode::Esc, "Esc"),
    ("tab", KeyCode::Tab, "Tab"),
    ("shift-tab", KeyCode::BackTab, "Shift-Tab"),
    ("space", KeyCode::Char(' '), "Space"),
    ("backspace", KeyCode::Backspace, "Backspace"),
    ("delete", KeyCode::Delete, "Del"),
    ("insert", KeyCode::Insert, "Ins"),
    ("home", KeyCode::Home, "Home"),
    ("end", KeyCode::End, "End"),
    ("pageup", KeyCode::PageUp, "PgUp"),
    ("pagedown", KeyCode::PageDown, "PgDn"),
    ("up", KeyCode::Up, "↑"),
    ("down", KeyCode::Down, "↓"),
    ("left", KeyCode::Left, "←"),
    ("right", KeyCode::Right, "→"),
];

/// Formats a binding for display: `ctrl-s` is `^S`, `g g` is `gg`.
pub fn display_keys(keys: &str) -> String {
    let mut out = String::new();
    let strokes: Vec<&str> = keys.split(' ').collect();
    for (at, stroke) in strokes.iter().enumerate() {
        let (ctrl, rest) = stroke.strip_prefix("ctrl-").map_or((false, *stroke), |rest| (true, rest));
        let named = NAMES.iter().find(|(known, ..)| *known == rest).map(|(.., shown)| *shown);
        let f_key = rest.len() > 1 && rest.starts_with('f') && rest[1..].parse::<u8>().is_ok();
        let one = match named {
            Some(shown) if ctrl => format!("^{shown}"),
            Some(shown) => shown.to_owned(),
            None if ctrl => format!("^{}", rest.to_uppercase()),
            None if f_key => rest.to_uppercase(),
            None => rest.to_owned(),
        };
        if at > 0 && (ctrl || named.is_some() || strokes[at - 1].contains("ctrl-")) {
            out.push(' ');
        }
        out.push_str(&one);
    }
    out
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

/// Formats a binding as Markdown code; a bar is escaped, since it would end the table cell.
fn code(keys: &str) -> String {
    format!("`{}`", display_keys(keys).replace('|', "\\|"))
}

/// The result of a key stroke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyOutcome {
    /// Run an action, with the count typed before it.
    Run(Action, Option<u32>),
    /// The stroke begins a binding or a count.
    Wait,
    /// The strokes are not bound.
    Unknown,
}

#[derive(Debug, Default)]
struct Node {
    next: Vec<(Key, Node)>,
    leaf: Option<Action>,
}

impl Node {
    fn step(&self, key: Key) -> Option<&Self> {
        self.next.iter().find(|(known, _)| *known == key).map(|(_, node)| node)
    }

    fn first(&self) -> Option<Action> {
        self.leaf.or_else(|| self.next.first().and_then(|(_, node)| node.first()))
    }
}

/// The bindings, and the strokes of an incomplete binding.
#[derive(Debug, Default)]
pub struct Keymap {
    root: Node,
    count: Option<u32>,
    strokes: Vec<Key>,
}

/// A binding that conflicts with others.
#[derive(Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The rejected binding.
    pub keys: String,
    /// The reason.
    pub reason: &'static str,
}

impl Keymap {
    /// A keymap with the default keys.
    pub fn with_default_keys() -> Self {
        Self::of(COMMANDS).0
    }

    /// A keymap with the keys of these commands, and the bindings that were rejected.
    pub fn of(commands: &[Command]) -> (Self, Vec<Conflict>) {
        let (mut map, mut conflicts) = (Self::default(), Vec::new());
        for command in commands {
            for &keys in command.keys {
                if let Err(reason) = map.bind(keys, command.action) {
                    conflicts.push(Conflict { keys: keys.to_owned(), reason });
                }
            }
        }
        (map, conflicts)
    }

    fn bind(&mut self, keys: &str, action: Action) -> Result<(), &'static str> {
        let mut node = &mut self.root;
        for name in keys.split(' ') {
            let key = Key::from_name(name).ok_or("no such key")?;
            if node.leaf.is_some() {
                return Err("its beginning is bound already");
            }
            let known = node.next.iter().position(|(known, _)| *known == key);
            let at = known.unwrap_or_else(|| {
                node.next.push((key, Node::default()));
                node.next.len() - 1
            });
            node = &mut node.next[at].1;
        }
        if node.leaf.is_some() {
            return Err("bound twice");
        }
        if !node.next.is_empty() {
            return Err("it is the beginning of another");
        }
        node.leaf = Some(action);
        Ok(())
    }

    /// Handles one stroke.
    pub fn press(&mut self, key: Key) -> KeyOutcome {
        if self.strokes.is_empty()
            && let Some(digit) = key.digit()
            && (digit > 0 || self.count.is_some())
        {
            let count = self.count.unwrap_or(0).saturating_mul(10).saturating_add(digit);
            self.count = Some(count);
            return KeyOutcome::Wait;
        }
        self.strokes.push(key);
        match self.node().map(|node| (node.leaf, node.next.is_empty())) {
            Some((Some(action), _)) => {
                let count = self.count;
                self.reset();
                KeyOutcome::Run(action, count)
            }
            Some((None, false)) => KeyOutcome::Wait,
            _ => {
                self.reset();
                KeyOutcome::Unknown
            }
        }
    }

    /// The action of a binding that is this key alone.
    pub fn action_of(&self, key: Key) -> Option<Action> {
        self.root.step(key).and_then(|node| node.leaf)
    }

    /// Drops the pending strokes and the pending count. True if there were any.
    pub fn reset(&mut self) -> bool {
        self.count.take().is_some() | !std::mem::take(&mut self.strokes).is_empty()
    }

    /// The pending count and strokes, as typed: `10`, `3g`.
    pub fn pending(&self) -> String {
        let mut out = self.count.map(|count| count.to_string()).unwrap_or_default();
        for key in &self.strokes {
            out.push_str(&label(*key));
        }
        out
    }

    /// The keys that can follow the pending strokes, each with the first command that it leads to.
    pub fn hints(&self) -> Vec<(String, &'static Command)> {
        if self.strokes.is_empty() {
            return Vec::new();
        }
        let Some(node) = self.node() else { return Vec::new() };
        node.next.iter().filter_map(|(key, node)| node.first().map(|action| (label(*key), action.command()))).collect()
    }

    fn node(&self) -> Option<&Node> {
        self.strokes.iter().try_fold(&self.root, |node, key| node.step(*key))
    }
}

fn label(key: Key) -> String {
    let name = match key.code {
        KeyCode::Char(' ') => "Space".to_owned(),
        KeyCode::Char(c) if key.ctrl => c.to_ascii_uppercase().to_string(),
        KeyCode::Char(c) => c.to_string(),
        KeyCode::F(number) => format!("F{number}"),
        code => NAMES.iter().find(|(_, known, _)| *known == code).map_or("?", |(.., shown)| shown).to_owned(),
    };
    if key.ctrl { format!("^{name}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<Key> {
        text.split(' ').map(|name| Key::from_name(name).unwrap()).collect()
    }

    fn typed(text: &str) -> Vec<KeyOutcome> {
        let mut map = Keymap::with_default_keys();
        keys(text).into_iter().map(|key| map.press(key)).filter(|stroke| *stroke != KeyOutcome::Wait).collect()
    }

    #[test]
    fn default_keys_have_no_conflict() {
        assert_eq!(Keymap::of(COMMANDS).1, []);
    }

    #[test]
    fn conflicts_are_reported() {
        let command = |keys| Command { keys, ..*Action::Up.command() };
        let of = |keys| Keymap::of(&[command(keys)]).1.into_iter().map(|c| c.reason).collect::<Vec<_>>();
        assert_eq!(of(&["g", "g g"]), ["its beginning is bound already"]);
        assert_eq!(of(&["g g", "g"]), ["it is the beginning of another"]);
        assert_eq!(of(&["x", "x"]), ["bound twice"]);
        assert_eq!(of(&["hyper-x"]), ["no such key"]);
    }

    #[test]
    fn strokes_become_actions() {
        use Action as A;
        let table: &[(&str, &[KeyOutcome])] = &[
            ("j", &[KeyOutcome::Run(A::Down, None)]),
            ("1 0 j", &[KeyOutcome::Run(A::Down, Some(10))]),
            ("1 2 0 G", &[KeyOutcome::Run(A::Last, Some(120))]),
            ("1 2 0 g g", &[KeyOutcome::Run(A::First, Some(120))]),
            ("0", &[KeyOutcome::Run(A::FirstColumn, None)]),
            ("d d", &[KeyOutcome::Run(A::Delete, None)]),
            ("d x", &[KeyOutcome::Unknown]),
            ("d", &[]),
            ("d x x", &[KeyOutcome::Unknown, KeyOutcome::Run(A::Clear, None)]),
            ("ctrl-r", &[KeyOutcome::Run(A::Redo, None)]),
            ("ctrl-w w", &[KeyOutcome::Run(A::NextPane, None)]),
            ("g x", &[KeyOutcome::Run(A::Fix, None)]),
            ("shift-tab", &[KeyOutcome::Run(A::PreviousCell, None)]),
            ("alt-j", &[KeyOutcome::Unknown]),
        ];
        for (text, expected) in table {
            assert_eq!(typed(text), *expected, "{text}");
        }
    }

    #[test]
    fn terminal_events_for_the_same_key_are_equal() {
        let event = |code, modifiers| Key::from(KeyEvent::new(code, modifiers));
        let key = |name| Key::from_name(name).unwrap();
        assert_eq!(event(KeyCode::Char('G'), KeyModifiers::SHIFT), key("G"));
        assert_eq!(event(KeyCode::Char('G'), KeyModifiers::NONE), key("G"));
        assert_eq!(event(KeyCode::Char('R'), KeyModifiers::CONTROL | KeyModifiers::SHIFT), key("ctrl-r"));
        assert_eq!(event(KeyCode::BackTab, KeyModifiers::SHIFT), key("shift-tab"));
        assert_eq!(event(KeyCode::Tab, KeyModifiers::SHIFT), key("shift-tab"));
    }

    #[test]
    fn pending_strokes_have_hints() {
        let mut map = Keymap::with_default_keys();
        map.press(Key::from_name("3").unwrap());
        assert!(map.hints().is_empty(), "a count alone has no hints");
        map.press(Key::from_name("y").unwrap());
        assert_eq!(map.pending(), "3y");
        let hints: Vec<String> =
            map.hints().into_iter().map(|(key, command)| format!("{key} {}", command.name)).collect();
        assert_eq!(hints, ["c copy cell", "u copy URLs", "y copy rows", "x copy XML"]);
        assert!(map.reset());
        assert!(!map.reset());
    }

    #[test]
    fn a_count_cannot_overflow() {
        let mut map = Keymap::with_default_keys();
        for _ in 0..30 {
            map.press(Key::from_name("9").unwrap());
        }
        assert_eq!(map.press(Key::from_name("j").unwrap()), KeyOutcome::Run(Action::Down, Some(u32::MAX)));
    }

    #[test]
    fn bindings_are_formatted_for_display() {
        let table = [
            ("g g", "gg"),
            ("ctrl-s", "^S"),
            ("ctrl-w w", "^W w"),
            ("enter", "↵"),
            ("f2", "F2"),
            ("f", "f"),
            ("ctrl-pagedown", "^PgDn"),
            ("Z Z", "ZZ"),
        ];
        for (keys, expected) in table {
            assert_eq!(display_keys(keys), expected);
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
