//! Unified diff of two versions of a file, with three lines of context and an upper bound on its length.
//!
//! A line that is too long is shown only around its differences.

use super::spans::Span;
use std::ops::Range;

/// The kind of a line of a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `@@ -1,4 +1,5 @@`, the header of a hunk.
    HunkHeader,
    /// A line of both versions.
    Context,
    /// A line of the earlier version only.
    Removed,
    /// A line of the later version only.
    Added,
}

/// One line of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its kind.
    pub kind: Kind,
    /// Its text, which begins with ` `, `-` or `+`.
    pub text: String,
}

/// A diff up to a number of lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    /// Its lines.
    pub lines: Vec<Line>,
    /// Number of differing spans that are not shown.
    pub more: usize,
}

/// Lines of context before and after a change.
const CONTEXT: usize = 3;
/// Bytes of a long line that are shown before and after a change.
const MAX_CONTEXT_BYTES: usize = 300;

/// The diff of two versions that differ in `spans`, in about `max_lines` lines at most.
pub(crate) fn unified(before: &[u8], after: &[u8], spans: &[Span], max_lines: usize) -> Diff {
    let mut diff = Diff::default();
    let mut lines = LineNumbers::default();
    let mut rest = LineSpans { before, after, spans, max_lines, at: 0, end: 0 }.peekable();
    let mut shown = 0;
    while let Some((span, count)) = rest.next() {
        if diff.lines.len() >= max_lines {
            diff.more = spans.len() - shown;
            break;
        }
        let (mut hunk, mut end) = (vec![span], 0);
        let first = shown;
        shown += count;
        while let Some((next, count)) = rest.peek() {
            end = hunk.last().map_or(end, |last: &Span| last.before.end);
            if count_line_breaks(before, end..next.before.start) > 2 * CONTEXT || shown - first >= max_lines {
                break;
            }
            shown += count;
            hunk.push(next.clone());
            rest.next();
        }
        Hunk { before, after, spans: &hunk, max_lines }.append(&mut diff, &mut lines);
    }
    diff
}

/// Iterator that extends spans to whole lines on both sides and joins those that share a line or touch.
struct LineSpans<'b> {
    before: &'b [u8],
    after: &'b [u8],
    spans: &'b [Span],
    max_lines: usize,
    /// Index of the next span, and the end of the last one that was returned.
    at: usize,
    end: usize,
}

impl LineSpans<'_> {
    /// The span at an index. Added or removed lines are moved to begin at a line start, instead of spanning the end
    /// of one line and the beginning of the next.
    fn span(&self, at: usize) -> Option<Span> {
        let mut span = self.spans.get(at)?.clone();
        let is_break = |bytes: &[u8], at: usize| bytes.get(at) == Some(&b'\n');
        let (side, range) =
            if span.before.is_empty() { (self.after, &span.after) } else { (self.before, &span.before) };
        let is_one_sided = span.before.is_empty() || span.after.is_empty();
        let is_separate = self.spans.get(at + 1).is_none_or(|next| next.before.start > span.before.end);
        if is_one_sided && is_separate && is_break(side, range.start) && is_break(side, range.end) {
            for end in [&mut span.before.start, &mut span.before.end, &mut span.after.start, &mut span.after.end] {
                *end += 1;
            }
        }
        Some(span)
    }

    /// The span without equal whole lines at its ends: an entry begins with the end of the line before it.
    fn differing(&self, mut span: Span) -> Span {
        let sides = |span: &Span| {
            let before = self.before.get(span.before.clone()).unwrap_or_default();
            (before, self.after.get(span.after.clone()).unwrap_or_default())
        };
        let (before, after) = sides(&span);
        if before == after {
            return span;
        }
        let lines = |text: &'_ [u8], other: &'_ [u8]| -> usize {
            let both = text.split_inclusive(|byte| *byte == b'\n').zip(other.split_inclusive(|byte| *byte == b'\n'));
            both.take_while(|(one, other)| one == other && one.ends_with(b"\n")).map(|(line, _)| line.len()).sum()
        };
        let same = lines(before, after);
        (span.before.start, span.after.start) = (span.before.start + same, span.after.start + same);
        let (before, after) = sides(&span);
        let is_line = |text: &[u8], at: usize| at == 0 || text.get(at - 1) == Some(&b'\n');
        let same_suffix = before.iter().rev().zip(after.iter().rev()).take_while(|(one, other)| one == other).count();
        let starts = |cut: &usize| is_line(before, before.len() - cut) && is_line(after, after.len() - cut);
        let same = if before.ends_with(b"\n") { (0..=same_suffix).rev().find(starts).unwrap_or_default() } else { 0 };
        (span.before.end, span.after.end) = (span.before.end - same, span.after.end - same);
        span
    }

    /// Whether a span ends at a line end on both sides.
    fn is_whole(&self, span: &Span) -> bool {
        let ends = |bytes: &[u8], range: &Range<usize>| {
            range.is_empty() || range.end.checked_sub(1).is_some_and(|last| bytes.get(last) == Some(&b'\n'))
        };
        ends(self.before, &span.before) && ends(self.after, &span.after)
    }
}

