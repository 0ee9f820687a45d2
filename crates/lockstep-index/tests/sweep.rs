//! The sweep as a hook uses it, on real trees.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use lockstep_index::sweep::{SweepOutcome, baseline, drift, sweep};
use lockstep_index::{IndexError, reported_writes};
use lockstep_model::change::ChangeKind;
use lockstep_store::StateDir;

struct Tree {
    dir: tempfile::TempDir,
    state: StateDir,
}

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let tree = Self { state: StateDir::for_project(dir.path()), dir };
        for (path, content) in files {
            tree.write(path, content);
        }
        baseline(tree.root(), &tree.state).unwrap();
        tree
    }

    fn root(&self) -> &Path {
        self.dir.path()
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Writes a file as a tool does, with its account.
    fn tool_writes(&self, path: &str, content: &str) {
        self.write(path, content);
        reported_writes::record(self.root(), &self.state, &self.root().join(path)).unwrap();
    }

    fn sweep(&self) -> Vec<(String, ChangeKind)> {
        let mut found = Vec::new();
        sweep(
            self.root(),
            &self.state,
            || i64::MAX,
            |_| Vec::new(),
            |_| false,
            |changes| {
                found = changes;
                Ok::<(), IndexError>(())
            },
        )
        .unwrap();
        let relative = |path: &PathBuf| path.strip_prefix(self.root()).unwrap().to_str().unwrap().to_owned();
        found.into_iter().map(|(path, kind)| (relative(&path), kind)).collect()
    }

    fn names(&self) -> Vec<(String, &'static str)> {
        self.sweep().into_iter().map(|(path, kind)| (path, kind.as_str())).collect()
    }
}

fn owned<'a>(expected: &[(&str, &'a str)]) -> Vec<(String, &'a str)> {
    expected.iter().map(|(path, kind)| ((*path).to_owned(), *kind)).collect()
}

#[test]
fn finds_what_a_shell_did_and_finds_it_once() {
    let tree = Tree::new(&[("a", "1"), ("b", "1"), ("d/c", "1"), ("d/e/f", "1")]);
    assert!(tree.names().is_empty());
    tree.write("a", "22");
    tree.write("new/deep/file", "1");
    fs::remove_file(tree.root().join("b")).unwrap();
    fs::rename(tree.root().join("d"), tree.root().join("moved")).unwrap();
    assert_eq!(
        tree.names(),
        owned(&[
            ("a", "written"),
            ("b", "deleted"),
            ("d/c", "renamed_to"),
            ("d/e/f", "renamed_to"),
            ("moved/c", "renamed_from"),
            ("moved/e/f", "renamed_from"),
            ("new/deep/file", "created"),
        ])
    );
    assert!(tree.names().is_empty());
}

#[test]
fn reported_write_is_not_swept_but_a_later_change_is() {
    let tree = Tree::new(&[("a", "1"), ("b", "1")]);
    tree.tool_writes("a", "two");
    tree.tool_writes("fresh", "1");
    tree.write("b", "shell");
    assert_eq!(tree.names(), owned(&[("b", "written")]));
    tree.tool_writes("a", "three");
    tree.write("a", "shell after tool");
    assert_eq!(tree.names(), owned(&[("a", "written")]));
    fs::remove_file(tree.root().join("fresh")).unwrap();
    assert_eq!(tree.names(), owned(&[("fresh", "deleted")]));
}

#[test]
fn a_rewrite_of_the_same_size_within_one_tick_of_the_clock_is_found() {
    let tree = Tree::new(&[("a", "one")]);
    for content in ["two", "six", "ten", "one"] {
        // Written in place, so that neither inode nor size change.
        let file = fs::OpenOptions::new().write(true).open(tree.root().join("a")).unwrap();
        file.write_all_at(content.as_bytes(), 0).unwrap();
        assert_eq!(tree.names(), owned(&[("a", "written")]), "{content}");
    }
}

#[test]
fn ignored_files_are_not_swept_even_when_a_tool_wrote_them() {
    let tree = Tree::new(&[(".gitignore", "out/\n*.log\n"), ("out/x", "1")]);
    tree.write("out/y", "1");
    tree.write("z.log", "1");
    tree.tool_writes("out/z", "1");
    assert!(tree.names().is_empty());
    tree.write("out/w", "1");
    fs::remove_file(tree.root().join("out/z")).unwrap();
    assert!(tree.names().is_empty());
}

