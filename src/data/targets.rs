//! URLs at which redirects end: a row that gets such a URL keeps the data of the URL that redirected.

use super::column::Column;
use super::urls::Urls;
use super::{DataRow, Value};
use crate::persistent;
use crate::protocol::location;
use std::borrow::Cow;

/// The final URLs of redirects, and the records that name them. A clone of those that were shared costs nothing.
#[derive(Debug, Clone, Default)]
pub(super) struct Targets {
    urls: Urls,
    /// Of each final URL, the record that named it last.
    records: persistent::Column<u32>,
}

impl Targets {
    pub(super) fn insert(&mut self, url: &str, record: u32) {
        match self.urls.insert(url) {
            Some(at) if at as usize == self.records.len() => self.records.push(record),
            Some(at) => self.records.set(at as usize, record),
            None => {}
        }
    }

    /// The record that named a URL last, by its normalised form.
    pub(super) fn find_key(&self, key: &str, half: u32) -> Option<u32> {
        self.records.get(self.urls.find_key(key, half)? as usize).copied()
    }

    pub(super) fn share(&mut self) {
        self.urls.share();
    }

    pub(super) fn unshared(&self) -> Self {
        Self { urls: self.urls.unshared(), records: self.records.clone() }
    }
}

/// Makes the columns answer for final URLs: `status` with the status of the final URL, and `location` with nothing.
pub(super) fn link(columns: &mut [Column]) {
    let end = columns.iter().find(|column| column.name() == "final_status").and_then(Column::shared_cells);
    for column in columns {
        match column.name() {
            "status" => column.set_target_cells(end.clone()),
            "location" => column.set_target_cells(None),
            _ => {}
        }
    }
}

/// Where the redirects of a record end, if a page answered there.
pub(super) fn of(columns: &[Column], record: u32) -> Option<Cow<'_, str>> {
    let column = |name: &str| columns.iter().find(|column| column.name() == name);
    let answers = |name, statuses: std::ops::Range<f64>| {
        let value = column(name).map(|column| column.value(DataRow::of(record)));
        matches!(value, Some(Value::Number(status)) if statuses.contains(&status))
    };
    if !answers("status", 300.0..400.0) || !answers("final_status", 200.0..300.0) {
        return None;
    }
    column("final")?.text(DataRow::of(record)).filter(|url| location::origin(url).is_some())
}
