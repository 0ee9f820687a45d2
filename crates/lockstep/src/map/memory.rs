//! What is remembered of a map, in `.lockstep/map/`: the record, replaced in one step, and its file of answers, appended to. Not
//! synced: what a power failure damaged fails its checks, and the map is made anew.

use std::fs::{self, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use lockstep_map::record::{About, Columns, Record};
use lockstep_map::update::NewAnswers;
use lockstep_store::StateDir;
use rustix::fs::OFlags;
use tempfile::NamedTempFile;

use super::answers::Answers;
use crate::error::{CommandError, Kind};

/// The record and its answers.
pub(super) struct Memory {
    state: StateDir,
}

/// A record that lacks what is known last.
pub(super) struct Prepared {
    file: NamedTempFile,
    columns: Columns,
}

const RECORD: &str = "record";

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

    /// The record with its answers; `None` where there is none, or none that can be believed.
    pub(super) fn load(&self) -> Option<(Record, Answers)> {
        let record = Record::decode(&fs::read(self.path(RECORD)).ok()?)?;
        let answers = self.answers(record.about.answers);
        let length = fs::symlink_metadata(&answers).ok().filter(fs::Metadata::is_file)?.len();
        (length >= record.about.answer_bytes).then(|| (record, Answers::at(answers)))
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
        let write = || -> io::Result<()> {
            let mut file = OpenOptions::new()
                .create(true)
                .truncate(false)
                .write(true)
                .mode(0o600)
                .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
                .open(&path)?;
            // What a killed process left behind the end goes.
            file.set_len(start)?;
            file.seek(SeekFrom::Start(start))?;
            file.write_all(bytes)
        };
        write().map_err(|error| {
            CommandError::new(Kind::Store, format!("cannot write {}: {error}", path.display()))
        })
    }

    /// Writes most of a record, to be made the present one.
    pub(super) fn prepare(&self, record: &Record) -> Result<Prepared, CommandError> {
        let dir = self.state.ensure("map")?;
        let write = || -> io::Result<Prepared> {
            let mut file = NamedTempFile::new_in(&dir)?;
            let columns = record.columns(&mut |chunk| file.write_all(chunk))?;
            Ok(Prepared { file, columns })
        };
        write().map_err(|error| self.not_written(&error))
    }

    fn not_written(&self, error: &io::Error) -> CommandError {
        CommandError::new(Kind::Store, format!("cannot write {}: {error}", self.path(RECORD).display()))
    }

    /// Makes a record the present one, and removes answers of earlier ones.
    pub(super) fn put(&self, prepared: Prepared, about: &About) -> Result<(), CommandError> {
        let Prepared { mut file, columns } = prepared;
        let written = file.write_all(&columns.rest(about));
        written
            .and_then(|()| file.persist(self.path(RECORD)).map(drop).map_err(|error| error.error))
            .map_err(|error| self.not_written(&error))?;
        let dir = self.state.ensure("map")?;
        let present = self.answers(about.answers);
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "answers") && path != present {
                let _ = fs::remove_file(path);
            }
        }
        Ok(())
    }
}
