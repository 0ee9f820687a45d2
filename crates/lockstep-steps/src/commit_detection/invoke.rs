//! Programs that a shell runs, and the programs that they run: builtins, shells, wrappers, interpreters.

use super::expand::{Field, SUSPECT, UNKNOWN};
use super::run::{Input, Invocation, Shell, suspect};
use super::wrappers::{self, Wrapper};
use super::{code, commit, decode, names_git};

pub(super) const SHELLS: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "ash",
    "fish",
    "mksh",
    "yash",
    "rbash",
    "pwsh",
    "posh",
    "at",
    "batch",
    "powershell",
    "csh",
    "tcsh",
];

/// The program's name without its directory. A directory may be unknown.
pub(super) fn name_of(program: &str) -> &str {
    let name = program.rsplit(['/', '\\', UNKNOWN]).find(|name| !name.is_empty()).unwrap_or(program);
    // zsh replaces `=git` by the path of git.
    let name = name.strip_prefix('=').filter(|name| !name.is_empty()).unwrap_or(name);
    let end = name.len().saturating_sub(4);
    name.get(end..).filter(|end| end.eq_ignore_ascii_case(".exe")).map_or(name, |_| &name[..end])
}

impl Shell {
    /// Runs a program with its arguments. Returns its output.
    pub(super) fn invoke(
        &mut self,
        fields: &[Field],
        input: &Input,
        environment: &[(String, String)],
    ) -> String {
        let Some((program, arguments)) = fields.split_first() else { return String::new() };
        if !self.spend(fields.len()) {
            return SUSPECT.to_string();
        }
        if let Some(output) = self.call_defined(&program.text, arguments)
            // Quoted, the name of an alias is the program itself.
            && !program.text.eq_ignore_ascii_case("git")
        {
            return output;
        }
        let name = name_of(&program.text).to_owned();
        let name = self.links.get(&name).cloned().unwrap_or(name);
        let mut named = program.clone();
        if name != name_of(&program.text) {
            named.text.clone_from(&name);
        }
        self.found.push(Invocation {
            program: named,
            arguments: arguments.to_vec(),
            environment: environment.to_vec(),
            input: self.stdin(input).concat(),
        });
        let texts: Vec<String> = arguments.iter().map(|field| field.text.clone()).collect();
        self.deeper(
            |shell| {
                shell.builtin(&name, &texts, input).unwrap_or_else(|| shell.program(&name, fields, input))
            },
            suspect,
        )
    }

    /// A builtin of the shell, or a program that prints or keeps texts.
    fn builtin(&mut self, name: &str, arguments: &[String], input: &Input) -> Option<String> {
        Some(match name {
            "echo" | "print" => echo(arguments),
            "printf" => return Some(self.printf(arguments)),
            "eval" => self.run_script(&arguments.join(" ")),
            "trap" => {
                let script = arguments.iter().find(|word| *word != "--");
                self.run_script(script.map_or("", String::as_str))
            }
            "source" | "." => self.source(arguments, input),
            "set" => {
                let operands = arguments.iter().skip_while(|word| word.starts_with('-') && *word != "--");
                let operands: Vec<String> = operands.cloned().collect();
                let from = usize::from(operands.first().is_some_and(|word| word == "--"));
                if operands.len() > from {
                    self.positional = Some(operands[from..].to_vec());
                }
                String::new()
            }
            "export" | "declare" | "typeset" | "local" | "readonly" | "let" => {
                arguments.iter().for_each(|text| drop(self.assign_text(text)));
                String::new()
            }
            "alias" => {
                // zsh runs the text of a suffix for files with that extension.
                self.obscure |= arguments.first().is_some_and(|option| option == "-s")
                    && arguments.iter().any(|text| names_git(text));
                for (alias, text) in arguments.iter().filter_map(|text| text.split_once('=')) {
                    self.aliases.insert(alias.to_owned(), text.to_owned());
                }
                String::new()
            }
            "read" | "mapfile" | "readarray" => self.read(arguments, input),
            "hash" | "ln" | "cp" | "mv" | "install" => self.link(name, arguments),
            "which" | "type" | "whence" | "whereis" | "basename" | "realpath" | "readlink" => {
                let operand = arguments.iter().rev().find(|word| !word.starts_with('-'));
                operand.map_or_else(|| UNKNOWN.to_string(), |word| word.clone() + "\n")
            }
            "tee" => {
                let text = self.stdin(input).concat();
                for path in arguments.iter().filter(|word| !word.starts_with('-')) {
                    self.write(path, &text);
                }
                text
            }
            "cd" | "pushd" => {
                let is_git = |path: &&String| path.split('/').any(|part| part == ".git");
                self.git_dir = arguments.iter().find(is_git).or(self.git_dir.as_ref()).cloned();
                String::new()
            }
            ":" | "true" | "false" | "shift" | "unset" | "test" | "[" | "exit" | "return" | "chmod" => {
                String::new()
            }
            _ => return None,
        })
    }

