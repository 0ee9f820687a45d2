//! Patches: unified diffs, and their application to files.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// The old path; `None` for a new file.
    pub old: Option<String>,
    /// The new path; `None` for a deleted file.
    pub new: Option<String>,
    hunks: Vec<Hunk>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Hunk {
    /// The position of the first old line, starting at 1. If there are no old lines, it is the position of
    /// the next line.
    start: usize,
    /// The position of the first new line, counted in the same way.
    new_start: usize,
    lines: Vec<PatchLine>,
    /// The last old line ends without a line break.
    is_old_unterminated: bool,
    /// The last new line ends without a line break.
    is_new_unterminated: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PatchLine {
    Context(String),
    Removed(String),
    Added(String),
}

/// The reason why a text is not a patch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct PatchError {
    /// Counted from 1.
    pub line: usize,
    pub what: &'static str,
}

/// Parses a patch of `git diff`, `git format-patch` or `diff -u`. Other lines are skipped.
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
            let (old, new) = (header_path(old, "a/"), header_path(&next[4..], "b/"));
            match patches.last() {
                // The header of a rename has named both already.
                Some(last) if last.hunks.is_empty() && last.old == old && last.new == new => {}
                _ => patches.push(FilePatch { old, new, hunks: Vec::new() }),
            }
        } else if line.starts_with("@@ ") {
            let patch = patches.last_mut().ok_or_else(|| fail("a hunk before the name of its file"))?;
            let ((start, old_count), (new_start, new_count)) =
                ranges(line).ok_or_else(|| fail("not a hunk's header"))?;
            // A side without lines names the line before it.
            let position = |start: usize, count: usize| start.saturating_add(usize::from(count == 0));
            let mut hunk = Hunk::new(position(start, old_count), position(new_start, new_count));
            let (mut old_left, mut new_left) = (old_count, new_count);
            while old_left > 0 || new_left > 0 {
                let (at, line) =
                    lines.next().ok_or(PatchError { line: at + 1, what: "the hunk ends too soon" })?;
                let fail = |what| PatchError { line: at + 1, what };
                let (sign, rest) = line.split_at_checked(1).unwrap_or((" ", ""));
                if !hunk.push(sign, rest) {
                    return Err(fail("not a line of a hunk"));
                }
                if sign == "\\" {
                    continue;
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
            if lines.next_if(|(_, next)| next.starts_with('\\')).is_some() {
                hunk.push("\\", "");
            }
            patch.hunks.push(hunk);
        }
    }
    Ok(patches)
}

/// A path of a header line, without its prefix and time; `None` for `/dev/null`.
fn header_path(text: &str, prefix: &str) -> Option<String> {
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
    /// A change by its hunks: the position of the first new line of each, and its lines with their signs.
    pub fn from_hunks<'a>(hunks: impl IntoIterator<Item = (usize, &'a [String])>) -> Self {
        let read = |(new_start, lines): (usize, &[String])| {
            let mut hunk = Hunk::new(new_start, new_start);
            for line in lines {
                let (sign, rest) = line.split_at_checked(1).unwrap_or((" ", ""));
                if !hunk.push(sign, rest) {
                    hunk.push(" ", rest);
                }
            }
            hunk
        };
        Self { old: None, new: None, hunks: hunks.into_iter().map(read).collect() }
    }

    /// Applies the patch to `text`; `None` if it does not fit.
    pub fn apply(&self, text: &str) -> Option<String> {
        self.replace(text, false, find_nearest)
    }

    /// Reverts the patch in `text`; `None` if it was not applied.
    pub fn revert(&self, text: &str) -> Option<String> {
        self.replace(text, true, find_nearest)
    }

    /// Like [`revert`](Self::revert), but every hunk has to be at the line that it names.
    pub fn revert_in_place(&self, text: &str) -> Option<String> {
        self.replace(text, true, find_in_place)
    }

    fn replace(&self, text: &str, reverse: bool, find: Find) -> Option<String> {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let mut out: Vec<String> = Vec::new();
        let mut at = 0;
        for hunk in &self.hunks {
            let (expected, wanted) = hunk.sides(reverse);
            let start = if reverse { hunk.new_start } else { hunk.start };
            let found = find(&lines, &expected, at, start.saturating_sub(1))?;
            out.extend(lines[at..found].iter().map(|line| (*line).to_owned()));
            out.extend(wanted.iter().map(|line| format!("{line}\n")));
            let is_unterminated = if reverse { hunk.is_old_unterminated } else { hunk.is_new_unterminated };
            if let Some(last) = out.last_mut().filter(|_| is_unterminated && !wanted.is_empty()) {
                last.pop();
            }
            at = found + expected.len();
        }
        out.extend(lines[at..].iter().map(|line| (*line).to_owned()));
        Some(out.concat())
    }
}

impl Hunk {
    fn new(start: usize, new_start: usize) -> Self {
        Self { start, new_start, lines: Vec::new(), is_old_unterminated: false, is_new_unterminated: false }
    }

