//! Kills the program at random moments of a save: the files of the set are all old or all new.
//!
//! `SITED_KILLS` is the number of kills; the default is 40, so that the suite stays fast. Verifies the promise "all or
//! nothing, for the whole set".

use crate::support::{Folder, environment, program, run, stderr, stdout};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PARTS: usize = 12;
const ROWS: usize = 40;

fn write_set(folder: &Folder) {
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    let space = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";
    let mut index = format!("{head}<sitemapindex {space}>\n");
    for part in 0..PARTS {
        writeln!(index, "<sitemap><loc>https://example.com/part-{part}.xml</loc></sitemap>").unwrap();
        let mut text = format!("{head}<urlset {space}>\n");
        for row in 0..ROWS {
            writeln!(text, "<url><loc>https://example.com/{part}/{row}</loc><priority>0.0</priority></url>").unwrap();
        }
        std::fs::write(folder.path().join(format!("part-{part}.xml")), text + "</urlset>\n").unwrap();
    }
    std::fs::write(folder.path().join("sitemap.xml"), index + "</sitemapindex>\n").unwrap();
}

/// Starts a save and kills it after a time. Returns whether it was still running.
fn save_and_kill(folder: &Path, (priority, backup): (&str, &str), after: Duration) -> bool {
    let mut child = Command::new(program())
        .args(["set", "sitemap.xml", priority, "--backup", backup])
        .current_dir(folder)
        .env_clear()
        .envs(environment(folder))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("start the program");
    std::thread::park_timeout(after);
    let is_running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    is_running
}

