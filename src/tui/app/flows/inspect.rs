//! Shows the diff and the proof of a save before it is made.

use super::super::App;
use super::super::modes::Mode;
use super::super::modes::items::{self, Item};
use super::super::modes::list::{List, ListKind};
use super::super::state::Shared;
use super::super::state::outcome::JobOutcome;
use crate::document::diff;
use crate::files::Action;
use crate::files::verify::Proof;
use crate::session::store::planning;
use crate::session::store::verify;
use crate::session::store::verify::FileDiff;
use crate::tui::jobs::Kind;
use crate::tui::text::{self, Charset};
use crate::tui::theme::{Role, Signs};
use crate::tui::words::{Line, Words};
use crate::words::{counted, grouped};
use std::ops::Range;

/// Maximum number of lines of the diff of one file, and of all files together.
const MAX_LINES: usize = 400;
const MAX_LINES_IN_ALL: usize = 4_000;

/// Computes the diff of each file for the open question.
pub(in crate::tui::app) fn open_diffs(shared: &mut Shared) {
    let Some(plan) = shared.save.plan.as_ref().map(|planned| planned.plan.clone()) else { return };
    let inspection = verify::inspect(&shared.session, plan);
    shared.show_note("comparing…");
    shared.jobs.run(Kind::Preview, false, move |progress| JobOutcome::Diffs(inspection.diffs(MAX_LINES, progress)));
}

/// Shows the diffs above the question.
pub(in crate::tui::app) fn show_diffs(app: &mut App, diffs: Option<Vec<FileDiff>>) {
    let Some(diffs) = diffs else { return };
    if !matches!(app.modes.current(), Mode::Ask(_)) {
        return;
    }
    app.shared.message = None;
    let mut lines: Vec<Item> = Vec::new();
    for file in &diffs {
        if lines.len() >= MAX_LINES_IN_ALL {
            lines.push(items::text(Words::dim(format!("{} is not shown", file.name))));
            continue;
        }
        let from = if file.action == Action::Created { "/dev/null".to_owned() } else { file.name.to_string() };
        let to = if file.action == Action::Removed { "/dev/null".to_owned() } else { file.name.to_string() };
        for (sign, name) in [("---", from), ("+++", to)] {
            lines.push(items::text(Words::new().and(Role::Bold, format!("{sign} {name}"))));
        }
        let width = usize::from(app.shared.size.0).saturating_sub(5).max(20);
        for words in diff_words(&file.diff.lines) {
            let wrapped = wrap_exactly(&words, app.shared.theme.charset, width);
            lines.extend(wrapped.into_iter().map(items::text));
        }
        if file.diff.more > 0 {
            let words = format!("… {} more", counted(file.diff.more as u64, "place"));
            lines.push(items::text(Words::dim(words)));
        }
    }
    if lines.is_empty() {
        lines.push(items::text(Words::dim("no file would change")));
    }
    app.modes.open_above(Mode::List(List::new(ListKind::Diff, lines)));
}

/// Verifies the changes that a save would make. Reads the files and writes none.
pub(in crate::tui::app) fn verify(shared: &mut Shared) {
    if shared.session.path().is_none() {
        return shared.show_note("there is no file to compare with");
    }
    if shared.jobs.is_busy(Kind::Save) || shared.session.is_loading() {
        return shared.show_note("a load or save is running; wait for it");
    }
    let planning = planning::of_session(&shared.session, None);
    shared.show_note("reading the files…");
    shared.jobs.run(Kind::Preview, false, move |progress| {
        JobOutcome::Proved(planning.inspection(progress).and_then(|inspection| inspection.prove(progress)))
    });
}

/// Shows the proofs, unless another mode was opened.
pub(in crate::tui::app) fn show_proofs(app: &mut App, proofs: Option<Vec<Proof>>) {
    if !app.modes.is_browsing() {
        return;
    }
    let Some(proofs) = proofs else { return app.shared.show_note("stopped; the save was not verified") };
    app.shared.message = None;
    app.open_list(ListKind::Proof, proof_lines(&proofs, &app.shared.theme.signs));
}

