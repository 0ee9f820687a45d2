//! Changes whose dependents were updated by the same set of edits, and declarations next to their
//! definitions.

use super::*;

/// The files that break when every file changes from the first to the second content.
fn broken(files: &[(&str, &str, &str)]) -> Vec<String> {
    let world = MemoryWorld::new(files.iter().map(|(path, _, now)| (*path, *now)));
    let changed = files.iter().filter(|(_, before, now)| before != now);
    let edits: Vec<Edit> = changed.map(|(path, before, _)| edited(path, before)).collect();
    let impact = ask(&world, &edits);
    let breaking = impact
        .dependents()
        .filter(|(_, dependent)| dependent.breaks)
        .map(|(_, dependent)| dependent.path.clone());
    let mut breaking: Vec<String> = breaking.collect();
    breaking.sort();
    breaking.dedup();
    breaking
}

/// The changed files with broken references of their own.
fn broken_in_files(files: &[(&str, &str, &str)]) -> Vec<String> {
    let world = MemoryWorld::new(files.iter().map(|(path, _, now)| (*path, *now)));
    let changed = files.iter().filter(|(_, before, now)| before != now);
    let edits: Vec<Edit> = changed.map(|(path, before, _)| edited(path, before)).collect();
    let mut found: Vec<String> =
        ask(&world, &edits).broken_in_files().map(|(file, _)| file.path.clone()).collect();
    found.dedup();
    found
}

#[test]
fn a_declaration_and_its_definition_that_change_alike_agree() {
    let header = ("a.h", "int f(int a);\n", "int f(char *a, int b);\n");
    let source = (
        "a.c",
        "#include \"a.h\"\nint f(int a) { return a; }\n",
        "#include \"a.h\"\nint f(char *x, int b) { return b; }\n",
    );
    let user = "#include \"a.h\"\nint run(void) { return f(1); }\n";
    let caller = ("b.c", user, user);
    assert_eq!(broken(&[header, source]), Vec::<String>::new());
    assert_eq!(broken(&[header, source, caller]), ["b.c"]);
    let unchanged = ("a.c", source.1, source.1);
    assert_eq!(broken(&[header, unchanged]), ["a.c"]);
    let remaining = ("a.h", header.1, header.1);
    // The caller is compiled against the declaration, and the compiler rejects the definition.
    assert_eq!(broken(&[remaining, source, caller]), Vec::<String>::new());
    assert_eq!(broken_in_files(&[remaining, source, caller]), ["a.c"]);
    let other = ("a.c", source.1, "#include \"a.h\"\nint f(char *x, int b, int c) { return b; }\n");
    assert_eq!(broken(&[header, other]), ["a.c"]);
    assert_eq!(broken_in_files(&[header, other]), ["a.c"]);
}

#[test]
fn a_method_declared_in_a_class_and_defined_outside_agrees() {
    let header = (
        "a.hpp",
        "class A {\npublic:\n    int f(int a);\n};\n",
        "class A {\npublic:\n    int f(const char *a, int b = 1);\n};\n",
    );
    let source = (
        "a.cpp",
        "#include \"a.hpp\"\nint A::f(int a) { return a; }\n",
        "#include \"a.hpp\"\nint A::f(const char *a, int b) { return b; }\n",
    );
    assert_eq!(broken(&[header, source]), Vec::<String>::new());
    assert_eq!(broken(&[header, ("a.cpp", source.1, source.1)]), ["a.cpp"]);
}

