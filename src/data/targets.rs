//! Final URLs of redirects: if a URL in a set is replaced by the final URL, it keeps the data of the URL that
//! redirected.

use super::column::Column;
use super::urls::Urls;
use super::{DataRow, Value};
use crate::persistent;
use crate::protocol::location;
use std::borrow::Cow;

/// The final URLs of redirects with the records of the URLs that redirect. Clones are cheap after [`Targets::share`].
#[derive(Debug, Clone, Default)]
pub(super) struct Targets {
    urls: Urls,
    /// For each final URL, the last record that redirects to it.
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

    /// The last record that redirects to a URL, by its normalised form.
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

/// Sets the values of columns for final URLs: `status` has the status of the final URL, and `location` is absent.
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

/// The final URL of the redirects of a record, if it has a page.
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
