//! Content in the middle of an edit: definitions that do not parse do not count as removed or changed.

use super::*;

/// Changes the first file and returns its impact, and whether anything is called broken.
fn change(files: &[(&str, &str)], now: &str) -> (FileImpact, bool) {
    let (path, before) = files[0];
    let world = MemoryWorld::new([(path, now)].into_iter().chain(files[1..].iter().copied()));
    let impact = ask(&world, &[edited(path, before)]);
    let breaks = impact.dependents().any(|(_, dependent)| dependent.breaks);
    (impact.files[0].clone(), breaks)
}

#[test]
fn a_half_written_definition_is_neither_removed_nor_changed() {
    let go =
        "package core\n\nfunc Hello(name string) int {\n\treturn 1\n}\n\nfunc Other() int { return 2 }\n";
    let java = "package a;\npublic class Kit {\n    public int hello(String name) { return 1; }\n    public int other() { return 2; }\n}\n";
    let cases: &[(&str, &str, &str, &str, &str)] = &[
        (
            "a.py",
            "def hello(name):\n    return 1\n\n\ndef other():\n    return 2\n",
            "b.py",
            "from a import hello, other\nhello(1)\nother()\n",
            "def hello(name):|def hello(name",
        ),
        (
            "a.ts",
            "export function hello(name: string) {\n  return 1;\n}\nexport function other() {\n  return 2;\n}\n",
            "b.ts",
            "import { hello, other } from \"./a\";\nhello(\"x\");\nother();\n",
            "hello(name: string) {|hello(name: string",
        ),
        (
            "a.js",
            "export function hello(name) {\n  return 1;\n}\nexport function other() {\n  return 2;\n}\n",
            "b.js",
            "import { hello, other } from \"./a\";\nhello(\"x\");\nother();\n",
            "  return 1;\n}|  return 1;",
        ),
        (
            "core/a.go",
            go,
            "core/b.go",
            "package core\n\nfunc run() { Hello(\"x\"); Other() }\n",
            "Hello(name string) int {|Hello(name string",
        ),
        (
            "a/Kit.java",
            java,
            "a/Use.java",
            "package a;\nclass Use { int run(Kit kit) { return kit.hello(\"x\") + kit.other(); } }\n",
            "hello(String name) {|hello(String name",
        ),
        (
            "src/a.rs",
            "pub fn hello(name: &str) -> u8 {\n    1\n}\n\npub fn other() -> u8 {\n    2\n}\n",
            "src/lib.rs",
            "mod a;\npub fn run() { a::hello(\"x\"); a::other(); }\n",
            "-> u8 {\n    1\n}|-> u8 {\n    1",
        ),
        (
            "a.h",
            "int hello(const char *name);\nint other(void);\n",
            "b.c",
            "#include \"a.h\"\nint run(void) { return hello(\"x\") + other(); }\n",
            "hello(const char *name);|hello(const char *na",
        ),
        (
            "lib/a.rb",
            "class Kit\n  def hello(name)\n    1\n  end\n\n  def other\n    2\n  end\nend\n",
            "lib/b.rb",
            "require_relative \"a\"\nKit.new.hello(1)\nKit.new.other\n",
            "hello(name)|hello(name",
        ),
        (
            "src/Kit.php",
            "<?php\nnamespace App;\nclass Kit {\n    public function hello($name) { return 1; }\n    public function other() { return 2; }\n}\n",
            "src/Use.php",
            "<?php\nnamespace App;\nclass Useful { function run(Kit $kit) { return $kit->hello(1) + $kit->other(); } }\n",
            "hello($name) {|hello($name",
        ),
    ];
    for (path, text, user, uses, edit) in cases {
        let (from, to) = edit.split_once('|').expect("two parts");
        assert!(text.contains(from), "{path}: {from}");
        let (file, breaks) = change(&[(path, text), (user, uses)], &text.replacen(from, to, 1));
        let found: Vec<_> =
            file.symbols.iter().map(|symbol| (&*symbol.was.name, symbol.what.word())).collect();
        assert!(!breaks, "{path}: {found:?}, first line {:?}", file.unparsed);
        assert!(file.unparsed.is_some(), "{path}: {found:?}");
    }
}

#[test]
fn a_definition_elsewhere_in_the_file_is_analysed() {
    let text =
        "def hello(name):\n    return 1\n\n\ndef middle():\n    return 5\n\n\ndef other():\n    return 2\n";
    let now = text.replace("def hello", "def greet").replace("def other():", "def other(");
    let user = "from a import hello, other\nhello(1)\nother()\n";
    let (file, breaks) = change(&[("a.py", text), ("b.py", user)], &now);
    assert_eq!(file.unparsed, Some(9), "{file:?}");
    assert!(breaks, "{:?}", file.symbols);
    let places = &file.dependents[0].evidence;
    assert!(
        places.iter().filter(|candidate| candidate.breaks).all(|candidate| candidate.pattern == "hello"),
        "{places:?}"
    );
}

#[test]
fn a_file_that_parses_again_is_analysed() {
    let text = "def hello(name:\n    return 1\n\n\ndef other():\n    return 2\n";
    let now = "def hello(name):\n    return 1\n\n\ndef another():\n    return 2\n";
    let (file, breaks) = change(&[("a.py", text), ("b.py", "from a import other\nother()\n")], now);
    assert_eq!(file.unparsed, None);
    assert!(breaks || file.symbols.is_empty(), "{:?}", file.symbols);
}

#[test]
fn the_report_names_the_line() {
    let text = "def hello(name):\n    return 1\n";
    let world = MemoryWorld::new([
        ("a.py", "def hello(name\n    return 1\n"),
        ("b.py", "from a import hello\nhello(1)\n"),
    ]);
    let impact = ask(&world, &[edited("a.py", text)]);
    let basis = IndexState { fresh: true, revision: String::new(), time: String::new(), unseen: 0 };
    let report = Report { root: "/r", impact: &impact, basis: &basis, notes: &[], history: &[] };
    assert!(report.l1().contains("confidence: medium"), "{}", report.l1());
    assert!(report.l2().contains("not analysed: a.py:1 does not parse"), "{}", report.l2());
}

#[test]
fn only_comments_changed() {
    for (path, before, now) in [
        ("a.py", "# one\ndef f():\n    return 1\n", "# two\n\ndef f():\n    return 1  # three\n"),
        ("a.rs", "/// One.\npub fn f() -> u8 { 1 }\n", "/// Two.\npub fn f() -> u8 {\n    1 // three\n}\n"),
        ("a.ts", "/** one */\nexport function f() { return 1; }\n", "export function f() { return 1; }\n"),
        ("a.go", "package a\n\n// F is one.\nfunc F() {}\n", "package a\n\n// F is two.\nfunc F() {}\n"),
        ("A.java", "class A { /* a */ void f() {} }\n", "class A { void f() {} // b\n}\n"),
        ("a.c", "/* a */ int f(void) { return 1; }\n", "int f(void) { return 1; /* b */ }\n"),
    ] {
        let (file, _) = change(&[(path, before)], now);
        assert!(file.only_comments, "{path}");
        let (file, _) = change(
            &[(path, before)],
            &now.replace(['1'], "2").replace("F()", "F(a int)").replace("f() {}", "f() { f(); }"),
        );
        assert!(!file.only_comments, "{path}");
    }
}
