//! Files that could not be parsed completely: unknown does not mean none.

use super::*;

const BROKEN: &str = "package core\n\nclass Kit { fun <<< }\n\nfun useful(): Int = 1\n";
const USER: &str = "package ui\n\nimport core.*\n\nfun run() = useful()\n";

#[test]
fn a_change_in_what_was_not_read_concerns_everybody() {
    let now = BROKEN.replace("<<<", "<<< <<<");
    let world = MemoryWorld::new([("core/Kit.kt", &*now), ("ui/Use.kt", USER)]);
    let impact = ask(&world, &[edited("core/Kit.kt", BROKEN)]);
    let file = &impact.files[0];
    assert!(file.problems > 0 && file.whole_file, "{file:?}");
    assert_eq!(impact.candidates().into_iter().collect::<Vec<_>>(), ["ui/Use.kt"]);
    assert!(impact.dependents().all(|(_, dependent)| !dependent.breaks));
    let basis = IndexState { fresh: true, revision: String::new(), time: String::new(), unseen: 0 };
    let report = Report { root: "/r", impact: &impact, basis: &basis, notes: &[], history: &[] };
    assert!(report.l1().contains("confidence: medium"), "{}", report.l1());
    let notes = report.general_notes().join("\n");
    assert!(notes.contains("core/Kit.kt") && notes.contains("could not be parsed"), "{notes}");
}

#[test]
fn comment_change_in_a_parse_error_region_has_no_dependents() {
    let now = format!("{BROKEN}// A word more.\n");
    let world = MemoryWorld::new([("core/Kit.kt", &*now), ("ui/Use.kt", USER)]);
    let impact = ask(&world, &[edited("core/Kit.kt", BROKEN)]);
    assert_eq!(impact.candidates().len(), 0);
}

#[test]
fn a_user_that_was_not_read_may_be_one() {
    let kit = "package core\n\nfun veryUseful(): Int = 1\n";
    let now = kit.replace("veryUseful", "helpful");
    let user = "package ui\n\nimport core.*\n\nclass A { fun <<< veryUseful( }\n";
    let world = MemoryWorld::new([("core/Kit.kt", &*now), ("ui/Use.kt", user)]);
    let impact = ask(&world, &[edited("core/Kit.kt", kit)]);
    assert_eq!(impact.candidates().into_iter().collect::<Vec<_>>(), ["ui/Use.kt"]);
}

/// A world that cannot read one of its files.
struct Blind<'a>(&'a MemoryWorld, &'a str);

impl World for Blind<'_> {
    fn find(&self, path: &str) -> Option<FileId> {
        self.0.find(path)
    }

    fn path(&self, file: FileId) -> &str {
        self.0.path(file)
    }

    fn files(&self) -> Vec<FileId> {
        self.0.files()
    }

    fn directory(&self, path: &str) -> Vec<FileId> {
        self.0.directory(path)
    }

    fn named(&self, basename: &str) -> Vec<FileId> {
        self.0.named(basename)
    }

    fn containing(&self, name: &str) -> Vec<FileId> {
        self.0.containing(name)
    }

    fn text(&self, file: FileId) -> Option<Arc<str>> {
        self.0.text(file).filter(|_| self.path(file) != self.1)
    }

    fn facts(&self, file: FileId) -> Option<Arc<Facts>> {
        self.0.facts(file).filter(|_| self.path(file) != self.1)
    }
}

#[test]
fn links_to_unreadable_files_still_resolve() {
    let user = "import { a } from './made.js';\n";
    let page = "<img src=\"logo.png\">\n";
    let world = MemoryWorld::new([("made.js", ""), ("logo.png", ""), ("user.js", user), ("page.html", page)]);
    for (path, dependent) in [("made.js", "user.js"), ("logo.png", "page.html")] {
        let edits = [Edit { before: Before::Unknown, ..edited(path, "") }];
        let question = Question { edits: &edits, aliases: &Aliases::default(), is_over: &|| false };
        let impact = impact(&Blind(&world, path), &question);
        assert_eq!(impact.candidates().into_iter().collect::<Vec<_>>(), [dependent]);
        assert!(impact.files[0].whole_file && impact.files[0].problems > 0);
        assert!(impact.dependents().all(|(_, dependent)| !dependent.breaks));
    }
}

/// A bound of the comparison is never taken for an answer without renamed uses.
#[test]
fn uncompared_lines_are_reported_as_a_limit() {
    let limits = |before: &str, after: &str| {
        let world = MemoryWorld::new([("a.py", after), ("b.py", "def greet():\n    return 1\n")]);
        let impact = ask(&world, &[edited("a.py", before)]);
        (impact.files[0].broken_in_file.len(), impact.limits.to_string())
    };
    let import = "from b import *\n";
    let long = |name: &str, count: usize| format!("{import}{name}({})\n", vec!["0"; count].join(", "));
    let many = |name: &str, count: usize| format!("{import}{}{name}(0)\n", "f(0)\n".repeat(count));
    let lines = |count: u32| format!("lines compared for renamed names ({count})");
    assert_eq!(limits(&long("greet", 10), &long("gree", 10)), (1, String::new()));
    assert_eq!(limits(&long("greet", 1_000), &long("gree", 1_000)), (0, lines(1)));
    assert_eq!(
        limits(&long("greet", 1_000), &long("gree", 1_001)),
        (0, String::new()),
        "no such line before"
    );
    let padded = |text: String| text.replace("(0", &format!("({}0", " ".repeat(2_000)));
    assert_eq!(limits(&padded(long("greet", 10)), &long("gree", 10)), (0, lines(1)));
    assert_eq!(limits(&many("greet", 10), &many("gree", 10)), (1, String::new()));
    assert_eq!(limits(&many("greet", 1_000), &many("gree", 1_000)), (0, lines(1)));
}
