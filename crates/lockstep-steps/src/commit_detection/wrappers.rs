//! Programs that run the program in their arguments, and the options before it.

use super::expand::Field;
use super::invoke::{SHELLS, name_of};
use super::syntax::is_assignment;
use super::{code, commit};

/// A program that runs another.
#[derive(Debug)]
pub(super) struct Wrapper {
    pub(super) name: &'static str,
    /// The letters of the options that take the next word.
    values: &'static str,
    /// The operands before the program.
    operands: usize,
    /// True if arguments with blanks are scripts for a shell.
    runs_texts: bool,
    /// Set if the words of the standard input become arguments.
    pub(super) reads_arguments: bool,
}

const fn plain(name: &'static str, values: &'static str, operands: usize) -> Wrapper {
    Wrapper { name, values, operands, runs_texts: false, reads_arguments: false }
}

const fn texts(name: &'static str, values: &'static str, operands: usize) -> Wrapper {
    Wrapper { name, values, operands, runs_texts: true, reads_arguments: false }
}

const fn reader(name: &'static str, values: &'static str) -> Wrapper {
    Wrapper { name, values, operands: 0, runs_texts: true, reads_arguments: true }
}

const WRAPPERS: &[Wrapper] = &[
    plain("builtin", "", 0),
    plain("bunx", "", 0),
    plain("bundle", "", 1),
    plain("busybox", "", 0),
    plain("caffeinate", "tw", 0),
    plain("chroot", "", 1),
    plain("chrt", "TPD", 1),
    plain("command", "", 0),
    plain("coproc", "", 0),
    plain("dbus-run-session", "", 0),
    plain("direnv", "", 2),
    plain("doas", "uC", 0),
    plain("docker", "", 2),
    texts("entr", "", 0),
    texts("env", "uCS", 0),
    plain("exec", "a", 0),
    plain("faketime", "f", 1),
    texts("find", "", 0),
    texts("fd", "", 0),
    texts("flock", "wE", 1),
    plain("gtime", "fo", 0),
    texts("hyperfine", "", 0),
    plain("ionice", "cnpPu", 0),
    texts("lockstep", "", 99),
    plain("ltrace", "eopsuaESnl", 0),
    plain("mise", "", 1),
    plain("nice", "n", 0),
    texts("nix-shell", "pIA", 99),
    plain("nohup", "", 0),
    texts("npm", "", 1),
    texts("npx", "pc", 0),
    plain("nsenter", "tSG", 0),
    reader("parallel", "jaNIn"),
    plain("pipenv", "", 1),
    plain("pipx", "", 1),
    texts("pnpm", "", 1),
    plain("podman", "", 2),
    plain("poetry", "", 1),
    plain("proot", "rbwk", 0),
    texts("runuser", "ugGs", 0),
    texts("screen", "SctT", 0),
    texts("script", "oOIBTE", 99),
    plain("setarch", "", 1),
    plain("setsid", "", 0),
    texts("sg", "", 1),
    texts("ssh", "bcDEeFIiJLlmOopQRSWw", 1),
    plain("stdbuf", "ioe", 0),
    plain("strace", "eopsuaESPOXI", 0),
    texts("su", "sgGw", 99),
    plain("sudo", "ugpCDhRrTtU", 0),
    plain("systemd-run", "puEMHt", 0),
    plain("taskset", "", 1),
    plain("time", "fo", 0),
    plain("timeout", "ks", 1),
    texts("tmux", "LSfcnts", 1),
    plain("toybox", "", 0),
    plain("unbuffer", "", 0),
    plain("unshare", "SG", 0),
    plain("uv", "", 1),
    plain("uvx", "", 0),
    plain("valgrind", "", 0),
    texts("watch", "nq", 0),
    plain("xvfb-run", "nfeps", 0),
    reader("xargs", "aIdEeLnPs"),
    texts("yarn", "", 1),
];

pub(super) fn find(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|wrapper| wrapper.name == name)
}

/// Returns true if the arguments of the program are followed.
pub(super) fn is_known(name: &str) -> bool {
    name == "git"
        || name.starts_with("git-")
        || SHELLS.contains(&name)
        || find(name).is_some()
        || code::is_interpreter(name)
        || name == "eval"
}

/// Options whose value is a script, for programs that run texts.
const SCRIPT_OPTIONS: &[&str] = &[
    "-c",
    "-S",
    "--split-string",
    "--command",
    "--run",
    "--verify",
    "--agent",
    "--call",
    "-x",
    "-X",
    "--exec",
];

fn takes_script(option: &str) -> bool {
    let cluster = option.starts_with('-') && !option.starts_with("--") && option.ends_with('c');
    cluster || SCRIPT_OPTIONS.contains(&option)
}

