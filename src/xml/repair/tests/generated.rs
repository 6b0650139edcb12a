//! Tests of repairs of generated files: the result equals that of a repair token by token, and scans without damage.

use super::windows::check_windows;
use super::*;
use crate::xml::fast_path::EntryBytes;
use crate::xml::parser::Parser;

pub(super) fn any_part() -> impl Strategy<Value = String> {
    let parts = [
        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>",
        "<urlset>",
        "</urlset>",
        "<URLSET>",
        "<urlset/>",
        "<sitemapindex>",
        "</sitemapindex>",
        "<sm:urlset xmlns:sm='http://www.sitemaps.org/schemas/sitemap/0.9'>",
        "<sm:url>",
        "<sm:loc>",
        "</sm:loc>",
        "</sm:url>",
        "<url>",
        "</url>",
        "<url/>",
        "<Url>",
        "</URL>",
        "<sitemap>",
        "</sitemap>",
        "<loc>",
        "</loc>",
        "<loc/>",
        "<Loc>",
        "<lastmod>",
        "</lastmod>",
        "<priority>0.5</priority>",
        "<!-- c -->",
        "<!-- - -- -->",
        "<!-->",
        "<!--->",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "<![CDATA[a]]>",
        "<?xml version='1.0'?>",
        "<?xml encoding='x'?>",
        "<?p q?>",
        "<? p?>",
        "<?",
        "?>",
        "<!DOCTYPE a>",
        "<!DOCTYPE a [<!ENTITY b 'c'>]>",
        "&b;",
        "&",
        "&amp;",
        "&#1;",
        "&eacute;",
        "\n  ",
        "text",
        "<image:image>",
        "</image:image>",
        "<image:loc>x</image:loc>",
        "<x:y a='1' a='2'>",
        "</x:y>",
        "<x a=b>",
        "<x a='<' b>",
        "</x>",
        "<",
        ">",
        "\"",
        "'",
        "\u{1}",
        "\0",
        "\u{FFFE}",
        "é",
        "<a xmlns:image='i'>",
        "</a>",
        "<xhtml:link/>",
        "<url xmlns='x'>",
        "<loc xmlns='x'>",
        "=",
    ];
    prop_oneof![12 => proptest::sample::select(parts.to_vec()).prop_map(str::to_owned), 1 => ".{0,6}"]
}

/// The model: a repair of the whole file, token by token.
pub(super) fn by_tokens(bytes: &[u8]) -> Option<Repaired> {
    let mut repairer = Repairer::new(bytes);
    let body = prolog::write(&mut repairer)?;
    segments::repair_rest(&mut repairer, body);
    Some(repairer.finish())
}

/// A repair of the whole file that copies sound entries, without patterns.
pub(super) fn without_patterns(bytes: &[u8]) -> Option<Repaired> {
    let mut repairer = Repairer::new(bytes);
    repairer.recorder = Recorder::off();
    repairer.soundness = Some(SoundnessCheck::new(bytes));
    let body = prolog::write(&mut repairer)?;
    segments::repair_rest(&mut repairer, body);
    Some(repairer.finish())
}

/// Whether a repair by tokens changes no entry of `text` that is sound where the prefixes that the repair declares are
/// declared. It moves a root or an entry out of an entry around it, which is copied unchanged if it is examined.
pub(super) fn are_sound_entries_kept(text: &str) -> bool {
    let Some(repaired) = by_tokens(text.as_bytes()) else { return true };
    let mut repairer = Repairer::new(&repaired.bytes);
    if prolog::write(&mut repairer).is_none() {
        return true;
    }
    let bytes = text.as_bytes();
    let names = &repairer.names;
    let tags = text.match_indices('<').filter_map(|(at, _)| markup::next(bytes, at).filter(|tag| tag.start == at));
    tags.filter(|tag| matches!(tag.kind, Kind::Start | Kind::Empty) && names.is_entry_tag(bytes, tag)).all(|tag| {
        let mut parser = Parser::of(bytes);
        let (entry, end) = parser.entry(&EntryBytes { bytes, lead: tag.start, names }, &tag, b"");
        let has_fields = Field::ALL.iter().any(|field| entry.field(*field).is_some());
        let illegal = SoundnessCheck::new(bytes).first_illegal(bytes, tag.start..end);
        let is_copied = has_fields && parser.damage.list.is_empty() && illegal.is_none();
        let file = [&repairer.out, &bytes[tag.start..end]].concat();
        !is_copied || by_tokens(&file).is_none_or(|repaired| repaired.bytes.starts_with(&file))
    })
}

