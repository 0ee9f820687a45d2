//! Code of interpreters in a command: the texts and lists in it that are commands for a shell.

use super::decode;
use super::expand::Field;
use super::{invoke, mention, names_git, repository};

/// Interpreters and the options behind which their code is. Without options, the first operand is the code.
const INTERPRETERS: &[(&str, &[&str])] = &[
    ("python", &["-c"]),
    ("pypy", &["-c"]),
    ("ipython", &["-c"]),
    ("node", &["-e", "-p", "--eval", "--print", "-pe"]),
    ("nodejs", &["-e", "-p", "--eval", "--print", "-pe"]),
    ("bun", &["-e", "--eval", "-p"]),
    ("deno", &["eval"]),
    ("perl", &["-e", "-E"]),
    ("ruby", &["-e"]),
    ("php", &["-r", "-B", "-E", "-R"]),
    ("lua", &["-e"]),
    ("luajit", &["-e"]),
    ("Rscript", &["-e"]),
    ("osascript", &["-e"]),
    ("expect", &["-c"]),
    ("tclsh", &[]),
    ("groovy", &["-e"]),
    ("julia", &["-e"]),
    ("elixir", &["-e"]),
    ("guile", &["-c"]),
    ("emacs", &["--eval", "-eval"]),
    ("vim", &["-c", "--cmd"]),
    ("nvim", &["-c", "--cmd"]),
    ("vi", &["-c"]),
    ("ex", &["-c"]),
    ("ed", &[]),
    ("less", &[]),
    ("more", &[]),
    ("gdb", &["-ex", "-iex", "--ex", "-eval-command", "--eval-command"]),
    ("lldb", &["-o", "-O", "--one-line"]),
    ("awk", &[]),
    ("gawk", &[]),
    ("mawk", &[]),
    ("sed", &[]),
    ("gsed", &[]),
    ("make", &["-f", "--eval"]),
    ("gmake", &["-f", "--eval"]),
];

/// Programs whose code has its commands on lines of their own.
const READ_BY_LINE: &[&str] =
    &["make", "gmake", "sed", "gsed", "ed", "ex", "vi", "vim", "nvim", "gdb", "lldb", "less", "more"];

/// Words by which code starts processes or reaches modules that do.
const RUNS: &[&str] = &[
    "system",
    "exec",
    "execSync",
    "execFile",
    "execFileSync",
    "execa",
    "execl",
    "execlp",
    "execv",
    "execvp",
    "execvpe",
    "popen",
    "popen2",
    "popen3",
    "Popen",
    "posix_spawn",
    "posix_spawnp",
    "spawn",
    "spawnSync",
    "spawnp",
    "spawnlp",
    "subprocess",
    "os",
    "pty",
    "run",
    "call",
    "check_call",
    "check_output",
    "getoutput",
    "child_process",
    "shell",
    "shell_exec",
    "passthru",
    "proc_open",
    "Open3",
    "Kernel",
    "IO",
    "open",
    "qx",
    "Command",
    "Deno",
    "Bun",
    "eval",
    "getattr",
    "importlib",
    "__import__",
    "ctypes",
    "fork",
    "execute",
    "do",
    "shelljs",
    "zx",
    "asyncio",
];

/// Functions that create texts in a hidden form.
const DECODES: &[&str] = &[
    "b64decode",
    "fromCharCode",
    "chr",
    "unhexlify",
    "fromhex",
    "atob",
    "rot13",
    "[::-1]",
    "reverse",
    "reversed",
    "pack",
    "Buffer.from",
    "decode",
    "decode_base64",
    "decompress",
    "inflate",
    "base64",
    "String.fromCharCode",
    "unpack",
    "bytes",
    "bytearray",
    "maketrans",
    "translate",
];

/// Modules that make commits without starting git.
const MODULES: &[&str] =
    &["pygit2", "dulwich", "gitpython", "GitPython", "isomorphic-git", "nodegit", "rugged", "simple-git"];

/// The commands in a piece of code.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Code {
    /// Texts that a shell would run.
    pub(super) scripts: Vec<String>,
    /// Programs with their arguments.
    pub(super) commands: Vec<Vec<String>>,
    /// Set if the code mentions git or computes texts, and the programs that it runs are not followed.
    pub(super) obscure: bool,
}

fn options(name: &str) -> Option<&'static [&'static str]> {
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.iter().find(|(known, _)| *known == name || *known == plain).map(|(_, options)| *options)
}

pub(super) fn is_interpreter(name: &str) -> bool {
    options(name).is_some()
}