/// The lines that list the changes of a save.
fn proof_lines(proofs: &[Proof], signs: &Signs) -> Vec<Item> {
    let mut lines: Vec<Item> = Vec::new();
    let mut add = |line: Line| lines.push(items::text(line));
    let faults = proofs.iter().filter(|proof| proof.fault.is_some()).count();
    let same = proofs.iter().filter(|proof| proof.action == Action::Untouched && proof.fault.is_none()).count();
    let spans: usize = proofs.iter().map(|proof| proof.spans.len()).sum();
    if faults == 0 {
        let words = match spans {
            0 if same == proofs.len() => {
                "a save would write nothing: every file holds the bytes that were read".to_owned()
            }
            _ => format!("a save changes {} and no other byte", counted(spans as u64, "place")),
        };
        add(Words::new().and(Role::Good, format!("{} ", signs.good)).and(Role::Text, words).into());
    }
    for proof in proofs.iter().filter(|proof| proof.action != Action::Untouched || proof.fault.is_some()) {
        let hash =
            |one: Option<(u64, u64)>| one.map_or_else(|| "nothing".to_owned(), |(_, hash)| format!("{hash:016x}"));
        let len = |one: Option<(u64, u64)>| one.map_or_else(|| "0".to_owned(), |(len, _)| grouped(len));
        add(Line::default());
        add(Line::new(
            Words::new().and(Role::Bold, proof.name.to_string()),
            Words::dim(format!("{} {} {} bytes", len(proof.before), signs.arrow, len(proof.after))),
        ));
        if let Some(fault) = &proof.fault {
            add(Words::new().and(Role::Error, format!("  {} ", signs.error)).and(Role::Text, fault.clone()).into());
        }
        let words = format!("  {} {} {}", hash(proof.before), signs.arrow, hash(proof.after));
        add(Words::dim(words).into());
        for (span, [before, after]) in proof.spans.iter().zip(&proof.texts) {
            let place = format!("  at {:>12}  ", grouped(span.before.start as u64));
            let shown = |text: &str| if text.is_empty() { signs.absent.to_owned() } else { text.trim().to_owned() };
            let words = Words::dim(place).and(Role::Error, shown(before)).and(Role::Dim, format!(" {} ", signs.arrow));
            add(words.and(Role::Good, shown(after)).into());
        }
        let more = proof.spans.len().saturating_sub(proof.texts.len());
        if more > 0 {
            add(Words::dim(format!("  … {} more", counted(more as u64, "place"))).into());
        }
        if proof.fault.is_none() {
            add(Words::dim(format!("  the other {} bytes are the same", grouped(proof.same))).into());
        }
    }
    if same > 0 {
        add(Line::default());
        let words = format!("{} as stored, byte for byte", counted(same as u64, "file"));
        add(Words::new().and(Role::Good, format!("{} ", signs.good)).and(Role::Text, words).into());
    }
    lines
}

/// Wraps a line at exactly `width` columns, anywhere: every blank of a file counts.
pub(in crate::tui::app) fn wrap_exactly(words: &Words, charset: Charset, width: usize) -> Vec<Words> {
    // Room for the indentation and the widest character.
    let width = width.max(4);
    let (mut lines, mut line, mut used) = (Vec::new(), Words::new(), 0);
    for (role, text) in words.pieces() {
        let mut rest = charset.visible(text).into_owned();
        while !rest.is_empty() {
            let (head, tail) = text::split(&rest, width.saturating_sub(used));
            if head.is_empty() && used > 1 || used >= width {
                lines.push(std::mem::replace(&mut line, Words::text(" ")));
                used = 1;
                continue;
            }
            // A character wider than the screen is cut when it is drawn.
            let (head, tail) = if head.is_empty() { (rest, String::new()) } else { (head, tail) };
            used += charset.width(&head);
            line.push(*role, head);
            rest = tail;
        }
    }
    lines.push(line);
    lines
}

