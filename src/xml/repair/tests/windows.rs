//! Tests of repairs in windows: the result equals that of a repair of the whole file, or there is none.

use super::*;
use crate::progress::Progress;
use crate::xml::elements::Elements;
use crate::xml::entry::Entry;
use crate::xml::placed_entries::PlacedCursor;
use crate::xml::repair::windows::{AHEAD, RepairedWindow, Window, WindowJoiner};
use crate::xml::scan::{ParsedEntry, ScannedWindow, Visit, WindowBytes, scan};

/// The entries that a scan visits, with their texts and listed extension elements.
#[derive(Default, PartialEq, Debug)]
struct Visited(Vec<(Vec<u8>, Entry, Option<Elements>)>);

impl Visit for Visited {
    fn entry(&mut self, text: &[u8], entry: &Entry, _: &Names) {
        self.0.push((text.to_vec(), *entry, None));
    }

    fn parsed(&mut self, parsed: &ParsedEntry<'_>, _: &Names) {
        self.0.push((parsed.text.to_vec(), *parsed.entry, parsed.elements.cloned()));
    }
}

/// Checks that a scan of a repaired window with its placed entries equals one that parses all.
fn check_placed(repaired: &Repaired, head: usize, (is_first, is_last): (bool, bool)) {
    let bytes = &*repaired.bytes;
    let root = scan(&[&bytes[..head], b"</urlset>"].concat(), &mut Visited::default(), &Progress::default());
    let scanned = |placed| {
        let (window, mut visited) =
            (WindowBytes { bytes, is_first, is_last, min_piece: bytes.len(), placed }, Visited::default());
        (ScannedWindow::of(&window, &root, &mut visited, &Progress::default()), visited)
    };
    assert_eq!(
        scanned(repaired.placed.cursor()),
        scanned(PlacedCursor::default()),
        "{}",
        String::from_utf8_lossy(bytes)
    );
}

/// Repairs a file in windows that end after these offsets; `sound` is the end of a sound beginning with some entries.
fn in_windows(bytes: &[u8], head: usize, ends: &[usize], sound: (usize, u32)) -> Option<Repaired> {
    let (mut at, entries) = sound;
    let mut joiner = WindowJoiner::after(entries, bytes.len());
    let (mut whole, mut repairs, mut anchors) = (FileBytes::from(bytes[..at].to_vec()), Vec::new(), Vec::new());
    let ends: Vec<usize> = ends.iter().copied().filter(|end| *end > at).chain([bytes.len()]).collect();
    for (number, end) in ends.iter().copied().enumerate() {
        let ahead = (end + AHEAD).min(bytes.len());
        // Other bytes before the window do not matter.
        let text = [&bytes[..head], b"<x", &bytes[at..ahead]].concat();
        let from = head + 2;
        let range = from..from + end - at;
        let window = Window { bytes: &text, head, range, is_last: number + 1 == ends.len() };
        let mut repaired = RepairedWindow::of(&window, Repaired::default())?;
        check_placed(&repaired.result, head, (number == 0 && entries == 0, window.is_last));
        let shift = whole.len() - head;
        assert_eq!(repaired.result.bytes[..head], bytes[..head]);
        whole.extend_from_slice(&repaired.result.bytes[head..]);
        let skipped = usize::from(!joiner.needs_first_anchor(&repaired));
        anchors.extend(
            repaired.result.anchors.drain(..).skip(skipped).map(|(ours, theirs)| (ours + shift, theirs - from + at)),
        );
        repairs.extend(repaired.result.repairs.drain(..).map(|found| FoundDefect {
            at: found.at - from + at,
            entry: found.entry.map(|entry| entry + joiner.entries),
            ..found
        }));
        joiner.append(repaired)?;
        at = end;
    }
    Some(Repaired { bytes: whole, repairs, anchors, ..Repaired::default() })
}

/// Checks a repair in windows that end after some end tags of entries; `head` is the end of the root's start tag. Returns
/// whether the file can be repaired so.
pub(super) fn check_windows(text: &str, head: usize, every: usize) -> bool {
    let bytes = text.as_bytes();
    // Without end tags of entries, windows end at start tags.
    let ends = text.match_indices("</url>").map(|(at, tag)| at + tag.len());
    let starts = text.match_indices("<url>").map(|(at, _)| at).skip(1);
    let ends: Vec<usize> = if text.contains("</url>") { ends.collect() } else { starts.collect() };
    let ends: Vec<usize> = ends.into_iter().step_by(every).collect();
    let (model, found) = (repair(bytes).unwrap(), in_windows(bytes, head, &ends, (head, 0)));
    let Some(found) = found else { return false };
    assert_eq!(String::from_utf8_lossy(&found.bytes), String::from_utf8_lossy(&model.bytes), "{text}");
    assert_eq!(found.repairs, model.repairs, "{text}");
    assert_eq!(found.anchors, model.anchors, "{text}");
    true
}