/// The offset in the damaged bytes that corresponds to an offset in the repaired bytes.
fn damaged_offset(repaired: &Repaired, offset: usize) -> usize {
    let anchor = repaired.anchors.iter().rev().find(|(ours, _)| *ours <= offset);
    anchor.map_or(offset, |(ours, theirs)| theirs + (offset - ours))
}

/// An entry, usually a sound one.
fn any_entry() -> impl Strategy<Value = String> {
    let sound = [
        "<url><loc>a</loc><priority>&amp;</priority></url>",
        "\n  <url>\n <loc>b</loc>\n <lastmod>2026</lastmod>\n</url >",
        "<!-- c --><url a='1'><loc>c&amp;d</loc><priority>1</priority></url>",
        "<url><loc>d</loc><image:image><image:loc>e</image:loc></image:image></url>",
        "<url xmlns:x='y'><x:z>]] ></x:z><loc><![CDATA[f]]></loc></url>",
        "<url><b><c/></b></url>",
        "<url></url>",
        "<url/>",
        "<sitemap><loc>g</loc></sitemap>",
        "<x:y xmlns:x='y'/>",
    ];
    let damaged = [
        "<url><loc>h?a&b</loc></url>",
        "<url><loc>i<j</loc></url>",
        "<url>\n<loc>h?a&b&eacute;&#1;</loc><lastmod>&</lastmod></url>",
        "<url><priority>&</priority><loc>h&</loc><a b='&'/></url>",
        "<url><loc>h&amp;</loc><loc>h&</loc></url>",
        "<url><loc>k</loc>",
        "<url><loc>l</url>",
        "<url><loc>m\u{1}</loc></url>",
        "<url><loc>n\u{FFFE}</loc></url>",
        "<url><Loc>o</Loc></url>",
        "<loc>p</loc>",
        "<priority>1</priority>",
        "<url><url><loc>q</loc></url></url>",
        "</url>",
        "</urlset>",
        "<urlset>",
        "<!-- r -- -->",
        "<url><loc>s</loc><!--</url>",
        "<url><video:video/><loc>t]]></loc></url>",
        "text & text",
        "<url><loc>a\u{1}b</loc><priority>\u{8}0.5</priority></url>",
        "<url><loc>a\u{FFFE}&b</loc><image:image>\u{1}</image:image></url>",
        "<url><loc>v</loc>\u{1}<lastmod>\u{FFFF}</lastmod></url>",
        "<url><loc><![CDATA[\u{1}]]></loc></url>",
        "<url><loc \u{1}a='b'>w</loc></url>",
        "<url><loc>u",
        "<url><priority>1</priority><loc a=b>x</loc> <lastmod>2026</lastmod ><changefreq>daily</changefreq></url>",
        "<url a=b><lastmod></lastmod><loc>y</loc><loc>z</loc><priority>1</changefreq></url>",
        "<s:url xmlns:s='http://www.sitemaps.org/schemas/sitemap/0.9' a=b><s:loc>x</s:loc><loc>y</loc></s:url>",
        "<url a=b xmlns='x'><loc>y</loc></url>",
        "<",
        "\0",
    ];
    prop_oneof![
        8 => proptest::sample::select(sound.to_vec()).prop_map(str::to_owned),
        2 => proptest::sample::select(damaged.to_vec()).prop_map(str::to_owned),
    ]
}

/// An entry that is added for a value outside of entries declares no namespaces, even if the entry before it does.
#[test]
fn an_implied_entry_has_the_names_of_the_root() {
    let text = "<url xmlns='x'><!--><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><loc/><Loc><url>";
    let repaired = repair(text.as_bytes()).unwrap();
    let (scan, _) = rows(&repaired.bytes);
    assert_eq!(scan.damage, [], "{}", String::from_utf8_lossy(&repaired.bytes));
}

