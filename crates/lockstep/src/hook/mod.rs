//! `lockstep hook`: one process per event of a client. Event JSON on stdin, reply on stdout.
//!
//! The path of an event: bytes → [`Event`] → [`routes`] → actions → decision → bytes. Standard input is parsed
//! once; nothing is compiled, nothing spawned. Whatever goes wrong, an observer exits 0 and says nothing; the fault is one line in
//! the log.

mod cache;
mod deliver;
mod fault;
mod journal;
mod mode;
mod plugin;
mod report;
pub mod route;
mod session;
mod shell;
mod steps;
mod sweep;
mod task;
mod undo;

use std::any::Any;
use std::io::{self, Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::ValueEnum;
use jiff::Zoned;
use lockstep_config::Project;
use lockstep_config::gates::GateMode;
use lockstep_model::decision::Decision;
use lockstep_model::event::{Event, EventKind, Tool};
use lockstep_model::failure::{Role, resolve};
use lockstep_model::ids::SessionId;
use lockstep_steps::markers::may_ask;
use lockstep_store::mailbox::Mail;
use lockstep_store::{StateDir, Store};
use lockstep_wire::{Reply, claude};

use crate::cache::delivery::is_there;
use crate::cache::entry::HookPart;
use crate::clock;
use crate::env_vars::CLAUDE_PROJECT_DIR;
use crate::project::ActiveProject;
use crate::steps::{Steps, were_used};
use fault::{Fault, Waits};
use route::{Action, routes};

/// The clients whose hooks are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Client {
    /// Claude Code
    #[default]
    Claude,
}

/// Where the entry that started the hook is registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RegisteredBy {
    /// In the client's settings.
    #[default]
    Settings,
    /// In the plugin.
    Plugin,
}

/// How the client called the hook.
#[derive(Debug, Clone, Copy, Default)]
pub struct Call {
    /// The client.
    pub client: Client,
    /// Which of several entries for the event this is.
    pub part: HookPart,
    /// Where the entry is registered.
    pub by: RegisteredBy,
}

/// The largest event that is parsed. A hook's memory is bounded; what a larger one changed is found by the next sweep.
const MAX_EVENT_BYTES: u64 = 8 << 20;

/// Answers the event on standard input.
pub fn main(call: Call) -> ExitCode {
    let start = Instant::now();
    // A panic must not reach the client's screen; it is logged like any other fault.
    std::panic::set_hook(Box::new(|_| {}));
    let answer = catch_unwind(|| answer(call, start)).unwrap_or_else(|panic| {
        log_outside_an_event(&Fault::Bug(said(&*panic)));
        Answer::silent()
    });
    let delivered = send(&answer.reply);
    if let (Err(error), Some(parcel)) = (delivered, answer.parcel) {
        // Nobody read it: it waits for the next event. A failure here is the mailbox's, and it logs.
        let _ = catch_unwind(AssertUnwindSafe(|| parcel.put_back(&error)));
    }
    ExitCode::from(answer.reply.code)
}

/// What a panic said.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// A reply, and what must be put back if the client does not take it.
struct Answer {
    reply: Reply,
    parcel: Option<Parcel>,
}

impl Answer {
    fn silent() -> Self {
        Self { reply: Reply::silent(), parcel: None }
    }
}

/// Mail on its way to the Lead.
struct Parcel {
    state: StateDir,
    session: SessionId,
    mail: Mail,
}

