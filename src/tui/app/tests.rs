//! Key journeys: strings of keys go in, effects are run on the spot, rows and screens are looked at.

use super::{App, Effect, Event, Mode, Start};
use crate::files::Options;
use crate::progress::Progress;
use crate::protocol::Field;
use crate::protocol::lastmod::Now;
use crate::session::Session;
use crate::tui::draw::tests::text;
use crate::tui::jobs::Finished;
use crate::tui::text::Charset;
use crate::tui::theme::{Scheme, Theme};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::cell::RefCell;
use std::path::PathBuf;

/// 2026-11-20T09:14:07Z, where clocks show an hour more.
const NOW: Now = Now { seconds: 1_795_166_047, offset: 3600 };

const SMALL: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">
  <url><loc>https://example.com/</loc><lastmod>2026-11-02</lastmod><priority>1.0</priority></url>
  <url><loc>https://example.com/shop/tea</loc><lastmod>2026-10-05</lastmod><changefreq>weekly</changefreq><priority>0.2</priority></url>
  <url><loc>https://example.com/shop/cups</loc><lastmod>2026-13-01</lastmod><changefreq>weekly</changefreq></url>
  <url><loc>https://example.com/blog/old post</loc><priority>0.2</priority></url>
</urlset>
";

/// The program without a terminal.
struct Bench {
    app: App,
    copied: Vec<String>,
    status: Option<u8>,
    suspended: Vec<String>,
    folder: Option<tempfile::TempDir>,
}

impl Bench {
    fn start(start: Start, size: (u16, u16), theme: &Theme) -> Self {
        let app = App::new(Session::new(NOW, None), *theme, size);
        let mut bench = Self { app, copied: Vec::new(), status: None, suspended: Vec::new(), folder: None };
        let effects = bench.app.start(start, Options::default());
        bench.effects(effects);
        bench
    }

    fn sample(columns: u16, rows: u16) -> Self {
        Self::start(Start::Sample, (columns, rows), &Theme::default())
    }

    /// A file of its own with this text.
    fn file(xml: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sitemap.xml");
        std::fs::write(&path, xml).unwrap();
        let bench = Self::start(Start::Path(path), (120, 30), &Theme::default());
        Self { folder: Some(folder), ..bench }
    }

    fn path(&self) -> PathBuf {
        self.folder.as_ref().unwrap().path().join("sitemap.xml")
    }

    fn on_disk(&self) -> String {
        std::fs::read_to_string(self.path()).unwrap()
    }

    fn effects(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Spawn(kind, work) => {
                    let parts = RefCell::new(Vec::new());
                    let outcome = work(&Progress::default(), &|part| parts.borrow_mut().push(part));
                    for part in parts.into_inner() {
                        self.send(Event::Part(part));
                    }
                    self.send(Event::Done(Finished { kind, number: 0, outcome: Some(outcome) }));
                }
                Effect::Copy(text) => self.copied.push(text),
                Effect::Suspend(words) => self.suspended.push(words),
                Effect::Quit(status) => self.status = Some(status),
                Effect::Cancel(_) | Effect::Reclaim | Effect::Repaint | Effect::Mouse(_) | Effect::Wake(..) => {}
            }
        }
    }

    fn send(&mut self, event: Event) {
        let effects = self.app.update(event);
        self.effects(effects);
    }

    /// Types: characters as they are, others by name: `<enter>`, `<c-s>`, `<space>`.
    #[track_caller]
    fn keys(&mut self, keys: &str) -> &mut Self {
        let mut rest = keys;
        while let Some(first) = rest.chars().next() {
            let named = rest.strip_prefix('<').and_then(|after| after.split_once('>'));
            let (name, after) = match named {
                Some((name, after)) if !name.is_empty() && !name.contains(['=', ' ', '<']) => (name, after),
                _ => (&rest[..first.len_utf8()], &rest[first.len_utf8()..]),
            };
            rest = after;
            let (modifiers, name) = match name.strip_prefix("c-") {
                Some(name) => (KeyModifiers::CONTROL, name),
                None => (KeyModifiers::NONE, name),
            };
            let code = match name {
                "enter" => KeyCode::Enter,
                "esc" => KeyCode::Esc,
                "tab" => KeyCode::Tab,
                "backtab" => KeyCode::BackTab,
                "space" => KeyCode::Char(' '),
                "up" => KeyCode::Up,
                "down" => KeyCode::Down,
                "left" => KeyCode::Left,
                "right" => KeyCode::Right,
                "bs" => KeyCode::Backspace,
                "del" => KeyCode::Delete,
                "pgdn" => KeyCode::PageDown,
                "lt" => KeyCode::Char('<'),
                "gt" => KeyCode::Char('>'),
                one if one.chars().count() == 1 => KeyCode::Char(one.chars().next().unwrap()),
                other => panic!("no key {other}"),
            };
            self.send(Event::Key(KeyEvent::new(code, modifiers)));
        }
        self
    }

    fn paste(&mut self, text: &str) -> &mut Self {
        self.send(Event::Paste(text.to_owned()));
        self
    }

    fn cells(&self, field: Field) -> Vec<String> {
        let session = &self.app.session;
        (0..session.shown())
            .map(|at| session.row_at(at).unwrap())
            .map(|row| session.cell(row, field).map_or_else(|| "none".to_owned(), std::borrow::Cow::into_owned))
            .collect()
    }

    fn paths(&self) -> Vec<String> {
        self.cells(Field::Loc).iter().map(|loc| loc.replace("https://example.com", "")).collect()
    }

    fn screen(&self) -> String {
        let (columns, rows) = self.app.size;
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        let frame = terminal.draw(|frame| crate::tui::draw(&self.app, frame)).unwrap();
        text(frame.buffer)
    }

    fn says(&self) -> String {
        let message = self.app.message.as_ref().expect("nothing is said");
        message.words.pieces().iter().map(|(_, text)| text.as_ref()).collect()
    }

    #[track_caller]
    fn shows(&self, words: &str) {
        let screen = self.screen();
        assert!(screen.contains(words), "no {words:?} in\n{screen}");
    }
}

