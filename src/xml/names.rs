//! Resolves element names under the namespace declarations of a file's root.
//!
//! Entries are then matched by their literal names; only tags that declare namespaces are resolved again.

mod prefixes;

use super::grid::Grid;
use super::markup::{self, Markup};
use crate::protocol::Field;
use crate::protocol::namespace::{self, Namespace};
use prefixes::Prefixes;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The kind of a file, by its root element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FileKind {
    /// `<urlset>`: entries are `<url>`.
    #[default]
    Urlset,
    /// `<sitemapindex>`: entries are `<sitemap>`.
    Index,
    /// A text list: entries are lines.
    List,
    /// Delimited values, usually with a header: entries are records.
    Table,
}

impl FileKind {
    /// The local name of its entries.
    pub const fn entry_name(self) -> &'static str {
        match self {
            Self::Urlset => "url",
            Self::Index => "sitemap",
            Self::List => "line",
            Self::Table => "record",
        }
    }

    /// Whether it is XML.
    pub const fn is_xml(self) -> bool {
        matches!(self, Self::Urlset | Self::Index)
    }

    /// The local name of its root, or the usual name of such a file.
    pub const fn root_name(self) -> &'static str {
        match self {
            Self::Urlset => "urlset",
            Self::Index => "sitemapindex",
            Self::List => "text",
            Self::Table => "table",
        }
    }
}

/// The namespace of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// In the sitemap's own namespace.
    Core,
    /// In an extension's namespace.
    Extension(Namespace),
}

/// The declarations of a root element. It is cheap to clone: an entry that declares namespaces gets its own copy.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names {
    /// The kind of the file.
    pub kind: FileKind,
    /// The prefix of the root element with its colon (`sm:`), or empty. New core elements get it.
    pub prefix: Arc<str>,
    /// The root's namespace URI as written; `None` if the root is in no namespace.
    pub uri: Option<Arc<str>>,
    /// The full name of an entry with the root's prefix (`url`, `sm:url`).
    entry: Arc<[u8]>,
    /// Whether an unprefixed name means the sitemap namespace.
    bare_is_core: bool,
    /// Whether unprefixed names are in no namespace although the root is in one.
    bare_is_unbound: bool,
    /// The namespace of unprefixed names, unless `bare_is_core`.
    bare: Namespace,
    /// Declarations of an element inside the root, which take precedence over those of the root.
    own: Option<Arc<Prefixes>>,
    /// Declarations of the root.
    prefixes: Arc<Prefixes>,
    /// The attributes of the root: name and raw value.
    pub attributes: Arc<[(Box<str>, Box<str>)]>,
    /// The layout of a file without markup; `None` for XML.
    pub grid: Option<Box<Grid>>,
}

/// Whether a name is `loc`, ignoring case.
pub(super) fn is_loc(name: &[u8]) -> bool {
    split(name).1.eq_ignore_ascii_case(b"loc")
}

impl Names {
    /// Reads a root start tag; `None` if its local name is not that of a sitemap root.
    pub fn of_root(bytes: &[u8], root: &Markup) -> Option<Self> {
        let (prefix, local) = split(root.name(bytes));
        let kind = match local {
            b"urlset" => FileKind::Urlset,
            b"sitemapindex" => FileKind::Index,
            _ => return None,
        };
        let text = |slice: &[u8]| -> Box<str> { String::from_utf8_lossy(slice).into() };
        let attributes: Arc<[(Box<str>, Box<str>)]> =
            markup::attributes(root.attributes(bytes)).map(|a| (text(a.name), text(a.value))).collect();
        let declared = |wanted: &str| -> Option<&str> {
            attributes.iter().find(|(name, _)| &**name == wanted).map(|(_, value)| value.trim())
        };
        let default = declared("xmlns").filter(|uri| !uri.is_empty());
        let own = text(prefix);
        let uri = if prefix.is_empty() { default } else { declared(&format!("xmlns:{own}")) };
        let prefixes = attributes
            .iter()
            .filter_map(|(name, value)| Some((name.strip_prefix("xmlns:")?, value.trim())))
            .map(|(prefix, declared)| (Arc::from(prefix.as_bytes()), meaning(declared, uri)))
            .collect::<Prefixes>();
        // Unprefixed names below a prefixed root without a default namespace are in no namespace, but are usually meant
        // to be in the sitemap namespace.
        let bare_is_core = prefix.is_empty() || default.is_none() || default == uri;
        let bare_is_unbound = !prefix.is_empty() && default.is_none();
        let prefix: Arc<str> = if prefix.is_empty() { "".into() } else { format!("{own}:").into() };
        Some(Self {
            kind,
            entry: format!("{prefix}{}", kind.entry_name()).into_bytes().into(),
            uri: uri.map(Into::into),
            bare_is_core,
            bare_is_unbound,
            bare: default.map_or(Namespace::Other, namespace::classify),
            own: None,
            prefixes: Arc::new(prefixes),
            prefix,
            attributes,
            grid: None,
        })
    }

