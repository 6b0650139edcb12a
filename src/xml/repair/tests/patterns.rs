//! Tests of patterns: files of entries with few kinds of markup are repaired as without patterns.

use super::generated::{any_part, are_sound_entries_kept, by_tokens, check_segments, without_patterns};
use super::windows::check_windows;
use super::*;

/// The markup of an entry, with `{}` for each text.
fn any_markup() -> impl Strategy<Value = String> {
    let markups = [
        "<url><loc>{}</loc><lastmod>{}</lastmode></url>",
        "\n  <url>\n    <loc>{}</loc>\n    <lastmod>{}</lastmod>\n  </url>",
        "<url>\n<loc lang=en>{}</loc>{}</url>\n",
        "<url a=&><loc b='\u{1}' b=2>{}</loc></url>",
        "<URL><Loc>{}</Loc></URL>{}",
        "<url><loc>{}</loc></Url>{}",
        "<URL><loc>{}</loc>",
        "<url><loc>{}</loc><lastmod>{}</lastmod>\n",
        "<url a=b><loc>{}</loc>{}<priority>{}</priority>",
        "<url><loc>{}<lastmod>{}</lastmod></url>",
        "<url><lastmod>{}<loc>{}</loc></url>{}",
        "<url><loc>{}</url>",
        "<url><loc>{}<loc></url>",
        "<sm:url a=b><sm:loc>{}</sm:loc></sm:url>",
        "<sm:URL><sm:loc>{}</sm:loc>",
        "<url><loc>{}</loc><xhtml:link rel='alternate' hreflang='de' href='https://e.com/de'/></url>",
        "<url><loc>{}</loc><x:y/><priority>{}</priority></url>",
        "<url><priority>{}</priority><b/><loc>{}</loc></url>",
        "<url><loc>{}</loc><image:image><image:loc>{}</image:loc></image:image></url>",
        "<url><image:image><image:loc>{}</image:image><loc>{}</loc></url>",
        "<url><loc>{}</loc><video:video><video:title>{}<video:title></video:video></url>",
        "<url><loc>{}</loc></urll>{}",
        "<url><loc>{}</loc></x></url>",
        "<url>{}<loc/>{}<priority>{}</url>",
        "<url>{}</url>",
        "<url></url>",
        "<url><loc>{}</loc><url><loc>{}</loc></url></url>",
        "<url xmlns:x='y' a=b><x:z>{}</x:z></url>",
        "<url><x:y xmlns:x='y' a=b/><loc>{}</loc></lco></url>",
        "<url><loc = a=1 \u{1}>{}</loc></url>",
        "<url><loc a='>{}</loc></url>",
        "<url a=\"b><loc>{}</loc></url>",
        "<url><loc><b>{}</b>{}</loc><i>{}</loc></url>",
        "<url><b><i>{}</b></url>",
        "<url><loc>{}</loc ><priority \n>{}</lastmod></url >",
        "<!-- c --><url><!-- - -- --><loc>{}</loc></url>",
        "<url><loc><![CDATA[{}]]></loc><lastmod>{}</url>",
        "<loc>{}</loc>",
        "<sitemap><loc>{}</lco></sitemap>",
    ];
    prop_oneof![
        6 => proptest::sample::select(markups.to_vec()).prop_map(str::to_owned),
        1 => proptest::collection::vec(prop_oneof![2 => any_part(), 1 => Just("{}".to_owned())], 1..8)
            .prop_map(|parts| format!("<url>{}</url>", parts.concat())),
    ]
}

fn any_text() -> impl Strategy<Value = &'static str> {
    let plain = ["a", "b", "https://e.com/a-longer-url?with=parameters", "é"];
    let damaged = [
        "",
        " ",
        "\n",
        "c?d&e",
        "&nosuch;",
        "&amp;",
        "&eacute;&#1;&#xD800;",
        "f<g",
        "<",
        " < <",
        "<h i",
        "\u{1}",
        "j\u{FFFE}",
        "]]>",
        "]]",
        ">",
        "<!",
        "<![CDATA[",
        "<![CDATA[k]]>",
        "<!--",
        "<!-- l -- -->",
        "<?p q?>",
        "<b>",
        "</b>",
        "<url>",
        "</url>",
        "<loc>",
        "</loc>",
        "'",
        "\"",
        "<m n='",
        "&b<o;",
        "</urlset>",
        "<xhtml:link/>",
    ];
    prop_oneof![
        3 => proptest::sample::select(plain.to_vec()),
        1 => proptest::sample::select(damaged.to_vec()),
    ]
}

