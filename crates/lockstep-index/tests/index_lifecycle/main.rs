//! Events in the life of an index: switched branches, changing files, damaged parts, several processes. An
//! answer from stale facts never claims to be fresh.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

mod damage;

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File, FileTimes};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use lockstep_index::index::{
    Index, IndexBuildOptions, IndexBuildOutcome, IndexLocation, IndexSettings, NoProgress, ScanScope,
    UpdatePolicy, VerifyResult, build, verify,
};
use lockstep_refs::world::World;
use lockstep_store::StateDir;

struct Tree {
    dir: tempfile::TempDir,
    state: StateDir,
}

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let tree = Self { state: StateDir::for_project(dir.path()), dir };
        files.iter().for_each(|(path, text)| tree.write(path, text));
        tree
    }

    fn root(&self) -> &Path {
        self.dir.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn open(&self) -> Index {
        Index::open_or_build(
            self.root(),
            IndexLocation::Project(&self.state),
            &IndexSettings::default(),
            &NoProgress,
        )
        .unwrap()
    }

    /// Queries the files with a word during the check of the disk. Returns the answer if the check found no
    /// change.
    fn ask_early(&self, word: &str, meanwhile: impl FnOnce(&Index)) -> (Index, Option<usize>) {
        let settings = IndexSettings::default();
        let ask = |index: &Index| {
            meanwhile(index);
            Some(index.containing(word).len())
        };
        Index::query_speculatively(
            self.root(),
            IndexLocation::Project(&self.state),
            &settings,
            &NoProgress,
            ask,
        )
        .unwrap()
    }

    /// Builds the index with its facts.
    fn build(&self) -> Index {
        let order = IndexBuildOptions { facts: true, ..IndexBuildOptions::default() };
        match build(self.root(), &self.state, &IndexSettings::default(), order, &NoProgress).unwrap() {
            IndexBuildOutcome::Done(index) => *index,
            IndexBuildOutcome::Busy(holder) => panic!("{holder:?}"),
        }
    }

    fn verdict(&self) -> VerifyResult {
        verify(self.root(), &self.state, &IndexSettings::default()).unwrap()
    }

    /// Opens the index and compares its answers with those of a new one.
    fn assert_true(&self, words: &[&str], when: &str) {
        let index = self.open();
        let anew =
            Index::open_or_build(self.root(), IndexLocation::Memory, &IndexSettings::default(), &NoProgress)
                .unwrap();
        assert_eq!(answers(&index, words), answers(&anew, words), "{when}");
        assert!(index.condition().fresh, "{when}");
    }

    fn git(&self, arguments: &[&str]) {
        let done = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@localhost"])
            .args(arguments)
            .current_dir(self.root())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(done.status.success(), "{arguments:?}: {done:?}");
    }
}

fn answers(index: &Index, words: &[&str]) -> BTreeMap<String, String> {
    let mut answers = BTreeMap::new();
    for file in index.files() {
        let facts = index.facts(file).map(|facts| format!("{facts:?}"));
        answers.insert(index.path(file).to_owned(), facts.unwrap_or_default());
    }
    for word in words {
        let files: Vec<&str> = index.containing(word).into_iter().map(|file| index.path(file)).collect();
        answers.insert(format!("word {word}"), files.join(" "));
    }
    answers
}

