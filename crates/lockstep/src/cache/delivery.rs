//! Creates the text that one hook entry sends from the cache: fresh if time allows, never longer than the
//! client's limit.

use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use lockstep_cache::cache_document::CacheDocument;
use lockstep_cache::delivery::{
    self, ClientLimits, DeliveryContext, DeliveryMode, entries_needed, subagent_part,
};
use lockstep_cache::{BuildOptions, CacheError, CacheSnapshot, CachedPart, Freshness, SessionCache};
use lockstep_config::cache::CacheDelivery;
use lockstep_store::Store;

use super::{ProjectProvider, SessionCacheError, open};
use crate::hook::part::HookPart;
use crate::project::ActiveProject;
use crate::setup::has_plugin;

/// The time that a session may wait for the rebuild of a stale cache.
pub(crate) const REBUILD_TIMEOUT: Duration = Duration::from_millis(200);

const CLIENT: ClientLimits = ClientLimits::CLAUDE;

/// The prefix of a section's MCP resource. The project's copy of the plugin starts the server.
const RESOURCE: &str = "lockstep://cache/";

#[derive(Debug, Clone, Copy)]
pub(crate) enum Recipient<'a> {
    /// A session that starts, for this reason, through this entry.
    Session {
        source: &'a str,
        part: HookPart,
    },
    Subagent {
        agent_type: &'a str,
    },
}

#[derive(Debug)]
pub(crate) struct DeliveredPart {
    pub(crate) text: String,
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
    to: Recipient<'_>,
    now: Timestamp,
    deadline: Instant,
) -> Result<Option<DeliveredPart>, SessionCacheError> {
    let mode = mode(project);
    let idle =
        matches!(to, Recipient::Session { part, .. } if mode == DeliveryMode::Index && !part.is_first());
    if mode == DeliveryMode::Off || idle || !cache_file_exists(project) {
        return Ok(None);
    }
    let cache = open(project)?;
    let provider = ProjectProvider::with_store(project, store);
    let circumstances = delivery_context(&project.root, &cache, mode, to);
    let asked = part_key(&circumstances, to);
    if let Some(ready) = cache.cached_part(&provider, &asked) {
        return Ok(delivered(ready, None, false));
    }
    let Some(found) = cache.snapshot()? else { return Ok(None) };
    let (snapshot, stale, rebuilt) = rebuild_if_stale(&cache, &provider, found, now, deadline);
    let path = cache.settings().target();
    let damaged = |why| SessionCacheError::Damaged { path: path.to_owned(), why };
    let document = CacheDocument::parse(&snapshot.text).map_err(|error| damaged(error.to_string()))?;
    let circumstances = DeliveryContext { stale: stale.as_deref(), ..circumstances };
    let part = match to {
        Recipient::Session { part, .. } => delivery::part(&document, &circumstances, part.number),
        Recipient::Subagent { agent_type } => subagent_part(&document, &circumstances, agent_type),
    };
    let cached = CachedPart { hash: document.header.hash.clone(), text: part.map(|part| part.text) };
    if stale.is_none() {
        cache.store_part(&provider, &snapshot, &asked, &cached);
    }
    Ok(delivered(cached, stale, rebuilt))
}

fn delivered(ready: CachedPart, stale: Option<String>, rebuilt: bool) -> Option<DeliveredPart> {
    let text = ready.text?;
    Some(DeliveredPart { chars: CLIENT.unit.count(&text), text, hash: ready.hash, stale, rebuilt })
}

/// Encodes the request; different results have different encodings.
fn part_key(circumstances: &DeliveryContext<'_>, to: Recipient<'_>) -> String {
    let circumstances = circumstances.fingerprint();
    match to {
        Recipient::Session { part, .. } => format!("{circumstances}\npart {}", part.number),
        Recipient::Subagent { agent_type } => format!("{circumstances}\nagent {agent_type}"),
    }
}

/// Returns the number of entries that a session start needs for the current content.
pub(crate) fn required_entries(project: &ActiveProject) -> Result<usize, SessionCacheError> {
    if mode(project) != DeliveryMode::Full {
        return Ok(1);
    }
    let cache = open(project)?;
    let text = cache.preview(&ProjectProvider::new(project))?;
    let document = CacheDocument::parse(&text).expect("what a build writes is a cache");
    let start = Recipient::Session { source: "startup", part: HookPart::default() };
    let needed =
        entries_needed(&document, &delivery_context(&project.root, &cache, DeliveryMode::Full, start));
    // Some reserve, so that not every added line requires another `lockstep init`.
    Ok(needed + needed.div_ceil(10))
}

/// Returns true if there is a cache file. Most projects have none, and nothing else is checked then.
pub(crate) fn cache_file_exists(project: &ActiveProject) -> bool {
    let default = || lockstep_cache::framework_paths::default_target(&project.root);
    project.root.join(project.config().cache.path.0.clone().unwrap_or_else(default)).exists()
}

pub(crate) fn mode(project: &ActiveProject) -> DeliveryMode {
    match project.config().cache.deliver {
        CacheDelivery::Index => DeliveryMode::Index,
        CacheDelivery::Full => DeliveryMode::Full,
        CacheDelivery::Off => DeliveryMode::Off,
    }
}

fn delivery_context<'a>(
    root: &Path,
    cache: &'a SessionCache,
    mode: DeliveryMode,
    to: Recipient<'a>,
) -> DeliveryContext<'a> {
    let (source, entries) = match to {
        Recipient::Session { source, part } => (source, part.of),
        Recipient::Subagent { .. } => ("", 1),
    };
    DeliveryContext {
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
fn rebuild_if_stale(
    cache: &SessionCache,
    provider: &ProjectProvider<'_>,
    found: CacheSnapshot,
    now: Timestamp,
    deadline: Instant,
) -> (CacheSnapshot, Option<String>, bool) {
    let late = || format!("there was no time to build it anew within {} ms", REBUILD_TIMEOUT.as_millis());
    let outcome = |error: CacheError| match error {
        CacheError::DeadlineExceeded => late(),
        other => other.to_string(),
    };
    match cache.freshness_of(&found, provider, Some(deadline)) {
        Ok(Freshness::Fresh | Freshness::Missing) => (found, None, false),
        Err(error) => (found, Some(outcome(error)), false),
        Ok(Freshness::Stale(_) | Freshness::Modified(_)) => {
            let options = BuildOptions { deadline: Some(deadline), ..BuildOptions::default() };
            let built = cache.build(provider, now, options).and_then(|built| Ok((built, cache.snapshot()?)));
            match built {
                Ok((built, Some(new))) => (new, None, built.written),
                Ok((_, None)) => (found, None, false),
                Err(error) => (found, Some(outcome(error)), false),
            }
        }
    }
}