#[test]
fn callers_that_changed_too_follow() {
    let cases: &[&[(&str, &str, &str)]] = &[
        &[
            (
                "a.py",
                "def f(a: int) -> int:\n    return a\n",
                "def f(a: str, b: int) -> int:\n    return b\n",
            ),
            ("b.py", "from a import f\nf(1)\n", "from a import f\nf(\n    \"x\",\n    1,\n)\n"),
        ],
        &[
            (
                "a.ts",
                "export function f(a: number) { return a; }\n",
                "export function f(a: string, b: number) { return b; }\n",
            ),
            ("b.ts", "import { f } from \"./a\";\nf(1);\n", "import { f } from \"./a\";\nf(\"x\", 1);\n"),
        ],
        &[
            ("src/lib.rs", "mod a;\nmod b;\n", "mod a;\nmod b;\n"),
            (
                "src/a.rs",
                "pub fn f(a: u8) -> u8 { a }\n",
                "pub fn f(a: &str, b: u8) -> Option<u8> { Some(b) }\n",
            ),
            (
                "src/b.rs",
                "pub fn run() -> u8 { crate::a::f(1) }\n",
                "pub fn run() -> u8 { crate::a::f(\"x\", 1).unwrap() }\n",
            ),
        ],
        &[
            (
                "core/a.go",
                "package core\n\nfunc F(a int) int { return a }\n",
                "package core\n\nfunc F(a string, b int) int { return b }\n",
            ),
            (
                "core/b.go",
                "package core\n\nfunc run() int { return F(1) }\n",
                "package core\n\nfunc run() int { return F(\"x\", 1) }\n",
            ),
        ],
        &[
            (
                "a/Kit.java",
                "package a;\npublic class Kit {\n    public int f(int a) { return a; }\n}\n",
                "package a;\npublic class Kit {\n    public int f(String a, int b) { return b; }\n}\n",
            ),
            (
                "a/Use.java",
                "package a;\nclass Use extends Kit {\n    public int f(int a) { return new Kit().f(1); }\n}\n",
                "package a;\nclass Use extends Kit {\n    public int f(String a, int b) { return new Kit().f(\"x\", 1); }\n}\n",
            ),
        ],
    ];
    for files in cases {
        assert_eq!(broken(files), Vec::<String>::new(), "{files:?}");
        let (path, before, _) = files[files.len() - 1];
        let mut left: Vec<(&str, &str, &str)> = files[..files.len() - 1].to_vec();
        left.push((path, before, before));
        assert_eq!(broken(&left), [path], "{left:?}");
    }
}

#[test]
fn a_call_that_was_edited_for_another_reason_still_breaks() {
    let files = [
        ("a.py", "def f(a: int):\n    return a\n", "def f(a: int, b: int):\n    return b\n"),
        ("b.py", "from a import f\nf(1)\n", "from a import f\nf(2)\n"),
    ];
    assert_eq!(broken(&files), ["b.py"]);
}

#[test]
fn a_renamed_field_is_no_change_of_its_struct() {
    let files: &[(&str, &str, &str, &str, &str)] = &[
        ("src/a.rs", "pub struct S { pub a: u8, pub b: u8 }\n", "a: u8", "name: u8", "S"),
        ("a.ts", "export class S {\n  a = 1;\n  b = 2;\n}\n", "a = 1", "name = 1", "S"),
        ("A.java", "public class S {\n    public int a;\n    public int b;\n}\n", "int a;", "int name;", "S"),
        ("a.go", "package a\n\ntype S struct {\n\tA int\n\tB int\n}\n", "A int", "Name int", "S"),
    ];
    for (path, before, from, to, name) in files {
        let now = before.replacen(from, to, 1);
        let world = MemoryWorld::new([(*path, &*now)]);
        let impact = ask(&world, &[edited(path, before)]);
        let symbols: Vec<&str> = impact.files[0].symbols.iter().map(|symbol| &*symbol.was.name).collect();
        assert!(!symbols.contains(name) && symbols.len() == 1, "{path}: {symbols:?}");
    }
}

#[test]
fn numbered_headings_do_not_shift() {
    let before = "# A\n\n## Fixed\n\none\n\n# B\n\n## Fixed\n\ntwo\n";
    let now = "# C\n\n## Fixed\n\nzero\n\n# A\n\n## Fixed\n\none\n\n# B\n\n## Fixed\n\ntwo\n";
    let symbols = |before: &str, now: &str| {
        let world = MemoryWorld::new([("a.md", now)]);
        let impact = ask(&world, &[edited("a.md", before)]);
        let symbols =
            impact.files[0].symbols.iter().map(|symbol| (symbol.was.name.to_string(), symbol.what.word()));
        symbols.collect::<Vec<_>>()
    };
    assert_eq!(symbols(before, now), []);
    assert_eq!(
        symbols(now, before),
        [("c".to_owned(), "removed"), ("fixed".to_owned(), "body"), ("fixed-2".to_owned(), "renamed")],
        "the first section is another one, and the last number is gone"
    );
    let changed = before.replace("two", "three");
    assert_eq!(symbols(before, &changed), [("fixed-1".to_owned(), "body")]);
}

#[test]
fn members_of_a_type_that_moved_are_no_broken_places() {
    let before = "class Old:\n    def get(self):\n        return 1\n";
    let now = before.replace("Old", "New");
    let world = MemoryWorld::new([
        ("new.py", &*now),
        ("b.py", "from old import Old\n\n\ndef make() -> Old:\n    return Old()\n"),
        ("c.py", "from b import make\nmake().get()\n"),
    ]);
    for edit in [
        Edit { former: Some("old.py".to_owned()), ..edited("new.py", before) },
        Edit { after: After::Gone, ..edited("old.py", before) },
    ] {
        let impact = ask(&world, &[edit]);
        let breaking: Vec<&str> = impact
            .dependents()
            .filter(|dependent| dependent.1.breaks)
            .map(|dependent| &*dependent.1.path)
            .collect();
        assert_eq!(breaking, ["b.py"]);
    }
}

