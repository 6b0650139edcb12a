//! Set rules about inconsistent URLs: rows that deviate from the majority in scheme, host, port or trailing slash.

use super::counters::{SlashStyle, slash_style};
use super::read_tally::RowShape;
use super::{Locs, SetIndex, SetRule, SetRules};
use crate::protocol::location::Location;

/// Rules that a row violates because most rows of its file or of the set differ from it.
const MINORITY_RULES: [SetRule; 6] = [
    SetRule::MixedScheme,
    SetRule::MixedWww,
    SetRule::MixedHost,
    SetRule::MixedPort,
    SetRule::MixedSlash,
    SetRule::TemplateHost,
];

impl SetIndex {
    /// Whether any row violates a rule by its scheme, host, port or trailing slash; usually none does.
    pub fn has_minorities(&self) -> bool {
        MINORITY_RULES.iter().any(|rule| self.count_of(*rule) > 0)
    }

    /// The shape of a row, which together with its file decides the minority rules that it violates; the empty shape if it is
    /// not known and no row violates one. `None` if the URL must be read.
    pub fn decisive_shape(&self, row: u32) -> Option<RowShape> {
        match self.shapes.get(row).filter(|shape| shape.origin().is_ok()) {
            None if !self.has_minorities() => Some(RowShape::EMPTY),
            shape => shape,
        }
    }

    /// Whether the shapes of rows have the origins of all URLs, so that the minority rules need no URL.
    pub fn knows_origins(&self) -> bool {
        RowShape::can_number(self.hosts.len())
    }

    /// The origin with a number, as first written.
    pub fn origin_text(&self, number: u32) -> &str {
        self.hosts.text(number)
    }

    /// Adds the rules that a row violates by its scheme, host, port or trailing slash.
    pub(super) fn add_minority_rules(&self, row: u32, locs: &impl Locs, rules: &mut SetRules) {
        if !self.has_minorities() {
            return;
        }
        let known = self.shapes.get(row).and_then(|shape| Some((shape.origin().ok()?, shape.style())));
        let (origin, style) = if let Some((origin, style)) = known {
            (origin.and_then(|origin| self.hosts.origin(origin)), style)
        } else {
            let Some(loc) = locs.loc(row) else { return };
            let location = Location::outline(&loc);
            (self.hosts.find(&location), slash_style(&location))
        };
        if let Some(origin) = origin {
            rules.insert_if(SetRule::MixedScheme, self.hosts.rarer_scheme() == Some(origin.scheme));
            rules.insert_if(SetRule::MixedWww, self.hosts.is_www_minority(origin.host));
            rules.insert_if(SetRule::TemplateHost, self.hosts.is_template(origin.host));
            if let Some(file) = self.files.get(locs.file(row) as usize) {
                let is_foreign = file.verdict.main_host.is_some_and(|host| host != origin.host);
                rules.insert_if(SetRule::MixedHost, is_foreign && !self.cross_submission);
                rules.insert_if(SetRule::MixedPort, file.verdict.main_port.is_some_and(|port| port != origin.port));
            }
        }
        let is_rarer =
            |style: SlashStyle| self.rarer_slash(style.depth.into()).is_some_and(|(slash, _)| slash == style.slash);
        rules.insert_if(SetRule::MixedSlash, style.is_some_and(is_rarer));
    }

    /// Among paths of one depth, the rarer style (whether with a slash) and its number of rows, if it has under a tenth
    /// of the rows. A slash is not reported if there are deeper paths, since it may be that of a section, such as
    /// `/news/`.
    pub(super) fn rarer_slash(&self, depth: usize) -> Option<(bool, u64)> {
        let [without, with] = *self.counters.slashes.get(depth)?;
        let fewer = without.min(with);
        let slash = with < without;
        let is_rare = fewer > 0 && fewer * 10 < without + with;
        let is_deepest = || self.counters.slashes.iter().skip(depth + 1).flatten().all(|rows| *rows == 0);
        (is_rare && (!slash || is_deepest())).then_some((slash, fewer))
    }

    /// The most common host of a file, in lower case, and the number of rows with other hosts; `None` for a file with
    /// one host.
    pub fn main_host(&self, file: u32) -> Option<(&str, u32)> {
        let verdict = &self.files.get(file as usize)?.verdict;
        Some((self.hosts.name(verdict.main_host?), verdict.other_host)).filter(|(_, others)| *others > 0)
    }

    /// Rows per scheme: http, https.
    pub const fn schemes(&self) -> [u64; 2] {
        self.hosts.schemes
    }
}