#[test]
fn branches_stashes_and_resets_leave_no_stale_answer() {
    let tree = Tree::new(&[
        ("a.py", "def one(): pass\n"),
        ("b/c.py", "from a import one\n"),
        (".gitignore", "out/\n"),
    ]);
    let words = ["one", "two", "three", "import", "six"];
    tree.git(&["init", "--quiet", "--initial-branch=main"]);
    tree.git(&["add", "--all"]);
    tree.git(&["commit", "--quiet", "-m", "one"]);
    tree.build();
    tree.git(&["checkout", "--quiet", "-b", "other"]);
    tree.write("a.py", "def two(): pass\n");
    tree.write("b/c.py", "from a import two\n");
    tree.write("d/new.py", "def six(): pass\n");
    fs::rename(tree.root().join("b"), tree.root().join("e")).unwrap();
    tree.assert_true(&words, "edited");
    tree.git(&["add", "--all"]);
    tree.git(&["commit", "--quiet", "-m", "two"]);
    tree.assert_true(&words, "committed");
    let commit = tree.open().condition().commit.unwrap();
    for round in 0..4 {
        tree.git(&["checkout", "--quiet", "main"]);
        tree.assert_true(&words, &format!("back on main, {round}"));
        assert_ne!(tree.open().condition().commit.unwrap(), commit);
        tree.git(&["checkout", "--quiet", "other"]);
        tree.assert_true(&words, &format!("on the other branch, {round}"));
        assert_eq!(tree.open().condition().commit.unwrap(), commit);
    }
    tree.write("a.py", "def three(): pass\n");
    tree.assert_true(&words, "before the stash");
    tree.git(&["stash", "--quiet"]);
    tree.assert_true(&words, "stashed");
    tree.git(&["stash", "pop", "--quiet"]);
    tree.assert_true(&words, "popped");
    tree.git(&["reset", "--quiet", "--hard", "main"]);
    tree.assert_true(&words, "reset");
    tree.git(&["rm", "--quiet", "-r", "--cached", "a.py"]);
    tree.git(&["clean", "--quiet", "-fd"]);
    tree.assert_true(&words, "cleaned");
}

#[test]
fn a_rewrite_with_the_same_time_and_size_is_detected() {
    let tree = Tree::new(&[("a.py", "def one(): pass\n"), ("b.py", "x = 1\n")]);
    std::thread::sleep(Duration::from_millis(40));
    tree.build();
    tree.open();
    let path = tree.root().join("a.py");
    let before = fs::metadata(&path).unwrap();
    let file = File::options().write(true).open(&path).unwrap();
    file.write_all_at(b"def two(): pass\n", 0).unwrap();
    let times =
        FileTimes::new().set_modified(before.modified().unwrap()).set_accessed(before.accessed().unwrap());
    file.set_times(times).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before.modified().unwrap());
    tree.assert_true(&["one", "two"], "time set back");
}

#[test]
fn a_rewrite_within_one_clock_tick_is_detected() {
    let tree = Tree::new(&[("a.py", "def one(): pass\n")]);
    for round in 0..20 {
        let name = ["one", "two", "six", "ten"][round % 4];
        let file = File::options().write(true).open(tree.root().join("a.py")).unwrap();
        file.write_all_at(format!("def {name}(): pass\n").as_bytes(), 0).unwrap();
        tree.assert_true(&["one", "two", "six", "ten"], name);
    }
}

#[test]
fn file_changed_after_the_scan_makes_the_answer_stale() {
    let tree = Tree::new(&[("a.py", "def one(): pass\n"), ("b.py", "def other(): pass\n")]);
    tree.open();
    let mut index = tree.open();
    let a = index.find("a.py").unwrap();
    assert!(index.condition().fresh);
    std::thread::sleep(Duration::from_millis(25));
    tree.write("a.py", "def two(): pass\n");
    assert!(format!("{:?}", index.facts(a).unwrap()).contains("two"), "what is told stands in the file");
    assert!(!index.condition().fresh, "but the answers are no longer of one moment");
    index.persist_facts().unwrap();
    tree.assert_true(&["one", "two"], "afterwards");
}

#[test]
fn a_speculative_answer_counts_only_if_nothing_changed() {
    let tree = Tree::new(&[("a.py", "def one(): pass\n"), ("d/b.py", "def other(): pass\n")]);
    let (index, early) = tree.ask_early("one", |_| panic!("there is nothing to ask yet"));
    assert_eq!((early, index.containing("one").len()), (None, 1));
    std::thread::sleep(Duration::from_millis(25));
    // This settles times that were too recent to be trusted.
    tree.open();
    let (index, early) =
        tree.ask_early("one", |index| assert!(index.is_current("a.py") && index.is_current("gone.py")));
    assert!(early == Some(1) && index.condition().fresh && !index.is_outdated());
    let changes: [(&str, &dyn Fn()); 4] = [
        ("another content", &|| tree.write("a.py", "def one(): two()\n")),
        ("a new file", &|| tree.write("d/new.py", "two = 1\n")),
        ("a file that is gone", &|| fs::remove_file(tree.root().join("a.py")).unwrap()),
        ("another rule", &|| tree.write(".gitignore", "d/new.py\n")),
    ];
    for (what, change) in changes {
        change();
        let (index, early) = tree.ask_early("two", |_| {});
        assert_eq!(early, None, "{what}");
        assert!(index.condition().fresh && !index.is_outdated(), "{what}");
        tree.assert_true(&["one", "two", "other"], what);
    }
}

