//! Signature edits that callers do not notice, and edits that break them, by language. The expectations of C, C++, Go, Java,
//! Rust, TypeScript and Python were checked with their compilers.

mod class_languages;

use crate::fixture::verdict;

/// Checks edits of the first file of `files`: the old text, the new text, and the verdict.
fn check(files: &str, path: &str, edits: &[(&str, &str, &str)]) {
    let wrong: Vec<String> = edits
        .iter()
        .filter_map(|(from, to, expected)| {
            let found = verdict(files, path, from, to);
            (found != *expected).then(|| format!("{from} -> {to}: {found}, expected {expected}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{path}:\n{}", wrong.join("\n"));
}

const JAVA: &str = r#"
=== core/Kit.java
package core;
import java.util.*;
public class Kit {
    public static int send(String name, int count, List<String> items) throws RuntimeException { return 1; }
    protected Object load(int id) { return null; }
    public void done(String why) {}
}
=== core/Use.java
package core;
import java.util.*;
public class Use {
    int run() { new Kit().load(1); new Kit().done("x"); return Kit.send("a", 1, new ArrayList<>()); }
}
"#;

#[test]
fn java() {
    check(
        JAVA,
        "core/Kit.java",
        &[
            ("String name, int count", "String title, int number", "fits"),
            ("String name", "final String name", "fits"),
            ("String name", "@Deprecated String name", "fits"),
            ("String name", "CharSequence name", "fits"),
            ("String name", "Object name", "fits"),
            ("int count", "long count", "fits"),
            ("List<String> items", "Collection<String> items", "fits"),
            ("List<String> items", "List<String>... items", "fits"),
            ("public static int", "@Deprecated\n    public static final synchronized int", "fits"),
            ("throws RuntimeException", "throws IllegalStateException", "fits"),
            ("throws RuntimeException ", "", "fits"),
            ("protected Object load", "public Object load", "fits"),
            ("Object load", "String load", "fits"),
            ("void done", "boolean done", "fits"),
            ("String name, int count", "int count, String name", "breaks"),
            ("int count", "String count", "breaks"),
            ("String name", "int name", "breaks"),
            ("String name, ", "", "breaks"),
            ("String name", "String name, int extra", "breaks"),
            ("static int", "static String", "breaks"),
            ("static int", "static void", "breaks"),
            ("public static int", "public int", "breaks"),
            ("throws RuntimeException", "throws java.io.IOException", "breaks"),
            ("String name", "Name name", "possible"),
            ("static int", "static Number", "possible"),
        ],
    );
}

const JAVA_OVERRIDE: &str = r#"
=== core/Base.java
package core;
public class Base {
    public Object load(int id) { return null; }
}
=== core/Heir.java
package core;
public class Heir extends Base {
    @Override public Object load(int id) { return null; }
}
"#;

#[test]
fn java_overrides() {
    check(
        JAVA_OVERRIDE,
        "core/Base.java",
        &[
            ("int id", "int key", "fits"),
            ("int id", "final int id", "fits"),
            ("return null", "return 1", "fits"),
            ("public Object load", "@Deprecated public Object load", "fits"),
            ("public Object load", "public final Object load", "breaks"),
            ("int id", "long id", "breaks"),
            ("int id", "int id, int more", "breaks"),
            ("public Object load", "public String load", "breaks"),
        ],
    );
}

const GO: &str = r#"
=== go.mod
module example.com/m
=== kit/kit.go
package kit

type Box struct{}

func Send(name string, count int, tags []string) int { return 1 }

func (b *Box) Load(id int) (string, error) { return "", nil }

func Done(why string) {}
=== use/use.go
package use

import "example.com/m/kit"

func Run() int {
	b := &kit.Box{}
	b.Load(1)
	kit.Done("x")
	return kit.Send("a", 1, nil)
}
"#;

#[test]
fn go() {
    check(
        GO,
        "kit/kit.go",
        &[
            ("name string, count int", "title string, number int", "fits"),
            ("name string, count int, tags", "name string, count int, _", "fits"),
            ("name string", "name any", "fits"),
            ("name string", "name interface{}", "fits"),
            ("tags []string)", "tags []string, more ...int)", "fits"),
            ("(b *Box)", "(box *Box)", "fits"),
            ("(why string) {", "(why string) int {", "fits"),
            ("(string, error)", "(text string, err error)", "fits"),
            ("name string, count int", "count int, name string", "breaks"),
            ("name string", "name bool", "breaks"),
            ("count int", "count string", "breaks"),
            ("name string, ", "", "breaks"),
            ("name string,", "name string, extra int,", "breaks"),
            (") int {", ") string {", "breaks"),
            (") int {", ") {", "breaks"),
            ("count int", "count int64", "possible"),
            ("name string", "name Name", "possible"),
        ],
    );
}

const CONSTRUCTORS: &str = r#"
=== kit.hpp
class Base { public: Base(int a); };
class Kit : public Base {
public:
    Kit(int a, int b) : Base(a), b_(b) {}
private:
    int b_;
};
=== use.cpp
#include "kit.hpp"
int run() { Kit kit(1, 2); Kit* other = new Kit(1, 2); return other == &kit; }
"#;

#[test]
fn cpp_constructors() {
    check(
        CONSTRUCTORS,
        "kit.hpp",
        &[
            ("Base(a), b_(b)", "Base(b), b_(a)", "fits"),
            ("Kit(int a, int b)", "Kit(int one, int b)", "fits"),
            ("Kit(int a, int b)", "Kit(int a, int b, int c)", "breaks"),
        ],
    );
}

const C: &str = r#"
=== kit.h
int send(const char *name, int count, unsigned flags);
void done(char *why);
=== use.c
#include "kit.h"
int run(void) { done("x"); return send("a", 1, 2); }
"#;

#[test]
fn c() {
    check(
        C,
        "kit.h",
        &[
            ("const char *name, int count", "const char *title, int number", "fits"),
            ("const char *name", "const char *", "fits"),
            ("int count", "const int count", "fits"),
            ("int count", "long count", "fits"),
            ("char *why", "const char *why", "fits"),
            ("const char *name", "const void *name", "fits"),
            ("unsigned flags", "unsigned flags, ...", "fits"),
            ("int send", "extern int send", "fits"),
            ("int send", "long send", "fits"),
            ("void done", "int done", "fits"),
            ("const char *name, ", "", "breaks"),
            ("unsigned flags", "unsigned flags, int more", "breaks"),
            ("int count", "int *count", "breaks"),
            ("int count", "char *count", "breaks"),
            ("int send", "void send", "breaks"),
            ("const char *name, int count", "int count, const char *name", "breaks"),
            ("const char *name", "int name", "breaks"),
            ("const char *name", "struct name *name", "possible"),
        ],
    );
}

const CPP: &str = r#"
=== kit.hpp
#include <string>
#include <vector>
class Kit {
public:
    int send(std::string name, int count, const std::vector<int>& items);
    void done(const std::string& why);
};
=== use.cpp
#include "kit.hpp"
int run(Kit& kit) { kit.done("x"); return kit.send("a", 1, {}); }
"#;

#[test]
fn cpp() {
    check(
        CPP,
        "kit.hpp",
        &[
            ("std::string name, int count", "std::string title, int number", "fits"),
            ("std::string name", "const std::string& name", "fits"),
            ("std::string name", "std::string_view name", "fits"),
            ("int count", "const int count", "fits"),
            ("int count", "long count", "fits"),
            ("int send", "[[nodiscard]] int send", "fits"),
            ("int send", "virtual int send", "fits"),
            ("items);", "items) const noexcept;", "fits"),
            ("items);", "items, int more = 1);", "fits"),
            ("void done", "bool done", "fits"),
            ("std::string name, ", "", "breaks"),
            ("items);", "items, int more);", "breaks"),
            ("int send", "void send", "breaks"),
            ("items);", "items) = delete;", "breaks"),
            ("std::string name, int count", "int count, std::string name", "breaks"),
            ("std::string name", "Name name", "possible"),
            ("const std::vector<int>& items", "std::vector<int>&& items", "possible"),
        ],
    );
}

const RUST: &str = r#"
=== Cargo.toml
[package]
name = "kit"
=== src/lib.rs
pub mod kit;
pub mod user;
=== src/kit.rs
pub struct Kit;
pub fn send(name: &String, count: i32, items: &Vec<u8>) -> Option<u8> { None }
pub fn fill(items: &mut Vec<u8>, text: String) {}
impl Kit { pub fn load(&mut self, id: u32) -> u8 { 1 } }
=== src/user.rs
use crate::kit::{fill, send, Kit};
pub fn run(mut kit: Kit, name: String, mut items: Vec<u8>) -> Option<u8> {
    kit.load(1);
    fill(&mut items, name.clone());
    send(&name, 1, &items)
}
"#;

#[test]
fn rust() {
    check(
        RUST,
        "src/kit.rs",
        &[
            ("name: &String, count: i32", "title: &String, number: i32", "fits"),
            ("name: &String", "name: &str", "fits"),
            ("items: &Vec<u8>)", "items: &[u8])", "fits"),
            ("name: &String", "name: impl AsRef<str>", "fits"),
            ("items: &mut Vec<u8>", "items: &Vec<u8>", "fits"),
            ("text: String", "text: impl Into<String>", "fits"),
            ("text: String", "mut text: String", "fits"),
            ("pub fn send", "#[inline]\npub const fn send", "fits"),
            ("send(name: &String", "send<'a>(name: &'a String", "fits"),
            ("&mut self", "&self", "fits"),
            ("name: &String, ", "", "breaks"),
            ("text: String", "text: String, more: u8", "breaks"),
            ("text: String", "text: bool", "breaks"),
            ("pub fn fill", "pub async fn fill", "breaks"),
            ("pub fn fill", "pub unsafe fn fill", "breaks"),
            ("name: &String, count: i32", "count: i32, name: &String", "breaks"),
            ("text: String", "text: &str", "breaks"),
            ("count: i32", "count: bool", "breaks"),
            ("count: i32", "count: i64", "possible"),
            ("-> Option<u8>", "-> Result<u8, ()>", "possible"),
        ],
    );
}

const TYPESCRIPT: &str = r#"
=== kit.ts
export function send(name: string, count: number, options: { deep: boolean }): string | null { return null; }
export const load = (id: string): Promise<number> => Promise.resolve(1);
export function done(why: "a" | "b"): void {}
=== use.ts
import { send, load, done } from "./kit";
export const all = ["a"].map(load);
done("a");
send("a", 1, { deep: true });
"#;

#[test]
fn typescript() {
    check(
        TYPESCRIPT,
        "kit.ts",
        &[
            ("name: string, count: number", "title: string, amount: number", "fits"),
            ("name: string", "name: string | undefined", "fits"),
            ("name: string", "name: string | number", "fits"),
            ("name: string", "name: unknown", "fits"),
            ("deep: boolean }", "deep?: boolean }", "fits"),
            ("deep: boolean }", "deep: boolean; more?: string }", "fits"),
            ("boolean })", "boolean }, more?: number)", "fits"),
            ("boolean })", "boolean }, ...more: number[])", "fits"),
            ("(name: string", "<T>(name: T", "fits"),
            (": string | null", ": string", "fits"),
            ("id: string", "id: string | number", "fits"),
            ("why: \"a\" | \"b\"", "why: string", "fits"),
            ("): void", "): boolean", "fits"),
            ("name: string, ", "", "breaks"),
            ("name: string", "name: boolean", "breaks"),
            ("boolean })", "boolean }, more: number)", "breaks"),
            ("name: string, count: number", "count: number, name: string", "breaks"),
            ("count: number", "count: string", "breaks"),
            ("count: number", "count: boolean", "breaks"),
            ("boolean })", "boolean }, more: string, last: number)", "breaks"),
            ("id: string)", "id: string, more: number)", "possible"),
            ("name: string", "name: Name", "possible"),
            ("why: \"a\" | \"b\"", "why: \"b\"", "possible"),
        ],
    );
}

const PYTHON: &str = r#"
=== kit.py
def send(name: str, count: int = 1, *, deep: bool = False) -> str | None:
    return None


def load(id: int) -> list[str]:
    return []
=== use.py
from kit import send, load
send("a", 1, deep=True)
all = list(map(load, [1]))
"#;

#[test]
fn python() {
    check(
        PYTHON,
        "kit.py",
        &[
            ("name: str", "title: str", "fits"),
            ("name: str", "name: str | None", "fits"),
            ("name: str", "name: Optional[str]", "fits"),
            ("name: str", "name: object", "fits"),
            ("count: int = 1", "count: int = 2", "fits"),
            ("count: int = 1", "count: float = 1", "fits"),
            ("-> str | None", "-> str", "fits"),
            ("False)", "False, more: int = 1)", "fits"),
            ("False)", "False, **more)", "fits"),
            ("id: int", "id: int | str", "fits"),
            ("name: str, ", "", "breaks"),
            ("name: str,", "name: str, extra: bytes, other: bytes,", "breaks"),
            ("deep: bool", "shallow: bool", "breaks"),
            ("name: str", "name: int", "breaks"),
            ("def send", "async def send", "breaks"),
            ("id: int", "id: str", "breaks"),
            ("id: int", "id: int, more: int", "breaks"),
            ("count: int = 1, *", "*", "breaks"),
        ],
    );
}

const HINTS: &str = r#"
=== kit.py
class Kit:
    def send(self, name, count=1):
        return None
=== use.py
from kit import Kit


class Heir(Kit):
    def send(self, name, count=1):
        return None


Kit().send("a", 1)
"#;

#[test]
fn python_hints() {
    check(
        HINTS,
        "kit.py",
        &[
            ("name, count=1", "name: str, count: int = 1", "fits"),
            ("count=1):", "count=1) -> None:", "fits"),
            ("name, count=1", "name, count=2,", "fits"),
            ("name, count=1", "name", "breaks"),
        ],
    );
}
