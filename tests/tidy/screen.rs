//! The thread that owns the screen does no I/O and no work on every row: both belong into jobs.

use crate::{assert_none, sources};

/// What files, locks, clocks and threads are reached by.
const IO: [&str; 19] = [
    "std::fs",
    "std::net",
    "std::process",
    "std::thread",
    "std::time",
    "files::first_rows(",
    "files::merge_conflicts(",
    "files::names_in(",
    "files::read",
    "files::write",
    "StateSlot::wanted(",
    "looking.run(",
    "comparing.run(",
    "planning.run(",
    "saving.run(",
    "data::read(",
    "data::dates(",
    "inspection.",
    "report.write(",
];

/// What looks at every row of a set.
const ROWS: [&str; 11] = [
    "session.run(&command",
    ".keep_rule(",
    ".read_policy(",
    ".rule_counts_by_file(",
    ".rows_where(",
    "Met::of(",
    ".set_site(",
    ".set_policy(",
    ".set_profile(",
    "policy::recheck(",
    ".forget_unsaved(",
];

/// Lines that may say so all the same, each with its reason.
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
        let (code, bodies) = without_jobs(&file.code);
        jobs += bodies;
        let is_allowed =
            |name: &str| ALLOWED.iter().any(|(end, allowed, _)| file.name.ends_with(end) && *allowed == name);
        for name in IO.iter().chain(&ROWS).filter(|name| code.contains(**name) && !is_allowed(name)) {
            wrong.push(format!("{}: {name}", file.name));
        }
    }
    assert!(jobs > 15, "{jobs} jobs found: the measure is broken");
    assert_none(&wrong, "I/O and work on every row outside of jobs");
}

/// Code without blanks and without what is handed to `jobs.run` and `jobs.spawn`, and how often that is.
fn without_jobs(code: &str) -> (String, usize) {
    let code: String = code.split_whitespace().collect();
    let (mut out, mut rest, mut count) = (String::new(), code.as_str(), 0);
    let begin =
        |text: &str| ["jobs.run(", "jobs.spawn("].iter().filter_map(|call| Some(text.find(call)? + call.len())).min();
    while let Some(at) = begin(rest) {
        count += 1;
        out.push_str(&rest[..at]);
        let mut depth = 1;
        let end = rest[at..].char_indices().find(|(_, letter)| {
            depth += i32::from(*letter == '(') - i32::from(*letter == ')');
            depth == 0
        });
        rest = &rest[at + end.map_or(0, |(end, _)| end)..];
    }
    out.push_str(rest);
    (out, count)
}

#[test]
fn bodies_of_jobs_are_left_out() {
    let code = "a(); jobs\n    .run(Kind::Look, false, move |_| { files::read(b(c)) }); files::write(d)";
    assert_eq!(without_jobs(code), ("a();jobs.run();files::write(d)".to_owned(), 1));
}
