//! Renders a turn for the Responses API of Codex: as a stream of server-sent events.

use serde_json::{Value, json};

use super::messages_api::as_events;
use super::script_player::ScriptedReply;

/// Converts the request to the form that [`Cast`](super::script_player::Cast) uses.
pub(super) fn as_messages(body: &Value) -> Value {
    json!({"messages": body["input"], "tools": body["tools"]})
}

/// The answer as events: an item each for its text and its calls.
pub(super) fn stream(part: &ScriptedReply) -> String {
    let id = format!("resp_{}", part.id);
    let mut events = vec![json!({"type": "response.created", "response": {"id": id}})];
    let items = items(part).into_iter().enumerate();
    events.extend(items.map(
        |(index, item)| json!({"type": "response.output_item.done", "output_index": index, "item": item}),
    ));
    let usage = json!({
        "input_tokens": 100, "input_tokens_details": null,
        "output_tokens": 20, "output_tokens_details": null, "total_tokens": 120,
    });
    events.push(json!({"type": "response.completed", "response": {"id": id, "usage": usage}}));
    as_events(&events)
}

fn items(part: &ScriptedReply) -> Vec<Value> {
    let content = &part.content;
    let text = (!content.text.is_empty()).then(|| {
        let text = json!([{"type": "output_text", "text": content.text, "annotations": []}]);
        json!({
            "type": "message", "id": format!("msg_{}", part.id), "role": "assistant",
            "status": "completed", "content": text,
        })
    });
    let calls = content.tools.iter().enumerate().map(|(index, tool)| {
        json!({
            "type": "function_call", "id": format!("fc_{}_{index}", part.id),
            "call_id": format!("call_{}_{index}", part.id),
            "name": tool.name, "arguments": Value::Object(tool.input.clone()).to_string(),
        })
    });
    text.into_iter().chain(calls).collect()
}
