//! Just enough HTTP/1.1 for one client on loopback: limited requests, complete responses, keep-alive.
//!
//! Deliberately not supported: chunked request bodies (answered with 411), compression, and pipelining beyond
//! reading one request after the other.

use std::io::{self, BufRead, Read as _};

use serde_json::{Value, json};

const MAX_HEAD: u64 = 64 * 1024;
const MAX_BODY: usize = 64 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct HttpRequest {
    pub(super) method: String,
    /// The target as sent, query included.
    pub(super) path: String,
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

/// The reason why no request could be read from a connection.
#[derive(Debug)]
pub(super) enum HttpReadError {
    Io(io::Error),
    /// The request is refused, and the connection must be closed.
    Refused {
        status: u16,
        why: &'static str,
    },
}

impl From<io::Error> for HttpReadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A response, complete before its first byte is sent.
#[derive(Debug)]
pub(super) struct HttpResponse {
    status: u16,
    content_type: &'static str,
    body: Vec<u8>,
}

impl HttpRequest {
    /// The first header of that name, in any case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub(super) fn wants_body(&self) -> bool {
        self.method != "HEAD"
    }
}

impl HttpResponse {
    pub(super) fn json(value: &Value) -> Self {
        Self { status: 200, content_type: "application/json", body: value.to_string().into_bytes() }
    }

    pub(super) fn events(text: String) -> Self {
        Self { status: 200, content_type: "text/event-stream", body: text.into_bytes() }
    }

    /// An error in the API's own shape, so that the client shows its message.
    pub(super) fn error(status: u16, why: &str) -> Self {
        let value = json!({"type": "error", "error": {"type": "invalid_request_error", "message": why}});
        Self { status, ..Self::json(&value) }
    }

    pub(super) fn to_bytes(&self, with_body: bool) -> Vec<u8> {
        let Self { status, content_type, body } = self;
        // The phrase is for people and may be anything.
        let phrase = if *status == 200 { "OK" } else { "Refused" };
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status} {phrase}\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n\r\n"
        );
        let mut bytes = head.into_bytes();
        if with_body {
            bytes.extend_from_slice(body);
        }
        bytes
    }
}

/// Reads one request; `None` when the peer closed the connection between two.
pub(super) fn read(reader: &mut impl BufRead) -> Result<Option<HttpRequest>, HttpReadError> {
    let mut head = reader.by_ref().take(MAX_HEAD);
    let Some(first) = read_line(&mut head)? else { return Ok(None) };
    let mut words = first.split(' ');
    let (Some(method), Some(path), Some(version)) = (words.next(), words.next(), words.next()) else {
        return Err(refused(400, "the request line has no method, path and version"));
    };
    if !version.starts_with("HTTP/1.") {
        return Err(refused(505, "only HTTP/1.1 is spoken here"));
    }
    let (method, path) = (method.to_owned(), path.to_owned());
    let headers = read_headers(&mut head)?;
    let mut message = HttpRequest { method, path, headers, body: Vec::new() };
    message.body = read_body(reader, &message)?;
    Ok(Some(message))
}

fn read_headers(head: &mut impl BufRead) -> Result<Vec<(String, String)>, HttpReadError> {
    let mut headers = Vec::new();
    loop {
        match read_line(head)?.as_deref() {
            None => return Err(refused(431, "the headers do not end")),
            Some("") => return Ok(headers),
            Some(line) => {
                let (name, value) = line.split_once(':').ok_or(refused(400, "a header has no colon"))?;
                headers.push((name.to_owned(), value.trim().to_owned()));
            }
        }
    }
}

/// One line without its end; `None` at the end of the input.
fn read_line(reader: &mut impl BufRead) -> Result<Option<String>, HttpReadError> {
    let mut line = Vec::new();
    if reader.read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    let Some(line) = line.strip_suffix(b"\n") else {
        return Err(refused(431, "a line of the head is too long or cut off"));
    };
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    String::from_utf8(line.to_vec()).map(Some).map_err(|_| refused(400, "the head is not UTF-8"))
}

fn read_body(reader: &mut impl BufRead, message: &HttpRequest) -> Result<Vec<u8>, HttpReadError> {
    if message.header("transfer-encoding").is_some() {
        return Err(refused(411, "a body needs a content-length"));
    }
    let Some(length) = message.header("content-length") else { return Ok(Vec::new()) };
    let length: usize = length.parse().map_err(|_| refused(400, "the content-length is not a number"))?;
    if length > MAX_BODY {
        return Err(refused(413, "the body is too large"));
    }
    // Grows with the received data: a large length alone allocates nothing.
    let mut body = Vec::new();
    reader.take(length as u64).read_to_end(&mut body)?;
    if body.len() < length {
        return Err(HttpReadError::Io(io::ErrorKind::UnexpectedEof.into()));
    }
    Ok(body)
}

fn refused(status: u16, why: &'static str) -> HttpReadError {
    HttpReadError::Refused { status, why }
}
