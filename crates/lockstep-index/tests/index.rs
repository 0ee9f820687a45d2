//! The index on real trees: after any change of files, it answers like a new index.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use lockstep_index::index::{Index, IndexLocation, IndexSettings, NoProgress, UpdatePolicy};
use lockstep_refs::work::Work;
use lockstep_refs::world::World;
use lockstep_store::StateDir;
use proptest::prelude::*;

const WORDS: [&str; 6] = ["alpha", "beta", "gamma", "delta", "x1", "öl"];

/// A change of the tree. There are few names, so that steps collide.
#[derive(Debug, Clone)]
enum Step {
    Write(String, Vec<usize>),
    Binary(String),
    Remove(String),
    RemoveTree(String),
    Rename(String, String),
    Ignore(String, String),
    Link(String, String),
    Repository(String),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let dir = prop_oneof![Just(""), Just("d/"), Just("d/e/"), Just("d-f/")];
    let path = (dir, 0..4_u8).prop_map(|(dir, n)| format!("{dir}x{n}.py"));
    let tree = prop_oneof![Just("d"), Just("d/e"), Just("d-f")].prop_map(str::to_owned);
    let rules =
        prop_oneof![Just("x1.py\n"), Just("e/\n"), Just(""), Just("*.py\n!x2.py\n")].prop_map(str::to_owned);
    let step = prop_oneof![
        6 => (path.clone(), proptest::collection::vec(0..WORDS.len(), 0..5)).prop_map(|(path, words)| Step::Write(path, words)),
        1 => path.clone().prop_map(Step::Binary),
        2 => path.clone().prop_map(Step::Remove),
        1 => tree.clone().prop_map(Step::RemoveTree),
        2 => (path.clone(), path.clone()).prop_map(|(a, b)| Step::Rename(a, b)),
        1 => (tree.clone(), tree.clone()).prop_map(|(a, b)| Step::Rename(a, b)),
        2 => (prop_oneof![Just(".gitignore"), Just("d/.gitignore"), Just(".lockstepignore"), Just(".git/info/exclude")], rules)
            .prop_map(|(file, rules)| Step::Ignore(file.to_owned(), rules)),
        1 => (tree.clone(), path).prop_map(|(to, at)| Step::Link(to, at)),
        1 => (tree.clone(), tree.clone()).prop_map(|(to, at)| Step::Link(to, at)),
        1 => tree.prop_map(Step::Repository),
    ];
    proptest::collection::vec(step, 1..8)
}

fn apply(root: &Path, step: &Step) {
    let at = |path: &str| root.join(path);
    let write = |path: &str, content: &[u8]| {
        let _ = fs::create_dir_all(at(path).parent().unwrap());
        fs::write(at(path), content)
    };
    // A step that is impossible in this tree does nothing.
    let _ = match step {
        Step::Write(path, words) => {
            let words: Vec<&str> = words.iter().map(|word| WORDS[*word]).collect();
            write(path, words.join(" ").as_bytes())
        }
        Step::Binary(path) => write(path, b"alpha\0beta"),
        Step::Remove(path) => fs::remove_file(at(path)),
        Step::RemoveTree(path) => fs::remove_dir_all(at(path)),
        Step::Rename(from, to) => fs::rename(at(from), at(to)),
        Step::Ignore(file, rules) => write(file, rules.as_bytes()),
        Step::Link(to, from) => {
            let _ = fs::remove_dir_all(at(from));
            std::os::unix::fs::symlink(at(to), at(from))
        }
        Step::Repository(path) => fs::create_dir(at(path).join(".git")),
    };
}

