//! The reference pages that are made from the program itself: `docs/reference/cli.md` and `configuration.md`.

use std::fmt::Write as _;

use clap::builder::StyledStr;
use clap::{Arg, Command};

use crate::{cli, env_vars, exit_code};

/// `docs/reference/cli.md`.
pub fn cli_page() -> String {
    let mut out = String::from(
        "# Command line\n\n<!-- Made by `cargo xtask docs` from the program's own descriptions. -->\n",
    );
    let mut command = cli::command();
    command.build();
    section(&mut out, &command, 2);
    out.push_str("\n## Exit codes\n\n| code | meaning |\n|---|---|\n");
    for (code, meaning) in exit_code::ALL {
        let _ = writeln!(out, "| {code} | {meaning} |");
    }
    out.push_str("\n## Environment\n\n| variable | meaning |\n|---|---|\n");
    for var in env_vars::ALL {
        let _ = writeln!(out, "| `{}` |{} |", var.name, var.doc);
    }
    out
}

/// `docs/reference/configuration.md`.
pub fn configuration_page() -> String {
    lockstep_config::reference::reference_markdown()
}

fn section(out: &mut String, command: &Command, level: usize) {
    let name = command.get_bin_name().unwrap_or(command.get_name()).to_owned();
    let _ = writeln!(out, "\n{} `{name}`\n", "#".repeat(level));
    let about = command.get_long_about().or(command.get_about());
    let _ = writeln!(out, "{}", about.map(plain).unwrap_or_default());
    let usage = command.clone().render_usage();
    let _ = writeln!(out, "\n```text\n{}\n```", plain(&usage).trim());
    // The options of every command are described once, at the top.
    let arguments: Vec<&Arg> = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && (level == 2 || !arg.is_global_set()))
        .filter(|arg| !matches!(arg.get_id().as_str(), "help" | "version"))
        .collect();
    if !arguments.is_empty() {
        out.push('\n');
    }
    for arg in arguments {
        argument(out, arg);
    }
    if let Some(after) = command.get_after_help().map(plain) {
        let _ = match after.split_once('\n') {
            Some((title, examples)) => writeln!(out, "\n{title}\n\n```text\n{examples}\n```"),
            None => writeln!(out, "\n{after}"),
        };
    }
    for child in command.get_subcommands().filter(|child| child.get_name() != "help") {
        section(out, child, level + 1);
    }
}

fn argument(out: &mut String, arg: &Arg) {
    let help = arg.get_long_help().or(arg.get_help()).map(plain).unwrap_or_default();
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set() && arg.get_action().takes_values())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    let _ = write!(out, "- `{arg}`: {}", help.split_whitespace().collect::<Vec<_>>().join(" "));
    if !values.is_empty() {
        let _ = write!(out, " ({})", values.join(", "));
    }
    out.push('\n');
}

fn plain(text: &StyledStr) -> String {
    text.to_string()
}
