//! Commands and written files in the input of a tool of an MCP server.
//!
//! Servers name their tools and fields as they like. Texts in fields that are named like commands count as commands, and all
//! texts if the name of the tool says that it runs something. Texts in fields that are named like paths count as written
//! files if the name of the tool says that it writes.

use std::fmt;
use std::path::PathBuf;

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

/// Parts of the names of tools that write files.
const WRITERS: &[&str] = &[
    "append",
    "apply",
    "copy",
    "create",
    "delete",
    "edit",
    "format",
    "insert",
    "link",
    "make",
    "mkdir",
    "modify",
    "move",
    "new",
    "overwrite",
    "patch",
    "put",
    "refactor",
    "remove",
    "rename",
    "replace",
    "save",
    "set",
    "symlink",
    "touch",
    "truncate",
    "update",
    "write",
];

/// Parts of the names of fields that hold paths.
const PATHS: &[&str] = &["destination", "file", "filename", "filepath", "files", "path", "paths", "uri"];

/// Parts of the names of tools of git's servers that make commits or move branches, with the verbs of git.
const VERBS: &[&str] = &["am", "cherry", "commit", "merge", "pull", "rebase", "revert"];

/// Parts of the names of tools that only read.
const READERS: &[&str] = &[
    "compare", "describe", "diff", "find", "get", "history", "info", "list", "log", "read", "search", "show",
    "view",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct McpUse {
    /// The command that the call may run.
    pub(super) command: Option<String>,
    /// The files that the call may write.
    pub(super) writes: Vec<PathBuf>,
}

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

/// Returns the use of a tool; `None` for a tool of the client.
pub(super) fn read(tool: &str, input: Option<&RawValue>) -> Option<McpUse> {
    let name = tool
        .get(..PREFIX.len())
        .filter(|start| start.eq_ignore_ascii_case(PREFIX))
        .map(|_| &tool[PREFIX.len()..])?;
    let texts: Vec<(String, String)> = input
        .and_then(|raw| serde_json::from_str::<Texts>(raw.get()).ok())
        .map_or_else(Vec::new, |texts| texts.0);
    let path = |text: &String| PathBuf::from(text.strip_prefix("file://").unwrap_or(text));
    // Elsewhere, a source is a text.
    let moves = has_word(name, &["copy", "link", "move", "rename"]);
    let is_path = |(field, text): &&(String, String)| {
        !text.contains('\n') && (has_word(field, PATHS) || (moves && has_word(field, &["source", "target"])))
    };
    let writes = match has_word(name, WRITERS) {
        true => texts.iter().filter(is_path).map(|(_, text)| path(text)).collect(),
        false => Vec::new(),
    };
    Some(McpUse { command: command(name, &texts), writes })
}

/// Returns the command that a call may run; `None` if it has none.
fn command(name: &str, texts: &[(String, String)]) -> Option<String> {
    let named = words(name);
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
    let verb = VERBS.iter().find(|verb| named.iter().any(|word| word == *verb));
    let reads = named.iter().any(|word| READERS.contains(&word.as_str()));
    if named.iter().any(|word| word == "git") {
        // The arguments of git in fields of their own.
        lines.extend((!chosen.is_empty()).then(|| format!("git {}", chosen.join(" "))));
        lines.extend(
            verb.filter(|_| !reads).map(|verb| format!("git {}", verb.replace("cherry", "cherry-pick"))),
        );
    } else if verb == Some(&"commit") && !reads {
        // Another program for versions, perhaps with git's repository.
        lines.push("vcs commit".to_owned());
    }
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
        read(tool, Some(&raw)).and_then(|found| found.command)
    }

    fn writes(tool: &str, input: &str) -> Vec<PathBuf> {
        let raw: Box<RawValue> = serde_json::from_str(input).unwrap();
        read(tool, Some(&raw)).map_or_else(Vec::new, |found| found.writes)
    }

    #[test]
    fn the_files_that_a_server_writes_are_found_in_any_field() {
        for (tool, input) in [
            ("mcp__filesystem__write_file", r#"{"path": "a.rs", "content": "x"}"#),
            ("mcp__serena__create_text_file", r#"{"relative_path": "a.rs", "content": "x"}"#),
            ("mcp__jetbrains__replaceFileText", r#"{"pathInProject": "a.rs", "text": "x"}"#),
            ("mcp__x__delete_files", r#"{"paths": ["a.rs"]}"#),
            ("mcp__x__edit", r#"{"edits": [{"uri": "file://a.rs"}]}"#),
        ] {
            assert!(writes(tool, input).contains(&PathBuf::from("a.rs")), "{tool} {input}");
        }
        let edited = writes("mcp__x__edit_cell", r#"{"path": "a.ipynb", "new_source": "x", "file": "a\nb"}"#);
        assert_eq!(edited, ["a.ipynb"].map(PathBuf::from));
        let moved = writes("mcp__filesystem__move_file", r#"{"source": "a", "destination": "b"}"#);
        assert_eq!(moved, ["a", "b"].map(PathBuf::from));
        assert_eq!(writes("mcp__filesystem__read_file", r#"{"path": "a.rs"}"#), [""; 0].map(PathBuf::from));
        assert_eq!(writes("Write", r#"{"path": "a.rs"}"#), [""; 0].map(PathBuf::from));
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
            ("mcp__git__run", r#"{"subcommand": "commit"}"#),
            ("mcp__git__git", r#"{"args": ["commit", "-m", "x"]}"#),
        ] {
            let command = of(tool, input).unwrap_or_default();
            assert!(command.contains("git commit"), "{tool} {input}: {command}");
        }
    }

    #[test]
    fn a_tool_that_moves_a_branch_counts_as_its_verb() {
        for (tool, verb) in [
            ("mcp__git__git_merge", "git merge"),
            ("mcp__git__git_cherry_pick", "git cherry-pick"),
            ("mcp__gitserver__create_commit", "vcs commit"),
            ("mcp__vcs__commit", "vcs commit"),
        ] {
            assert_eq!(of(tool, "{}").as_deref(), Some(verb), "{tool}");
        }
    }

    #[test]
    fn other_tools_have_no_command() {
        for (tool, input) in [
            ("Bash", r#"{"command": "git commit"}"#),
            ("mcp__github__create_issue", r#"{"title": "git commit", "body": "run git commit"}"#),
            ("mcp__lockstep__impact", r#"{"path": "a.rs"}"#),
            ("mcp__git__git_log", r#"{"repo_path": "."}"#),
            ("mcp__git__get_merge_base", "{}"),
            ("mcp__github__list_commits", r#"{"sha": "main"}"#),
            ("mcp__github__get_commit", r#"{"sha": "main"}"#),
        ] {
            assert_eq!(of(tool, input), None, "{tool} {input}");
        }
    }
}
