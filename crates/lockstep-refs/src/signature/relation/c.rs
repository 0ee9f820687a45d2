//! Relations between types of C and C++.

use super::Relation;
use crate::language::Language;

use Language::Cpp;

pub(super) fn c(language: Language, old: &[&str], new: &[&str]) -> Option<Relation> {
    let bare = |tokens: &[&str]| -> Vec<String> {
        tokens.iter().filter(|token| **token != "const").map(|token| (*token).to_owned()).collect()
    };
    let is_const = |tokens: &[&str]| tokens.contains(&"const");
    let indirect = |tokens: &[&str]| tokens.iter().any(|token| matches!(*token, "*" | "&" | "&&"));
    if is_arithmetic(old) && is_arithmetic(new) {
        return Some(Relation::Converts);
    }
    if bare(old) == bare(new) && is_const(new) && !is_const(old) {
        return Some(Relation::Converts);
    }
    if let ["const", inner @ .., "&"] = new
        && (inner == old || old.strip_suffix(&["&&"]) == Some(inner))
    {
        return Some(Relation::Converts);
    }
    if let ["const", inner @ .., "&"] = old
        && inner == new
    {
        return Some(Relation::Converts);
    }
    if let [inner @ .., "&&"] = new
        && inner == old
    {
        return Some(Relation::Unknown);
    }
    let void = matches!(new, ["void", "*"] | ["const", "void", "*"]) && old.last() == Some(&"*");
    if void && (!is_const(old) || is_const(new)) {
        return Some(Relation::Converts);
    }
    let differs = indirect(old) != indirect(new);
    if differs && is_arithmetic_or_pointer(old) && is_arithmetic_or_pointer(new) {
        return Some(Relation::Unrelated);
    }
    if language == Cpp {
        let text = |tokens: &[&str]| tokens.join("").replace("std::", "");
        let (from, to) = (text(old), text(new));
        let strings = ["constchar*", "conststring&", "string", "string&"];
        let takes = match &*to {
            "string_view" => strings.contains(&&*from),
            "string" | "conststring&" => matches!(&*from, "constchar*" | "char*" | "string" | "conststring&"),
            _ => {
                to.strip_prefix("optional<").and_then(|strip_prefix| strip_prefix.strip_suffix('>'))
                    == Some(&from)
            }
        };
        return takes.then_some(Relation::Converts);
    }
    None
}

pub(super) fn is_arithmetic_or_pointer(tokens: &[&str]) -> bool {
    let base: Vec<&str> = tokens.iter().copied().filter(|token| !matches!(*token, "*" | "const")).collect();
    is_arithmetic(&base) || base == ["void"]
}

pub(super) fn is_arithmetic(tokens: &[&str]) -> bool {
    pub(super) const WORDS: &[&str] = &[
        "int",
        "char",
        "long",
        "short",
        "float",
        "double",
        "bool",
        "_Bool",
        "unsigned",
        "signed",
        "size_t",
        "ssize_t",
        "ptrdiff_t",
        "uint8_t",
        "uint16_t",
        "uint32_t",
        "uint64_t",
        "int8_t",
        "int16_t",
        "int32_t",
        "int64_t",
        "uintptr_t",
        "intptr_t",
        "off_t",
        "time_t",
        "std",
        "::",
    ];
    !tokens.is_empty() && tokens.iter().all(|token| WORDS.contains(token))
}
