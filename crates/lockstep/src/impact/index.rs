//! The index of a tree, opened for a question.

use jiff::Timestamp;
use lockstep_config::scope::ScopePreset;
use lockstep_index::index::{Home, Index, Progress, Settings};
use lockstep_refs::entity::Aliases;
use lockstep_refs::impact::Edit;
use lockstep_refs::report::Basis;
use lockstep_store::Store;

use super::analysis::Analysis;
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
        let home = match &self.project {
            Some(project) => Home::State(&project.state),
            None => Home::Memory,
        };
        let settings = self.project.as_ref().map_or_else(Settings::default, ActiveProject::index_settings);
        Ok(Index::open_or_build(&self.root, home, &settings, progress)?)
    }

    /// Who depends on what the edits changed, by an index that is open, until `is_over`.
    pub(crate) fn analyse(
        &self,
        mut index: Index,
        edits: &[Edit],
        is_over: &dyn Fn() -> bool,
    ) -> Result<Analysis, CommandError> {
        let mut analysis = Analysis::of(&self.root, &index, &self.aliases(), edits, is_over);
        if let Some(project) = &self.project
            && let Some(store) = Store::open_existing(&project.state)?
        {
            analysis.drop_dismissed(&store)?;
        }
        // What could not be kept is parsed again the next time: no reason to give no answer.
        let _ = index.keep_parsed();
        Ok(analysis)
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
