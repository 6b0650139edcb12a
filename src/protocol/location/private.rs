//! Detects URLs that should not be public: admin pages, secrets, credentials, previews.
//!
//! A word counts only as a whole path segment, a whole host label or a whole parameter name: `/product-preview-glass`
//! and `/staging-guide` are pages. `preview` and `staging` count only as the first segment, since deeper folders with
//! these names contain thumbnails (`/media/preview/1.jpg`). Case is ignored.

use super::chars::{PRIVATE_START, SLASH_DOT};
use super::params;
use super::parts::Location;

/// The reason why a URL is private, with the part of the URL that shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Private<'t> {
    /// A path segment of pages behind a login.
    Staff(&'t str),
    /// A path segment of configuration or version control, which often holds passwords.
    Secrets(&'t str),
    /// The name of a parameter that carries a key or a password.
    Credential(&'t str),
    /// A segment, host label or parameter of an unpublished version.
    Preview(&'t str),
}

/// The first reason why a URL is private, if there is one.
pub(super) fn find<'t>(location: &Location<'t>) -> Option<Private<'t>> {
    location.scheme?;
    preview_label(location.host()).or_else(|| find_behind_authority(location))
}

/// The first reason behind the authority.
pub(super) fn find_behind_authority<'t>(location: &Location<'t>) -> Option<Private<'t>> {
    find_in_path(location).or_else(|| location.query().and_then(find_in_query))
}

/// Finds `preview.` in front of a domain. Hosts for testing (`staging.`) are another fault.
pub(super) fn preview_label(host: &str) -> Option<Private<'_>> {
    const LABEL: &str = "preview";
    let (first, rest) = host.split_at_checked(LABEL.len()).filter(|(first, _)| first.eq_ignore_ascii_case(LABEL))?;
    rest.strip_prefix('.')?.contains('.').then_some(Private::Preview(first))
}

/// The first reason in the path.
#[inline]
pub(super) fn find_in_path<'t>(location: &Location<'t>) -> Option<Private<'t>> {
    // Nearly all paths need no closer look.
    let start = location.text.as_bytes().get(location.path..).unwrap_or_default();
    let may_be_preview = matches!(start, [b'/', b'p' | b'P', b'r' | b'R', ..] | [b'/', b's' | b'S', b't' | b'T', ..]);
    if may_be_preview || location.classes & (PRIVATE_START | SLASH_DOT) != 0 {
        find_in_segments(location)
    } else {
        None
    }
}

/// [`find_in_path`] of a path that needs a closer look.
#[inline(never)]
fn find_in_segments<'t>(location: &Location<'t>) -> Option<Private<'t>> {
    let path = location.path();
    preview_segment(path).or_else(|| {
        let is_possible = location.classes & (PRIVATE_START | SLASH_DOT) != 0;
        if is_possible { path.split('/').skip(1).find_map(classify_segment) } else { None }
    })
}

/// Finds a first segment `preview` or `staging`.
fn preview_segment(path: &str) -> Option<Private<'_>> {
    let rest = path.strip_prefix('/')?;
    ["preview", "staging"].iter().filter(|word| params::starts_with(rest, word)).find_map(|word| {
        let (segment, rest) = rest.split_at_checked(word.len())?;
        (rest.is_empty() || rest.starts_with('/')).then_some(Private::Preview(segment))
    })
}

fn classify_segment(segment: &str) -> Option<Private<'_>> {
    const STAFF: [&str; 3] = ["wp-admin", "wp-login.php", "phpmyadmin"];
    const SECRETS: [&str; 8] = [".env", ".git", ".svn", ".hg", ".htaccess", ".htpasswd", ".aws", ".ssh"];
    const CONFIGURATION: &str = "wp-config.php";
    let is_among = |words: &[&str]| words.iter().any(|word| segment.eq_ignore_ascii_case(word));
    if is_among(&STAFF) {
        return Some(Private::Staff(segment));
    }
    // Copies are served as text: `.env.production`, `wp-config.php.bak`.
    let is_copy = params::starts_with(segment, ".env.") || params::starts_with(segment, CONFIGURATION);
    (is_copy || is_among(&SECRETS)).then_some(Private::Secrets(segment))
}

fn find_in_query(query: &str) -> Option<Private<'_>> {
    params::parameters(query).find_map(classify_parameter)
}

/// The reason in a parameter, `name=value`.
fn classify_parameter(parameter: &str) -> Option<Private<'_>> {
    let (name, value) = params::name_and_value(parameter);
    if params::is_credential(name, value) {
        return Some(Private::Credential(name));
    }
    params::is_preview(name, value).then_some(Private::Preview(name))
}

/// Whether a parameter, `name=value`, makes a URL private.
pub(super) fn is_private(parameter: &str) -> bool {
    classify_parameter(parameter).is_some()
}

/// Removes the parameters that make a URL private.
pub(super) fn remove_private(location: &Location<'_>) -> String {
    params::rebuild(location, location.path(), is_private)
}

#[cfg(test)]
mod tests {
    use super::super::fault::Fault;
    use super::*;

    #[test]
    fn only_whole_words_are_private() {
        for (text, expected) in [
            ("https://e.com/wp-admin/", Some(Private::Staff("wp-admin"))),
            ("https://e.com/blog/WP-Admin/admin-ajax.php", Some(Private::Staff("WP-Admin"))),
            ("https://e.com/wp-login.php?a=b", Some(Private::Staff("wp-login.php"))),
            ("https://e.com/.env", Some(Private::Secrets(".env"))),
            ("https://e.com/a/.env.production", Some(Private::Secrets(".env.production"))),
            ("https://e.com/.git/config", Some(Private::Secrets(".git"))),
            ("https://e.com/wp-config.php.bak", Some(Private::Secrets("wp-config.php.bak"))),
            ("https://e.com/?api_key=", Some(Private::Credential("api_key"))),
            ("https://e.com/a?b&API-Key=1", Some(Private::Credential("API-Key"))),
            ("https://e.com/a?access_token=1#f", Some(Private::Credential("access_token"))),
            ("https://e.com/a?token=0123456789abcdef", Some(Private::Credential("token"))),
            ("https://e.com/preview/a", Some(Private::Preview("preview"))),
            ("https://e.com/staging", Some(Private::Preview("staging"))),
            ("https://e.com/?p=12&preview=true", Some(Private::Preview("preview"))),
            ("https://e.com/?preview_id=12", Some(Private::Preview("preview_id"))),
            ("https://preview.e.com/", Some(Private::Preview("preview"))),
            ("https://e.com/product-preview-glass", None),
            ("https://e.com/home/staging/", None),
            ("https://e.com/media/screenshots/preview/1.jpg", None),
            ("https://e.com/staging-guide", None),
            ("https://preview.com/", None),
            ("https://e.com/wp-administration", None),
            ("https://e.com/.environment", None),
            ("https://e.com/.github", None),
            ("https://e.com/.well-known/security.txt", None),
            ("https://e.com/a?token=7", None),
            ("https://e.com/a?preview=0&b", None),
            ("https://e.com/a?previews=1&key=A&api=2", None),
            ("https://e.com/a?q=/wp-admin/", None),
            ("/wp-admin/", None),
        ] {
            assert_eq!(find(&Location::of(text)), expected, "{text}");
            assert_eq!(Location::of(text).validate().has(Fault::Private), expected.is_some(), "{text}");
        }
    }
}
