//! Creates the text that one hook entry sends from the cache: fresh if time allows, never longer than the
//! client's limit.

use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use lockstep_cache::delivery::{self, Delivery, Limits, Mode, entries_needed, subagent_part};
use lockstep_cache::document::Document;
use lockstep_cache::{BuildOptions, Cache, CacheError, CachedPart, Freshness, Snapshot};
use lockstep_config::cache::Deliver;
use lockstep_store::Store;

use super::entry::HookPart;
use super::{CacheFault, ProjectProvider, open};
use crate::project::ActiveProject;
use crate::setup::has_plugin;

/// The time that a session may wait for the rebuild of a stale cache.
pub(crate) const PATIENCE: Duration = Duration::from_millis(200);

/// The limits of the client.
const CLIENT: Limits = Limits::CLAUDE;

/// The prefix of a section's MCP resource. The project's copy of the plugin starts the server.
const RESOURCE: &str = "lockstep://cache/";

/// The receiver of a delivery.
#[derive(Debug, Clone, Copy)]
pub(crate) enum To<'a> {
    /// A session that starts, for this reason, through this entry.
    Session { source: &'a str, part: HookPart },
    /// A subagent of this type.
    Subagent { agent_type: &'a str },
}

/// The delivered text.
#[derive(Debug)]
pub(crate) struct Delivered {
    pub(crate) text: String,
    /// The cache's hash.
    pub(crate) hash: String,
    /// Counted as the client counts.
    pub(crate) chars: usize,
    /// The reason why the cache is stale, if it is.
    pub(crate) stale: Option<String>,
    /// Set if the cache was rebuilt for this delivery.
    pub(crate) rebuilt: bool,
}

/// Returns the text for `to`, using `store` if it is open. `None` if there is no cache, or no content for
/// this entry or agent.
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
    let made = CachedPart { hash: document.header.hash.clone(), text: part.map(|part| part.text) };
    if stale.is_none() {
        cache.store_part(&provider, &snapshot, &asked, &made);
    }
    Ok(delivered(made, stale, rebuilt))
}

fn delivered(ready: CachedPart, stale: Option<String>, rebuilt: bool) -> Option<Delivered> {
    let text = ready.text?;
    Some(Delivered { chars: CLIENT.unit.count(&text), text, hash: ready.hash, stale, rebuilt })
}

/// Encodes the request; different results have different encodings.
fn asked(circumstances: &Delivery<'_>, to: To<'_>) -> String {
    let circumstances = circumstances.fingerprint();
    match to {
        To::Session { part, .. } => format!("{circumstances}\npart {}", part.number),
        To::Subagent { agent_type } => format!("{circumstances}\nagent {agent_type}"),
    }
}

/// Returns the number of entries that a session start needs for the current content.
pub(crate) fn entries(project: &ActiveProject) -> Result<usize, CacheFault> {
    if mode(project) != Mode::Full {
        return Ok(1);
    }
    let cache = open(project)?;
    let text = cache.preview(&ProjectProvider::new(project))?;
    let document = Document::parse(&text).expect("what a build writes is a cache");
    let start = To::Session { source: "startup", part: HookPart::default() };
    let needed = entries_needed(&document, &circumstances(&project.root, &cache, Mode::Full, start));
    // Some reserve, so that not every added line requires another `lockstep init`.
    Ok(needed + needed.div_ceil(10))
}

/// Returns true if there is a cache file. Most projects have none, and nothing else is checked then.
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

/// Returns the cache, rebuilt if it is stale and the time allows; otherwise the old one and the reason of its
/// staleness.
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
