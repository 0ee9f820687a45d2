//! Where a project's map is, what it is of, and how large it may be.

use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use lockstep_config::scope::ScopePreset;
use lockstep_index::index::Settings;
use lockstep_map::scope::{CLAUDE, Scope, WHOLE, problem};
use lockstep_map::view::Limit;
use lockstep_refs::entity::Aliases;

use crate::error::{CommandError, Kind};
use crate::project::ActiveProject;

/// A project's map.
pub(super) struct Place {
    /// The document.
    pub(super) path: PathBuf,
    /// The same, relative to the root.
    pub(super) shown: String,
    /// What the project says the scope is.
    pub(super) scope: Option<String>,
    /// The scope where nobody says one.
    default_scope: &'static str,
    lines: Option<usize>,
}

/// The document of a framework's map, where its analyst reads it.
const CLAUDE_PATH: &str = ".claude/agent-memory/analyst/codebase-map.md";
/// The document of every other map.
const PLAIN_PATH: &str = ".lockstep/codebase-map.md";

impl ActiveProject {
    /// The path of the map document; `None` if the configuration names none that can be used.
    pub(crate) fn map_path(&self) -> Option<PathBuf> {
        self.map_place().ok().map(|place| place.path)
    }

    /// Where its map is.
    pub(super) fn map_place(&self) -> Result<Place, CommandError> {
        self.map_place_for(None)
    }

    /// Where its map is, or will be with the scope that was asked for.
    pub(super) fn map_place_for(&self, asked: Option<&str>) -> Result<Place, CommandError> {
        let config = &self.config().map;
        let shown = match &config.path.0 {
            Some(path) => path.clone(),
            None if self.is_framework_map(asked) => CLAUDE_PATH.to_owned(),
            None => PLAIN_PATH.to_owned(),
        };
        let inside = Path::new(&shown)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !inside {
            return Err(wrong(&format!("`[map] path` is {shown:?}, which is not inside the project"))
                .hint("give a path relative to the project's root"));
        }
        if let Some(scope) = &config.scope.0
            && let Some(problem) = problem(scope)
        {
            return Err(wrong(&format!("`[map] scope` is {scope:?}, which {problem}")));
        }
        let default_scope = match self.config().scope.preset {
            ScopePreset::Claude => CLAUDE,
            ScopePreset::Repository => WHOLE,
        };
        Ok(Place {
            path: self.root.join(&shown),
            shown: shown.trim_start_matches("./").to_owned(),
            scope: config.scope.0.clone(),
            default_scope,
            lines: config.max_lines.0,
        })
    }
}

impl ActiveProject {
    /// Whether the map is one of `.claude/`: by the scope that was asked for or configured, else by the newest document.
    fn is_framework_map(&self, asked: Option<&str>) -> bool {
        if !self.root.join(".claude").is_dir() {
            return false;
        }
        let preset = (self.config().scope.preset == ScopePreset::Claude).then_some(CLAUDE);
        match asked.or(self.config().map.scope.0.as_deref()).or(preset) {
            Some(scope) => Scope::new(scope, None).is_claude(),
            None => self.has_framework_document(),
        }
    }

    /// Whether the newest document is one of `.claude/`.
    fn has_framework_document(&self) -> bool {
        let changed = |path: &str| self.root.join(path).metadata().and_then(|meta| meta.modified()).ok();
        let Some(written) = changed(CLAUDE_PATH) else { return false };
        let is_newest = changed(PLAIN_PATH).is_none_or(|other| other <= written);
        is_newest
            && scope_in_header(&self.root.join(CLAUDE_PATH))
                .is_some_and(|it| Scope::new(&it, None).is_claude())
    }
}

/// The scope that the header of a document names.
fn scope_in_header(path: &Path) -> Option<String> {
    let mut head = String::new();
    std::fs::File::open(path).ok()?.take(MAX_HEADER_BYTES).read_to_string(&mut head).ok()?;
    let scope = head.lines().find_map(|line| line.strip_prefix("<!-- Scope: ")?.strip_suffix(" -->"));
    scope.map(str::to_owned)
}

/// The number of bytes that are read to find the scope in a header.
const MAX_HEADER_BYTES: u64 = 512;

fn wrong(message: &str) -> CommandError {
    CommandError::new(Kind::Configuration, message)
}

impl Place {
    /// The scope: what was asked for, else what the project says, else what the map is of already.
    pub(super) fn scope_of(&self, asked: Option<&str>, known: Option<&str>) -> Scope {
        let text = asked.or(self.scope.as_deref()).or(known).unwrap_or(self.default_scope);
        Scope::new(text, Some(&self.shown))
    }

    /// How large the document may be.
    pub(super) fn limit(&self, scope: &Scope) -> Option<Limit> {
        Limit::of(self.lines, scope.is_claude())
    }
}

/// Tells what the references of a map depend on besides the files: this program's rules, the scope, which files count, aliases.
pub(super) fn settings(scope: &Scope, settings: &Settings, aliases: &Aliases) -> u64 {
    let text = format!("{} {scope:?} {settings:?} {aliases:?}", lockstep_refs::SEMANTICS);
    let hash = blake3::hash(text.as_bytes());
    u64::from_le_bytes(hash.as_bytes().first_chunk().copied().unwrap_or_default())
}
