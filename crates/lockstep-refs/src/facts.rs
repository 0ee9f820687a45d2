//! Facts: the result of parsing one file, without reading any other. A pure function of the path and the
//! text.

mod declarations;
mod strings;
mod uses;

use serde::{Deserialize, Serialize};

use crate::language::Language;
pub use declarations::Declaration;
pub use uses::{Uses, outline_length};

/// The definitions, imports and uses of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Every place where a name is used that is neither a definition nor an import, in the order of the text. It is the first field, so
    /// that a reader of stored facts can skip it.
    pub uses: Uses,
    /// The language whose rules were used.
    pub language: Language,
    /// The package or namespace that the file declares (`package a.b`, `namespace A\B`).
    pub package: Option<Box<str>>,
    /// Definitions that other files can name, in the order of the text.
    pub definitions: Vec<Definition>,
    /// Imports, in the order of the text.
    pub imports: Vec<Import>,
    /// Implementations that add members or interfaces to types outside their definitions, in the order of the
    /// text.
    pub implementations: Vec<Implementation>,
    /// Conditional parts, in the order of the text.
    pub conditions: Vec<Condition>,
    /// Names that it exports (`__all__`) and neither defines nor imports.
    pub missing_exports: Vec<Box<str>>,
    /// Lines that a type checker is told to ignore.
    pub suppressed_lines: Vec<u32>,
    /// The number of places that could not be parsed.
    pub problems: u32,
    /// The first and last lines of those places, in order. The list is truncated if there are many.
    pub unread: Vec<(u32, u32)>,
    /// The number of places that a limit kept from being read, such as code that is nested too deeply.
    pub omitted: u32,
}

impl Facts {
    /// Returns empty facts.
    pub fn none(language: Language) -> Self {
        Self {
            language,
            package: None,
            definitions: Vec::new(),
            imports: Vec::new(),
            uses: Uses::default(),
            implementations: Vec::new(),
            conditions: Vec::new(),
            missing_exports: Vec::new(),
            suppressed_lines: Vec::new(),
            problems: 0,
            unread: Vec::new(),
            omitted: 0,
        }
    }

    /// Returns the facts of a file whose text exceeds the budget of the parser.
    pub(crate) fn unparsable(language: Language) -> Self {
        Self { problems: 1, unread: vec![(1, u32::MAX)], ..Self::none(language) }
    }

    /// Returns true if the text exceeded the budget of the parser, so that nothing is known of it.
    pub fn is_unparsable(&self) -> bool {
        self.unread == [(1, u32::MAX)]
    }

    /// Returns true if every place of the text was read. The text of other files may define names that the facts do not contain.
    pub fn is_complete(&self) -> bool {
        self.problems == 0 && self.omitted == 0 && self.unread.is_empty()
    }
}

/// Something with a name that other places can use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    pub name: Box<str>,
    pub kind: DefinitionKind,
    /// The enclosing types and inline modules in the file, outermost first and joined with `.`.
    pub container: Option<Box<str>>,
    pub reach: Reach,
    /// The first line, starting at 1.
    pub line: u32,
    /// The last line of the definition.
    pub end_line: u32,
    /// Digest of everything that users of the name depend on, without spaces and comments.
    pub signature: u64,
    /// Digest of the rest, without spaces and comments.
    pub body: u64,
    /// The tokens of the signature, for a comparison by its parts ([`crate::signature`]); empty if they are
    /// not stored.
    pub header: Box<str>,
    /// The number of arguments that a call takes, if it can be called.
    pub arity: Option<Arity>,
    /// The names by which a call may pass arguments, in languages with named arguments. The signature does
    /// not include them.
    pub parameters: Vec<Box<str>>,
    /// The type of a value, the result of a call: as an expression that names a type.
    pub gives: Option<Shape>,
    /// The types that a type extends or implements, as written. For a function, the type on whose members it
    /// is called. For a module of Rust, `macro_use` if its macros are visible outside. For an object, the
    /// objects spread into it, last first. For a member, `OPTIONAL`, `STATIC` or `ABSTRACT`.
    pub extends: Vec<Box<str>>,
}

