//! The index of a tree, opened for a question.

use jiff::Timestamp;
use lockstep_config::scope::ScopePreset;
use lockstep_index::index::{Index, IndexLocation, IndexProgress, IndexSettings};
use lockstep_index::user_cache::CacheBounds;
use lockstep_refs::entity::Aliases;
use lockstep_refs::report::IndexState;
use lockstep_store::StateDir;

use crate::error::{CommandError, CommandResult};
use crate::project::ActiveProject;
use crate::trust::user_cache;
use crate::workspace::Workspace;

impl Workspace {
    /// Returns the project's aliases of files.
    pub(crate) fn aliases(&self) -> Aliases {
        self.project.as_ref().map_or_else(Aliases::default, ActiveProject::aliases)
    }

    pub(crate) fn open_index(&self, progress: &dyn IndexProgress) -> CommandResult<Index> {
        let (home, settings) = self.index_location();
        Ok(Index::open_or_build(&self.root, home, &settings, progress)?)
    }

    /// Returns the updated index, and the result of `ask`. If `is_worth_it` returns true, `ask` runs before
    /// the index is known to be up to date, and is repeated only if it was not.
    pub(crate) fn query_index<T>(
        &self,
        progress: &dyn IndexProgress,
        is_worth_it: impl FnOnce(&Index) -> bool,
        ask: impl Fn(&Index) -> T,
    ) -> CommandResult<(Index, T)> {
        let (home, settings) = self.index_location();
        let early = |index: &Index| is_worth_it(index).then(|| ask(index));
        let (index, answer) = Index::query_speculatively(&self.root, home, &settings, progress, early)?;
        let answer = answer.unwrap_or_else(|| ask(&index));
        Ok((index, answer))
    }

    /// The home of the index: if the user has no cache directory that can be used, it ends with the process.
    fn index_location(&self) -> (IndexLocation<'_>, IndexSettings) {
        (self.index_directory().map_or(IndexLocation::Memory, IndexLocation::Project), self.index_settings())
    }

    pub(crate) fn index_settings(&self) -> IndexSettings {
        self.project.as_ref().map_or_else(IndexSettings::default, ActiveProject::index_settings)
    }

    /// The directory in which the index is kept: the project's state, or a directory of the user's cache for a tree without
    /// `lockstep.toml`.
    pub(crate) fn index_directory(&self) -> CommandResult<&StateDir> {
        if let Some(project) = &self.project {
            return Ok(&project.state);
        }
        let cached = self.cached_index.get_or_init(|| {
            let cache = user_cache().ok_or("neither XDG_CACHE_HOME nor HOME names a directory for it")?;
            cache.directory_of(&self.root, CacheBounds::default()).map_err(|error| error.to_string())
        });
        cached.as_ref().map_err(|why| {
            CommandError::store(format!("cannot keep an index: {why}"))
                .hint("`lockstep init` keeps it in the project; questions work without it")
        })
    }
}

impl ActiveProject {
    /// Returns the project's aliases of files.
    pub(crate) fn aliases(&self) -> Aliases {
        Aliases::new(self.config().impact.aliases.0.iter().map(|(name, path)| (&**name, &**path)))
    }

    /// Returns the settings of the project's index.
    pub(crate) fn index_settings(&self) -> IndexSettings {
        let scope = &self.config().scope;
        let settings = IndexSettings {
            include: scope.include.0.clone(),
            exclude: scope.exclude.0.clone(),
            max_file_bytes: scope.max_file_bytes.0,
        };
        match scope.preset {
            ScopePreset::Repository => settings,
            ScopePreset::Claude => settings.only_claude(),
        }
    }
}

/// Returns the freshness of an index's answers. Call it last.
pub(crate) fn index_basis(index: &Index) -> IndexState {
    let condition = index.condition();
    let commit = condition.commit.as_deref().map_or("none", |commit| commit.get(..12).unwrap_or(commit));
    let time = Timestamp::from_nanosecond(condition.written_at.into()).unwrap_or_default();
    IndexState {
        fresh: condition.fresh,
        revision: format!("{commit}+{}", condition.generation),
        time: time.to_string(),
        unseen: condition.unseen.total(),
    }
}
