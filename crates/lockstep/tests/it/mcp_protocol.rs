//! `lockstep mcp` as a process that lives long: it outlives bad requests, cancelled ones and broken frames, keeps nothing, and ends
//! when its pipe does.

use lockstep_testkit::TestEnv;
use serde_json::{Value, json};

use crate::inactive;
use crate::mcp_session::{Session, text};
use crate::mcp_tools::workshop;

/// The maximum size of one result that reaches the model.
const CLIENT_LIMIT: usize = 50_000;

/// A tree in which a question takes a while: nothing of it is kept, because Lockstep is not active.
fn forest(files: usize) -> TestEnv {
    let env = inactive();
    for n in 0..files {
        let text: String =
            (0..40).map(|line| format!("def f{n}_{line}(x):\n    return shared(x) + {line}\n")).collect();
        env.write(format!("d{}/m{n}.py", n % 50), format!("from shared import shared\n{text}"));
    }
    env.write("shared.py", "def shared(x):\n    return x\n");
    env
}

#[test]
fn the_end_of_the_input_ends_the_server_with_0() {
    let env = inactive();
    let (code, stderr, rest) = Session::start(&env).end();
    assert_eq!((code, stderr.as_str(), rest.len()), (Some(0), "", 0));
    // Also before the first word, and in the middle of one.
    let (code, stderr, _) = Session::silent(env.command(["mcp"])).end();
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let output = env.run(
        {
            let mut command = env.command(["mcp"]);
            command.stdin(std::process::Stdio::piped());
            command
        },
        b"{\"jsonrpc\": \"2.0\", \"id\": 1, \"meth",
    );
    assert_eq!(output.assert_success(), "");
}

#[test]
fn pending_request_is_answered_after_end_of_input() {
    let env = inactive();
    env.write("a.py", "import b\n");
    env.write("b.py", "");
    let mut session = Session::start(&env);
    let id = session.send("tools/call", json!({"name": "references", "arguments": {"name": "b.py"}}));
    let (code, _, rest) = session.end();
    assert_eq!(code, Some(0));
    let answer = rest.iter().find(|message| message["id"] == id).expect("an answer");
    assert_eq!(answer["result"]["structuredContent"]["references"][0]["file"], "a.py", "{answer:#}");
}

#[test]
fn messages_before_initialize_are_ignored() {
    let env = inactive();
    let mut session = Session::silent(env.command(["mcp"]));
    session.notify("notifications/initialized", json!({}));
    session.raw("{}");
    session.raw("no JSON");
    let early = session.request("tools/list", json!({}));
    assert!(early["error"].is_object(), "{early}");
    let greeted = session.greet();
    assert_eq!(greeted["result"]["serverInfo"]["name"], "lockstep", "{greeted}");
    assert!(session.request("tools/list", json!({}))["result"]["tools"].is_array());
}

#[test]
fn invalid_lines_are_answered_during_requests() {
    let mut session = Session::start(&inactive());
    let invalid = [
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\ud800\"}",
        "no JSON",
        "[]",
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":5}",
    ];
    for n in 0..400 {
        session.raw(&json!({"jsonrpc": "2.0", "id": 1_000 + n, "method": "ping"}).to_string());
        session.raw(invalid[n % invalid.len()]);
    }
    let answers: Vec<Value> = (0..800).map(|_| session.next_message()).collect();
    assert_eq!(answers.iter().filter(|answer| answer["error"]["code"] == -32600).count(), 400);
}

#[test]
fn a_thousand_mixed_requests_leave_nothing_behind() {
    let env = workshop();
    let mut session = Session::start(&env);
    let mut before = (0, 0);
    let mut waiting: Vec<(u64, bool)> = Vec::new();
    for n in 0..1_100 {
        if n == 100 {
            // Warm: threads are started, pages were kept.
            waiting.drain(..).for_each(|(id, good)| check(&mut session, id, good));
            before = (session.open_files(), session.memory());
        }
        let call =
            |tool: &str, arguments: Value| ("tools/call", json!({"name": tool, "arguments": arguments}));
        let ((method, params), good) = match n % 11 {
            0 => (("ping", json!({})), true),
            1 => (("tools/list", json!({})), true),
            2 => (call("references", json!({"name": "src/f0.rs"})), true),
            3 => (call("references", json!({"name": ""})), true),
            4 => (call("no_such_tool", json!({})), false),
            5 => (("no/such/method", json!({"n": n})), false),
            6 => (("resources/list", json!({})), true),
            7 => (call("task_update", json!({"base": 1, "section": "x", "value": n, "as": "analyst"})), true),
            8 => (call("step_show", json!({"step": "01-01"})), true),
            9 => (("resources/read", json!({"uri": "lockstep://nowhere"})), false),
            _ => (call("impact", json!({"files": ["src/f0.rs"]})), true),
        };
        let id = session.send(method, params);
        match n % 7 {
            // Cancelled at once: no answer is due. One that was quicker is as good.
            3 => session
                .notify("notifications/cancelled", json!({"requestId": id, "reason": "changed my mind"})),
            _ => waiting.push((id, good)),
        }
        match n % 50 {
            10 => session.raw("{\"jsonrpc\": \"2.0\", \"id\": 7, \"method\": "),
            20 => session.raw("\u{0}\u{1}\u{fffd} no frame at all"),
            30 => session.raw("{\"jsonrpc\": \"2.0\", \"method\": 5, \"params\": []}"),
            40 => session.raw("[[[[[[[[[[[[]]]]]]]]]]]]"),
            45 => session.notify("notifications/cancelled", json!({"requestId": 999_999})),
            _ => {}
        }
        if waiting.len() > 20 {
            waiting.drain(..).for_each(|(id, good)| check(&mut session, id, good));
        }
    }
    waiting.drain(..).for_each(|(id, good)| check(&mut session, id, good));
    // The cancelled calls have ended too: writes are serialised, so this one comes after them.
    session.fails("task_update", json!({"base": 1, "section": "x", "value": 1, "as": "analyst"}));
    let after = (session.open_files(), session.memory());
    assert!(after.0 <= before.0 + 2, "open files: {} before, {} after", before.0, after.0);
    assert!(after.1 <= before.1 + 16_384, "KB: {} before, {} after", before.1, after.1);
    let (code, stderr, _) = session.end();
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
}

