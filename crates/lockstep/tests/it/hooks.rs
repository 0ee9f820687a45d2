//! The effects of each event, end to end: the journal, the sweep, reports and the delivery of alerts.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use lockstep_testkit::{HookEvent, ProcessOutput, TestEnv};
use lockstep_wire::claude::samples;

use crate::{active, configured, plant_users};

/// The documents' own form of the alert.
const PLAIN: &str = "[alert]\nformat = \"plain\"\n";

/// Returns an active project with files, in which session `s1` has started.
fn begun(config: &str) -> TestEnv {
    let env = configured(config);
    for file in ["a.py", "b.py", "c.py", "d.py"] {
        env.write(file, "def hello(): pass\n");
    }
    plant_users(&env, &["a", "b", "c", "d"]);
    env.hook(&HookEvent::session_start()).assert_silent();
    env
}

/// A subagent edits `file` and its hooks run.
fn subagent_edits(env: &TestEnv, id: &str, file: &str) {
    let content = format!("# by {id}, longer than {:?}", fs::read_to_string(env.project().join(file)).ok());
    env.write(file, content);
    env.hook(&HookEvent::edit(file).by_agent(id, "implementer")).assert_silent();
}

fn text(output: &ProcessOutput) -> String {
    output.context().expect("the hook delivers").1
}

