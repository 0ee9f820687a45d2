//! Facts: what a parser sees in one file, without looking at any other. A pure function of the path and the text.

use serde::{Deserialize, Serialize};

use crate::language::Language;

/// What one file defines, imports and uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// By whose rules it was read.
    pub language: Language,
    /// The package or namespace that the file declares for itself (`package a.b`, `namespace A\B`).
    pub package: Option<Box<str>>,
    /// What others can name, in the order of the text.
    pub definitions: Vec<Definition>,
    /// What it brings in, in the order of the text.
    pub imports: Vec<Import>,
    /// Every other place where a name is used, in the order of the text.
    pub uses: Vec<Use>,
    /// Which types get members or interfaces outside their own definition, in the order of the text.
    pub implementations: Vec<Implementation>,
    /// What is only there under a condition, in the order of the text.
    pub conditions: Vec<Condition>,
    /// Names that it says it offers (`__all__`) and neither defines nor brings in.
    pub promised: Vec<Box<str>>,
    /// Lines of which a type checker is told to say nothing.
    pub unchecked: Vec<u32>,
    /// How many places the parser could not make sense of.
    pub problems: u32,
    /// The first and last lines of those places, in order; of many only the first.
    pub unread: Vec<(u32, u32)>,
}

impl Facts {
    /// Facts of a file in which nothing was found.
    pub fn none(language: Language) -> Self {
        Self {
            language,
            package: None,
            definitions: Vec::new(),
            imports: Vec::new(),
            uses: Vec::new(),
            implementations: Vec::new(),
            conditions: Vec::new(),
            promised: Vec::new(),
            unchecked: Vec::new(),
            problems: 0,
            unread: Vec::new(),
        }
    }

    /// Facts of a file whose text the parser could not read at all.
    pub(crate) fn unparsable(language: Language) -> Self {
        Self { problems: 1, unread: vec![(1, u32::MAX)], ..Self::none(language) }
    }
}

/// Something with a name that other places can use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// Its name, as written.
    pub name: Box<str>,
    /// What it is.
    pub kind: DefinitionKind,
    /// What it belongs to inside the file, outermost first and joined with `.`: a type, an inline module.
    pub container: Option<Box<str>>,
    /// Who can name it.
    pub reach: Reach,
    /// First line, counted from 1.
    pub line: u32,
    /// Last line of the whole definition.
    pub end_line: u32,
    /// Digest of everything that users of the name depend on, without spaces and comments.
    pub signature: u64,
    /// Digest of the rest, without spaces and comments.
    pub body: u64,
    /// The tokens of the signature, for a comparison by its parts ([`crate::signature`]); empty where they are not stored.
    pub header: Box<str>,
    /// How many arguments a call takes, where it can be called.
    pub arity: Option<Arity>,
    /// The names by which a call may pass arguments, where a language goes by them. The signature does not say them.
    pub parameters: Vec<Box<str>>,
    /// The type of a value, the result of a call: as an expression that names a type.
    pub gives: Option<Shape>,
    /// What a type extends or implements, as written; for a function, the type whose members it is called like;
    /// for a module of Rust, `macro_use` where its macros reach beyond it; for an object, what is spread into it, the last first;
    /// for a member, `OPTIONAL`, `STATIC` or `ABSTRACT`.
    pub extends: Vec<Box<str>>,
}

impl Definition {
    /// One that says nothing yet but its name and the lines it has.
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

/// What a definition is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DefinitionKind {
    /// A function of its own.
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
    /// A variant of an enum.
    Variant,
    /// A macro.
    Macro,
    /// A module or namespace inside the file.
    Module,
    /// A part of a document under a heading; its name is the anchor that links to it.
    Section,
}

/// Who can name a definition, by the language's own rules or conventions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Reach {
    /// Only its own file.
    File,
    /// Its package, crate or module.
    Package,
    /// Everyone.
    Everyone,
}

/// How many arguments a call takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arity {
    /// At least so many.
    pub least: u16,
    /// At most so many; `None` where there is no limit.
    pub most: Option<u16>,
}

impl Arity {
    /// Whether a call with `arguments` fits.
    pub fn takes(self, arguments: u16) -> bool {
        arguments >= self.least && self.most.is_none_or(|most| arguments <= most)
    }
}

