//! Looking whether the disk is still as the file table says, without walking the tree: known files by their versions, new and
//! vanished ones by the times of known directories.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};

use super::content;
use super::files::{ByDirectory, Files};
use super::rules;
use super::version::{Version, now};
use crate::threads;

/// What is not as the table says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    /// Files with another version.
    pub(crate) changed: Vec<u32>,
    /// Files that are gone, or whose directory is.
    pub(crate) vanished: Vec<u32>,
    /// Files whose time was too young to be trusted and now is old enough.
    pub(crate) settled: Vec<u32>,
    /// Directories in which something came or went.
    pub(crate) touched: Vec<u32>,
    /// Directories that are gone.
    pub(crate) gone: Vec<u32>,
    /// Whether ignore rules changed, so that everything must be listed again.
    pub(crate) rules_changed: bool,
}

impl Look {
    pub(crate) fn is_as_before(&self) -> bool {
        *self == Self::default()
    }

    fn append(&mut self, mut other: Self) {
        self.changed.append(&mut other.changed);
        self.vanished.append(&mut other.vanished);
        self.settled.append(&mut other.settled);
        self.touched.append(&mut other.touched);
        self.gone.append(&mut other.gone);
        self.rules_changed |= other.rules_changed;
    }
}

/// Fewer files than this are looked at sooner than a thread is started.
const FILES_PER_THREAD: usize = 2_000;

/// Directories that a thread takes at a time.
const BATCH: usize = 8;

/// A directory of fewer files is not opened for them: opening and closing take longer than the longer paths.
const WORTH_OPENING: usize = 3;

/// Looks at everything the table knows, on as many threads as there are cores.
pub(crate) fn look(root: &Path, files: &Files, limit: u64) -> Look {
    let by_directory = files.by_directory();
    let helpers = threads::besides(files.len() / FILES_PER_THREAD);
    let next = AtomicUsize::new(0);
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    // Paths from here are shorter. Without it nothing is found, which is so.
    let base = rustix::fs::open(root, flags, Mode::empty()).ok();
    let eye = Eye { root, base: base.as_ref().map(AsFd::as_fd), files, by_directory: &by_directory, limit };
    let work = || {
        let mut look = Look::default();
        loop {
            let start = next.fetch_add(BATCH, Ordering::Relaxed);
            let end = (start + BATCH).min(files.directories.len());
            if start >= end {
                return look;
            }
            (start..end).for_each(|directory| eye.look_at(directory, &mut look));
        }
    };
    let mut look = std::thread::scope(|scope| {
        let helpers: Vec<_> = (0..helpers).map(|_| scope.spawn(work)).collect();
        let mut look = work();
        for helper in helpers {
            look.append(helper.join().expect("looking at files does not panic"));
        }
        look
    });
    for list in [&mut look.changed, &mut look.vanished, &mut look.settled, &mut look.touched, &mut look.gone]
    {
        list.sort_unstable();
    }
    look
}

struct Eye<'a> {
    root: &'a Path,
    /// The root, opened.
    base: Option<BorrowedFd<'a>>,
    files: &'a Files,
    by_directory: &'a ByDirectory,
    limit: u64,
}

impl Eye<'_> {
    fn look_at(&self, directory: usize, look: &mut Look) {
        let number = u32::try_from(directory).expect("directories are numbered with 32 bits");
        let known = self.files.directories[directory];
        let relative = self.files.directory_paths.get(directory);
        let files = self.by_directory.of(directory);
        let Some((opened, now)) = self.directory(relative, files.len()) else {
            look.gone.push(number);
            look.vanished.extend_from_slice(files);
            look.rules_changed |= known.rules != 0;
            return;
        };
        let touched = (now.changed, now.inode) != (known.changed, known.inode);
        if touched || known.rules != 0 {
            let path = self.root.join(relative);
            // Another repository since somebody said `git init` in it.
            look.rules_changed |=
                touched && !relative.is_empty() && path.join(".git").symlink_metadata().is_ok();
            look.rules_changed |= rules::of_directory(&path) != known.rules;
        }
        if touched {
            look.touched.push(number);
        }
        for &file in files {
            let path = self.files.paths.get(file as usize);
            let stat = match &opened {
                Some(fd) => {
                    rustix::fs::statat(fd, lockstep_refs::world::base(path), AtFlags::SYMLINK_NOFOLLOW).ok()
                }
                None => {
                    self.base.and_then(|base| rustix::fs::statat(base, path, AtFlags::SYMLINK_NOFOLLOW).ok())
                }
            };
            match stat {
                Some(stat) => self.compare(file, &Version::of_stat(&stat), look),
                None => look.vanished.push(file),
            }
        }
    }

    /// A directory with its version, opened where more is asked about it than opening it costs; `None` where it is gone, or no
    /// directory any more.
    fn directory(&self, relative: &str, files: usize) -> Option<(Option<OwnedFd>, Version)> {
        let base = self.base?;
        let path = if relative.is_empty() { "." } else { relative };
        if files < WORTH_OPENING {
            let stat = rustix::fs::statat(base, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
            return is_directory.then(|| (None, Version::of_stat(&stat)));
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(base, path, flags, Mode::empty()).ok()?;
        let stat = rustix::fs::fstat(&fd).ok()?;
        Some((Some(fd), Version::of_stat(&stat)))
    }

    fn compare(&self, file: u32, present: &Version, look: &mut Look) {
        let known = &self.files.records[file as usize].version;
        if !known.looks_like(present) {
            look.changed.push(file);
        } else if known.digest != 0 {
            self.read_again(file, known, look);
        }
    }

    /// Another content under the same time is a second write within one tick of the clock.
    fn read_again(&self, file: u32, known: &Version, look: &mut Look) {
        let path = self.root.join(self.files.paths.get(file as usize));
        let mut buffer = Vec::new();
        let content = content::read(&path, self.limit, &mut buffer);
        let present = content.map(|content| content.version).unwrap_or_default();
        if !known.is_of(&present, &buffer) {
            look.changed.push(file);
        } else if !known.is_racy(now()) {
            look.settled.push(file);
        }
    }
}
