//! Tests of the extension rules: one example per rule, messages and fixes, and arbitrary input.

use super::*;
use crate::check::Profile;
use crate::check::entry::{check as check_entry, check_again};
use crate::check::fix;
use crate::check::rule::{EXTENSION_RULES, FixKind};
use crate::check::samples::{NOW, PAGE, ROOT, extensions, links, news, video};
use crate::xml::names::{FileKind, Names};
use crate::xml::splice::{Change, splice};
use proptest::prelude::*;

fn names() -> Names {
    let root = markup::next(ROOT.as_bytes(), 0).unwrap();
    Names::of_root(ROOT.as_bytes(), &root).unwrap()
}

fn entry(extensions: &str) -> String {
    format!("<url><loc>{PAGE}</loc>{extensions}</url>")
}

fn found(text: &str, names: &Names) -> Vec<Finding> {
    let context = Context { now: NOW, names, url_prefix: None, profile: Profile::default(), policy: None, site: None };
    let entry = Entry::of(text.as_bytes(), names);
    let found = findings(&entry, text.as_bytes(), &context, (RuleSet::ALL, Fixes::Applicable));
    let set: RuleSet = found.iter().map(|found| found.rule).collect();
    assert_eq!(check(&entry, text.as_bytes(), &context), set, "{text}");
    found
}

/// The element that a finding is about.
fn part(found: &Finding) -> &ExtensionPart {
    let Position::Element(part) = &found.position else { panic!("{found:?}") };
    part
}

fn named(found: &[Finding]) -> String {
    let mut codes: Vec<String> = found.iter().map(|found| format!("{:?}", found.rule)).collect();
    codes.sort();
    codes.join(" ")
}

#[test]
fn every_rule_by_example() {
    let (names, mut seen) = (names(), RuleSet::EMPTY);
    for (extension, expected) in extensions() {
        let found = found(&entry(&extension), &names);
        let mut expected: Vec<&str> = expected.split_whitespace().collect();
        expected.sort_unstable();
        assert_eq!(named(&found), expected.join(" "), "{extension}");
        seen = found.iter().map(|found| found.rule).chain(seen.iter()).collect();
    }
    // The samples are inside a `<url>`; this rule needs another place.
    let missing = EXTENSION_RULES.minus(seen);
    assert_eq!(missing, RuleSet::of(&[Rule::EXT_OUTSIDE_URL]));
}

#[test]
fn the_first_of_repeated_required_children_needs_a_value() {
    let names = names();
    let of_locs = |locs: [&str; 2]| {
        let locs = locs.map(|loc| format!("<image:loc>{loc}</image:loc>")).concat();
        named(&found(&entry(&format!("<image:image>{locs}</image:image>")), &names))
    };
    assert_eq!(of_locs(["", "https://example.com/i.jpg"]), "ext-duplicate-child image-loc-missing");
    assert_eq!(of_locs(["https://example.com/i.jpg", ""]), "ext-duplicate-child");
}

#[test]
fn extensions_outside_of_a_url() {
    let names = names();
    let image = "<image:image><image:loc>https://example.com/i.jpg</image:loc></image:image>";
    let found = found(&format!("\n{image}\n{}", entry("")), &names);
    assert_eq!(named(&found), "ext-outside-url");
    assert_eq!((&*part(&found[0]).name, part(&found[0]).at), ("image:image", 1));
    let index = Names::plain(FileKind::Index);
    let text = format!("<sitemap><loc>https://example.com/1.xml</loc>{image}</sitemap>");
    assert_eq!(named(&self::found(&text, &index)), "ext-outside-url");
}

#[test]
fn extensions_before_all_entries_or_behind_them() {
    let image = "<image:image><image:loc>https://example.com/i.jpg</image:loc></image:image>";
    let table = [
        (format!("{ROOT}{}</urlset>", entry(image)), None),
        (format!("{ROOT}<!-- {image} --><x:y xmlns:x='z'>{image}</x:y>{}</urlset>", entry("")), None),
        (format!("{ROOT}\n{image}{}</urlset>", entry("")), Some(ROOT.len() + 1)),
        (format!("{ROOT}{}{image}</urlset>", entry("")), Some(ROOT.len() + entry("").len())),
    ];
    for (text, expected) in table {
        let source = Source::of_text(text.clone().into_bytes()).unwrap();
        assert_eq!(find_outside_entries(&source), expected, "{text}");
    }
}

