//! Tests of the details pane: extensions added, changed and removed.

use super::bench::Bench;
use crate::protocol::Field;
use crate::tui::app::modes::Mode;

const IMAGES: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\">
  <url>
    <loc>https://example.com/</loc>
    <priority>0.5</priority>
    <image:image>
      <image:loc>https://example.com/1.png</image:loc>
    </image:image>
  </url>
  <url><loc>https://example.com/2</loc></url>
</urlset>
";

#[test]
fn extension_values_are_edited_in_the_details() {
    let mut bench = Bench::file(IMAGES);
    // lastmod, changefreq, priority, image, image/loc
    bench.keys("<f6>jjjj<enter>");
    assert!(matches!(bench.app.modes.current(), Mode::Element(_)), "{}", bench.screen());
    bench.shows("EDIT image/loc");
    bench.shows("loc  https://example.com/1.png▏");
    bench.keys("<bs><bs><bs>jpg");
    bench.shows("1 change");
    bench.keys("<enter>");
    assert!(matches!(bench.app.modes.current(), Mode::Details), "back where it was read");
    bench.shows("image/loc set to https://example.com/1.jpg on 1 row");
    bench.keys("<c-s>");
    assert_eq!(bench.on_disk(), IMAGES.replace("1.png", "1.jpg"), "and nothing else");
    bench.keys("a");
    bench.shows("add an element");
    bench.keys("tit<enter>");
    bench.shows("ADD image[1]/title");
    bench.keys("A & B<enter><c-s>");
    let title = "1.jpg</image:loc>\n      <image:title>A &amp; B</image:title>";
    assert_eq!(bench.on_disk(), IMAGES.replace("1.png</image:loc>", title));
    bench.keys("jx<c-s>");
    assert_eq!(bench.on_disk(), IMAGES.replace("1.png", "1.jpg"), "removed with its line");
    bench.keys("uuu<c-s>");
    assert_eq!(bench.on_disk(), IMAGES);
    assert!(matches!(bench.app.modes.current(), Mode::Details));
    bench.keys("<esc>");
    assert!(matches!(bench.app.modes.current(), Mode::Table));
}

#[test]
fn an_unedited_element_makes_no_change() {
    let mut bench = Bench::file(IMAGES);
    bench.keys("<f6>jjjj<enter><bs>x<esc>");
    bench.shows("https://example.com/1.png");
    bench.keys("<enter><enter>");
    assert_eq!(bench.message(), "nothing was typed; the row is unchanged");
    bench.keys("o<esc>ozzz<enter>");
    assert!(!bench.app.shared.session.is_modified());
    assert!(matches!(bench.app.modes.current(), Mode::Details));
}

#[test]
fn fields_can_be_edited_in_the_details() {
    let mut bench = Bench::file(IMAGES);
    bench.keys("<f6>jj<enter><c-u>0.9<enter>");
    assert_eq!(bench.cells(Field::Priority)[0], "0.9");
    bench.keys("x");
    assert_eq!(bench.cells(Field::Priority)[0], "none");
    assert!(matches!(bench.app.modes.current(), Mode::Details));
}

#[test]
fn extensions_are_added_to_this_row_only() {
    let mut bench = Bench::file(IMAGES);
    bench.keys("<space><space>gg<f6>o");
    for words in ["news", "a video on the page", "the page in another language"] {
        bench.shows(words);
    }
    bench.keys("link<enter>");
    bench.shows("ADD link");
    bench.keys("de<enter>");
    bench.shows("href      ▏required");
    bench.keys("https://example.com/de");
    bench.shows("add link to this row");
    bench.keys("<enter><esc>");
    assert_eq!(bench.app.shared.session.view().changed(), 1, "although two are marked");
    bench.keys("<c-s>");
    let on_disk = bench.on_disk();
    assert!(on_disk.contains("rel=\"alternate\""), "{on_disk}");
    assert!(on_disk.contains("hreflang=\"de\"") && on_disk.contains("href=\"https://example.com/de\""), "{on_disk}");
    bench.keys("j:ext remove image<enter>");
    assert_eq!(bench.app.shared.session.view().changed(), 1, "the marked rows: one has images");
}

#[test]
fn the_verdict_on_an_extension_is_updated_while_typing() {
    let mut bench = Bench::file(IMAGES);
    bench.keys("<f6>oimage<enter>relative.png");
    bench.shows("loc-not-absolute");
    bench.keys("<esc>oimage<enter>https://example.com/new.png");
    assert!(!bench.screen().contains("✗ "), "{}", bench.screen());
    bench.keys("<esc>ovideo<enter>");
    for words in ["thumbnail_loc", "title", "description", "content_loc", "player_loc"] {
        bench.shows(words);
    }
    bench.keys("https://example.com/t.png<enter>T");
    bench.shows("video-");
    // Values of an enumeration are completed.
    bench.keys("<esc>o<esc>jjjaca<enter>words<enter>");
    bench.shows("caption");
}

#[test]
fn the_element_and_the_field_with_a_finding_have_a_sign() {
    let text = IMAGES.replace("https://example.com/1.png", "1.png").replace("0.5", "1.5");
    let mut bench = Bench::file(&text);
    bench.keys("gv");
    bench.shows("✗ image:loc");
    bench.shows("priority    ✗ 1.5");
    assert!(!bench.screen().contains("✗ image:image"), "{}", bench.screen());
    let mut bench = Bench::file(IMAGES);
    bench.keys("gv");
    assert!(!bench.screen().contains("✗ image"), "{}", bench.screen());
}

#[test]
fn invalid_input_is_reported_in_the_pane() {
    let mut bench = Bench::file(IMAGES);
    bench.keys(":ext add image/duration=3");
    bench.shows("image has no duration; expected loc");
    let mut bench = Bench::file(IMAGES);
    bench.keys("j:ext add video/tag=x<enter>");
    bench.shows("nothing changed: there is no video to add it to");
}

#[test]
fn a_wrong_namespace_is_shown_with_the_search_engines_that_reject_it() {
    let mut bench = Bench::file(&IMAGES.replace("http://www.sitemaps.org", "https://www.sitemaps.org"));
    bench.keys("gv");
    bench.shows("namespace   https://www.sitemaps.org/schemas/sitemap/0.9");
    bench.shows("protocol ✗  schema ✗  Google ✗  Bing -  Yandex -");
    let mut bench = Bench::file(IMAGES);
    bench.keys("gv");
    assert!(!bench.screen().contains("namespace   "), "{}", bench.screen());
}
