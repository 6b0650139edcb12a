//! Tests of robots.txt from RFC 9309, and from Google's documentation where the RFC leaves a choice.

use super::*;
use proptest::prelude::*;

/// Whether `agent` may fetch `url`.
fn allows(robots: &str, agent: &str, url: &str) -> bool {
    Robots::parse(robots.as_bytes()).rules_for(agent).access(url) == Access::Allowed
}

#[track_caller]
fn expect(robots: &str, agent: &str, cases: &[(&str, bool)]) {
    for (path, expected) in cases {
        let url = format!("https://e.com{path}");
        assert_eq!(allows(robots, agent, &url), *expected, "{agent} {path} of\n{robots}");
    }
}

#[test]
fn everything_is_allowed_without_rules() {
    for robots in ["", "\n\n", "# nothing", "Sitemap: https://e.com/s.xml", "User-agent: FooBot", "<html>no</html>"] {
        expect(robots, "FooBot", &[("/", true), ("/a", true)]);
    }
    // Rules without a group are ignored (section 2.2).
    expect("Disallow: /\nUser-agent: BarBot\nDisallow: /b", "FooBot", &[("/b", true)]);
}

/// RFC 9309, section 2.2.1: groups, merging of groups, and the crawlers that they name.
#[test]
fn a_crawler_follows_all_groups_that_name_it_or_else_those_for_everybody() {
    let robots = "User-agent: *\nDisallow: /all\n\nUser-agent: FooBot\nDisallow: /foo\n\n\
                  User-agent: BarBot\nUser-agent: foobot\nDisallow: /both\n\nUser-agent: *\nDisallow: /more\n";
    expect(robots, "FooBot", &[("/all", true), ("/more", true), ("/foo", false), ("/both", false)]);
    expect(robots, "BARBOT", &[("/all", true), ("/foo", true), ("/both", false)]);
    expect(robots, "QuxBot", &[("/all", false), ("/more", false), ("/foo", true), ("/both", true)]);
    // An empty group that names the crawler allows everything.
    expect("User-agent: *\nDisallow: /\n\nUser-agent: FooBot\nDisallow:\n", "FooBot", &[("/a", true)]);
    // A group for `*` and a named crawler applies to both.
    let robots = "User-agent: FooBot\nUser-agent: *\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n";
    expect(robots, "FooBot", &[("/a", false), ("/b", true)]);
    expect(robots, "QuxBot", &[("/a", false), ("/b", false)]);
}

#[test]
fn a_crawler_is_named_by_its_whole_product_token() {
    for (line, named) in [
        ("FooBot", true),
        ("foobot", true),
        ("FooBot/2.1", true),
        ("FooBot Foo", true),
        ("Foo", false),
        ("FooBotNews", false),
        ("FooBot-News", false),
        ("* and more", true),
        ("*bot", false),
        ("", false),
        ("2FooBot", false),
    ] {
        let robots = format!("User-agent: {line}\nDisallow: /\n");
        assert_eq!(allows(&robots, "FooBot", "https://e.com/a"), !named, "{line:?}");
    }
    assert_eq!(product_token(b"sited/0.1 (+https://e.com)"), b"sited");
    // A crawler without a name follows the rules for `*`.
    assert!(!allows("User-agent: *\nDisallow: /\n", "", "https://e.com/"));
}

/// RFC 9309, section 2.2.2: the longest match decides, and `Allow` if two are equally long.
#[test]
fn the_longest_pattern_decides() {
    expect("User-agent: *\nDisallow: /x/page.html\nAllow: /x/\n", "a", &[("/x/page.html", false), ("/x/b", true)]);
    expect("User-agent: *\nAllow: /x/page.html\nDisallow: /x/\n", "a", &[("/x/page.html", true), ("/x/b", false)]);
    expect("User-agent: *\nDisallow: /a\nAllow: /a\n", "a", &[("/a", true), ("/ab", true)]);
    expect("User-agent: *\nDisallow: \nAllow: \n", "a", &[("/a", true)]);
    expect("User-agent: *\nDisallow: /x/page.html\nAllow: /x/page.html\n", "a", &[("/x/page.html", true)]);
    expect("User-agent: *\nAllow: /page\nDisallow: /*.html\n", "a", &[("/page.html", false), ("/page", true)]);
    expect("User-agent: *\nAllow: /x/page.\nDisallow: /*.html\n", "a", &[("/x/page.html", true), ("/x/y.html", false)]);
    // Groups for `*` do not apply to a named crawler, even if their patterns are longer.
    let robots = "User-agent: *\nDisallow: /x/page.html\nUser-agent: FooBot\nDisallow: /x/\nAllow: /x\n";
    expect(robots, "FooBot", &[("/x/page.html", false), ("/x", true)]);
    // The length of a pattern includes its wildcards.
    expect("User-agent: *\nAllow: /$\nDisallow: /\n", "a", &[("/", true), ("/page.html", false)]);
    expect("User-agent: *\nAllow: /page\nDisallow: /*.ph\n", "a", &[("/page.php5", true)]);
    expect("User-agent: *\nAllow: /folder\nDisallow: /folder\n", "a", &[("/folder/page", true)]);
}