/// Returns all answers of an index, by path.
fn answers(index: &Index) -> BTreeMap<String, Vec<String>> {
    let paths = |files: Vec<_>| files.into_iter().map(|file| index.path(file).to_owned()).collect::<Vec<_>>();
    let mut answers = BTreeMap::new();
    for file in index.files() {
        let path = index.path(file).to_owned();
        assert_eq!(index.find(&path), Some(file));
        let text = index.text(file).map(|text| text.to_string());
        let facts = index.facts(file).map(|facts| format!("{facts:?}"));
        answers.insert(format!("file {path}"), [text, facts].into_iter().flatten().collect());
    }
    for word in WORDS {
        answers.insert(format!("word {word}"), paths(index.containing(word)));
    }
    answers.insert("two words".to_owned(), paths(index.containing("alpha-beta")));
    for directory in ["", "d", "d/e", "d-f", "nowhere"] {
        answers.insert(format!("directory {directory}"), paths(index.directory(directory)));
    }
    for name in ["x0.py", "x1.py", ".gitignore", "nobody"] {
        answers.insert(format!("named {name}"), paths(index.named(name)));
    }
    answers.insert("unseen".to_owned(), vec![format!("{:?}", index.condition().unseen)]);
    answers
}

fn open(root: &Path, home: IndexLocation<'_>) -> Index {
    Index::open_or_build(root, home, &IndexSettings::default(), &NoProgress).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Some rounds wait until times can be trusted, so that both code paths run. Some check once before the
    /// edits are over.
    #[test]
    fn an_updated_index_answers_like_a_rebuilt_one(
        rounds in proptest::collection::vec((steps(), any::<bool>(), any::<bool>()), 1..6),
    ) {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join(".git/info")).unwrap();
        let state = StateDir::for_project(root.path());
        for (steps, settle, between) in rounds {
            for step in &steps {
                apply(root.path(), step);
                if between {
                    open(root.path(), IndexLocation::Project(&state));
                }
            }
            if settle {
                std::thread::sleep(Duration::from_millis(21));
            }
            let updated = open(root.path(), IndexLocation::Project(&state));
            let anew = open(root.path(), IndexLocation::Memory);
            prop_assert_eq!(answers(&updated), answers(&anew), "{:?}", steps);
            prop_assert!(updated.condition().fresh);
        }
    }
}

#[test]
fn without_an_index_a_quick_question_builds_none() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("a"), "alpha").unwrap();
    let state = StateDir::for_project(root.path());
    let quick = || {
        Index::open(
            root.path(),
            IndexLocation::Project(&state),
            &IndexSettings::default(),
            UpdatePolicy::Bounded,
            &NoProgress,
        )
        .unwrap()
    };
    assert!(quick().is_none());
    assert!(!state.exists(), "nothing is written");
    open(root.path(), IndexLocation::Project(&state));
    assert_eq!(quick().unwrap().containing("alpha").len(), 1);
}

#[test]
fn stored_facts_answer_packages_and_definitions_undecoded() {
    let dir = tempfile::tempdir().unwrap();
    let state = StateDir::for_project(dir.path());
    fs::write(dir.path().join("a.go"), "package kit\n\nfunc Make() int { return other.Take() }\n").unwrap();
    fs::write(dir.path().join("b.py"), "from kit import make\n\ndef use():\n    make().taken\n").unwrap();
    let mut index = open(dir.path(), IndexLocation::Project(&state));
    index.files().into_iter().for_each(|file| drop(index.facts(file)));
    assert_eq!(index.persist_facts().unwrap(), 2);
    let index = open(dir.path(), IndexLocation::Project(&state));
    let [a, b] = ["a.go", "b.py"].map(|path| index.find(path).unwrap());
    assert_eq!(index.package(a).as_deref(), Some("kit"));
    assert_eq!(index.package(b), None);
    assert!(index.may_define(a, "Make") && !index.may_define(a, "Take"));
    assert!(index.may_define(b, "make") && !index.may_define(b, "taken"));
    assert_eq!(index.definitions_named(b, "use"), [0]);
    assert!(index.definitions_named(b, "make").is_empty(), "it is imported");
    let facts = index.facts(a).unwrap();
    assert_eq!(facts.package, index.package(a));
    assert!(index.may_define(a, "Make"), "as before");
}

