//! The command list of `lockstep --help`: the commands to start with first, the rest in named groups.

use std::fmt::Write as _;

use clap::Command;
use clap::builder::{StyledStr, Styles};

/// The groups in their order. A command that is in none of them is listed in the last one.
const GROUPS: &[(&str, &[&str])] = &[
    ("Start here", &["impact", "refs", "init"]),
    ("Agents", &["changes", "cache", "mcp", "hook"]),
    ("Map and cascade", &["map", "cascade"]),
    ("Workflow framework", &["task", "phase", "handoff", "scratch", "step", "prompt", "gate", "audit"]),
    ("Maintenance", &["doctor", "uninstall", "index", "config", "trust", "schema", "completions", "self"]),
];

/// The widest line of the command list.
const WIDTH: usize = 100;

/// Returns the visible commands by group, each group in its order.
pub(crate) fn grouped_commands(command: &Command) -> Vec<(&'static str, Vec<&Command>)> {
    let visible: Vec<&Command> = command
        .get_subcommands()
        .filter(|child| child.get_name() != "help" && !child.is_hide_set())
        .collect();
    let mut groups: Vec<(&str, Vec<&Command>)> = GROUPS
        .iter()
        .map(|(title, names)| {
            let listed = |name: &&str| visible.iter().copied().find(|child| child.get_name() == *name);
            (*title, names.iter().filter_map(listed).collect())
        })
        .collect();
    let is_grouped = |child: &&Command| GROUPS.iter().any(|(_, names)| names.contains(&child.get_name()));
    if let Some((_, last)) = groups.last_mut() {
        last.extend(visible.iter().copied().filter(|child| !is_grouped(child)));
    }
    groups
}

/// Replaces the flat command list in the help of `command` by the groups.
pub(crate) fn with_grouped_commands(command: Command) -> Command {
    let list = render(&command);
    let header = Styles::styled().get_header().to_owned();
    // The command itself has no options but the global ones.
    let options = format!("{header}Global options:{header:#}\n{{options}}");
    let template =
        format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{list}\n{options}{{after-help}}");
    command.help_template(StyledStr::from(template))
}

fn render(command: &Command) -> String {
    let styles = Styles::styled();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let groups = grouped_commands(command);
    let commands = groups.iter().flat_map(|(_, children)| children);
    let column = commands.map(|child| child.get_name().len()).max().unwrap_or(0);
    let mut out = String::new();
    for (title, children) in groups {
        let _ = writeln!(out, "\n{header}{title}:{header:#}");
        for child in children {
            let about = child.get_about().map(ToString::to_string).unwrap_or_default();
            let mut lines = wrap(&about, WIDTH - column - 4).into_iter();
            let first = lines.next().unwrap_or_default();
            let _ = writeln!(out, "  {literal}{:<column$}{literal:#}  {first}", child.get_name());
            lines.for_each(|line| {
                let _ = writeln!(out, "  {:column$}  {line}", "");
            });
        }
    }
    out
}

/// Breaks `text` between words into lines of at most `width` characters.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_visible_command_is_in_exactly_one_named_group() {
        let command = crate::cli::command();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let mut visible: Vec<&str> = command
            .get_subcommands()
            .filter(|child| child.get_name() != "help" && !child.is_hide_set())
            .map(Command::get_name)
            .collect();
        grouped.sort_unstable();
        visible.sort_unstable();
        assert_eq!(grouped, visible);
    }

    #[test]
    fn long_descriptions_continue_below_their_column() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("", 7), Vec::<String>::new());
    }
}
