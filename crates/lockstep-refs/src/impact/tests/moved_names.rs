//! Names that are no longer re-exported, and definitions that move.

use super::*;

#[test]
fn name_lost_by_star_import_breaks_only_star_importers() {
    let before = "__all__ = [\"parse\", \"other\"]\ndef parse(): pass\ndef other(): pass\n";
    let world = MemoryWorld::new([
        ("pkg/__init__.py", ""),
        ("pkg/core.py", "__all__ = [\"other\"]\ndef parse(): pass\ndef other(): pass\n"),
        ("named.py", "from pkg.core import parse\nparse()\n"),
        ("module.py", "import pkg.core as c\nc.parse()\n"),
        ("star.py", "from pkg.core import *\nparse()\n"),
    ]);
    let impact = ask(&world, &[edited("pkg/core.py", before)]);
    assert_eq!(broken(&impact).0, ["star.py"], "{impact:#?}");
}

/// A definition that moved within its package is still found.
#[test]
fn definition_moved_within_its_package_breaks_nothing() {
    // The remaining part, the moved part, its changed signature, its use, and the file names.
    let cases = [
        (
            "package a\n\nfunc Stay() {}\n",
            "func Move(n int) int { return n }\n",
            "func Move(n int, m int) int { return n }\n",
            "package main\n\nimport \"example.org/m/a\"\n\nfunc main() { a.Move(1) }\n",
            ["a/one.go", "a/two.go", "main.go", "package a\n\n"],
        ),
        (
            "package a\n\ntype Stay struct{}\n",
            "func (s Stay) Move(n int) int { return n }\n",
            "func (s Stay) Move(n int, m int) int { return n }\n",
            "package main\n\nimport \"example.org/m/a\"\n\nfunc main() { a.Stay{}.Move(1) }\n",
            ["a/one.go", "a/two.go", "main.go", "package a\n\n"],
        ),
        (
            "package a\n\nfun stay() {}\n",
            "fun move(n: Int): Int = n\n",
            "fun move(n: Int, m: Int): Int = n\n",
            "package b\n\nimport a.move\n\nfun use() = move(1)\n",
            ["src/one.kt", "src/two.kt", "src/use.kt", "package a\n\n"],
        ),
        (
            "namespace A;\npublic class Stay { }\n",
            "public class Move { public Move(int n) { } }\n",
            "public class Move<T> { public Move(int n, int m) { } }\n",
            "using A;\nclass User { void Run() { new Move(1); } }\n",
            ["One.cs", "Two.cs", "User.cs", "namespace A;\n"],
        ),
        (
            "func stay() {}\n",
            "func move(n: Int) -> Int { return n }\n",
            "func move(n: Int, m: Int) -> Int { return n }\n",
            "func use() -> Int { return move(n: 1) }\n",
            ["Sources/A/One.swift", "Sources/A/Two.swift", "Sources/A/Use.swift", ""],
        ),
        (
            "package a;\npublic class One { }\n",
            "class Move { Move(int n) { } }\n",
            "class Move<T> { Move(int n, int m) { } }\n",
            "package a;\nclass User { void run() { new Move(1); } }\n",
            ["src/a/One.java", "src/a/Two.java", "src/a/User.java", "package a;\n"],
        ),
        (
            "export const stay = 1;\n",
            "export function move(n: number) {}\n",
            "export function move(n: number, m: number) {}\n",
            "import { move } from './index';\nmove(1);\n",
            ["src/one.ts", "src/two.ts", "src/use.ts", ""],
        ),
    ];
    for (stay, moved, resigned, user, [one, two, using, head]) in cases {
        let before = format!("{stay}{moved}");
        let world_with = |second: &str| {
            let second = format!("{head}{second}");
            MemoryWorld::new([
                ("go.mod", "module example.org/m\n"),
                ("src/index.ts", "export * from './one';\nexport * from './two';\n"),
                (one, stay),
                (two, &*second),
                (using, user),
            ])
        };
        let created = Edit { before: Before::Absent, ..edited(two, "") };
        let edits = [edited(one, &before), created];
        let impact = ask(&world_with(moved), &edits);
        assert_eq!(broken(&impact).0, [""; 0], "{one}: {impact:#?}");
        assert!(impact.candidates().contains(using), "{one}: who uses it is told");
        assert_eq!(broken(&ask(&world_with(resigned), &edits)).0, [using], "{one}: with another signature");
        assert_eq!(broken(&ask(&world_with(""), &edits)).0, [using], "{one}: when it is gone");
        // The file was deleted, and its content is elsewhere.
        let all = format!("{}{moved}", stay.strip_prefix(head).unwrap_or(stay));
        let second = format!("{head}{all}");
        let world = MemoryWorld::new([
            ("go.mod", "module example.org/m\n"),
            ("src/index.ts", "export * from './two';\n"),
            (two, &*second),
            (using, user),
        ]);
        let created = Edit { before: Before::Absent, ..edited(two, "") };
        let impact = ask(&world, &[deleted(one, &before), created]);
        assert_eq!(broken(&impact).0, [""; 0], "{one}: its file is gone: {impact:#?}");
    }
}

