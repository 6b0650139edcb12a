//! The promises of saving, each with its tests; the manual's table is generated from this one.
//!
//! A test is given by its file and its function. A promise without a test and a test that does not exist are errors.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// A promise, and its tests as `file: function, function; file: function`.
type Promise = (&'static str, &'static str);

const PROMISES: [Promise; 31] = [
    (
        "Only files whose bytes change are written; a save without edits writes nothing.",
        "src/files/save/tests.rs: without_edits_no_file_is_opened, \
         one_changed_row_writes_one_part_and_the_index_and_saving_again_writes_nothing; \
         tests/it/corpus.rs: an_edit_that_matches_no_row_writes_nothing",
    ),
    (
        "Every entry you did not touch keeps its bytes: comments, unknown elements, quotes, entity spelling, byte order \
         mark, line ends. An edit replaces a value's own bytes and nothing else.",
        "tests/it/roundtrip.rs: every_byte_belongs_to_head_entries_or_tail, setting_a_value_changes_only_its_bytes, \
         removing_a_value_removes_its_element_and_line, adding_a_value_only_inserts_bytes",
    ),
    (
        "Each file is written beside its target, synced, read back and compared with memory (every byte, the number, \
         order and values of its rows), and only then renamed over it; parts first, the index last.",
        "src/files/readback.rs: count_order_and_values_are_compared; \
         src/files/save/tests.rs: a_file_that_would_not_read_back_is_not_written; \
         src/files/save/faults.rs: silent_data_loss_is_detected_before_anything_is_replaced",
    ),
    (
        "All or nothing, for the whole set: whatever dies while it saves, every file is wholly old or wholly new, the \
         index names no missing file, and the next start of the editor, or the next command that writes, makes the set \
         all old or all new.",
        "src/files/save/faults.rs: a_process_that_dies_at_any_operation_leaves_the_old_set_or_the_new_one; \
         src/files/save/records.rs: an_interrupted_recovery_can_be_repeated, \
         a_record_that_cannot_be_finished_is_reported_and_changes_nothing; \
         tests/it/kill.rs: a_killed_save_leaves_the_old_set_or_the_new_one, \
         a_killed_save_leaves_the_old_set_or_the_new_one_for_every_file_layout",
    ),
    (
        "A full disk, a quota, a limit of file sizes, an I/O error, a short write or a signal at any operation: every \
         file is as it was, or the rest of the save is recorded and will be finished; your changes stay, no temporary \
         file remains, and saving again works.",
        "src/files/save/faults.rs: a_failure_at_any_operation_loses_nothing, signals_and_short_writes_change_nothing, \
         undoing_everything_after_a_failed_save_restores_the_old_files; \
         src/session/store/save/tests.rs: \
         after_a_failed_save_rows_stay_modified_and_saving_again_works; \
         tests/it/disk_full.rs: a_full_disk_is_reported_with_the_missing_space_and_no_file_is_changed, \
         a_file_size_limit_is_reported_and_no_file_is_changed",
    ),
    (
        "The error names the missing bytes and what to do.",
        "src/files/space.rs: a_message_gives_the_missing_space_and_a_remedy, \
         a_half_done_save_is_not_reported_as_unchanged",
    ),
    (
        "Nothing that you typed is lost: it is kept in your state folder, synced at once. After a crash, a closed \
         terminal or a signal the next start shows it and asks; nothing is replayed without asking.",
        "tests/it/crash.rs: unsaved_changes_of_a_crash_are_offered_and_replayed, \
         changes_of_several_files_are_replayed_and_cannot_be_bypassed, \
         changes_after_a_save_to_another_path_are_journaled_for_that_path; \
         src/session/store/journal/tests.rs: any_session_is_replayed_to_the_same_bytes, \
         a_crash_after_a_save_wrote_its_files_leaves_only_later_changes_to_replay; \
         src/session/store/journal/recovery/tests.rs: \
         edits_made_while_a_save_adds_an_index_are_recovered_by_every_path, \
         edits_made_while_a_save_removes_an_index_are_recovered_by_every_path, \
         edits_made_after_a_list_was_split_are_recovered",
    ),
    (
        "A journal that is cut off, damaged, of other files or of a newer version is reported and kept.",
        "src/files/journal/tests.rs: a_cut_or_flipped_byte_costs_only_its_lines_which_are_counted, \
         lost_lines_are_counted_by_their_numbers_and_shown, unusable_journals_are_set_aside_and_listed; \
         src/session/store/journal/tests.rs: a_journal_of_changed_files_is_set_aside_and_reported; \
         src/session/store/journal/recovery/tests.rs: a_journal_of_two_indexes_whose_files_changed_is_reported_and_kept",
    ),
    (
        "Two editors never open one file for writing, by whatever path: its index, the file alone, a folder, a link, a \
         second name. The second is read-only and names the process that has the file; commands that write refuse to \
         run then, and while unsaved changes of an earlier session exist. The lock of a dead process does not count.",
        "src/files/lock.rs: sets_that_share_a_file_are_not_both_locked, \
         links_to_a_file_share_a_key_with_it; \
         tests/it/crash.rs: a_second_editor_of_the_same_set_is_read_only, a_set_is_locked_by_every_path_that_opens_it, \
         commands_are_refused_while_the_editor_runs_or_unsaved_changes_exist; \
         src/files/journal/tests.rs: a_second_lock_attempt_fails_with_the_process_of_the_holder, \
         the_files_are_locked_if_the_state_folder_cannot_be_used",
    ),
    (
        "A save detects changes of other programs by content before it overwrites a file: changed, replaced, cut, \
         deleted, also with the same length and time, also between the writing and the rename.",
        "src/files/external_changes.rs: every_kind_of_change_has_its_name, \
         a_change_that_keeps_length_and_time_is_found_by_a_full_check, a_clock_that_jumps_hides_no_change_and_makes_none; \
         src/files/save/faults.rs: changes_by_others_during_a_save_are_not_overwritten; \
         src/files/save/tests.rs: foreign_changes_are_not_overwritten_unless_forced",
    ),
    (
        "The editor also detects them when you return to its window; then you reload, save elsewhere, keep yours, or \
         merge row by row, previewed, in one step that can be undone.",
        "tests/it/outside.rs: external_changes_are_reported_when_the_terminal_gets_focus, \
         local_and_external_changes_are_merged_and_saved, a_deleted_file_is_written_again_only_on_request; \
         src/session/store/external_changes/tests.rs: a_merge_equals_that_of_a_table_model, \
         lists_and_tables_are_merged_as_sitemaps_are, an_index_changed_on_both_sides_has_both_changes, \
         a_file_deleted_from_a_set_without_an_index_is_merged_by_its_rows; \
         src/document/merge/index.rs: entries_are_merged_one_by_one",
    ),
    (
        "Links stay, also chains of links; the file at their end is replaced. Links that lead nowhere or in a circle \
         are reported.",
        "tests/it/file_metadata.rs: a_chain_of_five_links_is_kept_and_its_target_is_replaced, \
         dangling_and_circular_links_are_reported_with_a_hint",
    ),
    (
        "A file with several names, or whose owner cannot be given to another file, is overwritten in place, after \
         space is reserved and the new bytes are synced beside it.",
        "src/files/save/tests.rs: a_file_with_two_hard_links_stays_one_file_with_its_attributes; \
         tests/it/file_metadata.rs: the_owner_is_kept",
    ),
    (
        "Mode, owner, group, extended attributes and access lists are kept.",
        "tests/it/file_metadata.rs: the_mode_is_kept_under_every_umask, \
         the_owner_is_kept, attributes_and_access_lists_are_kept_and_none_is_added",
    ),
    (
        "Nothing becomes more readable, not even while it is written and whatever the umask; new parts are as private as \
         their set.",
        "src/files/save/faults.rs: a_process_that_dies_at_any_operation_leaves_the_old_set_or_the_new_one; \
         src/files/save/tests.rs: the_mode_is_kept_and_a_new_file_has_that_of_the_others; \
         src/files/backup/tests.rs: a_copy_has_the_bytes_and_mode_of_its_file_and_is_private_while_written",
    ),
    (
        "Pipes, devices and folders are never replaced; read-only files and folders are refused, and the error says \
         what to do.",
        "tests/it/file_metadata.rs: pipes_devices_and_folders_are_never_replaced, \
         read_only_files_and_folders_are_refused_with_a_hint",
    ),
    (
        "A save runs in the background and can be stopped until files are put in place; changes made meanwhile stay \
         unsaved.",
        "src/session/store/save/tests.rs: a_background_save_changes_only_the_saved_state; \
         tests/it/pty.rs: edits_are_possible_during_a_save; \
         src/files/save/tests.rs: a_cancelled_save_changes_nothing",
    ),
    (
        "Before anything is written you can see it: each file, the lines of the index, the diff, and (`:verify`) the \
         exact bytes. Each unsaved change can be reverted alone.",
        "src/session/store/pending/tests.rs: reverting_changes_one_by_one_leaves_none; \
         src/document/diff.rs: a_diff_applied_to_the_earlier_lines_gives_the_later_ones; \
         src/tui/app/tests/changes.rs: verify_proves_that_nothing_else_changes",
    ),
    (
        "A file that would pass 50,000 URLs, 1,000 news entries or 52,428,800 bytes is split: the overflow goes to a new \
         numbered file, the index gains its entry, other files keep theirs. Emptied files leave the index.",
        "src/document/split.rs: parts_keep_the_limits_and_the_order, a_file_holds_a_thousand_news_entries; \
         src/files/plan/tests.rs: overflow_moves_to_a_file_with_the_next_number_that_the_index_lists, \
         the_byte_limit_is_exact_and_counts_the_finished_file, a_single_file_becomes_the_index_of_its_parts, \
         an_emptied_file_leaves_the_set_unless_it_is_the_last",
    ),
    (
        "An index that would pass 50,000 files or 52,428,800 bytes becomes several, which the plan and the save \
         report: the first keeps its entries, the rest goes to numbered ones, and all of them are one document when \
         they are opened by their names or their folder. A later save writes only those that it changes.",
        "src/files/plan/volumes/tests.rs: one_part_over_the_limit_creates_a_second_index_and_is_reported, \
         parts_are_split_among_indexes, an_edit_writes_only_the_index_that_lists_its_part, \
         a_folder_is_opened_by_all_files_of_its_index; \
         src/files/save/faults.rs: a_failure_at_any_operation_loses_nothing",
    ),
    (
        "`sited split` makes as many indexes as its parts need and reports it; left-over files of an earlier split are \
         named, and removed only with `--prune`, all or nothing; other files stay. A set with missing files is not \
         split.",
        "src/files/plan/split/tests.rs: an_index_over_a_limit_is_split_and_reported, \
         leftovers_of_a_longer_split_are_reported_and_removed_on_request, \
         a_process_that_dies_while_it_splits_leaves_the_longer_split_or_the_shorter_one, \
         a_failed_split_changes_nothing_or_is_finished_by_the_next_start; \
         src/cli/tests/sets.rs: split_reads_the_whole_set_or_refuses",
    ),
    (
        "A backup is on disk before anything is replaced, is never overwritten, and can be restored, all or nothing.",
        "src/files/backup/tests.rs: once_backs_up_the_state_before_the_session_and_always_before_each_save, \
         a_clock_that_jumps_changes_no_order_and_loses_no_backup, \
         a_restore_can_be_undone_and_removes_new_files_only_with_prune, \
         a_failure_at_any_operation_leaves_one_state_or_the_other, \
         a_process_that_dies_during_a_restore_leaves_one_state_or_the_other, \
         interrupted_calls_and_short_writes_do_not_affect_a_restore",
    ),
    (
        "A save reports a backup that it cannot sign. An incomplete backup is reported, and removed only if the \
         program made it.",
        "src/files/backup/tests.rs: a_save_reports_that_its_backup_is_unsigned; \
         src/cli/tests/sets.rs: an_unsigned_backup_is_reported; \
         tests/it/threat_model/backups.rs: an_incomplete_backup_is_reported_and_removed_only_if_the_program_made_it",
    ),
    (
        "An interrupted save is finished whichever set of the folder is changed next, if your key authenticates its \
         record. Any other record is only shown (`sited recover`), and no record or backup makes the program write \
         through a link, into a hidden folder or outside of its own.",
        "src/files/save/records.rs: a_save_first_finishes_that_of_another_set_in_the_folder; \
         tests/it/threat_model/records.rs: \
         an_unauthenticated_record_is_shown_and_never_executed_without_consent_or_outside_its_folder, \
         an_authenticated_record_is_still_validated, an_invalid_record_is_reported_and_can_be_removed, \
         records_in_parent_folders_are_ignored_unless_authenticated_for_this_set; \
         tests/it/threat_model/backups.rs: \
         an_unauthenticated_backup_is_never_restored_without_consent_or_outside_its_folder, \
         an_authenticated_backup_is_restored_unless_it_was_modified_or_moved",
    ),
    (
        "Commands that only read, `--dry-run` and `--read-only` write nothing and remove nothing, whatever is in the \
         folder.",
        "tests/it/threat_model/records.rs: \
         an_unauthenticated_record_is_shown_and_never_executed_without_consent_or_outside_its_folder, \
         an_authenticated_record_is_finished_by_the_next_command_that_writes; \
         tests/it/threat_model/backups.rs: \
         an_unauthenticated_backup_is_never_restored_without_consent_or_outside_its_folder",
    ),
    (
        "A fault of the system, or a kill, at any call of any command leaves the old set or the new one, and is \
         reported. Limit: when a set of one file is saved and its folder cannot be synced, the new file is there, and \
         the error says that it may not last.",
        "tests/it/faults.rs: a_fault_in_any_command_loses_nothing_and_is_reported, \
         known_faults_are_reported_and_lose_nothing; \
         src/files/save/faults.rs: a_failure_at_any_operation_loses_nothing",
    ),
    (
        "Nothing is skipped silently: a command refuses a set of which a file cannot be read, is missing or lies on \
         another host, before anything is written, unless `--allow-missing` is given.",
        "src/cli/tests/unread_files.rs: every_command_refuses_a_set_with_an_unreadable_file_and_names_it, \
         every_command_is_in_the_table, a_missing_file_of_a_nested_index_is_reported_before_any_output, \
         missing_files_of_deeply_nested_indexes_are_reported_before_any_output, \
         folders_and_several_paths_with_unreadable_files_are_refused; \
         tests/it/faults.rs: a_fault_in_any_command_loses_nothing_and_is_reported",
    ),
    (
        "While changes cannot be recorded against a crash, the screen says why; they are recorded once that works \
         again.",
        "tests/it/crash.rs: changes_that_cannot_be_journaled_are_reported_until_journaling_works, \
         a_full_disk_under_the_state_folder_is_reported_until_there_is_space; \
         src/files/journal/tests.rs: write_failures_are_reported_once_and_changes_written_after_recovery; \
         src/session/store/journal/tests.rs: a_temporary_failure_of_the_state_folder_loses_no_changes",
    ),
    (
        "From a damaged journal, every change is replayed that does not depend on a lost one; the rest is counted and \
         shown, and the journal is kept.",
        "src/session/store/journal/tests.rs: lines_after_a_damaged_one_are_replayed_if_they_do_not_depend_on_it, \
         lines_that_depend_on_a_lost_one_are_reported_and_not_replayed; \
         src/session/store/journal/damage.rs: a_damaged_journal_yields_only_real_changes_and_counts_the_lost_ones; \
         src/files/journal/tests.rs: a_cut_or_flipped_byte_costs_only_its_lines_which_are_counted; \
         tests/it/threat_model/journals.rs: crafted_journals_have_no_effect_without_consent, \
         replayed_crafted_journals_change_only_their_set",
    ),
    (
        "Two editors with different state folders (another user, sudo, a container, a bind mount) never change one file.",
        "tests/it/crash.rs: a_set_is_locked_across_state_folders_also_after_a_save, \
         a_set_is_locked_through_a_bind_mount; \
         tests/it/threat_model/locks.rs: crafted_locks_are_ignored_unless_a_process_holds_them",
    ),
    (
        "A damaged file is opened repaired and written only when you agree to what changes; a file that is not a \
         sitemap is refused with a message and not changed.",
        "tests/it/corpus.rs: damaged_files_open_repaired_and_are_written_only_with_consent, \
         files_that_are_not_sitemaps_are_reported_and_left_unchanged",
    ),
];

