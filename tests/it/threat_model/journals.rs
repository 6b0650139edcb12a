//! Crafted journals.

use super::state;
use super::state::{Scene, change_owner, hashed, huge, link, pipe};
use crate::support;
use crate::support::terminal::Start;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

const CHANGE: &str = r#"{"Did":{"label":"crafted","edit":{"Set":{"rows":[[0,1]],"field":"priority","value":"0.1"}}}}"#;

/// The expected effect of a crafted journal. In addition, every run ends, the victim and the other files are unchanged,
/// no change of the journal is applied without consent, and no control character is printed.
pub(super) enum Effect {
    /// The journal has no effect.
    Ignored,
    /// Its changes are offered in the editor, and commands that write are refused until then.
    Offered,
    /// Either of them.
    Harmless,
}
use Effect::{Harmless, Ignored, Offered};

type Case = (&'static str, fn(&Scene), Effect);

pub(super) const CASES: &[Case] = &[
    ("a link to an endless device", |scene| link("/dev/zero", &scene.own_path("journal")), Ignored),
    ("a link to an endless device, of another set", |scene| link("/dev/zero", &scene.other_path("journal")), Ignored),
    ("a pipe that nobody writes to", |scene| pipe(&scene.own_path("journal")), Ignored),
    ("a pipe that nobody writes to, of another set", |scene| pipe(&scene.other_path("journal")), Ignored),
    ("a pipe set aside", |scene| pipe(&scene.own_path("journal.aside-1")), Ignored),
    ("a folder", |scene| fs::create_dir(scene.own_path("journal")).unwrap(), Ignored),
    ("64 GiB of zeros", |scene| huge(&scene.own_path("journal")), Ignored),
    ("64 GiB of zeros, of another set", |scene| huge(&scene.other_path("journal")), Ignored),
    (
        "a sound journal that belongs to another user",
        |scene| {
            fs::write(scene.own_path("journal"), scene.journal(&[CHANGE])).unwrap();
            if !change_owner(&scene.own_path("journal")) {
                fs::remove_file(scene.own_path("journal")).unwrap();
            }
        },
        Ignored,
    ),
    (
        "a link to a sound journal elsewhere",
        |scene| {
            let elsewhere = scene.folder.write("victim/journal", scene.journal(&[CHANGE]));
            link(elsewhere, &scene.own_path("journal"));
        },
        Ignored,
    ),
    (
        "a sound journal in a folder that others can write to",
        |scene| {
            fs::write(scene.own_path("journal"), scene.journal(&[CHANGE])).unwrap();
            fs::set_permissions(scene.journals(), Permissions::from_mode(0o777)).unwrap();
        },
        Ignored,
    ),
    ("a sound journal is asked about, not replayed", |scene| plant(scene, &[CHANGE]), Offered),
    (
        "a journal of this very file that says it was opened by another path",
        |scene| {
            let victim = scene.victim().to_string_lossy().into_owned();
            fs::write(scene.other_path("journal"), scene.journal_of(&victim, &[CHANGE])).unwrap();
        },
        Offered,
    ),
    (
        "a journal that says it was opened by a path full of escape sequences",
        |scene| {
            let path = scene.set().to_string_lossy().replace("a.xml", "\u{1b}]0;owned\u{7}\u{202e}b.xml");
            fs::write(scene.other_path("journal"), scene.journal_of(&path, &[CHANGE])).unwrap();
        },
        Offered,
    ),
    (
        "a label and a value with escape sequences",
        |scene| plant(scene, &[&CHANGE.replace("crafted", r"\u001b]0;owned\u0007\u202e").replace("0.1", r"\u001b[2J")]),
        Offered,
    ),
    (
        "damaged lines with escape sequences",
        |scene| {
            let text = [scene.journal(&[CHANGE]), b"\x1b]0;owned\x07\x1b[2J\n\xff\xfe\x9b31m\n".to_vec()].concat();
            fs::write(scene.own_path("journal"), text).unwrap();
        },
        Offered,
    ),
    (
        "rows that are not there",
        |scene| plant(scene, &[&CHANGE.replace("[[0,1]]", "[[0,4294967295]]"), &CHANGE.replace("[[0,1]]", "[[1,0]]")]),
        Offered,
    ),
    (
        "a rename out of the folder",
        |scene| {
            plant(scene, &[r#"{"Did":{"label":"x","edit":{"Rename":{"file":0,"name":"../../victim/private.txt"}}}}"#]);
        },
        Offered,
    ),
    (
        "a save to other paths that was finished",
        |scene| {
            let victim = serde_json::json!({ "To": [scene.victim().to_string_lossy()] }).to_string();
            plant(scene, &[CHANGE, &victim, r#"{"Saving":[1,2,3]}"#, r#"{"Then":[]}"#]);
        },
        Harmless,
    ),
    ("a value nested 100,000 deep", |scene| plant(scene, &[&"[".repeat(100_000)]), Offered),
    (
        "changes nested in changes",
        |scene| {
            let edit = format!("{}{}", r#"{"Several":["#.repeat(60), "]}".repeat(60));
            plant(scene, &[&format!(r#"{{"Did":{{"label":"x","edit":{edit}}}}}"#)]);
        },
        Offered,
    ),
    (
        "a first line without end",
        |scene| fs::write(scene.other_path("journal"), vec![b'x'; 80 << 20]).unwrap(),
        Ignored,
    ),
    (
        "a version that is not there yet",
        |scene| fs::write(scene.own_path("journal"), hashed("{\"version\":99}")).unwrap(),
        Ignored,
    ),
    (
        "line numbers at the end of numbers",
        |scene| {
            let lines = [u64::MAX, u64::MAX, 0].map(|number| hashed(&format!("{number} {CHANGE}")));
            fs::write(scene.own_path("journal"), [scene.journal(&[]), lines.concat().into_bytes()].concat()).unwrap();
        },
        Offered,
    ),
    ("the name for a new journal is a link", |scene| link(scene.victim(), &scene.own_path("journal.new")), Ignored),
    (
        "the name for a new journal is a second name",
        |scene| fs::hard_link(scene.victim(), scene.own_path("journal.new")).unwrap(),
        Ignored,
    ),
    (
        "every name to be set aside under is a link",
        |scene| {
            fs::write(scene.own_path("journal"), "rubbish\n").unwrap();
            for number in 1..20 {
                link(scene.victim(), &scene.own_path(&format!("journal.aside-{number}")));
            }
        },
        Ignored,
    ),
];

fn plant(scene: &Scene, lines: &[&str]) {
    fs::write(scene.own_path("journal"), scene.journal(lines)).unwrap();
}

#[test]
fn crafted_journals_have_no_effect_without_consent() {
    for (name, plant, effect) in CASES {
        let scene = Scene::new();
        plant(&scene);
        let before = scene.folder.files();
        for arguments in
            [&["check", "a.xml"][..], &["recover", "a.xml"], &["recover", "."], &["recover", "a.xml", "--journal", "1"]]
        {
            let text = scene.output_of(arguments);
            assert!(state::is_printable(&text), "{name}: {arguments:?} prints {text:?}");
            assert_eq!(scene.folder.files(), before, "{name}: {arguments:?}");
        }
        // The editor may offer the changes, but does not apply them.
        let terminal = Start::new(&scene.folder).size(100, 30).arguments(["a.xml"]).start();
        match effect {
            Offered => terminal.wait_for("unsaved change"),
            Ignored | Harmless => terminal.wait_for("2 URLs"),
        }
        let output = String::from_utf8_lossy(&terminal.output()).into_owned();
        assert!(
            !output.contains("\u{1b}]0;owned") && !terminal.screen().contains("modified"),
            "{name}: {}",
            terminal.screen()
        );
        drop(terminal);
        assert_eq!(scene.folder.files(), before, "{name}: the editor");
        let output = scene.run(&["set", "a.xml", "changefreq=daily"]);
        let notes = support::stderr(&output);
        assert!(state::is_printable(&notes), "{name}: {notes:?}");
        let mut after = scene.folder.files();
        assert!(!String::from_utf8_lossy(&after["a.xml"]).contains("priority"), "{name}: a line was applied");
        match effect {
            Ignored => assert!(output.status.success(), "{name}: {notes}"),
            Offered => assert_eq!(output.status.code(), Some(3), "{name}: {notes}"),
            Harmless => {}
        }
        if output.status.success() {
            assert_ne!(after["a.xml"], before["a.xml"], "{name}");
            after.insert("a.xml".to_owned(), before["a.xml"].clone());
        }
        assert_eq!(after, before, "{name}: nothing else has changed");
    }
}

/// With the user's consent in the editor, only changes that are applicable are replayed, and only `a.xml` is written.
#[test]
fn replayed_crafted_journals_change_only_their_set() {
    for (name, plant, effect) in CASES {
        if !matches!(effect, Offered) {
            continue;
        }
        let scene = Scene::new();
        plant(&scene);
        let before = scene.folder.files();
        let terminal = Start::new(&scene.folder).size(100, 30).arguments(["a.xml"]).start();
        terminal.wait_for("unsaved change");
        terminal.send("r");
        terminal.wait_gone(" ASK ");
        terminal.send(":w\r");
        terminal.wait_until("the end of the save", |screen| {
            let text = screen.contents();
            ["saved", "nothing to save", "read-only", " ASK "].iter().any(|end| text.contains(end))
        });
        drop(terminal);
        let mut after = scene.folder.files();
        after.insert("a.xml".to_owned(), before["a.xml"].clone());
        assert_eq!(after, before, "{name}");
    }
}
