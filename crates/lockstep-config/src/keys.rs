//! Every key of `lockstep.toml`: its section, name, type, default and documentation.
//!
//! To add a key, add it here, with its type if that is new. A set of words is a [`ConfigEnum`]; any other type
//! implements [`ConfigValue`](crate::value::ConfigValue). Everything else is derived from this table.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lockstep_model::failure_policy::OnFailure;
use lockstep_model::path::absolute_lexical;
use lockstep_task::access::{AgentRule, SkillRule};

use crate::cache::{CacheBudget, CacheDelivery, CachePreset, CacheSectionConfig, PathList};
use crate::cascade::ContextTokens;
use crate::document_path::DocumentPath;
use crate::gates::{GateMode, Unreadable};
use crate::impact::{AliasTable, ReportFile};
use crate::key_schema::sections;
use crate::map::{MapScope, MaxMapLines};
use crate::nested_tables::{TableList, TableMap};
use crate::scope::{GitignorePatterns, MaxFileBytes, ScopePreset};
use crate::steps::{
    EvidenceTable, MarkerTable, OptionalPath, OverBudgetPolicy, PhaseSetName, StepSources, StepsDir,
};
use crate::task::{L2PathTemplate, MaxTaskBytes, TaskAuditFile};
use crate::value::{ConfigEnum, config_enum};

