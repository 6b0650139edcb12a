//! standin
#![allow(missing_docs)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Changefreq {
    Always,
    Hourly,
    Daily,
    Weekly,
    Monthly,
    Yearly,
    Never,
}

impl Changefreq {
    pub const ALL: [Self; 7] =
        [Self::Always, Self::Hourly, Self::Daily, Self::Weekly, Self::Monthly, Self::Yearly, Self::Never];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Hourly => "hourly",
            Self::Daily => "daily",
            Self::Weekly => "weekly",
            Self::Monthly => "monthly",
            Self::Yearly => "yearly",
            Self::Never => "never",
        }
    }

    pub fn from_name(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.name() == text)
    }
}

fn after_scheme(loc: &str) -> &str {
    loc.split_once("://").map_or("", |(_, rest)| rest)
}

pub fn host(loc: &str) -> &str {
    let authority = after_scheme(loc);
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority.rsplit('@').next().unwrap_or_default();
    authority.split(':').next().unwrap_or_default()
}

pub fn path(loc: &str) -> &str {
    let rest = after_scheme(loc);
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    rest.find('/').and_then(|at| rest.get(at..)).unwrap_or_default()
}

pub fn section(loc: &str) -> &str {
    path(loc).split('/').find(|s| !s.is_empty()).unwrap_or_default()
}

pub fn depth(loc: &str) -> u32 {
    path(loc).split('/').filter(|s| !s.is_empty()).count() as u32
}
