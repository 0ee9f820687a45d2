//! Messages that are none, and hostile files: the server answers and goes on.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use lockstep_testkit::TestEnv;
use lockstep_testkit::attacks::{EXTENSIONS, source_text};
use serde_json::{Value, json};

use super::trial::{Trial, Verdict};

const GREETING: &str = r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"chaos","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
"#;

/// Sends a line between a greeting and a ping. Returns the answers between them, once the ping is answered.
fn answers(env: &TestEnv, line: &[u8]) -> Result<Vec<Value>, String> {
    let mut command = env.command(["mcp"]);
    let mut child = command.stdin(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
    let mut stdin = child.stdin.take().expect("a pipe");
    let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    let bytes = [GREETING.as_bytes(), line, b"\n{\"jsonrpc\":\"2.0\",\"id\":\"ping\",\"method\":\"ping\"}\n"]
        .concat();
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&bytes);
        stdin
    });
    let mut between = Vec::new();
    let mut has_answered = false;
    for line in stdout.lines().map_while(Result::ok) {
        let message: Value = serde_json::from_str(&line).map_err(|error| format!("{error}: {line}"))?;
        match message["id"].as_str() {
            Some("ping") => {
                has_answered = true;
                break;
            }
            Some("hello") => {}
            _ => between.push(message),
        }
    }
    drop(writer.join());
    let status = child.wait().map_err(|error| error.to_string())?;
    if has_answered && status.success() {
        Ok(between)
    } else {
        Err(format!("the server ended with {status}"))
    }
}

pub(super) fn attack(trial: &mut Trial<'_>) {
    let env = TestEnv::active(trial.program);
    env.write("a.py", "def hello(): pass\n");
    let deep = "[".repeat(100_000);
    let long = format!("{{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"{}\"}}", "x".repeat(9 << 20));
    let mut lines: Vec<(String, Vec<u8>)> = [
        "no JSON",
        "{",
        "{}",
        "[]",
        "null",
        "7",
        "\"text\"",
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":",
        "{\"jsonrpc\":\"1.0\",\"id\":5,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":7}",
        "\u{feff}{}",
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\",\"params\":[]}",
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"id\":6,\"method\":\"ping\"} x",
        &deep,
        &long,
    ]
    .iter()
    .map(|line| (line.chars().take(80).collect(), line.as_bytes().to_vec()))
    .collect();
    lines.push(("invalid UTF-8".to_owned(), b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"\xff\"}".to_vec()));
    lines.push(("NUL".to_owned(), b"\0\0\0".to_vec()));
    for at in 0..8 {
        let bytes: Vec<u8> =
            (0..1 + trial.numbers.below(200)).map(|_| b' ' + trial.numbers.below(94) as u8).collect();
        lines.push((format!("random text {at}"), bytes));
    }
    for (name, line) in trial.sample(lines) {
        trial.case(name, || match answers(&env, &line) {
            Ok(between) => {
                let has_error = between.iter().any(|message| message["error"].is_object());
                Verdict::held_if(has_error, || format!("no error: {between:?}"))
            }
            Err(reason) => Verdict::Broken(reason),
        });
    }
    for at in 0..trial.limit.div_ceil(3) {
        let extension = *trial.numbers.choose(&EXTENSIONS);
        env.write(format!("hostile{at}.{extension}"), source_text(&mut trial.numbers, 60_000));
        let call = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "references", "arguments": {"name": "hello"}}});
        trial.case(format!("hostile file {at}"), || match answers(&env, call.to_string().as_bytes()) {
            Ok(_) => Verdict::Held,
            Err(reason) => Verdict::Broken(reason),
        });
    }
}
