//! Completes a phase: checks its handoff, its sections and its gate, then writes one version.

use std::path::Path;

use super::enter::incomplete;
use super::{COMPLETE, TaskPhase, missing_section_fix};
use crate::document::TaskDocument;
use crate::gate_record::{self, ParsedGateRecord, RecordVerdict};
use crate::handoff::{HandoffCheck, l2};
use crate::key_path::KeyPath;
use crate::pointer::PointerResolver;
use crate::problem::DocumentProblem;
use crate::value::MapExt as _;
use crate::version::compare_and_swap::CurrentVersion;
use crate::version::delivery::status_entry;

/// A file by its path relative to the project's root, with its content.
#[derive(Debug, Clone, Copy)]
pub struct InputFile<'a> {
    pub path: &'a str,
    pub bytes: &'a [u8],
}

#[derive(Debug)]
pub struct CompleteRequest<'a> {
    pub phase: TaskPhase,
    pub held: CurrentVersion<'a>,
    pub l2: InputFile<'a>,
    pub gate: Option<InputFile<'a>>,
    pub lookup: &'a PointerResolver<'a>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// The next version's content.
    pub document: TaskDocument,
    pub handoff: HandoffCheck,
    pub gate: Option<ParsedGateRecord>,
}

/// The next version of the task, or all reasons why the phase is not complete.
pub fn complete(completing: &CompleteRequest<'_>) -> Result<Completion, Vec<DocumentProblem>> {
    let CompleteRequest { phase, held: current, l2: file, gate: record, lookup } = *completing;
    let mut reasons = Vec::new();
    if current.delivered {
        let what = format!("PT-v{} is DELIVERED", current.version);
        reasons.push(DocumentProblem::of("task", what, "`lockstep task reopen --why …` opens it again"));
    }
    reasons.extend(phase.sources().into_iter().filter_map(|source| incomplete(current, source)));
    reasons.extend(missing_sections(current.document, phase));
    reasons.extend(unusable(file.path, lookup));
    let handoff = l2::check(Path::new(file.path), file.bytes, lookup);
    reasons.extend(in_file(file.path, handoff.problems.iter()));
    let gate = record.map(|record| {
        let reading = gate_record::read(record.bytes, lookup);
        reasons.extend(unusable(record.path, lookup));
        reasons.extend(in_file(record.path, reading.findings.problems.iter()));
        reasons.extend(in_file(record.path, gate_reasons(phase, &reading).iter()));
        reading
    });
    if !reasons.is_empty() {
        return Err(reasons);
    }
    let mut document = current.document.clone();
    let entry = status_entry(&mut document, phase);
    entry.set("status", COMPLETE);
    entry.set("l2_path", file.path);
    if let Some(record) = record {
        entry.set("gate_record", record.path);
    }
    Ok(Completion { document, handoff, gate })
}

fn in_file<'p>(file: &str, problems: impl Iterator<Item = &'p DocumentProblem>) -> Vec<DocumentProblem> {
    problems.map(|p| DocumentProblem { at: format!("{file}: {}", p.at), ..p.clone() }).collect()
}

/// Sections this phase leaves in the task and has not written.
fn missing_sections(document: &TaskDocument, phase: TaskPhase) -> Vec<DocumentProblem> {
    let missing = phase.produces().iter().filter(|section| !document.has_content(section));
    missing
        .map(|section| {
            let what = format!("{phase} leaves it in the task, and it is not there");
            DocumentProblem::at(&KeyPath::section(section), what, missing_section_fix(section))
        })
        .collect()
}

/// A path the task could not point to.
fn unusable(path: &str, lookup: &PointerResolver<'_>) -> Option<DocumentProblem> {
    lookup.resolve(path).err().map(|fault| DocumentProblem::of(path, fault.describe(path), fault.fix()))
}

fn gate_reasons(phase: TaskPhase, reading: &ParsedGateRecord) -> Vec<DocumentProblem> {
    let mut reasons = Vec::new();
    if let Some(from) = reading.phase_from().filter(|from| *from != phase.name()) {
        reasons.push(DocumentProblem::of(
            "phase_from",
            format!("it is the record of {from}, not of {phase}"),
            "give the record of this phase's gate",
        ));
    }
    if reading.verdict() == Some(RecordVerdict::Fail) {
        reasons.push(DocumentProblem::of(
            "verdict",
            "the gate says FAIL",
            "mend what failed and evaluate the gate again",
        ));
    }
    reasons
}