#[test]
fn paths_are_case_sensitive_and_keys_are_not() {
    expect("USER-AGENT: FooBot\nALLOW: /x/\nDISALLOW: /\n", "FooBot", &[("/x/y", true), ("/a/b", false)]);
    expect("user-agent: FooBot\nallow: /x/\ndisallow: /\n", "FooBot", &[("/x/y", true), ("/X/y", false)]);
    expect("uSeR-aGeNt: FooBot\ndIsAlLoW: /X\n", "foobot", &[("/x/y", true), ("/X/y", false)]);
}

/// RFC 9309, section 2.2.3.
#[test]
fn special_characters_are_matched() {
    let of = |pattern: &str| format!("User-agent: *\nDisallow: {pattern}\n");
    let cases: [(&str, &[(&str, bool)]); 15] = [
        ("*", &[("/", false), ("/a", false)]),
        ("/", &[("/", false), ("/a?b", false)]),
        ("/foo/bar", &[("/foo/bar", false), ("/foo/bar/quz", false), ("/foo/BAR", true), ("/x/foo/bar", true)]),
        ("/foo*quz", &[("/foo/bar/quz", false), ("/fooquz", false), ("/foo/qu", true)]),
        ("/this/path/exactly$", &[("/this/path/exactly", false), ("/this/path/exactly/", true)]),
        ("*.gif$", &[("/a.gif", false), ("/a.gif.b.gif", false), ("/a.gif?x", true)]),
        ("/*.php", &[("/index.php", false), ("/a.php/b", false), ("/a.PHP", true), ("/?q=a.php", false)]),
        ("/fish*.php", &[("/fish.php", false), ("/fishheads/catfish.php?a", false), ("/Fish.php", true)]),
        ("/a$b", &[("/a$b", false), ("/a", true)]),
        ("/*/*/c$", &[("/a/b/c", false), ("/a/c", true), ("/a/b/c/c", false), ("/a/b/cc", true)]),
        ("/a**b", &[("/ab", false), ("/axb", false)]),
        ("/a*$", &[("/a", false), ("/abc", false)]),
        ("/*?", &[("/a?b", false), ("/a", true)]),
        ("/path/file-with-a-%2A.html", &[("/path/file-with-a-%2A.html", false), ("/path/file-with-a-b.html", true)]),
        ("no-slash", &[("/no-slash", true)]),
    ];
    for (pattern, cases) in cases {
        expect(&of(pattern), "a", cases);
    }
    // A comment is removed, even if it could be part of a pattern.
    expect(
        "User-agent: * # all\nDisallow: /a # /b\n#Disallow: /c\n",
        "x",
        &[("/a", false), ("/b", true), ("/c", true)],
    );
}

/// RFC 9309, section 2.2.2: octets outside of ASCII are compared percent-encoded. Google's parser does not decode
/// octets that are encoded without need.
#[test]
fn octets_are_compared_percent_encoded() {
    let of = |pattern: &str| format!("User-agent: *\nDisallow: /\nAllow: {pattern}\n");
    expect(&of("/foo/bar?baz=https://foo.bar"), "a", &[("/foo/bar?baz=https://foo.bar", true), ("/foo/bar?b", false)]);
    for pattern in ["/foo/bar/ツ", "/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84"] {
        expect(&of(pattern), "a", &[("/foo/bar/%E3%83%84", true), ("/foo/bar/ツ", true), ("/foo/bar/%e3%83%84", true)]);
    }
    expect(&of("/foo/bar/%62%61%7A"), "a", &[("/foo/bar/%62%61%7A", true), ("/foo/bar/baz", false)]);
    expect(&of("/a%zzé"), "a", &[("/a%zz%C3%A9", true)]);
    expect(&of("/a%"), "a", &[("/a%", true)]);
    // A path that is not encoded first.
    let rules = Robots::parse(of("/ツ").as_bytes()).rules_for("a");
    assert_ne!(rules.access_to_path("/ツ".as_bytes()), Access::Allowed);
    // The octets of text that is not UTF-8 are kept.
    let rules = Robots::parse(b"User-agent: *\nDisallow: /caf\xe9\n").rules_for("a");
    assert!(
        rules.access("https://e.com/caf%E9") != Access::Allowed
            && rules.access("https://e.com/caf%C3%A9") == Access::Allowed
    );
}

