//! Doc comments are statements: the number that begin with a question word may only go down.

use std::collections::BTreeMap;
use std::fs;

use super::{Rule, Violation};
use crate::XtaskResult;
use crate::workspace::{self, SourceFile};

pub(super) const NO_QUESTIONS: &str =
    "No doc comment begins with DefinitionChangeKind, Who, Whoever, Whose or How.";
pub(super) const NO_QUESTIONS_WHY: &str = "a comment that begins with the thing or the action is read once. Write \"Returns …\", \"A …\" or \
     \"The …\". xtask/tidy/question-comments.txt has the number that is left in each crate; `cargo xtask tidy --tighten` lowers it.";

/// The allowed number of such comments: a crate and a number per line.
const ALLOWANCE: &str = "xtask/tidy/question-comments.txt";

const QUESTION_WORDS: &[&str] = &["What", "Whatever", "Who", "Whoever", "Whom", "Whose", "How"];

pub(super) const PLAIN_WORDS: Rule = Rule {
    asks: "No comment uses a private word of the project for a standard term.",
    why: "a reader who knows Rust and git, but not this project, understands each comment. Name the actor (process, user, \
          caller) and the action (rebuild, re-export, scope violation).",
    breaches: private_words,
};

/// Words that earlier comments used in a private meaning.
const PRIVATE_WORDS: &[&str] =
    &["nobody", "somebody", "whoever", "anew", "hands on", "handed on", "trespass"];

type Counts = BTreeMap<String, usize>;

/// Returns the crates that have more such comments than they are allowed, with their positions.
pub(super) fn breaches(files: &[SourceFile]) -> XtaskResult<Vec<Violation>> {
    Ok(over(files, &allowance()?))
}

fn over(files: &[SourceFile], allowed: &Counts) -> Vec<Violation> {
    let mut found: BTreeMap<&str, Vec<Violation>> = BTreeMap::new();
    for file in files {
        for index in questions(file) {
            let opening = file.text.lines().nth(index).unwrap_or_default().trim();
            found.entry(crate_of(file)).or_default().push(Violation::on_line(file, index, opening));
        }
    }
    let is_over = |(name, breaches): &(&str, Vec<Violation>)| {
        breaches.len() > allowed.get(*name).copied().unwrap_or_default()
    };
    let describe = |(name, mut breaches): (&str, Vec<Violation>)| {
        let allowed = allowed.get(name).copied().unwrap_or_default();
        let summary = Violation::new(name, format!("has {} of them, {allowed} are allowed", breaches.len()));
        // The list of a crate with hundreds of them would hide the new ones.
        breaches.truncate(if allowed == 0 { usize::MAX } else { 0 });
        std::iter::once(summary).chain(breaches).collect::<Vec<_>>()
    };
    found.into_iter().filter(is_over).flat_map(describe).collect()
}

fn private_words(file: &SourceFile) -> Vec<Violation> {
    if !file.path.ends_with(".rs") {
        return Vec::new();
    }
    let on_line = |(index, line): (usize, &str)| {
        let text = line.trim_start().strip_prefix("//")?.to_lowercase();
        let is_whole = |at: usize, word: &str| {
            let (before, after) = (&text[..at], &text[at + word.len()..]);
            !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric)
        };
        let uses = |word: &&&str| text.match_indices(**word).any(|(at, word)| is_whole(at, word));
        let word = PRIVATE_WORDS.iter().find(uses)?;
        Some(Violation::on_line(file, index, format!("uses \"{word}\"")))
    };
    file.text.lines().enumerate().filter_map(on_line).collect()
}

/// Lowers the allowance to the present numbers. No number is raised.
pub(super) fn tighten(files: &[SourceFile]) -> XtaskResult {
    let mut allowed = allowance()?;
    let mut present = Counts::new();
    for file in files {
        *present.entry(crate_of(file).to_owned()).or_default() += questions(file).count();
    }
    for (name, number) in &mut allowed {
        *number = (*number).min(present.get(name).copied().unwrap_or_default());
    }
    allowed.retain(|_, number| *number > 0);
    let text: String = allowed.iter().map(|(name, number)| format!("{name} {number}\n")).collect();
    Ok(fs::write(workspace::root().join(ALLOWANCE), text)?)
}

fn allowance() -> XtaskResult<Counts> {
    let text = fs::read_to_string(workspace::root().join(ALLOWANCE))?;
    let entry = |line: &str| {
        let (name, number) = line.split_once(' ')?;
        Some((name.to_owned(), number.parse().ok()?))
    };
    text.lines()
        .map(|line| entry(line).ok_or_else(|| format!("{ALLOWANCE}: expected `CRATE NUMBER`: {line}").into()))
        .collect()
}

/// Returns the lines of doc comments that begin with a question word.
fn questions(file: &SourceFile) -> impl Iterator<Item = usize> {
    let is_source = file.path.ends_with(".rs");
    let mut is_inside = false;
    file.text.lines().enumerate().filter_map(move |(index, line)| {
        let comment = comment(line).filter(|_| is_source);
        let is_opening = comment.is_some() && !is_inside;
        is_inside = comment.is_some();
        let word = comment?.split_whitespace().next()?.trim_end_matches(|c: char| !c.is_alphabetic());
        (is_opening && QUESTION_WORDS.contains(&word)).then_some(index)
    })
}

fn comment(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).filter(|rest| !rest.starts_with('/'))
}

fn crate_of(file: &SourceFile) -> &str {
    let mut parts = file.path.split('/');
    match parts.next() {
        Some("crates") => parts.next().unwrap_or_default(),
        first => first.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> SourceFile {
        SourceFile { path: "crates/a/src/lib.rs".to_owned(), text: text.to_owned() }
    }

    fn count(text: &str) -> usize {
        questions(&file(text)).count()
    }

    #[test]
    fn counts_only_the_first_line_of_a_doc_comment() {
        assert_eq!(count("/// What it is.\nfn a() {}\n"), 1);
        assert_eq!(count("    /// How\n    /// What\n"), 1);
        assert_eq!(count("/// Returns the name.\n/// What is more\nfn a() {}\n"), 0);
        assert_eq!(count("//! Whose file\n"), 1);
        assert_eq!(count("// What an ordinary comment says.\n//// What\n"), 0);
        assert_eq!(count("/// However often it runs.\n"), 0);
    }

    #[test]
    fn reports_private_words_in_comments_only() {
        assert_eq!(private_words(&file("let a = 1;\n// Nobody reads it.\n"))[0].at, "crates/a/src/lib.rs:2");
        assert_eq!(private_words(&file("    /// It is built anew.\n")).len(), 1);
        assert_eq!(private_words(&file("let text = \"nobody\";\n// A renewal.\n")), []);
    }

    #[test]
    fn reports_a_crate_above_its_allowance() {
        let files = [file("/// What it is.\nfn a() {}\n/// How.\nfn b() {}\n")];
        let allowed = |number| Counts::from([("a".to_owned(), number)]);
        assert_eq!(over(&files, &allowed(2)), []);
        assert_eq!(over(&files, &allowed(1)), [Violation::new("a", "has 2 of them, 1 are allowed")]);
        assert_eq!(over(&files, &Counts::new()).len(), 3);
    }
}
