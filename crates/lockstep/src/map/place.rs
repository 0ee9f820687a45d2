//! Where a project's map is, what it is of, and how large it may be.

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

impl ActiveProject {
    /// The path of the map document; `None` if the configuration names none that can be used.
    pub(crate) fn map_path(&self) -> Option<PathBuf> {
        self.map_place().ok().map(|place| place.path)
    }

    /// Where its map is.
    pub(super) fn map_place(&self) -> Result<Place, CommandError> {
        let config = &self.config().map;
        let shown = match &config.path.0 {
            Some(path) => path.clone(),
            None if self.root.join(".claude").is_dir() => {
                ".claude/agent-memory/analyst/codebase-map.md".to_owned()
            }
            None => ".lockstep/codebase-map.md".to_owned(),
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
