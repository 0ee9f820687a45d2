//! `lockstep changes`.

use std::collections::BTreeSet;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use jiff::civil::DateTime;
use jiff::{Span, Timestamp, Zoned};
use lockstep_model::change::ChangeKind;
use lockstep_model::ids::SessionId;
use lockstep_model::path::escape_into;
use lockstep_store::Store;
use lockstep_store::history::{ChangeAgent, ChangeFilter, RecordedChange};
use lockstep_store::originals::OriginalStore;
use lockstep_text::{printable_path, single_line};
use serde::Serialize;

use super::{CommandContext, CommandStatus};
use crate::clock;
use crate::error::{CommandError, CommandResult};
use crate::project::ActiveProject;

/// List the files that agents changed
///
/// Lists every change an agent made to a file of this project: with its editing tools, or with a shell command, which is found on
/// disk afterwards and listed as `Sweep`. The oldest comes first. `lead` is the main agent of a session; the others are its
/// subagents. `a1 or a2` means that shell commands of both were running when the file changed; `a1?` means that no command is known that was.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep changes                       all changes
  lockstep changes --since 2h            of the last two hours
  lockstep changes --agent lead          those of the main agent
  lockstep changes --agent implementer   those of agents of this type
  lockstep changes --tsv | cut -f3       the paths, for a script
  lockstep changes --prune               remove the journals of ended sessions")]
pub(crate) struct ChangesArgs {
    /// Only those of this session
    #[arg(long, value_name = "ID")]
    session: Option<SessionId>,
    /// Only those that this agent made or may have made: its id, its type, or `lead`
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Only those at or after this time: `2h`, `2026-02-14`, `2026-02-14T15:30`, or with an offset
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Print the lines as the journal has them
    #[arg(long, conflicts_with = "prune")]
    tsv: bool,
    /// Remove journal files of sessions that ended and whose grace period is over; with --session, that session's file at
    /// once. The changes stay listed
    #[arg(long, conflicts_with_all = ["agent", "since"])]
    prune: bool,
}

pub(crate) fn run(args: &ChangesArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::discover(&context.directory)?;
    let since = args.since.as_deref().map(|text| parse_since(text, &clock::now())).transpose()?;
    let mut store = Store::open(&project.state)?;
    project.import_journals(&mut store)?;
    if args.prune {
        return prune(args, context, &project, &mut store);
    }
    let mut changes =
        store.changes(&ChangeFilter { session: args.session.as_ref(), ..ChangeFilter::default() })?;
    changes.retain(|change| {
        args.agent.as_deref().is_none_or(|agent| change.is_by(agent))
            && since.is_none_or(|since| change.line.at.parse::<Timestamp>().is_ok_and(|at| at >= since))
    });
    show(args, context, &project, &changes);
    Ok(CommandStatus::Success)
}

/// A point in time as people write it: how long ago, a day, a local time, or an exact moment.
fn parse_since(text: &str, now: &Zoned) -> CommandResult<Timestamp> {
    let exact = || text.parse::<Timestamp>().ok();
    // A day alone is its midnight.
    let local = || text.parse::<DateTime>().ok()?.to_zoned(now.time_zone().clone()).ok();
    let ago = || now.checked_sub(text.parse::<Span>().ok()?.abs()).ok();
    exact().or_else(|| local().or_else(ago).map(|zoned| zoned.timestamp())).ok_or_else(|| {
        CommandError::usage(format!("--since: {text:?} is not a time"))
            .hint("write `30m`, `2h`, `1d`, `2026-02-14`, `2026-02-14T15:30` or `2026-02-14T15:30:00+09:00`")
    })
}

