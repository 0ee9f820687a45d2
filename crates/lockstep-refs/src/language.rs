//! The languages: which file is read by which rules, and what each set of rules can do.
//!
//! One module per language or family. To add one: a variant of [`Language`], its extensions in [`Language::of`], a module
//! that implements [`Rules`], a line in [`rules`].

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
mod typescript;

pub(crate) use go::{inside_module, module_name};
pub(crate) use rust::library_of;

use serde::{Deserialize, Serialize};

use crate::facts::{Definition, Facts};
use crate::reference::{MissingName, Outgoing, Reference, Target};
use crate::syntax::{is_same_tree, parse};
use crate::world::{FileId, World, base};

/// By whose rules a file is read.
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
    /// Any other text: it takes part by paths, names and mentions.
    Text,
}

impl Language {
    /// The language of a file, by its name.
    pub fn of(path: &str) -> Self {
        let base = base(path);
        let Some((_, extension)) = base.rsplit_once('.') else { return Self::Text };
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
            // A header may be either: C++ reads nearly all of C.
            "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" | "inl" | "ipp" => Self::Cpp,
            "cs" => Self::CSharp,
            "rb" | "rake" | "gemspec" => Self::Ruby,
            "php" => Self::Php,
            "swift" => Self::Swift,
            "sh" | "bash" => Self::Bash,
            "md" | "markdown" | "mdx" => Self::Markdown,
            "yaml" | "yml" => Self::Yaml,
            "json" | "jsonc" => Self::Json,
            "toml" => Self::Toml,
            "html" | "htm" => Self::Html,
            _ => Self::Text,
        }
    }
}

/// What a language's rules can do.
pub trait Rules: Sync {
    /// The facts of a file. Broken text gives what can be seen, and counts problems.
    fn facts(&self, path: &str, text: &str) -> Facts;

    /// The facts of a file with the uses of names that it neither defines nor imports. [`facts`](Self::facts) may leave them
    /// out, because they are those of the language's own library as long as the file is in order.
    fn facts_with_unbound_names(&self, path: &str, text: &str) -> Facts {
        self.facts(path, text)
    }

    /// The places in other files that reference the target, by this language's imports and symbols. Sorted by path and line.
    fn referrers(&self, world: &dyn World, target: &Target<'_>) -> Vec<Reference>;

    /// What a file references by this language's imports and symbols.
    fn outgoing(&self, world: &dyn World, file: FileId) -> Outgoing;

    /// The names that a file takes from modules of the project that certainly do not have them. Empty if the rules cannot tell.
    fn missing_names(&self, _world: &dyn World, _file: FileId) -> Vec<MissingName> {
        Vec::new()
    }

    /// Whether who takes a name from a file that hands it on, and has lost it itself, still gets something.
    fn shields(&self, _handing: &Facts) -> bool {
        true
    }

    /// Whether two texts say the same, but for spaces and comments, where not all of them can be read. `false` where that is not known.
    fn reads_alike(&self, _one: &str, _other: &str) -> bool {
        false
    }

    /// Whether what a file gives for a name that it has not is known to be nothing that can be called.
    fn stands_in_uncallable(&self, _handing: &Facts) -> bool {
        false
    }

    /// Whether nobody sees what a function of a file takes, because something else is called in its place.
    fn hides(&self, _world: &dyn World, _file: FileId, _function: &Definition) -> bool {
        false
    }
}

/// The rules of a language.
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

/// Whether two contents of a file differ in comments and spaces only. `false` where that is not known.
pub(crate) fn is_same_code(path: &str, one: &str, other: &str) -> bool {
    let Some(grammar) = grammar(Language::of(path)) else { return false };
    let (Some(one_tree), Some(other_tree)) = (parse(&grammar, one), parse(&grammar, other)) else {
        return false;
    };
    let readable = |tree: &tree_sitter::Tree| !tree.root_node().has_error();
    readable(&one_tree) && readable(&other_tree) && is_same_tree((&one_tree, one), (&other_tree, other))
}

/// The grammar that reads a language.
fn grammar(language: Language) -> Option<tree_sitter::Language> {
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

/// The facts of a file.
pub fn facts(path: &str, text: &str) -> Facts {
    let language = Language::of(path);
    Facts { language, ..rules(language).facts(path, text) }
}

/// The facts of a file with the uses of names that it neither defines nor imports.
pub(crate) fn facts_with_unbound_names(path: &str, text: &str) -> Facts {
    let language = Language::of(path);
    Facts { language, ..rules(language).facts_with_unbound_names(path, text) }
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

    fn outgoing(&self, _world: &dyn World, _file: FileId) -> Outgoing {
        Outgoing::default()
    }
}