/// The pieces of code among the arguments, and whether code is read from standard input.
pub(super) fn arguments(name: &str, arguments: &[Field]) -> (Vec<String>, bool) {
    let options = options(name).unwrap_or_default();
    let texts: Vec<&str> = arguments.iter().map(|field| field.text.as_str()).collect();
    let mut codes = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        let takes = |option: &&str| {
            // Short options may be combined: `-ne`.
            let last = option.strip_prefix('-').filter(|letter| letter.len() == 1);
            let clustered = last.is_some_and(|letter| {
                text.starts_with('-') && !text.starts_with("--") && text.ends_with(letter)
            });
            *text == *option || clustered
        };
        if options.iter().any(takes) {
            codes.extend(texts.get(at + 1).map(ToString::to_string));
        } else if let Some(code) = options.iter().find_map(|option| attached(text, option)) {
            codes.push(code.trim_start_matches('=').to_owned());
        } else if text.starts_with('+') {
            codes.push((*text).to_owned());
        }
    }
    let operands = texts.iter().filter(|text| !text.starts_with('-') || **text == "-");
    if options.is_empty() {
        codes.extend(operands.clone().map(ToString::to_string));
        // `--expression=CODE` and `-eCODE`
        let in_option = |text: &&str| match text.strip_prefix("--") {
            Some(long) => long.split_once('=').map(|(_, code)| code.to_owned()),
            None => text.strip_prefix('-')?.split_once('e').map(|(_, code)| code.to_owned()),
        };
        codes.extend(texts.iter().filter_map(in_option).filter(|code| !code.is_empty()));
    }
    let stdin = matches!(name, "make" | "gmake") || codes.is_empty();
    let no_file = operands.clone().next().is_none_or(|text| invoke::is_stdin(text));
    (codes, stdin && (no_file || options.is_empty() || texts.contains(&"-")) || matches!(name, "ed" | "ex"))
}

/// Returns the code in the word of its option: `--eval=CODE`, `-eCODE`, or behind other letters, `-wleCODE`.
fn attached<'a>(text: &'a str, option: &str) -> Option<&'a str> {
    if let Some(code) = text.strip_prefix(option) {
        return Some(code);
    }
    let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1)?;
    let cluster = text.strip_prefix('-').filter(|cluster| !cluster.starts_with('-'))?;
    cluster.split_once(letter).map(|(_, code)| code).filter(|code| !code.is_empty())
}

/// Reads the commands in a piece of code.
pub(super) fn read(name: &str, text: &str) -> Code {
    if READ_BY_LINE.contains(&name) {
        let mut code = read_lines(text, matches!(name, "make" | "gmake"));
        let is_stream_editor = matches!(name, "sed" | "gsed");
        let runs = if is_stream_editor { evaluates(text) } else { runs_code(text) };
        code.obscure |= runs && mention::mentions_commit(text);
        return code;
    }
    let (literals, outside) = literals(text);
    let runs = starts_programs(name, text, &outside);
    let mut code = Code::default();
    let mentions = names_git(text) || literals.iter().any(|literal| names_git(literal));
    let module = MODULES.iter().any(|module| text.contains(module)) || outside.contains("import git");
    code.obscure = module;
    let mentions_commit = mention::mentions_commit(text)
        || literals.iter().any(|one| mention::mentions_commit(one))
        || mention::mentions_commit(&literals.concat());
    let is_text = words_of(&outside).all(is_of_text);
    code.obscure |= mentions_commit && (runs || !is_text);
    code.obscure |=
        literals.iter().any(|one| repository::is_of_branches(one)) && writes_files(&literals, &outside);
    if !runs {
        return code;
    }
    for (at, literal) in literals.iter().enumerate() {
        if literal.contains(char::is_whitespace) {
            code.scripts.push(literal.clone());
        } else if !literal.is_empty() {
            code.commands.push(literals[at..].iter().take(16).cloned().collect());
        }
    }
    code.commands.truncate(64);
    // Quoted words of Perl and Ruby have no quotes that every language shares.
    let words: Vec<&str> = outside.split_whitespace().collect();
    let bare = words.windows(2).any(|pair| names_git(pair[0]) && !pair[1].starts_with(['=', '.']));
    if bare {
        code.scripts.push(outside.replace(['(', ')', '{', '}', '[', ']', '/', '|', '!'], "\n"));
    }
    let starts = |words: &Vec<String>| words.len() > 1 && words.first().is_some_and(|word| names_git(word));
    let followed = code.scripts.iter().any(|script| names_git(script)) || code.commands.iter().any(starts);
    let decodes = DECODES.iter().any(|word| text.contains(word));
    code.obscure |= (mentions || decodes) && !followed;
    code
}

/// Returns true if the code of an interpreter may run the text on its standard input.
pub(super) fn may_run_input(name: &str, text: &str) -> bool {
    !READ_BY_LINE.contains(&name) && starts_programs(name, text, &literals(text).1)
}

