//! The effect of a call of git on commits and branches.

use super::CommitReading::{self, Commits, Harmless, Unreadable};
use super::commit::{effect_of_arguments, matches};
use super::expand::Field;
use super::mention::mentions_commit;
use super::{commit, names_git};

/// Subcommands that make commits or move branches.
const COMMITTING: &[&str] = &[
    "am",
    "cherry-pick",
    "citool",
    "commit",
    "commit-tree",
    "fast-import",
    "filter-branch",
    "filter-repo",
    "gui",
    "http-fetch",
    "merge",
    "p4",
    "pull",
    "quiltimport",
    "rebase",
    "receive-pack",
    "replace",
    "revert",
    "subtree",
    "svn",
    "update-ref",
    "merge-octopus",
    "merge-one-file",
    "merge-recursive",
    "merge-resolve",
    "merge-subtree",
];

/// Subcommands that neither make commits nor move branches.
const HARMLESS: &[&str] = &[
    "add",
    "annotate",
    "apply",
    "archive",
    "blame",
    "branch",
    "bundle",
    "cat-file",
    "check-attr",
    "check-ignore",
    "check-mailmap",
    "check-ref-format",
    "checkout",
    "checkout-index",
    "cherry",
    "clean",
    "clone",
    "column",
    "config",
    "count-objects",
    "credential",
    "describe",
    "diagnose",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "difftool",
    "fetch",
    "fetch-pack",
    "for-each-ref",
    "for-each-repo",
    "format-patch",
    "fsck",
    "gc",
    "get-tar-commit-id",
    "grep",
    "hash-object",
    "help",
    "index-pack",
    "init",
    "instaweb",
    "interpret-trailers",
    "lfs",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "mailinfo",
    "mailsplit",
    "maintenance",
    "merge-base",
    "merge-file",
    "merge-tree",
    "mergetool",
    "mktag",
    "mktree",
    "multi-pack-index",
    "mv",
    "name-rev",
    "pack-objects",
    "pack-refs",
    "patch-id",
    "prune",
    "push",
    "range-diff",
    "read-tree",
    "reflog",
    "refs",
    "remote",
    "repack",
    "request-pull",
    "rerere",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "rm",
    "send-email",
    "shortlog",
    "show",
    "show-branch",
    "show-index",
    "show-ref",
    "sparse-checkout",
    "stash",
    "status",
    "stripspace",
    "submodule",
    "switch",
    "symbolic-ref",
    "tag",
    "unpack-file",
    "unpack-objects",
    "update-index",
    "update-server-info",
    "var",
    "verify-commit",
    "verify-pack",
    "verify-tag",
    "version",
    "whatchanged",
    "worktree",
    "write-tree",
    "bisect",
    "gitk",
];

/// Options of git that take a value as the next word.
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

/// Returns true if a subcommand makes commits.
pub(super) fn makes_commits(verb: &str) -> bool {
    COMMITTING.contains(&verb)
}

/// The effect of a call. `verb` is the subcommand in the program's name; its variables may hold programs that git runs.
pub(super) fn effect(
    verb: Option<&str>,
    arguments: &[Field],
    environment: &[(String, String)],
    depth: usize,
) -> CommitReading {
    let mut programs: Vec<&str> = environment.iter().map(|(_, value)| value.as_str()).collect();
    let (mut at, mut aliases) = (0, Vec::new());
    let mut called = verb.map(Field::new);
    while let Some(field) = arguments.get(at).filter(|_| called.is_none()) {
        let text = field.text.as_str();
        at += 1;
        if let Some(setting) = setting(text, arguments.get(at)) {
            let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
            programs.push(value);
            let alias = key.get(..6).filter(|start| start.eq_ignore_ascii_case("alias.")).map(|_| &key[6..]);
            aliases.extend(alias.map(|name| (name, value)));
        }
        if WITH_VALUE.contains(&text) {
            at += 1;
        } else if !text.starts_with('-') {
            called = Some(field.clone());
        }
    }
    let rest = &arguments[at.min(arguments.len())..];
    let by_programs = programs.iter().map(|text| of_script(text, depth)).max().unwrap_or(Harmless);
    let Some(called) = called else { return by_programs };
    // The last of several values counts.
    let alias = aliases.iter().rev().find(|(name, _)| name.eq_ignore_ascii_case(&called.text));
    let effect = match alias {
        Some((_, script)) if script.starts_with('!') => of_script(&script[1..], depth).max(Unreadable),
        Some((_, words)) => {
            let verb = words.split_whitespace().find(|word| !word.starts_with('-')).unwrap_or_default();
            of_verb(&Field::new(verb), rest, depth)
        }
        None => of_verb(&called, rest, depth),
    };
    effect.max(by_programs)
}

/// The setting of `-c key=value`.
fn setting<'a>(text: &'a str, next: Option<&'a Field>) -> Option<&'a str> {
    match text {
        "-c" => next.map(|field| field.text.as_str()),
        _ => text.strip_prefix("-c").filter(|setting| setting.contains('=')),
    }
}

/// Returns the effect of a text that git passes to a shell.
fn of_script(text: &str, depth: usize) -> CommitReading {
    let text = text.trim_start_matches('!');
    match depth.checked_sub(1).filter(|_| names_git(text)) {
        Some(_) => commit::read_commit_at(text, depth - 1),
        None => Harmless,
    }
}

