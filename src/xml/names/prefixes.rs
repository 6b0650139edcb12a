//! Declared namespace prefixes with constant-time lookup.

use super::Meaning;
use crate::progress::note_work;
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of prefixes that are searched linearly.
const MAX_LINEAR: usize = 8;

/// Prefixes (without colon) with their meanings, in document order. The first of several equal ones applies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Prefixes {
    list: Vec<(Arc<[u8]>, Meaning)>,
    /// All prefixes by name, if there are more than [`MAX_LINEAR`]. The hash function is seeded randomly, so that a
    /// file cannot contain prefixes chosen to collide.
    by_name: HashMap<Arc<[u8]>, Meaning>,
}

impl Prefixes {
    /// The meaning of a prefix, if it is declared.
    #[inline]
    pub(super) fn find(&self, prefix: &[u8]) -> Option<Meaning> {
        note_work(self.list.len().min(MAX_LINEAR));
        if self.list.len() > MAX_LINEAR {
            return self.by_name.get(prefix).copied();
        }
        self.list.iter().find(|(known, _)| **known == *prefix).map(|(_, meaning)| *meaning)
    }

    /// Appends a prefix.
    pub(super) fn push(&mut self, prefix: Arc<[u8]>, meaning: Meaning) {
        self.list.push((prefix, meaning));
        // The table contains either none or all of them.
        let known = if self.list.len() == MAX_LINEAR + 1 { 0 } else { self.list.len() - 1 };
        if self.list.len() > MAX_LINEAR {
            for (prefix, meaning) in self.list.iter().skip(known) {
                self.by_name.entry(Arc::clone(prefix)).or_insert(*meaning);
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &(Arc<[u8]>, Meaning)> {
        self.list.iter()
    }
}

impl FromIterator<(Arc<[u8]>, Meaning)> for Prefixes {
    fn from_iter<I: IntoIterator<Item = (Arc<[u8]>, Meaning)>>(prefixes: I) -> Self {
        let mut all = Self::default();
        prefixes.into_iter().for_each(|(prefix, meaning)| all.push(prefix, meaning));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::namespace::Namespace;

    #[test]
    fn the_first_of_equal_prefixes_applies() {
        for more in [0, 100] {
            let others = (0..more).map(|n: u32| (format!("p{n}").into_bytes().into(), Meaning::Core));
            let twice =
                [Meaning::Extension(Namespace::Image), Meaning::Core].map(|meaning| (Arc::from(*b"i"), meaning));
            let prefixes: Prefixes = others.chain(twice).collect();
            assert_eq!(prefixes.find(b"i"), Some(Meaning::Extension(Namespace::Image)));
            assert_eq!(prefixes.find(b"p99"), (more > 0).then_some(Meaning::Core));
            assert_eq!([prefixes.find(b""), prefixes.find(b"zz"), prefixes.find(b"a")], [None; 3]);
        }
    }
}