#[test]
fn elements_are_recognised_by_their_namespace() {
    let table = [
        "<i:image xmlns:i=\"http://www.google.com/schemas/sitemap-image/1.1\"><i:loc>/i.jpg</i:loc></i:image>",
        "<image xmlns=\"http://www.google.com/schemas/sitemap-image/1.1\"><loc>/i.jpg</loc></image>",
        "<image:image><image:loc>/i.jpg</image:loc></image:image>",
    ];
    let names = names();
    for extension in table {
        assert_eq!(named(&found(&entry(extension), &names)), "loc-not-absolute", "{extension}");
    }
    for strange in ["<x:y xmlns:x=\"z\"><image:loc/></x:y>", "<expires/>", "<!-- <image:loc/> -->"] {
        assert_eq!(found(&entry(strange), &names), [], "{strange}");
    }
}

#[test]
fn an_entry_with_thousands_of_faults_is_checked_in_bounded_time() {
    let names = names();
    let image = "<image:image><image:title>A</image:title><image:loc>/i.jpg</image:loc></image:image>";
    let nested =
        "<x:a xmlns:x='http://www.google.com/schemas/sitemap-image/1.1'>".repeat(10_000) + &"</x:a>".repeat(10_000);
    let links = "<xhtml:link rel='alternate' hreflang='en' href='/a'/>".repeat(10_000);
    for extension in [image.repeat(2_000), nested, links] {
        let found = found(&entry(&extension), &names);
        assert!(!found.is_empty());
        assert!(found.first().is_some_and(|found| part(found).at > 0));
    }
}

#[test]
fn boundary_values_break_only_the_expected_rules() {
    let image = |loc: &str| format!("<image:image><image:loc>{loc}</image:loc></image:image>");
    let table = [
        (image("https://EXAMPLE.com/i.jpg"), "loc-uppercase-host"),
        (image("https://example.com:8443/i.jpg"), ""),
        (image("https://cdn.example.com/i.jpg"), "image-foreign-host"),
        // It is 2026-11-20T10:14:07Z. A time is of the future at once; a day may have begun elsewhere.
        (news("de", "2026-11-20T10:14:07Z", ""), ""),
        (news("de", "2026-11-20T10:14:08Z", ""), "news-future"),
        (news("de", "2026-11-20T11:14:07+01:00", ""), ""),
        (news("de", "2026-11-21", ""), ""),
        (news("de", "2026-11-22", ""), "news-future"),
        (news("de", "2026-11-18T10:14:07Z", ""), ""),
        (news("de", "2026-11-18T10:14:06Z", ""), "news-stale"),
        (news("de", "2026-11-18", ""), ""),
        (news("de", "2026-11-17", ""), "news-stale"),
        (links(&[("de", PAGE), ("x_default", PAGE)]), "hreflang-separator"),
        (links(&[("de", PAGE), ("x-default", PAGE)]), ""),
        (video("<video:view_count>+5</video:view_count>"), ""),
    ];
    let names = names();
    for (extension, expected) in table {
        assert_eq!(named(&found(&entry(&extension), &names)), expected, "{extension}");
    }
    let idn = "<url><loc>https://b\u{fc}cher.de/</loc><image:image><image:loc>https://xn--bcher-kva.de/i.jpg</image:loc></image:image></url>";
    assert_eq!(named(&found(idn, &names)), "");
}