#[test]
fn a_definition_that_moves_where_it_is_not_found_breaks_its_users() {
    let user = "import { move } from './one';\nmove();\n";
    let moved = "export function move() {}\n";
    let world = MemoryWorld::new([("one.ts", ""), ("two.ts", moved), ("use.ts", user)]);
    let created = Edit { before: Before::Absent, ..edited("two.ts", "") };
    let impact = ask(&world, &[edited("one.ts", moved), created]);
    assert_eq!(broken(&impact).0, ["use.ts"]);
}

#[test]
fn removed_reexport_breaks_its_importers() {
    let files = "\
=== a.ts
export function x() {}
export function y() {}
export function z() {}
export default function d() {}
=== index.ts
export { x } from './a';
export { y as why } from './a';
export * from './a';
export * as all from './a';
=== outer.ts
export { x as ex } from './index';
=== u1.ts
import { x } from './index';
x();
=== u2.ts
import { why } from './index';
why();
=== u3.ts
import { z } from './index';
z();
=== u4.ts
import d from './a';
d();
=== u5.ts
import { all } from './index';
all.z();
=== u6.ts
import { z } from './a';
=== u7.ts
import { ex } from './outer';
ex();
=== p/__init__.py
from .m import greet
from .m import part as piece
from .n import *
=== p/m.py
def greet(): ...
def part(): ...
=== p/n.py
def more(): ...
=== v1.py
from p import greet
=== v2.py
import p
p.piece()
=== v3.py
from p import more
more()
=== v4.py
from p.m import greet, part
";
    let cases: [(&str, &str, &str, &[&str]); 9] = [
        // A name that is still available through the star is not missing.
        ("index.ts", "export { x } from './a';\n", "", &[]),
        ("index.ts", "export { y as why } from './a';\n", "", &["u2.ts"]),
        ("index.ts", "y as why", "y as because", &["u2.ts"]),
        ("index.ts", "export * from './a';\n", "", &["u3.ts"]),
        ("index.ts", "export * as all from './a';\n", "", &["u5.ts"]),
        ("a.ts", "export default function", "export function", &["u4.ts"]),
        ("p/__init__.py", "from .m import greet\n", "", &["v1.py"]),
        ("p/__init__.py", "part as piece", "part", &["v2.py"]),
        ("p/__init__.py", "from .n import *\n", "", &["v3.py"]),
    ];
    for (path, from, to, expected) in cases {
        assert_eq!(crate::fixture::breaking(files, path, from, to), expected, "{from} → {to}");
    }
    let files = files.replace("export * from './a';\n", "");
    let lost = crate::fixture::breaking(&files, "index.ts", "export { x } from './a';\n", "");
    // If another file re-exports it by name, that file breaks instead.
    assert_eq!(lost, ["outer.ts", "u1.ts"]);
    let starred = files.replace("export { x as ex } from './index';", "export * from './index';");
    let starred = starred.replace("{ ex }", "{ x as ex }");
    let lost = crate::fixture::breaking(&starred, "index.ts", "export { x } from './a';\n", "");
    assert_eq!(lost, ["u1.ts", "u7.ts"]);
}

#[test]
fn removed_crate_reexport_breaks_its_importers() {
    let files = "\
=== Cargo.toml
[package]
name = \"one\"
=== src/lib.rs
mod a;
mod b;
mod c;
pub use a::x;
=== src/a.rs
pub fn x() {}
=== src/b.rs
fn f() { crate::x(); }
=== src/c.rs
use crate::a::x;
fn f() { x(); }
";
    assert_eq!(crate::fixture::breaking(files, "src/lib.rs", "pub use a::x;\n", ""), ["src/b.rs"]);
}
