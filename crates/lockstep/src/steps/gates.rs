//! The gates in a project: gathering what each looks at, and recording what it decided.

use std::fs;

use lockstep_config::keys::Sweep;
use lockstep_config::steps::OverBudget;
use lockstep_steps::commands::Scope;
use lockstep_steps::gate::commit::{self, Commit, StepAtCommit};
use lockstep_steps::gate::invocation::{self, StepFound};
use lockstep_steps::gate::stop::{self, StepStop, Stop};
use lockstep_steps::gate::{Judged, Recorded};
use lockstep_steps::machine::Machine;
use lockstep_steps::markers::{Dialect, Markers};
use lockstep_steps::nwave;
use lockstep_steps::problem::Problem;
use lockstep_steps::step::Step;
use lockstep_steps::{prompt, step::change};
use lockstep_store::StoreError;
use lockstep_store::step_lock::StepLock;

use super::files::StepFile;
use super::trail::{event, with_state};
use super::{Steps, StepsError};

/// A changed file: how it is shown, and its path from the root.
pub(crate) type Changed = (String, Option<String>);

/// What gate 1 decided, with what is remembered of the invocation.
#[derive(Debug)]
pub(crate) struct Invoked {
    pub(crate) judged: Judged,
    pub(crate) file: Option<StepFile>,
    pub(crate) step: Option<Step>,
    pub(crate) budget: Option<u64>,
    /// Whether its command needs no step, and it names none.
    pub(crate) stepless: bool,
}

/// A step when its agent wants to end, for gate 2.
#[derive(Debug)]
pub(crate) struct AtStop {
    /// Its file, where it has one inside the project.
    pub(crate) file: Option<StepFile>,
    /// `None` for an agent without a step.
    named: Option<Named>,
}

#[derive(Debug)]
struct Named {
    name: String,
    step: Result<Step, Vec<Problem>>,
    recorded: Recorded,
}

impl AtStop {
    /// What is in its file, where that can be read.
    pub(crate) fn step(&self) -> Option<&Step> {
        self.named.as_ref().and_then(|named| named.step.as_ref().ok())
    }

    /// Whether it matters what the agent changed.
    pub(crate) fn is_bounded(&self) -> bool {
        self.step().is_some_and(|step| !step.boundary().is_open())
    }
}

/// What an agent did, for gate 2.
#[derive(Debug, Default)]
pub(crate) struct Work {
    /// What it changed; `None` where that is not known.
    pub(crate) changed: Option<Vec<Changed>>,
    /// The turns it took.
    pub(crate) turns: Option<u64>,
    /// The turns it was given.
    pub(crate) budget: Option<u64>,
}

