//! An index put right: entries that should not be there out, values of the others corrected. Every other byte stays.

use super::super::snapshot::Snapshot;
use crate::check::entry::{Context, ENTRY_RULES};
use crate::check::fix::{self, Repair};
use crate::check::index::{self, IndexFacts};
use crate::check::rule::{Rule, RuleSet};
use crate::document::Document;
use crate::document::edit::Edit;
use crate::document::sitemap::{ChildState, Index, Member, SitemapId};
use crate::document::source::Source;
use crate::protocol::lastmod::{self, Now, Precision};
use crate::protocol::location::Home;
use crate::protocol::{Field, location};
use crate::xml::entry::Entry;
use crate::xml::splice::{Change, splice};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Rules whose fix takes the entry out.
const GOING: RuleSet = RuleSet::of(&[
    Rule::INDEX_CHILD_DUPLICATE,
    Rule::INDEX_SELF,
    Rule::INDEX_CYCLE,
    Rule::INDEX_CHILD_MISSING,
    Rule::INDEX_CHILD_EMPTY,
]);

/// Rules about the index and its children that can be put right here.
pub(in crate::session) const FIXES: RuleSet =
    GOING.union(RuleSet::of(&[Rule::INDEX_LASTMOD_OLDER, Rule::INDEX_CHILD_HOST]));

/// What the fix of a finding of an index does, in words; `None` where there is none.
pub(in crate::session) fn label(rule: Rule) -> Option<&'static str> {
    Some(match rule {
        Rule::INDEX_LASTMOD_OLDER => "date it by its file",
        Rule::INDEX_CHILD_HOST => "write the host that the others have",
        _ if GOING.contains(rule) => "take the entry out",
        _ => return None,
    })
}

/// What the rules of an index need to know, kept so that it can be borrowed.
#[derive(Debug, Default)]
pub(in crate::session) struct Known {
    newest: Vec<Option<i64>>,
    entries: Vec<u32>,
    mtimes: Vec<Option<i64>>,
}

impl Known {
    /// As facts, with the public URL of the index if it is known.
    pub(in crate::session) fn facts<'k>(&'k self, home: Option<&'k Home>) -> IndexFacts<'k> {
        IndexFacts { home, newest: &self.newest, entries: &self.entries, mtimes: &self.mtimes }
    }
}

impl Snapshot {
    /// What the rules of the index need to know of the files.
    pub(in crate::session) fn known_of_files(&self, document: &Document) -> Known {
        // A set whose files are not held has looked while it held them.
        let newest = if document.is_hollow() {
            self.checks.newest.to_vec()
        } else {
            (0..document.sitemaps().len() as u32).map(|id| self.newest_of(document, SitemapId(id))).collect()
        };
        let set = self.checks.set();
        let sitemaps = document.sitemaps();
        Known {
            newest,
            entries: sitemaps.iter().map(|sitemap| sitemap.live).collect(),
            mtimes: (0..sitemaps.len() as u32).map(|file| set.mtime(file)).collect(),
        }
    }

    /// The latest date among the rows of a file. One in the future is a mistake of its own and makes no index older.
    pub(in crate::session) fn newest_of(&self, document: &Document, id: SitemapId) -> Option<i64> {
        let latest = self.now.seconds + 86_400;
        let dates = document.sitemap(id)?.rows.iter().filter_map(|row| {
            let record = document.record(row);
            record.lastmod().filter(|_| !record.is_deleted())
        });
        dates.map(|lastmod| lastmod.seconds).filter(|seconds| *seconds <= latest).max()
    }

