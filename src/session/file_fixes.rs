//! Findings and fixes of whole files: the text around their entries, and repairs made on reading.

pub(super) mod list;
pub(super) mod name;
mod prefix_usage;
pub(super) mod volumes;

use crate::check::Profile;
use crate::check::file::{self, FileFacts};
use crate::check::frame::{self, Frame};
use crate::check::rule::{FixKind, Rule, RuleSet};
use crate::check::{Finding, FindingTarget, Fix};
use crate::check::{extension, quirk};
use crate::document::Document;
use crate::document::edit::Edit;
use crate::document::form::Form;
use crate::document::index::Index;
use crate::document::quirk::Quirk;
use crate::document::sitemap::{Member, Sitemap, SitemapId};
use crate::document::source::Source;
use crate::protocol::limits::Limits;
use crate::protocol::namespace::Namespace;
use crate::xml::defect::Defect;
use crate::xml::markup::{self, Kind};
use prefix_usage::PrefixUsage;
pub(super) use prefix_usage::remove_mentioned;
use std::cell::RefCell;
use std::sync::Arc;

/// The findings of a file, without those of its rows and quirks.
pub(super) fn findings(document: &Document, member: Member, profile: Profile) -> Vec<Finding> {
    let target = match member {
        Member::Index => FindingTarget::Index(None),
        Member::Sitemap(id) => FindingTarget::Sitemap(id),
    };
    let Some(facts) = facts(document, member, profile) else { return Vec::new() };
    with_frame(document, member, |frame_view| {
        let of_frame = frame::check(frame_view).intersection(profile.rules());
        let rules = file::check(&facts).union(of_frame);
        let partition = fixed_by_save(document, member, rules);
        let finding = |rule: Rule| {
            let message =
                if of_frame.contains(rule) { frame::message(rule, frame_view) } else { file::message(rule, &facts) };
            let label = edits_for(document, member, rule, profile).map(|_| frame::label(rule));
            let label = label.or_else(|| partition.contains(rule).then_some("split it when it is saved"));
            let is_safe = rule.fix() == FixKind::Safe;
            let fix = label.map(|label| Fix::of_file(label, is_safe));
            Some(Finding::in_profile(rule, profile, || message)?.of(target).with_fix(fix))
        };
        rules.iter().filter_map(finding).collect()
    })
    .unwrap_or_else(|| {
        // Only the items of a feed are read.
        let has_none = facts.entries == 0 && is_feed(document, member);
        let message = || "no item in this feed".to_owned();
        let found = has_none.then(|| Finding::in_profile(Rule::DOC_NO_ENTRIES, profile, message)).flatten();
        found.into_iter().map(|found| found.of(target)).collect()
    })
}

/// Whether a file is near a limit; computed again when all files of the set are loaded.
pub(super) fn is_near_limit(document: &Document, id: SitemapId, profile: Profile) -> bool {
    facts(document, Member::Sitemap(id), profile)
        .is_some_and(|facts| file::check(&facts).contains(Rule::FILE_NEAR_LIMIT))
}

/// Whether a file is a feed, which is never overwritten.
pub(super) fn is_feed(document: &Document, member: Member) -> bool {
    let Member::Sitemap(id) = member else { return false };
    document.sitemap(id).is_some_and(|sitemap| matches!(sitemap.form, Form::Feed(_)))
}

/// The fix of a quirk that was repaired on reading, or that any save removes: accepting it.
pub(super) fn quirk_fix(quirk: &Quirk) -> Option<Fix> {
    let label = match quirk.kind {
        Defect::GzipMembers => "write one gzip member",
        Defect::MergeConflict => "take ours, theirs or the entries of both",
        Defect::BlankLine => "remove the empty lines",
        Defect::LineEnds => "end each line with LF",
        Defect::Extension => "give it a name that ends in .txt",
        Defect::MergeResolved => "write the file as resolved",
        kind if kind.is_repair() => "write the file as repaired",
        _ => return None,
    };
    let is_safe = quirk::rule_of(quirk.kind).fix() == FixKind::Safe;
    Some(Fix::of_file(label, is_safe))
}

