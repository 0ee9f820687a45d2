//! What is remembered of a map, in `.lockstep/map/`: the record, replaced whole, with the amendments behind it and its file of answers, both
//! appended to. Not synced: what a power failure damaged fails its checks, and the map is made anew.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::PathBuf;

use lockstep_map::record::{Amendment, Record};
use lockstep_map::update::NewAnswers;
use lockstep_store::StateDir;
use tempfile::NamedTempFile;

use super::amendments::Amendments;
use super::answers::Answers;
use super::append::append;
use crate::error::{CommandError, Kind};

/// The record and its answers.
pub(super) struct Memory {
    state: StateDir,
}

/// What is remembered of a map.
pub(super) struct Remembered {
    pub(super) record: Record,
    pub(super) answers: Answers,
    /// What was made from the record as it was written.
    pub(super) amendments: Amendments,
}

const RECORD: &str = "record";
const AMENDMENTS: &str = "amendments";

impl Memory {
    pub(super) fn of(state: &StateDir) -> Self {
        Self { state: state.clone() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.state.path().join("map").join(name)
    }

    fn answers(&self, number: u32) -> PathBuf {
        self.path(&format!("{number}.answers"))
    }

    /// What is remembered; `None` where nothing is, or nothing that can be believed.
    pub(super) fn load(&self) -> Option<Remembered> {
        let mut file = File::open(self.path(RECORD)).ok()?;
        let length = file.metadata().ok()?.len();
        let (record, identity) = Record::read(&mut file, length)?;
        let (record, amendments) = Amendments::made(&self.path(AMENDMENTS), record, identity)?;
        let answers = self.answers(record.about.answers);
        let length = fs::symlink_metadata(&answers).ok().filter(fs::Metadata::is_file)?.len();
        let answers = (length >= record.about.answer_bytes).then(|| Answers::at(answers))?;
        Some(Remembered { record, answers, amendments })
    }

    /// Writes the answers that go with a record, and says in it where they are. Nobody reads them before the record says so.
    pub(super) fn put_answers(
        &self,
        record: &mut Record,
        before: u64,
        new: &NewAnswers,
    ) -> Result<(), CommandError> {
        self.state.ensure("map")?;
        let (bytes, start) = match new {
            NewAnswers::Append(bytes) if before > 0 => (bytes, before),
            NewAnswers::Append(bytes) | NewAnswers::Replace(bytes) => {
                record.about.answers = record.about.answers.wrapping_add(1);
                (bytes, 0)
            }
        };
        if bytes.is_empty() && start > 0 {
            return Ok(());
        }
        let path = self.answers(record.about.answers);
        append(&path, start, bytes).map_err(|error| {
            CommandError::new(Kind::Store, format!("cannot write {}: {error}", path.display()))
        })
    }

    /// Puts an amendment behind the present record, where that is sooner done than to write another; says whether it did.
    pub(super) fn put_amendment(
        &self,
        amendments: &Amendments,
        amendment: &Amendment,
        record: &Record,
    ) -> Result<bool, CommandError> {
        let bytes = amendment.encode(record);
        if !amendments.has_room(amendment, &bytes) {
            return Ok(false);
        }
        amendments.append(&self.path(AMENDMENTS), &bytes).map_err(|error| self.not_written(&error))?;
        Ok(true)
    }

    fn not_written(&self, error: &io::Error) -> CommandError {
        CommandError::new(Kind::Store, format!("cannot write {}: {error}", self.path(RECORD).display()))
    }

    /// Makes a record the present one, and removes answers of earlier ones.
    pub(super) fn put(&self, record: &Record) -> Result<(), CommandError> {
        let dir = self.state.ensure("map")?;
        let write = || -> io::Result<()> {
            let mut file = NamedTempFile::new_in(&dir)?;
            record.write(&mut |chunk| file.write_all(chunk))?;
            file.persist(self.path(RECORD)).map(drop).map_err(|error| error.error)
        };
        write().map_err(|error| self.not_written(&error))?;
        // Amendments behind the former one are those of no other; they only take room.
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
