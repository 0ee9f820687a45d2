//! The index of a tree, opened for a question.

use jiff::Timestamp;
use lockstep_config::scope::ScopePreset;
use lockstep_index::index::{Home, Index, Progress, Settings};
use lockstep_refs::entity::Aliases;
use lockstep_refs::report::Basis;

use super::tree::Tree;
use crate::error::CommandError;
use crate::project::ActiveProject;

impl Tree {
    /// The names that the project gives to files.
    pub(crate) fn aliases(&self) -> Aliases {
        self.project.as_ref().map_or_else(Aliases::default, ActiveProject::aliases)
    }

    /// The index, up to date. In a project it is kept; where Lockstep is not active nothing is written, and it goes with the
    /// process.
    pub(crate) fn open_index(&self, progress: &dyn Progress) -> Result<Index, CommandError> {
        let (home, settings) = self.home_of_index();
        Ok(Index::open_or_build(&self.root, home, &settings, progress)?)
    }

    /// The index, up to date, with what it said when it was asked. Where `is_worth_it`, it is asked before it is known to be up to date,
    /// and again only if it was not.
    pub(crate) fn ask_index<T>(
        &self,
        progress: &dyn Progress,
        is_worth_it: impl FnOnce(&Index) -> bool,
        ask: impl Fn(&Index) -> T,
    ) -> Result<(Index, T), CommandError> {
        let (home, settings) = self.home_of_index();
        let early = |index: &Index| is_worth_it(index).then(|| ask(index));
        let (index, answer) = Index::open_and_ask(&self.root, home, &settings, progress, early)?;
        let answer = answer.unwrap_or_else(|| ask(&index));
        Ok((index, answer))
    }

    fn home_of_index(&self) -> (Home<'_>, Settings) {
        match &self.project {
            Some(project) => (Home::State(&project.state), project.index_settings()),
            None => (Home::Memory, Settings::default()),
        }
    }
}

impl ActiveProject {
    /// The names that the project gives to files.
    pub(crate) fn aliases(&self) -> Aliases {
        Aliases::new(self.config().impact.aliases.0.iter().map(|(name, path)| (&**name, &**path)))
    }

    /// What the project's index is of.
    pub(crate) fn index_settings(&self) -> Settings {
        let scope = &self.config().scope;
        let settings = Settings {
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

/// What the answers that an index has given are worth. To be asked last.
pub(crate) fn basis(index: &Index) -> Basis {
    let condition = index.condition();
    let commit = condition.commit.as_deref().map_or("none", |commit| commit.get(..12).unwrap_or(commit));
    let time = Timestamp::from_nanosecond(condition.written_at.into()).unwrap_or_default();
    Basis {
        fresh: condition.fresh,
        revision: format!("{commit}+{}", condition.generation),
        time: time.to_string(),
        unseen: condition.unseen.total(),
    }
}
