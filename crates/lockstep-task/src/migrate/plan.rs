//! The plan of a migration: a row per section, and whether it can be carried out.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::Serialize;

use super::disposition::{Disposition, Replacement, disposition_for};
use super::extract;
use crate::document::TaskDocument;
use crate::handoff::{HANDOFF, l2};
use crate::key_path::KeyPath;
use crate::markdown::{Heading, outline};
use crate::pointer::PointerResolver;
use crate::problem::DocumentProblem;
use crate::scratch::Scratch;
use crate::value::{Value, ValueExt};

pub struct MigrationInput<'a> {
    /// The old context file.
    pub text: &'a str,
    pub document: &'a TaskDocument,
    /// The session's scratch as it is.
    pub scratch: &'a Scratch,
    /// Requested fates by title. They override the table.
    pub stated: &'a BTreeMap<String, Disposition>,
    pub lookup: &'a PointerResolver<'a>,
    /// The content of a file of the project, or why it cannot be read.
    pub content: &'a dyn Fn(&Path) -> Result<Vec<u8>, String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SectionPlan {
    pub section: String,
    pub line: usize,
    /// The treatment; `None` if it is undecided.
    pub fate: Option<Disposition>,
    /// The reasons why it cannot be done; empty if it can.
    pub problems: Vec<DocumentProblem>,
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MigrationPlan {
    pub rows: Vec<SectionPlan>,
    /// The task's content afterwards.
    #[serde(skip)]
    document: TaskDocument,
    #[serde(skip)]
    scratch: Scratch,
}

#[derive(Debug, Clone, PartialEq)]
pub struct MigrationResult {
    pub document: TaskDocument,
    pub scratch: Scratch,
}

impl MigrationPlan {
    /// Returns true if every section has a fate that can be executed.
    pub fn is_possible(&self) -> bool {
        self.rows.iter().all(|row| row.problems.is_empty())
    }

    /// Executes the plan, or returns the obstacles.
    pub fn apply(self) -> Result<MigrationResult, Vec<DocumentProblem>> {
        let problems: Vec<_> = self.rows.iter().flat_map(|row| row.problems.clone()).collect();
        if problems.is_empty() {
            Ok(MigrationResult { document: self.document, scratch: self.scratch })
        } else {
            Err(problems)
        }
    }
}

/// Plans a migration. Nothing of the old file is left without a row.
pub fn plan(migrating: &MigrationInput<'_>) -> MigrationPlan {
    let mut plan = MigrationPlan {
        rows: Vec::new(),
        document: migrating.document.clone(),
        scratch: migrating.scratch.clone(),
    };
    let (front, body) = front_matter(migrating.text);
    let offset = migrating.text.lines().count() - body.lines().count();
    version_marker(front, &mut plan);
    let sections: Vec<_> = outline(body, offset).into_iter().filter(|h| h.level == 2).collect();
    if let Some(row) = preamble(body, offset, &sections, migrating) {
        plan.rows.push(row);
    }
    for section in &sections {
        let row = plan_section(section, migrating, &mut plan);
        plan.rows.push(row);
    }
    plan
}

fn front_matter(text: &str) -> (&str, &str) {
    let split = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    split.unwrap_or(("", text))
}

/// `version: GC-v3` or `gc_version: 3` becomes the marker in scratch. Other keys only described the file.
fn version_marker(front: &str, plan: &mut MigrationPlan) {
    if front.is_empty() {
        return;
    }
    let (mut marker, mut left) = (None, Vec::new());
    for (key, value) in front.lines().filter_map(|line| line.split_once(':')) {
        let digits: String = value.chars().filter(char::is_ascii_digit).collect();
        match (key.trim(), digits.parse::<i64>()) {
            ("version" | "gc_version", Ok(n)) => marker = Some(n),
            (other, _) => left.push(other.to_owned()),
        }
    }
    let mut notes = Vec::new();
    match marker.map(|n| (n, plan.scratch.with(&KeyPath::section("gc_version"), n.into()))) {
        Some((n, Ok(scratch))) => {
            plan.scratch = scratch;
            notes.push(format!("gc_version: {n}"));
        }
        _ => notes.push("it names no version".to_owned()),
    }
    if !left.is_empty() {
        notes.push(format!("not taken over: {}", left.join(", ")));
    }
    let section = "(front matter)".to_owned();
    plan.rows.push(SectionPlan {
        section,
        line: 1,
        fate: Some(Disposition::Keep),
        problems: Vec::new(),
        notes,
    });
}

/// Handles text before the first section, which has no title, so that the table cannot contain it.
fn preamble(
    body: &str,
    offset: usize,
    sections: &[Heading],
    migrating: &MigrationInput<'_>,
) -> Option<SectionPlan> {
    let until = sections.first().map_or(body.lines().count(), |h| h.line - 1 - offset);
    let text: Vec<_> =
        body.lines().take(until).filter(|line| !line.trim().is_empty() && !line.starts_with("# ")).collect();
    if text.is_empty() {
        return None;
    }
    let title = "(before the first section)";
    let stated = migrating.stated.get(title).copied();
    let problems = if stated == Some(Disposition::Discard) { Vec::new() } else { vec![no_fate(title)] };
    Some(SectionPlan {
        section: title.to_owned(),
        line: offset + 1,
        fate: stated,
        problems,
        notes: vec![format!("{} lines", text.len())],
    })
}

