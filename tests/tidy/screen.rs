//! Checks that the screen thread does no I/O and no work on every row.

use crate::{assert_none, sources};

/// Names that access files, locks, clocks and threads.
const IO: [&str; 27] = [
    "std::fs",
    "std::net",
    "std::process",
    "std::thread",
    "std::time",
    ".add_file(",
    "compare_rows(",
    "files::first_rows(",
    "files::merge_conflicts(",
    "files::names_in(",
    "files::read",
    "files::write",
    "StateSlot::acquire_if_enabled(",
    "looking.run(",
    "comparing.run(",
    "planning.run(",
    "saving.run(",
    "data::read(",
    "data::dates(",
    "inspection.",
    "report.write(",
    "recovery::read(",
    "journal::read(",
    "locks.take(",
    ".check_available(",
    ".claim(",
    "replay.run(",
];

/// Calls that visit every row of a set.
const ROWS: [&str; 11] = [
    "session.run(&command",
    ".keep_rule(",
    ".read_policy(",
    ".rule_counts_by_file(",
    ".rows_where(",
    "MatchedUrls::of(",
    ".set_site(",
    ".set_policy(",
    ".set_profile(",
    "policy::recheck(",
    ".forget_unsaved(",
];

/// Exceptions: file, name and reason.
const ALLOWED: [(&str, &str, &str); 6] = [
    ("commands.rs", "session.run(&command", "backups, the base URL and marks of all or no rows: nothing is looked up"),
    ("flows/opening.rs", ".set_site(", "the session is new and has no rows"),
    ("flows/opening.rs", ".set_policy(", "the session is new and has no rows"),
    ("flows/opening.rs", ".set_profile(", "the session is new and has no rows"),
    ("flows/probe/job.rs", "std::time", "all of it runs in the job: its pauses are measured"),
    ("flows/rules.rs", "report.write(", "the name of a job's own value"),
];

#[test]
fn the_state_of_the_screen_does_no_io() {
    let files = sources("src/tui/app").into_iter().filter(|file| !file.name.contains("/tests"));
    let mut wrong = Vec::new();
    let mut jobs = 0;
    for file in files {
        let (code, bodies) = without_jobs(&file.code, &["jobs.run(", "jobs.spawn("]);
        jobs += bodies;
        // A job for small work runs on the screen thread, so its body is checked as well.
        let (always, _) = without_jobs(&file.code, &["jobs.spawn("]);
        let at_once = small_bodies(&always);
        let is_allowed =
            |name: &str| ALLOWED.iter().any(|(end, allowed, _)| file.name.ends_with(end) && *allowed == name);
        let in_code = IO.iter().chain(&ROWS).filter(|name| code.contains(**name));
        let in_small = IO.iter().filter(|name| at_once.contains(**name));
        for name in in_code.chain(in_small).filter(|name| !is_allowed(name)) {
            wrong.push(format!("{}: {name}", file.name));
        }
    }
    assert!(jobs > 15, "{jobs} jobs found: the measure is broken");
    assert_none(&wrong, "I/O and work on every row outside of jobs");
}

/// The code without blanks and without the arguments of these calls, and the number of calls.
fn without_jobs(code: &str, calls: &[&str]) -> (String, usize) {
    let code: String = code.split_whitespace().collect();
    let (mut out, mut rest, mut count) = (String::new(), code.as_str(), 0);
    while let Some((begin, end)) = next_call(rest, calls) {
        count += 1;
        out.push_str(&rest[..begin]);
        rest = &rest[end..];
    }
    out.push_str(rest);
    (out, count)
}

/// The start and end of the arguments of the next of these calls.
fn next_call(code: &str, calls: &[&str]) -> Option<(usize, usize)> {
    let begin = calls.iter().filter_map(|call| Some(code.find(call)? + call.len())).min()?;
    let mut depth = 1;
    let end = code[begin..].char_indices().find(|(_, letter)| {
        depth += i32::from(*letter == '(') - i32::from(*letter == ')');
        depth == 0
    });
    Some((begin, end.map_or(code.len(), |(end, _)| begin + end)))
}

/// The arguments of those calls of `jobs.run` that run on the screen thread if the set is small.
fn small_bodies(code: &str) -> String {
    let (mut out, mut rest) = (String::new(), code);
    while let Some((begin, end)) = next_call(rest, &["jobs.run("]) {
        let body = &rest[begin..end];
        if body.split(',').nth(1) != Some("false") {
            out.push_str(body);
        }
        rest = &rest[end..];
    }
    out
}

#[test]
fn bodies_of_jobs_are_removed() {
    let code = "a(); jobs\n    .run(Kind::Look, false, move |_| { files::read(b(c)) }); files::write(d)";
    assert_eq!(without_jobs(code, &["jobs.run("]), ("a();jobs.run();files::write(d)".to_owned(), 1));
    let code = "jobs.run(Kind::Look,false,|_|a(b));jobs.run(Kind::Plan,is_small,|_|c(d))";
    assert_eq!(small_bodies(code), "Kind::Plan,is_small,|_|c(d)");
}
