//! The languages: the rules for each file, and the interface of the rules.
//!
//! There is one module per language or family. To add one: a variant of [`Language`], its extensions in
//! [`Language::of`], a module that implements [`Rules`], and a line in [`rules`].

mod bash;
mod c;
mod csharp;
mod go;
mod java;
mod jvm;
mod kotlin;
mod markdown;
mod php;
mod python;
mod ruby;
mod rust;
mod swift;
pub(crate) mod typescript;

pub(crate) use c::included;
pub(crate) use go::conversions::ASSERTION;
pub(crate) use go::{inside_module, module_name};
pub(crate) use rust::{TraitUses, library_of, trait_uses};

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::budget::with_budget;
use crate::facts::{Definition, Facts};
use crate::reference::{FileReferences, MissingName, Place, Reference, Target};
use crate::syntax::{is_same_tree, parse};
use crate::world::{FileId, World, base};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is what its name says")]
pub enum Language {
    Rust,
    TypeScript,
    Tsx,
    JavaScript,
    Python,
    Go,
    Java,
    Kotlin,
    C,
    Cpp,
    CSharp,
    Ruby,
    Php,
    Swift,
    Bash,
    Markdown,
    Yaml,
    Json,
    Toml,
    Html,
    /// Any other text, which is searched for paths, names and mentions.
    Text,
}

impl Language {
    /// Returns true if files of the language are used as a whole, by paths and names, instead of through their definitions.
    pub fn is_used_whole(self) -> bool {
        matches!(
            self,
            Self::Bash | Self::Html | Self::Json | Self::Markdown | Self::Text | Self::Toml | Self::Yaml
        )
    }

    /// The language of a file, by its name.
    pub fn of(path: &str) -> Self {
        let end = path.bytes().rposition(|byte| matches!(byte, b'.' | b'/'));
        let Some(extension) = end.and_then(|at| path[at..].strip_prefix('.')) else { return Self::Text };
        match extension {
            "rs" => Self::Rust,
            "ts" | "mts" | "cts" => Self::TypeScript,
            "tsx" => Self::Tsx,
            "js" | "mjs" | "cjs" | "jsx" => Self::JavaScript,
            "py" | "pyi" => Self::Python,
            "go" => Self::Go,
            "java" => Self::Java,
            "kt" | "kts" => Self::Kotlin,
            "c" => Self::C,
            // A header may be either: the C++ grammar parses nearly all of C.
            "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" | "inl" | "ipp" => Self::Cpp,
            "cs" => Self::CSharp,
            "rb" | "rake" | "gemspec" => Self::Ruby,
            "php" => Self::Php,
            "swift" => Self::Swift,
            "sh" | "bash" | "bats" => Self::Bash,
            "md" | "markdown" | "mdx" => Self::Markdown,
            "yaml" | "yml" => Self::Yaml,
            "json" | "jsonc" => Self::Json,
            "toml" => Self::Toml,
            "html" | "htm" => Self::Html,
            _ => Self::Text,
        }
    }
}

pub trait Rules: Sync {
    /// Returns the facts of a file. Broken text yields partial facts and counts problems.
    fn facts(&self, path: &str, text: &str) -> Facts;

    /// The facts of a file with the uses of names that it neither defines nor imports. [`facts`](Self::facts) may leave them
    /// out, because they are those of the language's own library as long as the file is in order.
    fn facts_with_unbound_names(&self, path: &str, text: &str) -> Facts {
        self.facts(path, text)
    }

    /// Returns true if [`facts_with_unbound_names`](Self::facts_with_unbound_names) has more than [`facts`](Self::facts).
    fn notes_unbound_names(&self) -> bool {
        false
    }

    /// Drops the uses that [`facts`](Self::facts) leaves out.
    fn drop_unbound_names(&self, _facts: &mut Facts) {}

