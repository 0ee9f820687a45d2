//! Results that are longer than a client accepts, delivered page by page, each with a cursor for the next.
//!
//! The complete result is stored, so that later pages are consistent and nothing is computed twice. Only the
//! newest results are stored.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::limits::{McpClientLimits, text_cost};
use super::slicing::{cut, piece_costs};
use crate::error::{CommandError, CommandResult};
use crate::output_format::OutputFormat;

/// The maximum number of stored results.
const MAX_ANSWERS: usize = 16;

/// The maximum size of all stored results. The newest is always stored.
const MAX_BYTES: usize = 32 << 20;

/// The field of a result that holds the cursor.
pub(super) const NEXT_CURSOR: &str = "next_cursor";

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ResultPage {
    pub(super) data: Value,
    pub(super) text: String,
}

/// The answers of which there is more.
#[derive(Debug, Default)]
pub(super) struct PageStore(Mutex<StoredResults>);

#[derive(Debug, Default)]
struct StoredResults {
    answers: VecDeque<Arc<PagedResult>>,
    made: u64,
}

/// An answer that is too long.
#[derive(Debug)]
struct PagedResult {
    key: String,
    tool: &'static str,
    data: Value,
    costs: Vec<usize>,
    /// The cost of every page before its first piece.
    frame: usize,
    bytes: usize,
}

impl PageStore {
    pub(super) fn first(
        &self,
        tool: &'static str,
        data: Value,
        text: String,
        limits: McpClientLimits,
    ) -> ResultPage {
        let json = data.to_string();
        if text_cost(&json) <= limits.page() && text_cost(&text) <= limits.page() {
            return ResultPage { data, text };
        }
        let (costs, bytes) = (piece_costs(&data), json.len());
        let frame = text_cost(&cut(&data, 0..0).to_string());
        let answer = self.keep(|key| PagedResult { key, tool, data, costs, frame, bytes });
        answer.page(0, limits)
    }

    pub(super) fn at(&self, tool: &str, cursor: &str, limits: McpClientLimits) -> CommandResult<ResultPage> {
        let unknown = || {
            CommandError::usage(format!("the cursor {cursor:?} leads nowhere"))
                .hint(format!(
                    "a cursor is good for the tool that gave it, in the same session, until {MAX_ANSWERS} later answers"
                ))
                .hint("call the tool again without a cursor")
        };
        let (key, from) = cursor.split_once('.').ok_or_else(unknown)?;
        let from: usize = from.parse().map_err(|_| unknown())?;
        let stored = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = stored.answers.iter().find(|answer| answer.key == key && answer.tool == tool).cloned();
        drop(stored);
        match found {
            Some(answer) if from < answer.costs.len() => Ok(answer.page(from, limits)),
            _ => Err(unknown()),
        }
    }

    fn keep(&self, make: impl FnOnce(String) -> PagedResult) -> Arc<PagedResult> {
        let mut stored = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stored.made += 1;
        // Another process's cursor must not lead into an answer of this one.
        let seed = format!("{} {} {}", std::process::id(), jiff::Timestamp::now(), stored.made);
        let key = blake3::hash(seed.as_bytes()).to_hex()[..16].to_owned();
        let answer = Arc::new(make(key));
        stored.answers.push_front(Arc::clone(&answer));
        stored.forget();
        answer
    }
}

impl StoredResults {
    /// The oldest answers go.
    fn forget(&mut self) {
        let mut bytes = 0;
        let has_room = |answer: &&Arc<PagedResult>| {
            bytes += answer.bytes;
            bytes <= MAX_BYTES
        };
        let keep = self.answers.iter().take(MAX_ANSWERS).take_while(has_room).count();
        self.answers.truncate(keep.max(1));
    }
}

