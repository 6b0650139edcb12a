//! Texts that are stored once, however often they occur.

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// The number of a text in its list.
pub(super) type TextId = u32;

/// A list of different texts: 4 bytes each, and the text.
#[derive(Debug, Clone, Default)]
pub(super) struct Texts {
    text: String,
    ends: Vec<u32>,
}

impl Texts {
    /// The text of a number.
    pub(super) fn get(&self, id: TextId) -> &str {
        let start = id.checked_sub(1).and_then(|before| self.ends.get(before as usize)).map_or(0, |end| *end as usize);
        let end = self.ends.get(id as usize).map_or(start, |end| *end as usize);
        self.text.get(start..end).unwrap_or_default()
    }

    /// All texts, in the order of their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len() as u32).map(|id| self.get(id))
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The memory of all texts.
    #[cfg(test)]
    pub(super) const fn held_bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * size_of::<u32>()
    }

    /// Adds a text; `None` where all texts together are 4 GiB or more.
    fn push(&mut self, text: &str) -> Option<TextId> {
        let end = u32::try_from(self.text.len() + text.len()).ok()?;
        let id = u32::try_from(self.ends.len()).ok()?;
        self.text.push_str(text);
        self.ends.push(end);
        Some(id)
    }
}

/// Adds texts to a list, each once.
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
    /// The number of a text; `None` where all texts together are 4 GiB or more.
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

    /// The list, without what finds a text in it.
    pub(super) fn into_texts(self) -> Texts {
        let mut texts = self.texts;
        texts.text.shrink_to_fit();
        texts.ends.shrink_to_fit();
        texts
    }
}

fn hash(text: &str) -> u64 {
    FixedState::with_seed(0x0064_6174_6100).hash_one(text)
}