impl Definition {
    pub(crate) fn new(name: &str, kind: DefinitionKind, line: u32, end_line: u32) -> Self {
        Self {
            name: name.into(),
            kind,
            container: None,
            reach: Reach::Everyone,
            line,
            end_line,
            signature: 0,
            body: 0,
            header: Box::default(),
            arity: None,
            parameters: Vec::new(),
            gives: None,
            extends: Vec::new(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DefinitionKind {
    /// A function outside types.
    Function,
    /// A function of a type.
    Method,
    /// A class, struct, enum, union, alias.
    Type,
    /// A trait, interface, protocol.
    Interface,
    /// A constant, static or variable outside functions.
    Value,
    /// A field or property of a type.
    Field,
    Variant,
    Macro,
    /// A module or namespace inside the file.
    Module,
    /// A part of a document under a heading; its name is the anchor that links to it.
    Section,
}

/// The visibility of a definition, by the language's rules or conventions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Reach {
    /// Only its own file.
    File,
    /// Visible in its package, crate or module.
    Package,
    /// Visible everywhere.
    Everyone,
}

/// The number of arguments that a call takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arity {
    /// The minimum.
    pub least: u16,
    /// The maximum; `None` if there is no limit.
    pub most: Option<u16>,
}

impl Arity {
    /// Returns true if a call with this number of arguments fits.
    pub fn takes(self, arguments: u16) -> bool {
        arguments >= self.least && self.most.is_none_or(|most| arguments <= most)
    }
}

/// One statement that imports or re-exports names of other files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    /// The module as written, without quotes: `./x`, `crate::a::b`, `..pkg.mod`, `sys/stat.h`.
    pub module: Box<str>,
    /// The names it imports from the module; empty if it imports the module itself.
    pub names: Vec<ImportedName>,
    /// The local name of the module itself (`import * as ns`, `import a.b as c`).
    pub alias: Option<Box<str>>,
    /// Set if it imports every name (`*`).
    pub glob: bool,
    /// Set if other files can import the names from here.
    pub reexport: bool,
    /// The syntactic form, if the language has several.
    pub form: ImportForm,
    /// The container of the statement, as in [`Definition::container`].
    pub container: Option<Box<str>>,
    /// Line number, starting at 1.
    pub line: u32,
}

/// The syntactic form of an import, if resolution depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ImportForm {
    Plain,
    /// For types only, erased at run time.
    TypeOnly,
    /// A declaration that another file is part of this one: `mod x;`, `part`.
    Child,
    /// A file of the system or of a package: `#include <x>`.
    System,
    /// Names of a namespace made visible, if files are imported by another statement: C++'s `using`.
    Namespace,
    /// Evaluated at run time: `require(x)`, `import(x)`, `source x`.
    Dynamic,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedName {
    /// The name in the module; `default` for a default export.
    pub name: Box<str>,
    pub local: Box<str>,
    /// Line number, starting at 1.
    pub line: u32,
}

/// A place where a name is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Use {
    /// The last part of it: `c` of `a::b::c`, `m` of `x.m()`.
    pub name: Box<str>,
    /// Line number, starting at 1.
    pub line: u32,
    pub role: Role,
    /// The path or the receiver before the name.
    pub of: Option<Shape>,
    /// The number of arguments of a call, if it is visible.
    pub arguments: Option<u16>,
    /// The names by which it passes some of them.
    pub keywords: Vec<Box<str>>,
    /// The enclosing definition, as an index into [`Facts::definitions`].
    pub within: Option<u32>,
}

/// A block that adds members to a type: `impl T`, `impl I for T`, an extension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Implementation {
    /// The type, in the notation of [`Shape::Of`]; `*` if it applies to every type.
    pub of: Box<str>,
    /// The interface that the type implements by it, as a path.
    pub interface: Option<Box<str>>,
    /// The enclosing inline module, as in [`Definition::container`].
    pub container: Option<Box<str>>,
    /// Line number, starting at 1.
    pub line: u32,
}

/// Lines that are only compiled under a condition: `#[cfg(…)]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// The condition as written, without spaces.
    pub text: Box<str>,
    /// The first line, starting at 1.
    pub line: u32,
    /// The last line.
    pub end_line: u32,
}

/// The kind of use of a name. It decides whether a change breaks the use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Role {
    Import,
    /// Re-exported.
    Reexport,
    Call,
    /// Built with its fields: a struct literal.
    Construct,
    /// Destructured or compared: a pattern.
    Pattern,
    /// Built or destructured with the rest left open: `S { a, ..base }`, `V { a, .. }`, `V(..)`.
    Partial,
    Type,
    /// Named to reach one of its members: `T` of `T::new()`.
    Owner,
    /// Extended or implemented by a type.
    Extend,
    /// Defined again for another type: a method of an implemented trait, an overridden method.
    Override,
    /// Redefined in another type without a keyword that says so: compared with the signature, but not broken
    /// if the base definition is removed.
    Redefine,
    /// A value of its type is used where another type with such a member is expected: it must still fit.
    Conform,
    /// The reverse of [`Role::Conform`]: a value of another type is used where its type is expected, or a
    /// class declares that it implements its type. A rename breaks it; but a function that takes no
    /// parameters fits any signature.
    Require,
    /// Like [`Role::Require`], if the other type's member takes parameters and is compared with the signature
    /// too.
    Implement,
    /// A member that a value only has because its type extends the owner: if the owner is removed, so is the
    /// member.
    Inherited,
    /// Inherited like the others, if the extending type is in the same file: a rename changes both.
    InheritedBeside,
    /// Read, passed on, or written.
    Value,
    /// Looked up by its name in brackets, or set by it in braces, on a value whose type declares its keys.
    Key,
    /// Called on a value that has a second member of that name behind the first, on the type it dereferences
    /// to (`Deref`). If the first is removed, the second is called.
    Covered,
    /// Named in a string, by its full path from the outermost module (which is then the name of the use) or
    /// as a member of something: only a run would decide. The number of arguments is that of a call that fails
    /// if the name is missing.
    Quoted,
}