fn no_fate(title: &str) -> DocumentProblem {
    let fix = "move what is needed to the task or an L2 file, and state its fate as discard";
    DocumentProblem::of(title, "the fate table does not know it", fix)
}

fn plan_section(section: &Heading, migrating: &MigrationInput<'_>, plan: &mut MigrationPlan) -> SectionPlan {
    let title = section.title.clone();
    let fate = migrating.stated.get(&title).copied().or_else(|| disposition_for(&title));
    let mut row =
        SectionPlan { section: title, line: section.line, fate, problems: Vec::new(), notes: Vec::new() };
    let result = match fate {
        None => Err(vec![no_fate(&row.section)]),
        Some(Disposition::Discard) => Ok("discarded as stated".to_owned()),
        Some(_) if section.is_blank() && section.children().is_empty() => Ok("it is empty".to_owned()),
        Some(Disposition::Keep) => keep(section, plan),
        Some(Disposition::IntoConstraints) => extract::constraints(section, &mut plan.document),
        Some(Disposition::IntoInterfaces) => extract::interfaces(section, &mut plan.document),
        Some(Disposition::Drop { replacement }) => replaced(replacement, section, migrating),
    };
    match result {
        Ok(note) => row.notes.push(note),
        Err(problems) => row.problems = problems,
    }
    row
}

fn keep(section: &Heading, plan: &mut MigrationPlan) -> Result<String, Vec<DocumentProblem>> {
    let place = KeyPath::section("gate_summaries").child(&section.title);
    plan.scratch =
        plan.scratch.with(&place, section.body.trim().into()).map_err(|findings| findings.problems)?;
    Ok(format!("as {place}"))
}

/// Checks that the replacement of the section exists.
fn replaced(
    replacement: Replacement,
    section: &Heading,
    migrating: &MigrationInput<'_>,
) -> Result<String, Vec<DocumentProblem>> {
    let missing = |why: String| {
        let fix = format!("put what is needed into {replacement} first; nothing is dropped until then");
        vec![DocumentProblem::of(&section.title, why, fix)]
    };
    match replacement {
        Replacement::Task(name, field) => {
            let value = migrating.document.section(name);
            let value = field.map_or(value, |field| value.and_then(|v| v.get(field)));
            match value.filter(|value| !value.is_blank()) {
                None => Err(missing(format!("{replacement} is not there"))),
                Some(value) => Ok(item_count_note(section, value)),
            }
        }
        Replacement::L2(phase) | Replacement::Handoff(phase) => {
            let pointer = migrating.document.text(&["phase_status", phase.name(), "l2_path"]);
            let pointer =
                pointer.ok_or_else(|| missing(format!("the task has no phase_status.{phase}.l2_path")))?;
            let path = migrating.lookup.resolve(pointer).map_err(|fault| missing(fault.describe(pointer)))?;
            if replacement == Replacement::Handoff(phase) {
                let bytes = (migrating.content)(&path).map_err(missing)?;
                has_handoff(&path, &bytes, migrating.lookup).map_err(missing)?;
            }
            Ok(format!("{} holds it", path.display()))
        }
        Replacement::L3(name) => {
            let pointer = migrating.document.text(&[name, "l3_path"]);
            let pointer = pointer.ok_or_else(|| missing(format!("the task has no {name}.l3_path")))?;
            let path = migrating.lookup.resolve(pointer).map_err(|fault| missing(fault.describe(pointer)))?;
            Ok(format!("{} holds it", path.display()))
        }
    }
}

fn has_handoff(path: &Path, bytes: &[u8], lookup: &PointerResolver<'_>) -> Result<(), String> {
    let report = l2::check(path, bytes, lookup);
    if report.handoff.text.is_empty() {
        return Err(format!("{} has no {HANDOFF:?}", path.display()));
    }
    Ok(())
}

/// Compares the number of items in the old section and its replacement.
fn item_count_note(section: &Heading, value: &Value) -> String {
    let old = extract::section_items(section).len();
    match value.as_list().map(<[_]>::len) {
        Some(new) => format!("{old} items here, {new} in the task"),
        None => "the task holds it".to_owned(),
    }
}

impl fmt::Display for MigrationPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.rows {
            let fate = row.fate.map_or("no fate".to_owned(), |fate| fate.to_string());
            writeln!(f, "{:>4}  {}: {fate}", row.line, row.section)?;
            row.notes.iter().try_for_each(|note| writeln!(f, "      {note}"))?;
            row.problems
                .iter()
                .try_for_each(|problem| writeln!(f, "      refused: {}; {}", problem.what, problem.fix))?;
        }
        Ok(())
    }
}
