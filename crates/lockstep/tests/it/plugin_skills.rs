//! The shipped skills, followed literally: each command of each skill, in order, in one project from the idea to the delivery.

use std::fs;
use std::process::Command;

use lockstep_cli::plugin::FILES;
use lockstep_testkit::{HookEvent, ProcessOutput, TestEnv};
use serde_json::Value;

use crate::active;
use crate::task_pipeline::{gate, l2};

/// Commands whose exit code 1 is an answer of the project, by the words of the skill.
const ANSWERS: [&str; 3] = ["lockstep doctor", "lockstep cache check", "lockstep refs --dangling"];

/// Every command that a skill names in its section *Do*, in order: code spans, and lines of its code blocks.
fn commands(skill: &str) -> Vec<String> {
    let file = format!("skills/{skill}/SKILL.md");
    let (_, text) = FILES.iter().find(|(name, _)| *name == file).unwrap_or_else(|| panic!("{file}"));
    let (_, body) = text.split_once("## Do\n").unwrap_or_else(|| panic!("{file} has no section Do"));
    let body = body.split("\n## ").next().unwrap();
    let mut commands = Vec::new();
    let mut fenced = false;
    for line in body.lines() {
        if line.trim().starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            commands.push(line.trim().to_owned());
        } else {
            commands.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    commands.retain(|command| command.starts_with("lockstep "));
    assert!(!commands.is_empty(), "{file}");
    commands
}

/// The values of the task's sections, as the phases write them.
fn section(name: &str) -> &'static str {
    match name {
        "codebase_impact_map" => "{modules: [], interfaces: [], risk_hotspots: []}",
        "architecture_decisions" => "[{id: AD-1, decision: d, rationale: r, status: ACCEPTED}]",
        "constraints" => "[{id: C-1, constraint: No new service, source: user}]",
        "implementation_plan" => "{l3_path: plan, task_count: 3, file_ownership: []}",
        "validation_verdict" => "CONDITIONAL_PASS",
        "implementation_results" => "{l3_path: out, summary: done}",
        "verification_summary" => "{test_count: 9, pass_rate: 100%, l2_path: work/7/L2.md}",
        other => panic!("no value for {other}"),
    }
}

