//! The items that a macro generates are removed with it: those in its rules, those passed to it, and the
//! traits that it implements.

use super::modules::{Module, Project};
use crate::facts::{Definition, DefinitionKind, Reach};
use crate::world::FileId;

/// The items that depend on a macro.
#[derive(Default)]
pub(super) struct MacroOutput {
    pub(super) items: Vec<(FileId, Definition)>,
    /// Traits of the project that may have lost their implementations.
    pub(super) interfaces: Vec<(FileId, Definition)>,
}

impl Project<'_> {
    /// Returns the items that a macro of a file generates.
    pub(super) fn macro_output(&self, file: FileId, symbol: &Definition) -> MacroOutput {
        let mut output = MacroOutput::default();
        if symbol.kind != DefinitionKind::Macro {
            return output;
        }
        if self.is_expanded(&symbol.name) {
            self.add_rule_items(file, symbol, &mut output);
        }
        let mark = format!("{}!", symbol.name);
        for other in self.defining(&symbol.name) {
            let Some(sheet) = self.sheet(other) else { continue };
            let is_made = |definition: &&Definition| definition.extends.iter().any(|by| **by == *mark);
            let items = sheet
                .facts
                .definitions
                .iter()
                .filter(is_made)
                .filter(|definition| definition.reach > Reach::File);
            if self.sees_macro(other, file, symbol) {
                output.items.extend(items.map(|definition| (other, definition.clone())));
            }
        }
        output
    }

    fn add_rule_items(&self, file: FileId, symbol: &Definition, output: &mut MacroOutput) {
        let Some(sheet) = self.sheet(file) else { return };
        let rules = symbol.line..=symbol.end_line;
        let inside = |definition: &&Definition| {
            rules.contains(&definition.line)
                && definition.reach > Reach::File
                && definition.kind != DefinitionKind::Macro
        };
        let items = sheet.facts.definitions.iter().filter(inside);
        output.items.extend(items.map(|definition| (file, definition.clone())));
        for implementation in
            sheet.facts.implementations.iter().filter(|implementation| rules.contains(&implementation.line))
        {
            let Some(path) = &implementation.interface else { continue };
            let module = self.module_at(file, implementation.container.as_deref());
            for (file, index) in self.interfaces(&module, path) {
                let Some(sheet) = self.sheet(file) else { continue };
                output.interfaces.push((file, sheet.facts.definitions[index as usize].clone()));
            }
        }
        output.interfaces.dedup();
    }

    /// Returns true if a macro of that name in a file is the one that another file defines.
    fn sees_macro(&self, from: FileId, file: FileId, symbol: &Definition) -> bool {
        let seen = self.macros(&symbol.name, &Module::of_file(from));
        seen.is_empty() || seen.iter().any(|(other, _)| *other == file)
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::breaking;

    const FILES: &str = "\
=== src/lib.rs
mod shape;
mod id;
mod user;
mod generic;
mod flagged;
mod named;
pub use shape::Area;
=== src/shape.rs
pub trait Area { fn area(&self) -> f64; fn edge() -> usize { 1 } }
=== src/id.rs
use crate::shape::Area;
macro_rules! id {
    ($(#[$meta:meta])* $vis:vis $name:ident, $($extra:ident),*) => {
        $(#[$meta])*
        $vis struct $name(u32);
        impl $name {
            pub fn none() -> Self { $name(0) }
            pub fn raw(&self) -> u32 { self.0 }
            $(pub fn $extra(&self) -> u32 { self.0 })*
        }
        impl Area for $name { fn area(&self) -> f64 { 1.0 } }
    };
}
id!(pub NodeId, first, second);
flags! {
    pub struct Flags: u32 {
        const FAST = 1;
        const SAFE = 2;
    }
}
graph! {
    pub trait Walk {
        @section type
        type Next;
        @section self
        fn walk(self);
    }
}
graph! {
    pub struct Odd [a => b];
}
=== src/user.rs
use crate::id::NodeId;
pub fn f() -> u32 { NodeId::none().raw() }
=== src/generic.rs
use crate::Area;
pub fn total<T: Area>(all: &[T]) -> f64 { all.iter().map(|it| it.area()).sum() }
=== src/flagged.rs
use crate::id::Flags;
pub fn f(flags: Flags) -> bool { flags.contains(Flags::FAST) }
=== src/named.rs
use crate::id::{Odd, Walk};
pub fn f<T: Walk>(t: T) -> T::Next { t.walk() }
";

    #[test]
    fn macro_rule_implements_a_trait() {
        assert_eq!(
            breaking(FILES, "src/shape.rs", "&self)", "&self, unit: u8)"),
            ["src/generic.rs", "src/id.rs"]
        );
        assert_eq!(breaking(FILES, "src/shape.rs", "fn edge", "fn corner(&self); fn edge"), ["src/id.rs"]);
        assert_eq!(
            breaking(FILES, "src/shape.rs", "edge() -> usize { 1 }", "edge() -> usize { 2 }"),
            [""; 0]
        );
    }

    #[test]
    fn member_removed_from_a_macro_rule_breaks_users() {
        assert_eq!(breaking(FILES, "src/id.rs", "fn none", "fn nil"), ["src/user.rs"]);
        assert_eq!(breaking(FILES, "src/id.rs", "raw(&self)", "raw(&self, base: u32)"), ["src/user.rs"]);
        assert_eq!(breaking(FILES, "src/id.rs", "$name(0)", "$name(1)"), [""; 0]);
    }

    #[test]
    fn items_in_a_grammar_of_their_own_are_items() {
        assert_eq!(breaking(FILES, "src/id.rs", "struct Flags", "struct Marks"), ["src/flagged.rs"]);
        assert_eq!(breaking(FILES, "src/id.rs", "const FAST", "const QUICK"), ["src/flagged.rs"]);
        assert_eq!(breaking(FILES, "src/id.rs", "trait Walk", "trait Step"), ["src/named.rs"]);
        assert_eq!(breaking(FILES, "src/id.rs", "fn walk", "fn step"), ["src/named.rs"]);
        assert_eq!(breaking(FILES, "src/id.rs", "struct Odd", "struct Even"), ["src/named.rs"]);
        assert_eq!(breaking(FILES, "src/id.rs", "const SAFE = 2", "const SAFE = 4"), [""; 0]);
    }

    #[test]
    fn removed_macro_removes_its_output() {
        assert_eq!(
            breaking(FILES, "src/id.rs", "macro_rules! id", "macro_rules! ids"),
            ["src/generic.rs", "src/user.rs"]
        );
        let files = FILES.replace("flags! {", "macro_rules! flags { ($($t:tt)*) => {} }\nflags! {");
        assert_eq!(
            breaking(&files, "src/id.rs", "macro_rules! flags", "macro_rules! marks"),
            ["src/flagged.rs"]
        );
    }

    #[test]
    fn items_under_a_condition_are_items() {
        let files = "\
=== src/lib.rs
mod system;
mod user;
=== src/system.rs
cfg_if::cfg_if! {
    if #[cfg(unix)] {
        pub fn open() -> u8 { 1 }
    } else if #[cfg(windows)] {
        pub fn open() -> u8 { 2 }
    } else {
        pub fn shut() {}
    }
}
=== src/user.rs
use crate::system::open;
pub fn f() { open(); crate::system::shut(); }
";
        assert_eq!(
            breaking(files, "src/system.rs", "pub fn open() -> u8 { 1", "pub fn read() -> u8 { 1"),
            ["src/user.rs"]
        );
        assert_eq!(breaking(files, "src/system.rs", "fn shut()", "fn shut(now: bool)"), ["src/user.rs"]);
    }

    #[test]
    fn operator_has_the_output_type_of_its_impl() {
        let files = "\
=== src/lib.rs
mod point;
mod user;
mod scaled;
mod other;
=== src/point.rs
pub struct Point { pub left: f64, pub top: f64 }
pub struct Offset { pub wide: f64, pub high: f64 }
pub struct Size { pub wide: f64 }
impl std::ops::Sub for Point {
    type Output = Offset;
    fn sub(self, other: Point) -> Offset { todo!() }
}
impl std::ops::Sub<Offset> for Point {
    type Output = Point;
    fn sub(self, other: Offset) -> Self::Output { todo!() }
}
=== src/user.rs
use crate::point::Point;
pub fn f(a: Point, b: Point) -> f64 { (a - b).wide }
=== src/scaled.rs
use crate::point::Offset;
pub fn f(by: Offset) -> f64 { (2.0 * by).wide }
=== src/other.rs
use crate::point::{Point, Size};
pub fn f(a: Point, b: Size) -> f64 { (a - b).left }
pub fn g(b: Size) -> f64 { b.wide }
";
        assert_eq!(
            breaking(files, "src/point.rs", "Offset { pub wide", "Offset { pub width"),
            ["src/scaled.rs", "src/user.rs"]
        );
        assert_eq!(breaking(files, "src/point.rs", "Point { pub left", "Point { pub x"), ["src/other.rs"]);
    }

    #[test]
    fn type_arguments_of_an_alias_reach_its_type() {
        let files = "\
=== src/lib.rs
mod dense;
mod sparse;
mod other;
=== src/dense.rs
pub struct Dense<T>(T);
pub(crate) type Owned = Dense<Vec<u32>>;
impl Owned {
    pub fn whole() -> Owned { Dense(Vec::new()) }
    pub fn size(&self) -> usize { 1 }
}
=== src/sparse.rs
use crate::dense;
pub fn f() { dense::Dense::whole(); }
pub fn g(d: &dense::Dense<Vec<u32>>) -> usize { d.size() }
=== src/other.rs
pub struct Dense;
impl Dense { pub fn whole() {} pub fn size(&self) {} }
pub fn f() { Dense::whole(); Dense.size(); }
";
        assert_eq!(breaking(files, "src/dense.rs", "fn whole", "fn all"), ["src/sparse.rs"]);
        assert_eq!(breaking(files, "src/dense.rs", "fn size", "fn length"), ["src/sparse.rs"]);
    }

    #[test]
    fn uses_of_an_alias_or_constant_reach_its_target() {
        let files = "\
=== src/lib.rs
mod alias;
mod typed;
mod built;
mod imported;
mod made;
=== src/alias.rs
pub struct Real { pub a: u8 }
pub type Number = i64;
pub type Short = Real;
pub const LIMIT: u8 = 1;
=== src/typed.rs
use crate::alias::Number;
pub fn f(n: impl Into<Number>) {}
=== src/built.rs
use crate::alias::Short;
pub fn f() { Short::new(); }
=== src/imported.rs
pub use crate::alias::{LIMIT, Number, Short};
=== src/made.rs
macro_rules! test { ($name:ident => $e:expr) => { fn $name() { $e.limit(crate::alias::LIMIT) @ } } }
test! { a => b }
";
        assert_eq!(breaking(files, "src/alias.rs", "= i64", "= (i64,)"), ["src/typed.rs"]);
        assert_eq!(breaking(files, "src/alias.rs", "= Real", "= (Real,)"), ["src/built.rs"]);
        assert_eq!(breaking(files, "src/alias.rs", "LIMIT: u8", "LIMIT: u16"), ["src/made.rs"]);
        assert_eq!(breaking(files, "src/alias.rs", "LIMIT: u8 = 1", "LIMIT: u8 = 2"), [""; 0]);
    }

    #[test]
    fn a_name_that_is_given_to_a_macro_may_stand_behind_a_path() {
        let files = "\
=== src/lib.rs
mod kinds;
mod user;
mod plain;
=== src/kinds.rs
pub struct Ordinal { pub wide: bool }
pub enum Kind { Leftmost, Other }
=== src/user.rs
use crate::kinds;
macro_rules! part { ($name:ident { $($inner:tt)* }) => { kinds::$name { $($inner)* } } }
macro_rules! kind { ($kind:ident) => { kinds::Kind::$kind } }
pub fn f() { part!(Ordinal { wide: true }); kind!(Leftmost); }
=== src/plain.rs
use elsewhere::*;
pub fn f(a: Ordinal) -> Leftmost { todo!() }
";
        assert_eq!(breaking(files, "src/kinds.rs", "Ordinal", "Cardinal"), ["src/user.rs"]);
        assert_eq!(breaking(files, "src/kinds.rs", "Leftmost", "Rightmost"), ["src/user.rs"]);
    }

    #[test]
    fn removed_associated_type_breaks_its_bindings() {
        let files = "\
=== src/lib.rs
mod clock;
mod bound;
mod other;
=== src/clock.rs
pub trait Clock { type Output; fn now(&self) -> Self::Output; }
macro_rules! clock { ($t:ty) => { impl Clock for $t { type Output = u8; fn now(&self) -> u8 { 1 } } } }
clock!(u8);
=== src/bound.rs
use crate::clock::Clock;
pub fn f(clock: &impl Clock<Output = u16>) {}
=== src/other.rs
use crate::clock::Clock;
pub fn f<T: Clock, U: std::ops::Add<Output = u16>>(a: T, b: U) {}
";
        assert_eq!(breaking(files, "src/clock.rs", "type Output; ", ""), ["src/bound.rs"]);
    }

    #[test]
    fn a_macro_that_makes_members_of_a_trait_follows_the_trait() {
        let files = "\
=== src/lib.rs
#[macro_use]
mod macros;
mod float;
=== src/macros.rs
macro_rules! forward { ($($base:ident::$method:ident(self) -> $ret:ty;)*) => { $(fn $method(self) -> $ret { $base::$method(self) })* } }
macro_rules! other { () => {} }
=== src/float.rs
pub trait Float { fn sin(self) -> Self; fn cos(self) -> Self; }
pub trait Else { fn tan(self) -> Self; }
impl Float for f64 { forward! { Self::sin(self) -> Self; Self::cos(self) -> Self; } }
impl Else for f64 { fn tan(self) -> Self { other!(); self } }
";
        assert_eq!(breaking(files, "src/float.rs", "fn sin", "fn sine"), ["src/macros.rs"]);
        assert_eq!(breaking(files, "src/float.rs", "cos(self)", "cos(self, more: u8)"), ["src/macros.rs"]);
        assert_eq!(
            breaking(files, "src/float.rs", "fn tan(self) -> Self;", "fn tang(self) -> Self;"),
            [""; 0]
        );
    }
}