fn show(args: &ChangesArgs, context: &CommandContext, project: &ActiveProject, changes: &[RecordedChange]) {
    if args.tsv {
        let mut lines = Vec::new();
        changes.iter().for_each(|change| change.line.write_into(&mut lines));
        return context.terminal.say_exactly(&lines);
    }
    if let Some(data) = context.format.render(&listing(project, changes)) {
        return context.terminal.print(&data);
    }
    if changes.is_empty() {
        return context.terminal.print_note(&nothing(args, project));
    }
    let mut text = String::new();
    for row in rows(project, changes) {
        text.push_str(&row.render(context));
    }
    context.terminal.print(&text);
    context.terminal.print_note(&summary(changes));
}

fn nothing(args: &ChangesArgs, project: &ActiveProject) -> String {
    if args.session.is_some() || args.agent.is_some() || args.since.is_some() {
        return "No journaled change matches.\n".to_owned();
    }
    format!(
        "No change has been journaled in {} yet. Sessions with Lockstep's hooks leave their journals in {}; \
         `lockstep doctor` shows whether the hooks are in place.\n",
        printable_path(&project.root),
        printable_path(project.journal().path())
    )
}

/// The number of sessions in the summary, the latest first.
const LISTED_SESSIONS: usize = 3;

fn summary(changes: &[RecordedChange]) -> String {
    let files: BTreeSet<_> = changes.iter().map(|change| &change.line.path).collect();
    let mut sessions: Vec<&SessionId> = Vec::new();
    for change in changes.iter().rev() {
        if !sessions.contains(&&change.session) {
            sessions.push(&change.session);
        }
    }
    let count = |n: usize, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    let latest: Vec<&str> = sessions.iter().take(LISTED_SESSIONS).map(|session| session.as_str()).collect();
    let more = if sessions.len() > latest.len() { ", …" } else { "" };
    format!(
        "{} to {} in {}: {}{more}\n",
        count(changes.len(), "change"),
        count(files.len(), "file"),
        count(sessions.len(), "session"),
        latest.join(", ")
    )
}

/// One change on one line, its columns as wide as the widest.
struct ChangeRow {
    at: String,
    tool: String,
    agent: String,
    agent_width: usize,
    path: String,
    what: String,
    /// The session and the tool call, for `--verbose`.
    details: String,
}

fn rows(project: &ActiveProject, changes: &[RecordedChange]) -> Vec<ChangeRow> {
    let agents: Vec<String> = changes.iter().map(RecordedChange::describe_agents).collect();
    let agent_width = agents.iter().map(|agent| agent.chars().count()).max().unwrap_or(0);
    changes
        .iter()
        .zip(agents)
        .map(|(change, agent)| ChangeRow {
            at: change.line.at.get(..19).unwrap_or(&change.line.at).replace('T', " "),
            tool: change.line.tool.clone(),
            agent,
            agent_width,
            path: display_path(&project.root, &change.line.path),
            what: describe_kind(&project.root, &change.kind),
            details: details(change),
        })
        .collect()
}

impl ChangeRow {
    fn render(&self, context: &CommandContext) -> String {
        let dim = Style::new().dimmed();
        let tool = Style::new().fg_color(Some(AnsiColor::Cyan.into()));
        let terminal = &context.terminal;
        format!(
            "{}  {}  {:width$}  {}{}{}\n",
            terminal.styled(dim, &self.at),
            terminal.styled(tool, &format!("{:<12}", self.tool)),
            self.agent,
            self.path,
            terminal.styled(dim, &self.what),
            if terminal.verbose() { terminal.styled(dim, &self.details) } else { String::new() },
            width = self.agent_width,
        )
    }
}

fn details(change: &RecordedChange) -> String {
    let call = change.line.tool_use.as_ref().map(|id| format!(", call {id}")).unwrap_or_default();
    format!("  [session {}{call}]", change.session)
}

/// Formats a path relative to the root if possible, always on one line.
fn display_path(root: &Path, path: &Path) -> String {
    let mut bytes = Vec::new();
    escape_into(&mut bytes, path.strip_prefix(root).unwrap_or(path));
    single_line(&String::from_utf8_lossy(&bytes))
}