#[test]
fn change_during_a_speculative_query_is_never_reported_as_fresh() {
    let tree = Tree::new(&[("a.py", "def one(): pass\n"), ("b.py", "def other(): pass\n")]);
    tree.open();
    for turn in 0..20 {
        std::thread::sleep(Duration::from_millis(25));
        tree.open();
        let (index, early) = tree.ask_early("one", |index| {
            tree.write("a.py", &format!("def one(): return {turn}\n"));
            assert!(!index.is_current("a.py"));
            assert!(index.text(index.find("a.py").unwrap()).unwrap().contains(&turn.to_string()));
        });
        // Either the check or the query read the file first; one of them has noticed the change.
        assert!(early.is_none() || !index.condition().fresh);
    }
}

#[test]
fn many_changes_are_deferred_and_the_answer_is_stale() {
    let tree = Tree::new(&[("a.py", "def one(): pass\n")]);
    for n in 0..400 {
        tree.write(&format!("d/{n}.py"), "x = 1\n");
    }
    tree.build();
    for n in 0..400 {
        tree.write(&format!("d/{n}.py"), "changed = 1\n");
    }
    fs::remove_file(tree.root().join("a.py")).unwrap();
    let few = Index::open(
        tree.root(),
        IndexLocation::Project(&tree.state),
        &IndexSettings::default(),
        UpdatePolicy::Bounded,
        &NoProgress,
    );
    let few = few.unwrap().unwrap();
    let condition = few.condition();
    assert!(!condition.fresh && condition.behind == 401, "{condition:?}");
    assert!(few.containing("changed").is_empty() && few.find("a.py").is_some(), "as the index knows it");
    let file = few.find("d/7.py").unwrap();
    assert_eq!(few.text(file).as_deref(), Some("changed = 1\n"), "but a line that is told is there");
    assert_eq!(tree.verdict(), VerifyResult::Behind { files: 401 });
    tree.assert_true(&["one", "changed"], "with whole effort");
    assert_eq!(tree.verdict(), VerifyResult::Fresh);
}

/// Facts are parsed once and kept; an update or a merge of tables does not lose them.
#[test]
fn facts_survive_many_updates() {
    let tree = Tree::new(&[("a.py", "def one(): pass\n"), ("b.py", "import a\n")]);
    tree.build();
    assert_eq!(tree.open().stats().facts_kept, 2);
    for round in 0..40 {
        tree.write("b.py", &format!("import a\nnumber_{round} = 1\n"));
        let mut index = tree.open();
        assert_eq!(index.stats().facts_kept, 1, "of the other file");
        let b = index.find("b.py").unwrap();
        assert!(index.facts(b).is_some());
        assert_eq!(index.persist_facts().unwrap(), 1);
        assert_eq!(tree.open().stats().facts_kept, 2);
        assert!(tree.open().containing(&format!("number_{}", round.max(1) - 1)).len() < 2);
    }
    let remaining = fs::read_dir(tree.state.index()).unwrap().count();
    assert!(remaining < 30, "{remaining} files in the index");
    assert_eq!(tree.verdict(), VerifyResult::Fresh);
}