#[test]
fn a_cell_is_edited_and_undone() {
    let mut bench = Bench::file(SMALL);
    bench.keys("jjlc2026-11-3<tab><enter>");
    assert_eq!(bench.cells(Field::Lastmod)[2], "2026-11-03", "Tab takes the suggestion");
    bench.shows("modified");
    assert!(bench.on_disk().contains("2026-13-01"), "nothing is written before a save");
    bench.keys("u");
    assert_eq!(bench.cells(Field::Lastmod)[2], "2026-13-01");
    assert!(!bench.screen().contains("modified"));
    bench.keys("<c-r>");
    assert_eq!(bench.cells(Field::Lastmod)[2], "2026-11-03");
}

#[test]
fn dates_are_typed_in_words() {
    for (typed, expected) in
        [("today", "2026-11-20"), ("now", "2026-11-20T10:14:07+01:00"), ("+7d", "2026-11-09"), ("-1d", "2026-11-01")]
    {
        let mut bench = Bench::file(SMALL);
        bench.keys(&format!("lc{typed}<enter>"));
        assert_eq!(bench.cells(Field::Lastmod)[0], expected, "{typed}");
    }
    let mut bench = Bench::file(SMALL);
    bench.keys("lcnone<enter>");
    assert_eq!(bench.cells(Field::Lastmod)[0], "none");
}

#[test]
fn a_frequency_is_a_letter_or_an_arrow() {
    let mut bench = Bench::file(SMALL);
    bench.keys("jlld");
    bench.keys("<esc>");
    bench.keys("id<enter>");
    assert_eq!(bench.cells(Field::Changefreq)[1], "daily");
    bench.keys("i<down><down><enter>");
    assert_eq!(bench.cells(Field::Changefreq)[1], "monthly");
    bench.keys("jjcx<enter>");
    assert_eq!(bench.cells(Field::Changefreq)[3], "x", "what is typed is kept, with its finding");
    bench.shows("changefreq-");
}

#[test]
fn leaving_a_cell_keeps_or_drops() {
    let mut bench = Bench::file(SMALL);
    bench.keys("jlllc0.9<tab>");
    assert!(matches!(bench.app.mode, Mode::Cell(_)), "Tab goes on to the next cell");
    bench.keys("<esc>");
    assert_eq!(bench.cells(Field::Priority)[1], "0.9");
    bench.keys("gg$c0.7<down>");
    assert_eq!(bench.cells(Field::Priority)[0], "0.7");
    assert_eq!(bench.app.grid.position, 1);
    bench.keys("c0.1<esc>");
    assert_eq!(bench.cells(Field::Priority)[1], "0.9", "Esc drops");
    bench.keys("i<up><enter>");
    assert_eq!(bench.cells(Field::Priority)[1], "0.1", "and ↑ brings it back");
}

#[test]
fn rows_are_added_deleted_copied() {
    let mut bench = Bench::file(SMALL);
    bench.keys("onew page<enter>");
    assert_eq!(bench.paths(), ["/", "/new page", "/shop/tea", "/shop/cups", "/blog/old post"]);
    assert_eq!(bench.app.grid.position, 1, "the cursor is on the new row");
    bench.keys("Ofirst<enter>");
    assert_eq!(bench.paths()[1], "/first");
    bench.keys("dd");
    bench.shows("−");
    bench.keys("uu");
    assert_eq!(bench.paths()[1], "/new page");
    bench.keys("uY");
    assert_eq!(bench.paths(), ["/", "/", "/shop/tea", "/shop/cups", "/blog/old post"]);
}

