//! The stored state of a map, in `.lockstep/map/`: the record, replaced as a unit, with its deltas and its
//! file of query results, both append-only.
//!
//! Not synced: data damaged by a power failure fails its checks, and the map is rebuilt.

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;

use lockstep_map::record::{MapRecord, MapRecordDelta};
use lockstep_map::update::TraceWrite;
use lockstep_store::StateDir;
use tempfile::NamedTempFile;

use super::append::append;
use super::delta_log::DeltaLog;
use super::trace_file::TraceFile;
use crate::error::{CommandError, CommandResult};

/// The record and its answers.
pub(super) struct MapState {
    state: StateDir,
}

/// The loaded state of a map.
pub(super) struct SavedMap {
    pub(super) record: MapRecord,
    pub(super) answers: TraceFile,
    /// The deltas since the record was written.
    pub(super) amendments: DeltaLog,
}

const RECORD: &str = "record";
const AMENDMENTS: &str = "amendments";

impl MapState {
    pub(super) fn of(state: &StateDir) -> Self {
        Self { state: state.clone() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.state.path().join("map").join(name)
    }

    fn answers(&self, number: u32) -> PathBuf {
        self.path(&format!("{number}.answers"))
    }

    /// Returns the stored state, or `None` if it is missing or invalid.
    pub(super) fn load(&self) -> Option<SavedMap> {
        let mut file = lockstep_fs::open(self.path(RECORD)).ok()?;
        let length = file.metadata().ok()?.len();
        let (record, identity) = MapRecord::read(&mut file, length)?;
        let (record, amendments) = DeltaLog::replay(&self.path(AMENDMENTS), record, identity)?;
        let answers = self.answers(record.about.answers);
        let length = fs::symlink_metadata(&answers).ok().filter(fs::Metadata::is_file)?.len();
        let answers = (length >= record.about.answer_bytes).then(|| TraceFile::at(answers))?;
        Some(SavedMap { record, answers, amendments })
    }

    /// Writes the query results of a record and stores their position in it. They are not read before the
    /// record names them.
    pub(super) fn write_trace(
        &self,
        record: &mut MapRecord,
        before: u64,
        new: &TraceWrite,
    ) -> CommandResult<()> {
        self.state.ensure_dir("map")?;
        let (bytes, start) = match new {
            TraceWrite::Append(bytes) if before > 0 => (bytes, before),
            TraceWrite::Append(bytes) | TraceWrite::Replace(bytes) => {
                record.about.answers = record.about.answers.wrapping_add(1);
                (bytes, 0)
            }
        };
        if bytes.is_empty() && start > 0 {
            return Ok(());
        }
        let path = self.answers(record.about.answers);
        append(&path, start, bytes)
            .map_err(|error| CommandError::store(format!("cannot write {}: {error}", path.display())))
    }

    /// Appends a delta to the current record if that is cheaper than writing a new one. Returns true if it
    /// did.
    pub(super) fn append_delta(
        &self,
        amendments: &DeltaLog,
        amendment: &MapRecordDelta,
        record: &MapRecord,
    ) -> CommandResult<bool> {
        let bytes = amendment.encode(record);
        if !amendments.has_room(amendment, &bytes) {
            return Ok(false);
        }
        amendments.append(&self.path(AMENDMENTS), &bytes).map_err(|error| self.not_written(&error))?;
        Ok(true)
    }

    fn not_written(&self, error: &io::Error) -> CommandError {
        CommandError::store(format!("cannot write {}: {error}", self.path(RECORD).display()))
    }

    /// Makes a record the present one, and removes answers of earlier ones.
    pub(super) fn write_record(&self, record: &MapRecord) -> CommandResult<()> {
        let dir = self.state.ensure_dir("map")?;
        let write = || -> io::Result<()> {
            let mut file = NamedTempFile::new_in(&dir)?;
            record.write(&mut |chunk| file.write_all(chunk))?;
            file.persist(self.path(RECORD)).map(drop).map_err(|error| error.error)
        };
        write().map_err(|error| self.not_written(&error))?;
        // Deltas of the former record are no longer valid; they only take space.
        let _ = fs::remove_file(self.path(AMENDMENTS));
        let present = self.answers(record.about.answers);
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "answers") && path != present {
                let _ = fs::remove_file(path);
            }
        }
        Ok(())
    }
}
