//! Warns about damaged files that a command has read.
//!
//! `check` reports damage as findings. The results of other commands may lack rows or values that were lost, so they
//! print a warning.

use super::Streams;
use crate::check::quirk::rule_of;
use crate::document::index::Index;
use crate::document::quirk::Quirk;
use crate::protocol::Severity;
use crate::session::Session;
use crate::words::counted;
use crate::xml::defect::Defect;
use std::collections::BTreeSet;

/// Maximum number of files that are named; others are counted.
const NAMED: usize = 3;

/// Files that were repaired when they were read.
#[derive(Debug, Default)]
pub(super) struct Damage {
    /// Name of each file, and the codes of the rules that it violates.
    files: Vec<(String, BTreeSet<&'static str>)>,
    more: u64,
}

impl Damage {
    /// The damage of all files of a set.
    pub(super) fn of(session: &Session) -> Self {
        let mut damage = Self::default();
        let document = session.document();
        for file in document.index().into_iter().flat_map(Index::files) {
            damage.add(file.name, file.quirks);
        }
        for sitemap in document.sitemaps() {
            damage.add(&sitemap.name, &sitemap.quirks);
        }
        damage
    }

    /// Adds a file with its quirks.
    pub(super) fn add(&mut self, name: &str, quirks: &[Quirk]) {
        let rules: BTreeSet<&str> = quirks.iter().map(|quirk| quirk.kind).filter_map(damage_rule).collect();
        match (rules.is_empty(), self.files.len()) {
            (true, _) => {}
            (false, ..NAMED) => self.files.push((name.to_owned(), rules)),
            (false, _) => self.more += 1,
        }
    }

    /// Prints the warning.
    pub(super) fn warn(&self, streams: &mut Streams<'_>) {
        for (name, rules) in &self.files {
            let rules = rules.iter().copied().collect::<Vec<_>>().join(", ");
            streams
                .note(&format!("{name} is damaged ({rules}) and was read as repaired; `sited check` shows the places"));
        }
        if self.more > 0 {
            streams.note(&format!("also damaged: {}", counted(self.more, "more file")));
        }
    }
}

/// The code of the rule that damage violates; `None` for a quirk that is not damage, such as another encoding.
fn damage_rule(kind: Defect) -> Option<&'static str> {
    let is_other_way = matches!(kind, Defect::NotUtf8 | Defect::OtherMark | Defect::TextNotUtf8);
    let rule = rule_of(kind);
    (kind.is_repair() && !is_other_way && rule.severity() == Some(Severity::Error)).then(|| rule.code())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::lines::LineColumn;

    #[test]
    fn three_damaged_files_are_named_and_others_counted() {
        let mut damage = Damage::default();
        let quirk = |kind| Quirk { kind, at: LineColumn::START, entry: None, what: "".into() };
        damage.add("sound.xml", &[quirk(Defect::NotUtf8), quirk(Defect::Feed)]);
        for number in 0..5 {
            damage.add(&format!("{number}.xml"), &[quirk(Defect::Truncated), quirk(Defect::Truncated)]);
        }
        let (mut out, mut notes) = (Vec::new(), Vec::new());
        damage.warn(&mut Streams::new(&mut out, &mut notes));
        let notes = String::from_utf8(notes).unwrap();
        assert!(notes.starts_with("0.xml is damaged (xml-truncated) and was read as repaired"), "{notes}");
        assert!(notes.ends_with("also damaged: 2 more files\n"), "{notes}");
        assert_eq!(notes.lines().count(), 4);
    }
}
