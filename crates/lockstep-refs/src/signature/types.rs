//! The effect of a changed head of a type, or of a changed field or variable.

use super::header::without_annotations;
use super::modifiers::{self, is_modifier};
use super::relation::{Relation, TypeParameters, relation};
use super::{Effect, Fit};
use crate::language::Language;
use crate::syntax::OWN_NAME;

use Fit::{Breaks, Fits as Fit_, Unknown};

/// `None` if more changed than modifiers and supertypes.
pub(super) fn of_types(language: Language, old: &[&str], new: &[&str]) -> Option<Effect> {
    let mut effect = Effect::none();
    let (old, old_annotations) = without_annotations(language, old);
    let (new, new_annotations) = without_annotations(language, new);
    effect.raise(modifiers::annotations(language, &old_annotations, &new_annotations));
    if language == Language::Python && old_annotations != new_annotations {
        return None;
    }
    let (old_words, old_rest) = divided(language, &old);
    let (new_words, new_rest) = divided(language, &new);
    for word in new_words.iter().filter(|word| !old_words.contains(word)) {
        effect.raise(match *word {
            "abstract" => (Breaks, Fit_, Fit_),
            "final" | "sealed" => (Fit_, Breaks, Fit_),
            "static" => (Breaks, Breaks, Unknown),
            _ => modifiers::effect(language, &[], &[word], true),
        });
    }
    for word in old_words.iter().filter(|word| !new_words.contains(word)) {
        effect.raise(match *word {
            "abstract" | "final" | "sealed" => (Fit_, Fit_, Fit_),
            "open" => (Fit_, Breaks, Fit_),
            "static" => (Unknown, Unknown, Unknown),
            _ => modifiers::effect(language, &[word], &[], true),
        });
    }
    if old_rest != new_rest && !became_unchecked(language, &old_rest, &new_rest) {
        // One more supertype may ask something of subtypes.
        use Language::{CSharp, Java, Kotlin, Php, Python, Swift, Tsx, TypeScript};
        // Members that came from a lost supertype are searched one by one.
        let loses = matches!(language, CSharp | Java | Kotlin | Php | Python | Swift | Tsx | TypeScript)
            && !old_rest.contains(&"permits")
            && adds_supertypes(&new_rest, &old_rest);
        let adds = adds_supertypes(&old_rest, &new_rest);
        // In Python and TypeScript, an object may be used where its lost supertype is expected.
        let calls = if matches!(language, Python | Tsx | TypeScript) { Unknown } else { Fit_ };
        let effects = if loses { (calls, Fit_, Unknown) } else { (Fit_, Unknown, Fit_) };
        (loses || adds).then(|| effect.raise(effects))?;
    }
    Some(effect)
}

fn divided<'t>(language: Language, tokens: &[&'t str]) -> (Vec<&'t str>, Vec<&'t str>) {
    let name = tokens.iter().position(|token| *token == OWN_NAME).unwrap_or(0);
    let (words, other): (Vec<&str>, Vec<&str>) =
        tokens[..name].iter().partition(|token| is_modifier(language, token) && !is_keyword(token));
    (words, other.into_iter().chain(tokens[name..].iter().copied()).collect())
}

/// Returns true for an exception of Java that nothing needs to declare or catch any more.
fn became_unchecked(language: Language, old: &[&str], new: &[&str]) -> bool {
    let checked = |name| if name == "RuntimeException" { "Exception" } else { name };
    language == Language::Java
        && old.contains(&"Exception")
        && new.iter().copied().map(checked).eq(old.iter().copied())
}

fn is_keyword(word: &str) -> bool {
    matches!(word, "class" | "struct" | "interface" | "trait" | "protocol" | "enum" | "record" | "object")
}

/// Returns true if the new head is the old one with more behind `implements`, `:` or in the parentheses of Python.
fn adds_supertypes(old: &[&str], new: &[&str]) -> bool {
    let clause = |name: &&str| matches!(*name, "implements" | "extends" | ":" | "(" | "with" | "permits");
    let from = new.iter().position(clause).unwrap_or(new.len());
    let mut rest = old.iter().peekable();
    for (at, token) in new.iter().enumerate() {
        if rest.peek() == Some(&token) {
            rest.next();
        } else if at < from {
            return false;
        }
    }
    rest.next().is_none()
}

