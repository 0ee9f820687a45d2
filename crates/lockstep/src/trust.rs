//! Paths of `lockstep.toml` that point outside the project. They are ignored until this user approves them: by `[paths] allow` in the
//! user's configuration, or by `lockstep trust`, which holds for these paths and this project.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use lockstep_config::key_schema::{KeySchema, all_keys};
use lockstep_config::user::allowed_paths;
use lockstep_config::{LoadedConfig, ValueOrigin};
use lockstep_index::user_cache::UserCache;
use lockstep_model::path::absolute_lexical;
use lockstep_store::{PathRefusal, StoreError, UserDir, confine, reserved};
use serde::Serialize;

use crate::env_vars::{HOME, XDG_CACHE_HOME, XDG_CONFIG_HOME, XDG_STATE_HOME};

/// The directory of approvals below the user's.
const APPROVALS: &str = "trust";

/// A larger user configuration is not read.
const MAX_USER_CONFIG_BYTES: u64 = 1 << 20;

/// A key of `lockstep.toml` that is set to a path which is not used; its default applies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct IgnoredKey {
    pub(crate) section: &'static str,
    pub(crate) name: &'static str,
    pub(crate) value: String,
    pub(crate) line: usize,
    pub(crate) why: String,
    /// True if `lockstep trust` can approve it.
    pub(crate) can_be_approved: bool,
}

impl fmt::Display for IgnoredKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { section, name, value, line, why, can_be_approved } = self;
        write!(f, "[{section}] {name} = {value:?} (line {line} of lockstep.toml) is ignored: {why}")?;
        match can_be_approved {
            true => f.write_str("; `lockstep trust` approves it"),
            false => f.write_str("; name a path inside the project"),
        }
    }
}

/// A key with a path outside the project, and the resolved path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct OutsideKey {
    pub(crate) section: &'static str,
    pub(crate) name: &'static str,
    pub(crate) value: String,
    pub(crate) place: PathBuf,
}

/// Returns the directory of this user's own state. `None` if the environment names none.
pub(crate) fn user_dir() -> Option<UserDir> {
    base(XDG_STATE_HOME.get().map(PathBuf::from), ".local/state").map(UserDir::new)
}

/// The directory of this user's caches; `None` if the environment names none.
pub(crate) fn user_cache() -> Option<UserCache> {
    base(XDG_CACHE_HOME.get().map(PathBuf::from), ".cache").map(UserCache::new)
}

fn base(named: Option<PathBuf>, below_home: &str) -> Option<PathBuf> {
    let home = || Some(PathBuf::from(HOME.get()?).join(below_home));
    named.filter(|path| path.is_absolute()).or_else(home).map(|base| base.join("lockstep"))
}

/// Resets every key of `loaded` whose path may not be used to its default, and returns these keys. A
/// configuration without paths costs nothing.
pub(crate) fn confine_keys(loaded: &mut LoadedConfig, root: &Path) -> Vec<IgnoredKey> {
    let refused = refused_keys(loaded, root);
    if refused.is_empty() {
        return Vec::new();
    }
    let is_approved = is_approved(root, &outside(&refused));
    let mut ignored = Vec::new();
    for RefusedKey { key, value, refusal, place } in refused {
        if place.as_ref().is_some_and(|place| is_approved || is_allowed(place)) {
            continue;
        }
        let line = match loaded.origin(key.section, key.name) {
            ValueOrigin::Line(line) => line,
            ValueOrigin::Default => 0,
        };
        key.reset(&mut loaded.config);
        loaded.origins.retain(|set| (set.section, set.name) != (key.section, key.name));
        ignored.push(IgnoredKey {
            section: key.section,
            name: key.name,
            value,
            line,
            can_be_approved: place.is_some(),
            why: match place {
                Some(place) if !matches!(refusal, PathRefusal::Reserved(_)) => {
                    format!("it points outside the project, to {}", place.display())
                }
                _ => refusal.to_string(),
            },
        });
    }
    ignored
}

/// Returns the keys whose paths are outside the project, with the resolved paths.
pub(crate) fn outside_keys(loaded: &LoadedConfig, root: &Path) -> Vec<OutsideKey> {
    outside(&refused_keys(loaded, root))
}

fn outside(refused: &[RefusedKey]) -> Vec<OutsideKey> {
    let outside = |RefusedKey { key, value, place, .. }: &RefusedKey| {
        let place = place.clone()?;
        Some(OutsideKey { section: key.section, name: key.name, value: value.clone(), place })
    };
    refused.iter().filter_map(outside).collect()
}

