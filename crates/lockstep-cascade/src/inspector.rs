//! The interface through which a cascade reads the disk, and the loop that uses it.

use std::collections::BTreeMap;

use crate::event::{CascadeEffect, CascadeEvent, CheckResult, Digest, DiskObservation};
use crate::state::{Cascade, Group};
use crate::transition::TransitionError;

/// Reads the files of a project. Its results decide; the agents' reports do not.
pub trait Inspector {
    /// The error for a failed read or a failed write of the state.
    type Error: From<TransitionError>;

    /// Returns the present contents of a group's files. For the first group of an iteration, it also records
    /// everything that is compared later.
    fn group_contents(
        &mut self,
        cascade: &Cascade,
        group: &Group,
    ) -> Result<BTreeMap<String, Option<Digest>>, Self::Error>;

    /// Returns the state of the assigned files, and the other files that changed since the iteration began.
    fn observe(&mut self, cascade: &Cascade) -> Result<DiskObservation, Self::Error>;

    /// Finds the dependents of the files that the iteration changed. A check that fails is a verdict, not an
    /// error.
    fn check(&mut self, cascade: &Cascade) -> CheckResult;

    /// Saves a state, so that a later process can continue from it.
    fn persist(&mut self, cascade: &Cascade) -> Result<(), Self::Error>;
}

/// Applies an event, and runs the check when one is due. Each state is saved before the next action. The
/// returned effects are for the caller.
pub fn advance<I: Inspector>(
    cascade: &mut Cascade,
    event: CascadeEvent,
    inspector: &mut I,
) -> Result<Vec<CascadeEffect>, I::Error> {
    apply_and_persist(cascade, event, inspector)?;
    run_due_check(cascade, inspector)
}

/// Runs the check if one is due: after an event, or because the process that should have run it ended.
pub fn run_due_check<I: Inspector>(
    cascade: &mut Cascade,
    inspector: &mut I,
) -> Result<Vec<CascadeEffect>, I::Error> {
    while cascade.pending_effects().contains(&CascadeEffect::Check) {
        let verdict = inspector.check(cascade);
        apply_and_persist(cascade, CascadeEvent::CheckCompleted(verdict), inspector)?;
    }
    Ok(cascade.pending_effects())
}

fn apply_and_persist<I: Inspector>(
    cascade: &mut Cascade,
    event: CascadeEvent,
    inspector: &mut I,
) -> Result<(), I::Error> {
    let (next, _) = cascade.clone().apply(event)?;
    inspector.persist(&next)?;
    *cascade = next;
    Ok(())
}
