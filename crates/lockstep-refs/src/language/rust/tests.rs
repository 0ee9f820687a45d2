//! Fixtures of several files: references, and cases that cannot be decided.

mod breaks;
mod traits;

use crate::facts::{DefinitionKind, Reach, Role};
use crate::language::Language;
use crate::language::rules;
use crate::overlay::Overlay;
use crate::reference::{Certainty, Reference, Target};
use crate::world::{MemoryWorld, World};

const MANIFEST: &str = "[package]\nname = \"a-b\"\nversion = \"1.0.0\"\n";

/// `file:line role` of every reference to a symbol (`name` or `Type.name`) of a file.
fn referrers(world: &MemoryWorld, file: &str, symbol: &str) -> Vec<String> {
    found(world, file, symbol).iter().map(|found| describe(world, found)).collect()
}

fn found(world: &MemoryWorld, file: &str, symbol: &str) -> Vec<Reference> {
    let file = world.find(file).unwrap();
    let facts = world.facts(file).unwrap();
    let (container, name) = symbol.rsplit_once('.').map_or((None, symbol), |(c, n)| (Some(c), n));
    let symbols: Vec<_> = facts
        .definitions
        .iter()
        .filter(|definition| &*definition.name == name && definition.container.as_deref() == container)
        .cloned()
        .collect();
    assert!(!symbols.is_empty(), "no {symbol}: {:#?}", facts.definitions);
    rules(Language::Rust)
        .referrers(world, &Target { file, symbols: &symbols[..1], module: false, now: None, own_file: false })
}

fn describe(world: &MemoryWorld, found: &Reference) -> String {
    let through =
        found.through.map(|through| format!(" through {}", world.path(through))).unwrap_or_default();
    let sure = match found.certainty {
        Certainty::Possible => "?",
        Certainty::Undecided => "??",
        Certainty::Conditional => "#",
        Certainty::Resolved | Certainty::Untyped => "",
    };
    format!("{}:{} {:?}{sure}{through}", world.path(found.file), found.line, found.role)
}

#[test]
fn imports_are_followed_through_modules_renames_and_globs() {
    let world = MemoryWorld::new([
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", "mod a;\nmod b;\nmod c;\npub use a::f;\n"),
        ("src/a.rs", "pub fn f() {}\npub fn g() {}\n"),
        ("src/b.rs", "use crate::a::{self, f as h};\nfn x() { h(); a::f(); }\n"),
        ("src/c/mod.rs", "use super::a::*;\nmod d;\nfn y() { f(); }\n"),
        ("src/c/d.rs", "use crate::f;\nfn z() { f(); super::super::a::f(); g(); }\n"),
        ("tests/it.rs", "fn t() { a_b::f(); let f = 1; f; }\n"),
    ]);
    assert_eq!(
        referrers(&world, "src/a.rs", "f"),
        [
            "src/b.rs:1 Import",
            "src/b.rs:2 Call",
            "src/b.rs:2 Call",
            "src/c/d.rs:1 Import through src/lib.rs",
            "src/c/d.rs:2 Call through src/lib.rs",
            "src/c/d.rs:2 Call",
            "src/c/mod.rs:3 Call",
            "src/lib.rs:4 Reexport",
            "tests/it.rs:1 Call through src/lib.rs",
        ]
    );
    assert_eq!(referrers(&world, "src/a.rs", "g"), Vec::<String>::new());
}

#[test]
fn methods_belong_to_the_type_of_their_receiver() {
    let world = MemoryWorld::new([
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", "mod a;\nmod b;\n"),
        (
            "src/a.rs",
            "pub struct A { pub n: u32 }\nimpl A { pub fn new() -> Self { A { n: 1 } }\npub fn go(&self) {} }\n\
             pub struct B;\nimpl B { pub fn go(&self) {} }\npub fn make() -> Result<A, ()> { Ok(A::new()) }\n",
        ),
        (
            "src/b.rs",
            "use crate::a::{A, B, make};\nstruct C { a: Box<A>, b: B }\nimpl C { fn x(&self) {\n\
             self.a.go();\nself.b.go();\n}\nfn y() -> Option<()> {\nlet a = A::new(); a.go();\nmake().ok()?.go();\n\
             B.go();\nvec![1].go();\nassert!(A::new().n == 1);\nlet A { n } = make().unwrap();\nNone } }\n",
        ),
    ]);
    assert_eq!(
        referrers(&world, "src/a.rs", "A.go"),
        ["src/b.rs:4 Call", "src/b.rs:8 Call", "src/b.rs:9 Call"]
    );
    assert_eq!(referrers(&world, "src/a.rs", "B.go"), ["src/b.rs:5 Call", "src/b.rs:10 Call"]);
    assert_eq!(referrers(&world, "src/a.rs", "A.n"), ["src/b.rs:12 Value", "src/b.rs:13 Pattern"]);
}

