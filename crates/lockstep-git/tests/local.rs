//! The reader of git's files agrees with the `git` program.

use std::fs;
use std::path::Path;
use std::process::Command;

use lockstep_git::local::{Blob, DiskFile, LocalRepository, LocalStatus};

fn git(dir: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env_remove("GIT_DIR")
        .arg("-C")
        .arg(dir)
        .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"])
        .args(["-c", "protocol.file.allow=always"])
        .args(arguments)
        .output()
        .expect("git runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text is UTF-8").trim_end().to_owned()
}

/// A repository with some history: a long file that changed a little in each of twenty commits, so that packs hold differences.
fn repository(dir: &Path, arguments: &[&str]) {
    fs::create_dir_all(dir.join("sub/deep")).expect("the file system works");
    git(dir, &[&["init", "-q"], arguments].concat());
    for round in 0..20 {
        let lines = (0..400).map(|n| format!("line {n} of {}\n", if n % 20 == round { round } else { 0 }));
        fs::write(dir.join("sub/long.txt"), lines.collect::<String>()).expect("the file system works");
        fs::write(dir.join("sub/deep/ö.txt"), format!("{round}\n")).expect("the file system works");
        fs::write(dir.join("empty"), "").expect("the file system works");
        git(dir, &["add", "-A"]);
        git(dir, &["commit", "-qm", "change"]);
    }
}

/// Every file of every commit, as git shows it, is read.
fn assert_equal_to_git(dir: &Path) {
    let local = LocalRepository::discover(dir).expect("git has it");
    assert_eq!(local.head().expect("git has it"), git(dir, &["rev-parse", "HEAD"]));
    for commit in git(dir, &["rev-list", "HEAD"]).lines() {
        for path in ["sub/long.txt", "sub/deep/ö.txt", "empty"] {
            let text = git(dir, &["show", &format!("{commit}:./{path}")]);
            let Blob::Content(read) = local.file(commit, path) else { panic!("{commit} {path}") };
            assert_eq!(String::from_utf8(read).expect("text is UTF-8").trim_end(), text);
        }
        for path in ["none", "sub", "empty/x", "sub/none"] {
            assert_eq!(local.file(commit, path), Blob::Absent, "{path}");
        }
    }
    let tracked: Vec<String> =
        local.tracked().expect("git has it").into_iter().map(|file| file.path).collect();
    let listed = git(dir, &["-c", "core.quotePath=false", "ls-files"]);
    assert_eq!(tracked, listed.lines().collect::<Vec<_>>());
}

#[test]
fn loose_and_packed_objects_are_read() {
    for arguments in [&[][..], &["--object-format=sha256"]] {
        let dir = tempfile::tempdir().unwrap();
        repository(dir.path(), arguments);
        assert_equal_to_git(dir.path());
        git(dir.path(), &["gc", "-q", "--aggressive"]);
        git(dir.path(), &["pack-refs", "--all"]);
        assert_equal_to_git(dir.path());
        let unpacked = LocalRepository::discover(&dir.path().join("sub")).unwrap();
        assert!(matches!(unpacked.file(&unpacked.head().unwrap(), "deep/ö.txt"), Blob::Content(_)));
        let below: Vec<String> = unpacked.tracked().unwrap().into_iter().map(|file| file.path).collect();
        assert_eq!(below, ["deep/ö.txt", "long.txt"]);
    }
}

#[test]
fn worktrees_detached_heads_submodules_and_borrowed_objects_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let main = dir.path().join("main");
    fs::create_dir(&main).unwrap();
    repository(&main, &[]);
    let name = |path: &Path| path.to_str().unwrap().to_owned();
    let [worktree, shared, outer] = ["worktree", "shared", "outer"].map(|name| dir.path().join(name));
    git(&main, &["worktree", "add", "-q", "--detach", &name(&worktree), "HEAD~3"]);
    assert_equal_to_git(&worktree);
    git(dir.path(), &["clone", "-q", "--shared", &name(&main), &name(&shared)]);
    assert_equal_to_git(&shared);
    fs::create_dir(&outer).unwrap();
    git(&outer, &["init", "-q"]);
    git(&outer, &["submodule", "--quiet", "add", &name(&main), "inner"]);
    assert_equal_to_git(&outer.join("inner"));
}

#[test]
fn tracked_files_are_read_in_every_version_of_the_list() {
    let dir = tempfile::tempdir().unwrap();
    repository(dir.path(), &[]);
    for version in ["2", "4"] {
        git(dir.path(), &["update-index", "--index-version", version]);
        assert_equal_to_git(dir.path());
    }
    // An intent-to-add entry makes git write version 3.
    git(dir.path(), &["update-index", "--index-version", "2"]);
    fs::write(dir.path().join("announced"), "x").unwrap();
    git(dir.path(), &["add", "-N", "announced"]);
    let local = LocalRepository::discover(dir.path()).unwrap();
    assert_eq!(local.tracked().unwrap().len(), 4);
    let long = local.tracked().unwrap().into_iter().find(|file| file.path == "sub/long.txt").unwrap();
    let content = fs::read(dir.path().join("sub/long.txt")).unwrap();
    assert!(local.is_recorded(&long, &content) && !local.is_recorded(&long, b"other"));
    git(dir.path(), &["update-index", "--split-index"]);
    assert_eq!(local.tracked(), None, "most entries are in another file");
}