    fn program(&mut self, name: &str, fields: &[Field], input: &Input) -> String {
        let arguments = &fields[1..];
        if SHELLS.contains(&name) {
            return self.shell(name, arguments, input);
        }
        if let Some(text) = self.file(&fields[0].text).cloned() {
            return self.run_file(&text, arguments);
        }
        let is_text = commit::treats_arguments_as_text(name, arguments);
        if let Some(wrapper) = wrappers::find(name).filter(|_| !is_text) {
            return self.wrapped(wrapper, arguments, input);
        }
        if code::is_interpreter(name) {
            return self.interpret(name, arguments, input);
        }
        let texts: Vec<String> = arguments.iter().map(|field| field.text.clone()).collect();
        let path = |text: &String| text.strip_prefix("if=").unwrap_or(text).to_owned();
        let read: Vec<String> = texts.iter().filter_map(|text| self.file(&path(text))).cloned().collect();
        let stdin = if read.is_empty() { self.stdin(input).concat() } else { read.concat() };
        match decode::filter(name, &texts, &stdin) {
            Some(output) if !stdin.is_empty() && !stdin.contains([UNKNOWN, SUSPECT]) => {
                self.texts.push(output.clone());
                output
            }
            // A text of the command itself is piped through an unknown program.
            _ if stdin.contains(|c| c != UNKNOWN) => SUSPECT.to_string(),
            _ if name == "git" => git_path(&texts),
            _ if texts.iter().any(|text| names_git(text)) => SUSPECT.to_string(),
            _ if name == "ls" && texts.iter().any(|text| !text.starts_with('-')) => listed(&texts),
            _ => UNKNOWN.to_string(),
        }
    }

    /// The texts that a program may read from its standard input.
    fn stdin(&self, input: &Input) -> Vec<String> {
        match (&input.pipe, input.documents.is_empty()) {
            (_, false) => input.documents.clone(),
            (Some(text), _) => vec![text.clone()],
            (None, _) => Vec::new(),
        }
    }

    fn printf(&mut self, arguments: &[String]) -> String {
        let (variable, rest) = match arguments {
            [option, name, rest @ ..] if option == "-v" => (Some(name), rest),
            rest => (None, rest),
        };
        let rest = if rest.first().is_some_and(|word| word == "--") { &rest[1..] } else { rest };
        let Some((format, values)) = rest.split_first() else { return String::new() };
        let output = decode::printf(format, values);
        match variable {
            Some(name) => {
                self.assign_text(&format!("{name}={output}"));
                String::new()
            }
            None => output,
        }
    }

    /// `source FILE`.
    fn source(&mut self, arguments: &[String], input: &Input) -> String {
        match arguments.first() {
            Some(path) if is_stdin(path) => self.run_stdin(input),
            Some(path) => {
                let text = self.file(path).cloned();
                text.map_or_else(|| UNKNOWN.to_string(), |text| self.run_script(&text))
            }
            None => String::new(),
        }
    }

    /// `read` and `mapfile`: each variable may be the line or one of its words.
    fn read(&mut self, arguments: &[String], input: &Input) -> String {
        let mut texts = self.stdin(input);
        if texts.is_empty() {
            texts.clone_from(&self.texts);
        }
        let blanks = self.separators();
        let mut names: Vec<&str> =
            arguments.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
        if names.is_empty() {
            names.push("REPLY");
        }
        for line in texts.iter().flat_map(|text| text.lines()).take(8) {
            let words: Vec<&str> =
                line.split(|c| blanks.contains(&c)).filter(|word| !word.is_empty()).collect();
            if let [name] = names.as_slice() {
                let elements = words.iter().map(ToString::to_string).collect();
                let is_array = arguments.iter().any(|word| word == "-a");
                self.assign(name, if is_array { elements } else { vec![line.to_owned()] });
                continue;
            }
            for (at, name) in names.iter().enumerate() {
                let last = at + 1 == names.len();
                let text = if last {
                    words.get(at..).unwrap_or_default().join(" ")
                } else {
                    words.get(at).map_or("", |word| word).to_owned()
                };
                self.assign(name, vec![text]);
            }
        }
        String::new()
    }

