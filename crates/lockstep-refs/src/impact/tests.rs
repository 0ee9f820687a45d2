//! The dependents of changes in small worlds, and the invariants of every report.

mod broken_references;
mod complete;
mod directories;
mod half_written;
mod moved_names;
mod own_file;
mod second_hop;
mod signatures;
mod unread;
mod work;

use proptest::prelude::*;

use super::*;
use crate::impact::{After, Before};
use crate::reference::Certainty;
use crate::report::{IndexState, Report};
use crate::world::MemoryWorld;

fn ask(world: &MemoryWorld, edits: &[Edit]) -> Impact {
    impact(world, &Question { edits, aliases: &Aliases::default(), is_over: &|| false })
}

fn edited(path: &str, before: &str) -> Edit {
    Edit { path: path.to_owned(), former: None, before: Before::Text(before.into()), after: After::Present }
}

fn deleted(path: &str, before: &str) -> Edit {
    Edit { after: After::Gone, ..edited(path, before) }
}

/// Path, hop, kind, breaks and evidence of each dependent.
fn describe(impact: &Impact) -> Vec<String> {
    impact
        .dependents()
        .map(|(_, dependent)| {
            let first = &dependent.evidence[0];
            format!(
                "{} {} {} {}:{}:{}",
                dependent.hop.word(),
                if dependent.breaks { "breaks" } else { "uses" },
                dependent.kind.word(),
                dependent.path,
                first.line,
                first.text.trim()
            )
        })
        .collect()
}

const A: &str = "def greet():\n    return 1\n\ndef other():\n    return 2\n";
const B: &str = "from a import greet\n\ndef hello():\n    return greet()\n";
const C: &str = "from b import hello\n\nhello()\n";
const D: &str = "import a\n\na.other()\n";

#[test]
fn a_renamed_function_breaks_its_users_and_reaches_theirs() {
    let now = A.replace("greet", "welcome");
    let world = MemoryWorld::new([("a.py", &*now), ("b.py", B), ("c.py", C), ("d.py", D)]);
    let impact = ask(&world, &[edited("a.py", A)]);
    assert_eq!(impact.files[0].symbols[0].what.new_name(), Some("welcome"));
    assert_eq!(
        describe(&impact),
        [
            "DIRECT breaks import b.py:1:from a import greet",
            "TRANSITIVE uses import c.py:1:from b import hello",
        ]
    );
}

#[test]
fn body_change_breaks_no_dependent() {
    let now = A.replace("return 1", "return 10");
    let world = MemoryWorld::new([("a.py", &*now), ("b.py", B), ("c.py", C), ("d.py", D)]);
    let impact = ask(&world, &[edited("a.py", A)]);
    assert!(describe(&impact).iter().all(|line| !line.contains("breaks")), "{:?}", describe(&impact));
    assert!(impact.candidates().contains("b.py") && !impact.candidates().contains("d.py"));
}

#[test]
fn comment_change_has_no_dependents() {
    let now = format!("# hello\n{A}");
    let world = MemoryWorld::new([("a.py", &*now), ("b.py", B), ("d.py", D)]);
    assert_eq!(describe(&ask(&world, &[edited("a.py", A)])), [""; 0]);
}

#[test]
fn deleted_file_breaks_importers_and_links() {
    let readme = "See [a](a.py).\n";
    let world = MemoryWorld::new([("b.py", B), ("d.py", D), ("README.md", readme)]);
    let impact = ask(&world, &[deleted("a.py", A)]);
    let lines = describe(&impact);
    for expected in [
        "DIRECT breaks import b.py:1:from a import greet",
        "DIRECT breaks import d.py:1:import a",
        "DIRECT breaks path README.md:1:See [a](a.py).",
    ] {
        assert!(lines.contains(&expected.to_owned()), "{lines:?}");
    }
}

#[test]
fn deleted_file_breaks_every_importer() {
    let world = MemoryWorld::new([("b.py", "from a import greet\n"), ("p/c.py", "from . import d\n")]);
    assert_eq!(
        describe(&ask(&world, &[deleted("a.py", "x = 1\n")])),
        ["DIRECT breaks import b.py:1:from a import greet"]
    );
    let impact = ask(&world, &[deleted("p/d.py", "")]);
    assert_eq!(describe(&impact), ["DIRECT breaks import p/c.py:1:from . import d"]);
    // The former content is unknown.
    let edit = Edit { before: Before::Unknown, ..deleted("a.py", "") };
    assert_eq!(describe(&ask(&world, &[edit])), ["DIRECT breaks import b.py:1:from a import greet"]);
}

