//! Tests of the command grammar as tables, and of the round trip of the canonical line.

use super::*;
use crate::protocol::lastmod::Now;
use proptest::prelude::*;

const NOW: Now = Now { seconds: 1_795_166_047, offset: 0 };
const VOCABULARY: Vocabulary<'static> = Vocabulary { rules: &["loc-empty", "lastmod-future"], now: NOW, data: None };

fn read(line: &str) -> Result<Command, CommandError> {
    parse(line, &VOCABULARY)
}

#[test]
fn lines_are_read_and_written_canonically() {
    let table = [
        ("set priority=0.8", "set priority=0.8"),
        (" : %  set priority = 0.8  lastmod today", "%set priority=0.8 lastmod=today"),
        ("set lastmod today", "set lastmod=today"),
        ("set lastmod=today where path:/blog/* priority<0.5", "set lastmod=today where path:/blog/* priority<0.5"),
        ("set changefreq=none", "set changefreq=none"),
        ("set priority=+0.1", "set priority=+0.1"),
        ("%set lastmod=+7d where is:marked", "%set lastmod=+7d where is:marked"),
        ("set loc=\"https://e.com/a b\"", "set loc=\"https://e.com/a b\""),
        ("clear priority,lastmod", "set priority=none lastmod=none"),
        ("clear priority lastmod where has:news", "set priority=none lastmod=none where has:news"),
        ("s/a/b/", "s/a/b/"),
        ("%s#^http://#https://#g", "%s/^http:\\/\\//https:\\/\\//g"),
        ("replace /a/$1b/i", ""),
        ("s/(a)/\\1x$1y${1}$$/gi where blog", "s/(a)/${1}x${1}y${1}$$/gi where blog"),
        ("s|a\\|b|c|", "s/a\\|b/c/"),
        ("s/(?P<x>a)/$x/", "s/(?P<x>a)/${x}/"),
        ("s/a\\/b/c\\\\d/", "s/a\\/b/c\\\\d/"),
        ("s/a//", "s/a//"),
        ("%s/a/b/g --in all", "%s/a/b/g --in all"),
        ("s/a/b/ --in=images,loc where blog", "s/a/b/ --in loc,images where blog"),
        ("s/a/b/ --in loc", "s/a/b/"),
        ("set-base-url https://e.com/ --rewrite-index", "set-base-url https://e.com/ --rewrite-index"),
        ("add https://e.com/a https://e.com/(b)", "add https://e.com/a https://e.com/(b)"),
        ("add \"https://e.com/a b\"", "add \"https://e.com/a b\""),
        ("ext add image/loc=https://e.com/a.png title=\"a b\"", "ext add image loc=https://e.com/a.png title=\"a b\""),
        ("ext add image:image image:loc=u", "ext add image loc=u"),
        ("ext add video/tag=red", "ext add video/tag=red"),
        ("ext add video/price=3.99 currency=EUR", "ext add video/price=3.99 currency=EUR"),
        ("ext add link rel=alternate hreflang=de", "ext add link rel=alternate hreflang=de"),
        ("ext add image[2]/title=T", "ext add image[2]/title=T"),
        ("ext add video[1]/tag=T", "ext add video[1]/tag=T"),
        ("ext add mobile", "ext add mobile"),
        (
            "%extension set video[2]/duration=120 video/title=T where has:video",
            "%ext set video[2]/duration=120 video/title=T where has:video",
        ),
        ("ext set image/title=", "ext set image/title=\"\""),
        ("ext remove image:image[2] link@media", "ext remove image[2] link@media"),
        ("d", "delete"),
        ("delete where lastmod<2015", "delete where lastmod<2015"),
        ("%dup", "%duplicate"),
        ("filter blog or news", "filter blog or news"),
        ("nofilter", "nofilter"),
        ("mark where has:image", "mark where has:image"),
        ("%unmark", "%unmark"),
        ("marks invert", "marks invert"),
        ("sort -lastmod, loc", "sort -lastmod,loc"),
        ("nosort", "nosort"),
        ("apply-order", "apply-order"),
        ("120", "goto 120"),
        (":1,200", "goto 1200"),
        ("goto $", "goto $"),
        ("/blog", "/blog"),
        ("//blog/ priority<0.5", "//blog/ priority<0.5"),
        ("u", "undo"),
        ("undo 3", "undo 3"),
        ("redo 1", "redo"),
        ("history", "history"),
        ("w", "write"),
        ("w new map.xml", "write new map.xml"),
        ("w \" x\"", "write \" x\""),
        ("w! a.xml", "write! a.xml"),
        ("write!", "write!"),
        ("x", "wq"),
        ("q", "quit"),
        ("q!", "quit!"),
        ("e", "edit"),
        ("e!", "edit!"),
        ("fix", "fix safe"),
        ("%fix safe where blog", "%fix safe where blog"),
        ("fix loc-* lastmod-future", "fix loc-* lastmod-future"),
        ("check", "check"),
        ("plan", "plan"),
        ("set-base-url https://e.com/", "set-base-url https://e.com/"),
        ("help", "help"),
        ("help set", "help set"),
        ("theme light", "theme light"),
        ("columns loc, priority", "columns loc,priority"),
    ];
    for (line, expected) in table {
        let command = read(line);
        if expected.is_empty() {
            assert!(command.is_err(), "{line}");
            continue;
        }
        assert_eq!(command.as_ref().map(ToString::to_string), Ok(expected.to_owned()), "{line}");
        assert_eq!(read(expected), command, "{line}");
    }
}

