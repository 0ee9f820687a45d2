//! Events in the life of an index: switched branches, changing files, damaged parts, several processes. An
//! answer from stale facts never claims to be fresh.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File, FileTimes};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lockstep_index::index::{
    Built, Effort, Home, Index, Order, Phase, Progress, Settings, Sight, Unwatched, Verdict, build, verify,
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
        Index::open_or_build(self.root(), Home::State(&self.state), &Settings::default(), &Unwatched).unwrap()
    }

    /// Queries the files with a word during the check of the disk. Returns the answer if the check found no
    /// change.
    fn ask_early(&self, word: &str, meanwhile: impl FnOnce(&Index)) -> (Index, Option<usize>) {
        let settings = Settings::default();
        let ask = |index: &Index| {
            meanwhile(index);
            Some(index.containing(word).len())
        };
        Index::open_and_ask(self.root(), Home::State(&self.state), &settings, &Unwatched, ask).unwrap()
    }

    /// Builds the index with its facts.
    fn build(&self) -> Index {
        let order = Order { facts: true, ..Order::default() };
        match build(self.root(), &self.state, &Settings::default(), order, &Unwatched).unwrap() {
            Built::Done(index) => *index,
            Built::Busy(holder) => panic!("{holder:?}"),
        }
    }

    fn verdict(&self) -> Verdict {
        verify(self.root(), &self.state, &Settings::default()).unwrap()
    }

    /// Opens the index and compares its answers with those of a new one.
    fn assert_true(&self, words: &[&str], when: &str) {
        let index = self.open();
        let anew = Index::open_or_build(self.root(), Home::Memory, &Settings::default(), &Unwatched).unwrap();
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
fn a_rewrite_that_hides_its_time_and_size_is_noticed() {
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
fn a_rewrite_within_one_tick_of_the_clock_is_noticed() {
    let tree = Tree::new(&[("a.py", "def one(): pass\n")]);
    for round in 0..20 {
        let name = ["one", "two", "six", "ten"][round % 4];
        let file = File::options().write(true).open(tree.root().join("a.py")).unwrap();
        file.write_all_at(format!("def {name}(): pass\n").as_bytes(), 0).unwrap();
        tree.assert_true(&["one", "two", "six", "ten"], name);
    }
}

#[test]
fn a_file_that_changes_after_the_look_makes_the_answer_stale_and_is_not_kept() {
    let tree = Tree::new(&[("a.py", "def one(): pass\n"), ("b.py", "def other(): pass\n")]);
    tree.open();
    let mut index = tree.open();
    let a = index.find("a.py").unwrap();
    assert!(index.condition().fresh);
    std::thread::sleep(Duration::from_millis(25));
    tree.write("a.py", "def two(): pass\n");
    assert!(format!("{:?}", index.facts(a).unwrap()).contains("two"), "what is told stands in the file");
    assert!(!index.condition().fresh, "but the answers are no longer of one moment");
    index.keep_parsed().unwrap();
    tree.assert_true(&["one", "two"], "afterwards");
}

#[test]
fn an_early_answer_counts_only_where_nothing_changed() {
    let tree = Tree::new(&[("a.py", "def one(): pass\n"), ("d/b.py", "def other(): pass\n")]);
    let (index, early) = tree.ask_early("one", |_| panic!("there is nothing to ask yet"));
    assert_eq!((early, index.containing("one").len()), (None, 1));
    std::thread::sleep(Duration::from_millis(25));
    // This settles times that were too recent to be trusted.
    tree.open();
    let (index, early) =
        tree.ask_early("one", |index| assert!(index.knows("a.py") && index.knows("gone.py")));
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
            assert!(!index.knows("a.py"));
            assert!(index.text(index.find("a.py").unwrap()).unwrap().contains(&turn.to_string()));
        });
        // Either the check or the query read the file first; one of them has noticed the change.
        assert!(early.is_none() || !index.condition().fresh);
    }
}

#[test]
fn many_changes_are_not_waited_for_and_the_answer_says_so() {
    let tree = Tree::new(&[("a.py", "def one(): pass\n")]);
    for n in 0..400 {
        tree.write(&format!("d/{n}.py"), "x = 1\n");
    }
    tree.build();
    for n in 0..400 {
        tree.write(&format!("d/{n}.py"), "changed = 1\n");
    }
    fs::remove_file(tree.root().join("a.py")).unwrap();
    let few =
        Index::open(tree.root(), Home::State(&tree.state), &Settings::default(), Effort::Few, &Unwatched);
    let few = few.unwrap().unwrap();
    let condition = few.condition();
    assert!(!condition.fresh && condition.behind == 401, "{condition:?}");
    assert!(few.containing("changed").is_empty() && few.find("a.py").is_some(), "as the index knows it");
    let file = few.find("d/7.py").unwrap();
    assert_eq!(few.text(file).as_deref(), Some("changed = 1\n"), "but a line that is told is there");
    assert_eq!(tree.verdict(), Verdict::Behind { files: 401 });
    tree.assert_true(&["one", "changed"], "with whole effort");
    assert_eq!(tree.verdict(), Verdict::Fresh);
}

