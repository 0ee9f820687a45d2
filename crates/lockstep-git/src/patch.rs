//! Patches: unified diffs, and what files become by them.

/// A change to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// Where the file is before; `None` where it is new.
    pub old: Option<String>,
    /// Where it is after; `None` where it is gone.
    pub new: Option<String>,
    hunks: Vec<Hunk>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Hunk {
    /// The first old line, counted from 1; 0 where there are none before.
    start: usize,
    /// The first new line, counted in the same way.
    new_start: usize,
    lines: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Line {
    Same(String),
    Old(String),
    New(String),
}

/// Why a text is no patch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct PatchError {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: &'static str,
}

/// The changes of a patch, as `git diff`, `git format-patch` and `diff -u` write them. What is none of a patch's lines is
/// skipped.
pub fn parse(text: &str) -> Result<Vec<FilePatch>, PatchError> {
    let mut patches: Vec<FilePatch> = Vec::new();
    let mut lines = text.lines().enumerate().peekable();
    let mut renamed_from = None;
    while let Some((at, line)) = lines.next() {
        let fail = |what| PatchError { line: at + 1, what };
        if line.starts_with("diff --git ") {
            renamed_from = None;
        } else if let Some(path) = line.strip_prefix("rename from ") {
            renamed_from = Some(path.to_owned());
        } else if let Some(path) = line.strip_prefix("rename to ") {
            let old = renamed_from.take().ok_or_else(|| fail("a rename without its origin"))?;
            patches.push(FilePatch { old: Some(old), new: Some(path.to_owned()), hunks: Vec::new() });
        } else if let Some(old) = line.strip_prefix("--- ") {
            let Some((_, next)) = lines.next_if(|(_, next)| next.starts_with("+++ ")) else { continue };
            let (old, new) = (side(old, "a/"), side(&next[4..], "b/"));
            match patches.last() {
                // The header of a rename has named both already.
                Some(last) if last.hunks.is_empty() && last.old == old && last.new == new => {}
                _ => patches.push(FilePatch { old, new, hunks: Vec::new() }),
            }
        } else if line.starts_with("@@ ") {
            let patch = patches.last_mut().ok_or_else(|| fail("a hunk before the name of its file"))?;
            let ((start, old_count), (new_start, new_count)) =
                ranges(line).ok_or_else(|| fail("not a hunk's header"))?;
            let mut hunk = Hunk { start, new_start, lines: Vec::new() };
            let (mut old_left, mut new_left) = (old_count, new_count);
            while old_left > 0 || new_left > 0 {
                let (at, line) =
                    lines.next().ok_or(PatchError { line: at + 1, what: "the hunk ends too soon" })?;
                let fail = |what| PatchError { line: at + 1, what };
                let (sign, rest) = line.split_at_checked(1).unwrap_or((" ", ""));
                let rest = rest.to_owned();
                match sign {
                    " " => hunk.lines.push(Line::Same(rest)),
                    "-" => hunk.lines.push(Line::Old(rest)),
                    "+" => hunk.lines.push(Line::New(rest)),
                    "\\" => continue,
                    _ => return Err(fail("not a line of a hunk")),
                }
                let less =
                    |left: usize| left.checked_sub(1).ok_or_else(|| fail("more lines than the header says"));
                if sign != "+" {
                    old_left = less(old_left)?;
                }
                if sign != "-" {
                    new_left = less(new_left)?;
                }
            }
            patch.hunks.push(hunk);
        }
    }
    Ok(patches)
}

/// A path of a header line, without its prefix and time; `None` for `/dev/null`.
fn side(text: &str, prefix: &str) -> Option<String> {
    let path = text.split('\t').next().unwrap_or(text).trim_end();
    (path != "/dev/null").then(|| path.strip_prefix(prefix).unwrap_or(path).to_owned())
}

/// The start and the number of lines.
type Range = (usize, usize);

