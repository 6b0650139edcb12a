//! Renames a file whose name violates a rule.

use crate::check::name::{self, NameKind};
use crate::check::rule::Rule;
use crate::document::edit::Edit;
use crate::document::rename;
use crate::document::rows::RowSet;
use crate::document::sitemap::{Member, SitemapId};
use crate::files;
use crate::session::edit::{EditError, Intent};
use crate::session::file_fixes::name::{path_of, violates};
use crate::session::fix::whole_files;
use crate::session::state::Snapshot;
use crate::words::counted;

/// The intent of renaming the file whose name violates a rule: of the files of these rows, or of all files if none of
/// those violates it.
///
/// # Errors
/// The file cannot have this name, or there are several such files.
pub(in crate::session) fn intend(
    snapshot: &Snapshot,
    rows: &RowSet,
    rule: Rule,
    name: &str,
) -> Result<Intent, EditError> {
    let document = &snapshot.document;
    let is_violating = |file: &Member| violates(document, *file, rule.family());
    let of_rows: Vec<Member> = whole_files::members(snapshot, rows).into_iter().filter(is_violating).collect();
    let sitemaps = (0..document.sitemaps().len() as u32).map(|id| Member::Sitemap(SitemapId(id)));
    let all = sitemaps.chain([Member::Index]).filter(is_violating);
    let files = if of_rows.is_empty() { all.collect() } else { of_rows };
    let file = match files.as_slice() {
        [] => return Err(EditError::Refused("nothing changed: nothing to fix".to_owned())),
        [file] => *file,
        files => {
            let count = counted(files.len() as u64, "file");
            let first = snapshot.file_name(files.first().copied().unwrap_or(Member::Index));
            let why = format!("{count} cannot have the same name; select one with: where file=\"{first}\"");
            return Err(EditError::Refused(why));
        }
    };
    let old = snapshot.file_name(file);
    let refused = |why: String| EditError::Refused(format!("{old} keeps its name: {why}"));
    let why = rename::refusal(document, file).or_else(|| name::refusal(name, Some(NameKind::of(document, file))));
    if let Some(why) = why {
        return Err(refused(why));
    }
    let path = path_of(document, file).map(|path| path.with_file_name(name)).unwrap_or_default();
    let is_its_own =
        path_of(document, file).as_ref() == Some(&path) || path_of(&snapshot.saved, file) == Some(path.clone());
    if rename::has_file(document, name, file) || (!is_its_own && files::is_there(&path)) {
        return Err(refused(format!("there is a file {name} in its folder already")));
    }
    Ok(Intent {
        label: format!("{old} renamed to {name}").into(),
        edit: Some(Edit::Rename { file, name: name.into() }),
        ..Intent::counting(1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{Action, Options};
    use crate::protocol::lastmod::Now;
    use crate::session::Session;
    use crate::session::command::parse;
    use crate::session::edit::DefaultScope;
    use crate::session::edit::script_export;
    use crate::session::fix;
    use crate::session::state::vocabulary;
    use crate::session::store::load;
    use crate::session::store::save;
    use std::fs;
    use std::path::Path;
    use tempfile::TempDir;

    const NOW: Now = Now { seconds: 1_795_000_000, offset: 0 };
    const NS: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";

    fn page(path: &str) -> String {
        format!("<urlset {NS}><url><loc>https://e.com/{path}</loc></url></urlset>")
    }

    fn index(names: &[&str]) -> String {
        let entry = |name: &&str| {
            format!("<sitemap><loc>https://e.com/{name}</loc><lastmod>2020-01-01</lastmod></sitemap><!-- {name} -->")
        };
        format!("<sitemapindex {NS}>{}</sitemapindex>", names.iter().map(entry).collect::<String>())
    }

    fn folder(files: &[(&str, String)]) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    /// An index that lists a file with a valid name and one with an invalid name, next to another file.
    fn set() -> TempDir {
        let index = index(&["1.xml", "site%20map.xml", "site%20map.xml"]);
        folder(&[
            ("index.xml", index),
            ("1.xml", page("1")),
            ("site map.xml", page("2")),
            ("other.html", "<html>".to_owned()),
        ])
    }

    fn open(folder: &TempDir, name: &str) -> Session {
        load::open(&folder.path().join(name), Options::default(), NOW).unwrap()
    }

    fn run(session: &mut Session, line: &str) -> Result<(), String> {
        let command = parse(line, &vocabulary(NOW)).map_err(|error| error.to_string())?;
        session.run(&command, DefaultScope::All).map(drop).map_err(|refused| refused.to_string())
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_rename_updates_the_index_removes_the_old_file_and_can_be_undone() {
        let folder = set();
        let before = fs::read_to_string(folder.path().join("index.xml")).unwrap();
        let mut session = open(&folder, "index.xml");
        run(&mut session, "fix file-name-unsafe").unwrap();
        let plan = session.plan(None);
        let what = |name: &str| {
            let output = plan.outputs.iter().find(|output| &*output.name == name).unwrap();
            (output.action, output.what.clone())
        };
        assert!(plan.asks);
        assert_eq!(what("1.xml").0, Action::Untouched);
        assert_eq!(what("site-map.xml"), (Action::Created, "1 URL, renamed from site map.xml".to_owned()));
        assert_eq!(what("site map.xml"), (Action::Removed, "is site-map.xml now".to_owned()));
        save::now(&mut session, None, false).unwrap();
        assert_eq!(names(folder.path()), ["1.xml", "index.xml", "other.html", "site-map.xml"]);
        assert_eq!(fs::read_to_string(folder.path().join("site-map.xml")).unwrap(), page("2"));
        // The content of the file did not change, so only the loc of its entries changes.
        let after = fs::read_to_string(folder.path().join("index.xml")).unwrap();
        assert_eq!(after, before.replace("/site%20map.xml<", "/site-map.xml<"));
        let fresh = open(&folder, "index.xml");
        assert_eq!(fresh.document().live(), 2);
        session.undo().unwrap();
        save::now(&mut session, None, false).unwrap();
        assert_eq!(names(folder.path()), ["1.xml", "index.xml", "other.html", "site map.xml"]);
        assert_eq!(fs::read_to_string(folder.path().join("index.xml")).unwrap(), before);
    }

    #[test]
    fn a_single_file_gets_the_given_name() {
        let folder = folder(&[("urls.lst", "https://e.com/a\n".to_owned())]);
        let mut session = open(&folder, "urls.lst");
        run(&mut session, "fix text-extension pages.txt").unwrap();
        assert!(session.counts().by_rule().is_empty() && session.is_modified());
        assert_eq!(script_export::of_session(&session), ["fix text-extension pages.txt"]);
        save::now(&mut session, None, false).unwrap();
        assert_eq!(names(folder.path()), ["pages.txt"]);
        assert_eq!(session.path().unwrap().file_name().unwrap(), "pages.txt");
        run(&mut session, "add https://e.com/b").unwrap();
        save::now(&mut session, None, false).unwrap();
        assert_eq!(names(folder.path()), ["pages.txt"]);
    }

    #[test]
    fn a_file_renamed_during_a_save_keeps_its_new_name() {
        let folder = folder(&[("site map.xml", page("1"))]);
        let mut session = open(&folder, "site map.xml");
        run(&mut session, "set priority=0.4").unwrap();
        let saving = {
            let plan = session.plan(None);
            save::begin(&mut session, plan, false)
        }
        .unwrap();
        run(&mut session, "fix file-name-unsafe a.xml").unwrap();
        save::finish(&mut session, saving.run(&crate::progress::Progress::default())).unwrap();
        assert!(session.is_modified());
        save::now(&mut session, None, false).unwrap();
        assert_eq!(names(folder.path()), ["a.xml"]);
        assert!(fs::read_to_string(folder.path().join("a.xml")).unwrap().contains("<priority>0.4"));
    }

    #[test]
    fn a_name_that_is_taken_or_in_another_folder_is_refused_with_the_reason() {
        let folder = set();
        fs::write(folder.path().join("free.xml"), "something else").unwrap();
        let mut session = open(&folder, "index.xml");
        for (name, why) in [
            ("1.xml", "there is a file 1.xml"),
            ("free.xml", "there is a file free.xml"),
            ("index.xml", "there is a file index.xml"),
            ("INDEX.xml", "there is a file INDEX.xml"),
            ("../a.xml", "stays in its folder"),
            ("a.txt", "end in .xml"),
            ("a.xml.gz", "end in .xml"),
            ("\"a b.xml\"", "escaped"),
        ] {
            let refused = run(&mut session, &format!("fix file-name-unsafe {name}")).unwrap_err();
            assert!(refused.contains(why), "{name}: {refused}");
        }
        assert!(!session.is_modified());
        // Two files cannot have the same name.
        fs::write(folder.path().join("b c.xml"), page("3")).unwrap();
        fs::write(folder.path().join("index.xml"), index(&["site%20map.xml", "b%20c.xml"])).unwrap();
        let mut session = open(&folder, "index.xml");
        let refused = run(&mut session, "fix file-name-unsafe a.xml").unwrap_err();
        assert!(refused.contains("2 files cannot have the same name"), "{refused}");
        run(&mut session, "fix file-name-unsafe a.xml where file=\"b c.xml\"").unwrap();
        run(&mut session, "fix file-name-unsafe").unwrap();
        save::now(&mut session, None, false).unwrap();
        let index = fs::read_to_string(folder.path().join("index.xml")).unwrap();
        assert!(index.contains("/site-map.xml<") && index.contains("/a.xml<"), "{index}");
    }

    #[test]
    fn a_file_of_a_nested_index_keeps_its_name() {
        let nested = folder(&[
            ("index.xml", index(&["inner.xml"])),
            ("inner.xml", index(&["a%20b.xml"])),
            ("a b.xml", page("1")),
        ]);
        let mut session = open(&nested, "index.xml");
        let refused = run(&mut session, "fix file-name-unsafe c.xml").unwrap_err();
        assert!(refused.contains("index-nested"), "{refused}");
        assert!(run(&mut session, "fix file-name-unsafe").is_ok() && !session.is_modified());
    }

    #[test]
    fn the_folder_must_be_given_if_no_entry_determines_it() {
        let folder = folder(&[("index.xml", index(&["none.xml"])), ("new.xml", page("1"))]);
        let mut session = open(&folder, "index.xml");
        let question = fix::question(session.view(), Member::Index, Rule::INDEX_CHILD_UNLISTED);
        assert_eq!(question.as_deref(), Some("fix index-child-unlisted https://example.com/"));
        run(&mut session, "fix index-child-unlisted").unwrap();
        assert!(!session.is_modified());
        run(&mut session, "fix index-child-unlisted https://e.com/maps/").unwrap();
        save::now(&mut session, None, false).unwrap();
        let index = fs::read_to_string(folder.path().join("index.xml")).unwrap();
        assert!(index.contains("<loc>https://e.com/maps/new.xml</loc>"), "{index}");
    }
}