#[test]
fn lines_end_with_cr_or_lf_or_both_and_a_mark_is_skipped() {
    for ending in ["\n", "\r", "\r\n"] {
        let robots = ["User-agent: BarBot", "", "User-agent: FooBot", "Disallow: /a", "Disallow: /b"].join(ending);
        for robots in [robots.clone(), robots.clone() + ending, format!("\u{feff}{robots}")] {
            expect(&robots, "FooBot", &[("/a", false), ("/b", false), ("/c", true)]);
            expect(&robots, "BarBot", &[("/a", false)]);
            let rules = Robots::parse(robots.as_bytes()).rules_for("FooBot");
            assert_eq!(rules.access("https://e.com/b"), Access::Blocked { line: 5 }, "{robots:?}");
        }
    }
    for mark in [&b"\xef"[..], b"\xef\xbb", b"\xef\xbb\xbf"] {
        let robots = [mark, b"User-agent: FooBot\nDisallow: /\n"].concat();
        assert!(Robots::parse(&robots).rules_for("FooBot").access("https://e.com/") != Access::Allowed, "{mark:?}");
    }
    // A mark at another position, or an incomplete one, is part of an unknown key.
    assert!(allows("User-agent: FooBot\n\u{feff}Disallow: /\n", "FooBot", "https://e.com/"));
    let broken = b"\xef\x11\xbfUser-agent: FooBot\nDisallow: /\n";
    assert!(Robots::parse(broken).rules_for("FooBot").access("https://e.com/") == Access::Allowed);
}

#[test]
fn common_typing_errors_are_accepted() {
    for key in ["disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw", " Disallow ", "Disallowed"] {
        expect(&format!("User-agent: *\n{key}: /a\n"), "x", &[("/a", false)]);
    }
    for key in ["user-agent", "useragent", "user agent"] {
        expect(&format!("{key}: FooBot\nDisallow: /a\n"), "FooBot", &[("/a", false)]);
    }
    // A missing colon is accepted if there are exactly two words.
    expect("User-agent FooBot\nDisallow /\n", "FooBot", &[("/a", false)]);
    expect("User-agent\tFooBot\n  Disallow \t /\n", "FooBot", &[("/a", false)]);
    expect("foo: FooBot\nbar: /\n", "FooBot", &[("/a", true)]);
    expect("User-agent: *\nDisallow /a b\n: /c\nDisallow\n", "x", &[("/a", true), ("/c", true)]);
}

#[test]
fn allowing_the_index_page_allows_the_folder() {
    let robots = "User-agent: *\nAllow: /allowed/index.html\nDisallow: /\n";
    expect(
        robots,
        "a",
        &[("/allowed/index.html", true), ("/allowed/", true), ("/allowed/index.htm", false), ("/index.html", false)],
    );
    // Only for `Allow`.
    expect("User-agent: *\nDisallow: /a/index.html\n", "a", &[("/a/", true), ("/a/index.html", false)]);
}

/// RFC 9309, section 2.2.4: other records do not end a group.
#[test]
fn other_records_are_skipped_and_end_no_group() {
    for record in ["Sitemap: https://e.com/s.xml", "Invalid-Unknown-Line: unknown", "Crawl-delay: 3", "Host: e.com"] {
        let robots = format!("User-agent: BarBot\n{record}\nUser-agent: FooBot\nDisallow: /\n");
        expect(&robots, "BarBot", &[("/", false)]);
        expect(&robots, "FooBot", &[("/", false)]);
    }
}

#[test]
fn sitemap_lines_are_listed_from_the_whole_file() {
    let robots = "Sitemap: https://e.com/a.xml\nUser-agent: *\nDisallow: /\n  sitemap :  https://e.com/b.xml # b\n\
                  Site-map: https://e.com/c.xml\nSitemap:\n";
    let robots = Robots::parse(robots.as_bytes());
    let lines: Vec<_> = robots.sitemaps().iter().map(|line| (line.line, line.url.as_str())).collect();
    assert_eq!(lines, [(1, "https://e.com/a.xml"), (4, "https://e.com/b.xml"), (5, "https://e.com/c.xml"), (6, "")]);
    assert!(robots.rules_for("a").access("https://e.com/") != Access::Allowed);
}