#[test]
fn every_way_of_changing_a_file_is_journaled_with_its_agent() {
    let env = begun("");
    env.git(["init", "--quiet"]);
    env.write("a.py", "def greet(): pass\n");
    env.hook(&HookEvent::edit("a.py").by_agent("a1", "implementer")).assert_silent();
    env.write("e.py", "new\n");
    env.hook(&HookEvent::write("e.py")).assert_silent();
    env.hook(&HookEvent::from_sample(samples::POST_TOOL_USE_MULTI_EDIT).file("a.py")).assert_silent();
    env.hook(&HookEvent::from_sample(samples::POST_TOOL_USE_NOTEBOOK_EDIT)).assert_silent();
    let command = HookEvent::from_sample(samples::PRE_TOOL_USE_BASH);
    env.hook(&command).assert_silent();
    env.shell("sed -i s/hello/salute/ b.py && mv c.py sub.py && rm d.py && echo new > f.py");
    env.hook(&HookEvent::bash()).assert_silent();
    env.hook(&command.by_agent("a1", "implementer")).assert_silent();
    env.shell("echo more >> f.py");
    env.hook(&HookEvent::bash().by_agent("a1", "implementer")).assert_silent();
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();

    assert_snapshot!(env.lockstep(["changes"]).snapshot(), @"
    2026-02-14 15:30:42  Edit          implementer a1  a.py
    2026-02-14 15:30:42  Write         lead            e.py
    2026-02-14 15:30:42  MultiEdit     lead            a.py
    2026-02-14 15:30:42  NotebookEdit  lead            n.ipynb
    2026-02-14 15:30:42  Sweep         lead            b.py
    2026-02-14 15:30:42  Sweep         lead            c.py  (renamed to sub.py)
    2026-02-14 15:30:42  Sweep         lead            d.py  (deleted)
    2026-02-14 15:30:42  Sweep         lead            f.py  (created)
    2026-02-14 15:30:42  Sweep         lead            sub.py  (renamed from c.py)
    2026-02-14 15:30:42  Sweep         implementer a1  f.py
    10 changes to 8 files in 1 session: s1
    exit 0
    ");
    assert_snapshot!(env.redact_paths(&env.journal_text("s1")), @"
    2026-02-14T15:30:42+09:00	Edit	$ROOT/a.py	a1	toolu_272536dcfd7d413a92575f91
    2026-02-14T15:30:42+09:00	Write	$ROOT/e.py	-	toolu_398acbfee19e4ce8a5853a2f
    2026-02-14T15:30:42+09:00	MultiEdit	$ROOT/a.py	-	toolu_3
    2026-02-14T15:30:42+09:00	NotebookEdit	$ROOT/n.ipynb	-	toolu_4
    2026-02-14T15:30:42+09:00	Sweep	$ROOT/b.py	-	toolu_6bcfda05ffdc41629efe0a6e
    2026-02-14T15:30:42+09:00	Sweep	$ROOT/c.py	-	toolu_6bcfda05ffdc41629efe0a6e
    2026-02-14T15:30:42+09:00	Sweep	$ROOT/d.py	-	toolu_6bcfda05ffdc41629efe0a6e
    2026-02-14T15:30:42+09:00	Sweep	$ROOT/f.py	-	toolu_6bcfda05ffdc41629efe0a6e
    2026-02-14T15:30:42+09:00	Sweep	$ROOT/sub.py	-	toolu_6bcfda05ffdc41629efe0a6e
    2026-02-14T15:30:42+09:00	Sweep	$ROOT/f.py	a1	toolu_6bcfda05ffdc41629efe0a6e
    ");
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}

#[test]
fn failed_edit_is_not_journaled() {
    let env = begun("");
    env.hook(&HookEvent::from_sample(samples::OLD_POST_TOOL_USE_EDIT_FAILED)).assert_silent();
    env.hook(&HookEvent::edit("a.py").with("tool_input", serde_json::json!({}))).assert_silent();
    env.hook(&HookEvent::edit(env.outside_dir().join("x.py"))).assert_silent();
    env.hook(&HookEvent::from_sample(samples::POST_TOOL_USE_READ_IN_SUBAGENT)).assert_silent();
    assert_eq!(env.journal_text("s1"), "");
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}

#[test]
fn the_alert_reaches_only_the_lead_and_only_once() {
    let env = begun(PLAIN);
    subagent_edits(&env, "a1", "a.py");
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    // Other agents' events, and the next stop, carry nothing.
    env.hook(&HookEvent::edit("b.py").by_agent("a2", "implementer")).assert_silent();
    env.hook(&HookEvent::bash().by_agent("a2", "implementer")).assert_silent();
    env.hook(&HookEvent::agent_done().by_agent("a2", "implementer")).assert_silent();
    env.hook(&HookEvent::subagent_stop("a1", "implementer").with("stop_hook_active", true)).assert_silent();
    env.hook(&HookEvent::session_start().session("s2")).assert_silent();
    env.hook(&HookEvent::prompt().session("s2")).assert_silent();
    assert_snapshot!(env.hook(&HookEvent::agent_done()).snapshot(), @r#"
    {"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"SRC IMPACT ALERT: 1 files changed, 1 potential dependents detected.\nChanged: a.py\nDependents: use_a.py (refs a.py)\nAction: Consider running /execution-impact for full analysis."}}
    exit 0
    "#);
    for event in [HookEvent::agent_done(), HookEvent::prompt(), HookEvent::bash(), HookEvent::stop()] {
        env.hook(&event).assert_silent();
    }
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}

#[test]
fn background_alert_waits_for_the_next_lead_event() {
    let read = HookEvent::from_sample(samples::POST_TOOL_USE_READ_IN_SUBAGENT).by_lead();
    for (next, name) in [
        (HookEvent::bash(), "PostToolUse"),
        (HookEvent::write("x.py"), "PostToolUse"),
        (read, "PostToolUse"),
        (HookEvent::prompt(), "UserPromptSubmit"),
        (HookEvent::stop(), "Stop"),
    ] {
        let env = begun("");
        env.hook(&HookEvent::agent_launched()).assert_silent();
        subagent_edits(&env, "a1", "a.py");
        env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
        let (event, alert) = env.hook(&next).context().expect("the next event delivers");
        assert_eq!(event, name);
        assert!(alert.starts_with("SRC IMPACT ALERT: 1 files changed"), "{alert}");
        env.hook(&next).assert_silent();
    }
}

#[test]
fn newest_waiting_alert_is_delivered_and_others_are_counted() {
    let env = begun(PLAIN);
    for (agent, file) in [("a1", "a.py"), ("a2", "b.py"), ("a3", "c.py")] {
        subagent_edits(&env, agent, file);
        env.hook(&HookEvent::subagent_stop(agent, "implementer")).assert_silent();
    }
    assert_snapshot!(text(&env.hook(&HookEvent::agent_done())), @"
    SRC IMPACT ALERT: 1 files changed, 1 potential dependents detected. (and 2 earlier)
    Changed: c.py
    Dependents: use_c.py (refs c.py)
    Action: Consider running /execution-impact for full analysis.
    ");
    env.hook(&HookEvent::prompt()).assert_silent();
}

#[test]
fn a_stop_that_a_hook_continued_is_not_continued_again() {
    let env = begun("[alert]\nlead = \"any\"\nformat = \"plain\"\n");
    env.write("a.py", "changed by the lead\n");
    env.hook(&HookEvent::edit("a.py")).assert_silent();
    assert_snapshot!(env.hook(&HookEvent::stop()).snapshot(), @r#"
    {"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"SRC IMPACT ALERT: 1 files changed, 1 potential dependents detected.\nChanged: a.py\nDependents: use_a.py (refs a.py)\nAction: Consider running /execution-impact for full analysis."}}
    exit 0
    "#);
    // The Lead goes on and changes more; this stop must end.
    env.write("b.py", "changed by the lead\n");
    env.hook(&HookEvent::edit("b.py")).assert_silent();
    env.hook(&HookEvent::stop().with("stop_hook_active", true)).assert_silent();
    // The alert that could not be delivered is delivered at the next event.
    let (event, alert) = env.hook(&HookEvent::prompt()).context().expect("the next prompt delivers");
    assert_eq!(event, "UserPromptSubmit");
    assert!(alert.contains("Changed: b.py\n"), "{alert}");
}

#[test]
fn a_session_that_changes_nothing_gets_no_text() {
    let env = begun("[alert]\nlead = \"any\"\n");
    for (file, sample) in samples::ALL {
        let writes = ["Edit\"", "Write\""].iter().any(|tool| sample.contains(tool));
        // Creating the task gets a reply: there already is one.
        let creates = sample.contains("\"TaskCreate\"");
        // A prompt with markers is judged, and there is no such step.
        let invokes = sample.contains("PreToolUse") && sample.contains("DES-VALIDATION");
        if !(creates || invokes || writes && sample.contains("PostToolUse")) {
            env.hook(&HookEvent::from_sample(sample)).assert_silent();
        }
        assert_eq!(env.journal_text("s1"), "", "{file}");
    }
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
    assert!(!env.state().join("reports").exists());
}

#[test]
fn a_file_is_reported_once_per_state() {
    let env = begun(PLAIN);
    let stop = || env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    let delivers = || env.hook(&HookEvent::agent_done()).context().map(|(_, text)| text);
    subagent_edits(&env, "a1", "a.py");
    stop();
    assert!(delivers().is_some());
    stop();
    assert_eq!(delivers(), None, "nothing was changed since");
    env.hook(&HookEvent::edit("a.py").by_agent("a1", "implementer")).assert_silent();
    stop();
    assert_eq!(delivers(), None, "an edit that left the same content");
    subagent_edits(&env, "a1", "a.py");
    subagent_edits(&env, "a1", "b.py");
    stop();
    let alert = delivers().expect("both are in a new state");
    assert!(alert.contains("2 files changed") && alert.contains("Changed: a.py, b.py\n"), "{alert}");
    fs::remove_file(env.project().join("b.py")).unwrap();
    stop();
    assert!(delivers().expect("a deletion is a state").contains("Changed: b.py\n"));
}

#[test]
fn every_report_is_written_below_the_alert_threshold() {
    for (config, subagent_alerts, lead_alerts) in [
        ("", true, true),
        ("[alert]\nsubagent = \"any\"\nlead = \"any\"\n", true, true),
        ("[alert]\nsubagent = \"breaking\"\nlead = \"breaking\"\n", true, true),
        ("[alert]\nsubagent = \"off\"\nlead = \"off\"\n", false, false),
    ] {
        let env = begun(config);
        subagent_edits(&env, "a1", "a.py");
        env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
        assert_eq!(env.hook(&HookEvent::agent_done()).context().is_some(), subagent_alerts, "{config}");
        env.shell("sed -i s/hello/bye/ b.py");
        env.hook(&HookEvent::bash()).assert_silent();
        assert_eq!(env.hook(&HookEvent::stop()).context().is_some(), lead_alerts, "{config}");
        let reports = env.state().join("reports/s1");
        let mut names: Vec<_> =
            fs::read_dir(reports).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["1.md", "1.yaml", "2.md", "2.yaml"], "{config}");
    }
}

#[test]
fn the_written_report_names_the_dependents() {
    let env = begun("");
    subagent_edits(&env, "a1", "a.py");
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    let read = |name| env.redact_paths(&fs::read_to_string(env.state().join(name)).unwrap());
    let l1 = read("reports/s1/1.yaml");
    // The number of index updates depends on timing.
    let (facts, revision) = l1.split_once("index: ").unwrap();
    assert!(revision.starts_with("{fresh: true, revision: \"none+"), "{revision}");
    assert_snapshot!(facts, @r#"
    domain: execution
    skill: impact
    status: complete
    confidence: high
    files_changed: 1
    impact_candidates: 1
    degradation_level: full
    impacts:
      - changed_file: $ROOT/a.py
        dependents:
          - file: $ROOT/use_a.py
            type: DIRECT
            hop_count: 1
            reference_pattern: hello
            evidence: "use_a.py:1:from a import hello"
            kind: import
            breaks: true
        dependent_count: 1
    cascade_recommended: true
    cascade_rationale: "1 file references what changed; 1 no longer fits it."
    unresolved_references: 0
    "#);
    assert_snapshot!(read("reports/s1/1.md"), @"
    # Execution Impact Analysis Report

    ## Summary
    - Files changed: 1
    - Impact candidates: 1
    - Confidence: high
    - Degradation level: full
    - Cascade recommended: yes

    ## Per-File Analysis

    ### $ROOT/a.py
    **Dependents (1):**

    | Dependent | Type | Hop | Reference Pattern | Evidence |
    |-----------|------|-----|-------------------|----------|
    | use_a.py | DIRECT | 1 | hello | use_a.py:1:from a import hello |

    ## Cascade Recommendation
    1 file references what changed; 1 no longer fits it.

    ## Notes
    - None.
    ");
}

/// If the index cannot be built, the report says "not analysed", never "none".
#[test]
fn report_without_an_index_lists_the_unknown() {
    let env = configured("[journal]\nsweep = \"off\"\n[alert]\nformat = \"plain\"\n");
    env.hook(&HookEvent::session_start()).assert_silent();
    fs::remove_dir_all(env.state().join("index")).unwrap();
    env.write(".lockstep/index", "in the way");
    subagent_edits(&env, "a1", "a.py");
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    assert_snapshot!(text(&env.hook(&HookEvent::agent_done())), @"
    SRC IMPACT ALERT: 1 files changed, dependents not analysed.
    Changed: a.py
    Action: `lockstep changes --session s1` lists them.
    ");
    let report = fs::read_to_string(env.state().join("reports/s1/1.yaml")).unwrap();
    assert!(report.contains("status: skipped\n") && report.contains("impact_candidates: null\n"), "{report}");
}

#[test]
fn accepts_payloads_without_agent_fields() {
    let env = begun(PLAIN);
    env.write("a.py", "changed\n");
    env.hook(&HookEvent::edit("a.py").without("permission_mode").without("prompt_id")).assert_silent();
    env.hook(&HookEvent::from_sample(samples::OLD_SUBAGENT_STOP)).assert_silent();
    let (_, alert) = env.hook(&HookEvent::from_sample(samples::OLD_POST_TOOL_USE_TASK)).context().unwrap();
    assert!(alert.contains("Changed: a.py\n"), "{alert}");
    env.hook(&HookEvent::from_sample(samples::OLD_POST_TOOL_USE_TASK)).assert_silent();
}

#[test]
fn sweep_runs_only_at_configured_events() {
    for (sweep, after_bash, at_stop) in [("bash", true, true), ("stop", false, true), ("off", false, false)] {
        let env = begun(&format!("[journal]\nsweep = \"{sweep}\"\n"));
        env.shell("echo more >> a.py");
        env.hook(&HookEvent::bash()).assert_silent();
        assert_eq!(!env.journal_text("s1").is_empty(), after_bash, "{sweep}");
        env.shell("echo more >> b.py");
        env.hook(&HookEvent::stop()).assert_silent();
        assert_eq!(env.journal_text("s1").contains("b.py"), at_stop, "{sweep}");
    }
}

#[test]
fn ignored_and_earlier_changes_are_not_swept() {
    let env = active();
    env.git(["init", "--quiet"]);
    env.write(".gitignore", "*.o\ntarget/\n");
    env.write("a.py", "1");
    env.hook(&HookEvent::session_start()).assert_silent();
    env.write("x.o", "ignored");
    env.write("target/debug/y", "ignored");
    env.shell("git config core.bare false");
    env.hook(&HookEvent::bash()).assert_silent();
    assert_eq!(env.journal_text("s1"), "");
    // Between two sessions a person edits.
    env.hook(&HookEvent::session_end()).assert_silent();
    env.write("a.py", "by a person");
    env.hook(&HookEvent::session_start().session("s2")).assert_silent();
    env.hook(&HookEvent::stop().session("s2")).assert_silent();
    assert_eq!(env.journal_text("s2"), "");
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}

#[test]
fn log_reports_a_missing_baseline() {
    let env = active();
    env.write("a.py", "1");
    env.hook(&HookEvent::bash()).assert_silent();
    assert_snapshot!(env.log_lines().join("\n"), @"2026-02-14T15:30:42+09:00	PostToolUse	there was no catalogue of the files to compare with; one was made, earlier changes are unknown");
    env.shell("echo 2 >> a.py");
    env.hook(&HookEvent::bash()).assert_silent();
    assert_eq!(env.log_lines().len(), 1, "from now on there is one");
    assert!(env.journal_text("s1").contains("a.py"));
}

#[test]
fn an_undelivered_alert_waits_again() {
    let env = begun(PLAIN);
    subagent_edits(&env, "a1", "a.py");
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    // A reader that has closed the pipe.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = env.hook_command();
    command.stdout(writer);
    env.run(command, HookEvent::agent_done().json(&env.project()).as_bytes()).assert_silent();
    // A full disk behind the redirection.
    let mut command = env.hook_command();
    command.stdout(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    env.run(command, HookEvent::agent_done().json(&env.project()).as_bytes()).assert_silent();
    assert_eq!(env.log_lines().len(), 2);
    assert!(text(&env.hook(&HookEvent::agent_done())).contains("Changed: a.py\n"));
    env.hook(&HookEvent::agent_done()).assert_silent();
}

#[test]
fn detailed_alert_lists_changes_and_uses() {
    let env = begun("");
    env.write("a.py", "def greet(): pass\n");
    env.hook(&HookEvent::edit("a.py").by_agent("a1", "implementer")).assert_silent();
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    assert_snapshot!(text(&env.hook(&HookEvent::agent_done())), @"
    SRC IMPACT ALERT: 1 files changed, 1 potential dependents detected. Broken: 1.
    Changed: a.py (hello → greet)
    Dependents: use_a.py:1 (refs hello) [breaks]
    Action: Run `lockstep impact --session s1` for full analysis.
    ");
}

#[test]
fn the_alert_names_the_skill_only_where_there_is_one() {
    for (file, command) in [
        (".claude/skills/execution-impact/SKILL.md", "Consider running /execution-impact for full analysis."),
        (".claude/commands/execution-impact.md", "Consider running /execution-impact for full analysis."),
        ("other.md", "Run `lockstep impact --session s1` for full analysis."),
    ] {
        let env = begun("");
        env.write(file, "---\nname: execution-impact\n---\n");
        env.hook(&HookEvent::bash()).assert_silent();
        subagent_edits(&env, "a1", "a.py");
        env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
        let alert = text(&env.hook(&HookEvent::agent_done()));
        assert!(alert.ends_with(&format!("\nAction: {command}")), "{alert}");
    }
}

#[test]
fn alerts_that_wait_together_become_one_with_true_totals() {
    let env = begun("");
    for (agent, file) in [("a1", "a.py"), ("a2", "b.py"), ("a3", "c.py")] {
        subagent_edits(&env, agent, file);
        env.hook(&HookEvent::subagent_stop(agent, "implementer")).assert_silent();
    }
    let alert = text(&env.hook(&HookEvent::agent_done()));
    assert!(
        alert.starts_with("SRC IMPACT ALERT: 3 files changed, 3 potential dependents detected."),
        "{alert}"
    );
    for user in ["use_a.py", "use_b.py", "use_c.py"] {
        assert!(alert.contains(user), "{alert}");
    }
    env.hook(&HookEvent::prompt()).assert_silent();
}

#[test]
fn status_distinguishes_no_dependents_from_no_hook() {
    let env = begun("[alert]\nstatus = \"always\"\n");
    env.hook(&HookEvent::subagent_stop("a0", "implementer")).assert_silent();
    assert_eq!(text(&env.hook(&HookEvent::agent_done())), "SRC: No file changes detected.");
    env.write("lonely.py", "x = 1\n");
    env.hook(&HookEvent::write("lonely.py").by_agent("a1", "implementer")).assert_silent();
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    assert_eq!(text(&env.hook(&HookEvent::agent_done())), "SRC: 0 impact candidates for 1 changed files.");
    let env = begun("");
    env.hook(&HookEvent::subagent_stop("a0", "implementer")).assert_silent();
    env.hook(&HookEvent::agent_done()).assert_silent();
}

#[test]
fn lockstep_s_own_files_are_in_no_alert() {
    let env = begun("[alert]\nstatus = \"always\"\n");
    env.write("lockstep.toml", "[alert]\nstatus = \"always\"\n# edited\n");
    env.write("notes.md", "See lockstep.toml and .claude/settings.json.\n");
    env.lockstep(["init", "--client", "claude"]).assert_success();
    env.write("a.py", "def greet(): pass\n");
    env.hook(&HookEvent::bash().by_agent("a1", "implementer")).assert_silent();
    env.hook(&HookEvent::subagent_stop("a1", "implementer")).assert_silent();
    let alert = text(&env.hook(&HookEvent::agent_done()));
    assert!(!alert.contains("lockstep.toml") && !alert.contains("settings.json"), "{alert}");
}

/// Two opens of the database in one hook read and check it twice.
#[test]
fn a_stop_opens_the_store_once() {
    if !Path::new("/usr/bin/strace").is_file() {
        let _ = writeln!(std::io::stderr(), "SKIPPED opens of the store: strace is not installed");
        return;
    }
    let env = begun("");
    env.write("a.py", "def greet(): pass\n");
    let hook = env.hook_command();
    let trace = env.home().join("trace");
    let mut command = Command::new("/usr/bin/strace");
    command.args(["-f", "-qq", "-e", "trace=openat", "-o"]).arg(&trace);
    command.arg(hook.get_program()).args(hook.get_args()).current_dir(env.project()).env_clear();
    command.envs(hook.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    env.run(command, HookEvent::stop().json(&env.project()).as_bytes()).assert_success();
    let calls = fs::read_to_string(&trace).unwrap();
    // The attempt to create the file fails, because it is there.
    assert_eq!(calls.lines().filter(|call| call.contains("state.db\", O_RDWR")).count(), 1, "{calls}");
}