#[test]
fn the_usual_damage_is_repaired_in_windows() {
    let entry = |number: usize| format!("<url><loc>https://e.com/{number}</loc><lastmod>2024-01-02</lastmod></url>\n");
    let (root, entries) = (format!("<?xml version=\"1.0\"?>\n<urlset {NS}>"), (0..40).map(entry).collect::<String>());
    let sound = format!("{root}\n{entries}</urlset>\n");
    for (from, to) in [
        ("</loc>", "?a=1&b=2</loc>"),
        ("</loc>", "&foo;</loc>"),
        ("</loc>", "\u{1}</loc>"),
        ("</loc>", "a<b</loc>"),
        ("<loc>", "<loc lang=en>"),
        ("</lastmod>", "</lastmode>"),
        ("</lastmod>", ""),
        ("</url>", ""),
    ] {
        let text = sound.replace(from, to);
        for every in [1, 3, 7, 100] {
            assert!(check_windows(&text, root.len(), every), "{text}");
        }
    }
    // After sound entries.
    let text = sound.replace("/20<", "/?a&b<");
    let (end, _) = text.match_indices("</url>").nth(9).map(|(at, tag)| (at + tag.len(), tag)).unwrap();
    let ends: Vec<usize> = text.match_indices("</url>").map(|(at, tag)| at + tag.len()).step_by(4).collect();
    let (model, found) = (repair(text.as_bytes()).unwrap(), in_windows(text.as_bytes(), root.len(), &ends, (end, 10)));
    let found = found.unwrap();
    assert!(found.bytes == model.bytes && found.repairs == model.repairs && found.anchors == model.anchors);
}

#[test]
fn nearly_all_entries_of_a_window_are_placed() {
    let entry = |number: usize| format!("<url><loc>https://e.com/{number}</loc><lastmod>2024-01-02</lastmod></url>\n");
    let (root, entries) = (format!("<urlset {NS}>\n"), (0..400).map(entry).collect::<String>());
    for (from, to) in [
        ("</loc>", "?a=1&b=2</loc>"),
        ("</loc>", "\u{1}</loc>"),
        ("</loc>", "a<b</loc>"),
        ("<loc>", "<loc lang=en>"),
        ("</lastmod>", "</lastmode>"),
        ("</lastmod>", ""),
    ] {
        let text = format!("{root}{}</urlset>\n", entries.replace(from, to));
        let window =
            Window { bytes: text.as_bytes(), head: root.len() - 1, range: root.len() - 1..text.len(), is_last: true };
        let repaired = RepairedWindow::of(&window, Repaired::default()).unwrap();
        let placed = repaired.result.placed.len();
        assert!((380..400).contains(&placed), "{placed}: {to}");
    }
}

#[test]
fn entries_with_extensions_are_parsed() {
    let link = "<xhtml:link rel=\"alternate\" hreflang=\"de\" href=\"https://e.com/de\"/>";
    let root = format!("<urlset {NS} xmlns:xhtml=\"http://www.w3.org/1999/xhtml\">");
    let text = format!("{root}{}</urlset>\n", format!("<url><loc>https://e.com/?a&b</loc>{link}</url>\n").repeat(8));
    assert!(check_windows(&text, root.len(), 4));
}

#[test]
fn what_depends_on_what_follows_the_window_is_repaired_with_the_whole_file() {
    let entry = "<url><loc>a&b</loc></url>";
    let root = format!("<urlset {NS}>");
    for unusual in [
        "<url><loc lang=\"en>a</loc></url>",
        "<url><loc>a<!-- </loc></url>",
        "<url><loc><![CDATA[a</loc></url>",
        "<url><loc>a</loc><url><loc>b</loc></url>",
        "<url></url>",
        // This end tag is that of an entry that was closed at the start tag of another one.
        "<url><loc>a</loc><url><loc>b</loc></url></url>",
        "<image:loc>a</image:loc>",
        "</urlset>",
    ] {
        let text = format!("{root}{entry}{unusual}{entry}\"-->]]></url>{entry}</urlset>");
        assert!(!check_windows(&text, root.len(), 1), "{text}");
    }
}
