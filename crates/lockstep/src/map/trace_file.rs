//! The file of query results, read in the requested pieces.

use std::borrow::Cow;
use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use lockstep_fs::PositionedIo as _;
use lockstep_map::update::TraceSource;

/// After this many reads, the complete file is read.
const RANDOM_READ_LIMIT: usize = 500;

/// The file of answers of a record.
pub(super) struct TraceFile {
    path: Option<PathBuf>,
    file: OnceLock<Option<(File, u64)>>,
    whole: OnceLock<Vec<u8>>,
    /// The number of reads.
    asked: AtomicUsize,
}

impl TraceFile {
    /// Returns an empty file of query results.
    pub(super) fn none() -> Self {
        Self { path: None, file: OnceLock::new(), whole: OnceLock::new(), asked: AtomicUsize::new(0) }
    }

    pub(super) fn at(path: PathBuf) -> Self {
        Self { path: Some(path), ..Self::none() }
    }

    fn file(&self) -> Option<&(File, u64)> {
        let open = || {
            let file = lockstep_fs::open(self.path.as_ref()?).ok()?;
            let length = file.metadata().ok()?.len();
            Some((file, length))
        };
        self.file.get_or_init(open).as_ref()
    }

    fn whole(&self) -> &[u8] {
        self.whole.get_or_init(|| {
            self.path
                .as_ref()
                .and_then(|path| lockstep_fs::read_up_to(path, lockstep_fs::MAX_STATE_BYTES).ok())
                .unwrap_or_default()
        })
    }
}

impl TraceSource for TraceFile {
    fn read(&self, range: Range<u64>) -> Option<Cow<'_, [u8]>> {
        if self.asked.fetch_add(1, Ordering::Relaxed) > RANDOM_READ_LIMIT {
            let range = usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?;
            return self.whole().get(range).map(Cow::Borrowed);
        }
        let (file, length) = self.file()?;
        // Memory is not allocated for a range beyond the file.
        if range.end > *length {
            return None;
        }
        let mut bytes = vec![0; usize::try_from(range.end.checked_sub(range.start)?).ok()?];
        file.read_exact_at(&mut bytes, range.start).ok()?;
        Some(Cow::Owned(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn reads_existing_ranges_repeatedly_and_no_others() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.answers");
        fs::write(&path, b"0123456789").unwrap();
        let answers = TraceFile::at(path);
        for _ in 0..RANDOM_READ_LIMIT {
            assert_eq!(answers.read(2..5).as_deref(), Some(b"234".as_slice()));
            assert_eq!(answers.read(10..10).as_deref(), Some(b"".as_slice()));
            assert_eq!(answers.read(9..11), None);
            assert_eq!(answers.read(0..u64::MAX), None);
        }
        assert_eq!(TraceFile::none().read(0..1), None);
    }
}
