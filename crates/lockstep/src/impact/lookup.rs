//! A look at references: who references something, what it references, what leads to nothing.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use lockstep_index::index::{Index, Phase, Progress};
use lockstep_refs::reference::Certainty;
use schemars::JsonSchema;
use serde::Serialize;

use super::gone::DanglingReferences;
use super::references::{Found, Sought};
use super::tree::Tree;
use crate::error::{CommandError, Kind};
use crate::reply::Reply;

/// Which way to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Direction {
    /// Who references it.
    #[default]
    In,
    /// What it references.
    Out,
    /// References to what no longer exists.
    Dangling,
}

/// Ends the building of an index when the time is over.
struct Deadline<'a> {
    progress: &'a dyn Progress,
    is_over: &'a (dyn Fn() -> bool + Sync),
}

impl Progress for Deadline<'_> {
    fn report(&self, phase: Phase, done: usize, all: usize) {
        self.progress.report(phase, done, all);
    }

    fn is_abandoned(&self) -> bool {
        (self.is_over)() || self.progress.is_abandoned()
    }
}

/// References that were found, and what the answer is worth.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(crate) struct References {
    /// What was asked for.
    pub(crate) sought: String,
    /// Where a symbol is defined, or the file itself.
    pub(crate) defined: Vec<String>,
    /// The places, by file.
    pub(crate) references: Vec<Found>,
    /// How many imports could not be resolved.
    pub(crate) unresolved: usize,
    /// Whether the files were looked at as they are now.
    pub(crate) fresh: bool,
    /// What the index was made of.
    pub(crate) revision: String,
    /// When the index was last changed.
    pub(crate) time: String,
    /// How many files could not be looked into.
    pub(crate) unseen_files: usize,
    /// Whether the time limit was reached before every file was checked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) truncated: bool,
    #[serde(skip)]
    direction: Direction,
}

impl References {
    /// Who references what is called `name` in the tree of `directory`, or what it references.
    pub(crate) fn of(
        directory: &Path,
        name: &str,
        direction: Direction,
        progress: &dyn Progress,
    ) -> Result<Self, CommandError> {
        let tree = Tree::of_command(directory)?;
        let (index, found) = tree.ask_index(
            progress,
            |_| true,
            |index| {
                let sought = tree.seek(index, directory, name);
                let found = match direction {
                    _ if sought.is_nothing() => return None,
                    Direction::Out => sought.outgoing(index, &tree.aliases()),
                    _ => sought.referrers(index),
                };
                Some((defined(&sought), found))
            },
        )?;
        let (defined, (references, unresolved)) = found.ok_or_else(|| unknown(name))?;
        let found =
            Self { sought: name.to_owned(), defined, references, unresolved, direction, ..Self::default() };
        Ok(found.by(index))
    }

    /// References to what no longer exists, as far as the time allows.
    pub(crate) fn dangling(
        directory: &Path,
        limit: Duration,
        progress: &dyn Progress,
    ) -> Result<Self, CommandError> {
        let started = Instant::now();
        let is_over = || started.elapsed() > limit || progress.is_abandoned();
        let tree = Tree::of_command(directory)?;
        let sought = "what no longer exists".to_owned();
        let empty = Self { sought, direction: Direction::Dangling, ..Self::default() };
        let index = match tree.open_index(&Deadline { progress, is_over: &|| started.elapsed() > limit }) {
            // The time was over before the index was there.
            Err(_) if started.elapsed() > limit => return Ok(Self { truncated: true, ..empty }),
            opened => opened?,
        };
        let DanglingReferences { found, truncated } = tree.dangling(&index, &is_over)?;
        Ok(Self { references: found, truncated, ..empty }.by(index))
    }

    /// With what the index says of itself, which is asked last.
    fn by(self, mut index: Index) -> Self {
        let basis = super::index::basis(&index);
        // The facts parsed for this answer are there for the next; that they could not be kept harms nobody.
        let _ = index.keep_parsed();
        let lockstep_refs::report::Basis { fresh, revision, time, unseen } = basis;
        Self { fresh, revision, time, unseen_files: unseen, ..self }
    }

    /// How much was found, and what could not be seen.
    pub(crate) fn summary(&self) -> String {
        let files: BTreeSet<_> = self.references.iter().map(|found| &found.file).collect();
        if self.truncated {
            return format!(
                "{} in {} so far; not everything was checked: the time limit was reached\n",
                count(self.references.len(), "reference"),
                count(files.len(), "file")
            ) + "hint: `lockstep index` builds the index once; `--time-limit SECONDS` allows more time\n";
        }
        let mut text = match (self.references.len(), self.direction) {
            (0, Direction::Dangling) if self.revision.starts_with("none+") => {
                "Nothing refers to what is known to be gone; without git, what once was is not known.\n"
                    .to_owned()
            }
            (0, Direction::Dangling) => "Nothing refers to what no longer exists.\n".to_owned(),
            (0, Direction::Out) => format!("{} references nothing in this tree.\n", self.sought),
            (0, Direction::In) => format!("Nothing references {}.\n", self.sought),
            (n, _) => format!("{} in {}\n", count(n, "reference"), count(files.len(), "file")),
        };
        if !self.defined.is_empty() {
            text.push_str(&format!("defined in {}\n", self.defined.join(", ")));
        }
        if self.unresolved > 0 {
            text.push_str(&format!("{} imports could not be resolved\n", self.unresolved));
        }
        if self.unseen_files > 0 {
            text.push_str(&format!("{} files could not be looked into\n", self.unseen_files));
        }
        if !self.fresh {
            text.push_str("the index is not up to date: files changed since are not reflected\n");
        }
        text
    }
}

impl Reply for References {
    fn text(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        let mut group = None;
        for found in &self.references {
            let key = (&found.file, found.kind);
            if group.replace(key) != Some(key) {
                lines.push(one_line(&format!("{} ({})", found.file, found.kind.word())));
            }
            let target = found.target.as_ref().map(|target| format!("  → {target}")).unwrap_or_default();
            let doubt = if found.certainty == Certainty::Resolved { "" } else { "  (perhaps)" };
            lines.push(one_line(&format!("  {}: {}{target}", found.line, found.text.trim())) + doubt);
        }
        // A line that names several things is shown once.
        lines.dedup();
        lines.iter().map(|line| format!("{line}\n")).collect::<String>() + &self.summary()
    }
}

fn unknown(name: &str) -> CommandError {
    CommandError::new(Kind::Usage, format!("nothing in this tree is called {name:?}"))
        .hint("give a path, a module (`crate::a`, `pkg.mod`, `./x`), a symbol that some file defines (`Type.method` for a member), or the name of a skill or agent")
}

fn defined(sought: &Sought) -> Vec<String> {
    sought.defined.iter().map(|(path, line)| format!("{path}:{line}")).collect()
}

fn count(n: usize, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

/// On one line, whatever its characters.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect()
}
