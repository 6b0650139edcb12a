//! Tests of `--script`.

use super::*;

#[test]
fn a_script_runs_the_commands_of_the_command_line() {
    let folder = folder();
    let path = folder.path().join("good.xml");
    let before = fs::read_to_string(&path).unwrap();
    // The script, the status, part of the notes, the file afterwards.
    let table = [
        (
            "# a comment\n:set priority=0.8 where priority=0.5\ns/blog/news/\nwrite\n",
            0,
            "saved DIR/good.xml",
            before.replace("0.50", "0.8").replace("blog/x", "news/x"),
        ),
        (
            "mark where section=blog\nset priority=0.8\nwq\n",
            0,
            "priority set to 0.8 on 1 row\nsaved DIR/good.xml",
            before.replace("</lastmod>", "</lastmod><priority>0.8</priority>"),
        ),
        (
            "filter section=blog\n%set lastmod=none\nnofilter\nset priority=0.8 where priority=0.5\nw\n",
            0,
            "saved DIR/good.xml",
            before.replace("<lastmod>2025-03-09</lastmod>", "").replace("0.50", "0.8"),
        ),
        ("set priority=0.8\nundo\nwq\n", 0, "nothing to save: no unsaved changes", before.clone()),
        ("set priority=0.8\n", 0, "the changes were not saved", before.clone()),
        (
            "set priority=0.8\nq\n",
            2,
            "error: line 2 of the script: 2 changed rows would be lost\nhint: ",
            before.clone(),
        ),
        ("set priority=0.8\nq!\nwrite\n", 0, "", before.clone()),
        ("set priority=0.8\ne!\nwrite\n", 0, "nothing to save: no unsaved changes", before.clone()),
        ("keep\n", 2, "all rows would be kept", before.clone()),
        ("keep where not section=blog\nwq\n", 0, "saved", {
            let (start, end) =
                (before.find("\n<url><loc>https://e.com/blog").unwrap(), before.find("\n</urlset>").unwrap());
            format!("{}{}", &before[..start], &before[end..])
        }),
        (
            "sort -depth,path\napply-order\nundo\nsort alternates,line,rule\napply-order\nwq\n",
            0,
            "nothing to save: no unsaved changes",
            before.clone(),
        ),
        ("sort -image\napply-order\nwq\n", 0, "saved DIR/good.xml", {
            let (first, end) = (before.find("<url>").unwrap(), before.find("</urlset>").unwrap());
            let second = before.find("<url><loc>https://e.com/blog").unwrap();
            format!("{}{}{}{}", &before[..first], &before[second..end], &before[first..second], &before[end..])
        }),
        ("delete where section=blog\nwq\n", 0, "saved", {
            let (start, end) =
                (before.find("\n<url><loc>https://e.com/blog").unwrap(), before.find("\n</urlset>").unwrap());
            format!("{}{}", &before[..start], &before[end..])
        }),
        (
            "write\nset prio=1\n",
            2,
            "error: line 2 of the script is not valid\n  set prio=1\n      ^^^^ ",
            before.clone(),
        ),
        (
            "set priority=1\nwrite\ngoto 3\n",
            2,
            "error: line 3 of the script: `goto 3` needs a screen\nhint: ",
            before.clone(),
        ),
    ];
    for (script, status, note, expected) in table {
        fs::write(folder.path().join("script"), script).unwrap();
        let (found, out, notes) = sited(&folder, "--script DIR/script DIR/good.xml");
        assert_eq!((found, out.as_str()), (status, ""), "{script}: {notes}");
        assert!(notes.contains(note), "{script}: {notes}");
        assert_eq!(fs::read_to_string(&path).unwrap(), expected, "{script}: {notes}");
        fs::write(&path, &before).unwrap();
    }
}

#[test]
fn a_script_prints_findings_and_plans() {
    let folder = folder();
    let run = |script: &str| {
        fs::write(folder.path().join("script"), script).unwrap();
        sited(&folder, "--script DIR/script --now 2026-11-20 --read-only DIR/index.xml")
    };
    let (status, out, _) = run("check\n");
    assert_eq!(status, 0);
    assert!(out.contains("DIR/bad.xml:5:11: error[priority-invalid]: "), "{out}");
    let (status, out, _) = run("plan\n");
    assert_eq!(
        (status, out.as_str()),
        (0, "untouched  DIR/good.xml\nuntouched  DIR/bad.xml\nuntouched  DIR/index.xml\n")
    );
    let (status, _, notes) = run("set priority=0.8\n");
    assert_eq!(status, 2, "{notes}");
    assert!(notes.contains("--read-only was given"), "{notes}");
    let (status, _, notes) = sited(&folder, "--script DIR/none DIR/good.xml");
    assert_eq!(status, 3, "{notes}");
}

#[test]
fn a_script_deletes_all_rows_only_with_percent_and_rejects_empty_marks() {
    let folder = folder();
    let path = folder.path().join("good.xml");
    let before = fs::read_to_string(&path).unwrap();
    // The script, the message if it is refused, and the number of remaining entries.
    let table = [
        ("delete\nwrite\n", "line 1 of the script: all rows would be deleted", 2),
        ("mark where path=/x\nset priority=0.5\nwrite\n", "line 2 of the script: no row is marked", 2),
        ("mark where path=/blog/x\ndelete\nwrite\n", "", 1),
        ("%delete\nwrite\n", "", 0),
    ];
    for (script, refused, left) in table {
        fs::write(folder.path().join("script"), script).unwrap();
        let (status, _, notes) = sited(&folder, "--script DIR/script DIR/good.xml --allow-empty");
        assert!(status == if refused.is_empty() { 0 } else { 2 } && notes.contains(refused), "{script}: {notes}");
        let after = fs::read_to_string(&path).unwrap();
        assert_eq!(after.matches("<url>").count(), left, "{script}: {notes}");
        assert!(refused.is_empty() || after == before, "{script}");
        fs::write(&path, &before).unwrap();
    }
}

/// The commands `set`, `add` and `apply` reject them as well.
#[test]
fn a_script_rejects_values_that_would_be_errors() {
    let folder = folder();
    let path = folder.path().join("good.xml");
    let before = fs::read_to_string(&path).unwrap();
    for line in ["%set priority=7", "add urls.txt", "set loc=nothing where path:/blog/*", "%set lastmod=2026-13-40"] {
        fs::write(folder.path().join("script"), format!("%set changefreq=daily\n{line}\nwrite\n")).unwrap();
        let (status, _, notes) = sited(&folder, "--script DIR/script DIR/good.xml");
        assert_eq!(status, 2, "{line}: {notes}");
        assert!(notes.contains("line 2 of the script"), "{line}: {notes}");
        assert_eq!(fs::read_to_string(&path).unwrap(), before, "{line}");
    }
    fs::write(folder.path().join("script"), "add urls.txt\nwrite\n").unwrap();
    let (status, _, notes) = sited(&folder, "--script DIR/script DIR/good.xml");
    assert!(status == 2 && notes.contains("--force"), "{notes}");
    let (status, _, notes) = sited(&folder, "--script DIR/script --force DIR/good.xml");
    assert_eq!(status, 0, "{notes}");
    assert!(fs::read_to_string(&path).unwrap().contains("<loc>urls.txt</loc>"));
}