#[test]
fn one_d_does_nothing_and_says_what_may_follow() {
    let mut bench = Bench::file(SMALL);
    bench.keys("d");
    bench.shows("delete rows");
    bench.keys("<esc>");
    assert!(bench.app.keymap.pending().is_empty());
    bench.keys("<space>5<esc>");
    assert_eq!(bench.app.session.marked(), 1, "Esc drops the count first, the marks next");
    bench.keys("<esc>gg3dd");
    assert_eq!(bench.app.session.urls(), 1);
    bench.keys("u");
    assert_eq!(bench.app.session.urls(), 4);
}

#[test]
fn a_pasted_list_becomes_rows_and_never_keys() {
    let mut bench = Bench::file(SMALL);
    bench.paste("https://example.com/one\r\nhttps://example.com/\nddq\n");
    bench.shows("3 URLs pasted");
    bench.shows("1 in the set already");
    bench.shows("1 no http or https URL");
    assert_eq!(bench.app.session.urls(), 4, "nothing happens before Enter");
    bench.keys("<enter>");
    assert_eq!(bench.app.session.urls(), 7);
    assert_eq!(bench.paths()[1], "/one");
    bench.keys("u");
    assert_eq!(bench.app.session.urls(), 4, "one step");
    bench.keys("i").paste("a\nb").keys("<esc>");
    assert_eq!(bench.app.session.urls(), 4);
}

#[test]
fn values_are_nudged() {
    let mut bench = Bench::file(SMALL);
    bench.keys("j$<gt><gt>");
    assert_eq!(bench.cells(Field::Priority)[1], "0.4");
    bench.keys("h<gt>");
    assert_ne!(bench.cells(Field::Changefreq)[1], "weekly");
    bench.keys("h<lt>");
    assert_eq!(bench.cells(Field::Lastmod)[1], "2026-10-04");
    bench.keys("gg<space><space>$<gt>");
    assert_eq!(bench.cells(Field::Priority)[..2], ["1.0", "0.5"], "marked rows together; 1.0 is the end");
    bench.keys("<esc>ggj3<lt>");
    assert_eq!(bench.cells(Field::Priority)[1], "0.2", "a count is how far");
    bench.keys("u");
    assert_eq!(bench.cells(Field::Priority)[1], "0.5", "and one step");
}

#[test]
fn dot_does_it_again() {
    let mut bench = Bench::file(SMALL);
    bench.keys("$c0.8<enter>j.j.");
    assert_eq!(bench.cells(Field::Priority), ["0.8", "0.8", "0.8", "0.2"]);
}

#[test]
fn today_is_one_key() {
    let mut bench = Bench::file(SMALL);
    bench.keys("t");
    assert_eq!(bench.cells(Field::Lastmod)[0], "2026-11-20");
    bench.keys("T");
    bench.shows("a week later");
    bench.keys("jj<enter>");
    assert_eq!(bench.cells(Field::Lastmod)[0], "2026-11-21");
}

#[test]
fn many_rows_are_set_at_once() {
    let mut bench = Bench::file(SMALL);
    bench.keys(":set priority=0.5 where path:/shop/*");
    bench.shows("set priority to 0.5 on 2 of 4 rows (where)");
    bench.shows("2 change");
    bench.keys("<enter>");
    assert_eq!(bench.cells(Field::Priority), ["1.0", "0.5", "0.5", "0.2"]);
    bench.keys("u");
    assert_eq!(bench.cells(Field::Priority), ["1.0", "0.2", "none", "0.2"], "one step");
    bench.keys(":%set priority=+0.1<enter>");
    bench.keys("u:set changefreq=none<enter>");
    assert_eq!(bench.cells(Field::Changefreq)[1], "weekly", "without where: the current row only");
}

#[test]
fn the_bulk_dialog_writes_its_command() {
    let mut bench = Bench::file(SMALL);
    bench.keys("fshop<enter>b0.7");
    bench.shows(":%set priority=0.7");
    bench.shows("all 2 shown");
    bench.keys("<enter><esc>");
    assert_eq!(bench.cells(Field::Priority), ["1.0", "0.7", "0.7", "0.2"]);
    bench.keys("gg<space>b<up>weekly<enter>");
    assert_eq!(bench.cells(Field::Changefreq), ["weekly", "weekly", "weekly", "none"], "the marked row");
    bench.keys("<esc>B");
    bench.shows(":set changefreq=weekly");
}

#[test]
fn urls_are_rewritten_with_a_preview() {
    let mut bench = Bench::file(SMALL);
    bench.keys("R");
    bench.keys("/shop/(\\w+)//store/$1/<bs><bs>");
    bench.keys("<esc>");
    bench.keys(":%s#/shop/(\\w+)#/store/$1#");
    bench.shows("rewrite URLs in 4 rows");
    bench.shows("/store/tea");
    bench.keys("<enter>");
    assert_eq!(bench.paths(), ["/", "/store/tea", "/store/cups", "/blog/old post"]);
    bench.keys(":%s#/store/.*#/same#");
    bench.shows("1 URL would be the same as another row's");
}