#[test]
fn packages_without_an_init_are_packages_too() {
    let world = MemoryWorld::new([
        ("shop/price.py", "def sum_up(): pass\n"),
        ("app.py", "from shop.price import total\n"),
        ("tool/run.py", "from shop import price\n\nprice.total()\n"),
    ]);
    assert_eq!(
        describe(&ask(&world, &[edited("shop/price.py", "def total(): pass\n")])),
        [
            "DIRECT breaks import app.py:1:from shop.price import total",
            "DIRECT breaks symbol tool/run.py:3:price.total()",
        ]
    );
}

#[test]
fn updated_file_is_no_dependent() {
    let now = A.replace("greet", "welcome");
    let followed = B.replace("greet", "welcome");
    let world = MemoryWorld::new([("a.py", &*now), ("b.py", &*followed), ("d.py", D)]);
    let impact = ask(&world, &[edited("a.py", A), edited("b.py", B)]);
    assert!(impact.dependents().all(|(_, dependent)| !dependent.breaks), "{:?}", describe(&impact));
}

#[test]
fn unknown_old_content_counts_the_complete_file_with_a_note() {
    let world = MemoryWorld::new([("a.py", A), ("b.py", B), ("d.py", D)]);
    let edit = Edit { before: Before::Unknown, ..edited("a.py", "") };
    let impact = ask(&world, &[edit]);
    assert!(impact.files[0].whole_file);
    assert_eq!(impact.candidates().into_iter().collect::<Vec<_>>(), ["b.py", "d.py"]);
    assert!(impact.dependents().all(|(_, dependent)| !dependent.breaks));
}

#[test]
fn when_the_time_is_over_what_was_found_is_reported() {
    let now = A.replace("greet", "welcome");
    let world = MemoryWorld::new([("a.py", &*now), ("b.py", B), ("c.py", C)]);
    let edits = [edited("a.py", A)];
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let is_over = || asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 0;
    let impact = impact(&world, &Question { edits: &edits, aliases: &Aliases::default(), is_over: &is_over });
    assert!(impact.truncated);
    assert_eq!(describe(&impact), ["DIRECT breaks import b.py:1:from a import greet"]);
}

/// Several edits are compared with each other, which takes long for thousands of them.
#[test]
fn timeout_before_comparison_leaves_files_unanalysed() {
    let now = A.replace("greet", "welcome");
    let world =
        MemoryWorld::new([("a.py", &*now), ("b.py", B), ("c.py", C), ("d.py", "def greet(): pass\n")]);
    let edits = [edited("a.py", A), edited("d.py", "")];
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let is_over = || asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 0;
    let impact = impact(&world, &Question { edits: &edits, aliases: &Aliases::default(), is_over: &is_over });
    assert!(impact.truncated && impact.files.iter().all(|file| file.unanalysed), "{impact:?}");
    assert!(describe(&impact).is_empty());
}

#[test]
fn changed_skill_affects_mentions_and_renamed_skill_breaks_them() {
    let skill = "---\nname: execution-code\n---\nDo it.\n";
    let other = "---\nname: execution-review\n---\n| Receives From |\n|---|\n| execution-code |\n";
    let path = ".claude/skills/execution-code/SKILL.md";
    let review = ".claude/skills/execution-review/SKILL.md";
    let now = format!("{skill}And more.\n");
    let world = MemoryWorld::new([(path, &*now), (review, other)]);
    assert_eq!(
        describe(&ask(&world, &[edited(path, skill)])),
        [format!("DIRECT uses name {review}:6:| execution-code |")]
    );
    let moved = ".claude/skills/execution-build/SKILL.md";
    let renamed = skill.replace("execution-code", "execution-build");
    let world = MemoryWorld::new([(moved, &*renamed), (review, other)]);
    let edit = Edit { path: moved.to_owned(), former: Some(path.to_owned()), ..edited(path, skill) };
    assert_eq!(
        describe(&ask(&world, &[edit])),
        [format!("DIRECT breaks name {review}:6:| execution-code |")]
    );
}

