//! A scripted stand-in for the Anthropic Messages API on loopback, and for the Responses API of Codex.
//!
//! [`ScriptedModel`] replies to a client's requests with the turns of a [`Scenario`] and records every request. It
//! streams on request, counts tokens (always 100) and replies 200 to anything else, because a client probes
//! more than it needs. It owns sockets and threads; `http` reads and writes messages, `cast` finds the
//! speaker and its turn, and `reply` and `responses` render a turn.

mod http;
mod messages_api;
mod responses_api;
mod script_player;

use std::collections::BTreeMap;
use std::io::{self, BufReader, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use lockstep_fs::process::{Closed, Closer};
use serde_json::{Value, json};

use self::http::{HttpReadError, HttpRequest, HttpResponse};
use self::script_player::ScriptPlayer;
use crate::scenario::Scenario;
use crate::transcript::{ModelRequest, RequestAgent, Transcript};

/// More than any client opens at once; beyond it a connection is closed unanswered.
const MAX_CONNECTIONS: usize = 64;

/// A running scripted model. Dropping it closes every socket and ends every thread.
#[derive(Debug)]
pub struct ScriptedModel {
    address: SocketAddr,
    stage: Arc<ServerState>,
    /// The other end is polled together with the listener: closing this end ends the accept loop. Connecting
    /// to ourselves would not work, because the listener may be in another network namespace.
    closer: Option<Closer>,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct ServerState {
    cast: Mutex<ScriptPlayer>,
    requests: Mutex<Vec<ModelRequest>>,
    connections: Mutex<BTreeMap<u64, TcpStream>>,
}

impl ScriptedModel {
    /// Listens on an ephemeral port of 127.0.0.1.
    pub fn start(scenario: Scenario) -> io::Result<Self> {
        Self::serve(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?, scenario)
    }

    /// Serves on a socket that is already listening, perhaps in another network namespace.
    pub fn serve(listener: TcpListener, scenario: Scenario) -> io::Result<Self> {
        let address = listener.local_addr()?;
        // Between poll and accept the peer may disconnect; accept must not block then.
        listener.set_nonblocking(true)?;
        let (closer, closed) = Closer::pair()?;
        let stage = Arc::new(ServerState {
            cast: Mutex::new(ScriptPlayer::new(scenario)),
            requests: Mutex::default(),
            connections: Mutex::default(),
        });
        let acceptor = thread::Builder::new().name("scripted-model".into()).spawn({
            let stage = Arc::clone(&stage);
            move || accept_until_closed(&listener, &closed, &stage)
        })?;
        Ok(Self { address, stage, closer: Some(closer), acceptor: Some(acceptor) })
    }

    /// The value for `ANTHROPIC_BASE_URL`.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything the client has sent so far.
    pub fn transcript(&self) -> Transcript {
        Transcript::new(locked(&self.stage.requests).clone())
    }

    /// Returns the agents with the number of their scripted turns that were not requested yet.
    pub fn unused_turns(&self) -> BTreeMap<RequestAgent, usize> {
        locked(&self.stage.cast).unplayed()
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        drop(self.closer.take());
        if let Some(acceptor) = self.acceptor.take() {
            // A panic in there was printed when it happened; a second one here would abort.
            let _ = acceptor.join();
        }
    }
}

fn accept_until_closed(listener: &TcpListener, closed: &Closed, stage: &ServerState) {
    thread::scope(|scope| {
        for number in 0.. {
            let Ok(stream) = next_connection(listener, closed) else { break };
            if register_connection(stage, number, &stream) {
                scope.spawn(move || {
                    // A broken connection is not our error; the next one is served normally.
                    let _ = serve_connection(&stream, stage);
                    locked(&stage.connections).remove(&number);
                });
            }
        }
        for stream in locked(&stage.connections).values() {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
    });
}

/// Waits for a connection. An error means that the model was closed or can accept no more.
fn next_connection(listener: &TcpListener, closed: &Closed) -> io::Result<TcpStream> {
    loop {
        if !closed.wait_for_connection(listener)? {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        match listener.accept() {
            Ok((stream, _)) => return Ok(stream),
            Err(error) if is_transient(&error) => {}
            Err(error) => return Err(error),
        }
    }
}

fn is_transient(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
    matches!(error.kind(), WouldBlock | Interrupted | ConnectionAborted | ConnectionReset)
}

fn register_connection(stage: &ServerState, number: u64, stream: &TcpStream) -> bool {
    let mut connections = locked(&stage.connections);
    let (true, Ok(handle)) = (connections.len() < MAX_CONNECTIONS, stream.try_clone()) else { return false };
    connections.insert(number, handle);
    // On some systems, the connection inherits the listener's non-blocking mode.
    stream.set_nonblocking(false).is_ok()
}

fn serve_connection(stream: &TcpStream, stage: &ServerState) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    loop {
        let message = match http::read(&mut reader) {
            Ok(Some(message)) => message,
            Ok(None) => return Ok(()),
            Err(HttpReadError::Io(error)) => return Err(error),
            Err(HttpReadError::Refused { status, why }) => {
                writer.write_all(&HttpResponse::error(status, why).to_bytes(true))?;
                return stream.shutdown(std::net::Shutdown::Both);
            }
        };
        writer.write_all(&stage.respond(&message).to_bytes(message.wants_body()))?;
    }
}

impl ServerState {
    fn respond(&self, message: &HttpRequest) -> HttpResponse {
        if message.method != "POST" {
            return HttpResponse::json(&json!({}));
        }
        let Ok(body) = serde_json::from_slice::<Value>(&message.body) else {
            return HttpResponse::error(400, "the body is not JSON");
        };
        let path = message.path.split('?').next().unwrap_or_default();
        match path {
            "/v1/messages" => self.respond_messages(message, body),
            "/v1/responses" => self.respond_responses(message, body),
            "/v1/messages/count_tokens" => {
                self.record_request(message, body, RequestAgent::ClientInternal, None);
                HttpResponse::json(&json!({"input_tokens": 100}))
            }
            _ => {
                self.record_request(message, body, RequestAgent::ClientInternal, None);
                HttpResponse::json(&json!({}))
            }
        }
    }

    fn respond_messages(&self, message: &HttpRequest, body: Value) -> HttpResponse {
        let part = locked(&self.cast).next_reply(message.header("x-claude-code-agent-id"), &body);
        let response = if body["stream"] == true {
            HttpResponse::events(messages_api::stream(&part, &body["model"]))
        } else {
            HttpResponse::json(&messages_api::whole(&part, &body["model"]))
        };
        self.record_request(message, body, part.agent, part.turn);
        response
    }

    fn respond_responses(&self, message: &HttpRequest, body: Value) -> HttpResponse {
        let part = locked(&self.cast).next_reply(None, &responses_api::as_messages(&body));
        let response = HttpResponse::events(responses_api::stream(&part));
        self.record_request(message, body, part.agent, part.turn);
        response
    }

    fn record_request(&self, message: &HttpRequest, body: Value, agent: RequestAgent, turn: Option<usize>) {
        let agent_id = message.header("x-claude-code-agent-id").map(str::to_owned);
        locked(&self.requests).push(ModelRequest { agent, agent_id, turn, path: message.path.clone(), body });
    }
}

/// Locks a mutex even if it is poisoned: a panic in another thread must not hide what was recorded before.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
