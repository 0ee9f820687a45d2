//! Writes to the files of a repository that hold its branches and hooks.

use super::commit::{matches, treats_arguments_as_text};
use super::invoke::SHELLS;
use super::run::Shell;
use super::{code, wrappers};

/// Returns true if the files of a repository that hold its branches and hooks are at or below a path, which may be a
/// pattern.
pub(super) fn is_of_branches(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let is_git = |part: &&str| part.starts_with('.') && matches(part, ".git");
    let Some(at) = parts.iter().rposition(is_git) else { return false };
    let is_one_of = |part: &str, names: &[&str]| names.iter().any(|name| matches(part, name));
    match parts[at + 1..] {
        [] => false,
        [part] => is_one_of(part, &["HEAD", "packed-refs", "ORIG_HEAD", "hooks", "refs"]),
        [part, below, ..] => {
            is_one_of(part, &["hooks"]) || (is_one_of(part, &["refs"]) && below.starts_with("heads"))
        }
    }
}

/// The same for a path that may be relative to a directory of git into which the script changes.
pub(super) fn changes_branches(shell: &Shell, path: &str) -> bool {
    let inside = || shell.git_dir.as_ref().is_some_and(|dir| is_of_branches(&format!("{dir}/{path}")));
    is_of_branches(path) || inside()
}

/// Returns true if a path is a repository's own directory.
pub(super) fn is_git_dir(path: &str) -> bool {
    path.split('/').rfind(|part| !matches!(*part, "" | ".")) == Some(".git")
}

/// Programs that write, move or remove the files in their arguments, although these are text to them.
const WRITERS: &[&str] = &["chmod", "chown", "cp", "curl", "ln", "mv", "rm", "sort", "tee", "uniq", "wget"];

/// Programs that put other files in the place of a directory, with the options for it.
const REPLACERS: &[&str] = &["cp", "install", "ln", "mv", "rsync", "tar", "unzip"];

/// Editors, which write the files in their arguments.
const EDITORS: &[&str] = &["ed", "emacs", "ex", "nvim", "vi", "vim"];

/// Returns true if a program replaces a branch or removes a hook behind git's back.
pub(super) fn unhooks(shell: &Shell, name: &str, words: &[&str]) -> bool {
    if matches!(name, "fd" | "find") {
        // The names in the expression of `find` may be exclusions.
        let is_place = |word: &&&str| name == "fd" || !word.starts_with('-');
        let is_git = |word: &&str| word.split('/').any(|part| part == ".git");
        let places =
            words.iter().take_while(is_place).any(is_git) || words.iter().any(|word| word.contains("hooks"));
        return places
            && words.iter().any(|word| matches!(*word, "-delete" | "unlink") || WRITERS.contains(word));
    }
    let replaces = REPLACERS.contains(&name) && words.iter().any(|word| is_git_dir(word));
    let removes = name == "rm"
        && words.iter().any(|word| is_git_dir(word) && !word.trim_start_matches("./").contains("/.git"));
    if replaces || removes {
        return true;
    }
    // Programs that run programs are followed.
    let runs = SHELLS.contains(&name) || wrappers::find(name).is_some();
    let writes = match name {
        "awk" | "gawk" | "sed" | "gsed" | "perl" | "ruby" => words
            .iter()
            .any(|word| word.starts_with("--in-place") || (word.starts_with('-') && word.contains('i'))),
        _ if WRITERS.contains(&name) || EDITORS.contains(&name) => true,
        _ => !runs && !code::is_interpreter(name) && !treats_arguments_as_text(name, &[]),
    };
    let path = |word: &str| word.trim_start_matches("of=").to_owned();
    writes && words.iter().any(|word| changes_branches(shell, &path(word)))
}
