//! Changes extensions of many rows as one step.

use crate::check::Finding;
use crate::document::edit::Edit;
use crate::document::rows::{RowId, RowSet};
use crate::progress::Progress;
use crate::session::edit::intent::{Intent, Label, PreviewPart, SAMPLES, Sample};
use crate::session::findings;
use crate::session::state::Snapshot;
use crate::xml::extension_edit::{ExtensionChange, edit_extension, value_at};
use crate::xml::names::{FileKind, Names};
use rayon::prelude::*;

/// The new text of a row (`None` if it has the values already), or why the row is skipped.
type Extended = Result<Option<String>, String>;

/// The intent of extension changes. `None` when cancelled.
pub(in crate::session) fn intend(
    snapshot: &Snapshot,
    rows: &RowSet,
    changes: &[ExtensionChange],
    progress: &Progress,
) -> Option<Intent> {
    let live: Vec<u32> = rows.iter().filter(|row| snapshot.document.is_live(RowId(*row))).collect();
    let extended: Vec<(RowId, Extended)> = live
        .par_iter()
        .map(|row| (!progress.is_cancelled()).then(|| (RowId(*row), apply_changes(snapshot, RowId(*row), changes))))
        .collect::<Option<_>>()?;
    let (mut edits, mut samples, mut breaks) = (Vec::new(), Vec::new(), Vec::new());
    let (mut already, mut refused, mut reason) = (0, 0, None);
    for (row, text) in extended {
        match text {
            Ok(Some(text)) => {
                if edits.len() < SAMPLES {
                    samples.extend(changes.iter().map(|act| sample_of(snapshot, row, act, text.as_bytes())));
                }
                if live.len() == 1 {
                    breaks = new_findings(snapshot, row, text.as_bytes());
                }
                edits.push(Edit::Raw { row, text: text.into() });
            }
            Ok(None) => already += 1,
            Err(why) => {
                refused += 1;
                reason.get_or_insert(why);
            }
        }
    }
    let edited = edits.len() as u64;
    let done: Vec<String> = changes.iter().map(done_message).collect();
    Some(Intent {
        label: Label::of(format!("{} ", done.join(", ")), edited, "row", "").refusing(refused, reason.as_ref()),
        edit: (!edits.is_empty()).then_some(Edit::Several(edits)),
        rows: live.len() as u64,
        already,
        refused,
        reason,
        samples,
        breaks,
        ..Intent::counting(edited)
    })
}

fn apply_changes(snapshot: &Snapshot, row: RowId, changes: &[ExtensionChange]) -> Extended {
    let names = snapshot.document.names(row);
    if names.kind != FileKind::Urlset {
        return Err("a file of this kind has no extensions".to_owned());
    }
    let old = snapshot.document.entry_text(row);
    let mut new: Option<Vec<u8>> = None;
    for act in changes {
        let text = new.as_deref().unwrap_or(&old);
        if let Some(changed) = edit_extension(text, names, act).map_err(|fault| fault.0)? {
            new = Some(changed);
        }
    }
    new.map(String::from_utf8).transpose().map_err(|_| "it is not UTF-8".to_owned())
}

/// Findings that a row would have with this text and does not have now.
fn new_findings(snapshot: &Snapshot, row: RowId, text: &[u8]) -> Vec<Finding> {
    let now = findings::of_row(snapshot, row);
    let is_new = |found: &Finding| !now.iter().any(|old| (old.rule, &old.message) == (found.rule, &found.message));
    findings::of_text(snapshot, row, text).into_iter().filter(is_new).collect()
}

fn sample_of(snapshot: &Snapshot, row: RowId, act: &ExtensionChange, new: &[u8]) -> Sample {
    let names: &Names = snapshot.document.names(row);
    let old = snapshot.document.entry_text(row);
    let (path, added) = match act {
        ExtensionChange::Set { path, .. } | ExtensionChange::Remove(path) => (path, None),
        ExtensionChange::Add { path, values } => {
            let values: Vec<&str> = values.iter().map(|(_, value)| &**value).collect();
            (path, Some(values.join("  ")))
        }
    };
    let is_added = added.is_some();
    let before = value_at(&old, names, path).filter(|_| !is_added);
    let after = added.or_else(|| value_at(new, names, path));
    Sample { row, part: PreviewPart::Extension(path.to_string()), before, after }
}

/// The message of a change, up to the rows: `video/duration set to 120 on`.
fn done_message(act: &ExtensionChange) -> String {
    match act {
        ExtensionChange::Set { path, value } => format!("{path} set to {value} on"),
        ExtensionChange::Add { path, .. } => format!("{path} added to"),
        ExtensionChange::Remove(path) => format!("{path} removed from"),
    }
}

#[cfg(test)]
mod tests {
    use crate::document::Document;
    use crate::files::Options;
    use crate::protocol::lastmod::Now;
    use crate::session::Session;
    use crate::session::command::parse;
    use crate::session::edit::DefaultScope;
    use crate::session::run::CommandOutcome;
    use crate::session::state::vocabulary;
    use crate::session::store::load;
    use proptest::prelude::*;
    use std::convert::Infallible;

    const NOW: Now = Now { seconds: 1_795_000_000, offset: 0 };

