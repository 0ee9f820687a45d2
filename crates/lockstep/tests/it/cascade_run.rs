//! `cascade run` on planted projects: chains of one to four rounds, cycles, files that refuse, agents that overstep.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use lockstep_testkit::npm::compiler_or_skip;

use crate::active;
use crate::rename_fixtures::{RENAMER, changed, commit, list, run, rust, status, tools, touched, typescript};

const CARGO: &[&str] = &["--verify", "cargo check --quiet --offline"];

#[test]
fn chains_of_one_to_three_rounds_converge_and_compile_again() {
    for rounds in 1..=3 {
        let env = rust(rounds, 1);
        let mut check = Command::new("cargo");
        check.args(["check", "--quiet", "--offline"]).current_dir(env.project());
        tools(&mut check);
        assert!(!check.output().unwrap().status.success(), "the rename breaks the project");
        run(&env, RENAMER, CARGO).assert_success();
        assert!(check.output().unwrap().status.success(), "the project compiles again");
        let status = status(&env);
        assert_eq!(
            (&status["status"], &status["convergence"], &status["iterations"]),
            (&"converged".into(), &true.into(), &rounds.into()),
            "{status:#}"
        );
        let updated: BTreeSet<String> = list(&status, "updated").into_iter().collect();
        let planted: BTreeSet<String> = (1..=rounds).map(|round| format!("src/r{round}/m0.rs")).collect();
        assert_eq!(updated, planted);
        assert_eq!(updated, changed(&env, "src/f0.rs"), "git saw the same");
        assert!(list(&status, "warnings").is_empty(), "{status:#}");
    }
}

#[test]
fn chains_in_typescript_converge_and_compile_again() {
    let Some(compiler) = compiler_or_skip() else { return };
    for rounds in 1..=3 {
        let env = typescript(rounds);
        let check = format!("node {} --project . --pretty false", compiler.display());
        run(&env, RENAMER, &["--verify", &check]).assert_success();
        let status = status(&env);
        assert_eq!(status["iterations"], rounds, "{status:#}");
        assert_eq!(list(&status, "updated").into_iter().collect::<BTreeSet<_>>(), changed(&env, "src/f0.ts"));
        let mut compile = Command::new("node");
        compile.arg(&compiler).args(["--project", "."]).current_dir(env.project());
        assert!(compile.output().unwrap().status.success(), "the project compiles again");
    }
}

#[test]
fn a_chain_of_four_rounds_is_partial_with_exactly_its_end_unresolved() {
    for verify in [&[][..], CARGO] {
        let env = rust(4, 1);
        let output = run(&env, RENAMER, verify);
        assert_eq!(output.code, Some(1), "{}", output.snapshot());
        let status = status(&env);
        assert_eq!(
            (&status["status"], &status["convergence"], &status["iterations"]),
            (&"partial".into(), &false.into(), &3.into())
        );
        assert_eq!(list(&status, "unresolved"), ["src/r4/m0.rs"], "{status:#}");
        assert_eq!(list(&status, "updated").len(), 3);
    }
}

#[test]
fn four_rounds_in_typescript_are_partial_too() {
    let Some(compiler) = compiler_or_skip() else { return };
    let env = typescript(4);
    let check = format!("node {} --project . --pretty false", compiler.display());
    let output = run(&env, RENAMER, &["--verify", &check]);
    assert_eq!(output.code, Some(1), "{}", output.snapshot());
    assert_eq!(list(&status(&env), "unresolved"), ["src/f4.ts"]);
}

