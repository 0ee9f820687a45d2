//! What a shell command runs: whether it may make a commit, and which verbs of Lockstep it calls.
//!
//! For commits, what cannot be told apart from one counts as one: an alias of git may be anything. It reads words, not the whole language
//! of a shell. What it cannot see (a script that commits) is seen by git's own hook.

mod own;
mod syntax;

pub use own::{OwnCall, own_calls};

/// Subcommands of git that make no commit.
const HARMLESS: &[&str] = &[
    "add",
    "annotate",
    "apply",
    "archive",
    "bisect",
    "blame",
    "branch",
    "bundle",
    "cat-file",
    "check-attr",
    "check-ignore",
    "checkout",
    "clean",
    "clone",
    "config",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "difftool",
    "fetch",
    "for-each-ref",
    "format-patch",
    "fsck",
    "gc",
    "grep",
    "hash-object",
    "help",
    "init",
    "instaweb",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "maintenance",
    "merge-base",
    "mv",
    "name-rev",
    "pack-refs",
    "prune",
    "push",
    "reflog",
    "remote",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "rm",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "sparse-checkout",
    "stash",
    "status",
    "submodule",
    "switch",
    "symbolic-ref",
    "tag",
    "update-index",
    "update-ref",
    "var",
    "version",
    "whatchanged",
    "worktree",
    "write-tree",
];

/// Options of git itself that take the next word.
const WITH_VALUE: &[&str] = &[
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
    "--super-prefix",
    "--config-env",
    "--attr-source",
];

/// How deep commands within commands are looked at.
const DEPTH: usize = 4;

/// Whether a command may make a commit.
pub fn may_commit(command: &str) -> bool {
    // Nearly every command: there is no git in it.
    command.contains("git") && looks_like_commit(command, DEPTH)
}

fn looks_like_commit(command: &str, depth: usize) -> bool {
    let words = words(command);
    let within =
        |word: &String| depth > 0 && word.contains(char::is_whitespace) && looks_like_commit(word, depth - 1);
    words
        .iter()
        .enumerate()
        .any(|(at, word)| (is_git(word) && commits(&words[at + 1..])) || is_git_commit(word) || within(word))
}

fn is_git(word: &str) -> bool {
    name_of(word) == "git"
}

/// `git-commit` and its like, called by their own names.
fn is_git_commit(word: &str) -> bool {
    matches!(name_of(word).strip_prefix("git-"), Some("commit" | "commit-tree" | "merge" | "am"))
}

fn name_of(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Whether the words behind `git` make a commit.
fn commits(words: &[String]) -> bool {
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if WITH_VALUE.contains(&word.as_str()) {
            rest.next();
        } else if is_separator(word) {
            return false;
        } else if !word.starts_with('-') {
            // A variable, or anything else that only the shell knows, may be `commit` as well.
            return !HARMLESS.contains(&word.as_str());
        }
    }
    false
}

fn is_separator(word: &str) -> bool {
    matches!(word, ";" | "&" | "|" | "(" | ")" | "\n" | "`")
}

/// The words of a command, quotes removed, separators by themselves.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.chars().peekable();
    let mut quote: Option<char> = None;
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"') | None, '\\') => match chars.next() {
                // A line that goes on.
                Some('\n') | None => {}
                Some(next) => word.get_or_insert_default().push(next),
            },
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ';' | '&' | '|' | '(' | ')' | '\n' | '`' | '{' | '}') => {
                words.extend(word.take());
                words.push(c.to_string());
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_may_commit_is_found_however_it_is_written() {
        for command in [
            "git commit -m x",
            "git -C sub commit -m x",
            "git -C 'a b' -c user.name=x commit",
            "cd x && git commit",
            "cd x;git commit",
            "/usr/bin/git commit --no-verify",
            "GIT_DIR=.git git commit -n",
            "git ci -m x",
            "git -c alias.s=commit s",
            "git commit-tree HEAD^{tree} -m x",
            "sh -c 'git commit -m x'",
            "bash -lc \"cd a && git commit -m 'x y'\"",
            "git \\\n  commit",
            "git co\"mm\"it",
            "git merge topic",
            "git cherry-pick abc",
            "git rebase main",
            "git $SUB",
            "echo $(git commit -m x)",
            "`git commit`",
            "env git --git-dir=.git commit",
            "/usr/lib/git-core/git-commit",
            "git status && git commit",
        ] {
            assert!(may_commit(command), "{command}");
        }
    }

    #[test]
    fn what_cannot_commit_costs_nobody_anything() {
        for command in [
            "cargo test",
            "git status",
            "git -C sub diff --stat",
            "git log --grep commit",
            "echo commit",
            "cat .gitignore",
            "git add -A; ls",
            "git --version",
            "ls legit/commit",
            "git",
        ] {
            assert!(!may_commit(command), "{command}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(command in ".{0,100}") {
            let _ = may_commit(&format!("git {command}"));
        }
    }
}
