//! A session with `lockstep mcp`, line by line: what an MCP client does, without one.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use lockstep_testkit::TestEnv;
use serde_json::{Value, json};

/// Nothing here takes so long, unless it is broken.
const BROKEN: Duration = Duration::from_secs(600);

/// A server and the pipe to it.
pub(crate) struct Session {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    reader: JoinHandle<()>,
    answers: BTreeMap<u64, Value>,
    /// The server's notifications.
    pub(crate) notifications: Vec<Value>,
    last: u64,
}

impl Session {
    /// A server in the project, greeted.
    pub(crate) fn start(env: &TestEnv) -> Self {
        let mut session = Self::silent(env.command(["mcp"]));
        session.greet();
        session
    }

    /// Starts a server without sending anything.
    pub(crate) fn silent(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        let reader = std::thread::spawn(move || {
            for line in stdout.lines() {
                let line = line.unwrap();
                let message: Value = serde_json::from_str(&line)
                    .unwrap_or_else(|error| panic!("not the protocol on standard output: {error}\n{line}"));
                assert_eq!(message["jsonrpc"], "2.0", "{line}");
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, messages, reader, answers: BTreeMap::new(), notifications: Vec::new(), last: 0 }
    }

    /// The handshake.
    pub(crate) fn greet(&mut self) -> Value {
        let client = json!({"name": "test", "version": "1"});
        let greeting = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let answer = self.request("initialize", greeting);
        self.notify("notifications/initialized", json!({}));
        answer
    }

    /// One line, whatever it is.
    pub(crate) fn raw(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line.as_bytes()).and_then(|()| stdin.write_all(b"\n")).unwrap();
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.raw(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// Asks, and does not wait.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        let id = self.last;
        self.raw(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        id
    }

    /// The answer to a request, with either `result` or `error`.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return answer;
            }
            let message = self
                .messages
                .recv_timeout(BROKEN)
                .unwrap_or_else(|error| panic!("no answer to {id}: {error}"));
            self.sort(message);
        }
    }

    fn sort(&mut self, message: Value) {
        match message["id"].as_u64() {
            Some(id) => {
                let earlier = self.answers.insert(id, message);
                assert!(earlier.is_none(), "{id} was answered twice");
            }
            None => self.notifications.push(message),
        }
    }

    /// Returns the next message, whatever it answers.
    pub(crate) fn next_message(&mut self) -> Value {
        self.messages.recv_timeout(BROKEN).expect("a message")
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// Calls a tool; gives its result, which may be an error of the tool's.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(answer["result"].is_object(), "{tool}: {answer:#}");
        answer["result"].clone()
    }

    /// Calls a tool that must succeed; gives its data.
    pub(crate) fn data(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool}: {result:#}");
        result["structuredContent"].clone()
    }

    /// Calls a tool that must fail. Returns its text.
    pub(crate) fn fails(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result:#}");
        assert_eq!(result.get("structuredContent"), None, "{tool}: {result:#}");
        text(&result).to_owned()
    }

    /// Returns the number of files that the server has open.
    pub(crate) fn open_files(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    /// The memory it occupies, in KB.
    pub(crate) fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Closes the pipe; gives the exit code, standard error, and what was left to read.
    pub(crate) fn end(mut self) -> (Option<i32>, String, Vec<Value>) {
        drop(self.stdin.take());
        self.reader.join().expect("standard output carries the protocol only");
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        let code = self.child.wait().unwrap().code();
        (code, stderr, self.messages.try_iter().collect())
    }
}

/// The text of a result.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}