/// Facts are parsed once and kept; an update or a merge of tables does not lose them.
#[test]
fn facts_are_kept_over_many_updates() {
    let tree = Tree::new(&[("a.py", "def one(): pass\n"), ("b.py", "import a\n")]);
    tree.build();
    assert_eq!(tree.open().stats().facts_kept, 2);
    for round in 0..40 {
        tree.write("b.py", &format!("import a\nnumber_{round} = 1\n"));
        let mut index = tree.open();
        assert_eq!(index.stats().facts_kept, 1, "of the other file");
        let b = index.find("b.py").unwrap();
        assert!(index.facts(b).is_some());
        assert_eq!(index.keep_parsed().unwrap(), 1);
        assert_eq!(tree.open().stats().facts_kept, 2);
        assert!(tree.open().containing(&format!("number_{}", round.max(1) - 1)).len() < 2);
    }
    let kept = fs::read_dir(tree.state.index()).unwrap().count();
    assert!(kept < 30, "{kept} files in the index");
    assert_eq!(tree.verdict(), Verdict::Fresh);
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
        let home = Home::State(&tree.state);
        let sight = Sight::Only(&paths);
        let mut index =
            Index::open_and_keep_later(tree.root(), home, &Settings::default(), sight, &Unwatched).unwrap();
        index.keep_parsed().unwrap();
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
    assert_eq!(tree.verdict(), Verdict::Fresh);
    tree.assert_true(&words, "all were named in turn");

    tree.write("b/c.py", "one\n");
    fs::remove_file(tree.root().join("h/i.py")).unwrap();
    fs::remove_dir_all(tree.root().join("b/d")).unwrap();
    assert_eq!(paths_with(&glance(&["h/i.py", "b/d/e.py"]), "import"), [""; 0]);
    assert_ne!(tree.verdict(), Verdict::Fresh, "a file was left out");
    tree.assert_true(&words, "a whole look");

    tree.write(".gitignore", "h/\n");
    assert_eq!(paths_with(&glance(&[".gitignore"]), "six"), [""; 0], "rules are rules for all");
    tree.assert_true(&words, "rules");
}

/// A deferred update is written once, with the facts, unless another process has written since.
#[test]
fn an_update_that_is_written_later_is_the_one_that_was_found() {
    let tree = Tree::new(&[("a.py", "def one(): pass\n"), ("b.py", "import a\n")]);
    tree.build();
    let later = || {
        let home = Home::State(&tree.state);
        Index::open_and_keep_later(tree.root(), home, &Settings::default(), Sight::Whole, &Unwatched).unwrap()
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
            assert_eq!(index.keep_parsed().unwrap(), 0, "{name}");
            assert_eq!(manifest(), before, "{name}");
        } else {
            let before = manifest();
            index.keep_parsed().unwrap();
            assert_ne!(manifest(), before, "{name}");
            assert_eq!(tree.verdict(), Verdict::Fresh, "{name}");
        }
        tree.assert_true(&["one", "import", &name], &name);
    }
    assert!(!tree.open().is_damaged());
    let facts = tree.open().stats().facts_kept;
    assert!(facts >= 1, "{facts}");
}

/// Flips one bit at many positions of every part. An answer is correct, or the index gives none.
#[test]
fn damage_gives_no_wrong_answer_and_is_mended() {
    let tree = Tree::new(&[
        ("a.py", "def one(): pass\n"),
        ("b.py", "from a import one\n"),
        ("c.md", "one `a.py`\n"),
    ]);
    std::thread::sleep(Duration::from_millis(40));
    tree.build();
    let words = ["one", "a", "import"];
    let parts = || -> BTreeMap<_, _> {
        let entries = fs::read_dir(tree.state.index()).unwrap().map(|entry| entry.unwrap().path());
        let parts = entries
            .filter(|path| path.extension().is_some_and(|e| e != "lock") || path.ends_with("manifest"));
        parts.map(|path| (path.clone(), fs::read(&path).unwrap())).collect()
    };
    let sound = parts();
    assert_eq!(sound.len(), 4, "{:?}", sound.keys());
    let truth = answers(&tree.open(), &words);
    for (path, bytes) in &sound {
        for at in (0..bytes.len()).step_by(7) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            fs::write(path, &damaged).unwrap();
            let mut index = tree.open();
            for (question, answer) in answers(&index, &words) {
                let expected = &truth[&question];
                // A word that cannot be looked up may be in any file: the answer has too many files, never
                // too few.
                let is_there = expected.split(' ').all(|part| answer.contains(part));
                assert!(is_there, "{} at {at}: {question}: {answer}", path.display());
            }
            index.keep_parsed().unwrap();
            tree.assert_true(&words, &format!("after {} at {at}", path.display()));
            // Restores the parts for the next round.
            parts().keys().for_each(|path| fs::remove_file(path).unwrap());
            sound.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
        }
    }
}

