//! Path, scope and size limit of a project's map.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use lockstep_config::scope::ScopePreset;
use lockstep_index::index::IndexSettings;
use lockstep_map::scope::{CLAUDE, ScopePattern, WHOLE, validate};
use lockstep_map::view::SizeLimit;
use lockstep_refs::entity::Aliases;
use lockstep_store::{PathRefusal, confine};

use crate::error::{CommandError, CommandResult};
use crate::project::ActiveProject;

/// A project's map.
pub(super) struct MapSettings {
    pub(super) path: PathBuf,
    /// The same, relative to the root.
    pub(super) shown: String,
    pub(super) scope: Option<String>,
    default_scope: &'static str,
    lines: Option<usize>,
    /// Set if the document is not in `.lockstep`, where every file is Lockstep's, or the configuration names
    /// it.
    pub(super) is_configured: bool,
}

/// The document of a framework's map, at the path where its analyst reads it.
const CLAUDE_PATH: &str = ".claude/agent-memory/analyst/codebase-map.md";
/// The document of every other map.
const PLAIN_PATH: &str = ".lockstep/codebase-map.md";

impl ActiveProject {
    /// Returns the path of the map document. `None` if the configured one cannot be used.
    pub(crate) fn map_path(&self) -> Option<PathBuf> {
        self.map_settings().ok().map(|place| place.path)
    }

    pub(super) fn map_settings(&self) -> CommandResult<MapSettings> {
        self.map_settings_for(None)
    }

    /// The path of its map for the requested scope.
    pub(super) fn map_settings_for(&self, asked: Option<&str>) -> CommandResult<MapSettings> {
        let config = &self.config().map;
        let display = match &config.path.0 {
            Some(path) => path.clone(),
            None if self.is_framework_map(asked) => CLAUDE_PATH.to_owned(),
            None => PLAIN_PATH.to_owned(),
        };
        // A link is reported when the document is read or written.
        let inside = confine(&self.root, Path::new(&display));
        if let Err(refusal @ (PathRefusal::Outside | PathRefusal::Git)) = inside {
            return Err(config_error(&format!(
                "`[map] path` is {display:?}, which is not inside the project: {refusal}"
            ))
            .hint("give a path relative to the project's root"));
        }
        if let Some(scope) = &config.scope.0
            && let Some(problem) = validate(scope)
        {
            return Err(config_error(&format!("`[map] scope` is {scope:?}, which {problem}")));
        }
        let default_scope = match self.config().scope.preset {
            ScopePreset::Claude => CLAUDE,
            ScopePreset::Repository => WHOLE,
        };
        Ok(MapSettings {
            path: self.root.join(&display),
            is_configured: config.path.0.is_some() || display != PLAIN_PATH,
            shown: display.trim_start_matches("./").to_owned(),
            scope: config.scope.0.clone(),
            default_scope,
            lines: config.max_lines.0,
        })
    }
}

impl ActiveProject {
    /// Returns true if the map is one of `.claude/`: by the requested or configured scope, otherwise by the
    /// newest document.
    fn is_framework_map(&self, asked: Option<&str>) -> bool {
        if !self.root.join(".claude").is_dir() {
            return false;
        }
        let preset = (self.config().scope.preset == ScopePreset::Claude).then_some(CLAUDE);
        match asked.or(self.config().map.scope.0.as_deref()).or(preset) {
            Some(scope) => ScopePattern::new(scope, None).is_claude(),
            None => self.has_framework_document(),
        }
    }

    /// Returns true if the newest document is one of `.claude/`.
    fn has_framework_document(&self) -> bool {
        let changed = |path: &str| self.root.join(path).metadata().and_then(|meta| meta.modified()).ok();
        let Some(written) = changed(CLAUDE_PATH) else { return false };
        let is_newest = changed(PLAIN_PATH).is_none_or(|other| other <= written);
        is_newest
            && scope_in_header(&self.root.join(CLAUDE_PATH))
                .is_some_and(|scope_in_header| ScopePattern::new(&scope_in_header, None).is_claude())
    }
}

/// The scope that the header of a document names.
fn scope_in_header(path: &Path) -> Option<String> {
    let mut head = String::new();
    lockstep_fs::open(path).ok()?.take(MAX_HEADER_BYTES).read_to_string(&mut head).ok()?;
    let scope = head.lines().find_map(|line| line.strip_prefix("<!-- Scope: ")?.strip_suffix(" -->"));
    scope.map(str::to_owned)
}

/// The number of bytes that are read to find the scope in a header.
const MAX_HEADER_BYTES: u64 = 512;

fn config_error(message: &str) -> CommandError {
    CommandError::config(message)
}

impl MapSettings {
    /// Returns the requested scope, else the configured one, else that of the existing map.
    pub(super) fn effective_scope(&self, asked: Option<&str>, known: Option<&str>) -> ScopePattern {
        let text = asked.or(self.scope.as_deref()).or(known).unwrap_or(self.default_scope);
        ScopePattern::new(text, Some(&self.shown))
    }

    /// Returns the size limit of the document.
    pub(super) fn limit(&self, scope: &ScopePattern) -> Option<SizeLimit> {
        SizeLimit::of(self.lines, scope.is_claude())
    }
}

/// Returns a digest of the inputs of a map besides the files: resolution rules, scope, indexed files and
/// aliases.
///
/// The number at the start is the version of the encoding. Raising it rebuilds every map.
pub(super) fn settings_fingerprint(scope: &ScopePattern, settings: &IndexSettings, aliases: &Aliases) -> u64 {
    let mut text =
        format!("1 {}\n{}{}", lockstep_refs::EXTRACTOR_VERSION, scope.fingerprint(), settings.fingerprint());
    for (alias, path) in aliases.pairs() {
        text.push_str(&format!("alias {alias:?} {path:?}\n"));
    }
    let hash = blake3::hash(text.as_bytes());
    u64::from_le_bytes(hash.as_bytes().first_chunk().copied().unwrap_or_default())
}
