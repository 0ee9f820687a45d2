//! `lockstep cascade run`: the complete loop without a Lead. Agents are processes, and their results are read
//! from disk.
//!
//! A run that dies needs no clean-up: every state is saved before the next action, and agents end with their
//! run.

pub(crate) mod agent;
pub(crate) mod isolate;
mod lock;
mod preset;

use std::thread;
use std::time::Duration;

use lockstep_cascade::event::{Claim, Left};
use lockstep_cascade::grouping::Role;
use lockstep_cascade::inspect::{Inspector as _, advance, catch_up};
use lockstep_cascade::{Cascade, Event, MAX_GROUPS, claim};
use lockstep_fs::write_atomically;
use lockstep_text::{count, printable_path};

use self::agent::{Agent, Ended, PAUSE, Spec};
use self::isolate::Isolated;
use self::lock::RunLock;
use super::{Cascades, Disk, Opened, hand};
use crate::error::CommandError;

/// The longest list that fits into an environment variable.
const MAX_VARIABLE_BYTES: usize = 100_000;

/// The instruction about where to put the result.
pub(crate) const DELIVERY: &str = "Print the L1 in a fence and then the L2, as the last thing you say. What counts is what is in the \
                                   files: they are looked at when you are done.";

/// The options of a run.
pub(crate) struct Options<'a> {
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
    cascades: &Cascades,
    opened: &mut Opened,
    options: &Options<'_>,
) -> Result<(), CommandError> {
    let project = cascades.project();
    let _lock = RunLock::take(&project.state)?;
    isolate::remove_leftovers(&cascades.tree, &project.state)?;
    // Another run may have continued it until the lock was free.
    if let Some(now) = cascades.newest(&super::Which { id: Some(opened.record.id), session: None })? {
        *opened = now;
    }
    let mut disk = cascades.disk(opened, options.verify)?;
    let state = &mut opened.state;
    if state.handed().next().is_some() {
        (options.progress)("resuming: looking at what was done");
        let seen = disk.observe(state)?;
        advance(state, Event::Interrupted { seen }, &mut disk)?;
    }
    catch_up(state, &mut disk)?;
    let mut working: Vec<Working> = Vec::new();
    while state.is_active() {
        start_waiting(cascades, state, &mut disk, options, &mut working)?;
        thread::sleep(PAUSE);
        let mut at = 0;
        while at < working.len() {
            match working[at].agent.ended()? {
                Some(ended) => finish(cascades, state, &mut disk, options, working.swap_remove(at), &ended)?,
                None => at += 1,
            }
        }
    }
    Ok(())
}

/// A group that an agent is at work on.
struct Working {
    group: String,
    files: Vec<String>,
    agent: Agent,
    isolated: Option<Isolated>,
}

fn start_waiting(
    cascades: &Cascades,
    state: &mut Cascade,
    disk: &mut Disk<'_>,
    options: &Options<'_>,
    working: &mut Vec<Working>,
) -> Result<(), CommandError> {
    while working.len() < MAX_GROUPS {
        let Some(group) = state.waiting().next().map(|group| group.id.clone()) else { return Ok(()) };
        working.push(start(cascades, state, disk, options, &group)?);
    }
    Ok(())
}

fn start(
    cascades: &Cascades,
    state: &mut Cascade,
    disk: &mut Disk<'_>,
    options: &Options<'_>,
    id: &str,
) -> Result<Working, CommandError> {
    let group = state.group(id).cloned().expect("a waiting group is one of the iteration's");
    let handout = disk.handout(state, &group, DELIVERY)?;
    hand(state, disk, id)?;
    let iteration = state.iteration().map_or(0, |iteration| iteration.number);
    (options.progress)(&format!(
        "iteration {iteration}: {} {id} has {}{}",
        group.role.word(),
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
        true => Some(Isolated::make(&cascades.tree, &cascades.project().state, id)?),
        false => None,
    };
    let files = words(&handout.files);
    let spec = Spec {
        command: preset::command(options.agent, Role::of(&handout.files[0]), handout.max_turns),
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
    let agent = Agent::start(&dir, spec, &handout.prompt)?;
    Ok(Working { group: id.to_owned(), files: handout.files, agent, isolated })
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
    cascades: &Cascades,
    state: &mut Cascade,
    disk: &mut Disk<'_>,
    options: &Options<'_>,
    worked: Working,
    ended: &Ended,
) -> Result<(), CommandError> {
    let root = cascades.tree.root.to_string_lossy();
    let report = claim::read(&ended.output, &root).unwrap_or_default();
    let mut claim = Claim { complete: ended.code == Some(0) && !ended.timed_out, ..report.claim };
    if !claim.complete {
        let said = claim.error.take();
        claim.error = Some(said.unwrap_or_else(|| failure(ended, options)));
    }
    if let Some(place) = worked.isolated {
        let applied = place.apply(&cascades.tree, &worked.files)?;
        place.remove()?;
        claim.outside = applied.outside;
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
        let is_stale = seen.files.get(&file).is_some_and(|seen| matches!(seen.left, Left::Stale(_)));
        // An agent may decide that a mention stays. It cannot dismiss a reference that is known to be broken.
        let stale = is_stale && assigned.breaks();
        if !stale && !why.trim().is_empty() {
            advance(state, Event::NotNeeded { file, why: format!("{} (says the agent)", why.trim()) }, disk)?;
        }
    }
    let still_handed = state.handed().any(|group| group.id == worked.group);
    if still_handed {
        advance(state, Event::Done { group: worked.group.clone(), claim, seen }, disk)?;
    }
    (options.progress)(&format!("group {} is done", worked.group));
    Ok(())
}

fn failure(ended: &Ended, options: &Options<'_>) -> String {
    let how = match (ended.timed_out, ended.code) {
        (true, _) => format!("it took longer than {} s and was ended", options.limit.as_secs()),
        (false, Some(code)) => format!("exit code {code}"),
        (false, None) => "it was killed".to_owned(),
    };
    format!("{how}; its output is in {}", printable_path(&ended.path))
}
