//! Fixes the text around the entries of an index in several volumes, in all of them at once.
//!
//! Invariant: afterwards the roots of all volumes resolve names to the same namespaces. Otherwise the volumes could not
//! be opened together again, so a fix that would break this is not made.

use crate::check::Profile;
use crate::check::extension;
use crate::check::file::{self, FileFacts};
use crate::check::frame::{self, Frame};
use crate::check::rule::{FixKind, Rule, RuleSet};
use crate::check::{Finding, FindingTarget, Fix};
use crate::document::Document;
use crate::document::edit::Edit;
use crate::document::index::Index;
use crate::document::index::IndexFile;
use crate::document::sitemap::Member;
use crate::document::source::Source;
use crate::session::file_fixes::{edit_for, fixed_by_save, rules as rules_of_first};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Rules about the default namespace. They are fixed together, so that all volumes have the same namespace afterwards.
const NAMESPACES: RuleSet =
    RuleSet::of(&[Rule::NS_MISSING, Rule::NS_ATTR_TYPO, Rule::NS_VARIANT, Rule::NS_LEGACY_084, Rule::NS_WRONG]);

/// Finds rules that the volumes after the first violate around their entries. Each fix is tried once for all volumes.
pub(in crate::session) struct VolumeFindings<'d> {
    document: &'d Document,
    profile: Profile,
    /// The document after the fix of a rule; `None` if there is no fix.
    fixed: HashMap<Rule, Option<Document>>,
}

impl<'d> VolumeFindings<'d> {
    pub(in crate::session) fn new(document: &'d Document, profile: Profile) -> Self {
        Self { document, profile, fixed: HashMap::new() }
    }

    /// The findings of a volume after the first, without those of its entries and quirks.
    pub(in crate::session) fn of_volume(&mut self, number: usize) -> Vec<Finding> {
        let Self { document, profile, fixed } = self;
        let (document, profile) = (*document, *profile);
        let Some(further) = document.index().and_then(|index| index.file(number)) else { return Vec::new() };
        let facts = facts(&further, profile);
        let head = further.frame.head(true);
        let view = frame_view(&further, &head);
        let of_frame = frame::check(&view).intersection(profile.rules());
        let rules = file::check(&facts).union(of_frame);
        let partition = fixed_by_save(document, Member::Index, rules);
        let finding = |rule: Rule| {
            let message =
                if of_frame.contains(rule) { frame::message(rule, &view) } else { file::message(rule, &facts) };
            let fixed = fixed.entry(rule).or_insert_with(|| Some(fix_all(document, rule, profile)?.1));
            let label = fixed
                .as_ref()
                .filter(|after| !rules_of(after, number, profile).contains(rule))
                .map(|_| frame::label(rule));
            let label = label.or_else(|| partition.contains(rule).then_some("split it when it is saved"));
            let is_safe = rule.fix() == FixKind::Safe;
            let fix = label.map(|label| Fix::of_file(label, is_safe));
            let found = Finding::in_profile(rule, profile, || message)?;
            Some(found.of(FindingTarget::IndexFile(number)).with_fix(fix))
        };
        rules.iter().filter_map(finding).collect()
    }
}

/// Rules that any volume of the index violates around its entries.
pub(in crate::session) fn rules(document: &Document, profile: Profile) -> RuleSet {
    let count = document.index().map_or(0, Index::file_count);
    (0..count).map(|number| rules_of(document, number, profile)).fold(RuleSet::EMPTY, RuleSet::union)
}