fn describe_kind(root: &Path, kind: &ChangeKind) -> String {
    match kind {
        ChangeKind::Written => String::new(),
        ChangeKind::Created => "  (created)".to_owned(),
        ChangeKind::Deleted => "  (deleted)".to_owned(),
        ChangeKind::RenamedTo(path) => format!("  (renamed to {})", display_path(root, path)),
        ChangeKind::RenamedFrom(path) => format!("  (renamed from {})", display_path(root, path)),
    }
}

#[derive(Serialize)]
struct ChangesOutput {
    root: String,
    changes: Vec<ChangeOutput>,
}

#[derive(Serialize)]
struct ChangeOutput {
    session: String,
    at: String,
    tool: String,
    kind: &'static str,
    /// Absolute. Bytes that are no UTF-8 are replaced; `--tsv` has them as they are.
    path: String,
    /// The other path of a rename.
    counterpart: Option<String>,
    /// The agent under which it is journaled; absent for the Lead.
    agent: Option<AgentOutput>,
    /// `exact`; `shared`: one or several of `agents` made it; `unknown`: it was found at an event of the agent.
    attribution: &'static str,
    /// The agents that made it or may have made it; the Lead is `lead`.
    agents: Vec<AgentOutput>,
    tool_use: Option<String>,
}

#[derive(Serialize)]
struct AgentOutput {
    id: String,
    r#type: Option<String>,
}

fn listed_agents(change: &RecordedChange) -> Vec<AgentOutput> {
    let listed = |agent: &ChangeAgent| AgentOutput {
        id: agent.id.as_ref().map_or_else(|| "lead".to_owned(), ToString::to_string),
        r#type: agent.agent_type.clone(),
    };
    change.agents.iter().map(listed).collect()
}

fn listing(project: &ActiveProject, changes: &[RecordedChange]) -> ChangesOutput {
    let listed = changes.iter().map(|change| ChangeOutput {
        session: change.session.to_string(),
        at: change.line.at.clone(),
        tool: change.line.tool.clone(),
        kind: change.kind.as_str(),
        path: change.line.path.to_string_lossy().into_owned(),
        counterpart: change.kind.counterpart().map(|path| path.to_string_lossy().into_owned()),
        agent: listed_agents(change)
            .into_iter()
            .find(|one| change.line.agent.as_ref().is_some_and(|agent| agent.as_str() == one.id)),
        attribution: change.line.attribution.word(),
        agents: listed_agents(change),
        tool_use: change.line.tool_use.as_ref().map(ToString::to_string),
    });
    ChangesOutput { root: project.root.display().to_string(), changes: listed.collect() }
}

#[derive(Serialize)]
struct PruneOutput {
    removed: Vec<String>,
}

fn prune(
    args: &ChangesArgs,
    context: &CommandContext,
    project: &ActiveProject,
    store: &mut Store,
) -> CommandResult {
    let journal = project.journal();
    let sessions = match &args.session {
        Some(session) => vec![session.clone()],
        None => {
            let grace = project.config().journal.grace.try_into().unwrap_or(jiff::SignedDuration::MAX);
            store.expired_journals(&journal, clock::now().timestamp(), grace)?
        }
    };
    let mut removed = Vec::new();
    for session in sessions {
        let ours = store.has_session(&session)?;
        if store.remove_journal(&journal, &session, &|path| ours || path.starts_with(&project.root))? {
            OriginalStore::for_session(&project.state, &session).remove_session()?;
            removed.push(journal.file(&session).display().to_string());
        }
    }
    match context.format.render(&PruneOutput { removed: removed.clone() }) {
        Some(data) => context.terminal.print(&data),
        None if removed.is_empty() => context.terminal.print_note("No journal to remove.\n"),
        None => removed.iter().for_each(|path| context.terminal.say_line(&format!("removed {path}"))),
    }
    Ok(CommandStatus::Success)
}