#[test]
fn changed_rules_are_no_changes_of_the_files_they_let_in_or_out() {
    let tree = Tree::new(&[(".gitignore", "old.txt\n"), ("old.txt", "1"), ("kept.txt", "1")]);
    // Old enough not to count as new.
    std::thread::sleep(std::time::Duration::from_millis(40));
    baseline(tree.root(), &tree.state).unwrap();
    tree.write(".gitignore", "kept.txt\n");
    tree.write("born", "1");
    assert_eq!(tree.names(), owned(&[(".gitignore", "written"), ("born", "created")]));
    tree.write("sub/.lockstepignore", "secret\n");
    tree.write("sub/secret", "1");
    assert_eq!(tree.names(), owned(&[("sub/.lockstepignore", "created")]));
}

#[test]
fn a_failed_report_leaves_the_changes_for_the_next_sweep() {
    let tree = Tree::new(&[("a", "1")]);
    tree.write("a", "22");
    let failed = sweep(
        tree.root(),
        &tree.state,
        || i64::MAX,
        |_| Vec::new(),
        |_| false,
        |_| Err(IndexError::Busy { path: "x".into(), seconds: 1 }),
    );
    assert!(failed.is_err());
    assert_eq!(tree.names(), owned(&[("a", "written")]));
}

#[test]
fn a_file_that_a_tool_is_writing_is_left_to_its_event() {
    let tree = Tree::new(&[("a", "1"), ("b", "1")]);
    let sweep_pending = |names: &[&str]| {
        let mut found = Vec::new();
        let is_pending = |path: &Path| names.iter().any(|name| path.ends_with(name));
        let report = |changes| {
            found = changes;
            Ok::<(), IndexError>(())
        };
        sweep(tree.root(), &tree.state, || i64::MAX, |_| Vec::new(), is_pending, report).unwrap();
        found
            .into_iter()
            .map(|(path, _)| path.strip_prefix(tree.root()).unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    for name in ["a", "b", "new", "failed"] {
        tree.write(name, "22");
    }
    assert_eq!(sweep_pending(&["a", "new", "failed"]), [Path::new("b")]);
    // The events of two of the tools arrive; that of the third never does.
    for name in ["a", "new"] {
        reported_writes::record(tree.root(), &tree.state, &tree.root().join(name)).unwrap();
    }
    assert_eq!(sweep_pending(&[]), [Path::new("failed")]);
    tree.write("new", "333");
    assert_eq!(sweep_pending(&[]), [Path::new("new")]);
    assert!(sweep_pending(&[]).is_empty());
}

#[test]
fn without_a_baseline_nothing_is_claimed() {
    let tree = Tree::new(&[("a", "1")]);
    fs::write(tree.state.index().join("catalogue"), "damaged").unwrap();
    let report = |_: Vec<_>| -> Result<(), IndexError> { panic!("nothing to compare with") };
    assert_eq!(drift(tree.root(), &tree.state).unwrap(), None);
    assert_eq!(
        sweep(tree.root(), &tree.state, || i64::MAX, |_| Vec::new(), |_| false, report).unwrap(),
        SweepOutcome::NoBaseline
    );
    tree.write("a", "22");
    assert_eq!(drift(tree.root(), &tree.state).unwrap(), Some(1));
    assert_eq!(tree.names(), owned(&[("a", "written")]));
}

#[test]
fn a_baseline_takes_everything_for_known() {
    let tree = Tree::new(&[("a", "1")]);
    tree.write("a", "22");
    tree.write("b", "1");
    tree.tool_writes("c", "1");
    baseline(tree.root(), &tree.state).unwrap();
    assert!(tree.names().is_empty());
}

#[test]
fn sweeps_at_the_same_time_report_each_change_once() {
    let tree = Tree::new(&[]);
    for n in 0..200 {
        tree.write(&format!("d{}/f{n}", n % 7), "1");
    }
    let all = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                sweep(
                    tree.root(),
                    &tree.state,
                    || i64::MAX,
                    |_| Vec::new(),
                    |_| false,
                    |found| {
                        all.lock().unwrap().extend(found);
                        Ok::<(), IndexError>(())
                    },
                )
                .unwrap();
            });
        }
    });
    assert_eq!(all.into_inner().unwrap().len(), 200);
}