/// The edits that fix a rule in every volume that violates it, with the document after them; `None` if there is no fix,
/// or the volumes could not be opened as one index afterwards.
pub(in crate::session) fn fix_all(document: &Document, rule: Rule, profile: Profile) -> Option<(Vec<Edit>, Document)> {
    let group = if NAMESPACES.contains(rule) { NAMESPACES } else { RuleSet::of(&[rule]) };
    let (mut document, mut edits) = (document.clone(), Vec::new());
    for rule in rules_of(&document, 0, profile).intersection(group).iter() {
        if let Some(edit) = edit_for(&document, Member::Index, rule, profile)
            && let Some(after) = document.trial(&edit)
        {
            document = after;
            edits.push(edit);
        }
    }
    let index = document.index()?;
    let mut framed = BTreeMap::new();
    for (number, file) in index.files().enumerate().skip(1) {
        let mut new: Option<VolumeFrame> = None;
        for rule in rules_of_volume(&file, profile).intersection(group).iter() {
            let file = new.as_ref().map_or_else(|| file.clone(), |new| new.applied_to(&file));
            new = fix_volume(&file, rule, profile).or(new.clone());
        }
        if let Some(VolumeFrame { frame, gzip }) = new {
            let number_in_index = u32::try_from(number).ok()?;
            edits.push(Edit::Volume { number: number_in_index, frame: Arc::clone(&frame), gzip });
            framed.insert(number, (frame, gzip));
        }
    }
    if !framed.is_empty() {
        let index = index.with_volumes(&framed);
        document.set_index(Some(index));
    }
    let index = document.index()?;
    let is_one_index = index.files().all(|file| file.frame.names.is_compatible_with(&index.source.names));
    (is_one_index && !edits.is_empty()).then_some((edits, document))
}

/// The frame that an edit gives a volume after the first.
#[derive(Clone)]
struct VolumeFrame {
    frame: Arc<Source>,
    gzip: bool,
}

impl VolumeFrame {
    /// The volume with this frame.
    fn applied_to<'f>(&'f self, file: &IndexFile<'f>) -> IndexFile<'f> {
        file.with_frame(&self.frame, self.gzip)
    }
}

/// The frame of a volume in which the finding of a rule is gone and no other is new.
fn fix_volume(file: &IndexFile<'_>, rule: Rule, profile: Profile) -> Option<VolumeFrame> {
    let before = rules_of_volume(file, profile);
    let mut changed = untested_fix(file, rule)?;
    for _ in 0..2 {
        let after = changed.applied_to(file);
        let new = rules_of_volume(&after, profile);
        if new.contains(rule) {
            return None;
        }
        if new.minus(before).is_empty() {
            return Some(changed);
        }
        // A new namespace makes the old schema location wrong.
        changed = untested_fix(&after, Rule::SCHEMA_LOCATION)?;
    }
    None
}

/// The fix of a rule, without a trial.
fn untested_fix(file: &IndexFile<'_>, rule: Rule) -> Option<VolumeFrame> {
    if rule == Rule::GZIP_EXTENSION_MISMATCH {
        return Some(VolumeFrame { frame: Arc::clone(file.frame), gzip: !file.gzip });
    }
    let (head, tail) = (file.frame.head(true), file.frame.tail(true));
    let head = frame::fix_head(rule, &frame_view(file, &head))?;
    Some(VolumeFrame { frame: Arc::new(Source::framed(&head, &tail)?), gzip: file.gzip })
}

fn rules_of(document: &Document, number: usize, profile: Profile) -> RuleSet {
    if number == 0 {
        return rules_of_first(document, Member::Index, profile);
    }
    let file = document.index().and_then(|index| index.file(number));
    file.map_or(RuleSet::EMPTY, |file| rules_of_volume(&file, profile))
}

fn rules_of_volume(file: &IndexFile<'_>, profile: Profile) -> RuleSet {
    let head = file.frame.head(true);
    file::check(&facts(file, profile)).union(frame::check(&frame_view(file, &head)))
}

fn facts<'f>(file: &'f IndexFile<'_>, profile: Profile) -> FileFacts<'f> {
    FileFacts {
        profile,
        entries: file.entries.len() as u32,
        bytes: file.len(),
        names: &file.frame.names,
        stray: file.frame.stray.is_some(),
        unbound: crate::session::file_fixes::is_unbound(file.frame, file.frame),
        outside: extension::find_outside_entries(file.frame).is_some(),
        // An index is not listed by another file.
        is_last: true,
    }
}

