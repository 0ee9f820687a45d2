//! The measured programs: yardsticks, and the hook with every registered event.

use std::cell::Cell;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use lockstep_wire::claude::samples;

use super::fixture::{BenchFixture, FixtureProject, SMALL, StepProject};
use super::programs::Programs;
use crate::XtaskResult;

/// The Node program that builds a session cache.
const CACHE_PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/bench/cache.mjs");

/// A process that is run again and again.
pub(super) struct BenchTarget {
    pub(super) name: String,
    pub(super) role: TargetRole,
    /// Set if it is also run with empty caches.
    pub(super) cold: bool,
    program: PathBuf,
    arguments: &'static [&'static str],
    payload: PathBuf,
    project: FixtureProject,
    before: Setup,
    turns: Cell<u64>,
}

/// The role of a program in comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TargetRole {
    /// The process that only reads its input.
    Bare,
    /// The same in the size of the product.
    BareLinked,
    Script,
    KindScript,
    /// A hook that journals a change.
    Journal,
    /// A hook that looks through the large tree.
    LargeSweep,
    /// A hook that journals the edits that the client lists, in the large tree.
    Listed,
    /// A hook that delivers a part of the session cache.
    Deliver,
    /// A hook that judges a step.
    Gate,
    PromptCheck,
    Hook,
    /// A build of the session cache that finds nothing changed.
    Rebuild,
    /// A build of the session cache from nothing.
    Build,
    /// The same by a Node program.
    NodeBuild,
}

impl TargetRole {
    pub(super) fn is_hook(self) -> bool {
        matches!(
            self,
            Self::Journal | Self::LargeSweep | Self::Listed | Self::Deliver | Self::Gate | Self::Hook
        )
    }
}

/// The preparation before each run, not measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Setup {
    Nothing,
    /// A file is changed behind the client's back.
    Change,
    /// A shell command edits a file as its recorded event lists it.
    Edit,
    /// The session cache, and all that is remembered of it, is removed.
    Forget,
}

impl BenchTarget {
    /// Gets everything ready for its next turn.
    pub(super) fn prepare(&self) -> XtaskResult {
        match self.before {
            Setup::Nothing => Ok(()),
            Setup::Change => {
                self.turns.set(self.turns.get() + 1);
                let text = format!("def greet(): return {}\n", self.turns.get());
                Ok(fs::write(self.project.root.join("a.py"), text)?)
            }
            Setup::Edit => Ok(fs::write(self.project.root.join("a.py"), "def greet():\n    return 1\n")?),
            Setup::Forget => self.project.forget_cache(),
        }
    }

    /// The process, ready to start.
    pub(super) fn command(&self) -> XtaskResult<Command> {
        self.started_by(Command::new(&self.program))
    }

    /// The process, started by `starter`, which takes a command line.
    pub(super) fn command_under(&self, starter: &std::path::Path) -> XtaskResult<Command> {
        let mut command = Command::new(starter);
        command.arg(&self.program);
        self.started_by(command)
    }

    fn started_by(&self, mut command: Command) -> XtaskResult<Command> {
        command.args(self.arguments).stdin(File::open(&self.payload)?).stdout(Stdio::null());
        self.project.set_environment(&mut command);
        Ok(command)
    }

    /// Returns the number of journaled lines, if journaling is its purpose.
    pub(super) fn journaled(&self) -> Option<usize> {
        let journals = matches!(self.role, TargetRole::Script | TargetRole::KindScript | TargetRole::Journal);
        journals.then(|| self.project.journaled())
    }
}

struct HookCase {
    name: String,
    role: TargetRole,
    cold: bool,
    sample: String,
    files: usize,
    active: bool,
    before: Setup,
}

fn event(name: &str, sample: &str) -> HookCase {
    HookCase {
        name: name.to_owned(),
        role: TargetRole::Hook,
        cold: false,
        sample: sample.to_owned(),
        files: SMALL,
        active: true,
        before: Setup::Nothing,
    }
}

