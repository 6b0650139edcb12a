//! Tests of `fix` and of the explanations of rules.

use super::*;

#[test]
fn fix_applies_safe_or_named_rules_and_check_obeys_the_profile() {
    let folder = folder();
    let path = folder.path().join("dates.xml");
    let entry =
        |date: &str| format!("<url>\n  <loc>https://e.com/{}</loc>\n  <lastmod>{date}</lastmod>\n</url>\n", date.len());
    let dates = ["2025-03-09T10:00Z", "2025-3-9", "2025"];
    fs::write(&path, format!("{HEAD}{}</urlset>\n", dates.map(entry).concat())).unwrap();
    let before = fs::read_to_string(&path).unwrap();
    let (status, out, notes) = sited(&folder, "fix DIR/dates.xml --dry-run --now 2026-11-20");
    assert_eq!(status, 0, "{notes}");
    assert_eq!(out.lines().filter(|line| line.starts_with("+  <lastmod>")).count(), 2, "{out}");
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
    let (status, _, notes) = sited(&folder, "fix DIR/dates.xml --rule lastmod-unpadded --now 2026-11-20");
    assert_eq!(status, 0, "{notes}");
    assert_eq!(fs::read_to_string(&path).unwrap(), before.replace("2025-3-9", "2025-03-09"));
    let (status, ..) = sited(&folder, "fix DIR/dates.xml --now 2026-11-20");
    let all = before.replace("2025-3-9", "2025-03-09").replace("10:00Z", "10:00:00Z");
    // The unused namespace declaration is removed too.
    let all = all.replace(" xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\"", "");
    assert_eq!((status, fs::read_to_string(&path).unwrap()), (0, all));
    assert_eq!(sited(&folder, "check DIR/dates.xml --now 2026-11-20").0, 1);
    assert_eq!(sited(&folder, "check DIR/dates.xml --profile yandex --now 2026-11-20").0, 0);
    assert_eq!(sited(&folder, "fix DIR/dates.xml --rule no-such-rule").0, 2);
}

#[test]
fn an_answer_chooses_how_a_finding_is_fixed() {
    let folder = folder();
    let path = folder.path().join("answers.xml");
    let entry = |field: &str| format!("<url><loc>https://e.com/{}</loc>{field}</url>\n", field.len());
    let table = [
        ("<lastmod>2026-03-09T10:00:00</lastmod>", "lastmod-no-timezone", "+02:00", "2026-03-09T10:00:00+02:00"),
        ("<lastmod>2026-03-09T10:00:00</lastmod>", "lastmod-no-timezone", "utc", "2026-03-09T10:00:00Z"),
        ("<lastmod>05/10/2026</lastmod>", "lastmod-invalid", "day-first", "2026-10-05"),
        ("<lastmod>05/10/2026</lastmod>", "lastmod-invalid", "remove", "</loc></url>"),
        ("<lastmod>2027-03-09</lastmod>", "lastmod-future", "today", "2026-11-20"),
        ("<priority>8</priority>", "priority-range", "out-of-10", "0.8"),
        ("<priority>8</priority>", "priority-range", "usual", "0.8"),
    ];
    for (field, rule, answer, expected) in table {
        fs::write(&path, format!("{HEAD}{}</urlset>\n", entry(field))).unwrap();
        let (status, _, notes) =
            sited(&folder, &format!("fix DIR/answers.xml --rule {rule} --answer {answer} --now 2026-11-20"));
        assert_eq!(status, 0, "{notes}");
        let after = fs::read_to_string(&path).unwrap();
        assert!(after.contains(expected), "{rule} {answer}: {after}");
    }
    let (status, _, notes) = sited(&folder, "fix DIR/answers.xml --rule priority-range --answer soon");
    assert_eq!(status, 2, "{notes}");
    assert!(notes.contains("usual, out-of-10, out-of-100, nearest, remove"), "{notes}");
    assert_eq!(sited(&folder, "fix DIR/answers.xml --rule loc-* --answer remove").0, 2);
}

/// Each rule is reported with the number of its rows, and no command of the editor is mentioned.
#[test]
fn fix_reports_the_count_of_each_rule() {
    let folder = folder();
    let path = folder.path().join("several.xml");
    let rows = "<url><loc>https://e.com/a</loc><lastmod>2025-1-1</lastmod><changefreq>Yearly</changefreq></url>\n\
                <url><loc>https://e.com/b</loc><changefreq>Weekly</changefreq></url>\n\
                <url><loc>https://e.com/c</loc><lastmod>gestern</lastmod></url>\n";
    let write = || fs::write(&path, format!("{HEAD}{rows}</urlset>\n")).unwrap();
    write();
    let (status, _, notes) = sited(&folder, "fix DIR/several.xml --rule lastmod-*,changefreq-case");
    assert_eq!(status, 0, "{notes}");
    assert!(notes.starts_with("2 rows fixed (lastmod-unpadded 1, changefreq-case 2); 1 row skipped: "), "{notes}");
    assert!(!notes.contains(" :"), "{notes}");
    write();
    let (_, _, notes) = sited(&folder, "fix DIR/several.xml --rule lastmod-invalid");
    assert!(notes.contains("lastmod-invalid needs an answer: day-first, month-first or remove"), "{notes}");
}