#[test]
fn messages_contain_the_fault_and_the_correct_value() {
    let table = [
        (
            video("<video:duration>0</video:duration>"),
            "video:duration",
            "video:duration is 0: write the seconds as a whole number from 1 to 28800",
            "",
        ),
        (
            video("<video:family_friendly>TRUE</video:family_friendly>"),
            "video:family_friendly",
            "video:family_friendly is TRUE: write yes or no; perhaps yes",
            "write yes -> yes",
        ),
        (
            video("<video:restriction relationship=\"allow\">de,at</video:restriction>"),
            "video:restriction",
            "video:restriction is de,at: write country codes of two capitals, separated by spaces: DE AT CH; perhaps DE AT",
            "write DE AT -> DE AT",
        ),
        (
            video("<video:publication_date>2026-11-20T10:14:00</video:publication_date>"),
            "video:publication_date",
            "video:publication_date is 2026-11-20T10:14:00: write YYYY-MM-DD, or YYYY-MM-DDThh:mm:ss with Z or +hh:mm; perhaps 2026-11-20T10:14:00Z",
            "write 2026-11-20T10:14:00Z? -> 2026-11-20T10:14:00Z",
        ),
        (
            news("EN", "2026-11-20", ""),
            "news:language",
            "news:language is EN: write two or three lower-case letters, zh-cn or zh-tw; perhaps en",
            "write en -> en",
        ),
        (
            links(&[("en_us", PAGE), ("x-default", PAGE)]),
            "xhtml:link",
            "hreflang is en_us: write en-US",
            "write en-US -> en-US",
        ),
        (
            "<image:image><loc>https://example.com/i.jpg</loc></image:image>".to_owned(),
            "image:image",
            "image:image lacks image:loc, or it is empty",
            "",
        ),
        (
            "<image:image><image:loc>https://example.com/i.jpg</image:loc><image:alt/></image:image>".to_owned(),
            "image:alt",
            "image:alt is not an element of image:image",
            "remove the element? -> ",
        ),
    ];
    let names = names();
    for (extension, name, message, fix) in table {
        let text = entry(&extension);
        let found = found(&text, &names);
        let found = &found[0];
        assert_eq!((&*part(found).name, found.message.as_str()), (name, message));
        let described = found.fix.as_ref().map_or(String::new(), |fix| {
            let ask = if fix.is_safe { "" } else { "?" };
            let Action::Rewrite(after) = &fix.action else { panic!("{fix:?}") };
            let right = fix.label.strip_prefix("write ").unwrap_or_default();
            assert!(after.contains(right));
            format!("{}{ask} -> {right}", fix.label)
        });
        assert_eq!(described, fix, "{message}");
    }
}

#[test]
fn a_fix_changes_only_its_element() {
    let table = [
        (
            "<image:image>\n <loc>https://example.com/i.jpg</loc>\n</image:image>",
            Rule::EXT_UNKNOWN_CHILD,
            "<image:image>\n <image:loc>https://example.com/i.jpg</image:loc>\n</image:image>",
        ),
        (
            "<image:image><image:loc>https://example.com/i.jpg</image:loc>\n <image:title>A</image:title><!-- b --> <image:caption/></image:image>",
            Rule::EXT_CHILD_ORDER,
            "<image:image><image:loc>https://example.com/i.jpg</image:loc><!-- b --> <image:caption/>\n <image:title>A</image:title></image:image>",
        ),
        (
            "<image:image> <image:loc>https://example.com/i.jpg</image:loc> <image:caption/> <image:title>A</image:title> </image:image>",
            Rule::IMAGE_DEPRECATED,
            "<image:image> <image:loc>https://example.com/i.jpg</image:loc> </image:image>",
        ),
        (
            "<image:image><image:loc a = 'b' c=\"d\">https://example.com/i.jpg</image:loc></image:image>",
            Rule::EXT_UNKNOWN_ATTRIBUTE,
            "<image:image><image:loc c=\"d\">https://example.com/i.jpg</image:loc></image:image>",
        ),
        (
            "<image:image><image:loc><![CDATA[https://Example.com/i.jpg?a&b]]></image:loc></image:image>",
            Rule::LOC_UPPERCASE_HOST,
            "<image:image><image:loc>https://example.com/i.jpg?a&amp;b</image:loc></image:image>",
        ),
        (
            "<xhtml:link rel='alternate' hreflang='EN' href='https://example.com/a'/><mobile:mobile/>",
            Rule::EXT_OBSOLETE,
            "<xhtml:link rel='alternate' hreflang='EN' href='https://example.com/a'/>",
        ),
    ];
    let names = names();
    for (before, rule, after) in table {
        let found = found(&entry(before), &names);
        let fix = found.iter().find(|found| found.rule == rule).and_then(|found| found.fix.as_ref());
        let action = fix.map(|fix| &fix.action);
        assert_eq!(action, Some(&Action::Rewrite(entry(after))), "{rule}");
    }
}

/// Tries every fix of a text: its finding must be gone, and nothing else new.
fn try_all(text: &str, names: &Names) -> RuleSet {
    let context = Context { now: NOW, names, url_prefix: None, profile: Profile::default(), policy: None, site: None };
    let before = check_entry(&Entry::of(text.as_bytes(), names), text.as_bytes(), &context);
    let (mut fixed, all) = (RuleSet::EMPTY, found(text, names));
    for found in &all {
        let Some(fix) = &found.fix else { continue };
        assert!(found.rule.fix() != FixKind::None, "{} is not to be fixed", found.rule);
        assert!(!fix.is_safe || found.rule.fix() == FixKind::Safe, "{} is not safe to fix", found.rule);
        let Action::Rewrite(after) = &fix.action else { panic!("{fix:?}") };
        let left = self::found(after, names);
        let times = |found: &[Finding], rule: Rule| found.iter().filter(|other| other.rule == rule).count();
        assert!(times(&left, found.rule) < times(&all, found.rule), "{} stays in {after}", found.rule);
        let new = check_entry(&Entry::of(after.as_bytes(), names), after.as_bytes(), &context);
        let added = new.minus(before);
        assert!(added.iter().all(|rule| before.intersects(rule.family())), "{added:?} is new in {after}");
        fixed.insert(found.rule);
    }
    fixed
}