#[test]
fn a_file_that_refuses_is_retried_once_and_skipped() {
    let env = active();
    env.write("src/f0.rs", "pub fn f0_old() {}\n");
    env.write("src/lib.rs", "mod f0;\nmod good;\nmod stubborn;\n");
    for name in ["good", "stubborn"] {
        env.write(
            format!("src/{name}.rs"),
            format!("use crate::f0::f0_old;\n\npub fn {name}() {{\n    f0_old()\n}}\n"),
        );
    }
    commit(&env);
    env.write("src/f0.rs", "pub fn f0_new() {}\n");
    let agent = format!("echo \"$LOCKSTEP_GROUP:\" $LOCKSTEP_FILES >> agents.log\n{RENAMER}");
    let output = run(&env, &agent, &[]);
    assert_eq!(output.code, Some(1), "{}", output.snapshot());
    let status = status(&env);
    assert_eq!(list(&status, "updated"), ["src/good.rs"]);
    assert_eq!(list(&status, "skipped"), ["src/stubborn.rs"], "{status:#}");
    assert_eq!(status["iteration_details"][0]["implementers_spawned"], 2);
    let log = fs::read_to_string(env.project().join("agents.log")).unwrap();
    assert_eq!(
        log, "1a: src/good.rs src/stubborn.rs\n1a: src/stubborn.rs\n",
        "the second agent has only what was left"
    );
    let prompt = fs::read_to_string(env.state().join("reports/cascade/1/1a-2.prompt.md")).unwrap();
    assert!(
        prompt.contains(
            "src/stubborn.rs: it is unchanged and still stale: src/stubborn.rs:1:use crate::f0::f0_old;"
        ),
        "{prompt}"
    );
}

#[test]
fn files_that_import_each_other_are_one_agents_work() {
    let env = active();
    env.write("src/f0.rs", "pub fn f0_old() {}\n");
    env.write("src/lib.rs", "mod f0;\nmod a;\nmod b;\n");
    env.write(
        "src/a/mod.rs",
        "use crate::b::b_old;\nuse crate::f0::f0_old;\n\npub fn a_old() {\n    f0_old();\n    b_old()\n}\n",
    );
    env.write(
        "src/b/mod.rs",
        "use crate::a::a_old;\nuse crate::f0::f0_old;\n\npub fn b_old() {\n    f0_old();\n    a_old()\n}\n",
    );
    commit(&env);
    env.write("src/f0.rs", "pub fn f0_new() {}\n");
    run(&env, RENAMER, &["--tier", "COMPLEX"]).assert_success();
    let status = status(&env);
    assert_eq!(status["iteration_details"][0]["implementers_spawned"], 1, "one cycle, one group: {status:#}");
    assert_eq!((&status["iterations"], &status["files_updated"]), (&1.into(), &2.into()));
}

#[test]
fn a_file_that_returns_is_not_processed_again_and_not_hidden() {
    let env = active();
    env.write("src/f0.rs", "pub fn f0_old() {}\n");
    env.write("src/lib.rs", "mod f0;\nmod a;\nmod b;\n");
    env.write(
        "src/a.rs",
        "use crate::b::b_old;\nuse crate::f0::f0_old;\n\npub fn a_old() {\n    f0_old();\n    b_old()\n}\n",
    );
    env.write("src/b.rs", "use crate::a::a_old;\n\npub fn b_old() {\n    a_old()\n}\n");
    commit(&env);
    env.write("src/f0.rs", "pub fn f0_new() {}\n");
    let agent = "cat > /dev/null\ncase $LOCKSTEP_GROUP in\n1a) sed -i -e 's/f0_old/f0_new/' -e 's/a_old/a_new/' src/a.rs ;;\n\
                 2a) sed -i -e 's/a_old/a_new/' -e 's/b_old/b_new/' src/b.rs ;;\n*) exit 9 ;;\nesac\n";
    let output = run(&env, agent, &[]);
    assert_eq!(output.code, Some(1), "{}", output.snapshot());
    let status = status(&env);
    assert_eq!(
        (&status["iterations"], list(&status, "unresolved")),
        (&2.into(), vec!["src/a.rs".to_owned()]),
        "{status:#}"
    );
    let warnings = list(&status, "warnings").join("\n");
    assert!(
        warnings.contains("src/a.rs returns after it was handled: it no longer fits src/b.rs"),
        "{warnings}"
    );
}

