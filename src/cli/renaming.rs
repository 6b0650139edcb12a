//! Replaces the paths of downloaded temporary files by their URLs in the output.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use tempfile::TempDir;

/// Texts that are replaced in the output. If there are none, the output is passed through.
#[derive(Debug, Clone, Default)]
pub(super) struct Names(Arc<Mutex<Vec<(String, String)>>>);

/// Temporary folders of downloads, which are removed when the run ends.
#[derive(Debug, Default)]
pub(super) struct Downloads {
    pub(super) names: Names,
    #[cfg_attr(not(feature = "net"), allow(dead_code))]
    pub(super) folders: Vec<TempDir>,
}

impl Names {
    /// Adds a text to replace in later output.
    #[cfg_attr(not(feature = "net"), allow(dead_code))]
    pub(super) fn add(&self, text: String, by: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((text, by));
    }

    fn get(&self) -> Vec<(String, String)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A writer that replaces [`Names`].
pub(super) struct Renaming<W> {
    inner: W,
    names: Names,
    /// The end of the output, if it may be the beginning of a name.
    held: Vec<u8>,
}

impl<W: Write> Renaming<W> {
    pub(super) const fn new(inner: W, names: Names) -> Self {
        Self { inner, names, held: Vec::new() }
    }
}

impl<W: Write> Write for Renaming<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let names = self.names.get();
        if names.is_empty() && self.held.is_empty() {
            return self.inner.write(bytes);
        }
        self.held.extend_from_slice(bytes);
        let text = std::mem::take(&mut self.held);
        let (mut out, mut rest) = (Vec::with_capacity(text.len()), &text[..]);
        while let Some(first) = rest.first() {
            let name = names.iter().find(|(name, _)| rest.starts_with(name.as_bytes()));
            if let Some((name, by)) = name {
                out.extend_from_slice(by.as_bytes());
                rest = rest.get(name.len()..).unwrap_or_default();
            } else if names.iter().any(|(name, _)| name.as_bytes().starts_with(rest)) {
                self.held = rest.to_vec();
                break;
            } else {
                out.push(*first);
                rest = rest.get(1..).unwrap_or_default();
            }
        }
        self.inner.write_all(&out)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        self.inner.write_all(&held)?;
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_replaced_across_writes() {
        let text = b"/t/x/a.xml:1: error in /t/x/b.xml, not /t/y or /t/x";
        for cut in 0..text.len() {
            let names = Names::default();
            let mut out = Renaming::new(Vec::new(), names.clone());
            out.write_all(b"/t/x/ before\n").unwrap();
            names.add("/t/x/".to_owned(), "https://e.com/".to_owned());
            out.write_all(&text[..cut]).unwrap();
            out.write_all(&text[cut..]).unwrap();
            out.flush().unwrap();
            let expected = "/t/x/ before\nhttps://e.com/a.xml:1: error in https://e.com/b.xml, not /t/y or /t/x";
            assert_eq!(String::from_utf8(out.inner).unwrap(), expected, "{cut}");
        }
    }
}
