//! The generated reference pages: `docs/reference/cli.md`, `configuration.md` and `mcp.md`.
//!
//! `cargo xtask docs` writes them. Their content comes from the doc comments of the commands, exit codes,
//! environment variables and keys. Only the layout is decided here.

use std::fmt::Write as _;

use clap::builder::{PossibleValue, StyledStr};
use clap::{Arg, Command};

use crate::{cli, env_vars, exit_code};

const MADE: &str = "<!-- Made by `cargo xtask docs` from the program itself: change it there. -->";

/// The section about errors in formats for programs.
const ERRORS: &str = "
## Errors

An error is printed to standard error: `error:` names what failed, `hint:` what to do. With `--format json` or `yaml`, standard \
output also has it as data, so that a program can parse every answer: \
`{\"error\": {\"message\", \"details\", \"because\", \"hints\", \"exit_code\"}}`. Commands that print a document (`completions`, `config \
template`, `handoff new`, `prompt render`) print `{\"content\"}`, and commands that print one sentence `{\"message\"}`.
";

/// `docs/reference/cli.md`.
pub fn cli_page() -> String {
    let mut command = cli::command();
    command.build();
    let mut out = format!("# Command line\n\n{MADE}\n\n{}\n", about(&command));
    if let Some(after) = command.get_after_help().map(plain) {
        after_help(&mut out, &after);
    }
    for (title, commands) in cli::grouped_commands(&command) {
        let _ = writeln!(out, "\n### {title}\n\n| command | |\n|---|---|");
        commands.into_iter().for_each(|verb| contents(&mut out, verb));
    }
    out.push_str("\n## Options of every command\n\n");
    arguments(&mut out, &command, true);
    for verb in verbs(&command) {
        section(&mut out, verb, 2);
    }
    out.push_str(ERRORS);
    out.push_str("\n## Exit codes\n\n| code | meaning |\n|---|---|\n");
    for (code, meaning) in exit_code::ALL {
        let _ = writeln!(out, "| {code} | {} |", cell(meaning));
    }
    out.push_str("\n## Environment\n\n| variable | meaning |\n|---|---|\n");
    for var in env_vars::ALL {
        let _ = writeln!(out, "| `{}` | {} |", var.name, cell(var.doc));
    }
    out
}

/// `docs/reference/configuration.md`.
pub fn configuration_page() -> String {
    let page = lockstep_config::reference::reference_markdown();
    // Below the title, as on the other page.
    page.replacen("\n\n", &format!("\n\n{MADE}\n\n"), 1)
}

/// `docs/reference/mcp.md`.
pub fn mcp_page() -> String {
    format!("# MCP server\n\n{MADE}\n\n{}", crate::mcp::reference_page::page())
}

fn verbs(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|child| child.get_name() != "help" && !child.is_hide_set())
}

fn name(command: &Command) -> &str {
    command.get_bin_name().unwrap_or(command.get_name())
}

/// Writes a row for a command, or for each of its subcommands if it only groups them.
fn contents(out: &mut String, command: &Command) {
    let children: Vec<_> = verbs(command).collect();
    if children.is_empty() {
        let summary = command.get_about().map(plain).unwrap_or_default();
        let (name, anchor) = (name(command), name(command).replace(' ', "-"));
        let _ = writeln!(out, "| [`{name}`](#{anchor}) | {} |", cell(&summary));
    }
    children.into_iter().for_each(|child| contents(out, child));
}

fn section(out: &mut String, command: &Command, level: usize) {
    let _ = writeln!(out, "\n{} `{}`\n\n{}", "#".repeat(level), name(command), about(command));
    let usage = plain(&command.clone().render_usage());
    let _ = writeln!(out, "\n```text\n{}\n```", usage.trim_start_matches("Usage: ").trim());
    let mut list = String::new();
    arguments(&mut list, command, false);
    if !list.is_empty() {
        let _ = write!(out, "\n{list}");
    }
    if let Some(after) = command.get_after_help().map(plain) {
        after_help(out, &after);
    }
    for child in verbs(command) {
        section(out, child, level + 1);
    }
}