impl PagedResult {
    /// Returns the page that begins with this piece, up to the client's limit.
    fn page(&self, from: usize, limits: McpClientLimits) -> ResultPage {
        let room = limits.page().saturating_sub(self.frame);
        let mut spent = 0;
        let has_room = |cost: &&usize| {
            spent += **cost;
            spent <= room
        };
        let mut count = self.costs[from..].iter().take_while(has_room).count().max(1);
        loop {
            let page = self.cut(from, from + count);
            let fits =
                text_cost(&page.data.to_string()) <= limits.page() && text_cost(&page.text) <= limits.page();
            // The frame of the pieces, and the text form, may be longer than computed.
            if fits || count == 1 {
                return page;
            }
            count = (count * 3 / 4).max(1);
        }
    }

    fn cut(&self, from: usize, to: usize) -> ResultPage {
        let mut data = cut(&self.data, from..to);
        let all = self.costs.len();
        let mut text = format!("# pieces {} to {to} of {all}\n", from + 1);
        text += &OutputFormat::Yaml.render(&data).unwrap_or_default();
        if to < all {
            let cursor = format!("{}.{to}", self.key);
            text += &format!("# there is more: call {} with the cursor {cursor}\n", self.tool);
            data[NEXT_CURSOR] = cursor.into();
        }
        ResultPage { data, text }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn list(count: usize) -> Value {
        let items: Vec<Value> = (0..count).map(|n| json!({"n": n, "text": "x".repeat(n % 700)})).collect();
        json!({"what": "items", "items": items})
    }

    #[test]
    fn result_within_the_limit_is_sent_in_one_page() {
        let (pages, limits) = (PageStore::default(), McpClientLimits::of(None));
        let page = pages.first("t", list(10), "ten\n".to_owned(), limits);
        assert_eq!(page, ResultPage { data: list(10), text: "ten\n".to_owned() });
        assert_eq!(pages.0.lock().unwrap().answers.len(), 0);
    }

    #[test]
    fn cursors_lead_through_the_whole_answer_and_no_page_is_too_long() {
        let (pages, limits) = (PageStore::default(), McpClientLimits::of(None));
        let mut page = pages.first("t", list(1_000), "long\n".repeat(100_000), limits);
        let (mut seen, mut count) = (Vec::new(), 0);
        loop {
            count += 1;
            assert!(
                text_cost(&page.data.to_string()) <= limits.page() + 50
                    && text_cost(&page.text) <= limits.page() + 100
            );
            seen.extend(
                page.data["items"].as_array().unwrap().iter().map(|item| item["n"].as_u64().unwrap()),
            );
            let Some(cursor) = page.data[NEXT_CURSOR].as_str().map(str::to_owned) else { break };
            // A page can be requested again.
            page = pages.at("t", &cursor, limits).unwrap();
            assert_eq!(pages.at("t", &cursor, limits).unwrap(), page);
        }
        assert_eq!(seen, (0..1_000).collect::<Vec<u64>>());
        assert!(count > 5, "{count}");
    }

    #[test]
    fn a_cursor_of_another_tool_or_an_old_result_is_rejected() {
        let (pages, limits) = (PageStore::default(), McpClientLimits::of(None));
        let cursor = |page: &ResultPage| page.data[NEXT_CURSOR].as_str().unwrap().to_owned();
        let first = cursor(&pages.first("t", list(500), String::new(), limits));
        assert!(pages.at("other", &first, limits).is_err());
        for bad in ["", "x", "x.1", "0.0", &format!("{first}0000000"), &first.replace('.', ".-")] {
            let error = pages.at("t", bad, limits).unwrap_err().render();
            assert!(error.contains("leads nowhere") && error.contains("without a cursor"), "{error}");
        }
        for _ in 0..MAX_ANSWERS - 1 {
            pages.first("t", list(500), String::new(), limits);
        }
        assert!(pages.at("t", &first, limits).is_ok());
        pages.first("t", list(500), String::new(), limits);
        assert!(pages.at("t", &first, limits).is_err());
        assert_eq!(pages.0.lock().unwrap().answers.len(), MAX_ANSWERS);
    }
}