#[test]
fn errors_have_a_position_an_expectation_and_an_example() {
    // Line, the text at the span, part of the message, part of the hint.
    let table = [
        ("", "", "expected a command", "help"),
        ("sett priority=1", "sett", "did you mean set?", "help"),
        ("wibble", "wibble", "unknown command wibble", "help"),
        ("set", "", "expected FIELD=VALUE", "for example: set"),
        ("set prio=1", "prio", "did you mean priority?", "for example"),
        ("set priority=", "", "expected a value", "for example"),
        ("set priority= where blog", "", "expected a value", "for example"),
        ("set priority=1 priority=0", "priority", "set twice", ""),
        ("set priority=1 where", "", "expected a query after `where`", ""),
        ("set priority=1 where priorty<1", "priorty", "did you mean priority?", ""),
        ("set lastmod=20x5", "20x5", "expected a date", ""),
        ("set lastmod=2025-02-30", "2025-02-30", "expected a date", ""),
        ("set lastmod=+7", "+7", "unit", ""),
        ("set changefreq=weakly", "weakly", "did you mean weekly?", ""),
        ("set priority=high", "high", "0.0 to 1.0", ""),
        ("set priority=8", "8", "0.0 to 1.0", ""),
        ("set loc=none", "none", "delete removes rows", ""),
        ("set loc=\"a", "\"", "unclosed", ""),
        ("set \"x\"", "\"x\"", "expected loc, lastmod", ""),
        ("clear", "", "the name of a field", "for example: clear"),
        ("clear loc", "loc", "delete removes rows", ""),
        ("s", "", "expected /RE/REPL/", "for example: %s#"),
        ("s/a", "", "expected `/` after the expression", ""),
        ("s/a/b where x", "", "expected `/` after the replacement", ""),
        ("s/a/b/x", "x", "expected g", ""),
        ("s/a/b/ --in title", "title", "expected loc, alternates", ""),
        ("set priority=1 where \"\"", "\"\"", "the query is empty", ""),
        ("set-base-url https://e.com/ x", "x", "expected nothing more", ""),
        ("s//b/", "", "a regular expression", ""),
        ("s/(a/b/", "(a", "unclosed group", ""),
        ("s/a/$1/", "$1", "no group 1", ""),
        ("s/a/${b/", "${b", "expected `}`", ""),
        ("s/a/b/ blog", "blog", "expected `where`", ""),
        ("mark blog", "blog", "expected `where`", "for example: mark where"),
        ("%write", "%", "takes no rows", ""),
        ("check!", "!", "takes no `!`", ""),
        ("filter", "", "expected a query", "nofilter"),
        ("sort -prio", "-prio", "did you mean priority?", ""),
        ("goto 0", "0", "from 1", ""),
        ("99999999999", "99999999999", "from 1", ""),
        ("12 x", "x", "nothing more", ""),
        ("q now", "now", "nothing more", ""),
        ("undo x", "x", "a number of steps", ""),
        ("fix loc-emty", "loc-emty", "did you mean loc-empty?", ""),
        ("marks some", "some", "expected invert, all or none", ""),
        ("columns", "", "names of columns", ""),
        ("columns a;b", "a;b", "names of columns", ""),
        ("theme", "", "the name of a theme", ""),
        ("set-base-url", "", "a URL", ""),
        ("add", "", "expected a URL", ""),
        ("/", "", "a query to search for", ""),
        ("w2", "w2", "expected a space", ""),
    ];
    for (line, place, message, hint) in table {
        let error = read(line).err();
        assert!(error.is_some(), "{line} is accepted");
        let Some(error) = error else { continue };
        assert_eq!(line.get(error.span.clone()), Some(place), "{line}: {error:?}");
        assert!(error.message.contains(message), "{line}: {error:?}");
        assert!(error.hint.contains(hint), "{line}: {error:?}");
    }
}

