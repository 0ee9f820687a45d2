//! `lockstep hook`: one process per event of a client. Event JSON on stdin, reply on stdout.
//!
//! The path of an event: bytes → [`Event`] → [`actions_for`] → actions → decision → bytes. Standard input is
//! parsed once and nothing is compiled. The only process that may be started is a detached build of a missing
//! index. On any failure, an observer exits 0 without output, and the fault is one line in the log.

mod boundary;
mod cache_delivery;
mod error;
mod invocation;
mod journal;
pub mod known;
mod listed;
mod mail;
mod mode;
pub(crate) mod part;
mod plugin_dedup;
mod report;
pub mod routing;
mod session;
mod shell;
mod steps;
mod sweep;
mod task;
mod undo;
mod unread;
mod unread_places;
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
use lockstep_model::event::{Event, EventKind, ToolUse};
use lockstep_model::failure_policy::{ActionRole, decide_on_failure};
use lockstep_model::ids::SessionId;
use lockstep_steps::markers::may_ask;
use lockstep_store::mailbox::Mail;
use lockstep_store::{StateDir, Store};
use lockstep_text::printable;
use lockstep_wire::{HookResponse, ParseEventError, claude};

use crate::cache::delivery::cache_file_exists;
use crate::clock;
use crate::env_vars::CLAUDE_PROJECT_DIR;
use crate::project::ActiveProject;
use crate::steps::{StepContext, has_step_state};
use error::{HookError, HookResult};
use part::HookPart;
use routing::{HookAction, actions_for};
use unread::{NameScanner, Waits};

/// The supported clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum HookClient {
    /// Claude Code
    #[default]
    Claude,
}

/// The registration of the entry that started the hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RegistrationSource {
    /// In the client's settings.
    #[default]
    Settings,
    Plugin,
}

/// The client's call of the hook.
#[derive(Debug, Clone, Copy, Default)]
pub struct HookInvocation {
    pub client: HookClient,
    /// Which of several entries for the event this is.
    pub part: HookPart,
    pub by: RegistrationSource,
}

/// The size limit of events, which limits a hook's memory. The next sweep finds the changes of a larger
/// event.
const MAX_EVENT_BYTES: u64 = 8 << 20;