#[test]
fn traits_are_extended_overridden_and_called() {
    let world = MemoryWorld::new([
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", "mod a;\nmod b;\nmod c;\n"),
        ("src/a.rs", "pub trait T { fn go(&self); fn all(&self) { self.go() } }\n"),
        ("src/b.rs", "use crate::a::T;\npub struct B;\nimpl T for B { fn go(&self) {} }\n"),
        ("src/c.rs", "use crate::{a::T, b::B};\nfn x<X: T>(x: &X, b: B) { x.go(); b.all();\nT::go(x); }\n"),
    ]);
    assert_eq!(referrers(&world, "src/a.rs", "T")[1], "src/b.rs:3 Extend");
    assert_eq!(
        referrers(&world, "src/a.rs", "T.go"),
        ["src/b.rs:3 Override", "src/c.rs:2 Call", "src/c.rs:3 Call"]
    );
    assert_eq!(referrers(&world, "src/a.rs", "T.all"), ["src/c.rs:2 Call"]);
    let calls = found(&world, "src/a.rs", "T.go");
    assert!(calls.iter().filter(|call| call.role == Role::Call).all(|call| call.arguments == Some(0)));
}

#[test]
fn names_inside_macro_invocations_are_uses() {
    let world = MemoryWorld::new([
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", "#[macro_use]\nmod a;\nmod b;\n"),
        ("src/a.rs", "macro_rules! m { ($x:expr) => { $crate::b::f($x) } }\npub const N: u8 = 1;\n"),
        (
            "src/b.rs",
            "use crate::a::N;\npub fn f(x: u8) {}\nfn y() { m!(1); println!(\"{N}\"); q! { x => N } }\n",
        ),
    ]);
    assert_eq!(referrers(&world, "src/a.rs", "m"), ["src/b.rs:3 Call"]);
    assert_eq!(referrers(&world, "src/b.rs", "f"), ["src/a.rs:1 Call"]);
    assert_eq!(referrers(&world, "src/a.rs", "N"), ["src/b.rs:1 Import", "src/b.rs:3 Value"]);
}

#[test]
fn packages_of_a_workspace_know_each_other() {
    let world = MemoryWorld::new([
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"x\", \"y\"]\n[workspace.dependencies]\nx-lib = { path = \"x\" }\n",
        ),
        ("x/Cargo.toml", "[package]\nname = \"x-lib\"\n"),
        ("x/src/lib.rs", "pub mod deep;\npub enum E { One, Two(u8) }\n"),
        ("x/src/deep.rs", "pub struct S;\n"),
        (
            "y/Cargo.toml",
            "[package]\nname = \"y\"\n[dependencies]\nx-lib.workspace = true\n[dev-dependencies]\nz = { path = \"../x\", package = \"x-lib\" }\n",
        ),
        (
            "y/src/main.rs",
            "use x_lib::deep::S;\nuse x_lib::E::{self, *};\nfn main() { let _ = (S, E::One, Two(1)); }\n",
        ),
        ("y/tests/t.rs", "use z::deep;\nfn t(_: deep::S) {}\n"),
    ]);
    assert_eq!(
        referrers(&world, "x/src/deep.rs", "S"),
        ["y/src/main.rs:1 Import", "y/src/main.rs:3 Value", "y/tests/t.rs:2 Type"]
    );
    assert_eq!(referrers(&world, "x/src/lib.rs", "E.One"), ["y/src/main.rs:3 Value"]);
    assert_eq!(referrers(&world, "x/src/lib.rs", "E.Two"), ["y/src/main.rs:3 Call"]);
}

#[test]
fn unresolved_imports_are_counted() {
    let world = MemoryWorld::new([
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", "mod gone;\nmod a;\nuse crate::a::Missing;\nuse std::fmt;\nuse a::f;\n"),
        ("src/a.rs", "pub fn f() {}\n"),
    ]);
    let outgoing = rules(Language::Rust).outgoing(&world, world.find("src/lib.rs").unwrap());
    let lines: Vec<u32> = outgoing.unresolved.iter().map(|place| place.line).collect();
    assert_eq!(lines, [1, 3]);
    assert_eq!(outgoing.external, 1);
    assert_eq!(outgoing.references.len(), 2);
}

