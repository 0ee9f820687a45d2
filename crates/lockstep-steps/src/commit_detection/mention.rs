//! Commits that a text mentions without showing whether they run.
//!
//! The code of an interpreter, an option of an unknown program and a text on its standard input may be commands. Whether
//! they run is not followed for every program. A text with git and a committing verb is therefore unreadable, unless it
//! goes to a program that treats its arguments as text.

use super::CommitReading::{self, Harmless, Unreadable};
use super::commit::{effect_of_programs, treats_arguments_as_text};
use super::expand::Field;
use super::invoke::{SHELLS, name_of};
use super::repository::{changes_branches, is_git_dir, unhooks};
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
    let mut words =
        text.split_inclusive(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_')).peekable();
    while let Some(piece) = words.next() {
        let word = piece.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_'));
        if word.is_empty() {
            continue;
        }
        let word = word.trim_start_matches('-');
        if word.eq_ignore_ascii_case("git") {
            // A directory and the scheme of an address are not the program.
            left = if piece.ends_with(['/', '+', '#']) { left } else { DISTANCE };
        } else if word.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("git-")) {
            // With an extension, it is the name of a file.
            let extension =
                words.peek().map_or("", |next| next.trim_end_matches(|c: char| !c.is_alphanumeric()));
            let is_file =
                piece.ends_with('.') && !extension.is_empty() && !extension.eq_ignore_ascii_case("exe");
            if git::makes_commits(&word[4..]) && !is_file {
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
    ("bfg", &[]),
    ("bump-my-version", &[]),
    ("bump2version", &[]),
    ("bumpp", &[]),
    ("bumpversion", &[]),
    ("commitizen", &[]),
    ("cz", &[]),
    ("gh-pages", &[]),
    ("ghp-import", &[]),
    ("gitmoji", &[]),
    ("gitui", &[]),
    ("gt", &["create", "modify", "squash", "fold", "split", "absorb", "sync", "restack"]),
    (
        "jj",
        &[
            "abandon",
            "absorb",
            "b",
            "backout",
            "bookmark",
            "desc",
            "describe",
            "duplicate",
            "edit",
            "fix",
            "git",
            "metaedit",
            "new",
            "next",
            "op",
            "operation",
            "parallelize",
            "prev",
            "rebase",
            "restore",
            "revert",
            "sign",
            "split",
            "squash",
            "undo",
        ],
    ),
    ("lazygit", &[]),
    ("lerna", &["version", "publish"]),
    ("mike", &["deploy", "delete", "alias"]),
    ("mkdocs", &["gh-deploy"]),
    ("np", &[]),
    ("npm", &["version"]),
    ("pnpm", &["version"]),
    ("release-it", &[]),
    ("semantic-release", &[]),
    ("sl", &["amend", "absorb", "fold", "rebase", "split"]),
    ("standard-version", &[]),
    ("stg", &["new", "refresh", "push", "pop", "pick", "import", "squash", "edit", "undo"]),
    ("yarn", &["version"]),
];

/// Programs that keep versions, with repositories that may be git's.
const VERSION_CONTROL: &[&str] =
    &["bzr", "dolt", "dulwich", "fossil", "gix", "got", "hg", "jj", "sl", "svn", "vcsh", "yadm"];

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
    let releases = name == "cargo" && matches!(verb, "release" | "smart-release" | "workspaces");
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
    "--script-shell",
    "--unzip-command",
    "-exec",
    "-toolexec",
    "-vettool",
];

/// The longest text that is read as a script because a program may run it.
const MAX_SCRIPT: usize = 1 << 14;

/// Returns true if a text mentions a commit, or makes one if it is run by a shell.
fn may_commit(text: &str, depth: usize) -> bool {
    let is_script = || depth > 0 && text.len() <= MAX_SCRIPT && text.contains(char::is_whitespace);
    mentions_commit(text) || (is_script() && effect_of_programs(text, depth - 1) != Harmless)
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
        let starts_programs = codes.iter().any(|code| code::may_run_input(name, code));
        let runs_input = starts_programs && may_commit(&invocation.input, depth);
        // Code may join its arguments and variables, in any order.
        let data: Vec<&str> = words.iter().copied().chain(shell.values().map(|(_, value)| value)).collect();
        let runs_data = starts_programs && mentions_commit(&[data.as_slice(), &data].concat().join(" "));
        let is_hidden = |word: &&str| word.starts_with("data:");
        in_variables()
            || names_program
            || runs_input
            || runs_data
            || words.iter().any(is_hidden)
            || runs_module(arguments)
            || (in_data && !treats_arguments_as_text(name, arguments) && !runs_text_module(arguments))
    } else if treats_arguments_as_text(name, arguments) {
        runs_option(&words) || in_variables() || (name == "gh" && gh_commits(&words))
    } else if SHELLS.contains(&name) {
        // The grammars of other shells are not followed.
        let is_other = matches!(name, "csh" | "fish" | "powershell" | "pwsh" | "tcsh");
        in_variables() || (is_other && mentions_commit(&words.join(" ")))
    } else if let Some(wrapper) = wrappers::find(name) {
        in_variables()
            || is_committing_tool(name, arguments)
            || (!wrapper.is_followed(arguments) && mentions_any(shell, invocation, depth))
    } else {
        in_variables() || is_committing_tool(name, arguments) || mentions_any(shell, invocation, depth)
    };
    if is_unreadable || unhooks(shell, name, &words) { Unreadable } else { Harmless }
}

