//! Fixtures: files that a change breaks, depending on the kind of use.

use crate::fixture::{breaking, referrers};

const FIELDS: &str = "\
=== src/lib.rs
mod kinds;
mod literal;
mod base;
mod closed;
mod open;
mod other;
mod token;
=== src/kinds.rs
#[derive(Default)]
pub struct S { pub first: u8, pub second: u8 }
pub enum E { Named { first: u8, second: u8 }, Plain(u8) }
=== src/literal.rs
use crate::kinds::S;
fn f() -> S { S { first: 1, second: 2 } }
=== src/base.rs
use crate::kinds::S;
fn f() -> S { S { second: 1, ..Default::default() } }
=== src/closed.rs
use crate::kinds::{E, S};
fn f(s: S, e: E) { let S { first, second } = s; if let E::Named { first, second } = e {} }
=== src/open.rs
use crate::kinds::{E, S};
fn f(s: S, e: E) -> u8 {
    let S { second, .. } = s;
    match e { E::Named { second, .. } => second, E::Plain(..) => 1 }
}
=== src/other.rs
use crate::kinds::{E, S};
fn f(s: &S) -> bool { matches!(g(), E::Named { .. }) }
fn g() -> E { todo!() }
=== src/token.rs
use crate::kinds::S;
fn f(s: &S) -> u8 { own! { x => s.first } }
";

#[test]
fn a_removed_field_breaks_who_names_it() {
    assert_eq!(
        breaking(FIELDS, "src/kinds.rs", "S { pub first: u8, ", "S { "),
        ["src/closed.rs", "src/literal.rs", "src/token.rs"]
    );
}

#[test]
fn a_field_more_breaks_what_names_them_all() {
    assert_eq!(
        breaking(FIELDS, "src/kinds.rs", "pub second: u8 }", "pub second: u8, pub third: u8 }"),
        ["src/closed.rs", "src/literal.rs"]
    );
    assert_eq!(
        breaking(FIELDS, "src/kinds.rs", "second: u8 },", "second: u8, third: u8 },"),
        ["src/closed.rs"]
    );
    assert_eq!(breaking(FIELDS, "src/kinds.rs", "Plain(u8)", "Plain(u8, u8)"), [""; 0]);
}

#[test]
fn field_pattern_breaks_with_the_field_type() {
    let files = "\
=== src/lib.rs
mod kinds;
mod named;
mod told;
=== src/kinds.rs
pub struct E { pub inner: Option<u8> }
=== src/named.rs
use crate::kinds::E;
fn f(e: E) { let E { inner: _any } = e; }
=== src/told.rs
use crate::kinds::E;
fn f(e: E) -> bool { matches!(e, E { .. }) || match e { E { inner: None } => true, _ => false } }
";
    assert_eq!(breaking(files, "src/kinds.rs", "Option<u8>", "Box<u8>"), ["src/told.rs"]);
}

#[test]
fn a_method_is_not_a_field_of_the_same_name() {
    let files = "\
=== src/lib.rs
mod pair;
mod literal;
mod path;
=== src/pair.rs
pub struct Pair { pub key: u8 }
impl Pair { pub fn key(&self) -> u8 { 1 } }
=== src/literal.rs
use crate::pair::Pair;
fn f(key: u8) -> Pair { Pair { key } }
=== src/path.rs
use crate::pair::Pair;
fn f(all: &[Pair]) -> u8 { all.iter().map(Pair::key).sum() }
";
    assert_eq!(breaking(files, "src/pair.rs", "fn key", "fn name"), ["src/path.rs"]);
    assert_eq!(breaking(files, "src/pair.rs", "pub key: u8", "pub key: (u8,)"), ["src/literal.rs"]);
}

#[test]
fn unused_type_parameter_breaks_every_use_of_the_type() {
    let files = "\
=== src/lib.rs
mod map;
mod user;
pub use map::Map;
=== src/map.rs
pub struct Map<K, S> { core: Vec<K>, hash: S }
impl<K, S> Map<K, S> { pub fn new() -> Self { todo!() } }
=== src/user.rs
use crate::Map;
fn f() { Map::new(); }
";
    assert_eq!(breaking(files, "src/map.rs", "core: Vec<K>, ", ""), ["src/user.rs"]);
    assert_eq!(breaking(files, "src/map.rs", "core: Vec<K>", "core: Box<[K]>"), [""; 0]);
}

