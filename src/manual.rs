//! The pages of the manual that are built into the program, for `sited help`, `:help` and `sited man`.

/// A page of the manual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// What it is asked for by.
    pub name: &'static str,
    /// Other words for it, the titles of its sections among them.
    aliases: &'static [&'static str],
    /// One line about it.
    pub about: &'static str,
    /// The page, in Markdown.
    pub text: &'static str,
}

/// All pages.
pub const PAGES: [Page; 3] = [
    Page {
        name: "queries",
        aliases: &["query", "where", "filter"],
        about: "how to select rows",
        text: include_str!("../assets/manual/queries.md"),
    },
    Page {
        name: "command-line",
        aliases: &["exit-status", "status", "files", "environment"],
        about: "exit status, files, environment",
        text: include_str!("../assets/manual/command-line.md"),
    },
    Page {
        name: "saving",
        aliases: &["backups", "security"],
        about: "what a save promises, and which files it trusts",
        text: include_str!("../assets/manual/saving.md"),
    },
];

/// The page of that name or alias, in any case.
pub fn page(topic: &str) -> Option<Page> {
    let is_meant = |name: &str| name.eq_ignore_ascii_case(topic);
    PAGES.into_iter().find(|page| is_meant(page.name) || page.aliases.iter().any(|alias| is_meant(alias)))
}

/// Lines of a page without the marks that only its source needs.
pub fn lines(page: Page) -> impl Iterator<Item = &'static str> {
    let mut last_is_blank = true;
    page.text.lines().filter(|line| !line.starts_with("<!--")).filter(move |line| {
        let is_second_blank = line.is_empty() && last_is_blank;
        last_is_blank = line.is_empty();
        !is_second_blank
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_found_by_every_name_once() {
        let mut names: Vec<&str> =
            PAGES.iter().flat_map(|page| page.aliases.iter().copied().chain([page.name])).collect();
        assert_eq!(page("Query").map(|page| page.name), Some("queries"));
        assert_eq!(page("nothing"), None);
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }

    #[test]
    fn a_page_has_no_marks_and_no_gaps() {
        for page in PAGES {
            let lines: Vec<&str> = lines(page).collect();
            assert!(lines[0].starts_with("# ") && lines.len() > 20, "{}", page.name);
            assert!(!lines.iter().any(|line| line.contains("<!--")), "{}", page.name);
            assert!(lines.windows(2).all(|pair| !(pair[0].is_empty() && pair[1].is_empty())), "{}", page.name);
        }
    }
}