#[test]
fn the_filter_follows_the_typing() {
    let mut bench = Bench::file(SMALL);
    bench.keys("fpriority<lt>0.5");
    assert_eq!(bench.paths(), ["/shop/tea", "/blog/old post"], "before Enter");
    bench.shows("2 of 4 shown");
    bench.keys("<esc>");
    assert_eq!(bench.paths().len(), 4, "Esc goes back");
    for half in ["f", "p", "r", "iority", "<lt>"] {
        bench.keys(half);
        assert_eq!(bench.paths().len(), 4, "half a query changes nothing: {half}");
    }
    bench.keys("0.5<enter>");
    assert_eq!(bench.paths().len(), 2);
    bench.keys("<esc>");
    assert_eq!(bench.paths().len(), 4);
    bench.keys("fnothing-like-this<enter>");
    bench.shows("Nothing matches the filter.");
    bench.keys("F");
    bench.keys("jl=");
    assert_eq!(bench.paths(), ["/shop/tea"], "the value under the cursor");
    bench.keys("F!");
    assert_eq!(bench.paths(), ["/shop/cups", "/blog/old post"]);
}

#[test]
fn sorting_is_a_view_and_can_become_the_order() {
    let mut bench = Bench::file(SMALL);
    bench.keys("$s");
    assert_eq!(bench.cells(Field::Priority), ["0.2", "0.2", "1.0", "none"]);
    bench.keys("s");
    assert_eq!(bench.cells(Field::Priority)[0], "1.0");
    bench.keys("s");
    assert_eq!(bench.paths()[0], "/");
    assert!(!bench.app.session.is_modified());
    bench.keys(":sort -loc<enter>:apply-order<enter>:nosort<enter>");
    assert_eq!(bench.paths(), ["/shop/tea", "/shop/cups", "/blog/old post", "/"]);
    assert!(bench.app.session.is_modified());
    bench.keys("u");
    assert!(!bench.app.session.is_modified());
}

#[test]
fn searching_goes_round() {
    let mut bench = Bench::file(SMALL);
    bench.keys("/shop");
    assert_eq!(bench.app.grid.position, 1, "while it is typed");
    bench.keys("<enter>n");
    assert_eq!(bench.app.grid.position, 2);
    bench.keys("n");
    assert_eq!(bench.app.grid.position, 1);
    assert!(bench.says().contains("round"));
    bench.keys("N");
    assert_eq!(bench.app.grid.position, 2);
    bench.keys("gg}");
    assert_eq!(bench.app.grid.position, 2, "the next row with an error");
    bench.keys("gg/nowhere<esc>");
    assert_eq!(bench.app.grid.position, 0);
}

#[test]
fn marks_are_made_in_every_way() {
    let mut bench = Bench::file(SMALL);
    let marked = |bench: &Bench| bench.app.session.marked();
    bench.keys("<space><space>");
    assert_eq!((marked(&bench), bench.app.grid.position), (2, 2));
    bench.keys("*");
    assert_eq!(marked(&bench), 2);
    bench.keys("<esc>");
    assert_eq!(marked(&bench), 0);
    bench.keys("ggvjjv");
    assert_eq!(marked(&bench), 3);
    bench.keys("-shop<enter>");
    assert_eq!(marked(&bench), 1);
    bench.keys("+shop<enter>ga");
    assert_eq!(marked(&bench), 4);
    bench.keys("<esc>ggvj");
    bench.keys("dd");
    assert_eq!(bench.app.session.urls(), 2, "an open range counts");
}

#[test]
fn the_pane_names_what_is_wrong_and_fixes_it() {
    let mut bench = Bench::file(SMALL);
    bench.shows("2 errors");
    bench.keys("G");
    bench.shows("gx");
    bench.keys("gx");
    assert_eq!(bench.paths()[3], "/blog/old%20post");
    bench.shows("1 error");
    bench.keys("u<c-e>");
    bench.shows("lastmod-impossible");
    bench.keys("<enter>");
    assert_eq!(bench.app.session.shown(), 1, "choosing a rule shows its rows");
    bench.keys("<esc>GK");
    bench.shows("source:");
}

#[test]
fn a_save_changes_only_what_was_changed() {
    let mut bench = Bench::file(SMALL);
    bench.keys("j$c0.8<enter><c-s>");
    assert_eq!(bench.on_disk(), SMALL.replacen("<priority>0.2", "<priority>0.8", 1));
    bench.shows("saved");
    assert!(!bench.screen().contains("modified"));
    bench.keys("c0.3");
    bench.keys("<c-s>");
    assert!(bench.on_disk().contains("<priority>0.3"), "a save takes the open cell along");
    bench.keys("u");
    bench.shows("modified");
    bench.keys("<c-r>");
    assert!(!bench.app.session.is_modified(), "redone to the saved state it is clean");
}

