//! Parses a page of the manual into blocks: a subset of Markdown.

use super::Page;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Its text.
    pub text: String,
    /// Whether it is typed or printed literally.
    pub is_code: bool,
}

/// A block of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// The title of the page (level 1) or of a section.
    Heading {
        /// From 1.
        level: usize,
        /// The title.
        title: String,
    },
    /// A paragraph.
    Paragraph(Vec<Span>),
    /// An item of a list.
    Item(Vec<Span>),
    /// Lines that keep their breaks.
    Code(Vec<String>),
    /// A table: its head, then its rows, each a list of cells.
    Table(Vec<Vec<Vec<Span>>>),
}

/// The blocks of a page. HTML comments, emphasis and the targets of links are left out.
pub fn blocks(page: Page) -> Vec<Block> {
    let mut reader = Reader::default();
    for event in Parser::new_ext(page.markdown, Options::ENABLE_TABLES) {
        reader.read(event);
    }
    reader.blocks
}

#[derive(Default)]
struct Reader {
    blocks: Vec<Block>,
    /// The block in hand.
    spans: Vec<Span>,
    rows: Vec<Vec<Vec<Span>>>,
    is_in_item: bool,
}

impl Reader {
    fn read(&mut self, event: Event<'_>) {
        match event {
            Event::Start(Tag::Item) => self.is_in_item = true,
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented)) => self.spans.clear(),
            Event::Start(Tag::TableHead | Tag::TableRow) => self.rows.push(Vec::new()),
            Event::Text(text) => self.push(&text, false),
            Event::Code(text) => self.push(&text, true),
            Event::SoftBreak | Event::HardBreak => self.push(" ", false),
            Event::End(TagEnd::Heading(level)) => {
                let title = self.take().into_iter().map(|span| span.text).collect();
                self.blocks.push(Block::Heading { level: level as usize, title });
            }
            Event::End(TagEnd::Paragraph) if !self.is_in_item => {
                let spans = self.take();
                self.blocks.push(Block::Paragraph(spans));
            }
            Event::End(TagEnd::Item) => {
                self.is_in_item = false;
                let spans = self.take();
                self.blocks.push(Block::Item(spans));
            }
            Event::End(TagEnd::CodeBlock) => {
                let text: String = self.take().into_iter().map(|span| span.text).collect();
                self.blocks.push(Block::Code(text.lines().map(str::to_owned).collect()));
            }
            Event::End(TagEnd::TableCell) => {
                let cell = self.take();
                if let Some(row) = self.rows.last_mut() {
                    row.push(cell);
                }
            }
            Event::End(TagEnd::Table) => self.blocks.push(Block::Table(std::mem::take(&mut self.rows))),
            _ => {}
        }
    }

    fn push(&mut self, text: &str, is_code: bool) {
        self.spans.push(Span { text: text.to_owned(), is_code });
    }

    fn take(&mut self) -> Vec<Span> {
        std::mem::take(&mut self.spans)
    }
}