/// Answers the event on standard input.
pub fn main(call: HookInvocation) -> ExitCode {
    let start = Instant::now();
    // A panic must not reach the client's screen; it is logged like any other fault.
    std::panic::set_hook(Box::new(|_| {}));
    let answer = catch_unwind(|| handle_invocation(call, start)).unwrap_or_else(|panic| {
        log_outside_an_event(&HookError::Bug(panic_message(&*panic)));
        HookOutcome::silent()
    });
    let delivered = send(&answer.reply);
    if let (Err(error), Some(pending_mail)) = (delivered, answer.pending_mail) {
        // The mail was not delivered, so it waits for the next event. A failure here is logged by the
        // mailbox.
        let _ = catch_unwind(AssertUnwindSafe(|| pending_mail.put_back(&error)));
    }
    ExitCode::from(answer.reply.code)
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// A reply, and the mail to put back if the client does not accept it.
struct HookOutcome {
    reply: HookResponse,
    pending_mail: Option<PendingMail>,
}

impl HookOutcome {
    fn silent() -> Self {
        Self { reply: HookResponse::silent(), pending_mail: None }
    }
}

/// Mail in delivery to the Lead.
struct PendingMail {
    state: StateDir,
    session: SessionId,
    mail: Mail,
}

fn send(reply: &HookResponse) -> io::Result<()> {
    // Written to the descriptor, not through `print!`, which would panic on a closed one.
    io::stderr().write_all(printable(&reply.stderr).as_bytes())?;
    if reply.stdout.is_empty() {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    out.write_all(reply.stdout.as_bytes())?;
    out.flush()
}

fn handle_invocation(HookInvocation { client, part, by }: HookInvocation, start: Instant) -> HookOutcome {
    let HookClient::Claude = client;
    let event = match read_event() {
        Ok(event) => event,
        Err(fault) => {
            log_outside_an_event(&fault);
            return respond_to_unreadable_event(&fault);
        }
    };
    let mut actions = actions_for_part(&event, part);
    if actions.is_empty() {
        // Most events of most sessions end here, before the project is searched.
        return HookOutcome::silent();
    }
    if by == RegistrationSource::Plugin && plugin_dedup::is_handled_by_settings(&event) {
        return HookOutcome::silent();
    }
    match project_of(&event) {
        Ok(Some(project)) => HookRun::new(project, event, part, start).run(actions),
        Ok(None) => {
            actions.retain(|action| action.is_step_gate());
            match (!actions.is_empty()).then(|| project_without_configuration(&event)).flatten() {
                Some(project) => HookRun::new(project, event, part, start).run(actions),
                // The project does not use Lockstep.
                None => HookOutcome::silent(),
            }
        }
        Err(fault) => {
            // It is unknown whether there is a cache to announce, so only gates answer. The directory of
            // steps is unknown too; the state directory shows whether there were any.
            let steps = fault.state_beside_configuration().is_some_and(|state| has_step_state(&state));
            let actions = actions.into_iter().filter(|action| !action.would_loop(&event));
            let actions = actions.filter(|action| steps || !action.is_step_gate());
            let asks = prompt_of(&event).map_or(steps, may_ask);
            let actions = actions.filter(|action| asks || *action != HookAction::GateInvocation);
            let roles = actions.map(HookAction::role).filter(|role| *role == ActionRole::Enforcer);
            fault.log_beside_configuration(event.kind.name());
            let decision = roles
                .map(|role| decide_on_failure(role, Default::default(), &fault.to_string()))
                .fold(Decision::Silent, combine_decisions);
            HookOutcome { reply: claude::render(&event.kind, &decision), pending_mail: None }
        }
    }
}

/// The prompt that starts or continues an agent; `None` if the event does not contain it.
fn prompt_of(event: &Event) -> Option<&str> {
    let EventKind::PreToolUse(call) = &event.kind else { return None };
    match &call.tool {
        ToolUse::Agent { prompt: text, .. } | ToolUse::Message { text, .. } => Some(text),
        ToolUse::Workflow(workflow) => workflow.script.as_deref(),
        _ => None,
    }
}

/// Returns the actions of this process for an event. If there are several entries for one event, the first
/// performs the actions that must be done once.
fn actions_for_part(event: &Event, part: HookPart) -> Vec<HookAction> {
    let mut actions = actions_for(event);
    actions.retain(|action| part.is_first() || *action == HookAction::DeliverCache);
    actions
}

fn read_event() -> HookResult<Event> {
    let mut bytes = Vec::new();
    let mut stdin = io::stdin().lock();
    stdin.by_ref().take(MAX_EVENT_BYTES + 1).read_to_end(&mut bytes).map_err(HookError::Stdin)?;
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
        return Err(HookError::TooLarge { bytes: all, decides: scanner.waits_without_json() });
    }
    claude::parse(&bytes).map_err(|source| {
        scanner.feed(&bytes);
        let is_json = !matches!(source, ParseEventError::Json(_) | ParseEventError::NotAnObject);
        let decides = if is_json { scanner.waits() } else { scanner.waits_without_json() };
        HookError::Unread { source, decides }
    })
}

/// The answer to an event that could not be read. A call that waits for a decision must not pass because it was too large or too
/// broken to be read.
fn respond_to_unreadable_event(fault: &HookError) -> HookOutcome {
    let named = CLAUDE_PROJECT_DIR.get().map(PathBuf::from);
    let project = std::env::current_dir().ok().and_then(|cwd| {
        let found = Project::of_hook(named.as_deref(), &cwd).ok().flatten()?;
        ActiveProject::load(found).ok()
    });
    let waits = |project: &ActiveProject| {
        let gates = &project.config().gates;
        let blocks = |modes: [GateMode; 2]| modes.contains(&GateMode::Block);
        let are_used = || StepContext::new(project, clock::now()).has_steps();
        match fault.waits() {
            Waits::Nothing => false,
            Waits::Stop => gates.stop == GateMode::Block && are_used(),
            Waits::Steps => blocks([gates.stop, gates.commit]) && are_used(),
            Waits::Any => {
                blocks([gates.prompt, gates.task]) || (blocks([gates.stop, gates.commit]) && are_used())
            }
        }
    };
    let Some(project) = project.filter(waits) else { return HookOutcome::silent() };
    let decision =
        decide_on_failure(ActionRole::Enforcer, project.config().hooks.on_failure, &fault.to_string());
    HookOutcome {
        reply: claude::render(&EventKind::Other("PreToolUse".to_owned()), &decision),
        pending_mail: None,
    }
}

/// Returns the project of an event: the one the client names, otherwise that of its working directory,
/// otherwise that of the file a tool wrote (in a monorepo only some packages may be active).
fn project_of(event: &Event) -> HookResult<Option<ActiveProject>> {
    let cwd = cwd_of(event);
    let named = CLAUDE_PROJECT_DIR.get().map(PathBuf::from);
    let mut found = Project::of_hook(named.as_deref(), &cwd)?;
    if let (None, Some(path)) = (&found, written_file(event, &cwd)) {
        found = Project::of_file(&path)?;
    }
    if let (None, Ok(own)) = (&found, std::env::current_dir()) {
        // A directory in the event that is elsewhere or missing must not open the gates of the project in which
        // the client runs its hooks.
        found = Project::of_hook(None, &own)?;
    }
    Ok(found.map(ActiveProject::load).transpose()?)
}

/// Returns the project of an event whose `lockstep.toml` was removed after a step began: its gates use the defaults.
fn project_without_configuration(event: &Event) -> Option<ActiveProject> {
    let named = CLAUDE_PROJECT_DIR.get().map(PathBuf::from);
    let dirs = named.into_iter().chain([cwd_of(event)]).chain(std::env::current_dir());
    dirs.filter(|dir| dir.is_absolute()).find_map(|dir| ActiveProject::with_open_steps(&dir))
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
    let ToolUse::File { path: Some(path), .. } = &call.tool else { return None };
    Some(lockstep_model::path::absolute_lexical(cwd, path))
}

/// Logs a fault without an event, if the working directory is in an active project.
fn log_outside_an_event(fault: &HookError) {
    let named = CLAUDE_PROJECT_DIR.get().map(PathBuf::from);
    let Ok(cwd) = std::env::current_dir() else { return };
    if let Ok(Some(project)) = Project::of_hook(named.as_deref(), &cwd) {
        fault.log(&StateDir::for_project(&project.root), "-");
    }
}

/// One event in an active project.
struct HookRun {
    project: ActiveProject,
    event: Event,
    part: HookPart,
    start: Instant,
    now: Zoned,
    /// Left open by an action for the next one, because opening takes a third of a hook's time.
    store: Option<Store>,
    /// Set if an action has already searched for changes of shell commands.
    has_swept: bool,
    faults: Vec<HookError>,
    pending_mail: Option<PendingMail>,
}

impl HookRun {
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

    /// Runs the event's actions in order. A failing action does not stop the others. All failures are one line in the log.
    fn run(mut self, actions: Vec<HookAction>) -> HookOutcome {
        self.faults.extend(HookError::from_config_problems(&self.project));
        let mut decision = Decision::Silent;
        match self.event.session.clone() {
            Ok(session) => {
                for action in actions {
                    // A refused command does not run. An agent that continues is reported when it ends, so
                    // its refusal must not wait for an analysis.
                    let is_needless = matches!(action, HookAction::OpenWindow | HookAction::ReportSubagent);
                    if is_needless && matches!(decision, Decision::Block(_)) {
                        continue;
                    }
                    decision = combine_decisions(decision, self.run_action(action, &session));
                }
            }
            Err(invalid) => {
                self.faults.push(invalid.into());
                for action in actions.into_iter().filter(|action| self.mode(*action) == GateMode::Block) {
                    decision = combine_decisions(decision, self.failed(action));
                }
            }
        }
        self.log();
        HookOutcome { reply: claude::render(&self.event.kind, &decision), pending_mail: self.pending_mail }
    }

    fn run_action(&mut self, action: HookAction, session: &SessionId) -> Decision {
        let mode = self.mode(action);
        if mode == GateMode::Off {
            return Decision::Silent;
        }
        let decision = self.decide(action, session);
        if mode == GateMode::Warn { self.warn(action, session, decision) } else { decision }
    }

    fn decide(&mut self, action: HookAction, session: &SessionId) -> Decision {
        // A gate must not open because it broke: a panic is caught. A panic of an observer ends the hook.
        let done = match action.role() {
            ActionRole::Enforcer => catch_unwind(AssertUnwindSafe(|| self.dispatch(action, session)))
                .unwrap_or_else(|panic| Err(HookError::Bug(panic_message(&*panic)))),
            ActionRole::Observer | ActionRole::Announcer => self.dispatch(action, session),
        };
        done.unwrap_or_else(|fault| {
            self.faults.push(fault);
            self.failed(action)
        })
    }

    fn dispatch(&mut self, action: HookAction, session: &SessionId) -> HookResult<Decision> {
        match action {
            HookAction::NoteStart => self.note_start(session),
            HookAction::Journal => {
                let journaled = self.journal_change(session);
                self.close_edit(session);
                journaled
            }
            HookAction::OpenWindow => self.open_window(session),
            HookAction::CloseBackgroundTask => self.close_background_task(session),
            HookAction::Sweep => self.sweep_after_bash(session),
            HookAction::ReportSubagent => self.report_subagent(session),
            HookAction::ReportLead => self.report_lead(session),
            HookAction::GateTask => self.gate_task(session),
            HookAction::GateTaskCommand => self.gate_task_command(session),
            HookAction::ForgetTaskCommand => self.forget_task_command(session),
            HookAction::GateInvocation => self.gate_invocation(session),
            HookAction::GateBoundary => self.gate_boundary(session),
            HookAction::GateCommit => self.gate_commit(),
            HookAction::GateApproval => Ok(self.gate_approval()),
            HookAction::GateStop => self.gate_stop(session),
            HookAction::MirrorTask => self.mirror_task(session),
            HookAction::NoteTaskRead => self.note_task_read(session),
            HookAction::DeliverMail => self.deliver_mail(session),
            HookAction::DeliverCache => self.deliver_cache(session),
            HookAction::OpenSession => self.open_session(session),
            HookAction::CloseSession => self.close_session(session),
        }
    }

    fn failed(&self, action: HookAction) -> Decision {
        if action == HookAction::DeliverCache && !cache_file_exists(&self.project) {
            // Nothing would have been delivered, so nothing is degraded.
            return Decision::Silent;
        }
        let of_steps = action.is_step_gate();
        if action.would_loop(&self.event)
            || (of_steps && !StepContext::new(&self.project, self.now.clone()).has_steps())
        {
            return Decision::Silent;
        }
        let why = self.faults.last().map(ToString::to_string).unwrap_or_default();
        decide_on_failure(action.role(), self.project.config().hooks.on_failure, &why)
    }

    fn log(&self) {
        if !self.faults.is_empty() {
            let message: Vec<String> = self.faults.iter().map(HookError::with_causes).collect();
            error::log(&self.project.state, &self.now, self.event.kind.name(), &message.join("; "));
        }
    }
}

/// Returns the stronger of two answers to one event. A block is the strongest, then a question, then text.
fn combine_decisions(one: Decision, other: Decision) -> Decision {
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
