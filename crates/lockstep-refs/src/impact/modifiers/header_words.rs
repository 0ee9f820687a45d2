//! The words of headers that changed: visibility, exceptions, modifiers.

use super::super::obligations::exceptions;
use crate::facts::{Definition, DefinitionKind, Facts, Reach};
use crate::language::Language;
use crate::signature;
use crate::syntax::{OWN_NAME, TOKEN_END};

pub(super) const VISIBILITIES: &[&str] = &["public", "protected", "internal", "private", "fileprivate"];

/// Classes of exceptions that catch many others.
pub(super) const BROAD: &[&str] = &["Exception", "Throwable"];

/// Exceptions of Java that are `IOException`s.
pub(super) const IO_EXCEPTIONS: &[&str] = &[
    "CharacterCodingException",
    "ConnectException",
    "EOFException",
    "FileNotFoundException",
    "FileSystemException",
    "MalformedURLException",
    "NoSuchFileException",
    "SocketException",
    "SocketTimeoutException",
    "UnknownHostException",
    "UnsupportedEncodingException",
];

/// Returns the definition that a changed one has become, if only one can be meant.
pub(in crate::impact) fn present<'f>(after: &'f Facts, was: &Definition) -> Option<&'f Definition> {
    let same = |definition: &&Definition| {
        definition.name == was.name
            && definition.kind == was.kind
            && definition.container == was.container
            && definition.arity == was.arity
    };
    let mut found =
        after.definitions.iter().filter(same).filter(|definition| definition.header != was.header);
    let first = found.next();
    first.filter(|_| found.next().is_none())
}

/// The types that a sealed type permits.
pub(super) fn permits(definition: &Definition) -> Option<Vec<&str>> {
    let mut tokens = definition.header.split(TOKEN_END);
    tokens
        .any(|token| token == "permits")
        .then(|| tokens.filter(|token| !matches!(*token, "," | ".")).collect())
}

/// The words that two headers do not share.
pub(super) struct Difference<'h> {
    pub(super) added: Vec<&'h str>,
    pub(super) removed: Vec<&'h str>,
    /// The words behind the parameters of both.
    suffixes: Vec<&'h str>,
}

impl<'h> Difference<'h> {
    pub(super) fn new(was: &'h Definition, now: &'h Definition) -> Self {
        let tokens = |header: &'h str| -> Vec<&'h str> { header.split(TOKEN_END).collect() };
        let (old, new) = (tokens(&was.header), tokens(&now.header));
        let without = |list: &[&'h str], other: &[&'h str]| {
            let mut rest = other.to_vec();
            let mut left = list.to_vec();
            left.retain(|token| match rest.iter().position(|name| name == token) {
                Some(at) => {
                    rest.remove(at);
                    false
                }
                None => true,
            });
            left
        };
        let suffix = |list: &[&'h str]| -> Vec<&'h str> {
            let close = list.iter().rposition(|token| *token == ")").map_or(list.len(), |at| at + 1);
            list.get(close..).unwrap_or_default().to_vec()
        };
        Self {
            added: without(&new, &old),
            removed: without(&old, &new),
            suffixes: [suffix(&old), suffix(&new)].concat(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }

    pub(super) fn is_within(&self, known: &[&str]) -> bool {
        self.added.iter().chain(&self.removed).all(|name| known.contains(name))
    }

    /// Returns true if only the access to a property's setter differs.
    pub(super) fn is_about_accessors(&self, was: &Definition, now: &Definition) -> bool {
        const PARTS: &[&str] = &["set", "init", "{", "}", "(", ")", ";"];
        let first = |definition: &Definition| {
            definition
                .header
                .split(TOKEN_END)
                .find(|word| VISIBILITIES.contains(word) || *word == OWN_NAME)
                .map(str::to_owned)
        };
        was.kind == DefinitionKind::Field
            && first(was) == first(now)
            && [(now, "set"), (was, "set"), (now, "init")]
                .iter()
                .any(|(definition, word)| has_word(definition, word))
            && self
                .added
                .iter()
                .chain(&self.removed)
                .all(|name| PARTS.contains(name) || VISIBILITIES.contains(name))
    }

    pub(super) fn adds(&self, word: &str) -> bool {
        self.added.contains(&word)
    }

    /// Returns true if only words behind the parameters were added, or `suspend`. Exceptions of Java may also be removed.
    pub(super) fn all_in_suffix(&self, language: Language) -> bool {
        (self.removed.is_empty()
            || language == Language::Java && self.removed.iter().all(|name| self.is_behind(name)))
            && self.added.iter().all(|name| self.is_behind(name) || *name == "suspend")
    }

    /// Returns true if a word is behind the parameters.
    pub(super) fn is_behind(&self, word: &str) -> bool {
        self.suffixes.contains(&word)
    }

    /// Returns true if only the visibility and the exceptions differ.
    pub(super) fn is_about_overrides(&self) -> bool {
        self.added.iter().chain(&self.removed).all(|name| VISIBILITIES.contains(name) || self.is_behind(name))
    }
}

/// Returns true if a member may override another one, by the visibility and the exceptions of both.
pub(in crate::impact) fn may_override(language: Language, other: &Definition, base: &Definition) -> bool {
    use Language::{CSharp, Java, Kotlin, Php};
    let rank = |definition: &Definition| {
        let written = definition
            .header
            .split(TOKEN_END)
            .find_map(|word| VISIBILITIES.iter().position(|text| *text == word));
        // `internal` of the list is the visibility inside a package of Java.
        let default = match language {
            Java if definition.reach == Reach::Package => 2,
            CSharp => 3,
            _ => 0,
        };
        written.unwrap_or(default)
    };
    let is_visible = match language {
        CSharp => rank(other) == rank(base),
        // An override of Kotlin without a modifier has the visibility of its base.
        Kotlin => !VISIBILITIES.iter().any(|name| has_word(other, name)) || rank(other) <= rank(base),
        Java | Php => rank(other) <= rank(base),
        _ => false,
    };
    let is_private = rank(base) >= 3;
    let allowed: Vec<&str> = exceptions(base).collect();
    let keeps_exceptions = language != Java
        || exceptions(other)
            .all(|exception| covers(&allowed, exception) || signature::is_unchecked(exception));
    is_visible && !is_private && keeps_exceptions
}

/// Returns true if an exception is one of these, or of a class that one of these is known to be a base of.
pub(in crate::impact) fn covers(allowed: &[&str], exception: &str) -> bool {
    allowed.iter().any(|name| {
        *name == exception
            || BROAD.contains(name)
            || *name == "IOException" && IO_EXCEPTIONS.contains(&exception)
    })
}

pub(super) fn has_word(definition: &Definition, word: &str) -> bool {
    definition.header.split(TOKEN_END).any(|token| token == word)
}