fn facts(document: &Document, member: Member, profile: Profile) -> Option<FileFacts<'_>> {
    Some(match member {
        Member::Index => {
            let index = document.index()?;
            let (source, file) = (&index.source, index.file(0)?);
            FileFacts {
                profile,
                entries: file.entries.len() as u32,
                bytes: file.len(),
                names: &source.names,
                stray: source.stray.is_some(),
                unbound: is_unbound(source, source),
                outside: extension::find_outside_entries(source).is_some(),
                // An index is not listed by another file.
                is_last: true,
            }
        }
        Member::Sitemap(id) => {
            let sitemap = document.sitemap(id)?;
            // Text between entries belongs to them; only the file as read records it.
            let source = document.source_of(id).unwrap_or(&sitemap.frame);
            let (stray, unbound) = (source.stray.is_some(), is_unbound(source, &sitemap.frame));
            let outside = extension::find_outside_entries(&sitemap.frame).is_some();
            let (entries, bytes) = (sitemap.live, sitemap.bytes());
            let is_last = document.last_sitemap() == Some(id);
            FileFacts { profile, entries, bytes, names: &sitemap.frame.names, stray, unbound, outside, is_last }
        }
    })
}

/// Whether entries of a source, below the root of `frame`, are in no namespace.
pub(super) fn is_unbound(source: &Source, frame: &Source) -> bool {
    source.has_unbound && frame.names.is_unbound(b"url")
}

/// Whether the first entry of a source is written with the prefix of the root; true for a source without entries.
fn is_prefixed(source: &Source) -> bool {
    let text = source.entry_text(0);
    let mut at = 0;
    while let Some(tag) = markup::next(text, at) {
        if matches!(tag.kind, Kind::Start | Kind::Empty) {
            return tag.name(text).starts_with(source.names.prefix.as_bytes());
        }
        at = tag.end;
    }
    true
}

