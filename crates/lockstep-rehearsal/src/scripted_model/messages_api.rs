//! Renders a turn for the Messages API: as one JSON object, or as a stream of server-sent events.

use serde_json::{Value, json};

use super::script_player::ScriptedReply;

/// The whole answer at once.
pub(super) fn whole(part: &ScriptedReply, model: &Value) -> Value {
    let mut message = envelope(part, model);
    message["content"] = Value::Array(blocks(part));
    message["stop_reason"] = stop_reason(part).into();
    message
}

/// The answer as events, each block in one delta.
pub(super) fn stream(part: &ScriptedReply, model: &Value) -> String {
    let mut events = vec![json!({"type": "message_start", "message": envelope(part, model)})];
    for (index, block) in blocks(part).into_iter().enumerate() {
        let (start, delta) = split(block);
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let end = json!({"stop_reason": stop_reason(part), "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": end, "usage": usage()}));
    events.push(json!({"type": "message_stop"}));
    as_events(&events)
}

/// Events, each with its type as its name, as a server sends them.
pub(super) fn as_events(events: &[Value]) -> String {
    let lines = events.iter().map(|event| {
        let name = event["type"].as_str().expect("every event of a reply has a type");
        format!("event: {name}\ndata: {event}\n\n")
    });
    lines.collect()
}

fn envelope(part: &ScriptedReply, model: &Value) -> Value {
    json!({
        "id": format!("msg_{}", part.id), "type": "message", "role": "assistant", "model": model,
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage(),
    })
}

fn blocks(part: &ScriptedReply) -> Vec<Value> {
    let text = (!part.content.text.is_empty()).then(|| json!({"type": "text", "text": part.content.text}));
    let tools = part.content.tools.iter().enumerate().map(|(index, tool)| {
        let id = format!("toolu_{}_{index}", part.id);
        json!({"type": "tool_use", "id": id, "name": tool.name, "input": tool.input})
    });
    text.into_iter().chain(tools).collect()
}

/// A block as the empty block that starts it and the delta that fills it.
fn split(mut block: Value) -> (Value, Value) {
    if block["type"] == "text" {
        let text = block["text"].take();
        block["text"] = "".into();
        (block, json!({"type": "text_delta", "text": text}))
    } else {
        let input = block["input"].take();
        block["input"] = json!({});
        (block, json!({"type": "input_json_delta", "partial_json": input.to_string()}))
    }
}

fn stop_reason(part: &ScriptedReply) -> &'static str {
    if part.content.tools.is_empty() { "end_turn" } else { "tool_use" }
}

fn usage() -> Value {
    json!({
        "input_tokens": 100, "output_tokens": 20,
        "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
    })
}
