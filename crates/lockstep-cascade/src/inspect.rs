//! The interface through which a cascade reads the disk, and the loop that uses it.

use std::collections::BTreeMap;

use crate::event::{Digest, Effect, Event, Observation, Verdict};
use crate::state::{Cascade, Group};
use crate::step::Refused;

/// Reads the files of a project. Its results decide; the agents' reports do not.
pub trait Inspector {
    /// The error for a failed read or a failed write of the state.
    type Error: From<Refused>;

    /// Returns the present contents of a group's files. For the first group of an iteration, it also records
    /// everything that is compared later.
    fn contents(
        &mut self,
        cascade: &Cascade,
        group: &Group,
    ) -> Result<BTreeMap<String, Option<Digest>>, Self::Error>;

    /// Returns the state of the assigned files, and the other files that changed since the iteration began.
    fn observe(&mut self, cascade: &Cascade) -> Result<Observation, Self::Error>;

    /// Finds the dependents of the files that the iteration changed. A check that fails is a verdict, not an
    /// error.
    fn check(&mut self, cascade: &Cascade) -> Verdict;

    /// Saves a state, so that a later process can continue from it.
    fn keep(&mut self, cascade: &Cascade) -> Result<(), Self::Error>;
}

/// Applies an event, and runs the check when one is due. Each state is saved before the next action. The
/// returned effects are for the caller.
pub fn advance<I: Inspector>(
    cascade: &mut Cascade,
    event: Event,
    inspector: &mut I,
) -> Result<Vec<Effect>, I::Error> {
    take(cascade, event, inspector)?;
    catch_up(cascade, inspector)
}

/// Runs the check if one is due: after an event, or because the process that should have run it ended.
pub fn catch_up<I: Inspector>(cascade: &mut Cascade, inspector: &mut I) -> Result<Vec<Effect>, I::Error> {
    while cascade.due().contains(&Effect::Check) {
        let verdict = inspector.check(cascade);
        take(cascade, Event::Checked(verdict), inspector)?;
    }
    Ok(cascade.due())
}

fn take<I: Inspector>(cascade: &mut Cascade, event: Event, inspector: &mut I) -> Result<(), I::Error> {
    let (next, _) = cascade.clone().step(event)?;
    inspector.keep(&next)?;
    *cascade = next;
    Ok(())
}