fn of_verb(verb: &Field, rest: &[Field], depth: usize) -> CommitReading {
    let text = verb.text.as_str();
    let words: Vec<&str> = rest.iter().map(|field| field.text.as_str()).collect();
    if !verb.is_known() {
        let harmless = HARMLESS.iter().any(|name| matches(text, name));
        let commits = COMMITTING.iter().any(|name| matches(text, name));
        return if commits || harmless || !verb.glob { Unreadable } else { Commits };
    }
    match text {
        _ if makes_commits(text) && asks_only(rest) => Harmless,
        // Aborting is not a commit.
        "merge" | "rebase" | "am" | "cherry-pick" | "revert"
            if matches!(words.as_slice(), ["--abort" | "--quit"]) =>
        {
            Harmless
        }
        "notes" if matches!(words.first(), None | Some(&"list" | &"show" | &"get-ref")) => Harmless,
        "hash-object" => hash_object(&words),
        "stash" if words.first() == Some(&"branch") => Commits,
        "update-ref" if words.iter().any(|word| word.starts_with("refs/remotes/")) => Harmless,
        // `fetch` moves a local branch only if a destination is given.
        "fetch" if words.iter().any(|word| moves_branch(word)) => Commits,
        "push" if words.iter().find(|word| !word.starts_with('-')) == Some(&".") => Commits,
        "for-each-repo" if words.iter().any(|word| makes_commits(word)) => Commits,
        // The transport `ext::` runs the rest of the address.
        _ if words.iter().any(|word| word.starts_with("ext::") && mentions_commit(word)) => Unreadable,
        "lfs" if matches!(words.as_slice(), ["migrate", "import" | "export", ..]) => Commits,
        "config" if words.iter().any(|word| moves_hooks(word)) && words.len() > 1 => {
            let reads = words.iter().any(|word| word.starts_with("--get") || *word == "get");
            if reads { Harmless } else { Unreadable }
        }
        // git runs the values of many settings.
        "config" if words.iter().any(|word| mentions_commit(word)) => Unreadable,
        "submodule" | "bisect" => {
            let joined = Field::new(words.join(" "));
            let texts: Vec<Field> = rest.iter().cloned().chain([joined]).collect();
            let effect = effect_of_arguments(&texts, depth);
            if effect == Harmless { Harmless } else { Commits }
        }
        _ if HARMLESS.contains(&text) && runs_text(text, &words) => Unreadable,
        _ if HARMLESS.contains(&text) => Harmless,
        // An alias may be anything.
        _ => Commits,
    }
}

/// Returns true if a call prints help, or what a commit would be. As a later word, the option may be the value of another.
fn asks_only(rest: &[Field]) -> bool {
    let Some((first, others)) = rest.split_first() else { return false };
    match first.text.as_str() {
        "--help" => true,
        "-h" => others.is_empty(),
        "--dry-run" => others.iter().all(|field| field.is_known() && !field.text.starts_with("--no-")),
        _ => false,
    }
}

/// Returns true for a setting that names the directory of hooks, or a file of settings that may name it.
fn moves_hooks(setting: &str) -> bool {
    let setting = setting.to_ascii_lowercase();
    setting == "core.hookspath" || setting.starts_with("include.") || setting.starts_with("includeif.")
}

/// Returns true if the value of an option that names a program or a setting mentions a commit.
fn runs_text(verb: &str, words: &[&str]) -> bool {
    const OPTIONS: &[&str] = &[
        "-O",
        "-x",
        "--exec",
        "--extcmd",
        "--httpd",
        "--open-files-in-pager",
        "--receive-pack",
        "--smtp-server",
        "--upload-pack",
    ];
    const OF_CLONE: &[&str] = &["-c", "--config", "-u"];
    let is_option = |word: &str| {
        OPTIONS.contains(&word) || word.ends_with("-cmd") || (verb == "clone" && OF_CLONE.contains(&word))
    };
    words.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).map_or("", |at| words[at]);
        let named = word.split_once('=').is_some_and(|(option, _)| is_option(option));
        let attached = !word.starts_with("--") && word.get(..2).is_some_and(is_option);
        (named || attached || is_option(before)) && mentions_commit(word.trim_start_matches("-O"))
    })
}

/// Returns true if a refspec writes a local branch.
fn moves_branch(refspec: &str) -> bool {
    let destination = refspec.rsplit_once(':').map(|(_, destination)| destination);
    let is_address = refspec.contains("://") || refspec.contains('@');
    destination.is_some_and(|destination| {
        !is_address
            && !destination.is_empty()
            && !destination.starts_with("refs/remotes/")
            && !destination.starts_with("refs/tags/")
    })
}

/// `hash-object -t commit -w` writes a commit.
fn hash_object(words: &[&str]) -> CommitReading {
    let writes = words.iter().any(|word| {
        word.starts_with("-w") || (word.starts_with('-') && !word.starts_with("--") && word.contains('w'))
    });
    let kind = words.iter().any(|word| word.contains("commit"));
    let unknown = words.iter().any(|word| word.contains(['\0', '\u{1}']));
    match (writes, kind, unknown) {
        (true, true, _) => Commits,
        (true, false, true) => Unreadable,
        _ => Harmless,
    }
}