fn frame_view<'f>(file: &'f IndexFile<'_>, head: &'f [u8]) -> Frame<'f> {
    let name = file.path.map(|_| &**file.name);
    Frame { head, names: &file.frame.names, name, gzip: file.gzip, is_prefixed: true, is_used: &|_| true }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Options;
    use crate::files::journal::StateSlot;
    use crate::protocol::lastmod::Now;
    use crate::session::Session;
    use crate::session::fix;
    use crate::session::fixture::non_row_findings;
    use crate::session::store::journal::fixture;
    use crate::session::store::load;
    use crate::session::store::save;
    use std::path::PathBuf;
    use tempfile::TempDir;

    const NS: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";

    /// Two indexes of one set, around an entry each, and one with both.
    fn set(first: (&str, &str), second: (&str, &str)) -> (TempDir, Vec<PathBuf>) {
        let folder = tempfile::tempdir().unwrap();
        let index = |(head, tail): (&str, &str), name: &str| {
            format!("{head}<sitemap><loc>https://e.com/{name}</loc></sitemap>{tail}")
        };
        for (name, text) in [
            ("index.xml", index(first, "a.xml")),
            ("index-2.xml", index(second, "b.xml")),
            ("a.xml", format!("<urlset {NS}><url><loc>https://e.com/a</loc></url></urlset>")),
            ("b.xml", format!("<urlset {NS}><url><loc>https://e.com/b</loc></url></urlset>")),
        ] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let paths = ["index.xml", "index-2.xml"].map(|name| folder.path().join(name));
        (folder, paths.into())
    }

    fn open(paths: &[PathBuf]) -> Session {
        let now = Now { seconds: 1_795_000_000, offset: 0 };
        load::open_all(Session::new(now, None), paths, Options::default()).unwrap()
    }

    fn found(session: &Session, rule: Rule) -> Vec<(FindingTarget, Option<String>)> {
        let found = non_row_findings(session).into_iter();
        let found = found.filter(|found| found.rule == rule && found.target.is_of_index());
        found.map(|found| (found.target, found.fix.map(|fix| fix.label.into_owned()))).collect()
    }

    #[test]
    fn each_rule_is_fixed_in_every_volume_that_violates_it_and_no_other_file_is_written() {
        let open_tag = format!("<sitemapindex {NS}>");
        let plain = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{open_tag}");
        let end = "</sitemapindex>";
        let xsi = "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"";
        let of_schema = |ns: &str| format!("<sitemapindex {NS} {xsi} xsi:schemaLocation=\"{ns} {ns}/siteindex.xsd\">");
        let sitemaps = "http://www.sitemaps.org/schemas/sitemap/0.9";
        let old = "http://www.google.com/schemas/sitemap/0.84";
        let table: Vec<(Rule, [String; 2], [String; 2])> = vec![
            (Rule::ENC_BOM, [plain.clone(), format!("\u{feff}{plain}")], [plain.clone(), plain.clone()]),
            (
                Rule::XML_DECLARATION_MISSING,
                [plain.clone(), format!("<!-- banner -->{open_tag}<!-- of the root -->\n")],
                [plain.clone(), format!("{}<!-- of the root -->\n", plain.replace("<s", "<!-- banner --><s"))],
            ),
            (
                Rule::XML_VERSION,
                [plain.replace("1.0", "1.1"), plain.replace("1.0", "1.1")],
                [plain.clone(), plain.clone()],
            ),
            (
                Rule::XML_DOCTYPE,
                [plain.clone(), plain.replace("<s", "<!DOCTYPE sitemapindex>\n<s")],
                [plain.clone(), plain.clone()],
            ),
            (
                Rule::DOC_UNKNOWN_ATTRIBUTE,
                [plain.clone(), plain.replace("<sitemapindex", "<sitemapindex a=\"b\"")],
                [plain.clone(), plain.clone()],
            ),
            (Rule::SCHEMA_LOCATION, [of_schema(sitemaps), of_schema(old)], [of_schema(sitemaps), of_schema(sitemaps)]),
            (
                Rule::NS_LEGACY_084,
                [plain.replace(sitemaps, old), plain.replace(sitemaps, old)],
                [plain.clone(), plain.clone()],
            ),
            // One volume has a typo and one has no namespace: both must be fixed.
            (
                Rule::NS_MISSING,
                [plain.replace(NS, "ns=\"x\""), plain.replace(&format!(" {NS}"), "")],
                [plain.replace(&format!(" {NS}>"), &format!(" {NS} ns=\"x\">")), plain.clone()],
            ),
        ];
        for (rule, stored, expected) in table {
            let (folder, paths) = set((&stored[0], end), (&stored[1], end));
            let files = || ["index.xml", "index-2.xml"].map(|name| std::fs::read(folder.path().join(name)).unwrap());
            let before = files();
            let mut session = open(&paths);
            let places = found(&session, rule);
            let place = places.last().map(|(place, _)| *place);
            assert_eq!(place, Some(FindingTarget::IndexFile(1)), "{rule}: {places:?}");
            assert!(places.iter().all(|(_, fix)| fix.is_some()), "{rule}: {places:?}");
            let state_slot = || StateSlot::take(&folder.path().join("state"), &paths[0]).unwrap();
            fixture::open(&mut session, state_slot());
            session.change(&fix::change_for(&session, FindingTarget::IndexFile(1), rule)).unwrap();
            assert_eq!(found(&session, rule), [], "{rule}");
            session.undo().unwrap();
            assert_eq!((found(&session, rule), session.is_modified()), (places, false), "{rule}");
            session.redo().unwrap();
            assert!(session.is_modified());
            drop(session);
            let mut session = open(&paths);
            let left = fixture::open(&mut session, state_slot()).0.unwrap();
            fixture::replay(&mut session, left).unwrap();
            assert_eq!(found(&session, rule), [], "{rule}");
            // The fix is one of the unsaved changes and can be reverted alone.
            session.change(&crate::session::edit::Change::RevertFile(Member::Index)).unwrap();
            assert!(!session.is_modified(), "{rule}");
            session.undo().unwrap();
            save::now(&mut session, None, false).unwrap();
            assert!(!session.is_modified());
            let text = |file: usize| String::from_utf8(files()[file].clone()).unwrap();
            for (file, name) in [(0, "a.xml"), (1, "b.xml")] {
                let entry = format!("<sitemap><loc>https://e.com/{name}</loc></sitemap>");
                assert_eq!(text(file), format!("{}{entry}{end}", expected[file]), "{rule}");
                assert_eq!(stored[file] == expected[file], before[file] == files()[file], "{rule}");
            }
            assert_eq!(found(&open(&paths), rule), [], "{rule}: together again");
        }
    }

    #[test]
    fn a_second_volume_is_compressed_by_its_name_and_the_first_stays() {
        let head = format!("<sitemapindex {NS}>");
        let (folder, mut paths) = set((&head, "</sitemapindex>"), (&head, "</sitemapindex>"));
        let second = folder.path().join("index-2.xml.gz");
        std::fs::rename(&paths[1], &second).unwrap();
        paths[1] = second;
        let mut session = open(&paths);
        let rule = Rule::GZIP_EXTENSION_MISMATCH;
        assert_eq!(found(&session, rule).len(), 1);
        session.change(&fix::change_for(&session, FindingTarget::IndexFile(1), rule)).unwrap();
        assert_eq!(found(&session, rule), []);
        save::now(&mut session, None, false).unwrap();
        assert!(std::fs::read(&paths[1]).unwrap().starts_with(b"\x1f\x8b"));
        assert!(std::fs::read(&paths[0]).unwrap().starts_with(b"<"));
        assert_eq!(found(&open(&paths), rule), []);
    }

    #[test]
    fn a_fix_that_would_give_volumes_different_namespaces_is_not_offered() {
        let head = format!("<sitemapindex {NS}>");
        let odd = format!("<sitemapindex {NS} xsi:schemaLocation=\"a b\">");
        let (_folder, paths) = set((&head, "</sitemapindex>"), (&odd, "</sitemapindex>"));
        let mut session = open(&paths);
        let rule = Rule::XML_UNDECLARED_PREFIX;
        assert_eq!(found(&session, rule), [(FindingTarget::IndexFile(1), None)]);
        let change = fix::change_for(&session, FindingTarget::IndexFile(1), rule);
        assert!(!session.change(&change).unwrap().changed);
    }
}
