//! Interprets a shell script without executing it, and finds every program in its text with the known
//! arguments.
//!
//! Both branches of a condition are run, a loop once, and an assignment adds a possible value. Work is
//! limited by a budget and nesting by a depth; a script beyond them is obscure.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::commit::matches;
use super::expand::{Field, SUSPECT, UNKNOWN};
use super::invoke::name_of;
use super::syntax::{self, Part, RESERVED, Simple, Word};

/// A program that a script runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Invocation {
    pub(super) program: Field,
    pub(super) arguments: Vec<Field>,
    /// The variables that are set only for this program.
    pub(super) environment: Vec<(String, String)>,
    /// The text that it may read from its standard input.
    pub(super) input: String,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Input {
    /// Here-documents and files.
    pub(super) documents: Vec<String>,
    /// The output of the program before it in a pipe.
    pub(super) pipe: Option<String>,
}

/// The nesting of scripts, functions and programs that run programs.
const MAX_DEPTH: usize = 24;

/// The most values that are kept of a variable, and the most combinations of values that are tried.
const MAX_VALUES: usize = 8;
const MAX_COMBINATIONS: usize = 64;

/// The price of a command, in characters of text.
const COMMAND_COST: usize = 64;

/// The longest script that is read. A system runs no command this long, and a client does not wait for its reading.
const MAX_TEXT: usize = 1 << 19;

/// The longest value that is kept.
const MAX_VALUE: usize = 1 << 16;

#[derive(Debug, Default)]
pub(super) struct Shell {
    /// The possible values of each variable; an array has several elements.
    variables: BTreeMap<String, Vec<Vec<String>>>,
    /// The value that each variable of several has in the combination that is tried.
    chosen: BTreeMap<String, usize>,
    pub(super) positional: Option<Vec<String>>,
    /// The value of `$0`, if it is given.
    pub(super) zero: Option<String>,
    functions: BTreeMap<String, Rc<[Simple]>>,
    pub(super) aliases: BTreeMap<String, String>,
    /// The texts that the script writes to files.
    pub(super) files: BTreeMap<String, String>,
    /// The scripts of process substitutions, by the paths of their files.
    pub(super) processes: BTreeMap<String, String>,
    /// Programs under other names.
    pub(super) links: BTreeMap<String, String>,
    /// The directory of git into which the script changes.
    pub(super) git_dir: Option<String>,
    /// The texts that any command of the script may read.
    pub(super) texts: Vec<String>,
    pub(super) found: Vec<Invocation>,
    /// True while the script is read as zsh reads it.
    pub(super) is_zsh: bool,
    /// True if the script runs something that is not followed.
    pub(super) obscure: bool,
    depth: usize,
    budget: usize,
}

impl Shell {
    pub(super) fn run(text: &str) -> Self {
        let mut shell = Self { budget: (1 << 20) + 16 * text.len(), ..Self::default() };
        if text.len() > MAX_TEXT {
            shell.obscure = true;
            return shell;
        }
        shell.variables.insert("IFS".to_owned(), vec![vec![" \t\n".to_owned()]]);
        let text = text.replace(SUSPECT, "\u{fffd}");
        shell.run_script(&text);
        if !shell.texts.is_empty() {
            // A loop reads the text that is named behind its end.
            shell.run_script(&text);
        }
        if text.contains("=(") {
            shell.is_zsh = true;
            shell.run_script(&text);
        }
        shell
    }

    /// Pays for work; false and obscure if the budget is used up.
    pub(super) fn spend(&mut self, work: usize) -> bool {
        let paid = self.budget.checked_sub(work + 1);
        self.obscure |= paid.is_none();
        self.budget = paid.unwrap_or(0);
        paid.is_some()
    }

    /// Runs a script inside this shell. Returns its output.
    pub(super) fn run_script(&mut self, text: &str) -> String {
        if text.chars().all(|c| c == UNKNOWN || c.is_whitespace()) {
            return UNKNOWN.to_string();
        }
        if self.depth >= MAX_DEPTH || !self.spend(text.len() + COMMAND_COST) {
            self.obscure = true;
            return SUSPECT.to_string();
        }
        self.depth += 1;
        let script = syntax::parse(text);
        self.obscure |= script.malformed && text.contains("git");
        let output = self.run_commands(&script.commands);
        self.depth -= 1;
        output
    }

