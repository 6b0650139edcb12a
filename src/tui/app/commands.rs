//! Dispatches commands to the modules that do the work.

use super::App;
use super::actions::open_changes;
use super::flows::{data, external_changes, help, history, inspect, leave, open_url, opening, probe, rules, save};
use super::operations::{cursor, edit, mark, recheck, search, view};
use super::state::Shared;
use super::state::jobs::Effect;
use crate::document::view::ViewSpec;
use crate::files::external_changes::Thoroughness;
use crate::session::command::{Command, Goto};
use crate::session::edit::DefaultScope;
use crate::session::policy::Standard;
use crate::session::rule_export::DEFAULT_RULES_FILE;
use crate::session::run::CommandOutcome;
use crate::tui::draw::columns::ColumnName;
use crate::tui::theme::{Scheme, Theme};

/// Executes a command.
pub(super) fn execute(app: &mut App, command: Command, default_scope: DefaultScope) {
    let spec = view::spec(&app.shared).clone();
    match command {
        Command::Filter(filter) => view::show_view(&mut app.shared, ViewSpec { filter, ..spec }),
        Command::Sort(sort) => view::show_view(&mut app.shared, ViewSpec { sort, ..spec }),
        Command::Goto(Goto::Row(number)) => cursor::go_to_number(&mut app.shared, number),
        Command::Goto(Goto::Last) => app.shared.grid.go(&app.shared.session, u32::MAX),
        Command::Search(query) => {
            let from = app.shared.grid.position;
            search::search(&mut app.shared, query.clone(), from, true, false);
            app.shared.requested_rows.query = Some(query);
        }
        Command::History { as_commands: false } => history::open_history(app),
        Command::History { as_commands: true } => history::open_script(app),
        Command::KeepRule(path) => rules::export_rule(&mut app.shared, path.as_deref().unwrap_or(DEFAULT_RULES_FILE)),
        Command::Check(None) => rules::open_rules(app),
        Command::Check(Some(path)) => rules::write_findings(&mut app.shared, path),
        Command::Help(topic) => help::open_help(app, topic.as_deref()),
        Command::Changes => open_changes(app),
        Command::Plan => save::open_plan(app),
        Command::Verify => inspect::verify(&mut app.shared),
        Command::Outside => external_changes::check_external_changes(&mut app.shared, Thoroughness::Full, true),
        Command::Write { path, force } => save::save(app, path.map(Into::into), force),
        Command::WriteQuit => save::save_and_quit(app),
        Command::Quit { discard } => leave::quit(app, discard),
        Command::Theme(name) => match Scheme::from_name(&name) {
            Some(scheme) => {
                app.shared.theme = Theme::new(scheme, app.shared.theme.charset);
                app.shared.jobs.effect(Effect::Repaint);
            }
            None => app.shared.show_error("expected dark, light or none"),
        },
        Command::Reload { discard } => opening::reload(&mut app.shared, discard),
        Command::Open { url, into, discard } => open_url::open(app, url, into, discard),
        Command::Columns(names) => choose_columns(&mut app.shared, &names),
        Command::Undo(steps) => edit::undo(&mut app.shared, true, steps),
        Command::Redo(steps) => edit::undo(&mut app.shared, false, steps),
        Command::Mark(scope) => mark::mark_scope(&mut app.shared, scope, default_scope, true),
        Command::Unmark(scope) => mark::mark_scope(&mut app.shared, scope, default_scope, false),
        Command::Profile(profile) => recheck::recheck(&mut app.shared, Standard::Profile(profile)),
        Command::Policy(Some(path)) => recheck::recheck(&mut app.shared, Standard::PolicyFile(path)),
        Command::Probe(command) => probe::command(&mut app.shared, command),
        Command::Data(command) => data::command(app, command),
        Command::Policy(None) => recheck::recheck(&mut app.shared, Standard::NoPolicy),
        Command::Marks(_) | Command::Backup(_) | Command::SetBaseUrl(_) => {
            match app.shared.session.run(&command, default_scope) {
                Ok(CommandOutcome::Shown(words)) => app.shared.show_note(words),
                Ok(_) => {}
                Err(refused) => app.shared.show_error(refused.to_string()),
            }
        }
        Command::RebaseIndex(url) => match app.shared.session.run(&Command::SetBaseUrl(url.clone()), default_scope) {
            Ok(_) => edit::change_by(&mut app.shared, Command::RebaseIndex(url), default_scope),
            Err(refused) => app.shared.show_error(refused.to_string()),
        },
        Command::Set { .. }
        | Command::Replace { .. }
        | Command::Add(_)
        | Command::Delete(_)
        | Command::Keep(_)
        | Command::Duplicate(_)
        | Command::Revert(_)
        | Command::Fix { .. }
        | Command::Extend { .. }
        | Command::ApplyOrder => edit::change_by(&mut app.shared, command, default_scope),
    }
}

/// Shows these columns, in this order: `all` of them, or those that are not empty, `auto`.
fn choose_columns(shared: &mut Shared, names: &[String]) {
    if let [word] = names
        && let Some((_, is_chosen)) = [("all", true), ("auto", false)].into_iter().find(|(own, _)| own == word)
    {
        (shared.grid.order, shared.grid.chosen) = (ColumnName::default_order(), is_chosen);
        return;
    }
    let data = shared.session.view().data.clone();
    let mut chosen = shared.grid.data.clone();
    let mut order = Vec::new();
    for word in names {
        let name = match word.strip_prefix('@') {
            Some(name) => chosen.select(&name.to_lowercase(), data.as_ref()),
            None => ColumnName::from_word(word).ok_or_else(String::new),
        };
        match name {
            Ok(name) => order.push(name),
            Err(words) if words.is_empty() => break,
            Err(words) => return shared.show_error(words),
        }
    }
    if !order.is_empty() && order.len() == names.len() {
        chosen.keep_only(&mut order);
        (shared.grid.data, shared.grid.order, shared.grid.chosen) = (chosen, order, true);
        return;
    }
    let words = ColumnName::ALL.map(|(_, word)| word).join(", ");
    shared.show_error(format!("columns are {words}, @NAME of data; also all, and auto (those that are not empty)"));
}
