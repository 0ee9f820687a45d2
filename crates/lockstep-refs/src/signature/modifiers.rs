//! Words of a header that are neither names nor types, and their meaning for users.

use super::{Fit, Fits};
use crate::language::Language;

use Fit::{Breaks, Fits as Fit_, Unknown};

const NOTHING: Fits = (Fit_, Fit_, Fit_);

/// Visibility modifiers, widest first.
const VISIBILITIES: &[&str] =
    &["open", "public", "pub", "export", "protected", "internal", "package", "fileprivate", "private"];

/// Words that introduce a definition or that only its own body notices.
const HARMLESS: &[&str] = &[
    "function",
    "fn",
    "fun",
    "func",
    "def",
    "class",
    "struct",
    "interface",
    "trait",
    "protocol",
    "enum",
    "record",
    "object",
    "var",
    "let",
    "declare",
    "synchronized",
    "strictfp",
    "native",
    "transient",
    "volatile",
    "inline",
    "__inline",
    "__inline__",
    "extern",
    "register",
    "tailrec",
    "external",
    "new",
    "partial",
    "override",
    "lateinit",
    "default",
    "_Noreturn",
    "friend",
    "required",
    "optional",
    "nonisolated",
    "convenience",
    "indirect",
    "actual",
    "expect",
];

/// Words that more than the body notices.
const TELLING: &[&str] = &[
    "final",
    "sealed",
    "abstract",
    "virtual",
    "static",
    "async",
    "suspend",
    "const",
    "constexpr",
    "consteval",
    "unsafe",
    "mutating",
    "get",
    "set",
    "infix",
    "operator",
    "readonly",
    "explicit",
    "*",
];

/// Returns true if a word is a modifier. In C and C++ `const` belongs to the type, and so does the star.
pub(super) fn is_modifier(language: Language, word: &str) -> bool {
    let of_type =
        matches!(language, Language::C | Language::Cpp) && matches!(word, "const" | "*" | "struct" | "enum");
    let opens = word == "open" && !matches!(language, Language::Swift | Language::Kotlin);
    !of_type
        && !opens
        && (VISIBILITIES.contains(&word) || HARMLESS.contains(&word) || TELLING.contains(&word))
}

/// The effect of other modifiers. `is_typed` if the result type is written down.
pub(super) fn effect(language: Language, old: &[&str], new: &[&str], is_typed: bool) -> Fits {
    let mut fits = visibility(language, old, new);
    let mut raise = |other: Fits| fits = (fits.0.max(other.0), fits.1.max(other.1), fits.2.max(other.2));
    let lacks = |list: &[&str], word: &str| !list.contains(&word);
    for word in new.iter().filter(|word| lacks(old, word)) {
        raise(added(language, word, is_typed));
    }
    for word in old.iter().filter(|word| lacks(new, word)) {
        raise(removed(language, word, is_typed));
    }
    fits
}

fn is_visibility(language: Language, word: &str) -> bool {
    VISIBILITIES.contains(&word) && !(word == "open" && language == Language::Kotlin)
}

fn visibility(language: Language, old: &[&str], new: &[&str]) -> Fits {
    use Language::{CSharp, Java, Kotlin, Php, Ruby};
    let rank = |list: &[&str]| {
        let given = list.iter().find(|name| is_visibility(language, name));
        let default = match language {
            Kotlin | Php | Ruby | Language::TypeScript | Language::Tsx => "public",
            CSharp => "private",
            Java => "package",
            _ => "internal",
        };
        VISIBILITIES.iter().position(|name| name == given.unwrap_or(&default)).unwrap_or(0)
    };
    let (before, now) = (rank(old), rank(new));
    match language {
        Java | CSharp | Kotlin | Php | Ruby if now > before => (Unknown, Fit_, Unknown),
        // An override must not be less visible than the overridden member.
        Java | CSharp | Kotlin | Php if now < before => (Fit_, Unknown, Fit_),
        _ => NOTHING,
    }
}

fn added(language: Language, word: &str, is_typed: bool) -> Fits {
    use Language::{CSharp, Cpp, Java, JavaScript, Php, Tsx, TypeScript};
    if is_visibility(language, word) || HARMLESS.contains(&word) {
        return NOTHING;
    }
    match word {
        "final" | "sealed" => (Fit_, Breaks, Fit_),
        "abstract" => (Fit_, Unknown, Fit_),
        "open" | "virtual" | "const" | "constexpr" | "consteval" | "infix" | "operator" => NOTHING,
        // A static member may be accessed through an instance.
        "static" if matches!(language, Java | Php | Cpp) => (Fit_, Breaks, Unknown),
        "async" if language == CSharp => NOTHING,
        "async" if is_typed && matches!(language, TypeScript | Tsx | JavaScript) => NOTHING,
        // Only a conversion that is not written needs the constructor without it.
        "explicit" => NOTHING,
        "mutating" | "readonly" => (Unknown, Unknown, Unknown),
        "static" | "async" | "suspend" | "unsafe" | "get" | "set" | "*" => (Breaks, Breaks, Breaks),
        _ => (Unknown, Unknown, Unknown),
    }
}

