//! Real clients as the runner: two groups of Claude Code in parallel, one of which changes a file that is not
//! assigned to it; and Codex. Skipped with a message if a client is not available.

use std::fs;

use lockstep_rehearsal::scenario::{Scenario, Turn};
use lockstep_rehearsal::scripted_model::ScriptedModel;
use lockstep_testkit::client::{ClientBinary, find_client_or_skip};
use lockstep_testkit::npm::CodexBinary;
use lockstep_testkit::{ProcessOutput, TestEnv, write_script};
use serde_json::json;

use crate::active;
use crate::rename_fixtures::{commit, list, rust, status, tools};

/// Scripts a model's work on a group: it reads and edits each file, then reports.
fn scenario(env: &TestEnv, edits: &[(&str, &str, &str)]) -> Scenario {
    let mut scenario = Scenario::new("Update references");
    let path = |file: &str| env.project().join(file).display().to_string();
    for (file, old, new) in edits {
        scenario.lead.push(Turn::call("Read", json!({"file_path": path(file)})));
        let edit =
            json!({"file_path": path(file), "old_string": old, "new_string": new, "replace_all": true});
        scenario.lead.push(Turn::call("Edit", edit));
    }
    scenario.lead.push(Turn::text(
        "Done.\n\n```yaml\nfiles_changed: []\nstatus: complete\nverification: searched\n```\n",
    ));
    scenario
}

/// A program called `claude` that asks the scripted model of its group.
fn wrapper(env: &TestEnv, client: &ClientBinary, models: &[(&str, &ScriptedModel)]) {
    let mut script = "#!/bin/sh\ncase $LOCKSTEP_GROUP in\n".to_owned();
    for (group, model) in models {
        script += &format!("{group}) export ANTHROPIC_BASE_URL={} ;;\n", model.base_url());
    }
    script += "esac\nexport ANTHROPIC_API_KEY=not-a-key TERM=dumb LANG=C.UTF-8 IS_SANDBOX=1 DISABLE_TELEMETRY=1 \
               DISABLE_ERROR_REPORTING=1 DISABLE_AUTOUPDATER=1 DISABLE_INSTALLATION_CHECKS=1 \
               CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 HTTP_PROXY=http://127.0.0.1:9 HTTPS_PROXY=http://127.0.0.1:9 \
               NO_PROXY=127.0.0.1\n";
    script += &format!(
        "echo \"$LOCKSTEP_GROUP $(date +%s%N)\" >> {0}/starts\n{1} \"$@\"\ncode=$?\necho \"$LOCKSTEP_GROUP $(date +%s%N)\" >> {0}/ends\nexit $code\n",
        env.tmp().display(),
        client.program().display()
    );
    place(env, "claude", &script);
}

/// A program for `PATH`.
fn place(env: &TestEnv, name: &str, script: &str) {
    write_script(&env.outside_dir().join(name), script);
}

/// `cascade run` of a preset, whose program is [placed](place).
fn run_preset(env: &TestEnv, preset: &str) -> ProcessOutput {
    let mut command = env.command(["cascade", "run", "--agent", preset, "--time-limit", "240"]);
    tools(&mut command);
    let path = format!("{}:{}", env.outside_dir().display(), std::env::var("PATH").unwrap());
    command.env("PATH", path).env("HOME", env.home());
    env.run(command, b"")
}

