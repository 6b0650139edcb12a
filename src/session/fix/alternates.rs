//! Fixes alternate links between rows: self-references, return links, and equal link sets of all versions.

use crate::check::decision::Decision;
use crate::check::extension;
use crate::check::rule::{Rule, RuleSet};
use crate::check::set::{Link, SetRule};
use crate::document::edit::{Edit, NewEntry};
use crate::document::rows::{RowId, RowSet};
use crate::progress::Progress;
use crate::protocol::extension::path::Path;
use crate::protocol::location;
use crate::session::checks::DocumentLocs;
use crate::session::fix::row_edits::{self, RowEdits};
use crate::session::state::Snapshot;
use crate::session::state::languages::{Languages, is_default};
use crate::xml::entry::Entry;
use crate::xml::extension_edit::edit_extensions;
use crate::xml::names::Names;
use crate::xml::record::Flags;
use foldhash::fast::FixedState;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::BuildHasher;
use std::rc::Rc;

/// Rules that a new row for a linked page would violate if the linking row violates them: it gets the same links.
const INHERITED: RuleSet = RuleSet::of(&[
    Rule::HREFLANG_DUPLICATE,
    Rule::HREFLANG_DUPLICATE_DIFFERENT,
    Rule::HREFLANG_NO_RETURN,
    Rule::HREFLANG_SET_DIFFERS,
    Rule::HREFLANG_SELF_MISSING,
]);

/// The maximum number of rows of a family of linked pages: a page has no more versions than there are languages and
/// countries.
pub(in crate::session) const MAX_FAMILY: usize = 1_000;

/// A fix may add up to `MAX_GROWTH` times the size of the set plus `MAX_ADDED_BYTES`: the links among n versions grow
/// with the square of n.
const MAX_GROWTH: u64 = 4;
const MAX_ADDED_BYTES: u64 = 16 << 20;

/// Why rows are skipped whose links would exceed that.
const TOO_MUCH: &str =
    "the added links would make the set more than five times as large: fix fewer rows at a time (--where)";

/// Bytes of a link without its language and its URL.
const LINK_BYTES: usize = "<xhtml:link rel=\"alternate\" hreflang=\"\" href=\"\"/>".len();

/// A language and a URL, with the hashes that set rules compare.
type Version = (String, String, Link);

/// A language and a URL that are added to a row.
pub(super) type NewLink = (Rc<str>, Rc<str>);

/// The edits that fix a rule about links in rows. `None` when cancelled.
pub(super) fn fix_rows(
    snapshot: &Snapshot,
    rows: &RowSet,
    rule: Rule,
    answer: Option<&Decision>,
    progress: &Progress,
) -> Option<RowEdits> {
    let mut edits = LinkEdits::new(snapshot);
    let broken = row_edits::violating_rows(snapshot, rows, rule);
    if rule == Rule::HREFLANG_SET_DIFFERS {
        for family in edits.families(&broken, progress)? {
            edits.unify_links(&family);
        }
        return Some(edits.finish());
    }
    let asks_languages = match rule {
        Rule::HREFLANG_SELF_MISSING => !matches!(answer, Some(Decision::Language(_))),
        rule => rule == Rule::HREFLANG_NO_RETURN,
    };
    if asks_languages && snapshot.languages.is_none() {
        edits.languages = Some(edits.collect_languages(&broken));
    }
    if rule == Rule::HREFLANG_TARGET_MISSING {
        edits.collect_listed(&row_edits::violating_rows(
            snapshot,
            &snapshot.document.live_rows().map(|row| row.0).collect(),
            rule,
        ));
    }
    for row in broken.iter().map(RowId) {
        if progress.is_cancelled() {
            return None;
        }
        match rule {
            Rule::HREFLANG_SELF_MISSING => edits.list_itself(row, answer),
            Rule::HREFLANG_NO_RETURN => edits.return_links(row),
            _ => edits.add_pages(row),
        }
    }
    Some(edits.finish())
}

/// Pages connected by links: a union-find structure.
#[derive(Debug, Default)]
struct Pages {
    /// The number of each page, by the hash of its URL.
    numbers: HashMap<u64, usize>,
    /// A page closer to the root of the family, or the page itself.
    parents: Vec<usize>,
}