#[test]
fn the_error_position_is_underlined() {
    let line = "set loc=\"日\" lastmod=x\ty";
    let error = CommandError::new(20..21, "expected a date");
    assert_eq!(line.get(20..21), Some("d"));
    assert_eq!(error.picture(line).lines().nth(1), Some("                   ^ expected a date"));
    assert!(!error.picture("a\tb\u{1b}").contains(['\t', '\u{1b}']));
}

#[test]
fn assignments_are_read_from_arguments_of_a_shell() {
    let table = [
        ("priority=0.8", Ok("priority=0.8")),
        ("loc=https://e.com/a b", Ok("loc=\"https://e.com/a b\"")),
        ("lastmod=", Ok("lastmod=none")),
        ("priority", Err("expected FIELD=VALUE")),
        ("prio=1", Err("did you mean priority?")),
        ("priority=7", Err("0.0 to 1.0")),
    ];
    for (text, expected) in table {
        let found = Assignment::from_argument(text, &VOCABULARY).map(|assignment| assignment.to_string());
        match expected {
            Ok(text) => assert_eq!(found.as_deref(), Ok(text)),
            Err(message) => assert!(found.is_err_and(|error| error.message.contains(message)), "{text}"),
        }
    }
}

#[test]
fn replacing_rewrites_matches_and_nothing_else() {
    let table = [
        ("s/o/0/", "foo", Some("f0o")),
        ("s/o/0/g", "foo", Some("f00")),
        ("s/O/0/i", "foo", Some("f0o")),
        ("s/x/0/", "foo", None),
        ("s/(f)(o)/$2$1/", "foo", Some("ofo")),
        ("s/(f)|(x)/[$2]/", "foo", Some("[]oo")),
        ("s/^/https:\\/\\//", "e.com", Some("https://e.com")),
        ("s/$/\\//", "e.com", Some("e.com/")),
        ("s/x*/-/g", "ab", Some("-a-b-")),
        ("s/.*//", "foo", Some("")),
        ("s/ü/ue/", "/tür", Some("/tuer")),
        ("s#\\?.*##", "/a?b", Some("/a")),
        ("s/a/&\\n/", "a", Some("&\\n")),
        ("s/(?<n>o+)/<${n}>/", "foo", Some("f<oo>")),
    ];
    for (line, loc, expected) in table {
        let command = read(line);
        assert!(matches!(command, Ok(Command::Replace { .. })), "{line}: {command:?}");
        if let Ok(Command::Replace { replace, .. }) = command {
            assert_eq!(replace.apply(loc).as_deref(), expected, "{line} on {loc}");
        }
    }
}

#[test]
fn dates_come_from_commits_or_times_of_files() {
    for line in ["dates git .", "dates git site", "dates mtime \"a b\" --map \"/* = content/*.md\" --map \"/x = y\""] {
        let command = parse(line, &VOCABULARY).unwrap();
        assert_eq!(command.to_string(), line);
    }
    assert_eq!(parse("dates git", &VOCABULARY), parse("dates git .", &VOCABULARY));
    for (line, expected) in [
        ("dates", "git, or mtime with"),
        ("dates mtime", "git, or mtime with"),
        ("dates git a b", "git, or mtime with"),
        ("dates git --map", "PATTERN = PATH"),
        ("dates git --map \"/* = ../x\"", "does not leave it"),
        ("dates git --key x", "expected --map"),
    ] {
        let error = parse(line, &VOCABULARY).unwrap_err().to_string();
        assert!(error.contains(expected), "{line}: {error}");
    }
}

#[test]
fn command_names_are_unique_and_examples_parse() {
    let mut names: Vec<&str> =
        TABLE.iter().flat_map(|spec| [spec.name].into_iter().chain(spec.aliases.iter().copied())).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "a name is used twice");
    let vocabulary = Vocabulary { rules: &["lastmod-x", "loc-default-port"], ..VOCABULARY };
    for spec in TABLE {
        assert!(!spec.about.is_empty() && !spec.example.is_empty(), "{}", spec.name);
        let command = parse(spec.example, &vocabulary);
        assert!(command.is_ok(), "{}: {command:?}", spec.example);
        for alias in spec.aliases {
            let line = spec.example.replacen(spec.name, alias, 1);
            assert_eq!(parse(&line, &vocabulary), command, "{line}");
        }
    }
    assert_eq!(spec("w").map(Spec::usage).as_deref(), Some("write[!] [PATH]"));
    assert_eq!(spec("s").map(Spec::usage).as_deref(), Some("[%]s/RE/REPL/[g][i] [--in WHAT] [where QUERY]"));
    assert_eq!(spec("q").map(Spec::usage).as_deref(), Some("quit[!]"));
}

