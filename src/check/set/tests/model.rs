//! A naive model of the set rules: rows in a list, and every rule recounted from all of them.

use super::*;

/// Row, file, scheme, host and port of a row with an origin.
type Placed = (u32, u32, location::Scheme, String, u32);

/// What a rule has found, by number.
pub(super) type Flagged = BTreeMap<SetRule, BTreeSet<u32>>;

/// A document as plain as can be: rows that may be absent.
#[derive(Debug, Clone, Default)]
pub(super) struct Model {
    pub(super) rows: Vec<Option<(String, IndexedRow)>>,
    pub(super) mtimes: BTreeMap<u32, i64>,
}

impl Locs for Model {
    fn loc(&self, row: u32) -> Option<Cow<'_, str>> {
        let (loc, _) = self.rows.get(row as usize)?.as_ref()?;
        (!loc.is_empty()).then_some(Cow::Borrowed(loc))
    }

    fn file(&self, row: u32) -> u32 {
        self.rows[row as usize].as_ref().map_or(0, |(_, facts)| facts.file)
    }

    fn each_date(&self, file: u32, visit: &mut dyn FnMut(i64)) {
        for (_, facts) in self.rows.iter().flatten().filter(|(_, facts)| facts.file == file) {
            facts.lastmod.into_iter().for_each(&mut *visit);
        }
    }

    fn links(&self, row: u32) -> Vec<Link> {
        let (loc, _) = self.rows[row as usize].as_ref().expect("a row that is there");
        linked_from(loc)
    }
}

impl Model {
    pub(super) fn of(rows: &[(&str, IndexedRow)]) -> Self {
        Self { rows: rows.iter().map(|&(loc, facts)| Some((loc.to_owned(), facts))).collect(), ..Self::default() }
    }

    pub(super) fn live(&self) -> impl Iterator<Item = (u32, &str, &IndexedRow)> {
        let rows = self.rows.iter().enumerate();
        rows.filter_map(|(row, place)| place.as_ref().map(|(loc, facts)| (row as u32, loc.as_str(), facts)))
    }

    pub(super) fn index(&self) -> SetIndex {
        let mut index = SetIndex::default();
        for (&file, &mtime) in &self.mtimes {
            index.set_mtime(file, Some(mtime));
        }
        for (row, loc, facts) in self.live() {
            index.insert(row, key_hash(loc), facts, self);
        }
        index.recompute(self);
        index
    }