    /// The places in other files that reference the target, by this language's imports and symbols. Sorted by path and line.
    fn referrers(&self, world: &dyn World, target: &Target<'_>) -> Vec<Reference>;

    /// Returns the places in other files that reference a definition of one of several targets, each with the
    /// position of the target, in no order. The list is incomplete if the time is over. `with_losses` adds the places that never name a
    /// definition and would lose their type with it.
    fn users(
        &self,
        world: &dyn World,
        targets: &[Target<'_>],
        _with_losses: bool,
        is_over: &dyn Fn() -> bool,
    ) -> Vec<(usize, Reference)> {
        let in_time = targets.iter().enumerate().take_while(|_| !is_over());
        let users =
            |(at, target)| self.referrers(world, target).into_iter().map(move |reference| (at, reference));
        in_time.flat_map(users).collect()
    }

    /// Returns the references of a file by this language's imports and symbols.
    fn outgoing(&self, world: &dyn World, file: FileId) -> FileReferences;

    /// Returns the imports of a file that should resolve to the project and do not.
    fn unresolved_imports(&self, world: &dyn World, file: FileId) -> Vec<Place> {
        self.outgoing(world, file).unresolved
    }

    /// Returns the names that a file imports from modules of the project that certainly do not have them.
    /// Empty if the rules cannot decide.
    fn missing_names(&self, _world: &dyn World, _file: FileId) -> Vec<MissingName> {
        Vec::new()
    }

    /// Returns the members on these lines that the types of their values certainly do not have. Empty if the
    /// rules cannot decide.
    fn missing_members(&self, _world: &dyn World, _file: FileId, _lines: &[Range<u32>]) -> Vec<MissingName> {
        Vec::new()
    }

    /// Returns true if the type of a former member of a file inherits one that takes the same arguments.
    fn is_inherited(&self, _world: &dyn World, _file: FileId, _member: &Definition) -> bool {
        false
    }

    /// Returns true if a type extends another one, by names that are written in a container of a file.
    fn is_subtype(
        &self,
        _world: &dyn World,
        _place: (FileId, Option<&str>),
        _sub: &str,
        _base: &str,
    ) -> bool {
        false
    }

    /// The places where a value is used for an interface of a file, and the value's type lacks a method. Empty if types declare which
    /// interfaces they implement.
    fn unfit_conversions(
        &self,
        _world: &dyn World,
        _interface: (FileId, &Definition),
        _method: &str,
    ) -> Vec<Reference> {
        Vec::new()
    }

    /// Returns true if importers of a re-exported name still get something after the re-exporting file has
    /// lost it.
    fn reexport_outlives_removal(&self, _handing: &Facts) -> bool {
        true
    }

    /// Returns true if two texts are equal but for spaces and comments, for texts that cannot be parsed
    /// completely. `false` if unknown.
    fn same_tokens(&self, _one: &str, _other: &str) -> bool {
        false
    }

    /// Returns true if the value that a file provides for a missing name is known not to be callable.
    fn dynamic_export_is_uncallable(&self, _handing: &Facts) -> bool {
        false
    }

    /// Returns true if callers do not see the parameters of a function, because something else is called in
    /// its place.
    fn hides(&self, _world: &dyn World, _file: FileId, _function: &Definition) -> bool {
        false
    }
}

/// The language by whose rules a file of a language is read: one for all that share rules.
pub fn family(language: Language) -> Language {
    match language {
        Language::Tsx | Language::JavaScript => Language::TypeScript,
        language => language,
    }
}

pub fn rules(language: Language) -> &'static dyn Rules {
    match language {
        Language::Rust => &rust::Rust,
        Language::Bash => &bash::Bash,
        Language::C => &c::C,
        Language::Cpp => &c::CPP,
        Language::CSharp => &csharp::RULES,
        Language::Go => &go::RULES,
        Language::Java => &java::RULES,
        Language::Kotlin => &kotlin::RULES,
        Language::Markdown => &markdown::Markdown,
        Language::Php => &php::RULES,
        Language::Python => &python::Python,
        Language::TypeScript | Language::Tsx | Language::JavaScript => &typescript::TypeScript,
        Language::Ruby => &ruby::RULES,
        Language::Swift => &swift::RULES,
        _ => &Plain,
    }
}

/// Returns true if two contents of a file differ in comments and spaces only. `false` if unknown.
pub(crate) fn is_same_code(path: &str, one: &str, other: &str) -> bool {
    let language = language_of(path, one);
    let (Some(one_tree), Some(other_tree)) = (parsed(language, one), parsed(language, other)) else {
        return false;
    };
    // These words are not in the trees.
    if matches!(language, Language::C | Language::Cpp) && c::attribute_words(one) != c::attribute_words(other)
    {
        return false;
    }
    let readable = |tree: &tree_sitter::Tree| !tree.root_node().has_error();
    readable(&one_tree) && readable(&other_tree) && is_same_tree((&one_tree, one), (&other_tree, other))
}

pub(crate) fn grammar(language: Language) -> Option<tree_sitter::Language> {
    Some(match language {
        Language::Rust => tree_sitter_rust::LANGUAGE.into(),
        Language::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        Language::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
        Language::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
        Language::Python => tree_sitter_python::LANGUAGE.into(),
        Language::Go => tree_sitter_go::LANGUAGE.into(),
        Language::Java => tree_sitter_java::LANGUAGE.into(),
        Language::Kotlin => tree_sitter_kotlin_ng::LANGUAGE.into(),
        Language::C => tree_sitter_c::LANGUAGE.into(),
        Language::Cpp => tree_sitter_cpp::LANGUAGE.into(),
        Language::CSharp => tree_sitter_c_sharp::LANGUAGE.into(),
        Language::Ruby => tree_sitter_ruby::LANGUAGE.into(),
        Language::Php => tree_sitter_php::LANGUAGE_PHP.into(),
        Language::Swift => tree_sitter_swift::LANGUAGE.into(),
        Language::Bash => tree_sitter_bash::LANGUAGE.into(),
        _ => return None,
    })
}

/// Returns the language of a file. A script without an extension is of the language that its first line names.
pub(crate) fn language_of(path: &str, text: &str) -> Language {
    let by_path = Language::of(path);
    let first = text.lines().next().and_then(|line| line.strip_prefix("#!"));
    let Some(first) = first.filter(|_| by_path == Language::Text && may_be_script(path)) else {
        return by_path;
    };
    let mut words = first.split(['/', ' ', '\t']).filter(|word| !word.is_empty() && !word.starts_with('-'));
    let interpreter = words.rfind(|word| !word.contains('='));
    match interpreter.unwrap_or_default().trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "sh" | "bash" | "dash" | "ksh" | "bats" => Language::Bash,
        "python" => Language::Python,
        "ruby" => Language::Ruby,
        "node" => Language::JavaScript,
        "php" => Language::Php,
        _ => by_path,
    }
}