/// After many damaged entries, not every entry is examined. The output does not depend on that.
#[test]
fn sound_entries_after_many_damaged_ones_are_not_changed() {
    let sound =
        |number: usize| format!("<url>\n<loc>https://e.com/{number}</loc><lastmod>2026-01-01</lastmod></url>\n");
    let damaged = |number: usize| format!("<url>\n<loc>https://e.com/{number}<lastmod>2026-01-01</lastmod></url>\n");
    for run in [3, 4, 5, 9, 40, 120] {
        let entry = |number: usize| if number % (2 * run) < run { damaged(number) } else { sound(number) };
        let text = format!("<urlset {NS}>\n{}</urlset>\n", (0..480).map(entry).collect::<String>());
        let (whole, model) = (repair(text.as_bytes()).unwrap(), by_tokens(text.as_bytes()).unwrap());
        assert_eq!(String::from_utf8_lossy(&whole.bytes), String::from_utf8_lossy(&model.bytes), "runs of {run}");
        assert_eq!(whole.repairs, model.repairs, "runs of {run}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn copying_sound_entries_equals_a_repair_by_tokens(
        declared in any::<bool>(),
        entries in proptest::collection::vec(any_entry(), 0..12),
        is_closed in any::<bool>(),
    ) {
        let image = if declared { " xmlns:image='http://www.google.com/schemas/sitemap-image/1.1'" } else { "" };
        let end = if is_closed { "\n</urlset>\n" } else { "" };
        let text = format!("<urlset {NS}{image}>{}{end}", entries.concat());
        let bytes = text.as_bytes();
        let model = by_tokens(bytes).unwrap();
        let whole = repair(bytes).unwrap();
        prop_assert_eq!(String::from_utf8_lossy(&whole.bytes), String::from_utf8_lossy(&model.bytes), "{}", &text);
        prop_assert_eq!(&whole.repairs, &model.repairs, "{}", &text);
        // A repair that starts after the undamaged beginning has the same result.
        let mut locs = Locs::default();
        let scan = scan::scan_sound(bytes, &mut locs, &Progress::default());
        let end = *scan.starts.last().unwrap() as usize;
        let after = repair_after(bytes, SoundPrefix::of(bytes, &scan)).unwrap();
        prop_assert_eq!(String::from_utf8_lossy(&after.bytes), String::from_utf8_lossy(&model.bytes), "{}", &text);
        prop_assert_eq!(&after.repairs, &model.repairs, "{}", &text);
        let (fresh, expected) = rows(&model.bytes);
        for start in &fresh.starts {
            let (found, expected) = (damaged_offset(&after, *start as usize), damaged_offset(&model, *start as usize));
            prop_assert_eq!(found, expected, "{} in {}", start, &text);
        }
        if after.unchanged_len > 0 {
            prop_assert_eq!(after.unchanged_len, end);
            let resumed = scan::resume(&after.bytes, scan, &mut locs, &Progress::default());
            prop_assert_eq!(resumed.damage.first(), fresh.damage.first());
            if fresh.damage.is_empty() {
                prop_assert_eq!((&resumed.starts, resumed.stray), (&fresh.starts, fresh.stray));
                prop_assert_eq!(locs.0, expected);
            }
        }
    }

    #[test]
    fn repaired_files_scan_without_damage_and_equal_a_repair_by_tokens(
        root in any::<bool>(),
        parts in proptest::collection::vec(any_part(), 0..24),
    ) {
        let root = if root { "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>" } else { "" };
        let text = format!("{root}{}", parts.concat());
        if let Some(repaired) = repair(text.as_bytes()) {
            let out = String::from_utf8(repaired.bytes.to_vec()).unwrap();
            if are_sound_entries_kept(&text) {
                let model = by_tokens(text.as_bytes()).unwrap();
                prop_assert_eq!(&out, &String::from_utf8_lossy(&model.bytes), "{}", text);
                prop_assert_eq!(&repaired.repairs, &model.repairs, "{}", text);
            }
            let (scan, locs) = rows(&repaired.bytes);
            prop_assert_eq!(&scan.damage, &[], "{}\n{}", text, out);
            prop_assert!(repaired.repairs.iter().all(|repair| repair.at <= text.len()));
            for repair in &repaired.repairs {
                prop_assert!(repair.entry.is_none_or(|entry| (entry as usize) < locs.len()), "{:?} {}", repair, out);
            }
            prop_assert!(repaired.anchors.iter().all(|(ours, theirs)| *ours <= out.len() && *theirs <= text.len()));
            // A file without damage is not changed.
            let before = rows(text.as_bytes()).0;
            if before.damage.is_empty() && before.names.is_some() {
                prop_assert_eq!(out, text);
                prop_assert_eq!(repaired.repairs, []);
            }
        }
    }
}

/// A repair in segments with these starts.
fn in_segments(bytes: &[u8], starts: &[usize]) -> Option<Repaired> {
    let mut repairer = Repairer::new(bytes);
    repairer.soundness = Some(SoundnessCheck::new(bytes));
    let body = prolog::write(&mut repairer)?;
    let starts: Vec<usize> = starts.iter().copied().filter(|start| *start > body).collect();
    segments::repair_segments(&mut repairer, body, &starts);
    Some(repairer.finish())
}

/// Checks that a repair in segments, at all or some end tags or start tags of entries, equals a repair in one piece.
pub(super) fn check_segments(text: &str, every: usize) -> Result<(), TestCaseError> {
    let bytes = text.as_bytes();
    let Some(model) = by_tokens(bytes) else { return Ok(()) };
    let ends: Vec<usize> = text.match_indices("</url>").map(|(at, tag)| at + tag.len()).step_by(every).collect();
    let starts: Vec<usize> = text.match_indices("<url>").map(|(at, _)| at).step_by(every).collect();
    for starts in [ends, starts] {
        let found = in_segments(bytes, &starts).unwrap();
        prop_assert_eq!(String::from_utf8_lossy(&found.bytes), String::from_utf8_lossy(&model.bytes), "{}", text);
        prop_assert_eq!(&found.repairs, &model.repairs, "{}", text);
        prop_assert_eq!(&found.anchors, &model.anchors, "{}", text);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]
    #[test]
    fn segments_and_windows_are_repaired_as_one_piece(
        parts in proptest::collection::vec(prop_oneof![3 => any_entry(), 1 => any_part()], 0..16),
        is_closed in any::<bool>(),
        every in 1..4_usize,
    ) {
        let end = if is_closed { "\n</urlset>\n" } else { "" };
        let root = format!("<urlset {NS}>");
        let text = format!("{root}{}{end}", parts.concat());
        prop_assume!(are_sound_entries_kept(&text));
        check_segments(&text, every)?;
        check_windows(&text, root.len(), every);
    }
}

/// Limits apply to all segments together: on repairs outside of entries, on pieces, and on descriptions.
#[test]
fn limits_hold_for_all_segments_together() {
    let entries = |between: &str, count: usize| format!("<url><loc>a&b</loc></url>{between}").repeat(count);
    for between in ["text &", "</x>", "<!-- - -- -->", "\u{1}", "</x></x>"] {
        for every in [1, 50, 200] {
            let text = format!("<urlset {NS}>{}</urlset>", entries(between, 300));
            check_segments(&text, every).unwrap();
        }
    }
    // Each segment is within the limits on pieces and on descriptions, and all together are not.
    let entry = "<url>&<loc/></url>";
    for count in [30_000, 170_000] {
        check_segments(&format!("<urlset {NS}>{}</urlset>", entry.repeat(count)), count / 3).unwrap();
    }
}

/// After a declaration without an end, a later one is text in every segment, with an end or without.
#[test]
fn an_unterminated_declaration_affects_all_segments_after_it() {
    let entry = "<url><loc>a&b</loc></url>";
    let places = ["@", "<url>@</url>", "<url><loc>@</loc></url>"];
    for [first, second, end] in [["<!'", "<![x", "]]>"], ["<![x", "<!y", "]]>"], ["<!'", "<!y>", ""]] {
        for (first_place, second_place) in places.iter().flat_map(|first| places.map(|second| (first, second))) {
            let (first, second) = (first_place.replace('@', first), second_place.replace('@', second));
            let text = format!("<urlset {NS}>{entry}{first}{entry}{entry}{second}{entry}{end}{entry}</urlset>");
            for every in [1, 2, 3] {
                check_segments(&text, every).unwrap();
            }
        }
    }
}