fn check(session: &mut Session, id: u64, good: bool) {
    let answer = session.answer(id);
    assert_eq!(answer["result"].is_object(), good, "{answer}");
    assert_eq!(answer["error"].is_object(), !good, "{answer}");
}

#[test]
fn long_call_reports_progress_and_can_be_cancelled() {
    let env = forest(1_500);
    let mut session = Session::start(&env);
    let call = |token: &str, name: &str| json!({"name": "references", "arguments": {"name": name}, "_meta": {"progressToken": token}});
    let id = session.send("tools/call", call("t1", "shared.py"));
    let answer = session.answer(id);
    assert_eq!(answer["result"]["isError"], false, "{}", text(&answer["result"]));
    let output: Vec<&Value> =
        session.notifications.iter().filter(|message| message["params"]["progressToken"] == "t1").collect();
    let progress: Vec<f64> =
        output.iter().map(|output| output["params"]["progress"].as_f64().unwrap()).collect();
    assert!(!progress.is_empty() && progress.is_sorted(), "{progress:?}");
    assert!(output.iter().all(|output| output["method"] == "notifications/progress"), "{output:?}");
    assert!(
        output
            .iter()
            .all(|output| output["params"]["total"].as_f64() >= output["params"]["progress"].as_f64()),
        "{output:?}"
    );
    // More of them than are worked on at once, all given up: what comes next need not wait for them.
    let given_up: Vec<u64> = (0..12).map(|_| session.send("tools/call", call("t2", "shared.py"))).collect();
    for id in &given_up {
        session.notify("notifications/cancelled", json!({"requestId": id}));
    }
    assert!(session.request("ping", json!({}))["result"].is_object());
    let after = session.send("tools/call", call("t3", "m7.py"));
    assert_eq!(session.answer(after)["result"]["isError"], false);
    let (code, stderr, rest) = session.end();
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(
        !rest.iter().any(|message| given_up.iter().any(|id| message["id"] == *id)),
        "a cancelled request was answered"
    );
}

#[test]
fn long_results_are_paginated() {
    let env = inactive();
    env.write("a.py", "def hello():\n    pass\n");
    let uses: String = (0..2_500).map(|n| format!("hello()  # number {n}, é\n")).collect();
    env.write("b.py", format!("from a import hello\n{uses}"));
    let mut session = Session::start(&env);
    let mut arguments = json!({"name": "a.py"});
    let (mut lines, mut pages) = (Vec::new(), 0);
    loop {
        let result = session.call("references", arguments);
        assert_eq!(result["isError"], false, "{result:#}");
        let data = &result["structuredContent"];
        for form in [data.to_string(), text(&result).to_owned()] {
            assert!(form.chars().count() <= CLIENT_LIMIT, "{} characters", form.chars().count());
        }
        assert_eq!((&data["sought"], &data["fresh"]), (&"a.py".into(), &true.into()));
        lines.extend(
            data["references"].as_array().unwrap().iter().map(|found| found["line"].as_u64().unwrap()),
        );
        pages += 1;
        let Some(cursor) = data["next_cursor"].as_str() else { break };
        assert!(text(&result).contains(cursor), "{}", text(&result));
        arguments = json!({"cursor": cursor});
    }
    let expected: usize = env
        .lockstep(["refs", "a.py", "--quiet", "--all"])
        .assert_success()
        .lines()
        .filter(|line| line.starts_with("b.py:"))
        .count();
    // The command line lists a line once, however many references it has.
    lines.dedup();
    assert_eq!(lines.len(), expected);
    assert!(lines.len() >= 2_500 && pages > 3, "{} lines in {pages} pages", lines.len());
    let output = session.fails("references", json!({"name": "a.py", "cursor": "0123456789abcdef.5"}));
    assert!(output.contains("leads nowhere") && output.contains("without a cursor"), "{output}");
}