fn events(large: usize) -> Vec<HookCase> {
    let by_lead = by_lead(samples::POST_TOOL_USE_EDIT_IN_SUBAGENT);
    let listed = samples::POST_TOOL_USE_BASH_EDIT_IN_SUBAGENT;
    let partial = listed.replace("\"moreFiles\": 0", "\"moreFiles\": 1");
    vec![
        HookCase {
            role: TargetRole::Journal,
            cold: true,
            ..event("journal: Edit by a subagent", samples::POST_TOOL_USE_EDIT_IN_SUBAGENT)
        },
        HookCase { role: TargetRole::Journal, ..event("journal: Edit by the Lead", &by_lead) },
        HookCase {
            cold: true,
            ..event(&format!("Bash, sweep of {SMALL} files, nothing changed"), samples::POST_TOOL_USE_BASH)
        },
        HookCase {
            role: TargetRole::LargeSweep,
            cold: true,
            files: large,
            ..event(&format!("Bash, sweep of {large} files, nothing changed"), samples::POST_TOOL_USE_BASH)
        },
        HookCase {
            role: TargetRole::Listed,
            files: large,
            before: Setup::Edit,
            ..event(&format!("Bash, complete list of its edits, {large} files"), listed)
        },
        HookCase {
            files: large,
            before: Setup::Edit,
            ..event(&format!("Bash, partial list of its edits, {large} files"), &partial)
        },
        HookCase {
            files: large,
            before: Setup::Edit,
            ..event(&format!("Bash, no list of its edits, {large} files"), samples::POST_TOOL_USE_BASH)
        },
        event("Bash failed, nothing changed", samples::POST_TOOL_USE_FAILURE_BASH),
        event("Read by a subagent, nothing to do", samples::POST_TOOL_USE_READ_IN_SUBAGENT),
        event("Agent, empty mailbox", samples::POST_TOOL_USE_AGENT),
        event("before TaskUpdate", samples::PRE_TOOL_USE_TASK_UPDATE),
        event("before Edit by a subagent, no step", samples::PRE_TOOL_USE_EDIT_IN_SUBAGENT),
        event("before Bash, no commit", samples::PRE_TOOL_USE_BASH),
        event("after TaskUpdate", samples::POST_TOOL_USE_TASK_UPDATE),
        event("SubagentStart, no session cache", samples::SUBAGENT_START),
        event("SubagentStop, nothing changed", samples::SUBAGENT_STOP),
        HookCase { before: Setup::Change, ..event("SubagentStop, a file changed", samples::SUBAGENT_STOP) },
        event("Stop, nothing changed", samples::STOP),
        event("UserPromptSubmit", samples::USER_PROMPT_SUBMIT),
        HookCase { cold: true, ..event("SessionStart", samples::SESSION_START) },
        event("SessionEnd", samples::SESSION_END),
        HookCase {
            active: false,
            ..event("Edit, inactive project", samples::POST_TOOL_USE_EDIT_IN_SUBAGENT)
        },
    ]
}

/// Recorded payloads have subagents' edits; the Lead's are the same without an agent.
fn by_lead(sample: &str) -> String {
    let mut value: serde_json::Value = serde_json::from_str(sample).expect("a recorded event is JSON");
    let fields = value.as_object_mut().expect("a recorded event is an object");
    fields.retain(|name, _| !name.starts_with("agent_"));
    value.to_string()
}

/// Everybody, the yardsticks first. `large` is the number of files in the large tree.
pub(super) fn contestants(
    scene: &BenchFixture,
    programs: &Programs,
    large: usize,
) -> XtaskResult<Vec<BenchTarget>> {
    let edit = samples::POST_TOOL_USE_EDIT_IN_SUBAGENT;
    let mut all = Vec::new();
    for (name, role, program) in [
        ("bare process", TargetRole::Bare, &programs.noop_hook),
        ("bare process, size of the product", TargetRole::BareLinked, &programs.noop_hook_linked),
        ("bash + jq, a jq per field", TargetRole::Script, &programs.script),
        ("bash + jq, one jq", TargetRole::KindScript, &programs.kind_script),
    ] {
        let yardstick = HookCase { role, cold: true, active: false, ..event(name, edit) };
        all.push(target_for(scene, program, &[], yardstick)?);
    }
    for event in events(large) {
        all.push(target_for(scene, &programs.lockstep, &["hook", "claude"], event)?);
    }
    all.extend(with_cache(scene, programs)?);
    all.extend(with_step(scene, programs)?);
    Ok(all)
}