#[test]
fn a_name_that_a_macro_of_another_crate_makes_is_not_missing() {
    let world = MemoryWorld::new([
        ("Cargo.toml", "[workspace]\nmembers = [\"x\", \"y\"]\n"),
        ("x/Cargo.toml", "[package]\nname = \"x\"\n"),
        ("x/src/lib.rs", "make! { Made }\n"),
        ("y/Cargo.toml", "[package]\nname = \"y\"\n[dependencies]\nx = { path = \"../x\" }\n"),
        ("y/src/lib.rs", "use x::Made;\npub fn f(_: Made) {}\n"),
    ]);
    let outgoing = rules(Language::Rust).outgoing(&world, world.find("y/src/lib.rs").unwrap());
    assert_eq!(outgoing.unresolved, []);
}

#[test]
fn a_file_is_found_by_its_module() {
    let world = MemoryWorld::new([
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", "#[path = \"odd/name.rs\"]\nmod a;\nmod b;\n"),
        ("src/odd/name.rs", "pub fn f() {}\n"),
        ("src/b.rs", "use crate::a::f;\n"),
    ]);
    let file = world.find("src/odd/name.rs").unwrap();
    let found = rules(Language::Rust)
        .referrers(&world, &Target { file, symbols: &[], module: true, now: None, own_file: false });
    let text: Vec<String> = found.iter().map(|found| describe(&world, found)).collect();
    assert_eq!(text, ["src/b.rs:1 Import", "src/lib.rs:2 Import"]);
}

#[test]
fn field_and_method_of_one_name_are_distinguished() {
    let world = MemoryWorld::new([
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", "mod a;\nmod b;\n"),
        ("src/a.rs", "pub struct A { pub n: u32 }\nimpl A { pub fn n(self) -> Self { self } }\n"),
        ("src/b.rs", "use crate::a::A;\nfn x(a: A) {\na.n().n();\nlet _ = a.n;\n}\n"),
    ]);
    let of = |kind| {
        let file = world.find("src/a.rs").unwrap();
        let facts = world.facts(file).unwrap();
        let symbols: Vec<_> = facts.definitions.iter().filter(|d| d.kind == kind).cloned().collect();
        let target = Target { file, symbols: &symbols, module: false, now: None, own_file: false };
        let found = rules(Language::Rust).referrers(&world, &target);
        found.iter().map(|found| describe(&world, found)).collect::<Vec<_>>()
    };
    assert_eq!(of(DefinitionKind::Method), ["src/b.rs:3 Call"]);
    assert_eq!(of(DefinitionKind::Field), ["src/b.rs:4 Value"]);
}

#[test]
fn inference_follows_aliases_closures_and_iterators() {
    let world = MemoryWorld::new([
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", "mod a;\nmod b;\n"),
        (
            "src/a.rs",
            "pub struct E;\nimpl E { pub fn exit(&self) {} }\npub struct O;\nimpl O { pub fn exit(&self) {} }\n\
             pub type Result<T, X = E> = std::result::Result<T, X>;\npub fn run() -> Result<O> { Ok(O) }\n\
             pub struct All;\nimpl Iterator for All { type Item = (u8, O); fn next(&mut self) -> Option<(u8, O)> { None } }\n",
        ),
        (
            "src/b.rs",
            "use crate::a::{All, run};\nfn x(all: All) {\nrun().unwrap_or_else(|e| e.exit());\nrun().unwrap().exit();\n\
             all.filter(|(_, o)| o.exit());\nfor (_, o) in All { o.exit() }\n}\n",
        ),
    ]);
    assert_eq!(referrers(&world, "src/a.rs", "E.exit"), ["src/b.rs:3 Call"]);
    assert_eq!(
        referrers(&world, "src/a.rs", "O.exit"),
        ["src/b.rs:4 Call", "src/b.rs:5 Call", "src/b.rs:6 Call"]
    );
}

#[test]
fn use_inside_an_exported_macro_is_untyped() {
    let world = MemoryWorld::new([
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", "#[macro_use]\nmod a;\npub mod b;\n"),
        ("src/a.rs", "#[macro_export]\nmacro_rules! m { () => { $crate::b::F } }\n"),
        ("src/b.rs", "pub const F: u8 = 1;\n"),
    ]);
    assert_eq!(found(&world, "src/b.rs", "F")[0].certainty, Certainty::Untyped);
}

#[test]
fn private_items_reach_the_modules_below() {
    let reach = |text: &str, name: &str| {
        let facts = rules(Language::Rust).facts("src/lib.rs", text);
        facts.definitions.iter().find(|definition| &*definition.name == name).unwrap().reach
    };
    assert_eq!(reach("mod a;\nfn f() {}\n", "f"), Reach::Package);
    assert_eq!(reach("fn f() {}\n", "f"), Reach::File);
    assert_eq!(reach("mod a;\nmod t { fn f() {} }\n", "f"), Reach::File);
    assert_eq!(reach("mod a;\npub enum E { One { n: u8 } }\n", "One"), Reach::Everyone);
    assert_eq!(reach("trait T { fn f(&self); }\n", "f"), Reach::File);
    assert_eq!(reach("pub struct S;\nimpl Drop for S { fn drop(&mut self) {} }\n", "drop"), Reach::File);
}

