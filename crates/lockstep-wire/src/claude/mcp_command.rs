//! Commands in the input of a tool of an MCP server.
//!
//! Servers name their tools and fields as they like. Texts in fields that are named like commands count as commands, and all
//! texts if the name of the tool says that it runs something.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

const PREFIX: &str = "mcp__";

/// Parts of the names of tools that run their input.
const RUNNERS: &[&str] = &[
    "bash",
    "cli",
    "cmd",
    "command",
    "commands",
    "console",
    "eval",
    "evaluate",
    "exec",
    "execute",
    "interpreter",
    "node",
    "powershell",
    "process",
    "processes",
    "python",
    "repl",
    "run",
    "script",
    "sh",
    "shell",
    "spawn",
    "ssh",
    "terminal",
    "tmux",
];

/// Parts of the names of fields that hold commands.
const FIELDS: &[&str] = &[
    "arg",
    "args",
    "arguments",
    "argv",
    "bash",
    "cmd",
    "code",
    "command",
    "commands",
    "exec",
    "executable",
    "input",
    "line",
    "program",
    "script",
    "shell",
    "stdin",
];

/// The words of a name: `git_commit`, `runCommand` and `run-command` have two.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in name.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn has_word(name: &str, known: &[&str]) -> bool {
    words(name).iter().any(|word| known.contains(&word.as_str()))
        || known.contains(&name.to_lowercase().as_str())
}

/// Returns the command that a call of a tool may run; `None` if it has none.
pub(super) fn command(tool: &str, input: Option<&RawValue>) -> Option<String> {
    let name = tool
        .get(..PREFIX.len())
        .filter(|start| start.eq_ignore_ascii_case(PREFIX))
        .map(|_| &tool[PREFIX.len()..])?;
    let named = words(name);
    let commits = named.iter().any(|word| word == "git") && named.iter().any(|word| word == "commit");
    let texts: Vec<(String, String)> = input
        .and_then(|raw| serde_json::from_str::<Texts>(raw.get()).ok())
        .map_or_else(Vec::new, |texts| texts.0);
    let is_runner = has_word(name, RUNNERS);
    let chosen: Vec<&str> = texts
        .iter()
        .filter(|(field, _)| is_runner || has_word(field, FIELDS))
        .map(|(_, text)| text.as_str())
        .collect();
    let mut lines: Vec<String> = chosen.iter().map(|text| (*text).to_owned()).collect();
    if chosen.len() > 1 {
        // A program and its arguments in fields of their own.
        lines.push(chosen.join(" "));
    }
    lines.extend(commits.then(|| "git commit".to_owned()));
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Every text of a value with the name of its field. A repeated field keeps all its texts.
#[derive(Default)]
struct Texts(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Texts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Texts, E> {
        Ok(Texts(vec![(String::new(), text.to_owned())]))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Texts, E> {
        Ok(Texts::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Texts, E> {
        Ok(Texts::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Texts, E> {
        Ok(Texts::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Texts, E> {
        Ok(Texts::default())
    }

    fn visit_unit<E>(self) -> Result<Texts, E> {
        Ok(Texts::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Texts, A::Error> {
        let mut texts = Texts::default();
        while let Some(item) = items.next_element::<Texts>()? {
            texts.0.extend(item.0);
        }
        // A list of words is one command.
        let words: Vec<String> = texts.0.iter().map(|(_, text)| text.clone()).collect();
        if words.len() > 1 && texts.0.iter().all(|(field, _)| field.is_empty()) {
            texts.0.push((String::new(), super::event::joined(&words)));
        }
        Ok(texts)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Texts, A::Error> {
        let mut texts = Texts::default();
        while let Some((name, value)) = fields.next_entry::<String, Texts>()? {
            let named = |(inner, text): (String, String)| (format!("{name} {inner}"), text);
            texts.0.extend(value.0.into_iter().map(named));
        }
        Ok(texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tool: &str, input: &str) -> Option<String> {
        let raw: Box<RawValue> = serde_json::from_str(input).unwrap();
        command(tool, Some(&raw))
    }

    #[test]
    fn the_command_of_a_server_is_found_in_any_field() {
        for (tool, input) in [
            ("mcp__shell__run", r#"{"command": "git commit"}"#),
            ("mcp__shell__run", r#"{"text": "git commit"}"#),
            ("MCP__x__y", r#"{"cmd": "git commit"}"#),
            ("mcp__x__y", r#"{"program": "git", "args": ["commit", "-m", "x"]}"#),
            ("mcp__x__y", r#"{"options": {"shellCommand": "git commit"}}"#),
            ("mcp__x__y", r#"{"command": ["git", "commit"]}"#),
            ("mcp__x__y", r#"{"command": ["sh", "-c", "git commit"]}"#),
            ("mcp__x__y", r#"{"commands": [{"name": "a", "line": "git commit"}]}"#),
            ("mcp__x__y", r#"{"command": "git commit", "command": "ls"}"#),
            ("mcp__desktop-commander__start_process", r#"{"what": "git commit"}"#),
            ("mcp__git__git_commit", r#"{"message": "x"}"#),
            ("mcp__git__commit", "null"),
        ] {
            let command = of(tool, input).unwrap_or_default();
            assert!(command.contains("git commit"), "{tool} {input}: {command}");
        }
    }

    #[test]
    fn other_tools_have_no_command() {
        for (tool, input) in [
            ("Bash", r#"{"command": "git commit"}"#),
            ("mcp__github__create_issue", r#"{"title": "git commit", "body": "run git commit"}"#),
            ("mcp__lockstep__impact", r#"{"path": "a.rs"}"#),
            ("mcp__git__git_log", r#"{"repo_path": "."}"#),
        ] {
            assert_eq!(of(tool, input), None, "{tool} {input}");
        }
    }
}