#[test]
fn code_outside_ordinary_builds_is_listed_but_does_not_break() {
    let files = "\
=== Cargo.toml
[package]
name = \"a\"
[features]
default = [\"std\"]
std = []
=== src/lib.rs
mod kinds;
mod user;
#[cfg(not(feature = \"std\"))]
mod bare;
=== src/kinds.rs
#[cfg(feature = \"std\")]
pub struct S { pub first: u8 }
#[cfg(not(feature = \"std\"))]
pub struct S { pub first: u8 }
pub fn f() {}
=== src/user.rs
use crate::kinds::{S, f};
fn g(s: &S) -> u8 {
    f();
    s.first
}
=== src/bare.rs
use crate::kinds::f;
";
    let stands = "pub struct S { pub first: u8 }\n#";
    assert_eq!(
        breaking(files, "src/kinds.rs", stands, "pub struct S { pub second: u8 }\n#"),
        ["src/user.rs"]
    );
    let twin = "pub struct S { pub first: u8 }\npub";
    assert_eq!(breaking(files, "src/kinds.rs", twin, "pub struct S { pub second: u8 }\npub"), [""; 0]);
    assert_eq!(breaking(files, "src/kinds.rs", "fn f()", "fn h()"), ["src/user.rs"]);
    assert_eq!(referrers(files, "src/kinds.rs", "f")[0], "src/bare.rs:1 Import#");
}

#[test]
fn a_macro_is_seen_below_its_module_and_where_macro_use_lets_it_out() {
    let files = "\
=== src/lib.rs
#[macro_use]
mod macros;
mod shut;
mod user;
=== src/macros.rs
macro_rules! wide { () => {} }
=== src/shut.rs
macro_rules! narrow { () => {} }
mod below;
fn f() { macro_rules! local { () => {} } local!(); }
=== src/shut/below.rs
fn f() { narrow!(); wide!(); }
=== src/user.rs
fn f() { narrow!(); wide!(); local!(); }
";
    assert_eq!(breaking(files, "src/macros.rs", "wide", "vast"), ["src/shut/below.rs", "src/user.rs"]);
    assert_eq!(breaking(files, "src/shut.rs", "narrow", "slim"), ["src/shut/below.rs"]);
    assert_eq!(breaking(files, "src/shut.rs", "local", "own"), [""; 0]);
}

#[test]
fn a_macro_is_used_where_one_that_uses_it_is() {
    let files = |used: &str| {
        format!(
            "\
=== src/lib.rs
mod kinds;
mod macros;
=== src/kinds.rs
pub struct P;
impl P {{ pub fn new() -> P {{ P }} }}
=== src/macros.rs
macro_rules! outer {{ () => {{ inner!() }} }}
macro_rules! inner {{ () => {{ $crate::kinds::P::new() }} }}
{used}
"
        )
    };
    let renamed = |used: &str| breaking(&files(used), "src/kinds.rs", "fn new", "fn make");
    assert_eq!(renamed("fn f() { outer!(); }"), ["src/macros.rs"]);
    assert_eq!(renamed(""), [""; 0]);
}

#[test]
fn reexporting_an_enum_does_not_reexport_its_variants() {
    let files = "\
=== src/lib.rs
mod kinds;
mod plus;
pub use kinds::Sign;
pub use plus::Plus;
mod named;
mod glob;
mod path;
=== src/kinds.rs
pub enum Sign { Plus, Zero }
=== src/plus.rs
pub struct Plus;
=== src/named.rs
use crate::Sign::{self, Plus};
fn f() -> Sign { Plus }
=== src/glob.rs
use crate::Sign::*;
fn f() -> crate::Sign { Plus }
=== src/path.rs
use crate::Sign;
fn f(s: Option<Sign>) -> bool { match s { Some(Sign::Plus) => true, _ => false } }
";
    let all = ["src/glob.rs", "src/named.rs", "src/path.rs"];
    assert_eq!(breaking(files, "src/kinds.rs", "Plus", "Minus"), all);
    assert_eq!(
        breaking(files, "src/kinds.rs", "Plus", "Plus(u8)"),
        ["src/glob.rs", "src/named.rs", "src/path.rs"]
    );
}

#[test]
fn removed_reexported_variant_breaks_all_uses() {
    let files = "\
=== src/lib.rs
pub use crate::Way::{In, Out};
pub mod prelude;
mod bare;
mod path;
mod type_only;
pub enum Way { In, Out }
=== src/prelude.rs
pub use crate::{In, Way};
=== src/bare.rs
use crate::In;
fn f() -> crate::Way { In }
=== src/path.rs
use crate::prelude::Way;
fn f(way: Way) -> bool { matches!(way, Way::In) }
=== src/type_only.rs
use crate::prelude::Way;
fn f(way: Way) {}
";
    let all = ["src/bare.rs", "src/path.rs", "src/prelude.rs"];
    assert_eq!(breaking(files, "src/lib.rs", "Way { In,", "Way { Within,"), all);
    assert_eq!(breaking(files, "src/lib.rs", "Way { In,", "Way {"), all);
}

#[test]
fn a_variable_does_not_hide_a_module_of_its_name() {
    let files = "\
=== src/lib.rs
mod ast;
mod print;
=== src/ast.rs
pub enum Kind { Long }
=== src/print.rs
use crate::ast;
fn f(ast: &ast::Kind) { match ast { ast::Kind::Long => {} } }
";
    assert_eq!(breaking(files, "src/ast.rs", "Long", "Long(u8)"), ["src/print.rs"]);
}

#[test]
fn function_local_import_is_private_to_the_function() {
    let files = "\
=== src/lib.rs
#[cfg(unix)]
pub use crate::dent::DirEntryExt;
mod dent;
=== src/dent.rs
pub struct DirEntry;
impl DirEntry {
    #[cfg(unix)]
    fn f(ent: &Foreign) -> u64 {
        use std::io::DirEntryExt;
        ent.ino()
    }
}
#[cfg(unix)]
pub trait DirEntryExt { fn ino(&self) -> u64; }
#[cfg(unix)]
impl DirEntryExt for DirEntry { fn ino(&self) -> u64 { 1 } }
";
    assert_eq!(breaking(files, "src/dent.rs", "pub trait DirEntryExt", "pub trait Other"), ["src/lib.rs"]);
}

#[test]
fn deref_target_method_replaces_a_removed_method() {
    let files = "\
=== src/lib.rs
mod pre;
mod user;
mod other;
=== src/pre.rs
use std::ops::Deref;
pub struct Pre { text: String }
impl Pre {
    pub fn is_empty(&self) -> bool { self.text.is_empty() }
    pub fn is_own(&self) -> bool { true }
}
impl Deref for Pre {
    type Target = str;
    fn deref(&self) -> &Self::Target { &self.text }
}
=== src/user.rs
use crate::pre::Pre;
fn f(pre: &Pre) -> bool { pre.is_empty() }
=== src/other.rs
use crate::pre::Pre;
fn f(pre: &Pre) -> bool { pre.is_own() }
fn g(pre: &Pre) -> bool { Pre::is_empty(pre) }
";
    assert_eq!(breaking(files, "src/pre.rs", "fn is_own", "fn is_mine"), ["src/other.rs"]);
    assert_eq!(breaking(files, "src/pre.rs", "fn is_empty", "fn is_void"), ["src/other.rs"]);
}

#[test]
fn a_type_of_the_same_name_is_not_a_mention_of_another() {
    let files = "\
=== src/lib.rs
mod request;
mod response;
mod both;
=== src/request.rs
pub struct Parts { pub extensions: u8 }
fn f() { and_then(move |mut head| { head.extensions = 1; Ok(head) }) }
=== src/response.rs
pub struct Parts { pub extensions: u8 }
=== src/both.rs
use crate::request::Parts;
use crate::response::Parts as Answered;
fn f() { and_then(move |mut head| { head.extensions = 1; Ok(head) }) }
";
    assert_eq!(breaking(files, "src/response.rs", "pub extensions", "pub more"), ["src/both.rs"]);
}