/// One statement that brings in names of other files, or hands them on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    /// The module as written, without quotes: `./x`, `crate::a::b`, `..pkg.mod`, `sys/stat.h`.
    pub module: Box<str>,
    /// The names it takes from the module; empty where it takes the module as a whole.
    pub names: Vec<ImportedName>,
    /// What the module as a whole is called here (`import * as ns`, `import a.b as c`).
    pub alias: Option<Box<str>>,
    /// Whether it takes every name (`*`).
    pub glob: bool,
    /// Whether others can take the names from here.
    pub reexport: bool,
    /// How it is written, where the language has several ways.
    pub form: ImportForm,
    /// What it stands in inside the file, as [`Definition::container`].
    pub container: Option<Box<str>>,
    /// Its line, counted from 1.
    pub line: u32,
}

/// The way an import is written, where resolution depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ImportForm {
    /// The ordinary one.
    Plain,
    /// For types only, gone at run time.
    TypeOnly,
    /// A declaration that another file is part of this one: `mod x;`, `part`.
    Child,
    /// A file of the system or of a package: `#include <x>`.
    System,
    /// Names of a namespace brought into sight, where files are brought in by another statement: C++'s `using`.
    Namespace,
    /// Evaluated while running: `require(x)`, `import(x)`, `source x`.
    Dynamic,
}

/// One name taken from a module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedName {
    /// As the module calls it; `default` for a default export.
    pub name: Box<str>,
    /// As it is called here.
    pub local: Box<str>,
    /// Its line, counted from 1.
    pub line: u32,
}

/// A place where a name is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Use {
    /// The last part of it: `c` of `a::b::c`, `m` of `x.m()`.
    pub name: Box<str>,
    /// Its line, counted from 1.
    pub line: u32,
    /// What it is used for.
    pub role: Role,
    /// What stands before the name: the path or the receiver.
    pub of: Option<Shape>,
    /// How many arguments a call passes, where that can be seen.
    pub arguments: Option<u16>,
    /// The names by which it passes some of them.
    pub keywords: Vec<Box<str>>,
    /// The definition it stands in, as a position in [`Facts::definitions`].
    pub within: Option<u32>,
}

/// A block that gives members to a type: `impl T`, `impl I for T`, an extension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Implementation {
    /// The type, as [`Shape::Of`] writes types; `*` where it stands for every type.
    pub of: Box<str>,
    /// The interface that the type implements by it, as a path.
    pub interface: Option<Box<str>>,
    /// The module inside the file that it stands in, as [`Definition::container`].
    pub container: Option<Box<str>>,
    /// Its line, counted from 1.
    pub line: u32,
}

/// Lines that are only compiled under a condition: `#[cfg(…)]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// The condition as written, without spaces.
    pub text: Box<str>,
    /// First line, counted from 1.
    pub line: u32,
    /// Last line.
    pub end_line: u32,
}

/// What a name is used for. What a change breaks depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Role {
    /// Brought in by an import.
    Import,
    /// Handed on to others by an import.
    Reexport,
    /// Called.
    Call,
    /// Built with its fields: a struct literal.
    Construct,
    /// Taken apart or compared: a pattern.
    Pattern,
    /// Built or taken apart with the rest left open: `S { a, ..base }`, `V { a, .. }`, `V(..)`.
    Partial,
    /// Named as a type.
    Type,
    /// Named to reach one of its members: `T` of `T::new()`.
    Owner,
    /// Extended or implemented by a type.
    Extend,
    /// Defined again for another type: a method of an implemented trait, an overridden method.
    Override,
    /// Defined again for another type, without a word that says so: held against the signature, but not missed when the
    /// other vanishes.
    Redefine,
    /// A value of its type stands where another type is expected that has such a member too: it must still fit.
    Conform,
    /// The same the other way round: a value of another type stands where its type is expected, or a class says that it has all that
    /// its type has. Missed under another name; but what the other has fits whatever this one takes.
    Require,
    /// The same, where what the other has takes something and is held against the signature too.
    Implement,
    /// A member that a value only has because its type extends it: when the type vanishes, so does the member.
    Inherited,
    /// The same, where the type that extends it stands in the same file: a new name is given to both.
    InheritedBeside,
    /// Read, passed on, or written.
    Value,
    /// Looked up by its name in brackets, or given by it in braces, where the value is of a type that says which keys it has.
    Key,
    /// Called on a value that has a second one of that name behind the first: what its type leads to (`Deref`). When the first goes, that
    /// one is called.
    Covered,
    /// Named in a string, by the whole path from its outermost module (which is then the name of the use) or as a member of
    /// something: only running it would tell.
    Quoted,
}

