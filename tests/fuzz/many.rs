//! Repeated constructs at every position of the grammar: the shapes with which a small file may cause much work.

/// The namespace of the protocol.
pub(super) const NS: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

/// Constructs that are repeated; `{n}` is the number of the repetition.
pub(super) const THINGS: [&str; 83] = [
    "<a>",
    "</a>",
    "<a/>",
    "<a{n}>",
    "</a{n}>",
    "<url>",
    "</url>",
    "<url/>",
    "<url><",
    "<loc>",
    "</loc>",
    "<loc/>",
    "<loc>https://e.com/{n}</loc>",
    "<lastmod>2026-01-01</lastmod>",
    "<lastmod>x</lastmod>",
    "<priority>0.5</priority>",
    "<urlset>",
    "</urlset>",
    "<urlset xmlns:p{n}='u{n}'>",
    "<sitemap>",
    "<sitemap/>",
    "<sitemap></sitemap>",
    "<sitemap><loc>https://e.com/{n}.xml</loc></sitemap>",
    "<item>",
    "<item></item>",
    "<item><link>/{n}</link><pubDate>x</pubDate></item>",
    "<entry>",
    "<entry></entry>",
    "<link>https://e.com/{n}</link>",
    "<link href='https://e.com/{n}'/>",
    "<media:content url='https://e.com/{n}.mp4' medium='video'/>",
    "&",
    "&amp;",
    "&foo;",
    "&#0;",
    "<!-- c -->",
    "<!-- a--b -->",
    "<!--",
    "<![CDATA[x]]>",
    "<![CDATA[",
    "]]>",
    "<?p q?>",
    "<?xml version='1.0'?>",
    "<?p",
    "<!DOCTYPE a>",
    "<!",
    "text ",
    "<",
    "< ",
    ">",
    "\"",
    "'",
    "\n",
    "\r\n",
    "\u{1}",
    "\u{feff}",
    "é",
    ",",
    "https://e.com/{n}\n",
    "https://e.com/{n},2026-01-01\n",
    "<a b='c'>",
    "<a b='",
    "<a \"<b '\"'",
    "<a b='c' b='d'/>",
    "<url a='1'>",
    "<url a='",
    "<p{n}:a/>",
    "<p{n}:url xmlns:p{n}='http://www.sitemaps.org/schemas/sitemap/0.9'><p{n}:loc>https://e.com/{n}</p{n}:loc></p{n}:url>",
    "<a xmlns:p{n}='u{n}'>",
    "<image:image><image:loc>https://e.com/{n}.png</image:loc></image:image>",
    "<image:image>",
    "<image:image/>",
    "<image:image><image:loc>",
    "<video:video><video:title>t</video:title></video:video>",
    "<video:video/>",
    "<news:news/>",
    "<xhtml:link/>",
    "<url><loc>https://e.com/{n}</loc></url>",
    "<url><loc>https://e.com/a</loc></url>",
    "<url><loc>e.com</loc><lastmod>x</lastmod></url>",
    "<url><loc>https://e.com/?a&b={n}</loc></url>",
    "<url><loc>https://e{n}.com/</loc>",
    "<a><url><loc>https://e.com/{n}</loc></url></a>",
];

/// Attributes that are repeated.
pub(super) const ATTRIBUTES: [&str; 13] = [
    " a{n}='1'",
    " a='1'",
    " a{n}",
    " a{n}=1",
    " xmlns:p{n}='u{n}'",
    " xmlns:p{n}='http://www.sitemaps.org/schemas/sitemap/0.9'",
    " xmlns:p{n}='http://www.google.com/schemas/sitemap-image/1.1'",
    " p{n}:a='1'",
    " image:a{n}='1'",
    " a='&'",
    " xsi:schemaLocation='a b'",
    "\"",
    "=",
];