/// `@@ -start,count +start,count @@`.
fn ranges(line: &str) -> Option<(Range, Range)> {
    let mut words = line.split(' ').skip(1);
    let range = |word: &str, sign: char| -> Option<Range> {
        let (start, count) = word.strip_prefix(sign)?.split_once(',').unwrap_or((&word[1..], "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    Some((range(words.next()?, '-')?, range(words.next()?, '+')?))
}

impl FilePatch {
    /// A change by its hunks: the first new line of each, and its lines with their signs.
    pub fn from_hunks<'a>(hunks: impl IntoIterator<Item = (usize, &'a [String])>) -> Self {
        let line = |text: &String| {
            let (sign, rest) = text.split_at_checked(1).unwrap_or((" ", ""));
            let rest = rest.to_owned();
            match sign {
                "-" => Some(Line::Old(rest)),
                "+" => Some(Line::New(rest)),
                "\\" => None,
                _ => Some(Line::Same(rest)),
            }
        };
        let hunks = hunks.into_iter().map(|(new_start, lines)| Hunk {
            start: new_start,
            new_start,
            lines: lines.iter().filter_map(line).collect(),
        });
        Self { old: None, new: None, hunks: hunks.collect() }
    }

    /// What `text` becomes; `None` where the patch does not fit it.
    pub fn apply(&self, text: &str) -> Option<String> {
        self.replace(text, false)
    }

    /// What `text` was before the patch was applied to it; `None` where it was not.
    pub fn revert(&self, text: &str) -> Option<String> {
        self.replace(text, true)
    }

    fn replace(&self, text: &str, reverse: bool) -> Option<String> {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let mut out: Vec<String> = Vec::new();
        let mut at = 0;
        for hunk in &self.hunks {
            let (expected, wanted) = hunk.sides(reverse);
            let start = if reverse { hunk.new_start } else { hunk.start };
            let guess = start.saturating_sub(1);
            let found = find(&lines, &expected, at, guess)?;
            out.extend(lines[at..found].iter().map(|line| (*line).to_owned()));
            out.extend(wanted.iter().map(|line| format!("{line}\n")));
            at = found + expected.len();
        }
        out.extend(lines[at..].iter().map(|line| (*line).to_owned()));
        Some(out.concat())
    }
}

impl Hunk {
    fn sides(&self, reverse: bool) -> (Vec<&str>, Vec<&str>) {
        let (mut old, mut new): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
        for line in &self.lines {
            match line {
                Line::Same(text) => {
                    old.push(text);
                    new.push(text);
                }
                Line::Old(text) => old.push(text),
                Line::New(text) => new.push(text),
            }
        }
        if reverse { (new, old) } else { (old, new) }
    }
}

/// Where the expected lines stand, at or after `from`: as near to the guess as possible.
fn find(lines: &[&str], expected: &[&str], from: usize, guess: usize) -> Option<usize> {
    let fits = |at: usize| {
        let there = lines.get(at..at + expected.len());
        there.is_some_and(|there| {
            there.iter().zip(expected).all(|(a, b)| a.trim_end_matches(['\r', '\n']) == *b)
        })
    };
    let last = lines.len().checked_sub(expected.len())?;
    (from..=last).filter(|at| fits(*at)).min_by_key(|at| at.abs_diff(guess))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PATCH: &str = "\
From: someone
diff --git a/x.py b/x.py
index 1..2 100644
--- a/x.py
+++ b/x.py
@@ -1,3 +1,3 @@
 one
-two
+2
 three
diff --git a/old.py b/new.py
similarity index 90%
rename from old.py
rename to new.py
--- a/old.py
+++ b/new.py
@@ -1 +1 @@
-a
+b
diff --git a/gone b/gone
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-x
";

    #[test]
    fn a_patch_is_read_applied_and_reverted() {
        let patches = parse(PATCH).unwrap();
        let names: Vec<_> =
            patches.iter().map(|patch| (patch.old.as_deref(), patch.new.as_deref())).collect();
        assert_eq!(
            names,
            [(Some("x.py"), Some("x.py")), (Some("old.py"), Some("new.py")), (Some("gone"), None)]
        );
        let (old, new) = ("one\ntwo\nthree\n", "one\n2\nthree\n");
        assert_eq!(patches[0].apply(old).as_deref(), Some(new));
        assert_eq!(patches[0].revert(new).as_deref(), Some(old));
        assert_eq!(patches[0].apply("other\n"), None);
        assert_eq!(patches[0].apply("zero\none\ntwo\nthree\n").as_deref(), Some("zero\none\n2\nthree\n"));
    }

    #[test]
    fn a_damaged_patch_names_its_line() {
        assert_eq!(parse("@@ -1 +1 @@\n").unwrap_err().line, 1);
        let short = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n";
        assert_eq!(parse(short).unwrap_err().what, "the hunk ends too soon");
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(text in "(--- |\\+\\+\\+ |@@ -1,2 \\+1 @@|[ +-]?[a-z]{0,3}|rename to x|\n){0,30}") {
            for patch in parse(&text).unwrap_or_default() {
                let _ = (patch.apply("a\nb\n"), patch.revert("a\nb\n"));
            }
        }
    }
}