#[test]
fn a_file_outside_the_group_is_warned_about_and_checked_for_impacts() {
    let env = active();
    env.write("src/lib.rs", "pub mod f0;\npub mod own;\npub mod other;\npub mod user;\n");
    env.write("src/f0.rs", "pub fn f0_old() {}\n");
    env.write("src/own.rs", "use crate::f0::f0_old;\n\npub fn own() {\n    f0_old()\n}\n");
    env.write("src/other.rs", "pub fn other_old() {}\n");
    env.write("src/user.rs", "use crate::other::other_old;\n\npub fn user() {\n    other_old()\n}\n");
    commit(&env);
    env.write("src/f0.rs", "pub fn f0_new() {}\n");
    let agent =
        format!("{RENAMER}[ \"$LOCKSTEP_GROUP\" != 1a ] || sed -i s/other_old/other_new/ src/other.rs\n");
    run(&env, &agent, &[]).assert_success();
    let status = status(&env);
    let warnings = list(&status, "warnings").join("\n");
    assert!(
        warnings.contains("src/other.rs is outside the scope and changed while group 1a was at work."),
        "{warnings}"
    );
    assert_eq!(status["iteration_details"][0]["new_impact_files"][0], "src/user.rs", "{status:#}");
    assert!(!list(&status, "updated").contains(&"src/other.rs".to_owned()), "it is not counted");
    assert_eq!(status["iteration_details"][0]["scope_violations"][0]["path"], "src/other.rs");
}

#[test]
fn an_isolated_agent_brings_back_only_its_own_files() {
    let env = rust(2, 1);
    env.write("untracked.txt", "not committed\n");
    let agent = format!(
        "{RENAMER}pwd >> ../places.log\ntest -e untracked.txt && grep -q f0_new src/f0.rs || exit 3\necho x > outside.txt\necho >> src/lib.rs\n"
    );
    run(
        &env,
        &agent.replace("../places.log", &env.tmp().join("places.log").display().to_string()),
        &["--isolate"],
    )
    .assert_success();
    let status = status(&env);
    assert_eq!(list(&status, "updated"), ["src/r1/m0.rs", "src/r2/m0.rs"], "{status:#}");
    assert!(!env.project().join("outside.txt").exists());
    assert_eq!(changed(&env, "src/f0.rs").len(), 2, "src/lib.rs was not taken back");
    let warnings = list(&status, "warnings").join("\n");
    for file in ["outside.txt", "src/lib.rs"] {
        assert!(
            warnings.contains(&format!(
                "{file} is outside the scope: what group 1a made of it was not brought back."
            )),
            "{warnings}"
        );
    }
    let places = fs::read_to_string(env.tmp().join("places.log")).unwrap();
    assert_eq!(places.lines().count(), 2);
    assert!(
        places.lines().all(|place| Path::new(place) != env.project() && !Path::new(place).exists()),
        "{places}"
    );
    let worktrees =
        Command::new("git").args(["worktree", "list"]).current_dir(env.project()).output().unwrap();
    assert_eq!(String::from_utf8(worktrees.stdout).unwrap().lines().count(), 1, "none is left");
}

#[test]
fn an_agent_that_takes_too_long_is_ended_with_all_it_started() {
    let env = rust(1, 1);
    let mark = format!("{}", env.root().display());
    let mut command = crate::rename_fixtures::run_command(
        &env,
        "(setsid sleep 300 &) ; sleep 300 & sleep 300\n",
        &["--time-limit", "1"],
    );
    command.env("LOCKSTEP_TEST_MARK", &mark);
    let output = env.run(command, b"");
    assert_eq!(output.code, Some(1), "{}", output.snapshot());
    let status = status(&env);
    let why = status["skipped"][0]["why"].as_str().unwrap();
    assert!(why.contains("took longer than 1 s"), "{status:#}");
    assert_eq!(crate::cascade_crashes::marked(&mark), [] as [i32; 0], "nothing it started is left");
}