#[test]
fn every_fix_of_every_sample_holds() {
    let names = names();
    let fixed: RuleSet =
        extensions().iter().flat_map(|(text, _)| try_all(&entry(text), &names).iter().collect::<Vec<_>>()).collect();
    let promised: RuleSet = EXTENSION_RULES.iter().filter(|rule| rule.fix() != FixKind::None).collect();
    // Its fix needs the language that other entries give the page.
    assert_eq!(promised.minus(fixed), RuleSet::of(&[Rule::HREFLANG_SELF_MISSING]), "promised, but there is no fix");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn fixes_of_combined_samples_hold(picked in proptest::collection::vec(proptest::sample::select(extensions()), 0..4)) {
        let names = names();
        let text: String = picked.iter().map(|(text, _)| text.as_str()).filter(|text| text.len() < 10_000).collect();
        try_all(&entry(&text), &names);
    }

    #[test]
    fn unattended_fixes_leave_no_safe_fix(picked in proptest::collection::vec(proptest::sample::select(extensions()), 0..4)) {
        let names = names();
        let context = Context { now: NOW, names: &names, url_prefix: None, profile: Profile::default(), policy: None, site: None };
        let text: String = picked.iter().map(|(text, _)| text.as_str()).filter(|text| text.len() < 10_000).collect();
        let text = entry(&text);
        let all = RuleSet::of(&Rule::ALL);
        if let Some(fix::FixedEntry::Text(repaired)) = fix::fix_entry(text.as_bytes(), &context, all, true) {
            prop_assert_eq!(fix::fix_entry(repaired.as_bytes(), &context, all, true), None, "{}", repaired);
        }
    }

    #[test]
    fn any_text_can_be_validated(parts in proptest::collection::vec(prop_oneof![
        proptest::sample::select(vec![
            "<image:image>", "</image:image>", "<image:loc>", "</image:loc>", "<video:video/>", "<xhtml:link hreflang='en' href='", "'/>",
            "<news:news>", "</news:news>", "&amp;", "&", "<", "<![CDATA[", "]]>", "<x xmlns='http://www.google.com/schemas/sitemap-news/0.9'>",
            "</x>", "a", "<loc/>", "<!--", "-->", "<url>", "</url>",
        ]).prop_map(str::to_owned), ".{0,3}",
    ], 0..24)) {
        let names = names();
        found(&entry(&parts.concat()), &names);
        found(&parts.concat(), &names);
    }
}

/// The elements that the scanner notes on its fast path, against a second walk through the entry.
mod noted {
    use super::*;
    use crate::check::samples::{self, SeenEntries};
    use crate::progress::Progress;
    use crate::xml::scan::{scan, scan_thoroughly};

