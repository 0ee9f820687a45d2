//! Changes of comments only, in documents and configuration files, which have no grammar of a programming language.

use std::borrow::Cow;

use crate::language::{self, Language};

/// Returns true if two contents of a file differ in comments, and in languages with a grammar in layout, only.
pub(super) fn is_same_code(path: &str, former: &str, now: &str) -> bool {
    former != now && (language::is_same_code(path, former, now) || is_same_document(path, former, now))
}

fn is_same_document(path: &str, former: &str, now: &str) -> bool {
    let language = Language::of(path);
    match (without_comments(language, former), without_comments(language, now)) {
        (Some(former), Some(now)) => lines(&former).eq(lines(&now)),
        _ => false,
    }
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim_end).filter(|line| !line.is_empty())
}

/// Returns the content without comments that have lines of their own; `None` if they cannot be told from other content.
fn without_comments(language: Language, text: &str) -> Option<Cow<'_, str>> {
    match language {
        Language::Toml if text.contains("\"\"\"") || text.contains("'''") => None,
        Language::Toml | Language::Yaml => Some(without_comment_lines(text).into()),
        Language::Markdown | Language::Html => without_blocks(text),
        _ => None,
    }
}

/// Removes lines that begin with `#`, except in block scalars of YAML.
fn without_comment_lines(text: &str) -> String {
    let mut scalar: Option<usize> = None;
    let mut code = String::new();
    for line in text.lines() {
        let trimmed = line.trim();
        let indent = line.len() - line.trim_start().len();
        if scalar.is_some_and(|outer| indent <= outer && !trimmed.is_empty()) {
            scalar = None;
        }
        if scalar.is_none() && trimmed.starts_with('#') {
            continue;
        }
        let last = trimmed.rsplit(' ').next().unwrap_or_default();
        if scalar.is_none() && last.starts_with(['|', '>']) {
            scalar = Some(indent);
        }
        code.push_str(line);
        code.push('\n');
    }
    code
}

/// Removes `<!-- … -->`. A fence of code may show such a comment.
fn without_blocks(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains("<!--") {
        return Some(text.into());
    }
    if text.contains("```") || text.contains("~~~") {
        return None;
    }
    let mut code = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("<!--") {
        code.push_str(before);
        rest = comment.split_once("-->")?.1;
    }
    code.push_str(rest);
    Some(code.into())
}

#[cfg(test)]
mod tests {
    use super::is_same_code;

    #[test]
    fn comments_of_documents_are_told_from_content() {
        for (path, former, now, is_same) in [
            ("a.yml", "a: 1\nb: 2\n", "a: 1\n# note\nb: 2\n", true),
            ("a.yml", "run: |\n  one\n", "run: |\n  one\n  # Title\n", false),
            ("a.yml", "run: |\n  one\nb: 1\n", "run: |\n  one\n# note\nb: 1\n", true),
            ("a.yml", "a: 1\n", "a: 2\n", false),
            ("a.toml", "[a]\nb = 1\n", "# note\n[a]\n\nb = 1\n", true),
            ("a.toml", "a = \"\"\"\nb\n\"\"\"\n", "a = \"\"\"\n# c\nb\n\"\"\"\n", false),
            ("a.md", "# A\n\ntext\n", "# A\n\n<!-- note -->\n\ntext\n", true),
            ("a.md", "# A\n\ntext\n", "# B\n\n<!-- note -->\n\ntext\n", false),
            ("a.md", "```\n```\n", "```\n<!-- x -->\n```\n", false),
            ("a.sh", "a() {\n  b\n}\n", "# note\na() {\n  b\n}\n", true),
        ] {
            assert_eq!(is_same_code(path, former, now), is_same, "{path}: {former:?} {now:?}");
        }
    }
}
