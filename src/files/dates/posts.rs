//! Finds posts whose file names begin with a date (`2024-05-01-slug.md`), which their URLs may leave out.

use std::collections::HashMap;

/// The length of `YYYY-MM-DD-`.
const PREFIX: usize = 11;

/// The posts of one folder by what follows the date in their names.
#[derive(Debug, Default)]
pub(super) struct PostIndex(HashMap<Vec<u8>, Vec<Vec<u8>>>);

impl PostIndex {
    /// Adds a file, unless its name has no date.
    pub(super) fn add(&mut self, name: &[u8]) {
        if let Some((_, rest)) = split_date(name) {
            self.0.entry(rest.to_vec()).or_default().push(name.to_vec());
        }
    }

    /// Adds a file to the posts of its folder, unless its name has no date.
    pub(super) fn add_to(folders: &mut HashMap<Vec<u8>, Self>, folder: &[u8], name: &[u8]) {
        if split_date(name).is_some() {
            folders.entry(folder.to_vec()).or_default().add(name);
        }
    }

    /// The posts whose names are a date, a hyphen and this.
    pub(super) fn named(&self, name: &[u8]) -> Vec<Vec<u8>> {
        self.0.get(name).cloned().unwrap_or_default()
    }
}

/// The date and the rest of a name that begins with `YYYY-MM-DD-`.
fn split_date(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let (date, rest) = name.split_at_checked(PREFIX)?;
    let is_date = date.iter().enumerate().all(|(at, byte)| match at {
        4 | 7 | 10 => *byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    is_date.then_some((date, rest))
}

/// The date of a post in the path of its URL: `/2024/05/01/`, `/2024/05/`, or none.
pub(super) struct UrlDate(Vec<u8>);

impl UrlDate {
    pub(super) fn of(path: &[u8]) -> Self {
        let segments: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
        let is_number = |text: &[u8], len: usize| text.len() == len && text.iter().all(u8::is_ascii_digit);
        let date = segments.windows(2).enumerate().find_map(|(at, pair)| match pair {
            [year, month] if is_number(year, 4) && is_number(month, 2) => {
                let day = segments.get(at + 2).filter(|day| is_number(day, 2));
                Some([*year, month].into_iter().chain(day.copied()).collect::<Vec<_>>().join(&b'-'))
            }
            _ => None,
        });
        Self(date.unwrap_or_default())
    }

    /// The path of the only one of these posts with the date; `None` if several have it.
    pub(super) fn choose(&self, folder: &[u8], names: Vec<Vec<u8>>) -> Option<Vec<u8>> {
        let mut fitting = names.into_iter().filter(|name| name.starts_with(&self.0));
        let name = fitting.next().filter(|_| fitting.next().is_none())?;
        let folder = if folder.is_empty() { Vec::new() } else { [folder, b"/"].concat() };
        Some([folder, name].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_post_is_found_by_its_name_and_the_date_of_its_url() {
        assert_eq!(split_date(b"2024-05-01-a.md"), Some((&b"2024-05-01-"[..], &b"a.md"[..])));
        for name in ["2024-05-01", "2024-5-01-a.md", "a", "2024-05-01.a.md"] {
            assert_eq!(split_date(name.as_bytes()), None, "{name}");
        }
        let names = ["2023-05-01-a.md", "2024-05-01-a.md", "2024-05-02-a.md"];
        for (path, count, expected) in [
            ("/2024/05/02/a", 3, Some("p/2024-05-02-a.md")),
            ("/blog/2023/05/a", 3, Some("p/2023-05-01-a.md")),
            ("/2024/05/a", 3, None),
            ("/2022/05/01/a", 1, None),
            ("/a", 1, Some("p/2023-05-01-a.md")),
            ("/a", 3, None),
        ] {
            let names = names.iter().take(count).map(|name| name.as_bytes().to_vec()).collect();
            let found = UrlDate::of(path.as_bytes()).choose(b"p", names);
            assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{path}");
        }
    }
}
