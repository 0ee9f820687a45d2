//! Completes a phase: checks its handoff, its sections and its gate, then writes one version.

use std::path::Path;

use super::enter::incomplete;
use super::{COMPLETE, Phase, write_first};
use crate::document::Document;
use crate::gate::{self, GateReading, Verdict};
use crate::handoff::{HandoffReport, l2};
use crate::place::Place;
use crate::pointer::Lookup;
use crate::problem::Problem;
use crate::version::deliver::status_entry;
use crate::version::swap::Held;

/// A file by its path relative to the project's root, with its content.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    pub path: &'a str,
    pub bytes: &'a [u8],
}

/// The inputs of completing a phase.
#[derive(Debug)]
pub struct Completing<'a> {
    pub phase: Phase,
    /// The present version of the task.
    pub held: Held<'a>,
    /// The phase's L2 file.
    pub l2: Given<'a>,
    /// The record of its gate.
    pub gate: Option<Given<'a>>,
    pub lookup: &'a Lookup<'a>,
}

/// A phase that is complete.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// The next version's content.
    pub document: Document,
    pub handoff: HandoffReport,
    pub gate: Option<GateReading>,
}

/// The next version of the task, or all reasons why the phase is not complete.
pub fn complete(completing: &Completing<'_>) -> Result<Completion, Vec<Problem>> {
    let Completing { phase, held, l2: file, gate: record, lookup } = *completing;
    let mut reasons = Vec::new();
    if held.delivered {
        let what = format!("PT-v{} is DELIVERED", held.version);
        reasons.push(Problem::of("task", what, "`lockstep task reopen --why …` opens it again"));
    }
    reasons.extend(phase.sources().into_iter().filter_map(|source| incomplete(held, source)));
    reasons.extend(unwritten(held.document, phase));
    reasons.extend(unusable(file.path, lookup));
    let handoff = l2::check(Path::new(file.path), file.bytes, lookup);
    reasons.extend(in_file(file.path, handoff.problems.iter()));
    let gate = record.map(|record| {
        let reading = gate::read(record.bytes, lookup);
        reasons.extend(unusable(record.path, lookup));
        reasons.extend(in_file(record.path, reading.findings.problems.iter()));
        reasons.extend(in_file(record.path, gate_reasons(phase, &reading).iter()));
        reading
    });
    if !reasons.is_empty() {
        return Err(reasons);
    }
    let mut document = held.document.clone();
    let entry = status_entry(&mut document, phase);
    entry.set("status", COMPLETE);
    entry.set("l2_path", file.path);
    if let Some(record) = record {
        entry.set("gate_record", record.path);
    }
    Ok(Completion { document, handoff, gate })
}

fn in_file<'p>(file: &str, problems: impl Iterator<Item = &'p Problem>) -> Vec<Problem> {
    problems.map(|p| Problem { at: format!("{file}: {}", p.at), ..p.clone() }).collect()
}

/// Sections this phase leaves in the task and has not written.
fn unwritten(document: &Document, phase: Phase) -> Vec<Problem> {
    let missing = phase.produces().iter().filter(|section| !document.has(section));
    missing
        .map(|section| {
            let what = format!("{phase} leaves it in the task, and it is not there");
            Problem::at(&Place::section(section), what, write_first(section))
        })
        .collect()
}

/// A path the task could not point to.
fn unusable(path: &str, lookup: &Lookup<'_>) -> Option<Problem> {
    lookup.resolve(path).err().map(|fault| Problem::of(path, fault.what(path), fault.fix()))
}

fn gate_reasons(phase: Phase, reading: &GateReading) -> Vec<Problem> {
    let mut reasons = Vec::new();
    if let Some(from) = reading.phase_from().filter(|from| *from != phase.name()) {
        reasons.push(Problem::of(
            "phase_from",
            format!("it is the record of {from}, not of {phase}"),
            "give the record of this phase's gate",
        ));
    }
    if reading.verdict() == Some(Verdict::Fail) {
        reasons.push(Problem::of(
            "verdict",
            "the gate says FAIL",
            "mend what failed and evaluate the gate again",
        ));
    }
    reasons
}
