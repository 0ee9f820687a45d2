//! Limits of MCP clients, as data.

/// The limits of a client for a server's results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct McpClientLimits {
    /// The client, as it names itself.
    client: &'static str,
    /// The most characters of one result that reach the model.
    result_chars: usize,
    /// The most characters of a tool's description.
    pub(super) description_chars: usize,
}

/// Measured, on both sides of each limit.
const KNOWN: &[McpClientLimits] = &[
    // If a result has more than 50,000 characters, the client writes it to a file and shows the model the
    // first 2 KB; a description is truncated at 2,048. It also refuses results over 25,000 tokens, hence the
    // weights in `text_cost`.
    McpClientLimits { client: "claude-code", result_chars: 50_000, description_chars: 2_048 },
];

/// Reserve for the envelope of a page.
const MARGIN: usize = 1_000;

impl McpClientLimits {
    /// Returns the limits of a client, or the narrowest for an unknown one.
    pub(super) fn of(client: Option<&str>) -> Self {
        let narrowest = || KNOWN.iter().min_by_key(|limits| limits.result_chars);
        let known = client.and_then(|name| KNOWN.iter().find(|limits| limits.client == name));
        *known.or_else(narrowest).expect("at least one client is known")
    }

    /// Returns the maximum cost of a page.
    pub(super) fn page(self) -> usize {
        self.result_chars - MARGIN
    }
}

/// Returns the cost of a text for a client: a character beyond ASCII is up to one token, while a token has
/// several ASCII characters.
pub(super) fn text_cost(text: &str) -> usize {
    text.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_client_gets_the_smallest_limit() {
        for client in [None, Some("no-such-client")] {
            assert!(KNOWN.iter().all(|limits| McpClientLimits::of(client).page() < limits.result_chars));
        }
        assert_eq!(McpClientLimits::of(Some("claude-code")).page(), 49_000);
    }
}
