//! Commits that a text mentions without showing whether they run.
//!
//! The code of an interpreter, an option of an unknown program and a text on its standard input may be commands. Whether
//! they run is not followed for every program. A text with git and a committing verb is therefore unreadable, unless it
//! goes to a program that treats its arguments as text.

use super::CommitReading::{self, Harmless, Unreadable};
use super::commit::{read_commit_at, treats_arguments_as_text};
use super::expand::Field;
use super::invoke::{SHELLS, name_of};
use super::run::{Invocation, Shell};
use super::{code, git, wrappers};

/// Verbs of git that make commits or move branches and that are rare words beside `git` in other texts.
const VERBS: &[&str] = &[
    "commit",
    "commit-tree",
    "commits",
    "cherry-pick",
    "rebase",
    "revert",
    "merge",
    "pull",
    "update-ref",
    "fast-import",
    "filter-branch",
    "filter-repo",
];

/// The distance from `git` to its verb, in words.
const DISTANCE: usize = 16;

/// Returns true if a text contains `git` and, behind it, a verb that makes commits.
pub(super) fn mentions_commit(text: &str) -> bool {
    let mut left = 0;
    let words = text.split_inclusive(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_'));
    for piece in words {
        let word = piece.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_'));
        if word.is_empty() {
            continue;
        }
        let word = word.trim_start_matches('-');
        if word.eq_ignore_ascii_case("git") {
            // A directory and the scheme of an address are not the program.
            left = if piece.ends_with(['/', '+', '#']) { left } else { DISTANCE };
        } else if word.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("git-")) {
            if git::makes_commits(&word[4..]) {
                return true;
            }
        } else if left > 0 {
            left -= 1;
            if VERBS.contains(&word) {
                return true;
            }
        }
    }
    false
}

/// Programs that make commits by verbs of their own; without verbs, each call may make one.
const TOOLS: &[(&str, &[&str])] = &[
    ("aider", &[]),
    ("bump-my-version", &[]),
    ("bump2version", &[]),
    ("bumpversion", &[]),
    ("commitizen", &[]),
    ("cz", &[]),
    ("gitmoji", &[]),
    ("gitui", &[]),
    ("gt", &["create", "modify", "squash", "fold", "split", "absorb", "sync", "restack"]),
    (
        "jj",
        &[
            "abandon", "bookmark", "b", "desc", "describe", "git", "new", "rebase", "restore", "split",
            "squash",
        ],
    ),
    ("lazygit", &[]),
    ("lerna", &["version", "publish"]),
    ("npm", &["version"]),
    ("pnpm", &["version"]),
    ("release-it", &[]),
    ("semantic-release", &[]),
    ("sl", &["amend", "absorb", "fold", "rebase", "split"]),
    ("standard-version", &[]),
    ("stg", &["new", "refresh", "push", "pop", "import", "squash", "edit"]),
    ("yarn", &["version"]),
];

/// Programs that keep versions, with repositories that may be git's.
const VERSION_CONTROL: &[&str] =
    &["bzr", "dolt", "dulwich", "fossil", "gix", "got", "hg", "jj", "sl", "svn", "yadm"];

/// Returns true if a call of a program that is not git may make a commit of its own.
fn is_committing_tool(name: &str, arguments: &[Field]) -> bool {
    let mut operands = arguments.iter().filter(|field| !field.text.starts_with('-'));
    let verb = operands.next().map_or("", |field| field.text.as_str());
    let asks = arguments.iter().any(|field| matches!(field.text.as_str(), "--help" | "--version"));
    let has_verb = |verbs: &[&str]| verbs.is_empty() || verbs.contains(&verb);
    let is_tool = TOOLS.iter().any(|(tool, verbs)| *tool == name && has_verb(verbs));
    // Without an operand, `npm version` prints.
    let prints = verb == "version" && arguments.len() == 1 && name != "lerna";
    // Behind an option, the word may be its value; these programs have no other use for it.
    let is_first = arguments.first().is_some_and(|field| field.text == verb);
    let is_commit = |verb: &str| matches!(verb, "commit" | "ci");
    let commits = match VERSION_CONTROL.contains(&name) {
        true => arguments.iter().any(|field| is_commit(&field.text)),
        false => is_first && is_commit(verb) && !wrappers::is_known(name),
    };
    let releases = name == "cargo" && matches!(verb, "release" | "workspaces");
    !asks && !prints && (is_tool || commits || releases)
}

/// Options whose value a program runs, although its other arguments are text.
const RUN_OPTIONS: &[&str] = &[
    "-I",
    "-F",
    "-P",
    "-H",
    "-TT",
    "--use-compress-program",
    "--to-command",
    "--checkpoint-action",
    "--compress-program",
    "--info-script",
    "--new-volume-script",
    "--rmt-command",
    "--rsh-command",
    "--pre",
    "--pager",
    "--filter",
    "--config",
    "--unzip-command",
];

/// The longest text that is read as a script because a program may run it.
const MAX_SCRIPT: usize = 1 << 14;

/// Returns true if a text mentions a commit, or makes one if it is run by a shell.
fn may_commit(text: &str, depth: usize) -> bool {
    let is_script = || depth > 0 && text.len() <= MAX_SCRIPT && text.contains(char::is_whitespace);
    mentions_commit(text) || (is_script() && read_commit_at(text, depth - 1) == CommitReading::Commits)
}

