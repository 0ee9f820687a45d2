//! The effect of the programs that a command runs on commits.

use super::expand::{Field, SUSPECT, UNKNOWN};
use super::invoke::name_of;
use super::run::{Invocation, Shell};
use super::syntax::is_assignment;
use super::{CommitReading, git, mention, names_git};

/// Programs to which arguments are text, names or patterns.
const TEXT: &[&str] = &[
    ":",
    "[",
    "[[",
    "ack",
    "ag",
    "apt",
    "apt-get",
    "awk",
    "basename",
    "bat",
    "black",
    "brew",
    "cat",
    "cd",
    "chmod",
    "chown",
    "cmp",
    "column",
    "comm",
    "cp",
    "curl",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "eslint",
    "exit",
    "export",
    "expr",
    "false",
    "ffmpeg",
    "fgrep",
    "file",
    "fmt",
    "fold",
    "gh",
    "glab",
    "grep",
    "head",
    "jest",
    "jq",
    "kill",
    "less",
    "ln",
    "local",
    "logger",
    "ls",
    "man",
    "md5sum",
    "mkdir",
    "mktemp",
    "mocha",
    "more",
    "mv",
    "mypy",
    "nl",
    "notify-send",
    "od",
    "pandoc",
    "paste",
    "pgrep",
    "phpunit",
    "pidof",
    "pip",
    "pkill",
    "prettier",
    "print",
    "printf",
    "ps",
    "pwd",
    "pytest",
    "readlink",
    "realpath",
    "redis-cli",
    "return",
    "rg",
    "rm",
    "rmdir",
    "rspec",
    "ruff",
    "say",
    "sed",
    "seq",
    "set",
    "sha256sum",
    "shellcheck",
    "sleep",
    "sort",
    "stat",
    "strings",
    "tail",
    "tar",
    "tee",
    "test",
    "tldr",
    "touch",
    "tr",
    "tree",
    "true",
    "tsc",
    "uniq",
    "unset",
    "unzip",
    "vitest",
    "wc",
    "wget",
    "whatis",
    "which",
    "yq",
    "zip",
];

/// Verbs of programs that run programs, whose arguments are text, names or patterns too.
const TEXT_VERBS: &[(&[&str], &[&str])] = &[
    (
        &["cargo"],
        &[
            "add", "bench", "build", "check", "clippy", "doc", "fmt", "nextest", "remove", "search", "test",
            "tree",
        ],
    ),
    (
        &["docker", "podman"],
        &[
            "build", "images", "inspect", "logs", "port", "ps", "pull", "push", "rm", "rmi", "stop", "tag",
            "top",
        ],
    ),
    (&["go"], &["build", "doc", "fmt", "get", "list", "mod", "test", "vet"]),
    (
        &["npm", "pnpm", "yarn"],
        &[
            "add",
            "audit",
            "info",
            "install",
            "list",
            "ls",
            "outdated",
            "remove",
            "search",
            "uninstall",
            "view",
            "why",
        ],
    ),
];

/// Builtins whose scripts are followed.
const FOLLOWED: &[&str] = &["alias", "declare", "readonly", "source", "trap", "typeset", "."];

/// The nesting up to which arguments of unknown programs are read as commands.
const ARGUMENT_DEPTH: usize = 2;

pub(super) fn treats_arguments_as_text(name: &str, arguments: &[Field]) -> bool {
    let is_verb = |verbs: &[&str]| arguments.first().is_some_and(|verb| verbs.contains(&verb.text.as_str()));
    TEXT.contains(&name) || TEXT_VERBS.iter().any(|(names, verbs)| names.contains(&name) && is_verb(verbs))
}

pub fn read_commit(command: &str) -> CommitReading {
    read_commit_at(command, ARGUMENT_DEPTH)
}

/// Reads a command at a nesting of arguments.
pub(super) fn read_commit_at(command: &str, depth: usize) -> CommitReading {
    // A shell drops a NUL, and a program's arguments end at one.
    if command.contains(UNKNOWN) {
        let readings = ["", "\n"].map(|by| read_commit_at(&command.replace(UNKNOWN, by), depth));
        return readings.into_iter().max().unwrap_or(CommitReading::Unreadable);
    }
    // Bytes that are no text may be a blank to another reader.
    if command.contains(char::REPLACEMENT_CHARACTER) {
        let readings =
            ["", " "].map(|by| read_commit_at(&command.replace(char::REPLACEMENT_CHARACTER, by), depth));
        return readings.into_iter().max().unwrap_or(CommitReading::Unreadable);
    }
    if let Some(plain) = without_powershell_marks(command) {
        let mentioned = match mention::mentions_commit(&plain) {
            true => CommitReading::Unreadable,
            false => CommitReading::Harmless,
        };
        return mentioned.max(read_sh(command, depth));
    }
    read_sh(command, depth)
}

