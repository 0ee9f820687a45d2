//! Enters a phase: the previous phase's handoff and the required sections of the task.

use std::fmt;
use std::path::{Path, PathBuf};

use lockstep_text::fenced;
use serde::Serialize;

use super::{COMPLETE, TaskPhase, missing_section_fix};
use crate::access::AccessTable;
use crate::handoff::scaffold::default_path;
use crate::handoff::{Handoff, l2};
use crate::key_path::KeyPath;
use crate::pointer::{PointerError, PointerResolver};
use crate::problem::DocumentProblem;
use crate::value::{Map, Value};
use crate::version::compare_and_swap::CurrentVersion;
use crate::yaml;

pub struct EnterRequest<'a> {
    pub phase: TaskPhase,
    pub held: CurrentVersion<'a>,
    /// The rules that determine what the phase's skill must read.
    pub access: &'a AccessTable,
    /// The session, for an L2 file the task does not name. An id that was checked.
    pub session: Option<&'a str>,
    /// The path template of an L2 file that the task does not name, as in
    /// [`crate::handoff::scaffold::L2_PATH`].
    pub l2_template: &'a str,
    pub lookup: &'a PointerResolver<'a>,
    /// The content of a file of the project, or why it cannot be read.
    pub content: &'a dyn Fn(&Path) -> Result<Vec<u8>, String>,
}

/// The data that a phase starts from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EntryContext {
    pub phase: TaskPhase,
    pub skill: Option<String>,
    pub version: u64,
    /// The sections its skill reads.
    pub sections: Map,
    pub handoffs: Vec<ReceivedHandoff>,
}

/// A handoff a phase starts from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReceivedHandoff {
    pub phase: TaskPhase,
    pub file: String,
    pub handoff: Handoff,
}

/// The entry context of a phase, or all reasons why it cannot begin.
pub fn enter(entering: &EnterRequest<'_>) -> Result<EntryContext, Vec<DocumentProblem>> {
    let mut reasons = Vec::new();
    if entering.held.delivered {
        let what = format!("PT-v{} is DELIVERED", entering.held.version);
        reasons.push(DocumentProblem::of("task", what, "`lockstep task reopen --why …` opens it again"));
    }
    let mut handoffs = Vec::new();
    for source in entering.phase.sources() {
        match load_handoff(entering, source) {
            Ok(received) => handoffs.push(received),
            Err(problems) => reasons.extend(problems),
        }
    }
    let (skill, sections) = read_sections(entering, &mut reasons);
    reasons.extend(failed_validation(entering));
    if reasons.is_empty() {
        let (phase, version) = (entering.phase, entering.held.version);
        Ok(EntryContext { phase, skill, version, sections, handoffs })
    } else {
        Err(reasons)
    }
}

/// A source phase is COMPLETE, its L2 file is there, and its handoff is valid.
fn load_handoff(
    entering: &EnterRequest<'_>,
    source: TaskPhase,
) -> Result<ReceivedHandoff, Vec<DocumentProblem>> {
    let mut reasons: Vec<_> = incomplete(entering.held, source).into_iter().collect();
    let received = match l2_file(entering, source) {
        Err(problem) => Err(vec![problem]),
        Ok(path) => read_handoff(entering, source, &path),
    };
    match received {
        Ok(received) if reasons.is_empty() => Ok(received),
        Ok(_) => Err(reasons),
        Err(problems) => {
            reasons.extend(problems);
            Err(reasons)
        }
    }
}

/// The reason why a later phase cannot start from `source` yet.
pub(super) fn incomplete(current: CurrentVersion<'_>, source: TaskPhase) -> Option<DocumentProblem> {
    let place = KeyPath::section("phase_status").child(source.name());
    let what = match current.document.text(&["phase_status", source.name(), "status"]) {
        Some(COMPLETE) => return None,
        Some(status) => format!("{source} is {status}"),
        None => format!("{source} has no status"),
    };
    let fix = format!("`lockstep phase complete {source} --l2 FILE` completes it");
    Some(DocumentProblem::at(&place.child("status"), what, fix))
}

