//! What a cascade must be told about the disk, and the loop that asks.

use std::collections::BTreeMap;

use crate::event::{Digest, Effect, Event, Observation, Verdict};
use crate::state::{Cascade, Group};
use crate::step::Refused;

/// Looks at the files of a project. The answers decide; what agents say does not.
pub trait Inspector {
    /// Why it could not look.
    type Error;

    /// What the files of a group are now. Everything else that will be compared later is noted too.
    fn contents(
        &mut self,
        cascade: &Cascade,
        group: &Group,
    ) -> Result<BTreeMap<String, Option<Digest>>, Self::Error>;

    /// What has become of the assigned files, and which others changed since the iteration began.
    fn observe(&mut self, cascade: &Cascade) -> Result<Observation, Self::Error>;

    /// What depends on what the iteration changed. A check that cannot be made is a verdict, not an error.
    fn check(&mut self, cascade: &Cascade) -> Verdict;
}

/// Feeds an event, and makes the check when one is due. What is left to do is for agents.
pub fn advance<I: Inspector>(
    cascade: Cascade,
    event: Event,
    inspector: &mut I,
) -> Result<(Cascade, Vec<Effect>), Refused> {
    let (mut cascade, mut effects) = cascade.step(event)?;
    while effects.contains(&Effect::Check) {
        let verdict = inspector.check(&cascade);
        (cascade, effects) = cascade.step(Event::Checked(verdict))?;
    }
    Ok((cascade, effects))
}