#[test]
fn fix_reports_findings_that_need_an_explicit_rule() {
    let folder = folder();
    let head = HEAD.replace(" xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\"", "");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let cut = format!("{head}<url><loc>https://e.com/a</loc></url>\n<url><loc>https://");
    write("cut.xml", &cut);
    let waits = "1 finding is fixed only if its rule is named: xml-truncated";
    let (status, _, notes) = sited(&folder, "fix DIR/cut.xml --dry-run");
    assert_eq!((status, notes.as_str()), (0, &*format!("dry run, nothing is written: {waits}\n")));
    assert!(sited(&folder, "fix DIR/cut.xml --accept-repairs").2.starts_with(&format!("nothing changed: {waits}\n")));
    assert_eq!(fs::read_to_string(folder.path().join("cut.xml")).unwrap(), cut);
    assert_eq!(sited(&folder, "fix DIR/cut.xml --rule xml-truncated").0, 0);
    assert!(fs::read_to_string(folder.path().join("cut.xml")).unwrap().ends_with("</url>\n</urlset>\n"));
    // Findings of rows and files. Naming one rule of the file writes its other repairs as well.
    let damaged = format!("{head}<url><loc>https://e.com/?a&b#c</loc></url>\n<loc>https://e.com/d</loc></urlset>");
    write("both.xml", &damaged);
    let (_, _, notes) = sited(&folder, "fix DIR/both.xml --dry-run");
    let waits = "2 findings are fixed only if their rules are named: doc-entry-outside-root (1), loc-fragment (1)";
    assert!(notes.contains(waits), "{notes}");
    let (status, _, notes) = sited(&folder, "fix DIR/both.xml --rule xml-*");
    assert_eq!((status, notes.lines().next()), (0, Some("1 file fixed")));
    let written = fs::read_to_string(folder.path().join("both.xml")).unwrap();
    assert!(written.contains("?a&amp;b#c") && written.contains("<url><loc>https://e.com/d</loc></url>"), "{written}");
}

#[test]
fn only_rules_with_choices_explain_answers() {
    let folder = folder();
    let answers = |code: &str| {
        let (_, out, _) = sited(&folder, &format!("check --explain {code}"));
        out.lines().filter(|line| line.contains("  answer  ")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(["doc-stray-text", "set-duplicate", "field-duplicate", "xml-truncated"].map(answers).concat().is_empty());
    assert!(answers("changefreq-invalid")[0].ends_with("usual        use the nearest word"));
    for rule in crate::check::rule::Rule::ALL {
        let choices = crate::check::decision::choices(rule);
        assert!(choices.iter().all(|answer| answer.about != "the default of the fix"), "{rule:?}");
    }
}

#[test]
fn rules_and_values_are_explained() {
    let folder = folder();
    let explain = |words: &str| {
        let (status, out, notes) = sited(&folder, &format!("check --explain {words}"));
        assert_eq!((status, notes.as_str()), (0, ""), "{words}");
        out
    };
    let rule = explain("lastmod-no-timezone");
    for words in [
        "lastmod-no-timezone: a time without a zone",
        "yandex       warning",
        "answer       utc          assume UTC",
        "source       Google",
    ] {
        assert!(rule.contains(words), "no {words:?} in\n{rule}");
    }
    let value = explain("2026-10-05T10:00:00");
    for words in ["as lastmod", "protocol     rejects       a time needs a zone", "error[lastmod-no-timezone]"] {
        assert!(value.contains(words), "no {words:?} in\n{value}");
    }
    assert!(explain("0.5").contains("no findings"));
    assert!(explain("https://www.sitemaps.org/schemas/sitemap/0.9").contains("as namespace"));
    assert_eq!(sited(&folder, "check --explain nonsense").0, 2);
}

/// A rule may be selected more than once, also by patterns.
#[test]
fn a_rule_given_twice_counts_once() {
    let folder = folder();
    for rules in ["lastmod-missing --rule lastmod-missing", "lastmod-* --rule lastmod-missing", "* --rule loc-*"] {
        let (status, _, notes) = sited(&folder, &format!("fix DIR/good.xml --dry-run --rule {rules}"));
        assert!(status == 0 && !notes.contains("no rule"), "{rules}: {status} {notes}");
    }
    let (status, _, notes) = sited(&folder, "fix DIR/good.xml --rule lastmod-missing --rule lastmod-missin");
    assert!(status != 0 && notes.contains("did you mean lastmod-missing?"), "{notes}");
}
