//! Prints how many faults were injected, by command and operation.

use super::outcome::{Content, Outcome};
use std::collections::BTreeMap;
use std::fmt::Write as _;

#[derive(Debug, Default, Clone, Copy)]
struct Row {
    injected: u64,
    met: u64,
    failed: u64,
    succeeded: u64,
    killed: u64,
    old: u64,
    new: u64,
    wrong: u64,
}

#[derive(Debug, Default)]
pub(super) struct Table(BTreeMap<(&'static str, &'static str), Row>);

impl Table {
    /// Counts a fault after which all promises hold, or that was not met (`None`).
    pub(super) fn count(&mut self, command: &'static str, call: &'static str, outcome: Option<(Outcome, Content)>) {
        let row = self.0.entry((command, call)).or_default();
        row.injected += 1;
        let Some((outcome, content)) = outcome else { return };
        row.met += 1;
        match outcome {
            Outcome::Failed => row.failed += 1,
            Outcome::Succeeded => row.succeeded += 1,
            Outcome::Killed => row.killed += 1,
        }
        match content {
            Content::Read => {}
            Content::Old => row.old += 1,
            Content::New => row.new += 1,
        }
    }

    pub(super) fn count_wrong(&mut self, command: &'static str, call: &'static str) {
        let row = self.0.entry((command, call)).or_default();
        row.injected += 1;
        row.met += 1;
        row.wrong += 1;
    }

    pub(super) fn met(&self) -> u64 {
        self.0.values().map(|row| row.met).sum()
    }

    /// Formats the sums by command and by system call, and by both if at least 1,000 faults were met.
    pub(super) fn print(&self) -> String {
        let mut text = String::new();
        print(&mut text, "command", self.sums(|(command, _)| (*command).to_owned()));
        print(&mut text, "operation", self.sums(|(_, call)| (*call).to_owned()));
        if self.met() >= 1_000 {
            print(&mut text, "both", self.sums(|(command, call)| format!("{command}: {call}")));
        }
        text
    }

    fn sums(&self, name: impl Fn(&(&'static str, &'static str)) -> String) -> BTreeMap<String, Row> {
        let mut sums: BTreeMap<String, Row> = BTreeMap::new();
        for (key, row) in &self.0 {
            for name in [name(key), "~ all".to_owned()] {
                let sum = sums.entry(name).or_default();
                sum.injected += row.injected;
                sum.met += row.met;
                sum.failed += row.failed;
                sum.succeeded += row.succeeded;
                sum.killed += row.killed;
                sum.old += row.old;
                sum.new += row.new;
                sum.wrong += row.wrong;
            }
        }
        sums
    }
}

fn print(text: &mut String, title: &str, rows: BTreeMap<String, Row>) {
    let head = ["injected", "met", "failed", "succeeded", "killed", "old", "new", "wrong"];
    let _ = writeln!(text, "\n{title:40}{}", head.map(|name| format!("{name:>10}")).concat());
    for (name, row) in rows {
        let numbers = [row.injected, row.met, row.failed, row.succeeded, row.killed, row.old, row.new, row.wrong];
        let _ = writeln!(text, "{name:40}{}", numbers.map(|number| format!("{number:>10}")).concat());
    }
}
