//! Damaged parts, concurrent readers, the scope of a framework, and cancelled builds.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lockstep_index::index::{
    Index, IndexBuildOptions, IndexLocation, IndexPhase, IndexProgress, IndexSettings, NoProgress,
    VerifyResult, build,
};
use lockstep_refs::world::World;

use crate::{Tree, answers};

/// Flips one bit at many positions of every part. An answer is correct, or the index gives none.
#[test]
fn corruption_gives_no_wrong_answer_and_is_repaired() {
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
            index.persist_facts().unwrap();
            tree.assert_true(&words, &format!("after {} at {at}", path.display()));
            // Restores the parts for the next round.
            parts().keys().for_each(|path| fs::remove_file(path).unwrap());
            sound.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
        }
    }
}

#[test]
fn readers_never_wait_and_never_see_a_partial_write() {
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
                let order = IndexBuildOptions { anew: round % 7 == 0, facts: round % 3 == 0 };
                build(tree.root(), &tree.state, &IndexSettings::default(), order, &NoProgress).unwrap();
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
                    index.persist_facts().unwrap();
                }
            });
        }
        writer.join().unwrap();
    });
    assert!(!tree.open().is_damaged());
    tree.assert_true(&["version_0", "version_7", "version_59", "version_50"], "in the end");
}

#[test]
fn the_claude_preset_indexes_the_frameworks_own_files() {
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
    let paths = |settings: &IndexSettings| -> Vec<String> {
        let index =
            Index::open_or_build(tree.root(), IndexLocation::Project(&tree.state), settings, &NoProgress)
                .unwrap();
        index.files().into_iter().map(|file| index.path(file).to_owned()).collect()
    };
    let claude = paths(&IndexSettings::default().only_claude());
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
    assert_eq!(paths(&IndexSettings::default()).len(), 8, "other settings, another index");
    let narrow = IndexSettings {
        include: vec!["/src/".into()],
        exclude: vec!["*.md".into()],
        ..IndexSettings::default()
    };
    assert_eq!(paths(&narrow), ["src/main.rs"]);
    let wrong = IndexSettings { exclude: vec!["a{".into()], ..IndexSettings::default() };
    assert!(Index::open_or_build(tree.root(), IndexLocation::Memory, &wrong, &NoProgress).is_err());
}

/// A receiver that gives up after the first files.
#[derive(Default)]
struct Impatient(AtomicBool);

impl IndexProgress for Impatient {
    fn report(&self, _: IndexPhase, _: usize, _: usize) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn a_cancelled_build_ends_and_leaves_the_old_index() {
    let tree = Tree::new(&[]);
    (0..2_000).for_each(|n| tree.write(&format!("m{n}.py"), &format!("alpha = {n}\n")));
    let home = || IndexLocation::Project(&tree.state);
    let opened = Index::open_or_build(tree.root(), home(), &IndexSettings::default(), &Impatient::default());
    assert!(opened.is_err_and(|error| error.to_string().contains("index")));
    assert_eq!(tree.verdict(), VerifyResult::Missing);
    // The abandoned build has left no trace.
    tree.assert_true(&["alpha"], "after a build that was abandoned");
}