fn send(reply: &Reply) -> io::Result<()> {
    // Written to the descriptor, not through `print!`, which would panic on a closed one.
    io::stderr().write_all(reply.stderr.as_bytes())?;
    if reply.stdout.is_empty() {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    out.write_all(reply.stdout.as_bytes())?;
    out.flush()
}

fn answer(Call { client, part, by }: Call, start: Instant) -> Answer {
    let Client::Claude = client;
    let event = match read_event() {
        Ok(event) => event,
        Err(fault) => {
            log_outside_an_event(&fault);
            return undecided(&fault);
        }
    };
    if actions(&event, part).is_empty() {
        // Most events of most sessions: not even the project is looked for.
        return Answer::silent();
    }
    if by == RegisteredBy::Plugin && plugin::settings_answer(&event) {
        return Answer::silent();
    }
    match project_of(&event) {
        Ok(Some(project)) => Hook::new(project, event, part, start).run(),
        // Nobody asked for Lockstep here.
        Ok(None) => Answer::silent(),
        Err(fault) => {
            // Whether there is a cache to announce is not known either: only gates answer.
            // Nor is it known where steps are; that there were some, the state tells.
            let steps = fault.state_beside_configuration().is_some_and(|state| were_used(&state));
            let actions = actions(&event, part).into_iter().filter(|action| !action.would_loop(&event));
            let actions = actions.filter(|action| steps || !action.is_about_steps_only());
            let asks = !matches!(prompt_of(&event), Some(prompt) if !may_ask(prompt));
            let actions = actions.filter(|action| asks || *action != Action::GateInvocation);
            let roles = actions.map(Action::role).filter(|role| *role == Role::Enforcer);
            fault.log_beside_configuration(event.kind.name());
            let decision = roles
                .map(|role| resolve(role, Default::default(), &fault.to_string()))
                .fold(Decision::Silent, stronger);
            Answer { reply: claude::render(&event.kind, &decision), parcel: None }
        }
    }
}

/// The prompt that an agent is to be started with.
fn prompt_of(event: &Event) -> Option<&str> {
    let EventKind::PreToolUse(call) = &event.kind else { return None };
    match &call.tool {
        Tool::Agent { prompt, .. } => Some(prompt),
        _ => None,
    }
}

/// What this process does about an event. Of several entries for one event, the first does what is done once.
fn actions(event: &Event, part: HookPart) -> Vec<Action> {
    let mut actions = routes(event);
    actions.retain(|action| part.is_first() || *action == Action::DeliverCache);
    actions
}

fn read_event() -> Result<Event, Fault> {
    let mut bytes = Vec::new();
    let mut stdin = io::stdin().lock();
    stdin.by_ref().take(MAX_EVENT_BYTES + 1).read_to_end(&mut bytes).map_err(Fault::Stdin)?;
    if bytes.len() as u64 > MAX_EVENT_BYTES {
        let decides = waits_for(&bytes);
        // Read to the end, so that the client does not see its pipe break.
        drop(bytes);
        let rest = io::copy(&mut stdin, &mut io::sink()).unwrap_or(0);
        return Err(Fault::TooLarge { bytes: MAX_EVENT_BYTES + 1 + rest, decides });
    }
    Ok(claude::parse(&bytes)?)
}

/// Which decision an event that cannot be parsed waits for: the client names the event and the tool before the tool's input.
fn waits_for(bytes: &[u8]) -> Waits {
    const HEAD: usize = 4096;
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]);
    if !head.contains("\"PreToolUse\"") {
        return Waits::Nothing;
    }
    let tool = head.split_once("\"tool_name\"").and_then(|(_, rest)| rest.split('"').nth(1));
    match tool {
        Some("Edit" | "Write" | "MultiEdit" | "NotebookEdit" | "Bash") => Waits::Steps,
        _ => Waits::Any,
    }
}

/// The answer to an event that could not be read. A call that waits for a decision must not pass because it was too large to be
/// looked at.
fn undecided(fault: &Fault) -> Answer {
    let named = CLAUDE_PROJECT_DIR.get().map(PathBuf::from);
    let project = std::env::current_dir().ok().and_then(|cwd| {
        let found = Project::of_hook(named.as_deref(), &cwd).ok().flatten()?;
        ActiveProject::load(found).ok()
    });
    let waits = |project: &ActiveProject| {
        let gates = &project.config().gates;
        let blocks = |modes: [GateMode; 2]| modes.contains(&GateMode::Block);
        match fault.waits() {
            Waits::Nothing => false,
            Waits::Steps => {
                blocks([gates.stop, gates.commit]) && Steps::new(project, clock::now()).are_used()
            }
            Waits::Any => blocks([gates.prompt, gates.task]),
        }
    };
    let Some(project) = project.filter(waits) else { return Answer::silent() };
    let decision = resolve(Role::Enforcer, project.config().hooks.on_failure, &fault.to_string());
    Answer { reply: claude::render(&EventKind::Other("PreToolUse".to_owned()), &decision), parcel: None }
}

/// The project an event belongs to: the one the client names, else that of its working directory, else that of the file a
/// tool wrote (in a monorepo only some packages may be active).
fn project_of(event: &Event) -> Result<Option<ActiveProject>, Fault> {
    let cwd = cwd_of(event);
    let named = CLAUDE_PROJECT_DIR.get().map(PathBuf::from);
    let found = match Project::of_hook(named.as_deref(), &cwd)? {
        None => match written_file(event, &cwd) {
            Some(path) => Project::of_file(&path)?,
            None => None,
        },
        found => found,
    };
    Ok(found.map(ActiveProject::load).transpose()?)
}

fn cwd_of(event: &Event) -> PathBuf {
    match &event.cwd {
        Some(cwd) if cwd.is_absolute() => cwd.clone(),
        _ => std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
    }
}

/// The absolute path of the file that a tool call has written.
fn written_file(event: &Event, cwd: &Path) -> Option<PathBuf> {
    let EventKind::PostToolUse { call, .. } = &event.kind else { return None };
    let Tool::File { path: Some(path), .. } = &call.tool else { return None };
    Some(lockstep_model::path::absolute(cwd, path))
}