/// The first line of a help text is a title without a full stop; on a page it is a sentence.
fn about(command: &Command) -> String {
    let about = command.get_long_about().or(command.get_about()).map(plain).unwrap_or_default();
    match about.split_once("\n\n") {
        Some((title, rest)) => format!("{}\n\n{rest}", sentence(title)),
        None => sentence(&about),
    }
}

fn sentence(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() || text.ends_with(['.', ':', '?']) { text } else { format!("{text}.") }
}

/// Examples are commands to copy: a block of their own, without the indentation they have in a terminal.
fn after_help(out: &mut String, text: &str) {
    let Some((title, examples)) = text.split_once('\n') else {
        let _ = writeln!(out, "\n{text}");
        return;
    };
    let lines: Vec<&str> = examples.lines().map(|line| line.strip_prefix("  ").unwrap_or(line)).collect();
    let _ = writeln!(out, "\n{title}\n\n```text\n{}\n```", lines.join("\n"));
}

/// The options of every command are described once; a command's own section has only its own.
fn arguments(out: &mut String, command: &Command, of_every_command: bool) {
    command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && arg.is_global_set() == of_every_command)
        .filter(|arg| !matches!(arg.get_id().as_str(), "help" | "version"))
        .for_each(|arg| argument(out, arg));
}

fn argument(out: &mut String, arg: &Arg) {
    let help = arg.get_long_help().or(arg.get_help()).map(plain).unwrap_or_default();
    let sentences: Vec<String> = help.split("\n\n").map(sentence).collect();
    let _ = write!(out, "- {}: {}", spelling(arg), sentences.join(" "));
    if !arg.get_action().takes_values() {
        out.push('\n');
        return;
    }
    let default = arg.get_default_values().first().map(|value| value.to_string_lossy().into_owned());
    if let Some(default) = &default {
        let _ = write!(out, " Default: `{default}`.");
    }
    out.push('\n');
    for value in arg.get_possible_values().iter().filter(|value| !value.is_hide_set()) {
        possible_value(out, value);
    }
}

fn possible_value(out: &mut String, value: &PossibleValue) {
    let _ = match value.get_help().map(plain) {
        Some(help) => writeln!(out, "  - `{}`: {}", value.get_name(), sentence(&help)),
        None => writeln!(out, "  - `{}`", value.get_name()),
    };
}

/// `-q`, `--quiet`; clap's own form of an argument leaves the short name out where there is a long one.
fn spelling(arg: &Arg) -> String {
    match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(_)) => format!("`-{short}`, `{arg}`"),
        _ => format!("`{arg}`"),
    }
}

/// Text that cannot break a table's row.
fn cell(text: &str) -> String {
    text.trim().replace('|', "\\|").replace('\n', " ")
}

fn plain(text: &StyledStr) -> String {
    text.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_row_that_links_to_its_section() {
        fn check(page: &str, command: &Command) {
            let children: Vec<_> = verbs(command).collect();
            assert!(page.contains(&format!("# `{}`\n", name(command))), "{}", name(command));
            if children.is_empty() {
                let link = format!("| [`{}`](#{})", name(command), name(command).replace(' ', "-"));
                assert!(page.contains(&link), "{link}");
            }
            children.into_iter().for_each(|child| check(page, child));
        }
        let (mut command, page) = (cli::command(), cli_page());
        command.build();
        verbs(&command).for_each(|verb| check(&page, verb));
    }

    #[test]
    fn the_paragraphs_of_an_option_are_separate_sentences() {
        let page = cli_page();
        assert!(
            page.contains("which Claude Code loads. Lockstep's entries"),
            "no full stop between title and rest"
        );
    }

    #[test]
    fn titles_become_sentences_and_cells_stay_whole() {
        assert_eq!(sentence("Look at\n  it"), "Look at it.");
        assert_eq!(sentence("Looks. It does."), "Looks. It does.");
        assert_eq!(cell(" a|b\nc "), "a\\|b c");
    }

    #[test]
    fn all_pages_say_where_they_come_from_below_their_title() {
        for page in [cli_page(), configuration_page(), mcp_page()] {
            let mut lines = page.lines().filter(|line| !line.is_empty());
            assert!(lines.next().is_some_and(|title| title.starts_with("# ")));
            assert_eq!(lines.next(), Some(MADE));
        }
    }
}