/// Generates a small project in which every name is used somewhere, and a change of one of its files.
fn projects() -> impl Strategy<Value = (Vec<(String, String)>, usize, String)> {
    let line = prop_oneof![
        (0..6_usize, 0..4_usize).prop_map(|(file, name)| format!("from m{file} import f{name}\n")),
        (0..6_usize).prop_map(|file| format!("import m{file}\n")),
        (0..4_usize).prop_map(|name| format!("f{name}()\n")),
        (0..6_usize, 0..4_usize).prop_map(|(file, name)| format!("m{file}.f{name}(1)\n")),
        (0..4_usize, 0..4_usize).prop_map(|(name, used)| format!("def f{name}():\n    return f{used}()\n")),
        (0..4_usize).prop_map(|name| format!("def f{name}(x):\n    pass\n")),
        (0..6_usize).prop_map(|file| format!("# see m{file}.py | and more\n")),
    ];
    let text = proptest::collection::vec(line, 0..8).prop_map(|lines| lines.concat());
    let files = proptest::collection::vec(text.clone(), 6).prop_map(|texts| {
        let names = (0..6).map(|n| format!("m{n}.py"));
        names.zip(texts).collect::<Vec<_>>()
    });
    (files, 0..6_usize, text)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn reports_keep_their_promises((files, changed, before) in projects(), gone in any::<bool>()) {
        let present = files.iter().enumerate().filter(|(at, _)| !(gone && *at == changed));
        let world = MemoryWorld::new(present.map(|(_, (path, text))| (&**path, &**text)));
        let path = &files[changed].0;
        let edit = if gone { deleted(path, &before) } else { edited(path, &before) };
        let edits = [edit];
        let impact = ask(&world, &edits);
        for file in &impact.files {
            prop_assert!(edits.iter().any(|edit| edit.path == file.path));
            for dependent in &file.dependents {
                prop_assert_ne!(&dependent.path, &file.path);
                prop_assert!(dependent.hop.count() == 1 || !dependent.breaks);
                let text = world.text(world.find(&dependent.path).unwrap()).unwrap();
                for place in &dependent.evidence {
                    prop_assert_eq!(text.lines().nth(place.line as usize - 1), Some(&*place.text));
                }
            }
            let mut paths: Vec<_> = file.dependents.iter().map(|dependent| &dependent.path).collect();
            paths.sort();
            paths.dedup();
            prop_assert_eq!(paths.len(), file.dependents.len());
        }
        let basis = IndexState { fresh: true, revision: "r".into(), time: "t".into(), unseen: 0 };
        let report = Report { root: "/r", impact: &impact, basis: &basis, notes: &[], history: &[] };
        let again = ask(&world, &edits);
        let same = Report { root: "/r", impact: &again, basis: &basis, notes: &[], history: &[] };
        prop_assert_eq!(report.l1(), same.l1());
        prop_assert_eq!(report.l2(), same.l2());
        let schema = jsonschema::validator_for(&crate::schema::schemas()[0].1).unwrap();
        let l1: serde_json::Value = serde_saphyr::from_str(&report.l1()).unwrap();
        let json: serde_json::Value =
            serde_json::from_str(&report.json(false, crate::report::Timings::default())).unwrap();
        for document in [&l1, &json] {
            prop_assert!(schema.is_valid(document), "{}", document);
        }
        prop_assert_eq!(&l1["impact_candidates"], &json["impact_candidates"]);
        let direct = report.l1().matches("type: DIRECT\n        hop_count: 1\n").count();
        prop_assert_eq!(direct, report.l1().matches("type: DIRECT").count());
    }
}

#[test]
fn undecided_references_are_labelled() {
    let old = "class A:\n    def run(self):\n        pass\n";
    let now = old.replace("run", "start");
    let user = "from a import A\n\ndef use(thing):\n    A()\n    thing.run()\n";
    let world = MemoryWorld::new([("a.py", &*now), ("u.py", user)]);
    let impact = ask(&world, &[edited("a.py", old)]);
    let (_, dependent) = impact.dependents().next().unwrap();
    assert!(!dependent.breaks, "{dependent:?}");
    assert!(dependent.evidence.iter().any(|place| place.certainty == Certainty::Untyped), "{dependent:?}");
}

/// The files that break, and those that depend without breaking.
fn broken(impact: &Impact) -> (Vec<&str>, Vec<&str>) {
    let of = |breaks: bool| {
        let those = impact.dependents().filter(|(_, dependent)| dependent.breaks == breaks);
        those.map(|(_, dependent)| &*dependent.path).collect()
    };
    (of(true), of(false))
}

#[test]
fn a_member_that_many_types_have_is_listed_last_and_breaks_nothing() {
    let old = "class A:\n    def run(self):\n        pass\nclass B:\n    def run(self):\n        pass\nclass C:\n    def run(self):\n        pass\n";
    let now = old.replacen("run", "start", 1);
    let sure = "from a import A\nA().run()\n";
    let unsure = "import lib\nlib_thing = lib.thing\nfor one in lib_thing():\n    other(one).run()\ndef other(x):\n    return x.y\n";
    let world = MemoryWorld::new([("a.py", &*now), ("sure.py", sure), ("unsure.py", unsure)]);
    let impact = ask(&world, &[edited("a.py", old)]);
    let (broken, whole) = broken(&impact);
    assert_eq!(broken, ["sure.py"]);
    assert_eq!(whole, ["unsure.py"]);
    let last = impact.files[0].dependents.last().unwrap();
    assert!(last.is_undecided(), "{last:?}");
}