/// The texts before and after the constructs. `ROOT` is a root with all extensions.
pub(super) const PLACES: [(&str, &str); 17] = [
    ("", ""),
    ("<?xml version='1.0'?>", "ROOT<url><loc>https://e.com/a</loc></url></urlset>"),
    ("ROOT", "<url><loc>https://e.com/a</loc></url></urlset>"),
    ("ROOT<url><loc>https://e.com/a</loc></url>", "<url><loc>https://e.com/b</loc></url></urlset>"),
    ("ROOT<url><loc>https://e.com/a</loc>", "</url></urlset>"),
    ("ROOT<url>", "<loc>https://e.com/a</loc></url></urlset>"),
    ("ROOT<url><loc>https://e.com/", "</loc></url></urlset>"),
    ("ROOT<url><loc>https://e.com/</loc><lastmod>", "</lastmod></url></urlset>"),
    ("ROOT<url><loc>https://e.com/</loc><image:image>", "</image:image></url></urlset>"),
    ("ROOT<url><loc>https://e.com/</loc><video:video><video:title>", "</video:title></video:video></url></urlset>"),
    ("ROOT<url><loc>https://e.com/a</loc></url></urlset>", ""),
    ("<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>", "</sitemapindex>"),
    (
        "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><sitemap><loc>https://e.com/a.xml</loc>",
        "</sitemap></sitemapindex>",
    ),
    ("<rss version='2.0'><channel><link>https://e.com/</link>", "</channel></rss>"),
    ("<rss version='2.0'><channel><item><link>https://e.com/</link>", "</item></channel></rss>"),
    ("<feed xmlns='http://www.w3.org/2005/Atom'>", "</feed>"),
    ("loc,lastmod\nhttps://e.com/", "\n"),
];

/// The texts before and after the attributes.
pub(super) const TAGS: [(&str, &str); 9] = [
    ("<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'", "><url><loc>https://e.com/a</loc></url></urlset>"),
    ("ROOT<url", "><loc>https://e.com/a</loc></url></urlset>"),
    ("ROOT<url><loc", ">https://e.com/a</loc></url></urlset>"),
    ("ROOT<url><loc>https://e.com/a</loc><image:image", "><image:loc>/</image:loc></image:image></url></urlset>"),
    ("ROOT<url><loc>https://e.com/a</loc><xhtml:link rel='alternate'", "/></url></urlset>"),
    ("ROOT<a", "/><url><loc>https://e.com/a</loc></url></urlset>"),
    ("<?xml version='1.0'", "?>ROOT<url><loc>https://e.com/a</loc></url></urlset>"),
    ("<rss version='2.0'", "><channel><item><link>https://e.com/</link></item></channel></rss>"),
    ("<rss version='2.0'><channel><item", "><link>https://e.com/</link></item></channel></rss>"),
];

/// A root that declares the extensions.
fn root() -> String {
    let google = "http://www.google.com/schemas/sitemap";
    format!(
        "<urlset xmlns=\"{NS}\" xmlns:image=\"{google}-image/1.1\" xmlns:video=\"{google}-video/1.1\" \
         xmlns:news=\"{google}-news/0.9\" xmlns:xhtml=\"http://www.w3.org/1999/xhtml\">"
    )
}

/// A construct, repeated at a position.
pub(super) fn repeated(thing: &str, (before, after): (&str, &str), times: usize) -> String {
    let mut text = before.replace("ROOT", &root());
    for number in 0..times {
        if thing.contains("{n}") {
            text.push_str(&thing.replace("{n}", &number.to_string()));
        } else {
            text.push_str(thing);
        }
    }
    text + &after.replace("ROOT", &root())
}

/// Every construct at every position.
pub(super) fn shapes() -> impl Iterator<Item = (&'static str, (&'static str, &'static str))> {
    let things = THINGS.iter().flat_map(|thing| PLACES.iter().map(move |place| (*thing, *place)));
    things.chain(ATTRIBUTES.iter().flat_map(|attribute| TAGS.iter().map(move |tag| (*attribute, *tag))))
}
