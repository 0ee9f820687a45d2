//! References: places in one file that name an entity of another, and what is asked to find them.

use serde::{Deserialize, Serialize};

use crate::facts::{Definition, Role};
use crate::world::FileId;

/// How a reference was found. Ordered by how much it says: the first is the strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The language's own import of the file or of a name in it.
    Import,
    /// A name that resolves to a symbol of the file.
    Symbol,
    /// A path that leads to the file.
    Path,
    /// The name of an entity, in a place where names are used.
    Name,
    /// The same in prose, comments and strings.
    Mention,
    /// Files that changed together.
    History,
}

impl Kind {
    /// The word of the report.
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

/// How sure it is that a reference means its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    /// Followed to the target by the language's rules.
    Resolved,
    /// It may mean the target: without types it cannot be decided.
    Possible,
    /// It means the target, under a condition that no ordinary build of its package meets: `#[cfg(loom)]`.
    Conditional,
    /// It may mean the target, but the value has no type that any checker could know: only running it would tell.
    Untyped,
    /// A member of that name of a value of which nothing is known, where many types have such a member.
    Undecided,
}

/// Whose referrers are asked for. The file is in the world with the content that the referrers were written against.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// The file.
    pub file: FileId,
    /// Those of its definitions that are asked about.
    pub symbols: &'a [Definition],
    /// Whether the file itself is asked about too: every import of it, whatever it takes.
    pub module: bool,
    /// What the file says now, where that is another content than the world has, and known.
    pub now: Option<&'a str>,
    /// Whether references in the target's own file are asked for, instead of those in other files.
    pub own_file: bool,
}

/// A place that references a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The referring file. It is the target's own file only if [`Target::own_file`] asks for that.
    pub file: FileId,
    /// The line, counted from 1.
    pub line: u32,
    /// How it was found.
    pub kind: Kind,
    /// What it does with the name.
    pub role: Role,
    /// How sure it is.
    pub certainty: Certainty,
    /// The name as written there.
    pub pattern: Box<str>,
    /// Which of [`Target::symbols`]; `None` for the file itself.
    pub symbol: Option<usize>,
    /// How many arguments a call passes.
    pub arguments: Option<u16>,
    /// The file that hands the name on under a name of its own (`pub use a::b`, `export { b } from`): when the target's
    /// name vanishes, it is this file that breaks, and the reference only follows it.
    pub through: Option<FileId>,
    /// The definition it stands in, as a position in the referring file's definitions.
    pub within: Option<u32>,
}

/// What one file references, as far as its own language's rules tell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outgoing {
    /// The files it references, each place once per file.
    pub references: Vec<(FileId, Place)>,
    /// Imports that lead to nothing in the project although they should: `./gone`, `crate::gone`.
    pub unresolved: Vec<Place>,
    /// How many imports lead out of the project: packages, the standard library.
    pub external: u32,
}

/// A name that a file takes from a module of the project that does not have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingName {
    /// 1-based.
    pub line: u32,
    /// [`Kind::Import`] or [`Kind::Symbol`].
    pub kind: Kind,
    /// The name.
    pub name: Box<str>,
    /// The module as written in the file.
    pub module: Box<str>,
}

/// A line of the referring file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Counted from 1.
    pub line: u32,
    /// How it was found.
    pub kind: Kind,
    /// The name as written there.
    pub pattern: Box<str>,
}
