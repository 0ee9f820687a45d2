//! The gates in a project: collects the input of each gate, and records its decision.

use std::collections::BTreeMap;
use std::fs;

use lockstep_config::steps::OverBudgetPolicy;
use lockstep_steps::audit::TrailEntry;
use lockstep_steps::boundary::Boundary;
use lockstep_steps::command_table::{CommandTable, ValidationScope};
use lockstep_steps::gate::commit::{self, CommitContext, CommitStep, Outside};
use lockstep_steps::gate::invocation::{self, ReferencedStep};
use lockstep_steps::gate::stop::{self, StepStopContext, StopContext};
use lockstep_steps::gate::{AuditMatch, GateResult};
use lockstep_steps::markers::{Dialect, Markers};
use lockstep_steps::nwave;
use lockstep_steps::problem::StepProblem;
use lockstep_steps::section_definitions::SectionDefinitions;
use lockstep_steps::state_machine::StepMachines;
use lockstep_steps::step::Step;
use lockstep_steps::{prompt_check, step::transition};
use lockstep_store::StoreError;
use lockstep_store::step_lock::StepLock;

use super::audit::{TrailsRead, event, with_state};
use super::files::StepFile;
use super::step_runs::{RecordedInvocation, StepRun};
use super::{StepContext, StepsError, StepsResult};

/// A changed file: how it is shown, and its path from the root.
pub(crate) type ChangedPath = (String, Option<String>);

/// The decision of gate 1, with the data of the invocation that is saved.
#[derive(Debug)]
pub(crate) struct InvocationResult {
    pub(crate) judged: GateResult,
    pub(crate) file: Option<StepFile>,
    pub(crate) step: Option<Step>,
    pub(crate) budget: Option<u64>,
    /// Set if its command needs no step, and it names none.
    pub(crate) stepless: bool,
}

/// A step when its agent wants to end, for gate 2.
#[derive(Debug)]
pub(crate) struct StopInput {
    /// The step's file, if it is inside the project.
    pub(crate) file: Option<StepFile>,
    /// `None` for an agent without a step.
    named: Option<NamedStep>,
}

#[derive(Debug)]
struct NamedStep {
    name: String,
    step: Result<Step, Vec<StepProblem>>,
    recorded: AuditMatch,
}

impl StopInput {
    /// Returns the step, if its file can be read.
    pub(crate) fn step(&self) -> Option<&Step> {
        self.named.as_ref().and_then(|named| named.step.as_ref().ok())
    }

    /// Returns true if the agent's changes are restricted.
    pub(crate) fn is_bounded(&self) -> bool {
        self.step().is_some_and(|step| !step.boundary().is_unrestricted())
    }
}

/// An agent's work, for gate 2.
#[derive(Debug, Default)]
pub(crate) struct AgentWork {
    /// The changed files; `None` if unknown.
    pub(crate) changed: Option<Vec<ChangedPath>>,
    pub(crate) turns: Option<u64>,
    /// The maximum number of turns.
    pub(crate) budget: Option<u64>,
}