#[test]
fn import_before_the_removed_reexport_breaks_too() {
    let world = MemoryWorld::new([
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", "mod a;\nmod b;\nmod early;\npub use a::f;\npub use b::g;\nmod late;\n"),
        ("src/a.rs", "pub fn f() {}\n#[derive(Clone)]\npub struct S;\n"),
        ("src/b.rs", "pub fn g() {}\n"),
        ("src/early.rs", "use crate::f;\nuse crate::g;\n"),
        ("src/late.rs", "use crate::f;\n"),
    ]);
    assert_eq!(
        referrers(&world, "src/a.rs", "f"),
        ["src/early.rs:1 Import", "src/late.rs:1 Import through src/lib.rs", "src/lib.rs:4 Reexport"]
    );
    // If no macro could still add the name, only the re-export breaks.
    assert_eq!(
        referrers(&world, "src/b.rs", "g"),
        ["src/early.rs:2 Import through src/lib.rs", "src/lib.rs:5 Reexport"]
    );
}

#[test]
fn a_method_that_many_types_have_is_undecided_on_an_unknown_value() {
    let world = MemoryWorld::new([
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", "mod a;\nmod b;\nmod c;\n"),
        ("src/a.rs", "pub struct A;\nimpl A { pub fn turn(&self) {} }\n"),
        ("src/b.rs", "pub struct B;\nimpl B { pub fn turn(&self) {} }\n"),
        ("src/c.rs", "fn c() { let x = unknown::thing(); x.turn(); }\n"),
    ]);
    assert_eq!(referrers(&world, "src/a.rs", "A.turn"), ["src/c.rs:1 Call??"]);
}

#[test]
fn a_function_that_is_called_for_a_type_gives_it() {
    let world = MemoryWorld::new([
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", "mod a;\nmod b;\nmod c;\n"),
        (
            "src/a.rs",
            "pub struct Value;\nimpl Value { pub fn into_own(self) {} }\npub struct Raw;\nimpl Raw { pub fn into_own(self) {} }\n\
             pub fn read<T: Default>(text: &str) -> Result<T, u8> { todo!() }\npub fn fixed<T>() -> Raw { Raw }\n",
        ),
        (
            "src/b.rs",
            "use crate::a;\nfn f() { let a = 1; let v = a::read::<a::Value>(\"\").unwrap(); v.into_own(); }\n",
        ),
        ("src/c.rs", "use crate::a;\nfn f() { a::fixed::<a::Value>().into_own(); }\n"),
    ]);
    assert_eq!(referrers(&world, "src/a.rs", "Value.into_own"), ["src/b.rs:2 Call"]);
}

#[test]
fn members_do_not_depend_on_the_order_of_questions() {
    let world = MemoryWorld::new([
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", "mod a;\nmod b;\nmod c;\n"),
        // Traits that go round, as in code that is half written.
        (
            "src/a.rs",
            "pub trait A: B + C {}\npub trait B: A {}\npub trait C { fn turn(&self); }\n\
             pub struct D;\nimpl D { pub fn turn(&self) {} }\npub struct E;\nimpl E { pub fn turn(&self) {} }\n",
        ),
        ("src/b.rs", "use crate::a::A;\nfn f(x: &dyn A) { x.turn(); }\n"),
        ("src/c.rs", "use crate::a::B;\nfn f(x: &dyn B) { x.turn(); }\n"),
    ]);
    let file = world.find("src/a.rs").unwrap();
    let facts = world.facts(file).unwrap();
    let all: Vec<_> =
        facts.definitions.iter().filter(|definition| &*definition.name == "turn").cloned().collect();
    let ask = |world: &dyn World, at: usize| {
        let symbols = &all[at..=at];
        rules(Language::Rust)
            .referrers(world, &Target { file, symbols, module: false, now: None, own_file: false })
    };
    let alone: Vec<_> = (0..all.len()).map(|at| ask(&Overlay::empty(&world), at)).collect();
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
        let shared = Overlay::empty(&world);
        for at in order {
            assert_eq!(ask(&shared, at), alone[at], "{order:?}");
        }
    }
    let found: Vec<String> = alone[0].iter().map(|found| describe(&world, found)).collect();
    assert_eq!(found, ["src/b.rs:2 Call", "src/c.rs:2 Call"]);
}
