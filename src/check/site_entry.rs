//! Rules that compare an entry with the page behind its URL: the date of its last change, its alternates.

use super::context::Context;
use super::extension;
use super::rule::{Rule, RuleSet};
use crate::protocol::Field;
use crate::xml::entry::Entry;
use crate::xml::names::FileKind;

/// The rules that an entry violates besides those of its URL.
pub(super) fn rules(entry: &Entry, text: &[u8], context: &Context<'_>) -> RuleSet {
    let site = context.site.filter(|site| site.compares_entries() && context.names.kind != FileKind::Index);
    let Some(site) = site else { return RuleSet::EMPTY };
    let Some(loc) = entry.value(Field::Loc, text) else { return RuleSet::EMPTY };
    let lastmod = entry.value(Field::Lastmod, text);
    site.entry_rules(&loc, lastmod.as_deref(), || alternates(entry, text, context))
}

/// The message for a rule that an entry violates.
pub(super) fn explain(rule: Rule, entry: &Entry, text: &[u8], context: &Context<'_>) -> Option<String> {
    let loc = entry.value(Field::Loc, text)?;
    let lastmod = entry.value(Field::Lastmod, text).unwrap_or_default();
    context.site?.explain_entry(rule, (&loc, &lastmod), || alternates(entry, text, context))
}

/// The alternates of an entry as language and URL.
fn alternates(entry: &Entry, text: &[u8], context: &Context<'_>) -> Vec<(String, String)> {
    if !extension::has_content(entry, text) {
        return Vec::new();
    }
    let versions = extension::versions(entry, text, context.names).into_iter();
    versions.map(|(code, url, _)| (code, url)).collect()
}
