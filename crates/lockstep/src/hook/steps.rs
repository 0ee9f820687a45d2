//! The gates of steps for a client: before an agent is started, before a commit, when it wants to end.
//!
//! The decisions are made in `steps/`. This file selects the events that concern a step: a session without
//! steps costs one or two checks.

use std::panic::{AssertUnwindSafe, catch_unwind};

use lockstep_config::gates::GateMode;
use lockstep_config::keys::SweepTiming;
use lockstep_model::change::Attribution;
use lockstep_model::decision::Decision;
use lockstep_model::event::{Actor, EventKind, StopEvent};
use lockstep_model::ids::{AgentId, SessionId};
use lockstep_steps::commit_detection::{CommitReading, read_commit};
use lockstep_steps::gate::GateResult;
use lockstep_store::Store;
use lockstep_store::history::{ChangeAuthor, ChangeFilter, RecordedChange};
use lockstep_wire::claude::transcript;

use super::error::{HookError, HookResult};
use super::routing::HookAction;
use super::{HookRun, combine_decisions, panic_message};
use crate::steps::StepContext;
use crate::steps::files::StepFile;
use crate::steps::gates::{AgentWork, ChangedPath};
use crate::steps::step_runs::{SessionRuns, StepRun, read_transcript};

impl HookRun {
    pub(super) fn steps(&self) -> StepContext<'_> {
        StepContext::new(&self.project, self.now.clone())
    }

    /// Rules that are partly wrong are no rules to refuse or to grant by.
    pub(super) fn check_configuration(&self) -> HookResult {
        HookError::from_config_problems(&self.project).map_or(Ok(()), Err)
    }

    /// Gate 3, before a shell command that may make a commit. git's own hook checks again, with git's data.
    pub(super) fn gate_commit(&mut self) -> HookResult<Decision> {
        let steps = self.steps();
        if !steps.has_steps() {
            return Ok(Decision::Silent);
        }
        self.check_configuration()?;
        let judged = steps.judge_commit(&[], &[])?;
        steps.record_commit(&judged, false);
        if !judged.validation.failed() {
            return Ok(Decision::Silent);
        }
        let (gate, errors) = (judged.validation.gate_id, judged.render_errors());
        Ok(match self.reading() {
            CommitReading::Unreadable => self.unreadable(format!(
                "lockstep: this command mentions git, and its text does not show whether it makes a commit. {gate} refuses a commit \
                 now.\n{errors}"
            )),
            _ => Decision::Block(format!("lockstep: {gate} refuses a commit now, however it is made.\n{errors}")),
        })
    }

    /// The reading of the shell command that the event is about.
    fn reading(&self) -> CommitReading {
        match &self.event.kind {
            EventKind::PreToolUse(call) => call.tool.command().map_or(CommitReading::Commits, read_commit),
            _ => CommitReading::Commits,
        }
    }

    /// Gate 2, when a subagent wants to end. It is asked once to fix its step; after that the step is FAILED
    /// and the Lead is notified.
    pub(super) fn gate_stop(&mut self, session: &SessionId) -> HookResult<Decision> {
        let EventKind::SubagentStop(StopEvent { already_continued }) = self.event.kind else {
            return Ok(Decision::Silent);
        };
        let state = self.project.state.clone();
        let runs = SessionRuns::of(&state, session);
        if !runs.are_there() && !self.steps().has_steps() {
            return Ok(Decision::Silent);
        }
        let anyone = AgentId::new("anyone").expect("it is a plain word");
        let (agent, open) = match &self.event.actor {
            Actor::Subagent { id, .. } => {
                let own = self.event.transcript.as_deref();
                (id.clone(), runs.of_agent(id, own, true, &self.steps())?)
            }
            Actor::Lead => (anyone.clone(), runs.run_of_unknown_agent(&anyone)),
        };
        let mut decision = Ok(Decision::Silent);
        for run in open {
            let judged = self.stop_of_run(session, &runs, &agent, run, already_continued);
            decision = match (decision, judged) {
                (Ok(one), Ok(other)) => Ok(join(one, other)),
                (Err(fault), _) | (_, Err(fault)) => Err(fault),
            };
        }
        decision
    }

    /// Gate 2 for one of the agent's steps.
    fn stop_of_run(
        &mut self,
        session: &SessionId,
        runs: &SessionRuns<'_>,
        agent: &AgentId,
        mut run: StepRun,
        already_continued: bool,
    ) -> HookResult<Decision> {
        let first = !already_continued && !run.asked;
        let judged = self.judge_run(session, &run, first);
        if self.mode(HookAction::GateStop) == GateMode::Warn {
            return self.warn_of_stop(session, &run, judged);
        }
        let failed = judged.as_ref().map_or(true, |(judged, _)| judged.validation.failed());
        let ended = !failed || !first;
        if (run.asked, run.ended) != (failed, ended) {
            // An agent is asked once until it passes, regardless of the client's flag.
            (run.asked, run.ended) = (failed, ended);
            runs.keep(agent, &run)?;
        }
        match judged {
            Ok((judged, _)) if !judged.validation.failed() => {
                if is_not_swept(&judged) {
                    let text = format!("The step {} ended, and gate 2 {NOT_SWEPT}.", named(&run));
                    self.tell_lead(session, &run, &text)?;
                }
                Ok(Decision::Silent)
            }
            Ok((judged, _)) if first => Ok(Decision::Block(stop_refusal_text(&run, &judged))),
            Err(fault) if first => Err(fault),
            Ok((judged, file)) => {
                self.fail_step(session, &run, &judged, file.as_ref()).map(|()| Decision::Silent)
            }
            Err(fault) => {
                let text =
                    format!("The step {} could not be judged when its agent ended: {fault}", named(&run));
                self.faults.push(fault);
                self.tell_lead(session, &run, &text)?;
                Ok(Decision::Silent)
            }
        }
    }

    /// With `[gates] stop = "warn"` the agent ends, its step stays unchanged, and the Lead is notified.
    fn warn_of_stop(
        &mut self,
        session: &SessionId,
        run: &StepRun,
        judged: HookResult<(GateResult, Option<StepFile>)>,
    ) -> HookResult<Decision> {
        let (judged, _) = judged?;
        if judged.validation.failed() {
            let gate = judged.validation.gate_id;
            let text = format!(
                "The step {} ended and does not pass {gate}:\n{}",
                named(run),
                judged.render_errors()
            );
            self.tell_lead(session, run, &text)?;
        }
        Ok(Decision::Silent)
    }

    fn judge_run(
        &mut self,
        session: &SessionId,
        run: &StepRun,
        first: bool,
    ) -> HookResult<(GateResult, Option<StepFile>)> {
        self.check_configuration()?;
        let transcript = self.event.transcript.as_deref().and_then(read_transcript);
        let usage = transcript.as_deref().map(transcript::usage);
        let at = self.steps().at_stop(run.step_file.as_deref())?;
        // Without a boundary, changes need not be checked.
        let (changed, unseen) = match at.is_bounded() {
            true => {
                let unseen = self.sweep_for_gate(session).err();
                (Some(self.changed_by_agent(session)?), unseen)
            }
            false => (None, None),
        };
        let work = AgentWork { changed, turns: usage.map(|usage| usage.turns), budget: run.budget };
        let steps = self.steps();
        let mut judged = steps.judge_stop(&at, &work)?;
        if let Some(fault) = unseen {
            // Unknown changes may be outside the boundary.
            let mend = "Compare the files with the step's boundary; a new catalogue of them was made";
            judged.fail(format!("could not check what shell commands changed: {fault}"), mend);
        }
        match at.is_bounded() && steps.project.config().journal.sweep == SweepTiming::Off {
            // The agent was told its commands once. Its second stop passes, and the Lead is notified.
            true if first => judged.fail(NOT_SWEPT.to_owned(), COMPARE),
            true => judged.validation.warnings.push(NOT_SWEPT.to_owned()),
            false => {}
        }
        steps.record_stop(&judged, &at, |record| {
            let record =
                record.with("agent_id", self.event.actor.agent_id().map(|id| id.as_str().to_owned()));
            match usage {
                Some(usage) => record
                    .with("turns", usage.turns)
                    .with("input_tokens", usage.input_tokens)
                    .with("output_tokens", usage.output_tokens),
                None => record,
            }
        });
        Ok((judged, at.file))
    }

    /// Looks for changes of shell commands. A failure there does not decide for the gate.
    fn sweep_for_gate(&mut self, session: &SessionId) -> HookResult {
        catch_unwind(AssertUnwindSafe(|| self.sweep_at_stop(session)))
            .unwrap_or_else(|panic| Err(HookError::Bug(panic_message(&*panic))))
    }

    /// The store: the one that an earlier action of the event has opened, or else a new connection.
    pub(super) fn take_store(&mut self) -> HookResult<Store> {
        Ok(self.store.take().map_or_else(|| Store::open(&self.project.state), Ok)?)
    }

    /// Everything the agent changed in the session, shell commands included.
    fn changed_by_agent(&mut self, session: &SessionId) -> HookResult<Vec<ChangedPath>> {
        let mut store = self.take_store()?;
        store.import_journal(&self.project.journal(), session, &|_| true)?;
        let by = self.event.actor.agent_id().map_or(ChangeAuthor::Anyone, ChangeAuthor::Agent);
        let changes = store.changes(&ChangeFilter { session: Some(session), by, after: 0 })?;
        self.store = Some(store);
        let steps = self.steps();
        // A change that another agent may have made is no evidence against this one.
        let is_certain = |change: &RecordedChange| !matches!(change.line.attribution, Attribution::Shared(_));
        let mut changed: Vec<ChangedPath> = changes
            .into_iter()
            .filter(is_certain)
            .map(|change| {
                let relative = steps.relative(&change.line.path);
                (relative.clone().unwrap_or_else(|| change.line.path.display().to_string()), relative)
            })
            .collect();
        changed.sort();
        changed.dedup();
        Ok(changed)
    }

    /// Sets the step to FAILED, with the reason and suggestions, and notifies the Lead.
    fn fail_step(
        &mut self,
        session: &SessionId,
        run: &StepRun,
        judged: &GateResult,
        file: Option<&StepFile>,
    ) -> HookResult {
        let validation = &judged.validation;
        let reason = validation.errors.join("; ");
        let set = match file {
            Some(file) => self.steps().fail(file, &reason, &validation.recovery_suggestions),
            None => Ok(()),
        };
        let done = match (&set, file) {
            (Ok(()), Some(_)) => "was set to FAILED",
            _ => "failed",
        };
        let agent = match &self.event.actor {
            Actor::Subagent { id, agent_type } => {
                format!("{} {id}", agent_type.as_deref().unwrap_or("agent"))
            }
            Actor::Lead => "its agent".to_owned(),
        };
        let text = format!(
            "The step {} {done} when {agent} ended ({}):\n{}",
            named(run),
            validation.gate_id,
            judged.render_errors()
        );
        if let Err(error) = set {
            self.faults.push(error.into());
        }
        self.tell_lead(session, run, &text)
    }

    fn tell_lead(&mut self, session: &SessionId, run: &StepRun, text: &str) -> HookResult {
        let mut store = self.take_store()?;
        Ok(store.put_notice(
            session,
            &format!("step {}", named(run)),
            text.trim_end(),
            self.now.timestamp(),
        )?)
    }
}

/// The finding of gate 2 for a step with a boundary if no sweep looks for changes of shell commands.
const NOT_SWEPT: &str = "could not check what shell commands changed: `[journal] sweep` is off";

const COMPARE: &str =
    "Compare every file that your shell commands changed with the step's boundary, then end again";

/// Returns true if gate 2 could not look for changes of shell commands because the configuration forbids it.
fn is_not_swept(judged: &GateResult) -> bool {
    judged.validation.warnings.iter().any(|warning| warning == NOT_SWEPT)
}

fn named(run: &StepRun) -> &str {
    run.step_file.as_deref().unwrap_or("without a file")
}

fn stop_refusal_text(run: &StepRun, judged: &GateResult) -> String {
    format!(
        "lockstep: the step {} cannot end like this ({}):\n{}This is said once: if it stays so, the step is set to FAILED.",
        named(run),
        judged.validation.gate_id,
        judged.render_errors()
    )
}

/// The answer about several steps of one agent.
fn join(one: Decision, other: Decision) -> Decision {
    match (one, other) {
        (Decision::Block(one), Decision::Block(other)) => Decision::Block(format!("{one}\n\n{other}")),
        (one, other) => combine_decisions(one, other),
    }
}