    /// The names of a file without markup.
    pub fn of_grid(grid: Grid) -> Self {
        let kind = if grid.delimiter.is_some() { FileKind::Table } else { FileKind::List };
        Self { kind, grid: Some(Box::new(grid)), ..Self::default() }
    }

    /// The line break that ends an entry of a file without markup; empty for XML.
    pub fn entry_end(&self) -> &'static str {
        self.grid.as_ref().map_or("", |grid| grid.line_end)
    }

    /// The text of an entry without the whitespace that separates it from its neighbours.
    pub fn trimmed<'t>(&self, entry: &'t str) -> &'t str {
        match self.kind {
            FileKind::Table => entry.trim_matches(['\n', '\r']),
            FileKind::Urlset | FileKind::Index | FileKind::List => entry.trim(),
        }
    }

    /// The names of a new file.
    pub fn plain(kind: FileKind) -> Self {
        Self {
            kind,
            entry: kind.entry_name().as_bytes().into(),
            uri: Some(namespace::SITEMAP_09.into()),
            bare_is_core: true,
            bare: Namespace::Sitemap09,
            attributes: [("xmlns".into(), namespace::SITEMAP_09.into())].into(),
            ..Self::default()
        }
    }

    /// Whether an entry has the same meaning under another root: each prefix that one of the two declares has the same
    /// namespace in both.
    pub fn is_compatible_with(&self, other: &Self) -> bool {
        let declared = |names: &Self| {
            let attributes =
                names.attributes.iter().filter(|(name, _)| &**name == "xmlns" || name.starts_with("xmlns:"));
            attributes.cloned().collect::<BTreeSet<_>>()
        };
        self.kind == other.kind && self.prefix == other.prefix && declared(self) == declared(other)
    }

    /// Whether an unprefixed tag without declarations of its own means the sitemap namespace.
    pub const fn bare_is_core(&self) -> bool {
        self.bare_is_core
    }

    /// Whether names without a prefix are in no namespace: the root has a prefix and declares no default namespace.
    pub const fn bare_is_unbound(&self) -> bool {
        self.bare_is_unbound
    }

    /// Whether a name is in no namespace: it has no prefix, and [`Self::bare_is_unbound`].
    #[inline]
    pub fn is_unbound(&self, name: &[u8]) -> bool {
        self.bare_is_unbound && !name.contains(&b':')
    }

    /// Whether a prefix (empty: none) means the sitemap namespace.
    pub(super) fn is_core(&self, prefix: &[u8]) -> bool {
        self.meaning(prefix) == Meaning::Core
    }

    /// The prefixes that the root declares, with the URIs of their namespaces as written.
    pub fn declared_prefixes(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        self.attributes.iter().filter_map(|(name, uri)| Some((name.strip_prefix("xmlns:")?, &**uri)))
    }

    /// Whether the root declares a prefix.
    pub fn declares(&self, prefix: &[u8]) -> bool {
        self.declared(prefix).is_some()
    }

    /// Adds a declaration to the root. It must not be for the root's own prefix, which determines the kind of the file.
    pub(super) fn declare(&mut self, prefix: &[u8], uri: &str) {
        let meaning = meaning(uri.trim(), self.uri.as_deref());
        Arc::make_mut(&mut self.prefixes).push(prefix.into(), meaning);
    }

    /// Whether a core element directly below the root is an entry or a field in another case, or a field outside of an
    /// entry.
    pub(super) fn is_outside(&self, name: &[u8]) -> bool {
        let (prefix, local) = split(name);
        let names: [&[u8]; 5] = [b"loc", b"url", b"sitemap", b"urlset", b"sitemapindex"];
        self.is_core(prefix) && names.iter().any(|name| local.eq_ignore_ascii_case(name))
    }

    /// Whether a child of an entry is a core field, ignoring case.
    pub(super) fn is_recased(&self, name: &[u8]) -> bool {
        let (prefix, local) = split(name);
        self.is_core(prefix) && Field::ALL.iter().any(|field| local.eq_ignore_ascii_case(field.name().as_bytes()))
    }

    /// Whether an entry's name is the one for this kind of file.
    #[inline]
    pub(super) fn is_own_entry(&self, name: &[u8]) -> bool {
        name == &*self.entry || split(name).1 == self.kind.entry_name().as_bytes()
    }

    /// Whether a name is that of an entry, also of the other kind of file.
    #[inline]
    pub fn is_entry(&self, name: &[u8]) -> bool {
        name == &*self.entry || {
            let (prefix, local) = split(name);
            matches!(local, b"url" | b"sitemap") && self.meaning(prefix) == Meaning::Core
        }
    }

    /// Whether a tag is an entry, by the root's declarations or by its own: `<s:url xmlns:s="…">`.
    #[inline]
    pub fn is_entry_tag(&self, bytes: &[u8], tag: &Markup) -> bool {
        let name = tag.name(bytes);
        self.is_entry(name)
            || (matches!(split(name).1, b"url" | b"sitemap")
                && !tag.attributes(bytes).is_empty()
                && self.resolve(bytes, tag).0 == Meaning::Core)
    }

    /// The names below a tag that declares namespaces; `None` if it declares none.
    pub fn within(&self, bytes: &[u8], tag: &Markup) -> Option<Self> {
        let attributes = tag.attributes(bytes);
        if !markup::may_declare(attributes) {
            return None;
        }
        let root = self.uri.as_deref();
        let mut names = self.clone();
        let mut prefixes: Vec<(Arc<[u8]>, Meaning)> = Vec::new();
        for attribute in markup::attributes(attributes) {
            let Ok(uri) = std::str::from_utf8(attribute.value) else { continue };
            match attribute.name.strip_prefix(b"xmlns") {
                Some(b"") => {
                    // The entry declares the namespace itself.
                    names.bare_is_unbound = false;
                    names.bare_is_core = meaning(uri, root) == Meaning::Core;
                    names.bare = namespace::classify(uri);
                }
                Some([b':', prefix @ ..]) => prefixes.push((prefix.into(), meaning(uri.trim(), root))),
                _ => {}
            }
        }
        // Inner declarations have precedence.
        let outer = self.own.iter().flat_map(|own| own.iter()).cloned();
        names.own = Some(Arc::new(prefixes.into_iter().chain(outer).collect()));
        Some(names)
    }

    /// Whether a name is the root's, ignoring its prefix.
    pub fn is_root(&self, name: &[u8]) -> bool {
        split(name).1 == self.kind.root_name().as_bytes()
    }

    /// The meaning of a tag inside an entry, and its local name.
    #[inline]
    pub fn resolve<'b>(&self, bytes: &'b [u8], tag: &Markup) -> (Meaning, &'b [u8]) {
        let name = tag.name(bytes);
        let (prefix, local) = split(name);
        let attributes = tag.attributes(bytes);
        if !attributes.is_empty()
            && let Some(own) = declared_for(attributes, prefix)
        {
            return (meaning(own, self.uri.as_deref()), local);
        }
        (self.meaning(prefix), local)
    }

    /// The meaning of a prefix according to the declarations.
    pub fn meaning_of_prefix(&self, prefix: &[u8]) -> Meaning {
        self.meaning(prefix)
    }

    /// The meaning of a namespace URI that an element inside an entry declares.
    pub fn meaning_of(&self, uri: &str) -> Meaning {
        meaning(uri, self.uri.as_deref())
    }

    /// The prefix (without its colon, empty for none) that the root declares for an extension.
    pub fn prefix_of(&self, namespace: Namespace) -> Option<&[u8]> {
        if !self.bare_is_core && self.bare == namespace {
            return Some(b"");
        }
        let own =
            |(prefix, meaning): &&(Arc<[u8]>, Meaning)| *meaning == Meaning::Extension(namespace) && !prefix.is_empty();
        self.own.iter().flat_map(|own| own.iter()).chain(self.prefixes.iter()).find(own).map(|(prefix, _)| &**prefix)
    }

    /// The meaning of a declared prefix; inner declarations have precedence.
    #[inline]
    fn declared(&self, prefix: &[u8]) -> Option<Meaning> {
        self.own.as_ref().and_then(|own| own.find(prefix)).or_else(|| self.prefixes.find(prefix))
    }

    #[inline]
    fn meaning(&self, prefix: &[u8]) -> Meaning {
        if prefix.is_empty() {
            return if self.bare_is_core { Meaning::Core } else { Meaning::Extension(self.bare) };
        }
        match self.declared(prefix) {
            Some(meaning) => meaning,
            // The root's own prefix is in the sitemap namespace even if its declaration is missing.
            None if self.prefix.as_bytes().strip_suffix(b":") == Some(prefix) => Meaning::Core,
            None => Meaning::Extension(namespace::by_usual_prefix(prefix).unwrap_or(Namespace::Other)),
        }
    }
}

/// Splits a name at its colon.
#[inline]
pub fn split(name: &[u8]) -> (&[u8], &[u8]) {
    match name.iter().position(|byte| *byte == b':') {
        Some(colon) => (name.get(..colon).unwrap_or_default(), name.get(colon + 1..).unwrap_or_default()),
        None => (&[], name),
    }
}

/// The namespace that a tag declares for its own prefix, if it does.
fn declared_for<'b>(attributes: &'b [u8], prefix: &[u8]) -> Option<&'b str> {
    if !markup::may_declare(attributes) {
        return None;
    }
    markup::attributes(attributes)
        .find(|a| match a.name.strip_prefix(b"xmlns") {
            Some(b"") => prefix.is_empty(),
            Some([b':', rest @ ..]) => rest == prefix && !prefix.is_empty(),
            _ => false,
        })
        .and_then(|a| std::str::from_utf8(a.value).ok())
}

/// The meaning of a namespace URI. An empty one (`xmlns=""`) counts as that of sitemaps, as below a prefixed root.
fn meaning(uri: &str, root: Option<&str>) -> Meaning {
    let known = namespace::classify(uri);
    if uri.is_empty() || Some(uri) == root || known.is_sitemap() { Meaning::Core } else { Meaning::Extension(known) }
}
