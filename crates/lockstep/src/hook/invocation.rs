//! Gate 1 for a client: before an agent is started or continued, by whichever tool.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use lockstep_config::gates::GateMode;
use lockstep_model::decision::Decision;
use lockstep_model::event::{EventKind, ToolUse, Workflow};
use lockstep_model::ids::SessionId;
use lockstep_model::path::absolute_lexical;
use lockstep_steps::markers::Dialect;
use lockstep_steps::script::{self, ScriptTexts};
use lockstep_text::printable_path;

use super::error::HookResult;
use super::{HookRun, cwd_of};
use crate::env_vars::{CLAUDE_CONFIG_DIR, HOME};
use crate::steps::audit::event;
use crate::steps::step_runs::{RecordedInvocation, SessionRuns};

/// The size limit of scripts, which is also the client's.
const MAX_SCRIPT: u64 = 1 << 20;

/// The maximum number of saved workflows that one call may start.
const MAX_NAMES: usize = 20;

/// The client's name for the Lead in messages.
const LEAD: &str = "main";

/// The texts by which a call starts or continues agents.
#[derive(Debug, Default)]
pub(super) struct AgentTexts {
    /// Prompts that can be read as they will be used.
    prompts: Vec<String>,
    /// The reason why another text cannot be read in advance.
    unreadable: Option<String>,
}

impl HookRun {
    pub(super) fn gate_invocation(&mut self, session: &SessionId) -> HookResult<Decision> {
        let texts = self.agent_texts();
        let (mut errors, mut passed) = (String::new(), Vec::new());
        for prompt in &texts.prompts {
            let markers = self.steps().markers(prompt);
            if self.mode_of_dialect(markers.dialect()) == GateMode::Off {
                continue;
            }
            self.check_configuration()?;
            let steps = self.steps();
            let invoked = steps.judge_invocation(prompt, &markers)?;
            steps.record_invocation(&invoked, &markers);
            if invoked.judged.validation.failed() {
                errors.push_str(&invoked.judged.render_errors());
            } else {
                let step_file = markers.step_file.clone();
                passed.push(RecordedInvocation {
                    step_file,
                    budget: invoked.budget,
                    stepless: invoked.stepless,
                });
            }
        }
        if !errors.is_empty() {
            return Ok(Decision::Block(format!(
                "lockstep: GATE_1_PRE_INVOCATION refuses to {} the agent: the prompt or its step is not complete.\n{errors}",
                if self.continues_agent() { "continue" } else { "start" }
            )));
        }
        if let Some(why) = texts.unreadable.filter(|_| self.project.config().gates.prompt != GateMode::Off) {
            return self.decide_unreadable(&why);
        }
        let runs = SessionRuns::of(&self.project.state, session);
        passed.iter().try_for_each(|invocation| runs.note(invocation))?;
        Ok(Decision::Silent)
    }

    fn decide_unreadable(&self, why: &str) -> HookResult<Decision> {
        self.check_configuration()?;
        let steps = self.steps();
        steps.append_audit(None, &steps.record(event::UNREADABLE, None).with("reason", why));
        let text = format!(
            "lockstep: GATE_1_PRE_INVOCATION cannot read what the agents of this workflow will be asked to do: {why}. Give each `agent()` \
             its whole prompt as one literal."
        );
        Ok(self.unreadable(text))
    }

    fn continues_agent(&self) -> bool {
        matches!(&self.event.kind, EventKind::PreToolUse(call) if matches!(call.tool, ToolUse::Message { .. }))
    }

    /// The mode of gate 1: the strictest of the modes that apply to the texts of the call.
    pub(super) fn mode_of_invocation(&self) -> GateMode {
        let texts = self.agent_texts();
        let steps = self.steps();
        let of_prompts =
            texts.prompts.iter().map(|prompt| self.mode_of_dialect(steps.markers(prompt).dialect()));
        let of_rest = texts.unreadable.map(|_| self.project.config().gates.prompt);
        let modes: Vec<GateMode> = of_prompts.chain(of_rest).collect();
        let strictest = [GateMode::Block, GateMode::Warn].into_iter().find(|mode| modes.contains(mode));
        strictest.unwrap_or(GateMode::Off)
    }

    fn mode_of_dialect(&self, dialect: Dialect) -> GateMode {
        let gates = &self.project.config().gates;
        match dialect {
            Dialect::AdHoc => GateMode::Off,
            Dialect::Steps => gates.prompt,
            Dialect::Nwave => gates.nwave,
        }
    }

    fn agent_texts(&self) -> AgentTexts {
        let EventKind::PreToolUse(call) = &self.event.kind else { return AgentTexts::default() };
        match &call.tool {
            ToolUse::Agent { prompt, .. } => AgentTexts { prompts: vec![prompt.clone()], unreadable: None },
            // Reports to the Lead start nothing.
            ToolUse::Message { to, text } if to != LEAD => {
                AgentTexts { prompts: vec![text.clone()], unreadable: None }
            }
            ToolUse::Workflow(workflow) => self.workflow_texts(workflow),
            _ => AgentTexts::default(),
        }
    }

