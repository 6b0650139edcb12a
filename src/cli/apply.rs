//! `sited apply`: sets fields of rows by a rules file, or lists the rows that do not comply.
//!
//! The file is TOML (version 1.0). Each row gets the values of the first rule whose query it matches:
//!
//! ```toml
//! [[rule]]
//! where = "path:/blog/*"
//! priority = 0.8
//! changefreq = "weekly"
//!
//! [[rule]]             # everything else
//! priority = "none"
//! ```

use super::bulk::{Task, change};
use super::options::EditOptions;
use super::rules_file::{CompiledRule, is_rules, read};
use super::sets::each_set;
use super::values::refuse_assignments;
use super::{Failure, Status, Streams};
use clap::Args;
use std::path::{Path, PathBuf};

/// `sited apply`.
#[derive(Debug, Args)]
#[command(
    override_usage = "sited apply [OPTIONS] <PATH>... <RULES>",
    after_help = "Examples:\n  sited apply public/ rules.toml --dry-run\n  sited apply public/ rules.toml --check"
)]
pub struct Apply {
    /// Sitemaps, sitemap indexes, or folders, each saved on its own; then the rules file (TOML)
    #[arg(required = true, num_args = 2.., value_names = ["PATH", "RULES"])]
    pub words: Vec<PathBuf>,
    /// Write values that `check` reports as errors
    #[arg(long)]
    pub force: bool,
    /// How the sets are saved
    #[command(flatten)]
    pub edit: EditOptions,
}

impl Apply {
    /// The paths and the rules file. The rules file may still come first, which is deprecated.
    fn paths_and_rules(&self, streams: &mut Streams<'_>) -> Result<(&[PathBuf], &Path), Failure> {
        match self.words.as_slice() {
            [rules, paths @ ..]
                if !paths.is_empty() && is_rules(rules) && !paths.last().is_some_and(|path| is_rules(path)) =>
            {
                let names: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
                let now = format!("sited apply {} {}", names.join(" "), rules.display());
                streams.note(&format!("note: RULES before PATH is deprecated; write {now}"));
                Ok((paths, rules))
            }
            [paths @ .., rules] if !paths.is_empty() => Ok((paths, rules)),
            _ => {
                let hint = "for example: sited apply public/ rules.toml".to_owned();
                Err(Failure::Usage("apply needs a PATH and a rules file".to_owned(), hint))
            }
        }
    }
}

pub(super) fn run(apply: &Apply, memory_limit: u64, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let (paths, file) = apply.paths_and_rules(streams)?;
    let common = &apply.edit.save.common;
    let rules = read(file, &common.vocabulary()?)?;
    if !apply.force {
        let refused = |rule: &CompiledRule| {
            let what = format!("{}, {}", file.display(), rule.name);
            refuse_assignments(&rule.assignments, common).map_err(|error| error.with_context(&what))
        };
        rules.iter().try_for_each(refused)?;
    }
    let task = Task::Rules { rules: &rules, file };
    each_set(paths, &apply.edit, streams, &mut |target, streams| change(target, &task, memory_limit, streams))
}
