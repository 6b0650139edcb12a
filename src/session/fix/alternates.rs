//! Alternate links of several rows put right: a page listed among its own versions, links returned, versions that
//! list the same.

use super::super::snapshot::{DocumentLocs, Snapshot};
use super::set::Done;
use crate::check::decision::Decision;
use crate::check::extension;
use crate::check::rule::{Rule, RuleSet};
use crate::check::set::{Link, SetRule};
use crate::document::edit::{Edit, NewEntry};
use crate::document::rows::{RowId, RowSet};
use crate::progress::Progress;
use crate::protocol::extension::path::Path;
use crate::protocol::location;
use crate::xml::entry::Entry;
use crate::xml::graft::{Act, graft};
use crate::xml::names::Names;
use crate::xml::record::Flags;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Rules that are put right here.
pub(in crate::session) const FIXES: RuleSet = RuleSet::of(&[
    Rule::HREFLANG_SELF_MISSING,
    Rule::HREFLANG_NO_RETURN,
    Rule::HREFLANG_TARGET_MISSING,
    Rule::HREFLANG_SET_DIFFERS,
]);

/// What a page that is added because a row lists it would break like that row.
const TAKEN_ALONG: RuleSet = RuleSet::of(&[
    Rule::HREFLANG_DUPLICATE,
    Rule::HREFLANG_DUPLICATE_DIFFERENT,
    Rule::HREFLANG_NO_RETURN,
    Rule::HREFLANG_SET_DIFFERS,
    Rule::HREFLANG_SELF_MISSING,
]);

/// Most rows whose links are looked at together: a page has no more versions than there are languages and countries.
pub(in crate::session) const FAMILY: usize = 1_000;

/// A language and a URL, with what the set compares of them.
type Version = (String, String, Link);

/// What becomes of rows that break a rule about links. `None` when cancelled.
pub(super) fn put_right(
    snapshot: &Snapshot,
    rows: &RowSet,
    rule: Rule,
    answer: Option<&Decision>,
    progress: &Progress,
) -> Option<Done> {
    let mut desk =
        Desk { snapshot, added: BTreeMap::new(), pages: BTreeMap::new(), lists: HashMap::new(), done: Done::default() };
    let broken = snapshot.breaking(rows, rule);
    if rule == Rule::HREFLANG_SET_DIFFERS {
        for family in desk.families(&broken, progress)? {
            desk.list_the_same(&family);
        }
        return Some(desk.finish());
    }
    if rule == Rule::HREFLANG_TARGET_MISSING {
        desk.learn_who_lists(&snapshot.breaking(&snapshot.document.live_rows().map(|row| row.0).collect(), rule));
    }
    for row in broken.iter().map(RowId) {
        if progress.is_cancelled() {
            return None;
        }
        match rule {
            Rule::HREFLANG_SELF_MISSING => desk.list_itself(row, answer),
            Rule::HREFLANG_NO_RETURN => desk.return_links(row),
            _ => desk.add_pages(row),
        }
    }
    Some(desk.finish())
}

/// Pages that hang together, each known by a number.
#[derive(Debug, Default)]
struct Pages {
    places: HashMap<u64, usize>,
    /// A page nearer to the head of its family, or itself.
    nearer: Vec<usize>,
}

impl Pages {
    fn place(&mut self, key: u64) -> usize {
        let new = self.nearer.len();
        let place = *self.places.entry(key).or_insert(new);
        if place == new {
            self.nearer.push(new);
        }
        place
    }

    fn head(&mut self, mut place: usize) -> usize {
        while let Some(next) = self.nearer.get(place).copied().filter(|next| *next != place) {
            // Each is brought half-way nearer, so that the way stays short.
            let far = self.nearer.get(next).copied().unwrap_or(next);
            if let Some(nearer) = self.nearer.get_mut(place) {
                *nearer = far;
            }
            place = far;
        }
        place
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.head(one), self.head(other));
        if let Some(nearer) = self.nearer.get_mut(one.max(other)) {
            *nearer = one.min(other);
        }
    }
}