/// A key that is set to a path outside the project.
struct RefusedKey {
    key: &'static KeySchema,
    value: String,
    refusal: PathRefusal,
    /// The place outside the project; `None` for a git directory, which no approval opens.
    place: Option<PathBuf>,
}

/// The keys of documents that are always in the project; whatever writes them refuses other paths.
const INSIDE_ONLY: [(&str, &str); 4] =
    [("map", "path"), ("cache", "path"), ("steps", "dir"), ("task", "l2_path")];

/// The keys of files that are only read.
const READ_ONLY: [(&str, &str); 3] = [("steps", "commands"), ("steps", "sections"), ("steps", "machine")];

fn refused_keys(loaded: &LoadedConfig, root: &Path) -> Vec<RefusedKey> {
    let is_set = |key: &&'static KeySchema| loaded.origin(key.section, key.name) != ValueOrigin::Default;
    let refused = |key: &'static KeySchema| {
        let value = key.path(&loaded.config)?;
        let named = (key.section, key.name);
        let outside = || confine(root, Path::new(&value)).err().filter(|_| !INSIDE_ONLY.contains(&named));
        let hidden = || reserved(root, Path::new(&value)).filter(|_| !READ_ONLY.contains(&named));
        let refusal = outside().or_else(hidden)?;
        let place = real_place(&absolute_lexical(root, Path::new(&value)));
        if key.section == "impact" && is_temporary_report(&place) {
            return None;
        }
        let refusal =
            confine(root, &place).err().filter(|confine| *confine == PathRefusal::Git).unwrap_or(refusal);
        let is_git = refusal == PathRefusal::Git;
        Some(RefusedKey { key, value, refusal, place: (!is_git).then_some(place) })
    };
    all_keys().filter(is_set).filter_map(refused).collect()
}

/// Resolves all links in a path; parts that do not exist stay as they are.
fn real_place(path: &Path) -> PathBuf {
    let mut missing = Vec::new();
    for above in path.ancestors() {
        if let Ok(real) = above.canonicalize() {
            return missing.iter().rev().fold(real, |place, part| place.join(part));
        }
        missing.extend(above.file_name());
    }
    path.to_owned()
}

/// Returns true for `src-impact-….md` in the directory of the journals, which is the path that skills expect.
fn is_temporary_report(place: &Path) -> bool {
    let name = place.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let temporary = std::env::temp_dir().canonicalize().ok();
    name.starts_with("src-impact-") && name.ends_with(".md") && place.parent() == temporary.as_deref()
}

/// Returns true if the user's configuration allows paths below a directory that holds `place`.
fn is_allowed(place: &Path) -> bool {
    let Some(path) = base(XDG_CONFIG_HOME.get().map(PathBuf::from), ".config") else { return false };
    let path = path.join("config.toml");
    let is_small =
        fs::metadata(&path).is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_USER_CONFIG_BYTES);
    let text = if is_small { lockstep_fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
    allowed_paths(&text).iter().any(|allowed| place.starts_with(real_place(allowed)))
}

fn is_approved(root: &Path, outside: &[OutsideKey]) -> bool {
    if outside.is_empty() {
        return false;
    }
    let approved = user_dir().and_then(|user| user.read(&approval(root)).ok().flatten());
    approved.is_some_and(|text| text.trim_end() == digest(outside))
}

/// Approves the paths outside the project at `root`, and no others.
pub(crate) fn approve(user: &UserDir, root: &Path, outside: &[OutsideKey]) -> Result<(), StoreError> {
    user.ensure(APPROVALS)?;
    user.write(&approval(root), &(digest(outside) + "\n"))
}

/// Takes the approval of the project at `root` back; returns true if there was one.
pub(crate) fn revoke(user: &UserDir, root: &Path) -> Result<bool, StoreError> {
    user.remove(&approval(root))
}

fn approval(root: &Path) -> String {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    format!("{APPROVALS}/{}", &blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex()[..32])
}

fn digest(outside: &[OutsideKey]) -> String {
    let mut hasher = blake3::Hasher::new();
    for OutsideKey { section, name, value, place } in outside {
        for part in
            [section.as_bytes(), name.as_bytes(), value.as_bytes(), place.as_os_str().as_encoded_bytes()]
        {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
    }
    hasher.finalize().to_hex().to_string()
}