sections! {
    /// Recording of file changes.
    [journal] Journal {
        /// The directory that holds the journal files, `src-changes-SESSION.log`. A relative path starts at the
        /// project's root. An empty string means the system's temporary directory.
        dir: JournalDirSetting = JournalDirSetting::System;

        /// When the files on disk are compared with the catalogue of the last look, to find changes that no tool
        /// reported. `bash`: after every Bash call and at stops. `stop`: at stops only. `off`: never, so that only changes made
        /// with the client's editing tools are seen.
        sweep: SweepTiming = SweepTiming::Bash;

        /// Retention time of the journal file of an ended session: whole numbers of days, hours, minutes and
        /// seconds, such as `7d`, `24h` or `1h30m`.
        grace: Duration = Duration::from_secs(24 * 60 * 60);
    }

    /// Findings that cause an alert to the Lead. Reports are written in any case.
    [alert] Alert {
        /// For the changes of a subagent. `any`: every dependent counts. `breaking`: only dependents that the
        /// change breaks. `off`: no alerts.
        subagent: AlertThreshold = AlertThreshold::Any;

        /// For the Lead's own changes, at its stop; the values are those of `subagent`. An alert here costs the
        /// Lead a turn.
        lead: AlertThreshold = AlertThreshold::Breaking;

        /// Form of the alert. `detailed`: the change of each file, and the lines and names by which dependents use it; alerts that
        /// wait at the same time are merged. `plain`: the names of the files only; of several waiting alerts the newest is
        /// delivered, and the others are counted.
        format: AlertFormat = AlertFormat::Detailed;

        /// Report of changes on which nothing depends. `off`: none. `always`: one line to the Lead, also after a subagent that
        /// changed nothing, so that silence means that no hook ran.
        status: AlertStatus = AlertStatus::Off;
    }

    /// The search for dependents of changed files.
    [impact] Impact {
        /// Time limit of the analysis at a stop. The dependents that were found by then are reported, with a
        /// note that the report is incomplete. A hook also ends before its client's timeout of 15 seconds.
        time_limit: Duration = Duration::from_secs(10);

        /// Additional names of files in the project, with their paths relative to its root: a skill that is
        /// called by a short name, a script by its task.
        aliases: AliasTable = AliasTable::default();

        /// A file that holds the newest report of a session in Markdown, for skills that read it, such as
        /// `/tmp/src-impact-{session}.md`. A relative path starts at the project's root. An empty string means none.
        file: ReportFile = ReportFile::default();
    }

    /// Files to index, among those that git tracks or would track and that `.lockstepignore` does not
    /// exclude.
    [scope] Scope {
        /// `repository`: all of them. `claude`: an agent framework's own files: agents, skills, commands, rules, hooks,
        /// settings and memory below `.claude/`.
        preset: ScopePreset = ScopePreset::Repository;

        /// Only files that match one of these patterns, which are written as in `.gitignore`; with a preset, those too.
        include: GitignorePatterns = GitignorePatterns::default();

        /// No file that matches one of these patterns, which are written as in `.gitignore`.
        exclude: GitignorePatterns = GitignorePatterns::default();

        /// Larger files are counted, but not read.
        max_file_bytes: MaxFileBytes = MaxFileBytes::default();
    }

    /// Behaviour of the client's hooks.
    [hooks] Hooks {
        /// Action of a gate that cannot decide, because a file is unreadable or this configuration is broken.
        /// `block`: the step is refused, with the reason. `allow`: the step passes, and the fault is in the
        /// log. Hooks that only observe never block.
        on_failure: OnFailure = OnFailure::Block;
    }

    /// The task: one versioned document that is the truth across phases.
    [task] Task {
        /// Maximum size of a version of the task, in bytes. A task holds pointers; bulk belongs in the files
        /// that they name.
        max_bytes: MaxTaskBytes = MaxTaskBytes::default();

        /// Path of the L2 file of a phase if the task does not name it, relative to the project's root.
        /// `{session-id}`, `{N}` (the number of the phase) and `{coordinator}` are filled in.
        l2_path: L2PathTemplate = L2PathTemplate::default();

        /// The file of the task's audit: one line of JSON for every write that was granted or refused. A
        /// relative path starts at the project's root.
        events: TaskAuditFile = TaskAuditFile::default();

        /// Rights of agents on the task, by their type, besides the defaults: `pt-manager` creates and
        /// updates it, `delivery-agent` updates `phase_status`, `metrics` and `subject`, `rsil-agent` updates
        /// `phase_status`, and any other agent only reads. A table replaces the default of the same name.
        agents: TableMap<AgentRule> = TableMap::default();

        /// Sections that skills may write and must read, besides the defaults, which `lockstep task access`
        /// lists. A table replaces the default of the same name.
        skills: TableMap<SkillRule> = TableMap::default();
    }

    /// Steps: units of work whose phases are recorded, and whose prompt, end and commit pass gates. Without
    /// step files and without markers in a prompt, this section has no effect.
    [steps] Steps {
        /// The directory of the step files, relative to the project's root, including its subdirectories.
        dir: StepsDir = StepsDir::default();

        /// Other directories with step files, relative to the project's root. A part of a path may have `*`, as in
        /// `docs/feature/*/steps`.
        sources: StepSources = StepSources::default();

        /// Other names for the markers of a prompt: `validation`, `origin`, `step_file`, `agent`, `command`.
        markers: MarkerTable = MarkerTable::default();

        /// The phase set of a new step: `tdd-14`, `tdd-8`, `tdd-5`, `tdd-3`, or one of the project's own.
        phases: PhaseSetName = PhaseSetName::default();

        /// The file that defines how much of a prompt is checked for a command. An empty string means
        /// `des-commands.yaml` in the directory of the steps if it exists, otherwise the built-in table.
        commands: OptionalPath = OptionalPath::default();

        /// The file that defines the sections a prompt must have. An empty string means
        /// `_section-definitions.yaml` in the directory of the steps if it exists, otherwise the built-in
        /// ones.
        sections: OptionalPath = OptionalPath::default();

        /// The file with the state machines, phase sets and prefixes. An empty string means
        /// `step-execution-fsm.yaml` in the directory of the steps if it exists, otherwise the built-in ones.
        machine: OptionalPath = OptionalPath::default();

        /// Phases that require evidence, and the result that the command given with `--run` must have.
        evidence: EvidenceTable = EvidenceTable::default();

        /// Effect of an agent that takes more turns than its step allows. `warn`: a warning. `block`: gate 2
        /// fails.
        over_budget: OverBudgetPolicy = OverBudgetPolicy::Warn;
    }

    /// Mode of each gate. `off`: the gate is skipped. `warn`: its verdict is recorded and sent to the Lead, and nothing is
    /// refused. `block`: it refuses what fails. Gates check only prompts with markers, recorded steps and the task; other work
    /// passes in every mode.
    [gates] Gates {
        /// Gate 1: an agent is started or continued with a prompt that asks for the check by its markers: through `Agent`, a workflow's
        /// script or a message.
        prompt: GateMode = GateMode::Block;

        /// Gate 2: the agent of a step wants to end. Also the step's boundary, when that agent writes a file.
        stop: GateMode = GateMode::Block;

        /// Gate 3: a commit, in the client and in the git hook.
        commit: GateMode = GateMode::Block;

        /// Access rules of the task: writes in the client's list, and through `lockstep task` in a shell.
        task: GateMode = GateMode::Block;

        /// Prompts in nWave's present dialect (`DES-PROJECT-ID`, `DES-STEP-ID`, `DES-MODE`), which nWave's own hooks check.
        /// `warn` and `block` check their markers and sections by nWave's rules. Their end is left to nWave.
        nwave: GateMode = GateMode::Off;

        /// A command or a script that mentions git or Lockstep and whose effect cannot be read from its text, while gate 3 or
        /// the rules of the task would refuse it. Also a workflow's script that assembles a prompt at run time and names a
        /// marker or a step file. `ask`: the client asks the user. `deny`: it is refused. `allow`: it passes.
        unreadable: Unreadable = Unreadable::Ask;
    }

    /// The audit trail of the steps.
    [audit] Audit {
        /// The directory of the trail, `audit-YYYY-MM-DD.log`; a relative path starts at the project's root. An empty string
        /// means the directory of each step file.
        dir: OptionalPath = OptionalPath::default();
    }

    /// The cascade: dependents follow a change until nothing unresolved is left.
    [cascade] Cascade {
        /// Definition of a new impact when an iteration is checked. `breaking`: dependents that no longer fit
        /// the change. `any`: every direct dependent.
        converge_on: ConvergeOn = ConvergeOn::Breaking;

        /// Size of an agent's context in tokens. A prompt takes at most 30 % of it.
        context_tokens: ContextTokens = ContextTokens::default();

        /// Time limit of an agent that `lockstep cascade run` starts. After it, the agent is ended and counts
        /// as failed.
        time_limit: Duration = Duration::from_secs(30 * 60);
    }

    /// The codebase map: which file references which, and how hot each is, in one document.
    [map] Map {
        /// The document, relative to the project's root. An empty string means
        /// `.claude/agent-memory/analyst/codebase-map.md` for a scope below `.claude/`, else
        /// `.lockstep/codebase-map.md`.
        path: DocumentPath = DocumentPath::default();

        /// The files that have an entry, of those that are indexed: a directory, a file, or a pattern with `*`, `?` and
        /// `**`. An empty string means all of them.
        scope: MapScope = MapScope::default();

        /// The most lines the document may have; over it, entries are left out, cold and old ones first. `0`: no
        /// limit. `"auto"`: the scope decides, 300 lines and 15 KB for one below `.claude/`, no limit for any other.
        max_lines: MaxMapLines = MaxMapLines::default();
    }

    /// The session cache: a framework's static content, built once and delivered to every session. Nothing is
    /// delivered before `lockstep cache build` or `lockstep init` has created a cache.
    [cache] Cache {
        /// The cache file, relative to the project's root. An empty string means `.isdlc/session-cache.md` if
        /// there is an `.isdlc` directory, otherwise `.lockstep/session-cache.md`.
        path: DocumentPath = DocumentPath::default();

        /// The most characters the cache may have, markers included. Over it, external skills are cut, the skills manifest is
        /// left out, and topics are cut, in this order. Then each section, the most important first, is kept whole, shortened
        /// to titles, or left out, whichever fits first.
        budget_chars: CacheBudget = CacheBudget::default();

        /// Amount of content that a session gets. `index`: a list of the content, the most important parts
        /// that fit completely, and instructions to get the rest. `full`: all of it, in as many hook entries
        /// as necessary; run `lockstep init` after changing to it. `off`: nothing.
        deliver: CacheDelivery = CacheDelivery::Index;

        /// The sections to begin with. `auto`: `isdlc` where there is an `.isdlc` directory, else `claude`.
        preset: CachePreset = CachePreset::Auto;

        /// Files whose text is the section CONVENTIONS.
        conventions: PathList = PathList::default();

        /// Sections of the project's own.
        section: TableList<CacheSectionConfig> = TableList::default();
    }
}