#[test]
fn names_in_stored_facts_are_found_after_tables_were_merged() {
    let dir = tempfile::tempdir().unwrap();
    let state = StateDir::for_project(dir.path());
    let paths: Vec<String> = (0..20).map(|at| format!("file{at}.go")).collect();
    for (at, path) in paths.iter().enumerate() {
        let text = format!("package kit\n\nfunc Make{at}() {{}}\n\nfunc Maker() {{ Take{at}() }}\n");
        fs::write(dir.path().join(path), text).unwrap();
        let mut index = open(dir.path(), IndexLocation::Project(&state));
        drop(index.facts(index.find(path).unwrap()));
        assert_eq!(index.persist_facts().unwrap(), 1);
    }
    fs::write(dir.path().join("file3.go"), "package kit\n").unwrap();
    let index = open(dir.path(), IndexLocation::Project(&state));
    for (at, path) in paths.iter().enumerate().filter(|(at, _)| *at != 3) {
        let file = index.find(path).unwrap();
        assert!(index.may_define(file, &format!("Make{at}")) && index.may_define(file, "Maker"));
        assert!(!index.may_define(file, "Make"), "it is a part of another name");
        assert!(!index.may_define(file, &format!("Take{at}")), "it is only used");
    }
    let changed = index.find("file3.go").unwrap();
    assert!(index.may_define(changed, "Make3"), "its facts are not stored");
}

#[test]
fn a_file_that_was_not_read_everywhere_may_define_any_name() {
    let dir = tempfile::tempdir().unwrap();
    let state = StateDir::for_project(dir.path());
    let nested =
        format!("package kit\n\nfunc Make() {{ return {}Take(){} }}\n", "(".repeat(400), ")".repeat(400));
    let files = [
        ("broken.go", "package kit\n\nfunc Make( { Take() }}} func\n"),
        ("nested.go", &nested),
        ("whole.go", "package kit\n\nfunc Make() { Take() }\n"),
    ];
    files.iter().for_each(|(path, text)| fs::write(dir.path().join(path), text).unwrap());
    let mut index = open(dir.path(), IndexLocation::Project(&state));
    let facts = |path: &str| index.facts(index.find(path).unwrap()).unwrap();
    assert!(facts("broken.go").problems > 0 && facts("nested.go").omitted > 0);
    assert!(facts("whole.go").is_complete());
    assert_eq!(index.persist_facts().unwrap(), 3);
    let index = open(dir.path(), IndexLocation::Project(&state));
    let may_define = |path: &str| index.may_define(index.find(path).unwrap(), "Take");
    assert!(may_define("broken.go") && may_define("nested.go") && !may_define("whole.go"));
    assert_eq!(index.defining("Take").len(), 2);
}

#[test]
fn files_that_only_use_a_name_are_not_read_to_find_its_definition() {
    let dir = tempfile::tempdir().unwrap();
    let state = StateDir::for_project(dir.path());
    fs::write(dir.path().join("make.go"), "package kit\n\nfunc Make() {}\n").unwrap();
    for at in 0..40 {
        let text = format!("package kit\n\nfunc use{at}() {{ Make() }}\n");
        fs::write(dir.path().join(format!("use{at}.go")), text).unwrap();
    }
    let mut index = open(dir.path(), IndexLocation::Project(&state));
    index.files().into_iter().for_each(|file| drop(index.facts(file)));
    assert_eq!(index.persist_facts().unwrap(), 41);
    let index = open(dir.path(), IndexLocation::Project(&state));
    let begun = Work::of_thread();
    let containing = index.containing("Make");
    assert_eq!(containing.len(), 41);
    assert!(
        containing
            .iter()
            .filter(|file| !index.definitions_named(**file, "Make").is_empty())
            .eq(&index.defining("Make"))
    );
    assert!(containing.iter().all(|file| index.package(*file).as_deref() == Some("kit")));
    assert_eq!(Work::of_thread().since(begun).facts_read, 1);
}