#[test]
fn type_renamed_in_another_file_leaves_signatures_unchanged() {
    for (files, from, to) in [
        (
            [
                ("route.go", "package a\n\ntype Route struct{ n int }\n"),
                ("help.go", "package a\n\nfunc help(a, b *Route) {}\n"),
                ("use.go", "package a\n\nfunc use() { help(nil, nil) }\n"),
            ],
            "Route",
            "Path",
        ),
        (
            [
                ("route.ts", "export interface Route { n: number }\n"),
                (
                    "help.ts",
                    "import { Route } from './route'\nexport function help(a: Route | undefined): void {}\n",
                ),
                ("use.ts", "import { help } from './help'\nhelp(undefined)\n"),
            ],
            "Route",
            "Path",
        ),
    ] {
        let renamed: Vec<String> = files.iter().map(|(_, text)| text.replace(from, to)).collect();
        let all: Vec<(&str, &str, &str)> =
            files.iter().zip(&renamed).map(|((path, old), new)| (*path, *old, new.as_str())).collect();
        assert_eq!(broken(&all), [] as [&str; 0]);
    }
}

#[test]
fn a_function_of_c_with_another_definition_is_still_there() {
    let text = "#include \"unity.h\"\nvoid set_up(void) {}\n";
    let header = ("unity.h", "void set_up(void);\n", "void set_up(void);\n");
    let user = "#include \"unity.h\"\nvoid run(void) { set_up(); }\n";
    let renamed = ("one.c", text, "#include \"unity.h\"\nvoid start(void) {}\n");
    let none: [&str; 0] = [];
    assert_eq!(broken(&[header, renamed, ("two.c", text, text), ("run.c", user, user)]), none);
    assert_eq!(broken(&[header, renamed, ("run.c", user, user)]), ["run.c", "unity.h"]);
}

#[test]
fn macro_of_a_source_file_is_private_to_it() {
    let macros = ("main.c", "#define LIMIT 34\n#include \"n.h\"\n", "#include \"n.h\"\n");
    let header = "#ifndef LIMIT\n#define LIMIT 1\n#endif\nint a[LIMIT];\n";
    let user = "#include \"n.h\"\nint q = LIMIT;\n";
    let none: [&str; 0] = [];
    assert_eq!(broken(&[macros, ("n.h", header, header), ("use.c", user, user)]), none);
}

#[test]
fn a_predicate_names_its_parameter() {
    let was = "export function isA(value: unknown): value is A { return true }\n";
    let is = "export function isA(error: unknown): error is A { return true }\n";
    let user = "import { isA } from './a'\nif (isA(1)) {}\nexport const ok = [1].filter(isA)\n";
    let none: [&str; 0] = [];
    assert_eq!(broken(&[("a.ts", was, is), ("b.ts", user, user)]), none);
}

#[test]
fn package_in_place_of_a_module_breaks_importers_of_what_it_lacks() {
    let user = "from core import greet\n\ngreet()\n";
    let now = A.replace("greet", "salute");
    let moved =
        |to: &str, from: &str| Edit { path: to.to_owned(), former: Some(from.to_owned()), ..edited(to, A) };
    let created = |path: &str| Edit { before: Before::Absent, ..edited(path, "") };
    for (from, to) in [("core.py", "core/__init__.py"), ("core/__init__.py", "core.py")] {
        let world = MemoryWorld::new([(to, &*now), ("use.py", user)]);
        let broken = "DIRECT breaks import use.py:1:from core import greet";
        assert_eq!(describe(&ask(&world, &[moved(to, from)])), [broken], "moved to {to}");
        assert_eq!(describe(&ask(&world, &[deleted(from, A), created(to)])), [broken], "replaced by {to}");
        let world = MemoryWorld::new([(to, A), ("use.py", user)]);
        assert!(!describe(&ask(&world, &[moved(to, from)])).contains(&broken.to_owned()), "the same names");
    }
    // The definition moved into a part of the new package, which does not re-export it.
    let world = MemoryWorld::new([
        ("core/__init__.py", "from .impl import other\n"),
        ("core/impl.py", A),
        ("use.py", user),
    ]);
    let impact = ask(&world, &[created("core/__init__.py"), moved("core/impl.py", "core.py")]);
    assert_eq!(describe(&impact), ["DIRECT breaks import use.py:1:from core import greet"]);
}