/// Returns the text without the marks by which only PowerShell joins or hides words: a backtick inside a word, texts
/// that are added, line ends without a line feed, and methods of classes. `None` if it has none of them.
fn without_powershell_marks(command: &str) -> Option<String> {
    let bytes = command.as_bytes();
    let is_inside = |at: usize| {
        let letter = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphabetic);
        bytes[at] == b'`' && letter(at.checked_sub(1)) && letter(Some(at + 1))
    };
    let has_escape = (0..bytes.len()).any(is_inside);
    let has_sum = ["'+'", "\"+\"", "' + '", "\" + \""].iter().any(|sum| command.contains(sum));
    let has_line_end = command.replace("\r\n", "").contains('\r');
    if !(has_escape || has_sum || has_line_end || command.contains("]::")) {
        return None;
    }
    let joined = command.replace("' + '", "").replace("\" + \"", "");
    Some(joined.replace(['`', '\'', '"', '+'], ""))
}

fn read_sh(command: &str, depth: usize) -> CommitReading {
    let shell = Shell::run(command);
    // Extended patterns and references to variables are not followed.
    let refers = || {
        ["declare", "typeset", "local"].iter().any(|word| command.contains(word)) && command.contains("-n")
    };
    let is_special = (command.contains("extglob") || refers()) && mention::mentions_commit(command);
    let obscure =
        if shell.obscure || is_special { CommitReading::Unreadable } else { CommitReading::Harmless };
    effect_of_found(&shell, depth).max(obscure).max(mention::effect_of_state(&shell))
}

/// Returns the effect of the programs in a text that may be no script.
pub(super) fn effect_of_programs(text: &str, depth: usize) -> CommitReading {
    effect_of_found(&Shell::run(text), depth)
}

fn effect_of_found(shell: &Shell, depth: usize) -> CommitReading {
    let effects = shell.found.iter().map(|invocation| effect(shell, invocation, depth));
    effects.max().unwrap_or(CommitReading::Harmless)
}

fn effect(shell: &Shell, invocation: &Invocation, depth: usize) -> CommitReading {
    let Invocation { program, arguments, environment, .. } = invocation;
    let text = &program.text;
    let name = name_of(text);
    if let Some(verb) = verb_of(name) {
        return git::effect(verb, arguments, environment, depth);
    }
    // `NAME=VALUE` is the value of an option, and no program.
    if name.contains(SUSPECT) && !is_assignment(text) {
        return CommitReading::Unreadable;
    }
    let whole_unknown = text.chars().all(|c| c == UNKNOWN);
    let unknown = text.contains(UNKNOWN) || program.glob;
    if unknown && !whole_unknown && matches(text.rsplit('/').next().unwrap_or(text), "git") {
        let effect = git::effect(None, arguments, environment, depth);
        return effect.min(CommitReading::Unreadable);
    }
    if whole_unknown {
        let first = arguments.iter().find(|field| !field.text.starts_with('-'));
        let verb = first.is_some_and(|field| git::makes_commits(&field.text));
        let mentions = arguments.iter().any(|field| names_git(&field.text));
        return if verb || mentions { CommitReading::Unreadable } else { CommitReading::Harmless };
    }
    if FOLLOWED.contains(&name) {
        return CommitReading::Harmless;
    }
    mention::effect(shell, invocation, depth)
}

/// Returns the verb in the name of a git program: `git` has none, `git-commit` has one. `None` for other
/// programs.
fn verb_of(name: &str) -> Option<Option<&str>> {
    if name.eq_ignore_ascii_case("git") || name == "hub" {
        return Some(None);
    }
    let verb = name.get(..4).filter(|start| start.eq_ignore_ascii_case("git-")).map(|_| &name[4..]);
    verb.map(Some)
}

/// Returns the effect of the arguments of an unknown program, which may be commands that it runs.
pub(super) fn effect_of_arguments(arguments: &[Field], depth: usize) -> CommitReading {
    if depth == 0 || !arguments.iter().any(|field| names_git(&field.text)) {
        return CommitReading::Harmless;
    }
    let commits = |field: &Field| {
        field.text.contains(char::is_whitespace)
            && read_commit_at(&field.text, depth - 1) == CommitReading::Commits
    };
    let git = arguments.iter().position(|field| field.text == "git" || field.text.ends_with("/git"));
    let runs_git = git
        .is_some_and(|at| git::effect(None, &arguments[at + 1..], &[], depth - 1) == CommitReading::Commits);
    if runs_git || arguments.iter().any(commits) {
        CommitReading::Unreadable
    } else {
        CommitReading::Harmless
    }
}

/// Returns true if a file name pattern, in which a mark matches any text, may match `name`.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().take(64).collect();
    let name: Vec<char> = name.chars().collect();
    // Reachable places in the name, for each prefix of the pattern.
    let mut places = vec![false; name.len() + 1];
    places[0] = true;
    let mut at = 0;
    while at < pattern.len() {
        let c = pattern[at];
        let mut next = vec![false; name.len() + 1];
        let class = (c == '[').then(|| pattern[at..].iter().position(|c| *c == ']')).flatten();
        if matches!(c, '*' | UNKNOWN | SUSPECT) {
            let first = places.iter().position(|place| *place).unwrap_or(name.len());
            next[first..].fill(true);
        } else {
            for (place, other) in name.iter().enumerate().filter(|(place, _)| places[*place]) {
                next[place + 1] = c == '?' || class.is_some() || c == *other;
            }
        }
        places = next;
        at += class.map_or(1, |end| end + 1);
    }
    places[name.len()]
}