/// Logs a fault of which no event is known, where the process stands in an active project.
fn log_outside_an_event(fault: &Fault) {
    let named = CLAUDE_PROJECT_DIR.get().map(PathBuf::from);
    let Ok(cwd) = std::env::current_dir() else { return };
    if let Ok(Some(project)) = Project::of_hook(named.as_deref(), &cwd) {
        fault.log(&StateDir::of(&project.root), "-");
    }
}

/// One event in an active project.
struct Hook {
    project: ActiveProject,
    event: Event,
    part: HookPart,
    start: Instant,
    now: Zoned,
    /// Left open by an action for the next one: opening it takes a third of a hook's time.
    store: Option<Store>,
    faults: Vec<Fault>,
    parcel: Option<Parcel>,
}

impl Hook {
    fn new(project: ActiveProject, event: Event, part: HookPart, start: Instant) -> Self {
        Self { project, event, part, start, now: clock::now(), store: None, faults: Vec::new(), parcel: None }
    }

    /// Runs the event's actions in order. Each fails for itself; together they leave one line in the log.
    fn run(mut self) -> Answer {
        let actions = actions(&self.event, self.part);
        self.faults.extend(Fault::of_configuration(&self.project));
        let mut decision = Decision::Silent;
        match self.event.session.clone() {
            Ok(session) => {
                for action in actions {
                    decision = stronger(decision, self.act(action, &session));
                }
            }
            Err(invalid) => {
                self.faults.push(invalid.into());
                for action in actions.into_iter().filter(|action| self.mode(*action) == GateMode::Block) {
                    decision = stronger(decision, self.failed(action));
                }
            }
        }
        self.log();
        Answer { reply: claude::render(&self.event.kind, &decision), parcel: self.parcel }
    }

    fn act(&mut self, action: Action, session: &SessionId) -> Decision {
        let mode = self.mode(action);
        if mode == GateMode::Off {
            return Decision::Silent;
        }
        let decision = self.decide(action, session);
        if mode == GateMode::Warn { self.warn(action, session, decision) } else { decision }
    }

    fn decide(&mut self, action: Action, session: &SessionId) -> Decision {
        // A gate must not open because it broke: a panic is caught. A panic of an observer ends the hook.
        let done = match action.role() {
            Role::Enforcer => catch_unwind(AssertUnwindSafe(|| self.perform(action, session)))
                .unwrap_or_else(|panic| Err(Fault::Bug(said(&*panic)))),
            Role::Observer | Role::Announcer => self.perform(action, session),
        };
        done.unwrap_or_else(|fault| {
            self.faults.push(fault);
            self.failed(action)
        })
    }

    fn perform(&mut self, action: Action, session: &SessionId) -> Result<Decision, Fault> {
        match action {
            Action::Journal => self.journal_change(session),
            Action::Sweep => self.sweep_after_bash(session),
            Action::ReportSubagent => self.report_subagent(session),
            Action::ReportLead => self.report_lead(session),
            Action::GateTask => self.gate_task(session),
            Action::GateTaskCommand => self.gate_task_command(session),
            Action::ForgetTaskCommand => self.forget_task_command(session),
            Action::GateInvocation => self.gate_invocation(session),
            Action::GateBoundary => self.gate_boundary(session),
            Action::GateCommit => self.gate_commit(),
            Action::GateStop => self.gate_stop(session),
            Action::MirrorTask => self.mirror_task(session),
            Action::NoteTaskRead => self.note_task_read(session),
            Action::Deliver => self.deliver(session),
            Action::DeliverCache => self.deliver_cache(session),
            Action::OpenSession => self.open_session(session),
            Action::CloseSession => self.close_session(session),
        }
    }

    fn failed(&self, action: Action) -> Decision {
        if action == Action::DeliverCache && !is_there(&self.project) {
            // Nothing would have been delivered, so nothing is degraded.
            return Decision::Silent;
        }
        let of_steps = action.is_about_steps_only();
        if action.would_loop(&self.event)
            || (of_steps && !Steps::new(&self.project, self.now.clone()).are_used())
        {
            return Decision::Silent;
        }
        let why = self.faults.last().map(ToString::to_string).unwrap_or_default();
        resolve(action.role(), self.project.config().hooks.on_failure, &why)
    }

    fn log(&self) {
        if !self.faults.is_empty() {
            let message: Vec<String> = self.faults.iter().map(Fault::with_causes).collect();
            fault::log(&self.project.state, &self.now, self.event.kind.name(), &message.join("; "));
        }
    }
}

/// Of two answers to one event, the one that weighs more: a block over text over silence.
fn stronger(one: Decision, other: Decision) -> Decision {
    match (&one, &other) {
        (Decision::Block(_), _) | (_, Decision::Silent) => one,
        (Decision::Silent, _) | (_, Decision::Block(_)) => other,
        // A part of the session cache may already tell what is under way.
        (Decision::Context(a), Decision::Context(b)) if b.contains(a) => other,
        (Decision::Context(a), Decision::Context(b)) => Decision::Context(format!("{a}\n\n{b}")),
    }
}