/// Entries of a few kinds of markup in any order, with texts.
fn any_entries() -> impl Strategy<Value = String> {
    let entry = (any::<proptest::sample::Index>(), proptest::collection::vec(any_text(), 4));
    (proptest::collection::vec(any_markup(), 1..4), proptest::collection::vec(entry, 1..14)).prop_map(
        |(markups, entries)| {
            let mut text = String::new();
            for (markup, texts) in entries {
                let mut texts = texts.into_iter().cycle();
                for (number, part) in markup.get(&markups).split("{}").enumerate() {
                    text.extend((number > 0).then(|| texts.next()).flatten());
                    text.push_str(part);
                }
            }
            text
        },
    )
}

fn file(entries: &str) -> String {
    format!("<urlset {NS} xmlns:sm='http://www.sitemaps.org/schemas/sitemap/0.9'>{entries}\n</urlset>\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]
    #[test]
    fn entries_with_equal_markup_are_repaired_as_without_patterns(entries in any_entries(), every in 1..4_usize) {
        let text = file(&entries);
        let (found, model) = (repair(text.as_bytes()).unwrap(), without_patterns(text.as_bytes()).unwrap());
        prop_assert_eq!(String::from_utf8_lossy(&found.bytes), String::from_utf8_lossy(&model.bytes), "{}", text);
        prop_assert_eq!(&found.repairs, &model.repairs, "{}", text);
        prop_assert_eq!(&found.anchors, &model.anchors, "{}", text);
        if are_sound_entries_kept(&text) {
            check_segments(&text, every)?;
            check_windows(&text, text.find('>').unwrap() + 1, every);
        }
    }
}

/// `]]>` of the output need not be in the file.
#[test]
fn text_behind_an_omitted_tag_continues_the_text_before_it() {
    for texts in ["a</x>>", "]]</x>>", "]</x>]></x>>", "]]></x>>"] {
        let text = file(&format!("<url>a</x>></url><url>{texts}</url>"));
        let (found, model) = (repair(text.as_bytes()).unwrap(), without_patterns(text.as_bytes()).unwrap());
        assert_eq!(String::from_utf8_lossy(&found.bytes), String::from_utf8_lossy(&model.bytes));
        assert_eq!(found.repairs, model.repairs, "{text}");
    }
}

/// A tag that lacks a quote ends earlier in the document than after it.
#[test]
fn an_entry_after_the_root_is_no_pattern() {
    let entry = "<url a=\"b><loc>a</loc></url>";
    let text = file(&format!("<url a=\"b><loc></urlset></loc></url>{}", entry.repeat(4)));
    let (found, model) = (repair(text.as_bytes()).unwrap(), by_tokens(text.as_bytes()).unwrap());
    assert_eq!(String::from_utf8_lossy(&found.bytes), String::from_utf8_lossy(&model.bytes));
}

/// Near the memory limit, a repair by patterns ends where a repair token by token ends.
#[test]
fn the_memory_limit_holds_for_patterns() {
    for entry in ["<url><x a=b><loc>&d\u{1}&e;<</lco></url>", "<url><x/>", "<url><b><loc>&\u{1}<</lco></url>"] {
        let text = file(&entry.repeat(110_000));
        let (found, model) = (repair(text.as_bytes()).unwrap(), by_tokens(text.as_bytes()).unwrap());
        assert!(found.repairs == model.repairs && found.anchors == model.anchors && found.bytes == model.bytes);
        assert!(model.repairs.iter().any(|repair| repair.kind == Defect::TooDamaged), "{entry}");
    }
}
