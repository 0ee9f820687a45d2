//! Steps in a project: their files, tables, locks and trail. Hooks, commands and the MCP server use this
//! module; the decisions are made in `lockstep-steps`.

pub(crate) mod audit;
pub(crate) mod audit_query;
pub(crate) mod evidence;
pub(crate) mod files;
pub(crate) mod gates;
pub(crate) mod moves;
mod open_steps;
pub(crate) mod output;
pub(crate) mod prompt_check;
pub(crate) mod record_phase;
pub(crate) mod recorded_commits;
pub(crate) mod rules;
pub(crate) mod step_runs;
pub(crate) mod ungated_commits;
pub(crate) mod view;
pub(crate) mod write;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use jiff::Zoned;
use lockstep_config::gates::GateMode;
use lockstep_config::steps::{ExpectedOutcome, OptionalPath};
use lockstep_model::change::format_timestamp;
use lockstep_steps::command_table::CommandTable;
use lockstep_steps::markers::{self, MarkerKind, MarkerNames, Markers};
use lockstep_steps::problem::StepProblem;
use lockstep_steps::section_definitions::SectionDefinitions;
use lockstep_steps::state_machine::StepMachines;
use lockstep_steps::step::evidence::{EvidenceRules, ExpectedResult};
use lockstep_store::step_lock::{Holder, StepLockError};
use lockstep_store::{StateDir, StoreError, confine};

use crate::cli::CommandStatus;
use crate::project::ActiveProject;

pub(crate) type StepsResult<T = CommandStatus> = Result<T, StepsError>;

/// The reason why an operation on steps failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StepsError {
    /// One of the tables cannot be used.
    #[error("{} cannot be used: {why}", path.display())]
    Table { path: PathBuf, why: String },
    /// Another holder has the step.
    #[error("{0}")]
    Locked(Holder),
    /// The step file does not exist.
    #[error("there is no step file {0}")]
    NoFile(String),
    /// A change was refused, for these reasons.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Refused(Vec<StepProblem>),
    /// The command that was to be evidence could not be run.
    #[error("the command could not be run")]
    Run(#[source] std::io::Error),
    #[error("git could not be asked: {0}")]
    Git(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<StepLockError> for StepsError {
    fn from(error: StepLockError) -> Self {
        match error {
            StepLockError::Held(holder) => Self::Locked(holder),
            StepLockError::Store(error) => Self::Store(error),
        }
    }
}

impl StepsError {
    /// Every reason of a refusal; anything else is a failure.
    pub(crate) fn into_refusal(self) -> Result<Vec<StepProblem>, Self> {
        match self {
            Self::Refused(problems) => Ok(problems),
            Self::Locked(holder) => Ok(vec![StepProblem::invalid(
                "step file",
                holder.to_string(),
                "Wait, or write in the holder's name with --as",
            )]),
            failure => Err(failure),
        }
    }
}

/// Returns true if a project has recorded a step, by its state directory alone.
pub(crate) fn has_step_state(state: &StateDir) -> bool {
    state.path().join("steps").is_dir()
}

/// The steps of a project, at one moment.
#[derive(Debug)]
pub(crate) struct StepContext<'p> {
    pub(crate) project: &'p ActiveProject,
    pub(crate) now: Zoned,
}

impl<'p> StepContext<'p> {
    pub(crate) fn new(project: &'p ActiveProject, now: Zoned) -> Self {
        Self { project, now }
    }

    /// The directory of the step files.
    pub(crate) fn dir(&self) -> PathBuf {
        self.project.root.join(&self.project.config().steps.dir.0)
    }

    /// Returns true if the project uses steps: one was recorded here, there is a step file, as in a fresh
    /// clone, or the memory outside the project has a trail. A directory that only has the same name does not count.
    pub(crate) fn has_steps(&self) -> bool {
        self.known_path().exists() || self.has_step_files() || self.project.memory().exists()
    }

    /// The mode of gate 3. Rules that changed after a step began do not open it.
    pub(crate) fn commit_mode(&self) -> GateMode {
        match self.project.config().gates.commit {
            GateMode::Off | GateMode::Warn if self.has_changed_rules() => GateMode::Block,
            mode => mode,
        }
    }

    pub(crate) fn marker_names(&self) -> MarkerNames {
        let table = &self.project.config().steps.markers.0;
        MarkerKind::ALL.into_iter().fold(MarkerNames::default(), |names, kind| match table.get(kind.key()) {
            Some(name) => names.with(kind, name),
            None => names,
        })
    }

    pub(crate) fn markers(&self, prompt: &str) -> Markers {
        markers::read_with(prompt, &self.marker_names())
    }

    /// The moment as step files spell it.
    pub(crate) fn moment(&self) -> String {
        format_timestamp(&self.now)
    }

    pub(crate) fn machine(&self) -> StepsResult<StepMachines> {
        let configured = &self.project.config().steps.machine;
        self.table(configured, "step-execution-fsm.yaml", StepMachines::built_in, |text| {
            StepMachines::parse(text).map_err(|error| error.to_string())
        })
    }

    /// Returns the extent of the validation for each command.
    pub(crate) fn commands(&self) -> StepsResult<CommandTable> {
        let configured = &self.project.config().steps.commands;
        self.table(configured, "des-commands.yaml", CommandTable::built_in, |text| {
            CommandTable::parse(text).map_err(|error| error.to_string())
        })
    }

    pub(crate) fn definitions(&self) -> StepsResult<SectionDefinitions> {
        let configured = &self.project.config().steps.sections;
        self.table(configured, "_section-definitions.yaml", SectionDefinitions::built_in, |text| {
            SectionDefinitions::parse(text).map_err(|error| error.to_string())
        })
    }

    /// Which phases must have evidence.
    pub(crate) fn evidence_rules(&self) -> EvidenceRules {
        let expectation = |proof: &ExpectedOutcome| match proof {
            ExpectedOutcome::Pass => ExpectedResult::Pass,
            ExpectedOutcome::Fail => ExpectedResult::Fail,
        };
        let table = &self.project.config().steps.evidence.0;
        EvidenceRules(table.iter().map(|(phase, proof)| (phase.clone(), expectation(proof))).collect())
    }

    /// Returns the project's own table, if there is one. A configured file must exist.
    fn table<T>(
        &self,
        configured: &OptionalPath,
        name: &str,
        built_in: fn() -> T,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> StepsResult<T> {
        let named = configured.resolve(&self.project.root);
        let path = named.clone().unwrap_or_else(|| self.dir().join(name));
        // A named path was checked with the configuration.
        if named.is_none()
            && let Err(refusal) = confine(&self.project.root, &path)
        {
            return Err(StepsError::Table { path, why: refusal.to_string() });
        }
        match lockstep_fs::read_to_string(&path) {
            Ok(text) => parse(&text).map_err(|why| StepsError::Table { path, why }),
            Err(error) if error.kind() == ErrorKind::NotFound && named.is_none() => Ok(built_in()),
            Err(error) => Err(StepsError::Table { path, why: error.to_string() }),
        }
    }

    /// A path relative to the root, as it is shown and recorded.
    pub(crate) fn relative(&self, path: &Path) -> Option<String> {
        let real = self.project.root.canonicalize().unwrap_or_else(|_| self.project.root.clone());
        let inside = path.strip_prefix(&self.project.root).or_else(|_| path.strip_prefix(&real)).ok()?;
        lockstep_text::path_text(inside)
    }
}
