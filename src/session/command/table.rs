//! The command table: names, arguments, one line of help, one example.
//!
//! Everything that lists commands reads this table: the parser, completion, `:help`, the manual.

/// One command.
#[derive(Debug)]
pub struct Spec {
    /// The main name.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// The arguments after the name.
    pub arguments: Arguments,
    /// Whether the command takes rows, so that `%` may be before it and `where` after it.
    pub ranged: bool,
    /// Whether `!` may follow the name.
    pub bang: bool,
    /// A description in one line.
    pub about: &'static str,
    /// An example line.
    pub example: &'static str,
}

/// The arguments after the name of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arguments {
    /// Nothing.
    Nothing,
    /// `FIELD=VALUE…`
    Assignments,
    /// `/RE/REPL/`
    Replace,
    /// `add|set|remove PATH[=VALUE]…`
    Extension,
    /// `URL…`
    Urls,
    /// `FIELD…`
    Fields,
    /// `QUERY`
    Query,
    /// `invert`, `all` or `none`.
    Marks,
    /// `KEY,…`
    Keys,
    /// A row number.
    Row,
    /// A number of steps.
    Count,
    /// `[PATH]`
    Path,
    /// `[FILE… [--key COLUMN]|missing|off]`
    Data,
    /// `[--rate N] [--concurrency N] [--allow-private]`, or `write FILE`.
    Probe,
    /// `git [DIR]|mtime DIR [--map "PATTERN = PATH"]…`
    Dates,
    /// `[RULE…|RULE ANSWER|safe]`
    Rules,
    /// `URL`
    Url,
    /// `URL [--into DIR]`
    Download,
    /// `[TOPIC]`
    Topic,
    /// The name of a theme.
    Theme,
    /// The name of a profile.
    Profile,
    /// `off`, `once` or `always`.
    Backup,
    /// `[--as-commands]`
    History,
    /// `NAME,…`
    Columns,
}

impl Arguments {
    /// The arguments as shown in help.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Nothing => "",
            Self::Assignments => "FIELD=VALUE…",
            Self::Replace => "/RE/REPL/[g][i] [--in WHAT]",
            Self::Extension => "add|set|remove PATH[=VALUE]…",
            Self::Urls => "URL…",
            Self::Fields => "FIELD…",
            Self::Query => "QUERY",
            Self::Marks => "invert|all|none",
            Self::Keys => "[-]COLUMN,…",
            Self::Row => "N|$",
            Self::Count => "[N]",
            Self::Path => "[PATH]",
            Self::Data => "[FILE… [--key COLUMN]|missing|off]",
            Self::Probe => "[--rate N|--concurrency N|--allow-private|write FILE]…",
            Self::Dates => "git [DIR]|mtime DIR [--map \"PATTERN = PATH\"]…",
            Self::Rules => "[RULE…|RULE ANSWER|safe]",
            Self::Url => "URL [--rewrite-index]",
            Self::Download => "URL [--into DIR]",
            Self::Topic => "[TOPIC]",
            Self::Theme | Self::Profile => "NAME",
            Self::Backup => "off|once|always",
            Self::History => "[--as-commands]",
            Self::Columns => "NAME,…",
        }
    }
}

impl Spec {
    /// The full syntax: `[%]set FIELD=VALUE… [where QUERY]`.
    pub fn usage(&self) -> String {
        let range = if self.ranged { "[%]" } else { "" };
        let bang = if self.bang { "[!]" } else { "" };
        let glued = self.arguments == Arguments::Replace;
        let space = if glued || self.arguments == Arguments::Nothing { "" } else { " " };
        let filter = if self.ranged { " [where QUERY]" } else { "" };
        format!("{range}{}{bang}{space}{}{filter}", self.name, self.arguments.text())
    }
}

/// The command of a name or alias.
pub fn spec(name: &str) -> Option<&'static Spec> {
    TABLE.iter().find(|spec| spec.name == name || spec.aliases.contains(&name))
}