/// A project in which a session has changed `a.py`, on which `b.py` and files in `lib/` depend.
fn project() -> TestEnv {
    let env = active();
    env.git(["init", "--quiet"]);
    for file in ["src/auth.rs", "plan/index.md", "out/index.md"] {
        env.write(file, "x\n");
    }
    env.write("a.py", "def hello():\n    pass\n");
    env.write("b.py", "from a import hello\nhello()\n");
    for dependent in ["lib/c.py", "lib/d.py"] {
        env.write(dependent, "from a import hello\nhello()\n");
    }
    env.write("x.py", "def one():\n    pass\n");
    env.write("y.py", "from x import one\none()\n");
    env.write(".gitignore", ".lockstep/\nsteps/\n.agent/\n*.yaml\n");
    for n in 1..=9 {
        env.write(format!("work/{n}/L2.md"), l2(&format!("P{n}-work")));
        env.write(format!("work/{n}/gate-record.yaml"), gate(n));
    }
    env.git(["add", "-A"]);
    env.git(["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "first"]);
    env.lockstep(["index"]).assert_success();
    env.hook(&HookEvent::session_start()).assert_silent();
    env
}

/// A subagent renames what other files call.
fn rename(env: &TestEnv, file: &str, from: &str, to: &str) {
    let before = fs::read_to_string(env.project().join(file)).unwrap();
    env.write(file, before.replace(from, to));
    env.hook(&HookEvent::edit(file).original_content(&before).by_agent("a1", "implementer")).assert_silent();
}

struct Walk {
    env: TestEnv,
    skill: &'static str,
}

impl Walk {
    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(
            &self.env.lockstep(args.iter().copied().chain(["--format", "json"])).assert_success(),
        )
        .unwrap()
    }

    /// Fills the placeholders of a command as a model would, from what the step before printed.
    fn filled(&self, command: &str) -> String {
        let after = |option: &str| {
            command
                .split_once(option)
                .and_then(|(_, rest)| rest.split_whitespace().next())
                .unwrap_or_default()
        };
        let phase = after("phase complete ").trim_start_matches('P').to_owned();
        let mut filled = command.to_owned();
        if command.contains("<version>") {
            let version = self.json(&["task", "show"])["version"].to_string();
            filled =
                filled.replace("<version>", &if command.contains("diff") { "1".to_owned() } else { version });
        }
        if command.contains("task update") {
            filled = filled.replace("--section <name>", "--section constraints");
            let name = match after("--section ") {
                "<name>" => "constraints",
                name => name,
            };
            let text = match name {
                "phase_status" => self.reviewed(),
                name => section(name).to_owned(),
            };
            self.env.write("section.yaml", text);
            filled = filled.replace("<file>", "section.yaml");
        }
        filled = filled.replace("--l2 <file>", &format!("--l2 work/{phase}/L2.md"));
        filled = filled.replace("--gate <file>", &format!("--gate work/{phase}/gate-record.yaml"));
        filled = filled.replace("handoff check <file>", "handoff check work/4/L2.md");
        if command.contains("<group>") {
            let groups = self.json(&["cascade", "status"])["groups"].clone();
            let open =
                groups.as_array().unwrap().iter().find(|group| group["stage"] == "handed").unwrap().clone();
            for file in open["open"].as_array().unwrap() {
                let path = self.env.project().join(file.as_str().unwrap());
                let text = fs::read_to_string(&path).unwrap();
                fs::write(path, text.replace("hello", "greet")).unwrap();
            }
            filled = filled.replace("<group>", open["id"].as_str().unwrap());
        }
        for (name, value) in [
            ("<title>", "auth"),
            ("<text>", "'Let add print the sum'"),
            ("<reason>", "'the user said so'"),
            ("<id>", "01-01"),
            ("--project <name>", "--project calc"),
            ("refs <name>", "refs a.py"),
            ("<name=value>", "spawns=3"),
            ("<range>", "HEAD"),
            ("<file> <PHASE>", "01-01 PREPARE"),
            ("--run <command>", "--run true"),
            ("impact --dismiss <file>", "impact --dismiss lib/c.py"),
            ("--not-needed <file>", "--not-needed lib/d.py"),
            ("<file>", "a.py"),
        ] {
            filled = filled.replace(name, value);
        }
        assert!(!filled.contains('<'), "{}: nothing is known for {filled}", self.skill);
        filled
    }

    /// The precondition of a command that is one of several alternatives.
    fn prepare(&self, command: &str) {
        let run = |args: &str| drop(self.env.lockstep(args.split(' ')).assert_success());
        if command.contains("step phase done") {
            run("step phase start 01-01 PREPARE");
        } else if command.contains("cascade abort") {
            rename(&self.env, "x.py", "one", "two");
            run("cascade start --session s1");
        }
    }

    /// The status of the phases with the result of a review.
    fn reviewed(&self) -> String {
        let mut status = self.json(&["task", "show"])["document"]["phase_status"].clone();
        let n = if self.skill == "rsil-global" { 1 } else { 2 };
        status[format!("P{n}")]["gate_record"] = format!("work/{n}/gate-record.yaml").into();
        status.to_string()
    }

    fn run(&self, command: &str) -> ProcessOutput {
        let binary = env!("CARGO_BIN_EXE_lockstep");
        let shell = command.replacen("lockstep ", &format!("{binary} "), 1);
        let mut process = Command::new("sh");
        process.args(["-c", &shell]).current_dir(self.env.project()).env_clear();
        process.env("PATH", "/usr/bin:/bin").env("HOME", self.env.home()).env("TMPDIR", self.env.tmp());
        process.env("LOCKSTEP_NOW", self.env.now()).env("CLAUDE_CODE_SESSION_ID", "s1");
        process.stdin(std::process::Stdio::null());
        process.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        self.env.run(process, b"")
    }

    fn follow(&mut self, skill: &'static str) {
        self.skill = skill;
        for command in commands(skill) {
            self.prepare(&command);
            let filled = self.filled(&command);
            let output = self.run(&filled);
            // If the skill says so, exit code 1 is an answer.
            let answered = output.code == Some(1) && ANSWERS.contains(&command.as_str());
            assert!(output.code == Some(0) || answered, "{skill}: {filled}\n{}", output.snapshot());
        }
    }
}

#[test]
fn every_command_of_every_skill_works_in_order() {
    let mut walk = Walk { env: project(), skill: "" };
    walk.follow("brainstorming-pipeline");
    for n in 2..=3 {
        let done = format!("phase complete P{n} --l2 work/{n}/L2.md");
        walk.env.lockstep(done.split(' ')).assert_success();
    }
    walk.follow("agent-teams-write-plan");
    walk.follow("plan-validation-pipeline");
    walk.follow("agent-teams-execution-plan");
    rename(&walk.env, "a.py", "hello", "greet");
    walk.follow("execution-impact");
    walk.follow("execution-cascade");
    walk.follow("manage-codebase");
    walk.follow("verification-pipeline");
    walk.env.lockstep(["step", "abandon", "01-01", "--why", "it was an example"]).assert_success();
    walk.follow("rsil-global");
    walk.follow("delivery-pipeline");
    walk.follow("rsil-review");
    walk.follow("permanent-tasks");
    let followed = 12;
    assert_eq!(FILES.iter().filter(|(file, _)| file.ends_with("/SKILL.md")).count(), followed);
}