impl Steps<'_> {
    /// Gate 1 for a prompt in nWave's dialect. Its step is nWave's, so its end is not judged.
    pub(crate) fn judge_nwave(&self, prompt: &str, markers: &Markers) -> Invoked {
        let judged = nwave::judge(prompt, markers, self.nwave_log(markers));
        Invoked { judged, file: None, step: None, budget: None, stepless: true }
    }

    /// Whether the project that a prompt names has an execution log, in whichever wave's directory.
    fn nwave_log(&self, markers: &Markers) -> nwave::Log {
        let directory = markers.nwave.project_id.as_deref().and_then(nwave::log_directory);
        let waves = directory.and_then(|directory| fs::read_dir(self.project.root.join(directory)).ok());
        match waves.into_iter().flatten().flatten().any(|wave| wave.path().join(nwave::LOG).is_file()) {
            true => nwave::Log::Found,
            false => nwave::Log::Missing,
        }
    }

    /// Gate 1 for a prompt that is not ad hoc.
    pub(crate) fn judge_invocation(&self, prompt: &str, markers: &Markers) -> Result<Invoked, StepsError> {
        if markers.dialect() == Dialect::Nwave {
            return Ok(self.judge_nwave(prompt, markers));
        }
        let machine = self.machine()?;
        let (commands, definitions) = (self.commands()?, self.definitions()?);
        let named = markers.step_file.as_deref().map(|name| (name, self.named(name)));
        let mut found = None;
        let (mut file, mut locked) = (None, None);
        if let Some((name, located)) = named {
            let (step, recorded) = match &located {
                Ok(file) => self.step_with_record(file)?,
                Err(problem) => (Err(vec![problem.clone()]), Recorded::Nothing),
            };
            if let Ok(located) = located {
                let held = StepLock::held(&self.project.state, &located.path, self.now.timestamp());
                let own = |name: &str| markers.agent.as_deref() == Some(name);
                locked = held.filter(|holder| !own(&holder.name)).map(|holder| holder.to_string());
                file = Some(located);
            }
            found = Some(StepFound { file: name.to_owned(), step, recorded });
        }
        let step = found.as_ref().and_then(|found| found.step.as_ref().ok());
        let phases = self.phases_of(step, &machine);
        let rules = prompt::Rules { commands: &commands, definitions: &definitions, phases: &phases };
        let invocation =
            invocation::Invocation { prompt, markers, step: found.as_ref(), locked: locked.as_deref() };
        let judged = invocation::judge(invocation, &machine, rules);
        let budget = step.and_then(Step::max_turns).or_else(|| prompt::turn_budget(prompt, &definitions));
        let step = found.and_then(|found| found.step.ok());
        let needs_step = matches!(commands.scope(markers.command()), Scope::Full { step_file: true });
        let stepless = markers.step_file.is_none() && !needs_step;
        Ok(Invoked { judged, file, step, budget, stepless })
    }

    /// The phases a prompt must name: those of its step's set, else those of a new step's.
    pub(crate) fn phases_of(&self, step: Option<&Step>, machine: &Machine) -> Vec<String> {
        let own = step.and_then(|step| step.phase_set(machine));
        let set = own.or_else(|| machine.set(&self.project.config().steps.phases.0)).or(machine.sets.first());
        set.map(|set| set.phases.clone()).unwrap_or_default()
    }

    /// Records what gate 1 decided. A step that passes untouched is known from here on.
    pub(crate) fn record_invocation(&self, invoked: &Invoked, markers: &Markers) {
        let Invoked { judged, file, step, .. } = invoked;
        let failed = judged.validation.failed();
        let name = if failed { event::REJECTED } else { event::VALIDATED };
        let mut record = self
            .gate_record(name, file.as_ref(), judged)
            .with("agent", markers.agent.clone())
            .with("command", markers.command().map(str::to_owned));
        if let Some(step) = step.as_ref().filter(|_| !failed) {
            record = with_state(record, Some(step), step);
        }
        self.audit(file.as_ref(), &record);
    }

    /// What gate 2 looks at: the step of this name as it is now, read once.
    pub(crate) fn at_stop(&self, name: Option<&str>) -> Result<AtStop, StoreError> {
        let Some(name) = name else { return Ok(AtStop { file: None, named: None }) };
        let located = self.named(name);
        let (step, recorded) = match &located {
            Ok(file) => self.step_with_record(file)?,
            Err(problem) => (Err(vec![problem.clone()]), Recorded::Nothing),
        };
        Ok(AtStop { file: located.ok(), named: Some(Named { name: name.to_owned(), step, recorded }) })
    }

    /// Gate 2 for a step.
    pub(crate) fn judge_stop(&self, at: &AtStop, work: &Work) -> Result<Judged, StepsError> {
        let (machine, evidence) = (self.machine()?, self.evidence_rules());
        let rules = change::Rules { machine: &machine, evidence: &evidence };
        let Some(Named { name, step, recorded }) = &at.named else {
            return Ok(stop::judge(Stop::NoStep, rules));
        };
        let foreign = |one: &&Changed| !self.is_own(one.1.as_deref());
        let changed: Option<Vec<Changed>> =
            work.changed.as_ref().map(|changed| changed.iter().filter(foreign).cloned().collect());
        let stop = StepStop {
            file: name,
            step,
            recorded,
            changed: changed.as_deref(),
            turns: work.turns,
            budget: work.budget,
            over_budget_blocks: self.project.config().steps.over_budget == OverBudget::Block,
        };
        let mut judged = stop::judge(Stop::Step(stop), rules);
        if at.is_bounded() && self.project.config().journal.sweep == Sweep::Off {
            judged
                .validation
                .warnings
                .push("[journal] sweep is off: what shell commands changed was not seen".to_owned());
        }
        Ok(judged)
    }

    /// Whether a file is one that Lockstep itself writes in the name of a step.
    pub(crate) fn is_own(&self, path: Option<&str>) -> bool {
        let Some(path) = path else { return false };
        let full = self.project.root.join(path);
        let name = full.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_trail = name.starts_with("audit-") && name.ends_with(".log");
        path.starts_with(".lockstep/")
            || self.known().iter().any(|known| known == path)
            || (is_trail && self.trails().iter().any(|trail| full.parent() == Some(trail.dir())))
    }

    /// Records what gate 2 decided; with the seal of the phases, so that a commit finds it.
    pub(crate) fn record_stop(
        &self,
        judged: &Judged,
        at: &AtStop,
        describe: impl FnOnce(Described) -> Described,
    ) {
        let file = at.file.as_ref();
        let seal = at.step().map(Step::commit_seal);
        let record = self.gate_record(event::STOP, file, judged).with("commit_seal", seal);
        self.audit(file, &describe(Described(record)).0);
    }

    fn step_with_record(
        &self,
        file: &StepFile,
    ) -> Result<(Result<Step, Vec<Problem>>, Recorded), StoreError> {
        let step = self.read(file);
        let recorded = match &step {
            Ok(step) => self.recorded(file, step)?,
            Err(_) => Recorded::Nothing,
        };
        Ok((step, recorded))
    }

    /// Gate 3 over every step of the project. `touched` are the files that the commit changes, from the root.
    pub(crate) fn judge_commit(&self, touched: &[String]) -> Result<Judged, StepsError> {
        let (machine, evidence) = (self.machine()?, self.evidence_rules());
        let rules = change::Rules { machine: &machine, evidence: &evidence };
        let (words, broken_trail) = self.words()?;
        let mut commit = Commit { broken_trail, ..Commit::default() };
        let files = self.all();
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
                Ok(step) => (known.recorded(step), known.stop_passed(step)),
                Err(_) => (Recorded::Nothing, false),
            };
            let name = file.name.clone();
            commit.steps.push(StepAtCommit {
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
        Ok(commit::judge(&commit, rules))
    }
}

/// A record that is still being described.
#[derive(Debug)]
pub(crate) struct Described(lockstep_steps::audit::Record);

impl Described {
    pub(crate) fn with(self, name: &str, value: impl Into<serde_json::Value>) -> Self {
        Self(self.0.with(name, value))
    }
}
