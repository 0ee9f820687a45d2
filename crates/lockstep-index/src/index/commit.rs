//! Writes the index: new parts first, then the manifest that names them. Only the holder of the writer's lock
//! writes, and only on top of the manifest that it has read. A process that is overtaken keeps its update in
//! memory.

use super::compaction;
use super::delta::{FileTableDelta, fits_before_rewrite};
use super::file_table::FileTable;
use super::manifest::Manifest;
use super::sorted_table::{SortedTable, TableSource};
use super::storage::{IndexFileKind, IndexWriter};
use crate::IndexResult;
use lockstep_fs::now;

/// Smaller tables stay in memory, which is faster than opening their files.
const IN_MEMORY: usize = 1 << 16;

/// A new manifest that is being prepared.
pub(crate) struct ManifestCommit<'a> {
    writer: &'a IndexWriter,
    manifest: Manifest,
}

impl<'a> ManifestCommit<'a> {
    /// Prepares the successor of `manifest`. `None` if that is no longer the one on disk.
    pub(crate) fn begin_after(
        writer: &'a IndexWriter,
        found: Option<&Manifest>,
        manifest: &Manifest,
    ) -> IndexResult<Option<Self>> {
        let present = writer.manifest()?;
        let is_found = match (&present, found) {
            (Some(present), Some(found)) => present.same_readable_content(found),
            (present, found) => present.is_none() && found.is_none(),
        };
        if !is_found {
            return Ok(None);
        }
        let mut manifest = manifest.clone();
        manifest.generation = present.map_or(0, |present| present.generation) + 1;
        manifest.written_at = now();
        // Another process may still read the files that an unreadable manifest named.
        manifest.next_number = manifest.next_number.max(writer.next_free_number());
        Ok(Some(Self { writer, manifest }))
    }

    /// Records the file table. If `amendment` is given, it is the delta from the table that the manifest
    /// names.
    pub(crate) fn set_files(&mut self, files: &FileTable, amendment: Option<FileTableDelta>) -> IndexResult {
        match amendment.filter(|amendment| fits_before_rewrite(&self.manifest.amendments, amendment)) {
            Some(amendment) => self.manifest.amendments.push(amendment),
            None => {
                self.manifest.files = self.put(IndexFileKind::Files, &files.encode())?;
                self.manifest.amendments.clear();
            }
        }
        Ok(())
    }

    /// Adds a table of words or facts to `tables`, which the manifest names. If there are many tables, merges
    /// some of them, without the documents for which `is_alive` returns false.
    pub(crate) fn add(
        &mut self,
        part: IndexFileKind,
        tables: &mut Vec<SortedTable>,
        bytes: Vec<u8>,
        is_alive: impl Fn(u32) -> bool,
    ) -> IndexResult {
        let put = self.put(part, &bytes);
        // The table is usable in memory even if it could not be written.
        tables.push(self.opened(part, put.as_ref().ok(), bytes));
        self.manifest.tables(part).push(put?);
        let sizes: Vec<u64> = tables.iter().map(SortedTable::len).collect();
        let chosen = compaction::choose(&sizes);
        if chosen.is_empty() {
            return Ok(());
        }
        let parts: Vec<&SortedTable> = chosen.iter().map(|at| &tables[*at]).collect();
        let merged = match part {
            IndexFileKind::Facts => compaction::facts(&parts, is_alive),
            _ => compaction::words(&parts, is_alive),
        };
        // Damaged tables are left alone: a query that reads them will report the damage.
        let Ok(merged) = merged else { return Ok(()) };
        let number = self.put(part, &merged)?;
        let numbers = self.manifest.tables(part);
        for at in chosen.into_iter().rev() {
            tables.remove(at);
            numbers.remove(at);
        }
        numbers.push(number);
        tables.push(self.opened(part, Some(&number), merged));
        Ok(())
    }

    fn put(&mut self, part: IndexFileKind, bytes: &[u8]) -> IndexResult<u32> {
        let number = self.manifest.next_number;
        self.manifest.next_number += 1;
        self.writer.put(part, number, bytes)?;
        Ok(number)
    }

    /// A table that was just written: from disk where that is possible, so that a build does not hold all of it in memory.
    fn opened(&self, part: IndexFileKind, number: Option<&u32>, bytes: Vec<u8>) -> SortedTable {
        let written =
            number.filter(|_| bytes.len() > IN_MEMORY).and_then(|number| self.writer.table(part, *number));
        written.unwrap_or_else(|| SortedTable::new(TableSource::Memory(bytes)))
    }

    /// Records the duration of the last full build: words, then facts.
    pub(crate) fn set_build_micros(&mut self, micros: [u64; 2]) {
        self.manifest.build_micros = micros;
    }

    pub(crate) fn publish(self) -> IndexResult<Manifest> {
        self.writer.replace(&self.manifest)?;
        Ok(self.manifest)
    }
}

#[cfg(test)]
mod tests {
    use lockstep_store::StateDir;

    use super::super::storage::Storage;
    use super::super::{IndexBuildOptions, IndexBuildOutcome, IndexSettings, NoProgress, build};

    /// After an update of Lockstep the facts of the former one are of no use, and those of the new one are kept.
    #[test]
    fn facts_of_another_program_are_replaced_by_ours() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.py"), "def one(): pass\n").unwrap();
        let state = StateDir::for_project(dir.path());
        let storage = Storage::new(&state);
        let built = || {
            let order = IndexBuildOptions { facts: true, ..IndexBuildOptions::default() };
            let built = build(dir.path(), &state, &IndexSettings::default(), order, &NoProgress).unwrap();
            assert!(matches!(built, IndexBuildOutcome::Done(_)));
            storage.manifest().unwrap().unwrap()
        };
        let ours = built();
        let foreign = ours.clone().of_another_program();
        storage.lock("test").unwrap().unwrap().replace(&foreign).unwrap();
        let again = built();
        assert!(
            again.facts_are_compatible() && !again.facts.is_empty() && again.facts != ours.facts,
            "{again:?}"
        );
    }
}
