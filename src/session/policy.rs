//! The user's own policy: patterns that no URL may match, and URLs that must be listed.

use super::Session;
use super::findings::{Finding, Reported, field_offset};
use crate::check::rule::Rule;
use crate::document::query::UrlPattern;
use crate::document::sitemap::SitemapId;
use crate::protocol::{Field, Severity};
use crate::words::excerpt;
use crate::xml::entry::Entry;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::Arc;

/// Longest part of a pattern or URL that a message repeats.
const MOST: usize = 120;

/// A policy as it is written, on the command line or in a TOML file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyText {
    /// Patterns that no URL may match: a part of the URL, or with `*` and `?` a pattern as in queries.
    #[serde(default)]
    pub never: Vec<String>,
    /// URLs that must be listed.
    #[serde(default)]
    pub must: Vec<String>,
}

impl PolicyText {
    /// Adds what another policy says.
    pub fn join(&mut self, other: Self) {
        self.never.extend(other.never);
        self.must.extend(other.must);
    }
}

/// A policy, and which of its URLs were seen so far.
#[derive(Debug)]
pub struct Policy {
    never: Vec<(String, UrlPattern)>,
    must: HashMap<String, bool>,
    /// The required URLs in the order in which they were given.
    order: Vec<String>,
}

impl Policy {
    /// Builds the patterns.
    ///
    /// # Errors
    /// A pattern that is empty or too large, in words.
    pub fn new(text: PolicyText) -> Result<Self, String> {
        let compile = |pattern: String| {
            let compiled = UrlPattern::new(&pattern).map_err(|error| format!("{pattern}: {error}"))?;
            Ok((pattern, compiled))
        };
        let order: Vec<String> = text.must.into_iter().map(|url| url.trim().to_owned()).collect();
        let must = order.iter().map(|url| (url.clone(), false)).collect();
        Ok(Self { never: text.never.into_iter().map(compile).collect::<Result<_, String>>()?, must, order })
    }

    /// The forbidden URLs of a file, in its order; required ones are remembered.
    pub fn of_sitemap(&mut self, session: &Session, id: SitemapId) -> Vec<Reported> {
        let document = session.document();
        let Some(sitemap) = document.sitemap(id) else { return Vec::new() };
        let path = sitemap.path.as_deref();
        let file: Arc<str> = path.map_or_else(|| Arc::clone(&sitemap.name), |path| path.to_string_lossy().into());
        let source = document.source_of(id).unwrap_or(&sitemap.frame);
        let (mut lines, mut found) = (source.lines(), Vec::new());
        for row in sitemap.rows.iter().filter(|row| document.is_live(*row)) {
            let loc = document.loc(row);
            let loc = loc.trim();
            if let Some(is_listed) = self.must.get_mut(loc) {
                *is_listed = true;
            }
            let Some((pattern, _)) = self.never.iter().find(|(_, matcher)| matcher.matches(loc)) else { continue };
            let at = document.origin(row).map(|(source, entry)| {
                let anatomy = Entry::of(source.entry_text(entry), document.names(row));
                lines.position(source.start(entry).unwrap_or_default() + field_offset(&anatomy, Some(Field::Loc)))
            });
            let message = format!("the policy forbids URLs that match {}", excerpt(pattern, MOST));
            let finding = Finding::new(Rule::POLICY_NEVER, Severity::Error, Some(Field::Loc), message);
            found.push(Reported { file: Arc::clone(&file), at, row: Some(row), loc: loc.into(), finding });
        }
        found
    }

    /// The required URLs that no file lists.
    pub fn missing(&self, session: &Session) -> Vec<Reported> {
        let path = session.path().map_or_else(String::new, |path| path.to_string_lossy().into_owned());
        let file: Arc<str> = path.into();
        let missing = self.order.iter().filter(|url| self.must.get(*url) == Some(&false));
        let reported = missing.map(|url| {
            let message = format!("{} is missing, and the policy requires it", excerpt(url, MOST));
            let finding = Finding::new(Rule::POLICY_MUST, Severity::Error, None, message);
            Reported { file: Arc::clone(&file), at: None, row: None, loc: url.as_str().into(), finding }
        });
        reported.collect()
    }
}
