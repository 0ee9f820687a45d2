//! From the cache to the text that one hook entry sends: fresh if there is time for it, never longer than the client takes.

use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use lockstep_cache::delivery::{self, Delivery, Limits, Mode, entries_needed, subagent_part};
use lockstep_cache::document::Document;
use lockstep_cache::{BuildOptions, Cache, CacheError, Freshness, Ready, Snapshot};
use lockstep_config::cache::Deliver;
use lockstep_store::Store;

use super::entry::HookPart;
use super::{CacheFault, ProjectProvider, open};
use crate::project::ActiveProject;
use crate::setup::has_plugin;

/// How long a session may wait for a stale cache to be built anew.
pub(crate) const PATIENCE: Duration = Duration::from_millis(200);

/// What the client accepts.
const CLIENT: Limits = Limits::CLAUDE;

/// What the MCP resource of a section begins with. The project's copy of the plugin starts the server.
const RESOURCE: &str = "lockstep://cache/";

/// Who is about to get something.
#[derive(Debug, Clone, Copy)]
pub(crate) enum To<'a> {
    /// A session that starts, for this reason, through this entry.
    Session { source: &'a str, part: HookPart },
    /// A subagent of this type.
    Subagent { agent_type: &'a str },
}

/// What is sent.
#[derive(Debug)]
pub(crate) struct Delivered {
    pub(crate) text: String,
    /// The cache's hash.
    pub(crate) hash: String,
    /// As the client counts.
    pub(crate) chars: usize,
    /// Why the cache is stale, if it is.
    pub(crate) stale: Option<String>,
    /// Whether it was built anew on the way.
    pub(crate) rebuilt: bool,
}

/// What `to` gets, with `store` if that is open already; `None` where there is no cache, or nothing in it for this entry or agent.
pub(crate) fn deliver(
    project: &ActiveProject,
    store: Option<Store>,
    to: To<'_>,
    now: Timestamp,
    deadline: Instant,
) -> Result<Option<Delivered>, CacheFault> {
    let mode = mode(project);
    let idle = matches!(to, To::Session { part, .. } if mode == Mode::Index && !part.is_first());
    if mode == Mode::Off || idle || !is_there(project) {
        return Ok(None);
    }
    let cache = open(project)?;
    let provider = ProjectProvider::with(project, store);
    let circumstances = circumstances(&project.root, &cache, mode, to);
    let asked = asked(&circumstances, to);
    if let Some(ready) = cache.ready(&provider, &asked) {
        return Ok(delivered(ready, None, false));
    }
    let Some(found) = cache.snapshot()? else { return Ok(None) };
    let (snapshot, stale, rebuilt) = freshened(&cache, &provider, found, now, deadline);
    let path = cache.settings().target();
    let damaged = |why| CacheFault::Damaged { path: path.to_owned(), why };
    let document = Document::parse(&snapshot.text).map_err(|error| damaged(error.to_string()))?;
    let circumstances = Delivery { stale: stale.as_deref(), ..circumstances };
    let part = match to {
        To::Session { part, .. } => delivery::part(&document, &circumstances, part.number),
        To::Subagent { agent_type } => subagent_part(&document, &circumstances, agent_type),
    };
    let made = Ready { hash: document.header.hash.clone(), text: part.map(|part| part.text) };
    if stale.is_none() {
        cache.make_ready(&provider, &snapshot, &asked, &made);
    }
    Ok(delivered(made, stale, rebuilt))
}

fn delivered(ready: Ready, stale: Option<String>, rebuilt: bool) -> Option<Delivered> {
    let text = ready.text?;
    Some(Delivered { chars: CLIENT.unit.count(&text), text, hash: ready.hash, stale, rebuilt })
}

/// What is asked for, in words that differ where the answer may.
fn asked(circumstances: &Delivery<'_>, to: To<'_>) -> String {
    let circumstances = circumstances.fingerprint();
    match to {
        To::Session { part, .. } => format!("{circumstances}\npart {}", part.number),
        To::Subagent { agent_type } => format!("{circumstances}\nagent {agent_type}"),
    }
}

/// How many entries a session's start needs, for the cache as a build would write it now.
pub(crate) fn entries(project: &ActiveProject) -> Result<usize, CacheFault> {
    if mode(project) != Mode::Full {
        return Ok(1);
    }
    let cache = open(project)?;
    let text = cache.preview(&ProjectProvider::new(project))?;
    let document = Document::parse(&text).expect("what a build writes is a cache");
    let start = To::Session { source: "startup", part: HookPart::default() };
    let needed = entries_needed(&document, &circumstances(&project.root, &cache, Mode::Full, start));
    // A little room, so that not every added line asks for another `lockstep init`.
    Ok(needed + needed.div_ceil(10))
}

/// Whether there is a file at all: in most projects there is none, and then nothing else is looked at.
pub(crate) fn is_there(project: &ActiveProject) -> bool {
    let default = || lockstep_cache::layout::default_target(&project.root);
    project.root.join(project.config().cache.path.0.clone().unwrap_or_else(default)).exists()
}

pub(crate) fn mode(project: &ActiveProject) -> Mode {
    match project.config().cache.deliver {
        Deliver::Index => Mode::Index,
        Deliver::Full => Mode::Full,
        Deliver::Off => Mode::Off,
    }
}

fn circumstances<'a>(root: &Path, cache: &'a Cache, mode: Mode, to: To<'a>) -> Delivery<'a> {
    let (source, entries) = match to {
        To::Session { source, part } => (source, part.of),
        To::Subagent { .. } => ("", 1),
    };
    Delivery {
        mode,
        limits: &CLIENT,
        source,
        sections: cache.settings().sections(),
        path: cache.settings().target(),
        resource: has_plugin(root).then_some(RESOURCE),
        stale: None,
        entries,
    }
}

/// The cache, built anew where it is stale and the time allows; else what was found and why it is stale.
fn freshened(
    cache: &Cache,
    provider: &ProjectProvider<'_>,
    found: Snapshot,
    now: Timestamp,
    deadline: Instant,
) -> (Snapshot, Option<String>, bool) {
    let late = || format!("there was no time to build it anew within {} ms", PATIENCE.as_millis());
    let told = |error: CacheError| match error {
        CacheError::Late => late(),
        other => other.to_string(),
    };
    match cache.freshness_of(&found, provider, Some(deadline)) {
        Ok(Freshness::Fresh | Freshness::Missing) => (found, None, false),
        Err(error) => (found, Some(told(error)), false),
        Ok(Freshness::Stale(_) | Freshness::Altered(_)) => {
            let options = BuildOptions { deadline: Some(deadline), ..BuildOptions::default() };
            let built = cache.build(provider, now, options).and_then(|built| Ok((built, cache.snapshot()?)));
            match built {
                Ok((built, Some(new))) => (new, None, built.written),
                Ok((_, None)) => (found, None, false),
                Err(error) => (found, Some(told(error)), false),
            }
        }
    }
}