fn l2_file(entering: &EnterRequest<'_>, source: TaskPhase) -> Result<PathBuf, DocumentProblem> {
    let place = KeyPath::section("phase_status").child(source.name()).child("l2_path");
    let stated = entering.held.document.text(&["phase_status", source.name(), "l2_path"]);
    let default = entering.session.map(|session| default_path(entering.l2_template, session, source));
    let Some(pointer) = stated.or(default.as_deref()) else {
        let fix = format!("`lockstep phase complete {source} --l2 FILE` records it");
        return Err(DocumentProblem::at(
            &place,
            format!("the task does not say where the L2 file of {source} is"),
            fix,
        ));
    };
    entering.lookup.resolve(pointer).map_err(|fault| {
        let fix = match (&fault, stated) {
            (PointerError::Missing(_), None) => {
                format!("write it, or record another with `lockstep phase complete {source} --l2 FILE`")
            }
            _ => fault.fix(),
        };
        DocumentProblem::at(&place, fault.describe(pointer), fix)
    })
}

fn read_handoff(
    entering: &EnterRequest<'_>,
    source: TaskPhase,
    path: &Path,
) -> Result<ReceivedHandoff, Vec<DocumentProblem>> {
    let file = path.display().to_string();
    let bytes = (entering.content)(path).map_err(|why| {
        vec![DocumentProblem::of(&file, format!("it cannot be read: {why}"), "make it readable")]
    })?;
    let report = l2::check(path, &bytes, entering.lookup);
    if report.valid {
        return Ok(ReceivedHandoff { phase: source, file, handoff: report.handoff });
    }
    let in_file =
        |problem: DocumentProblem| DocumentProblem { at: format!("{file}: {}", problem.at), ..problem };
    Err(report.problems.into_iter().map(in_file).collect())
}

fn read_sections(entering: &EnterRequest<'_>, reasons: &mut Vec<DocumentProblem>) -> (Option<String>, Map) {
    let document = entering.held.document;
    let Some((skill, rule)) = entering.access.skill_of(entering.phase) else {
        return (None, document.root().clone());
    };
    for section in rule.must_read.iter().filter(|section| !document.has_content(section)) {
        let what = format!("{skill} must read it, and the task has none");
        reasons.push(DocumentProblem::at(&KeyPath::section(section), what, missing_section_fix(section)));
    }
    let wanted = rule.must_read.iter().chain(&rule.may_read);
    let pick = |name: &String| Some((name.clone(), document.section(name)?.clone()));
    (Some(skill.to_owned()), wanted.filter_map(pick).collect())
}

/// Refuses to build on a plan that failed its validation.
fn failed_validation(entering: &EnterRequest<'_>) -> Option<DocumentProblem> {
    let failed = entering.held.document.section("validation_verdict").and_then(Value::as_str) == Some("FAIL");
    (failed && entering.phase == TaskPhase::P6).then(|| {
        DocumentProblem::of(
            "validation_verdict",
            "the plan failed its validation",
            "fix the plan, and validate it again (P5)",
        )
    })
}

impl fmt::Display for EntryContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let skill = self.skill.as_deref().map(|skill| format!(" ({skill})")).unwrap_or_default();
        writeln!(f, "# Entry context: {}{skill}, PT-v{}", self.phase, self.version)?;
        writeln!(
            f,
            "\n## The task\n\n{}",
            fenced("yaml", &yaml::write(&Value::Object(self.sections.clone()))).trim_end()
        )?;
        for received in &self.handoffs {
            writeln!(
                f,
                "\n## Handoff from {} ({})\n\n{}",
                received.phase, received.file, received.handoff.text
            )?;
        }
        Ok(())
    }
}
