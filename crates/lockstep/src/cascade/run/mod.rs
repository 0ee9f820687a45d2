//! `lockstep cascade run`: the complete loop without a Lead. Agents are processes, and their results are read
//! from disk.
//!
//! A run that dies needs no clean-up: every state is saved before the next action, and agents end with their
//! run.

pub(crate) mod agent;
mod lock;
mod preset;
pub(crate) mod worktree;

use std::thread;
use std::time::Duration;

use lockstep_cascade::event::{AgentClaim, FileStaleness};
use lockstep_cascade::grouping::AgentRole;
use lockstep_cascade::inspector::{Inspector as _, advance, run_due_check};
use lockstep_cascade::{Cascade, CascadeEvent, MAX_GROUPS, agent_report};
use lockstep_fs::write_atomically;
use lockstep_text::{count, printable_path};

use self::agent::{AgentExit, AgentProcess, AgentSpec, POLL_INTERVAL};
use self::lock::RunLock;
use self::worktree::IsolatedWorktree;
use super::{CascadeContext, DiskInspector, LoadedCascade, dispatch_group};
use crate::error::CommandResult;

/// The longest list that fits into an environment variable.
const MAX_VARIABLE_BYTES: usize = 100_000;

/// The instruction about where to put the result.
pub(crate) const DELIVERY_INSTRUCTIONS: &str = "Print the L1 in a fence and then the L2, as the last thing you say. What counts is what is in the \
                                   files: they are looked at when you are done.";

pub(crate) struct RunOptions<'a> {
    /// A preset's name, or a shell command.
    pub(crate) agent: &'a str,
    /// A command that must pass.
    pub(crate) verify: Option<&'a str>,
    /// Set if each agent gets its own worktree.
    pub(crate) isolate: bool,
    /// The time limit of an agent.
    pub(crate) limit: Duration,
    /// Receives progress messages.
    pub(crate) progress: &'a dyn Fn(&str),
}

/// Goes on with a cascade until it is over.
pub(crate) fn run(
    cascades: &CascadeContext,
    opened: &mut LoadedCascade,
    options: &RunOptions<'_>,
) -> CommandResult<()> {
    let project = cascades.project();
    let _lock = RunLock::acquire(&project.state)?;
    worktree::remove_leftovers(&cascades.tree, &project.state)?;
    // Another run may have continued it until the lock was free.
    if let Some(now) =
        cascades.active_or_newest(&super::CascadeSelector { id: Some(opened.record.id), session: None })?
    {
        *opened = now;
    }
    let mut disk = cascades.disk(opened, options.verify)?;
    let state = &mut opened.state;
    if state.dispatched().next().is_some() {
        (options.progress)("resuming: looking at what was done");
        let seen = disk.observe(state)?;
        advance(state, CascadeEvent::Interrupted { seen }, &mut disk)?;
    }
    run_due_check(state, &mut disk)?;
    let mut working: Vec<RunningGroup> = Vec::new();
    while state.is_active() {
        start_waiting(cascades, state, &mut disk, options, &mut working)?;
        thread::sleep(POLL_INTERVAL);
        let mut at = 0;
        while at < working.len() {
            match working[at].agent.try_wait()? {
                Some(ended) => finish(cascades, state, &mut disk, options, working.swap_remove(at), &ended)?,
                None => at += 1,
            }
        }
    }
    Ok(())
}

/// A group that an agent is at work on.
struct RunningGroup {
    group: String,
    files: Vec<String>,
    agent: AgentProcess,
    isolated: Option<IsolatedWorktree>,
}

fn start_waiting(
    cascades: &CascadeContext,
    state: &mut Cascade,
    disk: &mut DiskInspector<'_>,
    options: &RunOptions<'_>,
    working: &mut Vec<RunningGroup>,
) -> CommandResult<()> {
    while working.len() < MAX_GROUPS {
        let Some(group) = state.waiting().next().map(|group| group.id.clone()) else { return Ok(()) };
        working.push(start(cascades, state, disk, options, &group)?);
    }
    Ok(())
}

