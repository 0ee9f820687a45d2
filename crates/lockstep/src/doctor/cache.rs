//! Checks the session cache: its existence, its freshness, the number of entries, and the deliveries to
//! sessions.

use lockstep_cache::delivery::DeliveryMode;
use lockstep_cache::{Freshness, SessionCache};

use super::{DoctorCheck, HookRegistration};
use crate::cache::delivery::{mode, required_entries};
use crate::cache::receipt::{self, Receipt};
use crate::cache::{ProjectProvider, SessionCacheError, describe_freshness, open};
use crate::hook::part::part_of_command;
use crate::project::ActiveProject;

const NAME: &str = "cache";

pub(super) fn check(project: &ActiveProject, registered: &[HookRegistration]) -> DoctorCheck {
    if mode(project) == DeliveryMode::Off {
        return DoctorCheck::ok(NAME, "`[cache] deliver` is off: sessions are given nothing");
    }
    match open(project).and_then(|cache| check_cache(project, &cache, registered)) {
        Ok(check) => check,
        Err(fault @ SessionCacheError::Settings(_)) => {
            DoctorCheck::failed(NAME, fault.to_string(), "correct [cache] in lockstep.toml")
        }
        Err(fault) => DoctorCheck::failed(NAME, fault.to_string(), "`lockstep cache build` says more"),
    }
}

fn check_cache(
    project: &ActiveProject,
    cache: &SessionCache,
    registered: &[HookRegistration],
) -> Result<DoctorCheck, SessionCacheError> {
    let freshness = cache.freshness(&ProjectProvider::new(project), None)?;
    if freshness == Freshness::Missing {
        return Ok(DoctorCheck::ok(
            NAME,
            "none was built, so sessions are given nothing; `lockstep cache build` builds it",
        ));
    }
    if let Some(check) = check_entry_count(project, registered)? {
        return Ok(check);
    }
    let (state, reasons) = describe_freshness(&freshness);
    let state = match reasons.as_slice() {
        [] => state.to_owned(),
        reasons => format!("{state} ({}); the next session builds it anew", reasons.join("; ")),
    };
    let path = cache.settings().target();
    Ok(DoctorCheck::ok(NAME, format!("{path} is {state}; {}", last(&receipt::read_receipts(&project.state)))))
}

/// Reports if the client has fewer entries than the cache has parts.
fn check_entry_count(
    project: &ActiveProject,
    registered: &[HookRegistration],
) -> Result<Option<DoctorCheck>, SessionCacheError> {
    let there = registered.iter().filter(|entry| entry.event == "SessionStart");
    let there = there.map(|entry| part_of_command(&entry.command).of).max().unwrap_or(0);
    let needed = required_entries(project)?;
    let full = mode(project) == DeliveryMode::Full;
    Ok((full && there < needed).then(|| {
        DoctorCheck::warning(
            NAME,
            format!("all of the cache takes {needed} hook entries, and {there} are registered"),
            "`lockstep init` registers the others",
        )
    }))
}

/// Describes the last delivery.
fn last(receipts: &[Receipt]) -> String {
    let Some(Receipt { at, event, to, part: (number, of), hash, chars, stale, micros, .. }) = receipts.last()
    else {
        return "no session was given any of it yet".to_owned();
    };
    let stale = stale.as_ref().map(|why| format!(", stale: {why}")).unwrap_or_default();
    let tenths = micros / 100;
    format!(
        "last given at {at} ({event}, {to}): part {number} of {of}, hash {hash}, {chars} characters in {}.{} ms{stale}",
        tenths / 10,
        tenths % 10
    )
}
