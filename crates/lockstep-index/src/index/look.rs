//! Looking whether the disk is still as the file table says, without walking the tree: known files by their versions, new and
//! vanished ones by the times of known directories.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{AtFlags, Mode, OFlags};

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

/// Looks at everything the table knows, on as many threads as there are cores.
pub(crate) fn look(root: &Path, files: &Files, limit: u64) -> Look {
    let by_directory = files.by_directory();
    let helpers = threads::besides(files.len() / FILES_PER_THREAD);
    let next = AtomicUsize::new(0);
    let eye = Eye { root, files, by_directory: &by_directory, limit };
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
    files: &'a Files,
    by_directory: &'a ByDirectory,
    limit: u64,
}

impl Eye<'_> {
    fn look_at(&self, directory: usize, look: &mut Look) {
        let number = u32::try_from(directory).expect("directories are numbered with 32 bits");
        let known = self.files.directories[directory];
        let relative = self.files.directory_paths.get(directory);
        let path = if relative.is_empty() { self.root.to_owned() } else { self.root.join(relative) };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&path, flags, Mode::empty());
        let Ok((fd, stat)) = opened.and_then(|fd| rustix::fs::fstat(&fd).map(|stat| (fd, stat))) else {
            look.gone.push(number);
            look.vanished.extend_from_slice(self.by_directory.of(directory));
            look.rules_changed |= known.rules != 0;
            return;
        };
        let now = Version::of_stat(&stat);
        let touched = (now.changed, now.inode) != (known.changed, known.inode);
        // Another repository since somebody said `git init` in it.
        if touched && !relative.is_empty() && path.join(".git").symlink_metadata().is_ok() {
            look.rules_changed = true;
        }
        if touched {
            look.touched.push(number);
        }
        if touched || known.rules != 0 {
            look.rules_changed |= rules::of_directory(&path) != known.rules;
        }
        for &file in self.by_directory.of(directory) {
            let name = lockstep_refs::world::base(self.files.paths.get(file as usize));
            let stat = rustix::fs::statat(&fd, name, AtFlags::SYMLINK_NOFOLLOW);
            match stat {
                Ok(stat) => self.compare(file, &Version::of_stat(&stat), look),
                Err(_) => look.vanished.push(file),
            }
        }
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