#[test]
fn leaving_asks_only_when_something_is_lost() {
    let mut bench = Bench::file(SMALL);
    bench.keys("q");
    assert_eq!(bench.status, Some(0));
    let mut bench = Bench::file(SMALL);
    bench.keys("t").keys("q");
    assert_eq!(bench.status, None);
    bench.shows("1 changed row not saved");
    bench.keys("<enter>");
    assert_eq!(bench.status, None, "Enter keeps editing");
    bench.keys("qd<esc>");
    assert_eq!(bench.status, None, "a small d is not enough");
    bench.keys("qD");
    assert_eq!(bench.status, Some(0));
    assert_eq!(bench.on_disk(), SMALL);
    let mut bench = Bench::file(SMALL);
    bench.keys("tqs");
    assert_eq!(bench.status, Some(0));
    assert!(bench.on_disk().contains("2026-11-20"));
    let mut bench = Bench::file(SMALL);
    bench.keys("tZZ");
    assert_eq!(bench.status, Some(0));
    let mut bench = Bench::file(SMALL);
    bench.keys("t<c-c><c-c>");
    assert_eq!(bench.status, None, "Ctrl-C never quits");
    bench.keys("ZQ");
    assert_eq!(bench.status, Some(0));
}

#[test]
fn copies_go_to_the_terminal() {
    let mut bench = Bench::file(SMALL);
    bench.keys("yuyc2yyyx");
    assert_eq!(bench.copied[0], "https://example.com/");
    assert_eq!(bench.copied[1], "https://example.com/");
    assert!(bench.copied[2].starts_with("https://example.com/\t2026-11-02\t\t1.0\n"));
    assert!(bench.copied[3].starts_with("<url><loc>"));
    bench.keys("jyuGp");
    assert_eq!(bench.paths()[4], "/shop/tea");
}

#[test]
fn the_palette_finds_commands_by_name() {
    let mut bench = Bench::file(SMALL);
    bench.keys("<c-p>lastm tod<enter>");
    assert_eq!(bench.cells(Field::Lastmod)[0], "2026-11-20");
    bench.keys("<c-p><esc>?");
    bench.shows("Move");
    bench.keys("q");
    assert!(matches!(bench.app.mode, Mode::Grid));
}

#[test]
fn history_goes_to_any_state() {
    let mut bench = Bench::file(SMALL);
    bench.keys("$c0.1<enter>c0.2<enter>c0.3<enter>U");
    bench.shows("priority set to 0.2");
    bench.keys("jj<enter>");
    assert_eq!(bench.cells(Field::Priority)[0], "0.1");
    bench.keys("Ugg<enter>");
    assert_eq!(bench.cells(Field::Priority)[0], "0.3");
    bench.keys("UG<enter>");
    assert!(!bench.app.session.is_modified());
}

#[test]
fn wrong_commands_are_explained_in_place() {
    let mut bench = Bench::file(SMALL);
    bench.keys(":set priority=high");
    bench.shows("expected");
    bench.keys("<enter>");
    assert!(matches!(bench.app.mode, Mode::Line(_)), "the line stays open");
    bench.keys("<esc>:120<enter>");
    assert_eq!(bench.app.grid.position, 3, "as far as there is");
    bench.keys(":se<tab>");
    bench.shows(":set ");
}

#[test]
fn help_finds_rules_commands_and_the_query_language() {
    let mut bench = Bench::file(SMALL);
    bench.keys(":help lastmod-impossible<enter>");
    bench.shows("W3C Note Datetime");
    bench.keys("<esc>:help apply-order<enter>");
    bench.shows(":apply-order");
    bench.keys("<esc>:help query<enter>");
    bench.shows("Queries");
}

#[test]
fn a_missing_file_can_be_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sitemap.xml");
    let mut bench = Bench::start(Start::Path(path.clone()), (100, 24), &Theme::default());
    bench.shows("does not exist");
    bench.keys("c");
    bench.shows("No URLs here yet.");
    bench.keys("ohttps://example.com/<enter>");
    // The prompt begins with a scheme already.
    bench.keys("chttps://example.com/<enter><c-s>");
    assert!(std::fs::read_to_string(&path).unwrap().contains("<loc>https://example.com/</loc>"));
    let mut bench = Bench::start(Start::Path(folder.path().join("none.xml")), (100, 24), &Theme::default());
    bench.keys("<esc>");
    assert_eq!(bench.status, Some(3));
}

#[test]
fn the_sample_can_be_edited_and_needs_a_name() {
    let mut bench = Bench::sample(120, 30);
    bench.keys("dd<c-s>");
    bench.shows(":write sitemap.xml");
    bench.keys("<esc>q");
    bench.shows("not saved");
}