fn starts_programs(name: &str, text: &str, outside: &str) -> bool {
    words_of(outside).any(|word| RUNS.contains(&word))
        || (matches!(name, "perl" | "ruby" | "php") && text.contains('`'))
        || (matches!(name, "awk" | "gawk" | "mawk") && outside.replace("||", "").contains('|'))
        || text.contains("%x")
}

/// Returns true if code writes, moves or removes files, as far as its modes and functions tell.
fn writes_files(literals: &[String], outside: &str) -> bool {
    const MODES: &[&str] = &["w", "wb", "a", "ab", "r+", "rb+", "r+b", "w+", "wb+", "x", ">", ">>", "+<"];
    const STEMS: &[&str] = &[
        "write", "append", "chmod", "rename", "remove", "link", "rm", "copy", "move", "replace", "put",
        "spew", "truncate",
    ];
    literals.iter().any(|one| MODES.contains(&one.as_str()))
        || words_of(outside).any(|word| STEMS.iter().any(|stem| word.to_ascii_lowercase().contains(stem)))
}

/// Returns true for a module that makes commits.
pub(super) fn is_module(name: &str) -> bool {
    MODULES.contains(&name)
}

/// Returns true if code of an editor or debugger runs code of another language, or a function of the system.
fn runs_code(text: &str) -> bool {
    let (_, outside) = literals(text);
    let languages =
        ["lua", "luado", "perl", "py", "py3", "python", "python3", "ruby", "term", "terminal", "tclfile"];
    words_of(&outside).any(|word| RUNS.contains(&word) || languages.contains(&word) || word == "shell")
        || outside.contains("SHELL")
}

/// Returns true if a script of sed has the flag or the command that runs texts.
pub(super) fn evaluates(script: &str) -> bool {
    script.split([';', '\n', '{', '}']).any(|command| {
        let command =
            command.trim().trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | ',' | '!'));
        let flags = command.strip_prefix('s').and_then(|rest| {
            let delimiter = rest.chars().next()?;
            rest.rsplit_once(delimiter).map(|(_, flags)| flags)
        });
        command == "e" || command.starts_with("e ") || flags.is_some_and(|flags| flags.contains('e'))
    })
}

fn words_of(outside: &str) -> impl Iterator<Item = &str> {
    outside.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Words of code that only prints, searches or replaces texts.
fn is_of_text(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "BEGIN", "END", "NR", "NF", "FNR", "argv", "by", "commit", "console", "dumps", "echo", "else",
        "error", "f", "find", "for", "git", "gsub", "i", "if", "in", "index", "join", "json", "len",
        "length", "line", "lines", "log", "loads", "match", "n", "next", "not", "p", "print", "printf",
        "puts", "re", "read", "replace", "s", "say", "search", "split", "stdin", "stdout", "str", "strip",
        "sub", "sys", "import", "write", "x",
    ];
    WORDS.contains(&word) || word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads code whose lines may be commands: rules of make, `e` and `!` of editors.
fn read_lines(text: &str, are_commands: bool) -> Code {
    let mut scripts: Vec<String> = Vec::new();
    for line in text.lines() {
        let line =
            line.trim_start_matches(|c: char| c.is_whitespace() || c.is_ascii_digit() || "+:@$,".contains(c));
        let line =
            line.split_once(": ").filter(|(target, _)| !target.contains(' ')).map_or(line, |(_, rest)| rest);
        scripts.extend(line.split_once('!').map(|(_, command)| command.to_owned()));
        for word in ["e ", "shell ", "platform shell "] {
            scripts.extend(line.strip_prefix(word).map(str::to_owned));
        }
        scripts.extend(are_commands.then(|| line.to_owned()));
    }
    scripts.retain(|script| names_git(script));
    scripts.truncate(64);
    Code { scripts, ..Code::default() }
}

/// The texts in quotes, joined where they are concatenated, and everything outside of them.
fn literals(code: &str) -> (Vec<String>, String) {
    let (mut literals, mut outside): (Vec<String>, String) = (Vec::new(), String::new());
    let chars: Vec<char> = code.chars().collect();
    let (mut at, mut joins) = (0, false);
    while at < chars.len() {
        let c = chars[at];
        at += 1;
        if !matches!(c, '\'' | '"' | '`') {
            joins &= c.is_whitespace() || matches!(c, '+' | '.' | '\\');
            outside.push(c);
            continue;
        }
        let end = super::skip::until_unescaped(&chars, at, c);
        let text = decode::escapes(&chars[at.min(end)..end].iter().collect::<String>());
        at = end + 1;
        match literals.last_mut().filter(|_| joins) {
            Some(last) => last.push_str(&text),
            None => literals.push(text),
        }
        outside.push(' ');
        joins = true;
    }
    literals.retain(|literal| !literal.is_empty());
    (literals, outside)
}
