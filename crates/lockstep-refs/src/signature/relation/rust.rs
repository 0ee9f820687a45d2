//! Relations between types of Rust.

use super::Relation;

pub(super) fn rust(old: &[&str], new: &[&str]) -> Option<Relation> {
    if let Some(rest) = old.strip_prefix(&["&", "mut"])
        && new.strip_prefix(&["&"]) == Some(rest)
    {
        return Some(Relation::Converts);
    }
    if let ["impl", bound @ .., ">"] = new
        && let Some(open) = bound.iter().position(|token| *token == "<").filter(|at| *at > 0)
        && let [.., target] = &bound[open + 1..]
        && matches!(bound[open - 1], "AsRef" | "Into")
        && (open > 1 || bound.len() > open + 2)
        && target.starts_with(char::is_alphabetic)
    {
        return rust(old, &["impl", bound[open - 1], "<", target, ">"]);
    }
    if let ["impl", "Into" | "From", "<", target @ .., ">"] = new {
        let text = target == ["String"] && matches!(old, ["&", "str"] | ["&", "String"]);
        return (target == old || text).then_some(Relation::Converts);
    }
    if let ["impl", "AsRef", "<", target @ .., ">"] = new {
        let borrowed = old.strip_prefix(&["&"]).unwrap_or(old);
        let owns = matches!(
            (borrowed, target),
            (["String"], ["str" | "Path" | "OsStr"])
                | (["PathBuf"], ["Path" | "OsStr"])
                | (["str"], ["Path" | "OsStr"])
        );
        return (borrowed == target || owns).then_some(Relation::Converts);
    }
    if let ["impl", "IntoIterator", "<", "Item", "=", item @ .., ">"] = new {
        let holds = matches!(old, ["Vec", "<", held @ .., ">"] if held == item);
        return holds.then_some(Relation::Converts);
    }
    let (from, to) = (old.strip_prefix(&["&"])?, new.strip_prefix(&["&"])?);
    let derefs = match (from, to) {
        (["String"], ["str"]) | (["PathBuf"], ["Path"]) | (["OsString"], ["OsStr"]) => true,
        (["Vec", "<", item @ .., ">"], ["[", slice @ .., "]"]) => item == slice,
        (["Box" | "Arc" | "Rc", "<", item @ .., ">"], to) => item == to,
        _ => false,
    };
    derefs.then_some(Relation::Converts)
}
