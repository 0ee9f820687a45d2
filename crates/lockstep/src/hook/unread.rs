//! Events that cannot be parsed: their bytes show whether the client waits for a decision.
//!
//! A parser error must not mean that there is nothing to decide. The names of the event and of its tool are
//! searched in the bytes, at any position and in any encoding.

/// The decision that an unread event waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waits {
    Nothing,
    /// The decision of a gate that only projects with steps have.
    Steps,
    /// The decision of gate 2.
    Stop,
    /// The decision of some gate.
    Any,
}

/// Collects names from the bytes of an event, piece by piece.
#[derive(Debug, Default)]
pub(super) struct NameScanner {
    /// The end of the last piece, which may hold the beginning of a name.
    tail: Vec<u8>,
    events: Vec<String>,
    tools: Vec<String>,
    has_input: bool,
    has_response: bool,
    mentions_call: bool,
    is_continued: bool,
    has_text: bool,
}

/// Longer than a key and its value, in UTF-16 and escaped.
const TAIL: usize = 1_024;

/// More names than this are not collected.
const MAX_NAMES: usize = 64;

impl NameScanner {
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        let piece = [self.tail.as_slice(), bytes].concat();
        let text = plain(&piece);
        collect(&mut self.events, &text, "hook_event_name");
        collect(&mut self.tools, &text, "tool_name");
        let mut flags = Vec::new();
        collect(&mut flags, &text, "stop_hook_active");
        self.is_continued |= flags.iter().any(|flag| flag == "true");
        self.mentions_call |= text.contains("PreToolUse");
        self.has_text |= !text.trim().is_empty();
        self.has_input |= text.contains("\"tool_input\"");
        self.has_response |= text.contains("\"tool_response\"");
        self.tail = piece[piece.len().saturating_sub(TAIL)..].to_vec();
    }

    /// The same for bytes that are no JSON: without any name, a gate of the steps may wait for the event.
    pub(super) fn waits_without_json(&self) -> Waits {
        match self.waits() {
            Waits::Nothing if self.events.is_empty() && self.has_text && !self.is_continued => Waits::Steps,
            waits => waits,
        }
    }

    pub(super) fn waits(&self) -> Waits {
        let is = |name: &str| self.events.iter().any(|event| event == name);
        // Without a name, the input of a tool without a result is a call that is about to be made. So may be a text that has the name of
        // such a call elsewhere than in its key: in other quotes, or as an event inside of a text.
        let may_be_call = self.mentions_call || (self.has_input && !self.has_response);
        // A value that names no event of the client is as good as none.
        let is_name = |event: &String| {
            event.starts_with(|c: char| c.is_ascii_uppercase())
                && event.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        let is_named = self.events.iter().any(is_name);
        let is_call = is("PreToolUse") || (!is_named && may_be_call);
        // Letters of other scripts, or other marks, may hide the name of any event.
        let is_foreign = !is_named && !self.events.is_empty();
        let of_steps = |tool: &String| {
            matches!(
                tool.as_str(),
                "Edit" | "Write" | "MultiEdit" | "NotebookEdit" | "Bash" | "Monitor" | "PowerShell"
            )
        };
        match () {
            () if is_call && !self.tools.is_empty() && self.tools.iter().all(of_steps) => Waits::Steps,
            () if is_call => Waits::Any,
            // An agent that continues because of a hook may end the next time.
            () if (is("SubagentStop") || is_foreign) && !self.is_continued => Waits::Stop,
            () => Waits::Nothing,
        }
    }
}

/// Returns the bytes as text in which ASCII is plain: without the zero bytes of UTF-16, and with escaped characters replaced.
fn plain(bytes: &[u8]) -> String {
    let without_zeros: Vec<u8>;
    let bytes = if bytes.contains(&0) {
        without_zeros = bytes.iter().copied().filter(|byte| *byte != 0).collect();
        &without_zeros
    } else {
        bytes
    };
    let text = String::from_utf8_lossy(bytes);
    let mut plain = String::with_capacity(text.len());
    let mut rest: &str = &text;
    while let Some(at) = rest.find("\\u00") {
        let (before, escape) = rest.split_at(at);
        plain.push_str(before);
        let digits = escape.get(4..6).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match digits.filter(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
            Some(byte) => plain.push(char::from(byte)),
            None => plain.push_str(escape.get(..6).unwrap_or("\\u00")),
        }
        rest = escape.get(6..).or_else(|| escape.get(4..)).unwrap_or_default();
    }
    plain.push_str(rest);
    plain
}