/// A command that takes rows.
const fn ranged(name: &'static str, aliases: &'static [&'static str], arguments: Arguments) -> Spec {
    Spec { ranged: true, ..plain(name, aliases, arguments) }
}

/// Any other command.
const fn plain(name: &'static str, aliases: &'static [&'static str], arguments: Arguments) -> Spec {
    Spec { name, aliases, arguments, ranged: false, bang: false, about: "", example: "" }
}

/// All commands, in the order in which help shows them.
pub const TABLE: &[Spec] = &[
    Spec {
        about: "set fields: text, none, today, now, +7d, +0.1",
        example: "set priority=0.8 lastmod=today where path:/blog/**",
        ..ranged("set", &[], Arguments::Assignments)
    },
    Spec {
        about: "remove fields",
        example: "clear changefreq priority where section=archive",
        ..ranged("clear", &[], Arguments::Fields)
    },
    Spec {
        about: "rewrite URLs by a regular expression; $1 is its first group; --in alternates, images, videos, index or all",
        example: "%s#^http://#https://#",
        ..ranged("s", &["replace", "substitute"], Arguments::Replace)
    },
    Spec {
        about: "add, change or remove elements of extensions, by path",
        example: "ext add image loc=https://example.com/a.png",
        ..ranged("ext", &["extension"], Arguments::Extension)
    },
    Spec {
        about: "add rows after the current one",
        example: "add https://example.com/new https://example.com/newer",
        ..plain("add", &[], Arguments::Urls)
    },
    Spec {
        about: "delete rows; saving removes them from the file",
        example: "delete where lastmod<2015",
        ..ranged("delete", &["d", "del"], Arguments::Nothing)
    },
    Spec {
        about: "delete all other rows",
        example: "keep where path:/blog/**",
        ..ranged("keep", &[], Arguments::Nothing)
    },
    Spec {
        about: "restore rows as they were saved",
        example: "revert where is:changed path:/blog/**",
        ..ranged("revert", &[], Arguments::Nothing)
    },
    Spec { about: "copy rows", example: "duplicate", ..ranged("duplicate", &["dup"], Arguments::Nothing) },
    Spec {
        about: "apply the fixes of these rules, or all safe ones",
        example: "%fix lastmod-* loc-default-port",
        ..ranged("fix", &[], Arguments::Rules)
    },
    Spec {
        about: "show only matching rows",
        example: "filter priority<0.3 or lastmod=none",
        ..plain("filter", &["f"], Arguments::Query)
    },
    Spec { about: "show all rows", example: "nofilter", ..plain("nofilter", &["nof"], Arguments::Nothing) },
    Spec { about: "mark rows", example: "mark where has:image", ..ranged("mark", &["m"], Arguments::Nothing) },
    Spec { about: "unmark rows", example: "unmark where depth>3", ..ranged("unmark", &[], Arguments::Nothing) },
    Spec { about: "invert, set or clear all marks", example: "marks invert", ..plain("marks", &[], Arguments::Marks) },
    Spec { about: "sort the view", example: "sort -lastmod,loc", ..plain("sort", &[], Arguments::Keys) },
    Spec { about: "back to the file order", example: "nosort", ..plain("nosort", &[], Arguments::Nothing) },
    Spec {
        about: "apply the order of the view to the file",
        example: "apply-order",
        ..plain("apply-order", &[], Arguments::Nothing)
    },
    Spec {
        about: "go to a row; a number alone does the same",
        example: "goto 120",
        ..plain("goto", &["go"], Arguments::Row)
    },
    Spec { about: "undo steps", example: "undo 3", ..plain("undo", &["u"], Arguments::Count) },
    Spec { about: "redo steps", example: "redo", ..plain("redo", &["red"], Arguments::Count) },
    Spec {
        about: "list the changes, or the commands that repeat them without a screen",
        example: "history --as-commands",
        ..plain("history", &["undolist"], Arguments::History)
    },
    Spec {
        about: "append the last bulk change to a rules file for sited apply",
        example: "keep-as-rule rules.toml",
        ..plain("keep-as-rule", &[], Arguments::Path)
    },
    Spec {
        about: "list the findings, or write them to a Markdown file",
        example: "check findings.md",
        ..plain("check", &[], Arguments::Path)
    },
    Spec {
        about: "list the unsaved changes; revert single ones",
        example: "changes",
        ..plain("changes", &["pending"], Arguments::Nothing)
    },
    Spec { about: "show what saving would write", example: "plan", ..plain("plan", &[], Arguments::Nothing) },
    Spec {
        about: "show exactly what saving would change: hashes and bytes",
        example: "verify",
        ..plain("verify", &[], Arguments::Nothing)
    },
    Spec {
        about: "check for changes by other programs; merge, reload or keep ours",
        example: "outside",
        ..plain("outside", &["disk"], Arguments::Nothing)
    },
    Spec {
        about: "back up the files that a save replaces: never, once a session, always",
        example: "backup once",
        ..plain("backup", &["backups"], Arguments::Backup)
    },
    Spec {
        about: "choose the search engine to check for: protocol, google, bing, yandex, baidu, legacy-0.84",
        example: "profile google",
        ..plain("profile", &[], Arguments::Profile)
    },
    Spec {
        about: "report URLs that a TOML file forbids (never) or requires (must); without FILE turn this off",
        example: "policy policy.toml",
        ..plain("policy", &[], Arguments::Path)
    },
    Spec {
        about: "join tables by URL as columns @name; with ! replace the loaded ones; alone it lists them",
        example: "data crawl.csv --key Address",
        bang: true,
        ..plain("data", &[], Arguments::Data)
    },
    Spec {
        about: "request the marked rows, else all, from the site as columns @status, @final and more; write FILE saves the results",
        example: "probe where section:blog",
        ..ranged("probe", &[], Arguments::Probe)
    },
    Spec {
        about: "join the date when the source of each page changed as @modified: from its last commit, or its file time",
        example: "dates git",
        ..plain("dates", &[], Arguments::Dates)
    },
    Spec {
        about: "set the base URL; --rewrite-index rewrites the entries of the index below it",
        example: "set-base-url https://example.com/",
        ..plain("set-base-url", &["base-url"], Arguments::Url)
    },
    Spec {
        about: "save, or save elsewhere; with ! also if another program changed the file",
        example: "write sitemap-new.xml",
        bang: true,
        ..plain("write", &["w", "wa", "save"], Arguments::Path)
    },
    Spec { about: "save and quit", example: "wq", ..plain("wq", &["x", "wqa"], Arguments::Nothing) },
    Spec {
        about: "quit; with ! discard unsaved changes",
        example: "quit!",
        bang: true,
        ..plain("quit", &["q", "qa"], Arguments::Nothing)
    },
    Spec {
        about: "reload the file; with ! discard unsaved changes",
        example: "edit!",
        bang: true,
        ..plain("edit", &["e", "reload"], Arguments::Nothing)
    },
    Spec {
        about: "download the sitemaps of a site into a folder and open them; with ! discard unsaved changes",
        example: "open https://example.com/ --into example.com",
        bang: true,
        ..plain("open", &[], Arguments::Download)
    },
    Spec {
        about: "explain a command, a key or a rule",
        example: "help query",
        ..plain("help", &["h"], Arguments::Topic)
    },
    Spec {
        about: "choose the colours: dark, light, none",
        example: "theme light",
        ..plain("theme", &[], Arguments::Theme)
    },
    Spec {
        about: "choose the columns and their order; all, or auto: those that are not empty",
        example: "columns loc,lastmod,priority",
        ..plain("columns", &[], Arguments::Columns)
    },
];
