//! Lines of the client before they are parsed as messages: a line that is not a message, or too long, becomes a
//! request with an id of its own, which [`super::transport`] answers with an error.
//!
//! The library drops lines that are not JSON. To other invalid lines it replies inside a future that it cancels when
//! another message arrives, so that the reply may be lost. A client that waits for one would wait for ever.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rmcp::RoleServer;
use rmcp::service::RxJsonRpcMessage;
use serde_json::Value;
use tokio::io::{AsyncBufRead as _, AsyncRead, BufReader, ReadBuf};

/// The longest message that is read.
const MAX_BYTES: usize = 8 << 20;

/// The id of a request in the place of an invalid line.
pub(super) const INVALID_ID: &str = "lockstep: invalid line";

const INVALID: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":\"lockstep: invalid line\",\"method\":\"ping\"}\n";

/// Input of which every line is a message.
pub(super) struct CheckedLines<R> {
    input: BufReader<R>,
    /// The line that is being read; without its content if it is too long.
    line: Vec<u8>,
    is_too_long: bool,
    /// Bytes of `line` that were passed on; `None` while it is incomplete.
    passed: Option<usize>,
}

impl<R: AsyncRead> CheckedLines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input: BufReader::new(input), line: Vec::new(), is_too_long: false, passed: None }
    }

    fn add(&mut self, part: &[u8]) {
        self.is_too_long |= self.line.len() + part.len() > MAX_BYTES;
        if self.is_too_long {
            self.line = Vec::new();
        } else {
            self.line.extend_from_slice(part);
        }
    }

    fn finish(&mut self) {
        let is_blank = !self.is_too_long && self.line.trim_ascii().is_empty();
        if self.is_too_long || !(is_blank || is_message(&self.line)) {
            self.line = INVALID.to_vec();
        }
        self.is_too_long = false;
        self.passed = Some(0);
    }
}

/// Returns true for a message, and for a notification that the library may ignore.
fn is_message(line: &[u8]) -> bool {
    let is_notification = || {
        serde_json::from_slice::<Value>(line)
            .is_ok_and(|value| value["method"].is_string() && value.get("id").is_none())
    };
    serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(line).is_ok() || is_notification()
}

impl<R: AsyncRead + Unpin> AsyncRead for CheckedLines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let this = &mut *self;
        loop {
            if let Some(passed) = this.passed {
                let rest = &this.line[passed..];
                let taken = rest.len().min(buffer.remaining());
                buffer.put_slice(&rest[..taken]);
                this.passed = Some(passed + taken);
                if taken == rest.len() {
                    this.line.clear();
                    this.passed = None;
                }
                if taken > 0 {
                    return Poll::Ready(Ok(()));
                }
            }
            let available = ready!(Pin::new(&mut this.input).poll_fill_buf(context))?.to_vec();
            if available.is_empty() {
                // The input ends; a line without an end is not a message.
                return Poll::Ready(Ok(()));
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |at| at + 1);
            this.add(&available[..taken]);
            Pin::new(&mut this.input).consume(taken);
            if end.is_some() {
                this.finish();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    fn checked(input: &[u8]) -> String {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut output = String::new();
        runtime.block_on(CheckedLines::new(input).read_to_string(&mut output)).unwrap();
        output
    }

    #[test]
    fn invalid_lines_are_answered_as_invalid_requests() {
        let invalid = std::str::from_utf8(INVALID).unwrap();
        assert!(invalid.contains(INVALID_ID) && is_message(INVALID));
        let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
        let long = format!("[\"{}\"]\n", "x".repeat(MAX_BYTES));
        let deep = format!("{}{}\n", "[".repeat(5_000), "]".repeat(5_000));
        for (input, expected) in [
            ("{\"a\":1}\n[]\n", format!("{invalid}{invalid}").as_str()),
            ("{\"id\":1,\"method\":\"\\ud800\"}\n", invalid),
            ("{\"method\":\"notifications/x\"}\n", "{\"method\":\"notifications/x\"}\n"),
            ("\n \r\n", "\n \r\n"),
            ("{\n", invalid),
            (&format!("nonsense\n{ping}"), &format!("{invalid}{ping}")),
            (&format!("{long}{ping}"), &format!("{invalid}{ping}")),
            (&deep, invalid),
            (&format!("{ping}{{\"cut"), ping),
        ] {
            assert_eq!(checked(input.as_bytes()), expected);
        }
    }
}
