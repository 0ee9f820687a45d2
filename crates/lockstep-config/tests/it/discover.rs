//! Real directories, links and git worktrees.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use lockstep_config::keys::SweepTiming;
use lockstep_config::{DiscoverError, Project};
use tempfile::TempDir;

/// A directory of its own, by its real name.
struct Place {
    path: PathBuf,
    _directory: TempDir,
}

impl Place {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        Self { path: directory.path().canonicalize().unwrap(), _directory: directory }
    }

    fn dir(&self, name: impl AsRef<Path>) -> PathBuf {
        let path = self.path.join(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn file(&self, name: impl AsRef<Path>, text: &str) -> PathBuf {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn git(&self, directory: &Path, arguments: &[&str]) {
        let output = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "protocol.file.allow=always"])
            .args(arguments)
            .current_dir(directory)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", &self.path)
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// A repository with one commit, and a worktree linked to it.
    fn linked_worktree(&self, main: &str, linked: &str) -> (PathBuf, PathBuf) {
        let main = self.dir(main);
        self.git(&main, &["init", "-q"]);
        self.git(&main, &["commit", "-q", "--allow-empty", "-m", "start"]);
        let linked = self.path.join(linked);
        self.git(&main, &["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
        (main, linked)
    }
}

fn found(start: &Path) -> Option<Project> {
    Project::of_directory(start).unwrap()
}

fn project(root: impl Into<PathBuf>, config_path: impl Into<PathBuf>) -> Option<Project> {
    Some(Project { root: root.into(), config_path: config_path.into() })
}

#[test]
fn the_nearest_ancestor_wins() {
    let place = Place::new();
    let outer = place.file("lockstep.toml", "");
    let inner = place.file("packages/a/lockstep.toml", "");
    let deep = place.dir("packages/a/src/deep");
    assert_eq!(found(&deep), project(place.path.join("packages/a"), &inner));
    assert_eq!(found(&place.dir("packages/b")), project(&place.path, &outer));
    assert_eq!(Project::of_file(&deep.join("x.rs")).unwrap(), project(place.path.join("packages/a"), &inner));
    assert_eq!(Project::of_file(&inner).unwrap(), project(place.path.join("packages/a"), &inner));
    assert_eq!(Project::of_file(&place.path.join("gone/away/x.rs")).unwrap(), project(&place.path, &outer));
}

#[test]
fn no_file_means_inactive() {
    let place = Place::new();
    assert_eq!(found(&place.dir("a/b")), None);
    assert_eq!(found(&place.file("a/file", "").join("below")), None);
    assert_eq!(found(&place.path.join("x".repeat(300)).join("y")), None);
}

#[test]
fn dots_are_resolved_by_name() {
    let place = Place::new();
    place.file("a/b/lockstep.toml", "");
    place.dir("a/c");
    assert_eq!(found(&place.path.join("a/b/../c")), None);
    assert!(matches!(Project::of_directory(Path::new("a")), Err(DiscoverError::Relative { .. })));
}

#[test]
fn a_hook_asks_the_clients_directory_first() {
    let place = Place::new();
    let client = place.file("client/lockstep.toml", "");
    let cwd = place.file("cwd/lockstep.toml", "");
    let (named, cwd_dir) = (place.path.join("client"), place.path.join("cwd"));
    assert_eq!(Project::of_hook(Some(&named), &cwd_dir).unwrap(), project(&named, &client));
    assert_eq!(Project::of_hook(Some(&place.dir("other")), &cwd_dir).unwrap(), project(&cwd_dir, &cwd));
    for nothing in [None, Some(Path::new(""))] {
        assert_eq!(Project::of_hook(nothing, &cwd_dir).unwrap(), project(&cwd_dir, &cwd));
    }
    assert_eq!(Project::of_hook(Some(&place.dir("other")), &place.dir("more")).unwrap(), None);
}

#[test]
fn a_name_need_not_be_utf8() {
    let place = Place::new();
    let name = Path::new(OsStr::from_bytes(b"caf\xe9"));
    let config = place.file(name.join("lockstep.toml"), "");
    assert_eq!(found(&place.dir(name.join("src"))), project(place.path.join(name), config));
}

#[test]
fn unusable_configuration_file_is_an_error() {
    let place = Place::new();
    let directory = place.dir("directory/lockstep.toml");
    let dangling = place.dir("dangling").join("lockstep.toml");
    symlink("nowhere", &dangling).unwrap();
    let looped = place.dir("looped").join("lockstep.toml");
    symlink("lockstep.toml", &looped).unwrap();
    let special = place.dir("special").join("lockstep.toml");
    symlink("/dev/null", &special).unwrap();
    let fault = |path: &Path| Project::of_file(path).unwrap_err();
    assert!(matches!(fault(&directory), DiscoverError::NotAFile { kind: "a directory", .. }));
    assert!(matches!(fault(&dangling), DiscoverError::BrokenLink { .. }));
    assert!(matches!(fault(&looped), DiscoverError::BrokenLink { .. }));
    assert!(matches!(fault(&special), DiscoverError::NotAFile { kind: "a special file", .. }));
    for path in [&directory, &dangling, &looped, &special] {
        assert!(fault(path).to_string().contains(path.to_str().unwrap()));
    }
}

#[test]
fn a_link_to_a_file_is_followed() {
    let place = Place::new();
    place.file("shared.toml", "[journal]\nsweep = \"off\"\n");
    let link = place.dir("project").join("lockstep.toml");
    symlink("../shared.toml", &link).unwrap();
    let project = found(&place.path.join("project")).unwrap();
    assert_eq!(project.config_path, link);
    assert_eq!(project.load().unwrap().config.journal.sweep, SweepTiming::Off);
}

/// Returns true if permissions apply to this user; they do not apply to root.
fn permissions_bind(place: &Place) -> bool {
    let probe = place.file("probe", "");
    fs::set_permissions(&probe, fs::Permissions::from_mode(0o000)).unwrap();
    fs::read(&probe).is_err()
}

#[test]
fn a_file_that_may_not_be_read_is_a_fault() {
    let place = Place::new();
    let config = place.file("project/lockstep.toml", "");
    fs::set_permissions(&config, fs::Permissions::from_mode(0o000)).unwrap();
    let project = found(&place.path.join("project")).expect("it is active");
    if permissions_bind(&place) {
        assert!(matches!(project.load(), Err(DiscoverError::Unreadable { .. })));
    }
    fs::remove_file(&config).unwrap();
    assert!(matches!(project.load(), Err(DiscoverError::Unreadable { .. })), "gone since it was found");
}

#[test]
fn a_start_that_may_not_be_searched_is_a_fault() {
    let place = Place::new();
    place.file("project/lockstep.toml", "");
    let root = place.path.join("project");
    fs::set_permissions(&root, fs::Permissions::from_mode(0o600)).unwrap();
    let outcome = Project::of_directory(&root.join("src"));
    fs::set_permissions(&root, fs::Permissions::from_mode(0o700)).unwrap();
    if permissions_bind(&place) {
        assert!(matches!(outcome, Err(DiscoverError::Unreadable { .. })), "{outcome:?}");
    }
}

#[test]
fn load_reports_the_size_of_an_oversized_file() {
    let place = Place::new();
    let config = place.file("lockstep.toml", "");
    fs::File::options().write(true).open(&config).unwrap().set_len(10 << 30).unwrap();
    let loaded = found(&place.path).unwrap().load().unwrap();
    assert_eq!(loaded.problems.len(), 1);
}

#[test]
fn a_linked_worktree_reads_the_main_ones_file_and_is_its_own_root() {
    let place = Place::new();
    let (main, linked) = place.linked_worktree("main", "elsewhere/linked");
    let below = linked.join("src");
    fs::create_dir(&below).unwrap();
    assert_eq!(found(&below), None, "the main worktree has none, nor has any directory above");

    let config = place.file("main/lockstep.toml", "");
    assert_eq!(found(&below), project(&linked, &config));
    assert_eq!(found(&linked), project(&linked, &config));

    let own = linked.join("lockstep.toml");
    fs::write(&own, "").unwrap();
    assert_eq!(found(&below), project(&linked, &own));
    assert_eq!(found(&main), project(&main, &config));
}

#[test]
fn discovery_continues_above_a_worktree_without_configuration() {
    let place = Place::new();
    let (_, linked) = place.linked_worktree("main", "outer/linked");
    let outer = place.file("outer/lockstep.toml", "");
    assert_eq!(found(&linked), project(place.path.join("outer"), &outer));
}

#[test]
fn a_linked_worktree_inside_the_main_one() {
    let place = Place::new();
    let config = place.file("main/lockstep.toml", "");
    let (_, linked) = place.linked_worktree("main", "main/.worktrees/linked");
    assert_eq!(found(&linked), project(&linked, &config));
}

#[test]
fn a_relative_gitdir_is_followed() {
    let place = Place::new();
    let (_, linked) = place.linked_worktree("main", "linked");
    fs::write(linked.join(".git"), "gitdir: ../main/.git/worktrees/linked\n").unwrap();
    let config = place.file("main/lockstep.toml", "");
    assert_eq!(found(&linked), project(&linked, &config));
}

#[test]
fn a_fault_in_the_main_worktree_is_a_fault_in_the_linked_one() {
    let place = Place::new();
    let (main, linked) = place.linked_worktree("main", "linked");
    fs::create_dir(main.join("lockstep.toml")).unwrap();
    assert!(matches!(Project::of_directory(&linked), Err(DiscoverError::NotAFile { .. })));
}

#[test]
fn a_bare_repository_has_no_main_worktree() {
    let place = Place::new();
    let (main, _) = place.linked_worktree("main", "unused");
    let store = place.dir("store");
    place.git(&store, &["clone", "-q", "--bare", main.to_str().unwrap(), "repo.git"]);
    let linked = place.path.join("linked");
    place.git(&store.join("repo.git"), &["worktree", "add", "-q", linked.to_str().unwrap(), "side"]);
    place.file("store/lockstep.toml", "");
    assert_eq!(found(&linked), None);
}

#[test]
fn a_submodule_is_no_worktree() {
    let place = Place::new();
    let library = place.dir("library");
    place.git(&library, &["init", "-q"]);
    place.git(&library, &["commit", "-q", "--allow-empty", "-m", "start"]);
    let main = place.dir("main");
    place.git(&main, &["init", "-q"]);
    place.git(&main, &["submodule", "--quiet", "add", library.to_str().unwrap(), "sub"]);
    assert!(main.join("sub/.git").is_file());
    let config = place.file("main/lockstep.toml", "");
    assert_eq!(found(&main.join("sub")), project(&main, &config));
}

#[test]
fn ignores_git_file_without_worktree() {
    for content in ["", "gitdir:", "gitdir: /nowhere/.git/worktrees/x\n", "\u{0}", "worktrees/x"] {
        let place = Place::new();
        let config = place.file("lockstep.toml", "");
        let inner = place.dir("inner");
        place.file("inner/.git", content);
        assert_eq!(found(&inner), project(&place.path, &config), "{content:?}");
    }
}