/// Returns true if a file has no extension, so that only its first line shows its language.
pub(crate) fn may_be_script(path: &str) -> bool {
    !base(path).contains('.')
}

/// Parses a text of a language.
pub(crate) fn parsed(language: Language, text: &str) -> Option<tree_sitter::Tree> {
    match language {
        Language::C | Language::Cpp => c::parsed(language, text),
        _ => parse(&grammar(language)?, text),
    }
}

/// The facts of a file.
pub fn facts(path: &str, text: &str) -> Facts {
    let language = language_of(path, text);
    let read = || rules(language).facts(path, text);
    Facts { language, ..with_budget(text, read) }
}

/// The facts of a file with the uses of names that it neither defines nor imports.
pub fn facts_with_unbound_names(path: &str, text: &str) -> Facts {
    let language = language_of(path, text);
    let read = || rules(language).facts_with_unbound_names(path, text);
    Facts { language, ..with_budget(text, read) }
}

/// The facts of a file, from those with the uses of names that it neither defines nor imports.
pub(crate) fn without_unbound_names(facts: &Arc<Facts>) -> Arc<Facts> {
    let rules = rules(facts.language);
    if !rules.notes_unbound_names() {
        return Arc::clone(facts);
    }
    let mut bound = Facts::clone(facts);
    rules.drop_unbound_names(&mut bound);
    Arc::new(bound)
}

/// Text without imports and symbols.
struct Plain;

impl Rules for Plain {
    fn facts(&self, path: &str, _text: &str) -> Facts {
        Facts::none(Language::of(path))
    }

    fn referrers(&self, _world: &dyn World, _target: &Target<'_>) -> Vec<Reference> {
        Vec::new()
    }

    fn outgoing(&self, _world: &dyn World, _file: FileId) -> FileReferences {
        FileReferences::default()
    }
}
