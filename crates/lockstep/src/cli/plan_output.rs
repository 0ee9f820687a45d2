//! A set-up's plan as it is shown: what was done, or what would be.

use std::path::Path;

use lockstep_text::single_line;
use serde::Serialize;

use super::CommandContext;
use crate::output_format::OutputFormat;
use crate::setup::{PLUGIN_DIR, SetupPlan};

/// A plan, carried out or not.
pub(crate) struct PlanOutput<'a> {
    pub(crate) root: &'a Path,
    pub(crate) plan: &'a SetupPlan,
    pub(crate) dry_run: bool,
}

#[derive(Serialize)]
struct PlanJson {
    root: String,
    dry_run: bool,
    files: Vec<PlannedFile>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct PlannedFile {
    path: String,
    action: &'static str,
}

impl PlanOutput<'_> {
    /// Prints the plan. `nothing` describes a plan without edits: "ROOT `nothing`".
    pub(crate) fn show(&self, context: &CommandContext, nothing: &str) {
        let data = self.data();
        let terminal = &context.terminal;
        if let Some(data) = context.format.render(&data) {
            return terminal.print(&data);
        }
        if data.files.is_empty() {
            terminal.say_line(&format!("{} {nothing}.", data.root));
        } else if self.dry_run {
            self.plan.edits.iter().for_each(|edit| terminal.print(&edit.diff(self.root)));
            terminal.print_note("Nothing was changed (--dry-run).\n");
        } else {
            lines(&data.files).iter().for_each(|line| terminal.print(line));
        }
        data.notes.iter().for_each(|note| terminal.print_note(&format!("note: {}\n", single_line(note))));
    }

    /// Prints the next step for the user.
    pub(crate) fn next(&self, context: &CommandContext, text: &str) {
        if context.format == OutputFormat::Text {
            context.terminal.print_note(&format!("{text}\n"));
        }
    }

    fn data(&self) -> PlanJson {
        let files = self.plan.edits.iter().map(|edit| PlannedFile {
            path: edit.path.strip_prefix(self.root).unwrap_or(&edit.path).display().to_string(),
            action: edit.action_name(),
        });
        PlanJson {
            root: self.root.display().to_string(),
            dry_run: self.dry_run,
            files: files.collect(),
            notes: self.plan.notes.clone(),
        }
    }
}

/// Lists the edits, one per line; the files of the plugin's copy are one edit.
fn lines(files: &[PlannedFile]) -> Vec<String> {
    let of_plugin = |file: &&PlannedFile| file.path.starts_with(PLUGIN_DIR);
    let mut lines: Vec<String> = files
        .iter()
        .filter(|file| !of_plugin(file))
        .map(|file| format!("{}d {}\n", file.action, single_line(&file.path)))
        .collect();
    for action in ["create", "change", "remove"] {
        let count = files.iter().filter(of_plugin).filter(|file| file.action == action).count();
        if count > 0 {
            lines
                .push(format!("{action}d {PLUGIN_DIR}: {count} file{}\n", if count == 1 { "" } else { "s" }));
        }
    }
    lines
}