/// Returns the effect of a call that is not a call of git, by the texts in its arguments, variables and input.
pub(super) fn effect(shell: &Shell, invocation: &Invocation, depth: usize) -> CommitReading {
    let Invocation { program, arguments, environment, .. } = invocation;
    let name = name_of(&program.text);
    let words: Vec<&str> = arguments.iter().map(|field| field.text.as_str()).collect();
    let in_variables = || environment.iter().any(|(_, value)| may_commit(value, depth));
    let is_unreadable = if code::is_interpreter(name) {
        let (codes, _) = code::arguments(name, arguments);
        let is_data = |word: &&str| !codes.iter().any(|code| code == word);
        let in_data = words.iter().filter(|word| is_data(word)).any(|word| may_commit(word, depth));
        // The value of a variable of make and the program of a debugger are no code.
        let names_program =
            matches!(name, "bun" | "make" | "gmake" | "gdb" | "lldb") && mentions_commit(&words.join(" "));
        let runs_input =
            codes.iter().any(|code| code::may_run_input(name, code)) && may_commit(&invocation.input, depth);
        in_variables()
            || names_program
            || runs_input
            || code::names_module(&words)
            || (in_data && !treats_arguments_as_text(name))
    } else if treats_arguments_as_text(name) {
        runs_option(&words)
            || (name == "gh" && words.first() == Some(&"alias") && mentions_commit(&words.join(" ")))
    } else if SHELLS.contains(&name) {
        in_variables()
    } else if let Some(wrapper) = wrappers::find(name) {
        in_variables()
            || is_committing_tool(name, arguments)
            || (!wrapper.is_followed(arguments) && mentions_any(shell, invocation, depth))
    } else {
        in_variables() || is_committing_tool(name, arguments) || mentions_any(shell, invocation, depth)
    };
    if is_unreadable || unhooks(name, &words) { Unreadable } else { Harmless }
}

/// Returns true if arguments, files that the script wrote and that they name, or the input may commit.
fn mentions_any(shell: &Shell, invocation: &Invocation, depth: usize) -> bool {
    let words: Vec<&str> = invocation.arguments.iter().map(|field| field.text.as_str()).collect();
    let files = words.iter().filter_map(|word| shell.files.get(*word)).map(String::as_str);
    mentions_commit(&words.join(" "))
        || words
            .iter()
            .copied()
            .chain(files)
            .chain([invocation.input.as_str()])
            .any(|text| may_commit(text, depth))
}

fn runs_option(words: &[&str]) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).map_or("", |at| words[at]);
        let names = |option: &&str| before == *option || word.starts_with(*option);
        RUN_OPTIONS.iter().any(names) && mentions_commit(word)
    })
}

/// Returns true if git runs the value of a variable, or reads aliases from it, or a shell or pager does.
pub(super) fn runs_value(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "BASH_ENV",
        "BROWSER",
        "EDITOR",
        "ENV",
        "LESSCLOSE",
        "LESSOPEN",
        "MANPAGER",
        "PAGER",
        "PROMPT_COMMAND",
        "PS0",
        "PS1",
        "PS2",
        "PS4",
        "SHELL",
        "VISUAL",
    ];
    name.starts_with("GIT_") || NAMES.contains(&name)
}

/// Returns the effect of the variables and files of a script.
pub(super) fn effect_of_state(shell: &Shell) -> CommitReading {
    let runs = |(name, value): (&str, &str)| {
        let text = shell.files.get(value).map_or(value, String::as_str);
        // The index of an array inside an arithmetic expression is evaluated.
        let is_index = value.contains("[$(") || value.contains("[`");
        (runs_value(name) || is_index) && mentions_commit(text)
    };
    let moves_hooks = |text: &str| text.to_ascii_lowercase().contains("hookspath");
    let mut files = shell.files.iter();
    let writes = files
        .any(|(path, text)| is_of_branches(path) || (path.ends_with(".git/config") && moves_hooks(text)));
    if writes || shell.values().any(runs) { Unreadable } else { Harmless }
}

/// Returns true if the files of a repository that hold its branches and hooks are below a path.
pub(super) fn is_of_branches(path: &str) -> bool {
    let inside = path.rsplit_once(".git/").map(|(_, inside)| inside);
    inside.is_some_and(|inside| {
        matches!(inside, "HEAD" | "packed-refs" | "ORIG_HEAD" | "hooks" | "refs")
            || inside.starts_with("refs/heads")
            || inside.starts_with("hooks/")
    })
}

/// Programs that write, move or remove the files in their arguments.
const WRITERS: &[&str] =
    &["chmod", "cp", "dd", "install", "ln", "mv", "rm", "rsync", "shred", "tee", "truncate", "unlink"];

/// Returns true if a program replaces a branch or removes a hook behind git's back.
fn unhooks(name: &str, words: &[&str]) -> bool {
    let edits =
        matches!(name, "sed" | "gsed" | "perl" | "ruby") && words.iter().any(|word| word.starts_with("-i"));
    (edits || WRITERS.contains(&name))
        && words.iter().any(|word| is_of_branches(word.trim_start_matches("of=")))
}
