//! Against real repositories.

use std::fs;
use std::path::Path;
use std::process::Command;

use lockstep_git::{DiffEntry, DiffRange, DiffStatus, Repository};

/// Returns a git command without the settings of the user who runs the tests.
fn command() -> Command {
    let mut git = Command::new("git");
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").env_remove("GIT_DIR");
    git
}

fn git(dir: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"];
    let output = command().arg("-C").arg(dir).args(identity).args(arguments).output().expect("git runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn commit(dir: &Path, message: &str) {
    git(dir, &["add", "-A"]);
    git(dir, &["commit", "-qm", message]);
}

/// A commit of a moment, in seconds since 1970: so that nothing depends on when the test runs.
fn commit_at(dir: &Path, message: &str, moment: i64) {
    commit(dir, message);
    let status = command()
        .args(["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--amend", "--no-edit"])
        .env("GIT_COMMITTER_DATE", format!("@{moment} +0000"))
        .current_dir(dir)
        .status();
    assert!(status.expect("git runs").success());
}

fn changed(path: &str, status: DiffStatus) -> DiffEntry {
    DiffEntry { path: path.to_owned(), status }
}

#[test]
fn every_kind_of_change_is_seen_with_its_former_content() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    git(root, &["init", "-q"]);
    fs::write(root.join("a b.txt"), "one\n").unwrap();
    fs::write(root.join("gone.txt"), "gone\n").unwrap();
    fs::write(root.join("öld.txt"), "some longer content\nthat is recognised\n").unwrap();
    let repository = Repository::discover(root).unwrap().unwrap();
    assert_eq!(repository.head().unwrap(), None);
    assert_eq!(repository.diff(&DiffRange::HeadToWorktree).unwrap().len(), 3);
    commit(root, "first");

    fs::write(root.join("a b.txt"), "two\n").unwrap();
    fs::remove_file(root.join("gone.txt")).unwrap();
    git(root, &["mv", "öld.txt", "new.txt"]);
    fs::write(root.join("untracked.txt"), "").unwrap();
    let found = repository.diff(&DiffRange::HeadToWorktree).unwrap();
    assert_eq!(
        found,
        [
            changed("a b.txt", DiffStatus::Modified),
            changed("gone.txt", DiffStatus::Deleted),
            changed("new.txt", DiffStatus::Renamed { from: "öld.txt".to_owned() }),
            changed("untracked.txt", DiffStatus::Added),
        ]
    );
    let among = |paths: &[&str]| {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        repository.diff_paths(&DiffRange::HeadToWorktree, &paths).unwrap()
    };
    assert_eq!(among(&["a b.txt"]), found[..1]);
    assert_eq!(among(&["new.txt"]), found, "what seems new may come from anywhere");
    assert_eq!(among(&["nowhere", "*.txt"]), [], "no pattern");
    assert_eq!(among(&[""]), found);
    let old = repository.old_revision(&DiffRange::HeadToWorktree).unwrap();
    let paths = ["a b.txt", "öld.txt", "missing"].map(str::to_owned);
    let contents = repository.read_blobs(&old, &paths).unwrap();
    assert_eq!(contents[0].as_deref(), Some(b"one\n".as_slice()));
    assert!(contents[1].as_deref().unwrap().starts_with(b"some"));
    assert_eq!(contents[2], None);

    let staged = repository.diff(&DiffRange::HeadToIndex).unwrap();
    assert_eq!(staged, [changed("new.txt", DiffStatus::Renamed { from: "öld.txt".to_owned() })]);
    commit(root, "second");
    assert_eq!(repository.diff(&DiffRange::HeadToWorktree).unwrap(), []);
    let last = repository.last_commit_range().unwrap().unwrap();
    assert_eq!(repository.diff(&last).unwrap().len(), 4);
    assert_eq!(repository.diff(&repository.parse_range("HEAD~1..HEAD").unwrap()).unwrap().len(), 4);
    assert!(repository.parse_range("nobody..HEAD").unwrap_err().to_string().contains("nobody"));
}

#[test]
fn a_directory_inside_sees_only_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    git(root, &["init", "-q"]);
    fs::create_dir(root.join("sub")).unwrap();
    fs::write(root.join("sub/a"), "1").unwrap();
    fs::write(root.join("b"), "1").unwrap();
    commit(root, "first");
    fs::write(root.join("sub/a"), "2").unwrap();
    fs::write(root.join("b"), "2").unwrap();
    let repository = Repository::discover(&root.join("sub")).unwrap().unwrap();
    assert_eq!(repository.diff(&DiffRange::HeadToWorktree).unwrap(), [changed("a", DiffStatus::Modified)]);
    let head = repository.head().unwrap().unwrap();
    assert_eq!(repository.read_blobs(&head, &["a".to_owned()]).unwrap(), [Some(b"1".to_vec())]);
}

#[test]
fn finds_files_that_change_together() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    git(root, &["init", "-q"]);
    let repository = Repository::discover(root).unwrap().unwrap();
    assert_eq!(repository.cochanges("a", 1).unwrap(), []);
    for n in 0..3 {
        fs::write(root.join("a"), n.to_string()).unwrap();
        fs::write(root.join("b"), n.to_string()).unwrap();
        fs::write(root.join(format!("c{n}")), "").unwrap();
        commit(root, "x");
    }
    let found = repository.cochanges("a", 2).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((&*found[0].path, found[0].together), ("b", 3));
}

#[test]
fn outside_of_any_repository() {
    let dir = tempfile::tempdir().unwrap();
    assert!(Repository::discover(dir.path()).unwrap().is_none());
}

#[test]
fn last_commit_times_are_known_unless_the_clone_is_shallow() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("whole");
    fs::create_dir(&root).unwrap();
    git(&root, &["init", "--quiet"]);
    let repository = Repository::discover(&root).unwrap().unwrap();
    assert_eq!(repository.committed_since(0).unwrap(), Some(Default::default()));
    fs::write(root.join("a b"), "1").unwrap();
    fs::write(root.join("c"), "1").unwrap();
    commit_at(&root, "first", 1_600_000_000);
    fs::write(root.join("c"), "2").unwrap();
    commit_at(&root, "second", 1_700_000_000);
    let since = |moment| repository.committed_since(moment).unwrap().unwrap().into_iter().collect::<Vec<_>>();
    let all = [("a b".to_owned(), 1_600_000_000), ("c".to_owned(), 1_700_000_000)];
    // Moments that git would read as a day of the month, or as no moment at all, are moments too.
    for moment in [i64::MIN, -1, 0, 12, 1_599_999_999] {
        assert_eq!(since(moment), all, "{moment}");
    }
    assert_eq!(since(1_600_000_001), all[1..]);
    assert_eq!(since(1_700_000_001), []);
    let url = format!("file://{}", root.display());
    git(dir.path(), &["clone", "--quiet", "--depth", "1", &url, "cut"]);
    let cut = Repository::discover(&dir.path().join("cut")).unwrap().unwrap();
    assert_eq!(cut.committed_since(0).unwrap(), None);
}
