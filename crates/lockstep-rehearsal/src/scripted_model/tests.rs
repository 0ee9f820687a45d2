//! The model over plain TCP, as a client sees it.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use serde_json::json;

use super::*;

fn scenario() -> Scenario {
    Scenario::parse(
        r#"
        prompt = "Do the thing."
        [[lead]]
        text = "First."
        tools = [{ name = "Bash", input = { command = "ls" } }, { name = "TaskList" }]
        [[lead]]
        text = "Second."
        [[subagents.EDITOR]]
        text = "Edited."
        "#,
    )
    .unwrap()
}

struct Peer(TcpStream);

impl Peer {
    fn new(model: &ScriptedModel) -> Self {
        let stream = TcpStream::connect(model.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        Self(stream)
    }

    fn send(&mut self, request: &str) {
        self.0.write_all(request.as_bytes()).unwrap();
    }

    fn post(&mut self, path: &str, headers: &str, body: &Value) -> (u16, String) {
        let body = body.to_string();
        let length = body.len();
        self.send(&format!("POST {path} HTTP/1.1\r\n{headers}content-length: {length}\r\n\r\n{body}"));
        self.receive()
    }

    fn receive(&mut self) -> (u16, String) {
        let head = self.receive_head();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        let mut body = vec![0; length.parse().unwrap()];
        self.0.read_exact(&mut body).unwrap();
        (head[9..12].parse().unwrap(), String::from_utf8(body).unwrap())
    }

    fn receive_head(&mut self) -> String {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.0.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        String::from_utf8(head).unwrap()
    }
}

fn ask(prompt: &str, stream: bool) -> Value {
    json!({
        "model": "m", "stream": stream, "tools": [{"name": "Bash"}],
        "messages": [{"role": "user", "content": [
            {"type": "text", "text": "<system-reminder>CLAUDE.md mentions EDITOR</system-reminder>"},
            {"type": "text", "text": prompt},
        ]}],
    })
}

fn say(peer: &mut Peer, headers: &str, body: &Value) -> Value {
    let (status, answer) = peer.post("/v1/messages?beta=true", headers, body);
    assert_eq!(status, 200);
    serde_json::from_str(&answer).unwrap()
}

#[test]
fn lead_receives_turns_in_order_and_a_retry_the_same_turn() {
    let model = ScriptedModel::start(scenario()).unwrap();
    let mut peer = Peer::new(&model);
    let mut request = ask("Do the thing.", false);
    for _ in 0..2 {
        let first = say(&mut peer, "", &request);
        assert_eq!(first["content"][0]["text"], "First.");
        assert_eq!(first["content"][1]["input"], json!({"command": "ls"}));
        assert_eq!(first["content"][2]["name"], "TaskList");
        assert_ne!(first["content"][1]["id"], first["content"][2]["id"]);
        assert_eq!(first["stop_reason"], "tool_use");
    }
    for expected in ["Second.", "Done."] {
        request["messages"].as_array_mut().unwrap().push(json!({"role": "user", "content": "on"}));
        let answer = say(&mut peer, "", &request);
        assert_eq!(
            (&answer["content"][0]["text"], &answer["stop_reason"]),
            (&json!(expected), &json!("end_turn"))
        );
    }
    let transcript = model.transcript();
    let turns: Vec<_> = transcript.requests().iter().map(|request| request.turn).collect();
    assert_eq!(turns, [Some(0), Some(0), Some(1), None]);
    assert!(transcript.requests().iter().all(|request| request.agent == RequestAgent::Lead));
    assert_eq!(transcript.requests()[3].body, request);
    assert_eq!(model.unused_turns(), [(RequestAgent::subagent("EDITOR"), 1)].into());
}

#[test]
fn agents_are_distinguished_by_tag_and_client_id() {
    let model = ScriptedModel::start(scenario()).unwrap();
    let mut peer = Peer::new(&model);
    let cases = [
        ("", "Do the thing.", true, RequestAgent::Lead),
        ("X-Claude-Code-Agent-Id: a1\r\n", "EDITOR: edit", true, RequestAgent::subagent("EDITOR")),
        ("", "EDITOR: an older client", true, RequestAgent::subagent("EDITOR")),
        ("x-claude-code-agent-id: a2\r\n", "Who am I?", true, RequestAgent::Unscripted("a2".into())),
        ("", "Do the thing.", false, RequestAgent::Lead),
        ("", "Make a title.", false, RequestAgent::ClientInternal),
    ];
    for (headers, prompt, tools, _) in &cases {
        let mut request = ask(prompt, false);
        if !tools {
            request["tools"] = json!([]);
        }
        say(&mut peer, headers, &request);
    }
    // The same subagent twice, in parallel: each plays the script from its start.
    let again = say(&mut peer, "x-claude-code-agent-id: a3\r\n", &ask("EDITOR: edit", false));
    assert_eq!(again["content"][0]["text"], "Edited.");

    let transcript = model.transcript();
    let agents: Vec<_> = transcript.requests().iter().take(cases.len()).map(|r| r.agent.clone()).collect();
    assert_eq!(agents, cases.map(|(_, _, _, agent)| agent));
    assert_eq!(transcript.requests()[1].agent_id.as_deref(), Some("a1"));
}

#[test]
fn a_streamed_turn_holds_the_same_as_a_whole_one() {
    let model = ScriptedModel::start(scenario()).unwrap();
    let (status, events) = Peer::new(&model).post("/v1/messages", "", &ask("Do the thing.", true));
    assert_eq!(status, 200);
    let events: Vec<Value> = events
        .split_terminator("\n\n")
        .map(|event| {
            let (name, data) = event.split_once('\n').unwrap();
            let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
            assert_eq!(name.strip_prefix("event: "), data["type"].as_str());
            data
        })
        .collect();
    let deltas: Vec<_> =
        events.iter().map(|event| &event["delta"]).filter(|delta| !delta.is_null()).collect();
    assert_eq!(deltas[0]["text"], "First.");
    assert_eq!(deltas[1]["partial_json"], r#"{"command":"ls"}"#);
    assert_eq!(deltas[2]["partial_json"], "{}");
    assert_eq!(deltas[3]["stop_reason"], "tool_use");
    assert_eq!(events.last().unwrap()["type"], "message_stop");
}

#[test]
fn unknown_client_probes_are_answered() {
    let model = ScriptedModel::start(scenario()).unwrap();
    let mut peer = Peer::new(&model);
    peer.send("HEAD / HTTP/1.1\r\n\r\n");
    assert!(peer.receive_head().starts_with("HTTP/1.1 200"));
    peer.send("GET /v1/models HTTP/1.1\r\n\r\n");
    assert_eq!(peer.receive(), (200, "{}".into()));
    let count = peer.post("/v1/messages/count_tokens?beta=true", "", &ask("x", false));
    assert_eq!(count, (200, r#"{"input_tokens":100}"#.into()));
    assert_eq!(peer.post("/api/else", "", &json!({})), (200, "{}".into()));
    assert_eq!(model.transcript().requests().len(), 2);
}

#[test]
fn a_bad_request_is_refused_and_the_next_connection_served() {
    let model = ScriptedModel::start(scenario()).unwrap();
    let long = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(70_000));
    let cases = [
        ("nonsense\r\n\r\n", 400),
        ("GET / HTTP/2\r\n\r\n", 505),
        ("GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\ncontent-length: many\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\ncontent-length: 999999999999\r\n\r\n", 413),
        ("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n", 411),
        ("POST /v1/messages HTTP/1.1\r\ncontent-length: 3\r\n\r\n{{{", 400),
        (&long, 431),
    ];
    for (request, status) in cases {
        let mut peer = Peer::new(&model);
        peer.send(request);
        assert_eq!(peer.receive().0, status, "{}", &request[..20]);
    }
    // Cut off in the middle of a body: there is no reply, and nothing is recorded.
    Peer::new(&model).send("POST /v1/messages HTTP/1.1\r\ncontent-length: 100\r\n\r\n{");
    say(&mut Peer::new(&model), "", &ask("Do the thing.", false));
    assert_eq!(model.transcript().requests().len(), 1);
}

#[test]
fn dropping_it_ends_open_connections_and_frees_the_port() {
    let model = ScriptedModel::start(scenario()).unwrap();
    let address = model.address;
    let (mut idle, mut halfway) = (Peer::new(&model), Peer::new(&model));
    halfway.send("POST /v1/messages HTTP/1.1\r\ncontent-");
    say(&mut Peer::new(&model), "", &ask("Do the thing.", false));
    let stage = Arc::downgrade(&model.stage);
    drop(model);
    assert!(stage.upgrade().is_none(), "a thread still holds the stage");
    for peer in [&mut idle, &mut halfway] {
        let mut rest = Vec::new();
        let _ = peer.0.read_to_end(&mut rest);
        assert!(!rest.starts_with(b"HTTP/1.1 200"));
    }
    TcpStream::connect(address).unwrap_err();
}
