//! Parses the text of one entry.

use super::entry::Entry;
use super::fast_path;
use super::markup::{self, Kind, Markup};
use super::names::Names;
use super::parser::Parser;

impl Entry {
    /// Takes apart an entry text (leading trivia included). Total: what holds no entry tag gives an
    /// entry without fields that is flagged `Anomalies::BROKEN`.
    pub fn of(text: &[u8], names: &Names) -> Self {
        if let Some(grid) = &names.grid {
            return grid.entry(text);
        }
        match fast_path::start(text, 0, names) {
            Some(tag) => Self::from_tag(text, &tag, names, &mut Parser::quiet()),
            None => Self::walk(text, names),
        }
    }

    fn from_tag(text: &[u8], tag: &Markup, names: &Names, parser: &mut Parser) -> Self {
        let (entry, end) = parser.entry(text, 0, tag, names);
        if end == text.len() { entry } else { Self { len: text.len() as u32, ..entry } }
    }

    pub(super) fn walk(text: &[u8], names: &Names) -> Self {
        let mut at = 0;
        let mut parser = Parser::quiet();
        while let Some(tag) = markup::next(text, at) {
            at = match tag.kind {
                Kind::Start | Kind::Empty if names.is_entry_tag(text, &tag) => {
                    return Self::from_tag(text, &tag, names, &mut parser);
                }
                Kind::Start => parser.skip_element(text, &tag),
                _ => tag.end,
            };
        }
        Self::broken(text.len())
    }
}
