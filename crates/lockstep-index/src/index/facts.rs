//! Facts of files: kept ones where the index has them, else parsed on the spot and kept for the next.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use lockstep_refs::facts::Facts;
use lockstep_refs::language;
use lockstep_refs::world::{FileId, World as _};

use super::Index;
use super::content::State;

impl Index {
    /// The facts of a file, from the tables or its text.
    pub(super) fn find_facts(&self, file: u32) -> Option<Arc<Facts>> {
        let record = &self.files.records[file as usize];
        let differs = self.differs(file);
        if record.state != State::Text && !differs {
            return None;
        }
        if !differs && let Some(facts) = self.kept_facts(record.document) {
            return Some(Arc::new(facts));
        }
        let moved = self.moved.load(Ordering::Relaxed);
        let text = self.text(FileId(file))?;
        let facts = Arc::new(language::facts(self.files.paths.get(file as usize), &text));
        // Only what was parsed from the known version may be kept for it.
        if !differs && !moved && !self.moved.load(Ordering::Relaxed) {
            self.parsed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(file);
        }
        Some(facts)
    }

    fn kept_facts(&self, document: u32) -> Option<Facts> {
        for table in self.facts.iter().rev() {
            match table.get(u64::from(document)) {
                Ok(Some(bytes)) => {
                    if let Ok(facts) = postcard::from_bytes(&bytes) {
                        return Some(facts);
                    }
                    self.damaged.store(true, Ordering::Relaxed);
                }
                Ok(None) => {}
                Err(_) => self.damaged.store(true, Ordering::Relaxed),
            }
        }
        None
    }
}
