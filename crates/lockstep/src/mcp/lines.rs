//! Lines of the client before they are parsed as messages: a line that is not JSON, or too long, becomes an
//! invalid request.
//!
//! The transport drops such lines without a reply, and a client that waits for one would wait for ever.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use serde_json::Value;
use tokio::io::{AsyncBufRead as _, AsyncRead, BufReader, ReadBuf};

/// The longest message that is read.
const MAX_BYTES: usize = 8 << 20;

/// JSON that is no message: the transport answers it with an error.
const INVALID: &[u8] = b"{\"jsonrpc\":\"2.0\"}\n";

/// Input of which every line is JSON.
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

    /// Adds a part of a line.
    fn add(&mut self, part: &[u8]) {
        self.is_too_long |= self.line.len() + part.len() > MAX_BYTES;
        if self.is_too_long {
            self.line = Vec::new();
        } else {
            self.line.extend_from_slice(part);
        }
    }

    fn finish(&mut self) {
        let is_json = || serde_json::from_slice::<Value>(&self.line).is_ok();
        let is_blank = !self.is_too_long && self.line.trim_ascii().is_empty();
        if self.is_too_long || !(is_blank || is_json()) {
            self.line = INVALID.to_vec();
        }
        self.is_too_long = false;
        self.passed = Some(0);
    }
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
                // The input ends; a line without an end is no message.
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
    fn lines_that_are_no_json_become_invalid_requests() {
        let invalid = std::str::from_utf8(INVALID).unwrap();
        let long = format!("[\"{}\"]\n", "x".repeat(MAX_BYTES));
        let deep = format!("{}{}\n", "[".repeat(5_000), "]".repeat(5_000));
        for (input, expected) in [
            ("{\"a\":1}\n[]\n", "{\"a\":1}\n[]\n"),
            ("\n \r\n", "\n \r\n"),
            ("{\n", invalid),
            ("nonsense\n{}\n", &format!("{invalid}{{}}\n")),
            (&format!("{long}7\n"), &format!("{invalid}7\n")),
            (&deep, invalid),
            ("{}\n{\"cut", "{}\n"),
        ] {
            assert_eq!(checked(input.as_bytes()), expected);
        }
    }
}
