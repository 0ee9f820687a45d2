//! Checks the session cache: its existence, its freshness, the number of entries, and the deliveries to
//! sessions.

use lockstep_cache::delivery::Mode;
use lockstep_cache::{Cache, Freshness};

use super::{Check, Entry};
use crate::cache::delivery::{entries, mode};
use crate::cache::receipt::{self, Receipt};
use crate::cache::{CacheFault, ProjectProvider, entry, open, told};
use crate::project::ActiveProject;

const NAME: &str = "cache";

pub(super) fn check(project: &ActiveProject, registered: &[Entry]) -> Check {
    if mode(project) == Mode::Off {
        return Check::ok(NAME, "`[cache] deliver` is off: sessions are given nothing");
    }
    match open(project).and_then(|cache| looked_at(project, &cache, registered)) {
        Ok(check) => check,
        Err(fault @ CacheFault::Settings(_)) => {
            Check::failed(NAME, fault.to_string(), "correct [cache] in lockstep.toml")
        }
        Err(fault) => Check::failed(NAME, fault.to_string(), "`lockstep cache build` says more"),
    }
}

fn looked_at(project: &ActiveProject, cache: &Cache, registered: &[Entry]) -> Result<Check, CacheFault> {
    let freshness = cache.freshness(&ProjectProvider::new(project), None)?;
    if freshness == Freshness::Missing {
        return Ok(Check::ok(
            NAME,
            "none was built, so sessions are given nothing; `lockstep cache build` builds it",
        ));
    }
    if let Some(check) = too_few(project, registered)? {
        return Ok(check);
    }
    let (state, reasons) = told(&freshness);
    let state = match reasons.as_slice() {
        [] => state.to_owned(),
        reasons => format!("{state} ({}); the next session builds it anew", reasons.join("; ")),
    };
    let path = cache.settings().target();
    Ok(Check::ok(NAME, format!("{path} is {state}; {}", last(&receipt::kept(&project.state)))))
}

/// Reports if the client has fewer entries than the cache has parts.
fn too_few(project: &ActiveProject, registered: &[Entry]) -> Result<Option<Check>, CacheFault> {
    let there = registered.iter().filter(|entry| entry.event == "SessionStart");
    let there = there.map(|entry| entry::of_command(&entry.command).of).max().unwrap_or(0);
    let needed = entries(project)?;
    let full = mode(project) == Mode::Full;
    Ok((full && there < needed).then(|| {
        Check::warning(
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