    fn workflow_texts(&self, workflow: &Workflow) -> AgentTexts {
        let steps = self.steps();
        let are_used = steps.has_steps();
        let mut scripts = Scripts::new(self);
        scripts.texts.fragments.extend(workflow.args.iter().cloned());
        workflow.script.iter().for_each(|script| scripts.take(script));
        workflow.script_path.iter().for_each(|path| scripts.read(path));
        workflow.name.iter().for_each(|name| scripts.read_named(name));
        let dir = are_used.then_some(self.project.config().steps.dir.0.as_str());
        let unreadable = match scripts.unread {
            // Without steps, a script need not be checked.
            Some(why) if are_used => Some(why),
            _ => script::mention_step(&scripts.texts.fragments, &steps.marker_names(), dir)
                .then(|| "a text that is assembled at run time names a marker or a step file".to_owned()),
        };
        AgentTexts { prompts: scripts.texts.prompts, unreadable }
    }
}

/// The scripts of a call: its own, and the saved workflows that a script starts by name.
struct Scripts<'h> {
    project: &'h Path,
    cwd: PathBuf,
    /// The directory of the client's own files.
    client: Option<PathBuf>,
    /// The saved workflows that were searched.
    names: BTreeSet<String>,
    texts: ScriptTexts,
    unread: Option<String>,
}

impl<'h> Scripts<'h> {
    fn new(hook: &'h HookRun) -> Self {
        let own = || HOME.get().map(|home| Path::new(&home).join(".claude"));
        Self {
            project: &hook.project.root,
            cwd: cwd_of(&hook.event),
            client: CLAUDE_CONFIG_DIR.get().map(PathBuf::from).or_else(own),
            names: BTreeSet::new(),
            texts: ScriptTexts::default(),
            unread: None,
        }
    }

    fn take(&mut self, script: &str) {
        let mut texts = script::read(script);
        let workflows = std::mem::take(&mut texts.workflows);
        self.texts.prompts.append(&mut texts.prompts);
        self.texts.fragments.append(&mut texts.fragments);
        workflows.iter().for_each(|name| self.read_named(name));
    }

    fn read(&mut self, path: &Path) {
        match read_script(&absolute_lexical(&self.cwd, path), self.project, self.client.as_deref()) {
            Ok(script) => self.take(&script),
            Err(why) => self.unread = Some(format!("{} {why}", printable_path(path))),
        }
    }

    /// Reads a saved workflow: the project's, else the user's. Any other is the client's own and names no step.
    fn read_named(&mut self, name: &str) {
        if self.names.len() >= MAX_NAMES {
            self.unread = Some(format!("it starts more than {MAX_NAMES} other workflows"));
        }
        if self.unread.is_some() || !self.names.insert(name.to_owned()) {
            return;
        }
        let folders = [Some(self.project.join(".claude")), self.client.clone()];
        let folders = folders.into_iter().flatten().map(|folder| folder.join("workflows"));
        let scripts: Vec<PathBuf> = folders
            .filter_map(|folder| fs::read_dir(folder).ok())
            .flat_map(|entries| entries.flatten().map(|entry| entry.path()))
            .collect();
        for path in scripts {
            // The name is that of the file, or one that the script declares.
            let is_named = path.file_stem().is_some_and(|stem| stem == name);
            match read_script(&path, self.project, self.client.as_deref()) {
                Ok(script) if is_named || script.contains(name) => self.take(&script),
                Ok(_) => {}
                Err(why) if is_named => self.unread = Some(format!("{} {why}", printable_path(&path))),
                Err(_) => {}
            }
        }
    }
}

/// Reads a script: a regular file of limited size inside the project or the client's own directory. The error
/// is the reason for a refusal.
fn read_script(path: &Path, project: &Path, client: Option<&Path>) -> Result<String, &'static str> {
    let real = path.canonicalize().map_err(|_| "cannot be found")?;
    let is_below = |folder: &Path| folder.canonicalize().is_ok_and(|folder| real.starts_with(folder));
    if !is_below(project) && !client.is_some_and(is_below) {
        return Err("is outside of the project and of the client's directory");
    }
    // Opening anything else could wait for ever.
    if !fs::metadata(&real).is_ok_and(|found| found.is_file()) {
        return Err("is not a regular file");
    }
    let mut script = String::new();
    let file = lockstep_fs::open(&real).map_err(|_| "cannot be opened")?;
    match file.take(MAX_SCRIPT + 1).read_to_string(&mut script) {
        Ok(_) if script.len() as u64 > MAX_SCRIPT => Err("is too large"),
        Ok(_) => Ok(script),
        Err(_) => Err("is not text"),
    }
}