    /// What puts the rules of the index right, as one edit; `None` where nothing changes.
    /// What is no complete URL is `below` this one, else below what the others have.
    pub(in crate::session) fn index_put_right(
        &self,
        document: &Document,
        rules: RuleSet,
        below: Option<&str>,
    ) -> Option<Edit> {
        let index = document.index()?;
        if !rules.intersects(FIXES.union(ENTRY_RULES)) {
            return None;
        }
        let known = self.known_of_files(document);
        let found = index::check(index, &known.facts(None)).into_iter();
        let found: Vec<(Rule, usize)> = found.filter_map(|found| Some((found.rule, found.child?))).collect();
        let has = |rule: Rule, child: usize| rules.contains(rule) && found.contains(&(rule, child));
        let gone: BTreeSet<usize> = found
            .iter()
            .filter(|(rule, _)| rules.intersection(GOING).contains(*rule))
            .map(|(_, child)| *child)
            .collect();
        let home = below.and_then(Home::parse).or_else(|| home_of(index));
        let source = &index.source;
        let mut entries: Vec<u8> = Vec::with_capacity(source.bytes().len());
        for number in (0..source.len()).filter(|number| !gone.contains(number)) {
            let mut text = Cow::Borrowed(source.entry_text(number));
            if has(Rule::INDEX_LASTMOD_OLDER, number)
                && let Some(newest) = newest_of(index, number, &known, self.now.seconds)
            {
                text = dated(index, &text, newest).into();
            }
            if has(Rule::INDEX_CHILD_HOST, number)
                && let Some(home) = &home
            {
                text = moved(index, &text, home).map_or(text, Cow::Owned);
            }
            // Where the others are says what an incomplete URL is below.
            let is_incomplete = rules.contains(Rule::INDEX_CHILD_INCOMPLETE_URL);
            let home = home.as_ref().filter(|_| is_incomplete);
            let context = Context { now: self.now.seconds, profile: self.checks.profile(), names: &source.names, home };
            let wanted = rules.intersection(ENTRY_RULES).minus(RuleSet::of(&[Rule::INDEX_CHILD_HOST]));
            if let Some(repaired) = put_right(&text, &context, wanted, super::is_unattended(rules)) {
                text = repaired.into();
            }
            entries.extend_from_slice(&text);
        }
        let kept = source.len() > gone.len();
        let bytes = [&source.head(kept)[..], &entries, &source.tail(kept)].concat();
        if bytes == source.bytes() {
            return None;
        }
        let frame = Source::of_text(bytes).filter(|new| new.len() + gone.len() == source.len())?;
        Some(Edit::Frame { file: Member::Index, frame: Arc::new(frame) })
    }
}

/// An entry with what the fixers of rules make of it.
fn put_right(text: &[u8], context: &Context<'_>, rules: RuleSet, unattended: bool) -> Option<Vec<u8>> {
    match fix::repair(text, context, rules, unattended)? {
        Repair::Text(text) => Some(text.into_bytes()),
        // A second loc is a second sitemap, and nobody has looked for that.
        Repair::Split(_) => None,
        Repair::Values(values) => {
            let mut text = text.to_vec();
            for (field, value) in values {
                let change = value.as_deref().map_or(Change::Remove, Change::Set);
                text = with(&text, field, change, context.names);
            }
            Some(text)
        }
    }
}

fn with(text: &[u8], field: Field, change: Change<'_>, names: &crate::xml::names::Names) -> Vec<u8> {
    let mut changes = [None; 4];
    changes[field.index()] = Some(change);
    let mut out = Vec::with_capacity(text.len() + 32);
    splice(&Entry::of(text, names), text, names, &changes, &mut out);
    out
}

/// When the file that an entry names changed last, in seconds since 1970.
fn newest_of(index: &Index, entry: usize, known: &Known, now: i64) -> Option<i64> {
    match index.children.get(entry)?.state {
        ChildState::Loaded(id) => {
            let newest = known.newest.get(id.index()).copied().flatten()?;
            // In an index a date says when the file changed: later than a page in it, as far as that is known.
            let changed = known.mtimes.get(id.index()).copied().flatten();
            Some(changed.filter(|changed| (newest..=now).contains(changed)).unwrap_or(newest))
        }
        _ => None,
    }
}

/// An entry dated by a moment; a date stays a date.
fn dated(index: &Index, text: &[u8], seconds: i64) -> Vec<u8> {
    let names = &index.source.names;
    let said = Entry::of(text, names).value(Field::Lastmod, text);
    let precision = said.and_then(|said| lastmod::judge(&said).instant).map(|instant| instant.precision);
    let moment = Now { seconds, offset: 0 };
    let value = match precision {
        Some(Precision::Minute | Precision::Second | Precision::Fraction) => moment.timestamp(),
        _ => moment.today(),
    };
    with(text, Field::Lastmod, Change::Set(&value), names)
}

/// Where most children are.
fn home_of(index: &Index) -> Option<Home> {
    Home::parse(&format!("{}/", index::commonest_origin(index)?))
}

/// An entry with its URL on this host.
fn moved(index: &Index, text: &[u8], home: &Home) -> Option<Vec<u8>> {
    let names = &index.source.names;
    let loc = Entry::of(text, names).value(Field::Loc, text)?.into_owned();
    let (_, rest) = location::origin(&loc)?;
    Some(with(text, Field::Loc, Change::Set(&format!("{}{rest}", home.origin())), names))
}
