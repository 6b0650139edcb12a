//! Tests of extension edits, compared byte by byte.

use super::*;
use crate::xml::names::FileKind;
use proptest::prelude::*;

const ROOT: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\" xmlns:v=\"http://www.google.com/schemas/sitemap-video/1.1\" xmlns:xhtml=\"http://www.w3.org/1999/xhtml\">";

const ENTRY: &str = "
  <url>
    <loc>https://e.com/</loc>
    <image:image>
      <image:loc>https://e.com/1.png</image:loc>
      <image:title><![CDATA[ A & B ]]></image:title>
    </image:image>
    <image:image><image:loc>https://e.com/2.png</image:loc></image:image>
    <xhtml:link rel='alternate' hreflang='de' href='https://e.com/de'/>
    <foo:bar x=\"1\">kept</foo:bar>
  </url>";

fn names(root: &str) -> Names {
    let tag = markup::next(root.as_bytes(), 0).unwrap();
    Names::of_root(root.as_bytes(), &tag).unwrap()
}

fn path(text: &str) -> Path {
    Path::parse(text).unwrap()
}

fn set(path_text: &str, value: &str) -> ExtensionChange {
    ExtensionChange::Set { path: path(path_text), value: value.into() }
}

fn add(path_text: &str, values: &[(&str, &str)]) -> ExtensionChange {
    let element = path(path_text);
    let values = values.iter().map(|(below, value)| match *below {
        "" => (element.clone(), (*value).into()),
        below => (element.join(below).unwrap(), (*value).into()),
    });
    ExtensionChange::Add { path: element.clone(), values: values.collect() }
}

fn change(text: &str, root: &str, edit: &ExtensionChange) -> Result<Option<String>, String> {
    let new = edit_extension(text.as_bytes(), &names(root), edit).map_err(|fault| fault.0)?;
    Ok(new.map(|new| String::from_utf8(new).unwrap()))
}

/// Asserts that the change replaces exactly this part of the entry.
#[track_caller]
fn check(edit: &ExtensionChange, old: &str, new: &str) {
    assert_eq!(ENTRY.matches(old).count(), 1, "{old} once");
    assert_eq!(change(ENTRY, ROOT, edit), Ok(Some(ENTRY.replace(old, new))), "{edit:?}");
}

/// Asserts that the change only inserts text after this part of the entry.
#[track_caller]
fn check_after(edit: &ExtensionChange, old: &str, new: &str) {
    check(edit, old, &format!("{old}{new}"));
}

#[test]
fn values_are_changed_in_place() {
    check(&set("image/loc", "https://e.com/1.jpg"), "1.png", "1.jpg");
    check(&set("image[2]/loc", "https://e.com/2.png?a=1&b=2"), "2.png", "2.png?a=1&amp;b=2");
    check(&set("image/title", "A & C"), " A & B ", " A & C ");
    check(&set("link@hreflang", "fr"), "hreflang='de'", "hreflang='fr'");
    check(&set("link/href", "https://e.com/'x'"), "e.com/de", "e.com/&apos;x&apos;");
    check(&set("foo:bar", "other"), "kept", "other");
    check(&set("foo:bar@x", "2"), "x=\"1\"", "x=\"2\"");
}

#[test]
fn missing_elements_are_created_in_schema_order() {
    let first = "1.png</image:loc>";
    check_after(&set("image/caption", "C"), first, "\n      <image:caption>C</image:caption>");
    check_after(&set("image[2]/caption", "C"), "2.png</image:loc>", "<image:caption>C</image:caption>");
    check_after(&set("link@media", "print"), "href='https://e.com/de'", " media=\"print\"");
    check_after(
        &set("image[3]/loc", "https://e.com/3.png"),
        "2.png</image:loc></image:image>",
        "\n    <image:image>\n      <image:loc>https://e.com/3.png</image:loc>\n    </image:image>",
    );
    let last = "kept</foo:bar>";
    check_after(
        &add("video", &[("title", "T"), ("thumbnail_loc", "https://e.com/t.png")]),
        last,
        "\n    <v:video>\n      <v:thumbnail_loc>https://e.com/t.png</v:thumbnail_loc>\n      <v:title>T</v:title>\n    </v:video>",
    );
    check_after(
        &set("news/publication/name", "N"),
        last,
        "\n    <news:news xmlns:news=\"http://www.google.com/schemas/sitemap-news/0.9\">\n      <news:publication>\n        <news:name>N</news:name>\n      </news:publication>\n    </news:news>",
    );
    check_after(
        &add("link", &[("rel", "alternate"), ("hreflang", "fr"), ("href", "https://e.com/fr")]),
        "href='https://e.com/de'/>",
        "\n    <xhtml:link rel=\"alternate\" hreflang=\"fr\" href=\"https://e.com/fr\"/>",
    );
    check_after(
        &add("mobile", &[]),
        last,
        "\n    <mobile:mobile xmlns:mobile=\"http://www.google.com/schemas/sitemap-mobile/1.0\"/>",
    );
}

