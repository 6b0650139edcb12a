//! Texts that are stored once, however often they occur.

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// The number of a text in its [`Interner`].
pub(super) type TextId = u32;

/// A list of different texts.
#[derive(Debug, Clone, Default)]
pub(super) struct Interner {
    text: String,
    ends: Vec<u32>,
    index: HashTable<TextId>,
}

impl Interner {
    /// The number of a text; `None` where all texts together are 4 GiB or more.
    pub(super) fn intern(&mut self, text: &str) -> Option<TextId> {
        let hash = hash(text);
        if let Some(id) = self.index.find(hash, |id| self.get(*id) == text) {
            return Some(*id);
        }
        let end = u32::try_from(self.text.len() + text.len()).ok()?;
        let id = u32::try_from(self.ends.len()).ok()?;
        self.text.push_str(text);
        self.ends.push(end);
        let Self { text, ends, index } = self;
        index.insert_unique(hash, id, |id| self::hash(slice(text, ends, *id)));
        Some(id)
    }

    /// The text of a number.
    pub(super) fn get(&self, id: TextId) -> &str {
        slice(&self.text, &self.ends, id)
    }

    /// How many different texts there are.
    pub(super) fn len(&self) -> u32 {
        self.ends.len() as u32
    }
}

fn slice<'t>(text: &'t str, ends: &[u32], id: TextId) -> &'t str {
    let start = id.checked_sub(1).and_then(|before| ends.get(before as usize)).map_or(0, |end| *end as usize);
    let end = ends.get(id as usize).map_or(start, |end| *end as usize);
    text.get(start..end).unwrap_or_default()
}

fn hash(text: &str) -> u64 {
    FixedState::with_seed(0x0064_6174_6100).hash_one(text)
}