    /// The rules by their words, with no regard to cost: flagged rows, flagged files, the set.
    pub(super) fn recount(&self) -> (Flagged, Flagged, BTreeSet<SetRule>) {
        let mut rows = Flagged::new();
        let mut files = Flagged::new();
        let mut set = BTreeSet::new();
        let with_loc: Vec<_> = self.live().filter(|(_, loc, _)| !loc.is_empty()).collect();

        let mut texts: BTreeMap<&str, Vec<(u32, u32)>> = BTreeMap::new();
        let mut pages: BTreeMap<String, Vec<(u32, &str)>> = BTreeMap::new();
        for &(row, loc, facts) in &with_loc {
            texts.entry(loc).or_default().push((row, facts.file));
            let mut scratch = String::new();
            pages.entry(key(loc, &mut scratch).to_owned()).or_default().push((row, loc));
        }
        for members in texts.values() {
            let mut seen = BTreeSet::new();
            for (place, &(row, file)) in members.iter().enumerate() {
                let is_new_file = seen.insert(file);
                if place > 0 {
                    let rule = if is_new_file { SetRule::DuplicateAcrossFiles } else { SetRule::Duplicate };
                    rows.entry(rule).or_default().insert(row);
                }
            }
        }
        for members in pages.values() {
            let mut seen = BTreeSet::new();
            for &(row, loc) in members {
                if seen.insert(loc) && seen.len() > 1 {
                    rows.entry(SetRule::DuplicateEquivalent).or_default().insert(row);
                }
            }
        }

        // (row, file, scheme, host, port) of everything that has an origin
        let origins: Vec<_> = with_loc
            .iter()
            .filter_map(|&(row, loc, facts)| {
                let mut scratch = String::new();
                let normal = Location::of(key(loc, &mut scratch));
                let (origin, _) = normal.origin()?;
                let port = origin.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or(0_u32);
                Some((row, facts.file, normal.scheme()?, normal.host().to_owned(), port))
            })
            .collect();
        let of_scheme = |scheme| origins.iter().filter(|origin| origin.2 == scheme).count();
        let rarer = if of_scheme(location::Scheme::Http) <= of_scheme(location::Scheme::Https) {
            location::Scheme::Http
        } else {
            location::Scheme::Https
        };
        let is_mixed = of_scheme(location::Scheme::Http) > 0 && of_scheme(location::Scheme::Https) > 0;
        let of_host = |host: &str| origins.iter().filter(|origin| origin.3 == host).count();
        for (row, _, scheme, host, _) in &origins {
            if is_mixed && *scheme == rarer {
                rows.entry(SetRule::MixedScheme).or_default().insert(*row);
            }
            let (partner, loses_tie) = match host.strip_prefix("www.") {
                Some(bare) => (bare.to_owned(), true),
                None => (format!("www.{host}"), false),
            };
            let (mine, theirs) = (of_host(host), of_host(&partner));
            if theirs > mine || (theirs == mine && loses_tie) {
                rows.entry(SetRule::MixedWww).or_default().insert(*row);
            }
        }
        let (templates, real): (Vec<_>, Vec<_>) = origins.iter().partition(|origin| origin.3.ends_with("example.com"));
        if !real.is_empty() {
            let flagged: BTreeSet<u32> = templates.iter().map(|origin| origin.0).collect();
            rows.entry(SetRule::TemplateHost).or_default().extend(flagged);
        }
        let all_files: BTreeSet<u32> = self.live().map(|(_, _, facts)| facts.file).collect();
        for &file in &all_files {
            let here: Vec<_> = origins.iter().filter(|origin| origin.1 == file).collect();
            let main = |value: &dyn Fn(&Placed) -> (String, u32)| {
                let mut counts: BTreeMap<(String, u32), i64> = BTreeMap::new();
                for origin in &here {
                    *counts.entry(value(origin)).or_default() += 1;
                }
                counts.into_iter().min_by_key(|(name, count)| (-count, name.clone())).map(|(name, _)| name)
            };
            let by_host = |origin: &Placed| (origin.3.clone(), 0_u32);
            let by_port = |origin: &Placed| (String::new(), origin.4);
            for (rule, value) in
                [(SetRule::MixedHost, &by_host as &dyn Fn(&Placed) -> (String, u32)), (SetRule::MixedPort, &by_port)]
            {
                let main = main(value);
                for origin in &here {
                    if Some(value(origin)) != main {
                        rows.entry(rule).or_default().insert(origin.0);
                    }
                }
            }
            let entries: Vec<_> = self.live().filter(|(_, _, facts)| facts.file == file).collect();
            let mut dates: Vec<i64> = entries.iter().filter_map(|(_, _, facts)| facts.lastmod).collect();
            dates.sort_unstable();
            let news = entries.iter().filter(|(_, _, facts)| facts.news).count();
            if news > 0 && news < entries.len() {
                files.entry(SetRule::NewsMixed).or_default().insert(file);
            }
            if dates.len() >= 20 && news * 2 <= entries.len() {
                let fullest = (0..dates.len())
                    .map(|start| dates[start..].iter().filter(|&&date| date - dates[start] <= 60).count())
                    .max()
                    .unwrap_or(0);
                let near = self
                    .mtimes
                    .get(&file)
                    .map_or(0, |mtime| dates.iter().filter(|&&date| (date - mtime).abs() <= 86_400).count());
                if dates.first() == dates.last() {
                    files.entry(SetRule::LastmodIdentical).or_default().insert(file);
                } else if fullest * 5 > dates.len() * 4 || near * 5 > dates.len() * 4 {
                    files.entry(SetRule::LastmodGenerated).or_default().insert(file);
                }
            }
        }

        let keys: Vec<u64> = with_loc.iter().map(|(_, loc, _)| key_hash(loc)).collect();
        let hosts: BTreeSet<u32> = origins.iter().map(|origin| host_hash(&origin.3)).collect();
        let linked: Vec<(u32, u64, BTreeSet<Link>)> = (with_loc.iter().filter(|(_, _, facts)| facts.alternate))
            .map(|&(row, loc, _)| (row, key_hash(loc), linked_from(loc).into_iter().collect()))
            .collect();
        for (row, key, links) in &linked {
            for link in links {
                let of_target = || linked.iter().filter(|(_, other, _)| *other == link.key);
                let mut flag = |rule: SetRule, is: bool| is.then(|| rows.entry(rule).or_default().insert(*row));
                let (is_there, is_own) = (keys.contains(&link.key), link.key == *key);
                let returns = of_target().any(|(_, _, theirs)| theirs.iter().any(|back| back.key == *key));
                flag(SetRule::HreflangNoReturn, is_there && !is_own && !returns);
                flag(SetRule::HreflangTargetMissing, !is_there && hosts.contains(&link.host));
                // What a page that does not list itself lacks is reported of that page alone.
                let whole = |links: &BTreeSet<Link>, missing: Option<u64>| {
                    links.iter().map(|link| link.key).chain(missing).collect::<BTreeSet<u64>>()
                };
                let same = || linked.iter().filter(|(_, _, other)| other == links).map(|(_, key, _)| *key);
                let missing = same().next().filter(|first| same().all(|key| key == *first));
                let missing = missing.filter(|key| !links.iter().any(|link| link.key == *key));
                let differs = |theirs: &BTreeSet<Link>| {
                    let their_missing = Some(link.key).filter(|key| !theirs.iter().any(|link| link.key == *key));
                    let may_be_same = missing.is_some() || their_missing.is_some();
                    theirs != links && !(may_be_same && whole(links, missing) == whole(theirs, their_missing))
                };
                flag(SetRule::HreflangSetDiffers, of_target().any(|(_, _, theirs)| differs(theirs)));
            }
        }

        let style = |loc: &str| slash_style(&Location::of(loc));
        for depth in 0..8 {
            let of = |slash: bool| SlashStyle { depth, slash };
            let with_style = |slash: bool| with_loc.iter().filter(|(_, loc, _)| style(loc) == Some(of(slash))).count();
            let (bare, slash) = (with_style(false), with_style(true));
            let is_deepest = !with_loc.iter().any(|(_, loc, _)| style(loc).is_some_and(|style| style.depth > depth));
            if bare.min(slash) > 0 && bare.min(slash) * 10 < bare + slash && (bare < slash || is_deepest) {
                let flagged = with_loc.iter().filter(|(_, loc, _)| style(loc) == Some(of(slash < bare)));
                rows.entry(SetRule::MixedSlash).or_default().extend(flagged.map(|&(row, _, _)| row));
            }
        }

        let facts: Vec<_> = self.live().map(|(_, _, facts)| *facts).collect();
        set.extend(facts.iter().any(|facts| facts.changefreq.is_some()).then_some(SetRule::ChangefreqIgnored));
        set.extend(facts.iter().any(|facts| facts.priority.is_some()).then_some(SetRule::PriorityIgnored));
        let with_lastmod = facts.iter().filter(|facts| facts.has_lastmod).count();
        if with_lastmod > 0 && with_lastmod * 2 < facts.len() {
            set.insert(SetRule::LastmodSparse);
        }
        if facts.len() > 1 {
            if facts[0].priority.is_some() && facts.iter().all(|other| other.priority == facts[0].priority) {
                set.insert(SetRule::PriorityIdentical);
            }
            if facts.iter().filter(|facts| facts.priority == Some(100)).count() * 2 > facts.len() {
                set.insert(SetRule::PriorityAllHigh);
            }
        }
        (rows, files, set)
    }
}

/// Links as the tests have them: two languages and a page that everyone lists, some of which list others.
fn linked_from(loc: &str) -> Vec<Link> {
    let page = loc.trim_end_matches(['/', 'x', '#']);
    let links =
        [("en", page.replace("/b", "/a")), ("de", page.replace("/a", "/b")), ("x", "https://e.com/".to_owned())];
    let link = |(code, href): &(&str, String)| Link {
        key: key_hash(href),
        code: u32::from(code.as_bytes()[0]),
        host: host_hash(location::host(href)),
    };
    links.iter().take(if loc.ends_with('x') { 2 } else { 3 }).map(link).collect()
}