/// The distinct priorities of the set, after a command that writes has finished the interrupted save.
fn priorities(folder: &Folder) -> BTreeSet<String> {
    let output = run(folder, &["set", "sitemap.xml", "priority=0.1", "--where", "loc=nowhere"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let output = run(folder, &["list", "sitemap.xml", "--format", "jsonl"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = stdout(&output);
    assert_eq!(lines.lines().count(), PARTS * ROWS, "{}", stderr(&output));
    let value =
        |line: &str| line.split("\"priority\":\"").nth(1).and_then(|rest| rest.split('"').next()).map(str::to_owned);
    lines.lines().map(|line| value(line).expect("a priority")).collect()
}

#[test]
fn a_killed_save_leaves_the_old_set_or_the_new_one() {
    let kills: u32 = std::env::var("SITED_KILLS").ok().and_then(|number| number.parse().ok()).unwrap_or(40);
    let folder = Folder::new();
    write_set(&folder);
    let start = Instant::now();
    // The slowest save: every file is backed up before it is replaced.
    assert!(run(&folder, &["set", "sitemap.xml", "priority=0.1", "--backup", "always"]).status.success());
    // Each kill is at a random time between the start and slightly after the usual end.
    let max_micros = start.elapsed().mul_f64(1.2).as_micros() as u64;
    let (mut before, mut random) = ("0.1".to_owned(), 0x9E37_79B9_7F4A_7C15_u64);
    let (mut old, mut new, mut running) = (0, 0, 0);
    for number in 0..kills {
        // The generator xorshift64 is good enough for random times.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let new_priority = format!("0.{}", 2 + number % 7);
        let backup = if number % 3 == 0 { "always" } else { "off" };
        let was_running = save_and_kill(
            folder.path(),
            (&format!("priority={new_priority}"), backup),
            Duration::from_micros(random % max_micros),
        );
        running += u32::from(was_running);
        let found = priorities(&folder);
        let current = found.first().cloned().unwrap_or_default();
        assert!(
            found.len() == 1 && (current == before || current == new_priority),
            "kill {number}: {before} → {new_priority}: {found:?}"
        );
        if current == new_priority {
            new += 1;
        } else {
            old += 1;
        }
        before = current;
        let remaining: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        let remaining = remaining.into_iter().filter(|name| name.to_string_lossy().ends_with(".sited")).count();
        assert_eq!(remaining, 0, "kill {number}: temporary files are left");
    }
    // Every listed backup is complete and can be restored.
    let listed = stdout(&run(&folder, &["restore", "sitemap.xml"]));
    let dates: Vec<_> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(!dates.is_empty());
    for date in [dates[0], dates[dates.len() / 2], dates[dates.len() - 1]] {
        let output = run(&folder, &["restore", "sitemap.xml", "--set", date]);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(priorities(&folder).len(), 1, "{date}");
    }
    assert!(running > 0 && old > 0 && new > 0, "{kills} kills: {running} while running, {old} old, {new} new");
}

/// Another layout of the files of a set: a function that converts the plain set, and the paths to open.
struct Layout {
    name: &'static str,
    make: fn(&Folder),
    opened: &'static [&'static str],
}

const LAYOUTS: &[Layout] = &[
    Layout { name: "gzipped parts", make: gzipped, opened: &["sitemap.xml"] },
    #[cfg(unix)]
    Layout { name: "parts behind links", make: with_symlinks, opened: &["sitemap.xml"] },
    #[cfg(unix)]
    Layout { name: "parts with a second name", make: with_hard_links, opened: &["sitemap.xml"] },
    Layout {
        name: "files of two folders without an index",
        make: without_index,
        opened: &["here/part-0.xml", "there/part-1.xml", "here/part-2.xml", "there/part-3.xml"],
    },
];

fn gzipped(folder: &Folder) {
    for part in 0..PARTS {
        let plain = folder.file(&format!("part-{part}.xml"));
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut packed, &std::fs::read(&plain).unwrap()).unwrap();
        folder.write(&format!("part-{part}.xml.gz"), packed.finish().unwrap());
        std::fs::remove_file(plain).unwrap();
    }
    folder.write("sitemap.xml", folder.text("sitemap.xml").replace(".xml<", ".xml.gz<"));
}

#[cfg(unix)]
fn with_symlinks(folder: &Folder) {
    std::fs::create_dir(folder.file("real")).unwrap();
    for part in (0..PARTS).step_by(2) {
        let name = format!("part-{part}.xml");
        std::fs::rename(folder.file(&name), folder.file(&format!("real/{name}"))).unwrap();
        std::os::unix::fs::symlink(format!("real/{name}"), folder.file(&name)).unwrap();
    }
}

#[cfg(unix)]
fn with_hard_links(folder: &Folder) {
    std::fs::create_dir(folder.file("other")).unwrap();
    for part in (0..PARTS).step_by(3) {
        let name = format!("part-{part}.xml");
        std::fs::hard_link(folder.file(&name), folder.file(&format!("other/{name}"))).unwrap();
    }
}

fn without_index(folder: &Folder) {
    std::fs::remove_file(folder.file("sitemap.xml")).unwrap();
    for (part, to) in ["here", "there", "here", "there"].iter().enumerate() {
        let name = format!("part-{part}.xml");
        folder.write(&format!("{to}/{name}"), folder.read(&name));
    }
    for part in 0..PARTS {
        std::fs::remove_file(folder.file(&format!("part-{part}.xml"))).unwrap();
    }
}

impl Layout {
    fn command(&self, folder: &Folder, script: &str) -> Command {
        folder.write("script", script);
        let mut command = Command::new(program());
        command.args(["--script", "script"]).args(self.opened).current_dir(folder.path());
        command.env_clear().envs(environment(folder.path())).stdin(Stdio::null());
        command
    }

    /// The distinct priorities of all files, after opening the set, which finishes the interrupted save.
    fn priorities(&self, folder: &Folder) -> BTreeSet<String> {
        // The script makes no change, so only the interrupted save is written.
        let opened = self.command(folder, "write\n").output().unwrap();
        assert!(opened.status.success(), "{}: {}", self.name, stderr(&opened));
        let files = folder.files();
        let parts = files.iter().filter(|(name, _)| name.contains("part-"));
        let texts = parts.map(|(name, bytes)| {
            assert!(Path::new(&name).extension().is_none_or(|end| end != "sited"), "{}: {name} is left", self.name);
            let mut text = String::new();
            let is_gzip = Path::new(&name).extension().is_some_and(|end| end == "gz");
            let read = if is_gzip {
                std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&bytes[..]), &mut text)
            } else {
                std::io::Read::read_to_string(&mut &bytes[..], &mut text)
            };
            read.unwrap_or_else(|error| panic!("{}: {name}: {error}", self.name));
            assert!(text.ends_with("</urlset>\n"), "{}: {name}", self.name);
            text
        });
        let value = |rest: &str| rest.split('<').next().unwrap_or_default().to_owned();
        texts.flat_map(|text| text.split("<priority>").skip(1).map(value).collect::<Vec<_>>()).collect()
    }
}

#[test]
fn a_killed_save_leaves_the_old_set_or_the_new_one_for_every_file_layout() {
    let kills: u32 = std::env::var("SITED_KILLS").ok().and_then(|number| number.parse().ok()).unwrap_or(40) / 4;
    let mut random = 0x2545_F491_4F6C_DD1D_u64;
    for layout in LAYOUTS {
        let folder = Folder::new();
        write_set(&folder);
        (layout.make)(&folder);
        let start = Instant::now();
        let first = layout.command(&folder, "%set priority=0.1\nwrite\n").output().unwrap();
        assert!(first.status.success(), "{}: {}", layout.name, stderr(&first));
        let max_micros = start.elapsed().mul_f64(1.2).as_micros() as u64;
        let mut before = "0.1".to_owned();
        for number in 0..kills {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let new_priority = format!("0.{}", 2 + number % 7);
            let mut command = layout.command(&folder, &format!("%set priority={new_priority}\nwrite\n"));
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::park_timeout(Duration::from_micros(random % max_micros));
            child.kill().unwrap();
            child.wait().unwrap();
            let found = layout.priorities(&folder);
            let current = found.first().cloned().unwrap_or_default();
            let is_one = found.len() == 1 && (current == before || current == new_priority);
            assert!(is_one, "{}, kill {number}: {before} → {new_priority}: {found:?}", layout.name);
            before = current;
        }
    }
}