#[test]
fn candidates_fit_their_position_on_the_line() {
    let table: [(&str, usize, &[&str]); 41] = [
        (":nof", 1, &["nofilter"]),
        ("%du", 1, &["duplicate"]),
        ("%w", 1, &[]),
        ("set pr", 4, &["priority="]),
        ("set priority=0.8 la", 17, &["lastmod="]),
        ("set changefreq=w", 15, &["weekly"]),
        ("set lastmod=to", 12, &["today"]),
        ("set priority=0.8 wh", 17, &["where "]),
        ("set priority=0.8 where sec", 23, &["section:"]),
        ("set loc=\"a where sec", 17, &[]),
        ("delete where has:im", 17, &["image"]),
        ("s/a/b/g where rule:loc", 19, &["loc-empty"]),
        ("filter severity:e", 16, &["error"]),
        ("sort -lastmod,pr", 14, &["priority"]),
        ("sort -p", 6, &["priority", "path"]),
        ("marks in", 6, &["invert"]),
        ("fix sa", 4, &["safe"]),
        ("/is:m", 4, &["marked"]),
        ("ext re", 4, &["remove "]),
        ("ext add im", 8, &["image"]),
        ("ext add image ca", 14, &["caption="]),
        ("ext set video/dur", 8, &["video/duration="]),
        ("ext set video/live=y", 8, &["video/live=yes"]),
        ("ext add video family_friendly=", 14, &["family_friendly=yes", "family_friendly=no"]),
        ("ext add video/platform relationship=d", 23, &["relationship=deny"]),
        ("columns loc,pri", 12, &["priority"]),
        ("theme ", 6, &["dark", "light", "none"]),
        ("profile goo", 8, &["google"]),
        ("backup o", 7, &["off", "once"]),
        ("set-base-url ht", 13, &["https://", "http://"]),
        ("set-base-url https://e.com/ -", 28, &["--rewrite-index"]),
        ("goto ", 5, &["$"]),
        ("s#a#b# -", 7, &["--in "]),
        ("s#a#b# --in im", 12, &["images"]),
        ("s#a#b# --in loc,alt", 16, &["alternates"]),
        ("s#a b", 5, &[]),
        ("data o", 5, &["off"]),
        ("probe wr", 6, &["write "]),
        ("probe where sec", 12, &["section:"]),
        ("help theme", 5, &[]),
        ("help quer", 5, &["queries"]),
    ];
    for (line, from, expected) in table {
        let found = completions(line, line.len(), &VOCABULARY);
        let texts: Vec<&str> = found.items.iter().map(|item| item.text.as_str()).collect();
        assert_eq!((found.from, texts.as_slice()), (from, expected), "{line}");
    }
}

#[test]
fn a_script_is_lines_without_comments() {
    let text = "# dates\n\n:set lastmod=today where blog\r\n  s#a#b#\nwrite\n";
    let lines = script(text, &VOCABULARY)
        .map(|lines| lines.into_iter().map(|line| (line.number, line.command.to_string())).collect());
    let expected = [(3, "set lastmod=today where blog"), (4, "s/a/b/"), (5, "write")];
    assert_eq!(lines, Ok(expected.map(|(number, text)| (number, text.to_owned())).to_vec()));
    let error = script("write\nwirte\n", &VOCABULARY).err();
    assert_eq!(
        error.map(|error| error.to_string()).as_deref(),
        Some("line 2: unknown command wirte; did you mean write?")
    );
}

fn any_scope() -> impl Strategy<Value = Scope> {
    let query = prop::option::of(prop::sample::select(vec![
        "blog",
        "priority<0.5 or -has:image",
        "\"a \"\"b\"",
        "loc~\"x/(y)\"",
    ]));
    (any::<bool>(), query)
        .prop_map(|(shown, query)| Scope { shown, query: query.and_then(|text| Query::parse(text, &VOCABULARY).ok()) })
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z0-9/.:=\"()%!,# ü-]{1,10}", Just("where".to_owned()), Just("\"\"".to_owned())]
}

/// A path, which is never empty.
fn any_path() -> impl Strategy<Value = String> {
    prop_oneof![
        any_text().prop_filter("not empty", |text| !text.is_empty()),
        Just("off".to_owned()),
        Just("--key".to_owned())
    ]
}

