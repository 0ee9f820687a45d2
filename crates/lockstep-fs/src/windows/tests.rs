//! The items of this platform, on real files.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::*;
use crate::{FileKind, FileLock, FileStamp, Links, ensure_private_dir, open_to_write, write_atomically};

#[test]
fn bytes_are_read_and_written_at_offsets() {
    let dir = tempfile::tempdir().unwrap();
    let file = open_to_write(dir.path().join("f")).unwrap();
    file.write_all_at(b"one two", 0).unwrap();
    file.write_all_at(b"six", 4).unwrap();
    let mut read = [0; 3];
    file.read_exact_at(&mut read, 4).unwrap();
    assert_eq!(&read, b"six");
    assert!(file.read_exact_at(&mut read, 6).is_err());
    assert_eq!(file.read_at(&mut read, 6).unwrap(), 1);
}

#[test]
fn appended_lines_follow_those_of_another_handle() {
    let dir = tempfile::tempdir().unwrap();
    let append = || no_follow().read(true).append(true).create(true).open(dir.path().join("j")).unwrap();
    let (mut one, mut two) = (append(), append());
    one.write_all(b"a\n").unwrap();
    two.write_all(b"b\n").unwrap();
    one.write_all(b"c\n").unwrap();
    assert_eq!(fs::read(dir.path().join("j")).unwrap(), b"a\nb\nc\n");
}

#[test]
fn a_lock_excludes_others_until_it_is_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lock");
    let lock = FileLock::acquire(&path, Duration::ZERO).unwrap().unwrap();
    lock.set_note("process 1\n");
    assert!(FileLock::acquire(&path, Duration::ZERO).unwrap().is_none());
    drop(lock);
    assert_eq!(FileLock::note(&path), "process 1\n");
    assert!(FileLock::acquire(&path, Duration::ZERO).unwrap().is_some());
}

#[test]
fn a_file_that_is_open_for_a_moment_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    write_atomically(&path, b"one", 0o600).unwrap();
    let reader = crate::open(&path).unwrap();
    let reading = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        drop(reader);
    });
    write_atomically(&path, b"two", 0o600).unwrap();
    reading.join().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
}

#[test]
fn entries_have_kinds_and_stamps() {
    let dir = tempfile::tempdir().unwrap();
    assert!(ensure_private_dir(&dir.path().join("sub"), false).unwrap());
    fs::write(dir.path().join("sub/f"), "text").unwrap();
    let open = Dir::open(dir.path(), Links::Follow).unwrap();
    assert_eq!(open.entry("sub", Links::Refuse).unwrap().kind, FileKind::Directory);
    let sub = open.open_below("sub", Links::Refuse).unwrap();
    let file = sub.entry(c"f", Links::Refuse).unwrap();
    let meta = fs::metadata(dir.path().join("sub/f")).unwrap();
    assert_eq!((file.kind, file.stamp), (FileKind::Regular, FileStamp::from(&meta)));
    assert!(file.stamp.size == 4 && file.stamp.mtime > 1_600_000_000_000_000_000);
    let path = dir.path().join("sub");
    let listed = list(non_blocking().read(true).open(&path).unwrap(), &path).unwrap();
    assert_eq!(listed, [(c"f".to_owned(), FileKind::Regular)]);
    assert!(Dir::open(Path::new("f"), Links::Follow).is_err());
}

#[test]
fn hard_links_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    fs::write(&path, "text").unwrap();
    let meta = fs::metadata(&path).unwrap();
    assert!(!has_other_links(&path, &meta));
    fs::hard_link(&path, dir.path().join("g")).unwrap();
    assert!(has_other_links(&path, &meta));
}

/// Options under which a file that another process has open cannot be opened.
fn exclusively() -> fs::OpenOptions {
    use std::os::windows::fs::OpenOptionsExt as _;
    let mut options = fs::OpenOptions::new();
    options.write(true).share_mode(0);
    options
}

/// The variable that makes the test below the process whose descendants end with it.
const BOUND: &str = "LOCKSTEP_TEST_BOUND";

#[test]
fn descendants_end_with_a_bound_process() {
    let name = "platform::tests::descendants_end_with_a_bound_process";
    let own = |role: &str| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", name, "--nocapture"]).env(BOUND, role);
        command
    };
    match std::env::var(BOUND).as_deref() {
        Ok("child") => std::thread::sleep(Duration::from_secs(600)),
        Ok(file) => {
            process::bind_descendants().unwrap();
            // It has the file open as long as it lives.
            let child = own("child").stdout(fs::File::create(file).unwrap()).spawn().unwrap();
            drop(child);
        }
        Err(_) => {
            let dir = tempfile::tempdir().unwrap();
            let file = dir.path().join("held");
            let status = own(file.to_str().unwrap()).status().unwrap();
            assert!(status.success(), "{status}");
            let is_free = || exclusively().open(&file).is_ok();
            assert!((0..500).any(|_| is_free() || {
                std::thread::sleep(Duration::from_millis(20));
                false
            }));
        }
    }
}