    /// A program gets another name: `ln`, `cp`, `hash -p PATH NAME`.
    fn link(&mut self, program: &str, arguments: &[String]) -> String {
        let operands: Vec<&String> = arguments.iter().filter(|word| !word.starts_with('-')).collect();
        let (from, to) = match operands.as_slice() {
            [from, .., to] => (*from, *to),
            _ => return String::new(),
        };
        if let Some(text) = self.file(from).cloned() {
            self.files.insert(to.clone(), text);
        }
        let source = name_of(from);
        let known = |name: &str| name == "git" || name.starts_with("git-") || SHELLS.contains(&name);
        if program == "hash" || known(source) {
            let target = if to.ends_with('/') { source } else { name_of(to) };
            self.links.insert(target.to_owned(), source.to_owned());
        } else if source.contains(SUSPECT) {
            self.links.insert(name_of(to).to_owned(), SUSPECT.to_string());
        }
        String::new()
    }

    /// A shell: `-c TEXT`, a file that the script wrote, or its standard input.
    fn shell(&mut self, name: &str, arguments: &[Field], input: &Input) -> String {
        let mut rest = arguments.iter().map(|field| field.text.as_str());
        let mut is_command = false;
        let mut operand = None;
        while let Some(word) = rest.next() {
            match word {
                "--rcfile" | "--init-file" => {
                    let script = rest.next().and_then(|path| self.file(path)).cloned();
                    script.map(|text| self.run_script(&text));
                }
                "-o" | "+o" | "-O" | "+O" => drop(rest.next()),
                _ if is_encoded(name, word) => self.obscure = true,
                _ if word.starts_with('+') => {}
                "--" | "-" => {
                    operand = rest.next();
                    break;
                }
                "-Command" | "--command" => is_command = true,
                _ if word.starts_with("--") => {}
                _ if word.starts_with('-') => is_command |= word.contains('c'),
                _ => {
                    operand = Some(word);
                    break;
                }
            }
        }
        let positional: Vec<String> = rest.map(str::to_owned).collect();
        match operand {
            Some(script) if is_command => {
                let script = script.to_owned();
                let arguments = positional.get(1..).map(<[String]>::to_vec);
                self.zero = positional.first().cloned();
                self.with_positional(arguments, |shell| shell.run_script(&script))
            }
            None => self.run_stdin(input),
            Some(file) => {
                match self.file(file).cloned() {
                    Some(text) => self.with_positional(Some(positional), |shell| shell.run_script(&text)),
                    // `sh -s` reads its input; its operands are arguments.
                    None => self.run_stdin(input),
                }
            }
        }
    }

    fn with_positional(
        &mut self,
        arguments: Option<Vec<String>>,
        body: impl FnOnce(&mut Self) -> String,
    ) -> String {
        let before = std::mem::replace(&mut self.positional, arguments);
        let output = body(self);
        self.positional = before;
        output
    }

    fn run_stdin(&mut self, input: &Input) -> String {
        let mut texts = self.stdin(input);
        if texts.is_empty() {
            texts.clone_from(&self.texts);
        }
        texts.iter().map(|text| self.run_script(text)).collect()
    }

    /// A file that the script wrote and runs: by the interpreter in its first line, or as a script.
    fn run_file(&mut self, text: &str, arguments: &[Field]) -> String {
        let interpreter = text.lines().next().and_then(|line| line.strip_prefix("#!"));
        let name = interpreter.and_then(|line| line.split(['/', ' ']).rfind(|word| !word.starts_with('-')));
        if let Some(name) = name.filter(|name| code::is_interpreter(name)) {
            return self.run_code(name, text);
        }
        let positional = arguments.iter().map(|field| field.text.clone()).collect();
        self.with_positional(Some(positional), |shell| shell.run_script(text))
    }

