//! `lockstep hook`: one process per event of a client. Event JSON on stdin, reply on stdout.
//!
//! The path of an event: bytes → [`Event`] → [`routes`] → actions → decision → bytes. Standard input is
//! parsed once; nothing is compiled, nothing spawned. On any failure, an observer exits 0 without output, and
//! the fault is one line in the log.

mod cache;
mod deliver;
mod fault;
mod invocation;
mod journal;
pub mod known;
mod listed;
mod mode;
mod plugin;
mod report;
pub mod route;
mod session;
mod shell;
mod steps;
mod submodules;
mod sweep;
mod task;
mod undo;
mod unread;
mod windows;

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
use lockstep_text::printable;
use lockstep_wire::{Reply, claude};

use crate::cache::delivery::is_there;
use crate::cache::entry::HookPart;
use crate::clock;
use crate::env_vars::CLAUDE_PROJECT_DIR;
use crate::project::ActiveProject;
use crate::steps::{Steps, were_used};
use fault::Fault;
use route::{Action, routes};
use unread::{NameScanner, Waits};

/// The supported clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Client {
    /// Claude Code
    #[default]
    Claude,
}

/// The registration of the entry that started the hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RegisteredBy {
    /// In the client's settings.
    #[default]
    Settings,
    /// In the plugin.
    Plugin,
}

/// The client's call of the hook.
#[derive(Debug, Clone, Copy, Default)]
pub struct Call {
    pub client: Client,
    /// Which of several entries for the event this is.
    pub part: HookPart,
    pub by: RegisteredBy,
}

/// The size limit of events, which limits a hook's memory. The next sweep finds the changes of a larger
/// event.
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
    if let (Err(error), Some(pending_mail)) = (delivered, answer.pending_mail) {
        // The mail was not delivered, so it waits for the next event. A failure here is logged by the
        // mailbox.
        let _ = catch_unwind(AssertUnwindSafe(|| pending_mail.put_back(&error)));
    }
    ExitCode::from(answer.reply.code)
}

/// Returns the message of a panic.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// A reply, and the mail to put back if the client does not accept it.
struct Answer {
    reply: Reply,
    pending_mail: Option<PendingMail>,
}

impl Answer {
    fn silent() -> Self {
        Self { reply: Reply::silent(), pending_mail: None }
    }
}

/// Mail in delivery to the Lead.
struct PendingMail {
    state: StateDir,
    session: SessionId,
    mail: Mail,
}

fn send(reply: &Reply) -> io::Result<()> {
    // Written to the descriptor, not through `print!`, which would panic on a closed one.
    io::stderr().write_all(printable(&reply.stderr).as_bytes())?;
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
        // Most events of most sessions end here, before the project is searched.
        return Answer::silent();
    }
    if by == RegisteredBy::Plugin && plugin::settings_answer(&event) {
        return Answer::silent();
    }
    match project_of(&event) {
        Ok(Some(project)) => Hook::new(project, event, part, start).run(),
        // The project does not use Lockstep.
        Ok(None) => Answer::silent(),
        Err(fault) => {
            // It is unknown whether there is a cache to announce, so only gates answer. The directory of
            // steps is unknown too; the state directory shows whether there were any.
            let steps = fault.state_beside_configuration().is_some_and(|state| were_used(&state));
            let actions = actions(&event, part).into_iter().filter(|action| !action.would_loop(&event));
            let actions = actions.filter(|action| steps || !action.is_about_steps_only());
            let asks = prompt_of(&event).map_or(steps, may_ask);
            let actions = actions.filter(|action| asks || *action != Action::GateInvocation);
            let roles = actions.map(Action::role).filter(|role| *role == Role::Enforcer);
            fault.log_beside_configuration(event.kind.name());
            let decision = roles
                .map(|role| resolve(role, Default::default(), &fault.to_string()))
                .fold(Decision::Silent, stronger);
            Answer { reply: claude::render(&event.kind, &decision), pending_mail: None }
        }
    }
}

/// The text that an agent is to be started or continued with; `None` if the event does not hold it.
fn prompt_of(event: &Event) -> Option<&str> {
    let EventKind::PreToolUse(call) = &event.kind else { return None };
    match &call.tool {
        Tool::Agent { prompt: text, .. } | Tool::Message { text, .. } => Some(text),
        Tool::Workflow(workflow) => workflow.script.as_deref(),
        _ => None,
    }
}

/// Returns the actions of this process for an event. If there are several entries for one event, the first
/// performs the actions that must be done once.
fn actions(event: &Event, part: HookPart) -> Vec<Action> {
    let mut actions = routes(event);
    actions.retain(|action| part.is_first() || *action == Action::DeliverCache);
    actions
}