/// The lines of a diff. In a replaced line and its replacement, the part that differs is marked.
fn diff_words(lines: &[diff::Line]) -> Vec<Words> {
    let mut out = Vec::with_capacity(lines.len());
    let mut rest = lines;
    while let Some(first) = rest.first() {
        let run = |lines: &[diff::Line], kind| lines.iter().take_while(|line| line.kind == kind).count();
        let gone = run(rest, diff::Kind::Removed);
        let (old, after) = rest.split_at(gone);
        let new = run(after, diff::Kind::Added);
        let (new, after) = after.split_at(new);
        if old.is_empty() && new.is_empty() {
            let role = if first.kind == diff::Kind::HunkHeader { Role::Accent } else { Role::Dim };
            out.push(Words::new().and(role, first.text.clone()));
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        let differs = |side: &[diff::Line], other: &[diff::Line], roles: (Role, Role)| -> Vec<Words> {
            // Lines are paired only if as many were added as removed.
            let pairs = side.len() == other.len();
            let words = |(at, line): (usize, &diff::Line)| match other.get(at).filter(|_| pairs) {
                Some(twin) => marked(&line.text, differing(&line.text, &twin.text), roles.0, roles.1),
                None => Words::new().and(roles.0, line.text.clone()),
            };
            side.iter().enumerate().map(words).collect()
        };
        out.extend(differs(old, new, (Role::Error, Role::Gone)));
        out.extend(differs(new, old, (Role::Good, Role::New)));
        rest = after;
    }
    out
}

fn marked(text: &str, span: Range<usize>, role: Role, inner: Role) -> Words {
    let part = |range: Range<usize>| text.get(range).unwrap_or_default().to_owned();
    Words::new().and(role, part(0..span.start)).and(inner, part(span.clone())).and(role, part(span.end..text.len()))
}

/// The range of a line that differs from another: without the sign, the common prefix and the common suffix.
fn differing(line: &str, other: &str) -> Range<usize> {
    let (body, theirs) = (line.get(1..).unwrap_or_default(), other.get(1..).unwrap_or_default());
    let same = |(one, other): &(char, char)| one == other;
    let head: usize = body.chars().zip(theirs.chars()).take_while(same).map(|(one, _)| one.len_utf8()).sum();
    let (body, theirs) = (body.get(head..).unwrap_or_default(), theirs.get(head..).unwrap_or_default());
    let both = body.chars().rev().zip(theirs.chars().rev());
    let tail: usize = both.take_while(same).map(|(one, _)| one.len_utf8()).sum();
    1 + head..line.len() - tail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_wrapped_without_loss() {
        let words =
            Words::new().and(Role::Error, "-   <loc>https://e.com/").and(Role::Gone, "日本").and(Role::Error, "</loc>");
        let lines = wrap_exactly(&words, Charset::Unicode, 12);
        let text = |line: &Words| line.pieces().iter().map(|(_, text)| text.as_ref()).collect::<String>();
        let texts: Vec<String> = lines.iter().map(text).collect();
        assert_eq!(texts, ["-   <loc>htt", " ps://e.com/", " 日本</loc>"]);
        assert_eq!(wrap_exactly(&Words::text("short"), Charset::Unicode, 12).len(), 1);
        assert!(!wrap_exactly(&Words::text("日本"), Charset::Unicode, 1).is_empty());
    }

    #[test]
    fn the_differing_part_of_a_line_is_marked() {
        let part = |line: &'static str, other| line.get(differing(line, other)).unwrap().to_owned();
        assert_eq!(part("-<loc>a/b</loc>", "+<loc>a/bc</loc>"), "");
        assert_eq!(part("+<loc>a/bc</loc>", "-<loc>a/b</loc>"), "c");
        assert_eq!(part("-0.5 é", "+0.8 é"), "5");
        assert_eq!(part("-aa", "+aaa"), "");
        assert_eq!(part("-", "+"), "");
        let line = |kind, text: &str| diff::Line { kind, text: text.to_owned() };
        let lines = [
            line(diff::Kind::Context, " x"),
            line(diff::Kind::Removed, "-0.5"),
            line(diff::Kind::Added, "+0.8"),
            line(diff::Kind::Removed, "-gone"),
            line(diff::Kind::Context, " y"),
        ];
        let words = diff_words(&lines);
        let roles: Vec<Vec<Role>> =
            words.iter().map(|words| words.pieces().iter().map(|(role, _)| *role).collect()).collect();
        let replaced = [vec![Role::Error, Role::Gone], vec![Role::Good, Role::New]];
        assert_eq!(
            roles,
            [vec![Role::Dim], replaced[0].clone(), replaced[1].clone(), vec![Role::Error], vec![Role::Dim]]
        );
    }
}
