//! Lines that use the name of a script, a target, a feature or a package.

use crate::language::Language;

/// Programs that run the scripts of a manifest.
const RUNNERS: &[&str] = &["npm", "pnpm", "yarn", "bun", "composer", "deno", "just"];
/// Programs that run several scripts, each by its name.
const LIST_RUNNERS: &[&str] = &["npm-run-all", "run-s", "run-p", "turbo", "lerna"];
/// Words between a runner and the name of the script.
const VERBS: &[&str] = &["run", "run-script", "task"];
/// Scripts that `npm` runs without a verb.
const SHORT_SCRIPTS: &[&str] = &["restart", "start", "stop", "test"];
/// Flags that another word belongs to.
const VALUED_FLAGS: &[&str] =
    &["--filter", "-F", "--workspace", "-w", "--prefix", "--cwd", "--dir", "-C", "-f", "--file", "-j", "-d"];

/// The commands of a line, each as its words.
fn commands(line: &str) -> Vec<Vec<&str>> {
    let is_end = |c: char| matches!(c, ';' | '|' | '&' | '"' | '\'' | '`' | '(' | ')' | '[' | ']' | ',');
    line.split(is_end).map(|part| part.split_whitespace().collect()).collect()
}

/// Returns true if a line runs a script: `npm run NAME`, `yarn NAME`, `npm:NAME`.
pub(super) fn is_run(line: &str, name: &str) -> bool {
    // The words of a command may be written one by one.
    let joined = line.replace("\", \"", " ").replace("\",\"", " ").replace("', '", " ");
    let together = format!("npm:{name}");
    commands(&joined).into_iter().any(|words| {
        let runs_many = words.iter().any(|word| LIST_RUNNERS.contains(word));
        let at = words.iter().position(|word| RUNNERS.contains(word));
        let is_script = |at: usize| script(&words[at..]).is_some_and(|script| script == name);
        words.contains(&&*together) || runs_many && words.contains(&name) || at.is_some_and(is_script)
    })
}

/// Returns the script that a command runs. The first word is the runner.
fn script<'w>(words: &[&'w str]) -> Option<&'w str> {
    let (runner, rest) = words.split_first()?;
    let mut has_verb = false;
    let mut rest = rest.iter();
    while let Some(word) = rest.next() {
        match *word {
            "workspace" => drop(rest.next()),
            word if VALUED_FLAGS.contains(&word) => drop(rest.next()),
            word if word.starts_with('-') => {}
            word if VERBS.contains(&word) && !has_verb => has_verb = true,
            word => {
                let is_short = *runner != "npm" || SHORT_SCRIPTS.contains(&word);
                return (has_verb || is_short).then_some(word);
            }
        }
    }
    None
}

/// Returns true if a line makes a target. In the makefile itself, a prerequisite is made too.
pub(super) fn makes(path: &str, line: &str, name: &str, is_own: bool) -> bool {
    let line = line.replace("$(MAKE)", "make").replace("${MAKE}", "make");
    if is_own && !line.starts_with(['\t', ' ', '#', '.']) {
        let prerequisites = line.split_once(':').map(|(_, rest)| rest).filter(|text| !text.starts_with('='));
        let prerequisites = prerequisites.unwrap_or_default().split('#').next().unwrap_or_default();
        return prerequisites.split_whitespace().any(|word| word == name);
    }
    let is_prose = Language::of(path) == Language::Markdown && !is_command_line(&line);
    let is_outside_code = |at: usize| !line[..at].matches('`').count().is_multiple_of(2);
    commands(&line).into_iter().any(|words| {
        let at = words.iter().position(|word| matches!(*word, "make" | "gmake"));
        let Some((at, first)) = at.map(|at| (at, words[at])) else { return false };
        let start = first.as_ptr() as usize - line.as_ptr() as usize;
        let mut rest = words[at + 1..].iter();
        let mut is_made = false;
        while let Some(word) = rest.next() {
            if VALUED_FLAGS.contains(word) {
                // Another directory has another makefile.
                if *word == "-C" {
                    return false;
                }
                rest.next();
            }
            is_made |= *word == name;
        }
        is_made && (!is_prose || is_outside_code(start))
    })
}

/// Returns true if a line of a document begins with a command.
fn is_command_line(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches(['$', '>', ' ']);
    line.starts_with("make ")
}

/// Returns true if a command or a dependency asks for a feature: `--features a,NAME`, `features = ["NAME"]` of a dependency that the
/// line names is left to its own manifest.
pub(super) fn lists_feature(line: &str, name: &str) -> bool {
    let mut rest = line;
    while let Some((_, after)) = ["--features", " -F "].iter().find_map(|flag| rest.split_once(flag)) {
        let list = after.trim_start_matches(['=', ' ', '"', '\'']);
        let list = list.split([' ', '"', '\'', '`', ')']).next().unwrap_or_default();
        if list.split(',').any(|part| part.rsplit('/').next() == Some(name)) {
            return true;
        }
        rest = after;
    }
    false
}

/// Returns true if a command or a dependency asks for optional dependencies of a package of Python: `pip install .[NAME]`,
/// `--extra NAME`.
pub(super) fn asks_for_extra(line: &str, name: &str) -> bool {
    const INSTALLERS: &[&str] = &["pip", "uv", "pdm", "poetry", "pipx"];
    let mut words = line.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '='));
    if !INSTALLERS.iter().any(|text| words.clone().any(|word| word == *text)) {
        return false;
    }
    let lists = |word: &str| {
        let list = word.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        list.is_some_and(|(list, _)| list.split(',').any(|part| part.trim() == name))
    };
    let pairs: Vec<&str> = words.clone().filter(|word| !word.is_empty()).collect();
    words.any(lists)
        || pairs
            .windows(2)
            .any(|window| matches!(window[0], "--extra" | "--extras" | "-E") && window[1] == name)
}

/// Returns true if a line of Rust names something in a crate: `NAME::a`, `use NAME;`.
pub(super) fn has_path_root(line: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '"');
    line.match_indices(name).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + name.len()..]);
        let is_used = before.ends_with("use ") || before.ends_with("extern crate ");
        !before.ends_with(is_part) && (after.starts_with("::") || is_used && after.starts_with([';', ' ']))
    })
}

/// Returns true if a command selects a package: `-p NAME`, `--filter NAME`, `--workspace=NAME`.
pub(super) fn names_package(line: &str, name: &str) -> bool {
    const FLAGS: &[&str] =
        &["-p", "--package", "--filter", "-F", "-w", "--workspace", "workspace", "--scope"];
    let words: Vec<&str> =
        line.split([' ', '=', '"', '\'', '`', ',', '[', ']']).filter(|part| !part.is_empty()).collect();
    words.windows(2).any(|pair| FLAGS.contains(&pair[0]) && pair[1].trim_end_matches("...") == name)
}

/// Returns true if an entry of YAML waits for another one: `needs: NAME`, an item below `depends_on:`. `section` is the last line
/// that is not an item of a list.
pub(super) fn waits(line: &str, section: &str, name: &str) -> bool {
    let is_key = |text: &str| ["needs:", "depends_on:"].iter().any(|key| text.starts_with(key));
    let line = line.trim();
    let names = |text: &str| {
        let mut words = text.split([' ', ',', '[', ']', '"', '\'']);
        words.any(|word| word == name)
    };
    let is_item = line.strip_prefix('-').is_some_and(|strip_prefix| is_key(section) && names(strip_prefix));
    is_key(line) && names(line) || is_item || line.contains(&format!("needs.{name}."))
}