/// The tests of a promise: file and function.
fn tests(promise: &Promise) -> Vec<(&'static str, &'static str)> {
    let of_file = |group: &'static str| {
        let (file, names) = group.trim().split_once(": ").unwrap_or_else(|| panic!("{group}: no file"));
        names.split(',').map(move |name| (file, name.trim()))
    };
    promise.1.split(';').flat_map(of_file).collect()
}

/// Promises, with the files of the tests that hold them.
pub(crate) fn table() -> String {
    let mut out = String::from("| Promise | Held by the tests of |\n|---|---|\n");
    for promise in &PROMISES {
        let mut files: Vec<_> = tests(promise).into_iter().map(|(file, _)| file).collect();
        files.dedup();
        let files: Vec<_> = files.iter().map(|file| format!("[`{file}`](../../{file})")).collect();
        let _ = writeln!(out, "| {} | {} |", promise.0, files.join(" "));
    }
    out
}

#[test]
fn every_promise_names_existing_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut wrong = Vec::new();
    for promise in &PROMISES {
        for (file, name) in tests(promise) {
            let text = fs::read_to_string(root.join(file)).unwrap_or_default();
            let lines: Vec<_> = text.lines().map(str::trim).collect();
            let place = lines.iter().position(|line| line.starts_with(&format!("fn {name}(")));
            let is_test = place.is_some_and(|at| at > 0 && lines[at - 1] == "#[test]");
            if !is_test {
                wrong.push(format!("{file} has no test {name}, which would hold: {}", promise.0));
            }
        }
    }
    assert!(wrong.is_empty(), "promises that nothing holds:\n{}", wrong.join("\n"));
}