#[test]
fn damage_is_unreadable_and_no_repository_is_none() {
    let dir = tempfile::tempdir().unwrap();
    assert!(LocalRepository::discover(dir.path()).is_none());
    repository(dir.path(), &[]);
    git(dir.path(), &["gc", "-q"]);
    let local = LocalRepository::discover(dir.path()).unwrap();
    let head = local.head().unwrap();
    let packs = dir.path().join(".git/objects/pack");
    for entry in fs::read_dir(packs).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.extension().is_some_and(|extension| extension == "pack") {
            let length = fs::metadata(&entry).unwrap().len();
            let mut bytes = fs::read(&entry).unwrap();
            bytes.truncate(usize::try_from(length / 3).unwrap());
            fs::remove_file(&entry).unwrap();
            fs::write(&entry, bytes).unwrap();
        }
    }
    assert_eq!(local.file(&head, "no/such"), local.file(&head, "no/such"));
    assert_eq!(local.file("none", "empty"), Blob::Unreadable);
    for path in ["sub/long.txt", "sub/deep/ö.txt"] {
        assert!(!matches!(local.file(&head, path), Blob::Absent), "damage is not absence");
    }
}

/// The files below a directory with their stamps.
fn on_disk(root: &Path) -> Vec<DiskFile> {
    use std::os::unix::fs::MetadataExt as _;
    let listed = git(root, &["-c", "core.quotePath=false", "ls-files", "-co", "--deduplicate"]);
    let file = |path: &str| {
        let meta = fs::symlink_metadata(root.join(path)).ok()?;
        let mtime = meta.mtime() * 1_000_000_000 + meta.mtime_nsec();
        Some(DiskFile { path: path.to_owned(), size: meta.len(), mtime, inode: meta.ino() })
    };
    listed.lines().filter_map(file).collect()
}

#[test]
fn the_status_is_that_of_the_checked_out_commit_whatever_is_staged() {
    use LocalStatus::{Added, Deleted, Modified};
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let local = || LocalRepository::discover(root).unwrap();
    git(root, &["init", "-q"]);
    assert_eq!(local().status(root, &[]), None, "there is no commit yet");
    repository(root, &[]);
    let status = || -> Vec<(String, LocalStatus)> { local().status(root, &on_disk(root)).unwrap() };
    assert_eq!(status(), []);
    fs::write(root.join("empty"), "x").unwrap();
    fs::write(root.join("new"), "x").unwrap();
    fs::remove_file(root.join("sub/deep/ö.txt")).unwrap();
    // The same content with another stamp is no change.
    fs::write(root.join("sub/long.txt"), fs::read(root.join("sub/long.txt")).unwrap()).unwrap();
    let expected =
        [("empty".to_owned(), Modified), ("new".to_owned(), Added), ("sub/deep/ö.txt".to_owned(), Deleted)];
    assert_eq!(status(), expected);
    git(root, &["add", "-A"]);
    assert_eq!(status(), expected, "staged or not");
    git(root, &["mv", "sub/long.txt", "sub/moved.txt"]);
    assert_eq!(status()[3..], [("sub/long.txt".to_owned(), Deleted), ("sub/moved.txt".to_owned(), Added)]);
    let below = root.join("sub");
    let found = LocalRepository::discover(&below).unwrap().status(&below, &on_disk(&below)).unwrap();
    assert_eq!(found.len(), 3, "{found:?}");
}

/// In both forms of the list of tracked files, with and without something staged.
#[test]
fn files_outside_of_a_sparse_checkout_are_not_deleted() {
    for form in ["--sparse-index", "--no-sparse-index"] {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        repository(root, &[]);
        fs::create_dir(root.join("kept")).unwrap();
        fs::write(root.join("kept/a"), "a\n").unwrap();
        git(root, &["add", "-A"]);
        git(root, &["commit", "-qm", "kept"]);
        git(root, &["sparse-checkout", "set", "--cone", form, "kept"]);
        assert!(!root.join("sub").exists());
        let status = || LocalRepository::discover(root).unwrap().status(root, &on_disk(root)).unwrap();
        assert_eq!(status(), [], "{form}");
        fs::write(root.join("kept/a"), "b\n").unwrap();
        git(root, &["add", "kept/a"]);
        assert_eq!(status(), [("kept/a".to_owned(), LocalStatus::Modified)], "{form}");
    }
}

#[test]
fn converted_line_ends_are_no_difference() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    git(root, &["init", "-q"]);
    git(root, &["config", "core.autocrlf", "true"]);
    fs::write(root.join("a"), "one\r\ntwo\r\n").unwrap();
    git(root, &["add", "a"]);
    git(root, &["commit", "-qm", "a"]);
    let status = || LocalRepository::discover(root).unwrap().status(root, &on_disk(root)).unwrap();
    fs::write(root.join("a"), "one\r\ntwo\r\n").unwrap();
    assert_eq!(status(), []);
    fs::write(root.join("a"), "one\r\nthree\r\n").unwrap();
    assert_eq!(status().len(), 1);
}

#[test]
fn repository_is_found_behind_a_link() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("repository");
    repository(&root, &[]);
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(root.join("sub"), &link).unwrap();
    let local = LocalRepository::discover(&link).unwrap();
    let head = local.head().unwrap();
    assert!(matches!(local.file(&head, "long.txt"), Blob::Content(_)));
}

#[test]
fn contents_are_compared_where_the_list_is_split() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    repository(root, &[]);
    git(root, &["update-index", "--split-index"]);
    fs::write(root.join("new"), "x").unwrap();
    git(root, &["add", "new"]);
    let local = LocalRepository::discover(root).unwrap();
    assert_eq!(local.tracked(), None, "the list is in two files");
    let status = || local.status(root, &on_disk(root)).unwrap();
    assert_eq!(status(), [("new".to_owned(), LocalStatus::Added)]);
    fs::remove_file(root.join("sub/long.txt")).unwrap();
    assert_eq!(status().len(), 2);
}