/// Adds the values of a key: text in quotes, or a bare word. Quotes inside other texts are escaped, so they are not found.
fn collect(names: &mut Vec<String>, text: &str, key: &str) {
    for (at, found) in text.match_indices(&format!("\"{key}\"")) {
        let Some(value) = text[at + found.len()..].trim_start().strip_prefix(':') else { continue };
        let value = value.trim_start();
        let name = match value.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').map(|(name, _)| name),
            None => value.split(|c: char| !c.is_alphanumeric()).next(),
        };
        if names.len() < MAX_NAMES
            && let Some(name) = name.filter(|name| !matches!(*name, "" | "null") && name.len() < 100)
            && !names.iter().any(|known| known == name)
        {
            names.push(name.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COMMIT: &str =
        r#"{"hook_event_name": "PreToolUse","tool_name":"Bash","tool_input":{"command":"git commit"}}"#;

    fn waits(bytes: &[u8]) -> Waits {
        let mut scanner = NameScanner::default();
        scanner.feed(bytes);
        scanner.waits()
    }

    #[test]
    fn bytes_tell_what_an_event_waits_for() {
        let utf16: Vec<u8> = COMMIT.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(waits(&utf16), Waits::Steps);
        for (json, expected) in [
            (COMMIT.to_owned(), Waits::Steps),
            (COMMIT.replace("PreTool", "Pre\\u0054ool"), Waits::Steps),
            (COMMIT.replace("\"hook_event_name\": \"PreToolUse\",", ""), Waits::Steps),
            (COMMIT.replace("Bash", "Agent"), Waits::Any),
            (COMMIT.replace("\"Bash\"", "7"), Waits::Any),
            (COMMIT.replace("\"Bash\"", "null"), Waits::Any),
            (COMMIT.replace("\"PreToolUse\"", "null"), Waits::Steps),
            (COMMIT.replace("\"PreToolUse\"", "1"), Waits::Steps),
            (COMMIT.replace("\"PreToolUse\"", "true"), Waits::Steps),
            (COMMIT.replace("\"tool_name\":", "\"tool_name\":\"Agent\",\"tool_name\":"), Waits::Any),
            (COMMIT.replace("PreToolUse", "PostToolUse"), Waits::Nothing),
            (COMMIT.replace('"', "'"), Waits::Any),
            (format!("{COMMIT:?}"), Waits::Any),
            (format!("{{\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":{COMMIT:?}}}"), Waits::Nothing),
            (COMMIT.replace("PreToolUse", "PreT\u{43e}olUse"), Waits::Steps),
            (COMMIT.replace("Bash", "B\u{430}sh"), Waits::Any),
            ("{\"hook_event_name\":\"SubagentStop\"".to_owned(), Waits::Stop),
            ("{\"hook_event_name\":\"SubagentStop\",\"stop_hook_active\": true".to_owned(), Waits::Nothing),
            ("{\"hook_event_name\":\"\u{ff33}ubagentStop\"}".to_owned(), Waits::Stop),
            (String::new(), Waits::Nothing),
        ] {
            assert_eq!(waits(json.as_bytes()), expected, "{json}");
        }
    }

    proptest! {
        #[test]
        fn names_are_found_across_pieces(cuts in proptest::collection::vec(1_usize..40, 1..20), padding in 0_usize..3_000) {
            let bytes = format!("{}{COMMIT}", " ".repeat(padding)).into_bytes();
            let (mut scanner, mut at) = (NameScanner::default(), 0);
            for cut in cuts {
                let end = (at + cut).min(bytes.len());
                scanner.feed(&bytes[at..end]);
                at = end;
            }
            scanner.feed(&bytes[at..]);
            prop_assert_eq!(scanner.waits(), Waits::Steps);
        }

        #[test]
        fn any_bytes_can_be_scanned(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = waits(&bytes);
        }
    }
}