#[test]
fn an_agent_that_cannot_start_or_fails_is_reported() {
    let env = rust(1, 1);
    let output = env.run(env.command(["cascade", "run", "--agent", "/no/such/agent"]), b"");
    assert_eq!(output.code, Some(1), "{}", output.snapshot());
    let status = status(&env);
    assert!(status["skipped"][0]["why"].as_str().unwrap().contains("exit code 127"), "{status:#}");
    assert!(
        list(&status, "warnings").iter().any(|warning| warning == "All implementers of iteration 1 failed."),
        "{status:#}"
    );
}

#[test]
fn a_dry_run_shows_the_prompts_and_does_nothing() {
    let env = rust(1, 1);
    let before = env.lockstep(["cascade", "status"]).assert_success();
    let text = run(&env, "exit 1\n", &["--dry-run"]).assert_success();
    assert!(text.contains("==> 1a for implementer") && text.contains("`f0_old`, now `f0_new`"), "{text}");
    assert_eq!(env.lockstep(["cascade", "status"]).assert_success(), before, "nothing was started");
    assert_eq!(touched(&env, "src/r1/m0.rs"), 0);
}

#[test]
fn a_verification_alone_can_be_the_next_iterations_work() {
    let env = active();
    env.write("a.txt", "name: f0_old\n");
    env.write("b.txt", "plain\n");
    env.write("src/f0.rs", "pub fn f0_old() {}\n");
    env.write("src/lib.rs", "pub mod f0;\npub mod user;\n");
    env.write("src/user.rs", "use crate::f0::f0_old;\n\npub fn user() {\n    f0_old()\n}\n");
    commit(&env);
    env.write("src/f0.rs", "pub fn f0_new() {}\n");
    let agent = format!("{RENAMER}[ \"$LOCKSTEP_GROUP\" = 1a ] || echo fixed >> b.txt\n");
    let verify = "grep -q fixed b.txt || { echo 'b.txt:1: error: not fixed'; exit 1; }";
    run(&env, &agent, &["--verify", verify]).assert_success();
    let status = status(&env);
    assert_eq!(
        status["iteration_details"][0]["new_impact_files"],
        serde_json::json!(["b.txt"]),
        "{status:#}"
    );
    assert_eq!(
        (&status["iteration_details"][0]["verified"], &status["iteration_details"][1]["verified"]),
        (&false.into(), &true.into())
    );
    let env = rust(1, 1);
    let output = run(&env, RENAMER, &["--verify", "echo nothing to see; exit 1"]);
    assert_eq!(output.code, Some(1), "{}", output.snapshot());
    assert!(
        list(&crate::rename_fixtures::status(&env), "warnings")
            .iter()
            .any(|w| w.contains("names no file of the project"))
    );
}

#[test]
fn an_agent_may_say_that_a_file_needs_nothing() {
    let env = active();
    env.write("src/f0.rs", "pub fn f0_old() {}\n");
    env.write("README.md", "See `f0_old` in src/f0.rs.\n");
    commit(&env);
    env.write("src/f0.rs", "pub fn f0_new() {}\n");
    let agent = r#"cat > prompt.log
echo '```yaml'
echo 'status: complete'
echo 'not_needed: [{file: README.md, why: it names the file only}]'
echo '```'
"#;
    env.configure("[cascade]\nconverge_on = \"any\"\n");
    run(&env, agent, &[]).assert_success();
    let asked = fs::read_to_string(env.project().join("prompt.log")).unwrap();
    assert!(asked.contains("not_needed: []"), "it is told how:\n{asked}");
    let status = status(&env);
    assert_eq!(status["status"], "converged", "{status:#}");
    assert!(status.to_string().contains("it names the file only (says the agent)"), "{status:#}");
}

#[test]
fn isolation_without_a_first_commit_is_refused_before_anything_begins() {
    let env = active();
    env.git(["init", "--quiet"]);
    env.write("src/f0.rs", "pub fn f0() {}\n");
    let refused = env.lockstep(["cascade", "run", "--agent", "true", "--isolate"]).assert_failure(2);
    assert!(refused.contains("needs a first commit") && refused.contains("leave --isolate out"), "{refused}");
    assert!(env.lockstep(["cascade", "status"]).snapshot().contains("no cascade"), "nothing was started");
}