impl Pages {
    fn number(&mut self, key: u64) -> usize {
        let new = self.parents.len();
        let number = *self.numbers.entry(key).or_insert(new);
        if number == new {
            self.parents.push(new);
        }
        number
    }

    /// The root of a page's family, with path halving.
    fn root(&mut self, mut page: usize) -> usize {
        while let Some(parent) = self.parents.get(page).copied().filter(|parent| *parent != page) {
            let grandparent = self.parents.get(parent).copied().unwrap_or(parent);
            if let Some(parent) = self.parents.get_mut(page) {
                *parent = grandparent;
            }
            page = grandparent;
        }
        page
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        if let Some(parent) = self.parents.get_mut(one.max(other)) {
            *parent = one.min(other);
        }
    }
}

/// A 64-bit hash of a text; a collision among the texts of one row is practically impossible.
fn hash(text: &impl std::hash::Hash) -> u64 {
    FixedState::with_seed(3).hash_one(text)
}

/// The links of a row to which links are added.
#[derive(Debug, Default)]
struct Listed {
    /// Hashes of language and URL together.
    links: HashSet<u64>,
    /// The hash of the URL by the hash of the language in lower case; `None` if there are several URLs.
    by_code: HashMap<u64, Option<u64>>,
}

impl Listed {
    fn add(&mut self, code: &str, href: &str) {
        self.links.insert(hash(&(code, href)));
        let href = hash(&href);
        let known = self.by_code.entry(hash(&code.to_ascii_lowercase())).or_insert(Some(href));
        if *known != Some(href) {
            *known = None;
        }
    }

    fn has(&self, code: &str, href: &str) -> bool {
        self.links.contains(&hash(&(code, href)))
    }

    /// Whether another URL is listed for a language.
    fn has_other(&self, code: &str, href: &str) -> bool {
        self.by_code.get(&hash(&code.to_ascii_lowercase())).is_some_and(|known| *known != Some(hash(&href)))
    }
}

/// Links that are added to rows, and rows that are added.
struct LinkEdits<'s> {
    snapshot: &'s Snapshot,
    added: BTreeMap<u32, Vec<NewLink>>,
    /// The links of rows to which links are added, including the added ones: each row is parsed only once.
    listed: HashMap<u32, Listed>,
    /// URLs of new rows, with the row that they follow.
    pages: BTreeMap<String, u32>,
    /// The hash of the links of the rows that list a page without a row; `None` if they differ.
    lists: HashMap<u64, Option<u64>>,
    /// The languages that other pages state for pages.
    languages: Option<Languages>,
    /// Bytes that may still be added.
    budget: u64,
    done: RowEdits,
}

impl<'s> LinkEdits<'s> {
    fn new(snapshot: &'s Snapshot) -> Self {
        let size: u64 = snapshot.document.sitemaps().iter().map(|sitemap| sitemap.bytes()).sum();
        Self {
            snapshot,
            added: BTreeMap::new(),
            listed: HashMap::new(),
            pages: BTreeMap::new(),
            lists: HashMap::new(),
            languages: None,
            budget: MAX_GROWTH * size + MAX_ADDED_BYTES,
            done: RowEdits::default(),
        }
    }
}