impl Iterator for LineSpans<'_> {
    /// A span of whole lines, and the number of spans joined in it.
    type Item = (Span, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let first = self.at;
        let mut span = self.span(first)?;
        self.at += 1;
        let start = self.before.get(self.end..span.before.start).unwrap_or_default();
        let leading = start.iter().rev().take(MAX_CONTEXT_BYTES).position(|byte| *byte == b'\n');
        let leading = leading.unwrap_or_else(|| start.len().min(MAX_CONTEXT_BYTES));
        (span.before.start, span.after.start) = (span.before.start - leading, span.after.start - leading);
        loop {
            let next = self.span(self.at);
            let limit = next.as_ref().map_or(self.before.len(), |next| next.before.start);
            let follows = self.before.get(span.before.end..limit).unwrap_or_default();
            let extension = if self.is_whole(&span) {
                Some(0)
            } else {
                follows.iter().take(MAX_CONTEXT_BYTES).position(|byte| *byte == b'\n').map(|at| at + 1)
            };
            let extension = extension.or_else(|| {
                (next.is_none() || follows.len() > MAX_CONTEXT_BYTES).then(|| follows.len().min(MAX_CONTEXT_BYTES))
            });
            if let Some(extension) = extension {
                (span.before.end, span.after.end) = (span.before.end + extension, span.after.end + extension);
            }
            // Changes of neighbouring lines are joined: first all removed lines, then all added ones.
            let touches = next.as_ref().is_some_and(|next| {
                let between = self.before.get(span.before.end..next.before.start);
                extension.is_none() || between.is_none_or(|between| between.is_empty() || !between.contains(&b'\n'))
            });
            let is_long = extension.is_some() && self.at - first >= self.max_lines && self.is_whole(&span);
            let Some(next) = next.filter(|_| touches && !is_long) else {
                self.end = span.before.end;
                return Some((self.differing(span), self.at - first));
            };
            (span.before.end, span.after.end) = (next.before.end, next.after.end);
            self.at += 1;
        }
    }
}

/// Number of line breaks in a range.
fn count_line_breaks(bytes: &[u8], range: Range<usize>) -> usize {
    memchr::memchr_iter(b'\n', bytes.get(range).unwrap_or_default()).count()
}

/// Line numbers of both files, counted on from the last position.
#[derive(Default)]
struct LineNumbers {
    before: (usize, usize),
    after: (usize, usize),
}

impl LineNumbers {
    fn line(at: &mut (usize, usize), bytes: &[u8], to: usize) -> usize {
        at.1 += count_line_breaks(bytes, at.0..to);
        at.0 = to;
        at.1 + 1
    }
}

/// Neighbouring spans that are shown together.
struct Hunk<'b> {
    before: &'b [u8],
    after: &'b [u8],
    spans: &'b [Span],
    /// Maximum number of consecutive lines of one kind.
    max_lines: usize,
}

