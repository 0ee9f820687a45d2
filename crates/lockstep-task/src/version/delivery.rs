//! Delivery, which is final, and its undoing.

use super::compare_and_swap::CurrentVersion;
use crate::document::{METRICS, TaskDocument};
use crate::key_path::KeyPath;
use crate::phase::{COMPLETE, TaskPhase};
use crate::problem::DocumentProblem;
use crate::value::{Map, MapExt, Value, ValueExt};

/// Returns the delivered document: every phase COMPLETE, with `metrics` added.
///
/// Delivering completes P9. An earlier phase that is not COMPLETE prevents the delivery unless it is in
/// `assumed`. It is then marked as assumed.
pub fn deliver(
    current: CurrentVersion<'_>,
    metrics: &Map,
    assumed: &[TaskPhase],
) -> Result<TaskDocument, Vec<DocumentProblem>> {
    if current.delivered {
        let what = format!("PT-v{} is DELIVERED already", current.version);
        return Err(vec![DocumentProblem::of("task", what, "`lockstep task reopen --why …` opens it again")]);
    }
    let open: Vec<_> = TaskPhase::ALL
        .into_iter()
        .filter(|phase| status(current.document, *phase) != Some(COMPLETE))
        .collect();
    let reasons: Vec<_> = open
        .iter()
        .filter(|phase| **phase != TaskPhase::P9 && !assumed.contains(phase))
        .map(|phase| not_complete(current.document, *phase))
        .collect();
    if !reasons.is_empty() {
        return Err(reasons);
    }
    let mut document = current.document.clone();
    for phase in open {
        let entry = status_entry(&mut document, phase);
        entry.set("status", COMPLETE);
        if phase != TaskPhase::P9 {
            entry.set("assumed", "at delivery");
        }
    }
    add_metrics(&mut document, metrics);
    Ok(document)
}

fn not_complete(document: &TaskDocument, phase: TaskPhase) -> DocumentProblem {
    let place = KeyPath::section("phase_status").child(phase.name());
    let what = match status(document, phase) {
        Some(status) => format!("{phase} is {status}"),
        None => format!("{phase} has no status"),
    };
    DocumentProblem::at(
        &place,
        what,
        format!(
            "complete it with `lockstep phase complete {phase} --l2 FILE`, or deliver with `--assume {phase}`"
        ),
    )
}

fn add_metrics(document: &mut TaskDocument, metrics: &Map) {
    let section = document.section_mut(METRICS);
    if section.as_object().is_none() {
        *section = Value::Object(Map::new());
    }
    if let Some(map) = section.map_mut() {
        metrics.iter().for_each(|(key, value)| map.set(key, value.clone()));
    }
}

/// The reasons why `document` cannot be a delivered one: its phases that are not COMPLETE.
pub fn incomplete_phases(document: &TaskDocument) -> Vec<DocumentProblem> {
    let open = TaskPhase::ALL.into_iter().filter(|phase| status(document, *phase) != Some(COMPLETE));
    open.map(|phase| not_complete(document, phase)).collect()
}

/// The document of a delivered task that is opened again: P9 is IN_PROGRESS, all else stays.
pub fn reopen(current: CurrentVersion<'_>, why: &str) -> Result<TaskDocument, DocumentProblem> {
    if !current.delivered {
        let what = format!("PT-v{} is not delivered", current.version);
        return Err(DocumentProblem::of("task", what, "it is open to changes as it is"));
    }
    if why.trim().is_empty() {
        return Err(DocumentProblem::of(
            "task",
            "no reason is given",
            "say with --why what must still change",
        ));
    }
    let mut document = current.document.clone();
    status_entry(&mut document, TaskPhase::P9).set("status", "IN_PROGRESS");
    Ok(document)
}

fn status(document: &TaskDocument, phase: TaskPhase) -> Option<&str> {
    document.text(&["phase_status", phase.name(), "status"])
}

/// The entry of a phase, made if it is not there. A malformed one is replaced.
pub(crate) fn status_entry(document: &mut TaskDocument, phase: TaskPhase) -> &mut Map {
    let section = document.section_mut("phase_status");
    if section.as_object().is_none() {
        *section = Value::Object(Map::new());
    }
    let phases = section.map_mut().expect("it is a mapping by the line above");
    if phases.get(phase.name()).and_then(Value::as_object).is_none() {
        phases.set(phase.name(), Value::Object(Map::new()));
        phases.sort_by_rank(|key| key.parse::<TaskPhase>().map_or(TaskPhase::ALL.len(), |p| p as usize));
    }
    phases[phase.name()].as_object_mut().expect("it is a mapping by the line above")
}