impl Wrapper {
    pub(super) fn scripts(&self, arguments: &[Field], at: usize) -> Vec<String> {
        let follows_program = arguments.get(at).is_some_and(|program| is_known(name_of(&program.text)));
        // These start the program without a shell.
        let runs_one = matches!(self.name, "find" | "fd" | "xargs") && self.is_followed(arguments);
        if !self.runs_texts || follows_program || runs_one {
            return Vec::new();
        }
        let mut scripts = Vec::new();
        for (at, field) in arguments.iter().enumerate() {
            let text = field.text.as_str();
            let before = at.checked_sub(1).and_then(|at| arguments.get(at)).map(|field| field.text.as_str());
            let named = SCRIPT_OPTIONS.iter().find_map(|option| text.strip_prefix(option)?.strip_prefix('='));
            if let Some(script) = named {
                scripts.push(script.to_owned());
            } else if before.is_some_and(takes_script) {
                // The words after it belong to the command too.
                let rest: Vec<&str> = arguments[at + 1..].iter().map(|field| field.text.as_str()).collect();
                scripts.push(text.to_owned());
                scripts.push(format!("{text} {}", rest.join(" ")));
            } else if self.operands < 99 && text.contains(char::is_whitespace) && self.name != "env" {
                scripts.push(text.to_owned());
            } else if let Some(script) = text.strip_prefix("-S").filter(|_| self.name == "env") {
                scripts.push(script.to_owned());
            }
        }
        scripts
    }

    /// Returns true if the arguments contain nothing but programs that are followed, and their arguments.
    pub(super) fn is_followed(&self, arguments: &[Field]) -> bool {
        let commands = self.commands(arguments, self.skip(arguments, |_| ()));
        if self.name == "find" && commands.is_empty() {
            return !arguments.iter().any(|field| field.text.starts_with("-fprint"));
        }
        let is_followed = |command: &Vec<Field>| {
            let Some((program, rest)) = command.split_first() else { return false };
            let name = name_of(&program.text);
            is_known(name) || commit::treats_arguments_as_text(name, rest)
        };
        !commands.is_empty() && commands.iter().all(is_followed)
    }

    /// The place of the program: behind options, their values, assignments and operands.
    pub(super) fn skip(&self, arguments: &[Field], mut assign: impl FnMut(&str)) -> usize {
        let (mut at, mut operands) = (0, self.operands);
        while let Some(field) = arguments.get(at) {
            let text = field.text.as_str();
            at += 1;
            if text == "--" {
                return at + operands.min(arguments.len() - at);
            }
            if let Some(letters) =
                text.strip_prefix('-').filter(|letters| !letters.starts_with('-') && !letters.is_empty())
            {
                let value = letters.find(|c| self.values.contains(c));
                at += usize::from(value.is_some_and(|place| place + 1 == letters.len()));
            } else if text.starts_with('-') {
                // A long option. If it has a value, that is treated as the program, and the next known
                // program is searched.
            } else if matches!(self.name, "env" | "sudo" | "doas") && is_assignment(text) {
                assign(text);
            } else if operands > 0 {
                operands -= 1;
            } else {
                return at - 1;
            }
        }
        arguments.len()
    }

    /// Returns the commands in the arguments: the one at position `at`, and, if that program is unknown, the
    /// first known one after it.
    pub(super) fn commands(&self, arguments: &[Field], at: usize) -> Vec<Vec<Field>> {
        if matches!(self.name, "find" | "fd") {
            return find_commands(arguments);
        }
        let mut commands = Vec::new();
        if let Some(program) = arguments.get(at) {
            commands.push(arguments[at..].to_vec());
            let name = name_of(&program.text);
            if is_known(name) || commit::treats_arguments_as_text(name, &arguments[at + 1..]) {
                return commands;
            }
        }
        let has_options = arguments.iter().take(at).any(|field| field.text.starts_with('-'));
        let known = arguments.iter().position(|field| is_known(name_of(&field.text)));
        if let Some(place) = known.filter(|place| *place != at && (has_options || self.operands > 0)) {
            commands.push(arguments[place..].to_vec());
        }
        commands
    }
}

/// The commands behind `-exec`, `-execdir`, `-ok`, `-x`, up to `;` or `+`.
fn find_commands(arguments: &[Field]) -> Vec<Vec<Field>> {
    let runs = |field: &Field| {
        matches!(field.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec")
    };
    let places = arguments.iter().enumerate().filter(|(_, field)| runs(field)).map(|(at, _)| at + 1);
    let ends = |field: &&Field| !matches!(field.text.as_str(), ";" | "+");
    places.map(|at| arguments[at..].iter().take_while(ends).cloned().collect()).collect()
}

/// Returns the text that the words of the standard input replace: `{}`, or the value of an option.
pub(super) fn placeholder(arguments: &[Field]) -> String {
    let texts = || arguments.iter().map(|field| field.text.as_str());
    let attached = texts().find_map(|text| {
        ["--replace=", "-I", "-J", "-i"].iter().find_map(|option| text.strip_prefix(option))
    });
    let next = || texts().skip_while(|text| !matches!(*text, "-I" | "-J")).nth(1);
    match attached {
        Some("") => next().unwrap_or("{}").to_owned(),
        Some(text) => text.to_owned(),
        None => "{}".to_owned(),
    }
}

/// Adds the words of the standard input to a command: in place of the placeholder, and at the end.
pub(super) fn append(fields: &mut Vec<Field>, words: &[Field], placeholder: &str) {
    let joined = words.iter().map(|field| field.text.as_str()).collect::<Vec<_>>().join(" ");
    for field in fields.iter_mut().filter(|field| field.text.contains(placeholder)) {
        field.text = field.text.replace(placeholder, &joined);
    }
    fields.extend(words.iter().cloned());
}