fn any_command() -> impl Strategy<Value = Command> {
    let value = prop_oneof![
        prop::sample::select(vec![
            (Field::Priority, "0.8"),
            (Field::Priority, "-0.25"),
            (Field::Lastmod, "today"),
            (Field::Lastmod, "none"),
            (Field::Changefreq, "daily")
        ])
        .prop_map(|(field, typed)| (field, typed.to_owned())),
        any_text()
            .prop_filter("not blank", |text| !text.trim().is_empty())
            .prop_map(|text| (Field::Loc, text.trim().to_owned())),
    ];
    let replace = ("[a-c./]{1,5}", "[a-c./$\\\\]{0,6}", any::<bool>(), any::<bool>()).prop_map(
        |(pattern, replacement, all, any_case)| {
            let escaped = replacement.replace('\\', "\\\\").replace('$', "$$").replace('/', "\\/");
            let line = format!(
                "s/{}/{escaped}/{}{}",
                pattern.replace('/', "\\/"),
                if all { "g" } else { "" },
                if any_case { "i" } else { "" }
            );
            read(&line)
        },
    );
    prop_oneof![
        (any_scope(), value)
            .prop_map(|(scope, (field, typed))| Command::Set { scope, assignments: vec![Assignment { field, typed }] }),
        (any_scope(), replace).prop_filter_map("a replacement", |(scope, command)| match command {
            Ok(Command::Replace { replace, .. }) => Some(Command::Replace { scope, replace }),
            _ => None,
        }),
        prop::collection::vec(any_text(), 1..4).prop_map(Command::Add),
        (any_scope(), prop::sample::select(vec!["image/loc", "video[2]/price@currency", "foo:bar[3]/b"]), any_text())
            .prop_map(|(scope, path, value)| {
                let path = crate::protocol::extension::path::Path::parse(path).unwrap();
                Command::Extend { scope, changes: vec![ExtensionChange::Set { path, value: value.into() }] }
            }),
        any_scope().prop_map(Command::Delete),
        any_scope().prop_map(Command::Mark),
        any_scope().prop_map(|scope| Command::Fix { scope, rules: vec!["loc-*".to_owned()], answer: None }),
        any_scope().prop_map(|scope| Command::Fix {
            scope,
            rules: vec!["lastmod-future".to_owned()],
            answer: Some("today".to_owned())
        }),
        (1..99_u32).prop_map(Command::Undo),
        (1..u32::MAX).prop_map(|row| Command::Goto(Goto::Row(row))),
        (any_text(), any::<bool>()).prop_map(|(path, force)| Command::Write { path: Some(path), force }),
        any_text().prop_map(|topic| Command::Help(Some(topic))),
        any_text().prop_map(Command::SetBaseUrl),
        (any_scope(), any::<bool>(), prop::option::of(0..100_u32), prop::option::of(1..=256_u16)).prop_map(
            |(scope, allow_private, rate, concurrency)| {
                let options = ProbeOptions { allow_private, rate: rate.map(|rate| f64::from(rate) / 4.0), concurrency };
                Command::Probe(ProbeCommand::Request { scope, options })
            }
        ),
        any_path().prop_map(|path| Command::Probe(ProbeCommand::Write(path))),
        (prop::collection::vec(any_path(), 1..3), prop::option::of(any_path()), any::<bool>())
            .prop_map(|(paths, key, replace)| Command::Data(DataCommand::Read(Tables { paths, key, replace }))),
    ]
}

proptest! {
    #[test]
    fn the_canonical_line_parses_to_the_same_command(command in any_command()) {
        let line = command.to_string();
        prop_assert_eq!(read(&line), Ok(command), "{}", line);
    }

    #[test]
    fn any_line_is_parsed_or_rejected_with_a_valid_span(
        name in prop::sample::select(TABLE.iter().map(|spec| spec.name).collect::<Vec<_>>()),
        rest in "[ a-z0-9/\\\\\"$%!=:<#,ü\u{3000}-]{0,20}|\\PC{0,12}",
    ) {
        let wide = "%\u{3000}e<".to_owned();
        for line in [format!("{name}{rest}"), format!("%{name} {rest}"), rest, "undo ü".to_owned(), wide] {
            match read(&line) {
                Ok(command) => prop_assert_eq!(read(&command.to_string()), Ok(command), "{}", line),
                Err(error) => {
                    prop_assert!(line.get(error.span.clone()).is_some(), "{}: {:?}", line, error);
                    let _ = error.picture(&line);
                }
            }
            let _ = completions(&line, line.len(), &VOCABULARY);
        }
    }
}
