//! A set-up's plan as it is shown: what was done, or what would be.

use std::path::Path;

use lockstep_text::single_line;
use serde::Serialize;

use super::Context;
use crate::document::Format;
use crate::setup::{PLUGIN_DIR, Plan};

/// A plan, carried out or not.
pub(crate) struct Planned<'a> {
    pub(crate) root: &'a Path,
    pub(crate) plan: &'a Plan,
    pub(crate) dry_run: bool,
}

#[derive(Serialize)]
struct Data {
    root: String,
    dry_run: bool,
    files: Vec<File>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct File {
    path: String,
    action: &'static str,
}

impl Planned<'_> {
    /// Prints the plan. `nothing` describes a plan without edits: "ROOT `nothing`".
    pub(crate) fn show(&self, context: &Context, nothing: &str) {
        let data = self.data();
        let terminal = &context.terminal;
        if let Some(data) = context.format.render(&data) {
            return terminal.say(&data);
        }
        if data.files.is_empty() {
            terminal.say_line(&format!("{} {nothing}.", data.root));
        } else if self.dry_run {
            self.plan.edits.iter().for_each(|edit| terminal.say(&edit.diff(self.root)));
            terminal.note("Nothing was changed (--dry-run).\n");
        } else {
            lines(&data.files).iter().for_each(|line| terminal.say(line));
        }
        data.notes.iter().for_each(|note| terminal.note(&format!("note: {}\n", single_line(note))));
    }

    /// Prints the next step for the user.
    pub(crate) fn next(&self, context: &Context, text: &str) {
        if context.format == Format::Text {
            context.terminal.note(&format!("{text}\n"));
        }
    }

    fn data(&self) -> Data {
        let files = self.plan.edits.iter().map(|edit| File {
            path: edit.path.strip_prefix(self.root).unwrap_or(&edit.path).display().to_string(),
            action: edit.verb(),
        });
        Data {
            root: self.root.display().to_string(),
            dry_run: self.dry_run,
            files: files.collect(),
            notes: self.plan.notes.clone(),
        }
    }
}

/// Lists the edits, one per line; the files of the plugin's copy are one edit.
fn lines(files: &[File]) -> Vec<String> {
    let of_plugin = |file: &&File| file.path.starts_with(PLUGIN_DIR);
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
