//! What a cascade must be told about the disk, and the loop that asks.

use std::collections::BTreeMap;

use crate::event::{Digest, Effect, Event, Observation, Verdict};
use crate::state::{Cascade, Group};
use crate::step::Refused;

/// Looks at the files of a project. The answers decide; what agents say does not.
pub trait Inspector {
    /// Why it could not look, or not keep what was decided.
    type Error: From<Refused>;

    /// What the files of a group are now. When it is the first of an iteration, everything that will be compared later is noted.
    fn contents(
        &mut self,
        cascade: &Cascade,
        group: &Group,
    ) -> Result<BTreeMap<String, Option<Digest>>, Self::Error>;

    /// What has become of the assigned files, and which others changed since the iteration began.
    fn observe(&mut self, cascade: &Cascade) -> Result<Observation, Self::Error>;

    /// What depends on what the iteration changed. A check that cannot be made is a verdict, not an error.
    fn check(&mut self, cascade: &Cascade) -> Verdict;

    /// Keeps a state, so that whoever comes next goes on from there.
    fn keep(&mut self, cascade: &Cascade) -> Result<(), Self::Error>;
}

/// Feeds an event, and makes the check when one is due; each state is kept before anything else is done. What is left to do is
/// for agents.
pub fn advance<I: Inspector>(
    cascade: &mut Cascade,
    event: Event,
    inspector: &mut I,
) -> Result<Vec<Effect>, I::Error> {
    take(cascade, event, inspector)?;
    catch_up(cascade, inspector)
}

/// Makes the check when one is due: after an event, or because whoever was to make it is gone.
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