/// With a partial check, the checked paths are up to date, the others are as before, and a full check finds
/// the rest.
#[test]
fn unscanned_changes_are_found_by_the_next_full_scan() {
    let tree = Tree::new(&[
        ("a.py", "def one(): pass\n"),
        ("b/c.py", "import a\n"),
        ("b/d/e.py", "import a\n"),
        ("gone/f.py", "import a\n"),
        ("gone/deep/g.py", "import a\n"),
        ("h/i.py", "import a\n"),
    ]);
    let words = ["one", "two", "three", "four", "five", "import", "six"];
    let glance = |paths: &[&str]| {
        let paths: HashSet<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        let home = IndexLocation::Project(&tree.state);
        let sight = ScanScope::Paths(&paths);
        let mut index =
            Index::open_deferred(tree.root(), home, &IndexSettings::default(), sight, &NoProgress).unwrap();
        index.persist_facts().unwrap();
        index
    };
    let paths_with = |index: &Index, word: &str| -> Vec<String> {
        index.containing(word).into_iter().map(|file| index.path(file).to_owned()).collect()
    };
    tree.build();
    tree.write("a.py", "def two(): pass\n");
    tree.write("b/c.py", "three\n");
    tree.write("b/d/e.py", "four\n");
    tree.write("new/deep/n.py", "five\n");
    tree.write("h/j.py", "six\n");
    fs::remove_dir_all(tree.root().join("gone")).unwrap();
    let index = glance(&["a.py"]);
    assert_eq!(paths_with(&index, "two"), ["a.py"]);
    // The root has added and removed entries, which the listing shows.
    assert_eq!(paths_with(&index, "five"), ["new/deep/n.py"]);
    assert!(paths_with(&index, "three").is_empty() && paths_with(&index, "four").is_empty());
    assert_eq!(paths_with(&glance(&["b"]), "three"), ["b/c.py"]);
    assert_eq!(paths_with(&glance(&[]), "four"), ["b/d/e.py"], "what is below a directory was looked at too");
    assert!(paths_with(&glance(&["nowhere/x.py", "h"]), "six").len() == 1);
    assert_eq!(tree.verdict(), VerifyResult::Fresh);
    tree.assert_true(&words, "all were named in turn");

    tree.write("b/c.py", "one\n");
    fs::remove_file(tree.root().join("h/i.py")).unwrap();
    fs::remove_dir_all(tree.root().join("b/d")).unwrap();
    assert_eq!(paths_with(&glance(&["h/i.py", "b/d/e.py"]), "import"), [""; 0]);
    assert_ne!(tree.verdict(), VerifyResult::Fresh, "a file was left out");
    tree.assert_true(&words, "a whole look");

    tree.write(".gitignore", "h/\n");
    assert_eq!(paths_with(&glance(&[".gitignore"]), "six"), [""; 0], "rules are rules for all");
    tree.assert_true(&words, "rules");
}

/// A deferred update is written once, with the facts, unless another process has written since.
#[test]
fn a_deferred_write_stores_the_update_that_was_computed() {
    let tree = Tree::new(&[("a.py", "def one(): pass\n"), ("b.py", "import a\n")]);
    tree.build();
    let later = || {
        let home = IndexLocation::Project(&tree.state);
        Index::open_deferred(tree.root(), home, &IndexSettings::default(), ScanScope::All, &NoProgress)
            .unwrap()
    };
    let manifest = || fs::read(tree.state.index().join("manifest")).unwrap();
    for round in 0..20 {
        let name = format!("name_{round}");
        match round % 4 {
            0 => tree.write("a.py", &format!("def {name}(): pass\n")),
            1 => tree.write(&format!("new_{round}.py"), &format!("def {name}(): pass\n")),
            2 => fs::remove_file(tree.root().join(format!("new_{}.py", round - 1))).unwrap(),
            _ => tree.write("b.py", &format!("import {name}\n")),
        }
        let mut index = later();
        assert!(index.condition().fresh);
        assert_eq!(index.containing(&name).len(), usize::from(round % 4 != 2));
        index.files().into_iter().for_each(|file| drop(index.facts(file)));
        if round % 3 == 0 {
            // Another process finds the same change first.
            tree.open();
            let before = manifest();
            assert_eq!(index.persist_facts().unwrap(), 0, "{name}");
            assert_eq!(manifest(), before, "{name}");
        } else {
            let before = manifest();
            index.persist_facts().unwrap();
            assert_ne!(manifest(), before, "{name}");
            assert_eq!(tree.verdict(), VerifyResult::Fresh, "{name}");
        }
        tree.assert_true(&["one", "import", &name], &name);
    }
    assert!(!tree.open().is_damaged());
    let facts = tree.open().stats().facts_kept;
    assert!(facts >= 1, "{facts}");
}