impl LinkEdits<'_> {
    fn versions(&self, row: RowId) -> Vec<Version> {
        let (entry, text) = self.snapshot.document.entry(row);
        extension::versions(&entry, &text, self.snapshot.document.names(row))
    }

    fn key(&self, row: RowId) -> u64 {
        location::key_hash(&self.snapshot.document.loc(row))
    }

    /// The rows of the set that a row's links point to.
    fn targets(&self, versions: &[Version]) -> RowSet {
        let locs = DocumentLocs(&self.snapshot.document);
        versions
            .iter()
            .flat_map(|(_, href, _)| self.snapshot.checks.set().duplicates().rows_of_page(href, &locs))
            .collect()
    }

    /// Collects the languages of rows that do not list themselves from the pages that they list.
    fn collect_languages(&self, rows: &RowSet) -> Languages {
        let (mut unknown, mut sources) = (Vec::new(), RowSet::new());
        for row in rows.iter().map(RowId) {
            let versions = self.versions(row);
            let key = self.key(row);
            if languages_of(&versions, key).is_empty() {
                unknown.push((key, row.0));
                sources |= self.targets(&versions);
            }
        }
        let mut languages = Languages::for_rows(unknown);
        languages.add_pages(self.snapshot, sources.iter().map(RowId));
        languages
    }

    /// The language of a page: the one that it states itself, else the one that all pages that list it state. x-default
    /// is no language.
    fn language(&self, row: RowId, own: &[Version]) -> Option<String> {
        let key = self.key(row);
        let mut codes = languages_of(own, key);
        if codes.is_empty() {
            let languages = self.languages.as_ref().or(self.snapshot.languages.as_deref());
            return languages?.of(key, row).map(ToOwned::to_owned);
        }
        codes.pop_first().filter(|_| codes.is_empty())
    }

    /// Takes bytes from the budget; returns whether there were enough.
    fn reserve(&mut self, bytes: u64) -> bool {
        let is_enough = bytes <= self.budget;
        self.budget -= if is_enough { bytes } else { 0 };
        is_enough
    }

    /// Adds a link to a row, unless the row has another link of this language.
    fn add(&mut self, row: RowId, code: &Rc<str>, href: &Rc<str>) {
        if !self.listed.contains_key(&row.0) {
            let mut listed = Listed::default();
            self.versions(row).iter().for_each(|(code, href, _)| listed.add(code, href));
            self.listed.insert(row.0, listed);
        }
        let Some(listed) = self.listed.get_mut(&row.0).filter(|listed| !listed.has(code, href)) else { return };
        if listed.has_other(code, href) {
            let loc = self.snapshot.document.loc(row);
            return self.done.refuse(format!("{loc} lists another page for {code}: choose one"));
        }
        listed.add(code, href);
        self.added.entry(row.0).or_default().push((Rc::clone(code), Rc::clone(href)));
    }

    fn list_itself(&mut self, row: RowId, answer: Option<&Decision>) {
        let code = match answer {
            Some(Decision::Language(code)) => Some(code.to_string()),
            _ => self.language(row, &self.versions(row)),
        };
        let loc = self.snapshot.document.loc(row);
        match code {
            Some(code) => self.add(row, &code.into(), &(*loc).into()),
            None => self.done.refuse(format!("no other version states the language of {loc}: give its code")),
        }
    }

    fn return_links(&mut self, row: RowId) {
        let versions = self.versions(row);
        let loc = self.snapshot.document.loc(row);
        let Some(code) = self.language(row, &versions) else {
            return self.done.refuse(format!("the language of {loc} is not known: fix hreflang-self-missing first"));
        };
        let locs = DocumentLocs(&self.snapshot.document);
        let set = self.snapshot.checks.set();
        let faulty = versions.iter().filter(|(.., link)| set.is_faulty(SetRule::HreflangNoReturn, row.0, *link));
        let targets: RowSet = faulty.flat_map(|(_, href, _)| set.duplicates().rows_of_page(href, &locs)).collect();
        if !self.reserve(targets.len() * (LINK_BYTES + code.len() + loc.len()) as u64) {
            return self.done.refuse(TOO_MUCH);
        }
        let (code, loc): (Rc<str>, Rc<str>) = (code.into(), (*loc).into());
        for target in &targets {
            self.add(RowId(target), &code, &loc);
        }
    }

    /// Collects the links of the rows that list each page without a row.
    fn collect_listed(&mut self, rows: &RowSet) {
        let set = self.snapshot.checks.set();
        for row in rows {
            let mut links: Vec<Link> = self.versions(RowId(row)).into_iter().map(|(.., link)| link).collect();
            links.sort_unstable();
            links.dedup();
            let all = hash(&links);
            for link in links.iter().filter(|link| set.is_faulty(SetRule::HreflangTargetMissing, row, **link)) {
                let known = self.lists.entry(link.key).or_insert(Some(all));
                if *known != Some(all) {
                    *known = None;
                }
            }
        }
    }

    fn add_pages(&mut self, row: RowId) {
        let set = self.snapshot.checks.set();
        let document = &self.snapshot.document;
        let loc = document.loc(row);
        let origin = |url: &str| location::origin(url).map(|(origin, _)| origin.to_ascii_lowercase());
        let versions = self.versions(row);
        // The new row copies the links of this one, with their errors.
        let own = self.snapshot.rules_of(row).intersection(INHERITED);
        if let Some(rule) = own.iter().next() {
            return self.done.refuse(format!("the new row would copy the links of {loc}: fix {} first", rule.code()));
        }
        // The language of each page; `None` if it has several.
        let mut codes: HashMap<u64, Option<String>> = HashMap::new();
        for (code, _, link) in versions.iter().filter(|(code, ..)| !is_default(code)) {
            let code = Some(code.to_ascii_lowercase());
            let known = codes.entry(link.key).or_insert_with(|| code.clone());
            if *known != code {
                *known = None;
            }
        }
        let is_missing = |link: &Link| set.is_faulty(SetRule::HreflangTargetMissing, row.0, *link);
        let missing: Vec<&Version> = versions.iter().filter(|(.., link)| is_missing(link)).collect();
        // All of them or none: a new row has the same links, and would link to the same missing pages.
        let own_origin = origin(&loc);
        for (_, href, link) in &missing {
            if origin(href) != own_origin {
                return self.done.refuse(format!("{href} is on another host and needs a sitemap of its own"));
            }
            if matches!(self.lists.get(&link.key), Some(None)) {
                return self.done.refuse(format!("pages that list {href} differ in their other versions: choose one"));
            }
            if matches!(codes.get(&link.key), Some(None)) {
                return self.done.refuse(format!("{href} is listed for two languages: choose one"));
            }
        }
        let new: BTreeSet<&String> = missing.iter().map(|(_, href, _)| href).collect();
        let new: Vec<&String> = new.into_iter().filter(|href| !self.pages.contains_key(*href)).collect();
        if !self.reserve((new.len() * document.entry_text(row).len()) as u64) {
            return self.done.refuse(TOO_MUCH);
        }
        let new: Vec<(String, u32)> = new.into_iter().map(|href| (href.clone(), row.0)).collect();
        self.pages.extend(new);
    }

    /// Adds to each page of a family the links that any other page of it has.
    fn unify_links(&mut self, family: &[RowId]) {
        if family.len() > MAX_FAMILY {
            return self.done.refuse("too many pages are connected by their links");
        }
        let mut all: HashMap<String, Rc<str>> = HashMap::new();
        let mut order: Vec<NewLink> = Vec::new();
        // A page that is not among the versions would list pages that do not list it.
        let listed: HashSet<u64> =
            family.iter().flat_map(|member| self.versions(*member)).map(|(.., link)| link.key).collect();
        if let Some(other) = family.iter().find(|member| !listed.contains(&self.key(**member))) {
            let loc = self.snapshot.document.loc(*other);
            let why =
                format!("{loc} is not among the versions of the pages that it lists: fix hreflang-self-missing first");
            return self.done.refuse(why);
        }
        for (code, href, _) in family.iter().flat_map(|member| self.versions(*member)) {
            match all.get(&code.to_ascii_lowercase()) {
                Some(known) if **known != *href => {
                    let why = format!("{code} is {known} for one version and {href} for another: choose one");
                    return self.done.refuse(why);
                }
                Some(_) => {}
                None => {
                    let href: Rc<str> = href.into();
                    all.insert(code.to_ascii_lowercase(), Rc::clone(&href));
                    order.push((code.into(), href));
                }
            }
        }
        let document = &self.snapshot.document;
        let now: usize = family.iter().map(|member| document.entry_text(*member).len()).sum();
        let each: usize = order.iter().map(|(code, href)| LINK_BYTES + code.len() + href.len()).sum();
        if !self.reserve((family.len() * each).saturating_sub(now) as u64) {
            return self.done.refuse(TOO_MUCH);
        }
        for member in family {
            for (code, href) in &order {
                self.add(*member, code, href);
            }
        }
        // All of them or none: otherwise part of a family would differ from the rest.
        let document = &self.snapshot.document;
        let is_sound = |member: &RowId| {
            let Some(links) = self.added.get(&member.0) else { return true };
            let text = with_links(&document.entry_text(*member), document.names(*member), links);
            text.is_some_and(|text| row_edits::is_sound(self.snapshot, *member, &text))
        };
        if !family.iter().all(is_sound) {
            for member in family {
                self.added.remove(&member.0);
                self.listed.remove(&member.0);
            }
            self.done.refuse("a page would be listed for two languages, or violate another rule");
        }
    }

    /// The families of linked rows that contain any of these rows. `None` when cancelled.
    fn families(&self, rows: &RowSet, progress: &Progress) -> Option<Vec<Vec<RowId>>> {
        let document = &self.snapshot.document;
        let mut pages = Pages::default();
        let mut linked: Vec<(RowId, usize)> = Vec::new();
        for row in document.live_rows().filter(|row| document.record(*row).flags.contains(Flags::ALTERNATE)) {
            if progress.is_cancelled() {
                return None;
            }
            let own = pages.number(self.key(row));
            for (.., link) in self.versions(row) {
                let other = pages.number(link.key);
                pages.join(own, other);
            }
            linked.push((row, own));
        }
        let mut families: BTreeMap<usize, (bool, Vec<RowId>)> = BTreeMap::new();
        for (row, own) in linked {
            let (is_selected, members) = families.entry(pages.root(own)).or_default();
            *is_selected |= rows.contains(row.0);
            members.push(row);
        }
        Some(families.into_values().filter(|(is_selected, _)| *is_selected).map(|(_, members)| members).collect())
    }

    fn finish(self) -> RowEdits {
        let Self { snapshot, added, pages, mut done, .. } = self;
        let document = &snapshot.document;
        for (row, links) in added {
            let row = RowId(row);
            match with_links(&document.entry_text(row), document.names(row), &links) {
                Some(text) if row_edits::is_sound(snapshot, row, &text) => {
                    done.edits.push(Edit::Raw { row, text: text.into() });
                    done.rows.insert(row.0);
                }
                Some(_) => done.refuse("that would violate another rule"),
                None => done.refuse("a file of this kind has no extensions"),
            }
        }
        // Pages by the row that they follow, in reverse order: each is inserted before the previous one.
        let mut after: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for (page, row) in pages.into_iter().rev() {
            after.entry(row).or_default().push(page);
        }
        for (row, pages) in after {
            let row = RowId(row);
            let names = document.names(row);
            let (entry, text) = document.entry(row);
            let links = extension::versions(&entry, &text, names).into_iter();
            let links: Vec<NewLink> = links.map(|(code, href, _)| (code.into(), href.into())).collect();
            let prefix = &names.prefix;
            let element = |page: String| {
                let loc = crate::xml::escape::escape(&page);
                let plain = format!("<{prefix}url><{prefix}loc>{loc}</{prefix}loc></{prefix}url>");
                with_links(plain.as_bytes(), names, &links).map(|element| NewEntry::Element(element.into()))
            };
            let entries: Vec<NewEntry> = pages.into_iter().filter_map(element).collect();
            done.added += entries.len() as u64;
            if !entries.is_empty() {
                done.edits.push(Edit::Insert { sitemap: document.sitemap_of(row), after: Some(row), entries });
            }
        }
        done
    }
}

/// The languages that links state for the page with this URL hash; x-default is no language.
fn languages_of(versions: &[Version], key: u64) -> BTreeSet<String> {
    let of_page = versions.iter().filter(|(code, _, link)| link.key == key && !is_default(code));
    of_page.map(|(code, ..)| code.clone()).collect()
}

/// An entry with alternate links added.
pub(super) fn with_links(text: &[u8], names: &Names, links: &[NewLink]) -> Option<String> {
    let path = |text: &str| Path::parse(text).ok();
    let (link, rel, hreflang, href) = (path("link")?, path("link@rel")?, path("link@hreflang")?, path("link@href")?);
    let element = |(code, url): &NewLink| {
        vec![(rel.clone(), "alternate".into()), (hreflang.clone(), (**code).into()), (href.clone(), (**url).into())]
    };
    let elements: Vec<Vec<(Path, Box<str>)>> = links.iter().map(element).collect();
    let text = edit_extensions(text, names, &link, &elements).ok()?;
    let entry = Entry::of(&text, names);
    String::from_utf8(text).ok().filter(|_| !entry.anomalies.contains(crate::xml::entry::Anomalies::BROKEN))
}