impl Hunk<'_> {
    fn append(&self, diff: &mut Diff, lines: &mut LineNumbers) {
        let Self { before, after, spans: hunk, max_lines } = *self;
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { return };
        let leading = last_lines(before.get(..first.before.start).unwrap_or_default());
        let trail = first_lines(before.get(last.before.end..).unwrap_or_default());
        let from = LineNumbers::line(&mut lines.before, before, first.before.start - leading.len());
        let to = LineNumbers::line(&mut lines.after, after, first.after.start - leading.len());
        let (mut old, mut new) = (0, 0);
        let header_position = diff.lines.len();
        let mut append = |kind: Kind, text: &[u8]| {
            let count = append(diff, kind, text, max_lines);
            old += if kind == Kind::Added { 0 } else { count };
            new += if kind == Kind::Removed { 0 } else { count };
        };
        append(Kind::Context, leading);
        let mut at = first.before.start;
        for span in hunk {
            append(Kind::Context, before.get(at..span.before.start).unwrap_or_default());
            append(Kind::Removed, before.get(span.before.clone()).unwrap_or_default());
            append(Kind::Added, after.get(span.after.clone()).unwrap_or_default());
            at = span.before.end;
        }
        append(Kind::Context, trail);
        // A side without lines has the number of the line before it.
        let (from, to) = (from - usize::from(old == 0), to - usize::from(new == 0));
        diff.lines
            .insert(header_position, Line { kind: Kind::HunkHeader, text: format!("@@ -{from},{old} +{to},{new} @@") });
    }
}

/// Appends lines up to the maximum; returns how many there are.
fn append(diff: &mut Diff, kind: Kind, text: &[u8], max_lines: usize) -> usize {
    let sign = match kind {
        Kind::Removed => '-',
        Kind::Added => '+',
        _ => ' ',
    };
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    diff.lines.extend(lines.take(max_lines).map(|line| {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        Line { kind, text: format!("{sign}{}", String::from_utf8_lossy(line)) }
    }));
    let count = count_line_breaks(text, 0..text.len()) + usize::from(!text.is_empty() && !text.ends_with(b"\n"));
    if count > max_lines {
        diff.lines.push(Line { kind, text: format!("{sign}… {} more lines", count - max_lines) });
    }
    count
}

/// The last lines of a text that ends with a line break; empty if it does not.
fn last_lines(text: &[u8]) -> &[u8] {
    if !text.ends_with(b"\n") {
        return &[];
    }
    let mut start = text.len();
    for _ in 0..CONTEXT {
        let line = text.get(..start.saturating_sub(1)).unwrap_or_default();
        if start == 0 || text.len() - start > MAX_CONTEXT_BYTES {
            break;
        }
        start = line.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    }
    text.get(start..).filter(|lines| lines.len() <= CONTEXT * MAX_CONTEXT_BYTES).unwrap_or_default()
}