    const FILE: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\">
  <url>
    <loc>https://e.com/1</loc>
    <image:image><image:loc>https://e.com/1.png</image:loc></image:image>
  </url>
  <url><loc>https://e.com/2</loc><priority>0.5</priority></url>
  <!-- three -->
  <url><loc>https://e.com/3</loc></url>
</urlset>
";

    fn open() -> Session {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sitemap.xml");
        std::fs::write(&path, FILE).unwrap();
        load::open(&path, Options::default(), NOW).unwrap()
    }

    fn written(document: &Document) -> String {
        let mut out = Vec::new();
        let mut write = |bytes: &[u8]| {
            out.extend_from_slice(bytes);
            Ok::<(), Infallible>(())
        };
        document.write_sitemap(crate::document::sitemap::SitemapId(0), &mut write).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn run(session: &mut Session, line: &str) -> Result<String, String> {
        let command = parse(line, &vocabulary(NOW)).map_err(|error| error.message)?;
        match session.run(&command, DefaultScope::All) {
            Ok(CommandOutcome::Done(report)) => Ok(report.message),
            Ok(other) => Err(format!("{other:?}")),
            Err(refused) => Err(refused.to_string()),
        }
    }

    #[test]
    fn extensions_of_many_rows_are_one_step() {
        let mut session = open();
        assert_eq!(run(&mut session, "set priority=0.8 where path:/2"), Ok("priority set to 0.8 on 1 row".to_owned()));
        assert_eq!(
            run(&mut session, "ext add link rel=alternate hreflang=de href=https://e.com/de"),
            Ok("link added to 3 rows".to_owned())
        );
        let text = written(session.document());
        let link = "<xhtml:link xmlns:xhtml=\"http://www.w3.org/1999/xhtml\" rel=\"alternate\" hreflang=\"de\" href=\"https://e.com/de\"/>";
        let expected = FILE
            .replace("0.5</priority>", &format!("0.8</priority>{link}"))
            .replace("1.png</image:loc></image:image>", &format!("1.png</image:loc></image:image>\n    {link}"))
            .replace("https://e.com/3</loc>", &format!("https://e.com/3</loc>{link}"));
        assert_eq!(text, expected);
        assert_eq!(session.view().changed(), 3);
        assert_eq!(run(&mut session, "ext remove link"), Ok("link removed from 3 rows".to_owned()));
        assert_eq!(written(session.document()), FILE.replace("0.5</priority>", "0.8</priority>"));
        assert_eq!(session.view().changed(), 1, "back to what it was is no change");
        while session.undo().is_some() {}
        assert_eq!(written(session.document()), FILE);
        assert!(!session.is_modified());
    }

    #[test]
    fn skipped_rows_are_reported_with_the_reason() {
        let mut session = open();
        let message = run(&mut session, "ext set image[2]/loc=https://e.com/x.png");
        assert_eq!(
            message.as_deref(),
            Ok("image[2]/loc set to https://e.com/x.png on 1 row; 2 rows skipped: there is no image[2], only 0")
        );
        let message = run(&mut session, "ext set image/loc=https://e.com/1.png where path:/1");
        assert_eq!(message.as_deref(), Ok("nothing changed: the row has this value already"));
    }

    fn line() -> impl Strategy<Value = String> {
        prop::sample::select(vec![
            "ext add image loc=https://e.com/a.png title=A",
            "ext set image/loc=https://e.com/b.png",
            "ext set image/caption=\"a & b\"",
            "ext remove image[1]",
            "ext remove image/title",
            "ext add video title=T description=D thumbnail_loc=https://e.com/t.png content_loc=https://e.com/c.mp4",
            "ext set video/duration=120 video/rating=4.5",
            "ext add video/tag=red",
            "ext set news/publication/name=N news/publication/language=en news/title=T news/publication_date=2026-11-01",
            "ext add link rel=alternate hreflang=fr href=https://e.com/fr where path:/2",
            "ext remove link",
            "set priority=0.3",
            "delete where path:/3",
            "undo",
        ])
        .prop_map(str::to_owned)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// After any changes of extensions a fresh load has the same findings, and undoing everything restores the
        /// file.
        #[test]
        fn changed_extensions_reload_with_the_same_findings_and_are_undone(lines in prop::collection::vec(line(), 1..10)) {
            let mut session = open();
            for line in lines {
                let _ = run(&mut session, &line);
            }
            let text = written(session.document());
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("sitemap.xml");
            std::fs::write(&path, &text).unwrap();
            let fresh = load::open(&path, Options::default(), NOW).unwrap();
            let codes = |session: &Session| {
                let mut codes: Vec<_> =
                    session.counts().by_rule().into_iter().map(|(rule, count)| (rule.code(), count)).collect();
                codes.sort_unstable();
                codes
            };
            prop_assert_eq!(codes(&session), codes(&fresh), "{}", text);
            let disordered = codes(&fresh).into_iter().find(|(code, _)| code.ends_with("child-order"));
            prop_assert_eq!(disordered, None, "{}", text);
            while session.undo().is_some() {}
            prop_assert_eq!(written(session.document()), FILE);
        }
    }
}