    fn run_commands(&mut self, commands: &[Simple]) -> String {
        let (mut printed, mut pipe, mut at) = (String::new(), None, 0);
        while let Some(command) = commands.get(at) {
            at += 1;
            if let Some(name) = &command.defines {
                let inside = commands[at..].iter().take_while(|inner| inner.depth > command.depth).count();
                let end = (at + inside.max(1)).min(commands.len());
                self.define(name, &commands[at..end]);
                at = end;
                continue;
            }
            // A group's output is all that was printed in it.
            let ends_group = commands.len() > 1
                && command.words.first().is_none_or(|word| {
                    word.bare().is_some_and(|text| matches!(text, "done" | "fi" | "esac"))
                });
            let output = self.simple(command, pipe.as_deref());
            let output = if ends_group { printed.clone() } else { output };
            if command.pipes {
                pipe = Some(output);
            } else if !ends_group {
                printed.push_str(&output);
            }
            if !self.spend(printed.len() / 64) {
                break;
            }
        }
        printed
    }

    fn define(&mut self, name: &str, body: &[Simple]) {
        let body: Rc<[Simple]> = body.into();
        self.functions.insert(name.to_owned(), body.clone());
        self.call(&body, Vec::new());
    }

    fn call(&mut self, body: &[Simple], arguments: Vec<String>) -> String {
        if self.depth >= MAX_DEPTH || !self.spend(COMMAND_COST * body.len()) {
            self.obscure = true;
            return SUSPECT.to_string();
        }
        self.depth += 1;
        let before = self.positional.replace(arguments);
        let output = self.run_commands(body);
        self.positional = before;
        self.depth -= 1;
        output
    }

    /// Runs a function or an alias, if the program is one.
    pub(super) fn call_defined(&mut self, name: &str, arguments: &[Field]) -> Option<String> {
        if let Some(body) = self.functions.get(name).cloned() {
            return Some(self.call(&body, arguments.iter().map(|field| field.text.clone()).collect()));
        }
        let text = self.aliases.remove(name)?;
        let quoted: String =
            arguments.iter().map(|field| format!(" '{}'", field.text.replace('\'', "'\\''"))).collect();
        let output = self.run_script(&(text.clone() + &quoted));
        self.aliases.insert(name.to_owned(), text);
        Some(output)
    }

    /// Runs a command once for every combination of the values of its variables.
    fn simple(&mut self, command: &Simple, pipe: Option<&str>) -> String {
        let counts = self.counts(command);
        let combinations = counts.iter().map(|(_, count)| *count).product::<usize>();
        let mut output = String::new();
        for combination in 0..combinations.min(MAX_COMBINATIONS) {
            let mut rest = combination;
            let mut chosen = self.chosen.clone();
            for (name, count) in &counts {
                chosen.insert(name.clone(), rest % count);
                rest /= count;
            }
            let before = std::mem::replace(&mut self.chosen, chosen);
            output = self.simple_once(command, pipe);
            self.chosen = before;
            if !self.spend(COMMAND_COST) {
                break;
            }
        }
        self.obscure |= combinations > MAX_COMBINATIONS;
        output
    }