config_enum! {
    /// `[cascade] converge_on`: the definition of a new impact.
    pub enum ConvergeOn {
        /// Dependents that no longer fit.
        Breaking = "breaking",
        /// Every direct dependent.
        Any = "any",
    }
}

config_enum! {
    /// `[journal] sweep`: the events after which unreported changes are searched.
    pub enum SweepTiming {
        /// After Bash calls and at stops.
        Bash = "bash",
        /// At stops only.
        Stop = "stop",
        /// No sweeps.
        Off = "off",
    }
}

impl SweepTiming {
    /// Returns true if a sweep follows a Bash call.
    pub fn after_bash(self) -> bool {
        self == Self::Bash
    }

    /// Returns true if a sweep precedes a stop of the Lead or a subagent.
    pub fn at_stop(self) -> bool {
        self != Self::Off
    }
}

config_enum! {
    /// `[alert] format`: how an alert is written.
    pub enum AlertFormat {
        /// With definitions, lines and names.
        Detailed = "detailed",
        /// With names of files.
        Plain = "plain",
    }
}

config_enum! {
    /// `[alert] status`: whether the Lead hears of changes on which nothing depends.
    pub enum AlertStatus {
        /// Disabled.
        Off = "off",
        /// Always, in one line.
        Always = "always",
    }
}

config_enum! {
    /// `[alert]`: the dependents that cause an alert.
    pub enum AlertThreshold {
        /// Every dependent.
        Any = "any",
        /// Only dependents that the change breaks.
        Breaking = "breaking",
        /// No alerts.
        Off = "off",
    }
}

impl ConfigEnum for OnFailure {
    const ALL: &'static [(Self, &'static str)] = &[(Self::Block, "block"), (Self::Allow, "allow")];
}

/// `[journal] dir`: the directory of the journal files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalDirSetting {
    /// The system's temporary directory.
    System,
    /// This directory, relative to the project's root unless it is absolute.
    At(PathBuf),
}

impl JournalDirSetting {
    /// Returns the directory for a project at `root` on a system whose temporary directory is `system`.
    pub fn resolve(&self, root: &Path, system: &Path) -> PathBuf {
        match self {
            Self::System => system.to_path_buf(),
            Self::At(path) => absolute_lexical(root, path),
        }
    }
}