fn two_real_clients_work_side_by_side_and_one_oversteps() {
    let Some(client) = find_client_or_skip() else { return };
    let env = active();
    env.write("src/f0.rs", "pub fn f0_old() {}\n");
    env.write("src/lib.rs", "mod a;\nmod b;\nmod f0;\nmod other;\nmod user;\n");
    for dir in ["a", "b"] {
        env.write(format!("src/{dir}/mod.rs"), "mod one;\nmod two;\n");
        for name in ["one", "two"] {
            env.write(
                format!("src/{dir}/{name}.rs"),
                "use crate::f0::f0_old;\n\npub fn call() {\n    f0_old()\n}\n",
            );
        }
    }
    env.write("src/other.rs", "pub fn other_old() {}\n");
    env.write("src/user.rs", "use crate::other::other_old;\n\npub fn user() {\n    other_old()\n}\n");
    commit(&env);
    env.lockstep(["init", "--client", "claude", "--quiet"]).assert_success();
    env.git(["add", "--all"]);
    env.git(["commit", "--quiet", "--message", "set up"]);
    env.write("src/f0.rs", "pub fn f0_new() {}\n");
    let a = [
        ("src/a/one.rs", "f0_old", "f0_new"),
        ("src/a/two.rs", "f0_old", "f0_new"),
        ("src/other.rs", "other_old", "other_new"),
    ];
    let b = [("src/b/one.rs", "f0_old", "f0_new"), ("src/b/two.rs", "f0_old", "f0_new")];
    let second = [("src/user.rs", "other_old", "other_new")];
    let models = [scenario(&env, &a), scenario(&env, &b), scenario(&env, &second)]
        .map(|s| ScriptedModel::start(s).unwrap());
    wrapper(&env, &client, &[("1a", &models[0]), ("1b", &models[1]), ("2a", &models[2])]);
    let output = run_preset(&env, "claude");
    let status = status(&env);
    let outputs = |group: &str| {
        fs::read_to_string(env.state().join(format!("reports/cascade/1/{group}-1.out"))).unwrap_or_default()
    };
    assert_eq!(output.code, Some(0), "{status:#}\n{}\n{}", outputs("1a"), outputs("1b"));
    assert_eq!((&status["status"], &status["iterations"]), (&"converged".into(), &2.into()), "{status:#}");
    let updated = list(&status, "updated");
    assert_eq!(updated, ["src/a/one.rs", "src/a/two.rs", "src/b/one.rs", "src/b/two.rs", "src/user.rs"]);
    let warnings = list(&status, "warnings").join("\n");
    assert!(warnings.contains("src/other.rs is outside the scope"), "{warnings}");
    assert_eq!(
        status["iteration_details"][0]["new_impact_files"],
        json!(["src/user.rs"]),
        "its impacts were checked"
    );
    // Side by side: each began before the other had ended.
    let times = |file: &str, group: &str| -> u128 {
        let text = fs::read_to_string(env.tmp().join(file)).unwrap();
        text.lines().find_map(|line| line.strip_prefix(group)).unwrap().trim().parse().unwrap()
    };
    assert!(times("starts", "1a") < times("ends", "1b") && times("starts", "1b") < times("ends", "1a"));
    // The prompt arrived, and the agents were not told to start a cascade.
    let transcript = models[0].transcript();
    assert!(transcript.lead().count("Update references in `src/a/one.rs`") > 0, "{transcript}");
    assert_eq!(transcript.lead().count("A cascade is active"), 0, "{transcript}");
    // Alerts about its own files are held back; the one that overstepped hears of the other file.
    assert_eq!(models[1].transcript().lead().count("SRC IMPACT ALERT"), 0);
    assert_eq!(transcript.lead().count("Changed: other.rs"), transcript.lead().count("SRC IMPACT ALERT"));
}

#[test]
fn a_real_codex_follows_a_rename() {
    let Some(codex) = CodexBinary::obtain_or_skip() else { return };
    let env = rust(1, 2);
    let mut scenario = Scenario::new("Update references");
    let edit = "sed -i s/f0_old/f0_new/g src/r1/m0.rs src/r1/m1.rs";
    scenario.lead.push(Turn::call("exec_command", json!({"cmd": edit})));
    scenario.lead.push(Turn::text("Both files follow."));
    let model = ScriptedModel::start(scenario).unwrap();
    let home = env.home().join(".codex");
    CodexBinary::write_config(&home, &model).unwrap();
    let quiet = "HTTP_PROXY=http://127.0.0.1:9 HTTPS_PROXY=http://127.0.0.1:9 NO_PROXY=127.0.0.1";
    let script = format!(
        "#!/bin/sh\nexport CODEX_HOME={} {quiet}\nexec {} \"$@\"\n",
        home.display(),
        codex.program().display()
    );
    place(&env, "codex", &script);
    let output = run_preset(&env, "codex");
    let status = status(&env);
    let message = fs::read_to_string(env.state().join("reports/cascade/1/1a-1.out")).unwrap_or_default();
    assert_eq!(output.code, Some(0), "{status:#}\n{message}");
    assert_eq!(
        (&status["status"], &status["iterations"]),
        (&"converged".into(), &1.into()),
        "{status:#}\n{message}"
    );
    assert_eq!(list(&status, "updated"), ["src/r1/m0.rs", "src/r1/m1.rs"]);
    let follower = fs::read_to_string(env.project().join("src/r1/m0.rs")).unwrap();
    assert!(follower.contains("f0_new() + 1"), "{follower}");
    let asked: Vec<_> =
        model.transcript().requests().iter().map(|request| request.body.to_string()).collect();
    assert_eq!(asked.len(), 2, "it asked, ran the command, and told its result");
    assert!(asked[0].contains("Update references in `src/r1/m0.rs`"), "the prompt came by standard input");
    assert!(asked[1].contains("function_call_output"), "{}", asked[1]);
}

on_each_client!(two_real_clients_work_side_by_side_and_one_oversteps,);