#[test]
fn removals_include_the_line() {
    check(&ExtensionChange::Remove(path("image/title")), "\n      <image:title><![CDATA[ A & B ]]></image:title>", "");
    let second = "\n    <image:image><image:loc>https://e.com/2.png</image:loc></image:image>";
    check(&ExtensionChange::Remove(path("image[2]")), second, "");
    check(&ExtensionChange::Remove(path("link@hreflang")), " hreflang='de'", "");
    check(&ExtensionChange::Remove(path("foo:bar")), "\n    <foo:bar x=\"1\">kept</foo:bar>", "");
    let without = change(ENTRY, ROOT, &ExtensionChange::Remove(path("image"))).unwrap().unwrap();
    assert!(!without.contains("image"), "without an index, all of them");
}

#[test]
fn an_equal_value_is_no_change() {
    for edit in [
        set("image/title", "A & B"),
        set("link@href", "https://e.com/de"),
        ExtensionChange::Remove(path("video")),
        ExtensionChange::Remove(path("image[3]")),
        ExtensionChange::Remove(path("link@media")),
    ] {
        assert_eq!(change(ENTRY, ROOT, &edit), Ok(None), "{edit:?}");
    }
}

#[test]
fn impossible_changes_are_refused_with_a_reason() {
    for (edit, words) in [
        (set("image", "x"), "contains elements"),
        (set("image[5]/loc", "x"), "there is no image[5], only 2"),
        (set("foo:new", "x"), "unknown namespace"),
        (add("video/tag", &[("", "x")]), "there is no video"),
        (set("image/title", "\u{1}"), "cannot be written"),
        (add("mobile", &[("", "x")]), "has no content"),
    ] {
        let error = change(ENTRY, ROOT, &edit).unwrap_err();
        assert!(error.contains(words), "{edit:?}: {error}");
    }
    let twice = "<url><loc>x</loc><mobile:mobile/></url>";
    assert!(change(twice, ROOT, &add("mobile", &[])).unwrap_err().contains("already"));
    for broken in ["<url><loc>x</loc>", "<url/>", ""] {
        assert!(change(broken, ROOT, &set("image/loc", "x")).is_err(), "{broken}");
    }
}

#[test]
fn one_line_files_and_empty_tags_keep_their_layout() {
    let line = "<url><loc>x</loc><image:image/></url>";
    for (edit, expected) in [
        (set("image/loc", "u"), "<url><loc>x</loc><image:image><image:loc>u</image:loc></image:image></url>"),
        (add("link", &[("href", "h")]), "<url><loc>x</loc><image:image/><xhtml:link href=\"h\"/></url>"),
    ] {
        assert_eq!(change(line, ROOT, &edit), Ok(Some(expected.to_owned())), "{edit:?}");
    }
    for element in ["<a:b/>", "<a:b></a:b>", "<a:b> </a:b>"] {
        let text = format!("<url><loc>x</loc>{element}</url>");
        let new = edit_extension(text.as_bytes(), &names(ROOT), &set("a:b", "v")).unwrap().unwrap();
        assert_eq!(String::from_utf8(new).unwrap(), "<url><loc>x</loc><a:b>v</a:b></url>", "{element}");
    }
    assert_eq!(Names::plain(FileKind::Urlset).prefix_of(crate::protocol::namespace::Namespace::Image), None);
}