/// Fields, properties, variables and constants.
pub(super) fn of_values(language: Language, old: &[&str], new: &[&str]) -> Effect {
    let mut effect = Effect::none();
    let (old, _) = without_annotations(language, old);
    let (new, _) = without_annotations(language, new);
    let (mut old_words, old_type) = typed(language, &old);
    let (mut new_words, new_type) = typed(language, &new);
    if language == Language::CSharp {
        [&mut old_words, &mut new_words].into_iter().for_each(write_constant_out);
    }
    let has = |list: &[&str], word: &str| list.contains(&word);
    let is_constant = if language == Language::Swift { "let" } else { "const" };
    for word in ["final", "readonly", "val", is_constant] {
        if has(&new_words, word) && !has(&old_words, word) {
            // Assignments no longer compile, but it is unknown whether a use is one.
            effect.raise((Unknown, Fit_, Unknown));
        }
    }
    let telling = |list: &[&str]| -> Vec<String> {
        let silent = |name: &&&str| !matches!(**name, "final" | "readonly" | "val" | "const" | "var" | "let");
        list.iter().filter(silent).map(|name| (*name).to_owned()).collect()
    };
    let (before, now) = (telling(&old_words), telling(&new_words));
    let (before, now): (Vec<&str>, Vec<&str>) =
        (before.iter().map(String::as_str).collect(), now.iter().map(String::as_str).collect());
    effect.raise(modifiers::effect(language, &before, &now, true));
    let is_script = matches!(language, Language::TypeScript | Language::Tsx);
    let constructions = effect.constructions;
    let relation = relation(language, &old_type, &new_type, &TypeParameters::default());
    effect.raise(match relation {
        Relation::Same => (Fit_, Fit_, Fit_),
        // A new annotation is assumed to describe the initial value.
        _ if is_script && old_type.is_empty() => (Fit_, Fit_, Fit_),
        // The initial value shows the type, and mostly has the same one as before.
        _ if language == Language::Go && (old_type.is_empty() || new_type.is_empty()) => (Fit_, Fit_, Fit_),
        _ if old_type.is_empty() || new_type.is_empty() => (Unknown, Unknown, Unknown),
        Relation::Unrelated => (Breaks, Breaks, Breaks),
        // A read value that is never missing is handled like one that may be. An assigned one is not.
        Relation::Narrower if language == Language::Kotlin && has(&new_words, "val") => (Fit_, Unknown, Fit_),
        // Numbers of C convert in every expression.
        Relation::Converts if matches!(language, Language::C | Language::Cpp) => (Fit_, Fit_, Fit_),
        _ => (Unknown, Unknown, Unknown),
    });
    if is_script && relation == Relation::Wider {
        effect.constructions = constructions;
    }
    effect
}

/// A constant of C# is static and cannot be assigned.
fn write_constant_out(words: &mut Vec<&str>) {
    if let Some(at) = words.iter().position(|word| *word == "const") {
        words[at] = "static";
        words.push("readonly");
    }
}

/// The modifiers, and the rest.
fn typed<'t>(language: Language, tokens: &[&'t str]) -> (Vec<&'t str>, Vec<&'t str>) {
    let is_significant = |name: &&&str| !matches!(**name, ";" | "=" | ",") && **name != OWN_NAME;
    let is_word = |name: &&str| is_modifier(language, name) || matches!(*name, "val" | "readonly" | "const");
    // The header of a parameter that is also a property contains its default.
    let end = tokens.iter().position(|token| *token == "=").filter(|_| language == Language::Php);
    let tokens = &tokens[..end.unwrap_or(tokens.len())];
    let (words, mut rest): (Vec<&str>, Vec<&str>) =
        tokens.iter().filter(is_significant).partition(|token| is_word(token));
    let is_optional = rest.first() == Some(&"?") && rest.get(1) == Some(&":");
    if is_optional {
        rest.remove(0);
    }
    if rest.first() == Some(&":") {
        rest.remove(0);
    }
    if is_optional && matches!(language, Language::TypeScript | Language::Tsx) {
        rest.extend(["|", "undefined"]);
    }
    (words, rest)
}