    /// A program that runs the program in its arguments.
    fn wrapped(&mut self, wrapper: &Wrapper, arguments: &[Field], input: &Input) -> String {
        if wrapper.name == "command"
            && arguments.first().is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V"))
        {
            return arguments.get(1).map_or_else(String::new, |word| word.text.clone() + "\n");
        }
        let mut output = String::new();
        let mut environment = Vec::new();
        if arguments.iter().any(|field| field.text == "-printf" || field.text == "-fprintf") {
            output.extend(arguments.iter().filter(|field| names_git(&field.text)).map(|_| SUSPECT));
        }
        if wrapper.name == "parallel" {
            // Without a program, the lines of its input are commands.
            output.push_str(&self.run_stdin(input));
        }
        let at = wrapper.skip(arguments, |text| environment.extend(self.assign_text(text)));
        for text in wrapper.scripts(arguments, at) {
            output.push_str(&self.run_script(&text));
        }
        for mut fields in wrapper.commands(arguments, at) {
            if wrapper.reads_arguments {
                let mut texts = self.stdin(input);
                let file = |field: &Field| {
                    let value = field.text.split_once('=').map_or(field.text.as_str(), |(_, value)| value);
                    self.file(value.trim_start_matches("-a")).cloned()
                };
                texts.extend(arguments.iter().filter_map(file));
                let given = if texts.is_empty() { vec![UNKNOWN.to_string()] } else { texts };
                // `-0` and `-d` name other separators: a line or the whole text may be one argument.
                let mut whole = fields.clone();
                let placeholder = wrappers::placeholder(arguments);
                let lines: Vec<Field> =
                    given.iter().map(|text| Field::new(text.trim_end_matches('\n'))).collect();
                wrappers::append(&mut whole, &lines, &placeholder);
                self.deeper(|shell| shell.invoke(&whole, input, &environment), suspect);
                let is_separator = |c: char| c.is_whitespace() || matches!(c, '\0' | ',' | ':' | ';' | '|');
                let words = given.iter().flat_map(|text| text.split(is_separator));
                let words: Vec<Field> = words.filter(|word| !word.is_empty()).map(Field::new).collect();
                wrappers::append(&mut fields, &words, &placeholder);
            }
            output.push_str(&self.deeper(|shell| shell.invoke(&fields, input, &environment), suspect));
        }
        output
    }

    fn interpret(&mut self, name: &str, arguments: &[Field], input: &Input) -> String {
        let (codes, reads_stdin) = code::arguments(name, arguments);
        let files: Vec<String> =
            arguments.iter().filter_map(|field| self.file(&field.text)).cloned().collect();
        let stdin = if reads_stdin && files.is_empty() { self.stdin(input) } else { Vec::new() };
        if matches!(name, "sed" | "gsed") && codes.iter().any(|code| code::evaluates(code)) {
            self.run_stdin(input);
        }
        for code in codes.iter().chain(&files).chain(&stdin) {
            self.run_code(name, code);
        }
        SUSPECT.to_string()
    }

    /// The commands that the code of an interpreter runs.
    fn run_code(&mut self, name: &str, text: &str) -> String {
        if !self.spend(text.len()) {
            return SUSPECT.to_string();
        }
        let code = code::read(name, text);
        self.obscure |= code.obscure;
        for script in &code.scripts {
            self.run_script(script);
        }
        for words in &code.commands {
            let fields: Vec<Field> = words.iter().map(Field::new).collect();
            self.deeper(|shell| shell.invoke(&fields, &Input::default(), &[]), suspect);
        }
        SUSPECT.to_string()
    }
}

/// Returns true for the option of PowerShell whose value is an encoded script.
fn is_encoded(shell: &str, option: &str) -> bool {
    let option = option.to_ascii_lowercase();
    matches!(shell, "pwsh" | "powershell") && option.len() > 1 && "-encodedcommand".starts_with(&option)
        || matches!(shell, "pwsh" | "powershell") && option == "-ec"
}

/// The descriptor of the first process substitution of a script.
pub(super) const PROCESS_FD: usize = 60;

/// Returns true for the paths of the standard input and of other descriptors that a script may open.
pub(super) fn is_stdin(path: &str) -> bool {
    let descriptor = ["/dev/fd/", "/proc/self/fd/"].iter().find_map(|dir| path.strip_prefix(dir));
    let is_inherited =
        descriptor.and_then(|number| number.parse::<usize>().ok()).is_some_and(|number| number < PROCESS_FD);
    matches!(path, "-" | "/dev/stdin") || is_inherited
}

/// Returns the output of `ls`: the files of a directory or of a pattern.
fn listed(arguments: &[String]) -> String {
    let paths = arguments.iter().filter(|text| !text.starts_with('-'));
    paths.map(|path| path.clone() + "\n").collect()
}

/// Returns the output of a call of git: a path in its directory, or an unknown text.
fn git_path(arguments: &[String]) -> String {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["rev-parse", "--git-path", path] => format!(".git/{path}\n"),
        ["rev-parse", .., "--git-dir" | "--absolute-git-dir" | "--git-common-dir"] => ".git\n".to_owned(),
        _ => SUSPECT.to_string(),
    }
}

fn echo(arguments: &[String]) -> String {
    let is_option = |word: &&String| matches!(word.as_str(), "-n" | "-e" | "-E" | "-ne" | "-en");
    let options = arguments.iter().take_while(is_option).count();
    let text = arguments[options..].join(" ");
    let escaped = arguments[..options].iter().any(|word| word.contains('e'));
    let end = if arguments[..options].iter().any(|word| word.contains('n')) { "" } else { "\n" };
    (if escaped { decode::escapes(&text) } else { text }) + end
}