/// Links that rows are to get, and rows that are to come.
struct Desk<'s> {
    snapshot: &'s Snapshot,
    added: BTreeMap<u32, Vec<(String, String)>>,
    /// URLs of new rows with the row that they come after.
    pages: BTreeMap<String, u32>,
    /// The links of the rows that list a page without a row; none where they differ.
    lists: HashMap<u64, Option<BTreeSet<Link>>>,
    done: Done,
}

impl Desk<'_> {
    fn versions(&self, row: RowId) -> Vec<Version> {
        let (entry, text) = self.snapshot.document.entry(row);
        extension::versions(&entry, &text, self.snapshot.document.names(row))
    }

    fn key(&self, row: RowId) -> u64 {
        location::key_hash(&self.snapshot.document.loc(row))
    }

    /// The rows of the set that a row's links lead to.
    fn targets(&self, versions: &[Version]) -> RowSet {
        let locs = DocumentLocs(&self.snapshot.document);
        versions.iter().flat_map(|(_, href, _)| self.snapshot.checks.set().rows_of_page(href, &locs)).collect()
    }

    /// The language of a page: what it says itself, else what all say that list it. x-default is none.
    fn language(&self, row: RowId, own: &[Version]) -> Option<String> {
        let key = self.key(row);
        let named = |versions: &[Version]| -> BTreeSet<String> {
            let of_page = versions.iter().filter(|(code, _, link)| link.key == key && !is_default(code));
            of_page.map(|(code, ..)| code.clone()).collect()
        };
        let mut codes = named(own);
        if codes.is_empty() {
            if let Some(languages) = &self.snapshot.languages {
                return languages.of(key, row).map(ToOwned::to_owned);
            }
            for target in self.targets(own).iter().take(FAMILY) {
                codes.extend(named(&self.versions(RowId(target))));
            }
        }
        codes.pop_first().filter(|_| codes.is_empty())
    }

    /// A link for a row, unless it has a link of this language already.
    fn add(&mut self, row: RowId, code: &str, href: &str) {
        let clashes = |(known, other): (&str, &str)| known.eq_ignore_ascii_case(code) && other != href;
        let versions = self.versions(row);
        let own = versions.iter().map(|(code, href, _)| (code.as_str(), href.as_str()));
        let new = self.added.get(&row.0);
        let new = new.into_iter().flatten().map(|(code, href)| (code.as_str(), href.as_str()));
        let all: Vec<(&str, &str)> = own.chain(new).collect();
        if all.contains(&(code, href)) {
            return;
        }
        if all.into_iter().any(clashes) {
            let loc = self.snapshot.document.loc(row);
            return self.done.refuse(format!("{loc} lists another page for {code}: say which is right"));
        }
        self.added.entry(row.0).or_default().push((code.to_owned(), href.to_owned()));
    }

    fn list_itself(&mut self, row: RowId, answer: Option<&Decision>) {
        let code = match answer {
            Some(Decision::Language(code)) => Some(code.to_string()),
            _ => self.language(row, &self.versions(row)),
        };
        let loc = self.snapshot.document.loc(row);
        match code {
            Some(code) => self.add(row, &code, &loc),
            None => self.done.refuse(format!("no other version says which language {loc} is in: give its code")),
        }
    }

    fn return_links(&mut self, row: RowId) {
        let versions = self.versions(row);
        let loc = self.snapshot.document.loc(row);
        let Some(code) = self.language(row, &versions) else {
            return self.done.refuse(format!("it is not known which language {loc} is in: hreflang-self-missing"));
        };
        let locs = DocumentLocs(&self.snapshot.document);
        let set = self.snapshot.checks.set();
        let faulty = versions.iter().filter(|(.., link)| set.is_faulty(SetRule::HreflangNoReturn, row.0, *link));
        let targets: RowSet = faulty.flat_map(|(_, href, _)| set.rows_of_page(href, &locs)).collect();
        for target in &targets {
            self.add(RowId(target), &code, &loc);
        }
    }

    /// Of each page without a row, what all rows that list it list.
    fn learn_who_lists(&mut self, rows: &RowSet) {
        let set = self.snapshot.checks.set();
        for row in rows {
            let links: BTreeSet<Link> = self.versions(RowId(row)).into_iter().map(|(.., link)| link).collect();
            for link in links.iter().filter(|link| set.is_faulty(SetRule::HreflangTargetMissing, row, **link)) {
                let known = self.lists.entry(link.key).or_insert_with(|| Some(links.clone()));
                if known.as_ref().is_some_and(|known| *known != links) {
                    *known = None;
                }
            }
        }
    }

    fn add_pages(&mut self, row: RowId) {
        let set = self.snapshot.checks.set();
        let loc = self.snapshot.document.loc(row);
        let origin = |url: &str| location::origin(url).map(|(origin, _)| origin.to_ascii_lowercase());
        let versions = self.versions(row);
        let codes = |key: u64| -> BTreeSet<String> {
            let of_page = versions.iter().filter(|(code, _, link)| link.key == key && !is_default(code));
            of_page.map(|(code, ..)| code.to_ascii_lowercase()).collect()
        };
        // The new row takes its links from this one, and what is wrong with them along.
        let own = self.snapshot.rules_of(row).intersection(TAKEN_ALONG);
        if let Some(rule) = own.iter().next() {
            return self
                .done
                .refuse(format!("the links of {loc} would be taken over: first put {} right", rule.code()));
        }
        let is_missing = |link: &Link| set.is_faulty(SetRule::HreflangTargetMissing, row.0, *link);
        let missing: Vec<&Version> = versions.iter().filter(|(.., link)| is_missing(link)).collect();
        // All of them or none: a new row has the same links and would miss the same pages.
        for (_, href, link) in &missing {
            if origin(href) != origin(&loc) {
                return self.done.refuse(format!("{href} belongs in a file of its own host"));
            }
            if matches!(self.lists.get(&link.key), Some(None)) {
                return self
                    .done
                    .refuse(format!("pages that list {href} list other versions beside it: say which are"));
            }
            if codes(link.key).len() > 1 {
                return self.done.refuse(format!("{href} is listed for two languages: say which is right"));
            }
        }
        for (_, href, _) in missing {
            self.pages.entry(href.clone()).or_insert(row.0);
        }
    }

    /// Has all pages of a family list what any of them lists.
    fn list_the_same(&mut self, family: &[RowId]) {
        if family.len() > FAMILY {
            return self.done.refuse("too many pages hang together by their links");
        }
        let mut all: HashMap<String, String> = HashMap::new();
        let mut order = Vec::new();
        // A page that is none of the versions would list pages that do not list it.
        let listed: BTreeSet<u64> =
            family.iter().flat_map(|member| self.versions(*member)).map(|(.., link)| link.key).collect();
        if let Some(other) = family.iter().find(|member| !listed.contains(&self.key(**member))) {
            let loc = self.snapshot.document.loc(*other);
            let why = format!("{loc} is not among the versions of the pages that it lists: hreflang-self-missing");
            return self.done.refuse(why);
        }
        for (code, href, _) in family.iter().flat_map(|member| self.versions(*member)) {
            match all.get(&code.to_ascii_lowercase()) {
                Some(known) if *known != href => {
                    let why = format!("{code} is {known} for one version and {href} for another: say which is right");
                    return self.done.refuse(why);
                }
                Some(_) => {}
                None => {
                    all.insert(code.to_ascii_lowercase(), href.clone());
                    order.push((code, href));
                }
            }
        }
        for member in family {
            for (code, href) in &order {
                self.add(*member, code, href);
            }
        }
        // All of them or none: a part of a family would differ from the rest.
        let document = &self.snapshot.document;
        let is_sound = |member: &RowId| {
            let Some(links) = self.added.get(&member.0) else { return true };
            let text = grafted(document.entry_text(*member).into_owned(), document.names(*member), links);
            text.is_some_and(|text| self.snapshot.is_sound(*member, &text))
        };
        if !family.iter().all(is_sound) {
            self.added.retain(|row, _| !family.contains(&RowId(*row)));
            self.done.refuse("a page would be listed for two languages, or another rule be broken");
        }
    }

    /// The rows with links that hang together by them, for each family that one of these rows is in. `None` when
    /// cancelled.
    fn families(&self, rows: &RowSet, progress: &Progress) -> Option<Vec<Vec<RowId>>> {
        let document = &self.snapshot.document;
        let mut pages = Pages::default();
        let mut linked: Vec<(RowId, usize)> = Vec::new();
        for row in document.live_rows().filter(|row| document.record(*row).flags.has(Flags::ALTERNATE)) {
            if progress.is_cancelled() {
                return None;
            }
            let own = pages.place(self.key(row));
            for (.., link) in self.versions(row) {
                let other = pages.place(link.key);
                pages.join(own, other);
            }
            linked.push((row, own));
        }
        let mut families: BTreeMap<usize, (bool, Vec<RowId>)> = BTreeMap::new();
        for (row, own) in linked {
            let (is_meant, members) = families.entry(pages.head(own)).or_default();
            *is_meant |= rows.contains(row.0);
            members.push(row);
        }
        Some(families.into_values().filter(|(is_meant, _)| *is_meant).map(|(_, members)| members).collect())
    }

    fn finish(self) -> Done {
        let Self { snapshot, added, pages, mut done, .. } = self;
        let document = &snapshot.document;
        for (row, links) in added {
            let row = RowId(row);
            match grafted(document.entry_text(row).into_owned(), document.names(row), &links) {
                Some(text) if snapshot.is_sound(row, &text) => {
                    done.edits.push(Edit::Raw { row, text: text.into() });
                    done.rows.insert(row.0);
                }
                Some(_) => done.refuse("another rule would be broken then"),
                None => done.refuse("a file of this kind has no extensions"),
            }
        }
        for (page, row) in pages {
            let row = RowId(row);
            let names = document.names(row);
            let (entry, text) = document.entry(row);
            let links = extension::versions(&entry, &text, names);
            let links: Vec<(String, String)> = links.into_iter().map(|(code, href, _)| (code, href)).collect();
            let loc = crate::xml::escape::escape(&page);
            let prefix = &names.prefix;
            let plain = format!("<{prefix}url><{prefix}loc>{loc}</{prefix}loc></{prefix}url>");
            let Some(element) = grafted(plain.into_bytes(), names, &links) else { continue };
            let entries = vec![NewEntry::Element(element.into())];
            done.edits.push(Edit::Insert { sitemap: document.sitemap_of(row), after: Some(row), entries });
            done.added += 1;
        }
        done
    }
}

pub(super) fn is_default(code: &str) -> bool {
    code.eq_ignore_ascii_case("x-default")
}

/// An entry with alternate links added.
fn grafted(mut text: Vec<u8>, names: &Names, links: &[(String, String)]) -> Option<String> {
    let path = |text: &str| Path::parse(text).ok();
    for (code, href) in links {
        let values = vec![
            (path("link@rel")?, "alternate".into()),
            (path("link@hreflang")?, code.as_str().into()),
            (path("link@href")?, href.as_str().into()),
        ];
        text = graft(&text, names, &Act::Add { path: path("link")?, values }).ok()??;
    }
    let entry = Entry::of(&text, names);
    String::from_utf8(text).ok().filter(|_| !entry.odd.has(crate::xml::entry::Oddities::BROKEN))
}
