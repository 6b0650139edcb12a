//! The user's own policy: patterns that no URL may match, and URLs that must be listed.

use crate::document::query::UrlPattern;
use std::collections::HashMap;

/// A policy with compiled patterns.
#[derive(Debug)]
pub struct Policy {
    never: Vec<(String, UrlPattern)>,
    /// The required URLs in the order in which they were given.
    must: Vec<String>,
    /// The index of each required URL in `must`.
    index_of: HashMap<String, u32>,
}

impl Policy {
    /// Builds the patterns.
    ///
    /// # Errors
    /// A message about a pattern that is empty or too large.
    pub fn new(never: Vec<String>, must: Vec<String>) -> Result<Self, String> {
        let compile = |pattern: String| {
            let compiled = UrlPattern::new(&pattern).map_err(|error| format!("{pattern}: {error}"))?;
            Ok((pattern, compiled))
        };
        let must: Vec<String> = must.into_iter().map(|url| url.trim().to_owned()).collect();
        let index_of = must.iter().cloned().zip(0..).collect();
        Ok(Self { never: never.into_iter().map(compile).collect::<Result<_, String>>()?, must, index_of })
    }

    /// The first pattern that forbids a URL.
    pub fn forbids(&self, loc: &str) -> Option<&str> {
        self.never.iter().find(|(_, matcher)| matcher.matches(loc)).map(|(pattern, _)| pattern.as_str())
    }

    /// The URLs that must be listed.
    pub fn required(&self) -> &[String] {
        &self.must
    }

    /// The index of a URL among the required ones.
    pub fn required_index(&self, loc: &str) -> Option<u32> {
        if self.index_of.is_empty() { None } else { self.index_of.get(loc).copied() }
    }
}