    /// The variables of a command that have several possible values, with their number.
    fn counts(&self, command: &Simple) -> Vec<(String, usize)> {
        let words = command.words.iter().chain(&command.documents);
        let mut counts: Vec<(String, usize)> = Vec::new();
        for part in words.flat_map(|word| &word.parts) {
            let (Part::Parameter { expression: text, .. } | Part::Array { words: text }) = part else {
                continue;
            };
            for name in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
                let count = self.variables.get(name).map_or(0, Vec::len);
                let is_new = !self.chosen.contains_key(name) && counts.iter().all(|(known, _)| known != name);
                if count > 1 && is_new {
                    counts.push((name.to_owned(), count));
                }
            }
        }
        counts
    }

    fn simple_once(&mut self, command: &Simple, pipe: Option<&str>) -> String {
        // `time` and `coproc` have options and names; they are followed as programs.
        let is_prefix = |text: &str| RESERVED.contains(&text) && !matches!(text, "time" | "coproc");
        let reserved = |word: &Word| word.bare().is_some_and(is_prefix);
        let start = command.words.iter().take_while(|word| reserved(word)).count();
        let words = &command.words[start..];
        let mut documents: Vec<String> = command.documents.iter().map(|word| self.value(word)).collect();
        for word in &command.reads {
            let name = self.value(word);
            documents.extend(self.file(&name).cloned());
        }
        self.texts.extend(documents.iter().filter(|text| !text.is_empty()).cloned());
        self.texts.truncate(2 * MAX_VALUES);
        let input = Input { documents, pipe: pipe.map(str::to_owned) };
        let output = match words.first().and_then(Word::bare) {
            // `$(<FILE)`
            None if words.is_empty() => input.documents.concat(),
            Some("for" | "select") => self.bind_loop(&words[1..]),
            Some("[[") => {
                let end = words.iter().position(|word| word.bare() == Some("]]")).unwrap_or(words.len());
                words[..end].iter().for_each(|word| drop(self.value(word)));
                // zsh runs a group in braces behind the condition.
                let is_mark = |word: &&Word| matches!(word.bare(), Some("]]" | "{"));
                let marks = words[end..].iter().take_while(is_mark).count();
                self.command(&words[end + marks..], &input)
            }
            Some("case" | "in" | "done" | "fi" | "esac") => {
                words.iter().for_each(|word| drop(self.value(word)));
                String::new()
            }
            _ => self.command(words, &input),
        };
        for word in &command.writes {
            let name = self.value(word);
            self.write(&name, &output);
        }
        output
    }

    /// Returns the text that the script wrote to a file. The path may be a pattern, or relative to another directory.
    pub(super) fn file(&self, path: &str) -> Option<&String> {
        let name = name_of(path);
        let is_named = |(known, _): &(&String, &String)| matches(name, name_of(known));
        self.files.get(path).or_else(|| self.files.iter().find(is_named).map(|(_, text)| text))
    }

    /// Adds text to a file. The file of a process substitution is the input of its script.
    pub(super) fn write(&mut self, path: &str, text: &str) {
        self.files.entry(path.to_owned()).or_default().push_str(text);
        if let Some(script) = self.processes.get(path).cloned().filter(|_| !text.is_empty()) {
            self.texts.push(text.to_owned());
            self.run_script(&script);
        }
    }

    /// `for NAME in WORDS`.
    fn bind_loop(&mut self, words: &[Word]) -> String {
        let Some((name, rest)) = words.split_first() else { return String::new() };
        let name = self.value(name);
        let values: Vec<Field> = rest.iter().skip(1).flat_map(|word| self.expand(word)).collect();
        if values.len() > MAX_VALUES {
            // The values are alike in their effect, or one of them mentions git.
            let suspect = values.iter().any(|field| field.text.contains("git") || field.text == "commit");
            self.assign(&name, vec![if suspect { SUSPECT } else { UNKNOWN }.to_string()]);
        } else {
            values.into_iter().for_each(|field| self.assign(&name, vec![field.text]));
        }
        String::new()
    }

    fn command(&mut self, words: &[Word], input: &Input) -> String {
        let is_assignment = |word: &&Word| match word.parts.first() {
            Some(Part::Text { text, quoted: false }) => syntax::is_assignment(text),
            _ => false,
        };
        let count = words.iter().take_while(is_assignment).count();
        // Before a program, an assignment is for that program only.
        let separators = self.variables.get("IFS").cloned();
        let environment: Vec<(String, String)> =
            words[..count].iter().filter_map(|word| self.assign_word(word)).collect();
        let mut fields = Vec::new();
        for word in &words[count..] {
            if word.parts.iter().any(|part| matches!(part, Part::Array { .. })) {
                self.assign_word(word);
            }
            fields.extend(self.expand(word));
            if !self.spend(fields.len()) {
                break;
            }
        }
        let output = self.invoke(&fields, input, &environment);
        if let Some(separators) = separators.filter(|_| !fields.is_empty()) {
            self.variables.insert("IFS".to_owned(), separators);
        }
        output
    }

    /// Executes the assignment `name=value` of a word.
    fn assign_word(&mut self, word: &Word) -> Option<(String, String)> {
        if let [Part::Text { text, .. }, Part::Array { words }] = word.parts.as_slice() {
            let elements = self.array(words);
            let (name, _) = text.split_once('=')?;
            match name.strip_suffix('+') {
                Some(name) => self.append(name, elements),
                None => self.assign(name, elements),
            }
            return None;
        }
        let value = self.value(word);
        self.assign_text(&value)
    }

    /// Makes the assignment of a text `name=value` or `name+=value`.
    pub(super) fn assign_text(&mut self, text: &str) -> Option<(String, String)> {
        let (name, value) = text.split_once('=').filter(|_| syntax::is_assignment(text))?;
        let (name, value) = match name.strip_suffix('+') {
            Some(name) => (name, self.lookup(name).join(" ").replace(UNKNOWN, "") + value),
            None => (name, value.to_owned()),
        };
        match name.split_once('[') {
            Some((array, index)) => self.assign_element(array, index.trim_end_matches(']'), value.clone()),
            None => self.assign(name, vec![value.clone()]),
        }
        let name = name.split('[').next().unwrap_or(name);
        Some((name.to_owned(), value))
    }

    /// Adds elements at the end of an array.
    fn append(&mut self, name: &str, elements: Vec<String>) {
        let mut value =
            self.variables.get(name).and_then(|values| values.last()).cloned().unwrap_or_default();
        value.extend(elements);
        self.assign(name, value);
    }

    /// Makes the assignment `array[index]=value`. The elements of an array with gaps or names are not followed.
    fn assign_element(&mut self, array: &str, index: &str, value: String) {
        let mut elements =
            self.variables.get(array).and_then(|values| values.last()).cloned().unwrap_or_default();
        match index.parse::<usize>() {
            Ok(at) if at == elements.len() => elements.push(value),
            Ok(at) if at < elements.len() => elements[at] = value,
            _ => {
                self.assign(array, vec![value]);
                elements = vec![SUSPECT.to_string()];
            }
        }
        self.assign(array, elements);
    }

    /// Adds a possible value of a variable.
    pub(super) fn assign(&mut self, name: &str, mut value: Vec<String>) {
        if value.iter().map(String::len).sum::<usize>() > MAX_VALUE {
            value = vec![SUSPECT.to_string()];
        }
        let values = self.variables.entry(name.to_owned()).or_default();
        if values.contains(&value) {
            return;
        }
        if values.len() >= MAX_VALUES {
            values.pop();
            values.push(vec![SUSPECT.to_string()]);
            return;
        }
        if name == "IFS" {
            values.clear();
        }
        values.push(value);
    }

    /// The possible values of all variables, with their names.
    pub(super) fn values(&self) -> impl Iterator<Item = (&str, &str)> {
        let texts = self
            .variables
            .iter()
            .flat_map(|(name, values)| values.iter().flatten().map(move |text| (name, text)));
        texts.map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// The value of a variable in the combination that is tried.
    pub(super) fn lookup(&self, name: &str) -> Vec<String> {
        match name {
            "@" | "*" => return self.positional.clone().unwrap_or_else(|| vec![UNKNOWN.to_string()]),
            "0" if self.zero.is_some() => return self.zero.iter().cloned().collect(),
            "0" | "SHELL" | "BASH" => return vec!["/bin/bash".to_owned()],
            _ => {}
        }
        if let Ok(number) = name.parse::<usize>() {
            let argument = self.positional.as_ref().map(|all| all.get(number.wrapping_sub(1)).cloned());
            return vec![argument.map_or_else(|| UNKNOWN.to_string(), Option::unwrap_or_default)];
        }
        let chosen = self.chosen.get(name).copied().unwrap_or(0);
        let value = self.variables.get(name).and_then(|values| values.get(chosen).or(values.first()));
        value.cloned().unwrap_or_else(|| {
            let mark = if name.to_ascii_lowercase().contains("git") { SUSPECT } else { UNKNOWN };
            vec![mark.to_string()]
        })
    }

    /// The characters at which an unquoted value is split.
    pub(super) fn separators(&self) -> Vec<char> {
        self.lookup("IFS").concat().chars().collect()
    }

    /// Runs `body` one level deeper. A script that is too deep is obscure, and the result is `otherwise`.
    pub(super) fn deeper<T>(
        &mut self,
        body: impl FnOnce(&mut Self) -> T,
        otherwise: impl FnOnce() -> T,
    ) -> T {
        if self.depth >= MAX_DEPTH {
            self.obscure = true;
            return otherwise();
        }
        self.depth += 1;
        let result = body(self);
        self.depth -= 1;
        result
    }
}

/// The output of something that is not followed.
pub(super) fn suspect() -> String {
    SUSPECT.to_string()
}
