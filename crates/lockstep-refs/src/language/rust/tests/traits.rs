//! Fixtures: traits, the members they add to types, and associated names.

use crate::fixture::{breaking, referrers};

/// Returns a crate of these files, whose modules have the files' names.
fn of(files: &str) -> String {
    let names = files.lines().filter_map(|line| line.strip_prefix("=== src/")?.strip_suffix(".rs"));
    let modules: String = names.map(|name| format!("mod {name};\n")).collect();
    format!("=== Cargo.toml\n[package]\nname = \"a\"\n=== src/lib.rs\n{modules}{files}")
}

#[test]
fn a_trait_of_ours_gives_methods_to_types_from_outside() {
    let files = of("\
=== src/iter.rs
pub trait Parallel { fn first(self) -> u8; }
pub trait Ways { type Iter: Parallel; fn par_iter(&self) -> Self::Iter; }
=== src/vector.rs
use crate::iter::*;
fn f() -> u8 { let all: Vec<u8> = Vec::new(); all.par_iter().first() }
=== src/slice.rs
use crate::iter::*;
fn f(all: &[u8]) -> u8 { all.par_iter().first() }
=== src/other.rs
use crate::iter::*;
fn f(all: &[u8]) -> Option<&u8> { all.iter().as_slice().first() }
");
    assert_eq!(
        breaking(&files, "src/iter.rs", "fn first(", "fn foremost("),
        ["src/slice.rs", "src/vector.rs"]
    );
}

#[test]
fn names_in_text_that_cannot_be_read_are_uses_all_the_same() {
    let files = of("\
=== src/tools.rs
pub fn make(n: u8) -> u8 { n }
=== src/user.rs
use crate::tools::make;
fn f() { let x @@ = 1 where ; { make(1) ) }
");
    assert_eq!(breaking(&files, "src/tools.rs", "n: u8)", "n: u8, m: u8)"), ["src/user.rs"]);
}

#[test]
fn without_a_type_by_which_others_are_known_those_are_not() {
    let files = |parameters: &str, operators: &str| {
        format!(
            "\
=== src/lib.rs
mod point;
pub use point::Point;
mod user;
=== src/point.rs
pub struct Point{parameters} {{ pub x: f64 }}
{operators}
=== src/user.rs
use crate::Point;
fn f(p: Point) {{ let x = 2.0 * p; }}
"
        )
    };
    let removed = |parameters: &str, operators: &str| {
        let from = format!("pub struct Point{parameters} {{ pub x: f64 }}");
        breaking(&files(parameters, operators), "src/point.rs", &from, "")
    };
    let all = ["src/lib.rs", "src/user.rs"];
    assert_eq!(removed("", "impl std::ops::Mul<Point> for f64 { type Output = Point; }"), all);
    assert_eq!(removed("<T: Copy = f64>", ""), all);
    assert_eq!(removed("", ""), ["src/lib.rs"]);
    assert_eq!(removed("<'a>", ""), ["src/lib.rs"]);
}

#[test]
fn a_qualified_name_is_that_of_its_trait() {
    let files = of("\
=== src/kinds.rs
pub trait Producer { type Item; fn make() -> u8; }
pub trait Source { type Item; fn make() -> u8; }
=== src/one.rs
use crate::kinds::{Producer, Source};
struct S<I>(I);
impl<I: Source> S<I> where I::Item: Producer { fn f(of: <I::Item as Producer>::Item) {} }
=== src/two.rs
use crate::kinds::{Producer, Source};
struct S<I>(I);
impl<I: Source> S<I> where I::Item: Producer {
    fn f(of: <I as Source>::Item) -> u8 { <I as Source>::make() }
}
");
    let found = |name| referrers(&files, "src/kinds.rs", name);
    assert_eq!(found("Producer.Item"), ["src/one.rs:3 Type"]);
    assert_eq!(found("Source.make"), ["src/two.rs:4 Call(0)"]);
    assert_eq!(found("Producer.make"), [""; 0]);
}

#[test]
fn a_function_may_bound_the_parameters_around_it() {
    let files = of("\
=== src/kinds.rs
pub trait Producer { type Item; }
pub trait Source { type Item; }
=== src/one.rs
use crate::kinds::{Producer, Source};
struct S<A>(A);
impl<A> S<A> {
    fn f(of: A) where A: Source, Vec<A::Item>: Clone {}
}
");
    assert_eq!(referrers(&files, "src/kinds.rs", "Source.Item"), ["src/one.rs:4 Type"]);
    assert_eq!(referrers(&files, "src/kinds.rs", "Producer.Item"), [""; 0]);
}

#[test]
fn removed_trait_breaks_associated_types_through_reexports() {
    let files = "\
=== src/lib.rs
mod hook;
pub use hook::Hook;
mod one;
mod two;
=== src/hook.rs
pub trait Hook { type Error; fn run(&self) -> Result<(), Self::Error>; }
=== src/one.rs
use crate::Hook;
fn f<D: Hook>(d: D) -> Result<(), D::Error> { d.run() }
=== src/two.rs
use crate::Hook;
fn f<D: Hook>(d: D) { d.run(); }
";
    let expected = ["src/lib.rs", "src/one.rs"];
    assert_eq!(breaking(files, "src/hook.rs", "trait Hook", "trait Hooked"), expected);
}

#[test]
fn earlier_import_breaks_if_the_target_file_has_a_test() {
    let files = |test: &str| {
        format!(
            "\
=== src/lib.rs
mod hook;
mod one;
pub use hook::Hook;
=== src/hook.rs
pub trait Hook {{}}
{test}
=== src/one.rs
use crate::Hook;
"
        )
    };
    let missed = |test: &str| breaking(&files(test), "src/hook.rs", "trait Hook", "trait Hooked");
    assert_eq!(missed("#[test]\nfn f() {}"), ["src/lib.rs", "src/one.rs"]);
    assert_eq!(missed("fn f() {}"), ["src/lib.rs"]);
}