#[test]
fn readers_never_wait_and_never_see_half() {
    let tree = Tree::new(&[]);
    for n in 0..60 {
        tree.write(&format!("d{}/{n}.py", n % 5), "version_0 = 0\n");
    }
    tree.build();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 1..60 {
                tree.write(&format!("d{}/{round}.py", round % 5), &format!("version_{round} = 0\n"));
                if round % 10 == 0 {
                    fs::remove_file(tree.root().join(format!("d{}/{round}.py", round % 5))).unwrap();
                }
                // A process that is overtaken keeps its update in memory, which is no error.
                let order = Order { anew: round % 7 == 0, facts: round % 3 == 0 };
                build(tree.root(), &tree.state, &Settings::default(), order, &Unwatched).unwrap();
            }
            done.store(true, Ordering::Relaxed);
        });
        for _ in 0..3 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let mut index = tree.open();
                    for round in 0..60 {
                        for file in index.containing(&format!("version_{round}")) {
                            let text = index.text(file);
                            let is_there =
                                text.is_some_and(|text| text.contains(&format!("version_{round} ")));
                            assert!(is_there || !index.condition().fresh, "{}", index.path(file));
                            index.facts(file);
                        }
                    }
                    index.keep_parsed().unwrap();
                }
            });
        }
        writer.join().unwrap();
    });
    assert!(!tree.open().is_damaged());
    tree.assert_true(&["version_0", "version_7", "version_59", "version_50"], "in the end");
}

#[test]
fn the_scope_of_a_framework_is_its_own_files() {
    let tree = Tree::new(&[
        (".claude/agents/reviewer.md", "x"),
        (".claude/skills/plan/SKILL.md", "x"),
        (".claude/skills/plan/resources/a.json", "x"),
        (".claude/settings.json", "{}"),
        (".claude/agent-memory/x.md", "x"),
        (".claude/hooks/a.sh", "x"),
        (".claude/hooks/a.log", "x"),
        ("src/main.rs", "x"),
    ]);
    let paths = |settings: &Settings| -> Vec<String> {
        let index =
            Index::open_or_build(tree.root(), Home::State(&tree.state), settings, &Unwatched).unwrap();
        index.files().into_iter().map(|file| index.path(file).to_owned()).collect()
    };
    let claude = paths(&Settings::default().only_claude());
    assert_eq!(
        claude,
        [
            ".claude/agents/reviewer.md",
            ".claude/hooks/a.sh",
            ".claude/settings.json",
            ".claude/skills/plan/SKILL.md",
            ".claude/skills/plan/resources/a.json"
        ]
    );
    assert_eq!(paths(&Settings::default()).len(), 8, "other settings, another index");
    let narrow =
        Settings { include: vec!["/src/".into()], exclude: vec!["*.md".into()], ..Settings::default() };
    assert_eq!(paths(&narrow), ["src/main.rs"]);
    let wrong = Settings { exclude: vec!["a{".into()], ..Settings::default() };
    assert!(Index::open_or_build(tree.root(), Home::Memory, &wrong, &Unwatched).is_err());
}

/// A receiver that gives up after the first files.
#[derive(Default)]
struct Impatient(AtomicBool);

impl Progress for Impatient {
    fn report(&self, _: Phase, _: usize, _: usize) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_abandoned(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn a_build_that_nobody_waits_for_ends_and_leaves_what_was_there() {
    let tree = Tree::new(&[]);
    (0..2_000).for_each(|n| tree.write(&format!("m{n}.py"), &format!("alpha = {n}\n")));
    let home = || Home::State(&tree.state);
    let opened = Index::open_or_build(tree.root(), home(), &Settings::default(), &Impatient::default());
    assert!(opened.is_err_and(|error| error.to_string().contains("index")));
    assert_eq!(tree.verdict(), Verdict::Missing);
    // The abandoned build has left no trace.
    tree.assert_true(&["alpha"], "after a build that was abandoned");
}
