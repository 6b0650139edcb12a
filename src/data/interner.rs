//! Interns texts: each distinct text is stored once and has an id.

use crate::persistent::Column;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;
use std::sync::Arc;

/// The id of a text: its position in the list.
pub(super) type TextId = u32;

/// A list of texts with 4 bytes of overhead each. Texts that are added after [`Texts::share`] have 12 bytes of
/// overhead, and clones share all of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Texts {
    base: Arc<Base>,
    /// The span of each text that was added since the list was shared.
    spans: Column<Span>,
    chunks: Column<Arc<str>>,
    /// The chunk that is not shared yet.
    open: String,
    is_shared: bool,
}

#[derive(Debug, Clone, Default)]
struct Base {
    text: String,
    ends: Vec<u32>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Span {
    chunk: u32,
    start: u32,
    end: u32,
}

impl Texts {
    /// The text with an id.
    pub(super) fn get(&self, id: TextId) -> &str {
        let Base { text, ends } = &*self.base;
        if let Some(end) = ends.get(id as usize) {
            let start = id.checked_sub(1).and_then(|before| ends.get(before as usize)).map_or(0, |end| *end as usize);
            return text.get(start..*end as usize).unwrap_or_default();
        }
        let Some(span) = self.spans.get(id as usize - ends.len()) else { return "" };
        let chunk = self.chunks.get(span.chunk as usize).map_or(self.open.as_str(), |chunk| chunk);
        chunk.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// All texts, in the order of their ids.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len() as u32).map(|id| self.get(id))
    }

    /// Number of texts.
    pub(super) fn len(&self) -> usize {
        self.base.ends.len() + self.spans.len()
    }

    /// Memory of all texts in bytes.
    #[cfg(test)]
    pub(super) fn held_bytes(&self) -> usize {
        self.base.text.capacity() + self.base.ends.capacity() * size_of::<u32>()
    }

    /// Adds a text; `None` if all texts together would be 4 GiB or more.
    pub(super) fn push(&mut self, text: &str) -> Option<TextId> {
        let id = u32::try_from(self.len()).ok()?;
        if self.is_shared {
            let (start, end) = (self.open.len() as u32, u32::try_from(self.open.len() + text.len()).ok()?);
            self.open.push_str(text);
            self.spans.push(Span { chunk: self.chunks.len() as u32, start, end });
            return Some(id);
        }
        let end = u32::try_from(self.base.text.len() + text.len()).ok()?;
        let base = Arc::make_mut(&mut self.base);
        base.text.push_str(text);
        base.ends.push(end);
        Some(id)
    }

    /// Makes clones cheap, now and after texts are added.
    pub(super) fn share(&mut self) {
        self.is_shared = true;
        if !self.open.is_empty() {
            self.chunks.push(std::mem::take(&mut self.open).into());
        }
    }

    /// The texts as a list that is not shared.
    pub(super) fn unshared(&self) -> Self {
        if !self.is_shared {
            return self.clone();
        }
        let mut base = Base::clone(&self.base);
        for id in base.ends.len()..self.len() {
            base.text.push_str(self.get(id as u32));
            base.ends.push(base.text.len() as u32);
        }
        Self { base: Arc::new(base), ..Self::default() }
    }

    pub(super) fn shrink_to_fit(&mut self) {
        if let Some(base) = Arc::get_mut(&mut self.base) {
            base.text.shrink_to_fit();
            base.ends.shrink_to_fit();
        }
    }
}

/// Adds each distinct text to a list once.
#[derive(Debug, Default)]
pub(super) struct Interner {
    texts: Texts,
    index: HashTable<TextId>,
}

impl From<Texts> for Interner {
    fn from(texts: Texts) -> Self {
        let mut index = HashTable::with_capacity(texts.len());
        for (id, text) in texts.iter().enumerate() {
            index.insert_unique(hash(text), id as TextId, |id| hash(texts.get(*id)));
        }
        Self { texts, index }
    }
}

impl Interner {
    /// The id of a text; `None` if all texts together would be 4 GiB or more.
    pub(super) fn intern(&mut self, text: &str) -> Option<TextId> {
        let hash = hash(text);
        if let Some(id) = self.index.find(hash, |id| self.texts.get(*id) == text) {
            return Some(*id);
        }
        let id = self.texts.push(text)?;
        let Self { texts, index } = self;
        index.insert_unique(hash, id, |id| self::hash(texts.get(*id)));
        Some(id)
    }

    /// The texts so far.
    pub(super) const fn texts(&self) -> &Texts {
        &self.texts
    }

    /// The current texts, shared with the interner.
    pub(super) fn share(&mut self) -> Texts {
        self.texts.share();
        self.texts.clone()
    }

    /// The list without the index.
    pub(super) fn into_texts(self) -> Texts {
        let mut texts = self.texts;
        texts.shrink_to_fit();
        texts
    }
}

fn hash(text: &str) -> u64 {
    FixedState::with_seed(0x0064_6174_6100).hash_one(text)
}
