//! Saving without a screen: nobody can be asked, so what a save needs must have been said before.

use super::output::plain;
use super::{Failure, Streams};
use crate::files::plan::{Action, Output, Plan};
use crate::progress::Progress;
use crate::session::Session;
use crate::session::change::Refused;
use crate::words::{counted, size};
use std::io;
use std::path::Path;

/// Saves, to another path if one is given. What is made, replaced or removed beside the files that were
/// opened is said before it is done.
pub(super) fn save(
    session: &mut Session,
    to: Option<&Path>,
    force: bool,
    streams: &mut Streams<'_>,
) -> Result<(), Failure> {
    if let (Some(reason), None) = (session.read_only(), to) {
        return Err(Refused(format!("read-only: {reason}")).into());
    }
    let plan = session.plan(to);
    if let Some(base) = &plan.needs_base {
        let message = "new files need a URL, and nothing here says where the set will live".to_owned();
        return Err(Failure::Usage(message, format!("say it: --base-url {base}")));
    }
    if plan.is_ready() {
        for loss in &plan.losses {
            streams.note(loss);
        }
    }
    if plan.asks && plan.is_ready() {
        for output in plan.outputs.iter().filter(|output| output.action != Action::Untouched) {
            streams.note(&in_words(output));
        }
    }
    let saving = session.saving(plan, force)?;
    let message = session.saved(saving.run(&Progress::default()))?;
    streams.note(&message);
    Ok(())
}

/// Prints what a save would do.
pub(super) fn show_plan(session: &Session, streams: &mut Streams<'_>) -> io::Result<()> {
    let Plan { outputs, problems, needs_base, losses, .. } = session.plan(None);
    for output in &outputs {
        writeln!(streams.out, "{}", in_words(output))?;
    }
    if let Some(base) = needs_base {
        streams.note(&format!("a base URL is needed; from the rows it looks like {base}"));
    }
    for loss in losses {
        streams.note(&loss);
    }
    for problem in problems {
        streams.note(&problem.message);
    }
    Ok(())
}

/// `rewritten  a.xml  14 changed  50,311 → 50,000 entries, 7.1 MiB`.
fn in_words(output: &Output) -> String {
    let path = plain(&output.path.to_string_lossy());
    let action = match output.action {
        Action::Untouched => return format!("untouched  {path}"),
        Action::Removed => return format!("removed    {path}"),
        Action::Rewritten => "rewritten",
        Action::Created => "created",
        Action::Replaced => "replaced",
    };
    let size = size(output.bytes);
    let urls = counted(u64::from(output.urls_after), "URL");
    let what = if output.what.is_empty() { String::new() } else { format!("  {}", output.what) };
    let url = output.url.as_ref().map_or_else(String::new, |url| format!("  {}", plain(url)));
    format!("{action:<9}  {path}{what}  {urls}, {size}{url}")
}