/// Calls `read` with the frame of a file. `None` for files that are not stored as XML.
fn with_frame<T>(document: &Document, member: Member, read: impl FnOnce(&Frame<'_>) -> T) -> Option<T> {
    with_frame_closely(document, member, false, read)
}

/// [`with_frame`]. A namespace without elements directly in an entry is searched for in unknown elements and, if
/// `closely`, in known extensions too: a declaration that is used anywhere must not be removed.
fn with_frame_closely<T>(
    document: &Document,
    member: Member,
    closely: bool,
    read: impl FnOnce(&Frame<'_>) -> T,
) -> Option<T> {
    match member {
        Member::Index => {
            let index = document.index()?;
            let head = index.source.head(true);
            let name = index.path.as_ref().map(|_| &*index.name);
            let (names, gzip) = (&index.source.names, index.gzip);
            let is_prefixed = is_prefixed(&index.source);
            Some(read(&Frame { head: &head, names, name, gzip, is_prefixed, is_used: &|_| true }))
        }
        Member::Sitemap(id) => {
            let sitemap = document.sitemap(id)?;
            if matches!(sitemap.form, Form::Feed(_)) {
                return None;
            }
            let head = sitemap.frame.head(true);
            let usage = PrefixUsage::new(document, id, closely);
            let search = |meant: Namespace| usage.is_used(sitemap, meant);
            // Many prefixes may be declared for one namespace: the file is searched once.
            let known: RefCell<Vec<(Namespace, bool)>> = RefCell::default();
            let is_used = |meant: Namespace| {
                let found = known.borrow().iter().find(|(namespace, _)| *namespace == meant).map(|(_, used)| *used);
                found.unwrap_or_else(|| {
                    let used = search(meant);
                    known.borrow_mut().push((meant, used));
                    used
                })
            };
            let name = sitemap.path.as_ref().map(|_| &*sitemap.name);
            let (names, gzip) = (&sitemap.frame.names, sitemap.gzip);
            let is_prefixed = document.source_of(id).is_none_or(is_prefixed);
            Some(read(&Frame { head: &head, names, name, gzip, is_prefixed, is_used: &is_used }))
        }
    }
}

/// Rules that a file violates around its entries.
pub(super) fn rules(document: &Document, member: Member, profile: Profile) -> RuleSet {
    let of_file = facts(document, member, profile).map(|facts| file::check(&facts)).unwrap_or_default();
    of_file.union(with_frame(document, member, frame::check).unwrap_or_default())
}

/// Prefixes for which the findings of a file depend on the text of its entries: fixes of the text around them do if an
/// entry may use a prefix that its record does not show.
pub(super) fn searched_prefixes(document: &Document, id: SitemapId, profile: Profile) -> Vec<&str> {
    let is_fixed = |rule: Rule| frame::FRAME_RULES.contains(rule);
    let sitemap = document.sitemap(id).filter(|_| rules(document, Member::Sitemap(id), profile).iter().any(is_fixed));
    sitemap.map_or_else(Vec::new, |sitemap| PrefixUsage::new(document, id, true).searched(sitemap))
}

/// The edits that fix a rule; for an index in volumes, in all of them.
pub(super) fn edits_for(document: &Document, member: Member, rule: Rule, profile: Profile) -> Option<Vec<Edit>> {
    let is_several = member == Member::Index && document.index().is_some_and(|index| index.file_count() > 1);
    if is_several {
        let (edits, after) = volumes::fix_all(document, rule, profile)?;
        return (!rules(&after, member, profile).contains(rule)).then_some(edits);
    }
    edit_for(document, member, rule, profile).map(|edit| vec![edit])
}

/// The edit that fixes a rule, after a trial: its finding is gone and no other is new.
pub(super) fn edit_for(document: &Document, member: Member, rule: Rule, profile: Profile) -> Option<Edit> {
    if !frame::FRAME_RULES.contains(rule) {
        return None;
    }
    try_edit(
        document,
        rule,
        |document| rules(document, member, profile),
        |document, rule| untested_edit(document, member, rule),
    )
}

/// The edit that `change` makes for a rule, after a trial: its finding is gone and no other is new. `rules` returns the
/// rules that a document violates.
pub(super) fn try_edit(
    document: &Document,
    rule: Rule,
    rules: impl Fn(&Document) -> RuleSet,
    change: impl Fn(&Document, Rule) -> Option<Edit>,
) -> Option<Edit> {
    let before = rules(document);
    let mut edit = change(document, rule)?;
    for _ in 0..2 {
        let after = document.trial(&edit)?;
        let new = rules(&after);
        if new.contains(rule) {
            return None;
        }
        if new.minus(before).is_empty() {
            return Some(edit);
        }
        // A new namespace makes the old schema location wrong.
        edit = change(&after, Rule::SCHEMA_LOCATION)?;
    }
    None
}

/// The edit that removes declarations of a file that a change has left unused.
pub(super) fn remove_unused_declarations(
    before: &Document,
    after: &Document,
    member: Member,
    profile: Profile,
) -> Option<Edit> {
    let rule = Rule::NS_DECLARED_UNUSED;
    let is_new = rules(after, member, profile).contains(rule) && !rules(before, member, profile).contains(rule);
    is_new.then(|| edit_for(after, member, rule, profile))?
}

/// The edit for a rule, without a trial.
fn untested_edit(document: &Document, member: Member, rule: Rule) -> Option<Edit> {
    if rule == Rule::GZIP_EXTENSION_MISMATCH {
        // The name stays, since its URL is known elsewhere: the compression changes.
        let gzip = with_frame(document, member, |frame| !frame.gzip)?;
        return Some(Edit::Pack { file: member, gzip });
    }
    if rule == Rule::FILE_NAME_UNSAFE {
        return name::rename_edit(document, member, RuleSet::of(&[rule]));
    }
    let head = with_frame_closely(document, member, true, |stored| frame::fix_head(rule, stored))??;
    let frame = match member {
        Member::Sitemap(id) => {
            let was = &document.sitemap(id)?.frame;
            match &was.names.grid {
                Some(grid) => was.with_list_frame(&head, &was.tail(true), grid.line_end)?,
                None => Source::framed(&head, &was.tail(true))?,
            }
        }
        Member::Index => {
            let source = &document.index()?.source;
            let bytes = [&head[..], source.run(0, source.len()), &source.tail(true)].concat();
            Source::of_text(bytes).filter(|new| new.len() == source.len())?
        }
    };
    Some(Edit::Frame { file: member, frame: Arc::new(frame) })
}

/// Rules about the limits at which a save splits a file.
pub(super) const SPLIT: RuleSet = RuleSet::of(&[
    Rule::FILE_TOO_MANY_URLS,
    Rule::FILE_TOO_LARGE,
    Rule::TEXT_LIMITS,
    Rule::NEWS_LIMIT,
    Rule::INDEX_TOO_MANY,
]);

/// The violated limits that the next save fixes by a split; none once the user has agreed to it.
pub(super) fn fixed_by_save(document: &Document, member: Member, broken: RuleSet) -> RuleSet {
    let limits = Limits::default();
    match member {
        Member::Index => {
            let is_over = |index: &Index| !index.accepted && index.is_over(limits);
            let over = broken.intersection(RuleSet::of(&[Rule::INDEX_TOO_MANY, Rule::FILE_TOO_LARGE]));
            // `is_over` examines all files of the index, so it is called only if a size is wrong.
            if !over.is_empty() && document.index().is_some_and(is_over) { over } else { RuleSet::EMPTY }
        }
        Member::Sitemap(id) => {
            let is_meant = |file: &&Sitemap| !file.accepted && !matches!(file.form, Form::Feed(_));
            let Some(sitemap) = document.sitemap(id).filter(is_meant).filter(|_| document.can_have_parts()) else {
                return RuleSet::EMPTY;
            };
            let mut over = broken.intersection(SPLIT);
            // The limit of a search engine may be lower than that of the protocol, at which files are split.
            if sitemap.bytes() <= limits.bytes {
                over = over.minus(RuleSet::of(&[Rule::FILE_TOO_LARGE]));
                if sitemap.live <= limits.urls {
                    over = over.minus(RuleSet::of(&[Rule::TEXT_LIMITS]));
                }
            }
            over
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::lines::LineColumn;
    use crate::document::rows::RowId;
    use crate::files::{Options, Reason};
    use crate::protocol::Field;
    use crate::protocol::lastmod::Now;
    use crate::session::Session;
    use crate::session::edit::Change;
    use crate::session::findings;
    use crate::session::store::load;
    use crate::session::store::save;
    use std::path::{Path, PathBuf};

    const NOW: Now = Now { seconds: 1_795_000_000, offset: 0 };
    const NS: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";

    fn open(path: &Path) -> Session {
        load::open(path, Options::default(), NOW).unwrap()
    }

    fn stored(text: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sitemap.xml");
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    fn codes(session: &Session) -> Vec<(&'static str, u64)> {
        session.counts().by_rule().into_iter().map(|(rule, count)| (rule.code(), count)).collect()
    }

    #[test]
    fn accepting_repairs_is_an_edit_that_can_be_undone() {
        let damaged =
            format!("<?xml version='1.0'?><urlset {NS}><url><loc>https://e.com/?a&b</loc></url><!-- -- --></urlset>");
        let (_folder, path) = stored(damaged.as_bytes());
        let mut session = open(&path);
        let before = codes(&session);
        assert_eq!(before, [("xml-unescaped-ampersand", 1), ("xml-bad-comment", 1)]);
        assert!(!session.is_modified() && session.plan(None).is_empty());
        assert_eq!(
            findings::of_row(session.view(), RowId(0))[0].position.stored(),
            Some(LineColumn { line: 1, column: damaged.find("&b").unwrap() as u32 + 1 })
        );
        let fix = Change::Fix { rows: [0].into_iter().collect(), rules: RuleSet::of(&[Rule::XML_UNESCAPED_AMPERSAND]) };
        session.change(&fix).unwrap();
        assert_eq!(codes(&session), []);
        assert!(session.is_modified() && session.plan(None).repairs.is_empty());
        session.undo().unwrap();
        assert_eq!(codes(&session), before);
        assert!(!session.is_modified());
        session.redo().unwrap();
        save::now(&mut session, None, false).unwrap();
        assert!(!session.is_modified());
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            damaged.replace("?a&b", "?a&amp;b").replace("<!-- -- -->", "<!-- - - -->")
        );
        assert_eq!(codes(&open(&path)), []);
    }

    #[test]
    fn a_split_is_offered_only_if_a_save_would_split() {
        // Above the limit of Baidu for a file, and below the limit at which a save splits it.
        let long = "a".repeat(11_000_000);
        let (_folder, path) =
            stored(format!("<urlset {NS}><url><loc>https://e.com/</loc></url><!-- {long} --></urlset>").as_bytes());
        let mut session = open(&path);
        session.set_profile(Profile::Baidu);
        assert!(codes(&session).iter().any(|(code, _)| *code == "file-too-large"));
        let fix = Change::FixFile(Member::Sitemap(SitemapId(0)), RuleSet::of(&[Rule::FILE_TOO_LARGE]));
        assert!(!session.change(&fix).unwrap().changed);
    }

    #[test]
    fn an_edit_of_a_damaged_file_is_saved_only_with_accepted_repairs() {
        let damaged = format!("<?xml version='1.0'?><urlset {NS}><url><loc>https://e.com/?a&b</loc></url></urlset>");
        let (_folder, path) = stored(damaged.as_bytes());
        let mut session = open(&path);
        session
            .change(&Change::Insert { after: None, before: false, locs: vec!["https://e.com/2".to_owned()] })
            .unwrap();
        let plan = session.plan(None);
        assert_eq!(plan.repairs[0].what, ["raw & becomes &amp;"]);
        assert!(plan.asks);
        assert!(matches!(save::now(&mut session, None, false).unwrap_err().reason, Reason::Repairs(_)));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), damaged);
        let mut plan = session.plan(None);
        plan.accept_repairs();
        let saving = save::begin(&mut session, plan, false).unwrap();
        save::finish(&mut session, saving.run(&crate::progress::Progress::default())).unwrap();
        assert_eq!(codes(&session), []);
        assert!(std::fs::read_to_string(&path).unwrap().contains("?a&amp;b"));
        // A save under another path writes a copy, and the file is unchanged.
        std::fs::write(&path, &damaged).unwrap();
        let copy = path.with_file_name("copy.xml");
        save::now(&mut open(&path), Some(&copy), false).unwrap();
        assert_eq!(std::fs::read_to_string(&copy).unwrap(), damaged.replace("?a&b", "?a&amp;b"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), damaged);
    }

    #[test]
    fn a_head_is_fixed_in_place_counted_and_undone() {
        let text = "<?xml version='1.0'?>\n<urlset ns='http://www.google.com/schemas/sitemap/0.84'\n  a='b'><!-- x -->\n<url><loc>https://e.com/1</loc></url>\n<!-- y --></urlset>\n";
        let (_folder, path) = stored(text.as_bytes());
        let mut session = open(&path);
        let before = codes(&session);
        let fix = Change::FixFile(Member::Sitemap(SitemapId(0)), RuleSet::of(&[Rule::NS_ATTR_TYPO]));
        session.change(&fix).unwrap();
        assert!(!codes(&session).iter().any(|(code, _)| *code == "ns-attr-typo"));
        session.undo().unwrap();
        assert_eq!(codes(&session), before);
        assert!(!session.is_modified());
        session.redo().unwrap();
        let right = text.replace(
            "ns='http://www.google.com/schemas/sitemap/0.84'",
            "xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'",
        );
        assert_eq!(session.document().only_sitemap().unwrap().bytes(), right.len() as u64);
        save::now(&mut session, None, false).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), right);
    }

    #[test]
    fn the_head_of_an_index_is_fixed() {
        let text = "<?xml version='1.0'?>\n<sitemapindex>\n<sitemap><loc>https://e.com/gone.xml</loc></sitemap>\n</sitemapindex>\n";
        let (_folder, path) = stored(text.as_bytes());
        let mut session = open(&path);
        session.change(&Change::FixFile(Member::Index, RuleSet::of(&[Rule::NS_MISSING]))).unwrap();
        assert!(session.is_modified() && !codes(&session).iter().any(|(code, _)| *code == "ns-missing"));
        session.undo().unwrap();
        assert!(!session.is_modified() && codes(&session).iter().any(|(code, _)| *code == "ns-missing"));
        session.redo().unwrap();
        save::now(&mut session, None, false).unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            text.replace("<sitemapindex>", &format!("<sitemapindex {NS}>"))
        );
    }

    /// An edit of one row searches no other row for the prefixes of the root.
    #[test]
    fn an_edit_does_not_search_the_entries_for_unused_prefixes() {
        let entry = |number| {
            format!(
                "<url><loc>https://e.com/{number}</loc><i:image><i:loc>https://e.com/{number}.png</i:loc></i:image></url>"
            )
        };
        let entries: String = (0..500).map(entry).collect();
        let root = format!(
            "<urlset {NS} xmlns:i=\"http://www.google.com/schemas/sitemap-image/1.1\" xmlns:x=\"http://www.w3.org/1999/xhtml\">"
        );
        let (_folder, path) = stored(format!("{root}{entries}</urlset>").as_bytes());
        let mut session = open(&path);
        assert!(
            session
                .file_findings()
                .iter()
                .any(|finding| finding.rule == Rule::NS_DECLARED_UNUSED && finding.fix.is_some())
        );
        let mut edit = |row: u32| {
            let change = Change::Nudge { rows: [row].into_iter().collect(), field: Field::Priority, up: true };
            crate::progress::work::here(|| drop(session.change(&change).unwrap()))
        };
        edit(0);
        let second = edit(1);
        assert!(second < entries.len() as u64 / 10, "{second} units for {} bytes", entries.len());
    }
}