    /// Takes the next line by its sign. Returns false if there is no such sign.
    fn push(&mut self, sign: &str, rest: &str) -> bool {
        let line = match sign {
            " " => PatchLine::Context(rest.to_owned()),
            "-" => PatchLine::Removed(rest.to_owned()),
            "+" => PatchLine::Added(rest.to_owned()),
            "\\" => {
                let last = self.lines.last();
                self.is_old_unterminated |=
                    matches!(last, Some(PatchLine::Context(_) | PatchLine::Removed(_)));
                self.is_new_unterminated |= matches!(last, Some(PatchLine::Context(_) | PatchLine::Added(_)));
                return true;
            }
            _ => return false,
        };
        self.lines.push(line);
        true
    }

    fn sides(&self, reverse: bool) -> (Vec<&str>, Vec<&str>) {
        let (mut old, mut new): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
        for line in &self.lines {
            match line {
                PatchLine::Context(text) => {
                    old.push(text);
                    new.push(text);
                }
                PatchLine::Removed(text) => old.push(text),
                PatchLine::Added(text) => new.push(text),
            }
        }
        if reverse { (new, old) } else { (old, new) }
    }
}

/// Finds the expected lines in a text, at or after a line and with a guess. Lines are counted from 0.
type Find = fn(lines: &[&str], expected: &[&str], from: usize, guess: usize) -> Option<usize>;

/// The position as near to the guess as possible.
fn find_nearest(lines: &[&str], expected: &[&str], from: usize, guess: usize) -> Option<usize> {
    let last = lines.len().checked_sub(expected.len())?;
    (from..=last).filter(|at| fits(lines, expected, *at)).min_by_key(|at| at.abs_diff(guess))
}

/// The guess, if it is right.
fn find_in_place(lines: &[&str], expected: &[&str], from: usize, guess: usize) -> Option<usize> {
    (guess >= from && fits(lines, expected, guess)).then_some(guess)
}

fn fits(lines: &[&str], expected: &[&str], at: usize) -> bool {
    let there = lines.get(at..).and_then(|rest| rest.get(..expected.len()));
    there.is_some_and(|there| there.iter().zip(expected).all(|(a, b)| without_end(a) == without_end(b)))
}

fn without_end(line: &str) -> &str {
    line.trim_end_matches(['\r', '\n'])
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
    fn hunks_without_context_are_at_their_lines() {
        let (old, new) = ("one\nx\nx\ntwo\n", "one\ntwo\nx\n");
        let patch = "--- a/x\n+++ b/x\n@@ -2,2 +1,0 @@\n-x\n-x\n@@ -4,0 +3 @@\n+x\n";
        let patch = &parse(patch).unwrap()[0];
        assert_eq!(patch.apply(old).as_deref(), Some(new));
        assert_eq!(patch.revert(new).as_deref(), Some(old));
        assert_eq!(patch.revert_in_place(new).as_deref(), Some(old));
    }

    #[test]
    fn line_ends_are_restored() {
        let revert = |present: &str, lines: &[&str]| {
            let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
            FilePatch::from_hunks([(1, lines.as_slice())]).revert_in_place(present)
        };
        let marker = "\\ No newline at end of file";
        assert_eq!(revert("lost", &["-last", marker, "+lost", marker]).as_deref(), Some("last"));
        assert_eq!(revert("lost\n", &["-last", marker, "+lost"]).as_deref(), Some("last"));
        assert_eq!(revert("a\r\nc\r\n", &[" a\r", "-b\r", "+c\r"]).as_deref(), Some("a\r\nb\r\n"));
        // The client counts an empty side from 1.
        assert_eq!(revert("", &["-a", "-b"]).as_deref(), Some("a\nb\n"));
        let patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-last\n\\ No newline at end of file\n+lost\n\\ No newline at end of file\n";
        let patch = &parse(patch).unwrap()[0];
        assert_eq!(patch.apply("last").as_deref(), Some("lost"));
        assert_eq!(patch.revert("lost").as_deref(), Some("last"));
    }

    #[test]
    fn a_revert_in_place_does_not_look_elsewhere() {
        let lines = ["-a".to_owned(), "+b".to_owned()];
        let reverted = |start: usize| {
            let patch = FilePatch::from_hunks([(start, lines.as_slice())]);
            (patch.revert("x\nb\n"), patch.revert_in_place("x\nb\n"))
        };
        let former = || Some("x\na\n".to_owned());
        assert_eq!(reverted(2), (former(), former()));
        for elsewhere in [1, 3, usize::MAX] {
            assert_eq!(reverted(elsewhere), (former(), None), "{elsewhere}");
        }
    }

    #[test]
    fn a_damaged_patch_names_its_line() {
        assert_eq!(parse("@@ -1 +1 @@\n").unwrap_err().line, 1);
        let short = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n";
        assert_eq!(parse(short).unwrap_err().what, "the hunk ends too soon");
    }

    proptest! {
        #[test]
        fn patches_of_diffy_apply_and_revert(old in "([ab]\n){0,9}[ab]?", new in "([ab]\n){0,9}[ab]?") {
            let patch = diffy::create_patch(&old, &new);
            prop_assert_eq!(diffy::apply(&old, &patch).unwrap(), new.clone());
            let Some(patch) = parse(&patch.to_string()).unwrap().pop() else { return Ok(()) };
            prop_assert_eq!(patch.apply(&old), Some(new.clone()));
            prop_assert_eq!(patch.revert(&new), Some(old));
        }
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