/// Returns the module of `python -m MODULE` and its arguments.
fn module(arguments: &[Field]) -> Option<(&str, &[Field])> {
    let at = arguments.iter().position(|field| field.text == "-m")?;
    let (name, rest) = arguments[at + 1..].split_first()?;
    Some((&name.text, rest))
}

/// Returns true for `python -m MODULE` if the arguments of the module are text.
fn runs_text_module(arguments: &[Field]) -> bool {
    module(arguments).is_some_and(|(name, _)| treats_arguments_as_text(name, &[]))
}

/// Returns true for `python -m MODULE` if the module may make a commit.
fn runs_module(arguments: &[Field]) -> bool {
    module(arguments).is_some_and(|(name, rest)| {
        let words: Vec<&str> = rest.iter().map(|field| field.text.as_str()).collect();
        code::is_module(name)
            || is_committing_tool(name, rest)
            || (!treats_arguments_as_text(name, &[]) && mentions_commit(&words.join(" ")))
    })
}

/// Returns true if GitHub's program moves a local branch, or defines a command of its own that commits.
fn gh_commits(words: &[&str]) -> bool {
    match words {
        ["repo", "sync", ..] | ["pr", "merge" | "checkout", ..] => true,
        ["alias", ..] => mentions_commit(&words.join(" ")),
        _ => false,
    }
}

/// Returns true if arguments, files that the script wrote and that they name, or the input may commit.
fn mentions_any(shell: &Shell, invocation: &Invocation, depth: usize) -> bool {
    let words: Vec<&str> = invocation.arguments.iter().map(|field| field.text.as_str()).collect();
    // Lockstep reads its files as documents.
    let runs_files = name_of(&invocation.program.text) != "lockstep";
    let files = words.iter().filter_map(|word| shell.files.get(*word)).map(String::as_str);
    let files = files.filter(|_| runs_files);
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
        "PYTHONSTARTUP",
        "SSH_ASKPASS",
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

/// Extensions of files that no program runs.
const DOCUMENTS: &[&str] = &[
    "adoc", "csv", "diff", "html", "log", "markdown", "md", "mdx", "org", "patch", "rst", "svg", "tex", "txt",
];

/// Programs to which arguments are names, and that run files of the project.
const TEST_RUNNERS: &[&str] = &["jest", "mocha", "phpunit", "pip", "pytest", "rspec", "vitest"];

/// Files that git and shells read for any later command.
const RUN_LATER: &[&str] =
    &[".bash_profile", ".bashrc", ".envrc", ".gitconfig", ".profile", ".zprofile", ".zshenv", ".zshrc"];

/// Returns true if a file that a script wrote may be run by git, by a shell or by another program of the script.
fn may_be_run(shell: &Shell, path: &str) -> bool {
    let name = name_of(path);
    let runs = |found: &Invocation| {
        let name = name_of(&found.program.text);
        let is_text = treats_arguments_as_text(name, &[]) && !TEST_RUNNERS.contains(&name);
        !matches!(name, "git" | "lockstep") && !is_text
    };
    let extension =
        name.rsplit_once('.').filter(|_| name != "CMakeLists.txt").map(|(_, extension)| extension);
    let is_document = extension.is_some_and(|extension| DOCUMENTS.contains(&extension));
    RUN_LATER.contains(&name)
        || path.contains(".git/")
        || path.contains(".husky/")
        || (!is_document && shell.found.iter().any(runs))
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
    let is_written = |(path, text): (&String, &String)| {
        changes_branches(shell, path)
            || is_git_dir(path)
            || (path.ends_with(".git/config") && moves_hooks(text))
            || (mentions_commit(text) && may_be_run(shell, path))
    };
    if shell.files.iter().any(is_written) || shell.values().any(runs) { Unreadable } else { Harmless }
}