fn start(
    cascades: &CascadeContext,
    state: &mut Cascade,
    disk: &mut DiskInspector<'_>,
    options: &RunOptions<'_>,
    id: &str,
) -> CommandResult<RunningGroup> {
    let group = state.group(id).cloned().expect("a waiting group is one of the iteration's");
    let handout = disk.group_prompt(state, &group, DELIVERY_INSTRUCTIONS)?;
    dispatch_group(state, disk, id)?;
    let iteration = state.iteration().map_or(0, |iteration| iteration.number);
    (options.progress)(&format!(
        "iteration {iteration}: {} {id} has {}{}",
        group.role.as_str(),
        count(handout.files.len(), "file"),
        if group.attempt > 1 { ", second attempt" } else { "" }
    ));
    let dir = disk.reports_dir()?;
    let name = format!("{id}-{}", group.attempt);
    let list = dir.join(format!("{name}.files"));
    let list0 = dir.join(format!("{name}.files0"));
    write_atomically(&list, lines(&handout.files).as_bytes(), 0o600)?;
    let terminated: String = handout.files.iter().map(|file| format!("{file}\0")).collect();
    write_atomically(&list0, terminated.as_bytes(), 0o600)?;
    let isolated = match options.isolate {
        true => Some(IsolatedWorktree::create(&cascades.tree, &cascades.project().state, id)?),
        false => None,
    };
    let files = words(&handout.files);
    let spec = AgentSpec {
        command: preset::command(options.agent, AgentRole::for_path(&handout.files[0]), handout.max_turns),
        directory: isolated.as_ref().map_or(cascades.tree.root.clone(), |place| place.root().to_owned()),
        name,
        limit: options.limit,
        environment: vec![
            ("LOCKSTEP_GROUP", id.to_owned()),
            ("LOCKSTEP_FILES", if files.len() <= MAX_VARIABLE_BYTES { files } else { String::new() }),
            ("LOCKSTEP_FILES_LIST", list.display().to_string()),
            ("LOCKSTEP_FILES_LIST0", list0.display().to_string()),
        ],
    };
    let agent = AgentProcess::start(&dir, spec, &handout.prompt)?;
    Ok(RunningGroup { group: id.to_owned(), files: handout.files, agent, isolated })
}

/// The names of files, one a line. A name with a control character would be other names in it; it is left out.
fn lines(files: &[String]) -> String {
    let plain = |file: &&String| !file.contains(char::is_control);
    files.iter().filter(plain).map(|file| format!("{file}\n")).collect()
}

/// Returns the names of files as words for a shell. A name that a shell would split, expand or treat as an
/// option is left out.
fn words(files: &[String]) -> String {
    let plain = |file: &&str| {
        !file.starts_with('-')
            && !file.contains(|c: char| c.is_whitespace() || c.is_control() || "*?[]\\".contains(c))
    };
    files.iter().map(String::as_str).filter(plain).collect::<Vec<_>>().join("\n")
}

fn finish(
    cascades: &CascadeContext,
    state: &mut Cascade,
    disk: &mut DiskInspector<'_>,
    options: &RunOptions<'_>,
    worked: RunningGroup,
    ended: &AgentExit,
) -> CommandResult<()> {
    let root = cascades.tree.root.to_string_lossy();
    let report = agent_report::parse_agent_report(&ended.output, &root).unwrap_or_default();
    let mut claim = AgentClaim { complete: ended.code == Some(0) && !ended.timed_out, ..report.claim };
    if !claim.complete {
        let message = claim.error.take();
        claim.error = Some(message.unwrap_or_else(|| failure(ended, options)));
    }
    if let Some(place) = worked.isolated {
        let applied = place.apply(&cascades.tree, &worked.files)?;
        place.remove()?;
        claim.unassigned_files = applied.outside;
        if !applied.conflicts.is_empty() {
            claim.error =
                Some(format!("changed here meanwhile, so not applied: {}", applied.conflicts.join(", ")));
        }
    }
    let seen = disk.observe(state)?;
    for (file, why) in report.not_needed {
        let group = state.group(&worked.group);
        let assigned = group.and_then(|group| group.files.iter().find(|assigned| assigned.path == file));
        let Some(assigned) = assigned.filter(|assigned| assigned.outcome.is_none()) else { continue };
        let is_stale = seen.files.get(&file).is_some_and(|seen| matches!(seen.left, FileStaleness::Stale(_)));
        // An agent may decide that a mention stays. It cannot dismiss a reference that is known to be broken.
        let stale = is_stale && assigned.breaks();
        if !stale && !why.trim().is_empty() {
            advance(
                state,
                CascadeEvent::Dismissed { file, why: format!("{} (says the agent)", why.trim()) },
                disk,
            )?;
        }
    }
    let still_handed = state.dispatched().any(|group| group.id == worked.group);
    if still_handed {
        advance(state, CascadeEvent::AgentFinished { group: worked.group.clone(), claim, seen }, disk)?;
    }
    (options.progress)(&format!("group {} is done", worked.group));
    Ok(())
}

fn failure(ended: &AgentExit, options: &RunOptions<'_>) -> String {
    let how = match (ended.timed_out, ended.code) {
        (true, _) => format!("it took longer than {} s and was ended", options.limit.as_secs()),
        (false, Some(code)) => format!("exit code {code}"),
        (false, None) => "it was killed".to_owned(),
    };
    format!("{how}; its output is in {}", printable_path(&ended.path))
}