#[test]
fn a_read_only_set_refuses_and_says_why() {
    let mut bench = Bench::file(SMALL);
    bench.app.session.set_read_only("you asked for it");
    for keys in ["dd", "x", "o", "i", "t", "p", "b", "<gt>", "u"] {
        bench.keys(keys);
        assert!(bench.says().contains("read-only") || bench.says().contains("copied"), "{keys}: {}", bench.says());
        assert!(matches!(bench.app.mode, Mode::Grid), "{keys}");
    }
    bench.shows("read-only");
    assert!(!bench.app.session.is_modified());
}

#[test]
fn suspending_says_that_nothing_is_lost() {
    let mut bench = Bench::file(SMALL);
    bench.keys("t<c-z>");
    assert_eq!(bench.suspended, ["1 changed row unsaved"]);
    assert!(bench.app.session.is_modified(), "and undoes nothing");
}

#[test]
fn every_action_runs_on_every_kind_of_set() {
    use crate::tui::command::COMMANDS;
    let empty = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"></urlset>";
    for (columns, rows) in [(120, 30), (40, 10), (1, 1)] {
        for xml in [SMALL, empty] {
            let mut bench = Bench::file(xml);
            bench.send(Event::Resize(columns, rows));
            for command in COMMANDS {
                let effects = {
                    bench.app.run(command.action, None);
                    bench.app.update(Event::Resize(columns, rows))
                };
                bench.effects(effects);
                bench.screen();
                bench.keys("<esc><esc>");
                bench.app.mode = Mode::Grid;
            }
        }
    }
}

