//! The pages of the manual, compiled in for `sited help`, `:help` and `sited man`.

mod blocks;
mod text;

pub use blocks::{Block, blocks};
pub use text::{Line, lines};

pub(crate) use blocks::Span;

/// A page of the manual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// The topic that shows it.
    pub name: &'static str,
    /// Other topics that show it, the titles of its sections among them.
    aliases: &'static [&'static str],
    /// The name of its man page in section 7.
    pub man: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// Its source, in Markdown.
    markdown: &'static str,
}

/// All pages.
pub const PAGES: [Page; 8] = [
    Page {
        name: "keys",
        aliases: &["key", "mouse", "details"],
        man: "sited-keys",
        about: "every key of the screen",
        markdown: include_str!("../../assets/manual/keys.md"),
    },
    Page {
        name: "commands",
        aliases: &["scripts", "script", "extensions"],
        man: "sited-commands",
        about: "commands of the : line and of scripts",
        markdown: include_str!("../../assets/manual/commands.md"),
    },
    Page {
        name: "queries",
        aliases: &["query", "where"],
        man: "sited-query",
        about: "how to select rows",
        markdown: include_str!("../../assets/manual/queries.md"),
    },
    Page {
        name: "rules",
        aliases: &["rule"],
        man: "sited-rules",
        about: "every rule, its fix and its source",
        markdown: include_str!("../../assets/manual/rules.md"),
    },
    Page {
        name: "command-line",
        aliases: &["exit-status", "status", "files", "environment"],
        man: "sited-command-line",
        about: "commands without a screen, exit status, files, environment",
        markdown: include_str!("../../assets/manual/command-line.md"),
    },
    Page {
        name: "pipelines",
        aliases: &["ci"],
        man: "sited-pipelines",
        about: "nightly scripts, CI, hooks, several machines",
        markdown: include_str!("../../assets/manual/pipelines.md"),
    },
    Page {
        name: "saving",
        aliases: &["backups", "security"],
        man: "sited-saving",
        about: "what a save promises, and which files it trusts",
        markdown: include_str!("../../assets/manual/saving.md"),
    },
    Page {
        name: "performance",
        aliases: &["speed"],
        man: "sited-performance",
        about: "measured times and memory",
        markdown: include_str!("../../assets/manual/performance.md"),
    },
];

/// The page of that name or alias, in any case.
pub fn page(topic: &str) -> Option<Page> {
    let is_meant = |name: &str| name.eq_ignore_ascii_case(topic);
    PAGES.into_iter().find(|page| is_meant(page.name) || page.aliases.iter().any(|alias| is_meant(alias)))
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
    fn pages_begin_with_their_title() {
        for page in PAGES {
            assert!(matches!(&blocks(page)[0], Block::Heading { level: 1, .. }), "{}", page.name);
        }
    }
}
