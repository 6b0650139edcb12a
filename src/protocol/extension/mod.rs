//! The extensions of sitemaps: their elements, attributes and value types as data.
//!
//! The tables follow the published schemas (sitemap-image 1.1, sitemap-video 1.1, sitemap-news 0.9,
//! sitemap-mobile 1.0, sitemap-geo 1.0, sitemap-pagemap 1.0) and from the pages of Google Search Central. Nothing
//! here knows XML syntax, rules or rows. All values are decoded and trimmed of XML whitespace.

pub(crate) mod codes;
pub(crate) mod hreflang;
mod languages;
pub(crate) mod path;
mod tables;
pub(crate) mod value;

use super::namespace::Namespace;
pub(crate) use value::Kind;

/// One element of an extension: its content, and how often it may occur in its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element {
    /// The local name.
    pub name: &'static str,
    /// The kind of value that its text must be.
    pub kind: Kind,
    /// How often it may occur in its parent; 0 for any number.
    pub max_count: u16,
    /// Whether its parent requires it.
    pub is_required: bool,
    /// Whether Google has withdrawn it ("Spring cleaning: some sitemap extension attributes are going away", 2022;
    /// news: gone from the documentation).
    pub is_deprecated: bool,
    /// Its attributes.
    pub attributes: &'static [Attribute],
    /// Its child elements, in the order of the schema.
    pub children: &'static [Self],
}

/// One attribute of an element of an extension.
#[derive(Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Its name.
    pub name: &'static str,
    /// The kind of value that it must have.
    pub kind: Kind,
    /// Whether Google has withdrawn it.
    pub is_deprecated: bool,
}

impl Element {
    /// The child with a name, and its index in the order of the schema.
    pub fn child(&'static self, name: &[u8]) -> Option<(usize, &'static Self)> {
        self.children.iter().enumerate().find(|(_, child)| child.name.as_bytes() == name)
    }

    /// The attribute with a name.
    pub fn attribute(&'static self, name: &[u8]) -> Option<&'static Attribute> {
        self.attributes.iter().find(|attribute| attribute.name.as_bytes() == name)
    }

    /// Whether it or any of its descendants has a name.
    fn has_element(&self, name: &[u8]) -> bool {
        self.name.as_bytes() == name || self.children.iter().any(|child| child.has_element(name))
    }
}

/// The element of an extension that is a child of entries; `None` if the namespace is not an extension.
pub(crate) const fn root(namespace: Namespace) -> Option<&'static Element> {
    Some(match namespace {
        Namespace::Image => &tables::IMAGE,
        Namespace::Video => &tables::VIDEO,
        Namespace::News => &tables::NEWS,
        Namespace::Xhtml => &tables::LINK,
        Namespace::Mobile => &tables::MOBILE,
        Namespace::Geo => &tables::GEO,
        Namespace::CodeSearch => &tables::CODE_SEARCH,
        Namespace::PageMap => &tables::PAGE_MAP,
        Namespace::Sitemap09 | Namespace::Sitemap084 | Namespace::SitemapVariant | Namespace::Other => return None,
    })
}

/// Whether an extension has an element with a name.
pub(crate) fn is_known_element(namespace: Namespace, name: &[u8]) -> bool {
    root(namespace).is_some_and(|root| root.has_element(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn for_each(element: &'static Element, visit: &mut dyn FnMut(&'static Element)) {
        visit(element);
        element.children.iter().for_each(|child| for_each(child, visit));
    }

    #[test]
    fn elements_with_children_have_no_text() {
        let all = [
            Namespace::Image,
            Namespace::Video,
            Namespace::News,
            Namespace::Xhtml,
            Namespace::Mobile,
            Namespace::Geo,
            Namespace::CodeSearch,
            Namespace::PageMap,
        ];
        for namespace in all {
            let root = root(namespace).unwrap();
            assert!(is_known_element(namespace, root.name.as_bytes()));
            for_each(root, &mut |element| {
                assert!(element.children.is_empty() || element.kind == Kind::Elements, "{}", element.name);
                // The rules about the structure keep children as bits.
                assert!(element.children.len() < u32::BITS as usize, "{}", element.name);
                let mut names: Vec<_> = element.children.iter().map(|child| child.name).collect();
                names.sort_unstable();
                names.dedup();
                assert_eq!(names.len(), element.children.len(), "{}", element.name);
            });
        }
        assert!(root(Namespace::Other).is_none() && root(Namespace::Sitemap09).is_none());
    }

    #[test]
    fn children_are_found_by_name() {
        let video = root(Namespace::Video).unwrap();
        assert_eq!(video.child(b"thumbnail_loc").map(|(index, _)| index), Some(0));
        assert_eq!(video.child(b"id").map(|(index, child)| (index, child.max_count)), Some((22, 0)));
        assert_eq!(video.child(b"Title"), None);
        assert!(is_known_element(Namespace::Video, b"show_title") && !is_known_element(Namespace::Video, b"loc"));
        assert!(
            is_known_element(Namespace::News, b"language")
                && root(Namespace::News).unwrap().child(b"language").is_none()
        );
    }
}