#[test]
fn the_delay_of_a_group_is_that_of_its_crawlers() {
    let robots = "User-agent: *\nCrawl-delay: 2.5\nDisallow:\n\nUser-agent: FooBot\nUser-agent: BarBot\n\
                  Crawl-delay: 10\nDisallow: /a\n\nUser-agent: QuxBot\nDisallow: /q\n";
    let robots = Robots::parse(robots.as_bytes());
    let delay = |agent: &str| robots.rules_for(agent).crawl_delay().map(|delay| delay.as_secs_f64());
    assert_eq!(["a", "FooBot", "BarBot", "QuxBot"].map(delay), [Some(2.5), Some(10.0), Some(10.0), None]);
    for wrong in ["-1", "soon", "", "1e400", "NaN", "inf"] {
        let robots = format!("User-agent: *\nCrawl-delay: {wrong}\n");
        assert_eq!(Robots::parse(robots.as_bytes()).rules_for("a").crawl_delay(), None, "{wrong}");
    }
}

/// RFC 9309, section 2.5.
#[test]
fn the_first_500_kibibytes_are_read() {
    let filler = |bytes: usize| "#".repeat(bytes - 1) + "\n";
    let head = "User-agent: *\nDisallow: /a\n";
    let last = "Disallow: /b\n";
    let within = format!("{head}{}{last}", filler(MAX_BYTES - head.len() - last.len()));
    expect(&within, "x", &[("/a", false), ("/b", false)]);
    let beyond = format!("{head}{}{last}", filler(MAX_BYTES - head.len()));
    expect(&beyond, "x", &[("/a", false), ("/b", true)]);
}

#[test]
fn a_long_line_is_cut_and_the_next_one_counts() {
    // The line is longer than any URL; the cut may be within a character.
    for character in ["a", "é", "ツ"] {
        for extra in 0..4 {
            let long = "x".repeat(extra) + &character.repeat(20_000);
            let robots = format!("User-agent: *\nDisallow: /{long}\nDisallow: /b\n");
            expect(&robots, "x", &[("/b", false), ("/c", true)]);
        }
    }
    let pattern = "/x".repeat(MAX_LINE_BYTES);
    let rules = Robots::parse(format!("User-agent: *\nDisallow: {pattern}\n").as_bytes()).rules_for("a");
    let kept = MAX_LINE_BYTES - "Disallow: ".len();
    assert!(rules.access(&format!("https://e.com{}", &pattern[..kept])) != Access::Allowed);
    assert!(rules.access(&format!("https://e.com{}", &pattern[..kept - 1])) == Access::Allowed);
}

#[test]
fn a_zero_byte_ends_its_line() {
    let rules = Robots::parse(b"User-agent: *\nDisallow: /a\0b\nDisallow: /c\n").rules_for("x");
    assert!(rules.access("https://e.com/a") != Access::Allowed && rules.access("https://e.com/c") != Access::Allowed);
}

#[test]
fn the_path_of_a_url_is_extracted() {
    for (url, expected) in [
        ("", "/"),
        ("https://e.com", "/"),
        ("https://e.com/", "/"),
        ("https://e.com/a", "/a"),
        ("https://e.com/a/b?c=http://d.e/", "/a/b?c=http://d.e/"),
        ("https://e.com/a/b?c=d&e=f#fragment", "/a/b?c=d&e=f"),
        ("https://e.com?a", "/?a"),
        ("https://e.com#/a", "/"),
        ("e.com/a;b#c", "/a;b"),
        ("//e.com/b/c", "/b/c"),
        ("/a", "/a"),
    ] {
        assert_eq!(path_and_query(url), expected, "{url}");
    }
}

/// The definition: every way to give `*` a text is tried.
fn matches_by_definition(path: &[u8], pattern: &[u8]) -> bool {
    match pattern {
        [] => true,
        [b'$'] => path.is_empty(),
        [b'*', rest @ ..] => (0..=path.len()).any(|skipped| matches_by_definition(&path[skipped..], rest)),
        [byte, rest @ ..] => path.first() == Some(byte) && matches_by_definition(&path[1..], rest),
    }
}

proptest! {
    #[test]
    fn patterns_match_as_defined(path in "/[ab*$]{0,8}", pattern in "[/ab*$]{0,8}") {
        let (path, pattern) = (path.as_bytes(), pattern.as_bytes());
        prop_assert_eq!(matches(path, pattern), matches_by_definition(path, pattern));
    }

    #[test]
    fn every_input_can_be_checked(bytes in prop::collection::vec(any::<u8>(), 0..400), url in ".{0,60}") {
        let _ = Robots::parse(&bytes).rules_for("FooBot").access(&url);
        let text = [&b"User-agent: FooBot\nDisallow:"[..], &bytes].concat();
        let _ = Robots::parse(&text).rules_for("FooBot").access(&url);
    }
}