impl StepContext<'_> {
    /// Gate 1 for a prompt in nWave's dialect. Its step is nWave's, so its end is not judged.
    pub(crate) fn judge_nwave(&self, prompt: &str, markers: &Markers) -> InvocationResult {
        let judged = nwave::judge(prompt, markers, self.nwave_log(markers));
        InvocationResult { judged, file: None, step: None, budget: None, stepless: true }
    }

    /// Returns true if the project that a prompt names has an execution log, in whichever wave's directory.
    fn nwave_log(&self, markers: &Markers) -> nwave::Log {
        let directory = markers.nwave.project_id.as_deref().and_then(nwave::log_directory);
        let waves = directory.and_then(|directory| fs::read_dir(self.project.root.join(directory)).ok());
        match waves.into_iter().flatten().flatten().any(|wave| wave.path().join(nwave::LOG).is_file()) {
            true => nwave::Log::Found,
            false => nwave::Log::Missing,
        }
    }

    /// Gate 1 for a prompt that is not ad hoc.
    pub(crate) fn judge_invocation(&self, prompt: &str, markers: &Markers) -> StepsResult<InvocationResult> {
        if markers.dialect() == Dialect::Nwave {
            return Ok(self.judge_nwave(prompt, markers));
        }
        let machine = self.machine()?;
        let (commands, definitions) = (self.commands()?, self.definitions()?);
        let named = markers.step_file.as_deref().map(|name| (name, self.resolve_from_root(name)));
        let mut found = None;
        let (mut file, mut locked) = (None, None);
        if let Some((name, located)) = named {
            let (step, recorded) = match &located {
                Ok(file) => self.step_with_record(file)?,
                Err(problem) => (Err(vec![problem.clone()]), AuditMatch::Missing),
            };
            if let Ok(located) = located {
                let lock = StepLock::held(&self.project.state, &located.path, self.now.timestamp());
                let own = |name: &str| markers.agent.as_deref() == Some(name);
                locked = lock.filter(|holder| !own(&holder.name)).map(|holder| holder.to_string());
                file = Some(located);
            }
            found = Some(ReferencedStep { file: name.to_owned(), step, recorded });
        }
        let step = found.as_ref().and_then(|found| found.step.as_ref().ok());
        let phases = self.phases_of(step, &machine);
        let rules =
            prompt_check::PromptRules { commands: &commands, definitions: &definitions, phases: &phases };
        let invocation = invocation::InvocationContext {
            prompt,
            markers,
            step: found.as_ref(),
            locked: locked.as_deref(),
        };
        let judged = invocation::evaluate(invocation, &machine, rules);
        let budget = turn_budget(step, prompt, &definitions);
        let step = found.and_then(|found| found.step.ok());
        let stepless = self.is_stepless(markers, &commands);
        Ok(InvocationResult { judged, file, step, budget, stepless })
    }

    /// Returns the step that an agent's own prompt names. `None` if its command needs none.
    pub(crate) fn run_of(&self, prompt: &str, markers: &Markers) -> StepsResult<Option<StepRun>> {
        let named = markers.step_file.as_deref().and_then(|name| self.resolve_from_root(name).ok());
        let step = named.and_then(|file| self.read(&file).ok());
        let stepless = self.is_stepless(markers, &self.commands()?);
        let budget = turn_budget(step.as_ref(), prompt, &self.definitions()?);
        Ok(RecordedInvocation { step_file: markers.step_file.clone(), budget, stepless }.run())
    }

    /// Returns true if a prompt names no step, and its command needs none.
    fn is_stepless(&self, markers: &Markers, commands: &CommandTable) -> bool {
        let needs_step =
            matches!(commands.scope(markers.command()), ValidationScope::Full { step_file: true });
        markers.step_file.is_none() && !needs_step
    }

    /// The phases a prompt must name: those of its step's set, else those of a new step's.
    pub(crate) fn phases_of(&self, step: Option<&Step>, machine: &StepMachines) -> Vec<String> {
        let own = step.and_then(|step| step.phase_set(machine));
        let set = own
            .or_else(|| machine.phase_set(&self.project.config().steps.phases.0))
            .or(machine.phase_sets.first());
        set.map(|set| set.phases.clone()).unwrap_or_default()
    }

    /// Records the decision of gate 1. From then on, the trail knows a step that passes without a change.
    pub(crate) fn record_invocation(&self, invoked: &InvocationResult, markers: &Markers) {
        let InvocationResult { judged, file, step, .. } = invoked;
        let failed = judged.validation.failed();
        let name = if failed { event::REJECTED } else { event::VALIDATED };
        let mut record = self
            .gate_record(name, file.as_ref(), judged)
            .with("agent", markers.agent.clone())
            .with("command", markers.command().map(str::to_owned));
        if let Some(step) = step.as_ref().filter(|_| !failed) {
            let rules = file.as_ref().map_or_else(|| self.rules_digest(), |file| self.rules_of(file, step));
            record = with_state(record, Some(step), step, &rules);
        }
        self.append_audit(file.as_ref(), &record);
    }

    /// Returns the input of gate 2: the present state of the step with this name, read once.
    pub(crate) fn at_stop(&self, name: Option<&str>) -> Result<StopInput, StoreError> {
        let Some(name) = name else { return Ok(StopInput { file: None, named: None }) };
        let located = self.resolve_from_root(name);
        let (step, recorded) = match &located {
            Ok(file) => self.step_with_record(file)?,
            Err(problem) => (Err(vec![problem.clone()]), AuditMatch::Missing),
        };
        Ok(StopInput { file: located.ok(), named: Some(NamedStep { name: name.to_owned(), step, recorded }) })
    }

    pub(crate) fn judge_stop(&self, at: &StopInput, work: &AgentWork) -> StepsResult<GateResult> {
        let (machine, evidence) = (self.machine()?, self.evidence_rules());
        let rules = transition::TransitionRules { machine: &machine, evidence: &evidence };
        let Some(NamedStep { name, step, recorded }) = &at.named else {
            return Ok(stop::evaluate(StopContext::NoStep, rules));
        };
        let foreign = |one: &&ChangedPath| !self.is_lockstep_file(one.1.as_deref());
        let changed: Option<Vec<ChangedPath>> =
            work.changed.as_ref().map(|changed| changed.iter().filter(foreign).cloned().collect());
        let stop = StepStopContext {
            file: name,
            step,
            recorded,
            changed: changed.as_deref(),
            turns: work.turns,
            budget: work.budget,
            over_budget_blocks: self.project.config().steps.over_budget == OverBudgetPolicy::Block,
        };
        Ok(stop::evaluate(StopContext::Step(stop), rules))
    }

    /// Returns true if Lockstep itself writes the file for a step.
    pub(crate) fn is_lockstep_file(&self, path: Option<&str>) -> bool {
        let Some(path) = path else { return false };
        let full = self.project.root.join(path);
        let name = full.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_trail = name.starts_with("audit-") && name.ends_with(".log");
        path.starts_with(".lockstep/")
            || self.known_steps().iter().any(|known| known == path)
            || (is_trail && self.trails().iter().any(|trail| full.parent() == Some(trail.dir())))
    }

    /// Records the decision of gate 2, with the seal of the phases, so that a commit finds it.
    pub(crate) fn record_stop(
        &self,
        judged: &GateResult,
        at: &StopInput,
        describe: impl FnOnce(AuditDraft) -> AuditDraft,
    ) {
        let file = at.file.as_ref();
        let seal = at.step().map(Step::commit_seal);
        let record = self.gate_record(event::STOP, file, judged).with("commit_seal", seal);
        self.append_audit(file, &describe(AuditDraft(record)).0);
    }

    /// Returns the tree of the files when a step began, if it is recorded.
    pub(crate) fn start_of(&self, file: &StepFile) -> Option<String> {
        let start = |entry: &TrailEntry| {
            let is_start = entry.step_file() == Some(&file.name) && !entry.text("start_tree").is_empty();
            is_start.then(|| entry.text("start_tree").to_owned())
        };
        let name = serde_json::to_string(&file.name).expect("a text is JSON");
        self.trail_of(file).find_newest(&[&name, r#""start_tree":"#], start).ok().flatten()
    }

    /// Completes an interrupted change; the lock of the step is waited for.
    fn settle_for_gate(&self, file: &StepFile) -> Result<(), StoreError> {
        match self.settle(file) {
            Err(StepsError::Store(error)) => Err(error),
            // A writer that holds the step for long has not written yet: the gate judges the present state.
            _ => Ok(()),
        }
    }

    fn step_with_record(
        &self,
        file: &StepFile,
    ) -> Result<(Result<Step, Vec<StepProblem>>, AuditMatch), StoreError> {
        self.settle_for_gate(file)?;
        let step = self.read(file);
        let recorded = match &step {
            Ok(step) => self.recorded(file, step)?,
            Err(_) => AuditMatch::Missing,
        };
        Ok((step, recorded))
    }

    /// Gate 3 for every step of the project. `touched` are the files that the commit changes, relative to the
    /// root; `trees` are the trees that it commits, if known.
    pub(crate) fn judge_commit(&self, touched: &[String], trees: &[String]) -> StepsResult<GateResult> {
        let (machine, evidence) = (self.machine()?, self.evidence_rules());
        let rules = transition::TransitionRules { machine: &machine, evidence: &evidence };
        let files = self.list_step_files();
        files.iter().try_for_each(|file| self.settle_for_gate(file))?;
        let (words, TrailsRead { broken: broken_trail, unverified, .. }) = self.words_and_trails()?;
        let mut commit = CommitContext { broken_trail, ..CommitContext::default() };
        let digest = self.rules_digest();
        for file in &files {
            let known = words.get(&file.name).cloned().unwrap_or_default();
            let step = self.read(file);
            let is_recorded = words.contains_key(&file.name);
            let touched = touched.contains(&file.name);
            if step.is_err() && !is_recorded && !touched {
                // Some other file that lies there.
                continue;
            }
            let (recorded, stop_passed) = match &step {
                Ok(step) => (known.recorded(step, &digest), known.stop_passed(step)),
                Err(_) => (AuditMatch::Missing, false),
            };
            let name = file.name.clone();
            commit.steps.push(CommitStep {
                file: name,
                step,
                recorded,
                touched,
                abandoned: known.abandoned,
                stop_passed,
            });
        }
        let there = |name: &String| files.iter().any(|file| file.name == *name);
        commit.gone = words
            .iter()
            .filter(|(name, words)| words.is_open() && !there(name))
            .map(|(name, _)| name.clone())
            .collect();
        let starts = words.iter().filter_map(|(name, words)| Some((name.as_str(), words.start.as_deref()?)));
        commit.outside = self.outside(&commit.steps, &starts.collect(), trees)?;
        let mut judged = commit::evaluate(&commit, rules);
        judged.validation.warnings.extend(unverified);
        Ok(judged)
    }

    /// Returns the files of a commit that no active step may change, by content since the step began.
    fn outside(
        &self,
        steps: &[CommitStep],
        starts: &BTreeMap<&str, &str>,
        trees: &[String],
    ) -> StepsResult<Vec<Outside>> {
        let under_way: Vec<(&CommitStep, &Boundary)> = steps
            .iter()
            .filter(|at| !at.abandoned)
            .filter_map(|at| Some((at, at.step.as_ref().ok()?)))
            .filter(|(at, step)| !step.is_pristine() && (step.status() != "DONE" || at.touched))
            .map(|(at, step)| (at, step.boundary()))
            .collect();
        if under_way.iter().any(|(_, boundary)| boundary.is_unrestricted()) {
            // The step may change everything.
            return Ok(Vec::new());
        }
        let mut outside = Vec::new();
        for (at, boundary) in &under_way {
            let Some(start) = starts.get(at.file.as_str()) else { continue };
            for tree in trees {
                for path in self.changed_between(start, tree)? {
                    let allowed =
                        under_way.iter().any(|(_, other)| other.refusal_reason(Some(&path)).is_none());
                    if allowed || self.is_lockstep_file(Some(&path)) {
                        continue;
                    }
                    let why = boundary.refusal_reason(Some(&path)).unwrap_or_default();
                    outside.push(Outside { step: at.file.clone(), path, why });
                }
            }
        }
        outside.dedup();
        Ok(outside)
    }
}

/// Returns the maximum number of turns of an agent: from its step, otherwise from its prompt.
fn turn_budget(step: Option<&Step>, prompt: &str, definitions: &SectionDefinitions) -> Option<u64> {
    step.and_then(Step::max_turns).or_else(|| prompt_check::turn_budget(prompt, definitions))
}

/// A record that is still being described.
#[derive(Debug)]
pub(crate) struct AuditDraft(lockstep_steps::audit::TrailRecord);

impl AuditDraft {
    pub(crate) fn with(self, name: &str, value: impl Into<serde_json::Value>) -> Self {
        Self(self.0.with(name, value))
    }
}
