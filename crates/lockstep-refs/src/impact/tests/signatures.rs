//! Overloads, arguments by name, exports by list and decorators.

use super::*;

#[test]
fn implementation_behind_overloads_is_not_checked() {
    let module = |overload: &str, behind: &str| {
        let overloads =
            format!("@overload\ndef f({overload}) -> int: ...\n@overload\ndef f(x: str) -> str: ...\n");
        format!("from typing import overload\n\n{overloads}def f({behind}):\n    return x\n")
    };
    let before = module("x: int", "x");
    let world = |after: &str| {
        MemoryWorld::new([
            ("a.py", after),
            ("b.py", "from a import f\n\nf(x=1)\n"),
            ("c.py", "import a\n\na.f('')\n"),
        ])
    };
    let impact = ask(&world(&module("x: int", "x, y, z")), &[edited("a.py", &before)]);
    assert_eq!(broken(&impact).0, [""; 0]);
    assert_eq!(impact.candidates().len(), 2, "it changed inside");
    let impact = ask(&world(&module("x: int", "value")), &[edited("a.py", &before)]);
    assert_eq!(broken(&impact).0, [""; 0], "nor do its names concern anybody");
    let impact = ask(
        &world(
            &module("x: int", "x").replace("x: str", "x: str, y: str").replace("x: int", "x: int, y: int"),
        ),
        &[edited("a.py", &before)],
    );
    assert_eq!(broken(&impact).0, ["b.py", "c.py"]);
}

#[test]
fn arguments_by_name_are_counted_like_others() {
    let world = |after: &str| {
        MemoryWorld::new([
            ("a.py", after),
            ("both.py", "from a import f\n\nf(1, y=2)\n"),
            ("one.py", "from a import f\n\nf(x=1)\n"),
            ("any.py", "from a import f\n\nf(**{})\n"),
        ])
    };
    let broken_by = |after: &str| {
        let impact = ask(&world(after), &[edited("a.py", "def f(x, y=0):\n    return x\n")]);
        broken(&impact).0.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(broken_by("def f(x, y=0, z=0):\n    return x\n"), [""; 0], "whatever is passed still fits");
    assert_eq!(broken_by("def f(x, z, y=0):\n    return x\n"), ["both.py", "one.py"]);
    assert_eq!(broken_by("def f(x):\n    return x\n"), ["both.py"], "what is unpacked may be anything");
    assert_eq!(
        broken_by("def f():\n    return 1\n"),
        ["any.py", "both.py", "one.py"],
        "but not where nothing fits"
    );
}

#[test]
fn a_parameter_of_another_name_breaks_who_passes_it_by_name() {
    let world = |after: &str| {
        MemoryWorld::new([
            ("a.py", after),
            ("by_name.py", "from a import f\n\nf(1, limit=2)\n"),
            ("by_place.py", "import a\n\na.f(1, 2)\n"),
            ("by_both.py", "from a import C\n\nC().m(1, limit=2)\n"),
            ("made.py", "from a import C\n\nC(size=1)\n"),
            ("any.py", "from a import f\n\nf(**{})\n"),
        ])
    };
    let before = "def f(x, limit=0):\n    return x\n\n\nclass C:\n    def __init__(self, size=0): ...\n    \
                  def m(self, x, /, *rest, limit=0, **more): ...\n";
    let broken_by = |from: &str, to: &str| {
        let impact = ask(&world(&before.replace(from, to)), &[edited("a.py", before)]);
        broken(&impact).0.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(broken_by("def f(x, limit", "def f(x, most"), ["by_name.py"]);
    assert_eq!(broken_by("def f(x, limit=0):\n    return x", "def f(y, limit=0):\n    return y"), [""; 0]);
    assert_eq!(broken_by("*rest, limit", "*rest, most"), ["by_both.py"]);
    assert_eq!(broken_by("x, /, *rest, limit=0, **more", "y, /, *args, limit=0, **kwargs"), [""; 0]);
    assert_eq!(broken_by("self, size", "self, length"), ["made.py"]);
    assert_eq!(broken_by("self, size", "this, size"), [""; 0]);
}

#[test]
fn stale_all_entry_breaks_named_imports_but_not_star_imports() {
    let module = |rest: &str| format!("__all__ = [\"load\", \"other\"]\n\ndef other(): ...\n{rest}");
    let world = |after: &str| {
        MemoryWorld::new([
            ("pkg/__init__.py", "from pkg.io import *\n"),
            ("pkg/io.py", after),
            ("named.py", "from pkg.io import load\n\nload()\n"),
            ("module.py", "import pkg.io as io\n\nio.load()\n"),
            ("star.py", "import pkg\n\npkg.load()\n"),
        ])
    };
    let before = module("def load(): ...\n");
    let impact = ask(&world(&module("")), &[edited("pkg/io.py", &before)]);
    assert_eq!(broken(&impact).0, ["named.py", "module.py"]);
    assert!(impact.candidates().contains("star.py"), "it is told all the same");
    let unpromised = module("").replace("\"load\", ", "");
    let impact = ask(&world(&unpromised), &[edited("pkg/io.py", &before)]);
    assert_eq!(broken(&impact).0.len(), 3, "nobody promises it any more");
}

#[test]
fn decorator_result_replaces_the_signature() {
    let decorators = "class Mapped:\n    def __init__(self, how): ...\n    def __call__(self, f):\n        \
                      def func(*args, wrapper=None, **kwargs):\n            return f(*args)\n        return func\n\n\
                      def mapped(how):\n    return Mapped(how)\n\n\
                      def logged(f):\n    def func(*args, **kwargs):\n        return f(*args)\n    return func\n";
    let broken_under = |decorator: &str| {
        let module = |takes: &str| {
            format!(
                "from pkg.decorators import logged, mapped\n\n{decorator}\ndef f({takes}):\n    return x\n"
            )
        };
        let world = MemoryWorld::new([
            ("pkg/__init__.py", ""),
            ("pkg/decorators.py", decorators),
            ("pkg/a.py", &*module("x, y")),
            ("user.py", "from pkg.a import f\n\nf(1)\n"),
        ]);
        broken(&ask(&world, &[edited("pkg/a.py", &module("x"))])).0.len()
    };
    assert_eq!(broken_under("@mapped('x')"), 0);
    assert_eq!(broken_under("@mapped('x')\n@logged"), 0);
    assert_eq!(broken_under("@logged"), 1, "taken for one that leaves it what it is");
    assert_eq!(broken_under(""), 1);
}