#[test]
fn adding_several_elements_equals_adding_them_one_by_one() {
    let bare = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">";
    let texts = [
        ENTRY,
        "<url><loc>x</loc></url>",
        "\n  <url>\n    <loc>x</loc>\n    <v:video/>\n  </url>",
        "<url><loc>x</loc><v:video><v:tag>a</v:tag><v:uploader>u</v:uploader></v:video></url>",
    ];
    let elements = [
        ("link", vec![("@hreflang", "de"), ("@href", "https://e.com/?a&b")]),
        ("image", vec![("loc", "https://e.com/3.png"), ("title", "3")]),
        ("video/tag", vec![("", "tag")]),
        ("video", vec![("title", "t"), ("price@currency", "EUR")]),
        ("news", vec![("title", "t")]),
    ];
    for (text, root) in texts.iter().flat_map(|text| [(text, ROOT), (text, bare)]) {
        for (element, values) in &elements {
            let ExtensionChange::Add { path, values } = add(element, values) else { unreachable!() };
            for count in 1..4 {
                let each = |text: Result<Vec<u8>, ExtensionError>, _| {
                    let edit = ExtensionChange::Add { path: path.clone(), values: values.clone() };
                    text.and_then(|text| Ok(edit_extension(&text, &names(root), &edit)?.unwrap_or(text)))
                };
                let one_by_one = (0..count).fold(Ok(text.as_bytes().to_vec()), each);
                let at_once = edit_extensions(text.as_bytes(), &names(root), &path, &vec![values.clone(); count]);
                assert_eq!(at_once.is_ok(), one_by_one.is_ok(), "{count} {element} in {text}");
                if let (Ok(at_once), Ok(one_by_one)) = (at_once, one_by_one) {
                    let [at_once, one_by_one] = [at_once, one_by_one].map(|text| String::from_utf8(text).unwrap());
                    assert_eq!(at_once, one_by_one, "{count} {element} in {text}");
                }
            }
        }
    }
}

fn any_path() -> impl Strategy<Value = Path> {
    prop::sample::select(vec![
        "image/loc",
        "image/title",
        "image[2]/caption",
        "image[3]/license",
        "video/title",
        "video/duration",
        "video/price@currency",
        "video/player_loc",
        "news/publication/language",
        "news/title",
        "link@href",
        "link[2]@hreflang",
        "geo/format",
        "PageMap/DataObject/Attribute@name",
        "codesearch/filetype",
    ])
    .prop_map(path)
}

proptest! {
    /// Values that are set are read back, the rest is unchanged, and removing everything again never breaks the entry.
    #[test]
    fn edited_values_are_read_back(edits in prop::collection::vec((any_path(), "[a-z<&'\" ]{1,8}"), 1..12)) {
        let names = names(ROOT);
        let mut text = ENTRY.as_bytes().to_vec();
        for (place, value) in edits {
            let value = value.trim();
            let edit = ExtensionChange::Set { path: place.clone(), value: value.into() };
            match edit_extension(&text, &names, &edit) {
                Ok(new) => text = new.unwrap_or(text),
                Err(ExtensionError(reason)) => {
                    prop_assert!(reason.contains("there is no"), "{}: {}", place, reason);
                    continue;
                }
            }
            let read = value_at(&text, &names, &place);
            prop_assert_eq!(read.as_deref().unwrap_or_default(), value, "{}", String::from_utf8_lossy(&text));
            prop_assert_eq!(edit_extension(&text, &names, &edit), Ok(None), "twice is once");
            let entry = Entry::of(&text, &names);
            prop_assert!(!entry.anomalies.contains(Anomalies::BROKEN));
            let loc = entry.value(crate::protocol::Field::Loc, &text).map(std::borrow::Cow::into_owned);
            prop_assert_eq!(loc.as_deref(), Some("https://e.com/"));
            let kept = value_at(&text, &names, &self::path("foo:bar"));
            prop_assert_eq!(kept.as_deref(), Some("kept"));
        }
    }

    #[test]
    fn any_bytes_are_accepted(text in "(<url>|</url>|<loc>|</loc>|<image:image|>|/>|</image:image>|<image:loc>| x='|<!--|-->|<!\\[CDATA\\[|\\]\\]>|&|é){0,20}", place in any_path()) {
        let names = names(ROOT);
        for edit in [ExtensionChange::Set { path: place.clone(), value: "v".into() }, ExtensionChange::Remove(place.clone())] {
            let _ = edit_extension(text.as_bytes(), &names, &edit);
        }
        let _ = value_at(text.as_bytes(), &names, &place);
    }
}
