//! The details: extensions added, changed and removed where they are read.

use super::bench::Bench;
use crate::protocol::Field;
use crate::tui::app::Mode;

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

fn line(bench: &Bench) -> String {
    let Mode::Line(edit) = &bench.app.mode else { panic!("no line is open") };
    edit.prompt.text().to_owned()
}

#[test]
fn values_of_extensions_are_edited_where_they_are_read() {
    let mut bench = Bench::file(IMAGES);
    // lastmod, changefreq, priority, image, image/loc
    bench.keys("<f6>jjjj<enter>");
    assert_eq!(line(&bench), "ext set image/loc=https://example.com/1.png");
    bench.keys("<bs><bs><bs>jpg");
    bench.shows("1 change");
    bench.keys("<enter>");
    assert!(matches!(bench.app.mode, Mode::Detail), "back where it was read");
    bench.shows("image/loc set to https://example.com/1.jpg on 1 row");
    bench.keys("<c-s>");
    assert_eq!(bench.on_disk(), IMAGES.replace("1.png", "1.jpg"), "and nothing else");
    bench.keys("atitle=\"A & B\"<enter><c-s>");
    let title = "1.jpg</image:loc>\n      <image:title>A &amp; B</image:title>";
    assert_eq!(bench.on_disk(), IMAGES.replace("1.png</image:loc>", title));
    bench.keys("jx<c-s>");
    assert_eq!(bench.on_disk(), IMAGES.replace("1.png", "1.jpg"), "removed with its line");
    bench.keys("uuu<c-s>");
    assert_eq!(bench.on_disk(), IMAGES);
    assert!(matches!(bench.app.mode, Mode::Detail));
    bench.keys("<esc>");
    assert!(matches!(bench.app.mode, Mode::Grid));
}

#[test]
fn fields_are_edited_from_the_details_too() {
    let mut bench = Bench::file(IMAGES);
    bench.keys("<f6>jj<enter><c-u>0.9<enter>");
    assert_eq!(bench.cells(Field::Priority)[0], "0.9");
    bench.keys("x");
    assert_eq!(bench.cells(Field::Priority)[0], "none");
    assert!(matches!(bench.app.mode, Mode::Detail));
}

#[test]
fn extensions_are_added_to_this_row_alone() {
    let mut bench = Bench::file(IMAGES);
    bench.keys("<space><space>gg<f6>o");
    assert_eq!(line(&bench), "ext add ");
    bench.shows("news");
    bench.keys("link rel=alternate hreflang=de href=https://example.com/de");
    bench.shows("add link to this row");
    bench.keys("<enter><esc>");
    assert_eq!(bench.app.session.changed(), 1, "although two are marked");
    bench.shows("hl");
    bench.keys("j:ext remove image<enter>");
    assert_eq!(bench.app.session.changed(), 1, "the marked rows: one has images, and is changed already");
}

#[test]
fn the_verdict_on_an_extension_follows_the_typing() {
    let mut bench = Bench::file(IMAGES);
    bench.keys("<f6>o").keys("video title=T thumbnail_loc=https://example.com/t.png duration=0");
    bench.shows("video-");
    bench.keys("<esc>o").keys("image loc=relative.png");
    bench.shows("loc-not-absolute");
    bench.keys("<esc>o").keys("image loc=https://example.com/new.png");
    assert!(!bench.screen().contains("✗ "), "{}", bench.screen());
}

#[test]
fn what_cannot_be_is_said_in_place() {
    let mut bench = Bench::file(IMAGES);
    bench.keys("<f6>o").keys("image/duration=3");
    bench.shows("image has no duration; expected loc");
    bench.keys("<esc>GGG<f6>");
    let mut bench = Bench::file(IMAGES);
    bench.keys("j:ext add video/tag=x<enter>");
    bench.shows("nothing changed: there is no video to add it to");
}

#[test]
fn a_wrong_namespace_is_told_with_who_minds() {
    let mut bench = Bench::file(&IMAGES.replace("http://www.sitemaps.org", "https://www.sitemaps.org"));
    bench.keys("gv");
    bench.shows("namespace   https://www.sitemaps.org/schemas/sitemap/0.9");
    bench.shows("protocol ✗  schema ✗  Google ✗  Bing -  Yandex -");
    let mut bench = Bench::file(IMAGES);
    bench.keys("gv");
    assert!(!bench.screen().contains("namespace   "), "{}", bench.screen());
}