/// The shape of an expression, as far as it tells what it refers to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shape {
    /// A name or a path: `a`, `a::b`, `a.b` where it is a path of modules. Separated as the language does.
    Name(Box<str>),
    /// A value of the named type: a parameter or variable with a declared type.
    Of(Box<str>),
    /// A member of something: `x.m`.
    Member(Box<Shape>, Box<str>),
    /// The result of a call.
    Call(Box<Shape>),
    /// The value or type in whose definition it stands: `self`, `this`, `Self`.
    Itself,
    /// What that one extends: `super`.
    Parent,
    /// A generic type with its arguments: `List[Foo]`, `Promise<Foo>`.
    Applied(Box<Shape>, Vec<Shape>),
    /// Something that can be called, by what it takes and what it gives: a function type, or the parameters of a function
    /// that takes callbacks.
    Function(Vec<Shape>, Box<Shape>),
    /// One of several: a union, a variable with several assignments.
    Either(Vec<Shape>),
    /// What iterating over it or indexing it gives.
    Element(Box<Shape>),
    /// What waiting for it gives.
    Awaited(Box<Shape>),
    /// A parameter of a function written as an argument: `x` of `call(0, x => …)`. Which argument, then which parameter;
    /// [`WHOLE`] for what the call takes as that argument, [`THIS`] for what the function is called on.
    Parameter(Box<Shape>, u16, u16),
    /// A value that nothing in the text gives a type, not even for a type checker: a parameter without annotation.
    Untyped,
    /// Nothing that can be followed.
    Unknown,
}

/// See [`Shape::Parameter`].
pub const WHOLE: u16 = u16::MAX;
/// See [`Shape::Parameter`].
pub const THIS: u16 = u16::MAX - 1;
/// The head of an [`Shape::Applied`] that holds what the decorators of a function may make of it, and last the function.
pub(crate) const DECORATED: &str = "@decorated";
/// What a function declares that it is called on, as the head of an [`Shape::Applied`] behind its parameters.
pub(crate) const THIS_PARAMETER: &str = "@this";
/// The head of a [`Shape::Applied`] that stands for all further arguments of a function: it holds what each of them is.
pub(crate) const REST: &str = "@rest";
/// The head of a [`Shape::Applied`] that holds what a call gives, then what it is given: a function, a component, types.
pub(crate) const WRAPPED: &str = "@wrapped";
/// The head of a [`Shape::Applied`] that is what a predicate gives: it holds the type of which it says that a value is.
pub(crate) const PREDICATE: &str = "@is";
/// The head of a [`Shape::Applied`] that holds what a call gives, which may be a predicate, and the value that it was asked about.
pub(crate) const NARROWED: &str = "@narrowed";
/// The head of a [`Shape::Applied`] that is an object by its properties: the name of one, as [`Shape::Of`], then what it is.
pub(crate) const OBJECT: &str = "@object";
/// Said of a member that a value of the type need not have.
pub(crate) const OPTIONAL: &str = "@optional";
/// Said of a member that the type has itself, not its values.
pub(crate) const STATIC: &str = "@static";
/// Said of a member that a class must define before it can be built.
pub(crate) const ABSTRACT: &str = "@abstract";
/// The head of an [`Shape::Applied`] that is what a name for a type stands for: values of that.
pub(crate) const ALIAS: &str = "@alias";
/// The head of an [`Shape::Applied`] that is what a parameter without a type is in the method that is redefined.
pub(crate) const REDEFINED: &str = "@redefined";
/// The member of a type that stands for those of any name: `[key: string]: T`.
pub(crate) const ANY_MEMBER: &str = "@any";
/// The member of a component that stands for what its attributes are properties of.
pub(crate) const PROPERTIES: &str = "@properties";

/// What a function takes as an argument, by what it takes together.
pub(crate) fn taken(takes: &[Shape], argument: usize) -> Option<&Shape> {
    let rest = takes.iter().take(argument + 1).find_map(|it| match it {
        Shape::Applied(head, held) if **head == Shape::Of(REST.into()) => held.first(),
        _ => None,
    });
    rest.or_else(|| takes.get(argument))
}

/// An argument of a generic type, by its position, where the type gives it back: said in what an alias stands for.
pub(crate) fn given_argument(at: usize) -> Shape {
    Shape::Of(format!("@{at}").into())
}

/// The position that such a name says.
pub(crate) fn argument_position(name: &str) -> Option<usize> {
    name.strip_prefix('@')?.parse().ok()
}
