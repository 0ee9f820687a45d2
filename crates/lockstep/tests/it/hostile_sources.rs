//! Source files that drive parsers to their limits: none ends, hangs or blinds a command, a hook or the server.
//!
//! `LOCKSTEP_HOSTILE_CASES` sets the number of generated files; see CONTRIBUTING.md for a long run.

use std::process::Stdio;

use lockstep_testkit::attacks::{EXTENSIONS, Numbers, PATTERNS, SOURCE_EXTENSIONS, source_file};
use lockstep_testkit::{HookEvent, TestEnv};

use crate::active;
use crate::steps::{with_step, yes};
use crate::steps_hooks::{asked, invoke, prompt, stop, transcript};

fn cases() -> usize {
    std::env::var("LOCKSTEP_HOSTILE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(40)
}

/// Runs `lockstep index --stats` with limits of memory and processor time that a runaway parse exceeds.
fn index_within_limits(env: &TestEnv, what: &str) -> String {
    within_limits(env, what, "\"$0\" index --quiet && exec \"$0\" index --stats")
}

/// Runs a script with the program as `$0` and the same limits. It must succeed.
fn within_limits(env: &TestEnv, what: &str, script: &str) -> String {
    let mut command = std::process::Command::new("sh");
    let inner = env.command(["index"]);
    command.args(["-c", &format!("ulimit -v 2000000; ulimit -t 60; {script}")]);
    command.arg(inner.get_program());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env_clear().envs(inner.get_envs().filter_map(|(key, value)| Some((key, value?))));
    command.current_dir(env.project());
    let output = env.run(command, b"");
    assert_eq!(output.code, Some(0), "{what}: {}", output.snapshot());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_pattern_in_every_language_is_indexed_or_counted_as_not_read() {
    for pattern in PATTERNS {
        let env = active();
        for extension in EXTENSIONS {
            env.write(format!("hostile.{extension}"), pattern.repeat(2_000 / pattern.len()));
            env.write(format!("deep.{extension}"), pattern.repeat(60_000 / pattern.len()));
        }
        let stats = index_within_limits(&env, pattern);
        assert!(stats.contains("not read"), "{pattern}: {stats}");
    }
}

#[test]
fn generated_files_are_indexed_or_counted_as_not_read() {
    for seed in 0..cases() {
        let mut numbers = Numbers::new(seed as u64 + 1);
        let env = active();
        let extension = *numbers.choose(&SOURCE_EXTENSIONS);
        let size = *numbers.choose(&[3_000, 30_000, 60_000]);
        let (shape, text) = source_file(&mut numbers, extension, size);
        env.write(format!("hostile.{extension}"), text);
        index_within_limits(&env, &format!("seed {seed}, {shape}, {extension}, {size} bytes"));
    }
}

/// At the end of such a file, the parser recovers in one step that nothing interrupts.
#[test]
fn conditions_of_thousands_of_operands_do_not_overflow_the_stack() {
    for operator in ["&&", "||", "and", "or"] {
        let condition = format!("a {operator} ").repeat(6_000) + "a";
        let env = active();
        for extension in SOURCE_EXTENSIONS {
            env.write(format!("chain.{extension}"), format!("{condition}\n"));
            let branch = match extension {
                "py" => format!("if {condition}:\n    pass\n"),
                _ => format!("if ({condition}) {{}}\n"),
            };
            env.write(format!("branch.{extension}"), branch);
        }
        index_within_limits(&env, operator);
    }
}

#[test]
fn memory_of_an_unfinished_file_does_not_grow_with_its_square() {
    for token in ["<T>a=>", "<T>\na\n=>"] {
        let env = active();
        env.write("unfinished.cpp", token.repeat(3_000));
        index_within_limits(&env, token);
    }
}

/// In such a file all words are children of one node, whose place the library finds by going through them.
#[test]
fn time_of_a_file_without_structure_does_not_grow_with_its_square() {
    let token = "not\noperator fi esac]]{a:";
    let env = active();
    env.write("flat.c", token.repeat(400_000 / token.len()));
    index_within_limits(&env, token);
}

#[test]
fn a_word_after_the_other_in_one_line_costs_no_more_than_in_many() {
    for (name, text) in [("a.ts", "a=b=".repeat(75_000)), ("a.rs", "goto a;".repeat(43_000))] {
        let env = active();
        env.write(name, "x\n");
        env.shell("git init -q && git add -A && git -c user.name=a -c user.email=a@a commit -qm a");
        env.write(name, text);
        within_limits(&env, name, "\"$0\" impact || test $? = 5");
        within_limits(&env, name, "exec \"$0\" map build");
    }
}

#[test]
fn a_file_over_the_limits_is_counted_and_named() {
    let env = active();
    env.write("deep.go", "{[".repeat(25_000));
    env.write("a.go", "package a\n\nfunc Hello() {}\n");
    env.write("user.go", format!("package a\n\nfunc g() {{ Hello() }}\n{}", "{[".repeat(25_000)));
    env.shell("git init -q && git add -A && git -c user.name=a -c user.email=a@a commit -qm a");
    let stats = index_within_limits(&env, "deep.go");
    assert!(stats.contains("not read    2 files over the limits of their parser"), "{stats}");
    env.write("a.go", "package a\n\nfunc Greet() {}\n");
    let impact = env.lockstep(["impact"]).assert_success();
    assert!(impact.contains("user.go") && impact.contains("limits of the parser"), "{impact}");
}

#[test]
fn large_ordinary_files_are_read() {
    let env = active();
    let repeated = |line: &str| line.repeat(300_000 / line.len());
    for (name, line) in [
        (
            "a.d.ts",
            "export interface Item<T> { name: string; items: Map<string, T[]>; f(a: T, b?: number): void }\n",
        ),
        (
            "a.c",
            "static int f(struct s *p, int n) { if (n < 3 && p->x[n] > 0) { return p->g(n, \"(\") << 2; } else return -1; }\n",
        ),
        (
            "a.py",
            "def f(a: int, b=None):\n    x = {'k': [a, (b, 1)]}\n    return x if a < 3 else f(a - 1)\n\n",
        ),
        ("a.go", "var x = map[string][]int{\"a\": {1, 2}, \"b\": {3}}\n"),
        ("a.js", "const a = [1, { b: (c) => c ? d(c) : `x${c}` }, function () { return e && f || g; }];\n"),
        (
            "a.rs",
            "pub fn f<T: Into<Vec<u8>>>(a: &'static str, b: T) -> Option<Vec<u8>> { a.get(1..)?; Some(b.into()) }\n",
        ),
    ] {
        env.write(name, repeated(line));
    }
    let stats = index_within_limits(&env, "large files");
    assert!(stats.contains("not read    0 files"), "{stats}");
    assert!(stats.contains("problems    0 places"), "{stats}");
}

#[test]
fn gate_2_decides_for_any_file_that_the_agent_wrote() {
    for (name, text) in [
        ("deep.go", "{[".repeat(25_000)),
        ("a.java", "a<".repeat(50_000)),
        ("c.c", "/* a ".repeat(20_000)),
        ("k.kt", "@a(".repeat(15_000)),
        ("t.ts", "Map<K, ".repeat(15_000)),
    ] {
        let env = with_step();
        env.write(name, "");
        env.lockstep(["index", "--quiet"]).assert_success();
        env.hook(&HookEvent::session_start()).assert_success();
        let prompt = prompt(&env);
        env.hook(&invoke(&prompt)).assert_success();
        transcript(&env, "a1", &prompt, 3);
        yes(&env, "step phase start 01-01 RED");
        env.write(name, &text);
        env.hook(&HookEvent::edit(name).by_agent("a1", "implementer")).assert_success();
        assert!(asked(&env.hook(&stop(&env, "a1", false))).is_some(), "{name}");
        // The refusal is not repeated, and the end of the agent is reported.
        assert_eq!(asked(&env.hook(&stop(&env, "a1", true))), None, "{name}");
        let (_, alert) = env.hook(&HookEvent::prompt()).context().expect("the Lead is told");
        assert!(alert.contains("01-01"), "{name}: {alert}");
    }
}

#[test]
fn gate_2_decides_if_the_index_is_corrupt_or_missing() {
    for damage in ["rm -rf .lockstep/index", "for f in .lockstep/index/*; do echo x > $f; done"] {
        let env = with_step();
        env.write("a.py", "x");
        env.lockstep(["index", "--quiet"]).assert_success();
        env.hook(&HookEvent::session_start()).assert_success();
        let prompt = prompt(&env);
        env.hook(&invoke(&prompt)).assert_success();
        transcript(&env, "a1", &prompt, 3);
        yes(&env, "step phase start 01-01 RED");
        env.shell(damage);
        assert!(asked(&env.hook(&stop(&env, "a1", false))).is_some(), "{damage}");
    }
}

#[test]
fn gate_2_reports_that_changes_could_not_be_checked() {
    let env = active();
    env.lockstep(["step", "new", "01-01", "--project", "auth", "--phases", "tdd-3", "--allow", "src/**"])
        .assert_success();
    env.hook(&HookEvent::session_start()).assert_silent();
    let prompt = prompt(&env);
    env.hook(&invoke(&prompt)).assert_success();
    transcript(&env, "a1", &prompt, 3);
    env.shell("rm -r .lockstep/index; echo x > outside.md");
    let question = asked(&env.hook(&stop(&env, "a1", false))).unwrap();
    assert!(question.contains("could not check what shell commands changed"), "{question}");
}

/// The configuration disables the sweep, by which gate 2 detects changes of shell commands: it says that
/// it could not look.
#[test]
fn gate_2_does_not_take_a_sweep_that_is_off_for_no_changes() {
    let env = crate::configured("[journal]\nsweep = 'off'\n");
    env.lockstep(["step", "new", "01-01", "--project", "auth", "--phases", "tdd-3", "--allow", "src/**"])
        .assert_success();
    env.hook(&HookEvent::session_start()).assert_silent();
    let prompt = prompt(&env);
    env.hook(&invoke(&prompt)).assert_success();
    transcript(&env, "a1", &prompt, 3);
    for phase in ["RED", "GREEN", "COMMIT"] {
        let _ = env.lockstep([
            "step",
            "phase",
            "skip",
            "01-01",
            phase,
            "--why",
            "NOT_APPLICABLE: a test of the gate",
        ]);
    }
    let question = asked(&env.hook(&stop(&env, "a1", false))).expect("it could not look");
    assert!(question.contains("could not check what shell commands changed"), "{question}");
    // The agent is asked once. Then the Lead is told that the gate did not look.
    assert_eq!(asked(&env.hook(&stop(&env, "a1", true))), None);
    let (_, alert) = env.hook(&HookEvent::prompt()).context().expect("the Lead is told");
    assert!(alert.contains("could not check what shell commands changed"), "{alert}");
}
