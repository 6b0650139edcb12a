//! Proposes valid names for files whose name violates a rule.

use crate::check::name::{self, NameKind};
use crate::check::rule::{Rule, RuleSet};
use crate::document::edit::Edit;
use crate::document::sitemap::Member;
use crate::document::{Document, rename};
use crate::files;
use crate::xml::defect::Defect;
use std::path::PathBuf;

/// Rules that renaming the file fixes.
pub(in crate::session) const FIXES: RuleSet = RuleSet::of(&[Rule::FILE_NAME_UNSAFE, Rule::TEXT_EXTENSION]);

pub(in crate::session) fn path_of(document: &Document, file: Member) -> Option<PathBuf> {
    match file {
        Member::Index => document.index()?.path.clone(),
        Member::Sitemap(id) => document.sitemap(id)?.path.clone(),
    }
}

/// The name of a file within its folder.
pub(in crate::session) fn name_of(document: &Document, file: Member) -> &str {
    let name = match file {
        Member::Index => document.index().map(|index| &*index.name),
        Member::Sitemap(id) => document.sitemap(id).map(|sitemap| &*sitemap.name),
    };
    rename::last(name.unwrap_or_default())
}

/// Whether the name of a file violates one of these rules.
pub(in crate::session) fn violates(document: &Document, file: Member, rules: RuleSet) -> bool {
    let name = name_of(document, file);
    let is_unsafe = name.len() > name::MAX_BYTES || !name.bytes().all(name::is_unreserved);
    let has_wrong_extension = match file {
        Member::Index => false,
        Member::Sitemap(id) => document
            .sitemap(id)
            .is_some_and(|sitemap| sitemap.quirks.iter().any(|quirk| quirk.kind == Defect::Extension)),
    };
    path_of(document, file).is_some()
        && ((is_unsafe && rules.contains(Rule::FILE_NAME_UNSAFE))
            || (has_wrong_extension && rules.contains(Rule::TEXT_EXTENSION)))
}

/// A valid name for a file that can be renamed.
pub(in crate::session) fn propose_name(document: &Document, file: Member) -> Option<String> {
    let path = path_of(document, file).filter(|_| rename::refusal(document, file).is_none())?;
    let is_taken = |name: &str| rename::has_file(document, name, file) || files::is_there(&path.with_file_name(name));
    Some(name::safe_name(name_of(document, file), NameKind::of(document, file), &is_taken))
}

/// The edit that gives a file the proposed name, if its own violates one of these rules.
pub(in crate::session) fn rename_edit(document: &Document, file: Member, rules: RuleSet) -> Option<Edit> {
    let name = propose_name(document, file).filter(|_| violates(document, file, rules))?;
    Some(Edit::Rename { file, name: name.into() })
}
