//! The gates of steps for a client: before an agent is started, before it writes, before a commit, when it wants to end.
//!
//! What is decided is decided in `steps/`. This file knows which events concern a step at all: a session without one pays for a look
//! or two.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use lockstep_config::gates::GateMode;
use lockstep_model::decision::Decision;
use lockstep_model::event::{Actor, EventKind, Stop, Tool};
use lockstep_model::ids::{AgentId, SessionId};
use lockstep_steps::gate::Judged;
use lockstep_store::Store;
use lockstep_store::history::{By, Filter};
use lockstep_wire::claude::transcript::{self, Usage};

use super::fault::Fault;
use super::route::Action;
use super::{Hook, cwd_of};
use crate::steps::files::StepFile;
use crate::steps::gates::{Changed, Work};
use crate::steps::runs::{Invocation, Run, Runs, digest};
use crate::steps::trail::event;
use crate::steps::{Steps, StepsError};

/// The most of a transcript that is read to count turns.
const MAX_TRANSCRIPT: u64 = 64 << 20;

impl Hook {
    pub(super) fn steps(&self) -> Steps<'_> {
        Steps::new(&self.project, self.now.clone())
    }

    /// Rules that are partly wrong are no rules to refuse or to grant by.
    fn check_configuration(&self) -> Result<(), Fault> {
        Fault::of_configuration(&self.project).map_or(Ok(()), Err)
    }

    /// Gate 1, before an agent is started with a prompt that has markers.
    pub(super) fn gate_invocation(&mut self, session: &SessionId) -> Result<Decision, Fault> {
        let EventKind::PreToolUse(call) = &self.event.kind else { return Ok(Decision::Silent) };
        let Tool::Agent { prompt, .. } = &call.tool else { return Ok(Decision::Silent) };
        let markers = self.steps().markers(prompt);
        if markers.is_ad_hoc() {
            return Ok(Decision::Silent);
        }
        self.check_configuration()?;
        let steps = self.steps();
        let invoked = steps.judge_invocation(prompt, &markers)?;
        steps.record_invocation(&invoked, &markers);
        let judged = &invoked.judged;
        if judged.validation.failed() {
            return Ok(Decision::Block(format!(
                "lockstep: {} refuses to start the agent: the prompt or its step is not complete.\n{}",
                judged.validation.gate_id,
                judged.told()
            )));
        }
        let invocation = Invocation {
            prompt: digest(prompt),
            step_file: markers.step_file.clone(),
            budget: invoked.budget,
            stepless: invoked.stepless,
        };
        Runs::of(&self.project.state, session).note(&invocation)?;
        Ok(Decision::Silent)
    }

    /// Before an agent that runs a step writes a file.
    pub(super) fn gate_boundary(&mut self, session: &SessionId) -> Result<Decision, Fault> {
        let runs = Runs::of(&self.project.state, session);
        let (Actor::Subagent { id, .. }, EventKind::PreToolUse(call)) = (&self.event.actor, &self.event.kind)
        else {
            return Ok(Decision::Silent);
        };
        let Tool::File { path: Some(path), .. } = &call.tool else { return Ok(Decision::Silent) };
        if !runs.are_there() {
            return Ok(Decision::Silent);
        }
        let names = self.steps().marker_names();
        let run = runs.of_agent(id, self.event.transcript.as_deref(), &names)?;
        let Some(name) = run.and_then(|run| run.step_file) else { return Ok(Decision::Silent) };
        self.check_configuration()?;
        let steps = self.steps();
        let refused = |problems| Fault::from(StepsError::Refused(problems));
        let file = steps.named(&name).map_err(|problem| refused(vec![problem]))?;
        let step = steps.read(&file).map_err(refused)?;
        let written = real(&lockstep_model::path::absolute(&cwd_of(&self.event), path));
        let relative = steps.relative(&written);
        let shown = relative.clone().unwrap_or_else(|| written.display().to_string());
        let why = match steps.is_own(relative.as_deref()) {
            true => Some("it is written by `lockstep step` only".to_owned()),
            false => step.boundary().refuses(relative.as_deref()),
        };
        let Some(why) = why else { return Ok(Decision::Silent) };
        let record = steps
            .record(event::BOUNDARY, Some(&file))
            .with("path", shown.as_str())
            .with("reason", why.as_str());
        steps.audit(Some(&file), &record.with("agent_id", id.as_str()));
        Ok(Decision::Block(format!(
            "lockstep: {shown} is outside the boundary of the step {name}: {why}. Whoever planned the step can widen it with `lockstep \
             step boundary`."
        )))
    }

    /// Gate 3, before a shell command that may make a commit. git's own hook looks again, with what only git knows.
    pub(super) fn gate_commit(&mut self) -> Result<Decision, Fault> {
        let steps = self.steps();
        if !steps.are_used() {
            return Ok(Decision::Silent);
        }
        self.check_configuration()?;
        let judged = steps.judge_commit(&[])?;
        steps.record_commit(&judged, false);
        if !judged.validation.failed() {
            return Ok(Decision::Silent);
        }
        Ok(Decision::Block(format!(
            "lockstep: {} refuses a commit now, however it is made.\n{}",
            judged.validation.gate_id,
            judged.told()
        )))
    }

    /// Gate 2, when a subagent wants to end. It is asked once to mend its step; after that the step is FAILED and the Lead is told.
    pub(super) fn gate_stop(&mut self, session: &SessionId) -> Result<Decision, Fault> {
        let EventKind::SubagentStop(Stop { already_continued }) = self.event.kind else {
            return Ok(Decision::Silent);
        };
        let state = self.project.state.clone();
        let runs = Runs::of(&state, session);
        if !runs.are_there() && !self.steps().are_used() {
            return Ok(Decision::Silent);
        }
        let anyone = AgentId::new("anyone").expect("it is a plain word");
        let (agent, run) = match &self.event.actor {
            Actor::Subagent { id, .. } => {
                let names = self.steps().marker_names();
                (id.clone(), runs.of_agent(id, self.event.transcript.as_deref(), &names)?)
            }
            Actor::Lead => (anyone.clone(), runs.of_anyone(&anyone)),
        };
        let Some(mut run) = run else { return Ok(Decision::Silent) };
        let first = !already_continued && !run.asked;
        let judged = self.judge_run(session, &run);
        if self.mode(Action::GateStop) == GateMode::Warn {
            return self.warn_of_stop(session, &run, judged);
        }
        let failed = judged.as_ref().map_or(true, |(judged, _)| judged.validation.failed());
        if run.asked != failed {
            // Whatever the client says about it later, an agent is asked once until it passes.
            run.asked = failed;
            runs.keep(&agent, &run)?;
        }
        match judged {
            Ok((judged, _)) if !judged.validation.failed() => Ok(Decision::Silent),
            Ok((judged, _)) if first => Ok(Decision::Block(ask(&run, &judged))),
            Err(fault) if first => Err(fault),
            Ok((judged, file)) => {
                self.give_up(session, &run, &judged, file.as_ref()).map(|()| Decision::Silent)
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

    /// With `[gates] stop = "warn"` the agent ends, its step stays as it is, and the Lead is told.
    fn warn_of_stop(
        &mut self,
        session: &SessionId,
        run: &Run,
        judged: Result<(Judged, Option<StepFile>), Fault>,
    ) -> Result<Decision, Fault> {
        let (judged, _) = judged?;
        if judged.validation.failed() {
            let gate = judged.validation.gate_id;
            let text = format!("The step {} ended and does not pass {gate}:\n{}", named(run), judged.told());
            self.tell_lead(session, run, &text)?;
        }
        Ok(Decision::Silent)
    }

    fn judge_run(&mut self, session: &SessionId, run: &Run) -> Result<(Judged, Option<StepFile>), Fault> {
        self.check_configuration()?;
        let usage = self.event.transcript.as_deref().and_then(usage_of);
        let at = self.steps().at_stop(run.step_file.as_deref())?;
        // Without a boundary it is nobody's business what was changed.
        let changed = if at.is_bounded() { Some(self.changed_by_agent(session)?) } else { None };
        let work = Work { changed, turns: usage.map(|usage| usage.turns), budget: run.budget };
        let steps = self.steps();
        let judged = steps.judge_stop(&at, &work)?;
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

    /// The store, as another action of the event has left it.
    fn take_store(&mut self) -> Result<Store, Fault> {
        Ok(self.store.take().map_or_else(|| Store::open(&self.project.state), Ok)?)
    }

    /// Everything the agent changed in the session, shell commands included.
    fn changed_by_agent(&mut self, session: &SessionId) -> Result<Vec<Changed>, Fault> {
        let mut store = self.take_store()?;
        store.read_journal(&self.project.journal(), session, &|_| true)?;
        let by = self.event.actor.agent_id().map_or(By::Anyone, By::Agent);
        let changes = store.changes(&Filter { session: Some(session), by, after: 0 })?;
        self.store = Some(store);
        let steps = self.steps();
        let mut changed: Vec<Changed> = changes
            .into_iter()
            .map(|change| {
                let relative = steps.relative(&change.line.path);
                (relative.clone().unwrap_or_else(|| change.line.path.display().to_string()), relative)
            })
            .collect();
        changed.sort();
        changed.dedup();
        Ok(changed)
    }

    /// The step is FAILED, with the reason and what would mend it, and the Lead is told.
    fn give_up(
        &mut self,
        session: &SessionId,
        run: &Run,
        judged: &Judged,
        file: Option<&StepFile>,
    ) -> Result<(), Fault> {
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
            judged.told()
        );
        if let Err(error) = set {
            self.faults.push(error.into());
        }
        self.tell_lead(session, run, &text)
    }

    fn tell_lead(&mut self, session: &SessionId, run: &Run, text: &str) -> Result<(), Fault> {
        let mut store = self.take_store()?;
        Ok(store.put_notice(
            session,
            &format!("step {}", named(run)),
            text.trim_end(),
            self.now.timestamp(),
        )?)
    }
}

fn named(run: &Run) -> &str {
    run.step_file.as_deref().unwrap_or("without a file")
}

fn ask(run: &Run, judged: &Judged) -> String {
    format!(
        "lockstep: the step {} cannot end like this ({}):\n{}This is said once: if it stays so, the step is set to FAILED.",
        named(run),
        judged.validation.gate_id,
        judged.told()
    )
}

fn usage_of(path: &Path) -> Option<Usage> {
    let file = File::open(path).ok()?;
    let size = file.metadata().ok()?.len().min(MAX_TRANSCRIPT);
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default() + 1);
    file.take(MAX_TRANSCRIPT).read_to_end(&mut bytes).ok()?;
    Some(transcript::usage(&bytes))
}

/// Where a file that may not be there yet really lies: a link on the way does not hide it.
fn real(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let there = path.ancestors().skip(1).find_map(|above| Some((above, above.canonicalize().ok()?)));
    match there {
        Some((above, real)) => real.join(path.strip_prefix(above).unwrap_or(path)),
        None => path.to_owned(),
    }
}
