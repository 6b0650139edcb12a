//! Path templates with fields that are filled from a URL: `content/*.md`, `pages/{page}/index.{tsx,jsx}`.

/// Alternatives of one path, at most.
const MOST_ALTERNATIVES: usize = 1_000;

/// Braces of one path, at most.
const MOST_BRACES: usize = 20;

/// The values of the fields.
#[derive(Debug, Clone, Copy)]
pub(super) struct Values<'v> {
    /// The path of the URL, without slashes at its ends.
    pub(super) path: &'v [u8],
    /// The same without `index.html`, `.html` and `.htm`.
    pub(super) page: &'v [u8],
    /// What each wildcard matched.
    pub(super) wildcards: &'v [&'v [u8]],
}

/// A path at which a source may be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The path, or that of the folder if the name has a date.
    pub(super) bytes: Vec<u8>,
    /// What follows the date in the name.
    pub(super) undated_name: Option<Vec<u8>>,
}

/// A path with fields.
#[derive(Debug, Clone)]
pub(super) struct Template {
    /// The path, without the date of the name.
    parts: Vec<Part>,
    has_date: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    /// What the wildcard of this number matched, from 0.
    Wildcard(usize),
    Path,
    Page,
    /// The last segment of the page.
    Name,
}

const FIELDS: [(&str, Part); 3] = [("{path}", Part::Path), ("{page}", Part::Page), ("{name}", Part::Name)];
const DATE: &str = "{date}-";

impl Template {
    /// Parses a path into one template for each combination of its alternatives (`{md,mdx}`). `wildcards` is the number
    /// of wildcards in the URL pattern.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn all(text: &str, wildcards: usize) -> Result<Vec<Self>, String> {
        let mut texts = Vec::new();
        if text.matches('{').count() > MOST_BRACES {
            return Err(format!("the path has more than {MOST_BRACES} braces"));
        }
        expand(text.strip_prefix("./").unwrap_or(text), &mut texts)?;
        texts.iter().map(|text| Self::parse(text, wildcards)).collect()
    }

    fn parse(text: &str, wildcards: usize) -> Result<Self, String> {
        let name = text.rsplit('/').next().unwrap_or_default();
        if name.is_empty() {
            return Err("the path of a file is missing".to_owned());
        }
        if text.starts_with('/') || text.split('/').any(|segment| matches!(segment, "." | ".." | "")) {
            return Err("the path is relative to the folder and does not leave it".to_owned());
        }
        let has_date = name.starts_with(DATE);
        let text = if has_date { text.replacen(DATE, "", 1) } else { text.to_owned() };
        let (mut parts, mut rest, mut used) = (Vec::new(), text.as_str(), 0);
        while let Some(first) = rest.chars().next() {
            let field = FIELDS.iter().find(|(name, _)| rest.starts_with(name));
            let (part, len) = if let Some((name, part)) = field {
                (part.clone(), name.len())
            } else if first == '*' {
                used += 1;
                (Part::Wildcard(used - 1), if rest.starts_with("**") { 2 } else { 1 })
            } else if first == '{' {
                return Err(
                    "a path may have {path}, {page}, {name}, and {date}- at the start of the file name".to_owned()
                );
            } else {
                let len = rest.find(['*', '{']).unwrap_or(rest.len());
                (Part::Text(rest.get(..len).unwrap_or_default().to_owned()), len)
            };
            parts.push(part);
            rest = rest.get(len..).unwrap_or_default();
        }
        if used > wildcards {
            return Err("the path has more wildcards than the pattern".to_owned());
        }
        Ok(Self { parts, has_date })
    }

    /// The folder that all paths begin with, if there is one.
    pub(super) fn first_folder(&self) -> Option<&str> {
        let Some(Part::Text(text)) = self.parts.first() else { return None };
        text.rsplit_once('/').map(|(folder, _)| folder)
    }

    /// The path for a URL; `None` where a file name would lack its stem, and for a path that leaves the folder.
    pub(super) fn fill(&self, values: &Values<'_>) -> Option<Candidate> {
        let mut path: Vec<u8> = Vec::new();
        for (at, part) in self.parts.iter().enumerate() {
            let value = match part {
                Part::Text(text) => text.as_bytes(),
                Part::Wildcard(number) => values.wildcards.get(*number)?,
                Part::Path => values.path,
                Part::Page => values.page,
                Part::Name => values.page.rsplit(|byte| *byte == b'/').next().unwrap_or_default(),
            };
            // An empty value may leave out a segment, but not a part of a name.
            let is_segment = || {
                let next = self.parts.get(at + 1);
                path.last().is_none_or(|byte| *byte == b'/')
                    && matches!(next, Some(Part::Text(text)) if text.starts_with('/'))
            };
            if value.is_empty() && !is_segment() {
                return None;
            }
            path.extend(value);
        }
        let segments: Vec<&[u8]> = path.split(|byte| *byte == b'/').filter(|segment| !segment.is_empty()).collect();
        if segments.iter().any(|segment| matches!(*segment, b"." | b"..")) {
            return None;
        }
        match (segments.as_slice(), self.has_date) {
            ([], _) => None,
            (all, false) => Some(Candidate { bytes: all.join(&b'/'), undated_name: None }),
            ([folders @ .., name], true) => {
                Some(Candidate { bytes: folders.join(&b'/'), undated_name: Some(name.to_vec()) })
            }
        }
    }
}

/// Adds the text once for each combination of its alternatives.
fn expand(text: &str, out: &mut Vec<String>) -> Result<(), String> {
    let braces = text.match_indices('{').find_map(|(start, _)| {
        let end = start + text.get(start..)?.find('}')?;
        text.get(start + 1..end)?.contains(',').then_some((start, end))
    });
    let Some((start, end)) = braces else {
        out.push(text.to_owned());
        let is_bounded = out.len() <= MOST_ALTERNATIVES;
        return if is_bounded {
            Ok(())
        } else {
            Err(format!("the path has more than {MOST_ALTERNATIVES} alternatives"))
        };
    };
    let (before, after) = (text.get(..start).unwrap_or_default(), text.get(end + 1..).unwrap_or_default());
    let inside = text.get(start + 1..end).unwrap_or_default();
    inside.split(',').try_for_each(|one| expand(&[before, one.trim(), after].concat(), out))
}