/// Returns the programs that judge a step: before its agent starts, when it ends, and its prompt alone.
fn with_step(scene: &BenchFixture, programs: &Programs) -> XtaskResult<Vec<BenchTarget>> {
    let hook: &[&str] = &["hook", "claude"];
    let mut all = Vec::new();
    let mut enter = |name: &str, role, arguments, of: &dyn Fn(&StepProject) -> String| {
        let stepped = scene.stepped()?;
        let sample = of(&stepped);
        let event = HookCase { role, ..event(name, &sample) };
        all.push(entered_in(stepped.project, &programs.lockstep, arguments, event)?);
        XtaskResult::Ok(())
    };
    enter("gate 1, before an agent is started", TargetRole::Gate, hook, &|stepped| {
        stepped.invocation(&stepped.prompt)
    })?;
    enter("gate 2, when it wants to end", TargetRole::Gate, hook, &|stepped| stepped.stop.clone())?;
    enter("prompt check, 200 KB", TargetRole::PromptCheck, &["prompt", "check"], &|stepped| {
        stepped.long_prompt()
    })?;
    Ok(all)
}

fn target_for(
    scene: &BenchFixture,
    program: &std::path::Path,
    arguments: &'static [&'static str],
    event: HookCase,
) -> XtaskResult<BenchTarget> {
    let project = if event.active { scene.active(event.files)? } else { scene.inactive(event.files)? };
    entered_in(project, program, arguments, event)
}

/// Returns the programs that build and deliver a session cache of the usual size.
fn with_cache(scene: &BenchFixture, programs: &Programs) -> XtaskResult<Vec<BenchTarget>> {
    let subagent = samples::SUBAGENT_START.replace("implementer", "agent-03");
    let mut all = Vec::new();
    let mut enter = |name: &str, role, program: &std::path::Path, arguments, sample: &str, before| {
        let event = HookCase { role, before, ..event(name, sample) };
        all.push(entered_in(scene.cached()?, program, arguments, event)?);
        XtaskResult::Ok(())
    };
    let (ours, nothing) = (&programs.lockstep, Setup::Nothing);
    let build: &[&str] = &["cache", "build", "--quiet"];
    enter(
        "SubagentStart, its part of the cache",
        TargetRole::Deliver,
        ours,
        &["hook", "claude"],
        &subagent,
        nothing,
    )?;
    let part: &[&str] = &["hook", "claude", "--part", "2/24"];
    enter(
        "SessionStart, a part of the cache",
        TargetRole::Deliver,
        ours,
        part,
        samples::SESSION_START,
        nothing,
    )?;
    enter("cache build, nothing changed", TargetRole::Rebuild, ours, build, "", nothing)?;
    enter("cache build, from nothing", TargetRole::Build, ours, build, "", Setup::Forget)?;
    if let Some(node) = &programs.node {
        enter("cache build by Node", TargetRole::NodeBuild, node, &[CACHE_PROGRAM], "", nothing)?;
    }
    Ok(all)
}

fn entered_in(
    project: FixtureProject,
    program: &std::path::Path,
    arguments: &'static [&'static str],
    event: HookCase,
) -> XtaskResult<BenchTarget> {
    let payload = project.root.with_extension("event.json");
    fs::write(&payload, project.event(&event.sample))?;
    Ok(BenchTarget {
        name: event.name,
        role: event.role,
        cold: event.cold,
        program: program.to_owned(),
        arguments,
        payload,
        project,
        before: event.before,
        turns: Cell::new(0),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use lockstep_cli::hook::routing::REGISTRATIONS;

    use super::*;

    #[test]
    fn every_registered_event_is_measured() {
        let measured: BTreeSet<String> = events(SMALL)
            .iter()
            .map(|event| serde_json::from_str::<serde_json::Value>(&event.sample).unwrap())
            .map(|event| event["hook_event_name"].as_str().unwrap().to_owned())
            .collect();
        let registered: BTreeSet<String> = REGISTRATIONS.iter().map(|one| one.event.to_owned()).collect();
        assert_eq!(measured, registered);
    }
}