#[test]
fn only_rows_on_the_screen_are_asked_for() {
    let urls: Vec<String> = (0..3_000).map(|n| format!("<url><loc>https://example.com/{n}</loc></url>")).collect();
    let urls = urls.join("\n");
    let mut bench =
        Bench::file(&format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{urls}</urlset>"));
    bench.keys("G");
    let screen = bench.app.screen();
    assert_eq!(screen.table.rows.len(), usize::from(bench.app.areas().rows.height));
    assert_eq!(screen.table.rows.last().unwrap().number, 3_000);
    bench.shows("3,000 URLs");
}

#[test]
fn a_range_of_sizes_draws() {
    for (columns, rows) in [(80, 24), (120, 40), (200, 50), (40, 10), (20, 5), (19, 4), (3, 2), (1, 1), (0, 0)] {
        let mut bench = Bench::sample(columns, rows);
        for keys in ["", "jjj$", "i", "<esc>:set p", "<esc>b0", "<esc>o", "<esc>?", "<esc><c-e>", "<esc>q", "<esc>gv"] {
            bench.keys(keys);
            bench.screen();
        }
    }
}

#[test]
fn screen_80_by_24() {
    let mut bench = Bench::sample(80, 24);
    bench.keys("7j");
    bench.app.message = None;
    insta::assert_snapshot!(bench.screen());
}

#[test]
fn screen_120_by_40_with_details() {
    let mut bench = Bench::sample(120, 40);
    bench.keys("8jl<gt>gv");
    bench.app.message = None;
    insta::assert_snapshot!(bench.screen());
}

#[test]
fn screen_40_by_10() {
    let mut bench = Bench::sample(40, 10);
    bench.keys("7j");
    bench.app.message = None;
    insta::assert_snapshot!(bench.screen());
}

#[test]
fn screen_20_by_5() {
    let mut bench = Bench::sample(20, 5);
    bench.app.message = None;
    insta::assert_snapshot!(bench.screen());
}

#[test]
fn screen_1_by_1() {
    insta::assert_snapshot!(Bench::sample(1, 1).screen(), @"…");
}

#[test]
fn screen_of_a_cell_being_edited() {
    let mut bench = Bench::sample(120, 24);
    bench.keys("7jlc2026-11-3");
    insta::assert_snapshot!(bench.screen());
}

#[test]
fn screen_of_a_bulk_change() {
    let mut bench = Bench::sample(120, 24);
    bench.keys(":set priority=0.8 where path:/plants/**");
    insta::assert_snapshot!(bench.screen());
}

#[test]
fn screen_in_ascii_without_colour() {
    let theme = Theme::new(Scheme::Plain, Charset::Ascii);
    let mut bench = Bench::start(Start::Sample, (80, 24), &theme);
    bench.keys("dd");
    bench.app.message = None;
    let screen = bench.screen();
    assert!(screen.is_ascii(), "{screen}");
    for keys in
        ["", "i", "<esc>:s", "<esc>b1", "<esc>?", "<esc>f", "<esc><c-p>", "<esc><c-e>", "<esc>q", "<esc>y", "<esc>gv"]
    {
        let screen = bench.keys(keys).screen();
        let own = screen.lines().filter(|line| !line.contains("example")).find(|line| line.contains("<2"));
        assert_eq!(own, None, "{keys}: a sign of the program's own has no stand-in");
    }
    insta::assert_snapshot!(screen);
}

#[test]
fn files_of_a_set_are_gone_through() {
    let mut bench = Bench::sample(120, 30);
    bench.keys("gt");
    assert_eq!(bench.app.grid.position, 33);
    bench.keys("gt");
    assert!(bench.says().contains("last file"));
    bench.keys("jgT");
    assert_eq!(bench.app.grid.position, 0);
    bench.keys("Fs").keys("gt");
    assert_ne!(bench.app.grid.position, 0, "also when sorted");
}

#[test]
fn columns_are_chosen_and_ordered() {
    let mut bench = Bench::sample(100, 20);
    bench.keys(":columns priority,loc,file<enter>");
    let screen = bench.screen();
    let heads = screen.lines().nth(1).unwrap();
    let at = |word| heads.find(word);
    assert!(at("priority") < at("loc") && at("loc") < at("file"), "{heads}");
    assert_eq!((at("lastmod"), at("changefreq")), (None, None));
    bench.keys("h");
    assert_eq!(bench.app.grid.field, Field::Priority, "left is left on the screen");
    bench.keys(":columns nonsense<enter>");
    assert!(bench.says().contains("changefreq"));
}

const CONTROLS: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">
  <url><loc>https://example.com/a&#9;tab&#13;cr&#x9b;31m</loc><lastmod>2025-01-01&#x9b;2J</lastmod><changefreq>daily&#9;x</changefreq><priority>+0.1</priority></url>
</urlset>
";

#[test]
fn a_cell_left_as_it_was_is_no_change() {
    for field in ["", "l", "ll", "lll"] {
        for end in ["<enter>", "x<bs><enter>", "<tab><esc>", "<down>"] {
            let mut bench = Bench::file(CONTROLS);
            bench.keys(field).keys("<enter>").keys(end);
            // Tab takes a suggestion where there is one, and arrows choose a frequency: these are typing.
            if bench.app.session.is_modified() {
                assert!(matches!(end, "<tab><esc>" | "<down>") && !field.is_empty(), "{field:?} {end}");
            }
        }
    }
}

#[test]
fn what_is_typed_beside_control_characters_changes_nothing_else() {
    let mut bench = Bench::file(CONTROLS);
    bench.keys("<enter>");
    bench.shows("a␉tab␍cr‹009B›31m");
    bench.keys("!<enter>");
    assert_eq!(bench.paths(), ["/a\ttab\rcr\u{9b}31m!"]);
    bench.keys("<enter>X<esc><enter><up><down><esc>");
    bench.keys("<enter>X<esc><enter><up><bs><enter>u");
    assert_eq!(bench.paths(), ["/a\ttab\rcr\u{9b}31m"], "a text that comes back is the text it was: one step");
}

#[test]
fn a_whole_url_takes_the_place_of_what_was_proposed() {
    let empty = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"></urlset>\n";
    for (xml, typed, expected) in [
        (SMALL, "new", "https://example.com/new"),
        (SMALL, "https://example.com/new", "https://example.com/new"),
        (SMALL, "http://other.example/x", "http://other.example/x"),
        (SMALL, "go?to=https://a.example/", "https://example.com/go?to=https://a.example/"),
        (empty, "example.com/new", "https://example.com/new"),
        (empty, "https://example.com/new", "https://example.com/new"),
    ] {
        let mut bench = Bench::file(xml);
        bench.keys("o").keys(typed).keys("<enter>");
        assert!(bench.cells(Field::Loc).contains(&expected.to_owned()), "typed {typed}: {:?}", bench.cells(Field::Loc));
        let mut bench = Bench::file(xml);
        bench.keys("o").paste(&format!("{typed}\n")).keys("<enter>");
        assert!(bench.cells(Field::Loc).contains(&expected.to_owned()), "pasted {typed}");
    }
    let mut bench = Bench::file(empty);
    bench.keys("o<enter>");
    assert_eq!(bench.says(), "type a URL first");
}

#[test]
fn a_list_pasted_while_a_url_is_asked_for_becomes_rows() {
    let mut bench = Bench::file(SMALL);
    bench.keys("jO").paste("https://example.com/1\nhttps://example.com/2\n");
    bench.shows("2 URLs pasted");
    bench.shows("they come above this row");
    bench.keys("<enter>");
    assert_eq!(bench.paths()[..4], ["/", "/1", "/2", "/shop/tea"]);
}

/// A set too large for anything to be done at once.
fn large() -> Bench {
    let row = |number: u32| format!("  <url><loc>https://example.com/p/{number:05}</loc></url>\n");
    let rows: String = (0..6_000).map(row).collect::<Vec<_>>().concat();
    Bench::file(&format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{rows}</urlset>\n"))
}

#[test]
fn what_is_typed_ahead_waits_for_the_rows_it_is_about() {
    for (keys, urls, first) in [
        ("f05999\ndd", 5_999, "/p/00000"),
        (":filter p/0000\n:%delete\n", 5_990, "/p/00000"),
        (":sort -loc\n:apply-order\n", 6_000, "/p/05999"),
        ("/05999\ndd", 5_999, "/p/00000"),
        ("f05999\n\u{1b}", 6_000, "/p/00000"),
    ] {
        let mut bench = large();
        let mut later = Vec::new();
        for letter in keys.chars() {
            let code = match letter {
                '\n' => KeyCode::Enter,
                '\u{1b}' => KeyCode::Esc,
                letter => KeyCode::Char(letter),
            };
            later.extend(bench.app.update(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))));
        }
        assert_eq!(bench.app.session.urls(), 6_000, "{keys:?}: nothing before the rows are known");
        bench.effects(later);
        bench.keys("<esc>");
        assert_eq!(bench.app.session.urls(), urls, "{keys:?}");
        assert_eq!(bench.paths()[0], first, "{keys:?}");
        let session = &bench.app.session;
        let last = session.row_at(session.position_of(crate::document::rows::RowId(5_999)).unwrap()).unwrap();
        assert_eq!(session.document().is_live(last), urls != 5_999, "{keys:?}");
    }
}

