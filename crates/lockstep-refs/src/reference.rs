//! References: places in one file that name an entity of another, and the query that finds them.

use serde::{Deserialize, Serialize};

use crate::facts::{Definition, Role};
use crate::world::FileId;

/// The way a reference was found, ordered by strength, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The language's own import of the file or of a name in it.
    Import,
    /// A name that resolves to a symbol of the file.
    Symbol,
    /// A path that resolves to the file.
    Path,
    /// The name of an entity, in a place where names are used.
    Name,
    /// The name of an entity in prose, comments and strings.
    Mention,
    /// Files that changed together.
    History,
}

impl Kind {
    /// Returns the name in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Import => "import",
            Self::Symbol => "symbol",
            Self::Path => "path",
            Self::Name => "name",
            Self::Mention => "mention",
            Self::History => "history",
        }
    }
}

/// The certainty that a reference means its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    /// Resolved to the target by the language's rules.
    Resolved,
    /// It may mean the target: this cannot be decided without types.
    Possible,
    /// It means the target, under a condition that no ordinary build of its package meets: `#[cfg(loom)]`.
    Conditional,
    /// It may mean the target, but the value has no type that a checker could know: only a run would decide.
    Untyped,
    /// A member of that name on a value of unknown type, if many types have such a member.
    Undecided,
}

/// The target of a query for references. In the world, the file has the content that the referrers were
/// written against.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    pub file: FileId,
    /// The queried definitions of the file.
    pub symbols: &'a [Definition],
    /// Set if the file itself is queried too: every import of it, regardless of the names.
    pub module: bool,
    /// The present text of the file, if it is known and differs from the world's.
    pub now: Option<&'a str>,
    /// Set if references in the target's own file are queried, instead of those in other files.
    pub own_file: bool,
}

/// A place that references a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The referring file. It is the target's own file only if [`Target::own_file`] is set.
    pub file: FileId,
    /// Line number, starting at 1.
    pub line: u32,
    pub kind: Kind,
    /// The kind of use.
    pub role: Role,
    pub certainty: Certainty,
    /// The name as written there.
    pub pattern: Box<str>,
    /// The index in [`Target::symbols`]; `None` for the file itself.
    pub symbol: Option<usize>,
    /// The number of arguments of a call.
    pub arguments: Option<u16>,
    /// The file that re-exports the name under its own name (`pub use a::b`, `export { b } from`). If the
    /// target's name is removed, this file breaks, and the reference only follows it.
    pub through: Option<FileId>,
    /// The enclosing definition, as an index into the referring file's definitions.
    pub within: Option<u32>,
}

/// The references of one file, by its own language's rules.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileReferences {
    /// The files it references, each place once per file.
    pub references: Vec<(FileId, Place)>,
    /// Imports that should resolve to the project and do not: `./gone`, `crate::gone`.
    pub unresolved: Vec<Place>,
    /// The number of imports from outside the project: packages, the standard library.
    pub external: u32,
}

/// A name that a file imports from a module of the project that does not have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingName {
    /// Line number, starting at 1.
    pub line: u32,
    /// [`Kind::Import`] or [`Kind::Symbol`].
    pub kind: Kind,
    pub name: Box<str>,
    /// The module as written in the file.
    pub module: Box<str>,
}

/// A line of the referring file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Starts at 1.
    pub line: u32,
    pub kind: Kind,
    /// The name as written there.
    pub pattern: Box<str>,
}