/// The shape of an expression, as far as it shows what it refers to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Shape {
    /// A name or a path: `a`, `a::b`, `a.b` where it is a path of modules. Separated as the language does.
    Name(Box<str>),
    /// A value of the named type: a parameter or variable with a declared type.
    Of(Box<str>),
    /// A member of something: `x.m`.
    Member(Box<Shape>, Box<str>),
    Call(Box<Shape>),
    /// The value or type of the enclosing definition: `self`, `this`, `Self`.
    Itself,
    /// The base of that type: `super`.
    Parent,
    /// A generic type with its arguments: `List[Foo]`, `Promise<Foo>`.
    Applied(Box<Shape>, Vec<Shape>),
    /// A callable, by its parameters and its result: a function type, or the parameters of a function that
    /// takes callbacks.
    Function(Vec<Shape>, Box<Shape>),
    /// One of several: a union, a variable with several assignments.
    Either(Vec<Shape>),
    /// The result of iterating over it or indexing it.
    Element(Box<Shape>),
    Awaited(Box<Shape>),
    /// A parameter of a function that is written as an argument: `x` of `call(0, x => …)`. The index of the
    /// argument, then of the parameter; [`WHOLE`] for the type of that argument, [`THIS`] for the receiver of
    /// the function.
    Parameter(Box<Shape>, u16, u16),
    /// A value without a type, even for a type checker: a parameter without annotation.
    Untyped,
    Unknown,
}

/// See [`Shape::Parameter`].
pub const WHOLE: u16 = u16::MAX;
/// See [`Shape::Parameter`].
pub const THIS: u16 = u16::MAX - 1;
/// The head of an [`Shape::Applied`] with the possible results of a function's decorators, and the function
/// last.
pub(crate) const DECORATED: &str = "@decorated";
/// The declared receiver of a function, as the head of an [`Shape::Applied`] after its parameters.
pub(crate) const THIS_PARAMETER: &str = "@this";
/// The head of a [`Shape::Applied`] for all further arguments of a function: it contains the type of each.
pub(crate) const REST: &str = "@rest";
/// The head of a [`Shape::Applied`] with the result of a call, then its arguments: a function, a component,
/// types.
pub(crate) const WRAPPED: &str = "@wrapped";
/// The head of a [`Shape::Applied`] for the result of a type predicate: it contains the asserted type.
pub(crate) const PREDICATE: &str = "@is";
/// The head of a [`Shape::Applied`] with the result of a call, which may be a predicate, and the tested
/// value.
pub(crate) const NARROWED: &str = "@narrowed";
/// The head of a [`Shape::Applied`] for an object by its properties: the name of each, as [`Shape::Of`], then
/// its shape.
pub(crate) const OBJECT: &str = "@object";
/// Marks an optional member.
pub(crate) const OPTIONAL: &str = "@optional";
/// Marks a static member.
pub(crate) const STATIC: &str = "@static";
/// Marks an abstract member.
pub(crate) const ABSTRACT: &str = "@abstract";
/// The head of an [`Shape::Applied`] for the target of a type alias: values of that type.
pub(crate) const ALIAS: &str = "@alias";
/// The head of an [`Shape::Applied`] for the type of an unannotated parameter in the overridden method.
pub(crate) const REDEFINED: &str = "@redefined";
/// The member that stands for all names of an index signature: `[key: string]: T`.
pub(crate) const ANY_MEMBER: &str = "@any";
/// The member of a component that has the type of its attributes.
pub(crate) const PROPERTIES: &str = "@properties";

/// Returns the type of an argument, from the parameters of a function.
pub(crate) fn taken(takes: &[Shape], argument: usize) -> Option<&Shape> {
    let rest = takes.iter().take(argument + 1).find_map(|shape| match shape {
        Shape::Applied(head, arguments) if **head == Shape::Of(REST.into()) => arguments.first(),
        _ => None,
    });
    rest.or_else(|| takes.get(argument))
}

/// Returns a reference to an argument of a generic type by its position, for use in the target of an alias.
pub(crate) fn given_argument(at: usize) -> Shape {
    Shape::Of(format!("@{at}").into())
}

pub(crate) fn argument_position(name: &str) -> Option<usize> {
    name.strip_prefix('@')?.parse().ok()
}