fn read_event() -> Result<Event, Fault> {
    let mut bytes = Vec::new();
    let mut stdin = io::stdin().lock();
    stdin.by_ref().take(MAX_EVENT_BYTES + 1).read_to_end(&mut bytes).map_err(Fault::Stdin)?;
    let mut scanner = NameScanner::default();
    if bytes.len() as u64 > MAX_EVENT_BYTES {
        scanner.feed(&bytes);
        // Read to the end, so that the client does not see its pipe break.
        let mut all = bytes.len() as u64;
        let mut piece = vec![0; 1 << 16];
        while let Ok(read @ 1..) = stdin.read(&mut piece) {
            scanner.feed(&piece[..read]);
            all += read as u64;
        }
        return Err(Fault::TooLarge { bytes: all, decides: scanner.waits() });
    }
    claude::parse(&bytes).map_err(|source| {
        scanner.feed(&bytes);
        Fault::Unread { source, decides: scanner.waits() }
    })
}

/// The answer to an event that could not be read. A call that waits for a decision must not pass because it was too large or too
/// broken to be read.
fn undecided(fault: &Fault) -> Answer {
    let named = CLAUDE_PROJECT_DIR.get().map(PathBuf::from);
    let project = std::env::current_dir().ok().and_then(|cwd| {
        let found = Project::of_hook(named.as_deref(), &cwd).ok().flatten()?;
        ActiveProject::load(found).ok()
    });
    let waits = |project: &ActiveProject| {
        let gates = &project.config().gates;
        let blocks = |modes: [GateMode; 2]| modes.contains(&GateMode::Block);
        let are_used = || Steps::new(project, clock::now()).are_used();
        match fault.waits() {
            Waits::Nothing => false,
            Waits::Stop => gates.stop == GateMode::Block && are_used(),
            Waits::Steps => blocks([gates.stop, gates.commit]) && are_used(),
            Waits::Any => {
                blocks([gates.prompt, gates.task]) || (blocks([gates.stop, gates.commit]) && are_used())
            }
        }
    };
    let Some(project) = project.filter(waits) else { return Answer::silent() };
    let decision = resolve(Role::Enforcer, project.config().hooks.on_failure, &fault.to_string());
    Answer {
        reply: claude::render(&EventKind::Other("PreToolUse".to_owned()), &decision),
        pending_mail: None,
    }
}

/// Returns the project of an event: the one the client names, otherwise that of its working directory,
/// otherwise that of the file a tool wrote (in a monorepo only some packages may be active).
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

/// Logs a fault without an event, if the working directory is in an active project.
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
    /// Left open by an action for the next one, because opening takes a third of a hook's time.
    store: Option<Store>,
    /// Set if an action has already searched for changes of shell commands.
    has_swept: bool,
    faults: Vec<Fault>,
    pending_mail: Option<PendingMail>,
}

impl Hook {
    fn new(project: ActiveProject, event: Event, part: HookPart, start: Instant) -> Self {
        Self {
            project,
            event,
            part,
            start,
            now: clock::now(),
            store: None,
            has_swept: false,
            faults: Vec::new(),
            pending_mail: None,
        }
    }

    /// Runs the event's actions in order. Each fails for itself; together they leave one line in the log.
    fn run(mut self) -> Answer {
        let actions = actions(&self.event, self.part);
        self.faults.extend(Fault::of_configuration(&self.project));
        let mut decision = Decision::Silent;
        match self.event.session.clone() {
            Ok(session) => {
                for action in actions {
                    // A refused command does not run. An agent that continues is reported when it ends, so
                    // its refusal must not wait for an analysis.
                    let is_needless = matches!(action, Action::OpenWindow | Action::ReportSubagent);
                    if is_needless && matches!(decision, Decision::Block(_)) {
                        continue;
                    }
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
        Answer { reply: claude::render(&self.event.kind, &decision), pending_mail: self.pending_mail }
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
            Action::NoteStart => self.note_start(session),
            Action::Journal => {
                let journaled = self.journal_change(session);
                self.close_edit(session);
                journaled
            }
            Action::OpenWindow => self.open_window(session),
            Action::CloseBackgroundTask => self.close_background_task(session),
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

/// Of two answers to one event, the one that weighs more: a block over a question over text over silence.
fn stronger(one: Decision, other: Decision) -> Decision {
    match (&one, &other) {
        (Decision::Block(_), _) | (_, Decision::Silent) => one,
        (Decision::Silent, _) | (_, Decision::Block(_)) => other,
        (Decision::Ask(_), _) => one,
        (_, Decision::Ask(_)) => other,
        // A part of the session cache may already mention the work in progress.
        (Decision::Context(a), Decision::Context(b)) if b.contains(a) => other,
        (Decision::Context(a), Decision::Context(b)) => Decision::Context(format!("{a}\n\n{b}")),
    }
}