#[test]
fn undecided_dependents_are_few_and_the_rest_is_counted() {
    let old = "class A:\n    def run(self):\n        pass\nclass B:\n    def run(self):\n        pass\nclass C:\n    def run(self):\n        pass\n";
    let now = old.replacen("run", "start", 1);
    let body = old.replacen("pass", "return", 1);
    let users: Vec<(String, &str)> = (0..40)
        .map(|n| (format!("u{n}.py"), "def f(x):\n    return g(x).run()\ndef g(x):\n    return x.y\n"))
        .collect();
    let files = |first: &'static str| -> MemoryWorld {
        let users = users.iter().map(|(path, text)| (path.as_str(), *text));
        MemoryWorld::new(std::iter::once(("a.py", first)).chain(users))
    };
    let impact = ask(&files(Box::leak(now.into_boxed_str())), &[edited("a.py", old)]);
    assert_eq!((impact.files[0].dependents.len(), impact.files[0].undecided), (25, 15));
    // A harmless change has no dependents.
    let impact = ask(&files(Box::leak(body.into_boxed_str())), &[edited("a.py", old)]);
    assert_eq!(impact.files[0].dependents, []);
}

#[test]
fn removed_definition_breaks_only_its_reexporting_file() {
    let old = "pub use self::inner::Name;\nmod inner {\n    pub struct Name;\n}\n";
    let now = old.replace("struct Name", "struct Other");
    let manifest = "[package]\nname = \"a\"\n";
    let world = MemoryWorld::new([
        ("Cargo.toml", manifest),
        ("src/lib.rs", "mod a;\nmod b;\n"),
        ("src/a.rs", &*now),
        ("src/b.rs", "use crate::a::Name;\nfn f(_: Name) {}\n"),
    ]);
    let impact = ask(&world, &[edited("src/a.rs", old)]);
    assert_eq!(broken(&impact), (vec![], vec!["src/b.rs"]));
}

#[test]
fn a_variant_that_holds_something_else_breaks_patterns() {
    let old = "pub enum E { A, B }\n";
    let now = "pub enum E { A(u8), B }\n";
    let manifest = "[package]\nname = \"a\"\n";
    let user = "use crate::a::E;\nfn f(e: E) -> u8 { match e { E::A => 1, _ => 2 } }\n";
    let world = MemoryWorld::new([
        ("Cargo.toml", manifest),
        ("src/lib.rs", "mod a;\nmod b;\n"),
        ("src/a.rs", now),
        ("src/b.rs", user),
    ]);
    assert_eq!(broken(&ask(&world, &[edited("src/a.rs", old)])).0, ["src/b.rs"]);
}

/// If a language finds a file by its package, or by either of two names, the file's name alone does not
/// matter.
#[test]
fn a_file_in_a_new_place_breaks_only_who_no_longer_finds_it() {
    let go = "package a\n\nfunc Hello() int { return 1 }\n";
    let go_user = "package main\n\nimport \"example.org/m/a\"\n\nfunc main() { a.Hello() }\n";
    let rust = "pub fn hello() {}\n";
    let rust_user = "mod a;\nmod b;\n";
    let rust_caller = "use crate::a::hello;\npub fn f() { hello() }\n";
    let manifest = "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let ts = "export const hello = 1;\n";
    let ts_user = "import { hello } from \"./t\";\n";
    type Case<'a> = (&'a str, &'a str, &'a str, &'a [(&'a str, &'a str)], bool);
    let cases: [Case<'_>; 5] = [
        ("a/a.go", "a/z.go", go, &[("go.mod", "module example.org/m\n"), ("main.go", go_user)], false),
        (
            "src/a.rs",
            "src/a/mod.rs",
            rust,
            &[("Cargo.toml", manifest), ("src/lib.rs", rust_user), ("src/b.rs", rust_caller)],
            false,
        ),
        (
            "src/a.rs",
            "src/c.rs",
            rust,
            &[("Cargo.toml", manifest), ("src/lib.rs", rust_user), ("src/b.rs", rust_caller)],
            true,
        ),
        ("t.ts", "t/index.ts", ts, &[("use.ts", ts_user)], false),
        ("t.ts", "u.ts", ts, &[("use.ts", ts_user)], true),
    ];
    for (from, to, text, others, breaks) in cases {
        let world = MemoryWorld::new(others.iter().copied().chain([(to, text)]));
        let edit = Edit {
            path: to.to_owned(),
            former: Some(from.to_owned()),
            before: Before::Text(text.into()),
            after: After::Present,
        };
        let impact = ask(&world, &[edit]);
        assert!(!impact.files[0].dependents.is_empty(), "{from} → {to}: who uses it is told");
        assert_eq!(!broken(&impact).0.is_empty(), breaks, "{from} → {to}: {impact:#?}");
    }
}