fn removed(language: Language, word: &str, is_typed: bool) -> Fits {
    if is_visibility(language, word) || HARMLESS.contains(&word) {
        return NOTHING;
    }
    match word {
        "final" | "sealed" | "abstract" | "explicit" | "readonly" => NOTHING,
        "open" | "virtual" => (Fit_, Breaks, Fit_),
        "mutating" => NOTHING,
        "suspend" | "unsafe" => (Fit_, Breaks, Unknown),
        "const" | "constexpr" | "consteval" | "infix" | "operator" => (Unknown, Fit_, Fit_),
        "static" => (Breaks, Breaks, Breaks),
        "async" => match added(language, word, is_typed) {
            NOTHING => NOTHING,
            _ => (Breaks, Breaks, Breaks),
        },
        _ => added(language, word, is_typed),
    }
}

/// Returns true if a definition could be overridden before and cannot be now.
pub(super) fn forbids_overrides(old: &[&str], new: &[&str]) -> bool {
    let only = |a: &[&str], b: &[&str], words: &[&str]| {
        words.iter().any(|word| a.contains(word) && !b.contains(word))
    };
    only(new, old, &["final", "sealed", "static"]) || only(old, new, &["virtual", "open", "static"])
}

/// Returns the effect of changes after the parameters: exceptions, qualifiers, conditions.
pub(super) fn suffix(language: Language, old: &[&str], new: &[&str]) -> Fits {
    let added = || new.iter().filter(|name| !old.contains(name));
    let removed = || old.iter().filter(|name| !new.contains(name));
    let all = |of_added: fn(Language, &str) -> Fits, of_removed: fn(Language, &str) -> Fits| {
        let each = added()
            .map(|name| of_added(language, name))
            .chain(removed().map(|name| of_removed(language, name)));
        each.fold(NOTHING, |a, b| (a.0.max(b.0), a.1.max(b.1), a.2.max(b.2)))
    };
    all(suffix_added, suffix_removed)
}

fn suffix_added(language: Language, word: &str) -> Fits {
    match (language, word) {
        (_, "," | "throws" | "." | "override" | ";") if language != Language::Swift => NOTHING,
        (Language::Java, exception) if is_unchecked(exception) => NOTHING,
        (Language::Java, _) => (Breaks, Fit_, Unknown),
        (Language::Swift, "throws" | "rethrows" | "async") => (Breaks, Fit_, Breaks),
        (Language::Cpp, "const") => (Fit_, Breaks, Breaks),
        (Language::Cpp, "noexcept") => (Fit_, Unknown, Fit_),
        (Language::Cpp, "final") => (Fit_, Breaks, Fit_),
        (Language::Cpp, "=" | "0" | "default") => (Fit_, Unknown, Fit_),
        (Language::Cpp, "delete") => (Breaks, Breaks, Breaks),
        _ => (Unknown, Unknown, Unknown),
    }
}

fn suffix_removed(language: Language, word: &str) -> Fits {
    match (language, word) {
        (Language::Swift, "throws" | "rethrows" | "async") => (Fit_, Breaks, Fit_),
        (_, "," | "throws" | "." | "override" | "final" | ";") => NOTHING,
        (Language::Java, _) => (Fit_, Unknown, Fit_),
        (Language::Cpp, "const") => (Unknown, Breaks, Breaks),
        (Language::Cpp, "noexcept" | "=" | "0" | "default" | "delete") => NOTHING,
        _ => (Unknown, Unknown, Unknown),
    }
}

/// Returns true if an exception of this name is unchecked in Java.
pub(crate) fn is_unchecked(exception: &str) -> bool {
    const UNCHECKED: &[&str] = &[
        "IllegalArgumentException",
        "IllegalStateException",
        "NullPointerException",
        "UnsupportedOperationException",
        "IndexOutOfBoundsException",
        "ClassCastException",
        "ArithmeticException",
        "NumberFormatException",
        "ConcurrentModificationException",
    ];
    exception.ends_with("RuntimeException") || exception.ends_with("Error") || UNCHECKED.contains(&exception)
}

/// Returns the effect of changed annotations. Those of most languages do not affect callers.
pub(super) fn annotations(language: Language, old: &[&str], new: &[&str]) -> Fits {
    const SILENT: &[&str] = &[
        "override",
        "final",
        "deprecated",
        "typing",
        "typing_extensions",
        "no_type_check",
        "discardableResult",
        "available",
        "inlinable",
        "usableFromInline",
        "objc",
        "inline",
        "warn_unqualified_access",
        "functools",
        "abstractmethod",
        "abc",
        "wraps",
        "atexit",
        "pytest",
    ];
    if !matches!(language, Language::Python | Language::Swift) {
        return NOTHING;
    }
    let differs =
        |from: &[&str], to: &[&str]| from.iter().any(|name| !to.contains(name) && !SILENT.contains(name));
    if differs(old, new) || differs(new, old) { (Unknown, Unknown, Unknown) } else { NOTHING }
}