    /// Children of an entry: valid ones of every extension, and unusual ones.
    fn any_child() -> impl Strategy<Value = String> {
        let odd = [
            "<image:image>\n <image:loc>https://e.com/?a&amp;b</image:loc> &#33;\n</image:image>",
            "<image:image><image:loc><![CDATA[https://e.com/a.png]]></image:loc></image:image>",
            "<image:image><image:title>a<![CDATA[ b ]]>c &amp; d</image:title></image:image>",
            "<image:image><image:title>a ]]&gt; b > c</image:title></image:image>",
            "<image:image><image:title>a ]]> b</image:title></image:image>",
            "<image:image><!-- k --><image:loc>a</image:loc></image:image>",
            "<image:image><image:loc>a</image:image>",
            "<image:image>a & b</image:image>",
            "<image:image a='1' a='2'/>",
            "<image:image a='<'/>",
            "<image:image a='&b'/>",
            "<image:image a='&lt;'b=\"c\"/>",
            "<image:image a = 'b' />",
            "<image:image a/>",
            "<image:ima\u{e9}ge/>",
            "<image:image\n></image:image >",
            "<image:image><loc>a</loc><url/><x:y/></image:image>",
            "<image:image/><image:image></image:image>",
            "<i:image xmlns:i=\"http://www.google.com/schemas/sitemap-image/1.1\"><i:loc>a</i:loc></i:image><i:image/>",
            "<image:image xmlns:image=\"urn:other\"><image:loc/></image:image>",
            "<image:image><q:r xmlns:q=\"\"/></image:image>",
            "<image:image xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><loc>a</loc></image:image>",
            "<PageMap xmlns=\"http://www.google.com/schemas/sitemap-pagemap/1.0\"><DataObject type=\"t\">\
             <Attribute name=\"n\" value=\"v\"/></DataObject></PageMap>",
            "<PageMap xmlns=\"\"><DataObject/></PageMap>",
            "<xhtml:link rel=\"alternate\" hreflang='de' href=\"https://e.com/?a&amp;b\"/>",
            "<q:r/>",
            "<x/>",
            "<lastmod>2026-01-01</lastmod>",
            "<priority> 0.5 </priority>",
            "<changefreq xmlns:b=\"urn:b\">daily</changefreq>",
            "text",
            "\n  ",
            "<!-- k -->",
        ];
        let sound = samples::extensions().into_iter().map(|(text, _)| text);
        prop::sample::select(odd.into_iter().map(str::to_owned).chain(sound).collect::<Vec<_>>())
    }

    fn file(entries: &[(String, Vec<String>)]) -> String {
        let entry = |(lead, children): &(String, Vec<String>)| {
            format!("{lead}<url><loc>https://e.com/</loc>{}</url>", children.concat())
        };
        format!("{}{}</urlset>", samples::ROOT, entries.iter().map(entry).collect::<String>())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn noted_elements_are_those_that_a_second_walk_finds(
            entries in prop::collection::vec(
                (prop::sample::select(vec!["", "\n", "<!-- k -->", "<image:image/>"]).prop_map(str::to_owned),
                 prop::collection::vec(any_child(), 0..5)), 1..4),
        ) {
            let text = file(&entries);
            let (mut fast, mut thorough) = (SeenEntries::default(), SeenEntries::default());
            let one = scan(text.as_bytes(), &mut fast, &Progress::default());
            let other = scan_thoroughly(text.as_bytes(), &mut thorough, &Progress::default());
            prop_assert_eq!(&one, &other, "{}", text);
            let names = one.names.unwrap();
            for ((text, entry, elements), (_, expected, _)) in fast.0.iter().zip(&thorough.0) {
                prop_assert_eq!(entry, expected);
                if let Some(elements) = elements {
                    prop_assert_eq!(elements, &Elements::of(entry, text, &names), "{}", String::from_utf8_lossy(text));
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn checking_again_after_an_edit_equals_a_new_check(
            children in prop::collection::vec(any_child(), 0..5), field in 0..4_usize,
            value in samples::any_value(Field::Lastmod),
        ) {
            let (names, field) = (names(), Field::ALL[field]);
            let context = Context { now: NOW, profile: Profile::Protocol, names: &names, url_prefix: None, policy: None, site: None };
            let text = entry(&children.concat()).into_bytes();
            let parsed = Entry::of(&text, &names);
            let old = check_entry(&parsed, &text, &context);
            let mut changes = [None; 4];
            changes[field.index()] = Some(value.as_deref().map_or(Change::Remove, Change::Set));
            let mut edited = Vec::new();
            splice(&parsed, &text, &names, &changes, &mut edited);
            let parsed = Entry::of(&edited, &names);
            let expected = check_entry(&parsed, &edited, &context);
            let found = check_again(old, Some(field), &parsed, &edited, &context);
            prop_assert_eq!(found, expected, "{}", String::from_utf8_lossy(&edited));
        }
    }

    #[test]
    fn elements_written_the_usual_way_are_noted() {
        let all = samples::extensions().into_iter().map(|(text, _)| (String::new(), vec![text])).collect::<Vec<_>>();
        let text = file(&all);
        let mut seen = SeenEntries::default();
        scan(text.as_bytes(), &mut seen, &Progress::default());
        let is_noted = |(_, _, elements): &&(Vec<u8>, Entry, Option<Elements>)| elements.is_some();
        let noted = seen.0.iter().filter(is_noted).count();
        assert!(noted * 10 >= all.len() * 9, "{noted} of {}", all.len());
        assert!(seen.0.iter().filter_map(|(.., elements)| elements.as_ref()).any(|elements| elements.nodes.len() > 3));
    }
}