#[test]
fn the_bulk_dialog_begins_with_the_rows_that_are_meant() {
    for (before, words, expected) in [
        ("", " this row ", ["0.7", "0.2", "none", "0.2"]),
        ("fshop<enter>", "all 2 shown", ["1.0", "0.7", "0.7", "0.2"]),
        ("j<space><space>", "the 2 marked", ["1.0", "0.7", "0.7", "0.2"]),
    ] {
        let mut bench = Bench::file(SMALL);
        bench.keys(before).keys("b0.7");
        bench.shows(words);
        bench.keys("<enter><esc><esc>");
        assert_eq!(bench.cells(Field::Priority), expected, "{before}");
    }
}

#[test]
fn a_lastmod_can_be_typed_into_its_list() {
    for (typed, expected) in [
        ("+7d", "2026-11-09"),
        ("+2w", "2026-11-16"),
        ("2026-11-05", "2026-11-05"),
        ("no", "2026-11-20T10:14:07+01:00"),
        ("none", "none"),
        ("jj", "2026-11-03"),
    ] {
        let mut bench = Bench::file(SMALL);
        bench.keys("T").keys(typed).keys("<enter>");
        assert_eq!(bench.cells(Field::Lastmod)[0], expected, "{typed}");
    }
    let mut bench = Bench::file(SMALL);
    bench.keys("Tsoon<enter>");
    assert_eq!(bench.says(), "that is no date and no step; Esc leaves lastmod as it is");
    bench.keys("<esc>");
    assert!(!bench.app.session.is_modified());
}

#[test]
fn a_value_set_on_many_rows_is_set_again() {
    for keys in ["T+7d<enter>", ":set lastmod=+7d<enter>", "lb+7d<enter>"] {
        let mut bench = Bench::file(SMALL);
        bench.keys(keys);
        assert_eq!(bench.cells(Field::Lastmod)[0], "2026-11-09", "{keys}");
        bench.keys("j.");
        assert_eq!(bench.cells(Field::Lastmod)[1], "2026-10-12", "{keys}");
    }
    for keys in ["T+7d<enter>", ":set lastmod=+7d<enter>", "lb+7d<enter>"] {
        let mut bench = Bench::file(SMALL);
        bench.keys("<space><space>").keys(keys).keys("B");
        bench.shows(":set lastmod=+7d");
        bench.shows("on 2 of 4 rows");
    }
}

#[test]
fn a_rule_broken_by_no_row_says_where() {
    let mut bench = Bench::file(
        "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">
  <sitemap><loc>https://example.com/gone-1.xml</loc></sitemap>
  <sitemap><loc>https://example.com/gone-2.xml</loc></sitemap>
</sitemapindex>
",
    );
    bench.shows("None of the 2 sitemaps of this index was found.");
    bench.keys("<c-e>");
    bench.shows("index-child-missing");
    bench.keys("<enter>");
    bench.shows("https://example.com/gone-1.xml");
    bench.shows("https://example.com/gone-2.xml");
    bench.shows("source: ");
    assert!(bench.app.session.spec().filter.is_none());
    bench.keys("<esc><c-e><down><enter>");
    bench.shows("https://example.com/gone-1.xml");
}

#[test]
fn leaving_names_a_new_order_too() {
    let mut bench = Bench::file(SMALL);
    bench.keys(":sort -loc<enter>:apply-order<enter>q");
    bench.shows("the new order of the rows is not saved");
    bench.keys("<esc>uddq");
    bench.shows("1 changed row not saved");
}

#[test]
fn a_filter_is_named_however_narrow_the_window() {
    for columns in [80, 100, 160] {
        let mut bench = Bench::sample(columns, 24);
        bench.keys("tfgarden<enter>");
        let screen = bench.screen();
        let header = screen.lines().next().unwrap();
        for words in ["garden", " shown", "modified"] {
            assert!(header.contains(words), "{columns}: no {words:?} in {header:?}");
        }
    }
}