/// The first lines of a text.
fn first_lines(text: &[u8]) -> &[u8] {
    let end: usize = text.split_inclusive(|byte| *byte == b'\n').take(CONTEXT).map(<[u8]>::len).sum();
    text.get(..end).filter(|lines| lines.len() <= CONTEXT * MAX_CONTEXT_BYTES).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::spans::{same_outside, spans_of_bytes};
    use super::*;
    use proptest::prelude::*;

    fn text(diff: &Diff) -> String {
        diff.lines.iter().map(|line| format!("{}\n", line.text)).collect::<Vec<_>>().concat()
    }

    #[test]
    fn added_and_removed_lines_are_whole_lines() {
        let lines = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<Vec<_>>().concat();
        let before = lines(&["<u>", " a", " b", " c", " d", " e", " f", "</u>"]);
        let after = lines(&["<u>", " a", " b", " new", " c", " d", " E", " f", "</u>"]);
        // As in a diff of entries: a new entry begins with the line break before it.
        let spans = [Span { before: 10..10, after: 10..15 }, Span { before: 17..18, after: 22..23 }];
        assert!(same_outside(before.as_bytes(), after.as_bytes(), &spans).is_some());
        assert_eq!(
            text(&unified(before.as_bytes(), after.as_bytes(), &spans, 100)),
            "@@ -1,8 +1,9 @@\n <u>\n  a\n  b\n+ new\n  c\n  d\n- e\n+ E\n  f\n </u>\n"
        );
    }

    #[test]
    fn the_line_before_a_changed_entry_is_unchanged() {
        let (before, after) = ("<u>\n a\n b\n c\n</u>\n", "<u>\n a\n B\n B2\n c\n</u>\n");
        // An entry with the end of the line before it, and one that begins within that line.
        for (from, to) in [(6, 7), (4, 7), (4, 11)] {
            let spans = [Span { before: from..to + 2, after: from..to + 6 }];
            assert!(same_outside(before.as_bytes(), after.as_bytes(), &spans).is_some());
            assert_eq!(
                text(&unified(before.as_bytes(), after.as_bytes(), &spans, 100)),
                "@@ -1,5 +1,6 @@\n <u>\n  a\n- b\n+ B\n+ B2\n  c\n </u>\n",
                "{from}..{to}"
            );
        }
    }

    #[test]
    fn a_file_of_one_line_is_shown_around_the_difference() {
        let long = "<url>x</url>".repeat(1_000);
        let (before, after) = (format!("{long}0.5{long}"), format!("{long}0.8{long}"));
        let diff =
            unified(before.as_bytes(), after.as_bytes(), &spans_of_bytes(before.as_bytes(), after.as_bytes()), 100);
        assert_eq!(diff.lines.len(), 3);
        assert!(diff.lines.iter().all(|line| line.text.len() < 3 * MAX_CONTEXT_BYTES), "{diff:?}");
    }

    #[test]
    fn a_diff_has_at_most_the_requested_number_of_lines() {
        let lines = |number| format!("{number} a\nsame\nsame\nsame\nsame\nsame\nsame\n");
        let before = (0..1_000).map(lines).collect::<Vec<_>>().concat();
        let after = before.replace('a', "b");
        let spans: Vec<Span> =
            before.match_indices('a').map(|(at, _)| Span { before: at..at + 1, after: at..at + 1 }).collect();
        let diff = unified(before.as_bytes(), after.as_bytes(), &spans, 50);
        assert!(diff.lines.len() < 250 && diff.more > 6_900, "{} {}", diff.lines.len(), diff.more);
        let all = unified(b"", after.as_bytes(), &spans_of_bytes(b"", after.as_bytes()), 50);
        assert_eq!((all.lines.len(), &*all.lines[51].text), (52, "+… 6950 more lines"));
    }

    /// The lines of the earlier version with a diff applied.
    fn patched(before: &str, diff: &Diff) -> String {
        let lines: Vec<&str> = before.split_inclusive('\n').collect();
        let (mut out, mut at) = (String::new(), 0);
        for line in &diff.lines {
            let said = line.text.get(1..).unwrap_or_default();
            match line.kind {
                Kind::HunkHeader => {
                    let (from, count) = line.text[4..].split_once(' ').unwrap().0.split_once(',').unwrap();
                    let from: usize = from.parse().unwrap();
                    let from = if count == "0" { from } else { from - 1 };
                    out.extend(lines[at..from].iter().copied());
                    at = from;
                }
                Kind::Context | Kind::Removed => {
                    assert_eq!(lines[at].trim_end_matches('\n'), said);
                    if line.kind == Kind::Context {
                        out += lines[at];
                    }
                    at += 1;
                }
                Kind::Added => {
                    out += said;
                    out.push('\n');
                }
            }
        }
        out.extend(lines[at..].iter().copied());
        out
    }

    proptest! {
        /// A diff applied to the earlier lines gives the later lines, whichever bytes the spans begin and end at.
        #[test]
        fn a_diff_applied_to_the_earlier_lines_gives_the_later_ones(
            lines in proptest::collection::vec("[ab]{0,3}", 1..25),
            cuts in proptest::collection::vec((0usize..100, 0usize..6, "[ab\n]{0,6}"), 0..5),
        ) {
            let before = lines.iter().map(|line| format!("{line}\n")).collect::<Vec<_>>().concat();
            let mut cuts: Vec<(usize, usize, String)> =
                cuts.into_iter().map(|(at, len, new)| (at % before.len(), len, new)).collect();
            cuts.sort();
            let (mut after, mut at, mut spans) = (String::new(), 0, Vec::new());
            for (from, len, new) in cuts {
                // Spans do not touch, and the last line keeps its line break.
                if from < at + usize::from(at > 0) || from + len >= before.len() || (len == 0 && new.is_empty()) {
                    continue;
                }
                after += &before[at..from];
                spans.push(Span { before: from..from + len, after: after.len()..after.len() + new.len() });
                after += &new;
                at = from + len;
            }
            after += &before[at..];
            let diff = unified(before.as_bytes(), after.as_bytes(), &spans, usize::MAX);
            prop_assert_eq!(patched(&before, &diff), after, "{}", text(&diff));
        }
    }
}
